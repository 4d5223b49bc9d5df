// SPDX-License-Identifier: Apache-2.0
// prefetch: a matrix product whose operands are in shared memory is split along K, into slices of
// one instruction each. A slice is loaded while the one before is multiplied, and registers hold
// two slices of the operands instead of all.
//
//   %a = local_load %x                    %a0 = local_load %x {offsets = [0, 0]}
//   %b = local_load %y                    %b0 = local_load %y {offsets = [0, 0]}
//   %d = dot %a, %b, %c             ->    %a1 = local_load %x {offsets = [0, 16]}
//                                         %b1 = local_load %y {offsets = [16, 0]}
//                                         %d0 = dot %a0, %b0, %c
//                                         %d  = dot %a1, %b1, %d0
//
// Elementwise ops between the loads and the product are split too, and an operand in registers is
// sliced. Sums are accumulated in the same order as before. prefetch_iterations.c prefetches across
// iterations of a loop.
#include "lowering/passes/prefetch.h"

#include "base/mma.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/analysis/part_view.h"
#include "lowering/cost/registers.h"

// FMA: maximal registers per thread of a slice of both operands; chosen, not measured.
enum { FMA_SLICE_WORDS = 32 };

struct state {
  struct pass_context *p;
  VEC(MlirOperation) dots;
  bool changed;
};

static MlirValue operand(MlirOperation op, intptr_t i) { return mlirOperationGetOperand(op, i); }
static MlirType operand_type(MlirOperation op, intptr_t i) {
  return mlirValueGetType(operand(op, i));
}

// K is the last dimension of A, the last but one of B.
static unsigned k_dim(MlirType operand, intptr_t i) {
  return tensor_rank(operand) - (i == 0 ? 1 : 2);
}

static MlirType slice_type(MlirType t, unsigned dim, int64_t size) {
  int64_t shape[LL_MAX_OUT];
  for (unsigned d = 0; d < tensor_rank(t); d++)
    shape[d] = d == dim ? size : tensor_dim(t, d);
  return tensor_type(tensor_rank(t), shape, element_type(t), tensor_encoding(t));
}

// ---- how large slices are ----

static bool is_of_mma(struct ir_context *c, MlirType t) {
  const struct encoding *e = encoding_of_attr(c, tensor_encoding(t));
  return e && e->kind == ENC_DOT_OP && e->dot.parent->kind == ENC_MMA;
}

// K of one instruction, times the elements beyond a register that a lane holds consecutively.
static unsigned mma_slice(const struct cut_dot *d, int64_t k) {
  struct ir_context *c = d->p->c;
  enum dtype of[3];
  for (intptr_t i = 0; i < 3; i++)
    of[i] = dtype_of_mlir(element_type(operand_type(d->dot, i)));
  const struct mma_instruction *in = mma_find(of[0], of[1], of[2], d->p->target->sm, (uint64_t)k);
  if (!in)
    return (unsigned)k;
  const struct encoding *e = encoding_of_attr(c, tensor_encoding(operand_type(d->dot, 0)));
  unsigned own = in->a == DTYPE_F64 ? 1 : 32 / dtype_bits(in->a);
  return in->k * (e->dot.k_width > own ? e->dot.k_width / own : 1);
}

static unsigned fma_slice(const struct cut_dot *d, int64_t k) {
  struct ir_context *c = d->p->c;
  unsigned words = tile_words(c, operand_type(d->dot, 0)) + tile_words(c, operand_type(d->dot, 1));
  int64_t slice = k;
  while (slice > 1 && words * slice / k > FMA_SLICE_WORDS)
    slice /= 2;
  return (unsigned)slice;
}

static bool choose_slices(struct cut_dot *d) {
  MlirType a = operand_type(d->dot, 0);
  int64_t k = tensor_dim(a, k_dim(a, 0));
  d->slice = is_of_mma(d->p->c, a) ? mma_slice(d, k) : fma_slice(d, k);
  d->count = d->slice && k % d->slice == 0 ? (unsigned)(k / d->slice) : 1;
  return d->count > 1;
}

// ---- what can be split ----

static bool is_only_use(MlirValue v) { return value_use_count(v) == 1; }

static bool is_splat(struct ir_context *c, MlirOperation op) {
  if (op_is(c, op, OP_TILE_SPLAT))
    return true;
  MlirAttribute value = op_is(c, op, OP_ARITH_CONSTANT) ? op_attr(op, "value") : (MlirAttribute){0};
  return !mlirAttributeIsNull(value) && mlirAttributeIsADenseElements(value) &&
         mlirDenseElementsAttrIsSplat(value);
}

struct writes {
  struct ir_context *c;
  bool found;
};

// Does the op, or one inside it, write to shared buffers?
static bool note_write(MlirOperation op, void *user) {
  struct writes *w = user;
  enum op_id id = op_id(w->c, op);
  w->found |= id == OP_GPU_LOCAL_STORE || id == OP_GPU_ASYNC_COPY || id == OP_FUNC_CALL;
  return !w->found;
}

static bool may_move_down(struct ir_context *c, MlirOperation load, MlirOperation dot) {
  struct writes w = {c, false};
  if (!mlirBlockEqual(mlirOperationGetBlock(load), mlirOperationGetBlock(dot)))
    return false;
  for (MlirOperation at = load; !w.found && !mlirOperationEqual(at, dot);
       at = mlirOperationGetNextInBlock(at))
    ir_walk(at, note_write, &w);
  return !w.found;
}

enum { LARGE = 96 }; // registers of an operand, above which products read it from its buffer each

// A load that several products share. Read once it waits in registers for the last of them:
// operands of f32 products without tensor cores are replicated, 512 of them for 64x64.
static bool is_shared_by_products(struct ir_context *c, MlirOperation load) {
  MlirValue v = mlirOperationGetResult(load, 0);
  bool only = tile_words(c, mlirValueGetType(v)) > LARGE;
  for (MlirOpOperand use = mlirValueGetFirstUse(v); only && !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    only = op_is(c, mlirOpOperandGetOwner(use), OP_TILE_DOT);
  return only;
}

// A tree of elementwise ops with single uses over loads and splats; records its loads.
static bool is_made_of_loads(struct cut_dot *d, MlirValue v) {
  struct ir_context *c = d->p->c;
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def) || !type_is_tensor(mlirValueGetType(v)))
    return false;
  if (is_splat(c, def))
    return true;
  bool is_load = op_is(c, def, OP_GPU_LOCAL_LOAD);
  if (!is_only_use(v) && !(is_load && is_shared_by_products(c, def)))
    return false;
  if (is_load) {
    vec_push(d->p->scratch, &d->loads, def);
    return may_move_down(c, def, d->dot);
  }
  if (!(op_flags(c, def) & OP_EW) || mlirOperationGetNumResults(def) != 1)
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++)
    if (!is_made_of_loads(d, operand(def, i)))
      return false;
  return true;
}

static MlirType slice_of_type(const struct cut_dot *d, MlirType t, intptr_t i) {
  return slice_type(t, k_dim(t, i), d->slice);
}

// An operand in registers, of which each slice takes some.
static bool is_held_in_slices(const struct cut_dot *d, intptr_t i) {
  MlirType whole = operand_type(d->dot, i);
  const struct linear_layout *l = linear_of_type(d->p->c, whole);
  const struct linear_layout *part = linear_of_type(d->p->c, slice_of_type(d, whole, i));
  struct part_view view;
  bool ok = l && part;
  for (unsigned n = 0; ok && n < d->count; n++) {
    int32_t at[LL_MAX_OUT] = {0};
    at[k_dim(whole, i)] = (int32_t)(n * d->slice);
    ok = part_view_make(l, part, at, &view);
  }
  return ok;
}

static bool can_cut(struct cut_dot *d, intptr_t i) {
  size_t loads = d->loads.len;
  if (is_made_of_loads(d, operand(d->dot, i)))
    return true;
  d->loads.len = loads;
  d->in_registers[i] = true;
  return is_held_in_slices(d, i);
}

// ---- splitting ----

struct slicer {
  struct cut_dot *d;
  struct builder b;
  unsigned dim; // of K
  int64_t from;
};

static MlirValue slice_of(struct slicer *s, MlirValue v);

static MlirValue slice_of_load(struct slicer *s, MlirOperation load, MlirType type) {
  int32_t at[LL_MAX_OUT] = {0};
  op_attr_i32_array(load, "offsets", LL_MAX_OUT, at);
  at[s->dim] += (int32_t)s->from;
  s->b.loc = mlirOperationGetLocation(load);
  MlirValue v = build_local_load_part(&s->b, operand(load, 0), type, at);
  if (s->from == 0)
    vec_push(s->d->p->scratch, &s->d->firsts, value_def(v));
  return v;
}

static MlirValue slice_of_op(struct slicer *s, MlirOperation op, MlirType type) {
  MlirOperation copy = mlirOperationClone(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (type_is_tensor(operand_type(op, i)))
      mlirOperationSetOperand(copy, i, slice_of(s, operand(op, i)));
  mlirValueSetType(mlirOperationGetResult(copy, 0), type);
  if (op_is(s->b.c, op, OP_ARITH_CONSTANT)) {
    MlirAttribute one = mlirDenseElementsAttrGetSplatValue(op_attr(op, "value"));
    mlirOperationSetAttributeByName(copy, mlirStringRefCreateFromCString("value"),
                                    mlirDenseElementsAttrSplatGet(type, one));
  }
  mlirBlockInsertOwnedOperationBefore(s->b.block, s->b.before, copy);
  return mlirOperationGetResult(copy, 0);
}

static MlirValue slice_of(struct slicer *s, MlirValue v) {
  MlirOperation def = value_def(v);
  MlirType type = slice_type(mlirValueGetType(v), s->dim, s->d->slice);
  return op_is(s->b.c, def, OP_GPU_LOCAL_LOAD) ? slice_of_load(s, def, type)
                                               : slice_of_op(s, def, type);
}

static MlirValue part_of(struct slicer *s, MlirValue v) {
  int32_t at[LL_MAX_OUT] = {0};
  at[s->dim] = (int32_t)s->from;
  return build_part(&s->b, v, slice_type(mlirValueGetType(v), s->dim, s->d->slice), at);
}

static void slice_operands(struct cut_dot *d, unsigned n, MlirValue ret[2]) {
  for (intptr_t i = 0; i < 2; i++) {
    struct slicer s = {.d = d,
                       .b = builder_before(d->p->c, d->dot),
                       .dim = k_dim(operand_type(d->dot, i), i),
                       .from = (int64_t)n * d->slice};
    MlirValue v = operand(d->dot, i);
    ret[i] = d->in_registers[i] ? part_of(&s, v) : slice_of(&s, v);
  }
}

static MlirValue multiply(struct cut_dot *d, const MlirValue x[2], MlirValue acc) {
  struct builder b = builder_before(d->p->c, d->dot);
  struct str precision = op_attr_str(d->dot, "input_precision");
  return build_dot(&b, x[0], x[1], acc, arena_strndup(d->p->scratch, precision.ptr, precision.len),
                   (int32_t)op_attr_int(d->dot, "max_num_imprecise_acc", 0));
}

// Erases ops that only the whole product used.
static void erase_tree(MlirValue v) {
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def) || value_has_uses(v))
    return;
  enum { MOST = 4 }; // operands of elementwise ops
  MlirValue operands[MOST];
  intptr_t n = mlirOperationGetNumOperands(def);
  n = n <= MOST ? n : 0;
  for (intptr_t i = 0; i < n; i++)
    operands[i] = operand(def, i);
  op_erase(def);
  for (intptr_t i = 0; i < n; i++)
    if (type_is_tensor(mlirValueGetType(operands[i])))
      erase_tree(operands[i]);
}

static void cut(struct cut_dot *d) {
  MlirValue now[2], next[2], acc = operand(d->dot, 2);
  slice_operands(d, 0, now);
  for (unsigned n = 1; n <= d->count; n++) {
    if (n < d->count)
      slice_operands(d, n, next);
    acc = multiply(d, now, acc);
    memcpy(now, next, sizeof now);
  }
  MlirValue old[2] = {operand(d->dot, 0), operand(d->dot, 1)};
  value_replace(mlirOperationGetResult(d->dot, 0), acc);
  op_erase(d->dot);
  d->dot = value_def(acc);
  erase_tree(old[0]);
  if (old[1].ptr != old[0].ptr)
    erase_tree(old[1]);
}

// ---- the pass ----

static void visit(struct state *s, MlirOperation dot) {
  struct cut_dot d = {.p = s->p, .dot = dot};
  if (!choose_slices(&d))
    return;
  for (intptr_t i = 0; i < 2; i++)
    if (!can_cut(&d, i)) {
      pass_remark(s->p, dot, "dot",
                  "is not cut along K: operand %s is neither read from a buffer nor held in slices",
                  i ? "B" : "A");
      return;
    }
  if (d.loads.len == 0)
    return;
  cut(&d);
  s->changed = true;
  const char *why_not = NULL;
  bool early = prefetch_across_iterations(&d, &why_not);
  pass_remark(s->p, d.dot, "dot", "is cut along K into %u slices of %u%s%s", d.count, d.slice,
              early     ? ", the first one loaded in the iteration before"
              : why_not ? "; none is loaded in the iteration before: "
                        : "",
              why_not ? why_not : "");
}

static bool collect(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_is(s->p->c, op, OP_TILE_DOT))
    vec_push(s->p->scratch, &s->dots, op);
  return true;
}

enum pass_result pass_prefetch(struct pass_context *p) {
  struct state s = {.p = p};
  ir_walk(mlirModuleGetOperation(p->module), collect, &s);
  for (size_t i = 0; i < s.dots.len; i++)
    visit(&s, s.dots.at[i]);
  return s.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
