// SPDX-License-Identifier: Apache-2.0
// Packs in memory: reading (pack_read.c) and writing (pack_write.c, not part of libtile-rt).
#ifndef TILE_RUNTIME_PACK_H
#define TILE_RUNTIME_PACK_H

#include "base/kernel_info.h"
#include "runtime/pack_format.h"

#include <tile/pack.h>

// ---- reading: all fields were checked, so that these need not be ----

struct tile_pack {
  const uint8_t *data;
  size_t size;
  void *owned;                        // to be freed; NULL: the caller's bytes
  const uint8_t *tables[PACK_TABLES]; // where each begins
  uint32_t counts[PACK_TABLES];
  uint32_t version;
};

// Checks the tables in `data` and returns a view of them, or TILE_INVALID_ARGUMENT. The bytes of a
// code are checked when it is used.
tile_status pack_read(const void *data, size_t size, struct tile_pack *ret);
// The bytes of code `index`, after their hash was compared.
tile_status pack_code(const struct tile_pack *p, uint32_t index, const void **ret,
                      size_t *ret_size);

// Orders the binaries of a variant: the newer capability first, machine code before PTX. Above 0.
unsigned pack_code_rank(const uint8_t *code);
// Index of the best code of a variant that runs on the device and ranks below `below`; false when
// there is none.
bool pack_best_code(const struct tile_pack *p, uint32_t variant, const struct tile_device *d,
                    unsigned below, uint32_t *ret);

static inline const uint8_t *pack_entry(const struct tile_pack *p, enum pack_table table,
                                        uint32_t index) {
  static const uint8_t bytes[] = {PACK_KERNEL_BYTES, PACK_PARAM_BYTES, PACK_VARIANT_BYTES,
                                  PACK_HINT_BYTES,   PACK_CODE_BYTES,  1};
  return p->tables[table] + (size_t)index * bytes[table];
}
static inline const char *pack_text(const struct tile_pack *p, uint32_t offset) {
  return (const char *)p->tables[PACK_TEXT] + offset;
}

// ---- parameters ----

static inline uint32_t pack_param_rank(const uint8_t *param) { // 0: no tensor descriptor
  return param[PACK_PARAM_DESCRIPTOR] & PACK_DESCRIPTOR_RANK;
}
static inline bool pack_param_pads_nan(const uint8_t *param) {
  return param[PACK_PARAM_DESCRIPTOR] & PACK_DESCRIPTOR_NAN;
}
static inline uint32_t pack_param_block(const uint8_t *param, uint32_t dim) {
  uint32_t all = pack_u32(param + PACK_PARAM_BLOCK);
  return 1u << (all >> (PACK_BLOCK_BITS * dim) & ((1u << PACK_BLOCK_BITS) - 1));
}
// The number of parameters that an argument is.
static inline uint32_t pack_param_span(const uint8_t *param) {
  uint32_t rank = pack_param_rank(param);
  return rank ? 2 * rank : 1;
}

// ---- pack_arguments.c ----
// TILE_INVALID_ARGUMENT unless the arguments have the number, types and blocks of the function's
// parameters, which begin at `first`.
tile_status pack_check_arguments(const struct tile_pack *pack, const char *function, uint32_t first,
                                 uint32_t param_count, const tile_arg *args, size_t count);
// The number of the argument, from 1 on, that parameter `param` of the function belongs to.
uint32_t pack_argument_of(const struct tile_pack *pack, uint32_t first, uint32_t param);

// ---- writing ----

struct pack_code {
  const char *symbol, *target;
  enum pack_format format;
  uint32_t capability; // of an image enum instruction_set
  bool is_specific;    // sm_90a and the like: runs on this capability only
  uint32_t shared_bytes;
  uint32_t registers, spill_stores; // PACK_UNKNOWN
  uint32_t producer_warps;
  bool launch_pdl;
  bool calls_programs, uses_collectives; // images
  uint32_t num_ctas;
  const char *maps; // as JSON; NULL: none
  struct str bytes; // PTX without its final NUL
};

struct pack_variant {
  const uint32_t *hints; // one a parameter of the kernel: 0: equals 1, else divisible by it
  uint32_t num_warps, num_stages;
  const struct pack_code *codes;
  uint32_t code_count;
};

struct pack_kernel {
  const char *name, *source_name, *constants;
  const struct kernel_param *params; // of the general variant
  uint32_t param_count;
  const struct pack_variant *variants; // most specific first
  uint32_t variant_count;
};

// The bytes of a pack; `out->failed` when memory ran out. Deterministic: equal input gives equal
// bytes.
void pack_write(const struct pack_kernel *kernels, uint32_t count, struct strbuf *out);

#endif
