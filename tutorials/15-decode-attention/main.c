/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of one query for each head, over a cache of keys and values: parts of the keys are
 * computed by different programs, the last of which merges them. Launched twice, checked against
 * double precision and, on a GPU, timed.
 * usage: decode-attention [FILE.tile] [BATCH SHARED GROUP LENGTH D PARTS] */
#include "../half.h"

struct problem {
  int batch, shared, group, length, d, parts;
  double scale;
};

/* ---- arrays ---- */

enum { Q, K, V, LENGTHS, OUT, SUMS, TOPS, TOTALS, COUNTERS, ARRAYS };

struct array {
  size_t count, bytes;
  tile_type type;
  void *host, *device;
};

static size_t count_of(const struct problem *p, int which) {
  size_t heads = (size_t)p->batch * (size_t)p->shared, rows = heads * (size_t)p->group,
         d = (size_t)p->d;
  switch (which) {
  case Q:
  case OUT: return rows * d;
  case K:
  case V: return heads * (size_t)p->length * d;
  case LENGTHS: return (size_t)p->batch;
  case SUMS: return (size_t)p->parts * rows * d;
  case COUNTERS: return heads;
  default: return (size_t)p->parts * rows;
  }
}

/* Sequence i has the whole length, or a part of it; the second has none. */
static int length_of(const struct problem *p, int i) {
  return i == 1 ? 0 : p->length - i * p->length / (p->batch + 1);
}

static void fill(const struct problem *p, struct array *a, int which) {
  uint16_t *halves = a->host;
  int32_t *numbers = a->host;
  memset(a->host, which == COUNTERS ? 0 : 0xff, a->bytes); /* 0xffff is not a number */
  for (size_t i = 0; which <= V && i < a->count; i++)
    halves[i] = half_of((float)rand() / (float)RAND_MAX * 4.0f - 2.0f);
  for (int i = 0; which == LENGTHS && i < p->batch; i++)
    numbers[i] = length_of(p, i);
}

static int make(tile_device *device, const struct problem *p, struct array *a) {
  for (int i = 0; i < ARRAYS; i++) {
    int is_half = i <= V || i == OUT, is_integer = i == LENGTHS || i == COUNTERS;
    a[i].count = count_of(p, i);
    a[i].type = is_half ? TILE_F16 : is_integer ? TILE_I32 : TILE_F32;
    a[i].bytes = a[i].count * (is_half ? 2 : 4);
    a[i].host = malloc(a[i].bytes);
    if (!a[i].host) {
      fprintf(stderr, "out of memory\n");
      return 1;
    }
    fill(p, &a[i], i);
    TRY(tile_malloc(device, a[i].bytes, &a[i].device));
    TRY(tile_copy_to_device(device, NULL, a[i].device, a[i].host, a[i].bytes));
  }
  return 0;
}

/* ---- the reference ---- */

/* The largest difference of a head; values are in [-2, 2), and so are their means. */
static double error_of_head(const struct problem *p, const struct array *a, int head,
                            double *weights) {
  const uint16_t *q = a[Q].host, *k = a[K].host, *v = a[V].host, *out = a[OUT].host;
  int of_keys = head / p->group, length = length_of(p, of_keys / p->shared);
  size_t d = (size_t)p->d, row = (size_t)head * d, first = (size_t)of_keys * (size_t)p->length * d;
  double top = -INFINITY, sum = 0, worst = 0;
  for (int n = 0; n < length; n++) {
    weights[n] = 0;
    for (size_t c = 0; c < d; c++)
      weights[n] += p->scale * double_of(q[row + c]) * double_of(k[first + (size_t)n * d + c]);
    top = fmax(top, weights[n]);
  }
  for (int n = 0; n < length; n++)
    sum += weights[n] = exp(weights[n] - top);
  for (size_t c = 0; c < d; c++) {
    double want = 0;
    for (int n = 0; n < length; n++)
      want += weights[n] / sum * double_of(v[first + (size_t)n * d + c]);
    double error = fabs(double_of(out[row + c]) - want);
    if (!(error <= worst)) /* NaN counts */
      worst = error;
  }
  return worst;
}

static int check(const struct problem *p, const struct array *a) {
  double worst = 0, *weights = malloc((size_t)p->length * sizeof *weights);
  if (!weights) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  for (int head = 0; head < p->batch * p->shared * p->group; head++) {
    double error = error_of_head(p, a, head, weights);
    if (!(error <= worst))
      worst = error;
  }
  free(weights);
  int right = worst <= 3e-3; /* weights and results are rounded to f16 */
  printf(
      "checked  %d sequences of up to %d, %d heads of keys for %d of queries, %d parts, error at "
      "most %.2g: %s\n",
      p->batch, p->length, p->shared, p->shared * p->group, p->parts, worst,
      right ? "right" : "WRONG");
  return !right;
}

/* ---- the program ---- */

static int set(tile_kernel *kernel, const char *name, int value) {
  char number[16];
  snprintf(number, sizeof number, "%d", value);
  TRY(tile_kernel_set_constant(kernel, name, number));
  return 0;
}

/* The time of a launch, and how fast it reads the cache. */
static int time_launches(tile_device *device, tile_kernel *kernel, tile_grid grid,
                         const tile_arg *args, int count, const struct problem *p) {
  enum { LAUNCHES = 20 };
  tile_event *start, *stop;
  float ms;
  double keys = 0;
  for (int i = 0; i < p->batch; i++)
    keys += length_of(p, i);
  TRY(tile_event_create(device, &start));
  TRY(tile_event_create(device, &stop));
  TRY(tile_event_record(device, start, NULL));
  for (int i = 0; i < LAUNCHES; i++)
    TRY(tile_launch(kernel, NULL, grid, args, count));
  TRY(tile_event_record(device, stop, NULL));
  TRY(tile_event_elapsed(start, stop, &ms));
  printf("time     %.3f ms, %.0f GB/s\n", (double)ms / LAUNCHES,
         keys * p->shared * p->d * 4 * LAUNCHES / (double)ms * 1e-6);
  tile_event_destroy(start);
  tile_event_destroy(stop);
  return 0;
}

static int read_problem(int argc, char **argv, struct problem *p) {
  struct problem usual = {3, 2, 4, 300, 64, 4, 0};
  *p = usual;
  if (argc > 7) {
    p->batch = atoi(argv[2]);
    p->shared = atoi(argv[3]);
    p->group = atoi(argv[4]);
    p->length = atoi(argv[5]);
    p->d = atoi(argv[6]);
    p->parts = atoi(argv[7]);
  }
  p->scale = p->d > 0 ? 1 / sqrt((double)p->d) : 0;
  if (p->batch >= 1 && p->shared >= 1 && p->batch * p->shared <= 65535 && p->group >= 1 &&
      p->group <= 64 && p->length >= 1 && p->d >= 16 && p->d <= 256 && (p->d & (p->d - 1)) == 0 &&
      p->parts >= 1)
    return 0;
  fprintf(stderr, "BATCH, SHARED, LENGTH and PARTS must be at least 1, GROUP 1 to 64, D a power of "
                  "two from 16 to 256\n");
  return 2;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "decode.tile";
  struct problem p;
  struct array a[ARRAYS];
  tile_device *device;
  tile_device_properties properties;
  tile_kernel *kernel;
  tile_arg args[ARRAYS + 3];
  int usage = read_problem(argc, argv, &p), rows = 16;
  if (usage)
    return usage;
  while (rows < p.group) /* a product has 16 rows at least */
    rows *= 2;
  TRY(tile_device_open("auto", &device));
  TRY(tile_device_get_properties(device, &properties));
  if (make(device, &p, a))
    return 1;
  TRY(tile_kernel_open(device, path, "decode", &kernel));
  if (set(kernel, "GROUP", p.group) || set(kernel, "ROWS", rows) || set(kernel, "D", p.d))
    return 1;
  tile_grid grid = {(unsigned)p.parts, (unsigned)(p.batch * p.shared), 1};
  for (int i = 0; i < ARRAYS; i++)
    args[i] = tile_arg_pointer(a[i].device, a[i].type);
  args[ARRAYS] = tile_arg_i32(p.shared);
  args[ARRAYS + 1] = tile_arg_i32(p.length);
  args[ARRAYS + 2] = tile_arg_f32((float)p.scale);
  for (int i = 0; i < 2; i++) /* the second one finds the counters as the first one left them */
    TRY(tile_launch(kernel, NULL, grid, args, ARRAYS + 3));
  TRY(tile_copy_to_host(device, NULL, a[OUT].host, a[OUT].device, a[OUT].bytes));
  printf("device   %s (%s)\n", properties.name, properties.target);
  int failed = check(&p, a);
  if (!properties.is_cpu && time_launches(device, kernel, grid, args, ARRAYS + 3, &p))
    return 1;
  tile_kernel_close(kernel);
  for (int i = 0; i < ARRAYS; i++) {
    tile_free(device, a[i].device);
    free(a[i].host);
  }
  tile_device_close(device);
  return failed;
}
