// SPDX-License-Identifier: Apache-2.0
// Checks launch arguments against declared parameters, with errors that name the parameter; builds
// the key of the specialisation and the compiler's bindings.
#include "jit/jit_kernel.h"

#include <string.h>

#define HINT 16 // divisibility that kernels are specialised on

// ---- errors ----

static tile_status wrong_count(const tile_kernel *k, size_t count) {
  return status_set(TILE_INVALID_ARGUMENT, "kernel `%s` takes %zu argument%s, got %zu", k->name,
                    k->param_count, k->param_count == 1 ? "" : "s", count);
}

static tile_status wrong_type(const tile_kernel *k, size_t i, const tile_arg *arg) {
  const struct lang_param *p = &k->params[i];
  return status_set(TILE_INVALID_ARGUMENT,
                    "kernel `%s`: argument %zu (`%s`) must be %s%s, got %s%s", k->name, i + 1,
                    p->name, p->is_pointer ? "a pointer to " : "", dtype_name(p->dtype),
                    arg->is_pointer && !arg_is_none(arg) ? "a pointer to " : "",
                    arg_is_none(arg) ? "None" : dtype_name((enum dtype)arg->type));
}

static tile_status out_of_range(const tile_kernel *k, size_t i, const tile_arg *arg) {
  return status_set(TILE_INVALID_ARGUMENT,
                    "kernel `%s`: argument %zu (`%s`) is %lld, which does not fit %s", k->name,
                    i + 1, k->params[i].name, (long long)arg->value.integer,
                    dtype_name((enum dtype)arg->type));
}

static tile_status not_divisible(const tile_kernel *k, size_t i, const tile_arg *arg) {
  const struct lang_param *p = &k->params[i];
  return status_set(TILE_INVALID_ARGUMENT,
                    "kernel `%s`: argument %zu (`%s`) is declared a multiple of %u; %lld is not",
                    k->name, i + 1, p->name, p->divisible_by,
                    arg->is_pointer ? (long long)(intptr_t)arg->value.pointer
                                    : (long long)arg->value.integer);
}

// ---- the key ----

static bool is_int(int type) { return type <= (int)DTYPE_U64; }

// Whether the argument satisfies its annotation's hint.
static bool keeps_promise(const struct lang_param *p, const tile_arg *arg) {
  uint64_t value =
      arg->is_pointer ? (uint64_t)(uintptr_t)arg->value.pointer : (uint64_t)arg->value.integer;
  return p->divisible_by <= 1 || value % p->divisible_by == 0;
}

static tile_status key_byte(const tile_kernel *k, size_t i, const tile_arg *arg, uint8_t *ret) {
  const struct lang_param *p = &k->params[i];
  if (arg_is_none(arg)) {
    *ret = KEY_NONE;
    return p->is_typed && !p->is_pointer ? wrong_type(k, i, arg) : TILE_OK;
  }
  if ((unsigned)arg->type >= DTYPE_COUNT)
    return status_set(TILE_INVALID_ARGUMENT,
                      "kernel `%s`: argument %zu (`%s`) has no known type (%d)", k->name, i + 1,
                      p->name, (int)arg->type);
  if (p->is_typed && (p->is_pointer != (arg->is_pointer != 0) || (int)p->dtype != (int)arg->type))
    return wrong_type(k, i, arg);
  unsigned byte = (unsigned)arg->type;
  if (arg->is_pointer) {
    byte |= KEY_POINTER;
    if ((uintptr_t)arg->value.pointer % HINT == 0)
      byte |= KEY_DIVISIBLE_16;
  } else if (is_int((int)arg->type)) {
    if (!arg_fits(arg))
      return out_of_range(k, i, arg);
    if (arg->value.integer == 1 && arg->type != TILE_I1)
      byte |= KEY_IS_ONE;
    else if ((uint64_t)arg->value.integer % HINT == 0 && arg->type != TILE_I1)
      byte |= KEY_DIVISIBLE_16;
  } else {
    *ret = (uint8_t)byte;
    return TILE_OK;
  }
  if (!keeps_promise(p, arg))
    return not_divisible(k, i, arg);
  *ret = (uint8_t)byte;
  return TILE_OK;
}

static uint64_t hash_bytes(const uint8_t *bytes, size_t count) {
  uint64_t h = 0x9e3779b97f4a7c15u ^ count;
  for (size_t i = 0; i < count; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, sizeof word);
    h = (h ^ word) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

tile_status jit_key_make(const tile_kernel *k, const tile_arg *args, size_t count,
                         struct jit_key *ret) {
  if (count != k->param_count)
    return wrong_count(k, count);
  if (count && !args)
    return status_set(TILE_INVALID_ARGUMENT, "kernel `%s`: `args` is NULL", k->name);
  for (size_t i = 0; i < count; i++) {
    tile_status s = key_byte(k, i, &args[i], &ret->bytes[i]);
    if (s != TILE_OK)
      return s;
  }
  // The hash reads whole words.
  for (size_t i = count; i % 8; i++)
    ret->bytes[i] = 0;
  ret->count = count;
  ret->hash = hash_bytes(ret->bytes, count);
  return TILE_OK;
}

// ---- for the compiler ----

static struct lang_binding constant_binding(const char *name, const char *text) {
  return (struct lang_binding){
      .name = name, .kind = BIND_CONSTANT, .dtype = DTYPE_NONE, .divisible_by = 1, .text = text};
}

static struct lang_binding argument_binding(const struct lang_param *p, uint8_t key) {
  if (key & KEY_NONE)
    return constant_binding(p->name, "None");
  uint32_t known = key & KEY_DIVISIBLE_16 ? HINT : 1;
  return (struct lang_binding){
      .name = p->name,
      .kind = key & KEY_POINTER ? BIND_POINTER : BIND_SCALAR,
      .dtype = (enum dtype)jit_key_type(key),
      .divisible_by = p->divisible_by > known ? p->divisible_by : known,
      .is_unaligned = (key & KEY_POINTER) && !(key & KEY_DIVISIBLE_16),
      .is_one = (key & KEY_IS_ONE) != 0,
  };
}

struct lang_binding *jit_bindings(const tile_kernel *k, const struct config *config,
                                  const uint8_t *key, struct arena *a, size_t *ret_count) {
  struct lang_binding *b =
      arena_array(a, struct lang_binding, k->declared_count + k->outer_count + 1);
  size_t n = 0, arg = 0;
  for (size_t i = 0; i < k->declared_count; i++) {
    const struct lang_param *p = &k->declared[i];
    if (!p->is_constexpr)
      b[n++] = argument_binding(p, key[arg++]);
    else if (config->constants[i])
      b[n++] = constant_binding(p->name, config->constants[i]);
  }
  for (size_t i = 0; i < k->outer_count; i++)
    b[n++] = k->outer[i];
  *ret_count = n;
  return b;
}
