// SPDX-License-Identifier: Apache-2.0
// Shared by reading and writing entries (cache.c) and eviction (cache_eviction.c).
#ifndef TILE_RUNTIME_CACHE_INTERNAL_H
#define TILE_RUNTIME_CACHE_INTERNAL_H

#include "runtime/runtime_internal.h"

#include <time.h>

#define CACHE_TEMPORARY ".new-" // prefix of the names of unfinished entries
#define CACHE_LIMIT_BYTES ((uint64_t)1 << 30)
#define CACHE_TUNE_SECONDS (30 * 24 * 3600) // lifetime of a file in CACHE_TUNE_FOLDER

struct disk_cache {
  int dir;
};

// Evicts if the last eviction was more than an hour ago: see disk_cache_evict.
void disk_cache_evict_if_due(struct disk_cache *c);

// Removes unfinished entries older than an hour at `now`, old files of CACHE_TUNE_FOLDER, then the
// least recently used entries until at most `limit` bytes are left. Returns false if another
// process is evicting.
bool disk_cache_evict(struct disk_cache *c, uint64_t limit, time_t now);

#endif
