// SPDX-License-Identifier: Apache-2.0
// Reports for crashes of tilec itself: a folder with the input, the command, the versions and
// the callers of where it happened.
// Everything is prepared beforehand, so that a signal handler can write it.
#ifndef TILE_TOOLS_REPRODUCER_H
#define TILE_TOOLS_REPRODUCER_H

#include "tools/tool.h"

// Installs handlers of fatal signals: they write the folder, report it on standard error and end
// the program with EXIT_INTERNAL. `t` must outlive them.
void reproducer_install(struct tool *t, int argc, char **argv);
// Sets the input, once it was read; it must live as long as `t`.
void reproducer_input(const struct source *source);
// While a kernel runs on the CPU, a fatal signal is most likely the kernel's fault: the message
// then says how to find the location, nothing is written, and the status is EXIT_WRONG.
void reproducer_kernel_runs(bool on_cpu);
// Writes the folder. Its name, or NULL when it could not be written.
const char *reproducer_write(void);

#endif
