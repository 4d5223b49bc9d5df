// SPDX-License-Identifier: Apache-2.0
// What a worker and who started it say to each other: frames over a stream socket, each a line of
// JSON (an object, whose "bytes" says how many follow), then those bytes. Neither side trusts the
// other's: a kernel that writes anywhere shares the worker's memory.
#ifndef TILE_WORKER_FRAMES_H
#define TILE_WORKER_FRAMES_H

#include "base/json.h"

#define FRAME_MAX_LINE ((size_t)1 << 20)
#define FRAME_MAX_BYTES ((size_t)1 << 28)

enum frame_status {
  FRAME_NONE, // no whole frame is there (yet)
  FRAME_HERE,
  FRAME_END, // the other side has closed
  FRAME_BAD  // what came is no frame, or memory is out
};

// Zero-initialise; frame_reader_finish frees.
struct frame_reader {
  char *data;
  size_t len, cap, used; // bytes before `used` belong to frames that were taken
};
void frame_reader_finish(struct frame_reader *r);
// Takes from the socket what is there: waits for some where the socket blocks. FRAME_HERE: bytes
// came; FRAME_NONE: there are none now.
enum frame_status frame_fill(struct frame_reader *r, int fd);
// The next frame; its head lives on `a`, `bytes` until the next frame_fill.
struct frame {
  const struct json *head;
  struct str bytes;
};
enum frame_status frame_next(struct frame_reader *r, struct arena *a, struct frame *ret);

// Writing: frame_begin opens the object, the caller adds keys to `json`, frame_end closes it and
// appends the whole to `out`.
struct frame_writer {
  struct strbuf line;
  struct json_writer json;
};
void frame_begin(struct frame_writer *w, const char *kind);
void frame_end(struct frame_writer *w, struct str bytes, struct strbuf *out);
// Sends from *sent on. FRAME_HERE: all is sent, and `out` empty again; FRAME_NONE: the socket takes
// no more now; FRAME_END: nobody reads.
enum frame_status frame_send(int fd, struct strbuf *out, size_t *sent);

// Members of a head: what is missing or of another kind is the fallback.
int64_t frame_int(const struct json *head, const char *key, int64_t fallback);
double frame_double(const struct json *head, const char *key, double fallback);
struct str frame_text(const struct json *head, const char *key); // empty if missing
bool frame_is(const struct json *head, const char *kind);

#endif
