// SPDX-License-Identifier: Apache-2.0
// Shared memory at work: random kernels of conversions and buffers in loops and branches, run on
// the CPU. Fibers run a thread until it waits for others, so that a missing barrier is a wrong
// result, and accesses are checked as well.
//
// Every tile is "element number + c", so that a kernel's meaning is a computation on the c's.
#include "cpu_run.h"
#include "suites.h"

#include <stdio.h>

enum { ELEMENTS = 256, MAX_NODES = 400, MAX_BUFFERS = 8, MAX_TRIPS = 3, WARPS = 4, ROUNDS = 40 };

static struct cpu_run run;
static void open_run(void) { cpu_run_open(&run); }
static void close_run(void) { cpu_run_close(&run); }

static uint32_t seed = 4711;
static uint32_t pick(uint32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % n;
}

// ---- kernels as trees ----

enum kind {
  ADD,
  CONVERT,
  TURN,
  REDUCE,
  LOOP,
  WHILE_LOOP, // its second block stands before the condition
  IF_ODD,
  ALLOC,
  STORE,
  LOAD,
  SWAP_LOOP,
  KIND_COUNT
};

struct node {
  enum kind kind;
  int32_t number; // added, or trips of the loop
  unsigned buffers[2];
  struct node *inside[2], *next;
};

struct plant {
  struct node nodes[MAX_NODES];
  unsigned count, live; // buffers in scope
  bool lone;            // mostly reductions that are alone in loops and branches
};

static enum kind pick_kind(const struct plant *p) {
  static const enum kind lone[] = {REDUCE, REDUCE, LOOP, WHILE_LOOP, IF_ODD, ADD};
  return p->lone && pick(8) ? lone[pick(COUNT_OF(lone))] : (enum kind)pick(KIND_COUNT);
}

static struct node *grow(struct plant *p, unsigned depth, unsigned length) {
  struct node *first = NULL, **at = &first;
  unsigned live = p->live;
  for (unsigned i = 0; i < length && p->count + 8 < MAX_NODES; i++) {
    struct node *n = &p->nodes[p->count++];
    *n = (struct node){.kind = pick_kind(p), .number = 1 + (int32_t)pick(MAX_TRIPS)};
    bool has_two = n->kind == IF_ODD || n->kind == WHILE_LOOP;
    bool nests = n->kind == LOOP || n->kind == SWAP_LOOP || has_two;
    bool needs = n->kind == STORE || n->kind == LOAD || n->kind == SWAP_LOOP;
    if ((nests && depth == 0) || (needs && p->live < 2) ||
        (n->kind == ALLOC && p->live == MAX_BUFFERS))
      n->kind = CONVERT;
    n->buffers[0] = p->live ? pick(p->live) : 0;
    n->buffers[1] = p->live ? (n->buffers[0] + 1) % p->live : 0;
    if (n->kind == ALLOC)
      p->live++;
    bool grows = n->kind != CONVERT && nests;
    if (grows)
      n->inside[0] = grow(p, depth - 1, 1 + pick(p->lone ? 2 : 4));
    if (grows && has_two)
      n->inside[1] = grow(p, depth - 1, pick(p->lone ? 2 : 3));
    *at = n;
    at = &n->next;
  }
  p->live = live;
  return first;
}

// ---- what they mean ----

struct values {
  int32_t x, buffers[MAX_BUFFERS];
  unsigned live;
};

static void interpret(const struct node *n, struct values *v, int32_t trip) {
  unsigned live = v->live;
  for (; n; n = n->next) {
    switch (n->kind) {
    case ADD: v->x += n->number; break;
    case ALLOC: v->buffers[v->live++] = v->x; break;
    case STORE: v->buffers[n->buffers[0]] = v->x; break;
    case LOAD: v->x = v->buffers[n->buffers[0]]; break;
    case LOOP:
      for (int32_t i = 0; i < n->number; i++)
        interpret(n->inside[0], v, i);
      break;
    case WHILE_LOOP:
      for (int32_t i = 0;; i++) {
        interpret(n->inside[1], v, i);
        if (i >= n->number)
          break;
        interpret(n->inside[0], v, i);
      }
      break;
    case SWAP_LOOP: { // the body sees the two buffers alternately; afterwards all is as before
      for (int32_t i = 0; i < 2 * n->number; i++) {
        interpret(n->inside[0], v, i);
        int32_t t = v->buffers[n->buffers[0]];
        v->buffers[n->buffers[0]] = v->buffers[n->buffers[1]];
        v->buffers[n->buffers[1]] = t;
      }
      break;
    }
    case IF_ODD: interpret(n->inside[trip % 2 ? 0 : 1], v, trip); break;
    default: break;
    }
  }
  v->live = live;
}

// ---- as IR ----

struct writer {
  struct strbuf out;
  unsigned names;                // used so far
  unsigned x;                    // the name of the tile
  unsigned buffers[MAX_BUFFERS]; // their names
  unsigned live;
  char trip[16]; // the loop's counter
};

static void write_block(struct writer *w, const struct node *n);

static void write_convert(struct writer *w, const char *to) {
  strbuf_printf(&w->out, "%%v%u = \"tilegpu.convert_layout\"(%%v%u) : (!a) -> !%s\n", w->names,
                w->x, to);
  strbuf_printf(&w->out, "%%v%u = \"tilegpu.convert_layout\"(%%v%u) : (!%s) -> !a\n", w->names + 1,
                w->names, to);
  w->x = w->names + 1;
  w->names += 2;
}

// The largest of the tile, less the number of its element: c once more.
static void write_reduce(struct writer *w) {
  unsigned n = w->names;
  strbuf_printf(&w->out, "%%v%u = arith.subi %%v%u, %%v0 : !a\n", n, w->x);
  strbuf_printf(&w->out,
                "%%v%u = \"tile.reduce\"(%%v%u) {axis = 0 : i32, combine = @larger, "
                "operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = "
                "array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!a) -> i32\n",
                n + 1, n);
  strbuf_printf(&w->out, "%%v%u = \"tile.splat\"(%%v%u) : (i32) -> !a\n", n + 2, n + 1);
  strbuf_printf(&w->out, "%%v%u = arith.addi %%v%u, %%v0 : !a\n", n + 3, n + 2);
  w->x = n + 3;
  w->names += 4;
}

static void write_loop(struct writer *w, const struct node *n) {
  bool swaps = n->kind == SWAP_LOOP;
  unsigned result = w->names++, inside = w->names++, b[2] = {0, 0}, trip = w->names++;
  unsigned old[2] = {w->buffers[n->buffers[0]], w->buffers[n->buffers[1]]};
  char outer[16];
  strcpy(outer, w->trip);
  snprintf(w->trip, sizeof w->trip, "%%v%u", trip);
  strbuf_printf(&w->out,
                "%%v%u%s = scf.for %%v%u = %%c0 to %%c%d step %%c1 iter_args(%%v%u = %%v%u", result,
                swaps ? ":3" : "", trip, swaps ? 2 * n->number : n->number, inside, w->x);
  if (swaps) {
    b[0] = w->names++, b[1] = w->names++;
    strbuf_printf(&w->out, ", %%v%u = %%v%u, %%v%u = %%v%u) -> (!a, !m, !m) : i32 {\n", b[0],
                  old[0], b[1], old[1]);
    w->buffers[n->buffers[0]] = b[0];
    w->buffers[n->buffers[1]] = b[1];
  } else {
    strbuf_puts(&w->out, ") -> (!a) : i32 {\n");
  }
  w->x = inside;
  write_block(w, n->inside[0]);
  if (swaps)
    strbuf_printf(&w->out, "scf.yield %%v%u, %%v%u, %%v%u : !a, !m, !m\n}\n", w->x, b[1], b[0]);
  else
    strbuf_printf(&w->out, "scf.yield %%v%u : !a\n}\n", w->x);
  strcpy(w->trip, outer);
  w->buffers[n->buffers[0]] = old[0];
  w->buffers[n->buffers[1]] = old[1];
  w->x = result;
  if (!swaps)
    return;
  // The first result of several cannot be named without `#`.
  strbuf_printf(&w->out, "%%v%u = arith.addi %%v%u#0, %%zero : !a\n", w->names, result);
  w->x = w->names++;
}

static void write_while(struct writer *w, const struct node *n) {
  unsigned result = w->names++, trip[2] = {w->names, w->names + 1}, x[2], more = w->names + 2;
  unsigned next = w->names + 3;
  x[0] = w->names + 4, x[1] = w->names + 5;
  w->names += 6;
  char outer[16];
  strcpy(outer, w->trip);
  snprintf(w->trip, sizeof w->trip, "%%v%u", trip[0]);
  strbuf_printf(&w->out,
                "%%v%u:2 = scf.while (%%v%u = %%v%u, %%v%u = %%c0) : (!a, i32) -> (!a, i32) {\n",
                result, x[0], w->x, trip[0]);
  w->x = x[0];
  write_block(w, n->inside[1]);
  strbuf_printf(&w->out,
                "%%v%u = arith.cmpi slt, %%v%u, %%c%d : i32\n"
                "scf.condition(%%v%u) %%v%u, %%v%u : !a, i32\n} do {\n"
                "^bb0(%%v%u: !a, %%v%u: i32):\n",
                more, trip[0], n->number, more, w->x, trip[0], x[1], trip[1]);
  snprintf(w->trip, sizeof w->trip, "%%v%u", trip[1]);
  w->x = x[1];
  write_block(w, n->inside[0]);
  strbuf_printf(&w->out,
                "%%v%u = arith.addi %%v%u, %%c1 : i32\nscf.yield %%v%u, %%v%u : !a, i32\n}\n", next,
                trip[1], w->x, next);
  strcpy(w->trip, outer);
  strbuf_printf(&w->out, "%%v%u = arith.addi %%v%u#0, %%zero : !a\n", w->names, result);
  w->x = w->names++;
}

static void write_if(struct writer *w, const struct node *n) {
  unsigned one = w->names++, odd = w->names++, result = w->names++, x = w->x;
  strbuf_printf(&w->out, "%%v%u = arith.andi %s, %%c1 : i32\n", one, w->trip);
  strbuf_printf(&w->out, "%%v%u = arith.cmpi ne, %%v%u, %%c0 : i32\n", odd, one);
  strbuf_printf(&w->out, "%%v%u = scf.if %%v%u -> (!a) {\n", result, odd);
  for (int k = 0; k < 2; k++) {
    w->x = x;
    write_block(w, n->inside[k]);
    strbuf_printf(&w->out, "scf.yield %%v%u : !a\n}%s\n", w->x, k ? "" : " else {");
  }
  w->x = result;
}

static void write_block(struct writer *w, const struct node *n) {
  unsigned live = w->live;
  for (; n; n = n->next) {
    unsigned buffer = w->buffers[n->buffers[0]];
    switch (n->kind) {
    case ADD:
      strbuf_printf(&w->out, "%%v%u = arith.addi %%v%u, %%t%d : !a\n", w->names, w->x, n->number);
      w->x = w->names++;
      break;
    case CONVERT: write_convert(w, "b"); break;
    case TURN: write_convert(w, "c"); break;
    case REDUCE: write_reduce(w); break;
    case ALLOC:
      strbuf_printf(&w->out, "%%v%u = \"tilegpu.local_alloc\"(%%v%u) : (!a) -> !m\n", w->names,
                    w->x);
      w->buffers[w->live++] = w->names++;
      break;
    case STORE:
      strbuf_printf(&w->out, "\"tilegpu.local_store\"(%%v%u, %%v%u) : (!a, !m) -> ()\n", w->x,
                    buffer);
      break;
    case LOAD:
      strbuf_printf(&w->out, "%%v%u = \"tilegpu.local_load\"(%%v%u) : (!m) -> !a\n", w->names,
                    buffer);
      w->x = w->names++;
      break;
    case LOOP:
    case SWAP_LOOP: write_loop(w, n); break;
    case WHILE_LOOP: write_while(w, n); break;
    case IF_ODD: write_if(w, n); break;
    default: break;
    }
  }
  w->live = live;
}

// Lanes and warps change locations with the register, and with each other.
static const char prologue[] =
    "#a = #tilegpu.linear<{block = [], lane = [[1], [2], [4], [8], [16]], register = [[128]], warp "
    "= [[32], [64]]}>\n"
    "#b = #tilegpu.linear<{block = [], lane = [[64], [2], [128], [8], [16]], register = [[32]], "
    "warp = [[1], [4]]}>\n"
    "#c = #tilegpu.linear<{block = [], lane = [[128], [64], [32], [16], [8]], register = [[1]], "
    "warp = [[4], [2]]}>\n"
    "#s = #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>\n"
    "!a = tensor<256xi32, #a>\n!b = tensor<256xi32, #b>\n!c = tensor<256xi32, #c>\n"
    "!m = !tilegpu.memdesc<tensor<256xi32, #s>>\n!p = tensor<256x!tile.ptr<i32>, #a>\n"
    "module { func.func @k(%out: !tile.ptr<i32>) attributes {tile.kernel} {\n"
    "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n%c2 = arith.constant 2 : i32\n"
    "%c3 = arith.constant 3 : i32\n%c4 = arith.constant 4 : i32\n%c6 = arith.constant 6 : i32\n"
    "%zero = arith.constant dense<0> : !a\n%t1 = arith.constant dense<1> : !a\n"
    "%t2 = arith.constant dense<2> : !a\n%t3 = arith.constant dense<3> : !a\n"
    "%v0 = \"tile.make_range\"() {start = 0 : i32, end = 256 : i32} : () -> !a\n";

static const char *write_kernel(const struct node *n) {
  struct writer w = {.names = 1, .trip = "%c1"};
  strbuf_puts(&w.out, prologue);
  write_block(&w, n);
  strbuf_printf(&w.out,
                "%%ps = \"tile.splat\"(%%out) : (!tile.ptr<i32>) -> !p\n"
                "%%at = \"tile.addptr\"(%%ps, %%v0) : (!p, !a) -> !p\n"
                "\"tile.store\"(%%at, %%v%u) {cache = \"\", evict = \"\"} : (!p, !a) -> ()\n"
                "return }\n"
                "func.func private @larger(%%x: i32, %%y: i32) -> i32 {\n"
                "%%m = arith.maxsi %%x, %%y : i32\nreturn %%m : i32 } }\n",
                w.x);
  const char *text = arena_strdup(run.arena, strbuf_cstr(&w.out));
  strbuf_finish(&w.out);
  return text;
}

static void run_and_compare(const char *ir, bool check, int32_t expected) {
  static int32_t out[ELEMENTS];
  void *p = out, *values[] = {&p};
  memset(out, 0xff, sizeof out);
  ck_assert_msg(cpu_run_ir(&run, ir, WARPS, 1, check, values) == TILE_OK, "%s\n%s",
                tile_error_message(), ir);
  for (int32_t i = 0; i < ELEMENTS; i++)
    ck_assert_msg(out[i] == i + expected, "element %d is %d, not %d\n%s", i, out[i], i + expected,
                  ir);
}

START_TEST(random_kernels_keep_their_meaning) {
  static struct plant p;
  for (unsigned round = 0; round < ROUNDS; round++) {
    p.count = p.live = 0;
    const struct node *n = grow(&p, 3, 4 + pick(8));
    struct values v = {0};
    interpret(n, &v, 1);
    run_and_compare(write_kernel(n), round % 2, v.x);
  }
}
END_TEST

static bool alternates(const char *ir) {
  struct compile_request request = {
      .source = source_create(run.arena, "test.mlir", str_from(ir)),
      .target = target_find(STR("cpu")),
      .num_warps = WARPS,
      .emit = EMIT_TILEGPU,
      .passes.only = "allocate-shared",
  };
  struct compile_result r;
  run.diag = diag_engine_create(run.arena);
  ck_assert(compile_mlir(run.arena, run.diag, &request, &r));
  return strstr(r.output.ptr, "tilegpu.shared_double_buffer") != NULL;
}

// Scratch that changes between two slots, iteration by iteration.
START_TEST(random_kernels_alternate) {
  static struct plant p = {.lone = true};
  unsigned toggled = 0;
  for (unsigned round = 0; round < ROUNDS; round++) {
    p.count = p.live = 0;
    const struct node *n = grow(&p, 4, 1 + pick(4));
    struct values v = {0};
    interpret(n, &v, 1);
    const char *ir = write_kernel(n);
    run_and_compare(ir, round % 2, v.x);
    toggled += alternates(ir);
  }
  ck_assert_uint_gt(toggled, ROUNDS / 4);
}
END_TEST

// ---- buffers of two dimensions ----

// A range as 32x64 tile, through a buffer, from one layout into another.
static const char *buffer_kernel(const char *type, const char *shared) {
  bool same = strcmp(type, "i32") == 0, wide = strcmp(type, "i64") == 0;
  const char *there = same ? "arith.addi %t, %z" : wide ? "arith.extsi %t" : "arith.trunci %t";
  const char *back = same ? "arith.addi %l, %zb" : wide ? "arith.trunci %l" : "arith.extui %l";
  struct strbuf s = {0};
  strbuf_printf(
      &s,
      "#v = #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], "
      "warps_per_cta = [4]}>\n"
      "#a = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [4, 8], "
      "warps_per_cta = [4, 1]}>\n"
      "#b = #tilegpu.blocked<{order = [0, 1], size_per_thread = [4, 1], threads_per_warp = [8, 4], "
      "warps_per_cta = [1, 2]}>\n"
      "!v = tensor<2048xi32, #v>\n!a = tensor<32x64xi32, #a>\n!b = tensor<32x64xi32, #b>\n"
      "!p = tensor<2048x!tile.ptr<i32>, #v>\n!x = tensor<32x64x%s, #a>\n"
      "!y = tensor<32x64x%s, #b>\n!m = !tilegpu.memdesc<tensor<32x64x%s, %s>>\n"
      "module { func.func @k(%%out: !tile.ptr<i32>) attributes {tile.kernel} {\n"
      "%%r = \"tile.make_range\"() {start = 0 : i32, end = 2048 : i32} : () -> !v\n"
      "%%t = \"tile.reshape\"(%%r) {allow_reorder = false} : (!v) -> !a\n"
      "%%z = arith.constant dense<0> : !a\n%%zb = arith.constant dense<0> : !b\n",
      type, type, type, shared);
  strbuf_printf(&s, "%%x = %s : !a%s\n", there, same ? "" : " to !x");
  strbuf_puts(&s, "%m = \"tilegpu.local_alloc\"() : () -> !m\n"
                  "\"tilegpu.local_store\"(%x, %m) : (!x, !m) -> ()\n"
                  "%l = \"tilegpu.local_load\"(%m) : (!m) -> !y\n");
  strbuf_printf(&s, "%%y = %s : %s\n", back, same ? "!b" : "!y to !b");
  strbuf_puts(&s, "%o = \"tile.reshape\"(%y) {allow_reorder = false} : (!b) -> !v\n"
                  "%ps = \"tile.splat\"(%out) : (!tile.ptr<i32>) -> !p\n"
                  "%at = \"tile.addptr\"(%ps, %r) : (!p, !v) -> !p\n"
                  "\"tile.store\"(%at, %o) {cache = \"\", evict = \"\"} : (!p, !v) -> ()\n"
                  "return } }\n");
  const char *text = arena_strdup(run.arena, strbuf_cstr(&s));
  strbuf_finish(&s);
  return text;
}

START_TEST(buffers_keep_every_element) {
  static const struct {
    const char *type, *shared;
    uint32_t mask;
  } cases[] = {
      {"i32", "#tilegpu.shared<{max_phase = 1, order = [1, 0], per_phase = 1, vec = 1}>", ~0u},
      {"i32", "#tilegpu.shared<{max_phase = 8, order = [1, 0], per_phase = 1, vec = 4}>", ~0u},
      {"i16", "#tilegpu.shared<{max_phase = 8, order = [1, 0], per_phase = 1, vec = 8}>", 0xffff},
      {"i64", "#tilegpu.shared<{max_phase = 4, order = [0, 1], per_phase = 2, vec = 2}>", ~0u},
      {"i1", "#tilegpu.shared<{max_phase = 4, order = [1, 0], per_phase = 2, vec = 16}>", 1},
      {"i16", "#tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = false}>",
       0xffff},
      {"i32", "#tilegpu.nvmma_shared<{element_bits = 32, swizzle = 64, transposed = false}>", ~0u},
      {"i8", "#tilegpu.nvmma_shared<{element_bits = 8, swizzle = 32, transposed = true}>", 0xff}};
  static int32_t out[2048];
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const char *ir = buffer_kernel(cases[i].type, cases[i].shared);
    void *p = out, *values[] = {&p};
    memset(out, 0xff, sizeof out);
    ck_assert_msg(cpu_run_ir(&run, ir, WARPS, 1, true, values) == TILE_OK, "%s\n%s",
                  tile_error_message(), ir);
    for (uint32_t k = 0; k < COUNT_OF(out); k++)
      ck_assert_msg((uint32_t)out[k] == (k & cases[i].mask), "element %u is %d\n%s", k, out[k], ir);
  }
}
END_TEST

// ---- spilling to shared memory ----

// out[i] = (m - x[i]) + sum of (m - x): %x and %d live across a reduction each. 1024 threads have
// 64 registers for 64 elements.
static const char spilling_kernel[] =
    "#d = #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], "
    "warps_per_cta = [32]}>\n"
    "!d = tensor<65536xi32, #d>\n!p = tensor<65536x!tile.ptr<i32>, #d>\n"
    "!i = tensor<65536xi32, #d>\n!m = tensor<65536xi1, #d>\n"
    "module { func.func @k(%p: !tile.ptr<i32>, %out: !tile.ptr<i32>, %n: i32) attributes "
    "{tile.kernel} {\n"
    "%i = \"tile.make_range\"() {start = 0 : i32, end = 65536 : i32} : () -> !i\n"
    "%ns = \"tile.splat\"(%n) : (i32) -> !i\n%in = arith.cmpi slt, %i, %ns : !i\n"
    "%ps = \"tile.splat\"(%p) : (!tile.ptr<i32>) -> !p\n"
    "%os = \"tile.splat\"(%out) : (!tile.ptr<i32>) -> !p\n"
    "%from = \"tile.addptr\"(%ps, %i) : (!p, !i) -> !p\n"
    "%to = \"tile.addptr\"(%os, %i) : (!p, !i) -> !p\n"
    "%x = \"tile.load\"(%from, %in) {cache = \"\", evict = \"\", is_volatile = false, "
    "operandSegmentSizes = array<i32: 1, 1, 0>} : (!p, !m) -> !d\n"
    "%a = \"tile.reduce\"(%x) {axis = 0 : i32, combine = @larger, operandSegmentSizes = "
    "array<i32: "
    "1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!d) -> "
    "i32\n%as = \"tile.splat\"(%a) : (i32) -> !d\n%d = arith.subi %as, %x : !d\n"
    "%sum = \"tile.reduce\"(%d) {axis = 0 : i32, combine = @sum, operandSegmentSizes = array<i32: "
    "1, "
    "0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!d) -> i32\n"
    "%total = \"tile.splat\"(%sum) : (i32) -> !d\n%y = arith.addi %d, %total : !d\n"
    "\"tile.store\"(%to, %y, %in) {cache = \"\", evict = \"\"} : (!p, !d, !m) -> ()\nreturn }\n"
    "func.func private @larger(%x: i32, %y: i32) -> i32 {\n%m = arith.maxsi %x, %y : i32\n"
    "return %m : i32 }\n"
    "func.func private @sum(%x: i32, %y: i32) -> i32 {\n%m = arith.addi %x, %y : i32\n"
    "return %m : i32 } }\n";

START_TEST(spilled_registers_come_back) {
  enum { WIDTH = 65536, LEFT_OUT = 70 };
  static int32_t x[WIDTH], out[WIDTH];
  const char *ir = spilling_kernel;
  struct compile_result r;
  ck_assert(cpu_run_compile(&run, ir, "cpu", 32, EMIT_LLVM, true, &r));
  ck_assert_msg(strstr(r.output.ptr, "tile.spilled") != NULL, "nothing is spilled");
  int32_t n = WIDTH - LEFT_OUT;
  uint32_t sum = 0;
  for (int32_t i = 0; i < WIDTH; i++) {
    x[i] = (int32_t)pick(1000);
    out[i] = -1;
  }
  x[17] = 1000;
  for (int32_t i = 0; i < WIDTH; i++)
    sum += 1000 - (uint32_t)(i < n ? x[i] : 0);
  void *from = x, *to = out, *values[] = {&from, &to, &n};
  ck_assert_msg(cpu_run_ir(&run, ir, 32, 1, true, values) == TILE_OK, "%s", tile_error_message());
  for (int32_t i = 0; i < WIDTH; i++) {
    int32_t want = i < n ? (int32_t)(1000 - (uint32_t)x[i] + sum) : -1;
    ck_assert_msg(out[i] == want, "element %d is %d, not %d", i, out[i], want);
  }
}
END_TEST

TCase *shared_memory_tests(void) {
  TCase *t = tcase_create("shared_memory");
  tcase_add_unchecked_fixture(t, open_run, close_run);
  tcase_set_timeout(t, 120);
  tcase_add_test(t, random_kernels_keep_their_meaning);
  tcase_add_test(t, random_kernels_alternate);
  tcase_add_test(t, buffers_keep_every_element);
  tcase_add_test(t, spilled_registers_come_back);
  return t;
}
