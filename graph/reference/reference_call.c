// SPDX-License-Identifier: Apache-2.0
// Evaluated arguments of a node, for the functions of graph/reference/reference.def.
#include "graph/reference/interpret.h"
#include "graph/reference/reference.h"

#include <stdio.h>

bool call_fail(const struct reference_call *c, const char *fmt, ...) {
  char text[256];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  enum diag_code code = str_starts(str_from(text), "out of memory") ? E0991 : E1010;
  diag_error(c->graph->diag, c->node->span, code, "%s: %s", operator_row(c->node->op)->name, text);
  return false;
}

struct tensor *arg_tensor(const struct reference_call *c, const struct arg *a) {
  return a->kind == ARG_VALUE && a->value ? c->tensors[a->value->id] : NULL;
}

struct tensor *call_tensor(const struct reference_call *c, unsigned i) {
  return i < c->node->arg_count ? arg_tensor(c, &c->node->args[i]) : NULL;
}

// Sizes that do not fit were rejected before the call: see evaluate_shape.
static int64_t eval(const struct graph *g, const struct expr *e, const int64_t *symbols) {
  int64_t value = 0;
  if (!expr_is_const(e, &value))
    expr_eval(e, g->symbols.len, g->symbols.at, symbols, &value);
  return value;
}

int64_t arg_integer(const struct reference_call *c, const struct arg *a) {
  switch (a->kind) {
  case ARG_INT: return eval(c->graph, a->number, c->symbols);
  case ARG_BOOL: return a->truth;
  case ARG_FLOAT: return element_convert(from_real(a->real), DTYPE_F64, DTYPE_I64).integer;
  default: return 0;
  }
}

int64_t call_int(const struct reference_call *c, unsigned i) {
  return arg_integer(c, &c->node->args[i]);
}

int64_t call_int_or(const struct reference_call *c, unsigned i, int64_t none) {
  return node_is_none(c->node, i) ? none : call_int(c, i);
}

uint32_t call_ints(const struct reference_call *c, unsigned i, int64_t *ret) {
  const struct arg *a = &c->node->args[i];
  if (a->kind != ARG_LIST) {
    *ret = arg_integer(c, a);
    return 1;
  }
  size_t count = a->list.count < GRAPH_MAX_RANK ? a->list.count : GRAPH_MAX_RANK;
  for (size_t k = 0; k < count; k++)
    ret[k] = arg_integer(c, &a->list.at[k]);
  return (uint32_t)count;
}

void call_extents(const struct reference_call *c, unsigned i, uint32_t count, int64_t none,
                  int64_t *ret) {
  int64_t given[GRAPH_MAX_RANK] = {0};
  uint32_t n = node_is_none(c->node, i) ? 0 : call_ints(c, i, given);
  for (uint32_t d = 0; d < count; d++)
    ret[d] = n == 0 ? none : n == 1 ? given[0] : given[d < n ? d : n - 1];
}

double call_real(const struct reference_call *c, unsigned i) {
  const struct arg *a = &c->node->args[i];
  return a->kind == ARG_FLOAT ? a->real : (double)arg_integer(c, a);
}

union element call_element(const struct reference_call *c, unsigned i, enum dtype t) {
  const struct arg *a = &c->node->args[i];
  if (a->kind == ARG_FLOAT)
    return element_convert(from_real(a->real), DTYPE_F64, t);
  return element_convert(from_int(arg_integer(c, a)), DTYPE_I64, t);
}

bool call_is_word(const struct reference_call *c, unsigned i, const char *word) {
  const struct arg *a = &c->node->args[i];
  return a->kind == ARG_STRING && str_is(a->string, word);
}

struct indexed {
  void (*body)(void *user, int64_t i);
  void *user;
};

static void call_indexed(void *user, uint64_t i, unsigned worker) {
  (void)worker;
  const struct indexed *job = user;
  job->body(job->user, (int64_t)i);
}

void call_for(const struct reference_call *c, int64_t n, int64_t work,
              void (*body)(void *user, int64_t i), void *user) {
  struct indexed job = {body, user};
  if (n > 1 && c->pool && n > (1 << 15) / (work > 0 ? work : 1)) {
    thread_pool_for(c->pool, (uint64_t)n, call_indexed, &job);
    return;
  }
  for (int64_t i = 0; i < n; i++)
    body(user, i);
}
