// SPDX-License-Identifier: Apache-2.0
// @triton.autotune and @triton.heuristics of a kernel.
#include "lang/tuning/reader.h"

static const struct ast_function *kernel_of(const struct ast_module *m, const char *name) {
  if (!name && m->kernel_count == 1)
    name = m->kernel_names[0];
  return name ? ast_find_function(m, name) : NULL;
}

bool lang_is_tuned(const struct lang_unit *u, const char *kernel, bool *ret_heuristics) {
  const struct ast_function *f = kernel_of(u->tree, kernel);
  bool found = false;
  *ret_heuristics = false;
  for (size_t i = 0; f && i < f->decorators.len; i++) {
    bool is_heuristic = reader_is_decorator(f->decorators.at[i], "heuristics");
    *ret_heuristics = *ret_heuristics || is_heuristic;
    found = found || is_heuristic || reader_is_decorator(f->decorators.at[i], "autotune");
  }
  return found;
}

bool lang_tuning_of(struct arena *a, struct diag_engine *diag, const struct lang_unit *u,
                    const char *kernel, struct lang_tuning *ret) {
  *ret = (struct lang_tuning){.span = SPAN_NONE};
  const struct ast_function *f = kernel_of(u->tree, kernel);
  if (!f)
    return true;
  struct lang_tuning_source *s = arena_new(a, struct lang_tuning_source);
  *s = (struct lang_tuning_source){u, f};
  ret->source = s;
  struct reader r;
  reader_open(&r, a, diag, s, E0460, "the list of configurations");
  return reader_read(&r) && (r.autotune.v.kind == VALUE_ABSENT || configs_read(&r, ret)) &&
         heuristics_read(&r, ret);
}
