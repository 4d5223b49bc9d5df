// SPDX-License-Identifier: Apache-2.0
// Epilogues of matrix products and attention: what the region computes from the accumulator while
// it is in registers, and its stores.
#include "graph/emit/graph_emit.h"

void emit_given_result(struct emitter *e, const struct scalar *load, enum dtype sum, bool rounds,
                       const char *name, uint32_t axes, unsigned level) {
  assert(load->kind == SCALAR_LOAD && load->buffer);
  const struct scalar *full = scalar_convert(e->s, load, sum);
  const char *narrow = name;
  if (load != full)
    narrow = arena_printf(e->arena, "%s.to(%s)", name, emit_type(load->dtype));
  if (load != full && rounds)
    name = arena_printf(e->arena, "%s.to(%s)", narrow, emit_type(sum));
  emit_given(e, load, narrow, axes, level);
  emit_given(e, full, name, axes, level);
}

void emit_count_write(struct emitter *e, const struct write_part *w) {
  emit_count(e, w->body);
  if (w->stage->kind == STAGE_SCATTER && w->stage->predicate)
    emit_count(e, w->stage->predicate);
}

void emit_write(struct emitter *e, const struct write_part *w) {
  bool scatters = w->stage->kind == STAGE_SCATTER;
  emit_scatter_store(e, w->buffer, w->offset, w->body, scatters ? w->stage->predicate : NULL,
                     scatters && w->stage->accumulates);
}

void emit_count_epilogue(struct emitter *e, const struct region_parts *parts) {
  for (size_t i = 0; i < parts->writes.len; i++) {
    emit_writes(e, parts->writes.at[i].buffer);
    emit_count_write(e, &parts->writes.at[i]);
  }
}

void emit_epilogue(struct emitter *e, const struct region_parts *parts) {
  emit_count_epilogue(e, parts);
  for (size_t i = 0; i < parts->writes.len; i++)
    emit_write(e, &parts->writes.at[i]);
}

void emit_store_name(struct emitter *e, struct buffer *b, const struct expr *offset,
                     const char *name, uint32_t axes) {
  const struct scalar *load = scalar_load(e->s, b, offset);
  emit_given(e, load, name, axes, e->depth);
  emit_writes(e, b);
  emit_count(e, load);
  emit_store_value(e, b, offset, load);
}
