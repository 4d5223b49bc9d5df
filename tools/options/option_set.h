// SPDX-License-Identifier: Apache-2.0
// How options are stored: a row of options.def names one of these setters and the fields of `struct
// options` that it writes. Setters return false after recording a diagnostic.
#ifndef TILE_TOOLS_OPTION_SET_H
#define TILE_TOOLS_OPTION_SET_H

#include "tools/tool.h"

#include <stddef.h>

struct given;

// `field`, `at` are offsets in `struct options`; `least`, `most` bound a number.
struct option {
  const char *spelling, *argument, *group;
  bool (*set)(struct tool *t, const struct given *g);
  size_t field, at;
  uint64_t least, most;
  const char *help, *details;
};
extern const struct option option_table[];

enum option_id {
#define OPTION(id, spelling, argument, group, setter, help, details) OPTION_##id,
#include "tools/options/options.def"
#undef OPTION
  OPTION_COUNT
};

// An option as given on the command line.
struct given {
  enum option_id id;
  struct str value;
  struct span where; // of the value, or of the option itself
};

// ---- the setters by name, as the rows write them ----
#define AT(field) offsetof(struct options, field)
#define MODE(id) option_set_mode, MODE_##id, 0, 0, 0
#define FLAG(field) option_set_flag, AT(field), SIZE_MAX, 0, 0
#define FLAG_AT(field, at) option_set_flag, AT(field), AT(at), 0, 0
#define TEXT(field) option_set_text, AT(field), SIZE_MAX, 0, 0
#define TEXT_AT(field, at) option_set_text, AT(field), AT(at), 0, 0
#define TEXTS(field) option_set_texts, AT(field), SIZE_MAX, 0, 0
#define WORD(field) option_set_word, AT(field), SIZE_MAX, 0, 0
#define WORDS(field) option_set_words, AT(field), SIZE_MAX, 0, 0
#define NUMBER(field, least, most) option_set_number, AT(field), SIZE_MAX, least, most // uint32_t
#define POWER_OF_TWO(field, most) option_set_power_of_two, AT(field), SIZE_MAX, 1, most
#define COUNT(field, most) option_set_count, AT(field), SIZE_MAX, 1, most // uint64_t
#define REAL(field) option_set_real, AT(field), SIZE_MAX, 0, 0
#define REAL_GIVEN(field, given) option_set_real, AT(field), AT(given), 0, 0
#define SET(what) option_set_##what, 0, SIZE_MAX, 0, 0

// ---- option_set.c: by kind of field ----
bool option_set_mode(struct tool *t, const struct given *g);
bool option_set_flag(struct tool *t, const struct given *g); // `at`: its location
bool option_set_text(struct tool *t, const struct given *g); // `at`: its location
bool option_set_texts(struct tool *t, const struct given *g);
bool option_set_word(struct tool *t, const struct given *g);
bool option_set_words(struct tool *t, const struct given *g);
bool option_set_number(struct tool *t, const struct given *g);
bool option_set_power_of_two(struct tool *t, const struct given *g);
bool option_set_count(struct tool *t, const struct given *g);
bool option_set_real(struct tool *t, const struct given *g); // `at`: a flag that it was given

// ---- option_values.c: those with rules of their own ----
bool option_set_graph(struct tool *t, const struct given *g);
bool option_set_kernel(struct tool *t, const struct given *g);
bool option_set_target(struct tool *t, const struct given *g);
bool option_set_assignment(struct tool *t, const struct given *g);
bool option_set_signature(struct tool *t, const struct given *g);
bool option_set_emit(struct tool *t, const struct given *g);
bool option_set_warp_specialize(struct tool *t, const struct given *g);
bool option_set_grid(struct tool *t, const struct given *g);
bool option_set_effort(struct tool *t, const struct given *g);
bool option_set_seed(struct tool *t, const struct given *g);
bool option_set_passes(struct tool *t, const struct given *g);
bool option_set_diagnostics(struct tool *t, const struct given *g);
bool option_set_color(struct tool *t, const struct given *g);
bool option_set_help(struct tool *t, const struct given *g);

#endif
