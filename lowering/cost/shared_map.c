// SPDX-License-Identifier: Apache-2.0
// The comments are made from the allocations after all passes (shared_map.h).
#include "lowering/cost/shared_map.h"

#include "lowering/analysis/scratch.h"

enum { MBARRIER_BYTES = 8 };

struct shared_map {
  struct ir_context *c;
  struct strbuf *out;
};

static void write_line(struct shared_map *m, uint32_t offset, uint32_t count, uint32_t bytes,
                       const char *what, const char *name) {
  strbuf_printf(m->out, "// shared 0x%x: %u x %u bytes, %s of `%s`\n", offset, count, bytes, what,
                name);
}

static bool see_buffer(MlirOperation op, void *user) {
  struct shared_map *m = user;
  if (!op_is(m->c, op, OP_GPU_LOCAL_ALLOC) ||
      mlirAttributeIsNull(op_attr(op, "tilegpu.shared_offset")))
    return true;
  const char *name = buffer_name(m->c, op);
  if (!name)
    return true;
  uint32_t offset = scratch_offset(op), bytes = alloc_bytes(m->c, op), count = alloc_copies(op);
  if (buffer_use_of(m->c, op) == BUFFER_BARRIERS) { // full ones, then as many empty ones
    uint32_t slots = ring_slots(m->c, op);
    write_line(m, offset, slots, MBARRIER_BYTES, "full mbarrier", name);
    write_line(m, offset + slots * MBARRIER_BYTES, slots, MBARRIER_BYTES, "empty mbarrier", name);
    return true;
  }
  bool is_staging = buffer_use_of(m->c, op) == BUFFER_STAGING;
  write_line(m, offset, count, bytes / count, is_staging ? "stored block" : "buffer", name);
  return true;
}

void shared_map_write(struct ir_context *c, MlirModule module, struct strbuf *out) {
  struct shared_map m = {c, out};
  ir_walk(mlirModuleGetOperation(module), see_buffer, &m);
}
