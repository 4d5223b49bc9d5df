// SPDX-License-Identifier: Apache-2.0
// Tensor maps: 128 opaque bytes that describe an array in global memory and a box of it (PTX ISA,
// "Tensors"; CUDA driver API, "Tensor Map Object Management"). The encoding is the simulator's own.
#ifndef TILE_SIMULATOR_TENSOR_MAP_H
#define TILE_SIMULATOR_TENSOR_MAP_H

#include "ptx-simulator/simulator.h"

enum { TENSOR_MAX_RANK = 5, TENSOR_CHUNK = 16 };

struct tensor_map {
  enum sim_tensor_type type;
  unsigned rank, element; // bytes of an element
  uint64_t address;
  uint64_t sizes[TENSOR_MAX_RANK], strides[TENSOR_MAX_RANK]; // strides in bytes
  unsigned box[TENSOR_MAX_RANK];
  unsigned swizzle; // bytes of its span; 16: none
  bool fill_nan;
};

// False if the bytes are no tensor map of the simulator.
bool tensor_map_decode(const uint8_t bytes[SIM_TENSOR_MAP_BYTES], struct tensor_map *ret);

// The fields of tensormap.replace, with its numbers.
enum tensor_field {
  FIELD_ADDRESS,
  FIELD_RANK, // less 1
  FIELD_BOX,
  FIELD_SIZE,
  FIELD_STRIDE, // bytes; of dimension + 1
  FIELD_ELEMENT_STRIDE,
  FIELD_TYPE,
  FIELD_INTERLEAVE,
  FIELD_SWIZZLE,
  FIELD_FILL,
};
// Changes a field of a map, or of 128 zero bytes, which become a map when all fields were set. False,
// with the reason in ret_text, for values that the driver would refuse and for other bytes.
bool tensor_map_replace(uint8_t bytes[SIM_TENSOR_MAP_BYTES], enum tensor_field field, unsigned dim,
                        uint64_t value, char *ret_text, size_t text_size);
unsigned tensor_map_box_bytes(const struct tensor_map *m); // in shared memory
// The bytes that an element outside of the array has in shared memory.
void tensor_map_fill(const struct tensor_map *m, uint8_t *ret);

// Up to 16 bytes of a box: aligned to their number in global memory, within a chunk of 16 bytes in
// shared memory.
struct tensor_piece {
  uint32_t shared; // address, after the swizzle
  unsigned bytes;
  bool is_inside;
  uint64_t global; // if inside
};
// Visits a box at these coordinates from shared address `shared` on; false as soon as visit does. To
// a store, elements behind the end of a row are inside if the row ends in their chunk.
bool tensor_map_visit(const struct tensor_map *m, bool is_store, const int32_t *at, uint32_t shared,
                      bool (*visit)(void *user, const struct tensor_piece *piece), void *user);
// The same for `bytes` in sequence.
bool tensor_visit_bytes(uint64_t global, uint32_t shared, uint32_t bytes,
                        bool (*visit)(void *user, const struct tensor_piece *piece), void *user);

#endif
