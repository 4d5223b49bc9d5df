// SPDX-License-Identifier: Apache-2.0
// The handler notes the signal; measuring loops ask for it.
#include "tools/interrupt.h"

#include "tools/tool.h"

#include <signal.h>

static volatile sig_atomic_t signalled;

static void on_signal(int number) {
  signalled = number;
  signal(number, SIG_DFL);
}

static void handle(void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

void interrupt_catch(void) {
  signalled = 0;
  handle(on_signal);
}

void interrupt_release(void) { handle(SIG_DFL); }

bool interrupt_seen(void) { return signalled != 0; }

int interrupt_status(int status) {
  if (status != EXIT_DONE || !signalled)
    return status;
  return signalled == SIGINT ? EXIT_INTERRUPTED : EXIT_TERMINATED;
}
