// SPDX-License-Identifier: Apache-2.0
// The layout passes on random kernels: whatever the passes decide, both sides of every op must
// agree on where the elements are, nothing may be loaded or stored twice, and a second round must
// find nothing to do. Besides, the remarks of coalesce. What the passes should decide for typical
// kernels stands in tests/ir/passes.
#include "layouts/attr.h"
#include "mlir-dialects/build.h"
#include "pass_session.h"
#include "suites.h"

#include <stdio.h>

// ---- consistency, in terms of linear layouts alone ----

struct audit {
  struct ir_context *c;
  unsigned conversions, loads, stores;
  char problem[256];
};

static const struct linear_layout *layout(struct audit *a, MlirValue v) {
  return linear_of_type(a->c, mlirValueGetType(v));
}

// Registers that repeat others may come and go between the two sides of a shape op.
static bool same_places(const struct linear_layout *x, const struct linear_layout *y) {
  struct linear_layout a = ll_remove_zero_bases(x, LL_REGISTER);
  struct linear_layout b = ll_remove_zero_bases(y, LL_REGISTER);
  return ll_equal(&a, &b);
}

// Do the tiles among n values have one layout?
static bool alike(MlirOperation op, intptr_t n, MlirValue (*at)(MlirOperation, intptr_t),
                  MlirAttribute *first) {
  for (intptr_t i = 0; i < n; i++) {
    MlirType type = mlirValueGetType(at(op, i));
    if (!type_is_tensor(type))
      continue;
    if (mlirAttributeIsNull(*first))
      *first = tensor_encoding(type);
    if (mlirAttributeIsNull(*first) || !mlirAttributeEqual(*first, tensor_encoding(type)))
      return false;
  }
  return true;
}

static bool operands_agree(MlirOperation op) {
  MlirAttribute first = {NULL};
  return alike(op, mlirOperationGetNumOperands(op), mlirOperationGetOperand, &first);
}

static bool results_agree(MlirOperation op) {
  MlirAttribute first = {NULL};
  return alike(op, mlirOperationGetNumResults(op), mlirOperationGetResult, &first);
}

static bool elementwise_agrees(MlirOperation op) {
  MlirAttribute first = {NULL};
  return alike(op, mlirOperationGetNumOperands(op), mlirOperationGetOperand, &first) &&
         alike(op, mlirOperationGetNumResults(op), mlirOperationGetResult, &first);
}

static bool shape_op_agrees(struct audit *a, MlirOperation op) {
  MlirValue operand = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
  struct linear_layout from = *layout(a, operand), to = *layout(a, result), moved;
  int32_t order[LL_MAX_OUT];
  unsigned dims[LL_MAX_OUT];
  switch (op_id(a->c, op)) {
  case OP_TILE_EXPAND_DIMS:
    moved = ll_insert_out(&from, (unsigned)op_attr_int(op, "axis", -1));
    return same_places(&moved, &to);
  case OP_TILE_RESHAPE:
    return ll_reshape_outs(&from, to.out_count, to.out_bits, &moved) && ll_equal(&moved, &to);
  case OP_TILE_TRANS:
    op_attr_i32_array(op, "order", LL_MAX_OUT, order);
    for (unsigned d = 0; d < to.out_count; d++)
      dims[d] = (unsigned)order[d];
    moved = ll_transpose_outs(&from, dims);
    return ll_equal(&moved, &to);
  default: // broadcast
    return elementwise_agrees(op);
  }
}

// Where the halves of `tile` are: its pairs stand in neighbouring registers of one thread.
static bool halves_agree(const struct linear_layout *tile, const struct linear_layout *half) {
  unsigned last = tile->out_count - 1;
  int at = ll_find_in(tile, LL_REGISTER);
  struct linear_layout without = *tile;
  if (at < 0 || tile->in_bits[at] == 0 || tile->basis[at][0][last] != 1)
    return false;
  memset(without.basis[at][0], 0, sizeof(without.basis[at][0]));
  for (unsigned i = 0; i < tile->in_count; i++)
    for (unsigned b = 0; b < tile->in_bits[i]; b++)
      if (without.basis[i][b][last] != 0)
        return false;
  without = ll_remove_out(&without, last);
  return same_places(&without, half);
}

// A reduction leaves its operands' layout without the axis; scalars come from any layout.
static bool reduce_agrees(struct audit *a, MlirOperation op) {
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    if (!mlirAttributeEqual(tensor_encoding(from),
                            tensor_encoding(mlirValueGetType(mlirOperationGetOperand(op, i)))))
      return false;
    if (!type_is_tensor(mlirValueGetType(result)))
      continue;
    struct linear_layout rest = *layout(a, mlirOperationGetOperand(op, 0));
    rest = ll_remove_out(&rest, (unsigned)op_attr_int(op, "axis", -1));
    if (!same_places(&rest, layout(a, result)))
      return false;
  }
  return true;
}

static bool agrees(struct audit *a, MlirOperation op) {
  switch (op_id(a->c, op)) {
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS:
  case OP_TILE_BROADCAST: return shape_op_agrees(a, op);
  case OP_TILE_REDUCE: return reduce_agrees(a, op);
  case OP_TILE_JOIN:
    return operands_agree(op) && halves_agree(layout(a, mlirOperationGetResult(op, 0)),
                                              layout(a, mlirOperationGetOperand(op, 0)));
  case OP_TILE_SPLIT:
    return results_agree(op) && halves_agree(layout(a, mlirOperationGetOperand(op, 0)),
                                             layout(a, mlirOperationGetResult(op, 0)));
  case OP_TILE_GATHER:
    return mlirAttributeEqual(tensor_encoding(mlirValueGetType(mlirOperationGetOperand(op, 1))),
                              tensor_encoding(mlirValueGetType(mlirOperationGetResult(op, 0))));
  case OP_TILE_HISTOGRAM: return operands_agree(op);
  default: return !(op_flags(a->c, op) & (OP_EW | OP_ANCHOR)) || elementwise_agrees(op);
  }
}

static bool audit_op(MlirOperation op, void *user) {
  struct audit *a = user;
  enum op_id id = op_id(a->c, op);
  if (id == OP_GPU_CONVERT_LAYOUT) // other spellings of one layout cost nothing
    a->conversions += !ll_equal(layout(a, mlirOperationGetOperand(op, 0)),
                                layout(a, mlirOperationGetResult(op, 0)));
  a->loads += id == OP_TILE_LOAD;
  a->stores += id == OP_TILE_STORE || id == OP_TILE_ATOMIC_RMW;
  bool ok = true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (type_is_tensor(mlirValueGetType(mlirOperationGetResult(op, i))))
      ok &= layout(a, mlirOperationGetResult(op, i)) != NULL;
  ok = ok && agrees(a, op);
  if (!ok)
    snprintf(a->problem, sizeof(a->problem), "%s does not agree with itself", op_info(id)->name);
  return ok;
}

static struct audit check_module(struct pass_session *s, uint64_t seed, const char *after) {
  MlirOperation module = mlirModuleGetOperation(s->context.module);
  struct audit a = {.c = s->context.c};
  ir_walk(module, audit_op, &a);
  bool sound = a.problem[0] == '\0' && ir_verify(s->context.c, module);
  ck_assert_msg(sound, "kernel %llu after %s: %s%s", (unsigned long long)seed, after, a.problem,
                a.problem[0] ? "" : diag_first_error(s->diag));
  return a;
}

// ---- random kernels ----

enum { MAX_TILES = 64, STEPS = 40 };

struct kernel {
  struct builder b;
  uint64_t seed;
  MlirValue pointer, number;
  unsigned count;
  MlirValue tiles[MAX_TILES];
};

// Tiles of one rank but many shapes would never meet; these few do.
static const int64_t shapes[][2] = {{64, 0}, {16, 64},  {64, 16}, {1, 64},
                                    {64, 1}, {1024, 0}, {64, 2}};

static uint32_t roll(struct kernel *k, uint32_t n) {
  k->seed ^= k->seed << 13;
  k->seed ^= k->seed >> 7;
  k->seed ^= k->seed << 17;
  return (uint32_t)(k->seed >> 20) % n;
}

static unsigned rank_of(unsigned shape) { return shapes[shape][1] ? 2 : 1; }

static bool has_shape(MlirValue v, unsigned shape) {
  MlirType t = mlirValueGetType(v);
  if (tensor_rank(t) != rank_of(shape))
    return false;
  for (unsigned d = 0; d < rank_of(shape); d++)
    if (tensor_dim(t, d) != shapes[shape][d])
      return false;
  return true;
}

static void push(struct kernel *k, MlirValue v) {
  if (k->count < MAX_TILES)
    k->tiles[k->count++] = v;
}

// An i32 tile of that shape; a new one where there is none.
static MlirValue pick(struct kernel *k, unsigned shape) {
  unsigned first = k->count ? roll(k, k->count) : 0;
  for (unsigned i = 0; i < k->count; i++) {
    MlirValue v = k->tiles[(first + i) % k->count];
    if (has_shape(v, shape))
      return v;
  }
  MlirValue v;
  if (rank_of(shape) == 1 && roll(k, 2))
    v = build_make_range(&k->b, 0, (int32_t)shapes[shape][0]);
  else
    v = build_splat(&k->b, k->number, rank_of(shape), shapes[shape]);
  push(k, v);
  return v;
}

static MlirValue address(struct kernel *k, unsigned shape) {
  MlirValue base = build_splat(&k->b, k->pointer, rank_of(shape), shapes[shape]);
  return build_addptr(&k->b, base, pick(k, shape));
}

static MlirValue mask(struct kernel *k, unsigned shape) {
  MlirValue none = {NULL};
  return roll(k, 2) ? none : build_cmpi(&k->b, 2, pick(k, shape), pick(k, shape));
}

static void add_load(struct kernel *k, unsigned shape) {
  MlirValue ptr = address(k, shape), m = mask(k, shape), none = {NULL};
  push(k, build_load(&k->b, ptr, m, none, "", "", false));
}

static void add_store(struct kernel *k, unsigned shape) {
  MlirValue ptr = address(k, shape), value = pick(k, shape), m = mask(k, shape);
  if (roll(k, 4))
    build_store(&k->b, ptr, value, m, "", "");
  else
    push(k, build_atomic_rmw(&k->b, "add", ptr, value, m, "relaxed", "gpu"));
}

static void add_shape_op(struct kernel *k) {
  const int32_t swap[2] = {1, 0};
  switch (roll(k, 7)) {
  case 0: push(k, build_expand_dims(&k->b, pick(k, 0), 0)); return;
  case 1: push(k, build_expand_dims(&k->b, pick(k, 0), 1)); return;
  case 2: push(k, build_broadcast(&k->b, pick(k, 3), 2, shapes[1])); return;
  case 3: push(k, build_broadcast(&k->b, pick(k, 4), 2, shapes[2])); return;
  case 4: push(k, build_reshape(&k->b, pick(k, 1 + roll(k, 2)), 1, shapes[5], false)); return;
  case 5: push(k, build_reshape(&k->b, pick(k, 5), 2, shapes[1 + roll(k, 2)], false)); return;
  default: push(k, build_trans(&k->b, pick(k, 1 + roll(k, 2)), 2, swap));
  }
}

// Ops across elements: one or two values reduced or scanned along either axis, pairs, gathers.
static void add_collective(struct kernel *k) {
  MlirValue v[2], r[2];
  unsigned shape = 1 + roll(k, 2), axis = roll(k, 2), n = 1 + roll(k, 2);
  v[0] = pick(k, shape);
  v[1] = pick(k, shape);
  switch (roll(k, 8)) {
  case 0:
  case 1:
  case 2:
    axis = shape == 1 ? 0 : 1; // what is left is 64 long
    build_reduce(&k->b, n, v, axis, n == 1 ? "one" : "two", r);
    push(k, r[n - 1]);
    return;
  case 3:
    build_scan(&k->b, n, v, axis, n == 1 ? "one" : "two", false, r);
    push(k, r[n - 1]);
    return;
  case 4: push(k, build_join(&k->b, pick(k, 0), pick(k, 0))); return;
  case 5:
    build_split(&k->b, pick(k, 6), r);
    push(k, r[0]);
    push(k, r[1]);
    return;
  case 6: push(k, build_gather(&k->b, v[0], v[1], axis)); return;
  default:
    v[0] = pick(k, 5);
    v[1] = pick(k, 5);
    if (roll(k, 2)) {
      push(k, build_histogram(&k->b, v[0], mask(k, 5), 64));
      return;
    }
    build_reduce(&k->b, n, v, 0, n == 1 ? "one" : "two", r);
    push(k, build_splat(&k->b, r[0], 1, shapes[0]));
  }
}

static void add_steps(struct kernel *k, unsigned steps, unsigned depth);

// What a region computes is visible inside it only.
static void fill_region(struct kernel *k, MlirBlock block, unsigned shape, unsigned depth) {
  struct builder outer = k->b;
  unsigned visible = k->count;
  k->b = builder_at_end(outer.c, block, outer.loc);
  add_steps(k, 6, depth + 1);
  MlirValue result = pick(k, shape);
  build_yield(&k->b, 1, &result);
  k->b = outer;
  k->count = visible;
}

static void add_control(struct kernel *k, unsigned depth) {
  unsigned shape = roll(k, COUNT_OF(shapes));
  if (roll(k, 2)) {
    MlirValue init = pick(k, shape);
    MlirBlock body;
    MlirOperation loop = build_for(&k->b, k->number, k->number, k->number, 1, &init, &body);
    unsigned visible = k->count;
    push(k, mlirBlockGetArgument(body, 1));
    fill_region(k, body, shape, depth);
    k->count = visible;
    push(k, mlirOperationGetResult(loop, 0));
    return;
  }
  MlirValue model = pick(k, shape);
  MlirType type = mlirValueGetType(model);
  MlirValue condition = build_cmpi(&k->b, 2, k->number, k->number);
  MlirBlock then_block, else_block;
  MlirOperation branch = build_if(&k->b, condition, 1, &type, &then_block, &else_block);
  fill_region(k, then_block, shape, depth);
  fill_region(k, else_block, shape, depth);
  push(k, mlirOperationGetResult(branch, 0));
}

static void add_steps(struct kernel *k, unsigned steps, unsigned depth) {
  for (unsigned i = 0; i < steps && k->count + 8 < MAX_TILES; i++) {
    unsigned shape = roll(k, COUNT_OF(shapes));
    switch (roll(k, 12)) {
    case 0:
    case 1: add_load(k, shape); break;
    case 2: add_store(k, shape); break;
    case 3:
    case 4:
    case 5: add_shape_op(k); break;
    case 6:
    case 7: add_collective(k); break;
    case 8:
      if (depth < 2)
        add_control(k, depth);
      break;
    default: {
      MlirValue x = pick(k, shape), y = pick(k, shape);
      push(k, build_binary(&k->b, roll(k, 2) ? OP_ARITH_ADDI : OP_ARITH_DIVSI, x, y));
    }
    }
  }
}

// A private function that adds n values to n others.
static void build_combine(struct ir_context *c, MlirModule m, const char *name, size_t n) {
  MlirLocation loc = mlirLocationUnknownGet(c->mlir);
  MlirType i32 = mlir_of_dtype(c, DTYPE_I32), types[] = {i32, i32, i32, i32};
  MlirOperation f = build_func(c, m, name, 2 * n, types, n, types, false, loc);
  mlirOperationSetAttributeByName(f, mlirStringRefCreateFromCString("sym_visibility"),
                                  attr_str(c, "private"));
  struct builder b = builder_at_end(c, func_entry(f), loc);
  MlirValue sums[2];
  for (size_t i = 0; i < n; i++)
    sums[i] = build_binary(&b, OP_ARITH_ADDI, mlirBlockGetArgument(func_entry(f), (intptr_t)i),
                           mlirBlockGetArgument(func_entry(f), (intptr_t)(n + i)));
  build_return(&b, n, sums);
}

static void build_kernel(struct pass_session *s, uint64_t seed) {
  struct ir_context *c = s->context.c;
  MlirLocation loc = mlirLocationUnknownGet(c->mlir);
  MlirType i32 = mlir_of_dtype(c, DTYPE_I32);
  MlirType types[2] = {ptr_type(c, i32), i32};
  build_combine(c, s->context.module, "one", 1);
  build_combine(c, s->context.module, "two", 2);
  MlirOperation func = build_func(c, s->context.module, "k", 2, types, 0, NULL, true, loc);
  if (seed % 3)
    func_set_arg_attr(c, func, 0, "tile.divisibility", attr_i32(c, 16));
  func_set_arg_attr(c, func, 1, "tile.divisibility", attr_i32(c, 16));
  struct kernel k = {.seed = seed * 0x9e3779b97f4a7c15u + 1};
  k.b = builder_at_end(c, func_entry(func), loc);
  k.pointer = mlirBlockGetArgument(func_entry(func), 0);
  k.number = mlirBlockGetArgument(func_entry(func), 1);
  add_steps(&k, STEPS, 0);
  build_return(&k.b, 0, NULL);
}

START_TEST(random_kernels) {
  unsigned before = 0, after = 0;
  for (uint64_t seed = (uint64_t)_i * 50 + 1; seed <= (uint64_t)_i * 50 + 50; seed++) {
    struct pass_session s = pass_session_open("module {}");
    s.context.num_warps = 1u << seed % 4;
    build_kernel(&s, seed);
    ck_assert(ir_verify(s.context.c, mlirModuleGetOperation(s.context.module)));
    ck_assert(pass_assign_layouts(&s.context) == PASS_CHANGED);
    struct audit assigned = check_module(&s, seed, "assign-layouts");
    pass_coalesce(&s.context);
    struct audit coalesced = check_module(&s, seed, "coalesce");
    pass_remove_layout_conversions(&s.context);
    struct audit removed = check_module(&s, seed, "remove-layout-conversions");
    const char *once = pass_session_text(&s);
    ck_assert_msg(pass_remove_layout_conversions(&s.context) == PASS_UNCHANGED &&
                      strcmp(once, pass_session_text(&s)) == 0,
                  "kernel %llu: a second run finds something", (unsigned long long)seed);
    pass_reorder(&s.context);
    check_module(&s, seed, "reorder");
    ck_assert_uint_eq(removed.loads, assigned.loads);
    ck_assert_uint_eq(removed.stores, assigned.stores);
    before += coalesced.conversions;
    after += removed.conversions;
    ck_assert_msg(pass_reorder(&s.context) == PASS_UNCHANGED, "kernel %llu is reordered again",
                  (unsigned long long)seed);
    pass_session_close(&s);
  }
  // Not of every kernel: one conversion of a large tile may be traded for two of small ones.
  ck_assert_msg(after * 4 < before, "%u conversions of %u are left", after, before);
}
END_TEST

// ---- remarks ----

#define LOAD(offset)                                                                               \
  "module { func.func @k(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = \"x\"}, "   \
  "%n: i32) attributes {tile.kernel} {\n"                                                          \
  "%r = \"tile.make_range\"() {end = 1024 : i32, start = 0 : i32} : () -> tensor<1024xi32>\n"      \
  "%ns = \"tile.splat\"(%n) : (i32) -> tensor<1024xi32>\n"                                         \
  "%shifted = arith.addi %r, %ns : tensor<1024xi32>\n"                                             \
  "%doubled = arith.addi %r, %r : tensor<1024xi32>\n"                                              \
  "%s = \"tile.splat\"(%x) : (!tile.ptr<f32>) -> tensor<1024x!tile.ptr<f32>>\n"                    \
  "%a = \"tile.addptr\"(%s, " offset ") : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>) -> "     \
  "tensor<1024x!tile.ptr<f32>>\n"                                                                  \
  "%v = \"tile.load\"(%a) {cache = \"\", evict = \"\", is_volatile = false, "                      \
  "operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1024x!tile.ptr<f32>>) -> "                 \
  "tensor<1024xf32>\n"                                                                             \
  "return } }\n"

static const struct {
  const char *text, *want; // a part of the remark; NULL: no remark
} remarks[] = {
    {LOAD("%r"), NULL},
    {LOAD("%shifted"), "load of `x` is 1 element wide, not 4: the pointer's offset is "
                       "not known to be divisible by 4"},
    {LOAD("%doubled"),
     "load of `x` is 1 element wide, not 4: its addresses are not known to be consecutive"},
};

START_TEST(coalesce_remarks) {
  struct pass_session s = pass_session_open(remarks[_i].text);
  ck_assert(pass_assign_layouts(&s.context) == PASS_CHANGED);
  pass_coalesce(&s.context);
  struct strbuf text = {0};
  diag_render_text(s.diag, (struct diag_style){.remarks = true}, &text);
  if (remarks[_i].want)
    ck_assert_msg(strstr(strbuf_cstr(&text), remarks[_i].want) != NULL, "%s", strbuf_cstr(&text));
  else
    ck_assert_uint_eq(diag_count(s.diag), 0);
  strbuf_finish(&text);
  pass_session_close(&s);
}
END_TEST

TCase *layout_passes_tests(void) {
  TCase *t = tcase_create("layout_passes");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, random_kernels, 0, 8);
  tcase_add_loop_test(t, coalesce_remarks, 0, (int)COUNT_OF(remarks));
  return t;
}
