// SPDX-License-Identifier: Apache-2.0
// See ir_text.h.
#include "ir_text.h"

#include <stdlib.h>

struct ir_text ir_text_begin(struct arena *a) {
  return (struct ir_text){.arena = a, .aliases = ""};
}

const char *ir_text_end(struct ir_text *t, const char *params, const char *functions) {
  const char *s = arena_printf(
      t->arena, "%smodule {\nfunc.func @k(%s) attributes {tile.kernel} {\n%sreturn\n}\n%s}\n",
      t->aliases, params, strbuf_cstr(&t->body), functions);
  strbuf_finish(&t->body);
  return s;
}

void ir_line(struct ir_text *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  strbuf_printf(&t->body, "%s\n", arena_vprintf(t->arena, fmt, ap));
  va_end(ap);
}

static const char *fresh(struct ir_text *t) { return arena_printf(t->arena, "%%v%u", t->next++); }

const char *ir_tensor(struct ir_text *t, unsigned rank, const unsigned *bits, const char *element,
                      const char *layout) {
  const char *s = "tensor<";
  for (unsigned d = 0; d < rank; d++)
    s = arena_printf(t->arena, "%s%ux", s, 1u << bits[d]);
  return arena_printf(t->arena, "%s%s, %s>", s, element, layout);
}

// A range reshaped: in row-major order its elements are their numbers.
const char *ir_numbers(struct ir_text *t, unsigned rank, const unsigned *bits, const char *layout) {
  const char *flat = ir_layout(t, "blocked<{order = [0], size_per_thread = [1], threads_per_warp = "
                                  "[32], warps_per_cta = [1]}>");
  unsigned total = 0;
  for (unsigned d = 0; d < rank; d++)
    total += bits[d];
  const char *range = fresh(t), *all = fresh(t), *type = ir_tensor(t, 1, &total, "i32", flat);
  ir_line(t, "%s = \"tile.make_range\"() {start = 0 : i32, end = %u : i32} : () -> %s", range,
          1u << total, type);
  ir_line(t, "%s = \"tile.reshape\"(%s) {allow_reorder = false} : (%s) -> %s", all, range, type,
          ir_tensor(t, rank, bits, "i32", layout));
  return all;
}

static const char *pointers(struct ir_text *t, const char *ptr, unsigned rank, const unsigned *bits,
                            const char *element, const char *layout) {
  const char *numbers = ir_numbers(t, rank, bits, layout), *base = fresh(t), *at = fresh(t);
  const char *scalar = arena_printf(t->arena, "!tile.ptr<%s>", element);
  const char *type = ir_tensor(t, rank, bits, scalar, layout);
  ir_line(t, "%s = \"tile.splat\"(%s) : (%s) -> %s", base, ptr, scalar, type);
  ir_line(t, "%s = \"tile.addptr\"(%s, %s) : (%s, %s) -> %s", at, base, numbers, type,
          ir_tensor(t, rank, bits, "i32", layout), type);
  return at;
}

const char *ir_load(struct ir_text *t, const char *ptr, unsigned rank, const unsigned *bits,
                    const char *element, const char *layout) {
  const char *at = pointers(t, ptr, rank, bits, element, layout), *x = fresh(t);
  ir_line(t,
          "%s = \"tile.load\"(%s) {cache = \"\", evict = \"\", is_volatile = false, "
          "operandSegmentSizes = array<i32: 1, 0, 0>} : (%s) -> %s",
          x, at, ir_tensor(t, rank, bits, arena_printf(t->arena, "!tile.ptr<%s>", element), layout),
          ir_tensor(t, rank, bits, element, layout));
  return x;
}

void ir_store(struct ir_text *t, const char *ptr, const char *value, unsigned rank,
              const unsigned *bits, const char *element, const char *layout) {
  const char *at = pointers(t, ptr, rank, bits, element, layout);
  ir_line(t, "\"tile.store\"(%s, %s) {cache = \"\", evict = \"\"} : (%s, %s) -> ()", at, value,
          ir_tensor(t, rank, bits, arena_printf(t->arena, "!tile.ptr<%s>", element), layout),
          ir_tensor(t, rank, bits, element, layout));
}

// ---- layouts ----

uint32_t ir_pick(uint32_t *seed, uint32_t n) {
  *seed = *seed * 1664525u + 1013904223u;
  return (*seed >> 8) % n;
}

const char *ir_layout(struct ir_text *t, const char *text) {
  const char *name = arena_printf(t->arena, "#L%u", t->next++);
  t->aliases = arena_printf(t->arena, "%s%s = #tilegpu.%s\n", t->aliases, name, text);
  return name;
}

// Bit i of the row-major number of an element, as coordinates.
static void coordinates_of(unsigned rank, const unsigned *bits, uint32_t number, uint32_t *ret) {
  for (unsigned d = rank; d-- > 0;) {
    ret[d] = number & ((1u << bits[d]) - 1);
    number >>= bits[d];
  }
}

const char *ir_random_layout(struct ir_text *t, uint32_t *seed, unsigned rank, const unsigned *bits,
                             unsigned warp_bits) {
  unsigned total = 0, room = 5 + warp_bits, at = 0;
  for (unsigned d = 0; d < rank; d++)
    total += bits[d];
  unsigned sizes[] = {(total > room ? total - room : 0) + ir_pick(seed, 3), 5, warp_bits};
  unsigned locations = sizes[0] + room;
  uint32_t image[24];
  for (unsigned i = 0; i < locations; i++)
    image[i] = i < total ? 1u << i : ir_pick(seed, 2) ? 0 : ir_pick(seed, 1u << total);
  for (unsigned i = locations; i-- > 1;) {
    unsigned j = ir_pick(seed, i + 1);
    uint32_t swap = image[i];
    image[i] = image[j];
    image[j] = swap;
  }
  struct encoding e = {.kind = ENC_LINEAR, .rank = rank, .linear = ll_empty(rank, bits)};
  static const enum ll_in ins[] = {LL_REGISTER, LL_LANE, LL_WARP};
  for (unsigned k = 0; k < 3; k++) {
    ll_add_in(&e.linear, ins[k]);
    for (unsigned b = 0; b < sizes[k]; b++) {
      uint32_t coords[LL_MAX_OUT];
      coordinates_of(rank, bits, image[at++], coords);
      ll_push_basis(&e.linear, ins[k], coords);
    }
  }
  ll_add_in(&e.linear, LL_BLOCK);
  struct strbuf text = {0};
  encoding_print(&e, &text);
  struct str s = str_from(strbuf_cstr(&text));
  const char *name = ir_layout(t, s.ptr + (str_starts(s, "#tilegpu.") ? 9 : 0));
  strbuf_finish(&text);
  return name;
}
