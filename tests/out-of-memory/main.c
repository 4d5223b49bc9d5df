// SPDX-License-Identifier: Apache-2.0
// What happens when an allocation of the project's own fails: every scenario runs in forked
// processes, in which the n-th allocation fails, alone or with all that follow. The outcome must be
// what it is without failures, byte for byte, or exit status 75 (TILE_OUT_OF_MEMORY of the C API)
// that says so and leaves no other output. Prints TAP.
//
// usage: test-out-of-memory ROOT [--points K | --all] [--heap] [--only SCENARIO [N]] [--keep]
// --points K: at most K values of n a scenario and kind, spread evenly (default 5). --heap: what
// the heap is asked for, without single allocations of arenas, which fail where a chunk is full.
#include "base/memory.h"
#include "injection.h"
#include "tools/tool.h"

#include <dirent.h>
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

enum { OUT_OF_MEMORY = 75, SECONDS = 120, MAX_FILES = 64 };

static struct choices {
  const char *root, *only;
  unsigned points, point;
  bool heap_only, keep;
} options = {.points = 5};

// ---- the hook ----

static struct shared { // by parent and child
  atomic_uint asked;
} * shared;
static unsigned fail_at;
static bool fail_later;

static bool fails(bool in_arena) {
  if (in_arena && options.heap_only)
    return false;
  unsigned n = atomic_fetch_add(&shared->asked, 1) + 1;
  return fail_at && (n == fail_at || (fail_later && n > fail_at));
}

// ---- a folder's files ----

struct file {
  char name[512];
  char *data;
  size_t size;
};

struct files {
  struct file at[MAX_FILES];
  unsigned count;
};

static void die(const char *what) {
  printf("Bail out! %s\n", what);
  exit(1);
}

static void read_into(struct file *f, const char *path) {
  FILE *in = fopen(path, "rb");
  struct stat st;
  if (!in || fstat(fileno(in), &st) != 0 || !(f->data = malloc((size_t)st.st_size + 1)))
    die(path);
  f->size = fread(f->data, 1, (size_t)st.st_size, in);
  f->data[f->size] = 0;
  fclose(in);
}

static void read_files(const char *folder, const char *prefix, struct files *ret) {
  DIR *d = opendir(folder);
  if (!d)
    die(folder);
  for (struct dirent *e; (e = readdir(d));) {
    char path[1024], name[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    snprintf(name, sizeof name, "%s%s", prefix, e->d_name);
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || lstat(path, &st) != 0)
      continue;
    if (S_ISDIR(st.st_mode)) {
      strncat(name, "/", sizeof name - strlen(name) - 1);
      read_files(path, name, ret);
    } else if (ret->count == MAX_FILES) {
      die("too many files");
    } else {
      struct file *f = &ret->at[ret->count++];
      memcpy(f->name, name, sizeof f->name);
      read_into(f, path);
    }
  }
  closedir(d);
}

static const struct file *find_file(const struct files *in, const char *name) {
  for (unsigned i = 0; i < in->count; i++)
    if (strcmp(in->at[i].name, name) == 0)
      return &in->at[i];
  return NULL;
}

static bool same_file(const struct file *a, const struct file *b) {
  return a && b && a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static void free_files(struct files *f) {
  for (unsigned i = 0; i < f->count; i++)
    free(f->at[i].data);
  f->count = 0;
}

static void remove_folder(const char *folder) {
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && unlink(path) != 0)
      remove_folder(path);
  }
  if (d)
    closedir(d);
  rmdir(folder);
}

static void write_files(const char *folder, const struct files *f) {
  for (unsigned i = 0; i < f->count; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, f->at[i].name);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(f->at[i].data, 1, f->at[i].size, out) != f->at[i].size || fclose(out) != 0)
      die(path);
  }
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

// In `folder`, with its outputs in the files out and err. The wait status.
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

// ---- what is expected ----

struct expectation {
  int status;
  struct files before, after;
};

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
    if (!find_file(got, e->after.at[i].name) && strncmp(e->after.at[i].name, "cache/", 6) != 0)
      return e->after.at[i].name; // of a cache, nothing need be kept
  return NULL;
}

// Why the outcome is neither right nor the error, or NULL.
static const char *judge(const struct scenario *s, const struct expectation *e, int status,
                         const struct files *got, bool *ret_is_right) {
  static char why[600];
  const struct file *err = find_file(got, "err");
  if (WIFSIGNALED(status))
    return snprintf(why, sizeof why, "signal %d", WTERMSIG(status)), why;
  bool is_error = WEXITSTATUS(status) == OUT_OF_MEMORY && err &&
                  (strstr(err->data, "memory") || strstr(err->data, "[E0991]"));
  *ret_is_right = !is_error;
  if (!is_error && status != e->status)
    return snprintf(why, sizeof why, "exit status %d: %.400s", WEXITSTATUS(status),
                    err ? err->data : ""),
           why;
  const char *name = wrong_file(s, e, got, is_error);
  if (name)
    return snprintf(why, sizeof why, "%s: file `%s` is wrong or missing",
                    is_error ? "error" : "no error", name),
           why;
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
      printf("# setup: %d %s\n", status, err ? err->data : "");
      return false;
    }
    fresh_folder(e);
  }
  e->status = run(s, false, work);
  read_files(work, "", &e->after);
  return WIFEXITED(e->status);
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
  // What a failed run leaves on disk must not lead another one astray.
  if (!why && s->call == call_cached) {
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
    printf("# without failures: %d %s\n", e.status, err ? err->data : "");
  unsigned points = options.points && options.points < count ? options.points : count;
  for (unsigned i = 0; ok && i < points; i++)
    for (int later = 0; later < 2; later++, tried++) {
      // Spread evenly, the two kinds between each other; the first and the last are among them.
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

// LLVM's targets are initialised once, here, and not in each process.
static void warm_up(void) {
  const char *const gpu[] = {
      "@tests/out-of-memory/add.tile", "--emit=ptx", "--target", "sm_80", "-o", "/dev/null", NULL};
  const char *const host[] = {"@tests/out-of-memory/add.tile",
                              "--emit=object",
                              "--target",
                              "host",
                              "-o",
                              "/dev/null",
                              NULL};
  if (call_tilec(gpu) != 0 || call_tilec(host) != 0)
    die("a kernel does not compile");
}

int main(int argc, char **argv) {
  const struct rlimit no_core = {0, 0};
  if (!parse(argc, argv)) {
    fprintf(stderr, "usage: test-out-of-memory ROOT [--points K | --all] [--heap] "
                    "[--only SCENARIO [N]] [--keep]\n");
    return 2;
  }
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
