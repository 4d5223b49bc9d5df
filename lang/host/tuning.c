// SPDX-License-Identifier: Apache-2.0
// The decorators of a kernel, evaluated: @autotune to lists of configurations, @heuristics and
// pruning functions called with what is known of a launch. Nothing is kept between the calls but
// the tree: each evaluates the decorators anew, so that callers may use any arena in any thread.
#include "lang/host/tuning.h"

#include "lang/emit/consteval.h"
#include "lang/host/host.h"
#include "lang/unit.h"

struct lang_tuning_source {
  const struct lang_unit *unit;
  const struct ast_function *kernel;
};

// One evaluation.
struct reader {
  struct emitter e;
  struct host host;
  struct lang_options options;
  struct lang_imports imports;
  struct frame frame;
  const struct ast_function *kernel;
  struct operand autotune; // VALUE_ABSENT: none
  VEC(struct operand) heuristics;
};

// ---- evaluating ----

static void open_reader(struct reader *r, struct arena *a, struct diag_engine *diag,
                        const struct lang_tuning_source *s, enum diag_code code, const char *what) {
  const struct lang_unit *u = s->unit;
  // A copy: what is read here is found again by whoever compiles.
  *r = (struct reader){.kernel = s->kernel, .imports = lang_unit_imports(a, u)};
  bool is_gpu = u->target && strncmp(u->target, "sm_", 3) == 0;
  r->options = (struct lang_options){.kernel = s->kernel->name,
                                     .target = is_gpu ? u->target : "sm_80",
                                     .num_warps = 4,
                                     .imports = &r->imports};
  r->host = (struct host){.code = code, .what = what};
  r->frame = (struct frame){.module = u->tree};
  r->autotune.v = value_of_kind(VALUE_ABSENT);
  r->e = (struct emitter){.a = a,
                          .diag = diag,
                          .options = &r->options,
                          .module = u->tree,
                          .frame = &r->frame,
                          .host = &r->host,
                          .errors = diag_error_count(diag)};
  builtins_register(&r->e);
}

static const char *last_word(const struct expr *e) {
  if (e->kind == EXPR_CALL)
    e = e->call.callee;
  return e->kind == EXPR_ATTRIBUTE ? e->attribute.name : e->kind == EXPR_NAME ? e->name : "";
}

static bool is_decorator(const struct expr *e, const char *name) {
  return e->kind == EXPR_CALL && strcmp(last_word(e), name) == 0;
}

// @heuristics may be written more than once; of @autotune the outermost counts.
static bool read_decorators(struct reader *r) {
  for (size_t i = 0; i < r->kernel->decorators.len; i++) {
    const struct expr *x = r->kernel->decorators.at[i];
    bool is_autotune = is_decorator(x, "autotune");
    if (!is_autotune && !is_decorator(x, "heuristics"))
      continue;
    struct operand v = {emit_expr(&r->e, x), x->span};
    if (!need_known(&r->e, v) || r->e.stopped)
      return false;
    if (!is_autotune)
      vec_push(r->e.a, &r->heuristics, v);
    else if (r->autotune.v.kind == VALUE_ABSENT)
      r->autotune = v;
  }
  return true;
}

static struct value autotune_field(const struct reader *r, enum host_autotune_field field) {
  return r->autotune.v.tuple.at[field];
}

// ---- values ----

// As of -D. False where that cannot say it, which is reported.
static bool setting_text(struct emitter *e, struct value v, const char *name, struct span at,
                         const char **ret) {
  struct strbuf b = {.arena = e->a};
  struct value back;
  if (value_is_const(v))
    const_format(e, v, true, &b);
  *ret = arena_strdup(e->a, strbuf_cstr(&b));
  strbuf_finish(&b);
  if (const_parse(e->a, str_from(*ret), &back) && back.kind == v.kind)
    return true;
  struct diag *d = emit_error(e, at, E0462, "%s is no value for `%s`", value_describe(e, v), name);
  diag_help(d, "a number, True, False, None, a type, or a string");
  return false;
}

static bool names_list(struct emitter *e, struct value list, struct span at, const char *what,
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

// ---- configurations ----

// What configurations for other vendors' devices say; it means nothing here.
static bool is_foreign_setting(const char *name) {
  static const char *const names[] = {
      "waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint", "grf_mode", "multibuffer"};
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

static bool positive(struct emitter *e, struct operand x, const char *what, uint32_t *ret) {
  int64_t n;
  if (!need_const_int(e, x, what, &n))
    return false;
  if (n < 0 || n > INT32_MAX) {
    emit_error(e, x.at, E0461, "%s is %lld", what, (long long)n);
    return false;
  }
  *ret = (uint32_t)n;
  return true;
}

// Options of a launch may stand among the parameters.
static bool launch_option(struct emitter *e, const char *name, struct operand v,
                          struct lang_config *c, bool *ret_ok) {
  uint32_t ignored;
  uint32_t *to = strcmp(name, "num_warps") == 0    ? &c->num_warps
                 : strcmp(name, "num_stages") == 0 ? &c->num_stages
                 : strcmp(name, "maxnreg") == 0    ? &c->max_registers
                 : strcmp(name, "num_ctas") == 0   ? &ignored
                                                   : NULL;
  if (to)
    *ret_ok = v.v.kind == VALUE_NONE || positive(e, v, name, to);
  return to != NULL;
}

static bool has_param(const struct ast_function *f, const char *name) {
  for (size_t i = 0; i < f->param_count; i++)
    if (strcmp(f->params[i].name, name) == 0)
      return true;
  return false;
}

static bool unknown_param(struct reader *r, const char *name, struct span at) {
  const struct ast_function *f = r->kernel;
  struct diag *d =
      emit_error(&r->e, at, E0462, "the kernel `%s` has no parameter `%s`", f->name, name);
  const char **names = arena_array(r->e.a, const char *, f->param_count + 1);
  for (size_t i = 0; i < f->param_count; i++)
    names[i] = f->params[i].name;
  const char *near = str_nearest(str_from(name), names, f->param_count);
  if (near)
    diag_help(d, "did you mean `%s`?", near);
  else
    diag_help(d, "a configuration gives values to compile-time parameters of its kernel");
  return false;
}

static bool read_settings(struct reader *r, struct value kwargs, struct lang_config *c) {
  struct emitter *e = &r->e;
  struct tuple t = kwargs.tuple;
  c->settings = arena_array(e->a, struct lang_setting, t.len + 1);
  for (size_t i = 0; i < t.len; i++) {
    struct value key = t.at[i].tuple.at[0], v = t.at[i].tuple.at[1];
    struct str s;
    bool ok;
    if (!need_const_str(e, (struct operand){key, c->span}, "the name of a parameter", &s))
      return false;
    const char *name = arena_strndup(e->a, s.ptr, s.len);
    if (is_foreign_setting(name) && !has_param(r->kernel, name))
      continue;
    if (!has_param(r->kernel, name) &&
        launch_option(e, name, (struct operand){v, c->span}, c, &ok)) {
      if (!ok)
        return false;
      continue;
    }
    if (!has_param(r->kernel, name))
      return unknown_param(r, name, c->span);
    struct lang_setting *to = &c->settings[c->setting_count++];
    to->name = name;
    if (!need_known(e, (struct operand){v, c->span}) ||
        !setting_text(e, v, name, c->span, &to->text))
      return false;
  }
  return true;
}

static bool read_config(struct reader *r, struct value v, struct span at, struct lang_config *ret) {
  struct emitter *e = &r->e;
  if (v.kind == VALUE_OPAQUE)
    return need_known(e, (struct operand){v, at});
  if (!host_is_config(v)) {
    struct diag *d =
        emit_error(e, at, E0461, "%s in the list of configurations", value_describe(e, v));
    diag_help(d, "each is a `triton.Config({...}, num_warps=..., num_stages=...)`");
    return false;
  }
  const struct value *f = v.tuple.list ? v.tuple.list->at : v.tuple.at;
  const struct host_config *said = &r->host.configs.at[f[HOST_CONFIG_NUMBER].i];
  struct span s = said->span;
  uint32_t warps, stages;
  *ret = (struct lang_config){.span = s};
  if (!positive(e, (struct operand){f[HOST_CONFIG_WARPS], s}, "num_warps", &warps) ||
      !positive(e, (struct operand){f[HOST_CONFIG_STAGES], s}, "num_stages", &stages))
    return false;
  if (f[HOST_CONFIG_REGISTERS].kind != VALUE_NONE &&
      !positive(e, (struct operand){f[HOST_CONFIG_REGISTERS], s}, "maxnreg", &ret->max_registers))
    return false;
  ret->num_warps = said->has_warps || warps != 4 ? warps : 0;
  ret->num_stages = said->has_stages || stages != 3 ? stages : 0;
  if (f[HOST_CONFIG_PRE_HOOK].kind != VALUE_NONE)
    emit_remark(e, s, "autotune", "`pre_hook` is code of the host and is not called");
  return read_settings(r, host_value(e, f[HOST_CONFIG_KWARGS]), ret);
}

static bool read_configs(struct reader *r, struct lang_tuning *ret) {
  struct operand list = {autotune_field(r, HOST_AUTOTUNE_CONFIGS), r->autotune.at};
  struct tuple t;
  if (list.v.kind != VALUE_TUPLE && list.v.kind != VALUE_OPAQUE) {
    struct diag *d = emit_error(&r->e, list.at, E0461, "`configs` is %s, not a list",
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

static bool read_autotune(struct reader *r, struct lang_tuning *ret) {
  struct emitter *e = &r->e;
  struct span at = ret->span = r->autotune.at;
  return read_configs(r, ret) &&
         names_list(e, autotune_field(r, HOST_AUTOTUNE_KEY), at, "`key`", &ret->key,
                    &ret->key_count) &&
         names_list(e, autotune_field(r, HOST_AUTOTUNE_RESET), at, "`reset_to_zero`",
                    &ret->reset_to_zero, &ret->reset_count) &&
         names_list(e, autotune_field(r, HOST_AUTOTUNE_RESTORE), at, "`restore_value`",
                    &ret->restore_value, &ret->restore_count);
}

// ---- heuristics ----

// Heuristics for options of the launch are not followed: they change no result.
static bool is_launch_option(const struct ast_function *f, const char *name) {
  static const char *const names[] = {"num_warps", "num_stages", "num_ctas", "maxnreg"};
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (strcmp(names[i], name) == 0)
      return !has_param(f, name);
  return false;
}

static bool read_heuristics(struct reader *r, struct lang_tuning *ret) {
  VEC(const char *) names = {0};
  for (size_t i = 0; i < r->heuristics.len; i++) {
    struct operand x = r->heuristics.at[i];
    if (!value_is_record(x.v, RECORD_DICT)) {
      emit_error(&r->e, x.at, E0463, "`heuristics` takes a dictionary of functions, not %s",
                 value_describe(&r->e, x.v));
      return false;
    }
    for (size_t k = 0; k < x.v.tuple.len; k++) {
      struct str s;
      if (!need_const_str(&r->e, (struct operand){x.v.tuple.at[k].tuple.at[0], x.at},
                          "the name of a parameter", &s))
        return false;
      const char *name = arena_strndup(r->e.a, s.ptr, s.len);
      if (is_launch_option(r->kernel, name))
        continue;
      if (!has_param(r->kernel, name))
        return unknown_param(r, name, x.at);
      vec_push(r->e.a, &names, name);
    }
  }
  ret->heuristics = names.at;
  ret->heuristic_count = names.len;
  return true;
}

// ---- what is known of a launch ----

static struct value known_value(struct emitter *e, const struct lang_known *k) {
  struct value v;
  if (k->is_text)
    return const_parse(e->a, str_from(k->text), &v) ? v : value_of_kind(VALUE_NONE);
  if (k->is_pointer || k->is_unknown)
    return host_argument(e, k->name, k->is_pointer, k->dtype);
  if (k->dtype == DTYPE_I1)
    return value_bool(k->integer != 0);
  return k->is_integer ? value_int(k->integer) : value_float(k->real);
}

static const struct lang_known *find_known(const struct lang_known *known, size_t count,
                                           const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(known[i].name, name) == 0)
      return &known[i];
  return NULL;
}

// Every parameter by name: as given, by its default, or unknown.
static struct value arguments(struct reader *r, const struct lang_known *known, size_t count) {
  struct emitter *e = &r->e;
  struct value args = host_dict(e);
  for (size_t i = 0; i < r->kernel->param_count; i++) {
    const struct ast_param *p = &r->kernel->params[i];
    const struct lang_known *k = find_known(known, count, p->name);
    struct value v = k                  ? known_value(e, k)
                     : p->default_value ? emit_expr(e, p->default_value)
                                        : host_argument(e, p->name, false, DTYPE_NONE);
    host_dict_put(e, args, value_str(str_from(p->name)), v);
  }
  for (size_t i = 0; i < count; i++)
    if (!has_param(r->kernel, known[i].name))
      host_dict_put(e, args, value_str(str_from(known[i].name)), known_value(e, &known[i]));
  return args;
}

// ---- the calls ----

static const struct ast_function *kernel_of(const struct ast_module *m, const char *name) {
  if (!name && m->kernel_count == 1)
    name = m->kernel_names[0];
  return name ? ast_find_function(m, name) : NULL;
}

bool lang_is_tuned(const struct lang_unit *u, const char *kernel, bool *ret_heuristics) {
  const struct ast_function *f = kernel_of(u->tree, kernel);
  bool found = false;
  *ret_heuristics = false;
  for (size_t i = 0; f && i < f->decorators.len; i++) {
    bool is_heuristic = is_decorator(f->decorators.at[i], "heuristics");
    *ret_heuristics = *ret_heuristics || is_heuristic;
    found = found || is_heuristic || is_decorator(f->decorators.at[i], "autotune");
  }
  return found;
}

bool lang_tuning_of(struct arena *a, struct diag_engine *diag, const struct lang_unit *u,
                    const char *kernel, struct lang_tuning *ret) {
  *ret = (struct lang_tuning){.span = SPAN_NONE};
  const struct ast_function *f = kernel_of(u->tree, kernel);
  if (!f)
    return true;
  struct lang_tuning_source *s = arena_new(a, struct lang_tuning_source);
  *s = (struct lang_tuning_source){u, f};
  ret->source = s;
  struct reader r;
  open_reader(&r, a, diag, s, E0460, "the list of configurations");
  return read_decorators(&r) && (r.autotune.v.kind == VALUE_ABSENT || read_autotune(&r, ret)) &&
         read_heuristics(&r, ret);
}

bool lang_heuristics(struct arena *a, struct diag_engine *diag, const struct lang_tuning *t,
                     const struct lang_known *known, size_t known_count, struct lang_setting *ret) {
  if (!t->heuristic_count)
    return true;
  struct reader r;
  open_reader(&r, a, diag, t->source, E0463, "a heuristic");
  struct emitter *e = &r.e;
  if (!read_decorators(&r))
    return false;
  struct value args = arguments(&r, known, known_count);
  size_t n = 0;
  for (size_t i = 0; i < r.heuristics.len; i++) {
    struct operand x = r.heuristics.at[i];
    for (size_t k = 0; k < x.v.tuple.len; k++) {
      struct value *row = x.v.tuple.at[k].tuple.at;
      if (is_launch_option(r.kernel, arena_strndup(a, row[0].s.ptr, row[0].s.len)))
        continue;
      struct lang_setting *to = &ret[n];
      const char *name = to->name = t->heuristics[n++];
      const struct lang_known *given = find_known(known, known_count, name);
      if (given && given->is_text) {
        to->text = given->text;
        continue;
      }
      r.host.param = name;
      r.host.what = arena_printf(a, "the heuristic of `%s`", name);
      struct operand f = {row[1], row[1].kind == VALUE_FUNC ? row[1].func->ast->name_span : x.at};
      struct operand arg = {host_value(e, args), x.at};
      struct operand v = {emit_call_value(e, f, &arg, NULL, 1, f.at), f.at};
      if (e->stopped || !need_known(e, v) || !setting_text(e, v.v, name, f.at, &to->text))
        return false;
      host_dict_put(e, args, row[0], v.v);
    }
  }
  return true;
}

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

// f(configs, named_args, **kwargs): arguments and constants are in both of the latter.
static struct value call_prune(struct reader *r, struct operand f, struct value configs,
                               struct value args, struct span at) {
  struct emitter *e = &r->e;
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
  return host_value(e, emit_call_value(e, f, all, names, count, at));
}

bool lang_prune(struct arena *a, struct diag_engine *diag, const struct lang_tuning *t,
                const struct lang_known *known, size_t known_count, bool *keep) {
  for (size_t i = 0; i < t->config_count; i++)
    keep[i] = true;
  if (!t->config_count)
    return true;
  struct reader r;
  open_reader(&r, a, diag, t->source, E0464, "the pruning function");
  struct emitter *e = &r.e;
  if (!read_decorators(&r))
    return false;
  struct value by = autotune_field(&r, HOST_AUTOTUNE_PRUNE);
  if (!value_is_record(by, RECORD_DICT))
    return true;
  struct span at = r.autotune.at;
  struct operand f = {host_dict_name(by, "early_config_prune"), at};
  if (f.v.kind == VALUE_NONE)
    return true;
  if (f.v.kind == VALUE_FUNC)
    f.at = f.v.func->ast->name_span;
  struct value list = autotune_field(&r, HOST_AUTOTUNE_CONFIGS);
  struct tuple configs = list.tuple, kept;
  struct operand result = {
      call_prune(&r, f, host_value(e, list), arguments(&r, known, known_count), f.at), f.at};
  if (e->stopped || !need_sequence(e, result, &kept))
    return false;
  for (size_t i = 0; i < t->config_count; i++)
    keep[i] = false;
  for (size_t i = 0; i < kept.len; i++) {
    size_t k =
        host_is_config(kept.at[i]) ? config_index(configs, host_value(e, kept.at[i])) : configs.len;
    if (k == configs.len) {
      struct diag *d =
          emit_error(e, f.at, E0464, "the pruning function gives what is not in the list: %s",
                     value_describe(e, kept.at[i]));
      diag_help(d, "it returns those of the configurations that stay");
      return false;
    }
    keep[k] = true;
  }
  return true;
}
