// SPDX-License-Identifier: Apache-2.0
// Buffers of the interpreter of loops: allocation, inputs and outputs.
#include "base/memory.h"
#include "graph/loops/loops_execution.h"
#include "graph/reference/interpret.h"

bool execution_size(const struct execution *x, const struct expr *e, int64_t *ret) {
  const struct graph *g = x->l->graph;
  return expr_eval(e, g->symbols.len, g->symbols.at, x->c.sizes, ret);
}

static bool shape_of(const struct execution *x, const struct value *v, int64_t *shape,
                     int64_t *strides) {
  for (uint32_t i = 0; i < v->rank; i++)
    if (!execution_size(x, v->shape[i], &shape[i]) ||
        !execution_size(x, v->strides[i], &strides[i]))
      return false;
  return true;
}

static void copy_strided(struct tensor *t, const int64_t *strides, struct memory *m,
                         bool to_tensor) {
  for (int64_t i = 0; i < t->numel; i++) {
    int64_t offset = 0, rest = i;
    for (uint32_t d = t->rank; d-- > 0; rest /= t->shape[d])
      offset += rest % t->shape[d] * strides[d];
    if (offset < 0 || offset >= m->numel)
      continue;
    if (to_tensor)
      t->at[i] = m->at[offset];
    else
      m->at[offset] = t->at[i];
  }
}

static bool find_slice(const struct execution *x, const struct buffer *b, struct memory *ret) {
  const struct memory *home = &x->c.memory[b->home->id];
  int64_t start;
  if (!execution_size(x, b->start, &start) || start < 0 || start > home->numel)
    return false;
  *ret = (struct memory){.at = home->at + start, .numel = home->numel - start};
  return true;
}

bool execution_allocate(struct execution *x) {
  for (size_t i = 0; i < x->l->buffers.len; i++) {
    struct memory *m = &x->c.memory[i];
    if (x->l->buffers.at[i]->role == BUFFER_SLICE) { // its home precedes it
      if (!find_slice(x, x->l->buffers.at[i], m))
        return false;
      continue;
    }
    if (!execution_size(x, x->l->buffers.at[i]->numel, &m->numel) || m->numel < 0 ||
        m->numel > INT32_MAX)
      return false;
    m->at = memory_zeroed((size_t)m->numel + 1, sizeof *m->at);
    if (!m->at)
      return false;
  }
  return true;
}

bool execution_move_inputs(struct execution *x, struct tensor *const *inputs) {
  int64_t shape[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
  for (size_t i = 0; i < x->l->buffers.len; i++) {
    const struct buffer *b = x->l->buffers.at[i];
    if (b->role != BUFFER_INPUT)
      continue;
    if (!shape_of(x, b->value, shape, strides))
      return false;
    copy_strided(inputs[b->index], strides, &x->c.memory[i], false);
  }
  return true;
}

static struct tensor *read_back(const struct execution *x, const struct value *v,
                                const struct buffer *b) {
  int64_t shape[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
  if (!b || !shape_of(x, v, shape, strides))
    return NULL;
  struct tensor *t = tensor_create(v->dtype, v->rank, shape);
  if (t)
    copy_strided(t, strides, &x->c.memory[b->id], true);
  return t;
}

static const struct buffer *find_buffer(const struct loops *l, enum buffer_role role,
                                        uint32_t index) {
  for (size_t i = 0; i < l->buffers.len; i++)
    if (l->buffers.at[i]->role == role && l->buffers.at[i]->index == index)
      return l->buffers.at[i];
  return NULL;
}

bool execution_move_outputs(const struct execution *x, struct tensor **ret) {
  const struct graph *g = x->l->graph;
  bool ok = true;
  for (size_t i = 0; i < g->outputs.len; i++) {
    const struct value *v = g->outputs.at[i];
    ret[i] = v ? read_back(x, v, find_buffer(x->l, BUFFER_OUTPUT, (uint32_t)i)) : NULL;
    ok = ok && (!v || ret[i]);
  }
  for (size_t i = 0; i < g->mutations.len; i++) {
    const struct value *v = g->mutations.at[i].input;
    const struct buffer *b = NULL;
    for (size_t k = 0; k < x->l->buffers.len; k++)
      if (x->l->buffers.at[k]->role == BUFFER_INPUT && x->l->buffers.at[k]->value == v)
        b = x->l->buffers.at[k];
    ret[g->outputs.len + i] = read_back(x, v, b);
    ok = ok && ret[g->outputs.len + i];
  }
  return ok;
}

void execution_put(struct execution *x, struct buffer *b, int64_t offset, union element e,
                   enum dtype from) {
  struct memory *m = &x->c.memory[b->id];
  if (offset < 0 || offset >= m->numel)
    return;
  m->at[offset] = element_cast(e, from, b->dtype, x->l->graph->keeps_casts);
  if (!dtype_is_float(b->dtype))
    m->at[offset] = element_round(m->at[offset], b->dtype);
}
