// SPDX-License-Identifier: Apache-2.0
// Device intrinsics: clocks, programmatic dependent launch, inline assembly, libdevice functions.
#include "lang/builtins/builtins.h"

struct value builtin_special_register(struct eval *e, struct call *c) {
  enum dtype t = (enum dtype)c->builtin->tag;
  return value_rt(build_special_register(&e->b, c->builtin->name, t), type_scalar(t));
}

struct value builtin_grid_dependency(struct eval *e, struct call *c) {
  build_grid_dependency(&e->b, c->builtin->tag ? "launch_dependents" : "wait");
  return value_of_kind(VALUE_NONE);
}

// ---- inline assembly ----

enum { ASM_MAX_ARGS = 16, ASM_MAX_PACK = 16 };

struct assembly {
  struct operand args[ASM_MAX_ARGS];
  size_t arg_count;
  struct type elements[COLLECTIVE_MAX_VALUES];
  size_t result_count;
  bool is_tuple;
};

static bool asm_args(struct eval *e, struct operand x, struct assembly *a) {
  struct value one[1] = {x.v};
  struct tuple t = x.v.kind == VALUE_TUPLE ? x.v.tuple : (struct tuple){one, 1};
  if (t.len > ASM_MAX_ARGS) {
    eval_error(e, x.at, E0503, "inline assembly takes at most %d arguments", ASM_MAX_ARGS);
    return false;
  }
  a->arg_count = t.len;
  for (size_t i = 0; i < t.len; i++) {
    struct operand item = {t.at[i], x.at};
    a->args[i] = (struct operand){to_runtime(e, item, "an argument of inline assembly"), x.at};
    if (value_is_poison(a->args[i].v))
      return false;
  }
  for (size_t i = 0; i < 2 * t.len; i++)
    if (!broadcast_pair(e, &a->args[0], &a->args[i % t.len], x.at))
      return false;
  return true;
}

static bool asm_results(struct eval *e, struct operand x, struct assembly *a) {
  struct value one[1] = {x.v};
  a->is_tuple = x.v.kind == VALUE_TUPLE;
  struct tuple t = a->is_tuple ? x.v.tuple : (struct tuple){one, 1};
  if (t.len == 0 || t.len > COLLECTIVE_MAX_VALUES) {
    eval_error(e, x.at, E0503, "inline assembly has 1 to %d results", COLLECTIVE_MAX_VALUES);
    return false;
  }
  a->result_count = t.len;
  for (size_t i = 0; i < t.len; i++)
    if (!need_type(e, (struct operand){t.at[i], x.at}, "a result", &a->elements[i]))
      return false;
  return true;
}

static const char *text_of(struct eval *e, struct str s) {
  return arena_strndup(e->a, s.ptr, s.len);
}

static bool check_asm(struct eval *e, struct call *c, struct str text, struct str constraints,
                      int64_t pack) {
  for (unsigned i = 0; i < 2; i++) {
    struct str s = i ? constraints : text;
    if (s.len && memchr(s.ptr, 0, s.len)) {
      eval_error(e, c->args[i].at, E0503, "inline assembly cannot hold a NUL character");
      return false;
    }
  }
  if (pack >= 1 && pack <= ASM_MAX_PACK)
    return true;
  eval_error(e, c->args[5].at, E0503, "`pack` is 1 to %d, not %lld", ASM_MAX_PACK, (long long)pack);
  return false;
}

struct value builtin_inline_asm(struct eval *e, struct call *c) {
  struct str text, constraints;
  struct assembly a;
  bool is_pure;
  int64_t pack;
  if (!need_const_str(e, c->args[0], "the assembly", &text) ||
      !need_const_str(e, c->args[1], "the constraints", &constraints) ||
      !asm_args(e, c->args[2], &a) || !asm_results(e, c->args[3], &a) ||
      !need_const_bool(e, c->args[4], "`is_pure`", &is_pure) ||
      !need_const_int(e, c->args[5], "`pack`", &pack) || !check_asm(e, c, text, constraints, pack))
    return VALUE_ERROR;
  MlirValue values[ASM_MAX_ARGS], results[COLLECTIVE_MAX_VALUES];
  MlirType types[COLLECTIVE_MAX_VALUES];
  for (size_t i = 0; i < a.arg_count; i++)
    values[i] = a.args[i].v.rt;
  for (size_t i = 0; i < a.result_count; i++) {
    if (a.arg_count)
      a.elements[i] = type_shaped(a.elements[i], a.args[0].v.type);
    types[i] = type_to_mlir(e->c, a.elements[i]);
  }
  build_inline_asm(&e->b, text_of(e, text), text_of(e, constraints), (unsigned)pack, is_pure,
                   a.arg_count, values, a.result_count, types, results);
  struct value *at = arena_array(e->a, struct value, a.result_count);
  for (size_t i = 0; i < a.result_count; i++)
    at[i] = value_rt(results[i], a.elements[i]);
  return a.is_tuple ? value_tuple(at, a.result_count) : at[0];
}

// ---- functions of libdevice by symbol ----

// `__nv_powf` and `__nv_pow` are `pow`; some have C names in libdevice and other names here.
static const struct builtin *libdevice_function(struct eval *e, struct str symbol) {
  static const char *const renamed[][2] = {
      {"fabs", "abs"}, {"fmax", "maximum"}, {"fmin", "minimum"}, {"umulhi", "umulhi"}};
  if (!str_starts(symbol, "__nv_"))
    return NULL;
  const char *name = arena_strndup(e->a, symbol.ptr + 5, symbol.len - 5);
  for (int round = 0; round < 2; round++) {
    size_t n = strlen(name);
    for (size_t i = 0; i < COUNT_OF(renamed); i++)
      if (strcmp(name, renamed[i][0]) == 0 && !builtin_find(e, name))
        name = renamed[i][1];
    const struct builtin *b = builtin_find(e, name);
    if (b && (b->emit || !b->params))
      return b;
    if (n < 2 || name[n - 1] != 'f')
      return NULL;
    name = arena_strndup(e->a, name, n - 1);
  }
  return NULL;
}

// The row of the dictionary for these arguments: {(dtype, ...): (symbol, dtype)}.
static bool find_symbol(struct eval *e, struct call *c, const struct operand *args, size_t n,
                        struct str *ret_symbol, struct type *ret_type) {
  struct value table = c->args[3].v;
  bool is_table = value_is_record(table, RECORD_DICT);
  for (size_t i = 0; is_table && i < table.tuple.len; i++) {
    const struct value *row = table.tuple.at[i].tuple.at;
    struct value one[1] = {row[0]};
    struct tuple key = row[0].kind == VALUE_TUPLE ? row[0].tuple : (struct tuple){one, 1};
    bool same = key.len == n && row[1].kind == VALUE_TUPLE && row[1].tuple.len == 2;
    for (size_t k = 0; k < n && same; k++)
      same = key.at[k].kind == VALUE_TYPE && type_elem_eq(key.at[k].type, args[k].v.type);
    if (same)
      return need_const_str(e, (struct operand){row[1].tuple.at[0], c->args[3].at}, "a symbol",
                            ret_symbol) &&
             need_type(e, (struct operand){row[1].tuple.at[1], c->args[3].at}, "a result",
                       ret_type);
  }
  struct value *types = arena_array(e->a, struct value, n + 1);
  for (size_t k = 0; k < n; k++)
    types[k] = value_rt((MlirValue){NULL}, type_elem(args[k].v.type));
  eval_error(e, c->at, E0503, "the table of symbols has no row for %s",
             value_type_text(e, value_tuple(types, n)));
  return false;
}

struct value builtin_extern(struct eval *e, struct call *c) {
  struct assembly a;
  struct str symbol;
  struct type result;
  if (!asm_args(e, c->args[2], &a) || !find_symbol(e, c, a.args, a.arg_count, &symbol, &result))
    return VALUE_ERROR;
  const struct builtin *b = libdevice_function(e, symbol);
  if (!b) {
    struct diag *d =
        eval_error(e, c->at, E0502, "there is no library with `%.*s`", STR_ARG(symbol));
    diag_help(d, "other libraries are not linked: functions of libdevice stand in for their "
                 "symbols, `__nv_exp` for `libdevice.exp`");
    return VALUE_ERROR;
  }
  struct value v = builtin_call(e, b, a.args, NULL, a.arg_count, c->at, c->callee);
  return value_is_rt(v) ? emit_cast(e, v, result, NULL) : v;
}
