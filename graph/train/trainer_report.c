// SPDX-License-Identifier: Apache-2.0
// Reports: the device writes what steps find to rows of an array, which a stream of its own reads.
#include "graph/train/trainer_internal.h"

static int64_t step_of(const double *row) {
  double first = row[COLUMN_STEP], last = row[COLUMN_STEP_AGAIN];
  return first >= 1 && first < 9e15 && !(first < last) && !(first > last) ? (int64_t)first : 0;
}

bool history_find(const double *history, int64_t step, tile_trainer_report *ret) {
  const double *best = NULL;
  for (int i = 0; i < HISTORY_ROWS; i++) {
    const double *row = history + i * HISTORY_COLUMNS;
    int64_t at = step_of(row);
    if (at && (step ? at == step : !best || at > step_of(best)))
      best = row;
  }
  if (!best)
    return false;
  bool is_scaled = best[COLUMN_SCALE] > 0 || best[COLUMN_SCALE] < 0;
  *ret = (tile_trainer_report){.step = step_of(best),
                               .loss = (float)best[COLUMN_LOSS],
                               .norm = (float)best[COLUMN_NORM],
                               .rate = (float)best[COLUMN_RATE],
                               .loss_scale = is_scaled ? (float)best[COLUMN_SCALE] : 1,
                               .skipped = (int64_t)best[COLUMN_SKIPPED]};
  return true;
}

static tile_status read_history(tile_trainer *t, double *ret) {
  for (size_t i = 0; i < t->slot_count; i++)
    if (strcmp(t->slots[i].name, HISTORY_NAME) == 0)
      return tile_copy_to_host(t->device, t->side, ret, t->slots[i].tensor.data, t->slots[i].bytes);
  return status_set(TILE_INTERNAL, "a trainer without a history");
}

tile_status tile_trainer_read(tile_trainer *t, tile_trainer_report *ret) {
  double history[HISTORY_ROWS * HISTORY_COLUMNS];
  if (!t || !ret)
    return status_set(TILE_INVALID_ARGUMENT, "a report needs a trainer and a result");
  *ret = (tile_trainer_report){0};
  tile_status s = read_history(t, history);
  if (s == TILE_OK)
    history_find(history, 0, ret);
  return s;
}

tile_status tile_trainer_read_step(tile_trainer *t, int64_t step, tile_trainer_report *ret) {
  double history[HISTORY_ROWS * HISTORY_COLUMNS];
  if (!t || !ret || step < 1)
    return status_set(TILE_INVALID_ARGUMENT,
                      "a report needs a trainer and a result; steps count from 1");
  tile_status s = read_history(t, history);
  if (s == TILE_OK && !history_find(history, step, ret))
    s = status_set(TILE_NOT_FOUND, "step %lld has not ended, or is more than %d steps ago",
                   (long long)step, HISTORY_ROWS);
  return s;
}
