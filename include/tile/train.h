/* SPDX-License-Identifier: Apache-2.0 */
/* Tile: training. C89-clean, usable from C++.
 *
 *   tile_graph_create("model", &graph);
 *   x = tile_graph_input(graph, "x", ...);                            an input of each batch
 *   w = tile_graph_parameter(graph, "w", TILE_F32, 2, shape, tile_initial_normal(0.02));
 *   loss = ...
 *   tile_trainer_options o = tile_trainer_options_default(TILE_ADAMW);
 *   tile_trainer_create(device, graph, loss, &o, &trainer);
 *   while (...)
 *     tile_trainer_step(trainer, stream, &batch, 1);
 *   tile_trainer_save(trainer, stream, "model.safetensors");
 *
 * A trainer appends the gradients and the optimizer's step to the graph, compiles it, and owns the
 * parameters and what steps remember in device memory. A step is one program; with `accumulate`
 * there is a second one, of the optimizer. graph.h's conventions on errors, ownership and threads
 * hold; only one thread at a time may use a trainer. */
#ifndef TILE_TRAIN_H
#define TILE_TRAIN_H

#include <tile/optimizer.h>
#include <tile/weights.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- parameters ---- */

/* How a parameter begins. Numbers follow from the trainer's seed, the parameter's name and the
 * index alone; the host computes them, so that they are the same on every device. */
typedef enum tile_initial_kind {
  TILE_INITIAL_CONSTANT,
  TILE_INITIAL_UNIFORM,
  TILE_INITIAL_NORMAL
} tile_initial_kind;
typedef struct tile_initial {
  tile_initial_kind kind;
  double size; /* the constant; the bound; the standard deviation */
} tile_initial;

TILE_API tile_initial tile_initial_constant(double value);
TILE_API tile_initial tile_initial_uniform(double bound); /* from -bound to bound */
TILE_API tile_initial tile_initial_normal(double deviation);

/* Adds an input that is a parameter: a float tensor of a constant shape, contiguous. Names are
 * those of checkpoints: not empty, each once. */
TILE_API tile_value *tile_graph_parameter(tile_graph *graph, const char *name, tile_type dtype,
                                          int rank, const int64_t *shape, tile_initial initial);

/* ---- the learning rate ---- */

typedef enum tile_decay { TILE_DECAY_NONE, TILE_DECAY_LINEAR, TILE_DECAY_COSINE } tile_decay;

/* It rises linearly for `warmup` steps to `rate`, then falls to `least` at step `steps`. */
typedef struct tile_schedule {
  tile_decay decay;
  double rate, least;
  int64_t warmup, steps; /* steps: not used without decay */
} tile_schedule;

/* The rate as an f32 value of rank 0; `step` is a number of steps taken before, of rank 0. */
TILE_API tile_value *tile_graph_rate(tile_graph *graph, const tile_schedule *schedule,
                                     tile_value *step);

/* ---- trainers ---- */

typedef struct tile_trainer tile_trainer;

typedef struct tile_trainer_options {
  tile_optimizer optimizer;
  tile_schedule schedule;
  uint64_t seed;       /* of the first parameters and of random operators */
  unsigned accumulate; /* batches of a step, whose mean gradient counts; 0 and 1: one */
  /* The loss is multiplied by optimizer.loss_scale (0: not scaled), and a step whose gradients are
   * not all finite changes nothing. With a number here the scale follows: it is halved by such a
   * step and doubled after as many others (PyTorch's GradScaler). 0: it stays. */
  int64_t scale_interval;
  int is_deterministic; /* nonzero: tile_graph_set_deterministic; needed to go on bit for bit where
                           embeddings are trained */
  int limits_saved;     /* nonzero: tile_graph_limit_saved(graph, saved_bytes) */
  int64_t saved_bytes;  /* see there */
} tile_trainer_options;

/* The optimizer's defaults, a constant rate of 0.001, no accumulation, seed 0. */
TILE_API tile_trainer_options tile_trainer_options_default(tile_optimizer_kind kind);

/* `loss` is a float of one element. The graph may have outputs and writes of its own; it is closed
 * by this call and must outlive the trainer, and so must the device. Its parameters are all that
 * tile_graph_parameter made; gradients of parameters on which the loss does not depend are zero,
 * TILE_COMPILE_ERROR if it depends on none. TILE_INVALID_ARGUMENT: an option out of range, a graph
 * without parameters, with symbolic sizes in parameters, or with outputs. */
TILE_API tile_status tile_trainer_create(tile_device *device, tile_graph *graph, tile_value *loss,
                                         const tile_trainer_options *options,
                                         tile_trainer **ret_trainer);
TILE_API void tile_trainer_destroy(tile_trainer *trainer); /* accepts NULL */

/* Takes one batch: `inputs` are those of the graph that are no parameters, in their order. With
 * `accumulate` n, each n-th call changes the parameters. Asynchronous on a GPU; all calls of a
 * trainer must use one stream. If it is not the default one, sizes are constant and nothing is
 * random, a batch at the addresses of the one before replays a recording (a CUDA graph): the host
 * does no more than launch it. The batch must stay as it is until the stream has passed the step.
 */
TILE_API tile_status tile_trainer_step(tile_trainer *trainer, tile_stream *stream,
                                       const tile_tensor *inputs, size_t count);

/* The same step, looking for the kernel that first makes a NaN or an infinity
 * (tile_program_find_nan): for a loss that became NaN, load the last checkpoint and take the steps
 * behind it so. *ret_report NULL: all was finite. With `accumulate` the update is not looked at. */
TILE_API tile_status tile_trainer_find_nan(tile_trainer *trainer, tile_stream *stream,
                                           const tile_tensor *inputs, size_t count,
                                           const char **ret_report);

/* What a step found. */
typedef struct tile_trainer_report {
  int64_t step; /* which one, from 1; 0: none has ended yet, the rest is 0 */
  float loss;   /* the mean of its batches, not scaled */
  float norm;   /* of all gradients together, before clipping; infinite or NaN: a skipped step */
  float rate;   /* the learning rate */
  float loss_scale; /* that it used; 1: not scaled */
  int64_t skipped;  /* steps so far that changed nothing */
} tile_trainer_report;

/* The last step that has ended on the device. Does not wait for those that have not, unless the
 * trainer's stream is the default one. */
TILE_API tile_status tile_trainer_read(tile_trainer *trainer, tile_trainer_report *ret);
/* The same of step `step`; TILE_NOT_FOUND if it has not ended, or is more than 64 steps ago. */
TILE_API tile_status tile_trainer_read_step(tile_trainer *trainer, int64_t step,
                                            tile_trainer_report *ret);

/* The parameter `name` in device memory, for other programs; the trainer owns shape and data.
 * TILE_NOT_FOUND. */
TILE_API tile_status tile_trainer_parameter(tile_trainer *trainer, const char *name,
                                            tile_tensor *ret);
/* The program of a batch, for tile_program_get_properties; the trainer owns it. */
TILE_API tile_program *tile_trainer_program(tile_trainer *trainer);

/* Writes parameters, what steps remember, the number of steps and the seed (tile_checkpoint_save).
 * A trainer of the same graph and options that loads the file goes on as this one would, bit for
 * bit, if it gets the same batches. Loading another model's file is TILE_INVALID_ARGUMENT, with all
 * differences in the message, and changes nothing. */
TILE_API tile_status tile_trainer_save(tile_trainer *trainer, tile_stream *stream,
                                       const char *path);
TILE_API tile_status tile_trainer_load(tile_trainer *trainer, tile_stream *stream,
                                       const char *path);
TILE_API int64_t tile_trainer_steps(const tile_trainer *trainer); /* calls of tile_trainer_step */

#ifdef __cplusplus
}
#endif

#endif
