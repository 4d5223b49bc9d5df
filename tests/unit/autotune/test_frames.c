// SPDX-License-Identifier: Apache-2.0
// Frames: complete, partial and invalid ones.
#include "suites_worker.h"
#include "worker/frames.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2];
static struct frame_reader reader;
static struct arena *arena;

static void open_pair(void) {
  ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  fcntl(pair[0], F_SETFL, O_NONBLOCK);
  reader = (struct frame_reader){0};
  arena = arena_create();
}

static void close_pair(void) {
  close(pair[0]);
  if (pair[1] >= 0)
    close(pair[1]);
  frame_reader_finish(&reader);
  arena_destroy(arena);
}

static void put(const char *text, size_t n) {
  ck_assert_int_eq(write(pair[1], text, n), (ssize_t)n);
}

static enum frame_status next(struct frame *f) { return frame_next(&reader, arena, f); }

START_TEST(written_is_read) {
  struct strbuf out = {0};
  struct frame_writer w;
  struct frame f;
  size_t sent = 0;
  frame_begin(&w, "load");
  json_key(&w.json, "name"), json_cstring(&w.json, "a \"line\"\nand more");
  json_key(&w.json, "x"), json_double(&w.json, 0.1);
  frame_end(&w, (struct str){"\n{}\0\n", 5}, &out);
  frame_begin(&w, "ready");
  frame_end(&w, (struct str){0}, &out);
  ck_assert_int_eq(frame_send(pair[1], &out, &sent), FRAME_HERE);
  ck_assert_uint_eq(out.len, 0);
  ck_assert_int_eq(frame_fill(&reader, pair[0]), FRAME_HERE);
  ck_assert_int_eq(next(&f), FRAME_HERE);
  ck_assert(frame_is(f.head, "load"));
  ck_assert(str_is(frame_text(f.head, "name"), "a \"line\"\nand more"));
  ck_assert(frame_double(f.head, "x", 0) == 0.1);
  ck_assert_int_eq(frame_int(f.head, "absent", 7), 7);
  ck_assert_uint_eq(f.bytes.len, 5);
  ck_assert_mem_eq(f.bytes.ptr, "\n{}\0\n", 5);
  ck_assert_int_eq(next(&f), FRAME_HERE);
  ck_assert(frame_is(f.head, "ready"));
  ck_assert_uint_eq(f.bytes.len, 0);
  ck_assert_int_eq(next(&f), FRAME_NONE);
  strbuf_finish(&out);
}
END_TEST

// However it is split, no frame is returned until all of it has arrived.
START_TEST(cut_anywhere) {
  static const char text[] = "{\"frame\":\"load\",\"bytes\":7}\nabc\ndef{\"frame\":\"end\"}\n";
  for (size_t cut = 0; cut < sizeof text - 1; cut++) {
    struct frame f;
    unsigned frames = 0;
    put(text, cut);
    for (int half = 0; half < 2; half++) {
      if (half)
        put(text + cut, sizeof text - 1 - cut);
      if (half || cut)
        ck_assert_int_eq(frame_fill(&reader, pair[0]), FRAME_HERE);
      while (next(&f) == FRAME_HERE) {
        ck_assert(frame_is(f.head, frames == 0 ? "load" : "end"));
        ck_assert(frames != 0 || str_is(f.bytes, "abc\ndef"));
        if (frames == 0)
          ck_assert_uint_ge(half ? sizeof text : cut,
                            strlen("{\"frame\":\"load\",\"bytes\":7}\nabc\ndef"));
        frames++;
      }
    }
    ck_assert_uint_eq(frames, 2);
  }
}
END_TEST

START_TEST(end_within_a_frame) {
  struct frame f;
  put("{\"frame\":\"load\",\"bytes\":6}\nabc", 30);
  close(pair[1]);
  pair[1] = -1;
  ck_assert_int_eq(frame_fill(&reader, pair[0]), FRAME_HERE);
  ck_assert_int_eq(next(&f), FRAME_NONE);
  ck_assert_int_eq(frame_fill(&reader, pair[0]), FRAME_END);
  ck_assert_int_eq(next(&f), FRAME_NONE);
}
END_TEST

START_TEST(no_frames) {
  static const char *const bad[] = {
      "nonsense\n", "[1]\n", "{\"bytes\":-1}\n", "{\"bytes\":99999999999}\n", "\n", "{\"a\":1,}\n",
  };
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    struct frame f;
    frame_reader_finish(&reader);
    put(bad[i], strlen(bad[i]));
    ck_assert_int_eq(frame_fill(&reader, pair[0]), FRAME_HERE);
    ck_assert_int_eq(next(&f), FRAME_BAD);
  }
}
END_TEST

START_TEST(line_without_end) {
  char *zeros = calloc(1, 65536);
  struct frame f;
  enum frame_status status = FRAME_NONE;
  memset(zeros, 'x', 65536);
  for (int i = 0; i < 40 && status == FRAME_NONE; i++) {
    put(zeros, 65536);
    while (frame_fill(&reader, pair[0]) == FRAME_HERE)
      continue;
    status = next(&f);
  }
  free(zeros);
  ck_assert_int_eq(status, FRAME_BAD);
  ck_assert_uint_lt(reader.len, FRAME_MAX_LINE + 2 * 65536);
}
END_TEST

// Data beyond the socket's buffer is sent in parts.
START_TEST(sent_in_pieces) {
  size_t n = 3 << 20, sent = 0;
  char *bytes = malloc(n);
  struct strbuf out = {0};
  struct frame_writer w;
  struct frame f;
  for (size_t i = 0; i < n; i++)
    bytes[i] = (char)(i * 31 + i / 977);
  fcntl(pair[1], F_SETFL, O_NONBLOCK);
  frame_begin(&w, "load");
  frame_end(&w, (struct str){bytes, n}, &out);
  unsigned pieces = 0;
  enum frame_status status = FRAME_NONE;
  while (status == FRAME_NONE) {
    if (out.len && frame_send(pair[1], &out, &sent) == FRAME_NONE)
      pieces++;
    while (frame_fill(&reader, pair[0]) == FRAME_HERE)
      continue;
    status = next(&f);
  }
  ck_assert_int_eq(status, FRAME_HERE);
  ck_assert_uint_gt(pieces, 1);
  ck_assert_uint_eq(f.bytes.len, n);
  ck_assert_mem_eq(f.bytes.ptr, bytes, n);
  free(bytes);
  strbuf_finish(&out);
}
END_TEST

START_TEST(nobody_reads) {
  struct strbuf out = {0};
  size_t sent = 0;
  close(pair[0]);
  strbuf_puts(&out, "{}\n");
  ck_assert_int_eq(frame_send(pair[1], &out, &sent), FRAME_END); // and no SIGPIPE
  strbuf_finish(&out);
  pair[0] = dup(pair[1]);
}
END_TEST

Suite *frames_suite(void) {
  Suite *s = suite_create("frames");
  TCase *t = tcase_create("frames");
  tcase_add_checked_fixture(t, open_pair, close_pair);
  tcase_add_test(t, written_is_read);
  tcase_add_test(t, cut_anywhere);
  tcase_add_test(t, end_within_a_frame);
  tcase_add_test(t, no_frames);
  tcase_add_test(t, line_without_end);
  tcase_add_test(t, sent_in_pieces);
  tcase_add_test(t, nobody_reads);
  suite_add_tcase(s, t);
  return s;
}
