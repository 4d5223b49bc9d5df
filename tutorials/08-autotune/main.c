/* SPDX-License-Identifier: Apache-2.0 */
/* An autotuned matrix-vector product, checked against double precision.
 * usage: autotune [FILE.tile] [M N [POLICY [RESULTS.tune.json]]] */
#include <tile/tune.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
  do {                                                                                             \
    tile_status status = (call);                                                                   \
    if (status != TILE_OK) {                                                                       \
      fprintf(stderr, "%s: %s\n", tile_status_name(status), tile_error_message());                 \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

struct array {
  float *host;
  void *device;
  size_t bytes;
};

static int make(tile_device *device, struct array *a, size_t count, int fill) {
  a->bytes = count * sizeof *a->host;
  a->host = calloc(count, sizeof *a->host);
  if (!a->host)
    return 1;
  for (size_t i = 0; fill && i < count; i++)
    a->host[i] = (float)rand() / (float)RAND_MAX * 2.0f - 1.0f;
  TRY(tile_malloc(device, a->bytes, &a->device));
  TRY(tile_copy_to_device(device, NULL, a->device, a->host, a->bytes));
  return 0;
}

/* Prints one line per configuration: its time, or why it was not measured. */
static int show(void *user, const tile_tune_event *event) {
  (void)user;
  if (event->ms >= 0)
    printf("measured %8.4f ms  %s\n", event->ms, event->config);
  else
    printf("dropped              %s: %s\n", event->config, event->why);
  return 0; /* nonzero would end the search with the best so far */
}

static int policy_of(const char *name, tile_tune_policy *ret) {
  static const char *const names[] = {"never", "cached", "always"};
  for (int i = 0; i < 3; i++)
    if (strcmp(names[i], name) == 0) {
      *ret = (tile_tune_policy)i;
      return 1;
    }
  return 0;
}

/* The search space. A row of 128 columns with 4 warps has 1 element per thread; 64 rows of
 * 256 columns have 128, the most that a thread should hold. */
static int open_tuned(tile_device *device, const char *path, tile_tune_policy policy,
                      const char *results, tile_tuned **ret) {
  TRY(tile_tuned_open(device, path, "gemv", ret));
  TRY(tile_tuned_set_grid(*ret, "cdiv(M, BLOCK_M)"));
  TRY(tile_tuned_set_space(*ret, "BLOCK_M=4..64:x2, BLOCK_N=64,128,256, num_warps=1,2,4"));
  TRY(tile_tuned_set_policy(*ret, policy));
  TRY(tile_tuned_set_budget(*ret, 10, 6));
  TRY(tile_tuned_set_callback(*ret, show, NULL));
  TRY(tile_tuned_set_file(*ret, results));
  return 0;
}

/* The largest error, relative to the rounding error of N products and their sum. */
static double worst_error(const struct array *a, const struct array *x, const float *y, int m,
                          int n, int stride) {
  double worst = 0;
  for (int i = 0; i < m; i++) {
    double want = 0, magnitude = 0;
    for (int k = 0; k < n; k++) {
      double product = (double)a->host[(size_t)i * (size_t)stride + (size_t)k] * (double)x->host[k];
      want += product;
      magnitude += fabs(product);
    }
    double error = fabs((double)y[i] - want) / (magnitude * ldexp(n, -24) + ldexp(1, -100));
    if (!(error <= worst)) /* NaN counts */
      worst = error;
  }
  return worst;
}

/* Whether a device array is unchanged. */
static int unchanged(tile_device *device, const struct array *a, int *ret) {
  void *now = malloc(a->bytes);
  if (!now)
    return 1;
  TRY(tile_copy_to_host(device, NULL, now, a->device, a->bytes));
  *ret = memcmp(now, a->host, a->bytes) == 0;
  free(now);
  return 0;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "gemv.tile", *results = argc > 5 ? argv[5] : NULL;
  int m = argc > 3 ? atoi(argv[2]) : 300, n = argc > 3 ? atoi(argv[3]) : 500;
  int stride = (n + 3) / 4 * 4; /* the kernel needs 16-byte aligned rows */
  tile_tune_policy policy = TILE_TUNE_CACHED;
  if (m < 1 || n < 1 || (argc > 4 && !policy_of(argv[4], &policy))) {
    fprintf(stderr, "M and N must be at least 1, POLICY never, cached or always\n");
    return 2;
  }
  tile_device *device;
  tile_device_properties properties;
  struct array a, x, y;
  TRY(tile_device_open("auto", &device));
  TRY(tile_device_get_properties(device, &properties));
  printf("device   %s (%s)\n", properties.name, properties.target);
  if (make(device, &a, (size_t)m * (size_t)stride, 1) || make(device, &x, (size_t)n, 1) ||
      make(device, &y, (size_t)m, 0))
    return 1;

  tile_tuned *gemv;
  if (open_tuned(device, path, policy, results, &gemv))
    return 1;
  tile_arg args[6];
  args[0] = tile_arg_pointer(a.device, TILE_F32);
  args[1] = tile_arg_pointer(x.device, TILE_F32);
  args[2] = tile_arg_pointer(y.device, TILE_F32);
  args[3] = tile_arg_i32(m);
  args[4] = tile_arg_i32(n);
  args[5] = tile_arg_i32(stride);

  /* Getting the configuration tunes, as the first launch would; y is still zero afterwards. */
  const char *config;
  int same_a = 0, same_x = 0, same_y = 0;
  TRY(tile_tuned_get_config(gemv, args, 6, &config));
  if (unchanged(device, &a, &same_a) || unchanged(device, &x, &same_x) ||
      unchanged(device, &y, &same_y))
    return 1;
  printf("chosen   %s\n", config);
  TRY(tile_tuned_launch(gemv, NULL, args, 6));
  TRY(tile_copy_to_host(device, NULL, y.host, y.device, y.bytes));

  double worst = worst_error(&a, &x, y.host, m, n, stride);
  int right = worst <= 1.0 && same_a && same_x && same_y;
  printf(
      "checked  %d x %d, %.3f of the error that rounding explains, arrays %s by the tuning: %s\n",
      m, n, worst, same_a && same_x && same_y ? "untouched" : "CHANGED", right ? "right" : "WRONG");
  tile_tuned_close(gemv);
  struct array all[3] = {a, x, y};
  for (int i = 0; i < 3; i++) {
    tile_free(device, all[i].device);
    free(all[i].host);
  }
  tile_device_close(device);
  return right ? 0 : 1;
}
