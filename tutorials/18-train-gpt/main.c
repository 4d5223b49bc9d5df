/* SPDX-License-Identifier: Apache-2.0 */
/* Trains a small transformer to continue a text, character by character, and goes on where it was
 * stopped. usage: train-gpt TEXT FOLDER [STEPS]; FOLDER gets the checkpoint and the losses. */
#include <tile/train.h>

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

enum { BATCH = 8, CONTEXT = 16, WIDTH = 32, HEADS = 2, LAYERS = 1, KINDS = 128 /* of letters */ };
enum { SAVE_EVERY = 20, MOST_TEXT = 1 << 20, MOST_INPUTS = 64 };

struct run {
  int64_t letters[MOST_TEXT], count; /* the text */
  tile_device *device;
  tile_graph *graph;
  tile_trainer *trainer;
  void *batch[2];
  char checkpoint[256], losses[256], curve[256];
};

/* ---- the text ---- */

static int read_text(const char *path, struct run *ret) {
  FILE *f = fopen(path, "rb");
  for (int c; f && (c = getc(f)) != EOF && ret->count < MOST_TEXT;)
    ret->letters[ret->count++] = c < KINDS ? c : '?';
  if (!f || fclose(f) || ret->count <= CONTEXT)
    return fprintf(stderr, "%s: no text, or too short\n", path), 1;
  return 0;
}

/* Where row `row` of step `step` begins: the same in each run, so that one that was stopped goes on
 * with the same batches. */
static int64_t place(const struct run *t, int64_t step, int row) {
  uint64_t x = (uint64_t)(step * BATCH + row + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
  return (int64_t)((x ^ x >> 29) % (uint64_t)(t->count - CONTEXT));
}

/* ---- the model ---- */

static tile_value *parameter(tile_graph *g, const char *name, int layer, int64_t rows,
                             int64_t columns, tile_initial initial) {
  const int64_t shape[] = {rows, columns};
  char full[32];
  snprintf(full, sizeof full, layer < 0 ? "%s" : "%s_%d", name, layer);
  return tile_graph_parameter(g, full, TILE_F32, columns ? 2 : 1, shape, initial);
}

static tile_value *norm(tile_graph *g, const char *name, int layer, tile_value *x) {
  return tile_rms_norm(x, parameter(g, name, layer, WIDTH, 0, tile_initial_constant(1)), 1e-5);
}

static tile_value *product(tile_graph *g, const char *name, int layer, tile_value *x, int64_t in,
                           int64_t out) {
  tile_initial initial = tile_initial_normal(1 / sqrt((double)in));
  return tile_matmul(x, parameter(g, name, layer, in, out, initial));
}

/* [batch, context, width] as [batch, heads, context, width of a head] */
static tile_value *head(tile_value *x, int64_t batch, int which) {
  const int64_t split[] = {batch, CONTEXT, HEADS, WIDTH / HEADS}, order[] = {0, 2, 1, 3};
  x = tile_slice(x, 2, which * WIDTH, (which + 1) * WIDTH, 1);
  return tile_permute(tile_view(x, split, 4), order, 4);
}

static tile_value *attend(tile_graph *g, int layer, tile_value *x, int64_t batch) {
  const int64_t order[] = {0, 2, 1, 3}, joined[] = {batch, CONTEXT, WIDTH};
  tile_value *all = product(g, "queries_keys_values", layer, x, WIDTH, 3 * WIDTH);
  tile_value *y =
      tile_attention(head(all, batch, 0), head(all, batch, 1), head(all, batch, 2), 1, 0);
  tile_operand args[] = {tile_g_tensor(tile_permute(y, order, 4)), tile_g_ints(joined, 3)};
  return product(g, "attended", layer, tile_graph_apply(g, "aten.reshape.default", args, 2), WIDTH,
                 WIDTH);
}

/* The scores of each next letter, [batch, context, KINDS]. */
static tile_value *scores(tile_graph *g, tile_value *letters, int64_t batch) {
  tile_value *x =
      tile_embedding(parameter(g, "letters", -1, KINDS, WIDTH, tile_initial_normal(0.1)), letters);
  x = tile_add(x, parameter(g, "places", -1, CONTEXT, WIDTH, tile_initial_normal(0.1)));
  for (int i = 0; i < LAYERS; i++) {
    x = tile_add(x, attend(g, i, norm(g, "norm_1", i, x), batch));
    tile_value *h = tile_gelu(product(g, "wide", i, norm(g, "norm_2", i, x), WIDTH, 4 * WIDTH));
    x = tile_add(x, product(g, "narrow", i, h, 4 * WIDTH, WIDTH));
  }
  return product(g, "scores", -1, norm(g, "norm", -1, x), WIDTH, KINDS);
}

static tile_value *loss_of(tile_graph *graph) {
  const int64_t shape[] = {BATCH, CONTEXT}, rows[] = {BATCH * CONTEXT, KINDS},
                flat[] = {BATCH * CONTEXT};
  tile_value *letters = tile_graph_input(graph, "text", TILE_I64, 2, shape, NULL);
  tile_value *next = tile_graph_input(graph, "next", TILE_I64, 2, shape, NULL);
  tile_operand args[2];
  args[0] = tile_g_tensor(tile_view(scores(graph, letters, BATCH), rows, 2));
  args[1] = tile_g_tensor(tile_view(next, flat, 1));
  return tile_graph_apply(graph, "aten.cross_entropy_loss.default", args, 2);
}

/* ---- training ---- */

static int make(struct run *r, int64_t steps) {
  tile_trainer_options o = tile_trainer_options_default(TILE_ADAMW);
  o.schedule.decay = TILE_DECAY_COSINE;
  o.schedule.rate = 0.02;
  o.schedule.warmup = 10;
  o.schedule.steps = steps + 1;
  o.optimizer.clip_norm = 1;
  o.is_deterministic = 1;
  TRY(tile_device_open("auto", &r->device));
  TRY(tile_graph_create("gpt", &r->graph));
  TRY(tile_trainer_create(r->device, r->graph, loss_of(r->graph), &o, &r->trainer));
  for (int i = 0; i < 2; i++)
    TRY(tile_malloc(r->device, BATCH * CONTEXT * sizeof(int64_t), &r->batch[i]));
  FILE *f = fopen(r->checkpoint, "rb");
  if (f && fclose(f) == 0)
    TRY(tile_trainer_load(r->trainer, NULL, r->checkpoint));
  return 0;
}

static int step(struct run *r) {
  static int64_t letters[2][BATCH * CONTEXT];
  const int64_t shape[] = {BATCH, CONTEXT};
  tile_tensor in[2] = {{0}};
  for (int k = 0; k < 2; k++) {
    for (int row = 0; row < BATCH; row++)
      memcpy(letters[k] + row * CONTEXT,
             r->letters + place(r, tile_trainer_steps(r->trainer), row) + k,
             CONTEXT * sizeof(int64_t));
    TRY(tile_copy_to_device(r->device, NULL, r->batch[k], letters[k], sizeof letters[k]));
    in[k].data = r->batch[k];
    in[k].type = TILE_I64;
    in[k].rank = 2;
    in[k].shape = shape;
  }
  TRY(tile_trainer_step(r->trainer, NULL, in, 2));
  return 0;
}

/* The loss of each step is at its place in a file: steps that are taken again write the same. */
static int train(struct run *r, int64_t steps) {
  FILE *losses = fopen(r->losses, tile_trainer_steps(r->trainer) ? "r+b" : "wb");
  tile_trainer_report report;
  for (int64_t at = tile_trainer_steps(r->trainer); losses && at < steps; at++) {
    if (step(r))
      return 1;
    TRY(tile_trainer_read_step(r->trainer, at + 1, &report));
    if (fseek(losses, (long)at * (long)sizeof(float), SEEK_SET) ||
        fwrite(&report.loss, sizeof(float), 1, losses) != 1 || fflush(losses))
      break;
    if (at % 50 == 0 || at + 1 == steps)
      printf("step %ld: loss %.4f\n", (long)at, (double)report.loss), fflush(stdout);
    if ((at + 1) % SAVE_EVERY == 0 || at + 1 == steps)
      TRY(tile_trainer_save(r->trainer, NULL, r->checkpoint));
  }
  if (!losses || ferror(losses) || fclose(losses))
    return fprintf(stderr, "cannot write %s\n", r->losses), 1;
  return 0;
}

/* The losses as a curve; returns the mean of the last ten. */
static double draw(const struct run *r, int64_t steps) {
  FILE *losses = fopen(r->losses, "rb"), *out = fopen(r->curve, "w");
  double sum = 0;
  float loss;
  if (!losses || !out)
    return INFINITY;
  fprintf(out, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-10 -10 820 620'>\n"
               "<path d='M0 0V600H800' fill='none' stroke='gray'/>\n<polyline fill='none' "
               "stroke='black' points='");
  for (int64_t i = 0; i < steps && fread(&loss, sizeof loss, 1, losses) == 1; i++) {
    fprintf(out, "%.1f,%.1f ", 800.0 * (double)i / (double)steps, 600 - 100 * (double)loss);
    sum += i + 10 < steps ? 0 : (double)loss;
  }
  fprintf(out, "'/>\n</svg>\n");
  fclose(losses);
  fclose(out);
  return sum / 10;
}

/* Prints what follows the text's first letters: another program, with the trained parameters. */
static int speak(struct run *r) {
  static int64_t letters[CONTEXT];
  static float found[CONTEXT * KINDS], *last = found + (CONTEXT - 1) * KINDS;
  const int64_t shape[] = {1, CONTEXT, KINDS};
  tile_graph *g;
  tile_program *program;
  tile_tensor in[MOST_INPUTS] = {{0}}, out = {NULL, TILE_F32, 3, shape, NULL};
  TRY(tile_graph_create("speak", &g));
  tile_graph_output(g, scores(g, tile_graph_input(g, "text", TILE_I64, 2, shape, NULL), 1));
  TRY(tile_program_from_graph(r->device, g, &program));
  size_t count = tile_program_input_count(program);
  for (size_t i = 1; i < count; i++) {
    tile_tensor_info info;
    TRY(tile_program_input(program, i, &info));
    TRY(tile_trainer_parameter(r->trainer, info.name, &in[i]));
  }
  TRY(tile_malloc(r->device, sizeof found, &out.data));
  in[0] = (tile_tensor){r->batch[0], TILE_I64, 2, shape, NULL};
  memcpy(letters, r->letters, sizeof letters);
  for (int n = 0; n < 100; n++) {
    int64_t best = 0;
    TRY(tile_copy_to_device(r->device, NULL, r->batch[0], letters, sizeof letters));
    TRY(tile_program_run(program, NULL, 0, in, count, &out, 1));
    TRY(tile_copy_to_host(r->device, NULL, found, out.data, sizeof found));
    for (int64_t k = 1; k < KINDS; k++)
      best = last[k] > last[best] ? k : best;
    memmove(letters, letters + 1, sizeof letters - sizeof *letters);
    letters[CONTEXT - 1] = best;
    putchar((int)best);
  }
  tile_free(r->device, out.data);
  tile_program_close(program);
  tile_graph_destroy(g);
  return 0;
}

int main(int argc, char **argv) {
  static struct run r;
  int64_t steps = argc > 3 ? atoi(argv[3]) : 150;
  if (argc < 3 || steps < 10 || read_text(argv[1], &r))
    return fprintf(stderr, "usage: train-gpt TEXT FOLDER [STEPS]\n"), 2;
  snprintf(r.checkpoint, sizeof r.checkpoint, "%s/model.safetensors", argv[2]);
  snprintf(r.losses, sizeof r.losses, "%s/losses.f32", argv[2]);
  snprintf(r.curve, sizeof r.curve, "%s/loss.svg", argv[2]);
  if (make(&r, steps) || train(&r, steps) || speak(&r))
    return 1;
  double loss = draw(&r, steps);
  printf("\nmean loss of the last ten steps: %.3f\n", loss);
  for (int i = 0; i < 2; i++)
    tile_free(r.device, r.batch[i]);
  tile_trainer_destroy(r.trainer);
  tile_graph_destroy(r.graph);
  tile_device_close(r.device);
  return steps < 150 || loss < 2.2 ? 0 : 1;
}
