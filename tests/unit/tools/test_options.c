// SPDX-License-Identifier: Apache-2.0
// The command line: spellings, locations, values, rejected input.
#include "suites.h"
#include "tools/tool.h"

#include <stdio.h>

static struct tool t;

static bool parse_words(int argc, char **argv) {
  t = (struct tool){.arena = session.a, .diag = session.diag};
  return options_parse(&t, argc, argv);
}

#define PARSE(...)                                                                                 \
  parse_words((int)COUNT_OF(((char *[]){(char[]){"tilec"}, __VA_ARGS__})),                         \
              (char *[]){(char[]){"tilec"}, __VA_ARGS__})
#define W(text) ((char[]){text})

static struct str text_of(struct span s) {
  return (struct str){s.source->text.ptr + s.begin, s.end - s.begin};
}

START_TEST(files_and_modes) {
  ck_assert(PARSE(W("add.tile")));
  ck_assert_int_eq((int)t.o.mode, (int)MODE_COMPILE);
  ck_assert_str_eq(t.o.file, "add.tile");
  ck_assert(str_is(text_of(t.o.file_at), "add.tile"));
  ck_assert(PARSE(W("--run"), W("-")));
  ck_assert_int_eq((int)t.o.mode, (int)MODE_RUN);
  ck_assert_str_eq(t.o.file, "-");
  ck_assert(PARSE(W("add.tile"), W("--bench"), W("--json")));
  ck_assert_int_eq((int)t.o.mode, (int)MODE_BENCH);
  ck_assert(t.o.json);
  ck_assert(PARSE(W("--explain"), W("E0801")));
  ck_assert_str_eq(t.o.mode_argument, "E0801");
  ck_assert(PARSE(W("--layout"), W("mma_v2"), W("16x8"), W("f16")));
  ck_assert_str_eq(t.o.mode_argument, "mma_v2 16x8 f16");
}
END_TEST

START_TEST(verbs) {
  ck_assert(PARSE(W("run"), W("add.tile"), W("--check")));
  ck_assert_int_eq((int)t.o.mode, (int)MODE_RUN);
  ck_assert_str_eq(t.o.file, "add.tile");
  ck_assert(PARSE(W("graph"), W("--run"), W("model.py")));
  ck_assert(t.o.mode == MODE_GRAPH && t.o.graph_mode == MODE_RUN);
  ck_assert_str_eq(t.o.file, "model.py");
  ck_assert(PARSE(W("tunings"), W("diff"), W("a.tune.json"), W("b.tune.json")));
  ck_assert_str_eq(t.o.mode_argument, "diff");
  ck_assert_uint_eq(t.o.files.len, 2);
  ck_assert(PARSE(W("layout"), W("dot_a_v2"), W("16x16"), W("f16")));
  ck_assert_str_eq(t.o.mode_argument, "dot_a_v2 16x16 f16");
  ck_assert(PARSE(W("./run"))); // a file
  ck_assert_int_eq((int)t.o.mode, (int)MODE_COMPILE);
  ck_assert(PARSE(W("bench"), W("--help"))); // without a file
  ck_assert_int_eq((int)t.o.help, (int)HELP_FULL);
  ck_assert(!PARSE(W("explain")));
  ck_assert_int_eq((int)session_error(), (int)E0702);
  ck_assert(!PARSE(W("bnech"), W("add.tile")));
  ck_assert_int_eq((int)session_error(), (int)E0703);
  ck_assert(!PARSE(W("run"), W("--bench"), W("add.tile")));
  ck_assert_int_eq((int)session_error(), (int)E0703);
}
END_TEST

START_TEST(both_spellings_of_values) {
  ck_assert(PARSE(W("--grid"), W("4"), W("--num-warps=8"), W("-o"), W("x"), W("-DA=1"), W("-D"),
                  W("B=x=y"), W("--emit=ptx")));
  ck_assert(str_is(t.o.grid, "4"));
  ck_assert(str_is(text_of(t.o.grid_at), "4"));
  ck_assert_uint_eq(t.o.num_warps, 8);
  ck_assert_str_eq(t.o.output, "x");
  ck_assert_int_eq((int)t.o.warp_specialize, (int)WARP_SPECIALIZE_AUTO);
  ck_assert_int_eq((int)t.o.emit, (int)EMIT_PTX);
  ck_assert_uint_eq(t.o.defines.len, 2);
  ck_assert_str_eq(t.o.defines.at[0].name, "A");
  ck_assert_str_eq(t.o.defines.at[1].name, "B");
  ck_assert(str_is(t.o.defines.at[1].value, "x=y"));
  ck_assert(str_is(text_of(t.o.defines.at[1].where), "x=y"));
}
END_TEST

START_TEST(assignments_span_their_values) {
  ck_assert(
      PARSE(W("--arg"), W("x=f32[10]:rand(0)"), W("--out=y=@y.npy"), W("--expect"), W("y=@z.npy")));
  ck_assert(str_is(text_of(t.o.args.at[0].where), "f32[10]:rand(0)"));
  ck_assert(str_is(text_of(t.o.outs.at[0].where), "@y.npy"));
  ck_assert(str_is(t.o.expects.at[0].value, "@z.npy"));
}
END_TEST

// Every row's setter takes a value, or refuses it, without touching anything else.
START_TEST(every_option_is_stored) {
  static const struct {
    const char *spelling, *argument;
  } rows[] = {
#define OPTION(id, spelling, argument, group, setter, help, details) {spelling, argument},
#include "tools/options/options.def"
#undef OPTION
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    char word[64], value[] = "1";
    snprintf(word, sizeof word, "%s", rows[i].spelling);
    char *argv[] = {W("tilec"), word, value};
    (void)parse_words(rows[i].argument ? 3 : 2, argv);
  }
}
END_TEST

START_TEST(refused) {
  static const struct {
    const char *word;
    enum diag_code code;
  } rows[] = {{"--frobnicate", E0701},
              {"-x", E0701},
              {"--grid", E0702},
              {"--json=1", E0702},
              {"--num-warps=0", E0702},
              {"--num-warps=5", E0702},
              {"--num-warps=64", E0702},
              {"--num-stages=x", E0702},
              {"--emit=assembler", E0702},
              {"--color=red", E0702},
              {"--warp-specialize=1", E0702},
              {"--rtol=-1", E0702},
              {"--repeats=0", E0702},
              {"--target=sm_70", E0704},
              {"--passes=cse,", E0705},
              {"--stop-after=all", E0705},
              {"-DBLOCK", E0707},
              {"-D=1", E0707},
              {"--arg=x", E0707}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    char word[32];
    strcpy(word, rows[i].word);
    ck_assert_msg(!PARSE(W("add.tile"), word), "%s", word);
    ck_assert_msg(session_error() == rows[i].code, "%s", word);
  }
  ck_assert(!PARSE(W("a.tile"), W("b.tile")));
  ck_assert_int_eq((int)session_error(), (int)E0703);
  ck_assert(!PARSE(W("--run"), W("--doctor")));
  ck_assert_int_eq((int)session_error(), (int)E0703);
}
END_TEST

START_TEST(all_errors_are_reported) {
  ck_assert(!PARSE(W("--emti=ptx"), W("--target=sm_91"), W("--grid")));
  ck_assert_uint_eq(diag_error_count(session.diag), 3);
}
END_TEST

START_TEST(bindings) {
  struct lang_binding *b;
  size_t n;
  ck_assert(PARSE(W("--signature"), W("x=*f16:16, n=i32:1,s=fp32,m=i64:16"), W("-DBLOCK=64")));
  ck_assert(tool_bindings(&t, &b, &n));
  ck_assert_uint_eq(n, 5);
  ck_assert_int_eq((int)b[0].kind, (int)BIND_POINTER);
  ck_assert_int_eq((int)b[0].dtype, (int)DTYPE_F16);
  ck_assert_uint_eq(b[0].divisible_by, 16);
  ck_assert(b[1].kind == BIND_SCALAR && b[1].is_one && b[1].dtype == DTYPE_I32);
  ck_assert(b[2].dtype == DTYPE_F32 && b[2].divisible_by == 1);
  ck_assert(b[3].divisible_by == 16 && !b[3].is_one);
  ck_assert_int_eq((int)b[4].kind, (int)BIND_CONSTANT);
  ck_assert_str_eq(b[4].text, "64");
  static const char *const wrong[] = {"x",       "=i32",   "x=f99",   "x=*",
                                      "x=i32:3", "x=i32:", "x=i32:0", "x=i32,,y=i32"};
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    char word[32];
    strcpy(word, wrong[i]);
    ck_assert(PARSE(W("--signature"), word));
    ck_assert_msg(!tool_bindings(&t, &b, &n), "%s", word);
    ck_assert_int_eq((int)session_error(), (int)E0706);
  }
}
END_TEST

START_TEST(help_lists_every_option) {
  struct strbuf out = {0};
  help_write(NULL, &out);
#define OPTION(id, spelling, argument, group, setter, help, details)                               \
  ck_assert_msg(strstr(out.ptr, "\n  " spelling) != NULL, "%s", spelling);
#include "tools/options/options.def"
#undef OPTION
  strbuf_finish(&out);
}
END_TEST

TCase *options_tests(void) {
  TCase *c = tcase_create("options");
  tcase_add_checked_fixture(c, session_setup, session_teardown);
  tcase_add_test(c, files_and_modes);
  tcase_add_test(c, verbs);
  tcase_add_test(c, both_spellings_of_values);
  tcase_add_test(c, assignments_span_their_values);
  tcase_add_test(c, every_option_is_stored);
  tcase_add_test(c, refused);
  tcase_add_test(c, all_errors_are_reported);
  tcase_add_test(c, bindings);
  tcase_add_test(c, help_lists_every_option);
  return c;
}
