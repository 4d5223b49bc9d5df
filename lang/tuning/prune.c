// SPDX-License-Identifier: Apache-2.0
// prune_configs_by: the function that filters the configurations.
#include "lang/eval/consteval.h"
#include "lang/tuning/reader.h"

// The configuration of the list that a pruning function gave back: itself, or one that says the
// same.
static size_t config_index(struct tuple configs, struct value v) {
  for (size_t i = 0; i < configs.len; i++)
    if (configs.at[i].tuple.list == v.tuple.list)
      return i;
  for (size_t i = 0; i < configs.len; i++) {
    const struct value *x = configs.at[i].tuple.at, *y = v.tuple.at;
    bool same = x[HOST_CONFIG_KWARGS].tuple.len == y[HOST_CONFIG_KWARGS].tuple.len;
    for (size_t k = 0; same && k < x[HOST_CONFIG_KWARGS].tuple.len; k++)
      same = const_equal(x[HOST_CONFIG_KWARGS].tuple.at[k], y[HOST_CONFIG_KWARGS].tuple.at[k]);
    for (size_t k = HOST_CONFIG_WARPS; same && k < HOST_CONFIG_NUMBER; k++)
      same = const_equal(x[k], y[k]);
    if (same)
      return i;
  }
  return configs.len;
}

// f(configs, named_args, **kwargs): both of the latter contain arguments and constants.
static struct value call_prune(struct reader *r, struct operand f, struct value configs,
                               struct value args, struct span at) {
  struct eval *e = &r->e;
  size_t n = args.tuple.list->len;
  struct operand *all = arena_array(e->a, struct operand, n + 2);
  const char **names = arena_array(e->a, const char *, n + 2);
  all[0] = (struct operand){configs, at};
  all[1] = (struct operand){args, at};
  const struct ast_function *ast = f.v.kind == VALUE_FUNC ? f.v.func->ast : NULL;
  bool takes_rest = false;
  for (size_t i = 0; ast && i < ast->param_count; i++)
    takes_rest = takes_rest || ast->params[i].kind == PARAM_DOUBLE_STAR;
  size_t count = 2;
  for (size_t i = 0; i < n; i++) {
    const struct value *row = args.tuple.list->at[i].tuple.at;
    const char *name = arena_strndup(e->a, row[0].s.ptr, row[0].s.len);
    bool is_param = false; // of its own: a keyword that it names
    for (size_t k = 2; ast && k < ast->param_count; k++)
      is_param = is_param || strcmp(ast->params[k].name, name) == 0;
    if (!takes_rest && !is_param)
      continue;
    names[count] = name;
    all[count++] = (struct operand){row[1], at};
  }
  return host_value(e, eval_call_value(e, f, all, names, count, at));
}

// Marks the configurations that the function returned; false, and reported, for any other value.
static bool mark_kept(struct eval *e, struct tuple configs, struct tuple kept, struct span at,
                      bool *keep) {
  for (size_t i = 0; i < kept.len; i++) {
    size_t k =
        host_is_config(kept.at[i]) ? config_index(configs, host_value(e, kept.at[i])) : configs.len;
    if (k == configs.len) {
      struct diag *d =
          eval_error(e, at, E0464, "the pruning function gives what is not in the list: %s",
                     value_describe(e, kept.at[i]));
      diag_help(d, "it returns those of the configurations that stay");
      return false;
    }
    keep[k] = true;
  }
  return true;
}

bool lang_prune(struct arena *a, struct diag_engine *diag, const struct lang_tuning *t,
                const struct lang_known *known, size_t known_count, bool *keep) {
  for (size_t i = 0; i < t->config_count; i++)
    keep[i] = true;
  if (!t->config_count)
    return true;
  struct reader r;
  reader_open(&r, a, diag, t->source, E0464, "the pruning function");
  struct eval *e = &r.e;
  if (!reader_read(&r))
    return false;
  struct value by = reader_autotune(&r, HOST_AUTOTUNE_PRUNE);
  if (!value_is_record(by, RECORD_DICT))
    return true;
  struct span at = r.autotune.at;
  struct operand f = {host_dict_name(by, "early_config_prune"), at};
  if (f.v.kind == VALUE_NONE)
    return true;
  if (f.v.kind == VALUE_FUNC)
    f.at = f.v.func->ast->name_span;
  struct value list = reader_autotune(&r, HOST_AUTOTUNE_CONFIGS);
  struct tuple configs = list.tuple, kept;
  struct operand result = {
      call_prune(&r, f, host_value(e, list), reader_arguments(&r, known, known_count), f.at), f.at};
  if (e->stopped || !need_sequence(e, result, &kept))
    return false;
  for (size_t i = 0; i < t->config_count; i++)
    keep[i] = false;
  return mark_kept(e, configs, kept, f.at, keep);
}
