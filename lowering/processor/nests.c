// SPDX-License-Identifier: Apache-2.0
// The loop nest of a group: the other dimensions outside, strips of the lane dimension inside.
//
//   reduction along the lanes           for rows { for strips { acc = f(acc, x) } ; f over lanes }
//   reduction along another dimension   for strips { for that dimension { acc = f(acc, x) } }
//
// The innermost loop evaluates a few strips at a time, each with accumulators of its own:
// neighbours, or, of a reduction along the lanes, those of several rows, which share what does not
// depend on the row and read several places of memory at once.
#include "lowering/analysis/axis_info.h"
#include "lowering/processor/strips.h"

enum { MAX_STRIPS = 4, MAX_SINKS = 8, MAX_ACCUMULATORS = 32 };

struct nest {
  struct sink *const *sinks;
  size_t count;
  const struct kept_value *kept;
  size_t kept_count;
  unsigned rank;
  const int64_t *shape;
  int lane, axis;         // axis: of the reductions; -1: none
  unsigned lanes, unroll; // strips at a time
  int across;             // the dimension in which these follow each other
  struct position at;     // of the outer loops
  struct reduction reductions[MAX_SINKS];
  struct buffer *results[MAX_SINKS][MAX_VALUES]; // NULL: one element, a scalar
};

// ---- choosing ----

static void vote(struct strip_emitter *e, const struct nest *n, MlirValue ptr, unsigned weight,
                 unsigned *votes) {
  MlirType t = mlirValueGetType(ptr);
  if (rank_of(ptr) != n->rank)
    return;
  for (unsigned d = 0; d < n->rank; d++)
    if (tensor_dim(t, d) != n->shape[d])
      return;
  unsigned d = axis_fastest_dim(e->axis, ptr);
  if (axis_contiguity(e->axis, ptr, d) > 1)
    votes[d] += weight;
}

// Loads of the loop's shape, if they are not transposed.
static void vote_loads(struct strip_emitter *e, const struct nest *n, MlirValue root,
                       unsigned *votes) {
  struct deferred l = deferred_of(e, &root, 1);
  for (size_t i = 0; i < l.at.len; i++)
    if (op_is(e->c, deferred_op(e, l.at.at[i]), OP_TILE_TRANS))
      return;
  for (size_t i = 0; i < l.at.len; i++) {
    MlirOperation op = deferred_op(e, l.at.at[i]);
    if (op_is(e->c, op, OP_TILE_LOAD))
      vote(e, n, operand(op, 0), 2, votes);
  }
}

static bool has_kind(const struct nest *n, enum sink_kind kind) {
  for (size_t i = 0; i < n->count; i++)
    if (n->sinks[i]->kind == kind)
      return true;
  return false;
}

static bool is_ordered(const struct nest *n) {
  for (size_t i = 0; i < n->count; i++)
    if (n->sinks[i]->kind == SINK_REDUCE && !n->reductions[i].commutative)
      return true;
  return false;
}

static void choose_lane(struct strip_emitter *e, struct nest *n) {
  unsigned votes[MAX_RANK] = {0};
  for (size_t i = 0; i < n->count; i++) {
    const struct sink *s = n->sinks[i];
    if (s->kind == SINK_STORE)
      vote(e, n, operand(s->op, 0), 3, votes);
    unsigned values = s->kind == SINK_REDUCE ? n->reductions[i].count : 1;
    for (unsigned k = 0; k < values; k++)
      vote_loads(e, n,
                 s->kind == SINK_COPY    ? s->value
                 : s->kind == SINK_STORE ? operand(s->op, 1)
                                         : operand(s->op, k),
                 votes);
  }
  if (n->rank > 0) // buffers are row-major
    votes[n->rank - 1]++;
  n->lane = -1;
  for (unsigned d = n->rank; d-- > 0;)
    if (n->shape[d] > 1 && !(is_ordered(n) && (int)d == n->axis) &&
        (n->lane < 0 || votes[d] > votes[n->lane]))
      n->lane = (int)d;
  if (n->sinks[0]->lane && n->shape[n->sinks[0]->lane - 1] > 1) {
    n->lane = n->sinks[0]->lane - 1;
    n->lanes = n->shape[n->lane] < STRIP ? (unsigned)n->shape[n->lane] : STRIP;
    return;
  }
  // Short rows that are only reduced: rows in lanes.
  if (n->lane >= 0 && n->shape[n->lane] < STRIP / 2 && !has_kind(n, SINK_STORE))
    for (unsigned d = 0; d < n->rank; d++)
      if (n->shape[d] >= STRIP && !(is_ordered(n) && (int)d == n->axis))
        n->lane = (int)d;
  n->lanes = n->lane < 0 ? 1 : n->shape[n->lane] < STRIP ? (unsigned)n->shape[n->lane] : STRIP;
}

static void choose_unrolling(struct strip_emitter *e, struct nest *n) {
  unsigned cost = 0, values = 0;
  for (size_t i = 0; i < n->count; i++) {
    const struct sink *s = n->sinks[i];
    cost += cost_of(e, s->kind == SINK_COPY    ? s->value
                       : s->kind == SINK_STORE ? operand(s->op, 1)
                                               : operand(s->op, 0));
    values += s->kind == SINK_REDUCE ? n->reductions[i].count : 0;
  }
  int64_t strips = n->lane < 0 ? 1 : n->shape[n->lane] / (int64_t)n->lanes;
  n->across = n->lane;
  for (unsigned d = 0; d < n->rank && n->axis >= 0 && n->axis == n->lane; d++)
    if ((int)d != n->lane && n->shape[d] > 1 && !has_kind(n, SINK_STORE)) {
      n->across = (int)d;
      strips = n->shape[d];
    }
  unsigned most = cost > 60 ? 1 : cost > 25 || !values ? 2 : MAX_STRIPS;
  while (most > 1 && (strips % most || most * values > MAX_ACCUMULATORS / 2))
    most /= 2;
  n->unroll = most;
}

// ---- the innermost body ----

static struct position strip_position(struct strip_emitter *e, const struct nest *n, unsigned u) {
  struct position p = n->at;
  p.lane = n->lane;
  p.lanes = n->lanes;
  if (n->across >= 0)
    p.at[n->across] =
        index_plus(e, p.at[n->across], (int64_t)u * (n->across == n->lane ? n->lanes : 1));
  return p;
}

LLVMValueRef copied_value(struct strip_emitter *e, MlirValue v, const struct buffer *to,
                          LLVMValueRef x) {
  enum dtype t = dtype_of(v);
  if (!to->widened)
    return to_storage(e, x);
  return dtype_is_float(t) ? float_to_f32(e, x, t) : LLVMBuildSExt(e->b, x, like(x, to->type), "");
}

// All values are evaluated before any is stored.
static void emit_strip(struct strip_emitter *e, const struct nest *n, const struct position *p) {
  LLVMValueRef values[MAX_SINKS] = {NULL};
  for (size_t i = 0; i < n->count; i++) {
    const struct sink *s = n->sinks[i];
    if (s->kind == SINK_REDUCE)
      continue;
    values[i] = evaluate(e, s->kind == SINK_COPY ? s->value : operand(s->op, 1), p);
    MlirValue mask = s->kind == SINK_STORE ? store_mask(s->op) : (MlirValue){NULL};
    if (!mlirValueIsNull(mask))
      evaluate(e, mask, p);
  }
  for (size_t i = 0; i < n->kept_count; i++)
    scratch_store(e, n->kept[i].to, p, to_storage(e, evaluate(e, n->kept[i].value, p)));
  for (size_t i = 0; i < n->count; i++) {
    const struct sink *s = n->sinks[i];
    if (s->kind == SINK_STORE) {
      debug_info_at(e->debug, s->op);
      store_at(e, s->op, p, values[i]);
    } else if (s->kind == SINK_COPY)
      scratch_store(e, s->to, p, copied_value(e, s->value, s->to, values[i]));
  }
}

// ---- reductions ----

struct accumulators {
  LLVMValueRef at[MAX_STRIPS][MAX_ACCUMULATORS]; // by strip; those of all reductions in a row
};

static unsigned accumulator_count(const struct nest *n) {
  unsigned count = 0;
  for (size_t i = 0; i < n->count; i++)
    count += n->sinks[i]->kind == SINK_REDUCE ? n->reductions[i].count : 0;
  return count;
}

static bool start_neutral(struct strip_emitter *e, const struct nest *n, struct accumulators *a) {
  unsigned k = 0;
  for (size_t i = 0; i < n->count; i++)
    for (unsigned v = 0; n->sinks[i]->kind == SINK_REDUCE && v < n->reductions[i].count; v++, k++)
      for (unsigned u = 0; u < n->unroll; u++) {
        a->at[u][k] = neutral_element(e, &n->reductions[i], v, n->lanes);
        if (!a->at[u][k])
          return false;
      }
  return true;
}

// One step: what is at the position is combined with the accumulators, or starts them.
static void accumulate(struct strip_emitter *e, const struct nest *n, bool is_first,
                       struct accumulators *a) {
  for (unsigned u = 0; u < n->unroll; u++) {
    struct position p = strip_position(e, n, u);
    unsigned k = 0;
    for (size_t i = 0; i < n->count; i++) {
      const struct reduction *r = &n->reductions[i];
      LLVMValueRef x[MAX_VALUES];
      if (n->sinks[i]->kind != SINK_REDUCE)
        continue;
      for (unsigned v = 0; v < r->count; v++)
        x[v] = repeat(e, evaluate(e, operand(r->op, v), &p), n->lanes);
      if (is_first)
        memcpy(&a->at[u][k], x, r->count * sizeof *x);
      else
        combine(e, r, &a->at[u][k], x, &a->at[u][k]);
      k += r->count;
    }
    emit_strip(e, n, &p);
  }
}

// The loop along which values are accumulated: strips of lanes, or the reduced dimension.
static void accumulate_all(struct strip_emitter *e, struct nest *n, unsigned dim,
                           struct accumulators *a) {
  int64_t step = n->lane == (int)dim ? n->lanes : 1, from = 0;
  step *= n->lane == (int)dim && n->across == n->lane ? n->unroll : 1;
  unsigned values = accumulator_count(n);
  if (!start_neutral(e, n, a)) {
    n->at.at[dim] = index_constant(e, 0);
    accumulate(e, n, true, a);
    from = step;
  }
  if (n->shape[dim] == from)
    return;
  struct loop l = loop_begin(e, from, n->shape[dim] - from, step);
  n->at.at[dim] = l.index;
  for (unsigned u = 0; u < n->unroll; u++)
    for (unsigned k = 0; k < values; k++)
      a->at[u][k] = loop_carry(e, &l, a->at[u][k]);
  accumulate(e, n, false, a);
  for (unsigned u = 0; u < n->unroll; u++)
    for (unsigned k = 0; k < values; k++)
      loop_next(&l, u * values + k, a->at[u][k]);
  loop_end(e, &l);
  n->at.at[dim] = index_constant(e, 0);
}

static struct position without_axis(const struct nest *n, const struct position *p) {
  struct position q = {.lane = p->lane, .lanes = p->lanes};
  for (unsigned d = 0; d < n->rank; d++)
    if ((int)d != n->axis)
      q.at[q.rank++] = p->at[d];
  if (q.lane > n->axis)
    q.lane--;
  return q;
}

static void keep_results(struct strip_emitter *e, const struct nest *n, size_t i,
                         const struct position *p, const LLVMValueRef *x) {
  for (unsigned v = 0; v < n->reductions[i].count; v++) {
    MlirValue out = result(n->sinks[i]->op, v);
    if (n->results[i][v])
      scratch_store(e, n->results[i][v], p, to_storage(e, x[v]));
    else
      bind_scalar(e, out, x[v]);
  }
}

// A reduction along the lanes: those of each row, or of all strips together.
static void finish_lanes(struct strip_emitter *e, const struct nest *n, size_t i, unsigned k,
                         struct accumulators *a) {
  const struct reduction *r = &n->reductions[i];
  unsigned rows = n->across == n->lane ? 1 : n->unroll;
  for (unsigned half = n->unroll / 2; half && rows == 1; half /= 2)
    for (unsigned u = 0; u < half; u++)
      combine(e, r, &a->at[u][k], &a->at[u + half][k], &a->at[u][k]);
  for (unsigned u = 0; u < rows; u++) {
    LLVMValueRef x[MAX_VALUES];
    struct position p = rows > 1 ? strip_position(e, n, u) : n->at;
    p.lane = -1;
    p.lanes = 1;
    combine_lanes(e, r, &a->at[u][k], x);
    struct position q = without_axis(n, &p);
    keep_results(e, n, i, &q, x);
  }
}

static void finish_reductions(struct strip_emitter *e, const struct nest *n,
                              struct accumulators *a) {
  unsigned k = 0;
  for (size_t i = 0; i < n->count; i++) {
    const struct reduction *r = &n->reductions[i];
    if (n->sinks[i]->kind != SINK_REDUCE)
      continue;
    if (n->lane != n->axis) {
      for (unsigned u = 0; u < n->unroll; u++) {
        struct position p = strip_position(e, n, u), q = without_axis(n, &p);
        keep_results(e, n, i, &q, &a->at[u][k]);
      }
    } else {
      finish_lanes(e, n, i, k, a);
    }
    k += r->count;
  }
}

// ---- the nest ----

static void emit_inner(struct strip_emitter *e, struct nest *n) {
  struct accumulators a;
  int64_t step = (int64_t)(n->lanes * n->unroll);
  if (n->axis >= 0 && n->axis == n->lane) {
    accumulate_all(e, n, (unsigned)n->axis, &a);
    finish_reductions(e, n, &a);
    return;
  }
  struct loop l = {0};
  if (n->lane >= 0) {
    l = loop_begin(e, 0, n->shape[n->lane], step);
    n->at.at[n->lane] = l.index;
  }
  if (n->axis >= 0) {
    accumulate_all(e, n, (unsigned)n->axis, &a);
    finish_reductions(e, n, &a);
  } else {
    for (unsigned u = 0; u < n->unroll; u++) {
      struct position p = strip_position(e, n, u);
      emit_strip(e, n, &p);
    }
  }
  if (n->lane >= 0)
    loop_end(e, &l);
}

static void emit_dims(struct strip_emitter *e, struct nest *n, unsigned dim) {
  while (dim < n->rank && ((int)dim == n->lane || (int)dim == n->axis || n->shape[dim] == 1))
    dim++;
  if (dim == n->rank) {
    emit_inner(e, n);
    return;
  }
  struct loop l = loop_begin(e, 0, n->shape[dim], (int)dim == n->across ? n->unroll : 1);
  n->at.at[dim] = l.index;
  emit_dims(e, n, dim + 1);
  loop_end(e, &l);
}

static void prepare_reductions(struct strip_emitter *e, struct nest *n) {
  for (size_t i = 0; i < n->count; i++) {
    if (n->sinks[i]->kind != SINK_REDUCE)
      continue;
    MlirOperation op = n->sinks[i]->op;
    n->axis = n->sinks[i]->axis;
    if (!reduction_of(e, op, &n->reductions[i]))
      return;
    for (unsigned v = 0; v < n->reductions[i].count; v++) {
      MlirType t = mlirValueGetType(result(op, v));
      if (tensor_numel(t) > 1)
        n->results[i][v] = buffer_for(e, result(op, v));
    }
  }
}

void run_nest(struct strip_emitter *e, struct sink *const *sinks, size_t count,
              const struct kept_value *kept, size_t kept_count) {
  struct nest *n = arena_new(e->arena, struct nest);
  *n = (struct nest){.sinks = sinks,
                     .count = count,
                     .kept = kept,
                     .kept_count = kept_count,
                     .rank = sinks[0]->rank,
                     .shape = sinks[0]->shape,
                     .axis = -1};
  prepare_reductions(e, n);
  if (e->refusal.why)
    return;
  choose_lane(e, n);
  choose_unrolling(e, n);
  n->at = (struct position){.rank = n->rank, .lane = -1, .lanes = 1};
  for (unsigned d = 0; d < n->rank; d++)
    n->at.at[d] = index_constant(e, 0);
  levels_begin(e);
  emit_dims(e, n, 0);
  levels_end(e);
  for (size_t i = 0; i < count; i++)
    for (unsigned v = 0; sinks[i]->kind == SINK_REDUCE && v < n->reductions[i].count; v++)
      if (n->results[i][v])
        bind_buffer(e, result(sinks[i]->op, v), n->results[i][v]);
}
