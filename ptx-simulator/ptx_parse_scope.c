// SPDX-License-Identifier: Apache-2.0
// Registers and variables by name, from the innermost scope outwards.
#include "ptx-simulator/ptx_parse.h"

// "%r12" is the register 12 of "%r<20>".
static const struct binding *find_numbered(const struct scope *s, struct str name,
                                           unsigned *ret_reg) {
  size_t digits = 0;
  while (digits < name.len && digits < 8 && name.ptr[name.len - 1 - digits] >= '0' &&
         name.ptr[name.len - 1 - digits] <= '9')
    digits++;
  char key[128];
  for (size_t n = 1; n <= digits; n++) {
    size_t prefix = name.len - n;
    const char *number = name.ptr + prefix;
    if (prefix + 1 > sizeof key || (number[0] == '0' && n > 1))
      continue;
    memcpy(key, name.ptr, prefix);
    key[prefix] = '<';
    const struct binding *b = map_get(&s->names, (struct str){key, prefix + 1});
    unsigned index = 0;
    for (size_t i = 0; i < n; i++)
      index = 10 * index + (unsigned)(number[i] - '0');
    if (b && index < b->count) {
      *ret_reg = b->reg + index;
      return b;
    }
  }
  return NULL;
}

const struct binding *find_binding(const struct parser *p, struct str name, unsigned *ret_reg) {
  for (const struct scope *s = p->scope; s; s = s->parent) {
    const struct binding *b = map_get(&s->names, name);
    if (b) {
      *ret_reg = b->reg;
      return b;
    }
    b = find_numbered(s, name, ret_reg);
    if (b)
      return b;
  }
  return NULL;
}

void bind_variable(struct parser *p, struct variable *v) {
  struct binding *b = arena_new(p->arena, struct binding);
  b->variable = v;
  map_put(p->arena, &p->scope->names, str_from(v->name), b);
}
