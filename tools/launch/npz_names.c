// SPDX-License-Identifier: Apache-2.0
// Reads the central directory: its place is in the record at the end of the file, and its entries
// follow one another.
#include "tools/launch/npz_names.h"

#include "base/str.h"

#include <stdio.h>

enum {
  END_BYTES = 22,     // of the end record: signature, ..., bytes and offset of the directory
  END_OFFSET_AT = 16, // the offset in it
  ENTRY_BYTES = 46,   // of an entry, before the name
  ENTRY_NAME_AT = 28, // lengths of the name, the extra field and the comment
  MOST_BYTES = 1 << 16
};

static uint32_t u16(const unsigned char *p) { return p[0] | (uint32_t)p[1] << 8; }
static uint32_t u32(const unsigned char *p) { return u16(p) | u16(p + 2) << 16; }

// Up to MOST_BYTES of the directory; 0: there is none.
static size_t read_directory(FILE *f, unsigned char *to) {
  unsigned char end[END_BYTES];
  bool ok = fseek(f, -END_BYTES, SEEK_END) == 0 && fread(end, 1, END_BYTES, f) == END_BYTES &&
            memcmp(end, "PK\005\006", 4) == 0 &&
            fseek(f, (long)u32(end + END_OFFSET_AT), SEEK_SET) == 0;
  return ok ? fread(to, 1, MOST_BYTES, f) : 0;
}

size_t npz_names(struct arena *a, const char *path, const char *ret[NPZ_MOST_NAMES]) {
  FILE *f = fopen(path, "rb");
  if (!f)
    return 0;
  unsigned char *at = arena_alloc(a, MOST_BYTES, 1);
  size_t bytes = read_directory(f, at), count = 0, i = 0;
  fclose(f);
  while (i + ENTRY_BYTES <= bytes && memcmp(at + i, "PK\001\002", 4) == 0) {
    const unsigned char *lengths = at + i + ENTRY_NAME_AT;
    struct str name = {(const char *)at + i + ENTRY_BYTES, u16(lengths)};
    if (i + ENTRY_BYTES + name.len > bytes || count == NPZ_MOST_NAMES)
      break;
    if (str_ends(name, ".npy"))
      ret[count++] = arena_strndup(a, name.ptr, name.len - 4);
    i += ENTRY_BYTES + name.len + u16(lengths + 2) + u16(lengths + 4);
  }
  return count;
}
