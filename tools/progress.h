// SPDX-License-Identifier: Apache-2.0
// What tilec is doing, on standard error: on a terminal a line that appears after a second and
// disappears at the end of the stage, never in pipes and files; with --verbose a line with the time
// of every finished stage. For one thread.
#ifndef TILE_TOOLS_PROGRESS_H
#define TILE_TOOLS_PROGRESS_H

#include "tools/tool.h"

// Begins a stage, and ends the one before it. `what` is copied, such as "compiling add.tile".
void progress_stage(struct tool *t, const char *what);
// How far the stage is.
void progress_count(unsigned done, unsigned of);
// Ends the stage and removes the line. Before anything else is written; harmless without a stage.
void progress_end(void);
// Whether a line may be shown: standard error is a terminal that can erase it, and --quiet is off.
bool progress_is_shown(const struct tool *t);

#endif
