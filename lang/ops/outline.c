// SPDX-License-Identifier: Apache-2.0
// Functions emitted as private func.func ops beside the kernel: those that reductions, scans and
// maps name by symbol, and those that are called without being inlined. The body is emitted by the
// usual inlining, into a block whose arguments are the run-time values; one function is shared by
// all uses with the same types and constants.
#include "lang/ops/ssa.h"

struct entry {
  struct outline key;
  struct outlined made;
  bool failed, is_open; // its body is being emitted
};

struct outline_cache {
  struct entry **at;
  size_t len, cap;
};

// ---- which function it is ----

// Whether two arguments give the same function: run-time values of one type, equal constants.
static bool alike(struct value a, struct value b) {
  if (a.kind != b.kind)
    return false;
  if (a.kind == VALUE_RT)
    return type_eq(a.type, b.type) && a.type.is_const == b.type.is_const;
  if (a.kind != VALUE_TUPLE)
    return const_equal(a, b);
  bool same = a.tuple.len == b.tuple.len && a.tuple.record == b.tuple.record;
  for (size_t i = 0; i < a.tuple.len && same; i++)
    same = alike(a.tuple.at[i], b.tuple.at[i]);
  return same;
}

static bool same_name(const struct outline *a, const struct outline *b, size_t i) {
  const char *x = a->names ? a->names[i] : NULL, *y = b->names ? b->names[i] : NULL;
  return x == y || (x && y && strcmp(x, y) == 0);
}

static bool same_key(const struct outline *a, const struct outline *b) {
  if (!alike(a->callee.v, b->callee.v) || a->count != b->count || a->is_pure != b->is_pure ||
      !a->results != !b->results || a->result_count != b->result_count)
    return false;
  for (size_t i = 0; i < a->count; i++)
    if (!same_name(a, b, i) || !alike(a->args[i].v, b->args[i].v))
      return false;
  for (size_t i = 0; a->results && i < a->result_count; i++)
    if (!type_eq(a->results[i], b->results[i]))
      return false;
  return true;
}

static struct entry *find_entry(struct eval *e, const struct outline *o) {
  for (size_t i = 0; e->outlined && i < e->outlined->len; i++)
    if (same_key(&e->outlined->at[i]->key, o))
      return e->outlined->at[i];
  return NULL;
}

static struct entry *new_entry(struct eval *e, const struct outline *o) {
  struct entry *n = arena_new(e->a, struct entry);
  n->key = *o;
  if (!e->outlined)
    e->outlined = arena_new(e->a, struct outline_cache);
  vec_push(e->a, e->outlined, n);
  return n;
}

// A symbol that is unique in the module: the name with a number.
static const char *new_symbol(struct eval *e, struct operand callee) {
  const char *name = callee.v.kind == VALUE_FUNC      ? callee.v.func->ast->name
                     : callee.v.kind == VALUE_BUILTIN ? callee.v.builtin->name
                                                      : "function";
  return arena_printf(e->a, "%s_%zu", name, e->outlined->len - 1);
}

static bool symbol_taken(struct eval *e, const char *symbol) {
  struct str kernel = op_attr_str(e->func, "sym_name");
  if (str_is(kernel, symbol))
    return true;
  for (size_t i = 0; i < e->outlined->len; i++)
    if (e->outlined->at[i]->made.symbol && strcmp(e->outlined->at[i]->made.symbol, symbol) == 0)
      return true;
  return false;
}

// ---- its results ----

static bool wrong_result(struct eval *e, const struct outline *o, struct value got) {
  struct value *want = arena_array(e->a, struct value, o->result_count);
  for (size_t i = 0; i < o->result_count; i++)
    want[i] = value_rt((MlirValue){NULL}, o->results[i]);
  struct value all = o->result_count == 1 ? want[0] : value_tuple(want, o->result_count);
  struct diag *d = eval_error(e, o->callee.at, E0513, "%s returns %s; %s is needed", o->what,
                              value_type_text(e, got), value_type_text(e, all));
  diag_help(d, "it combines two elements to one of the same type: convert by `.to(...)`");
  return false;
}

// The results converted to the required types, as a tuple.
static bool fit_results(struct eval *e, const struct outline *o, struct value *v) {
  struct value one[1] = {*v};
  struct tuple t = v->kind == VALUE_TUPLE ? v->tuple : (struct tuple){one, 1};
  if (t.len != o->result_count)
    return wrong_result(e, o, *v);
  struct value *fit = arena_array(e->a, struct value, t.len);
  for (size_t i = 0; i < t.len; i++) {
    struct operand x = {t.at[i], o->callee.at};
    bool adopts = ssa_literal_adopts(x.v, o->results[i]);
    fit[i] = adopts ? literal_as(e, x, o->results[i]) : x.v;
    if (fit[i].kind == VALUE_POISON)
      return false;
    if (fit[i].kind != VALUE_RT || !type_eq(fit[i].type, o->results[i]))
      return wrong_result(e, o, *v);
  }
  *v = value_tuple(fit, t.len);
  return true;
}

// ---- its body ----

struct purity {
  struct eval *e;
  const struct outline *o;
  bool ok;
};

static bool check_effect(MlirOperation op, void *user) {
  struct purity *p = user;
  unsigned flags = op_flags(p->e->c, op);
  if (!(flags & (OP_READ | OP_WRITE | OP_EFFECT)) || op_is(p->e->c, op, OP_TILE_ASSUME) ||
      op_is_pure(p->e->c, op))
    return true;
  struct span at = op_span(p->e->c, op);
  struct diag *d = eval_error(p->e, at.source ? at : p->o->at, E0514,
                              "%s may only compute: `%s` is not possible here", p->o->what,
                              op_info(op_id(p->e->c, op))->name);
  diag_label(d, p->o->callee.at, "used here");
  diag_help(d, "load before, and store the result");
  p->ok = false;
  return false;
}

static bool check_pure(struct eval *e, const struct outline *o, MlirBlock block) {
  struct purity p = {e, o, true};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op) && p.ok;
       op = mlirOperationGetNextInBlock(op))
    ir_walk(op, check_effect, &p);
  return p.ok;
}

static void make_func(struct eval *e, const struct outline *o, const struct outlined *made,
                      MlirBlock block, MlirLocation loc) {
  size_t n = (size_t)mlirBlockGetNumArguments(block);
  MlirType *inputs = arena_array(e->a, MlirType, n + 1);
  for (size_t i = 0; i < n; i++)
    inputs[i] = mlirValueGetType(mlirBlockGetArgument(block, (intptr_t)i));
  MlirType type = mlirFunctionTypeGet(e->c->mlir, (intptr_t)n, inputs, (intptr_t)made->leaves.len,
                                      ssa_types_of(e, &made->leaves));
  MlirNamedAttribute attrs[] = {
      named_attr(e->c, "sym_name", attr_str(e->c, made->symbol)),
      named_attr(e->c, "sym_visibility", attr_str(e->c, "private")),
      named_attr(e->c, "function_type", mlirTypeAttrGet(type)),
      named_attr(e->c, "tile.commutative", mlirUnitAttrGet(e->c->mlir)),
  };
  bool is_commutative = o->callee.v.kind == VALUE_FUNC && o->callee.v.func->ast->is_commutative;
  MlirRegion body = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(body, block);
  MlirOperationState s = mlirOperationStateGet(mlirStringRefCreateFromCString("func.func"), loc);
  mlirOperationStateAddAttributes(&s, (intptr_t)COUNT_OF(attrs) - !is_commutative, attrs);
  mlirOperationStateAddOwnedRegions(&s, 1, &body);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(e->ir), mlirOperationCreate(&s));
}

// The value with its run-time leaves replaced by parameters of the block.
static struct value parameter(struct eval *e, struct value v, MlirBlock block) {
  if (v.kind == VALUE_RT)
    v.rt = mlirBlockAddArgument(block, type_to_mlir(e->c, v.type), e->b.loc);
  if (v.kind == VALUE_TUPLE) {
    struct value *t = arena_array(e->a, struct value, v.tuple.len ? v.tuple.len : 1);
    for (size_t i = 0; i < v.tuple.len; i++)
      t[i] = parameter(e, v.tuple.at[i], block);
    v.tuple.at = t;
  }
  return v;
}

static bool emit_into(struct eval *e, const struct outline *o, struct outlined *made,
                      MlirBlock block) {
  struct operand *args = arena_array(e->a, struct operand, o->count + 1);
  for (size_t i = 0; i < o->count; i++)
    args[i] = (struct operand){parameter(e, o->args[i].v, block), o->args[i].at};
  ssa_enter(e, block);
  struct value r = eval_call_value(e, o->callee, args, o->names, o->count, o->at);
  if (ssa_has_poison(r) || (o->results && !fit_results(e, o, &r)))
    return false;
  r = o->results ? r : ssa_materialize(e, r, o->callee.at);
  made->result = r;
  ssa_flatten(e, r, &made->leaves);
  build_return(&e->b, made->leaves.len, made->leaves.at);
  return !o->is_pure || check_pure(e, o, block);
}

bool emit_outlined(struct eval *e, const struct outline *o, struct outlined *ret) {
  struct entry *known = find_entry(e, o);
  if (known && known->is_open) {
    struct diag *d = eval_error(e, o->at, E0307, "%s calls itself", o->what);
    diag_help(d, "a recursion must end by a condition known at compile time");
    return false;
  }
  if (!known) {
    known = new_entry(e, o);
    const char *symbol = new_symbol(e, o->callee);
    while (symbol_taken(e, symbol))
      symbol = arena_printf(e->a, "%s_", symbol);
    known->made.symbol = symbol;
    struct builder outer = e->b;
    struct span place = e->span;
    unsigned region = e->region;
    bool was_pure = e->is_pure;
    e->region = ++e->region_count;
    e->is_pure = was_pure || o->is_pure;
    MlirBlock block = mlirBlockCreate(0, NULL, NULL);
    known->is_open = true;
    known->failed = !emit_into(e, o, &known->made, block);
    known->is_open = false;
    if (known->failed)
      mlirBlockDestroy(block);
    else
      make_func(e, o, &known->made, block, outer.loc);
    e->is_pure = was_pure;
    e->region = region;
    e->b = outer;
    e->span = place;
  }
  *ret = known->made;
  return !known->failed;
}

// ---- calls that stay calls ----

static bool has_tile(struct value v) {
  for (size_t i = 0; v.kind == VALUE_TUPLE && i < v.tuple.len; i++)
    if (has_tile(v.tuple.at[i]))
      return true;
  return v.kind == VALUE_RT && v.type.rank;
}

struct value emit_noinline(struct eval *e, const struct function *f, const struct operand *args,
                           const char *const *names, size_t count, struct span at) {
  struct leaves values = {0};
  for (size_t i = 0; i < count; i++) {
    if (ssa_has_poison(args[i].v))
      return VALUE_ERROR;
    if (has_tile(args[i].v)) {
      struct diag *d =
          eval_error(e, args[i].at, E0313, "`%s` is not inlined and takes no tiles", f->ast->name);
      diag_primary_label(d, "%s", value_type_text(e, args[i].v));
      diag_label(d, f->ast->name_span, "declared `noinline=True`");
      diag_help(d, "pass pointers and numbers, and load inside of it; or leave out `noinline`");
      return VALUE_ERROR;
    }
    ssa_flatten(e, args[i].v, &values);
  }
  struct value callee = {.kind = VALUE_FUNC, .func = f};
  struct outline o = {.callee = {callee, at},
                      .args = args,
                      .names = names,
                      .count = count,
                      .what = arena_printf(e->a, "`%s`", f->ast->name),
                      .at = at};
  struct outlined made;
  if (!emit_outlined(e, &o, &made))
    return VALUE_ERROR;
  emit_at(e, at);
  size_t n = made.leaves.len, k = 0;
  MlirValue *results = arena_array(e->a, MlirValue, n + 1);
  build_call(&e->b, made.symbol, values.len, values.at, n, ssa_types_of(e, &made.leaves), results);
  return ssa_rebuild(e, made.result, results, &k);
}
