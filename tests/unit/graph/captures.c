// SPDX-License-Identifier: Apache-2.0
// Captured graphs by name, in the tests' folder or in the one that TILE_GRAPHS names.
#include "captures.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

void captures_find(struct captures *c) {
  const char *folder = getenv("TILE_GRAPHS");
  *c = (struct captures){.folder = folder && *folder ? folder : CAPTURES};
  DIR *d = opendir(c->folder);
  for (struct dirent *e; d && (e = readdir(d)) && c->count < MAX_CAPTURES;) {
    size_t n = strlen(e->d_name);
    if (n > 3 && strcmp(e->d_name + n - 3, ".py") == 0)
      c->names[c->count++] = strdup(e->d_name);
  }
  if (d)
    closedir(d);
  qsort(c->names, (size_t)c->count, sizeof *c->names, by_name);
}

void captures_finish(struct captures *c) {
  for (int i = 0; i < c->count; i++)
    free(c->names[i]);
  c->count = 0;
}
