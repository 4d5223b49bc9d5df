// SPDX-License-Identifier: Apache-2.0
// What follows from all programs of a launch, and is small, needs no launch of its own: each
// program counts itself when its results are in memory, and the one that finds that all others have
// done so goes on with it. Nobody waits for anybody. It leaves the counter at zero for the next
// launch.
//
//     tl.store(out1 + split, sum0)
//     tl.debug_barrier()
//     if tl.atomic_add(count + tl.program_id(0), 1) == tl.num_programs(1) - 1:
//         sum_finish(out1, out0)
//         tl.store(count + tl.program_id(0), 0)
//
// The atomic operation releases what this program has stored (the barrier: all its threads), and
// makes what the others have released visible. Partial results are read in one order, so that the
// result does not depend on who is last.
#include "graph/emit/emit.h"

// `tail` writes nothing that `e` reads as constant.
static bool fits(const struct emitter *e, const struct emitter *tail) {
  for (size_t i = 0; i < tail->launch.args.len; i++)
    for (size_t j = 0; j < e->launch.args.len; j++) {
      const struct launch_arg *a = &tail->launch.args.at[i], *b = &e->launch.args.at[j];
      if (a->kind == LAUNCH_BUFFER && b->kind == LAUNCH_BUFFER && a->buffer == b->buffer &&
          a->is_written && !b->is_written)
        return false;
    }
  return true;
}

struct buffer *emit_counters(struct program *p, int64_t groups) {
  struct exprs *x = p->regions->loops->exprs;
  int64_t n = 0;
  if (!p->counters)
    p->counters = emit_temporary(p, "count", DTYPE_I32, expr_const(x, groups));
  else if (expr_is_const(p->counters->numel, &n) && n < groups)
    p->counters->numel = expr_const(x, groups);
  return p->counters;
}

// The launch's name for what the tail calls a->name.
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
  for (size_t i = 0; i < e->constants.len; i++)
    if (strcmp(e->constants.at[i].name, name) == 0)
      return true;
  return false;
}

// Do the launch's programs share out the axes by it?
static bool is_of_grid(const char *name) {
  static const char *const names[] = {"XBLOCK", "BLOCK_M", "BLOCK_N", "GROUP_M"};
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

// The tail as a function, and the call. Blocks that both have are the launch's.
static const char *call_of(struct emitter *e, struct emitter *tail) {
  struct strbuf text = {.arena = e->arena}, call = {.arena = e->arena};
  strbuf_printf(&text, "@jit\ndef %s(", tail->name);
  strbuf_printf(&call, "%s(", tail->name);
  const char *comma = "";
  for (size_t i = 0; i < tail->launch.args.len; i++, comma = ", ") {
    const struct launch_arg *a = &tail->launch.args.at[i];
    strbuf_printf(&text, "%s%s", comma, a->name);
    strbuf_printf(&call, "%s%s", comma, argument(e, a));
  }
  for (size_t i = 0; i < tail->constants.len; i++, comma = ", ") {
    const struct kernel_constant *c = &tail->constants.at[i];
    bool shared = is_of_grid(c->name) && has_constant(e, c->name);
    strbuf_printf(&text, "%s%s: constexpr%s%s", comma, c->name, shared ? "" : " = ",
                  shared ? "" : c->value);
    if (shared)
      strbuf_printf(&call, "%s%s", comma, c->name);
  }
  strbuf_puts(&text, "):\n");
  kernel_lines_print(tail->scopes[0].lines.at, tail->scopes[0].lines.len, &text);
  strbuf_puts(&call, ")");
  for (size_t i = 0; i < tail->functions.len; i++)
    emit_helper(e, tail->functions.at[i]);
  emit_helper(e, arena_strdup(e->arena, strbuf_cstr(&text)));
  const char *kept = arena_strdup(e->arena, strbuf_cstr(&call));
  strbuf_finish(&text);
  strbuf_finish(&call);
  return kept;
}

bool emit_tail_of(struct emitter *e, struct emitter *tail, int64_t groups, const char *group,
                  const char *count) {
  if (!fits(e, tail))
    return false;
  struct buffer *counters = emit_counters(e->p, groups);
  emit_writes(e, counters);
  const char *call = call_of(e, tail), *place = emit_buffer(e, counters);
  if (group)
    place = arena_printf(e->arena, "%s + %s", place, group);
  emit_line(e, 0, "tl.debug_barrier()");
  emit_line(e, 0, "if tl.atomic_add(%s, 1) == %s - 1:", place, count);
  emit_line(e, 0, "    %s", call);
  emit_line(e, 0, "    tl.store(%s, 0)", place);
  return true;
}

bool emit_tail(struct emitter *e, struct emitter *tail, int64_t groups, bool parallel) {
  return parallel ? emit_tail_of(e, tail, groups, "tl.program_id(0)", "tl.num_programs(1)")
                  : emit_tail_of(e, tail, groups, NULL, "tl.num_programs(0)");
}
