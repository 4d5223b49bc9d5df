/* SPDX-License-Identifier: Apache-2.0 */
/* Times opening a pack, getting its functions, and loading them (the tests' fake driver takes no
 * time). Prints medians. usage: pack-load FILE.tpk */
#include <tile/pack.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPEATS = 1001, MAX_FUNCTIONS = 64 };

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values) {
  qsort(values, REPEATS, sizeof *values, by_value);
  return values[REPEATS / 2];
}

static void check(tile_status status) {
  if (status == TILE_OK)
    return;
  fprintf(stderr, "%s: %s\n", tile_status_name(status), tile_error_message());
  exit(1);
}

int main(int argc, char **argv) {
  static double open_us[REPEATS], get_us[REPEATS], load_us[REPEATS];
  tile_device *device = NULL;
  tile_device_properties properties;
  size_t count = 0;
  if (argc != 2)
    return 2;
  if (tile_device_open("cuda", &device) != TILE_OK) {
    printf("skipped: %s\n", tile_error_message());
    return 77;
  }
  check(tile_device_get_properties(device, &properties));
  for (int i = 0; i < REPEATS; i++) {
    tile_pack *pack = NULL;
    tile_function *functions[MAX_FUNCTIONS];
    double start = now_us();
    check(tile_pack_open(argv[1], &pack));
    double opened = now_us();
    count = tile_pack_count(pack);
    for (size_t f = 0; f < count && f < MAX_FUNCTIONS; f++)
      check(tile_pack_get_function(pack, device, tile_pack_name(pack, f), &functions[f]));
    double got = now_us();
    for (size_t f = 0; f < count && f < MAX_FUNCTIONS; f++)
      check(tile_function_prepare(functions[f]));
    load_us[i] = now_us() - got;
    get_us[i] = got - opened;
    open_us[i] = opened - start;
    for (size_t f = 0; f < count && f < MAX_FUNCTIONS; f++)
      tile_function_close(functions[f]);
    tile_pack_close(pack);
  }
  printf("%s: %zu functions of %s: open %.1f us, get all %.1f us, load all %.1f us\n",
         properties.name, count, argv[1], median(open_us), median(get_us), median(load_us));
  tile_device_close(device);
  return 0;
}
