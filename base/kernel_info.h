// SPDX-License-Identifier: Apache-2.0
// A compiled kernel's metadata: parameters, launch options, resources. Written by the compiler,
// stored in caches and packs, read by the runtime: the interface between them.
#ifndef TILE_BASE_KERNEL_INFO_H
#define TILE_BASE_KERNEL_INFO_H

#include "base/arena.h"
#include "base/dtype.h"
#include "base/json.h"
#include "base/launch_expr.h"

// A run-time parameter, in the order of the kernel's arguments. Compile-time parameters are not
// listed: their values are part of the kernel.
struct kernel_param {
  const char *name;
  bool is_pointer;
  enum dtype dtype;      // of the scalar, or of the pointee
  uint32_t divisible_by; // guaranteed by the caller: address in bytes, or integer value; 1: none
  bool is_const;         // pointer never stored through
  // The base of a tensor descriptor of that rank: its sizes (i32) and strides (i64), but for the
  // last, which is 1, are the 2 * rank - 1 parameters behind it. 0: no descriptor
  uint32_t descriptor_rank;
  uint32_t block[5]; // elements, powers of two
  bool pads_nan;
};

// The number of parameters that an argument is: `p` and those of its descriptor.
static inline uint32_t kernel_param_span(const struct kernel_param *p) {
  return p->descriptor_rank ? 2 * p->descriptor_rank : 1;
}

enum { KERNEL_MAP_RANK = 5, KERNEL_MAP_BOX = 256, KERNEL_MAP_BYTES = 128, KERNEL_MAX_MAPS = 32 };

// A tensor map (PTX ISA, "Tensor Map"; cuTensorMapEncodeTiled) that each launch encodes from the
// arguments and passes by value, behind the other parameters. Dimensions as in the source: the last
// is contiguous. Elements outside of the tensor are zero, or NaN.
struct kernel_map {
  enum dtype dtype;
  uint32_t rank;                               // 1 to KERNEL_MAP_RANK
  uint32_t base;                               // number of the pointer parameter
  struct launch_expr offset;                   // of the first element from the base, in elements
  struct launch_expr sizes[KERNEL_MAP_RANK];   // elements; less than 1 counts as 1
  struct launch_expr strides[KERNEL_MAP_RANK]; // elements, of all dimensions but the last
  uint32_t box[KERNEL_MAP_RANK];               // elements
  uint32_t swizzle;                            // bytes: 0, 32, 64, 128
  bool pads_nan;
  // 0: as above. n: the kernel makes it itself, as the n-th such map, from values that the launch
  // does not know; it has no base, offset, sizes and strides then, and is not in a kernel_info.
  uint32_t made;
};

// The dimension of the rows of a map's blocks, which are matrices: the only one in front of the
// last with more than one element; if there is none, the one beside the last. The rank is at
// least 2.
static inline uint32_t kernel_map_rows(const struct kernel_map *m) {
  for (uint32_t i = 0; i + 1 < m->rank; i++)
    if (m->box[i] > 1)
      return i;
  return m->rank - 2;
}

struct kernel_info {
  const char *name;   // also the symbol in PTX and CPU code
  const char *target; // "sm_90a", "cpu"
  uint32_t num_warps;
  uint32_t producer_warps; // further warps of a CTA, behind the num_warps that compute
  uint32_t num_stages;
  // CTAs of a cluster, 2 to 16, along the grid's first dimension; launches whose grid is no
  // multiple have none, and the kernel notices. 0: no clusters
  uint32_t num_ctas;
  // Launched with programmatic stream serialization: it may begin while the kernel in front of it
  // in the stream runs, and waits itself (griddepcontrol.wait).
  bool launch_pdl;
  uint32_t shared_bytes; // dynamic shared memory per CTA
  bool uses_collectives; // cpu: threads must run as fibers (barriers, shuffles, shared memory)
  // cpu: the code is called once per program, not per thread, and shared memory is its scratch
  bool calls_programs;
  uint32_t param_count;
  struct kernel_param *params;
  uint32_t map_count;
  struct kernel_map *maps;
};

enum { KERNEL_MAX_CTAS = 16 };

static inline bool kernel_ctas_are_valid(uint32_t n) {
  return n == 0 || (n > 1 && n <= KERNEL_MAX_CTAS && (n & (n - 1)) == 0);
}

// The clusters of a launch with so many programs in the first dimension; 1: none.
static inline uint32_t kernel_info_cluster(const struct kernel_info *info, uint32_t programs) {
  return info->num_ctas && programs % info->num_ctas == 0 ? info->num_ctas : 1;
}

// Threads of a CTA.
static inline uint32_t kernel_info_threads(const struct kernel_info *info) {
  return 32 * (info->num_warps + info->producer_warps);
}

// JSON with fixed key order, so that equal infos give equal text.
void kernel_info_write(const struct kernel_info *info, struct json_writer *w);
// False when a field is missing or of the wrong kind. Strings are copied to `a`.
bool kernel_info_read(struct arena *a, const struct json *j, struct kernel_info *ret);

// The maps alone, as an array. Reading needs the parameters: false if a map does not fit them.
void kernel_maps_write(const struct kernel_info *info, struct json_writer *w);
const char *kernel_maps_text(struct arena *a, const struct kernel_info *info); // NULL: no maps
bool kernel_maps_read(struct arena *a, const struct json *j, struct kernel_info *info);

#endif
