// SPDX-License-Identifier: Apache-2.0
// coalesce: gives every access through a tile of pointers the layout in which neighbouring threads
// touch neighbouring addresses, each with the widest vector that alignment and mask allow. The
// access is wrapped in conversions; remove-layout-conversions then spreads the layout.
//
// Accesses of a kernel with one shape and order share one layout, so that values flow from loads to
// stores without a conversion: that of the widest vector, but with no more elements per thread than
// one store writes. A warp that stores every other 16 bytes wastes half of each transaction; loads
// in two steps hit the cache. Operands of products are never stored in their own layout, so those
// loads are as wide as possible.
//
// A tile that is reduced or scanned has its warps along the other dimensions, as far as these
// reach: then values are combined within a warp, without shared memory. Along a dimension that is
// scanned each thread has one run of elements.
#include "base/vec.h"
#include "lowering/analysis/axis_info.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/analysis/provenance.h"
#include "lowering/analysis/reduced_axes.h"
#include "lowering/pass.h"
#include "mlir-dialects/build.h"

enum { VECTOR_BITS = 128 }; // one access of a thread, on every target

// Accesses of tiles of one shape in one function, which get the same layout.
struct group {
  int64_t width, most;       // elements of the widest access; that a store may have
  uint32_t reduced, scanned; // of all
  MlirAttribute layout;      // null: not chosen yet
};

// Key of a group; all bytes count.
struct group_key {
  void *func;
  int64_t shape[LL_MAX_OUT];
  uint32_t order[LL_MAX_OUT], rank, multiplied;
};

struct access {
  MlirOperation op, func;
  struct group *group;
  MlirType type; // of the tile of pointers
  uint32_t order[LL_MAX_OUT];
  int64_t wanted;   // elements a full vector would have
  int64_t width;    // elements that alignment and mask allow
  uint32_t reduced; // mask of dimensions along which what is loaded is combined
  uint32_t scanned; // those of them along which it is scanned
  bool multiplied;  // an operand of a matrix product comes from it
};

struct state {
  struct pass_context *p;
  struct axis_analysis *axis;
  struct reduced_axes *reduced, *scanned;
  VEC(struct access) accesses;
  struct map groups; // struct group_key -> struct group *
};

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

static MlirValue mask_of(struct ir_context *c, MlirOperation op) {
  intptr_t at = op_is(c, op, OP_TILE_LOAD) ? 1 : 2;
  MlirValue none = {NULL};
  return mlirOperationGetNumOperands(op) > at ? mlirOperationGetOperand(op, at) : none;
}

// Dimensions by falling contiguity; among equals the last one is the fastest.
static void choose_order(struct state *s, MlirValue ptr, unsigned rank, uint32_t *ret) {
  for (unsigned i = 0; i < rank; i++) {
    uint32_t d = rank - 1 - i;
    unsigned at = i;
    int64_t run = axis_contiguity(s->axis, ptr, d);
    while (at > 0 && axis_contiguity(s->axis, ptr, ret[at - 1]) < run) {
      ret[at] = ret[at - 1];
      at--;
    }
    ret[at] = d;
  }
}

static unsigned pointee_bits(struct ir_context *c, MlirType tile_of_pointers) {
  unsigned bits = type_bits(c, ptr_pointee(c, element_type(tile_of_pointers)));
  return bits < 8 ? 8 : bits;
}

// ---- remarks: why an access is narrower than it could be ----

static const char *name_of_pointer(struct state *s, const struct access *a, MlirValue ptr) {
  return parameter_name(s->p->c, s->p->scratch, a->op, pointer_argument(s->p->c, ptr));
}

// The promise that a parameter lacks, where its pointer may begin at any element: launches make it,
// the source does not.
static const char *missing_promise(struct state *s, const struct access *a, MlirValue ptr,
                                   const char *name) {
  struct ir_context *c = s->p->c;
  int arg = pointer_argument(c, ptr);
  MlirOperation func = arg < 0 ? (MlirOperation){NULL} : mlirOperationGetParentOperation(a->op);
  while (!mlirOperationIsNull(func) && !op_is(c, func, OP_FUNC_FUNC))
    func = mlirOperationGetParentOperation(func);
  if (!name || mlirOperationIsNull(func))
    return "";
  MlirAttribute known = func_arg_attr(func, (unsigned)arg, "tile.divisibility");
  MlirType element = ptr_pointee(c, element_type(mlirValueGetType(ptr)));
  unsigned bits = type_bits(c, element), bytes = (unsigned)a->wanted * bits / 8;
  int64_t has = mlirAttributeIsNull(known) ? 1 : mlirIntegerAttrGetValueInt(known);
  if (has >= bytes)
    return "";
  return arena_printf(s->p->scratch,
                      "; `%s` may begin at any element: `%% %u` behind its type promises more, as "
                      "launches do by themselves",
                      name, bytes);
}

static void explain(struct state *s, const struct access *a) {
  struct ir_context *c = s->p->c;
  MlirValue ptr = mlirOperationGetOperand(a->op, 0), mask = mask_of(c, a->op);
  bool is_load = op_is(c, a->op, OP_TILE_LOAD);
  if (!is_load && !op_is(c, a->op, OP_TILE_STORE))
    return;
  const char *name = name_of_pointer(s, a, ptr), *what = is_load ? "load" : "store";
  if (name)
    what = arena_printf(s->p->scratch, "%s `%s`", is_load ? "load of" : "store to", name);
  unsigned dim = a->order[0];
  const char *elements = a->width == 1 ? "element" : "elements";
  int64_t run = axis_contiguity(s->axis, ptr, dim);
  if (run < a->wanted)
    pass_remark(s->p, a->op, "coalesce",
                "%s is %d %s wide, not %d: its addresses are not known to be consecutive", what,
                (int)a->width, elements, (int)a->wanted);
  else if (axis_pointer_alignment(s->axis, ptr, dim) < a->wanted)
    pass_remark(
        s->p, a->op, "coalesce",
        "%s is %d %s wide, not %d: the pointer's offset is not known to be divisible by %d%s", what,
        (int)a->width, elements, (int)a->wanted, (int)a->wanted, missing_promise(s, a, ptr, name));
  else if (a->wanted > 1 && axis_mask_alignment(s->axis, mask, dim) < a->wanted)
    pass_remark(
        s->p, a->op, "coalesce",
        "%s is %d elements wide, and element by element where the mask cuts a vector: it is "
        "not known to be the same for %d neighbours",
        what, (int)a->width, (int)a->wanted);
}

// ---- choice ----

// Through elementwise ops and conversions, as an operand rather than as the accumulator. `seen`:
// values visited before.
static bool is_multiplied(struct pass_context *p, struct map *seen, MlirValue v) {
  struct ir_context *c = p->c;
  if (ptrmap_get(seen, v.ptr))
    return false;
  ptrmap_put(p->scratch, seen, v.ptr, p);
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (op_is(c, user, OP_TILE_DOT)) {
      if (mlirOpOperandGetOperandNumber(use) < 2)
        return true;
      continue;
    }
    bool passes = (op_flags(c, user) & OP_EW) || op_is(c, user, OP_GPU_CONVERT_LAYOUT) ||
                  op_is(c, user, OP_TILE_TRANS);
    if (passes && is_multiplied(p, seen, mlirOperationGetResult(user, 0)))
      return true;
  }
  return false;
}

static struct group *group_of(struct state *s, const struct access *a) {
  struct group_key key = {
      .func = a->func.ptr, .rank = tensor_rank(a->type), .multiplied = a->multiplied};
  for (unsigned d = 0; d < key.rank; d++) {
    key.shape[d] = tensor_dim(a->type, d);
    key.order[d] = a->order[d];
  }
  struct str bytes = {(const char *)&key, sizeof key};
  struct group *g = map_get(&s->groups, bytes);
  if (g)
    return g;
  g = arena_new(s->p->scratch, struct group);
  *g = (struct group){.width = 1, .most = INT64_MAX};
  map_put(s->p->scratch, &s->groups, bytes, g);
  return g;
}

static void join_group(struct state *s, struct access *a) {
  struct group *g = a->group = group_of(s, a);
  g->width = max64(g->width, a->width);
  g->reduced |= a->reduced;
  g->scanned |= a->scanned;
  if (op_flags(s->p->c, a->op) & OP_WRITE)
    g->most = min64(g->most, VECTOR_BITS / pointee_bits(s->p->c, a->type));
}

// From sm_90 on, sums of f32 and of half precision whose old values are not used are vectors (PTX
// ISA, red): a request for each sector instead of one for each element.
static bool adds_vectors(struct state *s, MlirOperation op) {
  struct ir_context *c = s->p->c;
  if (!op_is(c, op, OP_TILE_ATOMIC_RMW) || s->p->target->sm < 90 ||
      !str_is(op_attr_str(op, "kind"), "fadd") || value_has_uses(mlirOperationGetResult(op, 0)))
    return false;
  MlirType element = element_type(mlirValueGetType(mlirOperationGetResult(op, 0)));
  return mlirTypeIsAF32(element) || mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
}

static bool collect(MlirOperation op, void *user) {
  struct state *s = user;
  struct ir_context *c = s->p->c;
  if (mlirAttributeIsNull(layout_of_access(c, op)))
    return true;
  MlirValue ptr = mlirOperationGetOperand(op, 0);
  if (!type_is_ptr(c, element_type(mlirValueGetType(ptr))))
    return true;
  struct access a = {.op = op, .func = function_around(c, op), .type = mlirValueGetType(ptr)};
  unsigned rank = tensor_rank(a.type);
  choose_order(s, ptr, rank, a.order);
  int64_t threads = (int64_t)s->p->num_warps * 32;
  int64_t share = max64(tensor_numel(a.type) / threads, 1);
  a.wanted = VECTOR_BITS / pointee_bits(c, a.type);
  a.wanted = min64(min64(a.wanted, tensor_dim(a.type, a.order[0])), share);
  a.width = min64(axis_pointer_alignment(s->axis, ptr, a.order[0]), a.wanted);
  if (!op_is(c, op, OP_TILE_LOAD) && !op_is(c, op, OP_TILE_STORE) && !adds_vectors(s, op))
    a.width = 1; // one element at a time; neighbouring lanes are best
  if (op_is(c, op, OP_TILE_LOAD)) {
    a.reduced = reduced_axes_of(s->reduced, op);
    a.scanned = reduced_axes_of(s->scanned, op);
    struct map seen = {0};
    a.multiplied = is_multiplied(s->p, &seen, mlirOperationGetResult(op, 0));
  }
  explain(s, &a);
  join_group(s, &a);
  vec_push(s->p->scratch, &s->accesses, a);
  return true;
}

// Redistributes the warps: first along dimensions that are not reduced, each as far as the shape
// goes; the rest along the others.
static void place_warps(struct encoding *e, const int64_t *shape, uint32_t reduced,
                        unsigned num_warps) {
  uint32_t left = num_warps, warps[LL_MAX_OUT];
  for (unsigned pass = 0; pass < 2; pass++)
    for (unsigned k = 0; k < e->rank; k++) {
      unsigned d = e->blocked.order[k];
      if ((reduced >> d & 1) != pass)
        continue;
      int64_t tile = (int64_t)e->blocked.size_per_thread[d] * e->blocked.threads_per_warp[d];
      warps[d] = (uint32_t)min64(left, max64(shape[d] / tile, 1));
      left /= warps[d];
    }
  warps[e->blocked.order[e->rank - 1]] *= left; // more warps than elements: replication
  for (unsigned d = 0; d < e->rank; d++)
    e->blocked.warps_per_cta[d] = warps[d];
}

// Along a dimension that is scanned a thread has one run of consecutive elements, which needs no
// totals of other threads. The fastest dimension keeps its vectors.
static void keep_runs_together(struct encoding *e, const int64_t *shape, uint32_t scanned) {
  for (unsigned k = 1; k < e->rank; k++) {
    unsigned d = e->blocked.order[k];
    int64_t threads = (int64_t)e->blocked.threads_per_warp[d] * e->blocked.warps_per_cta[d];
    if (scanned >> d & 1)
      e->blocked.size_per_thread[d] = (uint32_t)max64(shape[d] / threads, 1);
  }
}

// Does the function load vectors along one of these dimensions, weights of the columns for example?
// Warps along the other dimensions would each load all of them, and convert them; layer norm of
// 4096 x 1024 f16, eight rows a program, takes 9.2 us that way and 8.3 with the warps along the
// row.
static bool loads_vectors(const struct state *s, const struct access *a, uint32_t dims) {
  for (size_t i = 0; i < s->accesses.len; i++) {
    const struct access *v = &s->accesses.at[i];
    if (tensor_rank(v->type) != 1 || !mlirOperationEqual(v->func, a->func) ||
        !op_is(s->p->c, v->op, OP_TILE_LOAD))
      continue;
    for (unsigned d = 0; d < tensor_rank(a->type); d++)
      if ((dims >> d & 1) && tensor_dim(v->type, 0) == tensor_dim(a->type, d))
        return true;
  }
  return false;
}

static MlirAttribute choose_layout(struct state *s, const struct access *a) {
  unsigned rank = tensor_rank(a->type);
  int64_t shape[LL_MAX_OUT];
  uint32_t size_per_thread[LL_MAX_OUT];
  for (unsigned d = 0; d < rank; d++) {
    shape[d] = tensor_dim(a->type, d);
    size_per_thread[d] = 1;
  }
  uint32_t reduced = a->group->reduced;
  size_per_thread[a->order[0]] = (uint32_t)min64(a->group->width, a->group->most);
  struct encoding e = encoding_blocked(rank, shape, size_per_thread, a->order, s->p->num_warps);
  if (reduced != 0 && reduced != (1u << rank) - 1 && !loads_vectors(s, a, reduced))
    place_warps(&e, shape, reduced, s->p->num_warps);
  keep_runs_together(&e, shape, a->group->scanned);
  return encoding_attr(s->p->c, &e);
}

// ---- rewriting ----

static bool relayout(struct ir_context *c, MlirOperation op, MlirAttribute encoding) {
  bool changed = false;
  struct builder before = builder_before(c, op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    MlirType type = mlirValueGetType(v);
    if (!type_is_tensor(type) || mlirAttributeEqual(tensor_encoding(type), encoding))
      continue;
    mlirOperationSetOperand(op, i, build_convert_layout(&before, v, encoding));
    changed = true;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    MlirAttribute old = tensor_encoding(mlirValueGetType(result));
    if (mlirAttributeEqual(old, encoding))
      continue;
    layout_set(c, result, encoding);
    changed = true;
    if (!value_has_uses(result))
      continue;
    struct builder after = builder_after(c, op);
    MlirValue back = build_convert_layout(&after, result, old);
    mlirValueReplaceAllUsesOfWith(result, back);
    mlirOperationSetOperand(value_def(back), 0, result);
  }
  return changed;
}

enum pass_result pass_coalesce(struct pass_context *p) {
  struct state s = {.p = p};
  MlirOperation module = mlirModuleGetOperation(p->module);
  s.axis = axis_analyse(p->c, module, p->scratch);
  s.reduced = reduced_axes_find(p->c, module, p->scratch);
  s.scanned = scanned_axes_find(p->c, module, p->scratch);
  ir_walk(module, collect, &s);
  bool changed = false;
  for (size_t i = 0; i < s.accesses.len; i++) {
    const struct access *a = &s.accesses.at[i];
    if (mlirAttributeIsNull(a->group->layout))
      a->group->layout = choose_layout(&s, a);
    changed |= relayout(p->c, a->op, a->group->layout);
  }
  return changed ? PASS_CHANGED : PASS_UNCHANGED;
}
