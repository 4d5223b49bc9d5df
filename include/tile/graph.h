/* SPDX-License-Identifier: Apache-2.0 */
/* Tile: tensor graphs from C, fused into few kernels. C89-clean, usable from C++.
 *
 *   static tile_status f(tile_graph *g, tile_value *const *in, size_t n, tile_value **out,
 *                        size_t m, void *user) {
 *     out[0] = tile_gelu(tile_add(tile_matmul(in[0], in[1]), in[2]));
 *     return TILE_OK;
 *   }
 *   ...
 *   tile_captured *captured;
 *   tile_captured_create(device, f, NULL, &captured);
 *   tile_captured_call(captured, stream, inputs, 3, outputs, 1);
 *
 * The first call runs `f` on symbolic tensors, which gives a graph, and compiles it; later calls
 * with tensors of the same dtypes, shapes and strides run what was compiled, others compile a
 * variant of their own. Dimensions that change from call to call are marked:
 * tile_captured_mark_dynamic.
 *
 * Calls that make values return NULL after an error and accept NULL for a value, so that a chain of
 * them needs no checks in between: the graph keeps its first error, and tile_graph_status tells it,
 * as does every call that takes the graph further. Conventions otherwise as in runtime.h. A graph
 * belongs to one thread at a time. */
#ifndef TILE_GRAPH_H
#define TILE_GRAPH_H

#include <tile/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile_graph tile_graph;
typedef struct tile_value tile_value; /* a tensor of a graph; lives as long as that */

/* ---- graphs ---- */
TILE_API tile_status tile_graph_create(const char *name, tile_graph **ret_graph);
/* From the text that PyTorch prints for a graph of ATen operators (docs/graphs.md).
 * TILE_COMPILE_ERROR where it is wrong; `file_name` appears in messages. */
TILE_API tile_status tile_graph_from_text(const char *file_name, const char *text, size_t size,
                                          tile_graph **ret_graph);
/* Frees its values too. */
TILE_API void tile_graph_destroy(tile_graph *graph);
/* TILE_OK, or that of the graph's first error, whose words tile_error_message() then has again. */
TILE_API tile_status tile_graph_status(tile_graph *graph);
/* The graph as PyTorch would print it; valid until the next change. */
TILE_API tile_status tile_graph_text(tile_graph *graph, const char **ret_text);

/* A size that each run chooses anew, from lo to hi. What is returned stands for it wherever a shape
 * or an integer argument is wanted; it is no number to compute with, but tile_size_* are there for
 * that. 0 after an error. The same name is the same size. */
TILE_API int64_t tile_graph_size(tile_graph *graph, const char *name, int64_t lo, int64_t hi);
/* What such a size will mostly be: blocks and splits are chosen for that, 1024 if nothing is said.
 */
TILE_API void tile_graph_set_likely_size(tile_graph *graph, int64_t size, int64_t likely);
TILE_API int64_t tile_size_add(tile_graph *graph, int64_t a, int64_t b);
TILE_API int64_t tile_size_mul(tile_graph *graph, int64_t a, int64_t b);
TILE_API int64_t tile_size_div(tile_graph *graph, int64_t a, int64_t b); /* rounds down */

/* Inputs and outputs come in the order of these calls. Strides as in tile_tensor; strides of
 * dimensions with sizes of tile_graph_size may be such sizes, too. */
TILE_API tile_value *tile_graph_input(tile_graph *graph, const char *name, tile_type dtype,
                                      int rank, const int64_t *shape, const int64_t *strides);
TILE_API tile_status tile_graph_output(tile_graph *graph, tile_value *value);
/* After a run `input` holds `value`, which has its dtype and shape. */
TILE_API tile_status tile_graph_write(tile_graph *graph, tile_value *input, tile_value *value);
/* Whether f16 and bf16 values are rounded to their dtype wherever they stand, as PyTorch does
 * operator by operator, or, which is the default and faster, only where they are stored: then
 * tile_convert to f16 and back may change nothing. Values of 8-bit floats are rounded in either
 * case. A captured function calls it on its graph. */
TILE_API tile_status tile_graph_set_keep_casts(tile_graph *graph, int keeps);

TILE_API tile_type tile_value_dtype(const tile_value *value);
TILE_API int tile_value_rank(const tile_value *value);
/* A number, or what stands for a size (below 0). Negative dimensions count from the end. 0 where
 * there is no such dimension. */
TILE_API int64_t tile_value_size(const tile_value *value, int dim);

/* ---- operators by name ---- */
/* An argument. Make them with the functions below; lists are copied when they are used. */
typedef struct tile_operand {
  int kind;
  size_t count;
  union {
    tile_value *tensor;
    int64_t integer; /* or a size */
    double real;
    int truth;
    tile_type dtype;
    const char *word;
    const int64_t *integers;
    tile_value *const *tensors;
  } as;
} tile_operand;

TILE_API tile_operand tile_g_tensor(tile_value *value);
TILE_API tile_operand tile_g_int(int64_t value);
TILE_API tile_operand tile_g_real(double value);
TILE_API tile_operand tile_g_bool(int value);
TILE_API tile_operand tile_g_none(void); /* an optional argument that is left out */
TILE_API tile_operand tile_g_dtype(tile_type type);
TILE_API tile_operand tile_g_word(const char *word); /* such as "tanh" */
TILE_API tile_operand tile_g_ints(const int64_t *values, size_t count);
TILE_API tile_operand tile_g_tensors(tile_value *const *values, size_t count);

/* Applies an operator of docs/operators.md, "aten.add.Tensor" or "prims.iota.default", to its
 * arguments in order; those at the end that have defaults may be left out. The first result. */
TILE_API tile_value *tile_graph_apply(tile_graph *graph, const char *name, const tile_operand *args,
                                      size_t count);
/* The same for operators with several results: the first `result_count` of them; NULL where the
 * operator leaves one out. */
TILE_API tile_status tile_graph_apply_many(tile_graph *graph, const char *name,
                                           const tile_operand *args, size_t count,
                                           tile_value **ret_results, size_t result_count);

/* ---- the usual operators; dtypes promote and shapes broadcast as in PyTorch ---- */
TILE_API tile_value *tile_add(tile_value *a, tile_value *b);
TILE_API tile_value *tile_sub(tile_value *a, tile_value *b);
TILE_API tile_value *tile_mul(tile_value *a, tile_value *b);
TILE_API tile_value *tile_div(tile_value *a, tile_value *b);
TILE_API tile_value *tile_pow(tile_value *a, tile_value *b);
TILE_API tile_value *tile_maximum(tile_value *a, tile_value *b);
TILE_API tile_value *tile_minimum(tile_value *a, tile_value *b);
TILE_API tile_value *tile_eq(tile_value *a, tile_value *b);
TILE_API tile_value *tile_ne(tile_value *a, tile_value *b);
TILE_API tile_value *tile_lt(tile_value *a, tile_value *b);
TILE_API tile_value *tile_le(tile_value *a, tile_value *b);
TILE_API tile_value *tile_gt(tile_value *a, tile_value *b);
TILE_API tile_value *tile_ge(tile_value *a, tile_value *b);
TILE_API tile_value *tile_logical_and(tile_value *a, tile_value *b);
TILE_API tile_value *tile_logical_or(tile_value *a, tile_value *b);
TILE_API tile_value *tile_where(tile_value *condition, tile_value *a, tile_value *b);

TILE_API tile_value *tile_add_number(tile_value *x, double number);
TILE_API tile_value *tile_sub_number(tile_value *x, double number);
TILE_API tile_value *tile_mul_number(tile_value *x, double number);
TILE_API tile_value *tile_div_number(tile_value *x, double number);
TILE_API tile_value *tile_pow_number(tile_value *x, double exponent);
TILE_API tile_value *tile_eq_number(tile_value *x, double number);
TILE_API tile_value *tile_ne_number(tile_value *x, double number);
TILE_API tile_value *tile_lt_number(tile_value *x, double number);
TILE_API tile_value *tile_le_number(tile_value *x, double number);
TILE_API tile_value *tile_gt_number(tile_value *x, double number);
TILE_API tile_value *tile_ge_number(tile_value *x, double number);
TILE_API tile_value *tile_clamp(tile_value *x, double lo, double hi);

TILE_API tile_value *tile_neg(tile_value *x);
TILE_API tile_value *tile_abs(tile_value *x);
TILE_API tile_value *tile_exp(tile_value *x);
TILE_API tile_value *tile_log(tile_value *x);
TILE_API tile_value *tile_sqrt(tile_value *x);
TILE_API tile_value *tile_rsqrt(tile_value *x);
TILE_API tile_value *tile_reciprocal(tile_value *x);
TILE_API tile_value *tile_sin(tile_value *x);
TILE_API tile_value *tile_cos(tile_value *x);
TILE_API tile_value *tile_tanh(tile_value *x);
TILE_API tile_value *tile_erf(tile_value *x);
TILE_API tile_value *tile_floor(tile_value *x);
TILE_API tile_value *tile_ceil(tile_value *x);
TILE_API tile_value *tile_logical_not(tile_value *x);
TILE_API tile_value *tile_sigmoid(tile_value *x);
TILE_API tile_value *tile_relu(tile_value *x);
TILE_API tile_value *tile_silu(tile_value *x);
TILE_API tile_value *tile_gelu(tile_value *x);      /* by erf */
TILE_API tile_value *tile_gelu_tanh(tile_value *x); /* by tanh */
TILE_API tile_value *tile_convert(tile_value *x, tile_type dtype);

/* Reductions along `count` dimensions, all where count is 0. `keeps`: they stay, with size 1. */
TILE_API tile_value *tile_sum(tile_value *x, const int64_t *dims, size_t count, int keeps);
TILE_API tile_value *tile_mean(tile_value *x, const int64_t *dims, size_t count, int keeps);
TILE_API tile_value *tile_amax(tile_value *x, const int64_t *dims, size_t count, int keeps);
TILE_API tile_value *tile_amin(tile_value *x, const int64_t *dims, size_t count, int keeps);
TILE_API tile_value *tile_var(tile_value *x, const int64_t *dims, size_t count, double correction,
                              int keeps);
TILE_API tile_value *tile_argmax(tile_value *x, int64_t dim, int keeps);
TILE_API tile_value *tile_cumsum(tile_value *x, int64_t dim);

/* Rows and products. `weight` and `bias` of the norms, `bias` and `mask` elsewhere may be NULL only
 * by the calls whose comment says so. */
TILE_API tile_value *tile_softmax(tile_value *x, int64_t dim);
TILE_API tile_value *tile_log_softmax(tile_value *x, int64_t dim);
TILE_API tile_value *tile_layer_norm(tile_value *x, tile_value *weight, tile_value *bias,
                                     double eps);
TILE_API tile_value *tile_rms_norm(tile_value *x, tile_value *weight, double eps);
TILE_API tile_value *tile_matmul(tile_value *a, tile_value *b);
TILE_API tile_value *tile_linear(tile_value *x, tile_value *weight,
                                 tile_value *bias); /* x w^T + b */
/* softmax(q k^T * scale + mask) v of [batch, heads, rows, width]; scale 0: 1 / sqrt(width). */
TILE_API tile_value *tile_attention(tile_value *q, tile_value *k, tile_value *v, int is_causal,
                                    double scale);
TILE_API tile_value *tile_masked_attention(tile_value *q, tile_value *k, tile_value *v,
                                           tile_value *mask, double scale);

/* Views and movement. Sizes may be what stands for one; -1 in a view is what is left. */
TILE_API tile_value *tile_view(tile_value *x, const int64_t *shape, size_t rank);
TILE_API tile_value *tile_expand(tile_value *x, const int64_t *shape, size_t rank);
TILE_API tile_value *tile_permute(tile_value *x, const int64_t *dims, size_t rank);
TILE_API tile_value *tile_transpose(tile_value *x, int64_t dim0, int64_t dim1);
TILE_API tile_value *tile_unsqueeze(tile_value *x, int64_t dim);
TILE_API tile_value *tile_squeeze(tile_value *x, int64_t dim);
TILE_API tile_value *tile_select(tile_value *x, int64_t dim, int64_t index);
TILE_API tile_value *tile_slice(tile_value *x, int64_t dim, int64_t start, int64_t end,
                                int64_t step);
TILE_API tile_value *tile_cat(tile_value *const *values, size_t count, int64_t dim);
TILE_API tile_value *tile_embedding(tile_value *weight, tile_value *indices);
TILE_API tile_value *tile_gather(tile_value *x, int64_t dim, tile_value *index);
TILE_API tile_value *tile_full(tile_graph *graph, const int64_t *shape, size_t rank, double number,
                               tile_type dtype);
TILE_API tile_value *tile_arange(tile_graph *graph, int64_t end); /* 0, 1, ... as i64 */

/* ---- a graph as a program (program.h) ---- */
/* Compiles and loads. The graph takes no more changes and must outlive the program. */
TILE_API tile_status tile_program_from_graph(tile_device *device, tile_graph *graph,
                                             tile_program **ret_program);

/* ---- capture ---- */
typedef struct tile_captured tile_captured;

/* Runs on values instead of tensors: in[i] stands for input i; sets out[i] for each output. What it
 * returns other than TILE_OK ends the call with that. It sees shapes and dtypes, never contents,
 * and must not do anything else: it runs again for each variant. */
typedef tile_status (*tile_graph_function)(tile_graph *graph, tile_value *const *in,
                                           size_t in_count, tile_value **out, size_t out_count,
                                           void *user);

TILE_API tile_status tile_captured_create(tile_device *device, tile_graph_function function,
                                          void *user, tile_captured **ret_captured);
TILE_API void tile_captured_destroy(tile_captured *captured);
/* Dimension `dim` of input `input` may be anything from lo to hi: variants made from now on serve
 * all of them. Dimensions that are equal in the call that makes a variant are one size in it, and
 * calls where they differ make another. */
TILE_API tile_status tile_captured_mark_dynamic(tile_captured *captured, size_t input, int dim,
                                                int64_t lo, int64_t hi);
/* Variants that may be compiled, 16 unless told; a call that needs one more fails with TILE_LIMIT.
 */
TILE_API tile_status tile_captured_set_limit(tile_captured *captured, size_t variants);
TILE_API tile_status tile_captured_set_seed(tile_captured *captured, uint64_t seed);
/* From now on the first call of each variant is a tile_program_tune; NULL: it is not. What `file`
 * and `user` point at has to live as long as that. */
TILE_API tile_status tile_captured_set_tuning(tile_captured *captured,
                                              const tile_program_tuning *tuning);
TILE_API size_t tile_captured_variants(tile_captured *captured); /* compiled so far */
/* Asynchronous on a GPU. Outputs are the caller's: TILE_INVALID_ARGUMENT, with what was expected,
 * where their dtypes or shapes are others than the function gives. Calls of one function go into
 * one stream. */
TILE_API tile_status tile_captured_call(tile_captured *captured, tile_stream *stream,
                                        const tile_tensor *inputs, size_t input_count,
                                        const tile_tensor *outputs, size_t output_count);
/* Compiles what such a call needs, and does not run it: data may be NULL. */
TILE_API tile_status tile_captured_prepare(tile_captured *captured, const tile_tensor *inputs,
                                           size_t input_count, const tile_tensor *outputs,
                                           size_t output_count);

#ifdef __cplusplus
}
#endif

#endif
