// SPDX-License-Identifier: Apache-2.0
// The tuner's worker process: records which request a signal ended, and exits as soon as its parent
// has closed the socket or died, whatever a kernel is doing. The program is also the compiler's
// worker.
#include "autotune/worker/protocol.h"
#include "autotune/worker/worker.h"
#include "jit/worker/client.h"
#include "jit/worker/pool.h"
#include "worker/child.h"

#include <sys/mman.h>
#include <unistd.h>

// Handlers take no argument: their data is here.
static struct worker_page *page;
static _Thread_local uint64_t current;

static void note_fault(void) {
  if (current)
    atomic_store_explicit(&page->at_fault, current, memory_order_relaxed);
}

static void at_work(uint64_t id) { current = id; }
static void leave(void) { _exit(0); }

int tune_worker_main(int argc, char **argv) {
  const struct worker_hooks hooks = {at_work, leave};
  int first = worker_started(argc, argv, WORKER_OPTION);
  if (first < 0)
    return 2;
  const int files[WORKER_FILES] = {first, first + 1, first + 2};
  void *p = mmap(NULL, WORKER_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, files[2], 0);
  if (p == MAP_FAILED)
    return 1;
  page = p;
  worker_begin(note_fault);
  // Skips exit handlers: the driver may be stuck, and no state needs saving.
  _exit(worker_run_server(files, &hooks) ? 0 : 1);
}

int tile_worker_main(int argc, char **argv) {
  bool compiles = argc > 1 && strcmp(argv[1], COMPILE_OPTION) == 0;
  return compiles ? compile_worker_main(argc, argv) : tune_worker_main(argc, argv);
}
