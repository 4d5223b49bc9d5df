// SPDX-License-Identifier: Apache-2.0
// What to write for a file that is not there.
#ifndef TILE_TOOLS_FILE_HELP_H
#define TILE_TOOLS_FILE_HELP_H

#include "base/diag.h"

// Adds the file of the same folder whose name is nearest to that of `path` as a suggestion; `at` is
// the path on the command line (or SPAN_NONE). Without one: where paths count from.
void file_help(struct arena *a, struct diag *d, const char *path, struct span at);

#endif
