// SPDX-License-Identifier: Apache-2.0
// The text of the standard library (lang/std/*.tile), embedded at build time.
#ifndef TILE_LANG_STD_H
#define TILE_LANG_STD_H

#include "base/str.h"

extern const char lang_std_math_f32[];
extern const size_t lang_std_math_f32_len;
extern const char lang_std_math_f64[];
extern const size_t lang_std_math_f64_len;

#endif
