// SPDX-License-Identifier: Apache-2.0
// Finds the launch that first makes a NaN or an infinity. Each launch's arrays are copied to the
// host before and after it; an element is its work if its bits differ.
#include "base/memory.h"
#include "graph/run/run_internal.h"
#include "runtime/runtime_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct summary {
  int64_t count, nans, infinities, zeros;
  double least, most, sum; // of finite elements
};

struct copied { // an array of a launch, before it
  const struct buffer *buffer;
  bool is_written;
  char *bytes;
  int64_t count;
};

enum { FOUND_NAN, FOUND_INFINITY };

struct finder {
  struct loaded_program *l;
  tile_stream *stream;
  struct strbuf *report;
  struct copied arrays[LAUNCH_MOST_ARGS];
  size_t array_count;
  bool found[2];
};

// ---- arrays ----

static bool is_watched(const struct buffer *b) { return b->value && dtype_is_float(b->dtype); }

static tile_status copy_of(struct finder *f, const struct buffer *b, struct copied *ret) {
  *ret = (struct copied){.buffer = b};
  if (!loaded_size(f->l, b->numel, &ret->count))
    return status_set(TILE_INVALID_ARGUMENT, "a size does not fit 64 bits");
  size_t bytes = (size_t)ret->count * dtype_bytes(b->dtype);
  ret->bytes = memory_alloc(bytes + 1);
  if (!ret->bytes)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a copy of `%s`", b->name);
  return bytes ? tile_copy_to_host(f->l->device, f->stream, ret->bytes, f->l->memory[b->id], bytes)
               : TILE_OK;
}

static double element(const struct copied *c, int64_t i) {
  return dtype_load(c->buffer->dtype, c->bytes + (size_t)i * dtype_bytes(c->buffer->dtype));
}

static struct summary summary_of(const struct copied *c) {
  struct summary s = {.count = c->count, .least = INFINITY, .most = -INFINITY};
  for (int64_t i = 0; i < c->count; i++) {
    double x = element(c, i);
    s.nans += isnan(x) != 0;
    s.infinities += isinf(x) != 0;
    if (!isfinite(x))
      continue;
    s.zeros += !(x < 0) && !(x > 0);
    s.least = x < s.least ? x : s.least;
    s.most = x > s.most ? x : s.most;
    s.sum += x;
  }
  return s;
}

static void forget(struct finder *f) {
  for (size_t i = 0; i < f->array_count; i++)
    free(f->arrays[i].bytes);
  f->array_count = 0;
}

// ---- the report ----

static void put_summary(struct strbuf *out, const char *name, const struct summary *s) {
  int64_t finite = s->count - s->nans - s->infinities;
  strbuf_printf(out, "    %s: %" PRId64 " elements", name, s->count);
  if (finite)
    strbuf_printf(out, " from %.6g to %.6g, mean %.6g, %" PRId64 " zeros", s->least, s->most,
                  s->sum / (double)finite, s->zeros);
  if (s->nans || s->infinities)
    strbuf_printf(out, "; %" PRId64 " NaN, %" PRId64 " infinite", s->nans, s->infinities);
  strbuf_putc(out, '\n');
}

// The stage that writes the buffer; NULL: a call, or a part of a kernel that has none.
static const struct stage *maker(const struct launch *launch, const struct buffer *b) {
  for (size_t i = 0; launch->region && i < launch->region->stages.len; i++) {
    const struct stage *s = launch->region->stages.at[i];
    if (s->out == b || s->out->home == b->home)
      return s;
  }
  return NULL;
}

static void put_place(struct strbuf *out, const struct buffer *b, const struct stage *s) {
  struct span at = b->value && b->value->span.source ? b->value->span : s ? s->span : SPAN_NONE;
  if (at.source) {
    struct line_col p = source_line_col(at.source, at.begin);
    struct str line = str_trim(source_line(at.source, p.line));
    strbuf_printf(out, "    at %s:%u:%u: %.*s\n", at.source->name, p.line, p.col, STR_ARG(line));
  }
  for (size_t i = 0; s && i < s->origins.len; i++)
    strbuf_printf(out, "%s%s", i ? ", " : "    computed by ", s->origins.at[i]);
  if (s && s->origins.len)
    strbuf_putc(out, '\n');
}

static void put_finding(struct finder *f, int what, const struct launch *launch, size_t index,
                        const struct copied *c, int64_t at) {
  struct strbuf *out = f->report;
  strbuf_printf(out, "first %s: element %" PRId64 " of %" PRId64 " of `%s` ",
                what == FOUND_NAN ? "NaN" : "infinity", at, c->count, c->buffer->name);
  value_type_print(c->buffer->value, false, out);
  strbuf_printf(out, ", in launch %zu of %zu", index + 1, f->l->p->launches.len);
  if (launch->kernel)
    strbuf_printf(out, ", kernel `%s`", launch->kernel->name);
  strbuf_putc(out, '\n');
  put_place(out, c->buffer, maker(launch, c->buffer));
  strbuf_puts(out, "  it read\n");
  for (size_t i = 0; i < f->array_count; i++) {
    struct summary s = summary_of(&f->arrays[i]);
    if (!f->arrays[i].is_written || f->arrays[i].buffer->role == BUFFER_INPUT)
      put_summary(out, f->arrays[i].buffer->name, &s);
  }
  f->found[what] = true;
}

// ---- around each launch ----

static tile_status keep(struct finder *f, const struct buffer *b, bool is_written) {
  struct copied *c = &f->arrays[f->array_count];
  if (!is_watched(b) || f->array_count == LAUNCH_MOST_ARGS)
    return TILE_OK;
  f->array_count++; // forget() frees it, also after a failure
  tile_status s = copy_of(f, b, c);
  c->is_written = is_written;
  return s;
}

static tile_status before(void *user, const struct launch *launch, size_t index) {
  struct finder *f = user;
  tile_status s = TILE_OK;
  (void)index;
  if (f->found[FOUND_NAN])
    return TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < launch->args.len; i++)
    if (launch->args.at[i].kind == LAUNCH_BUFFER)
      s = keep(f, launch->args.at[i].buffer, launch->args.at[i].is_written);
  for (uint32_t i = 0; s == TILE_OK && launch->call && i < launch->call->node->result_count; i++)
    if (launch->call->results[i] && launch->args.len == 0)
      s = keep(f, launch->call->results[i], true);
  return s;
}

static void compare(struct finder *f, const struct launch *launch, size_t index,
                    const struct copied *old, const struct copied *new) {
  size_t size = dtype_bytes(old->buffer->dtype);
  for (int64_t i = 0; i < new->count; i++) {
    double x = element(new, i);
    int what = isnan(x) ? FOUND_NAN : FOUND_INFINITY;
    if (isfinite(x) || f->found[what] ||
        memcmp(old->bytes + (size_t)i * size, new->bytes + (size_t)i *size, size) == 0)
      continue;
    put_finding(f, what, launch, index, new, i);
  }
}

static tile_status after(void *user, const struct launch *launch, size_t index) {
  struct finder *f = user;
  tile_status s = TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < f->array_count; i++) {
    struct copied now = {0};
    if (!f->arrays[i].is_written)
      continue;
    s = copy_of(f, f->arrays[i].buffer, &now);
    if (s == TILE_OK)
      compare(f, launch, index, &f->arrays[i], &now);
    free(now.bytes);
  }
  forget(f);
  return s;
}

// ---- a run ----

static bool overlaps_inputs(const struct loaded_program *l, const char *at, int64_t bytes) {
  int64_t n = 0;
  for (size_t i = 0; i < l->p->buffer_count; i++) {
    const struct buffer *b = l->p->buffers[i];
    const char *input = l->memory[b->id];
    if (b->role == BUFFER_INPUT && loaded_size(l, b->numel, &n) && input < at + bytes &&
        at < input + n * (int64_t)dtype_bytes(b->dtype))
      return true;
  }
  return false;
}

// What earlier runs left is no finding.
static tile_status clear_results(struct loaded_program *l, tile_stream *stream) {
  tile_status s = TILE_OK;
  if (l->arena && l->arena_bytes > 0)
    s = tile_memset(l->device, stream, l->arena, 0, (size_t)l->arena_bytes);
  for (size_t i = 0; s == TILE_OK && i < l->p->buffer_count; i++) {
    const struct buffer *b = l->p->buffers[i];
    int64_t n = 0;
    if (b->role != BUFFER_OUTPUT || !is_watched(b) || !loaded_size(l, b->numel, &n))
      continue;
    n *= (int64_t)dtype_bytes(b->dtype);
    if (n > 0 && !overlaps_inputs(l, l->memory[b->id], n))
      s = tile_memset(l->device, stream, l->memory[b->id], 0, (size_t)n);
  }
  return s;
}

static tile_status check_inputs(struct finder *f) {
  const struct program *p = f->l->p;
  tile_status s = TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < p->buffer_count; i++) {
    const struct buffer *b = p->buffers[i];
    struct copied c = {0};
    if (b->role != BUFFER_INPUT || !is_watched(b))
      continue;
    s = copy_of(f, b, &c);
    struct summary sum = s == TILE_OK ? summary_of(&c) : (struct summary){0};
    if (sum.nans || sum.infinities) {
      strbuf_puts(f->report, "an input that is not finite\n");
      put_summary(f->report, b->name, &sum);
    }
    free(c.bytes);
  }
  return s;
}

tile_status program_find_nan(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                             const struct tensor_view *inputs, const struct tensor_view *outputs,
                             struct strbuf *report) {
  struct tensor **kept = NULL;
  struct finder f = {.l = l, .stream = stream, .report = report};
  const struct launch_watch watch = {before, after, &f};
  tile_status s = loaded_get_ready(l, inputs, outputs);
  if (s == TILE_OK)
    s = clear_results(l, stream);
  if (s == TILE_OK)
    s = check_inputs(&f);
  if (s == TILE_OK)
    s = inputs_keep(l, stream, inputs, &kept);
  if (s == TILE_OK) {
    l->watch = &watch;
    s = program_run(l, stream, seed, inputs, outputs);
    l->watch = NULL;
  }
  forget(&f);
  if (s == TILE_OK && kept && (f.found[FOUND_NAN] || f.found[FOUND_INFINITY]))
    find_operator(l, seed, kept, report);
  inputs_forget(l->p->graph, kept);
  return s;
}
