// SPDX-License-Identifier: Apache-2.0
// Matrix products from the command line:
//   test-matmul cpu|cuda|simulate:TARGET [shapes|forms|batches|attention|random...] [--count N]
//   [--seed N]
//   [--repeats N]
//               [--every K] [--match TEXT] [--case NAME] [--target T] [--list] [--print]
// Without parts all are run. --count random cases start at --seed; --repeats launches of each case
// must give the same bits; --target sm_80 tests that path on newer GPUs. Other options are those
// of the conformance suite.
#include "product.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct part {
  const char *name;
  void (*run)(struct suite *s, const struct settings *t);
} parts[] = {{"shapes", test_shapes},
             {"forms", test_forms},
             {"batches", test_batches},
             {"attention", test_attention},
             {"random", test_random}};

static bool find_part(const char *name, bool wanted[COUNT_OF(parts)]) {
  for (size_t i = 0; i < COUNT_OF(parts); i++)
    if (strcmp(parts[i].name, name) == 0)
      return wanted[i] = true;
  return false;
}

static bool read_value(const char *name, const char *value, struct options *o, struct settings *t) {
  if (strcmp(name, "--every") == 0)
    o->every = (unsigned)strtoul(value, NULL, 10);
  else if (strcmp(name, "--repeats") == 0)
    o->repeats = (unsigned)strtoul(value, NULL, 10);
  else if (strcmp(name, "--count") == 0)
    t->count = strtoul(value, NULL, 10);
  else if (strcmp(name, "--seed") == 0)
    t->seed = strtoul(value, NULL, 10);
  else if (strcmp(name, "--match") == 0)
    o->match = value;
  else if (strcmp(name, "--case") == 0)
    o->only = value;
  else if (strcmp(name, "--target") == 0)
    o->target = value;
  else
    return false;
  return true;
}

static bool read_options(int argc, char **argv, struct options *o, struct settings *t,
                         bool wanted[COUNT_OF(parts)]) {
  bool some = false;
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];
    if (strcmp(a, "--list") == 0)
      o->list = true;
    else if (strcmp(a, "--unchecked") == 0)
      o->unchecked = true;
    else if (strcmp(a, "--print") == 0)
      o->print = true;
    else if (a[0] != '-' && !o->device)
      o->device = a;
    else if (find_part(a, wanted))
      some = true;
    else if (i + 1 == argc || !read_value(a, argv[++i], o, t))
      return false;
  }
  for (size_t i = 0; i < COUNT_OF(parts) && !some; i++)
    wanted[i] = true;
  return o->device != NULL;
}

int main(int argc, char **argv) {
  struct suite s = {0};
  struct settings t = {.count = 200};
  bool wanted[COUNT_OF(parts)] = {false};
  if (!read_options(argc, argv, &s.o, &t, wanted)) {
    fprintf(stderr,
            "usage: %s cpu|cuda|simulate:TARGET [shapes|forms|batches|attention|random...] "
            "[--count N] [--seed N] "
            "[--repeats N] [--every K] [--match TEXT] [--case NAME] [--target T] [--list] "
            "[--print] [--unchecked]\n",
            argv[0]);
    return 2;
  }
  int skipped = suite_open(&s);
  if (skipped >= 0)
    return skipped;
  for (size_t i = 0; i < COUNT_OF(parts); i++)
    if (wanted[i])
      parts[i].run(&s, &t);
  return suite_close(&s);
}
