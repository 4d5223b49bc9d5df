// SPDX-License-Identifier: Apache-2.0
// Names, types, sizes and parameter lists as C, for all files that write C programs.
#include "graph/write/write_c_internal.h"

#include <inttypes.h>

const char *program_function_name(const struct program *p, uint32_t kernel) {
  return arena_printf(p->arena, "%sk%" PRIu32 "_%s", p->prefix ? p->prefix : "", kernel,
                      p->kernels.at[kernel]->name);
}

const char *c_type_id(enum dtype t) {
  static const char *const ids[] = {
#define X(id, name, language_name, bits, kind) #id + sizeof "DTYPE_" - 1,
      DTYPES(X)
#undef X
  };
  return ids[t];
}

// Prints an expression of the graph's symbols in C. It has no negative parts, since they are sizes,
// so C's division is floor division.
void c_print_size(const struct c_writer *w, const struct expr *e) {
  static const char *const between[] = {
      [EXPR_ADD] = " + ", [EXPR_MUL] = " * ", [EXPR_FLOORDIV] = " / ", [EXPR_MOD] = " % "};
  if (e->kind == EXPR_CONST) {
    strbuf_printf(w->out, "INT64_C(%" PRId64 ")", e->value);
  } else if (e->kind == EXPR_SYMBOL) {
    for (size_t i = 0; i < w->p->graph->symbols.len; i++)
      if (w->p->graph->symbols.at[i] == e)
        strbuf_printf(w->out, "sizes[%zu]", i);
  } else if (e->kind == EXPR_MIN || e->kind == EXPR_MAX) {
    strbuf_printf(w->out, "%s_%s(", w->m->root ? w->m->root : w->m->name,
                  e->kind == EXPR_MIN ? "min" : "max");
    c_print_size(w, e->in[0]);
    strbuf_puts(w->out, ", ");
    c_print_size(w, e->in[1]);
    strbuf_putc(w->out, ')');
  } else {
    strbuf_putc(w->out, '(');
    for (uint32_t i = 0; i < e->count; i++) {
      strbuf_puts(w->out, i ? between[e->kind] : "");
      c_print_size(w, e->in[i]);
    }
    strbuf_putc(w->out, ')');
  }
}

bool c_is_dynamic(const struct program *p) { return p->graph->symbols.len > 0; }

void c_run_parameters(const struct c_writer *w) {
  const char *n = w->m->name;
  strbuf_printf(w->out, "(struct %s *program, tile_stream *stream, uint64_t seed,\n    ", n);
  if (c_is_dynamic(w->p))
    strbuf_puts(w->out, "const int64_t *sizes, ");
  strbuf_puts(w->out, "void *const *inputs, void *const *outputs");
}
