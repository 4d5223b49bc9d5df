// SPDX-License-Identifier: Apache-2.0
// Checks docs/operators.md against the tables graph/ir/graph_operators.def, graph/ir/composed.def,
// graph/passes/lowering.def and graph/autodiff/gradients.def.
// Arguments: the page, and --update to write it.
#include "graph/autodiff/gradient.h"
#include "graph/ir/graph_operators.h"

#include <stdio.h>
#include <stdlib.h>

// How an operator gets to kernels.
static const char *const ways[OPERATOR_COUNT] = {
#define PRIMITIVE(id) [OP_##id] = "directly",
#define NORMAL(id, function) [OP_##id] = "directly",
#define DECOMPOSE(id, function) [OP_##id] = "decomposed",
#include "graph/passes/lowering.def"
};

static const char *gradient_of(enum operator_id op) {
  static const char *const kinds[] = {[GRADIENT_MISSING] = "",
                                      [GRADIENT_RULE] = "rule",
                                      [GRADIENT_EXPANDED] = "decomposed",
                                      [GRADIENT_ZERO] = "zero",
                                      [GRADIENT_NONE] = "none"};
  return kinds[gradient_kind_of(op)];
}

// The operators that E1012 names.
static void print_without_gradient(struct strbuf *out) {
  strbuf_puts(out, "\nOperators through which there is no gradient (E1012):\n\n");
  for (unsigned id = 0; id < OPERATOR_COUNT; id++) {
    const struct operator_row *row = operator_row((enum operator_id)id);
    const char *why = gradient_refusal(row->id);
    if (why)
      strbuf_printf(out, "- `%s`: %s\n", row->name, why);
  }
}

static void print_parameters(const struct operator_row *row, struct strbuf *out) {
  size_t count;
  const struct parameter *p = operator_parameters(row->id, &count);
  bool by_name = false;
  for (size_t i = 0; i < count; i++) {
    strbuf_puts(out, i ? ", " : "");
    if (p[i].by_name && !by_name)
      strbuf_puts(out, "*, ");
    by_name = p[i].by_name;
    strbuf_printf(out, "%.*s", STR_ARG(p[i].name));
    if (p[i].has_default)
      strbuf_printf(out, "=%.*s", STR_ARG(p[i].default_text));
  }
}

static void print_class(enum operator_class class, struct strbuf *out) {
  strbuf_printf(out,
                "\n## %s\n\n| operator | parameters | results | dtype | kernels | gradient "
                "|\n|---|---|---|---|---|---|\n",
                operator_class_name(class));
  static const char *const dtypes[] = {[PROMOTE_SAME] = "promoted",
                                       [PROMOTE_FLOAT] = "promoted to float",
                                       [PROMOTE_BOOL] = "bool",
                                       [PROMOTE_FIRST] = "as the first",
                                       [PROMOTE_RULE] = "by rule"};
  for (unsigned id = 0; id < OPERATOR_COUNT; id++) {
    const struct operator_row *row = operator_row((enum operator_id)id);
    if (row->class != class)
      continue;
    strbuf_printf(out, "| `%s` | ", row->name);
    print_parameters(row, out);
    if (row->results == OPERATOR_MANY)
      strbuf_puts(out, " | list");
    else
      strbuf_printf(out, " | %u", row->results);
    strbuf_printf(out, " | %s | %s | %s |\n", dtypes[row->promotion], ways[id] ? ways[id] : "none",
                  gradient_of(row->id));
  }
}

static void print_composed(struct strbuf *out) {
  strbuf_puts(out, "\n## composed\n\nReading or capturing a graph replaces these by the operators "
                   "above; printed graphs show "
                   "them. Their gradients are those of what they are replaced by.\n\n| operator | "
                   "parameters | results |\n|---|---|---|\n");
  for (unsigned id = OPERATOR_COUNT; id < OPERATOR_ALL; id++) {
    const struct operator_row *row = operator_row((enum operator_id)id);
    strbuf_printf(out, "| `%s` | ", row->name);
    print_parameters(row, out);
    if (row->results == OPERATOR_MANY)
      strbuf_puts(out, " | list |\n");
    else
      strbuf_printf(out, " | %u |\n", row->results);
  }
}

static void print_page(struct strbuf *out) {
  strbuf_printf(
      out,
      "# Operators of tensor graphs\n\n"
      "Generated from `graph/ir/graph_operators.def`, `graph/ir/composed.def`, "
      "`graph/passes/lowering.def` and\n`graph/autodiff/gradients.def`; regenerate with\n"
      "`build/tests/unit/graph/operators-page docs/operators.md --update`.\n\n"
      "There are %d operators, and %d composed ones (at the end). Names, parameters and "
      "results are PyTorch's. Parameters after `*` are keyword-only.\n"
      "dtype of the results: *promoted* is PyTorch's type promotion, in which numbers and "
      "tensors without dimensions\n"
      "are weak; *promoted to float* converts integers to f32. Kernels: an operator is "
      "lowered *directly*, or is first\n"
      "*decomposed* into others. Passes create the `tile.` operators; graphs cannot "
      "contain them.\n"
      "Gradient: by a *rule* of its own, by the rules of the operators that it is *decomposed* "
      "into, *zero* (gradients\n"
      "stop), or *none*: an error.\n",
      OPERATOR_COUNT, OPERATOR_ALL - OPERATOR_COUNT);
  print_without_gradient(out);
  for (int class = CLASS_POINTWISE; class <= CLASS_CONTROL; class ++)
    print_class((enum operator_class) class, out);
  print_composed(out);
}

static bool file_is(const char *path, const struct strbuf *want) {
  FILE *f = fopen(path, "rb");
  if (!f)
    return false;
  char *have = malloc(want->len + 1);
  size_t n = have ? fread(have, 1, want->len + 1, f) : 0;
  bool same = have && n == want->len && memcmp(have, want->ptr, n) == 0;
  free(have);
  fclose(f);
  return same;
}

int main(int argc, char **argv) {
  struct strbuf page = {0};
  print_page(&page);
  if (argc < 2 || page.failed)
    return EXIT_FAILURE;
  bool ok;
  if (argc > 2 && strcmp(argv[2], "--update") == 0) {
    FILE *f = fopen(argv[1], "wb");
    ok = f && fwrite(page.ptr, 1, page.len, f) == page.len;
    ok = f && fclose(f) == 0 && ok;
  } else {
    ok = file_is(argv[1], &page);
    printf("1..1\n%sok 1 - %s is what the table says\n", ok ? "" : "not ", argv[1]);
  }
  strbuf_finish(&page);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
