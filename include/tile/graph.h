/* SPDX-License-Identifier: Apache-2.0 */
/* Tile: build tensor graphs in C and compile them to fused kernels. C89-clean, usable from C++.
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
 * The first call runs `f` on symbolic tensors to capture a graph, and compiles it. Later calls
 * whose tensors have the same dtypes, shapes and strides run the compiled variant; other tensors
 * compile one more variant. Mark dimensions that change from call to call with
 * tile_captured_mark_dynamic.
 *
 * Errors. A graph keeps its first error and ignores the calls after it. Functions that return a
 * value return NULL on error and accept NULL arguments, so a chain of them needs no checks:
 * tile_graph_status, tile_graph_output and tile_program_from_graph report the error.
 *
 * Ownership. A graph owns its values. The names, shapes, strides and lists that a call takes are
 * copied. Threads: only one thread at a time may use a graph and its values; different graphs are
 * independent; tile_captured_* calls are thread-safe. Otherwise runtime.h's conventions hold. */
#ifndef TILE_GRAPH_H
#define TILE_GRAPH_H

#include <tile/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile_graph tile_graph;
typedef struct tile_value tile_value; /* a tensor of a graph; freed with the graph */

/* ---- graphs ---- */
/* Creates an empty graph. */
TILE_API tile_status tile_graph_create(const char *name, tile_graph **ret_graph);
/* Parses the text that PyTorch prints for a graph of ATen operators (docs/graphs.md). `size` is in
 * bytes, at most 16 MiB (TILE_LIMIT); `file_name` appears in messages, NULL: "graph.py".
 * TILE_COMPILE_ERROR when the text is wrong: tile_error_message() has the diagnostics. */
TILE_API tile_status tile_graph_from_text(const char *file_name, const char *text, size_t size,
                                          tile_graph **ret_graph);
/* Frees the graph and its values; accepts NULL. Close the programs compiled from it first. */
TILE_API void tile_graph_destroy(tile_graph *graph);
/* The status of the graph's first error, and its message in tile_error_message(); else TILE_OK. */
TILE_API tile_status tile_graph_status(tile_graph *graph);
/* Prints the graph in PyTorch's format. The graph owns the text, which is valid until the next
 * tile_graph_text or tile_graph_destroy. */
TILE_API tile_status tile_graph_text(tile_graph *graph, const char **ret_text);

/* Creates a symbolic size (PyTorch's SymInt): each run may choose another value from lo to hi,
 * 0 <= lo <= hi < 2^31. Returns a handle to pass wherever a shape, a stride or an integer argument
 * is expected; compute with handles by tile_size_* only. 0 on error. Two calls with one name give
 * the same size. */
TILE_API int64_t tile_graph_size(tile_graph *graph, const char *name, int64_t lo, int64_t hi);
/* Sets the value that `size` most often has: block sizes and splits are chosen for it. Results are
 * right for every value. Default 1024. An error if `likely` is outside of the range of `size`. */
TILE_API void tile_graph_set_likely_size(tile_graph *graph, int64_t size, int64_t likely);
/* Each operand is a number or a handle of tile_graph_size; so is the result, 0 on error. */
TILE_API int64_t tile_size_add(tile_graph *graph, int64_t a, int64_t b);
TILE_API int64_t tile_size_mul(tile_graph *graph, int64_t a, int64_t b);
TILE_API int64_t tile_size_div(tile_graph *graph, int64_t a, int64_t b); /* rounds down */

/* Adds an input. The order of these calls is the order of inputs at run time. `shape` and `strides`
 * have `rank` elements (numbers or symbolic sizes); strides count elements, NULL: contiguous. */
TILE_API tile_value *tile_graph_input(tile_graph *graph, const char *name, tile_type dtype,
                                      int rank, const int64_t *shape, const int64_t *strides);
/* Adds an output. The order of these calls is the order of outputs at run time. */
TILE_API tile_status tile_graph_output(tile_graph *graph, tile_value *value);
/* Writes `value` to `input` in place at the end of each run. Both have the same dtype and shape;
 * an input is written once at most. */
TILE_API tile_status tile_graph_write(tile_graph *graph, tile_value *input, tile_value *value);
/* Nonzero: round f16 and bf16 values to their dtype after each operator, as PyTorch's eager mode
 * does. 0, the default and faster: keep them in f32 inside a kernel and round where they are
 * stored; tile_convert to f16 and back may then change nothing. 8-bit floats are always rounded.
 * A captured function calls this on the graph it is given. */
TILE_API tile_status tile_graph_set_keep_casts(tile_graph *graph, int keeps);

/* Nonzero: equal runs give equal bits. Gradients of embeddings are then products with a matrix of
 * zeros and ones, and other operators that add floats at indices are TILE_COMPILE_ERROR (E1008)
 * when the graph is compiled: by default they add with atomics, in any order. */
TILE_API tile_status tile_graph_set_deterministic(tile_graph *graph, int on);

TILE_API tile_type tile_value_dtype(const tile_value *value); /* TILE_F32 for NULL */
TILE_API int tile_value_rank(const tile_value *value);        /* 0 for NULL */
/* The size of dimension `dim`: a number, or a handle below 0 for a symbolic size. Negative
 * dimensions count from the last. 0 if there is no such dimension. */
TILE_API int64_t tile_value_size(const tile_value *value, int dim);

/* ---- operators by name ---- */
/* An argument of tile_graph_apply. Make it with the functions below. It borrows lists and strings
 * until tile_graph_apply copies them. */
typedef struct tile_operand {
  int kind;
  size_t count;
  union {
    tile_value *tensor;
    int64_t integer; /* or a symbolic size */
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
TILE_API tile_operand tile_g_none(void); /* Python's None */
TILE_API tile_operand tile_g_dtype(tile_type type);
TILE_API tile_operand tile_g_word(const char *word); /* such as "tanh" */
TILE_API tile_operand tile_g_ints(const int64_t *values, size_t count);
TILE_API tile_operand tile_g_tensors(tile_value *const *values, size_t count);

/* Nonzero: graphs may use the operator `name` ("aten.add.Tensor", "aten.add_.Tensor"): one of
 * docs/operators.md or a registered one, or one of PyTorch's that only asks for sizes. Some of its
 * dtypes or arguments may still be unsupported, which an error of the graph says. 0 for NULL. */
TILE_API int tile_graph_has_operator(const char *name);
/* Appends the operator `name` of docs/operators.md ("aten.add.Tensor", "prims.iota.default").
 * `args` are its arguments in the schema's order; trailing ones with defaults may be left out.
 * Returns the operator's first result, NULL on error. */
TILE_API tile_value *tile_graph_apply(tile_graph *graph, const char *name, const tile_operand *args,
                                      size_t count);
/* The same for operators with several results: writes the first `result_count` of them to
 * `ret_results`, NULL for a result that the operator does not return. */
TILE_API tile_status tile_graph_apply_many(tile_graph *graph, const char *name,
                                           const tile_operand *args, size_t count,
                                           tile_value **ret_results, size_t result_count);

/* ---- common operators. Dtypes promote and shapes broadcast by PyTorch's rules. Each appends one
 * operator to the graph of its arguments and returns the result; NULL if an argument is NULL or on
 * error. ---- */
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
TILE_API tile_value *tile_gelu(tile_value *x);      /* exact, with erf */
TILE_API tile_value *tile_gelu_tanh(tile_value *x); /* approximated with tanh */
TILE_API tile_value *tile_convert(tile_value *x, tile_type dtype);

/* Reductions over the `count` dimensions in `dims`; count 0: over all dimensions. `keeps` nonzero:
 * reduced dimensions remain with size 1 (PyTorch's keepdim). */
TILE_API tile_value *tile_sum(tile_value *x, const int64_t *dims, size_t count, int keeps);
TILE_API tile_value *tile_mean(tile_value *x, const int64_t *dims, size_t count, int keeps);
TILE_API tile_value *tile_amax(tile_value *x, const int64_t *dims, size_t count, int keeps);
TILE_API tile_value *tile_amin(tile_value *x, const int64_t *dims, size_t count, int keeps);
TILE_API tile_value *tile_var(tile_value *x, const int64_t *dims, size_t count, double correction,
                              int keeps);
TILE_API tile_value *tile_argmax(tile_value *x, int64_t dim, int keeps);
TILE_API tile_value *tile_cumsum(tile_value *x, int64_t dim);

/* Normalisations and matrix products. The norms work on the last dimensions of x, as many as
 * `weight` has. No argument is optional: leave out a bias with tile_graph_apply. */
TILE_API tile_value *tile_softmax(tile_value *x, int64_t dim);
TILE_API tile_value *tile_log_softmax(tile_value *x, int64_t dim);
TILE_API tile_value *tile_layer_norm(tile_value *x, tile_value *weight, tile_value *bias,
                                     double eps);
TILE_API tile_value *tile_rms_norm(tile_value *x, tile_value *weight, double eps);
TILE_API tile_value *tile_matmul(tile_value *a, tile_value *b);
TILE_API tile_value *tile_linear(tile_value *x, tile_value *weight,
                                 tile_value *bias); /* x weight^T + bias */
/* softmax(q k^T * scale + mask) v, each [batch, heads, rows, width]; scale 0: 1 / sqrt(width). */
TILE_API tile_value *tile_attention(tile_value *q, tile_value *k, tile_value *v, int is_causal,
                                    double scale);
TILE_API tile_value *tile_masked_attention(tile_value *q, tile_value *k, tile_value *v,
                                           tile_value *mask, double scale);

/* Views and data movement. Shapes, indices and bounds are numbers or symbolic sizes. One -1 in the
 * shape of tile_view is inferred; -1 in tile_expand keeps that size. */
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
TILE_API tile_value *tile_arange(tile_graph *graph, int64_t end); /* i64: 0, 1, ..., end - 1 */

/* ---- gradients ---- */
/* Appends the gradients of `outputs` by `inputs` (reverse mode): ret_gradients[i] has the dtype and
 * shape of inputs[i] and is the sum over all outputs. They are ordinary values: mark them as
 * outputs with tile_graph_output, compute with them, differentiate them again.
 *
 * outputs  float values of the graph. Several losses are added.
 * inputs   any values of the graph, inputs of it or results of operators.
 * seeds    seeds[i] weights outputs[i]: it has its shape, so that the result is a vector-Jacobian
 *          product. NULL, or seeds[i] NULL: 1, for an output of one element.
 * ret_gradients[i] is zeros if no output depends on inputs[i], and NULL if inputs[i] is not a
 * float.
 *
 * aten.detach.default stops gradients, and so do integers, comparisons and rounding. A write to an
 * input (tile_graph_write) happens after the run: gradients are those by the value before it.
 *
 * TILE_COMPILE_ERROR, with the diagnostics in tile_error_message(): an output of several elements
 * without a seed, or not a float (E1013); no output depends on any input (E1014); operators without
 * a gradient, all of them (E1012; docs/operators.md has a column). TILE_INVALID_ARGUMENT: a NULL
 * argument, or a value of another graph. */
TILE_API tile_status tile_graph_gradient(tile_graph *graph, tile_value *const *outputs,
                                         size_t output_count, tile_value *const *seeds,
                                         tile_value *const *inputs, size_t input_count,
                                         tile_value **ret_gradients);

/* Trades time for memory: values that gradients need are computed again, so that at most `bytes`
 * (for likely sizes) of them wait from the forward to the backward operators. 0: no limit; only
 * what is cheap is computed again. What is saved is a minimum cut (docs/graphs.md, Partition);
 * products, attention, reductions and scans are repeated only to meet the limit: first segments of
 * the forward operators, from their beginning, then single ones that
 * save the most bytes for their work. Results are the same but for rounding: other operators share
 * kernels. Random numbers are drawn again, from the same seed. Call it before
 * tile_graph_gradient; otherwise TILE_INVALID_ARGUMENT, and so is a negative number.
 * tile_program_get_properties says what is saved. */
TILE_API tile_status tile_graph_limit_saved(tile_graph *graph, int64_t bytes);
/* Marks a region: operators that are appended between the two calls are computed again for
 * gradients, also products; only values that operators outside of the region use are saved. Regions
 * do not nest: TILE_INVALID_ARGUMENT. They count only after tile_graph_limit_saved. */
TILE_API tile_status tile_graph_begin_region(tile_graph *graph);
TILE_API tile_status tile_graph_end_region(tile_graph *graph);

/* ---- compiling a graph to a program (program.h) ---- */
/* Compiles all kernels and loads them. From then on the graph refuses changes; it must outlive the
 * program. The caller closes the program. TILE_INVALID_ARGUMENT for a graph without outputs. */
TILE_API tile_status tile_program_from_graph(tile_device *device, tile_graph *graph,
                                             tile_program **ret_program);

/* ---- capture ---- */
typedef struct tile_captured tile_captured;

/* The function that builds the graph: in[i] is the symbolic tensor of input i; it sets out[i] for
 * each output. It sees dtypes and shapes, not elements. It runs once per variant, so it must have
 * no side effects. A status other than TILE_OK ends the call, which returns that status. */
typedef tile_status (*tile_graph_function)(tile_graph *graph, tile_value *const *in,
                                           size_t in_count, tile_value **out, size_t out_count,
                                           void *user);

/* ---- values while a function is captured (graph breaks) ---- */
/* A captured function may ask for the one element of a tensor, and go on by it: branch, loop, or
 * take it as a size. What was captured before then runs; the answer becomes a guard, and what
 * follows is captured as the next program. Later calls run the same programs as long as they find
 * the same answers (a path), and capture another path where one differs; the function must give
 * the same operators for the same answers. Each answer waits for the device. Random
 * operators draw the same numbers as without the question.
 *
 * value      of a captured function that is being called: with tensors that have data, not by
 *            tile_captured_prepare; one element.
 * ret_item   as a double; guarded by all its bits, so that a float mostly gives new paths.
 * ret_number integers and booleans.
 * ret_truth  1 if the element is not 0, also for NaN. Only that is guarded: the way to branch.
 * TILE_INVALID_ARGUMENT, which is also the graph's error: none of these. */
TILE_API tile_status tile_value_item(tile_value *value, double *ret_item);
TILE_API tile_status tile_value_integer(tile_value *value, int64_t *ret_number);
TILE_API tile_status tile_value_truth(tile_value *value, int *ret_truth);

/* `device` and `user` must outlive the captured function; `user` is passed to `function`. */
TILE_API tile_status tile_captured_create(tile_device *device, tile_graph_function function,
                                          void *user, tile_captured **ret_captured);
TILE_API void tile_captured_destroy(tile_captured *captured); /* accepts NULL */
/* Marks dimension `dim` (from 0) of input `input` dynamic (PyTorch's mark_dynamic): variants
 * compiled from now on accept every size from lo to hi, 0 <= lo <= hi < 2^31. Marked dimensions of
 * the same range that have equal sizes in the call that compiles a variant become one symbolic
 * size; a call in which they differ compiles another variant. */
TILE_API tile_status tile_captured_mark_dynamic(tile_captured *captured, size_t input, int dim,
                                                int64_t lo, int64_t hi);
/* The most variants that may be compiled, default 16; a call that needs one more fails with
 * TILE_LIMIT. */
TILE_API tile_status tile_captured_set_limit(tile_captured *captured, size_t variants);
/* The seed of random operators in later calls, default 0. */
TILE_API tile_status tile_captured_set_seed(tile_captured *captured, uint64_t seed);
/* The first call of each variant tunes it (tile_program_tune). NULL turns that off. `tuning` is
 * copied; the objects that its `file` and `user` point to must stay valid meanwhile. */
TILE_API tile_status tile_captured_set_tuning(tile_captured *captured,
                                              const tile_program_tuning *tuning);
/* The most paths that each variant keeps, default 64. A call that takes another one captures and
 * compiles it for itself, step by step: right, but slow; the report says how often. */
TILE_API tile_status tile_captured_set_path_limit(tile_captured *captured, size_t paths);
/* A text about breaks: of each variant, the values that were asked for, how often each path was
 * taken, and calls that were not kept. The captured function owns it, until the next call of this
 * function. */
TILE_API tile_status tile_captured_report(tile_captured *captured, const char **ret_report);
/* The number of variants compiled so far. */
TILE_API size_t tile_captured_variants(tile_captured *captured);
/* Runs the function on the device, asynchronously on a GPU; the first call of a variant compiles.
 * The caller allocates the outputs: TILE_INVALID_ARGUMENT, and the expected dtype or shape in the
 * message, if one differs from the function's result. Thread-safe, but all calls of one captured
 * function must use one stream: they share memory for intermediate results. */
TILE_API tile_status tile_captured_call(tile_captured *captured, tile_stream *stream,
                                        const tile_tensor *inputs, size_t input_count,
                                        const tile_tensor *outputs, size_t output_count);
/* Compiles the variant for such a call and does not run it; the tensors' data may be NULL. */
TILE_API tile_status tile_captured_prepare(tile_captured *captured, const tile_tensor *inputs,
                                           size_t input_count, const tile_tensor *outputs,
                                           size_t output_count);

#ifdef __cplusplus
}
#endif

#endif
