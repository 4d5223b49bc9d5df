// SPDX-License-Identifier: Apache-2.0
// Tests failing allocations: every scenario runs in forked
// processes in which the n-th allocation of Tile's code fails, alone or with all later ones. The
// outcome must be that of a run without failures, byte for byte, or an out-of-memory error with
// exit status 75 (TILE_OUT_OF_MEMORY in the C API), without other output or new files. Using an
// arena without an out-of-memory handler ends the run. Prints TAP.
//
// usage: test-out-of-memory ROOT [--points K | --all] [--part I/N] [--heap] [--only SCENARIO [N]]
//                           [--keep] [--list]
// --points K: at most K values of n per scenario and kind, spread evenly (default 5). --part: every
// N-th of them, from the I-th. --heap: only heap allocations; arena allocations then fail only when
// they need a new chunk. --list: prints the scenarios' names.
#include "base/memory.h"
#include "injection.h"
#include "tools/tool.h"

#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUT_OF_MEMORY = 75, BARE = 98, SECONDS = 120 };

static struct choices {
  const char *root, *only;
  unsigned points, point, part, parts;
  bool heap_only, keep, lists;
} options = {.points = 5, .parts = 1};

// ---- the hook ----

static struct shared { // by parent and child
  atomic_uint asked;
  struct file_names then; // when the allocation failed
} * shared;
static unsigned fail_at;
static bool fail_later;

// An arena without a handler: ends the run with the location of the allocation.
static void tell_bare(void) {
  void *frames[32];
  backtrace_symbols_fd(frames, backtrace(frames, 32), STDERR_FILENO);
  _exit(BARE);
}

static bool fails(enum memory_use use) {
  if (use == MEMORY_BARE_ARENA)
    tell_bare();
  if (use != MEMORY_HEAP && options.heap_only)
    return false;
  unsigned n = atomic_fetch_add(&shared->asked, 1) + 1;
  if (n == fail_at) {
    shared->then.count = 0;
    read_names(".", "", &shared->then);
  }
  return fail_at && (n == fail_at || (fail_later && n > fail_at));
}

// ---- one run ----

static int call_tilec(const char *const *words) {
  static char texts[MAX_WORDS][512];
  char *argv[MAX_WORDS + 2] = {texts[0]};
  int argc = 1;
  snprintf(texts[0], sizeof texts[0], "tilec");
  for (; words[argc - 1]; argc++) {
    const char *w = words[argc - 1];
    snprintf(texts[argc], sizeof texts[argc], "%s%s%s", *w == '@' ? options.root : "",
             *w == '@' ? "/" : "", w + (*w == '@'));
    argv[argc] = texts[argc];
  }
  return tilec_main(argc, argv);
}

static int call_api(tile_status (*call)(void)) {
  tile_status s = call();
  if (s != TILE_OK)
    fprintf(stderr, "%s: %s\n", tile_status_name(s), tile_error_message());
  return s == TILE_OK ? 0 : s == TILE_OUT_OF_MEMORY ? OUT_OF_MEMORY : 100 + (int)s;
}

// Runs in `folder`, with output in the files out and err. Returns the wait status.
static int run(const struct scenario *s, bool is_setup, const char *folder) {
  fflush(stdout);
  atomic_store(&shared->asked, 0);
  pid_t pid = fork();
  if (pid == 0) {
    if (chdir(folder) != 0 || !freopen("out", "w", stdout) || !freopen("err", "w", stderr))
      _exit(99);
    alarm(SECONDS);
    memory_fails = fails;
    int status = is_setup  ? call_tilec(s->setup)
                 : s->call ? call_api(s->call)
                           : call_tilec(s->words);
    memory_fails = NULL;
    exit(status);
  }
  int status = -1;
  if (pid < 0 || waitpid(pid, &status, 0) != pid)
    die("a process does not start");
  return status;
}

// ---- expected outcomes ----

struct expectation {
  int status;
  struct files before, after;
};

static bool starts(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

// A cache may be empty.
static bool is_spare(const struct scenario *s, const char *file) {
  return starts(file, "cache/") || (s->spare && starts(file, s->spare));
}

static const char *wrong_file(const struct scenario *s, const struct expectation *e,
                              const struct files *got, bool is_error) {
  for (unsigned i = 0; i < got->count; i++) {
    const struct file *f = &got->at[i], *want = find_file(&e->after, f->name);
    if (!want)
      return f->name;
    bool is_message = strcmp(f->name, "err") == 0;
    bool is_output = strcmp(f->name, "out") == 0;
    if (s->is_timed || (is_error && (is_message || (is_output && f->size == 0))))
      continue;
    if (!same_file(f, want) && !(is_error && same_file(f, find_file(&e->before, f->name))))
      return f->name;
  }
  for (unsigned i = 0; !is_error && i < e->after.count; i++)
    if (!find_file(got, e->after.at[i].name) && !is_spare(s, e->after.at[i].name))
      return e->after.at[i].name;
  return NULL;
}

// A file that was created after the failed allocation; NULL: none.
static const char *later_file(const struct expectation *e, const struct files *got) {
  for (unsigned i = 0; i < got->count; i++)
    if (!has_name(&shared->then, got->at[i].name) && !find_file(&e->before, got->at[i].name))
      return got->at[i].name;
  return NULL;
}

// Why the outcome is neither right nor the error, or NULL.
static const char *judge(const struct scenario *s, const struct expectation *e, int status,
                         const struct files *got, bool *ret_is_right) {
  static char why[2000];
  const struct file *err = find_file(got, "err"), *out = find_file(got, "out");
  if (WIFSIGNALED(status))
    return snprintf(why, sizeof why, "signal %d", WTERMSIG(status)), why;
  bool is_error = WEXITSTATUS(status) == OUT_OF_MEMORY && err &&
                  (strstr(err->data, "memory") || strstr(err->data, "[E0991]"));
  *ret_is_right = !is_error;
  if (!is_error && status != e->status)
    return snprintf(why, sizeof why, "exit status %d: %.500s\n%.1000s", WEXITSTATUS(status),
                    err ? err->data : "", out ? out->data : ""),
           why;
  const char *name = wrong_file(s, e, got, is_error);
  if (name)
    return snprintf(why, sizeof why, "%s: file `%s` is wrong or missing",
                    is_error ? "error" : "no error", name),
           why;
  name = is_error ? later_file(e, got) : NULL;
  if (name)
    return snprintf(why, sizeof why, "file `%s` was written after the failure", name), why;
  return NULL;
}

static char work[] = "/tmp/tile-out-of-memory-XXXXXX";

static void fresh_folder(const struct expectation *e) {
  remove_folder(work);
  if (mkdir(work, 0700) != 0)
    die(work);
  write_files(work, &e->before);
}

static bool expect(const struct scenario *s, struct expectation *e) {
  fresh_folder(e);
  fail_at = 0;
  if (s->setup[0]) {
    int status = run(s, true, work);
    read_files(work, "", &e->before);
    if (status != 0) {
      const struct file *err = find_file(&e->before, "err");
      printf("# setup: %d %s\n", WEXITSTATUS(status), err ? err->data : "");
      return false;
    }
    fresh_folder(e);
  }
  e->status = run(s, false, work);
  read_files(work, "", &e->after);
  return WIFEXITED(e->status) && WEXITSTATUS(e->status) != BARE;
}

struct tally {
  unsigned right, errors, wrong;
};

static void try_point(const struct scenario *s, const struct expectation *e, unsigned n, bool later,
                      struct tally *t) {
  struct files got = {0};
  bool is_right = false;
  fresh_folder(e);
  fail_at = n;
  fail_later = later;
  int status = run(s, false, work);
  fail_at = 0;
  read_files(work, "", &got);
  const char *why = judge(s, e, status, &got, &is_right);
  // Files that a failed run leaves on disk must not change the result of another run.
  if (!why && (s->call == call_cached || s->call == call_imported)) {
    int again = run(s, false, work);
    free_files(&got);
    read_files(work, "", &got);
    bool ignored;
    why = again == e->status ? judge(s, e, again, &got, &ignored) : "the run after it fails";
  }
  free_files(&got);
  t->right += !why && is_right;
  t->errors += !why && !is_right;
  t->wrong += why != NULL;
  if (why && (t->wrong <= 10 || options.only)) {
    printf("# %s: n = %u%s: ", s->name, n, later ? " and later" : "");
    for (const char *p = why; *p; p++)
      printf(*p == '\n' ? "\n#   " : "%c", *p);
    printf("\n");
  }
}

static bool try_scenario(const struct scenario *s) {
  struct expectation e = {0};
  struct tally t = {0};
  struct rusage usage;
  bool ok = expect(s, &e);
  unsigned count = atomic_load(&shared->asked), tried = 0;
  const struct file *err = find_file(&e.after, "err");
  if (!ok || count == 0)
    printf("# without failures: %d %s\n", WEXITSTATUS(e.status), err ? err->data : "");
  unsigned points = options.points && options.points < count ? options.points : count;
  for (unsigned i = options.part; ok && i < points; i += options.parts)
    for (int later = 0; later < 2; later++, tried++) {
      // Spread evenly with the two kinds interleaved, including the first and the last.
      uint64_t twice = points > 1 ? (uint64_t)(2 * i + (unsigned)later) * (count - 1) : 0;
      unsigned n = points == count ? i + 1 : 1 + (unsigned)(twice / (2 * points - 1));
      try_point(s, &e, options.point ? options.point : n, later, &t);
      if (options.point && later)
        i = points;
    }
  getrusage(RUSAGE_CHILDREN, &usage);
  printf("# %s: exit status %d, %u allocations, %u tried: %u right, %u errors, %u wrong; %.1f s\n",
         s->name, WEXITSTATUS(e.status), count, tried, t.right, t.errors, t.wrong,
         (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec));
  free_files(&e.before);
  free_files(&e.after);
  return ok && count > 0 && t.wrong == 0;
}

static bool parse(int argc, char **argv) {
  if (argc < 2)
    return false;
  options.root = argv[1];
  for (int i = 2; i < argc; i++)
    if (strcmp(argv[i], "--all") == 0)
      options.points = 0;
    else if (strcmp(argv[i], "--heap") == 0)
      options.heap_only = true;
    else if (strcmp(argv[i], "--keep") == 0)
      options.keep = true;
    else if (strcmp(argv[i], "--list") == 0)
      options.lists = true;
    else if (strcmp(argv[i], "--part") == 0 && i + 1 < argc &&
             sscanf(argv[i + 1], "%u/%u", &options.part, &options.parts) == 2 && options.part &&
             options.part-- <= options.parts)
      i++;
    else if (strcmp(argv[i], "--points") == 0 && i + 1 < argc)
      options.points = (unsigned)atoi(argv[++i]);
    else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
      options.only = argv[++i];
      if (i + 1 < argc && argv[i + 1][0] != '-')
        options.point = (unsigned)atoi(argv[++i]);
    } else
      return false;
  return true;
}

// Initialises LLVM's targets once, before the forks.
static void warm_up(void) {
  const char *const gpu[] = {
      "@tests/out-of-memory/add.tile", "--emit=ptx", "--target", "sm_80", "-o", "/dev/null", NULL};
  const char *const host[] = {
      "@tests/out-of-memory/add.tile", "--emit=object", "--target", "cpu", "-o", "/dev/null", NULL};
  if (call_tilec(gpu) != 0 || call_tilec(host) != 0)
    die("a kernel does not compile");
}

int main(int argc, char **argv) {
  const struct rlimit no_core = {0, 0};
  if (!parse(argc, argv)) {
    fprintf(stderr, "usage: test-out-of-memory ROOT [--points K | --all] [--part I/N] [--heap] "
                    "[--only SCENARIO [N]] [--keep] [--list]\n");
    return 2;
  }
  for (unsigned i = 0; options.lists && i < scenario_count; i++)
    puts(scenarios[i].name);
  if (options.lists)
    return 0;
  setrlimit(RLIMIT_CORE, &no_core);
  setenv("TILE_CACHE_DIR", "", 1);
  setenv("NO_COLOR", "1", 1);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || !mkdtemp(work))
    die("no folder to work in");
  warm_up();
  unsigned failed = 0;
  printf("1..%u\n", options.only ? 1 : scenario_count);
  for (unsigned i = 0; i < scenario_count; i++) {
    if (options.only && strcmp(options.only, scenarios[i].name) != 0)
      continue;
    bool ok = try_scenario(&scenarios[i]);
    printf("%sok %u - %s\n", ok ? "" : "not ", options.only ? 1 : i + 1, scenarios[i].name);
    fflush(stdout);
    failed += !ok;
  }
  if (!options.keep)
    remove_folder(work);
  return failed != 0;
}
