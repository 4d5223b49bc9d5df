// SPDX-License-Identifier: Apache-2.0
// Custom operators with a kernel: their reference function computes on the interpreter's tensors.
#include "base/memory.h"
#include "graph/ir/custom.h"
#include "graph/ir/subgraph.h"
#include "graph/reference/reference.h"

#include <stdlib.h>

static tile_reference_tensor view_of(const struct tensor *t) {
  bool is_real = dtype_is_float(t->dtype);
  return (tile_reference_tensor){.dtype = (tile_type)t->dtype,
                                 .rank = (int)t->rank,
                                 .shape = t->shape,
                                 .count = t->numel,
                                 .reals = is_real ? &t->at->real : NULL,
                                 .integers = is_real ? NULL : &t->at->integer};
}

bool reference_custom(struct reference_call *c) {
  const struct custom_operator *o = node_custom(c->node);
  if (!o->interpret)
    return call_fail(c, "`%s` was registered without a reference function", o->name);
  size_t count = node_list_tensors(c->node, 1, 2, NULL);
  struct value **values = memory_zeroed(count + 1, sizeof *values);
  int64_t numbers[OPERATOR_MAX_PARAMETERS];
  tile_reference_tensor *in = memory_zeroed(count + 1, sizeof *in),
                        *out = memory_zeroed(o->results + 1, sizeof *out);
  bool ok = (values && in && out) || call_fail(c, "out of memory");
  if (ok)
    node_list_tensors(c->node, 1, 2, values);
  for (size_t i = 0; ok && i < o->count; i++)
    numbers[i] = arg_integer(c, &node_custom_args(c->node)[i]);
  for (size_t i = 0; ok && i < count; i++)
    in[i] = view_of(c->tensors[values[i]->id]);
  for (uint32_t i = 0; ok && i < o->results; i++)
    out[i] = view_of(c->out[i]);
  ok = ok && (o->interpret(o, node_custom_args(c->node), numbers, in, count, out) == TILE_OK ||
              call_fail(c, "the reference function of `%s` failed", o->name));
  free(values);
  free(in);
  free(out);
  return ok;
}
