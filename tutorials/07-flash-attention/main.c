/* SPDX-License-Identifier: Apache-2.0 */
/* f16 attention from C, checked against double precision and, on a GPU, timed.
 * usage: flash-attention [FILE.tile] [HEADS QUERIES KEYS D CAUSAL] */
#include "../half.h"

/* An array in host and device memory. */
struct array {
  size_t count, bytes;
  uint16_t *host;
  void *device;
};

enum { Q, K, V, OUT, ARRAYS };

static int make(tile_device *device, struct array *a, size_t count, int fill) {
  a->count = count;
  a->bytes = count * sizeof *a->host;
  a->host = malloc(a->bytes);
  if (!a->host) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  TRY(tile_malloc(device, a->bytes, &a->device));
  if (!fill) /* 0xffff is not a number */
    memset(a->host, 0xff, a->bytes);
  for (size_t i = 0; fill && i < count; i++)
    a->host[i] = half_of((float)rand() / (float)RAND_MAX * 4.0f - 2.0f);
  TRY(tile_copy_to_device(device, NULL, a->device, a->host, a->bytes));
  return 0;
}

struct problem {
  int heads, queries, keys, d, causal;
  double scale;
};

static double score(const struct problem *p, const uint16_t *q, const uint16_t *k) {
  double sum = 0;
  for (int i = 0; i < p->d; i++)
    sum += double_of(q[i]) * double_of(k[i]);
  return sum * p->scale;
}

/* The largest difference in one row of the result; values are in [-2, 2), and so are their means.
 */
static double error_of_row(const struct problem *p, const struct array *a, int head, int query,
                           double *weights) {
  size_t d = (size_t)p->d, first_key = (size_t)head * (size_t)p->keys;
  size_t row = ((size_t)head * (size_t)p->queries + (size_t)query) * d;
  int seen = p->causal ? query + 1 + p->keys - p->queries : p->keys;
  double top = -INFINITY, sum = 0, worst = 0;
  for (int i = 0; i < seen; i++) {
    weights[i] = score(p, a[Q].host + row, a[K].host + (first_key + (size_t)i) * d);
    top = fmax(top, weights[i]);
  }
  for (int i = 0; i < seen; i++)
    sum += weights[i] = exp(weights[i] - top);
  for (size_t c = 0; c < d; c++) {
    double want = 0;
    for (int i = 0; i < seen; i++)
      want += weights[i] / sum * double_of(a[V].host[(first_key + (size_t)i) * d + c]);
    double error = fabs(double_of(a[OUT].host[row + c]) - want);
    if (!(error <= worst)) /* NaN counts */
      worst = error;
  }
  return worst;
}

/* Checks all rows, or 200 of many including the first and the last. */
static int worst_error(const struct problem *p, const struct array *a, double *ret_worst) {
  size_t rows = (size_t)p->heads * (size_t)p->queries, count = rows;
  double *weights = malloc((size_t)p->keys * sizeof *weights);
  if (!weights) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  if (rows * (size_t)p->keys > 1 << 18 && count > 200)
    count = 200;
  *ret_worst = 0;
  for (size_t i = 0; i < count; i++) {
    size_t step = ((rows - 1) / (count > 1 ? count - 1 : 1)) | 1;
    size_t r = i == count - 1 ? rows - 1 : i * step % rows;
    double error =
        error_of_row(p, a, (int)(r / (size_t)p->queries), (int)(r % (size_t)p->queries), weights);
    if (!(error <= *ret_worst))
      *ret_worst = error;
  }
  free(weights);
  return 0;
}

static int set(tile_kernel *kernel, const char *name, int value) {
  char number[16];
  snprintf(number, sizeof number, "%d", value);
  TRY(tile_kernel_set_constant(kernel, name, number));
  return 0;
}

/* Queries and keys per block: fewer for short sequences, and for a large D, where registers and
 * shared memory are scarce. */
static int configure(tile_kernel *kernel, const struct problem *p, size_t shared_limit,
                     int *ret_block) {
  int is_long = p->queries >= 512, keys = is_long && p->d <= 128 ? 64 : 32;
  *ret_block = is_long ? 128 : 32;
  /* A stage has a block of keys and one of values; the queries are in shared memory once. */
  size_t stage = 4 * (size_t)keys * (size_t)p->d, queries = 2 * (size_t)*ret_block * (size_t)p->d;
  if (set(kernel, "BLOCK_M", *ret_block) || set(kernel, "BLOCK_N", keys) || set(kernel, "D", p->d))
    return 1;
  TRY(tile_kernel_set_constant(kernel, "CAUSAL", p->causal ? "True" : "False"));
  TRY(tile_kernel_set_warps(kernel, is_long ? (p->d > 64 ? 8 : 4) : 2));
  TRY(tile_kernel_set_stages(kernel, queries + 3 * stage <= shared_limit ? 3 : 2));
  return 0;
}

/* The time of a launch: the mean of many launches between two events. */
static int time_launches(tile_device *device, tile_kernel *kernel, tile_grid grid,
                         const tile_arg *args, const struct problem *p) {
  enum { LAUNCHES = 20 };
  tile_event *start, *stop;
  float ms;
  TRY(tile_event_create(device, &start));
  TRY(tile_event_create(device, &stop));
  TRY(tile_event_record(device, start, NULL));
  for (int i = 0; i < LAUNCHES; i++)
    TRY(tile_launch(kernel, NULL, grid, args, 7));
  TRY(tile_event_record(device, stop, NULL));
  TRY(tile_event_elapsed(start, stop, &ms));
  double operations = 4.0 * p->heads * (double)p->queries * p->keys * p->d;
  if (p->causal) /* by convention, half of the square */
    operations /= 2;
  printf("time     %.3f ms, %.1f TFLOP/s\n", (double)ms / LAUNCHES,
         operations * LAUNCHES / (double)ms * 1e-9);
  tile_event_destroy(start);
  tile_event_destroy(stop);
  return 0;
}

static int read_problem(int argc, char **argv, struct problem *p) {
  struct problem usual = {4, 100, 100, 64, 0, 0};
  *p = usual;
  if (argc > 6) {
    p->heads = atoi(argv[2]);
    p->queries = atoi(argv[3]);
    p->keys = atoi(argv[4]);
    p->d = atoi(argv[5]);
    p->causal = atoi(argv[6]);
  }
  p->scale = p->d > 0 ? 1 / sqrt((double)p->d) : 0;
  if (p->heads >= 1 && p->heads <= 65535 && p->queries >= 1 && p->keys >= 1 && p->d >= 16 &&
      p->d <= 256 && (p->d & (p->d - 1)) == 0)
    return 0;
  fprintf(stderr, "HEADS, QUERIES and KEYS must be at least 1, D a power of two from 16 to 256\n");
  return 2;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "attention.tile";
  struct problem p;
  struct array a[ARRAYS];
  tile_device *device;
  tile_device_properties properties;
  int usage = read_problem(argc, argv, &p), block;
  if (usage)
    return usage;
  TRY(tile_device_open("auto", &device));
  TRY(tile_device_get_properties(device, &properties));
  size_t of_queries = (size_t)p.heads * (size_t)p.queries * (size_t)p.d;
  size_t of_keys = (size_t)p.heads * (size_t)p.keys * (size_t)p.d;
  for (int i = 0; i < ARRAYS; i++)
    if (make(device, &a[i], i == K || i == V ? of_keys : of_queries, i != OUT))
      return 1;

  tile_kernel *kernel;
  TRY(tile_kernel_open(device, path, "attention", &kernel));
  if (configure(kernel, &p, properties.shared_limit, &block))
    return 1;
  tile_grid grid = {(unsigned)((p.queries + block - 1) / block), (unsigned)p.heads, 1};
  tile_arg args[7];
  for (int i = 0; i < ARRAYS; i++)
    args[i] = tile_arg_pointer(a[i].device, TILE_F16);
  args[4] = tile_arg_i32(p.queries);
  args[5] = tile_arg_i32(p.keys);
  args[6] = tile_arg_f32((float)p.scale);
  TRY(tile_launch(kernel, NULL, grid, args, 7));
  TRY(tile_copy_to_host(device, NULL, a[OUT].host, a[OUT].device, a[OUT].bytes));

  double worst;
  if (worst_error(&p, a, &worst))
    return 1;
  int right = worst <= 3e-3; /* weights and results are rounded to f16 */
  printf("device   %s (%s)\n", properties.name, properties.target);
  printf("checked  %d heads, %d queries, %d keys of %d%s, error at most %.2g: %s\n", p.heads,
         p.queries, p.keys, p.d, p.causal ? ", causal" : "", worst, right ? "right" : "WRONG");
  if (!properties.is_cpu && time_launches(device, kernel, grid, args, &p))
    return 1;
  tile_kernel_close(kernel);
  for (int i = 0; i < ARRAYS; i++) {
    tile_free(device, a[i].device);
    free(a[i].host);
  }
  tile_device_close(device);
  return right ? 0 : 1;
}
