// SPDX-License-Identifier: Apache-2.0
// Encoding of tensor maps, and the walk through a box of one (tensor_map.h).
#include "ptx-simulator/tensor_map.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAGIC UINT64_C(0x70616d726f736e74)
#define MAX_SIZE ((uint64_t)1 << 32)
#define MAX_STRIDE ((uint64_t)1 << 40)

enum { MAX_BOX = 256 };

// What the 128 bytes hold.
struct encoded {
  uint64_t magic, address, strides[TENSOR_MAX_RANK];
  uint32_t last[TENSOR_MAX_RANK]; // sizes minus 1
  uint16_t box[TENSOR_MAX_RANK];
  uint8_t type, rank, swizzle, fill;
  uint32_t set; // fields that have a value: FIELD_BIT
  uint32_t sum;
};
_Static_assert(sizeof(struct encoded) <= SIM_TENSOR_MAP_BYTES, "a tensor map has 128 bytes");

// The bit of a field, and of one of its dimensions.
static uint32_t field_bit(enum tensor_field f, unsigned dim) {
  static const uint8_t first[] = {
      [FIELD_ADDRESS] = 0, [FIELD_RANK] = 1,           [FIELD_TYPE] = 2, [FIELD_INTERLEAVE] = 3,
      [FIELD_SWIZZLE] = 4, [FIELD_FILL] = 5,           [FIELD_BOX] = 6,  [FIELD_SIZE] = 11,
      [FIELD_STRIDE] = 16, [FIELD_ELEMENT_STRIDE] = 21};
  return 1u << (first[f] + dim);
}

static uint32_t all_fields(unsigned rank) {
  uint32_t all = field_bit(FIELD_BOX, 0) - 1;
  for (unsigned i = 0; i < rank; i++)
    all |= field_bit(FIELD_BOX, i) | field_bit(FIELD_SIZE, i) | field_bit(FIELD_ELEMENT_STRIDE, i) |
           (i ? field_bit(FIELD_STRIDE, i - 1) : 0);
  return all;
}

static uint32_t checksum(const struct encoded *e) {
  const uint8_t *bytes = (const uint8_t *)e;
  uint32_t sum = 2166136261u;
  for (size_t i = 0; i < offsetof(struct encoded, sum); i++)
    sum = (sum ^ bytes[i]) * 16777619u;
  return sum;
}

static unsigned element_bytes(enum sim_tensor_type t) {
  static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return (unsigned)t < COUNT_OF(bytes) ? bytes[t] : 0;
}

static bool is_float(enum sim_tensor_type t) { return t >= SIM_TENSOR_F16; }

// ---- encoding ----

struct refusal {
  char *text;
  size_t size;
};
static bool refuse(const struct refusal *r, const char *format, ...) PRINTF(2, 3);
static bool refuse(const struct refusal *r, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (r->size)
    vsnprintf(r->text, r->size, format, args);
  va_end(args);
  return false;
}

static bool check_modes(const struct sim_tensor *t, const struct refusal *r) {
  unsigned element = element_bytes(t->type);
  if (!element)
    return refuse(r, "there is no element type %d", (int)t->type);
  if (t->rank < 1 || t->rank > TENSOR_MAX_RANK)
    return refuse(r, "the rank is %u; it may be 1 to 5", t->rank);
  if (t->address % 16)
    return refuse(r, "the address 0x%llx is no multiple of 16", (unsigned long long)t->address);
  if (t->interleave != 0)
    return refuse(r, "interleaved layouts are not supported");
  if (t->swizzle > SIM_SWIZZLE_128)
    return refuse(r, "there is no swizzle %d", (int)t->swizzle);
  if (t->promotion > 3)
    return refuse(r, "there is no L2 promotion %u", t->promotion);
  if (t->fill_nan && !is_float(t->type))
    return refuse(r, "only floats are filled with NaN outside of the tensor");
  return true;
}

static bool check_dimension(const struct sim_tensor *t, unsigned i, const struct refusal *r) {
  if (t->sizes[i] < 1 || t->sizes[i] > MAX_SIZE)
    return refuse(r, "dimension %u has %llu elements; it may have 1 to 2^32", i,
                  (unsigned long long)t->sizes[i]);
  if (t->box[i] < 1 || t->box[i] > MAX_BOX)
    return refuse(r, "the box has %u elements in dimension %u; it may have 1 to 256", t->box[i], i);
  if (t->element_strides[i] != 1)
    return refuse(r, "the element stride of dimension %u is %u; only 1 is supported", i,
                  t->element_strides[i]);
  if (i > 0 && (t->strides[i - 1] % 16 || t->strides[i - 1] >= MAX_STRIDE))
    return refuse(r,
                  "the stride of dimension %u is %llu bytes; it must be a multiple of 16 below "
                  "2^40",
                  i, (unsigned long long)t->strides[i - 1]);
  return true;
}

static bool check(const struct sim_tensor *t, const struct refusal *r) {
  if (!check_modes(t, r))
    return false;
  for (unsigned i = 0; i < t->rank; i++)
    if (!check_dimension(t, i, r))
      return false;
  unsigned row = t->box[0] * element_bytes(t->type), span = 16u << t->swizzle;
  if (row % 16)
    return refuse(r, "a row of the box has %u bytes, no multiple of 16", row);
  if (t->swizzle != SIM_SWIZZLE_NONE && row > span)
    return refuse(r, "a row of the box has %u bytes, more than the swizzle's %u", row, span);
  return true;
}

bool sim_tensor_map_encode(const struct sim_tensor *t, uint8_t ret_map[SIM_TENSOR_MAP_BYTES],
                           char *ret_text, size_t text_size) {
  if (!check(t, &(struct refusal){ret_text, text_size}))
    return false;
  struct encoded e;
  memset(&e, 0, sizeof e); // its padding, too
  e.magic = MAGIC;
  e.address = t->address;
  e.type = (uint8_t)t->type;
  e.rank = (uint8_t)t->rank;
  e.swizzle = (uint8_t)t->swizzle;
  e.fill = t->fill_nan;
  for (unsigned i = 0; i < t->rank; i++) {
    e.last[i] = (uint32_t)(t->sizes[i] - 1);
    e.box[i] = (uint16_t)t->box[i];
    e.strides[i] = i ? t->strides[i - 1] : element_bytes(t->type);
  }
  e.set = all_fields(t->rank);
  e.sum = checksum(&e);
  memset(ret_map, 0, SIM_TENSOR_MAP_BYTES);
  memcpy(ret_map, &e, sizeof e);
  return true;
}

// ---- tensormap.replace ----

// Element types are numbered otherwise than by the driver.
static bool take_type(struct encoded *e, uint64_t value) {
  static const uint8_t types[] = {
      SIM_TENSOR_U8,   SIM_TENSOR_U16,  SIM_TENSOR_U32,     SIM_TENSOR_I32,     SIM_TENSOR_U64,
      SIM_TENSOR_I64,  SIM_TENSOR_F16,  SIM_TENSOR_F32,     SIM_TENSOR_F32_FTZ, SIM_TENSOR_F64,
      SIM_TENSOR_BF16, SIM_TENSOR_TF32, SIM_TENSOR_TF32_FTZ};
  if (value >= COUNT_OF(types))
    return false;
  e->type = types[value];
  return true;
}

static bool take_field(struct encoded *e, enum tensor_field f, unsigned dim, uint64_t value) {
  switch (f) {
  case FIELD_ADDRESS: e->address = value; return value % 16 == 0;
  case FIELD_RANK: e->rank = (uint8_t)(value + 1); return value < TENSOR_MAX_RANK;
  case FIELD_BOX: e->box[dim] = (uint16_t)value; return value >= 1 && value <= MAX_BOX;
  case FIELD_SIZE: e->last[dim] = (uint32_t)value - 1; return value >= 1;
  case FIELD_STRIDE:
    if (dim + 1 < TENSOR_MAX_RANK)
      e->strides[dim + 1] = value;
    return dim + 1 < TENSOR_MAX_RANK && value % 16 == 0 && value < MAX_STRIDE;
  case FIELD_ELEMENT_STRIDE:
  case FIELD_INTERLEAVE: return value == (f == FIELD_ELEMENT_STRIDE); // others: not supported
  case FIELD_TYPE: return take_type(e, value);
  case FIELD_SWIZZLE: e->swizzle = (uint8_t)value; return value <= SIM_SWIZZLE_128;
  case FIELD_FILL: e->fill = value == 1; return value <= 1;
  }
  return false;
}

static bool is_zero(const uint8_t *bytes, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (bytes[i])
      return false;
  return true;
}

bool tensor_map_replace(uint8_t bytes[SIM_TENSOR_MAP_BYTES], enum tensor_field field, unsigned dim,
                        uint64_t value, char *ret_text, size_t text_size) {
  static const char *const names[] = {[FIELD_ADDRESS] = "the address",
                                      [FIELD_RANK] = "the rank less 1",
                                      [FIELD_BOX] = "the box of dimension",
                                      [FIELD_SIZE] = "the size of dimension",
                                      [FIELD_STRIDE] = "the stride of dimension 1 +",
                                      [FIELD_ELEMENT_STRIDE] = "the element stride of dimension",
                                      [FIELD_TYPE] = "the element type",
                                      [FIELD_INTERLEAVE] = "the interleaved layout",
                                      [FIELD_SWIZZLE] = "the swizzle",
                                      [FIELD_FILL] = "the fill mode"};
  struct refusal r = {ret_text, text_size};
  struct encoded e;
  memcpy(&e, bytes, sizeof e);
  bool is_new = is_zero(bytes, SIM_TENSOR_MAP_BYTES);
  if (!is_new && (e.magic != MAGIC || e.sum != checksum(&e)))
    return refuse(&r, "the memory has neither a tensor map nor zeros");
  bool has_dim = field_bit(field, 0) >= field_bit(FIELD_BOX, 0);
  if (!take_field(&e, field, dim, value))
    return has_dim ? refuse(&r, "%s %u of a tensor map cannot be %llu", names[field], dim,
                            (unsigned long long)value)
                   : refuse(&r, "%s of a tensor map cannot be %llu", names[field],
                            (unsigned long long)value);
  e.magic = MAGIC;
  e.set |= field_bit(field, dim);
  e.sum = checksum(&e);
  memcpy(bytes, &e, sizeof e);
  return true;
}

// Do the fields fit together? As of cuTensorMapEncodeTiled.
static bool is_whole(const struct encoded *e) {
  if (e->rank < 1 || e->rank > TENSOR_MAX_RANK)
    return false;
  unsigned row = e->box[0] * element_bytes((enum sim_tensor_type)e->type);
  return (e->set & all_fields(e->rank)) == all_fields(e->rank) && row % 16 == 0 &&
         (e->swizzle == SIM_SWIZZLE_NONE || row <= 16u << e->swizzle) &&
         (!e->fill || is_float((enum sim_tensor_type)e->type));
}

bool tensor_map_decode(const uint8_t bytes[SIM_TENSOR_MAP_BYTES], struct tensor_map *ret) {
  struct encoded e;
  memcpy(&e, bytes, sizeof e);
  if (e.magic != MAGIC || e.sum != checksum(&e) || !is_whole(&e))
    return false;
  *ret = (struct tensor_map){.type = (enum sim_tensor_type)e.type,
                             .rank = e.rank,
                             .element = element_bytes((enum sim_tensor_type)e.type),
                             .address = e.address,
                             .swizzle = 16u << e.swizzle,
                             .fill_nan = e.fill};
  for (unsigned i = 0; i < e.rank; i++) {
    ret->sizes[i] = (uint64_t)e.last[i] + 1;
    ret->strides[i] = i ? e.strides[i] : ret->element;
    ret->box[i] = e.box[i];
  }
  return true;
}

// ---- boxes ----

unsigned tensor_map_box_bytes(const struct tensor_map *m) {
  unsigned bytes = m->element;
  for (unsigned i = 0; i < m->rank; i++)
    bytes *= m->box[i];
  return bytes;
}

void tensor_map_fill(const struct tensor_map *m, uint8_t *ret) {
  memset(ret, 0, m->element);
  if (!m->fill_nan)
    return;
  memset(ret, 0xff, m->element); // a NaN of each type, positive
  ret[m->element - 1] = 0x7f;
}

// Chunks of 16 bytes change their order within a row of the swizzle, by the address of the row, as
// descriptors of wgmma read them.
static uint32_t swizzled(const struct tensor_map *m, uint32_t at) {
  uint32_t phases = m->swizzle / TENSOR_CHUNK;
  return at ^ ((at >> 7 & (phases - 1)) << 4);
}

static unsigned smallest(unsigned a, unsigned b) { return a < b ? a : b; }

// The largest power of two up to 16 bytes that fits.
static unsigned piece_bytes(uint64_t global, uint32_t shared, uint64_t left) {
  unsigned most = smallest(TENSOR_CHUNK - shared % TENSOR_CHUNK,
                           left < TENSOR_CHUNK ? (unsigned)left : TENSOR_CHUNK);
  if (global % TENSOR_CHUNK)
    most = smallest(most, (unsigned)(global & (0 - global)) % TENSOR_CHUNK);
  while (most & (most - 1))
    most &= most - 1;
  return most;
}

struct walk {
  const struct tensor_map *m;
  uint64_t columns; // elements of a row that the copy reads or writes
  bool (*visit)(void *user, const struct tensor_piece *piece);
  void *user;
};

// A row of the box: the elements from `first` on of a row of the array, or nothing of the array.
static bool visit_row(const struct walk *x, bool is_inside, uint64_t row, int64_t first,
                      uint32_t shared) {
  const struct tensor_map *m = x->m;
  uint64_t end = (uint64_t)m->box[0] * m->element;
  for (uint64_t i = 0; i < end;) {
    int64_t element = first + (int64_t)(i / m->element);
    struct tensor_piece p = {.shared = swizzled(m, shared + (uint32_t)i)};
    p.is_inside = is_inside && element >= 0 && (uint64_t)element < x->columns;
    uint64_t left = m->element - i % m->element; // of this element
    if (p.is_inside) {
      uint64_t beyond = x->columns - (uint64_t)element - 1;
      left += (beyond < m->box[0] ? beyond : m->box[0]) * m->element;
      p.global = row + (uint64_t)element * m->element + i % m->element;
    }
    p.bytes = piece_bytes(p.global, p.shared, left < end - i ? left : end - i);
    if (!x->visit(x->user, &p))
      return false;
    i += p.bytes;
  }
  return true;
}

// A store writes whole chunks of 16 bytes: those in which a row ends, too (seen on an H200).
static uint64_t columns_of(const struct tensor_map *m, bool is_store) {
  unsigned chunk = TENSOR_CHUNK / m->element;
  return is_store ? (m->sizes[0] + chunk - 1) / chunk * chunk : m->sizes[0];
}

bool tensor_map_visit(const struct tensor_map *m, bool is_store, const int32_t *at, uint32_t shared,
                      bool (*visit)(void *user, const struct tensor_piece *piece), void *user) {
  struct walk x = {m, columns_of(m, is_store), visit, user};
  unsigned rows = tensor_map_box_bytes(m) / (m->box[0] * m->element);
  for (unsigned i = 0; i < rows; i++) {
    bool is_inside = true;
    uint64_t row = m->address;
    for (unsigned k = 1, rest = i; k < m->rank; rest /= m->box[k], k++) {
      int64_t index = (int64_t)at[k] + rest % m->box[k];
      is_inside = is_inside && index >= 0 && (uint64_t)index < m->sizes[k];
      row += (uint64_t)index * m->strides[k];
    }
    if (!visit_row(&x, is_inside, row, at[0], shared + i * m->box[0] * m->element))
      return false;
  }
  return true;
}

bool tensor_visit_bytes(uint64_t global, uint32_t shared, uint32_t bytes,
                        bool (*visit)(void *user, const struct tensor_piece *piece), void *user) {
  for (uint32_t i = 0; i < bytes; i += TENSOR_CHUNK) {
    struct tensor_piece p = {shared + i, TENSOR_CHUNK, true, global + i};
    if (!visit(user, &p))
      return false;
  }
  return true;
}
