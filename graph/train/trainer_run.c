// SPDX-License-Identifier: Apache-2.0
// Runs of a trainer's programs: one call of a recording (a CUDA graph) where runs repeat.
#include "graph/train/trainer_internal.h"

#include <stdlib.h>

static tile_status run(tile_trainer *t, struct trained_program *p, tile_stream *stream,
                       const char **report) {
  uint64_t seed = train_mix(t->options.seed, (uint64_t)t->calls);
  return report
             ? tile_program_find_nan(p->program, stream, seed, p->inputs, p->count, NULL, 0, report)
             : tile_program_run(p->program, stream, seed, p->inputs, p->count, NULL, 0);
}

// Notes the addresses; are they those of the run before?
static bool repeats(struct trained_program *p, tile_stream *stream) {
  bool same = p->stream == stream;
  for (size_t i = 0; i < p->count; i++) {
    same &= p->addresses[i] == p->inputs[i].data;
    p->addresses[i] = p->inputs[i].data;
  }
  p->stream = stream;
  return same;
}

static tile_status forget(tile_trainer *t, struct trained_program *p, tile_stream *stream) {
  if (!p->replay)
    return TILE_OK;
  tile_status s = tile_stream_synchronize(t->device, stream);
  tile_replay_destroy(p->replay);
  p->replay = NULL;
  return s;
}

tile_status trained_run(tile_trainer *t, struct trained_program *p, tile_stream *stream,
                        const char **report) {
  if (report || !t->may_replay || !stream)
    return run(t, p, stream, report);
  tile_stream *before = p->stream;
  if (!repeats(p, stream)) {
    tile_status s = forget(t, p, before);
    return s == TILE_OK ? run(t, p, stream, NULL) : s;
  }
  if (!p->replay && tile_program_record(p->program, stream, 0, p->inputs, p->count, NULL, 0,
                                        &p->replay) != TILE_OK) {
    t->may_replay = false; // the host decides something, or the device cannot
    return run(t, p, stream, NULL);
  }
  return tile_replay_run(p->replay, stream);
}

void trained_finish(struct trained_program *p) {
  tile_replay_destroy(p->replay);
  tile_program_close(p->program);
  free(p->slots);
  free(p->inputs);
  free(p->addresses);
}
