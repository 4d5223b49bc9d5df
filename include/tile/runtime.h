/* SPDX-License-Identifier: Apache-2.0 */
/* Tile runtime: devices, memory, streams, events, replay. C89-clean, usable from C++.
 *
 * Conventions of all Tile headers.
 * Errors: a call that can fail returns a tile_status; it writes ret_ parameters only on TILE_OK.
 * tile_error_message() describes the calling thread's last failure. No call exits, aborts, prints.
 * Ownership: the caller releases what a create or open call returned with the matching destroy or
 * close call, which accepts NULL. Release events, streams, kernels and buffers before their device.
 * Threads: calls on different objects may run concurrently. Several threads may use one device;
 * only one thread at a time may use a stream. Sizes are in bytes unless stated otherwise. */
#ifndef TILE_RUNTIME_H
#define TILE_RUNTIME_H

#include <tile/version.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TILE_API __attribute__((visibility("default")))
#else
#define TILE_API
#endif

typedef enum tile_status {
  TILE_OK = 0,
  TILE_INVALID_ARGUMENT, /* a null pointer, or an impossible size or name */
  TILE_COMPILE_ERROR,    /* the source was wrong: tile_error_message() holds the diagnostics */
  TILE_NO_DEVICE,        /* no GPU, no driver, or no such device */
  TILE_DRIVER_TOO_OLD,   /* the CUDA driver lacks a function that Tile needs */
  TILE_OUT_OF_MEMORY,    /* host memory */
  TILE_OUT_OF_DEVICE_MEMORY,
  TILE_LAUNCH_FAILED, /* the device refused a launch or stopped it */
  TILE_CHECK_FAILED,  /* CPU with checks, simulated GPU: an invalid access, race or assertion */
  TILE_NOT_FOUND,     /* file, kernel or symbol */
  TILE_IO_ERROR,
  TILE_LIMIT,   /* a documented limit was reached */
  TILE_INTERNAL /* a bug in this library, or a compile worker that died (tile.h) */
} tile_status;

TILE_API const char *tile_status_name(tile_status status); /* "invalid argument"; static */
/* Describes the calling thread's last failure; "" if there was none. Valid until the thread's next
 * failing call. */
TILE_API const char *tile_error_message(void);
/* The same failure as one JSON document: {"status": "compile error", "message": "...",
 * "diagnostics": [...]}. The array has a record for each error and warning of a compilation, with
 * code, message, file, line, column, notes and help (docs/diagnostics.md); it is empty after other
 * failures. Valid until the thread's next failing call, or the next call of this function. */
TILE_API const char *tile_error_json(void);
TILE_API const char *tile_version(void); /* "0.2.0" */

/* ---- devices ---- */
typedef struct tile_device tile_device;

typedef struct tile_device_properties {
  char name[128];  /* "NVIDIA H200", or the CPU's name */
  char target[16]; /* "sm_90a", "cpu": what to compile for */
  int is_cpu;
  int multiprocessors; /* CPU: worker threads */
  int driver_version;  /* 13000 for 13.0; 0 on the CPU and in simulations */
  size_t memory;       /* total bytes */
  size_t l2_bytes;     /* 0 when unknown */
  size_t shared_limit; /* most bytes of shared memory per CTA */
  double memory_gbs;   /* peak memory bandwidth from clock and bus width, GB/s; 0 when unknown */
} tile_device_properties;

/* `name`: "auto" or NULL (the first GPU, else the CPU), "cpu", "cuda", "cuda:1", or
 * "simulate:sm_90a". The simulator needs no GPU: libtile interprets the PTX for that target
 * (docs/simulator.md). Its results follow the PTX ISA; its times are meaningless. An access outside
 * of the device's buffers ends the launch with TILE_CHECK_FAILED. libtile-rt has no simulator:
 * TILE_NO_DEVICE. */
TILE_API tile_status tile_device_open(const char *name, tile_device **ret_device);
/* For programs that create CUDA contexts: the GPU of a CUcontext, which must outlive the device.
 * NULL: the calling thread's current context. */
TILE_API tile_status tile_device_from_context(void *cuda_context, tile_device **ret_device);
TILE_API void tile_device_close(tile_device *device); /* accepts NULL */
TILE_API tile_status tile_device_get_properties(tile_device *device, tile_device_properties *ret);
TILE_API int tile_device_count(void); /* GPUs; 0 without a driver */

/* ---- memory: device pointers are addresses in the device's memory ---- */
/* Allocates `size` bytes; 0 gives a valid pointer too. TILE_OUT_OF_DEVICE_MEMORY. */
TILE_API tile_status tile_malloc(tile_device *device, size_t size, void **ret_pointer);
TILE_API tile_status tile_free(tile_device *device, void *pointer); /* accepts NULL */

/* Checked launches on the CPU device find accesses outside of its buffers. This makes `size` bytes
 * of memory of the process, which another library allocated, such a buffer until it is
 * unregistered. Launches without checks need no registration. Registering the same bytes again
 * counts; bytes that overlap another buffer are TILE_INVALID_ARGUMENT. On other devices both calls
 * do nothing. */
TILE_API tile_status tile_memory_register(tile_device *device, void *pointer, size_t size);
TILE_API tile_status tile_memory_unregister(tile_device *device, void *pointer);

/* ---- streams and events. A NULL stream is the device's default stream. ---- */
typedef struct tile_stream tile_stream;
typedef struct tile_event tile_event;
TILE_API tile_status tile_stream_create(tile_device *device, tile_stream **ret_stream);
/* Wraps a CUstream of the device's context; tile_stream_destroy does not destroy the CUstream. */
TILE_API tile_status tile_stream_from_handle(tile_device *device, void *cuda_stream,
                                             tile_stream **ret_stream);
TILE_API void tile_stream_destroy(tile_stream *stream);
TILE_API tile_status tile_stream_synchronize(tile_device *device, tile_stream *stream);
TILE_API tile_status tile_event_create(tile_device *device, tile_event **ret_event);
TILE_API void tile_event_destroy(tile_event *event);
TILE_API tile_status tile_event_record(tile_device *device, tile_event *event, tile_stream *stream);
/* Milliseconds between two recorded events. Waits for `stop`. */
TILE_API tile_status tile_event_elapsed(tile_event *start, tile_event *stop, float *ret_ms);
/* Copies and fills of `size` bytes, ordered in the stream. A copy from or to the host returns when
 * the host memory may be reused or read. */
TILE_API tile_status tile_copy_to_device(tile_device *device, tile_stream *stream, void *to,
                                         const void *from, size_t size);
TILE_API tile_status tile_copy_to_host(tile_device *device, tile_stream *stream, void *to,
                                       const void *from, size_t size);
TILE_API tile_status tile_copy_on_device(tile_device *device, tile_stream *stream, void *to,
                                         const void *from, size_t size);
TILE_API tile_status tile_memset(tile_device *device, tile_stream *stream, void *to, int byte,
                                 size_t size);

/* ---- replay: record work once, run it many times, each time with one call ---- */

typedef struct tile_replay tile_replay;

/* Between begin and end, `stream` records this thread's launches, tile_memset and
 * tile_copy_on_device calls instead of running them; other calls on the stream fail. On a GPU the
 * recording is a CUDA graph. `stream` must not be the default stream. Load kernels before
 * (tile_kernel_prepare). Kernels, functions and memory must outlive the replay. tile_replay_end
 * returns the first error of the recording. */
TILE_API tile_status tile_replay_begin(tile_device *device, tile_stream *stream);
TILE_API tile_status tile_replay_end(tile_device *device, tile_stream *stream,
                                     tile_replay **ret_replay);
/* Runs the recording; asynchronous on a GPU. Runs of one replay do not overlap. */
TILE_API tile_status tile_replay_run(tile_replay *replay, tile_stream *stream);
TILE_API void tile_replay_destroy(tile_replay *replay); /* accepts NULL */

/* ---- arguments ---- */
typedef enum tile_type { /* F8E5: E5M2; F8E4NV: E4M3 (NVIDIA); F8E4B15: E4M3 with bias 15 */
                         TILE_I1,
                         TILE_I8,
                         TILE_I16,
                         TILE_I32,
                         TILE_I64,
                         TILE_U8,
                         TILE_U16,
                         TILE_U32,
                         TILE_U64,
                         TILE_F8E5,
                         TILE_F8E4NV,
                         TILE_F16,
                         TILE_BF16,
                         TILE_F32,
                         TILE_F64,
                         TILE_F8E4B15,
                         TILE_NONE,      /* of tile_arg_none() alone */
                         TILE_DESCRIPTOR /* of tile_arg_descriptor() alone */
} tile_type;

/* A tensor in device memory. The caller owns the memory and both arrays; calls copy the arrays. */
typedef struct tile_tensor {
  void *data;     /* device address of the first element */
  tile_type type; /* TILE_I1: one byte per element, 0 or 1 */
  int rank;
  const int64_t *shape;   /* `rank` sizes, outermost dimension first */
  const int64_t *strides; /* `rank` strides in elements; NULL: contiguous */
} tile_tensor;

/* A tensor in device memory and the blocks in which a kernel accesses it: Triton's
 * TensorDescriptor(x, x.shape, x.strides, block_shape). Zero-initialise it. A launch fails with
 * TILE_INVALID_ARGUMENT where a number is not as said here. */
typedef struct tile_descriptor {
  void *base;         /* device memory, aligned to 16 bytes */
  tile_type element;  /* I8 to F8E4B15 */
  unsigned rank;      /* 1 to 5; the arrays below have as many elements */
  int64_t shape[5];   /* elements, 1 to INT32_MAX */
  int64_t strides[5]; /* elements; the last is 1, the others are multiples of 16 bytes from 0 on */
  unsigned block[5];  /* elements, powers of two, the last at least 16 bytes; all 0: as the kernel
                       * declares (tensordesc[f16, [64, 32]]) or its pre_hook sets them */
  int pads_nan;       /* 1: elements outside of the tensor load as NaN instead of zero */
} tile_descriptor;

/* A kernel argument: a device pointer with its element type, a scalar, or a tensor descriptor. Make
 * it with the functions below. */
typedef struct tile_arg {
  int is_pointer; /* 0 for a tensor descriptor */
  tile_type type;
  union {
    void *pointer;
    int64_t integer; /* I1 to U64 */
    double real;     /* F8E5 to F8E4B15 */
    const tile_descriptor *descriptor;
  } value;
} tile_arg;

TILE_API tile_arg tile_arg_pointer(void *device_pointer, tile_type element);
TILE_API tile_arg tile_arg_int(tile_type type, int64_t value);
TILE_API tile_arg tile_arg_i32(int32_t value);
TILE_API tile_arg tile_arg_i64(int64_t value);
TILE_API tile_arg tile_arg_f32(float value);
TILE_API tile_arg tile_arg_f64(double value);
/* None for an optional parameter: the kernel is compiled for this launch with the compile-time
 * value None (`if b is not None:`), and the GPU gets no argument. For tile_launch and the like; a
 * tile_function, which is compiled already, takes no argument for such a parameter. */
TILE_API tile_arg tile_arg_none(void);
/* `descriptor` is read by each call that takes the argument, and not afterwards. */
TILE_API tile_arg tile_arg_descriptor(const tile_descriptor *descriptor);

typedef struct tile_grid {
  unsigned x, y, z; /* programs along each axis; 0 counts as 1 */
} tile_grid;

/* Options of one launch. Zero-initialise for defaults. */
typedef struct tile_launch_options {
  /* 1: begins after all earlier work of the stream has ended, although the kernel was compiled for
   * programmatic dependent launch (tile_kernel_set_launch_pdl). */
  int in_order;
} tile_launch_options;

#ifdef __cplusplus
}
#endif

#endif
