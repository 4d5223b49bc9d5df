// SPDX-License-Identifier: Apache-2.0
// device_print on the CPU: one line per value, passed to the device's print callback.
#include "base/clock.h"
#include "runtime/cpu_device.h"

#include <inttypes.h>
#include <stdio.h>

void device_quiet(tile_device *base, bool on) {
  if (!base->is_cpu)
    return;
  struct cpu_device *d = cpu_of(base);
  pthread_mutex_lock(&d->print_lock);
  d->quiet = on ? d->quiet + 1 : d->quiet - 1;
  pthread_mutex_unlock(&d->print_lock);
}

void cpu_set_print(tile_device *d, void (*print)(void *user, const char *text), void *user) {
  struct cpu_device *h = cpu_of(d);
  pthread_mutex_lock(&h->print_lock);
  h->print = print;
  h->print_user = user;
  pthread_mutex_unlock(&h->print_lock);
}

// "pid (0, 0, 0) idx (5) x: 1.5"; a scalar has no index.
static void print_line(const struct cpu_thread *t, const char *prefix, int32_t index,
                       const char *value) {
  struct cpu_device *d = t->cta->launch->device;
  char where[32] = "", line[512];
  if (index >= 0)
    snprintf(where, sizeof where, "%d", index);
  snprintf(line, sizeof line, "pid (%d, %d, %d) idx (%s) %.300s: %s\n", t->program_id[0],
           t->program_id[1], t->program_id[2], where, prefix ? prefix : "", value);
  pthread_mutex_lock(&d->print_lock);
  if (d->print && !d->quiet)
    d->print(d->print_user, line);
  pthread_mutex_unlock(&d->print_lock);
}

void tile_cpu_print_i64(struct cpu_thread *t, const char *prefix, int32_t index, int64_t value,
                        int32_t flags) {
  char text[32];
  if (flags & CPU_PRINT_HEX)
    snprintf(text, sizeof text, "0x%" PRIx64, (uint64_t)value);
  else if (flags & CPU_PRINT_UNSIGNED)
    snprintf(text, sizeof text, "%" PRIu64, (uint64_t)value);
  else
    snprintf(text, sizeof text, "%" PRId64, value);
  print_line(t, prefix, index, text);
}

void tile_cpu_print_f64(struct cpu_thread *t, const char *prefix, int32_t index, double value) {
  char text[64];
  snprintf(text, sizeof text, "%g", value);
  print_line(t, prefix, index, text);
}

int64_t tile_cpu_clock(struct cpu_thread *t) {
  (void)t;
  return (int64_t)(clock_ms() * 1e6);
}
