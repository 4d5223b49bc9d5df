// SPDX-License-Identifier: Apache-2.0
// --list-passes and --version.
#include "tools/tool.h"

#include <tile/runtime.h>

static int print(struct tool *t, struct strbuf *out) {
  int status = tool_write(t, strbuf_cstr(out), out->len);
  strbuf_finish(out);
  return status;
}

int mode_list_passes(struct tool *t) {
  struct strbuf out = {.arena = t->arena};
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

int mode_version(struct tool *t) {
  struct strbuf out = {.arena = t->arena};
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
