// SPDX-License-Identifier: Apache-2.0
// Messages over file descriptors: a header with `Content-Length: N`, an empty line, N bytes of
// JSON. After a header that is wrong, reading goes on at the next `Content-Length`.
#include "base/arena.h"
#include "base/json.h"
#include "tools/lsp/lsp.h"
#include "tools/lsp/lsp_server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16, MOST_LINE = 4096, MOST_BYTES = 128 << 20 };

struct input {
  int fd;
  size_t begin, end; // of what is buffered
  bool ended;
  char buffer[BUFFER_BYTES];
};

static bool fill(struct input *in) {
  ssize_t n;
  do
    n = read(in->fd, in->buffer, sizeof in->buffer);
  while (n < 0 && errno == EINTR);
  in->begin = 0;
  in->end = n > 0 ? (size_t)n : 0;
  in->ended = n <= 0;
  return n > 0;
}

static int next_byte(struct input *in) {
  if (in->begin == in->end && !fill(in))
    return -1;
  return (unsigned char)in->buffer[in->begin++];
}

// A line without its end; of a longer one the end. False: the input has ended.
static bool read_line(struct input *in, char *line, size_t *ret_len) {
  size_t n = 0;
  int c;
  while ((c = next_byte(in)) >= 0 && c != '\n') {
    if (n == MOST_LINE)
      memmove(line, line + MOST_LINE / 2, n = MOST_LINE / 2);
    line[n++] = (char)c;
  }
  while (n > 0 && line[n - 1] == '\r')
    n--;
  *ret_len = n;
  return c >= 0;
}

// The number of a line that contains `Content-Length: N`, also behind other text.
static bool read_length(struct str line, bool *ret_is_header, uint64_t *ret) {
  static const char name[] = "content-length:";
  const size_t n = sizeof name - 1;
  *ret_is_header = false;
  for (size_t i = 0; i + n <= line.len; i++)
    if (strncasecmp(line.ptr + i, name, n) == 0) {
      *ret_is_header = true;
      return str_to_u64(str_trim((struct str){line.ptr + i + n, line.len - i - n}), ret);
    }
  return false;
}

enum header { HEADER_RIGHT, HEADER_WRONG, HEADER_END };

// The lines up to an empty one, of which one has the length.
static enum header read_header(struct input *in, uint64_t *ret_length) {
  char line[MOST_LINE];
  size_t len;
  bool has_length = false, is_wrong = false, any = false;
  while (read_line(in, line, &len)) {
    bool is_length_line;
    uint64_t length;
    if (len == 0 && !any)
      continue; // empty lines between messages
    if (len == 0)
      return has_length && !is_wrong ? HEADER_RIGHT : HEADER_WRONG;
    any = true;
    bool is_number = read_length((struct str){line, len}, &is_length_line, &length);
    if (!is_length_line)
      continue;
    is_wrong = !is_number || length > MOST_BYTES;
    has_length = true;
    *ret_length = length;
  }
  return HEADER_END;
}

struct body {
  struct input *in;
  struct arena *a;
  uint64_t length;
  struct str text;
};

static void read_body(void *user) {
  struct body *b = user;
  char *text = arena_alloc(b->a, b->length + 1, 1);
  size_t n = 0;
  while (n < b->length && (b->in->begin < b->in->end || fill(b->in))) {
    size_t have = b->in->end - b->in->begin, part = have < b->length - n ? have : b->length - n;
    memcpy(text + n, b->in->buffer + b->in->begin, part);
    b->in->begin += part;
    n += part;
  }
  b->text = (struct str){text, n};
}

// False: the server has ended, or the input.
static bool serve_message(struct lsp *s, struct input *in, uint64_t length) {
  struct body b = {in, arena_create(), length, {NULL, 0}};
  bool goes_on = true;
  if (!b.a || !arena_guard(b.a, read_body, &b))
    lsp_refuse(s, LSP_INTERNAL_ERROR, "out of memory for a message");
  else if (b.text.len == length)
    goes_on = lsp_receive(s, b.text);
  else
    lsp_refuse(s, LSP_PARSE_ERROR, "the input ended within a message");
  arena_destroy(b.a);
  return goes_on;
}

static void write_all(int fd, const char *text, size_t len) {
  while (len > 0) {
    ssize_t n = write(fd, text, len);
    if (n < 0 && errno != EINTR)
      return; // the client is gone: the end of the input follows
    text += n > 0 ? n : 0;
    len -= n > 0 ? (size_t)n : 0;
  }
}

static void send_message(void *user, struct str message) {
  int fd = *(const int *)user;
  char header[64];
  int n = snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", message.len);
  write_all(fd, header, (size_t)n);
  write_all(fd, message.ptr, message.len);
}

int lsp_serve(int in, int out) {
  static struct input input; // 64 KiB
  signal(SIGPIPE, SIG_IGN);
  input = (struct input){.fd = in};
  struct lsp *s = lsp_create(send_message, &out);
  if (!s)
    return 1;
  uint64_t length = 0;
  enum header h;
  bool goes_on = true;
  while (goes_on && (h = read_header(&input, &length)) != HEADER_END) {
    if (h == HEADER_RIGHT)
      goes_on = serve_message(s, &input, length);
    else
      lsp_refuse(s, LSP_PARSE_ERROR, "a message begins with `Content-Length: N`");
  }
  int status = lsp_exit_status(s);
  lsp_destroy(s);
  return status;
}
