// SPDX-License-Identifier: Apache-2.0
// Builds a space: valid dimensions and values, their order, products of dimensions, and the index
// of the default.
#include "autotune/space/space_build.h"

#include "lang/frontend.h"

#include <inttypes.h>
#include <stdlib.h>

struct space_builder space_begin(struct arena *a, struct diag_engine *diag,
                                 const struct lang_param *params, size_t param_count,
                                 const char *origin, struct tune_space *ret) {
  *ret = (struct tune_space){.origin = origin};
  return (struct space_builder){
      .a = a, .diag = diag, .params = params, .param_count = param_count, .s = ret};
}

// ---- Dimensions ----

static const char *const option_names[] = {[TUNE_WARPS] = "num_warps",
                                           [TUNE_STAGES] = "num_stages",
                                           [TUNE_REGISTERS] = "max_registers",
                                           [TUNE_CTAS] = "num_ctas",
                                           [TUNE_SPECIALIZE] = "warp_specialize"};

// What a name refers to; a parameter of the kernel takes precedence over an option.
static const char *resolve(const struct space_builder *b, struct str name,
                           enum tune_dim_kind *ret_kind, const struct lang_param **ret_param) {
  *ret_param = NULL;
  for (size_t i = 0; i < b->param_count; i++)
    if (str_is(name, b->params[i].name))
      return *ret_kind = TUNE_CONSTANT, *ret_param = &b->params[i], b->params[i].name;
  for (int k = TUNE_WARPS; k <= TUNE_SPECIALIZE; k++)
    if (str_is(name, option_names[k]))
      return *ret_kind = (enum tune_dim_kind)k, option_names[k];
  return NULL;
}

static bool unknown_name(struct space_builder *b, struct span at, struct str name) {
  const char **names = arena_array(b->a, const char *, b->param_count + COUNT_OF(option_names));
  size_t n = 0;
  for (size_t i = 0; i < b->param_count; i++)
    if (b->params[i].is_constexpr)
      names[n++] = b->params[i].name;
  for (int k = TUNE_WARPS; k <= TUNE_SPECIALIZE; k++)
    names[n++] = option_names[k];
  struct diag *d =
      diag_error(b->diag, at, E0728, "the kernel has no parameter `%.*s`", STR_ARG(name));
  const char *near = str_nearest(name, names, n);
  if (near) {
    diag_did_you_mean(d, at, near);
    return false;
  }
  struct strbuf list = {.arena = b->a};
  for (size_t i = 0; i < n; i++)
    strbuf_printf(&list, "%s`%s`", i == 0 ? "" : i + 1 < n ? ", " : " and ", names[i]);
  diag_help(d, "there are %s", strbuf_cstr(&list));
  strbuf_finish(&list);
  return false;
}

bool space_dim(struct space_builder *b, struct span at, struct str name, size_t *ret_dim) {
  enum tune_dim_kind kind;
  const struct lang_param *param;
  const char *resolved = resolve(b, name, &kind, &param);
  if (!resolved)
    return unknown_name(b, at, name);
  if (param && !param->is_constexpr) {
    struct diag *d = diag_error(b->diag, at, E0728, "`%s` is a run-time parameter", resolved);
    diag_help(d,
              "what may be chosen are compile-time parameters (`%s: constexpr`), num_warps, "
              "num_stages, max_registers, num_ctas and warp_specialize",
              resolved);
    return false;
  }
  struct tune_space *s = b->s;
  for (size_t i = 0; i < s->dim_count; i++)
    if (s->dims[i].kind == kind && strcmp(s->dims[i].name, resolved) == 0)
      return *ret_dim = i, true;
  if (s->dim_count == TUNE_MAX_DIMS) {
    struct diag *d =
        diag_error(b->diag, at, E0729, "a space has at most %d dimensions", TUNE_MAX_DIMS);
    diag_help(d, "give the parameters that matter least one value each, with `-D`");
    return false;
  }
  *ret_dim = s->dim_count;
  s->dims[s->dim_count++] = (struct tune_dim){.kind = kind, .name = resolved};
  return true;
}

// ---- Values ----

const char *space_spelling(struct arena *a, struct str text) {
  int64_t n;
  text = str_trim(text);
  if (str_to_i64(text, &n))
    return arena_printf(a, "%" PRId64, n);
  return arena_strndup(a, text.ptr, text.len);
}

static const char *option_fault(enum tune_dim_kind kind, struct str text) {
  enum warp_specialize choice;
  int64_t n = -1;
  (void)str_to_i64(text, &n);
  switch (kind) {
  case TUNE_WARPS:
    return n >= 1 && n <= 32 && is_pow2((uint64_t)n) ? NULL : "it is 1, 2, 4, 8, 16 or 32";
  case TUNE_STAGES: return n >= 1 && n <= 16 ? NULL : "it is a number from 1 to 16";
  case TUNE_REGISTERS:
    return n == 0 || (n >= 16 && n <= 255) ? NULL : "it is a number from 16 to 255, or 0: no bound";
  case TUNE_CTAS:
    return n >= 1 && n <= 16 && is_pow2((uint64_t)n) ? NULL : "it is 1, 2, 4, 8 or 16";
  case TUNE_SPECIALIZE:
    return warp_specialize_of(text, &choice) && str_is(text, warp_specialize_name(choice))
               ? NULL
               : "it is auto, on or off";
  case TUNE_CONSTANT: break;
  }
  return NULL;
}

bool space_value(struct space_builder *b, struct span at, size_t dim, struct str text) {
  const struct tune_dim *d = &b->s->dims[dim];
  text = str_trim(text);
  const char *fault =
      d->kind != TUNE_CONSTANT ? option_fault(d->kind, text)
      : lang_is_constant(b->a, text)
          ? NULL
          : "a value is a number, True, False, None, a quoted string, a type name or a tuple; "
            "a range is `64..1024:x2`";
  if (fault) {
    struct diag *e =
        diag_error(b->diag, at, E0727, "`%.*s` is no value for `%s`", STR_ARG(text), d->name);
    diag_help(e, "%s", fault);
    return false;
  }
  const char *spelling = space_spelling(b->a, text);
  struct str key = str_from(arena_printf(b->a, "%zu:%s", dim, spelling));
  if (map_get(&b->spellings, key))
    return true;
  map_put(b->a, &b->spellings, key, b);
  vec_push(b->a, &b->values[dim], spelling);
  return true;
}

bool space_integer(struct space_builder *b, struct span at, size_t dim, int64_t value) {
  return space_value(b, at, dim, str_from(arena_printf(b->a, "%" PRId64, value)));
}

const char *space_default(const struct space_builder *b, const struct tune_dim *dim) {
  switch (dim->kind) {
  case TUNE_WARPS: return "4";
  case TUNE_STAGES: return "3";
  case TUNE_REGISTERS: return "0";
  case TUNE_CTAS: return "1";
  case TUNE_SPECIALIZE: return warp_specialize_name(WARP_SPECIALIZE_AUTO);
  case TUNE_CONSTANT: break;
  }
  for (size_t i = 0; i < b->param_count; i++)
    if (strcmp(b->params[i].name, dim->name) == 0 && b->params[i].default_text)
      return space_spelling(b->a, str_from(b->params[i].default_text));
  return NULL;
}

// ---- Order ----

static int compare_integers(const void *a, const void *b) {
  int64_t x = 0, y = 0;
  str_to_i64(str_from(*(const char *const *)a), &x);
  str_to_i64(str_from(*(const char *const *)b), &y);
  return (x > y) - (x < y);
}

static void sort_values(struct tune_dim *d) {
  int64_t n;
  for (size_t i = 0; i < d->count; i++)
    if (!str_to_i64(str_from(d->values[i]), &n))
      return;
  qsort(d->values, d->count, sizeof *d->values, compare_integers);
}

// Parameters in the kernel's order, then options.
static size_t rank_of(const struct space_builder *b, const struct tune_dim *d) {
  if (d->kind != TUNE_CONSTANT)
    return b->param_count + d->kind;
  size_t i = 0;
  while (i < b->param_count && strcmp(b->params[i].name, d->name) != 0)
    i++;
  return i;
}

void space_sort(struct space_builder *b) {
  struct tune_space *s = b->s;
  for (size_t i = 0; i < s->dim_count; i++) {
    s->dims[i].values = b->values[i].at;
    s->dims[i].count = b->values[i].len;
    sort_values(&s->dims[i]);
  }
  for (size_t i = 1; i < s->dim_count; i++)
    for (size_t k = i; k > 0 && rank_of(b, &s->dims[k]) < rank_of(b, &s->dims[k - 1]); k--) {
      struct tune_dim swapped = s->dims[k];
      s->dims[k] = s->dims[k - 1];
      s->dims[k - 1] = swapped;
    }
}

size_t space_index(const struct tune_dim *dim, const char *spelling) {
  size_t i = 0;
  while (i < dim->count && strcmp(dim->values[i], spelling) != 0)
    i++;
  return i;
}

// ---- Configurations ----

void space_put(struct space_builder *b, const struct tune_config *config) {
  struct str key = {(const char *)config->at, b->s->dim_count * sizeof *config->at};
  if (map_get(&b->seen, key))
    return;
  map_put(b->a, &b->seen, key, b);
  vec_reserve_(b->a, (void **)&b->s->configs, &b->cap, b->s->count + 1, sizeof *config);
  b->s->configs[b->s->count++] = *config;
}

// The next element of the product, the last dimension fastest; false after the last one.
static bool advance(const struct tune_space *s, struct tune_config *c) {
  for (size_t i = s->dim_count; i-- > 0;) {
    if ((size_t)++c->at[i] < s->dims[i].count)
      return true;
    c->at[i] = 0;
  }
  return false;
}

bool space_fits(const struct space_builder *b) {
  uint64_t total = 1;
  for (size_t i = 0; i < b->s->dim_count; i++)
    if (!checked_mul(total, b->s->dims[i].count, &total))
      return false;
  return total <= TUNE_MAX_CONFIGS;
}

bool space_product(struct space_builder *b, struct span at,
                   bool (*accept)(void *user, const struct tune_config *config), void *user) {
  if (!space_fits(b)) {
    struct diag *d = diag_error(b->diag, at, E0729, "the space has more than %d configurations",
                                TUNE_MAX_CONFIGS);
    diag_help(d, "give fewer values, or leave out a dimension");
    return false;
  }
  struct tune_config c = {0};
  do
    if (!accept || accept(user, &c))
      space_put(b, &c);
  while (advance(b->s, &c));
  return true;
}

struct tune_config space_default_config(const struct space_builder *b) {
  struct tune_config c = {0};
  for (size_t i = 0; i < b->s->dim_count; i++) {
    const struct tune_dim *d = &b->s->dims[i];
    const char *spelling = space_default(b, d);
    size_t at = spelling ? space_index(d, spelling) : d->count;
    c.at[i] = (uint16_t)(at < d->count ? at : (d->count - 1) / 2);
  }
  return c;
}

static void move_first(struct tune_space *s, size_t from) {
  struct tune_config c = s->configs[from];
  memmove(s->configs + 1, s->configs, from * sizeof c);
  s->configs[0] = c;
}

void space_put_first(struct space_builder *b, const struct tune_config *config) {
  space_put(b, config);
  size_t i = 0;
  while (memcmp(b->s->configs[i].at, config->at, b->s->dim_count * sizeof *config->at) != 0)
    i++;
  move_first(b->s, i);
}

static void space_nearest_first(struct tune_space *s, const struct tune_config *config) {
  size_t best = 0, least = SIZE_MAX;
  for (size_t i = 0; i < s->count; i++) {
    size_t differing = 0;
    for (size_t k = 0; k < s->dim_count; k++)
      differing += s->configs[i].at[k] != config->at[k];
    if (differing < least) {
      least = differing;
      best = i;
    }
  }
  if (s->count)
    move_first(s, best);
}

// ---- Values that are given ----

static const char *fixed_text(const struct lang_binding *fixed, size_t count,
                              const struct tune_dim *d) {
  bool is_constant = d->kind == TUNE_CONSTANT;
  for (size_t i = count; i-- > 0;)
    if ((fixed[i].kind == BIND_CONSTANT) == is_constant && strcmp(fixed[i].name, d->name) == 0)
      return fixed[i].text;
  return NULL;
}

// Keeps configurations with value `text` in dimension `at`, and removes the dimension.
static bool restrict_dim(struct arena *a, struct tune_space *s, size_t at, const char *text) {
  size_t value = space_index(&s->dims[at], space_spelling(a, str_from(text))), kept = 0;
  for (size_t i = 0; i < s->count; i++) {
    struct tune_config c = s->configs[i];
    if (c.at[at] != value)
      continue;
    memmove(c.at + at, c.at + at + 1, (TUNE_MAX_DIMS - at - 1) * sizeof *c.at);
    s->configs[kept++] = c;
  }
  if (kept == 0)
    return false;
  s->count = kept;
  s->dim_count--;
  memmove(s->dims + at, s->dims + at + 1, (s->dim_count - at) * sizeof *s->dims);
  return true;
}

bool tune_space_fix(struct arena *a, struct diag_engine *diag, struct span where,
                    const struct lang_binding *fixed, size_t fixed_count, struct tune_space *s) {
  struct tune_config first = s->configs[0];
  for (size_t i = 0; i < s->dim_count;) {
    const char *text = fixed_text(fixed, fixed_count, &s->dims[i]);
    if (!text) {
      i++;
      continue;
    }
    if (!restrict_dim(a, s, i, text)) {
      struct diag *d = diag_error(diag, where, E0728, "no configuration of the space has `%s = %s`",
                                  s->dims[i].name, text);
      diag_help(d, "leave `%s` open, or give a space with this value", s->dims[i].name);
      return false;
    }
    memmove(first.at + i, first.at + i + 1, (TUNE_MAX_DIMS - i - 1) * sizeof *first.at);
  }
  space_nearest_first(s, &first);
  return true;
}
