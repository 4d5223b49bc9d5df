// SPDX-License-Identifier: Apache-2.0
// The CUDA driver's entry points, opened at run time: Tile needs neither headers nor libraries of
// the CUDA toolkit to build or to start. One table has name, symbol and prototype of every call;
// handles are void pointers and results are ints.
#ifndef TILE_RUNTIME_CUDA_API_H
#define TILE_RUNTIME_CUDA_API_H

#include "runtime/runtime_internal.h"

// field, symbol, parameters; all return CUresult. Device addresses are integers, as in cuda.h.
#define CUDA_CALLS(X)                                                                              \
  X(init, cuInit, (unsigned flags))                                                                \
  X(driver_version, cuDriverGetVersion, (int *version))                                            \
  X(error_name, cuGetErrorName, (int error, const char **name))                                    \
  X(error_text, cuGetErrorString, (int error, const char **text))                                  \
  X(device_count, cuDeviceGetCount, (int *count))                                                  \
  X(device_get, cuDeviceGet, (int *device, int ordinal))                                           \
  X(device_name, cuDeviceGetName, (char *name, int size, int device))                              \
  X(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, int device))               \
  X(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, int device))                              \
  X(context_retain, cuDevicePrimaryCtxRetain, (void **context, int device))                        \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (int device))                                   \
  X(context_get, cuCtxGetCurrent, (void **context))                                                \
  X(context_set, cuCtxSetCurrent, (void *context))                                                 \
  X(context_device, cuCtxGetDevice, (int *device))                                                 \
  X(mem_alloc, cuMemAlloc_v2, (uint64_t * address, size_t size))                                   \
  X(mem_free, cuMemFree_v2, (uint64_t address))                                                    \
  X(mem_range, cuMemGetAddressRange_v2, (uint64_t * base, size_t * size, uint64_t address))        \
  X(copy_to_device, cuMemcpyHtoDAsync_v2,                                                          \
    (uint64_t to, const void *from, size_t size, void *stream))                                    \
  X(copy_to_host, cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t size, void *stream))      \
  X(copy_on_device, cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t size, void *stream)) \
  X(fill_bytes, cuMemsetD8Async, (uint64_t to, unsigned char byte, size_t count, void *stream))    \
  X(cpu_alloc, cuMemHostAlloc, (void **p, size_t size, unsigned flags))                            \
  X(cpu_free, cuMemFreeHost, (void *p))                                                            \
  X(stream_create, cuStreamCreate, (void **stream, unsigned flags))                                \
  X(stream_destroy, cuStreamDestroy_v2, (void *stream))                                            \
  X(stream_wait, cuStreamSynchronize, (void *stream))                                              \
  X(event_create, cuEventCreate, (void **event, unsigned flags))                                   \
  X(event_destroy, cuEventDestroy_v2, (void *event))                                               \
  X(event_record, cuEventRecord, (void *event, void *stream))                                      \
  X(event_wait, cuEventSynchronize, (void *event))                                                 \
  X(event_elapsed, cuEventElapsedTime, (float *ms, void *start, void *stop))                       \
  X(module_load, cuModuleLoadDataEx,                                                               \
    (void **module, const void *image, unsigned count, int *options, void **values))               \
  X(module_unload, cuModuleUnload, (void *module))                                                 \
  X(module_function, cuModuleGetFunction, (void **function, void *module, const char *name))       \
  X(link_create, cuLinkCreate_v2, (unsigned count, int *options, void **values, void **link))      \
  X(link_add, cuLinkAddData_v2,                                                                    \
    (void *link, int kind, void *data, size_t size, const char *name, unsigned count,              \
     int *options, void **values))                                                                 \
  X(link_complete, cuLinkComplete, (void *link, void **cubin, size_t *size))                       \
  X(link_destroy, cuLinkDestroy, (void *link))                                                     \
  X(function_get, cuFuncGetAttribute, (int *value, int attribute, void *function))                 \
  X(function_set, cuFuncSetAttribute, (void *function, int attribute, int value))                  \
  X(capture_begin, cuStreamBeginCapture_v2, (void *stream, int mode))                              \
  X(capture_end, cuStreamEndCapture, (void *stream, void **graph))                                 \
  X(graph_make, cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags)) \
  X(graph_launch, cuGraphLaunch, (void *exec, void *stream))                                       \
  X(capture_mode, cuThreadExchangeStreamCaptureMode, (int *mode))                                  \
  X(graph_destroy, cuGraphDestroy, (void *graph))                                                  \
  X(exec_destroy, cuGraphExecDestroy, (void *exec))                                                \
  X(launch, cuLaunchKernel,                                                                        \
    (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,          \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **params,       \
     void **extra))

// Calls of newer drivers; NULL where the driver lacks them.
#define CUDA_OPTIONAL_CALLS(X)                                                                     \
  X(tensor_map_encode, cuTensorMapEncodeTiled,                                                     \
    (void *map, int type, unsigned rank, void *address, const uint64_t *sizes,                     \
     const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,                \
     int interleave, int swizzle, int promotion, int fill))                                        \
  X(is_capturing, cuStreamIsCapturing, (void *stream, int *status))                                \
  X(launch_ex, cuLaunchKernelEx,                                                                   \
    (const struct cuda_launch_config *config, void *function, void **params, void **extra))

// CUlaunchAttribute and CUlaunchConfig.
struct cuda_launch_attribute {
  int id; // enum CUDA_LAUNCH_...
  int zero;
  union {
    int is_allowed;      // CUDA_LAUNCH_PROGRAMMATIC_SERIALIZATION
    unsigned cluster[3]; // CUDA_LAUNCH_CLUSTER
    uint64_t bytes[8];
  } value;
};

struct cuda_launch_config {
  unsigned grid[3], block[3], shared_bytes;
  void *stream;
  struct cuda_launch_attribute *attributes;
  unsigned attribute_count;
};

struct cuda_api {
#define X(field, symbol, params) int(*field) params;
  CUDA_CALLS(X)
  CUDA_OPTIONAL_CALLS(X)
#undef X
};

enum cuda_call {
#define X(field, symbol, params) CUDA_CALL_##field,
  CUDA_CALLS(X) CUDA_OPTIONAL_CALLS(X)
#undef X
      CUDA_CALL_COUNT
};

// Opens libcuda.so.1 (or the file in TILE_LIBCUDA, which set-user-id programs ignore), resolves
// every symbol and initialises the driver. TILE_NO_DEVICE without a driver, TILE_DRIVER_TOO_OLD
// with the name of a missing symbol. The library is never closed.
tile_status cuda_api_load(struct cuda_api *ret);

// A failed call as status and message: call, driver's error name, hint.
tile_status cuda_failure(const struct cuda_api *api, enum cuda_call call, int result);

// `CUDA_TRY(api, mem_alloc, (&p, n))` returns from the caller with the status if the call fails.
#define CUDA_TRY(api, field, args)                                                                 \
  do {                                                                                             \
    int cuda_result_ = (api)->field args;                                                          \
    if (cuda_result_ != 0)                                                                         \
      return cuda_failure((api), CUDA_CALL_##field, cuda_result_);                                 \
  } while (0)

// The attributes and options that are used here, with the driver's numbers: cuDeviceGetAttribute,
// cuFuncGetAttribute, cuModuleLoadDataEx.
enum {
  CUDA_DEVICE_MAX_GRID_X = 5,
  CUDA_DEVICE_MAX_GRID_Y = 6,
  CUDA_DEVICE_MAX_GRID_Z = 7,
  CUDA_DEVICE_MULTIPROCESSORS = 16,
  CUDA_DEVICE_MEMORY_CLOCK_KHZ = 36,
  CUDA_DEVICE_MEMORY_BUS_BITS = 37,
  CUDA_DEVICE_L2_BYTES = 38,
  CUDA_DEVICE_CAPABILITY_MAJOR = 75,
  CUDA_DEVICE_CAPABILITY_MINOR = 76,
  CUDA_DEVICE_SHARED_OPTIN = 97,
};
enum {
  CUDA_FUNCTION_LOCAL_BYTES = 3,
  CUDA_FUNCTION_REGISTERS = 4,
  CUDA_FUNCTION_MAX_SHARED = 8,
  CUDA_FUNCTION_LARGE_CLUSTERS = 14 // of more CTAs than every GPU has
};
enum {
  CUDA_JIT_INFO_LOG = 3,
  CUDA_JIT_INFO_LOG_BYTES = 4,
  CUDA_JIT_ERROR_LOG = 5,
  CUDA_JIT_ERROR_LOG_BYTES = 6,
  CUDA_JIT_LEVEL = 7, // of optimisation, 0 to 4; default 4
  CUDA_JIT_LINE_INFO = 13,
};
enum { CUDA_CAPTURE_THREAD = 1 };  // of cuStreamBeginCapture: does not affect other threads
enum { CUDA_CAPTURE_RELAXED = 2 }; // of cuThreadExchangeStreamCaptureMode
enum { CUDA_LINK_PTX = 1 };        // of cuLinkAddData
// Of cuLaunchKernelEx: the kernel may begin before the kernel in front of it in the stream has
// ended; its griddepcontrol.wait waits for that.
enum { CUDA_LAUNCH_CLUSTER = 4, CUDA_LAUNCH_PROGRAMMATIC_SERIALIZATION = 6 };
// The first driver whose stream captures keep that order as an edge of the graph.
enum { CUDA_PROGRAMMATIC_EDGES = 12030 };
enum {
  CUDA_MAP_PROMOTE_256 = 3
}; // of cuTensorMapEncodeTiled: bytes that a miss loads to L2: the rows of a block are read whole

// Opens a GPU over `api`, which is copied; tests pass a fake driver.
tile_status cuda_device_open_with(const struct cuda_api *api, int ordinal, tile_device **ret);

#endif
