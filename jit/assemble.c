// SPDX-License-Identifier: Apache-2.0
// Machine code of GPU kernels in the disk cache. The driver's assembler takes longer than the whole
// compiler; assembling in several threads and caching the result makes programs with many kernels
// start fast. The key covers the PTX, the GPU's target and the driver.
#include "base/sha256.h"
#include "jit/jit_kernel.h"

#include <stdlib.h>
#include <string.h>

#define KEY_FORMAT "tile cubin 1"

static tile_status make_key(const tile_kernel *k, struct str ptx, uint8_t key[32]) {
  tile_device_properties p;
  tile_status s = tile_device_get_properties(k->device, &p);
  if (s != TILE_OK)
    return s;
  struct sha256 h;
  sha256_init(&h);
  sha256_field(&h, KEY_FORMAT, strlen(KEY_FORMAT));
  sha256_field(&h, p.target, strlen(p.target));
  sha256_field(&h, &p.driver_version, sizeof p.driver_version);
  sha256_field(&h, ptx.ptr, ptx.len);
  sha256_final(&h, key);
  return TILE_OK;
}

struct kept {
  struct disk_cache *cache;
  struct arena *arena;
  const uint8_t *key;
  struct str code;
  bool is_there;
};

static void get_kept(void *user) {
  struct kept *kept = user;
  struct str info;
  kept->is_there = disk_cache_get(kept->cache, kept->arena, kept->key, &info, &kept->code);
}

// A cached code that the driver rejects, or that cannot be read for lack of memory, is a miss.
static bool load_kept(tile_kernel *k, const struct jit_spec *spec, const uint8_t key[32],
                      struct module **ret) {
  struct kept kept = {.cache = k->cache, .arena = k->cache ? arena_create() : NULL, .key = key};
  bool done = kept.arena && arena_guard(kept.arena, get_kept, &kept) && kept.is_there &&
              module_load(k->device, kept.code.ptr, kept.code.len, &spec->info, ret) == TILE_OK;
  arena_destroy(kept.arena);
  return done;
}

// The optimizing assembler takes up to three times as long for products in loops. For other code
// the tier-1 result is the same, or saves nothing.
static bool assembles_faster_at_tier1(struct str ptx) {
  return strstr(ptx.ptr, "\tmma.sync") || strstr(ptx.ptr, "wgmma.mma_async");
}

tile_status jit_assemble(tile_kernel *k, const struct jit_spec *spec, enum assembly how,
                         enum assembly *ret_how, struct module **ret) {
  uint8_t key[32];
  tile_status s = make_key(k, spec->code, key);
  *ret_how = ASSEMBLY_OPTIMIZED;
  if (s != TILE_OK || load_kept(k, spec, key, ret))
    return s;
  if (k->is_kept_only)
    return jit_not_kept(k);
  if (how == ASSEMBLY_TIER1 && assembles_faster_at_tier1(spec->code))
    *ret_how = ASSEMBLY_TIER1;
  void *code = NULL;
  size_t size = 0;
  s = module_assemble(k->device, spec->code.ptr, spec->code.len, *ret_how, &code, &size);
  if (s == TILE_COMPILE_ERROR && *ret_how == ASSEMBLY_TIER1) { // products serialised, say
    *ret_how = ASSEMBLY_OPTIMIZED;
    s = module_assemble(k->device, spec->code.ptr, spec->code.len, *ret_how, &code, &size);
  }
  if (s == TILE_OK)
    s = module_load(k->device, code, size, &spec->info, ret);
  if (s == TILE_OK && k->cache && *ret_how == ASSEMBLY_OPTIMIZED)
    disk_cache_put(k->cache, key, STR("{}"), (struct str){code, size});
  free(code);
  return s;
}
