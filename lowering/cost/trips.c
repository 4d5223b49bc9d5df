// SPDX-License-Identifier: Apache-2.0
// A small interpreter of scalars. A loop's body is evaluated once, for its middle iteration, which
// is right on average for what is linear in the iteration (the inner loop of a triangle). Each side
// of a branch with an unknown condition counts half.
#include "lowering/cost/trips.h"

#include "lowering/analysis/int_arith.h"
#include "lowering/analysis/liveness.h"

enum {
  PROGRAMS = 16,          // of the grid that are sampled
  GUESSED_ITERATIONS = 8, // of loops whose end is not known
  DEEPEST_CALL = 16
};

struct number {
  int64_t v;
  bool known;
};

struct run { // one program
  struct ir_context *c;
  struct trip_counts *counts;
  struct map numbers; // MlirValue.ptr -> struct number *
  const struct cost_argument *args;
  size_t arg_count;
  int64_t program_id[3], programs[3];
  unsigned depth;
};

// ---- numbers ----

static struct number number_of(struct run *r, MlirValue v) {
  const struct number *n = ptrmap_get(&r->numbers, v.ptr);
  int64_t i;
  if (n)
    return *n;
  return value_const_int(r->c, v, &i) ? (struct number){i, true} : (struct number){0, false};
}

static void set_number(struct run *r, MlirValue v, struct number n) {
  struct number *at = ptrmap_get(&r->numbers, v.ptr);
  if (!at) {
    if (!n.known)
      return;
    at = arena_new(r->counts->arena, struct number);
    ptrmap_put(r->counts->arena, &r->numbers, v.ptr, at);
  }
  *at = n;
}

static struct number known(int64_t v) { return (struct number){v, true}; }

static struct number operand_number(struct run *r, MlirOperation op, intptr_t i) {
  return number_of(r, mlirOperationGetOperand(op, i));
}

static unsigned bits_of(struct run *r, MlirValue v) { return type_bits(r->c, mlirValueGetType(v)); }

static bool is_integer(MlirValue v) {
  MlirType t = mlirValueGetType(v);
  return mlirTypeIsAIndex(t) || (mlirTypeIsAInteger(t) && mlirIntegerTypeGetWidth(t) <= 64);
}

static struct number compute(struct run *r, MlirOperation op, enum op_id id) {
  intptr_t operands = mlirOperationGetNumOperands(op);
  struct number x = operands > 0 ? operand_number(r, op, 0) : known(0);
  struct number y = operands > 1 ? operand_number(r, op, 1) : known(0), n = {0, false};
  if (id == OP_ARITH_SELECT && x.known)
    return operand_number(r, op, x.v & 1 ? 1 : 2);
  if (!x.known || !y.known || operands > 2 || operands == 0)
    return n;
  unsigned bits = bits_of(r, mlirOperationGetOperand(op, 0));
  if (id == OP_ARITH_CMPI)
    return known(compare_ints((int)op_attr_int(op, "predicate", 0), x.v, y.v, bits));
  n.known = operands == 1 ? int_unary(id, x.v, bits, &n.v) : int_binary(id, x.v, y.v, bits, &n.v);
  unsigned width = bits_of(r, mlirOperationGetResult(op, 0));
  n.v = width == 1 ? n.v & 1 : sign_extend(n.v, width);
  return n;
}

static void run_plain(struct run *r, MlirOperation op, enum op_id id) {
  if (mlirOperationGetNumResults(op) != 1)
    return;
  MlirValue v = mlirOperationGetResult(op, 0);
  if (!is_integer(v))
    return;
  int64_t i, axis = op_attr_int(op, "axis", 0);
  if (id == OP_TILE_PROGRAM_ID)
    set_number(r, v, known(r->program_id[axis]));
  else if (id == OP_TILE_NUM_PROGRAMS)
    set_number(r, v, known(r->programs[axis]));
  else if (value_const_int(r->c, v, &i))
    set_number(r, v, known(i));
  else
    set_number(r, v, compute(r, op, id));
}

// ---- control flow ----

static void run_block(struct run *r, MlirBlock block, double times);

static MlirBlock block_of(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

// Each side is executed by warps of its own. There are no results.
static void run_both(struct run *r, MlirOperation op, double times) {
  for (intptr_t side = 0; side < 2; side++)
    if (!mlirBlockIsNull(block_of(op, side)))
      run_block(r, block_of(op, side), times);
}

static void run_if(struct run *r, MlirOperation op, double times) {
  struct number condition = operand_number(r, op, 0);
  MlirOperation from = value_def(mlirOperationGetOperand(op, 0));
  if (!mlirOperationIsNull(from) && op_is(r->c, from, OP_GPU_IS_PRODUCER)) {
    run_both(r, op, times);
    return;
  }
  r->counts->is_exact &= condition.known;
  for (intptr_t side = 0; side < 2; side++) {
    MlirBlock block = block_of(op, side);
    bool taken = condition.known && (condition.v & 1) == (side == 0);
    if (mlirBlockIsNull(block) || (condition.known && !taken))
      continue;
    run_block(r, block, taken ? times : times / 2);
    MlirOperation yield = mlirBlockGetTerminator(block);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
      set_number(r, mlirOperationGetResult(op, i),
                 taken ? operand_number(r, yield, i) : (struct number){0, false});
  }
}

// The increment of a carried value: yielded unchanged, or plus a known number.
static struct number step_of(struct run *r, MlirValue carried, MlirValue next) {
  if (mlirValueEqual(carried, next))
    return known(0);
  MlirOperation def = value_def(next);
  bool adds = !mlirOperationIsNull(def) && op_is(r->c, def, OP_ARITH_ADDI);
  for (intptr_t i = 0; adds && i < 2; i++)
    if (mlirValueEqual(mlirOperationGetOperand(def, i), carried))
      return operand_number(r, def, 1 - i);
  return (struct number){0, false};
}

// The carried values of the middle iteration, where the increment is known outside.
static void enter_loop(struct run *r, MlirOperation op, MlirBlock body, int64_t iterations) {
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue carried = mlirBlockGetArgument(body, i + 1);
    struct number first = operand_number(r, op, i + 3);
    struct number step = step_of(r, carried, mlirOperationGetOperand(yield, i));
    first.known &= step.known;
    first.v += step.known ? step.v * (iterations / 2) : 0;
    set_number(r, carried, first);
  }
}

static void exit_loop(struct run *r, MlirOperation op, MlirBlock body, int64_t iterations) {
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    struct number first = operand_number(r, op, i + 3);
    struct number step =
        step_of(r, mlirBlockGetArgument(body, i + 1), mlirOperationGetOperand(yield, i));
    struct number last = {first.v + step.v * iterations, first.known && step.known};
    set_number(r, mlirOperationGetResult(op, i), iterations == 0 ? first : last);
  }
}

static void run_for(struct run *r, MlirOperation op, double times) {
  struct number lower = operand_number(r, op, 0), upper = operand_number(r, op, 1);
  struct number step = operand_number(r, op, 2);
  bool is_known = lower.known && upper.known && step.known && step.v > 0;
  int64_t iterations = GUESSED_ITERATIONS;
  if (is_known)
    iterations = upper.v > lower.v ? (upper.v - lower.v + step.v - 1) / step.v : 0;
  r->counts->is_exact &= is_known;
  MlirBlock body = block_of(op, 0);
  set_number(r, mlirBlockGetArgument(body, 0),
             (struct number){lower.v + iterations / 2 * step.v, is_known});
  enter_loop(r, op, body, iterations);
  if (iterations > 0)
    run_block(r, body, times * (double)iterations);
  exit_loop(r, op, body, iterations);
}

static void run_while(struct run *r, MlirOperation op, double times) {
  r->counts->is_exact = false;
  run_block(r, block_of(op, 0), times * (GUESSED_ITERATIONS + 1));
  run_block(r, block_of(op, 1), times * GUESSED_ITERATIONS);
}

static void run_call(struct run *r, MlirOperation op, double times) {
  MlirOperation callee = op_function(r->c, op, "callee");
  if (mlirOperationIsNull(callee) || r->depth == DEEPEST_CALL) {
    r->counts->is_exact = false;
    return;
  }
  MlirBlock body = block_of(callee, 0);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    set_number(r, mlirBlockGetArgument(body, i), operand_number(r, op, i));
  r->depth++;
  run_block(r, body, times);
  r->depth--;
  MlirOperation end = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    set_number(r, mlirOperationGetResult(op, i), operand_number(r, end, i));
}

static void run_block(struct run *r, MlirBlock block, double times) {
  double *count = ptrmap_get(&r->counts->blocks, block.ptr);
  if (!count) {
    count = arena_new(r->counts->arena, double);
    *count = 0;
    ptrmap_put(r->counts->arena, &r->counts->blocks, block.ptr, count);
  }
  *count += times;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    enum op_id id = op_id(r->c, op);
    switch (id) {
    case OP_SCF_IF: run_if(r, op, times); break;
    case OP_SCF_FOR: run_for(r, op, times); break;
    case OP_SCF_WHILE: run_while(r, op, times); break;
    case OP_FUNC_CALL: run_call(r, op, times); break;
    default: run_plain(r, op, id);
    }
  }
}

// ---- programs of the grid ----

static void bind_arguments(struct run *r, MlirOperation kernel, MlirBlock entry) {
  for (unsigned i = 0; i < (unsigned)mlirBlockGetNumArguments(entry); i++) {
    MlirAttribute name = func_arg_attr(kernel, i, "tile.name");
    MlirValue v = mlirBlockGetArgument(entry, i);
    if (mlirAttributeIsNull(name) || !mlirAttributeIsAString(name) || !is_integer(v))
      continue;
    MlirStringRef text = mlirStringAttrGetValue(name);
    for (size_t k = 0; k < r->arg_count; k++)
      if (str_is((struct str){text.data, text.length}, r->args[k].name))
        set_number(r, v, known(r->args[k].value));
  }
}

static double fraction(double x) { return x - (double)(int64_t)x; }

// The i-th of `count` programs: one of each interval along axis 0, by fractions of irrational
// numbers along the others and within the interval (a low-discrepancy sequence).
static int64_t sample(unsigned i, unsigned count, unsigned axis, uint32_t extent) {
  static const double strides[3] = {0.7320508075688772, 0.6180339887498949, 0.4142135623730951};
  double at = fraction(strides[axis] * (i + 0.5));
  return (int64_t)((axis == 0 ? (i + at) / count : at) * extent);
}

struct trip_counts *trips_of(struct ir_context *c, MlirModule module,
                             const struct cost_argument *args, size_t arg_count,
                             const uint32_t grid[3], struct arena *a) {
  struct trip_counts *t = arena_new(a, struct trip_counts);
  *t = (struct trip_counts){.c = c, .arena = a, .is_exact = true};
  MlirOperation kernel = module_kernel(c, module);
  if (mlirOperationIsNull(kernel))
    return t;
  uint64_t all = (uint64_t)grid[0] * grid[1] * grid[2];
  unsigned count = all < PROGRAMS ? (unsigned)all : PROGRAMS;
  MlirBlock entry = block_of(kernel, 0);
  struct run r = {.c = c, .counts = t, .args = args, .arg_count = arg_count};
  bind_arguments(&r, kernel, entry);
  for (unsigned i = 0; i < count; i++) {
    for (unsigned d = 0; d < 3; d++) {
      r.programs[d] = grid[d];
      r.program_id[d] = all <= PROGRAMS ? (int64_t)(d == 0   ? i % grid[0]
                                                    : d == 1 ? i / grid[0] % grid[1]
                                                             : i / grid[0] / grid[1])
                                        : sample(i, count, d, grid[d]);
    }
    run_block(&r, entry, 1.0 / count);
  }
  return t;
}

static double times_of(const struct trip_counts *t, MlirBlock block) {
  const double *count = ptrmap_get(&t->blocks, block.ptr);
  return count ? *count : 0;
}

double trips_of_op(const struct trip_counts *t, MlirOperation op) {
  MlirBlock block = mlirOperationGetBlock(op);
  return mlirBlockIsNull(block) ? 0 : times_of(t, block);
}

double trips_of_loop(const struct trip_counts *t, MlirOperation loop) {
  double reached = trips_of_op(t, loop);
  MlirBlock body = block_of(loop, op_is(t->c, loop, OP_SCF_WHILE) ? 1 : 0);
  return reached > 0 ? times_of(t, body) / reached : 0;
}
