// SPDX-License-Identifier: Apache-2.0
// First fit, largest first. The barrier analysis with all items disjoint gives the pairs of items
// that cost a barrier when they share memory.
#include "lowering/plan/shared_allocation.h"

#include "lowering/analysis/scratch.h"
#include "lowering/plan/barrier_plan.h"

#include <assert.h>

// Shared memory up to a program's share of a multiprocessor does not lower the occupancy. None of
// these thresholds was measured by itself.
enum {
  WARPS_PER_SM = 64,
  MAX_PROGRAMS_PER_SM = 32,
  SMALL_SCRATCH = 1024,      // bytes: below this a barrier costs more than the memory
  SLACK = 8,                 // the allocation may exceed the least one by an eighth of it
  MAX_DOUBLE_BUFFERED = 4096 // bytes of scratch that may have two slots
};

struct function {
  MlirOperation op;
  struct shared_items *items;
  uint32_t base, bytes; // begin and size of its frame
};

struct state {
  struct ir_context *c;
  const struct target *target;
  uint32_t num_warps;
  struct arena *a;
  VEC(struct function) functions;
  struct shared_items *items; // of the current function
  bool *edges;                // of each pair of items: sharing memory would cost a barrier
  bool *waits; // of each item: its op waits for its own accesses of the iteration before
};

// ---- items whose sharing costs a barrier ----

static uint64_t align_to(uint64_t x, uint32_t alignment) {
  return (x + alignment - 1) / alignment * alignment;
}

static bool *edge(const struct state *s, uint32_t a, uint32_t b) {
  return &s->edges[(a < b ? a : b) * s->items->items.len + (a < b ? b : a)];
}

static bool is_pending(const struct pending *p, const struct shared_item *item) {
  struct shared_interval where = {item->offset, shared_item_end(item)};
  return intervals_overlap(&p->reads, where) || intervals_overlap(&p->writes, where);
}

static void see_writes(struct state *s, const struct part_set *writes,
                       const struct pending *pending) {
  for (size_t w = 0; w < writes->at.len; w++)
    for (uint32_t i = 0; i < s->items->items.len; i++) {
      uint32_t item = writes->at.at[w].item;
      if (i != item && !*edge(s, item, i) && is_pending(pending, &s->items->items.at[i]))
        *edge(s, item, i) = true;
    }
}

static void see_pending(void *user, MlirOperation op, const struct shared_effects *effects,
                        const struct pending *pending) {
  struct state *s = user;
  (void)op;
  see_writes(s, &effects->writes, pending);
  see_writes(s, &effects->starts, pending);
}

static bool is_listed(const struct barrier_plan *plan, MlirOperation op) {
  for (size_t i = 0; i < plan->before.len; i++)
    if (mlirOperationEqual(plan->before.at[i].op, op))
      return true;
  return false;
}

// With all items disjoint, one byte each, the op would wait for what is pending at its first write.
static void find_edges(struct state *s, const struct function *f) {
  size_t count = f->items->items.len;
  struct shared_item *sizes = arena_array(s->a, struct shared_item, count + 1);
  uint32_t at = 0;
  s->waits = arena_array(s->a, bool, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    struct shared_item *item = &f->items->items.at[i];
    sizes[i] = *item;
    item->bytes = item->copies;
    item->stride = 1;
    item->double_buffer = item->double_buffer != 0;
    item->offset = at;
    at = shared_item_end(item) + 1; // not adjacent, since adjacent intervals are merged
  }
  s->items = f->items;
  memset(s->edges, 0, count * count * sizeof *s->edges);
  struct barrier_plan plan = barrier_plan_make(f->items, f->op, NULL, see_pending, s, s->a);
  for (size_t i = 0; i < count; i++) {
    s->waits[i] = is_listed(&plan, f->items->items.at[i].op);
    f->items->items.at[i] = sizes[i];
  }
}

static void clear_double_buffers(struct shared_items *items) {
  for (size_t i = 0; i < items->items.len; i++)
    items->items.at[i].double_buffer = 0;
}

// Double-buffers scratch that its op would wait for in the next iteration, where that helps. False
// if there are none.
static bool choose_double_buffers(struct state *s, const struct function *f) {
  bool any = false;
  for (size_t i = 0; i < f->items->items.len; i++) {
    struct shared_item *item = &f->items->items.at[i];
    if (!item->is_scratch || !s->waits[i] || mlirOperationIsNull(item->loop) ||
        item->bytes > MAX_DOUBLE_BUFFERED)
      continue;
    item->double_buffer = (uint32_t)align_to(item->bytes, item->alignment);
    any = true;
  }
  // Each round but the last removes the second slot of at least one item: at most items + 1 rounds.
  for (bool again = any; again;) {
    find_edges(s, f);
    any = again = false;
    for (size_t i = 0; i < f->items->items.len; i++) {
      struct shared_item *item = &f->items->items.at[i];
      if (item->double_buffer && s->waits[i]) {
        item->double_buffer = 0;
        again = true;
      }
      any |= item->double_buffer != 0;
    }
  }
  return any;
}

// ---- offsets ----

// Pairs count where the smaller item has at most `limit` bytes.
static bool must_be_apart(const struct state *s, uint32_t a, uint32_t b, uint32_t limit) {
  const struct shared_item *x = &s->items->items.at[a], *y = &s->items->items.at[b];
  if (live_ranges_overlap(shared_item_live(x), shared_item_live(y)))
    return true;
  if ((x->bytes < y->bytes ? x->bytes : y->bytes) > limit)
    return false;
  return *edge(s, a, b);
}

// The lowest offset for item order[n] beside those allocated before it. `at` only rises, each time
// to the end of another of the n items: at most n rounds.
static uint32_t first_fit(const struct state *s, const uint32_t *order, size_t n, uint32_t limit) {
  const struct shared_item *item = &s->items->items.at[order[n]];
  uint64_t at = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t k = 0; k < n; k++) {
      const struct shared_item *other = &s->items->items.at[order[k]];
      if (at < shared_item_end(other) && other->offset < at + item->double_buffer + item->bytes &&
          must_be_apart(s, order[n], order[k], limit)) {
        at = align_to(shared_item_end(other), item->alignment);
        moved = true;
      }
    }
  }
  return at > INT32_MAX ? INT32_MAX : (uint32_t)at;
}

static uint64_t assign_offsets(const struct state *s, const uint32_t *order, uint32_t limit) {
  uint64_t total = 0;
  for (size_t n = 0; n < s->items->items.len; n++) {
    struct shared_item *item = &s->items->items.at[order[n]];
    item->offset = first_fit(s, order, n, limit);
    uint64_t end = (uint64_t)item->offset + item->double_buffer + item->bytes;
    total = end > total ? end : total;
  }
  return total;
}

// By decreasing size; of one size in program order.
static uint32_t *sorted(const struct state *s) {
  size_t count = s->items->items.len;
  uint32_t *order = arena_array(s->a, uint32_t, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    size_t k = i;
    for (; k > 0 && s->items->items.at[order[k - 1]].bytes < s->items->items.at[i].bytes; k--)
      order[k] = order[k - 1];
    order[k] = i;
  }
  return order;
}

// What a program may take without lowering the occupancy.
static uint64_t fair_share(const struct state *s) {
  uint64_t programs = WARPS_PER_SM / s->num_warps;
  programs = programs > MAX_PROGRAMS_PER_SM ? MAX_PROGRAMS_PER_SM : programs;
  return s->target->shared_limit / (programs ? programs : 1);
}

// First with second slots, then with separate memory for items, if the total is not too large. At
// most two rounds: the second is without second slots.
static uint64_t allocate_function(struct state *s, const struct function *f) {
  size_t count = f->items->items.len;
  s->edges = arena_array(s->a, bool, count *count + 1);
  clear_double_buffers(f->items);
  find_edges(s, f);
  const uint32_t *order = sorted(s);
  static const uint32_t limits[] = {UINT32_MAX, SMALL_SCRATCH};
  uint64_t least = assign_offsets(s, order, 0), fair = fair_share(s);
  uint64_t most = least + least / SLACK;
  most = most > fair ? most : fair;
  most = most > s->target->shared_limit ? s->target->shared_limit : most;
  for (bool double_buffers = choose_double_buffers(s, f);; double_buffers = false) {
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
      uint64_t total = assign_offsets(s, order, limits[i]);
      if (total <= most)
        return total;
    }
    if (!double_buffers)
      return assign_offsets(s, order, 0);
    clear_double_buffers(f->items);
    find_edges(s, f);
  }
}

// ---- functions ----

static bool collect_function(MlirOperation op, void *user) {
  struct state *s = user;
  if (!op_is(s->c, op, OP_FUNC_FUNC))
    return true;
  struct function f = {.op = op, .items = shared_items_of(s->c, op, s->num_warps, s->a)};
  vec_push(s->a, &s->functions, f);
  return true;
}

struct calls {
  struct state *s;
  const struct function *caller;
  bool moved;
};

static bool raise_callee(MlirOperation op, void *user) {
  struct calls *k = user;
  if (!op_is(k->s->c, op, OP_FUNC_CALL))
    return true;
  MlirOperation callee = op_function(k->s->c, op, "callee");
  uint32_t above = (uint32_t)align_to((uint64_t)k->caller->base + k->caller->bytes,
                                      k->caller->bytes ? SCRATCH_ALIGNMENT : 1);
  for (size_t i = 0; i < k->s->functions.len; i++) {
    struct function *f = &k->s->functions.at[i];
    if (mlirOperationEqual(f->op, callee) && f->base < above) {
      f->base = above;
      k->moved = true;
    }
  }
  return true;
}

// Frames above those of all callers. Functions do not call themselves: a frame is final after as
// many rounds as its depth of calls, at most the number of functions.
static void stack_frames(struct state *s) {
  for (size_t round = 0; round < s->functions.len; round++) {
    struct calls k = {.s = s};
    for (size_t i = 0; i < s->functions.len; i++) {
      k.caller = &s->functions.at[i];
      ir_walk(k.caller->op, raise_callee, &k);
    }
    if (!k.moved)
      break;
  }
}

// ---- the result ----

static void list_slots(struct state *s, struct shared_allocation *ret) {
  uint64_t total = 0;
  for (size_t i = 0; i < s->functions.len; i++) {
    const struct function *f = &s->functions.at[i];
    for (size_t k = 0; k < f->items->items.len; k++) {
      const struct shared_item *item = &f->items->items.at[k];
      uint64_t at = (uint64_t)f->base + item->offset;
      struct shared_slot slot = {item->op, at > INT32_MAX ? INT32_MAX : (uint32_t)at, item->bytes,
                                 item->double_buffer};
      vec_push(s->a, &ret->at, slot);
    }
    uint64_t end = f->bytes ? (uint64_t)f->base + f->bytes : 0;
    total = end > total ? end : total;
  }
  ret->total = total > INT32_MAX ? INT32_MAX : (uint32_t)total;
}

struct shared_allocation shared_allocation_of(struct ir_context *c, MlirModule module,
                                              const struct target *target, uint32_t num_warps,
                                              struct arena *a) {
  assert(target && num_warps > 0 && !mlirModuleIsNull(module));
  struct state s = {.c = c, .target = target, .num_warps = num_warps, .a = a};
  struct shared_allocation ret = {0};
  ir_walk(mlirModuleGetOperation(module), collect_function, &s);
  for (size_t i = 0; i < s.functions.len; i++) {
    uint64_t bytes = allocate_function(&s, &s.functions.at[i]);
    s.functions.at[i].bytes = bytes > INT32_MAX ? INT32_MAX : (uint32_t)bytes;
  }
  stack_frames(&s);
  list_slots(&s, &ret);
  return ret;
}
