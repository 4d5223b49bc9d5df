// SPDX-License-Identifier: Apache-2.0
// The host device's insides, shared by the files that make it up: the device and its table of
// buffers (host_device.c), launches and CTAs (host_cta.c), matrix instructions
// (base/mma.h), the checker (host_check.c; of shared memory: host_shared.c) and
// device_print (host_print.c).
#ifndef TILE_RUNTIME_HOST_DEVICE_H
#define TILE_RUNTIME_HOST_DEVICE_H

#include "base/arena.h"
#include "base/mma.h"
#include "base/thread_pool.h"
#include "runtime/device.h"
#include "runtime/fiber.h"
#include "runtime/host_fault.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

// New buffers hold this byte: as a float of any width it is a NaN, so that reading what was never
// written shows.
#define HOST_POISON 0xff

// Shared memory a CTA may use, as on Hopper.
#define HOST_SHARED_LIMIT (227u << 10)

#define HOST_MAX_VIOLATIONS 16

#define HOST_BUFFER_ALIGN 256 // as on a GPU

struct host_buffer { // one tile_malloc
  uintptr_t base;
  size_t size;
  bool is_guarded;
};

// Memory that one worker thread of the pool uses for the CTAs it runs.
struct host_worker {
  char *shared;
  size_t shared_bytes;
  struct fiber_pool *fibers;
  struct cta_thread *threads; // one a fiber
  unsigned thread_cap;
  struct host_shadow *shadow; // of `shared`, once a launch was checked
  struct host_copies *copies; // of the threads, once a kernel copied
};

struct host_device {
  struct tile_device base;
  pthread_mutex_t lock;        // guards everything down to `print`
  struct host_buffer *buffers; // sorted by base
  size_t buffer_count, buffer_cap;
  size_t bytes_in_use, memory;
  unsigned thread_count;    // of the pool to be
  struct thread_pool *pool; // made by the first launch
  long pool_process;        // whose threads these are: a forked child has none of them
  struct host_worker *workers;
  unsigned worker_count;
  struct arena *report_arena; // texts of the last checked launch
  struct host_violation violations[HOST_MAX_VIOLATIONS];
  size_t violation_count;
  uint64_t violation_total;
  void (*print)(void *user, const char *text);
  void *print_user;
  pthread_mutex_t print_lock; // one line at a time
  unsigned quiet;             // while not 0 nothing is printed; under print_lock
};

static inline struct host_device *host_of(tile_device *d) { return (struct host_device *)d; }

// What the checker knows about one pointer parameter.
struct host_bounds {
  uintptr_t pointer; // as passed
  uintptr_t begin, end;
  bool known; // the pointer lies in a buffer of the device
};

// One launch, shared by the workers that run its CTAs.
struct host_launch {
  struct host_device *device;
  const struct module *module;
  void *const *values;
  tile_grid grid;
  bool check;
  // With checks: bounds by parameter, and the buffers as they were at the launch.
  struct host_bounds *bounds;
  struct host_buffer *buffers;
  size_t buffer_count;
  bool all_known; // no pointer from elsewhere: an address in no buffer is wrong
  atomic_bool stop;
  pthread_mutex_t lock; // guards what follows
  tile_status status;
  char message[512];
  struct host_violation violations[HOST_MAX_VIOLATIONS]; // by program, then thread
  size_t violation_count;
  uint64_t violation_total;
};

struct host_cta {
  struct host_launch *launch;
  struct host_worker *worker;
  int32_t program_id[3];
  bool fibers;      // threads are fibers; else they run one after another
  bool shadow;      // accesses to shared memory are checked
  bool stopped;     // an assertion failed or a thread broke the rules
  jmp_buf leave;    // without fibers: out of the kernel
  unsigned threads; // 32 * num_warps
  struct host_fault fault;
};

// ---- host_buffer.c ----
// `size` is a multiple of HOST_BUFFER_ALIGN; NULL when memory is out. *ret_guarded: with pages
// around that fault; without where there is no address space for them.
void *host_buffer_map(size_t size, bool *ret_guarded);
void host_buffer_unmap(void *p, size_t size, bool is_guarded);

// ---- host_device.c ----
// Index of the buffer that contains `address` in a sorted table; `count` if none.
size_t host_buffer_find(const struct host_buffer *table, size_t count, uintptr_t address);

// ---- host_cta.c ----
tile_status host_launch_run(struct module *m, void *stream, tile_grid grid, void *const *values,
                            bool check);
void host_workers_free(struct host_device *d);
// The first failure is the launch's; programs that did not begin do not run.
void host_launch_fail(struct host_launch *l, tile_status status, const char *message);
// Ends the calling thread's CTA and the launch; does not return.
_Noreturn void host_cta_stop(struct host_thread *t);
_Noreturn void host_cta_fail(struct host_thread *t, tile_status status, const char *message);

// ---- host_check.c ----
// Snapshot of buffers and bounds before a checked launch; false when memory is out.
bool host_check_begin(struct host_launch *l);
struct host_violation host_check_finding(const struct host_thread *t, enum host_finding kind,
                                         const struct host_place *place);
void host_check_record(struct host_launch *l, const struct host_violation *v);
size_t host_violations(tile_device *d, const struct host_violation **ret, uint64_t *ret_total);
// Publishes what was found and puts the first finding into words.
tile_status host_check_end(struct host_launch *l, tile_status status);

// The calling thread's access was refused by the processor: the launch fails, with what the bounds
// of the arguments' buffers tell of the address.
void host_check_fault(const struct host_thread *t);

// ---- host_shared.c ----
// Shadow of `bytes` of shared memory, made or grown; false when memory is out.
bool host_shadow_reserve(struct host_worker *w, size_t bytes);
void host_shadow_free(struct host_shadow *s); // accepts NULL
void host_shadow_begin_cta(struct host_cta *cta);
void host_shadow_barrier(struct host_cta *cta); // all threads meet, or the CTA ends
// A copy of the thread to `to`, which was checked when it began, has arrived.
void host_shadow_arrival(struct host_thread *t, const struct host_place *place, const void *to,
                         uint32_t bytes);

// ---- host_print.c ----
void host_set_print(tile_device *d, void (*print)(void *user, const char *text), void *user);

// ---- host_async.c ----
void host_copies_begin_cta(struct host_cta *cta); // drops what earlier CTAs left
void host_copies_free(struct host_copies *c);     // accepts NULL

#endif
