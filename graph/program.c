// SPDX-License-Identifier: Apache-2.0
// From a graph to a program: the passes in their order, then each region's kernels and launches.
#include "graph/program.h"

#include "base/map.h"
#include "graph/passes.h"

#include <string.h>

// Sources that are equal are one kernel.
static void share_kernels(struct program *p) {
  struct map seen = {0};
  for (size_t i = 0; i < p->launches.len; i++) {
    struct launch *l = &p->launches.at[i];
    struct str source = str_from(l->kernel->source);
    struct graph_kernel *k = map_get(&seen, source);
    if (k)
      l->kernel = k;
    else
      map_put(p->arena, &seen, source, l->kernel);
  }
}

// The source with its function called otherwise; parameters stay below each other.
static const char *rename_function(struct arena *a, const char *source, const char *from,
                                   const char *to) {
  const char *old = arena_printf(a, "def %s(", from), *at = strstr(source, old);
  if (!at)
    return source;
  struct strbuf out = {0};
  strbuf_put(&out, source, (size_t)(at - source));
  strbuf_printf(&out, "def %s(", to);
  const char *c = at + strlen(old), *end = strstr(c, "):");
  for (; c < end; c++) {
    strbuf_putc(&out, *c);
    if (*c == '\n')
      strbuf_printf(&out, "%*s", (int)(strlen(to) - strlen(from)), "");
  }
  strbuf_puts(&out, c);
  const char *kept = arena_strdup(a, strbuf_cstr(&out));
  strbuf_finish(&out);
  return kept;
}

// A name that stands for another source already gets a number behind it.
static void name_kernel(struct program *p, struct map *names, struct graph_kernel *k) {
  const char *name = k->name;
  for (unsigned n = 2; map_get(names, str_from(name)); n++)
    name = arena_printf(p->arena, "%s_%u", k->name, n);
  if (name != k->name)
    k->source = rename_function(p->arena, k->source, k->name, name);
  k->name = name;
  map_put(p->arena, names, str_from(name), k);
}

// Keeps the kernels that are launched, numbered in the order of their first launch.
static void number_kernels(struct program *p) {
  struct map names = {0};
  size_t kept = 0;
  for (size_t i = 0; i < p->kernels.len; i++)
    p->kernels.at[i]->id = UINT32_MAX;
  for (size_t i = 0; i < p->launches.len; i++) {
    struct graph_kernel *k = p->launches.at[i].kernel;
    if (k->id != UINT32_MAX)
      continue;
    k->id = (uint32_t)kept;
    name_kernel(p, &names, k);
    p->kernels.at[kept++] = k;
  }
  p->kernels.len = kept;
}

static bool emit_all(struct program *p, const struct program_options *o) {
  for (size_t i = 0; i < p->regions->list.len; i++)
    if (!emit_region(p, p->regions->list.at[i], o))
      return false;
  return true;
}

struct program *program_compile(struct graph *g, const struct program_options *o) {
  struct graph *lowered = graph_decompose(g, true);
  lowered = lowered ? graph_simplify(lowered) : NULL;
  struct loops *loops = lowered ? loops_build(lowered, o->rounds) : NULL;
  struct fuse_options fuse = {.keeps_apart = o->keeps_apart};
  struct regions *regions = loops ? regions_form(loops, &fuse) : NULL;
  if (!regions)
    return NULL;
  struct program *p = arena_new(g->arena, struct program);
  p->arena = g->arena;
  p->graph = g;
  p->regions = regions;
  if (!emit_all(p, o))
    return NULL;
  share_kernels(p);
  number_kernels(p);
  return memory_plan(p) ? p : NULL;
}
