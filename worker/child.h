// SPDX-License-Identifier: Apache-2.0
// A worker's process from inside, whatever its business is.
#ifndef TILE_WORKER_CHILD_H
#define TILE_WORKER_CHILD_H

#include "base/str.h"

// The number of the socket, where the program was started as `program option NUMBER`; else -1.
int worker_started(int argc, char **argv, const char *option);
// No core files from now on; `on_fault` is called in the thread that a fault's signal is about to
// end the process of, in the signal's handler.
void worker_begin(void (*on_fault)(void));
// Ends the process as soon as the other end of the socket is closed, whatever its threads do.
// False: there is no thread for that.
bool worker_ends_with(int socket);

#endif
