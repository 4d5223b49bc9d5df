// SPDX-License-Identifier: Apache-2.0
// The format of a pack, shared by reader and writer; docs/aot.md specifies it. All numbers are
// little-endian. A pack is a header, tables without gaps, texts, then the codes, each at a multiple
// of 64 with zeros between.
#ifndef TILE_RUNTIME_PACK_FORMAT_H
#define TILE_RUNTIME_PACK_FORMAT_H

#include "base/attrs.h"

#define PACK_MAGIC "TILEPACK"

enum {
  // 1: no code has tensor maps or producer warps; 2: no parameter is a tensor descriptor, and no
  // code has launch_pdl or clusters; 3: no code is for a processor
  PACK_VERSION = 4,
  PACK_ALIGN = 64,
  PACK_MAX_PARAMS = 256, // of one kernel
};

// Offsets of the header's fields.
enum {
  PACK_AT_MAGIC = 0,
  PACK_AT_VERSION = 8,      // u32
  PACK_AT_FLAGS = 12,       // u32, zero
  PACK_AT_FILE_BYTES = 16,  // u64
  PACK_AT_INDEX_BYTES = 24, // u64: header, tables and texts
  PACK_AT_COUNTS = 32,      // u32 of each enum pack_table
  PACK_AT_ZERO = 56,        // u64
  PACK_AT_SHA = 64,         // SHA-256 of [0, 64) and [96, index_bytes)
  PACK_HEADER_BYTES = 96,
};

enum pack_table {
  PACK_KERNELS,
  PACK_PARAMS,
  PACK_VARIANTS,
  PACK_HINTS, // one u32 for each parameter of each variant: 0: equals 1, else divisible by it
  PACK_CODES,
  PACK_TEXT, // NUL-terminated, addressed by offset; ends with a NUL
  PACK_TABLES
};

// Bytes of one entry of each table.
enum {
  PACK_KERNEL_BYTES = 32,
  PACK_PARAM_BYTES = 16,
  PACK_VARIANT_BYTES = 24,
  PACK_HINT_BYTES = 4,
  PACK_CODE_BYTES = 88,
};

// Kernel: u32 each.
enum {
  PACK_KERNEL_NAME = 0,           // text
  PACK_KERNEL_SOURCE_NAME = 4,    // text: its name in the .tile file
  PACK_KERNEL_CONSTANTS = 8,      // text: "BLOCK=1024", to show
  PACK_KERNEL_FIRST_PARAM = 12,   // tables are filled in order, without gaps or sharing
  PACK_KERNEL_PARAM_COUNT = 16,   //
  PACK_KERNEL_FIRST_VARIANT = 20, // most specific first
  PACK_KERNEL_VARIANT_COUNT = 24, // at least 1
  PACK_KERNEL_ZERO = 28,
};

enum {
  PACK_PARAM_NAME = 0,       // text
  PACK_PARAM_DTYPE = 4,      // u8: tile_type
  PACK_PARAM_IS_POINTER = 5, // u8
  PACK_PARAM_IS_CONST = 6,   // u8
  // u8: of the base of a tensor descriptor its rank, and 8 if it pads with NaN; else 0. Its sizes
  // and strides are the 2 * rank - 1 parameters behind it
  PACK_PARAM_DESCRIPTOR = 7,
  PACK_PARAM_DIVISIBLE = 8, // u32: divisibility of every argument
  // u32: of such a base the logarithms of the block's sizes, 5 bits each, the first one lowest
  PACK_PARAM_BLOCK = 12,
};
enum { PACK_DESCRIPTOR_RANK = 7, PACK_DESCRIPTOR_NAN = 8, PACK_BLOCK_BITS = 5 };

enum {
  PACK_VARIANT_FIRST_HINT = 0, // u32
  PACK_VARIANT_FIRST_CODE = 4, // u32
  PACK_VARIANT_CODE_COUNT = 8, // u32, at least 1
  PACK_VARIANT_NUM_WARPS = 12, // u32
  PACK_VARIANT_NUM_STAGES = 16,
  PACK_VARIANT_ZERO = 20,
};

enum {
  PACK_CODE_SYMBOL = 0,        // text
  PACK_CODE_TARGET = 4,        // text: "sm_90a", "cpu:x86-64-v3"
  PACK_CODE_FORMAT = 8,        // u32: enum pack_format
  PACK_CODE_CAPABILITY = 12,   // u32: 90; of an image enum instruction_set
  PACK_CODE_SPECIFIC = 16,     // u32: 1: runs on this capability only
  PACK_CODE_SHARED = 20,       // u32: dynamic shared memory, bytes; of an image perhaps scratch
  PACK_CODE_REGISTERS = 24,    // u32, ~0: not known
  PACK_CODE_SPILL_STORES = 28, // u32, ~0: not known
  PACK_CODE_MAPS = 32,         // text: its tensor maps as JSON (base/kernel_info.h); 0: none
  PACK_CODE_PRODUCERS = 36,    // u16: warps behind those of the variant
  PACK_CODE_FLAGS = 38,        // u16: enum pack_code_flags
  PACK_CODE_OFFSET = 40,       // u64, a multiple of 64
  PACK_CODE_SIZE = 48,         // u64; PTX with its final NUL
  PACK_CODE_SHA = 56,          // SHA-256 of the code
};

enum pack_format { PACK_PTX = 1, PACK_CUBIN = 2, PACK_IMAGE = 3 }; // runtime/image.h

enum pack_code_flags {
  PACK_LAUNCH_PDL = 1,    // kernel_info.launch_pdl
  PACK_CLUSTER_SHIFT = 1, // from this bit on: the logarithm of kernel_info.num_ctas; 0: no clusters
  PACK_MAX_FLAGS = PACK_LAUNCH_PDL | 4 << PACK_CLUSTER_SHIFT,
  // Of images, which have no other flags:
  PACK_CALLS_PROGRAMS = 1, // kernel_info.calls_programs
  PACK_COLLECTIVES = 2,    // kernel_info.uses_collectives
};

#define PACK_UNKNOWN 0xffffffffu

static inline uint32_t pack_u16(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8; }
static inline uint32_t pack_u32(const uint8_t *p) {
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t pack_u64(const uint8_t *p) {
  return pack_u32(p) | (uint64_t)pack_u32(p + 4) << 32;
}

#endif
