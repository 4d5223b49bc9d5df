// SPDX-License-Identifier: Apache-2.0
// The report as one JSON document: the winner, the default, and every configuration considered.
#include "autotune/report/report_internal.h"
#include "base/json.h"

static void write_config(struct json_writer *w, const struct tune_space *s, size_t config) {
  json_begin_object(w);
  for (size_t d = 0; d < s->dim_count; d++) {
    struct str value = str_from(s->dims[d].values[s->configs[config].at[d]]);
    int64_t integer;
    json_key(w, s->dims[d].name);
    if (str_to_i64(value, &integer))
      json_int(w, integer);
    else
      json_string(w, value);
  }
  json_end_object(w);
}

static void write_time(struct json_writer *w, const struct tune_trial *t) {
  json_key(w, "ms"), json_double(w, t->sample.median);
  json_key(w, "ms_p20"), json_double(w, t->sample.p20);
  json_key(w, "ms_p80"), json_double(w, t->sample.p80);
  json_key(w, "launches"), json_int(w, t->sample.count);
}

static void write_trial(struct json_writer *w, const struct tune_space *s,
                        const struct tune_result *r, const struct tune_trial *t) {
  json_begin_object(w);
  json_key(w, "config"), write_config(w, s, t->config);
  json_key(w, "outcome"), json_cstring(w, tune_outcome_name(t->outcome));
  if (t->reason)
    json_key(w, "reason"), json_cstring(w, t->reason);
  if (report_is_timed(t))
    write_time(w, t);
  if (t->outcome == TUNE_SAME_CODE || t->is_twin)
    json_key(w, "same_as"), write_config(w, s, r->trials[t->same_as].config);
  if (t->prediction.ms > 0) {
    json_key(w, "predicted_ms"), json_double(w, t->prediction.ms);
    json_key(w, "limiter"), json_cstring(w, t->prediction.limiter ? t->prediction.limiter : "");
  }
  json_key(w, "shared_bytes"), json_int(w, t->shared_bytes);
  if (t->registers > 0) {
    json_key(w, "registers"), json_int(w, t->registers);
    json_key(w, "local_bytes"), json_int(w, t->local_bytes);
    json_key(w, "spilled_bytes"), json_int(w, t->spilled_bytes);
  }
  json_key(w, "compile_ms"), json_double(w, t->compile_ms);
  json_key(w, "checked"), json_bool(w, t->is_checked);
  json_key(w, "resumed"), json_bool(w, t->is_resumed);
  json_end_object(w);
}

static void write_winner(struct json_writer *w, const struct tune_space *s,
                         const struct tune_result *r, double flops, double bytes) {
  const struct tune_trial *t = &r->trials[r->best], *normal = &r->trials[0];
  struct strbuf options = {.arena = w->out->arena};
  report_options(s, r->best, &options);
  json_key(w, "best"), json_begin_object(w);
  json_key(w, "config"), write_config(w, s, r->best);
  json_key(w, "options"), json_cstring(w, strbuf_cstr(&options));
  if (report_is_timed(t)) {
    write_time(w, t);
    if (report_is_timed(normal)) {
      json_key(w, "default_ms"), json_double(w, normal->sample.median);
      json_key(w, "speedup"), json_double(w, normal->sample.median / t->sample.median);
    }
    if (bytes > 0)
      json_key(w, "gbs"), json_double(w, bytes / 1e6 / t->sample.median);
    if (flops > 0)
      json_key(w, "tflops"), json_double(w, flops / 1e9 / t->sample.median);
    double bound = report_bound_ms(r);
    if (bound > 0)
      json_key(w, "of_peak"), json_double(w, bound / t->sample.median);
  }
  json_end_object(w);
  strbuf_finish(&options);
}

void tune_report_json(const struct tune_space *s, const struct tune_result *r, double flops,
                      double bytes, struct strbuf *out) {
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  json_key(&w, "device"), json_cstring(&w, r->device.name);
  json_key(&w, "target"), json_cstring(&w, r->device.target);
  json_key(&w, "space"), json_cstring(&w, s->origin ? s->origin : "given");
  json_key(&w, "configurations"), json_int(&w, (int64_t)s->count);
  json_key(&w, "elapsed_ms"), json_double(&w, r->elapsed_ms);
  json_key(&w, "stopped"), json_bool(&w, r->stopped);
  for (int o = TUNE_UNTRIED; o <= TUNE_MEASURED; o++)
    json_key(&w, tune_outcome_name((enum tune_outcome)o)),
        json_int(&w, (int64_t)report_count(r, (enum tune_outcome)o));
  json_key(&w, "reference"), write_config(&w, s, r->reference);
  json_key(&w, "reference_suspect"), json_bool(&w, report_is_suspect(r));
  json_key(&w, "all_spill"), json_bool(&w, report_all_spill(r));
  if (r->has_best)
    write_winner(&w, s, r, flops, bytes);
  json_key(&w, "trials"), json_begin_array(&w);
  for (size_t i = 0; i < r->count; i++)
    if (r->trials[i].outcome != TUNE_UNTRIED)
      write_trial(&w, s, r, &r->trials[i]);
  json_end_array(&w);
  json_end_object(&w);
  strbuf_putc(out, '\n');
}
