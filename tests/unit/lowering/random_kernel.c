// SPDX-License-Identifier: Apache-2.0
// Tiles of a few shapes, each op on whatever fits; a scope a region.
#include "random_kernel.h"

#include "mlir-dialects/build.h"

enum { MAX_TILES = 64, STEPS = 40, SHAPES = 7 };

struct kernel {
  struct builder b;
  uint64_t seed;
  const int64_t (*shapes)[2];
  MlirValue pointer, number;
  bool runs; // every access is in bounds, none depends on the order of threads
  unsigned stores;
  unsigned count;
  MlirValue tiles[MAX_TILES];
};

// Tiles of one rank but many shapes would never meet; these few do. Small ones for kernels that
// run.
static const int64_t shapes[2][SHAPES][2] = {
    {{64, 0}, {16, 64}, {64, 16}, {1, 64}, {64, 1}, {1024, 0}, {64, 2}},
    {{32, 0}, {8, 32}, {32, 8}, {1, 32}, {32, 1}, {256, 0}, {32, 2}}};

static uint32_t roll(struct kernel *k, uint32_t n) {
  k->seed ^= k->seed << 13;
  k->seed ^= k->seed >> 7;
  k->seed ^= k->seed << 17;
  return (uint32_t)(k->seed >> 20) % n;
}

static unsigned rank_of(unsigned shape) { return shapes[0][shape][1] ? 2 : 1; }

static bool has_shape(const struct kernel *k, MlirValue v, unsigned shape) {
  MlirType t = mlirValueGetType(v);
  if (tensor_rank(t) != rank_of(shape))
    return false;
  for (unsigned d = 0; d < rank_of(shape); d++)
    if (tensor_dim(t, d) != k->shapes[shape][d])
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
    if (has_shape(k, v, shape))
      return v;
  }
  MlirValue v;
  if (rank_of(shape) == 1 && roll(k, 2))
    v = build_make_range(&k->b, 0, (int32_t)k->shapes[shape][0]);
  else
    v = build_splat(&k->b, k->number, rank_of(shape), k->shapes[shape]);
  push(k, v);
  return v;
}

static MlirType number_type(struct kernel *k, unsigned shape) {
  MlirType i32 = mlir_of_dtype(k->b.c, DTYPE_I32);
  return tensor_type(rank_of(shape), k->shapes[shape], i32, mlirAttributeGetNull());
}

// Numbers from 0 to limit - 1, a power of two.
static MlirValue below(struct kernel *k, MlirValue v, int64_t limit) {
  if (!k->runs)
    return v;
  MlirValue mask = build_const_int(&k->b, mlirValueGetType(v), limit - 1);
  return build_binary(&k->b, OP_ARITH_ANDI, v, mask);
}

static MlirValue address(struct kernel *k, MlirValue offsets, unsigned shape) {
  MlirValue base = build_splat(&k->b, k->pointer, rank_of(shape), k->shapes[shape]);
  return build_addptr(&k->b, base, offsets);
}

// Each element has a index of its own, behind what is read and what other stores write.
static MlirValue own_locations(struct kernel *k, unsigned shape) {
  MlirType type = number_type(k, shape);
  int64_t n = tensor_numel(type);
  MlirValue v = build_make_range(&k->b, 0, (int32_t)n);
  if (rank_of(shape) == 2)
    v = build_reshape(&k->b, v, 2, k->shapes[shape], false);
  MlirValue base = build_const_int(&k->b, type, RANDOM_KERNEL_INPUT * (1 + (int64_t)k->stores++));
  return build_binary(&k->b, OP_ARITH_ADDI, v, base);
}

static MlirValue mask(struct kernel *k, unsigned shape) {
  MlirValue none = {NULL};
  return roll(k, 2) ? none : build_cmpi(&k->b, 2, pick(k, shape), pick(k, shape));
}

static void add_load(struct kernel *k, unsigned shape) {
  MlirValue offsets = below(k, pick(k, shape), RANDOM_KERNEL_INPUT), none = {NULL};
  MlirValue ptr = address(k, offsets, shape), m = mask(k, shape);
  push(k, build_load(&k->b, ptr, m, none, "", "", false));
}

static void add_store(struct kernel *k, unsigned shape) {
  if (k->runs && k->stores == RANDOM_KERNEL_STORES)
    return;
  MlirValue offsets = k->runs ? own_locations(k, shape) : pick(k, shape);
  MlirValue ptr = address(k, offsets, shape), value = pick(k, shape), m = mask(k, shape);
  if (k->runs || roll(k, 4))
    build_store(&k->b, ptr, value, m, "", "");
  else
    push(k, build_atomic_rmw(&k->b, "add", ptr, value, m, "relaxed", "gpu"));
}

static void add_shape_op(struct kernel *k) {
  const int32_t swap[2] = {1, 0};
  switch (roll(k, 7)) {
  case 0: push(k, build_expand_dims(&k->b, pick(k, 0), 0)); return;
  case 1: push(k, build_expand_dims(&k->b, pick(k, 0), 1)); return;
  case 2: push(k, build_broadcast(&k->b, pick(k, 3), 2, k->shapes[1])); return;
  case 3: push(k, build_broadcast(&k->b, pick(k, 4), 2, k->shapes[2])); return;
  case 4: push(k, build_reshape(&k->b, pick(k, 1 + roll(k, 2)), 1, k->shapes[5], false)); return;
  case 5: push(k, build_reshape(&k->b, pick(k, 5), 2, k->shapes[1 + roll(k, 2)], false)); return;
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
    axis = shape == 1 ? 0 : 1; // what is left is as long as shape 0
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
  case 6: {
    MlirValue index = below(k, v[1], k->shapes[shape][axis]);
    push(k, build_gather(&k->b, v[0], index, axis));
    return;
  }
  default:
    v[0] = pick(k, 5);
    v[1] = pick(k, 5);
    if (roll(k, 2)) {
      push(k, build_histogram(&k->b, v[0], mask(k, 5), k->shapes[0][0]));
      return;
    }
    build_reduce(&k->b, n, v, 0, n == 1 ? "one" : "two", r);
    push(k, build_splat(&k->b, r[0], 1, k->shapes[0]));
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
  unsigned shape = roll(k, SHAPES);
  if (roll(k, 2)) {
    MlirValue init = pick(k, shape);
    MlirBlock body;
    MlirValue from = k->number, to = k->number, step = k->number;
    if (k->runs) {
      MlirType i32 = mlirValueGetType(k->number);
      from = build_const_int(&k->b, i32, 0);
      to = below(k, k->number, 4);
      step = build_const_int(&k->b, i32, 1);
    }
    MlirOperation loop = build_for(&k->b, from, to, step, 1, &init, &body);
    unsigned visible = k->count;
    push(k, mlirBlockGetArgument(body, 1));
    fill_region(k, body, shape, depth);
    k->count = visible;
    push(k, mlirOperationGetResult(loop, 0));
    return;
  }
  MlirValue model = pick(k, shape);
  MlirType type = mlirValueGetType(model);
  MlirValue edge = build_const_int(&k->b, mlirValueGetType(k->number), roll(k, 8));
  MlirValue condition = build_cmpi(&k->b, 2, k->number, edge);
  MlirBlock then_block, else_block;
  MlirOperation branch = build_if(&k->b, condition, 1, &type, &then_block, &else_block);
  fill_region(k, then_block, shape, depth);
  fill_region(k, else_block, shape, depth);
  push(k, mlirOperationGetResult(branch, 0));
}

static void add_steps(struct kernel *k, unsigned steps, unsigned depth) {
  for (unsigned i = 0; i < steps && k->count + 8 < MAX_TILES; i++) {
    unsigned shape = roll(k, SHAPES);
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
      enum op_id other = k->runs ? OP_ARITH_MAXSI : OP_ARITH_DIVSI; // nothing divides by zero
      push(k, build_binary(&k->b, roll(k, 2) ? OP_ARITH_ADDI : other, x, y));
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

void random_kernel_build(struct pass_session *s, uint64_t seed, bool runs) {
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
  struct kernel k = {.seed = seed * 0x9e3779b97f4a7c15u + 1, .runs = runs, .shapes = shapes[runs]};
  k.b = builder_at_end(c, func_entry(func), loc);
  k.pointer = mlirBlockGetArgument(func_entry(func), 0);
  k.number = mlirBlockGetArgument(func_entry(func), 1);
  add_steps(&k, STEPS, 0);
  while (runs && k.stores < RANDOM_KERNEL_STORES)
    add_store(&k, roll(&k, SHAPES));
  build_return(&k.b, 0, NULL);
}
