// SPDX-License-Identifier: Apache-2.0
// `tilec --autotune`: measures configurations of a kernel for the arguments of --run, reports them,
// and stores the best in FILE.tune.json. SIGINT and SIGTERM end the search early; results so far
// are reported and stored.
#include "autotune/report/report.h"
#include "base/file.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/tuning/tuning_problem.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BUDGET_SECONDS 30
#define PLAIN_LINE_MS 10e3 // minimal interval of lines without a new best

// ---- progress ----

struct tuning {
  struct tool *tool;
  struct tuning_problem *problem;
  struct tune_key key;
  bool has_key, is_terminal, is_shown;
  double shown_ms, shown_best_ms;
};

static unsigned terminal_width(void) {
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col : 80;
}

static bool show_progress(void *user, const struct tune_progress *p) {
  struct tuning *w = user;
  struct strbuf line = {0};
  bool is_better = p->best && p->best_ms < 0.99 * w->shown_best_ms;
  bool is_due = w->is_terminal || p->elapsed_ms - w->shown_ms > PLAIN_LINE_MS ||
                (is_better && p->elapsed_ms - w->shown_ms > 500);
  if (!w->tool->o.json && !w->tool->o.quiet && is_due) {
    tune_progress_line(p, &line);
    unsigned width = terminal_width() - 1;
    if (w->is_terminal)
      fprintf(stderr, "\r\033[K%.*s", (int)width, strbuf_cstr(&line));
    else
      fprintf(stderr, "%s\n", strbuf_cstr(&line));
    fflush(stderr);
    w->is_shown = true;
    w->shown_ms = p->elapsed_ms;
    w->shown_best_ms = p->best ? p->best_ms : w->shown_best_ms;
  }
  strbuf_finish(&line);
  return !interrupt_seen();
}

static void clear_progress(const struct tuning *w) {
  if (w->is_terminal && w->is_shown)
    fputs("\r\033[K", stderr);
}

// ---- the key and what is kept ----

static tile_status find_key(struct tuning *w, const tile_device_properties *device) {
  const struct lang_tuning *d = &w->problem->decorators;
  const char *const *names = d->key_count ? d->key : NULL;
  tile_status s =
      tune_key_of(w->tool->arena, &w->problem->problem, device, names, d->key_count, &w->key);
  w->has_key = s == TILE_OK;
  return s;
}

static struct tune_journal *open_journal(void *user, const tile_device_properties *device) {
  struct tuning *w = user;
  return find_key(w, device) == TILE_OK ? tune_journal_open(&w->key) : NULL;
}

// Writes the search's results; their path to `out` for the last line.
static int keep(struct tuning *w, const struct tune_result *r, const char **ret_path) {
  struct tool *t = w->tool;
  const struct tune_space *s = &w->problem->space;
  const struct tune_trial *best = &r->trials[r->best];
  if (!r->has_best || best->sample.count == 0 || !w->has_key)
    return EXIT_DONE;
  bool has_name = t->o.file && strcmp(t->o.file, "-") != 0;
  if (!t->o.tune_file && !has_name)
    return EXIT_DONE;
  struct tune_setting *settings = arena_array(t->arena, struct tune_setting, s->dim_count + 1);
  for (size_t d = 0; d < s->dim_count; d++)
    settings[d] =
        (struct tune_setting){s->dims[d].name, s->dims[d].values[s->configs[r->best].at[d]]};
  tune_settings_sort(settings, s->dim_count);
  const struct tune_sample *normal = &r->trials[0].sample;
  struct tune_entry entry = {.key = w->key,
                             .settings = settings,
                             .setting_count = s->dim_count,
                             .ms = best->sample.median,
                             .default_ms = normal->count ? normal->median : (double)NAN,
                             .spilled_bytes = best->spilled_bytes,
                             .version = tile_version()};
  const char *path = t->o.tune_file ? t->o.tune_file : tune_file_path(t->arena, t->o.file);
  tile_status written = tune_file_put(path, &entry);
  if (written == TILE_OUT_OF_MEMORY)
    return tool_cannot_write(t, SPAN_NONE, path, ENOMEM);
  if (written != TILE_OK) {
    diag_help(
        diag_error(t->diag, SPAN_NONE, E0711, "cannot write `%s`: %s", path, tile_error_message()),
        "`--tune-file` takes another path");
    return EXIT_CANNOT_WRITE;
  }
  *ret_path = path;
  return EXIT_DONE;
}

static int write_file(struct tool *t, const char *path, struct strbuf *text) {
  int error = text->failed ? ENOMEM : file_write(path, strbuf_cstr(text), text->len);
  strbuf_finish(text);
  return error ? tool_cannot_write(t, SPAN_NONE, path, error) : EXIT_DONE;
}

static int draw(struct tuning *w, const struct tune_result *r) {
  struct tool *t = w->tool;
  struct strbuf text = {.arena = w->tool->arena};
  int status = EXIT_DONE;
  if (t->o.svg) {
    const char *title =
        arena_printf(t->arena, "%s on %s", w->problem->launch.kernel_name, r->device.name);
    tune_svg(&w->problem->space, r, title, &text);
    status = write_file(t, t->o.svg, &text);
  }
  if (status == EXIT_DONE && t->o.t4 && w->has_key) {
    tune_export_t4(&w->problem->space, r, &w->key, &text);
    status = write_file(t, t->o.t4, &text);
  }
  return status;
}

// ---- all of it ----

static int show(struct tuning *w, const struct tune_result *r, const char *path) {
  struct tool *t = w->tool;
  struct strbuf out = {.arena = w->tool->arena};
  double bytes = (double)(t->o.bytes ? t->o.bytes : tuning_problem_bytes(w->problem));
  if (t->o.json) {
    tune_report_json(&w->problem->space, r, t->o.flops, bytes, &out);
  } else {
    strbuf_printf(&out, "%s: ", w->problem->launch.kernel_name);
    tune_report(&w->problem->space, r, t->o.flops, bytes, &out);
    if (path)
      strbuf_printf(&out, "  written  %s\n", path);
  }
  int status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}

static int conclude(struct tuning *w, const struct tune_result *r) {
  struct tool *t = w->tool;
  const char *path = NULL;
  tile_status found = w->has_key ? TILE_OK : find_key(w, &r->device);
  if (found != TILE_OK)
    return launch_failed(t, t->o.file_at, found);
  int status = keep(w, r, &path), drawn = draw(w, r), shown = show(w, r, path);
  status = status != EXIT_DONE ? status : drawn != EXIT_DONE ? drawn : shown;
  if (interrupt_seen())
    return interrupt_status(status);
  if (status == EXIT_DONE && !r->has_best && !r->stopped) {
    diag_help(diag_error(t->diag, t->o.file_at, E0764, "no configuration of `%s` could be run",
                         w->problem->launch.kernel_name),
              "the reasons are in the report; `--run` with one of them says more");
    return EXIT_WRONG;
  }
  return status;
}

static struct tune_options options_of(const struct tool *t, struct tuning *w) {
  bool is_cpu = t->o.target && strcmp(t->o.target, "cpu") == 0;
  return (struct tune_options){.device = !t->o.target ? "auto"
                                         : is_cpu     ? "cpu"
                                                      : "cuda",
                               .guess = w->problem->target,
                               .effort = t->o.effort,
                               .candidates = t->o.candidates,
                               .seed = t->o.seed,
                               .budget_ms =
                                   1e3 * (t->o.budget_given ? t->o.budget : BUDGET_SECONDS),
                               .timeout_ms = 1e3 * t->o.tune_timeout,
                               .rtol = t->o.rtol_given ? t->o.rtol : -1,
                               .atol = t->o.atol_given ? t->o.atol : -1,
                               .resume = !t->o.no_resume,
                               .journal_of = open_journal,
                               .progress = show_progress,
                               .user = w};
}

int mode_autotune(struct tool *t) {
  struct tuning_problem problem = {0};
  struct tuning w = {.tool = t,
                     .problem = &problem,
                     .is_terminal = progress_is_shown(t),
                     .shown_best_ms = (double)INFINITY};
  struct tune_result result;
  int status = tuning_problem_open(t, &problem);
  if (status == EXIT_DONE) {
    struct tune_options options = options_of(t, &w);
    interrupt_catch();
    tile_status run = tune_run(t->arena, &problem.problem, &problem.space, &options, NULL,
                               tuning_problem_fill, &problem, problem.data_bytes, &result);
    clear_progress(&w);
    status = run == TILE_OK ? conclude(&w, &result) : launch_failed(t, t->o.file_at, run);
    interrupt_release();
  }
  tuning_problem_close(&problem);
  return status;
}
