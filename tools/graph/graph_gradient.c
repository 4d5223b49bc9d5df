// SPDX-License-Identifier: Apache-2.0
// --grad: appends gradients to the graph that was read, as further outputs.
#include "tools/graph/graph_gradient.h"

#include "graph/autodiff/gradient.h"
#include "graph/ir/graph_build.h"

struct gradients {
  struct tool *t;
  struct graph *g;
  VEC(struct value *) losses, seeds, inputs;
  bool is_wrong;
};

// ---- names ----

static struct value *find(size_t count, struct value *const *values, struct str name) {
  for (size_t i = 0; i < count; i++)
    if (values[i] && str_is(name, values[i]->name))
      return values[i];
  return NULL;
}

// An error that says what there is.
static void say_unknown(struct gradients *s, const struct word *at, struct str name,
                        const char *what, size_t count, struct value *const *values) {
  const char **names = arena_array(s->t->arena, const char *, count + 1);
  size_t known = 0;
  for (size_t i = 0; i < count; i++)
    if (values[i] && dtype_is_float(values[i]->dtype))
      names[known++] = values[i]->name;
  struct diag *e =
      diag_error(s->t->diag, at->where, E0721, "the graph has no %s `%.*s`", what, STR_ARG(name));
  const char *near = str_nearest(name, names, known);
  if (near)
    diag_did_you_mean(e, tool_part(at, name), near);
  else if (known)
    diag_help(e, "the first one is `%s`; `--emit=graph` without `--grad` prints all", names[0]);
  s->is_wrong = true;
}

// Each name of the option's list, in order.
static void take_names(struct gradients *s, const struct word *at, const char *what, size_t count,
                       struct value *const *values, bool of_losses) {
  struct str rest = at->value, name;
  while (rest.len) {
    rest = str_split(rest, ',', &name);
    struct value *v = find(count, values, name);
    if (!v)
      say_unknown(s, at, name, what, count, values);
    else if (of_losses)
      vec_push(s->t->arena, &s->losses, v);
    else
      vec_push(s->t->arena, &s->inputs, v);
  }
}

// ---- losses, seeds, inputs ----

// By default the first output.
static void take_losses(struct gradients *s) {
  struct graph *g = s->g;
  if (s->t->o.loss.value.ptr)
    take_names(s, &s->t->o.loss, "output", g->outputs.len, g->outputs.at, true);
  for (size_t i = 0; !s->t->o.loss.value.ptr && i < g->outputs.len && !s->losses.len; i++)
    if (g->outputs.at[i])
      vec_push(s->t->arena, &s->losses, g->outputs.at[i]);
}

// With --grad-seeds each loss has an input `seed_NAME` of its shape.
static void make_seeds(struct gradients *s) {
  for (size_t i = 0; i < s->losses.len; i++) {
    const struct value *v = s->losses.at[i];
    const char *name = arena_printf(s->t->arena, "seed_%s", v->name);
    vec_push(s->t->arena, &s->seeds,
             s->t->o.grad_seeds || s->t->o.explain_partition
                 ? graph_add_input(s->g, name, v->dtype, v->rank, v->shape, NULL, v->span)
                 : NULL);
  }
}

static bool has_path(const struct gradients *s, const struct value *input) {
  for (size_t i = 0; i < s->losses.len; i++)
    if (graph_has_path(s->g, input, s->losses.at[i]))
      return true;
  return false;
}

static void take_inputs(struct gradients *s) {
  struct graph *g = s->g;
  if (!s->t->o.wrt.value.ptr) {
    for (size_t i = 0; i < g->inputs.len; i++)
      if (dtype_is_float(g->inputs.at[i]->dtype) && has_path(s, g->inputs.at[i]))
        vec_push(s->t->arena, &s->inputs, g->inputs.at[i]);
    return;
  }
  take_names(s, &s->t->o.wrt, "input", g->inputs.len, g->inputs.at, false);
  for (size_t i = 0; i < s->inputs.len && s->losses.len; i++) {
    const struct value *v = s->inputs.at[i];
    if (has_path(s, v))
      continue;
    struct diag *e = diag_error(s->t->diag, s->t->o.wrt.where, E1014,
                                "`%s` does not depend on `%s`", s->losses.at[0]->name, v->name);
    if (!dtype_is_float(v->dtype))
      diag_help(e, "it has no gradient: it is not a float");
    else
      diag_help(e, "leave it out of `--wrt`, or name another loss by `--loss`");
    s->is_wrong = true;
  }
}

// ---- outputs ----

// The gradient as an output `grad_NAME`, stored as its input is.
static bool add_output(struct gradients *s, const struct value *input, struct value *gradient) {
  struct build b = {s->g, gradient->span};
  struct arg none = {0};
  struct value *v = BUILD(&b, OP_CLONE, TENSOR(gradient), none);
  if (!v)
    return false;
  v->name = arena_printf(s->t->arena, "grad_%s", input->name);
  v->strides = contiguous_strides(s->g->exprs, s->g->arena, v->rank, v->shape);
  graph_add_output(s->g, v);
  return true;
}

int graph_take_gradients(struct tool *t, struct graph *g) {
  struct gradients s = {.t = t, .g = g};
  if (!t->o.grad)
    return EXIT_DONE;
  take_losses(&s);
  take_inputs(&s);
  if (s.is_wrong)
    return EXIT_WRONG;
  make_seeds(&s);
  struct gradient_request r = {.output_count = s.losses.len,
                               .input_count = s.inputs.len,
                               .outputs = s.losses.at,
                               .seeds = s.seeds.at,
                               .inputs = s.inputs.at};
  struct value **ret = arena_array(t->arena, struct value *, s.inputs.len + 1);
  if (!graph_gradient(g, &r, t->o.file_at, ret))
    return tool_error_status(t);
  for (size_t i = 0; i < s.inputs.len; i++)
    if (!add_output(&s, s.inputs.at[i], ret[i]))
      return tool_error_status(t);
  return EXIT_DONE;
}
