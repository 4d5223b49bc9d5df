// SPDX-License-Identifier: Apache-2.0
// Matrix instructions: the supported shapes and types, their products, and the layout of 16-bit
// elements.
#include "ptx-simulator/matrix.h"

#include <assert.h>

// ---- mma ----

// Shapes, with the types that they exist for.
static const struct form {
  const char *shape;
  unsigned m, k;
  const char *operands; // A and B each have one of these types
  const char *sums;     // C and D have one of these types
} forms[] = {
    {"m16n8k8", 16, 8, "f16", "f16 f32"},
    {"m16n8k16", 16, 16, "f16", "f16 f32"},
    {"m16n8k8", 16, 8, "bf16", "f32"},
    {"m16n8k16", 16, 16, "bf16", "f32"},
    {"m16n8k4", 16, 4, "tf32", "f32"},
    {"m16n8k8", 16, 8, "tf32", "f32"},
    {"m8n8k4", 8, 4, "f64", "f64"},
    {"m16n8k4", 16, 4, "f64", "f64"},
    {"m16n8k8", 16, 8, "f64", "f64"},
    {"m16n8k16", 16, 16, "f64", "f64"},
    {"m8n8k16", 8, 16, "s8 u8", "s32"},
    {"m16n8k16", 16, 16, "s8 u8", "s32"},
    {"m16n8k32", 16, 32, "s8 u8", "s32"},
    {"m16n8k16", 16, 16, "e4m3 e5m2", "f16 f32"},
    {"m16n8k32", 16, 32, "e4m3 e5m2", "f16 f32"},
};

static const struct {
  const char *name;
  enum dtype type;
} types[] = {
    {"f16", DTYPE_F16},   {"bf16", DTYPE_BF16},   {"tf32", DTYPE_F32}, {"f32", DTYPE_F32},
    {"f64", DTYPE_F64},   {"s8", DTYPE_I8},       {"u8", DTYPE_U8},    {"s32", DTYPE_I32},
    {"e5m2", DTYPE_F8E5}, {"e4m3", DTYPE_F8E4NV},
};

// Whether `word` is one of the words of a list.
static bool among(struct str word, const char *list) {
  struct str rest = str_from(list), head;
  do {
    rest = str_split(rest, ' ', &head);
    if (str_eq(word, head))
      return true;
  } while (rest.ptr);
  return false;
}

static enum dtype type_of(struct str name) {
  for (size_t i = 0; i < COUNT_OF(types); i++)
    if (str_is(name, types[i].name))
      return types[i].type;
  assert(false);
  return DTYPE_NONE;
}

// `t`: the types of D, A, B and C.
static bool has_types(const struct form *f, const struct str *t) {
  return among(t[0], f->sums) && str_eq(t[0], t[3]) && among(t[1], f->operands) &&
         among(t[2], f->operands);
}

static void describe(const struct form *f, const struct str *t, struct matrix_mma *ret) {
  struct mma_instruction *in = &ret->shape;
  *in = (struct mma_instruction){
      .c = type_of(t[0]), .a = type_of(t[1]), .b = type_of(t[2]), .m = f->m, .k = f->k};
  ret->bits = in->a == DTYPE_F64 ? 64 : 32;
  unsigned lane_bits = MATRIX_LANES * ret->bits;
  in->a_words = in->m * in->k * dtype_bits(in->a) / lane_bits;
  in->b_words = MMA_N * in->k * dtype_bits(in->b) / lane_bits;
  in->c_words = in->m * MMA_N * dtype_bits(in->c) / lane_bits;
  assert(in->a_words <= MATRIX_MAX_WORDS && in->c_words <= MATRIX_MAX_WORDS);
}

bool matrix_mma_decode(const struct str *parts, size_t count, struct matrix_mma *ret) {
  static const char *const start[] = {"mma", "sync", "aligned", NULL, "row", "col"};
  if (count != 10 && count != 11)
    return false;
  for (size_t i = 0; i < COUNT_OF(start); i++)
    if (start[i] && !str_is(parts[i], start[i]))
      return false;
  *ret = (struct matrix_mma){.saturate = count == 11};
  const struct str *t = parts + count - 4;
  if (ret->saturate && (!str_is(parts[6], "satfinite") || !str_is(t[0], "s32")))
    return false;
  for (size_t i = 0; i < COUNT_OF(forms); i++)
    if (str_is(parts[3], forms[i].shape) && has_types(&forms[i], t)) {
      describe(&forms[i], t, ret);
      return true;
    }
  return false;
}

// Registers of a lane as they are in memory: consecutive, each of its width.
union words {
  uint32_t narrow[MATRIX_MAX_WORDS];
  uint64_t wide[MATRIX_MAX_WORDS];
};

static void narrow(unsigned bits, unsigned count, const uint64_t *from, union words *ret) {
  for (unsigned i = 0; i < count; i++)
    if (bits == 64)
      ret->wide[i] = from[i];
    else
      ret->narrow[i] = (uint32_t)from[i];
}

void matrix_mma_run(const struct matrix_mma *in, const uint64_t *a, const uint64_t *b,
                    const uint64_t *c, uint64_t *d) {
  const struct mma_instruction *s = &in->shape;
  struct {
    union words a, b, c;
  } words[MATRIX_LANES];
  struct mma_lane lanes[MATRIX_LANES];
  for (unsigned lane = 0; lane < MATRIX_LANES; lane++) {
    narrow(in->bits, s->a_words, a + lane * s->a_words, &words[lane].a);
    narrow(in->bits, s->b_words, b + lane * s->b_words, &words[lane].b);
    narrow(in->bits, s->c_words, c + lane * s->c_words, &words[lane].c);
    lanes[lane] = (struct mma_lane){&words[lane].a, &words[lane].b, &words[lane].c, &words[lane].c};
  }
  mma_product(s, in->saturate, lanes);
  for (unsigned lane = 0; lane < MATRIX_LANES; lane++)
    for (unsigned i = 0; i < s->c_words; i++)
      d[lane * s->c_words + i] = in->bits == 64 ? words[lane].c.wide[i] : words[lane].c.narrow[i];
}

// ---- ldmatrix and stmatrix ----

struct matrix_position matrix_b16_position(unsigned lane, unsigned word, unsigned half,
                                           bool transposed) {
  assert(lane < MATRIX_LANES && half < 2);
  unsigned outer = lane / 4, inner = 2 * (lane % 4) + half;
  return (struct matrix_position){word, transposed ? inner : outer, transposed ? outer : inner};
}
