// SPDX-License-Identifier: Apache-2.0
// Spans of our sources to MLIR locations and back. A location has file, line and column of both
// ends (the end exclusive, as in a span); the context's `sources` map it back to the text.
#include "mlir-dialects/ir_internal.h"

MlirLocation loc_from_span(struct ir_context *c, struct span s) {
  if (!s.source)
    return mlirLocationUnknownGet(c->mlir);
  struct str name = str_from(s.source->name);
  if (map_get(&c->sources, name) != s.source)
    map_put(c->arena, &c->sources, name, (void *)(uintptr_t)s.source);
  struct line_col from = source_line_col(s.source, s.begin);
  struct line_col to = source_line_col(s.source, s.end);
  return mlirLocationFileLineColRangeGet(c->mlir, ref_of(s.source->name), from.line, from.col,
                                         to.line, to.col);
}

static struct span span_of_range(struct ir_context *c, MlirLocation loc) {
  MlirIdentifier file = mlirLocationFileLineColRangeGetFilename(loc);
  const struct source *s = map_get(&c->sources, str_of_ref(mlirIdentifierStr(file)));
  if (!s)
    return SPAN_NONE;
  uint32_t begin = source_offset(s, (uint32_t)mlirLocationFileLineColRangeGetStartLine(loc),
                                 (uint32_t)mlirLocationFileLineColRangeGetStartColumn(loc));
  uint32_t end = source_offset(s, (uint32_t)mlirLocationFileLineColRangeGetEndLine(loc),
                               (uint32_t)mlirLocationFileLineColRangeGetEndColumn(loc));
  if (end <= begin) // a location, not a range
    end = begin < s->text.len ? begin + 1 : begin;
  return (struct span){s, begin, end};
}

struct span loc_to_span(struct ir_context *c, MlirLocation loc) {
  for (;;) {
    if (mlirLocationIsAFileLineColRange(loc))
      return span_of_range(c, loc);
    if (mlirLocationIsAName(loc))
      loc = mlirLocationNameGetChildLoc(loc);
    else if (mlirLocationIsACallSite(loc))
      loc = mlirLocationCallSiteGetCallee(loc);
    else if (mlirLocationIsAFused(loc) && mlirLocationFusedGetNumLocations(loc) > 0) {
      unsigned n = mlirLocationFusedGetNumLocations(loc);
      MlirLocation *parts = arena_array(c->arena, MlirLocation, n);
      mlirLocationFusedGetLocations(loc, parts);
      loc = parts[0];
    } else
      return SPAN_NONE;
  }
}

struct span op_span(struct ir_context *c, MlirOperation op) {
  return loc_to_span(c, mlirOperationGetLocation(op));
}
