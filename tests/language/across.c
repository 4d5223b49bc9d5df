// SPDX-License-Identifier: Apache-2.0
// Runs one operation along an axis and compares the result line by line.
#include "across.h"

#include <math.h>
#include <stdlib.h>

const struct tile across_shapes[] = {
    {1, {2}},        {1, {32}},       {1, {128}},        {1, {1024}},        {1, {4096}},
    {2, {16, 32}},   {2, {1, 128}},   {2, {64, 4}},      {2, {128, 64}},     {2, {2, 2}},
    {3, {4, 8, 16}}, {3, {2, 64, 2}}, {4, {2, 4, 4, 8}}, {4, {4, 1, 16, 2}},
};
const size_t across_shape_count = COUNT_OF(across_shapes);

static struct tile out_tile(const struct across *a) {
  if (a->flat)
    return a->drops_axis ? (struct tile){0} : a->in;
  if (a->drops_axis)
    return tile_without(a->in, a->axis);
  struct tile t = a->in;
  t.dim[a->axis] = a->out_length;
  return t;
}

// Lines lie `stride` apart element by element; line l begins at `first`.
struct lines {
  size_t count, length, stride;
};

static struct lines lines_of(const struct across *a) {
  struct lines l = {1, tile_count(a->in), 1};
  if (a->flat)
    return l;
  l.length = a->in.dim[a->axis];
  for (unsigned i = a->axis + 1; i < a->in.rank; i++)
    l.stride *= a->in.dim[i];
  l.count = tile_count(a->in) / l.length;
  return l;
}

static size_t index_of(struct lines l, size_t line, size_t length, size_t k) {
  return line / l.stride * l.stride * length + line % l.stride + k * l.stride;
}

static void compare_line(struct suite *s, const struct across *a, struct lines l, size_t line,
                         const struct array *x, const struct array *out) {
  static struct num values[LINE_MAX], wants[LINE_MAX];
  double atol = 0;
  for (size_t k = 0; k < l.length; k++)
    values[k] = array_get(x, index_of(l, line, l.length, k));
  size_t length = a->drops_axis ? 1 : a->flat ? l.length : a->out_length;
  if (a->reference)
    a->reference(values, l.length, wants, &atol, a->user);
  for (size_t k = 0; k < length; k++) {
    size_t at = index_of(l, line, length, k);
    if (!a->accepts)
      case_expect(s, out, at, wants[k], a->ulps, atol);
    else if (!a->accepts(values, l.length, array_get(out, at)))
      case_fail(s, "[%zu] is %lld, which is none of the right ones", at,
                (long long)array_get(out, at).i);
  }
}

void across_case(struct suite *s, const char *name, const struct across *a) {
  const unsigned *d = a->in.dim;
  if (!case_begin(s, "%s %s %ux%ux%ux%u rank %u%s%u warps=%u", name, dtype_name(a->type), d[0],
                  a->in.rank > 1 ? d[1] : 1, a->in.rank > 2 ? d[2] : 1, a->in.rank > 3 ? d[3] : 1,
                  a->in.rank, a->flat ? " flat " : " axis ", a->axis, a->warps))
    return;
  struct tile out_shape = out_tile(a);
  struct tile_kernel k = {.prelude = a->prelude,
                          .body = a->body,
                          .expr = a->expr,
                          .arity = 1,
                          .in = {a->in},
                          .out = out_shape,
                          .out_type = a->out_type};
  tile_kernel_source(s, &k);
  case_warps(s, a->warps);
  struct array *x = case_input(s, a->type, tile_count(a->in)),
               *out = case_output(s, a->out_type, tile_count(out_shape));
  if (a->fill)
    a->fill(s, x);
  else
    array_draw(s, x, a->draw);
  struct lines l = lines_of(a);
  bool ran = case_run(s, 1);
  for (size_t line = 0; ran && line < l.count; line++)
    compare_line(s, a, l, line, x, out);
  case_end(s);
}

int num_order(struct num a, struct num b) {
  if (dtype_is_float(a.type)) {
    if (isnan(a.f) || isnan(b.f))
      return isnan(a.f) - isnan(b.f);
    return (a.f > b.f) - (a.f < b.f);
  }
  if (a.type == DTYPE_U64)
    return ((uint64_t)a.i > (uint64_t)b.i) - ((uint64_t)a.i < (uint64_t)b.i);
  return (a.i > b.i) - (a.i < b.i);
}
