// SPDX-License-Identifier: Apache-2.0
// Last-block reduction: small work that depends on all programs of a launch needs no launch of its
// own. Each program increments a counter after storing its results, and the one that completes the
// count does that work and resets the counter for the next launch. No program waits.
//
//     tl.store(out1 + split, sum0)
//     tl.debug_barrier()
//     if tl.atomic_add(count + tl.program_id(0), 1) == tl.num_programs(1) - 1:
//         sum_finish(out1, out0)
//         tl.store(count + tl.program_id(0), 0)
//
// The atomic add releases the stores of this program (after the barrier: those of all its threads)
// and acquires those of the others. Partial results are read in a fixed order, so the result does
// not depend on which program is last.
// Recursion is the algorithm: a last-block reduction is a kernel body emitted within a kernel.
#include "graph/emit/graph_emit.h"

// The argument in the launch for parameter `a` of the last block.
static const char *argument(struct emitter *e, const struct launch_arg *a) {
  switch (a->kind) {
  case LAUNCH_BUFFER:
    if (a->is_written)
      emit_writes(e, a->buffer);
    return emit_buffer(e, a->buffer);
  case LAUNCH_SIZE: return emit_size(e, a->size);
  case LAUNCH_SEED: return emit_seed(e, a->which);
  }
  UNREACHABLE();
}

static bool has_constant(const struct emitter *e, const char *name) {
  for (size_t i = 0; i < e->plan->constants.len; i++)
    if (strcmp(e->plan->constants.at[i].name, name) == 0)
      return true;
  return false;
}

// Does the constant divide axes among the launch's programs?
static bool is_of_grid(const char *name) {
  static const char *const names[] = {"XBLOCK", "BLOCK_M", "BLOCK_N", "GROUP_M"};
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

// Adds the last block as a function; returns the call. Constants of both are the launch's.
static const char *call_of(struct emitter *e, struct emitter *last) {
  struct strbuf text = {.arena = e->arena}, call = {.arena = e->arena};
  strbuf_printf(&text, "@jit\ndef %s(", last->name);
  strbuf_printf(&call, "%s(", last->name);
  const char *comma = "";
  for (size_t i = 0; i < last->launch.args.len; i++, comma = ", ") {
    const struct launch_arg *a = &last->launch.args.at[i];
    strbuf_printf(&text, "%s%s", comma, a->name);
    strbuf_printf(&call, "%s%s", comma, argument(e, a));
  }
  for (size_t i = 0; i < last->plan->constants.len; i++, comma = ", ") {
    const struct kernel_constant *c = &last->plan->constants.at[i];
    bool shared = is_of_grid(c->name) && has_constant(e, c->name);
    strbuf_printf(&text, "%s%s: constexpr%s%s", comma, c->name, shared ? "" : " = ",
                  shared ? "" : c->value);
    if (shared)
      strbuf_printf(&call, "%s%s", comma, c->name);
  }
  strbuf_puts(&text, "):\n");
  kernel_lines_print(last->scopes[0].lines.at, last->scopes[0].lines.len, &text);
  strbuf_puts(&call, ")");
  for (size_t i = 0; i < last->functions.len; i++)
    emit_helper(e, last->functions.at[i]);
  emit_helper(e, arena_strdup(e->arena, strbuf_cstr(&text)));
  const char *kept = arena_strdup(e->arena, strbuf_cstr(&call));
  strbuf_finish(&text);
  strbuf_finish(&call);
  return kept;
}

void emit_last_block(struct emitter *e) {
  const struct kernel_plan *k = e->plan;
  struct emitter *last = emit_kernel_body(e->p, k->last_block);
  emit_writes(e, e->p->counters);
  const char *call = call_of(e, last), *offset = emit_buffer(e, e->p->counters);
  if (k->group)
    offset = arena_printf(e->arena, "%s + %s", offset, k->group);
  emit_line(e, 0, "tl.debug_barrier()");
  emit_line(e, 0, "if tl.atomic_add(%s, 1) == %s - 1:", offset, k->group_size);
  emit_line(e, 0, "    %s", call);
  emit_line(e, 0, "    tl.store(%s, 0)", offset);
}
