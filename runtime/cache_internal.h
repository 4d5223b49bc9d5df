// SPDX-License-Identifier: Apache-2.0
// Shared by the cache's reading and writing (cache.c) and its upkeep (cache_eviction.c).
#ifndef TILE_RUNTIME_CACHE_INTERNAL_H
#define TILE_RUNTIME_CACHE_INTERNAL_H

#include "runtime/runtime_internal.h"

#include <time.h>

#define CACHE_TEMPORARY ".new-" // how names of unfinished entries begin
#define CACHE_LIMIT_BYTES ((uint64_t)1 << 30)
#define CACHE_TUNE_SECONDS (30 * 24 * 3600) // that a file of CACHE_TUNE_FOLDER is kept

struct disk_cache {
  int dir;
};

// Upkeep if none was done within the hour: see disk_cache_clean.
void disk_cache_tend(struct disk_cache *c);

// Removes unfinished entries older than an hour at `now`, old files of CACHE_TUNE_FOLDER, then the
// entries that were not used for longest until at most `limit` bytes are left. One process at a
// time; false if another one is at it.
bool disk_cache_clean(struct disk_cache *c, uint64_t limit, time_t now);

#endif
