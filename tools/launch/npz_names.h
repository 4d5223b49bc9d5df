// SPDX-License-Identifier: Apache-2.0
// Names of the arrays in a .npz file, a ZIP archive of .npy files (PKWARE, APPNOTE.TXT 4.3: the
// central directory at the end), for messages.
#ifndef TILE_TOOLS_LAUNCH_NPZ_NAMES_H
#define TILE_TOOLS_LAUNCH_NPZ_NAMES_H

#include "base/arena.h"

enum { NPZ_MOST_NAMES = 8 };

// The first names, without `.npy`, on `a`; returns their number, 0 if the file is no such archive.
size_t npz_names(struct arena *a, const char *path, const char *ret[NPZ_MOST_NAMES]);

#endif
