// SPDX-License-Identifier: Apache-2.0
// Messages for failures of a graph's program on a device.
#include "tools/graph/graph_run.h"

int graph_session_failed(struct tool *t, tile_status s) {
  if (s == TILE_OK)
    return EXIT_DONE;
  bool no_device = s == TILE_NO_DEVICE || s == TILE_DRIVER_TOO_OLD;
  bool no_memory = s == TILE_OUT_OF_MEMORY || s == TILE_OUT_OF_DEVICE_MEMORY;
  diag_error(t->diag, t->o.file_at,
             no_device                        ? E0811
             : s == TILE_OUT_OF_DEVICE_MEMORY ? E0812
             : s == TILE_OUT_OF_MEMORY        ? E0991
                                              : E0813,
             "%s", tile_error_message());
  return no_device ? EXIT_NO_DEVICE : no_memory || s == TILE_LIMIT ? EXIT_LIMIT : EXIT_WRONG;
}
