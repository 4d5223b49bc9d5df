// SPDX-License-Identifier: Apache-2.0
// Parses the text of a graph: the class, the parameters of `forward`, one statement a line, the
// return; subgraphs where they are used. A statement with an error is skipped and its name is
// marked, so that one mistake gives one message.
#include "graph/read/fx.h"

#include "graph/ir/complex.h"
#include "graph/ir/graph_build.h"
#include "graph/read/fx_reader.h"

#include <stdio.h>

// Recursion is the algorithm: a statement may name a subgraph, which is read there.
static struct graph *read_subgraph(struct reader *r, size_t class);

// ---- statements ----

// `a = b = None`, if it is one: the names are unbound from here on.
static bool is_kill(const struct reader *r) {
  size_t i = r->pos;
  while (r->at[i].kind == TOK_NAME && r->at[i + 1].kind == TOK_ASSIGN)
    i += 2;
  return i > r->pos && r->at[i].kind == TOK_NONE;
}

static void kill(struct reader *r) {
  for (; fx_peek(r) == TOK_NAME; r->pos += 2) {
    struct binding *b = map_get(&r->names, fx_text(r, r->pos));
    if (b)
      b->is_gone = true;
    else
      fx_bind(r, r->pos, (struct binding){.kind = BOUND_NONE});
  }
  r->pos++;
}

static bool statement_end(struct reader *r) {
  while (fx_accept(r, TOK_SEMICOLON)) {
    if (fx_peek(r) == TOK_NEWLINE)
      break;
    if (!is_kill(r))
      return fx_unexpected(r, "expected `name = None`");
    kill(r);
  }
  enum token_kind k = fx_peek(r);
  if (k == TOK_EOF || fx_accept(r, TOK_NEWLINE))
    return true;
  if (k >= TOK_AMP && k <= TOK_NE) {
    diag_help(
        fx_error(r, fx_span(r, r->pos, r->pos + 1), E1008, "`%s` in a graph", token_kind_text(k)),
        "operators on tensors are written as `torch.ops.aten.gt.Tensor(a, b)`");
    return false;
  }
  return fx_unexpected(r, "expected the end of the line");
}

// At `self.NAME`, a subgraph.
static bool use_subgraph(struct reader *r, struct binding *ret) {
  size_t class = fx_class_of(r, r->pos);
  struct graph *g = ptrmap_get(&r->subgraphs, &r->at[class]);
  if (!g && !(g = read_subgraph(r, class)))
    return r->failed = true, false;
  ptrmap_put(r->arena, &r->subgraphs, &r->at[class], g);
  *ret = (struct binding){.kind = BOUND_GRAPH, .graph = g, .span = fx_span(r, r->pos, r->pos + 3)};
  r->pos += 3;
  return true;
}

static struct binding of_arg(struct reader *r, const struct arg *a) {
  switch (a->kind) {
  case ARG_VALUE: return (struct binding){.kind = BOUND_VALUE, .value = a->value};
  case ARG_INT:
  case ARG_FLOAT:
  case ARG_BOOL:
    return (struct binding){.kind = BOUND_NUMBER, .number = *a, .depth = r->number_depth};
  case ARG_GRAPH: return (struct binding){.kind = BOUND_GRAPH, .graph = a->graph};
  default: return (struct binding){.kind = BOUND_NONE};
  }
}

// The right-hand side.
static bool right_side(struct reader *r, size_t name, struct binding *ret) {
  size_t first = r->pos, nodes = r->g->nodes.len;
  r->number_depth = 0;
  if (fx_at_operator(r)) {
    if (!fx_call(r, ret))
      return false;
    struct value *v = ret->kind == BOUND_VALUE ? fx_current(r, ret->value) : NULL;
    if (v && (v->complex || (v->def && v->def->id >= nodes)))
      fx_name_value(r, name, v);
    struct str text = fx_text(r, name);
    if (ret->kind == BOUND_TUPLE)
      ret->tuple->name = arena_strndup(r->arena, text.ptr, text.len);
    return true;
  }
  if (fx_class_of(r, first))
    return use_subgraph(r, ret);
  if (fx_peek(r) == TOK_NAME && fx_peek_behind(r) == TOK_DOT && str_is(fx_text(r, first), "self"))
    return fx_use_attribute(r, ret);
  if (fx_peek(r) == TOK_NAME &&
      (fx_peek_behind(r) == TOK_NEWLINE || fx_peek_behind(r) == TOK_SEMICOLON)) { // an alias
    const struct binding *b = fx_use(r, r->pos++);
    if (b)
      *ret = *b;
    return b;
  }
  struct arg a;
  if (!fx_value(r, &a))
    return false;
  *ret = of_arg(r, &a);
  bool is_part = r->at[first].kind == TOK_NAME && r->at[first + 1].kind == TOK_LBRACKET;
  if (is_part && a.kind == ARG_VALUE && a.value->def &&
      a.value->span.begin == a.value->def->span.begin)
    fx_name_value(r, name, a.value); // a result of a tuple is named here
  ret->span = fx_span(r, first, r->pos);
  return true;
}

static bool is_half(enum dtype t) { return t == DTYPE_F16 || t == DTYPE_BF16; }

// PyTorch's metadata of norms in half precision: on the CPU their statistics are rounded to it, on
// GPUs they are f32, and so are the new running statistics, of whatever type the old ones are.
static bool is_statistic_of_other_type(const struct reader *r, const struct value *v,
                                       const struct annotation *an) {
  const struct node *n = v->def;
  if (!n || v == n->results[0])
    return false;
  bool to_half = v->dtype == DTYPE_F32 && is_half(an->dtype);
  bool on_cpu = r->g->device && str_starts(str_from(r->g->device), "cpu");
  switch (n->op) {
  case OP_NATIVE_LAYER_NORM:
  case OP_NATIVE_GROUP_NORM:
  case OP_NATIVE_BATCH_NORM_NO_TRAINING: return to_half && on_cpu;
  case OP_NATIVE_BATCH_NORM_FUNCTIONAL:
    if (v == n->results[3] || v == n->results[4])
      return is_half(v->dtype) && an->dtype == DTYPE_F32;
    return to_half && on_cpu;
  default: return false;
  }
}

static bool annotate(struct reader *r, struct binding *b, const struct annotation *an) {
  if (b->kind == BOUND_VALUE && an->is_number && fx_is_real(r, b->value))
    return true;
  if (b->kind == BOUND_VALUE && !an->is_number && is_statistic_of_other_type(r, b->value, an)) {
    struct build at = {r->g, b->span};
    if (!(b->value = build_convert(&at, b->value, an->dtype)))
      return false;
  }
  if (b->kind == BOUND_VALUE && !an->is_number)
    return fx_annotate(r, b->value, an, b->span);
  bool is_number = b->kind == BOUND_NUMBER;
  if ((b->kind == BOUND_VALUE) == an->is_number || (is_number && !an->is_number)) {
    diag_help(fx_error(r, an->span, E1006, "annotated as a %s, but this is a %s",
                       an->is_number ? "number" : "tensor", is_number ? "number" : "tensor"),
              "leave out the annotation, or export the graph again");
    return false;
  }
  const struct arg *x = &b->number, *y = &an->number;
  if (is_number && x->kind == ARG_INT && y->kind == ARG_INT &&
      (x->number->hi < y->number->lo || y->number->hi < x->number->lo)) {
    struct strbuf text = {.arena = r->arena};
    expr_print(x->number, &text);
    diag_help(fx_error(r, an->span, E1006, "annotated as another number than this, `%s`",
                       strbuf_cstr(&text)),
              "leave out the annotation, or export the graph again");
    strbuf_finish(&text);
    return false;
  }
  return true;
}

static bool assignment(struct reader *r, size_t name) {
  struct annotation an;
  struct binding b = {.kind = BOUND_WRONG};
  size_t quoted = 0;
  bool has_annotation = fx_accept(r, TOK_COLON);
  if (has_annotation && fx_peek(r) == TOK_STRING)
    quoted = r->pos++; // the annotation of a tuple is not read
  else if (has_annotation && !fx_annotation(r, &an))
    return false;
  if (fx_peek(r) >= TOK_PLUS_ASSIGN && fx_peek(r) <= TOK_CARET_ASSIGN) {
    diag_help(fx_error(r, fx_span(r, r->pos, r->pos + 1), E1008, "`%s` in a graph",
                       token_kind_text(fx_peek(r))),
              "make the graph functional, as `run_decompositions()` does");
    return false;
  }
  bool is_known = quoted && fx_is_tensor_annotation(r, quoted);
  if (!fx_expect(r, TOK_ASSIGN) || (is_known && !fx_annotation_at(r, quoted, &an)))
    return false;
  const struct annotated annotated = {is_known ? an.rank : 0, an.shape};
  r->g->annotated = is_known ? &annotated : NULL;
  bool ok = right_side(r, name, &b);
  r->g->annotated = NULL;
  if (!ok)
    return false;
  bool is_plain = b.kind == BOUND_VALUE || b.kind == BOUND_NUMBER;
  if (quoted && is_plain && !r->is_poisoned && !is_known) {
    bool at_run_time = fx_at_run_time_number(r, quoted);
    if (at_run_time && b.kind == BOUND_VALUE && b.value->rank == 0)
      fx_note_real(r, b.value);
    if (at_run_time)
      has_annotation = false; // the size has no name here
    else if (!fx_annotation_at(r, quoted, &an))
      return false;
  }
  if (r->is_poisoned)
    b.kind = BOUND_WRONG;
  else if (has_annotation && is_plain && !fx_is_dropped(r, name) && !annotate(r, &b, &an))
    return false;
  return fx_bind(r, name, b)->kind == b.kind && statement_end(r);
}

static void skip_line(struct reader *r) {
  while (fx_peek(r) != TOK_NEWLINE && fx_peek(r) != TOK_EOF)
    r->pos++;
  fx_accept(r, TOK_NEWLINE);
}

// False if reading cannot continue.
static bool statement(struct reader *r) {
  size_t name = r->pos;
  r->failed = r->is_poisoned = false;
  r->depth = r->number_depth = 0;
  if (is_kill(r)) {
    kill(r);
    if (statement_end(r))
      return true;
  } else if (fx_expect(r, TOK_NAME)) {
    if (assignment(r, name))
      return true;
    fx_bind(r, name, (struct binding){.kind = BOUND_WRONG});
  }
  if (r->pos < name + 1)
    r->pos = name + 1;
  skip_line(r);
  return !fx_too_many_errors(r);
}

// ---- the return ----

static bool add_outputs(struct reader *r, const struct arg *a, struct span at) {
  if (a->kind == ARG_LIST) {
    for (size_t i = 0; i < a->list.count; i++)
      if (!add_outputs(r, &a->list.at[i], at))
        return false;
    return true;
  }
  if (r->g->outputs.len >= LIMIT_GRAPH_TENSORS)
    return limit_error(r->g->diag, at, LIMIT_ID_GRAPH_TENSORS, 0);
  struct value *v = a->kind == ARG_VALUE ? a->value : NULL;
  if (a->kind == ARG_INT) { // a size, which a backward graph needs
    const struct arg args[] = {*a, ARG_D(DTYPE_I64)};
    if (!(v = graph_apply(r->g, OP_SCALAR_TENSOR, args, COUNT_OF(args), at)))
      return r->failed = true, false;
  } else if (a->kind != ARG_VALUE && a->kind != ARG_NONE) {
    diag_help(fx_error(r, at, E1001, "a graph returns tensors, None and sizes"),
              "return the tensors themselves, in a tuple");
    return false;
  }
  if (v && v->complex && !(v = complex_output(r->g, v, at)))
    return r->failed = true, false;
  graph_add_output(r->g, v);
  return true;
}

// A value, or several without parentheses.
static bool returned(struct reader *r, struct arg *ret) {
  VEC(struct arg) values = {0};
  if (!fx_value(r, ret))
    return false;
  vec_push(r->arena, &values, *ret);
  while (fx_accept(r, TOK_COMMA)) {
    struct arg a;
    if (fx_peek(r) == TOK_NEWLINE)
      break;
    if (!fx_value(r, &a))
      return false;
    vec_push(r->arena, &values, a);
  }
  if (values.len > 1)
    *ret = (struct arg){.kind = ARG_LIST, .list = {values.at, values.len}};
  return true;
}

static bool read_return(struct reader *r) {
  struct arg a;
  size_t first = r->pos++;
  r->failed = r->is_poisoned = false;
  r->is_return = true;
  r->depth = r->number_depth = 0;
  // pytree.tree_unflatten([...], ...): the list.
  if (fx_accept_name(r, "pytree")) {
    if (!fx_expect(r, TOK_DOT) || !fx_expect(r, TOK_NAME) || !fx_expect(r, TOK_LPAREN) ||
        !fx_value(r, &a))
      return false;
    skip_line(r);
  } else if (!returned(r, &a) || !statement_end(r)) {
    return false;
  }
  return r->is_poisoned || add_outputs(r, &a, fx_span(r, first, first + 1));
}

// ---- the class ----

static bool body(struct reader *r) {
  if (!fx_find_classes(r) || !fx_attributes(r) ||
      (r->take_likely && !r->take_likely(r->g, r->user)))
    return false;
  while (fx_peek(r) != TOK_RETURN) {
    enum token_kind k = fx_peek(r);
    if (k == TOK_EOF || k == TOK_DEDENT) {
      r->failed = false;
      diag_help(fx_error(r, fx_span(r, r->pos, r->pos + 1), E1001, "the graph has no `return`"),
                "the text ends too early, or is only a part");
      return false;
    }
    if (!statement(r))
      return false;
  }
  return read_return(r);
}

static bool function(struct reader *r) {
  if (!fx_expect(r, TOK_DEF) || !fx_expect(r, TOK_NAME))
    return false;
  bool ok = fx_parameters(r);
  if (r->failed)
    return false;
  while (fx_peek(r) != TOK_COLON && fx_peek(r) != TOK_NEWLINE && fx_peek(r) != TOK_EOF)
    r->pos++; // the type of the result
  r->failed = false;
  return fx_expect(r, TOK_COLON) && fx_expect(r, TOK_NEWLINE) && fx_expect(r, TOK_INDENT) &&
         body(r) && ok;
}

// "class <lambda>(torch.nn.Module):"
static bool class_line(struct reader *r) {
  size_t first = r->pos;
  if (fx_accept(r, TOK_LT)) {
    if (!fx_expect(r, TOK_LAMBDA) || !fx_expect(r, TOK_GT))
      return false;
  } else if (!fx_expect(r, TOK_NAME)) {
    return false;
  }
  struct span s = fx_span(r, first, r->pos);
  r->g->name = arena_strndup(r->arena, r->source->text.ptr + s.begin, s.end - s.begin);
  while (fx_peek(r) != TOK_COLON && fx_peek(r) != TOK_NEWLINE && fx_peek(r) != TOK_EOF)
    r->pos++;
  return fx_expect(r, TOK_COLON) && fx_expect(r, TOK_NEWLINE) && fx_expect(r, TOK_INDENT);
}

// The graph of the class at token `class`, its name; NULL after an error. Unknown operators and
// sizes are those of the whole text.
static struct graph *read_subgraph(struct reader *r, size_t class) {
  unsigned errors = diag_error_count(r->diag);
  struct reader child = {.arena = r->arena,
                         .diag = r->diag,
                         .source = r->source,
                         .at = r->at,
                         .pos = class,
                         .ranges = r->ranges,
                         .symbols = r->symbols,
                         .unknown_names = r->unknown_names,
                         .level = r->level + 1};
  if (child.level > FX_MAX_GRAPHS) {
    fx_error(r, fx_span(r, class, class + 1), E0902, "graphs nest more than %d levels deep",
             FX_MAX_GRAPHS);
    return NULL;
  }
  child.unknown.at = r->unknown.at, child.unknown.len = r->unknown.len;
  child.unknown.cap = r->unknown.cap;
  child.g = graph_create(r->arena, r->diag, r->g->exprs, "graph");
  child.g->device = r->g->device;
  for (size_t i = 0; i < r->g->symbols.len; i++)
    vec_push(r->arena, &child.g->symbols, r->g->symbols.at[i]);
  bool ok = class_line(&child) && function(&child);
  r->unknown.at = child.unknown.at, r->unknown.len = child.unknown.len;
  r->unknown.cap = child.unknown.cap;
  r->unknown_names = child.unknown_names;
  r->symbols = child.symbols;
  if (!ok || diag_error_count(r->diag) > errors || !fx_check_subgraph(r, &child))
    return NULL;
  return child.g;
}

static bool module(struct reader *r) {
  while (fx_peek(r) == TOK_IMPORT || fx_peek(r) == TOK_FROM)
    skip_line(r);
  bool is_exported = fx_accept_name(r, "ExportedProgram");
  fx_read_ranges(r);
  if (is_exported &&
      (!fx_expect(r, TOK_COLON) || !fx_expect(r, TOK_NEWLINE) || !fx_expect(r, TOK_INDENT)))
    return false;
  if (fx_peek(r) != TOK_DEF && (!fx_expect(r, TOK_CLASS) || !class_line(r)))
    return false;
  if (!function(r))
    return false;
  fx_skip_classes(r);
  while (fx_accept(r, TOK_DEDENT))
    continue;
  if (is_exported) // the signature and range constraints follow
    return true;
  if (!fx_skip_ranges(r) || !fx_read_free_strides(r))
    return false;
  if (fx_peek(r) == TOK_EOF)
    return true;
  r->failed = false;
  if (fx_peek(r) == TOK_CLASS || fx_peek(r) == TOK_DEF) {
    fx_error(r, fx_span(r, r->pos, r->pos + 1), E1008, "a second graph");
    return false;
  }
  return fx_unexpected(r, "expected the end of the text");
}

// ---- the text ----

struct graph *graph_read_fx(struct arena *a, struct diag_engine *diag,
                            const struct source *source) {
  return graph_read_fx_likely(a, diag, source, NULL, NULL);
}

struct graph *graph_read_fx_likely(struct arena *a, struct diag_engine *diag,
                                   const struct source *source, graph_likely_fn take_likely,
                                   void *user) {
  struct token_list tokens;
  unsigned errors = diag_error_count(diag);
  if (source->text.len > SOURCE_MAX_BYTES) {
    diag_error(diag, SPAN_NONE, E0901, "`%s` is larger than %u MiB", source->name,
               SOURCE_MAX_BYTES >> 20);
    return NULL;
  }
  struct reader r = {.arena = a,
                     .diag = diag,
                     .source = fx_without_colours(a, source),
                     .take_likely = take_likely,
                     .user = user};
  if (!lexer_run(a, diag, r.source, &tokens))
    return NULL;
  r.at = tokens.at;
  r.g = graph_create(a, diag, exprs_create(a), "graph");
  bool ok = module(&r);
  fx_report_unknown(&r);
  return !ok || diag_error_count(diag) > errors || !graph_verify(r.g) ? NULL : r.g;
}
