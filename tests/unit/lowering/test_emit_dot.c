// SPDX-License-Identifier: Apache-2.0
// Matrix products of every instruction and as chains of fma, on the CPU executor: small whole
// numbers, for which every order of additions gives the same, against a naive product. Shapes from
// smaller than an instruction on, batches, warps along either dimension, wide k_width.
#include "base/dtype.h"
#include "cpu_run.h"
#include "suites.h"

#include <stdlib.h>

static struct cpu_run run;
static void open_run(void) { cpu_run_open(&run); }
static void close_run(void) { cpu_run_close(&run); }

struct types {
  enum dtype a, b, c;
  const char *mlir_a, *mlir_b, *mlir_c;
  unsigned word; // elements of A in a register
  const char *ptx;
  unsigned sm;
};

static const struct types instructions[] = {
    {DTYPE_F16, DTYPE_F16, DTYPE_F32, "f16", "f16", "f32", 2, "m16n8k16.row.col.f32.f16.f16.f32",
     80},
    {DTYPE_F16, DTYPE_F16, DTYPE_F16, "f16", "f16", "f16", 2, "m16n8k16.row.col.f16.f16.f16.f16",
     80},
    {DTYPE_BF16, DTYPE_BF16, DTYPE_F32, "bf16", "bf16", "f32", 2,
     "m16n8k16.row.col.f32.bf16.bf16.f32", 80},
    {DTYPE_F32, DTYPE_F32, DTYPE_F32, "f32", "f32", "f32", 1, "m16n8k8.row.col.f32.tf32.tf32.f32",
     80},
    {DTYPE_I8, DTYPE_I8, DTYPE_I32, "i8", "i8", "i32", 4, "m16n8k32.row.col.s32.s8.s8.s32", 80},
    {DTYPE_F64, DTYPE_F64, DTYPE_F64, "f64", "f64", "f64", 1, "m8n8k4.row.col.f64.f64.f64.f64", 80},
    {DTYPE_F8E4NV, DTYPE_F8E4NV, DTYPE_F32, "f8E4M3FN", "f8E4M3FN", "f32", 4,
     "m16n8k32.row.col.f32.e4m3.e4m3.f32", 89},
    {DTYPE_F8E4NV, DTYPE_F8E5, DTYPE_F32, "f8E4M3FN", "f8E5M2", "f32", 4,
     "m16n8k32.row.col.f32.e4m3.e5m2.f32", 89},
    {DTYPE_F8E5, DTYPE_F8E4NV, DTYPE_F32, "f8E5M2", "f8E4M3FN", "f32", 4,
     "m16n8k32.row.col.f32.e5m2.e4m3.f32", 89},
    {DTYPE_F8E5, DTYPE_F8E5, DTYPE_F32, "f8E5M2", "f8E5M2", "f32", 4,
     "m16n8k32.row.col.f32.e5m2.e5m2.f32", 89},
};

struct product {
  const struct types *types;
  unsigned batch, m, n, k; // batch 0: rank 2
  const char *acc, *a, *b; // layouts
  unsigned warps;
  const char *buffer[2];   // layouts in shared memory: by tilegpu.warp_group_dot; NULL: registers
  unsigned promoted_every; // elements of K; 0: never
};

// ---- IR ----

static const char *tensor_text(const struct product *p, unsigned rows, unsigned columns,
                               const char *element, const char *layout) {
  return p->batch ? arena_printf(run.arena, "tensor<%ux%ux%ux%s, %s>", p->batch, rows, columns,
                                 element, layout)
                  : arena_printf(run.arena, "tensor<%ux%ux%s, %s>", rows, columns, element, layout);
}

// %NAME of type `to`: the elements at %pNAME, row-major.
static void put_load(struct strbuf *s, const char *name, unsigned n, const char *element,
                     const char *to) {
  strbuf_printf(s,
                "%%r%s = \"tile.make_range\"() {start = 0 : i32, end = %u : i32} : () -> "
                "tensor<%uxi32, #L>\n"
                "%%s%s = \"tile.splat\"(%%p%s) : (!tile.ptr<%s>) -> tensor<%ux!tile.ptr<%s>, #L>\n"
                "%%q%s = \"tile.addptr\"(%%s%s, %%r%s) : (tensor<%ux!tile.ptr<%s>, #L>, "
                "tensor<%uxi32, #L>) -> tensor<%ux!tile.ptr<%s>, #L>\n",
                name, n, n, name, name, element, n, element, name, name, name, n, element, n, n,
                element);
  if (!to)
    return;
  strbuf_printf(s,
                "%%l%s = \"tile.load\"(%%q%s) {cache = \"\", evict = \"\", is_volatile = false, "
                "operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<%ux!tile.ptr<%s>, #L>) -> "
                "tensor<%ux%s, #L>\n"
                "%%%s = \"tile.reshape\"(%%l%s) {allow_reorder = false} : (tensor<%ux%s, #L>) -> "
                "%s\n",
                name, name, n, element, n, element, name, name, n, element, to);
}

static const char *memdesc_text(const char *tensor, const char *layout) {
  const char *comma = strchr(tensor, ',');
  return arena_printf(run.arena, "!tilegpu.memdesc<%.*s, %s>>", (int)(comma - tensor), tensor,
                      layout);
}

// %d = %c + %a %b, by warpgroups where B is in a buffer.
static void put_product(struct strbuf *s, const struct product *p, const char *a, const char *b,
                        const char *acc) {
  const char *types[] = {a, b}, *names[] = {"a", "b"};
  if (!p->buffer[1]) {
    strbuf_printf(s,
                  "%%d = \"tile.dot\"(%%a, %%b, %%c) {input_precision = \"tf32\", "
                  "max_num_imprecise_acc = 0 : i32} : (%s, %s, %s) -> %s\n",
                  a, b, acc, acc);
    return;
  }
  for (unsigned i = 0; i < 2; i++)
    if (p->buffer[i]) {
      const char *buffer = memdesc_text(types[i], p->buffer[i]);
      strbuf_printf(s, "%%m%s = \"tilegpu.local_alloc\"(%%%s) : (%s) -> %s\n", names[i], names[i],
                    types[i], buffer);
      types[i] = buffer;
      names[i] = arena_printf(run.arena, "m%s", names[i]);
    }
  const char *promoted =
      p->promoted_every ? arena_printf(run.arena, ", promoted_every = %u : i32", p->promoted_every)
                        : "";
  strbuf_printf(s,
                "%%d = \"tilegpu.warp_group_dot\"(%%%s, %%%s, %%c) {pending = 0 : i32%s} : (%s, "
                "%s, %s) -> %s\n",
                names[0], names[1], promoted, types[0], types[1], acc, acc);
}

static const char *kernel_of(const struct product *p) {
  const struct types *t = p->types;
  unsigned batch = p->batch ? p->batch : 1;
  const char *a = tensor_text(p, p->m, p->k, t->mlir_a, p->a);
  const char *b = tensor_text(p, p->k, p->n, t->mlir_b, p->b);
  const char *acc = tensor_text(p, p->m, p->n, t->mlir_c, p->acc);
  struct strbuf s = {0};
  strbuf_printf(&s,
                "#L = #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = "
                "[32], warps_per_cta = [%u]}>\n"
                "module { func.func @k(%%pa: !tile.ptr<%s>, %%pb: !tile.ptr<%s>, %%pc: "
                "!tile.ptr<%s>, %%pd: !tile.ptr<%s>) attributes {tile.kernel} {\n",
                p->warps, t->mlir_a, t->mlir_b, t->mlir_c, t->mlir_c);
  unsigned n = batch * p->m * p->n;
  put_load(&s, "a", batch * p->m * p->k, t->mlir_a, a);
  put_load(&s, "b", batch * p->k * p->n, t->mlir_b, b);
  put_load(&s, "c", n, t->mlir_c, acc);
  put_load(&s, "d", n, t->mlir_c, NULL);
  put_product(&s, p, a, b, acc);
  strbuf_printf(
      &s,
      "%%v = \"tile.reshape\"(%%d) {allow_reorder = false} : (%s) -> tensor<%ux%s, #L>\n"
      "\"tile.store\"(%%qd, %%v) {cache = \"\", evict = \"\"} : (tensor<%ux!tile.ptr<%s>, "
      "#L>, tensor<%ux%s, #L>) -> ()\nreturn } }\n",
      acc, n, t->mlir_c, n, t->mlir_c, n, t->mlir_c);
  const char *text = arena_strdup(run.arena, strbuf_cstr(&s));
  strbuf_finish(&s);
  return text;
}

// ---- against a naive product ----

static uint32_t seed = 1;
static int small_number(void) {
  seed = seed * 1664525u + 1013904223u;
  return (int)(seed >> 20) % 7 - 3;
}

struct matrix {
  double *values;
  char *bytes;
};

static struct matrix matrix_of(enum dtype t, size_t n) {
  struct matrix x = {arena_array(run.arena, double, n), arena_alloc(run.arena, 8 * n, 8)};
  for (size_t i = 0; i < n; i++) {
    x.values[i] = small_number();
    dtype_store(t, x.bytes + i * dtype_bytes(t), x.values[i]);
  }
  return x;
}

static double naive(const struct product *p, const struct matrix *a, const struct matrix *b,
                    const struct matrix *c, size_t i) {
  size_t batch = i / (p->m * p->n), row = i / p->n % p->m, column = i % p->n;
  double sum = c->values[i];
  for (size_t k = 0; k < p->k; k++)
    sum +=
        a->values[(batch * p->m + row) * p->k + k] * b->values[(batch * p->k + k) * p->n + column];
  return sum;
}

static void check_product(const struct product *p) {
  const struct types *t = p->types;
  size_t batch = p->batch ? p->batch : 1, n = batch * p->m * p->n;
  struct matrix a = matrix_of(t->a, batch * p->m * p->k), b = matrix_of(t->b, batch * p->k * p->n);
  struct matrix c = matrix_of(t->c, n), d = matrix_of(t->c, n);
  void *values[] = {&a.bytes, &b.bytes, &c.bytes, &d.bytes};
  const char *ir = kernel_of(p);
  ck_assert_msg(cpu_run_ir(&run, ir, p->warps, 1, true, values) == TILE_OK, "%s\n%s",
                tile_error_message(), ir);
  for (size_t i = 0; i < n; i++) {
    double want = naive(p, &a, &b, &c, i), got = dtype_load(t->c, d.bytes + i * dtype_bytes(t->c));
    ck_assert_msg(want == got, "element %zu is %g, not %g\n%s", i, got, want, ir);
  }
}

// ---- layouts ----

static const char *mma_layout(unsigned batch_warps, unsigned rows, unsigned columns) {
  return batch_warps
             ? arena_printf(run.arena,
                            "#tilegpu.mma<{version = 2, instr_shape = [16, 8], warps_per_cta = "
                            "[%u, %u, %u]}>",
                            batch_warps, rows, columns)
             : arena_printf(run.arena,
                            "#tilegpu.mma<{version = 2, instr_shape = [16, 8], warps_per_cta = "
                            "[%u, %u]}>",
                            rows, columns);
}

static const char *operand_layout(const char *acc, unsigned index, unsigned k_width) {
  return k_width
             ? arena_printf(run.arena, "#tilegpu.dot_op<{op_idx = %u, k_width = %u, parent = %s}>",
                            index, k_width, acc)
             : arena_printf(run.arena, "#tilegpu.dot_op<{op_idx = %u, k_width = 1, parent = %s}>",
                            index, acc);
}

static struct product mma_product(const struct types *t, unsigned batch, unsigned m, unsigned n,
                                  unsigned k, const char *acc, unsigned warps, unsigned k_width) {
  return (struct product){
      t,    batch, m, n, k, acc, operand_layout(acc, 0, k_width), operand_layout(acc, 1, k_width),
      warps};
}

START_TEST(every_instruction) {
  const struct types *t = &instructions[_i];
  // One fragment (in K, two of f64), several of them over 4 warps, and K smaller than the
  // instruction's.
  struct product one = mma_product(t, 0, 16, 8, 8 * t->word, mma_layout(0, 1, 1), 1, t->word);
  check_product(&one);
  struct product many = mma_product(t, 0, 64, 32, 16 * t->word, mma_layout(0, 2, 2), 4, t->word);
  check_product(&many);
  struct product half = mma_product(t, 0, 32, 16, 4 * t->word, mma_layout(0, 1, 1), 1, t->word);
  check_product(&half);
}
END_TEST

START_TEST(shapes) {
  static const unsigned sizes[][3] = {{1, 1, 16},   {1, 8, 16},  {2, 4, 16},   {8, 8, 16},
                                      {8, 1, 32},   {16, 2, 16}, {16, 8, 16},  {16, 128, 8},
                                      {128, 4, 32}, {4, 64, 64}, {32, 8, 128}, {128, 64, 16}};
  static const unsigned warps[][2] = {{1, 1}, {2, 1}, {1, 4}, {4, 2}};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    const unsigned *w = warps[i % COUNT_OF(warps)];
    struct product p = mma_product(&instructions[i % 2], 0, sizes[i][0], sizes[i][1], sizes[i][2],
                                   mma_layout(0, w[0], w[1]), w[0] * w[1], 2);
    check_product(&p);
  }
}
END_TEST

START_TEST(batches) {
  static const unsigned warps[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 2}, {4, 1, 2}};
  for (size_t i = 0; i < COUNT_OF(warps); i++) {
    const unsigned *w = warps[i];
    struct product p =
        mma_product(&instructions[i], i % 2 ? 4 : 2, 16, 16, 32, mma_layout(w[0], w[1], w[2]),
                    w[0] * w[1] * w[2], instructions[i].word);
    check_product(&p);
  }
}
END_TEST

// Lanes with more neighbours along K than a register holds: K counts in another order.
START_TEST(wide_k) {
  for (size_t i = 0; i < COUNT_OF(instructions); i++)
    for (unsigned factor = 2; factor <= 4; factor *= 2) {
      const struct types *t = &instructions[i];
      struct product p = mma_product(t, 0, 16, 16, 64, mma_layout(0, 1, 2), 2, t->word * factor);
      check_product(&p);
    }
}
END_TEST

// ---- warpgroups ----

static const char *wgmma_layout(unsigned n, unsigned rows, unsigned columns) {
  return arena_printf(
      run.arena,
      "#tilegpu.mma<{version = 3, instr_shape = [16, %u, 16], warps_per_cta = [%u, %u]}>", n, rows,
      columns);
}

static const char *nvmma(unsigned swizzle, bool transposed) {
  return arena_printf(run.arena,
                      "#tilegpu.nvmma_shared<{element_bits = 16, swizzle = %u, transposed = %s}>",
                      swizzle, transposed ? "true" : "false");
}

static struct product warp_group_product(const struct types *t, unsigned m, unsigned n, unsigned k,
                                         const char *acc, unsigned warps) {
  return mma_product(t, 0, m, n, k, acc, warps, 2);
}

// Each form of a buffer, on a target without wgmma: the operands are read into registers.
START_TEST(warp_groups) {
  for (unsigned form = 0; form < 8; form++) {
    const struct types *t = &instructions[form % 3];
    struct product p = warp_group_product(t, 64, 64, 64, wgmma_layout(64, 4, 1), 4);
    p.buffer[0] = form & 4 ? NULL : nvmma(form & 1 ? 64 : 128, form & 2);
    p.buffer[1] = nvmma(form & 2 ? 32 : 128, form & 1);
    check_product(&p);
  }
  struct product wide =
      warp_group_product(&instructions[0], 128, 64, 32, wgmma_layout(32, 4, 2), 8);
  wide.buffer[0] = nvmma(64, false);
  wide.buffer[1] = nvmma(64, false);
  check_product(&wide);
}
END_TEST

// Both operands have K as the contiguous dimension.
static struct product fp8_product(const struct types *t, const char *acc, bool a_in_registers) {
  struct product p = mma_product(t, 0, 128, 32, 64, acc, 4, 4);
  if (!a_in_registers)
    p.buffer[0] = "#tilegpu.nvmma_shared<{element_bits = 8, swizzle = 64, transposed = false}>";
  p.buffer[1] = "#tilegpu.nvmma_shared<{element_bits = 8, swizzle = 64, transposed = true}>";
  return p;
}

static const char *fp8_layout(void) {
  return "#tilegpu.mma<{version = 3, instr_shape = [16, 32, 32], warps_per_cta = [4, 1]}>";
}

START_TEST(warp_groups_of_fp8) {
  for (unsigned form = 0; form < 8; form++) {
    struct product p = fp8_product(&instructions[6 + form % 4], fp8_layout(), form & 4);
    p.promoted_every = form & 1 ? 32 : 0;
    check_product(&p);
  }
}
END_TEST

START_TEST(ptx_of_warp_groups_of_fp8) {
  struct product p = fp8_product(&instructions[7], fp8_layout(), false);
  struct compile_result r;
  ck_assert(cpu_run_compile(&run, kernel_of(&p), "sm_90a", 4, EMIT_PTX, false, &r));
  ck_assert_ptr_nonnull(
      strstr(r.output.ptr, "wgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e5m2"));
  ck_assert_ptr_null(strstr(r.output.ptr, ", q, 1, 1;"));
  p.promoted_every = 32;
  ck_assert(cpu_run_compile(&run, kernel_of(&p), "sm_90a", 4, EMIT_PTX, false, &r));
  ck_assert_ptr_nonnull(strstr(r.output.ptr, ", q, 1, 1;"));
  // A sum is added while the next one is computed; the last one has no next.
  const char *first = strstr(r.output.ptr, "wgmma.wait_group.sync.aligned 1;");
  ck_assert_ptr_nonnull(first);
  ck_assert_ptr_nonnull(strstr(first, "wgmma.wait_group.sync.aligned 0;"));
  ck_assert(cpu_run_compile(&run, kernel_of(&p), "sm_89", 4, EMIT_PTX, false, &r));
  ck_assert_ptr_null(strstr(r.output.ptr, "wgmma"));
  ck_assert_ptr_nonnull(
      strstr(r.output.ptr, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"));
}
END_TEST

START_TEST(ptx_of_warp_groups) {
  struct product p = warp_group_product(&instructions[0], 128, 64, 32, wgmma_layout(32, 4, 2), 8);
  p.buffer[0] = nvmma(64, false);
  p.buffer[1] = nvmma(64, false);
  struct compile_result r;
  ck_assert(cpu_run_compile(&run, kernel_of(&p), "sm_90a", 8, EMIT_PTX, false, &r));
  ck_assert_ptr_nonnull(strstr(r.output.ptr, "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16"));
  ck_assert_ptr_null(strstr(r.output.ptr, "\tmma.sync"));
  ck_assert(cpu_run_compile(&run, kernel_of(&p), "sm_80", 8, EMIT_PTX, false, &r));
  ck_assert_ptr_null(strstr(r.output.ptr, "wgmma"));
  ck_assert_ptr_nonnull(strstr(r.output.ptr, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
}
END_TEST

static void refuse(const struct product *p, unsigned warps, const char *why) {
  static const char *const targets[] = {"sm_90a", "sm_80", "cpu"};
  for (size_t i = 0; i < COUNT_OF(targets); i++) {
    struct compile_result r;
    enum emit_kind kind = i < 2 ? EMIT_PTX : EMIT_OBJECT;
    ck_assert(!cpu_run_compile(&run, kernel_of(p), targets[i], warps, kind, false, &r));
    ck_assert_msg(strstr(diag_first_error(run.diag), why), "%s", diag_first_error(run.diag));
  }
}

// IR written by hand may name layouts that wgmma has no descriptor, or no registers, for.
START_TEST(what_wgmma_cannot_read_is_an_error) {
  const struct types *f16 = &instructions[0];
  const char *acc = wgmma_layout(64, 4, 1), *cannot = "an operand that wgmma cannot read";
  struct product good = warp_group_product(f16, 64, 64, 64, acc, 4), p = good;
  good.buffer[0] = good.buffer[1] = nvmma(128, false);
  p = good;
  p.buffer[1] = nvmma(0, false);
  refuse(&p, 4, cannot);
  p.buffer[1] = "#tilegpu.shared<{max_phase = 8, order = [1, 0], per_phase = 1, vec = 8}>";
  refuse(&p, 4, cannot);
  p = good;
  p.buffer[0] = NULL;
  p.a = operand_layout(acc, 0, 4);
  refuse(&p, 4, cannot);
  p = warp_group_product(f16, 64, 64, 64, wgmma_layout(32, 4, 2), 8); // a strip of two warpgroups
  p.buffer[0] = p.buffer[1] = nvmma(128, false);
  refuse(&p, 8, cannot);
  p = warp_group_product(f16, 64, 64, 64, mma_layout(0, 4, 1), 4);
  p.buffer[0] = p.buffer[1] = nvmma(128, false);
  refuse(&p, 4, "an accumulator without a layout of wgmma");
  p = good;
  p.warps = 8; // of which the layout has 4
  refuse(&p, 8, "an accumulator without a layout of wgmma");
  p = fp8_product(&instructions[6], fp8_layout(), false);
  p.promoted_every = 48; // not of whole instructions
  refuse(&p, 4, "types or a K that wgmma is not used for");
  p = warp_group_product(&instructions[9], 64, 64, 64, acc, 4);
  p.buffer[0] = p.buffer[1] = "#tilegpu.nvmma_shared<{element_bits = 8, swizzle = 64, transposed = "
                              "false}>";
  refuse(&p, 4, "types or a K that wgmma is not used for");
}
END_TEST

// ---- chains of fma ----

static const struct types chains[] = {
    {DTYPE_F32, DTYPE_F32, DTYPE_F32, "f32", "f32", "f32", 1, "", 0},
    {DTYPE_F16, DTYPE_F16, DTYPE_F32, "f16", "f16", "f32", 1, "", 0},
    {DTYPE_F16, DTYPE_F16, DTYPE_F16, "f16", "f16", "f16", 1, "", 0},
    {DTYPE_BF16, DTYPE_BF16, DTYPE_F32, "bf16", "bf16", "f32", 1, "", 0},
    {DTYPE_F64, DTYPE_F64, DTYPE_F64, "f64", "f64", "f64", 1, "", 0},
    {DTYPE_I8, DTYPE_I8, DTYPE_I32, "i8", "i8", "i32", 1, "", 0},
    {DTYPE_I32, DTYPE_I32, DTYPE_I32, "i32", "i32", "i32", 1, "", 0},
    {DTYPE_I16, DTYPE_I16, DTYPE_I32, "i16", "i16", "i32", 1, "", 0},
    {DTYPE_F8E4NV, DTYPE_F8E5, DTYPE_F32, "f8E4M3FN", "f8E5M2", "f32", 1, "", 0},
};

START_TEST(fma_chains) {
  const struct types *t = &chains[_i];
  static const unsigned sizes[][3] = {{16, 16, 8}, {1, 1, 1}, {2, 32, 4}, {32, 8, 2}};
  const char *acc = "#tilegpu.blocked<{order = [1, 0], size_per_thread = [2, 2], threads_per_warp "
                    "= [4, 8], warps_per_cta = [2, 1]}>";
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    struct product p = mma_product(t, 0, sizes[i][0], sizes[i][1], sizes[i][2], acc, 2, 0);
    check_product(&p);
  }
  const char *batched = "#tilegpu.blocked<{order = [2, 1, 0], size_per_thread = [1, 2, 1], "
                        "threads_per_warp = [2, 4, 4], warps_per_cta = [2, 1, 1]}>";
  struct product p = mma_product(t, 4, 8, 8, 4, batched, 2, 0);
  check_product(&p);
}
END_TEST

// ---- PTX ----

START_TEST(ptx_of_every_instruction) {
  static const char *const targets[] = {"sm_80", "sm_89", "sm_90a"};
  static const unsigned sms[] = {80, 89, 90};
  const struct types *t = &instructions[_i];
  for (size_t i = 0; i < COUNT_OF(targets); i++) {
    struct product p = mma_product(t, 0, 64, 32, 64, mma_layout(0, 2, 2), 4, t->word);
    struct compile_result r;
    bool ok = cpu_run_compile(&run, kernel_of(&p), targets[i], 4, EMIT_PTX, false, &r);
    bool wide_f64 = t->a == DTYPE_F64 && sms[i] >= 90;
    const char *name = arena_printf(run.arena, "mma.sync.aligned.%s",
                                    wide_f64 ? "m16n8k8.row.col.f64.f64.f64.f64" : t->ptx);
    ck_assert_int_eq(ok, sms[i] >= t->sm);
    if (!ok)
      continue;
    size_t count = 0;
    for (const char *s = r.output.ptr; (s = strstr(s, name)); s++)
      count++;
    // A warp has 32 x 16 of the result.
    unsigned one = wide_f64 ? 16 * 8 * 8 : t->a == DTYPE_F64 ? 8 * 8 * 4 : 16 * 8 * 8 * t->word;
    ck_assert_uint_eq(count, 32 * 16 * 64 / one);
  }
}
END_TEST

START_TEST(what_does_not_fit_is_an_error) {
  const struct types *t = &instructions[0];
  const char *acc = mma_layout(0, 2, 1), *other = mma_layout(0, 1, 2);
  struct product p = mma_product(t, 0, 32, 32, 32, acc, 2, 2);
  struct compile_result r;
  p.b = operand_layout(other, 1, 2);
  ck_assert(!cpu_run_compile(&run, kernel_of(&p), "cpu", 2, EMIT_OBJECT, false, &r));
  ck_assert_msg(strstr(diag_first_error(run.diag), "do not fit each other"), "%s",
                diag_first_error(run.diag));
  p.b = operand_layout(acc, 1, 4);
  ck_assert(!cpu_run_compile(&run, kernel_of(&p), "cpu", 2, EMIT_OBJECT, false, &r));
}
END_TEST

TCase *emit_dot_tests(void) {
  TCase *c = tcase_create("emit_dot");
  tcase_set_timeout(c, 300);
  tcase_add_checked_fixture(c, open_run, close_run);
  tcase_add_loop_test(c, every_instruction, 0, COUNT_OF(instructions));
  tcase_add_test(c, shapes);
  tcase_add_test(c, batches);
  tcase_add_test(c, wide_k);
  tcase_add_test(c, warp_groups);
  tcase_add_test(c, ptx_of_warp_groups);
  tcase_add_test(c, warp_groups_of_fp8);
  tcase_add_test(c, ptx_of_warp_groups_of_fp8);
  tcase_add_test(c, what_wgmma_cannot_read_is_an_error);
  tcase_add_loop_test(c, fma_chains, 0, COUNT_OF(chains));
  tcase_add_loop_test(c, ptx_of_every_instruction, 0, COUNT_OF(instructions));
  tcase_add_test(c, what_does_not_fit_is_an_error);
  return c;
}
