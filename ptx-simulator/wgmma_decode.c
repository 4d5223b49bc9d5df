// SPDX-License-Identifier: Apache-2.0
// Decodes wgmma: shape, types, operands and modifiers.
#include "base/wgmma.h"
#include "ptx-simulator/wgmma_op.h"

#include <stdio.h>

static bool decode_simple(struct decoder *d, op_fn *run, const void *info, unsigned operands) {
  if (!expect_part(d, "sync") || !expect_part(d, "aligned") || !expect_end(d) ||
      !expect_operands(d, operands, operands))
    return false;
  emit(d, run, NULL, 0, info);
  return !d->failed;
}

static bool decode_wait(struct decoder *d) {
  uint64_t *groups = arena_new(d->arena, uint64_t);
  if (d->in->operand_count != 1 || !constant_value(d, &d->in->operands[0], groups))
    return decode_error(d, "'wgmma.wait_group' wants a number of groups");
  if (*groups > 7)
    return decode_error(d, "'wgmma.wait_group' wants at most 7 groups");
  return decode_simple(d, wgmma_wait_op, groups, 1);
}

static bool decode_n(struct decoder *d, struct str shape, struct wgmma *x) {
  char text[16];
  for (x->n = MMA_N; x->n <= WGMMA_MAX_N; x->n += MMA_N) {
    int length = snprintf(text, sizeof text, "m64n%uk", x->n);
    if (shape.len > (size_t)length && !memcmp(shape.ptr, text, (size_t)length))
      return true;
  }
  return decode_error(d, "this shape of 'wgmma' is not known: '%.*s'", STR_ARG(shape));
}

// Takes the shape; the same product of mma.sync has 16 rows and 8 columns.
static bool decode_shape(struct decoder *d, struct wgmma *x, char *ret_mma, size_t size) {
  struct str shape = peek_part(d);
  char text[16];
  if (!decode_n(d, shape, x))
    return false;
  const char *k = memchr(shape.ptr, 'k', shape.len);
  int digits = (int)(shape.ptr + shape.len - k);
  snprintf(ret_mma, size, "m16n8%.*s", digits, k);
  snprintf(text, sizeof text, "%.*s", STR_ARG(shape));
  return expect_part(d, text);
}

static bool decode_shape_and_types(struct decoder *d, struct wgmma *x) {
  static const char *const results[] = {"f32", "f16", "s32", NULL};
  static const char *const operands[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", NULL};
  char mma[16];
  if (!decode_shape(d, x, mma, sizeof mma))
    return false;
  int to = take_one_of(d, results), a = take_one_of(d, operands), b = take_one_of(d, operands);
  if (to < 0 || a < 0 || b < 0)
    return decode_error(d, "these types of 'wgmma' are not known");
  struct str parts[] = {STR("mma"),
                        STR("sync"),
                        STR("aligned"),
                        str_from(mma),
                        STR("row"),
                        STR("col"),
                        str_from(results[to]),
                        str_from(operands[a]),
                        str_from(operands[b]),
                        str_from(results[to])};
  if (!matrix_mma_decode(parts, COUNT_OF(parts), &x->mma) ||
      dtype_bits(x->mma.shape.a) * x->mma.shape.k != 8 * WGMMA_K_BYTES)
    return decode_error(d, "these types of 'wgmma' are not known");
  x->mma.saturate = x->mma.shape.c == DTYPE_I32 && take_part(d, "satfinite");
  x->words = x->n * dtype_bits(x->mma.shape.c) / 64;
  return true;
}

// Behind the descriptors: scale-d; but for integers imm-scale-a and imm-scale-b; of 16-bit operands
// a 0 or 1 for each descriptor.
static bool decode_modifiers(struct decoder *d, struct wgmma *x) {
  uint64_t scale[2], transposed[2] = {0};
  bool is_integer = x->mma.shape.c == DTYPE_I32, is_16_bit = dtype_bits(x->mma.shape.a) == 16;
  unsigned first = x->a_in_registers ? 1 : 0;
  unsigned count = is_integer ? 4 : is_16_bit ? 8 - first : 6;
  if (!expect_operands(d, count, count))
    return false;
  for (unsigned i = 0; !is_integer && i < 2; i++)
    if (!constant_value(d, &d->in->operands[4 + i], &scale[i]))
      return false;
  for (unsigned i = first; is_16_bit && i < 2; i++)
    if (!constant_value(d, &d->in->operands[6 + i - first], &transposed[i]))
      return false;
  if (!is_integer && (scale[0] != 1 || scale[1] != 1))
    return decode_error(d, "'wgmma' with a negated operand is not known");
  if (transposed[0] > 1 || transposed[1] > 1)
    return decode_error(d, "whether an operand of 'wgmma' is transposed is 0 or 1");
  x->a_transposed = transposed[0];
  x->b_transposed = transposed[1];
  return true;
}

static bool decode_product(struct decoder *d) {
  struct wgmma *x = arena_new(d->arena, struct wgmma);
  if (!expect_part(d, "sync") || !expect_part(d, "aligned") || !decode_shape_and_types(d, x) ||
      !expect_end(d) || !expect_operands(d, 4, 8))
    return false;
  const struct operand *given = d->in->operands, *items;
  x->a_in_registers = given[1].kind == OPERAND_VECTOR;
  if (!decode_modifiers(d, x))
    return false;
  int32_t *slots = arena_array(d->arena, int32_t, x->words + WGMMA_A_WORDS + 2);
  unsigned n = 0;
  if (!vector_items(d, &given[0], x->words, &items))
    return false;
  for (unsigned i = 0; i < x->words; i++)
    slots[n++] = result_slot(d, &items[i], 32);
  if (x->a_in_registers && !vector_items(d, &given[1], WGMMA_A_WORDS, &items))
    return false;
  for (unsigned i = 0; i < (x->a_in_registers ? WGMMA_A_WORDS : 1u); i++)
    slots[n++] = x->a_in_registers ? source_slot(d, &items[i], 32, false)
                                   : source_slot(d, &given[1], 64, false);
  slots[n++] = source_slot(d, &given[2], 64, false);
  slots[n++] = source_slot(d, &given[3], 1, false);
  for (unsigned i = 0; i < n; i++)
    if (slots[i] == NO_SLOT)
      return d->failed ? false : decode_error(d, "an operand of 'wgmma' that is no register");
  emit(d, wgmma_product_op, slots, n, x);
  return !d->failed;
}

bool decode_wgmma(struct decoder *d) {
  if (take_part(d, "mma_async"))
    return decode_product(d);
  if (take_part(d, "fence"))
    return decode_simple(d, wgmma_fence_op, NULL, 0);
  if (take_part(d, "commit_group"))
    return decode_simple(d, wgmma_commit_op, NULL, 0);
  if (expect_part(d, "wait_group"))
    return decode_wait(d);
  return false;
}
