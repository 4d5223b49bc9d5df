// SPDX-License-Identifier: Apache-2.0
// See worker/child.h.
#define _GNU_SOURCE // POLLRDHUP
#include "worker/child.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void (*fault)(void); // handlers take no argument

// The signal is raised again with the default action, which ends the process. The action comes back
// after the note: with SA_RESETHAND a second thread that faults meanwhile would end it before.
static void note_fault(int number) {
  fault();
  signal(number, SIG_DFL);
  raise(number);
}

int worker_started(int argc, char **argv, const char *option) {
  int64_t socket;
  if (argc != 3 || strcmp(argv[1], option) != 0 || !str_to_i64(str_from(argv[2]), &socket) ||
      socket < 0 || socket > 1000)
    return -1;
  return (int)socket;
}

void worker_begin(void (*on_fault)(void)) {
  unsetenv("TILE_TRACE"); // the file is the parent's
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  fault = on_fault;
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    struct sigaction a = {.sa_handler = note_fault, .sa_flags = SA_NODEFER};
    sigemptyset(&a.sa_mask);
    sigaction(numbers[i], &a, NULL);
  }
}

static void *watch(void *user) {
  struct pollfd p = {(int)(intptr_t)user, POLLRDHUP, 0};
  while (poll(&p, 1, -1) < 0 && errno == EINTR)
    continue;
  _exit(0); // skips exit handlers: no state needs saving
}

bool worker_ends_with(int socket) {
  pthread_t thread;
  return pthread_create(&thread, NULL, watch, (void *)(intptr_t)socket) == 0;
}
