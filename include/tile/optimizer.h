/* SPDX-License-Identifier: Apache-2.0 */
/* Tile: steps of training, as parts of a graph. C89-clean, usable from C++.
 *
 *   tile_graph_gradient(graph, &loss, 1, NULL, parameters, n, gradients);
 *   tile_optimizer adam = tile_optimizer_default(TILE_ADAMW);
 *   tile_graph_optimize(graph, &adam, learning_rate, parameters, gradients, n);
 *
 * The graph then writes the new parameters to its inputs at the end of each run. What the optimizer
 * remembers is in further inputs that it writes too. Fusion puts the step of small parameters into
 * few launches. graph.h's conventions on errors, ownership and threads hold. */
#ifndef TILE_OPTIMIZER_H
#define TILE_OPTIMIZER_H

#include <tile/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The formulas are those of PyTorch's torch.optim classes of these names. */
typedef enum tile_optimizer_kind {
  TILE_SGD,
  TILE_ADAM,  /* Kingma and Ba, arXiv:1412.6980 */
  TILE_ADAMW, /* Loshchilov and Hutter, arXiv:1711.05101 */
  TILE_LION,  /* Chen et al., arXiv:2302.06675 */
  TILE_MUON   /* Jordan et al., 2024: of matrices; other parameters take the step of AdamW */
} tile_optimizer_kind;

typedef struct tile_optimizer {
  tile_optimizer_kind kind;
  double momentum;     /* of SGD (0: none) and Muon */
  int nesterov;        /* of SGD and Muon */
  double beta1, beta2; /* of Adam, AdamW, Lion */
  double epsilon;      /* of Adam and AdamW */
  double weight_decay; /* SGD and Adam add it to the gradient, the others shrink the parameter */
  double clip_norm;    /* the gradients' norm, all together, is cut to it; 0: not */
  double loss_scale;   /* the loss was multiplied by it; 0: it was not. With a scale, a run whose
                          gradients are not all finite changes nothing. */
} tile_optimizer;

/* PyTorch's defaults; no clipping, no scale. */
TILE_API tile_optimizer tile_optimizer_default(tile_optimizer_kind kind);

/* Appends one step. `learning_rate` is an f32 value of rank 0, usually an input. parameters[i] is
 * an input of a float dtype, gradients[i] has its dtype and shape; f16 and bf16 are computed in
 * f32. Adds inputs after the existing ones, each f32 and zeros before the first run, in this order:
 * `step_count` of rank 0 (Adam, AdamW, Muon), then for each parameter `NAME_moment1`, of its shape
 * (not SGD without momentum), and `NAME_moment2` (Adam, AdamW). TILE_INVALID_ARGUMENT for a number
 * out of range or a parameter that is no input. */
TILE_API tile_status tile_graph_optimize(tile_graph *graph, const tile_optimizer *optimizer,
                                         tile_value *learning_rate, tile_value *const *parameters,
                                         tile_value *const *gradients, size_t count);

#ifdef __cplusplus
}
#endif

#endif
