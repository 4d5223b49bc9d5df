/* SPDX-License-Identifier: Apache-2.0 */
/* Layer norm forward and backward from C, checked against double precision.
 * usage: layer-norm [FILE.tile] [ROWS COLUMNS] */
#include <tile/tile.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                                                  \
  do {                                                                                             \
    tile_status status = (call);                                                                   \
    if (status != TILE_OK) {                                                                       \
      fprintf(stderr, "%s: %s\n", tile_status_name(status), tile_error_message());                 \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

static const double epsilon = 1e-5;
enum { PARTS = 16 }; /* programs of the backward kernel */

/* An array in host and device memory. */
struct array {
  size_t count;
  float *host;
  void *device;
};

enum { X, WEIGHT, BIAS, OUT, MEAN, RSTD, DY, DX, DW, DB, DW_PARTS, DB_PARTS, ARRAYS };

static int make(tile_device *device, struct array *a, size_t count) {
  size_t bytes = count * sizeof(float);
  a->count = count;
  a->host = malloc(bytes);
  if (!a->host) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  TRY(tile_malloc(device, bytes, &a->device));
  TRY(tile_memset(device, NULL, a->device, 0xff, bytes));
  return 0;
}

static int draw(tile_device *device, struct array *a, float low, float high) {
  for (size_t i = 0; i < a->count; i++)
    a->host[i] = low + (high - low) * (float)rand() / (float)RAND_MAX;
  TRY(tile_copy_to_device(device, NULL, a->device, a->host, a->count * sizeof(float)));
  return 0;
}

static int fetch(tile_device *device, struct array *a) {
  TRY(tile_copy_to_host(device, NULL, a->host, a->device, a->count * sizeof(float)));
  return 0;
}

static int open_kernel(tile_device *device, const char *path, const char *name, int block,
                       const char *constant, const char *value, tile_kernel **ret) {
  char number[16];
  snprintf(number, sizeof number, "%d", block);
  TRY(tile_kernel_open(device, path, name, ret));
  TRY(tile_kernel_set_constant(*ret, "BLOCK", number));
  if (constant)
    TRY(tile_kernel_set_constant(*ret, constant, value));
  return 0;
}

static tile_arg f32(const struct array *a) { return tile_arg_pointer(a->device, TILE_F32); }

/* One row per program, or (persistent) a few programs that loop over the rows. */
static int forward(tile_device *device, const char *path, const struct array *a, int rows,
                   int columns, int block, int persistent) {
  tile_kernel *kernel;
  tile_grid grid = {(unsigned)(persistent ? PARTS : rows), 1, 1};
  tile_arg args[9];
  const char *name = persistent ? "layer_norm_ahead" : "layer_norm";
  if (open_kernel(device, path, name, block, persistent ? NULL : "ROWS", "1", &kernel))
    return 1;
  for (int i = X; i <= RSTD; i++)
    args[i] = f32(&a[i]);
  args[6] = tile_arg_i32(rows);
  args[7] = tile_arg_i32(columns);
  args[8] = tile_arg_f32((float)epsilon);
  TRY(tile_launch(kernel, NULL, grid, args, 9));
  tile_kernel_close(kernel);
  return 0;
}

static int backward(tile_device *device, const char *path, const struct array *a, int rows,
                    int columns, int block) {
  tile_kernel *partial, *sum;
  tile_grid grid = {PARTS, 1, 1};
  tile_arg args[10];
  if (open_kernel(device, path, "layer_norm_backward", block, NULL, NULL, &partial) ||
      open_kernel(device, path, "sum_parts", 64, "PARTS", "16", &sum))
    return 1;
  args[0] = f32(&a[DY]);
  args[1] = f32(&a[X]);
  args[2] = f32(&a[WEIGHT]);
  args[3] = f32(&a[MEAN]);
  args[4] = f32(&a[RSTD]);
  args[5] = f32(&a[DX]);
  args[6] = f32(&a[DW_PARTS]);
  args[7] = f32(&a[DB_PARTS]);
  args[8] = tile_arg_i32(rows);
  args[9] = tile_arg_i32(columns);
  TRY(tile_launch(partial, NULL, grid, args, 10));
  grid.x = (unsigned)((columns + 63) / 64);
  args[0] = f32(&a[DW_PARTS]);
  args[1] = f32(&a[DB_PARTS]);
  args[2] = f32(&a[DW]);
  args[3] = f32(&a[DB]);
  args[4] = tile_arg_i32(PARTS);
  args[5] = tile_arg_i32(columns);
  TRY(tile_launch(sum, NULL, grid, args, 6));
  tile_kernel_close(partial);
  tile_kernel_close(sum);
  return 0;
}

/* The largest difference, relative to the largest expected value. */
struct worst {
  double difference, scale;
};

static void compare(struct worst *w, double got, double want) {
  double difference = fabs(got - want);
  if (!(difference <= w->difference)) /* NaN counts */
    w->difference = difference;
  w->scale = fmax(w->scale, fabs(want));
}

static double relative(const struct worst *w) { return w->difference / w->scale; }

/* ret: relative errors of the result, dx, dw and db. */
static void check(const struct array *a, int rows, int columns, double ret[4]) {
  struct worst w[4] = {{0, 0}};
  double *dw = calloc((size_t)columns, sizeof *dw), *db = calloc((size_t)columns, sizeof *db);
  for (int r = 0; dw && db && r < rows; r++) {
    const float *x = a[X].host + (size_t)r * (size_t)columns;
    const float *g = a[DY].host + (size_t)r * (size_t)columns;
    double m = 0, v = 0, c1 = 0, c2 = 0;
    for (int i = 0; i < columns; i++)
      m += (double)x[i] / columns;
    for (int i = 0; i < columns; i++)
      v += ((double)x[i] - m) * ((double)x[i] - m) / columns;
    double s = 1 / sqrt(v + epsilon);
    for (int i = 0; i < columns; i++) {
      double h = ((double)x[i] - m) * s, wg = (double)a[WEIGHT].host[i] * (double)g[i];
      c1 += h * wg / columns;
      c2 += wg / columns;
      dw[i] += (double)g[i] * h;
      db[i] += (double)g[i];
    }
    for (int i = 0; i < columns; i++) {
      size_t at = (size_t)r * (size_t)columns + (size_t)i;
      double h = ((double)x[i] - m) * s, wg = (double)a[WEIGHT].host[i] * (double)g[i];
      compare(&w[0], (double)a[OUT].host[at],
              h * (double)a[WEIGHT].host[i] + (double)a[BIAS].host[i]);
      compare(&w[1], (double)a[DX].host[at], (wg - h * c1 - c2) * s);
    }
  }
  for (int i = 0; dw && db && i < columns; i++) {
    compare(&w[2], (double)a[DW].host[i], dw[i]);
    compare(&w[3], (double)a[DB].host[i], db[i]);
  }
  free(dw);
  free(db);
  for (int k = 0; k < 4; k++)
    ret[k] = relative(&w[k]);
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "layer_norm.tile";
  int rows = argc > 3 ? atoi(argv[2]) : 37, columns = argc > 3 ? atoi(argv[3]) : 1000, block = 1;
  if (rows < 1 || columns < 2 || columns > 16384) {
    fprintf(stderr, "rows must be at least 1, columns 2 to 16384\n");
    return 2;
  }
  while (block < columns)
    block *= 2;
  size_t n = (size_t)columns, all = (size_t)rows * n, share = PARTS * n;
  size_t counts[ARRAYS] = {all, n,   n, all, (size_t)rows, (size_t)rows,
                           all, all, n, n,   share,        share};
  struct array a[ARRAYS];
  tile_device *device;
  tile_device_properties properties;
  TRY(tile_device_open("auto", &device));
  TRY(tile_device_get_properties(device, &properties));
  for (int i = 0; i < ARRAYS; i++)
    if (make(device, &a[i], counts[i]))
      return 1;
  if (draw(device, &a[X], -3, 5) || draw(device, &a[WEIGHT], 0, 1) ||
      draw(device, &a[BIAS], -1, 1) || draw(device, &a[DY], -1, 1))
    return 1;
  size_t out_bytes = a[OUT].count * sizeof(float);
  float *walked = malloc(out_bytes);
  if (!walked || forward(device, path, a, rows, columns, block, 1))
    return 1;
  TRY(tile_copy_to_host(device, NULL, walked, a[OUT].device, out_bytes));
  TRY(tile_memset(device, NULL, a[OUT].device, 0xff, out_bytes));
  if (forward(device, path, a, rows, columns, block, 0) ||
      backward(device, path, a, rows, columns, block))
    return 1;
  if (fetch(device, &a[OUT]) || fetch(device, &a[DX]) || fetch(device, &a[DW]) ||
      fetch(device, &a[DB]))
    return 1;

  double error[4];
  check(a, rows, columns, error);
  int same = 1; /* up to rounding */
  for (size_t i = 0; i < all; i++)
    same &= fabs((double)walked[i] - (double)a[OUT].host[i]) < 1e-5;
  free(walked);
  int right = same && error[0] < 2e-6 && error[1] < 1e-5 && error[2] < 1e-5 && error[3] < 1e-5;
  printf("device   %s (%s)\n", properties.name, properties.target);
  printf("checked  %d x %d, errors: result %.2g, dx %.2g, dweight %.2g, dbias %.2g: %s\n", rows,
         columns, error[0], error[1], error[2], error[3], right ? "right" : "WRONG");
  for (int i = 0; i < ARRAYS; i++) {
    tile_free(device, a[i].device);
    free(a[i].host);
  }
  tile_device_close(device);
  return right ? 0 : 1;
}
