// SPDX-License-Identifier: Apache-2.0
// Applies a configuration: changes a kernel's constants, and with them its source and the grids of
// its launches.
#include "graph/plan/kernel_config.h"

#include "lang/frontend.h"

#include <string.h>

enum { MOST_PROGRAMS = 65535 }; // along the second and third dimension

// ---- grids ----

// Is a grid that was valid for all sizes still valid?
static bool fits(const struct expr *before, const struct expr *now) {
  return now->hi <= MOST_PROGRAMS || now->hi <= before->hi;
}

// The grids of `k`'s launches for the constants of `as`; stored in the launches if applied.
static bool follow_grids(struct program *p, const struct graph_kernel *k,
                         const struct graph_kernel *as, bool takes) {
  struct exprs *x = p->regions->loops->exprs;
  for (size_t i = 0; i < p->launches.len; i++) {
    struct launch *l = &p->launches.at[i];
    const struct expr *grid[3];
    if (l->kernel != k)
      continue;
    for (int d = 0; d < 3; d++)
      grid[d] = grid_value(x, l->grid_rule[d], as);
    if (!fits(l->grid[1], grid[1]) || !fits(l->grid[2], grid[2]))
      return false;
    for (int d = 0; d < 3 && takes; d++)
      l->grid[d] = grid[d];
  }
  return true;
}

// ---- spaces ----

static const char *setting_of(struct arena *a, const struct graph_kernel *k, const char *name) {
  for (size_t i = 0; i < k->constants.len; i++)
    if (strcmp(k->constants.at[i].name, name) == 0)
      return k->constants.at[i].value;
  if (strcmp(name, "num_warps") == 0 && k->num_warps)
    return arena_printf(a, "%u", k->num_warps);
  if (strcmp(name, "num_stages") == 0 && k->num_stages)
    return arena_printf(a, "%u", k->num_stages);
  if (strcmp(name, "num_ctas") == 0 && k->num_ctas)
    return arena_printf(a, "%u", k->num_ctas);
  return NULL;
}

const char *kernel_config_text(struct arena *a, const struct tune_space *s,
                               const struct graph_kernel *k) {
  struct strbuf out = {.arena = a};
  for (size_t d = 0; d < s->dim_count; d++) {
    const char *value = setting_of(a, k, s->dims[d].name);
    strbuf_printf(&out, "%s%s=%s", d ? ", " : "", s->dims[d].name, value ? value : "?");
  }
  const char *text = arena_strdup(a, out.len ? strbuf_cstr(&out) : "");
  strbuf_finish(&out);
  return text;
}

bool kernel_has(struct arena *a, const struct graph_kernel *k, const struct tune_setting *s,
                size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *value = setting_of(a, k, s[i].name);
    if (!value || strcmp(value, s[i].value) != 0)
      return false;
  }
  return true;
}

static bool changes_grid(const struct tune_space *s) {
  for (size_t d = 0; d < s->dim_count; d++)
    if (s->dims[d].kind == TUNE_CONSTANT)
      return true;
  return false;
}

static struct graph_kernel with_constants(struct arena *a, const struct graph_kernel *k,
                                          const struct tune_space *s, size_t config) {
  struct graph_kernel as = *k;
  as.constants.at = arena_array(a, struct kernel_constant, k->constants.len + 1);
  for (size_t i = 0; i < k->constants.len; i++) {
    const char *value = tune_config_value(s, config, k->constants.at[i].name);
    as.constants.at[i] = k->constants.at[i];
    as.constants.at[i].value = value ? value : k->constants.at[i].value;
  }
  return as;
}

// Keeps the configurations whose grids are valid for all sizes.
static void drop_large_grids(struct arena *a, struct program *p, const struct graph_kernel *k,
                             struct tune_space *s) {
  size_t kept = 1; // the first one is the kernel's own
  for (size_t i = 1; i < s->count; i++) {
    struct graph_kernel as = with_constants(a, k, s, i);
    if (follow_grids(p, k, &as, false))
      s->configs[kept++] = s->configs[i];
  }
  s->count = kept;
}

// The kernel's parameters in the form of the space parser.
static struct lang_param *params_of(struct arena *a, const struct graph_kernel *k,
                                    size_t *ret_count) {
  size_t params = k->text.params.len, n = params + k->constants.len;
  struct lang_param *ret = arena_array(a, struct lang_param, n + 1);
  for (size_t i = 0; i < params; i++)
    ret[i] = (struct lang_param){.name = k->text.params.at[i].name};
  for (size_t i = params; i < n; i++) {
    const struct kernel_constant *c = &k->constants.at[i - params];
    ret[i] = (struct lang_param){
        .name = c->name, .is_constexpr = true, .has_default = true, .default_text = c->value};
  }
  *ret_count = n;
  return ret;
}

const char *kernel_space(struct arena *a, struct program *p, const struct graph_kernel *k,
                         struct tune_space *ret) {
  if (!k->space)
    return "there is nothing to tune";
  struct diag_engine *diag = diag_engine_create(a);
  size_t count, own;
  struct lang_param *params = params_of(a, k, &count);
  const struct source *text = source_create(a, "space", str_from(k->space));
  struct span where = {text, 0, (uint32_t)text->text.len};
  *ret = (struct tune_space){0};
  if (!tune_space_from_text(a, diag, where, text->text, params, count, ret))
    return diag_first_error(diag);
  if (!tune_space_find(ret, str_from(kernel_config_text(a, ret, k)), &own))
    return "its own configuration is not in its space";
  struct tune_config first = ret->configs[0];
  ret->configs[0] = ret->configs[own];
  ret->configs[own] = first;
  if (changes_grid(ret))
    drop_large_grids(a, p, k, ret);
  return NULL;
}

// ---- applying a configuration ----

static bool set_number(const char *text, uint32_t most, uint32_t *ret) {
  uint64_t n;
  if (!str_to_u64(str_from(text), &n) || n < 1 || n > most)
    return false;
  *ret = (uint32_t)n;
  return true;
}

static bool take_setting(struct arena *a, struct graph_kernel *k, const struct tune_setting *s) {
  for (size_t i = 0; i < k->constants.len; i++) {
    struct kernel_constant *c = &k->constants.at[i];
    if (strcmp(c->name, s->name) != 0)
      continue;
    c->value = arena_strdup(a, s->value);
    return true;
  }
  if (strcmp(s->name, "num_warps") == 0)
    return set_number(s->value, 32, &k->num_warps);
  if (strcmp(s->name, "num_stages") == 0)
    return set_number(s->value, 16, &k->num_stages);
  return strcmp(s->name, "num_ctas") == 0 && set_number(s->value, 16, &k->num_ctas);
}

bool kernel_configure(struct program *p, struct graph_kernel *k, const struct tune_setting *s,
                      size_t count) {
  struct arena *a = p->arena;
  struct graph_kernel before = *k;
  bool has_constants = false, ok = true;
  k->constants.at = NULL;
  k->constants.len = k->constants.cap = 0;
  for (size_t i = 0; i < before.constants.len; i++)
    vec_push(a, &k->constants, before.constants.at[i]);
  for (size_t i = 0; ok && i < count; i++) {
    has_constants |= strncmp(s[i].name, "num_", 4) != 0;
    ok = take_setting(a, k, &s[i]);
  }
  if (ok && has_constants)
    ok = follow_grids(p, k, k, false) && follow_grids(p, k, k, true);
  if (!ok) {
    *k = before;
    return false;
  }
  k->emitted = k->emitted ? k->emitted : before.source;
  kernel_print(a, k);
  return true;
}
