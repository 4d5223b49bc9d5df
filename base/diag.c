// SPDX-License-Identifier: Apache-2.0
// Recording of diagnostics. Control characters are removed from texts here, because they quote
// untrusted names and files.
#include "base/diag_first.h"
#include "base/diag_internal.h"

#include <stdlib.h>

struct diag_engine *diag_engine_create(struct arena *a) {
  struct diag_engine *e = arena_new(a, struct diag_engine);
  struct diag *lost = arena_new(a, struct diag);
  if (!e || !lost)
    return NULL;
  *e = (struct diag_engine){.a = a, .lost = lost};
  return e;
}

static const char *format_text(struct arena *a, const char *fmt, va_list ap) PRINTF(2, 0);
static const char *format_text(struct arena *a, const char *fmt, va_list ap) {
  char *text = arena_vprintf(a, fmt, ap);
  if (!text)
    return NULL;
  for (char *p = text; *p; p++)
    if (((unsigned char)*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7f)
      *p = '?';
  return text;
}

static struct diag *lose(struct diag_engine *e) {
  e->errors += !e->is_lost;
  e->is_lost = true;
  *e->lost = (struct diag){.engine = e,
                           .severity = DIAG_ERROR,
                           .code = E0991,
                           .at = SPAN_NONE,
                           .message = "out of memory"};
  return NULL;
}

void diag_out_of_memory(struct diag_engine *e) { lose(e); }

static struct diag *record(struct diag_engine *e, enum diag_severity severity, struct span at,
                           enum diag_code code, const char *topic, const char *message) {
  struct diag *d = message ? arena_new(e->a, struct diag) : NULL;
  vec_reserve(e->a, &e->records, e->records.len + 1);
  if (!d || e->records.cap == e->records.len)
    return lose(e);
  *d = (struct diag){.engine = e,
                     .severity = severity,
                     .code = code,
                     .topic = topic,
                     .at = at,
                     .message = message};
  vec_push(e->a, &e->records, d);
  e->errors += severity == DIAG_ERROR;
  return d;
}

void diag_forget(struct diag_engine *e, unsigned count) {
  while (e->records.len > count)
    e->errors -= vec_pop(&e->records)->severity == DIAG_ERROR;
}

void diag_keep(struct diag_engine *e, bool (*is_wanted)(enum diag_code code)) {
  size_t n = 0;
  for (size_t i = 0; i < e->records.len; i++) {
    struct diag *d = e->records.at[i];
    bool is_kept = is_wanted(d->code);
    if (is_kept)
      e->records.at[n++] = d;
    else
      e->errors -= d->severity == DIAG_ERROR;
  }
  e->records.len = n;
}

static bool has_record(const struct diag_engine *e, const struct diag *like) {
  for (size_t i = 0; i < e->records.len; i++) {
    const struct diag *d = e->records.at[i];
    if (d->code == like->code && d->at.source == like->at.source && d->at.begin == like->at.begin)
      return true;
  }
  return false;
}

void diag_add_all(struct diag_engine *to, const struct diag_engine *from) {
  if (from->is_lost)
    lose(to);
  for (size_t i = 0; i < from->records.len; i++) {
    const struct diag *d = from->records.at[i];
    struct diag *copy =
        has_record(to, d) ? NULL : record(to, d->severity, d->at, d->code, d->topic, d->message);
    if (!copy)
      continue;
    *copy = *d;
    copy->engine = to;
  }
}

#define FORMAT(arena, result)                                                                      \
  do {                                                                                             \
    va_list ap;                                                                                    \
    va_start(ap, fmt);                                                                             \
    result = format_text((arena), fmt, ap);                                                        \
    va_end(ap);                                                                                    \
  } while (0)

struct diag *diag_error(struct diag_engine *e, struct span at, enum diag_code code, const char *fmt,
                        ...) {
  const char *text;
  FORMAT(e->a, text);
  return record(e, DIAG_ERROR, at, code, NULL, text);
}

struct diag *diag_warning(struct diag_engine *e, struct span at, enum diag_code code,
                          const char *fmt, ...) {
  const char *text;
  FORMAT(e->a, text);
  return record(e, DIAG_WARNING, at, code, NULL, text);
}

struct diag *diag_remark(struct diag_engine *e, struct span at, const char *topic, const char *fmt,
                         ...) {
  const char *text;
  FORMAT(e->a, text);
  return record(e, DIAG_REMARK, at, DIAG_CODE_COUNT, arena_strdup(e->a, topic), text);
}

// Appends to a list of the record, which is unchanged if memory is out and nothing is raised.
#define ADD(d, list, ...)                                                                          \
  do {                                                                                             \
    vec_reserve((d)->engine->a, &(d)->list, (d)->list.len + 1);                                    \
    if ((d)->list.cap > (d)->list.len)                                                             \
      vec_push((d)->engine->a, &(d)->list, __VA_ARGS__);                                           \
    else                                                                                           \
      lose((d)->engine);                                                                           \
  } while (0)

void diag_label(struct diag *d, struct span at, const char *fmt, ...) {
  if (!d)
    return;
  const char *text;
  FORMAT(d->engine->a, text);
  ADD(d, labels, (struct diag_part){at, text});
}

void diag_primary_label(struct diag *d, const char *fmt, ...) {
  if (d)
    FORMAT(d->engine->a, d->primary_label);
}

void diag_note(struct diag *d, struct span at, const char *fmt, ...) {
  if (!d)
    return;
  const char *text;
  FORMAT(d->engine->a, text);
  ADD(d, notes, (struct diag_part){at, text});
}

void diag_help(struct diag *d, const char *fmt, ...) {
  if (!d)
    return;
  const char *text;
  FORMAT(d->engine->a, text);
  ADD(d, helps, text);
}

void diag_fixit(struct diag *d, struct span at, const char *replacement) {
  if (d && at.source)
    ADD(d, fixits, (struct diag_part){at, arena_strdup(d->engine->a, replacement)});
}

void diag_did_you_mean(struct diag *d, struct span at, const char *replacement) {
  diag_help(d, "did you mean `%s`?", replacement);
  if (at.source)
    diag_fixit(d, at, replacement);
}

unsigned diag_error_count(const struct diag_engine *e) { return e->errors; }
unsigned diag_count(const struct diag_engine *e) { return (unsigned)e->records.len; }

static struct diag *first_error(const struct diag_engine *e) {
  if (e->is_lost)
    return e->lost;
  struct diag *first = NULL;
  for (size_t i = 0; i < e->records.len; i++) {
    struct diag *d = e->records.at[i];
    if (d->severity != DIAG_ERROR)
      continue;
    if (d->code == E0991) // besides other errors: the list is incomplete
      return d;
    first = first ? first : d;
  }
  return first;
}

const char *diag_first_error(const struct diag_engine *e) {
  const struct diag *d = first_error(e);
  return d ? d->message : "";
}

struct span diag_first_error_span(const struct diag_engine *e) {
  const struct diag *d = first_error(e);
  return d ? d->at : SPAN_NONE;
}

struct diag *diag_first_error_record(const struct diag_engine *e) {
  return first_error(e);
}

enum diag_code diag_first_error_code(const struct diag_engine *e) {
  const struct diag *d = first_error(e);
  return d ? d->code : DIAG_CODE_COUNT;
}

const char *diag_severity_name(enum diag_severity s) {
  switch (s) {
  case DIAG_ERROR: return "error";
  case DIAG_WARNING: return "warning";
  case DIAG_REMARK: return "remark";
  }
  return "";
}

// ---- order ----

struct sort_key {
  struct diag *d;
  size_t source, age;
};

static int compare_keys(const void *x, const void *y) {
  const struct sort_key *a = x, *b = y;
  if (a->source != b->source)
    return a->source < b->source ? -1 : 1;
  if (a->d->at.begin != b->d->at.begin)
    return a->d->at.begin < b->d->at.begin ? -1 : 1;
  return a->age < b->age ? -1 : a->age > b->age;
}

// Index of the first record of the same source, from 1; 0 without a location.
static size_t source_rank(const struct diag_engine *e, size_t i) {
  const struct source *s = e->records.at[i]->at.source;
  for (size_t j = 0; s && j <= i; j++)
    if (e->records.at[j]->at.source == s)
      return j + 1;
  return 0;
}

static bool same(const struct diag *a, const struct diag *b) {
  return a->severity == b->severity && a->code == b->code && a->at.source == b->at.source &&
         a->at.begin == b->at.begin && a->at.end == b->at.end &&
         strcmp(a->message, b->message) == 0;
}

struct diag **diag_sorted(const struct diag_engine *e, size_t *ret_count) {
  size_t n = e->records.len, kept = 0;
  struct sort_key *keys = arena_array(e->a, struct sort_key, n + 2);
  struct diag **sorted = arena_array(e->a, struct diag *, n + 2);
  if (!keys || !sorted)
    return NULL;
  for (size_t i = 0; i < n; i++)
    keys[i] = (struct sort_key){e->records.at[i], source_rank(e, i), i};
  if (e->is_lost) {
    keys[n] = (struct sort_key){e->lost, 0, n};
    n++;
  }
  qsort(keys, n, sizeof *keys, compare_keys);
  for (size_t i = 0; i < n; i++)
    if (!kept || !same(sorted[kept - 1], keys[i].d))
      sorted[kept++] = keys[i].d;
  *ret_count = kept;
  return sorted;
}

// ---- codes ----

struct code_row {
  const char *name, *title, *section, *explain;
};

static const struct code_row code_rows[DIAG_CODE_COUNT] = {
#define DIAG(code, title, section, explain) {#code, title, section, explain},
#include "base/diag_codes.def"
#undef DIAG
};

const char *diag_code_name(enum diag_code c) {
  return c < DIAG_CODE_COUNT ? code_rows[c].name : "";
}
bool diag_code_is_limit(enum diag_code c) { return (c >= E0901 && c <= E0950) || c == E1009; }
const char *diag_code_title(enum diag_code c) {
  return c < DIAG_CODE_COUNT ? code_rows[c].title : "";
}
const char *diag_code_section(enum diag_code c) {
  return c < DIAG_CODE_COUNT ? code_rows[c].section : "";
}
const char *diag_code_explain(enum diag_code c) {
  return c < DIAG_CODE_COUNT ? code_rows[c].explain : "";
}

bool diag_code_find(struct str name, enum diag_code *ret) {
  for (unsigned i = 0; i < DIAG_CODE_COUNT; i++)
    if (name.len == 5 && (name.ptr[0] | 0x20) == 'e' &&
        memcmp(name.ptr + 1, code_rows[i].name + 1, 4) == 0) {
      *ret = (enum diag_code)i;
      return true;
    }
  return false;
}
