// SPDX-License-Identifier: Apache-2.0
// Loops at run time: counted loops become scf.for, loops with `break` and `while` become scf.while.
#include "lang/emit/control.h"

// ---- counted loops ----

struct counted {
  const struct stmt *s;
  struct value base, scale; // induction variable = base + k * scale, where scale is given
  bool scaled;
  struct type type; // of the variable in the language
  struct loop_flow flow;
  // with `break`:
  struct variable position;
  struct value upper, step;
};

static struct value arith(struct eval *e, enum op_id op, struct value a, struct value b) {
  return value_rt(build_binary(&e->b, op, a.rt, b.rt), a.type);
}

static struct value int_like(struct eval *e, struct value like, int64_t n) {
  return value_rt(build_const_int(&e->b, type_to_mlir(e->c, like.type), n), like.type);
}

// Positive for every launch: a constant, or a number of programs times a positive value.
static bool known_positive(struct eval *e, MlirValue v, unsigned depth) {
  int64_t n;
  if (value_const_int(e->c, v, &n))
    return n > 0;
  MlirOperation def = value_def(v);
  if (depth > 8 || mlirOperationIsNull(def))
    return false;
  enum op_id op = op_id(e->c, def);
  if (op == OP_TILE_NUM_PROGRAMS)
    return true;
  if (op == OP_ARITH_MULI || op == OP_ARITH_ADDI || op == OP_ARITH_MINSI)
    return known_positive(e, mlirOperationGetOperand(def, 0), depth + 1) &&
           known_positive(e, mlirOperationGetOperand(def, 1), depth + 1);
  if (op == OP_ARITH_MAXSI)
    return known_positive(e, mlirOperationGetOperand(def, 0), depth + 1) ||
           known_positive(e, mlirOperationGetOperand(def, 1), depth + 1);
  if (op == OP_ARITH_EXTSI)
    return known_positive(e, mlirOperationGetOperand(def, 0), depth + 1);
  return false;
}

static bool range_operand(struct eval *e, struct value v, const char *what, struct span at,
                          struct value *ret) {
  *ret = to_runtime(e, (struct operand){v, at}, arena_printf(e->a, "the %s of `range`", what));
  if (value_is_poison(*ret))
    return false;
  if (type_is_int(ret->type) && !ret->type.rank)
    return true;
  struct diag *d = eval_error(e, at, E0230, "the %s of `range` is %s, not an integer", what,
                              type_text(e->a, ret->type));
  if (help_true_division(e, d, *ret))
    return false;
  if (v.kind == VALUE_FLOAT)
    diag_help(d, "loop over integers, and multiply: `x = i * %g`", v.f);
  else
    diag_help(d, "it is one integer; convert by `.to(tl.int32)`");
  return false;
}

// The span of the start, end or step that the loop's `range(...)` gives; the whole call otherwise.
static struct span range_span(const struct stmt *s, unsigned which) {
  static const char *const names[][2] = {{"start", "arg1"}, {"end", "arg2"}, {"step", "step"}};
  const struct expr *x = s->for_stmt.iter;
  if (x->kind != EXPR_CALL)
    return x->span;
  size_t positional = 0;
  for (size_t i = 0; i < x->call.arg_count; i++) {
    const struct ast_arg *a = &x->call.args[i];
    if (a->name && (strcmp(a->name, names[which][0]) == 0 || strcmp(a->name, names[which][1]) == 0))
      return a->value->span;
    positional += !a->name;
  }
  size_t at = positional == 1 ? which - 1 : which; // `range(end)`
  return at < positional ? x->call.args[at].value->span : x->span;
}

// Converts start, end and step to one signless type of at least 32 bits; *ret_type is the
// variable's type.
static bool range_operands(struct eval *e, const struct range *r, const struct stmt *s,
                           struct value v[3], struct type *ret_type) {
  static const char *const names[] = {"start", "end", "step"};
  struct span at = s->for_stmt.iter->span;
  struct value given[3] = {*r->lower, *r->upper, *r->step};
  struct operand t = {value_of_kind(VALUE_ABSENT), at};
  for (int i = 0; i < 3; i++) {
    if (!range_operand(e, given[i], names[i], range_span(s, (unsigned)i), &v[i]))
      return false;
    struct operand x = {v[i], at};
    if (t.v.kind == VALUE_ABSENT)
      t = x;
    else if (!promote_elements(e, &t, &x, 0, "range", at))
      return false;
  }
  enum dtype dtype = t.v.type.dtype;
  if (dtype_bits(dtype) < 32)
    dtype = DTYPE_I32;
  *ret_type = type_scalar(dtype);
  enum dtype compute = dtype == DTYPE_U32 ? DTYPE_I64 : dtype; // scf.for compares signed
  for (int i = 0; i < 3; i++)
    v[i] = emit_cast(e, v[i], type_scalar(compute), NULL);
  return true;
}

// Rewrites a loop whose step may be negative as one that counts iterations.
static void count_iterations(struct eval *e, struct value v[3], const int64_t *step,
                             struct counted *c) {
  struct value zero = int_like(e, v[0], 0), one = int_like(e, v[0], 1);
  struct value distance, size;
  if (step) { // negative
    distance = arith(e, OP_ARITH_SUBI, v[0], v[1]);
    size = int_like(e, v[0], -*step);
  } else {
    MlirValue up = build_cmpi(&e->b, 4, v[2].rt, zero.rt);
    struct value there = arith(e, OP_ARITH_SUBI, v[1], v[0]);
    struct value back = arith(e, OP_ARITH_SUBI, v[0], v[1]);
    struct value minus = arith(e, OP_ARITH_SUBI, zero, v[2]);
    distance = value_rt(build_select(&e->b, up, there.rt, back.rt), there.type);
    size = value_rt(build_select(&e->b, up, v[2].rt, minus.rt), there.type);
    size = arith(e, OP_ARITH_MAXSI, size, one); // a step of 0 must not divide
  }
  struct value rounded = arith(e, OP_ARITH_ADDI, distance, arith(e, OP_ARITH_SUBI, size, one));
  c->scaled = true;
  c->base = v[0];
  c->scale = v[2];
  v[1] = arith(e, OP_ARITH_DIVSI, rounded, size);
  v[0] = zero;
  v[2] = one;
}

static void counted_iteration(struct eval *e, struct counted *c, struct value k) {
  emit_at(e, c->s->span);
  if (c->scaled)
    k = arith(e, OP_ARITH_ADDI, c->base, arith(e, OP_ARITH_MULI, k, c->scale));
  k = emit_cast(e, k, c->type, NULL);
  eval_assign(e, c->s->for_stmt.target, k);
  c->flow.skip.value = value_bool(false);
  struct seq end = {.kind = SEQ_END_ITERATION};
  struct seq body = {.list = &c->s->for_stmt.body, .next = &end};
  eval_seq(e, &body);
}

static void for_body(struct eval *e, struct value induction, void *user) {
  counted_iteration(e, user, induction);
}

static struct value counted_condition(struct eval *e, void *user) {
  struct counted *c = user;
  struct value i1 = {.kind = VALUE_RT, .type = type_scalar(DTYPE_I1)};
  i1.rt = build_cmpi(&e->b, 2, c->position.value.rt, c->upper.rt);
  struct operand stop = {c->flow.stop.value, c->s->span};
  struct operand more = {i1, c->s->span}, go = {emit_unary(e, OP_NOT, stop, c->s->span), stop.at};
  return emit_logic(e, OP_AND, more, go, c->s->span);
}

static void counted_body(struct eval *e, void *user) {
  struct counted *c = user;
  counted_iteration(e, c, c->position.value);
  emit_at(e, c->s->span);
  if (c->position.value.kind == VALUE_RT)
    c->position.value = arith(e, OP_ARITH_ADDI, c->position.value, c->step);
}

static void attach_options(struct eval *e, MlirOperation loop, const struct loop_options *o) {
  static const char *const names[LOOP_OPTION_COUNT] = {
      [LOOP_NUM_STAGES] = "tile.num_stages",
      [LOOP_UNROLL_FACTOR] = "tile.loop_unroll_factor",
      [LOOP_DISALLOW_ACC_MULTI_BUFFER] = "tile.disallow_acc_multi_buffer",
      [LOOP_FLATTEN] = "tile.flatten",
      [LOOP_WARP_SPECIALIZE] = "tile.warp_specialize",
      [LOOP_DISABLE_LICM] = "tile.disable_licm"};
  for (int i = 0; o && i < LOOP_OPTION_COUNT; i++) {
    if (o->at[i] < 0)
      continue;
    bool is_number = i == LOOP_NUM_STAGES || i == LOOP_UNROLL_FACTOR;
    MlirAttribute a = is_number ? attr_i32(e->c, o->at[i]) : attr_bool(e->c, o->at[i] != 0);
    mlirOperationSetAttributeByName(loop, mlirStringRefCreateFromCString(names[i]), a);
  }
}

void emit_loop(struct eval *e, const struct stmt *s, const struct range *r) {
  struct span at = s->for_stmt.iter->span;
  emit_at(e, at);
  struct counted c = {.s = s};
  struct value v[3];
  struct name_list names = {0};
  names_of_loop(e, s, &names);
  struct variable_list changed = scope_collect(e, &names);
  if (!range_operands(e, r, s, v, &c.type)) {
    for (size_t i = 0; i < changed.len; i++) // their values are not known after the error
      changed.at[i]->value = VALUE_ERROR;
    return;
  }
  int64_t step;
  bool is_const = value_const_int(e->c, v[2].rt, &step);
  if (is_const && step == 0) {
    diag_help(eval_error(e, at, E0308, "the step of the range is 0"),
              "a loop that counts has a step of 1 or more, or of -1 or less");
    return;
  }
  if (!known_positive(e, v[2].rt, 0))
    count_iterations(e, v, is_const ? &step : NULL, &c);
  emit_at(e, s->span);
  flow_enter(e, &c.flow, s, false);
  if (list_may_break(&s->for_stmt.body)) {
    c.position = (struct variable){.name = "position", .value = v[0], .span = s->span};
    c.upper = v[1], c.step = v[2];
    vec_push(e->a, &changed, &c.position);
    vec_push(e->a, &changed, &c.flow.stop);
    struct ssa_while w = {counted_condition, counted_body, &c};
    ssa_while_loop(e, &w, &changed);
  } else {
    struct ssa_for f = {v[0], v[1], v[2], for_body, &c};
    attach_options(e, ssa_for_loop(e, &f, &changed), r->options);
  }
  flow_leave(e, &c.flow);
}

// ---- while ----

struct general {
  const struct stmt *s;
  struct loop_flow flow;
  struct variable go; // the condition, where `break` guards it
  bool breaks;
};

static struct value truth_of(struct eval *e, const struct stmt *s) {
  return eval_condition(e, s->while_stmt.condition, s, "`while`");
}

static void guarded_condition(struct eval *e, void *user) {
  struct general *g = user;
  g->go.value = truth_of(e, g->s);
}

static struct value as_i1(struct eval *e, struct value v, struct span at) {
  return value_is_number(v) ? literal_as(e, (struct operand){v, at}, type_scalar(DTYPE_I1)) : v;
}

static struct value general_condition(struct eval *e, void *user) {
  struct general *g = user;
  struct span at = g->s->while_stmt.condition->span;
  bool forever =
      g->s->while_stmt.condition->kind == EXPR_BOOL && g->s->while_stmt.condition->boolean;
  if (!g->breaks)
    return as_i1(e, truth_of(e, g->s), at);
  struct operand stop = {g->flow.stop.value, g->s->span};
  struct value go = emit_unary(e, OP_NOT, stop, g->s->span);
  if (forever)
    return as_i1(e, go, at);
  // After a `break` the condition is not evaluated again, since it may load.
  struct name_list names = {0};
  names_of_expr(e, g->s->while_stmt.condition, &names);
  struct variable_list changed = scope_collect(e, &names);
  g->go = (struct variable){.name = "condition", .value = value_bool(false), .span = at};
  vec_push(e->a, &changed, &g->go);
  ssa_if(e, go, &changed, guarded_condition, NULL, g);
  return as_i1(e, g->go.value, at);
}

static void general_body(struct eval *e, void *user) {
  struct general *g = user;
  g->flow.skip.value = value_bool(false);
  struct seq end = {.kind = SEQ_END_ITERATION};
  struct seq body = {.list = &g->s->while_stmt.body, .next = &end};
  eval_seq(e, &body);
}

void emit_while(struct eval *e, const struct stmt *s) {
  emit_at(e, s->span);
  struct name_list names = {0};
  names_of_loop(e, s, &names);
  struct variable_list changed = scope_collect(e, &names);
  struct general g = {.s = s, .breaks = list_may_break(&s->while_stmt.body)};
  flow_enter(e, &g.flow, s, false);
  if (g.breaks)
    vec_push(e->a, &changed, &g.flow.stop);
  struct ssa_while w = {general_condition, general_body, &g};
  ssa_while_loop(e, &w, &changed);
  flow_leave(e, &g.flow);
}
