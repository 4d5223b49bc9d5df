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

static const char *kind_of(bool is_pointer, bool is_descriptor) {
  return is_pointer ? "a pointer to " : is_descriptor ? "a tensor descriptor of " : "";
}

static tile_status wrong_type(const tile_kernel *k, size_t i, const tile_arg *arg) {
  const struct lang_param *p = &k->params[i];
  bool is_none = arg_is_none(arg), is_descriptor = arg_is_descriptor(arg);
  tile_type type = is_descriptor ? arg->value.descriptor->element : arg->type;
  return status_set(TILE_INVALID_ARGUMENT,
                    "kernel `%s`: argument %zu (`%s`) must be %s%s, got %s%s", k->name, i + 1,
                    p->name, kind_of(p->is_pointer, p->is_descriptor), dtype_name(p->dtype),
                    kind_of(arg->is_pointer && !is_none, is_descriptor),
                    is_none ? "None" : dtype_name((enum dtype)type));
}

static tile_status too_many(const tile_kernel *k) {
  return status_set(TILE_LIMIT,
                    "kernel `%s` has more than %d run-time parameters, those of tensor descriptors "
                    "included",
                    k->name, JIT_MAX_ARGS);
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

// ---- tensor descriptors ----

// The divisors of sizes that kernels are specialised on, by number. CHUNK: 16 bytes of elements.
enum { DIVISOR_NONE, DIVISOR_HINT, DIVISOR_CHUNK, DIVISOR_SHIFT = 5, BLOCK_MASK = 31, NAN_BIT = 8 };

static tile_status wrong_rank(const tile_kernel *k, size_t i, const tile_descriptor *d) {
  return status_set(TILE_INVALID_ARGUMENT,
                    "kernel `%s`: argument %zu (`%s`) must be a tensor descriptor with %u "
                    "dimensions, got %u",
                    k->name, i + 1, k->params[i].name, k->params[i].block.rank, d->rank);
}

// The block's sizes as in lang_block.
static uint8_t key_of_dimension(const tile_descriptor *d, unsigned dim) {
  uint32_t by = descriptor_size_divisor(d, dim);
  unsigned divisor = by == HINT ? DIVISOR_HINT : by > 1 ? DIVISOR_CHUNK : DIVISOR_NONE;
  unsigned block = d->block[dim] ? 1 + (unsigned)log2_floor(d->block[dim]) : 0;
  return (uint8_t)(block | divisor << DIVISOR_SHIFT);
}

static tile_status key_descriptor(const tile_kernel *k, size_t i, const tile_arg *arg,
                                  struct jit_key *ret) {
  const struct lang_param *p = &k->params[i];
  struct arg_place at = {"kernel", k->name, i + 1, p->name};
  tile_status s = descriptor_arg_check(arg, &at);
  if (s != TILE_OK)
    return s;
  const tile_descriptor *d = arg->value.descriptor;
  if (p->is_typed && (!p->is_descriptor || (int)p->dtype != (int)d->element))
    return wrong_type(k, i, arg);
  if (p->is_typed && p->block.rank != d->rank)
    return wrong_rank(k, i, d);
  if (ret->count + d->rank + 2 > JIT_MAX_ARGS)
    return too_many(k);
  ret->bytes[ret->count++] = (uint8_t)(KEY_DESCRIPTOR | d->element);
  ret->bytes[ret->count++] = (uint8_t)(d->rank | (d->pads_nan ? NAN_BIT : 0));
  for (unsigned dim = 0; dim < d->rank; dim++)
    ret->bytes[ret->count++] = key_of_dimension(d, dim);
  return TILE_OK;
}

// From its key; *at is moved behind it.
static struct lang_binding descriptor_binding(const struct lang_param *p, const uint8_t **at) {
  const uint8_t *key = *at;
  struct lang_binding b = {
      .name = p->name,
      .kind = BIND_DESCRIPTOR,
      .dtype = (enum dtype)jit_key_type(key[0]),
      .divisible_by = 1,
      .block = {.rank = key[1] & (NAN_BIT - 1), .pads_nan = (key[1] & NAN_BIT) != 0}};
  for (unsigned i = 0; i < b.block.rank; i++) {
    unsigned size = key[2 + i] & BLOCK_MASK, divisor = key[2 + i] >> DIVISOR_SHIFT;
    b.block.shape[i] = size ? 1u << (size - 1) : 0;
    b.sizes_divisible_by[i] = divisor == DIVISOR_HINT    ? HINT
                              : divisor == DIVISOR_CHUNK ? HINT / dtype_bytes(b.dtype)
                                                         : 1;
  }
  *at += 2 + b.block.rank;
  return b;
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
  bool has_descriptors = false;
  ret->count = 0;
  for (size_t i = 0; i < count; i++) {
    if (ret->count == JIT_MAX_ARGS)
      return too_many(k);
    bool is_descriptor = arg_is_descriptor(&args[i]);
    tile_status s = is_descriptor ? key_descriptor(k, i, &args[i], ret)
                                  : key_byte(k, i, &args[i], &ret->bytes[ret->count++]);
    if (s != TILE_OK)
      return s;
    has_descriptors |= is_descriptor;
  }
  if (has_descriptors && args_flat_count(args, count) > JIT_MAX_ARGS)
    return too_many(k);
  // The hash reads whole words.
  for (size_t i = ret->count; i % 8; i++)
    ret->bytes[i] = 0;
  ret->hash = hash_bytes(ret->bytes, ret->count);
  return TILE_OK;
}

// ---- for the compiler ----

static struct lang_binding constant_binding(const char *name, const char *text) {
  return (struct lang_binding){
      .name = name, .kind = BIND_CONSTANT, .dtype = DTYPE_NONE, .divisible_by = 1, .text = text};
}

// From its key; *at is moved behind it.
static struct lang_binding argument_binding(const struct lang_param *p, const uint8_t **at) {
  if ((**at & KEY_DESCRIPTOR) == KEY_DESCRIPTOR)
    return descriptor_binding(p, at);
  uint8_t key = *(*at)++;
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
  size_t n = 0;
  for (size_t i = 0; i < k->declared_count; i++) {
    const struct lang_param *p = &k->declared[i];
    if (!p->is_constexpr)
      b[n++] = argument_binding(p, &key);
    else if (config->constants[i])
      b[n++] = constant_binding(p->name, config->constants[i]);
  }
  for (size_t i = 0; i < k->outer_count; i++)
    b[n++] = k->outer[i];
  *ret_count = n;
  return b;
}

const char **jit_flat_names(const tile_kernel *k, const uint8_t *key, struct arena *a,
                            size_t *ret_count) {
  const char **names = arena_array(a, const char *, JIT_MAX_ARGS + 1);
  size_t n = 0;
  for (size_t i = 0; i < k->param_count; i++) {
    const char *name = k->params[i].name;
    struct lang_binding b = argument_binding(&k->params[i], &key);
    names[n++] = name;
    for (unsigned dim = 0; dim < b.block.rank; dim++)
      names[n++] = arena_printf(a, "%s.shape[%u]", name, dim);
    for (unsigned dim = 0; dim + 1 < b.block.rank; dim++)
      names[n++] = arena_printf(a, "%s.strides[%u]", name, dim);
  }
  *ret_count = n;
  return names;
}

struct cost_argument *jit_integers(struct arena *a, const tile_arg *args, const char *const *names,
                                   size_t count, size_t *ret_count) {
  size_t n = 0;
  struct cost_argument *integers =
      arena_array(a, struct cost_argument, args_flat_count(args, count) + 1);
  for (size_t i = 0; i < count; i++) {
    tile_arg flat[ARG_MAX_VALUES];
    const tile_arg *parts = args_flatten(&args[i], 1, flat);
    size_t part_count = args_flat_count(&args[i], 1);
    for (size_t k = 0; k < part_count; k++) {
      char suffix[32];
      arg_part_suffix(&args[i], k, suffix);
      if (jit_is_integer(&parts[k]))
        integers[n++] = (struct cost_argument){arena_printf(a, "%s%s", names[i], suffix),
                                               parts[k].value.integer};
    }
  }
  *ret_count = n;
  return integers;
}
