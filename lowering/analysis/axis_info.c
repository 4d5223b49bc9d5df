// SPDX-License-Identifier: Apache-2.0
// The driver of the axis analysis: one walk over the structured IR. Loops are walked until the
// carried values reach a fixpoint: numbers only fall, and after OPTIMISTIC_ROUNDS each round sets
// at least one carried value to unknown for good, so there are at most OPTIMISTIC_ROUNDS + 1 rounds
// and one per carried value. Hints and assumptions are added to the rules.
#include "lowering/analysis/axis_info.h"

#include "base/vec.h"
#include "lowering/analysis/axis_rules.h"

enum { MAX_OPERANDS = 64, OPTIMISTIC_ROUNDS = 4 };

struct assumption {
  int64_t divisibility;
  bool is_nonnegative;
};

struct axis_analysis {
  struct ir_context *c;
  struct arena *arena;
  struct map values;      // MlirValue.ptr -> struct axis_info *
  struct map assumptions; // MlirValue.ptr -> struct assumption *
  size_t budget;          // visits left before loops are no longer walked twice
};

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

// ---- the table ----

static const struct axis_info *get(struct axis_analysis *x, MlirValue v) {
  const struct axis_info *info = ptrmap_get(&x->values, v.ptr);
  if (info)
    return info;
  struct axis_info *unknown = arena_new(x->arena, struct axis_info);
  *unknown = axis_unknown(mlirValueGetType(v));
  ptrmap_put(x->arena, &x->values, v.ptr, unknown);
  return unknown;
}

static void set(struct axis_analysis *x, MlirValue v, struct axis_info info) {
  const struct assumption *s = ptrmap_get(&x->assumptions, v.ptr);
  if (s && !info.is_constant) {
    info.divisibility[0] = max64(info.divisibility[0], s->divisibility);
    info.is_nonnegative |= s->is_nonnegative;
  }
  struct axis_info *slot = ptrmap_get(&x->values, v.ptr);
  if (!slot) {
    slot = arena_new(x->arena, struct axis_info);
    ptrmap_put(x->arena, &x->values, v.ptr, slot);
  }
  *slot = info;
}

// ---- hints ----

// One number for each dimension; a scalar attribute or a short array counts for the leading ones.
static size_t hint_values(MlirAttribute a, int32_t *ret) {
  if (mlirAttributeIsNull(a))
    return 0;
  if (mlirAttributeIsAInteger(a)) {
    ret[0] = (int32_t)mlirIntegerAttrGetValueInt(a);
    return 1;
  }
  if (!mlirAttributeIsADenseI32Array(a))
    return 0;
  intptr_t n = mlirDenseArrayGetNumElements(a);
  size_t count = n > LL_MAX_OUT ? LL_MAX_OUT : (size_t)n;
  for (size_t i = 0; i < count; i++)
    ret[i] = mlirDenseI32ArrayGetElement(a, (intptr_t)i);
  return count;
}

// The larger of a hint and of what the rules found counts.
static void apply_hint(int64_t *entries, unsigned rank, MlirAttribute a, const int64_t *limits) {
  int32_t values[LL_MAX_OUT];
  size_t n = hint_values(a, values);
  for (size_t d = 0; d < n && d < rank; d++) {
    if (values[d] <= 0)
      continue;
    int64_t v = axis_power_of_two(values[d]);
    entries[d] = max64(entries[d], limits ? min64(v, limits[d]) : v);
  }
}

static void apply_op_hints(MlirOperation op, MlirType type, struct axis_info *info) {
  int64_t limits[LL_MAX_OUT];
  for (unsigned d = 0; d < info->rank; d++)
    limits[d] = type_is_tensor(type) ? axis_power_of_two(tensor_dim(type, d)) : 1;
  apply_hint(info->divisibility, info->rank, op_attr(op, "tile.divisibility"), NULL);
  apply_hint(info->contiguity, info->rank, op_attr(op, "tile.contiguity"), limits);
  apply_hint(info->constancy, info->rank, op_attr(op, "tile.constancy"), limits);
}

// assume(n % 16 == 0) and assume(n > 0) hold for n where n is defined in the same block: the
// assumption is reached whenever n is computed.
static bool collect_assumption(MlirOperation op, void *user) {
  struct axis_analysis *x = user;
  struct ir_context *c = x->c;
  x->budget++;
  if (!op_is(c, op, OP_TILE_ASSUME))
    return true;
  MlirOperation cmp = value_def(mlirOperationGetOperand(op, 0));
  int64_t right, divisor;
  if (mlirOperationIsNull(cmp) || !op_is(c, cmp, OP_ARITH_CMPI) ||
      !value_const_int(c, mlirOperationGetOperand(cmp, 1), &right))
    return true;
  struct assumption found = {.divisibility = 1};
  MlirValue about = mlirOperationGetOperand(cmp, 0);
  int64_t predicate = op_attr_int(cmp, "predicate", -1);
  if (predicate == 0 && right == 0) { // eq
    MlirOperation rem = value_def(about);
    if (mlirOperationIsNull(rem) ||
        !(op_is(c, rem, OP_ARITH_REMSI) || op_is(c, rem, OP_ARITH_REMUI)) ||
        !value_const_int(c, mlirOperationGetOperand(rem, 1), &divisor) || divisor == 0)
      return true;
    about = mlirOperationGetOperand(rem, 0);
    found.divisibility = axis_power_of_two(divisor);
  } else if ((predicate == 4 && right >= -1) || (predicate == 5 && right >= 0)) { // sgt, sge
    found.is_nonnegative = true;
  } else {
    return true;
  }
  MlirBlock block = mlirValueIsABlockArgument(about)
                        ? mlirBlockArgumentGetOwner(about)
                        : mlirOperationGetBlock(mlirOpResultGetOwner(about));
  if (type_is_tensor(mlirValueGetType(about)) || !mlirBlockEqual(block, mlirOperationGetBlock(op)))
    return true;
  struct assumption *slot = ptrmap_get(&x->assumptions, about.ptr);
  if (!slot) {
    slot = arena_new(x->arena, struct assumption);
    slot->divisibility = 1;
    ptrmap_put(x->arena, &x->assumptions, about.ptr, slot);
  }
  slot->divisibility = max64(slot->divisibility, found.divisibility);
  slot->is_nonnegative |= found.is_nonnegative;
  return true;
}

// ---- the walk ----

static void visit_block(struct axis_analysis *x, MlirBlock block);

static MlirBlock region_block(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

// Joins `from` into *to, or sets it to unknown after OPTIMISTIC_ROUNDS. True when it changed.
static bool flow(struct axis_analysis *x, MlirValue to, MlirValue from, bool give_up) {
  MlirType type = mlirValueGetType(to);
  const struct axis_info *old = get(x, to);
  struct axis_info joined = give_up ? axis_unknown(type) : axis_join(x->c, type, old, get(x, from));
  if (axis_equal(old, &joined))
    return false;
  // Written directly: with an assumption about `to` there would be no fixpoint.
  *(struct axis_info *)ptrmap_get(&x->values, to.ptr) = joined;
  return true;
}

static bool gives_up(const struct axis_analysis *x, unsigned round) {
  return round >= OPTIMISTIC_ROUNDS || x->budget == 0;
}

static void visit_for(struct axis_analysis *x, MlirOperation op) {
  MlirBlock body = region_block(op, 0);
  const struct axis_info *lower = get(x, mlirOperationGetOperand(op, 0));
  const struct axis_info *step = get(x, mlirOperationGetOperand(op, 2));
  MlirValue iv = mlirBlockGetArgument(body, 0);
  struct axis_info info = axis_unknown(mlirValueGetType(iv));
  info.divisibility[0] = min64(lower->divisibility[0], step->divisibility[0]);
  info.is_nonnegative = lower->is_nonnegative;
  set(x, iv, info);
  intptr_t carried = mlirOperationGetNumResults(op);
  bool give_up = gives_up(x, 0);
  for (intptr_t i = 0; i < carried; i++) {
    MlirValue arg = mlirBlockGetArgument(body, i + 1);
    set(x, arg,
        give_up ? axis_unknown(mlirValueGetType(arg))
                : *get(x, mlirOperationGetOperand(op, i + 3)));
  }
  MlirOperation yield = mlirBlockGetTerminator(body);
  bool changed = true;
  for (unsigned round = 0; changed; round++) {
    changed = false;
    visit_block(x, body);
    for (intptr_t i = 0; i < carried; i++)
      changed |= flow(x, mlirBlockGetArgument(body, i + 1), mlirOperationGetOperand(yield, i),
                      gives_up(x, round));
  }
  for (intptr_t i = 0; i < carried; i++)
    set(x, mlirOperationGetResult(op, i), *get(x, mlirBlockGetArgument(body, i + 1)));
}

static void visit_while(struct axis_analysis *x, MlirOperation op) {
  MlirBlock before = region_block(op, 0), after = region_block(op, 1);
  intptr_t carried = mlirOperationGetNumOperands(op), passed = mlirOperationGetNumResults(op);
  bool give_up = gives_up(x, 0);
  for (intptr_t i = 0; i < carried; i++) {
    MlirValue arg = mlirBlockGetArgument(before, i);
    set(x, arg,
        give_up ? axis_unknown(mlirValueGetType(arg)) : *get(x, mlirOperationGetOperand(op, i)));
  }
  MlirOperation condition = mlirBlockGetTerminator(before);
  MlirOperation yield = mlirBlockGetTerminator(after);
  bool changed = true;
  for (unsigned round = 0; changed; round++) {
    changed = false;
    visit_block(x, before);
    for (intptr_t i = 0; i < passed; i++)
      set(x, mlirBlockGetArgument(after, i), *get(x, mlirOperationGetOperand(condition, i + 1)));
    visit_block(x, after);
    for (intptr_t i = 0; i < carried; i++)
      changed |= flow(x, mlirBlockGetArgument(before, i), mlirOperationGetOperand(yield, i),
                      gives_up(x, round));
  }
  for (intptr_t i = 0; i < passed; i++)
    set(x, mlirOperationGetResult(op, i), *get(x, mlirOperationGetOperand(condition, i + 1)));
}

static void visit_if(struct axis_analysis *x, MlirOperation op) {
  MlirBlock then_block = region_block(op, 0), else_block = region_block(op, 1);
  visit_block(x, then_block);
  if (!mlirBlockIsNull(else_block))
    visit_block(x, else_block);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    MlirValue a = mlirOperationGetOperand(mlirBlockGetTerminator(then_block), i);
    MlirValue b = mlirOperationGetOperand(mlirBlockGetTerminator(else_block), i);
    set(x, result, axis_join(x->c, mlirValueGetType(result), get(x, a), get(x, b)));
  }
}

static void visit_func(struct axis_analysis *x, MlirOperation op) {
  MlirBlock body = region_block(op, 0);
  if (mlirBlockIsNull(body))
    return;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++) {
    MlirValue arg = mlirBlockGetArgument(body, i);
    struct axis_info info = axis_unknown(mlirValueGetType(arg));
    apply_hint(info.divisibility, info.rank, func_arg_attr(op, (unsigned)i, "tile.divisibility"),
               NULL);
    set(x, arg, info);
  }
  visit_block(x, body);
}

static void visit_simple(struct axis_analysis *x, MlirOperation op) {
  intptr_t n = mlirOperationGetNumOperands(op);
  if (n > MAX_OPERANDS)
    return; // what is not in the table is unknown
  struct axis_info in[MAX_OPERANDS];
  for (intptr_t i = 0; i < n; i++)
    in[i] = *get(x, mlirOperationGetOperand(op, i));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    struct axis_info info = axis_transfer(x->c, op, i, in);
    apply_op_hints(op, mlirValueGetType(result), &info);
    set(x, result, info);
  }
}

static void visit_op(struct axis_analysis *x, MlirOperation op) {
  x->budget -= x->budget > 0;
  switch (op_id(x->c, op)) {
  case OP_SCF_FOR: visit_for(x, op); return;
  case OP_SCF_WHILE: visit_while(x, op); return;
  case OP_SCF_IF: visit_if(x, op); return;
  case OP_FUNC_FUNC: visit_func(x, op); return;
  case OP_BUILTIN_MODULE: visit_block(x, region_block(op, 0)); return;
  default: visit_simple(x, op);
  }
}

static void visit_block(struct axis_analysis *x, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    visit_op(x, op);
}

struct axis_analysis *axis_analyse(struct ir_context *c, MlirOperation root, struct arena *a) {
  struct axis_analysis *x = arena_new(a, struct axis_analysis);
  x->c = c;
  x->arena = a;
  ir_walk(root, collect_assumption, x);
  // Nested loops multiply their rounds. Beyond this budget of visited operations, linear in their
  // number, what loops carry is assumed unknown, and a loop takes one round.
  x->budget = x->budget * 64 + 4096;
  visit_op(x, root);
  return x;
}

// ---- questions ----

const struct axis_info *axis_info_of(struct axis_analysis *x, MlirValue v) { return get(x, v); }

int64_t axis_contiguity(struct axis_analysis *x, MlirValue v, unsigned dim) {
  const struct axis_info *i = get(x, v);
  return dim < i->rank ? i->contiguity[dim] : 1;
}

int64_t axis_constancy(struct axis_analysis *x, MlirValue v, unsigned dim) {
  const struct axis_info *i = get(x, v);
  return dim < i->rank ? i->constancy[dim] : 1;
}

unsigned axis_fastest_dim(struct axis_analysis *x, MlirValue ptr) {
  const struct axis_info *i = get(x, ptr);
  unsigned best = i->rank - 1;
  for (unsigned d = i->rank; d-- > 0;)
    if (i->contiguity[d] > i->contiguity[best])
      best = d;
  return best;
}

int64_t axis_pointer_alignment(struct axis_analysis *x, MlirValue ptr, unsigned dim) {
  const struct axis_info *i = get(x, ptr);
  if (dim >= i->rank)
    return 1;
  int64_t elements = i->divisibility[dim] / axis_element_bytes(x->c, mlirValueGetType(ptr));
  return max64(min64(i->contiguity[dim], elements), 1);
}

int64_t axis_mask_alignment(struct axis_analysis *x, MlirValue mask, unsigned dim) {
  return mlirValueIsNull(mask) ? INT64_MAX : axis_constancy(x, mask, dim);
}

static MlirValue mask_of_access(struct axis_analysis *x, MlirOperation op) {
  intptr_t at = op_is(x->c, op, OP_TILE_LOAD) ? 1 : 2;
  return mlirOperationGetNumOperands(op) > at ? mlirOperationGetOperand(op, at) : (MlirValue){NULL};
}

struct axis_vector axis_vector_through(struct axis_analysis *x, MlirValue ptr, MlirValue mask,
                                       const struct target *target, const struct linear_layout *l) {
  struct axis_vector v = {.width = 1, .dim = 0, .uniform = true};
  if (!l)
    return v;
  int64_t element_bits = 8 * axis_element_bytes(x->c, mlirValueGetType(ptr));
  int64_t widest = max64((int64_t)target->max_vector_bits / element_bits, 1);
  for (unsigned d = l->out_count; d-- > 0;) {
    int64_t size = (int64_t)1 << l->out_bits[d];
    int64_t run = min64((int64_t)ll_consecutive(l, LL_REGISTER, d), size);
    int64_t width = min64(axis_pointer_alignment(x, ptr, d), min64(run, widest));
    if (width > v.width) {
      v.width = (unsigned)width;
      v.dim = d;
      v.uniform = axis_mask_alignment(x, mask, d) >= width;
    }
  }
  return v;
}

struct axis_vector axis_vector_of(struct axis_analysis *x, MlirOperation op,
                                  const struct target *target, const struct linear_layout *l) {
  if (!op_is(x->c, op, OP_TILE_LOAD) && !op_is(x->c, op, OP_TILE_STORE) &&
      !op_is(x->c, op, OP_TILE_ATOMIC_RMW))
    return (struct axis_vector){.width = 1, .dim = 0, .uniform = true};
  return axis_vector_through(x, mlirOperationGetOperand(op, 0), mask_of_access(x, op), target, l);
}

// ---- description ----

static void describe_list(const char *what, const int64_t *values, unsigned n, struct strbuf *out) {
  strbuf_printf(out, "%s [", what);
  for (unsigned i = 0; i < n; i++) {
    strbuf_puts(out, i ? ", " : "");
    if (values[i] >= AXIS_ANY)
      strbuf_puts(out, "any");
    else
      strbuf_printf(out, "%lld", (long long)values[i]);
  }
  strbuf_putc(out, ']');
}

void axis_describe_value(struct axis_analysis *x, MlirValue v, struct strbuf *out) {
  const struct axis_info *i = get(x, v);
  describe_list("contiguity", i->contiguity, i->rank, out);
  strbuf_putc(out, ' ');
  describe_list("divisibility", i->divisibility, i->rank, out);
  strbuf_putc(out, ' ');
  describe_list("constancy", i->constancy, i->rank, out);
  if (i->is_constant)
    strbuf_printf(out, " constant %lld", (long long)i->constant);
}

struct describe_state {
  struct axis_analysis *x;
  struct strbuf *out;
};

static bool describe_op(MlirOperation op, void *user) {
  struct describe_state *s = user;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    strbuf_printf(s->out, "%.*s: ", (int)name.length, name.data);
    axis_describe_value(s->x, mlirOperationGetResult(op, i), s->out);
    strbuf_putc(s->out, '\n');
  }
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = region_block(op, r);
    if (mlirBlockIsNull(block))
      continue;
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
      strbuf_printf(s->out, "%.*s argument %d: ", (int)name.length, name.data, (int)i);
      axis_describe_value(s->x, mlirBlockGetArgument(block, i), s->out);
      strbuf_putc(s->out, '\n');
    }
  }
  return true;
}

void axis_describe(struct axis_analysis *x, MlirOperation root, struct strbuf *out) {
  struct describe_state s = {x, out};
  ir_walk(root, describe_op, &s);
}
