// SPDX-License-Identifier: Apache-2.0
// Modules and launches of a simulated GPU.
#include "base/debug.h"
#include "base/memory.h"
#include "runtime/simulated/simulated_device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Limit of warp instructions per launch, unless TILE_SIMULATE_LIMIT is set: a loop that waits
// forever would otherwise look like a long kernel.
#define INSTRUCTION_LIMIT ((uint64_t)1 << 30)

struct loaded {
  struct arena *arena;
  const struct sim_kernel *kernel;
};

// ---- loading ----

// Code for `target` ("sm_90a") runs on a GPU of that capability and, unless it is an `a` target, on
// later ones.
static bool runs_on(const struct simulated_device *d, const char *target) {
  char *end;
  unsigned long made_for = strncmp(target, "sm_", 3) == 0 ? strtoul(target + 3, &end, 10) : 0;
  return made_for && (made_for == d->base.capability || (made_for < d->base.capability && !*end));
}

static tile_status check_module(const struct module *m, const void *code) {
  const struct simulated_device *d = simulated_of(m->device);
  if (memcmp(code,
             "\x7f"
             "ELF",
             4) == 0)
    return status_set(TILE_INVALID_ARGUMENT,
                      "kernel `%s` is machine code; a simulated GPU runs PTX only", m->info->name);
  if (!runs_on(d, m->info->target))
    return status_set(TILE_INVALID_ARGUMENT, "kernel `%s` is code for %s, the simulated GPU is %s",
                      m->info->name, m->info->target, d->base.target);
  if (m->info->shared_bytes > d->shared_limit)
    return status_set(TILE_LIMIT,
                      "kernel `%s` needs %u bytes of shared memory; a CTA of %s may use %zu\n"
                      "  = help: use smaller blocks or fewer stages",
                      m->info->name, m->info->shared_bytes, d->base.target, d->shared_limit);
  return TILE_OK;
}

static tile_status parse(struct loaded *l, const struct kernel_info *info, const char *ptx,
                         size_t size) {
  struct sim_error error = {0};
  // In a pack the size includes the final NUL.
  const struct sim_module *module = sim_module_parse(l->arena, ptx, strnlen(ptx, size), &error);
  if (!module)
    return status_set(TILE_INVALID_ARGUMENT,
                      "the simulator cannot run kernel `%s`: line %u of its PTX: %s", info->name,
                      error.line, error.text);
  l->kernel = sim_module_kernel(module, info->name);
  if (!l->kernel)
    return status_set(TILE_NOT_FOUND, "the PTX has no kernel `%s`", info->name);
  if (info->params && info->param_count + info->map_count != l->kernel->param_count)
    return status_set(TILE_INTERNAL, "the PTX of kernel `%s` has %u parameters, not %u", info->name,
                      l->kernel->param_count, info->param_count + info->map_count);
  return TILE_OK;
}

tile_status simulated_load(struct module *m, const void *code, size_t size) {
  tile_status s = check_module(m, code);
  if (s != TILE_OK)
    return s;
  struct loaded *l = memory_zeroed(1, sizeof *l);
  jmp_buf out_of_memory;
  if (!l || !(l->arena = arena_create()) || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for kernel `%s`", m->info->name);
  } else {
    arena_set_oom(l->arena, &out_of_memory);
    s = parse(l, m->info, code, size);
    arena_set_oom(l->arena, NULL);
  }
  if (s == TILE_OK) {
    m->handle = l;
    return s;
  }
  if (l)
    arena_destroy(l->arena);
  free(l);
  return s;
}

void simulated_unload(struct module *m) {
  struct loaded *l = m->handle;
  if (l)
    arena_destroy(l->arena);
  free(l);
}

// ---- launching ----

static uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text && isdigit((unsigned char)*text) ? strtoull(text, NULL, 10) : otherwise;
}

static void print(void *user, const char *text, size_t size) {
  const struct simulated_device *d = ((const struct simulated_launch_context *)user)->device;
  char line[1024];
  for (; d->print && size; text += strlen(line), size -= strlen(line)) {
    snprintf(line, sizeof line, "%.*s", (int)(size < sizeof line ? size : sizeof line - 1), text);
    if (!*line)
      return; // a NUL ends the text
    d->print(d->print_user, line);
  }
}

// Names the buffers that parameters point into after those parameters, for messages; or removes the
// names.
static void name_buffers(struct simulated_device *d, const struct kernel_info *info,
                         void *const *values, bool on) {
  for (uint32_t i = 0; info->params && i < info->param_count; i++) {
    uint64_t address;
    if (!info->params[i].is_pointer)
      continue;
    memcpy(&address, values[i], sizeof address);
    struct sim_buffer *b = simulated_find(d, address);
    if (b && (!b->name || !on))
      b->name = on ? info->params[i].name : NULL;
  }
}

static enum sim_status run(struct simulated_launch_context *c, const struct sim_kernel *kernel,
                           tile_grid grid, bool check, struct sim_report *report) {
  struct simulated_device *d = c->device;
  struct sim_launch l = {
      .kernel = kernel,
      .grid = {grid.x, grid.y, grid.z},
      .block = {kernel_info_threads(c->info), 1, 1},
      .cluster = {kernel_info_cluster(c->info, grid.x), 1, 1},
      .dynamic_shared_bytes = c->info->shared_bytes,
      .values = c->all_values,
      .buffers = d->buffers,
      .buffer_count = d->buffer_count,
      .check = check,
      .seed = setting("TILE_SIMULATE_SEED", 0),
      .instruction_limit = setting("TILE_SIMULATE_LIMIT", INSTRUCTION_LIMIT),
      .user = c,
      .violation = simulated_record,
      .print = print,
  };
  name_buffers(d, c->info, c->values, true);
  enum sim_status status = sim_run(&l, report);
  name_buffers(d, c->info, c->values, false);
  return status;
}

static void forget_violations(struct simulated_device *d) {
  arena_destroy(d->report_arena);
  d->report_arena = NULL;
  d->violation_count = 0;
  d->violation_total = 0;
}

static tile_status status_of(enum sim_status status, const struct simulated_launch_context *c,
                             const struct sim_report *report) {
  const struct simulated_device *d = c->device;
  if (status == SIM_OUT_OF_MEMORY)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory simulating kernel `%s`", c->info->name);
  if (status == SIM_INVALID)
    return status_set(TILE_LAUNCH_FAILED, "launch of `%s`: %s", c->info->name, report->text);
  if (d->violation_total == 0)
    return TILE_OK;
  char text[SIM_TEXT + 512] = "";
  if (d->violation_count)
    violation_describe(c->info, &d->violations[0], d->violation_total, text, sizeof text);
  return status_set(TILE_CHECK_FAILED, "%s", text);
}

static tile_status encode_map(UNUSED void *device, const struct launch_map *map,
                              struct map_bytes *ret) {
  char why[160];
  struct sim_tensor t = {.type = (enum sim_tensor_type)map->type,
                         .rank = map->rank,
                         .address = map->address,
                         .element_strides = {1, 1, 1, 1, 1},
                         .swizzle = (enum sim_swizzle)map->swizzle,
                         .fill_nan = map->pads_nan};
  for (unsigned i = 0; i < map->rank; i++) {
    t.sizes[i] = map->sizes[i];
    t.box[i] = map->box[i];
    if (i)
      t.strides[i - 1] = map->strides[i - 1];
  }
  return sim_tensor_map_encode(&t, ret->at, why, sizeof why)
             ? TILE_OK
             : status_set(TILE_INVALID_ARGUMENT, "a tensor map is refused: %s", why);
}

// The arguments, and behind them the encoded maps.
static tile_status all_values(struct module *m, void *const *values, struct map_bytes *maps,
                              const void ***ret) {
  const struct kernel_info *info = m->info;
  tile_status s = launch_maps_encode(m->maps, info, values, encode_map, NULL, maps);
  if (s != TILE_OK)
    return s;
  const void **all = memory_zeroed(info->param_count + info->map_count, sizeof *all);
  if (!all)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for kernel `%s`", info->name);
  for (uint32_t i = 0; i < info->param_count; i++)
    all[i] = values[i];
  for (uint32_t i = 0; i < info->map_count; i++)
    all[info->param_count + i] = &maps[i];
  *ret = all;
  return TILE_OK;
}

tile_status simulated_launch(struct module *m, UNUSED void *stream, tile_grid grid,
                             void *const *values, unsigned flags) {
  struct simulated_device *d = simulated_of(m->device);
  const struct loaded *l = m->handle;
  struct map_bytes maps[KERNEL_MAX_MAPS];
  const void **all = NULL;
  if (m->info->map_count) {
    tile_status s = all_values(m, values, maps, &all);
    if (s != TILE_OK)
      return s;
  }
  struct simulated_launch_context c = {
      .device = d,
      .info = m->info,
      .values = values,
      .all_values = all ? all : (const void *const *)values,
      .shared_bytes = l->kernel->static_shared_bytes + m->info->shared_bytes,
  };
  struct sim_report report = {0};
  pthread_mutex_lock(&d->lock);
  forget_violations(d);
  enum sim_status status = run(&c, l->kernel, grid, flags & LAUNCH_CHECKED, &report);
  debug_log(DEBUG_LAUNCH, "`%s` simulated: %llu instructions of warps, %llu of lanes",
            m->info->name, (unsigned long long)report.instructions,
            (unsigned long long)report.lane_instructions);
  tile_status s = status_of(status, &c, &report);
  pthread_mutex_unlock(&d->lock);
  free(all);
  return s;
}
