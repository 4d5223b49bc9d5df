// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM end a measurement early, and what was measured so far is reported. A second
// signal ends the program at once.
#ifndef TILE_TOOLS_INTERRUPT_H
#define TILE_TOOLS_INTERRUPT_H

#include <stdbool.h>

void interrupt_catch(void);
void interrupt_release(void); // the default again: a signal ends the program
bool interrupt_seen(void);    // since interrupt_catch
// EXIT_INTERRUPTED or EXIT_TERMINATED after a signal, if all else went well (`status` is
// EXIT_DONE).
int interrupt_status(int status);

#endif
