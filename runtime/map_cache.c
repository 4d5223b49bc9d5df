// SPDX-License-Identifier: Apache-2.0
// The encoded tensor maps of a module's last launches. A kernel is mostly launched with the same
// tensors, or with those of a few dozen layers: a launch that the cache has compares the arguments
// that the maps depend on and copies the maps.
#include "base/memory.h"
#include "runtime/launch_maps.h"
#include "runtime/runtime_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 16, WAYS = 4 };

// An argument that maps depend on.
struct used_param {
  uint32_t number, bytes;
};

struct map_cache {
  pthread_mutex_t lock;
  uint32_t used_count, map_count;
  struct used_param *used;
  uint64_t *keys;         // SETS * WAYS times used_count values
  struct map_bytes *maps; // SETS * WAYS times map_count
  uint8_t filled[SETS];   // ways in use
  uint8_t next[SETS];     // the way to replace
};

// ---- arguments ----

static void use(struct map_cache *c, const struct kernel_info *info, uint32_t number) {
  const struct kernel_param *p = &info->params[number];
  for (uint32_t i = 0; i < c->used_count; i++)
    if (c->used[i].number == number)
      return;
  uint32_t bytes = p->is_pointer ? sizeof(uint64_t) : dtype_bytes(p->dtype);
  c->used[c->used_count++] = (struct used_param){number, bytes};
}

static void use_expr(struct map_cache *c, const struct kernel_info *info,
                     const struct launch_expr *e) {
  for (uint32_t i = 0; i < e->count; i++)
    if (e->terms[i].op == LAUNCH_PARAM)
      use(c, info, (uint32_t)e->terms[i].number);
}

// The addresses first: they differ most.
static void use_all(struct map_cache *c, const struct kernel_info *info) {
  for (uint32_t i = 0; i < info->map_count; i++)
    use(c, info, info->maps[i].base);
  for (uint32_t i = 0; i < info->map_count; i++) {
    const struct kernel_map *m = &info->maps[i];
    use_expr(c, info, &m->offset);
    for (uint32_t k = 0; k < m->rank; k++)
      use_expr(c, info, &m->sizes[k]);
    for (uint32_t k = 0; k + 1 < m->rank; k++)
      use_expr(c, info, &m->strides[k]);
  }
}

struct map_cache *map_cache_create(const struct kernel_info *info) {
  struct map_cache *c = memory_zeroed(1, sizeof *c);
  if (!c)
    return NULL;
  pthread_mutex_init(&c->lock, NULL);
  c->map_count = info->map_count;
  c->used = memory_zeroed(info->param_count + 1, sizeof *c->used);
  if (c->used)
    use_all(c, info);
  c->keys = memory_zeroed((size_t)SETS * WAYS * (c->used_count + 1), sizeof *c->keys);
  c->maps = memory_aligned(_Alignof(struct map_bytes),
                           (size_t)SETS * WAYS * (c->map_count + 1) * sizeof *c->maps);
  if (c->used && c->keys && c->maps)
    return c;
  map_cache_destroy(c);
  return NULL;
}

void map_cache_destroy(struct map_cache *c) {
  if (!c)
    return;
  pthread_mutex_destroy(&c->lock);
  free(c->used);
  free(c->keys);
  free(c->maps);
  free(c);
}

// ---- launches ----

// Copies the arguments that the maps depend on and returns their set.
static uint32_t take_key(const struct map_cache *c, void *const *values, uint64_t *ret) {
  uint64_t h = 0;
  for (uint32_t i = 0; i < c->used_count; i++) {
    ret[i] = 0;
    memcpy(&ret[i], values[c->used[i].number], c->used[i].bytes);
    h = (h ^ ret[i]) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 32;
  }
  return (uint32_t)(h % SETS);
}

static bool find(struct map_cache *c, uint32_t set, const uint64_t *key, struct map_bytes *ret) {
  for (uint32_t way = 0; way < c->filled[set]; way++) {
    size_t slot = set * WAYS + way;
    uint32_t i = 0;
    while (i < c->used_count && c->keys[slot * c->used_count + i] == key[i])
      i++;
    if (i < c->used_count)
      continue;
    memcpy(ret, &c->maps[slot * c->map_count], c->map_count * sizeof *ret);
    return true;
  }
  return false;
}

static void keep(struct map_cache *c, uint32_t set, const uint64_t *key,
                 const struct map_bytes *maps) {
  size_t slot = set * WAYS + c->next[set];
  memcpy(&c->keys[slot * c->used_count], key, c->used_count * sizeof *key);
  memcpy(&c->maps[slot * c->map_count], maps, c->map_count * sizeof *maps);
  c->next[set] = (c->next[set] + 1) % WAYS;
  c->filled[set] += c->filled[set] < WAYS;
}

static tile_status encode_all(const struct kernel_info *info, void *const *values,
                              map_encode_fn encode, void *device, struct map_bytes *ret) {
  struct launch_map map;
  for (uint32_t i = 0; i < info->map_count; i++) {
    tile_status s = launch_map_of(info, i, values, &map);
    if (s != TILE_OK)
      return s;
    s = encode(device, &map, &ret[i]);
    if (s != TILE_OK)
      return status_set(s, "launch of `%s`: the tensor descriptor of `%s`: %s", info->name,
                        info->params[info->maps[i].base].name, tile_error_message());
  }
  return TILE_OK;
}

tile_status launch_maps_encode(struct map_cache *c, const struct kernel_info *info,
                               void *const *values, map_encode_fn encode, void *device,
                               struct map_bytes *ret) {
  uint64_t key[MAX_MAP_KERNEL_PARAMS];
  if (c->used_count > MAX_MAP_KERNEL_PARAMS) // refused
    return encode_all(info, values, encode, device, ret);
  uint32_t set = take_key(c, values, key);
  pthread_mutex_lock(&c->lock);
  bool found = find(c, set, key, ret);
  pthread_mutex_unlock(&c->lock);
  if (found)
    return TILE_OK;
  tile_status s = encode_all(info, values, encode, device, ret);
  if (s != TILE_OK)
    return s;
  pthread_mutex_lock(&c->lock);
  keep(c, set, key, ret);
  pthread_mutex_unlock(&c->lock);
  return TILE_OK;
}
