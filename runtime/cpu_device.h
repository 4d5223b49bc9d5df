// SPDX-License-Identifier: Apache-2.0
// The CPU device, shared by the files that implement it: memory (cpu_device.c, cpu_buffer.c,
// cpu_buffer_table.c), launches (cpu_launch.c), CTAs (cpu_cta.c), early ends (cpu_fail.c), checks
// (cpu_check.c; of shared memory cpu_shared.c; between programs cpu_races.c; their record
// cpu_record.c), asynchronous copies
// (cpu_async.c) and device_print (cpu_print.c).
#ifndef TILE_RUNTIME_CPU_DEVICE_H
#define TILE_RUNTIME_CPU_DEVICE_H

#include "base/arena.h"
#include "base/mma.h"
#include "base/thread_pool.h"
#include "runtime/cpu_fault.h"
#include "runtime/device.h"
#include "runtime/fiber.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

// Fills new buffers: 0xff bytes are a NaN in every float type, which makes reads of unwritten
// memory visible.
#define CPU_POISON 0xff

// Shared memory limit of a CTA, as on Hopper.
#define CPU_SHARED_LIMIT (227u << 10)

#define CPU_MAX_VIOLATIONS 16

#define CPU_BUFFER_ALIGN 256 // as on a GPU

struct cpu_buffer { // one tile_malloc, or memory that the caller registered
  uintptr_t base;
  size_t size;
  bool is_guarded;
  unsigned registrations; // 0: of tile_malloc
  bool is_watched;        // launches without checks look at the bytes beside it (cpu_watch.c)
  size_t shift;           // from the start of its memory to `base`
};

// Memory that one worker thread of the pool reuses for the CTAs it runs.
struct cpu_worker {
  char *shared;
  size_t shared_bytes;
  struct fiber_pool *fibers;
  struct cta_thread *threads; // one per fiber
  unsigned thread_cap;
  struct cpu_shadow *shadow; // of `shared`; NULL before the first checked launch
  struct cpu_copies *copies; // NULL before the first asynchronous copy
};

struct cpu_device {
  struct tile_device base;
  pthread_mutex_t lock;       // guards everything down to `print`
  struct cpu_buffer *buffers; // sorted by base
  size_t buffer_count, buffer_cap;
  size_t bytes_in_use, memory;
  unsigned thread_count;              // of the pool
  _Atomic(struct thread_pool *) pool; // created by the first launch
  long pool_process; // the process that owns the threads; a forked child has none of them
  struct cpu_worker *workers;
  unsigned worker_count;
  struct arena *report_arena; // texts of the last checked launch
  struct cpu_violation violations[CPU_MAX_VIOLATIONS];
  size_t violation_count;
  uint64_t violation_total;
  bool races_are_partial; // of the last checked launch
  void (*print)(void *user, const char *text);
  void *print_user;
  pthread_mutex_t print_lock; // held while one line is printed
  unsigned quiet;             // nothing is printed while it is not 0; under print_lock
};

static inline struct cpu_device *cpu_of(tile_device *d) { return (struct cpu_device *)d; }

// What the checker knows about one pointer parameter.
struct cpu_bounds {
  uintptr_t pointer; // as passed
  uintptr_t begin, end;
  bool known; // the pointer lies in a buffer of the device
};

// One launch, shared by the workers that run its CTAs.
struct cpu_launch {
  struct cpu_device *device;
  const struct module *module;
  void *const *values;
  tile_grid grid;
  bool check;
  // For checked launches: bounds by parameter, and the buffers at launch time.
  struct cpu_bounds *bounds;
  struct cpu_buffer *buffers;
  size_t buffer_count;
  struct cpu_races *races; // between programs; NULL: not checked
  bool all_known; // every pointer parameter points into a known buffer, so an address outside all
                  // buffers is wrong
  atomic_bool stop;
  pthread_mutex_t lock; // guards what follows
  tile_status status;
  char message[512];
  size_t violation_count;
  uint64_t violation_total;
  // By program, then thread. Last: a launch does not clear them.
  struct cpu_violation violations[CPU_MAX_VIOLATIONS];
};

struct cpu_cta {
  struct cpu_launch *launch;
  struct cpu_worker *worker;
  int32_t program_id[3];
  bool fibers;      // threads are fibers; else they run one after another
  bool shadow;      // accesses to shared memory are checked
  bool stopped;     // an assertion failed, or threads diverged
  jmp_buf leave;    // without fibers: leaves the kernel
  unsigned threads; // kernel_info_threads()
  struct cpu_fault fault;
};

// ---- cpu_buffer.c ----
// `size` is a multiple of CPU_BUFFER_ALIGN; NULL when memory is out. *ret_guarded: the buffer has
// guard pages; it has none where address space is limited.
void *cpu_buffer_map(size_t size, bool *ret_guarded);
void cpu_buffer_unmap(void *p, size_t size, bool is_guarded);

// ---- cpu_watch.c ----
// Moves the start of a guarded buffer, a multiple of CPU_BUFFER_ALIGN bytes from its end, as far to
// the end as the alignment allows: a power of two up to CPU_BUFFER_ALIGN.
void cpu_watch_place(struct cpu_buffer *b, size_t align);
// After a launch without checks: an error if the bytes beside a watched buffer have changed.
tile_status cpu_watch_end(struct cpu_launch *l, tile_status status);

// ---- cpu_buffer_table.c; with the device's lock ----
// Index of the buffer that contains `address` in a sorted table; `count` if none.
size_t cpu_buffer_find(const struct cpu_buffer *table, size_t count, uintptr_t address);
bool cpu_buffer_insert(struct cpu_device *d, struct cpu_buffer b); // false when memory is out
// Whether a buffer shares bytes with [base, base + size).
bool cpu_buffer_overlaps(const struct cpu_device *d, uintptr_t base, size_t size);
struct cpu_buffer cpu_buffer_remove(struct cpu_device *d, size_t i);

// ---- cpu_launch.c ----
tile_status cpu_launch_run(struct module *m, void *stream, tile_grid grid, void *const *values,
                           unsigned flags);

// ---- cpu_cta.c ----
// Runs CTA number `index` of `launch` (struct cpu_launch) on thread `worker` of the pool.
void cpu_cta_run(void *launch, uint64_t index, unsigned worker);
void cpu_workers_free(struct cpu_device *d);

// ---- cpu_fail.c ----
// Records the launch's status, unless one was recorded before; programs that have not begun do not
// run.
void cpu_launch_fail(struct cpu_launch *l, tile_status status, const char *message);
// Ends the calling thread's CTA and the launch; does not return.
_Noreturn void cpu_cta_stop(struct cpu_thread *t);
_Noreturn void cpu_cta_fail(struct cpu_thread *t, tile_status status, const char *message);

// ---- cpu_record.c ----
struct cpu_violation cpu_check_violation(const struct cpu_thread *t, enum cpu_violation_kind kind,
                                         const struct cpu_location *location);
void cpu_check_record(struct cpu_launch *l, const struct cpu_violation *v); // thread-safe

// ---- cpu_check.c ----
// Snapshots buffers and bounds before a checked launch; false when memory is out.
bool cpu_check_begin(struct cpu_launch *l);
size_t cpu_violations(tile_device *d, const struct cpu_violation **ret, uint64_t *ret_total);
// Publishes the violations and describes the first one in the thread's message.
tile_status cpu_check_end(struct cpu_launch *l, tile_status status);

// An access of the calling thread faulted: fails the launch, with the parameter and element nearest
// to the address.
void cpu_check_fault(const struct cpu_thread *t);

// ---- cpu_shared.c ----
// Allocates or grows the shadow of `bytes` of shared memory; false when memory is out.
bool cpu_shadow_reserve(struct cpu_worker *w, size_t bytes);
void cpu_shadow_free(struct cpu_shadow *s); // accepts NULL
void cpu_shadow_begin_cta(struct cpu_cta *cta);
void cpu_shadow_barrier(struct cpu_cta *cta); // all threads are at a barrier, or the CTA ends
// The data of a copy of this thread to `to` is written now; its access was checked at issue.
void cpu_shadow_arrival(struct cpu_thread *t, const struct cpu_location *location, const void *to,
                        uint32_t bytes);

// ---- cpu_print.c ----
void cpu_set_print(tile_device *d, void (*print)(void *user, const char *text), void *user);

// ---- cpu_async.c ----
void cpu_copies_begin_cta(struct cpu_cta *cta); // drops what earlier CTAs left pending
void cpu_copies_free(struct cpu_copies *c);     // accepts NULL

#endif
