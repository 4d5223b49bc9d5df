// SPDX-License-Identifier: Apache-2.0
// The list of a CTA's bulk copies under way (bulk_copy.h), and questions about it.
#ifndef TILE_SIMULATOR_BULK_PENDING_H
#define TILE_SIMULATOR_BULK_PENDING_H

#include "ptx-simulator/mbarrier.h"
#include "ptx-simulator/tensor_map.h"

enum bulk_kind {
  BULK_LOAD,   // global to shared memory
  BULK_STORE,  // shared to global memory, reductions too
  BULK_ARRIVE, // no bytes: an arrival after the thread's earlier cp.async
};

struct reduction; // bulk_reduce.c

struct bulk_copy {
  enum bulk_kind kind;
  struct warp *w;
  const struct op *op;
  unsigned lane;
  struct cta *cta;        // whose shared memory it is; a copy to several CTAs is one for each
  uint32_t shared, bytes; // in shared memory
  uint64_t global;        // of a copy without a tensor map
  bool is_tensor;
  struct tensor_map map;
  int32_t at[TENSOR_MAX_RANK];       // coordinates
  const struct reduction *reduction; // of a store; NULL: it replaces
  unsigned mbarrier;                 // its number in `cta`: of a load or arrival
  uint32_t group;                    // of a store; of an arrival: the warp's copies before it
  bool is_late;                      // not before it has to
  bool is_done;                      // its bytes were copied
  bool is_read;                      // a store whose source was waited for
};

struct bulk_state {
  VEC(struct bulk_copy) copies;
};

// The pieces of a copy's bytes: false as soon as visit is.
bool bulk_visit(const struct bulk_copy *c,
                bool (*visit)(void *user, const struct tensor_piece *piece), void *user);
// With `check`: an access to global memory that a store of the CTA may still write.
void bulk_check_global(struct warp *w, const struct op *op, unsigned lane,
                       const struct location *at, unsigned bytes);
// The load under way to a byte of shared memory; the store that may still read it; or NULL.
const struct bulk_copy *bulk_of_byte(const struct cta *c, uint32_t byte, enum bulk_kind kind);
// The next load under way to an mbarrier of this number, after `last` or from the first on; or
// NULL.
const struct bulk_copy *bulk_next_load(const struct cta *c, const struct bulk_copy *last,
                                       unsigned mbarrier);

#endif
