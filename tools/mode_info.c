// SPDX-License-Identifier: Apache-2.0
// --list-passes, --explain CODE and --version.
#include "tools/tool.h"

#include <tile/runtime.h>

static int print(struct tool *t, struct strbuf *out) {
  int status = tool_write(t, strbuf_cstr(out), out->len);
  strbuf_finish(out);
  return status;
}

int mode_list_passes(struct tool *t) {
  struct strbuf out = {0};
  struct json_writer w = {.out = &out};
  if (t->o.json)
    json_begin_array(&w);
  for (int i = 0; i < PASS_COUNT; i++) {
    const struct pass *p = pass_info((enum pass_id)i);
    if (t->o.json) {
      json_begin_object(&w);
      json_key(&w, "name"), json_cstring(&w, p->flag);
      json_key(&w, "doc"), json_cstring(&w, p->doc);
      json_end_object(&w);
    } else {
      strbuf_printf(&out, "%-28s %s\n", p->flag, p->doc);
    }
  }
  if (t->o.json) {
    json_end_array(&w);
    strbuf_putc(&out, '\n');
  }
  return print(t, &out);
}

// The nearest known code, for "did you mean"; NULL if none is near.
static const char *nearest_code(struct str name) {
  const char *names[DIAG_CODE_COUNT];
  for (int c = 0; c < DIAG_CODE_COUNT; c++)
    names[c] = diag_code_name((enum diag_code)c);
  return str_nearest(name, names, DIAG_CODE_COUNT);
}

int mode_explain(struct tool *t) {
  enum diag_code code;
  struct str name = str_from(t->o.mode_argument);
  if (!diag_code_find(name, &code)) {
    struct diag *d = diag_error(t->diag, t->o.mode_at, E0708, "no diagnostic has the code `%.*s`",
                                STR_ARG(name));
    const char *near = nearest_code(name);
    if (near)
      diag_help(d, "did you mean `%s`?", near);
    return EXIT_USAGE;
  }
  struct strbuf out = {0};
  if (t->o.json) {
    struct json_writer w = {.out = &out};
    json_begin_object(&w);
    json_key(&w, "code"), json_cstring(&w, diag_code_name(code));
    json_key(&w, "title"), json_cstring(&w, diag_code_title(code));
    json_key(&w, "section"), json_cstring(&w, diag_code_section(code));
    json_key(&w, "explain"), json_cstring(&w, diag_code_explain(code));
    json_end_object(&w);
    strbuf_putc(&out, '\n');
  } else {
    strbuf_printf(&out, "%s: %s\n\n%s\n", diag_code_name(code), diag_code_title(code),
                  diag_code_explain(code));
    const char *section = diag_code_section(code);
    if (*section >= '0' && *section <= '9')
      strbuf_printf(&out, "\nLanguage reference (lang/REFERENCE.md), section %s.\n", section);
    else if (*section)
      strbuf_printf(&out, "\nSee %s.\n", section);
  }
  return print(t, &out);
}

int mode_version(struct tool *t) {
  struct strbuf out = {0};
  if (t->o.json) {
    struct json_writer w = {.out = &out};
    json_begin_object(&w);
    json_key(&w, "version"), json_cstring(&w, tile_version());
    json_key(&w, "compiler"), json_cstring(&w, compiler_version());
    json_end_object(&w);
    strbuf_putc(&out, '\n');
  } else {
    strbuf_printf(&out, "tilec %s (%s)\n", tile_version(), compiler_version());
  }
  return print(t, &out);
}
