// SPDX-License-Identifier: Apache-2.0
// Modules of a GPU: the driver loads or assembles code and launches it; launches are recorded as
// CUDA graphs and replayed.
#include "base/debug.h"
#include "base/memory.h"
#include "base/ptxas_log.h"
#include "runtime/cuda_device.h"

#include <stdlib.h>
#include <string.h>

// ---- loading ----

#define LOG_BYTES 4096

static tile_status load_failure(struct cuda_device *c, const struct kernel_info *info, int result,
                                const char *log) {
  tile_status s = cuda_failure(&c->api, CUDA_CALL_module_load, result);
  return status_set(s, "kernel `%s` does not load: %s%s%s", info->name, tile_error_message(),
                    log[0] ? "\n" : "", log);
}

// Code that the driver assembled, but not as the PTX asks: products by wgmma one after the other.
// It is right, and slow. TILE_DEBUG=strict, for tests, refuses it, as does who can do better.
static tile_status refuse_serialised(const char *log, bool has_better) {
  struct str problem = ptxas_log_problem(str_from(log));
  if (!problem.len || !(has_better || debug_on(DEBUG_STRICT)))
    return TILE_OK;
  return status_set(TILE_COMPILE_ERROR,
                    "the driver assembles the kernel otherwise than its PTX asks: %.*s\n"
                    "  = help: use smaller blocks or more warps; inline assembly must leave the "
                    "operands of wgmma alone until its wait",
                    STR_ARG(problem));
}

// A kernel that uses more than 48 KB of dynamic shared memory must raise its limit first.
#define SHARED_WITHOUT_ASKING (48u << 10)
enum { PORTABLE_CTAS = 8 }; // of a cluster: CUDA Programming Guide, "Thread Block Clusters"

static tile_status prepare_function(struct cuda_device *c, struct module *m) {
  CUDA_TRY(&c->api, module_function, (&m->function, m->handle, m->info->name));
  if (m->info->shared_bytes > SHARED_WITHOUT_ASKING)
    CUDA_TRY(&c->api, function_set,
             (m->function, CUDA_FUNCTION_MAX_SHARED, (int)m->info->shared_bytes));
  if (m->info->num_ctas > PORTABLE_CTAS)
    CUDA_TRY(&c->api, function_set, (m->function, CUDA_FUNCTION_LARGE_CLUSTERS, 1));
  return TILE_OK;
}

tile_status cuda_module_load(struct module *m, const void *code, size_t size) {
  struct cuda_device *c = cuda_of(m->device);
  (void)size; // PTX ends with a NUL; a cubin contains its length
  if (m->info->shared_bytes > (unsigned)c->shared_limit)
    return status_set(TILE_LIMIT,
                      "kernel `%s` needs %u bytes of shared memory; a CTA of this GPU may use %d\n"
                      "  = help: use smaller blocks or fewer stages",
                      m->info->name, m->info->shared_bytes, c->shared_limit);
  CUDA_ENTER(c);
  char info_log[LOG_BYTES] = "", error_log[LOG_BYTES] = "";
  int options[] = {CUDA_JIT_INFO_LOG, CUDA_JIT_INFO_LOG_BYTES, CUDA_JIT_ERROR_LOG,
                   CUDA_JIT_ERROR_LOG_BYTES, CUDA_JIT_LINE_INFO};
  // The driver expects integers in place of pointers here.
  void *values[] = {info_log, (void *)(uintptr_t)LOG_BYTES, error_log, (void *)(uintptr_t)LOG_BYTES,
                    (void *)(uintptr_t)1};
  // Loading a module is not part of a stream capture that another thread may have under way.
  int mode = CUDA_CAPTURE_RELAXED;
  CUDA_TRY(&c->api, capture_mode, (&mode));
  int result = c->api.module_load(&m->handle, code, COUNT_OF(options), options, values);
  int mode_result = c->api.capture_mode(&mode);
  info_log[LOG_BYTES - 1] = error_log[LOG_BYTES - 1] = '\0';
  if (result != 0)
    return load_failure(c, m->info, result, error_log);
  if (info_log[0])
    debug_log(DEBUG_DRIVER, "loading `%s`: %s", m->info->name, info_log);
  tile_status s = mode_result == 0 ? refuse_serialised(info_log, false)
                                   : cuda_failure(&c->api, CUDA_CALL_capture_mode, mode_result);
  if (s == TILE_OK)
    s = prepare_function(c, m);
  if (s != TILE_OK)
    c->api.module_unload(m->handle);
  return s;
}

// The failure of a call: TILE_COMPILE_ERROR if the PTX is the cause, else the driver's error.
static tile_status assemble_failure(struct cuda_device *c, enum cuda_call call, int result,
                                    const char *log) {
  tile_status s = cuda_failure(&c->api, call, result);
  if (log[0] || s == TILE_INTERNAL || s == TILE_INVALID_ARGUMENT)
    s = TILE_COMPILE_ERROR;
  return status_set(s, "the driver does not assemble the kernel: %s%s%s", tile_error_message(),
                    log[0] ? "\n" : "", log);
}

tile_status cuda_assemble(tile_device *d, const char *ptx, size_t size, enum assembly how,
                          void **ret_code, size_t *ret_size) {
  struct cuda_device *c = cuda_of(d);
  CUDA_ENTER(c);
  char info_log[LOG_BYTES] = "", error_log[LOG_BYTES] = "";
  int options[] = {CUDA_JIT_INFO_LOG,        CUDA_JIT_INFO_LOG_BYTES, CUDA_JIT_ERROR_LOG,
                   CUDA_JIT_ERROR_LOG_BYTES, CUDA_JIT_LINE_INFO,      CUDA_JIT_LEVEL};
  void *values[] = {info_log,
                    (void *)(uintptr_t)LOG_BYTES,
                    error_log,
                    (void *)(uintptr_t)LOG_BYTES,
                    (void *)(uintptr_t)1,
                    (void *)(uintptr_t)1};
  unsigned count = how == ASSEMBLY_TIER1 ? COUNT_OF(options) : COUNT_OF(options) - 1;
  void *link = NULL, *cubin = NULL; // the link state owns the cubin
  size_t cubin_size = 0;
  CUDA_TRY(&c->api, link_create, (count, options, values, &link));
  enum cuda_call call = CUDA_CALL_link_add;
  // The driver does not write to the text; its prototype has no const.
  void *text = (void *)(uintptr_t)ptx;
  int result = c->api.link_add(link, CUDA_LINK_PTX, text, size + 1, "kernel", 0, NULL, NULL);
  if (result == 0) {
    call = CUDA_CALL_link_complete;
    result = c->api.link_complete(link, &cubin, &cubin_size);
  }
  void *copy = result == 0 ? memory_alloc(cubin_size) : NULL;
  if (copy)
    memcpy(copy, cubin, cubin_size);
  c->api.link_destroy(link);
  info_log[LOG_BYTES - 1] = error_log[LOG_BYTES - 1] = '\0';
  if (result != 0)
    return assemble_failure(c, call, result, error_log);
  tile_status s = refuse_serialised(info_log, how == ASSEMBLY_TIER1);
  if (s != TILE_OK) {
    free(copy);
    return s;
  }
  if (!copy)
    return status_set(TILE_OUT_OF_MEMORY, "no room for a cubin of %zu bytes", cubin_size);
  *ret_code = copy;
  *ret_size = cubin_size;
  return TILE_OK;
}

void cuda_module_unload(struct module *m) {
  struct cuda_device *c = cuda_of(m->device);
  if (cuda_enter(c) == TILE_OK)
    c->api.module_unload(m->handle);
}

tile_status cuda_resources(struct module *m, int *ret_registers, int *ret_local_bytes) {
  struct cuda_device *c = cuda_of(m->device);
  CUDA_ENTER(c);
  CUDA_TRY(&c->api, function_get, (ret_registers, CUDA_FUNCTION_REGISTERS, m->function));
  CUDA_TRY(&c->api, function_get, (ret_local_bytes, CUDA_FUNCTION_LOCAL_BYTES, m->function));
  return TILE_OK;
}

static tile_status grid_too_large(struct cuda_device *c, const struct kernel_info *info,
                                  tile_grid g) {
  int axis = g.x > c->max_grid[0] ? 0 : g.y > c->max_grid[1] ? 1 : 2;
  unsigned asked = axis == 0 ? g.x : axis == 1 ? g.y : g.z;
  return status_set(TILE_INVALID_ARGUMENT,
                    "launch of `%s`: the grid's %c is %u; this GPU allows %u", info->name,
                    "xyz"[axis], asked, c -> max_grid[axis]);
}

// A launch: its module, stream and grid, with the flags of module_launch.
struct launch_request {
  struct module *m;
  void *stream;
  tile_grid grid;
  unsigned flags;
};

static bool is_early(const struct launch_request *l) {
  return l->m->info->launch_pdl && cuda_of(l->m->device)->has_pdl && !(l->flags & LAUNCH_IN_ORDER);
}

// Without the driver's call, clusters are left out: kernels work without, too.
static unsigned cluster_of(const struct launch_request *l) {
  const struct cuda_device *c = cuda_of(l->m->device);
  return c->api.launch_ex ? kernel_info_cluster(l->m->info, l->grid.x) : 1;
}

static bool has_attributes(const struct launch_request *l) {
  return is_early(l) || cluster_of(l) > 1;
}

// Programmatic stream serialization: the kernel may begin while the one in front of it runs; and
// clusters.
static int launch_with_attributes(const struct launch_request *l, void **params) {
  struct cuda_launch_attribute attributes[2];
  unsigned n = 0;
  if (is_early(l))
    attributes[n++] = (struct cuda_launch_attribute){.id = CUDA_LAUNCH_PROGRAMMATIC_SERIALIZATION,
                                                     .value.is_allowed = 1};
  if (cluster_of(l) > 1)
    attributes[n++] = (struct cuda_launch_attribute){.id = CUDA_LAUNCH_CLUSTER,
                                                     .value.cluster = {cluster_of(l), 1, 1}};
  const struct cuda_launch_config config = {
      .grid = {l->grid.x, l->grid.y, l->grid.z},
      .block = {kernel_info_threads(l->m->info), 1, 1},
      .shared_bytes = l->m->info->shared_bytes,
      .stream = l->stream,
      .attributes = attributes,
      .attribute_count = n,
  };
  return cuda_of(l->m->device)->api.launch_ex(&config, l->m->function, params, NULL);
}

// The driver only reads the values through the pointers; its prototype lacks const.
static int launch_function(const struct launch_request *l, void *const *values) {
  struct cuda_device *c = cuda_of(l->m->device);
  const struct kernel_info *info = l->m->info;
  void **params;
  memcpy(&params, &values, sizeof params);
  if (has_attributes(l))
    return launch_with_attributes(l, params);
  return c->api.launch(l->m->function, l->grid.x, l->grid.y, l->grid.z, kernel_info_threads(info),
                       1, 1, info->shared_bytes, l->stream, params, NULL);
}

// With the tensor maps behind the arguments. The driver copies all of them.
static tile_status launch_with_maps(const struct launch_request *l, void *const *values,
                                    int *ret_result) {
  struct module *m = l->m;
  const struct kernel_info *info = m->info;
  struct map_bytes maps[KERNEL_MAX_MAPS];
  void *params[MAX_MAP_KERNEL_PARAMS + KERNEL_MAX_MAPS];
  tile_status s =
      launch_maps_encode(m->maps, info, values, cuda_map_encode, cuda_of(m->device), maps);
  if (s != TILE_OK)
    return s;
  memcpy(params, values, info->param_count * sizeof *params);
  for (uint32_t i = 0; i < info->map_count; i++)
    params[info->param_count + i] = &maps[i];
  *ret_result = launch_function(l, params);
  return TILE_OK;
}

tile_status cuda_launch(struct module *m, void *stream, tile_grid g, void *const *values,
                        unsigned flags) {
  struct cuda_device *c = cuda_of(m->device);
  const struct kernel_info *info = m->info;
  const struct launch_request l = {m, stream, g, flags};
  if (g.x > c->max_grid[0] || g.y > c->max_grid[1] || g.z > c->max_grid[2])
    return grid_too_large(c, info, g);
  CUDA_ENTER(c);
  int result = 0;
  tile_status s = TILE_OK;
  if (info->map_count)
    s = launch_with_maps(&l, values, &result);
  else
    result = launch_function(&l, values);
  if (s != TILE_OK)
    return s;
  if (result == 0)
    return TILE_OK;
  s = cuda_failure(&c->api, has_attributes(&l) ? CUDA_CALL_launch_ex : CUDA_CALL_launch, result);
  return status_set(s, "launch of `%s`: %s", info->name, tile_error_message());
}

// ---- recording ----

tile_status cuda_record_begin(tile_device *d, void *stream) {
  struct cuda_device *c = cuda_of(d);
  CUDA_ENTER(c);
  CUDA_TRY(&c->api, capture_begin, (stream, CUDA_CAPTURE_THREAD));
  return TILE_OK;
}

tile_status cuda_record_end(tile_device *d, void *stream, void **ret) {
  struct cuda_device *c = cuda_of(d);
  void *graph = NULL;
  CUDA_ENTER(c);
  CUDA_TRY(&c->api, capture_end, (stream, &graph));
  int result = c->api.graph_make(ret, graph, 0);
  c->api.graph_destroy(graph);
  return result == 0 ? TILE_OK : cuda_failure(&c->api, CUDA_CALL_graph_make, result);
}

tile_status cuda_replay(tile_device *d, void *recorded, void *stream) {
  struct cuda_device *c = cuda_of(d);
  CUDA_ENTER(c);
  CUDA_TRY(&c->api, graph_launch, (recorded, stream));
  return TILE_OK;
}

void cuda_record_destroy(tile_device *d, void *recorded) {
  struct cuda_device *c = cuda_of(d);
  if (cuda_enter(c) == TILE_OK)
    c->api.exec_destroy(recorded);
}
