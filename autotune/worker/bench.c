// SPDX-License-Identifier: Apache-2.0
// The device, the arrays on it, and candidates that are launched on them.
#include "autotune/worker/bench.h"

#include "runtime/args.h"

#define UNKNOWN_L2_BYTES ((size_t)64 << 20)
#define CPU_FLUSH_BYTES ((size_t)8 << 20)
#define ALIGNMENT 16 // of addresses, which specialisations depend on
#define COPIES 7     // timed for the copy rate

// ---- opening ----

size_t bench_flush_bytes(const tile_device_properties *p) {
  return p->is_cpu ? CPU_FLUSH_BYTES : 4 * (p->l2_bytes ? p->l2_bytes : UNKNOWN_L2_BYTES);
}

tile_status bench_open(struct bench *b, const struct bench_problem *problem, const void *data,
                       void *reference) {
  *b = (struct bench){.problem = problem, .data = data, .reference = reference};
  tile_status s = tile_device_open(problem->device, &b->device);
  if (s == TILE_OK)
    s = tile_device_get_properties(b->device, &b->properties);
  if (s == TILE_OK && b->properties.is_cpu)
    s = orc_create(&b->orc);
  if (s == TILE_OK)
    s = tile_event_create(b->device, &b->start);
  if (s == TILE_OK)
    s = tile_event_create(b->device, &b->stop);
  if (s != TILE_OK)
    return s;
  b->flush_bytes = bench_flush_bytes(&b->properties);
  return tile_malloc(b->device, b->flush_bytes, &b->flush);
}

static void buffers_free(struct bench *b) {
  for (size_t i = 0; i < b->buffer_count; i++) {
    tile_free(b->device, b->buffers[i].block);
    tile_free(b->device, b->buffers[i].first);
  }
  b->buffer_count = 0;
}

void bench_close(struct bench *b) {
  if (!b->device)
    return;
  buffers_free(b);
  bench_end_threads(b);
  tile_free(b->device, b->flush);
  tile_event_destroy(b->start);
  tile_event_destroy(b->stop);
  orc_destroy(b->orc);
  tile_device_close(b->device);
  b->device = NULL;
}

void bench_stay_awake(struct bench *b) {
  // A failure here shows again where it is reported.
  if (tile_memset(b->device, NULL, b->flush, 1, b->flush_bytes) == TILE_OK)
    tile_stream_synchronize(b->device, NULL);
}

// Copies between the two halves of the flush buffer.
tile_status bench_copy_rate(struct bench *b, double *ret_gbs) {
  size_t half = b->flush_bytes / 2;
  char *to = (char *)b->flush + half;
  float best = 0;
  tile_status s = tile_memset(b->device, NULL, b->flush, 1, b->flush_bytes);
  for (int i = 0; s == TILE_OK && i < COPIES; i++) {
    float ms = 0;
    s = tile_event_record(b->device, b->start, NULL);
    if (s == TILE_OK)
      s = tile_copy_on_device(b->device, NULL, to, b->flush, half);
    if (s == TILE_OK)
      s = tile_event_record(b->device, b->stop, NULL);
    if (s == TILE_OK)
      s = tile_event_elapsed(b->start, b->stop, &ms);
    if (ms > 0 && (best <= 0 || ms < best))
      best = ms;
  }
  if (s == TILE_OK)
    *ret_gbs = best > 0 ? 2 * (double)half / (double)best * 1e-6 : 0;
  return s;
}

// ---- arrays ----

static size_t find_buffer(const struct bench *b, const struct bench_arg *arg) {
  for (size_t i = 0; i < b->buffer_count; i++)
    if (b->buffers[i].array.offset == arg->array.offset &&
        b->buffers[i].array.bytes == arg->array.bytes)
      return i;
  return SIZE_MAX;
}

static tile_status add_buffer(struct bench *b, const struct bench_arg *arg) {
  const struct tune_array *array = &arg->array;
  uint64_t all = b->problem->data_bytes;
  if (array->offset > all || array->bytes > all - array->offset || array->expected > all ||
      (array->has_expected && array->bytes > all - array->expected))
    return status_set(TILE_INVALID_ARGUMENT, "array `%s` lies outside the data", arg->name);
  struct bench_buffer *n = &b->buffers[b->buffer_count++];
  *n = (struct bench_buffer){.name = arg->name, .array = *array, .type = arg->type};
  tile_status s = tile_malloc(b->device, array->bytes + ALIGNMENT, &n->block);
  if (s == TILE_OK)
    s = tile_malloc(b->device, array->bytes, &n->first);
  if (s == TILE_OK)
    n->device = (char *)n->block + arg->bits % ALIGNMENT;
  return s;
}

static tile_status add_buffers(struct bench *b) {
  for (size_t i = 0; i < b->problem->arg_count; i++) {
    const struct bench_arg *arg = &b->problem->args[i];
    b->buffer_of_arg[i] = SIZE_MAX;
    if (!arg->is_pointer || arg->array.bytes == 0)
      continue;
    size_t at = find_buffer(b, arg);
    if (at == SIZE_MAX) {
      tile_status s = add_buffer(b, arg);
      if (s != TILE_OK)
        return s;
      at = b->buffer_count - 1;
    }
    b->buffers[at].array.reset |= arg->array.reset;
    b->buffers[at].array.zero |= arg->array.zero;
    b->buffer_of_arg[i] = at;
  }
  return TILE_OK;
}

tile_status bench_prepare(struct bench *b, struct arena *a) {
  b->buffers = arena_array(a, struct bench_buffer, b->problem->arg_count + 1);
  b->buffer_of_arg = arena_array(a, size_t, b->problem->arg_count + 1);
  tile_status s = bench_make_threads(b);
  return s == TILE_OK ? add_buffers(b) : s;
}

static tile_status upload_chunk(struct bench *b, void *user, const struct bench_chunk *c) {
  const struct bench_buffer *n = &b->buffers[c->buffer];
  const void *from = b->data + n->array.offset + c->offset;
  (void)user;
  if (c->staging)
    from = memcpy(c->staging, from, c->bytes);
  return tile_copy_to_device(b->device, NULL, (char *)n->first + c->offset, from, c->bytes);
}

tile_status bench_upload(struct bench *b) { return bench_for_chunks(b, upload_chunk, NULL); }

static tile_status restore_one(struct bench *b, const struct bench_buffer *n) {
  if (n->array.zero)
    return tile_memset(b->device, NULL, n->device, 0, n->array.bytes);
  return tile_copy_on_device(b->device, NULL, n->device, n->first, n->array.bytes);
}

tile_status bench_restore(struct bench *b) {
  tile_status s = TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < b->buffer_count; i++)
    s = restore_one(b, &b->buffers[i]);
  return s;
}

tile_status bench_reset(struct bench *b) {
  tile_status s = TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < b->buffer_count; i++)
    if (b->buffers[i].array.reset || b->buffers[i].array.zero)
      s = restore_one(b, &b->buffers[i]);
  return s;
}

// ---- candidates ----

static tile_status load_cpu(struct bench *b, struct bench_candidate *c, struct str code) {
  cpu_kernel_fn fn = NULL;
  tile_status s = orc_load(b->orc, code, c->info.name, &fn);
  return s == TILE_OK ? module_from_cpu(b->device, fn, &c->info, NULL, NULL, &c->module) : s;
}

tile_status bench_load(struct bench *b, struct bench_candidate *c, struct str code) {
  if (c->info.param_count > BENCH_MAX_PARAMS)
    return status_set(TILE_LIMIT, "more than %d parameters", BENCH_MAX_PARAMS);
  return b->properties.is_cpu ? load_cpu(b, c, code)
                              : module_load(b->device, code.ptr, code.len, &c->info, &c->module);
}

void bench_unload(struct bench_candidate *c) {
  module_destroy(c->module);
  c->module = NULL;
}

// The kernel's parameters are the source's without those compiled in; they are matched by name.
static tile_status bind(struct bench *b, struct bench_candidate *c) {
  for (uint32_t i = 0; i < c->info.param_count; i++) {
    size_t at = 0;
    while (at < b->problem->arg_count &&
           strcmp(b->problem->args[at].name, c->info.params[i].name) != 0)
      at++;
    if (at == b->problem->arg_count)
      return status_set(TILE_INTERNAL, "there is no argument `%s`", c->info.params[i].name);
    const struct bench_arg *arg = &b->problem->args[at];
    tile_arg value = {.is_pointer = arg->is_pointer, .type = (tile_type)arg->type};
    memcpy(&value.value, &arg->bits, sizeof arg->bits);
    size_t buffer = b->buffer_of_arg[at];
    if (arg->is_pointer)
      value.value.pointer = buffer == SIZE_MAX ? NULL : b->buffers[buffer].device;
    arg_store(&value, &c->words[i]);
    c->values[i] = &c->words[i];
  }
  return TILE_OK;
}

tile_status bench_launch(struct bench *b, struct bench_candidate *c) {
  tile_status s = c->is_bound ? TILE_OK : bind(b, c);
  c->is_bound = s == TILE_OK;
  return s == TILE_OK ? module_launch(c->module, NULL, c->grid, c->values, 0) : s;
}

bool bench_is_usable(struct bench *b) {
  return tile_memset(b->device, NULL, b->flush, 1, 1) == TILE_OK &&
         tile_stream_synchronize(b->device, NULL) == TILE_OK;
}
