// SPDX-License-Identifier: Apache-2.0
// Watched buffers of the CPU: for one launch that is not checked, at the cost of two comparisons.
// The end of a buffer lies at its guard but for the alignment of its start, so that most accesses
// past the end fault. The bytes between, and those in front of the start, hold a pattern; if a
// launch changes it, the launch has written outside of the buffer, and fails.
#include "runtime/cpu_device.h"

#include <stdio.h>
#include <string.h>

void cpu_watch_place(struct cpu_buffer *b, size_t align) {
  size_t whole = (b->size + CPU_BUFFER_ALIGN - 1) / CPU_BUFFER_ALIGN * CPU_BUFFER_ALIGN;
  size_t kept = (b->size + align - 1) / align * align;
  b->shift = whole - kept;
  b->base += b->shift;
  b->is_watched = true;
}

// Whether some byte of [from, to) has changed; they get the pattern again.
static bool has_changed(uintptr_t from, uintptr_t to) {
  unsigned char *p = (unsigned char *)from;
  bool changed = false;
  for (size_t i = 0; i < to - from; i++)
    changed |= p[i] != CPU_POISON;
  if (changed)
    memset(p, CPU_POISON, to - from);
  return changed;
}

// The name of the parameter that points into the buffer, or "a buffer".
static const char *name_of(const struct cpu_launch *l, const struct cpu_buffer *b) {
  const struct kernel_info *info = l->module->info;
  for (uint32_t i = 0; i < info->param_count; i++) {
    uintptr_t p;
    if (!info->params[i].is_pointer)
      continue;
    memcpy(&p, l->values[i], sizeof p);
    if (p >= b->base && p - b->base < b->size)
      return info->params[i].name;
  }
  return "a buffer";
}

tile_status cpu_watch_end(struct cpu_launch *l, tile_status status) {
  struct cpu_device *d = l->device;
  pthread_mutex_lock(&d->lock);
  for (size_t i = 0; i < d->buffer_count; i++) {
    const struct cpu_buffer *b = &d->buffers[i];
    if (!b->is_watched)
      continue;
    uintptr_t end = b->base + b->size, start = b->base - b->shift;
    uintptr_t limit =
        start + (b->size + CPU_BUFFER_ALIGN - 1) / CPU_BUFFER_ALIGN * CPU_BUFFER_ALIGN;
    bool before = has_changed(start, b->base), behind = has_changed(end, limit);
    if (status != TILE_OK || (!before && !behind))
      continue;
    status = status_set(
        TILE_LAUNCH_FAILED,
        "out-of-bounds store %s `%.80s` (kernel `%.80s`); a launch with checks names "
        "the line",
        behind ? "behind the end of" : "before the start of", name_of(l, b), l->module->info->name);
  }
  pthread_mutex_unlock(&d->lock);
  return status;
}
