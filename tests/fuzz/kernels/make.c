// SPDX-License-Identifier: Apache-2.0
// Generates random kernels from a seed: variables, arrays, and the order of steps.
#include "make.h"

#include <math.h>
#include <string.h>

// ---- chance ----

static uint64_t next_random(struct kernel *k) { // splitmix64
  uint64_t z = k->random += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

unsigned pick(struct maker *m, unsigned n) { return (unsigned)(next_random(m->k) % n); }
bool chance(struct maker *m, unsigned in) { return pick(m, in) == 0; }

enum dtype random_type(struct maker *m) {
  static const enum dtype types[] = {DTYPE_I32,  DTYPE_I32,   DTYPE_F32, DTYPE_F32, DTYPE_F32,
                                     DTYPE_F16,  DTYPE_BF16,  DTYPE_I64, DTYPE_I16, DTYPE_I8,
                                     DTYPE_U8,   DTYPE_U16,   DTYPE_U32, DTYPE_U64, DTYPE_F64,
                                     DTYPE_F8E5, DTYPE_F8E4NV};
  return types[pick(m, COUNT_OF(types))];
}

bool shape_equal(struct shape a, struct shape b) {
  return a.rank == b.rank && memcmp(a.dim, b.dim, a.rank * sizeof *a.dim) == 0;
}

struct shape random_shape(struct maker *m, unsigned log_count) {
  struct shape s = {.rank = 1 + pick(m, chance(m, 3) ? RANK_MAX : 2)};
  for (unsigned d = 0; d < s.rank; d++)
    s.dim[d] = 1;
  for (unsigned b = 0; b < log_count; b++)
    s.dim[pick(m, s.rank)] *= 2;
  return s;
}

// ---- variables and statements ----

unsigned new_var(struct maker *m, enum dtype t, struct shape s) {
  struct kernel *k = m->k;
  if (k->var_count == VARS || shape_count(s) > COUNT_MAX)
    return NONE;
  k->vars[k->var_count] = (struct var){t, s, arena_array(k->arena, struct cell, shape_count(s))};
  return k->var_count++;
}

struct statement *put(struct maker *m, enum op op, unsigned dst, unsigned a, unsigned b) {
  if (m->block->count == BODY || dst == NONE)
    return NULL;
  struct statement *s = arena_new(m->k->arena, struct statement);
  *s = (struct statement){.op = op, .dst = {dst}, .dst_count = 1, .src = {a, b}};
  s->src_count = (a != NONE) + (b != NONE);
  m->block->at[m->block->count++] = s;
  m->pool[m->pool_count++] = dst;
  return s;
}

unsigned find(struct maker *m, bool (*fits)(const struct var *v, const void *user),
              const void *user) {
  for (unsigned n = 0; n < 24 && m->pool_count; n++) {
    unsigned recent = m->pool_count < 6 ? m->pool_count : 6;
    unsigned v =
        m->pool[chance(m, 2) ? pick(m, m->pool_count) : m->pool_count - 1 - pick(m, recent)];
    if (fits(&m->k->vars[v], user))
      return v;
  }
  return NONE;
}

static bool is_like(const struct var *v, const void *user) {
  const struct var *w = user;
  return v->type == w->type && shape_equal(v->shape, w->shape);
}

unsigned find_like(struct maker *m, enum dtype t, struct shape s) {
  return find(m, is_like, &(struct var){.type = t, .shape = s});
}

static bool is_tile(const struct var *v, const void *user) {
  (void)user;
  return v->shape.rank > 0 && v->type != DTYPE_I1;
}

unsigned any_tile(struct maker *m) { return find(m, is_tile, NULL); }

// ---- arrays ----

static double random_real(struct maker *m) { return (double)(next_random(m->k) >> 11) * 0x1p-53; }

static struct num draw(struct maker *m, enum dtype t, unsigned how) {
  if (t == DTYPE_I1)
    return num_int(t, pick(m, 2));
  if (how == 0) // any bits
    return num_kind(t) == '8' || !dtype_is_float(t) ? num_int(t, (int64_t)next_random(m->k))
                                                    : num_load(t, &(uint64_t){next_random(m->k)});
  double small = (double)pick(m, 17) - (dtype_is_signed(t) || dtype_is_float(t) ? 8 : 0);
  if (how == 1 || !dtype_is_float(t))
    return num_number(t, small);
  if (how == 3 && chance(m, 8)) // rounded ones with special ones among them
    return num_float(t, chance(m, 2)   ? (double)NAN
                        : chance(m, 2) ? (double)INFINITY
                                       : -(double)INFINITY);
  return num_number(t, (random_real(m) - 0.5) * (chance(m, 4) ? 64 : 4));
}

static unsigned way_to_draw(struct maker *m, enum dtype t, bool is_moderate) {
  bool is_small_float = num_kind(t) == '8';
  if (is_moderate)
    return 1 + pick(m, 2);
  static const unsigned ints[] = {0, 1}, floats[] = {0, 1, 2, 2, 2, 3};
  return !dtype_is_float(t) ? ints[pick(m, 2)]
         : is_small_float   ? 1 + pick(m, 2)
                            : floats[pick(m, 6)];
}

static void fill(struct maker *m, struct array *a, bool is_moderate) {
  unsigned how = way_to_draw(m, a->type, is_moderate);
  for (size_t i = 0; i < a->count; i++) {
    struct num v = draw(m, a->type, how);
    num_store(a->bytes + i * dtype_bytes(a->type), v);
    a->cells[i] = cell_of(num_load(a->type, a->bytes + i * dtype_bytes(a->type)));
  }
}

unsigned add_array(struct maker *m, enum dtype t, size_t count, bool is_output) {
  struct kernel *k = m->k;
  if (k->array_count == ARRAYS)
    return ARRAYS;
  struct array *a = &k->arrays[k->array_count];
  *a = (struct array){.type = t, .count = count, .is_output = is_output};
  a->bytes = arena_alloc(k->arena, count * dtype_bytes(t), 16);
  a->cells = arena_array(k->arena, struct cell, count);
  a->is_written = arena_array(k->arena, bool, count);
  memset(a->bytes, is_output ? 0xA5 : 0, count * dtype_bytes(t));
  memset(a->cells, 0, count * sizeof *a->cells);
  memset(a->is_written, 0, count * sizeof *a->is_written);
  return k->array_count++;
}

// ---- memory ----

static unsigned make_index(struct maker *m, struct shape s, bool is_permuted) {
  unsigned at = new_var(m, DTYPE_I32, s);
  struct statement *index = put(m, OP_INDEX, at, m->program, NONE);
  if (!index)
    return NONE;
  index->number[0] = is_permuted;
  if (!chance(m, 5)) // offsets are rarely operands
    m->pool_count--;
  return at;
}

// The part of an array that a loop iteration uses.
static unsigned shift_index(struct maker *m, unsigned at, size_t part) {
  struct shape scalar = {0}, s = m->k->vars[at].shape;
  unsigned offset = new_var(m, DTYPE_I32, scalar), moved = new_var(m, DTYPE_I32, s);
  struct statement *scale = put(m, OP_LITERAL, offset, m->counter, NONE),
                   *add = put(m, OP_BINARY, moved, at, offset);
  if (!scale || !add)
    return NONE;
  scale->word = "*";
  scale->number[0] = (int)part;
  add->word = "+";
  return moved;
}

unsigned make_load(struct maker *m, enum dtype t, struct shape s, bool is_moderate) {
  size_t count = shape_count(s) * m->k->programs;
  bool moves = m->counter != NONE && chance(m, 2);
  if (m->k->array_count + 4 > ARRAYS || m->k->var_count + 5 > VARS || m->block->count + 5 > BODY)
    return NONE;
  unsigned at = make_index(m, s, !is_moderate && chance(m, 5));
  if (at != NONE && moves)
    at = shift_index(m, at, count);
  unsigned v = new_var(m, t, s);
  if (at == NONE || v == NONE)
    return NONE;
  unsigned array = add_array(m, t, moves ? count * TRIPS_MAX : count, false);
  fill(m, &m->k->arrays[array], is_moderate);
  struct statement *load = put(m, OP_LOAD, v, at, NONE);
  load->number[0] = (int)array;
  load->number[1] = t != DTYPE_I1 && chance(m, 3);
  load->number[2] = (int)pick(m, (unsigned)count + 1);
  load->number[3] = chance(m, 2) ? 0 : 2 * (int)(1 + pick(m, 3));
  return v;
}

void make_store(struct maker *m, unsigned v) {
  struct kernel *k = m->k;
  struct shape s = k->vars[v].shape;
  unsigned at = new_var(m, DTYPE_I32, s);
  if (at == NONE || k->array_count == ARRAYS || m->block->count + 2 > BODY)
    return;
  unsigned array = add_array(m, k->vars[v].type, shape_count(s) * k->programs, true);
  struct statement *index = put(m, OP_INDEX, at, m->program, NONE);
  index->number[0] = s.rank && chance(m, 4);
  struct statement *store = put(m, OP_STORE, at, at, v);
  m->pool_count--;
  store->dst_count = 0;
  store->number[0] = (int)array;
  store->number[1] = chance(m, 4);
  store->number[2] = (int)pick(m, (unsigned)k->arrays[array].count + 1);
}

// ---- the kernel ----

void make_steps(struct maker *m, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    unsigned kind = pick(m, 16);
    if (kind < 7)
      make_elementwise(m);
    else if (kind < 9)
      make_move(m);
    else if (kind < 12)
      make_across(m);
    else if (kind < 13)
      make_dot(m);
    else if (kind < 14)
      make_atomic(m);
    else
      make_control(m);
  }
}

// Whether every launch shape computes the same bits: the order of sums of several elements depends
// on layouts.
static bool is_exact_order(const struct block *b) {
  for (unsigned i = 0; b && i < b->count; i++) {
    const struct statement *s = b->at[i];
    if ((s->op >= OP_REDUCE && s->op <= OP_DOT) || s->op == OP_ATOMIC || !is_exact_order(s->body) ||
        !is_exact_order(s->other))
      return false;
  }
  return true;
}

static void make_outputs(struct maker *m) {
  unsigned stored = 0;
  for (unsigned n = 0; n < 40 && stored < 3 && m->k->array_count < ARRAYS; n++) {
    unsigned recent = m->pool_count < 12 ? m->pool_count : 12,
             v = m->pool[m->pool_count - 1 - pick(m, recent)];
    if (n == 0)
      v = m->pool[m->pool_count - 1];
    unsigned before = m->k->array_count;
    make_store(m, v);
    stored += m->k->array_count > before;
  }
}

struct kernel *kernel_make(struct arena *a, uint64_t seed) {
  struct kernel *k = arena_new(a, struct kernel);
  *k = (struct kernel){.arena = a, .random = seed * 0xd1342543de82ef95u + 1};
  struct maker m = {.k = k, .block = &k->top, .counter = NONE};
  k->grid[0] = 1 + pick(&m, 3);
  k->grid[1] = 1 + pick(&m, 2);
  k->grid[2] = 1;
  k->programs = k->grid[0] * k->grid[1];
  k->trips = (int32_t)pick(&m, TRIPS_MAX + 1);
  m.program = new_var(&m, DTYPE_I32, (struct shape){0});
  put(&m, OP_PROGRAM, m.program, NONE, NONE);
  struct shape s = random_shape(&m, 4 + pick(&m, 7));
  make_load(&m, random_type(&m), s, false);
  make_load(&m, random_type(&m), s, false);
  make_steps(&m, 3 + pick(&m, 10));
  make_outputs(&m);
  k->is_elementwise = is_exact_order(&k->top);
  return k;
}
