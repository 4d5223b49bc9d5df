// SPDX-License-Identifier: Apache-2.0
// The table of builtins.
#include "lang/builtins/builtins.h"

const struct builtin builtin_table[] = {
#define BUILTIN(name, params, flags, fn, tag) {name, params, flags, fn, tag},
#define MATH(name, params, flags) {name, params, (flags) | BUILTIN_MATH, builtin_math, MATH_FN_STD},
#define STD(name, flags) {name, NULL, flags, NULL, 0},
#include "lang/builtins/builtins.def"
#undef BUILTIN
#undef MATH
#undef STD
};

const size_t builtin_table_len = COUNT_OF(builtin_table);
