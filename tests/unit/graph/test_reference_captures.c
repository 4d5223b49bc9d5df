// SPDX-License-Identifier: Apache-2.0
// Interprets captured graphs with plausible inputs: each runs, and its results are finite. Those of
// tests/graph/captures, and more in the folder that TILE_GRAPHS names.
#include "base/file.h"
#include "graph/read/fx.h"
#include "graph/reference/inputs.h"
#include "graph/reference/interpret.h"
#include "graph_fixture.h"

#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>

// Masks that are added to scores hold -inf.
static bool is_mask(const struct value *v) { return v->def && v->def->op == OP_WHERE_SELF; }

static void check_finite(const char *name, const struct value *v, const struct tensor *t) {
  for (int64_t i = 0; dtype_is_float(t->dtype) && i < t->numel; i++) {
    const double x = t->at[i].real;
    if (!(isfinite(x) ? fabs(x) < 1e6 : isinf(x) && is_mask(v)))
      ck_abort_msg("%s: %s[%lld] is %g", name, v->name, (long long)i, x);
  }
}

static void run_graph(const char *name, const struct graph *g) {
  const struct interpret_options options = {.seed = 3};
  const size_t outputs = g->outputs.len + g->mutations.len;
  struct tensor **in = calloc(g->inputs.len + 1, sizeof *in),
                **out = calloc(outputs + 1, sizeof *out);
  ck_assert_msg(graph_make_inputs(g, NULL, 7, in), "%s", name);
  bool ok = graph_interpret(g, &options, NULL, in, out);
  ck_assert_msg(ok, "%s: %s", name, diag_first_error(g->diag));
  for (size_t i = 0; i < outputs; i++) {
    const struct value *v =
        i < g->outputs.len ? g->outputs.at[i] : g->mutations.at[i - g->outputs.len].value;
    ck_assert_int_eq(v == NULL, out[i] == NULL);
    if (v)
      check_finite(name, v, out[i]);
    tensor_destroy(out[i]);
  }
  for (size_t i = 0; i < g->inputs.len; i++)
    tensor_destroy(in[i]);
  free(in);
  free(out);
}

static unsigned run_folder(const char *folder) {
  unsigned count = 0;
  DIR *d = opendir(folder);
  ck_assert_msg(d != NULL, "%s", folder);
  for (struct dirent *e; (e = readdir(d));) {
    struct arena *a = arena_create();
    struct str text;
    if (str_ends(str_from(e->d_name), ".py")) {
      const char *path = arena_printf(a, "%s/%s", folder, e->d_name);
      ck_assert_int_eq(file_read(a, path, SOURCE_MAX_BYTES, &text), 0);
      run_graph(e->d_name, graph_fixture_in(a, e->d_name, text));
      count++;
    }
    arena_destroy(a);
  }
  closedir(d);
  return count;
}

START_TEST(captures) { ck_assert_uint_ge(run_folder(CAPTURES), 6); }
END_TEST

START_TEST(more_captures) {
  const char *folder = getenv("TILE_GRAPHS");
  if (folder)
    ck_assert_uint_gt(run_folder(folder), 0);
}
END_TEST

int main(void) {
  Suite *s = suite_create("reference-captures");
  TCase *t = tcase_create("reference-captures");
  tcase_set_timeout(t, 1200);
  tcase_add_test(t, captures);
  tcase_add_test(t, more_captures);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
