// SPDX-License-Identifier: Apache-2.0
// The interface of a parsed file that hides its tree. Does not need MLIR.
#include "lang/unit.h"

#include "base/trace.h"
#include "lang/syntax/kernels.h"

struct lang_unit *lang_unit_read(struct arena *a, struct diag_engine *diag,
                                 const struct source *source) {
  struct trace_slice slice = trace_begin(TRACE_COMPILE, "parse");
  unsigned errors = diag_error_count(diag);
  struct ast_module *tree = ast_read(a, diag, source);
  trace_end(&slice, &(struct trace_detail){.file = source->name, .line = 1});
  if (!tree)
    return NULL;
  struct lang_unit *u = arena_new(a, struct lang_unit);
  bool is_whole = diag_error_count(diag) - errors == tree->readable_errors;
  *u = (struct lang_unit){.arena = a, .tree = tree, .is_whole = is_whole};
  return u;
}

bool lang_unit_is_whole(const struct lang_unit *u) { return u->is_whole; }

const struct source *lang_unit_source(const struct lang_unit *u) { return u->tree->source; }

void lang_unit_print(const struct lang_unit *u, struct strbuf *out) { ast_print(u->tree, out); }

// ---- kernels ----

size_t lang_kernels(const struct lang_unit *u, const char *const **ret_names) {
  *ret_names = u->tree->kernel_names;
  return u->tree->kernel_count;
}

bool lang_kernel_params(struct arena *a, struct diag_engine *diag, const struct lang_unit *u,
                        const char *name, const char **ret_name, struct lang_param **ret_params,
                        size_t *ret_count) {
  const struct ast_function *f = kernels_choose(a, diag, u->tree, name);
  if (!f)
    return false;
  *ret_name = f->name;
  *ret_count = f->param_count;
  return kernel_params(a, diag, u->tree, f, ret_params);
}

struct span lang_kernel_span(const struct lang_unit *u, const char *name) {
  const struct ast_function *f = ast_find_function(u->tree, name);
  return f ? f->name_span : SPAN_NONE;
}
