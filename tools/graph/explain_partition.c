// SPDX-License-Identifier: Apache-2.0
// --graph FILE --grad --explain-partition: what a forward graph saves for the backward one, and
// what that computes again.
#include "base/json.h"
#include "graph/autodiff/partition.h"
#include "graph/passes/passes.h"
#include "tools/graph/graph_gradient.h"

int explain_partition(struct tool *t, struct graph *g, size_t outputs, size_t seeds) {
  struct partition_options o = {.budget = (int64_t)t->o.memory_budget};
  g = graph_decompose(g, KEEPS_ATTENTION, false);
  g = g ? graph_simplify(g) : NULL;
  struct partition *p = g ? graph_partition(g, outputs, seeds, &o) : NULL;
  if (!p)
    return tool_error_status(t);
  struct strbuf out = {.arena = t->arena};
  struct json_writer w = {.out = &out};
  if (t->o.json)
    partition_write(p, &w), strbuf_putc(&out, '\n');
  else
    partition_print(p, &out);
  if (!p->fits && !t->o.json)
    strbuf_printf(&out, "the budget of %lld bytes cannot be reached\n", (long long)o.budget);
  int status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}
