// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the command line: verbs, checks, messages about options.
#ifndef TILE_TOOLS_OPTION_VALUES_H
#define TILE_TOOLS_OPTION_VALUES_H

#include "tools/options/option_set.h"

// ---- option_values.c ----
// Records an error, with a help line unless `help` is NULL. Always false.
bool option_usage(struct tool *t, struct span where, enum diag_code code, const char *what,
                  const char *help);
const char *option_copy(struct tool *t, struct str value);
void option_take_file(struct tool *t, const char *name, struct span where);

// ---- option_table.c ----
// The option of a word; *ret_value is the text after `=`, or directly after -D, -o; ptr NULL if
// none.
bool option_find(struct str word, enum option_id *ret, struct str *ret_value);

// An option whose spelling is near, for "did you mean"; NULL if none is.
const char *option_nearest(struct str name);

// ---- verbs.c ----
// A row of verbs.def.
struct verb {
  const char *name;
  enum tool_mode mode;
  const char *argument, *operands, *groups, *summary, *examples;
};
extern const struct verb verb_table[];
extern const size_t verb_count;
const struct verb *verb_find(struct str name);
// A verb whose name is near, for "did you mean"; NULL if none is.
const char *verb_nearest(struct str name);

// ---- response_file.c ----
// Replaces each word `@FILE` that is not an option's value by the words of the file. False with a
// diagnostic. The words live on t->arena.
bool response_files_expand(struct tool *t, int *argc, char ***argv);

// ---- options_check.c ----
// Checks the options together; decides the mode of --graph.
bool options_check(struct tool *t);

#endif
