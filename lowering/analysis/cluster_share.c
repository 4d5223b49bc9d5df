// SPDX-License-Identifier: Apache-2.0
// How integers depend on the program's number within its cluster (cluster_share.h). What loops
// carry keeps the kind of its initial value, until that is refuted.
//
// Recursion is the algorithm: values are computed from values.
#include "lowering/analysis/cluster_share.h"

enum kind { NOT_KNOWN, SAME, STEP, OTHER };
enum { EQ = 0, SLT = 2, SGE = 5, ULT = 6, UGE = 9 }; // predicates of arith.cmpi

static enum kind kind_of(struct cluster_share *s, MlirValue v);

static enum kind operand_kind(struct cluster_share *s, MlirOperation op, intptr_t i) {
  return kind_of(s, mlirOperationGetOperand(op, i));
}

// ---- multiples ----

static bool same_expr(const struct launch_expr *a, const struct launch_expr *b) {
  bool same = a->count == b->count;
  for (uint32_t i = 0; same && i < a->count; i++)
    same = a->terms[i].op == b->terms[i].op && a->terms[i].number == b->terms[i].number;
  return same;
}

static bool depends_on_launch(const struct launch_expr *e) {
  bool any = false;
  for (uint32_t i = 0; i < e->count; i++)
    any |= e->terms[i].op == LAUNCH_PARAM;
  return any;
}

static bool require(struct cluster_share *s, MlirValue v) {
  struct launch_expr e;
  if (!launch_value_of(s->c, s->kernel, v, s->a, &e) || !depends_on_launch(&e))
    return false;
  for (size_t i = 0; i < s->multiples.len; i++)
    if (same_expr(&s->multiples.at[i], &e))
      return true;
  vec_push(s->a, &s->multiples, e);
  return true;
}

// Grids with clusters consist of whole ones.
static bool is_multiple(struct cluster_share *s, MlirValue v) {
  MlirOperation def = value_def(v);
  int64_t n;
  if (value_const_int(s->c, v, &n))
    return n % s->ctas == 0;
  if (!mlirOperationIsNull(def) && op_is(s->c, def, OP_TILE_NUM_PROGRAMS) &&
      op_attr_int(def, "axis", -1) == 0)
    return true;
  return axis_info_of(s->axis, v)->divisibility[0] % s->ctas == 0;
}

// Whether `ctas` divides the value; if it need not, but the launch determines it, that is required.
static bool multiple(struct cluster_share *s, MlirValue v, bool may_require) {
  if (is_multiple(s, v))
    return true;
  MlirOperation def = value_def(v);
  enum op_id id = mlirOperationIsNull(def) ? OP_UNKNOWN : op_id(s->c, def);
  MlirValue x = {NULL}, y = {NULL};
  if (id == OP_ARITH_MULI || id == OP_ARITH_ADDI || id == OP_ARITH_SUBI || id == OP_ARITH_MINSI ||
      id == OP_ARITH_MAXSI || id == OP_ARITH_SELECT) {
    x = mlirOperationGetOperand(def, id == OP_ARITH_SELECT ? 1 : 0);
    y = mlirOperationGetOperand(def, id == OP_ARITH_SELECT ? 2 : 1);
  }
  if (id == OP_ARITH_EXTSI || id == OP_ARITH_EXTUI)
    return multiple(s, mlirOperationGetOperand(def, 0), may_require);
  if (id == OP_ARITH_MULI && (multiple(s, x, false) || multiple(s, y, false)))
    return true;
  bool both = !mlirValueIsNull(x) && id != OP_ARITH_MULI;
  if (both && multiple(s, x, false) && multiple(s, y, false))
    return true;
  if (!may_require)
    return false;
  return require(s, v) || (both && multiple(s, x, true) && multiple(s, y, true));
}

// ---- loops ----

static MlirBlock body_of(MlirOperation loop) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0));
}

// All programs execute the loop's body equally often: from a step to a multiple, in multiples,
// there are as many iterations as from its base.
static bool is_in_step(struct cluster_share *s, MlirOperation loop) {
  enum kind from = operand_kind(s, loop, 0);
  if (operand_kind(s, loop, 1) != SAME || operand_kind(s, loop, 2) != SAME)
    return false;
  return from == SAME || (from == STEP && multiple(s, mlirOperationGetOperand(loop, 1), true) &&
                          multiple(s, mlirOperationGetOperand(loop, 2), true));
}

static enum kind induction_kind(struct cluster_share *s, MlirOperation loop) {
  enum kind from = operand_kind(s, loop, 0);
  if (operand_kind(s, loop, 2) != SAME)
    return OTHER;
  return from == STEP && !multiple(s, mlirOperationGetOperand(loop, 2), true) ? OTHER : from;
}

static MlirValue yielded(MlirOperation op, intptr_t region, intptr_t i) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
  return mlirOperationGetOperand(mlirBlockGetTerminator(block), i);
}

// Argument i of the body, from 1 on.
static enum kind carried_kind(struct cluster_share *s, MlirOperation loop, intptr_t i) {
  MlirValue v = mlirBlockGetArgument(body_of(loop), i);
  enum kind first = operand_kind(s, loop, i + 2);
  if (first == OTHER || ptrmap_get(&s->refuted, v.ptr))
    return OTHER;
  ptrmap_put(s->a, &s->kinds, v.ptr, (void *)(uintptr_t)first);
  if (kind_of(s, yielded(loop, 0, i - 1)) == first)
    return first;
  ptrmap_put(s->a, &s->refuted, v.ptr, s);
  s->is_stale = true;
  return OTHER;
}

static enum kind argument_kind(struct cluster_share *s, MlirValue v) {
  MlirOperation parent = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v));
  intptr_t i = mlirBlockArgumentGetArgNumber(v);
  if (mlirOperationEqual(parent, s->kernel))
    return SAME;
  if (!op_is(s->c, parent, OP_SCF_FOR))
    return OTHER;
  return i == 0 ? induction_kind(s, parent) : carried_kind(s, parent, i);
}

// ---- values ----

// The other operand of a step: a multiple that is the same.
static bool divides(struct cluster_share *s, MlirOperation op, intptr_t i) {
  return operand_kind(s, op, i) == SAME && multiple(s, mlirOperationGetOperand(op, i), true);
}

static enum kind sum_kind(struct cluster_share *s, MlirOperation op) {
  intptr_t step = operand_kind(s, op, 0) == STEP ? 0 : 1;
  MlirValue other = mlirOperationGetOperand(op, 1 - step);
  bool ok = operand_kind(s, op, step) == STEP && axis_info_of(s->axis, other)->is_nonnegative &&
            divides(s, op, 1 - step);
  return ok ? STEP : OTHER;
}

static enum kind comparison_kind(struct cluster_share *s, MlirOperation op) {
  int64_t how = op_attr_int(op, "predicate", -1);
  bool is_below = how == SLT || how == SGE || how == ULT || how == UGE;
  return is_below && operand_kind(s, op, 0) == STEP && divides(s, op, 1) ? SAME : OTHER;
}

// Results of an op one of whose operands is a step.
static enum kind step_kind(struct cluster_share *s, MlirOperation op) {
  switch (op_id(s->c, op)) {
  case OP_ARITH_EXTSI:
  case OP_ARITH_EXTUI: return STEP;
  case OP_ARITH_ADDI: return sum_kind(s, op);
  case OP_ARITH_DIVSI:
  case OP_ARITH_DIVUI: return operand_kind(s, op, 0) == STEP && divides(s, op, 1) ? SAME : OTHER;
  case OP_ARITH_REMSI:
  case OP_ARITH_REMUI: return operand_kind(s, op, 0) == STEP && divides(s, op, 1) ? STEP : OTHER;
  case OP_ARITH_CMPI: return comparison_kind(s, op);
  default: return OTHER;
  }
}

static enum kind if_kind(struct cluster_share *s, MlirOperation op, intptr_t i) {
  enum kind a = kind_of(s, yielded(op, 0, i)), b = kind_of(s, yielded(op, 1, i));
  return operand_kind(s, op, 0) == SAME && a == b ? a : OTHER;
}

// Memory that the kernel does not write is the same in all programs (producer_slice.h).
static enum kind result_kind(struct cluster_share *s, MlirValue v) {
  MlirOperation op = mlirOpResultGetOwner(v);
  intptr_t i = mlirOpResultGetResultNumber(v);
  enum op_id id = op_id(s->c, op);
  if (id == OP_TILE_PROGRAM_ID)
    return op_attr_int(op, "axis", 0) == 0 ? STEP : SAME;
  if (id == OP_SCF_FOR)
    return is_in_step(s, op) ? kind_of(s, mlirBlockGetArgument(body_of(op), i + 1)) : OTHER;
  if (id == OP_SCF_IF)
    return if_kind(s, op, i);
  if (id == OP_UNKNOWN || mlirOperationGetNumRegions(op) ||
      (!op_is_pure(s->c, op) && id != OP_TILE_LOAD))
    return OTHER;
  bool steps = false;
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); k++) {
    enum kind kind = operand_kind(s, op, k);
    if (kind == OTHER)
      return OTHER;
    steps |= kind == STEP;
  }
  return steps ? step_kind(s, op) : SAME;
}

static enum kind kind_of(struct cluster_share *s, MlirValue v) {
  enum kind known = (enum kind)(uintptr_t)ptrmap_get(&s->kinds, v.ptr);
  if (known != NOT_KNOWN)
    return known;
  enum kind kind = mlirValueIsABlockArgument(v) ? argument_kind(s, v) : result_kind(s, v);
  ptrmap_put(s->a, &s->kinds, v.ptr, (void *)(uintptr_t)kind);
  return kind;
}

// ---- loads ----

struct cluster_share cluster_share_of(struct ir_context *c, MlirOperation kernel, int64_t ctas,
                                      struct axis_analysis *axis, struct arena *a) {
  return (struct cluster_share){.c = c, .kernel = kernel, .axis = axis, .a = a, .ctas = ctas};
}

static const char *why_not(struct cluster_share *s, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (kind_of(s, mlirOperationGetOperand(op, i)) != SAME)
      return "its offsets depend on the program's number in the cluster";
  for (MlirOperation at = mlirOperationGetParentOperation(op); !mlirOperationEqual(at, s->kernel);
       at = mlirOperationGetParentOperation(at)) {
    if (op_is(s->c, at, OP_SCF_FOR) && !is_in_step(s, at))
      return "programs of a cluster may execute its loop differently often";
    if (op_is(s->c, at, OP_SCF_IF) && operand_kind(s, at, 0) != SAME)
      return "programs of a cluster may take different branches around it";
    if (!op_is(s->c, at, OP_SCF_FOR) && !op_is(s->c, at, OP_SCF_IF))
      return "it is in a loop whose number of iterations is not known before";
  }
  return NULL;
}

const char *cluster_cannot_share(struct cluster_share *s, MlirOperation op) {
  size_t before = s->multiples.len;
  const char *why;
  do {
    s->is_stale = false;
    s->kinds = (struct map){0};
    s->multiples.len = before;
    why = why_not(s, op);
  } while (s->is_stale);
  if (why)
    s->multiples.len = before;
  return why;
}

// ---- the check ----

static MlirValue build_term(struct builder *b, const struct cluster_share *s,
                            const struct launch_term *t, MlirValue *stack, unsigned *depth) {
  static const enum op_id ids[] = {
      [LAUNCH_ADD] = OP_ARITH_ADDI,  [LAUNCH_SUB] = OP_ARITH_SUBI,  [LAUNCH_MUL] = OP_ARITH_MULI,
      [LAUNCH_DIV] = OP_ARITH_DIVSI, [LAUNCH_REM] = OP_ARITH_REMSI, [LAUNCH_MIN] = OP_ARITH_MINSI,
      [LAUNCH_MAX] = OP_ARITH_MAXSI};
  MlirType i64 = mlir_of_dtype(s->c, DTYPE_I64);
  if (t->op == LAUNCH_CONST)
    return build_const_int(b, i64, t->number);
  if (t->op == LAUNCH_PARAM) {
    MlirValue v = mlirBlockGetArgument(body_of(s->kernel), (intptr_t)t->number);
    bool is_wide = mlirTypeEqual(mlirValueGetType(v), i64);
    return is_wide ? v : build_cast(b, OP_ARITH_EXTSI, v, i64);
  }
  *depth -= 2;
  return build_binary(b, ids[t->op], stack[*depth], stack[*depth + 1]);
}

static MlirValue build_expr(struct builder *b, const struct cluster_share *s,
                            const struct launch_expr *e) {
  MlirValue stack[LAUNCH_EXPR_MAX];
  unsigned depth = 0;
  for (uint32_t i = 0; i < e->count; i++) {
    MlirValue v = build_term(b, s, &e->terms[i], stack, &depth);
    stack[depth++] = v;
  }
  return stack[0];
}

MlirValue build_cluster_check(struct builder *b, const struct cluster_share *s) {
  MlirType i64 = mlir_of_dtype(s->c, DTYPE_I64);
  MlirValue rest = {NULL};
  for (size_t i = 0; i < s->multiples.len; i++) {
    MlirValue v = build_expr(b, s, &s->multiples.at[i]);
    v = build_binary(b, OP_ARITH_REMSI, v, build_const_int(b, i64, s->ctas));
    rest = i ? build_binary(b, OP_ARITH_ORI, rest, v) : v;
  }
  return s->multiples.len ? build_cmpi(b, EQ, rest, build_const_int(b, i64, 0)) : rest;
}
