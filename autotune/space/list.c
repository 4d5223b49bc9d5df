// SPDX-License-Identifier: Apache-2.0
// Spaces that are lists of configurations: from a file, or from @autotune.
#include "autotune/space/space_build.h"
#include "lang/tuning/tuning.h"

#include <inttypes.h>

static const struct space_pair *find_pair(const struct space_entry *e, const char *name) {
  for (size_t i = e->count; i-- > 0;) // the later of two equal names counts, as in a dictionary
    if (str_is(e->pairs[i].name, name))
      return &e->pairs[i];
  return NULL;
}

static bool collect(struct space_builder *b, const struct space_entry *e) {
  size_t dim;
  for (size_t i = 0; i < e->count; i++)
    if (!space_dim(b, e->pairs[i].at, e->pairs[i].name, &dim) ||
        !space_value(b, e->pairs[i].at, dim, e->pairs[i].text))
      return false;
  return true;
}

// Values of names that the entry omits.
static bool complete(struct space_builder *b, const struct space_entry *e) {
  for (size_t i = 0; i < b->s->dim_count; i++) {
    const struct tune_dim *d = &b->s->dims[i];
    if (find_pair(e, d->name))
      continue;
    const char *text = space_default(b, d);
    if (!text) {
      struct diag *g =
          diag_error(b->diag, e->at, E0727,
                     "this configuration leaves out `%s`, which has no default", d->name);
      diag_help(g, "others of the list say it: say it here too");
      return false;
    }
    if (!space_value(b, e->at, i, str_from(text)))
      return false;
  }
  return true;
}

static struct tune_config config_of(struct space_builder *b, const struct space_entry *e) {
  struct tune_config c = {0};
  for (size_t i = 0; i < b->s->dim_count; i++) {
    const struct tune_dim *d = &b->s->dims[i];
    const struct space_pair *p = find_pair(e, d->name);
    const char *spelling = p ? space_spelling(b->a, p->text) : space_default(b, d);
    c.at[i] = (uint16_t)space_index(d, spelling);
  }
  return c;
}

// Whether `config` has the default of every parameter (and, if `options`, of num_warps and so on).
static bool is_default(const struct space_builder *b, const struct tune_config *config,
                       bool options) {
  for (size_t i = 0; i < b->s->dim_count; i++) {
    const struct tune_dim *d = &b->s->dims[i];
    const char *spelling = space_default(b, d);
    if ((d->kind == TUNE_CONSTANT || options) &&
        (!spelling || strcmp(d->values[config->at[i]], spelling) != 0))
      return false;
  }
  return true;
}

static void default_first(struct space_builder *b) {
  for (int options = 1; options >= 0; options--)
    for (size_t i = 0; i < b->s->count; i++)
      if (is_default(b, &b->s->configs[i], options)) {
        struct tune_config c = b->s->configs[i];
        space_put_first(b, &c);
        return;
      }
}

bool space_list(struct space_builder *b, const struct space_entry *entries, size_t count) {
  if (count > TUNE_MAX_CONFIGS) {
    struct diag *d = diag_error(b->diag, entries[0].at, E0729,
                                "the list has more than %d configurations", TUNE_MAX_CONFIGS);
    diag_help(d, "leave out what cannot be good");
    return false;
  }
  for (size_t i = 0; i < count; i++)
    if (!collect(b, &entries[i]))
      return false;
  for (size_t i = 0; i < count; i++)
    if (!complete(b, &entries[i]))
      return false;
  space_sort(b);
  b->s->is_list = true;
  for (size_t i = 0; i < count; i++) {
    struct tune_config c = config_of(b, &entries[i]);
    space_put(b, &c);
  }
  if (count == 0) // nothing to choose: only the defaults
    space_put(b, &(struct tune_config){0});
  default_first(b);
  return true;
}

// ---- @autotune ----

static void add_option(struct space_builder *b, struct space_entry *e, const char *name,
                       uint32_t n) {
  // A setting of a parameter of that name has it already.
  if (n == 0 || find_pair(e, name))
    return;
  e->pairs[e->count++] =
      (struct space_pair){e->at, str_from(name), str_from(arena_printf(b->a, "%" PRIu32, n))};
}

static struct space_entry entry_of(struct space_builder *b, const struct lang_config *c) {
  struct space_entry e = {.at = c->span,
                          .pairs = arena_array(b->a, struct space_pair, c->setting_count + 5)};
  for (size_t i = 0; i < c->setting_count; i++)
    e.pairs[e.count++] =
        (struct space_pair){c->span, str_from(c->settings[i].name), str_from(c->settings[i].text)};
  add_option(b, &e, "num_warps", c->num_warps);
  add_option(b, &e, "num_stages", c->num_stages);
  add_option(b, &e, "max_registers", c->max_registers);
  add_option(b, &e, "num_ctas", c->num_ctas);
  if (c->warp_specialize && !find_pair(&e, "warp_specialize"))
    e.pairs[e.count++] = (struct space_pair){c->span, STR("warp_specialize"),
                                             str_from(warp_specialize_name(c->warp_specialize))};
  return e;
}

bool tune_space_from_decorator(struct arena *a, struct diag_engine *diag,
                               const struct lang_tuning *tuning, const struct lang_param *params,
                               size_t param_count, struct tune_space *ret) {
  struct span at = tuning->span;
  const char *origin = at.source ? arena_printf(a, "@autotune of %s:%" PRIu32, at.source->name,
                                                source_line_col(at.source, at.begin).line)
                                 : "@autotune";
  struct space_builder b = space_begin(a, diag, params, param_count, origin, ret);
  struct space_entry *entries = arena_array(a, struct space_entry, tuning->config_count + 1);
  for (size_t i = 0; i < tuning->config_count; i++)
    entries[i] = entry_of(&b, &tuning->configs[i]);
  return space_list(&b, entries, tuning->config_count);
}
