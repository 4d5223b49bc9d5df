/* SPDX-License-Identifier: Apache-2.0 */
/* Seeded dropout from C: kept elements are scaled, about the right share is dropped, the same seed
 * gives the same mask and another seed another.
 * usage: dropout [FILE.tile] [N P] */
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

enum { BLOCK = 256 };

struct run {
  tile_device *device;
  tile_kernel *kernel;
  void *dx, *dout;
  int n;
  float p;
};

static int dropout(const struct run *r, int seed, float *out) {
  size_t bytes = (size_t)r->n * sizeof(float);
  tile_grid grid = {(unsigned)((r->n + 4 * BLOCK - 1) / (4 * BLOCK)), 1, 1};
  tile_arg args[5];
  args[0] = tile_arg_pointer(r->dx, TILE_F32);
  args[1] = tile_arg_pointer(r->dout, TILE_F32);
  args[2] = tile_arg_i32(r->n);
  args[3] = tile_arg_f32(r->p);
  args[4] = tile_arg_i32(seed);
  TRY(tile_memset(r->device, NULL, r->dout, 0xff, bytes));
  TRY(tile_launch(r->kernel, NULL, grid, args, 5));
  TRY(tile_copy_to_host(r->device, NULL, out, r->dout, bytes));
  return 0;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "dropout.tile";
  struct run r = {0};
  r.n = argc > 3 ? atoi(argv[2]) : 100000;
  r.p = argc > 3 ? (float)atof(argv[3]) : 0.5f;
  if (r.n < 1 || !(r.p > 0 && r.p < 1)) {
    fprintf(stderr, "N must be at least 1, P between 0 and 1\n");
    return 2;
  }
  size_t n = (size_t)r.n, bytes = n * sizeof(float);
  float *x = malloc(bytes), *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
  if (!x || !a || !b || !c) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  for (size_t i = 0; i < n; i++)
    x[i] = (float)rand() / (float)RAND_MAX + 1.0f;

  tile_device_properties properties;
  TRY(tile_device_open("auto", &r.device));
  TRY(tile_device_get_properties(r.device, &properties));
  TRY(tile_malloc(r.device, bytes, &r.dx));
  TRY(tile_malloc(r.device, bytes, &r.dout));
  TRY(tile_copy_to_device(r.device, NULL, r.dx, x, bytes));
  TRY(tile_kernel_open(r.device, path, "dropout", &r.kernel));
  TRY(tile_kernel_set_constant(r.kernel, "BLOCK", "256"));
  if (dropout(&r, 123, a) || dropout(&r, 123, b) || dropout(&r, 512, c))
    return 1;

  size_t dropped = 0, wrong = 0, unlike = 0, moved = 0;
  for (size_t i = 0; i < n; i++) {
    dropped += a[i] == 0.0f;
    double kept = (double)x[i] / (1.0 - (double)r.p);
    wrong += a[i] != 0.0f && !(fabs((double)a[i] - kept) < 1e-5 * kept);
    unlike += a[i] != b[i];
    moved += (a[i] == 0.0f) != (c[i] == 0.0f);
  }
  /* The count is binomial: five standard deviations, and the other mask must differ. */
  double expected = (double)n * (double)r.p, spread = sqrt(expected * (1 - (double)r.p));
  int right = !wrong && !unlike && moved && fabs((double)dropped - expected) < 5 * spread + 1;
  printf("device   %s (%s)\n", properties.name, properties.target);
  printf("checked  %d elements, %.2f %% dropped of %.2f %%: %s\n", r.n,
         100.0 * (double)dropped / (double)n, 100.0 * (double)r.p, right ? "right" : "WRONG");
  tile_kernel_close(r.kernel);
  tile_free(r.device, r.dx);
  tile_free(r.device, r.dout);
  tile_device_close(r.device);
  free(x);
  free(a);
  free(b);
  free(c);
  return right ? 0 : 1;
}
