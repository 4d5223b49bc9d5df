// SPDX-License-Identifier: Apache-2.0
// For each narrow access: one parameter after the other, then all of them, then the values that it
// loads. The first edits that widen it are kept.
#include "tools/perf/perf_advice.h"

#include "autotune/predict.h"
#include "tools/layout/layout_of_kernel.h"
#include "tools/perf/perf_edit.h"

#include <string.h>

enum { MOST_TRIALS = 24, WAVES = 4, LANES = 32 };

// ---- causes ----

static void push_roots(struct arena *a, struct ir_context *c, const struct source *source,
                       const narrow_root_list *roots, struct perf_cause cause,
                       perf_cause_list *ret) {
  for (size_t i = 0; i < roots->len; i++) {
    const struct narrow_root *r = &roots->at[i];
    cause.kind = r->kind;
    cause.parameter = r->parameter;
    cause.is_pointer = r->is_pointer;
    if (r->kind == NARROW_LOADED)
      cause.load = location_in_source(c, source, mlirOperationGetLocation(r->load));
    if (r->kind != NARROW_LOADED || (cause.load.source && !cause.of_mask))
      vec_push(a, ret, cause);
  }
}

// The most warps whose threads all have a vector of the tile.
static uint32_t fitting_warps(const struct memory_access *m) {
  uint64_t elements = m->bytes / m->element_bytes / m->wanted;
  return elements < 2 * LANES ? 1 : (uint32_t)(elements / LANES);
}

void perf_advice_collect(struct arena *a, struct ir_context *c, const struct source *source,
                         const struct memory_access *m, const char *location,
                         perf_cause_list *ret) {
  const char *memory = m->parameter ? arena_printf(a, " of `%s`", m->parameter) : "";
  struct perf_cause cause = {.multiple = m->wanted,
                             .access = arena_printf(a, "the %s%s at %s is %u wide, not %u", m->what,
                                                    memory, location, m->width, m->wanted)};
  push_roots(a, c, source, &m->roots, cause, ret);
  if (m->few) {
    cause.num_warps = fitting_warps(m);
    vec_push(a, ret, cause);
    cause.num_warps = 0;
  }
  cause.multiple = m->width;
  cause.of_mask = true;
  cause.access =
      arena_printf(a, "the mask of the %s%s at %s may cut its vectors", m->what, memory, location);
  push_roots(a, c, source, &m->mask_roots, cause, ret);
}

// ---- trials ----

struct set {
  const struct perf_cause *at[8];
  size_t len;
};

struct trial {
  struct set causes;
  bool failed;
  struct perf_edit edit;
  uint64_t accesses; // instructions
  struct kernel_cost cost;
};

struct search {
  struct tool *t;
  const struct compile_request *request;
  const struct lang_param *params;
  size_t param_count;
  uint64_t accesses;
  tile_device_properties device;
  tile_grid grid;
  VEC(struct trial *) trials; // each set once
  VEC(struct trial *) kept;
};

// Instructions of all warps for accesses; one more where the mask may cut vectors.
static uint64_t access_instructions(const struct performance *p, uint32_t num_warps) {
  uint64_t n = 0;
  for (size_t i = 0; i < p->accesses.len; i++) {
    const struct memory_access *m = &p->accesses.at[i];
    n += (uint64_t)m->count * num_warps + m->cut;
  }
  return n;
}

static void read_trial(void *user, struct ir_context *c, MlirModule module) {
  static const uint32_t one[3] = {1, 1, 1};
  struct trial *trial = user;
  const struct compile_request *r = &trial->edit.request;
  uint32_t warps = r->num_warps ? r->num_warps : 4;
  struct performance p = performance_of(c, module, r->target, warps, c->arena);
  trial->accesses = access_instructions(&p, warps);
  trial->cost = kernel_cost_of(c, module, r->target, warps, NULL, 0, one);
}

static bool same_cause(const struct perf_cause *x, const struct perf_cause *y) {
  if (x->kind != y->kind || x->num_warps != y->num_warps || !x->parameter != !y->parameter)
    return false;
  return x->parameter ? strcmp(x->parameter, y->parameter) == 0 : x->load.begin == y->load.begin;
}

static void set_add(struct set *s, const struct perf_cause *cause) {
  for (size_t i = 0; i < s->len; i++)
    if (same_cause(s->at[i], cause))
      return;
  if (s->len < COUNT_OF(s->at))
    s->at[s->len++] = cause;
}

static bool same_set(const struct set *x, const struct set *y) {
  bool same = x->len == y->len;
  for (size_t i = 0; same && i < x->len; i++) {
    struct set with = *y;
    set_add(&with, x->at[i]);
    same = with.len == y->len;
  }
  return same;
}

// Errors of an edit drop it, except this one.
static void note_out_of_memory(struct tool *t, const struct diag_engine *of_trial) {
  if (diag_first_error_code(of_trial) == E0991)
    diag_out_of_memory(t->diag);
}

// The trial of that set, compiled at most once; NULL: it cannot be edited or compiled, or there
// were too many trials.
static struct trial *trial_of(struct search *s, const struct set *causes) {
  struct arena *a = s->t->arena;
  for (size_t i = 0; i < s->trials.len; i++)
    if (same_set(&s->trials.at[i]->causes, causes))
      return s->trials.at[i]->failed ? NULL : s->trials.at[i];
  if (s->trials.len == MOST_TRIALS || causes->len == 0)
    return NULL;
  struct trial *trial = arena_new(a, struct trial);
  *trial = (struct trial){.causes = *causes, .failed = true};
  vec_push(a, &s->trials, trial);
  if (!perf_edit_make(a, s->request, s->params, s->param_count, causes->at, causes->len,
                      &trial->edit))
    return NULL;
  struct compile_request *r = &trial->edit.request;
  r->emit = EMIT_TILEGPU;
  r->no_text = true;
  r->static_print = NULL;
  r->passes = (struct pass_options){0};
  r->inspect = read_trial;
  r->inspect_user = trial;
  struct arena *scratch = arena_create_nested(a);
  struct compile_result result = {0};
  struct diag_engine *own = diag_engine_create(scratch);
  trial->failed = !compile_kernel(scratch, own, r, &result);
  note_out_of_memory(s->t, own);
  arena_destroy(scratch);
  return trial->failed ? NULL : trial;
}

static bool keep_if_wider(struct search *s, const struct set *causes) {
  struct trial *trial = trial_of(s, causes);
  if (!trial || trial->accesses >= s->accesses)
    return false;
  for (size_t i = 0; i < s->kept.len; i++)
    if (s->kept.at[i] == trial)
      return true;
  vec_push(s->t->arena, &s->kept, trial);
  return true;
}

// The causes of one access, `count` of them.
static void try_access(struct search *s, const struct perf_cause *causes, size_t count) {
  struct set all = {0}, loads = {0};
  bool found = false;
  for (size_t i = 0; i < count; i++) {
    struct set one = {{&causes[i]}, 1};
    if (causes[i].kind == NARROW_LOADED && !causes[i].num_warps)
      set_add(&loads, &causes[i]);
    else if (keep_if_wider(s, &one))
      found = true;
    else
      set_add(&all, &causes[i]);
  }
  if (found || (all.len > 1 && keep_if_wider(s, &all)))
    return;
  for (size_t i = 0; i < loads.len; i++) {
    struct set one = {{loads.at[i]}, 1};
    found |= keep_if_wider(s, &one);
    set_add(&all, loads.at[i]);
  }
  if (!found)
    keep_if_wider(s, &all);
}

// ---- texts ----

static const char *load_text(struct arena *a, struct span at) {
  struct line_col lc = source_line_col(at.source, at.begin);
  uint32_t n = at.end - at.begin < 40 ? at.end - at.begin : 40;
  return arena_printf(a, "`%.*s%s` at %u:%u", (int)n, at.source->text.ptr + at.begin,
                      n < at.end - at.begin ? "..." : "", lc.line, lc.col);
}

static const char *what_text(struct arena *a, const struct set *s) {
  struct strbuf b = {.arena = a};
  for (size_t i = 0; i < s->len; i++) {
    const struct perf_cause *c = s->at[i];
    strbuf_puts(&b, i ? " and " : "");
    if (c->num_warps)
      strbuf_puts(&b, "there are more threads than vectors of elements");
    else if (c->kind == NARROW_STRIDE)
      strbuf_printf(&b, "`%s` is not known to be 1", c->parameter);
    else if (c->is_pointer)
      strbuf_printf(&b, "`%s` is not known to begin at a multiple of 16 bytes", c->parameter);
    else
      strbuf_printf(&b, "%s is not known to be a multiple of %u",
                    c->parameter ? arena_printf(a, "`%s`", c->parameter) : load_text(a, c->load),
                    c->multiple);
  }
  strbuf_printf(&b, ": %s", s->at[0]->access);
  return strbuf_cstr(&b);
}

static const char *launches_text(struct arena *a, const struct set *s) {
  struct strbuf b = {.arena = a};
  for (size_t i = 0; i < s->len; i++) {
    const struct perf_cause *c = s->at[i];
    if (c->num_warps)
      return NULL;
    if (!c->parameter)
      return "a launch cannot know a loaded value: promise it only if it is so";
    strbuf_printf(&b, "%s`%s` %s", b.len ? " and " : "launches whose ", c->parameter,
                  c->kind == NARROW_STRIDE ? "is 1"
                  : c->is_pointer          ? "begins at a multiple of 16 bytes"
                                           : "is a multiple of 16");
  }
  strbuf_puts(&b, " compile this form by themselves");
  return strbuf_cstr(&b);
}

static struct prediction predict(const struct search *s, const struct kernel_cost *cost) {
  return tune_predict(&s->device, s->request->target, cost, s->grid);
}

static void push_advice(struct search *s, struct trial *trial, double ms, const char *limiter,
                        struct perf_advice_list *ret) {
  struct arena *a = s->t->arena;
  struct perf_advice advice = {.what = what_text(a, &trial->causes),
                               .option =
                                   trial->edit.option.len ? strbuf_cstr(&trial->edit.option) : NULL,
                               .launches = launches_text(a, &trial->causes),
                               .ms = ms,
                               .limiter = limiter};
  perf_edit_lines(a, s->request->source, &trial->edit, &advice);
  vec_push(a, &ret->at, advice);
}

// Edits that are predicted to gain; the others, which make one access wide beside a narrow one of
// the same layout, as one edit with all, if that gains.
static void describe(struct search *s, struct perf_advice_list *ret) {
  struct set all = {0};
  for (size_t i = 0; i < s->kept.len; i++) {
    struct trial *trial = s->kept.at[i];
    struct prediction p = predict(s, &trial->cost);
    if (perf_advice_gains(ret, p.ms))
      push_advice(s, trial, p.ms, p.limiter, ret);
    for (size_t k = 0; k < trial->causes.len; k++)
      set_add(&all, trial->causes.at[k]);
  }
  ret->useless = (unsigned)(s->kept.len - ret->at.len);
  struct trial *together = s->kept.len > 1 ? trial_of(s, &all) : NULL;
  if (!together)
    return;
  struct prediction p = predict(s, &together->cost);
  bool adds = ret->useless && perf_advice_gains(ret, p.ms);
  for (size_t i = 0; adds && i < ret->at.len; i++)
    adds = p.ms < ret->at.at[i].ms * PERF_ADVICE_GAIN;
  if (adds) {
    push_advice(s, together, p.ms, p.limiter, ret);
    ret->useless = 0;
  } else if (ret->at.len > 1 && !ret->useless) {
    ret->all_ms = p.ms;
  }
}

// ---- the whole ----

void perf_advice_find(struct tool *t, const struct compile_request *request,
                      const perf_cause_list *causes, const struct kernel_cost *cost,
                      const struct performance *p, struct perf_advice_list *ret) {
  struct search s = {
      .t = t, .request = request, .accesses = access_instructions(p, cost->num_warps)};
  struct arena *a = t->arena;
  struct diag_engine *quiet = diag_engine_create(a);
  struct lang_unit *unit = causes->len ? lang_unit_read(a, quiet, request->source) : NULL;
  struct lang_param *params = NULL;
  const char *name;
  if (!unit || !tune_device_assumed(request->target->name, &s.device) ||
      !tool_bind_constants(t, unit, request->target->name) ||
      !lang_kernel_params(a, quiet, unit, request->kernel, &name, &params, &s.param_count)) {
    note_out_of_memory(t, quiet);
    return;
  }
  s.params = params;
  s.grid = (tile_grid){1, 1, 1};
  struct prediction one = predict(&s, cost);
  s.grid.x = WAVES * (uint32_t)s.device.multiprocessors * one.programs_per_sm;
  struct prediction before = predict(&s, cost);
  *ret =
      (struct perf_advice_list){.ms = before.ms, .limiter = before.limiter, .programs = s.grid.x};
  for (size_t i = 0, end; i < causes->len; i = end) {
    for (end = i + 1; end < causes->len && causes->at[end].access == causes->at[i].access;)
      end++;
    try_access(&s, causes->at + i, end - i);
  }
  describe(&s, ret);
}
