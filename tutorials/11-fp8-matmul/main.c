/* SPDX-License-Identifier: Apache-2.0 */
/* A product of matrices of 8-bit floats with scales, checked against double precision.
 * usage: fp8-matmul [FILE.tile] [M N K] */
#include "../half.h"

enum { SCALED = 128 }; /* elements that share a scale */

/* ---- e4m3: a sign, 4 bits of exponent with bias 7, 3 of fraction; at most 448, no infinity ----
 */

static double double_of_e4m3(uint8_t e) {
  int exponent = e >> 3 & 15, fraction = e & 7;
  double v = exponent ? ldexp(8 + fraction, exponent - 10) : ldexp(fraction, -9);
  return e & 0x80 ? -v : v;
}

/* The nearest value: codes of positive values are in their order. */
static uint8_t e4m3_of(double v) {
  uint8_t low = 0, high = 0x7e; /* 0 and 448 */
  double magnitude = fabs(v);
  while (low < high) { /* the smallest code that is not below */
    uint8_t middle = (uint8_t)((low + high) / 2);
    if (double_of_e4m3(middle) < magnitude)
      low = (uint8_t)(middle + 1);
    else
      high = middle;
  }
  if (low > 0 && magnitude - double_of_e4m3((uint8_t)(low - 1)) < double_of_e4m3(low) - magnitude)
    low--;
  return (uint8_t)(low | (v < 0 ? 0x80 : 0));
}

/* ---- matrices in rows along K, with a scale for blocks of `high` x 128 elements ---- */

struct matrix {
  int rows, columns, stride, high, scales; /* scales: of a row */
  uint8_t *host;
  float *scale;
  void *device, *device_scale;
};

static int blocks(int n, int size) { return (n + size - 1) / size; }

static double at(const struct matrix *m, int row, int column) {
  return double_of_e4m3(m->host[(size_t)row * (size_t)m->stride + (size_t)column]) *
         (double)m->scale[row / m->high * m->scales + column / SCALED];
}

/* Quantises a block of random values, of a magnitude of its own: the largest becomes 448. */
static void fill_block(struct matrix *m, int row, int column) {
  double values[SCALED][SCALED], most = 1e-12, size = exp(4.0 * rand() / RAND_MAX - 2);
  int rows = m->rows - row < m->high ? m->rows - row : m->high;
  int columns = m->columns - column < SCALED ? m->columns - column : SCALED;
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < columns; k++) {
      values[i][k] = size * (2.0 * rand() / RAND_MAX - 1);
      most = fmax(most, fabs(values[i][k]));
    }
  float scale = (float)(most / 448);
  m->scale[row / m->high * m->scales + column / SCALED] = scale;
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < columns; k++)
      m->host[(size_t)(row + i) * (size_t)m->stride + (size_t)(column + k)] =
          e4m3_of(values[i][k] / (double)scale);
}

static int make(tile_device *device, struct matrix *m, int rows, int columns, int high) {
  *m = (struct matrix){
      rows, columns, (columns + 15) / 16 * 16, high, blocks(columns, SCALED), NULL, NULL,
      NULL, NULL};
  size_t bytes = (size_t)rows * (size_t)m->stride;
  size_t scale_bytes = (size_t)blocks(rows, high) * (size_t)m->scales * sizeof *m->scale;
  m->host = calloc(bytes, 1);
  m->scale = calloc(scale_bytes, 1);
  if (!m->host || !m->scale) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  for (int row = 0; row < rows; row += high)
    for (int column = 0; column < columns; column += SCALED)
      fill_block(m, row, column);
  TRY(tile_malloc(device, bytes, &m->device));
  TRY(tile_malloc(device, scale_bytes, &m->device_scale));
  TRY(tile_copy_to_device(device, NULL, m->device, m->host, bytes));
  TRY(tile_copy_to_device(device, NULL, m->device_scale, m->scale, scale_bytes));
  return 0;
}

static void destroy(tile_device *device, struct matrix *m) {
  tile_free(device, m->device);
  tile_free(device, m->device_scale);
  free(m->host);
  free(m->scale);
}

/* ---- the check ---- */

/* The largest error, relative to that of rounding the result to f16 and of the sums in the tensor
 * core, which keep about 14 bits. */
static double worst_error(const struct matrix *a, const struct matrix *b, const uint16_t *c,
                          int stride) {
  double worst = 0;
  for (int i = 0; i < a->rows; i++)
    for (int j = 0; j < b->rows; j++) {
      double want = 0, magnitude = 0;
      for (int k = 0; k < a->columns; k++) {
        double product = at(a, i, k) * at(b, j, k);
        want += product;
        magnitude += fabs(product);
      }
      double error = fabs(double_of(c[(size_t)i * (size_t)stride + (size_t)j]) - want) /
                     (fabs(want) / 2048 + magnitude / 8192 + ldexp(1, -24));
      if (!(error <= worst)) /* NaN counts */
        worst = error;
    }
  return worst;
}

static int configure(tile_kernel *kernel, int block) {
  char number[16];
  snprintf(number, sizeof number, "%d", block);
  TRY(tile_kernel_set_constant(kernel, "BLOCK_M", number));
  TRY(tile_kernel_set_constant(kernel, "BLOCK_N", number));
  TRY(tile_kernel_set_warps(kernel, block == 128 ? 8 : 4));
  TRY(tile_kernel_set_stages(kernel, 4));
  return 0;
}

static int multiply(tile_device *device, const char *path, const struct matrix *a,
                    const struct matrix *b, void *c, int stride) {
  tile_device_properties properties;
  tile_kernel *kernel;
  TRY(tile_device_get_properties(device, &properties));
  TRY(tile_kernel_open(device, path, "fp8_matmul", &kernel));
  int block = !properties.is_cpu && (double)a->rows * b->rows >= 512.0 * 512.0 ? 128 : 64;
  if (configure(kernel, block))
    return 1;
  unsigned all = (unsigned)(blocks(a->rows, block) * blocks(b->rows, block));
  unsigned most = (unsigned)properties.multiprocessors;
  tile_grid grid = {all < most || most == 0 ? all : most, 1, 1};
  tile_arg args[10];
  args[0] = tile_arg_pointer(a->device, TILE_F8E4NV);
  args[1] = tile_arg_pointer(b->device, TILE_F8E4NV);
  args[2] = tile_arg_pointer(c, TILE_F16);
  args[3] = tile_arg_pointer(a->device_scale, TILE_F32);
  args[4] = tile_arg_pointer(b->device_scale, TILE_F32);
  args[5] = tile_arg_i32(a->rows);
  args[6] = tile_arg_i32(b->rows);
  args[7] = tile_arg_i32(a->columns);
  args[8] = tile_arg_i32(a->stride);
  args[9] = tile_arg_i32(stride);
  TRY(tile_launch(kernel, NULL, grid, args, 10));
  printf("device   %s (%s), %u programs in blocks of %d x %d x %d\n", properties.name,
         properties.target, grid.x, block, block, SCALED);
  tile_kernel_close(kernel);
  return 0;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "fp8.tile";
  int m = argc > 4 ? atoi(argv[2]) : 200, n = argc > 4 ? atoi(argv[3]) : 100;
  int k = argc > 4 ? atoi(argv[4]) : 400;
  if (m < 1 || n < 1 || k < 1) {
    fprintf(stderr, "M, N and K must be at least 1\n");
    return 2;
  }
  tile_device *device;
  struct matrix a, b;
  void *c;
  int stride = (n + 7) / 8 * 8;
  size_t bytes = (size_t)m * (size_t)stride * sizeof(uint16_t);
  uint16_t *host = malloc(bytes);
  TRY(tile_device_open("auto", &device));
  TRY(tile_malloc(device, bytes, &c));
  if (!host || make(device, &a, m, k, 1) || make(device, &b, n, k, SCALED) ||
      multiply(device, path, &a, &b, c, stride))
    return 1;
  TRY(tile_copy_to_host(device, NULL, host, c, bytes));
  double worst = worst_error(&a, &b, host, stride);
  int right = worst <= 1.5;
  printf("checked  %d x %d x %d, %.2f of the error that rounding explains: %s\n", m, n, k, worst,
         right ? "right" : "WRONG");
  destroy(device, &a);
  destroy(device, &b);
  tile_free(device, c);
  free(host);
  tile_device_close(device);
  return right ? 0 : 1;
}
