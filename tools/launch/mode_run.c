// SPDX-License-Identifier: Apache-2.0
// `tilec --run`: compiles, launches once, compares and writes arguments.
#include "base/array.h"
#include "runtime/runtime_internal.h"
#include "tools/launch/launch.h"
#include "tools/launch/npy_file.h"

#include <errno.h>
#include <math.h>

struct statistics {
  double min, max, mean;
  uint64_t nans;
};

static struct statistics statistics_of(const struct array *a) {
  struct statistics s = {.min = (double)INFINITY, .max = -(double)INFINITY};
  double sum = 0;
  const char *p = a->data;
  for (uint64_t i = 0; i < a->count; i++) {
    double v = dtype_load(a->dtype, p + i * dtype_bytes(a->dtype));
    if (isnan(v)) {
      s.nans++;
      continue;
    }
    s.min = v < s.min ? v : s.min;
    s.max = v > s.max ? v : s.max;
    sum += v;
  }
  s.mean = a->count > s.nans ? sum / (double)(a->count - s.nans) : (double)NAN;
  return s;
}

static void print_shape(const struct array *a, struct strbuf *out) {
  strbuf_printf(out, "%s[", dtype_name(a->dtype));
  for (unsigned d = 0; d < a->rank; d++)
    strbuf_printf(out, "%s%llu", d ? "x" : "", (unsigned long long)a->shape[d]);
  strbuf_puts(out, "]");
}

// Whether the launch changed no byte.
static bool unchanged(const struct array *before, const struct array *after) {
  return memcmp(before->data, after->data, after->count * dtype_bytes(after->dtype)) == 0;
}

static void show_array(const char *name, const struct array *a, const struct array *before,
                       struct strbuf *out) {
  strbuf_printf(out, "  %-10s ", name);
  print_shape(a, out);
  struct statistics s = statistics_of(a);
  const char *p = a->data;
  strbuf_puts(out, "  [");
  for (uint64_t i = 0; i < a->count && i < 4; i++)
    strbuf_printf(out, "%s%.6g", i ? ", " : "",
                  dtype_load(a->dtype, p + i * dtype_bytes(a->dtype)));
  strbuf_printf(out, "%s]  min %.6g  max %.6g  mean %.6g", a->count > 4 ? ", ..." : "", s.min,
                s.max, s.mean);
  if (s.nans)
    strbuf_printf(out, "  NaN %llu", (unsigned long long)s.nans);
  strbuf_puts(out, unchanged(before, a) ? "  (unchanged)\n" : "\n");
}

static void json_array(const char *name, const struct array *a, const struct array *before,
                       struct json_writer *w) {
  struct statistics s = statistics_of(a);
  json_key(w, name);
  json_begin_object(w);
  json_key(w, "dtype"), json_cstring(w, dtype_name(a->dtype));
  json_key(w, "shape"), json_begin_array(w);
  for (unsigned d = 0; d < a->rank; d++)
    json_int(w, (int64_t)a->shape[d]);
  json_end_array(w);
  json_key(w, "min"), json_double(w, s.min);
  json_key(w, "max"), json_double(w, s.max);
  json_key(w, "mean"), json_double(w, s.mean);
  json_key(w, "nans"), json_int(w, (int64_t)s.nans);
  json_key(w, "changed"), json_bool(w, !unchanged(before, a));
  json_end_object(w);
}

// The path of `@FILE`, or NULL with a diagnostic.
static const char *file_of(struct tool *t, const struct assignment *a) {
  if (a->value.len > 1 && a->value.ptr[0] == '@')
    return arena_strndup(t->arena, a->value.ptr + 1, a->value.len - 1);
  diag_help(diag_error(t->diag, a->where, E0707, "`%.*s` is not a file", STR_ARG(a->value)),
            "write `%s=@result.npy`", a->name);
  return NULL;
}

// The array argument that --out or --expect names.
static struct launch_arg *array_argument(struct tool *t, struct launch *l,
                                         const struct assignment *a) {
  struct launch_arg *arg = launch_find(t, l, a->name, a->where);
  if (arg && !arg->value.is_array) {
    diag_error(t->diag, a->where, E0723, "`%s` is a scalar, not an array", a->name);
    return NULL;
  }
  return arg;
}

// Arguments and files of --out and --expect, resolved before the launch.
struct wanted {
  const struct assignment *at;
  const char *path;
  size_t arg;            // index into the launch's arguments
  struct array expected; // of --expect
};

static bool look_up(struct tool *t, struct launch *l, const struct assignment *assignments,
                    size_t count, struct wanted *ret) {
  for (size_t i = 0; i < count; i++) {
    struct launch_arg *arg = array_argument(t, l, &assignments[i]);
    const char *path = arg ? file_of(t, &assignments[i]) : NULL;
    if (!path)
      return false;
    ret[i] = (struct wanted){.at = &assignments[i], .path = path, .arg = (size_t)(arg - l->args)};
  }
  return true;
}

static int write_outputs(struct tool *t, const struct wanted *outs, const struct array *results) {
  for (size_t i = 0; i < t->o.outs.len; i++) {
    int error = npy_write(outs[i].path, &results[outs[i].arg]);
    if (error != 0)
      return tool_cannot_write(t, outs[i].at->where, outs[i].path, error);
  }
  return EXIT_DONE;
}

static void report_mismatch(struct tool *t, const struct assignment *e, const struct array *actual,
                            const struct array *expected, const struct comparison *c, double rtol,
                            double atol) {
  struct strbuf first = {.arena = t->arena}, worst = {.arena = t->arena};
  format_index(actual, c->first, &first);
  format_index(actual, c->worst, &worst);
  size_t bytes = dtype_bytes(actual->dtype), expected_bytes = dtype_bytes(expected->dtype);
  const char *a = actual->data, *b = expected->data;
  struct diag *d = diag_error(
      t->diag, e->where, E0730, "`%s` differs from the expected values in %llu of %llu elements",
      e->name, (unsigned long long)c->mismatches, (unsigned long long)actual->count);
  diag_note(d, SPAN_NONE, "first at %s: got %.9g, expected %.9g", strbuf_cstr(&first),
            dtype_load(actual->dtype, a + c->first * bytes),
            dtype_load(expected->dtype, b + c->first * expected_bytes));
  diag_note(d, SPAN_NONE,
            "worst at %s: got %.9g, expected %.9g; largest error %.3g absolute, %.3g relative",
            strbuf_cstr(&worst), dtype_load(actual->dtype, a + c->worst * bytes),
            dtype_load(expected->dtype, b + c->worst * expected_bytes), c->max_abs, c->max_rel);
  diag_note(d, SPAN_NONE, "tolerance: rtol %g, atol %g", rtol, atol);
  strbuf_finish(&first);
  strbuf_finish(&worst);
}

static bool same_shape(const struct array *a, const struct array *b) {
  bool is_same = a->rank == b->rank;
  for (unsigned d = 0; is_same && d < a->rank; d++)
    is_same = a->shape[d] == b->shape[d];
  return is_same;
}

// The files of --expect, before the launch.
static int read_expected(struct tool *t, const struct launch *l, struct wanted *expects) {
  for (size_t i = 0; i < t->o.expects.len; i++) {
    struct wanted *w = &expects[i];
    const struct array *actual = &l->args[w->arg].value.array;
    if (!npy_read(t->arena, t->diag, w->at->where, w->path, actual->dtype, &w->expected))
      return tool_error_status(t);
    if (same_shape(actual, &w->expected))
      continue;
    struct strbuf given = {.arena = t->arena}, wanted = {.arena = t->arena};
    print_shape(actual, &wanted);
    print_shape(&w->expected, &given);
    diag_help(diag_error(t->diag, w->at->where, E0730,
                         "`%s` has another shape than expected: %s against %s", w->at->name,
                         strbuf_cstr(&wanted), strbuf_cstr(&given)),
              "save as many values in `%s` as the kernel writes, %s", w->path,
              strbuf_cstr(&wanted));
    strbuf_finish(&given);
    strbuf_finish(&wanted);
    return EXIT_WRONG;
  }
  return EXIT_DONE;
}

static int compare_outputs(struct tool *t, const struct wanted *expects,
                           const struct array *results, struct strbuf *out) {
  int status = EXIT_DONE;
  for (size_t i = 0; i < t->o.expects.len; i++) {
    const struct assignment *e = expects[i].at;
    const struct array *actual = &results[expects[i].arg], *expected = &expects[i].expected;
    double rtol, atol;
    compare_defaults(actual->dtype, &rtol, &atol);
    rtol = t->o.rtol_given ? t->o.rtol : rtol;
    atol = t->o.atol_given ? t->o.atol : atol;
    struct comparison c = compare_arrays(actual, expected, rtol, atol);
    if (c.mismatches) {
      report_mismatch(t, e, actual, expected, &c, rtol, atol);
      status = EXIT_WRONG;
    } else if (!t->o.json) {
      strbuf_printf(out, "  %-10s as expected: largest error %.3g absolute, %.3g relative\n",
                    e->name, c.max_abs, c.max_rel);
    }
  }
  return status;
}

static void summarise(struct tool *t, struct launch *l, const struct array *results,
                      struct strbuf *out) {
  struct jit_timing timing = jit_spec_timing(l->spec);
  if (t->o.json) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, "kernel"), json_cstring(&w, l->kernel_name);
    json_key(&w, "device"), json_cstring(&w, l->properties.name);
    json_key(&w, "target"), json_cstring(&w, l->properties.target);
    json_key(&w, "compile_ms"), json_double(&w, timing.find_ms);
    json_key(&w, "cached"), json_bool(&w, timing.from_disk);
    json_key(&w, "checked"), json_bool(&w, t->o.check);
    json_key(&w, "tuned"), tuned_write(&l->tuned, &w);
    json_key(&w, "arguments"), json_begin_object(&w);
    for (size_t i = 0; i < l->arg_count; i++)
      if (results[i].data)
        json_array(l->args[i].param->name, &results[i], &l->args[i].value.array, &w);
    json_end_object(&w);
    json_end_object(&w);
    strbuf_putc(out, '\n');
    return;
  }
  strbuf_printf(out, "%s on %s (%s), grid (%u, %u, %u): %s in %.1f ms%s\n", l->kernel_name,
                l->properties.name, l->properties.target, l->grid.x, l->grid.y, l->grid.z,
                timing.from_disk ? "from the cache" : "compiled", timing.find_ms,
                !t->o.check ? ""
                : device_races_were_partial(l->device)
                    ? ", every access checked; for races between "
                      "programs only until 512 MiB were used"
                    : ", every access checked");
  launch_show_tuned(l, out);
  for (size_t i = 0; i < l->arg_count; i++)
    if (results[i].data)
      show_array(l->args[i].param->name, &results[i], &l->args[i].value.array, out);
}

// Whether the kernel may write to argument `i`: it is no const pointer.
static bool is_written(const struct launch *l, size_t i) {
  const struct kernel_info *info = jit_spec_info(l->spec);
  for (uint32_t p = 0; p < info->param_count; p++)
    if (strcmp(info->params[p].name, l->args[i].param->name) == 0)
      return !info->params[p].is_const;
  return true;
}

// Downloads the arrays that the kernel may have written and those of --out and --expect; others
// stay without data.
static int download(struct tool *t, struct launch *l, const struct wanted *wanted,
                    size_t wanted_count, struct array *results) {
  int status = EXIT_DONE;
  for (size_t i = 0; status == EXIT_DONE && i < l->arg_count; i++) {
    bool fetch = is_written(l, i);
    for (size_t k = 0; k < wanted_count; k++)
      fetch |= wanted[k].arg == i;
    if (l->args[i].value.is_array && fetch)
      status = launch_download(t, l, i, &results[i]);
  }
  return status;
}

static int run_and_report(struct tool *t, struct launch *l, struct array *results,
                          struct strbuf *out) {
  size_t outs = t->o.outs.len, expects = t->o.expects.len;
  struct wanted *wanted = arena_array(t->arena, struct wanted, outs + expects + 1);
  if (!look_up(t, l, t->o.outs.at, outs, wanted) ||
      !look_up(t, l, t->o.expects.at, expects, wanted + outs))
    return EXIT_WRONG;
  int status = read_expected(t, l, wanted + outs);
  if (status == EXIT_DONE)
    status = launch_compile(t, l);
  if (status == EXIT_DONE)
    status = launch_run(t, l);
  if (status == EXIT_DONE)
    status = download(t, l, wanted, outs + expects, results);
  if (status == EXIT_DONE) {
    summarise(t, l, results, out);
    status = compare_outputs(t, wanted + outs, results, out);
    int write_status = write_outputs(t, wanted, results);
    status = status == EXIT_DONE ? write_status : status;
  }
  for (size_t i = 0; i < expects; i++)
    array_finish(&wanted[outs + i].expected);
  return status;
}

int mode_run(struct tool *t) {
  struct launch l = {0};
  struct strbuf out = {.arena = t->arena};
  struct array *results = NULL;
  int status = launch_open(t, &l);
  if (status == EXIT_DONE) {
    results = arena_array(t->arena, struct array, l.arg_count + 1);
    status = run_and_report(t, &l, results, &out);
  }
  if (out.len) {
    int write_status = tool_write(t, strbuf_cstr(&out), out.len);
    status = status == EXIT_DONE ? write_status : status;
  }
  for (size_t i = 0; results && i < l.arg_count; i++)
    array_finish(&results[i]);
  strbuf_finish(&out);
  launch_close(&l);
  return status;
}
