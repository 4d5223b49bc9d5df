// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, versions 1.0 to 3.0, little endian, C order. Strict: no objects, no pickle.
#ifndef TILE_TOOLS_NPY_H
#define TILE_TOOLS_NPY_H

#include "tools/arg_spec.h"

// False with a diagnostic (E0730 not found or unreadable, E0731 not a .npy file, E0732 malformed
// header, E0733 unsupported type or order, E0734 size mismatch). `as`: see arg_spec_parse.
bool npy_read(struct arena *a, struct diag_engine *diag, struct span where, const char *path,
              enum dtype as, struct array *ret);
// bf16 is written as uint16, fp8 as uint8. 0 or an errno value.
int npy_write(const char *path, const struct array *array);

#endif
