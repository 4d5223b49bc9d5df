// SPDX-License-Identifier: Apache-2.0
// Prints expression trees as statements and expressions.
// Recursion is the algorithm: a value is loaded at an offset, and an offset may be computed from
// values.
#include "graph/emit/graph_emit.h"

#include <inttypes.h>

// The name of an expression tree, valid while the scope of its statement is open.
struct emit_known {
  struct text text;
  unsigned level;
  uint32_t serial;
  bool is_given; // valid under any guard
  const struct load_guard *guard;
  struct emit_known *next;
};

struct text text_atom(const char *s) {
  bool is_name = true;
  for (const char *c = s; *c; c++)
    is_name = is_name && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                          (*c >= '0' && *c <= '9') || *c == '_');
  return (struct text){s, PREC_ATOM, is_name, false, false};
}

const char *text_within(struct emitter *e, struct text t, enum precedence at_most) {
  return t.prec <= at_most ? t.s : arena_printf(e->arena, "(%s)", t.s);
}

// ---- dependence on axes ----

static struct emit_info *info_of(struct emitter *e, const struct scalar *v);

static void add_symbols(struct emitter *e, const struct expr *x, struct emit_info *i) {
  if (x->kind == EXPR_SYMBOL) {
    for (unsigned a = 0; a < e->axis_count; a++)
      if (e->axes[a].axis == x) {
        i->axes |= 1u << a;
        i->level = e->axes[a].level > i->level ? e->axes[a].level : i->level;
      }
    if (x->symbol->indirect) {
      const struct emit_info *of = info_of(e, x->symbol->indirect);
      i->axes |= of->axes;
      i->level = of->level > i->level ? of->level : i->level;
    }
  }
  for (uint32_t k = 0; k < x->count; k++)
    add_symbols(e, x->in[k], i);
}

static struct emit_info *info_of(struct emitter *e, const struct scalar *v) {
  struct emit_info *i = ptrmap_get(&e->infos, v);
  if (i)
    return i;
  i = arena_new(e->arena, struct emit_info);
  if (v->index)
    add_symbols(e, v->index, i);
  for (unsigned k = 0; k < scalar_arity(v); k++) {
    const struct emit_info *of = info_of(e, v->in[k]);
    i->axes |= of->axes;
    i->level = of->level > i->level ? of->level : i->level;
  }
  ptrmap_put(e->arena, &e->infos, v, i);
  return i;
}

uint32_t emit_axes_of(struct emitter *e, const struct scalar *v) { return info_of(e, v)->axes; }

uint32_t emit_index_axes(struct emitter *e, const struct expr *offset) {
  struct emit_info i = {0};
  add_symbols(e, offset, &i);
  return i.axes;
}

// ---- uses ----

static void count_symbols(struct emitter *e, const struct expr *x) {
  if (x->kind == EXPR_SYMBOL && x->symbol->indirect)
    emit_count(e, x->symbol->indirect);
  for (uint32_t k = 0; k < x->count; k++)
    count_symbols(e, x->in[k]);
}

void emit_count(struct emitter *e, const struct scalar *v) {
  struct emit_info *i = info_of(e, v);
  if (i->uses++)
    return;
  if (v->index)
    count_symbols(e, v->index);
  for (unsigned k = 0; k < scalar_arity(v); k++)
    emit_count(e, v->in[k]);
}

// ---- names ----

static struct emit_known *find_known(struct emitter *e, const struct scalar *v) {
  for (struct emit_known *k = ptrmap_get(&e->known, v); k; k = k->next)
    if (e->scopes[k->level].serial == k->serial && k->level <= e->depth &&
        (k->guard == e->guard || k->is_given || !v->has_load))
      return k;
  return NULL;
}

static void note(struct emitter *e, const struct scalar *v, struct text t, unsigned level,
                 const struct load_guard *guard) {
  struct emit_known *k = arena_new(e->arena, struct emit_known);
  *k = (struct emit_known){t,     level, e->scopes[level].serial,
                           false, guard, ptrmap_get(&e->known, v)};
  ptrmap_put(e->arena, &e->known, v, k);
}

void emit_given(struct emitter *e, const struct scalar *v, const char *text, uint32_t axes,
                unsigned level) {
  assert(level < EMIT_SCOPES && axes >> e->axis_count == 0);
  struct emit_info *i = info_of(e, v);
  i->axes = axes;
  i->level = level;
  note(e, v, text_atom(text), level, NULL);
  ((struct emit_known *)ptrmap_get(&e->known, v))->is_given = true;
}

static unsigned guard_level(struct emitter *e) {
  unsigned level = 0;
  for (const struct load_guard *g = e->guard; g; g = g->outer) {
    unsigned of = info_of(e, g->condition)->level;
    level = of > level ? of : level;
  }
  return level;
}

static struct text name_it(struct emitter *e, const struct scalar *v, struct text t) {
  unsigned level = info_of(e, v)->level, guarded = v->has_load ? guard_level(e) : 0;
  level = guarded > level ? guarded : level;
  const char *name = arena_printf(e->arena, "v%" PRIu32, e->next_value++);
  emit_line(e, level, "%s = %s", name, t.s);
  struct text named = text_atom(name);
  named.is_narrow = t.is_narrow;
  note(e, v, named, level, e->guard);
  return named;
}

// ---- loads ----

const char *emit_mask(struct emitter *e, uint32_t axes) {
  const char *mask = NULL;
  for (unsigned a = 0; a < e->axis_count; a++) {
    const struct emit_axis *axis = &e->axes[a];
    if (!(axes >> a & 1) || !axis->mask)
      continue;
    mask = mask ? arena_printf(e->arena, "%s & %s", mask, axis->mask) : axis->mask;
  }
  return mask;
}

static const char *with_guards(struct emitter *e, const char *mask) {
  const struct load_guard *all = e->guard;
  for (const struct load_guard *g = all; g; g = g->outer) {
    e->guard = g->outer;
    struct text t = emit_value(e, g->condition);
    const char *s = text_within(e, t, PREC_AND);
    mask = mask ? arena_printf(e->arena, "%s & %s", mask, s) : s;
  }
  e->guard = all;
  return mask;
}

static uint32_t guard_axes(struct emitter *e) {
  uint32_t axes = 0;
  for (const struct load_guard *g = e->guard; g; g = g->outer)
    axes |= info_of(e, g->condition)->axes;
  return axes;
}

// The address of an element; as a tile over `axes` also where the offset does not depend on them,
// so that a mask has the same shape.
static const char *pointer_text(struct emitter *e, struct buffer *b, const struct expr *offset,
                                uint32_t axes) {
  uint32_t own = emit_index_axes(e, offset);
  struct text at = emit_index(e, offset);
  const char *base = emit_buffer(e, b);
  const char *s = at.is_number && strcmp(at.s, "0") == 0
                      ? base
                      : arena_printf(e->arena, "%s + %s", base, text_within(e, at, PREC_TERM));
  if (at.prec == PREC_SUM)
    s = arena_printf(e->arena, "%s + %s", base, at.s);
  for (unsigned a = 0; a < e->axis_count; a++)
    if ((axes & ~own) >> a & 1)
      s = arena_printf(e->arena, "%s + 0 * %s", s, e->axes[a].name);
  return s;
}

static struct text load(struct emitter *e, const struct scalar *v, const char *other) {
  uint32_t axes = info_of(e, v)->axes, guarded = guard_axes(e);
  const char *mask = with_guards(e, emit_mask(e, axes | guarded));
  const char *s = pointer_text(e, v->buffer, v->index, guarded);
  bool hinted = e->load_hint && e->hinted_axes && (axes & e->hinted_axes) == e->hinted_axes;
  return text_atom(arena_printf(e->arena, "tl.load(%s%s%s%s%s%s%s)", s, mask ? ", mask=" : "",
                                mask ? mask : "", mask && other ? ", other=" : "",
                                mask && other ? other : "", hinted ? ", " : "",
                                hinted ? e->load_hint : ""));
}

// ---- guards ----

static struct text guarded_value(struct emitter *e, const struct scalar *condition,
                                 const struct scalar *v) {
  const struct load_guard *before = e->guard;
  if (v->has_load)
    e->guard = load_guard_for(e->arena, &e->guards, e->guard, condition);
  struct text t = emit_value(e, v);
  e->guard = before;
  return t;
}

static bool is_zero(const struct scalar *v) {
  if (v->kind != SCALAR_CONST)
    return false;
  return dtype_is_float(v->dtype) ? v->constant.real == 0 : v->constant.integer == 0;
}

// A load, or a conversion of one, that gives 0 where it is masked.
static bool loads_zero(const struct scalar *v) {
  return v->kind == SCALAR_LOAD || (v->kind == SCALAR_CONVERT && loads_zero(v->in[0]));
}

// Loaded elsewhere, without this mask.
static bool is_given(struct emitter *e, const struct scalar *v) {
  const struct emit_known *k = find_known(e, v);
  return (k && k->is_given) || (v->kind == SCALAR_CONVERT && is_given(e, v->in[0]));
}

static struct text masked(struct emitter *e, const struct scalar *v) {
  emit_name(e, v->in[0]);
  struct text value = guarded_value(e, v->in[0], v->in[1]);
  if (loads_zero(v->in[1]) && is_zero(v->in[2]) && !is_given(e, v->in[1]))
    return value;
  struct text condition = emit_value(e, v->in[0]), other = emit_value(e, v->in[2]);
  if (value.is_narrow && dtype_bits(v->dtype) > 32)
    value = text_atom(arena_printf(e->arena, "%s.to(tl.int64)", text_within(e, value, PREC_ATOM)));
  struct text t =
      text_atom(arena_printf(e->arena, "tl.where(%s, %s, %s)", condition.s, value.s, other.s));
  if (value.is_number && other.is_number)
    t = text_atom(arena_printf(e->arena, "%s.to(%s)", t.s, emit_type(v->dtype)));
  return t;
}

// ---- expression trees ----

static struct text convert(struct emitter *e, const struct scalar *v) {
  struct text t = emit_value(e, v->in[0]);
  if (t.is_narrow && v->dtype == DTYPE_I64)
    return t;
  if (t.is_number) // a literal has no methods
    return text_atom(arena_printf(e->arena, "tl.full([], %s, %s).to(%s)", t.s,
                                  emit_type(v->in[0]->dtype), emit_type(v->dtype)));
  return text_atom(
      arena_printf(e->arena, "%s.to(%s)", text_within(e, t, PREC_ATOM), emit_type(v->dtype)));
}

static struct text whole(struct emitter *e, const struct scalar *v) {
  switch (v->kind) {
  case SCALAR_CONST: return emit_literal(e, v);
  case SCALAR_INDEX: return emit_index(e, v->index);
  case SCALAR_LOAD: return load(e, v, NULL);
  case SCALAR_APPLY: return emit_apply(e, v);
  case SCALAR_CONVERT: return convert(e, v);
  case SCALAR_MASKED: return masked(e, v);
  case SCALAR_RANDOM: {
    const char *seed = emit_seed(e, v->which);
    return text_atom(arena_printf(e->arena, "tl.rand(%s, %s)", seed, emit_index(e, v->index).s));
  }
  }
  UNREACHABLE();
}

static bool wants_name(struct emitter *e, const struct scalar *v, struct text t) {
  if (t.is_name || v->kind == SCALAR_CONST)
    return false;
  if (v->kind == SCALAR_LOAD || v->kind == SCALAR_RANDOM)
    return true;
  const struct emit_info *i = info_of(e, v);
  // Half-precision values stay in half precision between their uses.
  bool is_short = v->kind == SCALAR_CONVERT && loads_zero(v);
  if (v->kind == SCALAR_INDEX)
    return i->uses > 1 && strlen(t.s) > 24;
  return (i->uses > 1 && !is_short) || strlen(t.s) > EMIT_WIDTH || i->level < e->depth;
}

struct text emit_value(struct emitter *e, const struct scalar *v) {
  const struct emit_known *k = find_known(e, v);
  if (k)
    return k->text;
  struct text t = whole(e, v);
  return wants_name(e, v, t) ? name_it(e, v, t) : t;
}

const char *emit_operand(struct emitter *e, const struct scalar *v, enum precedence at_most) {
  return text_within(e, emit_value(e, v), at_most);
}

const char *emit_name(struct emitter *e, const struct scalar *v) {
  struct text t = emit_value(e, v);
  return t.is_name || t.is_number ? t.s : name_it(e, v, t).s;
}

// ---- stores ----

void emit_scatter_store(struct emitter *e, struct buffer *b, const struct expr *offset,
                        const struct scalar *v, const struct scalar *predicate, bool accumulates) {
  struct text value = emit_value(e, v);
  uint32_t axes = emit_axes_of(e, v) | emit_index_axes(e, offset);
  const char *mask = NULL;
  if (predicate) {
    axes |= emit_axes_of(e, predicate);
    mask = emit_operand(e, predicate, PREC_AND);
  }
  const char *inside = emit_mask(e, axes);
  mask = mask && inside ? arena_printf(e->arena, "%s & %s", inside, mask) : inside ? inside : mask;
  const char *at = pointer_text(e, b, offset, axes);
  assert(!predicate || predicate->dtype == DTYPE_I1);
  const char *what = value.s;
  if (accumulates && value.is_number)
    what = arena_printf(e->arena, "tl.full([], %s, %s)", value.s, emit_type(v->dtype));
  emit_line(e, e->depth, "tl.%s(%s, %s%s%s%s%s%s)", accumulates ? "atomic_add" : "store", at, what,
            mask ? ", mask=" : "", mask ? mask : "", accumulates ? ", sem=\"relaxed\"" : "",
            !accumulates && e->store_hint ? ", " : "",
            !accumulates && e->store_hint ? e->store_hint : "");
  if (!accumulates)
    vec_last(&e->scopes[e->depth].lines).stores = emit_parameter(e, b);
}

void emit_store_value(struct emitter *e, struct buffer *b, const struct expr *offset,
                      const struct scalar *v) {
  emit_scatter_store(e, b, offset, v, NULL, false);
}
