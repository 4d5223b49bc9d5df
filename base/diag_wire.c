// SPDX-License-Identifier: Apache-2.0
// See base/diag_wire.h. The sources, then records that refer to them by index; 0 is no location, 1
// the source that both sides have.
#include "base/diag_wire.h"

#include "base/diag_internal.h"

typedef VEC(const struct source *) source_list;

enum { NO_SOURCE, KNOWN_SOURCE, FIRST_SOURCE };

// ---- writing ----

struct writer {
  struct strbuf *out;
  const struct source *known;
  struct arena *a;
  source_list sources;
};

static uint64_t number_of(struct writer *w, const struct source *s) {
  if (!s)
    return NO_SOURCE;
  if (s == w->known)
    return KNOWN_SOURCE;
  size_t i = 0;
  while (i < w->sources.len && w->sources.at[i] != s)
    i++;
  if (i == w->sources.len)
    vec_push(w->a, &w->sources, s);
  return FIRST_SOURCE + i;
}

static void note_parts(struct writer *w, const diag_parts *parts) {
  for (size_t i = 0; i < parts->len; i++)
    (void)number_of(w, parts->at[i].at.source);
}

static void put_sources(struct writer *w, const struct diag_engine *e) {
  for (size_t i = 0; i < e->records.len; i++) {
    const struct diag *d = e->records.at[i];
    (void)number_of(w, d->at.source);
    note_parts(w, &d->labels);
    note_parts(w, &d->notes);
    note_parts(w, &d->fixits);
  }
  wire_put(w->out, w->sources.len);
  for (size_t i = 0; i < w->sources.len; i++) {
    wire_put_text(w->out, w->sources.at[i]->name);
    wire_put_bytes(w->out, w->sources.at[i]->text);
  }
}

static void put_span(struct writer *w, struct span at) {
  wire_put(w->out, number_of(w, at.source));
  wire_put(w->out, at.begin);
  wire_put(w->out, at.end);
}

static void put_parts(struct writer *w, const diag_parts *parts) {
  wire_put(w->out, parts->len);
  for (size_t i = 0; i < parts->len; i++) {
    put_span(w, parts->at[i].at);
    wire_put_text(w->out, parts->at[i].text);
  }
}

static void put_record(struct writer *w, const struct diag *d) {
  wire_put(w->out, d->severity);
  wire_put(w->out, d->code);
  wire_put_text(w->out, d->topic);
  put_span(w, d->at);
  wire_put_text(w->out, d->message);
  wire_put_text(w->out, d->primary_label);
  put_parts(w, &d->labels);
  put_parts(w, &d->notes);
  put_parts(w, &d->fixits);
  wire_put(w->out, d->helps.len);
  for (size_t i = 0; i < d->helps.len; i++)
    wire_put_text(w->out, d->helps.at[i]);
}

void diag_wire_put(const struct diag_engine *e, const struct source *known, struct strbuf *out) {
  struct writer w = {.out = out, .known = known, .a = e->a};
  put_sources(&w, e);
  wire_put(out, e->is_lost);
  wire_put(out, e->records.len);
  for (size_t i = 0; i < e->records.len; i++)
    put_record(&w, e->records.at[i]);
}

// ---- reading ----

struct reader {
  struct wire_reader *r;
  struct diag_engine *e;
  const struct source *known;
  source_list sources;
};

static void get_sources(struct reader *r) {
  size_t count = wire_get_count(r->r);
  for (size_t i = 0; i < count && !r->r->failed; i++) {
    const char *name = wire_get_text(r->r, r->e->a);
    struct str text = wire_get_bytes(r->r);
    r->r->failed |= !name || text.len > SOURCE_MAX_BYTES;
    if (!r->r->failed)
      vec_push(r->e->a, &r->sources, source_create(r->e->a, name, text));
  }
}

static struct span get_span(struct reader *r) {
  uint64_t source = wire_get(r->r), begin = wire_get(r->r), end = wire_get(r->r);
  if (source == NO_SOURCE || r->r->failed)
    return SPAN_NONE;
  r->r->failed |= source >= FIRST_SOURCE + r->sources.len;
  if (r->r->failed)
    return SPAN_NONE;
  const struct source *s = source == KNOWN_SOURCE ? r->known : r->sources.at[source - FIRST_SOURCE];
  end = end < s->text.len ? end : s->text.len;
  return (struct span){s, (uint32_t)(begin < end ? begin : end), (uint32_t)end};
}

static const char *get_text(struct reader *r) {
  const char *text = wire_get_text(r->r, r->e->a);
  return text ? text : "";
}

static void get_record(struct reader *r) {
  uint64_t severity = wire_get(r->r), code = wire_get(r->r);
  const char *topic = wire_get_text(r->r, r->e->a);
  struct span at = get_span(r);
  const char *message = get_text(r);
  r->r->failed |= severity > DIAG_REMARK || code > DIAG_CODE_COUNT;
  if (r->r->failed)
    return;
  struct diag *d =
      severity == DIAG_ERROR     ? diag_error(r->e, at, (enum diag_code)code, "%s", message)
      : severity == DIAG_WARNING ? diag_warning(r->e, at, (enum diag_code)code, "%s", message)
                                 : diag_remark(r->e, at, topic ? topic : "", "%s", message);
  const char *label = wire_get_text(r->r, r->e->a);
  if (label)
    diag_primary_label(d, "%s", label);
  for (size_t n = wire_get_count(r->r); n && !r->r->failed; n--) {
    struct span where = get_span(r);
    diag_label(d, where, "%s", get_text(r));
  }
  for (size_t n = wire_get_count(r->r); n && !r->r->failed; n--) {
    struct span where = get_span(r);
    diag_note(d, where, "%s", get_text(r));
  }
  for (size_t n = wire_get_count(r->r); n && !r->r->failed; n--) {
    struct span where = get_span(r);
    diag_fixit(d, where, get_text(r));
  }
  for (size_t n = wire_get_count(r->r); n && !r->r->failed; n--)
    diag_help(d, "%s", get_text(r));
}

bool diag_wire_get(struct diag_engine *e, const struct source *known, struct wire_reader *r) {
  struct reader all = {.r = r, .e = e, .known = known};
  get_sources(&all);
  bool is_lost = wire_get(r) != 0;
  for (size_t n = wire_get_count(r); n && !r->failed; n--)
    get_record(&all);
  if (is_lost && !r->failed)
    diag_out_of_memory(e);
  return !r->failed;
}
