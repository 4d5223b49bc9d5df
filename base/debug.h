// SPDX-License-Identifier: Apache-2.0
// TILE_DEBUG=word,word,... switches internal tracing on; TILE_DEBUG=help lists the words. They are
// defined in the table only. Library code tests debug_on() and writes through debug_log(), which
// prints nothing unless the word is on.
#ifndef TILE_BASE_DEBUG_H
#define TILE_BASE_DEBUG_H

#include "base/attrs.h"

#define DEBUG_WORDS(X)                                                                             \
  X(DEBUG_PASSES, "passes", "each pass as it runs, and whether it changed anything")               \
  X(DEBUG_LAYOUTS, "layouts", "layouts chosen by assign-layouts and coalesce")                     \
  X(DEBUG_CACHE, "cache", "cache hits, misses, refused and damaged entries")                       \
  X(DEBUG_LAUNCH, "launch", "each launch with its grid and specialisation")                        \
  X(DEBUG_DRIVER, "driver", "each CUDA driver call and its result")                                \
  X(DEBUG_CPU, "cpu", "the CPU executor's choices")                                                \
  X(DEBUG_GDB, "gdb", "kernels on the CPU have lines and variables for gdb, and no optimisation")  \
  X(DEBUG_STRICT, "strict", "no tracing: refuses kernels whose products ptxas serialises")         \
  X(DEBUG_CHANNELS_LAST, "channels-last",                                                          \
    "no tracing: images of convolutions have channels last on every target, as on sm_90a")         \
  X(DEBUG_TUNE, "tune", "the tuner's worker: which program it is, how it ended")

enum debug_word {
#define X(id, name, doc) id,
  DEBUG_WORDS(X)
#undef X
      DEBUG_WORD_COUNT
};

bool debug_on(enum debug_word w);
void debug_log(enum debug_word w, const char *fmt, ...) PRINTF(2, 3); // one line on stderr
// The first word of TILE_DEBUG that is not in the table; false: all are.
struct str;
bool debug_unknown_word(struct str *ret);
// The `help` text: one line per word.
const char *debug_help(void);

#endif
