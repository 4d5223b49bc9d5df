// SPDX-License-Identifier: Apache-2.0
// insert-grid-dependencies: in a module with `tilegpu.launch_pdl` (programmatic dependent launch),
// the kernel waits for the grid in front of it before its first access to global memory, and then
// lets the grid behind it begin.
//
//   %p = "tile.get_program_id"() ...           %p = "tile.get_program_id"() ...
//   "tilegpu.ring_init"(%bars)                 "tilegpu.ring_init"(%bars)
//                                              "tile.grid_dependency"() {kind = "wait"}
//                                         ->   "tile.grid_dependency"() {kind =
//                                         "launch_dependents"}
//   scf.if %is_producer { map_copy ... }       scf.if %is_producer { map_copy ... }
//
// PTX ISA, "griddepcontrol": `wait` holds the executing thread until the grids in front have ended
// and their writes are visible. So all threads must execute it before they read what such a grid
// writes, and before they write what it reads. It is placed in the kernel's own block, in front of
// the first operation that accesses global memory or contains such an operation: producer warps
// pass it too, and so does a program that returns early. Then no grid ends before the one in front
// of it, and a kernel that waits for its predecessor has waited for all grids before that.
//
// `launch_dependents` follows the wait, not the last access: it takes effect when all CTAs have
// executed it or ended, so the next grid gets what this one leaves free, and at most two grids are
// under way at once.
//
// A kernel that contains a wait places both itself.
#include "lowering/pass.h"
#include "mlir-dialects/build.h"

struct search {
  struct ir_context *c;
  bool has_wait, has_launch; // in the module
  bool accesses;             // the op in question
};

// Effects on registers and on the CTA's shared memory alone.
static bool stays_in_cta(struct ir_context *c, MlirOperation op) {
  switch (op_id(c, op)) {
  case OP_TILE_ASSUME:
  case OP_TILE_BARRIER:
  case OP_TILE_SPECIAL:
  case OP_GPU_LOCAL_ALLOC:
  case OP_GPU_LOCAL_LOAD:
  case OP_GPU_LOCAL_STORE:
  case OP_GPU_BARRIER:
  case OP_GPU_IS_PRODUCER:
  case OP_GPU_SET_REGISTERS:
  case OP_GPU_PING_PONG:
  case OP_GPU_CLUSTER_BARRIER:
  case OP_GPU_RING_INIT: return true;
  default: return (op_flags(c, op) & (OP_READ | OP_WRITE | OP_EFFECT)) == 0;
  }
}

static bool find_access(MlirOperation op, void *user) {
  struct search *s = user;
  s->accesses |= !stays_in_cta(s->c, op);
  return !s->accesses;
}

static bool find_dependencies(MlirOperation op, void *user) {
  struct search *s = user;
  if (op_is(s->c, op, OP_TILE_GRID_DEPENDENCY)) {
    bool waits = str_is(op_attr_str(op, "kind"), "wait");
    s->has_wait |= waits;
    s->has_launch |= !waits;
  }
  return true;
}

// The operation of the kernel's block to wait before: at the latest its return.
static MlirOperation first_access(struct search *s, MlirOperation kernel) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
  MlirOperation op = mlirBlockGetFirstOperation(block), end = mlirBlockGetTerminator(block);
  for (; !mlirOperationEqual(op, end); op = mlirOperationGetNextInBlock(op)) {
    ir_walk(op, find_access, s);
    if (s->accesses)
      break;
  }
  return op;
}

enum pass_result pass_insert_grid_dependencies(struct pass_context *p) {
  MlirOperation module = mlirModuleGetOperation(p->module), kernel = module_kernel(p->c, p->module);
  struct search s = {.c = p->c};
  if (mlirAttributeIsNull(op_attr(module, "tilegpu.launch_pdl")) || mlirOperationIsNull(kernel))
    return PASS_UNCHANGED;
  ir_walk(module, find_dependencies, &s);
  if (s.has_wait)
    return PASS_UNCHANGED;
  struct builder b = builder_before(p->c, first_access(&s, kernel));
  build_grid_dependency(&b, "wait");
  if (!s.has_launch)
    build_grid_dependency(&b, "launch_dependents");
  return PASS_CHANGED;
}
