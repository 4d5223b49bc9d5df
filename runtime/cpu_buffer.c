// SPDX-License-Identifier: Apache-2.0
// Memory of the CPU device's buffers. Each buffer ends at the end of its pages and has guard pages
// on both sides: an access past its end, or far from it, faults (cpu_fault.c) before it overwrites
// other memory.
#include "base/memory.h"
#include "runtime/cpu_device.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define GUARD ((size_t)256 << 20) // on either side; address space only

static size_t page_bytes(void) {
  long page = sysconf(_SC_PAGESIZE);
  return page > 0 ? (size_t)page : 4096;
}

static size_t whole_pages(size_t size) {
  size_t page = page_bytes();
  return (size + page - 1) / page * page;
}

void *cpu_buffer_map(size_t size, bool *ret_guarded) {
  assert(size % CPU_BUFFER_ALIGN == 0);
  size_t pages = whole_pages(size), all = pages + 2 * GUARD;
  *ret_guarded = false;
  if (pages >= size && all > pages) {
    char *p = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED && mprotect(p + GUARD, pages, PROT_READ | PROT_WRITE) == 0) {
      *ret_guarded = true;
      return p + GUARD + pages - size;
    }
    if (p != MAP_FAILED)
      munmap(p, all);
  }
  return memory_aligned(CPU_BUFFER_ALIGN, size); // when address space is limited
}

void cpu_buffer_unmap(void *p, size_t size, bool is_guarded) {
  if (!is_guarded) {
    free(p);
    return;
  }
  size_t pages = whole_pages(size);
  munmap((char *)p + size - pages - GUARD, pages + 2 * GUARD);
}
