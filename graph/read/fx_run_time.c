// SPDX-License-Identifier: Apache-2.0
// Integers that are known only at run time, as a loop counts them ("Sym(u4)"): tensors of rank 0.
// And operands of subgraphs that are numbers.
#include "graph/read/fx_reader.h"

#include <ctype.h>

// "u4", which no input determines.
static bool is_unknown(const struct reader *r, struct str name) {
  bool is_unbacked = name.len > 1 && name.ptr[0] == 'u';
  for (size_t i = 1; is_unbacked && i < name.len; i++)
    is_unbacked = isdigit((unsigned char)name.ptr[i]);
  return is_unbacked && !map_get(&r->symbols, name);
}

bool fx_at_run_time_number(const struct reader *r) {
  struct str text = fx_text(r, r->pos);
  if (fx_peek(r) != TOK_STRING || !memchr(text.ptr, '(', text.len) ||
      !str_starts((struct str){text.ptr + 1, text.len - 1}, "Sym("))
    return false;
  for (size_t i = 5; i < text.len; i++) {
    size_t begin = i;
    while (i < text.len && (isalnum((unsigned char)text.ptr[i]) || text.ptr[i] == '_'))
      i++;
    if (is_unknown(r, (struct str){text.ptr + begin, i - begin}))
      return true;
  }
  return false;
}

void fx_note_real(struct reader *r, struct value *v) { ptrmap_put(r->arena, &r->reals, v, v); }

static struct value *tensor_of(struct reader *r, const struct arg *a, enum dtype t,
                               struct span at) {
  const struct arg args[] = {*a, ARG_D(t)};
  return graph_apply(r->g, OP_SCALAR_TENSOR, args, COUNT_OF(args), at);
}

static bool is_number(const struct arg *a) { return a->kind == ARG_INT || a->kind == ARG_BOOL; }

bool fx_predicate(struct reader *r, struct span at, struct arg *a) {
  if (!is_number(a))
    return true;
  struct arg args[] = {ARG_V(tensor_of(r, a, DTYPE_I64, at)), arg_int(r->g, 0)};
  struct value *v = args[0].value ? graph_apply(r->g, OP_NE_TENSOR, args, 2, at) : NULL;
  *a = ARG_V(v);
  return v || (r->failed = true, false);
}

// Tensors and numbers among arguments, which may be lists.
static void count(const struct arg *a, size_t *tensors, size_t *numbers) {
  *tensors += a->kind == ARG_VALUE;
  *numbers += is_number(a);
  for (size_t i = 0; a->kind == ARG_LIST && i < a->list.count; i++)
    count(&a->list.at[i], tensors, numbers);
}

bool fx_operands(struct reader *r, struct span at, struct arg *args, size_t arg_count) {
  size_t tensors = 0, numbers = 0;
  const struct graph *sub = NULL;
  for (size_t i = 0; i < arg_count; i++)
    if (args[i].kind == ARG_GRAPH)
      sub = args[i].graph;
    else if (args[i].kind == ARG_LIST)
      count(&args[i], &tensors, &numbers);
  bool drops = sub && sub->inputs.len == tensors;
  for (size_t i = 0; sub && numbers && i < arg_count; i++) {
    if (args[i].kind != ARG_LIST)
      continue;
    struct arg list = {.kind = ARG_LIST};
    list.list.at = arena_array(r->arena, struct arg, args[i].list.count + 1);
    for (size_t k = 0; k < args[i].list.count; k++) {
      struct arg a = args[i].list.at[k];
      if (is_number(&a) && drops)
        continue; // a size, which the subgraph knows by name
      if (is_number(&a)) {
        a = ARG_V(tensor_of(r, &a, DTYPE_I64, at));
        if (a.kind == ARG_NONE)
          return r->failed = true, false;
      }
      list.list.at[list.list.count++] = a;
    }
    args[i] = list;
  }
  return true;
}

void fx_gather_operands(struct reader *r, enum operator_id op, struct arg *args, size_t *count) {
  size_t parameters;
  const struct parameter *ps = operator_parameters(op, &parameters);
  if (*count + 1 < parameters || !str_is(ps[parameters - 1].name, "operands") ||
      (*count == parameters && args[parameters - 1].kind == ARG_LIST))
    return;
  struct arg list = {.kind = ARG_LIST};
  list.list.count = *count + 1 - parameters;
  list.list.at = arena_array(r->arena, struct arg, list.list.count + 1);
  for (size_t i = 0; i < list.list.count; i++)
    list.list.at[i] = args[parameters - 1 + i];
  args[parameters - 1] = list;
  *count = parameters;
}
