// SPDX-License-Identifier: Apache-2.0
// Blocks of tensor descriptors that a configuration's `pre_hook` sets: Triton calls it before each
// launch with the arguments by name, as in
//
//   def set_blocks(nargs):
//     nargs["a_desc"].block_shape = [nargs["BLOCK_M"], nargs["BLOCK_K"]]
//
// Everything else that a hook does is host code without effect here.
#include "lang/eval/consteval.h"
#include "lang/tuning/reader.h"

// ---- the hook ----

static const struct lang_binding *find(const struct lang_binding *b, size_t count,
                                       const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(b[i].name, name) == 0)
      return &b[i];
  return NULL;
}

static const struct value *fields_of(struct value config) {
  return config.tuple.list ? config.tuple.list->at : config.tuple.at;
}

// Whether the configuration gives every constant the value that it has.
static bool agrees(struct eval *e, struct value config, const struct lang_binding *b,
                   size_t count) {
  struct tuple kwargs = host_value(e, fields_of(config)[HOST_CONFIG_KWARGS]).tuple;
  for (size_t i = 0; i < kwargs.len; i++) {
    const struct value *row = kwargs.at[i].tuple.at;
    struct value v;
    if (row[0].kind != VALUE_STR)
      return false;
    const struct lang_binding *known =
        find(b, count, arena_strndup(e->a, row[0].s.ptr, row[0].s.len));
    if (known && !(known->kind == BIND_CONSTANT && known->text &&
                   const_parse(e->a, str_from(known->text), &v) && const_equal(v, row[1])))
      return false;
  }
  return true;
}

// The hook of the configuration in use, else of the first one that has a hook; None without one.
static struct value hook_of(struct reader *r, const struct lang_binding *b, size_t count) {
  struct value list = r->autotune.v.kind == VALUE_ABSENT
                          ? value_of_kind(VALUE_NONE)
                          : reader_autotune(r, HOST_AUTOTUNE_CONFIGS);
  struct value first = value_of_kind(VALUE_NONE);
  if (list.kind != VALUE_TUPLE)
    return first;
  struct tuple t = host_value(&r->e, list).tuple;
  for (size_t i = 0; i < t.len; i++) {
    if (!host_is_config(t.at[i]))
      continue;
    struct value hook = fields_of(t.at[i])[HOST_CONFIG_PRE_HOOK];
    if (hook.kind != VALUE_NONE && hook.kind != VALUE_OPAQUE) {
      if (agrees(&r->e, t.at[i], b, count))
        return hook;
      first = first.kind == VALUE_NONE ? hook : first;
    }
  }
  return first;
}

// ---- what it set ----

static bool take_block(struct eval *e, const struct host_block *set, struct lang_binding *b) {
  struct tuple t;
  if (!need_sequence(e, (struct operand){host_value(e, set->shape), set->at}, &t))
    return false;
  if (t.len != b->block.rank) {
    eval_error(e, set->at, E0463, "a block of %zu dimensions for `%s`, a tensor of %u", t.len,
               b->name, b->block.rank);
    return false;
  }
  for (size_t i = 0; i < t.len; i++) {
    int64_t n;
    if (!need_const_int(e, (struct operand){t.at[i], set->at}, "the block of a tensor descriptor",
                        &n))
      return false;
    if (n < 1 || n > INT32_MAX) {
      eval_error(e, set->at, E0463, "the block of `%s` has %lld elements in dimension %zu", b->name,
                 (long long)n, i);
      return false;
    }
    b->block.shape[i] = (uint32_t)n;
  }
  return true;
}

static bool call_hook(struct reader *r, struct value hook, struct lang_binding *b, size_t count) {
  struct eval *e = &r->e;
  struct span at = hook.kind == VALUE_FUNC ? hook.func->ast->name_span : r->autotune.at;
  const struct lang_known *known = lang_known_of(e->a, b, count);
  struct operand f = {hook, at};
  struct operand args = {host_value(e, reader_arguments(r, known, count)), at};
  eval_call_value(e, f, &args, NULL, 1, at);
  if (e->stopped)
    return false;
  for (size_t i = 0; i < r->purpose.blocks.len; i++) {
    const struct host_block *set = &r->purpose.blocks.at[i];
    for (size_t k = 0; k < count; k++)
      if (b[k].kind == BIND_DESCRIPTOR && strcmp(b[k].name, set->argument) == 0 &&
          !take_block(e, set, &b[k]))
        return false;
  }
  return true;
}

// ---- the call ----

// Some descriptor has no block, and its annotation gives none.
static bool is_needed(const struct lang_param *params, size_t param_count,
                      const struct lang_binding *b, size_t count, bool *ret_any) {
  bool needed = false;
  *ret_any = false;
  for (size_t i = 0; i < count; i++) {
    bool is_declared = false;
    for (size_t k = 0; k < param_count; k++)
      is_declared |= params[k].is_descriptor && strcmp(params[k].name, b[i].name) == 0;
    if (b[i].kind != BIND_DESCRIPTOR || is_declared)
      continue;
    *ret_any = true;
    needed |= !b[i].block.shape[0];
  }
  return needed;
}

bool lang_set_blocks(struct arena *a, struct diag_engine *diag, const struct lang_unit *u,
                     const char *kernel, struct lang_binding *bindings, size_t count) {
  struct diag_engine *quiet = diag_engine_create(a);
  struct lang_param *params;
  size_t param_count;
  const char *name;
  bool any, has_heuristics;
  if (!lang_is_tuned(u, kernel, &has_heuristics) ||
      !lang_kernel_params(a, quiet, u, kernel, &name, &params, &param_count))
    return true;
  bool needed = is_needed(params, param_count, bindings, count, &any);
  if (!any)
    return true;
  struct lang_tuning_source s = {u, ast_find_function(u->tree, name)};
  struct reader r;
  reader_open(&r, a, needed ? diag : quiet, &s, E0463, "the `pre_hook`");
  if (!reader_read(&r))
    return !needed;
  struct value hook = hook_of(&r, bindings, count);
  return hook.kind == VALUE_NONE || call_hook(&r, hook, bindings, count) || !needed;
}
