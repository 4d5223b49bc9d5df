// SPDX-License-Identifier: Apache-2.0
// tilec: parses the command line, runs the mode, prints the diagnostics. The only file that turns
// errors into an exit status.
#include "autotune/worker/worker.h"
#include "base/debug.h"
#include "base/diag_first.h"
#include "base/trace.h"
#include "tools/lsp/lsp.h"
#include "tools/progress.h"
#include "tools/reproducer.h"

#include <tile/runtime.h>

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool want_color(const struct tool *t) {
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  if (t->o.color != COLOR_AUTO)
    return t->o.color == COLOR_ALWAYS;
  return isatty(STDERR_FILENO) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

// `-D BLOCK=abc` gives a text. Where that is what the first error is about, it is the only error,
// at the definition.
static void explain_definitions(struct tool *t) {
  for (size_t i = 0; diag_error_count(t->diag) && i < t->o.defines.len; i++) {
    const struct assignment *a = &t->o.defines.at[i];
    const char *text = arena_printf(t->arena, "'%.*s'", STR_ARG(a->value));
    if (!a->where.source || !strstr(diag_first_error(t->diag), text))
      continue;
    struct span at = diag_first_error_span(t->diag);
    const char *why = arena_strdup(t->arena, diag_first_error(t->diag));
    diag_forget(t->diag, 0);
    struct diag *d = diag_error(t->diag, a->where, E0707, "`%s` is the text %s", a->name, text);
    if (at.source)
      diag_label(d, at, "%s", why);
    diag_help(d,
              "give what the kernel needs: a number, `-D %s=128`, a type, a function of the "
              "kernel's file or the language, `True`, `None`, a tuple",
              a->name);
    return;
  }
}

static bool has_word(struct str text, const char *word) {
  size_t n = strlen(word);
  for (size_t i = 0; i + n <= text.len; i++) {
    char before = i ? text.ptr[i - 1] : ' ', behind = i + n < text.len ? text.ptr[i + n] : ' ';
    if (memcmp(text.ptr + i, word, n) == 0 && !isalnum((unsigned char)before) && before != '_' &&
        !isalnum((unsigned char)behind) && behind != '_')
      return true;
  }
  return false;
}

// Notes of the first error where `-D` gave the values that it is about: an extent, a bound, a
// number.
static void note_definitions(struct tool *t) {
  static const enum diag_code codes[] = {E0205, E0206, E0301, E0413, E0511};
  enum diag_code code = diag_first_error_code(t->diag);
  struct span at = diag_first_error_span(t->diag);
  bool is_about_values = false;
  for (size_t i = 0; i < COUNT_OF(codes); i++)
    is_about_values |= code == codes[i];
  if (!is_about_values || !at.source || at.source == t->command_line)
    return;
  struct str text = {at.source->text.ptr + at.begin, at.end - at.begin};
  for (size_t i = 0; i < t->o.defines.len; i++) {
    const struct assignment *a = &t->o.defines.at[i];
    if (a->where.source && has_word(text, a->name))
      diag_note(diag_first_error_record(t->diag), a->where, "`%s` is given here", a->name);
  }
}

static void print_messages(struct tool *t) {
  progress_end();
  explain_definitions(t);
  note_definitions(t);
  struct strbuf out = {.arena = t->arena};
  strbuf_put(&out, strbuf_cstr(&t->log), t->log.len);
  struct diag_style style = {.color = want_color(t),
                             .remarks = t->o.explain_perf || t->o.explain_fusion,
                             .errors_only = t->o.quiet};
  switch (t->o.diagnostics) {
  case DIAGNOSTICS_TEXT: diag_render_text(t->diag, style, &out); break;
  case DIAGNOSTICS_JSON: diag_render_json(t->diag, &out); break;
  case DIAGNOSTICS_SARIF: diag_render_sarif(t->diag, tile_version(), &out); break;
  }
  fwrite(strbuf_cstr(&out), 1, out.len, stderr);
  strbuf_finish(&out);
}

static int run_mode(struct tool *t) {
  if (t->o.help != HELP_NONE)
    return mode_help(t);
  switch (t->o.mode) {
  case MODE_COMPILE: return mode_compile(t);
  case MODE_RUN: return mode_run(t);
  case MODE_BENCH: return mode_bench(t);
  case MODE_AUTOTUNE: return mode_autotune(t);
  case MODE_LAYOUT: return mode_layout(t);
  case MODE_TUNINGS: return mode_tunings(t);
  case MODE_GRAPH: return mode_graph(t);
  case MODE_REPORT: return mode_report(t);
  case MODE_DOCTOR: return mode_doctor(t);
  case MODE_LIST_PASSES: return mode_list_passes(t);
  case MODE_EXPLAIN: return mode_explain(t);
  case MODE_LSP: return lsp_serve(STDIN_FILENO, STDOUT_FILENO);
  case MODE_VERSION: return mode_version(t);
  case MODE_HELP: break;
  }
  return mode_help(t);
}

// The mode, with --trace in a trace.
static int run_traced(struct tool *t) {
  int error = t->o.trace ? trace_start(t->o.trace) : 0;
  if (error)
    return tool_cannot_write(t, SPAN_NONE, t->o.trace, error);
  int status = run_mode(t);
  error = t->o.trace ? trace_stop() : 0;
  if (!error)
    return status;
  int failed = tool_cannot_write(t, SPAN_NONE, t->o.trace, error);
  return status ? status : failed;
}

int tilec_main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--tune-worker") == 0) // this process is a worker of the tuner
    return tune_worker_main(argc, argv);
  signal(SIGXFSZ, SIG_IGN); // exceeding `ulimit -f` is then a failed write, with a message
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
    struct strbuf help = {.arena = t.arena};
    help_write_short(&help);
    fputs(strbuf_cstr(&help), stderr);
    strbuf_finish(&help);
  } else if (options_parse(&t, argc, argv)) {
    reproducer_install(&t, argc, argv);
    struct str word;
    if (debug_unknown_word(&word))
      diag_help(
          diag_warning(t.diag, SPAN_NONE, E0702, "TILE_DEBUG has no word `%.*s`", STR_ARG(word)),
          "`TILE_DEBUG=help` lists the words");
    status = run_traced(&t);
  }
  print_messages(&t);
  const char *folder = status == EXIT_INTERNAL ? reproducer_write() : NULL;
  if (folder)
    fprintf(stderr, "  = help: please report it with the folder `%s`\n", folder);
  strbuf_finish(&t.log);
  arena_destroy(t.arena);
  return status;
}
