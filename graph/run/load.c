// SPDX-License-Identifier: Apache-2.0
// Compiles and loads the kernels of a program, on all cores: fully, or first as tier-1 code, until
// recompile.c replaces it.
#include "base/memory.h"
#include "base/thread_pool.h"
#include "graph/plan/tier1.h"
#include "graph/run/run.h"
#include "graph/run/run_internal.h"
#include "jit/jit.h"

#include <stdlib.h>
#include <string.h>

// ---- one kernel ----

// One launch of each kernel is representative: the same source has arguments of the same types.
static const struct launch *first_launch(const struct program *p, uint32_t kernel) {
  for (size_t i = 0; i < p->launches.len; i++)
    if (p->launches.at[i].kernel && p->launches.at[i].kernel->id == kernel)
      return &p->launches.at[i];
  return NULL;
}

enum { ALIGNED = 4096 }; // a pointer aligned to 16, for specialisation

size_t launch_likely_args(const struct launch *l, tile_arg *args) {
  for (size_t i = 0; i < l->args.len; i++) {
    const struct launch_arg *a = &l->args.at[i];
    if (a->kind == LAUNCH_BUFFER)
      args[i] = tile_arg_pointer((void *)(uintptr_t)ALIGNED, (tile_type)a->buffer->dtype);
    else if (a->kind == LAUNCH_SIZE)
      args[i] = tile_arg_int((tile_type)a->dtype, expr_hint(a->size));
    else
      args[i] = tile_arg_int((tile_type)a->dtype, 0);
  }
  return l->args.len;
}

static tile_status open_kernel(const struct loaded_program *l, const struct graph_kernel *k,
                               tile_kernel **ret) {
  const char *file = arena_printf(l->p->arena, "%s.tile", k->name);
  tile_status s =
      tile_kernel_from_source(l->device, file, k->source, strlen(k->source), k->name, ret);
  if (s == TILE_OK)
    jit_kernel_set_assembled_apart(*ret, true);
  if (s == TILE_OK && l->p->launch_pdl)
    s = tile_kernel_set_launch_pdl(*ret, 1);
  for (size_t i = 0; s == TILE_OK && i < k->constants.len; i++)
    s = tile_kernel_set_constant(*ret, k->constants.at[i].name, k->constants.at[i].value);
  if (s == TILE_OK && k->num_warps)
    s = tile_kernel_set_warps(*ret, k->num_warps);
  if (s == TILE_OK && k->num_stages)
    s = tile_kernel_set_stages(*ret, k->num_stages);
  return s == TILE_OK && k->num_ctas ? tile_kernel_set_num_ctas(*ret, k->num_ctas) : s;
}

tile_status loaded_replace(struct loaded_program *l, const struct graph_kernel *k) {
  tile_kernel *kernel = NULL;
  tile_arg args[LAUNCH_MOST_ARGS];
  tile_status s = open_kernel(l, k, &kernel);
  if (s == TILE_OK)
    s = tile_kernel_prepare(kernel, args, launch_likely_args(first_launch(l->p, k->id), args));
  if (s != TILE_OK) {
    tile_kernel_close(kernel);
    return s;
  }
  struct loaded_kernel *at = &l->kernels[k->id];
  vec_push(l->p->arena, &l->retired, at->kernel);
  at->kernel = kernel;
  atomic_store_explicit(&at->is_there, true, memory_order_release);
  return TILE_OK;
}

struct program_options program_options_of(tile_device *device) {
  struct program_options o = {.target = device_target(device)};
  tile_device_properties properties;
  bool is_known = tile_device_get_properties(device, &properties) == TILE_OK;
  if (is_known && !properties.is_cpu && properties.driver_version && properties.multiprocessors > 0)
    o.multiprocessors = (unsigned)properties.multiprocessors; // not of a simulation
  return o;
}

// ---- all kernels ----

struct loading {
  struct loaded_program *l;
  tile_status *status; // by kernel
  char **messages;
};

// Fewer stages take less shared memory: a plan that misjudged how much a kernel needs beside its
// rings costs time, not the program.
static tile_status prepare_with_fewer_stages(tile_kernel *k, unsigned stages, const tile_arg *args,
                                             size_t count) {
  tile_status s = tile_kernel_prepare(k, args, count);
  while (s == TILE_COMPILE_ERROR && stages > 1) {
    if (tile_kernel_set_stages(k, --stages) != TILE_OK)
      break;
    s = tile_kernel_prepare(k, args, count);
  }
  return s;
}

// A kernel in the disk cache is fully compiled and loads at once. If tier-1 code does not compile,
// the kernel itself is used.
static tile_status prepare_one(struct loaded_kernel *k, unsigned stages, const tile_arg *args,
                               size_t count) {
  if (k->tier1 && jit_kernel_prepare_kept(k->kernel, args, count) != TILE_OK &&
      tile_kernel_prepare(k->tier1, args, count) == TILE_OK)
    return TILE_OK;
  atomic_store_explicit(&k->is_there, true, memory_order_release);
  return prepare_with_fewer_stages(k->kernel, stages, args, count);
}

static void prepare(void *user, uint64_t i, unsigned worker) {
  (void)worker;
  struct loading *loading = user;
  const struct launch *launch = first_launch(loading->l->p, (uint32_t)i);
  tile_arg args[LAUNCH_MOST_ARGS];
  size_t count = launch_likely_args(launch, args);
  tile_status s =
      prepare_one(&loading->l->kernels[i], loading->l->p->kernels.at[i]->num_stages, args, count);
  loading->status[i] = s;
  if (s != TILE_OK)
    loading->messages[i] = memory_strdup(tile_error_message());
}

static tile_status prepare_all(struct loaded_program *l) {
  size_t n = l->p->kernels.len;
  struct loading loading = {.l = l,
                            .status = memory_zeroed(n + 1, sizeof(tile_status)),
                            .messages = memory_zeroed(n + 1, sizeof(char *))};
  struct thread_pool *pool = thread_pool_create(0);
  tile_status s = loading.status && loading.messages && pool
                      ? TILE_OK
                      : status_set(TILE_OUT_OF_MEMORY, "out of memory for the kernels of a graph");
  if (s == TILE_OK)
    thread_pool_for(pool, n, prepare, &loading);
  for (size_t i = 0; i < n && loading.status && loading.messages; i++) {
    if (s == TILE_OK && loading.status[i] != TILE_OK)
      s = status_set(loading.status[i], "kernel `%s`: %s", l->p->kernels.at[i]->name,
                     loading.messages[i] ? loading.messages[i] : "");
    free(loading.messages[i]);
  }
  thread_pool_destroy(pool);
  free(loading.status);
  free(loading.messages);
  return s;
}

// On a GPU products start with code that compiles fast: tier-1 code, or their own code assembled at
// a low optimisation level.
static tile_status open_forms(struct loaded_program *l, const struct graph_kernel *k, bool is_cpu) {
  struct loaded_kernel *at = &l->kernels[k->id];
  struct graph_kernel tier1;
  tile_status s = open_kernel(l, k, &at->kernel);
  if (s != TILE_OK || is_cpu)
    return s;
  bool has_tier1 = kernel_tier1_form(l->p->arena, k, &tier1);
  if (has_tier1)
    s = open_kernel(l, &tier1, &at->tier1);
  if (has_tier1 && s == TILE_OK)
    jit_kernel_set_disk_cache(at->tier1, false);
  if (s == TILE_OK)
    jit_kernel_set_tier1_first(has_tier1 ? at->tier1 : at->kernel, true);
  return s;
}

tile_status loaded_open_kernels(struct loaded_program *l) {
  tile_device_properties properties;
  tile_status s = tile_device_get_properties(l->device, &properties);
  for (size_t i = 0; s == TILE_OK && i < l->p->kernels.len; i++)
    s = open_forms(l, l->p->kernels.at[i], properties.is_cpu);
  return s == TILE_OK ? prepare_all(l) : s;
}

void loaded_close_kernels(struct loaded_program *l) {
  for (size_t i = 0; l->kernels && i < l->p->kernels.len; i++) {
    tile_kernel_close(l->kernels[i].kernel);
    tile_kernel_close(l->kernels[i].tier1);
  }
  for (size_t i = 0; i < l->retired.len; i++)
    tile_kernel_close(l->retired.at[i]);
}
