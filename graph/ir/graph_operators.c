// SPDX-License-Identifier: Apache-2.0
// The table of operators: rows, parsed parameters, names, type promotion.
#include "graph/ir/graph_operators.h"

#include "graph/ir/compose.h"
#include "graph/ir/infer.h"

#include <pthread.h>

#define MANY OPERATOR_MANY
#define OP_NO_PART OPERATOR_COUNT
static const struct operator_row rows[OPERATOR_ALL] = {
#define OPERATOR(id, name, parameters, results, class, promotion, rule, scalar)                    \
  {OP_##id,         name, parameters, results, CLASS_##class, PROMOTE_##promotion, infer_##rule,   \
   SCALAR_##scalar, NULL, OP_NO_PART},
#include "graph/ir/graph_operators.def"
#undef OPERATOR
#define COMPOSED(id, name, parameters, results, function, part)                                    \
  {OP_##id, name,        parameters,         results,  CLASS_COMPOSED, PROMOTE_RULE,               \
   NULL,    SCALAR_NONE, compose_##function, OP_##part},
#include "graph/ir/composed.def"
};

const struct operator_row *operator_row(enum operator_id id) { return &rows[id]; }

const char *operator_class_name(enum operator_class c) {
  static const char *const names[] = {
      [CLASS_POINTWISE] = "pointwise",
      [CLASS_REDUCTION] = "reduction",
      [CLASS_VIEW] = "view",
      [CLASS_SHAPE] = "movement",
      [CLASS_CREATE] = "creation",
      [CLASS_RANDOM] = "random",
      [CLASS_GATHER] = "gather",
      [CLASS_SCATTER] = "scatter",
      [CLASS_SCAN] = "scan",
      [CLASS_PRODUCT] = "product",
      [CLASS_NORM] = "norm or loss",
      [CLASS_ATTENTION] = "attention",
      [CLASS_POOL] = "pooling",
      [CLASS_MUTATE] = "write",
      [CLASS_CONTROL] = "control flow",
      [CLASS_COMPOSED] = "composed of others",
  };
  return names[c];
}

// ---- the parsed table ----

enum { NAME_SLOTS = 2048 };

static struct {
  pthread_once_t once;
  struct parameter parameters[OPERATOR_ALL][OPERATOR_MAX_PARAMETERS];
  uint8_t counts[OPERATOR_ALL];
  uint16_t slots[NAME_SLOTS]; // 1 + id, by hash of the name
} table = {.once = PTHREAD_ONCE_INIT};

_Static_assert(OPERATOR_ALL * 2 < NAME_SLOTS, "the hash table of names is too full");

static unsigned hash_name(struct str name) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < name.len; i++)
    h = (h ^ (uint8_t)name.ptr[i]) * 16777619u;
  return (h ^ h >> 15) % NAME_SLOTS;
}

// "other:N", "dim:i[]?=None"
static struct parameter parse_parameter(struct str text, bool by_name) {
  struct parameter p = {.by_name = by_name};
  struct str type = str_split(text, ':', &p.name), head;
  p.default_text = str_split(type, '=', &head);
  p.has_default = p.default_text.ptr != NULL;
  p.type = head.ptr[0];
  for (size_t i = 1; i < head.len; i++) {
    if (head.ptr[i] == '[') {
      p.is_list = true;
      p.has_optional_elements = p.is_optional;
      p.is_optional = false;
    } else if (head.ptr[i] == '?')
      p.is_optional = true;
  }
  return p;
}

static void parse_row(const struct operator_row *row) {
  struct str rest = str_from(row->parameters);
  bool by_name = false;
  while (rest.ptr && rest.len > 0) {
    struct str one;
    rest = str_split(rest, ' ', &one);
    if (one.ptr[0] == '*') {
      by_name = true;
      one.ptr++;
      one.len--;
    }
    table.parameters[row->id][table.counts[row->id]++] = parse_parameter(one, by_name);
  }
}

static void parse_table(void) {
  for (unsigned id = 0; id < OPERATOR_ALL; id++) {
    parse_row(&rows[id]);
    unsigned at = hash_name(str_from(rows[id].name));
    while (table.slots[at])
      at = (at + 1) % NAME_SLOTS;
    table.slots[at] = (uint16_t)(id + 1);
  }
}

bool operator_find(struct str name, enum operator_id *ret) {
  pthread_once(&table.once, parse_table);
  for (unsigned at = hash_name(name); table.slots[at]; at = (at + 1) % NAME_SLOTS)
    if (str_is(name, rows[table.slots[at] - 1].name)) {
      *ret = (enum operator_id)(table.slots[at] - 1);
      return true;
    }
  return false;
}

const char *operator_nearest(struct str name) {
  const char *names[OPERATOR_ALL];
  for (unsigned id = 0; id < OPERATOR_ALL; id++)
    names[id] = rows[id].name;
  return str_nearest(name, names, OPERATOR_ALL);
}

const struct parameter *operator_parameters(enum operator_id id, size_t *ret_count) {
  pthread_once(&table.once, parse_table);
  *ret_count = table.counts[id];
  return table.parameters[id];
}

int operator_parameter(enum operator_id id, const char *name) {
  size_t count;
  const struct parameter *p = operator_parameters(id, &count);
  for (size_t i = 0; i < count; i++)
    if (str_is(p[i].name, name))
      return (int)i;
  return -1;
}

// One value of a default, not a list.
static struct arg default_element(struct graph *g, char type, struct str text) {
  int64_t integer;
  double real;
  if (str_is(text, "None"))
    return (struct arg){.kind = ARG_NONE};
  if (type == 's')
    return (struct arg){.kind = ARG_STRING, .string = text};
  if (type == 'b')
    return ARG_B(str_is(text, "True"));
  if (type != 'f' && str_to_i64(text, &integer))
    return ARG_E(expr_const(g->exprs, integer));
  return str_to_f64(text, &real) ? ARG_F(real) : (struct arg){.kind = ARG_NONE};
}

struct arg parameter_default(struct graph *g, const struct parameter *p) {
  struct str text = p->default_text;
  if (text.len < 2 || text.ptr[0] != '[')
    return default_element(g, p->type, text);
  struct arg list = {.kind = ARG_LIST};
  text = (struct str){text.ptr + 1, text.len - 2};
  list.list.at = arena_array(g->arena, struct arg, text.len);
  while (text.ptr && text.len > 0) {
    struct str one;
    text = str_split(text, ',', &one);
    list.list.at[list.list.count++] = default_element(g, p->type, one);
  }
  return list;
}

// ---- promotion ----

static bool is_half(enum dtype t) { return t == DTYPE_F16 || t == DTYPE_BF16; }

static enum dtype promote_integers(enum dtype a, enum dtype b) {
  if (dtype_bits(a) < dtype_bits(b)) {
    enum dtype t = a;
    a = b;
    b = t;
  }
  if (dtype_is_signed(a) || dtype_is_signed(a) == dtype_is_signed(b))
    if (dtype_bits(a) > dtype_bits(b) || dtype_is_signed(a) == dtype_is_signed(b))
      return a;
  // The signed dtype that holds both; none above 64 bits.
  return dtype_bits(a) == 8 ? DTYPE_I16 : dtype_bits(a) == 16 ? DTYPE_I32 : DTYPE_I64;
}

// DTYPE_NONE: none so far.
static enum dtype promote_types(enum dtype a, enum dtype b) {
  if (a == b || b == DTYPE_NONE)
    return a;
  if (a == DTYPE_NONE || a == DTYPE_I1)
    return b;
  if (b == DTYPE_I1)
    return a;
  if (!dtype_is_float(a) && !dtype_is_float(b))
    return promote_integers(a, b);
  if (!dtype_is_float(a) || !dtype_is_float(b))
    return dtype_is_float(a) ? a : b;
  if (dtype_bits(a) == dtype_bits(b))
    return is_half(a) ? DTYPE_F32 : DTYPE_F16; // f16 with bf16; one fp8 with another
  return dtype_bits(a) > dtype_bits(b) ? a : b;
}

// `weak` counts only if it is of a higher category.
static enum dtype promote_weak(enum dtype strong, enum dtype weak) {
  if (strong == DTYPE_NONE || weak == DTYPE_NONE)
    return strong == DTYPE_NONE ? weak : strong;
  if (dtype_is_float(strong))
    return strong;
  return strong == DTYPE_I1 || dtype_is_float(weak) ? promote_types(strong, weak) : strong;
}

enum dtype promote(const struct arg *args, size_t count, enum promotion p) {
  enum dtype tensors = DTYPE_NONE, rank0 = DTYPE_NONE, numbers = DTYPE_NONE, first = DTYPE_NONE;
  for (size_t i = 0; i < count; i++) {
    const struct arg *a = &args[i];
    if (a->kind == ARG_VALUE) {
      enum dtype t = a->value->dtype;
      first = first == DTYPE_NONE ? t : first;
      if (a->value->rank > 0)
        tensors = promote_types(tensors, t);
      else
        rank0 = promote_types(rank0, t);
    } else if (a->kind == ARG_INT || a->kind == ARG_FLOAT || a->kind == ARG_BOOL)
      numbers = promote_types(numbers, a->kind == ARG_INT     ? DTYPE_I64
                                       : a->kind == ARG_FLOAT ? DTYPE_F32
                                                              : DTYPE_I1);
  }
  if (p == PROMOTE_BOOL)
    return DTYPE_I1;
  if (p == PROMOTE_FIRST)
    return first;
  enum dtype t = promote_weak(promote_weak(tensors, rank0), numbers);
  return p == PROMOTE_FLOAT && !dtype_is_float(t) ? DTYPE_F32 : t;
}
