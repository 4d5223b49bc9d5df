// SPDX-License-Identifier: Apache-2.0
// Shared by the files of lang/tuning: one evaluation of a kernel's decorators. Only the tree is
// kept between evaluations: each evaluates the decorators again, so that callers may use any arena
// in any thread.
#ifndef TILE_LANG_TUNING_READER_H
#define TILE_LANG_TUNING_READER_H

#include "lang/eval/python.h"
#include "lang/tuning/tuning.h"
#include "lang/unit.h"

struct lang_tuning_source {
  const struct lang_unit *unit;
  const struct ast_function *kernel;
};

// One evaluation.
struct reader {
  struct eval e;
  struct purpose purpose;
  struct lang_options options;
  struct lang_imports imports;
  struct frame frame;
  const struct ast_function *kernel;
  struct operand autotune; // VALUE_ABSENT: none
  VEC(struct operand) heuristics;
};

// ---- reader.c ----
void reader_open(struct reader *r, struct arena *a, struct diag_engine *diag,
                 const struct lang_tuning_source *s, enum diag_code code, const char *what);
// @heuristics may be given several times; of several @autotune the outermost counts.
bool reader_read(struct reader *r);
bool reader_is_decorator(const struct expr *e, const char *name);
struct value reader_autotune(const struct reader *r, enum host_autotune_field field);
bool reader_has_param(const struct ast_function *f, const char *name);
// Reports it; false. An edit replaces the text at `at` if that is the name.
bool reader_unknown_param(struct reader *r, const char *name, struct span at);
// Adds which parameter may be meant; with an edit at `word`, unless that is SPAN_NONE.
void reader_help_param(struct reader *r, struct diag *d, const char *name, struct span word);
// The first place of the word `name` within `at`; `otherwise` if the text does not have it.
struct span reader_word(struct span at, struct span otherwise, const char *name);
// The value in the syntax of -D; false, and reported, if it has none.
bool reader_text(struct eval *e, struct value v, const char *name, struct span at,
                 const char **ret);

// ---- configs.c, heuristics.c ----
bool configs_read(struct reader *r, struct lang_tuning *ret);
bool heuristics_read(struct reader *r, struct lang_tuning *ret);
// Every parameter by name: given, its default, or unknown.
struct value reader_arguments(struct reader *r, const struct lang_known *known, size_t count);

#endif
