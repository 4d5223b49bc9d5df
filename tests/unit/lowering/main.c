// SPDX-License-Identifier: Apache-2.0
// Runs the suites of lowering/: those of one group (`ir`, `emit`, `run`), or all.
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#define X(name) name##_tests,
static TCase *(*const ir[])(void) = {IR_SUITES(X) NULL};
static TCase *(*const emit[])(void) = {EMIT_SUITES(X) NULL};
static TCase *(*const run[])(void) = {RUN_SUITES(X) NULL};
#undef X

static const struct {
  const char *name;
  TCase *(*const *suites)(void);
} groups[] = {{"ir", ir}, {"emit", emit}, {"run", run}};

int main(int argc, char **argv) {
  Suite *s = suite_create("lowering");
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    for (size_t k = 0; groups[i].suites[k] && (argc < 2 || !strcmp(argv[1], groups[i].name)); k++)
      suite_add_tcase(s, groups[i].suites[k]());
  SRunner *runner = srunner_create(s);
  srunner_set_fork_status(runner, CK_NOFORK); // no test crashes on purpose; LeakSanitizer sees all
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
