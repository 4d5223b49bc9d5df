// SPDX-License-Identifier: Apache-2.0
// Axis info against brute force: random integer kernels are evaluated element by element for
// random parameters, and every claim about every tile is compared with the values it has.
#include "lowering/analysis/axis_info.h"
#include "mlir-dialects/build.h"
#include "suites.h"

enum { ROWS = 8, COLS = 32, SIZE = ROWS * COLS, MAX_VALUES = 40, KERNELS = 1500 };

// A tile of the kernel under test and what is in it, row-major.
struct value {
  MlirValue ir;
  unsigned rank; // 1: COLS elements, 2: ROWS x COLS
  bool is_mask;
  int64_t at[SIZE];
};

struct kernel {
  struct ir_context *c;
  struct builder b;
  uint64_t seed;
  unsigned count;
  struct value v[MAX_VALUES];
};

static uint32_t roll(struct kernel *k, uint32_t n) {
  k->seed ^= k->seed << 13;
  k->seed ^= k->seed >> 7;
  k->seed ^= k->seed << 17;
  return (uint32_t)(k->seed >> 20) % n;
}

static const int64_t shape[2] = {ROWS, COLS};

static int64_t numel(const struct value *v) { return v->rank == 2 ? SIZE : COLS; }

static struct value *push(struct kernel *k, MlirValue ir, unsigned rank, bool is_mask) {
  struct value *v = &k->v[k->count++];
  v->ir = ir;
  v->rank = rank;
  v->is_mask = is_mask;
  return v;
}

// A value of that kind, or NULL.
static struct value *pick(struct kernel *k, unsigned rank, bool is_mask) {
  unsigned first = roll(k, k->count);
  for (unsigned i = 0; i < k->count; i++) {
    struct value *v = &k->v[(first + i) % k->count];
    if (v->rank == rank && v->is_mask == is_mask)
      return v;
  }
  return NULL;
}

static const struct {
  enum op_id id;
  int kind;
} binaries[] = {
    {OP_ARITH_ADDI, '+'},  {OP_ARITH_SUBI, '-'},  {OP_ARITH_MULI, '*'},  {OP_ARITH_DIVSI, '/'},
    {OP_ARITH_DIVUI, 'u'}, {OP_ARITH_REMSI, '%'}, {OP_ARITH_REMUI, 'r'}, {OP_ARITH_ANDI, '&'},
    {OP_ARITH_ORI, '|'},   {OP_ARITH_XORI, '^'},  {OP_ARITH_SHLI, 'l'},  {OP_ARITH_SHRSI, 's'},
    {OP_ARITH_SHRUI, 'z'}, {OP_ARITH_MINSI, 'm'}, {OP_ARITH_MAXSI, 'M'}, {OP_ARITH_MINUI, 'n'},
    {OP_ARITH_MAXUI, 'N'},
};

// False where the operation is undefined or leaves 32 bits: such kernels promise nothing.
static bool apply(int kind, int64_t x, int64_t y, int64_t *ret) {
  uint32_t a = (uint32_t)x, b = (uint32_t)y;
  switch (kind) {
  case '+': *ret = x + y; break;
  case '-': *ret = x - y; break;
  case '*': *ret = x * y; break;
  case '/':
    if (y == 0 || (x >= 0 && y < 0)) // sizes are positive
      return false;
    *ret = x / y;
    break;
  case '%':
    if (y == 0)
      return false;
    *ret = x % y;
    break;
  case 'u':
    if (b == 0)
      return false;
    *ret = (int32_t)(a / b);
    break;
  case 'r':
    if (b == 0)
      return false;
    *ret = (int32_t)(a % b);
    break;
  case '&': *ret = x & y; break;
  case '|': *ret = x | y; break;
  case '^': *ret = x ^ y; break;
  case 'l':
    if (y < 0 || y > 30)
      return false;
    *ret = x * ((int64_t)1 << y);
    break;
  case 's':
    if (y < 0 || y > 30)
      return false;
    *ret = x >> y;
    break;
  case 'z':
    if (y < 0 || y > 30)
      return false;
    *ret = (int32_t)(a >> y);
    break;
  case 'm': *ret = x < y ? x : y; break;
  case 'M': *ret = x > y ? x : y; break;
  case 'n': *ret = a < b ? x : y; break;
  case 'N': *ret = a > b ? x : y; break;
  default: return false;
  }
  return *ret == (int32_t)*ret;
}

static bool compare(int predicate, int64_t x, int64_t y) {
  uint32_t a = (uint32_t)x, b = (uint32_t)y;
  switch (predicate) {
  case 0: return x == y;
  case 1: return x != y;
  case 2: return x < y;
  case 3: return x <= y;
  case 4: return x > y;
  case 5: return x >= y;
  case 6: return a < b;
  case 7: return a <= b;
  case 8: return a > b;
  default: return a >= b;
  }
}

static void add_leaf(struct kernel *k, MlirValue parameter, int64_t value) {
  static const int64_t constants[] = {0, 1, 2, 3, 4, 7, 8, 16, 31, 32, -1, -8, -3, 12};
  unsigned rank = 1 + roll(k, 2);
  MlirType i32 = mlir_of_dtype(k->c, DTYPE_I32);
  struct value *v;
  switch (roll(k, 4)) {
  case 0: {
    int32_t start = (int32_t)(roll(k, 5) * (roll(k, 2) ? 8 : 3));
    v = push(k, build_make_range(&k->b, start, start + COLS), 1, false);
    for (int i = 0; i < COLS; i++)
      v->at[i] = start + i;
    return;
  }
  case 1: {
    MlirType type = tensor_type(rank, shape + 2 - rank, i32, mlirAttributeGetNull());
    value = constants[roll(k, COUNT_OF(constants))];
    v = push(k, build_const_int(&k->b, type, value), rank, false);
    break;
  }
  default: v = push(k, build_splat(&k->b, parameter, rank, shape + 2 - rank), rank, false);
  }
  for (int64_t i = 0; i < numel(v); i++)
    v->at[i] = value;
}

static void add_binary(struct kernel *k) {
  unsigned rank = 1 + roll(k, 2), which = roll(k, COUNT_OF(binaries));
  const struct value *x = pick(k, rank, false), *y = pick(k, rank, false);
  int64_t results[SIZE];
  if (!x || !y)
    return;
  for (int64_t i = 0; i < numel(x); i++)
    if (!apply(binaries[which].kind, x->at[i], y->at[i], &results[i]))
      return;
  struct value *v = push(k, build_binary(&k->b, binaries[which].id, x->ir, y->ir), rank, false);
  memcpy(v->at, results, sizeof(results));
}

static void add_compare(struct kernel *k) {
  unsigned rank = 1 + roll(k, 2);
  const struct value *x = pick(k, rank, false), *y = pick(k, rank, false);
  int predicate = (int)roll(k, 10);
  if (!x || !y)
    return;
  struct value *v = push(k, build_cmpi(&k->b, predicate, x->ir, y->ir), rank, true);
  for (int64_t i = 0; i < numel(v); i++)
    v->at[i] = compare(predicate, x->at[i], y->at[i]);
}

static void add_select(struct kernel *k) {
  unsigned rank = 1 + roll(k, 2);
  const struct value *m = pick(k, rank, true), *x = pick(k, rank, false), *y = pick(k, rank, false);
  if (!m || !x || !y)
    return;
  struct value *v = push(k, build_select(&k->b, m->ir, x->ir, y->ir), rank, false);
  for (int64_t i = 0; i < numel(v); i++)
    v->at[i] = m->at[i] ? x->at[i] : y->at[i];
}

// A row becomes a tile of equal rows.
static void add_rows(struct kernel *k) {
  const struct value *x = pick(k, 1, false);
  if (!x)
    return;
  MlirValue row = build_expand_dims(&k->b, x->ir, 0);
  struct value *v = push(k, build_broadcast(&k->b, row, 2, shape), 2, false);
  for (int i = 0; i < SIZE; i++)
    v->at[i] = x->at[i % COLS];
}

// The first dimension counted: 0 0 0 ... 1 1 1 ...
static void add_columns(struct kernel *k) {
  MlirValue range = build_make_range(&k->b, 0, ROWS);
  MlirValue column = build_expand_dims(&k->b, range, 1);
  struct value *v = push(k, build_broadcast(&k->b, column, 2, shape), 2, false);
  for (int i = 0; i < SIZE; i++)
    v->at[i] = i / COLS;
}

// Flattened, a pair of tiles added or compared would be the same: only the claims change.
static void add_reshaped(struct kernel *k) {
  const struct value *x = pick(k, 2, roll(k, 2));
  int64_t other[2] = {COLS, ROWS};
  if (!x)
    return;
  MlirValue flat = build_reshape(&k->b, x->ir, 2, other, false);
  struct value *v = push(k, build_reshape(&k->b, flat, 2, shape, false), 2, x->is_mask);
  memcpy(v->at, x->at, sizeof(v->at));
}

static void add_transposed_twice(struct kernel *k) {
  const struct value *x = pick(k, 2, false);
  const int32_t order[2] = {1, 0};
  if (!x)
    return;
  MlirValue t = build_trans(&k->b, x->ir, 2, order);
  struct value *v = push(k, build_trans(&k->b, t, 2, order), 2, false);
  memcpy(v->at, x->at, sizeof(v->at));
}

// Fails the test. Only called where a claim is wrong: an assertion of Check is a system call, and
// there are millions of claims.
static void refute(uint64_t seed, const char *claim, int64_t size, unsigned d, int64_t at) {
  ck_abort_msg("kernel %llu: %s %lld of dimension %u breaks at element %lld",
               (unsigned long long)seed, claim, (long long)size, d, (long long)at);
}

static void check_dim(const struct axis_info *info, const struct value *v, unsigned d,
                      uint64_t seed) {
  int64_t size = v->rank == 2 ? shape[d] : COLS;
  int64_t step = v->rank == 2 && d == 0 ? COLS : 1; // between neighbours along d
  int64_t run = info->contiguity[d], equal = info->constancy[d], divides = info->divisibility[d];
  ck_assert(run >= 1 && run <= size && equal >= 1 && equal <= size && divides >= 1);
  for (int64_t at = 0; at < numel(v); at++) {
    int64_t i = at / step % size;
    if (i % run && v->at[at] != v->at[at - step] + 1)
      refute(seed, "contiguity", run, d, at);
    if (i % run == 0 && v->at[at] % divides)
      refute(seed, "divisibility", divides, d, at);
    if (i % equal && v->at[at] != v->at[at - step])
      refute(seed, "constancy", equal, d, at);
  }
}

static void check_value(const struct axis_info *info, const struct value *v, uint64_t seed) {
  ck_assert_uint_eq(info->rank, v->rank);
  for (unsigned d = 0; d < v->rank; d++)
    check_dim(info, v, d, seed);
  for (int64_t i = 0; i < numel(v) && !v->is_mask; i++) {
    if (info->is_constant && v->at[i] != info->constant)
      refute(seed, "constant", info->constant, 0, i);
    if (info->is_nonnegative && v->at[i] < 0)
      refute(seed, "sign", v->at[i], 0, i);
  }
}

static void try_kernel(struct ir_context *c, uint64_t seed) {
  struct arena *a = arena_create();
  struct kernel *k = arena_new(a, struct kernel);
  k->c = c;
  k->seed = seed * 0x9e3779b97f4a7c15u + 1;
  MlirLocation loc = mlirLocationUnknownGet(c->mlir);
  MlirModule module = build_module(c, loc);
  MlirType i32 = mlir_of_dtype(c, DTYPE_I32);
  MlirType types[2] = {i32, i32};
  MlirOperation func = build_func(c, module, "k", 2, types, 0, NULL, true, loc);
  func_set_arg_attr(c, func, 0, "tile.divisibility", attr_i32(c, 16));
  k->b = builder_at_end(c, func_entry(func), loc);
  int64_t values[2] = {16 * ((int64_t)roll(k, 9) - 3), (int64_t)roll(k, 90) - 30};
  for (int step = 0; step < 60 && k->count + 1 < MAX_VALUES; step++) {
    unsigned parameter = roll(k, 2);
    switch (k->count < 4 ? 0 : roll(k, 12)) {
    case 0:
      add_leaf(k, mlirBlockGetArgument(func_entry(func), parameter), values[parameter]);
      break;
    case 1:
    case 2: add_compare(k); break;
    case 3: add_select(k); break;
    case 4: add_rows(k); break;
    case 5: add_columns(k); break;
    case 6: add_reshaped(k); break;
    case 7: add_transposed_twice(k); break;
    default: add_binary(k);
    }
  }
  build_return(&k->b, 0, NULL);
  struct axis_analysis *x = axis_analyse(c, mlirModuleGetOperation(module), a);
  for (unsigned i = 0; i < k->count; i++)
    check_value(axis_info_of(x, k->v[i].ir), &k->v[i], seed);
  mlirModuleDestroy(module);
  arena_destroy(a);
}

START_TEST(claims_hold) {
  struct arena *a = arena_create();
  struct ir_context *c = ir_context_create(a, diag_engine_create(a));
  ck_assert_ptr_nonnull(c);
  for (uint64_t seed = 1; seed <= KERNELS; seed++)
    try_kernel(c, seed);
  ir_context_destroy(c);
  arena_destroy(a);
}
END_TEST

TCase *axis_soundness_tests(void) {
  TCase *t = tcase_create("axis_soundness");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, claims_hold);
  return t;
}
