// SPDX-License-Identifier: Apache-2.0
// Products of 8-bit integers: elements that follow each other along K share words of 32 bits, which
// one instruction multiplies and adds. Results are exact.
//
//   quads  4 x i8   vpdpbusd (AVX512-VNNI, AVX-VNNI): unsigned times signed, so A is A + 128, and
//                   128 times the sum of its column of B is taken off each sum
//   pairs  2 x i16  vpmaddwd (AVX2, AVX-512 BW), of elements widened to 16 bits
//
// Intel SDM volume 2, VPDPBUSD, PMADDWD.
#include "lowering/processor/strips.h"

unsigned product_group(struct strip_emitter *e, MlirOperation op) {
  MlirType a = mlirValueGetType(operand(op, 0)), b = mlirValueGetType(operand(op, 1));
  int64_t k = tensor_dim(a, tensor_rank(a) - 1), n = tensor_dim(b, tensor_rank(b) - 1);
  if (dtype_of(operand(op, 0)) != DTYPE_I8 || dtype_of(operand(op, 1)) != DTYPE_I8 || n < 4)
    return 1;
  unsigned group = e->registers.integers;
  return k >= group ? group : 1;
}

// ---- multiplying ----

// Two vectors, one behind the other.
static LLVMValueRef joined(struct strip_emitter *e, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef picks[4 * STRIP];
  unsigned count = 2 * lanes_of(x);
  for (unsigned i = 0; i < count; i++)
    picks[i] = LLVMConstInt(e->i32, i, false);
  return LLVMBuildShuffleVector(e->b, x, y, LLVMConstVector(picks, count), "");
}

// Words of a register.
static LLVMValueRef multiply_register(struct strip_emitter *e, unsigned group, LLVMValueRef x,
                                      LLVMValueRef y, LLVMValueRef sum) {
  static const char *const quads[] = {"llvm.x86.avx512.vpdpbusd.128",
                                      "llvm.x86.avx512.vpdpbusd.256",
                                      "llvm.x86.avx512.vpdpbusd.512"};
  static const char *const pairs[] = {"llvm.x86.sse2.pmadd.wd", "llvm.x86.avx2.pmadd.wd",
                                      "llvm.x86.avx512.pmaddw.d.512"};
  unsigned lanes = lanes_of(sum), size = lanes == 4 ? 0 : lanes == 8 ? 1 : 2;
  LLVMTypeRef bytes = LLVMVectorType(e->i8, 4 * lanes), halves = LLVMVectorType(e->i16, 2 * lanes);
  LLVMTypeRef type = group == 4 ? bytes : halves;
  x = LLVMBuildBitCast(e->b, x, type, "");
  y = LLVMBuildBitCast(e->b, y, type, "");
  if (group == 4)
    return call_intrinsic(e, quads[size], 0, NULL, 3, (LLVMValueRef[]){sum, x, y});
  return LLVMBuildAdd(e->b, call_intrinsic(e, pairs[size], 0, NULL, 2, (LLVMValueRef[]){x, y}), sum,
                      "");
}

LLVMValueRef multiply_words(struct strip_emitter *e, unsigned group, LLVMValueRef x, LLVMValueRef y,
                            LLVMValueRef sum) {
  unsigned lanes = lanes_of(sum), most = e->registers.bytes / 4;
  if (lanes <= most)
    return multiply_register(e, group, x, y, sum);
  LLVMValueRef half[2];
  for (unsigned i = 0; i < 2; i++) {
    unsigned from = i * lanes / 2;
    half[i] = multiply_register(e, group, half_of(e, x, from), half_of(e, y, from),
                                half_of(e, sum, from));
  }
  return joined(e, half[0], half[1]);
}

LLVMValueRef multiply_add(struct strip_emitter *e, unsigned group, LLVMValueRef x, LLVMValueRef y,
                          LLVMValueRef sum) {
  LLVMValueRef args[] = {x, y, sum};
  if (group > 1)
    return multiply_words(e, group, x, y, sum);
  if (scalar_type(sum) == e->f32 || scalar_type(sum) == e->f64)
    return plain_intrinsic(e, "llvm.fma", 3, args);
  return LLVMBuildAdd(e->b, LLVMBuildMul(e->b, x, y, ""), sum, "");
}

// ---- packing ----

struct packing {
  MlirValue v;
  struct buffer *to;              // words: batch, and the dimensions of v, of which k has fewer
  unsigned group, rank, k, other; // dimensions
  bool is_excess;                 // adds 128 to each element
};

static LLVMValueRef flipped(struct strip_emitter *e, const struct packing *w, LLVMValueRef words) {
  return w->is_excess ? LLVMBuildXor(e->b, words, int_constant(LLVMTypeOf(words), 0x80808080), "")
                      : words;
}

static void store_words(struct strip_emitter *e, const struct packing *w, const struct position *p,
                        unsigned lane, LLVMValueRef words) {
  struct position to = *p;
  to.at[w->k] = LLVMBuildLShr(e->b, p->at[w->k], index_constant(e, w->group == 4 ? 2 : 1), "");
  to.lanes = lanes_of(words);
  to.lane = to.lanes > 1 ? (int)lane : -1;
  scratch_store(e, w->to, &to, flipped(e, w, words));
}

// The words of neighbours along the other dimension.
static LLVMValueRef words_across(struct strip_emitter *e, const struct packing *w,
                                 const struct position *p) {
  unsigned bits = 32 / w->group;
  LLVMValueRef words = NULL;
  for (unsigned i = 0; i < w->group; i++) {
    struct position q = *p;
    q.at[w->k] = index_plus(e, p->at[w->k], i);
    LLVMValueRef x = repeat(e, evaluate(e, w->v, &q), q.lanes);
    if (w->group == 2)
      x = LLVMBuildSExt(e->b, x, like(x, e->i16), "");
    x = LLVMBuildZExt(e->b, x, like(x, e->i32), "");
    if (i)
      x = LLVMBuildShl(e->b, x, int_constant(LLVMTypeOf(x), i * bits), "");
    words = words ? LLVMBuildOr(e->b, words, x, "") : x;
  }
  return words;
}

// `count` words that follow each other along k.
static LLVMValueRef words_along(struct strip_emitter *e, const struct packing *w,
                                const struct position *p, unsigned count) {
  LLVMValueRef parts[4];
  struct position q = *p;
  q.lane = (int)w->k;
  q.lanes = count * w->group < STRIP ? count * w->group : STRIP;
  unsigned words = q.lanes / w->group, n = count / words;
  for (unsigned i = 0; i < n; i++) {
    q.at[w->k] = index_plus(e, p->at[w->k], (int64_t)(i * q.lanes));
    LLVMValueRef x = repeat(e, evaluate(e, w->v, &q), q.lanes);
    if (w->group == 2)
      x = LLVMBuildSExt(e->b, x, like(x, e->i16), "");
    parts[i] = LLVMBuildBitCast(e->b, x, vector_of(e->i32, words), "");
  }
  for (; n > 1; n /= 2)
    for (unsigned i = 0; i < n / 2; i++)
      parts[i] = joined(e, parts[2 * i], parts[2 * i + 1]);
  return parts[0];
}

// A square of words, of rows along k, as columns.
static void store_transposed(struct strip_emitter *e, const struct packing *w, struct position *p,
                             unsigned count) {
  LLVMValueRef rows[STRIP], first = p->at[w->other], first_k = p->at[w->k];
  for (unsigned i = 0; i < STRIP; i++) {
    p->at[w->other] = index_plus(e, first, i);
    LLVMValueRef x = words_along(e, w, p, count);
    for (; lanes_of(x) < STRIP;)
      x = joined(e, x, LLVMGetPoison(LLVMTypeOf(x)));
    rows[i] = x;
  }
  transpose_square(e, rows);
  p->at[w->other] = first;
  for (unsigned i = 0; i < count; i++) {
    p->at[w->k] = index_plus(e, first_k, (int64_t)(i * w->group));
    store_words(e, w, p, w->other, rows[i]);
  }
}

static unsigned at_most_strip(int64_t n) { return n < STRIP ? (unsigned)n : STRIP; }

// along: lanes are neighbours along k. transposes: and words are stored as columns.
static void pack(struct strip_emitter *e, const struct packing *w, bool along, bool transposes) {
  MlirType type = mlirValueGetType(w->v);
  int64_t k = tensor_dim(type, w->k), others = tensor_dim(type, w->other);
  unsigned words = along ? at_most_strip(k / w->group) : 1;
  unsigned lanes = along && !transposes ? 1 : at_most_strip(others);
  struct position p = {.rank = w->rank, .lane = -1, .lanes = 1};
  flush(e);
  levels_begin(e);
  struct loop batch = loop_begin(e, 0, w->rank == 3 ? tensor_dim(type, 0) : 1, 1);
  p.at[0] = batch.index;
  // The inner loop runs along what lies side by side in memory.
  unsigned dims[] = {along ? w->other : w->k, along ? w->k : w->other};
  struct loop loops[2];
  for (unsigned i = 0; i < 2; i++) {
    bool is_k = dims[i] == w->k;
    loops[i] = loop_begin(e, 0, is_k ? k : others, is_k ? (int64_t)(words * w->group) : lanes);
    p.at[dims[i]] = loops[i].index;
  }
  if (transposes) {
    store_transposed(e, w, &p, words);
  } else if (along) {
    store_words(e, w, &p, w->k, words_along(e, w, &p, words));
  } else {
    p.lanes = lanes;
    p.lane = lanes > 1 ? (int)w->other : -1;
    store_words(e, w, &p, w->other, words_across(e, w, &p));
  }
  loop_end(e, &loops[1]);
  loop_end(e, &loops[0]);
  loop_end(e, &batch);
  levels_end(e);
}

LLVMValueRef streamed_words(struct strip_emitter *e, MlirValue v, unsigned group,
                            const struct position *p) {
  struct packing w = {.v = v, .group = group, .k = (unsigned)p->lane, .is_excess = group == 4};
  return flipped(e, &w, words_along(e, &w, p, p->lanes));
}

struct buffer *product_words(struct strip_emitter *e, MlirOperation op, unsigned i, unsigned group,
                             enum operand_order order) {
  enum { PAD = 16 };
  struct packing w = {.v = operand(op, i), .group = group};
  w.is_excess = i == 0 && group == 4 && order == ANY_ORDER;
  w.rank = rank_of(w.v);
  w.k = i == 0 ? w.rank - 1 : w.rank - 2;
  w.other = i == 0 ? w.rank - 2 : w.rank - 1;
  MlirType type = mlirValueGetType(w.v);
  int64_t words = tensor_dim(type, w.k) / group, others = tensor_dim(type, w.other);
  bool along = words >= 4 && fastest_dim(e, w.v) == w.k;
  bool by_rows = order == ROWS_OF_K || (i == 0 && along);
  int64_t inner = by_rows ? words : others, outer = by_rows ? others : words;
  inner += inner >= 4 * STRIP ? PAD : 0;
  int64_t shape[] = {w.rank == 3 ? tensor_dim(type, 0) : 1, outer, inner};
  w.to = buffer_of_type(e, e->i32, 3, shape);
  int64_t stride[] = {w.to->stride[0], w.to->stride[1], 1};
  w.to->stride[0] = stride[0];
  w.to->stride[w.k] = by_rows ? stride[2] : stride[1];
  w.to->stride[w.other] = by_rows ? stride[1] : stride[2];
  pack(e, &w, along && (i == 0 || others >= STRIP), i == 1 && along && others >= STRIP);
  return w.to;
}

// ---- what A's 128 added ----

struct buffer *product_excess(struct strip_emitter *e, MlirOperation op, const struct buffer *b) {
  MlirType type = mlirValueGetType(operand(op, 1));
  unsigned rank = tensor_rank(type), first = rank - 2;
  int64_t batches = rank == 3 ? tensor_dim(type, 0) : 1, columns = tensor_dim(type, rank - 1);
  unsigned lanes = at_most_strip(columns);
  struct buffer *to = buffer_of_type(e, e->i32, 3, (int64_t[]){batches, 1, columns});
  to->stride[first] = to->stride[1];
  to->stride[first + 1] = 1;
  struct position p = {.rank = rank, .lane = (int)rank - 1, .lanes = lanes};
  levels_begin(e);
  struct loop batch = loop_begin(e, 0, batches, 1);
  struct loop column = loop_begin(e, 0, columns, lanes);
  struct loop k = loop_begin(e, 0, tensor_dim(type, first) / 4, 1);
  LLVMValueRef sum = loop_carry(e, &k, LLVMConstNull(vector_of(e->i32, lanes)));
  p.at[0] = batch.index;
  p.at[first] = k.index;
  p.at[first + 1] = column.index;
  LLVMValueRef offset = int_constant(LLVMTypeOf(sum), 0x80808080);
  loop_next(&k, 0, multiply_words(e, 4, offset, scratch_load(e, b, &p), sum));
  loop_end(e, &k);
  p.at[first] = index_constant(e, 0);
  scratch_store(e, to, &p, k.next[0]);
  loop_end(e, &column);
  loop_end(e, &batch);
  levels_end(e);
  return to;
}
