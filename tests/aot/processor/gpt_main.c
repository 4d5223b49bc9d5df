/* SPDX-License-Identifier: Apache-2.0 */
/* The C program of gpt.py, by libtile-rt alone: compares the logits with a transformer in double
 * precision, for new inputs each round, and prints a hash of their bits. Ends with status 77 if the
 * processor has none of the pack's instruction sets. */
#include "gpt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 2, T = 24, ROWS = BATCHES * T, C = 48, HEADS = 3, D = 16, V = 101, UP = 4 * C };
enum {
  TOKENS,
  WTE,
  WPE,
  LN1_W,
  LN1_B,
  QKV_W,
  QKV_B,
  PROJ_W,
  PROJ_B,
  LN2_W,
  LN2_B,
  UP_W,
  UP_B,
  DOWN_W,
  DOWN_B
};

static void *inputs[gpt_INPUTS];

static void require(tile_status s) {
  if (s == TILE_OK)
    return;
  fprintf(stderr, "%s\n", tile_error_message());
  exit(s == TILE_NOT_FOUND ? 77 : 1);
}

static double in(int input, int i) { return (double)((const float *)inputs[input])[i]; }

/* ---- the reference ---- */

static void norm(double *x, int weight) { /* of each row */
  for (int r = 0; r < ROWS; r++, x += C) {
    double mean = 0, square = 0;
    for (int i = 0; i < C; i++)
      mean += x[i] / C;
    for (int i = 0; i < C; i++)
      square += (x[i] - mean) * (x[i] - mean) / C;
    for (int i = 0; i < C; i++)
      x[i] = (x[i] - mean) / sqrt(square + 1e-5) * in(weight, i) + in(weight + 1, i);
  }
}

static void linear(const double *x, int k, int weight, int n, double *y) {
  for (int r = 0; r < ROWS; r++)
    for (int j = 0; j < n; j++) {
      double sum = in(weight + 1, j);
      for (int i = 0; i < k; i++)
        sum += x[r * k + i] * in(weight, i * n + j);
      y[r * n + j] = sum;
    }
}

/* The head's column d of row r: of queries, keys (part 1), values (part 2). */
static double part_of(const double *qkv, int r, int part, int head, int d) {
  return qkv[r * 3 * C + part * C + head * D + d];
}

static void attend(const double *qkv, int row, int head, double *out) {
  double scores[T], sum = 0;
  int first = row / T * T, count = row % T + 1; /* causal */
  for (int j = 0; j < count; j++) {
    double score = 0;
    for (int d = 0; d < D; d++)
      score += part_of(qkv, row, 0, head, d) * part_of(qkv, first + j, 1, head, d);
    sum += scores[j] = exp(score / sqrt(D));
  }
  for (int d = 0; d < D; d++) {
    double value = 0;
    for (int j = 0; j < count; j++)
      value += scores[j] / sum * part_of(qkv, first + j, 2, head, d);
    out[row * C + head * D + d] = value;
  }
}

static double gelu(double x) {
  return 0.5 * x * (1 + tanh(sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}

static void transformer(double *logits) {
  static double x[ROWS * C], h[ROWS * C], qkv[ROWS * 3 * C], attention[ROWS * C], up[ROWS * UP];
  const int64_t *tokens = inputs[TOKENS];
  for (int i = 0; i < ROWS * C; i++)
    x[i] = in(WTE, (int)tokens[i / C] * C + i % C) + in(WPE, i % (T * C));
  memcpy(h, x, sizeof h);
  norm(h, LN1_W);
  linear(h, C, QKV_W, 3 * C, qkv);
  for (int i = 0; i < ROWS * HEADS; i++)
    attend(qkv, i / HEADS, i % HEADS, attention);
  linear(attention, C, PROJ_W, C, h);
  for (int i = 0; i < ROWS * C; i++)
    h[i] = x[i] += h[i];
  norm(h, LN2_W);
  linear(h, C, UP_W, UP, up);
  for (int i = 0; i < ROWS * UP; i++)
    up[i] = gelu(up[i]);
  linear(up, UP, DOWN_W, C, h);
  for (int i = 0; i < ROWS * V; i++) {
    logits[i] = 0;
    for (int k = 0; k < C; k++)
      logits[i] += (x[i / V * C + k] + h[i / V * C + k]) * in(WTE, i % V * C + k);
  }
}

/* ---- the program ---- */

static uint32_t state = 1;
static double next(void) { /* from -1 to 1 */
  state = state * 1664525u + 1013904223u;
  return (double)(state >> 8) / (1 << 23) - 1;
}

static void fill_inputs(void) {
  for (int i = 0; i < gpt_INPUTS; i++) {
    int64_t *tokens = inputs[i];
    float *x = inputs[i];
    int count = (int)(gpt_inputs[i].bytes / (i == TOKENS ? sizeof *tokens : sizeof *x));
    for (int k = 0; k < count; k++)
      if (i == TOKENS)
        tokens[k] = (int64_t)((next() + 1) * (V - 1) / 2);
      else
        x[k] = (float)(next() * (i == LN1_W || i == LN2_W ? 2 : 0.5));
  }
}

static int check(const float *logits) {
  static double want[ROWS * V];
  double worst = 0, largest = 0;
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  transformer(want);
  for (int i = 0; i < ROWS * V; i++) {
    worst = fmax(worst, isnan(logits[i]) ? HUGE_VAL : fabs((double)logits[i] - want[i]));
    largest = fmax(largest, fabs(want[i]));
  }
  for (size_t i = 0; i < (size_t)ROWS * V * sizeof *logits; i++)
    hash = (hash ^ ((const unsigned char *)logits)[i]) * 1099511628211u;
  printf("logits %016llx\n", (unsigned long long)hash);
  if (worst <= 2e-6 * largest)
    return 0;
  fprintf(stderr, "the largest difference is %g, of %g\n", worst, largest);
  return 1;
}

int main(void) {
  tile_device *device = NULL;
  struct gpt *program = NULL;
  void *logits = NULL;
  int failed = 0;
  require(tile_device_open("cpu", &device));
  require(gpt_open(device, &program));
  for (int i = 0; i < gpt_INPUTS; i++)
    require(tile_malloc(device, gpt_inputs[i].bytes, &inputs[i]));
  require(tile_malloc(device, gpt_outputs[0].bytes, &logits));
  for (int round = 0; round < 3 && !failed; round++) {
    fill_inputs();
    require(gpt_run(program, NULL, 0, inputs, &logits));
    failed = check(logits);
  }
  gpt_close(program);
  tile_device_close(device);
  return failed;
}
