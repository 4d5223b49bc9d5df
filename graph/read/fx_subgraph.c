// SPDX-License-Identifier: Apache-2.0
// Subgraphs of higher-order operators: classes beneath the function that names them as attributes,
//
//   class GraphModule(torch.nn.Module):
//       def forward(self, x: "f32[4]"):
//           true_graph_0 = self.true_graph_0
//           ...
//       class true_graph_0(torch.nn.Module):
//           def forward(self, x: "f32[4]"): ...
#include "graph/read/fx_reader.h"

static void note_class(struct reader *r, size_t name) {
  struct str text = fx_text(r, name);
  if (map_get(&r->classes, text))
    diag_help(
        fx_error(r, fx_span(r, name, name + 1), E1001, "`%.*s` is defined twice", STR_ARG(text)),
        "give one of them another name");
  else
    map_put(r->arena, &r->classes, text, (void *)(uintptr_t)name);
}

bool fx_find_classes(struct reader *r) {
  size_t depth = 1, i = r->pos; // blocks of the class that are open
  r->body_end = 0;
  r->failed = false;
  for (depth++; r->at[i].kind != TOK_EOF && depth > 0; i++) {
    depth += r->at[i].kind == TOK_INDENT;
    depth -= r->at[i].kind == TOK_DEDENT;
    if (depth == 1 && !r->body_end)
      r->body_end = i;
    if (depth == 1 && r->at[i].kind == TOK_CLASS && r->at[i + 1].kind == TOK_NAME)
      note_class(r, i + 1);
  }
  r->body_end = r->body_end ? r->body_end : i;
  return !r->failed;
}

void fx_skip_classes(struct reader *r) {
  if (r->classes.count == 0 || !fx_accept(r, TOK_DEDENT))
    return;
  for (size_t depth = 1; fx_peek(r) != TOK_EOF && depth > 0; r->pos++) {
    depth += fx_peek(r) == TOK_INDENT;
    depth -= fx_peek(r) == TOK_DEDENT;
  }
}

size_t fx_class_of(const struct reader *r, size_t self) {
  bool is_attribute = r->at[self].kind == TOK_NAME && str_is(fx_text(r, self), "self") &&
                      r->at[self + 1].kind == TOK_DOT && r->at[self + 2].kind == TOK_NAME;
  return is_attribute ? (size_t)(uintptr_t)map_get(&r->classes, fx_text(r, self + 2)) : 0;
}

bool fx_check_subgraph(struct reader *r, const struct reader *child) {
  const struct graph *g = child->g;
  const char *why = g->mutations.len                      ? "writes to one of its inputs"
                    : g->symbols.len != r->g->symbols.len ? "has sizes of its own"
                    : child->attributes.count             ? "reads tensors of the module"
                                                          : NULL;
  if (!why)
    return true;
  struct diag *d =
      fx_error(r, fx_span(r, r->pos, r->pos + 3), E1008, "the subgraph `%s` %s", g->name, why);
  diag_help(d, "pass what it needs as operands, and return what it computes");
  return false;
}
