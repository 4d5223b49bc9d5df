// SPDX-License-Identifier: Apache-2.0
// Decides which values are materialised in buffers, by their uses.
#include "graph/loops/loops_internal.h"

// ---- uses ----

static double hint_numel(struct builder *b, const struct value *v) {
  return (double)expr_hint(value_numel(b->x, v));
}

// Views that only reorder: their operand can be stored in the view's order.
static bool only_reorders(enum operator_id op) {
  return op == OP_VIEW || op == OP_PERMUTE || op == OP_UNSQUEEZE || op == OP_SQUEEZE_DIMS;
}

// Does it compare elements of one value with others of it, as sorting does?
static bool compares_with_itself(const struct node *n) {
  switch (n->op) {
  case OP_EQ_TENSOR:
  case OP_LT_TENSOR:
  case OP_GT_TENSOR:
  case OP_LE_TENSOR:
  case OP_GE_TENSOR: break;
  default: return false;
  }
  const struct value *x = node_value(n, 0), *y = node_value(n, 1);
  return x && y && x != y && loops_behind_views(x) == loops_behind_views(y);
}

// The queries of attention, for keys and values that it may read as they are stored.
static void note_queries(struct uses *u, const struct node *n, const struct value *v) {
  double rows = (double)expr_hint(node_value(n, 0)->shape[2]);
  if (v != node_value(n, 0) && rows <= LOOPS_FEW_QUERIES)
    u->product_rows = rows > u->product_rows ? rows : u->product_rows;
}

// The rows of a product's result for its right operand, the columns for its left one.
static void note_product(struct uses *u, const struct node *n, const struct value *v) {
  u->in_scaled_product |=
      loops_comes_from_bytes(node_value(n, 0)) && loops_comes_from_bytes(node_value(n, 1));
  const struct value *out = n->results[0];
  uint32_t dim = v == node_value(n, 1) ? out->rank - 2 : out->rank - 1;
  double rows = (double)expr_hint(out->shape[dim]);
  u->product_rows = rows > u->product_rows ? rows : u->product_rows;
}

static bool is_matrix_product(enum operator_id op) {
  return op == OP_MM || op == OP_BMM || op == OP_TILE_FAST_MM || op == OP_TILE_GROUPED_MM;
}

// The last operands of attention, which its kernel computes for each query and key.
static void use_scores(struct builder *b, const struct loops_scores *scores) {
  for (unsigned i = 0; i < COUNT_OF(scores->computed); i++)
    if (scores->computed[i])
      b->uses[scores->computed[i]->id].computed++;
  if (scores->product)
    b->uses[scores->product->id].is_product_of_scores = true;
}

static bool is_score(const struct loops_scores *scores, const struct value *v) {
  return v == scores->computed[0] || v == scores->computed[1] || v == scores->computed[2] ||
         v == scores->product;
}

static void use(struct builder *b, const struct node *n, const struct value *v) {
  struct uses *u = &b->uses[v->id];
  if (loops_is_view(n->op)) {
    const struct uses *w = &b->uses[n->results[0]->id];
    u->count += w->count;
    u->computed += w->computed;
    u->is_product_of_scores |= w->is_product_of_scores;
    u->in_product |= w->in_product;
    u->in_taps |= w->in_taps;
    u->in_scaled_product |= w->in_scaled_product;
    u->product_rows = w->product_rows > u->product_rows ? w->product_rows : u->product_rows;
    u->is_output |= w->is_output;
    u->meets_itself |= w->meets_itself;
    u->widest = w->widest > u->widest ? w->widest : u->widest;
    if (w->output >= 0 && u->output < 0 && only_reorders(n->op)) {
      u->output = w->output;
      u->via = n;
    }
    if (only_reorders(n->op) && (w->in_product || w->toward))
      u->toward = n;
    if (only_reorders(n->op) && w->concatenation && !u->concatenation) {
      u->concatenation = w->concatenation;
      u->part = w->part;
      u->part_via = n;
    }
    return;
  }
  if (n->op == OP_CONSTANT_PAD_ND || n->op == OP_FLIP) { // like a view
    const struct uses *w = &b->uses[n->results[0]->id];
    u->count += w->count + w->is_output;
    u->in_product |= w->in_product;
    u->product_rows = w->product_rows > u->product_rows ? w->product_rows : u->product_rows;
    u->widest = w->widest > u->widest ? w->widest : u->widest;
    return;
  }
  enum operator_class c = operator_row(n->op)->class;
  if (c == CLASS_POINTWISE && b->uses[n->results[0]->id].toward &&
      value_same_shape(v, n->results[0]))
    u->toward = n;
  u->count++;
  if (c == CLASS_POINTWISE) {
    const struct uses *w = &b->uses[n->results[0]->id];
    u->computed += w->count && w->computed == w->count && !w->is_output;
  }
  u->meets_itself |= compares_with_itself(n);
  const struct loops_scores scores = loops_scores_of(n);
  u->in_product |= c == CLASS_PRODUCT || (c == CLASS_ATTENTION && !is_score(&scores, v));
  u->in_taps |= v == node_value(n, 0) && loops_sums_taps(b, n);
  if (is_matrix_product(n->op))
    note_product(u, n, v);
  if (n->op == OP_TILE_ATTENTION && !is_score(&scores, v))
    note_queries(u, n, v);
  double domain = c == CLASS_REDUCTION || c == CLASS_SCAN || c == CLASS_SHAPE || !n->results[0]
                      ? hint_numel(b, v)
                      : hint_numel(b, n->results[0]);
  u->widest = domain > u->widest ? domain : u->widest;
}

bool loops_is_used(const struct builder *b, const struct node *n) {
  for (uint32_t i = 0; i < n->result_count; i++) {
    const struct value *v = n->results[i];
    if (v && (b->uses[v->id].count || b->uses[v->id].is_output))
      return true;
  }
  return false;
}

static void use_args(struct builder *b, const struct node *n, const struct arg *args,
                     size_t count) {
  for (size_t i = 0; i < count; i++)
    if (args[i].kind == ARG_VALUE)
      use(b, n, args[i].value);
    else if (args[i].kind == ARG_LIST)
      use_args(b, n, args[i].list.at, args[i].list.count);
}

// Does each element have its own address? Not if a stride is 0.
static bool is_writable(const struct value *v) {
  for (uint32_t i = 0; i < v->rank; i++)
    if (expr_is(v->strides[i], 0) && !expr_is(v->shape[i], 1))
      return false;
  return true;
}

bool loops_find_uses(struct builder *b) {
  const struct graph *g = b->g;
  b->uses = arena_array(b->arena, struct uses, g->value_count + 1);
  for (uint32_t i = 0; i < g->value_count; i++)
    b->uses[i].output = -1;
  for (size_t i = 0; i < g->outputs.len; i++) {
    const struct value *v = g->outputs.at[i];
    if (!v)
      continue;
    struct uses *u = &b->uses[v->id];
    u->is_output = true;
    if (u->output < 0 && v->def && is_writable(v))
      u->output = (int32_t)i;
  }
  for (size_t i = 0; i < g->mutations.len; i++)
    b->uses[g->mutations.at[i].value->id].count++;
  b->concatenations = arena_array(b->arena, struct concatenation *, g->value_count + 1);
  b->images = arena_array(b->arena, struct buffer *, g->value_count + 1);
  for (size_t i = g->nodes.len; i-- > 0;) {
    if (!loops_is_used(b, g->nodes.at[i]))
      continue;
    use_args(b, g->nodes.at[i], g->nodes.at[i]->args, g->nodes.at[i]->arg_count);
    const struct loops_scores scores = loops_scores_of(g->nodes.at[i]);
    use_scores(b, &scores);
    loops_find_parts(b, g->nodes.at[i]);
  }
  loops_find_few_queries(b);
  return true;
}

// ---- what is stored ----

static void count_load(void *user, const struct scalar *load) {
  (void)load;
  ++*(unsigned *)user;
}

static bool is_load(const struct scalar *v) {
  while (v->kind == SCALAR_CONVERT)
    v = v->in[0];
  return v->kind == SCALAR_LOAD || v->kind == SCALAR_CONST || v->kind == SCALAR_INDEX;
}

// Copied to the output now: later, the temporary would stay allocated until the end.
static bool reads_temporary(const struct scalar *v) {
  while (v->kind == SCALAR_CONVERT)
    v = v->in[0];
  return v->kind == SCALAR_LOAD && v->buffer->role == BUFFER_TEMP;
}

// Does half precision read memory of a wider dtype?
static bool narrows(const struct deferred *z, const struct scalar *body) {
  while (body->kind == SCALAR_CONVERT)
    body = body->in[0];
  return body->kind == SCALAR_LOAD && dtype_is_float(body->dtype) &&
         dtype_bits(body->dtype) > dtype_bits(z->value->dtype);
}

struct reader {
  const struct builder *b;
  bool is_only;
};

static void note_other_reader(void *user, const struct scalar *load) {
  struct reader *r = user;
  const struct buffer *from = load->buffer;
  if (from->role != BUFFER_TEMP || !from->value || r->b->uses[from->value->id].count != 1)
    r->is_only = false;
}

// Does nothing else read what v loads?
static bool is_only_reader(struct builder *b, const struct scalar *v) {
  struct reader r = {b, !v->has_mask};
  scalar_loads(v, note_other_reader, &r);
  return r.is_only;
}

static void note_long_offset(void *user, const struct scalar *load) {
  enum { LONG = 1000 };
  if (expr_weight(load->index) > LONG)
    *(bool *)user = true;
}

static bool has_long_offset(const struct scalar *body) {
  bool is_long = false;
  scalar_loads(body, note_long_offset, &is_long);
  return is_long;
}

struct product_reader {
  const struct builder *b;
  bool found;
};

static void note_product_of_scores(void *user, const struct scalar *load) {
  struct product_reader *r = user;
  const struct value *v = load->buffer->value;
  r->found = r->found || (v && r->b->uses[v->id].is_product_of_scores);
}

// A step from the product of queries and keys to the score, in the kernel of attention.
static bool is_within_scores(struct builder *b, const struct uses *u, const struct scalar *body) {
  struct product_reader r = {b, false};
  if (u->count && u->computed == u->count && !u->is_output)
    scalar_loads(body, note_product_of_scores, &r);
  return r.found;
}

// Stored values, and why:
// - those of long chains of views, before their offsets become too long expressions;
// - outputs, unless they are a constant or a plain copy of an input;
// - expression trees so large that inlining them would blow up programs (each user may be inlined
// in turn, so that without a bound chains of residuals double at each step);
// - values with several users, unless recomputing reads less than a load would: up to four loads
// and thirty operations are recomputed. exp(x - max) of a softmax is one of these; a kernel with
// both users computes it once, since equal expression trees are shared;
// - operands of products, which read each element many times, unless they are a load and a few
// operations; those too if nothing else reads what they load, since its producer can do these
// operations as well. Half-precision operands of f32 memory are stored in half precision, which
// products load directly into shared memory. Quantised operands of few rows are not stored
// (graph/loops/quantised.c), nor are scaled 8-bit floats (graph/loops/scaled_bytes.c);
// - images of sums of taps, each of which would compute them;
// - what gradients need that are computed again: else they would read all it is computed from;
// - parts of long concatenations that are computed from a stored value of the same size: the kernel
// of that value writes them to their slices;
// - exp, tanh and the like if a broadcast would compute each many times;
// - values compared with themselves at other offsets, unless they are exact: recomputed, an element
// might not equal itself.
//
// What only kernels of attention need of each pair of query and key, and loads nothing, is not
// stored: which weights dropout keeps.
//
// Predicates of indices and constants, which load nothing, are stored only as outputs, and
// recomputed by their users even then.
static bool should_store(struct builder *b, const struct deferred *z, const struct scalar *body) {
  const struct uses *u = &b->uses[z->value->id];
  if (u->count > 0 && has_long_offset(body))
    return true;
  if (u->output >= 0 && !b->outputs[u->output] && (!is_load(body) || reads_temporary(body)))
    return true;
  if (u->output < 0 && loops_reads_quantised(b, z->value, body))
    return false;
  if (u->output < 0 && u->in_scaled_product && scalar_is_scaled_bytes(body))
    return false;
  if (u->in_product && narrows(z, body))
    return true;
  const struct node *n = z->value->def;
  if (n && n->is_kept && b->g->parts_stay_apart && u->count > 0 && !is_load(body))
    return true;
  if (is_load(body) || u->count == 0 || is_within_scores(b, u, body))
    return false;
  if (u->in_taps || loops_is_part_of_stage(b, z->value, body))
    return true;
  unsigned cost = scalar_cost(body), loads = 0;
  scalar_loads(body, count_load, &loads);
  if (cost > 100 || loads > 16)
    return true;
  if (u->meets_itself && loads > 0 && body->rounds)
    return true;
  bool expensive = body->is_expensive;
  if (loads == 0 && u->count && u->computed == u->count && !u->is_output)
    return false;
  if (loads == 0)
    return expensive && (u->count > 1 || u->in_product) && cost > 20;
  if (u->in_product)
    return loads > 1 || cost > 6 || expensive || is_only_reader(b, body);
  if (u->count > 1 && (loads > 4 || cost > 30))
    return true;
  return expensive && u->widest >= 8 * hint_numel(b, z->value);
}

// ---- origins ----

static void add_origin(struct deferred *z, const char *name) {
  for (uint32_t i = 0; i < z->origin_count; i++)
    if (strcmp(z->origins[i], name) == 0)
      return;
  if (z->origin_count < LOOPS_MAX_ORIGINS)
    z->origins[z->origin_count++] = name;
}

static void inherit_args(struct builder *b, struct deferred *z, const struct arg *args,
                         size_t count) {
  for (size_t i = 0; i < count; i++)
    if (args[i].kind == ARG_LIST)
      inherit_args(b, z, args[i].list.at, args[i].list.count);
    else if (args[i].kind == ARG_VALUE) {
      const struct deferred *of = b->deferred[args[i].value->id];
      for (uint32_t k = 0; of && k < of->origin_count; k++)
        add_origin(z, of->origins[k]);
    }
}

// The operator's name in the text, before decomposition: "aten._softmax.default".
static struct str name_in_text(const struct node *n) {
  const struct source *text = n->span.source;
  struct str s = {0};
  if (text && n->span.begin < n->span.end && n->span.end <= text->text.len)
    s = (struct str){text->text.ptr + n->span.begin, n->span.end - n->span.begin};
  bool is_operator = str_starts(s, "aten.") || str_starts(s, "prims.");
  return is_operator ? s : str_from(operator_row(n->op)->name);
}

// "add" of "aten.add.Tensor".
static const char *short_name(struct builder *b, const struct node *n) {
  struct str space, name, rest = str_split(name_in_text(n), '.', &space);
  str_split(rest, '.', &name);
  while (name.len > 1 && name.ptr[0] == '_') {
    name.ptr++;
    name.len--;
  }
  return str_starts(name, "scaled_dot_product") ? "attention"
                                                : arena_strndup(b->arena, name.ptr, name.len);
}

void loops_inherit(struct builder *b, struct deferred *z, const struct node *n) {
  inherit_args(b, z, n->args, n->arg_count);
  if (!loops_is_view(n->op) && n->op != OP_CLONE && n->op != OP_CONVERT_ELEMENT_TYPE &&
      n->op != OP_FULL && n->op != OP_TILE_SEED)
    add_origin(z, short_name(b, n));
}

void loops_take_origins(struct builder *b, struct deferred *z, struct stage *s) {
  for (uint32_t i = 0; i < z->origin_count; i++)
    vec_push(b->arena, &s->origins, z->origins[i]);
  z->origin_count = 0;
}

// ---- defining values ----

static void store(struct builder *b, const struct node *n, struct deferred *z) {
  struct assignment h = loops_assign(b, z->value);
  struct stage *s = loops_stage(b, STAGE_MAP, n);
  loops_add_axes(b, s, z->value->rank, z->at, false);
  s->body = z->body;
  s->dtype = z->body->dtype;
  s->out = h.buffer;
  s->offset = loops_offset(b, &h, z->at);
  loops_take_origins(b, z, s);
  // If not, users read the original of the copy, or recompute it.
  bool copies = is_load(z->body) && !narrows(z, z->body) && !has_long_offset(z->body);
  if (!copies && (z->body->has_load || z->body->is_expensive))
    loops_stored(b, z, &h);
}

bool loops_define(struct builder *b, const struct node *n, struct deferred *z,
                  const struct scalar *body) {
  enum dtype t = z->value->dtype;
  bool narrow = dtype_to_compute(t) != t, rounds = b->rounds || dtype_bits(t) <= 8;
  if (narrow && rounds && !loops_is_view(n->op))
    body = scalar_convert(b->s, scalar_convert(b->s, body, t), body->dtype);
  z->body = body;
  b->deferred[z->value->id] = z;
  loops_inherit(b, z, n);
  if (should_store(b, z, body))
    store(b, n, z);
  return true;
}
