// SPDX-License-Identifier: Apache-2.0
// A configuration is taken: constants and the defaults in the source change, and every launch's
// grid is read anew from the text that says how it follows.
#include "graph/emit/kernel_config.h"

#include "lang/frontend.h"

#include <string.h>

enum { MOST_PROGRAMS = 65535, MOST_DEPTH = 64 }; // along the second and third axis

// ---- grids ----

struct grid_reader {
  struct exprs *x;
  const struct launch *launch;
  const char *at;
  unsigned depth;
};

static void skip_blanks(struct grid_reader *r) { r->at += strspn(r->at, " "); }

static bool accept(struct grid_reader *r, char c) {
  skip_blanks(r);
  if (*r->at != c)
    return false;
  r->at++;
  return true;
}

static struct str read_word(struct grid_reader *r) {
  size_t n = strspn(r->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  struct str word = {r->at, n};
  r->at += n;
  return word;
}

// A size of the launch or a constant of its kernel; NULL: neither.
static const struct expr *named(const struct grid_reader *r, struct str name) {
  const struct launch *l = r->launch;
  int64_t n;
  for (size_t i = 0; i < l->args.len; i++)
    if (l->args.at[i].kind == LAUNCH_SIZE && str_is(name, l->args.at[i].name))
      return l->args.at[i].size;
  for (size_t i = 0; i < l->kernel->constants.len; i++)
    if (str_is(name, l->kernel->constants.at[i].name) &&
        str_to_i64(str_from(l->kernel->constants.at[i].value), &n))
      return expr_const(r->x, n);
  return NULL;
}

static const struct expr *read_sum(struct grid_reader *r);

static const struct expr *read_call(struct grid_reader *r, struct str name) {
  const struct expr *a = read_sum(r), *b = a && accept(r, ',') ? read_sum(r) : NULL;
  if (!b || !accept(r, ')'))
    return NULL;
  return str_is(name, "cdiv")  ? expr_cdiv(r->x, a, b)
         : str_is(name, "min") ? expr_min(r->x, a, b)
         : str_is(name, "max") ? expr_max(r->x, a, b)
                               : NULL;
}

static const struct expr *read_primary(struct grid_reader *r) {
  int64_t n;
  if (accept(r, '(')) {
    const struct expr *e = read_sum(r);
    return e && accept(r, ')') ? e : NULL;
  }
  struct str word = read_word(r);
  if (str_to_i64(word, &n))
    return expr_const(r->x, n);
  return accept(r, '(') ? read_call(r, word) : named(r, word);
}

static const struct expr *read_product(struct grid_reader *r) {
  const struct expr *e = read_primary(r);
  while (e) {
    skip_blanks(r);
    char op = *r->at;
    if (op != '*' && op != '/' && op != '%')
      return e;
    r->at += op == '/' && r->at[1] == '/' ? 2 : 1;
    const struct expr *by = read_primary(r);
    e = !by         ? NULL
        : op == '*' ? expr_mul(r->x, e, by)
        : op == '/' ? expr_floordiv(r->x, e, by)
                    : expr_mod(r->x, e, by);
  }
  return NULL;
}

static const struct expr *read_sum(struct grid_reader *r) {
  const struct expr *e = ++r->depth < MOST_DEPTH ? read_product(r) : NULL;
  while (e) {
    bool adds = accept(r, '+');
    if (!adds && !accept(r, '-'))
      break;
    const struct expr *next = read_product(r);
    e = !next ? NULL : adds ? expr_add(r->x, e, next) : expr_sub(r->x, e, next);
  }
  r->depth--;
  return e;
}

bool launch_grid_of(struct program *p, const struct launch *l, const struct expr *ret[3]) {
  struct grid_reader r = {.x = p->regions->loops->exprs, .launch = l, .at = l->grid_text};
  if (!l->grid_text)
    return false;
  for (int d = 0; d < 3; d++) {
    bool is_there = d == 0 || accept(&r, ',');
    ret[d] = is_there ? read_sum(&r) : expr_const(r.x, 1);
    if (!ret[d])
      return false;
  }
  skip_blanks(&r);
  return *r.at == '\0';
}

// Do all launches of the kernel have the grids that their texts say?
static bool grids_follow(struct program *p, const struct graph_kernel *k) {
  for (size_t i = 0; i < p->launches.len; i++) {
    const struct launch *l = &p->launches.at[i];
    const struct expr *grid[3];
    if (l->kernel != k)
      continue;
    if (!launch_grid_of(p, l, grid))
      return false;
    for (int d = 0; d < 3; d++)
      if (grid[d] != l->grid[d])
        return false;
  }
  return true;
}

// Is a grid that was launchable for all sizes still so?
static bool fits(const struct expr *before, const struct expr *now) {
  return now->hi <= MOST_PROGRAMS || now->hi <= before->hi;
}

// Reads the grids of `k`'s launches as they are with the constants of `as`; gives them to the
// launches where they are taken.
static bool follow_grids(struct program *p, const struct graph_kernel *k, struct graph_kernel *as,
                         bool takes) {
  for (size_t i = 0; i < p->launches.len; i++) {
    struct launch *l = &p->launches.at[i], with = *l;
    const struct expr *grid[3];
    if (l->kernel != k)
      continue;
    with.kernel = as;
    if (!launch_grid_of(p, &with, grid) || !fits(l->grid[1], grid[1]) || !fits(l->grid[2], grid[2]))
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

// Leaves the configurations whose grids can be launched whatever the sizes are.
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

const char *kernel_space(struct arena *a, struct program *p, const struct graph_kernel *k,
                         struct tune_space *ret) {
  if (!k->space)
    return "there is nothing to choose";
  struct diag_engine *diag = diag_engine_create(a);
  const struct source *source = source_create(a, k->name, str_from(k->source));
  const struct ast_module *m = lang_parse(a, diag, source);
  struct lang_param *params;
  size_t count, own;
  const char *name;
  if (!m || !lang_kernel_params(a, diag, m, k->name, &name, &params, &count))
    return "its source cannot be read";
  const struct source *text = source_create(a, "space", str_from(k->space));
  struct span where = {text, 0, (uint32_t)text->text.len};
  *ret = (struct tune_space){0};
  if (!tune_space_from_text(a, diag, where, text->text, params, count, ret))
    return diag_first_error(diag);
  if (!tune_space_find(ret, str_from(kernel_config_text(a, ret, k)), &own))
    return "its own configuration is none of its space";
  struct tune_config first = ret->configs[0];
  ret->configs[0] = ret->configs[own];
  ret->configs[own] = first;
  if (changes_grid(ret) && !grids_follow(p, k))
    return "it is not known how its grid follows";
  if (changes_grid(ret))
    drop_large_grids(a, p, k, ret);
  return NULL;
}

// ---- taking one ----

// The source with a parameter's default replaced.
static const char *with_default(struct arena *a, const struct graph_kernel *k, const char *source,
                                const char *name, const char *value) {
  const char *header = strstr(source, arena_printf(a, "def %s(", k->name));
  const char *before = arena_printf(a, "%s: constexpr = ", name);
  const char *at = header ? strstr(header, before) : NULL;
  if (!at)
    return source;
  at += strlen(before);
  return arena_printf(a, "%.*s%s%s", (int)(at - source), source, value, at + strcspn(at, ",)"));
}

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
    k->source = with_default(a, k, k->source, c->name, c->value);
    return true;
  }
  if (strcmp(s->name, "num_warps") == 0)
    return set_number(s->value, 32, &k->num_warps);
  return strcmp(s->name, "num_stages") == 0 && set_number(s->value, 16, &k->num_stages);
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
  if (!ok)
    *k = before;
  else if (!k->emitted)
    k->emitted = before.source;
  return ok;
}
