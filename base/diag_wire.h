// SPDX-License-Identifier: Apache-2.0
// Serialises diagnostics from one process to another: all records with their locations and sources.
#ifndef TILE_BASE_DIAG_WIRE_H
#define TILE_BASE_DIAG_WIRE_H

#include "base/diag.h"
#include "base/wire.h"

// `known` is the source that the other side has.
void diag_wire_put(const struct diag_engine *e, const struct source *known, struct strbuf *out);
// Adds the records to `e`. Other sources are created on its arena. False: the input is damaged.
bool diag_wire_get(struct diag_engine *e, const struct source *known, struct wire_reader *r);

#endif
