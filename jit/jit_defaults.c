// SPDX-License-Identifier: Apache-2.0
// The configuration of a launch whose kernel has tuning decorators: what the caller set, and for
// the rest the first configuration of @autotune and the values that @heuristics computes from the
// arguments. Without heuristics it is the same for all launches; with them it is cached by the
// types and scalar values of the arguments and by which pointers are NULL (None).
#include "jit/jit_kernel.h"

#include <string.h>

enum { COMPLETIONS = 256 }; // slots of a configuration; a collision replaces the older entry

struct completion {
  struct config *config; // NULL: empty
  uint64_t hash;
  struct seen *values; // of all arguments
};

// What decorators see of an argument.
struct seen {
  uint64_t value;
  uint32_t kind; // its type, and whether it is a pointer
};

// ---- what the arguments say ----

static struct seen value_of(const tile_arg *arg) {
  struct seen s = {.value = arg->value.pointer != NULL,
                   .kind = (uint32_t)arg->type | (arg->is_pointer ? 1u << 31 : 0)};
  if (arg_is_descriptor(arg)) // decorators do not see its numbers
    s.value = (uint64_t)arg->value.descriptor->element;
  else if (!arg->is_pointer)
    memcpy(&s.value, &arg->value, sizeof s.value);
  return s;
}

static uint64_t hash_of(const tile_arg *args, size_t count) {
  uint64_t h = 0x9e3779b97f4a7c15u ^ count;
  for (size_t i = 0; i < count; i++) {
    struct seen s = value_of(&args[i]);
    h = (h ^ s.value ^ s.kind) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

static bool is_for(const struct completion *c, uint64_t hash, const tile_arg *args, size_t count) {
  if (!c->config || c->hash != hash)
    return false;
  for (size_t i = 0; i < count; i++) {
    struct seen s = value_of(&args[i]);
    if (c->values[i].value != s.value || c->values[i].kind != s.kind)
      return false;
  }
  return true;
}

struct lang_known jit_known_argument(const char *name, const tile_arg *arg) {
  if (arg_is_none(arg))
    return (struct lang_known){.name = name, .is_text = true, .text = "None"};
  if (arg_is_descriptor(arg))
    return (struct lang_known){
        .name = name, .is_descriptor = true, .dtype = (enum dtype)arg->value.descriptor->element};
  enum dtype dtype = (enum dtype)arg->type;
  struct lang_known known = {.name = name, .is_pointer = arg->is_pointer, .dtype = dtype};
  known.is_integer = !arg->is_pointer && !dtype_is_float(dtype);
  if (known.is_integer)
    known.integer = arg->value.integer;
  else if (!arg->is_pointer)
    known.real = arg->value.real;
  return known;
}

// Constants that are set, and arguments.
static struct lang_known *known_of(const tile_kernel *k, const struct config *c,
                                   const tile_arg *args, struct arena *a, size_t *ret_count) {
  struct lang_known *known = arena_array(a, struct lang_known, k->declared_count + 1);
  size_t n = 0, arg = 0;
  for (size_t i = 0; i < k->declared_count; i++) {
    const char *name = k->declared[i].name;
    if (k->declared[i].is_constexpr) {
      if (c->constants[i])
        known[n++] = (struct lang_known){.name = name, .is_text = true, .text = c->constants[i]};
      continue;
    }
    const tile_arg *x = &args[arg++];
    known[n++] = x->is_pointer && !x->value.pointer
                     ? (struct lang_known){.name = name, .is_text = true, .text = "None"}
                     : jit_known_argument(name, x);
  }
  *ret_count = n;
  return known;
}

// ---- completing ----

// The kernel's unit; if its definitions were resolved for another target, the source is parsed
// again on `a`.
static const struct lang_unit *unit_for(const tile_kernel *k, const struct config *c,
                                        struct arena *a, struct diag_engine *diag) {
  if (jit_unit(k, c))
    return k->unit;
  struct lang_unit *u = lang_unit_read(a, diag, k->source);
  struct lang_imports imports = {
      .folders = c->folders, .folder_count = c->folder_count, .is_detached = k->is_detached};
  struct lang_outer outer = jit_outer(k, c->target->name, &imports);
  if (u)
    lang_unit_resolve(u, &outer);
  return u;
}

static tile_status evaluate(tile_kernel *k, const struct config *c, const tile_arg *args,
                            struct arena *a, const struct jit_report *report,
                            struct lang_defaults *ret) {
  struct arena *arena = report ? report->arena : a; // records of the report point into it
  struct diag_engine *diag = report ? report->diag : diag_engine_create(a);
  struct lang_defaults_request r = {.unit = unit_for(k, c, arena, diag),
                                    .kernel = k->name,
                                    .num_warps = c->num_warps,
                                    .num_stages = c->num_stages};
  if (!r.unit)
    return jit_diag_failure(diag, report != NULL);
  r.known = known_of(k, c, args, a, &r.known_count);
  return lang_defaults(arena, diag, &r, ret) ? TILE_OK : jit_diag_failure(diag, report != NULL);
}

static void remember(tile_kernel *k, struct config *c, const tile_arg *args, size_t count,
                     uint64_t hash, struct config *result) {
  jmp_buf out_of_memory;
  if (!k->has_heuristics) {
    atomic_store_explicit(&c->completed, result, memory_order_release);
    return;
  }
  if (setjmp(out_of_memory) == 0) {
    arena_set_oom(k->arena, &out_of_memory);
    if (!c->completions)
      c->completions = arena_array(k->arena, struct completion, COMPLETIONS);
    struct completion *to = &c->completions[hash % COMPLETIONS];
    to->config = NULL;
    if (!to->values)
      to->values = arena_array(k->arena, struct seen, count + 1);
    for (size_t i = 0; i < count; i++)
      to->values[i] = value_of(&args[i]);
    to->hash = hash;
    to->config = result;
  }
  arena_set_oom(k->arena, NULL);
}

static tile_status complete(tile_kernel *k, struct config *c, const tile_arg *args, size_t count,
                            uint64_t hash, const struct jit_report *report, struct config **ret) {
  struct arena *a = arena_create();
  jmp_buf out_of_memory;
  struct lang_defaults defaults;
  tile_status s;
  if (!a || setjmp(out_of_memory)) {
    arena_destroy(a);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for the defaults of kernel `%s`", k->name);
  }
  arena_set_oom(a, &out_of_memory);
  s = evaluate(k, c, args, a, report, &defaults);
  if (s == TILE_OK) {
    pthread_mutex_lock(&k->lock);
    *ret = jit_config_complete(k, c, &defaults);
    if (*ret)
      remember(k, c, args, count, hash, *ret);
    else
      s = status_set(TILE_OUT_OF_MEMORY, "out of memory for kernel `%s`", k->name);
    pthread_mutex_unlock(&k->lock);
  }
  arena_destroy(a);
  return s;
}

tile_status jit_config(tile_kernel *k, const tile_arg *args, size_t count,
                       const struct jit_report *report, struct config **ret) {
  struct config *c = atomic_load_explicit(&k->config, memory_order_acquire);
  struct config *known =
      c->is_complete ? c : atomic_load_explicit(&c->completed, memory_order_acquire);
  if (known) {
    *ret = known;
    return TILE_OK;
  }
  uint64_t hash = hash_of(args, count);
  if (k->has_heuristics) {
    pthread_mutex_lock(&k->lock);
    const struct completion *x = c->completions ? &c->completions[hash % COMPLETIONS] : NULL;
    if (x && is_for(x, hash, args, count))
      known = x->config;
    pthread_mutex_unlock(&k->lock);
    if (known) {
      *ret = known;
      return TILE_OK;
    }
  }
  return complete(k, c, args, count, hash, report, ret);
}
