/* SPDX-License-Identifier: Apache-2.0 */
/* A classifier written as a C function on tensors. First built as a graph and run as a program,
 * then captured, and called with batches of several sizes; checked against double precision. usage:
 * graph-from-c [FEATURES CLASSES] */
#include <tile/graph.h>

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

enum { X, NORM_WEIGHT, NORM_BIAS, WEIGHT, BIAS, INPUTS, MOST_ROWS = 200 };

/* softmax(linear(gelu(layer_norm(x)))). The values are symbolic: each call appends an
 * operator. */
static tile_status classify(tile_graph *graph, tile_value *const *in, size_t in_count,
                            tile_value **out, size_t out_count, void *user) {
  (void)user;
  if (in_count != INPUTS || out_count != 1)
    return TILE_INVALID_ARGUMENT;
  tile_value *normed = tile_layer_norm(in[X], in[NORM_WEIGHT], in[NORM_BIAS], 1e-5);
  out[0] = tile_softmax(tile_linear(tile_gelu(normed), in[WEIGHT], in[BIAS]), -1);
  return tile_graph_status(graph);
}

/* ---- tensors ---- */

struct array {
  int64_t shape[2];
  int rank;
  float *host;
  void *device;
};

struct model {
  int64_t features, classes;
  struct array in[INPUTS], out;
};

static size_t count(const struct array *a) {
  return (size_t)(a->shape[0] * (a->rank == 2 ? a->shape[1] : 1));
}

static tile_tensor tensor(const struct array *a) {
  tile_tensor t = {0};
  t.data = a->device;
  t.type = TILE_F32;
  t.rank = a->rank;
  t.shape = a->shape;
  return t;
}

static int make(tile_device *device, struct array *a, int rank, int64_t first, int64_t second) {
  a->rank = rank;
  a->shape[0] = first;
  a->shape[1] = second;
  a->host = malloc(count(a) * sizeof *a->host);
  if (!a->host)
    return 1;
  for (size_t i = 0; i < count(a); i++)
    a->host[i] = (float)rand() / (float)RAND_MAX * 2.0f - 1.0f;
  TRY(tile_malloc(device, count(a) * sizeof *a->host, &a->device));
  TRY(tile_copy_to_device(device, NULL, a->device, a->host, count(a) * sizeof *a->host));
  return 0;
}

static int make_all(tile_device *device, struct model *m) {
  return make(device, &m->in[X], 2, MOST_ROWS, m->features) ||
         make(device, &m->in[NORM_WEIGHT], 1, m->features, 0) ||
         make(device, &m->in[NORM_BIAS], 1, m->features, 0) ||
         make(device, &m->in[WEIGHT], 2, m->classes, m->features) ||
         make(device, &m->in[BIAS], 1, m->classes, 0) ||
         make(device, &m->out, 2, MOST_ROWS, m->classes);
}

/* ---- the same in double precision ---- */

static void features_of(const struct model *m, const float *x, double *ret) {
  double mean = 0, variance = 0, n = (double)m->features;
  for (int64_t i = 0; i < m->features; i++)
    mean += (double)x[i] / n;
  for (int64_t i = 0; i < m->features; i++)
    variance += ((double)x[i] - mean) * ((double)x[i] - mean) / n;
  for (int64_t i = 0; i < m->features; i++) {
    double v = ((double)x[i] - mean) / sqrt(variance + 1e-5);
    v = v * (double)m->in[NORM_WEIGHT].host[i] + (double)m->in[NORM_BIAS].host[i];
    ret[i] = 0.5 * v * (1 + erf(v / sqrt(2)));
  }
}

/* The largest difference in a row; `work` has room for features and classes. */
static double row_error(const struct model *m, int64_t row, double *work) {
  double *scores = work + m->features, most = -INFINITY, sum = 0, worst = 0;
  features_of(m, m->in[X].host + row * m->features, work);
  for (int64_t c = 0; c < m->classes; c++) {
    scores[c] = (double)m->in[BIAS].host[c];
    for (int64_t i = 0; i < m->features; i++)
      scores[c] += work[i] * (double)m->in[WEIGHT].host[c * m->features + i];
    most = fmax(most, scores[c]);
  }
  for (int64_t c = 0; c < m->classes; c++)
    sum += exp(scores[c] - most);
  for (int64_t c = 0; c < m->classes; c++) {
    double error = fabs((double)m->out.host[row * m->classes + c] - exp(scores[c] - most) / sum);
    if (!(error <= worst)) /* NaN counts */
      worst = error;
  }
  return worst;
}

static int check(tile_device *device, struct model *m, const char *what) {
  double *work = malloc((size_t)(m->features + m->classes) * sizeof *work), worst = 0;
  if (!work)
    return 1;
  tile_status s = tile_copy_to_host(device, NULL, m->out.host, m->out.device,
                                    count(&m->out) * sizeof *m->out.host);
  for (int64_t row = 0; s == TILE_OK && row < m->out.shape[0]; row++) {
    double error = row_error(m, row, work);
    if (!(error <= worst))
      worst = error;
  }
  free(work);
  TRY(s);
  printf("%-8s %3lld rows, largest error %.2g: %s\n", what, (long long)m->out.shape[0], worst,
         worst <= 1e-5 ? "right" : "WRONG");
  return !(worst <= 1e-5);
}

/* Sets the number of rows and clears the results of earlier runs. */
static int begin(tile_device *device, struct model *m, int64_t rows, tile_tensor *inputs) {
  m->in[X].shape[0] = m->out.shape[0] = rows;
  for (int i = 0; i < INPUTS; i++)
    inputs[i] = tensor(&m->in[i]);
  TRY(tile_memset(device, NULL, m->out.device, 0xff, count(&m->out) * sizeof *m->out.host));
  return 0;
}

/* ---- a graph, compiled to a program ---- */

/* `rows` is a symbolic size, whose value each run chooses. */
static int build(const struct model *m, tile_graph *graph) {
  static const char *const names[] = {"x", "norm_weight", "norm_bias", "weight", "bias"};
  tile_value *in[INPUTS], *out[1];
  int64_t rows = tile_graph_size(graph, "rows", 1, MOST_ROWS);
  for (int i = 0; i < INPUTS; i++) {
    int64_t shape[2] = {i == X ? rows : m->in[i].shape[0], m->in[i].shape[1]};
    in[i] = tile_graph_input(graph, names[i], TILE_F32, m->in[i].rank, shape, NULL);
  }
  TRY(classify(graph, in, INPUTS, out, 1, NULL));
  TRY(tile_graph_output(graph, out[0]));
  return 0;
}

static int run_program(tile_device *device, struct model *m, tile_graph *graph) {
  tile_program *program;
  tile_program_properties made;
  tile_tensor inputs[INPUTS], output;
  const char *text;
  int wrong = build(m, graph);
  if (wrong)
    return wrong;
  TRY(tile_graph_text(graph, &text));
  printf("%s", text);
  TRY(tile_program_from_graph(device, graph, &program));
  TRY(tile_program_get_properties(program, &made));
  printf("program  %zu kernels, %zu launches\n", made.kernels, made.launches);
  for (int64_t rows = 1; !wrong && rows <= MOST_ROWS; rows = rows * 7 + 1) {
    wrong = begin(device, m, rows, inputs);
    output = tensor(&m->out);
    if (!wrong)
      TRY(tile_program_run(program, NULL, 0, inputs, INPUTS, &output, 1));
    wrong = wrong || check(device, m, "program");
  }
  tile_program_close(program);
  return wrong;
}

/* ---- the function, captured ---- */

static int call_captured(tile_device *device, struct model *m) {
  tile_captured *captured;
  tile_tensor inputs[INPUTS], output;
  int wrong = 0;
  TRY(tile_captured_create(device, classify, NULL, &captured));
  TRY(tile_captured_mark_dynamic(captured, X, 0, 1, MOST_ROWS));
  for (int64_t rows = MOST_ROWS; !wrong && rows > 0; rows /= 5) {
    wrong = begin(device, m, rows, inputs);
    output = tensor(&m->out);
    if (!wrong)
      TRY(tile_captured_call(captured, NULL, inputs, INPUTS, &output, 1));
    wrong = wrong || check(device, m, "captured");
  }
  size_t variants = tile_captured_variants(captured);
  printf("compiled %zu\n", variants);
  tile_captured_destroy(captured);
  return wrong || variants != 1;
}

int main(int argc, char **argv) {
  struct model m = {0};
  tile_device *device;
  tile_device_properties properties;
  tile_graph *graph;
  m.features = argc > 2 ? atoi(argv[1]) : 96;
  m.classes = argc > 2 ? atoi(argv[2]) : 10;
  if (m.features < 2 || m.classes < 2 || m.features > 4096 || m.classes > 4096) {
    fprintf(stderr, "FEATURES and CLASSES must be 2 to 4096\n");
    return 2;
  }
  TRY(tile_device_open("auto", &device));
  TRY(tile_device_get_properties(device, &properties));
  printf("device   %s (%s)\n", properties.name, properties.target);
  TRY(tile_graph_create("classify", &graph));
  int wrong = make_all(device, &m) || run_program(device, &m, graph) || call_captured(device, &m);
  for (int i = 0; i < INPUTS; i++) {
    tile_free(device, m.in[i].device);
    free(m.in[i].host);
  }
  tile_free(device, m.out.device);
  free(m.out.host);
  tile_graph_destroy(graph);
  tile_device_close(device);
  return wrong;
}
