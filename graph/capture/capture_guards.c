// SPDX-License-Identifier: Apache-2.0
// Guards: whether the tensors of a call fit a captured variant.
#include "graph/capture/function_internal.h"

static bool strides_hold(const struct guard *g, const struct tensor_view *t) {
  if (g->is_dense)
    return tensor_view_is_dense(t);
  for (uint32_t d = 0; d < t->rank; d++)
    if (g->strides[d] != t->strides[d])
      return false;
  return true;
}

static bool input_holds(const struct variant *v, const struct guard *g, const struct tensor_view *t,
                        int64_t *sizes) {
  if (g->dtype != t->dtype || g->rank != t->rank)
    return false;
  for (uint32_t d = 0; d < t->rank; d++) {
    int64_t n = t->shape[d];
    if (g->shape[d] >= 0) {
      if (g->shape[d] != n)
        return false;
      continue;
    }
    size_t s = (size_t)(-1 - g->shape[d]);
    if (n < v->lo[s] || n > v->hi[s] || (sizes[s] >= 0 && sizes[s] != n))
      return false;
    sizes[s] = n;
  }
  return strides_hold(g, t);
}

bool variant_guards_hold(const struct variant *v, const struct tensor_views *views) {
  int64_t sizes[MAX_SYMBOLS];
  if (v->input_count != views->input_count || v->count != views->count)
    return false;
  for (size_t s = 0; s < v->symbol_count; s++)
    sizes[s] = -1;
  for (size_t i = 0; i < v->input_count; i++)
    if (!input_holds(v, &v->guards[i], &views->at[i], sizes))
      return false;
  for (size_t i = v->input_count; i < v->count; i++)
    if (v->guards[i].rank != views->at[i].rank || !strides_hold(&v->guards[i], &views->at[i]))
      return false;
  return true;
}
