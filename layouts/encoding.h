// SPDX-License-Identifier: Apache-2.0
// Layout encodings of tensors: parsed form, attribute form, and each as a linear layout.
//
//   #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], threads_per_warp = [8, 4],
//                     warps_per_cta = [4, 1]}>
//   #tilegpu.slice<{dim = 0, parent = #tilegpu.blocked<...>}>
//   #tilegpu.linear<{block = [], lane = [...], register = [[0, 1]], warp = [...]}>
//   #tilegpu.mma<{instr_shape = [16, 8], version = 2, warps_per_cta = [4, 1]}>
//   #tilegpu.mma<{instr_shape = [16, N, K], version = 3, warps_per_cta = [4, 1]}>
//   #tilegpu.dot_op<{k_width = 2, op_idx = 0, parent = #tilegpu.mma<...>}>
//   #tilegpu.shared<{max_phase = 8, order = [1, 0], per_phase = 1, vec = 8}>
//   #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = false}>
//
// Distributed encodings are tiles: a larger tensor repeats them in further registers (blocked along
// `order`, mma along N then M, dot_op along K first), a smaller one is replicated in lanes and
// warps; registers that would only replicate are dropped. docs/layouts.md explains each.
#ifndef TILE_LAYOUTS_ENCODING_H
#define TILE_LAYOUTS_ENCODING_H

#include "base/arena.h"
#include "layouts/linear.h"

enum encoding_kind {
  ENC_BLOCKED,
  ENC_SLICE,
  ENC_LINEAR,
  ENC_MMA,
  ENC_DOT_OP,
  ENC_SHARED,
  ENC_NVMMA_SHARED
};

struct encoding {
  enum encoding_kind kind;
  unsigned rank; // of the tensors it lays out (nvmma_shared: any rank)
  union {
    struct { // strided tile per thread, warp, CTA; order[0] is the fastest dimension
      uint32_t size_per_thread[LL_MAX_OUT], threads_per_warp[LL_MAX_OUT], warps_per_cta[LL_MAX_OUT];
      uint32_t order[LL_MAX_OUT];
    } blocked;
    struct {
      unsigned dim; // removed from the parent
      const struct encoding *parent;
    } slice;
    struct linear_layout linear; // over its own sizes, or 1 where a tile is broadcast
    struct {
      unsigned version;        // 2: mma.sync, 3: wgmma
      uint32_t instr_shape[3]; // {16, 8} or {16, N, K}
      uint32_t warps_per_cta[LL_MAX_OUT];
    } mma;
    struct {
      unsigned op_idx, k_width;
      const struct encoding *parent;
    } dot;
    struct {
      uint32_t vec, per_phase, max_phase, order[LL_MAX_OUT];
    } shared;
    struct {
      uint32_t swizzle; // bytes: 0, 32, 64, 128
      bool transposed;
      uint32_t element_bits;
    } nvmma;
  };
};

// The linear layout of a tensor of `shape` (powers of two) under `e`. Distributed encodings map
// (register, lane, warp) -> coordinates, shared ones (offset) -> coordinates, offset in elements.
// False (and *ret_why set to a static text) when the encoding cannot lay out that shape.
bool encoding_to_linear(const struct encoding *e, unsigned rank, const int64_t *shape,
                        struct linear_layout *ret, const char **ret_why);
bool encoding_equal(const struct encoding *a, const struct encoding *b);
// Parses the text form above (the text after "#tilegpu.", which may also be included; tilec
// --layout passes what the user typed). NULL on error, then *ret_error is a message on `a` and
// *ret_at the byte where it went wrong.
const struct encoding *encoding_parse(struct arena *a, struct str text, const char **ret_error,
                                      size_t *ret_at);
void encoding_print(const struct encoding *e, struct strbuf *out); // the full text form

// The default for a shape: lanes, then warps along `order` (order[0] fastest), each clamped to the
// rest of the shape; size_per_thread as given.
struct encoding encoding_blocked(unsigned rank, const int64_t *shape,
                                 const uint32_t *size_per_thread, const uint32_t *order,
                                 unsigned num_warps);
// Swizzle for a dot operand in shared memory (reference: mma.sync operands by ldmatrix).
struct encoding encoding_shared_for_dot(const struct encoding *dot, const int64_t *shape,
                                        const uint32_t *order, unsigned element_bits);
// Swizzle for a tile that `store` writes, 16 bytes of a row at once, and `load` reads: the one with
// the fewest bank conflicts. instructions: those of layouts/exchange_plan.h that the target has.
struct encoding encoding_shared_between(const struct linear_layout *store,
                                        const struct linear_layout *load, const int64_t *shape,
                                        const uint32_t *order, unsigned element_bits,
                                        unsigned instructions);

#endif
