// SPDX-License-Identifier: Apache-2.0
// Reads the GNU build id from the ELF notes of the running image. It changes with any change of the
// compiler's code, which makes it a safe part of cache keys.
#include "lowering/build_id.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden"))); // from the linker

static size_t aligned(size_t n) { return (n + 3) & ~(size_t)3; }

static bool find_in_notes(const char *notes, size_t size, char ret[BUILD_ID_TEXT]) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, notes, sizeof note);
    size_t whole = sizeof note + aligned(note.n_namesz) + aligned(note.n_descsz);
    if (whole > size)
      return false;
    const char *name = notes + sizeof note, *id = name + aligned(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
      size_t n = note.n_descsz < BUILD_ID_TEXT / 2 ? note.n_descsz : BUILD_ID_TEXT / 2;
      for (size_t i = 0; i < n; i++)
        snprintf(ret + 2 * i, 3, "%02x", (unsigned)(unsigned char)id[i]);
      return n > 0;
    }
    notes += whole;
    size -= whole;
  }
  return false;
}

void build_id_text(char ret[BUILD_ID_TEXT]) {
  const char *image = (const char *)&__ehdr_start;
  for (unsigned i = 0; i < __ehdr_start.e_phnum; i++) {
    ElfW(Phdr) h;
    memcpy(&h, image + __ehdr_start.e_phoff + (size_t)i * __ehdr_start.e_phentsize, sizeof h);
    // Notes are in the first segment, which is mapped from the start of the file.
    if (h.p_type == PT_NOTE && find_in_notes(image + h.p_offset, h.p_filesz, ret))
      return;
  }
  snprintf(ret, BUILD_ID_TEXT, "%s %s", __DATE__, __TIME__);
}
