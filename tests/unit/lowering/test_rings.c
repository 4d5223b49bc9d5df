// SPDX-License-Identifier: Apache-2.0
// Barriers for rings of buffers: random programs of copies, loads and stores in loops and branches
// get their locations and barriers from the passes, and are then walked through iteration by
// iteration with the numbers of their buffers computed. Accesses that conflict must have a barrier
// between them.
#include "lowering/analysis/intervals.h"
#include "lowering/analysis/scratch.h"
#include "lowering/analysis/shared_effects.h"
#include "pass_session.h"
#include "suites.h"

enum { ROUNDS = 200, MAX_OPS = 60, MAX_RINGS = 3 };

static uint32_t seed = 99;
static uint32_t pick(uint32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % n;
}

// ---- programs ----

struct writer {
  struct strbuf out;
  unsigned names, ops;
  unsigned rings, copies[MAX_RINGS];
  unsigned counter; // name of the innermost loop's counter; 0: no loop
  unsigned trip;    // of the innermost loop of any kind; 0: none
};

static unsigned write_ring(struct writer *w) {
  w->copies[w->rings] = 1 + pick(4);
  strbuf_printf(&w->out, "%%ring%u = \"tilegpu.local_alloc\"() {copies = %u : i32} : () -> !m\n",
                w->rings, w->copies[w->rings]);
  return w->rings++;
}

// A buffer of a ring: by phase, by a number that is computed, or a constant one.
static unsigned write_index(struct writer *w) {
  unsigned ring = pick(w->rings), copies = w->copies[ring], at = w->names++, number = w->names++;
  unsigned phase = pick(copies + 1);
  if (!w->counter || pick(6) == 0) {
    strbuf_printf(&w->out, "%%v%u = arith.constant %u : i32\n", number, pick(copies));
    strbuf_printf(&w->out, "%%v%u = \"tilegpu.local_index\"(%%ring%u, %%v%u) : (!m, i32) -> !m\n",
                  at, ring, number);
    return at;
  }
  unsigned sum = w->names++, c = w->names++, p = w->names++;
  strbuf_printf(&w->out,
                "%%v%u = arith.constant %u : i32\n%%v%u = arith.constant %u : i32\n"
                "%%v%u = arith.addi %%v%u, %%v%u : i32\n%%v%u = arith.remsi %%v%u, %%v%u : i32\n",
                c, copies, p, phase, sum, w->counter, p, number, sum, c);
  strbuf_printf(&w->out, "%%v%u = \"tilegpu.local_index\"(%%ring%u, %%v%u) ", at, ring, number);
  if (pick(8))
    strbuf_printf(&w->out, "{phase = %u : i32} ", phase);
  strbuf_puts(&w->out, ": (!m, i32) -> !m\n");
  return at;
}

static void write_block(struct writer *w, unsigned depth, unsigned length);

static void write_loop(struct writer *w, unsigned depth) {
  unsigned counter = w->counter, trip = w->trip, rings = w->rings;
  w->counter = w->trip = w->names++;
  strbuf_printf(&w->out, "scf.for %%v%u = %%c0 to %%n%u step %%c1 : i32 {\n", w->counter, pick(7));
  write_block(w, depth - 1, 2 + pick(6));
  strbuf_puts(&w->out, "}\n");
  w->counter = counter;
  w->trip = trip;
  w->rings = rings;
}

static void write_while(struct writer *w, unsigned depth) {
  unsigned trip = w->trip, at = w->names++, more = w->names++, next = w->names++;
  unsigned rings = w->rings, result = w->names++, inside = w->names++;
  w->trip = at;
  strbuf_printf(&w->out, "%%v%u = scf.while (%%v%u = %%c0) : (i32) -> i32 {\n", result, at);
  write_block(w, depth - 1, pick(3));
  w->rings = rings;
  strbuf_printf(&w->out,
                "%%v%u = arith.cmpi slt, %%v%u, %%n%u : i32\nscf.condition(%%v%u) %%v%u : i32\n} "
                "do {\n^bb0(%%v%u: i32):\n",
                more, at, pick(4), more, at, inside);
  w->trip = inside;
  write_block(w, depth - 1, 1 + pick(5));
  strbuf_printf(&w->out, "%%v%u = arith.addi %%v%u, %%c1 : i32\nscf.yield %%v%u : i32\n}\n", next,
                inside, next);
  w->trip = trip;
  w->rings = rings;
}

static void write_if(struct writer *w, unsigned depth) {
  unsigned one = w->names++, odd = w->names++, rings = w->rings;
  strbuf_printf(&w->out, "%%v%u = arith.andi %%v%u, %%c1 : i32\n", one, w->trip);
  strbuf_printf(&w->out, "%%v%u = arith.cmpi ne, %%v%u, %%c0 : i32\nscf.if %%v%u {\n", odd, one,
                odd);
  write_block(w, depth - 1, 1 + pick(3));
  w->rings = rings;
  strbuf_puts(&w->out, "} else {\n");
  write_block(w, depth - 1, pick(3));
  strbuf_puts(&w->out, "}\n");
  w->rings = rings;
}

static void write_access(struct writer *w) {
  unsigned at, kind = pick(8);
  if (kind == 0) {
    strbuf_printf(&w->out, "%%v%u = \"tilegpu.convert_layout\"(%%x) : (!a) -> !b\n", w->names++);
    return;
  }
  if (kind == 1) {
    strbuf_puts(&w->out, "\"tilegpu.async_wait\"() {pending = 0 : i32} : () -> ()\n");
    return;
  }
  at = write_index(w);
  if (kind < 4)
    strbuf_printf(&w->out, "%%v%u = \"tilegpu.local_load\"(%%v%u) : (!m) -> !a\n", w->names++, at);
  else if (kind == 4)
    strbuf_printf(&w->out, "\"tilegpu.local_store\"(%%x, %%v%u) : (!a, !m) -> ()\n", at);
  else if (kind == 5)
    strbuf_printf(&w->out, "\"tilegpu.async_wait\"(%%v%u) {pending = 1 : i32} : (!m) -> ()\n", at);
  else
    strbuf_printf(
        &w->out,
        "\"tilegpu.async_copy\"(%%p, %%v%u) {cache = \"\", evict = \"\"} : (!p, !m) -> ()\n", at);
}

static void write_block(struct writer *w, unsigned depth, unsigned length) {
  for (unsigned i = 0; i < length && w->ops < MAX_OPS; i++, w->ops++) {
    unsigned kind = pick(8);
    if (kind < 2 && depth)
      write_loop(w, depth);
    else if (kind == 2 && depth)
      write_while(w, depth);
    else if (kind == 3 && depth && w->trip)
      write_if(w, depth);
    else if (kind == 4 && w->rings < MAX_RINGS)
      write_ring(w);
    else
      write_access(w);
  }
}

static const char prologue[] =
    "#a = #tilegpu.linear<{block = [], lane = [[1], [2], [4], [8], [16]], register = [[128]], warp "
    "= [[32], [64]]}>\n"
    "#b = #tilegpu.linear<{block = [], lane = [[64], [2], [128], [8], [16]], register = [[32]], "
    "warp = [[1], [4]]}>\n"
    "#s = #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>\n"
    "!a = tensor<256xi32, #a>\n!b = tensor<256xi32, #b>\n!p = tensor<256x!tile.ptr<i32>, #a>\n"
    "!m = !tilegpu.memdesc<tensor<256xi32, #s>>\n"
    "module { func.func @k(%p: !p, %x: !a) attributes {tile.kernel} {\n"
    "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n";

static void write_program(struct writer *w) {
  strbuf_puts(&w->out, prologue);
  for (unsigned i = 0; i < 7; i++)
    strbuf_printf(&w->out, "%%n%u = arith.constant %u : i32\n", i, i);
  write_ring(w);
  write_block(w, 3, 3 + pick(6));
  strbuf_puts(&w->out, "return } }\n");
}

// ---- walking through ----

struct walk {
  struct ir_context *c;
  const struct shared_items *items;
  struct arena *a;
  struct map numbers; // scalar -> its value + 1; buffer -> its offset + 1
  struct intervals reads, writes, under_way;
  MlirOperation wrong; // the first access without a barrier in front
};

static int64_t number_of(struct walk *w, MlirValue v) {
  return (int64_t)(intptr_t)ptrmap_get(&w->numbers, v.ptr) - 1;
}

static void set_number(struct walk *w, MlirValue v, int64_t n) {
  ptrmap_put(w->a, &w->numbers, v.ptr, (void *)(intptr_t)(n + 1));
}

static MlirValue operand(MlirOperation op, intptr_t i) { return mlirOperationGetOperand(op, i); }

static void access_bytes(struct walk *w, MlirOperation op, struct intervals *what,
                         struct shared_interval i) {
  bool writes = what == &w->writes;
  if (mlirOperationIsNull(w->wrong) &&
      (intervals_overlap(&w->writes, i) || (writes && intervals_overlap(&w->reads, i))))
    w->wrong = op;
  intervals_add(w->a, what, i);
}

static struct shared_interval buffer_at(struct walk *w, MlirValue buffer) {
  uint32_t at = (uint32_t)number_of(w, buffer);
  return (struct shared_interval){at, at + buffer_bytes(w->c, mlirValueGetType(buffer))};
}

static void meet(struct walk *w) {
  w->reads = (struct intervals){0};
  w->writes = (struct intervals){0};
}

static void remove_one(struct arena *a, struct intervals *s, struct shared_interval i) {
  struct intervals ret = {0};
  for (size_t k = 0; k < s->at.len; k++) {
    struct shared_interval at = s->at.at[k], below = at, above = at;
    below.end = at.end < i.begin ? at.end : i.begin;
    above.begin = at.begin > i.end ? at.begin : i.end;
    if (below.begin < below.end)
      intervals_add(a, &ret, below);
    if (above.begin < above.end)
      intervals_add(a, &ret, above);
  }
  *s = ret;
}

static void remove_all(struct arena *a, struct intervals *s, const struct intervals *of) {
  for (size_t i = 0; i < of->at.len; i++)
    remove_one(a, s, of->at.at[i]);
}

static void walk_wait(struct walk *w, MlirOperation op) {
  struct intervals completed = {0};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    intervals_add(w->a, &completed, buffer_at(w, operand(op, i)));
  if (op_attr_int(op, "pending", 1) == 0)
    intervals_add_all(w->a, &completed, &w->under_way);
  intervals_add_all(w->a, &w->writes, &completed);
  remove_all(w->a, &w->under_way, &completed);
}

static void walk_scratch(struct walk *w, MlirOperation op, int64_t iteration) {
  uint32_t bytes = scratch_bytes(w->c, op, 4);
  uint32_t at = scratch_offset(op) + (iteration % 2 ? scratch_double_buffer(op) : 0);
  struct shared_interval where = {at, at + bytes};
  if (mlirOperationIsNull(w->wrong) && intervals_overlap(&w->under_way, where))
    w->wrong = op;
  access_bytes(w, op, &w->writes, where);
  meet(w);
  intervals_add(w->a, &w->reads, where);
}

static void walk_block(struct walk *w, MlirBlock block, int64_t iteration);

static void walk_for(struct walk *w, MlirOperation op) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (int64_t i = 0; i < number_of(w, operand(op, 1)); i++) {
    set_number(w, mlirBlockGetArgument(body, 0), i);
    walk_block(w, body, i);
  }
}

static void walk_while(struct walk *w, MlirOperation op) {
  MlirBlock before = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirBlock after = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 1));
  for (int64_t i = 0;; i++) {
    set_number(w, mlirBlockGetArgument(before, 0), i);
    walk_block(w, before, i);
    if (!number_of(w, operand(mlirBlockGetTerminator(before), 0)))
      return;
    set_number(w, mlirBlockGetArgument(after, 0), i);
    walk_block(w, after, i);
  }
}

static int64_t computed(struct walk *w, MlirOperation op, enum op_id id) {
  int64_t x = number_of(w, operand(op, 0)), y = number_of(w, operand(op, 1));
  switch (id) {
  case OP_ARITH_ADDI: return x + y;
  case OP_ARITH_REMSI: return x % y;
  case OP_ARITH_ANDI: return x & y;
  default: return op_attr_int(op, "predicate", 0) == 1 ? x != y : x < y; // ne, slt
  }
}

static void walk_op(struct walk *w, MlirOperation op, int64_t iteration) {
  enum op_id id = op_id(w->c, op);
  int64_t n = 0;
  switch (id) {
  case OP_SCF_FOR: walk_for(w, op); break;
  case OP_SCF_WHILE: walk_while(w, op); break;
  case OP_SCF_IF:
    n = number_of(w, operand(op, 0)) ? 0 : 1;
    walk_block(w, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, n)), iteration);
    break;
  case OP_ARITH_CONSTANT:
    if (value_const_int(w->c, mlirOperationGetResult(op, 0), &n))
      set_number(w, mlirOperationGetResult(op, 0), n);
    break;
  case OP_ARITH_ADDI:
  case OP_ARITH_REMSI:
  case OP_ARITH_ANDI:
  case OP_ARITH_CMPI: set_number(w, mlirOperationGetResult(op, 0), computed(w, op, id)); break;
  case OP_GPU_LOCAL_ALLOC: set_number(w, mlirOperationGetResult(op, 0), scratch_offset(op)); break;
  case OP_GPU_LOCAL_INDEX:
    n = number_of(w, operand(op, 1)) * buffer_stride(w->c, mlirValueGetType(operand(op, 0)));
    set_number(w, mlirOperationGetResult(op, 0), number_of(w, operand(op, 0)) + n);
    break;
  case OP_GPU_LOCAL_LOAD: access_bytes(w, op, &w->reads, buffer_at(w, operand(op, 0))); break;
  case OP_GPU_LOCAL_STORE: access_bytes(w, op, &w->writes, buffer_at(w, operand(op, 1))); break;
  case OP_GPU_ASYNC_COPY:
    access_bytes(w, op, &w->writes, buffer_at(w, operand(op, 1)));
    intervals_add(w->a, &w->under_way, buffer_at(w, operand(op, 1)));
    break;
  case OP_GPU_ASYNC_WAIT: walk_wait(w, op); break;
  case OP_GPU_BARRIER: meet(w); break;
  case OP_GPU_CONVERT_LAYOUT: walk_scratch(w, op, iteration); break;
  default: break;
  }
}

// `iteration`: of the innermost loop.
static void walk_block(struct walk *w, MlirBlock block, int64_t iteration) {
  if (mlirBlockIsNull(block))
    return;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    walk_op(w, op, iteration);
}

static bool is_sound(struct pass_session *s) {
  MlirOperation kernel = module_kernel(s->context.c, s->context.module);
  struct walk w = {.c = s->context.c, .a = s->context.scratch};
  walk_block(&w, mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0)), 0);
  return mlirOperationIsNull(w.wrong);
}

// ---- tests ----

struct barriers {
  struct ir_context *c;
  MlirOperation last;
  unsigned count;
};

static bool see_barrier(MlirOperation op, void *user) {
  struct barriers *b = user;
  if (op_is(b->c, op, OP_GPU_BARRIER)) {
    b->last = op;
    b->count++;
  }
  return true;
}

static struct barriers barriers_of(struct pass_session *s) {
  struct barriers b = {.c = s->context.c};
  ir_walk(mlirModuleGetOperation(s->context.module), see_barrier, &b);
  return b;
}

static struct pass_session planned(const char *text) {
  struct pass_session s = pass_session_open(text);
  struct pass_options options = {.only = "allocate-shared,insert-barriers"};
  ck_assert_msg(pass_session_run(&s, options, NULL), "%s", diag_first_error(s.diag));
  return s;
}

START_TEST(random_programs_have_their_barriers) {
  unsigned with = 0, caught = 0;
  for (unsigned round = 0; round < ROUNDS; round++) {
    struct writer w = {.names = 1};
    write_program(&w);
    struct pass_session s = planned(strbuf_cstr(&w.out));
    ck_assert_msg(is_sound(&s), "round %u: an access without a barrier in\n%.1500s", round,
                  strbuf_cstr(&w.out));
    struct barriers b = barriers_of(&s);
    if (b.count) {
      op_erase(b.last);
      with++;
      caught += !is_sound(&s);
    }
    pass_session_close(&s);
    strbuf_finish(&w.out);
  }
  // The walk sees one that is missing, where the program comes by.
  ck_assert_uint_gt(caught, with / 3);
}
END_TEST

TCase *rings_tests(void) {
  TCase *t = tcase_create("rings");
  tcase_set_timeout(t, 0);
  tcase_add_test(t, random_programs_have_their_barriers);
  return t;
}
