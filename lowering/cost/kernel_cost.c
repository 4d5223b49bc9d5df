// SPDX-License-Identifier: Apache-2.0
// One walk: the cost of an op each time it runs (op_survey.h, and a table of instructions for the
// rest), times how often it runs (trips.h).
#include "lowering/cost/kernel_cost.h"

#include "base/wgmma.h"
#include "layouts/attr.h"
#include "lowering/analysis/async_copy.h"
#include "lowering/analysis/buffer_access.h"
#include "lowering/analysis/collective.h"
#include "lowering/analysis/convert_scratch.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/analysis/liveness.h"
#include "lowering/analysis/scratch.h"
#include "lowering/cost/cost_machine.h"
#include "lowering/cost/feed_survey.h"
#include "lowering/cost/kernel_cost_loop.h"
#include "lowering/cost/occupancy.h"
#include "lowering/cost/op_survey.h"
#include "lowering/cost/registers.h"
#include "lowering/cost/trips.h"

enum { LANES = 32, LINE_BYTES = 128 };

struct tally {
  struct op_survey of_op;
  struct ir_context *c;
  const struct trip_counts *trips;
  const struct machine *machine;
  struct kernel_cost *ret;
  MlirOperation kernel;
  struct map of_program; // MlirValue.ptr -> bool *
  double warps;          // that execute the current op
  double times;          // times that the current op runs, in every warp
};

static MlirValue operand(MlirOperation op, intptr_t i) { return mlirOperationGetOperand(op, i); }
static MlirValue result(MlirOperation op, intptr_t i) { return mlirOperationGetResult(op, i); }

// `n` instructions of every warp each time.
static void add_instructions(struct tally *t, double n) {
  t->ret->instructions += n * t->times * t->warps;
}

static void add_arithmetic(struct tally *t, double n) {
  add_instructions(t, n);
  t->ret->arithmetic += n * t->times * t->warps;
}

// ---- memory ----

enum { FOLLOWED = 64 }; // values on one chain of operands

// Does the value depend on the program id? Conservatively true.
static bool is_of_program(struct tally *t, MlirValue v, unsigned depth) {
  MlirOperation def = value_def(v);
  const bool *known = ptrmap_get(&t->of_program, v.ptr);
  if (known)
    return *known;
  bool *answer = arena_new(t->of_op.arena, bool);
  *answer = false; // in a cycle of carried values: no dependence by itself
  ptrmap_put(t->of_op.arena, &t->of_program, v.ptr, answer);
  if (depth == 0)
    return *answer = true;
  if (!mlirOperationIsNull(def)) {
    *answer = op_is(t->c, def, OP_TILE_PROGRAM_ID) || mlirOperationGetNumRegions(def) > 0;
    for (intptr_t i = 0; !*answer && i < mlirOperationGetNumOperands(def); i++)
      *answer = is_of_program(t, operand(def, i), depth - 1);
    return *answer;
  }
  MlirBlock block = mlirBlockArgumentGetOwner(v);
  MlirOperation parent = mlirBlockGetParentOperation(block);
  intptr_t at = mlirBlockArgumentGetArgNumber(v);
  if (op_is(t->c, parent, OP_FUNC_FUNC))
    return *answer = !mlirOperationEqual(parent, t->kernel);
  if (!op_is(t->c, parent, OP_SCF_FOR))
    return *answer = true;
  if (at == 0)
    return *answer = is_of_program(t, operand(parent, 0), depth - 1);
  MlirOperation yield = mlirBlockGetTerminator(block);
  return *answer = is_of_program(t, operand(parent, at + 2), depth - 1) ||
                   is_of_program(t, operand(yield, at - 1), depth - 1);
}

static bool is_read(enum op_id id) { return id != OP_TILE_STORE && id != OP_GPU_MAP_STORE; }
static bool is_written(enum op_id id) {
  return id != OP_TILE_LOAD && id != OP_GPU_ASYNC_COPY && id != OP_GPU_MAP_COPY;
}

// Does the access depend on the program id, by its pointer or by the offsets of its block?
static bool access_of_program(struct tally *t, MlirOperation op, enum op_id id) {
  intptr_t first = id == OP_GPU_MAP_COPY ? 3 : 0;
  intptr_t end = id == OP_GPU_MAP_COPY ? mlirOperationGetNumOperands(op) : 1;
  bool found = false;
  for (intptr_t i = first; !found && i < end; i++)
    found = is_of_program(t, operand(op, i), FOLLOWED);
  return found;
}

static void see_shared(struct tally *t, double wavefronts) {
  t->ret->shared_wavefronts += wavefronts * t->times * t->warps;
}

static void see_access(struct tally *t, MlirOperation op, enum op_id id) {
  struct memory_access m;
  if (!survey_access(&t->of_op, op, &m))
    return;
  struct kernel_cost *k = t->ret;
  double bytes = (double)m.bytes * t->times, count = m.count * t->times * t->warps;
  k->global_read += is_read(id) ? bytes : 0;
  if (!is_written(id) && !access_of_program(t, op, id))
    k->common_read += bytes;
  k->global_written += is_written(id) ? bytes : 0;
  k->sectors += count * m.sectors;
  add_instructions(t, m.cut ? 2.0 * m.count : m.count);
  if (id == OP_GPU_MAP_STORE) // read by the store itself
    see_shared(t, (double)m.bytes / LINE_BYTES / t->warps);
  if (id == OP_GPU_ASYNC_COPY || id == OP_GPU_MAP_COPY)
    k->copied_wavefronts += bytes / LINE_BYTES;
}

// One side of an exchange through a buffer.
static void see_side(struct tally *t, MlirType tile, const struct exchange_side *side) {
  unsigned bits = memory_bits(t->c, element_type(tile));
  add_instructions(t, exchange_instructions(side));
  see_shared(t, exchange_wavefronts(side, bits, 0));
}

static void see_buffer_store(struct tally *t, MlirValue tile, MlirValue buffer) {
  struct exchange_side side;
  if (buffer_store_side(t->c, t->of_op.target, mlirValueGetType(tile), mlirValueGetType(buffer),
                        &side))
    see_side(t, mlirValueGetType(tile), &side);
}

static void see_buffer_load(struct tally *t, MlirOperation op) {
  struct exchange_side side;
  if (buffer_load_side(t->c, t->of_op.target, op, &side))
    see_side(t, mlirValueGetType(result(op, 0)), &side);
}

static void see_conversion(struct tally *t, MlirOperation op) {
  struct layout_conversion v;
  if (!survey_conversion(&t->of_op, op, &v))
    return;
  add_instructions(t, v.instructions);
  see_shared(t, v.wavefronts);
  t->ret->barriers += v.bytes ? t->times : 0;
}

// ---- products ----

// wgmma reads its operands in shared memory: B whole, A unless it is in registers. `count`
// instructions of a warp, a fourth of a warpgroup's each.
static void see_wgmma(struct tally *t, MlirOperation op, double count, double flops) {
  MlirType acc = mlirValueGetType(operand(op, 2));
  const struct encoding *e = encoding_of_attr(t->c, tensor_encoding(acc));
  double n = e->mma.instr_shape[1], a = 0;
  if (type_is_memdesc(t->c, mlirValueGetType(operand(op, 0))))
    a = WGMMA_M;
  t->ret->wgmma_flops += flops;
  t->ret->shared_wavefronts += count / WGMMA_WARPS * (a + n) * WGMMA_K_BYTES / LINE_BYTES;
}

static void see_product(struct tally *t, MlirOperation op) {
  struct product_cost p;
  if (!survey_product(&t->of_op, op, &p))
    return;
  double count = (double)p.count * t->times * t->warps;
  add_instructions(t, (double)p.count);
  add_arithmetic(t, (double)p.additions);
  if (!p.instruction) {
    t->ret->fma_flops += 2 * count * LANES;
    return;
  }
  MlirType a = mlirValueGetType(operand(op, 0));
  MlirType element = element_type(type_is_memdesc(t->c, a) ? memdesc_tile(t->c, a) : a);
  double flops = count * (double)p.flops;
  t->ret->tensor_flops += flops;
  if (p.is_wgmma)
    see_wgmma(t, op, count, flops);
  t->ret->tensor_cycles +=
      flops / (p.is_wgmma ? machine_wgmma_flops(t->machine, type_bits(t->c, element))
                          : machine_tensor_flops(t->machine, type_bits(t->c, element),
                                                 mlirTypeIsAInteger(element)));
}

// ---- reductions, scans ----

static void see_reduction(struct tally *t, MlirOperation op) {
  struct reduction_cost r;
  if (!survey_reduction(&t->of_op, op, &r))
    return;
  MlirType type = mlirValueGetType(operand(op, 0));
  struct combine_info f = combine_info_of(t->c, op);
  double elements = layout_registers(t->c, type), rows = elements, n = 0;
  double one = f.operations ? f.operations : 1;
  for (unsigned i = 0; i < r.in_thread && rows > 1; i++)
    rows /= 2;
  n += (elements - rows) * one;
  n += rows * r.across_lanes * (one + f.count);
  if (r.across_warps) {
    n += rows * 2 + r.last * (one + f.count);
    see_shared(t, rows);
    t->ret->barriers += t->times;
  }
  add_arithmetic(t, n);
}

static void see_scan(struct tally *t, MlirOperation op) {
  struct scan_plan plan;
  struct combine_info f = combine_info_of(t->c, op);
  double elements = layout_registers(t->c, mlirValueGetType(operand(op, 0)));
  if (!scan_plan_of(t->c, op, &plan))
    return;
  double one = f.operations ? f.operations : 1;
  double totals = elements / (double)(1u << plan.serial_count);
  add_arithmetic(t, 2 * elements * one + totals * plan.step_count * (2 * one + f.count));
  if (plan.rest_count) {
    see_shared(t, 2 * totals);
    t->ret->barriers += t->times;
  }
}

// ---- elementwise ----

struct op_price {
  enum op_id id;
  double instructions; // of 32-bit numbers; f16 and bf16 go in pairs, 64 bits in two
  double special;      // of the slow pipe
  double flops;
};

// Ops that are not listed take one instruction.
static const struct op_price prices[] = {
    {OP_ARITH_ADDF, 1, 0, 1},        {OP_ARITH_SUBF, 1, 0, 1},
    {OP_ARITH_MULF, 1, 0, 1},        {OP_MATH_FMA, 1, 0, 2},
    {OP_ARITH_DIVF, 8, 1, 1},        {OP_TILE_PRECISE_DIVF, 12, 1, 1},
    {OP_TILE_PRECISE_SQRT, 8, 1, 1}, {OP_ARITH_REMF, 30, 1, 1},
    {OP_MATH_EXP2, 1, 1, 1},         {OP_MATH_LOG2, 2, 1, 1},
    {OP_MATH_SQRT, 1, 1, 1},         {OP_MATH_RSQRT, 1, 1, 1},
    {OP_MATH_TANH, 1, 1, 1},         {OP_ARITH_DIVSI, 20, 1, 0},
    {OP_ARITH_DIVUI, 16, 1, 0},      {OP_ARITH_REMSI, 22, 1, 0},
    {OP_ARITH_REMUI, 18, 1, 0},      {OP_ARITH_SITOFP, 1, 1, 0},
    {OP_ARITH_UITOFP, 1, 1, 0},      {OP_ARITH_FPTOSI, 1, 1, 0},
    {OP_ARITH_FPTOUI, 1, 1, 0},      {OP_TILE_FP_TO_FP, 2, 0, 0},
    {OP_ARITH_CONSTANT, 0, 0, 0},    {OP_ARITH_BITCAST, 0, 0, 0},
    {OP_TILE_BITCAST, 0, 0, 0},      {OP_TILE_INT_TO_PTR, 0, 0, 0},
    {OP_TILE_PTR_TO_INT, 0, 0, 0},   {OP_ARITH_EXTUI, 0, 0, 0},
    {OP_ARITH_TRUNCI, 0, 0, 0},      {OP_TILE_CLAMPF, 2, 0, 1},
    {OP_TILE_INLINE_ASM, 2, 0, 0},   {OP_TILE_MAP, 8, 0, 4},
};

static struct op_price price_of(enum op_id id) {
  for (unsigned i = 0; i < COUNT_OF(prices); i++)
    if (prices[i].id == id)
      return prices[i];
  return (struct op_price){id, 1, 0, 0};
}

// f16 and bf16 are computed two at a time; 64 bits take two instructions, some more.
static double width_factor(enum op_id id, unsigned bits, bool is_float) {
  if (bits == 64)
    return id == OP_ARITH_MULI ? 4 : 2;
  bool converts = id == OP_ARITH_TRUNCF || id == OP_TILE_FP_TO_FP;
  return is_float && bits == 16 && (converts || price_of(id).flops > 0) ? 0.5 : 1;
}

static void see_elements(struct tally *t, MlirOperation op, enum op_id id) {
  MlirValue v = result(op, 0);
  MlirType type = mlirValueGetType(v), element = element_type(type);
  struct op_price p = price_of(id);
  bool is_float = mlirTypeIsAFloat(element);
  unsigned bits = type_is_ptr(t->c, element) ? 64 : type_bits(t->c, element);
  double n = type_is_tensor(type) ? registers_apart(t->c, t->of_op.axis, v) : 1;
  add_arithmetic(t, n * p.instructions * width_factor(id, bits, is_float));
  t->ret->special += n * p.special * t->times * t->warps;
  if (is_float)
    t->ret->fma_flops += n * p.flops * LANES * t->times * t->warps;
}

// ---- the walk ----

// Is the op executed by the producer? One of its threads does the work.
static bool is_producers(struct ir_context *c, MlirOperation op) {
  MlirBlock block = mlirOperationGetBlock(op);
  MlirOperation at = mlirOperationGetParentOperation(op);
  for (; !mlirOperationIsNull(at); at = mlirOperationGetParentOperation(at)) {
    MlirOperation condition = {NULL};
    if (op_is(c, at, OP_SCF_IF))
      condition = value_def(operand(at, 0));
    if (!mlirOperationIsNull(condition) && op_is(c, condition, OP_GPU_IS_PRODUCER))
      return mlirBlockEqual(block, mlirRegionGetFirstBlock(mlirOperationGetRegion(at, 0)));
    block = mlirOperationGetBlock(at);
  }
  return false;
}

static bool see(MlirOperation op, void *user) {
  struct tally *t = user;
  enum op_id id = op_id(t->c, op);
  t->times = trips_of_op(t->trips, op);
  t->warps = t->ret->producer_warps && is_producers(t->c, op) ? 1 : t->ret->num_warps;
  if (t->times == 0 && id != OP_BUILTIN_MODULE && id != OP_FUNC_FUNC)
    return true;
  switch (id) {
  case OP_TILE_LOAD:
  case OP_TILE_STORE:
  case OP_TILE_ATOMIC_RMW:
  case OP_GPU_ASYNC_COPY:
  case OP_GPU_MAP_COPY:
  case OP_GPU_MAP_STORE: see_access(t, op, id); break;
  case OP_TILE_DOT:
  case OP_GPU_WARP_GROUP_DOT: see_product(t, op); break;
  case OP_TILE_REDUCE: see_reduction(t, op); break;
  case OP_TILE_SCAN: see_scan(t, op); break;
  case OP_GPU_LOCAL_LOAD: see_buffer_load(t, op); break;
  case OP_GPU_LOCAL_STORE: see_buffer_store(t, operand(op, 0), operand(op, 1)); break;
  case OP_GPU_LOCAL_ALLOC:
    if (mlirOperationGetNumOperands(op))
      see_buffer_store(t, operand(op, 0), result(op, 0));
    break;
  case OP_GPU_CONVERT_LAYOUT:
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS: see_conversion(t, op); break;
  case OP_GPU_BARRIER:
    t->ret->barriers += t->times;
    add_instructions(t, 1);
    break;
  case OP_SCF_FOR:
  case OP_SCF_WHILE: main_loop_see(t->c, t->trips, op, t->times, t->ret); break;
  default:
    if ((op_flags(t->c, op) & OP_EW) && mlirOperationGetNumResults(op))
      see_elements(t, op, id);
    else if (op_flags(t->c, op) & (OP_EFFECT | OP_READ | OP_WRITE))
      add_instructions(t, 4);
  }
  return true;
}

static void see_resources(struct tally *t, MlirModule module) {
  struct kernel_cost *k = t->ret;
  MlirOperation root = mlirModuleGetOperation(module), kernel = module_kernel(t->c, module);
  int64_t total = scratch_total(module);
  k->shared_bytes = total < 0 ? 0 : (uint32_t)total;
  if (mlirOperationIsNull(kernel))
    return;
  unsigned most = resource_registers(t->of_op.target, k->num_warps);
  unsigned bound = (unsigned)op_attr_int(root, "tilegpu.max_registers", most);
  bound = bound < most ? bound : most;
  struct warp_registers own = warp_registers_of(t->c, root);
  if (own.computing)
    bound = own.computing;
  k->entry_registers = own.entry;
  struct arena *a = t->of_op.arena;
  struct register_need need = registers_needed(
      register_census_of(t->c, t->of_op.axis, liveness_of(t->c, kernel, a), kernel, a), t->trips);
  k->registers = need.wanted < bound ? need.wanted : bound;
  k->spilled = need.least > bound ? need.least - bound : 0;
}

struct kernel_cost kernel_cost_of(struct ir_context *c, MlirModule module,
                                  const struct target *target, uint32_t num_warps,
                                  const struct cost_argument *args, size_t arg_count,
                                  const uint32_t grid[3]) {
  struct kernel_cost cost = {.num_warps = num_warps, .stages = 1};
  struct arena *a = c->arena;
  MlirOperation root = mlirModuleGetOperation(module);
  struct tally t = {
      .of_op = {c, target, num_warps, a, axis_analyse(c, root, a)},
      .c = c,
      .trips = trips_of(c, module, args, arg_count, grid, a),
      .machine = machine_of(target),
      .ret = &cost,
      .kernel = module_kernel(c, module),
      .warps = num_warps,
  };
  cost.is_exact = t.trips->is_exact;
  cost.producer_warps = (uint32_t)op_attr_int(root, "tilegpu.producer_warps", 0);
  MlirOperation tiles = persistent_loop(c, t.kernel);
  if (!mlirOperationIsNull(tiles))
    cost.tiles = trips_of_loop(t.trips, tiles);
  ir_walk(root, see, &t);
  see_resources(&t, module);
  return cost;
}
