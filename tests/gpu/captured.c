/* SPDX-License-Identifier: Apache-2.0 */
/* A captured C function on the GPU and on the CPU: a dynamic number of rows shares a variant, other
 * widths, dtypes and strides compile another one, and each call agrees with double
 * precision. */
#include "support.h"

#include <tile/graph.h>

#include <math.h>

enum { X, WEIGHT, BIAS, INPUTS, SCORES = 0, TOP, OUTPUTS };

/* scores = softmax(gelu(x) weight^T + bias), top = the largest score of each column. */
static tile_status classify(tile_graph *graph, tile_value *const *in, size_t in_count,
                            tile_value **out, size_t out_count, void *user) {
  static const int64_t rows[] = {0};
  ++*(int *)user;
  if (in_count != INPUTS || out_count != OUTPUTS)
    return TILE_INVALID_ARGUMENT;
  out[SCORES] = tile_softmax(tile_linear(tile_gelu(in[X]), in[WEIGHT], in[BIAS]), -1);
  out[TOP] = tile_amax(out[SCORES], rows, 1, 0);
  return tile_graph_status(graph);
}

struct sizes {
  int64_t rows, features, classes;
  int x_is_transposed; /* in memory */
};

static double x_at(const struct sizes *n, int64_t row, int64_t f) {
  return (double)sample((unsigned)(n->x_is_transposed ? f * n->rows + row : row * n->features + f));
}

static void scores_of(const struct sizes *n, int64_t row, double *ret) {
  double most = -INFINITY, sum = 0;
  for (int64_t c = 0; c < n->classes; c++) {
    ret[c] = (double)sample((unsigned)c + 7000000u);
    for (int64_t f = 0; f < n->features; f++) {
      double x = x_at(n, row, f);
      ret[c] += 0.5 * x * (1 + erf(x / sqrt(2))) *
                (double)sample((unsigned)(c * n->features + f) + 9000000u);
    }
    most = fmax(most, ret[c]);
  }
  for (int64_t c = 0; c < n->classes; c++)
    sum += ret[c] = exp(ret[c] - most);
  for (int64_t c = 0; c < n->classes; c++)
    ret[c] /= sum;
}

static void compare(const struct sizes *n, const float *scores, const float *top) {
  double *want = malloc((size_t)n->classes * sizeof *want);
  double *most = calloc((size_t)n->classes, sizeof *most);
  REQUIRE(want && most);
  for (int64_t row = 0; row < n->rows; row++) {
    scores_of(n, row, want);
    for (int64_t c = 0; c < n->classes; c++) {
      REQUIRE(fabs((double)scores[row * n->classes + c] - want[c]) <= 2e-5);
      most[c] = fmax(most[c], want[c]);
    }
  }
  for (int64_t c = 0; c < n->classes; c++)
    REQUIRE(fabs((double)top[c] - most[c]) <= 2e-5);
  free(want);
  free(most);
}

static float *samples(size_t count, unsigned seed) {
  float *p = malloc((count + 1) * sizeof *p);
  REQUIRE(p != NULL);
  for (size_t i = 0; i < count; i++)
    p[i] = sample((unsigned)i + seed);
  return p;
}

static void *uploaded(tile_device *device, size_t count, unsigned seed) {
  float *host = samples(count, seed);
  void *p = device_buffer(device, host, count * sizeof *host);
  free(host);
  return p;
}

static tile_tensor tensor(void *data, int rank, const int64_t *shape) {
  tile_tensor t = {0};
  t.data = data;
  t.type = TILE_F32;
  t.rank = rank;
  t.shape = shape;
  return t;
}

/* Makes one call and compares its results. */
static void call(tile_device *device, tile_stream *stream, tile_captured *f,
                 const struct sizes *n) {
  size_t scores = (size_t)(n->rows * n->classes), classes = (size_t)n->classes;
  int64_t x_shape[2], w_shape[2], out_shape[2], x_strides[2];
  tile_tensor in[INPUTS], out[OUTPUTS];
  x_shape[0] = out_shape[0] = n->rows;
  x_shape[1] = w_shape[1] = n->features;
  w_shape[0] = out_shape[1] = n->classes;
  x_strides[0] = 1;
  x_strides[1] = n->rows;
  in[X] = tensor(uploaded(device, (size_t)(n->rows * n->features), 0), 2, x_shape);
  in[X].strides = n->x_is_transposed ? x_strides : NULL;
  in[WEIGHT] = tensor(uploaded(device, (size_t)(n->classes * n->features), 9000000u), 2, w_shape);
  in[BIAS] = tensor(uploaded(device, classes, 7000000u), 1, w_shape);
  out[SCORES] = tensor(device_buffer(device, NULL, scores * sizeof(float)), 2, out_shape);
  out[TOP] = tensor(device_buffer(device, NULL, classes * sizeof(float)), 1, w_shape);
  float *got = malloc((scores + classes) * sizeof *got);
  REQUIRE(got != NULL);
  TRY(tile_stream_synchronize(device, NULL)); /* what was uploaded is there for the other stream */
  TRY(tile_captured_call(f, stream, in, INPUTS, out, OUTPUTS));
  TRY(tile_copy_to_host(device, stream, got, out[SCORES].data, scores * sizeof *got));
  TRY(tile_copy_to_host(device, stream, got + scores, out[TOP].data, classes * sizeof *got));
  TRY(tile_stream_synchronize(device, stream));
  compare(n, got, got + scores);
  free(got);
  for (int i = 0; i < INPUTS; i++)
    tile_free(device, in[i].data);
  for (int i = 0; i < OUTPUTS; i++)
    tile_free(device, out[i].data);
}

struct step {
  struct sizes sizes;
  size_t variants; /* compiled when it is over */
};

static void run(tile_device *device) {
  static const struct step steps[] = {
      {{33, 64, 40, 0}, 1},  {{200, 64, 40, 0}, 1}, /* rows are dynamic */
      {{1, 64, 40, 0}, 1},   {{33, 96, 40, 0}, 2},  /* another width */
      {{64, 96, 40, 1}, 3},                         /* other strides */
      {{33, 64, 40, 0}, 3},                         /* the first one is still there */
      {{700, 64, 40, 0}, 4},                        /* beyond the range: a size of its own */
  };
  tile_captured *f = NULL;
  tile_stream *stream = NULL;
  tile_device_properties properties;
  int runs = 0;
  TRY(tile_device_get_properties(device, &properties));
  TRY(tile_stream_create(device, &stream));
  TRY(tile_captured_create(device, classify, &runs, &f));
  TRY(tile_captured_mark_dynamic(f, X, 0, 1, 512));
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    call(device, stream, f, &steps[i].sizes);
    REQUIRE(tile_captured_variants(f) == steps[i].variants);
    REQUIRE((size_t)runs == steps[i].variants);
    printf("%s: %lld rows of %lld: right, %d variants\n", properties.name,
           (long long)steps[i].sizes.rows, (long long)steps[i].sizes.features, runs);
  }
  tile_captured_destroy(f);
  tile_stream_destroy(stream);
}

int main(void) {
  tile_device *device = open_gpu(), *host = NULL;
  run(device);
  tile_device_close(device);
  TRY(tile_device_open("cpu", &host));
  run(host);
  tile_device_close(host);
  return 0;
}
