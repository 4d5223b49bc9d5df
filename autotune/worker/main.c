// SPDX-License-Identifier: Apache-2.0
// The worker as a process of its own: it leaves no core files, notes whose request a signal ended,
// and goes as soon as its parent has closed the socket or died, whatever a kernel is doing.
#include "autotune/worker/protocol.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

// Handlers get no argument: what they need is here.
static struct worker_page *page;
static _Thread_local uint64_t current;

// The handler is gone by now (SA_RESETHAND): raised again, the signal ends the process.
static void note_fault(int number) {
  if (current)
    atomic_store_explicit(&page->at_fault, current, memory_order_relaxed);
  raise(number);
}

static void at_work(uint64_t id) { current = id; }
static void leave(void) { _exit(0); }

static bool watch_faults(int shared) {
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
  void *p = mmap(NULL, WORKER_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
  if (p == MAP_FAILED)
    return false;
  page = p;
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    struct sigaction a = {.sa_handler = note_fault, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    sigemptyset(&a.sa_mask);
    sigaction(numbers[i], &a, NULL);
  }
  return true;
}

int tune_worker_main(int argc, char **argv) {
  const struct worker_hooks hooks = {at_work, leave};
  const struct rlimit none = {0, 0};
  int64_t first;
  if (argc != 3 || strcmp(argv[1], WORKER_OPTION) != 0 || !str_to_i64(str_from(argv[2]), &first) ||
      first < 0 || first > 1000)
    return 2;
  const int files[3] = {(int)first, (int)first + 1, (int)first + 2};
  setrlimit(RLIMIT_CORE, &none);
  if (!watch_faults(files[2]))
    return 1;
  // Without what exit() would run: the driver may be stuck, and nothing is worth saving.
  _exit(worker_serve(files, &hooks) ? 0 : 1);
}

int tile_worker_main(int argc, char **argv) { return tune_worker_main(argc, argv); }
