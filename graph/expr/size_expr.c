// SPDX-License-Identifier: Apache-2.0
// Builds expressions: the hash table of nodes, value ranges, symbols.
#include "graph/expr/size_expr_internal.h"

// A node as stored: the public part, and its size and depth, which bound every walk over it.
struct entry {
  struct expr e;
  uint32_t weight, depth;
  const struct expr *equal; // what it is known to equal; NULL: nothing simpler
};

static const struct entry *entry_of(const struct expr *e) { return (const struct entry *)e; }

struct exprs *exprs_create(struct arena *a) {
  struct exprs *x = arena_new(a, struct exprs);
  if (!x)
    return NULL;
  x->arena = a;
  x->slot_count = 256;
  x->slots = arena_array(a, const struct expr *, x->slot_count);
  return x;
}

// ---- ranges ----

static bool is_infinite(int64_t v) { return v == INT64_MAX || v == INT64_MIN; }

// Sums of bounds; unknown bounds stay unknown. Sets *ret_overflow if the sum of known ones does not
// fit 64 bits.
static int64_t bound_add(int64_t a, int64_t b, bool *ret_overflow) {
  int64_t r;
  if (is_infinite(a))
    return a;
  if (is_infinite(b))
    return b;
  if (!__builtin_add_overflow(a, b, &r))
    return r;
  *ret_overflow = true;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

static int64_t bound_mul(int64_t a, int64_t b, bool *ret_overflow) {
  int64_t r;
  if (a == 0 || b == 0)
    return 0;
  bool negative = (a < 0) != (b < 0);
  if (is_infinite(a) || is_infinite(b))
    return negative ? INT64_MIN : INT64_MAX;
  if (!__builtin_mul_overflow(a, b, &r))
    return r;
  *ret_overflow = true;
  return negative ? INT64_MIN : INT64_MAX;
}

static void range_mul(struct expr *e, const struct expr *b, bool *ret_overflow) {
  int64_t corners[4] = {
      bound_mul(e->lo, b->lo, ret_overflow), bound_mul(e->lo, b->hi, ret_overflow),
      bound_mul(e->hi, b->lo, ret_overflow), bound_mul(e->hi, b->hi, ret_overflow)};
  e->lo = e->hi = corners[0];
  for (int i = 1; i < 4; i++) {
    e->lo = corners[i] < e->lo ? corners[i] : e->lo;
    e->hi = corners[i] > e->hi ? corners[i] : e->hi;
  }
}

static int64_t bound_div(int64_t a, int64_t b) {
  if (is_infinite(a))
    return a;
  return is_infinite(b) ? (a < 0 ? -1 : 0) : floor_div(a, b);
}

static void range_div(struct expr *e, const struct expr *a, const struct expr *b) {
  e->lo = INT64_MIN;
  e->hi = INT64_MAX;
  if (b->lo < 1)
    return;
  int64_t l0 = bound_div(a->lo, b->lo), l1 = bound_div(a->lo, b->hi);
  int64_t h0 = bound_div(a->hi, b->lo), h1 = bound_div(a->hi, b->hi);
  e->lo = l0 < l1 ? l0 : l1;
  e->hi = h0 > h1 ? h0 : h1;
}

static void range_mod(struct expr *e, const struct expr *a, const struct expr *b) {
  e->lo = INT64_MIN;
  e->hi = INT64_MAX;
  if (b->lo < 0)
    return;
  e->lo = 0;
  e->hi = b->hi == INT64_MAX ? INT64_MAX : b->hi > 0 ? b->hi - 1 : 0;
  if (a->lo >= 0 && a->hi < e->hi)
    e->hi = a->hi;
}

static void range_choose(struct expr *e, bool smallest) {
  for (uint32_t i = 0; i < e->count; i++) {
    const struct expr *in = e->in[i];
    if (i == 0 || (smallest ? in->lo < e->lo : in->lo > e->lo))
      e->lo = in->lo;
    if (i == 0 || (smallest ? in->hi < e->hi : in->hi > e->hi))
      e->hi = in->hi;
  }
}

static void find_range(struct expr *e) {
  bool overflow = false;
  switch (e->kind) {
  case EXPR_CONST: e->lo = e->hi = e->value; return;
  case EXPR_SYMBOL: return;
  case EXPR_ADD:
    e->lo = e->hi = 0;
    for (uint32_t i = 0; i < e->count; i++) {
      e->lo = bound_add(e->lo, e->in[i]->lo, &overflow);
      e->hi = bound_add(e->hi, e->in[i]->hi, &overflow);
    }
    break;
  case EXPR_MUL:
    e->lo = e->hi = 1;
    for (uint32_t i = 0; i < e->count; i++)
      range_mul(e, e->in[i], &overflow);
    break;
  case EXPR_FLOORDIV: range_div(e, e->in[0], e->in[1]); break;
  case EXPR_MOD: range_mod(e, e->in[0], e->in[1]); break;
  case EXPR_MIN:
  case EXPR_MAX: range_choose(e, e->kind == EXPR_MIN); break;
  }
  e->overflows = overflow;
  for (uint32_t i = 0; i < e->count; i++)
    e->overflows |= e->in[i]->overflows;
}

// ---- the table ----

static uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

static uint64_t hash_of(enum expr_kind kind, int64_t value, bool overflows, uint32_t count,
                        const struct expr *const *in) {
  uint64_t h = mix(mix(kind + 1u, (uint64_t)value), overflows);
  for (uint32_t i = 0; i < count; i++)
    h = mix(h, in[i]->id);
  return h;
}

static uint64_t hash_of_expr(const struct expr *e) {
  return hash_of(e->kind, e->value, e->kind == EXPR_CONST && e->overflows, e->count, e->in);
}

static void table_grow(struct exprs *x) {
  size_t count = x->slot_count * 2;
  const struct expr **slots = arena_array(x->arena, const struct expr *, count);
  for (size_t i = 0; i < x->slot_count; i++) {
    if (!x->slots[i])
      continue;
    size_t at = hash_of_expr(x->slots[i]) & (count - 1);
    while (slots[at])
      at = (at + 1) & (count - 1);
    slots[at] = x->slots[i];
  }
  x->slots = slots;
  x->slot_count = count;
}

static bool same_node(const struct expr *e, enum expr_kind kind, int64_t value, bool overflows,
                      uint32_t count, const struct expr *const *in) {
  if (e->kind != kind || e->value != value || e->count != count ||
      (kind == EXPR_CONST && e->overflows != overflows))
    return false;
  for (uint32_t i = 0; i < count; i++)
    if (e->in[i] != in[i])
      return false;
  return true;
}

static struct entry *entry_create(struct exprs *x, enum expr_kind kind) {
  struct entry *n = arena_new(x->arena, struct entry);
  n->e.kind = kind;
  n->e.id = x->next_id++;
  n->weight = n->depth = 1;
  return n;
}

const struct expr *expr_known_as(const struct expr *e) {
  while (entry_of(e)->equal)
    e = entry_of(e)->equal;
  return e;
}

uint32_t expr_weight(const struct expr *e) { return entry_of(e)->weight; }

static const struct expr *find_or_make(struct exprs *x, enum expr_kind kind, int64_t value,
                                       bool overflows, uint32_t count,
                                       const struct expr *const *in) {
  size_t at = hash_of(kind, value, overflows, count, in) & (x->slot_count - 1);
  for (; x->slots[at]; at = (at + 1) & (x->slot_count - 1))
    if (same_node(x->slots[at], kind, value, overflows, count, in))
      return expr_known_as(x->slots[at]);
  uint64_t weight = 1;
  uint32_t depth = 0;
  for (uint32_t i = 0; i < count; i++) {
    weight += entry_of(in[i])->weight;
    depth = entry_of(in[i])->depth > depth ? entry_of(in[i])->depth : depth;
  }
  if (weight > EXPR_MAX_WEIGHT || depth >= EXPR_MAX_DEPTH)
    return expr_unfit(x);
  struct entry *n = entry_create(x, kind);
  n->weight = (uint32_t)weight;
  n->depth = depth + 1;
  n->e.value = value;
  n->e.overflows = overflows;
  n->e.count = count;
  n->e.in = count ? arena_dup(x->arena, in, count * sizeof *in, _Alignof(void *)) : NULL;
  find_range(&n->e);
  x->slots[at] = &n->e;
  if (++x->used * 2 > x->slot_count)
    table_grow(x);
  return &n->e;
}

const struct expr *expr_intern(struct exprs *x, enum expr_kind kind, int64_t value, uint32_t count,
                               const struct expr *const *in) {
  return find_or_make(x, kind, value, false, count, in);
}

const struct expr *expr_unfit(struct exprs *x) {
  return find_or_make(x, EXPR_CONST, INT64_MAX, true, 0, NULL);
}

const struct expr *expr_const(struct exprs *x, int64_t value) {
  return find_or_make(x, EXPR_CONST, value, false, 0, NULL);
}

// ---- facts ----

static void *changeable(const void *p);

// Constants first, then symbols; then fewer nodes. So an expression never becomes one that contains
// it.
static bool is_simpler(const struct expr *a, const struct expr *b) {
  int x = a->kind == EXPR_CONST ? 0 : a->kind == EXPR_SYMBOL ? 1 : 2;
  int y = b->kind == EXPR_CONST ? 0 : b->kind == EXPR_SYMBOL ? 1 : 2;
  if (x != y)
    return x < y;
  uint32_t v = entry_of(a)->weight, w = entry_of(b)->weight;
  return v != w ? v < w : a->id < b->id;
}

const struct expr *expr_equate(const struct expr *a, const struct expr *b) {
  a = expr_known_as(a);
  b = expr_known_as(b);
  const struct expr *from = is_simpler(a, b) ? b : a, *to = from == a ? b : a;
  if (expr_is_unfit(to))
    return from;
  if (from != to && from->kind != EXPR_SYMBOL && from->kind != EXPR_CONST) {
    struct entry *n = changeable(entry_of(from));
    n->equal = to;
  }
  return to;
}

// ---- symbols ----

static const struct expr *make_symbol(struct exprs *x, struct symbol s) {
  if (s.limit && s.limit->hi != INT64_MAX && s.limit->hi - 1 < s.hi)
    s.hi = s.limit->hi - 1;
  if (s.hi < s.lo)
    s.hi = s.lo; // an empty axis: it takes no value
  s.name = arena_strdup(x->arena, s.name);
  struct entry *n = entry_create(x, EXPR_SYMBOL);
  n->e.symbol = arena_dup(x->arena, &s, sizeof s, _Alignof(struct symbol));
  n->e.lo = s.lo;
  n->e.hi = s.hi;
  return &n->e;
}

const struct expr *expr_symbol(struct exprs *x, const char *name, int64_t lo, int64_t hi,
                               const struct expr *limit) {
  return make_symbol(x, (struct symbol){.name = name, .lo = lo, .hi = hi, .limit = limit});
}

// The public fields are const; the node is on the arena of `x`, which built it.
static void *changeable(const void *p) {
  void *made;
  memcpy(&made, &p, sizeof made);
  return made;
}

const struct expr *expr_size(struct exprs *x, const char *name, int64_t lo, int64_t hi,
                             int64_t hint) {
  const struct expr *e = map_get(&x->sizes, str_from(name));
  if (e)
    return e;
  e = make_symbol(x, (struct symbol){.name = name, .lo = lo, .hi = hi, .hint = hint});
  map_put(x->arena, &x->sizes, str_from(name), changeable(e));
  return e;
}

bool expr_set_hint(struct exprs *x, const char *name, int64_t hint) {
  const struct expr *e = map_get(&x->sizes, str_from(name));
  if (e)
    ((struct symbol *)changeable(e->symbol))->hint = hint;
  return e != NULL;
}

const struct expr *expr_indirect(struct exprs *x, const char *name, const struct scalar *of,
                                 const struct expr *limit) {
  return make_symbol(
      x, (struct symbol){.name = name, .hi = INT64_MAX, .limit = limit, .indirect = of});
}
