// SPDX-License-Identifier: Apache-2.0
// Values of the parameters that were not given, from a kernel's decorators.
#include "lang/eval/consteval.h"
#include "lang/syntax/ast.h"
#include "lang/tuning/tuning.h"

struct lang_known *lang_known_of(struct arena *a, const struct lang_binding *bindings,
                                 size_t count) {
  struct lang_known *known = arena_array(a, struct lang_known, count + 1);
  for (size_t i = 0; i < count; i++) {
    const struct lang_binding *b = &bindings[i];
    known[i] = (struct lang_known){.name = b->name,
                                   .is_pointer = b->kind == BIND_POINTER,
                                   .is_descriptor = b->kind == BIND_DESCRIPTOR,
                                   .is_unknown = b->kind == BIND_SCALAR && !b->is_one,
                                   .dtype = b->dtype,
                                   .is_text = b->kind == BIND_CONSTANT,
                                   .text = b->text,
                                   .is_integer = b->is_one,
                                   .integer = b->is_one};
  }
  return known;
}

static const struct lang_known *find(const struct lang_known *known, size_t count,
                                     const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(known[i].name, name) == 0)
      return &known[i];
  return NULL;
}

static bool same_text(struct arena *a, const char *x, const char *y) {
  struct value v, w;
  return strcmp(x, y) == 0 ||
         (const_parse(a, str_from(x), &v) && const_parse(a, str_from(y), &w) && const_equal(v, w));
}

// ---- configurations ----

static bool agrees(struct arena *a, const struct lang_config *c,
                   const struct lang_defaults_request *r) {
  for (size_t i = 0; i < c->setting_count; i++) {
    const struct lang_known *k = find(r->known, r->known_count, c->settings[i].name);
    if (k && !(k->is_text && same_text(a, k->text, c->settings[i].text)))
      return false;
  }
  return (!r->num_warps || !c->num_warps || r->num_warps == c->num_warps) &&
         (!r->num_stages || !c->num_stages || r->num_stages == c->num_stages);
}

static const struct lang_param *find_param(const struct lang_param *params, size_t count,
                                           const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(params[i].name, name) == 0)
      return &params[i];
  return NULL;
}

// Whether the configuration gives the missing parameters their declared defaults; with `options`,
// warps and stages too.
static bool is_declared(struct arena *a, const struct lang_config *c,
                        const struct lang_defaults_request *r, const struct lang_param *params,
                        size_t count, bool options) {
  for (size_t i = 0; i < c->setting_count; i++) {
    const struct lang_setting *s = &c->settings[i];
    const struct lang_param *p = find_param(params, count, s->name);
    if (!find(r->known, r->known_count, s->name) &&
        !(p && p->default_text && same_text(a, p->default_text, s->text)))
      return false;
  }
  return !options ||
         ((!c->num_warps || c->num_warps == 4) && (!c->num_stages || c->num_stages == 3));
}

// The configuration to use as a whole; config_count: none.
static size_t choose(struct arena *a, const struct lang_tuning *t,
                     const struct lang_defaults_request *r, const struct lang_param *params,
                     size_t count) {
  size_t best = t->config_count;
  unsigned best_rank = 0; // 3: declared with its options, 2: declared, 1: agrees
  for (size_t i = 0; i < t->config_count && best_rank < 3; i++) {
    const struct lang_config *c = &t->configs[i];
    unsigned rank = !agrees(a, c, r)                             ? 0
                    : is_declared(a, c, r, params, count, true)  ? 3
                    : is_declared(a, c, r, params, count, false) ? 2
                                                                 : 1;
    if (rank > best_rank)
      best = i, best_rank = rank;
  }
  return best;
}

// If none agrees, the first one's launch options are not used: they were chosen for other values.
static void take_config(struct arena *a, const struct lang_tuning *t,
                        const struct lang_defaults_request *r, const struct lang_param *params,
                        size_t count, struct lang_defaults *ret) {
  size_t i = choose(a, t, r, params, count);
  bool is_whole = i < t->config_count;
  const struct lang_config *c = &t->configs[is_whole ? i : 0];
  for (size_t k = 0; k < c->setting_count; k++)
    if (!find(r->known, r->known_count, c->settings[k].name))
      ret->settings[ret->setting_count++] = c->settings[k];
  if (!is_whole)
    return;
  ret->num_warps = r->num_warps ? 0 : c->num_warps;
  ret->num_stages = r->num_stages ? 0 : c->num_stages;
  ret->max_registers = c->max_registers;
  ret->num_ctas = c->num_ctas;
  ret->warp_specialize = c->warp_specialize;
}

// ---- heuristics ----

static bool take_heuristics(struct arena *a, struct diag_engine *diag, const struct lang_tuning *t,
                            const struct lang_known *known, size_t known_count,
                            struct lang_defaults *ret) {
  bool wanted = false;
  for (size_t i = 0; i < t->heuristic_count; i++)
    wanted = wanted || !find(known, known_count, t->heuristics[i]);
  if (!wanted)
    return true;
  size_t count = known_count + ret->setting_count;
  struct lang_known *all = arena_array(a, struct lang_known, count + 1);
  for (size_t i = 0; i < count; i++)
    all[i] = i < known_count ? known[i]
                             : (struct lang_known){.name = ret->settings[i - known_count].name,
                                                   .is_text = true,
                                                   .text = ret->settings[i - known_count].text};
  struct lang_setting *values = arena_array(a, struct lang_setting, t->heuristic_count);
  if (!lang_heuristics(a, diag, t, all, count, values))
    return false;
  for (size_t i = 0; i < t->heuristic_count; i++)
    if (!find(all, count, values[i].name))
      ret->settings[ret->setting_count++] = values[i];
  return true;
}

// ---- all of it ----

// The known values, and the types from annotations.
static struct lang_known *with_declared(struct arena *a, const struct lang_defaults_request *r,
                                        const struct lang_param *params, size_t count,
                                        size_t *ret_count) {
  struct lang_known *known = arena_array(a, struct lang_known, r->known_count + count + 1);
  size_t n = r->known_count;
  for (size_t i = 0; i < n; i++)
    known[i] = r->known[i];
  for (size_t i = 0; i < count; i++)
    if (params[i].is_typed && !find(known, n, params[i].name))
      known[n++] = (struct lang_known){.name = params[i].name,
                                       .is_pointer = params[i].is_pointer,
                                       .is_descriptor = params[i].is_descriptor,
                                       .is_unknown = !params[i].is_pointer,
                                       .dtype = params[i].dtype};
  *ret_count = n;
  return known;
}

// Whether the values of a tuple's elements are known: `s[0]` of `s`.
static bool has_elements(const struct lang_defaults_request *r, const char *name) {
  size_t n = strlen(name);
  for (size_t i = 0; i < r->known_count; i++)
    if (strncmp(r->known[i].name, name, n) == 0 && r->known[i].name[n] == '[')
      return true;
  return false;
}

static bool lacks_value(const struct lang_defaults_request *r, const struct lang_param *params,
                        size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!params[i].is_typed && !params[i].has_default &&
        !find(r->known, r->known_count, params[i].name) && !has_elements(r, params[i].name))
      return true;
  return false;
}

bool lang_defaults(struct arena *a, struct diag_engine *diag, const struct lang_defaults_request *r,
                   struct lang_defaults *ret) {
  *ret = (struct lang_defaults){0};
  bool has_heuristics;
  if (!lang_is_tuned(r->unit, r->kernel, &has_heuristics))
    return true;
  struct diag_engine *quiet = diag_engine_create(a);
  struct lang_param *params;
  size_t count, known_count;
  const char *name;
  if (!lang_kernel_params(a, quiet, r->unit, r->kernel, &name, &params, &count))
    return true; // reported where they are needed
  struct lang_tuning t;
  bool is_needed = lacks_value(r, params, count);
  if (!lang_tuning_of(a, is_needed ? diag : quiet, r->unit, name, &t))
    return !is_needed;
  size_t most = t.heuristic_count + 1;
  for (size_t i = 0; i < t.config_count; i++)
    most += t.configs[i].setting_count;
  ret->settings = arena_array(a, struct lang_setting, most);
  if (t.config_count)
    take_config(a, &t, r, params, count, ret);
  struct lang_known *known = with_declared(a, r, params, count, &known_count);
  return take_heuristics(a, diag, &t, known, known_count, ret);
}
