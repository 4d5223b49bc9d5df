// SPDX-License-Identifier: Apache-2.0
// See fake_cuda.h.
#include "fake_cuda.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define X(field, symbol, params) EXPORT int symbol params;
CUDA_CALLS(X)
CUDA_OPTIONAL_CALLS(X)
#undef X

extern struct fake_cuda fake_cuda_state;
EXPORT struct fake_cuda fake_cuda_state = {
    .device_count = 1, .major = 9, .minor = 0, .driver_version = 13000};
static struct fake_cuda *const fake = &fake_cuda_state;

static int context_object;
// In the static part of thread-local storage: the leak checker cannot handle that of loaded
// libraries.
static _Thread_local void *current __attribute__((tls_model("initial-exec")));

static int broken;             // result of every call after an error that destroys the context
static float launch_ms = 1.5f; // of the last launch

// Counts the call and returns its configured result.
#define ENTRY(field)                                                                               \
  do {                                                                                             \
    __atomic_fetch_add(&fake->calls[CUDA_CALL_##field], 1, __ATOMIC_RELAXED);                      \
    if (fake->fail[CUDA_CALL_##field])                                                             \
      return fake->fail[CUDA_CALL_##field];                                                        \
  } while (0)

// Calls that the driver rejects without a context, or in a broken one.
#define ENTRY_IN_CONTEXT(field)                                                                    \
  do {                                                                                             \
    ENTRY(field);                                                                                  \
    if (broken)                                                                                    \
      return broken;                                                                               \
    if (current != &context_object)                                                                \
      return 201;                                                                                  \
  } while (0)

struct fake_module {
  char image[64]; // first bytes of the loaded module
};

// Allocations of cuMemAlloc, for cuMemGetAddressRange; those beyond the table's size are not
// recorded.
static struct {
  uint64_t base;
  size_t size;
} ranges[256];
static pthread_mutex_t ranges_lock = PTHREAD_MUTEX_INITIALIZER;

// Sets the size of the allocation at `base` (0: of a free slot) from `old` to `size`.
static void note_range(uint64_t old, uint64_t base, size_t size) {
  pthread_mutex_lock(&ranges_lock);
  for (size_t i = 0; i < COUNT_OF(ranges); i++)
    if (ranges[i].base == old) {
      ranges[i].base = base;
      ranges[i].size = size;
      break;
    }
  pthread_mutex_unlock(&ranges_lock);
}

static void note_work(char kind) {
  size_t n = strlen(fake->work);
  if (fake->param_count && n + 1 < sizeof fake->work)
    fake->work[n] = kind;
}

static void *at(uint64_t address) { return (void *)(uintptr_t)address; }
static void change(int *counter, int by) { __atomic_fetch_add(counter, by, __ATOMIC_RELAXED); }

int cuInit(unsigned flags) {
  ENTRY(init);
  return flags ? 1 : 0;
}

int cuDriverGetVersion(int *version) {
  ENTRY(driver_version);
  *version = fake->driver_version;
  return 0;
}

int cuGetErrorName(int error, const char **name) {
  ENTRY(error_name);
  *name = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
  return 0;
}

int cuGetErrorString(int error, const char **text) {
  ENTRY(error_text);
  *text = error == 2 ? "out of memory" : "made up by the test";
  return 0;
}

int cuDeviceGetCount(int *count) {
  ENTRY(device_count);
  *count = fake->device_count;
  return 0;
}

int cuDeviceGet(int *device, int ordinal) {
  ENTRY(device_get);
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char *name, int size, int device) {
  ENTRY(device_name);
  snprintf(name, (size_t)size, "Fake GPU %d", device);
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  ENTRY(device_attribute);
  (void)device;
  switch (attribute) {
  case CUDA_DEVICE_MAX_GRID_X: *value = 0x7fffffff; break;
  case CUDA_DEVICE_MAX_GRID_Y:
  case CUDA_DEVICE_MAX_GRID_Z: *value = 65535; break;
  case CUDA_DEVICE_MULTIPROCESSORS: *value = 132; break;
  case CUDA_DEVICE_MEMORY_CLOCK_KHZ: *value = 3201000; break;
  case CUDA_DEVICE_MEMORY_BUS_BITS: *value = 6144; break;
  case CUDA_DEVICE_L2_BYTES: *value = 1 << 20; break; // small, so that flushing is fast
  case CUDA_DEVICE_CAPABILITY_MAJOR: *value = fake->major; break;
  case CUDA_DEVICE_CAPABILITY_MINOR: *value = fake->minor; break;
  case CUDA_DEVICE_SHARED_OPTIN: *value = 227 << 10; break;
  default: return 1;
  }
  return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  ENTRY(device_memory);
  (void)device;
  *bytes = (size_t)1 << 37;
  return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  ENTRY(context_retain);
  (void)device;
  *context = &context_object;
  change(&fake->live_contexts, 1);
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  ENTRY(context_release);
  (void)device;
  change(&fake->live_contexts, -1);
  current = NULL;
  return 0;
}

int cuCtxGetCurrent(void **context) {
  ENTRY(context_get);
  *context = current;
  return 0;
}

int cuCtxSetCurrent(void *context) {
  ENTRY(context_set);
  current = context;
  return 0;
}

int cuCtxGetDevice(int *device) {
  ENTRY(context_device);
  *device = 0;
  return current ? 0 : 201;
}

int cuMemAlloc_v2(uint64_t *address, size_t size) {
  ENTRY_IN_CONTEXT(mem_alloc);
  void *p = size > (size_t)1 << 36 ? NULL : malloc(size);
  if (!p)
    return 2;
  *address = (uint64_t)(uintptr_t)p;
  note_range(0, *address, size);
  change(&fake->live_allocations, 1);
  return 0;
}

int cuMemFree_v2(uint64_t address) {
  ENTRY_IN_CONTEXT(mem_free);
  note_range(address, 0, 0);
  free(at(address));
  change(&fake->live_allocations, -1);
  return 0;
}

int cuMemGetAddressRange_v2(uint64_t *base, size_t *size, uint64_t address) {
  ENTRY_IN_CONTEXT(mem_range);
  int result = 500;
  pthread_mutex_lock(&ranges_lock);
  for (size_t i = 0; i < COUNT_OF(ranges); i++)
    if (ranges[i].base && address - ranges[i].base < ranges[i].size) {
      *base = ranges[i].base;
      *size = ranges[i].size;
      result = 0;
    }
  pthread_mutex_unlock(&ranges_lock);
  return result;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream) {
  ENTRY_IN_CONTEXT(copy_to_device);
  (void)stream;
  memcpy(at(to), from, size);
  return 0;
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream) {
  ENTRY_IN_CONTEXT(copy_to_host);
  (void)stream;
  memcpy(to, at(from), size);
  return 0;
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream) {
  ENTRY_IN_CONTEXT(copy_on_device);
  (void)stream;
  note_work('c');
  memmove(at(to), at(from), size);
  return 0;
}

int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t count, void *stream) {
  ENTRY_IN_CONTEXT(fill_bytes);
  (void)stream;
  note_work('m');
  memset(at(to), byte, count);
  return 0;
}

// Streams, events and modules are plain allocations, so that leaks and double frees show.
static int make(void **ret, int *counter) {
  *ret = malloc(1);
  change(counter, 1);
  return *ret ? 0 : 2;
}

static void drop(void *object, int *counter) {
  free(object);
  change(counter, -1);
}

int cuStreamCreate(void **stream, unsigned flags) {
  ENTRY_IN_CONTEXT(stream_create);
  (void)flags;
  return make(stream, &fake->live_streams);
}

int cuStreamDestroy_v2(void *stream) {
  drop(stream, &fake->live_streams); // even if the call fails: callers do not retry
  ENTRY_IN_CONTEXT(stream_destroy);
  return 0;
}

// A recording is the number of launches during it.
int cuStreamBeginCapture_v2(void *stream, int mode) {
  ENTRY_IN_CONTEXT(capture_begin);
  (void)mode;
  return stream ? 0 : 1;
}

int cuStreamIsCapturing(void *stream, int *status) {
  ENTRY(is_capturing);
  (void)stream;
  *status = fake->is_captured;
  return 0;
}

int cuThreadExchangeStreamCaptureMode(int *mode) {
  ENTRY_IN_CONTEXT(capture_mode);
  int before = fake->capture_mode;
  fake->capture_mode = *mode;
  *mode = before;
  return 0;
}

int cuStreamEndCapture(void *stream, void **graph) {
  ENTRY_IN_CONTEXT(capture_end);
  (void)stream;
  return make(graph, &fake->live_graphs);
}

int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  ENTRY_IN_CONTEXT(graph_make);
  (void)graph;
  (void)flags;
  return make(exec, &fake->live_graphs);
}

int cuGraphLaunch(void *exec, void *stream) {
  ENTRY_IN_CONTEXT(graph_launch);
  (void)exec;
  (void)stream;
  return 0;
}

int cuGraphDestroy(void *graph) {
  drop(graph, &fake->live_graphs);
  ENTRY_IN_CONTEXT(graph_destroy);
  return 0;
}

int cuGraphExecDestroy(void *exec) {
  drop(exec, &fake->live_graphs);
  ENTRY_IN_CONTEXT(exec_destroy);
  return 0;
}

int cuMemHostAlloc(void **p, size_t size, unsigned flags) {
  ENTRY_IN_CONTEXT(cpu_alloc);
  (void)flags;
  *p = malloc(size);
  change(&fake->live_allocations, 1);
  return *p ? 0 : 2;
}

int cuMemFreeHost(void *p) {
  drop(p, &fake->live_allocations); // even if the call fails
  ENTRY_IN_CONTEXT(cpu_free);
  return 0;
}

int cuStreamSynchronize(void *stream) {
  ENTRY_IN_CONTEXT(stream_wait);
  (void)stream;
  return 0;
}

int cuEventCreate(void **event, unsigned flags) {
  ENTRY_IN_CONTEXT(event_create);
  (void)flags;
  return make(event, &fake->live_events);
}

int cuEventDestroy_v2(void *event) {
  drop(event, &fake->live_events); // even if the call fails: callers do not retry
  ENTRY_IN_CONTEXT(event_destroy);
  return 0;
}

int cuEventRecord(void *event, void *stream) {
  ENTRY_IN_CONTEXT(event_record);
  (void)event;
  (void)stream;
  return 0;
}

int cuEventSynchronize(void *event) {
  ENTRY_IN_CONTEXT(event_wait);
  (void)event;
  return 0;
}

int cuEventElapsedTime(float *ms, void *start, void *stop) {
  ENTRY_IN_CONTEXT(event_elapsed);
  (void)start;
  (void)stop;
  *ms = launch_ms;
  return 0;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                       void **values) {
  for (unsigned i = 0; i < count; i++)
    if (options[i] == CUDA_JIT_ERROR_LOG && fake->error_log)
      strcpy(values[i], fake->error_log);
    else if (options[i] == CUDA_JIT_INFO_LOG && fake->info_log)
      strcpy(values[i], fake->info_log);
  ENTRY_IN_CONTEXT(module_load);
  if (!image)
    return 200;
  if (fake->refuse_cubins && memcmp(image, "\177ELF", 4) == 0)
    return 209;
  struct fake_module *m = calloc(1, sizeof *m);
  if (!m)
    return 2;
  memcpy(m->image, image, strnlen(image, sizeof m->image - 1));
  *module = m;
  change(&fake->live_modules, 1);
  return 0;
}

int cuModuleUnload(void *module) {
  drop(module, &fake->live_modules); // even if the call fails: callers do not retry
  ENTRY_IN_CONTEXT(module_unload);
  return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
  ENTRY_IN_CONTEXT(module_function);
  (void)name;
  *function = module;
  return 0;
}

struct fake_link {
  char *log;   // receives errors, or NULL
  char *cubin; // NULL: not complete
  bool is_quick;
  char text[64];
};

int cuLinkCreate_v2(unsigned count, int *options, void **values, void **link) {
  ENTRY_IN_CONTEXT(link_create);
  struct fake_link *l = calloc(1, sizeof *l);
  for (unsigned i = 0; l && i < count; i++)
    if (options[i] == CUDA_JIT_ERROR_LOG)
      l->log = values[i];
    else if (options[i] == CUDA_JIT_INFO_LOG && fake->info_log)
      strcpy(values[i], fake->info_log);
    else if (options[i] == CUDA_JIT_LEVEL)
      l->is_quick = (uintptr_t)values[i] < 3;
  for (unsigned i = 0; l && l->is_quick && i < count; i++)
    if (options[i] == CUDA_JIT_INFO_LOG && fake->quick_log)
      strcpy(values[i], fake->quick_log);
  *link = l;
  change(&fake->live_links, 1);
  return l ? 0 : 2;
}

int cuLinkAddData_v2(void *link, int kind, void *data, size_t size, const char *name,
                     unsigned count, int *options, void **values) {
  struct fake_link *l = link;
  (void)name, (void)count, (void)options, (void)values;
  if (fake->error_log && l->log)
    strcpy(l->log, fake->error_log);
  ENTRY_IN_CONTEXT(link_add);
  if (kind != CUDA_LINK_PTX || ((char *)data)[size - 1] != '\0')
    return 200;
  if (strstr(data, "badcrash"))
    raise(SIGSEGV);
  if (strstr(data, "bad")) {
    strcpy(l->log, "ptxas fatal: bad");
    return 218;
  }
  snprintf(l->text, sizeof l->text, "\177ELF%s%.50s", l->is_quick ? "quick " : "", (char *)data);
  return 0;
}

int cuLinkComplete(void *link, void **cubin, size_t *size) {
  struct fake_link *l = link;
  while (fake->holds_best && !l->is_quick)
    usleep(1000);
  ENTRY_IN_CONTEXT(link_complete);
  *cubin = l->cubin = strdup(l->text);
  *size = strlen(l->text) + 1;
  return 0;
}

int cuLinkDestroy(void *link) {
  struct fake_link *l = link; // even if the call fails: callers do not retry
  free(l->cubin);
  free(l);
  change(&fake->live_links, -1);
  ENTRY_IN_CONTEXT(link_destroy);
  return 0;
}

int cuFuncGetAttribute(int *value, int attribute, void *function) {
  ENTRY_IN_CONTEXT(function_get);
  (void)function;
  *value = attribute == CUDA_FUNCTION_REGISTERS ? 40 : 16;
  return 0;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
  ENTRY_IN_CONTEXT(function_set);
  (void)function;
  if (attribute == CUDA_FUNCTION_MAX_SHARED)
    fake->max_shared = value;
  fake->large_clusters |= attribute == 14 && value == 1;
  return 0;
}

#if !defined(FAKE_WITHOUT_LAUNCH)
// Words in a module that control its kernel.
static void act(const char *words, void **params) {
  const char *p;
  if (strstr(words, "crash"))
    raise(SIGSEGV);
  if (strstr(words, "exit"))
    _exit(7);
  while (strstr(words, "hang"))
    pause();
  if ((p = strstr(words, "error=")))
    broken = atoi(p + 6);
  if ((p = strstr(words, "ms=")))
    launch_ms = (float)atof(p + 3);
  if ((p = strstr(words, "store="))) {
    uint64_t address;
    memcpy(&address, params[0], sizeof address);
    *(char *)at(address) = (char)atoi(p + 6);
  }
}

#ifndef FAKE_WITHOUT_MAPS
// The first eight bytes tell the address and the outer size.
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box,
                           const uint32_t *element_strides, int interleave, int swizzle,
                           int promotion, int fill) {
  ENTRY(tensor_map_encode);
  fake->map = (struct fake_map){
      type, interleave, swizzle, promotion, fill, rank, (uint64_t)(uintptr_t)address,
      {0},  {0},        {0},     {0}};
  for (unsigned i = 0; i < rank; i++) {
    fake->map.sizes[i] = sizes[i];
    fake->map.box[i] = box[i];
    fake->map.element_strides[i] = element_strides[i];
    if (i)
      fake->map.strides[i - 1] = strides[i - 1];
  }
  uint64_t mark = (uint64_t)(uintptr_t)address ^ sizes[rank - 1];
  memset(map, 0, 128);
  memcpy(map, &mark, sizeof mark);
  return 0;
}
#endif

static int launch(void *function, const struct cuda_launch_config *c, void **params, char kind) {
  act(((struct fake_module *)function)->image, params);
  if (!fake->param_count)
    return 0; // timing: no work besides the call
  note_work(kind);
  memcpy(fake->launched, ((struct fake_module *)function)->image, sizeof fake->launched);
  memcpy(fake->grid, c->grid, sizeof fake->grid);
  fake->block = c->block[0];
  fake->shared_bytes = c->shared_bytes;
  fake->stream = c->stream;
  for (unsigned i = 0; i < fake->param_count; i++)
    memcpy(&fake->params[i], params[i], sizeof fake->params[i]);
  return 0;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *stream, void **params, void **extra) {
  ENTRY_IN_CONTEXT(launch);
  (void)extra;
  const struct cuda_launch_config c = {.grid = {grid_x, grid_y, grid_z},
                                       .block = {block_x, block_y, block_z},
                                       .shared_bytes = shared_bytes,
                                       .stream = stream};
  return launch(function, &c, params, 'k');
}

#ifndef FAKE_WITHOUT_MAPS // nor this
int cuLaunchKernelEx(const struct cuda_launch_config *c, void *function, void **params,
                     void **extra) {
  ENTRY_IN_CONTEXT(launch_ex);
  (void)extra;
  unsigned pdl = 0, clusters = 0;
  fake->cluster = 0;
  for (unsigned i = 0; i < c->attribute_count; i++) {
    const struct cuda_launch_attribute *a = &c->attributes[i];
    pdl += a->id == 6 && a->value.is_allowed == 1;
    if (a->id == 4 && a->value.cluster[1] == 1 && a->value.cluster[2] == 1) {
      fake->cluster = a->value.cluster[0];
      clusters++;
    }
  }
  bool is_known = pdl <= 1 && clusters <= 1 && pdl + clusters == c->attribute_count;
  return launch(function, c, params,
                !is_known         ? '?'
                : pdl && clusters ? 'b'
                : pdl             ? 'p'
                : clusters        ? 'c'
                                  : '?');
}
#endif
#endif
