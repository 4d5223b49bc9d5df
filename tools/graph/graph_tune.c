// SPDX-License-Identifier: Apache-2.0
// The tuning file of a graph, and the messages about it.
#include "tools/graph/graph_tune.h"

#include "tools/progress.h"

#include <stdio.h>
#include <unistd.h>

// NULL: a graph from standard input has no file.
static const char *path_of(const struct tool *t) {
  if (t->o.tune_file)
    return t->o.tune_file;
  return t->o.file && strcmp(t->o.file, "-") != 0 ? tune_file_path(t->arena, t->o.file) : NULL;
}

static bool malformed(struct tool *t) {
  diag_help(diag_error(t->diag, SPAN_NONE, E0760, "%s", tile_error_message()),
            "`--no-tunings` takes nothing from the file");
  return false;
}

bool graph_take_tunings(struct tool *t, struct program *p, const char *device, const char *target,
                        size_t *ret_count) {
  const char *path = path_of(t);
  *ret_count = 0;
  if (t->o.no_tunings || !path || access(path, F_OK) != 0)
    return true;
  return program_take_tunings(p, path, device, target, ret_count) == TILE_OK || malformed(t);
}

static void tell_times(const struct tool *t, const struct kernel_choice *c) {
  struct strbuf text = {.arena = t->arena};
  strbuf_time(&text, c->ms);
  if (c->default_ms > 0) {
    strbuf_puts(&text, ", as emitted ");
    strbuf_time(&text, c->default_ms);
  }
  fprintf(stderr, "  %s%s\n", strbuf_cstr(&text), c->is_from_file ? " (on file)" : "");
  strbuf_finish(&text);
}

static void told(void *user, const struct kernel_choice *c) {
  const struct tool *t = user;
  if (t->o.json || t->o.quiet || t->o.diagnostics != DIAGNOSTICS_TEXT)
    return;
  progress_end();
  fprintf(stderr, "max-autotune: %s", c->kernel->name);
  if (c->config)
    fprintf(stderr, "  %s", c->config);
  if (c->why)
    fprintf(stderr, "  as emitted: %s\n", c->why);
  else
    tell_times(t, c);
}

int graph_tune(struct tool *t, struct graph_session *s) {
  struct program_tune_options o = {.file = t->o.no_tunings ? NULL : path_of(t),
                                   .measures = true,
                                   .seconds =
                                       t->o.budget_given ? t->o.budget : PROGRAM_TUNE_SECONDS,
                                   .effort = t->o.effort,
                                   .candidates = t->o.candidates,
                                   .seed = t->o.seed,
                                   .timeout_ms = 1e3 * t->o.tune_timeout,
                                   .resume = !t->o.no_resume,
                                   .told = told,
                                   .user = t};
  tile_status status = program_tune(s->loaded, NULL, t->o.seed, s->in, s->out, &o, &s->tunings);
  if (status == TILE_OK)
    status = tile_stream_synchronize(s->device, NULL);
  if (status != TILE_IO_ERROR)
    return graph_session_failed(t, status);
  malformed(t);
  return EXIT_WRONG;
}

bool graph_tune_check(struct tool *t, const char *target) {
  if (!t->o.max_autotune || !t->o.target || strcmp(t->o.target, target) == 0)
    return true;
  diag_help(diag_error(t->diag, t->o.max_autotune_at, E0703,
                       "`--max-autotune` measures on this machine's device, which is %s, not %s",
                       target, t->o.target),
            "tune where such a device is; the file that it writes serves here");
  return false;
}

void graph_tunings_print(const struct tool *t, const struct graph_session *s, struct strbuf *out) {
  const struct program_tune_count *n = &s->tunings;
  if (!n->measured && !n->from_file && !n->kept)
    return;
  strbuf_printf(out, "  tunings    %zu kernels measured, %zu on file, %zu as emitted", n->measured,
                n->from_file, s->program->kernels.len - n->measured - n->from_file);
  const char *path = path_of(t);
  strbuf_printf(out, path && !t->o.no_tunings ? " (%s)\n" : "\n", path);
}
