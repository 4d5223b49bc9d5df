// SPDX-License-Identifier: Apache-2.0
// Shape operations, checked by the source of each element, in ranks 1 to 5, for types of
// every width and one to eight warps.
#include "tile.h"

#include <stdio.h>

// ---- permutations ----

static size_t permuted(const struct tile_kernel *k, const unsigned *index, const unsigned *param,
                       unsigned *ret_operand) {
  unsigned from[TILE_RANK] = {0};
  (void)ret_operand;
  for (unsigned i = 0; i < k->out.rank; i++)
    from[param[i]] = index[i];
  return tile_linear(k->in[0], from);
}

// The expression: `before`, then the order of axes and `after` if there is one.
static void permutation(struct suite *s, struct tile t, const unsigned *order, const char *before,
                        const char *after) {
  char expr[64], name[160], list[32] = "";
  int len = 0;
  struct tile_kernel k = {.arity = 1, .in = {t}, .out = {.rank = t.rank}};
  for (unsigned i = 0; i < t.rank; i++) {
    k.out.dim[i] = t.dim[order[i]];
    if (after)
      len += snprintf(list + len, sizeof list - (size_t)len, "%s%u", i ? ", " : "", order[i]);
  }
  snprintf(expr, sizeof expr, "%s%s%s", before, list, after ? after : "");
  snprintf(name, sizeof name, "%s of %ux%ux%ux%u", expr, t.dim[0], t.dim[1], t.dim[2], t.dim[3]);
  k.expr = expr;
  rearrange(s, name, &k, permuted, order);
}

// Every order of `rank` axes.
static void all_orders(struct suite *s, struct tile t, unsigned at, unsigned *order) {
  if (at == t.rank) {
    permutation(s, t, order, at % 2 ? "tl.permute(a, (" : "a.permute(", at % 2 ? "))" : ")");
    return;
  }
  for (unsigned axis = 0; axis < t.rank; axis++) {
    bool is_used = false;
    for (unsigned i = 0; i < at; i++)
      is_used |= order[i] == axis;
    order[at] = axis;
    if (!is_used)
      all_orders(s, t, at + 1, order);
  }
}

static void permutations(struct suite *s) {
  static const unsigned swap[] = {1, 0}, last[] = {0, 2, 1};
  unsigned order[TILE_RANK];
  all_orders(s, TILE(16, 32), 0, order);
  all_orders(s, TILE(128, 2), 0, order);
  all_orders(s, TILE(4, 8, 16), 0, order);
  all_orders(s, TILE(2, 4, 8, 16), 0, order);
  permutation(s, TILE(64, 64), swap, "tl.trans(a)", NULL);
  permutation(s, TILE(1, 64), swap, "a.T", NULL);
  permutation(s, TILE(8, 256), swap, "tl.trans(a, ", ")");
  permutation(s, TILE(2, 8, 32), last, "tl.trans(a)", NULL);
}

// ---- reshapes: elements keep their order ----

static size_t in_order(const struct tile_kernel *k, const unsigned *index, const unsigned *param,
                       unsigned *ret_operand) {
  (void)param, (void)ret_operand;
  return tile_linear(k->out, index);
}

static void reshape(struct suite *s, const char *expr, struct tile from, struct tile to) {
  struct tile_kernel k = {.expr = expr, .arity = 1, .in = {from}, .out = to};
  char name[128];
  snprintf(name, sizeof name, "%s of rank %u, %zu elements", expr, from.rank, tile_count(from));
  rearrange(s, name, &k, in_order, NULL);
}

static void reshapes(struct suite *s) {
  reshape(s, "a.reshape(16, 32)", TILE(512), TILE(16, 32));
  reshape(s, "tl.reshape(a, (512,))", TILE(16, 32), TILE(512));
  reshape(s, "tl.reshape(a, [32, 8])", TILE(8, 32), TILE(32, 8));
  reshape(s, "a.reshape(2, 4, 8, 2)", TILE(128), TILE(2, 4, 8, 2));
  reshape(s, "tl.view(a, 2, 64)", TILE(4, 4, 8), TILE(2, 64));
  reshape(s, "tl.ravel(a)", TILE(2, 4, 2, 16), TILE(256));
  reshape(s, "a.reshape(1, 1)", TILE(1), TILE(1, 1));
  reshape(s, "a.reshape((2, 2, 2, 2, 2))", TILE(32), TILE(2, 2, 2, 2, 2));
  reshape(s, "a.reshape(1024)", TILE(2, 8, 8, 8), TILE(1024));
  reshape(s, "a[None, :]", TILE(64), TILE(1, 64));
  reshape(s, "a[:, None]", TILE(64), TILE(64, 1));
  reshape(s, "a[:, None, :]", TILE(16, 32), TILE(16, 1, 32));
  reshape(s, "a[None, :, None, :, None]", TILE(4, 8), TILE(1, 4, 1, 8, 1));
  reshape(s, "tl.expand_dims(a, 0)", TILE(16, 32), TILE(1, 16, 32));
  reshape(s, "tl.expand_dims(a, 1)", TILE(16, 32), TILE(16, 1, 32));
  reshape(s, "a.expand_dims(-1)", TILE(16, 32), TILE(16, 32, 1));
  reshape(s, "tl.expand_dims(a, (0, 2))", TILE(128), TILE(1, 128, 1));
  reshape(s, "tl.expand_dims(a, [0, -1])", TILE(32), TILE(1, 32, 1));
  reshape(s, "tl.squeeze(a, 1)", TILE(16, 1, 8), TILE(16, 8));
  reshape(s, "a.squeeze(0)", TILE(1, 64), TILE(64));
  reshape(s, "a.unsqueeze(1)", TILE(64), TILE(64, 1));
}

// ---- broadcasts ----

static size_t aligned(const struct tile_kernel *k, const unsigned *index, const unsigned *param,
                      unsigned *ret_operand) {
  (void)ret_operand;
  const struct tile *t = &k->in[param ? *param : 0];
  unsigned from[TILE_RANK] = {0};
  for (unsigned i = 0; i < t->rank; i++) {
    unsigned at = index[i + k->out.rank - t->rank];
    from[i] = t->dim[i] == 1 ? 0 : at;
  }
  return tile_linear(*t, from);
}

static void broadcast(struct suite *s, const char *expr, struct tile from, struct tile to) {
  struct tile_kernel k = {.expr = expr, .arity = 1, .in = {from}, .out = to};
  char name[128];
  snprintf(name, sizeof name, "%s of rank %u, %zu elements", expr, from.rank, tile_count(from));
  rearrange(s, name, &k, aligned, NULL);
}

// where(true, a, b) of two shapes: the first one's elements over the common shape.
static void meet(struct suite *s, struct tile a, struct tile b, struct tile both) {
  struct tile_kernel k = {.expr = "where(a == a, a, b)", .arity = 2, .in = {a, b}, .out = both};
  char name[128];
  snprintf(name, sizeof name, "where of ranks %u and %u, %zu and %zu elements", a.rank, b.rank,
           tile_count(a), tile_count(b));
  rearrange(s, name, &k, aligned, NULL);
}

static void broadcasts(struct suite *s) {
  broadcast(s, "a.broadcast_to(16, 32)", TILE(1, 32), TILE(16, 32));
  broadcast(s, "tl.broadcast_to(a, (16, 32))", TILE(16, 1), TILE(16, 32));
  broadcast(s, "tl.broadcast_to(a, [4, 8, 16])", TILE(4, 1, 16), TILE(4, 8, 16));
  broadcast(s, "tl.broadcast_to(a, 4, 8, 16)", TILE(1, 8, 1), TILE(4, 8, 16));
  broadcast(s, "tl.broadcast_to(a, 64)", TILE(1), TILE(64));
  broadcast(s, "tl.broadcast_to(a, 2, 2, 4, 8)", TILE(1, 2, 1, 8), TILE(2, 2, 4, 8));
  meet(s, TILE(32), TILE(16, 32), TILE(16, 32));
  meet(s, TILE(16, 1), TILE(1, 32), TILE(16, 32));
  meet(s, TILE(8, 1, 4), TILE(16, 1), TILE(8, 16, 4));
  meet(s, TILE(1), TILE(2, 4, 2, 8), TILE(2, 4, 2, 8));
  meet(s, TILE(2, 1, 4, 1), TILE(8, 1, 16), TILE(2, 8, 4, 16));
  meet(s, TILE(256), TILE(1), TILE(256));
}

// ---- creation ----

static void filled(struct suite *s, const char *expr, enum dtype type, struct tile t, double value,
                   double step) {
  if (!case_begin(s, "%s", expr))
    return;
  struct tile_kernel k = {.expr = expr, .out = t, .out_type = type};
  tile_kernel_source(s, &k);
  struct array *out = case_output(s, type, tile_count(t));
  if (case_run(s, 1))
    for (size_t i = 0; i < out->count; i++)
      case_expect(s, out, i, num_number(type, value + step * (double)i), 0, 0);
  case_end(s);
}

static void creation(struct suite *s) {
  char expr[96];
  for (enum dtype t = DTYPE_I1; t < DTYPE_COUNT; t++) {
    const char *name = dtype_language_name(t);
    snprintf(expr, sizeof expr, "tl.zeros((16, 8), tl.%s)", name);
    filled(s, expr, t, TILE(16, 8), 0, 0);
    snprintf(expr, sizeof expr, "tl.zeros([64], dtype=tl.%s)", name);
    filled(s, expr, t, TILE(64), 0, 0);
    snprintf(expr, sizeof expr, "tl.full((2, 2, 4), 1, tl.%s)", name);
    filled(s, expr, t, TILE(2, 2, 4), 1, 0);
    snprintf(expr, sizeof expr, "tl.full([256], %s, tl.%s)", dtype_is_float(t) ? "0.5" : "True",
             name);
    filled(s, expr, t, TILE(256), dtype_is_float(t) ? 0.5 : 1, 0);
    snprintf(expr, sizeof expr, "tl.zeros_like(tl.full((8, 4), 1, tl.%s))", name);
    filled(s, expr, t, TILE(8, 4), 0, 0);
  }
  filled(s, "arange(0, 1)", DTYPE_I32, TILE(1), 0, 1);
  filled(s, "arange(0, 64)", DTYPE_I32, TILE(64), 0, 1);
  filled(s, "arange(5, 69)", DTYPE_I32, TILE(64), 5, 1);
  filled(s, "tl.arange(3 * 7, 3 * 7 + 1024)", DTYPE_I32, TILE(1024), 21, 1);
  filled(s, "arange(-8, 8)", DTYPE_I32, TILE(16), -8, 1);
  filled(s, "tl.arange(0, 128).to(tl.float32)", DTYPE_F32, TILE(128), 0, 1);
}

void family_shape(struct suite *s) {
  permutations(s);
  reshapes(s);
  broadcasts(s);
  creation(s);
}
