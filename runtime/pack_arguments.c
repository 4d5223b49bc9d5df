// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of a function of a pack against its parameters. A tensor descriptor is one
// argument, and as many parameters as args_flatten makes of it.
#include "runtime/args.h"
#include "runtime/pack.h"
#include "runtime/runtime_internal.h"

// A function's parameters in the pack.
struct params {
  const struct tile_pack *pack;
  const char *function;
  uint32_t first, count;
};

static const uint8_t *param_at(const struct params *p, uint32_t i) {
  return pack_entry(p->pack, PACK_PARAMS, p->first + i);
}

static const char *name_of(const struct params *p, uint32_t i) {
  return pack_text(p->pack, pack_u32(param_at(p, i) + PACK_PARAM_NAME));
}

static uint32_t arg_count_of(const struct params *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->count; i += pack_param_span(param_at(p, i)))
    n++;
  return n;
}

static const char *kind_of(bool is_pointer, bool is_descriptor) {
  return is_descriptor ? "a tensor descriptor of " : is_pointer ? "a pointer to " : "";
}

static tile_status wrong_type(const struct params *p, uint32_t i, uint32_t number,
                              const tile_arg *arg) {
  const uint8_t *e = param_at(p, i);
  bool is_none = arg_is_none(arg), is_descriptor = arg_is_descriptor(arg);
  unsigned type = is_descriptor ? arg->value.descriptor->element : arg->type;
  return status_set(TILE_INVALID_ARGUMENT,
                    "function `%s`: argument %u (`%s`) must be %s%s, got %s%s", p->function, number,
                    name_of(p, i), kind_of(e[PACK_PARAM_IS_POINTER], pack_param_rank(e) > 0),
                    dtype_name((enum dtype)e[PACK_PARAM_DTYPE]),
                    kind_of(arg->is_pointer && !is_none, is_descriptor),
                    is_none              ? "None"
                    : type < DTYPE_COUNT ? dtype_name((enum dtype)type)
                                         : "an unknown type");
}

static tile_status check_plain(const struct params *p, uint32_t i, uint32_t number,
                               const tile_arg *arg) {
  const uint8_t *e = param_at(p, i);
  bool pointer = e[PACK_PARAM_IS_POINTER];
  if ((arg->is_pointer != 0) != pointer || (unsigned)arg->type != e[PACK_PARAM_DTYPE])
    return wrong_type(p, i, number, arg);
  if (!pointer && dtype_is_int((enum dtype)e[PACK_PARAM_DTYPE]) && !arg_fits(arg))
    return status_set(TILE_INVALID_ARGUMENT,
                      "function `%s`: argument %u (`%s`) is %lld, which does not fit %s",
                      p->function, number, name_of(p, i), (long long)arg->value.integer,
                      dtype_name((enum dtype)arg->type));
  return TILE_OK;
}

// The block is compiled in; the descriptor may leave it out.
static tile_status check_block(const struct params *p, uint32_t i, uint32_t number,
                               const tile_descriptor *d) {
  const uint8_t *e = param_at(p, i);
  bool any = false;
  for (unsigned k = 0; k < d->rank; k++)
    any |= d->block[k] != 0;
  for (unsigned k = 0; k < d->rank && any; k++)
    if (d->block[k] != pack_param_block(e, k))
      return status_set(TILE_INVALID_ARGUMENT,
                        "function `%s`: argument %u (`%s`): the function was compiled for blocks "
                        "of %u elements in dimension %u, not of %u",
                        p->function, number, name_of(p, i), pack_param_block(e, k), k, d->block[k]);
  if (!d->pads_nan == !pack_param_pads_nan(e))
    return TILE_OK;
  return status_set(TILE_INVALID_ARGUMENT,
                    "function `%s`: argument %u (`%s`): the function was compiled for tensor "
                    "descriptors that pad with %s",
                    p->function, number, name_of(p, i),
                    pack_param_pads_nan(e) ? "NaN (`pads_nan`)" : "zero, not with NaN");
}

static tile_status check_descriptor(const struct params *p, uint32_t i, uint32_t number,
                                    const tile_arg *arg) {
  const uint8_t *e = param_at(p, i);
  struct arg_place at = {"function", p->function, number, name_of(p, i)};
  tile_status s = descriptor_arg_check(arg, &at);
  if (s != TILE_OK)
    return s;
  const tile_descriptor *d = arg->value.descriptor;
  if (!pack_param_rank(e) || (unsigned)d->element != e[PACK_PARAM_DTYPE])
    return wrong_type(p, i, number, arg);
  if (d->rank != pack_param_rank(e))
    return status_set(TILE_INVALID_ARGUMENT,
                      "function `%s`: argument %u (`%s`) must be a tensor descriptor with %u "
                      "dimensions, got %u",
                      p->function, number, name_of(p, i), pack_param_rank(e), d->rank);
  return check_block(p, i, number, d);
}

tile_status pack_check_arguments(const struct tile_pack *pack, const char *function, uint32_t first,
                                 uint32_t param_count, const tile_arg *args, size_t count) {
  struct params p = {pack, function, first, param_count};
  uint32_t wanted = arg_count_of(&p), at = 0;
  if (count != wanted)
    return status_set(TILE_INVALID_ARGUMENT, "function `%s` takes %u argument%s, got %zu", function,
                      wanted, wanted == 1 ? "" : "s", count);
  if (count && !args)
    return status_set(TILE_INVALID_ARGUMENT, "function `%s`: `args` is NULL", function);
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *e = param_at(&p, at);
    tile_status s = arg_is_descriptor(&args[i]) ? check_descriptor(&p, at, i + 1, &args[i])
                    : pack_param_rank(e)        ? wrong_type(&p, at, i + 1, &args[i])
                                                : check_plain(&p, at, i + 1, &args[i]);
    if (s != TILE_OK)
      return s;
    at += pack_param_span(e);
  }
  return TILE_OK;
}

uint32_t pack_argument_of(const struct tile_pack *pack, uint32_t first, uint32_t param) {
  struct params p = {pack, NULL, first, param + 1};
  return arg_count_of(&p);
}
