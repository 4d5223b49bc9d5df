// SPDX-License-Identifier: Apache-2.0
// atom and red (PTX ISA, 9.7.13.5 and 9.7.13.6): all operations and types, and vectors. The lanes
// of a warp execute in ascending order. Floats use the arithmetic of `add`, `min` and `max`, with
// the same rounding. f32 sums flush subnormals in global memory and keep them in shared memory.
#include "ptx-simulator/alu.h"
#include "ptx-simulator/decode.h"

enum { MAX_ELEMENTS = 8, MAX_BYTES = 32 };
enum atomic_kind { ATOMIC_ALU, ATOMIC_EXCH, ATOMIC_CAS, ATOMIC_INC, ATOMIC_DEC };

struct atomic {
  enum atomic_kind kind;
  struct address address;
  enum sim_space space;
  bool has_result, is_signed;
  unsigned bytes, count, order;           // of an element; elements; bits of `enum order`
  struct alu_instruction alu, alu_global; // for shared and for global memory
};

static uint64_t computed(const struct alu_instruction *alu, uint64_t old, uint64_t operand) {
  uint64_t in[2] = {old, operand}, out[ALU_MAX_RESULTS] = {0};
  alu->run(alu, in, out);
  return out[0];
}

static uint64_t updated(const struct atomic *a, enum sim_space space, uint64_t old,
                        const uint64_t *operands) {
  switch (a->kind) {
  case ATOMIC_ALU:
    return computed(space == SIM_GLOBAL ? &a->alu_global : &a->alu, old, operands[0]);
  case ATOMIC_EXCH: return operands[0];
  case ATOMIC_CAS: {
    uint64_t mask = a->bytes == 8 ? ~(uint64_t)0 : ((uint64_t)1 << (8 * a->bytes)) - 1;
    return old == (operands[0] & mask) ? operands[1] : old;
  }
  case ATOMIC_INC: return old >= (uint32_t)operands[0] ? 0 : old + 1;
  case ATOMIC_DEC: return old == 0 || old > (uint32_t)operands[0] ? (uint32_t)operands[0] : old - 1;
  }
  return old;
}

// Slots: results, operands of all elements, second operands (cas).
static void atomic_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct atomic *a = op->info;
  const int32_t *results = op->slots, *first = op->slots + a->count, *second = first + a->count;
  unsigned total = a->bytes * a->count;
  require_defined(w, op, a->address.slot, lanes, a->address.bits / 8, "the address");
  for (unsigned i = 0; i < a->count; i++)
    require_defined(w, op, first[i], lanes, a->bytes, "the operand of an atomic");
  EACH_LANE(lane, lanes) {
    struct location at;
    if (!locate(w, op, lane, a->space, address_of(w, &a->address, lane), total, ACCESS_WRITE, &at))
      return;
    uint8_t values[MAX_BYTES];
    for (unsigned i = 0; i < a->count; i++) {
      uint64_t old = 0, operands[2] = {row(w, first[i])[lane], 0};
      if (a->kind == ATOMIC_CAS)
        operands[1] = row(w, second[i])[lane];
      memcpy(&old, at.bytes + i * a->bytes, a->bytes);
      uint64_t value = updated(a, at.space, old, operands);
      memcpy(values + i * a->bytes, &value, a->bytes);
      if (results[i] != NO_SLOT) {
        if (a->is_signed && a->bytes == 4)
          old = (uint64_t)(int64_t)(int32_t)old;
        row(w, results[i])[lane] = old;
        set_defined(w, results[i], 1u << lane);
      }
    }
    if (w->undefined)
      shadow_atomic(w, op, lane, &at, total, a->order, values);
    memcpy(at.bytes, values, total);
    mark_location(&at, total);
  }
}

// The arithmetic instruction behind `.add.noftz.f16` and others: "add", "f16".
static bool find_arithmetic(struct decoder *d, struct atomic *a, const char *name,
                            const struct value_type *type) {
  struct str parts[3];
  unsigned n = 0;
  parts[n++] = str_from(name);
  bool is_add = type->kind == 'f' && strcmp(name, "add") == 0, is_f32 = str_is(type->name, "f32");
  if (is_add && type->bits < 64 && !is_f32 && d->next_part > 0)
    parts[n++] = STR("rn");
  parts[n] = type->name;
  bool ok = alu_decode(parts, n + 1, &a->alu);
  a->alu_global = a->alu;
  if (ok && is_add && is_f32) {
    parts[n++] = STR("ftz");
    parts[n] = type->name;
    ok = alu_decode(parts, n + 1, &a->alu_global);
  }
  if (ok && a->alu.source_count == 2 && a->alu.result_count == 1)
    return true;
  return decode_error(d, "unknown atomic operation '%s' of type '%.*s'", name, STR_ARG(type->name));
}

static bool decode_operation(struct decoder *d, struct atomic *a, struct value_type *type) {
  static const char *const names[] = {"add",  "min", "max", "and", "or", "xor",
                                      "exch", "cas", "inc", "dec", NULL};
  static const char *const vectors[] = {"v2", "v4", "v8", NULL};
  bool policy;
  take_cache_hints(d, &policy);
  int name = take_one_of(d, names);
  if (name < 0)
    return expect_part(d, "add");
  take_part(d, "noftz");
  take_cache_hints(d, &policy);
  int vector = take_one_of(d, vectors);
  if (!take_type(d, type) || !expect_end(d))
    return false;
  if (policy)
    return decode_error(d, "cache hints of atomics are not supported");
  a->count = vector < 0 ? 1 : 2u << vector;
  a->bytes = type->bits / 8;
  a->is_signed = type->kind == 's';
  if (type->bits < 16 || type->bits > 64 || a->count * a->bytes > 32)
    return decode_error(d, "an atomic of such a type is not supported");
  a->kind = name <= 5   ? ATOMIC_ALU
            : name == 6 ? ATOMIC_EXCH
            : name == 7 ? ATOMIC_CAS
            : name == 8 ? ATOMIC_INC
                        : ATOMIC_DEC;
  if ((a->kind == ATOMIC_INC || a->kind == ATOMIC_DEC) && !str_is(type->name, "u32"))
    return decode_error(d, "'inc' and 'dec' are of .u32");
  if (a->kind == ATOMIC_CAS && (type->kind != 'b' || a->count > 1))
    return decode_error(d, "'cas' is of .b16, .b32 or .b64");
  return a->kind != ATOMIC_ALU || find_arithmetic(d, a, names[name], type);
}

bool decode_atomic(struct decoder *d) {
  struct atomic *a = arena_new(d->arena, struct atomic);
  struct value_type type;
  const struct operand *items;
  a->has_result = str_is(d->in->parts[0], "atom");
  a->order = take_order(d) | ORDER_STRONG;
  a->space = take_space(d);
  if (!decode_operation(d, a, &type))
    return false;
  unsigned want = 2u + a->has_result + (a->kind == ATOMIC_CAS);
  const struct operand *o = d->in->operands;
  if (!expect_operands(d, want, want))
    return false;
  int32_t slots[3 * MAX_ELEMENTS];
  for (unsigned i = 0; i < COUNT_OF(slots); i++)
    slots[i] = NO_SLOT;
  if (a->has_result) {
    if (!vector_items(d, o++, a->count, &items))
      return false;
    for (unsigned i = 0; i < a->count; i++)
      slots[i] = result_slot(d, &items[i], type.bits);
  }
  if (!decode_address(d, o++, &a->address) || !vector_items(d, o++, a->count, &items))
    return false;
  if (a->address.space == SIM_PARAM || a->space == SIM_PARAM || a->space == SIM_CONST)
    return decode_error(d, "atomics are of global and shared memory");
  if (a->space == SIM_GENERIC && a->address.space != SIM_NO_SPACE)
    a->space = a->address.space;
  for (unsigned i = 0; i < a->count; i++)
    slots[a->count + i] = source_slot(d, &items[i], type.bits, type.kind == 'f');
  if (a->kind == ATOMIC_CAS)
    slots[2 * a->count] = source_slot(d, o, type.bits, false);
  emit(d, atomic_op, slots, 3 * a->count, a);
  return !d->failed;
}
