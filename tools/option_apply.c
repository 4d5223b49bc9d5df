// SPDX-License-Identifier: Apache-2.0
// Stores options in `struct options`, by families: modes, flags, texts; those with values that need
// a check are in option_values.c.
#include "tools/option_values.h"

#include <assert.h>

static bool set_mode(struct tool *t, const struct given *g, enum tool_mode mode) {
  if (t->o.mode != MODE_COMPILE && t->o.mode != mode)
    return option_usage(t, g->where, E0703, "two modes at once",
                        "give one of --run, --bench, --autotune, --layout, --doctor, ...");
  t->o.mode = mode;
  t->o.mode_argument = g->value.ptr ? arena_strndup(t->arena, g->value.ptr, g->value.len) : NULL;
  t->o.mode_at = g->where;
  return true;
}

// Options that only set a mode.
static bool apply_mode(struct tool *t, const struct given *g) {
  switch (g->id) {
  case OPTION_RUN: return set_mode(t, g, MODE_RUN);
  case OPTION_BENCH: return set_mode(t, g, MODE_BENCH);
  case OPTION_AUTOTUNE: return set_mode(t, g, MODE_AUTOTUNE);
  case OPTION_LAYOUT: return set_mode(t, g, MODE_LAYOUT);
  case OPTION_TUNINGS: return set_mode(t, g, MODE_TUNINGS);
  case OPTION_DOCTOR: return set_mode(t, g, MODE_DOCTOR);
  case OPTION_LIST_PASSES: return set_mode(t, g, MODE_LIST_PASSES);
  case OPTION_EXPLAIN: return set_mode(t, g, MODE_EXPLAIN);
  case OPTION_VERSION: return set_mode(t, g, MODE_VERSION);
  default: return set_mode(t, g, MODE_HELP); // OPTION_HELP
  }
}

// Options without a value.
static bool apply_flag(struct tool *t, const struct given *g) {
  struct options *o = &t->o;
  switch (g->id) {
  case OPTION_NO_RESUME: o->no_resume = true; break;
  case OPTION_LAUNCH_PDL: o->launch_pdl = true; break;
  case OPTION_NO_PDL: o->no_pdl = true, o->no_pdl_at = g->where; break;
  case OPTION_FIND_NAN: o->find_nan = true, o->find_nan_at = g->where; break;
  case OPTION_NO_TUNINGS: o->no_tunings = true; break;
  case OPTION_TIME_PASSES: o->passes.time_passes = true; break;
  case OPTION_VERIFY_EACH: o->passes.verify_each = true; break;
  case OPTION_EXPLAIN_PERF: o->explain_perf = true; break;
  case OPTION_CHECK: o->check = true, o->check_at = g->where; break;
  case OPTION_KEEP_CASTS: o->keep_casts = true, o->keep_casts_at = g->where; break;
  case OPTION_GRAD: o->grad = true, o->grad_at = g->where; break;
  case OPTION_EXPLAIN_PARTITION: o->explain_partition = true, o->grad_at = g->where; break;
  case OPTION_GRAD_SEEDS: o->grad_seeds = true, o->grad_at = g->where; break;
  case OPTION_SIMULATE: o->simulate = true, o->simulate_at = g->where; break;
  case OPTION_EXPLAIN_FUSION: o->explain_fusion = true, o->explain_fusion_at = g->where; break;
  case OPTION_MAX_AUTOTUNE: o->max_autotune = true, o->max_autotune_at = g->where; break;
  default: o->json = true; break; // OPTION_JSON
  }
  return true;
}

// Options whose value is kept as it stands.
static bool apply_text(struct tool *t, const struct given *g) {
  struct options *o = &t->o;
  const char *text = option_copy(t, g->value);
  switch (g->id) {
  case OPTION_TUNE_FILE: o->tune_file = text; break;
  case OPTION_SVG: o->svg = text; break;
  case OPTION_T4: o->t4 = text; break;
  case OPTION_FOLDER: vec_push(t->arena, &o->folders, text); break;
  case OPTION_PTXAS: o->ptxas = text, o->ptxas_at = g->where; break;
  case OPTION_NAME: o->name = text, o->name_at = g->where; break;
  case OPTION_OUTPUT: o->output = text; break;
  default: o->passes.dump_dir = text; break; // OPTION_DUMP_DIR
  }
  return true;
}

// Options whose value is read later; a message then points into it.
static bool apply_word(struct tool *t, const struct given *g) {
  struct options *o = &t->o;
  struct word word = {g->value, g->where};
  switch (g->id) {
  case OPTION_GRAPH:
    o->graph = true;
    option_take_file(t, option_copy(t, g->value), g->where);
    break;
  case OPTION_SPACE: o->space = word; break;
  case OPTION_TUNED_FOR: o->tuned_for = word; break;
  case OPTION_WEIGHTS: o->weights = word; break;
  case OPTION_LOSS: o->loss = word; break;
  case OPTION_WRT: o->wrt = word; break;
  case OPTION_KERNEL:
    o->kernel = option_copy(t, g->value);
    vec_push(t->arena, &o->kernels, word);
    break;
  case OPTION_SPEC: vec_push(t->arena, &o->specs, word); break;
  case OPTION_FUNCTION: vec_push(t->arena, &o->functions, word); break;
  case OPTION_SIGNATURE: o->signature = g->value, o->signature_at = g->where; break;
  default: // OPTION_GRID
    o->grid = g->value, o->grid_at = g->where;
    vec_push(t->arena, &o->grids, word);
    break;
  }
  return true;
}

// What stores each option; tests/unit/tools/test_options.c gives every one of them.
static bool (*const appliers[OPTION_COUNT])(struct tool *t, const struct given *g) = {
    [OPTION_RUN] = apply_mode,
    [OPTION_BENCH] = apply_mode,
    [OPTION_AUTOTUNE] = apply_mode,
    [OPTION_LAYOUT] = apply_mode,
    [OPTION_TUNINGS] = apply_mode,
    [OPTION_DOCTOR] = apply_mode,
    [OPTION_LIST_PASSES] = apply_mode,
    [OPTION_EXPLAIN] = apply_mode,
    [OPTION_VERSION] = apply_mode,
    [OPTION_HELP] = apply_mode,
    [OPTION_DEFINE] = option_apply_assignment,
    [OPTION_ARG] = option_apply_assignment,
    [OPTION_OUT] = option_apply_assignment,
    [OPTION_EXPECT] = option_apply_assignment,
    [OPTION_NUM_WARPS] = option_apply_number,
    [OPTION_NUM_STAGES] = option_apply_number,
    [OPTION_MAX_REGISTERS] = option_apply_number,
    [OPTION_NUM_CTAS] = option_apply_number,
    [OPTION_REPEATS] = option_apply_number,
    [OPTION_CANDIDATES] = option_apply_number,
    [OPTION_BYTES] = option_apply_number,
    [OPTION_MEMORY_BUDGET] = option_apply_number,
    [OPTION_RTOL] = option_apply_real,
    [OPTION_ATOL] = option_apply_real,
    [OPTION_FLOPS] = option_apply_real,
    [OPTION_BUDGET] = option_apply_real,
    [OPTION_TUNE_TIMEOUT] = option_apply_real,
    [OPTION_EMIT] = option_apply_choice,
    [OPTION_COLOR] = option_apply_choice,
    [OPTION_DIAGNOSTICS] = option_apply_choice,
    [OPTION_WARP_SPECIALIZE] = option_apply_warp_specialize,
    [OPTION_PRINT_IR_AFTER] = option_apply_passes,
    [OPTION_STOP_AFTER] = option_apply_passes,
    [OPTION_PASSES] = option_apply_passes,
    [OPTION_TARGET] = option_apply_target,
    [OPTION_EFFORT] = option_apply_effort,
    [OPTION_SEED] = option_apply_seed,
    [OPTION_TUNE_FILE] = apply_text,
    [OPTION_SVG] = apply_text,
    [OPTION_T4] = apply_text,
    [OPTION_FOLDER] = apply_text,
    [OPTION_PTXAS] = apply_text,
    [OPTION_NAME] = apply_text,
    [OPTION_OUTPUT] = apply_text,
    [OPTION_DUMP_DIR] = apply_text,
    [OPTION_GRAPH] = apply_word,
    [OPTION_SPACE] = apply_word,
    [OPTION_TUNED_FOR] = apply_word,
    [OPTION_WEIGHTS] = apply_word,
    [OPTION_KERNEL] = apply_word,
    [OPTION_SPEC] = apply_word,
    [OPTION_FUNCTION] = apply_word,
    [OPTION_SIGNATURE] = apply_word,
    [OPTION_GRID] = apply_word,
    [OPTION_NO_RESUME] = apply_flag,
    [OPTION_LAUNCH_PDL] = apply_flag,
    [OPTION_NO_PDL] = apply_flag,
    [OPTION_FIND_NAN] = apply_flag,
    [OPTION_NO_TUNINGS] = apply_flag,
    [OPTION_TIME_PASSES] = apply_flag,
    [OPTION_VERIFY_EACH] = apply_flag,
    [OPTION_EXPLAIN_PERF] = apply_flag,
    [OPTION_CHECK] = apply_flag,
    [OPTION_KEEP_CASTS] = apply_flag,
    [OPTION_GRAD] = apply_flag,
    [OPTION_GRAD_SEEDS] = apply_flag,
    [OPTION_EXPLAIN_PARTITION] = apply_flag,
    [OPTION_LOSS] = apply_word,
    [OPTION_WRT] = apply_word,
    [OPTION_SIMULATE] = apply_flag,
    [OPTION_EXPLAIN_FUSION] = apply_flag,
    [OPTION_MAX_AUTOTUNE] = apply_flag,
    [OPTION_JSON] = apply_flag,
};

bool option_apply(struct tool *t, const struct given *g) {
  assert(appliers[g->id] && "every option of options.def has a row");
  return appliers[g->id](t, g);
}
