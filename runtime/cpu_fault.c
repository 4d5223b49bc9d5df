// SPDX-License-Identifier: Apache-2.0
// Faulting accesses of kernels on the CPU: a handler of SIGSEGV and SIGBUS, installed only while
// launches run, ends the CTA whose thread faulted, and the launch fails. Faults of other threads,
// and of this one outside kernels, go to the previous handler.
#define _GNU_SOURCE // REG_ERR
#include "runtime/cpu_fault.h"

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

static const int numbers[] = {SIGSEGV, SIGBUS};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;                               // launches that are running
static struct sigaction previous[COUNT_OF(numbers)]; // written before our handler is installed

// Per-thread values. A signal handler must not allocate, which _Thread_local may do in a library
// loaded late; these keys live in glibc's thread descriptor.
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t current;    // struct cpu_fault *
static pthread_key_t passing_on; // not NULL while the previous handler runs
static bool has_keys;

static void make_keys(void) {
  has_keys = pthread_key_create(&current, NULL) == 0 && pthread_key_create(&passing_on, NULL) == 0;
}

static enum cpu_fault_kind kind_of(const void *context) {
#if defined(__x86_64__) && defined(__linux__)
  const ucontext_t *c = context;
  return c->uc_mcontext.gregs[REG_ERR] & 2 ? FAULT_WRITES : FAULT_READS;
#else
  (void)context;
  return FAULT_ACCESSES;
#endif
}

// Calls the previous handler as the kernel would: with its mask; the default action by faulting
// again.
static void pass_on(int number, siginfo_t *info, void *context) {
  const struct sigaction *p = &previous[number == SIGBUS];
  bool is_sent = info->si_code <= 0; // by kill, not by an instruction
  bool is_default = !(p->sa_flags & SA_SIGINFO) && p->sa_handler == SIG_DFL;
  bool is_ignored = !(p->sa_flags & SA_SIGINFO) && p->sa_handler == SIG_IGN;
  if (is_ignored && is_sent)
    return;
  if (is_default || is_ignored || pthread_getspecific(passing_on)) {
    struct sigaction fatal = {.sa_handler = SIG_DFL};
    sigaction(number, &fatal, NULL);
    if (is_sent)
      raise(number);
    return; // the instruction faults again
  }
  sigset_t mask = p->sa_mask, before;
  if (!(p->sa_flags & SA_NODEFER))
    sigaddset(&mask, number);
  pthread_sigmask(SIG_BLOCK, &mask, &before);
  pthread_setspecific(passing_on, p);
  if (p->sa_flags & SA_SIGINFO)
    p->sa_sigaction(number, info, context);
  else
    p->sa_handler(number);
  pthread_setspecific(passing_on, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void on_fault(int number, siginfo_t *info, void *context) {
  struct cpu_fault *f = pthread_getspecific(current);
  if (!f || !f->leave || info->si_code <= 0) {
    pass_on(number, info, context);
    return;
  }
  sigjmp_buf *leave = f->leave;
  f->leave = NULL;
  f->address = (uintptr_t)info->si_addr;
  f->kind = kind_of(context);
  siglongjmp(*leave, 1);
}

void cpu_fault_install(void) {
  pthread_once(&once, make_keys);
  pthread_mutex_lock(&lock);
  for (size_t i = 0; has_keys && users == 0 && i < COUNT_OF(numbers); i++) {
    struct sigaction now, ours = {.sa_sigaction = on_fault};
    // SA_NODEFER: the handler is left by a jump, which keeps the signal mask.
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    sigaction(numbers[i], NULL, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault)
      continue; // installed by the parent of a process that forked during a launch
    previous[i] = now;
    sigaction(numbers[i], &ours, NULL);
  }
  users++;
  pthread_mutex_unlock(&lock);
}

void cpu_fault_remove(void) {
  pthread_mutex_lock(&lock);
  users--;
  for (size_t i = 0; users == 0 && i < COUNT_OF(numbers); i++) {
    struct sigaction now;
    sigaction(numbers[i], NULL, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault)
      sigaction(numbers[i], &previous[i], NULL);
  }
  pthread_mutex_unlock(&lock);
}

void cpu_fault_catch(struct cpu_fault *f) {
  if (has_keys)
    pthread_setspecific(current, f);
}
