// SPDX-License-Identifier: Apache-2.0
// The functions of the language as editors show them: each has documentation, and names are found
// where programs find them.
#include "lang/builtins/library.h"
#include "lang/eval/builtin_flags.h"
#include "suites_emit.h"

START_TEST(functions_have_documentation) {
  for (size_t i = 0; i < library_count(); i++) {
    struct library_function f = library_at(i);
    ck_assert_msg(f.doc || f.name[0] == '_', "`%s` has no row in docs.def", f.name);
    ck_assert_msg(f.params != NULL, "`%s` has no parameters", f.name);
    size_t n = f.doc ? strlen(f.doc) : 2;
    ck_assert_msg(!f.doc || f.doc[n - 1] == '.', "`%s`: a sentence ends with a full stop", f.name);
  }
}
END_TEST

static bool is_function(const char *name) {
  for (size_t i = 0; i < library_count(); i++)
    if (strcmp(library_at(i).name, name) == 0)
      return true;
  return false;
}

START_TEST(documentation_is_of_functions) {
  static const char *const names[] = {
#define DOC(name, text) name,
#include "lang/builtins/docs.def"
#undef DOC
  };
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    const char *name = strncmp(names[i], "python.", 7) == 0 ? names[i] + 7 : names[i];
    ck_assert_msg(is_function(name), "docs.def has `%s`, which is no function", names[i]);
    ck_assert_msg(i == 0 || strcmp(names[i - 1], names[i]) < 0, "`%s` is not sorted", names[i]);
    ck_assert_ptr_nonnull(library_doc(names[i]));
  }
  ck_assert_ptr_null(library_doc("no_such_function"));
}
END_TEST

START_TEST(names_have_scopes) {
  struct library_function f;
  ck_assert(library_find(STR("max"), LIBRARY_BARE, &f) && f.flags & BUILTIN_BARE);
  ck_assert_ptr_nonnull(strstr(f.doc, "of several values"));
  ck_assert(library_find(STR("max"), LIBRARY_MODULE, &f) && !(f.flags & BUILTIN_BARE));
  ck_assert_ptr_nonnull(strstr(f.doc, "along an axis"));
  ck_assert_ptr_nonnull(strstr(f.params, "return_indices=")); // of the library's text
  ck_assert(library_find(STR("to"), LIBRARY_METHOD, &f));
  ck_assert(!library_find(STR("to"), LIBRARY_BARE, &f));
  ck_assert(!library_find(STR("len"), LIBRARY_MODULE, &f));
  ck_assert(library_find(STR("gather"), LIBRARY_DESCRIPTOR, &f));
  ck_assert_str_eq(f.params, "desc x_offsets y_offset");
  ck_assert(!library_find(STR("is_floating"), LIBRARY_BARE, &f));
}
END_TEST

TCase *library_tests(void) {
  TCase *t = tcase_create("library");
  tcase_add_test(t, functions_have_documentation);
  tcase_add_test(t, documentation_is_of_functions);
  tcase_add_test(t, names_have_scopes);
  return t;
}
