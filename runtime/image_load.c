// SPDX-License-Identifier: Apache-2.0
// Loads images: a private mapping is written, then made executable and read-only.
#include "base/memory.h"
#include "runtime/cpu_symbols.h"
#include "runtime/image.h"
#include "runtime/pack_format.h"
#include "runtime/runtime_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct image {
  void *memory;
  size_t size;
  uint32_t entry;
};

bool image_read(const void *data, size_t size, struct image_view *ret) {
  const uint8_t *p = data;
  if (size < IMAGE_HEADER_BYTES)
    return false;
  uint32_t bytes = pack_u32(p + IMAGE_AT_BYTES), names = pack_u32(p + IMAGE_AT_NAME_BYTES);
  *ret = (struct image_view){.entry = pack_u32(p + IMAGE_AT_ENTRY),
                             .slot_count = pack_u32(p + IMAGE_AT_SLOTS),
                             .names = (const char *)p + IMAGE_HEADER_BYTES,
                             .bytes = p + IMAGE_HEADER_BYTES + (size_t)names,
                             .size = bytes};
  if (names > size - IMAGE_HEADER_BYTES || (names + IMAGE_HEADER_BYTES) % IMAGE_ALIGN != 0 ||
      bytes != size - IMAGE_HEADER_BYTES - names || bytes % IMAGE_ALIGN != 0 ||
      bytes > IMAGE_MAX_BYTES || ret->slot_count > IMAGE_MAX_SLOTS || ret->entry % 4 != 0 ||
      ret->entry >= bytes || ret->entry < ret->slot_count * IMAGE_SLOT_BYTES)
    return false;
  uint32_t ends = 0;
  for (uint32_t i = 0; i < names && ends < ret->slot_count; i++)
    ends += ret->names[i] == '\0';
  return ends == ret->slot_count;
}

static bool address_of(const char *name, uintptr_t *ret) {
  struct cpu_symbol symbols[CPU_SYMBOL_MAX];
  size_t count = cpu_symbols(symbols);
  for (size_t i = 0; i < count; i++)
    if (strcmp(symbols[i].name, name) == 0) {
      *ret = symbols[i].address;
      return true;
    }
  return false;
}

static tile_status fill_slots(const struct image_view *v, const char *name, uint8_t *memory) {
  const char *wanted = v->names;
  for (uint32_t i = 0; i < v->slot_count; i++, wanted += strlen(wanted) + 1) {
    uintptr_t address;
    if (!address_of(wanted, &address))
      return status_set(TILE_NOT_FOUND,
                        "function `%s` needs the routine `%s`, which this library does not have\n"
                        "  = help: use the libtile-rt of the tilec that made the pack",
                        name, wanted);
    uint64_t word = address;
    memcpy(memory + (size_t)i * IMAGE_SLOT_BYTES, &word, sizeof word);
  }
  return TILE_OK;
}

static tile_status no_memory(const char *name) {
  return status_set(TILE_OUT_OF_MEMORY, "out of memory for function `%s`", name);
}

tile_status image_load(const void *data, size_t size, const char *name, struct image **ret) {
  struct image_view v;
  if (!image_read(data, size, &v))
    return status_set(TILE_IO_ERROR, "function `%s`: its code is malformed", name);
  struct image *image = memory_zeroed(1, sizeof *image);
  if (!image)
    return no_memory(name);
  image->size = v.size;
  image->entry = v.entry;
  image->memory = mmap(NULL, v.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  tile_status s = TILE_OK;
  if (image->memory == MAP_FAILED) {
    image->memory = NULL;
    s = no_memory(name);
  } else {
    memcpy(image->memory, v.bytes, v.size);
    s = fill_slots(&v, name, image->memory);
  }
  if (s == TILE_OK && mprotect(image->memory, v.size, PROT_READ | PROT_EXEC) < 0)
    s = status_set(TILE_LAUNCH_FAILED,
                   "the system does not let this process make memory executable: %s",
                   strerror(errno));
  if (s != TILE_OK) {
    image_destroy(image);
    return s;
  }
  __builtin___clear_cache((char *)image->memory, (char *)image->memory + v.size);
  *ret = image;
  return TILE_OK;
}

cpu_kernel_fn image_entry(const struct image *image) {
  uintptr_t address = (uintptr_t)image->memory + image->entry;
  cpu_kernel_fn f;
  memcpy(&f, &address, sizeof f); // ISO C has no cast from an integer to a function pointer
  return f;
}

void image_destroy(void *user) {
  struct image *image = user;
  if (!image)
    return;
  if (image->memory)
    munmap(image->memory, image->size);
  free(image);
}
