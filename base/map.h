// SPDX-License-Identifier: Apache-2.0
// Open-addressing hash maps on an arena: from strings (seeded per process, since names come from
// untrusted text) and from pointers (MLIR handles, AST nodes). Zero-initialise.
#ifndef TILE_BASE_MAP_H
#define TILE_BASE_MAP_H

#include "base/arena.h"
#include "base/str.h"

struct map_entry {
  struct str key; // for pointer maps: key.ptr is the pointer, key.len is 0
  void *value;
};

struct map {
  struct map_entry *slots;
  size_t count, cap;
};

// NULL if absent. Keys are copied into the arena on first insertion.
void *map_get(const struct map *m, struct str key);
void map_put(struct arena *a, struct map *m, struct str key, void *value);

void *ptrmap_get(const struct map *m, const void *key);
void ptrmap_put(struct arena *a, struct map *m, const void *key, void *value);

// Visits entries in unspecified order: `for (size_t i = 0; map_next(&m, &i, &e);)`.
bool map_next(const struct map *m, size_t *cursor, struct map_entry *ret);

#endif
