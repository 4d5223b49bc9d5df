// SPDX-License-Identifier: Apache-2.0
// Classifies the compile-time parameters of a kernel by the facts that the walk over its body
// collects (lang/extents/extent_walk.h).
#include "lang/extents/extent_walk.h"
#include "lang/unit.h"

#define BUDGET                                                                                     \
  100000 // expressions and statements that are walked: a kernel of a thousand lines has 20000

static void begin(struct extents_walk *w, const struct ast_function *f, struct map *names) {
  for (size_t i = 0; i < w->param_count; i++) {
    struct guess *g = guess_new(w);
    const struct lang_param *p = &w->params[i];
    g->exact = (int)i;
    g->from = param_bit((int)i);
    g->is_runtime = !p->is_constexpr;
    if (p->is_constexpr)
      w->constants |= g->from;
    else if (!p->is_pointer && !p->is_descriptor)
      w->scalars |= g->from;
    map_put(w->a, names, str_from(p->name), g);
  }
  w->names = names;
  for (size_t i = 0; i < w->param_count; i++)
    if (w->params[i].is_descriptor) {
      const struct expr *block = descriptor_annotation_block(f->params[i].annotation);
      map_put(w->a, names, str_from(w->params[i].name), guess_descriptor_argument(w, block));
    }
  guess_body(w, f->body);
}

// The only parameter of a set that is not an extent itself; NULL: none, or several.
static const char *only(const struct extents_walk *w, param_set set) {
  for (size_t i = 0; i < w->param_count; i++)
    if (w->facts[i].is_tile || w->params[i].is_pointer)
      set &= ~param_bit((int)i);
  return is_pow2(set) ? w->params[log2_floor(set)].name : NULL;
}

// Whether some tile begins at a multiple of an extent, with a mask or a count of blocks to prove
// it.
static bool has_proven_blocks(const struct extents_walk *w) {
  for (size_t i = 0; i < w->param_count; i++)
    if (w->facts[i].is_tile && w->facts[i].blocked && (w->facts[i].checked || w->facts[i].counted))
      return true;
  return false;
}

static enum extent_use use_of(const struct facts *f, bool proven) {
  if (!f->is_tile && !f->is_range) {
    if (f->stages)
      return EXTENT_STAGES;
    return f->groups && !f->divides && !f->decides && !f->counted ? EXTENT_GROUP : EXTENT_NONE;
  }
  bool blocks = f->blocked && (f->checked || f->counted || !proven), steps = f->is_step;
  bool whole = f->whole && (f->masks || f->reduced);
  if (!blocks && !steps)
    return whole ? EXTENT_ROW : EXTENT_NONE; // unmasked: it determines what is computed
  if (f->dot_m || f->dot_n || f->dot_k)
    return f->dot_m ? EXTENT_DOT_M : f->dot_n ? EXTENT_DOT_N : EXTENT_DOT_K;
  return steps ? EXTENT_STEP : EXTENT_ELEMENT;
}

static void conclude(struct extents_walk *w) {
  struct lang_extents *r = w->ret;
  int index[EXTENTS_MAX_PARAMS];
  bool proven = has_proven_blocks(w);
  r->params = arena_array(w->a, struct lang_extent, w->param_count + 1);
  for (size_t i = 0; i < w->param_count; i++) {
    const struct facts *f = &w->facts[i];
    index[i] = -1;
    if (!w->params[i].is_constexpr)
      continue;
    index[i] = (int)r->count;
    const char *covers = only(w, f->masks & ~param_bit((int)i));
    if (!covers)
      covers = only(w, f->loops & ~param_bit((int)i));
    r->params[r->count++] = (struct lang_extent){.param = w->params[i].name,
                                                 .use = use_of(f, proven),
                                                 .is_tile = f->is_tile,
                                                 .is_step = f->is_step,
                                                 .covers = covers};
  }
  for (size_t i = 0; i < r->tile_count; i++)
    for (unsigned k = 0; k < r->tiles[i].rank; k++)
      if (r->tiles[i].axes[k].param >= 0)
        r->tiles[i].axes[k].param = index[r->tiles[i].axes[k].param];
}

struct lang_extents lang_extents_of(struct arena *a, const struct lang_unit *u,
                                    const char *kernel) {
  struct lang_extents ret = {0};
  struct diag_engine *silent = diag_engine_create(a);
  struct lang_param *params;
  size_t count;
  const char *name;
  if (!lang_kernel_params(a, silent, u, kernel, &name, &params, &count))
    return ret;
  struct extents_walk w = {.a = a, .m = u->tree, .params = params, .ret = &ret, .budget = BUDGET};
  w.param_count = count < EXTENTS_MAX_PARAMS ? count : EXTENTS_MAX_PARAMS;
  struct map names = {0};
  begin(&w, ast_find_function(u->tree, name), &names);
  conclude(&w);
  return ret;
}
