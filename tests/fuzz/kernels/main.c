// SPDX-License-Identifier: Apache-2.0
// Compares random well-typed kernels with their reference interpreter, each in several launch
// shapes.
//   test-random-kernels cpu|cuda|simulate:TARGET [--seed S] [--first N] [--count N] [--jobs N]
//   [--shapes N] [--target T] [--print]
// Kernel N of seed S is always the same. On the CPU the first launch of each is checked for races
// and out-of-bounds accesses. If a kernel is elementwise, all launch shapes must give the same
// bits. The last line counts kernels, launches, compared elements, elements without a bound, and
// differences.
#include "kernel.h"

#include <tile/tile.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GUARD = 64, SLOW_SECONDS = 120 };

struct options {
  const char *device, *target;
  unsigned long seed, first, count, jobs, shapes;
  bool print;
};

struct counts {
  unsigned long kernels, launches, compared, wild, failed;
};

struct session {
  struct options o;
  tile_device *device;
  bool on_cpu;
  struct counts counts;
  FILE *out;
};

struct shape_of_launch {
  unsigned warps, stages;
  bool check;
};

// ---- one kernel ----

struct run {
  struct session *s;
  struct kernel *k;
  unsigned long number;
  struct strbuf text;
  void *device[ARRAYS];
  unsigned char *got[ARRAYS], *last[ARRAYS]; // of this launch and the one before, with the guards
  bool is_failed;
};

static unsigned long running, running_seed; // for the handler
static const char *running_device = "";

static void fail(struct run *r, const struct shape_of_launch *l, const char *what) {
  FILE *f = r->s->out;
  if (r->is_failed)
    return;
  r->is_failed = true;
  r->s->counts.failed++;
  fprintf(f, "# kernel %lu of seed %lu, %u warps, %u stages: %s\n", r->number, r->s->o.seed,
          l->warps, l->stages, what);
  for (const char *line = strbuf_cstr(&r->text), *end; *line; line = end) {
    end = strchr(line, '\n') + 1;
    fprintf(f, "#   %.*s", (int)(end - line), line);
  }
  fprintf(f, "# again: test-random-kernels %s --seed %lu --first %lu --count 1 --print\n",
          r->s->o.device, r->s->o.seed, r->number);
  fflush(f);
}

static size_t bytes_of(const struct array *a) { return (a->count + GUARD) * dtype_bytes(a->type); }

static tile_status open_kernel(struct run *r, const struct shape_of_launch *l, tile_kernel **ret) {
  tile_status status = tile_kernel_from_source(r->s->device, "random.tile", strbuf_cstr(&r->text),
                                               r->text.len, "k", ret);
  if (status == TILE_OK)
    status = tile_kernel_set_warps(*ret, l->warps);
  if (status == TILE_OK)
    status = tile_kernel_set_stages(*ret, l->stages);
  if (status == TILE_OK && r->s->o.target)
    status = tile_kernel_set_target(*ret, r->s->o.target);
  if (status == TILE_OK && l->check)
    status = tile_kernel_set_check(*ret, 1);
  return status;
}

static tile_status launch(struct run *r, tile_kernel *kernel) {
  struct kernel *k = r->k;
  tile_arg args[ARRAYS + 1];
  tile_status status = TILE_OK;
  for (unsigned i = 0; i < k->array_count && status == TILE_OK; i++) {
    const struct array *a = &k->arrays[i];
    memset(r->got[i], 0xA5, bytes_of(a));
    memcpy(r->got[i], a->bytes, a->count * dtype_bytes(a->type));
    args[i] = tile_arg_pointer(r->device[i], (tile_type)a->type);
    status = tile_copy_to_device(r->s->device, NULL, r->device[i], r->got[i], bytes_of(a));
  }
  args[k->array_count] = tile_arg_i32(k->trips);
  if (status == TILE_OK)
    status = tile_launch(kernel, NULL, (tile_grid){k->grid[0], k->grid[1], k->grid[2]}, args,
                         k->array_count + 1);
  for (unsigned i = 0; i < k->array_count && status == TILE_OK; i++)
    status =
        tile_copy_to_host(r->s->device, NULL, r->got[i], r->device[i], bytes_of(&k->arrays[i]));
  r->s->counts.launches++;
  return status;
}

// ---- comparing ----

static bool is_untouched(const struct array *a, const unsigned char *got, size_t i) {
  size_t n = dtype_bytes(a->type);
  return memcmp(got + i * n, a->bytes + i * n, n) == 0;
}

static void compare_array(struct run *r, const struct shape_of_launch *l, unsigned number) {
  const struct array *a = &r->k->arrays[number];
  const unsigned char *got = r->got[number];
  size_t n = dtype_bytes(a->type);
  char text[400], have[100], want[100];
  for (size_t b = a->count * n; b < bytes_of(a); b++)
    if (got[b] != 0xA5) {
      snprintf(text, sizeof text, "array x%u was written beyond its end", number);
      fail(r, l, text);
    }
  for (size_t i = 0; i < a->count && !r->is_failed; i++) {
    struct num v = num_load(a->type, got + i * n);
    bool is_kept = !a->is_output || !a->is_written[i];
    r->s->counts.compared += !is_kept && !a->cells[i].wild;
    r->s->counts.wild += !is_kept && a->cells[i].wild;
    if (is_kept ? is_untouched(a, got, i) : kernel_agrees(a, i, v))
      continue;
    num_text(v, have, sizeof have);
    num_text(cell_num(a->type, a->cells[i]), want, sizeof want);
    snprintf(text, sizeof text,
             is_kept ? "x%u[%zu] was written: %s" : "x%u[%zu] is %s, not %s within %g", number, i,
             have, want, a->cells[i].err);
    fail(r, l, text);
  }
}

// Launch shapes of an elementwise kernel: the same bits, except NaN payloads.
static void compare_bits(struct run *r, const struct shape_of_launch *l, unsigned number) {
  const struct array *a = &r->k->arrays[number];
  size_t n = dtype_bytes(a->type);
  for (size_t i = 0; i < a->count && !r->is_failed; i++) {
    struct num x = num_load(a->type, r->got[number] + i * n),
               y = num_load(a->type, r->last[number] + i * n);
    bool both_nan = dtype_is_float(a->type) && isnan(x.f) && isnan(y.f);
    if (a->cells[i].wild || both_nan ||
        memcmp(r->got[number] + i * n, r->last[number] + i * n, n) == 0)
      continue;
    char text[400], have[100], before[100];
    num_text(x, have, sizeof have);
    num_text(y, before, sizeof before);
    snprintf(text, sizeof text, "x%u[%zu] is %s, in another launch shape %s", number, i, have,
             before);
    fail(r, l, text);
  }
}

static void run_shape(struct run *r, const struct shape_of_launch *l, bool is_first) {
  tile_kernel *kernel = NULL;
  tile_status status = open_kernel(r, l, &kernel);
  if (status == TILE_OK)
    status = launch(r, kernel);
  if (status != TILE_OK)
    fail(r, l, tile_error_message());
  tile_kernel_close(kernel);
  for (unsigned i = 0; i < r->k->array_count && !r->is_failed; i++) {
    compare_array(r, l, i);
    if (!is_first && r->k->is_elementwise)
      compare_bits(r, l, i);
    unsigned char *swap = r->got[i];
    r->got[i] = r->last[i];
    r->last[i] = swap;
  }
}

static void run_kernel(struct session *s, unsigned long number) {
  struct arena *a = arena_create();
  struct run r = {.s = s, .number = number};
  running = number;
  alarm(SLOW_SECONDS);
  r.k = kernel_make(a, s->o.seed * 1000003u + number);
  kernel_write(r.k, &r.text);
  if (s->o.print) {
    printf("# kernel %lu of seed %lu, grid %u x %u, trips %d\n%s", number, s->o.seed, r.k->grid[0],
           r.k->grid[1], r.k->trips, strbuf_cstr(&r.text));
    for (unsigned i = 0; i < r.k->array_count; i++)
      printf("# x%u: %s[%zu]\n", i, dtype_name(r.k->arrays[i].type), r.k->arrays[i].count);
    fflush(stdout);
  }
  kernel_evaluate(r.k);
  for (unsigned i = 0; i < r.k->array_count; i++) {
    r.got[i] = arena_alloc(a, bytes_of(&r.k->arrays[i]), 16);
    r.last[i] = arena_alloc(a, bytes_of(&r.k->arrays[i]), 16);
    if (tile_malloc(s->device, bytes_of(&r.k->arrays[i]), &r.device[i]) != TILE_OK)
      fail(&r, &(struct shape_of_launch){0}, tile_error_message());
  }
  for (unsigned i = 0; i < s->o.shapes && !r.is_failed; i++) {
    unsigned shape = (unsigned)((number * 7 + i * 5) % 16);
    struct shape_of_launch l = {1u << shape % 4, 1 + shape / 4, s->on_cpu && i == 0};
    // On the CPU the first one is checked, so that it runs thread by thread, the others in vectors:
    // each is compared with the reference, bits only among the others.
    run_shape(&r, &l, i == 0 || (s->on_cpu && i == 1));
  }
  alarm(0);
  for (unsigned i = 0; i < r.k->array_count; i++)
    tile_free(s->device, r.device[i]);
  strbuf_finish(&r.text);
  arena_destroy(a);
  s->counts.kernels++;
}

// ---- processes ----

static void crashed(int signal_number) {
  char text[200];
  int n = snprintf(text, sizeof text, "# kernel %lu of seed %lu on %s: %s\n", running, running_seed,
                   running_device, signal_number == SIGALRM ? "does not end" : "crashed");
  (void)!write(1, text, (size_t)n);
  signal(signal_number, SIG_DFL);
  raise(signal_number == SIGALRM ? SIGKILL : signal_number);
}

static void catch_signals(const struct session *s) {
  static char stack[1 << 16];
  running_seed = s->o.seed;
  running_device = s->o.device;
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  const int signals[] = {SIGSEGV, SIGFPE, SIGBUS, SIGABRT, SIGALRM};
  for (size_t i = 0; i < COUNT_OF(signals); i++)
    sigaction(signals[i], &(struct sigaction){.sa_handler = crashed, .sa_flags = SA_ONSTACK}, NULL);
}

// Kernels job, job + jobs, ...; the counts go to `to`.
static int run_job(struct session *s, unsigned long job, int to) {
  tile_status status = tile_device_open(s->o.device, &s->device);
  if (status != TILE_OK)
    return status == TILE_NO_DEVICE || status == TILE_DRIVER_TOO_OLD ? 77 : 1;
  catch_signals(s);
  for (unsigned long i = job; i < s->o.count; i += s->o.jobs)
    run_kernel(s, s->o.first + i);
  tile_device_close(s->device);
  return write(to, &s->counts, sizeof s->counts) == (ssize_t)sizeof s->counts ? 0 : 1;
}

// Each job is a process, so a crashing kernel ends only one job.
static int run_jobs(struct session *s, struct counts *ret, bool *ret_skipped) {
  int ends[2], failed = 0;
  if (pipe(ends) != 0)
    return 1;
  for (unsigned long job = 0; job < s->o.jobs; job++) {
    pid_t child = fork();
    if (child < 0)
      return 1;
    if (child == 0) {
      close(ends[0]);
      _exit(run_job(s, job, ends[1]));
    }
  }
  close(ends[1]);
  struct counts c;
  while (read(ends[0], &c, sizeof c) == (ssize_t)sizeof c) {
    ret->kernels += c.kernels, ret->launches += c.launches, ret->failed += c.failed;
    ret->compared += c.compared, ret->wild += c.wild;
  }
  for (int status; wait(&status) > 0;) {
    *ret_skipped |= WIFEXITED(status) && WEXITSTATUS(status) == 77;
    failed |= !WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 77);
  }
  close(ends[0]);
  return failed;
}

static bool parse(struct options *o, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
    const struct {
      const char *name;
      unsigned long *to;
    } numbers[] = {{"--seed", &o->seed},
                   {"--first", &o->first},
                   {"--count", &o->count},
                   {"--jobs", &o->jobs},
                   {"--shapes", &o->shapes}};
    bool found = false;
    for (size_t n = 0; n < COUNT_OF(numbers) && next; n++)
      if (strcmp(a, numbers[n].name) == 0) {
        *numbers[n].to = strtoul(next, NULL, 10);
        found = true;
      }
    if (found || (strcmp(a, "--target") == 0 && next)) {
      o->target = found ? o->target : next;
      i++;
    } else if (strcmp(a, "--print") == 0) {
      o->print = true;
    } else if (a[0] != '-' && !o->device) {
      o->device = a;
    } else {
      return false;
    }
  }
  return o->device && o->jobs && o->shapes;
}

int main(int argc, char **argv) {
  struct session s = {.o = {.count = 100, .jobs = 1, .shapes = 2}, .out = stdout};
  struct counts total = {0};
  bool is_skipped = false;
  if (!parse(&s.o, argc, argv)) {
    fprintf(stderr, "usage: test-random-kernels cpu|cuda|simulate:TARGET [--seed S] [--first N] "
                    "[--count N] [--jobs N] [--shapes N] [--target T] [--print]\n");
    return 2;
  }
  setenv("TILE_CACHE_DIR", "", 0);
  s.on_cpu = strcmp(s.o.device, "cpu") == 0;
  int failed = run_jobs(&s, &total, &is_skipped);
  if (is_skipped) {
    printf("1..0 # SKIP no device `%s`\n", s.o.device);
    return 0;
  }
  printf("# %lu kernels, %lu launches, %lu elements compared, %lu not, %lu differences\n",
         total.kernels, total.launches, total.compared, total.wild, total.failed);
  bool ok = !failed && !total.failed && total.kernels == s.o.count;
  printf("1..1\n%s 1 - random kernels %lu to %lu of seed %lu\n", ok ? "ok" : "not ok", s.o.first,
         s.o.first + s.o.count - 1, s.o.seed);
  return !ok;
}
