// SPDX-License-Identifier: Apache-2.0
// Records work once and replays it many times: as CUDA graphs on a GPU, as a list of records on
// other devices. A program of fifty small kernels costs the CPU one launch.
#include "base/dtype.h"
#include "base/memory.h"
#include "runtime/trace_device.h"

#include <stdlib.h>
#include <string.h>

enum record_kind { RECORD_LAUNCH, RECORD_FILL, RECORD_COPY };

struct record {
  enum record_kind kind;
  struct module *module;
  tile_grid grid;
  uint64_t *values; // of the parameters, each in its own 8-byte word
  void **pointers;  // to the values
  unsigned flags;   // of the launch
  void *to;
  const void *from;
  int byte;
  size_t size;
};

struct recording {
  struct record *at;
  size_t count, cap;
};

struct tile_replay {
  tile_device *device;
  void *recorded;              // by the driver
  struct recording *recording; // or by this file
};

static void drop(struct record *r) {
  free(r->values);
  free(r->pointers);
}

void recording_destroy(struct recording *r) {
  if (!r)
    return;
  for (size_t i = 0; i < r->count; i++)
    drop(&r->at[i]);
  free(r->at);
  free(r);
}

// ---- recording ----

static tile_status push(struct recording *r, struct record record) {
  if (r->count == r->cap) {
    size_t cap = r->cap ? r->cap * 2 : 16;
    struct record *grown = memory_resize(r->at, cap * sizeof *grown);
    if (!grown) {
      drop(&record);
      return status_set(TILE_OUT_OF_MEMORY, "out of memory for a recording");
    }
    r->at = grown;
    r->cap = cap;
  }
  r->at[r->count++] = record;
  return TILE_OK;
}

tile_status record_launch(struct recording *recording, struct module *m, tile_grid grid,
                          void *const *values, unsigned flags) {
  struct record r = {.kind = RECORD_LAUNCH, .module = m, .grid = grid, .flags = flags};
  r.values = memory_zeroed(m->info->param_count + 1, sizeof *r.values);
  r.pointers = memory_zeroed(m->info->param_count + 1, sizeof *r.pointers);
  if (!r.values || !r.pointers) {
    drop(&r);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a recording");
  }
  for (uint32_t i = 0; i < m->info->param_count; i++) {
    const struct kernel_param *p = &m->info->params[i];
    memcpy(&r.values[i], values[i], p->is_pointer ? sizeof(void *) : dtype_bytes(p->dtype));
    r.pointers[i] = &r.values[i];
  }
  return push(recording, r);
}

tile_status record_fill(struct recording *r, void *to, int byte, size_t size) {
  return push(r, (struct record){.kind = RECORD_FILL, .to = to, .byte = byte, .size = size});
}

tile_status record_copy(struct recording *r, void *to, const void *from, size_t size) {
  return push(r, (struct record){.kind = RECORD_COPY, .to = to, .from = from, .size = size});
}

// ---- replaying ----

// Of devices whose work is done when the call returns.
static tile_status run_launch(tile_device *d, const struct record *r, void *stream) {
  const struct module *m = r->module;
  struct trace_slice slice = trace_begin(TRACE_KERNEL, m->info->name);
  tile_status s = d->ops->launch(r->module, stream, r->grid, r->pointers, r->flags);
  trace_end(&slice, &(struct trace_detail){.file = m->file,
                                           .line = m->line,
                                           .grid = {r->grid.x, r->grid.y, r->grid.z},
                                           .target = m->info->target});
  return s;
}

static tile_status run_record(tile_device *d, const struct record *r, void *stream) {
  switch (r->kind) {
  case RECORD_LAUNCH: return run_launch(d, r, stream);
  case RECORD_FILL: return d->ops->fill(d, stream, r->to, r->byte, r->size);
  case RECORD_COPY: return d->ops->copy(d, COPY_ON_DEVICE, stream, r->to, r->from, r->size);
  }
  return TILE_INTERNAL;
}

// ---- the public calls ----

static tile_status check_stream(const char *call, tile_device *device, tile_stream *stream) {
  if (!device)
    return status_set(TILE_INVALID_ARGUMENT, "%s: the device is NULL", call);
  if (!stream)
    return status_set(TILE_INVALID_ARGUMENT, "%s: the default stream cannot be recorded", call);
  if (stream->device != device)
    return status_set(TILE_INVALID_ARGUMENT, "%s: the stream belongs to another device", call);
  return TILE_OK;
}

tile_status tile_replay_begin(tile_device *device, tile_stream *stream) {
  tile_status s = check_stream("tile_replay_begin", device, stream);
  if (s != TILE_OK)
    return s;
  if (stream->is_recording)
    return status_set(TILE_INVALID_ARGUMENT, "tile_replay_begin: the stream is recording already");
  if (device->ops->record_begin)
    s = device->ops->record_begin(device, stream->handle);
  else if (!(stream->recording = memory_zeroed(1, sizeof *stream->recording)))
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for a recording");
  stream->is_recording = s == TILE_OK;
  return s;
}

tile_status tile_replay_end(tile_device *device, tile_stream *stream, tile_replay **ret_replay) {
  tile_status s = check_stream("tile_replay_end", device, stream);
  if (s != TILE_OK)
    return s;
  if (!ret_replay)
    return status_set(TILE_INVALID_ARGUMENT, "tile_replay_end: `ret_replay` is NULL");
  if (!stream->is_recording)
    return status_set(TILE_INVALID_ARGUMENT, "tile_replay_end: the stream is not recording");
  tile_replay *r = memory_zeroed(1, sizeof *r);
  void *recorded = NULL;
  if (device->ops->record_end)
    s = device->ops->record_end(device, stream->handle, &recorded);
  struct recording *recording = stream->recording;
  stream->is_recording = false;
  stream->recording = NULL;
  if (!r && s == TILE_OK)
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for a recording");
  if (s != TILE_OK) {
    if (recorded)
      device->ops->record_destroy(device, recorded);
    recording_destroy(recording);
    free(r);
    return s;
  }
  *r = (tile_replay){.device = device, .recorded = recorded, .recording = recording};
  *ret_replay = r;
  return TILE_OK;
}

static tile_status run(tile_replay *replay, tile_stream *stream) {
  tile_device *d = replay->device;
  void *handle = stream ? stream->handle : NULL;
  if (!replay->recording) {
    struct device_mark mark = device_mark_begin(d, handle, stream && stream->is_recording);
    tile_status s = d->ops->replay(d, replay->recorded, handle);
    device_mark_end(d, handle, mark, TRACE_GRAPH, "replay", &(struct trace_detail){0});
    return s;
  }
  tile_status s = TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < replay->recording->count; i++)
    s = run_record(d, &replay->recording->at[i], handle);
  return s;
}

tile_status tile_replay_run(tile_replay *replay, tile_stream *stream) {
  if (!replay)
    return status_set(TILE_INVALID_ARGUMENT, "tile_replay_run: the replay is NULL");
  if (stream && stream->device != replay->device)
    return status_set(TILE_INVALID_ARGUMENT,
                      "tile_replay_run: the stream belongs to another device");
  struct trace_slice slice = trace_begin(TRACE_GRAPH, "replay");
  tile_status s = run(replay, stream);
  trace_end(&slice, NULL);
  return s;
}

void tile_replay_destroy(tile_replay *replay) {
  if (!replay)
    return;
  if (replay->recorded)
    replay->device->ops->record_destroy(replay->device, replay->recorded);
  recording_destroy(replay->recording);
  free(replay);
}
