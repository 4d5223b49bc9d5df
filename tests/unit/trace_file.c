// SPDX-License-Identifier: Apache-2.0
// See trace_file.h.
#include "trace_file.h"

#include "base/file.h"

#include <check.h>

enum { MOST_BYTES = 64 << 20, MOST_OPEN = 64 };

static const struct json *get(const struct json *object, const char *key, enum json_kind kind) {
  const struct json *v = json_get(object, key);
  ck_assert_msg(v && v->kind == kind, "an event lacks `%s`", key);
  return v;
}

static struct trace_event read_event(const struct json *e) {
  struct trace_event t = {.name = get(e, "name", JSON_STRING)->string,
                          .category = get(e, "cat", JSON_STRING)->string,
                          .process = get(e, "pid", JSON_NUMBER)->integer,
                          .thread = get(e, "tid", JSON_NUMBER)->integer,
                          .begin = get(e, "ts", JSON_NUMBER)->number,
                          .length = get(e, "dur", JSON_NUMBER)->number,
                          .args = get(e, "args", JSON_OBJECT)};
  ck_assert(t.begin >= 0 && t.length >= 0);
  return t;
}

// The ends of the slices of one thread that are open where the next one begins.
static void check_nesting(const struct trace_file *f, const struct trace_event *of) {
  double ends[MOST_OPEN], tolerance = 0.0005; // half of what the file resolves
  size_t open = 0;
  for (size_t i = 0; i < f->count; i++) {
    const struct trace_event *e = &f->events[i];
    if (e->process != of->process || e->thread != of->thread)
      continue;
    while (open > 0 && ends[open - 1] <= e->begin + tolerance)
      open--;
    double end = e->begin + e->length;
    ck_assert_msg(open == 0 || end <= ends[open - 1] + tolerance, "`%.*s` does not nest",
                  STR_ARG(e->name));
    ck_assert_uint_lt(open, MOST_OPEN);
    ends[open++] = end;
  }
}

static bool is_first_of_thread(const struct trace_file *f, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (f->events[k].process == f->events[i].process && f->events[k].thread == f->events[i].thread)
      return false;
  return true;
}

struct trace_file trace_file_read(const char *path) {
  struct trace_file f = {.a = arena_create()};
  struct str text;
  struct json_error error;
  ck_assert_int_eq(file_read(f.a, path, MOST_BYTES, &text), 0);
  const struct json *all = json_parse(f.a, text, &error);
  ck_assert_msg(all != NULL, "byte %zu: %s", all ? 0 : error.offset, all ? "" : error.message);
  const struct json *events = get(all, "traceEvents", JSON_ARRAY);
  f.events = arena_array(f.a, struct trace_event, events->count + 1);
  for (size_t i = 0; i < events->count; i++) {
    struct str phase = get(events->items[i], "ph", JSON_STRING)->string;
    ck_assert(str_is(phase, "X") || str_is(phase, "M"));
    if (str_is(phase, "X"))
      f.events[f.count++] = read_event(events->items[i]);
  }
  for (size_t i = 0; i < f.count; i++) {
    ck_assert(i == 0 || f.events[i - 1].begin <= f.events[i].begin);
    if (is_first_of_thread(&f, i))
      check_nesting(&f, &f.events[i]);
  }
  return f;
}

void trace_file_close(struct trace_file *f) { arena_destroy(f->a); }

static bool matches(const struct trace_event *e, const char *name, const char *category) {
  return (!name || str_is(e->name, name)) && (!category || str_is(e->category, category));
}

size_t trace_file_count(const struct trace_file *f, const char *name, const char *category) {
  size_t n = 0;
  for (size_t i = 0; i < f->count; i++)
    n += matches(&f->events[i], name, category);
  return n;
}

const struct trace_event *trace_file_find(const struct trace_file *f, const char *name,
                                          const char *category) {
  for (size_t i = 0; i < f->count; i++)
    if (matches(&f->events[i], name, category))
      return &f->events[i];
  return NULL;
}
