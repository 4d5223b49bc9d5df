// SPDX-License-Identifier: Apache-2.0
// Finds and parses functions of the standard library.
#include "lang/emit/std_module.h"

#include "lang/std/std_table.h"

#include <stdlib.h>

static int compare_names(const void *name, const void *row) {
  return strcmp(name, ((const struct std_row *)row)->name);
}

static struct ast_module *parse_row(struct emitter *e, const struct std_row *row) {
  struct str text = {row->text, row->len};
  return ast_read(e->a, e->diag, source_create(e->a, row->file, text));
}

const struct ast_function *std_function(struct emitter *e, const char *name,
                                        const struct ast_module **ret_module) {
  const struct std_row *row =
      bsearch(name, std_table, std_table_len, sizeof *std_table, compare_names);
  if (!row)
    return NULL;
  struct ast_module *m = ptrmap_get(&e->std_modules, row);
  if (!m) {
    m = parse_row(e, row);
    if (!m)
      return NULL;
    ptrmap_put(e->a, &e->std_modules, row, m);
    ptrmap_put(e->a, &e->std_modules, m, m); // for std_owns
  }
  *ret_module = m;
  return ast_find_function(m, name);
}

bool std_owns(const struct emitter *e, const struct ast_module *m) {
  return ptrmap_get(&e->std_modules, m) != NULL;
}

bool std_is_exact(const struct ast_module *m) {
  return strncmp(m->source->name, "std/math", 8) == 0 ||
         strncmp(m->source->name, "std/libdevice", 13) == 0;
}

bool std_value(struct emitter *e, const char *name, struct value *ret) {
  const struct ast_module *m;
  const struct ast_function *f = std_function(e, name, &m);
  if (f)
    *ret = emit_function_value(e, f, m, NULL);
  return f != NULL;
}

struct value emit_std(struct emitter *e, const char *name, size_t n, const struct value *args,
                      struct span at) {
  struct value f;
  if (!std_value(e, name, &f)) {
    emit_error(e, at, E0502, "the standard library has no `%s`", name);
    return VALUE_ERROR;
  }
  struct operand *operands = arena_array(e->a, struct operand, n ? n : 1);
  for (size_t i = 0; i < n; i++)
    operands[i] = (struct operand){args[i], at};
  return emit_inline(e, f.func, operands, NULL, n, at);
}
