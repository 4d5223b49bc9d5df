// SPDX-License-Identifier: Apache-2.0
// The tables of the command line: every value that completions offer is one that tilec takes,
// groups have titles, help texts fit.
#include "suites.h"
#include "tools/options/option_values.h"
#include "tools/pages/pages.h"

#include <stdio.h>

static struct tool t;

// Whether tilec takes `--option=value` for a graph or for a kernel.
static bool takes(const char *option, struct str value) {
  for (int graph = 0; graph < 2; graph++) {
    t = (struct tool){.arena = session.a, .diag = session.diag};
    char word[128];
    snprintf(word, sizeof word, "%s=%.*s", option, STR_ARG(value));
    char name[] = "tilec", of_graph[] = "--graph", file[] = "a.tile";
    char *argv[] = {name, word, file, file};
    argv[2] = graph ? of_graph : file;
    if (options_parse(&t, graph ? 4 : 3, argv))
      return true;
  }
  return false;
}

START_TEST(every_value_offered_is_taken) {
  int options = 0;
  for (const struct page_option *o = page_options; o->spelling; o++) {
    const char *values = page_values(session.a, o);
    if (!values || strncmp(o->spelling, "--", 2) != 0 || strcmp(o->group, "mode") == 0)
      continue;
    options++;
    for (struct str rest = str_from(values), value; rest.ptr;) {
      rest = str_split(rest, ' ', &value);
      ck_assert_msg(takes(o->spelling, value), "%s=%.*s", o->spelling, STR_ARG(value));
    }
  }
  ck_assert_int_ge(options, 8);
}
END_TEST

// An emit kind or a target that completions do not offer.
START_TEST(every_value_taken_is_offered) {
  for (const struct page_option *o = page_options; o->spelling; o++) {
    const char *values = page_values(session.a, o);
    if (strcmp(o->spelling, "--target") == 0)
      for (const char *const *name = target_names(); *name; name++)
        ck_assert_msg(strstr(values, *name) != NULL, "%s", *name);
    if (strcmp(o->spelling, "--emit") == 0)
      for (int k = 0; k < EMIT_KIND_COUNT; k++)
        ck_assert_msg(strstr(values, emit_kind_name((enum emit_kind)k)) != NULL, "%s",
                      emit_kind_name((enum emit_kind)k));
  }
}
END_TEST

static bool is_group(struct str name) {
  for (const struct page_group *g = page_groups; g->name; g++)
    if (str_is(name, g->name))
      return true;
  return false;
}

START_TEST(groups_have_titles) {
  for (const struct page_option *o = page_options; o->spelling; o++)
    ck_assert_msg(is_group(str_from(o->group)), "%s", o->spelling);
  for (const struct page_verb *v = page_verbs; v->name; v++)
    for (struct str rest = str_from(v->groups), name; rest.ptr;) {
      rest = str_split(rest, ' ', &name);
      ck_assert_msg(name.len == 0 || is_group(name), "%s", v->name);
    }
}
END_TEST

static void check_width(const char *topic) {
  struct strbuf out = {.arena = session.a};
  ck_assert_msg(help_write(topic, &out), "%s", topic);
  for (struct str rest = str_from(strbuf_cstr(&out)), line; rest.ptr;) {
    rest = str_split(rest, '\n', &line);
    ck_assert_msg(line.len <= 80, "%s: %.*s", topic ? topic : "--help", STR_ARG(line));
  }
}

START_TEST(help_fits_80_columns) {
  check_width(NULL);
  for (const struct page_verb *v = page_verbs; v->name; v++)
    check_width(v->name);
  for (const struct page_option *o = page_options; o->spelling; o++)
    check_width(o->spelling);
  struct strbuf out = {.arena = session.a};
  ck_assert(!help_write("frobnicate", &out));
}
END_TEST

START_TEST(document_tables) {
  struct strbuf out = {.arena = session.a};
  ck_assert(page_document(STR("a\n<!-- table: bench -->\nold\n<!-- end of table -->\nb\n"), &out));
  ck_assert(strstr(strbuf_cstr(&out), "a\n<!-- table: bench -->\n| option | meaning |\n") != NULL);
  ck_assert(strstr(out.ptr, "| `--repeats N` |") != NULL && !strstr(out.ptr, "old"));
  ck_assert(strstr(out.ptr, "\n<!-- end of table -->\nb\n") != NULL);
  ck_assert(!page_document(STR("<!-- table: nonsense -->\n<!-- end of table -->\n"), &out));
  ck_assert(!page_document(STR("<!-- table: bench -->\nno end\n"), &out));
}
END_TEST

TCase *pages_tests(void) {
  TCase *c = tcase_create("pages");
  tcase_add_checked_fixture(c, session_setup, session_teardown);
  tcase_add_test(c, every_value_offered_is_taken);
  tcase_add_test(c, every_value_taken_is_offered);
  tcase_add_test(c, groups_have_titles);
  tcase_add_test(c, help_fits_80_columns);
  tcase_add_test(c, document_tables);
  return c;
}
