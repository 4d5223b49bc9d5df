// SPDX-License-Identifier: Apache-2.0
// Values of kernel arguments, for the JIT and for packs.
#ifndef TILE_RUNTIME_ARGS_H
#define TILE_RUNTIME_ARGS_H

#include "base/attrs.h"

#include <tile/runtime.h>

// The most values of one argument: those of a tensor descriptor with 5 dimensions.
enum { ARG_MAX_RANK = 5, ARG_MAX_VALUES = 2 * ARG_MAX_RANK };

static inline bool arg_is_none(const tile_arg *arg) { return arg->type == TILE_NONE; }
bool arg_fits(const tile_arg *arg); // for integers: the value is in its type's range
// Stores the value in its own type (None: a null pointer) at the start of *into.
void arg_store(const tile_arg *arg, uint64_t *into);

// ---- tensor descriptors (descriptor_arg.c) ----

static inline bool arg_is_descriptor(const tile_arg *arg) { return arg->type == TILE_DESCRIPTOR; }
// Whose argument it is, for messages: "kernel `f`: argument 2 (`a`)", counted from 1.
struct arg_place {
  const char *kind, *owner; // "kernel", "function"
  size_t number;
  const char *param;
};
// TILE_INVALID_ARGUMENT unless the descriptor is as runtime.h says. `arg` is one.
tile_status descriptor_arg_check(const tile_arg *arg, const struct arg_place *at);
// The largest of these that divides size `dim`: 16, the elements of 16 bytes (last dimension), 1.
uint32_t descriptor_size_divisor(const tile_descriptor *d, unsigned dim);
// The number of run-time parameters that the arguments are.
size_t args_flat_count(const tile_arg *args, size_t count);
// What the name of the parameter is followed by for its value number `part`: "", ".shape[0]", ...,
// ".strides[0]", ...
void arg_part_suffix(const tile_arg *arg, size_t part, char ret[32]);
// The memory of a pointer or a tensor descriptor; NULL: none.
static inline void *arg_memory(const tile_arg *arg) {
  return arg_is_descriptor(arg) ? arg->value.descriptor->base
         : arg->is_pointer      ? arg->value.pointer
                                : NULL;
}
// The arguments with each descriptor of rank n replaced by 2 * n: the base, n sizes (i32), n - 1
// strides (i64). They are `args` itself if there is none, else written to `flat`, which has room
// for args_flat_count. The descriptors were checked.
const tile_arg *args_flatten(const tile_arg *args, size_t count, tile_arg *flat);

#endif
