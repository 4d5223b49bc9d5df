// SPDX-License-Identifier: Apache-2.0
// Random kernels mean the same before and after every pass over tiles: integers, tiles of three
// shapes, pointers, masks, reductions, loops and branches, interpreted on a few arguments.
#include "interpret.h"
#include "mlir-dialects/build.h"
#include "pass_session.h"
#include "suites.h"

enum { KINDS = 6, POOL = 64, KERNELS = 60, OUTPUTS = 12 }; // outputs of each kind

// Values of a kind a random op can use: what is in scope where the generator stands.
struct scope {
  MlirValue values[KINDS][POOL];
  unsigned count[KINDS];
};

struct generator {
  struct builder b;
  uint64_t state;
  MlirType types[KINDS];
  unsigned depth;
};

// Scalars, their tiles, small tiles that broadcast, booleans of either.
enum { I32, I64, ROW, ONE_ROW, TILE, MASK };

static unsigned roll(struct generator *g, unsigned n) {
  g->state ^= g->state << 13;
  g->state ^= g->state >> 7;
  g->state ^= g->state << 17;
  return (unsigned)(g->state >> 20) % n;
}

static void add(struct generator *g, struct scope *s, unsigned kind, MlirValue v) {
  unsigned at = s->count[kind] < POOL ? s->count[kind]++ : roll(g, POOL);
  s->values[kind][at] = v;
}

static MlirValue pick(struct generator *g, struct scope *s, unsigned kind) {
  static const int64_t constants[] = {0, 1, -1, 2, 3, 7, 16, 0x7fffffff};
  if (kind != MASK && (s->count[kind] == 0 || roll(g, 5) == 0))
    return build_const_int(&g->b, g->types[kind], constants[roll(g, COUNT_OF(constants))]);
  if (s->count[kind] == 0)
    return build_const_int(&g->b, g->types[kind], roll(g, 2));
  return s->values[kind][roll(g, s->count[kind])];
}

static void add_arithmetic(struct generator *g, struct scope *s, unsigned kind) {
  static const enum op_id total[] = {OP_ARITH_ADDI,  OP_ARITH_SUBI, OP_ARITH_MULI,  OP_ARITH_ANDI,
                                     OP_ARITH_ORI,   OP_ARITH_XORI, OP_ARITH_MAXSI, OP_ARITH_MINSI,
                                     OP_ARITH_MAXUI, OP_ARITH_MINUI};
  static const enum op_id partial[] = {OP_ARITH_DIVSI, OP_ARITH_REMSI, OP_ARITH_DIVUI,
                                       OP_ARITH_REMUI, OP_ARITH_SHLI,  OP_ARITH_SHRSI,
                                       OP_ARITH_SHRUI};
  static const int64_t right[] = {1, 2, 3, 5, 8};
  MlirValue x = pick(g, s, kind);
  if (kind == MASK) {
    add(g, s, kind, build_binary(&g->b, total[3 + roll(g, 3)], x, pick(g, s, kind)));
  } else if (roll(g, 4)) {
    add(g, s, kind, build_binary(&g->b, total[roll(g, COUNT_OF(total))], x, pick(g, s, kind)));
  } else { // has a value for these right operands
    MlirValue y = build_const_int(&g->b, g->types[kind], right[roll(g, COUNT_OF(right))]);
    add(g, s, kind, build_binary(&g->b, partial[roll(g, COUNT_OF(partial))], x, y));
  }
}

static void add_shape(struct generator *g, struct scope *s) {
  static const int64_t row[] = {8}, one_row[] = {1, 8}, tile[] = {4, 8};
  switch (roll(g, 6)) {
  case 0: add(g, s, ROW, build_splat(&g->b, pick(g, s, I32), 1, row)); break;
  case 1: add(g, s, TILE, build_splat(&g->b, pick(g, s, I32), 2, tile)); break;
  case 2: add(g, s, ONE_ROW, build_expand_dims(&g->b, pick(g, s, ROW), 0)); break;
  case 3: add(g, s, TILE, build_broadcast(&g->b, pick(g, s, ONE_ROW), 2, tile)); break;
  case 4: add(g, s, ONE_ROW, build_reshape(&g->b, pick(g, s, ROW), 2, one_row, false)); break;
  default: {
    MlirValue t = build_trans(&g->b, pick(g, s, TILE), 2, (int32_t[]){1, 0});
    add(g, s, TILE,
        roll(g, 2) ? build_trans(&g->b, t, 2, (int32_t[]){1, 0})
                   : build_reshape(&g->b, t, 2, tile, false));
  }
  }
}

static const enum op_id combinations[] = {OP_ARITH_ADDI,  OP_ARITH_MULI,  OP_ARITH_XORI,
                                          OP_ARITH_MAXSI, OP_ARITH_MINUI, OP_ARITH_SUBI};

// Of a tile of I32s, to one of them; subtraction makes the order matter, and the association.
static MlirValue add_reduction(struct generator *g, MlirValue x, unsigned combination) {
  static const char *const names[] = {"add", "mul", "xor", "max", "min", "sub"};
  MlirValue r;
  unsigned rank = tensor_rank(mlirValueGetType(x));
  build_reduce(&g->b, 1, &x, rank - 1, names[combination], &r);
  if (rank > 1)
    build_reduce(&g->b, 1, &r, 0, names[combination], &r);
  return r;
}

static void build_combinations(struct ir_context *c, MlirModule m, MlirType i32) {
  static const char *const names[] = {"add", "mul", "xor", "max", "min", "sub"};
  MlirLocation loc = mlirLocationUnknownGet(c->mlir);
  for (unsigned i = 0; i < COUNT_OF(combinations); i++) {
    MlirOperation f = build_func(c, m, names[i], 2, (MlirType[]){i32, i32}, 1, &i32, false, loc);
    mlirOperationSetAttributeByName(f, mlirStringRefCreateFromCString("sym_visibility"),
                                    attr_str(c, "private"));
    struct builder b = builder_at_end(c, func_entry(f), loc);
    MlirValue v = build_binary(&b, combinations[i], mlirBlockGetArgument(func_entry(f), 0),
                               mlirBlockGetArgument(func_entry(f), 1));
    build_return(&b, 1, &v);
  }
}

static void add_mixed(struct generator *g, struct scope *s, MlirValue base) {
  static const int64_t tile[] = {4, 8};
  struct ir_context *c = g->b.c;
  switch (roll(g, 8)) {
  case 7: add(g, s, I32, add_reduction(g, pick(g, s, roll(g, 2) ? ROW : TILE), roll(g, 6))); break;
  case 0:
    add(g, s, MASK, build_cmpi(&g->b, (int)roll(g, 10), pick(g, s, TILE), pick(g, s, TILE)));
    break;
  case 1:
    add(g, s, TILE, build_select(&g->b, pick(g, s, MASK), pick(g, s, TILE), pick(g, s, TILE)));
    break;
  case 2: add(g, s, I64, build_cast(&g->b, OP_ARITH_EXTSI, pick(g, s, I32), g->types[I64])); break;
  case 3: add(g, s, I32, build_cast(&g->b, OP_ARITH_TRUNCI, pick(g, s, I64), g->types[I32])); break;
  case 4: add(g, s, ROW, build_make_range(&g->b, 0, 8)); break;
  default: { // through memory, with offsets of either width
    MlirValue p = build_splat(&g->b, base, 2, tile), offset = pick(g, s, TILE);
    if (roll(g, 2)) {
      offset = build_cast(&g->b, OP_ARITH_EXTSI, offset, mlir_of_dtype(c, DTYPE_I64));
      MlirValue rows = build_splat(&g->b, pick(g, s, I64), 2, tile);
      offset = build_binary(&g->b, OP_ARITH_ADDI, rows, offset);
    }
    p = build_addptr(&g->b, p, offset);
    if (roll(g, 2))
      p = build_addptr(&g->b, p, build_splat(&g->b, pick(g, s, I32), 2, tile));
    MlirValue mask = roll(g, 2) ? pick(g, s, MASK) : (MlirValue){NULL};
    if (roll(g, 3) == 0) {
      build_store(&g->b, p, pick(g, s, TILE), mask, "", "");
      break;
    }
    bool has_other = !mlirValueIsNull(mask) && roll(g, 2);
    MlirValue other = has_other ? pick(g, s, TILE) : (MlirValue){NULL};
    MlirValue x = build_load(&g->b, p, mask, other, "", "", false);
    add(g, s, TILE,
        !mlirValueIsNull(mask) && roll(g, 2) ? build_select(&g->b, mask, x, pick(g, s, TILE)) : x);
  }
  }
}

static void add_ops(struct generator *g, struct scope *s, MlirValue base, unsigned n);

// The ops of `fill` go into `block`, which ends with a yield of two values.
static void fill_block(struct generator *g, const struct scope *outer, MlirBlock block,
                       MlirValue base, const MlirValue *extra) {
  struct scope inner = *outer;
  struct builder saved = g->b;
  g->b = builder_at_end(saved.c, block, saved.loc);
  bool accumulates = extra && roll(g, 2);
  if (extra) {
    add(g, &inner, I32, extra[0]);
    if (!accumulates)
      add(g, &inner, I32, extra[1]);
    add(g, &inner, TILE, extra[2]);
  }
  g->depth++;
  add_ops(g, &inner, base, 6);
  g->depth--;
  // The last values, which the most ops led to.
  MlirValue out[] = {inner.values[I32][inner.count[I32] - 1], pick(g, &inner, TILE)};
  if (inner.count[TILE])
    out[1] = inner.values[TILE][inner.count[TILE] - 1];
  if (accumulates) { // what sink-loop-reductions looks for, or nearly
    unsigned how = roll(g, 6), other = roll(g, 4) ? how : roll(g, 6);
    MlirValue r = add_reduction(g, roll(g, 2) ? pick(g, &inner, ROW) : out[1], other);
    out[0] = build_binary(&g->b, combinations[how], extra[1], r);
  }
  build_yield(&g->b, 2, out);
  g->b = saved;
}

// Counts up to a small bound; passes values on in another order than it carries them.
static void add_while(struct generator *g, struct scope *s, MlirValue base) {
  MlirValue inits[] = {build_const_int(&g->b, g->types[I32], roll(g, 3)), pick(g, s, TILE),
                       pick(g, s, I32)};
  MlirType passed[] = {g->types[TILE], g->types[I32], g->types[I32]};
  MlirValue bound = build_const_int(&g->b, g->types[I32], roll(g, 5));
  MlirBlock before, after;
  MlirOperation op = build_while(&g->b, 3, inits, 3, passed, &before, &after);
  struct builder saved = g->b;
  struct scope inner = *s;
  MlirValue count = mlirBlockGetArgument(before, 0), extra = mlirBlockGetArgument(before, 2);
  g->b = builder_at_end(saved.c, before, saved.loc);
  add(g, &inner, TILE, mlirBlockGetArgument(before, 1));
  add(g, &inner, I32, extra);
  g->depth++;
  add_ops(g, &inner, base, 2);
  MlirValue go = build_cmpi(&g->b, 2, count, bound);
  MlirValue pass[] = {pick(g, &inner, TILE), count, roll(g, 2) ? extra : pick(g, &inner, I32)};
  build_condition(&g->b, go, 3, pass);

  inner = *s;
  g->b = builder_at_end(saved.c, after, saved.loc);
  add(g, &inner, TILE, mlirBlockGetArgument(after, 0));
  add(g, &inner, I32, mlirBlockGetArgument(after, 2));
  add_ops(g, &inner, base, 4);
  g->depth--;
  MlirValue one = build_const_int(&g->b, g->types[I32], 1);
  MlirValue next = build_binary(&g->b, OP_ARITH_ADDI, mlirBlockGetArgument(after, 1), one);
  MlirValue out[] = {next, pick(g, &inner, TILE), pick(g, &inner, I32)};
  build_yield(&g->b, 3, out);
  g->b = saved;
  for (intptr_t i = 0; i < 3; i++)
    if (roll(g, 2))
      add(g, s, i == 0 ? TILE : I32, mlirOperationGetResult(op, i));
}

static void add_control(struct generator *g, struct scope *s, MlirValue base) {
  MlirType results[] = {g->types[I32], g->types[TILE]};
  MlirBlock one, two;
  MlirOperation op;
  unsigned what = roll(g, 3);
  if (what == 2) {
    add_while(g, s, base);
    return;
  }
  if (what) {
    MlirValue cond = build_cmpi(&g->b, (int)roll(g, 10), pick(g, s, I32), pick(g, s, I32));
    op = build_if(&g->b, cond, 2, results, &one, &two);
    fill_block(g, s, one, base, NULL);
    fill_block(g, s, two, base, NULL);
  } else {
    MlirValue lower = build_const_int(&g->b, g->types[I32], roll(g, 3));
    MlirValue upper = build_const_int(&g->b, g->types[I32], roll(g, 9));
    if (roll(g, 2)) { // what nobody knows
      MlirValue low = build_const_int(&g->b, g->types[I32], 7);
      upper = build_binary(&g->b, OP_ARITH_ANDI, pick(g, s, I32), low);
    }
    MlirValue step = build_const_int(&g->b, g->types[I32], 1 + roll(g, 2));
    MlirValue inits[] = {pick(g, s, I32), pick(g, s, TILE)};
    op = build_for(&g->b, lower, upper, step, 2, inits, &one);
    if (roll(g, 2))
      mlirOperationSetAttributeByName(op, mlirStringRefCreateFromCString("tile.loop_unroll_factor"),
                                      attr_i32(g->b.c, 1 + (int32_t)roll(g, 4)));
    MlirValue args[] = {mlirBlockGetArgument(one, 0), mlirBlockGetArgument(one, 1),
                        mlirBlockGetArgument(one, 2)};
    fill_block(g, s, one, base, args);
  }
  add(g, s, I32, mlirOperationGetResult(op, 0));
  add(g, s, TILE, mlirOperationGetResult(op, 1));
}

static void add_ops(struct generator *g, struct scope *s, MlirValue base, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    unsigned what = roll(g, 10);
    if (what < 5)
      add_arithmetic(g, s, roll(g, KINDS));
    else if (what < 7)
      add_shape(g, s);
    else if (what < 9 || g->depth > 2)
      add_mixed(g, s, base);
    else
      add_control(g, s, base);
  }
}

static void generate(struct pass_session *session, uint64_t seed) {
  struct ir_context *c = session->context.c;
  static const int64_t row[] = {8}, one_row[] = {1, 8}, tile[] = {4, 8};
  MlirType i32 = mlir_of_dtype(c, DTYPE_I32), i64 = mlir_of_dtype(c, DTYPE_I64);
  MlirAttribute none = mlirAttributeGetNull();
  struct generator g = {.state = seed * 0x9e3779b97f4a7c15u + 1};
  MlirType types[KINDS] = {i32,
                           i64,
                           tensor_type(1, row, i32, none),
                           tensor_type(2, one_row, i32, none),
                           tensor_type(2, tile, i32, none),
                           tensor_type(2, tile, mlir_of_dtype(c, DTYPE_I1), none)};
  memcpy(g.types, types, sizeof(types));
  MlirType args[] = {ptr_type(c, i32), i32, i32, i64};
  MlirType results[KINDS * OUTPUTS];
  for (unsigned i = 0; i < KINDS * OUTPUTS; i++)
    results[i] = types[i % KINDS];
  MlirLocation loc = mlirLocationUnknownGet(c->mlir);
  MlirOperation f =
      build_func(c, session->context.module, "f", 4, args, KINDS * OUTPUTS, results, false, loc);
  MlirBlock entry = func_entry(f);
  g.b = builder_at_end(c, entry, loc);
  struct scope s = {0};
  add(&g, &s, I32, mlirBlockGetArgument(entry, 1));
  add(&g, &s, I32, mlirBlockGetArgument(entry, 2));
  add(&g, &s, I64, mlirBlockGetArgument(entry, 3));
  add(&g, &s, I32, build_program_id(&g.b, 0));
  add_ops(&g, &s, mlirBlockGetArgument(entry, 0), 30);
  MlirValue out[KINDS * OUTPUTS];
  for (unsigned i = 0; i < KINDS * OUTPUTS; i++)
    out[i] = pick(&g, &s, i % KINDS);
  build_return(&g.b, KINDS * OUTPUTS, out);
  build_combinations(c, session->context.module, i32);
}

enum { ARGUMENTS = 3 };

static void interpret_all(struct pass_session *s, uint64_t *ret) {
  static const int64_t args[ARGUMENTS][4] = {
      {0x10000, 3, -7, 1}, {0x200000, 0, 0, -1}, {0x40000, 0x7fffffff, INT32_MIN, INT64_MAX}};
  for (int i = 0; i < ARGUMENTS; i++)
    ret[i] = interpret(s->context.c, s->context.module, args[i]);
}

static const char *const orders[] = {
    "canonicalize",
    "cse",
    "licm",
    "dce",
    "reassociate-addresses",
    "reorder-broadcast",
    "sink-loop-reductions",
    "unroll",
    "canonicalize,reassociate-addresses,cse,reorder-broadcast,canonicalize,licm,sink-loop-"
    "reductions,unroll,"
    "canonicalize,cse,dce",
};

static void check_passes(struct pass_session *s, uint64_t seed, const char *passes,
                         const uint64_t *before) {
  uint64_t after[ARGUMENTS];
  bool ok = pass_session_run(s, (struct pass_options){.only = passes, .verify_each = true}, NULL);
  ck_assert_msg(ok, "kernel %llu, %s: %s", (unsigned long long)seed, passes,
                diag_first_error(s->diag));
  interpret_all(s, after);
  for (int i = 0; i < ARGUMENTS; i++)
    ck_assert_msg(before[i] == after[i], "kernel %llu means something else after %s",
                  (unsigned long long)seed, passes);
}

START_TEST(kernels_keep_their_meaning) {
  uint64_t seed = (uint64_t)_i, before[ARGUMENTS];
  struct pass_session s = pass_session_open("module {}");
  generate(&s, seed);
  MlirOperation kernel = mlirOperationClone(mlirModuleGetOperation(s.context.module));
  ck_assert_msg(ir_verify(s.context.c, kernel), "kernel %llu: %s", (unsigned long long)seed,
                diag_first_error(s.diag));
  interpret_all(&s, before);
  for (size_t i = 0; i < COUNT_OF(orders); i++) {
    if (i > 0)
      pass_session_replace(&s, mlirModuleFromOperation(mlirOperationClone(kernel)));
    check_passes(&s, seed, orders[i], before);
  }
  mlirOperationDestroy(kernel);
  pass_session_close(&s);
}
END_TEST

TCase *pass_soundness_tests(void) {
  TCase *t = tcase_create("pass_soundness");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, kernels_keep_their_meaning, 1, KERNELS + 1);
  return t;
}
