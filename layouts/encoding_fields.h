// SPDX-License-Identifier: Apache-2.0
// The fields of every encoding as a table, in the order MLIR prints a dictionary; parser and
// printer both walk it.
#ifndef TILE_LAYOUTS_ENCODING_FIELDS_H
#define TILE_LAYOUTS_ENCODING_FIELDS_H

#include "layouts/encoding.h"

enum field_type { FIELD_NUMBER, FIELD_BOOL, FIELD_LIST, FIELD_INSTR, FIELD_BASES, FIELD_PARENT };

struct encoding_field {
  enum encoding_kind kind;
  const char *name;
  enum field_type type;
  bool optional; // mma alone: filled in by the parser
  size_t offset; // in struct encoding; for FIELD_BASES unused
  enum ll_in in; // FIELD_BASES
};

#define FIELD(kind, name, type, member)                                                            \
  { kind, name, type, false, offsetof(struct encoding, member), LL_NO_IN }
#define FIELD_OPTIONAL(kind, name, type, member)                                                   \
  { kind, name, type, true, offsetof(struct encoding, member), LL_NO_IN }
#define FIELD_IN(name, in)                                                                         \
  { ENC_LINEAR, name, FIELD_BASES, false, 0, in }

static const struct encoding_field encoding_fields[] = {
    FIELD(ENC_BLOCKED, "order", FIELD_LIST, blocked.order),
    FIELD(ENC_BLOCKED, "size_per_thread", FIELD_LIST, blocked.size_per_thread),
    FIELD(ENC_BLOCKED, "threads_per_warp", FIELD_LIST, blocked.threads_per_warp),
    FIELD(ENC_BLOCKED, "warps_per_cta", FIELD_LIST, blocked.warps_per_cta),
    FIELD(ENC_SLICE, "dim", FIELD_NUMBER, slice.dim),
    FIELD(ENC_SLICE, "parent", FIELD_PARENT, slice.parent),
    FIELD_IN("block", LL_BLOCK),
    FIELD_IN("lane", LL_LANE),
    FIELD_IN("register", LL_REGISTER),
    FIELD_IN("warp", LL_WARP),
    FIELD_OPTIONAL(ENC_MMA, "instr_shape", FIELD_INSTR, mma.instr_shape),
    FIELD(ENC_MMA, "version", FIELD_NUMBER, mma.version),
    FIELD_OPTIONAL(ENC_MMA, "warps_per_cta", FIELD_LIST, mma.warps_per_cta),
    FIELD(ENC_DOT_OP, "k_width", FIELD_NUMBER, dot.k_width),
    FIELD(ENC_DOT_OP, "op_idx", FIELD_NUMBER, dot.op_idx),
    FIELD(ENC_DOT_OP, "parent", FIELD_PARENT, dot.parent),
    FIELD(ENC_SHARED, "max_phase", FIELD_NUMBER, shared.max_phase),
    FIELD(ENC_SHARED, "order", FIELD_LIST, shared.order),
    FIELD(ENC_SHARED, "per_phase", FIELD_NUMBER, shared.per_phase),
    FIELD(ENC_SHARED, "vec", FIELD_NUMBER, shared.vec),
    FIELD(ENC_NVMMA_SHARED, "element_bits", FIELD_NUMBER, nvmma.element_bits),
    FIELD(ENC_NVMMA_SHARED, "swizzle", FIELD_NUMBER, nvmma.swizzle),
    FIELD(ENC_NVMMA_SHARED, "transposed", FIELD_BOOL, nvmma.transposed),
};

#undef FIELD
#undef FIELD_OPTIONAL
#undef FIELD_IN

static const char *const encoding_names[] = {
    [ENC_BLOCKED] = "blocked",
    [ENC_SLICE] = "slice",
    [ENC_LINEAR] = "linear",
    [ENC_MMA] = "mma",
    [ENC_DOT_OP] = "dot_op",
    [ENC_SHARED] = "shared",
    [ENC_NVMMA_SHARED] = "nvmma_shared",
};

#endif
