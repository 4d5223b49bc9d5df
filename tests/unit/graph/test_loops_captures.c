// SPDX-License-Identifier: Apache-2.0
// Lowers captured graphs to loops and regions; compares the results of small ones. The folder is
// that of the environment variable TILE_GRAPHS, else tests/graph/captures. Prints the number of
// stages and regions of each.
#include "base/file.h"
#include "captures.h"
#include "loops_check.h"
#include "regions_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct captures captures;

// An estimate of the cost of interpreting the loops.
static double work_of(const struct loops *l) {
  double work = 0;
  for (size_t i = 0; i < l->stages.len; i++) {
    const struct stage *s = l->stages.at[i];
    double indices = 1;
    for (uint32_t k = 0; k < s->rank + s->reduced; k++)
      indices *= (double)expr_hint(s->axes[k]->symbol->limit);
    work += s->kind == STAGE_PRODUCT ? indices : 20 * indices;
  }
  return work;
}

static void count_kinds(const struct loops *l, const char *name, double work) {
  size_t kinds[STAGE_ATTENTION + 1] = {0};
  for (size_t i = 0; i < l->stages.len; i++)
    kinds[l->stages.at[i]->kind]++;
  printf("# %s: %zu stages (%zu maps, %zu reductions, %zu scans, %zu scatters, %zu products, %zu "
         "attention), work %.1e\n",
         name, l->stages.len, kinds[STAGE_MAP], kinds[STAGE_REDUCE], kinds[STAGE_SCAN],
         kinds[STAGE_SCATTER], kinds[STAGE_PRODUCT], kinds[STAGE_ATTENTION], work);
  fflush(stdout);
}

static void count_regions(const struct regions *r, const char *name) {
  size_t kinds[REGION_SCATTER + 1] = {0};
  for (size_t i = 0; i < r->list.len; i++)
    kinds[r->list.at[i]->kind]++;
  printf("# %s: %zu regions (%zu maps, %zu rows, %zu rows and columns, %zu scans, %zu products, "
         "%zu attention, %zu scatters)\n",
         name, r->list.len, kinds[REGION_MAP], kinds[REGION_ROWS], kinds[REGION_ROW_COLUMN],
         kinds[REGION_SCAN], kinds[REGION_PRODUCT], kinds[REGION_ATTENTION], kinds[REGION_SCATTER]);
  fflush(stdout);
}

START_TEST(capture) {
  const char *name = captures.names[_i];
  struct arena *a = arena_create();
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", captures.folder, name);
  struct str text;
  ck_assert_msg(file_read(a, path, SOURCE_MAX_BYTES, &text) == 0, "%s", path);
  struct graph *g = graph_of_text(a, text, name);
  struct loops *l = loops_of(g, name);
  double work = work_of(l);
  count_kinds(l, name, work);
  if (getenv("TILE_TEST_PRINT")) {
    struct strbuf out = {0};
    loops_print(l, &out);
    printf("%s\n", strbuf_cstr(&out));
    strbuf_finish(&out);
  }
  struct regions *r = regions_form(l, &(struct fuse_options){0});
  ck_assert_ptr_nonnull(r);
  count_regions(r, name);
  regions_hold(r, name);
  const char *most = getenv("LOOPS_WORK");
  if (work <= (most ? atof(most) : 5e8)) {
    loops_agree(g, l, NULL, name);
    loops_agree(g, loops_of_regions(r), NULL, name);
  }
  arena_destroy(a);
}
END_TEST

int main(void) {
  captures_find(&captures);
  Suite *s = suite_create("loops-captures");
  TCase *c = tcase_create("captures");
  tcase_set_timeout(c, 300);
  tcase_add_loop_test(c, capture, 0, captures.count);
  suite_add_tcase(s, c);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  captures_finish(&captures);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
