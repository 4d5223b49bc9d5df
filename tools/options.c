// SPDX-License-Identifier: Apache-2.0
// The command line: one table, one loop. Options may stand in any order; `--name=value` and `--name
// value` mean the same, `-Dname=value` and `-D name=value` too.
#include "tools/tool.h"

#include <limits.h>
#include <stdio.h>

enum option_id {
#define OPTION(id, spelling, argument, group, help) OPTION_##id,
#include "tools/options.def"
#undef OPTION
  OPTION_COUNT
};

struct option {
  const char *spelling, *argument, *group, *help;
};

static const struct option table[] = {
#define OPTION(id, spelling, argument, group, help) {spelling, argument, group, help},
#include "tools/options.def"
#undef OPTION
};

static const char *const spellings[] = {
#define OPTION(id, spelling, argument, group, help) spelling,
#include "tools/options.def"
#undef OPTION
};

// One option as it stood on the command line.
struct given {
  enum option_id id;
  struct str value;
  struct span where; // of the value, or of the option itself
};

static bool usage(struct tool *t, struct span where, enum diag_code code, const char *what,
                  const char *help) {
  struct diag *d = diag_error(t->diag, where, code, "%s", what);
  if (help)
    diag_help(d, "%s", help);
  return false;
}

// NAME=VALUE into `ret`.
static bool split_assignment(struct tool *t, const struct given *g, struct assignment *ret) {
  struct str name, value = str_split(g->value, '=', &name);
  if (!value.ptr || name.len == 0)
    return usage(t, g->where, E0707,
                 arena_printf(t->arena, "`%s` wants %s, not `%.*s`", table[g->id].spelling,
                              table[g->id].argument, STR_ARG(g->value)),
                 NULL);
  ret->name = arena_strndup(t->arena, name.ptr, name.len);
  ret->value = value;
  ret->where = g->where;
  ret->where.begin += (uint32_t)name.len + 1;
  return true;
}

static bool number(struct tool *t, const struct given *g, uint64_t limit, uint64_t *ret) {
  if (str_to_u64(g->value, ret) && *ret >= 1 && *ret <= limit)
    return true;
  return usage(t, g->where, E0702,
               arena_printf(t->arena, "`%s` wants a number from 1 to %llu, not `%.*s`",
                            table[g->id].spelling, (unsigned long long)limit, STR_ARG(g->value)),
               NULL);
}

static bool real_number(struct tool *t, const struct given *g, double *ret) {
  if (str_to_f64(g->value, ret) && *ret >= 0)
    return true;
  return usage(t, g->where, E0702,
               arena_printf(t->arena, "`%s` wants a number of at least 0, not `%.*s`",
                            table[g->id].spelling, STR_ARG(g->value)),
               NULL);
}

// Index of the value among `n` words, or -1 with a diagnostic.
static int one_of(struct tool *t, const struct given *g, size_t n, const char *const *words) {
  for (size_t i = 0; i < n; i++)
    if (str_is(g->value, words[i]))
      return (int)i;
  struct strbuf list = {.arena = t->arena};
  for (size_t i = 0; i < n; i++)
    strbuf_printf(&list, "%s`%s`", i ? ", " : "", words[i]);
  const char *near = str_nearest(g->value, words, n);
  usage(t, g->where, E0702,
        arena_printf(t->arena, "unknown value `%.*s` of `%s`", STR_ARG(g->value),
                     table[g->id].spelling),
        near ? arena_printf(t->arena, "did you mean `%s`?", near)
             : arena_printf(t->arena, "one of %s", strbuf_cstr(&list)));
  strbuf_finish(&list);
  return -1;
}

static bool set_mode(struct tool *t, const struct given *g, enum tool_mode mode) {
  if (t->o.mode != MODE_COMPILE && t->o.mode != mode)
    return usage(t, g->where, E0703, "two modes at once",
                 "give one of --run, --bench, --autotune, --layout, --doctor, ...");
  t->o.mode = mode;
  t->o.mode_argument = g->value.ptr ? arena_strndup(t->arena, g->value.ptr, g->value.len) : NULL;
  t->o.mode_at = g->where;
  return true;
}

static const char *copy(struct tool *t, struct str s) {
  return arena_strndup(t->arena, s.ptr, s.len);
}

static bool is_given(const struct tool *t, enum option_id id, const char *name) {
  bool defines = id == OPTION_DEFINE, args = id == OPTION_ARG;
  size_t count = defines ? t->o.defines.len : args ? t->o.args.len : t->o.outs.len;
  const struct assignment *all = defines ? t->o.defines.at : args ? t->o.args.at : t->o.outs.at;
  for (size_t i = 0; i < count; i++)
    if (strcmp(all[i].name, name) == 0)
      return true;
  return false;
}

static bool apply_assignment(struct tool *t, const struct given *g) {
  struct assignment a;
  if (!split_assignment(t, g, &a))
    return false;
  if (g->id != OPTION_EXPECT && is_given(t, g->id, a.name))
    return usage(t, g->where, E0707,
                 arena_printf(t->arena, "`%s %s=` is given twice", table[g->id].spelling, a.name),
                 "one of them counts: leave the other out");
  switch (g->id) {
  case OPTION_DEFINE: vec_push(t->arena, &t->o.defines, a); break;
  case OPTION_ARG: vec_push(t->arena, &t->o.args, a); break;
  case OPTION_OUT: vec_push(t->arena, &t->o.outs, a); break;
  default: vec_push(t->arena, &t->o.expects, a); break;
  }
  return true;
}

static bool apply_number(struct tool *t, const struct given *g) {
  uint64_t n = 0;
  uint64_t limit = g->id == OPTION_NUM_WARPS       ? 32
                   : g->id == OPTION_NUM_STAGES    ? 16
                   : g->id == OPTION_MAX_REGISTERS ? 255
                   : g->id == OPTION_BYTES         ? INT64_MAX
                                                   : 1000000;
  if (!number(t, g, limit, &n))
    return false;
  switch (g->id) {
  case OPTION_NUM_WARPS:
    if (!is_pow2(n))
      return usage(t, g->where, E0702, "`--num-warps` must be a power of two",
                   "use 1, 2, 4, 8, 16 or 32");
    t->o.num_warps = (uint32_t)n;
    break;
  case OPTION_NUM_STAGES: t->o.num_stages = (uint32_t)n; break;
  case OPTION_MAX_REGISTERS:
    if (n < 16)
      return usage(t, g->where, E0702, "`--max-registers` must be at least 16",
                   "a thread needs that many for addresses alone");
    t->o.max_registers = (uint32_t)n;
    break;
  case OPTION_REPEATS: t->o.repeats = n; break;
  case OPTION_CANDIDATES: t->o.candidates = (uint32_t)n; break;
  default: t->o.bytes = n; break;
  }
  return true;
}

static void take_file(struct tool *t, const char *name, struct span where) {
  if (!t->o.file) {
    t->o.file = name;
    t->o.file_at = where;
  }
  vec_push(t->arena, &t->o.files, (struct word){str_from(name), where});
}

static bool apply_choice(struct tool *t, const struct given *g) {
  static const char *const forms[] = {"text", "json"}, *const colors[] = {"auto", "always",
                                                                          "never"};
  static const char *const artifacts[] = {"cubin", "pack",  "header",
                                          "c",     "graph", "plan"}; // from ARTIFACT_CUBIN on
  const char *kinds[EMIT_KIND_COUNT + COUNT_OF(artifacts)];
  for (int k = 0; k < EMIT_KIND_COUNT; k++)
    kinds[k] = emit_kind_name((enum emit_kind)k);
  memcpy(&kinds[EMIT_KIND_COUNT], artifacts, sizeof artifacts);
  int i = g->id == OPTION_EMIT    ? one_of(t, g, COUNT_OF(kinds), kinds)
          : g->id == OPTION_COLOR ? one_of(t, g, COUNT_OF(colors), colors)
                                  : one_of(t, g, COUNT_OF(forms), forms);
  if (i < 0)
    return false;
  if (g->id == OPTION_EMIT) {
    bool is_stage = i < EMIT_KIND_COUNT;
    t->o.artifact =
        is_stage ? ARTIFACT_STAGE : (enum artifact)(ARTIFACT_CUBIN + i - EMIT_KIND_COUNT);
    t->o.emit = is_stage ? (enum emit_kind)i : EMIT_PTX;
    t->o.emit_given = true;
    t->o.emit_at = g->where;
  } else if (g->id == OPTION_COLOR) {
    t->o.color = i == 0 ? COLOR_AUTO : i == 1 ? COLOR_ALWAYS : COLOR_NEVER;
  } else {
    t->o.diagnostics_json = i == 1;
  }
  return true;
}

static bool apply_target(struct tool *t, const struct given *g) {
  if (!str_is(g->value, "auto") && !target_find(g->value)) {
    const char *const *names = target_names();
    size_t n = 0;
    struct strbuf list = {.arena = t->arena};
    for (; names[n]; n++)
      strbuf_printf(&list, "`%s`, ", names[n]);
    const char *near = str_nearest(g->value, names, n);
    for (size_t i = 0; i < n; i++) // `sm_90` means `sm_90a`
      if (g->value.len && strncmp(names[i], g->value.ptr, g->value.len) == 0)
        near = names[i];
    struct diag *d =
        diag_error(t->diag, g->where, E0704, "unknown target `%.*s`", STR_ARG(g->value));
    if (near)
      diag_help(d, "did you mean `%s`?", near);
    else
      diag_help(d, "one of %s`auto`", strbuf_cstr(&list));
    strbuf_finish(&list);
    return false;
  }
  t->o.target = str_is(g->value, "auto") ? NULL : copy(t, g->value);
  t->o.target_at = g->where;
  vec_push(t->arena, &t->o.targets, (struct word){g->value, g->where});
  return true;
}

// `name`, a part of the option's value, must be a pass.
static bool known_pass(struct tool *t, const struct given *g, struct str name) {
  enum pass_id id;
  if (pass_find(name, &id))
    return true;
  const char *flags[PASS_COUNT];
  for (int i = 0; i < PASS_COUNT; i++)
    flags[i] = pass_info((enum pass_id)i)->flag;
  uint32_t begin = g->where.begin + (uint32_t)(name.ptr - g->value.ptr);
  struct span where = {g->where.source, begin, begin + (uint32_t)name.len};
  const char *near = str_nearest(name, flags, PASS_COUNT);
  return usage(t, where, E0705, arena_printf(t->arena, "unknown pass `%.*s`", STR_ARG(name)),
               near ? arena_printf(t->arena, "did you mean `%s`?", near)
                    : "`tilec --list-passes` lists them");
}

static bool apply_passes(struct tool *t, const struct given *g) {
  struct pass_options *p = &t->o.passes;
  const char *value = copy(t, g->value);
  if (g->id == OPTION_PRINT_IR_AFTER) {
    p->print_after = value;
    return str_is(g->value, "all") || str_is(g->value, "change") || known_pass(t, g, g->value);
  }
  if (g->id == OPTION_STOP_AFTER) {
    p->stop_after = value;
    return known_pass(t, g, g->value);
  }
  p->only = value;
  for (struct str rest = g->value, name; rest.ptr;) {
    rest = str_split(rest, ',', &name);
    if (!known_pass(t, g, name))
      return false;
  }
  return true;
}

static bool apply_effort(struct tool *t, const struct given *g) {
  static const char *const names[] = {"none", "quick", "full", "exhaustive"};
  int i = one_of(t, g, COUNT_OF(names), names);
  t->o.effort = (enum tune_effort)i;
  return i >= 0;
}

static bool apply_seed(struct tool *t, const struct given *g) {
  return str_to_u64(g->value, &t->o.seed) ||
         usage(t, g->where, E0702,
               arena_printf(t->arena, "`--seed` wants a whole number of at least 0, not `%.*s`",
                            STR_ARG(g->value)),
               NULL);
}

static bool apply(struct tool *t, const struct given *g) {
  struct options *o = &t->o;
  switch (g->id) {
  case OPTION_RUN: return set_mode(t, g, MODE_RUN);
  case OPTION_BENCH: return set_mode(t, g, MODE_BENCH);
  case OPTION_AUTOTUNE: return set_mode(t, g, MODE_AUTOTUNE);
  case OPTION_GRAPH:
    o->graph = true;
    take_file(t, copy(t, g->value), g->where);
    break;
  case OPTION_LAYOUT: return set_mode(t, g, MODE_LAYOUT);
  case OPTION_TUNINGS: return set_mode(t, g, MODE_TUNINGS);
  case OPTION_DOCTOR: return set_mode(t, g, MODE_DOCTOR);
  case OPTION_LIST_PASSES: return set_mode(t, g, MODE_LIST_PASSES);
  case OPTION_EXPLAIN: return set_mode(t, g, MODE_EXPLAIN);
  case OPTION_VERSION: return set_mode(t, g, MODE_VERSION);
  case OPTION_HELP: return set_mode(t, g, MODE_HELP);
  case OPTION_DEFINE:
  case OPTION_ARG:
  case OPTION_OUT:
  case OPTION_EXPECT: return apply_assignment(t, g);
  case OPTION_NUM_WARPS:
  case OPTION_NUM_STAGES:
  case OPTION_MAX_REGISTERS:
  case OPTION_REPEATS:
  case OPTION_CANDIDATES:
  case OPTION_BYTES: return apply_number(t, g);
  case OPTION_EMIT:
  case OPTION_COLOR:
  case OPTION_DIAGNOSTICS: return apply_choice(t, g);
  case OPTION_TARGET: return apply_target(t, g);
  case OPTION_RTOL: return o->rtol_given = real_number(t, g, &o->rtol);
  case OPTION_ATOL: return o->atol_given = real_number(t, g, &o->atol);
  case OPTION_FLOPS: return real_number(t, g, &o->flops);
  case OPTION_BUDGET: return o->budget_given = real_number(t, g, &o->budget);
  case OPTION_TUNE_TIMEOUT: return real_number(t, g, &o->tune_timeout);
  case OPTION_EFFORT: return apply_effort(t, g);
  case OPTION_SEED: return apply_seed(t, g);
  case OPTION_SPACE: o->space = (struct word){g->value, g->where}; break;
  case OPTION_TUNE_FILE: o->tune_file = copy(t, g->value); break;
  case OPTION_SVG: o->svg = copy(t, g->value); break;
  case OPTION_T4: o->t4 = copy(t, g->value); break;
  case OPTION_NO_RESUME: o->no_resume = true; break;
  case OPTION_KERNEL:
    o->kernel = copy(t, g->value);
    vec_push(t->arena, &o->kernels, (struct word){g->value, g->where});
    break;
  case OPTION_SPEC: vec_push(t->arena, &o->specs, (struct word){g->value, g->where}); break;
  case OPTION_FUNCTION: vec_push(t->arena, &o->functions, (struct word){g->value, g->where}); break;
  case OPTION_FOLDER: vec_push(t->arena, &o->folders, copy(t, g->value)); break;
  case OPTION_PTXAS:
    o->ptxas = copy(t, g->value);
    o->ptxas_at = g->where;
    break;
  case OPTION_NAME:
    o->name = copy(t, g->value);
    o->name_at = g->where;
    break;
  case OPTION_OUTPUT: o->output = copy(t, g->value); break;
  case OPTION_SIGNATURE:
    o->signature = g->value;
    o->signature_at = g->where;
    break;
  case OPTION_GRID:
    o->grid = g->value;
    o->grid_at = g->where;
    vec_push(t->arena, &o->grids, (struct word){g->value, g->where});
    break;
  case OPTION_PRINT_IR_AFTER:
  case OPTION_STOP_AFTER:
  case OPTION_PASSES: return apply_passes(t, g);
  case OPTION_DUMP_DIR: o->passes.dump_dir = copy(t, g->value); break;
  case OPTION_CHECK:
    o->check = true;
    o->check_at = g->where;
    break;
  case OPTION_KEEP_CASTS:
    o->keep_casts = true;
    o->keep_casts_at = g->where;
    break;
  case OPTION_SIMULATE:
    o->simulate = true;
    o->simulate_at = g->where;
    break;
  case OPTION_NO_TUNINGS: o->no_tunings = true; break;
  case OPTION_TUNED_FOR: o->tuned_for = (struct word){g->value, g->where}; break;
  case OPTION_TIME_PASSES: o->passes.time_passes = true; break;
  case OPTION_VERIFY_EACH: o->passes.verify_each = true; break;
  case OPTION_EXPLAIN_PERF: o->explain_perf = true; break;
  case OPTION_EXPLAIN_FUSION:
    o->explain_fusion = true;
    o->explain_fusion_at = g->where;
    break;
  case OPTION_MAX_AUTOTUNE:
    o->max_autotune = true;
    o->max_autotune_at = g->where;
    break;
  case OPTION_WEIGHTS: o->weights = (struct word){g->value, g->where}; break;
  case OPTION_JSON: o->json = true; break;
  case OPTION_COUNT: break;
  }
  return true;
}

// Finds the option of a word; *ret_value is what is joined to it by '=' (or follows -D, -o
// directly).
static bool find_option(struct str word, enum option_id *ret, struct str *ret_value) {
  struct str head, tail = str_split(word, '=', &head);
  for (int i = 0; i < OPTION_COUNT; i++) {
    struct str s = str_from(table[i].spelling);
    bool is_short = s.len == 2;
    *ret = (enum option_id)i;
    if (is_short && word.len > 2 && str_starts(word, s.ptr)) {
      *ret_value = (struct str){word.ptr + 2, word.len - 2};
      return true;
    }
    if (str_eq(is_short ? word : head, s)) {
      *ret_value = is_short ? (struct str){0} : tail;
      return true;
    }
  }
  return false;
}

static bool unknown_option(struct tool *t, struct str word, struct span where) {
  struct str name;
  (void)str_split(word, '=', &name);
  struct diag *d = diag_error(t->diag, where, E0701, "unknown option `%.*s`", STR_ARG(name));
  const char *near = str_nearest(name, spellings, COUNT_OF(spellings));
  if (near)
    diag_help(d, "did you mean `%s`?", near);
  else
    diag_help(d, "`tilec --help` lists the options");
  return false;
}

// The words joined by blanks; starts[i] is the offset of word i.
static void join_words(struct tool *t, int argc, char **argv, uint32_t *starts) {
  struct strbuf line = {.arena = t->arena};
  for (int i = 0; i < argc; i++) {
    if (i)
      strbuf_putc(&line, ' ');
    starts[i] = (uint32_t)line.len;
    strbuf_puts(&line, i ? argv[i] : "tilec");
  }
  t->command_line = source_create(t->arena, "command line", str_from(strbuf_cstr(&line)));
  strbuf_finish(&line);
}

static bool only_for_packs(struct tool *t, const struct word *w, size_t count, size_t limit,
                           const char *what) {
  if (count <= limit)
    return true;
  return usage(
      t, w[limit].where, E0703,
      arena_printf(t->arena, "%s %s packs", what, limit ? "several times is for" : "is for"),
      "add `--emit=pack`, `--emit=header` or `--emit=c`");
}

// What may stand several times, or at all, with --emit=pack, header and c only.
static bool check_simulation(struct tool *t) {
  const struct options *o = &t->o;
  if (!o->simulate)
    return true;
  if (o->mode != MODE_RUN && (o->mode != MODE_GRAPH || o->graph_mode != MODE_RUN))
    return usage(t, o->simulate_at, E0703, "`--simulate` is for `--run`",
                 "times and tunings of a simulation say nothing about a GPU");
  if (o->max_autotune)
    return usage(t, o->simulate_at, E0703, "`--simulate` does not go with `--max-autotune`",
                 "times of a simulation say nothing about a GPU");
  if (!o->target)
    return usage(t, o->simulate_at, E0703, "`--simulate` needs a GPU to simulate",
                 "add for example `--target sm_90a`");
  return strcmp(o->target, "cpu") != 0 ||
         usage(t, o->target_at, E0703, "`--simulate` runs the code of a GPU, not that of the CPU",
               "add for example `--target sm_90a`, or leave out `--simulate`");
}

static bool check_packing(struct tool *t) {
  const struct options *o = &t->o;
  if (o->mode == MODE_GRAPH || (o->mode == MODE_COMPILE && o->artifact >= ARTIFACT_PACK))
    return true;
  return only_for_packs(t, o->kernels.at, o->kernels.len, 1, "`--kernel`") &&
         only_for_packs(t, o->targets.at, o->targets.len, 1, "`--target`") &&
         only_for_packs(t, o->grids.at, o->grids.len, 1, "`--grid`") &&
         only_for_packs(t, o->specs.at, o->specs.len, 0, "`--spec`") &&
         only_for_packs(t, o->functions.at, o->functions.len, 0, "`--function`") &&
         only_for_packs(t, &(struct word){{0}, o->name_at}, o->name != NULL, 0, "`--name`");
}

// What a tuning would not do: it launches candidates, over and over, for their times.
static bool check_tuning(struct tool *t) {
  const struct options *o = &t->o;
  if (o->mode != MODE_AUTOTUNE)
    return true;
  if (o->outs.len)
    return usage(t, o->outs.at[0].where, E0703, "`--out` is not for `--autotune`",
                 "`--run` afterwards takes what was chosen and writes arguments; `--expect` is "
                 "compared with the results of every candidate");
  return !o->check || usage(t, o->check_at, E0703, "`--check` is not for `--autotune`",
                            "checked accesses would be timed; check the kernel with `--run` first");
}

// --graph goes with the modes that run what was compiled; some of what --emit takes is of one of
// them only.
static bool check_graph(struct tool *t) {
  struct options *o = &t->o;
  bool of_graphs = o->artifact == ARTIFACT_GRAPH || o->artifact == ARTIFACT_PLAN;
  if (!o->graph && o->max_autotune)
    return usage(t, o->max_autotune_at, E0703, "`--max-autotune` is of graphs",
                 "kernels are tuned with `--autotune`");
  if (!o->graph && o->weights.value.ptr)
    return usage(t, o->weights.where, E0703, "`--weights` is of graphs",
                 "name the graph with `--graph FILE`");
  if (!o->graph && o->explain_fusion)
    return usage(t, o->explain_fusion_at, E0703, "`--explain-fusion` is of graphs",
                 "name the graph with `--graph FILE`");
  if (!o->graph && o->keep_casts)
    return usage(t, o->keep_casts_at, E0703, "`--keep-casts` is of graphs",
                 "name the graph with `--graph FILE`");
  if (!o->graph)
    return !of_graphs || usage(t, o->emit_at, E0703, "this kind of `--emit` is of graphs",
                               "name the graph with `--graph FILE`");
  if (o->mode != MODE_COMPILE && o->mode != MODE_RUN && o->mode != MODE_BENCH)
    return usage(t, o->mode_at, E0703, "two modes at once",
                 "with `--graph` there are --emit, --run and --bench");
  o->graph_mode = o->mode;
  o->mode = MODE_GRAPH;
  return true;
}

static bool check_files(struct tool *t) {
  return t->o.files.len < 2 || t->o.mode == MODE_TUNINGS ||
         usage(t, t->o.files.at[1].where, E0703, "more than one input file", NULL);
}

bool options_parse(struct tool *t, int argc, char **argv) {
  t->o.effort = TUNE_EFFORT_QUICK;
  uint32_t *starts = arena_array(t->arena, uint32_t, (size_t)argc + 1);
  join_words(t, argc, argv, starts);
  bool ok = true;
  for (int i = 1; i < argc; i++) {
    struct str word = str_from(argv[i]);
    struct given g = {0};
    g.where = (struct span){t->command_line, starts[i], starts[i] + (uint32_t)word.len};
    if (word.len < 2 || word.ptr[0] != '-') {
      if (t->o.mode == MODE_LAYOUT) // the SPEC may be several words
        t->o.mode_argument = arena_printf(t->arena, "%s %s", t->o.mode_argument, argv[i]);
      else
        take_file(t, argv[i], g.where);
      continue;
    }
    if (!find_option(word, &g.id, &g.value)) {
      ok = unknown_option(t, word, g.where);
      continue;
    }
    if (table[g.id].argument && !g.value.ptr && i + 1 < argc) {
      i++;
      g.value = str_from(argv[i]);
      g.where = (struct span){t->command_line, starts[i], starts[i] + (uint32_t)g.value.len};
    } else if (g.value.ptr) {
      g.where.begin = g.where.end - (uint32_t)g.value.len;
    }
    if (table[g.id].argument && !g.value.ptr) {
      ok = usage(t, g.where, E0702,
                 arena_printf(t->arena, "`%s` wants %s after it", table[g.id].spelling,
                              table[g.id].argument),
                 NULL);
      continue;
    }
    if (!table[g.id].argument && g.value.ptr) {
      ok = usage(t, g.where, E0702,
                 arena_printf(t->arena, "`%s` takes no value", table[g.id].spelling), NULL);
      continue;
    }
    ok &= apply(t, &g);
  }
  return ok && check_files(t) && check_graph(t) && check_packing(t) && check_tuning(t) &&
         check_simulation(t);
}

void options_help(struct strbuf *out) {
  strbuf_puts(
      out, "tilec: compiles .tile kernels (the Triton kernel language) to PTX and runs them\n"
           "\n"
           "  tilec add.tile --target sm_90a --emit=ptx          compile to standard output\n"
           "  tilec --run add.tile --arg x='f32[1000]:rand(0)' --arg y='f32[1000]:rand(1)' \\\n"
           "        --arg out='f32[1000]:zeros' --arg n=1000 --grid 'cdiv(n,BLOCK)' -D BLOCK=1024\n"
           "  tilec --bench add.tile ...                         the same arguments, timed\n"
           "  tilec --autotune add.tile ...                      the same arguments, finds the "
           "best block sizes\n"
           "  tilec --graph model.py --emit=graph                read a tensor graph of PyTorch\n"
           "  tilec --layout 'mma_v2 16x8'                       draw a layout\n"
           "  tilec --explain E0201                              explain a diagnostic\n");
  static const struct {
    const char *group, *title;
  } groups[] = {{"mode", "Modes (without one: compile)"},
                {"compile", "Compiling"},
                {"ahead", "Packs and C (--emit=pack, header, c)"},
                {"run", "Running (--run, --bench, --autotune)"},
                {"bench", "Timing (--bench)"},
                {"autotune", "Tuning (--autotune)"},
                {"inside", "Debugging and reports"},
                {"output", "Messages and results"}};
  for (size_t g = 0; g < COUNT_OF(groups); g++) {
    strbuf_printf(out, "\n%s\n", groups[g].title);
    for (int i = 0; i < OPTION_COUNT; i++) {
      if (strcmp(table[i].group, groups[g].group) != 0)
        continue;
      char left[64];
      snprintf(left, sizeof(left), "%s%s%s", table[i].spelling, table[i].argument ? " " : "",
               table[i].argument ? table[i].argument : "");
      strbuf_printf(out, strlen(left) > 30 ? "  %s\n  %31s%s\n" : "  %-31s%s%s\n", left, "",
                    table[i].help);
    }
  }
  strbuf_puts(
      out,
      "\nExit status: 0 done; 1 wrong input or failed comparison; 2 usage; 69 no such device;\n"
      "70 internal error; 73 output cannot be written; 74 read or write failed; 75 a limit was "
      "reached;\n130, 143 tuning was interrupted, the best so far is written.\n"
      "TILE_DEBUG=help lists tracing topics; TILE_CACHE_DIR sets the cache's folder.\n");
}
