// SPDX-License-Identifier: Apache-2.0
// Evaluates a kernel, one program at a time: memory and control flow. Operations are in
// eval_elementwise.c and eval_across.c.
#include "kernel.h"

#include <math.h>
#include <string.h>

size_t shape_count(struct shape s) {
  size_t n = 1;
  for (unsigned d = 0; d < s.rank; d++)
    n *= s.dim[d];
  return n;
}

struct cell cell_of(struct num v) {
  return (struct cell){.f = v.f, .i = v.i};
}
struct num cell_num(enum dtype t, struct cell c) {
  return (struct num){.type = t, .f = c.f, .i = c.i};
}

static bool masked_out(const struct statement *s, size_t offset) {
  return s->number[1] && (int64_t)offset >= s->number[2];
}

static void load(struct kernel *k, const struct statement *s) {
  struct var *to = &k->vars[s->dst[0]];
  const struct var *at = &k->vars[s->src[0]];
  const struct array *a = &k->arrays[s->number[0]];
  size_t n = shape_count(to->shape);
  for (size_t i = 0; i < n; i++) {
    size_t offset = (size_t)at->cells[i].i;
    to->cells[i] = masked_out(s, offset) ? cell_of(num_number(to->type, s->number[3] / 2.0))
                                         : a->cells[offset];
  }
}

static void store(struct kernel *k, const struct statement *s) {
  const struct var *at = &k->vars[s->src[0]], *v = &k->vars[s->src[1]];
  struct array *a = &k->arrays[s->number[0]];
  size_t n = shape_count(v->shape);
  for (size_t i = 0; i < n; i++) {
    size_t offset = (size_t)at->cells[i].i;
    if (masked_out(s, offset))
      continue;
    a->cells[offset] = v->cells[i];
    a->is_written[offset] = true;
  }
}

static void note_sum(struct atomic_sum *s, const struct cell *c) {
  s->magnitude += fabs(c->f);
  s->is_whole = (s->is_whole || s->count == 0) && c->err <= 0 && c->f == rint(c->f);
  s->count++;
}

// Every addition may round, by at most the rounding error of the sum of all magnitudes.
static void finish_sums(struct array *a) {
  for (size_t i = 0; i < a->count; i++) {
    const struct atomic_sum *s = &a->sums[i];
    struct cell *c = &a->cells[i];
    if (s->is_whole && s->magnitude < 0x1p23)
      continue;
    if (isfinite(s->magnitude) &&
        s->magnitude > num_largest(a->type) / 2) // overflows in some orders
      c->wild = true;
    if (isfinite(s->magnitude) && s->count > 1)
      c->err += (double)s->count * num_ulp(a->type, s->magnitude);
    if (s->count) // a GPU's f32 additions in memory flush subnormal numbers (PTX ISA, red and atom)
      c->err += (double)(s->count + 1) * 0x1p-126;
  }
}

static void atomic(struct kernel *k, const struct statement *s) {
  const struct var *at = &k->vars[s->src[0]], *v = &k->vars[s->src[1]];
  struct array *a = &k->arrays[s->number[0]];
  size_t n = shape_count(v->shape);
  for (size_t i = 0; i < n; i++) {
    size_t offset = (size_t)at->cells[i].i % (size_t)s->number[1];
    a->cells[offset] = cell_combine(s->word, a->type, a->cells[offset], v->cells[i]);
    if (dtype_is_float(a->type))
      note_sum(&a->sums[offset], &v->cells[i]);
    a->is_written[offset] = true;
  }
}

static void run_block(struct kernel *k, const struct block *b, unsigned program);

static void loop(struct kernel *k, const struct statement *s, unsigned program) {
  int trips = s->op == OP_FOR && s->number[2] ? k->trips : s->number[0];
  for (int i = 0; i < trips; i++) {
    k->vars[s->dst[0]].cells[0] = (struct cell){.i = i};
    run_block(k, s->body, program);
  }
}

static void run(struct kernel *k, const struct statement *s, unsigned program) {
  switch (s->op) {
  case OP_PROGRAM: k->vars[s->dst[0]].cells[0] = (struct cell){.i = program}; break;
  case OP_LOAD: load(k, s); break;
  case OP_STORE: store(k, s); break;
  case OP_ATOMIC: atomic(k, s); break;
  case OP_FOR:
  case OP_WHILE: loop(k, s, program); break;
  case OP_IF: run_block(k, k->vars[s->src[0]].cells[0].i ? s->body : s->other, program); break;
  default:
    if (s->op <= OP_BITCAST || s->op == OP_COPY)
      eval_elementwise(k, s);
    else
      eval_across(k, s);
  }
}

static void run_block(struct kernel *k, const struct block *b, unsigned program) {
  for (unsigned i = 0; b && i < b->count; i++)
    run(k, b->at[i], program);
}

void kernel_evaluate(struct kernel *k) {
  for (unsigned p = 0; p < k->programs; p++)
    run_block(k, &k->top, p);
  for (unsigned i = 0; i < k->array_count; i++)
    if (k->arrays[i].sums)
      finish_sums(&k->arrays[i]);
}

bool kernel_agrees(const struct array *a, size_t i, struct num got) {
  const struct cell *c = &a->cells[i];
  struct num want = cell_num(a->type, *c);
  if (c->wild)
    return true;
  if (!dtype_is_float(a->type) || isnan(want.f) || isinf(want.f) || c->err <= 0)
    return num_agrees(got, want, 0.5, 0);
  return fabs(got.f - want.f) <= c->err;
}
