/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs that multiply matrices share: matrices in host and device memory, the check of
 * a product, block sizes. */
#ifndef TUTORIALS_MATRICES_H
#define TUTORIALS_MATRICES_H

#include "half.h"

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
 * result plus a fraction of the sum of the products' magnitudes. Negative results are multiplied by
 * `slope`. */
static double error_at(const struct matrix *a, const struct matrix *b, const struct matrix *c,
                       int row, int column, double slope) {
  double want = 0, magnitude = 0;
  for (int k = 0; k < a->columns; k++) {
    double product = at(a, row, k) * at(b, k, column);
    want += product;
    magnitude += fabs(product);
  }
  want *= want < 0 ? slope : 1;
  return fabs(at(c, row, column) - want) /
         (fabs(want) / 2048 + magnitude / 1048576 + ldexp(1, -25));
}

/* The largest error of all elements, or of 2000 elements of a large matrix including its corners.
 */
static double worst_error(const struct matrix *a, const struct matrix *b, const struct matrix *c,
                          double slope) {
  size_t all = (size_t)c->rows * (size_t)c->columns, count = all;
  double worst = 0;
  if (all * (size_t)a->columns > (size_t)1 << 24 && count > 2000)
    count = 2000;
  for (size_t i = 0; i < count; i++) {
    size_t step = ((all - 1) / (count > 1 ? count - 1 : 1)) | 1;
    size_t e = i == count - 1 ? all - 1 : i * step % all;
    double error =
        error_at(a, b, c, (int)(e / (size_t)c->columns), (int)(e % (size_t)c->columns), slope);
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

static int set(tile_kernel *kernel, const char *name, int value) {
  char number[16];
  snprintf(number, sizeof number, "%d", value);
  TRY(tile_kernel_set_constant(kernel, name, number));
  return 0;
}

#endif
