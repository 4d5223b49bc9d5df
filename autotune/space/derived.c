// SPDX-License-Identifier: Apache-2.0
// Derives a space for a kernel that declares none: its tile extents, warps and stages, as fine as a
// few thousand configurations allow.
#include "autotune/space/rules.h"

#include <stdlib.h>

#define ENOUGH 4096 // configurations

struct derivation {
  struct space_builder b;
  const struct lang_extents *x;
  const struct lang_binding *fixed;
  size_t fixed_count;
  const struct cost_argument *args;
  size_t arg_count;
  uint64_t *lengths;
  int64_t *given;
  int *dims;
};

static const struct lang_binding *find_fixed(const struct derivation *d, const char *name) {
  for (size_t i = d->fixed_count; i-- > 0;)
    if (d->fixed[i].kind == BIND_CONSTANT && strcmp(d->fixed[i].name, name) == 0)
      return &d->fixed[i];
  return NULL;
}

static int64_t declared(const struct derivation *d, const char *name) {
  int64_t n = 0;
  for (size_t i = 0; i < d->b.param_count; i++)
    if (strcmp(d->b.params[i].name, name) == 0 && d->b.params[i].default_text)
      return str_to_i64(str_from(d->b.params[i].default_text), &n) ? n : 0;
  return 0;
}

// The value of -D or the default; 0: none, or no number.
static int64_t constant(const struct derivation *d, const char *name) {
  const struct lang_binding *f = find_fixed(d, name);
  int64_t n = 0;
  if (!f)
    return declared(d, name);
  return f->text && str_to_i64(str_from(f->text), &n) ? n : 0;
}

// The length, known at run time or compile time, that a parameter's blocks cover.
static uint64_t length_of(const struct derivation *d, const char *name) {
  if (!name)
    return 0;
  for (size_t i = 0; i < d->arg_count; i++)
    if (strcmp(d->args[i].name, name) == 0)
      return d->args[i].value > 0 && d->args[i].value <= INT32_MAX ? (uint64_t)d->args[i].value : 0;
  int64_t n = constant(d, name);
  return n > 0 && n <= INT32_MAX ? (uint64_t)n : 0;
}

// Whether no other tuned extent occurs in the tiles of parameter `i`.
static bool is_alone(const struct derivation *d, size_t i) {
  for (size_t t = 0; t < d->x->tile_count; t++) {
    const struct lang_tile *tile = &d->x->tiles[t];
    unsigned here = 0;
    bool other = false;
    for (unsigned k = 0; k < tile->rank; k++) {
      int p = tile->axes[k].param;
      here += p == (int)i;
      other = other || (p >= 0 && p != (int)i) || (p < 0 && tile->axes[k].length > 1);
    }
    if (here > 1 || (here && other)) // includes [BLOCK, BLOCK]
      return false;
  }
  return true;
}

// ---- Dimensions ----

static void add_values(struct derivation *d, const char *name, const int64_t *values, size_t n) {
  size_t dim;
  if (n == 0 || !space_dim(&d->b, SPAN_NONE, str_from(name), &dim))
    return;
  for (size_t i = 0; i < n; i++)
    space_integer(&d->b, SPAN_NONE, dim, values[i]);
}

static void add_extent(struct derivation *d, size_t i, unsigned detail) {
  const struct lang_extent *e = &d->x->params[i];
  int64_t values[32];
  size_t n = find_fixed(d, e->param)
                 ? 0
                 : space_values(d->x, i, d->lengths[i], is_alone(d, i), detail, values, 31);
  if (n == 0)
    return;
  int64_t own = declared(d, e->param);
  bool covers = e->use != EXTENT_ROW || (uint64_t)own >= d->lengths[i];
  bool is_extent = own > 0 && (!e->is_tile || is_pow2((uint64_t)own));
  if (is_extent && covers)
    values[n++] = own;
  if (e->use == EXTENT_ROW && d->lengths[i] == 0 && is_extent) // no better bound is known
    values[0] = own, n = 1;
  add_values(d, e->param, values, n);
}

static void add_dims(struct derivation *d, unsigned detail) {
  int64_t values[8];
  for (size_t i = 0; i < d->x->count && d->b.s->dim_count < TUNE_MAX_DIMS - 2; i++)
    add_extent(d, i, detail);
  add_values(d, "num_warps", values, space_warps(d->x, values));
  add_values(d, "num_stages", values, space_stages(d->x, detail, values));
  space_sort(&d->b);
}

// Dimensions beyond the limit of a product stay at their middle value.
static void cut(struct tune_space *s) {
  uint64_t total = 1;
  for (size_t i = s->dim_count; i-- > 0;) { // warps and stages first
    struct tune_dim *dim = &s->dims[i];
    if (total * dim->count > TUNE_MAX_CONFIGS) {
      dim->values += (dim->count - 1) / 2;
      dim->count = 1;
    }
    total *= dim->count;
  }
}

static struct space_rules rules_of(struct derivation *d) {
  struct tune_space *s = d->b.s;
  struct space_rules r = {.x = d->x,
                          .lengths = d->lengths,
                          .given = d->given,
                          .dims = d->dims,
                          .s = s,
                          .warps = -1,
                          .stages = -1};
  for (size_t i = 0; i < d->x->count; i++)
    d->dims[i] = -1;
  for (size_t i = 0; i < s->dim_count; i++) {
    r.numbers[i] = arena_array(d->b.a, int64_t, s->dims[i].count + 1);
    for (size_t k = 0; k < s->dims[i].count; k++)
      str_to_i64(str_from(s->dims[i].values[k]), &r.numbers[i][k]);
    if (strcmp(s->dims[i].name, "num_warps") == 0)
      r.warps = (int)i;
    if (strcmp(s->dims[i].name, "num_stages") == 0)
      r.stages = (int)i;
    for (size_t k = 0; k < d->x->count; k++)
      if (s->dims[i].kind == TUNE_CONSTANT && strcmp(s->dims[i].name, d->x->params[k].param) == 0)
        d->dims[k] = (int)i;
  }
  return r;
}

static bool fill(struct derivation *d) {
  struct space_rules r = rules_of(d);
  if (!space_product(&d->b, SPAN_NONE, space_is_sensible, &r))
    return false;
  // Many products in sequence are not live at the same time.
  r.one_by_one = true;
  return d->b.s->count || space_product(&d->b, SPAN_NONE, space_is_sensible, &r);
}

// ---- The default ----

// Distance of a configuration from the defaults; the kernel's declared ones weigh most.
static long distance(const struct derivation *d, const struct tune_config *c,
                     const struct tune_config *wanted) {
  long sum = 0;
  for (size_t i = 0; i < d->b.s->dim_count; i++) {
    const struct tune_dim *dim = &d->b.s->dims[i];
    long by = labs((long)c->at[i] - (long)wanted->at[i]);
    sum += by * (dim->kind == TUNE_CONSTANT && space_default(&d->b, dim) ? 64 : 1);
  }
  return sum;
}

// The declared defaults if each parameter has one; else the configuration nearest to the defaults
// and to the middle of the other values.
static void put_default(struct derivation *d) {
  struct tune_space *s = d->b.s;
  struct tune_config wanted = space_default_config(&d->b), best = wanted;
  bool declares_all = true;
  for (size_t i = 0; i < s->dim_count; i++) {
    const char *text = space_default(&d->b, &s->dims[i]);
    declares_all = declares_all && text && space_index(&s->dims[i], text) < s->dims[i].count;
  }
  if (!declares_all && s->count) {
    best = s->configs[0];
    for (size_t i = 1; i < s->count; i++)
      if (distance(d, &s->configs[i], &wanted) < distance(d, &best, &wanted))
        best = s->configs[i];
  }
  space_put_first(&d->b, &best);
}

bool tune_space_derived(struct arena *a, struct diag_engine *diag, const struct lang_unit *unit,
                        const char *kernel, const struct lang_binding *fixed, size_t fixed_count,
                        const struct cost_argument *args, size_t arg_count,
                        struct tune_space *ret) {
  struct lang_param *params;
  size_t count;
  const char *name;
  if (!lang_kernel_params(a, diag, unit, kernel, &name, &params, &count))
    return false;
  struct lang_extents x = lang_extents_of(a, unit, name);
  struct derivation d = {.x = &x,
                         .fixed = fixed,
                         .fixed_count = fixed_count,
                         .args = args,
                         .arg_count = arg_count,
                         .lengths = arena_array(a, uint64_t, x.count + 1),
                         .given = arena_array(a, int64_t, x.count + 1),
                         .dims = arena_array(a, int, x.count + 1)};
  for (unsigned detail = SPACE_DETAILS; detail-- > 0;) {
    d.b = space_begin(a, diag, params, count, "derived", ret);
    for (size_t i = 0; i < x.count; i++) {
      d.lengths[i] = length_of(&d, x.params[i].covers);
      d.given[i] = constant(&d, x.params[i].param);
    }
    add_dims(&d, detail);
    if (detail == 0)
      cut(ret);
    if (space_fits(&d.b) && fill(&d) && ret->count <= ENOUGH)
      break;
  }
  put_default(&d);
  return true;
}
