// SPDX-License-Identifier: Apache-2.0
// tile-worker: the process that libtile starts to launch candidates in, or to compile in.
#include "autotune/worker/worker.h"

int main(int argc, char **argv) { return tile_worker_main(argc, argv); }
