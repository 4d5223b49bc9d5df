// SPDX-License-Identifier: Apache-2.0
// Opens the CUDA driver and describes its errors.
#include "runtime/cuda_api.h"

#include "base/debug.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

static const char *const call_symbols[] = {
#define X(field, symbol, params) #symbol,
    CUDA_CALLS(X) CUDA_OPTIONAL_CALLS(X)
#undef X
};

// Driver errors as statuses, with a hint.
struct cuda_error {
  int code;
  tile_status status;
  const char *name; // for drivers that cannot be asked
  const char *hint;
};

static const struct cuda_error cuda_errors[] = {
    {1, TILE_INVALID_ARGUMENT, "CUDA_ERROR_INVALID_VALUE", NULL},
    {2, TILE_OUT_OF_DEVICE_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY",
     "the GPU's memory is full: free buffers, or stop other programs that use it"},
    {3, TILE_NO_DEVICE, "CUDA_ERROR_NOT_INITIALIZED", NULL},
    {4, TILE_NO_DEVICE, "CUDA_ERROR_DEINITIALIZED", "the process is exiting"},
    {34, TILE_NO_DEVICE, "CUDA_ERROR_STUB_LIBRARY",
     "the toolkit's stub libcuda was loaded: install the driver, or fix LD_LIBRARY_PATH"},
    {46, TILE_NO_DEVICE, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "another process holds the GPU exclusively"},
    {100, TILE_NO_DEVICE, "CUDA_ERROR_NO_DEVICE",
     "the driver sees no GPU; check `nvidia-smi` and CUDA_VISIBLE_DEVICES"},
    {101, TILE_NO_DEVICE, "CUDA_ERROR_INVALID_DEVICE", NULL},
    {200, TILE_INVALID_ARGUMENT, "CUDA_ERROR_INVALID_IMAGE", "the code is neither PTX nor a cubin"},
    {201, TILE_INVALID_ARGUMENT, "CUDA_ERROR_INVALID_CONTEXT",
     "the device was closed or reset while it was in use"},
    {209, TILE_DRIVER_TOO_OLD, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "the kernel was compiled for another GPU; compile for this device's target"},
    {218, TILE_INTERNAL, "CUDA_ERROR_INVALID_PTX", NULL},
    {221, TILE_NO_DEVICE, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
     "the driver's PTX compiler (libnvidia-ptxjitcompiler) is missing: reinstall the driver"},
    {222, TILE_DRIVER_TOO_OLD, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the driver does not know this version of PTX: update it"},
    {300, TILE_INVALID_ARGUMENT, "CUDA_ERROR_INVALID_SOURCE", NULL},
    {400, TILE_INVALID_ARGUMENT, "CUDA_ERROR_INVALID_HANDLE",
     "a stream, event or kernel was used after it was destroyed"},
    {500, TILE_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", NULL},
    {700, TILE_LAUNCH_FAILED, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "a kernel accessed memory outside its buffers; run it on the CPU device with checks. The "
     "GPU cannot be used any more by this process"},
    {701, TILE_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "the kernel needs more registers than a CTA can have: use fewer warps or a smaller block"},
    {702, TILE_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_TIMEOUT",
     "the kernel ran longer than the display allows. The GPU cannot be used any more by this "
     "process"},
    {710, TILE_LAUNCH_FAILED, "CUDA_ERROR_ASSERT",
     "a device_assert failed. The GPU cannot be used any more by this process"},
    {715, TILE_LAUNCH_FAILED, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "the GPU cannot be used any more by this process"},
    {716, TILE_LAUNCH_FAILED, "CUDA_ERROR_MISALIGNED_ADDRESS",
     "a pointer is less aligned than was promised. The GPU cannot be used any more by this "
     "process"},
    {717, TILE_LAUNCH_FAILED, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
     "the GPU cannot be used any more by this process"},
    {718, TILE_LAUNCH_FAILED, "CUDA_ERROR_INVALID_PC",
     "the GPU cannot be used any more by this process"},
    {719, TILE_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED",
     "the GPU cannot be used any more by this process"},
    {801, TILE_DRIVER_TOO_OLD, "CUDA_ERROR_NOT_SUPPORTED", NULL},
    {802, TILE_NO_DEVICE, "CUDA_ERROR_SYSTEM_NOT_READY",
     "the fabric manager or another system service is not running yet"},
    {803, TILE_DRIVER_TOO_OLD, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "the kernel module and libcuda have different versions: reboot after the driver update"},
    {804, TILE_DRIVER_TOO_OLD, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "the forward-compatibility libcuda does not serve this GPU: use the system's driver"},
    {999, TILE_LAUNCH_FAILED, "CUDA_ERROR_UNKNOWN", "the kernel log (dmesg) may say more"},
};

static const struct cuda_error *find_error(int code) {
  for (size_t i = 0; i < COUNT_OF(cuda_errors); i++)
    if (cuda_errors[i].code == code)
      return &cuda_errors[i];
  return NULL;
}

tile_status cuda_failure(const struct cuda_api *api, enum cuda_call call, int result) {
  const struct cuda_error *e = find_error(result);
  const char *name = NULL, *text = NULL;
  if (api->error_name(result, &name) != 0 || !name)
    name = e ? e->name : "unknown error";
  if (api->error_text(result, &text) != 0)
    text = NULL;
  debug_log(DEBUG_DRIVER, "%s: %s (%d)", call_symbols[call], name, result);
  // Before a device is open, every failure means TILE_NO_DEVICE.
  tile_status status = e ? e->status : TILE_LAUNCH_FAILED;
  if (call == CUDA_CALL_init && status != TILE_DRIVER_TOO_OLD)
    status = TILE_NO_DEVICE;
  const char *hint = e ? e->hint : NULL;
  return status_set(status, "%s failed: %s (%d)%s%s%s%s", call_symbols[call], name, result,
                    text ? ": " : "", text ? text : "", hint ? "\n  = help: " : "",
                    hint ? hint : "");
}

// A set-user-id program must not load a file that its caller's environment names.
static const char *library_name(void) {
#if defined(__linux__)
  if (getauxval(AT_SECURE))
    return "libcuda.so.1";
#endif
  const char *path = getenv("TILE_LIBCUDA");
  return path && *path ? path : "libcuda.so.1";
}

tile_status cuda_api_load(struct cuda_api *ret) {
  const char *name = library_name();
  // Never closed: the driver's threads and exit handlers would outlive its code.
  void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!lib) {
    const char *why = dlerror();
    return status_set(TILE_NO_DEVICE, "no CUDA driver: cannot load %s%s%s%s", name, why ? " (" : "",
                      why ? why : "", why ? ")" : "");
  }
  struct cuda_api api;
  const char *missing = NULL;
#define X(field, symbol, params)                                                                   \
  {                                                                                                \
    void *p = dlsym(lib, #symbol);                                                                 \
    if (!p && !missing)                                                                            \
      missing = #symbol;                                                                           \
    memcpy(&api.field, &p, sizeof p); /* ISO C has no cast from object to function pointers */     \
  }
  CUDA_CALLS(X)
  const char *const required = missing;
  CUDA_OPTIONAL_CALLS(X)
#undef X
  missing = required;
  if (missing)
    return status_set(TILE_DRIVER_TOO_OLD,
                      "the CUDA driver is too old: %s has no `%s`\n  = help: install a driver for "
                      "CUDA 11.8 or later",
                      name, missing);
  CUDA_TRY(&api, init, (0));
  *ret = api;
  return TILE_OK;
}
