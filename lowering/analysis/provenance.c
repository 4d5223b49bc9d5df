// SPDX-License-Identifier: Apache-2.0
// Follows pointers back to the kernel's parameters. Straight chains are followed in place; where
// values join (selects, branches, loops) both operands go on a worklist, with the joins already
// seen: at most MAX_JOINS of them are followed, so that loops end.
#include "lowering/analysis/provenance.h"

enum { MAX_JOINS = 64 };

struct search {
  struct ir_context *c;
  MlirValue todo[2 * MAX_JOINS], seen[MAX_JOINS];
  unsigned todo_count, seen_count;
  int argument; // -1: none yet
  bool lost;
  bool may_load; // pointers come from memory, too: POINTED_MEMORY
};

// True the first time; gives up when there are too many joins.
static bool first_visit(struct search *s, MlirValue v) {
  for (unsigned i = 0; i < s->seen_count; i++)
    if (mlirValueEqual(s->seen[i], v))
      return false;
  if (s->seen_count == MAX_JOINS) {
    s->lost = true;
    return false;
  }
  s->seen[s->seen_count++] = v;
  return true;
}

static void follow(struct search *s, MlirValue v) {
  if (s->todo_count == COUNT_OF(s->todo))
    s->lost = true;
  else
    s->todo[s->todo_count++] = v;
}

static void join(struct search *s, MlirValue at, MlirValue a, MlirValue b) {
  if (!first_visit(s, at))
    return;
  follow(s, a);
  follow(s, b);
}

static MlirOperation terminator(MlirOperation op, intptr_t region) {
  return mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region)));
}

static void reach(struct search *s, int argument) {
  s->lost |= argument < 0 || (s->argument >= 0 && s->argument != argument);
  s->argument = argument;
}

static void trace_argument(struct search *s, MlirValue v) {
  MlirBlock block = mlirBlockArgumentGetOwner(v);
  MlirOperation parent = mlirBlockGetParentOperation(block);
  intptr_t at = mlirBlockArgumentGetArgNumber(v);
  switch (op_id(s->c, parent)) {
  case OP_FUNC_FUNC: reach(s, (int)at); return;
  case OP_SCF_FOR:
    if (at == 0)
      s->lost = true;
    else
      join(s, v, mlirOperationGetOperand(parent, at + 2),
           mlirOperationGetOperand(terminator(parent, 0), at - 1));
    return;
  case OP_SCF_WHILE:
    if (mlirBlockEqual(block, mlirRegionGetFirstBlock(mlirOperationGetRegion(parent, 0))))
      join(s, v, mlirOperationGetOperand(parent, at),
           mlirOperationGetOperand(terminator(parent, 1), at));
    else if (first_visit(s, v))
      follow(s, mlirOperationGetOperand(terminator(parent, 0), at + 1));
    return;
  default: s->lost = true;
  }
}

// A pointer, or the integer that becomes one, from memory.
static void trace_load(struct search *s, MlirOperation load) {
  if (!s->may_load) {
    s->lost = true;
    return;
  }
  int table = pointer_argument(s->c, mlirOperationGetOperand(load, 0));
  reach(s, table < 0 ? -1 : POINTED_MEMORY + table);
}

static bool is_load(struct search *s, MlirValue v) {
  MlirOperation def = value_def(v);
  return !mlirOperationIsNull(def) && op_is(s->c, def, OP_TILE_LOAD);
}

static void trace_result(struct search *s, MlirValue v) {
  MlirOperation op = mlirOpResultGetOwner(v);
  intptr_t at = mlirOpResultGetResultNumber(v);
  switch (op_id(s->c, op)) {
  case OP_TILE_ADDPTR:
  case OP_TILE_SPLAT:
  case OP_TILE_BROADCAST:
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS:
  case OP_TILE_SPLIT:
  case OP_TILE_UNSPLAT:
  case OP_TILE_GATHER:
  case OP_GPU_CONVERT_LAYOUT: follow(s, mlirOperationGetOperand(op, 0)); return;
  case OP_TILE_LOAD: trace_load(s, op); return;
  case OP_TILE_INT_TO_PTR:
    if (is_load(s, mlirOperationGetOperand(op, 0)))
      trace_load(s, value_def(mlirOperationGetOperand(op, 0)));
    else
      s->lost = true;
    return;
  case OP_TILE_BITCAST:
    if (type_is_ptr(s->c, element_type(mlirValueGetType(mlirOperationGetOperand(op, 0)))))
      follow(s, mlirOperationGetOperand(op, 0));
    else
      s->lost = true;
    return;
  case OP_TILE_JOIN:
    join(s, v, mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1));
    return;
  case OP_ARITH_SELECT:
    join(s, v, mlirOperationGetOperand(op, 1), mlirOperationGetOperand(op, 2));
    return;
  case OP_SCF_IF:
    join(s, v, mlirOperationGetOperand(terminator(op, 0), at),
         mlirOperationGetOperand(terminator(op, 1), at));
    return;
  case OP_SCF_FOR: // what the loop carries, or what it starts with
    join(s, v, mlirOperationGetOperand(op, at + 3), mlirOperationGetOperand(terminator(op, 0), at));
    return;
  case OP_SCF_WHILE:
    if (first_visit(s, v))
      follow(s, mlirOperationGetOperand(terminator(op, 0), at + 1));
    return;
  default: s->lost = true;
  }
}

static int run(struct search *s, MlirValue ptr) {
  follow(s, ptr);
  while (s->todo_count > 0 && !s->lost) {
    MlirValue v = s->todo[--s->todo_count];
    if (mlirValueIsABlockArgument(v))
      trace_argument(s, v);
    else
      trace_result(s, v);
  }
  return s->lost ? -1 : s->argument;
}

int pointer_argument(struct ir_context *c, MlirValue ptr) {
  struct search s = {.c = c, .argument = -1};
  return run(&s, ptr);
}

int pointer_memory(struct ir_context *c, MlirValue ptr) {
  struct search s = {.c = c, .argument = -1, .may_load = true};
  return run(&s, ptr);
}

static bool is_within(MlirOperation op, MlirOperation func) {
  while (!mlirOperationIsNull(op) && !mlirOperationEqual(op, func))
    op = mlirOperationGetParentOperation(op);
  return !mlirOperationIsNull(op);
}

bool pointer_is_unaligned(struct ir_context *c, MlirOperation kernel, MlirOperation user,
                          MlirValue ptr) {
  if (mlirOperationIsNull(kernel))
    return false;
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
  intptr_t count = mlirBlockGetNumArguments(entry);
  int from = is_within(user, kernel) ? pointer_argument(c, ptr) : -1; // -1: any argument
  for (intptr_t i = 0; i < count; i++)
    if ((from < 0 || from == i) &&
        !mlirAttributeIsNull(func_arg_attr(kernel, (unsigned)i, "tile.unaligned")))
      return true;
  return false;
}

MlirOperation function_around(struct ir_context *c, MlirOperation op) {
  while (!mlirOperationIsNull(op) && !op_is(c, op, OP_FUNC_FUNC))
    op = mlirOperationGetParentOperation(op);
  return op;
}

const char *parameter_name(struct ir_context *c, struct arena *a, MlirOperation op, int at) {
  MlirOperation func = function_around(c, op);
  MlirAttribute name = at < 0 || mlirOperationIsNull(func)
                           ? mlirAttributeGetNull()
                           : func_arg_attr(func, (unsigned)at, "tile.name");
  if (mlirAttributeIsNull(name) || !mlirAttributeIsAString(name))
    return NULL;
  MlirStringRef text = mlirStringAttrGetValue(name);
  return arena_strndup(a, text.data, text.length);
}
