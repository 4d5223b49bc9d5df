// SPDX-License-Identifier: Apache-2.0
// Addresses: state space and bytes of an access, checks of bounds and alignment.
#include "ptx-simulator/cluster.h"

static bool out_of_bounds(struct warp *w, const struct op *op, unsigned lane, enum sim_space space,
                          uint64_t address, unsigned bytes, uint64_t size) {
  struct memory_site at = {space, address, bytes};
  fault(w, op, lane, SIM_OUT_OF_BOUNDS, &at,
        "%u byte%s at offset 0x%llx of %s memory, which has %llu", bytes, bytes == 1 ? "" : "s",
        (unsigned long long)address, sim_space_name(space), (unsigned long long)size);
  return false;
}

// The buffer that contains the address: tries the last one used, then searches.
static const struct sim_buffer *find_buffer(struct run *r, uint64_t address) {
  if (r->last_buffer < r->buffer_count) {
    const struct sim_buffer *last = &r->buffers[r->last_buffer];
    if (address - last->address < last->size)
      return last;
  }
  size_t low = 0, high = r->buffer_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (r->buffers[middle].address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0)
    return NULL;
  const struct sim_buffer *b = &r->buffers[low - 1];
  if (address - b->address >= b->size)
    return NULL;
  r->last_buffer = low - 1;
  return b;
}

static bool locate_global(struct warp *w, const struct op *op, unsigned lane, uint64_t address,
                          unsigned bytes, int access, struct location *ret) {
  const struct sim_buffer *b = find_buffer(w->run, address);
  struct memory_site at = {SIM_GLOBAL, address, bytes};
  if (!b || b->size - (address - b->address) < bytes) {
    fault(w, op, lane, SIM_OUT_OF_BOUNDS, &at,
          "%u byte%s at global address 0x%llx, outside of every buffer", bytes,
          bytes == 1 ? "" : "s", (unsigned long long)address);
    return false;
  }
  if (access == ACCESS_WRITE && b->read_only) {
    fault(w, op, lane, SIM_READ_ONLY, &at, "a write to memory that is only to be read");
    return false;
  }
  ret->space = SIM_GLOBAL;
  ret->offset = address;
  ret->buffer = b;
  ret->bytes = (uint8_t *)b->base + (address - b->address);
  return true;
}

static bool in_window(uint64_t address, uint64_t window) { return address - window < WINDOW_BYTES; }

static enum sim_space resolve(enum sim_space space, uint64_t *address) {
  if (space != SIM_GENERIC)
    return space;
  space = in_window(*address, SHARED_WINDOW)  ? SIM_SHARED_CLUSTER
          : in_window(*address, LOCAL_WINDOW) ? SIM_LOCAL
          : in_window(*address, PARAM_WINDOW) ? SIM_PARAM
                                              : SIM_GLOBAL;
  if (space != SIM_GLOBAL)
    *address &= WINDOW_BYTES - 1;
  return space;
}

// The CTA of an address in shared::cluster, which becomes an offset.
static bool locate_cta(struct warp *w, const struct op *op, unsigned lane, uint64_t *address,
                       unsigned bytes, struct cta **ret) {
  struct memory_site at = {SIM_SHARED, *address, bytes};
  *ret = cluster_resolve(w->cta, address);
  if (!*ret)
    fault(w, op, lane, SIM_OUT_OF_BOUNDS, &at,
          "%u byte%s at shared::cluster address 0x%llx: the cluster has %u CTA%s", bytes,
          bytes == 1 ? "" : "s", (unsigned long long)at.address, w->cta->cluster->count,
          w->cta->cluster->count == 1 ? "" : "s");
  return *ret != NULL;
}

bool locate_bytes(struct warp *w, const struct op *op, unsigned lane, enum sim_space space,
                  uint64_t address, unsigned bytes, int access, struct location *ret) {
  const struct run *r = w->run;
  space = resolve(space, &address);
  struct cta *c = w->cta;
  if (space == SIM_SHARED_CLUSTER && !locate_cta(w, op, lane, &address, bytes, &c))
    return false;
  if (space == SIM_SHARED && address >> 24 == c->rank)
    address -= cluster_address(c->rank, 0);
  if (space == SIM_SHARED_CLUSTER)
    space = SIM_SHARED;
  if (space == SIM_GLOBAL || space == SIM_CONST)
    return locate_global(w, op, lane, address, bytes, access, ret);
  uint64_t size = space == SIM_SHARED  ? r->shared_bytes
                  : space == SIM_LOCAL ? w->program->local_bytes
                                       : w->program->kernel.param_bytes;
  if (address > size || size - address < bytes)
    return out_of_bounds(w, op, lane, space, address, bytes, size);
  if (c != w->cta && !cluster_check_access(w, op, lane, c, address, bytes))
    return false;
  ret->space = space;
  ret->cta = c;
  ret->offset = address;
  ret->bytes = space == SIM_SHARED  ? c->shared + address
               : space == SIM_LOCAL ? w->local + (size_t)lane * w->program->local_bytes + address
                                    : r->params + address;
  if (space == SIM_PARAM && access == ACCESS_WRITE) {
    struct memory_site at = {space, address, bytes};
    fault(w, op, lane, SIM_READ_ONLY, &at, "a write to the kernel's parameters");
    return false;
  }
  return true;
}

bool locate(struct warp *w, const struct op *op, unsigned lane, enum sim_space space,
            uint64_t address, unsigned bytes, int access, struct location *ret) {
  space = resolve(space, &address);
  if (address & (bytes - 1)) {
    struct memory_site at = {space, address, bytes};
    fault(w, op, lane, SIM_MISALIGNED, &at,
          "%u bytes at %s address 0x%llx, which is no multiple of %u", bytes, sim_space_name(space),
          (unsigned long long)address, bytes);
    return false;
  }
  return locate_bytes(w, op, lane, space, address, bytes, access, ret);
}
