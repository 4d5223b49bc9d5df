// SPDX-License-Identifier: Apache-2.0
// The header of NumPy's .npy files, versions 1.0 to 3.0: the magic text, a version, the length of
// the header text, the text; elements follow. Strict: little endian, C order, no objects, no
// pickle.
#ifndef TILE_BASE_NPY_H
#define TILE_BASE_NPY_H

#include "base/array.h"

#define NPY_MAX_HEADER 65536

// An error: the file is malformed, or well-formed but not supported, then possibly with help.
struct npy_fault {
  bool is_unsupported;
  const char *why, *help; // static
};

// The range of the header's text, from the first 12 bytes of a file (10 of a short one) or more. It
// may end after the given bytes. False with a fault.
bool npy_find_header(struct str file, struct str *ret_header, struct npy_fault *ret_fault);

// Type, rank and shape; `count` is 1 and `data` NULL, since the caller checks the product of the
// shape. `as`: if DTYPE_BF16, a file of uint16 (or two raw bytes) has that type; if an 8-bit float,
// one of uint8 (or one raw byte). False with a fault.
bool npy_parse_header(struct str header, enum dtype as, struct array *ret,
                      struct npy_fault *ret_fault);

#endif
