// SPDX-License-Identifier: Apache-2.0
// Rings of buffers between asynchronous copies and their users.
//
//   for %i (%w = S - 1, %r = 0)       %w: the buffer to fill, %r: the one to use
//     async_wait {pending} ring[%r]   first: afterwards no thread reads ring[%w]
//     async_copy ... -> ring[%w]      for the iteration S - 1 later; zeros if there is none
//     async_commit                    always, so that groups can be counted
//     local_load ring[%r]
//     yield %r, (%r + 1) modulo S
//
// Rings that products in flight read are filled at the end of the iteration: the copy overwrites
// the buffer of the previous product, which is complete when this iteration's was issued.
//
// Loads are committed and waited for by levels: the operands of an iteration's first dot at its
// head, those of a dot that multiplies its result just before that dot.
#include "lowering/passes/pipeline.h"

static struct ring_counter *counter_of(struct expansion *x, const struct ring *r) {
  for (size_t i = 0; i < x->counters.len; i++)
    if (x->counters.at[i].copies == r->copies && x->counters.at[i].distance == r->distance)
      return &x->counters.at[i];
  return NULL;
}

// ---- allocation ----

static bool is_before(const struct copy_group *g, const struct copy_group *o) {
  if (g->late != o->late)
    return o->late;
  return g->stage != o->stage ? g->stage > o->stage : g->level < o->level;
}

// Groups as an iteration commits them.
static void add_group(struct expansion *x, struct copy_group g) {
  size_t at = 0;
  while (at < x->groups.len && is_before(&x->groups.at[at], &g))
    at++;
  if (at < x->groups.len && !is_before(&g, &x->groups.at[at]))
    return;
  vec_push(x->arena, &x->groups, g);
  for (size_t i = x->groups.len - 1; i > at; i--)
    x->groups.at[i] = x->groups.at[i - 1];
  x->groups.at[at] = g;
}

static struct copy_group group_of(const struct ring *r) {
  return (struct copy_group){r->late, r->stage, r->level};
}

static bool is_of_group(const struct ring *r, const struct copy_group *g) {
  return r->late == g->late && r->stage == g->stage && r->level == g->level;
}

static void open_ring(struct expansion *x, const struct loop_load *l) {
  struct ring r = {.load = l->op,
                   .stage = schedule_stage(x->s, l->op),
                   .level = l->level,
                   .distance = schedule_distance(x->s, l->op),
                   .late = l->read_in_flight};
  r.copies = r.distance + 1;
  x->b.loc = mlirOperationGetLocation(l->op);
  MlirType tile = mlirValueGetType(mlirOperationGetResult(l->op, 0));
  r.buffers = build_local_ring(&x->b, type_with_encoding(tile, l->buffer), (int32_t)r.copies);
  vec_push(x->arena, &x->rings, r);
  add_group(x, group_of(&r));
  if (!counter_of(x, &r))
    vec_push(x->arena, &x->counters,
             (struct ring_counter){.copies = r.copies, .distance = r.distance});
}

void rings_open(struct expansion *x) {
  for (size_t i = 0; i < x->s->loads.at.len; i++)
    if (x->s->loads.at.at[i].staging == STAGING_SHARED)
      open_ring(x, &x->s->loads.at.at[i]);
}

// ---- copies ----

static MlirValue ring_slot(struct expansion *x, const struct ring *r) {
  if (x->now == x->s->last)
    return build_local_index(&x->b, r->buffers, counter_of(x, r)->write, (int32_t)r->distance);
  MlirValue number = build_const_int(&x->b, mlir_of_dtype(x->c, DTYPE_I32), x->now - r->stage);
  return build_local_index(&x->b, r->buffers, number, -1);
}

static void copy(struct expansion *x, const struct ring *r) {
  x->b.loc = mlirOperationGetLocation(r->load);
  MlirValue mask = load_operand(r->load, 1);
  MlirValue ptr = expansion_value(x, mlirOperationGetOperand(r->load, 0), r->stage);
  if (!mlirValueIsNull(mask))
    mask = expansion_value(x, mask, r->stage);
  mask = expansion_mask(x, ptr, mask, r->stage);
  build_async_copy(&x->b, ptr, ring_slot(x, r), mask, expansion_text(x, r->load, "cache"),
                   expansion_text(x, r->load, "evict"));
}

static bool has_one_group(const struct expansion *x, unsigned stage) {
  unsigned count = 0;
  for (size_t g = 0; g < x->groups.len; g++)
    count += x->groups.at[g].stage == stage;
  return count == 1;
}

void rings_copy_at(struct expansion *x, MlirOperation load) {
  const struct ring *r = ring_of(x, mlirOperationGetResult(load, 0));
  if (has_one_group(x, r->stage))
    copy(x, r);
}

void rings_commit(struct expansion *x, unsigned stage, bool late) {
  for (size_t g = 0; g < x->groups.len; g++) {
    if (x->groups.at[g].stage != stage || x->groups.at[g].late != late)
      continue;
    for (size_t i = 0; i < x->rings.len && !has_one_group(x, stage); i++)
      if (is_of_group(&x->rings.at[i], &x->groups.at[g]))
        copy(x, &x->rings.at[i]);
    build_async_commit(&x->b);
  }
}

bool rings_are_late(const struct expansion *x, unsigned stage) {
  bool any = false;
  for (size_t g = 0; g < x->groups.len; g++) {
    if (x->groups.at[g].stage == stage && !x->groups.at[g].late)
      return false;
    any |= x->groups.at[g].stage == stage;
  }
  return any;
}

void rings_idle(struct expansion *x, bool late) {
  bool begun = false;
  for (size_t g = 0; g < x->groups.len; g++)
    begun |= x->groups.at[g].stage <= x->now;
  for (size_t g = 0; begun && g < x->groups.len; g++)
    if (x->groups.at[g].stage > x->now && x->groups.at[g].late == late)
      build_async_commit(&x->b);
}

// ---- buffer indices ----

void rings_carry(struct expansion *x, struct value_list *inits) {
  MlirType i32 = mlir_of_dtype(x->c, DTYPE_I32);
  for (size_t i = 0; i < x->counters.len; i++) {
    struct ring_counter *n = &x->counters.at[i];
    n->first = (intptr_t)inits->at.len + 1;
    for (unsigned slot = n->distance; slot <= n->copies; slot++)
      vec_push(x->arena, &inits->at, build_const_int(&x->b, i32, slot % n->copies));
  }
}

static void begin_counter(struct expansion *x, struct ring_counter *n) {
  MlirType i32 = mlir_of_dtype(x->c, DTYPE_I32);
  n->write = mlirBlockGetArgument(x->block, n->first);
  n->read = mlirBlockGetArgument(x->block, n->first + n->copies - n->distance);
  MlirValue one = build_const_int(&x->b, i32, 1);
  if (n->copies == 2) {
    n->next = build_binary(&x->b, OP_ARITH_XORI, n->read, one);
    return;
  }
  MlirValue zero = build_const_int(&x->b, i32, 0);
  MlirValue end = build_const_int(&x->b, i32, n->copies);
  MlirValue more = build_binary(&x->b, OP_ARITH_ADDI, n->read, one);
  n->next = build_select(&x->b, build_cmpi(&x->b, 0, more, end), zero, more);
}

void rings_yield(struct expansion *x, struct value_list *next) {
  for (size_t i = 0; i < x->counters.len; i++) {
    const struct ring_counter *n = &x->counters.at[i];
    for (intptr_t k = 1; k <= n->copies - n->distance; k++)
      vec_push(x->arena, &next->at, mlirBlockGetArgument(x->block, n->first + k));
    vec_push(x->arena, &next->at, n->next);
  }
}

// ---- waiting ----

enum { MAX_LEVELS = 64 };

// Deeper levels are waited for together.
static unsigned level_of(const struct ring *r) {
  return r->level < MAX_LEVELS ? r->level : MAX_LEVELS - 1;
}

// Groups that may be in flight when those of `levels` must be complete. copied: the early copies of
// this iteration were issued.
static unsigned pending(const struct expansion *x, uint64_t levels, bool copied) {
  unsigned least = UINT32_MAX, count = (unsigned)x->groups.len, early = 0;
  while (early < count && !x->groups.at[early].late)
    early++;
  for (size_t i = 0; i < x->rings.len; i++) {
    const struct ring *r = &x->rings.at[i];
    if (!(levels >> level_of(r) & 1))
      continue;
    for (unsigned g = 0; g < count; g++) {
      if (!is_of_group(r, &x->groups.at[g]))
        continue;
      unsigned behind = count - 1 - g + (r->distance - 1) * count + (copied ? early : 0);
      least = behind < least ? behind : least;
    }
  }
  return least;
}

struct levels {
  struct expansion *x;
  uint64_t needed;
};

static bool note_levels(MlirOperation op, void *user) {
  struct levels *l = user;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    const struct ring *r = ring_of(l->x, mlirOperationGetOperand(op, i));
    if (r)
      l->needed |= (uint64_t)1 << level_of(r);
  }
  return true;
}

static uint64_t levels_of(struct expansion *x, MlirOperation user) {
  struct levels l = {x, 0};
  ir_walk(user, note_levels, &l);
  return l.needed;
}

// Operands of one wait have one type; a wait after another is free.
static void build_waits(struct expansion *x, const struct value_list *buffers, unsigned groups) {
  VEC(MlirValue) alike = {0};
  for (size_t i = 0; i < buffers->at.len; i++) {
    MlirType type = mlirValueGetType(buffers->at.at[i]);
    bool seen = false;
    alike.len = 0;
    for (size_t k = 0; k < buffers->at.len; k++) {
      bool same = mlirTypeEqual(type, mlirValueGetType(buffers->at.at[k]));
      seen |= same && k < i;
      if (same)
        vec_push(x->arena, &alike, buffers->at.at[k]);
    }
    if (!seen)
      build_async_wait(&x->b, alike.len, alike.at, (int32_t)groups);
  }
}

static void wait_for(struct expansion *x, uint64_t levels, bool copied) {
  struct value_list views = {0};
  for (size_t i = 0; i < x->rings.len; i++) {
    struct ring *r = &x->rings.at[i];
    if (!(levels >> level_of(r) & 1))
      continue;
    x->b.loc = mlirOperationGetLocation(r->load);
    r->view = build_local_index(&x->b, r->buffers, counter_of(x, r)->read, 0);
    vec_push(x->arena, &views.at, r->view);
  }
  x->waited |= levels;
  build_waits(x, &views, pending(x, levels, copied));
}

static void load_from(struct expansion *x, struct ring *r) {
  MlirValue old = mlirOperationGetResult(r->load, 0);
  x->b.loc = mlirOperationGetLocation(r->load);
  r->loaded = build_local_load(&x->b, r->view, tensor_encoding(mlirValueGetType(old)));
  expansion_set(x, old, r->loaded);
}

void rings_wait_for(struct expansion *x, MlirOperation user) {
  uint64_t needed = x->rings.len ? levels_of(x, user) : 0, fresh = needed & ~x->waited;
  if (fresh)
    wait_for(x, fresh, true);
  for (size_t i = 0; needed && i < x->rings.len; i++) {
    struct ring *r = &x->rings.at[i];
    if ((needed >> level_of(r) & 1) && mlirValueIsNull(r->loaded))
      load_from(x, r);
  }
}

void rings_begin_iteration(struct expansion *x) {
  for (size_t i = 0; i < x->counters.len; i++)
    begin_counter(x, &x->counters.at[i]);
  for (MlirOperation op = mlirBlockGetFirstOperation(x->s->body); x->rings.len && op.ptr;
       op = mlirOperationGetNextInBlock(op)) {
    uint64_t needed = levels_of(x, op);
    if (!needed)
      continue;
    wait_for(x, needed, false);
    return;
  }
}

// ---- users ----

// Users that convert the tile to another layout, or store it to a buffer, read the ring.
static void serve(struct expansion *x, const struct ring *r) {
  VEC(MlirOperation) users = {0};
  for (MlirOpOperand use = mlirValueGetFirstUse(r->loaded); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    vec_push(x->arena, &users, mlirOpOperandGetOwner(use));
  for (size_t i = 0; i < users.len; i++) {
    MlirOperation user = users.at[i];
    bool converts = op_is(x->c, user, OP_GPU_CONVERT_LAYOUT);
    if (!converts && !op_is(x->c, user, OP_GPU_LOCAL_ALLOC))
      continue;
    MlirValue v = mlirOperationGetResult(user, 0);
    struct builder b = builder_before(x->c, user);
    if (converts)
      value_replace(v, build_local_load(&b, r->view, tensor_encoding(mlirValueGetType(v))));
    else if (mlirTypeEqual(mlirValueGetType(v), mlirValueGetType(r->view)))
      value_replace(v, r->view);
    else
      continue;
    op_erase(user);
  }
  if (!value_has_uses(r->loaded))
    op_erase(mlirOpResultGetOwner(r->loaded));
}

void rings_close(struct expansion *x) {
  struct value_list all = {0};
  for (size_t i = 0; i < x->rings.len; i++) {
    vec_push(x->arena, &all.at, x->rings.at[i].buffers);
    if (!mlirValueIsNull(x->rings.at[i].loaded))
      serve(x, &x->rings.at[i]);
  }
  build_waits(x, &all, 0);
}
