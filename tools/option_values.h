// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the command line: the table of options and an option as given.
#ifndef TILE_TOOLS_OPTION_VALUES_H
#define TILE_TOOLS_OPTION_VALUES_H

#include "tools/tool.h"

enum option_id {
#define OPTION(id, spelling, argument, group, help) OPTION_##id,
#include "tools/options.def"
#undef OPTION
  OPTION_COUNT
};

struct option {
  const char *spelling, *argument, *group, *help;
};
extern const struct option option_table[];

// An option as given on the command line.
struct given {
  enum option_id id;
  struct str value;
  struct span where; // of the value, or of the option itself
};

// ---- option_values.c ----
// Records an error, with a help line unless `help` is NULL. Always false.
bool option_usage(struct tool *t, struct span where, enum diag_code code, const char *what,
                  const char *help);
const char *option_copy(struct tool *t, struct str value);
void option_take_file(struct tool *t, const char *name, struct span where);

// Options whose value is checked. False with a diagnostic.
bool option_apply_assignment(struct tool *t, const struct given *g);
bool option_apply_number(struct tool *t, const struct given *g);
bool option_apply_real(struct tool *t, const struct given *g);
bool option_apply_choice(struct tool *t, const struct given *g);
bool option_apply_passes(struct tool *t, const struct given *g);
bool option_apply_warp_specialize(struct tool *t, const struct given *g);
bool option_apply_target(struct tool *t, const struct given *g);
bool option_apply_effort(struct tool *t, const struct given *g);
bool option_apply_seed(struct tool *t, const struct given *g);

// ---- option_apply.c ----
bool option_apply(struct tool *t, const struct given *g); // false with a diagnostic

// ---- options_check.c ----
// Checks the options together; decides the mode of --graph.
bool options_check(struct tool *t);

#endif
