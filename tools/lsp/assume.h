// SPDX-License-Identifier: Apache-2.0
// Types and values for parameters of which the source says nothing, as of most kernels written for
// Python: pointers are those that addresses are computed from, and compile-time parameters get a
// value that suits their use. Heuristics: an editor shows what was assumed.
#ifndef TILE_TOOLS_LSP_ASSUME_H
#define TILE_TOOLS_LSP_ASSUME_H

#include "lang/frontend.h"

struct assumptions {
  struct lang_binding *bindings; // for parameters without a type or a value
  size_t count;
  uint32_t num_warps, num_stages; // of the decorators; 0: none
  const char *text;               // "x_ptr: *f32, n: i32"; NULL: nothing was assumed
};
// All on `a`. False, with diagnostics: the kernel's parameters are wrong.
bool assume_bindings(struct arena *a, struct diag_engine *diag, const struct lang_unit *u,
                     const char *kernel, struct assumptions *ret);

#endif
