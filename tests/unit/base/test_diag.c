// SPDX-License-Identifier: Apache-2.0
// Rendering of diagnostics against the exact text.
#include "base/diag_wire.h"
#include "base/json.h"
#include "suites.h"

#include <stdlib.h>

static struct arena *a;
static struct diag_engine *e;

static void setup(void) {
  a = arena_create();
  e = diag_engine_create(a);
}
static void teardown(void) { arena_destroy(a); }

static struct source *text(const char *s) { return source_create(a, "k.tile", str_from(s)); }

// The span of the `nth` (from 0) occurrence of `needle`.
static struct span find(const struct source *s, const char *needle, int nth) {
  const char *p = s->text.ptr;
  for (;; p++) {
    p = strstr(p, needle);
    ck_assert_ptr_nonnull(p);
    if (nth-- == 0)
      break;
  }
  uint32_t begin = (uint32_t)(p - s->text.ptr);
  return (struct span){s, begin, begin + (uint32_t)strlen(needle)};
}

static void expect_style(struct diag_style style, const char *want) {
  struct strbuf out = {0};
  diag_render_text(e, style, &out);
  ck_assert_str_eq(strbuf_cstr(&out), want);
  strbuf_finish(&out);
}
static void expect(const char *want) { expect_style((struct diag_style){0}, want); }

static const char softmax[] = "\n\n\n\n\n\n\n\n\n\n\n  y = x / sum(x, axis=1)\n";

START_TEST(design_example) {
  struct source *s = source_create(a, "softmax.tile", str_from(softmax));
  struct diag *d = diag_error(e, find(s, "sum(x, axis=1)", 0), E0701, "cannot broadcast %s to %s",
                              "tile<64xf32>", "tile<128x64xf32>");
  diag_primary_label(d, "tile<64xf32>");
  diag_label(d, find(s, "x", 0), "%s", "");
  diag_help(d, "keep the reduced axis: `sum(x, axis=1, keep_dims=True)`");
  expect("softmax.tile:12:11: error: cannot broadcast tile<64xf32> to tile<128x64xf32> [E0701]\n"
         " 12 |   y = x / sum(x, axis=1)\n"
         "    |       ~   ^~~~~~~~~~~~~~ tile<64xf32>\n"
         "    = help: keep the reduced axis: `sum(x, axis=1, keep_dims=True)`\n");
}
END_TEST

START_TEST(names_of_files_have_no_control_characters) {
  struct source *s = source_create(a, "a\x1b[31m\n\x7f.tile", str_from("x\n"));
  diag_error(e, find(s, "x", 0), E0701, "wrong");
  expect("a?[31m??.tile:1:1: error: wrong [E0701]\n 1 | x\n   | ^\n");
}
END_TEST

START_TEST(hanging_labels) {
  struct source *s = text("z = left + right\n");
  struct diag *d = diag_error(e, find(s, "+", 0), E0702, "types differ");
  diag_label(d, find(s, "left", 0), "i32");
  diag_label(d, find(s, "right", 0), "f32");
  diag_primary_label(d, "here");
  expect("k.tile:1:10: error: types differ [E0702]\n"
         " 1 | z = left + right\n"
         "   |     ~~~~ ^ ~~~~~ f32\n"
         "   |     |    |\n"
         "   |     |    here\n"
         "   |     i32\n");
}
END_TEST

START_TEST(labels_on_other_lines) {
  struct source *s =
      text("def f(x):\n  a = 1\n  b = 2\n  c = 3\n  d = 4\n  e = 5\n  f = 6\n  g = 7\n"
           "  h = 8\n  return y\n");
  struct diag *d = diag_error(e, find(s, "y", 0), E0703, "unknown name `y`");
  diag_label(d, find(s, "x", 0), "the only parameter");
  diag_label(d, find(s, "h = 8", 0), "last");
  expect("k.tile:10:10: error: unknown name `y` [E0703]\n"
         "  1 | def f(x):\n"
         "    |       ~ the only parameter\n"
         " ...\n"
         "  9 |   h = 8\n"
         "    |   ~~~~~ last\n"
         " 10 |   return y\n"
         "    |          ^\n");
}
END_TEST

START_TEST(notes_and_fixits) {
  struct source *s = text("n = laod(x)\nm = load(x)\n");
  struct source *other = source_create(a, "std.tile", STR("def load(p): ...\n"));
  struct diag *d = diag_error(e, find(s, "laod", 0), E0704, "unknown name `laod`");
  diag_fixit(d, find(s, "laod", 0), "load");
  diag_note(d, SPAN_NONE, "names are\ncase-sensitive");
  diag_note(d, find(other, "load", 0), "declared here");
  expect("k.tile:1:5: error: unknown name `laod` [E0704]\n"
         " 1 | n = laod(x)\n"
         "   |     ^~~~\n"
         "   = note: names are\n"
         "           case-sensitive\n"
         "   = help: replace `laod` with `load`\n"
         "std.tile:1:5: note: declared here\n"
         " 1 | def load(p): ...\n"
         "   |     ^~~~\n");
}
END_TEST

START_TEST(fixit_told_by_help) {
  struct source *s = text("x = y\n");
  struct diag *d = diag_error(e, find(s, "y", 0), E0704, "unknown name");
  diag_help(d, "did you mean `yy`?");
  diag_fixit(d, find(s, "y", 0), "yy");
  struct diag *insert = diag_warning(e, (struct span){s, 5, 5}, E0705, "missing bracket");
  diag_fixit(insert, (struct span){s, 5, 5}, ")");
  expect("k.tile:1:5: error: unknown name [E0704]\n"
         " 1 | x = y\n"
         "   |     ^\n"
         "   = help: did you mean `yy`?\n"
         "k.tile:1:6: warning: missing bracket [E0705]\n"
         " 1 | x = y\n"
         "   |      ^\n"
         "   = help: insert `)`\n");
}
END_TEST

START_TEST(tabs_and_wide_characters) {
  struct source *s = text("\tx = \"\xe6\xbc\xa2\xe5\xad\x97\" + e\xcc\x81z + bad\n");
  diag_error(e, find(s, "bad", 0), E0701, "m");
  // The tab takes four cells, each ideograph two, the combining accent none.
  expect("k.tile:1:24: error: m [E0701]\n"
         " 1 |     x = \"\xe6\xbc\xa2\xe5\xad\x97\" + e\xcc\x81z + bad\n"
         "   |                       ^~~\n");
}
END_TEST

START_TEST(control_characters_are_not_passed_on) {
  struct source *s = text("x = \x1b[31m\xff y\n");
  diag_error(e, find(s, "y", 0), E0701, "name \x1b[0m here");
  expect("k.tile:1:12: error: name ?[0m here [E0701]\n"
         " 1 | x = \xef\xbf\xbd[31m\xef\xbf\xbd y\n"
         "   |            ^\n");
}
END_TEST

START_TEST(multi_line_span_and_end_of_file) {
  struct source *s = text("a = (1,\n  2");
  diag_error(e, (struct span){s, 4, 11}, E0701, "m");
  diag_error(e, (struct span){s, 11, 11}, E0702, "unexpected end");
  expect("k.tile:1:5: error: m [E0701]\n"
         " 1 | a = (1,\n"
         "   |     ^~~\n"
         "k.tile:2:4: error: unexpected end [E0702]\n"
         " 2 |   2\n"
         "   |    ^\n");
}
END_TEST

START_TEST(long_lines_are_cut) {
  struct strbuf line = {0};
  for (int i = 0; i < 300; i++)
    strbuf_puts(&line, i == 150 ? "Y " : "x ");
  struct source *s = text(strbuf_cstr(&line));
  strbuf_finish(&line);
  diag_error(e, find(s, "Y", 0), E0701, "m");
  struct strbuf out = {0};
  diag_render_text(e, (struct diag_style){0}, &out);
  struct str rest = {out.ptr, out.len}, heading, shown, marks;
  rest = str_split(rest, '\n', &heading);
  rest = str_split(rest, '\n', &shown);
  rest = str_split(rest, '\n', &marks);
  ck_assert_uint_lt(shown.len, 220);
  ck_assert(str_starts(shown, " 1 | ...x ") && str_ends(shown, "..."));
  const char *y = memchr(shown.ptr, 'Y', shown.len), *caret = memchr(marks.ptr, '^', marks.len);
  ck_assert_int_eq(y - shown.ptr, caret - marks.ptr);
  strbuf_finish(&out);
}
END_TEST

START_TEST(sorted_without_repetitions) {
  struct source *s = text("a\nb\nc\n");
  diag_error(e, find(s, "c", 0), E0701, "third");
  diag_error(e, find(s, "a", 0), E0701, "first");
  diag_error(e, find(s, "a", 0), E0701, "first");
  diag_remark(e, find(s, "b", 0), "coalesce", "hidden");
  diag_error(e, SPAN_NONE, E0710, "no location");
  expect("error: no location [E0710]\n"
         "k.tile:1:1: error: first [E0701]\n 1 | a\n   | ^\n"
         "k.tile:3:1: error: third [E0701]\n 3 | c\n   | ^\n");
  ck_assert_uint_eq(diag_count(e), 5);
  ck_assert_uint_eq(diag_error_count(e), 4);
  ck_assert_str_eq(diag_first_error(e), "third");
  ck_assert_int_eq((int)diag_first_error_code(e), (int)E0701);
}
END_TEST

START_TEST(remarks) {
  struct source *s = text("a\n");
  diag_remark(e, find(s, "a", 0), "pipeline", "loop not pipelined: %s", "load under a condition");
  expect("");
  expect_style((struct diag_style){.remarks = true},
               "k.tile:1:1: remark: loop not pipelined: load under a condition [pipeline]\n"
               " 1 | a\n   | ^\n");
  ck_assert_int_eq((int)diag_first_error_code(e), (int)DIAG_CODE_COUNT);
  ck_assert_str_eq(diag_first_error(e), "");
}
END_TEST

START_TEST(capped) {
  struct source *s = text("0123456789012345678901234\n");
  for (uint32_t i = 0; i < 23; i++)
    diag_error(e, (struct span){s, i, i + 1}, E0701, "m%u", i);
  struct strbuf out = {0};
  diag_render_text(e, (struct diag_style){0}, &out);
  ck_assert(strstr(out.ptr, "m19 [") && !strstr(out.ptr, "m20 ["));
  ck_assert(str_ends((struct str){out.ptr, out.len}, "and 3 more errors\n"));
  strbuf_finish(&out);
}
END_TEST

START_TEST(colour) {
  struct source *s = text("ab\n");
  diag_error(e, find(s, "b", 0), E0701, "m");
  struct strbuf out = {0};
  diag_render_text(e, (struct diag_style){.color = true}, &out);
  ck_assert(strstr(out.ptr, "\033[1;31merror\033[0m"));
  // Without the escape sequences the text is the plain one.
  struct strbuf plain = {0};
  for (const char *p = out.ptr; *p; p++) {
    if (*p == '\033')
      p = strchr(p, 'm');
    else
      strbuf_putc(&plain, *p);
  }
  expect(plain.ptr);
  strbuf_finish(&plain);
  strbuf_finish(&out);
}
END_TEST

START_TEST(as_json) {
  struct source *s = text("x = laod(\"q\")\n");
  struct diag *d = diag_error(e, find(s, "laod", 0), E0704, "unknown name `laod`");
  diag_label(d, find(s, "x", 0), "a \"label\"");
  diag_note(d, SPAN_NONE, "note");
  diag_help(d, "help");
  diag_fixit(d, find(s, "laod", 0), "load");
  diag_remark(e, SPAN_NONE, "topic", "remark");
  struct strbuf out = {0};
  diag_render_json(e, &out);
  struct json_error error;
  struct json *j = json_parse(a, (struct str){out.ptr, out.len}, &error);
  ck_assert_ptr_nonnull(j);
  struct json *list = json_get(j, "diagnostics");
  ck_assert_uint_eq(list->count, 2);
  ck_assert(str_is(json_get(list->items[0], "severity")->string, "remark"));
  struct json *first = list->items[1];
  ck_assert(str_is(json_get(first, "code")->string, "E0704"));
  ck_assert(str_is(json_get(first, "message")->string, "unknown name `laod`"));
  ck_assert(str_is(json_get(first, "file")->string, "k.tile"));
  ck_assert_int_eq(json_get(first, "line")->integer, 1);
  ck_assert_int_eq(json_get(first, "column")->integer, 5);
  ck_assert_int_eq(json_get(first, "end_column")->integer, 9);
  ck_assert(
      str_is(json_get(json_get(first, "labels")->items[0], "message")->string, "a \"label\""));
  ck_assert(str_is(json_get(json_get(first, "fixits")->items[0], "replacement")->string, "load"));
  ck_assert(str_is(json_get(first, "help")->items[0]->string, "help"));
  strbuf_finish(&out);
}
END_TEST

START_TEST(forgotten_records) {
  diag_warning(e, SPAN_NONE, E0101, "kept");
  diag_error(e, SPAN_NONE, E0101, "kept too");
  diag_error(e, SPAN_NONE, E0102, "forgotten");
  diag_remark(e, SPAN_NONE, "topic", "forgotten");
  diag_forget(e, 2);
  ck_assert_uint_eq(diag_count(e), 2);
  ck_assert_uint_eq(diag_error_count(e), 1);
  ck_assert_str_eq(diag_first_error(e), "kept too");
  diag_forget(e, 7);
  ck_assert_uint_eq(diag_count(e), 2);
  diag_forget(e, 0);
  ck_assert_uint_eq(diag_error_count(e), 0);
}
END_TEST

START_TEST(codes) {
  for (unsigned i = 0; i < DIAG_CODE_COUNT; i++) {
    enum diag_code c = (enum diag_code)i, found;
    ck_assert(diag_code_find(str_from(diag_code_name(c)), &found));
    ck_assert_uint_eq(found, i);
    ck_assert_uint_gt(strlen(diag_code_title(c)), 0);
    ck_assert_uint_gt(strlen(diag_code_explain(c)), 25);
    if (i > 0)
      ck_assert_str_lt(diag_code_name((enum diag_code)(i - 1)), diag_code_name(c));
  }
  enum diag_code c;
  ck_assert(!diag_code_find(STR("E9999"), &c));
  ck_assert(!diag_code_find(STR("E07011"), &c));
  ck_assert(diag_code_find(STR("e0701"), &c));
}
END_TEST

static uint32_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

// Whatever the text and the spans, rendering ends and lets no control character through.
START_TEST(random_text_and_spans) {
  uint64_t state = 1;
  static const char alphabet[] = "ab \t\n\n(\r\xc3\xa9\xe6\xbc\xa2\xff\x1b\x01";
  for (int round = 0; round < 300; round++) {
    char bytes[700];
    size_t n = next_random(&state) % sizeof bytes;
    for (size_t i = 0; i < n; i++)
      bytes[i] = alphabet[next_random(&state) % (sizeof alphabet - 1)];
    struct source *s = source_create(a, "k.tile", (struct str){bytes, n});
    struct span spans[8];
    for (int i = 0; i < 8; i++) {
      uint32_t begin = next_random(&state) % (uint32_t)(n + 3); // past the end as well
      spans[i] = (struct span){s, begin, begin + next_random(&state) % 40};
    }
    e = diag_engine_create(a);
    struct diag *d = diag_error(e, spans[0], E0701, "message");
    diag_primary_label(d, "primary");
    for (int i = 1; i < 6; i++)
      diag_label(d, spans[i], "%s", i % 2 ? "label" : "");
    diag_note(d, spans[6], "note");
    struct strbuf text = {0}, json = {0};
    diag_render_text(e, (struct diag_style){.remarks = true}, &text);
    for (size_t i = 0; i < text.len; i++)
      ck_assert((unsigned char)text.ptr[i] >= 0x20 || text.ptr[i] == '\n');
    diag_render_json(e, &json);
    struct json_error error;
    ck_assert_ptr_nonnull(json_parse(a, (struct str){json.ptr, json.len}, &error));
    strbuf_finish(&text);
    strbuf_finish(&json);
  }
}
END_TEST

// Errors, warnings and remarks with all their parts, in several sources: what another process reads
// renders as here. Bytes that end too early are refused, whatever they end in.
START_TEST(records_reach_another_process) {
  struct source *s = text("n = laod(x)\nm = 1\n");
  struct source *other = source_create(a, "std.tile", STR("def load(p): ...\n"));
  struct diag *d = diag_error(e, find(s, "laod", 0), E0704, "unknown name `laod`");
  diag_primary_label(d, "here");
  diag_label(d, find(s, "x", 0), "its argument");
  diag_note(d, find(other, "load", 0), "declared here");
  diag_note(d, SPAN_NONE, "names are\ncase-sensitive");
  diag_help(d, "say %s", "load");
  diag_fixit(d, find(s, "laod", 0), "load");
  diag_warning(e, find(other, "p", 0), E0705, "100%% of it");
  diag_remark(e, SPAN_NONE, "coalesce", "nothing");
  struct strbuf bytes = {.arena = a}, here = {.arena = a}, there = {.arena = a};
  diag_wire_put(e, s, &bytes);
  struct diag_engine *read = diag_engine_create(a);
  struct wire_reader r = {.rest = {bytes.ptr, bytes.len}};
  ck_assert(diag_wire_get(read, s, &r));
  ck_assert_uint_eq(r.rest.len, 0);
  ck_assert_uint_eq(diag_error_count(read), 1);
  diag_render_text(e, (struct diag_style){.remarks = true}, &here);
  diag_render_text(read, (struct diag_style){.remarks = true}, &there);
  ck_assert_str_eq(strbuf_cstr(&there), strbuf_cstr(&here));
  strbuf_clear(&here), strbuf_clear(&there);
  diag_render_json(e, &here);
  diag_render_json(read, &there);
  ck_assert_str_eq(strbuf_cstr(&there), strbuf_cstr(&here));
  for (size_t n = 0; n < bytes.len; n++) {
    struct wire_reader cut = {.rest = {bytes.ptr, n}};
    ck_assert(!diag_wire_get(diag_engine_create(a), s, &cut));
  }
}
END_TEST

START_TEST(damaged_bytes_are_refused_or_read) {
  struct source *s = text("n = laod(x)\n");
  struct diag *d = diag_error(e, find(s, "laod", 0), E0704, "unknown name");
  diag_label(d, find(s, "x", 0), "its argument");
  struct strbuf bytes = {.arena = a};
  diag_wire_put(e, s, &bytes);
  for (size_t i = 0; i < bytes.len; i++)
    for (int bit = 0; bit < 8; bit++) {
      struct arena *scratch = arena_create();
      char *damaged = arena_strndup(scratch, bytes.ptr, bytes.len);
      damaged[i] = (char)(damaged[i] ^ (1 << bit));
      struct wire_reader r = {.rest = {damaged, bytes.len}};
      struct diag_engine *read = diag_engine_create(scratch);
      struct strbuf out = {.arena = scratch};
      if (diag_wire_get(read, s, &r))
        diag_render_text(read, (struct diag_style){0}, &out);
      arena_destroy(scratch);
    }
}
END_TEST

static const struct json *sarif_run(struct strbuf *out) {
  struct json_error error;
  diag_render_sarif(e, "1.2.3", out);
  struct json *j = json_parse(a, (struct str){out->ptr, out->len}, &error);
  ck_assert_ptr_nonnull(j);
  ck_assert(str_is(json_get(j, "version")->string, "2.1.0"));
  return json_get(j, "runs")->items[0];
}

// Columns count code points, not bytes; the path is percent-encoded; a rule occurs once.
START_TEST(as_sarif) {
  struct source *s = source_create(a, "a b/\xc3\xbc.tile", STR("k\n\xc3\xb6\xc3\xa4 = laod(x)\n"));
  struct diag *d = diag_error(e, find(s, "laod", 0), E0704, "unknown name `laod`");
  diag_fixit(d, find(s, "laod", 0), "load");
  diag_help(d, "did you mean `load`?");
  diag_label(d, find(s, "x", 0), "its argument");
  diag_error(e, find(s, "x", 0), E0704, "another one");
  diag_remark(e, find(s, "x", 0), "coalesce", "a remark");
  struct strbuf out = {.arena = a};
  const struct json *run = sarif_run(&out);
  ck_assert(str_is(json_get(run, "columnKind")->string, "unicodeCodePoints"));
  const struct json *driver = json_get(json_get(run, "tool"), "driver");
  ck_assert(str_is(json_get(driver, "version")->string, "1.2.3"));
  ck_assert_uint_eq(json_get(driver, "rules")->count, 1);
  const struct json *results = json_get(run, "results");
  ck_assert_uint_eq(results->count, 3);
  const struct json *first = results->items[0];
  ck_assert(str_is(json_get(first, "ruleId")->string, "E0704"));
  ck_assert(str_is(json_get(json_get(first, "message"), "text")->string,
                   "unknown name `laod`\nhelp: did you mean `load`?"));
  const struct json *at = json_get(json_get(first, "locations")->items[0], "physicalLocation");
  ck_assert(str_is(json_get(json_get(at, "artifactLocation"), "uri")->string, "a%20b/%C3%BC.tile"));
  const struct json *region = json_get(at, "region");
  ck_assert_int_eq((int)json_get(region, "startLine")->number, 2);
  ck_assert_int_eq((int)json_get(region, "startColumn")->number, 6);
  ck_assert_int_eq((int)json_get(region, "endColumn")->number, 10);
  ck_assert_uint_eq(json_get(first, "relatedLocations")->count, 1);
  const struct json *change =
      json_get(json_get(first, "fixes")->items[0], "artifactChanges")->items[0];
  const struct json *edit = json_get(change, "replacements")->items[0];
  ck_assert(str_is(json_get(json_get(edit, "insertedContent"), "text")->string, "load"));
}
END_TEST

TCase *diag_tests(void) {
  TCase *t = tcase_create("diag");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, design_example);
  tcase_add_test(t, names_of_files_have_no_control_characters);
  tcase_add_test(t, hanging_labels);
  tcase_add_test(t, labels_on_other_lines);
  tcase_add_test(t, notes_and_fixits);
  tcase_add_test(t, fixit_told_by_help);
  tcase_add_test(t, tabs_and_wide_characters);
  tcase_add_test(t, control_characters_are_not_passed_on);
  tcase_add_test(t, multi_line_span_and_end_of_file);
  tcase_add_test(t, long_lines_are_cut);
  tcase_add_test(t, sorted_without_repetitions);
  tcase_add_test(t, remarks);
  tcase_add_test(t, capped);
  tcase_add_test(t, colour);
  tcase_add_test(t, as_json);
  tcase_add_test(t, as_sarif);
  tcase_add_test(t, random_text_and_spans);
  tcase_add_test(t, forgotten_records);
  tcase_add_test(t, codes);
  tcase_add_test(t, records_reach_another_process);
  tcase_add_test(t, damaged_bytes_are_refused_or_read);
  return t;
}
