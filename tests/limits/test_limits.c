// SPDX-License-Identifier: Apache-2.0
// Compiles inputs that are small to describe and large to compile. Each must finish within limits
// of time and memory, successfully or with the expected code. tilec runs in a separate process;
// wait4 reports its processor time and peak memory. Prints TAP. usage: test-limits TILEC [NAME...]
#include "tests/limits/bombs.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_SECONDS 2.0
#define MAX_MIB 256
// Graphs take time and memory in proportion to their operators, from this number on.
#define MANY 4000
#define SECONDS_OF_EACH 1e-4
#define MIB_OF_EACH 0.15
#define SLOW_FACTOR 5 // for machines that are slow or busy; times are printed

enum { MAX_ARGUMENTS = 32 };

struct outcome {
  int status;
  double seconds;
  long mib;
  bool has_code;
};

static double seconds_of(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

static void run_child(const char *tilec, const char *input, const char *options) {
  static char copy[512];
  char *argv[MAX_ARGUMENTS] = {(char *)(size_t)tilec};
  int argc = 1, null = open("/dev/null", O_WRONLY),
      err = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  snprintf(copy, sizeof copy, "%s", options);
  for (char *p = strtok(copy, " "); p && argc + 1 < MAX_ARGUMENTS; p = strtok(NULL, " "))
    argv[argc++] = strcmp(p, "@") ? p : (char *)(size_t)input;
  struct rlimit cpu = {60, 60}, memory = {8ull << 30, 8ull << 30};
  setrlimit(RLIMIT_CPU, &cpu);
  setrlimit(RLIMIT_AS, &memory);
  dup2(null, 1);
  dup2(err, 2);
  execv(tilec, argv);
  _exit(126);
}

static double seconds_allowed(const struct bomb *b) {
  return (MAX_SECONDS + (b->size > MANY ? b->size * SECONDS_OF_EACH : 0)) * SLOW_FACTOR;
}

static double mib_allowed(const struct bomb *b) {
  return MAX_MIB + (b->size > MANY ? b->size * MIB_OF_EACH : 0);
}

static bool mentions(const char *path, const char *text) {
  FILE *f = fopen(path, "r");
  bool found = false;
  size_t matched = 0; // codes have no letter twice, so that a mismatch begins anew
  for (int c; f && !found && (c = getc(f)) != EOF; found = text[matched] == 0)
    matched = c == text[matched] ? matched + 1 : c == text[0];
  if (f)
    fclose(f);
  return found;
}

static struct outcome run(const char *tilec, const struct bomb *b) {
  struct outcome o = {.status = -1};
  FILE *f = fopen(b->name, "w");
  if (!f)
    return o;
  b->write(f, b->size);
  fclose(f);
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0)
    run_child(tilec, b->name, b->options);
  int status = 0;
  struct rusage u = {0};
  if (pid < 0 || wait4(pid, &status, 0, &u) != pid)
    return o;
  remove(b->name);
  o.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  o.seconds = seconds_of(u.ru_utime) + seconds_of(u.ru_stime);
  o.mib = u.ru_maxrss / 1024;
  o.has_code = *b->want ? mentions("err", b->want) : o.status == 0;
  return o;
}

static bool is_asked_for(const struct bomb *b, int argc, char **argv) {
  for (int i = 2; i < argc; i++)
    if (strncmp(b->name, argv[i], strlen(argv[i])) == 0)
      return true;
  return argc <= 2;
}

int main(int argc, char **argv) {
  const struct bomb *const tables[] = {language_bombs, graph_bombs, text_bombs};
  char scratch[] = "/tmp/tile-limits-XXXXXX";
  char *tilec = argc > 1 ? realpath(argv[1], NULL) : NULL;
  if (!tilec || !mkdtemp(scratch) || chdir(scratch) != 0)
    return 1;
  setenv("NO_COLOR", "1", 1);
  setenv("TILE_CACHE_DIR", "", 1);
  int n = 0, failed = 0;
  double total = 0;
  for (int t = 0; t < 3; t++)
    for (const struct bomb *b = tables[t]; b->name; b++) {
      if (!is_asked_for(b, argc, argv))
        continue;
      struct outcome o = run(tilec, b);
      bool ok = o.has_code && o.seconds < seconds_allowed(b) && (double)o.mib < mib_allowed(b);
      printf("%s %d - %s # status %d, %.2f s, %ld MiB\n", ok ? "ok" : "not ok", ++n, b->name,
             o.status, o.seconds, o.mib);
      if (!ok) {
        FILE *f = fopen("err", "r");
        char line[400];
        for (int k = 0; f && k < 3 && fgets(line, sizeof line, f); k++)
          printf("#   %.*s\n", (int)strcspn(line, "\n"), line);
        if (f)
          fclose(f);
      }
      failed += !ok;
      total += o.seconds;
      fflush(stdout);
    }
  printf("1..%d\n# %.1f s of processor time\n", n, total);
  remove("err");
  (void)rmdir(scratch);
  free(tilec);
  return failed != 0;
}
