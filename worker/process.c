// SPDX-License-Identifier: Apache-2.0
// Finds, starts and reaps a worker's process.
//
// The program is $TILE_WORKER (not for set-user-id programs); this program if it is tilec; else
// `tile-worker` in the libexec folder relative to the library, in the configured one, or beside the
// library, as in a build folder.
#define _GNU_SOURCE // dladdr, POLLRDHUP
#include "worker/process.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

extern char **environ;

#define OWN_PROGRAM "/proc/self/exe"

static const char *from_environment(void) {
#if defined(__linux__)
  if (getauxval(AT_SECURE))
    return NULL;
#endif
  const char *path = getenv("TILE_WORKER");
  return path && *path ? path : NULL;
}

static bool is_tilec(void) {
  char path[4096];
  ssize_t n = readlink(OWN_PROGRAM, path, sizeof path - 1);
  if (n <= 0)
    return false;
  path[n] = '\0';
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  return strcmp(name, "tilec") == 0 || strcmp(name, "tilec (deleted)") == 0;
}

// The folder of the library or program that holds this code, with its last slash.
static struct str own_folder(void) {
  Dl_info info;
  tile_status (*function)(const char *, char **) = worker_find_program;
  void *address;
  memcpy(&address, &function, sizeof address); // ISO C has no cast to object pointers
  if (!dladdr(address, &info) || !info.dli_fname)
    return (struct str){"", 0};
  const char *slash = strrchr(info.dli_fname, '/');
  return slash ? (struct str){info.dli_fname, (size_t)(slash + 1 - info.dli_fname)} : STR("./");
}

tile_status worker_find_program(const char *given, char **ret) {
  const char *found = given ? given : from_environment();
  if (!found && is_tilec())
    found = OWN_PROGRAM;
  struct str folder = own_folder();
  struct strbuf path = {0};
  static const char *const paths[] = {TILE_LIBEXEC_FROM_LIB "/tile-worker",
                                      TILE_LIBEXEC "/tile-worker", "tile-worker"};
  for (size_t i = 0; !found && i < COUNT_OF(paths); i++) {
    strbuf_clear(&path);
    if (paths[i][0] != '/')
      strbuf_put(&path, folder.ptr, folder.len);
    strbuf_puts(&path, paths[i]);
    if (access(strbuf_cstr(&path), X_OK) == 0)
      found = strbuf_cstr(&path);
  }
  char *copy = found ? memory_strdup(found) : NULL;
  strbuf_finish(&path);
  if (!found)
    return status_set(TILE_NOT_FOUND,
                      "the worker program `tile-worker` was not found\n  = help: it is installed "
                      "with the library, into libexec/tile; TILE_WORKER names another one");
  if (!copy)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a worker");
  *ret = copy;
  return TILE_OK;
}

// Default signals, its own process group (so that Ctrl-C reaches the parent only), no terminal:
// kernels and drivers print.
static int prepare(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *actions,
                   const int *files, size_t count) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  const char *debug = getenv("TILE_DEBUG");
  int error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                       POSIX_SPAWN_SETPGROUP);
  error = error ? error : posix_spawnattr_setsigmask(attributes, &none);
  error = error ? error : posix_spawnattr_setsigdefault(attributes, &all);
  error = error ? error : posix_spawnattr_setpgroup(attributes, 0);
  for (int fd = 0; fd < (debug && *debug ? 2 : 3); fd++)
    error = error ? error
                  : posix_spawn_file_actions_addopen(actions, fd, "/dev/null",
                                                     fd ? O_WRONLY : O_RDONLY, 0);
  for (size_t i = 0; i < count; i++)
    error = error ? error
                  : posix_spawn_file_actions_adddup2(actions, files[i], WORKER_FIRST_FILE + (int)i);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  // The worker must not inherit the program's open files.
  error = error ? error
                : posix_spawn_file_actions_addclosefrom_np(actions, WORKER_FIRST_FILE + (int)count);
#endif
  return error;
}

static tile_status spawn_failure(const char *program, int error) {
  return status_set(error == ENOENT ? TILE_NOT_FOUND : TILE_IO_ERROR,
                    "the worker `%s` does not start: %s", program, strerror(error));
}

tile_status worker_spawn(const char *program, const char *option, const int *files, size_t count,
                         pid_t *ret) {
  // Moved above the descriptors that the worker will use.
  int moved[WORKER_MAX_FILES], error = 0;
  for (size_t i = 0; i < count; i++) {
    moved[i] = fcntl(files[i], F_DUPFD_CLOEXEC, WORKER_FIRST_FILE + WORKER_MAX_FILES);
    if (moved[i] < 0)
      error = errno;
  }
  char name[] = "tile-worker", kind[32], socket[] = "3";
  snprintf(kind, sizeof kind, "%s", option);
  char *const argv[] = {name, kind, socket, NULL};
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_init(&actions);
  error = error ? error : prepare(&attributes, &actions, moved, count);
  error = error ? error : posix_spawn(ret, program, &actions, &attributes, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  for (size_t i = 0; i < count; i++)
    if (moved[i] >= 0)
      close(moved[i]);
  return error ? spawn_failure(program, error) : TILE_OK;
}

tile_status worker_socket(int ret[2]) {
  // Other threads of the program may start processes, which must not inherit this end: the worker
  // waits for its close.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret) != 0)
    return status_set(TILE_IO_ERROR, "no socket for a worker: %s", strerror(errno));
  fcntl(ret[0], F_SETFL, O_NONBLOCK);
  return TILE_OK;
}

// ---- frames ----

// Waits until the socket is ready or the time is over.
static void wait_for(int fd, short events, double until) {
  struct pollfd p = {fd, events, 0};
  double left = until - clock_ms();
  int timeout = !isfinite(left) ? -1 : left < 0 ? 0 : left > 1e6 ? 1000000 : (int)left + 1;
  (void)poll(&p, 1, timeout); // after an interruption the caller checks again
}

enum frame_status worker_exchange(int fd, struct strbuf *out, struct frame_reader *reader,
                                  struct arena *a, double until, struct frame *ret) {
  size_t sent = 0;
  for (;;) {
    enum frame_status sending = frame_send(fd, out, &sent); // a closed socket shows when reading
    enum frame_status one = sending == FRAME_BAD ? FRAME_BAD : frame_next(reader, a, ret);
    if (one != FRAME_NONE)
      return one;
    enum frame_status got = frame_fill(reader, fd);
    if (got == FRAME_HERE)
      continue;
    if (got != FRAME_NONE)
      return got;
    if (clock_ms() > until) // checked last: a frame that has arrived counts
      return FRAME_NONE;
    wait_for(fd, (short)(POLLIN | (sending == FRAME_NONE ? POLLOUT : 0)), until);
  }
}

bool worker_is_gone(int fd) {
  struct pollfd p = {fd, POLLIN | POLLRDHUP, 0};
  return poll(&p, 1, 0) != 0;
}

// ---- the end ----

static const char *signal_name(int number) {
  switch (number) {
  case SIGSEGV: return "SIGSEGV, an access to memory that is not there";
  case SIGBUS: return "SIGBUS, a bad access to memory";
  case SIGFPE: return "SIGFPE, an arithmetic error";
  case SIGILL: return "SIGILL, an illegal instruction";
  case SIGABRT: return "SIGABRT";
  case SIGTRAP: return "SIGTRAP";
  case SIGKILL: return "SIGKILL";
  case SIGTERM: return "SIGTERM";
  default: return NULL;
  }
}

int worker_reap(pid_t pid, bool is_to_be_killed, char *ret, size_t size) {
  int status = 0;
  pid_t done;
  if (is_to_be_killed)
    kill(pid, SIGKILL);
  do
    done = waitpid(pid, &status, 0);
  while (done < 0 && errno == EINTR);
  if (done != pid) // the program ignores SIGCHLD, or reaps all children
    snprintf(ret, size, "ended");
  else if (WIFSIGNALED(status) && signal_name(WTERMSIG(status)))
    snprintf(ret, size, "was killed by %s", signal_name(WTERMSIG(status)));
  else if (WIFSIGNALED(status))
    snprintf(ret, size, "was killed by signal %d", WTERMSIG(status));
  else
    snprintf(ret, size, "exited with status %d", WEXITSTATUS(status));
  return done == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
