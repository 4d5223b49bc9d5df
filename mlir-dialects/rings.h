// SPDX-License-Identifier: Apache-2.0
// Tensor maps, and rings of buffers that copies through them fill, in the IR.
//
// The maps of a module (struct kernel_map in base/kernel_info.h) are its attribute `tile.maps`:
//
//   tile.maps = [{base = 0 : i32, dtype = "f16", offset = "0", sizes = ["p3", "p5"],
//                 strides = ["p6"], box = array<i32: 128, 64>, swizzle = 128 : i32,
//                 pads_nan = false}]
//
// Expressions are those of base/launch_expr.h as words: "p3 p4 mul" is parameter 3 times
// parameter 4. A map that the kernel makes itself has `made = 1 : i32` (2, 3, ...) in place of
// base, offset, sizes and strides: tile.map_make gives them.
//
// A ring is a set of buffers (tilegpu.local_alloc with as many copies as it has slots) and of
// mbarriers in shared memory, two for each slot: `full` ends a phase when the copies to the slot
// have arrived, `empty` when all warps that read it have released it. The producer fills slots in
// order, the other warps read and release them in the same order; the ops below know the positions.
// (Tawa, arXiv 2510.14719: put, get and consumed of an asynchronous reference.)
#ifndef TILE_MLIR_DIALECTS_RINGS_H
#define TILE_MLIR_DIALECTS_RINGS_H

#include "base/kernel_info.h"
#include "mlir-dialects/build.h"

// ---- maps ----
enum { MAP_STORE_ROWS = 16 }; // of a warp in an accumulator of wgmma

uint32_t module_map_count(MlirOperation module);
// On the context's arena. False if the attribute is malformed.
bool module_map(struct ir_context *c, MlirOperation module, uint32_t number,
                struct kernel_map *ret);
// Adds the map, unless there is an equal one; returns its number.
uint32_t module_map_add(struct ir_context *c, MlirOperation module, const struct kernel_map *map);

// The map describes this tensor from here on: sizes and strides (i64, in elements; all strides but
// the last, which is 1).
void build_map_make(struct builder *b, uint32_t map, unsigned rank, MlirValue base,
                    const MlirValue *sizes, const MlirValue *strides);

// The block of the tensor that begins at the offsets (i32, one for each dimension).
MlirValue build_map_load(struct builder *b, uint32_t map, unsigned rank, const MlirValue *offsets,
                         MlirType type);

// Writes the tile to the block that begins at the offsets; or combines it with what is there, by
// relaxed atomic operations of the elements: reduction is "add", "min", "max", "and", "or" or "xor"
// (PTX ISA, "cp.reduce.async.bulk.tensor"), else "".
void build_map_store(struct builder *b, uint32_t map, MlirValue value, unsigned rank,
                     const MlirValue *offsets, const char *reduction);
// The same from a buffer, by one thread, without waiting. A map has the layout of the buffer.
// warps > 0: by the first thread of each group of so many warps, which stores the rows that its
// warps wrote: MAP_STORE_ROWS a warp, in the order of the warps, again and again to the buffer's
// end. The box has the rows of one group.
void build_buffer_map_store(struct builder *b, uint32_t map, MlirValue buffer, unsigned rank,
                            const MlirValue *offsets, int32_t warps, const char *reduction);
// Until the buffers of all earlier stores with the same `warps` were read; other threads (of the
// group) know after a barrier.
void build_map_wait(struct builder *b, int32_t warps);

// ---- maps that the producer makes ----
// In global memory that belongs to the CTA from maps_open to maps_close, by way of a buffer in
// shared memory (memdesc of MADE_MAP_WORDS i64 for each map, and as many to align it). All by the
// first thread of the producer.
enum { MADE_MAP_WORDS = 16 };

void build_maps_open(struct builder *b, MlirValue buffer);
void build_maps_close(struct builder *b);
// No copy by the map may be under way. map_make_joins: TMA sees the map from the next map_make of
// the block on, which publishes both at once.
MlirOperation build_made_map(struct builder *b, uint32_t map, MlirValue buffer, unsigned numbers,
                             MlirValue base, const MlirValue *sizes_and_strides);
void map_make_joins(struct ir_context *c, MlirOperation make);

// ---- rings ----
// A ring of a kernel with clusters may have copies that all CTAs of a cluster share (`ctas`, on its
// ring_init and on these copies): each CTA copies a part of the rows to the same offset in all of
// them. Then `empty` counts the warps of all CTAs, and a release goes to all of them. A CTA works
// for itself if `in_step` (i1; null: true) is false, which is so in all CTAs of a cluster or in
// none, and if the launch has no clusters. All CTAs of a cluster meet (cluster_barrier) behind the
// inits, and before the first of them ends.
struct ring_ref {
  MlirValue barriers; // memdesc of 2 * slots i64: full, then empty
  int32_t number, slots;
  int32_t ctas; // 0: nothing is shared
  MlirValue in_step;
};

// i1: is this one of the warps that only fill rings, behind those that compute? leader: is it their
// first thread?
MlirValue build_is_producer(struct builder *b, bool leader);
// Registers per thread of this warpgroup from here on: a multiple of 8 from 24 to 256 (PTX ISA,
// "setmaxnreg").
void build_set_registers(struct builder *b, int32_t count, bool grows);
enum ping_pong { PING_PONG_OPEN, PING_PONG_BEGIN, PING_PONG_END };
void build_ping_pong(struct builder *b, enum ping_pong step);
// All threads of the CTA, before any other op of the ring.
void build_ring_init(struct builder *b, const struct ring_ref *r);
// Waits until the next slot is empty; expects `bytes` in it. Returns its number (i32).
MlirValue build_ring_empty(struct builder *b, const struct ring_ref *r, int32_t bytes);
// Copies a block to the buffer without waiting; counted by the ring's slot `slot`.
// ctas > 0: shared by so many CTAs.
void build_map_copy(struct builder *b, const struct ring_ref *r, uint32_t map, MlirValue buffer,
                    MlirValue slot, unsigned rank, const MlirValue *offsets, int32_t ctas);
// Waits until all copies to the ring so far have arrived. By the thread that fills it.
void build_ring_drain(struct builder *b, const struct ring_ref *r);
// Waits until the next slot is full. Returns its number (i32).
MlirValue build_ring_full(struct builder *b, const struct ring_ref *r);
// Releases slots in order until this warp holds at most `keep`.
void build_ring_release(struct builder *b, const struct ring_ref *r, int32_t keep);
// All threads of all CTAs of the cluster meet.
void build_cluster_barrier(struct builder *b);
// A buffer of the ring is in use until here.
void build_ring_end(struct builder *b, MlirValue buffer);

#endif
