// SPDX-License-Identifier: Apache-2.0
// Sinks that share a loop. Stores and reductions wait until one comes that does not fit; then the
// loop is emitted, after what must be in buffers before it. Recursion is the algorithm: a value
// that needs a loop of its own is a group too.
#include "lowering/analysis/provenance.h"
#include "lowering/processor/strips.h"

// A value that costs more than this is kept rather than computed again: a store and a load.
enum { WORTH_KEEPING = 9 };

static void emit_group(struct strip_emitter *e, struct sink *const *sinks, size_t count);

// ---- shapes ----

static void shape_of(struct sink *s, MlirValue v) {
  MlirType t = mlirValueGetType(v);
  s->rank = rank_of(v);
  for (unsigned d = 0; d < s->rank; d++)
    s->shape[d] = tensor_dim(t, d);
}

static bool has_shape(const struct sink *s, MlirValue v) {
  MlirType t = mlirValueGetType(v);
  if (rank_of(v) != s->rank)
    return false;
  for (unsigned d = 0; d < s->rank; d++)
    if (tensor_dim(t, d) != s->shape[d])
      return false;
  return true;
}

static uint64_t size_of(const struct sink *s) {
  uint64_t n = 1;
  for (unsigned d = 0; d < s->rank; d++)
    n *= (uint64_t)s->shape[d];
  return n;
}

// ---- opening ----

bool has_open_store(struct strip_emitter *e) {
  for (size_t i = 0; i < e->open.len; i++)
    if (e->open.at[i]->kind == SINK_STORE)
      return true;
  return false;
}

static bool fits_open(struct strip_emitter *e, const struct sink *s) {
  if (e->open.len == 0)
    return true;
  const struct sink *first = e->open.at[0];
  if (first->rank != s->rank || e->open.len >= 8)
    return false;
  for (unsigned d = 0; d < s->rank; d++)
    if (first->shape[d] != s->shape[d])
      return false;
  for (size_t i = 0; i < e->open.len; i++)
    if (s->axis >= 0 && e->open.at[i]->axis >= 0 && s->axis != e->open.at[i]->axis)
      return false;
  if (s->kind == SINK_COPY)
    return !depends_on_open(e, s->value);
  for (unsigned i = 0; i < (unsigned)mlirOperationGetNumOperands(s->op); i++)
    if (depends_on_open(e, operand(s->op, i)))
      return false;
  return true;
}

static void open_sink(struct strip_emitter *e, struct sink *s) {
  if (!fits_open(e, s))
    flush(e);
  vec_push(e->arena, &e->open, s);
}

void add_store(struct strip_emitter *e, MlirOperation op) {
  struct sink *s = arena_new(e->arena, struct sink);
  s->kind = SINK_STORE;
  s->op = op;
  s->axis = -1;
  shape_of(s, operand(op, 0));
  open_sink(e, s);
}

void add_reduce(struct strip_emitter *e, MlirOperation op) {
  struct sink *s = arena_new(e->arena, struct sink);
  s->kind = SINK_REDUCE;
  s->op = op;
  s->axis = (int)op_attr_int(op, "axis", 0);
  shape_of(s, operand(op, 0));
  open_sink(e, s);
}

static struct sink *copy_sink(struct strip_emitter *e, MlirValue v, struct buffer *to) {
  struct sink *s = arena_new(e->arena, struct sink);
  s->kind = SINK_COPY;
  s->value = v;
  s->to = to;
  s->axis = -1;
  shape_of(s, v);
  return s;
}

void add_copy(struct strip_emitter *e, MlirValue v, struct buffer *to) {
  open_sink(e, copy_sink(e, v, to));
}

void flush(struct strip_emitter *e) {
  if (e->open.len == 0)
    return;
  size_t count = e->open.len;
  struct sink **sinks = e->open.at;
  memset(&e->open, 0, sizeof e->open);
  emit_group(e, sinks, count);
}

// ---- what must be in buffers ----

struct roots {
  VEC(MlirValue) at;
};

static struct roots roots_of(struct strip_emitter *e, struct sink *const *sinks, size_t count) {
  struct roots r = {0};
  for (size_t i = 0; i < count; i++) {
    if (sinks[i]->kind == SINK_COPY) {
      vec_push(e->arena, &r.at, sinks[i]->value);
      continue;
    }
    for (unsigned k = 0; k < (unsigned)mlirOperationGetNumOperands(sinks[i]->op); k++)
      vec_push(e->arena, &r.at, operand(sinks[i]->op, k));
  }
  return r;
}

static bool writes(struct sink *const *sinks, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (sinks[i]->kind == SINK_STORE)
      return true;
  return false;
}

// The loop stores to what the load may read, elsewhere: all of it has to be read before.
static bool is_overwritten(struct strip_emitter *e, MlirOperation load, struct sink *const *sinks,
                           size_t count) {
  int from = pointer_argument(e->c, operand(load, 0));
  for (size_t i = 0; i < count; i++) {
    if (sinks[i]->kind != SINK_STORE)
      continue;
    MlirValue to = operand(sinks[i]->op, 0);
    int argument = pointer_argument(e->c, to);
    if ((from < 0 || argument < 0 || from == argument) &&
        !(mlirValueEqual(to, operand(load, 0)) && has_shape(sinks[i], operand(load, 0))))
      return true;
  }
  return false;
}

// A value of another shape than the loop's would be evaluated again and again, or later.
static bool needs_own_loop(struct strip_emitter *e, const struct sink *s, MlirValue v, bool writing,
                           const struct map *kept) {
  uint64_t size = (uint64_t)tensor_numel(mlirValueGetType(v));
  if (has_shape(s, v) || size == 1)
    return false;
  if (cost_of(e, v) > WORTH_KEEPING &&
      (2 * size <= size_of(s) || is_needed_later(e, v, kept, NULL)))
    return true;
  return writing && reads_memory(e, v) && is_needed_later(e, v, kept, NULL);
}

static void prepare(struct strip_emitter *e, struct sink *const *sinks, size_t count,
                    const struct map *kept) {
  bool writing = writes(sinks, count);
  struct roots r = roots_of(e, sinks, count);
  struct deferred l = deferred_of(e, r.at.at, r.at.len);
  for (size_t i = 0; i < l.at.len; i++) {
    MlirValue v = l.at.at[i];
    MlirOperation op = deferred_op(e, v);
    if (mlirOperationIsNull(op) || ptrmap_get(kept, v.ptr)) // known by now
      continue;
    bool is_load = op_is(e->c, op, OP_TILE_LOAD);
    if ((is_load && writing && is_overwritten(e, op, sinks, count)) ||
        needs_own_loop(e, sinks[0], v, writing, kept))
      in_buffer(e, v);
  }
}

static void finish_loads_except(struct strip_emitter *e, const struct deferred *evaluated) {
  struct map none = {0};
  for (size_t i = 0; i < e->loads.len; i++) {
    MlirValue v = e->loads.at[i];
    bool is_evaluated = false;
    for (size_t k = 0; evaluated && k < evaluated->at.len; k++)
      is_evaluated |= mlirValueEqual(evaluated->at.at[k], v);
    if (!is_evaluated && !known_value(e, v) && is_needed_later(e, v, &none, NULL))
      in_buffer(e, v);
  }
}

void finish_loads(struct strip_emitter *e) {
  flush(e);
  finish_loads_except(e, NULL);
}

// ---- a group ----

static struct kept_value *choose_kept(struct strip_emitter *e, struct sink *const *sinks,
                                      size_t count, struct map *kept, size_t *ret_count) {
  bool writing = writes(sinks, count);
  struct roots r = roots_of(e, sinks, count);
  struct deferred l = deferred_of(e, r.at.at, r.at.len);
  struct kept_value *all = arena_array(e->arena, struct kept_value, l.at.len + 1);
  struct map seen = {0};
  size_t n = 0;
  for (size_t i = 0; i < l.at.len; i++) {
    MlirValue v = l.at.at[i];
    if (ptrmap_get(kept, v.ptr) || !has_shape(sinks[0], v) || !is_needed_later(e, v, kept, &seen))
      continue;
    if (cost_of(e, v) <= WORTH_KEEPING && !(writing && reads_memory(e, v)))
      continue;
    ptrmap_put(e->arena, kept, v.ptr, kept);
    all[n++] = (struct kept_value){v, buffer_for(e, v)};
  }
  *ret_count = n;
  return all;
}

static void emit_group(struct strip_emitter *e, struct sink *const *sinks, size_t count) {
  struct map kept = {0};
  if (sinks[0]->kind != SINK_COPY)
    debug_info_at(e->debug, sinks[0]->op);
  for (size_t i = 0; i < count; i++) {
    if (sinks[i]->kind == SINK_COPY)
      ptrmap_put(e->arena, &kept, sinks[i]->value.ptr, &kept);
    else
      ptrmap_put(e->arena, &e->done, sinks[i]->op.ptr, e);
  }
  prepare(e, sinks, count, &kept);
  if (writes(sinks, count)) {
    struct roots r = roots_of(e, sinks, count);
    struct deferred l = deferred_of(e, r.at.at, r.at.len);
    finish_loads_except(e, &l);
  }
  size_t kept_count;
  struct kept_value *all = choose_kept(e, sinks, count, &kept, &kept_count);
  run_nest(e, sinks, count, all, kept_count);
  for (size_t i = 0; i < kept_count; i++)
    bind_buffer(e, all[i].value, all[i].to);
}

void copy_to(struct strip_emitter *e, MlirValue v, struct buffer *to, int lane) {
  flush(e);
  struct sink *s = copy_sink(e, v, to);
  s->lane = lane + 1;
  emit_group(e, &s, 1);
}

struct buffer *in_buffer(struct strip_emitter *e, MlirValue v) {
  struct value *known = known_value(e, v);
  if (!known && depends_on_open(e, v))
    flush(e);
  known = known_value(e, v);
  if (known && known->kind == VALUE_BUFFER)
    return known->buffer;
  struct buffer *to = buffer_for(e, v);
  size_t open = e->open.len;
  struct sink **sinks = e->open.at;
  memset(&e->open, 0, sizeof e->open); // they stay open
  copy_to(e, v, to, -1);
  if (!known)
    bind_buffer(e, v, to);
  for (size_t i = 0; i < open; i++)
    vec_push(e->arena, &e->open, sinks[i]);
  return to;
}

// ---- regions ----

struct captured {
  struct strip_emitter *e;
  MlirOperation op;
  VEC(MlirValue) at;
  struct map seen;
};

static bool is_inside(MlirOperation op, MlirOperation outer) {
  while (!mlirOperationIsNull(op) && !mlirOperationEqual(op, outer))
    op = mlirOperationGetParentOperation(op);
  return !mlirOperationIsNull(op);
}

static bool note_captured(MlirOperation op, void *user) {
  struct captured *c = user;
  if (mlirOperationEqual(op, c->op))
    return true;
  for (unsigned i = 0; i < (unsigned)mlirOperationGetNumOperands(op); i++) {
    MlirValue v = operand(op, i);
    MlirOperation deferred = deferred_op(c->e, v);
    if (mlirOperationIsNull(deferred) || is_inside(deferred, c->op) || ptrmap_get(&c->seen, v.ptr))
      continue;
    ptrmap_put(c->e->arena, &c->seen, v.ptr, c);
    vec_push(c->e->arena, &c->at, v);
  }
  return true;
}

void finish_captured(struct strip_emitter *e, MlirOperation op) {
  struct captured c = {.e = e, .op = op};
  ir_walk(op, note_captured, &c);
  for (size_t i = 0; i < c.at.len; i++)
    if (!known_value(e, c.at.at[i]) &&
        (cost_of(e, c.at.at[i]) > WORTH_KEEPING || reads_memory(e, c.at.at[i])))
      in_buffer(e, c.at.at[i]);
}
