// SPDX-License-Identifier: Apache-2.0
// The language server's answers: diagnostics, hover, definition, completion, signatures, symbols
// and hints.
#include "base/file.h"
#include "lsp_client.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char scale_tile[] =
    "LIMIT: constexpr = 4\n"
    "\n"
    "@jit  # Twice the value.\n"
    "def twice(v):\n"
    "  \"\"\"The value, doubled.\"\"\"\n"
    "  return v + v\n"
    "\n"
    "@jit\n"
    "def scale(x: ptr[f32] % 16, out: ptr[f16] % 16, n: i32, BLOCK: constexpr = 512):\n"
    "  i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "  inside = i < n\n"
    "  v = load(x + i, mask=inside)\n"
    "  total = sum(v, axis=0)\n"
    "  w = twice(v) * LIMIT / total\n"
    "  store(out + i, w, mask=inside)\n";

static const char product_py[] =
    "import torch\n"
    "import triton\n"
    "import triton.language as tl\n"
    "from shared_helpers import squared\n"
    "\n"
    "@triton.jit\n"
    "def product(a_ptr, b_ptr, c_ptr, index_ptr, K, stride, BM: tl.constexpr, BN: tl.constexpr, "
    "BK: tl.constexpr):\n"
    "    row = tl.load(index_ptr + tl.program_id(0))\n"
    "    om = row * BM + tl.arange(0, BM)\n"
    "    on = tl.program_id(1) * BN + tl.arange(0, BN)\n"
    "    ok = tl.arange(0, BK)\n"
    "    acc = tl.zeros((BM, BN), dtype=tl.float32)\n"
    "    for k in range(0, K, BK):\n"
    "        a = tl.load(a_ptr + om[:, None] * stride + (k + ok)[None, :])\n"
    "        b = tl.load(b_ptr + (k + ok)[:, None] * stride + on[None, :])\n"
    "        acc += tl.dot(a, b)\n"
    "    tl.store(c_ptr + om[:, None] * stride + on[None, :], squared(acc))\n"
    "\n"
    "def launch(x):\n"
    "    return torch.empty_like(x)\n";

static void has(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) != NULL, "lacks `%s`: %s", part, text);
}

static int64_t line_of(const struct json *range, const char *end) {
  return member(member(range, end), "line")->integer;
}

static int64_t character_of(const struct json *range, const char *end) {
  return member(member(range, end), "character")->integer;
}

// ---- diagnostics ----

START_TEST(diagnostics_have_ranges) {
  client_open("/t/wrong.tile", "@jit\n"
                               "def k(p: ptr[f32], n: i32):\n"
                               "  i = arange(0, 32)\n"
                               "  store(p + i, load(p + i) + arange(0, 64))\n"
                               "  store(p, lod(p))\n");
  lsp_wait(client.server);
  ck_assert_int_eq(client.diagnosed_version, 1);
  ck_assert_uint_eq(client.diagnostics->count, 2);
  const struct json *first = client.diagnostics->items[0], *second = client.diagnostics->items[1];
  ck_assert(str_is(member(first, "source")->string, "tile"));
  ck_assert_int_eq(member(first, "severity")->integer, 1);
  ck_assert_int_eq(line_of(member(first, "range"), "start"), 3);
  ck_assert(str_is(member(second, "code")->string, "E0201"));
  const struct json *range = member(second, "range");
  ck_assert_int_eq(line_of(range, "start"), 4);
  ck_assert_int_eq(character_of(range, "start"), 11);
  ck_assert_int_eq(character_of(range, "end"), 14);
  has(member(second, "message")->string.ptr, "did you mean `log`?");
}
END_TEST

START_TEST(diagnostics_name_related_places) {
  client_open("/t/related.tile", "@jit\n"
                                 "def k(p: ptr[f32], n: i32):\n"
                                 "  if n > 0:\n"
                                 "    y = 1.0\n"
                                 "  store(p, y)\n");
  lsp_wait(client.server);
  ck_assert_uint_eq(client.diagnostics->count, 1);
  const struct json *related = member(client.diagnostics->items[0], "relatedInformation");
  ck_assert_uint_eq(related->count, 1);
  const struct json *at = member(related->items[0], "location");
  ck_assert(str_is(member(at, "uri")->string, "file:///t/related.tile"));
  ck_assert_int_eq(line_of(member(at, "range"), "start"), 3);
}
END_TEST

// Columns count UTF-16 units: one for the umlaut, two for the sign beyond the first plane.
START_TEST(columns_are_utf16) {
  client_open("/t/units.tile",
              "@jit\n"
              "def k(p: ptr[f32]):\n"
              "  static_assert(\"\xc3\xbc \xf0\x9d\x84\x9e\" == \"\", \"\"); store(q, 1.0)\n");
  lsp_wait(client.server);
  const struct json *last = client.diagnostics->items[client.diagnostics->count - 1];
  ck_assert(str_is(member(last, "code")->string, "E0201"));
  ck_assert_int_eq(character_of(member(last, "range"), "start"), 41);
  ck_assert_int_eq(character_of(member(last, "range"), "end"), 42);
}
END_TEST

// What was assumed of a kernel for Python raises no errors; names that do not exist do.
START_TEST(assumptions_raise_no_errors) {
  client_open("/t/product.py", product_py);
  lsp_wait(client.server);
  for (size_t i = 0; i < client.diagnostics->count; i++) // the helper's file does not exist
    has(member(client.diagnostics->items[i], "message")->string.ptr, "squared");
  client_open("/t/host.py", "import torch\n\ndef f(x):\n    return torch.whatever(x) @ x\n");
  lsp_wait(client.server);
  ck_assert_uint_eq(client.diagnostics->count, 0);
}
END_TEST

START_TEST(closing_clears_diagnostics) {
  client_open("/t/clear.tile", "def k(:\n");
  lsp_wait(client.server);
  ck_assert_uint_ge(client.diagnostics->count, 1);
  client_send("{'jsonrpc': '2.0', 'method': 'textDocument/didClose', 'params': {'textDocument': "
              "{'uri': 'file:///t/clear.tile'}}}");
  ck_assert_uint_eq(client.diagnostics->count, 0);
  ck_assert_ptr_null(client_at("textDocument/hover", "def", 0, 0));
}
END_TEST

static const struct json *fixes_of_line(const char *uri, int line) {
  return client_ask("textDocument/codeAction",
                    arena_printf(client.a,
                                 "{'textDocument': {'uri': '%s'}, 'range': {'start': {'line': %d, "
                                 "'character': 0}, 'end': {'line': %d, 'character': 90}}, "
                                 "'context': {'diagnostics': []}}",
                                 uri, line, line));
}

// A message with a replacement; applied, it removes the message.
START_TEST(fixes_are_offered) {
  client_open("/t/fix.tile", "@jit\n"
                             "def k(p: ptr[f32], \xc3\xa4: i32):\n"
                             "  store(p, exq(1.0)); store(p + \xc3\xa4, 2.0)\n");
  lsp_wait(client.server);
  ck_assert_uint_eq(client.diagnostics->count, 1);
  const struct json *r = fixes_of_line(client.uri, 2);
  ck_assert_uint_eq(r->count, 1);
  has(member(r->items[0], "title")->string.ptr, "replace by `exp`");
  const struct json *edits = member(member(member(r->items[0], "edit"), "changes"), client.uri);
  const struct json *range = member(edits->items[0], "range");
  ck_assert_int_eq(line_of(range, "start"), 2);
  ck_assert_int_eq(character_of(range, "start"), 11);
  ck_assert_int_eq(character_of(range, "end"), 14);
  ck_assert(str_is(member(edits->items[0], "newText")->string, "exp"));
  ck_assert_uint_eq(fixes_of_line(client.uri, 0)->count, 0);
  size_t at = (size_t)(strstr(client.text, "exq") - client.text);
  client_open("/t/fix.tile",
              arena_printf(client.a, "%.*sexp%s", (int)at, client.text, client.text + at + 3));
  ck_assert_uint_eq(fixes_of_line(client.uri, 2)->count, 0); // before it is analysed
  lsp_wait(client.server);
  ck_assert_uint_eq(client.diagnostics->count, 0);
}
END_TEST

// ---- hover ----

START_TEST(hover_shows_values) {
  client_open("/t/scale.tile", scale_tile);
  lsp_wait(client.server);
  has(client_hover("inside = i", 0, 1), "inside: tile<512xi1>");
  has(client_hover("v = load", 0, 0), "v: tile<512xf32>");
  has(client_hover("total = sum", 0, 2), "total: f32");
  has(client_hover("* BLOCK", 0, 3), "BLOCK: int = 512");
  has(client_hover("n: i32", 0, 0), "n: i32");
  has(client_hover("* LIMIT", 0, 3), "LIMIT: int = 4");
  has(client_hover("return v + v", 0, 9), "tile<512xf32>"); // of the `+`
  ck_assert_str_eq(client_hover("# Twice", 0, 3), "");
}
END_TEST

START_TEST(hover_documents_functions) {
  client_open("/t/scale.tile", scale_tile);
  lsp_wait(client.server);
  has(client_hover("sum(v", 0, 1), "sum(input, axis=...");
  has(client_hover("sum(v", 0, 1), "The sum along an axis.");
  has(client_hover("sum(v", 0, 1), "result: f32");
  has(client_hover("twice(v) *", 0, 2), "twice(v)");
  has(client_hover("twice(v) *", 0, 2), "The value, doubled.");
  has(client_hover("axis=0", 0, 1), "sum(input, axis=...");
}
END_TEST

START_TEST(hover_shows_layouts) {
  client_open("/t/scale.tile", scale_tile);
  lsp_wait(client.server);
  const char *text = client_hover("load(x + i", 0, 1);
  has(text, "result: tile<512xf32>");
  has(text, "accesses of 4 elements (16 bytes)");
  has(text, "layout `blocked<");
  has(client_hover("store(out", 0, 1), "accesses of 4 elements (8 bytes)"); // f16
  has(client_hover("v = load", 0, 0), "v: tile<512xf32>"); // a variable, where it is assigned,
  has(client_hover("v = load", 0, 0), "layout `blocked<");
  has(client_hover("sum(v", 0, 4), "layout `blocked<"); // and used
  ck_assert_ptr_null(strstr(client_hover("n: i32", 0, 0), "layout"));
}
END_TEST

START_TEST(hover_shows_assumptions) {
  client_open("/t/product.py", product_py);
  lsp_wait(client.server);
  const char *text = client_hover("def product", 0, 6);
  has(text, "a_ptr: *f16, b_ptr: *f16, c_ptr: *f16, index_ptr: *i32, K: i32, stride: i32");
  has(text, "BM = 64, BN = 64, BK = 32");
  has(client_hover("tl.dot", 0, 4), "result: tile<64x64xf32>");
  has(client_hover("row * BM", 0, 1), "row: i32");
}
END_TEST

// Decorators give values; where arguments are needed for that, the first configuration does.
START_TEST(hover_shows_decorators) {
  static const char body[] = "@triton.jit\n"
                             "def k(x_ptr, n, B: tl.constexpr, EVEN: tl.constexpr = False):\n"
                             "    i = tl.arange(0, B)\n"
                             "    v = tl.load(x_ptr + i)\n"
                             "    if EVEN:\n"
                             "        tl.store(x_ptr + i, v + 1)\n";
  static const char head[] = "import triton\nimport triton.language as tl\n"
                             "@triton.autotune(configs=[triton.Config({'B': 32 * j}) for j in "
                             "(4, 8)], key=['n'])\n";
  client_open("/t/tuned.py", arena_printf(client.a, "%s%s", head, body));
  lsp_wait(client.server);
  has(client_hover("v = tl", 0, 0), "v: tile<128xf32>");
  ck_assert_ptr_null(strstr(client_hover("def k", 0, 4), "B = "));
  client_open("/t/tuned.py",
              arena_printf(client.a,
                           "%s@triton.heuristics({'EVEN': lambda args: args['n'] %% 2 == 0})\n%s",
                           head, body));
  lsp_wait(client.server);
  has(client_hover("v = tl", 0, 0), "v: tile<128xf32>");
  has(client_hover("def k", 0, 4), "EVEN = True");
  has(client_hover("if EVEN", 0, 3), "EVEN: bool = True");
  has(client_hover("tl.load", 0, 4), "layout `blocked<");
}
END_TEST

// ---- definition ----

static void defined_at(const char *needle, int nth, int shift, int64_t line, int64_t character) {
  const struct json *r = client_at("textDocument/definition", needle, nth, shift);
  ck_assert_msg(r != NULL, "no definition of `%s`", needle);
  ck_assert(str_is(member(r, "uri")->string, client.uri));
  ck_assert_int_eq(line_of(member(r, "range"), "start"), line);
  ck_assert_int_eq(character_of(member(r, "range"), "start"), character);
}

START_TEST(definitions_of_the_file) {
  client_open("/t/scale.tile", scale_tile);
  defined_at("mask=inside", 0, 6, 10, 2); // a variable
  defined_at("x + i", 0, 0, 8, 10);       // a parameter
  defined_at("twice(v) *", 0, 1, 3, 4);   // a function
  defined_at("* LIMIT", 0, 4, 0, 0);      // a constant
  defined_at("v + v", 0, 4, 3, 10);       // a parameter of a function
  ck_assert_ptr_null(client_at("textDocument/definition", "arange(0", 0, 2)); // the language's
  client_open("/t/again.tile", "@jit\n"
                               "def k(p: ptr[f32]):\n"
                               "  s = 0.0\n"
                               "  s = s + 1.0\n"
                               "  s += 2.0\n"
                               "  for j in range(4):\n"
                               "    s = s * j\n"
                               "  store(p, s)\n");
  defined_at("s + 1.0", 0, 0, 2, 2);
  defined_at("s += 2", 0, 0, 3, 2);
  defined_at("* j", 0, 2, 5, 6);
  defined_at("p, s", 0, 3, 6, 4);
}
END_TEST

START_TEST(definitions_of_imported_names) {
  char folder[] = "test-lsp-XXXXXX", path[64], other[64], absolute[4096];
  ck_assert_ptr_nonnull(mkdtemp(folder));
  ck_assert_ptr_nonnull(realpath(folder, absolute));
  snprintf(path, sizeof path, "%s/shared_helpers.py", folder);
  snprintf(other, sizeof other, "%s/product.py", folder);
  static const char helpers[] = "import triton\n\n@triton.jit\ndef squared(x):\n    return x * x\n";
  ck_assert_int_eq(file_write(path, helpers, sizeof helpers - 1), 0);
  client_open(arena_printf(client.a, "%s/product.py", absolute), product_py);
  lsp_wait(client.server);
  ck_assert_uint_eq(client.diagnostics->count, 0);
  const struct json *r = client_at("textDocument/definition", "squared(acc", 0, 2);
  ck_assert_ptr_nonnull(r);
  ck_assert(str_ends(member(r, "uri")->string, "/shared_helpers.py"));
  ck_assert_int_eq(line_of(member(r, "range"), "start"), 3);
  ck_assert_int_eq(character_of(member(r, "range"), "start"), 4);
  has(client_hover("squared(acc", 0, 2), "squared(x)");
  has(client_hover("squared(acc", 0, 2), "result: tile<64x64xf32>");
  unlink(path);
  unlink(other);
  rmdir(folder);
}
END_TEST

// ---- completion and signatures ----

START_TEST(completes_the_language) {
  client_open("/t/product.py", product_py);
  const struct json *r = client_at("textDocument/completion", "tl.zeros", 0, 3);
  ck_assert(client_offers(r, "load") && client_offers(r, "dot") && client_offers(r, "float16"));
  ck_assert(!client_offers(r, "_log2") && !client_offers(r, "om"));
  for (size_t i = 0; i < r->count; i++)
    if (str_is(member(r->items[i], "label")->string, "cumsum")) {
      has(member(r->items[i], "detail")->string.ptr, "tl.cumsum(input, axis=..., reverse=...");
      has(member(member(r->items[i], "documentation"), "value")->string.ptr, "The sums up to");
    }
  r = client_at("textDocument/completion", "tl.zeros", 0, 5); // tl.ze
  ck_assert(client_offers(r, "zeros") && !client_offers(r, "load"));
  r = client_at("textDocument/completion", "triton.jit", 0, 7);
  ck_assert(client_offers(r, "jit") && client_offers(r, "autotune"));
}
END_TEST

START_TEST(completes_names) {
  client_open("/t/scale.tile", scale_tile);
  lsp_wait(client.server);
  client_edit(strlen(client.text), strlen(client.text), "  ");
  const struct json *r =
      client_at("textDocument/completion", "mask=inside)\n  ", 1, (int)strlen("mask=inside)\n  "));
  static const char *const wanted[] = {"inside", "v",     "total",  "BLOCK", "x",   "scale",
                                       "twice",  "LIMIT", "arange", "load",  "for", "tl"};
  for (size_t i = 0; i < COUNT_OF(wanted); i++)
    ck_assert_msg(client_offers(r, wanted[i]), "no `%s`", wanted[i]);
  r = client_at("textDocument/completion", "return v", 0, 8);
  ck_assert(client_offers(r, "v") && !client_offers(r, "inside"));
  r = client_at("textDocument/completion", "load(x + i, mask", 0, 14);
  ck_assert(client_offers(r, "mask="));
  r = client_at("textDocument/completion", "# Twice", 0, 5);
  ck_assert_uint_eq(r->count, 0);
}
END_TEST

START_TEST(completes_half_typed_code) {
  client_open("/t/half.tile", scale_tile);
  lsp_wait(client.server);
  size_t at = (size_t)(strstr(client.text, "  w = twice") - client.text);
  client_edit(at, at, "  h = total.\n");
  const struct json *r =
      client_at("textDocument/completion", "h = total.", 0, (int)strlen("h = total."));
  ck_assert(client_offers(r, "to") && client_offers(r, "dtype") && !client_offers(r, "arange"));
  client_edit(at, at + strlen("  h = total.\n"), "  h = where(inside, ot\n");
  r = client_at("textDocument/completion", "inside, ot", 0, (int)strlen("inside, ot"));
  ck_assert(!client_offers(r, "inside"));
  r = client_at("textDocument/completion", "(inside, ot", 0, 1);
  ck_assert(client_offers(r, "inside") && client_offers(r, "condition="));
}
END_TEST

static void signature_is(const char *needle, int shift, const char *begin, int64_t active) {
  const struct json *r = client_at("textDocument/signatureHelp", needle, 0, shift);
  ck_assert_msg(r != NULL, "no signature in `%s`", needle);
  const struct json *s = member(r, "signatures")->items[0];
  has(member(s, "label")->string.ptr, begin);
  ck_assert_int_eq(member(r, "activeParameter")->integer, active);
}

START_TEST(shows_signatures) {
  client_open("/t/scale.tile", scale_tile);
  signature_is("load(x + i, mask", 6, "load(pointer, mask=...", 0);
  signature_is("load(x + i, mask=inside", 20, "load(pointer, mask=...", 1);
  signature_is("sum(v, axis=0", 13, "sum(input, axis=...", 1);
  signature_is("twice(v) *", 6, "twice(v)", 0);
  signature_is("arange(0, BLOCK", 10, "arange(start, end)", 1);
  ck_assert_ptr_null(client_at("textDocument/signatureHelp", "inside = i", 0, 3));
}
END_TEST

// ---- symbols and hints ----

START_TEST(lists_symbols) {
  client_open("/t/product.py", product_py);
  const struct json *r = client_ask("textDocument/documentSymbol",
                                    "{'textDocument': {'uri': 'file:///t/product.py'}}");
  ck_assert_uint_eq(r->count, 2);
  ck_assert(str_is(member(r->items[0], "name")->string, "product"));
  ck_assert(str_is(member(r->items[0], "detail")->string, "kernel"));
  ck_assert_int_eq(line_of(member(r->items[0], "range"), "end"), 16);
  ck_assert(str_is(member(r->items[1], "detail")->string, "host"));
}
END_TEST

START_TEST(hints_show_shapes) {
  client_open("/t/scale.tile", scale_tile);
  lsp_wait(client.server);
  const struct json *r =
      client_ask("textDocument/inlayHint",
                 "{'textDocument': {'uri': 'file:///t/scale.tile'}, 'range': {'start': {'line': 9, "
                 "'character': 0}, 'end': {'line': 13, 'character': 0}}}");
  ck_assert_uint_eq(r->count, 3); // `total` is a scalar
  ck_assert(str_is(member(r->items[0], "label")->string, ": tile<512xi32>"));
  ck_assert(str_is(member(r->items[1], "label")->string, ": tile<512xi1>"));
  ck_assert_int_eq(member(member(r->items[2], "position"), "line")->integer, 11);
  ck_assert_int_eq(member(member(r->items[2], "position"), "character")->integer, 3);
}
END_TEST

// Errors in one statement: the types of the others stay, in the text as it is now.
START_TEST(half_typed_code_keeps_the_rest) {
  client_open("/t/scale.tile", scale_tile);
  lsp_wait(client.server);
  size_t at = (size_t)(strstr(client.text, "  total = sum") - client.text);
  client_edit(at, at, "\n\n  broken = load(x + (\n");
  has(client_hover("inside = i", 0, 1), "tile<512xi1>"); // before the new analysis
  has(client_hover("w = twice", 0, 0), "w: tile<512xf32>");
  lsp_wait(client.server);
  ck_assert_uint_ge(client.diagnostics->count, 1);
  has(client_hover("inside = i", 0, 1), "tile<512xi1>"); // and after it
  has(client_hover("w = twice", 0, 0), "w: tile<512xf32>");
  const char *header = strstr(client.text, "def scale");
  client_edit((size_t)(header - client.text), (size_t)(header - client.text) + 9, "de");
  lsp_wait(client.server);
  has(client_hover("return v + v", 0, 7), "tile<512xf32>");
}
END_TEST

TCase *lsp_tests(void) {
  TCase *t = tcase_create("lsp");
  tcase_add_checked_fixture(t, client_start, client_finish);
  tcase_set_timeout(t, 60);
  tcase_add_test(t, diagnostics_have_ranges);
  tcase_add_test(t, diagnostics_name_related_places);
  tcase_add_test(t, columns_are_utf16);
  tcase_add_test(t, assumptions_raise_no_errors);
  tcase_add_test(t, closing_clears_diagnostics);
  tcase_add_test(t, fixes_are_offered);
  tcase_add_test(t, hover_shows_values);
  tcase_add_test(t, hover_documents_functions);
  tcase_add_test(t, hover_shows_layouts);
  tcase_add_test(t, hover_shows_assumptions);
  tcase_add_test(t, hover_shows_decorators);
  tcase_add_test(t, definitions_of_the_file);
  tcase_add_test(t, definitions_of_imported_names);
  tcase_add_test(t, completes_the_language);
  tcase_add_test(t, completes_names);
  tcase_add_test(t, completes_half_typed_code);
  tcase_add_test(t, shows_signatures);
  tcase_add_test(t, lists_symbols);
  tcase_add_test(t, hints_show_shapes);
  tcase_add_test(t, half_typed_code_keeps_the_rest);
  return t;
}
