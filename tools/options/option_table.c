// SPDX-License-Identifier: Apache-2.0
// The table of options, and the option of a word.
#include "tools/options/option_values.h"

const struct option option_table[] = {
#define OPTION(id, spelling, argument, group, setter, help, details)                               \
  {spelling, argument, group, setter, help, details},
#include "tools/options/options.def"
#undef OPTION
};

static const char *const spellings[] = {
#define OPTION(id, spelling, argument, group, setter, help, details) spelling,
#include "tools/options/options.def"
#undef OPTION
};

bool option_find(struct str word, enum option_id *ret, struct str *ret_value) {
  struct str head, tail = str_split(word, '=', &head);
  for (int i = 0; i < OPTION_COUNT; i++) {
    struct str s = str_from(option_table[i].spelling);
    bool is_short = s.len == 2;
    *ret = (enum option_id)i;
    if (is_short && option_table[i].argument && word.len > 2 && str_starts(word, s.ptr)) {
      *ret_value = (struct str){word.ptr + 2, word.len - 2};
      return true;
    }
    if (str_eq(is_short ? word : head, s)) {
      *ret_value = is_short ? (struct str){0} : tail;
      return true;
    }
  }
  return false;
}

const char *option_nearest(struct str name) {
  return str_nearest(name, spellings, COUNT_OF(spellings));
}
