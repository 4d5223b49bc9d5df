// SPDX-License-Identifier: Apache-2.0
// Modifiers and operands while decoding.
#include "ptx-simulator/decode.h"

#include <math.h>

// ---- modifiers ----

struct str peek_part(const struct decoder *d) {
  return d->next_part < d->in->part_count ? d->in->parts[d->next_part] : STR("");
}

bool take_part(struct decoder *d, const char *part) {
  bool found = d->next_part < d->in->part_count && str_is(d->in->parts[d->next_part], part);
  d->next_part += found;
  return found;
}

int take_one_of(struct decoder *d, const char *const *names) {
  for (int i = 0; names[i]; i++)
    if (take_part(d, names[i]))
      return i;
  return -1;
}

static bool unknown_part(struct decoder *d) {
  struct str part = peek_part(d), name = d->in->parts[0];
  if (part.len == 0)
    return decode_error(d, "'%.*s' lacks a modifier or type", STR_ARG(name));
  return decode_error(d, "unknown modifier '.%.*s' of '%.*s'", STR_ARG(part), STR_ARG(name));
}

bool expect_part(struct decoder *d, const char *part) {
  return take_part(d, part) || unknown_part(d);
}

bool expect_end(struct decoder *d) {
  return !d->failed && (d->next_part == d->in->part_count || unknown_part(d));
}

bool take_type(struct decoder *d, struct value_type *ret) {
  static const struct {
    const char *name;
    char kind;
    unsigned bits;
  } types[] = {{"b8", 'b', 8},     {"u8", 'u', 8},      {"s8", 's', 8},     {"b16", 'b', 16},
               {"u16", 'u', 16},   {"s16", 's', 16},    {"f16", 'f', 16},   {"bf16", 'f', 16},
               {"b32", 'b', 32},   {"u32", 'u', 32},    {"s32", 's', 32},   {"f32", 'f', 32},
               {"f16x2", 'f', 32}, {"bf16x2", 'f', 32}, {"b64", 'b', 64},   {"u64", 'u', 64},
               {"s64", 's', 64},   {"f64", 'f', 64},    {"b128", 'b', 128}, {"pred", 'p', 1}};
  for (size_t i = 0; i < COUNT_OF(types); i++)
    if (take_part(d, types[i].name)) {
      *ret = (struct value_type){types[i].kind, types[i].bits, str_from(types[i].name)};
      return true;
    }
  return unknown_part(d);
}

enum sim_space take_space(struct decoder *d) {
  static const struct {
    const char *name;
    enum sim_space space;
  } spaces[] = {{"global", SIM_GLOBAL},      {"shared", SIM_SHARED},
                {"shared::cta", SIM_SHARED}, {"shared::cluster", SIM_SHARED_CLUSTER},
                {"local", SIM_LOCAL},        {"param", SIM_PARAM},
                {"param::entry", SIM_PARAM}, {"param::func", SIM_PARAM},
                {"const", SIM_CONST}};
  for (size_t i = 0; i < COUNT_OF(spaces); i++)
    if (take_part(d, spaces[i].name))
      return spaces[i].space;
  return SIM_GENERIC;
}

unsigned take_order(struct decoder *d) {
  static const char *const orders[] = {"relaxed", "acquire",  "release", "acq_rel",
                                       "sc",      "volatile", "weak",    NULL};
  static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
  static const unsigned bits[] = {ORDER_STRONG,
                                  ORDER_STRONG | ORDER_ACQUIRE,
                                  ORDER_STRONG | ORDER_RELEASE,
                                  ORDER_STRONG | ORDER_ACQUIRE | ORDER_RELEASE,
                                  ORDER_STRONG | ORDER_ACQUIRE | ORDER_RELEASE,
                                  ORDER_STRONG,
                                  0};
  int order = take_one_of(d, orders);
  take_one_of(d, scopes);
  return order < 0 ? 0 : bits[order];
}

void take_cache_hints(struct decoder *d, bool *ret_policy) {
  static const char *const hints[] = {"ca",
                                      "cg",
                                      "cs",
                                      "lu",
                                      "cv",
                                      "wb",
                                      "wt",
                                      "L1::evict_normal",
                                      "L1::evict_unchanged",
                                      "L1::evict_first",
                                      "L1::evict_last",
                                      "L1::no_allocate",
                                      "L2::evict_normal",
                                      "L2::evict_first",
                                      "L2::evict_last",
                                      "L2::64B",
                                      "L2::128B",
                                      "L2::256B",
                                      NULL};
  *ret_policy = false;
  for (;;) {
    if (take_part(d, "L2::cache_hint"))
      *ret_policy = true;
    else if (take_one_of(d, hints) < 0)
      return;
  }
}

// ---- operands ----

bool expect_operands(struct decoder *d, unsigned least, unsigned most) {
  unsigned n = d->in->operand_count;
  if (n >= least && n <= most)
    return true;
  return decode_error(d, "'%.*s' has %u operand%s here, not %u", STR_ARG(d->in->parts[0]), least,
                      least == 1 ? "" : "s", n);
}

int32_t constant_slot(struct decoder *d, uint64_t value) {
  struct str key = {(const char *)&value, sizeof value};
  uintptr_t known = (uintptr_t)map_get(&d->constant_slots, key);
  if (known)
    return (int32_t)known - 1;
  int32_t slot = (int32_t)(d->program->register_count + d->constants.len);
  vec_push(d->arena, &d->constants, value);
  map_put(d->arena, &d->constant_slots, key, (void *)(uintptr_t)(slot + 1));
  return slot;
}

int32_t new_slot(struct decoder *d) {
  vec_push(d->arena, &d->constants, 0);
  return (int32_t)(d->program->register_count + d->constants.len - 1);
}

static int32_t filled_slot(struct decoder *d, struct filled_slots *slots, uint64_t of) {
  for (size_t i = 0; i < slots->len; i++)
    if (slots->at[i].of == of)
      return slots->at[i].slot;
  int32_t slot = new_slot(d);
  vec_push(d->arena, slots, (struct filled_slot){slot, of});
  return slot;
}

unsigned slot_bits(const struct decoder *d, const struct operand *o) {
  return o->kind == OPERAND_REGISTER ? d->function->regs.at[o->reg].bits : 64;
}

static bool operand_error(struct decoder *d, const struct operand *o, const char *what) {
  if (o->name.len)
    return decode_error(d, "'%.*s': %s", (int)(o->name.len < 64 ? o->name.len : 64), o->name.ptr,
                        what);
  return decode_error(d, "an operand: %s", what);
}

static bool check_width(struct decoder *d, const struct operand *o, unsigned bits) {
  unsigned has = slot_bits(d, o);
  if ((has == 1) != (bits == 1))
    return operand_error(d, o,
                         has == 1 ? "a predicate where a value is wanted"
                                  : "a value where a predicate is wanted");
  return has >= bits || operand_error(d, o, "the register is narrower than the instruction's type");
}

static uint64_t float_bits(const struct operand *o, unsigned bits) {
  double wide;
  float narrow;
  uint32_t word;
  if (o->kind == OPERAND_FLOAT32 && bits == 64) {
    word = (uint32_t)o->value;
    memcpy(&narrow, &word, sizeof narrow);
    wide = (double)narrow;
    uint64_t ret;
    memcpy(&ret, &wide, sizeof ret);
    return ret;
  }
  if (o->kind == OPERAND_FLOAT64 && bits == 32) {
    memcpy(&wide, &o->value, sizeof wide);
    narrow = (float)wide;
    memcpy(&word, &narrow, sizeof word);
    return word;
  }
  return o->value;
}

// `!p`: emits an operation that negates p.
static void negate_op(struct warp *w, const struct op *op, uint32_t lanes) {
  EACH_LANE(lane, lanes)
  row(w, op->slots[0])[lane] = row(w, op->slots[1])[lane] ^ 1;
  spread_undefined(w, op, lanes, op->slots, 1, op->slots + 1, 1);
}

static int32_t negated_slot(struct decoder *d, int32_t slot) {
  struct op current = d->op;
  int32_t slots[] = {new_slot(d), slot};
  d->op.guard = NO_SLOT;
  emit(d, negate_op, slots, 2, NULL);
  d->op = current;
  return slots[0];
}

static int32_t variable_slot(struct decoder *d, const struct operand *o) {
  const struct variable *v = o->variable;
  uint64_t base = v->offset + (uint64_t)o->offset;
  if (v->is_dynamic) {
    unsigned align = d->module->dynamic_align;
    base += (d->module->shared_bytes + align - 1) & ~(uint64_t)(align - 1);
  } else if (v->space == SIM_LOCAL) {
    base += d->layout->local_base;
  } else if (v->space == SIM_PARAM && !v->is_kernel_param) {
    base += d->layout->call_base;
  } else if (v->space == SIM_GLOBAL || v->space == SIM_CONST) {
    base += MODULE_WINDOW;
  }
  return v->space == SIM_SHARED ? filled_slot(d, &d->shared_slots, base) : constant_slot(d, base);
}

int32_t source_slot(struct decoder *d, const struct operand *o, unsigned bits, bool is_float) {
  switch (o->kind) {
  case OPERAND_REGISTER:
    if (!check_width(d, o, bits))
      return NO_SLOT;
    if (o->negated && o != &d->in->guard)
      return negated_slot(d, (int32_t)(d->layout->reg_base + o->reg));
    return (int32_t)(d->layout->reg_base + o->reg);
  case OPERAND_INTEGER:
    if (is_float && bits >= 32)
      return operand_error(d, o, "an integer where a float is wanted"), NO_SLOT;
    return constant_slot(d, bits == 1 ? o->value != 0 : o->value);
  case OPERAND_FLOAT32:
  case OPERAND_FLOAT64: return constant_slot(d, float_bits(o, is_float ? bits : 0));
  case OPERAND_SPECIAL: return filled_slot(d, &d->specials, o->value);
  case OPERAND_VARIABLE: return variable_slot(d, o);
  default: operand_error(d, o, "cannot be read as a value here"); return NO_SLOT;
  }
}

int32_t result_slot(struct decoder *d, const struct operand *o, unsigned bits) {
  if (o->kind == OPERAND_SINK)
    return NO_SLOT;
  if (o->kind != OPERAND_REGISTER || o->negated) {
    operand_error(d, o, "cannot be written");
    return NO_SLOT;
  }
  return check_width(d, o, bits) ? (int32_t)(d->layout->reg_base + o->reg) : NO_SLOT;
}

bool vector_items(struct decoder *d, const struct operand *o, unsigned count,
                  const struct operand **ret) {
  *ret = o->kind == OPERAND_VECTOR ? o->items : o;
  unsigned has = o->kind == OPERAND_VECTOR ? o->item_count : 1;
  return has == count || decode_error(d, "'%.*s' wants %u value%s here, not %u",
                                      STR_ARG(d->in->parts[0]), count, count == 1 ? "" : "s", has);
}

bool constant_value(struct decoder *d, const struct operand *o, uint64_t *ret) {
  *ret = o->value;
  return o->kind == OPERAND_INTEGER || operand_error(d, o, "a constant is wanted");
}

bool decode_address(struct decoder *d, const struct operand *o, struct address *ret) {
  if (o->kind != OPERAND_ADDRESS || o->item_count != 1)
    return operand_error(d, o, "an address in brackets is wanted");
  const struct operand *base = &o->items[0];
  *ret = (struct address){.bits = 64, .offset = o->offset, .space = SIM_NO_SPACE};
  if (base->kind == OPERAND_REGISTER) {
    ret->bits = slot_bits(d, base);
    if (ret->bits != 32 && ret->bits != 64)
      return operand_error(d, base, "an address has 32 or 64 bits");
  } else if (base->kind == OPERAND_VARIABLE) {
    ret->space = base->variable->space;
    ret->is_kernel_param = base->variable->is_kernel_param;
  } else if (base->kind != OPERAND_INTEGER) {
    return operand_error(d, base, "no address");
  }
  ret->slot = source_slot(d, base, ret->bits, false);
  return !d->failed;
}

bool emit_plain(struct decoder *d, op_fn *run) {
  if (!expect_end(d) || !expect_operands(d, 0, 0))
    return false;
  emit(d, run, NULL, 0, NULL);
  return !d->failed;
}
