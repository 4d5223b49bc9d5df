// SPDX-License-Identifier: Apache-2.0
// Options that exclude or need each other.
#include "lowering/target.h"
#include "tools/options/option_values.h"

static bool only_for_packs(struct tool *t, const struct word *w, size_t count, size_t limit,
                           const char *what) {
  if (count <= limit)
    return true;
  return option_usage(
      t, w[limit].where, E0703,
      arena_printf(t->arena, "%s %s packs", what, limit ? "several times is for" : "is for"),
      "add `--emit=pack`, `--emit=header` or `--emit=c`");
}

static bool check_simulation(struct tool *t) {
  const struct options *o = &t->o;
  if (!o->simulate)
    return true;
  if (o->mode != MODE_RUN && (o->mode != MODE_GRAPH || o->graph_mode != MODE_RUN))
    return option_usage(t, o->simulate_at, E0703, "`--simulate` is for `--run`",
                        "times and tunings of a simulation say nothing about a GPU");
  if (o->max_autotune)
    return option_usage(t, o->simulate_at, E0703, "`--simulate` does not go with `--max-autotune`",
                        "times of a simulation say nothing about a GPU");
  if (!o->target)
    return option_usage(t, o->simulate_at, E0703, "`--simulate` needs a GPU to simulate",
                        "add for example `--target sm_90a`");
  return !target_find(str_from(o->target))->is_cpu ||
         option_usage(t, o->target_at, E0703,
                      "`--simulate` runs the code of a GPU, not that of the CPU",
                      "add for example `--target sm_90a`, or leave out `--simulate`");
}

// Code for another processor than this one is made, but not run here.
static bool check_processor(struct tool *t) {
  const struct options *o = &t->o;
  const struct target *target = o->target ? target_find(str_from(o->target)) : NULL;
  enum tool_mode mode = o->mode == MODE_GRAPH ? o->graph_mode : o->mode;
  if (!target || !target->processor ||
      (mode != MODE_RUN && mode != MODE_BENCH && mode != MODE_AUTOTUNE))
    return true;
  return option_usage(
      t, o->target_at, E0703,
      arena_printf(t->arena, "`--target %s` is for code that is made ahead of time", target->name),
      "`--target cpu` runs on this machine; the environment variable `TILE_CPU_NAME=x86-64-v3` "
      "keeps to older instructions");
}

// Options that only --emit=pack, header and c allow, or allow several times.
static bool check_packing(struct tool *t) {
  const struct options *o = &t->o;
  if (o->mode == MODE_GRAPH || (o->mode == MODE_COMPILE && o->artifact >= ARTIFACT_PACK &&
                                o->artifact != ARTIFACT_OBJECT_HEADER))
    return true;
  return only_for_packs(t, o->kernels.at, o->kernels.len, 1, "`--kernel`") &&
         only_for_packs(t, o->targets.at, o->targets.len, 1, "`--target`") &&
         only_for_packs(t, o->grids.at, o->grids.len, 1, "`--grid`") &&
         only_for_packs(t, o->specs.at, o->specs.len, 0, "`--spec`") &&
         only_for_packs(t, o->functions.at, o->functions.len, 0, "`--function`") &&
         only_for_packs(t, &(struct word){{0}, o->name_at}, o->name != NULL, 0, "`--name`");
}

// Options that do not apply to a tuning, which launches candidates repeatedly and measures time.
static bool check_tuning(struct tool *t) {
  const struct options *o = &t->o;
  if (o->mode != MODE_AUTOTUNE)
    return true;
  if (o->outs.len)
    return option_usage(
        t, o->outs.at[0].where, E0703, "`--out` is not for `--autotune`",
        "`--run` afterwards takes what was chosen and writes arguments; `--expect` is "
        "compared with the results of every candidate");
  return !o->check ||
         option_usage(t, o->check_at, E0703, "`--check` is not for `--autotune`",
                      "checked accesses would be timed; check the kernel with `--run` first");
}

// --graph requires a mode that compiles or runs; some kinds of --emit apply to graphs only, some to
// kernels only.
static bool check_graph(struct tool *t) {
  struct options *o = &t->o;
  bool of_graphs = o->artifact == ARTIFACT_GRAPH || o->artifact == ARTIFACT_PLAN;
  if (!o->graph && o->max_autotune)
    return option_usage(t, o->max_autotune_at, E0703, "`--max-autotune` is of graphs",
                        "kernels are tuned with `--autotune`");
  if (!o->graph && o->weights.value.ptr)
    return option_usage(t, o->weights.where, E0703, "`--weights` is of graphs",
                        "name the graph with `--graph FILE`");
  if (!o->graph && o->explain_fusion)
    return option_usage(t, o->explain_fusion_at, E0703, "`--explain-fusion` is of graphs",
                        "name the graph with `--graph FILE`");
  if (!o->graph && o->no_pdl)
    return option_usage(t, o->no_pdl_at, E0703, "`--no-pdl` is of graphs",
                        "kernels have it with `--launch-pdl` only");
  if (o->find_nan && (!o->graph || o->mode != MODE_RUN))
    return option_usage(t, o->find_nan_at, E0703, "`--find-nan` is of runs of graphs",
                        "use it with `--graph FILE --run`");
  if (!o->graph && o->keep_casts)
    return option_usage(t, o->keep_casts_at, E0703, "`--keep-casts` is of graphs",
                        "name the graph with `--graph FILE`");
  const struct span grad_at = o->loss.value.ptr  ? o->loss.where
                              : o->wrt.value.ptr ? o->wrt.where
                                                 : o->grad_at;
  bool of_grad = o->loss.value.ptr || o->wrt.value.ptr || o->grad_seeds || o->explain_partition ||
                 o->memory_budget;
  if (!o->graph && (o->grad || of_grad))
    return option_usage(t, grad_at, E0703, "gradients are of graphs",
                        "name the graph with `--graph FILE`");
  if (of_grad && !o->grad)
    return option_usage(t, grad_at, E0703, "no gradients are asked for", "add `--grad`");
  if (!o->graph)
    return !of_graphs || option_usage(t, o->emit_at, E0703, "this kind of `--emit` is of graphs",
                                      "name the graph with `--graph FILE`");
  if (o->mode == MODE_REPORT)
    return true;
  if (o->mode != MODE_COMPILE && o->mode != MODE_RUN && o->mode != MODE_BENCH)
    return option_usage(t, o->mode_at, E0703, "two modes at once",
                        "with `--graph` there are --emit, --run and --bench");
  o->graph_mode = o->mode;
  o->mode = MODE_GRAPH;
  return true;
}

// A verb that needs an argument, such as CODE, has it.
static bool check_verb(struct tool *t) {
  const struct verb *v = t->o.verb;
  if (!v || !v->argument || t->o.mode_argument || v->argument[0] == '[')
    return true;
  return option_usage(t, t->o.mode_at, E0702,
                      arena_printf(t->arena, "`tilec %s` wants %s after it", v->name, v->argument),
                      arena_printf(t->arena, "`tilec help %s` has examples", v->name));
}

static bool check_files(struct tool *t) {
  const struct options *o = &t->o;
  if (o->files.len < 2 || o->mode == MODE_TUNINGS)
    return true;
  const char *verb = o->verb ? NULL : verb_nearest(o->files.at[0].value);
  if (verb) { // `tilec comple add.tile`
    struct diag *d = diag_error(t->diag, o->files.at[0].where, E0703, "unknown verb `%.*s`",
                                STR_ARG(o->files.at[0].value));
    diag_help(d, "did you mean `tilec %s`?", verb);
    diag_fixit(d, o->files.at[0].where, verb);
    return false;
  }
  return option_usage(t, o->files.at[1].where, E0703, "more than one input file",
                      "give one; several kernels of one file are named by `--kernel`");
}

// A report is a page for people; other verbs print the same as data. It needs all stages.
static bool check_report(struct tool *t) {
  const struct options *o = &t->o;
  if (o->mode != MODE_REPORT)
    return true;
  if (o->json)
    return option_usage(t, o->mode_at, E0703, "a report is a page for people, not JSON",
                        "`tilec compile FILE --explain-perf --json` has a kernel's numbers as "
                        "data, `tilec graph FILE --emit=plan --json` those of a graph");
  if (o->emit_given)
    return option_usage(t, o->emit_at, E0703, "a report has all stages; `--emit` is not for it",
                        "`tilec compile FILE --emit=KIND` writes one");
  return (!o->passes.only && !o->passes.stop_after) ||
         option_usage(t, o->mode_at, E0703, "a report needs all passes",
                      "leave out `--passes` and `--stop-after`");
}

bool options_check(struct tool *t) {
  return check_verb(t) && check_files(t) && check_graph(t) && check_packing(t) && check_tuning(t) &&
         check_report(t) && check_simulation(t) && check_processor(t);
}
