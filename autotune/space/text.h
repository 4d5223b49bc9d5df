// SPDX-License-Identifier: Apache-2.0
// The part of the text form that files use too.
#ifndef TILE_AUTOTUNE_SPACE_TEXT_H
#define TILE_AUTOTUNE_SPACE_TEXT_H

#include "autotune/space/space_build.h"

// A value, or a range: adds all its values. False with a diagnostic.
bool space_item(struct space_builder *b, struct span at, size_t dim, struct str item);

#endif
