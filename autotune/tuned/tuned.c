// SPDX-License-Identifier: Apache-2.0
// Kernels that choose their configuration by themselves: opening, settings, closing.
#include "autotune/tuned/tuned.h"

#include "base/file.h"
#include "base/memory.h"
#include "lang/tuning/tuning.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- opening ----

tile_status tuned_diag_failure(const struct diag_engine *diag, tile_status status) {
  tile_status known = jit_diag_status(diag);
  if (known != TILE_COMPILE_ERROR)
    status = known;
  return jit_diag_fail(diag, status, "the tuning failed");
}

static bool is_integer(const tile_kernel *k, size_t arg) {
  const struct lang_param *p = &k->params[arg];
  return !p->is_typed || (!p->is_pointer && !dtype_is_float(p->dtype));
}

// The arguments that a choice depends on: those of @autotune's key, else all integers.
static void take_key(tile_tuned *t, const struct lang_tuning *tuning) {
  const tile_kernel *k = t->kernel;
  t->matters = arena_array(t->arena, bool, k->param_count + 1);
  t->key_names = tuning->key_count ? arena_array(t->arena, const char *, tuning->key_count) : NULL;
  for (size_t i = 0; i < tuning->key_count; i++)
    t->key_names[t->key_name_count++] = arena_strdup(t->arena, tuning->key[i]);
  for (size_t i = 0; i < k->param_count; i++) {
    bool named = !t->key_names;
    for (size_t n = 0; n < t->key_name_count; n++)
      named |= strcmp(t->key_names[n], k->params[i].name) == 0;
    t->matters[i] = named && is_integer(k, i);
  }
}

// Reads the decorators of the source.
static tile_status read_source(tile_tuned *t, struct arena *scratch) {
  struct diag_engine *diag = diag_engine_create(scratch);
  struct source *source = source_create(scratch, t->path, t->text);
  struct lang_unit *u = lang_unit_read(scratch, diag, source);
  struct lang_imports imports = {0};
  struct lang_tuning tuning = {0};
  if (u)
    lang_unit_resolve(u, &(struct lang_outer){.target = t->properties.target, .imports = &imports});
  if (!u || diag_error_count(diag) || !lang_tuning_of(scratch, diag, u, t->kernel->name, &tuning))
    return tuned_diag_failure(diag, TILE_COMPILE_ERROR);
  take_key(t, &tuning);
  t->has_heuristics = tuning.heuristic_count > 0;
  struct tuned_settings *s = arena_new(t->arena, struct tuned_settings);
  s->policy = TILE_TUNE_CACHED;
  s->constants = arena_array(t->arena, const char *, t->kernel->declared_count + 1);
  t->file = tune_file_path(t->arena, t->path);
  t->all = s;
  atomic_init(&t->settings, s);
  return TILE_OK;
}

static tile_status open_tuned(tile_tuned *t, const char *path, const char *name) {
  struct arena *scratch = arena_create();
  jmp_buf out_of_memory;
  tile_status s;
  if (!scratch || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "%s: out of memory", path);
  } else {
    arena_set_oom(scratch, &out_of_memory);
    arena_set_oom(t->arena, &out_of_memory);
    t->path = arena_strdup(t->arena, path);
    int error = file_read(t->arena, path, SOURCE_MAX_BYTES, &t->text);
    s = error ? jit_read_failure(path, error)
              : tile_device_get_properties(t->device, &t->properties);
    if (s == TILE_OK)
      s = jit_kernel_open(t->device, path, t->text, name, NULL, &t->kernel);
    if (s == TILE_OK)
      s = read_source(t, scratch);
  }
  arena_set_oom(t->arena, NULL);
  arena_destroy(scratch);
  return s;
}

tile_status tile_tuned_open(tile_device *device, const char *path, const char *name,
                            tile_tuned **ret_tuned) {
  if (!device || !path || !ret_tuned)
    return status_set(TILE_INVALID_ARGUMENT, "tile_tuned_open: `%s` is NULL",
                      !device ? "device"
                      : !path ? "path"
                              : "ret_tuned");
  tile_tuned *t = memory_zeroed(1, sizeof *t);
  if (!t || !(t->arena = arena_create())) {
    free(t);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a kernel");
  }
  t->device = device;
  pthread_mutex_init(&t->tuning, NULL);
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->chosen, NULL);
  tile_status s = open_tuned(t, path, name);
  if (s != TILE_OK) {
    tile_tuned_close(t);
    return s;
  }
  *ret_tuned = t;
  return TILE_OK;
}

void tile_tuned_close(tile_tuned *t) {
  if (!t)
    return;
  for (struct tuned_variant *v = t->variants; v; v = v->next)
    tile_kernel_close(v->kernel);
  for (struct tuned_settings *s = t->all; s; s = s->next) {
    struct tuned_table *table = atomic_load_explicit(&s->table, memory_order_relaxed);
    while (table) {
      struct tuned_table *older = table->older;
      free(table);
      table = older;
    }
  }
  tile_kernel_close(t->kernel);
  pthread_cond_destroy(&t->chosen);
  pthread_mutex_destroy(&t->lock);
  pthread_mutex_destroy(&t->tuning);
  arena_destroy(t->arena);
  free(t);
}

// ---- settings ----

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_settings(const tile_tuned *t, const struct tuned_settings *a,
                          const struct tuned_settings *b) {
  if (a->policy != b->policy || a->candidates != b->candidates || a->callback != b->callback ||
      a->user != b->user || a->seconds < b->seconds || a->seconds > b->seconds ||
      !same_text(a->grid, b->grid) || !same_text(a->space, b->space) ||
      !same_text(a->file, b->file))
    return false;
  for (size_t i = 0; i < t->kernel->declared_count; i++)
    if (!same_text(a->constants[i], b->constants[i]))
      return false;
  return true;
}

static const char *keep(tile_tuned *t, const char *text) {
  return text ? arena_strdup(t->arena, text) : NULL;
}

static struct tuned_settings *settings_copy(tile_tuned *t, const struct tuned_settings *from) {
  struct tuned_settings *s = arena_new(t->arena, struct tuned_settings);
  size_t count = t->kernel->declared_count;
  s->policy = from->policy;
  s->seconds = from->seconds;
  s->candidates = from->candidates;
  s->callback = from->callback;
  s->user = from->user;
  s->grid = keep(t, from->grid);
  s->space = keep(t, from->space);
  s->file = keep(t, from->file);
  s->constants = arena_array(t->arena, const char *, count + 1);
  for (size_t i = 0; i < count; i++)
    s->constants[i] = keep(t, from->constants[i]);
  return s;
}

static tile_status add_settings(tile_tuned *t, const struct tuned_settings *to) {
  jmp_buf out_of_memory;
  if (setjmp(out_of_memory)) {
    arena_set_oom(t->arena, NULL);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a setting of kernel `%s`",
                      t->kernel->name);
  }
  arena_set_oom(t->arena, &out_of_memory);
  struct tuned_settings *made = settings_copy(t, to);
  arena_set_oom(t->arena, NULL);
  made->next = t->all;
  t->all = made;
  atomic_store_explicit(&t->settings, made, memory_order_release);
  return TILE_OK;
}

// Makes `to` the current settings, or an equal earlier record with its choices. Texts are copied.
// The caller holds the lock since it read the current settings.
static tile_status publish(tile_tuned *t, const struct tuned_settings *to) {
  struct tuned_settings *known = t->all;
  while (known && !same_settings(t, known, to))
    known = known->next;
  if (!known)
    return add_settings(t, to);
  atomic_store_explicit(&t->settings, known, memory_order_release);
  return TILE_OK;
}

static tile_status no_handle(const char *call) {
  return status_set(TILE_INVALID_ARGUMENT, "%s: the handle is NULL", call);
}

// Begins a change: a copy of the current settings, to be altered and published by `finish`.
static struct tuned_settings begin(tile_tuned *t) {
  pthread_mutex_lock(&t->lock);
  const struct tuned_settings *now = atomic_load_explicit(&t->settings, memory_order_relaxed);
  return (struct tuned_settings){.policy = now->policy,
                                 .grid = now->grid,
                                 .space = now->space,
                                 .file = now->file,
                                 .constants = now->constants,
                                 .seconds = now->seconds,
                                 .candidates = now->candidates,
                                 .callback = now->callback,
                                 .user = now->user};
}

static tile_status finish(tile_tuned *t, const struct tuned_settings *to) {
  tile_status s = publish(t, to);
  pthread_mutex_unlock(&t->lock);
  return s;
}

tile_status tile_tuned_set_policy(tile_tuned *t, tile_tune_policy policy) {
  if (!t)
    return no_handle("tile_tuned_set_policy");
  if ((unsigned)policy > TILE_TUNE_ALWAYS)
    return status_set(TILE_INVALID_ARGUMENT, "tile_tuned_set_policy: there is no policy %d",
                      (int)policy);
  struct tuned_settings s = begin(t);
  s.policy = policy;
  return finish(t, &s);
}

tile_status tile_tuned_set_grid(tile_tuned *t, const char *grid) {
  if (!t)
    return no_handle("tile_tuned_set_grid");
  if (!grid || !*grid)
    return status_set(TILE_INVALID_ARGUMENT, "tile_tuned_set_grid: `grid` is %s",
                      grid ? "empty" : "NULL");
  struct tuned_settings s = begin(t);
  s.grid = grid;
  return finish(t, &s);
}

// Parses the text as a launch will, so that errors are reported here.
static tile_status check_space(const tile_tuned *t, const char *text) {
  struct arena *a = arena_create();
  jmp_buf out_of_memory;
  tile_status s = TILE_OK;
  if (!a || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "tile_tuned_set_space: out of memory");
  } else {
    arena_set_oom(a, &out_of_memory);
    struct diag_engine *diag = diag_engine_create(a);
    const struct source *source = source_create(a, "space", str_from(text));
    struct span where = {source, 0, (uint32_t)source->text.len};
    struct tune_space *space = arena_new(a, struct tune_space);
    if (!tune_space_from_text(a, diag, where, source->text, t->kernel->declared,
                              t->kernel->declared_count, space))
      s = tuned_diag_failure(diag, TILE_INVALID_ARGUMENT);
  }
  arena_destroy(a);
  return s;
}

tile_status tile_tuned_set_space(tile_tuned *t, const char *space) {
  if (!t)
    return no_handle("tile_tuned_set_space");
  if (space && strlen(space) > SOURCE_MAX_BYTES)
    return status_set(TILE_LIMIT, "tile_tuned_set_space: the text has more than %u bytes",
                      SOURCE_MAX_BYTES);
  tile_status status = space ? check_space(t, space) : TILE_OK;
  if (status != TILE_OK)
    return status;
  struct tuned_settings s = begin(t);
  s.space = space;
  return finish(t, &s);
}

tile_status tile_tuned_set_constant(tile_tuned *t, const char *name, const char *value) {
  if (!t)
    return no_handle("tile_tuned_set_constant");
  tile_status status = tile_kernel_set_constant(t->kernel, name, value); // reports the error
  if (status != TILE_OK)
    return status;
  struct tuned_settings s = begin(t);
  size_t count = t->kernel->declared_count;
  const char **constants = memory_zeroed(count + 1, sizeof *constants);
  if (!constants) {
    pthread_mutex_unlock(&t->lock);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a setting of kernel `%s`",
                      t->kernel->name);
  }
  for (size_t i = 0; i < count; i++)
    constants[i] = strcmp(t->kernel->declared[i].name, name) == 0 ? value : s.constants[i];
  s.constants = constants;
  status = finish(t, &s);
  free(constants);
  return status;
}

tile_status tile_tuned_set_file(tile_tuned *t, const char *path) {
  if (!t)
    return no_handle("tile_tuned_set_file");
  if (path && !*path)
    return status_set(TILE_INVALID_ARGUMENT, "tile_tuned_set_file: `path` is empty");
  struct tuned_settings s = begin(t);
  s.file = path;
  return finish(t, &s);
}

tile_status tile_tuned_set_budget(tile_tuned *t, double seconds, unsigned candidates) {
  if (!t)
    return no_handle("tile_tuned_set_budget");
  if (!(seconds >= 0))
    return status_set(TILE_INVALID_ARGUMENT,
                      "tile_tuned_set_budget: `seconds` must be 0 or more, got %g", seconds);
  struct tuned_settings s = begin(t);
  s.seconds = seconds;
  s.candidates = candidates;
  return finish(t, &s);
}

tile_status tile_tuned_set_callback(tile_tuned *t, tile_tune_callback callback, void *user) {
  if (!t)
    return no_handle("tile_tuned_set_callback");
  struct tuned_settings s = begin(t);
  s.callback = callback;
  s.user = user;
  return finish(t, &s);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct tune_setting *)a)->name, ((const struct tune_setting *)b)->name);
}

struct tune_setting *tuned_config_settings(const struct tune_space *s, size_t config,
                                           struct arena *a, size_t *ret_count) {
  struct tune_setting *list = arena_array(a, struct tune_setting, s->dim_count + 1);
  for (size_t d = 0; d < s->dim_count; d++)
    list[d] = (struct tune_setting){s->dims[d].name, s->dims[d].values[s->configs[config].at[d]]};
  qsort(list, s->dim_count, sizeof *list, by_name);
  *ret_count = s->dim_count;
  return list;
}
