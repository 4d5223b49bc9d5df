// SPDX-License-Identifier: Apache-2.0
// See nvtx.h.
#include "base/nvtx.h"

#include <dlfcn.h>
#include <string.h>

static int (*range_push)(const char *name);
static int (*range_pop)(void);

bool nvtx_open(const char *path) {
  void *library = dlopen(path ? path : "libnvToolsExt.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return false;
  void *push = dlsym(library, "nvtxRangePushA"), *pop = dlsym(library, "nvtxRangePop");
  memcpy(&range_push, &push, sizeof push); // a function, as POSIX has it
  memcpy(&range_pop, &pop, sizeof pop);
  return range_push && range_pop;
}

void nvtx_push(const char *name) { range_push(name); }
void nvtx_pop(void) { range_pop(); }
