// SPDX-License-Identifier: Apache-2.0
// Reproducer folders. The signal handler uses only async-signal-safe calls, on its own stack, and
// finds prepared data in this file's one variable, since handlers take no argument.
#include "tools/reproducer.h"

#include "base/sha256.h"

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define HANDLER_STACK 65536
enum { MOST_FRAMES = 64 };

static struct {
  struct str command, version, input;
  char folder[32]; // "tilec-crash-0123456789ab"
  volatile sig_atomic_t kernel_runs;
  char stack[HANDLER_STACK];
} state;

static void write_text(int fd, const char *text, size_t n) {
  while (n) {
    ssize_t done = write(fd, text, n);
    if (done <= 0)
      return;
    text += done;
    n -= (size_t)done;
  }
}

static void say(const char *text) { write_text(STDERR_FILENO, text, strlen(text)); }

static bool write_file(int folder, const char *name, struct str text) {
  int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    return false;
  write_text(fd, text.ptr, text.len);
  return close(fd) == 0;
}

// The callers, as addresses in programs and libraries: `addr2line -e FILE +OFFSET` has their lines.
static void write_trace(int folder) {
  void *frames[MOST_FRAMES];
  int fd = openat(folder, "trace.txt", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    return;
  backtrace_symbols_fd(frames, backtrace(frames, MOST_FRAMES), fd);
  close(fd);
}

const char *reproducer_write(void) {
  (void)mkdir(state.folder, 0700); // it may exist from an earlier crash
  int folder = open(state.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder < 0)
    return NULL;
  bool ok = write_file(folder, "command.txt", state.command) &&
            write_file(folder, "version.txt", state.version) &&
            (!state.input.ptr || write_file(folder, "input.tile", state.input));
  write_trace(folder); // last: nothing is lost if the stack is broken
  close(folder);
  return ok ? state.folder : NULL;
}

static const char *signal_name(int number) {
  switch (number) {
  case SIGSEGV: return "segmentation fault";
  case SIGBUS: return "bus error";
  case SIGABRT: return "abort";
  case SIGILL: return "illegal instruction";
  case SIGFPE: return "arithmetic exception";
  default: return "signal";
  }
}

UNUSED static void on_fatal_signal(int number) { // sanitizers install their own handlers
  if (state.kernel_runs) {
    say("error: the kernel ended with a ");
    say(signal_name(number));
    say(" [E0813]\n  = help: run it with `--check`, which names the access that leaves its "
        "buffer\n");
    _exit(EXIT_WRONG);
  }
  say("error: internal error: ");
  say(signal_name(number));
  say(" [E0990]\n");
  if (reproducer_write()) {
    say("  = help: please report it with the folder `");
    say(state.folder);
    say("`\n");
  }
  _exit(EXIT_INTERNAL);
}

// 'a word', with quotes inside as '\''
static void quote_word(struct strbuf *out, const char *word) {
  strbuf_putc(out, '\'');
  for (; *word; word++)
    strbuf_puts(out, *word == '\'' ? "'\\''" : (char[2]){*word, 0});
  strbuf_putc(out, '\'');
}

static void name_folder(void) {
  struct sha256 h;
  uint8_t digest[32];
  char hex[65];
  sha256_init(&h);
  sha256_field(&h, state.command.ptr, state.command.len);
  sha256_field(&h, state.input.ptr, state.input.len);
  sha256_final(&h, digest);
  sha256_hex(digest, hex);
  memcpy(state.folder, "tilec-crash-", 12);
  memcpy(state.folder + 12, hex, 12);
  state.folder[24] = 0;
}

void reproducer_install(struct tool *t, int argc, char **argv) {
  struct strbuf command = {.arena = t->arena};
  state.command = state.version = state.input = (struct str){0}; // an earlier call's data is freed
  for (int i = 0; i < argc; i++) {
    if (i)
      strbuf_putc(&command, ' ');
    quote_word(&command, argv[i]);
  }
  strbuf_putc(&command, '\n');
  const char *version = arena_printf(t->arena, "%s\n", compiler_version());
  state.command.ptr = arena_strndup(t->arena, strbuf_cstr(&command), command.len);
  state.command.len = command.len;
  state.version = str_from(version);
  strbuf_finish(&command);
  name_folder();
  void *frame;
  (void)backtrace(&frame, 1);      // loads what it needs, which a handler may not
#if !defined(__SANITIZE_ADDRESS__) // its own handlers report more
  stack_t stack = {.ss_sp = state.stack, .ss_size = sizeof state.stack};
  struct sigaction action = {.sa_handler = on_fatal_signal, .sa_flags = SA_ONSTACK | SA_RESETHAND};
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
  sigaltstack(&stack, NULL);
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < COUNT_OF(fatal); i++)
    sigaction(fatal[i], &action, NULL);
#endif
}

void reproducer_input(const struct source *source) {
  state.input = source->text;
  name_folder();
}

void reproducer_kernel_runs(bool on_cpu) { state.kernel_runs = on_cpu; }
