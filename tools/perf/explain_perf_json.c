// SPDX-License-Identifier: Apache-2.0
// The report of --explain-perf as one JSON document.
#include "tools/perf/explain_perf_report.h"

#include <limits.h>

static void begin_row(struct json_writer *w, const struct where *at) {
  json_begin_object(w);
  json_key(w, "location"), json_cstring(w, at->location);
  json_key(w, "type"), json_cstring(w, at->type);
}

static void number(struct json_writer *w, const char *name, uint64_t n) {
  json_key(w, name), json_int(w, (int64_t)n);
}

static void text(struct json_writer *w, const char *name, const char *value) {
  json_key(w, name);
  if (value)
    json_cstring(w, value);
  else
    json_null(w);
}

static void write_accesses(const struct perf_report *r, struct json_writer *w) {
  json_key(w, "accesses"), json_begin_array(w);
  for (size_t i = 0; i < r->p.accesses.len; i++) {
    const struct memory_access *m = &r->p.accesses.at[i];
    begin_row(w, &r->accesses.at[i]);
    text(w, "what", m->what);
    text(w, "parameter", m->parameter);
    json_key(w, "tma"), json_bool(w, m->is_tma);
    number(w, "width", m->width), number(w, "wanted", m->wanted);
    text(w, "why", m->why);
    json_key(w, "cut"), json_bool(w, m->cut);
    number(w, "sectors", m->sectors), number(w, "least_sectors", m->least_sectors);
    number(w, "bytes", m->bytes);
    json_end_object(w);
  }
  json_end_array(w);
}

static void write_feed(const struct feed *f, struct json_writer *w) {
  json_begin_object(w);
  text(w, "engine", feed_engine_name(f->engine));
  text(w, "parameter", f->parameter);
  json_key(w, "in_shared"), json_bool(w, !mlirOperationIsNull(f->buffer));
  json_end_object(w);
}

static void write_products(const struct perf_report *r, struct json_writer *w) {
  json_key(w, "products"), json_begin_array(w);
  for (size_t i = 0; i < r->p.products.len; i++) {
    const struct product_cost *d = &r->p.products.at[i];
    begin_row(w, &r->products.at[i]);
    text(w, "instruction", d->instruction);
    number(w, "count", d->count);
    json_key(w, "operands"), json_begin_array(w);
    for (unsigned k = 0; k < COUNT_OF(r->p.feeds.at[i].operands); k++)
      write_feed(&r->p.feeds.at[i].operands[k], w);
    json_end_array(w);
    json_end_object(w);
  }
  json_end_array(w);
}

static void write_exchanges(const struct perf_report *r, struct json_writer *w) {
  json_key(w, "conversions"), json_begin_array(w);
  for (size_t i = 0; i < r->p.conversions.len; i++) {
    const struct layout_conversion *v = &r->p.conversions.at[i];
    begin_row(w, &r->conversions.at[i]);
    text(w, "kind", v->kind);
    number(w, "bytes", v->bytes), number(w, "wavefronts", v->wavefronts);
    number(w, "least_wavefronts", v->least_wavefronts);
    json_end_object(w);
  }
  json_end_array(w);
  json_key(w, "reductions"), json_begin_array(w);
  for (size_t i = 0; i < r->p.reductions.len; i++) {
    const struct reduction_cost *c = &r->p.reductions.at[i];
    begin_row(w, &r->reductions.at[i]);
    number(w, "axis", c->axis), number(w, "in_thread", c->in_thread);
    number(w, "across_lanes", c->across_lanes);
    json_key(w, "across_warps"), json_bool(w, c->across_warps);
    number(w, "last", c->last), number(w, "bytes", c->bytes);
    json_end_object(w);
  }
  json_end_array(w);
}

static void write_warps(const struct perf_report *r, struct json_writer *w) {
  const struct warp_registers *g = &r->p.registers;
  json_key(w, "warps"), json_begin_object(w);
  number(w, "computing", r->num_warps), number(w, "producer", r->p.producer_warps);
  json_key(w, "registers"), json_begin_object(w);
  number(w, "entry", g->entry), number(w, "computing", g->computing);
  number(w, "producer", g->producer);
  json_end_object(w);
  text(w, "persistent_loop", r->persistent.location);
  number(w, "cluster", r->p.cluster);
  json_end_object(w);
}

static void write_occupancy(const struct perf_report *r, struct json_writer *w) {
  const char *limit;
  uint32_t warps = perf_report_warps(r), registers = perf_report_registers(r);
  unsigned n = resource_programs_per_sm(r->target, warps, registers, r->p.shared_bytes, &limit);
  struct program_limits l = resource_program_limits(r->target, warps, registers, r->p.shared_bytes);
  json_key(w, "occupancy"), json_begin_object(w);
  number(w, "programs", n), number(w, "warps", n * warps);
  number(w, "most_warps", resource_warps_per_sm(r->target));
  text(w, "limited_by", limit);
  json_key(w, "limits"), json_begin_object(w);
  number(w, "warps", l.warps), number(w, "programs", l.programs);
  number(w, "shared_memory", l.shared);
  json_key(w, "registers");
  if (l.registers != UINT_MAX)
    json_int(w, l.registers);
  else
    json_null(w);
  json_end_object(w), json_end_object(w);
}

static void write_resources(const struct perf_report *r, struct json_writer *w) {
  json_key(w, "shared"), json_begin_object(w);
  number(w, "bytes", r->p.shared_bytes), number(w, "limit", r->target->shared_limit);
  number(w, "spilled_to_shared", r->p.spill_bytes), number(w, "barriers", r->p.barriers);
  json_key(w, "uses"), json_begin_array(w);
  for (size_t i = 0; i < r->p.shared.len; i++) {
    const struct shared_use *u = &r->p.shared.at[i];
    begin_row(w, &r->shared.at[i]);
    static const char *const uses[] = {
        [BUFFER_DATA] = "data", [BUFFER_BARRIERS] = "mbarriers", [BUFFER_STAGING] = "staging"};
    text(w, "purpose", u->purpose);
    text(w, "name", u->name);
    text(w, "use", uses[u->use]);
    text(w, "engine", feed_engine_name(u->engine));
    number(w, "offset", u->offset), number(w, "bytes", u->bytes), number(w, "copies", u->copies);
    json_end_object(w);
  }
  json_end_array(w), json_end_object(w);
  number(w, "elements_a_thread", r->elements);
  json_key(w, "ptxas");
  if (r->has_ptxas) {
    json_begin_object(w);
    json_key(w, "registers"), json_int(w, r->ptxas.registers);
    json_key(w, "spill_stores"), json_int(w, r->ptxas.spill_stores);
    json_key(w, "spill_loads"), json_int(w, r->ptxas.spill_loads);
    json_end_object(w);
  } else {
    json_null(w);
  }
  write_warps(r, w);
  write_occupancy(r, w);
  number(w, "bytes_read", r->p.bytes_read), number(w, "bytes_written", r->p.bytes_written);
}

static void write_advice(const struct perf_report *r, struct json_writer *w) {
  const struct perf_advice_list *l = &r->advice;
  json_key(w, "advice"), json_begin_object(w);
  number(w, "programs", l->programs);
  json_key(w, "predicted_ms"), json_double(w, l->ms);
  json_key(w, "edits"), json_begin_array(w);
  for (size_t i = 0; i < l->at.len; i++) {
    const struct perf_advice *a = &l->at.at[i];
    json_begin_object(w);
    text(w, "what", a->what);
    json_key(w, "lines"), json_begin_array(w);
    for (size_t k = 0; k < a->lines.len; k++) {
      json_begin_object(w);
      number(w, "line", a->lines.at[k].number);
      json_key(w, "text"), json_string(w, a->lines.at[k].text);
      json_end_object(w);
    }
    json_end_array(w);
    text(w, "option", a->option);
    text(w, "launches", a->launches);
    text(w, "limited_by", a->limiter);
    json_key(w, "predicted_ms"), json_double(w, a->ms);
    json_end_object(w);
  }
  json_end_array(w), json_end_object(w);
}

void perf_report_json(const struct perf_report *r, struct strbuf *out) {
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  text(&w, "file", r->source->name);
  text(&w, "kernel", r->info->name);
  text(&w, "target", r->target->name);
  number(&w, "num_warps", r->num_warps);
  write_accesses(r, &w);
  write_products(r, &w);
  write_exchanges(r, &w);
  write_resources(r, &w);
  write_advice(r, &w);
  json_end_object(&w);
  strbuf_putc(out, '\n');
}
