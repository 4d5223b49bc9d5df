// SPDX-License-Identifier: Apache-2.0
// The CPU device's table of buffers, sorted by address. Callers hold the device's lock.
#include "base/memory.h"
#include "runtime/cpu_device.h"

#include <assert.h>
#include <string.h>

// First entry whose base is above `address`.
static size_t upper_bound(const struct cpu_buffer *table, size_t count, uintptr_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (table[mid].base <= address)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

size_t cpu_buffer_find(const struct cpu_buffer *table, size_t count, uintptr_t address) {
  size_t i = upper_bound(table, count, address);
  if (i == 0 || address - table[i - 1].base >= table[i - 1].size)
    return count;
  return i - 1;
}

bool cpu_buffer_overlaps(const struct cpu_device *d, uintptr_t base, size_t size) {
  size_t i = upper_bound(d->buffers, d->buffer_count, base);
  bool before = i > 0 && base - d->buffers[i - 1].base < d->buffers[i - 1].size;
  return before || (i < d->buffer_count && d->buffers[i].base - base < size);
}

bool cpu_buffer_insert(struct cpu_device *d, struct cpu_buffer b) {
  if (d->buffer_count == d->buffer_cap) {
    size_t cap = d->buffer_cap ? d->buffer_cap * 2 : 16;
    struct cpu_buffer *grown = memory_resize(d->buffers, cap * sizeof *grown);
    if (!grown)
      return false;
    d->buffers = grown;
    d->buffer_cap = cap;
  }
  size_t at = upper_bound(d->buffers, d->buffer_count, b.base);
  memmove(d->buffers + at + 1, d->buffers + at, (d->buffer_count - at) * sizeof *d->buffers);
  d->buffers[at] = b;
  d->buffer_count++;
  d->bytes_in_use += b.registrations ? 0 : b.size;
  return true;
}

struct cpu_buffer cpu_buffer_remove(struct cpu_device *d, size_t i) {
  assert(i < d->buffer_count);
  struct cpu_buffer removed = d->buffers[i];
  d->bytes_in_use -= removed.registrations ? 0 : removed.size;
  d->buffer_count--;
  memmove(d->buffers + i, d->buffers + i + 1, (d->buffer_count - i) * sizeof *d->buffers);
  return removed;
}
