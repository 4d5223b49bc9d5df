// SPDX-License-Identifier: Apache-2.0
// Exchange between the lanes of a warp: shfl, vote, match, redux, activemask, elect (PTX ISA,
// 9.7.9.6 and 9.7.13). All but activemask wait for the lanes of their mask.
#include "ptx-simulator/decode.h"

// Result slots come first; the mask has its own slot.
struct exchange {
  int32_t mask;
  unsigned mode;
  unsigned bits; // of match
  bool has_pred;
};

// ---- shfl ----

enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX };

// The lane that `lane` reads from, and whether it is in range (PTX ISA, 9.7.9.6).
static unsigned source_lane(unsigned mode, unsigned lane, uint32_t b, uint32_t c,
                            bool *ret_inside) {
  unsigned bval = b & 31, cval = c & 31, mask = c >> 8 & 31;
  unsigned limit = (lane & mask) | (cval & ~mask), low = lane & mask;
  int j = 0;
  bool inside = false;
  switch (mode) {
  case SHUFFLE_UP:
    j = (int)lane - (int)bval;
    inside = j >= (int)limit;
    break;
  case SHUFFLE_DOWN:
    j = (int)(lane + bval);
    inside = j <= (int)limit;
    break;
  case SHUFFLE_BFLY:
    j = (int)(lane ^ bval);
    inside = j <= (int)limit;
    break;
  case SHUFFLE_IDX:
    j = (int)(low | (bval & ~mask));
    inside = j <= (int)limit;
    break;
  }
  *ret_inside = inside;
  return inside ? (unsigned)j & 31 : lane;
}

static void shuffle_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct exchange *x = op->info;
  if (!warp_sync_mask(w, op, &lanes, x->mask))
    return;
  const int32_t *s = op->slots; // value, predicate, a, b, c
  uint64_t from[SIM_LANES];
  uint8_t undefined[SIM_LANES];
  const struct op *origin = w->undefined ? w->origin[s[2]] : NULL;
  require_defined(w, op, s[3], lanes, 4, "the lane of a shuffle");
  require_defined(w, op, s[4], lanes, 4, "the bounds of a shuffle");
  memcpy(from, row(w, s[2]), sizeof from);
  for (unsigned i = 0; i < SIM_LANES; i++)
    undefined[i] = (uint8_t)undefined_of(w, s[2], i);
  EACH_LANE(lane, lanes) {
    bool inside;
    unsigned j = source_lane(x->mode, lane, (uint32_t)row(w, s[3])[lane],
                             (uint32_t)row(w, s[4])[lane], &inside);
    if (!(lanes >> j & 1)) {
      fault(w, op, lane, SIM_BAD_LANE, NULL,
            "the value comes from lane %u, which is not among the lanes 0x%08x that take part", j,
            lanes);
      return;
    }
    if (s[0] != NO_SLOT) {
      row(w, s[0])[lane] = (uint32_t)from[j];
      set_undefined(w, origin, s[0], lane, undefined[j] & 15);
    }
    if (s[1] != NO_SLOT) {
      row(w, s[1])[lane] = inside;
      set_defined(w, s[1], 1u << lane);
    }
  }
}

// `d|p` or `d`.
static bool decode_pair(struct decoder *d, const struct operand *o, int32_t *value, int32_t *pred) {
  const struct operand *first = o->kind == OPERAND_PAIR ? &o->items[0] : o;
  *value = result_slot(d, first, 32);
  *pred = o->kind == OPERAND_PAIR ? result_slot(d, &o->items[1], 1) : NO_SLOT;
  return !d->failed;
}

bool decode_shuffle(struct decoder *d) {
  static const char *const modes[] = {"up", "down", "bfly", "idx", NULL};
  struct exchange *x = arena_new(d->arena, struct exchange);
  if (!expect_part(d, "sync"))
    return false;
  int mode = take_one_of(d, modes);
  if (mode < 0)
    return expect_part(d, "idx");
  x->mode = (unsigned)mode;
  if (!expect_part(d, "b32") || !expect_end(d) || !expect_operands(d, 5, 5))
    return false;
  const struct operand *o = d->in->operands;
  int32_t slots[5];
  if (!decode_pair(d, &o[0], &slots[0], &slots[1]))
    return false;
  for (unsigned i = 0; i < 3; i++)
    slots[2 + i] = source_slot(d, &o[1 + i], 32, false);
  x->mask = source_slot(d, &o[4], 32, false);
  emit(d, shuffle_op, slots, 5, x);
  return !d->failed;
}

// ---- vote ----

enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

static void vote_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct exchange *x = op->info;
  if (!warp_sync_mask(w, op, &lanes, x->mask))
    return;
  uint32_t ballot = 0;
  EACH_LANE(lane, lanes)
  ballot |= (uint32_t)(row(w, op->slots[1])[lane] & 1) << lane;
  require_defined(w, op, op->slots[1], lanes, 1, "the predicate of a vote");
  uint64_t value = x->mode == VOTE_BALLOT ? ballot
                   : x->mode == VOTE_ALL  ? ballot == lanes
                   : x->mode == VOTE_ANY  ? ballot != 0
                                          : ballot == lanes || ballot == 0;
  EACH_LANE(lane, lanes)
  row(w, op->slots[0])[lane] = value;
  set_defined(w, op->slots[0], lanes);
}

bool decode_vote(struct decoder *d) {
  static const char *const modes[] = {"all", "any", "uni", "ballot", NULL};
  struct exchange *x = arena_new(d->arena, struct exchange);
  if (!expect_part(d, "sync"))
    return false;
  int mode = take_one_of(d, modes);
  if (mode < 0)
    return expect_part(d, "ballot");
  x->mode = (unsigned)mode;
  bool ballot = x->mode == VOTE_BALLOT;
  if (!expect_part(d, ballot ? "b32" : "pred") || !expect_end(d) || !expect_operands(d, 3, 3))
    return false;
  int32_t slots[] = {result_slot(d, &d->in->operands[0], ballot ? 32 : 1),
                     source_slot(d, &d->in->operands[1], 1, false)};
  x->mask = source_slot(d, &d->in->operands[2], 32, false);
  if (slots[0] == NO_SLOT)
    return decode_error(d, "a vote without a result");
  emit(d, vote_op, slots, 2, x);
  return !d->failed;
}

// ---- match ----

static void match_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct exchange *x = op->info;
  if (!warp_sync_mask(w, op, &lanes, x->mask))
    return;
  const uint64_t *values = row(w, op->slots[2]);
  uint64_t keep = x->bits == 64 ? ~(uint64_t)0 : 0xffffffff;
  uint32_t same[SIM_LANES];
  require_defined(w, op, op->slots[2], lanes, x->bits / 8, "the value of a match");
  EACH_LANE(lane, lanes) {
    same[lane] = 0;
    EACH_LANE(other, lanes)
    same[lane] |= (uint32_t)((values[other] & keep) == (values[lane] & keep)) << other;
  }
  EACH_LANE(lane, lanes) {
    bool all = same[lane] == lanes;
    if (op->slots[0] != NO_SLOT)
      row(w, op->slots[0])[lane] = x->mode == 0 ? same[lane] : all ? lanes : 0;
    if (op->slots[1] != NO_SLOT)
      row(w, op->slots[1])[lane] = all;
  }
  set_defined(w, op->slots[0], lanes);
  set_defined(w, op->slots[1], lanes);
}

bool decode_match(struct decoder *d) {
  struct exchange *x = arena_new(d->arena, struct exchange);
  x->mode = take_part(d, "any") ? 0 : 1;
  if ((x->mode && !expect_part(d, "all")) || !expect_part(d, "sync"))
    return false;
  x->bits = take_part(d, "b64") ? 64 : 32;
  if ((x->bits == 32 && !expect_part(d, "b32")) || !expect_end(d) || !expect_operands(d, 3, 3))
    return false;
  int32_t slots[3];
  if (!decode_pair(d, &d->in->operands[0], &slots[0], &slots[1]))
    return false;
  slots[2] = source_slot(d, &d->in->operands[1], x->bits, false);
  x->mask = source_slot(d, &d->in->operands[2], 32, false);
  emit(d, match_op, slots, 3, x);
  return !d->failed;
}

// ---- redux ----

enum { REDUX_ADD, REDUX_MIN, REDUX_MAX, REDUX_AND, REDUX_OR, REDUX_XOR };
enum { REDUX_SIGNED = 8 };

static uint32_t redux_pair(unsigned mode, uint32_t a, uint32_t b) {
  switch (mode) {
  case REDUX_ADD:
  case REDUX_ADD | REDUX_SIGNED: return a + b;
  case REDUX_MIN: return a < b ? a : b;
  case REDUX_MAX: return a > b ? a : b;
  case REDUX_MIN | REDUX_SIGNED: return (int32_t)a < (int32_t)b ? a : b;
  case REDUX_MAX | REDUX_SIGNED: return (int32_t)a > (int32_t)b ? a : b;
  case REDUX_AND: return a & b;
  case REDUX_OR: return a | b;
  default: return a ^ b;
  }
}

static void redux_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct exchange *x = op->info;
  if (!warp_sync_mask(w, op, &lanes, x->mask))
    return;
  const uint64_t *from = row(w, op->slots[1]);
  unsigned first = (unsigned)__builtin_ctz(lanes);
  uint32_t value = (uint32_t)from[first];
  EACH_LANE(lane, lanes & (lanes - 1))
  value = redux_pair(x->mode, value, (uint32_t)from[lane]);
  uint32_t undefined = 0;
  const struct op *origin = w->undefined ? w->origin[op->slots[1]] : NULL;
  EACH_LANE(lane, lanes)
  undefined |= undefined_of(w, op->slots[1], lane) & 15;
  EACH_LANE(lane, lanes) {
    row(w, op->slots[0])[lane] = x->mode & REDUX_SIGNED ? (uint64_t)(int64_t)(int32_t)value : value;
    set_undefined(w, origin, op->slots[0], lane, undefined ? 15 : 0);
  }
}

bool decode_redux(struct decoder *d) {
  static const char *const names[] = {"add", "min", "max", "and", "or", "xor", NULL};
  struct exchange *x = arena_new(d->arena, struct exchange);
  if (!expect_part(d, "sync"))
    return false;
  int mode = take_one_of(d, names);
  if (mode < 0)
    return expect_part(d, "add");
  x->mode = (unsigned)mode;
  if (mode >= REDUX_AND) {
    if (!expect_part(d, "b32"))
      return false;
  } else if (take_part(d, "s32")) {
    x->mode |= REDUX_SIGNED;
  } else if (!expect_part(d, "u32")) {
    return false;
  }
  if (!expect_end(d) || !expect_operands(d, 3, 3))
    return false;
  int32_t slots[] = {result_slot(d, &d->in->operands[0], 32),
                     source_slot(d, &d->in->operands[1], 32, false)};
  x->mask = source_slot(d, &d->in->operands[2], 32, false);
  if (slots[0] == NO_SLOT)
    return decode_error(d, "a reduction without a result");
  emit(d, redux_op, slots, 2, x);
  return !d->failed;
}

// ---- activemask, elect ----

static void activemask_op(struct warp *w, const struct op *op, uint32_t lanes) {
  EACH_LANE(lane, lanes)
  row(w, op->slots[0])[lane] = lanes;
  set_defined(w, op->slots[0], lanes);
}

bool decode_activemask(struct decoder *d) {
  if (!expect_part(d, "b32") || !expect_end(d) || !expect_operands(d, 1, 1))
    return false;
  int32_t slot = result_slot(d, &d->in->operands[0], 32);
  if (slot == NO_SLOT)
    return decode_error(d, "'activemask' without a result");
  emit(d, activemask_op, &slot, 1, NULL);
  return !d->failed;
}

static void elect_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct exchange *x = op->info;
  if (!warp_sync_mask(w, op, &lanes, x->mask))
    return;
  unsigned leader = (unsigned)__builtin_ctz(lanes);
  EACH_LANE(lane, lanes) {
    if (op->slots[0] != NO_SLOT)
      row(w, op->slots[0])[lane] = leader;
    if (op->slots[1] != NO_SLOT)
      row(w, op->slots[1])[lane] = lane == leader;
  }
  set_defined(w, op->slots[0], lanes);
  set_defined(w, op->slots[1], lanes);
}

bool decode_elect(struct decoder *d) {
  struct exchange *x = arena_new(d->arena, struct exchange);
  if (!expect_part(d, "sync") || !expect_end(d) || !expect_operands(d, 2, 2))
    return false;
  int32_t slots[2];
  if (!decode_pair(d, &d->in->operands[0], &slots[0], &slots[1]))
    return false;
  x->mask = source_slot(d, &d->in->operands[1], 32, false);
  emit(d, elect_op, slots, 2, x);
  return !d->failed;
}
