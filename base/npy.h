// SPDX-License-Identifier: Apache-2.0
// The front of NumPy's .npy files, versions 1.0 to 3.0: the magic text, a version, the length of a
// header, the header; elements follow. Strict: little endian, C order, no objects, no pickle.
#ifndef TILE_BASE_NPY_H
#define TILE_BASE_NPY_H

#include "base/array.h"

#define NPY_MAX_HEADER 65536

// What is wrong: malformed, or well-formed but not supported, then perhaps with what helps.
struct npy_fault {
  bool is_unsupported;
  const char *why, *help; // static
};

// Where the header's text is, from the first 12 bytes of a file (10 of a short one) or more of it.
// It may end behind what was given. False with a fault.
bool npy_find_header(struct str file, struct str *ret_header, struct npy_fault *ret_fault);

// Type, rank and shape; `count` is 1 and `data` NULL, as the product of the shape is the caller's
// to check. `as`: a file of uint16 (or two raw bytes) is taken as DTYPE_BF16 when that is asked
// for, one of uint8 (or one raw byte) as an 8-bit float. False with a fault.
bool npy_parse_header(struct str header, enum dtype as, struct array *ret,
                      struct npy_fault *ret_fault);

#endif
