/* SPDX-License-Identifier: Apache-2.0 */
/* Adds two vectors and scales a third with kernels compiled ahead of time. `--dry` launches without
 * checking results, for drivers that do not compute. Exits with 77 without a GPU. */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 100000

static tile_device *device;

/* Reports a failed call: the runtime itself neither prints nor exits. */
static void check(tile_status status, const char *what) {
  if (status == TILE_OK)
    return;
  fprintf(stderr, "%s: %s\n%s\n", what, tile_status_name(status), tile_error_message());
  exit(1);
}

static void *upload(const void *data, size_t size) {
  void *p;
  check(tile_malloc(device, size, &p), "tile_malloc");
  check(tile_copy_to_device(device, NULL, p, data, size), "tile_copy_to_device");
  return p;
}

static int run_add(struct kernels_module *kernels, int dry, int n) {
  static float x[N], y[N], out[N];
  float *dx, *dy, *dout;
  int i, wrong = 0;
  for (i = 0; i < n; i++) {
    x[i] = (float)i;
    y[i] = 0.5f * (float)(n - i);
    out[i] = -1.0f;
  }
  dx = upload(x, sizeof x);
  dy = upload(y, sizeof y);
  dout = upload(out, sizeof out);
  check(add_run(kernels, NULL, dx, dy, dout, n), "add_run");
  check(tile_copy_to_host(device, NULL, out, dout, sizeof out), "tile_copy_to_host");
  for (i = 0; i < n && !dry; i++)
    wrong += out[i] != x[i] + y[i];
  tile_free(device, dx);
  tile_free(device, dy);
  tile_free(device, dout);
  printf("add of %d elements: %d wrong\n", n, wrong);
  return wrong;
}

/* Elements of f16 that are 1.0 become 1.5. */
static int run_scale(struct kernels_module *kernels, int dry, int step) {
  static unsigned short x[N];
  unsigned short *dx;
  int i, wrong = 0, n = N / step;
  for (i = 0; i < N; i++)
    x[i] = 0x3c00;
  dx = upload(x, sizeof x);
  check(scale_run(kernels, NULL, dx, step, n, 1.5f), "scale_run");
  check(tile_copy_to_host(device, NULL, x, dx, sizeof x), "tile_copy_to_host");
  for (i = 0; i < N && !dry; i++)
    wrong += x[i] != (i % step == 0 && i / step < n ? 0x3e00 : 0x3c00);
  tile_free(device, dx);
  printf("scale with step %d: %d wrong\n", step, wrong);
  return wrong;
}

int main(int argc, char **argv) {
  int dry = argc > 1 && strcmp(argv[1], "--dry") == 0, wrong;
  struct kernels_module *kernels = NULL;
  tile_status status = tile_device_open("cuda", &device);
  if (status == TILE_NO_DEVICE || status == TILE_DRIVER_TOO_OLD) {
    printf("skipped: %s\n", tile_error_message());
    return 77;
  }
  check(status, "tile_device_open");
  check(kernels_open(device, &kernels), "kernels_open");
  wrong = run_add(kernels, dry, N) + run_add(kernels, dry, N - 3); /* two specialisations */
  wrong += run_scale(kernels, dry, 1) + run_scale(kernels, dry, 3);
  /* Invalid calls return an error with a message. */
  if (add_run(kernels, NULL, NULL, NULL, NULL, 0) != TILE_INVALID_ARGUMENT)
    wrong++;
  printf("an empty grid: %s\n", tile_error_message());
  kernels_close(kernels);
  tile_device_close(device);
  return wrong ? 1 : 0;
}
