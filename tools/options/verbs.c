// SPDX-License-Identifier: Apache-2.0
// The table of verbs.
#include "tools/options/option_values.h"

const struct verb verb_table[] = {
#define VERB(name, mode, argument, operands, groups, summary, examples)                            \
  {name, MODE_##mode, argument, operands, groups, summary, examples},
#include "tools/options/verbs.def"
#undef VERB
};
const size_t verb_count = COUNT_OF(verb_table);

const struct verb *verb_find(struct str name) {
  for (size_t i = 0; i < verb_count; i++)
    if (str_is(name, verb_table[i].name))
      return &verb_table[i];
  return NULL;
}

const char *verb_nearest(struct str name) {
  const char *names[COUNT_OF(verb_table)];
  for (size_t i = 0; i < verb_count; i++)
    names[i] = verb_table[i].name;
  return str_nearest(name, names, verb_count);
}
