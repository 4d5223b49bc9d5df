// SPDX-License-Identifier: Apache-2.0
// Which bytes of an arithmetic result are undefined: exact for bitwise operations, packed elements
// and constant shifts; the whole value otherwise.
#include "ptx-simulator/arithmetic.h"

static unsigned slots_bytes(struct warp *w, const int32_t *slots, unsigned i, unsigned lane) {
  return undefined_of(w, slots[i], lane);
}

// `and` with zero bytes and `or` with 0xff bytes give defined bytes.
static unsigned of_logic(struct warp *w, const struct arithmetic *x, const int32_t *from,
                         unsigned lane) {
  unsigned a = slots_bytes(w, from, 0, lane), b = slots_bytes(w, from, 1, lane), ret = a | b;
  uint64_t va = row(w, from[0])[lane], vb = row(w, from[1])[lane];
  for (unsigned i = 0; i < 8 && x->spread != SPREAD_BYTES; i++) {
    unsigned bit = 1u << i;
    uint8_t hides = x->spread == SPREAD_AND ? 0 : 0xff;
    if ((!(a & bit) && (uint8_t)(va >> (8 * i)) == hides) ||
        (!(b & bit) && (uint8_t)(vb >> (8 * i)) == hides))
      ret &= ~bit;
  }
  return ret;
}

static unsigned of_shift(struct warp *w, const struct arithmetic *x, const int32_t *from,
                         unsigned lane) {
  unsigned value = slots_bytes(w, from, 0, lane), bytes = x->in.results[0].bits / 8;
  uint64_t amount = row(w, from[1])[lane] & 0xffffffff;
  if (slots_bytes(w, from, 1, lane))
    return 0xff;
  if (amount >= 8 * bytes)
    return x->spread == SPREAD_SHR && x->in.results[0].kind == ALU_SIGNED && value ? 0xff : 0;
  unsigned mask = (1u << bytes) - 1, whole = (unsigned)amount / 8, rest = amount % 8 != 0;
  value &= mask;
  if (x->spread == SPREAD_SHL)
    return (value << whole | (rest ? value << (whole + 1) : 0)) & mask;
  unsigned ret = value >> whole | (rest ? value >> (whole + 1) : 0);
  // The sign is in the highest byte.
  if (x->in.results[0].kind == ALU_SIGNED && value >> (bytes - 1))
    ret |= mask & ~(mask >> (whole + rest));
  return ret;
}

static unsigned of_packed(struct warp *w, const struct arithmetic *x, const int32_t *from,
                          unsigned lane) {
  unsigned ret = 0;
  for (unsigned i = 0; i < x->in.source_count; i++) {
    unsigned a = slots_bytes(w, from, i, lane);
    ret |= (a & 3 ? 3 : 0) | (a & 12 ? 12 : 0);
  }
  return ret;
}

// Between integers: truncated bytes do not count; sign and zero extension are defined as the top
// byte is.
static unsigned of_convert(struct warp *w, const struct arithmetic *x, const int32_t *from,
                           unsigned lane) {
  unsigned bytes = x->in.sources[0].bits / 8, mask = (1u << bytes) - 1;
  unsigned value = slots_bytes(w, from, 0, lane) & mask;
  bool grows = x->in.results[0].bits > x->in.sources[0].bits;
  if (grows && x->in.sources[0].kind == ALU_SIGNED && value >> (bytes - 1))
    value |= ~mask & 0xff;
  return value & ((1u << (x->in.results[0].bits / 8)) - 1);
}

static unsigned of_permute(struct warp *w, const int32_t *from, unsigned lane) {
  unsigned bytes = (slots_bytes(w, from, 0, lane) & 15) | (slots_bytes(w, from, 1, lane) & 15) << 4;
  uint64_t selector = row(w, from[2])[lane];
  unsigned ret = 0;
  if (slots_bytes(w, from, 2, lane))
    return 15;
  for (unsigned i = 0; i < 4; i++)
    ret |= (bytes >> (selector >> (4 * i) & 7) & 1) << i;
  return ret;
}

static unsigned of_select(struct warp *w, const int32_t *from, unsigned lane) {
  if (slots_bytes(w, from, 2, lane))
    return 0xff;
  return slots_bytes(w, from, row(w, from[2])[lane] & 1 ? 0 : 1, lane);
}

static unsigned undefined_result(struct warp *w, const struct arithmetic *x, const int32_t *from,
                                 unsigned lane) {
  unsigned any = 0;
  switch (x->spread) {
  case SPREAD_AND:
  case SPREAD_OR:
  case SPREAD_BYTES: return of_logic(w, x, from, lane);
  case SPREAD_SHL:
  case SPREAD_SHR: return of_shift(w, x, from, lane);
  case SPREAD_PACKED: return of_packed(w, x, from, lane);
  case SPREAD_CONVERT: return of_convert(w, x, from, lane);
  case SPREAD_PERMUTE: return of_permute(w, from, lane);
  case SPREAD_SELECT: return of_select(w, from, lane);
  case SPREAD_WHOLE: break;
  }
  for (unsigned i = 0; i < x->in.source_count; i++) {
    unsigned bytes = (x->in.sources[i].bits + 7) / 8;
    any |= slots_bytes(w, from, i, lane) & ((1u << bytes) - 1);
  }
  return any ? 0xff : 0;
}

void spread_arithmetic(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct arithmetic *x = op->info;
  const int32_t *to = op->slots, *from = op->slots + x->in.result_count;
  uint32_t any = 0;
  const struct op *origin = NULL;
  for (unsigned i = 0; i < x->in.source_count; i++)
    if (w->undefined[from[i]] & lanes) {
      any |= w->undefined[from[i]] & lanes;
      origin = w->origin[from[i]];
    }
  uint8_t bytes[SIM_LANES];
  EACH_LANE(lane, any)
  bytes[lane] = (uint8_t)undefined_result(w, x, from, lane);
  for (unsigned i = 0; i < x->in.result_count; i++) {
    set_defined(w, to[i], lanes & ~any);
    EACH_LANE(lane, any)
    set_undefined(w, origin, to[i], lane, bytes[lane]);
  }
}

enum spread spread_of(const struct str *parts, unsigned count, const struct alu_instruction *in) {
  struct str name = parts[0], type = parts[count - 1];
  bool integers = in->source_count && in->sources[0].kind != ALU_FLOAT &&
                  in->results[0].kind != ALU_FLOAT && in->sources[0].bits > 1;
  if (in->result_count != 1 || in->results[0].bits == 1)
    return SPREAD_WHOLE;
  if (str_is(name, "and"))
    return SPREAD_AND;
  if (str_is(name, "or"))
    return SPREAD_OR;
  if (str_is(name, "xor"))
    return SPREAD_BYTES;
  if (str_is(name, "selp"))
    return SPREAD_SELECT;
  if (str_is(name, "shl"))
    return SPREAD_SHL;
  if (str_is(name, "shr"))
    return SPREAD_SHR;
  if (str_is(name, "prmt") && count == 2)
    return SPREAD_PERMUTE;
  if (str_is(name, "cvt") && integers && count == 3)
    return SPREAD_CONVERT;
  if (str_is(type, "f16x2") || str_is(type, "bf16x2"))
    return str_is(name, "cvt") ? SPREAD_WHOLE : SPREAD_PACKED;
  return SPREAD_WHOLE;
}
