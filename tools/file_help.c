// SPDX-License-Identifier: Apache-2.0
// Reads the folder of the path for names that are nearly the same.
#include "tools/file_help.h"

#include "base/vec.h"

#include <dirent.h>
#include <string.h>

enum { MOST_NAMES = 4096 };

void file_help(struct arena *a, struct diag *d, const char *path, struct span at) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const char *folder = slash ? arena_strndup(a, path, (size_t)(slash - path) + 1) : ".";
  VEC(const char *) names = {0};
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir && names.len < MOST_NAMES && (e = readdir(dir));)
    if (e->d_name[0] != '.')
      vec_push(a, &names, (const char *)arena_strdup(a, e->d_name));
  const char *near = names.len ? str_nearest(str_from(name), names.at, names.len) : NULL;
  if (near)
    diag_did_you_mean(d, at, slash ? arena_printf(a, "%s%s", folder, near) : near);
  else if (dir)
    diag_help(d, "check the name; paths count from the current folder");
  else
    diag_help(d, "there is no folder `%s`; paths count from the current folder", folder);
  if (dir)
    closedir(dir);
}
