// SPDX-License-Identifier: Apache-2.0
// Tuples as arguments: `--arg 'strides=(64,1)'` becomes the parameters `strides[0]` and
// `strides[1]`, each with its own --arg.
#include "tools/launch/launch.h"

struct params {
  struct lang_param *at;
  size_t len, cap;
};
struct assignments {
  struct assignment *at;
  size_t len, cap;
};

static const struct assignment *find(const struct tool *t, const char *name) {
  for (size_t i = 0; i < t->o.args.len; i++)
    if (strcmp(t->o.args.at[i].name, name) == 0)
      return &t->o.args.at[i];
  return NULL;
}

static bool refuse(struct tool *t, const struct assignment *x, const char *why) {
  diag_help(diag_error(t->diag, x->where, E0720, "`%.*s` is no tuple of arguments: %s",
                       STR_ARG(x->value), why),
            "write for example `--arg 'strides=(64,1)'`");
  return false;
}

// The argument, or those of its elements.
static bool add(struct tool *t, const struct lang_param *p, const struct assignment *x,
                unsigned depth, struct params *params, struct assignments *args) {
  struct str elements, text;
  if (!tool_tuple_elements(x->value, &elements)) {
    vec_push(t->arena, params, *p);
    params->at[params->len - 1].name = x->name;
    vec_push(t->arena, args, *x);
    return true;
  }
  if (p->is_typed)
    return refuse(t, x, "the parameter is declared as another type");
  if (elements.len == 0)
    return refuse(t, x, "it is empty");
  if (depth == TOOL_MAX_TUPLE_NESTING)
    return refuse(t, x, "too many brackets");
  for (size_t i = 0; tool_next_entry(&elements, &text); i++) {
    struct assignment element = {arena_printf(t->arena, "%s[%zu]", x->name, i), text, x->where};
    if (!add(t, p, &element, depth + 1, params, args))
      return false;
  }
  return true;
}

static bool is_tuple(const struct lang_param *p, const struct assignment *x) {
  struct str elements;
  return x && !p->is_constexpr && tool_tuple_elements(x->value, &elements);
}

bool launch_expand_tuples(struct tool *t, struct launch *l) {
  struct params params = {0};
  struct assignments args = {0};
  for (size_t i = 0; i < l->param_count; i++) {
    const struct assignment *x = find(t, l->params[i].name);
    if (!is_tuple(&l->params[i], x))
      vec_push(t->arena, &params, l->params[i]);
    else if (!add(t, &l->params[i], x, 0, &params, &args))
      return false;
  }
  if (args.len == 0)
    return true;
  for (size_t i = 0; i < t->o.args.len; i++) {
    const struct assignment *x = &t->o.args.at[i];
    bool is_expanded = false;
    for (size_t k = 0; k < l->param_count && !is_expanded; k++)
      is_expanded = strcmp(l->params[k].name, x->name) == 0 && is_tuple(&l->params[k], x);
    if (!is_expanded)
      vec_push(t->arena, &args, *x);
  }
  t->o.args.len = 0;
  for (size_t i = 0; i < args.len; i++)
    vec_push(t->arena, &t->o.args, args.at[i]);
  l->params = params.at;
  l->param_count = params.len;
  return true;
}
