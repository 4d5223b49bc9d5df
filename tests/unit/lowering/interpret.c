// SPDX-License-Identifier: Apache-2.0
// The interpreter: one function per kind of op, values in a map from MLIR values to arrays.
#include "interpret.h"

#include "assertions.h"
#include "mlir-dialects/build.h"

struct tile {
  size_t n;
  int64_t at[];
};

struct machine {
  struct ir_context *c;
  struct arena *arena;
  struct map values; // MlirValue -> struct tile *
  uint64_t stores;   // digest of all stores, whatever their order within one op
  struct map memory; // address -> (value + 1) as a pointer
};

static uint64_t hash(uint64_t x) {
  x ^= x >> 31;
  x *= 0x7fb5d329728ea185u;
  x ^= x >> 27;
  x *= 0x81dadef4bc2dd44du;
  return x ^ x >> 33;
}

static struct tile *new_tile(struct machine *m, MlirType type) {
  size_t n = (size_t)tensor_numel(type);
  struct tile *t = arena_alloc(m->arena, sizeof(*t) + n * sizeof(t->at[0]), 8);
  t->n = n;
  return t;
}

static struct tile *get(struct machine *m, MlirValue v) {
  struct tile *t = ptrmap_get(&m->values, v.ptr);
  ck_assert_msg(t != NULL, "a value is used before it is computed");
  return t;
}

static void set(struct machine *m, MlirValue v, struct tile *t) {
  ptrmap_put(m->arena, &m->values, v.ptr, t);
}

static MlirValue operand(MlirOperation op, intptr_t i) { return mlirOperationGetOperand(op, i); }
static unsigned bits_of(struct machine *m, MlirValue v) {
  return type_bits(m->c, element_type(mlirValueGetType(v)));
}
static uint64_t zext(int64_t v, unsigned bits) {
  return bits == 64 ? (uint64_t)v : (uint64_t)v & ((UINT64_C(1) << bits) - 1);
}
static int64_t sext(int64_t v, unsigned bits) {
  if (bits == 1)
    return v & 1; // booleans are 0 and 1 here
  return bits == 64 ? v : (int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits);
}

static int64_t binary(enum op_id id, int64_t a, int64_t b, unsigned bits) {
  uint64_t ua = zext(a, bits), ub = zext(b, bits);
  switch (id) {
  case OP_ARITH_ADDI: return (int64_t)(ua + ub);
  case OP_ARITH_SUBI: return (int64_t)(ua - ub);
  case OP_ARITH_MULI: return (int64_t)(ua * ub);
  case OP_ARITH_ANDI: return a & b;
  case OP_ARITH_ORI: return a | b;
  case OP_ARITH_XORI: return a ^ b;
  case OP_ARITH_DIVSI: return a / b;
  case OP_ARITH_REMSI: return a % b;
  case OP_ARITH_DIVUI: return (int64_t)(ua / ub);
  case OP_ARITH_REMUI: return (int64_t)(ua % ub);
  case OP_ARITH_SHLI: return (int64_t)(ua << ub);
  case OP_ARITH_SHRSI: return a >> ub;
  case OP_ARITH_SHRUI: return (int64_t)(ua >> ub);
  case OP_ARITH_MAXSI: return a > b ? a : b;
  case OP_ARITH_MINSI: return a < b ? a : b;
  case OP_ARITH_MAXUI: return ua > ub ? a : b;
  case OP_ARITH_MINUI: return ua < ub ? a : b;
  default: ck_abort_msg("%s is not interpreted", op_info(id)->name);
  }
  return 0;
}

static bool compare(int64_t predicate, int64_t a, int64_t b, unsigned bits) {
  uint64_t ua = zext(a, bits), ub = zext(b, bits);
  if (bits == 1) { // as a signed number, true is -1
    a = -a;
    b = -b;
  }
  switch (predicate) {
  case 0: return a == b;
  case 1: return a != b;
  case 2: return a < b;
  case 3: return a <= b;
  case 4: return a > b;
  case 5: return a >= b;
  case 6: return ua < ub;
  case 7: return ua <= ub;
  case 8: return ua > ub;
  default: return ua >= ub;
  }
}

static int64_t lane(struct tile *t, size_t i) { return t->at[t->n == 1 ? 0 : i]; }

static int64_t element(struct machine *m, MlirOperation op, enum op_id id, size_t i) {
  int64_t a = lane(get(m, operand(op, 0)), i);
  unsigned bits = bits_of(m, operand(op, 0));
  switch (id) {
  case OP_ARITH_EXTSI: return bits == 1 ? -a : a;
  case OP_ARITH_EXTUI: return (int64_t)zext(a, bits);
  case OP_ARITH_TRUNCI: return a;
  default: break;
  }
  int64_t b = lane(get(m, operand(op, 1)), i);
  switch (id) {
  case OP_ARITH_CMPI: return compare(op_attr_int(op, "predicate", 0), a, b, bits);
  case OP_ARITH_SELECT: return a ? b : lane(get(m, operand(op, 2)), i);
  case OP_TILE_ADDPTR: return (int64_t)((uint64_t)a + 4 * (uint64_t)b);
  default: return binary(id, a, b, bits);
  }
}

// ---- shapes: the operand's element of each result element ----

static void coordinates(MlirType t, size_t flat, int64_t *ret) {
  for (unsigned i = tensor_rank(t); i-- > 0; flat /= (size_t)tensor_dim(t, i))
    ret[i] = (int64_t)(flat % (size_t)tensor_dim(t, i));
}

static size_t source_of(MlirOperation op, enum op_id id, MlirType from, MlirType to, size_t flat) {
  int64_t out[8], in[8];
  int32_t order[8] = {0};
  coordinates(to, flat, out);
  if (id == OP_TILE_TRANS)
    op_attr_i32_array(op, "order", 8, order);
  for (unsigned i = 0; i < tensor_rank(to) && id != OP_TILE_RESHAPE && id != OP_TILE_EXPAND_DIMS;
       i++)
    in[id == OP_TILE_TRANS ? (unsigned)order[i] : i] = out[i];
  if (id == OP_TILE_RESHAPE || id == OP_TILE_EXPAND_DIMS)
    return flat;
  size_t at = 0;
  for (unsigned i = 0; i < tensor_rank(from); i++)
    at = at * (size_t)tensor_dim(from, i) + (size_t)(tensor_dim(from, i) == 1 ? 0 : in[i]);
  return at;
}

static void shape_op(struct machine *m, MlirOperation op, enum op_id id) {
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirType from = mlirValueGetType(operand(op, 0)), to = mlirValueGetType(result);
  struct tile *x = get(m, operand(op, 0)), *t = new_tile(m, to);
  for (size_t i = 0; i < t->n; i++)
    t->at[i] = id == OP_TILE_SPLAT ? x->at[0] : x->at[source_of(op, id, from, to, i)];
  set(m, result, t);
}

// ---- memory ----

static int64_t read_memory(struct machine *m, int64_t address) {
  uintptr_t stored = (uintptr_t)ptrmap_get(&m->memory, (void *)(uintptr_t)address);
  return stored ? (int32_t)(uint32_t)(stored >> 1) : (int32_t)hash((uint64_t)address);
}

static void load(struct machine *m, MlirOperation op) {
  int32_t sizes[3] = {1, 0, 0};
  op_attr_i32_array(op, "operandSegmentSizes", 3, sizes);
  MlirValue result = mlirOperationGetResult(op, 0);
  struct tile *p = get(m, operand(op, 0)), *t = new_tile(m, mlirValueGetType(result));
  struct tile *mask = sizes[1] ? get(m, operand(op, 1)) : NULL;
  struct tile *other = sizes[2] ? get(m, operand(op, 1 + sizes[1])) : NULL;
  for (size_t i = 0; i < t->n; i++) {
    bool active = !mask || lane(mask, i);
    t->at[i] = active ? read_memory(m, lane(p, i)) : other ? lane(other, i) : 0;
  }
  set(m, result, t);
}

static void store(struct machine *m, MlirOperation op) {
  struct tile *p = get(m, operand(op, 0)), *v = get(m, operand(op, 1));
  struct tile *mask = mlirOperationGetNumOperands(op) > 2 ? get(m, operand(op, 2)) : NULL;
  uint64_t all = 0;
  for (size_t i = 0; i < p->n; i++) {
    if (mask && !lane(mask, i))
      continue;
    uint32_t value = (uint32_t)lane(v, i);
    all += hash(hash((uint64_t)p->at[i]) + value);
    ptrmap_put(m->arena, &m->memory, (void *)(uintptr_t)p->at[i],
               (void *)(((uintptr_t)value << 1) | 1));
  }
  // A store that writes nothing may go, so it does not count.
  m->stores = all ? hash(m->stores + all) : m->stores;
}

// ---- control ----

static MlirOperation run_block(struct machine *m, MlirBlock block);

static MlirBlock block_of(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

static void run_if(struct machine *m, MlirOperation op) {
  MlirBlock block = block_of(op, get(m, operand(op, 0))->at[0] ? 0 : 1);
  if (mlirBlockIsNull(block))
    return;
  MlirOperation yield = run_block(m, block);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    set(m, mlirOperationGetResult(op, i), get(m, operand(yield, i)));
}

static void run_for(struct machine *m, MlirOperation op) {
  MlirBlock body = block_of(op, 0);
  intptr_t n = mlirOperationGetNumResults(op);
  struct tile *carried[16];
  for (intptr_t i = 0; i < n; i++)
    carried[i] = get(m, operand(op, 3 + i));
  int64_t upper = get(m, operand(op, 1))->at[0], step = get(m, operand(op, 2))->at[0];
  for (int64_t iv = get(m, operand(op, 0))->at[0]; iv < upper; iv += step) {
    struct tile *t = new_tile(m, mlirValueGetType(operand(op, 0)));
    t->at[0] = iv;
    set(m, mlirBlockGetArgument(body, 0), t);
    for (intptr_t i = 0; i < n; i++)
      set(m, mlirBlockGetArgument(body, 1 + i), carried[i]);
    MlirOperation yield = run_block(m, body);
    for (intptr_t i = 0; i < n; i++)
      carried[i] = get(m, operand(yield, i));
  }
  for (intptr_t i = 0; i < n; i++)
    set(m, mlirOperationGetResult(op, i), carried[i]);
}

static void run_while(struct machine *m, MlirOperation op) {
  MlirBlock before = block_of(op, 0), after = block_of(op, 1);
  intptr_t passed = mlirOperationGetNumResults(op);
  struct tile *values[16];
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    values[i] = get(m, operand(op, i));
  for (;;) {
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(before); i++)
      set(m, mlirBlockGetArgument(before, i), values[i]);
    MlirOperation condition = run_block(m, before);
    for (intptr_t i = 0; i < passed; i++)
      values[i] = get(m, operand(condition, 1 + i));
    if (!get(m, operand(condition, 0))->at[0])
      break;
    for (intptr_t i = 0; i < passed; i++)
      set(m, mlirBlockGetArgument(after, i), values[i]);
    MlirOperation yield = run_block(m, after);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(yield); i++)
      values[i] = get(m, operand(yield, i));
  }
  for (intptr_t i = 0; i < passed; i++)
    set(m, mlirOperationGetResult(op, i), values[i]);
}

// ---- reductions of one tile ----

static int64_t call(struct machine *m, MlirOperation f, int64_t a, int64_t b) {
  MlirBlock body = block_of(f, 0);
  int64_t args[] = {a, b};
  for (intptr_t i = 0; i < 2; i++) {
    struct tile *t = new_tile(m, mlirValueGetType(mlirBlockGetArgument(body, i)));
    t->at[0] = args[i];
    set(m, mlirBlockGetArgument(body, i), t);
  }
  return get(m, operand(run_block(m, body), 0))->at[0];
}

static void reduce(struct machine *m, MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirType from = mlirValueGetType(operand(op, 0));
  MlirOperation f = op_function(m->c, op, "combine");
  struct tile *x = get(m, operand(op, 0)), *t = new_tile(m, mlirValueGetType(result));
  unsigned axis = (unsigned)op_attr_int(op, "axis", 0);
  size_t inner = 1, n = (size_t)tensor_dim(from, axis);
  for (unsigned d = axis + 1; d < tensor_rank(from); d++)
    inner *= (size_t)tensor_dim(from, d);
  for (size_t i = 0; i < t->n; i++) {
    size_t first = i / inner * inner * n + i % inner;
    int64_t all = x->at[first];
    for (size_t k = 1; k < n; k++)
      all = call(m, f, all, x->at[first + k * inner]);
    t->at[i] = all;
  }
  set(m, result, t);
}

// ---- ops ----

static void fill(struct machine *m, MlirOperation op, enum op_id id) {
  MlirValue result = mlirOperationGetResult(op, 0);
  struct tile *t = new_tile(m, mlirValueGetType(result));
  unsigned bits = bits_of(m, result);
  int64_t constant = 0;
  if (id == OP_ARITH_CONSTANT)
    ck_assert(value_const_int(m->c, result, &constant));
  for (size_t i = 0; i < t->n; i++)
    t->at[i] = id == OP_ARITH_CONSTANT    ? constant
               : id == OP_TILE_MAKE_RANGE ? op_attr_int(op, "start", 0) + (int64_t)i
               : id == OP_TILE_PROGRAM_ID ? 5
                                          : sext(element(m, op, id, i), bits);
  set(m, result, t);
}

static void run_op(struct machine *m, MlirOperation op) {
  enum op_id id = op_id(m->c, op);
  switch (id) {
  case OP_TILE_SPLAT:
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS: shape_op(m, op, id); break;
  case OP_TILE_REDUCE: reduce(m, op); break;
  case OP_TILE_LOAD: load(m, op); break;
  case OP_TILE_STORE: store(m, op); break;
  case OP_SCF_IF: run_if(m, op); break;
  case OP_SCF_FOR: run_for(m, op); break;
  case OP_SCF_WHILE: run_while(m, op); break;
  default: fill(m, op, id); break;
  }
}

static MlirOperation run_block(struct machine *m, MlirBlock block) {
  MlirOperation op = mlirBlockGetFirstOperation(block);
  for (; !(op_flags(m->c, op) & OP_TERM); op = mlirOperationGetNextInBlock(op))
    run_op(m, op);
  return op;
}

uint64_t interpret(struct ir_context *c, MlirModule module, const int64_t *args) {
  struct machine m = {.c = c, .arena = arena_create()};
  MlirBlock entry = func_entry(mlirBlockGetFirstOperation(mlirModuleGetBody(module)));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); i++) {
    MlirValue arg = mlirBlockGetArgument(entry, i);
    struct tile *t = new_tile(&m, mlirValueGetType(arg));
    t->at[0] = sext(args[i], bits_of(&m, arg));
    set(&m, arg, t);
  }
  MlirOperation end = run_block(&m, entry);
  uint64_t digest = m.stores;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); i++) {
    struct tile *t = get(&m, operand(end, i));
    for (size_t k = 0; k < t->n; k++)
      digest = hash(digest + (uint64_t)t->at[k]);
  }
  arena_destroy(m.arena);
  return digest;
}
