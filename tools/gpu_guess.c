// SPDX-License-Identifier: Apache-2.0
// One folder per GPU, with a file `information` that has a line "Model: NVIDIA H200".
#include "tools/gpu_guess.h"

#include "base/file.h"

#include <dirent.h>

// Parts of model names, more specific ones first.
static const struct {
  const char *part, *target;
} models[] = {{"H100", "sm_90a"},  {"H200", "sm_90a"},  {"H800", "sm_90a"},  {"H20", "sm_90a"},
              {"GH200", "sm_90a"}, {"B200", "sm_100a"}, {"B100", "sm_100a"}, {"A100", "sm_80"},
              {"A800", "sm_80"},   {"A30", "sm_80"},    {"L40", "sm_89"},    {"L4", "sm_89"},
              {"RTX 40", "sm_89"}, {"Ada", "sm_89"},    {"A40", "sm_86"},    {"A10", "sm_86"},
              {"A6000", "sm_86"},  {"RTX 30", "sm_86"}};

static const char *target_of(struct str information) {
  struct str line;
  while (information.ptr) {
    information = str_split(information, '\n', &line);
    if (!str_starts(line, "Model:"))
      continue;
    for (size_t i = 0; i < COUNT_OF(models); i++) {
      size_t n = strlen(models[i].part);
      for (size_t k = 0; k + n <= line.len; k++)
        if (memcmp(line.ptr + k, models[i].part, n) == 0)
          return models[i].target;
    }
    return NULL;
  }
  return NULL;
}

const char *gpu_guess_target(struct arena *a, const char *folder) {
  DIR *d = opendir(folder);
  const char *target = NULL;
  bool agree = true;
  for (struct dirent *e; d && agree && (e = readdir(d));) {
    struct str text;
    if (e->d_name[0] == '.')
      continue;
    const char *path = arena_printf(a, "%s/%s/information", folder, e->d_name);
    const char *one = file_read(a, path, 1 << 16, &text) == 0 ? target_of(text) : NULL;
    agree = one && (!target || strcmp(one, target) == 0);
    target = one;
  }
  if (d)
    closedir(d);
  return agree ? target : NULL;
}
