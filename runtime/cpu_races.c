// SPDX-License-Identifier: Apache-2.0
// A page of 4 KiB of a buffer has a cell for each 4 bytes, or fewer if an access is smaller or not
// aligned; a cell keeps a writer and two readers. Of accesses that nothing orders, it keeps those
// of the programs with the lowest numbers, so that what is reported does not depend on the workers.
#include "runtime/cpu_races.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_LOG2 = 12, LARGEST_CELL_LOG2 = 2, LOCKS = 64, MOST_BYTES = 1 << LARGEST_CELL_LOG2 };

// An access. `time` is the number of atomic operations before it in the launch.
struct touch {
  uint32_t program; // number + 1; 0: none
  uint32_t time;
  int32_t location; // in bytes from the launch's first one
  uint16_t thread;
};

struct cell {
  struct touch write, reads[2];
  unsigned char value[MOST_BYTES]; // what `write` stored
  bool is_atomic, is_quiet;        // `write` is atomic; left memory as it was
};

struct page {
  unsigned cell_log2;
  struct cell *cells; // NULL: not touched
};

struct cpu_races {
  const struct cpu_launch *launch;
  _Atomic(struct page *) *pages; // [buffer][page]; NULL: not touched
  uint64_t programs;
  _Atomic(uintptr_t) first_location;
  atomic_uint time;               // atomic operations so far
  _Atomic(atomic_uint *) atomics; // by program: the time of its last atomic operation; NULL: none
  atomic_size_t bytes;
  atomic_bool is_full;
  pthread_mutex_t grows, locks[LOCKS];
};

static void *spend(struct cpu_races *r, size_t count, size_t size) {
  void *p = NULL;
  if (atomic_fetch_add(&r->bytes, count * size) + count * size <= CPU_RACES_BYTES)
    p = memory_zeroed(count, size);
  if (!p)
    atomic_store(&r->is_full, true);
  return p;
}

struct cpu_races *cpu_races_begin(const struct cpu_launch *l, uint64_t programs) {
  struct cpu_races *r = memory_zeroed(1, sizeof *r);
  _Atomic(struct page *) *pages = r ? memory_zeroed(l->buffer_count + 1, sizeof *pages) : NULL;
  if (!pages) {
    free(r);
    return NULL;
  }
  r->launch = l;
  r->pages = pages;
  r->programs = programs;
  r->is_full = programs >= UINT32_MAX; // their numbers do not fit
  pthread_mutex_init(&r->grows, NULL);
  for (unsigned i = 0; i < LOCKS; i++)
    pthread_mutex_init(&r->locks[i], NULL);
  return r;
}

static size_t page_count(const struct cpu_buffer *b) {
  return ((b->base + b->size) >> PAGE_LOG2) - (b->base >> PAGE_LOG2) + 1;
}

void cpu_races_end(struct cpu_races *r) {
  if (!r)
    return;
  for (size_t i = 0; i < r->launch->buffer_count; i++) {
    size_t count = atomic_load(&r->pages[i]) ? page_count(&r->launch->buffers[i]) : 0;
    struct page *of = atomic_load(&r->pages[i]);
    for (size_t k = 0; k < count; k++)
      free(of[k].cells);
    free(of);
  }
  for (unsigned i = 0; i < LOCKS; i++)
    pthread_mutex_destroy(&r->locks[i]);
  pthread_mutex_destroy(&r->grows);
  free(r->pages);
  free(r->atomics);
  free(r);
}

bool cpu_races_are_partial(const struct cpu_races *r) { return r && atomic_load(&r->is_full); }

// ---- order ----

// The thread's program performs an atomic operation.
static void note_atomic(struct cpu_races *r, uint32_t program) {
  atomic_uint *times = atomic_load(&r->atomics);
  if (!times) {
    pthread_mutex_lock(&r->grows);
    times = atomic_load(&r->atomics);
    if (!times)
      atomic_store(&r->atomics, times = spend(r, r->programs, sizeof *times));
    pthread_mutex_unlock(&r->grows);
  }
  if (times)
    atomic_store(&times[program], atomic_fetch_add(&r->time, 1) + 1);
}

static uint32_t last_atomic(struct cpu_races *r, uint32_t program) {
  atomic_uint *times = atomic_load(&r->atomics);
  return times ? atomic_load(&times[program]) : 0;
}

static bool is_unordered(struct cpu_races *r, const struct touch *now,
                         const struct touch *earlier) {
  if (!earlier->program || earlier->program == now->program)
    return false;
  return last_atomic(r, earlier->program - 1) <= earlier->time ||
         last_atomic(r, now->program - 1) <= earlier->time;
}

// ---- pages ----

static struct page *pages_of(struct cpu_races *r, size_t buffer) {
  struct page *p = atomic_load(&r->pages[buffer]);
  if (p)
    return p;
  pthread_mutex_lock(&r->grows);
  p = atomic_load(&r->pages[buffer]);
  if (!p)
    atomic_store(&r->pages[buffer],
                 p = spend(r, page_count(&r->launch->buffers[buffer]), sizeof *p));
  pthread_mutex_unlock(&r->grows);
  return p;
}

// Cells of at most 1 << cell_log2 bytes; false when memory is out. With the page's lock.
static bool refine(struct cpu_races *r, struct page *p, unsigned cell_log2) {
  if (p->cells && p->cell_log2 <= cell_log2)
    return true;
  size_t count = (size_t)1 << (PAGE_LOG2 - cell_log2);
  struct cell *cells = spend(r, count, sizeof *cells);
  if (!cells)
    return false;
  for (size_t i = 0; p->cells && i < count; i++) {
    unsigned by = p->cell_log2 - cell_log2;
    size_t part = (i & (((size_t)1 << by) - 1)) << cell_log2; // of the old cell's bytes
    cells[i] = p->cells[i >> by];
    memmove(cells[i].value, cells[i].value + part, (size_t)1 << cell_log2);
  }
  free(p->cells);
  *p = (struct page){cell_log2, cells};
  return true;
}

// ---- accesses ----

struct step { // one cell of an access
  struct cpu_races *r;
  const struct cpu_thread *thread;
  const struct cpu_race_access *x;
  struct cell *cell;
  struct touch now;
  uintptr_t address;
  unsigned bytes;
  const unsigned char *value;
};

static const struct cpu_location *location_of(const struct cpu_races *r, const struct touch *t) {
  return (const struct cpu_location *)(r->first_location + (uintptr_t)(intptr_t)t->location);
}

static void set_program(const struct cpu_launch *l, uint32_t number, int32_t ret[3]) {
  ret[0] = (int32_t)(number % l->grid.x);
  ret[1] = (int32_t)(number / l->grid.x % l->grid.y);
  ret[2] = (int32_t)(number / l->grid.x / l->grid.y);
}

// The program with the higher number is the one that is reported, beside the other.
static void report(const struct step *s, const struct touch *other, enum cpu_access other_access) {
  struct cpu_launch *l = s->thread->cta->launch;
  const struct kernel_info *info = l->module->info;
  struct cpu_violation v = cpu_check_violation(s->thread, CPU_GLOBAL_RACE, s->x->location);
  v.access = s->x->access;
  v.other_access = other_access;
  v.other_location = *location_of(s->r, other);
  v.other_thread = other->thread;
  set_program(l, other->program - 1, v.other_program);
  if (s->x->param >= 0 && (uint32_t)s->x->param < info->param_count) {
    int64_t size = (int64_t)dtype_bytes(info->params[s->x->param].dtype);
    v.param = s->x->param;
    v.element = (int64_t)(s->address - l->bounds[v.param].pointer) / size;
  }
  if (other->program > s->now.program) {
    struct cpu_violation w = v;
    memcpy(v.program_id, w.other_program, sizeof v.program_id);
    memcpy(v.other_program, w.program_id, sizeof v.program_id);
    v.location = w.other_location, v.other_location = w.location;
    v.access = w.other_access, v.other_access = w.access;
    v.thread_id = w.other_thread, v.other_thread = w.thread_id;
  }
  cpu_check_record(l, &v);
}

static void against_write(const struct step *s) {
  report(s, &s->cell->write, s->cell->is_atomic ? CPU_ATOMIC : CPU_STORE);
}

static void see_read(const struct step *s) {
  struct cell *c = s->cell;
  if (!c->is_quiet && !(s->x->is_volatile && c->is_atomic) &&
      is_unordered(s->r, &s->now, &c->write))
    against_write(s);
  if (s->x->is_volatile)
    return;
  // The two programs with the lowest numbers are kept, unless they are ordered before this one.
  for (unsigned i = 0; i < 2; i++)
    if (c->reads[i].program == s->now.program) {
      c->reads[i] = s->now;
      return;
    }
  unsigned higher =
      c->reads[0].program && (!c->reads[1].program || c->reads[1].program > c->reads[0].program);
  struct touch *to = &c->reads[higher];
  if (!to->program || s->now.program < to->program || !is_unordered(s->r, &s->now, to))
    *to = s->now;
}

static void against_reads(const struct step *s) {
  for (unsigned i = 0; i < 2; i++)
    if (is_unordered(s->r, &s->now, &s->cell->reads[i]))
      report(s, &s->cell->reads[i], CPU_LOAD);
}

static void see_write(const struct step *s) {
  struct cell *c = s->cell;
  bool is_atomic = s->x->access == CPU_ATOMIC, both = is_atomic && c->is_atomic;
  bool is_same = s->value && !c->is_atomic && memcmp(s->value, c->value, s->bytes) == 0;
  bool is_quiet = s->value && memcmp(s->value, (const void *)s->address, s->bytes) == 0;
  bool unordered = is_unordered(s->r, &s->now, &c->write);
  if (unordered && !both && !is_same && !(is_atomic && c->is_quiet))
    against_write(s);
  if (!is_quiet)
    against_reads(s);
  if (unordered && c->write.program < s->now.program)
    return;
  c->write = s->now;
  c->is_atomic = is_atomic;
  c->is_quiet = is_quiet;
  if (s->value)
    memcpy(c->value, s->value, s->bytes);
}

static struct touch this_touch(struct cpu_races *r, const struct cpu_thread *t,
                               const struct cpu_location *location) {
  uintptr_t none = 0, at = (uintptr_t)location;
  if (!atomic_load(&r->first_location))
    atomic_compare_exchange_strong(&r->first_location, &none, at);
  uint64_t number = (uint64_t)t->program_id[0] +
                    r->launch->grid.x * ((uint64_t)t->program_id[1] +
                                         r->launch->grid.y * (uint64_t)t->program_id[2]);
  return (struct touch){(uint32_t)number + 1, atomic_load(&r->time),
                        (int32_t)((intptr_t)at - (intptr_t)atomic_load(&r->first_location)),
                        (uint16_t)t->thread_id};
}

// The part of an access that lies within one page.
static void see_part(struct step *s, struct page *p, uintptr_t begin, uintptr_t end,
                     unsigned cell_log2) {
  pthread_mutex_t *lock = &s->r->locks[(begin >> PAGE_LOG2) % LOCKS];
  pthread_mutex_lock(lock);
  bool ok = refine(s->r, p, cell_log2);
  s->bytes = ok ? 1u << p->cell_log2 : 1;
  for (s->address = begin; ok && s->address < end; s->address += s->bytes) {
    size_t offset = s->address - (uintptr_t)s->x->addr;
    s->value = s->x->value ? (const unsigned char *)s->x->value + offset : NULL;
    s->cell = &p->cells[(s->address & ((1u << PAGE_LOG2) - 1)) >> p->cell_log2];
    if (s->x->access == CPU_LOAD)
      see_read(s);
    else
      see_write(s);
  }
  pthread_mutex_unlock(lock);
}

void cpu_races_access(struct cpu_thread *t, const struct cpu_race_access *x) {
  const struct cpu_launch *l = t->cta->launch;
  struct cpu_races *r = l->races;
  uintptr_t begin = (uintptr_t)x->addr, end = begin + x->bytes;
  size_t buffer = r ? cpu_buffer_find(l->buffers, l->buffer_count, begin) : l->buffer_count;
  if (buffer >= l->buffer_count || !x->location || atomic_load(&r->is_full))
    return;
  struct page *pages = pages_of(r, buffer);
  if (!pages)
    return;
  struct step s = {.r = r, .thread = t, .x = x, .now = this_touch(r, t, x->location)};
  unsigned cell_log2 = (unsigned)__builtin_ctz((uint32_t)begin | x->bytes | MOST_BYTES);
  uintptr_t first = l->buffers[buffer].base >> PAGE_LOG2;
  for (uintptr_t at = begin; at < end;) {
    uintptr_t next = ((at >> PAGE_LOG2) + 1) << PAGE_LOG2;
    next = next < end ? next : end;
    see_part(&s, &pages[(at >> PAGE_LOG2) - first], at, next, cell_log2);
    at = next;
  }
  if (x->access == CPU_ATOMIC || x->is_volatile)
    note_atomic(r, s.now.program - 1);
}
