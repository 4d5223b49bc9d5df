// SPDX-License-Identifier: Apache-2.0
// Rings of specialize-warps: their buffers, maps and mbarriers, the copies that fill them and the
// reads that empty them.
#ifndef TILE_LOWERING_PASSES_SPECIALIZE_WARPS_RINGS_H
#define TILE_LOWERING_PASSES_SPECIALIZE_WARPS_RINGS_H

#include "base/vec.h"
#include "lowering/pass.h"
#include "lowering/passes/map_stores.h"
#include "lowering/passes/producer_maps.h"
#include "lowering/passes/specialize_warps_clusters.h"
#include "lowering/plan/register_shares.h"
#include "lowering/plan/ring_sites.h"
#include "mlir-dialects/rings.h"

struct ring {
  struct ring_ref ref;
  MlirValue buffers[MAX_SITE_LOADS];
  unsigned buffer_count;
  uint32_t bytes; // of a slot
};

// A load of a site: map_load of the warps that compute, and of the producer.
struct ring_load {
  MlirOperation op, copy;
  uint32_t map;
  int32_t ctas; // that share it; 0: none do
};

struct specialization {
  struct pass_context *p;
  struct ir_context *c;
  MlirOperation module, kernel;
  VEC(MlirOperation) loads, copies; // in program order
  uint32_t *load_maps;              // [load]
  int32_t *load_ctas;               // [load]: how many CTAs share it; 0: none do
  struct ring_sites sites;
  struct ring *rings; // [sites.ring_count]
  struct map_stores stores;
  struct producer_maps made;
  uint32_t store_bytes; // at least
  struct register_shares shares;
  struct kernel_map *maps; // of the loads and stores
  struct cluster_loads clusters;
};

// Takes the maps from the module: those that copies and stores use are added again.
void specialization_take_maps(struct specialization *s);
// Buffers and maps of all rings.
void specialization_open_rings(struct specialization *s, struct builder *b);
// The mbarriers of all rings; other CTAs may use them behind the barrier of the cluster.
void specialization_init_rings(struct specialization *s, struct builder *b);
// Copies to the slots of a site, by the producer, instead of its loads.
void specialization_fill_ring(struct specialization *s, const struct ring_site *site);
// Reads of the slots of a site, by the warps that compute, instead of its loads.
void specialization_drain_ring(struct specialization *s, const struct ring_site *site);
// At the end of `computing`, behind the release of slots that are read outside of loops.
void specialization_end_rings(struct specialization *s, MlirBlock computing, MlirLocation loc);
// Does a cluster share copies to a ring?
bool specialization_shares_rings(const struct specialization *s);
// Shared memory that the rings leave, without that of barriers, in bytes.
uint32_t specialization_room(const struct specialization *s);
// Erases the op; where results have uses, which are dead, constants replace them.
void specialization_drop(struct specialization *s, MlirOperation op);
void specialization_set_number(struct specialization *s, const char *name, uint32_t number);

#endif
