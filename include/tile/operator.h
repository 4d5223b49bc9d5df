/* SPDX-License-Identifier: Apache-2.0 */
/* Tile: custom operators of tensor graphs. C89-clean, usable from C++.
 *
 * A registered operator can be used like those of docs/operators.md: in FX text
 * (`torch.ops.mylib.scale.default(x, 2.0)`), in C (tile_graph_apply(graph, "mylib.scale.default",
 * args, count)), and by `--check`. It is defined by other operators (`build`) or by a kernel.
 *
 *   static tile_status build(tile_graph *g, const tile_operand *args, size_t count,
 *                            tile_value **out, size_t out_count, void *user) {
 *     out[0] = tile_mul_number(args[0].as.tensor, args[1].as.real);
 *     return TILE_OK;
 *   }
 *   ...
 *   tile_operator scale = {"mylib::scale(Tensor x, float by=2.0) -> Tensor"};
 *   scale.build = build;
 *   tile_operator_register(&scale);
 *
 * Threads: tile_operator_register may be called from any thread. Callbacks are called from the
 * thread that reads, builds, compiles or interprets a graph, from several at once if several do.
 * They must not register operators.
 * Ownership: what the tile_operator points to is copied, but for `user`, which must live as long as
 * the process uses the operator. Operators stay registered until the process ends. */
#ifndef TILE_OPERATOR_H
#define TILE_OPERATOR_H

#include <tile/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TILE_OPERATOR_RANK = 16 };

/* A result's type, as `infer` sets it. Sizes are numbers or symbolic ones (tile_value_size,
 * tile_size_*). Results are in row-major order. */
typedef struct tile_result {
  tile_type dtype;
  int rank;
  int64_t shape[TILE_OPERATOR_RANK];
} tile_result;

/* A tensor of the reference interpreter, in row-major order: elements are `reals` for floats, else
 * `integers` (booleans: 0 and 1); the other pointer is NULL. */
typedef struct tile_reference_tensor {
  tile_type dtype;
  int rank;
  const int64_t *shape;
  int64_t count;
  double *reals;
  int64_t *integers;
} tile_reference_tensor;

typedef struct tile_operator {
  /* PyTorch's schema: "mylib::scale(Tensor x, *, float by=2.0) -> Tensor". The overload is
   * `default` unless the name has another (`scale.out`). Types: Tensor, Tensor?, Tensor[], Scalar,
   * int, SymInt, int[], SymInt[], float, bool, str, ScalarType, each but the lists with `?`.
   * Results: Tensor, or (Tensor, Tensor, ..). */
  const char *schema;

  /* Defined by other operators: appends them to `graph` and sets out[i] to result i. args[i] is
   * parameter i; those that a call leaves out have their defaults, None is tile_g_none(). */
  tile_status (*build)(tile_graph *graph, const tile_operand *args, size_t count, tile_value **out,
                       size_t out_count, void *user);

  /* Or by a kernel; then `build` is NULL, and these are set. */
  /* The types of the results. Called often, so it must be pure. A status other than TILE_OK is an
   * error of the graph. */
  tile_status (*infer)(tile_graph *graph, const tile_operand *args, size_t count,
                       tile_result *results, size_t result_count, void *user);
  const char *kernel_source; /* a .tile file */
  const char *kernel;        /* the function in it */
  /* The kernel's run-time parameters in order, separated by spaces: a tensor parameter of the
   * schema (a pointer to its elements in row-major order, aligned to 16 bytes), `out` (with several
   * results out0, out1, ..), the number of elements of one (`x_numel`), or an extent (`x_size0`).
   * Parameters of the schema that are int, float or bool are compile-time parameters of these names
   * if the kernel has them: list those in `constants`. */
  const char *arguments;
  const char *constants; /* "by BLOCK=128": of the schema, or with values; NULL: none */
  const char *grid;      /* "cdiv(out_numel, BLOCK)", up to three expressions separated by `;` */
  int num_warps;         /* 0: the default */

  /* For --check and tile_program checks: computes out from in, in the order of the schema's tensor
   * parameters, absent ones left out. Optional: without it such a graph cannot be interpreted. */
  tile_status (*reference)(const tile_operand *args, size_t count, const tile_reference_tensor *in,
                           size_t in_count, const tile_reference_tensor *out, size_t out_count,
                           void *user);
  void *user;

  /* Of an operator with a kernel: its vector-Jacobian product, for tile_graph_gradient. Optional:
   * without it a gradient through the operator is an error. results[i] is result i, gradients[i]
   * its gradient, NULL: zero. Appends operators to `graph`; out[i] is the gradient of parameter i,
   * with its shape, and stays NULL for zero and for parameters that are no tensors. */
  tile_status (*gradient)(tile_graph *graph, const tile_operand *args, size_t count,
                          tile_value *const *results, tile_value *const *gradients,
                          size_t result_count, tile_value **out, void *user);
} tile_operator;

/* Registers an operator. TILE_INVALID_ARGUMENT: a schema that cannot be read, a name that is taken,
 * or an operator without a definition, or with two. */
TILE_API tile_status tile_operator_register(const tile_operator *op);

#ifdef __cplusplus
}
#endif

#endif
