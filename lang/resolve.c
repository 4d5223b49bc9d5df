// SPDX-License-Identifier: Apache-2.0
// Decides which definitions of a file exist: the conditions at module level are evaluated from the
// target, -D and the imports.
#include "lang/builtins/builtins.h"
#include "lang/eval/import.h"
#include "lang/eval/outer.h"
#include "lang/eval/python.h"
#include "lang/syntax/kernels.h"
#include "lang/unit.h"

bool lang_is_constant(struct arena *a, struct str text) {
  struct value ignored;
  return const_parse(a, text, &ignored);
}

// ---- imports ----

struct lang_imports lang_unit_imports(struct arena *a, const struct lang_unit *u) {
  struct lang_imports all = u->imports;
  all.dependencies.at = NULL;
  all.dependencies.len = all.dependencies.cap = 0;
  for (size_t i = 0; i < u->imports.dependencies.len; i++)
    vec_push(a, &all.dependencies, u->imports.dependencies.at[i]);
  return all;
}

void lang_import_files(struct arena *a, const struct lang_unit *u, struct lang_imports *imports) {
  import_collect(a, u->tree, imports);
}

const char *lang_import_path(struct arena *a, const struct lang_unit *u,
                             const struct lang_imports *imports, const char *module) {
  struct lang_imports own = {.folders = imports->folders,
                             .folder_count = imports->folder_count,
                             .is_detached = imports->is_detached};
  const struct lang_options options = {.imports = &own};
  struct eval e = {.a = a,
                   .diag = diag_engine_create(a),
                   .on = &python_dialect,
                   .options = &options,
                   .module = u->tree};
  const struct file_module *f = import_find(&e, u->tree, module, SPAN_NONE);
  return f && f->ast ? f->ast->source->name : NULL;
}

// ---- which definitions there are ----

static bool is_parameter(const struct ast_module *m, const char *name) {
  for (size_t i = 0; i < m->function_count; i++) {
    const struct ast_function *f = m->functions[i];
    for (size_t k = 0; f->is_jit && k < f->param_count; k++)
      if (strcmp(f->params[k].name, name) == 0)
        return true;
  }
  return false;
}

static bool is_constant(const struct ast_module *m, const char *name) {
  for (size_t i = 0; i < m->constant_count; i++)
    if (strcmp(m->constants[i].name, name) == 0)
      return true;
  return false;
}

static bool is_override(const struct ast_module *m, const struct lang_binding *b) {
  return b->kind == BIND_CONSTANT && b->text && !is_parameter(m, b->name) &&
         is_constant(m, b->name);
}

static void take_overrides(struct lang_unit *u, const struct lang_outer *o) {
  struct ast_override *all = arena_array(u->arena, struct ast_override, o->binding_count + 1);
  size_t n = 0;
  for (size_t i = 0; i < o->binding_count; i++)
    if (is_override(u->tree, &o->bindings[i]))
      all[n++] = (struct ast_override){o->bindings[i].name, o->bindings[i].text};
  u->tree->overrides = all;
  u->tree->override_count = n;
}

void lang_unit_resolve(struct lang_unit *u, const struct lang_outer *o) {
  take_overrides(u, o);
  u->is_resolved = true;
  u->target = o->target;
  u->reads_files = o->imports != NULL;
  u->imports = (struct lang_imports){0};
  if (o->imports)
    u->imports = (struct lang_imports){.folders = o->imports->folders,
                                       .folder_count = o->imports->folder_count,
                                       .is_detached = o->imports->is_detached};
  const struct lang_options options = {
      .target = o->target, .num_warps = 4, .imports = o->imports ? &u->imports : NULL};
  struct eval e = {.a = u->arena,
                   .diag = diag_engine_create(u->arena),
                   .on = &python_dialect,
                   .outer_on = &python_dialect,
                   .options = &options,
                   .module = u->tree,
                   .rows = builtin_table,
                   .row_count = builtin_table_len};
  outer_resolve(&e, u->tree);
  kernels_find(u->arena, u->tree);
}

static bool same_text(const char *x, const char *y) {
  return x == y || (x && y && strcmp(x, y) == 0);
}

static bool same_folders(const struct lang_unit *u, const struct lang_imports *imports) {
  if (u->reads_files != (imports != NULL))
    return false;
  if (!imports)
    return true;
  bool same = u->imports.is_detached == imports->is_detached &&
              u->imports.folder_count == imports->folder_count;
  for (size_t i = 0; same && i < imports->folder_count; i++)
    same = strcmp(u->imports.folders[i], imports->folders[i]) == 0;
  return same;
}

bool lang_unit_serves(const struct lang_unit *u, const struct lang_outer *o) {
  size_t n = 0;
  bool same = u->is_resolved && same_text(u->target, o->target) && same_folders(u, o->imports);
  for (size_t i = 0; same && i < o->binding_count; i++) {
    if (!is_override(u->tree, &o->bindings[i]))
      continue;
    same = n < u->tree->override_count &&
           strcmp(u->tree->overrides[n].name, o->bindings[i].name) == 0 &&
           strcmp(u->tree->overrides[n].text, o->bindings[i].text) == 0;
    n++;
  }
  return same && n == u->tree->override_count;
}

bool lang_unit_overrides(const struct lang_unit *u, const char *name) {
  for (size_t i = 0; i < u->tree->override_count; i++)
    if (strcmp(u->tree->overrides[i].name, name) == 0)
      return true;
  return false;
}
