// SPDX-License-Identifier: Apache-2.0
// See base/wire.h. Numbers are 8 bytes in native byte order; texts follow their length.
#include "base/wire.h"

#define NO_TEXT UINT64_MAX // the length of NULL

void wire_put(struct strbuf *out, uint64_t number) {
  strbuf_put(out, (const char *)&number, sizeof number);
}

void wire_put_f64(struct strbuf *out, double number) {
  strbuf_put(out, (const char *)&number, sizeof number);
}

void wire_put_bytes(struct strbuf *out, struct str bytes) {
  wire_put(out, bytes.len);
  strbuf_put(out, bytes.ptr, bytes.len);
}

void wire_put_text(struct strbuf *out, const char *text) {
  if (text)
    wire_put_bytes(out, str_from(text));
  else
    wire_put(out, NO_TEXT);
}

static struct str take(struct wire_reader *r, uint64_t size) {
  if (r->failed || size > r->rest.len) {
    r->failed = true;
    return (struct str){"", 0};
  }
  struct str taken = {r->rest.ptr, (size_t)size};
  r->rest = (struct str){r->rest.ptr + size, r->rest.len - (size_t)size};
  return taken;
}

uint64_t wire_get(struct wire_reader *r) {
  uint64_t number = 0;
  struct str bytes = take(r, sizeof number);
  memcpy(&number, bytes.ptr, bytes.len);
  return number;
}

double wire_get_f64(struct wire_reader *r) {
  double number = 0;
  struct str bytes = take(r, sizeof number);
  memcpy(&number, bytes.ptr, bytes.len);
  return number;
}

struct str wire_get_bytes(struct wire_reader *r) {
  return take(r, wire_get(r));
}

const char *wire_get_text(struct wire_reader *r, struct arena *a) {
  uint64_t size = wire_get(r);
  if (size == NO_TEXT)
    return NULL;
  struct str text = take(r, size);
  return arena_strndup(a, text.ptr, text.len);
}

size_t wire_get_count(struct wire_reader *r) {
  uint64_t count = wire_get(r);
  r->failed |= count > r->rest.len;
  return r->failed ? 0 : (size_t)count;
}
