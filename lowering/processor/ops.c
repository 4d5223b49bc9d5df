// SPDX-License-Identifier: Apache-2.0
// The walk over a block: scalars are computed at once, deferred ops when they are needed, sinks
// wait for others. Recursion is the algorithm: blocks contain ops with blocks.
#include "base/cpu_abi.h"
#include "lowering/processor/strips.h"

// ---- scalars ----

LLVMValueRef single_element(struct strip_emitter *e, MlirValue v) {
  if (depends_on_open(e, v))
    flush(e);
  struct value *known = known_value(e, v);
  if (known && known->kind == VALUE_SCALAR)
    return known->scalar;
  if (!is_tile(v))
    return scalar_of(e, v);
  struct position p = {.rank = rank_of(v), .lane = -1, .lanes = 1};
  for (unsigned d = 0; d < p.rank; d++)
    p.at[d] = index_constant(e, 0);
  levels_begin(e);
  LLVMValueRef x = evaluate(e, v, &p);
  levels_end(e);
  return x;
}

static LLVMValueRef thread_field(struct strip_emitter *e, size_t offset) {
  LLVMValueRef at = index_constant(e, (int64_t)offset);
  at = LLVMBuildGEP2(e->b, e->i8, e->thread, &at, 1, "");
  return LLVMBuildLoad2(e->b, e->i32, at, "");
}

static void emit_program(struct strip_emitter *e, MlirOperation op, size_t base) {
  size_t axis = (size_t)op_attr_int(op, "axis", 0) % 3;
  bind_scalar(e, result(op, 0), thread_field(e, base + 4 * axis));
}

static void flush_for_operands(struct strip_emitter *e, MlirOperation op) {
  for (unsigned i = 0; i < (unsigned)mlirOperationGetNumOperands(op); i++)
    if (depends_on_open(e, operand(op, i)))
      flush(e);
}

static void emit_scalar(struct strip_emitter *e, MlirOperation op) {
  LLVMValueRef x[3];
  unsigned n = (unsigned)mlirOperationGetNumOperands(op);
  if (n > COUNT_OF(x)) {
    refuse(e, op, "`%s`", op_info(op_id(e->c, op))->name);
    return;
  }
  flush_for_operands(e, op);
  for (unsigned i = 0; i < n; i++)
    x[i] = scalar_of(e, operand(op, i));
  bind_scalar(e, result(op, 0), compute(e, op, x));
}

// A function of scalars: of a map of one, or one that is called.
static void emit_application(struct strip_emitter *e, MlirOperation op, const char *attribute) {
  enum { MOST = 2 * MAX_VALUES };
  LLVMValueRef args[MOST], results[MOST];
  unsigned n = (unsigned)mlirOperationGetNumOperands(op);
  unsigned results_count = (unsigned)mlirOperationGetNumResults(op);
  flush_for_operands(e, op);
  bool is_offered = n <= MOST && results_count <= MOST && op_attr_int(op, "pack", 1) == 1;
  for (unsigned i = 0; is_offered && i < n; i++)
    is_offered = !is_tile(operand(op, i));
  if (!is_offered) {
    refuse(e, op, "`%s`", op_info(op_id(e->c, op))->name);
    return;
  }
  for (unsigned i = 0; i < n; i++)
    args[i] = scalar_of(e, operand(op, i));
  if (apply_function(e, op_function(e->c, op, attribute), args, results))
    for (unsigned i = 0; i < results_count; i++)
      bind_scalar(e, result(op, i), results[i]);
  else
    refuse(e, op, "`%s` of an unknown function", op_info(op_id(e->c, op))->name);
}

// ---- loads ----

static void emit_load(struct strip_emitter *e, MlirOperation op) {
  MlirValue out = result(op, 0);
  if (has_open_store(e))
    flush(e);
  if (is_deferred(e, op)) {
    vec_push(e->arena, &e->loads, out);
    return;
  }
  flush_for_operands(e, op);
  if (is_tile(out)) { // volatile
    refuse(e, op, "a volatile load of a tile");
    return;
  }
  struct position p = {.lane = -1, .lanes = 1};
  levels_begin(e);
  LLVMValueRef x = load_at(e, op, &p);
  levels_end(e);
  bind_scalar(e, out, x);
}

// ---- the device ----

static void emit_special(struct strip_emitter *e, MlirOperation op) {
  flush(e);
  if (!str_is(op_attr_str(op, "name"), "globaltimer")) {
    bind_scalar(e, result(op, 0), int_constant(e->i32, 0)); // there is one multiprocessor
    return;
  }
  LLVMTypeRef type = LLVMFunctionType(e->i64, &e->ptr, 1, false);
  LLVMValueRef clock = LLVMGetNamedFunction(e->module, "tile_cpu_clock");
  clock = clock ? clock : LLVMAddFunction(e->module, "tile_cpu_clock", type);
  bind_scalar(e, result(op, 0), LLVMBuildCall2(e->b, type, clock, &e->thread, 1, ""));
}

static void emit_gather_source(struct strip_emitter *e, MlirOperation op) {
  if (tensor_numel(mlirValueGetType(operand(op, 0))) > 1)
    in_buffer(e, operand(op, 0));
}

// ---- debuggers ----

// All elements of the variable, in row-major order. It is computed here and not again, so that
// lines follow each other as in the source.
static void emit_debug_value(struct strip_emitter *e, MlirOperation op) {
  MlirValue v = operand(op, 0);
  MlirType t = mlirValueGetType(v);
  struct buffer *b = arena_new(e->arena, struct buffer);
  int64_t shape[MAX_RANK], count = 1;
  unsigned rank = rank_of(v);
  for (unsigned d = rank; d-- > 0; count *= shape[d]) {
    shape[d] = tensor_dim(t, d);
    b->stride[d] = count;
  }
  b->type = storage_type(e, element_type(t));
  b->at = debug_info_variable(e->debug, op, b->type, rank, shape);
  if (count > 1)
    in_buffer(e, v);
  if (b->at && count > 1)
    copy_to(e, v, b, -1);
  else if (b->at)
    LLVMBuildStore(e->b, to_storage(e, single_element(e, v)), b->at);
}

// ---- the walk ----

static void emit_op(struct strip_emitter *e, MlirOperation op) {
  switch (op_id(e->c, op)) {
  case OP_ARITH_CONSTANT:
    if (!is_tile(result(op, 0)))
      bind_scalar(e, result(op, 0), scalar_of(e, result(op, 0)));
    break;
  case OP_TILE_PROGRAM_ID: emit_program(e, op, offsetof(struct cpu_thread, program_id)); break;
  case OP_TILE_NUM_PROGRAMS: emit_program(e, op, offsetof(struct cpu_thread, num_programs)); break;
  case OP_TILE_UNSPLAT: bind_scalar(e, result(op, 0), single_element(e, operand(op, 0))); break;
  case OP_TILE_LOAD: emit_load(e, op); break;
  case OP_TILE_STORE: add_store(e, op); break;
  case OP_TILE_REDUCE: add_reduce(e, op); break;
  case OP_TILE_SCAN: emit_scan_loops(e, op); break;
  case OP_TILE_DOT: emit_product(e, op); break;
  case OP_TILE_GATHER: emit_gather_source(e, op); break;
  case OP_TILE_HISTOGRAM: emit_histogram_loops(e, op); break;
  case OP_TILE_JOIN: emit_join_loops(e, op); break;
  case OP_TILE_SPLIT: emit_split_buffer(e, op); break;
  case OP_TILE_RESHAPE: emit_reshape_view(e, op); break;
  case OP_TILE_ATOMIC_RMW:
  case OP_TILE_ATOMIC_CAS: emit_atomic_loops(e, op); break;
  case OP_TILE_SPECIAL: emit_special(e, op); break;
  case OP_TILE_DEBUG_VALUE: emit_debug_value(e, op); break;
  case OP_TILE_MAP:
    if (!is_tile(result(op, 0)))
      emit_application(e, op, "function");
    break;
  case OP_FUNC_CALL: emit_application(e, op, "callee"); break;
  case OP_SCF_IF: emit_branches(e, op); break;
  case OP_SCF_FOR: emit_for_loop(e, op); break;
  case OP_SCF_WHILE: emit_while_loop(e, op); break;
  case OP_TILE_ASSUME:
  case OP_TILE_BARRIER:         // one thread
  case OP_TILE_GRID_DEPENDENCY: // one launch ends before the next one begins
  case OP_SCF_YIELD:
  case OP_SCF_CONDITION:
  case OP_FUNC_RETURN: break;
  default:
    if (is_deferred(e, op))
      break;
    if ((op_flags(e->c, op) & OP_EW) && op_id(e->c, op) != OP_TILE_INLINE_ASM)
      emit_scalar(e, op);
    else
      refuse(e, op, "`%s`", op_info(op_id(e->c, op))->name);
  }
}

// Done are ops whose operands nobody reads any more. Terminators are not: the op around the block
// copies their operands afterwards.
static void note_done(struct strip_emitter *e, MlirOperation op) {
  switch (op_id(e->c, op)) {
  case OP_TILE_STORE: // when their loop is emitted
  case OP_TILE_REDUCE:
  case OP_SCF_YIELD:
  case OP_SCF_CONDITION: return;
  default:
    if (!is_deferred(e, op))
      ptrmap_put(e->arena, &e->done, op.ptr, e);
  }
}

// Deferred values that a terminator takes are emitted by the op around the block. With a debugger
// no statement waits for others.
void emit_ops(struct strip_emitter *e, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block);
       !mlirOperationIsNull(op) && !e->refusal.why; op = mlirOperationGetNextInBlock(op)) {
    debug_info_at(e->debug, op);
    emit_op(e, op);
    note_done(e, op);
    if (e->debug)
      flush(e);
  }
  flush(e);
}
