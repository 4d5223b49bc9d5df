// SPDX-License-Identifier: Apache-2.0
// spill-to-shared: where the tiles that live across a barrier need more registers than a thread
// has, part of them is spilled to shared memory. Every thread stores and loads its own words, 16
// bytes at a time, without barriers or bank conflicts.
//
//   %x = tile.load          ->  %x = tile.load {tilegpu.spill_row = 0, tilegpu.spill_rows = 5}
//   %m = tile.reduce %x         %m = tile.reduce %x
//   %y = arith.subf %x, %m      %y = arith.subf %x, %m
//
// A row of spill space is 16 bytes for each thread. The first registers of the tile are stored in
// its rows when they are computed, and loaded again by every op that uses the tile. A row of 65,536
// f32 with 1024 threads is 64 registers of 64: without that, ptxas spills to local memory, which
// exceeds the L1 cache here.
//
// A kernel that spills, or would if there were shared memory left, gets `tilegpu.registers`, all
// that there are: ptxas, which is free to choose fewer for more programs a multiprocessor, may
// choose 32 there and spill everything.
#include "base/limits.h"
#include "lowering/analysis/scratch.h"
#include "lowering/analysis/shared_effects.h"
#include "lowering/cost/occupancy.h"
#include "lowering/cost/registers.h"
#include "lowering/pass.h"
#include "lowering/plan/shared_allocation.h"

enum {
  LANES = 32,
  RESERVE = 28, // registers of a thread for addresses and temporaries; not measured by itself
  AHEAD = 96    // most registers of loads behind a barrier, which ptxas moves up to it
};

struct tile {
  MlirOperation op;
  struct live_range live;
  unsigned words;     // registers of a thread
  unsigned most_rows; // 0: it cannot be spilled
  unsigned row, rows; // first row, and count
};

struct load {
  uint32_t point;
  unsigned words;
};

struct state {
  struct pass_context *p;
  struct ir_context *c;
  struct liveness *live;
  struct shared_items *items;
  VEC(struct tile) tiles;
  VEC(uint32_t) barriers; // points
  VEC(struct load) loads;
  unsigned budget, row_limit, rows;
  bool is_short; // of registers, at a barrier
};

// ---- tiles ----

// Values passed by control flow are read at block boundaries, not by an op.
static bool has_plain_uses(struct ir_context *c, MlirValue v) {
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    if (op_flags(c, mlirOpOperandGetOwner(use)) & (OP_TERM | OP_REGION))
      return false;
  return true;
}

static unsigned most_rows(struct ir_context *c, MlirOperation op) {
  MlirType element = element_type(mlirValueGetType(mlirOperationGetResult(op, 0)));
  if (mlirOperationGetNumResults(op) != 1 || mlirOperationGetNumRegions(op) != 0 ||
      type_is_ptr(c, element) || type_bits(c, element) < 16 ||
      !has_plain_uses(c, mlirOperationGetResult(op, 0)))
    return 0;
  return spill_elements(c, op) / spill_elements_per_row(c, op);
}

static bool collect(MlirOperation op, void *user) {
  struct state *s = user;
  struct shared_effects e = shared_effects_of(s->items, op);
  if (e.synchronizes)
    vec_push(s->p->scratch, &s->barriers, liveness_point(s->live, op));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue v = mlirOperationGetResult(op, i);
    struct tile t = {.op = op, .words = register_words(s->c, v)};
    if (t.words == 0)
      continue;
    if (op_is(s->c, op, OP_TILE_LOAD))
      vec_push(s->p->scratch, &s->loads, ((struct load){liveness_point(s->live, op), t.words}));
    t.live = liveness_range(s->live, v);
    t.most_rows = most_rows(s->c, op);
    vec_push(s->p->scratch, &s->tiles, t);
  }
  return true;
}

// ---- choice ----

enum { ROW_WORDS = SPILL_ROW_BYTES / 4 };

static bool lives_across(const struct tile *t, uint32_t point) {
  return t->live.begin < point && point < t->live.end;
}

// An op reads its operands before its result is stored: their rows may be reused.
static bool at_the_same_time(const struct tile *t, const struct tile *o) {
  return t->live.begin < o->live.end && o->live.begin < t->live.end;
}

// The lowest rows that no tile live at the same time has. `at` only rises, each time to the end of
// another tile: at most as many rounds as there are tiles.
static unsigned free_row(const struct state *s, const struct tile *t, unsigned rows) {
  unsigned at = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < s->tiles.len; i++) {
      const struct tile *o = &s->tiles.at[i];
      if (o != t && o->rows && at_the_same_time(o, t) && at < o->row + o->rows &&
          o->row < at + rows) {
        at = o->row + o->rows;
        moved = true;
      }
    }
  }
  return at;
}

static void spill(struct state *s, struct tile *t, unsigned rows) {
  rows = rows > t->most_rows ? t->most_rows : rows;
  unsigned row = free_row(s, t, rows);
  while (rows > t->rows && row + rows > s->row_limit)
    row = free_row(s, t, --rows);
  if (rows <= t->rows)
    return;
  t->row = row;
  t->rows = rows;
  s->rows = row + rows > s->rows ? row + rows : s->rows;
}

// The registers that stay free for loads between the barrier and the next one: a weight of a norm
// takes as many as its row.
static unsigned loads_behind(const struct state *s, uint32_t point) {
  uint32_t next = UINT32_MAX;
  unsigned words = 0, most = s->budget > ROW_WORDS ? s->budget - ROW_WORDS : 0;
  for (size_t i = 0; i < s->barriers.len; i++)
    if (s->barriers.at[i] > point && s->barriers.at[i] < next)
      next = s->barriers.at[i];
  for (size_t i = 0; i < s->loads.len; i++)
    if (s->loads.at[i].point > point && s->loads.at[i].point < next && s->loads.at[i].words > words)
      words = s->loads.at[i].words;
  words = words < AHEAD ? words : AHEAD;
  return words < most ? words : most;
}

// Where the tiles that live across the point do not fit: spills the largest ones until the rest
// does, beside the loads behind it. Each round spills at least one row more, or is the last one.
static void relieve(struct state *s, uint32_t point) {
  unsigned budget = s->budget;
  for (;;) {
    unsigned words = 0, before;
    struct tile *best = NULL;
    for (size_t i = 0; i < s->tiles.len; i++) {
      struct tile *t = &s->tiles.at[i];
      if (!lives_across(t, point))
        continue;
      words += t->words - t->rows * ROW_WORDS;
      if (t->rows < t->most_rows &&
          (!best || t->words - t->rows * ROW_WORDS > best->words - best->rows * ROW_WORDS))
        best = t;
    }
    s->is_short = s->is_short || words > s->budget;
    if (words <= budget || !best)
      return;
    budget = s->budget - loads_behind(s, point);
    before = best->rows;
    spill(s, best, best->rows + (words - budget + ROW_WORDS - 1) / ROW_WORDS);
    if (best->rows == before) {
      pass_remark(s->p, best->op, "registers",
                  "%u registers a thread live across a barrier, %u are there; no shared memory is "
                  "left for the others",
                  words, budget);
      return;
    }
  }
}

// ---- the function ----

static void set_number(struct state *s, MlirOperation op, const char *name, unsigned value) {
  mlirOperationSetAttributeByName(op, mlirStringRefCreateFromCString(name),
                                  attr_i32(s->c, (int32_t)value));
}

static void spill_function(struct state *s, MlirOperation func, uint32_t shared_bytes) {
  unsigned threads = LANES * s->p->num_warps;
  s->budget = resource_registers(s->p->target, s->p->num_warps) - RESERVE;
  uint32_t limit = s->p->target->shared_limit, taken = shared_bytes + SCRATCH_ALIGNMENT;
  s->row_limit = taken > limit ? 0 : (limit - taken) / (SPILL_ROW_BYTES * threads);
  s->live = liveness_of(s->c, func, s->p->scratch);
  s->items = shared_items_of(s->c, func, s->p->num_warps, s->p->scratch);
  ir_walk(func, collect, s);
  for (size_t i = 0; i < s->barriers.len; i++)
    relieve(s, s->barriers.at[i]);
  for (size_t i = 0; i < s->tiles.len; i++) {
    const struct tile *t = &s->tiles.at[i];
    if (!t->rows)
      continue;
    set_number(s, t->op, "tilegpu.spill_row", t->row);
    set_number(s, t->op, "tilegpu.spill_rows", t->rows);
    pass_remark(s->p, t->op, "registers",
                "%u of %u registers a thread wait in shared memory: %u are there for what lives "
                "across a barrier",
                t->rows * ROW_WORDS, t->words, s->budget);
  }
  if (s->rows)
    set_number(s, func, "tilegpu.spill_bytes", s->rows * SPILL_ROW_BYTES * threads);
}

struct sizes {
  struct pass_context *p;
  unsigned shared, loops;
  MlirOperation last_shared, last_loop;
};

static bool count_sizes(MlirOperation op, void *user) {
  struct sizes *n = user;
  if (op_is(n->p->c, op, OP_GPU_LOCAL_ALLOC) || scratch_bytes(n->p->c, op, n->p->num_warps)) {
    n->shared++;
    n->last_shared = op;
  }
  if (op_is_loop(n->p->c, op)) {
    n->loops++;
    n->last_loop = op;
  }
  return true;
}

// Allocation compares all ops with scratch pairwise, and LLVM's time for a sequence of loops grows
// with the cube of their number.
static bool check_sizes(struct pass_context *p) {
  struct sizes n = {.p = p};
  ir_walk(mlirModuleGetOperation(p->module), count_sizes, &n);
  if (n.shared > LIMIT_SHARED_ITEMS)
    return limit_error(p->c->diag, op_span(p->c, n.last_shared), LIMIT_ID_SHARED_ITEMS, n.shared);
  return n.loops <= LIMIT_LOOPS ||
         limit_error(p->c->diag, op_span(p->c, n.last_loop), LIMIT_ID_LOOPS, n.loops);
}

enum pass_result pass_spill_to_shared(struct pass_context *p) {
  struct state s = {.p = p, .c = p->c};
  MlirOperation kernel = module_kernel(p->c, p->module);
  if (mlirOperationIsNull(kernel) || spill_bytes(kernel))
    return PASS_UNCHANGED;
  if (!check_sizes(p))
    return PASS_FAILED;
  spill_function(&s, kernel,
                 shared_allocation_of(p->c, p->module, p->target, p->num_warps, p->scratch).total);
  if (s.is_short)
    set_number(&s, kernel, "tilegpu.registers", resource_registers(p->target, p->num_warps));
  return s.is_short ? PASS_CHANGED : PASS_UNCHANGED;
}
