/* SPDX-License-Identifier: Apache-2.0 */
/* A transformer block as PyTorch prints it: opened, run, recorded, replayed with other data,
 * and checked against double precision. usage: graph-from-fx [MODEL.py] */
#include <tile/program.h>

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

/* The inputs in the order of the text, then the output. */
enum { X, NORM_WEIGHT, NORM_BIAS, UP, UP_BIAS, DOWN, DOWN_BIAS, INPUTS, OUT = INPUTS, ALL };

/* A tensor in host and device memory. */
struct array {
  tile_tensor_info info; /* `device` points to its shape and strides */
  tile_tensor device;
  float *host;
  size_t count;
};

static int send(tile_device *device, const struct array *a) {
  TRY(tile_copy_to_device(device, NULL, a->device.data, a->host, a->count * sizeof *a->host));
  return 0;
}

static void fill(struct array *a, float scale) {
  for (size_t i = 0; i < a->count; i++)
    a->host[i] = scale * ((float)rand() / (float)RAND_MAX * 2.0f - 1.0f);
}

/* Allocates memory for `a->info`. */
static int make(tile_device *device, struct array *a, float scale) {
  if (a->info.type != TILE_F32) {
    fprintf(stderr, "`%s` is not of f32\n", a->info.name);
    return 1;
  }
  a->count = 1;
  for (int d = 0; d < a->info.rank; d++)
    a->count *= (size_t)a->info.shape[d];
  a->host = malloc(a->count * sizeof *a->host);
  if (!a->host)
    return 1;
  TRY(tile_malloc(device, a->count * sizeof *a->host, &a->device.data));
  a->device.type = a->info.type;
  a->device.rank = a->info.rank;
  a->device.shape = a->info.shape;
  a->device.strides = a->info.strides;
  fill(a, scale);
  return send(device, a);
}

static int is_shape(const struct array *a, int rank, int64_t first, int64_t second) {
  return a->info.rank == rank && a->info.shape[0] == first &&
         (rank < 2 || a->info.shape[1] == second);
}

/* Whether inputs and outputs have the shapes of such a block. */
static int fits(const struct array *all) {
  int64_t rows = all[X].info.shape[0], width = all[X].info.shape[1], hidden = all[UP].info.shape[0];
  return rows > 0 && width > 0 && hidden > 0 && is_shape(&all[X], 2, rows, width) &&
         is_shape(&all[NORM_WEIGHT], 1, width, 0) && is_shape(&all[NORM_BIAS], 1, width, 0) &&
         is_shape(&all[UP], 2, hidden, width) && is_shape(&all[UP_BIAS], 1, hidden, 0) &&
         is_shape(&all[DOWN], 2, width, hidden) && is_shape(&all[DOWN_BIAS], 1, width, 0) &&
         is_shape(&all[OUT], 2, rows, width);
}

/* Allocates the inputs and outputs with the shapes that the program reports. */
static int make_all(tile_device *device, tile_program *program, struct array *all) {
  int is_known =
      tile_program_input_count(program) == INPUTS && tile_program_output_count(program) == 1;
  for (size_t i = 0; is_known && i < INPUTS; i++)
    TRY(tile_program_input(program, i, &all[i].info));
  if (is_known)
    TRY(tile_program_output(program, 0, &all[OUT].info));
  if (!is_known || !fits(all)) {
    fprintf(stderr, "not a graph that this program knows how to check\n");
    return 1;
  }
  for (size_t i = 0; i < ALL; i++)
    if (make(device, &all[i], i == X ? 1.0f : 0.25f))
      return 1;
  return 0;
}

/* ---- the block in double precision ---- */

static void norm_row(const struct array *all, const float *x, size_t width, double *out) {
  double mean = 0, variance = 0;
  for (size_t i = 0; i < width; i++)
    mean += (double)x[i] / (double)width;
  for (size_t i = 0; i < width; i++)
    variance += ((double)x[i] - mean) * ((double)x[i] - mean) / (double)width;
  for (size_t i = 0; i < width; i++)
    out[i] = ((double)x[i] - mean) / sqrt(variance + 1e-5) * (double)all[NORM_WEIGHT].host[i] +
             (double)all[NORM_BIAS].host[i];
}

static double linear(const float *weight, float bias, const double *x, size_t width) {
  double sum = (double)bias;
  for (size_t i = 0; i < width; i++)
    sum += (double)weight[i] * x[i];
  return sum;
}

/* The largest difference to x + down(gelu(up(norm(x)))); NaN counts. */
static double worst_error(const struct array *all) {
  size_t rows = (size_t)all[X].info.shape[0], width = (size_t)all[X].info.shape[1];
  size_t hidden = (size_t)all[UP].info.shape[0];
  double *normed = malloc((width + hidden) * sizeof *normed), *middle = normed + width, worst = 0;
  if (!normed)
    return INFINITY;
  for (size_t row = 0; row < rows; row++) {
    const float *x = all[X].host + row * width;
    norm_row(all, x, width, normed);
    for (size_t h = 0; h < hidden; h++) {
      double u = linear(all[UP].host + h * width, all[UP_BIAS].host[h], normed, width);
      middle[h] = 0.5 * u * (1 + erf(u / sqrt(2)));
    }
    for (size_t i = 0; i < width; i++) {
      double down = linear(all[DOWN].host + i * hidden, all[DOWN_BIAS].host[i], middle, hidden);
      double error = fabs((double)all[OUT].host[row * width + i] - ((double)x[i] + down));
      if (!(error <= worst))
        worst = error;
    }
  }
  free(normed);
  return worst;
}

static int check(tile_device *device, tile_stream *stream, struct array *all, const char *what) {
  struct array *out = &all[OUT];
  TRY(tile_copy_to_host(device, stream, out->host, out->device.data,
                        out->count * sizeof *out->host));
  double worst = worst_error(all);
  printf("%-8s largest error %.2g: %s\n", what, worst, worst <= 2e-5 ? "right" : "WRONG");
  return !(worst <= 2e-5);
}

/* ---- the program ---- */

/* Runs once; then records, and replays with new data at the same addresses. */
static int run_and_replay(tile_device *device, tile_program *program, struct array *all) {
  tile_stream *stream;
  tile_replay *replay;
  tile_tensor inputs[INPUTS];
  for (size_t i = 0; i < INPUTS; i++)
    inputs[i] = all[i].device;
  TRY(tile_stream_create(device, &stream));
  TRY(tile_program_run(program, stream, 0, inputs, INPUTS, &all[OUT].device, 1));
  int wrong = check(device, stream, all, "run");

  TRY(tile_program_record(program, stream, 0, inputs, INPUTS, &all[OUT].device, 1, &replay));
  for (int run = 0; run < 2 && !wrong; run++) {
    fill(&all[X], 1.0f);
    if (send(device, &all[X]))
      return 1;
    TRY(tile_replay_run(replay, stream));
    wrong = check(device, stream, all, "replay");
  }
  tile_replay_destroy(replay);
  tile_stream_destroy(stream);
  return wrong;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "model.py";
  tile_device *device;
  tile_device_properties properties;
  tile_program *program;
  tile_program_properties made;
  struct array all[ALL] = {0};
  TRY(tile_device_open("auto", &device));
  TRY(tile_device_get_properties(device, &properties));
  printf("device   %s (%s)\n", properties.name, properties.target);
  TRY(tile_program_open(device, path, &program));
  TRY(tile_program_get_properties(program, &made));
  printf("program  %zu kernels, %zu launches\n", made.kernels, made.launches);
  printf("memory   %lld bytes between launches; operator by operator %lld\n",
         (long long)made.arena_bytes, (long long)made.eager_bytes);

  int wrong = make_all(device, program, all) || run_and_replay(device, program, all);
  for (size_t i = 0; i < ALL; i++) {
    tile_free(device, all[i].device.data);
    free(all[i].host);
  }
  tile_program_close(program);
  tile_device_close(device);
  return wrong;
}
