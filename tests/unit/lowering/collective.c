// SPDX-License-Identifier: Apache-2.0
// See collective.h. The composition of affine functions is associative but not commutative and so
// tells whether the order is kept.
#include "collective.h"

#include "assertions.h"

#include <stdio.h>
#include <stdlib.h>

static struct cpu_run run;
void open_collective_run(void) { cpu_run_open(&run); }
void close_collective_run(void) { cpu_run_close(&run); }

static uint32_t seed = 99;
uint32_t pick(uint32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % n;
}

// ---- functions ----

static void sum(int64_t *a, const int64_t *b) { a[0] += b[0]; }
static void either(int64_t *a, const int64_t *b) { a[0] ^= b[0]; }
static void larger(int64_t *a, const int64_t *b) { a[0] = a[0] > b[0] ? a[0] : b[0]; }
static void both(int64_t *a, const int64_t *b) { a[0] &= b[0]; }
static void first(int64_t *a, const int64_t *b) { (void)a, (void)b; }
static void last(int64_t *a, const int64_t *b) { a[0] = b[0]; }
static void affine(int64_t *a, const int64_t *b) {
  a[0] = (int32_t)((uint32_t)a[0] * (uint32_t)b[0]);
  a[1] = (int32_t)((uint32_t)a[1] * (uint32_t)b[0] + (uint32_t)b[1]);
}
static void sum_and_largest(int64_t *a, const int64_t *b) {
  a[0] = (int32_t)((uint32_t)a[0] + (uint32_t)b[0]);
  a[1] = a[1] > b[1] ? a[1] : b[1];
}
// The largest, where it is first, and how many there were.
static void argmax(int64_t *a, const int64_t *b) {
  if (b[0] > a[0]) {
    a[0] = b[0];
    a[1] = b[1];
  }
  a[2] = (int32_t)((uint32_t)a[2] + (uint32_t)b[2]);
}

#define ONE(op, type) "%r0 = arith." op " %a0, %b0 : " type
const struct function collective_functions[] = {
    {"i32", DTYPE_I32, 1, ONE("addi", "i32"), "%r0", sum},
    {"i32", DTYPE_I32, 2,
     "%r0 = arith.muli %a0, %b0 : i32\n%t = arith.muli %a1, %b0 : i32\n"
     "%r1 = arith.addi %t, %b1 : i32",
     "%r0, %r1", affine},
    {"f32", DTYPE_F32, 1, ONE("addf", "f32"), "%r0", sum},
    {"f16", DTYPE_F16, 1, ONE("addf", "f16"), "%r0", sum},
    {"i8", DTYPE_I8, 1, ONE("maxsi", "i8"), "%r0", larger},
    {"i1", DTYPE_I1, 1, ONE("xori", "i1"), "%r0", either},
    {"i32", DTYPE_I32, 3,
     "%c = arith.cmpi sgt, %b0, %a0 : i32\n%r0 = arith.select %c, %b0, %a0 : i32\n"
     "%r1 = arith.select %c, %b1, %a1 : i32\n%r2 = arith.addi %a2, %b2 : i32",
     "%r0, %r1, %r2", argmax},
    {"i64", DTYPE_I64, 1, ONE("addi", "i64"), "%r0", sum},
    {"bf16", DTYPE_BF16, 1, ONE("maximumf", "bf16"), "%r0", larger},
    {"i16", DTYPE_I16, 1, ONE("andi", "i16"), "%r0", both},
    {"i64", DTYPE_I64, 1, "", "%a0", first},
    {"i16", DTYPE_I16, 1, "", "%b0", last},
    {"f64", DTYPE_F64, 1, ONE("addf", "f64"), "%r0", sum},
    {"i32", DTYPE_I32, 2, "%r0 = arith.addi %a0, %b0 : i32\n%r1 = arith.maxsi %b1, %a1 : i32",
     "%r0, %r1", sum_and_largest},
    {"i8", DTYPE_I8, 1,
     "%z = arith.constant 0 : i8\n%c = arith.cmpi sge, %a0, %z : i8\n"
     "%r0 = scf.if %c -> i8 { %x = arith.maxsi %a0, %b0 : i8\n scf.yield %x : i8 } else "
     "{ %y = arith.maxsi %b0, %a0 : i8\n scf.yield %y : i8 }",
     "%r0", larger},
};

const unsigned collective_function_count = COUNT_OF(collective_functions);

// ---- layouts ----

// A distribution of the tile's bits over registers, lanes and warps. Tidy ones are as blocked
// layouts are: a few registers, the lanes, the warps, further registers. In others everything may
// be anywhere, and the locations left over are zero or repeat what is there.
struct encoding random_distribution(unsigned rank, const unsigned *bits, unsigned warp_bits,
                                    bool tidy) {
  struct encoding e = {.kind = ENC_LINEAR, .rank = rank};
  unsigned total = 0, room = 5 + warp_bits, locations, sizes[] = {0, 5, warp_bits};
  uint32_t flat[32] = {0};
  e.linear = ll_empty(rank, bits);
  for (unsigned d = 0; d < rank; d++)
    total += bits[d];
  sizes[0] = (total > room ? total - room : 0) + pick(3);
  locations = sizes[0] + room;
  unsigned first = tidy ? pick(sizes[0] + 1) : 0; // registers before the lanes
  for (unsigned i = 0; i < locations; i++) {
    unsigned at = !tidy || i < first ? i : i < first + room ? i - first + sizes[0] : i - room;
    flat[at] = i < total ? 1u << i : pick(2) || tidy ? 0 : pick(1u << total);
  }
  for (unsigned i = locations; !tidy && i-- > 1;) {
    unsigned j = pick(i + 1);
    uint32_t t = flat[i];
    flat[i] = flat[j];
    flat[j] = t;
  }
  static const enum ll_in ins[] = {LL_REGISTER, LL_LANE, LL_WARP};
  for (unsigned k = 0, at = 0; k < 3; k++) {
    ll_add_in(&e.linear, ins[k]);
    for (unsigned b = 0; b < sizes[k]; b++) {
      uint32_t image[LL_MAX_OUT] = {0}, x = flat[at++];
      for (unsigned d = rank; d-- > 0; x >>= bits[d])
        image[d] = x & ((1u << bits[d]) - 1);
      ll_push_basis(&e.linear, ins[k], image);
    }
  }
  ll_add_in(&e.linear, LL_BLOCK);
  return e;
}

static const char *text_of(const struct encoding *e) {
  struct strbuf b = {0};
  encoding_print(e, &b);
  const char *s = arena_strdup(run.arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return s;
}

static const char *flat_text(const struct linear_layout *l) {
  struct encoding e = {.kind = ENC_LINEAR, .rank = 1, .linear = ll_flatten_outs(l)};
  ll_add_in(&e.linear, LL_REGISTER);
  ll_add_in(&e.linear, LL_LANE);
  ll_add_in(&e.linear, LL_WARP);
  ll_add_in(&e.linear, LL_BLOCK);
  return text_of(&e);
}

// ---- kernels ----

struct tile tile_of(unsigned rank, const unsigned *bits) {
  struct tile t = {.rank = rank, .count = 1};
  size_t at = 0;
  for (unsigned d = 0; d < rank; d++) {
    t.bits[d] = bits[d];
    t.count <<= bits[d];
    at += (size_t)snprintf(t.shape + at, sizeof t.shape - at, "%ux", 1u << bits[d]);
  }
  return t;
}

struct tile reduced_tile(const struct tile *t, unsigned axis) {
  unsigned bits[4], rank = 0;
  for (unsigned d = 0; d < t->rank; d++)
    if (d != axis)
      bits[rank++] = t->bits[d];
  return tile_of(rank, bits);
}

struct tile random_tile(unsigned most) {
  unsigned rank = 1 + pick(4), bits[4] = {0};
  for (unsigned n = 1 + pick(most); n > 0; n--)
    bits[pick(rank)]++;
  return tile_of(rank, bits);
}

// Pointers %NAME<i> to every element of the parameter %p<i>, in a layout.
static void pointers(struct strbuf *s, const struct function *f, unsigned i, const struct tile *t,
                     const char *name, const char *param, const char *layout, const char *flat) {
  const char *memory = f->dtype == DTYPE_I1 ? "i8" : f->type;
  strbuf_printf(
      s,
      "%%f%s%u = \"tile.make_range\"() {start = 0 : i32, end = %u : i32} : () -> "
      "tensor<%uxi32, %s>\n"
      "%%i%s%u = \"tile.reshape\"(%%f%s%u) {allow_reorder = false} : "
      "(tensor<%uxi32, %s>) -> tensor<%si32, %s>\n"
      "%%s%s%u = \"tile.splat\"(%%%s%u) : (!tile.ptr<%s>) -> tensor<%s!tile.ptr<%s>, %s>\n"
      "%%%s%u = \"tile.addptr\"(%%s%s%u, %%i%s%u) : (tensor<%s!tile.ptr<%s>, %s>, "
      "tensor<%si32, %s>) -> tensor<%s!tile.ptr<%s>, %s>\n",
      name, i, t->count, t->count, flat, name, i, name, i, t->count, flat, t->shape, layout, name,
      i, param, i, memory, t->shape, memory, layout, name, i, name, i, name, i, t->shape, memory,
      layout, t->shape, layout, t->shape, memory, layout);
}

// "%x0: i32, %x1: i32", or without a type.
static void list(struct strbuf *s, const char *name, unsigned n, const char *type) {
  for (unsigned i = 0; i < n; i++)
    strbuf_printf(s, "%s%%%s%u%s%s", i ? ", " : "", name, i, type ? ": " : "", type ? type : "");
}

static void repeat(struct strbuf *s, unsigned n, const char *type) {
  for (unsigned i = 0; i < n; i++)
    strbuf_printf(s, "%s%s", i ? ", " : "", type);
}

static void begin_kernel(struct strbuf *s, const struct function *f) {
  const char *pointer =
      arena_printf(run.arena, "!tile.ptr<%s>", f->dtype == DTYPE_I1 ? "i8" : f->type);
  strbuf_puts(s, "module {\nfunc.func private @f(");
  list(s, "a", f->count, f->type);
  strbuf_puts(s, ", ");
  list(s, "b", f->count, f->type);
  strbuf_puts(s, ") -> (");
  repeat(s, f->count, f->type);
  strbuf_printf(s, ") {\n%s\nreturn %s : ", f->body, f->returns);
  repeat(s, f->count, f->type);
  strbuf_puts(s, "\n}\nfunc.func @k(");
  list(s, "p", f->count, pointer);
  strbuf_puts(s, ", ");
  list(s, "q", f->count, pointer);
  strbuf_puts(s, ") attributes {tile.kernel} {\n");
}

static void load_value(struct strbuf *s, const struct function *f, unsigned i,
                       const struct tile *t) {
  bool is_bool = f->dtype == DTYPE_I1;
  const char *memory = is_bool ? "i8" : f->type;
  strbuf_printf(s,
                "%%%s%u = \"tile.load\"(%%in%u) {cache = \"\", evict = \"\", is_volatile = false, "
                "operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<%s!tile.ptr<%s>, #A>) -> "
                "tensor<%s%s, #A>\n",
                is_bool ? "m" : "x", i, i, t->shape, memory, t->shape, memory);
  if (is_bool)
    strbuf_printf(s, "%%x%u = arith.trunci %%m%u : tensor<%si8, #A> to tensor<%si1, #A>\n", i, i,
                  t->shape, t->shape);
}

// layout: NULL for scalars.
static const char *type_text(const char *shape, const char *element, const char *layout) {
  return layout ? arena_printf(run.arena, "tensor<%s%s, %s>", shape, element, layout)
                : arena_strdup(run.arena, element);
}

static void store_value(struct strbuf *s, const struct function *f, unsigned i, const char *value,
                        const char *pointer, const char *shape, const char *layout) {
  bool is_bool = f->dtype == DTYPE_I1;
  const char *memory = is_bool ? "i8" : f->type, *to = type_text(shape, memory, layout);
  if (is_bool)
    strbuf_printf(s, "%%w%u = arith.extui %s : %s to %s\n", i, value,
                  type_text(shape, f->type, layout), to);
  strbuf_printf(s, "\"tile.store\"(%s, %s) {cache = \"\", evict = \"\"} : (%s, %s) -> ()\n",
                pointer, is_bool ? arena_printf(run.arena, "%%w%u", i) : value,
                type_text(shape, arena_printf(run.arena, "!tile.ptr<%s>", memory), layout), to);
}

static const char *segments(unsigned n) {
  char text[64] = "";
  for (unsigned i = 0; i < 8; i++)
    strcat(text, i == 0 ? "1" : i < n ? ", 1" : ", 0");
  return arena_printf(run.arena,
                      "operandSegmentSizes = array<i32: %s>, resultSegmentSizes = array<i32: %s>",
                      text, text);
}

const char *collective_kernel(const struct function *f, const struct tile *t, unsigned axis,
                              const struct encoding *layout, enum collective kind) {
  struct strbuf s = {0};
  bool is_scan = kind != REDUCE;
  struct tile out = is_scan ? *t : reduced_tile(t, axis);
  struct linear_layout l = ll_remove_out(&layout->linear, axis);
  l = ll_remove_zero_bases(&l, LL_REGISTER);
  strbuf_printf(&s, "#A = %s\n#AF = %s\n", text_of(layout), flat_text(&layout->linear));
  if (is_scan)
    strbuf_printf(&s, "#R = %s\n#RF = %s\n", text_of(layout), flat_text(&layout->linear));
  else
    strbuf_printf(&s, "#R = #tilegpu.slice<{dim = %u, parent = #A}>\n#RF = %s\n", axis,
                  flat_text(&l));
  begin_kernel(&s, f);
  for (unsigned i = 0; i < f->count; i++) {
    pointers(&s, f, i, t, "in", "p", "#A", "#AF");
    load_value(&s, f, i, t);
  }
  const char *to = out.rank ? "#R" : NULL;
  strbuf_printf(&s, "%%r:%u = \"tile.%s\"(", f->count, is_scan ? "scan" : "reduce");
  list(&s, "x", f->count, NULL);
  strbuf_printf(&s, ") {axis = %u : i32, combine = @f, %s%s} : (", axis,
                kind == SCAN           ? "reverse = false, "
                : kind == SCAN_REVERSE ? "reverse = true, "
                                       : "",
                segments(f->count));
  repeat(&s, f->count, type_text(t->shape, f->type, "#A"));
  strbuf_puts(&s, ") -> (");
  repeat(&s, f->count, type_text(out.shape, f->type, to));
  strbuf_puts(&s, ")\n");
  for (unsigned i = 0; i < f->count; i++) {
    if (out.rank)
      pointers(&s, f, i, &out, "out", "q", "#R", "#RF");
    store_value(&s, f, i, arena_printf(run.arena, "%%r#%u", i),
                arena_printf(run.arena, "%%%s%u", out.rank ? "out" : "q", i), out.shape, to);
  }
  strbuf_puts(&s, "return\n}\n}\n");
  const char *text = arena_strdup(run.arena, strbuf_cstr(&s));
  strbuf_finish(&s);
  return text;
}

// ---- running ----

int64_t collective_input[MAX_VALUES][MAX_TILE];
static char memory_in[MAX_VALUES][MAX_TILE * 8], memory_out[MAX_VALUES][MAX_TILE * 8];

static enum dtype in_memory(const struct function *f) {
  return f->dtype == DTYPE_I1 ? DTYPE_I8 : f->dtype;
}

void collective_fill(const struct function *f, unsigned count) {
  enum dtype type = in_memory(f);
  for (unsigned i = 0; i < f->count; i++) {
    memset(memory_out[i], 0x55, sizeof memory_out[i]);
    for (unsigned k = 0; k < count; k++) {
      int64_t v = f->dtype == DTYPE_I1 ? pick(2)
                  : f->count > 1       ? (int64_t)pick(1 << 16) - (1 << 15)
                  : f->combine == sum  ? (int64_t)pick(3) - 1
                                       : (int64_t)pick(256) - 128;
      collective_input[i][k] = v;
      dtype_store(type, memory_in[i] + k * dtype_bytes(type), (double)v);
    }
  }
}

void collective_launch(const struct function *f, const char *ir, unsigned warps, bool check) {
  void *arrays[2 * MAX_VALUES], *values[2 * MAX_VALUES];
  for (unsigned i = 0; i < f->count; i++) {
    arrays[i] = memory_in[i];
    arrays[f->count + i] = memory_out[i];
  }
  for (unsigned i = 0; i < 2 * f->count; i++)
    values[i] = &arrays[i];
  ck_assert_msg(cpu_run_ir(&run, ir, warps, 1, check, values) == TILE_OK, "%s\n%s",
                tile_error_message(), ir);
}

int64_t collective_result(const struct function *f, unsigned i, unsigned at) {
  enum dtype type = in_memory(f);
  return (int64_t)dtype_load(type, memory_out[i] + at * dtype_bytes(type));
}
