// SPDX-License-Identifier: Apache-2.0
// Kernels as data: their sources, and grids as functions of their constants.
#include "graph/program/program.h"

#include <inttypes.h>

void kernel_print(struct arena *a, struct graph_kernel *k) {
  k->source = kernel_text_source(a, &k->text, k->name, k->constants.at, k->constants.len);
}

static bool has_constants(const struct expr *e, const struct graph_kernel *k) {
  for (size_t i = 0; i < k->constants.len; i++)
    if (expr_has_symbol(e, k->constants.at[i].symbol))
      return true;
  return false;
}

const struct expr *program_constant(struct program *p, const char *name) {
  struct str key = str_from(name);
  const struct expr *symbol = map_get(&p->constants, key);
  if (symbol)
    return symbol;
  symbol = expr_symbol(p->regions->loops->exprs, name, 1, INT32_MAX, NULL);
  map_put(p->arena, &p->constants, key, (void *)(uintptr_t)symbol);
  return symbol;
}

const struct expr *grid_value(struct exprs *x, const struct expr *rule,
                              const struct graph_kernel *k) {
  for (size_t i = 0; i < k->constants.len; i++) {
    const struct kernel_constant *c = &k->constants.at[i];
    int64_t n;
    if (!str_to_i64(str_from(c->value), &n))
      continue;
    const struct expr *value = expr_const(x, n);
    rule = expr_substitute(x, rule, 1, &c->symbol, &value);
  }
  bool is_free = !has_constants(rule, k);
  assert(is_free);
  (void)is_free;
  return rule;
}

// May the symbol appear in the text?
static bool is_named(const struct launch *l, const struct expr *symbol) {
  for (size_t i = 0; i < l->args.len; i++)
    if (l->args.at[i].kind == LAUNCH_SIZE && l->args.at[i].size == symbol)
      return true;
  for (size_t i = 0; i < l->kernel->constants.len; i++)
    if (l->kernel->constants.at[i].symbol == symbol)
      return true;
  return false;
}

static bool is_of_parameters(const struct launch *l, const struct expr *e) {
  bool known = e->kind != EXPR_SYMBOL || is_named(l, e);
  for (uint32_t i = 0; known && i < e->count; i++)
    known = is_of_parameters(l, e->in[i]);
  return known;
}

// Sizes by the names of the kernel's parameters.
static const struct expr *with_parameters(struct exprs *x, const struct launch *l,
                                          const struct expr *rule) {
  for (size_t i = 0; i < l->args.len; i++) {
    const struct launch_arg *a = &l->args.at[i];
    if (a->kind != LAUNCH_SIZE || a->size->kind != EXPR_SYMBOL)
      continue;
    const struct expr *name = expr_symbol(x, a->name, a->size->lo, a->size->hi, NULL);
    rule = expr_substitute(x, rule, 1, &a->size, &name);
  }
  return rule;
}

const char *launch_grid_text(struct arena *a, struct exprs *x, const struct launch *l) {
  struct strbuf out = {.arena = a};
  bool known = true;
  for (int d = 0; d < 3 && known; d++) {
    known = is_of_parameters(l, l->grid_rule[d]);
    strbuf_puts(&out, d ? "," : "");
    expr_print(with_parameters(x, l, l->grid_rule[d]), &out);
  }
  const char *text = known ? arena_strdup(a, strbuf_cstr(&out)) : NULL;
  strbuf_finish(&out);
  return text;
}

// ---- all kernels of a program ----

// Kernels with equal keys are the same: constants are defaults in sources, but not in given ones.
static const char *key_of(struct arena *a, const struct graph_kernel *k) {
  struct strbuf key = {.arena = a};
  if (!k->is_given)
    return k->source;
  strbuf_printf(&key, "%s\n%s", k->source, k->name);
  for (size_t i = 0; i < k->constants.len; i++)
    strbuf_printf(&key, "\n%s=%s", k->constants.at[i].name, k->constants.at[i].value);
  const char *text = arena_strdup(a, strbuf_cstr(&key));
  strbuf_finish(&key);
  return text;
}

bool program_has_calls(const struct program *p) {
  for (size_t i = 0; i < p->launches.len; i++)
    if (p->launches.at[i].call)
      return true;
  return false;
}

size_t program_kernel_count(const struct program *p) {
  size_t count = p->kernels.len;
  for (size_t i = 0; i < p->launches.len; i++)
    for (size_t k = 0; k < COUNT_OF(p->launches.at[i].bodies); k++)
      if (p->launches.at[i].bodies[k])
        count += program_kernel_count(p->launches.at[i].bodies[k]);
  return count;
}

bool program_decides_on_host(const struct program *p) {
  for (size_t i = 0; i < p->launches.len; i++) {
    const struct launch *l = &p->launches.at[i];
    if (l->call && l->call->node->op != OP_SCAN)
      return true;
    for (size_t k = 0; k < COUNT_OF(l->bodies); k++)
      if (l->bodies[k] && program_decides_on_host(l->bodies[k]))
        return true;
  }
  return false;
}

void program_share_kernels(struct program *p) {
  struct map seen = {0};
  for (size_t i = 0; i < p->launches.len; i++) {
    struct launch *l = &p->launches.at[i];
    if (!l->kernel)
      continue;
    struct str source = str_from(key_of(p->arena, l->kernel));
    struct graph_kernel *k = map_get(&seen, source);
    if (k)
      l->kernel = k;
    else
      map_put(p->arena, &seen, source, l->kernel);
  }
}

// Appends a number to a name that another source has. `last`: the last number per name, so that
// frequent names do not try all of them.
static void name_kernel(struct program *p, struct map *names, struct map *last,
                        struct graph_kernel *k) {
  const char *name = k->name;
  uintptr_t n = (uintptr_t)map_get(last, str_from(k->name));
  for (n = n ? n : 1; map_get(names, str_from(name)); n++)
    name = arena_printf(p->arena, "%s_%u", k->name, (unsigned)n + 1);
  map_put(p->arena, last, str_from(k->name), (void *)n);
  if (name != k->name) {
    k->name = name;
    kernel_print(p->arena, k);
  }
  map_put(p->arena, names, str_from(name), k);
}

void program_name_kernels(struct program *p) {
  struct map names = {0}, last = {0};
  size_t kept = 0;
  for (size_t i = 0; i < p->kernels.len; i++)
    p->kernels.at[i]->id = UINT32_MAX;
  for (size_t i = 0; i < p->launches.len; i++) {
    struct graph_kernel *k = p->launches.at[i].kernel;
    if (!k || k->id != UINT32_MAX)
      continue;
    k->id = (uint32_t)kept;
    if (!k->is_given)
      name_kernel(p, &names, &last, k);
    p->kernels.at[kept++] = k;
  }
  p->kernels.len = kept;
}

void program_keep_buffers(struct program *p) {
  const struct loops *l = p->regions->loops;
  p->buffers = arena_array(p->arena, struct buffer *, l->buffers.len + 1);
  for (size_t i = 0; i < l->buffers.len; i++)
    p->buffers[i] = l->buffers.at[i];
  p->buffer_count = l->buffers.len;
}
