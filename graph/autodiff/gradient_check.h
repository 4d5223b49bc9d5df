// SPDX-License-Identifier: Apache-2.0
// Checks a request for gradients before anything is appended.
#ifndef TILE_GRAPH_AUTODIFF_GRADIENT_CHECK_H
#define TILE_GRAPH_AUTODIFF_GRADIENT_CHECK_H

#include "graph/autodiff/gradient_rules.h"

// False with E1012, E1013 or E1014. d->wants is marked.
bool gradient_check(const struct gradient *d, const struct gradient_request *r, struct span at);

#endif
