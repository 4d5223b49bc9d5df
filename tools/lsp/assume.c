// SPDX-License-Identifier: Apache-2.0
// Bindings of a kernel's parameters: those of the decorators, then those that its use suggests.
#include "tools/lsp/assume.h"

#include "lang/extents/extents.h"
#include "lang/extents/parameter_uses.h"
#include "lang/tuning/tuning.h"
#include "lang/unit.h"

enum { TILE_OF_ONE = 1024, TILE_OF_SEVERAL = 64, TILE_OF_K = 32, GROUP = 8, STAGES = 3 };

static bool has_word(const char *name, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strstr(name, words[i]))
      return true;
  return false;
}

static bool is_flag_name(const char *name) {
  static const char *const words[] = {"IS_",   "HAS_",   "USE_", "ENABLE", "ALLOW_", "DO_",
                                      "WITH_", "CAUSAL", "is_",  "has_",   "use_"};
  return has_word(name, words, COUNT_OF(words));
}

// ---- compile-time parameters ----

static unsigned tiles_of(const struct lang_extents *x) {
  unsigned n = 0;
  for (size_t i = 0; i < x->count; i++)
    n += x->params[i].is_tile;
  return n;
}

static const char *value_of(struct arena *a, const struct lang_extents *x, const char *name) {
  const struct lang_extent *e = NULL;
  for (size_t i = 0; i < x->count && !e; i++)
    if (strcmp(x->params[i].param, name) == 0)
      e = &x->params[i];
  enum extent_use use = e ? e->use : EXTENT_NONE;
  int n = use == EXTENT_GROUP    ? GROUP
          : use == EXTENT_STAGES ? STAGES
          : use == EXTENT_DOT_K  ? TILE_OF_K
          : !e || !e->is_tile    ? 16
          : tiles_of(x) > 1      ? TILE_OF_SEVERAL
                                 : TILE_OF_ONE;
  if (use == EXTENT_NONE && !(e && e->is_tile) && is_flag_name(name))
    return "True";
  return arena_printf(a, "%d", n);
}

// ---- all parameters ----

struct assuming {
  struct arena *a;
  const struct lang_unit *u;
  const char *kernel;
  const struct ast_function *function;
  struct lang_param *params;
  size_t count;
  struct lang_extents extents;
  struct parameter_uses uses;
  struct assumptions *ret;
  struct strbuf text;
};

static void add(struct assuming *s, struct lang_binding b) {
  s->ret->bindings[s->ret->count++] = b;
}

static bool is_bound(const struct assuming *s, const char *name) {
  for (size_t i = 0; i < s->ret->count; i++)
    if (strcmp(s->ret->bindings[i].name, name) == 0)
      return true;
  return false;
}

static void tell(struct assuming *s, const char *name, const char *what) {
  strbuf_printf(&s->text, "%s%s%s", s->text.len ? ", " : "", name, what);
}

static void assume_runtime(struct assuming *s, size_t i) {
  const struct lang_param *p = &s->params[i];
  struct lang_binding b = {.name = p->name, .divisible_by = 1};
  enum parameter_use use = s->uses.use[i];
  unsigned rank = use == USE_DESCRIPTOR ? s->uses.rank[i] : 0;
  if (use == USE_SCALAR && p->has_default && p->default_text) {
    b.kind = BIND_CONSTANT, b.dtype = DTYPE_NONE, b.text = p->default_text;
    add(s, b);
    return;
  }
  b.kind = use == USE_POINTER      ? BIND_POINTER
           : use == USE_DESCRIPTOR ? BIND_DESCRIPTOR
                                   : BIND_SCALAR;
  b.dtype = parameter_dtype(use, p->name, s->extents.has_dot ? DTYPE_F16 : DTYPE_F32);
  b.divisible_by = use == USE_POINTER || (use == USE_SCALAR && strstr(p->name, "stride")) ? 16 : 1;
  b.block.rank = rank;
  for (unsigned d = 0; d < rank; d++)
    b.block.shape[d] = TILE_OF_SEVERAL;
  add(s, b);
  const char *type = dtype_name(b.dtype);
  tell(s, p->name,
       arena_printf(s->a,
                    use == USE_POINTER      ? ": *%s"
                    : use == USE_DESCRIPTOR ? ": tensordesc[%s]"
                                            : ": %s",
                    type));
}

static void assume_constant(struct assuming *s, const struct lang_param *p) {
  const char *value = value_of(s->a, &s->extents, p->name);
  add(s, (struct lang_binding){.name = p->name,
                               .kind = BIND_CONSTANT,
                               .dtype = DTYPE_NONE,
                               .divisible_by = 1,
                               .text = value});
  tell(s, p->name, arena_printf(s->a, " = %s", value));
}

static void take_setting(struct assuming *s, const char *name, const char *text) {
  for (size_t k = 0; k < s->count; k++)
    if (strcmp(s->params[k].name, name) == 0 && !is_bound(s, s->params[k].name))
      add(s, (struct lang_binding){.name = s->params[k].name,
                                   .kind = BIND_CONSTANT,
                                   .dtype = DTYPE_NONE,
                                   .divisible_by = 1,
                                   .text = text});
}

// The first configuration; heuristics, most of which are conditions, hold. For decorators that
// cannot be evaluated without the values of arguments.
static void take_first_configuration(struct assuming *s) {
  struct lang_tuning t;
  if (!lang_tuning_of(s->a, diag_engine_create(s->a), s->u, s->kernel, &t))
    return;
  if (t.config_count) {
    const struct lang_config *c = &t.configs[0];
    s->ret->num_warps = c->num_warps, s->ret->num_stages = c->num_stages;
    for (size_t i = 0; i < c->setting_count; i++)
      take_setting(s, c->settings[i].name, c->settings[i].text);
  }
  for (size_t i = 0; i < t.heuristic_count; i++) {
    take_setting(s, t.heuristics[i], "True");
    tell(s, t.heuristics[i], " = True");
  }
}

// What @autotune and @heuristics give; their errors are reported when the kernel is compiled.
static void take_decorators(struct assuming *s) {
  struct diag_engine *ignored = diag_engine_create(s->a);
  struct lang_defaults_request q = {
      .unit = s->u,
      .kernel = s->kernel,
      .known = lang_known_of(s->a, s->ret->bindings, s->ret->count),
      .known_count = s->ret->count,
  };
  struct lang_defaults d;
  if (!lang_defaults(s->a, ignored, &q, &d)) {
    take_first_configuration(s);
    return;
  }
  s->ret->num_warps = d.num_warps, s->ret->num_stages = d.num_stages;
  for (size_t i = 0; i < d.setting_count; i++)
    take_setting(s, d.settings[i].name, d.settings[i].text);
}

bool assume_bindings(struct arena *a, struct diag_engine *diag, const struct lang_unit *u,
                     const char *kernel, struct assumptions *ret) {
  struct assuming s = {.a = a, .u = u, .kernel = kernel, .ret = ret, .text = {.arena = a}};
  const char *name;
  *ret = (struct assumptions){0};
  s.function = ast_find_function(u->tree, kernel);
  if (!s.function || !lang_kernel_params(a, diag, u, kernel, &name, &s.params, &s.count))
    return false;
  s.extents = lang_extents_of(a, u, kernel);
  s.uses = parameter_uses_of(a, u->tree, s.function);
  ret->bindings = arena_array(a, struct lang_binding, s.count + 1);
  for (size_t i = 0; i < s.count; i++)
    if (!s.params[i].is_constexpr && !s.params[i].is_typed)
      assume_runtime(&s, i);
  take_decorators(&s);
  for (size_t i = 0; i < s.count; i++)
    if (s.params[i].is_constexpr && !s.params[i].has_default && !is_bound(&s, s.params[i].name))
      assume_constant(&s, &s.params[i]);
  ret->text = s.text.len ? arena_strdup(a, strbuf_cstr(&s.text)) : NULL;
  strbuf_finish(&s.text);
  return true;
}
