// SPDX-License-Identifier: Apache-2.0
// @heuristics, called with the known values of a launch.
#include "lang/eval/consteval.h"
#include "lang/tuning/reader.h"

// Heuristics for launch options are ignored: they do not change results.
static bool is_launch_option(const struct ast_function *f, const char *name) {
  static const char *const names[] = {"num_warps", "num_stages", "num_ctas", "maxnreg",
                                      "warp_specialize"};
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (strcmp(names[i], name) == 0)
      return !reader_has_param(f, name);
  return false;
}

bool heuristics_read(struct reader *r, struct lang_tuning *ret) {
  VEC(const char *) names = {0};
  for (size_t i = 0; i < r->heuristics.len; i++) {
    struct operand x = r->heuristics.at[i];
    if (!value_is_record(x.v, RECORD_DICT)) {
      eval_error(&r->e, x.at, E0463, "`heuristics` takes a dictionary of functions, not %s",
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
      if (!reader_has_param(r->kernel, name))
        return reader_unknown_param(r, name, x.at);
      vec_push(r->e.a, &names, name);
    }
  }
  ret->heuristics = names.at;
  ret->heuristic_count = names.len;
  return true;
}

// ---- what is known of a launch ----

static struct value known_value(struct eval *e, const struct lang_known *k) {
  struct value v;
  if (k->is_text)
    return const_parse(e->a, str_from(k->text), &v) ? v : value_of_kind(VALUE_NONE);
  if (k->is_descriptor)
    return host_descriptor(e, k->name, k->dtype);
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

// Every parameter by name: given, its default, or unknown.
struct value reader_arguments(struct reader *r, const struct lang_known *known, size_t count) {
  struct eval *e = &r->e;
  struct value args = host_dict(e);
  for (size_t i = 0; i < r->kernel->param_count; i++) {
    const struct ast_param *p = &r->kernel->params[i];
    const struct lang_known *k = find_known(known, count, p->name);
    struct value v = k                  ? known_value(e, k)
                     : p->default_value ? eval_expr(e, p->default_value)
                                        : host_argument(e, p->name, false, DTYPE_NONE);
    host_dict_put(e, args, value_str(str_from(p->name)), v);
  }
  for (size_t i = 0; i < count; i++)
    if (!reader_has_param(r->kernel, known[i].name))
      host_dict_put(e, args, value_str(str_from(known[i].name)), known_value(e, &known[i]));
  return args;
}

// ---- the call ----

bool lang_heuristics(struct arena *a, struct diag_engine *diag, const struct lang_tuning *t,
                     const struct lang_known *known, size_t known_count, struct lang_setting *ret) {
  if (!t->heuristic_count)
    return true;
  struct reader r;
  reader_open(&r, a, diag, t->source, E0463, "a heuristic");
  struct eval *e = &r.e;
  if (!reader_read(&r))
    return false;
  struct value args = reader_arguments(&r, known, known_count);
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
      r.purpose.param = name;
      r.purpose.what = arena_printf(a, "the heuristic of `%s`", name);
      struct operand f = {row[1], row[1].kind == VALUE_FUNC ? row[1].func->ast->name_span : x.at};
      struct operand arg = {host_value(e, args), x.at};
      struct operand v = {eval_call_value(e, f, &arg, NULL, 1, f.at), f.at};
      if (e->stopped || !need_known(e, v) || !reader_text(e, v.v, name, f.at, &to->text))
        return false;
      host_dict_put(e, args, row[0], v.v);
    }
  }
  return true;
}
