// SPDX-License-Identifier: Apache-2.0
// The process of a worker, from inside.
#ifndef TILE_WORKER_CHILD_H
#define TILE_WORKER_CHILD_H

#include "base/str.h"

// The socket's descriptor, if the program was started as `program option NUMBER`; else -1.
int worker_started(int argc, char **argv, const char *option);
// Disables core files; `on_fault` is called, in the signal's handler, by the thread whose fault is
// about to end the process.
void worker_begin(void (*on_fault)(void));
// Ends the process as soon as the other end of the socket is closed, whatever its threads do.
// False: no thread could be created.
bool worker_ends_with(int socket);

#endif
