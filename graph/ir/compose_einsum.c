// SPDX-License-Identifier: Apache-2.0
// Composed einsum: operands are combined from left to right, each pair by a batched product. Its
// batch are the letters that both have and that are needed later; the letters that both have and
// nothing needs later are summed.
#include "graph/ir/compose.h"

enum { LETTERS = 64, ELLIPSIS = 52 }; // a-z, A-Z, then the dimensions of `...`, the last one first

struct term {
  struct value *x;
  uint32_t count;
  uint8_t at[GRAPH_MAX_RANK]; // the letter of each dimension
};

struct einsum {
  struct build *b;
  const struct node *n;
  struct term out; // x unused
  const struct expr *size[LETTERS];
};

static int letter_of(char c) {
  return c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? 26 + c - 'A' : -1;
}

// "ab...c", for an operand of `rank` dimensions. False: it does not fit.
static bool read_term(struct str text, uint32_t rank, struct term *ret) {
  uint32_t letters = 0;
  ret->count = 0;
  for (size_t i = 0; i < text.len; i++)
    letters += letter_of(text.ptr[i]) >= 0;
  for (size_t i = 0; i < text.len; i++) {
    int letter = letter_of(text.ptr[i]);
    if (text.ptr[i] == ' ')
      continue;
    if (text.ptr[i] == '.') {
      if (i + 2 >= text.len || text.ptr[i + 1] != '.' || rank < letters ||
          rank - letters > LETTERS - ELLIPSIS)
        return false;
      for (uint32_t k = rank - letters; k-- > 0;)
        ret->at[ret->count++] = (uint8_t)(ELLIPSIS + k);
      i += 2;
      continue;
    }
    if (letter < 0 || ret->count == GRAPH_MAX_RANK)
      return false;
    ret->at[ret->count++] = (uint8_t)letter;
  }
  return ret->count == rank;
}

static int find(const struct term *t, uint8_t letter) {
  for (uint32_t i = 0; i < t->count; i++)
    if (t->at[i] == letter)
      return (int)i;
  return -1;
}

// Dimensions of one letter become their diagonal.
static void take_diagonals(struct einsum *e, struct term *t) {
  for (uint32_t i = 0; i < t->count; i++)
    for (uint32_t k = i + 1; k < t->count; k++) {
      if (t->at[i] != t->at[k])
        continue;
      uint8_t letter = t->at[i];
      t->x = BUILD(e->b, OP_DIAGONAL, TENSOR(t->x), arg_int(e->b->g, 0), arg_int(e->b->g, i),
                   arg_int(e->b->g, k));
      for (uint32_t d = k; d + 1 < t->count; d++)
        t->at[d] = t->at[d + 1];
      for (uint32_t d = i; d + 2 < t->count; d++)
        t->at[d] = t->at[d + 1];
      t->count--;
      t->at[t->count - 1] = letter;
      i = (uint32_t)-1; // again from the start
      break;
    }
}

static void sum_letters(struct einsum *e, struct term *t, const bool *needed) {
  struct dims d = {0};
  uint32_t kept = 0;
  for (uint32_t i = 0; i < t->count; i++)
    if (!needed[t->at[i]])
      d.at[d.count++] = i;
    else
      t->at[kept++] = t->at[i];
  t->count = kept;
  t->x = build_sum(e->b, t->x, &d, false);
}

static void note(const struct term *t, bool *ret) {
  for (uint32_t i = 0; i < t->count; i++)
    ret[t->at[i]] = true;
}

// The operand's dimensions of three lists of letters, as [batch, rows, columns].
static struct value *matrices(struct einsum *e, const struct term *t, const struct term *lists) {
  struct dims order = {0};
  const struct expr *shape[3], *wide[GRAPH_MAX_RANK];
  for (uint32_t k = 0; k < 3; k++) {
    shape[k] = compose_const(e->b, 1);
    for (uint32_t i = 0; i < lists[k].count; i++) {
      uint8_t letter = lists[k].at[i];
      order.at[order.count++] = (uint32_t)find(t, letter);
      shape[k] = expr_mul(e->b->g->exprs, shape[k], e->size[letter]);
    }
  }
  for (uint32_t i = 0; i < t->count; i++)
    wide[i] = e->size[t->at[i]];
  struct value *x = build_permute(e->b, build_expand(e->b, t->x, t->count, wide), &order);
  return BUILD(e->b, OP_RESHAPE, TENSOR(x), arg_exprs(e->b->g, 3, shape));
}

static void append(struct term *t, uint8_t letter) { t->at[t->count++] = letter; }

// `needed`: letters of later operands and of the result.
static struct term combine(struct einsum *e, struct term x, struct term y, const bool *needed) {
  struct term batch = {0}, inner = {0}, rows = {0}, columns = {0};
  bool of_x[LETTERS] = {false}, of_y[LETTERS] = {false}, keep_x[LETTERS], keep_y[LETTERS];
  note(&x, of_x), note(&y, of_y);
  for (int i = 0; i < LETTERS; i++)
    keep_x[i] = needed[i] || of_y[i], keep_y[i] = needed[i] || of_x[i];
  sum_letters(e, &x, keep_x);
  sum_letters(e, &y, keep_y);
  for (uint32_t i = 0; i < x.count; i++)
    append(find(&y, x.at[i]) < 0 ? &rows : needed[x.at[i]] ? &batch : &inner, x.at[i]);
  for (uint32_t i = 0; i < y.count; i++)
    if (find(&x, y.at[i]) < 0)
      append(&columns, y.at[i]);
  struct value *a = matrices(e, &x, (struct term[]){batch, rows, inner});
  struct value *c = matrices(e, &y, (struct term[]){batch, inner, columns});
  struct term out = {.x = inner.count ? build_binop(e->b, OP_BMM, a, c) : build_mul(e->b, a, c)};
  const struct expr *shape[GRAPH_MAX_RANK];
  const struct term *lists[] = {&batch, &rows, &columns};
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t i = 0; i < lists[k]->count && out.count < GRAPH_MAX_RANK; i++) {
      shape[out.count] = e->size[lists[k]->at[i]];
      append(&out, lists[k]->at[i]);
    }
  out.x = BUILD(e->b, OP_RESHAPE, TENSOR(out.x), arg_exprs(e->b->g, out.count, shape));
  return out;
}

// Without `->`: `...`, then the letters that appear once, in alphabetical order: capitals first.
static void implicit_result(const struct term *terms, size_t count, struct term *ret) {
  unsigned uses[LETTERS] = {0};
  for (size_t i = 0; i < count; i++)
    for (uint32_t d = 0; d < terms[i].count; d++)
      uses[terms[i].at[d]]++;
  for (int i = LETTERS - 1; i >= ELLIPSIS; i--)
    if (uses[i] && ret->count < GRAPH_MAX_RANK)
      append(ret, (uint8_t)i);
  for (int i = 0; i < ELLIPSIS; i++) {
    int letter = (i + 26) % ELLIPSIS;
    if (uses[letter] == 1 && ret->count < GRAPH_MAX_RANK)
      append(ret, (uint8_t)letter);
  }
}

static bool read_equation(struct einsum *e, struct str text, struct term *terms, size_t count) {
  struct str inputs = text, result = {0};
  for (size_t i = 0; i + 1 < text.len; i++)
    if (text.ptr[i] == '-' && text.ptr[i + 1] == '>') {
      inputs = (struct str){text.ptr, i};
      result = (struct str){text.ptr + i + 2, text.len - i - 2};
      break;
    }
  for (size_t i = 0; i < count; i++) {
    struct str one;
    if (!inputs.ptr)
      return false;
    inputs = str_split(inputs, ',', &one);
    if (!read_term(one, terms[i].x->rank, &terms[i]))
      return false;
    for (uint32_t d = 0; d < terms[i].count; d++) {
      const struct expr **size = &e->size[terms[i].at[d]];
      if (!*size || expr_is(*size, 1))
        *size = terms[i].x->shape[d];
    }
  }
  if (inputs.ptr && inputs.len)
    return false;
  if (!result.ptr)
    return implicit_result(terms, count, &e->out), true;
  uint32_t rank = 0;
  for (size_t i = 0; i < result.len; i++)
    rank += letter_of(result.ptr[i]) >= 0;
  for (int i = ELLIPSIS; i < LETTERS && memchr(result.ptr, '.', result.len); i++)
    rank += e->size[i] != NULL;
  if (!read_term(result, rank, &e->out))
    return false;
  for (uint32_t i = 0; i < e->out.count; i++)
    if (!e->size[e->out.at[i]])
      return false;
  return true;
}

// equation tensors path
void compose_einsum(struct build *b, struct node *n) {
  struct einsum e = {.b = b, .n = n};
  const struct arg *list;
  size_t count = node_list(n, 1, &list);
  struct term *terms = arena_array(b->g->arena, struct term, count + 1);
  for (size_t i = 0; i < count; i++)
    terms[i].x = list[i].value;
  if (count == 0 || !read_equation(&e, n->args[0].string, terms, count)) {
    compose_error(b, n, E1003, "the equation `%.*s` does not fit the operands",
                  STR_ARG(n->args[0].string));
    return;
  }
  for (size_t i = 0; i < count; i++)
    take_diagonals(&e, &terms[i]);
  struct term all = terms[0];
  for (size_t i = 1; i <= count; i++) {
    bool needed[LETTERS] = {false};
    note(&e.out, needed);
    for (size_t k = i + 1; k < count; k++)
      note(&terms[k], needed);
    if (i < count)
      all = combine(&e, all, terms[i], needed);
    else
      sum_letters(&e, &all, needed);
    if (!all.x)
      return;
  }
  struct dims order = {0};
  for (uint32_t i = 0; i < e.out.count; i++) {
    int at = find(&all, e.out.at[i]);
    if (at < 0) {
      compose_error(b, n, E1003, "a letter of the result is in no operand");
      return;
    }
    order.at[order.count++] = (uint32_t)at;
  }
  n->results[0] = build_permute(b, all.x, &order);
  if (n->results[0] == list[0].value)
    n->results[0] = BUILD(b, OP_ALIAS, TENSOR(n->results[0]));
}
