// SPDX-License-Identifier: Apache-2.0
// mov (also of vectors and special registers), cvta, isspacep (PTX ISA, 9.7.9.1 to 9.7.9.23).
#include "ptx-simulator/decode.h"

enum { MAX_PIECES = 8 };

static void move_op(struct warp *w, const struct op *op, uint32_t lanes) {
  uint64_t *to = row(w, op->slots[0]);
  const uint64_t *from = row(w, op->slots[1]);
  if (w->undefined) {
    uint32_t undefined = w->undefined[op->slots[1]] & lanes;
    set_defined(w, op->slots[0], lanes);
    EACH_LANE(lane, undefined)
    set_undefined(w, w->origin[op->slots[1]], op->slots[0], lane,
                  w->undefined_bytes[op->slots[1]][lane]);
  }
  if (lanes == ~0u)
    memmove(to, from, SIM_LANES * sizeof *to);
  else
    EACH_LANE(lane, lanes)
  to[lane] = from[lane];
}

struct pieces {
  unsigned count, bits; // of each
};

// Packs items into one word, the first in the low bits.
static void pack_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct pieces *p = op->info;
  uint64_t mask = ((uint64_t)1 << p->bits) - 1;
  EACH_LANE(lane, lanes) {
    uint64_t value = 0;
    unsigned undefined = 0;
    const struct op *origin = NULL;
    for (unsigned i = 0; i < p->count; i++) {
      int32_t slot = op->slots[1 + i];
      value |= (row(w, slot)[lane] & mask) << (i * p->bits);
      unsigned bytes = undefined_of(w, slot, lane) & ((1u << p->bits / 8) - 1);
      undefined |= bytes << (i * p->bits / 8);
      if (bytes)
        origin = w->origin[slot];
    }
    row(w, op->slots[0])[lane] = value;
    set_undefined(w, origin, op->slots[0], lane, undefined);
  }
}

static void unpack_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct pieces *p = op->info;
  uint64_t mask = ((uint64_t)1 << p->bits) - 1;
  EACH_LANE(lane, lanes) {
    uint64_t value = row(w, op->slots[0])[lane];
    unsigned undefined = undefined_of(w, op->slots[0], lane);
    const struct op *origin = undefined ? w->origin[op->slots[0]] : NULL;
    for (unsigned i = 0; i < p->count; i++) {
      int32_t slot = op->slots[1 + i];
      if (slot == NO_SLOT)
        continue;
      row(w, slot)[lane] = value >> (i * p->bits) & mask;
      set_undefined(w, origin, slot, lane,
                    undefined >> (i * p->bits / 8) & ((1u << p->bits / 8) - 1));
    }
  }
}

// A clock register counts operations of the run, so that it advances whatever the warp waits for.
static void clock_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const unsigned *shift = op->info;
  uint64_t now = w->run->instructions + ++w->run->ticks;
  EACH_LANE(lane, lanes)
  row(w, op->slots[0])[lane] = *shift == 64 ? now : (uint32_t)(now >> *shift);
  set_defined(w, op->slots[0], lanes);
}

static bool decode_clock(struct decoder *d, const struct operand *to, enum special id) {
  unsigned *shift = arena_new(d->arena, unsigned);
  bool high = id == SPECIAL_CLOCK_HI || id == SPECIAL_GLOBALTIMER_HI;
  bool wide = id == SPECIAL_CLOCK64 || id == SPECIAL_GLOBALTIMER;
  *shift = wide ? 64 : high ? 32 : 0;
  int32_t slot = result_slot(d, to, wide ? 64 : 32);
  if (slot != NO_SLOT)
    emit(d, clock_op, &slot, 1, shift);
  return !d->failed;
}

static bool is_clock(const struct operand *o) {
  return o->kind == OPERAND_SPECIAL && o->value >= SPECIAL_CLOCK;
}

static bool decode_pieces(struct decoder *d, const struct value_type *type, bool pack) {
  const struct operand *whole = &d->in->operands[pack ? 0 : 1],
                       *vector = &d->in->operands[pack ? 1 : 0];
  struct pieces *p = arena_new(d->arena, struct pieces);
  int32_t slots[1 + MAX_PIECES];
  p->count = vector->item_count;
  if (p->count < 2 || p->count > MAX_PIECES || type->bits % p->count || type->bits / p->count < 8)
    return decode_error(d, "a move of %u pieces and %u bits", p->count, type->bits);
  p->bits = type->bits / p->count;
  slots[0] = pack ? result_slot(d, whole, type->bits) : source_slot(d, whole, type->bits, false);
  for (unsigned i = 0; i < p->count; i++)
    slots[1 + i] = pack ? source_slot(d, &vector->items[i], p->bits, false)
                        : result_slot(d, &vector->items[i], p->bits);
  if (slots[0] == NO_SLOT)
    return decode_error(d, "a move to nowhere");
  emit(d, pack ? pack_op : unpack_op, slots, 1 + p->count, p);
  return !d->failed;
}

bool decode_move(struct decoder *d) {
  struct value_type type;
  if (!take_type(d, &type) || !expect_end(d) || !expect_operands(d, 2, 2))
    return false;
  const struct operand *to = &d->in->operands[0], *from = &d->in->operands[1];
  if (type.bits > 64)
    return decode_error(d, "'mov.%.*s' is not supported", STR_ARG(type.name));
  if (from->kind == OPERAND_VECTOR || to->kind == OPERAND_VECTOR)
    return decode_pieces(d, &type, from->kind == OPERAND_VECTOR);
  if (is_clock(from))
    return decode_clock(d, to, (enum special)from->value);
  int32_t slots[] = {result_slot(d, to, type.bits),
                     source_slot(d, from, type.bits, type.kind == 'f')};
  if (slots[0] != NO_SLOT)
    emit(d, move_op, slots, 2, NULL);
  return !d->failed;
}

// ---- address spaces ----

struct window {
  uint64_t base;
  bool to_space;
};

static uint64_t window_of(enum sim_space space) {
  return space == SIM_SHARED || space == SIM_SHARED_CLUSTER ? SHARED_WINDOW
         : space == SIM_LOCAL ? LOCAL_WINDOW
         : space == SIM_PARAM ? PARAM_WINDOW
                              : 0;
}

static void cvta_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct window *x = op->info;
  spread_undefined(w, op, lanes, op->slots, 1, op->slots + 1, 1);
  EACH_LANE(lane, lanes) {
    uint64_t value = row(w, op->slots[1])[lane];
    row(w, op->slots[0])[lane] = x->to_space ? value - x->base : value + x->base;
  }
}

bool decode_cvta(struct decoder *d) {
  struct window *x = arena_new(d->arena, struct window);
  struct value_type type;
  x->to_space = take_part(d, "to");
  enum sim_space space = take_space(d);
  if (!take_type(d, &type) || !expect_end(d) || !expect_operands(d, 2, 2))
    return false;
  if (space == SIM_GENERIC || type.bits != 64)
    return decode_error(d, "'cvta' wants a space and .u64");
  x->base = window_of(space);
  int32_t slots[] = {result_slot(d, &d->in->operands[0], 64),
                     source_slot(d, &d->in->operands[1], 64, false)};
  if (slots[0] != NO_SLOT)
    emit(d, cvta_op, slots, 2, x);
  return !d->failed;
}

static void isspacep_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct window *x = op->info;
  spread_undefined(w, op, lanes, op->slots, 1, op->slots + 1, 1);
  EACH_LANE(lane, lanes) {
    uint64_t value = row(w, op->slots[1])[lane];
    row(w, op->slots[0])[lane] = x->base ? value - x->base < WINDOW_BYTES : value < PARAM_WINDOW;
  }
}

bool decode_isspacep(struct decoder *d) {
  struct window *x = arena_new(d->arena, struct window);
  enum sim_space space = take_space(d);
  if (!expect_end(d) || !expect_operands(d, 2, 2))
    return false;
  if (space == SIM_GENERIC)
    return decode_error(d, "'isspacep' wants a space");
  x->base = window_of(space);
  int32_t slots[] = {result_slot(d, &d->in->operands[0], 1),
                     source_slot(d, &d->in->operands[1], 64, false)};
  if (slots[0] != NO_SLOT)
    emit(d, isspacep_op, slots, 2, x);
  return !d->failed;
}
