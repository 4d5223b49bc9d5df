// SPDX-License-Identifier: Apache-2.0
// Functions as values; finds and parses those of the standard library.
#include "lang/eval/std_module.h"

#include "lang/std/std_table.h"

static struct ast_module *parse_row(struct eval *e, const struct std_row *row) {
  struct str text = {row->text, row->len};
  return ast_read(e->a, e->diag, source_create(e->a, row->file, text));
}

const struct ast_function *std_function(struct eval *e, const char *name,
                                        const struct ast_module **ret_module) {
  const struct std_row *row = std_row_find(name);
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

bool std_owns(const struct eval *e, const struct ast_module *m) {
  return ptrmap_get(&e->std_modules, m) != NULL;
}

bool std_is_exact(const struct ast_module *m) {
  return strncmp(m->source->name, "std/math", 8) == 0 ||
         strncmp(m->source->name, "std/libdevice", 13) == 0;
}

struct value function_value(struct eval *e, const struct ast_function *f,
                            const struct ast_module *m, struct frame *closure) {
  struct function *fn = ptrmap_get(&e->functions, f);
  if (!fn || fn->closure != closure) {
    fn = arena_new(e->a, struct function);
    *fn = (struct function){f, m, closure, std_owns(e, m)};
    ptrmap_put(e->a, &e->functions, f, fn);
  }
  return (struct value){.kind = VALUE_FUNC, .func = fn};
}

bool std_value(struct eval *e, const char *name, struct value *ret) {
  const struct ast_module *m;
  const struct ast_function *f = std_function(e, name, &m);
  if (f)
    *ret = function_value(e, f, m, NULL);
  return f != NULL;
}
