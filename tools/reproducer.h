// SPDX-License-Identifier: Apache-2.0
// What is left behind when tilec itself fails: a folder with the input, the command and the
// versions. Everything is prepared beforehand, so that a signal handler can write it too.
#ifndef TILE_TOOLS_REPRODUCER_H
#define TILE_TOOLS_REPRODUCER_H

#include "tools/tool.h"

// Catches fatal signals from now on: they write the folder, say so on standard error and end the
// program with EXIT_INTERNAL. `t` must outlive the process's work.
void reproducer_install(struct tool *t, int argc, char **argv);
// The input, once it was read; lives as long as `t`.
void reproducer_input(const struct source *source);
// While a kernel runs on the CPU a fatal signal is most likely its own fault: then the message
// says how to find the location, nothing is written, and the status is EXIT_WRONG.
void reproducer_kernel_runs(bool on_cpu);
// Writes the folder. Its name, or NULL when it could not be written.
const char *reproducer_write(void);

#endif
