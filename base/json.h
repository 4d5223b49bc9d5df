// SPDX-License-Identifier: Apache-2.0
// JSON: a reader into an arena tree (nesting limited, strict RFC 8259) and a streaming writer.
#ifndef TILE_BASE_JSON_H
#define TILE_BASE_JSON_H

#include "base/arena.h"
#include "base/str.h"

#define JSON_MAX_DEPTH 256

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
  enum json_kind kind;
  size_t begin, end; // its bytes in the text
  bool boolean;
  double number;
  bool is_integer; // the number had neither fraction nor exponent and fits `integer`
  int64_t integer;
  struct str string;   // decoded to UTF-8
  size_t count;        // members of an array or object
  struct json **items; // values
  struct str *keys;    // objects only, same order as items
  size_t *key_at;      // offset of each key in the text
};

struct json_error {
  size_t offset; // of the error in the text
  const char *message;
};

// NULL on error, described in *ret_error. The tree lives on `a`.
struct json *json_parse(struct arena *a, struct str text, struct json_error *ret_error);
struct json *json_get(const struct json *object, const char *key); // NULL if absent

// Writer: adds commas, colons and escapes. Depth at most JSON_MAX_DEPTH.
struct json_writer {
  struct strbuf *out;
  unsigned depth;
  bool need_comma, after_key;
};
void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_key(struct json_writer *w, const char *key);
void json_string(struct json_writer *w, struct str value);
void json_cstring(struct json_writer *w, const char *value);
void json_int(struct json_writer *w, int64_t value);
// The shortest text that reads as the same number; NaN and infinities become null.
void json_double(struct json_writer *w, double value);
void json_bool(struct json_writer *w, bool value);
void json_null(struct json_writer *w);
void json_raw(struct json_writer *w, const char *text); // a value that is JSON already

#endif
