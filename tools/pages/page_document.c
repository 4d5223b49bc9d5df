// SPDX-License-Identifier: Apache-2.0
// The tables of a Markdown document between marks.
#include "tools/pages/pages.h"

#define BEGIN "<!-- table: "
#define END "<!-- end of table -->"

// A cell: `|` would end it.
static void put_cell(struct strbuf *out, const char *text) {
  for (; *text; text++)
    if (*text == '|')
      strbuf_puts(out, "\\|");
    else
      strbuf_putc(out, *text);
}

static void put_option(struct strbuf *out, const struct page_option *o) {
  strbuf_puts(out, "| `");
  put_cell(out, o->spelling);
  if (o->argument) {
    strbuf_putc(out, ' ');
    put_cell(out, o->argument);
  }
  strbuf_puts(out, "` | ");
  put_cell(out, *o->details ? o->details : o->help);
  strbuf_puts(out, " |\n");
}

static void put_verbs(struct strbuf *out) {
  strbuf_puts(out, "| verb | option | |\n|---|---|---|\n");
  static const char *const options[][2] = {{"tune", "--autotune"}, {"passes", "--list-passes"}};
  for (const struct page_verb *v = page_verbs; v->name; v++) {
    struct strbuf option = {.arena = out->arena};
    for (const struct page_option *o = page_options; o->spelling; o++)
      if (strncmp(o->spelling, "--", 2) == 0 && strcmp(o->spelling + 2, v->name) == 0)
        strbuf_printf(&option, "`%s`", o->spelling);
    for (size_t i = 0; i < COUNT_OF(options); i++)
      if (strcmp(options[i][0], v->name) == 0)
        strbuf_printf(&option, "`%s`", options[i][1]);
    strbuf_printf(out, "| `tilec %s%s", v->name, v->argument ? " " : "");
    put_cell(out, v->argument ? v->argument : "");
    strbuf_printf(out, "%s%s` | %s | ", *v->operands ? " " : "", v->operands, strbuf_cstr(&option));
    put_cell(out, v->summary);
    strbuf_puts(out, " |\n");
    strbuf_finish(&option);
  }
}

static void put_rows(struct strbuf *out, const char *title, const struct page_row *rows,
                     const char *quote) {
  strbuf_printf(out, "| %s | meaning |\n|---|---|\n", title);
  for (; rows->name; rows++) {
    strbuf_printf(out, "| %s%s%s | ", quote, rows->name, quote);
    put_cell(out, rows->text);
    strbuf_puts(out, " |\n");
  }
}

static bool put_group(struct strbuf *out, struct str name) {
  const struct page_group *g = page_groups;
  while (g->name && !str_is(name, g->name))
    g++;
  if (!g->name)
    return false;
  strbuf_puts(out, "| option | meaning |\n|---|---|\n");
  for (const struct page_option *o = page_options; o->spelling; o++)
    if (strcmp(o->group, g->name) == 0)
      put_option(out, o);
  return true;
}

static bool put_table(struct strbuf *out, struct str name) {
  if (str_is(name, "verbs"))
    put_verbs(out);
  else if (str_is(name, "environment"))
    put_rows(out, "variable", page_environment, "`");
  else if (str_is(name, "exit status"))
    put_rows(out, "status", page_statuses, "");
  else
    return put_group(out, name);
  return true;
}

bool page_document(struct str document, struct strbuf *out) {
  for (struct str rest = document, line; rest.ptr;) {
    rest = str_split(rest, '\n', &line);
    strbuf_put(out, line.ptr, line.len);
    if (rest.ptr)
      strbuf_putc(out, '\n');
    if (!str_starts(line, BEGIN))
      continue;
    struct str name = {line.ptr + strlen(BEGIN), line.len - strlen(BEGIN)};
    for (size_t i = 0; i + 4 <= name.len; i++)
      if (memcmp(name.ptr + i, " -->", 4) == 0)
        name.len = i;
    if (!put_table(out, name))
      return false;
    while (rest.ptr && !str_starts(rest, END))
      rest = str_split(rest, '\n', &line);
    if (!rest.ptr)
      return false;
  }
  return true;
}
