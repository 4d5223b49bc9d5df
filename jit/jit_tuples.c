// SPDX-License-Identifier: Apache-2.0
// Parameters that are tuples: their elements take their place in the list of parameters, under the
// names by which the compiler knows them (`s[0]`).
#include "jit/jit_kernel.h"

#include <string.h>

enum { MOST_ELEMENTS = 256 };

// Whether `name` is an element of `tuple`, or an element of an element.
static bool is_element(const char *name, const char *tuple) {
  size_t n = strlen(tuple);
  return strncmp(name, tuple, n) == 0 && name[n] == '[';
}

static size_t count_elements(const char *tuple, const char *const *names, size_t count) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++)
    n += is_element(names[i], tuple);
  return n;
}

// ---- new lists ----

struct flattened {
  struct lang_param *declared;
  size_t *origins; // by new parameter: the index of the old one
  size_t count;
};

static struct flattened flatten(tile_kernel *k, const char *const *names, size_t count) {
  struct arena *a = k->arena;
  struct flattened f = {arena_array(a, struct lang_param, k->declared_count + count + 1),
                        arena_array(a, size_t, k->declared_count + count + 1), 0};
  for (size_t i = 0; i < k->declared_count; i++) {
    const struct lang_param *p = &k->declared[i];
    bool is_tuple = !p->is_constexpr && count_elements(p->name, names, count) > 0;
    for (size_t n = 0; n < (is_tuple ? count : 1); n++) {
      if (is_tuple && !is_element(names[n], p->name))
        continue;
      f.declared[f.count] = *p;
      if (is_tuple)
        f.declared[f.count].name = arena_strdup(a, names[n]);
      f.origins[f.count++] = i;
    }
  }
  return f;
}

// The run-time parameters among the declared ones.
static void list_run_time(tile_kernel *k) {
  k->param_count = 0;
  for (size_t i = 0; i < k->declared_count; i++)
    if (!k->declared[i].is_constexpr)
      k->params[k->param_count++] = k->declared[i];
}

static void install(tile_kernel *k, const struct flattened *f) {
  for (struct config *c = k->configs; c; c = c->next) {
    const char **constants = arena_array(k->arena, const char *, f->count + 1);
    for (size_t i = 0; i < f->count; i++)
      constants[i] = c->constants[f->origins[i]];
    c->constants = constants;
    c->completions = NULL; // they have as many values as there were parameters
    atomic_store(&c->completed, NULL);
  }
  k->params = arena_array(k->arena, struct lang_param, f->count + 1);
  k->declared = f->declared;
  k->declared_count = f->count;
  list_run_time(k);
}

// ---- checks ----

static tile_status too_late(const tile_kernel *k) {
  return status_set(TILE_INVALID_ARGUMENT,
                    "the tuples of kernel `%s` are declared before its first launch", k->name);
}

static tile_status check(const tile_kernel *k, const char *const *names, size_t count) {
  size_t n = 0;
  for (size_t i = 0; i < k->param_count; i++) {
    size_t elements = count_elements(k->params[i].name, names, count);
    n += elements ? elements : 1;
    if (elements && k->params[i].is_typed)
      return status_set(TILE_INVALID_ARGUMENT, "`%s` of kernel `%s` has a type and is no tuple",
                        k->params[i].name, k->name);
  }
  if (k->specs || k->pending)
    return too_late(k);
  return n <= JIT_MAX_ARGS
             ? TILE_OK
             : status_set(TILE_LIMIT, "kernel `%s` has %zu run-time parameters; the limit is %d",
                          k->name, n, JIT_MAX_ARGS);
}

tile_status jit_kernel_flatten(tile_kernel *k, const char *const *names, size_t count) {
  jmp_buf out_of_memory;
  tile_status s;
  bool any = false;
  for (size_t i = 0; i < k->param_count && !any; i++)
    any = count_elements(k->params[i].name, names, count) > 0;
  if (!any)
    return TILE_OK;
  pthread_mutex_lock(&k->lock);
  if (setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for the parameters of kernel `%s`", k->name);
  } else {
    arena_set_oom(k->arena, &out_of_memory);
    s = check(k, names, count);
    if (s == TILE_OK) {
      struct flattened f = flatten(k, names, count);
      install(k, &f);
    }
  }
  arena_set_oom(k->arena, NULL);
  pthread_mutex_unlock(&k->lock);
  return s;
}

tile_status jit_kernel_fix(tile_kernel *k, size_t declared) {
  pthread_mutex_lock(&k->lock);
  bool is_late = k->specs || k->pending;
  if (!is_late) {
    k->declared[declared].is_constexpr = true;
    list_run_time(k);
  }
  pthread_mutex_unlock(&k->lock);
  return is_late ? too_late(k) : TILE_OK;
}

// ---- the public call ----

static tile_status unknown(const tile_kernel *k, const char *name) {
  const char *names[JIT_MAX_ARGS];
  for (size_t i = 0; i < k->param_count; i++)
    names[i] = k->params[i].name;
  const char *near = str_nearest(str_from(name), names, k->param_count);
  return status_set(TILE_INVALID_ARGUMENT, "kernel `%s` has no run-time parameter `%s`%s%s%s",
                    k->name, name, near ? "; did you mean `" : "", near ? near : "",
                    near ? "`?" : "");
}

tile_status tile_kernel_set_tuple(tile_kernel *k, const char *name, size_t count) {
  if (!k || !name)
    return status_set(TILE_INVALID_ARGUMENT, "tile_kernel_set_tuple: `%s` is NULL",
                      k ? "name" : "kernel");
  if (count == 0 || count > MOST_ELEMENTS)
    return status_set(TILE_INVALID_ARGUMENT, "a tuple of arguments has 1 to %d elements, not %zu",
                      MOST_ELEMENTS, count);
  size_t at = 0;
  while (at < k->param_count && strcmp(k->params[at].name, name) != 0)
    at++;
  if (at == k->param_count)
    return unknown(k, name);
  struct arena *a = arena_create();
  jmp_buf out_of_memory;
  tile_status s;
  if (!a || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for the parameters of kernel `%s`", k->name);
  } else {
    arena_set_oom(a, &out_of_memory);
    const char **names = arena_array(a, const char *, count);
    for (size_t i = 0; i < count; i++)
      names[i] = arena_printf(a, "%s[%zu]", name, i);
    s = jit_kernel_flatten(k, names, count);
  }
  arena_destroy(a);
  return s;
}
