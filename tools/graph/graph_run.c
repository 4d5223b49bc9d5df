// SPDX-License-Identifier: Apache-2.0
// `tilec --graph FILE --run`: runs the program once and shows, writes and compares outputs, with
// --check against the reference interpreter. `--bench`: replays it and prints its time beside the
// lower bound.
#include "tools/graph/graph_run.h"

#include "autotune/report/report.h"
#include "autotune/worker/bench.h"
#include "base/array.h"
#include "base/json.h"
#include "base/memory.h"
#include "graph/reference/bounds.h"
#include "graph/run/run.h"
#include "tools/graph/graph_tune.h"
#include "tools/interrupt.h"
#include "tools/launch/npy_file.h"
#include "tools/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// ---- arrays of outputs ----

static bool to_array(const struct tensor *from, struct array *ret) {
  int64_t dense[GRAPH_MAX_RANK], stride = 1;
  *ret = (struct array){.dtype = from->dtype, .rank = from->rank, .count = (uint64_t)from->numel};
  for (uint32_t d = from->rank; d-- > 0;) {
    ret->shape[d] = (uint64_t)from->shape[d];
    dense[d] = stride;
    stride *= from->shape[d];
  }
  ret->data = memory_zeroed((size_t)from->numel + 1, dtype_bytes(from->dtype));
  if (ret->data)
    tensor_store(from, ret->data, dense);
  return ret->data != NULL;
}

static double element(const struct tensor *t, int64_t i) {
  return dtype_is_float(t->dtype) ? t->at[i].real : (double)t->at[i].integer;
}

static void show(const char *name, const struct value *v, const struct tensor *out,
                 struct strbuf *to) {
  strbuf_printf(to, "  %-10s ", name);
  value_type_print(v, false, to);
  strbuf_puts(to, "  [");
  for (int64_t i = 0; i < out->numel && i < 4; i++)
    strbuf_printf(to, "%s%.6g", i ? ", " : "", element(out, i));
  strbuf_puts(to, out->numel > 4 ? ", ...]\n" : "]\n");
}

// ---- --out and --expect ----

// Output `i`, or, after the outputs, the input that the graph writes to; NULL: None.
static const struct value *result(const struct graph *g, size_t i) {
  return i < g->outputs.len ? g->outputs.at[i] : g->mutations.at[i - g->outputs.len].input;
}

static size_t result_count(const struct graph *g) { return g->outputs.len + g->mutations.len; }

static size_t find_output(struct tool *t, const struct graph *g, const struct assignment *a) {
  for (size_t i = 0; i < result_count(g); i++)
    if (result(g, i) && strcmp(result(g, i)->name, a->name) == 0)
      return i;
  diag_error(t->diag, a->where, E0721, "the graph has no output `%s`", a->name);
  return SIZE_MAX;
}

static const char *file_of(struct tool *t, const struct assignment *a) {
  if (a->value.len > 1 && a->value.ptr[0] == '@')
    return arena_strndup(t->arena, a->value.ptr + 1, a->value.len - 1);
  diag_error(t->diag, a->where, E0707, "`%.*s` is not a file", STR_ARG(a->value));
  return NULL;
}

static int write_outputs(struct tool *t, const struct graph_session *s) {
  for (size_t i = 0; i < t->o.outs.len; i++) {
    const struct assignment *a = &t->o.outs.at[i];
    size_t k = find_output(t, s->program->graph, a);
    const char *path = k != SIZE_MAX ? file_of(t, a) : NULL;
    struct array array;
    if (!path)
      return EXIT_WRONG;
    int error = to_array(s->outputs[k], &array) ? npy_write(path, &array) : ENOMEM;
    array_finish(&array);
    if (error)
      return tool_cannot_write(t, a->where, path, error);
  }
  return EXIT_DONE;
}

static void report_element(struct diag *d, const char *which, uint64_t i, const struct array *got,
                           const struct array *want) {
  size_t bytes = dtype_bytes(got->dtype);
  diag_note(d, SPAN_NONE, "%s: element %llu is %.9g, not %.9g", which, (unsigned long long)i,
            dtype_load(got->dtype, (const char *)got->data + i * bytes),
            dtype_load(want->dtype, (const char *)want->data + i * dtype_bytes(want->dtype)));
}

// Compares by the tolerances.
static bool expect_near(struct tool *t, const struct assignment *a, const char *path,
                        const struct array *got, const struct array *want) {
  double rtol, atol;
  compare_defaults(want->dtype, &rtol, &atol);
  rtol = t->o.rtol_given ? t->o.rtol : rtol;
  atol = t->o.atol_given ? t->o.atol : atol;
  struct comparison c = compare_arrays(got, want, rtol, atol);
  if (c.same_shape && !c.mismatches)
    return true;
  struct diag *d =
      diag_error(t->diag, a->where, E0730, "`%s` differs from `%s` in %llu elements, by up to %.3g",
                 a->name, path, (unsigned long long)c.mismatches, c.max_abs);
  if (!c.same_shape) {
    diag_note(d, SPAN_NONE, "their shapes differ");
    return false;
  }
  report_element(d, "first", c.first, got, want);
  if (c.worst != c.first)
    report_element(d, "worst", c.worst, got, want);
  return false;
}

// With --check the expected file must also be within the bounds of the graph's elements.
static bool expect_within(struct tool *t, const struct assignment *a, const char *path,
                          const struct bounds *b, size_t k, const struct array *want) {
  const struct tensor *of = b->want[k];
  const struct bound_options strict = {.largest = -1};
  int64_t dense[GRAPH_MAX_RANK], stride = 1;
  struct tensor *file = tensor_create(of->dtype, of->rank, of->shape);
  if (!file)
    return diag_error(t->diag, a->where, E0991, "out of memory for `%s`", path) == NULL;
  for (uint32_t d = of->rank; d-- > 0; stride *= of->shape[d])
    dense[d] = stride;
  tensor_load(file, want->data, dense);
  struct bound_verdict v = bounds_judge(b, k, file, &strict);
  tensor_destroy(file);
  if (!v.wrong)
    return true;
  diag_note(diag_error(t->diag, a->where, E0730,
                       "`%s` differs from the reference for `%s` in %" PRId64 " elements", path,
                       a->name, v.wrong),
            SPAN_NONE, "element %" PRId64 " of the file is %.9g, not %.9g within %.3g", v.first,
            v.got, v.want, v.bound);
  return false;
}

static bool has_shape_of(const struct array *a, const struct array *b) {
  return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof a->shape[0]) == 0;
}

static bool expect_output(struct tool *t, const struct graph_session *s, const struct bounds *b,
                          const struct assignment *a) {
  size_t k = find_output(t, s->program->graph, a);
  const char *path = k != SIZE_MAX ? file_of(t, a) : NULL;
  struct array want = {0}, got = {0};
  if (!path || !npy_read(t->arena, t->diag, a->where, path, s->outputs[k]->dtype, &want))
    return false;
  bool ok = to_array(s->outputs[k], &got);
  if (!ok)
    diag_error(t->diag, a->where, E0991, "out of memory for `%s`", a->name);
  else if (b && !t->o.rtol_given && !t->o.atol_given && want.dtype == got.dtype &&
           has_shape_of(&got, &want))
    ok = expect_within(t, a, path, b, k, &want);
  else
    ok = expect_near(t, a, path, &got, &want);
  array_finish(&got);
  array_finish(&want);
  return ok;
}

static int expect_outputs(struct tool *t, const struct graph_session *s, const struct bounds *b) {
  for (size_t i = 0; i < t->o.expects.len; i++)
    if (!expect_output(t, s, b, &t->o.expects.at[i]))
      return tool_error_status(t);
  return EXIT_DONE;
}

// ---- --check ----

// Adds to *ret_nans of *ret_elements.
static void count_nans(const struct tensor *want, int64_t *ret_nans, int64_t *ret_elements) {
  for (int64_t i = 0; i < want->numel; i++)
    *ret_nans += dtype_is_float(want->dtype) && isnan(want->at[i].real);
  *ret_elements += want->numel;
}

// What --check found in all outputs.
struct checked {
  double part; // the largest difference, of the largest value
  int64_t nans, elements;
};

static void report_difference(struct tool *t, const struct graph *g, size_t i,
                              const struct bound_verdict *v) {
  struct diag *e = diag_error(t->diag, t->o.file_at, E0730,
                              "%s `%s` differs from the reference in %" PRId64
                              " elements: element %" PRId64 " is %.9g, not %.9g within %.3g",
                              i < g->outputs.len ? "output" : "input", result(g, i)->name, v->wrong,
                              v->first, v->got, v->want, v->bound);
  diag_help(e,
            "the bound is what rounding can make of that element; the largest value is %.3g. "
            "`--rtol R` accepts differences up to R of that, `--atol A` those up to A",
            v->size);
}

static int check_outputs(struct tool *t, const struct graph_session *s, const struct bounds *b,
                         struct checked *ret) {
  const struct graph *g = s->program->graph;
  const struct bound_options options = {.largest = t->o.rtol_given ? t->o.rtol : -1,
                                        .absolute = t->o.atol_given ? t->o.atol : 0};
  for (size_t i = 0; i < result_count(g); i++) {
    if (!result(g, i))
      continue;
    count_nans(b->want[i], &ret->nans, &ret->elements);
    struct bound_verdict v = bounds_judge(b, i, s->outputs[i], &options);
    ret->part = fmax(ret->part, v.part);
    if (v.wrong)
      report_difference(t, g, i, &v);
  }
  return diag_error_count(t->diag) ? tool_error_status(t) : EXIT_DONE;
}

// ---- reports ----

static void headline(const struct tool *t, const struct graph_session *s, struct strbuf *out) {
  const struct program *p = s->program;
  strbuf_printf(out, "%s on %s (%s): %zu kernels, %zu launches", p->graph->name, s->properties.name,
                s->properties.target, program_kernel_count(p), p->launches.len);
  if (p->copies.len)
    strbuf_printf(out, ", %zu copies", p->copies.len);
  strbuf_printf(out, ", compiled in %.1f ms, loaded in %.1f ms\n", s->compile_ms, s->load_ms);
  strbuf_puts(out, "  memory     ");
  expr_print(p->arena_bytes, out);
  strbuf_puts(out, " bytes between launches; operator by operator ");
  expr_print(p->eager_bytes, out);
  strbuf_puts(out, " bytes\n");
  graph_tunings_print(t, s, out);
  if (s->made_up)
    strbuf_printf(out, "  weights    random inputs: %s\n", *s->made_up ? s->made_up : "none");
}

static void write_headline(const struct graph_session *s, struct json_writer *w) {
  json_key(w, "graph"), json_cstring(w, s->program->graph->name);
  json_key(w, "device"), json_cstring(w, s->properties.name);
  json_key(w, "target"), json_cstring(w, s->properties.target);
  json_key(w, "compile_ms"), json_double(w, s->compile_ms);
  json_key(w, "load_ms"), json_double(w, s->load_ms);
  json_key(w, "plan"), program_write_plan(s->program, s->properties.target, w);
}

static void print_run(const struct tool *t, const struct graph_session *s, const struct checked *c,
                      struct strbuf *out) {
  const struct graph *g = s->program->graph;
  headline(t, s, out);
  for (size_t i = 0; i < result_count(g); i++)
    if (result(g, i))
      show(result(g, i)->name, result(g, i), s->outputs[i], out);
  if (!c)
    return;
  strbuf_printf(out,
                "  checked    against the reference interpreter: largest difference %.3g of the "
                "largest value",
                c->part);
  if (c->nans)
    strbuf_printf(out, "; %" PRId64 " of %" PRId64 " elements are NaN in both", c->nans,
                  c->elements);
  strbuf_putc(out, '\n');
}

static void write_result(const struct value *v, const struct tensor *of, struct json_writer *w) {
  double least = (double)INFINITY, most = -(double)INFINITY, sum = 0;
  int64_t nans = 0;
  for (int64_t i = 0; i < of->numel; i++) {
    double x = element(of, i);
    nans += isnan(x);
    least = fmin(least, x), most = fmax(most, x), sum += isnan(x) ? 0 : x;
  }
  json_begin_object(w);
  json_key(w, "name"), json_cstring(w, v->name);
  json_key(w, "dtype"), json_cstring(w, dtype_name(of->dtype));
  json_key(w, "shape"), json_begin_array(w);
  for (uint32_t d = 0; d < of->rank; d++)
    json_int(w, of->shape[d]);
  json_end_array(w);
  json_key(w, "min"), json_double(w, least);
  json_key(w, "max"), json_double(w, most);
  json_key(w, "mean"), json_double(w, of->numel > nans ? sum / (double)(of->numel - nans) : 0);
  json_key(w, "nans"), json_int(w, nans);
  json_end_object(w);
}

static void write_run(const struct graph_session *s, const struct checked *c,
                      struct json_writer *w) {
  const struct graph *g = s->program->graph;
  json_begin_object(w);
  write_headline(s, w);
  json_key(w, "outputs"), json_begin_array(w);
  for (size_t i = 0; i < result_count(g); i++)
    if (result(g, i))
      write_result(result(g, i), s->outputs[i], w);
  json_end_array(w);
  json_key(w, "checked"), json_bool(w, c != NULL);
  if (c)
    json_key(w, "largest_difference"), json_double(w, c->part);
  if (s->nans.len)
    json_key(w, "not_finite"), json_cstring(w, strbuf_cstr(&s->nans));
  json_end_object(w);
}

static void report(const struct tool *t, const struct graph_session *s, const struct checked *c,
                   struct strbuf *out) {
  if (t->o.json) {
    struct json_writer w = {.out = out};
    write_run(s, c, &w);
    strbuf_putc(out, '\n');
    return;
  }
  print_run(t, s, c, out);
  if (t->o.find_nan)
    strbuf_printf(out, "%s",
                  s->nans.len ? strbuf_cstr(&s->nans)
                              : "  finite     the results of all kernels\n");
}

// ---- the modes ----

int graph_run(struct tool *t, struct graph *g) {
  struct graph_session s = {0};
  struct strbuf out = {.arena = t->arena};
  struct bounds *bounds = NULL;
  int status = graph_session_open(t, g, &s), written = EXIT_DONE;
  if (status == EXIT_DONE && t->o.check) { // before kernels use an index that is out of range
    progress_stage(t, "computing the reference");
    bounds = bounds_create(g, t->o.seed, s.sizes, s.inputs);
    status = bounds ? EXIT_DONE : tool_error_status(t);
  }
  if (status == EXIT_DONE)
    status = graph_session_run(t, &s);
  if (status == EXIT_DONE) {
    struct checked checked = {0};
    written = write_outputs(t, &s);
    if (bounds)
      status = check_outputs(t, &s, bounds, &checked);
    if (status != EXIT_LIMIT) // out of memory for the comparison
      report(t, &s, bounds ? &checked : NULL, &out);
    status = written == EXIT_DONE ? status : written;
  }
  if (status == EXIT_DONE)
    status = expect_outputs(t, &s, bounds);
  if (status == EXIT_DONE && s.nans.len)
    status = EXIT_WRONG;
  bounds_destroy(bounds);
  if (out.len) {
    written = tool_write(t, strbuf_cstr(&out), out.len);
    status = status == EXIT_DONE ? written : status;
  }
  strbuf_finish(&out);
  graph_session_close(&s);
  return status;
}

// Times up to *count runs; *count becomes their number: fewer after an interruption, at least one.
static tile_status replay_times(struct graph_session *s, unsigned *count, uint64_t seed,
                                double *ms) {
  tile_stream *stream = NULL;
  tile_replay *replay = NULL;
  tile_event *start = NULL, *stop = NULL;
  tile_status st = tile_stream_create(s->device, &stream);
  if (st == TILE_OK)
    st = tile_event_create(s->device, &start);
  if (st == TILE_OK)
    st = tile_event_create(s->device, &stop);
  if (st == TILE_OK && !program_decides_on_host(s->program)) // else it is run each time
    st = program_record(s->loaded, stream, seed, s->in, s->out, &replay);
  unsigned i = 0;
  for (; st == TILE_OK && i < *count && (i == 0 || !interrupt_seen()); i++) {
    float elapsed = 0;
    progress_count(i, *count);
    st = tile_event_record(s->device, start, stream);
    if (st == TILE_OK)
      st = replay ? tile_replay_run(replay, stream)
                  : program_run(s->loaded, stream, seed, s->in, s->out);
    if (st == TILE_OK)
      st = tile_event_record(s->device, stop, stream);
    if (st == TILE_OK)
      st = tile_event_elapsed(start, stop, &elapsed);
    ms[i] = (double)elapsed;
  }
  *count = i;
  tile_replay_destroy(replay);
  tile_event_destroy(start);
  tile_event_destroy(stop);
  tile_stream_destroy(stream);
  return st;
}

static void report_times(const struct tool *t, const struct graph_session *s,
                         struct tune_sample sample, struct strbuf *out) {
  bool recorded = !program_decides_on_host(s->program);
  if (t->o.json) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    write_headline(s, &w);
    json_key(&w, "recorded"), json_bool(&w, recorded);
    json_key(&w, "ms"), json_double(&w, sample.median);
    json_key(&w, "ms_p20"), json_double(&w, sample.p20);
    json_key(&w, "ms_p80"), json_double(&w, sample.p80);
    json_key(&w, "launches"), json_int(&w, sample.count);
    json_end_object(&w);
    strbuf_putc(out, '\n');
    return;
  }
  headline(t, s, out);
  strbuf_puts(out, "  time       ");
  tune_sample_print(sample, out);
  strbuf_printf(out, ", %u %s\n", sample.count,
                recorded ? "replays" : "runs, which cannot be recorded");
  program_print_plan(s->program, s->properties.target, out);
}

int graph_bench(struct tool *t, struct graph *g) {
  struct graph_session s = {0};
  struct strbuf out = {.arena = t->arena};
  int status = graph_session_open(t, g, &s);
  if (status == EXIT_DONE)
    status = graph_session_run(t, &s); // warm
  unsigned count = t->o.repeats ? (unsigned)t->o.repeats : s.properties.is_cpu ? 3 : 50;
  double *ms = arena_array(t->arena, double, count + 1);
  interrupt_catch();
  progress_stage(t, arena_printf(t->arena, "timing %s", g->name));
  if (status == EXIT_DONE)
    status = graph_session_failed(t, replay_times(&s, &count, t->o.seed, ms));
  if (status == EXIT_DONE) {
    report_times(t, &s, tune_sample_of(ms, count), &out);
    status = tool_write(t, strbuf_cstr(&out), out.len);
  }
  status = interrupt_status(status);
  interrupt_release();
  strbuf_finish(&out);
  graph_session_close(&s);
  return status;
}
