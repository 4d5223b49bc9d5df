// SPDX-License-Identifier: Apache-2.0
// Prints the layouts of a kernel's tensors: a table, drawings as text or SVG, or JSON.
#include "layouts/draw.h"
#include "lowering/llvm/emit.h"
#include "tools/layout/layout_values.h"

enum { TEXT_ROWS = 32, TEXT_COLS = 16, PICTURE_CELLS = 64 };

static const char *location_text(struct layout_survey *s, const struct layout_value *v) {
  return arena_printf(s->arena, "%u:%u", v->begin.line, v->begin.col);
}

// Omits the dialect's name in text; --layout accepts both spellings.
struct str layout_value_encoding(const struct layout_value *v) {
  size_t prefix = str_starts(v->encoding, "#tilegpu.") ? strlen("#tilegpu.") : 0;
  return (struct str){v->encoding.ptr + prefix, v->encoding.len - prefix};
}

static int larger(int a, size_t b) { return a > (int)b ? a : (int)b; }

// Loads, stores, atomics and products, which decide about layouts; the rest is arithmetic.
bool layout_value_is_main(const struct layout_value *v) {
  return v->vector || strstr(v->op, "dot") || strstr(v->op, "mma") || strstr(v->op, "load") ||
         strstr(v->op, "store") || strstr(v->op, "atomic");
}

static void print_table(struct layout_survey *s, struct strbuf *out) {
  int location = 8, op = 9, type = 4;
  for (size_t i = 0; i < s->values.len; i++) {
    const struct layout_value *v = s->values.at[i];
    location = larger(location, strlen(location_text(s, v)));
    op = larger(op, strlen(v->op));
    type = larger(type, v->type_text.len);
  }
  strbuf_printf(out, "%-*s  %-*s  %-*s  registers  vector  layout\n", location, "location", op,
                "operation", type, "type");
  for (size_t i = 0; i < 2 * s->values.len; i++) {
    const struct layout_value *v = s->values.at[i % s->values.len];
    if (layout_value_is_main(v) != (i < s->values.len))
      continue;
    strbuf_printf(out, "%-*s  %-*s  %-*.*s  %9u  ", location, location_text(s, v), op, v->op, type,
                  STR_ARG(v->type_text), register_count(&v->layout));
    if (v->vector)
      strbuf_printf(out, "%6u", v->vector);
    else
      strbuf_printf(out, "%6s", "-");
    strbuf_printf(out, "  %.*s\n", STR_ARG(layout_value_encoding(v)));
  }
}

bool layout_value_same_drawing(const struct layout_value *v, const struct layout_value *w) {
  return v->rank == w->rank && str_eq(v->encoding, w->encoding) &&
         memcmp(v->shape, w->shape, sizeof v->shape) == 0;
}

// Whether no earlier value has the same drawing.
static bool is_first(const struct layout_survey *s, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (layout_value_same_drawing(s->values.at[k], s->values.at[i]))
      return false;
  return true;
}

static void print_heading(const struct layout_survey *s, const struct layout_value *v,
                          struct strbuf *out) {
  unsigned n = register_count(&v->layout);
  strbuf_printf(out, "%s:%u:%u: %s: %.*s, %u register%s a thread", s->source->name, v->begin.line,
                v->begin.col, v->op, STR_ARG(v->type_text), n, n == 1 ? "" : "s");
  if (v->vector)
    strbuf_printf(out, ", %u element%s an access", v->vector, v->vector == 1 ? "" : "s");
  strbuf_putc(out, '\n');
}

// Draws every layout once, after the values that have it.
static void print_drawings(const struct layout_survey *s, bool by_thread, struct strbuf *out) {
  for (size_t i = 0; i < s->values.len; i++) {
    const struct layout_value *v = s->values.at[i];
    if (!is_first(s, i))
      continue;
    if (i)
      strbuf_putc(out, '\n');
    for (size_t k = i; k < s->values.len; k++)
      if (layout_value_same_drawing(v, s->values.at[k]))
        print_heading(s, s->values.at[k], out);
    struct draw_options opt = {.element_bits = v->element_bits,
                               .max_rows = TEXT_ROWS,
                               .max_cols = TEXT_COLS,
                               .by_thread = by_thread};
    strbuf_printf(out, "%.*s\n", STR_ARG(layout_value_encoding(v)));
    layout_draw_text(&v->layout, v->rank, v->shape, opt, out);
  }
}

// Draws one layout: of an access, if there is one.
static void print_picture(struct tool *t, const struct layout_survey *s,
                          const struct layout_spec *spec, struct strbuf *out) {
  const struct layout_value *v = s->values.at[0];
  size_t count = 0;
  for (size_t i = 0; i < s->values.len; i++) {
    count += is_first(s, i);
    if (!v->vector && s->values.at[i]->vector)
      v = s->values.at[i];
  }
  struct draw_options opt = {.element_bits = v->element_bits,
                             .max_rows = PICTURE_CELLS,
                             .max_cols = PICTURE_CELLS,
                             .by_thread = spec->by_thread};
  layout_draw_svg(&v->layout, v->rank, v->shape, opt, out);
  if (count > 1)
    diag_help(diag_warning(t->diag, v->at, E0742, "the picture shows one of %zu layouts: `%s`",
                           count, v->op),
              "name another location as `%s:LINE:COLUMN`; as text all of them are drawn",
              spec->path);
}

static void write_bases(const struct linear_layout *l, struct json_writer *w) {
  json_begin_object(w);
  for (unsigned i = 0; i < l->in_count; i++) {
    json_key(w, ll_in_name(l->in[i])), json_begin_array(w);
    for (unsigned b = 0; b < l->in_bits[i]; b++) {
      json_begin_array(w);
      for (unsigned d = 0; d < l->out_count; d++)
        json_int(w, l->basis[i][b][d]);
      json_end_array(w);
    }
    json_end_array(w);
  }
  json_end_object(w);
}

static void write_json(const struct layout_survey *s, struct strbuf *out) {
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  json_key(&w, "file"), json_cstring(&w, s->source->name);
  json_key(&w, "target"), json_cstring(&w, s->target->name);
  json_key(&w, "values"), json_begin_array(&w);
  for (size_t i = 0; i < s->values.len; i++) {
    const struct layout_value *v = s->values.at[i];
    json_begin_object(&w);
    json_key(&w, "line"), json_int(&w, v->begin.line);
    json_key(&w, "column"), json_int(&w, v->begin.col);
    json_key(&w, "operation"), json_cstring(&w, v->op);
    json_key(&w, "shape"), json_begin_array(&w);
    for (unsigned d = 0; d < v->rank; d++)
      json_int(&w, v->shape[d]);
    json_end_array(&w);
    json_key(&w, "element"), json_cstring(&w, v->element);
    json_key(&w, "registers"), json_int(&w, register_count(&v->layout));
    if (v->vector)
      json_key(&w, "vector"), json_int(&w, v->vector);
    json_key(&w, "encoding"), json_string(&w, v->encoding);
    json_key(&w, "bases"), write_bases(&v->layout, &w);
    json_end_object(&w);
  }
  json_end_array(&w);
  json_end_object(&w);
  strbuf_putc(out, '\n');
}

int layout_values_write(struct tool *t, struct layout_survey *s, const struct layout_spec *spec,
                        bool picture) {
  struct strbuf out = {.arena = t->arena};
  if (t->o.json)
    write_json(s, &out);
  else if (picture)
    print_picture(t, s, spec, &out);
  else if (spec->line)
    print_drawings(s, spec->by_thread, &out);
  else
    print_table(s, &out);
  int status = EXIT_LIMIT;
  if (out.failed)
    diag_error(t->diag, SPAN_NONE, E0991, "no memory for the drawing");
  else
    status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}
