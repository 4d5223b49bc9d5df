// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and mma.sync (PTX ISA, 9.7.15): the whole warp converges, then executes as
// one.
#include "ptx-simulator/decode.h"
#include "ptx-simulator/matrix.h"

enum { ROW_BYTES = 16, ROWS = 8, MAX_MATRICES = 4 };

struct matrix_access {
  struct address address;
  unsigned count;
  bool transposed;
};

// The rows of all matrices, at the addresses given by the first lanes.
static bool locate_rows(struct warp *w, const struct op *op, int access, struct location *rows) {
  const struct matrix_access *x = op->info;
  unsigned count = x->count * ROWS;
  uint32_t lanes = count == SIM_LANES ? ~0u : (1u << count) - 1;
  require_defined(w, op, x->address.slot, lanes, x->address.bits / 8, "the address");
  for (unsigned i = 0; i < count; i++)
    if (!locate(w, op, i, SIM_SHARED, address_of(w, &x->address, i), ROW_BYTES, access, &rows[i]))
      return false;
  return true;
}

static void ldmatrix_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct matrix_access *x = op->info;
  struct location rows[MAX_MATRICES * ROWS];
  uint32_t undefined[MAX_MATRICES * ROWS] = {0};
  if (!warp_converge_whole(w, op, &lanes) || !locate_rows(w, op, ACCESS_READ, rows))
    return;
  for (unsigned i = 0; w->undefined && i < x->count * ROWS; i++)
    undefined[i] = shadow_read(w, op, i, &rows[i], ROW_BYTES, 0);
  EACH_LANE(lane, lanes)
  for (unsigned k = 0; k < x->count; k++) {
    uint32_t value = 0;
    unsigned bytes = 0;
    for (unsigned half = 0; half < 2; half++) {
      struct matrix_position at = matrix_b16_position(lane, k, half, x->transposed);
      unsigned i = at.matrix * ROWS + at.row;
      uint16_t element;
      memcpy(&element, rows[i].bytes + 2 * at.column, sizeof element);
      value |= (uint32_t)element << (16 * half);
      bytes |= (undefined[i] >> (2 * at.column) & 3) << (2 * half);
    }
    if (op->slots[k] == NO_SLOT)
      continue;
    row(w, op->slots[k])[lane] = value;
    set_undefined(w, op, op->slots[k], lane, bytes);
  }
}

static void stmatrix_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct matrix_access *x = op->info;
  struct location rows[MAX_MATRICES * ROWS];
  uint8_t bytes[MAX_MATRICES * ROWS][ROW_BYTES];
  uint32_t undefined[MAX_MATRICES * ROWS] = {0};
  if (!warp_converge_whole(w, op, &lanes) || !locate_rows(w, op, ACCESS_WRITE, rows))
    return;
  EACH_LANE(lane, lanes)
  for (unsigned k = 0; k < x->count; k++)
    for (unsigned half = 0; half < 2; half++) {
      struct matrix_position at = matrix_b16_position(lane, k, half, x->transposed);
      unsigned i = at.matrix * ROWS + at.row;
      uint16_t element = (uint16_t)(row(w, op->slots[k])[lane] >> (16 * half));
      memcpy(&bytes[i][2 * at.column], &element, sizeof element);
      undefined[i] |= (undefined_of(w, op->slots[k], lane) >> (2 * half) & 3) << (2 * at.column);
    }
  for (unsigned i = 0; i < x->count * ROWS; i++) {
    if (w->undefined)
      shadow_write(w, op, i, &rows[i], ROW_BYTES, 0, undefined[i], bytes[i]);
    memcpy(rows[i].bytes, bytes[i], ROW_BYTES);
  }
}

static bool decode_matrix_access(struct decoder *d, struct matrix_access *x) {
  static const char *const counts[] = {"x1", "x2", "x4", NULL};
  if (!expect_part(d, "sync") || !expect_part(d, "aligned") || !expect_part(d, "m8n8"))
    return false;
  int count = take_one_of(d, counts);
  if (count < 0)
    return expect_part(d, "x1");
  x->count = 1u << count;
  x->transposed = take_part(d, "trans");
  if (!take_part(d, "shared::cta"))
    take_part(d, "shared");
  return expect_part(d, "b16") && expect_end(d) && expect_operands(d, 2, 2);
}

static bool decode_matrices(struct decoder *d, bool load) {
  struct matrix_access *x = arena_new(d->arena, struct matrix_access);
  const struct operand *items;
  int32_t slots[MAX_MATRICES];
  if (!decode_matrix_access(d, x) ||
      !decode_address(d, &d->in->operands[load ? 1 : 0], &x->address) ||
      !vector_items(d, &d->in->operands[load ? 0 : 1], x->count, &items))
    return false;
  for (unsigned i = 0; i < x->count; i++)
    slots[i] = load ? result_slot(d, &items[i], 32) : source_slot(d, &items[i], 32, false);
  emit(d, load ? ldmatrix_op : stmatrix_op, slots, x->count, x);
  return !d->failed;
}

bool decode_ldmatrix(struct decoder *d) { return decode_matrices(d, true); }
bool decode_stmatrix(struct decoder *d) { return decode_matrices(d, false); }

// ---- mma ----

static void gather(struct warp *w, const int32_t *slots, unsigned words, uint64_t *ret) {
  for (unsigned k = 0; k < words; k++)
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
      ret[lane * words + k] = row(w, slots[k])[lane];
}

// An undefined element of a row of A or a column of B makes that row or column of D undefined.
static void spread_product(struct warp *w, const struct op *op) {
  const struct matrix_mma *m = op->info;
  const struct mma_instruction *s = &m->shape;
  const int32_t *d = op->slots, *a = d + s->c_words, *b = a + s->a_words, *c = b + s->b_words;
  uint32_t bad_rows = 0, bad_columns = 0, any = 0;
  unsigned bytes = (1u << m->bits / 8) - 1, count = s->c_words + s->a_words + s->b_words;
  const struct op *origin = NULL;
  for (unsigned i = 0; i < count; i++)
    if (w->undefined[a[i]]) {
      any = 1;
      origin = w->origin[a[i]];
    }
  for (unsigned i = 0; i < s->c_words; i++)
    set_defined(w, d[i], any && d[i] == c[i] ? 0 : ~0u);
  if (!any)
    return;
  unsigned row_groups = s->m / 8, elements = s->m * MMA_N / SIM_LANES / s->c_words;
  for (unsigned lane = 0; lane < SIM_LANES; lane++) {
    for (unsigned k = 0; k < s->a_words; k++)
      if (undefined_of(w, a[k], lane) & bytes)
        bad_rows |= 1u << (lane / 4 + 8 * (k % row_groups));
    for (unsigned k = 0; k < s->b_words; k++)
      if (undefined_of(w, b[k], lane) & bytes)
        bad_columns |= 1u << lane / 4;
  }
  for (unsigned lane = 0; lane < SIM_LANES; lane++)
    for (unsigned k = 0; k < s->c_words; k++) {
      bool bad = (undefined_of(w, c[k], lane) & bytes) != 0;
      for (unsigned e = k * elements; e < (k + 1) * elements; e++)
        bad |=
            bad_rows >> (lane / 4 + 8 * (e / 2)) & 1 || bad_columns >> (2 * (lane % 4) + e % 2) & 1;
      set_undefined(w, origin, d[k], lane, bad ? bytes : 0);
    }
}

static void mma_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct matrix_mma *m = op->info;
  const struct mma_instruction *s = &m->shape;
  uint64_t a[SIM_LANES * MATRIX_MAX_WORDS], b[SIM_LANES * MATRIX_MAX_WORDS],
      c[SIM_LANES * MATRIX_MAX_WORDS], d[SIM_LANES * MATRIX_MAX_WORDS];
  const int32_t *slots = op->slots;
  if (!warp_converge_whole(w, op, &lanes))
    return;
  gather(w, slots + s->c_words, s->a_words, a);
  gather(w, slots + s->c_words + s->a_words, s->b_words, b);
  gather(w, slots + s->c_words + s->a_words + s->b_words, s->c_words, c);
  if (w->undefined)
    spread_product(w, op);
  matrix_mma_run(m, a, b, c, d);
  for (unsigned k = 0; k < s->c_words; k++)
    for (unsigned lane = 0; lane < SIM_LANES && slots[k] != NO_SLOT; lane++)
      row(w, slots[k])[lane] = d[lane * s->c_words + k];
}

bool decode_mma(struct decoder *d) {
  struct matrix_mma *m = arena_new(d->arena, struct matrix_mma);
  int32_t slots[4 * MATRIX_MAX_WORDS];
  unsigned n = 0;
  if (!matrix_mma_decode(d->in->parts, d->in->part_count, m)) {
    struct str last = d->in->parts[d->in->part_count - 1];
    return decode_error(d, "this shape or type of 'mma' is not known (it ends in '.%.*s')",
                        STR_ARG(last));
  }
  if (!expect_operands(d, 4, 4))
    return false;
  unsigned words[] = {m->shape.c_words, m->shape.a_words, m->shape.b_words, m->shape.c_words};
  for (unsigned i = 0; i < 4; i++) {
    const struct operand *items;
    if (!vector_items(d, &d->in->operands[i], words[i], &items))
      return false;
    for (unsigned k = 0; k < words[i]; k++) {
      slots[n] = i == 0 ? result_slot(d, &items[k], m->bits)
                        : source_slot(d, &items[k], m->bits, items[k].kind != OPERAND_INTEGER);
      if (slots[n++] == NO_SLOT)
        return decode_error(d, "a fragment of 'mma' that is no register");
    }
  }
  emit(d, mma_op, slots, n, m);
  return !d->failed;
}
