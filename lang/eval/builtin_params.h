// SPDX-License-Identifier: Apache-2.0
// The parameters of a builtin, as its row writes them: "x axis= *rest".
#ifndef TILE_LANG_EVAL_BUILTIN_PARAMS_H
#define TILE_LANG_EVAL_BUILTIN_PARAMS_H

#include "base/str.h"

struct builtin_param {
  struct str name;
  bool is_optional, is_rest; // `x=`, `*x`; the rest is optional, too
};

// Takes the first parameter off `list`; false: there is none.
bool builtin_param_next(struct str *list, struct builtin_param *ret);

#endif
