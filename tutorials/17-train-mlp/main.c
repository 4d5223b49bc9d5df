/* SPDX-License-Identifier: Apache-2.0 */
/* Trains a network of two layers to read digits that the program draws itself: the forward pass,
 * the gradients and the optimizer's step are one graph, compiled once. usage: train-mlp [STEPS
 * [CURVE.svg]] */
#include <tile/optimizer.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
  do {                                                                                             \
    tile_status status = (call);                                                                   \
    if (status != TILE_OK) {                                                                       \
      fprintf(stderr, "%s: %s\n", tile_status_name(status), tile_error_message());                 \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

enum { SIDE = 9, PIXELS = SIDE * SIDE, HIDDEN = 64, CLASSES = 10, BATCH = 64, MOST = 20 };
enum {
  IMAGES,
  LABELS,
  W1,
  B1,
  W2,
  B2,
  RATE
}; /* inputs of the training graph, then the optimizer's */

/* ---- the digits: 5 x 7 dots, moved, with noise ---- */

static const char *const dots[CLASSES] = {
    " ### #   ##  ### # ###  ##   # ### ", "  #   ##    #    #    #    #   ### ",
    " ### #   #    #  ##  #   #    #####", " ### #   #    #  ##     ##   # ### ",
    "   #   ##  # # #  # #####   #    # ", "######    ####     #    ##   # ### ",
    "  ##  #   #    #### #   ##   # ### ", "#####    #   #   #   #    #    #   ",
    " ### #   ##   # ### #   ##   # ### ", " ### #   ##   # ####    #   #  ##  "};

static float uniform(void) { return (float)rand() / (float)RAND_MAX; }

static void draw(float *image, int digit) {
  int left = rand() % (SIDE - 5), top = rand() % (SIDE - 7);
  for (int i = 0; i < PIXELS; i++)
    image[i] = 0.25f * uniform();
  for (int i = 0; i < 35; i++)
    if (dots[digit][i] == '#')
      image[(top + i / 5) * SIDE + left + i % 5] += 0.5f + 0.4f * uniform();
}

static void draw_batch(float *images, int64_t *labels) {
  for (int i = 0; i < BATCH; i++) {
    labels[i] = rand() % CLASSES;
    draw(images + i * PIXELS, (int)labels[i]);
  }
}

/* ---- the graphs ---- */

static tile_value *input(tile_graph *graph, const char *name, int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  return tile_graph_input(graph, name, TILE_F32, columns ? 2 : 1, shape, NULL);
}

/* Adds the network's inputs and returns the score of each class. */
static tile_value *network(tile_graph *graph, tile_value **in) {
  const int64_t batch = BATCH;
  in[IMAGES] = input(graph, "images", BATCH, PIXELS);
  in[LABELS] = tile_graph_input(graph, "labels", TILE_I64, 1, &batch, NULL);
  in[W1] = input(graph, "w1", HIDDEN, PIXELS);
  in[B1] = input(graph, "b1", HIDDEN, 0);
  in[W2] = input(graph, "w2", CLASSES, HIDDEN);
  in[B2] = input(graph, "b2", CLASSES, 0);
  tile_value *hidden = tile_gelu(tile_linear(in[IMAGES], in[W1], in[B1]));
  return tile_linear(hidden, in[W2], in[B2]);
}

/* The loss as its output; a run also takes one step of AdamW. */
static tile_status build_training(tile_graph *graph) {
  tile_value *in[RATE + 1], *gradients[4];
  tile_operand call[2];
  call[0] = tile_g_tensor(network(graph, in));
  call[1] = tile_g_tensor(in[LABELS]);
  tile_value *loss = tile_graph_apply(graph, "aten.cross_entropy_loss.default", call, 2);
  in[RATE] = tile_graph_input(graph, "rate", TILE_F32, 0, NULL, NULL);
  tile_graph_output(graph, loss);
  tile_status status = tile_graph_gradient(graph, &loss, 1, NULL, in + W1, 4, gradients);
  if (status != TILE_OK)
    return status;
  tile_optimizer adam = tile_optimizer_default(TILE_ADAMW);
  adam.clip_norm = 1;
  return tile_graph_optimize(graph, &adam, in[RATE], in + W1, gradients, 4);
}

/* How many digits are read right. */
static tile_status build_reading(tile_graph *graph) {
  tile_value *in[RATE], *scores = network(graph, in);
  tile_value *right = tile_eq(tile_argmax(scores, 1, 0), in[LABELS]);
  tile_graph_output(graph, tile_sum(tile_convert(right, TILE_F32), NULL, 0, 0));
  return tile_graph_status(graph);
}

/* ---- memory ---- */

struct array {
  int64_t shape[2];
  size_t count;
  tile_tensor tensor;
};

static size_t size_of(const struct array *a) {
  return a->count * (a->tensor.type == TILE_I64 ? sizeof(int64_t) : sizeof(float));
}

/* An array on the device for each input of the program; what the optimizer remembers is zero. */
static int make_arrays(tile_device *device, tile_program *program, struct array *ret) {
  for (size_t i = 0; i < tile_program_input_count(program); i++) {
    tile_tensor_info info;
    TRY(tile_program_input(program, i, &info));
    struct array *a = &ret[i];
    a->count = 1;
    for (int d = 0; d < info.rank; d++)
      a->count *= (size_t)(a->shape[d] = info.shape[d]);
    a->tensor.type = info.type;
    a->tensor.rank = info.rank;
    a->tensor.shape = a->shape;
    float *host = calloc(a->count, sizeof(int64_t));
    if (!host)
      return 1;
    if (i == W1 || i == W2) /* weights: uniform, by the number of inputs */
      for (size_t k = 0; k < a->count; k++)
        host[k] = (2 * uniform() - 1) / sqrtf((float)a->shape[1]);
    TRY(tile_malloc(device, size_of(a), &a->tensor.data));
    TRY(tile_copy_to_device(device, NULL, a->tensor.data, host, size_of(a)));
    free(host);
  }
  return 0;
}

struct trainer {
  tile_device *device;
  tile_graph *graphs[2];
  tile_program *training, *reading;
  struct array in[MOST];
  float images[BATCH * PIXELS];
  int64_t labels[BATCH];
  void *result; /* one number, on the device */
};

static int make(struct trainer *t) {
  TRY(tile_device_open("auto", &t->device));
  for (int i = 0; i < 2; i++) {
    TRY(tile_graph_create(i ? "reading" : "training", &t->graphs[i]));
    TRY(i ? build_reading(t->graphs[i]) : build_training(t->graphs[i]));
    TRY(tile_program_from_graph(t->device, t->graphs[i], i ? &t->reading : &t->training));
  }
  TRY(tile_malloc(t->device, sizeof(float), &t->result));
  return make_arrays(t->device, t->training, t->in);
}

/* ---- training ---- */

/* Runs a program on a batch; both read the same arrays, and training writes the weights. */
static int run(struct trainer *t, tile_program *program, float *ret) {
  tile_tensor in[MOST], out = {0};
  size_t count = tile_program_input_count(program);
  draw_batch(t->images, t->labels);
  TRY(tile_copy_to_device(t->device, NULL, t->in[IMAGES].tensor.data, t->images, sizeof t->images));
  TRY(tile_copy_to_device(t->device, NULL, t->in[LABELS].tensor.data, t->labels, sizeof t->labels));
  for (size_t i = 0; i < count; i++)
    in[i] = t->in[i].tensor;
  out.data = t->result;
  out.type = TILE_F32;
  TRY(tile_program_run(program, NULL, 0, in, count, &out, 1));
  TRY(tile_copy_to_host(t->device, NULL, ret, t->result, sizeof *ret));
  return 0;
}

/* The losses as a curve. */
static void draw_point(FILE *curve, int step, int steps, float loss) {
  if (curve && step == 0)
    fprintf(curve, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-10 -10 620 320'>\n"
                   "<polyline fill='none' stroke='black' points='");
  if (curve)
    fprintf(curve, "%.1f,%.1f ", 600.0 * step / steps, 300 - 100 * (double)loss);
  if (curve && step + 1 == steps)
    fprintf(curve, "'/>\n</svg>\n");
}

/* The rate falls to zero along half a cosine. */
static int train(struct trainer *t, int steps, FILE *curve) {
  for (int step = 0; step < steps; step++) {
    float loss, rate = 0.01f * (1 + cosf(3.14159265f * (float)step / (float)steps)) / 2;
    TRY(tile_copy_to_device(t->device, NULL, t->in[RATE].tensor.data, &rate, sizeof rate));
    if (run(t, t->training, &loss))
      return 1;
    draw_point(curve, step, steps, loss);
    if (step % 100 == 0 || step + 1 == steps)
      printf("step %d: loss %.4f\n", step, (double)loss);
  }
  return 0;
}

static int read_digits(struct trainer *t, double *ret) {
  enum { BATCHES = 8 };
  float right, sum = 0;
  for (int i = 0; i < BATCHES; i++, sum += right)
    if (run(t, t->reading, &right))
      return 1;
  *ret = (double)sum / (BATCHES * BATCH);
  return 0;
}

int main(int argc, char **argv) {
  static struct trainer t;
  tile_program_properties properties;
  double before, after;
  int steps = argc > 1 ? atoi(argv[1]) : 300;
  FILE *curve = argc > 2 ? fopen(argv[2], "w") : NULL;
  if (steps < 1 || make(&t) || read_digits(&t, &before) || train(&t, steps, curve) ||
      read_digits(&t, &after))
    return 1;
  TRY(tile_program_get_properties(t.training, &properties));
  if (curve)
    fclose(curve);
  printf("%zu launches a step; new digits read right: %.1f %% before, %.1f %% after\n",
         properties.launches, 100 * before, 100 * after);
  for (size_t i = 0; i < tile_program_input_count(t.training); i++)
    tile_free(t.device, t.in[i].tensor.data);
  tile_free(t.device, t.result);
  tile_program_close(t.training);
  tile_program_close(t.reading);
  tile_device_close(t.device);
  tile_graph_destroy(t.graphs[0]);
  tile_graph_destroy(t.graphs[1]);
  return after > 0.95 && before < 0.5 ? 0 : 1;
}
