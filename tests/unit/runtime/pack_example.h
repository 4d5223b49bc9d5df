// SPDX-License-Identifier: Apache-2.0
// A pack for the tests: `add` with three specialisations, each as machine code for two GPUs and
// PTX, and `scale` with one for sm_90a alone.
#ifndef TILE_TESTS_PACK_EXAMPLE_H
#define TILE_TESTS_PACK_EXAMPLE_H

#include "runtime/pack.h"

// Codes begin with a text that identifies them: "\177ELF add 0 sm_80", "// add 2 ptx".
void pack_example(struct strbuf *out);

#endif
