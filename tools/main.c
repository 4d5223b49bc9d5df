// SPDX-License-Identifier: Apache-2.0
// tilec: parses the command line, runs the mode, prints the recorded messages. The only place that
// turns errors into an exit status.
#include "base/debug.h"
#include "base/file.h"
#include "tools/reproducer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct source *tool_source(struct tool *t, int *ret_status) {
  struct str text;
  if (!t->o.file) {
    diag_help(diag_error(t->diag, SPAN_NONE, E0703, "no input file"),
              "name a .tile file: `tilec add.tile --emit=ptx`; `tilec --help` shows more");
    *ret_status = EXIT_USAGE;
    return NULL;
  }
  int error = file_read(t->arena, t->o.file, SOURCE_MAX_BYTES, &text);
  if (error == 0) {
    struct source *source = source_create(t->arena, t->o.file, text);
    reproducer_input(source);
    return source;
  }
  *ret_status = error == EFBIG ? EXIT_LIMIT : error == ENOENT ? EXIT_WRONG : EXIT_IO;
  if (error == ENOENT)
    diag_error(t->diag, t->o.file_at, E0710, "no such file: `%s`", t->o.file);
  else if (error == EFBIG)
    diag_error(t->diag, t->o.file_at, E0901, "`%s` is larger than %u MiB", t->o.file,
               SOURCE_MAX_BYTES >> 20);
  else
    diag_error(t->diag, t->o.file_at, E0710, "cannot read `%s`: %s", t->o.file, strerror(error));
  return NULL;
}

int tool_write(struct tool *t, const void *data, size_t size) {
  const char *path = t->o.output ? t->o.output : "-";
  int error = file_write(path, data, size);
  if (error == 0)
    return EXIT_DONE;
  diag_error(t->diag, SPAN_NONE, E0711, "cannot write `%s`: %s", path, strerror(error));
  return EXIT_CANNOT_WRITE;
}

int tool_error_status(const struct tool *t) {
  const char *name =
      diag_error_count(t->diag) ? diag_code_name(diag_first_error_code(t->diag)) : "";
  if (strcmp(name, "E0990") == 0)
    return EXIT_INTERNAL;
  return strncmp(name, "E09", 3) == 0 ? EXIT_LIMIT : EXIT_WRONG;
}

static bool want_color(const struct tool *t) {
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  if (t->o.color != COLOR_AUTO)
    return t->o.color == COLOR_ALWAYS;
  return isatty(STDERR_FILENO) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

static void print_messages(struct tool *t) {
  struct strbuf out = {0};
  strbuf_put(&out, strbuf_cstr(&t->log), t->log.len);
  if (t->o.diagnostics_json)
    diag_render_json(t->diag, &out);
  else
    diag_render_text(t->diag, (struct diag_style){want_color(t), t->o.explain_perf}, &out);
  fwrite(strbuf_cstr(&out), 1, out.len, stderr);
  strbuf_finish(&out);
}

static int run_mode(struct tool *t) {
  switch (t->o.mode) {
  case MODE_COMPILE: return mode_compile(t);
  case MODE_RUN: return mode_run(t);
  case MODE_BENCH: return mode_bench(t);
  case MODE_LAYOUT: return mode_layout(t);
  case MODE_DOCTOR: return mode_doctor(t);
  case MODE_LIST_PASSES: return mode_list_passes(t);
  case MODE_EXPLAIN: return mode_explain(t);
  case MODE_VERSION: return mode_version(t);
  case MODE_HELP: break;
  }
  struct strbuf help = {0};
  options_help(&help);
  int status = tool_write(t, strbuf_cstr(&help), help.len);
  strbuf_finish(&help);
  return status;
}

int main(int argc, char **argv) {
  const char *debug = getenv("TILE_DEBUG");
  if (debug && strcmp(debug, "help") == 0) {
    fputs(debug_help(), stdout);
    return EXIT_DONE;
  }
  struct tool t = {.arena = arena_create()};
  jmp_buf on_oom;
  if (!t.arena || setjmp(on_oom)) {
    fputs("tilec: out of memory\n", stderr);
    return EXIT_LIMIT;
  }
  arena_set_oom(t.arena, &on_oom);
  t.diag = diag_engine_create(t.arena);
  t.o.passes.log = &t.log;
  int status = EXIT_USAGE;
  if (argc < 2) {
    struct strbuf help = {0};
    options_help(&help);
    fputs(strbuf_cstr(&help), stderr);
    strbuf_finish(&help);
  } else if (options_parse(&t, argc, argv)) {
    reproducer_install(&t, argc, argv);
    status = run_mode(&t);
  }
  print_messages(&t);
  const char *folder = status == EXIT_INTERNAL ? reproducer_write() : NULL;
  if (folder)
    fprintf(stderr, "  = help: please report it with the folder `%s`\n", folder);
  strbuf_finish(&t.log);
  arena_destroy(t.arena);
  return status;
}
