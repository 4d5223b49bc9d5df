// SPDX-License-Identifier: Apache-2.0
// Help for names that are not of the language: those that it has under `tl`, and those of
// habits.def.
#include "lang/eval/eval.h"

static const struct habit {
  const char *name, *replacement, *help;
} habits[] = {
#define HABIT(name, replacement, help) {name, replacement, help},
#include "lang/eval/habits.def"
#undef HABIT
};

bool habit_help(struct diag *d, const char *name, const char *spelled, struct span at) {
  if (spelled) {
    diag_help(d, "write `%s`", spelled);
    diag_fixit(d, at, spelled);
    return true;
  }
  for (size_t i = 0; i < COUNT_OF(habits); i++) {
    if (strcmp(habits[i].name, name) != 0)
      continue;
    diag_help(d, "%s", habits[i].help);
    if (habits[i].replacement)
      diag_fixit(d, at, habits[i].replacement);
    return true;
  }
  return false;
}

static const struct habit methods[] = {
#define METHOD(name, replacement, help) {name, replacement, help},
#include "lang/eval/habit_methods.def"
#undef METHOD
};

bool habit_method_help(struct diag *d, const char *name, struct span at) {
  for (size_t i = 0; i < COUNT_OF(methods); i++) {
    if (strcmp(methods[i].name, name) != 0)
      continue;
    diag_help(d, "%s", methods[i].help);
    if (methods[i].replacement)
      diag_fixit(d, at, methods[i].replacement);
    return true;
  }
  return false;
}
