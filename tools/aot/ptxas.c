// SPDX-License-Identifier: Apache-2.0
// Runs ptxas on PTX in a private temporary folder, and maps its messages to lines of the kernel by
// the `.loc` directives before the reported line.
#include "tools/aot/ptxas.h"

#include "base/file.h"
#include "base/ptxas_log.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_MESSAGES = 1 << 20, MAX_CUBIN = 1 << 30 };

// ---- look-up ----

static const char *named(struct tool *t, const char *path, struct span where, const char *by,
                         bool *ret_wrong) {
  if (strcmp(path, "none") == 0)
    return NULL;
  const char *found = file_find_program(t->arena, path);
  if (!found) {
    *ret_wrong = true;
    diag_help(diag_error(t->diag, where, E0750, "`%s`, which %s names, is no program", path, by),
              "give the path of ptxas, or `--ptxas none` to do without");
  }
  return found;
}

const char *ptxas_find(struct tool *t, bool *ret_wrong) {
  const char *path = getenv("TILE_PTXAS"), *home = getenv("CUDA_HOME");
  *ret_wrong = false;
  if (t->o.ptxas)
    return named(t, t->o.ptxas, t->o.ptxas_at, "--ptxas", ret_wrong);
  if (path && *path)
    return named(t, path, SPAN_NONE, "TILE_PTXAS", ret_wrong);
  const char *found = NULL;
  if (home && *home)
    found = file_find_program(t->arena, arena_printf(t->arena, "%s/bin/ptxas", home));
  if (!found)
    found = file_find_program(t->arena, "ptxas");
  return found ? found : file_find_program(t->arena, "/usr/local/cuda/bin/ptxas");
}

// ---- temporary files ----

struct scratch {
  const char *folder, *ptx, *cubin;
};

static int make_file(const char *path, struct str content) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0)
    return errno;
  int error = 0;
  while (content.len && !error) {
    ssize_t n = write(fd, content.ptr, content.len);
    if (n < 0 && errno != EINTR)
      error = errno;
    else if (n > 0)
      content = (struct str){content.ptr + n, content.len - (size_t)n};
  }
  if (close(fd) < 0 && !error)
    error = errno;
  return error;
}

static void scratch_remove(const struct scratch *s) {
  unlink(s->ptx);
  unlink(s->cubin);
  rmdir(s->folder);
}

// Creates a private folder with the PTX and an empty file for the result.
static int scratch_make(struct tool *t, struct str ptx, struct scratch *ret) {
  const char *tmp = getenv("TMPDIR");
  char *folder = arena_printf(t->arena, "%s/tilec-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(folder))
    return errno;
  *ret = (struct scratch){folder, arena_printf(t->arena, "%s/kernel.ptx", folder),
                          arena_printf(t->arena, "%s/kernel.cubin", folder)};
  int error = make_file(ret->ptx, ptx);
  if (!error)
    error = make_file(ret->cubin, (struct str){"", 0});
  if (error)
    scratch_remove(ret);
  return error;
}

// ---- the process ----

static int read_to_end(int fd, struct strbuf *out) {
  char part[4096];
  for (;;) {
    ssize_t n = read(fd, part, sizeof part);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errno;
    if (n == 0)
      return 0;
    if (out->len < MAX_MESSAGES)
      strbuf_put(out, part, (size_t)n);
  }
}

static int wait_for(pid_t pid, int *ret_status) {
  while (waitpid(pid, ret_status, 0) < 0)
    if (errno != EINTR)
      return errno;
  return 0;
}

// Runs the program with its output and messages in `out`. 0 or errno.
static int run(const char *program, char *const *argv, struct strbuf *out, int *ret_status) {
  int ends[2];
  if (pipe(ends) < 0)
    return errno;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  pid_t pid;
  int error = posix_spawn_file_actions_init(&actions);
  if (!error) {
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    if (ends[1] > 2)
      posix_spawn_file_actions_addclose(&actions, ends[1]);
    error = posix_spawn(&pid, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
  }
  close(ends[1]);
  if (!error) {
    int read_error = read_to_end(ends[0], out);
    error = wait_for(pid, ret_status);
    if (!error)
      error = read_error;
  }
  close(ends[0]);
  return error;
}

// ---- messages ----

static struct str next_line(struct str *rest) {
  struct str line;
  *rest = str_split(*rest, '\n', &line);
  return line;
}

// The number that `.file` directives give to the source; 0: none.
static uint64_t file_number(const struct source *source, struct str ptx) {
  while (ptx.ptr) {
    struct str line = str_trim(next_line(&ptx)), number;
    if (!str_starts(line, ".file") || line.len < 6)
      continue;
    struct str name = str_split(str_trim((struct str){line.ptr + 5, line.len - 5}), ' ', &number);
    uint64_t n;
    name = str_trim(name);
    if (str_to_u64(number, &n) && name.len > 2 &&
        str_is((struct str){name.ptr + 1, name.len - 2}, source->name))
      return n;
  }
  return 0;
}

// The source location of line `number` of the PTX.
static struct span location_of(const struct source *source, struct str ptx, uint64_t number) {
  struct span at = SPAN_NONE;
  uint64_t file = file_number(source, ptx);
  for (uint64_t n = 1; n <= number && ptx.ptr; n++) {
    struct str line = str_trim(next_line(&ptx)), word, rest;
    if (!str_starts(line, ".loc"))
      continue;
    uint64_t numbers[3] = {0}; // file, line, column
    rest = str_trim((struct str){line.ptr + 4, line.len - 4});
    for (int i = 0; i < 3 && rest.ptr; i++) {
      rest = str_split(rest, ' ', &word);
      if (!str_to_u64(word, &numbers[i]))
        numbers[i] = 0;
    }
    // Lines of the library are reached by calls in the kernel: uses the kernel's last line before
    // them.
    if (!file || numbers[0] != file || numbers[1] == 0 || numbers[1] > source->line_count)
      continue;
    uint32_t begin =
        source_offset(source, (uint32_t)numbers[1], numbers[2] ? (uint32_t)numbers[2] : 1);
    at = (struct span){source, begin, begin};
  }
  return at;
}

// "ptxas /tmp/kernel.ptx, line 17; error   : text": the text and the line, 0 if none is given.
struct message {
  enum { MESSAGE_OTHER, MESSAGE_ERROR, MESSAGE_WARNING, MESSAGE_SERIALISED } kind;
  uint64_t line;
  struct str words;
};

static struct message parse_message(struct str line) {
  struct message m = {.words = str_trim(line)};
  struct str head, tail = str_split(line, ':', &head), problem = ptxas_log_problem(line);
  if (problem.len)
    return (struct message){.kind = MESSAGE_SERIALISED, .words = problem};
  if (!str_starts(line, "ptxas") || !tail.ptr)
    return m;
  head = str_trim(head);
  if (str_ends(head, "error") || str_ends(head, "fatal"))
    m.kind = MESSAGE_ERROR;
  else if (str_ends(head, "warning"))
    m.kind = MESSAGE_WARNING;
  else
    return m;
  m.words = str_trim(tail);
  static const char mark[] = ", line ";
  for (size_t i = 0; i + sizeof mark <= head.len; i++)
    if (memcmp(head.ptr + i, mark, sizeof mark - 1) == 0) {
      struct str number;
      (void)str_split((struct str){head.ptr + i + sizeof mark - 1, head.len - i - sizeof mark + 1},
                      ';', &number);
      if (!str_to_u64(number, &m.line))
        m.line = 0;
    }
  return m;
}

// The number before `unit` in a line such as "0 bytes stack frame, 4 bytes spill stores".
static void take_number(struct str line, const char *unit, int *ret) {
  size_t n = strlen(unit);
  for (size_t i = 1; i + n <= line.len; i++) {
    if (memcmp(line.ptr + i, unit, n) != 0)
      continue;
    size_t begin = i;
    while (begin > 0 && line.ptr[begin - 1] >= '0' && line.ptr[begin - 1] <= '9')
      begin--;
    uint64_t value;
    if (str_to_u64((struct str){line.ptr + begin, i - begin}, &value) && value <= INT32_MAX)
      *ret = (int)value;
  }
}

static void read_report(struct str line, struct ptxas_report *r) {
  take_number(line, " registers", &r->registers);
  take_number(line, " bytes stack frame", &r->stack_bytes);
  take_number(line, " bytes spill stores", &r->spill_stores);
  take_number(line, " bytes spill loads", &r->spill_loads);
}

static void tell(struct tool *t, const struct source *source, struct str ptx, const char *what,
                 const struct message *m) {
  struct span at = location_of(source, ptx, m->line);
  bool is_error = m->kind == MESSAGE_ERROR;
  struct diag *d =
      is_error ? diag_error(t->diag, at, E0751, "ptxas refuses `%s`: %.*s", what, STR_ARG(m->words))
               : diag_warning(t->diag, at, E0752, "ptxas on `%s`: %.*s", what, STR_ARG(m->words));
  if (m->kind == MESSAGE_SERIALISED)
    diag_help(d, "smaller blocks or more warps leave registers for sums in flight; inline assembly "
                 "must leave the operands of wgmma alone until its wait");
  if (!m->line)
    return;
  struct str line = {0}, rest = ptx;
  for (uint64_t n = 0; n < m->line && rest.ptr; n++)
    line = str_trim(next_line(&rest));
  diag_note(d, SPAN_NONE, "line %llu of the PTX is `%.*s`", (unsigned long long)m->line,
            STR_ARG(line));
}

static bool digest(struct tool *t, const struct source *source, struct str ptx, const char *what,
                   struct str messages, int status, struct ptxas_report *r) {
  bool said_why = false;
  for (struct str rest = messages; rest.ptr;) {
    struct str line = next_line(&rest);
    struct message m = parse_message(line);
    if (m.kind == MESSAGE_OTHER) {
      read_report(line, r);
      continue;
    }
    // The first error is followed by its consequences: "Ptx assembly aborted due to errors".
    if (m.kind == MESSAGE_ERROR && said_why && !m.line)
      continue;
    said_why |= m.kind == MESSAGE_ERROR;
    tell(t, source, ptx, what, &m);
  }
  bool ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!ok && !said_why)
    diag_error(t->diag, SPAN_NONE, E0751, "ptxas failed on `%s` with %s %d: %.*s", what,
               WIFEXITED(status) ? "exit status" : "signal",
               WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
               STR_ARG(str_trim(messages)));
  return ok && !said_why;
}

bool ptxas_run(struct tool *t, const char *ptxas, const struct target *target,
               const struct source *source, struct str ptx, const char *what, struct str *ret_cubin,
               struct ptxas_report *ret_report) {
  struct scratch s = {0};
  int error = scratch_make(t, ptx, &s), status = 0;
  if (error) {
    diag_help(
        diag_error(t->diag, SPAN_NONE, E0751, "no temporary files for ptxas: %s", strerror(error)),
        "set TMPDIR to a folder with room");
    return false;
  }
  char *argv[] = {arena_strdup(t->arena, ptxas), arena_printf(t->arena, "-arch=%s", target->name),
                  arena_strdup(t->arena, "-v"),  arena_strdup(t->arena, "-lineinfo"),
                  arena_strdup(t->arena, "-o"),  arena_strdup(t->arena, s.cubin),
                  arena_strdup(t->arena, s.ptx), NULL};
  struct strbuf messages = {.arena = t->arena};
  *ret_report = (struct ptxas_report){-1, -1, -1, -1};
  error = run(ptxas, argv, &messages, &status);
  bool ok = false;
  if (error)
    diag_error(t->diag, SPAN_NONE, E0751, "cannot run `%s`: %s", ptxas, strerror(error));
  else
    ok = digest(t, source, ptx, what, (struct str){strbuf_cstr(&messages), messages.len}, status,
                ret_report);
  if (ok && (error = file_read(t->arena, s.cubin, MAX_CUBIN, ret_cubin)) != 0) {
    diag_error(t->diag, SPAN_NONE, E0751, "ptxas left no result: %s", strerror(error));
    ok = false;
  }
  strbuf_finish(&messages);
  scratch_remove(&s);
  return ok;
}
