// SPDX-License-Identifier: Apache-2.0
// Checks of launches on the CPU device: compares every access with the bounds of the buffer that
// its pointer parameter points into.
#include "base/memory.h"
#include "runtime/cpu_device.h"
#include "runtime/cpu_races.h"
#include "runtime/violations.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cpu_check_begin(struct cpu_launch *l) {
  const struct kernel_info *info = l->module->info;
  struct cpu_device *d = l->device;
  pthread_mutex_lock(&d->lock);
  l->bounds = memory_zeroed(info->param_count + 1, sizeof *l->bounds);
  l->buffers = memory_alloc((d->buffer_count + 1) * sizeof *l->buffers);
  bool ok = l->bounds && l->buffers;
  if (ok && d->buffer_count) {
    memcpy(l->buffers, d->buffers, d->buffer_count * sizeof *l->buffers);
    l->buffer_count = d->buffer_count;
  }
  pthread_mutex_unlock(&d->lock);
  if (!ok) {
    free(l->bounds);
    free(l->buffers);
    return false;
  }
  uint64_t programs = (uint64_t)l->grid.x * l->grid.y * l->grid.z;
  l->races = programs > 1 ? cpu_races_begin(l, programs) : NULL;
  l->all_known = true;
  for (uint32_t i = 0; i < info->param_count; i++) {
    if (!info->params[i].is_pointer)
      continue;
    struct cpu_bounds *b = &l->bounds[i];
    memcpy(&b->pointer, l->values[i], sizeof b->pointer);
    size_t at = cpu_buffer_find(l->buffers, l->buffer_count, b->pointer);
    b->known = at < l->buffer_count;
    if (b->known) {
      b->begin = l->buffers[at].base;
      b->end = b->begin + l->buffers[at].size;
    } else if (b->pointer) {
      l->all_known = false;
    } else {
      b->known = true; // NULL: every access is a violation
    }
  }
  return true;
}

// ---- the calls of generated code ----

static bool inside(uintptr_t address, uint32_t bytes, uintptr_t begin, uintptr_t end) {
  return address >= begin && address <= end && bytes <= end - address;
}

// Whether the access lies within the buffer of its parameter, else it is recorded.
static bool check_bounds(struct cpu_thread *t, const struct cpu_race_access *x) {
  struct cpu_launch *l = t->cta->launch;
  const struct kernel_info *info = l->module->info;
  uintptr_t address = (uintptr_t)x->addr;
  struct cpu_violation v = cpu_check_violation(t, CPU_OUTSIDE, x->location);
  v.access = x->access;
  if (x->param >= 0 && (uint32_t)x->param < info->param_count) {
    const struct cpu_bounds *b = &l->bounds[x->param];
    if (!b->known || inside(address, x->bytes, b->begin, b->end))
      return true;
    int64_t size = (int64_t)dtype_bytes(info->params[x->param].dtype);
    int64_t away = (int64_t)(address - b->pointer);
    v.param = x->param;
    v.element = away >= 0 ? away / size : -((-away + size - 1) / size);
    v.elements = (b->end - b->pointer) / (uint64_t)size;
  } else {
    size_t at = cpu_buffer_find(l->buffers, l->buffer_count, address);
    if (!l->all_known ||
        (at < l->buffer_count && x->bytes <= l->buffers[at].base + l->buffers[at].size - address))
      return true;
  }
  cpu_check_record(l, &v);
  return false;
}

static bool check(struct cpu_thread *t, const struct cpu_race_access *x) {
  if (!t->cta->launch->check)
    return true;
  bool ok = check_bounds(t, x);
  if (ok)
    cpu_races_access(t, x);
  return ok;
}

bool tile_cpu_check(struct cpu_thread *t, const struct cpu_location *location, int32_t param,
                    const void *addr, uint32_t bytes, int32_t access) {
  return check(t, &(struct cpu_race_access){.location = location,
                                            .param = param,
                                            .addr = addr,
                                            .bytes = bytes,
                                            .access = (enum cpu_access)(access & ~CPU_VOLATILE),
                                            .is_volatile = access & CPU_VOLATILE});
}

bool tile_cpu_check_store(struct cpu_thread *t, const struct cpu_location *location, int32_t param,
                          const void *addr, uint32_t bytes, const void *value) {
  return check(t, &(struct cpu_race_access){.location = location,
                                            .param = param,
                                            .addr = addr,
                                            .bytes = bytes,
                                            .access = CPU_STORE,
                                            .value = value});
}

void tile_cpu_assert_fail(struct cpu_thread *t, const struct cpu_location *location,
                          const char *message) {
  struct cpu_violation v = cpu_check_violation(t, CPU_ASSERTION, location);
  snprintf(v.message, sizeof v.message, "%s", message ? message : "");
  cpu_check_record(t->cta->launch, &v);
  cpu_cta_stop(t);
}

// ---- faults ----

// The pointer parameter whose buffer is nearest to the address, and that buffer's bounds; [pointer,
// pointer) if it points into no buffer. -1: the kernel has no pointer parameter.
static int32_t nearest_pointer(const struct cpu_launch *l, uintptr_t address,
                               struct cpu_bounds *ret) {
  const struct kernel_info *info = l->module->info;
  struct cpu_device *d = l->device;
  int32_t nearest = -1;
  uintptr_t least = UINTPTR_MAX;
  pthread_mutex_lock(&d->lock);
  for (uint32_t i = 0; i < info->param_count; i++) {
    if (!info->params[i].is_pointer)
      continue;
    struct cpu_bounds b = {0};
    memcpy(&b.pointer, l->values[i], sizeof b.pointer);
    size_t at = cpu_buffer_find(d->buffers, d->buffer_count, b.pointer);
    b.known = at < d->buffer_count;
    b.begin = b.known ? d->buffers[at].base : b.pointer;
    b.end = b.known ? b.begin + d->buffers[at].size : b.pointer;
    uintptr_t away = address < b.begin ? b.begin - address : address >= b.end ? address - b.end : 0;
    if (nearest < 0 || away < least) {
      nearest = (int32_t)i;
      least = away;
      *ret = b;
    }
  }
  pthread_mutex_unlock(&d->lock);
  return nearest;
}

void cpu_check_fault(const struct cpu_thread *t) {
  struct cpu_launch *l = t->cta->launch;
  const struct kernel_info *info = l->module->info;
  const struct cpu_fault *f = &t->cta->fault;
  static const char *const verbs[] = {"load from", "store to", "access to"};
  struct cpu_bounds b = {0};
  int32_t param = f->address ? nearest_pointer(l, f->address, &b) : -1;
  char where[160] = "an address that is none";
  if (param >= 0) {
    int64_t size = (int64_t)dtype_bytes(info->params[param].dtype);
    int64_t away = (int64_t)(f->address - b.pointer);
    int64_t element = away >= 0 ? away / size : -((-away + size - 1) / size);
    int n = snprintf(where, sizeof where, "`%.80s`: element %lld", info->params[param].name,
                     (long long)element);
    if (b.known)
      snprintf(where + n, sizeof where - (size_t)n, " of %llu",
               (unsigned long long)((b.end - b.pointer) / (uint64_t)size));
  }
  char text[448];
  snprintf(text, sizeof text,
           "out-of-bounds %s %s (kernel `%.80s`, program (%d, %d, %d), thread %d); a launch with "
           "checks names the line",
           verbs[f->kind], where, info->name, t->program_id[0], t->program_id[1], t->program_id[2],
           t->thread_id);
  cpu_launch_fail(l, TILE_LAUNCH_FAILED, text);
}

// ---- after the launch ----

struct copied_file {
  struct arena *texts;
  const char *from, *copy;
};

static void copy_text(void *user) {
  struct copied_file *c = user;
  c->copy = arena_strdup(c->texts, c->from);
}

// Without memory for its name, the file is NULL.
static void copy_file(struct arena *texts, struct cpu_location *p) {
  struct copied_file c = {.texts = texts, .from = p->file};
  if (texts && p->file)
    (void)arena_guard(texts, copy_text, &c);
  p->file = c.copy;
}

// The violations outlive the kernel's code, so the file names are copied.
static void publish(struct cpu_launch *l) {
  struct cpu_device *d = l->device;
  struct arena *texts = l->violation_count ? arena_create() : NULL;
  pthread_mutex_lock(&d->lock);
  arena_destroy(d->report_arena);
  d->report_arena = texts;
  memcpy(d->violations, l->violations, sizeof d->violations);
  d->violation_count = l->violation_count;
  d->violation_total = l->violation_total;
  d->races_are_partial = cpu_races_are_partial(l->races);
  for (size_t i = 0; i < d->violation_count; i++) {
    copy_file(texts, &d->violations[i].location);
    copy_file(texts, &d->violations[i].other_location);
  }
  pthread_mutex_unlock(&d->lock);
}

tile_status cpu_check_end(struct cpu_launch *l, tile_status status) {
  if (l->check || l->violation_total)
    publish(l);
  cpu_races_end(l->races);
  free(l->bounds);
  free(l->buffers);
  if (l->violation_total == 0 || status != TILE_OK)
    return status;
  char text[768];
  violation_describe(l->module->info, &l->violations[0], l->violation_total, text, sizeof text);
  return status_set(TILE_CHECK_FAILED, "%s", text);
}

bool device_races_were_partial(tile_device *d) {
  if (!d->is_cpu)
    return false;
  struct cpu_device *h = cpu_of(d);
  pthread_mutex_lock(&h->lock);
  bool partial = h->races_are_partial;
  pthread_mutex_unlock(&h->lock);
  return partial;
}

size_t cpu_violations(tile_device *d, const struct cpu_violation **ret, uint64_t *ret_total) {
  struct cpu_device *h = cpu_of(d);
  pthread_mutex_lock(&h->lock);
  size_t count = h->violation_count;
  *ret = h->violations;
  *ret_total = h->violation_total;
  pthread_mutex_unlock(&h->lock);
  return count;
}
