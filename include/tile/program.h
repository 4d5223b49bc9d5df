/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: tensor graphs compiled to fused kernels. C89-clean, usable from C++.
 *
 *   tile_program *program; tile_tensor in[2], out[1];
 *   tile_program_open(device, "model.py", &program);
 *   tile_program_run(program, stream, 0, in, 2, out, 1);
 *
 * A graph is text as PyTorch prints it at the level of ATen, or built in C (graph.h). Opening
 * compiles: fusion, sources, machine code of all kernels, on all cores. On a GPU matrix products
 * first run tier-1 code, which compiles fast and runs slower; optimized code with the same results
 * replaces it within a second or so. See runtime.h for the conventions. */
#ifndef TILE_PROGRAM_H
#define TILE_PROGRAM_H

#include <tile/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor in the memory of the device. Strides count elements; NULL: contiguous, outermost
 * dimension first. */
typedef struct tile_tensor {
  void *data;
  tile_type type; /* TILE_I1: one byte, 0 or 1 */
  int rank;
  const int64_t *shape;
  const int64_t *strides;
} tile_tensor;

typedef struct tile_program tile_program;

/* TILE_COMPILE_ERROR: tile_error_message() has the diagnostics, with locations in the text. */
TILE_API tile_status tile_program_open(tile_device *device, const char *path,
                                       tile_program **ret_program);
TILE_API tile_status tile_program_from_text(tile_device *device, const char *file_name,
                                            const char *text, size_t size,
                                            tile_program **ret_program);
/* The same, with the likely values of symbolic sizes ("s0"): blocks and splits are chosen for
 * these, results are right for all. Others: 1024. TILE_INVALID_ARGUMENT for a name that is no
 * size of the graph, or a size that its range excludes. */
typedef struct tile_likely_size {
  const char *name;
  int64_t size;
} tile_likely_size;
TILE_API tile_status tile_program_from_text_likely(tile_device *device, const char *file_name,
                                                   const char *text, size_t size,
                                                   const tile_likely_size *likely,
                                                   size_t likely_count, tile_program **ret_program);
TILE_API void tile_program_close(tile_program *program); /* accepts NULL */
/* Waits until every kernel has optimized code: for measurements. Recording waits, too. */
TILE_API tile_status tile_program_wait_optimized(tile_program *program);

/* ---- what it takes and gives ---- */

#define TILE_PROGRAM_MAX_RANK 16

/* A dynamic size is -1, and so are the strides that depend on it. The name lives as long as the
 * program. */
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
/* rank -1: the graph gives nothing there (None). */
TILE_API tile_status tile_program_output(const tile_program *program, size_t index,
                                         tile_tensor_info *ret_info);

typedef struct tile_program_properties {
  size_t kernels, launches;
  int64_t arena_bytes; /* what passes between launches; of likely sizes where some are dynamic */
  int64_t eager_bytes; /* the same, were each operator run by itself */
} tile_program_properties;
TILE_API tile_status tile_program_get_properties(const tile_program *program,
                                                 tile_program_properties *ret);

/* ---- running ---- */

/* Asynchronous on a GPU; one run at a time. Inputs that the graph writes to are written in place.
 * Outputs are the caller's memory, of the strides that tile_program_output says. `seed`: of random
 * operators. Shapes, strides and types must be those of the graph. */
TILE_API tile_status tile_program_run(tile_program *program, tile_stream *stream, uint64_t seed,
                                      const tile_tensor *inputs, size_t input_count,
                                      const tile_tensor *outputs, size_t output_count);
/* The same as a recording, to be run as often as addresses, sizes and seed stay: on a GPU a CUDA
 * graph. `stream` was created; the program must outlive the recording. */
TILE_API tile_status tile_program_record(tile_program *program, tile_stream *stream, uint64_t seed,
                                         const tile_tensor *inputs, size_t input_count,
                                         const tile_tensor *outputs, size_t output_count,
                                         tile_replay **ret_replay);

/* ---- block sizes ---- */

typedef struct tile_program_choice { /* what became of a kernel; valid during the call */
  const char *kernel;
  const char *config;    /* as it is now: "BLOCK=512, num_warps=4"; NULL: nothing to choose */
  double ms, default_ms; /* medians, of what was chosen and of what was compiled; 0: unknown */
  int is_measured, is_from_file;
  const char *why; /* why it stays as it was compiled; NULL: it was chosen */
} tile_program_choice;

typedef struct tile_program_tuning { /* zeros: the usual */
  const char *file;     /* of tunings, read and written (docs/autotune.md); NULL: none */
  int measures_nothing; /* takes what is on file only */
  double seconds;       /* for the whole program; 0: 60 */
  unsigned candidates;  /* of a kernel that are measured at most; 0: 24 */
  void (*told)(void *user, const tile_program_choice *choice); /* of each kernel; may be NULL */
  void *user;
} tile_program_tuning;

/* Runs the program once, as tile_program_run does, and chooses on the way block sizes and launch
 * options of each kernel: what is on file for it, else what is fastest on copies of the arrays that
 * it is about to read, measured in a process of its own. Later runs and recordings have what was
 * chosen, recordings from before what they had. What cannot be tuned stays as it is: `told` hears
 * why. Waits for the stream. TILE_IO_ERROR: the file is malformed. */
TILE_API tile_status tile_program_tune(tile_program *program, tile_stream *stream, uint64_t seed,
                                       const tile_tensor *inputs, size_t input_count,
                                       const tile_tensor *outputs, size_t output_count,
                                       const tile_program_tuning *tuning);

#ifdef __cplusplus
}
#endif

#endif
