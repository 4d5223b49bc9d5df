// SPDX-License-Identifier: Apache-2.0
// Checks a value for its use: an integer, a truth, a string, a sequence, any known value.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions; a
// sequence may be an Enum, whose members are expressions (lang/eval/eval.h).
#include "lang/eval/consteval.h"
#include "lang/eval/objects.h"

bool need_known(struct eval *e, struct operand x) {
  if (x.v.kind != VALUE_OPAQUE)
    return !value_is_poison(x.v);
  const struct opaque *o = x.v.opaque;
  struct diag *d = eval_error(e, x.at, e->purpose->code, "%s needs `%s`, which is not known here",
                              e->purpose->what, o->path);
  const char *param = e->purpose->param ? e->purpose->param : "NAME";
  if (e->purpose->code == E0464)
    diag_help(d, "`--space` says what may be chosen, without the pruning function");
  else if (o->argument)
    diag_help(d, "a launch gives it; give what follows from it by `-D %s=...`", param);
  else
    diag_help(d,
              "host code is not evaluated for it; write the value, or give the parameters by "
              "`-D %s=...`",
              param);
  return false;
}

bool need_const_int(struct eval *e, struct operand x, const char *what, int64_t *ret) {
  int_const i;
  if (!need_known(e, x))
    return false;
  if (value_as_int(x.v, &i) && i >= INT64_MIN && i <= INT64_MAX)
    return *ret = (int64_t)i, true;
  if (x.v.kind == VALUE_RT) {
    struct diag *d = eval_error(e, x.at, E0301, "%s must be known at compile time", what);
    diag_primary_label(d, "%s", type_text(e->a, x.v.type));
    diag_help(d, "make it a `tl.constexpr` parameter");
  } else {
    diag_help(
        eval_error(e, x.at, E0301, "%s must be an integer, not %s", what, value_describe(e, x.v)),
        "write an integer, such as 128");
  }
  return false;
}

bool need_const_bool(struct eval *e, struct operand x, const char *what, bool *ret) {
  if (!need_known(e, x))
    return false;
  if (const_truth(x.v, ret))
    return true;
  diag_help(
      eval_error(e, x.at, E0301, "%s must be known at compile time", what),
      "compute it from `tl.constexpr` parameters; `tl.device_assert` tests values of a launch");
  return false;
}

bool need_const_str(struct eval *e, struct operand x, const char *what, struct str *ret) {
  if (!need_known(e, x))
    return false;
  if (x.v.kind == VALUE_STR)
    return *ret = x.v.s, true;
  diag_help(eval_error(e, x.at, E0301, "%s must be a string known at compile time, not %s", what,
                       value_describe(e, x.v)),
            "write it in quotes, or pass it as a `tl.constexpr` parameter");
  return false;
}

static bool range_values(struct eval *e, struct operand x, struct tuple *ret) {
  int64_t lower, upper, step;
  const struct range *r = &x.v.range;
  if (!need_const_int(e, (struct operand){*r->lower, x.at}, "a bound of the range", &lower) ||
      !need_const_int(e, (struct operand){*r->upper, x.at}, "a bound of the range", &upper) ||
      !need_const_int(e, (struct operand){*r->step, x.at}, "the step of the range", &step))
    return false;
  VEC(struct value) v = {0};
  for (int_const i = lower; step != 0 && (step > 0 ? i < upper : i > upper); i += step) {
    if (v.len == EVAL_MAX_UNROLL) {
      diag_help(eval_error(e, x.at, E0309, "a sequence of more than %d values", EVAL_MAX_UNROLL),
                "use a tile for many values: `tl.arange`, `tl.zeros`");
      return false;
    }
    vec_push(e->a, &v, value_int(i));
  }
  *ret = (struct tuple){v.at, v.len};
  return true;
}

static struct tuple keys_of(struct eval *e, struct tuple dict) {
  struct value *keys = arena_array(e->a, struct value, dict.len ? dict.len : 1);
  for (size_t i = 0; i < dict.len; i++)
    keys[i] = dict.at[i].tuple.at[0];
  return (struct tuple){keys, dict.len, NULL};
}

bool need_sequence(struct eval *e, struct operand x, struct tuple *ret) {
  if (!need_known(e, x))
    return false;
  if (value_is_record(x.v, RECORD_DICT))
    return *ret = keys_of(e, x.v.tuple), true;
  if (x.v.kind == VALUE_TUPLE && !value_is_memory_record(x.v))
    return *ret = x.v.tuple, true;
  if (x.v.kind == VALUE_RANGE)
    return range_values(e, x, ret);
  if (x.v.kind == VALUE_CLASS && (!enum_members(e, x.v.class, x.at, ret) || ret->at))
    return ret->at != NULL;
  diag_help(eval_error(e, x.at, E0230, "%s is not a sequence", value_describe(e, x.v)),
            "a tuple `(a, b)` or `range(n)` has several values; a tile is reduced by `tl.max(x, "
            "axis=0)` or "
            "`tl.sum(x, axis=0)`");
  return false;
}

// Counts the values in a sequence and those nested in it, up to the limit: a shared part may occur
// any number of times.
static void count_values(const struct value *v, size_t limit, unsigned depth, size_t *count) {
  if (depth > EVAL_MAX_NESTING)
    *count = limit + 1;
  if (v->kind != VALUE_TUPLE || !v->tuple.len) {
    ++*count;
    return;
  }
  for (size_t i = 0; i < v->tuple.len && *count <= limit; i++)
    count_values(&v->tuple.at[i], limit, depth + 1, count);
}

bool eval_check_size(struct eval *e, struct value v, struct span at) {
  size_t count = 0, limit = e->on->most_values;
  count_values(&v, limit, 0, &count);
  if (count > limit)
    diag_help(eval_error(e, at, E0309, "a sequence of more than %zu values", limit),
              "use a tile for many values: `tl.arange`, `tl.zeros`");
  return count <= limit;
}
