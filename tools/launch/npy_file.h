// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, versions 1.0 to 3.0, little endian, C order. Strict: no objects, no pickle.
#ifndef TILE_TOOLS_NPY_H
#define TILE_TOOLS_NPY_H

#include "tools/launch/arg_spec.h"

#define NPY_MAX_BYTES ((uint64_t)64 << 30)

// False with a diagnostic: E0710 not found or unreadable, E0712 malformed or of the wrong length,
// E0713 well-formed but not supported (order, byte order, type, rank), E0901 too large, E0991.
// `as`: reads a file of uint16 (or two raw bytes, as ml_dtypes writes) as DTYPE_BF16, or one of
// uint8 (or one raw byte) as an 8-bit float. "-" is standard input.
bool npy_read(struct arena *a, struct diag_engine *diag, struct span where, const char *path,
              enum dtype as, struct array *ret);
// bf16 is written as uint16, fp8 as uint8. 0 or an errno value.
int npy_write(const char *path, const struct array *array);

#endif
