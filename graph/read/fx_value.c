// SPDX-License-Identifier: Apache-2.0
// Parses values: names, literals, lists, `torch.float32`, `device(type='cpu')`, and expressions of
// sizes, also those of annotations ("s27*((s77//s86))").
#include "graph/ir/complex.h"
#include "graph/ir/compose_dropout.h"
#include "graph/ir/fx_names.h"
#include "graph/ir/sizes.h"
#include "graph/read/fx_reader.h"

#include <math.h>

// ---- literals ----

static bool integer(struct reader *r, bool negative, struct arg *ret) {
  size_t token = r->pos++;
  struct str text = fx_text(r, token);
  uint64_t n = 0, limit = (uint64_t)INT64_MAX + negative;
  const char *why = literal_number_error(text);
  if (why) {
    fx_error(r, fx_span(r, token, r->pos), E1001, "%s", why);
    return false;
  }
  if (!literal_int(text, &n) || n > limit) {
    diag_help(fx_error(r, fx_span(r, token, r->pos), E1009, "a number that does not fit 64 bits"),
              "numbers have 64 bits; PyTorch writes 9223372036854775807 for `to the end`");
    return false;
  }
  *ret = arg_int(r->g, negative ? (int64_t)(0 - n) : (int64_t)n);
  return true;
}

static bool real(struct reader *r, struct arg *ret) {
  size_t token = r->pos++;
  const char *why = literal_number_error(fx_text(r, token));
  double x = 0;
  if (why || !literal_float(fx_text(r, token), &x)) {
    fx_error(r, fx_span(r, token, r->pos), E1001, "%s",
             why ? why : "a number with too many digits");
    return false;
  }
  *ret = ARG_F(x);
  return true;
}

// `2j`: a complex tensor of rank 0, which promotes as a number does.
static bool imaginary(struct reader *r, struct arg *ret) {
  size_t token = r->pos++;
  struct span at = fx_span(r, token, r->pos);
  struct str text = fx_text(r, token);
  struct build b = {r->g, at};
  double x = 0;
  if (!str_to_f64((struct str){text.ptr, text.len - 1}, &x)) {
    fx_error(r, at, E1001, "not an imaginary number");
    return false;
  }
  struct value *v =
      complex_of_parts(&b, build_number(&b, 0, DTYPE_F64), build_number(&b, x, DTYPE_F64));
  if (!v)
    return r->failed = true, false;
  ptrmap_put(r->arena, &r->reals, v, v);
  return *ret = ARG_V(v), true;
}

static bool string(struct reader *r, struct arg *ret) {
  struct token t = r->at[r->pos++];
  struct string_form f = literal_string_form(r->source->text, t.begin, t.end);
  char *out = arena_array(r->arena, char, f.body_end - f.body_begin + 1);
  const char *why = NULL;
  uint32_t bad_begin = 0, bad_end = 0;
  size_t len = literal_unescape(r->source->text, f.body_begin, f.body_end, &f, out, &why,
                                &bad_begin, &bad_end);
  if (why) {
    fx_error(r, (struct span){r->source, bad_begin, bad_end}, E1001, "%s", why);
    return false;
  }
  *ret = (struct arg){.kind = ARG_STRING, .string = {out, len}};
  return true;
}

// [a, b, ...] or (a, b, ...), after the bracket. A single value in parentheses is that value.
static bool list(struct reader *r, enum token_kind close, struct arg *ret) {
  VEC(struct arg) items = {0};
  bool comma = close == TOK_RBRACKET;
  uint32_t deepest = r->number_depth;
  while (fx_peek(r) != close) {
    struct arg a;
    r->number_depth = 0;
    if (!fx_value(r, &a))
      return false;
    deepest = r->number_depth > deepest ? r->number_depth : deepest;
    vec_push(r->arena, &items, a);
    if (!fx_accept(r, TOK_COMMA))
      break;
    comma = true;
  }
  r->number_depth = deepest;
  if (!fx_expect(r, close))
    return false;
  if (!comma && items.len == 1)
    *ret = items.at[0];
  else
    *ret = (struct arg){.kind = ARG_LIST, .list = {items.at, items.len}};
  return true;
}

// ---- names with a dot ----

// At the opening parenthesis after `f`.
static bool number_function(struct reader *r, struct str f, size_t first, struct arg *ret) {
  struct arg args;
  r->pos++;
  if (!list(r, TOK_RPAREN, &args))
    return false;
  while (args.kind == ARG_LIST && args.list.count == 1)
    args = args.list.at[0];
  const struct arg *in = args.kind == ARG_LIST ? args.list.at : &args;
  size_t count = args.kind == ARG_LIST ? args.list.count : 1;
  if (str_is(f, "complex"))
    return fx_complex_number(r, fx_span(r, first, r->pos), in, count, ret);
  return fx_apply_number_function(r, f, fx_span(r, first, r->pos), in, count, ret);
}

static struct arg spelled(struct reader *r, size_t first) {
  struct span s = fx_span(r, first, r->pos);
  return (struct arg){.kind = ARG_STRING,
                      .string = {r->source->text.ptr + s.begin, s.end - s.begin}};
}

// {'BACKEND': 'AUTO', ...}, kept as text.
static bool dictionary(struct reader *r, struct arg *ret) {
  size_t first = r->pos, depth = 0;
  do {
    enum token_kind k = fx_peek(r);
    if (k == TOK_EOF || k == TOK_NEWLINE || k == TOK_ERROR)
      return fx_unexpected(r, "expected `}`");
    depth += k == TOK_LBRACE;
    depth -= k == TOK_RBRACE;
    r->pos++;
  } while (depth);
  *ret = spelled(r, first);
  return true;
}

bool fx_skip_brackets(struct reader *r) {
  if (fx_peek(r) != TOK_LPAREN)
    return fx_unexpected(r, "expected `(`");
  size_t depth = 0;
  do {
    enum token_kind k = fx_peek(r);
    if (k == TOK_EOF || k == TOK_NEWLINE || k == TOK_ERROR)
      return fx_unexpected(r, "expected `)`");
    depth += k == TOK_LPAREN;
    depth -= k == TOK_RPAREN;
    r->pos++;
  } while (depth);
  return true;
}

// device(type='cuda', index=0), kept as text.
static bool device(struct reader *r, size_t first, struct arg *ret) {
  if (!fx_skip_brackets(r))
    return false;
  *ret = spelled(r, first);
  return true;
}

bool fx_torch(struct reader *r, size_t begin, struct arg *ret) {
  static const char *const words[] = {"strided",       "contiguous_format", "preserve_format",
                                      "channels_last", "channels_last_3d",  "jagged",
                                      "sparse_coo"};
  struct str name = fx_text(r, r->pos);
  struct span at = fx_span(r, begin, r->pos + 1);
  if (fx_peek(r) != TOK_NAME)
    return fx_unexpected(r, "expected a name");
  r->pos++;
  if (fx_peek(r) == TOK_LPAREN && fx_is_number_function(name))
    return number_function(r, name, begin, ret);
  if (str_is(name, "device") && fx_peek(r) == TOK_LPAREN)
    return device(r, begin, ret);
  for (size_t i = 0; i < COUNT_OF(words); i++)
    if (str_is(name, words[i]))
      return *ret = spelled(r, begin), true;
  if (str_is(name, "inf") || str_is(name, "nan"))
    return *ret = ARG_F(str_is(name, "inf") ? (double)INFINITY : (double)NAN), true;
  enum dtype t = fx_complex_part(name);
  if (t != DTYPE_NONE)
    return *ret = (struct arg){.kind = ARG_COMPLEX, .dtype = t}, true;
  switch (fx_dtype_from_long(name, &t)) {
  case FX_DTYPE_KNOWN: *ret = ARG_D(t); return true;
  case FX_DTYPE_UNSUPPORTED:
    diag_help(fx_error(r, at, E1008, "tensors of `torch.%.*s`", STR_ARG(name)),
              "dtypes are those of docs/operators.md: convert the tensor in the model, "
              "`x.to(torch.float32)`");
    return false;
  default:
    if (str_is(name, "ops")) { // a call where a value is expected
      diag_help(fx_error(r, at, E1008, "a call within a call"),
                "a printed graph has one operator a line: give the inner result a name of its own, "
                "`y: \"f32[8]\" = torch.ops.aten...`, and use that");
      return false;
    }
    diag_help(fx_error(r, at, E1008, "`torch.%.*s` in a graph", STR_ARG(name)),
              "only `torch.ops.aten` and `torch.ops.prims` are read: export the graph at the level "
              "of ATen");
    return false;
  }
}

// The result `x[i]` of a tuple, with the reader at the bracket.
static bool subscript(struct reader *r, size_t first, const struct binding *b, struct arg *ret) {
  const struct expr *e = NULL;
  int64_t i = 0;
  r->pos++;
  if (!fx_number(r, &e) || !fx_expect(r, TOK_RBRACKET))
    return false;
  *ret = (struct arg){0};
  if (r->is_poisoned)
    return true;
  struct span at = fx_span(r, first, r->pos);
  if (b->kind != BOUND_TUPLE || !expr_is_const(e, &i)) {
    diag_help(fx_error(r, at, E1008, "a subscript of a value that is not a tuple of results"),
              "parts of tensors are taken by `torch.ops.aten.select.int` and `slice.Tensor`");
    return false;
  }
  int64_t count = b->tuple->result_count;
  if (i < -count || i >= count) {
    struct diag *d = fx_error(r, at, E1003, "no result %lld: there are %lld, from 0 on",
                              (long long)i, (long long)count);
    diag_label(d, b->tuple->span, "defined here");
    diag_help(d, "results count from 0: the last is %lld", (long long)count - 1);
    return false;
  }
  uint32_t at_result = (uint32_t)(i < 0 ? i + count : i);
  if (attention_is_random_state(b->tuple, at_result)) {
    diag_help(fx_error(r, at, E1010, "the generator's state of attention with dropout"),
              "let the gradients be made from this graph (`--grad`), or leave dropout out");
    return false;
  }
  *ret = ARG_V(b->tuple->results[at_result]);
  return true;
}

static bool bound(struct reader *r, const struct binding *b, struct arg *ret) {
  *ret = (struct arg){0};
  switch (b->kind) {
  case BOUND_VALUE: {
    r->variable = fx_reshaped(r, b->value);
    struct value *v = r->is_target ? r->variable : fx_current(r, r->variable);
    *ret = v ? ARG_V(v) : *ret;
    return v;
  }
  case BOUND_NUMBER:
    *ret = b->number;
    r->number_depth = r->number_depth > b->depth ? r->number_depth : b->depth;
    return true;
  case BOUND_GRAPH: *ret = (struct arg){.kind = ARG_GRAPH, .graph = b->graph}; return true;
  case BOUND_TUPLE: *ret = arg_values(r->g, b->tuple->result_count, b->tuple->results); return true;
  default: return true;
  }
}

static bool call_of_word(struct reader *r, struct str name, size_t first, struct arg *ret) {
  if (fx_is_number_function(name) || str_is(name, "complex"))
    return number_function(r, name, first, ret);
  if (str_is(name, "device"))
    return device(r, first, ret);
  if (str_is(name, "float") && r->at[r->pos + 1].kind == TOK_STRING &&
      r->at[r->pos + 2].kind == TOK_RPAREN) {
    struct arg word;
    r->pos++;
    double x = 0;
    if (string(r, &word) && str_to_f64(word.string, &x))
      return r->pos++, *ret = ARG_F(x), true;
  }
  fx_error(r, fx_span(r, first, first + 1), E1008, "a call of `%.*s` in a graph", STR_ARG(name));
  return false;
}

// A value that a write has made is returned by the name of what was written to.
static bool returned(struct reader *r, size_t name, const struct binding *b, struct arg *ret) {
  struct value *v = ret->value;
  if (v == b->value || !b->value->def || !v->def || v->complex)
    return true;
  if (v->span.begin != v->def->span.begin && !str_is(fx_text(r, name), v->name)) {
    v = graph_apply(r->g, OP_ALIAS, ret, 1, fx_span(r, name, name + 1));
    if (!v)
      return r->failed = true, false;
    *ret = ARG_V(v);
  }
  if (v->span.begin == v->def->span.begin)
    fx_name_value(r, name, v);
  return true;
}

static bool word(struct reader *r, struct arg *ret) {
  size_t first = r->pos++;
  struct str name = fx_text(r, first);
  struct span at = fx_span(r, first, r->pos);
  if (fx_peek(r) == TOK_LPAREN)
    return call_of_word(r, name, first, ret);
  if (r->in_annotation) {
    const struct expr *e = fx_symbol(r, name, at);
    return e && (*ret = ARG_E(e), true);
  }
  bool is_bound = map_get(&r->names, name) != NULL;
  if (fx_peek(r) == TOK_DOT && !is_bound && (str_is(name, "torch") || str_is(name, "math")))
    return r->pos++, fx_torch(r, first, ret);
  if (!is_bound && (str_is(name, "inf") || str_is(name, "nan")))
    return *ret = ARG_F(str_is(name, "inf") ? (double)INFINITY : (double)NAN), true;
  const struct expr *size = is_bound ? NULL : map_get(&r->symbols, name);
  if (size)
    return *ret = ARG_E(size), true;
  const struct binding *b = fx_use(r, first);
  if (!b)
    return false;
  if (fx_peek(r) == TOK_LBRACKET)
    return subscript(r, first, b, ret);
  if (fx_peek(r) == TOK_DOT) {
    diag_help(fx_error(r, fx_span(r, first, r->pos + 2), E1008,
                       "a method or an attribute of `%.*s`", STR_ARG(name)),
              "methods of tensors belong to Dynamo's level: export the graph at the level of ATen");
    return false;
  }
  if (!bound(r, b, ret))
    return false;
  return !r->is_return || ret->kind != ARG_VALUE || returned(r, first, b, ret);
}

// ---- expressions ----

static bool primary(struct reader *r, bool negative, struct arg *ret) {
  enum token_kind k = fx_peek(r);
  if (k == TOK_INT)
    return integer(r, negative, ret);
  if (k == TOK_NAME)
    return word(r, ret);
  if (k == TOK_LPAREN)
    return r->pos++, list(r, TOK_RPAREN, ret);
  if (k == TOK_FLOAT)
    return real(r, ret);
  if (r->in_annotation)
    return fx_unexpected(r, "expected a size");
  switch (k) {
  case TOK_IMAGINARY: return imaginary(r, ret);
  case TOK_STRING: return string(r, ret);
  case TOK_LBRACE: return dictionary(r, ret);
  case TOK_LBRACKET: return r->pos++, list(r, TOK_RBRACKET, ret);
  case TOK_NONE: return r->pos++, *ret = (struct arg){0}, true;
  case TOK_TRUE:
  case TOK_FALSE: return r->pos++, *ret = ARG_B(k == TOK_TRUE), true;
  default: return fx_unexpected(r, "expected a value");
  }
}

static bool unary(struct reader *r, struct arg *ret) {
  size_t first = r->pos;
  bool negative = false;
  for (; fx_peek(r) == TOK_MINUS || fx_peek(r) == TOK_PLUS; r->pos++)
    negative ^= fx_peek(r) == TOK_MINUS;
  bool literal = negative && fx_peek(r) == TOK_INT && fx_peek_behind(r) != TOK_DOUBLE_STAR;
  if (!primary(r, literal, ret))
    return false;
  if (fx_accept(r, TOK_DOUBLE_STAR)) {
    struct arg exponent;
    if (!primary(r, false, &exponent) || !fx_power(r, fx_span(r, first, r->pos), &exponent, ret))
      return false;
  }
  return literal || !negative || fx_negate(r, fx_span(r, first, r->pos), ret);
}

static int precedence(enum token_kind k) {
  switch (k) {
  case TOK_PLUS:
  case TOK_MINUS: return 1;
  case TOK_STAR:
  case TOK_SLASH:
  case TOK_DOUBLE_SLASH:
  case TOK_PERCENT: return 2;
  default: return 0;
  }
}

static bool term(struct reader *r, unsigned *chain, struct arg *ret) {
  size_t first = r->pos;
  if (!unary(r, ret))
    return false;
  while (precedence(fx_peek(r)) == 2 && ++*chain <= FX_MAX_CHAIN) {
    enum token_kind op = r->at[r->pos++].kind;
    struct arg b;
    if (!unary(r, &b) || !fx_combine(r, op, fx_span(r, first, r->pos), &b, ret))
      return false;
  }
  return true;
}

static bool expression(struct reader *r, struct arg *ret) {
  size_t first = r->pos;
  unsigned chain = 0;
  if (!term(r, &chain, ret))
    return false;
  while (precedence(fx_peek(r)) && ++chain <= FX_MAX_CHAIN) {
    enum token_kind op = r->at[r->pos++].kind;
    struct arg b;
    if (!term(r, &chain, &b) || !fx_combine(r, op, fx_span(r, first, r->pos), &b, ret))
      return false;
  }
  if (chain <= FX_MAX_CHAIN)
    return true;
  fx_error(r, fx_span(r, first, r->pos), E0902, "an expression of more than %d operators",
           FX_MAX_CHAIN);
  return false;
}

// Of numbers; tensors are compared by operators.
static bool comparison(struct reader *r, struct arg *ret) {
  size_t first = r->pos;
  enum token_kind op = fx_peek(r);
  struct arg b;
  if (op < TOK_LT || op > TOK_NE || !fx_is_number(r, ret))
    return true;
  r->pos++;
  if (!expression(r, &b))
    return false;
  if (r->is_poisoned || fx_is_number(r, &b))
    return r->is_poisoned || fx_compare(r, op, fx_span(r, first, r->pos), &b, ret);
  r->pos = first;
  return true;
}

bool fx_value(struct reader *r, struct arg *ret) {
  if (r->depth == FX_MAX_DEPTH) {
    fx_error(r, fx_span(r, r->pos, r->pos + 1), E0902, "values nest more than %d levels deep",
             FX_MAX_DEPTH);
    return false;
  }
  *ret = (struct arg){0};
  r->depth++;
  bool ok = expression(r, ret) && comparison(r, ret);
  r->depth--;
  return ok;
}

bool fx_number(struct reader *r, const struct expr **ret) {
  size_t first = r->pos;
  struct arg a;
  if (!fx_value(r, &a))
    return false;
  *ret = a.number;
  if (a.kind == ARG_INT)
    return true;
  *ret = expr_const(r->g->exprs, 0);
  if (r->is_poisoned)
    return true;
  diag_help(fx_error(r, fx_span(r, first, r->pos), E1001, "expected an integer"),
            "write a number, or a size such as `s0`");
  return false;
}
