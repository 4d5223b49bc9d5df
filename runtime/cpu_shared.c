// SPDX-License-Identifier: Apache-2.0
// Checks of shared memory: for every byte, which thread wrote and read it last, and in which epoch.
// A barrier begins a new epoch. Two threads that access a byte in one epoch, at least one of them
// writing, race. Shuffles do not order memory. Two threads may write the same value, as threads
// with copies of one element do; so a second write is judged after it has happened, by whether the
// bytes changed.
//
// The bytes of an asynchronous copy are pending from its issue until its thread waits for it: no
// thread may access them. At the wait they count as written by that thread.
//
// TILE_CPU_NO_BARRIERS=1 ignores barriers, to test that the checker finds a missing one.
#include "base/memory.h"
#include "runtime/cpu_device.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// State of one byte. Epochs count through all CTAs of a worker, so that accesses of an earlier CTA
// are recognised as old without clearing the shadow.
struct shared_byte {
  const struct cpu_location *write_location, *read_location;
  uint32_t write_epoch, read_epoch; // 0: never
  // Two threads of the epoch, enough to find one that differs from the current thread; only atomics
  // and reads have several. Both fields are the same thread while there is one.
  unsigned writers_0 : 10, writers_1 : 10, write_access : 2;
  unsigned readers_0 : 10, readers_1 : 10;
  unsigned copier : 10; // thread of a copy that may be pending: is_copying
  bool copying : 1;
};

#define WRITE_MAX 128 // bytes of the widest store

// A write, about to happen, to bytes that another thread wrote in this epoch.
struct second_write {
  uint32_t bytes; // 0: none
  const unsigned char *addr;
  unsigned char before[WRITE_MAX];
  struct cpu_violation race; // recorded if the bytes change
};

struct cpu_shadow {
  size_t size;
  uint32_t epoch, first_epoch; // current; of the CTA's start
  bool ignores_barriers;
  struct second_write second;
  struct shared_byte bytes[];
};

bool cpu_shadow_reserve(struct cpu_worker *w, size_t bytes) {
  if (w->shadow && w->shadow->size >= bytes)
    return true;
  cpu_shadow_free(w->shadow);
  struct cpu_shadow *s = memory_zeroed(1, sizeof *s + bytes * sizeof s->bytes[0]);
  w->shadow = s;
  if (!s)
    return false;
  const char *text = getenv("TILE_CPU_NO_BARRIERS");
  s->ignores_barriers = text && strcmp(text, "1") == 0;
  s->size = bytes;
  return true;
}

void cpu_shadow_free(struct cpu_shadow *s) { free(s); }

// Called when the second write has happened: it is a race if it changed the bytes.
static void apply_writes(struct cpu_cta *cta) {
  struct second_write *w = &cta->worker->shadow->second;
  if (w->bytes && memcmp(w->before, w->addr, w->bytes) != 0)
    cpu_check_record(cta->launch, &w->race);
  w->bytes = 0;
}

void cpu_shadow_begin_cta(struct cpu_cta *cta) {
  struct cpu_shadow *s = cta->worker->shadow;
  if (s->epoch > UINT32_MAX / 2) {
    memset(s->bytes, 0, s->size * sizeof s->bytes[0]);
    s->epoch = 0;
  }
  s->second.bytes = 0;
  s->first_epoch = ++s->epoch;
}

void cpu_shadow_barrier(struct cpu_cta *cta) {
  struct cpu_shadow *s = cta->worker->shadow;
  apply_writes(cta);
  if (!s->ignores_barriers)
    s->epoch++;
}

static bool is_copying(const struct cpu_shadow *s, const struct shared_byte *b) {
  return b->copying && b->write_epoch >= s->first_epoch;
}

// ---- one access ----

struct access {
  struct cpu_thread *t;
  const struct cpu_location *location;
  uint16_t thread;
  enum cpu_access how;
  bool raced, unwritten, early; // at most one violation of each kind per access
  size_t rewrites, rewritten;   // bytes [rewrites, rewritten) were written by another thread
  struct cpu_violation rewrite;
};

static void set_location(struct cpu_location *ret, const struct cpu_location *location) {
  *ret = location ? *location : (struct cpu_location){0};
}

static struct cpu_violation race_of(const struct access *a, size_t offset, uint16_t other,
                                    enum cpu_access other_access,
                                    const struct cpu_location *other_location) {
  struct cpu_violation v = cpu_check_violation(a->t, CPU_SHARED_RACE, a->location);
  v.access = a->how;
  v.element = (int64_t)offset;
  v.other_thread = other;
  v.other_access = other_access;
  set_location(&v.other_location, other_location);
  return v;
}

// A write after another thread's write is left to `apply_writes`; every other pair is a race now.
static void against_writer(struct access *a, const struct cpu_shadow *s, size_t offset) {
  const struct shared_byte *b = &s->bytes[offset];
  uint16_t writer = b->writers_0 != a->thread ? b->writers_0 : b->writers_1;
  if (b->write_epoch != s->epoch || writer == a->thread || a->raced)
    return;
  enum cpu_access other = (enum cpu_access)b->write_access;
  if (a->how == CPU_ATOMIC && other == CPU_ATOMIC)
    return;
  bool both_store = a->how == CPU_STORE && other == CPU_STORE;
  if (both_store && a->rewritten) {
    a->rewritten = offset + 1;
    return;
  }
  struct cpu_violation v = race_of(a, offset, writer, other, b->write_location);
  if (both_store) {
    a->rewrites = offset;
    a->rewritten = offset + 1;
    a->rewrite = v;
    return;
  }
  cpu_check_record(a->t->cta->launch, &v);
  a->raced = true;
}

static void against_readers(struct access *a, const struct cpu_shadow *s, size_t offset) {
  const struct shared_byte *b = &s->bytes[offset];
  uint16_t reader = b->readers_0 != a->thread ? b->readers_0 : b->readers_1;
  if (a->how == CPU_LOAD || b->read_epoch != s->epoch || reader == a->thread || a->raced)
    return;
  struct cpu_violation v = race_of(a, offset, reader, CPU_LOAD, b->read_location);
  cpu_check_record(a->t->cta->launch, &v);
  a->raced = true;
}

// False when a copy to the byte is pending; no other check applies then.
static bool against_copies(struct access *a, const struct cpu_shadow *s, size_t offset) {
  const struct shared_byte *b = &s->bytes[offset];
  if (!is_copying(s, b))
    return true;
  if (a->early)
    return false;
  struct cpu_violation v = race_of(a, offset, b->copier, CPU_COPY, b->write_location);
  v.kind = CPU_SHARED_COPYING;
  cpu_check_record(a->t->cta->launch, &v);
  a->early = true;
  return false;
}

static void against_poison(struct access *a, const struct cpu_shadow *s, size_t offset) {
  bool writes = a->how == CPU_STORE || a->how == CPU_COPY;
  if (writes || s->bytes[offset].write_epoch >= s->first_epoch || a->unwritten)
    return;
  struct cpu_violation v = cpu_check_violation(a->t, CPU_SHARED_UNWRITTEN, a->location);
  v.access = a->how;
  v.element = (int64_t)offset;
  cpu_check_record(a->t->cta->launch, &v);
  a->unwritten = true;
}

static void note_write(const struct access *a, const struct cpu_shadow *s, struct shared_byte *b) {
  b->copying = a->how == CPU_COPY || is_copying(s, b);
  if (a->how == CPU_COPY)
    b->copier = a->thread;
  bool joins = a->how == CPU_ATOMIC && b->write_access == CPU_ATOMIC &&
               b->write_epoch == s->epoch && b->writers_0 != a->thread;
  if (!joins)
    b->writers_0 = a->thread;
  b->writers_1 = a->thread;
  b->write_epoch = s->epoch;
  b->write_access = (unsigned)a->how & 3;
  b->write_location = a->location;
}

static void note_read(const struct access *a, const struct cpu_shadow *s, struct shared_byte *b) {
  if (b->read_epoch != s->epoch) {
    b->readers_0 = a->thread;
    b->read_epoch = s->epoch;
    b->read_location = a->location;
  } else if (b->readers_0 == a->thread) {
    return;
  }
  b->readers_1 = a->thread;
}

static _Noreturn void outside(struct access *a, int64_t offset, uint64_t size) {
  struct cpu_violation v = cpu_check_violation(a->t, CPU_SHARED_OUTSIDE, a->location);
  v.access = a->how;
  v.element = offset;
  v.elements = size;
  cpu_check_record(a->t->cta->launch, &v);
  cpu_cta_stop(a->t);
}

static void expect_rewrite(const struct access *a, struct second_write *ret) {
  size_t bytes = a->rewritten - a->rewrites;
  ret->bytes = bytes < WRITE_MAX ? (uint32_t)bytes : WRITE_MAX;
  ret->addr = (unsigned char *)a->t->shared + a->rewrites;
  memcpy(ret->before, ret->addr, ret->bytes);
  ret->race = a->rewrite;
}

void tile_cpu_shared_check(struct cpu_thread *t, const struct cpu_location *location,
                           const void *addr, uint32_t bytes, int32_t access) {
  struct cpu_cta *cta = t->cta;
  const struct cpu_launch *l = cta->launch;
  if (!l->check || bytes == 0)
    return;
  struct access a = {.t = t,
                     .location = location,
                     .thread = (uint16_t)(t->thread_id & 1023),
                     .how = (enum cpu_access)access};
  uint64_t size = l->module->info->shared_bytes;
  int64_t offset = (int64_t)((uintptr_t)addr - (uintptr_t)t->shared);
  struct cpu_shadow *s = cta->worker->shadow;
  if (size)
    apply_writes(cta);
  if (offset < 0 || (uint64_t)offset > size || bytes > size - (uint64_t)offset)
    outside(&a, offset, size);
  for (size_t i = (size_t)offset; i < (size_t)offset + bytes; i++) {
    if (against_copies(&a, s, i)) {
      against_writer(&a, s, i);
      against_readers(&a, s, i);
      against_poison(&a, s, i);
    }
    if (a.how == CPU_LOAD)
      note_read(&a, s, &s->bytes[i]);
    else
      note_write(&a, s, &s->bytes[i]);
  }
  if (a.rewritten && !a.raced)
    expect_rewrite(&a, &s->second);
}

void cpu_shadow_arrival(struct cpu_thread *t, const struct cpu_location *location, const void *to,
                        uint32_t bytes) {
  assert((uintptr_t)to >= (uintptr_t)t->shared &&
         (uintptr_t)to - (uintptr_t)t->shared + bytes <= t->cta->worker->shadow->size);
  struct cpu_shadow *s = t->cta->worker->shadow;
  size_t offset = (size_t)((uintptr_t)to - (uintptr_t)t->shared);
  uint16_t thread = (uint16_t)(t->thread_id & 1023);
  apply_writes(t->cta);
  for (size_t i = offset; i < offset + bytes; i++) {
    struct shared_byte *b = &s->bytes[i];
    b->copying = b->copying && b->copier != thread;
    b->writers_0 = b->writers_1 = thread;
    b->write_epoch = s->epoch;
    b->write_access = CPU_COPY;
    b->write_location = location;
  }
}
