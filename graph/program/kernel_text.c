// SPDX-License-Identifier: Apache-2.0
// Prints kernel sources: the parameter list, the body, the whole file.
#include "graph/program/kernel_text.h"

#include "base/str.h"

#include <string.h>

enum { MOST_COLUMNS = 100 };

static const char *param_text(struct arena *a, const struct source_param *p) {
  return arena_printf(a, "%s: %s", p->name, p->type);
}

static const char *constant_text(struct arena *a, const struct kernel_constant *c) {
  return arena_printf(a, "%s: constexpr = %s", c->name, c->value);
}

static size_t indent_of(const char *name) { return strlen("def (") + strlen(name); }

// Does a parameter of that length, with its separator, start a new line? Advances the column.
static bool breaks(size_t *column, size_t indent, size_t length) {
  bool is_first = *column == indent, starts = !is_first && *column + 1 + length > MOST_COLUMNS;
  *column = starts ? indent : is_first ? *column : *column + 1;
  *column += length;
  return starts;
}

void kernel_text_break_lines(struct arena *a, struct kernel_text *t, const char *name,
                             struct kernel_constant *constants, size_t count) {
  size_t indent = indent_of(name), column = indent, total = t->params.len + count;
  for (size_t i = 0; i < total; i++) {
    bool is_param = i < t->params.len;
    struct kernel_constant *c = is_param ? NULL : &constants[i - t->params.len];
    const char *text = is_param ? param_text(a, &t->params.at[i]) : constant_text(a, c);
    bool *starts_line = is_param ? &t->params.at[i].starts_line : &c->starts_line;
    *starts_line = breaks(&column, indent, strlen(text) + (i + 1 < total));
  }
}

void kernel_lines_print(const struct kernel_line *lines, size_t count, struct strbuf *out) {
  for (size_t i = 0; i < count; i++) {
    if (i)
      strbuf_putc(out, '\n');
    strbuf_printf(out, "%*s%s", (int)lines[i].indent * 4, "", lines[i].text);
  }
}

static void put_parameter(struct strbuf *out, const char *text, bool is_first, bool starts_line,
                          size_t indent) {
  if (starts_line)
    strbuf_printf(out, ",\n%*s", (int)indent, "");
  else if (!is_first)
    strbuf_puts(out, ", ");
  strbuf_puts(out, text);
}

const char *kernel_text_source(struct arena *a, const struct kernel_text *t, const char *name,
                               const struct kernel_constant *constants, size_t count) {
  struct strbuf out = {.arena = a};
  size_t indent = indent_of(name);
  strbuf_printf(&out, "# %s\n", t->comment);
  for (size_t i = 0; i < t->functions.len; i++)
    strbuf_printf(&out, "%s\n\n", t->functions.at[i]);
  strbuf_printf(&out, "@jit\ndef %s(", name);
  for (size_t i = 0; i < t->params.len; i++)
    put_parameter(&out, param_text(a, &t->params.at[i]), i == 0, t->params.at[i].starts_line,
                  indent);
  for (size_t i = 0; i < count; i++)
    put_parameter(&out, constant_text(a, &constants[i]), i + t->params.len == 0,
                  constants[i].starts_line, indent);
  strbuf_puts(&out, "):\n");
  kernel_lines_print(t->body.at, t->body.len, &out);
  strbuf_putc(&out, '\n');
  const char *kept = arena_strdup(a, strbuf_cstr(&out));
  strbuf_finish(&out);
  return kept;
}

bool kernel_text_add_barrier(struct arena *a, struct kernel_text *t, const char *param) {
  static const char barrier[] = "tl.debug_barrier()";
  size_t at = 0;
  while (at < t->body.len && !(t->body.at[at].stores && strcmp(t->body.at[at].stores, param) == 0))
    at++;
  if (at == t->body.len || (at > 0 && strcmp(t->body.at[at - 1].text, barrier) == 0))
    return false;
  vec_push(a, &t->body, (struct kernel_line){0});
  memmove(&t->body.at[at + 1], &t->body.at[at], (t->body.len - 1 - at) * sizeof t->body.at[0]);
  t->body.at[at] = (struct kernel_line){barrier, t->body.at[at + 1].indent, NULL};
  return true;
}
