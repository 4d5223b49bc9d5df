// SPDX-License-Identifier: Apache-2.0
// Prepared launches: a specialisation with the values of its parameters. A launch passes them on;
// it builds no key and looks nothing up.
#include "base/memory.h"
#include "jit/jit_kernel.h"

#include <stdlib.h>
#include <string.h>

struct tile_prepared {
  tile_kernel *kernel;
  struct jit_spec *spec;
  size_t count;
  tile_arg *args;               // descriptors point into `descriptors`
  tile_descriptor *descriptors; // by argument
  uint64_t values[JIT_MAX_ARGS];
  void *pointers[JIT_MAX_ARGS]; // to the values
};

static void keep_arg(tile_prepared *p, size_t i, const tile_arg *arg) {
  p->args[i] = *arg;
  if (arg_is_descriptor(arg) && arg->value.descriptor) {
    p->descriptors[i] = *arg->value.descriptor;
    p->args[i].value.descriptor = &p->descriptors[i];
  }
}

static void store_values(tile_prepared *p) {
  tile_arg flat[JIT_MAX_ARGS];
  const tile_arg *args = args_flatten(p->args, p->count, flat);
  for (uint32_t i = 0; i < p->spec->info.param_count; i++) {
    arg_store(&args[p->spec->arg_of_param[i]], &p->values[i]);
    p->pointers[i] = &p->values[i];
  }
}

// The specialisation of the arguments `args`, loaded.
static tile_status find(tile_prepared *p, const tile_arg *args, struct jit_spec **ret) {
  struct module *m;
  tile_status s = jit_specialise(p->kernel, args, p->count, NULL, ret);
  return s == TILE_OK ? jit_spec_module(p->kernel, *ret, &m) : s;
}

tile_status tile_prepared_create(tile_kernel *kernel, const tile_arg *args, size_t arg_count,
                                 tile_prepared **ret_prepared) {
  if (!kernel || !ret_prepared || (arg_count && !args))
    return status_set(TILE_INVALID_ARGUMENT, "tile_prepared_create: `%s` is NULL",
                      !kernel         ? "kernel"
                      : !ret_prepared ? "ret_prepared"
                                      : "args");
  tile_prepared *p = memory_zeroed(1, sizeof *p);
  if (p) {
    p->args = memory_zeroed(arg_count + 1, sizeof *p->args);
    p->descriptors = memory_zeroed(arg_count + 1, sizeof *p->descriptors);
  }
  if (!p || !p->args || !p->descriptors) {
    tile_prepared_destroy(p);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a prepared launch");
  }
  p->kernel = kernel;
  p->count = arg_count;
  tile_status s = find(p, args, &p->spec);
  if (s != TILE_OK) {
    tile_prepared_destroy(p);
    return s;
  }
  for (size_t i = 0; i < arg_count; i++)
    keep_arg(p, i, &args[i]);
  store_values(p);
  *ret_prepared = p;
  return TILE_OK;
}

tile_status tile_prepared_set(tile_prepared *p, size_t index, tile_arg arg) {
  if (!p)
    return status_set(TILE_INVALID_ARGUMENT, "tile_prepared_set: `prepared` is NULL");
  if (index >= p->count)
    return status_set(TILE_INVALID_ARGUMENT,
                      "tile_prepared_set: there is no argument %zu among %zu", index, p->count);
  tile_arg before = p->args[index];
  struct jit_spec *spec;
  p->args[index] = arg;
  tile_status s = find(p, p->args, &spec);
  p->args[index] = before;
  if (s != TILE_OK)
    return s;
  p->spec = spec;
  keep_arg(p, index, &arg);
  store_values(p);
  return TILE_OK;
}

tile_status tile_prepared_launch(tile_prepared *p, tile_stream *stream, tile_grid grid) {
  if (!p)
    return status_set(TILE_INVALID_ARGUMENT, "tile_prepared_launch: `prepared` is NULL");
  struct module *m;
  bool check = p->spec->config->check;
  tile_status s = jit_spec_module(p->kernel, p->spec, &m);
  if (s == TILE_OK)
    s = module_launch(m, stream, grid, p->pointers, check ? LAUNCH_CHECKED : 0);
  if (s == TILE_LAUNCH_FAILED && device_is_cpu(p->kernel->device) && !check)
    s = jit_launch_checked(p->kernel, p->spec->config, stream, grid, p->args, p->count);
  return s;
}

void tile_prepared_destroy(tile_prepared *p) {
  if (!p)
    return;
  free(p->args);
  free(p->descriptors);
  free(p);
}
