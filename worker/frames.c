// SPDX-License-Identifier: Apache-2.0
// See worker/frames.h. A member "frame" names the kind of a frame.
#include "worker/frames.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#define READ_AT_ONCE ((size_t)1 << 16)

void frame_reader_finish(struct frame_reader *r) {
  free(r->data);
  *r = (struct frame_reader){0};
}

static bool make_room(struct frame_reader *r) {
  if (r->used) {
    memmove(r->data, r->data + r->used, r->len - r->used);
    r->len -= r->used;
    r->used = 0;
  }
  if (r->cap - r->len >= READ_AT_ONCE)
    return true;
  size_t cap = r->cap * 2 > r->len + READ_AT_ONCE ? r->cap * 2 : r->len + READ_AT_ONCE;
  char *grown = memory_resize(r->data, cap);
  if (!grown)
    return false;
  r->data = grown;
  r->cap = cap;
  return true;
}

enum frame_status frame_fill(struct frame_reader *r, int fd) {
  if (!make_room(r))
    return FRAME_BAD;
  ssize_t n;
  do
    n = recv(fd, r->data + r->len, r->cap - r->len, 0);
  while (n < 0 && errno == EINTR);
  if (n > 0) {
    r->len += (size_t)n;
    return FRAME_HERE;
  }
  return n < 0 && (errno == EAGAIN) ? FRAME_NONE : FRAME_END;
}

enum frame_status frame_next(struct frame_reader *r, struct arena *a, struct frame *ret) {
  size_t there = r->len - r->used;
  const char *line = r->data + r->used, *end = there ? memchr(line, '\n', there) : NULL;
  if (!end)
    return there > FRAME_MAX_LINE ? FRAME_BAD : FRAME_NONE;
  size_t line_bytes = (size_t)(end - line) + 1;
  struct arena_mark mark = arena_mark(a);
  struct json_error error;
  const struct json *head = json_parse(a, (struct str){line, line_bytes - 1}, &error);
  if (!head || head->kind != JSON_OBJECT)
    return FRAME_BAD;
  int64_t bytes = frame_int(head, "bytes", 0);
  if (bytes < 0 || (uint64_t)bytes > FRAME_MAX_BYTES)
    return FRAME_BAD;
  if (there - line_bytes < (size_t)bytes) {
    arena_release(a, mark);
    return FRAME_NONE;
  }
  *ret = (struct frame){head, {line + line_bytes, (size_t)bytes}};
  r->used += line_bytes + (size_t)bytes;
  return FRAME_HERE;
}

void frame_begin(struct frame_writer *w, const char *kind) {
  *w = (struct frame_writer){0};
  w->json.out = &w->line;
  json_begin_object(&w->json);
  json_key(&w->json, "frame"), json_cstring(&w->json, kind);
}

void frame_end(struct frame_writer *w, struct str bytes, struct strbuf *out) {
  if (bytes.len)
    json_key(&w->json, "bytes"), json_int(&w->json, (int64_t)bytes.len);
  json_end_object(&w->json);
  strbuf_put(out, strbuf_cstr(&w->line), w->line.len);
  strbuf_putc(out, '\n');
  strbuf_put(out, bytes.ptr, bytes.len);
  out->failed |= w->line.failed;
  strbuf_finish(&w->line);
}

enum frame_status frame_send(int fd, struct strbuf *out, size_t *sent) {
  if (out->failed)
    return FRAME_BAD;
  while (*sent < out->len) {
    ssize_t n = send(fd, out->ptr + *sent, out->len - *sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errno == EAGAIN ? FRAME_NONE : FRAME_END;
    *sent += (size_t)n;
  }
  strbuf_clear(out);
  *sent = 0;
  return FRAME_HERE;
}

int64_t frame_int(const struct json *head, const char *key, int64_t fallback) {
  const struct json *v = json_get(head, key);
  return v && v->kind == JSON_NUMBER && v->is_integer ? v->integer : fallback;
}

double frame_double(const struct json *head, const char *key, double fallback) {
  const struct json *v = json_get(head, key);
  return v && v->kind == JSON_NUMBER ? v->number : fallback;
}

struct str frame_text(const struct json *head, const char *key) {
  const struct json *v = json_get(head, key);
  return v && v->kind == JSON_STRING ? v->string : (struct str){"", 0};
}

bool frame_is(const struct json *head, const char *kind) {
  return str_is(frame_text(head, "frame"), kind);
}
