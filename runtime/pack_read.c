// SPDX-License-Identifier: Apache-2.0
// Validates a pack. The file is untrusted: every count, offset and text is checked against the
// file's size before it is used, and a hash covers the tables. Tables must be filled in order
// without gaps, so that each byte has one meaning.
#include "base/sha256.h"
#include "runtime/pack.h"
#include "runtime/runtime_internal.h"

#define MAX_ENTRIES (1u << 20) // of one table
#define LAST_RANK 5u           // of tensor descriptors

static tile_status unsound(const char *what) {
  return status_set(TILE_INVALID_ARGUMENT, "invalid pack: %s", what);
}

static void index_hash(const uint8_t *data, size_t index_bytes, uint8_t digest[32]) {
  struct sha256 h;
  sha256_init(&h);
  sha256_update(&h, data, PACK_AT_SHA);
  sha256_update(&h, data + PACK_HEADER_BYTES, index_bytes - PACK_HEADER_BYTES);
  sha256_final(&h, digest);
}

static tile_status read_header(const uint8_t *data, size_t size, struct tile_pack *p) {
  if (size < PACK_HEADER_BYTES || memcmp(data, PACK_MAGIC, 8) != 0)
    return unsound("it does not begin as one");
  uint32_t version = pack_u32(data + PACK_AT_VERSION);
  if (version < 1 || version > PACK_VERSION)
    return status_set(
        TILE_INVALID_ARGUMENT,
        "the pack has version %u of the format; this library reads versions up to %d\n"
        "  = help: make it again with the tilec of this version",
        version, PACK_VERSION);
  p->version = version;
  if (pack_u64(data + PACK_AT_FILE_BYTES) != size)
    return unsound("its length is not the one it was written with");
  uint64_t index = pack_u64(data + PACK_AT_INDEX_BYTES);
  if (index < PACK_HEADER_BYTES || index > size)
    return unsound("its tables reach past its end");
  uint8_t digest[32];
  index_hash(data, (size_t)index, digest);
  if (memcmp(digest, data + PACK_AT_SHA, sizeof digest) != 0)
    return unsound("its tables were changed after it was made");
  if (pack_u32(data + PACK_AT_FLAGS) != 0 || pack_u64(data + PACK_AT_ZERO) != 0)
    return unsound("a field that must be zero is not");
  p->data = data;
  p->size = size;
  return TILE_OK;
}

static tile_status place_tables(struct tile_pack *p) {
  static const unsigned bytes[PACK_TABLES] = {
      PACK_KERNEL_BYTES, PACK_PARAM_BYTES, PACK_VARIANT_BYTES, PACK_HINT_BYTES, PACK_CODE_BYTES, 1};
  uint64_t at = PACK_HEADER_BYTES, index = pack_u64(p->data + PACK_AT_INDEX_BYTES);
  for (int t = 0; t < PACK_TABLES; t++) {
    p->counts[t] = pack_u32(p->data + PACK_AT_COUNTS + 4 * t);
    if (t != PACK_TEXT && p->counts[t] > MAX_ENTRIES)
      return unsound("it has too many entries");
    if (at > index)
      return unsound("its tables do not fit");
    p->tables[t] = p->data + at;
    at += (uint64_t)p->counts[t] * bytes[t];
  }
  if (at != index)
    return unsound("its tables do not fit");
  uint32_t text = p->counts[PACK_TEXT];
  if (text == 0 || p->tables[PACK_TEXT][text - 1] != 0)
    return unsound("its texts do not end");
  return TILE_OK;
}

// A text that begins inside the table also ends inside it: the table ends with a NUL.
static bool is_text(const struct tile_pack *p, const uint8_t *field) {
  return pack_u32(field) < p->counts[PACK_TEXT];
}

static bool is_hint(uint32_t n) { return n == 0 || is_pow2(n); }

// The fields of a parameter that describe a tensor descriptor.
static bool check_descriptor(const struct tile_pack *p, const uint8_t *e) {
  uint32_t rank = pack_param_rank(e), block = pack_u32(e + PACK_PARAM_BLOCK);
  if (!rank)
    return e[PACK_PARAM_DESCRIPTOR] == 0 && block == 0;
  return p->version >= 3 && rank <= LAST_RANK && e[PACK_PARAM_IS_POINTER] &&
         e[PACK_PARAM_DESCRIPTOR] <= (PACK_DESCRIPTOR_RANK | PACK_DESCRIPTOR_NAN) &&
         block >> (PACK_BLOCK_BITS * rank) == 0;
}

// The sizes and strides behind the base of a descriptor.
static bool check_parts(const struct tile_pack *p, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *e = pack_entry(p, PACK_PARAMS, first + i);
    uint32_t rank = pack_param_rank(e);
    if (pack_param_span(e) > count - i)
      return false;
    for (uint32_t k = 1; k < pack_param_span(e); k++) {
      const uint8_t *part = e + (size_t)k * PACK_PARAM_BYTES;
      if (part[PACK_PARAM_IS_POINTER] ||
          part[PACK_PARAM_DTYPE] != (k <= rank ? DTYPE_I32 : DTYPE_I64))
        return false;
    }
  }
  return true;
}

static bool check_param(const struct tile_pack *p, uint32_t i) {
  const uint8_t *e = pack_entry(p, PACK_PARAMS, i);
  return is_text(p, e + PACK_PARAM_NAME) && e[PACK_PARAM_DTYPE] < DTYPE_COUNT &&
         e[PACK_PARAM_IS_POINTER] <= 1 && e[PACK_PARAM_IS_CONST] <= 1 &&
         is_pow2(pack_u32(e + PACK_PARAM_DIVISIBLE)) && check_descriptor(p, e);
}

// The fields that images do not have.
static bool check_format(const struct tile_pack *p, const uint8_t *e) {
  uint32_t format = pack_u32(e + PACK_CODE_FORMAT), flags = pack_u16(e + PACK_CODE_FLAGS);
  if (format == PACK_IMAGE)
    return p->version >= 4 && flags <= (PACK_CALLS_PROGRAMS | PACK_COLLECTIVES) &&
           pack_u32(e + PACK_CODE_MAPS) == 0 && pack_u16(e + PACK_CODE_PRODUCERS) == 0;
  return (format == PACK_PTX || format == PACK_CUBIN) && flags <= PACK_MAX_FLAGS;
}

static bool check_code(const struct tile_pack *p, uint32_t i, uint64_t *end) {
  const uint8_t *e = pack_entry(p, PACK_CODES, i);
  uint64_t offset = pack_u64(e + PACK_CODE_OFFSET), size = pack_u64(e + PACK_CODE_SIZE);
  uint64_t begin = (*end + PACK_ALIGN - 1) / PACK_ALIGN * PACK_ALIGN;
  if (!is_text(p, e + PACK_CODE_SYMBOL) || !is_text(p, e + PACK_CODE_TARGET) ||
      !check_format(p, e) || pack_u32(e + PACK_CODE_SPECIFIC) > 1 ||
      pack_u32(e + PACK_CODE_CAPABILITY) > 9999 || !is_text(p, e + PACK_CODE_MAPS) ||
      (p->version == 1 && pack_u64(e + PACK_CODE_MAPS) != 0) ||
      (p->version < 3 && pack_u16(e + PACK_CODE_FLAGS) != 0) ||
      pack_u16(e + PACK_CODE_PRODUCERS) > 32 || pack_u32(e + PACK_CODE_SHARED) > INT32_MAX ||
      offset != begin || size == 0 || offset > p->size || size > p->size - offset)
    return false;
  *end = offset + size;
  return true;
}

// How far each table has been used.
struct filled {
  uint32_t params, variants, hints, codes;
};

static bool take(uint32_t *filled, uint32_t first, uint32_t count, uint32_t limit) {
  if (first != *filled || count > limit - *filled)
    return false;
  *filled += count;
  return true;
}

static bool check_variant(const struct tile_pack *p, uint32_t i, uint32_t param_count,
                          struct filled *f) {
  const uint8_t *e = pack_entry(p, PACK_VARIANTS, i);
  uint32_t codes = pack_u32(e + PACK_VARIANT_CODE_COUNT),
           warps = pack_u32(e + PACK_VARIANT_NUM_WARPS);
  return take(&f->hints, pack_u32(e + PACK_VARIANT_FIRST_HINT), param_count,
              p->counts[PACK_HINTS]) &&
         take(&f->codes, pack_u32(e + PACK_VARIANT_FIRST_CODE), codes, p->counts[PACK_CODES]) &&
         codes > 0 && is_pow2(warps) && warps <= 32 && pack_u32(e + PACK_VARIANT_ZERO) == 0;
}

// A parameter with a hint "equals 1" is an integer.
static bool check_hints(const struct tile_pack *p, uint32_t variant, uint32_t first_param,
                        uint32_t param_count) {
  uint32_t first = pack_u32(pack_entry(p, PACK_VARIANTS, variant) + PACK_VARIANT_FIRST_HINT);
  for (uint32_t i = 0; i < param_count; i++) {
    const uint8_t *param = pack_entry(p, PACK_PARAMS, first_param + i);
    uint32_t hint = pack_u32(pack_entry(p, PACK_HINTS, first + i));
    bool is_int =
        !param[PACK_PARAM_IS_POINTER] && dtype_is_int((enum dtype)param[PACK_PARAM_DTYPE]);
    if (!is_hint(hint) || (hint == 0 && !is_int))
      return false;
  }
  return true;
}

static bool check_kernel(const struct tile_pack *p, uint32_t i, struct filled *f) {
  const uint8_t *e = pack_entry(p, PACK_KERNELS, i);
  uint32_t params = pack_u32(e + PACK_KERNEL_PARAM_COUNT);
  uint32_t variants = pack_u32(e + PACK_KERNEL_VARIANT_COUNT);
  uint32_t first_param = f->params, first_variant = f->variants;
  if (!is_text(p, e + PACK_KERNEL_NAME) || !is_text(p, e + PACK_KERNEL_SOURCE_NAME) ||
      !is_text(p, e + PACK_KERNEL_CONSTANTS) || params > PACK_MAX_PARAMS || variants == 0 ||
      pack_u32(e + PACK_KERNEL_ZERO) != 0 ||
      !take(&f->params, pack_u32(e + PACK_KERNEL_FIRST_PARAM), params, p->counts[PACK_PARAMS]) ||
      !take(&f->variants, pack_u32(e + PACK_KERNEL_FIRST_VARIANT), variants,
            p->counts[PACK_VARIANTS]) ||
      !check_parts(p, first_param, params))
    return false;
  for (uint32_t v = 0; v < variants; v++)
    if (!check_variant(p, first_variant + v, params, f) ||
        !check_hints(p, first_variant + v, first_param, params))
      return false;
  return true;
}

static tile_status check_entries(const struct tile_pack *p) {
  struct filled f = {0};
  for (uint32_t i = 0; i < p->counts[PACK_PARAMS]; i++)
    if (!check_param(p, i))
      return unsound("a parameter is malformed");
  for (uint32_t i = 0; i < p->counts[PACK_KERNELS]; i++)
    if (!check_kernel(p, i, &f))
      return unsound("a kernel is malformed");
  if (f.params != p->counts[PACK_PARAMS] || f.variants != p->counts[PACK_VARIANTS] ||
      f.hints != p->counts[PACK_HINTS] || f.codes != p->counts[PACK_CODES])
    return unsound("its tables do not fit");
  uint64_t end = pack_u64(p->data + PACK_AT_INDEX_BYTES);
  for (uint32_t i = 0; i < p->counts[PACK_CODES]; i++)
    if (!check_code(p, i, &end))
      return unsound("a code is malformed");
  return end == p->size ? TILE_OK : unsound("something follows its last code");
}

tile_status pack_read(const void *data, size_t size, struct tile_pack *ret) {
  struct tile_pack p = {0};
  tile_status s = read_header(data, size, &p);
  if (s == TILE_OK)
    s = place_tables(&p);
  if (s == TILE_OK)
    s = check_entries(&p);
  if (s == TILE_OK)
    *ret = p;
  return s;
}

tile_status pack_code(const struct tile_pack *p, uint32_t index, const void **ret,
                      size_t *ret_size) {
  const uint8_t *e = pack_entry(p, PACK_CODES, index);
  const uint8_t *code = p->data + pack_u64(e + PACK_CODE_OFFSET);
  size_t size = (size_t)pack_u64(e + PACK_CODE_SIZE);
  struct sha256 h;
  uint8_t digest[32];
  sha256_init(&h);
  sha256_update(&h, code, size);
  sha256_final(&h, digest);
  if (memcmp(digest, e + PACK_CODE_SHA, sizeof digest) != 0)
    return unsound("a code was changed after it was made");
  if (pack_u32(e + PACK_CODE_FORMAT) == PACK_PTX && memchr(code, 0, size) != code + size - 1)
    return unsound("a text of PTX does not end");
  *ret = code;
  *ret_size = size;
  return TILE_OK;
}
