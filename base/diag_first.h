// SPDX-License-Identifier: Apache-2.0
// Where the first error is, for a message that takes its place.
#ifndef TILE_BASE_DIAG_FIRST_H
#define TILE_BASE_DIAG_FIRST_H

#include "base/diag.h"

// SPAN_NONE if there is no error, or if it has no location.
struct span diag_first_error_span(const struct diag_engine *e);
// The first error, to add notes to; NULL if there is none.
struct diag *diag_first_error_record(const struct diag_engine *e);

#endif
