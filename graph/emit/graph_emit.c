// SPDX-License-Identifier: Apache-2.0
// Assembles the source and the launch of a kernel. Each kind of region is printed by a file of its
// own.
// Recursion is the algorithm: a last-block reduction is a kernel body emitted within a kernel.
#include "graph/emit/graph_emit.h"

#include "graph/plan/custom_kernel.h"

#include <inttypes.h>

// ---- beginning ----

static const char *comment_of(struct emitter *e) {
  struct strbuf text = {.arena = e->arena};
  const struct region *r = e->plan->region;
  VEC(const char *) seen = {0};
  for (size_t i = 0; i < r->stages.len; i++)
    for (size_t j = 0; j < r->stages.at[i]->origins.len && text.len < EMIT_WIDTH; j++) {
      const char *origin = r->stages.at[i]->origins.at[j];
      bool old = false;
      for (size_t k = 0; k < seen.len; k++)
        old = old || strcmp(seen.at[k], origin) == 0;
      if (old)
        continue;
      vec_push(e->arena, &seen, origin);
      strbuf_printf(&text, "%s%s", text.len ? ", " : "", origin);
    }
  for (uint32_t i = 0; i < r->rank; i++) {
    strbuf_puts(&text, i ? " x " : text.len ? ": " : "");
    expr_print(axis_extent(r->axes[i]), &text);
  }
  const char *kept = arena_strdup(e->arena, strbuf_cstr(&text));
  strbuf_finish(&text);
  return kept;
}

static struct emitter *begin(struct program *p, const struct kernel_plan *k) {
  struct emitter *e = arena_new(p->arena, struct emitter);
  const char *name = k->region->name;
  e->p = p;
  e->plan = k;
  e->arena = p->arena;
  e->x = p->regions->loops->exprs;
  e->s = p->regions->loops->scalars;
  e->name = k->suffix ? arena_printf(e->arena, "%s_%s", name, k->suffix) : name;
  e->comment = comment_of(e);
  e->scopes[0].indent = 1;
  e->scopes[0].serial = ++e->serial;
  e->launch.region = k->region;
  return e;
}

// ---- parameters, launch ----

static int arg_order(const struct launch_arg *a) {
  if (a->kind == LAUNCH_BUFFER)
    return a->is_written;
  return a->kind == LAUNCH_SIZE ? 2 : 3;
}

// Inputs, outputs, sizes, seeds.
static void sort_args(struct emitter *e) {
  for (size_t i = 1; i < e->launch.args.len; i++)
    for (size_t j = i; j > 0; j--) {
      struct launch_arg *a = &e->launch.args.at[j - 1];
      if (arg_order(a) <= arg_order(a + 1))
        break;
      struct launch_arg t = a[0];
      a[0] = a[1];
      a[1] = t;
    }
}

static struct source_param param_of(struct emitter *e, const struct launch_arg *a) {
  const char *type = dtype_name(a->kind == LAUNCH_BUFFER ? a->buffer->dtype : a->dtype);
  if (a->kind == LAUNCH_BUFFER)
    type = arena_printf(e->arena, "%s[%s]", a->is_written ? "ptr" : "const_ptr", type);
  return (struct source_param){.name = a->name, .type = type};
}

static struct kernel_text text_of(struct emitter *e) {
  struct kernel_text t = {.comment = e->comment};
  for (size_t i = 0; i < e->functions.len; i++)
    vec_push(e->arena, &t.functions, e->functions.at[i]);
  for (size_t i = 0; i < e->launch.args.len; i++)
    vec_push(e->arena, &t.params, param_of(e, &e->launch.args.at[i]));
  for (size_t i = 0; i < e->scopes[0].lines.len; i++)
    vec_push(e->arena, &t.body, e->scopes[0].lines.at[i]);
  return t;
}

static struct graph_kernel *kernel_of(struct emitter *e) {
  const struct kernel_plan *plan = e->plan;
  struct graph_kernel *k = arena_new(e->arena, struct graph_kernel);
  k->id = (uint32_t)e->p->kernels.len;
  k->name = e->name;
  k->text = text_of(e);
  k->num_warps = plan->num_warps;
  k->num_stages = plan->num_stages;
  k->num_ctas = plan->num_ctas;
  k->is_alone = plan->is_alone;
  k->sums = plan->sums;
  k->space = plan->space;
  for (size_t i = 0; i < plan->constants.len; i++)
    vec_push(e->arena, &k->constants, plan->constants.at[i]);
  kernel_text_break_lines(e->arena, &k->text, k->name, k->constants.at, k->constants.len);
  kernel_print(e->arena, k);
  return k;
}

static const struct expr *count_of(struct emitter *e, const struct expr *own,
                                   const struct expr *of_region) {
  return own ? own : of_region ? of_region : expr_const(e->x, 0);
}

// The memory plan knows a launch by its planned accesses alone.
static bool is_planned(const struct program *p, const struct kernel_plan *k,
                       const struct launch_arg *a) {
  for (size_t i = 0; i < k->accesses.len; i++)
    if (k->accesses.at[i].buffer == a->buffer && k->accesses.at[i].is_store >= a->is_written)
      return true;
  return a->buffer == p->counters || (k->last_block && is_planned(p, k->last_block, a));
}

static void end(struct emitter *e) {
  const struct kernel_plan *plan = e->plan;
  struct launch *l = &e->launch;
  bool planned = true;
  for (size_t i = 0; i < l->args.len; i++)
    planned &= l->args.at[i].kind != LAUNCH_BUFFER || is_planned(e->p, plan, &l->args.at[i]);
  assert(planned && e->depth == 0);
  (void)planned;
  sort_args(e);
  plan_find_reuses(e->p, plan, l);
  l->kernel = kernel_of(e);
  l->clears = plan->clears;
  for (unsigned i = 0; i < 3; i++) {
    l->grid_rule[i] = plan->grid[i] ? plan->grid[i] : expr_const(e->x, 1);
    l->grid[i] = grid_value(e->x, l->grid_rule[i], l->kernel);
  }
  l->bytes = count_of(e, plan->bytes, plan->region->bytes);
  l->flops = count_of(e, plan->flops, plan->region->flops);
  vec_push(e->arena, &e->p->kernels, l->kernel);
  vec_push(e->arena, &e->p->launches, *l);
}

// ---- kernels ----

struct emitter *emit_kernel_body(struct program *p, const struct kernel_plan *k) {
  struct emitter *e = begin(p, k);
  switch (k->kind) {
  case KERNEL_MAP: emit_map_kernel(e, k->map); break;
  case KERNEL_ROWS: emit_rows_kernel(e, k->rows); break;
  case KERNEL_SCAN: emit_scan_kernel(e, k->scan); break;
  case KERNEL_PRODUCT: emit_product_kernel(e, k->product); break;
  case KERNEL_ATTENTION: emit_attention_kernel(e, k->attention); break;
  case KERNEL_CALL: break;
  }
  return e;
}

static bool emit_call(struct program *p, const struct kernel_plan *k) {
  struct launch l = plan_launch_of(p, k);
  l.call = k->call;
  for (unsigned i = 0; i < 3; i++)
    l.grid_rule[i] = l.grid[i] = expr_const(p->regions->loops->exprs, 1);
  for (size_t i = 0; i < l.args.len; i++)
    l.args.at[i].name = l.args.at[i].buffer->name;
  l.bytes = k->region->bytes;
  l.flops = k->region->flops;
  if (k->call->node->op == OP_CUSTOM) { // a kernel after all
    l.call = NULL;
    if (!custom_kernel_launch(p, k->call, &l))
      return false;
    if (k->call->score_axes)
      emit_call_functions(begin(p, k), &l);
  }
  vec_push(p->arena, &p->launches, l);
  return true;
}

bool emit_kernel(struct program *p, const struct kernel_plan *k) {
  if (k->kind == KERNEL_CALL)
    return emit_call(p, k);
  struct emitter *e = emit_kernel_body(p, k);
  if (k->last_block)
    emit_last_block(e);
  if (e->is_beyond) {
    diag_help(
        diag_error(p->graph->diag, k->region->stages.at[0]->span, E1009,
                   "the position of an element of `%s` is too long an expression of the sizes",
                   k->region->name),
        "make some of the sizes constant, or name their results: pass them as inputs");
    return false;
  }
  end(e);
  return true;
}
