// SPDX-License-Identifier: Apache-2.0
// E0723 for an --arg whose type or shape is not that of its input, and the argument to write
// instead.
#include "tools/graph/graph_mismatch.h"

#include <inttypes.h>
#include <string.h>

static const struct assignment *argument_of(const struct tool *t, const char *name) {
  for (size_t i = 0; i < t->o.args.len; i++)
    if (strcmp(t->o.args.at[i].name, name) == 0)
      return &t->o.args.at[i];
  return NULL;
}

// Another argument that gives the symbol its size, and the name of its input (or of the symbol).
static const struct assignment *other_of(const struct tool *t, const struct graph *g,
                                         const struct assignment *a, const struct expr *symbol) {
  const struct assignment *by = argument_of(t, symbol->symbol->name); // `--arg s0=5`
  for (size_t k = 0; k < g->inputs.len && !by; k++) {
    const struct assignment *other = argument_of(t, g->inputs.at[k]->name);
    for (uint32_t r = 0; other && other != a && r < g->inputs.at[k]->rank; r++)
      if (expr_has_symbol(g->inputs.at[k]->shape[r], symbol))
        by = other;
  }
  return by;
}

// "f32[8, 128]", or "f32[8x128]" as an --arg has it.
static const char *type_text(struct tool *t, enum dtype dtype, uint32_t rank, const int64_t *shape,
                             const char *between) {
  struct strbuf s = {.arena = t->arena};
  strbuf_printf(&s, "%s[", dtype_name(dtype));
  for (uint32_t d = 0; d < rank; d++)
    strbuf_printf(&s, "%s%" PRId64, d ? between : "", shape[d]);
  strbuf_puts(&s, "]");
  return strbuf_cstr(&s);
}

// "f32[3*s0, 8]".
static const char *declared_text(struct tool *t, const struct value *v) {
  struct strbuf s = {.arena = t->arena};
  value_type_print(v, false, &s);
  return strbuf_cstr(&s);
}

static const char *given_text(struct tool *t, const struct arg_value *value) {
  if (!value->is_array)
    return "a number";
  int64_t shape[ARRAY_MAX_RANK];
  for (uint32_t d = 0; d < value->array.rank; d++)
    shape[d] = (int64_t)value->array.shape[d];
  return type_text(t, value->array.dtype, value->array.rank, shape, ", ");
}

// The first symbol whose size here differs from what another argument says; NULL: none.
static const struct expr *conflict_of(const struct graph *g, const struct value *v,
                                      const struct arg_value *value, const int64_t *wanted,
                                      uint32_t *ret_dimension) {
  for (uint32_t d = 0; value->is_array && value->array.rank == v->rank && d < v->rank; d++)
    for (size_t i = 0; (int64_t)value->array.shape[d] != wanted[d] && i < g->symbols.len; i++)
      if (expr_has_symbol(v->shape[d], g->symbols.at[i]))
        return *ret_dimension = d, g->symbols.at[i];
  return NULL;
}

static struct diag *report_sizes(struct tool *t, const struct graph *g, const struct value *v,
                                 const struct assignment *a, const struct arg_value *value,
                                 const int64_t *wanted) {
  uint32_t d = 0;
  const struct expr *symbol = conflict_of(g, v, value, wanted, &d);
  if (!symbol)
    return NULL;
  const struct assignment *by = other_of(t, g, a, symbol);
  const char *name = symbol->symbol->name;
  bool is_symbol = v->shape[d] == symbol;
  struct diag *e;
  if (by && is_symbol && strcmp(by->name, name) == 0)
    e = diag_error(t->diag, a->where, E0723, "`%s` is %" PRIu64 " in `%s`, and given as %" PRId64,
                   name, value->array.shape[d], a->name, expr_hint(symbol));
  else if (by && is_symbol)
    e = diag_error(t->diag, a->where, E0723, "`%s` is %" PRIu64 " in `%s` and %" PRId64 " in `%s`",
                   name, value->array.shape[d], a->name, expr_hint(symbol), by->name);
  else
    e = diag_error(t->diag, a->where, E0723, "`%s` must be %s, not %s", v->name,
                   type_text(t, v->dtype, v->rank, wanted, ", "), given_text(t, value));
  if (by)
    diag_label(e, by->where, "makes %s %" PRId64, name, expr_hint(symbol));
  else
    diag_note(e, SPAN_NONE,
              "the graph has %s; %s is %" PRId64 ", a likely size; `--arg %s=N` gives it",
              declared_text(t, v), name, expr_hint(symbol), name);
  return e;
}

void graph_report_mismatch(struct tool *t, const struct graph *g, const struct value *v,
                           const struct assignment *a, const struct arg_value *value,
                           const int64_t *wanted) {
  struct diag *e = report_sizes(t, g, v, a, value, wanted);
  if (!e)
    e = diag_error(t->diag, a->where, E0723, "`%s` must be %s, not %s", v->name,
                   type_text(t, v->dtype, v->rank, wanted, ", "), given_text(t, value));
  const char *type = type_text(t, v->dtype, v->rank, wanted, "x");
  struct str type_given, tail = str_split(a->value, ']', &type_given);
  bool is_spec = value->is_array && tail.ptr && a->value.len && a->value.ptr[0] != '@';
  if (!is_spec) {
    diag_help(e, "write `--arg %s=%s`, or a file of this type and shape", a->name, type);
    return;
  }
  diag_help(e, "write `--arg %s=%s%.*s`", a->name, type, STR_ARG(tail));
  bool is_exact = a->where.source && a->where.end - a->where.begin == a->value.len;
  if (is_exact)
    diag_fixit(e,
               (struct span){a->where.source, a->where.begin,
                             a->where.begin + (uint32_t)type_given.len + 1},
               type);
}
