// SPDX-License-Identifier: Apache-2.0
// Identifies this build for compiler_version(): a digest of the linked program.
#ifndef TILE_LOWERING_BUILD_ID_H
#define TILE_LOWERING_BUILD_ID_H

#include "base/attrs.h"

enum { BUILD_ID_TEXT = 65 };

// The linker's build id of the program or library that this code is in, as hexadecimal text; the
// time of compilation where the linker made none.
void build_id_text(char ret[BUILD_ID_TEXT]);

#endif
