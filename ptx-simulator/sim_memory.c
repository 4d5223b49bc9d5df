// SPDX-License-Identifier: Apache-2.0
// ld and st (PTX ISA, 9.7.9.8 and 9.7.9.11): all spaces, elements of 1 to 16 bytes, vectors.
#include "ptx-simulator/decode.h"

enum { MAX_VECTOR = 8, MAX_ACCESS = 32 }; // elements, bytes

struct access {
  struct address address;
  enum sim_space space;
  unsigned bytes, count; // of an element; elements
  unsigned order;
  bool is_signed;
};

static uint64_t read_element(const uint8_t *from, unsigned bytes, bool is_signed) {
  uint64_t value = 0;
  memcpy(&value, from, bytes);
  if (is_signed && bytes < 8)
    value = (uint64_t)((int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes));
  return value;
}

static void load_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct access *a = op->info;
  unsigned bytes = a->bytes, total = bytes * a->count;
  require_defined(w, op, a->address.slot, lanes, a->address.bits / 8, "the address");
  EACH_LANE(lane, lanes) {
    struct location at;
    uint64_t address = address_of(w, &a->address, lane);
    if (!locate(w, op, lane, a->space, address, total, ACCESS_READ, &at))
      return;
    uint32_t undefined = w->undefined ? shadow_read(w, op, lane, &at, total, a->order) : 0;
    for (unsigned i = 0; i < a->count; i++) {
      int32_t slot = op->slots[i];
      if (slot == NO_SLOT)
        continue;
      row(w, slot)[lane] = read_element(at.bytes + i * bytes, bytes, a->is_signed);
      if (w->undefined)
        set_undefined(w, op, slot, lane, undefined >> (i * bytes) & ((1u << bytes) - 1));
    }
  }
}

// Undefined bytes of a lane's values; storing those to global memory is a violation.
static uint32_t undefined_bytes_stored(struct warp *w, const struct op *op, unsigned lane,
                                       const struct access *a, enum sim_space space) {
  uint32_t undefined = 0, mask = (1u << a->bytes) - 1;
  for (unsigned i = 0; i < a->count; i++)
    undefined |= (undefined_of(w, op->slots[i], lane) & mask) << (i * a->bytes);
  if (undefined && space == SIM_GLOBAL)
    for (unsigned i = 0; i < a->count; i++)
      require_defined(w, op, op->slots[i], 1u << lane, a->bytes, "the value stored");
  return undefined;
}

static void store_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct access *a = op->info;
  unsigned bytes = a->bytes, total = bytes * a->count;
  require_defined(w, op, a->address.slot, lanes, a->address.bits / 8, "the address");
  EACH_LANE(lane, lanes) {
    struct location at;
    uint64_t address = address_of(w, &a->address, lane);
    if (!locate(w, op, lane, a->space, address, total, ACCESS_WRITE, &at))
      return;
    uint8_t values[MAX_ACCESS];
    for (unsigned i = 0; i < a->count; i++)
      memcpy(values + i * bytes, &row(w, op->slots[i])[lane], bytes);
    if (w->undefined)
      shadow_write(w, op, lane, &at, total, a->order,
                   undefined_bytes_stored(w, op, lane, a, at.space), values);
    mark_location(&at, total);
    memcpy(at.bytes, values, total);
  }
}

// `.v4` and the type.
static bool take_shape(struct decoder *d, struct access *a, struct value_type *ret_type) {
  static const char *const vectors[] = {"v2", "v4", "v8", NULL};
  int v = take_one_of(d, vectors);
  if (!take_type(d, ret_type))
    return false;
  a->count = v < 0 ? 1 : 2u << v;
  a->bytes = ret_type->bits / 8;
  a->is_signed = ret_type->kind == 's';
  if (ret_type->bits < 8 || ret_type->bits > 64 || a->count * a->bytes > 32)
    return decode_error(d, "'%.*s' of such a type is not supported", STR_ARG(d->in->parts[0]));
  return true;
}

// Parameters of functions, other than the kernel's, are in the thread's local memory.
static bool resolve_space(struct decoder *d, struct access *a) {
  const struct address *at = &a->address;
  if (a->space == SIM_GENERIC && at->space != SIM_NO_SPACE)
    a->space = at->space == SIM_PARAM ? SIM_GENERIC : at->space;
  if (a->space != SIM_PARAM)
    return true;
  if (at->space != SIM_PARAM && at->space != SIM_NO_SPACE)
    return decode_error(d, "the variable is not in the instruction's space");
  if (at->space == SIM_PARAM && !at->is_kernel_param)
    a->space = SIM_LOCAL;
  return true;
}

static bool decode_policy(struct decoder *d, bool has_policy, unsigned operand) {
  return !has_policy || source_slot(d, &d->in->operands[operand], 64, false) != NO_SLOT;
}

bool decode_load(struct decoder *d) {
  struct access *a = arena_new(d->arena, struct access);
  struct value_type type;
  const struct operand *items;
  bool policy;
  a->order = take_order(d);
  a->space = take_space(d);
  take_cache_hints(d, &policy);
  if (take_part(d, "nc") && !policy)
    take_cache_hints(d, &policy);
  if (!take_shape(d, a, &type) || !expect_end(d) || !expect_operands(d, 2 + policy, 2 + policy) ||
      !vector_items(d, &d->in->operands[0], a->count, &items) ||
      !decode_address(d, &d->in->operands[1], &a->address) || !resolve_space(d, a) ||
      !decode_policy(d, policy, 2))
    return false;
  int32_t slots[MAX_VECTOR];
  for (unsigned i = 0; i < a->count; i++)
    slots[i] = result_slot(d, &items[i], type.bits);
  emit(d, load_op, slots, a->count, a);
  return !d->failed;
}

bool decode_store(struct decoder *d) {
  struct access *a = arena_new(d->arena, struct access);
  struct value_type type;
  const struct operand *items;
  bool policy;
  a->order = take_order(d);
  a->space = take_space(d);
  take_cache_hints(d, &policy);
  if (!take_shape(d, a, &type) || !expect_end(d) || !expect_operands(d, 2 + policy, 2 + policy) ||
      !vector_items(d, &d->in->operands[1], a->count, &items) ||
      !decode_address(d, &d->in->operands[0], &a->address) || !resolve_space(d, a) ||
      !decode_policy(d, policy, 2))
    return false;
  if (a->space == SIM_CONST || (a->space == SIM_PARAM && a->address.is_kernel_param))
    return decode_error(d, "%s memory cannot be written", sim_space_name(a->space));
  int32_t slots[MAX_VECTOR];
  for (unsigned i = 0; i < a->count; i++)
    slots[i] = source_slot(d, &items[i], type.bits, type.kind == 'f');
  emit(d, store_op, slots, a->count, a);
  return !d->failed;
}
