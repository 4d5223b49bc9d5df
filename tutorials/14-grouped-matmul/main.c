/* SPDX-License-Identifier: Apache-2.0 */
/* Products of groups of rows, each with a matrix of its own, checked against double precision.
 * usage: grouped-matmul [FILE.tile] [M N K GROUPS] */
#include "../matrices.h"

/* Sizes as of a popular expert and many others: group g has a share of 1 / (g + 1) of the rows,
 * every fifth none, the last one the rest. */
static void make_ends(int32_t *ends, int groups, int rows) {
  double all = 0, before = 0;
  for (int g = 0; g < groups; g++)
    all += g % 5 == 4 ? 0 : 1.0 / (g + 1);
  for (int g = 0; g < groups; g++) {
    before += g % 5 == 4 ? 0 : 1.0 / (g + 1);
    ends[g] = g == groups - 1 ? rows : (int32_t)(before / all * rows);
  }
}

/* Rows [begin, end) of a matrix. */
static struct matrix part_of(const struct matrix *m, int begin, int end) {
  struct matrix part = *m;
  part.rows = end - begin;
  part.host += (size_t)begin * (size_t)m->stride;
  return part;
}

/* The largest error over all groups. b has the matrices of the groups one below the other. */
static double check_groups(const struct matrix *a, const struct matrix *b, const struct matrix *c,
                           const int32_t *ends, int groups) {
  double worst = 0;
  for (int g = 0, begin = 0; g < groups; begin = ends[g++]) {
    struct matrix rows = part_of(a, begin, ends[g]), result = part_of(c, begin, ends[g]);
    struct matrix expert = part_of(b, g * a->columns, (g + 1) * a->columns);
    double error = rows.rows ? worst_error(&rows, &expert, &result, 1) : 0;
    if (!(error <= worst)) /* NaN counts */
      worst = error;
  }
  return worst;
}

static int configure(tile_kernel *kernel, struct shape s, int groups) {
  if (set(kernel, "GROUPS", groups) || set(kernel, "BLOCK_M", s.m) || set(kernel, "BLOCK_N", s.n) ||
      set(kernel, "BLOCK_K", s.k))
    return 1;
  TRY(tile_kernel_set_warps(kernel, (unsigned)s.warps));
  TRY(tile_kernel_set_stages(kernel, (unsigned)s.stages));
  return 0;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "grouped.tile";
  int m = argc > 5 ? atoi(argv[2]) : 200, n = argc > 5 ? atoi(argv[3]) : 100;
  int k = argc > 5 ? atoi(argv[4]) : 150, groups = argc > 5 ? atoi(argv[5]) : 6;
  if (m < 1 || n < 1 || k < 1 || groups < 1 || groups > 32767) {
    fprintf(stderr, "M, N, K and GROUPS must be at least 1, GROUPS at most 32767\n");
    return 2;
  }
  tile_device *device;
  tile_device_properties properties;
  struct matrix a, b, c;
  size_t bytes = (size_t)groups * sizeof(int32_t);
  int32_t *ends = malloc(bytes);
  void *device_ends;
  TRY(tile_device_open("auto", &device));
  TRY(tile_device_get_properties(device, &properties));
  TRY(tile_malloc(device, bytes, &device_ends));
  if (!ends || make(device, &a, m, k, 1) || make(device, &b, groups * k, n, 1) ||
      make(device, &c, m, n, 0))
    return 1;
  make_ends(ends, groups, m);
  TRY(tile_copy_to_device(device, NULL, device_ends, ends, bytes));

  struct shape large = {128, 256, 64, 8, 4}, small = {32, 64, 32, 4, 3};
  struct shape s = m / groups >= 128 && n >= 256 && shared_bytes(large) <= properties.shared_limit
                       ? large
                       : small;
  tile_kernel *kernel;
  TRY(tile_kernel_open(device, path, "grouped_matmul", &kernel));
  if (configure(kernel, s, groups))
    return 1;
  /* Blocks of rows for any sizes of groups. */
  unsigned blocks = (unsigned)(m / s.m + groups) * (unsigned)((n + s.n - 1) / s.n);
  unsigned most = (unsigned)properties.multiprocessors;
  tile_grid grid = {blocks < most || most == 0 ? blocks : most, 1, 1};
  tile_arg args[10];
  args[0] = tile_arg_pointer(a.device, TILE_F16);
  args[1] = tile_arg_pointer(b.device, TILE_F16);
  args[2] = tile_arg_pointer(c.device, TILE_F16);
  args[3] = tile_arg_pointer(device_ends, TILE_I32);
  args[4] = tile_arg_i32(m);
  args[5] = tile_arg_i32(n);
  args[6] = tile_arg_i32(k);
  args[7] = tile_arg_i32(a.stride);
  args[8] = tile_arg_i32(b.stride);
  args[9] = tile_arg_i32(c.stride);
  TRY(tile_launch(kernel, NULL, grid, args, 10));
  TRY(tile_copy_to_host(device, NULL, c.host, c.device, c.bytes));

  double worst = check_groups(&a, &b, &c, ends, groups);
  int right = worst <= 1.5;
  printf("device   %s (%s)\n", properties.name, properties.target);
  printf("checked  %d rows of %d groups, %d x %d each, by %u programs in blocks of %d x %d x %d, "
         "%.2f of the error that rounding explains: %s\n",
         m, groups, k, n, grid.x, s.m, s.n, s.k, worst, right ? "right" : "WRONG");
  tile_kernel_close(kernel);
  struct matrix all[3] = {a, b, c};
  for (int i = 0; i < 3; i++) {
    tile_free(device, all[i].device);
    free(all[i].host);
  }
  tile_free(device, device_ends);
  free(ends);
  tile_device_close(device);
  return right ? 0 : 1;
}
