// SPDX-License-Identifier: Apache-2.0
// The conformance suite from the command line:
//   test-language cpu|cuda|simulate:TARGET [FAMILY...] [--every K] [--match TEXT] [--case NAME]
//   [--target T]
//   [--list]
//     [--print] [--unchecked]
//   test-language cpu --export FOLDER [...]: kernels as files, for tests/same-code
// Without families all are run; "shared" means those that use shared memory. Cases are
// counted over all given families; --every K runs each K-th. The plan is empty without a
// GPU.
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct family {
  const char *name;
  bool shared;
  void (*run)(struct suite *s);
};

static const struct family families[] = {
#define X(name, shared) {#name, shared, family_##name},
    FAMILIES(X)
#undef X
};

static bool find_family(const char *name, bool wanted[COUNT_OF(families)]) {
  bool found = false;
  for (size_t i = 0; i < COUNT_OF(families); i++)
    if (strcmp(families[i].name, name) == 0 || (families[i].shared && strcmp(name, "shared") == 0))
      found = wanted[i] = true;
  return found;
}

static bool read_options(int argc, char **argv, struct options *o,
                         bool wanted[COUNT_OF(families)]) {
  bool some = false;
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];
    bool has_next = i + 1 < argc;
    if (strcmp(a, "--list") == 0)
      o->list = true;
    else if (strcmp(a, "--unchecked") == 0)
      o->unchecked = true;
    else if (strcmp(a, "--print") == 0)
      o->print = true;
    else if (strcmp(a, "--every") == 0 && has_next)
      o->every = (unsigned)strtoul(argv[++i], NULL, 10);
    else if (strcmp(a, "--match") == 0 && has_next)
      o->match = argv[++i];
    else if (strcmp(a, "--case") == 0 && has_next)
      o->only = argv[++i];
    else if (strcmp(a, "--export") == 0 && has_next)
      o->export_to = argv[++i];
    else if (strcmp(a, "--target") == 0 && has_next)
      o->target = argv[++i];
    else if (a[0] != '-' && !o->device)
      o->device = a;
    else if (find_family(a, wanted))
      some = true;
    else
      return false;
  }
  for (size_t i = 0; i < COUNT_OF(families) && !some; i++)
    wanted[i] = true;
  return o->device != NULL;
}

int main(int argc, char **argv) {
  struct suite s = {0};
  bool wanted[COUNT_OF(families)] = {false};
  if (!read_options(argc, argv, &s.o, wanted)) {
    fprintf(stderr,
            "usage: %s cpu|cuda|simulate:TARGET [FAMILY...|shared] [--every K] [--match TEXT] "
            "[--case NAME] [--target T] [--export FOLDER] [--list] [--print] "
            "[--unchecked]\n",
            argv[0]);
    return 2;
  }
  int skipped = suite_open(&s);
  if (skipped >= 0)
    return skipped;
  for (size_t i = 0; i < COUNT_OF(families); i++)
    if (wanted[i])
      families[i].run(&s);
  return suite_close(&s);
}
