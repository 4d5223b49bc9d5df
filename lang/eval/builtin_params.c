// SPDX-License-Identifier: Apache-2.0
// Reads the parameter lists of builtins.
#include "lang/eval/builtin_params.h"

bool builtin_param_next(struct str *list, struct builtin_param *ret) {
  struct str word = {0};
  while (list->ptr && list->len && !word.len)
    *list = str_split(*list, ' ', &word);
  if (!word.len)
    return false;
  bool is_rest = word.ptr[0] == '*', has_default = word.ptr[word.len - 1] == '=';
  ret->name = (struct str){word.ptr + is_rest, word.len - is_rest - has_default};
  ret->is_rest = is_rest;
  ret->is_optional = is_rest || has_default;
  return true;
}
