// SPDX-License-Identifier: Apache-2.0
// Configurations of a kernel, and the calls that change the current one.
#include "jit/jit_kernel.h"

#include <string.h>

struct config *jit_config_create(struct arena *a, const struct config *from, size_t declared) {
  struct config *c = arena_new(a, struct config);
  if (from) {
    c->target = from->target;
    c->num_warps = from->num_warps;
    c->num_stages = from->num_stages;
    c->max_registers = from->max_registers;
    c->num_ctas = from->num_ctas;
    c->warp_specialize = from->warp_specialize;
    c->check = from->check;
    c->launch_pdl = from->launch_pdl;
  }
  c->constants = arena_array(a, const char *, declared + 1);
  for (size_t i = 0; from && i < declared; i++)
    c->constants[i] = from->constants[i];
  c->folders = from ? from->folders : NULL;
  c->folder_count = from ? from->folder_count : 0;
  return c;
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_config(const tile_kernel *k, const struct config *a, const struct config *b) {
  if (a->target != b->target || a->num_warps != b->num_warps || a->num_stages != b->num_stages ||
      a->max_registers != b->max_registers || a->warp_specialize != b->warp_specialize ||
      a->check != b->check || a->num_ctas != b->num_ctas || a->launch_pdl != b->launch_pdl ||
      a->is_complete != b->is_complete)
    return false;
  for (size_t i = 0; i < k->declared_count; i++)
    if (!same_text(a->constants[i], b->constants[i]))
      return false;
  for (size_t i = 0; i < a->folder_count && a->folder_count == b->folder_count; i++)
    if (strcmp(a->folders[i], b->folders[i]) != 0)
      return false;
  return a->folder_count == b->folder_count;
}

static void add_folder(struct arena *a, struct config *c, const char *path) {
  const char **folders = arena_array(a, const char *, c->folder_count + 1);
  for (size_t i = 0; i < c->folder_count; i++)
    folders[i] = c->folders[i];
  folders[c->folder_count++] = arena_strdup(a, path);
  c->folders = folders;
}

// Adds `c` to the kernel's configurations, or returns an equal one and frees `c`, which was
// allocated after `mark`.
static struct config *keep(tile_kernel *k, struct config *c, struct arena_mark mark) {
  struct config *known = k->configs;
  while (known && !same_config(k, known, c))
    known = known->next;
  if (known) {
    arena_release(k->arena, mark);
    return known;
  }
  c->next = k->configs;
  return k->configs = c;
}

struct config *jit_config_complete(tile_kernel *k, const struct config *from,
                                   const struct lang_defaults *defaults) {
  jmp_buf out_of_memory;
  struct config *volatile result = NULL;
  if (setjmp(out_of_memory) == 0) {
    arena_set_oom(k->arena, &out_of_memory);
    struct arena_mark mark = arena_mark(k->arena);
    struct config *c = jit_config_create(k->arena, from, k->declared_count);
    c->is_complete = true;
    c->num_warps = c->num_warps ? c->num_warps : defaults->num_warps;
    c->num_stages = c->num_stages ? c->num_stages : defaults->num_stages;
    c->max_registers = c->max_registers ? c->max_registers : defaults->max_registers;
    c->num_ctas = c->num_ctas ? c->num_ctas : defaults->num_ctas;
    c->warp_specialize = c->warp_specialize ? c->warp_specialize : defaults->warp_specialize;
    for (size_t i = 0; i < defaults->setting_count; i++)
      for (size_t p = 0; p < k->declared_count; p++)
        if (k->declared[p].is_constexpr &&
            strcmp(k->declared[p].name, defaults->settings[i].name) == 0)
          c->constants[p] = arena_strdup(k->arena, defaults->settings[i].text);
    result = keep(k, c, mark);
  }
  arena_set_oom(k->arena, NULL);
  return result;
}

struct config *jit_config_checked(tile_kernel *k, const struct config *from) {
  jmp_buf out_of_memory;
  struct config *volatile result = NULL;
  pthread_mutex_lock(&k->lock);
  if (setjmp(out_of_memory) == 0) {
    arena_set_oom(k->arena, &out_of_memory);
    struct arena_mark mark = arena_mark(k->arena);
    struct config *c = jit_config_create(k->arena, from, k->declared_count);
    c->is_complete = true;
    c->check = true;
    result = keep(k, c, mark);
  }
  arena_set_oom(k->arena, NULL);
  pthread_mutex_unlock(&k->lock);
  return result;
}

// Decorators have nothing left to set.
static bool leaves_nothing(const tile_kernel *k, const struct config *c) {
  bool all = c->num_warps && c->num_stages;
  for (size_t i = 0; i < k->declared_count && all; i++)
    all = !k->declared[i].is_constexpr || c->constants[i];
  return all || !k->is_tuned;
}

// Makes a changed copy of `to` the current configuration, or an equal earlier one with the code
// that was compiled for it. `constant` is the index of a declared parameter to set to `text`, or
// declared_count; then `text` is a folder to add, or NULL.
static tile_status change(tile_kernel *k, const struct config *to, size_t constant,
                          const char *text) {
  pthread_mutex_lock(&k->lock);
  jmp_buf out_of_memory;
  tile_status s = TILE_OK;
  if (setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for a setting of kernel `%s`", k->name);
  } else {
    arena_set_oom(k->arena, &out_of_memory);
    struct arena_mark mark = arena_mark(k->arena);
    struct config *c = jit_config_create(k->arena, to, k->declared_count);
    if (constant < k->declared_count)
      c->constants[constant] = arena_strdup(k->arena, text);
    else if (text)
      add_folder(k->arena, c, text);
    c->is_complete = leaves_nothing(k, c);
    atomic_store_explicit(&k->config, keep(k, c, mark), memory_order_release);
  }
  arena_set_oom(k->arena, NULL);
  pthread_mutex_unlock(&k->lock);
  return s;
}

static tile_status no_kernel(const char *call) {
  return status_set(TILE_INVALID_ARGUMENT, "%s: the kernel is NULL", call);
}

static tile_status unknown_constant(const tile_kernel *k, const char *name) {
  const char *names[64];
  size_t n = 0;
  for (size_t i = 0; i < k->declared_count && n < COUNT_OF(names); i++)
    if (k->declared[i].is_constexpr)
      names[n++] = k->declared[i].name;
  for (size_t i = 0; i < k->param_count; i++)
    if (strcmp(k->params[i].name, name) == 0)
      return status_set(TILE_INVALID_ARGUMENT,
                        "`%s` of kernel `%s` is a run-time parameter: pass it as an argument, or "
                        "declare it `%s: constexpr`",
                        name, k->name, name);
  const char *near = str_nearest(str_from(name), names, n);
  return status_set(TILE_INVALID_ARGUMENT, "kernel `%s` has no compile-time parameter `%s`%s%s%s",
                    k->name, name, near ? "; did you mean `" : "", near ? near : "",
                    near ? "`?" : "");
}

tile_status tile_kernel_set_constant(tile_kernel *k, const char *name, const char *value) {
  if (!k)
    return no_kernel("tile_kernel_set_constant");
  if (!name || !value)
    return status_set(TILE_INVALID_ARGUMENT, "tile_kernel_set_constant: `%s` is NULL",
                      name ? "value" : "name");
  size_t i = 0;
  while (i < k->declared_count && strcmp(k->declared[i].name, name) != 0)
    i++;
  if (i == k->declared_count)
    return unknown_constant(k, name);
  bool in_tuple = strchr(name, '[') || strcmp(value, "()") == 0;
  if (!k->declared[i].is_constexpr && (!in_tuple || k->declared[i].is_typed))
    return unknown_constant(k, name);
  tile_status s = k->declared[i].is_constexpr ? TILE_OK : jit_kernel_fix(k, i);
  if (s != TILE_OK)
    return s;
  return change(k, atomic_load(&k->config), i, value);
}

tile_status tile_kernel_set_warps(tile_kernel *k, unsigned num_warps) {
  if (!k)
    return no_kernel("tile_kernel_set_warps");
  struct config c = *atomic_load(&k->config);
  if (!is_pow2(num_warps) || num_warps > c.target->max_warps)
    return status_set(TILE_INVALID_ARGUMENT,
                      "num_warps must be a power of two from 1 to %u, got %u", c.target->max_warps,
                      num_warps);
  c.num_warps = num_warps;
  return change(k, &c, k->declared_count, NULL);
}

tile_status tile_kernel_set_stages(tile_kernel *k, unsigned num_stages) {
  if (!k)
    return no_kernel("tile_kernel_set_stages");
  if (num_stages == 0 || num_stages > 16)
    return status_set(TILE_INVALID_ARGUMENT, "num_stages must be from 1 to 16, got %u", num_stages);
  struct config c = *atomic_load(&k->config);
  c.num_stages = num_stages;
  return change(k, &c, k->declared_count, NULL);
}

tile_status tile_kernel_set_max_registers(tile_kernel *k, unsigned max_registers) {
  if (!k)
    return no_kernel("tile_kernel_set_max_registers");
  if (max_registers != 0 && (max_registers < 16 || max_registers > 255))
    return status_set(TILE_INVALID_ARGUMENT,
                      "max_registers must be from 16 to 255, or 0 for no bound, got %u",
                      max_registers);
  struct config c = *atomic_load(&k->config);
  c.max_registers = max_registers;
  return change(k, &c, k->declared_count, NULL);
}

tile_status tile_kernel_set_warp_specialize(tile_kernel *k, const char *choice) {
  if (!k)
    return no_kernel("tile_kernel_set_warp_specialize");
  struct config c = *atomic_load(&k->config);
  if (!choice || !warp_specialize_of(str_from(choice), &c.warp_specialize))
    return status_set(TILE_INVALID_ARGUMENT, "warp_specialize is auto, on or off, not %s%s%s",
                      choice ? "`" : "", choice ? choice : "NULL", choice ? "`" : "");
  return change(k, &c, k->declared_count, NULL);
}

tile_status tile_kernel_set_num_ctas(tile_kernel *k, unsigned num_ctas) {
  if (!k)
    return no_kernel("tile_kernel_set_num_ctas");
  if (num_ctas != 1 && (num_ctas == 0 || !kernel_ctas_are_valid(num_ctas)))
    return status_set(TILE_INVALID_ARGUMENT, "num_ctas must be 1, 2, 4, 8 or 16, got %u", num_ctas);
  struct config c = *atomic_load(&k->config);
  c.num_ctas = num_ctas;
  return change(k, &c, k->declared_count, NULL);
}

tile_status tile_kernel_set_launch_pdl(tile_kernel *k, int on) {
  if (!k)
    return no_kernel("tile_kernel_set_launch_pdl");
  struct config c = *atomic_load(&k->config);
  c.launch_pdl = on != 0;
  return change(k, &c, k->declared_count, NULL);
}

tile_status tile_kernel_set_check(tile_kernel *k, int on) {
  if (!k)
    return no_kernel("tile_kernel_set_check");
  struct config c = *atomic_load(&k->config);
  if (on && !device_checks(k->device))
    return status_set(TILE_INVALID_ARGUMENT, "checks work on the CPU device and on simulated ones");
  c.check = on != 0;
  return change(k, &c, k->declared_count, NULL);
}

tile_status tile_kernel_add_folder(tile_kernel *k, const char *path) {
  if (!k)
    return no_kernel("tile_kernel_add_folder");
  if (!path || !*path)
    return status_set(TILE_INVALID_ARGUMENT, "tile_kernel_add_folder: `path` is %s",
                      path ? "empty" : "NULL");
  return change(k, atomic_load(&k->config), k->declared_count, path);
}

tile_status tile_kernel_set_target(tile_kernel *k, const char *target) {
  if (!k)
    return no_kernel("tile_kernel_set_target");
  if (!target)
    return status_set(TILE_INVALID_ARGUMENT, "tile_kernel_set_target: `target` is NULL");
  struct config c = *atomic_load(&k->config);
  const struct target *t = target_find(str_from(target));
  if (!t)
    return status_set(TILE_INVALID_ARGUMENT, "there is no target `%s`", target);
  if (t->is_cpu != device_is_cpu(k->device))
    return status_set(TILE_INVALID_ARGUMENT, "code for `%s` does not run on this device (`%s`)",
                      target, device_target(k->device));
  c.target = t;
  return change(k, &c, k->declared_count, NULL);
}
