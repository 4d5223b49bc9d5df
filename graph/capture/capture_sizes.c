// SPDX-License-Identifier: Apache-2.0
// Sizes of graphs that are built from C.
#include "graph/capture/capture.h"
#include "graph/ir/sizes.h"

#include <inttypes.h>

int64_t capture_number(tile_graph *g, const struct expr *e) {
  int64_t n;
  if (expr_is_const(e, &n))
    return n;
  size_t index = (size_t)(uintptr_t)ptrmap_get(&g->size_ids, e);
  if (index)
    return FIRST_SIZE + (int64_t)(index - 1);
  if (g->sizes.len == MAX_SIZES) {
    capture_fail(g, TILE_LIMIT, "more than %d sizes", MAX_SIZES);
    return 0;
  }
  vec_push(g->arena, &g->sizes, e);
  ptrmap_put(g->arena, &g->size_ids, e, (void *)(uintptr_t)g->sizes.len);
  return FIRST_SIZE + (int64_t)(g->sizes.len - 1);
}

const struct expr *capture_size(tile_graph *g, int64_t number) {
  if (number >= FIRST_SIZE + MAX_SIZES || number < FIRST_SIZE)
    return expr_const(g->g->exprs, number);
  size_t i = (size_t)(number - FIRST_SIZE);
  if (i < g->sizes.len)
    return g->sizes.at[i];
  capture_fail(g, TILE_INVALID_ARGUMENT, "the size belongs to no graph or to another one");
  return NULL;
}

int64_t tile_graph_size(tile_graph *g, const char *name, int64_t lo, int64_t hi) {
  if (!g || !capture_is_open(g))
    return 0;
  if (!name || !*name || lo < 0 || hi < lo || hi > INT32_MAX) {
    capture_fail(g, TILE_INVALID_ARGUMENT,
                 "a size needs a name and a range from 0 on, at most to %d", INT32_MAX);
    return 0;
  }
  GUARDED(g, out_of_memory, 0);
  return capture_number(g, graph_size(g->g, name, lo, hi));
}

void tile_graph_set_likely_size(tile_graph *g, int64_t size, int64_t likely) {
  if (!g || !capture_is_open(g))
    return;
  GUARDED(g, out_of_memory, );
  const struct expr *e = capture_size(g, size);
  if (e && (e->kind != EXPR_SYMBOL || !graph_set_likely_size(g->g, e->symbol->name, likely)))
    capture_fail(g, TILE_INVALID_ARGUMENT,
                 "%" PRId64 " is not a size, or is outside the range of this one", likely);
}

typedef const struct expr *(*size_fn)(struct exprs *x, const struct expr *a, const struct expr *b);

static int64_t combine(tile_graph *g, size_fn f, int64_t a, int64_t b) {
  if (!g || !capture_is_open(g))
    return 0;
  GUARDED(g, out_of_memory, 0);
  const struct expr *x = capture_size(g, a), *y = x ? capture_size(g, b) : NULL;
  const struct expr *e = y ? f(g->g->exprs, x, y) : NULL;
  if (e && e->overflows && e->kind == EXPR_CONST) {
    capture_fail(g, TILE_LIMIT, "a size that does not fit 64 bits");
    return 0;
  }
  return e ? capture_number(g, e) : 0;
}

int64_t tile_size_add(tile_graph *g, int64_t a, int64_t b) { return combine(g, expr_add, a, b); }
int64_t tile_size_mul(tile_graph *g, int64_t a, int64_t b) { return combine(g, expr_mul, a, b); }
int64_t tile_size_div(tile_graph *g, int64_t a, int64_t b) {
  if (b != 0)
    return combine(g, expr_floordiv, a, b);
  if (g)
    capture_fail(g, TILE_INVALID_ARGUMENT, "a size divided by zero");
  return 0;
}
