// SPDX-License-Identifier: Apache-2.0
// The language server's protocol: the order of messages, what is wrong, positions, random edits,
// and how long answers take.
#include "../../sample.h"
#include "base/clock.h"
#include "base/memory.h"
#include "lsp_client.h"
#include "suites.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

// ---- messages ----

START_TEST(messages_come_in_order) {
  client_ask("textDocument/hover", "{}");
  ck_assert_int_eq(client_error(), LSP_NOT_INITIALIZED);
  ck_assert_ptr_nonnull(client_ask("initialize", "{}"));
  client_ask("initialize", "{}");
  ck_assert_int_eq(client_error(), LSP_INVALID_REQUEST);
  client_ask("textDocument/typeHierarchy", "{}");
  ck_assert_int_eq(client_error(), LSP_METHOD_NOT_FOUND);
  ck_assert_ptr_null(client_ask("shutdown", "null"));
  ck_assert_int_eq(client_error(), 0);
  client_ask("textDocument/hover", "{}");
  ck_assert_int_eq(client_error(), LSP_INVALID_REQUEST);
  ck_assert(!client_send("{'jsonrpc': '2.0', 'method': 'exit'}"));
  ck_assert_int_eq(lsp_exit_status(client.server), 0);
}
END_TEST

START_TEST(exit_without_shutdown_is_an_error) {
  ck_assert(!client_send("{'jsonrpc': '2.0', 'method': 'exit'}"));
  ck_assert_int_eq(lsp_exit_status(client.server), 1);
}
END_TEST

static void refused(const char *message, int64_t code) {
  client.answer = NULL;
  ck_assert(client_send(message));
  ck_assert_msg(client.answer != NULL, "no answer: %s", message);
  ck_assert_msg(client_error() == code, "%s: %d", message, (int)client_error());
}

START_TEST(wrong_messages_are_answered) {
  client_ask("initialize", "{}");
  refused("", LSP_PARSE_ERROR);
  refused("{'jsonrpc': ", LSP_PARSE_ERROR);
  refused("{'id': 1, 'method': '\\ud800'}", LSP_PARSE_ERROR);
  refused("[]", LSP_INVALID_REQUEST);
  refused("17", LSP_INVALID_REQUEST);
  refused("{'id': 3}", LSP_INVALID_REQUEST);
  refused("{'id': 3, 'method': 4}", LSP_INVALID_REQUEST);
  refused("{'id': 3, 'method': 'textDocument/hover'}", LSP_INVALID_PARAMS);
  refused("{'id': 3, 'method': 'textDocument/hover', 'params': [1]}", LSP_INVALID_PARAMS);
  client_open("/t/empty.tile", "");
  refused("{'id': 3, 'method': 'textDocument/hover', 'params': {'textDocument': {'uri': "
          "'file:///t/empty.tile'}, 'position': {'line': -1, 'character': 0}}}",
          LSP_INVALID_PARAMS);
  refused("{'id': 3, 'method': 'textDocument/inlayHint', 'params': {'textDocument': {'uri': "
          "'file:///t/empty.tile'}}}",
          LSP_INVALID_PARAMS);
  // Ids may be strings; notifications are never answered.
  client_send("{'id': 'seven', 'method': 'no/such'}");
  ck_assert(str_is(member(client.answer, "id")->string, "seven"));
  client.answer = NULL;
  client_send("{'method': 'no/such'}");
  client_send("{'method': 'textDocument/didChange', 'params': {'contentChanges': 3}}");
  client_send("{'method': 'textDocument/didOpen'}");
  client_send("{'id': 9, 'result': null}"); // an answer of the client
  ck_assert_ptr_null(client.answer);
}
END_TEST

// ---- positions ----

START_TEST(positions_count_units) {
  struct arena *a = arena_create();
  // Lines end in three ways; the second has characters of 2, 3 and 4 bytes and a stray byte.
  struct str text = STR("one\r\n\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xffx\rlast");
  struct text_lines l = text_lines_of(a, text);
  ck_assert_uint_eq(l.count, 3);
  ck_assert_uint_eq(text_offset(&l, (struct position){1, 1}), 7);
  ck_assert_uint_eq(text_offset(&l, (struct position){1, 2}), 10);
  ck_assert_uint_eq(text_offset(&l, (struct position){1, 3}), 10); // within the pair
  ck_assert_uint_eq(text_offset(&l, (struct position){1, 4}), 14);
  ck_assert_uint_eq(text_offset(&l, (struct position){1, 99}), 16); // the end of the line
  ck_assert_uint_eq(text_offset(&l, (struct position){9, 0}), text.len);
  ck_assert_uint_eq(text_offset(&l, (struct position){0, 99}), 3);
  for (uint32_t line = 0; line < l.count; line++)
    for (uint32_t c = 0; c < 8; c++) {
      uint32_t offset = text_offset(&l, (struct position){line, c});
      struct position back = text_position(&l, offset);
      ck_assert_uint_eq(text_offset(&l, back), offset);
      ck_assert_uint_eq(back.line, line);
    }
  ck_assert_uint_eq(text_position(&l, 14).character, 4);
  struct text_lines none = text_lines_of(a, STR(""));
  ck_assert_uint_eq(none.count, 1);
  ck_assert_uint_eq(text_offset(&none, (struct position){0, 5}), 0);
  arena_destroy(a);
}
END_TEST

START_TEST(offsets_are_mapped_over_edits) {
  struct text_edit e = text_edit_of(STR("abcXYdef"), STR("abc123def"));
  uint32_t at;
  ck_assert(text_edit_map(&e, 2, &at) && at == 2);
  ck_assert(!text_edit_map(&e, 3, &at) && !text_edit_map(&e, 4, &at));
  ck_assert(text_edit_map(&e, 5, &at) && at == 6);
  e = text_edit_of(STR("aaaa"), STR("aa"));
  ck_assert(text_edit_map(&e, 1, &at) && at == 1);
  ck_assert(!text_edit_map(&e, 2, &at));
  e = text_edit_of(STR(""), STR("x"));
  ck_assert(text_edit_map(&e, 0, &at) && at == 0);
}
END_TEST

// ---- random edits ----

static const char edited[] = "import triton\n"
                             "import triton.language as tl\n"
                             "@triton.jit\n"
                             "def helper(x, k: tl.constexpr):\n"
                             "    return tl.where(x > k, x, 0.0)\n"
                             "@triton.jit\n"
                             "def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\n"
                             "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                             "    s = tl.zeros((BLOCK,), dtype=tl.float32)\n"
                             "    for k in range(0, n, BLOCK):\n"
                             "        if k > 3:\n"
                             "            s += helper(tl.load(x_ptr + i + k, mask=i + k < n), 2)\n"
                             "    tl.store(out_ptr + i, s * tl.sum(s, axis=0), mask=i < n)\n";

static const char *const pieces[] = {"",
                                     "(",
                                     ")",
                                     "[:, None]",
                                     "\n",
                                     "    ",
                                     "tl.",
                                     "tl.load(",
                                     "def ",
                                     ":",
                                     "\"",
                                     "'''",
                                     "# x\n",
                                     "for ",
                                     "if ",
                                     "=",
                                     ",",
                                     "x",
                                     "BLOCK",
                                     "1",
                                     "\\",
                                     "1e9",
                                     "return",
                                     "@triton.jit\ndef k(p):\n    tl.store(p, 1)\n",
                                     "\t",
                                     "lambda x: ",
                                     "static_range(99999)",
                                     "**",
                                     "while True:\n",
                                     "\xc3\xa9",
                                     "f\"{x\"",
                                     "tl.dot(x, x)",
                                     "\r\n"};

static const char *const asked[] = {"textDocument/hover", "textDocument/definition",
                                    "textDocument/completion", "textDocument/signatureHelp"};

static uint32_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

// The next offset that a client can name: neither in a character nor in the end of a line.
static size_t nameable(size_t at) {
  const char *t = client.text;
  while (((unsigned char)t[at] & 0xc0) == 0x80 || (at > 0 && t[at] == '\n' && t[at - 1] == '\r'))
    at++;
  return at;
}

static void random_edit(uint64_t *state) {
  size_t len = strlen(client.text);
  size_t begin = nameable(next_random(state) % (len + 1));
  size_t end = next_random(state) % 2 ? begin : begin + next_random(state) % 6;
  end = nameable(end > len ? len : end);
  client_edit(begin, end, pieces[next_random(state) % COUNT_OF(pieces)]);
}

static void ask_anywhere(uint64_t *state) {
  const char *method = asked[next_random(state) % COUNT_OF(asked)];
  client_ask(method, arena_printf(client.a,
                                  "{'textDocument': {'uri': '%s'}, 'position': {'line': %u, "
                                  "'character': %u}}",
                                  client.uri, next_random(state) % 20, next_random(state) % 60));
  ck_assert_int_eq(client_error(), 0);
}

// TILE_TEST_SEED chooses other edits, TILE_TEST_EDITS how many.
START_TEST(random_edits_never_end_it) {
  const char *seed = getenv("TILE_TEST_SEED"), *count = getenv("TILE_TEST_EDITS");
  uint64_t state = seed ? strtoull(seed, NULL, 0) : 21;
  int edits = count ? atoi(count) : 1000 / (int)sample_step();
  client_ask("initialize", "{}");
  for (int i = 0; i < edits; i++) {
    if (i % 50 == 0) // edits would leave nothing that is worth an analysis
      client_open("/t/edited.py", edited);
    random_edit(&state);
    ask_anywhere(&state);
    if (i % 10 == 0)
      lsp_wait(client.server);
    const struct str now = client.server->documents->now->source->text;
    ck_assert_msg(str_is(now, client.text), "seed %llu, edit %d: the texts differ",
                  (unsigned long long)(seed ? strtoull(seed, NULL, 0) : 21), i);
  }
  client_open("/t/edited.py", edited);
  lsp_wait(client.server);
  ck_assert_ptr_nonnull(strstr(client_hover("s = tl.zeros", 0, 0), "tile<1024xf32>"));
}
END_TEST

// ---- memory ----

static atomic_long allocations_left; // negative: all succeed
static atomic_int failures, bare_failures;

static bool fails_once(enum memory_use use) {
  bool fails = atomic_load(&allocations_left) >= 0 && atomic_fetch_sub(&allocations_left, 1) == 0;
  if (fails)
    atomic_fetch_add(&failures, 1);
  if (fails && use == MEMORY_BARE_ARENA)
    atomic_fetch_add(&bare_failures, 1);
  return fails;
}

// An allocation fails, here or in the analysing thread: the server goes on, and knows all when the
// file is opened again.
START_TEST(failing_allocations_never_end_it) {
  static const char change[] =
      "{\"method\": \"textDocument/didChange\", \"params\": {\"textDocument\": {\"uri\": "
      "\"file:///t/memory.py\", \"version\": 2}, \"contentChanges\": [{\"text\": "
      "\"@triton.jit\\ndef k(p, B: tl.constexpr):\\n    tl.store(p + tl.arange(0, B), 1)\\n\"}]}}";
  client_finish();
  atomic_store(&allocations_left, -1);
  memory_fails = fails_once; // before the thread starts
  client_create();
  client_ask("initialize", "{}");
  for (long n = 1; n < 1500; n += (n < 400 ? 4 : 60) * (long)sample_step()) {
    client_open("/t/memory.py", edited);
    lsp_wait(client.server);
    client.is_deaf = true; // its own memory does not fail
    atomic_store(&allocations_left, n);
    ck_assert(lsp_receive(client.server, str_from(change)));
    lsp_wait(client.server);
    atomic_store(&allocations_left, -1);
    client.is_deaf = false;
  }
  ck_assert(atomic_load(&failures) > 20 / (int)sample_step());
  ck_assert_int_eq(atomic_load(&bare_failures), 0);
  client_open("/t/memory.py", edited);
  lsp_wait(client.server);
  ck_assert_ptr_nonnull(strstr(client_hover("s = tl.zeros", 0, 0), "tile<1024xf32>"));
}
END_TEST

// ---- time ----

enum { LINES = 1000, ANSWERS = 15, MOST_MS = 50 };

static const char *long_file(void) {
  struct strbuf text = {.arena = client.a};
  strbuf_puts(&text, "import triton\nimport triton.language as tl\n");
  for (int k = 0, lines = 2; lines < LINES; k++, lines += 11)
    strbuf_printf(&text,
                  "\n@triton.jit\n"
                  "def kernel_%d(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):\n"
                  "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                  "    mask = i < n\n"
                  "    x = tl.load(x_ptr + i, mask=mask, other=0.0)\n"
                  "    y = tl.load(y_ptr + i, mask=mask, other=0.0)\n"
                  "    m = tl.max(x, axis=0)\n"
                  "    e = tl.exp(x - m) * y\n"
                  "    r = e / tl.sum(e, axis=0)\n"
                  "    tl.store(out_ptr + i, r, mask=mask)\n",
                  k);
  return strbuf_cstr(&text);
}

static int by_value(const void *a, const void *b) {
  return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

static void check_time(const char *what, double *ms) {
  qsort(ms, ANSWERS, sizeof *ms, by_value);
  if (getenv("TILE_TEST_PRINT"))
    fprintf(stderr, "%s: median %.2f ms, most %.2f ms\n", what, ms[ANSWERS / 2], ms[ANSWERS - 1]);
  ck_assert_msg(ms[ANSWERS / 2] < MOST_MS * (double)sample_step(), "%s takes %.1f ms", what,
                ms[ANSWERS / 2]);
}

// A change and the questions after it, while the file is analysed again.
START_TEST(answers_come_at_once) {
  double opening[ANSWERS], changing[ANSWERS], asking[COUNT_OF(asked)][ANSWERS];
  client_ask("initialize", "{}");
  const char *text = long_file();
  for (int i = 0; i < ANSWERS; i++) {
    double at = clock_ms();
    client_open("/t/long.py", text);
    opening[i] = clock_ms() - at;
    at = clock_ms();
    size_t edit = (size_t)(strstr(client.text, "e = tl.exp(x - m) * y\n    r") - client.text);
    client_edit(edit, edit, "e = x * 2.0\n    ");
    changing[i] = clock_ms() - at;
    for (size_t k = 0; k < COUNT_OF(asked); k++) {
      at = clock_ms();
      client_at(asked[k], "tl.load(y_ptr", 40, 4);
      asking[k][i] = clock_ms() - at;
    }
  }
  check_time("open", opening);
  check_time("change", changing);
  for (size_t k = 0; k < COUNT_OF(asked); k++)
    check_time(asked[k], asking[k]);
}
END_TEST

TCase *lsp_protocol_tests(void) {
  TCase *t = tcase_create("lsp_protocol");
  tcase_add_checked_fixture(t, client_create, client_finish);
  tcase_set_timeout(t, 120);
  tcase_add_test(t, messages_come_in_order);
  tcase_add_test(t, exit_without_shutdown_is_an_error);
  tcase_add_test(t, wrong_messages_are_answered);
  tcase_add_test(t, positions_count_units);
  tcase_add_test(t, offsets_are_mapped_over_edits);
  tcase_add_test(t, random_edits_never_end_it);
  tcase_add_test(t, failing_allocations_never_end_it);
  tcase_add_test(t, answers_come_at_once);
  return t;
}
