/* SPDX-License-Identifier: Apache-2.0 */
/* Attention and its gradients from C: five launches, checked against double precision.
 * usage: attention-training [FILE.tile] [HEADS QUERIES KEYS D CAUSAL] */
#include "../half.h"

enum { BLOCK = 64 };

struct problem {
  int heads, queries, keys, d, causal;
  double scale;
};

/* ---- arrays ---- */

/* Arrays of f16, then two of f32, one number for each query. */
enum { Q, K, V, GRAD, OUT, DQ, DK, DV, HALVES, LSE = HALVES, DELTA, ARRAYS };

struct array {
  size_t count;
  uint16_t *host; /* of f16 arrays */
  void *device;
};

static size_t count_of(const struct problem *p, int which) {
  size_t of_queries = (size_t)p->heads * (size_t)p->queries, d = (size_t)p->d;
  if (which >= HALVES)
    return of_queries;
  return which == K || which == V || which == DK || which == DV
             ? (size_t)p->heads * (size_t)p->keys * d
             : of_queries * d;
}

static int make(tile_device *device, const struct problem *p, struct array *a) {
  for (int i = 0; i < ARRAYS; i++) {
    a[i].count = count_of(p, i);
    a[i].host = NULL;
    if (i >= HALVES) {
      TRY(tile_malloc(device, a[i].count * sizeof(float), &a[i].device));
      continue;
    }
    size_t bytes = a[i].count * sizeof(uint16_t);
    TRY(tile_malloc(device, bytes, &a[i].device));
    a[i].host = malloc(bytes);
    if (!a[i].host) {
      fprintf(stderr, "out of memory\n");
      return 1;
    }
    for (size_t e = 0; e < a[i].count; e++) /* 0xffff is not a number */
      a[i].host[e] = i <= GRAD ? half_of((float)rand() / (float)RAND_MAX * 4.0f - 2.0f) : 0xffff;
    TRY(tile_copy_to_device(device, NULL, a[i].device, a[i].host, bytes));
  }
  return 0;
}

/* ---- launches ---- */

struct kernels {
  tile_kernel *forward, *row_sums, *of_keys, *of_queries;
};

static int open_kernel(tile_device *device, const char *path, const char *name,
                       const struct problem *p, tile_kernel **ret) {
  char d[16];
  snprintf(d, sizeof d, "%d", p->d);
  TRY(tile_kernel_open(device, path, name, ret));
  TRY(tile_kernel_set_constant(*ret, "D", d));
  if (strcmp(name, "row_sums") != 0)
    TRY(tile_kernel_set_constant(*ret, "CAUSAL", p->causal ? "True" : "False"));
  return 0;
}

/* Pointers to the arrays in `which`, ended by -1, then the sizes and the scale. */
static int launch(tile_kernel *kernel, const struct problem *p, const struct array *a,
                  const int *which, int blocks) {
  tile_arg args[ARRAYS + 3];
  int n = 0;
  for (; which[n] >= 0; n++)
    args[n] = tile_arg_pointer(a[which[n]].device, which[n] < HALVES ? TILE_F16 : TILE_F32);
  args[n++] = tile_arg_i32(p->queries);
  args[n++] = tile_arg_i32(p->keys);
  args[n++] = tile_arg_f32((float)p->scale);
  tile_grid grid = {(unsigned)blocks, (unsigned)p->heads, 1};
  TRY(tile_launch(kernel, NULL, grid, args, n));
  return 0;
}

static int blocks_of(int rows) { return (rows + BLOCK - 1) / BLOCK; }

static int launch_forward(const struct kernels *k, const struct problem *p, const struct array *a) {
  static const int which[] = {Q, K, V, OUT, LSE, -1};
  return launch(k->forward, p, a, which, blocks_of(p->queries));
}

static int launch_backward(const struct kernels *k, const struct problem *p,
                           const struct array *a) {
  static const int of_keys[] = {Q, K, V, GRAD, LSE, DELTA, DK, DV, -1},
                   of_queries[] = {Q, K, V, GRAD, LSE, DELTA, DQ, -1};
  int rows = p->heads * p->queries;
  tile_grid grid = {(unsigned)blocks_of(rows), 1, 1};
  tile_arg args[4];
  args[0] = tile_arg_pointer(a[GRAD].device, TILE_F16);
  args[1] = tile_arg_pointer(a[OUT].device, TILE_F16);
  args[2] = tile_arg_pointer(a[DELTA].device, TILE_F32);
  args[3] = tile_arg_i32(rows);
  TRY(tile_launch(k->row_sums, NULL, grid, args, 4));
  return launch(k->of_keys, p, a, of_keys, blocks_of(p->keys)) ||
         launch(k->of_queries, p, a, of_queries, blocks_of(p->queries));
}

/* ---- the reference: one head in double precision ---- */

static double element(const struct array *a, const struct problem *p, int head, int row, int c) {
  size_t rows = a->count / (size_t)p->heads / (size_t)p->d;
  return double_of(a->host[((size_t)head * rows + (size_t)row) * (size_t)p->d + (size_t)c]);
}

static double dot(const struct array *x, int i, const struct array *y, int j,
                  const struct problem *p, int head) {
  double sum = 0;
  for (int c = 0; c < p->d; c++)
    sum += element(x, p, head, i, c) * element(y, p, head, j, c);
  return sum;
}

/* The gradients of a head, of the queries, keys and values, and its result: `want` has D columns
 * for each row; `weights` room for each key. */
static void compute(const struct problem *p, const struct array *a, int head, double *weights,
                    double *const want[ARRAYS]) {
  int d = p->d;
  for (int m = 0; m < p->queries; m++) {
    int seen = p->causal && m + 1 < p->keys ? m + 1 : p->keys;
    double top = -INFINITY, sum = 0, delta = 0;
    for (int n = 0; n < seen; n++)
      top = fmax(top, weights[n] = p->scale * dot(&a[Q], m, &a[K], n, p, head));
    for (int n = 0; n < seen; n++)
      sum += weights[n] = exp(weights[n] - top);
    for (int n = 0; n < seen; n++)
      for (int c = 0; c < d; c++)
        want[OUT][m * d + c] += weights[n] / sum * element(&a[V], p, head, n, c);
    for (int c = 0; c < d; c++)
      delta += want[OUT][m * d + c] * element(&a[GRAD], p, head, m, c);
    for (int n = 0; n < seen; n++) {
      double weight = weights[n] / sum;
      double ds = p->scale * weight * (dot(&a[GRAD], m, &a[V], n, p, head) - delta);
      for (int c = 0; c < d; c++) {
        want[DV][n * d + c] += weight * element(&a[GRAD], p, head, m, c);
        want[DQ][m * d + c] += ds * element(&a[K], p, head, n, c);
        want[DK][n * d + c] += ds * element(&a[Q], p, head, m, c);
      }
    }
  }
}

/* The largest difference of a result, as a part of its largest element. */
static double error_of(const struct problem *p, const struct array *a, int head,
                       const double *want) {
  size_t count = a->count / (size_t)p->heads;
  double worst = 0, largest = 0;
  for (size_t i = 0; i < count; i++) {
    double error = fabs(double_of(a->host[(size_t)head * count + i]) - want[i]);
    largest = fmax(largest, fabs(want[i]));
    if (!(error <= worst)) /* NaN counts */
      worst = error;
  }
  return worst / fmax(largest, 1); /* of one key all gradients of scores are 0 */
}

static int check_heads(const struct problem *p, const struct array *a, double *weights,
                       double *const want[ARRAYS]) {
  static const int results[] = {OUT, DQ, DK, DV};
  static const char *const names[] = {"result", "dq", "dk", "dv"};
  double worst[4] = {0};
  int right = 1;
  for (int head = 0; head < p->heads; head++) {
    for (int i = 0; i < 4; i++)
      memset(want[results[i]], 0,
             a[results[i]].count / (size_t)p->heads * sizeof *want[results[i]]);
    compute(p, a, head, weights, want);
    for (int i = 0; i < 4; i++) {
      double error = error_of(p, &a[results[i]], head, want[results[i]]);
      worst[i] = error <= worst[i] ? worst[i] : error;
    }
  }
  for (int i = 0; i < 4; i++) {
    int is_right = worst[i] <= 5e-3; /* weights and results are rounded to f16 */
    printf("%-8s error at most %.2g of the largest element: %s\n", names[i], worst[i],
           is_right ? "right" : "WRONG");
    right = right && is_right;
  }
  return !right;
}

static int check(const struct problem *p, const struct array *a) {
  double *want[ARRAYS] = {0}, *weights = malloc((size_t)p->keys * sizeof *weights);
  int missing = !weights;
  for (int i = OUT; i <= DV; i++) {
    want[i] = malloc(a[i].count / (size_t)p->heads * sizeof *want[i]);
    missing = missing || !want[i];
  }
  if (missing)
    fprintf(stderr, "out of memory\n");
  int failed = missing || check_heads(p, a, weights, want);
  for (int i = OUT; i <= DV; i++)
    free(want[i]);
  free(weights);
  return failed;
}

/* ---- the program ---- */

static int read_problem(int argc, char **argv, struct problem *p) {
  struct problem usual = {2, 100, 100, 64, 1, 0};
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
      p->d <= 128 && (p->d & (p->d - 1)) == 0)
    return 0;
  fprintf(stderr, "HEADS, QUERIES and KEYS must be at least 1, D a power of two from 16 to 128\n");
  return 2;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "training.tile";
  struct problem p;
  struct array a[ARRAYS];
  struct kernels k;
  tile_device *device;
  tile_device_properties properties;
  int usage = read_problem(argc, argv, &p);
  if (usage)
    return usage;
  TRY(tile_device_open("auto", &device));
  TRY(tile_device_get_properties(device, &properties));
  if (make(device, &p, a) || open_kernel(device, path, "forward", &p, &k.forward) ||
      open_kernel(device, path, "row_sums", &p, &k.row_sums) ||
      open_kernel(device, path, "key_gradients", &p, &k.of_keys) ||
      open_kernel(device, path, "query_gradients", &p, &k.of_queries))
    return 1;
  if (launch_forward(&k, &p, a) || launch_backward(&k, &p, a))
    return 1;
  for (int i = OUT; i <= DV; i++)
    TRY(tile_copy_to_host(device, NULL, a[i].host, a[i].device, a[i].count * sizeof(uint16_t)));
  printf("device   %s (%s)\n", properties.name, properties.target);
  printf("%d heads, %d queries, %d keys of %d%s\n", p.heads, p.queries, p.keys, p.d,
         p.causal ? ", causal" : "");
  int failed = check(&p, a);
  tile_kernel *const all[] = {k.forward, k.row_sums, k.of_keys, k.of_queries};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    tile_kernel_close(all[i]);
  for (int i = 0; i < ARRAYS; i++) {
    tile_free(device, a[i].device);
    free(a[i].host);
  }
  tile_device_close(device);
  return failed;
}
