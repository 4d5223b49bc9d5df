// SPDX-License-Identifier: Apache-2.0
// The tables of functions and methods of host code (lang/host/functions.c, lang/host/methods.c).
#ifndef TILE_LANG_HOST_FUNCTIONS_H
#define TILE_LANG_HOST_FUNCTIONS_H

#include "lang/host/host.h"

// Python's own, found without a prefix: `sorted`.
const struct builtin *host_python(const char *name);
// Of a module, by its last word: `product`, `Config`, `get_device_capability`.
const struct builtin *host_function(const char *name);

// Room for `len` elements that nothing else shares.
void host_reserve(struct emitter *e, struct list *l, size_t len);
// Sorted by `key`, a function or None; stable.
bool host_sort(struct emitter *e, struct tuple items, struct operand key, bool reverse,
               struct span at, struct value *ret);

#endif
