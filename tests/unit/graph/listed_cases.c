// SPDX-License-Identifier: Apache-2.0
// Reads files of cases and builds graphs from them.
#include "listed_cases.h"

#include <check.h>
#include <stdlib.h>

// ---- reading the list ----

static struct str next_line(struct str *rest) {
  const char *end = memchr(rest->ptr, '\n', rest->len);
  struct str line = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
  size_t taken = line.len + (end != NULL);
  *rest = (struct str){rest->ptr + taken, rest->len - taken};
  return line;
}

// The type ends at the last bracket.
static void read_listed(struct str line, struct listed *ret) {
  char text[4096];
  *ret = (struct listed){0};
  if (str_is(line, "None"))
    return;
  ck_assert_uint_lt(line.len, sizeof text);
  memcpy(text, line.ptr, line.len);
  text[line.len] = 0;
  char *numbers = strrchr(text, ']');
  ck_assert_ptr_nonnull(numbers);
  ret->type = (struct str){line.ptr, (size_t)(numbers + 1 - text)};
  // Complex elements are pairs of numbers.
  bool is_real = *text == 'f' || *text == 'c' || strncmp(text, "bf", 2) == 0;
  for (char *p = numbers + 1, *end; *p; p = end) {
    ck_assert_int_lt(ret->count, CASE_ELEMENTS);
    if (is_real)
      ret->at[ret->count++].real = strtod(p, &end);
    else
      ret->at[ret->count++].integer = strtoll(p, &end, 10);
    ck_assert_ptr_ne(end, p);
  }
}

// "$NAME TENSOR"
static void read_name(struct case_reader *r, struct str line) {
  struct str name, tensor = str_split(line, ' ', &name);
  ck_assert_uint_lt(r->name_count, CASE_NAMES);
  r->names[r->name_count] = name;
  r->tensors[r->name_count++] = tensor;
}

static struct str tensor_text(const struct case_reader *r, struct str line) {
  for (unsigned i = 0; *line.ptr == '$' && i < r->name_count; i++)
    if (str_eq(line, r->names[i]))
      return r->tensors[i];
  return line;
}

bool case_read(struct case_reader *r, struct listed_case *ret) {
  struct str *rest = &r->rest;
  ret->in_count = ret->out_count = 0;
  for (;;) {
    if (rest->len == 0)
      return false;
    ret->call = next_line(rest);
    if (ret->call.len > 0 && *ret->call.ptr == '$')
      read_name(r, ret->call);
    else if (ret->call.len > 0 && *ret->call.ptr != '#')
      break;
  }
  while (rest->len > 0 && (*rest->ptr == ' ' || *rest->ptr == '=')) {
    struct str line = next_line(rest);
    bool is_result = *line.ptr == '=';
    struct listed *to = is_result ? &ret->out[ret->out_count++] : &ret->in[ret->in_count++];
    ck_assert_uint_le(ret->in_count, CASE_TENSORS);
    read_listed(tensor_text(r, (struct str){line.ptr + 2, line.len - 2}), to);
  }
  return true;
}

// ---- as graphs ----

enum operator_id case_operator(const struct listed_case *c) {
  enum operator_id op;
  struct str name = {c->call.ptr,
                     (size_t)((const char *)memchr(c->call.ptr, '(', c->call.len) - c->call.ptr)};
  ck_assert_msg(operator_find(name, &op), "%.*s", STR_ARG(name));
  return op;
}

bool case_has_tuple(const struct listed_case *c) {
  return operator_row(case_operator(c))->results != 1;
}

static void write_call(const struct listed_case *c, unsigned k, struct strbuf *out) {
  if (case_has_tuple(c))
    strbuf_printf(out, "        r%u", k);
  else
    strbuf_printf(out, "        r%u_0: \"%.*s\"", k, STR_ARG(c->out[0].type));
  strbuf_puts(out, " = torch.ops.");
  for (size_t i = 0; i < c->call.len; i++) { // a0 becomes ak_0
    const char *p = c->call.ptr + i;
    bool is_tensor = *p == 'a' && i + 1 < c->call.len && p[1] >= '0' && p[1] <= '9' &&
                     strchr("([, =", p[-1]) && i > 5;
    strbuf_putc(out, *p);
    if (is_tensor)
      strbuf_printf(out, "%u_", k);
  }
  strbuf_putc(out, '\n');
  for (unsigned i = 0; case_has_tuple(c) && i < c->out_count; i++)
    if (c->out[i].type.len)
      strbuf_printf(out, "        r%u_%u: \"%.*s\" = r%u[%u]\n", k, i, STR_ARG(c->out[i].type), k,
                    i);
}

void cases_write_graph(const struct listed_case *const *cases, unsigned count, struct strbuf *out) {
  strbuf_puts(out, "class case(torch.nn.Module):\n    def forward(self");
  for (unsigned k = 0; k < count; k++)
    for (unsigned i = 0; i < cases[k]->in_count; i++)
      strbuf_printf(out, ", a%u_%u: \"%.*s\"", k, i, STR_ARG(cases[k]->in[i].type));
  strbuf_puts(out, "):\n");
  for (unsigned k = 0; k < count; k++)
    write_call(cases[k], k, out);
  strbuf_puts(out, "        return (");
  for (unsigned k = 0; k < count; k++)
    for (unsigned i = 0; i < cases[k]->out_count; i++)
      if (cases[k]->out[i].type.len)
        strbuf_printf(out, "r%u_%u, ", k, i);
      else
        strbuf_puts(out, "None, ");
  strbuf_puts(out, ")\n");
}

struct tensor *case_tensor(const struct value *v, const struct listed *l) {
  int64_t shape[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < v->rank; d++)
    ck_assert(expr_is_const(v->shape[d], &shape[d]));
  struct tensor *t = tensor_create(v->dtype, v->rank, shape);
  ck_assert_ptr_nonnull(t);
  ck_assert_int_eq(t->numel, l->count);
  memcpy(t->at, l->at, (size_t)t->numel * sizeof *t->at);
  return t;
}
