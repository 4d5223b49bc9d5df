// SPDX-License-Identifier: Apache-2.0
// Help for parameters that a function lacks, and the spans of names that help replaces.
#include "lang/eval/eval.h"

struct span eval_keyword_span(struct span value, const char *name) {
  struct span none = SPAN_NONE;
  if (!value.source)
    return none;
  const char *text = value.source->text.ptr, *end = text + value.begin;
  size_t n = strlen(name);
  while (end > text && (end[-1] == ' ' || end[-1] == '(')) // a span is without its parentheses
    end--;
  if (end == text || *--end != '=')
    return none;
  while (end > text && end[-1] == ' ')
    end--;
  if ((size_t)(end - text) < n || memcmp(end - n, name, n) != 0)
    return none;
  return (struct span){value.source, (uint32_t)(end - n - text), (uint32_t)(end - text)};
}

struct span eval_argument_span(struct span value, const char *name) {
  struct span keyword = eval_keyword_span(value, name);
  return keyword.source ? keyword : value;
}

struct span eval_dotted_span(struct span name) {
  if (!name.source)
    return name;
  const char *text = name.source->text.ptr;
  uint32_t begin = name.begin;
  while (begin && (text[begin - 1] == '.' || text[begin - 1] == '_' ||
                   (text[begin - 1] >= '0' && text[begin - 1] <= '9') ||
                   (text[begin - 1] >= 'a' && text[begin - 1] <= 'z') ||
                   (text[begin - 1] >= 'A' && text[begin - 1] <= 'Z')))
    begin--;
  return (struct span){name.source, begin, name.end};
}

bool habit_compares(const char *builtin, struct span callee) {
  return callee.source && (strcmp(builtin, "max") == 0 || strcmp(builtin, "min") == 0);
}

bool habit_parameter_help(struct diag *d, const char *builtin, const char *name, struct span at,
                          struct span callee) {
  static const struct {
    const char *builtin, *name; // builtin NULL: any
    const char *renamed, *help;
  } rows[] = {
      {"dot", "trans_a", NULL, "Triton 2.1 dropped it; write `tl.dot(tl.trans(a), b)`"},
      {"dot", "trans_b", NULL, "Triton 2.1 dropped it; write `tl.dot(a, tl.trans(b))`"},
      {NULL, "dim", "axis", NULL},
      {NULL, "dims", "axis", NULL},
      {NULL, "keepdim", "keep_dims", NULL},
      {NULL, "keepdims", "keep_dims", NULL},
      {"full", "fill_value", "value", NULL},
      {"load", "default", "other", NULL},
      {"load", "fill", "other", NULL},
      {"load", "padding", "padding_option", NULL},
      {"load", "cache", "cache_modifier", NULL},
      {"store", "cache", "cache_modifier", NULL},
      {"store", "other", NULL, "what the mask leaves out is not written: leave out `other`"},
      {"zeros_like", "dtype", NULL, "write `tl.zeros(x.shape, dtype=tl.int32)`"},
      {"arange", "step", NULL, "a step is multiplied: `tl.arange(0, N) * step`"},
      {"arange", "dtype", NULL, "convert it: `tl.arange(0, N).to(tl.int64)`"},
      {"arange", "stop", "end", NULL},
      {"sort", "stable", NULL,
       "values alone are sorted, and equal ones are the same: leave it out"},
      {"sort", "axis", "dim", NULL},
      {NULL, "where", NULL, "mask the operand: `tl.where(mask, x, 0)`"},
      {NULL, "out", NULL, "a function returns its result; `tl.store(pointer, x)` writes it"},
  };
  if (habit_compares(builtin, callee) &&
      (strcmp(name, "axis") == 0 || strcmp(name, "dim") == 0 || strncmp(name, "keep", 4) == 0)) {
    diag_help(d, "`%s` compares its arguments; `tl.%s(x, axis=0)` reduces a tile", builtin,
              builtin);
    diag_fixit(d, callee, builtin[1] == 'a' ? "tl.max" : "tl.min");
    return true;
  }
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    if (strcmp(rows[i].name, name) != 0 ||
        (rows[i].builtin && strcmp(rows[i].builtin, builtin) != 0))
      continue;
    if (rows[i].help)
      diag_help(d, "%s", rows[i].help);
    else
      diag_did_you_mean(d, eval_keyword_span(at, name), rows[i].renamed);
    return true;
  }
  return false;
}
