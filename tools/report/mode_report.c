// SPDX-License-Identifier: Apache-2.0
// `tilec report FILE`: decides what the file is, and writes the page.
#include "tools/progress.h"
#include "tools/report/page.h"

#include <stdio.h>

static bool has(struct str text, const char *word) {
  size_t n = strlen(word);
  for (size_t i = 0; i + n <= text.len; i++)
    if (memcmp(text.ptr + i, word, n) == 0)
      return true;
  return false;
}

// A graph is a Python file without kernels, or what `--graph` names.
static bool is_graph(const struct tool *t, const struct source *source) {
  struct str name = str_from(source->name);
  if (t->o.graph || str_ends(name, ".tile") || str_ends(name, ".mlir"))
    return t->o.graph;
  return has(source->text, "def ") && !has(source->text, "@jit") &&
         !has(source->text, "@triton.jit") && !has(source->text, "@tl.");
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// FILE.html in the current folder.
static const char *default_output(struct tool *t) {
  const char *name = base_name(t->o.file);
  const char *dot = strrchr(name, '.');
  return arena_printf(t->arena, "%.*s.html",
                      (int)(dot && dot != name ? dot - name : (long)strlen(name)), name);
}

static int write_page(struct tool *t, const struct page *p) {
  struct strbuf out = {.arena = t->arena};
  bool is_named = t->o.output != NULL;
  if (!is_named)
    t->o.output = default_output(t);
  page_write(p, &out);
  int status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  if (status == EXIT_DONE && !is_named && !t->o.quiet)
    printf("written  %s\n", t->o.output);
  return status;
}

int mode_report(struct tool *t) {
  int status;
  struct source *source = tool_source(t, &status);
  if (!source)
    return status;
  struct page p = {.arena = t->arena,
                   .title = base_name(source->name),
                   .facts = {.arena = t->arena},
                   .links = {.arena = t->arena},
                   .out = {.arena = t->arena}};
  progress_stage(t, arena_printf(t->arena, "reporting on %s", source->name));
  status = is_graph(t, source) ? report_graph(t, source, &p) : report_kernel(t, source, &p);
  if (status == EXIT_DONE || status == EXIT_WRONG) { // a wrong input has a page that says so
    int written = write_page(t, &p);
    status = status == EXIT_DONE ? written : status;
  }
  strbuf_finish(&p.facts);
  strbuf_finish(&p.links);
  strbuf_finish(&p.out);
  return status;
}
