// SPDX-License-Identifier: Apache-2.0
// @autotune: lists of configurations, keys, and the arrays to reset or restore.
#include "lang/tuning/reader.h"

static bool names_list(struct eval *e, struct value list, struct span at, const char *what,
                       const char ***ret, size_t *ret_count) {
  struct tuple t = {0};
  if (list.kind != VALUE_NONE && !need_sequence(e, (struct operand){list, at}, &t))
    return false;
  const char **names = arena_array(e->a, const char *, t.len + 1);
  for (size_t i = 0; i < t.len; i++) {
    struct str s;
    if (!need_const_str(e, (struct operand){t.at[i], at}, what, &s))
      return false;
    names[i] = arena_strndup(e->a, s.ptr, s.len);
  }
  *ret = names;
  *ret_count = t.len;
  return true;
}

// Options for other vendors' devices, ignored here.
static bool is_foreign_setting(const char *name) {
  static const char *const names[] = {
      "waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint", "grf_mode", "multibuffer"};
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

static bool positive(struct eval *e, struct operand x, const char *what, uint32_t *ret) {
  int64_t n;
  if (!need_const_int(e, x, what, &n))
    return false;
  if (n < 0 || n > INT32_MAX) {
    diag_help(eval_error(e, x.at, E0461, "%s is %lld", what, (long long)n), "write 1 or more");
    return false;
  }
  *ret = (uint32_t)n;
  return true;
}

static bool specializes(struct eval *e, struct operand x, enum warp_specialize *ret) {
  struct str s;
  if (x.v.kind == VALUE_BOOL) {
    *ret = x.v.b ? WARP_SPECIALIZE_ON : WARP_SPECIALIZE_OFF;
    return true;
  }
  if (!need_const_str(e, x, "warp_specialize", &s))
    return false;
  if (!warp_specialize_of(s, ret))
    eval_error(e, x.at, E0461, "warp_specialize is True, False or \"auto\", not \"%.*s\"",
               STR_ARG(s));
  return warp_specialize_of(s, ret);
}

// Launch options may be given among the parameters.
static bool launch_option(struct eval *e, const char *name, struct operand v, struct lang_config *c,
                          bool *ret_ok) {
  uint32_t *to = strcmp(name, "num_warps") == 0    ? &c->num_warps
                 : strcmp(name, "num_stages") == 0 ? &c->num_stages
                 : strcmp(name, "maxnreg") == 0    ? &c->max_registers
                 : strcmp(name, "num_ctas") == 0   ? &c->num_ctas
                                                   : NULL;
  bool is_choice = strcmp(name, "warp_specialize") == 0;
  if (is_choice)
    *ret_ok = v.v.kind == VALUE_NONE || specializes(e, v, &c->warp_specialize);
  if (to)
    *ret_ok = v.v.kind == VALUE_NONE || positive(e, v, name, to);
  return to || is_choice;
}

static bool read_settings(struct reader *r, struct value kwargs, struct span kwargs_at,
                          struct lang_config *c) {
  struct eval *e = &r->e;
  struct tuple t = kwargs.tuple;
  c->settings = arena_array(e->a, struct lang_setting, t.len + 1);
  for (size_t i = 0; i < t.len; i++) {
    struct value key = t.at[i].tuple.at[0], v = t.at[i].tuple.at[1];
    struct str s;
    bool ok;
    if (!need_const_str(e, (struct operand){key, c->span}, "the name of a parameter", &s))
      return false;
    const char *name = arena_strndup(e->a, s.ptr, s.len);
    if (is_foreign_setting(name) && !reader_has_param(r->kernel, name))
      continue;
    if (!reader_has_param(r->kernel, name) &&
        launch_option(e, name, (struct operand){v, c->span}, c, &ok)) {
      if (!ok)
        return false;
      continue;
    }
    if (!reader_has_param(r->kernel, name))
      return reader_unknown_param(r, name, reader_word(kwargs_at, c->span, name));
    struct lang_setting *to = &c->settings[c->setting_count++];
    to->name = name;
    if (!need_known(e, (struct operand){v, c->span}) ||
        !reader_text(e, v, name, c->span, &to->text))
      return false;
  }
  return true;
}

static bool read_config(struct reader *r, struct value v, struct span at, struct lang_config *ret) {
  struct eval *e = &r->e;
  if (v.kind == VALUE_OPAQUE)
    return need_known(e, (struct operand){v, at});
  if (!host_is_config(v)) {
    struct diag *d =
        eval_error(e, at, E0461, "%s in the list of configurations", value_describe(e, v));
    diag_help(d, "each is a `triton.Config({...}, num_warps=..., num_stages=...)`");
    return false;
  }
  const struct value *f = v.tuple.list ? v.tuple.list->at : v.tuple.at;
  const struct host_config *said = &r->purpose.configs.at[f[HOST_CONFIG_NUMBER].i];
  struct span s = said->span;
  uint32_t warps, stages, ctas;
  *ret = (struct lang_config){.span = s};
  if (!positive(e, (struct operand){f[HOST_CONFIG_WARPS], s}, "num_warps", &warps) ||
      !positive(e, (struct operand){f[HOST_CONFIG_STAGES], s}, "num_stages", &stages))
    return false;
  if (f[HOST_CONFIG_REGISTERS].kind != VALUE_NONE &&
      !positive(e, (struct operand){f[HOST_CONFIG_REGISTERS], s}, "maxnreg", &ret->max_registers))
    return false;
  if (!positive(e, (struct operand){f[HOST_CONFIG_CTAS], s}, "num_ctas", &ctas))
    return false;
  ret->num_ctas = ctas > 1 ? ctas : 0;
  ret->num_warps = said->has_warps || warps != 4 ? warps : 0;
  ret->num_stages = said->has_stages || stages != 3 ? stages : 0;
  if (f[HOST_CONFIG_PRE_HOOK].kind != VALUE_NONE)
    eval_remark(e, s, "autotune",
                "of `pre_hook` only the blocks of tensor descriptors have an effect");
  return read_settings(r, host_value(e, f[HOST_CONFIG_KWARGS]), said->kwargs_at, ret);
}

static bool read_configs(struct reader *r, struct lang_tuning *ret) {
  struct operand list = {reader_autotune(r, HOST_AUTOTUNE_CONFIGS), r->autotune.at};
  struct tuple t;
  if (list.v.kind != VALUE_TUPLE && list.v.kind != VALUE_OPAQUE) {
    struct diag *d = eval_error(&r->e, list.at, E0461, "`configs` is %s, not a list",
                                value_describe(&r->e, list.v));
    diag_help(d, "write `configs=[triton.Config({...}), ...]`");
    return false;
  }
  if (!need_sequence(&r->e, list, &t))
    return false;
  ret->configs = arena_array(r->e.a, struct lang_config, t.len + 1);
  for (size_t i = 0; i < t.len; i++)
    if (!read_config(r, t.at[i], list.at, &ret->configs[ret->config_count++]))
      return false;
  return true;
}

// Names in `key` that are no parameters have no effect, in Triton as here: a warning.
static void check_key(struct reader *r, const struct lang_tuning *t) {
  struct span key_at = r->purpose.autotune_at[HOST_AUTOTUNE_KEY];
  for (size_t i = 0; i < t->key_count; i++)
    if (!reader_has_param(r->kernel, t->key[i]))
      reader_help_param(r,
                        diag_warning(r->e.diag, reader_word(key_at, r->autotune.at, t->key[i]),
                                     E0462, "`key` names no parameter of `%s`: `%s`",
                                     r->kernel->name, t->key[i]),
                        t->key[i], reader_word(key_at, SPAN_NONE, t->key[i]));
}

bool configs_read(struct reader *r, struct lang_tuning *ret) {
  struct eval *e = &r->e;
  struct span at = ret->span = r->autotune.at;
  bool ok = read_configs(r, ret) &&
            names_list(e, reader_autotune(r, HOST_AUTOTUNE_KEY), at, "`key`", &ret->key,
                       &ret->key_count) &&
            names_list(e, reader_autotune(r, HOST_AUTOTUNE_RESET), at, "`reset_to_zero`",
                       &ret->reset_to_zero, &ret->reset_count) &&
            names_list(e, reader_autotune(r, HOST_AUTOTUNE_RESTORE), at, "`restore_value`",
                       &ret->restore_value, &ret->restore_count);
  if (ok)
    check_key(r, ret);
  return ok;
}
