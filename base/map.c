// SPDX-License-Identifier: Apache-2.0
// Open addressing with linear probing, at most three quarters full. Entries are never removed. The
// hash is seeded with addresses, which differ from process to process (and from table to table).
#include "base/map.h"

#include <assert.h>

__extension__ typedef unsigned __int128 wide;

static uint64_t fold(uint64_t a, uint64_t b) {
  wide product = (wide)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_seed(const struct map *m) {
  static const char anchor = 0;
  return (uint64_t)(uintptr_t)m->slots ^ ((uint64_t)(uintptr_t)&anchor << 20);
}

static uint64_t hash_str(const struct map *m, struct str s) {
  uint64_t h = fold(hash_seed(m) ^ 0x9e3779b97f4a7c15u, s.len ^ 0xd6e8feb86659fd93u);
  for (size_t i = 0; i < s.len; i += 8) {
    uint64_t word = 0;
    memcpy(&word, s.ptr + i, s.len - i < 8 ? s.len - i : 8);
    h = fold(h ^ word, 0xa0761d6478bd642fu);
  }
  return h ^ (h >> 29);
}

static uint64_t hash_ptr(const struct map *m, const void *p) {
  uint64_t h = fold((uint64_t)(uintptr_t)p ^ hash_seed(m), 0x9e3779b97f4a7c15u);
  return h ^ (h >> 29);
}

// The slot of `key`, or the free slot for it. Pointer maps compare addresses.
static struct map_entry *find_slot(const struct map *m, struct str key, bool by_address) {
  uint64_t h = by_address ? hash_ptr(m, key.ptr) : hash_str(m, key);
  for (size_t i = h & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
    struct map_entry *e = &m->slots[i];
    if (!e->key.ptr || (by_address ? e->key.ptr == key.ptr : str_eq(e->key, key)))
      return e;
  }
}

static bool grow(struct arena *a, struct map *m, bool by_address) {
  if ((m->count + 1) * 4 <= m->cap * 3)
    return true;
  struct map bigger = {.count = m->count, .cap = m->cap ? m->cap * 2 : 16};
  bigger.slots = arena_array(a, struct map_entry, bigger.cap);
  if (!bigger.slots)
    return false;
  for (size_t i = 0; i < m->cap; i++)
    if (m->slots[i].key.ptr)
      *find_slot(&bigger, m->slots[i].key, by_address) = m->slots[i];
  *m = bigger;
  return true;
}

static void put(struct arena *a, struct map *m, struct str key, void *value, bool by_address) {
  if (!grow(a, m, by_address))
    return;
  struct map_entry *e = find_slot(m, key, by_address);
  if (!e->key.ptr) {
    if (!by_address)
      key.ptr = arena_strndup(a, key.ptr, key.len);
    if (!key.ptr)
      return;
    e->key = key;
    m->count++;
  }
  e->value = value;
}

void *map_get(const struct map *m, struct str key) {
  return m->cap ? find_slot(m, key, false)->value : NULL;
}

void map_put(struct arena *a, struct map *m, struct str key, void *value) {
  put(a, m, key, value, false);
}

void *ptrmap_get(const struct map *m, const void *key) {
  if (!m->cap || !key)
    return NULL;
  return find_slot(m, (struct str){key, 0}, true)->value;
}

void ptrmap_put(struct arena *a, struct map *m, const void *key, void *value) {
  assert(key && "a null pointer is no key");
  put(a, m, (struct str){key, 0}, value, true);
}

bool map_next(const struct map *m, size_t *cursor, struct map_entry *ret) {
  while (*cursor < m->cap) {
    const struct map_entry *e = &m->slots[(*cursor)++];
    if (e->key.ptr) {
      *ret = *e;
      return true;
    }
  }
  return false;
}
