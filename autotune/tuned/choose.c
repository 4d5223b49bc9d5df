// SPDX-License-Identifier: Apache-2.0
// Chooses a configuration for a new key: from the file, else by the policy. A chosen configuration
// becomes a kernel of its own, shared by later keys with the same choice.
#include "autotune/tuned/tuned.h"
#include "lang/tuning/tuning.h"

#include <stdlib.h>
#include <string.h>

// ---- the problem ----

static struct lang_binding *fixed_bindings(const struct tuned_request *r, struct arena *a,
                                           size_t *ret_count) {
  const tile_kernel *k = r->tuned->kernel;
  struct lang_binding *b = arena_array(a, struct lang_binding, k->declared_count + 1);
  size_t n = 0;
  for (size_t i = 0; i < k->declared_count; i++)
    if (r->settings->constants[i])
      b[n++] = (struct lang_binding){.name = k->declared[i].name,
                                     .kind = BIND_CONSTANT,
                                     .divisible_by = 1,
                                     .text = r->settings->constants[i]};
  *ret_count = n;
  return b;
}

static struct tune_problem problem_of(const struct tuned_request *r, struct arena *a) {
  const tile_tuned *t = r->tuned;
  struct tune_problem p = {.file = t->path,
                           .text = t->text,
                           .kernel = t->kernel->name,
                           .like = t->device,
                           .args = r->args,
                           .arg_count = r->arg_count,
                           .grid = r->settings->grid};
  p.fixed = fixed_bindings(r, a, &p.fixed_count);
  p.arrays = arena_array(a, struct tune_array, r->arg_count + 1);
  const char **names = arena_array(a, const char *, r->arg_count + 1);
  for (size_t i = 0; i < r->arg_count; i++)
    names[i] = t->kernel->params[i].name;
  p.arg_names = names;
  return p;
}

static bool space_of(const struct tuned_request *r, struct arena *a, struct diag_engine *diag,
                     const struct tune_problem *p, struct tune_space *ret,
                     struct lang_tuning *tuning) {
  const tile_tuned *t = r->tuned;
  if (!tune_problem_space(a, diag, p, t->properties.target, ret, tuning))
    return false;
  if (!r->settings->space)
    return true;
  const struct source *source = source_create(a, "space", str_from(r->settings->space));
  struct span where = {source, 0, (uint32_t)source->text.len};
  *ret = (struct tune_space){0};
  return tune_space_from_text(a, diag, where, source->text, t->kernel->declared,
                              t->kernel->declared_count, ret) &&
         tune_space_fix(a, diag, where, p->fixed, p->fixed_count, ret);
}

// ---- variants ----

static const char *spell(struct arena *a, const struct tune_setting *s, size_t count) {
  const char *text = "";
  for (size_t i = 0; i < count; i++)
    text = arena_printf(a, "%s%s%s=%s", text, i ? ", " : "", s[i].name, s[i].value);
  return text;
}

static tile_status apply(tile_kernel *k, const struct tune_setting *s) {
  static const struct {
    const char *name;
    tile_status (*set)(tile_kernel *k, unsigned value);
  } options[] = {{"num_warps", tile_kernel_set_warps},
                 {"num_stages", tile_kernel_set_stages},
                 {"max_registers", tile_kernel_set_max_registers},
                 {"num_ctas", tile_kernel_set_num_ctas}};
  if (strcmp(s->name, "warp_specialize") == 0)
    return tile_kernel_set_warp_specialize(k, s->value);
  for (size_t i = 0; i < COUNT_OF(options); i++) {
    if (strcmp(s->name, options[i].name) != 0)
      continue;
    uint64_t value;
    if (!str_to_u64(str_from(s->value), &value) || value > 65536)
      return status_set(TILE_INVALID_ARGUMENT, "%s cannot be `%s`", s->name, s->value);
    return value ? options[i].set(k, (unsigned)value) : TILE_OK; // 0: the default
  }
  return tile_kernel_set_constant(k, s->name, s->value);
}

// Chosen settings take precedence over given and declared ones.
static void take_constants(struct arena *a, struct tuned_variant *v, const tile_kernel *k,
                           const struct tuned_settings *fixed, const struct tune_setting *s,
                           size_t count) {
  struct lang_setting *c = arena_array(a, struct lang_setting, count + 2 * k->declared_count + 1);
  size_t n = 0;
  for (size_t i = 0; i < count; i++)
    c[n++] = (struct lang_setting){arena_strdup(a, s[i].name), arena_strdup(a, s[i].value)};
  for (size_t i = 0; i < k->declared_count; i++)
    if (fixed->constants[i])
      c[n++] = (struct lang_setting){k->declared[i].name, fixed->constants[i]};
  for (size_t i = 0; i < k->declared_count; i++)
    if (k->declared[i].default_text)
      c[n++] = (struct lang_setting){k->declared[i].name, k->declared[i].default_text};
  v->constants = c;
  v->constant_count = n;
}

static tile_status make_kernel(const struct tuned_request *r, const struct tune_setting *s,
                               size_t count, tile_kernel **ret) {
  const tile_tuned *t = r->tuned;
  tile_kernel *k = NULL;
  tile_status status = jit_kernel_open(t->device, t->path, t->text, t->kernel->name, NULL, &k);
  for (size_t i = 0; status == TILE_OK && i < k->declared_count; i++)
    if (r->settings->constants[i])
      status = tile_kernel_set_constant(k, k->declared[i].name, r->settings->constants[i]);
  for (size_t i = 0; status == TILE_OK && i < count; i++)
    status = apply(k, &s[i]);
  if (status == TILE_OK)
    *ret = k;
  else
    tile_kernel_close(k);
  return status;
}

static bool same_constants(const tile_kernel *k, const struct tuned_settings *a,
                           const struct tuned_settings *b) {
  for (size_t i = 0; a != b && i < k->declared_count; i++) {
    const char *x = a->constants[i], *y = b->constants[i];
    if (x != y && (!x || !y || strcmp(x, y) != 0))
      return false;
  }
  return true;
}

static struct tuned_variant *find_variant(const tile_tuned *t, const struct tuned_settings *fixed,
                                          const char *spelling) {
  struct tuned_variant *v = t->variants;
  while (v &&
         (strcmp(v->spelling, spelling) != 0 || !same_constants(t->kernel, v->settings, fixed)))
    v = v->next;
  return v;
}

// NULL when memory is out.
static struct tuned_variant *keep_variant(const struct tuned_request *r, tile_kernel *kernel,
                                          const char *spelling, const struct tune_setting *s,
                                          size_t count) {
  tile_tuned *t = r->tuned;
  jmp_buf out_of_memory;
  if (setjmp(out_of_memory)) {
    arena_set_oom(t->arena, NULL);
    return NULL;
  }
  arena_set_oom(t->arena, &out_of_memory);
  struct tuned_variant *v = arena_new(t->arena, struct tuned_variant);
  v->settings = r->settings;
  v->spelling = arena_strdup(t->arena, spelling);
  take_constants(t->arena, v, t->kernel, r->settings, s, count);
  v->kernel = kernel;
  arena_set_oom(t->arena, NULL);
  v->next = t->variants;
  return t->variants = v;
}

static tile_status variant_of(const struct tuned_request *r, struct arena *scratch,
                              const struct tune_setting *s, size_t count,
                              struct tuned_variant **ret) {
  tile_tuned *t = r->tuned;
  tile_kernel *kernel = NULL;
  const char *spelling = spell(scratch, s, count);
  tile_status status = TILE_OK;
  pthread_mutex_lock(&t->lock);
  *ret = find_variant(t, r->settings, spelling);
  if (!*ret) {
    status = make_kernel(r, s, count, &kernel);
    *ret = status == TILE_OK ? keep_variant(r, kernel, spelling, s, count) : NULL;
    if (status == TILE_OK && !*ret) {
      tile_kernel_close(kernel);
      status = status_set(TILE_OUT_OF_MEMORY, "out of memory for kernel `%s`", t->kernel->name);
    }
  }
  pthread_mutex_unlock(&t->lock);
  return status;
}

// ---- choosing ----

// The file's entry for the key, or *ret_entry NULL.
static tile_status ask_file(const struct tuned_request *r, struct arena *a, const char *path,
                            const struct tune_key *key, const struct tune_entry **ret_entry) {
  struct diag_engine *diag = diag_engine_create(a);
  struct tune_file *file = arena_new(a, struct tune_file);
  if (!tune_file_read(a, diag, path, file))
    return tuned_diag_failure(diag, TILE_IO_ERROR);
  // A neighbour's configuration is used if the policy measures nothing.
  *ret_entry = tune_file_find(file, key, r->settings->policy == TILE_TUNE_CACHED);
  return TILE_OK;
}

static tile_status entry_variant(const struct tuned_request *r, struct arena *a, const char *path,
                                 const struct tune_entry *e, struct tuned_variant **ret) {
  tile_status s = variant_of(r, a, e->settings, e->setting_count, ret);
  return s == TILE_OK || s == TILE_OUT_OF_MEMORY
             ? s
             : status_set(s, "%s: kernel `%s`: %s", path, e->key.kernel, tile_error_message());
}

// The file's configuration in *ret, NULL if there is none.
static tile_status from_file(const struct tuned_request *r, struct arena *a,
                             const struct tuned_work *w, struct tuned_variant **ret) {
  const struct tune_entry *entry = NULL;
  *ret = NULL;
  tile_status s = ask_file(r, a, w->file, w->key, &entry);
  return s == TILE_OK && entry ? entry_variant(r, a, w->file, entry, ret) : s;
}

// *measuring is set while the handle's `tuning` lock is held.
static tile_status choose_on(const struct tuned_request *r, struct arena *a,
                             volatile bool *measuring, struct tuned_variant **ret) {
  tile_tuned *t = r->tuned;
  struct diag_engine *diag = diag_engine_create(a);
  struct tune_problem problem = problem_of(r, a);
  struct tune_space *space = arena_new(a, struct tune_space);
  struct lang_tuning tuning = {0};
  struct tune_key key;
  struct tuned_work work = {&problem, space, &tuning, &key,
                            r->settings->file ? r->settings->file : t->file};
  struct tune_setting *settings;
  size_t count;
  tile_status s = TILE_OK;
  if (r->settings->policy != TILE_TUNE_NEVER) {
    s = tune_key_of(a, &problem, &t->properties, t->key_names, t->key_name_count, &key);
    if (s == TILE_OK)
      s = from_file(r, a, &work, ret);
    if (s != TILE_OK || *ret)
      return s;
  }
  if (!space_of(r, a, diag, &problem, space, &tuning))
    return tuned_diag_failure(diag, TILE_COMPILE_ERROR);
  if (r->settings->policy == TILE_TUNE_ALWAYS) {
    pthread_mutex_lock(&t->tuning);
    *measuring = true;
    s = tuned_measure(r, a, &work, &settings, &count);
  } else {
    settings = tuned_config_settings(space, 0, a, &count);
  }
  return s == TILE_OK ? variant_of(r, a, settings, count, ret) : s;
}

tile_status tuned_choose(const struct tuned_request *r, struct tuned_variant **ret) {
  struct arena *a = arena_create();
  volatile bool measuring = false;
  jmp_buf out_of_memory;
  tile_status s;
  if (!a || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for kernel `%s`", r->tuned->kernel->name);
  } else {
    arena_set_oom(a, &out_of_memory);
    s = choose_on(r, a, &measuring, ret);
  }
  if (measuring)
    pthread_mutex_unlock(&r->tuned->tuning);
  arena_destroy(a);
  return s;
}

// ---- grids ----

static void add_settings(struct grid_names *names, const struct lang_setting *s, size_t count) {
  for (size_t i = 0; i < count; i++)
    grid_names_add_text(names, s[i].name, str_from(s[i].text));
}

static tile_status grid_on(const struct tuned_request *r, struct arena *a,
                           const struct tuned_variant *v, tile_grid *ret) {
  struct diag_engine *diag = diag_engine_create(a);
  struct lang_setting *computed = NULL;
  size_t computed_count = 0;
  const struct tune_problem p = problem_of(r, a);
  if (r->tuned->has_heuristics &&
      !tune_problem_heuristics(a, diag, &p, r->tuned->properties.target, v->constants,
                               v->constant_count, &computed, &computed_count))
    return tuned_diag_failure(diag, TILE_COMPILE_ERROR);
  size_t integer_count;
  const struct cost_argument *integers = tune_problem_integers(a, &p, &integer_count);
  struct grid_names names = grid_names_make(a, computed_count + v->constant_count + integer_count);
  add_settings(&names, computed, computed_count);
  add_settings(&names, v->constants, v->constant_count);
  for (size_t i = 0; i < integer_count; i++)
    grid_names_add(&names, integers[i].name, integers[i].value);
  const struct source *source = source_create(a, "grid", str_from(r->settings->grid));
  struct span where = {source, 0, (uint32_t)source->text.len};
  uint32_t grid[3];
  if (!grid_expr_eval(diag, where, &names, grid))
    return tuned_diag_failure(diag, TILE_INVALID_ARGUMENT);
  *ret = (tile_grid){grid[0], grid[1], grid[2]};
  return TILE_OK;
}

tile_status tuned_grid(const struct tuned_request *r, const struct tuned_variant *v,
                       tile_grid *ret) {
  struct arena *a = arena_create();
  jmp_buf out_of_memory;
  tile_status s;
  if (!a || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for kernel `%s`", r->tuned->kernel->name);
  } else {
    arena_set_oom(a, &out_of_memory);
    s = grid_on(r, a, v, ret);
  }
  arena_destroy(a);
  return s;
}
