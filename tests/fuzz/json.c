// SPDX-License-Identifier: Apache-2.0
// JSON: parsing, printing and parsing again gives the same value.
#include "base/json.h"

#include "drive.h"

#include <math.h>

static void write_value(struct arena *a, struct json_writer *w, const struct json *j) {
  switch (j->kind) {
  case JSON_NULL: json_null(w); break;
  case JSON_BOOL: json_bool(w, j->boolean); break;
  case JSON_NUMBER:
    if (j->is_integer)
      json_int(w, j->integer);
    else
      json_double(w, j->number);
    break;
  case JSON_STRING: json_string(w, j->string); break;
  case JSON_ARRAY:
    json_begin_array(w);
    for (size_t i = 0; i < j->count; i++)
      write_value(a, w, j->items[i]);
    json_end_array(w);
    break;
  case JSON_OBJECT:
    json_begin_object(w);
    for (size_t i = 0; i < j->count; i++) {
      json_key(w, arena_strndup(a, j->keys[i].ptr, j->keys[i].len)); // up to a NUL
      write_value(a, w, j->items[i]);
    }
    json_end_object(w);
  }
}

static bool is_same(const struct json *x, const struct json *y) {
  if (x->kind == JSON_NUMBER && isinf(x->number)) // beyond double; written as null
    return y->kind == JSON_NULL;
  if (x->kind != y->kind || x->count != y->count)
    return false;
  if (x->kind == JSON_NUMBER)
    return x->is_integer ? y->is_integer && x->integer == y->integer
                         : !(fabs(x->number - y->number) > 0);
  if (x->kind == JSON_STRING)
    return str_eq(x->string, y->string);
  if (x->kind == JSON_BOOL)
    return x->boolean == y->boolean;
  for (size_t i = 0; i < x->count; i++)
    if (!is_same(x->items[i], y->items[i]))
      return false;
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct drive d;
  struct json_error error;
  if (!drive_begin(&d))
    return 0;
  struct str text = {arena_strndup(d.arena, (const char *)data, size), size};
  struct json *j = json_parse(d.arena, text, &error);
  DRIVE_CHECK(j || error.offset <= size);
  if (j) {
    struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    write_value(d.arena, &w, j);
    struct json *again = json_parse(d.arena, (struct str){strbuf_cstr(&out), out.len}, &error);
    DRIVE_CHECK(again && is_same(j, again));
    strbuf_finish(&out);
  }
  drive_end(&d);
  return 0;
}
