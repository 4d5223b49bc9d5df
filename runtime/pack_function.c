// SPDX-License-Identifier: Apache-2.0
// A function of a pack on a device: selects the specialisation by the arguments, its binary by the
// GPU, and launches. Specialisations are sorted in the pack, the most specific first: the first one
// whose hints hold is used. Launching a loaded specialisation takes no lock.
#include "base/debug.h"
#include "base/memory.h"
#include "runtime/args.h"
#include "runtime/device.h"
#include "runtime/image.h"
#include "runtime/pack.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>

// One specialisation on this device.
struct variant {
  uint32_t index;                  // in the pack
  struct kernel_info info;         // of the loaded code
  struct kernel_param *params;     // info's
  _Atomic(struct module *) module; // NULL: not loaded yet
  struct arena *arena;             // of info.maps; NULL: none
};

struct tile_function {
  const tile_pack *pack;
  tile_device *device;
  const char *name;
  uint32_t first_param, param_count;
  atomic_bool checks;   // launches are checked
  pthread_mutex_t lock; // held while a variant is loaded
  size_t variant_count;
  struct variant variants[]; // those that run on this device
};

// ---- getting a function ----

static const uint8_t *find_kernel(const tile_pack *p, const char *name) {
  for (uint32_t i = 0; i < p->counts[PACK_KERNELS]; i++) {
    const uint8_t *k = pack_entry(p, PACK_KERNELS, i);
    if (strcmp(pack_text(p, pack_u32(k + PACK_KERNEL_NAME)), name) == 0)
      return k;
  }
  return NULL;
}

static tile_status no_such_function(const tile_pack *p, const char *name) {
  struct strbuf names = {0};
  for (uint32_t i = 0; i < p->counts[PACK_KERNELS] && i < 8; i++)
    strbuf_printf(&names, "%s`%s`", i ? ", " : "", tile_pack_name(p, i));
  tile_status s = names.failed ? status_set(TILE_OUT_OF_MEMORY, "out of memory for a message")
                               : status_set(TILE_NOT_FOUND,
                                            "the pack has no function `%s`\n  = help: it has %s%s",
                                            name, names.len ? strbuf_cstr(&names) : "none at all",
                                            p->counts[PACK_KERNELS] > 8 ? ", ..." : "");
  strbuf_finish(&names);
  return s;
}

static const char *format_name(const uint8_t *code) {
  return pack_u32(code + PACK_CODE_FORMAT) == PACK_PTX ? "PTX" : "machine code";
}

static tile_status runs_nowhere(const tile_pack *p, const uint8_t *kernel, tile_device *d) {
  uint32_t first = pack_u32(kernel + PACK_KERNEL_FIRST_VARIANT);
  const uint8_t *v = pack_entry(p, PACK_VARIANTS, first);
  struct strbuf list = {0};
  for (uint32_t i = 0; i < pack_u32(v + PACK_VARIANT_CODE_COUNT); i++) {
    const uint8_t *c = pack_entry(p, PACK_CODES, pack_u32(v + PACK_VARIANT_FIRST_CODE) + i);
    strbuf_printf(&list, "%s%s for %s", i ? ", " : "", format_name(c),
                  pack_text(p, pack_u32(c + PACK_CODE_TARGET)));
  }
  const char *name = pack_text(p, pack_u32(kernel + PACK_KERNEL_NAME));
  tile_status s =
      list.failed ? status_set(TILE_OUT_OF_MEMORY, "out of memory for a message")
      : d->is_cpu
          ? status_set(TILE_NOT_FOUND,
                       "`%s` has nothing that runs on this processor: it has %s\n"
                       "  = help: make the pack with `--target cpu` too",
                       name, strbuf_cstr(&list))
          : status_set(TILE_NOT_FOUND,
                       "`%s` has nothing that runs on compute capability %u.%u: it has %s\n"
                       "  = help: make the pack with `--target %s` too",
                       name, d->capability / 10, d->capability % 10, strbuf_cstr(&list), d->target);
  strbuf_finish(&list);
  return s;
}

tile_status tile_pack_get_function(const tile_pack *pack, tile_device *device, const char *name,
                                   tile_function **ret_function) {
  if (!pack || !device || !name || !ret_function)
    return status_set(TILE_INVALID_ARGUMENT, "tile_pack_get_function: `%s` is NULL",
                      !pack     ? "pack"
                      : !device ? "device"
                      : !name   ? "name"
                                : "ret_function");
  const uint8_t *k = find_kernel(pack, name);
  if (!k)
    return no_such_function(pack, name);
  uint32_t count = pack_u32(k + PACK_KERNEL_VARIANT_COUNT);
  uint32_t first = pack_u32(k + PACK_KERNEL_FIRST_VARIANT);
  tile_function *f = memory_zeroed(1, sizeof *f + count * sizeof f->variants[0]);
  if (!f)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for function `%s`", name);
  f->pack = pack;
  f->device = device;
  f->name = tile_pack_name(pack, (size_t)(k - pack->tables[PACK_KERNELS]) / PACK_KERNEL_BYTES);
  f->first_param = pack_u32(k + PACK_KERNEL_FIRST_PARAM);
  f->param_count = pack_u32(k + PACK_KERNEL_PARAM_COUNT);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t code;
    if (pack_best_code(pack, first + i, device, ~0u, &code))
      f->variants[f->variant_count++].index = first + i;
  }
  if (f->variant_count == 0) {
    free(f);
    return runs_nowhere(pack, k, device);
  }
  pthread_mutex_init(&f->lock, NULL);
  *ret_function = f;
  return TILE_OK;
}

void tile_function_close(tile_function *f) {
  if (!f)
    return;
  for (size_t i = 0; i < f->variant_count; i++) {
    module_destroy(atomic_load_explicit(&f->variants[i].module, memory_order_relaxed));
    free(f->variants[i].params);
    arena_destroy(f->variants[i].arena);
  }
  pthread_mutex_destroy(&f->lock);
  free(f);
}

// ---- loading ----

static const uint8_t *param_at(const tile_function *f, uint32_t i) {
  return pack_entry(f->pack, PACK_PARAMS, f->first_param + i);
}

static const char *param_name(const tile_function *f, uint32_t i) {
  return pack_text(f->pack, pack_u32(param_at(f, i) + PACK_PARAM_NAME));
}

static const uint8_t *hints_of(const tile_function *f, const struct variant *v) {
  const uint8_t *e = pack_entry(f->pack, PACK_VARIANTS, v->index);
  return pack_entry(f->pack, PACK_HINTS, pack_u32(e + PACK_VARIANT_FIRST_HINT));
}

// The parameters of the variant's code: those whose value is not compiled in.
static bool take_params(const tile_function *f, struct variant *v) {
  const uint8_t *hints = hints_of(f, v);
  free(v->params);
  v->params = memory_zeroed(f->param_count + 1, sizeof *v->params);
  for (uint32_t i = 0; v->params && i < f->param_count; i++) {
    const uint8_t *p = param_at(f, i);
    if (pack_u32(hints + i * PACK_HINT_BYTES) != 0)
      v->params[v->info.param_count++] =
          (struct kernel_param){.name = param_name(f, i),
                                .is_pointer = p[PACK_PARAM_IS_POINTER],
                                .dtype = (enum dtype)p[PACK_PARAM_DTYPE],
                                .divisible_by = pack_u32(hints + i * PACK_HINT_BYTES),
                                .is_const = p[PACK_PARAM_IS_CONST]};
  }
  v->info.params = v->params;
  return v->params != NULL;
}

// The tensor maps of a code.
static tile_status take_maps(const tile_function *f, struct variant *v, const uint8_t *code) {
  if (pack_u32(code + PACK_CODE_MAPS) == 0)
    return TILE_OK;
  struct json_error error;
  jmp_buf out_of_memory;
  arena_destroy(v->arena);
  v->arena = arena_create();
  if (!v->arena || setjmp(out_of_memory))
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for function `%s`", f->name);
  arena_set_oom(v->arena, &out_of_memory);
  struct str text = str_from(pack_text(f->pack, pack_u32(code + PACK_CODE_MAPS)));
  const struct json *maps = json_parse(v->arena, text, &error);
  bool ok = maps && kernel_maps_read(v->arena, maps, &v->info);
  arena_set_oom(v->arena, NULL);
  return ok ? TILE_OK
            : status_set(TILE_IO_ERROR, "function `%s`: its tensor maps are malformed", f->name);
}

// Whether the driver rejected this binary, so that the next one may work.
static bool was_refused(tile_status s) {
  return s == TILE_DRIVER_TOO_OLD || s == TILE_INVALID_ARGUMENT || s == TILE_INTERNAL;
}

static void describe_code(const tile_function *f, struct variant *v, const uint8_t *code) {
  const tile_pack *p = f->pack;
  bool is_image = pack_u32(code + PACK_CODE_FORMAT) == PACK_IMAGE;
  uint32_t flags = pack_u16(code + PACK_CODE_FLAGS), log2 = flags >> PACK_CLUSTER_SHIFT;
  v->info = (struct kernel_info){
      .name = pack_text(p, pack_u32(code + PACK_CODE_SYMBOL)),
      .target = pack_text(p, pack_u32(code + PACK_CODE_TARGET)),
      .num_warps = pack_u32(pack_entry(p, PACK_VARIANTS, v->index) + PACK_VARIANT_NUM_WARPS),
      .shared_bytes = pack_u32(code + PACK_CODE_SHARED),
      .producer_warps = pack_u16(code + PACK_CODE_PRODUCERS),
      .launch_pdl = !is_image && flags & PACK_LAUNCH_PDL,
      .num_ctas = !is_image && log2 ? 1u << log2 : 0,
      .calls_programs = is_image && flags & PACK_CALLS_PROGRAMS,
      .uses_collectives = is_image && flags & PACK_COLLECTIVES,
  };
}

static tile_status load_image(tile_function *f, struct variant *v, const void *code, size_t size,
                              struct module **ret) {
  struct image *image;
  tile_status s = image_load(code, size, f->name, &image);
  if (s != TILE_OK)
    return s;
  s = module_from_cpu(f->device, image_entry(image), &v->info, image_destroy, image, ret);
  if (s != TILE_OK)
    image_destroy(image);
  debug_log(DEBUG_LAUNCH, "`%s`, specialisation %u, code for %s: %s", f->name, v->index,
            v->info.target, tile_status_name(s));
  return s;
}

static tile_status load_code(tile_function *f, struct variant *v, uint32_t index,
                             struct module **ret) {
  const tile_pack *p = f->pack;
  const void *code;
  size_t size;
  const uint8_t *c = pack_entry(p, PACK_CODES, index);
  tile_status s = pack_code(p, index, &code, &size);
  if (s != TILE_OK)
    return status_set(TILE_IO_ERROR, "function `%s`: %s", f->name, tile_error_message());
  describe_code(f, v, c);
  if (!take_params(f, v))
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for function `%s`", f->name);
  s = take_maps(f, v, c);
  if (s != TILE_OK)
    return s;
  if (pack_u32(c + PACK_CODE_FORMAT) == PACK_IMAGE)
    return load_image(f, v, code, size, ret);
  // The driver requires aligned machine code.
  void *aligned = NULL;
  if ((uintptr_t)code % 16 != 0) {
    aligned = memory_aligned(PACK_ALIGN, size);
    if (!aligned)
      return status_set(TILE_OUT_OF_MEMORY, "out of memory for function `%s`", f->name);
    memcpy(aligned, code, size);
    code = aligned;
  }
  s = module_load(f->device, code, size, &v->info, ret);
  free(aligned);
  debug_log(DEBUG_LAUNCH, "`%s`, specialisation %u, %s for %s: %s", f->name, v->index,
            format_name(c), v->info.target, tile_status_name(s));
  return s;
}

// Tries the variant's binaries, best first, until the driver accepts one.
static tile_status load_any(tile_function *f, struct variant *v, struct module **ret) {
  unsigned below = ~0u;
  uint32_t code = 0;
  tile_status s = TILE_INTERNAL;
  while (pack_best_code(f->pack, v->index, f->device, below, &code)) {
    s = load_code(f, v, code, ret);
    if (s == TILE_OK || !was_refused(s))
      return s;
    below = pack_code_rank(pack_entry(f->pack, PACK_CODES, code));
  }
  return s;
}

static tile_status module_of(tile_function *f, struct variant *v, struct module **ret) {
  *ret = atomic_load_explicit(&v->module, memory_order_acquire);
  if (*ret)
    return TILE_OK;
  pthread_mutex_lock(&f->lock);
  *ret = atomic_load_explicit(&v->module, memory_order_relaxed);
  tile_status s = *ret ? TILE_OK : load_any(f, v, ret);
  if (s == TILE_OK)
    atomic_store_explicit(&v->module, *ret, memory_order_release);
  pthread_mutex_unlock(&f->lock);
  return s;
}

// ---- arguments ----

// Whether the argument satisfies a hint.
static bool keeps(const tile_arg *arg, uint32_t hint) {
  if (hint == 1)
    return true;
  if (arg->is_pointer)
    return hint != 0 && (uintptr_t)arg->value.pointer % hint == 0;
  return hint == 0 ? arg->value.integer == 1 : (uint64_t)arg->value.integer % hint == 0;
}

// Index of the first argument that violates a hint of the variant; `count` when none does.
static uint32_t first_broken(const uint8_t *hints, const tile_arg *args, uint32_t count) {
  uint32_t i = 0;
  while (i < count && keeps(&args[i], pack_u32(hints + i * PACK_HINT_BYTES)))
    i++;
  return i;
}

static tile_status promise_broken(const tile_function *f, const tile_arg *args) {
  const uint8_t *hints = hints_of(f, &f->variants[f->variant_count - 1]);
  uint32_t i = first_broken(hints, args, f->param_count);
  uint32_t hint = pack_u32(hints + i * PACK_HINT_BYTES);
  uint32_t number = pack_argument_of(f->pack, f->first_param, i);
  long long value = args[i].is_pointer ? (long long)(intptr_t)args[i].value.pointer
                                       : (long long)args[i].value.integer;
  if (hint == 0)
    return status_set(TILE_INVALID_ARGUMENT,
                      "function `%s`: argument %u (`%s`) is promised to be 1; it is %lld", f->name,
                      number, param_name(f, i), value);
  return status_set(TILE_INVALID_ARGUMENT,
                    "function `%s`: argument %u (`%s`) is promised to be a multiple of %u; %lld is "
                    "not",
                    f->name, number, param_name(f, i), hint, value);
}

// *args becomes the list of parameters: itself, or `flat`.
static tile_status choose(tile_function *f, const char *call, const tile_arg **args, size_t count,
                          tile_arg flat[PACK_MAX_PARAMS], struct variant **ret) {
  if (!f)
    return status_set(TILE_INVALID_ARGUMENT, "%s: `function` is NULL", call);
  tile_status s =
      pack_check_arguments(f->pack, f->name, f->first_param, f->param_count, *args, count);
  if (s != TILE_OK)
    return s;
  *args = args_flatten(*args, count, flat);
  for (size_t i = 0; i < f->variant_count; i++)
    if (first_broken(hints_of(f, &f->variants[i]), *args, f->param_count) == f->param_count) {
      *ret = &f->variants[i];
      return TILE_OK;
    }
  return promise_broken(f, *args);
}

// ---- the public calls ----

tile_status tile_function_launch(tile_function *f, tile_stream *stream, tile_grid grid,
                                 const tile_arg *args, size_t arg_count) {
  return tile_function_launch_with(f, stream, grid, args, arg_count, NULL);
}

tile_status tile_function_launch_with(tile_function *f, tile_stream *stream, tile_grid grid,
                                      const tile_arg *args, size_t arg_count,
                                      const tile_launch_options *options) {
  struct variant *v;
  struct module *m;
  tile_arg flat[PACK_MAX_PARAMS];
  tile_status s = choose(f, "tile_function_launch", &args, arg_count, flat, &v);
  if (s == TILE_OK)
    s = module_of(f, v, &m);
  if (s != TILE_OK)
    return s;
  const uint8_t *hints = hints_of(f, v);
  uint64_t values[PACK_MAX_PARAMS];
  void *pointers[PACK_MAX_PARAMS];
  size_t n = 0;
  for (uint32_t i = 0; i < f->param_count; i++) {
    if (pack_u32(hints + i * PACK_HINT_BYTES) == 0)
      continue; // compiled in
    arg_store(&args[i], &values[n]);
    pointers[n] = &values[n];
    n++;
  }
  return module_launch(m, stream, grid, pointers,
                       launch_flags_of(options) | (f->checks ? LAUNCH_CHECKED : 0));
}

tile_status tile_function_set_check(tile_function *f, int on) {
  if (!f)
    return status_set(TILE_INVALID_ARGUMENT, "tile_function_set_check: `function` is NULL");
  if (on && !device_checks(f->device))
    return status_set(TILE_INVALID_ARGUMENT, "launches of packs are checked on simulated GPUs");
  f->checks = on != 0;
  return TILE_OK;
}

tile_status tile_function_prepare(tile_function *f) {
  if (!f)
    return status_set(TILE_INVALID_ARGUMENT, "tile_function_prepare: `function` is NULL");
  tile_status s = TILE_OK;
  struct module *m;
  for (size_t i = 0; i < f->variant_count && s == TILE_OK; i++)
    s = module_of(f, &f->variants[i], &m);
  return s;
}

static int known_or_minus_one(uint32_t n) { return n > INT32_MAX ? -1 : (int)n; }

tile_status tile_function_choose(tile_function *f, const tile_arg *args, size_t arg_count,
                                 tile_function_choice *ret_choice) {
  struct variant *v;
  uint32_t code = 0;
  tile_arg flat[PACK_MAX_PARAMS];
  tile_status s = choose(f, "tile_function_choose", &args, arg_count, flat, &v);
  if (s != TILE_OK)
    return s;
  if (!ret_choice)
    return status_set(TILE_INVALID_ARGUMENT, "tile_function_choose: `ret_choice` is NULL");
  pack_best_code(f->pack, v->index, f->device, ~0u, &code);
  const uint8_t *c = pack_entry(f->pack, PACK_CODES, code);
  *ret_choice = (tile_function_choice){
      .specialisation = (size_t)(v - f->variants),
      .specialisations = f->variant_count,
      .target = pack_text(f->pack, pack_u32(c + PACK_CODE_TARGET)),
      .is_binary = pack_u32(c + PACK_CODE_FORMAT) != PACK_PTX,
      .num_warps = pack_u32(pack_entry(f->pack, PACK_VARIANTS, v->index) + PACK_VARIANT_NUM_WARPS),
      .shared_bytes = pack_u32(c + PACK_CODE_SHARED),
      .registers = known_or_minus_one(pack_u32(c + PACK_CODE_REGISTERS)),
      .spilled = known_or_minus_one(pack_u32(c + PACK_CODE_SPILL_STORES)),
  };
  return TILE_OK;
}
