// SPDX-License-Identifier: Apache-2.0
// The source location of operations.
#include "lang/ops/ops.h"

void emit_at(struct eval *e, struct span at) {
  const struct frame *f = e->frame;
  if (f && f->is_std) {
    e->b.loc = f->call_loc;
    e->span = SPAN_NONE;
    return;
  }
  if (at.source == e->span.source && at.begin == e->span.begin && at.end == e->span.end)
    return;
  e->span = at;
  e->b.loc = loc_from_span(e->c, at);
  if (f && !mlirLocationIsNull(f->call_loc))
    e->b.loc = mlirLocationCallSiteGet(e->b.loc, f->call_loc);
}
