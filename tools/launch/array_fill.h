// SPDX-License-Identifier: Apache-2.0
// Generated arrays: the FILL part of an argument spec. Deterministic on any machine with any number
// of threads: element i depends only on the seed and on i.
#ifndef TILE_TOOLS_ARRAY_FILL_H
#define TILE_TOOLS_ARRAY_FILL_H

#include "tools/launch/arg_spec.h"

// Each element is computed in double and rounded to the type (dtype_store). Uniform values that
// would round to `b` become `a`, so that the interval stays half open; for integer types they are
// rounded down, so that each integer is equally likely.
void array_fill(struct array *array, const struct fill *fill);

#endif
