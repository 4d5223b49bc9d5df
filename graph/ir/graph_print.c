// SPDX-License-Identifier: Apache-2.0
// Prints graphs in PyTorch's format with strides: `x = None` after the last use, results of tuples
// by subscript, without arguments that equal their defaults.
#include "graph/ir/custom.h"
#include "graph/ir/fx_names.h"
#include "graph/ir/graph_operators.h"
#include "graph/ir/unique_name.h"

#include <inttypes.h>

// ---- types ----

static void print_sizes(uint32_t rank, const struct expr *const *sizes, struct strbuf *out) {
  strbuf_putc(out, '[');
  for (uint32_t i = 0; i < rank; i++) {
    strbuf_puts(out, i ? ", " : "");
    expr_print(sizes[i], out);
  }
  strbuf_putc(out, ']');
}

void value_type_print(const struct value *v, bool with_strides, struct strbuf *out) {
  strbuf_puts(out, v->complex ? fx_complex_short(v->dtype) : fx_dtype_short(v->dtype));
  print_sizes(v->rank, v->shape, out);
  if (with_strides)
    print_sizes(v->rank, v->strides, out);
}

// ---- names ----

struct printer {
  const struct graph *g;
  struct strbuf *out;
  struct arena *arena;
  struct unique_names taken;
  const char **names;  // by value id
  const char **tuples; // by index of the node; NULL: one result
  uint32_t *uses;      // by value id
  size_t *last_use;    // by value id: 1 + index of the last statement with it
  bool *is_killed;     // by value id: has been set to None
  VEC(const struct graph *) subgraphs;
  VEC(const char *) subgraph_names;
};

static const char *take_name(struct printer *p, const char *wanted) {
  return unique_name(p->arena, &p->taken, wanted && *wanted ? wanted : "value");
}

static const char *subgraph_name(struct printer *p, const struct graph *g) {
  for (size_t i = 0; i < p->subgraphs.len; i++)
    if (p->subgraphs.at[i] == g)
      return p->subgraph_names.at[i];
  UNREACHABLE();
}

static void name_subgraphs(struct printer *p, const struct arg *a) {
  for (size_t i = 0; a->kind == ARG_LIST && i < a->list.count; i++)
    name_subgraphs(p, &a->list.at[i]);
  if (a->kind != ARG_GRAPH)
    return;
  for (size_t i = 0; i < p->subgraphs.len; i++)
    if (p->subgraphs.at[i] == a->graph)
      return;
  vec_push(p->arena, &p->subgraphs, a->graph);
  vec_push(p->arena, &p->subgraph_names, take_name(p, a->graph->name));
}

static void choose_names(struct printer *p) {
  const struct graph *g = p->g;
  p->names = arena_array(p->arena, const char *, g->value_count);
  p->tuples = arena_array(p->arena, const char *, g->nodes.len);
  for (size_t i = 0; i < g->symbols.len; i++)
    unique_name_take(p->arena, &p->taken, g->symbols.at[i]->symbol->name);
  for (size_t i = 0; i < g->inputs.len; i++)
    p->names[g->inputs.at[i]->id] = take_name(p, g->inputs.at[i]->name);
  for (size_t i = 0; i < g->nodes.len; i++) {
    const struct node *n = g->nodes.at[i];
    if (operator_row(n->op)->results != 1)
      p->tuples[i] = take_name(p, n->name);
    for (uint32_t k = 0; k < n->result_count; k++)
      if (n->results[k])
        p->names[n->results[k]->id] = take_name(p, n->results[k]->name);
    for (uint32_t k = 0; k < n->arg_count; k++)
      name_subgraphs(p, &n->args[k]);
  }
}

// ---- last uses ----

static void note_uses(struct printer *p, const struct arg *a, size_t statement) {
  if (a->kind == ARG_VALUE)
    p->last_use[a->value->id] = statement + 1;
  else if (a->kind == ARG_LIST)
    for (size_t i = 0; i < a->list.count; i++)
      note_uses(p, &a->list.at[i], statement);
}

// Statements: the nodes, then the writes to inputs, then the return.
static void find_last_uses(struct printer *p) {
  const struct graph *g = p->g;
  size_t at = 0;
  p->uses = graph_count_uses(g, p->arena);
  p->last_use = arena_array(p->arena, size_t, g->value_count);
  p->is_killed = arena_array(p->arena, bool, g->value_count);
  for (; at < g->nodes.len; at++)
    for (uint32_t i = 0; i < g->nodes.at[at]->arg_count; i++)
      note_uses(p, &g->nodes.at[at]->args[i], at);
  for (size_t i = 0; i < g->mutations.len; i++, at++) {
    p->last_use[g->mutations.at[i].input->id] = at + 1;
    p->last_use[g->mutations.at[i].value->id] = at + 1;
  }
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i])
      p->last_use[g->outputs.at[i]->id] = at + 1;
}

// "x = " for a value that is not used after this statement; ";  " before the first.
static void kill_name(struct printer *p, const char *name, bool *has_any) {
  strbuf_printf(p->out, "%s%s = ", *has_any ? "" : ";  ", name);
  *has_any = true;
}

static void kill_value(struct printer *p, const struct value *v, size_t statement, bool *has_any) {
  if (p->last_use[v->id] != statement + 1 || p->is_killed[v->id])
    return;
  p->is_killed[v->id] = true;
  kill_name(p, p->names[v->id], has_any);
}

static void kill_arg(struct printer *p, const struct arg *a, size_t statement, bool *has_any) {
  if (a->kind == ARG_VALUE)
    kill_value(p, a->value, statement, has_any);
  else if (a->kind == ARG_LIST)
    for (size_t i = 0; i < a->list.count; i++)
      kill_arg(p, &a->list.at[i], statement, has_any);
}

static void end_statement(struct printer *p, bool has_killed) {
  strbuf_puts(p->out, has_killed ? "None\n" : "\n");
}

// ---- arguments ----

static void print_arg(struct printer *p, const struct arg *a) {
  switch (a->kind) {
  case ARG_NONE: strbuf_puts(p->out, "None"); break;
  case ARG_VALUE: strbuf_puts(p->out, p->names[a->value->id]); break;
  case ARG_INT: expr_print(a->number, p->out); break;
  case ARG_FLOAT: fx_print_real(a->real, p->out); break;
  case ARG_BOOL: strbuf_puts(p->out, a->truth ? "True" : "False"); break;
  case ARG_DTYPE:
  case ARG_COMPLEX: strbuf_printf(p->out, "torch.%s", fx_dtype_long(a->dtype)); break;
  case ARG_STRING: fx_print_word(a->string, p->out); break;
  case ARG_GRAPH: strbuf_puts(p->out, subgraph_name(p, a->graph)); break;
  case ARG_LIST:
    strbuf_putc(p->out, '[');
    for (size_t i = 0; i < a->list.count; i++) {
      strbuf_puts(p->out, i ? ", " : "");
      print_arg(p, &a->list.at[i]);
    }
    strbuf_putc(p->out, ']');
    break;
  }
}

// Does the argument equal the default? Compared as text, since the text is omitted.
static bool is_default(struct printer *p, const struct parameter *parameter, const struct arg *a) {
  if (!parameter->has_default)
    return false;
  struct strbuf text = {.arena = p->arena}, *out = p->out;
  if (a->kind == ARG_STRING)
    return str_eq(a->string, parameter->default_text);
  p->out = &text;
  print_arg(p, a);
  p->out = out;
  bool same = str_is(parameter->default_text, strbuf_cstr(&text));
  strbuf_finish(&text);
  return same;
}

// torch.ops.mylib.scale.default(x, 2.0), with all arguments.
static void print_custom(struct printer *p, const struct node *n) {
  const struct custom_operator *o = node_custom(n);
  strbuf_printf(p->out, "torch.ops.%s(", o->name);
  for (size_t i = 0; i < o->count; i++) {
    strbuf_puts(p->out, i ? ", " : "");
    if (o->parameters[i].by_name)
      strbuf_printf(p->out, "%.*s = ", STR_ARG(o->parameters[i].name));
    print_arg(p, &node_custom_args(n)[i]);
  }
  strbuf_putc(p->out, ')');
}

static void print_call(struct printer *p, const struct node *n) {
  if (n->op == OP_CUSTOM) {
    print_custom(p, n);
    return;
  }
  size_t count, shown = 0;
  const struct parameter *ps = operator_parameters(n->op, &count);
  bool is_omitted[OPERATOR_MAX_PARAMETERS], needed = false;
  bool is_prim =
      str_starts(str_from(operator_row(n->op)->name), "prims."); // these have no defaults
  for (size_t i = count; i-- > 0;) { // arguments before a needed one are needed too
    bool may_go = ps[i].by_name ? !is_prim || n->args[i].kind == ARG_NONE : !needed;
    is_omitted[i] = may_go && is_default(p, &ps[i], &n->args[i]);
    needed |= !ps[i].by_name && !is_omitted[i];
  }
  strbuf_printf(p->out, "torch.ops.%s(", operator_row(n->op)->name);
  for (size_t i = 0; i < count; i++) {
    if (is_omitted[i])
      continue;
    strbuf_puts(p->out, shown++ ? ", " : "");
    if (ps[i].by_name)
      strbuf_printf(p->out, "%.*s = ", STR_ARG(ps[i].name));
    print_arg(p, &n->args[i]);
  }
  strbuf_putc(p->out, ')');
}

// ---- statements ----

static void print_annotation(struct printer *p, const struct value *v) {
  strbuf_putc(p->out, '"');
  value_type_print(v, true, p->out);
  strbuf_printf(p->out, "%s\"", p->g->device ? p->g->device : "");
}

static void begin_value(struct printer *p, const struct value *v) {
  strbuf_printf(p->out, "        %s: ", p->names[v->id]);
  print_annotation(p, v);
  strbuf_puts(p->out, " = ");
}

// The results that are used; the tuple is set to None after the last of them.
static void print_results(struct printer *p, const struct node *n, const char *tuple) {
  uint32_t last = n->result_count;
  for (uint32_t i = 0; i < n->result_count; i++)
    if (n->results[i] && p->uses[n->results[i]->id])
      last = i;
  for (uint32_t i = 0; i < n->result_count && last < n->result_count; i++) {
    if (!n->results[i] || !p->uses[n->results[i]->id])
      continue;
    begin_value(p, n->results[i]);
    strbuf_printf(p->out, "%s[%" PRIu32 "]", tuple, i);
    if (i == last)
      strbuf_printf(p->out, ";  %s = None", tuple);
    strbuf_putc(p->out, '\n');
  }
}

static bool has_used_result(struct printer *p, const struct node *n) {
  for (uint32_t i = 0; i < n->result_count; i++)
    if (n->results[i] && p->uses[n->results[i]->id])
      return true;
  return false;
}

static void print_node(struct printer *p, size_t at) {
  const struct node *n = p->g->nodes.at[at];
  const char *tuple = p->tuples[at];
  bool has_killed = false;
  if (tuple)
    strbuf_printf(p->out, "        %s = ", tuple);
  else
    begin_value(p, n->results[0]);
  print_call(p, n);
  for (uint32_t i = 0; i < n->arg_count; i++)
    kill_arg(p, &n->args[i], at, &has_killed);
  if (!has_used_result(p, n))
    kill_name(p, tuple ? tuple : p->names[n->results[0]->id], &has_killed);
  end_statement(p, has_killed);
  if (tuple)
    print_results(p, n, tuple);
}

static void print_mutation(struct printer *p, size_t i) {
  const struct mutation *m = &p->g->mutations.at[i];
  const char *name = take_name(p, "copy_");
  size_t at = p->g->nodes.len + i;
  bool has_killed = false;
  strbuf_printf(p->out, "        %s: ", name);
  print_annotation(p, m->input);
  strbuf_printf(p->out, " = torch.ops.aten.copy_.default(%s, %s)", p->names[m->input->id],
                p->names[m->value->id]);
  kill_value(p, m->input, at, &has_killed);
  kill_value(p, m->value, at, &has_killed);
  kill_name(p, name, &has_killed);
  end_statement(p, has_killed);
}

// `is_inner`: its sizes are those of the graph around it.
static void print_header(struct printer *p, const char *name, bool is_inner) {
  const struct graph *g = p->g;
  strbuf_printf(p->out, "class %s(torch.nn.Module):\n    def forward(self",
                name ? name : "GraphModule");
  for (size_t i = 0; !is_inner && i < g->symbols.len; i++) {
    const char *symbol = g->symbols.at[i]->symbol->name;
    strbuf_printf(p->out, ", %s: \"Sym(%s)\"", symbol, symbol);
  }
  for (size_t i = 0; i < g->inputs.len; i++) {
    strbuf_printf(p->out, ", %s: ", p->names[g->inputs.at[i]->id]);
    print_annotation(p, g->inputs.at[i]);
  }
  strbuf_puts(p->out, "):\n");
}

static void print_return(struct printer *p) {
  const struct graph *g = p->g;
  strbuf_puts(p->out, "        return (");
  for (size_t i = 0; i < g->outputs.len; i++)
    strbuf_printf(p->out, "%s%s", i ? ", " : "",
                  g->outputs.at[i] ? p->names[g->outputs.at[i]->id] : "None");
  strbuf_puts(p->out, g->outputs.len == 1 ? ",)\n" : ")\n");
}

// Of sizes whose range is not [1, inf).
static void print_ranges(struct printer *p) {
  const struct graph *g = p->g;
  bool has_begun = false;
  for (size_t i = 0; i < g->symbols.len; i++) {
    const struct symbol *s = g->symbols.at[i]->symbol;
    if (s->lo == 1 && s->hi == GRAPH_MAX_SIZE)
      continue;
    strbuf_printf(p->out, "%s%s: VR[%" PRId64 ", ", has_begun ? ", " : "\nRange constraints: {",
                  s->name, s->lo);
    if (s->hi == GRAPH_MAX_SIZE)
      strbuf_puts(p->out, "int_oo]");
    else
      strbuf_printf(p->out, "%" PRId64 "]", s->hi);
    has_begun = true;
  }
  strbuf_puts(p->out, has_begun ? "}\n" : "");
}

// Of outputs.
static void print_free_strides(struct printer *p) {
  const struct graph *g = p->g;
  bool has_begun = false;
  for (size_t i = 0; i < g->outputs.len; i++) {
    const struct value *v = g->outputs.at[i];
    bool is_listed = false; // as an earlier output
    for (size_t k = 0; k < i; k++)
      is_listed |= g->outputs.at[k] == v;
    if (!v || !v->has_free_strides || is_listed)
      continue;
    strbuf_printf(p->out, "%s%s", has_begun ? ", " : "\nFree strides: {", p->names[v->id]);
    has_begun = true;
  }
  strbuf_puts(p->out, has_begun ? "}\n" : "");
}

// ---- graphs ----

static void print_graph(struct arena *a, const struct graph *g, const char *name, bool is_inner,
                        struct strbuf *out);

// Classes beneath the function, one level further in.
static void print_subgraphs(struct printer *p) {
  for (size_t i = 0; i < p->subgraphs.len; i++) {
    struct strbuf text = {.arena = p->arena};
    print_graph(p->arena, p->subgraphs.at[i], p->subgraph_names.at[i], true, &text);
    struct str rest = {text.ptr, text.len}, line;
    strbuf_putc(p->out, '\n');
    while (rest.len) {
      rest = str_split(rest, '\n', &line);
      strbuf_printf(p->out, line.len ? "    %.*s\n" : "%.*s\n", STR_ARG(line));
    }
    strbuf_finish(&text);
  }
}

static void print_graph(struct arena *a, const struct graph *g, const char *name, bool is_inner,
                        struct strbuf *out) {
  struct printer p = {.g = g, .out = out, .arena = a};
  choose_names(&p);
  find_last_uses(&p);
  print_header(&p, name, is_inner);
  for (size_t i = 0; i < p.subgraphs.len; i++)
    strbuf_printf(out, "        %s = self.%s\n", p.subgraph_names.at[i], p.subgraph_names.at[i]);
  for (size_t i = 0; i < g->nodes.len; i++)
    print_node(&p, i);
  for (size_t i = 0; i < g->mutations.len; i++)
    print_mutation(&p, i);
  print_return(&p);
  print_subgraphs(&p);
  if (!is_inner) {
    print_ranges(&p);
    print_free_strides(&p);
  }
}

void graph_print(const struct graph *g, struct strbuf *out) {
  struct arena *scratch = arena_create();
  if (!scratch) {
    strbuf_fail(out);
    return;
  }
  jmp_buf on_oom;
  if (setjmp(on_oom)) {
    arena_destroy(scratch);
    strbuf_fail(out);
    return;
  }
  arena_set_oom(scratch, &on_oom);
  print_graph(scratch, g, g->name, false, out);
  arena_destroy(scratch);
}
