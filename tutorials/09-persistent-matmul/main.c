/* SPDX-License-Identifier: Apache-2.0 */
/* A persistent product of two f16 matrices from C, checked against double precision and, on a GPU,
 * timed. usage: persistent-matmul [FILE.tile] [M N K] */
#include <tile/tile.h>

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

/* IEEE half precision, round to nearest even; inputs here are small and normal or zero. */
static uint16_t half_of(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof(u));
  uint32_t sign = (u >> 16) & 0x8000u, magnitude = u & 0x7fffffffu;
  if (magnitude < 0x38800000u) /* below the smallest normal half: flush */
    return (uint16_t)sign;
  magnitude += 0xfffu + ((magnitude >> 13) & 1u);
  return (uint16_t)(sign | ((magnitude - 0x38000000u) >> 13));
}

static double double_of(uint16_t h) {
  int exponent = (h >> 10) & 31, fraction = h & 1023;
  double v = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
             : exponent     ? ldexp(1024 + fraction, exponent - 25)
                            : ldexp(fraction, -24);
  return h & 0x8000 ? -v : v;
}

/* A matrix in host and device memory. `stride` is in elements, a multiple of 16 bytes. */
struct matrix {
  int rows, columns, stride;
  size_t bytes;
  uint16_t *host;
  void *device;
};

static int make(tile_device *device, struct matrix *m, int rows, int columns, int fill) {
  m->rows = rows;
  m->columns = columns;
  m->stride = (columns + 7) / 8 * 8;
  m->bytes = (size_t)rows * (size_t)m->stride * sizeof *m->host;
  m->host = malloc(m->bytes);
  if (!m->host) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  TRY(tile_malloc(device, m->bytes, &m->device));
  if (!fill) /* 0xffff is not a number */
    memset(m->host, 0xff, m->bytes);
  for (size_t i = 0; fill && i < m->bytes / sizeof *m->host; i++)
    m->host[i] = half_of((float)rand() / (float)RAND_MAX * 2.0f - 1.0f);
  TRY(tile_copy_to_device(device, NULL, m->device, m->host, m->bytes));
  return 0;
}

static double at(const struct matrix *m, int row, int column) {
  return double_of(m->host[(size_t)row * (size_t)m->stride + (size_t)column]);
}

/* The error of one element, relative to the rounding error: half a unit of the last place of the
 * result plus a fraction of the sum of the products' magnitudes. */
static double error_at(const struct matrix *a, const struct matrix *b, const struct matrix *c,
                       int row, int column) {
  double want = 0, magnitude = 0;
  for (int k = 0; k < a->columns; k++) {
    double product = at(a, row, k) * at(b, k, column);
    want += product;
    magnitude += fabs(product);
  }
  return fabs(at(c, row, column) - want) /
         (fabs(want) / 2048 + magnitude / 1048576 + ldexp(1, -25));
}

/* The largest error of all elements, or of 2000 elements of a large matrix including its corners.
 */
static double worst_error(const struct matrix *a, const struct matrix *b, const struct matrix *c) {
  size_t all = (size_t)c->rows * (size_t)c->columns, count = all;
  double worst = 0;
  if (all * (size_t)a->columns > (size_t)1 << 24 && count > 2000)
    count = 2000;
  for (size_t i = 0; i < count; i++) {
    size_t step = ((all - 1) / (count > 1 ? count - 1 : 1)) | 1;
    size_t e = i == count - 1 ? all - 1 : i * step % all;
    double error = error_at(a, b, c, (int)(e / (size_t)c->columns), (int)(e % (size_t)c->columns));
    if (!(error <= worst)) /* NaN counts */
      worst = error;
  }
  return worst;
}

/* Block sizes and launch options: large blocks, but enough of them to occupy the GPU. */
struct shape {
  int m, n, k, warps, stages;
};

/* Bytes of shared memory: each stage has a block of a and one of b. */
static size_t shared_bytes(struct shape s) {
  return (size_t)s.stages * (size_t)s.k * (size_t)(s.m + s.n) * sizeof(uint16_t);
}

static struct shape shape_for(int rows, int columns, size_t shared_limit) {
  struct shape large = {128, 256, 64, 8, 4}, middle = {64, 128, 64, 4, 4};
  struct shape small = {64, 32, 32, 4, 3};
  double elements = (double)rows * (double)columns;
  if (elements >= 2048.0 * 2048.0 && shared_bytes(large) <= shared_limit)
    return large;
  return elements >= 512.0 * 512.0 ? middle : small;
}

static int set(tile_kernel *kernel, const char *name, int value) {
  char number[16];
  snprintf(number, sizeof number, "%d", value);
  TRY(tile_kernel_set_constant(kernel, name, number));
  return 0;
}

static int configure(tile_kernel *kernel, struct shape s) {
  if (set(kernel, "BLOCK_M", s.m) || set(kernel, "BLOCK_N", s.n) || set(kernel, "BLOCK_K", s.k))
    return 1;
  TRY(tile_kernel_set_warps(kernel, (unsigned)s.warps));
  TRY(tile_kernel_set_stages(kernel, (unsigned)s.stages));
  return 0;
}

/* The time of a launch: the mean of many launches between two events. */
static int time_launches(tile_device *device, tile_kernel *kernel, tile_grid grid,
                         const tile_arg *args, double operations) {
  enum { LAUNCHES = 20 };
  tile_event *start, *stop;
  float ms;
  TRY(tile_event_create(device, &start));
  TRY(tile_event_create(device, &stop));
  TRY(tile_event_record(device, start, NULL));
  for (int i = 0; i < LAUNCHES; i++)
    TRY(tile_launch(kernel, NULL, grid, args, 9));
  TRY(tile_event_record(device, stop, NULL));
  TRY(tile_event_elapsed(start, stop, &ms));
  printf("time     %.3f ms, %.1f TFLOP/s\n", (double)ms / LAUNCHES,
         operations * LAUNCHES / (double)ms * 1e-9);
  tile_event_destroy(start);
  tile_event_destroy(stop);
  return 0;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "persistent.tile";
  int m = argc > 4 ? atoi(argv[2]) : 200, n = argc > 4 ? atoi(argv[3]) : 100;
  int k = argc > 4 ? atoi(argv[4]) : 150;
  if (m < 1 || n < 1 || k < 1) {
    fprintf(stderr, "M, N and K must be at least 1\n");
    return 2;
  }
  tile_device *device;
  tile_device_properties properties;
  struct matrix a, b, c;
  TRY(tile_device_open("auto", &device));
  TRY(tile_device_get_properties(device, &properties));
  if (make(device, &a, m, k, 1) || make(device, &b, k, n, 1) || make(device, &c, m, n, 0))
    return 1;

  struct shape s = shape_for(m, n, properties.shared_limit);
  tile_kernel *kernel;
  TRY(tile_kernel_open(device, path, "persistent_matmul", &kernel));
  if (configure(kernel, s))
    return 1;
  /* One program for each multiprocessor, or for each block if there are fewer. */
  unsigned blocks = (unsigned)((m + s.m - 1) / s.m) * (unsigned)((n + s.n - 1) / s.n);
  unsigned most = (unsigned)properties.multiprocessors;
  tile_grid grid = {blocks < most || most == 0 ? blocks : most, 1, 1};
  tile_arg args[9];
  args[0] = tile_arg_pointer(a.device, TILE_F16);
  args[1] = tile_arg_pointer(b.device, TILE_F16);
  args[2] = tile_arg_pointer(c.device, TILE_F16);
  args[3] = tile_arg_i32(m);
  args[4] = tile_arg_i32(n);
  args[5] = tile_arg_i32(k);
  args[6] = tile_arg_i32(a.stride);
  args[7] = tile_arg_i32(b.stride);
  args[8] = tile_arg_i32(c.stride);
  TRY(tile_launch(kernel, NULL, grid, args, 9));
  TRY(tile_copy_to_host(device, NULL, c.host, c.device, c.bytes));

  double worst = worst_error(&a, &b, &c);
  int right = worst <= 1.5;
  printf("device   %s (%s)\n", properties.name, properties.target);
  printf("checked  %d x %d x %d by %u programs in blocks of %d x %d x %d, %.2f of the error that "
         "rounding explains: %s\n",
         m, n, k, grid.x, s.m, s.n, s.k, worst, right ? "right" : "WRONG");
  if (!properties.is_cpu &&
      time_launches(device, kernel, grid, args, 2.0 * (double)m * (double)n * (double)k))
    return 1;
  tile_kernel_close(kernel);
  struct matrix all[3] = {a, b, c};
  for (int i = 0; i < 3; i++) {
    tile_free(device, all[i].device);
    free(all[i].host);
  }
  tile_device_close(device);
  return right ? 0 : 1;
}
