// SPDX-License-Identifier: Apache-2.0
// Measures the errors of the mathematical functions in ulp (units in the last place of the exact
// result) on a device, and fails if one exceeds docs/math.md. --update writes the measured errors
// to the document.
#include "functions.h"

#include <tile/tile.h>

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *document_path, *device_name; // from the command line
static tile_device *device;

enum { BLOCK = 256, MAX_ARGS = 3, LINE = 1024, DENSE = 20000 };

static bool on_cpu(void) { return strcmp(device_name, "cpu") == 0; }

static bool is_test = true; // not --update

static void need(tile_status status) {
  if (status == TILE_OK)
    return;
  if (is_test)
    ck_abort_msg("%s: %s", tile_status_name(status), tile_error_message());
  fprintf(stderr, "%s: %s\n", tile_status_name(status), tile_error_message());
  exit(1);
}

// ---- ranges of types ----

struct format {
  tile_type type;
  const char *name;
  size_t bytes;
  int mantissa, min_exponent, max_exponent;
};
static const struct format formats[] = {
    {TILE_F32, "f32", 4, 23, -126, 127},
    {TILE_F64, "f64", 8, 52, -1022, 1023},
};

static double load(const struct format *f, const void *p, size_t i) {
  return f->bytes == 4 ? (double)((const float *)p)[i] : ((const double *)p)[i];
}
static void store(const struct format *f, void *p, size_t i, double v) {
  if (f->bytes == 4)
    ((float *)p)[i] = (float)v;
  else
    ((double *)p)[i] = v;
}
static real ulp(const struct format *f, real v) {
  int e = v == 0 ? f->min_exponent : ilogbl(v);
  e = e < f->min_exponent ? f->min_exponent : e > f->max_exponent ? f->max_exponent : e;
  return ldexpl(1, e - f->mantissa);
}

// ---- arguments ----

struct inputs {
  size_t count, cap;
  double *at[MAX_ARGS];
};

static void add(struct inputs *in, double a, double b, double c) {
  if (in->count == in->cap) {
    in->cap = in->cap ? in->cap * 2 : 1 << 15;
    for (int k = 0; k < MAX_ARGS; k++)
      if (!(in->at[k] = realloc(in->at[k], in->cap * sizeof(double))))
        abort();
  }
  in->at[0][in->count] = a, in->at[1][in->count] = b, in->at[2][in->count] = c;
  in->count++;
}

static double draw(uint64_t *state) { // [0, 1)
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 9007199254740992.0;
}

static const double special[] = {0.0,  -0.0, INFINITY, -INFINITY, NAN,  1,  -1,  2,     -2,   0.5,
                                 -0.5, 3,    -3,       1.5,       -1.5, 10, -10, 1e-30, 1e30, 1e5};

static double number(int exponent, double fraction) { return ldexp(1 + fraction, exponent); }

// Numbers of every exponent, including subnormals, and dense samples from lo to hi.
static void add_unary(struct inputs *in, const struct function *fn, const struct format *f) {
  uint64_t state = 1;
  int per_exponent = f->bytes == 4 ? 64 : 12;
  for (int e = f->min_exponent - f->mantissa; e <= f->max_exponent; e++)
    for (int i = 0; i < per_exponent; i++) {
      double v = number(e, i == 0 ? 0 : i == 1 ? 1 - ldexp(1, -f->mantissa) : draw(&state));
      add(in, v, 0, 0);
      add(in, -v, 0, 0);
    }
  for (int i = 0; i < DENSE; i++)
    add(in, fn->lo + (fn->hi - fn->lo) * (i + draw(&state)) / DENSE, 0, 0);
  for (size_t i = 0; i < sizeof special / sizeof *special; i++)
    add(in, special[i], 0, 0);
}

static double any_number(const struct format *f, uint64_t *state) {
  int e =
      f->min_exponent - 2 + (int)(draw(state) * (double)(f->max_exponent - f->min_exponent + 3));
  double v = ldexp(1 + draw(state), e > f->max_exponent ? f->max_exponent : e);
  return draw(state) < 0.5 ? -v : v;
}

static void add_tuples(struct inputs *in, const struct function *fn, const struct format *f) {
  uint64_t state = 7;
  size_t n = sizeof special / sizeof *special;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      for (size_t k = 0; k < (fn->three ? n : 1); k++)
        add(in, special[i], special[j], special[k]);
  for (int i = 0; i < DENSE * 2; i++) {
    double v[3];
    for (int k = 0; k < 3; k++)
      v[k] = fn->lo + (fn->hi - fn->lo) * draw(&state);
    add(in, v[0], v[1], v[2]);
    for (int k = 0; k < 3; k++)
      v[k] = any_number(f, &state);
    add(in, v[0], v[1], v[2]);
    add(in, v[0], fn->lo + (fn->hi - fn->lo) * draw(&state), v[0] * draw(&state));
    add(in, fn->lo + (fn->hi - fn->lo) * draw(&state), v[0], v[1]);
  }
}

// Every order with numbers of all magnitudes, and dense samples from lo to hi.
static void add_orders(struct inputs *in, const struct function *fn, const struct format *f) {
  uint64_t state = 3;
  for (int n = 1 - fn->orders; n < fn->orders; n++) {
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
      add(in, n, special[i], 0);
    for (int i = 0; i < DENSE / fn->orders; i++) {
      add(in, n, fn->lo + (fn->hi - fn->lo) * draw(&state), 0);
      add(in, n, any_number(f, &state), 0);
    }
  }
}

// ---- running ----

static int arity(const struct function *fn) { return fn->one ? 1 : fn->two ? 2 : 3; }

static tile_kernel *open_kernel(const struct function *fn, const struct format *f) {
  static const char *const calls[] = {"load(a + o).to(tl.int32), load(b + o)", "load(a + o)",
                                      "load(a + o), load(b + o)",
                                      "load(a + o), load(b + o), load(c + o)"};
  char text[512];
  snprintf(text, sizeof text,
           "def k(a: ptr[%s], b: ptr[%s], c: ptr[%s], y: ptr[%s]):\n"
           "  o = program_id(0) * %d + arange(0, %d)\n"
           "  store(y + o, libdevice.%s(%s))\n",
           f->name, f->name, f->name, f->name, BLOCK, BLOCK, fn->name,
           calls[fn->orders ? 0 : arity(fn)]);
  tile_kernel *k;
  need(tile_kernel_from_source(device, fn->name, text, strlen(text), "k", &k));
  return k;
}

// The arguments rounded to the type, and the device's results for them.
static void *run(const struct function *fn, const struct format *f, struct inputs *in) {
  while (in->count % BLOCK)
    add(in, 1, 1, 1);
  size_t bytes = in->count * f->bytes;
  void *host = malloc(bytes), *buffers[4];
  if (!host)
    abort();
  for (int k = 0; k < 4; k++) {
    need(tile_malloc(device, bytes, &buffers[k]));
    for (size_t i = 0; k < MAX_ARGS && i < in->count; i++) {
      store(f, host, i, in->at[k][i]);
      in->at[k][i] = load(f, host, i);
    }
    need(tile_copy_to_device(device, NULL, buffers[k], host, bytes));
  }
  tile_kernel *kernel = open_kernel(fn, f);
  tile_arg args[4];
  for (int k = 0; k < 4; k++)
    args[k] = tile_arg_pointer(buffers[k], f->type);
  need(tile_launch(kernel, NULL, (tile_grid){(unsigned)(in->count / BLOCK), 1, 1}, args, 4));
  need(tile_copy_to_host(device, NULL, host, buffers[3], bytes));
  need(tile_stream_synchronize(device, NULL));
  tile_kernel_close(kernel);
  for (int k = 0; k < 4; k++)
    tile_free(device, buffers[k]);
  return host;
}

// ---- errors ----

struct error {
  double ulps;
  double at[MAX_ARGS], got;
  real want;
};

static real reference(const struct function *fn, const double *x) {
  return fn->one   ? fn->one((real)x[0])
         : fn->two ? fn->two((real)x[0], (real)x[1])
                   : fn->three((real)x[0], (real)x[1], (real)x[2]);
}

// In ulp of the exact result, or of the peak where that is larger.
static double error_of(const struct format *f, double got, real want, real peak) {
  real largest = ldexpl(2 - ldexpl(1, -f->mantissa), f->max_exponent);
  if (isnan(want) || isnan(got))
    return isnan(want) && isnan(got) ? 0 : INFINITY;
  if (fabsl(want) > largest + ulp(f, largest) / 2) // rounds to infinity
    want = copysignl(largest + ulp(f, largest), want);
  real g = (real)got;
  if (isinf(got)) // the number after the largest one
    g = copysignl(largest + ulp(f, largest), g);
  // GPUs flush subnormal numbers to 0 in exp2 and similar instructions.
  if (!on_cpu() && fabsl(want) <= ldexpl(1, f->min_exponent) && fabsl(g) <= fabsl(want))
    return 0;
  if (want == 0 && g == 0 && signbit(want) != signbit(g))
    return INFINITY;
  return (double)(fabsl(g - want) / ulp(f, fabsl(want) > peak ? want : peak));
}

// lg2.approx near 1 is documented by its absolute error, 2^-22 (PTX ISA, lg2).
static bool is_near_root(const struct function *fn, const struct format *f, const double *x,
                         double got, real want) {
  return !on_cpu() && f->bytes == 4 && strcmp(fn->name, "log2") == 0 && x[0] > 0.5 && x[0] < 2 &&
         fabsl((real)got - want) <= ldexpl(1, -22);
}

static bool counts(const struct function *fn, const double *x) {
  if (fn->smallest == 0 && fn->largest == 0)
    return true;
  for (int k = 0; k < arity(fn); k++)
    if (!(fabs(x[k]) >= fn->smallest && fabs(x[k]) <= fn->largest))
      return false;
  return true;
}

// The error relative to the result with subnormal arguments flushed to 0, as GPUs do
// in f32 approximations; infinite if no argument is subnormal.
static double error_flushed(const struct function *fn, const struct format *f, const double *x,
                            double got) {
  double at[MAX_ARGS];
  bool any = false;
  for (int k = 0; k < MAX_ARGS; k++) {
    bool flush = k < arity(fn) && x[k] != 0 && fabs(x[k]) < ldexp(1, f->min_exponent);
    at[k] = flush ? copysign(0, x[k]) : x[k];
    any |= flush;
  }
  return any ? error_of(f, got, reference(fn, at), 0) : (double)INFINITY;
}

static struct error measure(const struct function *fn, const struct format *f) {
  struct inputs in = {0};
  if (fn->orders)
    add_orders(&in, fn, f);
  else if (fn->one)
    add_unary(&in, fn, f);
  else
    add_tuples(&in, fn, f);
  void *got = run(fn, f, &in);
  struct error worst = {.ulps = 0};
  for (size_t i = 0; i < in.count; i++) {
    struct error e = {.at = {in.at[0][i], in.at[1][i], in.at[2][i]}, .got = load(f, got, i)};
    if (!counts(fn, e.at))
      continue;
    e.want = reference(fn, e.at);
    e.ulps = error_of(f, e.got, e.want, fn->peak && f->bytes == 8 ? fn->peak(e.at) : 0);
    if (is_near_root(fn, f, e.at, e.got, e.want))
      continue;
    if (!on_cpu() && f->bytes == 4)
      e.ulps = fmin(e.ulps, error_flushed(fn, f, e.at, e.got));
    if (e.ulps > worst.ulps)
      worst = e;
  }
  free(got);
  for (int k = 0; k < MAX_ARGS; k++)
    free(in.at[k]);
  return worst;
}

static double cap_of(const struct function *fn, const struct format *f) {
  return f->bytes == 4 ? fn->f32_cap : fn->f64_cap;
}

// ---- the document: rows "| `name` | f32 | f64 | ..." ----

// The rest of a function's row after its name, or NULL.
static char *row_of(char *line, const char *name) {
  char start[64];
  snprintf(start, sizeof start, "| `%s` |", name);
  return strncmp(line, start, strlen(start)) == 0 ? line + strlen(start) : NULL;
}

static bool documented(const char *name, double ret[2]) {
  char line[LINE];
  FILE *in = fopen(document_path, "r");
  bool found = false;
  while (in && !found && fgets(line, sizeof line, in)) {
    char *cell = row_of(line, name);
    for (int i = 0; cell && i < 2; i++) {
      ret[i] = strtod(cell, NULL);
      cell = strchr(cell, '|');
      cell = cell ? cell + 1 : NULL;
      found = true;
    }
  }
  if (in)
    fclose(in);
  return found;
}

static const struct function *function_of(char *line) {
  for (size_t i = 0; i < function_count; i++)
    if (row_of(line, functions[i].name))
      return &functions[i];
  return NULL;
}

// 1.23 as "1.3".
static void format_bound(double ulps, double cap, char *ret, size_t size) {
  if (cap == 0)
    snprintf(ret, size, "-");
  else
    snprintf(ret, size, "%.1f", fmax(0, ceil(ulps * 10 - 0.01) / 10));
}

static void update_row(char *line, const struct function *fn, FILE *out) {
  char *rest = row_of(line, fn->name), text[2][16];
  for (int i = 0; i < 2; i++) {
    double cap = cap_of(fn, &formats[i]);
    struct error e = cap > 0 ? measure(fn, &formats[i]) : (struct error){0};
    format_bound(e.ulps, cap, text[i], sizeof text[i]);
    if (e.ulps > cap)
      printf("%s %s: %.2f ulp at %.17g, %.17g: %.17g, expected %.20Lg\n", fn->name, formats[i].name,
             e.ulps, e.at[0], e.at[1], e.got, e.want);
    rest = strchr(rest, '|');
    rest = rest ? rest + 1 : line + strlen(line);
  }
  fprintf(out, "| `%s` | %s | %s |%s", fn->name, text[0], text[1], *rest ? rest : "\n");
}

static int update(void) {
  is_test = false;
  char temporary[LINE], line[LINE];
  snprintf(temporary, sizeof temporary, "%s.new", document_path);
  FILE *in = fopen(document_path, "r"), *out = in ? fopen(temporary, "w") : NULL;
  if (!out) {
    perror(document_path);
    return 1;
  }
  need(tile_device_open(device_name, &device));
  while (fgets(line, sizeof line, in)) {
    const struct function *fn = function_of(line);
    if (fn)
      update_row(line, fn, out);
    else
      fputs(line, out);
  }
  tile_device_close(device);
  fclose(in);
  if (fclose(out) != 0 || rename(temporary, document_path) != 0) {
    perror(document_path);
    return 1;
  }
  return 0;
}

// ---- tests ----

START_TEST(test_function) {
  const struct function *fn = &functions[_i / 2];
  const struct format *f = &formats[_i % 2];
  double bounds[2];
  ck_assert_msg(documented(fn->name, bounds), "%s has no row in the document", fn->name);
  if (cap_of(fn, f) == 0)
    return;
  double bound = bounds[_i % 2];
  ck_assert_msg(bound <= cap_of(fn, f), "%s %s: %.1f ulp are documented, at most %.1f may be",
                fn->name, f->name, bound, cap_of(fn, f));
  // exp2, log2, divisions and roots of a GPU are approximations.
  if (!on_cpu())
    bound = bound * 2 + 2;
  struct error e = measure(fn, f);
  ck_assert_msg(e.ulps <= bound + 0.001,
                "%s(%.9g, %.9g, %.9g) %s = %.17g, expected %.20Lg: %.2f ulp, %.1f are documented",
                fn->name, e.at[0], e.at[1], e.at[2], f->name, e.got, e.want, e.ulps, bound);
}
END_TEST

// Runs in a child process, since CUDA must not be initialised before Check forks.
static bool has_gpu(void) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    tile_device *d;
    _exit(tile_device_open(device_name, &d) == TILE_OK ? 0 : 77);
  }
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

static void open_device(void) { need(tile_device_open(device_name, &device)); }
static void close_device(void) { tile_device_close(device); }

int main(int argc, char **argv) {
  if (argc < 3) {
    fputs("usage: test-math DOCUMENT DEVICE [--update]\n", stderr);
    return 2;
  }
  document_path = argv[1];
  device_name = argv[2];
  if (argc > 3 && strcmp(argv[3], "--update") == 0)
    return update();
  if (!on_cpu() && !has_gpu()) {
    printf("1..0 # SKIP no GPU\n");
    return 0;
  }
  Suite *suite = suite_create("math");
  TCase *c = tcase_create("ulp");
  tcase_set_timeout(c, 300);
  tcase_add_checked_fixture(c, open_device, close_device);
  tcase_add_loop_test(c, test_function, 0, 2 * (int)function_count);
  suite_add_tcase(suite, c);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
