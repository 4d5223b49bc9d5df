// SPDX-License-Identifier: Apache-2.0
// Random steps: each finds its operands in the pool, or creates them, and appends statements.
#include "make.h"

#include <string.h>

static const struct var *var_of(const struct maker *m, unsigned v) { return &m->k->vars[v]; }
static bool is_float(enum dtype t) { return dtype_is_float(t); }
static bool is_small_float(enum dtype t) { return num_kind(t) == '8'; }

unsigned make_cast(struct maker *m, unsigned v, enum dtype to) {
  if (v == NONE || var_of(m, v)->type == to)
    return v;
  unsigned r = new_var(m, to, var_of(m, v)->shape);
  return put(m, OP_CAST, r, v, NONE) ? r : NONE;
}

// Another operand of that shape: an existing value, a new load, or the same value.
static unsigned partner(struct maker *m, unsigned v, enum dtype t) {
  struct shape s = var_of(m, v)->shape;
  unsigned other = find_like(m, t, s);
  if (other == v)
    other = find_like(m, t, s);
  if ((other == NONE || chance(m, 6)) && s.rank && m->depth < 3) {
    unsigned loaded = make_load(m, t, s, false);
    other = loaded != NONE ? loaded : other;
  }
  return other;
}

// ---- element by element ----

static void make_binary(struct maker *m, unsigned v) {
  static const char *const ints[] = {"+", "-", "*", "&", "|", "^"}, *const floats[] = {
                                                                        "+", "-", "*", "+",
                                                                        "-", "*", "/"};
  enum dtype t = var_of(m, v)->type, other = chance(m, 3) ? random_type(m) : t;
  const char *word = is_float(t) ? floats[pick(m, 7)] : ints[pick(m, 6)];
  if (is_float(t) != is_float(other) || is_small_float(t) != is_small_float(other))
    other = t;
  if (is_small_float(t))
    other = t, word = floats[pick(m, 3)];
  unsigned w = partner(m, v, other);
  if (w == NONE)
    return;
  enum dtype to = num_promote(t, var_of(m, w)->type, word[0] == '/');
  struct statement *s = put(m, OP_BINARY, new_var(m, to, var_of(m, v)->shape), v, w);
  if (s)
    s->word = word;
}

static void make_literal(struct maker *m, unsigned v) {
  static const char *const ints[] = {"+", "-", "*", "//", "%", "<<", ">>", "&"}, *const floats[] = {
                                                                                     "+", "-", "*",
                                                                                     "/"};
  enum dtype t = var_of(m, v)->type;
  const char *word = is_float(t) ? floats[pick(m, is_small_float(t) ? 3 : 4)] : ints[pick(m, 8)];
  enum dtype to = is_float(t) && word[0] == '/' && dtype_bits(t) == 16 ? DTYPE_F32 : t;
  struct statement *s = put(m, OP_LITERAL, new_var(m, to, var_of(m, v)->shape), v, NONE);
  if (!s)
    return;
  s->word = word;
  s->number[0] = 1 + (int)pick(m, 7);
}

static void make_choice(struct maker *m, unsigned v) {
  static const char *const words[] = {"<", "<=", ">", ">=", "==", "!="};
  struct shape s = var_of(m, v)->shape;
  unsigned w = partner(m, v, var_of(m, v)->type), c = new_var(m, DTYPE_I1, s);
  struct statement *compare = w != NONE ? put(m, OP_COMPARE, c, v, w) : NULL;
  if (!compare)
    return;
  compare->word = words[pick(m, 6)];
  unsigned x = any_tile(m), y = x == NONE ? NONE : find_like(m, var_of(m, x)->type, s);
  if (y == NONE || !shape_equal(var_of(m, x)->shape, s))
    x = v, y = w;
  struct statement *where = put(m, OP_WHERE, new_var(m, var_of(m, x)->type, s), c, x);
  if (!where)
    return;
  where->src[2] = y;
  where->src_count = 3;
}

static void make_extreme(struct maker *m, unsigned v) {
  enum dtype t = var_of(m, v)->type, to = is_small_float(t) || t == DTYPE_BF16 ? DTYPE_F32 : t;
  unsigned w = partner(m, v, t);
  struct statement *s =
      w != NONE ? put(m, OP_EXTREME, new_var(m, to, var_of(m, v)->shape), v, w) : NULL;
  if (s)
    s->word = chance(m, 2) ? "maximum" : "minimum";
}

static void make_unary(struct maker *m, unsigned v) {
  static const char *const functions[] = {"-",          "tl.abs",       "tl.floor", "tl.ceil",
                                          "tl.exp",     "tl.exp2",      "tl.log",   "tl.sqrt",
                                          "tl.sigmoid", "tl.math.tanh", "tl.rsqrt", "tl.erf"};
  enum dtype t = var_of(m, v)->type;
  const char *word = is_float(t)           ? functions[pick(m, is_small_float(t) ? 1
                                                               : t == DTYPE_F64  ? 4
                                                                                 : 12)]
                     : !dtype_is_signed(t) ? "~"
                     : chance(m, 3)        ? "-"
                     : chance(m, 2)        ? "~"
                                           : "tl.abs";
  struct statement *s = put(m, OP_UNARY, new_var(m, t, var_of(m, v)->shape), v, NONE);
  if (s)
    s->word = word;
}

static void make_bitcast(struct maker *m, unsigned v) {
  static const enum dtype types[] = {DTYPE_F32,  DTYPE_I32, DTYPE_U32, DTYPE_F16,
                                     DTYPE_BF16, DTYPE_I16, DTYPE_U16, DTYPE_I64,
                                     DTYPE_F64,  DTYPE_U8,  DTYPE_I8};
  enum dtype to = types[pick(m, COUNT_OF(types))], t = var_of(m, v)->type;
  if (dtype_bits(t) == dtype_bits(to) && !is_small_float(t))
    put(m, OP_BITCAST, new_var(m, to, var_of(m, v)->shape), v, NONE);
}

void make_elementwise(struct maker *m) {
  unsigned v = any_tile(m);
  if (v == NONE)
    return;
  switch (pick(m, 10)) {
  case 0:
  case 1:
  case 2: make_binary(m, v); break;
  case 3: make_literal(m, v); break;
  case 4: make_choice(m, v); break;
  case 5: make_extreme(m, v); break;
  case 6: make_unary(m, v); break;
  case 7: make_bitcast(m, v); break;
  case 8: (void)make_load(m, random_type(m), var_of(m, v)->shape, false); break;
  default: (void)make_cast(m, v, random_type(m));
  }
}

// ---- shapes ----

static unsigned log_of(size_t n) {
  unsigned log = 0;
  while ((size_t)1 << log < n)
    log++;
  return log;
}

static void make_broadcast(struct maker *m, unsigned v) {
  struct shape s = var_of(m, v)->shape;
  unsigned axis = pick(m, s.rank + 1);
  if (s.rank == RANK_MAX)
    return;
  for (unsigned d = s.rank; d > axis; d--)
    s.dim[d] = s.dim[d - 1];
  s.dim[axis] = 1;
  s.rank++;
  unsigned e = new_var(m, var_of(m, v)->type, s);
  struct statement *expand = put(m, OP_EXPAND, e, v, NONE);
  if (!expand)
    return;
  expand->number[0] = (int)axis;
  s.dim[axis] = 1u << pick(m, 4);
  if (shape_count(s) <= 2048)
    put(m, OP_BROADCAST, new_var(m, var_of(m, v)->type, s), e, NONE);
}

static void make_trans(struct maker *m, unsigned v) {
  struct shape from = var_of(m, v)->shape, to = from;
  unsigned order[RANK_MAX] = {0};
  for (unsigned d = 0; d < from.rank; d++) {
    unsigned at = pick(m, d + 1);
    order[d] = order[at];
    order[at] = d;
  }
  for (unsigned d = 0; d < from.rank; d++)
    to.dim[d] = from.dim[order[d]];
  struct statement *s = put(m, OP_TRANS, new_var(m, var_of(m, v)->type, to), v, NONE);
  for (unsigned d = 0; s && d < from.rank; d++)
    s->number[d] = (int)order[d];
}

static void make_join(struct maker *m, unsigned v) {
  struct shape s = var_of(m, v)->shape;
  unsigned w = find_like(m, var_of(m, v)->type, s);
  if (w == NONE || s.rank == RANK_MAX || shape_count(s) > 1024)
    return;
  s.dim[s.rank++] = 2;
  put(m, OP_JOIN, new_var(m, var_of(m, v)->type, s), v, w);
}

static bool is_pair(const struct var *v, const void *user) {
  (void)user;
  return v->shape.rank > 1 && v->shape.dim[v->shape.rank - 1] == 2 && v->type != DTYPE_I1;
}

static void make_split(struct maker *m) {
  unsigned v = find(m, is_pair, NULL);
  if (v == NONE)
    return;
  struct shape s = var_of(m, v)->shape;
  s.rank--;
  unsigned a = new_var(m, var_of(m, v)->type, s), b = new_var(m, var_of(m, v)->type, s);
  struct statement *split = b != NONE ? put(m, OP_SPLIT, a, v, NONE) : NULL;
  if (!split)
    return;
  split->dst[1] = b;
  split->dst_count = 2;
  m->pool[m->pool_count++] = b;
}

static void make_gather(struct maker *m, unsigned v) {
  struct shape s = var_of(m, v)->shape;
  unsigned axis = pick(m, s.rank), at = new_var(m, DTYPE_I32, s), index = new_var(m, DTYPE_I32, s);
  struct statement *offsets = put(m, OP_INDEX, at, NONE, NONE),
                   *rest = offsets ? put(m, OP_LITERAL, index, at, NONE) : NULL;
  struct statement *gather =
      rest ? put(m, OP_GATHER, new_var(m, var_of(m, v)->type, s), v, index) : NULL;
  if (!rest)
    return;
  offsets->number[0] = 1;
  rest->word = "%";
  rest->number[0] = (int)s.dim[axis];
  if (gather)
    gather->number[0] = (int)axis;
}

static void make_flip(struct maker *m, unsigned v) {
  struct statement *s =
      put(m, OP_FLIP, new_var(m, var_of(m, v)->type, var_of(m, v)->shape), v, NONE);
  if (s)
    s->number[0] = (int)pick(m, var_of(m, v)->shape.rank);
}

void make_move(struct maker *m) {
  unsigned v = any_tile(m);
  if (v == NONE)
    return;
  switch (pick(m, 8)) {
  case 0:
  case 1:
    put(m, OP_RESHAPE,
        new_var(m, var_of(m, v)->type, random_shape(m, log_of(shape_count(var_of(m, v)->shape)))),
        v, NONE);
    break;
  case 2: make_trans(m, v); break;
  case 3: make_broadcast(m, v); break;
  case 4: make_join(m, v); break;
  case 5: make_split(m); break;
  case 6: make_gather(m, v); break;
  default: make_flip(m, v);
  }
}

// ---- across elements ----

static enum dtype sum_type(enum dtype t) {
  return is_float(t) || dtype_bits(t) >= 32 ? t : dtype_is_signed(t) ? DTYPE_I32 : DTYPE_U32;
}
static enum dtype extreme_type(enum dtype t) {
  return dtype_bits(t) >= 32 ? t : is_float(t) ? DTYPE_F32 : DTYPE_I32;
}

static struct shape without(struct shape s, unsigned axis, bool keeps) {
  if (keeps) {
    s.dim[axis] = 1;
    return s;
  }
  for (unsigned d = axis; d + 1 < s.rank; d++)
    s.dim[d] = s.dim[d + 1];
  s.rank--;
  return s;
}

static void make_reduce(struct maker *m, unsigned v) {
  static const char *const words[] = {"sum", "max", "min", "argmax", "argmin", "xor_sum"};
  enum dtype t = var_of(m, v)->type;
  unsigned axis = pick(m, var_of(m, v)->shape.rank);
  bool keeps = chance(m, 3);
  const char *word = words[pick(m, is_float(t) ? 5 : 6)];
  enum dtype to = word[0] == 's'   ? sum_type(t)
                  : word[0] == 'a' ? DTYPE_I32
                  : word[0] == 'x' ? t
                                   : extreme_type(t);
  struct statement *s =
      put(m, OP_REDUCE, new_var(m, to, without(var_of(m, v)->shape, axis, keeps)), v, NONE);
  if (!s)
    return;
  s->word = word;
  s->number[0] = (int)axis;
  s->number[1] = keeps;
}

static void make_scan(struct maker *m, unsigned v) {
  enum dtype t = var_of(m, v)->type, to = t == DTYPE_BF16 ? DTYPE_F32 : sum_type(t);
  if (is_small_float(t))
    return;
  struct statement *s = put(m, OP_SCAN, new_var(m, to, var_of(m, v)->shape), v, NONE);
  if (!s)
    return;
  s->word = "cumsum";
  s->number[0] = (int)pick(m, var_of(m, v)->shape.rank);
  s->number[1] = chance(m, 3);
}

static bool folds(enum dtype t) {
  return t == DTYPE_I32 || t == DTYPE_I64 || t == DTYPE_U32 || t == DTYPE_U64 || t == DTYPE_I16 ||
         t == DTYPE_F32 || t == DTYPE_F64 || t == DTYPE_F16;
}

static const char *fold_word(struct maker *m, enum dtype t) {
  static const char *const words[] = {"add", "max", "min", "mul", "and", "or", "xor"};
  return words[pick(m, is_float(t) ? 3 : 7)];
}

static bool of_shape(const struct var *v, const void *user) {
  return folds(v->type) && shape_equal(v->shape, *(const struct shape *)user);
}

// A reduction or scan of up to three values of mixed types.
static void make_fold(struct maker *m, unsigned v) {
  struct kernel *k = m->k;
  struct shape shape = var_of(m, v)->shape;
  if (k->combine_count == COUNT_OF(k->combines) || !folds(var_of(m, v)->type))
    return;
  struct combine c = {.count = 1 + pick(m, 3)};
  unsigned src[3] = {0}, dst[3] = {0}, axis = pick(m, shape.rank);
  bool is_scan = chance(m, 3);
  for (unsigned i = 0; i < c.count; i++) {
    src[i] = i ? find(m, of_shape, &shape) : v;
    if (src[i] == NONE)
      return;
    c.types[i] = var_of(m, src[i])->type;
    c.words[i] = fold_word(m, c.types[i]);
    dst[i] = new_var(m, c.types[i], is_scan ? shape : without(shape, axis, false));
    if (dst[i] == NONE)
      return;
  }
  struct statement *s = put(m, is_scan ? OP_FOLD_SCAN : OP_FOLD, dst[0], src[0], NONE);
  if (!s)
    return;
  for (unsigned i = 1; i < c.count; i++)
    m->pool[m->pool_count++] = dst[i];
  memcpy(s->src, src, sizeof src);
  memcpy(s->dst, dst, sizeof dst);
  s->src_count = s->dst_count = c.count;
  s->number[0] = (int)axis;
  s->number[1] = (int)k->combine_count;
  s->number[2] = is_scan && chance(m, 3);
  k->combines[k->combine_count++] = c;
}

static void make_sort(struct maker *m, unsigned v) {
  struct shape s = var_of(m, v)->shape;
  if (m->sorts++ || is_small_float(var_of(m, v)->type) || s.dim[s.rank - 1] > 64 ||
      shape_count(s) > 1024 || m->depth)
    return;
  struct statement *sort = put(m, OP_SORT, new_var(m, var_of(m, v)->type, s), v, NONE);
  if (sort)
    sort->number[0] = chance(m, 2);
}

static void make_histogram(struct maker *m) {
  unsigned v = any_tile(m);
  if (v == NONE || is_float(var_of(m, v)->type) || shape_count(var_of(m, v)->shape) > 1024)
    return;
  unsigned bins = 8u << pick(m, 3), x = make_cast(m, v, DTYPE_I32);
  struct shape flat = {1, {(unsigned)shape_count(var_of(m, v)->shape)}};
  unsigned line = x != NONE ? new_var(m, DTYPE_I32, flat) : NONE, low = new_var(m, DTYPE_I32, flat);
  struct statement *reshape = low != NONE ? put(m, OP_RESHAPE, line, x, NONE) : NULL,
                   *mask = reshape ? put(m, OP_LITERAL, low, line, NONE) : NULL;
  if (!mask)
    return;
  mask->word = "&";
  mask->number[0] = (int)bins - 1;
  struct statement *s =
      put(m, OP_HISTOGRAM, new_var(m, DTYPE_I32, (struct shape){1, {bins}}), low, NONE);
  if (s)
    s->number[0] = (int)bins;
}

void make_across(struct maker *m) {
  unsigned v = any_tile(m);
  if (v == NONE)
    return;
  switch (pick(m, 10)) {
  case 0:
  case 1:
  case 2:
  case 3: make_reduce(m, v); break;
  case 4: make_scan(m, v); break;
  case 5:
  case 6:
  case 7: make_fold(m, v); break;
  case 8: make_sort(m, v); break;
  default: make_histogram(m);
  }
}

// ---- products ----

// acc + a b with new operands, which in a loop may change each iteration.
static unsigned put_dot(struct maker *m, unsigned a, unsigned b, unsigned acc) {
  static const char *const precisions[] = {NULL, "tf32", "tf32x3", "ieee"};
  enum dtype t = var_of(m, a)->type, to = t == DTYPE_I8    ? DTYPE_I32
                                          : t == DTYPE_F64 ? t
                                                           : DTYPE_F32;
  struct shape s = {2, {var_of(m, a)->shape.dim[0], var_of(m, b)->shape.dim[1]}};
  struct statement *dot = put(m, OP_DOT, new_var(m, to, s), a, b);
  if (!dot)
    return NONE;
  if (t == DTYPE_F32)
    dot->word = precisions[pick(m, 4)];
  if (acc != NONE) {
    dot->src[2] = acc;
    dot->src_count = 3;
  }
  return dot->dst[0];
}

static unsigned random_dot(struct maker *m, unsigned a, unsigned height, unsigned width) {
  static const enum dtype types[] = {DTYPE_F16, DTYPE_F16,  DTYPE_BF16,   DTYPE_F32,
                                     DTYPE_I8,  DTYPE_F8E5, DTYPE_F8E4NV, DTYPE_F64};
  enum dtype t = a != NONE ? var_of(m, a)->type : types[pick(m, COUNT_OF(types))];
  unsigned inner = a != NONE ? var_of(m, a)->shape.dim[1] : 16u << pick(m, 2);
  if (a == NONE)
    a = make_load(m, t, (struct shape){2, {height, inner}}, true);
  unsigned b = a != NONE ? make_load(m, t, (struct shape){2, {inner, width}}, true) : NONE;
  if (b == NONE)
    return NONE;
  enum dtype to = t == DTYPE_I8 ? DTYPE_I32 : t == DTYPE_F64 ? t : DTYPE_F32;
  return put_dot(m, a, b, find_like(m, to, (struct shape){2, {height, width}}));
}

// A statement that makes `to` equal to a value of the body.
static void put_copy(struct maker *m, unsigned to, unsigned from) {
  struct statement *s = put(m, OP_COPY, to, from, NONE);
  if (s)
    m->pool_count--;
}

struct scope {
  struct block *block;
  unsigned pool_count, counter;
};

static struct scope enter(struct maker *m, struct block **ret) {
  struct scope before = {m->block, m->pool_count, m->counter};
  *ret = arena_new(m->k->arena, struct block);
  **ret = (struct block){0};
  m->block = *ret;
  m->depth++;
  return before;
}

static void leave(struct maker *m, struct scope before) {
  m->block = before.block;
  m->pool_count = before.pool_count;
  m->counter = before.counter;
  m->depth--;
}

static void choose_trips(struct maker *m, struct statement *s) {
  s->number[0] = (int)pick(m, TRIPS_MAX + 1);
  s->number[1] = chance(m, 2) ? 0 : 1 + (int)pick(m, 4);
  s->number[2] = chance(m, 2);
}

// for: acc = dot(a, b, acc), possibly pipelined.
static void make_dot_loop(struct maker *m) {
  unsigned height = 16u << pick(m, 2), width = 16u << pick(m, 2);
  unsigned acc = new_var(m, DTYPE_F32, (struct shape){2, {height, width}}),
           counter = new_var(m, DTYPE_I32, (struct shape){0});
  struct statement *zero = counter != NONE ? put(m, OP_FULL, acc, NONE, NONE) : NULL,
                   *loop = zero ? put(m, OP_FOR, counter, NONE, NONE) : NULL;
  if (!loop)
    return;
  choose_trips(m, loop);
  struct scope before = enter(m, &loop->body);
  m->counter = counter;
  static const enum dtype types[] = {DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_F8E5};
  enum dtype t = types[pick(m, 4)];
  unsigned inner = 16u << pick(m, 2);
  unsigned a = make_load(m, t, (struct shape){2, {height, inner}}, true),
           b = a != NONE ? make_load(m, t, (struct shape){2, {inner, width}}, true) : NONE;
  unsigned sum = b != NONE ? put_dot(m, a, b, acc) : NONE;
  if (sum != NONE)
    put_copy(m, acc, sum);
  else
    put_copy(m, acc, acc);
  leave(m, before);
  m->pool_count--; // the counter
}

void make_dot(struct maker *m) {
  unsigned height = 16u << pick(m, 2), width = 16u << pick(m, 2);
  m->k->has_dot = true;
  if (m->depth == 0 && chance(m, 2)) {
    make_dot_loop(m);
    return;
  }
  unsigned c = random_dot(m, NONE, height, width);
  if (c == NONE || chance(m, 2) || m->depth)
    return;
  unsigned half = var_of(m, c)->type == DTYPE_F32
                      ? make_cast(m, c, chance(m, 2) ? DTYPE_F16 : DTYPE_BF16)
                      : NONE; // as attention does
  if (half != NONE)
    (void)random_dot(m, half, height, 16u << pick(m, 2));
}

// ---- atomics ----

static bool is_counted(const struct var *v, const void *user) {
  (void)user;
  return v->shape.rank > 0 &&
         (v->type == DTYPE_I32 || v->type == DTYPE_I64 || v->type == DTYPE_U32 ||
          v->type == DTYPE_U64 || v->type == DTYPE_F32);
}

void make_atomic(struct maker *m) {
  static const char *const words[] = {"add", "max", "min", "and", "or", "xor"};
  unsigned v = find(m, is_counted, NULL);
  if (v == NONE || m->k->array_count + 4 > ARRAYS || m->block->count + 3 > BODY)
    return;
  enum dtype t = var_of(m, v)->type;
  unsigned at = new_var(m, DTYPE_I32, var_of(m, v)->shape);
  struct statement *index = put(m, OP_INDEX, at, chance(m, 2) ? m->program : NONE, NONE),
                   *s = index ? put(m, OP_ATOMIC, at, at, v) : NULL;
  if (!s)
    return;
  m->pool_count--;
  s->dst_count = 0;
  s->word = words[is_float(t) ? 0 : pick(m, 6)];
  s->number[1] = 1 << pick(m, 7);
  s->number[0] = (int)add_array(m, t, (size_t)s->number[1], true);
  struct array *a = &m->k->arrays[s->number[0]];
  memset(a->bytes, 0, a->count * dtype_bytes(t));
  memset(a->is_written, 1, a->count);
  if (is_float(t)) {
    a->sums = arena_array(m->k->arena, struct atomic_sum, a->count);
    memset(a->sums, 0, a->count * sizeof *a->sums);
  }
}

// ---- control flow ----

// The end of a body: assigns `carried` a value of the body with its type and shape.
static void carry(struct maker *m, unsigned carried) {
  const struct var *c = var_of(m, carried);
  unsigned v = NONE;
  for (unsigned n = 0; n < 8 && v == NONE; n++) {
    unsigned x = any_tile(m);
    if (x != NONE && shape_equal(var_of(m, x)->shape, c->shape))
      v = make_cast(m, x, c->type);
  }
  put_copy(m, carried, v == NONE ? carried : v);
}

static void make_loop(struct maker *m, unsigned carried) {
  unsigned counter = new_var(m, DTYPE_I32, (struct shape){0});
  bool is_while = chance(m, 4);
  struct statement *loop = put(m, is_while ? OP_WHILE : OP_FOR, counter, NONE, NONE);
  if (!loop)
    return;
  choose_trips(m, loop);
  struct scope before = enter(m, &loop->body);
  m->counter = counter;
  make_steps(m, 1 + pick(m, 4));
  carry(m, carried);
  leave(m, before);
  m->pool_count--; // the counter
}

// A condition on the program's number or the loop counter.
static unsigned make_condition(struct maker *m) {
  struct shape scalar = {0};
  unsigned from = m->counter != NONE && chance(m, 2) ? m->counter : m->program,
           bit = new_var(m, DTYPE_I32, scalar), c = new_var(m, DTYPE_I1, scalar);
  struct statement *mask = c != NONE ? put(m, OP_LITERAL, bit, from, NONE) : NULL;
  if (!mask || !put(m, OP_CAST, c, bit, NONE))
    return NONE;
  mask->word = "&";
  mask->number[0] = 1 + (int)pick(m, 3);
  return c;
}

static void make_if(struct maker *m, unsigned carried) {
  unsigned c = make_condition(m);
  struct statement *s = c != NONE ? put(m, OP_IF, c, c, NONE) : NULL;
  if (!s)
    return;
  m->pool_count--;
  s->dst_count = 0;
  struct scope before = enter(m, &s->body);
  make_steps(m, 1 + pick(m, 3));
  carry(m, carried);
  leave(m, before);
  if (chance(m, 3))
    return;
  before = enter(m, &s->other);
  make_steps(m, 1 + pick(m, 3));
  carry(m, carried);
  leave(m, before);
}

void make_control(struct maker *m) {
  unsigned v = any_tile(m);
  if (v == NONE || m->depth == 2 || m->k->var_count + 30 > VARS ||
      shape_count(var_of(m, v)->shape) > 2048)
    return;
  unsigned carried = new_var(m, var_of(m, v)->type, var_of(m, v)->shape);
  if (!put(m, OP_COPY, carried, v, NONE))
    return;
  if (chance(m, 2))
    make_loop(m, carried);
  else
    make_if(m, carried);
}
