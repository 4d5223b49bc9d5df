// SPDX-License-Identifier: Apache-2.0
// Operands of attention by lengths: layouts, caches of pages, and what is not supported.
#include "graph/ir/lengths.h"

#include <math.h>

const struct arg *lengths_argument(const struct node *n, const char *name) {
  int i = operator_parameter(n->op, name);
  return i < 0 || n->args[i].kind == ARG_NONE ? NULL : &n->args[i];
}

struct value *lengths_heads_outside(struct build *b, struct value *x) {
  return build_swap(b, x && x->rank == 3 ? build_unsqueeze(b, x, 0) : x, 1, 2);
}

struct value *lengths_heads_inside(struct build *b, struct value *x, uint32_t rank) {
  x = build_swap(b, x, 1, 2);
  return rank == 3 ? build_squeeze(b, x, 0) : x;
}

struct value *lengths_for_each_head(struct build *b, struct value *x, const struct value *q) {
  struct exprs *e = b->g->exprs;
  if (!x || x->shape[1] == q->shape[1])
    return x;
  const struct expr *each = expr_floordiv(e, q->shape[1], x->shape[1]);
  const struct expr *apart[] = {x->shape[0], x->shape[1], compose_const(b, 1), x->shape[2],
                                x->shape[3]};
  const struct expr *often[] = {x->shape[0], x->shape[1], each, x->shape[2], x->shape[3]};
  const struct expr *whole[] = {x->shape[0], q->shape[1], x->shape[2], x->shape[3]};
  return build_view(b, build_expand(b, build_view(b, x, 5, apart), 5, often), 4, whole);
}

static struct value *tensor_argument(const struct node *n, const char *name) {
  const struct arg *a = lengths_argument(n, name);
  return a ? a->value : NULL;
}

static double real_argument(const struct node *n, const char *name, double otherwise) {
  const struct arg *a = lengths_argument(n, name);
  struct node holder = {.args = (struct arg *)(uintptr_t)a, .arg_count = 1};
  return a ? node_real(&holder, 0) : otherwise;
}

// ---- pages ----

// The table's pages for each sequence, [sequences * most pages]; entries behind the keys in use may
// be anything.
static struct value *pages_in_use(struct lengths *l, struct value *table, const struct expr *size) {
  struct build *b = l->b;
  const struct expr *all = expr_mul(b->g->exprs, table->shape[0], table->shape[1]);
  struct value *key =
      BUILD(b, OP_MUL_TENSOR, TENSOR(build_iota(b, table->shape[1], 1, 2)), ARG_E(size));
  struct value *is_used =
      build_binop(b, OP_LT_TENSOR, key, build_along(b, build_convert(b, l->used, DTYPE_I64), 0, 2));
  return build_view(b, build_where_else(b, is_used, build_convert(b, table, DTYPE_I64), 0), 1,
                    &all);
}

// Keys or values by pages, [pages, size, heads, columns], as rows of the sequences one behind the
// other, or with the sequences as batches.
static struct value *in_order(struct lengths *l, struct value *x, struct value *pages,
                              const struct expr *sequences) {
  struct build *b = l->b;
  struct exprs *e = b->g->exprs;
  const struct expr *rows = pages ? expr_mul(e, pages->shape[0], x->shape[1]) : NULL;
  const struct expr *flat[] = {rows, x->shape[2], x->shape[3]};
  const struct expr *apart[] = {sequences, rows ? expr_floordiv(e, rows, sequences) : NULL,
                                x->shape[2], x->shape[3]};
  struct value *ordered = pages ? compose_index(b, x, 0, pages) : NULL;
  return l->cu_q ? build_view(b, ordered, 3, flat) : build_view(b, ordered, 4, apart);
}

static bool check_pages(struct lengths *l, const struct value *table, struct value *of[3]) {
  if (!l->used || table->rank != 2 || !dtype_is_int(table->dtype) || of[1]->rank != 4 ||
      of[2]->rank != 4 || l->used->shape[0] != table->shape[0]) {
    compose_error(
        l->b, l->n, E1004,
        "with `block_table`, [sequences, pages] of integers, `key` and `value` are [pages, "
        "rows of a page, heads, columns], and `seqused_k` gives the keys of each sequence");
    return false;
  }
  return true;
}

static bool read_pages(struct lengths *l, struct value *table, struct value *of[3]) {
  struct build *b = l->b;
  struct exprs *e = b->g->exprs;
  struct value *pages = pages_in_use(l, table, of[1]->shape[1]);
  if (l->cu_q) {
    const struct expr *ends = expr_addi(e, table->shape[0], 1);
    const struct expr *most = expr_mul(e, table->shape[1], of[1]->shape[1]);
    l->cu_k = BUILD(b, OP_MUL_TENSOR, TENSOR(build_iota(b, ends, 0, 1)), ARG_E(most));
  }
  of[1] = in_order(l, of[1], pages, table->shape[0]);
  of[2] = in_order(l, of[2], pages, table->shape[0]);
  return of[1] && of[2];
}

// ---- one query each ----

// Keys or values of each row's sequence: [rows, most, heads, columns] of those that lie one behind
// the other. Those behind the last one are any.
static struct value *keys_of_rows(struct lengths *l, struct value *x, struct value *first,
                                  const struct expr *most) {
  struct build *b = l->b;
  struct value *at = build_add(b, build_unsqueeze(b, first, 1), build_iota(b, most, 1, 2));
  const struct expr *last = expr_addi(b->g->exprs, x->shape[0], -1);
  at = at ? BUILD(b, OP_MINIMUM, TENSOR(at), ARG_E(last)) : NULL;
  return at ? compose_index(b, x, 0, at) : NULL;
}

// The keys and values of each row's sequence, and their numbers.
static bool take_keys(struct lengths *l, struct value *of[3], struct value *sequence) {
  struct build *b = l->b;
  const struct arg *most = lengths_argument(l->n, "max_k");
  struct value *cu = build_convert(b, l->cu_k, DTYPE_I64);
  struct value *first = cu ? compose_index(b, cu, 0, sequence) : NULL;
  if (!first)
    return false;
  if (!l->used)
    l->used = build_sub(
        b, build_slice(b, cu, 0, compose_const(b, 1), cu->shape[0], 1),
        build_slice(b, cu, 0, compose_const(b, 0), expr_addi(b->g->exprs, cu->shape[0], -1), 1));
  of[1] = keys_of_rows(l, of[1], first, most->number);
  of[2] = keys_of_rows(l, of[2], first, most->number);
  return of[1] && of[2] && l->used;
}

static bool rows_are_batches(struct lengths *l, struct value **table, struct value *of[3]) {
  struct build *b = l->b;
  struct value *sequence = lengths_sequence_of(b, build_convert(b, l->cu_q, DTYPE_I64),
                                               build_iota(b, of[0]->shape[0], 0, 1));
  if (!sequence || (!*table && !take_keys(l, of, sequence)))
    return false;
  if (*table)
    *table = compose_index(b, *table, 0, sequence);
  l->used = compose_index(b, l->used, 0, sequence);
  if (l->slopes && l->slopes->rank == 2)
    l->slopes = compose_index(b, l->slopes, 0, sequence);
  l->cu_q = l->cu_k = NULL;
  l->has_one_query = true;
  of[0] = build_unsqueeze(b, of[0], 1);
  return of[0] && l->used;
}

// Does the argument `most` say that sequences have one query at most?
static bool has_one_query(const struct lengths *l, const char *most, struct value *const of[3]) {
  const struct arg *queries = most ? lengths_argument(l->n, most) : NULL;
  const struct arg *keys = lengths_argument(l->n, "max_k");
  bool has_keys =
      lengths_argument(l->n, "block_table") || (l->cu_k && keys && keys->number->lo > 0);
  return queries && expr_is(queries->number, 1) && l->cu_q && of[0]->rank == 3 && has_keys;
}

// ---- all of them ----

static bool need_lengths(struct lengths *l, const struct value *q) {
  const struct value *used = l->used, *slopes = l->slopes;
  bool fits = !used || (used->rank == 1 && dtype_is_int(used->dtype) &&
                        (l->cu_q || used->shape[0] == q->shape[0]));
  if (!fits)
    compose_error(l->b, l->n, E1004,
                  "the numbers of keys in use must be integers, one for each sequence");
  bool has_slopes = !slopes || slopes->rank == 1 || slopes->rank == 2;
  if (!has_slopes)
    compose_error(l->b, l->n, E1004, "`alibi_slopes` must be [heads] or [sequences, heads]");
  return fits && has_slopes;
}

// Keys and values by pages have a shape of their own.
static bool need_tensors(struct lengths *l, struct value *const of[3], int64_t *ret_depth) {
  uint32_t rank = of[0]->rank;
  bool has_pages = tensor_argument(l->n, "block_table") != NULL;
  bool fits =
      (has_pages ? rank == (l->cu_q ? 3 : 4)
                 : (rank == 3 || rank == 4) && of[1]->rank == rank && of[2]->rank == rank) &&
      expr_is_const(of[0]->shape[rank - 1], ret_depth) && *ret_depth >= 1;
  if (!fits)
    compose_error(l->b, l->n, E1004,
                  "`query`, `key` and `value` must be [rows, heads, columns] or [batch, rows, "
                  "heads, columns], with a constant number of columns");
  return fits;
}

static bool is_ends(const struct value *of) { return of->rank == 1 && dtype_is_int(of->dtype); }

// Pages have no ends of keys: their numbers in use say as much.
static bool need_ends(struct lengths *l, bool has_pages) {
  bool fits = (!l->cu_q || is_ends(l->cu_q)) && (!l->cu_k || is_ends(l->cu_k)) &&
              (!l->cu_q == !l->cu_k || (l->cu_q && has_pages));
  if (!fits)
    compose_error(l->b, l->n, E1004,
                  "the ends of sequences must be [sequences + 1] of integers, of queries and of "
                  "keys or of neither");
  return fits;
}

static bool read_operands(struct lengths *l, struct value *of[3], const char *most) {
  struct value *table = tensor_argument(l->n, "block_table");
  l->used = tensor_argument(l->n, "seqused_k");
  l->used = l->used ? l->used : tensor_argument(l->n, "seqlen_k");
  l->slopes = tensor_argument(l->n, "alibi_slopes");
  if (!need_ends(l, table) || !need_lengths(l, of[0]) || (table && !check_pages(l, table, of)))
    return false;
  if (has_one_query(l, most, of) && !rows_are_batches(l, &table, of))
    return false;
  return !table || read_pages(l, table, of);
}

static bool begin(struct lengths *l, unsigned query, const char *most) {
  struct value *of[] = {node_value(l->n, query), node_value(l->n, query + 1),
                        node_value(l->n, query + 2)};
  if (real_argument(l->n, "dropout_p", 0) > 0) {
    compose_error(l->b, l->n, E1008, "dropout within attention");
    return false;
  }
  int64_t depth;
  if (!need_tensors(l, of, &depth) || !read_operands(l, of, most))
    return false;
  l->scale = real_argument(l->n, "scale", 1 / sqrt((double)depth));
  l->q = lengths_heads_outside(l->b, of[0]);
  l->k = lengths_heads_outside(l->b, of[1]);
  l->v = lengths_heads_outside(l->b, of[2]);
  return l->q && l->k && l->v;
}

bool lengths_begin(struct lengths *l, unsigned query) { return begin(l, query, NULL); }

bool lengths_begin_forward(struct lengths *l, const char *most) { return begin(l, 0, most); }
