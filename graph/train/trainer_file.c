// SPDX-License-Identifier: Apache-2.0
// Checkpoints of trainers: all that steps read but the batch.
#include "base/memory.h"
#include "graph/train/trainer_internal.h"
#include "runtime/weights_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SEED_KEY "tile.seed"
#define CALLS_KEY "tile.steps"

static tile_named_tensor *list(const tile_trainer *t) {
  tile_named_tensor *all = memory_zeroed(t->slot_count + 1, sizeof *all);
  for (size_t i = 0; all && i < t->slot_count; i++)
    all[i] = (tile_named_tensor){t->slots[i].name, t->slots[i].tensor};
  return all;
}

tile_status tile_trainer_save(tile_trainer *t, tile_stream *stream, const char *path) {
  char seed[32], calls[32];
  if (!t || !path)
    return status_set(TILE_INVALID_ARGUMENT, "tile_trainer_save: `%s` is NULL",
                      t ? "path" : "trainer");
  snprintf(seed, sizeof seed, "%" PRIu64, t->options.seed);
  snprintf(calls, sizeof calls, "%" PRId64, t->calls);
  const tile_weights_note notes[] = {{SEED_KEY, seed}, {CALLS_KEY, calls}};
  tile_named_tensor *all = list(t);
  tile_status s = all ? tile_checkpoint_save(t->device, stream, path, all, t->slot_count, notes, 2)
                      : status_set(TILE_OUT_OF_MEMORY, "out of memory for a checkpoint");
  free(all);
  return s;
}

// A number of the file's metadata, in decimal digits.
static bool read_number(const tile_weights *w, const char *key, uint64_t most, uint64_t *ret) {
  const char *text = tile_weights_find_note(w, key);
  char *end;
  if (!text || *text < '0' || *text > '9')
    return false;
  errno = 0;
  *ret = strtoull(text, &end, 10);
  return !*end && !errno && *ret <= most;
}

static tile_status load(tile_trainer *t, tile_stream *stream, const char *path,
                        const tile_weights *w) {
  uint64_t seed, calls;
  tile_named_tensor *all = list(t);
  tile_status s = TILE_OK;
  if (!all)
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for a checkpoint");
  else if (!read_number(w, SEED_KEY, UINT64_MAX, &seed) ||
           !read_number(w, CALLS_KEY, INT64_MAX, &calls))
    s = status_set(
        TILE_INVALID_ARGUMENT,
        "`%s` is not a checkpoint of a trainer: it lacks the seed or the number of steps", path);
  else
    s = checkpoint_copy(t->device, stream, path, w, all, t->slot_count);
  if (s == TILE_OK) {
    t->options.seed = seed;
    t->calls = (int64_t)calls;
  }
  free(all);
  return s;
}

tile_status tile_trainer_load(tile_trainer *t, tile_stream *stream, const char *path) {
  tile_weights *w = NULL;
  if (!t || !path)
    return status_set(TILE_INVALID_ARGUMENT, "tile_trainer_load: `%s` is NULL",
                      t ? "path" : "trainer");
  tile_status s = tile_weights_open(path, &w);
  if (s == TILE_OK)
    s = load(t, stream, path, w);
  tile_weights_close(w);
  return s;
}
