// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies into rings, written by hand and run on the CPU: correct kernels give the
// expected results; a missing wait, barrier or buffer changes the results and is reported.
#include "cpu_run.h"
#include "jit/orc.h"
#include "lowering/analysis/async_copy.h"
#include "lowering/llvm/emit.h"
#include "pass_session.h"
#include "suites.h"

#include <stdlib.h>

enum { TILE = 512, TILES = 9, ELEMENTS = TILE * TILES, VALUES = 4 };

static struct cpu_run run;
static void open_run(void) { cpu_run_open(&run); }
static void close_run(void) { cpu_run_close(&run); }

// ---- compiling and launching; no barriers are inserted ----

static tile_status launch(const char *ir, bool check, void *const *values) {
  struct pass_session s = pass_session_open(ir);
  s.context.target = target_find(STR("cpu"));
  ck_assert(pass_session_run(&s, (struct pass_options){.only = "allocate-shared"}, NULL));
  LLVMContextRef llvm = LLVMContextCreate();
  struct kernel_info info;
  LLVMModuleRef module =
      emit_llvm(s.context.c, s.context.module, s.context.target, 4, 3, check, llvm, &info);
  ck_assert_msg(module != NULL, "%s\n%s", diag_first_error(s.diag), ir);
  struct str object;
  ck_assert(codegen(module, s.context.target, false, s.arena, s.diag, &object));
  LLVMDisposeModule(module);
  LLVMContextDispose(llvm);
  cpu_kernel_fn fn;
  struct module *m = NULL;
  ck_assert_msg(orc_load(run.orc, object, info.name, &fn) == TILE_OK, "%s", tile_error_message());
  ck_assert_int_eq(module_from_cpu(run.device, fn, &info, NULL, NULL, &m), TILE_OK);
  tile_status status =
      module_launch(m, NULL, (tile_grid){2, 1, 1}, values, check ? LAUNCH_CHECKED : 0);
  module_destroy(m);
  pass_session_close(&s);
  return status;
}

// ---- kernels ----

enum defect { SOUND, NO_WAIT, NO_BARRIER, SMALL_RING };

struct ring {
  unsigned stages;
  const char *element;     // i32, i16, ...
  unsigned pointers, mask; // divisibility of the pointers, and of the number of elements
  enum defect defect;
};

static void put(struct strbuf *b, const char *text) { strbuf_puts(b, text); }

// Copies the tile with index %t<name> to buffer %b<name>.
static void put_copy(struct strbuf *b, const char *name) {
  strbuf_printf(b,
                "%%s%s = arith.muli %%t%s, %%size : i32\n"
                "%%p%s = \"tile.addptr\"(%%p, %%s%s) : (!tile.ptr<!e>, i32) -> !tile.ptr<!e>\n"
                "%%pp%s = \"tile.splat\"(%%p%s) : (!tile.ptr<!e>) -> !pa\n"
                "%%at%s = \"tile.addptr\"(%%pp%s, %%ia) : (!pa, !ia) -> !pa\n"
                "%%ss%s = \"tile.splat\"(%%s%s) : (i32) -> !ia\n"
                "%%x%s = arith.addi %%ss%s, %%ia : !ia\n"
                "%%m%s = arith.cmpi slt, %%x%s, %%limit : !ia\n"
                "%%b%s = \"tilegpu.local_index\"(%%ring, %%n%s) : (!m, i32) -> !m\n"
                "\"tilegpu.async_copy\"(%%at%s, %%b%s, %%m%s) {cache = \"\", evict = \"\"} "
                ": (!pa, !m, !ma) -> ()\n\"tilegpu.async_commit\"() : () -> ()\n",
                name, name, name, name, name, name, name, name, name, name, name, name, name, name,
                name, name, name, name, name);
}

static const char *head(unsigned copies, const struct ring *r) {
  return arena_printf(
      run.arena,
      "#a = #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], "
      "warps_per_cta = [4]}>\n"
      "#b = #tilegpu.linear<{block = [], lane = [[64], [2], [128], [8], [16]], "
      "register = [[32], [256]], warp = [[1], [4]]}>\n"
      "#s = #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>\n"
      "!ia = tensor<512xi32, #a>\n!ma = tensor<512xi1, #a>\n!ib = tensor<512xi32, #b>\n"
      "!pa = tensor<512x!tile.ptr<!e>, #a>\n!pb = tensor<512x!tile.ptr<!e>, #b>\n"
      "!b = tensor<512x!e, #b>\n!m = !tilegpu.memdesc<tensor<512x!e, #s>>\n"
      "module { func.func @k(%%p: !tile.ptr<!e> {tile.divisibility = %u : i32}, "
      "%%q: !tile.ptr<!e>, %%n: i32, %%end: i32 {tile.divisibility = %u : i32}) "
      "attributes {tile.kernel} {\n"
      "%%c0 = arith.constant 0 : i32\n%%c1 = arith.constant 1 : i32\n"
      "%%size = arith.constant 512 : i32\n%%ahead = arith.constant %u : i32\n"
      "%%copies = arith.constant %u : i32\n"
      "%%ia = \"tile.make_range\"() {end = 512 : i32, start = 0 : i32} : () -> !ia\n"
      "%%ib = \"tile.make_range\"() {end = 512 : i32, start = 0 : i32} : () -> !ib\n"
      "%%limit = \"tile.splat\"(%%end) : (i32) -> !ia\n"
      "%%ring = \"tilegpu.local_alloc\"() {copies = %u : i32} : () -> !m\n",
      r->pointers, r->mask, r->stages - 1, copies, copies);
}

// Replaces !e in the text by the element type.
static char *with_elements(const char *text, const char *element) {
  struct strbuf b = {0};
  for (; *text; text++)
    if (text[0] == '!' && text[1] == 'e' && text[2] != 'l')
      put(&b, element), text++;
    else
      strbuf_putc(&b, *text);
  char *done = arena_strdup(run.arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return done;
}

// q = p up to element `end`, then zeros, tile by tile through a ring. The threads that store an
// element are not those that copied it.
static char *kernel(const struct ring *r) {
  struct strbuf b = {0};
  unsigned copies = r->defect == SMALL_RING ? r->stages - 1 : r->stages;
  put(&b, head(copies, r));
  for (unsigned j = 0; j + 1 < r->stages; j++) {
    const char *name = arena_printf(run.arena, "_%u", j);
    strbuf_printf(&b, "%%t%s = arith.constant %u : i32\n%%n%s = arith.constant %u : i32\n", name, j,
                  name, j);
    put_copy(&b, name);
  }
  put(&b, "scf.for %t = %c0 to %n step %c1 : i32 {\n");
  if (r->defect != NO_WAIT)
    strbuf_printf(&b, "\"tilegpu.async_wait\"() {pending = %u : i32} : () -> ()\n", r->stages - 2);
  if (r->defect != NO_BARRIER)
    put(&b, "\"tilegpu.barrier\"() : () -> ()\n");
  put(&b, "%tn = arith.addi %t, %ahead : i32\n%nn = arith.remui %tn, %copies : i32\n");
  put_copy(&b, "n");
  put(&b, "%at = arith.remui %t, %copies : i32\n"
          "%now = \"tilegpu.local_index\"(%ring, %at) : (!m, i32) -> !m\n"
          "%x = \"tilegpu.local_load\"(%now) : (!m) -> !b\n"
          "%s = arith.muli %t, %size : i32\n"
          "%q0 = \"tile.addptr\"(%q, %s) : (!tile.ptr<!e>, i32) -> !tile.ptr<!e>\n"
          "%q1 = \"tile.splat\"(%q0) : (!tile.ptr<!e>) -> !pb\n"
          "%q2 = \"tile.addptr\"(%q1, %ib) : (!pb, !ib) -> !pb\n"
          "\"tile.store\"(%q2, %x) {cache = \"\", evict = \"\"} : (!pb, !b) -> ()\n"
          "}\n\"tilegpu.async_wait\"() {pending = 0 : i32} : () -> ()\nreturn\n} }\n");
  char *text = with_elements(strbuf_cstr(&b), r->element);
  strbuf_finish(&b);
  return text;
}

// The line number of the last occurrence of `what` in the text.
static uint32_t line_of(const char *text, const char *what) {
  uint32_t line = 1, last = 0;
  for (const char *s = text; *s; s++) {
    if (strncmp(s, what, strlen(what)) == 0)
      last = line;
    line += *s == '\n';
  }
  ck_assert_uint_gt(last, 0);
  return last;
}

// ---- running ----

struct data {
  unsigned char *p, *q;
  unsigned bytes; // of an element
};

static struct data data_of(const char *element) {
  struct data d = {.bytes = (unsigned)atoi(element + 1) / 8};
  ck_assert_int_eq(tile_malloc(run.device, ELEMENTS * d.bytes, (void **)&d.p), TILE_OK);
  ck_assert_int_eq(tile_malloc(run.device, ELEMENTS * d.bytes, (void **)&d.q), TILE_OK);
  for (unsigned i = 0; i < ELEMENTS * d.bytes; i++) {
    d.p[i] = (unsigned char)(i * 7 + i / 251 + 1);
    d.q[i] = 0x55;
  }
  return d;
}

static void data_free(struct data *d) {
  tile_free(run.device, d->p);
  tile_free(run.device, d->q);
}

static tile_status run_ring(const char *ir, struct data *d, int32_t end, bool check) {
  int32_t tiles = TILES;
  void *values[VALUES] = {&d->p, &d->q, &tiles, &end};
  return launch(ir, check, values);
}

static bool is_right(const struct data *d, int32_t end) {
  unsigned char zero[8] = {0};
  for (int32_t i = 0; i < ELEMENTS; i++)
    if (memcmp(d->q + (unsigned)i * d->bytes, i < end ? d->p + (unsigned)i * d->bytes : zero,
               d->bytes) != 0)
      return false;
  return true;
}

static void expect_right(const struct ring *r, int32_t end) {
  for (int check = 0; check < 2; check++) {
    struct data d = data_of(r->element);
    tile_status s = run_ring(kernel(r), &d, end, check);
    ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
    ck_assert(is_right(&d, end));
    data_free(&d);
  }
}

START_TEST(rings_are_right) {
  for (unsigned stages = 2; stages <= 5; stages++) {
    expect_right(&(struct ring){.stages = stages, .element = "i32", .pointers = 16, .mask = 16},
                 ELEMENTS);
    // Copies of 16, 8 and 4 bytes; and none, through registers.
    expect_right(&(struct ring){.stages = stages, .element = "i32", .pointers = 16, .mask = 4},
                 1500);
    expect_right(&(struct ring){.stages = stages, .element = "i32", .pointers = 8, .mask = 2},
                 1502);
    expect_right(&(struct ring){.stages = stages, .element = "i32", .pointers = 16, .mask = 1},
                 1501);
    expect_right(&(struct ring){.stages = stages, .element = "i16", .pointers = 16, .mask = 1},
                 999);
    expect_right(&(struct ring){.stages = stages, .element = "i16", .pointers = 2, .mask = 16},
                 1600);
    expect_right(&(struct ring){.stages = stages, .element = "i8", .pointers = 4, .mask = 4}, 2000);
    expect_right(&(struct ring){.stages = stages, .element = "i64", .pointers = 16, .mask = 1}, 77);
  }
}
END_TEST

// The first violation of a checked launch with the defect. Without checks the result is wrong.
static struct cpu_violation violation_of(unsigned stages, enum defect defect, const char **ret_ir) {
  struct ring r = {
      .stages = stages, .element = "i32", .pointers = 16, .mask = 16, .defect = defect};
  struct data d = data_of(r.element);
  *ret_ir = kernel(&r);
  ck_assert_int_eq(run_ring(*ret_ir, &d, ELEMENTS, false), TILE_OK);
  ck_assert(!is_right(&d, ELEMENTS));
  ck_assert_int_eq(run_ring(*ret_ir, &d, ELEMENTS, true), TILE_CHECK_FAILED);
  data_free(&d);
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_uint_ge(device_violations(run.device, &v, &total), 1);
  return v[0];
}

START_TEST(a_missing_wait_is_found) {
  for (unsigned stages = 2; stages <= 4; stages += 2) {
    const char *ir;
    struct cpu_violation v = violation_of(stages, NO_WAIT, &ir);
    ck_assert_int_eq(v.kind, CPU_SHARED_COPYING);
    ck_assert_int_eq(v.access, CPU_LOAD);
    ck_assert_int_eq(v.other_access, CPU_COPY);
    ck_assert_uint_eq(v.location.line, line_of(ir, "\"tilegpu.local_load\""));
    ck_assert_uint_gt(v.other_location.line, 0);
  }
}
END_TEST

START_TEST(a_missing_barrier_is_found) {
  for (unsigned stages = 2; stages <= 4; stages += 2) {
    const char *ir;
    struct cpu_violation v = violation_of(stages, NO_BARRIER, &ir);
    ck_assert_int_eq(v.access, CPU_LOAD);
    ck_assert_uint_eq(v.location.line, line_of(ir, "\"tilegpu.local_load\""));
    // The first thread reads what the others have not copied yet.
    ck_assert(v.kind == CPU_SHARED_UNWRITTEN || v.kind == CPU_SHARED_COPYING ||
              v.kind == CPU_SHARED_RACE);
  }
}
END_TEST

START_TEST(a_small_ring_is_found) {
  for (unsigned stages = 2; stages <= 4; stages += 2) {
    const char *ir;
    struct cpu_violation v = violation_of(stages, SMALL_RING, &ir);
    ck_assert_int_eq(v.kind, CPU_SHARED_COPYING);
    ck_assert_int_eq(v.access, CPU_LOAD);
    ck_assert_uint_eq(v.location.line, line_of(ir, "\"tilegpu.local_load\""));
    ck_assert_uint_eq(v.other_location.line, line_of(ir, "\"tilegpu.async_copy\""));
  }
}
END_TEST

START_TEST(every_barrier_is_needed) {
  struct ring r = {.stages = 3, .element = "i32", .pointers = 16, .mask = 16};
  struct cpu_run other = run;
  open_run(); // the checker reads the setting once
  struct data d = data_of(r.element);
  setenv("TILE_CPU_NO_BARRIERS", "1", 1);
  ck_assert_int_eq(run_ring(kernel(&r), &d, ELEMENTS, true), TILE_CHECK_FAILED);
  unsetenv("TILE_CPU_NO_BARRIERS");
  data_free(&d);
  close_run();
  run = other;
}
END_TEST

START_TEST(sources_are_checked) {
  struct ring r = {.stages = 3, .element = "i32", .pointers = 16, .mask = 16};
  struct data d = data_of(r.element), beyond = d, aside = d;
  const struct cpu_violation *v;
  uint64_t total;
  char *ir = kernel(&r);
  uint32_t line = line_of(ir, "\"tilegpu.async_copy\"");
  beyond.p += 16; // the last tile ends four elements behind the buffer
  ck_assert_int_eq(run_ring(ir, &beyond, ELEMENTS, true), TILE_CHECK_FAILED);
  ck_assert_uint_ge(device_violations(run.device, &v, &total), 1);
  ck_assert_int_eq(v->kind, CPU_OUTSIDE);
  ck_assert_int_eq(v->param, 0);
  ck_assert_int_eq(v->access, CPU_LOAD);
  ck_assert_uint_eq(v->location.line, line);
  aside.p += 4; // not what divisibility = 16 promised
  ck_assert_int_eq(run_ring(ir, &aside, ELEMENTS - TILE, true), TILE_CHECK_FAILED);
  ck_assert_uint_ge(device_violations(run.device, &v, &total), 1);
  ck_assert_int_eq(v->kind, CPU_MISALIGNED);
  ck_assert_int_eq(v->param, 0);
  ck_assert_uint_eq(v->elements, 16);
  data_free(&d);
}
END_TEST

// ---- parts and transposes of a swizzled buffer ----

// The part at (row, col) of a buffer of 32 x 64 f16, or of its transpose, becomes q row by row.
static char *part_kernel(bool transposed, int row, int col, int rows, int cols,
                         const char *layout) {
  char *shape = arena_printf(run.arena, transposed ? "64x32" : "32x64");
  return arena_printf(
      run.arena,
      "#a = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [4, 8], "
      "warps_per_cta = [4, 1]}>\n"
      "#r = %s\n"
      "#s = #tilegpu.shared<{max_phase = 8, order = [1, 0], per_phase = 1, vec = 8}>\n"
      "#t = #tilegpu.shared<{max_phase = 8, order = [0, 1], per_phase = 1, vec = 8}>\n"
      "!ia = tensor<2048xi32, #tilegpu.blocked<{order = [0], size_per_thread = [8], "
      "threads_per_warp = [32], warps_per_cta = [4]}>>\n"
      "!ir = tensor<%dxi32, #tilegpu.blocked<{order = [0], size_per_thread = [1], "
      "threads_per_warp = [32], warps_per_cta = [4]}>>\n"
      "!i2 = tensor<32x64xi32, #a>\n!pa = tensor<32x64x!tile.ptr<f16>, #a>\n"
      "!ir2 = tensor<%dx%dxi32, #r>\n!pr = tensor<%dx%dx!tile.ptr<f16>, #r>\n"
      "!x = tensor<%dx%dxf16, #r>\n!m = !tilegpu.memdesc<tensor<32x64xf16, #s>>\n"
      "!n = !tilegpu.memdesc<tensor<%sxf16, %s>>\n"
      "module { func.func @k(%%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, "
      "%%q: !tile.ptr<f16>) attributes {tile.kernel} {\n"
      "%%i = \"tile.make_range\"() {end = 2048 : i32, start = 0 : i32} : () -> !ia\n"
      "%%i2 = \"tile.reshape\"(%%i) {allow_reorder = false} : (!ia) -> !i2\n"
      "%%p1 = \"tile.splat\"(%%p) : (!tile.ptr<f16>) -> !pa\n"
      "%%p2 = \"tile.addptr\"(%%p1, %%i2) : (!pa, !i2) -> !pa\n"
      "%%m = \"tilegpu.local_alloc\"() : () -> !m\n"
      "\"tilegpu.async_copy\"(%%p2, %%m) {cache = \"\", evict = \"\"} : (!pa, !m) -> ()\n"
      "\"tilegpu.async_commit\"() : () -> ()\n"
      "\"tilegpu.async_wait\"(%%m) {pending = 0 : i32} : (!m) -> ()\n"
      "\"tilegpu.barrier\"() : () -> ()\n"
      "%%n = \"tilegpu.local_trans\"(%%m) {order = array<i32: %s>} : (!m) -> !n\n"
      "%%x = \"tilegpu.local_load\"(%%n) {offsets = array<i32: %d, %d>} : (!n) -> !x\n"
      "\"tilegpu.barrier\"() : () -> ()\n"
      "%%j = \"tile.make_range\"() {end = %d : i32, start = 0 : i32} : () -> !ir\n"
      "%%j2 = \"tile.reshape\"(%%j) {allow_reorder = false} : (!ir) -> !ir2\n"
      "%%q1 = \"tile.splat\"(%%q) : (!tile.ptr<f16>) -> !pr\n"
      "%%q2 = \"tile.addptr\"(%%q1, %%j2) : (!pr, !ir2) -> !pr\n"
      "\"tile.store\"(%%q2, %%x) {cache = \"\", evict = \"\"} : (!pr, !x) -> ()\n"
      "return\n} }\n",
      layout, rows * cols, rows, cols, rows, cols, rows, cols, shape, transposed ? "#t" : "#s",
      transposed ? "1, 0" : "0, 1", row, col, rows * cols);
}

static void check_part(bool transposed, int row, int col, int rows, int cols, const char *layout) {
  uint16_t *p = NULL, *q = NULL;
  ck_assert_int_eq(tile_malloc(run.device, 4096, (void **)&p), TILE_OK);
  ck_assert_int_eq(tile_malloc(run.device, 4096, (void **)&q), TILE_OK);
  for (int i = 0; i < 2048; i++)
    p[i] = (uint16_t)(i + 1);
  void *values[] = {&p, &q};
  tile_status s = launch(part_kernel(transposed, row, col, rows, cols, layout), true, values);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  for (int i = 0; i < rows * cols; i++) {
    int r = row + i / cols, c = col + i % cols;
    ck_assert_uint_eq(q[i], transposed ? p[c * 64 + r] : p[r * 64 + c]);
  }
  tile_free(run.device, p);
  tile_free(run.device, q);
}

START_TEST(parts_of_buffers) {
  static const char dot_a[] =
      "#tilegpu.dot_op<{op_idx = 0, k_width = 2, parent = "
      "#tilegpu.mma<{version = 2, instr_shape = [16, 8], warps_per_cta = [2, 2]}>}>";
  static const char dot_b[] =
      "#tilegpu.dot_op<{op_idx = 1, k_width = 2, parent = "
      "#tilegpu.mma<{version = 2, instr_shape = [16, 8], warps_per_cta = [2, 2]}>}>";
  static const char rows[] = "#tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], "
                             "threads_per_warp = [8, 4], warps_per_cta = [4, 1]}>";
  for (int k = 0; k < 64; k += 16)
    check_part(false, 0, k, 32, 16, dot_a);
  for (int k = 0; k < 32; k += 16) {
    check_part(false, k, 0, 16, 64, dot_b);
    check_part(true, 0, k, 64, 16, dot_a);
    check_part(true, 16, k, 16, 16, dot_b);
    check_part(false, k, 48, 16, 16, rows);
    check_part(true, 32, k, 32, 16, rows);
  }
}
END_TEST

// ---- widths of copies ----

struct found {
  struct ir_context *c;
  MlirOperation op;
};

static bool see_copy(MlirOperation op, void *user) {
  struct found *f = user;
  if (op_is(f->c, op, OP_GPU_ASYNC_COPY))
    f->op = op;
  return true;
}

// why: part of the reason why it is no cp.async; NULL: it is one.
static void expect_width(const char *ir, unsigned bytes, const char *why) {
  struct pass_session s = pass_session_open(ir);
  struct ir_context *c = s.context.c;
  MlirOperation module = mlirModuleGetOperation(s.context.module);
  struct axis_analysis *x = axis_analyse(c, module, s.arena);
  struct found f = {.c = c};
  ir_walk(module, see_copy, &f);
  MlirValue mask = {NULL};
  if (mlirOperationGetNumOperands(f.op) > 2)
    mask = mlirOperationGetOperand(f.op, 2);
  struct async_copy_plan plan;
  ck_assert(async_copy_plan_of(c, x, s.context.target, mlirOperationGetOperand(f.op, 0), mask,
                               memdesc_tile(c, operand_type(f.op, 1)), &plan));
  ck_assert_uint_eq(plan.bytes, bytes);
  ck_assert_msg(why ? plan.why && strstr(plan.why, why) != NULL : plan.why == NULL, "%s", plan.why);
  pass_session_close(&s);
}

START_TEST(widths_and_reasons) {
  static const struct {
    struct ring ring;
    unsigned bytes;
    const char *why;
  } rings[] = {
      {{3, "i32", 16, 16, SOUND}, 16, NULL}, {{3, "i32", 16, 2, SOUND}, 8, NULL},
      {{3, "i32", 16, 1, SOUND}, 4, NULL},   {{3, "i32", 4, 16, SOUND}, 4, NULL},
      {{3, "i16", 16, 16, SOUND}, 8, NULL}, // a thread has four
      {{3, "i64", 16, 16, SOUND}, 16, NULL}, {{3, "i64", 16, 1, SOUND}, 8, NULL},
      {{3, "i16", 16, 1, SOUND}, 0, "mask"}, {{3, "i16", 2, 16, SOUND}, 0, "aligned"},
      {{3, "i8", 16, 2, SOUND}, 0, "mask"},  {{3, "i8", 16, 4, SOUND}, 4, NULL},
  };
  for (size_t i = 0; i < COUNT_OF(rings); i++)
    expect_width(kernel(&rings[i].ring), rings[i].bytes, rings[i].why);
  static const char rows[] = "#tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], "
                             "threads_per_warp = [8, 4], warps_per_cta = [4, 1]}>";
  char *ir = part_kernel(false, 0, 0, 32, 16, rows), *vec;
  expect_width(ir, 16, NULL);
  while ((vec = strstr(ir, "vec = 8")))
    vec[6] = '2'; // pairs of f16 stay together
  expect_width(ir, 4, NULL);
  while ((vec = strstr(ir, "vec = 2")))
    vec[6] = '1';
  expect_width(ir, 0, "buffer");
}
END_TEST

TCase *async_tests(void) {
  TCase *t = tcase_create("async");
  tcase_add_checked_fixture(t, open_run, close_run);
  tcase_set_timeout(t, 120);
  tcase_add_test(t, rings_are_right);
  tcase_add_test(t, a_missing_wait_is_found);
  tcase_add_test(t, a_missing_barrier_is_found);
  tcase_add_test(t, a_small_ring_is_found);
  tcase_add_test(t, every_barrier_is_needed);
  tcase_add_test(t, sources_are_checked);
  tcase_add_test(t, parts_of_buffers);
  tcase_add_test(t, widths_and_reasons);
  return t;
}
