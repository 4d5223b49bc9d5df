// SPDX-License-Identifier: Apache-2.0
// CPU code from object files in memory, through LLVM's ORC JIT. Each object has its own symbol
// space, so that kernels of one name do not clash, and sees the routines of base/cpu_abi.h and a
// fixed list of C library functions, not the whole process.
#ifndef TILE_JIT_ORC_H
#define TILE_JIT_ORC_H

#include "base/cpu_abi.h"
#include "base/str.h"

#include <tile/runtime.h>

struct orc;

tile_status orc_create(struct orc **ret);
// Frees the code of all objects. Accepts NULL.
void orc_destroy(struct orc *o);

// Links the object and finds `symbol`; the bytes are copied. Thread-safe.
tile_status orc_load(struct orc *o, struct str object, const char *symbol, cpu_kernel_fn *ret);

// What CPU code generation depends on besides the target's name: processor and features, allocated
// on the arena.
const char *orc_cpu_description(struct arena *a);

#endif
