// SPDX-License-Identifier: Apache-2.0
// Messages between a worker and its parent: frames over a stream socket, each a line of JSON (an
// object whose "bytes" is the length of the payload), then the payload. Neither side trusts the
// other: a kernel with a wild store shares the worker's memory.
#ifndef TILE_WORKER_FRAMES_H
#define TILE_WORKER_FRAMES_H

#include "base/json.h"

#define FRAME_MAX_LINE ((size_t)1 << 20)
#define FRAME_MAX_BYTES ((size_t)1 << 28)

enum frame_status {
  FRAME_NONE, // no complete frame has arrived (yet)
  FRAME_HERE,
  FRAME_END, // the other side closed the socket
  FRAME_BAD  // the bytes are no frame, or memory is out
};

// Zero-initialise; frame_reader_finish frees.
struct frame_reader {
  char *data;
  size_t len, cap, used; // bytes before `used` belong to earlier frames
};
void frame_reader_finish(struct frame_reader *r);
// Reads what the socket has; blocks if the socket does. FRAME_HERE: bytes were read; FRAME_NONE:
// there are none now.
enum frame_status frame_fill(struct frame_reader *r, int fd);
// The next frame; its head is allocated on `a`, `bytes` is valid until the next frame_fill.
struct frame {
  const struct json *head;
  struct str bytes;
};
enum frame_status frame_next(struct frame_reader *r, struct arena *a, struct frame *ret);

// Writing: frame_begin opens the object, the caller adds keys to `json`, frame_end closes it and
// appends the frame to `out`.
struct frame_writer {
  struct strbuf line;
  struct json_writer json;
};
void frame_begin(struct frame_writer *w, const char *kind);
void frame_end(struct frame_writer *w, struct str bytes, struct strbuf *out);
// Sends from *sent on. FRAME_HERE: all was sent, and `out` is empty again; FRAME_NONE: the socket's
// buffer is full; FRAME_END: the other side closed.
enum frame_status frame_send(int fd, struct strbuf *out, size_t *sent);

// Members of a head; the fallback if a member is missing or of another kind.
int64_t frame_int(const struct json *head, const char *key, int64_t fallback);
double frame_double(const struct json *head, const char *key, double fallback);
struct str frame_text(const struct json *head, const char *key); // empty if missing
bool frame_is(const struct json *head, const char *kind);

#endif
