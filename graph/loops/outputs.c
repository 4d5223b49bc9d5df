// SPDX-License-Identifier: Apache-2.0
// The last stages: outputs that no stage has written yet, and new values of graph inputs.
#include "graph/loops/loops_internal.h"

// Along strides of 0 only the first element is written: all elements share its address.
static void write_output(struct builder *b, uint32_t index) {
  const struct value *v = b->g->outputs.at[index];
  const struct deferred *z = b->deferred[v->id];
  const struct expr **at = loops_coordinates(b, v->rank);
  for (uint32_t i = 0; i < v->rank; i++)
    at[i] = expr_is(v->strides[i], 0) ? expr_const(b->x, 0) : z->at[i];
  struct stage *s = loops_stage(b, STAGE_MAP, v->def);
  loops_add_axes(b, s, v->rank, at, false);
  s->body = loops_element(b, v, at);
  s->dtype = s->body->dtype;
  s->out = b->outputs[index] =
      loops_buffer(b, BUFFER_OUTPUT, index, v, v->name, v->dtype, loops_span(b, v, v->strides));
  s->offset = loops_dot(b, v->rank, at, v->strides);
  for (uint32_t i = 0; i < z->origin_count; i++)
    vec_push(b->arena, &s->origins, z->origins[i]);
  if (s->origins.len == 0)
    vec_push(b->arena, &s->origins, "copy");
}

bool loops_write_outputs(struct builder *b) {
  for (uint32_t i = 0; i < b->g->outputs.len; i++)
    if (b->g->outputs.at[i] && !b->outputs[i])
      write_output(b, i);
  return true;
}

struct overlap {
  const struct builder *b;
  const struct buffer *own;
  const struct expr *offset; // of the store
  bool found;                // a load may read an element after it was overwritten
};

static void note_overlap(void *user, const struct scalar *load) {
  struct overlap *o = user;
  if (load->buffer->role != BUFFER_INPUT)
    return;
  if (load->buffer == o->own) {
    o->found |= load->index != o->offset;
    return;
  }
  for (size_t i = 0; i < o->b->g->mutations.len; i++)
    o->found |= load->buffer->value == o->b->g->mutations.at[i].input;
}

static struct stage *write_stage(struct builder *b, const struct mutation *m, struct deferred *z) {
  struct stage *s = loops_stage(b, STAGE_MAP, m->value->def);
  loops_add_axes(b, s, m->value->rank, z->at, false);
  s->body = z->body;
  s->dtype = z->body->dtype;
  loops_take_origins(b, z, s);
  return s;
}

static struct buffer *input_buffer(const struct builder *b, const struct value *v) {
  for (size_t i = 0; i < b->g->inputs.len; i++)
    if (b->g->inputs.at[i] == v)
      return b->inputs[i];
  return NULL;
}

// A value that reads its input at other offsets, or another input that is written, goes through a
// temporary.
void loops_write_inputs(struct builder *b) {
  const struct graph *g = b->g;
  for (size_t i = 0; i < g->mutations.len; i++) {
    const struct mutation *m = &g->mutations.at[i];
    struct deferred *z = b->deferred[m->value->id];
    struct overlap o = {.b = b,
                        .own = input_buffer(b, m->input),
                        .offset = loops_dot(b, m->value->rank, z->at, m->input->strides)};
    scalar_loads(z->body, note_overlap, &o);
    if (!o.found)
      continue;
    struct stage *s = write_stage(b, m, z);
    struct assignment h = {.value = m->value,
                           .strides =
                               contiguous_strides(b->x, b->arena, m->value->rank, m->value->shape)};
    s->out = h.buffer = loops_buffer(b, BUFFER_TEMP, 0, m->value, m->value->name, m->value->dtype,
                                     value_numel(b->x, m->value));
    s->offset = loops_offset(b, &h, z->at);
    loops_stored(b, z, &h);
  }
  for (size_t i = 0; i < g->mutations.len; i++) {
    const struct mutation *m = &g->mutations.at[i];
    struct deferred *z = b->deferred[m->value->id];
    struct stage *s = write_stage(b, m, z);
    s->out = input_buffer(b, m->input);
    s->offset = loops_dot(b, m->value->rank, z->at, m->input->strides);
    if (s->origins.len == 0)
      vec_push(b->arena, &s->origins, "copy");
  }
}

// ---- dead stages ----

static void note_read(void *user, const struct scalar *load) {
  if (load->buffer)
    ((bool *)user)[load->buffer->id] = true;
}

static void note_reads(const struct scalar *v, bool *is_read) {
  if (v)
    scalar_loads(v, note_read, is_read);
}

// Has the stage a result besides `out` that is needed?
static bool has_needed_result(const struct stage *s, uint32_t results, const bool *is_read) {
  const struct attention *a = s->attention;
  if (a && a->lse && (a->lse->role != BUFFER_TEMP || is_read[a->lse->id]))
    return true;
  for (uint32_t i = 0; s->call && i < results; i++) {
    const struct buffer *r = s->call->results[i];
    if (r && (r->role != BUFFER_TEMP || is_read[r->id]))
      return true;
  }
  return false;
}

void loops_drop_unread(struct builder *b) {
  struct loops *l = b->l;
  bool *is_read = arena_array(b->arena, bool, l->buffers.len + 1);
  size_t kept = l->stages.len;
  for (size_t i = l->stages.len; i-- > 0;) {
    struct stage *s = l->stages.at[i];
    const struct attention *a = s->attention;
    uint32_t results = s->call ? s->call->node->result_count : 0;
    if (s->out->role == BUFFER_TEMP && !is_read[s->out->id] &&
        !has_needed_result(s, results, is_read))
      continue;
    note_reads(s->body, is_read);
    note_reads(s->a, is_read);
    note_reads(s->b, is_read);
    note_reads(s->predicate, is_read);
    note_reads(s->groups ? s->groups->end : NULL, is_read);
    note_reads(a ? a->q : NULL, is_read);
    note_reads(a ? a->k : NULL, is_read);
    note_reads(a ? a->v : NULL, is_read);
    note_reads(a ? a->score : NULL, is_read);
    note_reads(a ? a->kept : NULL, is_read);
    for (size_t k = 0; s->call && k < s->call->operand_count; k++)
      note_reads(s->call->operands[k], is_read);
    if (s->kind == STAGE_SCATTER) // the buffer filled by the map before it, and the indices
      note_reads(scalar_load(b->s, s->out, s->offset), is_read);
    l->stages.at[--kept] = s;
  }
  size_t dropped = kept;
  l->stages.len -= dropped;
  for (size_t i = 0; i < l->stages.len; i++) {
    l->stages.at[i] = l->stages.at[i + dropped];
    l->stages.at[i]->id = (uint32_t)i;
  }
}
