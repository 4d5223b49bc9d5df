/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: tensor graphs compiled to fused kernels, and their execution. C89-clean, usable from
 * C++.
 *
 *   tile_program *program; tile_tensor in[2], out[1];
 *   tile_program_open(device, "model.py", &program);
 *   tile_program_run(program, stream, 0, in, 2, out, 1);
 *
 * A graph is the text that PyTorch prints for ATen operators, or is built in C (graph.h). Opening
 * fuses operators, generates kernels and compiles them all, on all cores. On a GPU, matrix products
 * start with tier-1 code, which compiles fast and runs slower; optimized code with the same results
 * replaces it within a second or so. Thread-safe: calls on one program wait for each other. Errors
 * and ownership: as in runtime.h. */
#ifndef TILE_PROGRAM_H
#define TILE_PROGRAM_H

#include <tile/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile_program tile_program;

/* Reads the graph from a file and compiles it. TILE_COMPILE_ERROR: tile_error_message() has the
 * diagnostics, with locations in the text. The device must outlive the program. */
TILE_API tile_status tile_program_open(tile_device *device, const char *path,
                                       tile_program **ret_program);
/* The same for `size` bytes of text; `file_name` appears in messages. The text is copied. */
TILE_API tile_status tile_program_from_text(tile_device *device, const char *file_name,
                                            const char *text, size_t size,
                                            tile_program **ret_program);
/* The same, with likely values of symbolic sizes ("s0"): block sizes and splits are chosen for
 * them; results are right for every value. Symbols that are not listed count as 1024.
 * TILE_INVALID_ARGUMENT: the graph has no symbol of that name, or its range excludes the value. */
typedef struct tile_likely_size {
  const char *name;
  int64_t size;
} tile_likely_size;
TILE_API tile_status tile_program_from_text_likely(tile_device *device, const char *file_name,
                                                   const char *text, size_t size,
                                                   const tile_likely_size *likely,
                                                   size_t likely_count, tile_program **ret_program);
TILE_API void tile_program_close(tile_program *program); /* accepts NULL */
/* Waits until every kernel runs optimized code; call it before measuring. tile_program_record does
 * so itself. */
TILE_API tile_status tile_program_wait_optimized(tile_program *program);

/* ---- inputs and outputs ---- */

#define TILE_PROGRAM_MAX_RANK 16

/* A dynamic size is -1, and so is a stride that depends on one. Strides count elements. The program
 * owns the name. */
typedef struct tile_tensor_info {
  const char *name;
  tile_type type;
  int rank;
  int64_t shape[TILE_PROGRAM_MAX_RANK], strides[TILE_PROGRAM_MAX_RANK];
} tile_tensor_info;

TILE_API size_t tile_program_input_count(const tile_program *program);
TILE_API size_t tile_program_output_count(const tile_program *program);
TILE_API tile_status tile_program_input(const tile_program *program, size_t index,
                                        tile_tensor_info *ret_info);
/* rank -1: this output of the graph is None. */
TILE_API tile_status tile_program_output(const tile_program *program, size_t index,
                                         tile_tensor_info *ret_info);

typedef struct tile_program_properties {
  size_t kernels;      /* distinct kernels */
  size_t launches;     /* kernel launches per run */
  int64_t arena_bytes; /* memory of intermediate tensors; dynamic sizes count as likely sizes */
  int64_t eager_bytes; /* the same if each operator ran as a kernel of its own */
  int64_t saved_bytes; /* of forward values that gradients need later, if tile_graph_limit_saved was
                          called; else 0. Above its limit: that cannot be reached. */
} tile_program_properties;
TILE_API tile_status tile_program_get_properties(const tile_program *program,
                                                 tile_program_properties *ret);

/* ---- running ---- */

/* Runs the program once; asynchronous on a GPU. Types, shapes and strides of the tensors must match
 * tile_program_input and tile_program_output, else TILE_INVALID_ARGUMENT. The caller allocates the
 * outputs; inputs that the graph writes are updated in place. `seed` is that of random operators.
 * All runs of one program must use one stream: they share memory for intermediate results. */
TILE_API tile_status tile_program_run(tile_program *program, tile_stream *stream, uint64_t seed,
                                      const tile_tensor *inputs, size_t input_count,
                                      const tile_tensor *outputs, size_t output_count);
/* The same, and finds which kernel first makes a NaN, and which an infinity: *ret_report is a text
 * that names the kernel, its operators, their place in the graph's text, the element, and says of
 * all that the kernel read how large it was; inputs that are not finite come first. NULL: inputs
 * and results of all kernels are finite. Values that stay within a kernel are not seen. Waits for
 * each launch, and copies what it reads and writes to the host. The program owns the text, until
 * the next call. */
TILE_API tile_status tile_program_find_nan(tile_program *program, tile_stream *stream,
                                           uint64_t seed, const tile_tensor *inputs,
                                           size_t input_count, const tile_tensor *outputs,
                                           size_t output_count, const char **ret_report);
/* Sets a size that no extent or stride of an input determines, such as an integer argument of the
 * model, for later runs and recordings. TILE_INVALID_ARGUMENT: the graph has no such size of that
 * name, or its range excludes the value. */
TILE_API tile_status tile_program_set_size(tile_program *program, const char *name, int64_t size);
/* Records such a run for tile_replay_run, with these addresses, sizes and this seed: a CUDA graph
 * on a GPU. `stream` must not be the default stream; the program must outlive the recording. */
TILE_API tile_status tile_program_record(tile_program *program, tile_stream *stream, uint64_t seed,
                                         const tile_tensor *inputs, size_t input_count,
                                         const tile_tensor *outputs, size_t output_count,
                                         tile_replay **ret_replay);

/* Whether later runs and recordings use programmatic dependent launch, the default: on GPUs of
 * compute capability 9.0 and newer, with drivers for CUDA 12.3 and newer, each kernel may begin
 * while the kernel before it in the same run ends; it waits for that one's results before it
 * accesses memory. The first kernel of a run begins when all earlier work of the stream has ended,
 * and so does one behind a copy or memset. 0 switches it off. Results are the same. */
TILE_API tile_status tile_program_set_pdl(tile_program *program, int on);

/* ---- block sizes ---- */

/* The result of tuning one kernel. The strings are valid during the callback. */
typedef struct tile_program_choice {
  const char *kernel;
  const char *config;    /* in use from now on: "BLOCK=512, num_warps=4"; NULL: nothing to choose */
  double ms, default_ms; /* medians of `config` and of the default; 0: unknown */
  int is_measured;       /* measured by this call */
  int is_from_file;      /* read from `file` */
  const char *why;       /* why the default stays; NULL: `config` was chosen */
} tile_program_choice;

/* Zero-initialise for defaults. */
typedef struct tile_program_tuning {
  const char *file;     /* tuning file to read and update (docs/autotune.md); NULL: none */
  int measures_nothing; /* 1: use results of the file, measure nothing */
  double seconds;       /* time for the whole program; 0: 60 */
  unsigned candidates;  /* most configurations measured per kernel; 0: 24 */
  void (*told)(void *user, const tile_program_choice *choice); /* per kernel; may be NULL */
  void *user;                                                  /* passed to `told` */
} tile_program_tuning;

/* Runs the program once, like tile_program_run, and selects block sizes and launch options of each
 * kernel before its launch: the file's entry, else the fastest configuration. A separate process
 * measures, on copies of the arrays that the kernel reads. Later runs and recordings use the
 * selection; earlier recordings do not change. A kernel that cannot be tuned keeps its default, and
 * `told` gets the reason. Waits for the stream. TILE_IO_ERROR: the file is malformed. */
TILE_API tile_status tile_program_tune(tile_program *program, tile_stream *stream, uint64_t seed,
                                       const tile_tensor *inputs, size_t input_count,
                                       const tile_tensor *outputs, size_t output_count,
                                       const tile_program_tuning *tuning);

#ifdef __cplusplus
}
#endif

#endif
