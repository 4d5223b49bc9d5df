// SPDX-License-Identifier: Apache-2.0
// Helpers for planning all kinds of regions: a kernel and its launch, constants, temporaries,
// properties of the target.
#include "graph/plan/plan.h"
#include "lowering/cost/cost_machine.h"

#include <inttypes.h>

unsigned plan_multiprocessors(const struct program_options *o) {
  if (o->multiprocessors)
    return o->multiprocessors;
  const struct target *t = o->target ? target_find(str_from(o->target)) : NULL;
  return t ? machine_of(t)->multiprocessors : 132;
}

bool plan_has_wgmma(const struct program_options *o) {
  const struct target *t = o->target ? target_find(str_from(o->target)) : NULL;
  return t && t->has_wgmma;
}

bool plan_has_pdl(const struct program_options *o) {
  const struct target *t = o->target ? target_find(str_from(o->target)) : NULL;
  return t && target_has_pdl(t) && !o->no_pdl;
}

bool plan_is_cpu(const struct program_options *o) {
  const struct target *t = o->target ? target_find(str_from(o->target)) : NULL;
  return t && t->is_cpu;
}

struct kernel_plan *plan_kernel(struct program *p, enum kernel_kind kind, const struct region *r,
                                const char *suffix) {
  struct kernel_plan *k = arena_new(p->arena, struct kernel_plan);
  k->kind = kind;
  k->region = r;
  k->suffix = suffix;
  return k;
}

void plan_launch(struct program *p, struct kernel_plan *k) {
  assert(!k->is_launched);
  k->is_launched = true;
  vec_push(p->arena, &p->plans, k);
}

const struct expr *plan_constant(struct program *p, struct kernel_plan *k, const char *name,
                                 int64_t value) {
  for (size_t i = 0; i < k->constants.len; i++)
    assert(strcmp(k->constants.at[i].name, name) != 0);
  const struct expr *symbol = program_constant(p, name);
  vec_push(p->arena, &k->constants,
           (struct kernel_constant){
               .name = name, .value = arena_printf(p->arena, "%" PRId64, value), .symbol = symbol});
  return symbol;
}

struct buffer *plan_temporary(struct program *p, const char *name, enum dtype t,
                              const struct expr *numel) {
  assert(numel && numel->hi >= 0); // the bounds of a product that was multiplied out are wide
  struct loops *l = p->regions->loops;
  struct buffer *b = arena_new(p->arena, struct buffer);
  assert(!l->buffers.len || vec_last(&l->buffers)->id < l->buffers.len);
  b->id = (uint32_t)l->buffers.len;
  b->name = arena_printf(p->arena, "%s_%u", name, b->id);
  b->dtype = t;
  b->role = BUFFER_TEMP;
  b->home = b;
  b->numel = numel;
  vec_push(l->arena, &l->buffers, b);
  vec_push(l->arena, &p->regions->temporaries, b);
  return b;
}

struct buffer *plan_counters(struct program *p, int64_t count) {
  struct exprs *x = p->regions->loops->exprs;
  int64_t n = 0;
  assert(count > 0);
  if (!p->counters)
    p->counters = plan_temporary(p, "count", DTYPE_I32, expr_const(x, count));
  else if (expr_is_const(p->counters->numel, &n) && n < count)
    p->counters->numel = expr_const(x, count);
  return p->counters;
}

static bool stores(const struct kernel_plan *k, const struct buffer *b) {
  for (size_t i = 0; i < k->accesses.len; i++)
    if (k->accesses.at[i].is_store && k->accesses.at[i].buffer == b)
      return true;
  return false;
}

bool plan_last_block(struct program *p, struct kernel_plan *k, struct kernel_plan *last,
                     int64_t groups, const char *group, const char *group_size) {
  assert(k != last && !k->last_block && !last->last_block && group_size);
  assert(groups == 1 || group); // else programs of several groups would count together
  for (size_t i = 0; i < k->accesses.len; i++) {
    const struct kernel_access *a = &k->accesses.at[i];
    if (!a->is_store && stores(last, a->buffer) && !stores(k, a->buffer))
      return false;
  }
  plan_counters(p, groups);
  k->last_block = last;
  k->group = group;
  k->group_size = group_size;
  return true;
}
