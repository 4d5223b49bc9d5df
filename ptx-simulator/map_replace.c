// SPDX-License-Identifier: Apache-2.0
// tensormap.replace (PTX ISA, "Data Movement and Conversion Instructions: tensormap.replace"): one
// field of a tensor map in shared or global memory.
#include "ptx-simulator/map_fences.h"
#include "ptx-simulator/tensor_map.h"

enum { MAP_ALIGN = 64 };

struct replacement {
  struct address at;
  enum sim_space space;
  enum tensor_field field;
  unsigned dim, bits;
};

static const struct {
  const char *name;
  bool has_dim;
  unsigned bits;
} fields[] = {
    [FIELD_ADDRESS] = {"global_address", false, 64},
    [FIELD_RANK] = {"rank", false, 32},
    [FIELD_BOX] = {"box_dim", true, 32},
    [FIELD_SIZE] = {"global_dim", true, 32},
    [FIELD_STRIDE] = {"global_stride", true, 64},
    [FIELD_ELEMENT_STRIDE] = {"element_stride", true, 32},
    [FIELD_TYPE] = {"elemtype", false, 32},
    [FIELD_INTERLEAVE] = {"interleave_layout", false, 32},
    [FIELD_SWIZZLE] = {"swizzle_mode", false, 32},
    [FIELD_FILL] = {"fill_mode", false, 32},
};

// The object is read and written as a whole.
static bool replace(struct warp *w, const struct op *op, unsigned lane, const struct location *at) {
  const struct replacement *x = op->info;
  uint8_t bytes[SIM_TENSOR_MAP_BYTES];
  char text[SIM_TEXT];
  memcpy(bytes, at->bytes, sizeof bytes);
  if (!tensor_map_replace(bytes, x->field, x->dim, row(w, op->slots[0])[lane], text, sizeof text)) {
    struct memory_site site = {at->space, at->offset, sizeof bytes};
    fault(w, op, lane, SIM_BAD_STATE, &site, "%s", text);
    return false;
  }
  enum { PIECE = 16 };
  for (unsigned i = 0; i < sizeof bytes; i += PIECE) {
    struct location piece = *at;
    piece.offset += i, piece.bytes += i;
    if (w->undefined && at->space == SIM_SHARED)
      (void)shadow_read(w, op, lane, &piece, PIECE, 0);
    if (w->undefined)
      shadow_write(w, op, lane, &piece, PIECE, 0, 0, bytes + i);
    memcpy(piece.bytes, bytes + i, PIECE);
    mark_location(&piece, PIECE);
  }
  return true;
}

static void replace_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct replacement *x = op->info;
  require_defined(w, op, x->at.slot, lanes, x->at.bits / 8, "the address");
  require_defined(w, op, op->slots[0], lanes, x->bits / 8, "a field of a tensor map");
  EACH_LANE(lane, lanes) {
    struct location at;
    uint64_t address = address_of(w, &x->at, lane);
    if (address % MAP_ALIGN) {
      struct memory_site site = {x->space, address, SIM_TENSOR_MAP_BYTES};
      fault(w, op, lane, SIM_MISALIGNED, &site,
            "a tensor map at %s address 0x%llx, which is no "
            "multiple of 64",
            sim_space_name(x->space), (unsigned long long)address);
      return;
    }
    if (!locate_bytes(w, op, lane, x->space, address, SIM_TENSOR_MAP_BYTES, ACCESS_WRITE, &at) ||
        !replace(w, op, lane, &at))
      return;
  }
}

static bool take_field(struct decoder *d, struct replacement *x) {
  for (size_t i = 0; i < COUNT_OF(fields); i++)
    if (take_part(d, fields[i].name)) {
      x->field = (enum tensor_field)i;
      x->bits = fields[i].bits;
      return true;
    }
  return expect_part(d, "global_address");
}

// tensormap.replace.tile.FIELD{.global,.shared::cta}.b1024.b32 [map], {dimension,} value
bool decode_tensormap(struct decoder *d) {
  struct replacement *x = arena_new(d->arena, struct replacement);
  uint64_t dim = 0;
  if (!expect_part(d, "replace") || !expect_part(d, "tile") || !take_field(d, x))
    return false;
  x->space = take_space(d);
  bool has_dim = fields[x->field].has_dim;
  const struct operand *o = d->in->operands;
  if (!expect_part(d, "b1024") || !expect_part(d, x->bits == 64 ? "b64" : "b32") ||
      !expect_end(d) || !expect_operands(d, 2 + has_dim, 2 + has_dim) ||
      !decode_address(d, &o[0], &x->at) || (has_dim && !constant_value(d, &o[1], &dim)))
    return false;
  if (x->space != SIM_GENERIC && x->space != SIM_GLOBAL && x->space != SIM_SHARED)
    return decode_error(d, "a tensor map that is changed is in shared or global memory");
  if (dim >= TENSOR_MAX_RANK)
    return decode_error(d, "a tensor map has dimensions 0 to 4");
  x->dim = (unsigned)dim;
  d->program->makes_maps = true;
  int32_t value = source_slot(d, &o[1 + has_dim], x->bits, false);
  emit(d, replace_op, &value, 1, x);
  return !d->failed;
}
