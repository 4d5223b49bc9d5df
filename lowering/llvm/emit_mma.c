// SPDX-License-Identifier: Apache-2.0
// Matrix products by mma.sync. An instruction takes words of each lane at fixed positions of its
// fragments (base/mma.h); the registers are computed from the three layouts: those of lane 0 hold
// for all lanes, as long as the lanes' and warps' bits move the coordinates of the operands and of
// the result alike, which is checked. So rows, columns and K may be permuted in any way that both
// sides share, and lanes may be replicas where the tile is smaller than the instruction.
#include "base/mma.h"
#include "lowering/llvm/dot.h"

enum { LANE_PAIR_BITS = 2, LANE_ROW_BITS = 3, MMA_PAIR = 2 };

struct products {
  struct dot *d;
  const struct mma_instruction *instruction;
  unsigned per_word;              // elements of A or B
  unsigned words_along_k;         // of a lane, in the tile; the last may be of zeros
  unsigned steps;                 // instructions along K
  unsigned row_groups, row_tiles; // rows of 8 an instruction; instructions along M
  unsigned column_tiles;
  uint32_t second_column;    // what the second column of a lane adds to the first
  LLVMValueRef *a, *b, *acc; // words: by batch, row or column, word; by batch and tile
};

// ---- do the layouts fit? ----

static bool lane_bit_fits(const struct dot *d, unsigned b) {
  const struct dot_tile *x = &d->a, *y = &d->b, *z = &d->acc;
  bool no_batch = !dot_image(x, LL_LANE, b, DOT_BATCH) && !dot_image(y, LL_LANE, b, DOT_BATCH) &&
                  !dot_image(z, LL_LANE, b, DOT_BATCH);
  uint32_t row = dot_image(x, LL_LANE, b, DOT_ROW), column = dot_image(y, LL_LANE, b, DOT_COLUMN);
  uint32_t k = dot_image(x, LL_LANE, b, DOT_COLUMN);
  if (!no_batch || k != dot_image(y, LL_LANE, b, DOT_ROW) ||
      row != dot_image(z, LL_LANE, b, DOT_ROW))
    return false;
  if (b >= LANE_PAIR_BITS)
    return k == 0 && dot_image(z, LL_LANE, b, DOT_COLUMN) == 0;
  // The lanes of a row: neighbours along K, pairs of columns of the result.
  return k != 0 && row == 0 && column == 0 &&
         dot_image(z, LL_LANE, b, DOT_COLUMN) ==
             dot_image(y, LL_LANE, b + LANE_PAIR_BITS + 1, DOT_COLUMN);
}

static bool warp_bit_fits(const struct dot *d, unsigned b) {
  const struct dot_tile *x = &d->a, *y = &d->b, *z = &d->acc;
  uint32_t batch = dot_image(z, LL_WARP, b, DOT_BATCH);
  return batch == dot_image(x, LL_WARP, b, DOT_BATCH) &&
         batch == dot_image(y, LL_WARP, b, DOT_BATCH) &&
         dot_image(z, LL_WARP, b, DOT_ROW) == dot_image(x, LL_WARP, b, DOT_ROW) &&
         dot_image(z, LL_WARP, b, DOT_COLUMN) == dot_image(y, LL_WARP, b, DOT_COLUMN) &&
         !dot_image(x, LL_WARP, b, DOT_COLUMN) && !dot_image(y, LL_WARP, b, DOT_ROW);
}

static bool same_coords(const struct dot_axis *x, const struct dot_axis *y) {
  return x->count == y->count && !memcmp(x->coords, y->coords, x->count * sizeof *x->coords);
}

// The four lanes of a row and their registers have each element of K once.
static bool covers_k(const struct dot_tile *a) {
  const struct dot_axis *k = &a->axis[DOT_COLUMN];
  uint32_t low = dot_image(a, LL_LANE, 0, DOT_COLUMN), high = dot_image(a, LL_LANE, 1, DOT_COLUMN);
  return k->count * 4 == k->size && k->number[low] == UINT32_MAX && k->number[high] == UINT32_MAX &&
         k->number[low ^ high] == UINT32_MAX;
}

static bool layouts_fit(const struct dot *d) {
  bool ok = same_coords(&d->a.axis[DOT_COLUMN], &d->b.axis[DOT_ROW]) &&
            same_coords(&d->a.axis[DOT_ROW], &d->acc.axis[DOT_ROW]) &&
            same_coords(&d->a.axis[DOT_BATCH], &d->acc.axis[DOT_BATCH]) &&
            same_coords(&d->b.axis[DOT_BATCH], &d->acc.axis[DOT_BATCH]) &&
            d->acc.axis[DOT_COLUMN].count ==
                d->b.axis[DOT_COLUMN].count *
                    (dot_image(&d->b, LL_LANE, LANE_PAIR_BITS, DOT_COLUMN) ? MMA_PAIR : 1) &&
            covers_k(&d->a);
  for (unsigned b = 0; b < LANE_BITS; b++)
    ok = ok && lane_bit_fits(d, b);
  for (unsigned b = 0; b < ll_in_bits(d->acc.layout, LL_WARP); b++)
    ok = ok && warp_bit_fits(d, b);
  return ok;
}

// ---- words ----

// The <2 x half> that the word was unpacked to, the operand type of f16 intrinsics; else the word.
static LLVMValueRef f16x2_of(struct emitter *e, LLVMValueRef word, LLVMValueRef first) {
  LLVMValueRef v = LLVMIsAExtractElementInst(first) ? LLVMGetOperand(first, 0) : NULL;
  bool same = v && LLVMIsABitCastInst(v) && LLVMGetOperand(v, 0) == word;
  return same && LLVMTypeOf(v) == LLVMVectorType(e->f16, 2) ? v : word;
}

// Elements of one row of A or one column of B, from `first` on along K, as a word.
static LLVMValueRef operand_word(struct emitter *e, const struct products *p, bool is_a,
                                 uint32_t batch, uint32_t outer, unsigned first) {
  const struct dot_tile *t = is_a ? &p->d->a : &p->d->b;
  const struct dot_axis *k = &t->axis[is_a ? DOT_COLUMN : DOT_ROW];
  LLVMTypeRef type = type_of_dtype(e, t->dtype);
  LLVMValueRef elements[4], word;
  for (unsigned i = 0; i < p->per_word; i++) {
    LLVMValueRef *x = NULL;
    if (first + i < k->count)
      x = is_a ? dot_at(t, batch, outer, k->coords[first + i])
               : dot_at(t, batch, k->coords[first + i], outer);
    if (first + i < k->count && (!x || !*x))
      return NULL;
    elements[i] = x ? *x : LLVMConstNull(type); // beyond K
  }
  if (type == e->f64)
    return elements[0];
  struct packing packing = packing_of(e, type, p->per_word);
  pack_elements(e, &packing, elements, &word);
  return f16x2_of(e, word, elements[0]);
}

static bool operand_words(struct emitter *e, const struct products *p, bool is_a,
                          LLVMValueRef **ret) {
  const struct dot_tile *t = is_a ? &p->d->a : &p->d->b;
  const struct dot_axis *batches = &t->axis[DOT_BATCH],
                        *outer = &t->axis[is_a ? DOT_ROW : DOT_COLUMN];
  LLVMValueRef *w =
      arena_array(e->arena, LLVMValueRef, (size_t)batches->count * outer->count * p->words_along_k);
  *ret = w;
  for (unsigned i = 0; i < batches->count; i++)
    for (unsigned j = 0; j < outer->count; j++)
      for (unsigned k = 0; k < p->words_along_k; k++) {
        *w = operand_word(e, p, is_a, batches->coords[i], outer->coords[j], k * p->per_word);
        if (!*w++)
          return false;
      }
  return true;
}

// Element `i` in row group `h` of a lane's part of a tile of the result.
static LLVMValueRef *result_element(const struct products *p, unsigned batch, unsigned row_tile,
                                    unsigned column_tile, unsigned h, unsigned i) {
  const struct dot_tile *z = &p->d->acc;
  const struct dot_axis *rows = &z->axis[DOT_ROW];
  unsigned row = row_tile * p->row_groups + h;
  return dot_at(z, z->axis[DOT_BATCH].coords[batch],
                rows->coords[row < rows->count ? row : rows->count - 1],
                p->d->b.axis[DOT_COLUMN].coords[column_tile] ^ (i ? p->second_column : 0));
}

static LLVMValueRef *tile_words(const struct products *p, unsigned batch, unsigned row_tile,
                                unsigned column_tile) {
  size_t tile = ((size_t)batch * p->row_tiles + row_tile) * p->column_tiles + column_tile;
  return p->acc + tile * p->instruction->c_words;
}

// The accumulator's registers to words, or back.
static bool result_words(struct emitter *e, const struct products *p, unsigned batch,
                         unsigned row_tile, unsigned column_tile, bool back) {
  LLVMValueRef *words = tile_words(p, batch, row_tile, column_tile);
  bool pairs = p->d->acc.dtype == DTYPE_F16;
  struct packing packing = packing_of(e, type_of_dtype(e, p->d->acc.dtype), MMA_PAIR);
  for (unsigned h = 0; h < p->row_groups; h++) {
    LLVMValueRef *at[MMA_PAIR], x[MMA_PAIR];
    for (unsigned i = 0; i < MMA_PAIR; i++) {
      at[i] = result_element(p, batch, row_tile, column_tile, h, i);
      if (!at[i] || !*at[i])
        return false;
      x[i] = *at[i];
    }
    LLVMValueRef *own = words + (pairs ? h : MMA_PAIR * h);
    if (back && pairs)
      unpack_elements(e, &packing, own, x);
    else if (!back && pairs)
      pack_elements(e, &packing, x, own);
    else
      memcpy(back ? x : own, back ? own : x, sizeof x);
    for (unsigned i = 0; back && i < MMA_PAIR; i++)
      *at[i] = x[i];
  }
  return true;
}

// ---- instructions ----

static void multiply(struct emitter *e, const struct products *p, unsigned batch, unsigned row_tile,
                     unsigned column_tile, unsigned step) {
  const struct mma_instruction *in = p->instruction;
  unsigned rows = p->d->a.axis[DOT_ROW].count, columns = p->column_tiles;
  unsigned n = in->b_words, first = step * n;
  LLVMValueRef a[MMA_MAX_WORDS], b[MMA_MAX_WORDS];
  LLVMValueRef *acc = tile_words(p, batch, row_tile, column_tile);
  for (unsigned w = 0; w < in->a_words; w++) {
    unsigned row = row_tile * p->row_groups + w % p->row_groups;
    row = row < rows ? row : rows - 1;
    a[w] = p->a[(batch * rows + row) * p->words_along_k + first + w / p->row_groups];
  }
  for (unsigned w = 0; w < n; w++)
    b[w] = p->b[(batch * columns + column_tile) * p->words_along_k + first + w];
  struct mma_operands m = {.instruction = in, .a = a, .b = b, .c = acc};
  e->target->hooks->mma(e, &m, acc);
}

// Columns alternate in direction, so that consecutive instructions share an operand.
static void multiply_all(struct emitter *e, const struct products *p, unsigned batch) {
  for (unsigned k = 0; k < p->steps; k++)
    for (unsigned i = 0; i < p->row_tiles; i++)
      for (unsigned j = 0; j < p->column_tiles; j++)
        multiply(e, p, batch, i, (k * p->row_tiles + i) % 2 ? p->column_tiles - 1 - j : j, k);
}

static bool convert_results(struct emitter *e, const struct products *p, bool back) {
  for (unsigned n = 0; n < p->d->acc.axis[DOT_BATCH].count; n++)
    for (unsigned i = 0; i < p->row_tiles; i++)
      for (unsigned j = 0; j < p->column_tiles; j++)
        if (!result_words(e, p, n, i, j, back))
          return false;
  return true;
}

static struct products products_of(struct emitter *e, struct dot *d,
                                   const struct mma_instruction *in) {
  struct products p = {.d = d, .instruction = in, .row_groups = in->m / 8};
  unsigned along_k = d->a.axis[DOT_COLUMN].count;
  p.per_word = in->a == DTYPE_F64 ? 1 : 32 / dtype_bits(in->a);
  p.steps = (along_k + p.per_word * in->b_words - 1) / (p.per_word * in->b_words);
  p.words_along_k = p.steps * in->b_words;
  p.row_tiles = (d->acc.axis[DOT_ROW].count + p.row_groups - 1) / p.row_groups;
  p.column_tiles = d->b.axis[DOT_COLUMN].count;
  p.second_column = dot_image(&d->b, LL_LANE, LANE_PAIR_BITS, DOT_COLUMN);
  p.acc = arena_array(e->arena, LLVMValueRef,
                      (size_t)d->acc.axis[DOT_BATCH].count * p.row_tiles * p.column_tiles *
                          in->c_words);
  return p;
}

bool emit_mma(struct emitter *e, struct dot *d) {
  const struct mma_instruction *in =
      mma_find(d->a.dtype, d->b.dtype, d->acc.dtype, e->target->sm, d->a.axis[DOT_COLUMN].size);
  if (!in)
    return emit_unsupported(e, d->op, "`%s` has no matrix instruction for `%s` by `%s` to `%s`",
                            e->target->name, dtype_name(d->a.dtype), dtype_name(d->b.dtype),
                            dtype_name(d->acc.dtype));
  if (d->a.dtype == DTYPE_F32 && !str_is(op_attr_str(d->op, "input_precision"), "tf32"))
    return emit_unsupported(e, d->op, "matrix instructions read f32 operands as tf32 only");
  struct products p = products_of(e, d, in);
  if (!layouts_fit(d) || !operand_words(e, &p, true, &p.a) || !operand_words(e, &p, false, &p.b) ||
      !convert_results(e, &p, false))
    return emit_unsupported(e, d->op, "the layouts of a matrix product that do not fit each other");
  e->uses_collectives = true;
  for (unsigned i = 0; i < d->acc.axis[DOT_BATCH].count; i++)
    multiply_all(e, &p, i);
  return convert_results(e, &p, true);
}
