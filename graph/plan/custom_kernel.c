// SPDX-License-Identifier: Apache-2.0
// Reads the `arguments`, `constants` and `grid` of a custom operator's kernel:
//
//   arguments "x out out_numel", constants "by BLOCK=128", grid "cdiv(out_numel, BLOCK)"
#include "graph/plan/custom_kernel.h"

#include "graph/ir/custom.h"

#include <ctype.h>
#include <inttypes.h>

struct binding {
  struct program *p;
  const struct call *c;
  const struct custom_operator *o;
  struct graph_kernel *k;
  struct exprs *x;
  bool failed;
};

static bool refuse(struct binding *b, const char *what, struct str name) {
  if (!b->failed)
    diag_error(b->p->graph->diag, b->c->node->span, E1011, "`%s`: %s `%.*s`", b->o->name, what,
               STR_ARG(name));
  b->failed = true;
  return false;
}

// The next word of *rest; empty at the end.
static struct str next_word(struct str *rest) {
  while (rest->len && isspace((unsigned char)rest->ptr[0]))
    rest->ptr++, rest->len--;
  struct str word = {rest->ptr, 0};
  while (rest->len && !isspace((unsigned char)rest->ptr[0]))
    rest->ptr++, rest->len--, word.len++;
  return word;
}

// ---- names ----

struct tensor_name {
  struct buffer *buffer;
  const struct value *value;
  bool is_result;
  const struct expr *start, **strides; // NULL: in row-major order from element 0 on
};

// "out", or "out1" of several.
static bool find_result(struct binding *b, struct str name, struct tensor_name *ret) {
  const struct node *n = b->c->node;
  for (uint32_t i = 0; i < n->result_count; i++) {
    const char *own = n->result_count == 1 ? "out" : arena_printf(b->p->arena, "out%" PRIu32, i);
    if (str_is(name, own)) {
      *ret = (struct tensor_name){b->c->results[i], n->results[i], true, NULL, NULL};
      return true;
    }
  }
  return false;
}

static bool find_tensor(struct binding *b, struct str name, struct tensor_name *ret) {
  size_t operand = 0;
  if (find_result(b, name, ret))
    return true;
  for (size_t i = 0; i < b->o->count; i++) {
    const struct arg *a = &node_custom_args(b->c->node)[i];
    if (a->kind == ARG_VALUE && str_eq(name, b->o->parameters[i].name)) {
      const struct scalar *first = b->c->operands[operand];
      bool is_strided = b->c->strides && b->c->strides[operand];
      *ret = (struct tensor_name){first->buffer, a->value, false, is_strided ? first->index : NULL,
                                  is_strided ? b->c->strides[operand] : NULL};
      return true;
    }
    operand += a->kind == ARG_VALUE;
    for (size_t k = 0; a->kind == ARG_LIST && k < a->list.count; k++)
      operand += a->list.at[k].kind == ARG_VALUE;
  }
  return false;
}

// The number behind the word, of a dimension of the tensor.
static bool is_dim(struct str of, const char *word, const struct tensor_name *t, int64_t *ret) {
  size_t len = strlen(word);
  return str_starts(of, word) && str_to_i64((struct str){of.ptr + len, of.len - len}, ret) &&
         *ret >= 0 && *ret < t->value->rank;
}

// "x_numel", "x_size0"; of strided tensors "x_start", "x_stride0". NULL: no such size.
static const struct expr *find_size(struct binding *b, struct str name) {
  size_t cut = name.len;
  while (cut > 0 && name.ptr[cut - 1] != '_')
    cut--;
  struct tensor_name t;
  if (cut < 2 || !find_tensor(b, (struct str){name.ptr, cut - 1}, &t))
    return NULL;
  struct str of = {name.ptr + cut, name.len - cut};
  int64_t dim = 0;
  if (str_is(of, "numel"))
    return value_numel(b->x, t.value);
  if (t.strides && str_is(of, "start"))
    return t.start;
  if (t.strides && is_dim(of, "stride", &t, &dim))
    return t.strides[dim];
  return is_dim(of, "size", &t, &dim) ? t.value->shape[dim] : NULL;
}

// ---- constants ----

static const char *text_of(struct arena *a, const struct arg *v) {
  int64_t n;
  switch (v->kind) {
  case ARG_FLOAT: return arena_printf(a, "%.17g", v->real);
  case ARG_BOOL: return v->truth ? "True" : "False";
  case ARG_INT: return expr_is_const(v->number, &n) ? arena_printf(a, "%" PRId64, n) : NULL;
  default: return NULL;
  }
}

static const char *argument_text(struct binding *b, struct str name) {
  for (size_t i = 0; i < b->o->count; i++) {
    const struct arg *v = &node_custom_args(b->c->node)[i];
    if (!str_eq(name, b->o->parameters[i].name))
      continue;
    bool is_real = b->o->parameters[i].type == 'f' && v->kind == ARG_INT;
    const char *text = text_of(b->p->arena, v);
    return text && is_real ? arena_printf(b->p->arena, "%s.0", text) : text;
  }
  return NULL;
}

static bool put_constants(struct binding *b) {
  struct arena *a = b->p->arena;
  struct str rest = str_from(b->o->given.constants ? b->o->given.constants : ""), word;
  while ((word = next_word(&rest)).len) {
    struct str name, value = str_split(word, '=', &name);
    const char *text = value.ptr ? arena_strndup(a, value.ptr, value.len) : argument_text(b, name);
    if (!text)
      return refuse(b, "no number for the constant", name);
    vec_push(a, &b->k->constants,
             (struct kernel_constant){.name = arena_strndup(a, name.ptr, name.len), .value = text});
  }
  return true;
}

// ---- arguments ----

static bool put_arguments(struct binding *b, struct launch *l) {
  struct arena *a = b->p->arena;
  struct str rest = str_from(b->o->given.arguments), word;
  l->args.at = NULL;
  l->args.len = l->args.cap = 0;
  while ((word = next_word(&rest)).len) {
    struct launch_arg arg = {.name = arena_strndup(a, word.ptr, word.len)};
    struct tensor_name t;
    if (find_tensor(b, word, &t)) {
      arg.kind = LAUNCH_BUFFER;
      arg.buffer = t.buffer;
      arg.is_written = t.is_result;
    } else {
      arg.kind = LAUNCH_SIZE;
      if (!(arg.size = find_size(b, word)))
        return refuse(b, "no tensor or size for the argument", word);
      arg.dtype = arg.size->hi > INT32_MAX ? DTYPE_I64 : DTYPE_I32;
    }
    vec_push(a, &l->args, arg);
  }
  return true;
}

// ---- the grid: sums, products, cdiv, min, max of sizes, constants and numbers ----

struct grid_reader {
  struct binding *b;
  struct str rest;
};

static char peek(struct grid_reader *g) {
  while (g->rest.len && isspace((unsigned char)g->rest.ptr[0]))
    g->rest.ptr++, g->rest.len--;
  return g->rest.len ? g->rest.ptr[0] : '\0';
}

static bool accept(struct grid_reader *g, const char *text) {
  peek(g);
  if (!str_starts(g->rest, text))
    return false;
  g->rest.ptr += strlen(text);
  g->rest.len -= strlen(text);
  return true;
}

static const struct expr *grid_sum(struct grid_reader *g);

static const struct expr *grid_name(struct grid_reader *g, struct str name) {
  struct binding *b = g->b;
  for (size_t i = 0; i < b->k->constants.len; i++) {
    int64_t n;
    if (str_is(name, b->k->constants.at[i].name) &&
        str_to_i64(str_from(b->k->constants.at[i].value), &n))
      return expr_const(b->x, n);
  }
  return find_size(b, name);
}

static const struct expr *grid_call(struct grid_reader *g, struct str f) {
  struct exprs *x = g->b->x;
  const struct expr *p = grid_sum(g), *q = p && accept(g, ",") ? grid_sum(g) : NULL;
  if (!q || !accept(g, ")"))
    return NULL;
  if (str_is(f, "cdiv") && q->lo > 0)
    return expr_cdiv(x, p, q);
  if (str_is(f, "min"))
    return expr_min(x, p, q);
  return str_is(f, "max") ? expr_max(x, p, q) : NULL;
}

static const struct expr *grid_primary(struct grid_reader *g) {
  struct str word = {g->rest.ptr, 0};
  int64_t n;
  if (accept(g, "(")) {
    const struct expr *e = grid_sum(g);
    return e && accept(g, ")") ? e : NULL;
  }
  peek(g);
  for (word.ptr = g->rest.ptr;
       g->rest.len && (isalnum((unsigned char)g->rest.ptr[0]) || g->rest.ptr[0] == '_'); word.len++)
    g->rest.ptr++, g->rest.len--;
  if (word.len && isdigit((unsigned char)word.ptr[0]))
    return str_to_i64(word, &n) ? expr_const(g->b->x, n) : NULL;
  return accept(g, "(") ? grid_call(g, word) : grid_name(g, word);
}

static const struct expr *grid_product(struct grid_reader *g) {
  const struct expr *e = grid_primary(g), *with;
  while (e && (peek(g) == '*' || peek(g) == '/')) {
    bool divides = accept(g, "//");
    if ((!divides && !accept(g, "*")) || !(with = grid_primary(g)) || (divides && with->lo <= 0))
      return NULL;
    e = divides ? expr_floordiv(g->b->x, e, with) : expr_mul(g->b->x, e, with);
  }
  return e;
}

static const struct expr *grid_sum(struct grid_reader *g) {
  const struct expr *e = grid_product(g), *with;
  while (e && (peek(g) == '+' || peek(g) == '-')) {
    bool adds = accept(g, "+");
    if ((!adds && !accept(g, "-")) || !(with = grid_product(g)))
      return NULL;
    e = adds ? expr_add(g->b->x, e, with) : expr_sub(g->b->x, e, with);
  }
  return e;
}

static bool put_grid(struct binding *b, struct launch *l) {
  struct str rest = str_from(b->o->given.grid), part;
  for (int d = 0; d < 3; d++) {
    l->grid_rule[d] = l->grid[d] = expr_const(b->x, 1);
    if (!rest.ptr)
      continue;
    rest = str_split(rest, ';', &part);
    struct grid_reader g = {b, part};
    const struct expr *e = grid_sum(&g);
    if (!e || peek(&g))
      return refuse(b, "the grid cannot be read:", part);
    l->grid_rule[d] = l->grid[d] = e;
  }
  return true;
}

// ---- the kernel ----

bool custom_kernel_launch(struct program *p, const struct call *c, struct launch *l) {
  const struct custom_operator *o = node_custom(c->node);
  struct graph_kernel *k = arena_new(p->arena, struct graph_kernel);
  struct binding b = {.p = p, .c = c, .o = o, .k = k, .x = p->regions->loops->exprs};
  k->id = (uint32_t)p->kernels.len;
  k->name = o->given.kernel;
  k->source = o->given.kernel_source;
  k->is_given = true;
  k->num_warps = o->given.num_warps > 0 ? (unsigned)o->given.num_warps : 0;
  k->num_stages = o->num_stages;
  if (!put_constants(&b) || !put_arguments(&b, l) || !put_grid(&b, l))
    return false;
  l->kernel = k;
  vec_push(p->arena, &p->kernels, k);
  return true;
}
