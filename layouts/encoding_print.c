// SPDX-License-Identifier: Apache-2.0
// Encoding to text: fields in the order in which MLIR prints a dictionary.
#include "layouts/encoding_fields.h"

static void print_list(unsigned n, const uint32_t *list, struct strbuf *out) {
  strbuf_putc(out, '[');
  for (unsigned i = 0; i < n; i++)
    strbuf_printf(out, "%s%u", i ? ", " : "", list[i]);
  strbuf_putc(out, ']');
}

static void print_bases(const struct linear_layout *l, enum ll_in in, struct strbuf *out) {
  int at = ll_find_in(l, in);
  strbuf_putc(out, '[');
  for (unsigned b = 0; at >= 0 && b < l->in_bits[at]; b++) {
    strbuf_puts(out, b ? ", " : "");
    print_list(l->out_count, l->basis[at][b], out);
  }
  strbuf_putc(out, ']');
}

static void print_field(const struct encoding *e, const struct encoding_field *f,
                        struct strbuf *out) {
  const void *at = (const char *)e + f->offset;
  switch (f->type) {
  case FIELD_NUMBER: strbuf_printf(out, "%u", *(const uint32_t *)at); break;
  case FIELD_BOOL: strbuf_puts(out, *(const bool *)at ? "true" : "false"); break;
  case FIELD_LIST: print_list(e->rank, at, out); break;
  case FIELD_INSTR: print_list(e->mma.version == 3 ? 3 : 2, at, out); break;
  case FIELD_BASES: print_bases(&e->linear, f->in, out); break;
  case FIELD_PARENT: encoding_print(*(const struct encoding *const *)at, out); break;
  }
}

void encoding_print(const struct encoding *e, struct strbuf *out) {
  strbuf_printf(out, "#tilegpu.%s<{", encoding_names[e->kind]);
  const char *separator = "";
  for (size_t i = 0; i < COUNT_OF(encoding_fields); i++) {
    const struct encoding_field *f = &encoding_fields[i];
    if (f->kind != e->kind)
      continue;
    strbuf_printf(out, "%s%s = ", separator, f->name);
    print_field(e, f, out);
    separator = ", ";
  }
  strbuf_puts(out, "}>");
}
