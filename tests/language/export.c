// SPDX-License-Identifier: Apache-2.0
// Writes the kernel of a case into a file that tilec compiles as the launch would, with the options
// in its RUN line: `test-language cpu --export FOLDER`, for tests/same-code.
#include "base/dtype.h"
#include "base/file.h"
#include "suite.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// Appends the next parameter's name behind *at, and moves *at behind it.
static bool next_parameter(const char **at, struct strbuf *out) {
  const char *from = *at + strspn(*at, " ,\n"), *end = from;
  while (isalnum((unsigned char)*end) || *end == '_')
    end++;
  strbuf_printf(out, "%.*s", (int)(end - from), from);
  *at = end;
  return end > from;
}

static const char *hint(const tile_arg *a) {
  if (a->is_pointer || (a->value.integer != 0 && a->value.integer % 16 == 0))
    return ":16";
  return a->value.integer == 1 ? ":1" : "";
}

// The head `# RUN: ...` of the exported file: types and hints as the launch's specialisation has
// them.
static bool put_head(const struct suite *s, struct strbuf *out) {
  const char *at = strstr(strbuf_cstr(&s->text), "def k(");
  if (!at)
    return false;
  at += strlen("def k(");
  strbuf_printf(out, "# RUN: tilec %%s --num-warps %u --num-stages %u", s->warps, s->stages);
  for (unsigned i = 0; i < s->arg_count; i++) {
    const tile_arg *a = &s->args[i];
    strbuf_printf(out, i ? "," : " --signature ");
    if (!next_parameter(&at, out))
      return false;
    strbuf_printf(out, "=%s%s%s", a->is_pointer ? "*" : "", dtype_name((enum dtype)a->type),
                  hint(a));
  }
  strbuf_printf(out, "\n");
  return true;
}

bool case_export(struct suite *s, const char *folder) {
  struct strbuf text = {.arena = s->arena};
  if (!put_head(s, &text))
    return false;
  strbuf_printf(&text, "%s", strbuf_cstr(&s->text));
  char path[4096];
  snprintf(path, sizeof path, "%s/%016llx.tile", folder,
           (unsigned long long)text_hash(strbuf_cstr(&text)));
  return file_write(path, strbuf_cstr(&text), text.len) == 0;
}
