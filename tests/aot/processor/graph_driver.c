/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a graph's C program on the processor and compares it with arrays in files.
 * Compiled with -DNAME=name -DHEADER='"name.h"' -DSIZES=n, the number of the program's sizes.
 * usage: driver make FOLDER SIZE...     writes the inputs as FOLDER/INPUT.npy, and prints the
 * options of tilec that read them and write the outputs driver check FOLDER SIZE...    compares
 * with FOLDER/OUTPUT.npy, which tilec wrote Integers in inputs are 0 or 1, floats from -1 to 1.
 * Written inputs are compared too. */
#include HEADER

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define OF(part) JOIN(NAME, part)

enum { INPUTS = OF(_INPUTS), OUTPUTS = OF(_OUTPUTS) };

static int64_t sizes[SIZES + 1];

static void fail(const char *what, const char *name) {
  fprintf(stderr, "%s: %s\n", name, what);
  exit(1);
}

static void require(tile_status s, const char *what) {
  if (s != TILE_OK)
    fail(tile_error_message(), what);
}

/* Every dynamic dimension of these graphs is the first size. */
static int64_t extent(const struct OF(_tensor) * t, int dim) {
  return t->shape[dim] < 0 ? sizes[0] : t->shape[dim];
}

static size_t count_of(const struct OF(_tensor) * t) {
  size_t n = 1;
  for (int i = 0; i < t->rank; i++)
    n *= (size_t)extent(t, i);
  return n;
}

static size_t width(const struct OF(_tensor) * t) {
  switch (t->type) {
  case TILE_F32: return 4;
  case TILE_BF16: return 2;
  case TILE_I64: return 8;
  case TILE_I1: return 1;
  default: fail("a type that this driver does not know", t->name); return 0;
  }
}

static double element(const struct OF(_tensor) * t, const unsigned char *data, size_t i) {
  float f;
  uint32_t bits = 0;
  int64_t n;
  switch (t->type) {
  case TILE_F32: memcpy(&f, data + 4 * i, 4); return (double)f;
  case TILE_BF16:
    bits = (uint32_t)data[2 * i] << 16 | (uint32_t)data[2 * i + 1] << 24;
    memcpy(&f, &bits, 4);
    return (double)f;
  case TILE_I64: memcpy(&n, data + 8 * i, 8); return (double)n;
  default: return data[i];
  }
}

static uint32_t state = 7;
static void fill(const struct OF(_tensor) * t, unsigned char *data) {
  for (size_t i = 0; i < count_of(t); i++) {
    state = state * 1664525u + 1013904223u;
    float f = (float)((double)(state >> 8) / (1 << 23) - 1);
    uint32_t bits;
    memcpy(&bits, &f, 4);
    int64_t n = f > 0;
    switch (t->type) {
    case TILE_F32: memcpy(data + 4 * i, &f, 4); break;
    case TILE_BF16:
      data[2 * i] = (unsigned char)(bits >> 16);
      data[2 * i + 1] = (unsigned char)(bits >> 24);
      break;
    case TILE_I64: memcpy(data + 8 * i, &n, 8); break;
    default: data[i] = (unsigned char)n;
    }
  }
}

/* ---- files: NumPy's .npy version 1.0; bf16 as the extension type that tilec writes ---- */

static FILE *open_file(const char *folder, const char *name, const char *how) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.npy", folder, name);
  FILE *f = fopen(path, how);
  if (!f)
    fail("cannot be opened", path);
  return f;
}

static void write_array(const char *folder, const struct OF(_tensor) * t, const void *data) {
  char header[256];
  const char *type = t->type == TILE_F32    ? "<f4"
                     : t->type == TILE_BF16 ? "<u2"
                     : t->type == TILE_I64  ? "<i8"
                                            : "|b1";
  int n =
      snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
  for (int i = 0; i < t->rank; i++)
    n += snprintf(header + n, sizeof header - (size_t)n, "%lld,", (long long)extent(t, i));
  n += snprintf(header + n, sizeof header - (size_t)n, "), }");
  int padded = (10 + n + 1 + 63) / 64 * 64 - 10;
  FILE *f = open_file(folder, t->name, "wb");
  fprintf(f, "\x93NUMPY%c%c%c%c%s%*s\n", 1, 0, padded & 255, padded >> 8, header, padded - n - 1,
          "");
  fwrite(data, width(t), count_of(t), f);
  fclose(f);
}

static void compare(const char *folder, const struct OF(_tensor) * t, const unsigned char *data) {
  size_t bytes = count_of(t) * width(t), wrong = 0;
  unsigned char start[10], *want = malloc(bytes + 1);
  FILE *f = open_file(folder, t->name, "rb");
  if (!want || fread(start, 1, 10, f) != 10 || fseek(f, 10 + start[8] + 256 * start[9], SEEK_SET) ||
      fread(want, 1, bytes + 1, f) != bytes)
    fail("the file has another size", t->name);
  fclose(f);
  for (size_t i = 0; i < count_of(t); i++) {
    double a = element(t, data, i), b = element(t, want, i);
    wrong += !(fabs(a - b) <= (t->type == TILE_BF16 ? 1e-2 : 1e-5) * (1 + fabs(b)));
  }
  free(want);
  if (wrong)
    fail("elements differ", t->name);
  printf("%s: %zu elements\n", t->name, count_of(t));
}

int main(int argc, char **argv) {
  tile_device *device = NULL;
  struct NAME *program = NULL;
  void *inputs[INPUTS + 1], *outputs[OUTPUTS + 1] = {NULL};
  if (argc != 3 + SIZES)
    fail("usage: driver make|check FOLDER SIZE...", argv[0]);
  for (int i = 0; i < SIZES; i++)
    sizes[i] = atoll(argv[3 + i]);
  require(tile_device_open("cpu", &device), "tile_device_open");
  for (int i = 0; i < INPUTS; i++) {
    const struct OF(_tensor) *t = &OF(_inputs)[i];
    require(tile_malloc(device, count_of(t) * width(t), &inputs[i]), t->name);
    fill(t, inputs[i]);
    if (strcmp(argv[1], "make") == 0) {
      write_array(argv[2], t, inputs[i]);
      printf("--arg %s=@%s/%s.npy ", t->name, argv[2], t->name);
    }
  }
  if (strcmp(argv[1], "make") == 0) {
    for (int i = 0; i < OUTPUTS; i++)
      if (OF(_outputs)[i].rank >= 0)
        printf("--out %s=@%s/%s.npy ", OF(_outputs)[i].name, argv[2], OF(_outputs)[i].name);
    return 0;
  }
  require(OF(_open)(device, &program), "open");
  for (int i = 0; i < OUTPUTS; i++)
    if (OF(_outputs)[i].rank >= 0)
      require(
          tile_malloc(device, count_of(&OF(_outputs)[i]) * width(&OF(_outputs)[i]), &outputs[i]),
          "tile_malloc");
#if SIZES
  require(OF(_run)(program, NULL, 0, sizes, inputs, outputs), "run");
#else
  require(OF(_run)(program, NULL, 0, inputs, outputs), "run");
#endif
  for (int i = 0; i < OUTPUTS; i++)
    if (OF(_outputs)[i].rank >= 0)
      compare(argv[2], &OF(_outputs)[i], outputs[i]);
  OF(_close)(program);
  tile_device_close(device);
  return 0;
}
