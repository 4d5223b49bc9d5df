// SPDX-License-Identifier: Apache-2.0
// UTF-8: strict decoding, encoding, and how many terminal cells a code point takes.
#ifndef TILE_BASE_UTF8_H
#define TILE_BASE_UTF8_H

#include "base/attrs.h"

// Length in bytes (1 to 4) of the well-formed sequence at `s`, its code point in *ret; 0 when there
// is none (also for overlong forms, surrogates and values above U+10FFFF).
size_t utf8_decode(const char *s, size_t n, uint32_t *ret);
// Writes up to 4 bytes, returns how many.
size_t utf8_encode(uint32_t code, char *to);
// 0 for combining marks, 2 for wide characters, otherwise 1.
unsigned utf8_width(uint32_t code);

#endif
