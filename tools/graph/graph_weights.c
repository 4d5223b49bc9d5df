// SPDX-License-Identifier: Apache-2.0
// A file's tensors are dense and may lie at any address.
#include "tools/graph/graph_weights.h"

#include "base/memory.h"
#include "tools/foreign_file.h"

#include <stdlib.h>

static bool has_some(const struct graph *g, const tile_weights *w) {
  tile_weight found;
  for (size_t i = 0; i < g->inputs.len; i++)
    if (tile_weights_find(w, g->inputs.at[i]->name, &found) == TILE_OK)
      return true;
  return false;
}

static void no_name_fits(struct tool *t, const struct graph *g, const tile_weights *w) {
  tile_weight first;
  struct diag *d =
      diag_error(t->diag, t->o.weights.where, E0721, "no tensor in `%.*s` has the name of an input",
                 STR_ARG(t->o.weights.value));
  if (g->inputs.len && tile_weights_count(w) && tile_weights_at(w, 0, &first) == TILE_OK)
    diag_help(d, "the file's first tensor is `%s`, the graph's first input `%s`", first.name,
              g->inputs.at[0]->name);
}

bool graph_weights_open(struct tool *t, const struct graph *g, tile_weights **ret) {
  *ret = NULL;
  if (!t->o.weights.value.ptr)
    return true;
  const char *path = arena_strndup(t->arena, t->o.weights.value.ptr, t->o.weights.value.len);
  if (tile_weights_open(path, ret) != TILE_OK) {
    struct diag *d = diag_error(t->diag, t->o.weights.where, E0710, "%s", tile_error_message());
    const char *kind = foreign_kind(path, (struct str){0});
    foreign_help(d, kind ? kind : "a file of weights", FOREIGN_WEIGHTS);
    return false;
  }
  if (has_some(g, *ret))
    return true;
  no_name_fits(t, g, *ret);
  tile_weights_close(*ret);
  *ret = NULL;
  return false;
}

static bool fits(const tile_weight *w, const struct value *input, const struct tensor *into) {
  bool same = (enum dtype)w->type == input->dtype && w->rank == (int)input->rank;
  for (uint32_t d = 0; same && d < into->rank; d++)
    same = w->shape[d] == into->shape[d];
  return same;
}

static void misfit(struct tool *t, const tile_weight *w, const struct value *input) {
  struct strbuf has = {.arena = t->arena}, wants = {.arena = t->arena};
  strbuf_puts(&has, dtype_name((enum dtype)w->type));
  strbuf_putc(&has, '[');
  for (int d = 0; d < w->rank; d++)
    strbuf_printf(&has, "%s%lld", d ? ", " : "", (long long)w->shape[d]);
  strbuf_putc(&has, ']');
  value_type_print(input, false, &wants);
  diag_error(t->diag, t->o.weights.where, E0723, "input `%s` is %s, but `%.*s` has %s of that name",
             input->name, strbuf_cstr(&wants), STR_ARG(t->o.weights.value), strbuf_cstr(&has));
  strbuf_finish(&has);
  strbuf_finish(&wants);
}

bool graph_weights_take(struct tool *t, tile_weights *w, const struct value *input,
                        struct tensor *into, bool *ret_found) {
  tile_weight found;
  int64_t dense[GRAPH_MAX_RANK], stride = 1;
  *ret_found = w && tile_weights_find(w, input->name, &found) == TILE_OK;
  if (!*ret_found)
    return true;
  if (!fits(&found, input, into)) {
    misfit(t, &found, input);
    return false;
  }
  for (uint32_t d = into->rank; d-- > 0;) {
    dense[d] = stride;
    stride *= into->shape[d];
  }
  void *aligned = memory_alloc(found.size ? found.size : 1);
  if (!aligned) {
    diag_error(t->diag, t->o.weights.where, E0991, "out of memory for `%s`", input->name);
    return false;
  }
  memcpy(aligned, found.data, found.size);
  tensor_load(into, aligned, dense);
  free(aligned);
  return true;
}
