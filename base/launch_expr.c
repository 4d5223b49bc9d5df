// SPDX-License-Identifier: Apache-2.0
// Evaluates launch expressions on a stack of their values; JSON.
#include "base/launch_expr.h"

#include <stdio.h>

static const char *const names[] = {
    [LAUNCH_ADD] = "add", [LAUNCH_SUB] = "sub", [LAUNCH_MUL] = "mul", [LAUNCH_DIV] = "div",
    [LAUNCH_REM] = "rem", [LAUNCH_MIN] = "min", [LAUNCH_MAX] = "max"};

bool launch_expr_is_valid(const struct launch_expr *e, uint32_t params) {
  uint32_t depth = 0;
  if (e->count > LAUNCH_EXPR_MAX)
    return false;
  for (uint32_t i = 0; i < e->count; i++) {
    const struct launch_term *t = &e->terms[i];
    if (t->op == LAUNCH_PARAM && (t->number < 0 || t->number >= (int64_t)params))
      return false;
    if (t->op == LAUNCH_CONST || t->op == LAUNCH_PARAM)
      depth++;
    else if (t->op > LAUNCH_MAX || depth-- < 2)
      return false;
  }
  return depth == 1;
}

static bool apply(enum launch_op op, int64_t x, int64_t y, int64_t *ret) {
  switch (op) {
  case LAUNCH_ADD: return !__builtin_add_overflow(x, y, ret);
  case LAUNCH_SUB: return !__builtin_sub_overflow(x, y, ret);
  case LAUNCH_MUL: return !__builtin_mul_overflow(x, y, ret);
  case LAUNCH_DIV:
  case LAUNCH_REM:
    if (y == 0 || (x == INT64_MIN && y == -1))
      return false;
    *ret = op == LAUNCH_DIV ? x / y : x % y;
    return true;
  case LAUNCH_MIN: *ret = x < y ? x : y; return true;
  case LAUNCH_MAX: *ret = x > y ? x : y; return true;
  default: return false;
  }
}

bool launch_expr_value(const struct launch_expr *e, const int64_t *params, int64_t *ret) {
  int64_t stack[LAUNCH_EXPR_MAX];
  uint32_t depth = 0;
  for (uint32_t i = 0; i < e->count; i++) {
    const struct launch_term *t = &e->terms[i];
    if (t->op == LAUNCH_CONST) {
      stack[depth++] = t->number;
    } else if (t->op == LAUNCH_PARAM) {
      stack[depth++] = params[t->number];
    } else {
      depth--;
      if (!apply(t->op, stack[depth - 1], stack[depth], &stack[depth - 1]))
        return false;
    }
  }
  *ret = stack[0];
  return true;
}

// ---- JSON ----

void launch_expr_write(const struct launch_expr *e, struct json_writer *w) {
  char param[24];
  json_begin_array(w);
  for (uint32_t i = 0; i < e->count; i++) {
    const struct launch_term *t = &e->terms[i];
    if (t->op == LAUNCH_CONST) {
      json_int(w, t->number);
    } else if (t->op == LAUNCH_PARAM) {
      snprintf(param, sizeof param, "p%lld", (long long)t->number);
      json_cstring(w, param);
    } else {
      json_cstring(w, names[t->op]);
    }
  }
  json_end_array(w);
}

// "p12": the number of a parameter.
static bool read_param(struct str s, int64_t *ret) {
  *ret = 0;
  if (s.len < 2 || s.len > 8 || s.ptr[0] != 'p')
    return false;
  for (size_t i = 1; i < s.len; i++) {
    if (s.ptr[i] < '0' || s.ptr[i] > '9')
      return false;
    *ret = *ret * 10 + (s.ptr[i] - '0');
  }
  return true;
}

static bool read_term(const struct json *j, struct launch_term *ret) {
  *ret = (struct launch_term){LAUNCH_CONST, 0};
  if (j->is_integer) {
    ret->number = j->integer;
    return true;
  }
  if (j->kind != JSON_STRING)
    return false;
  for (size_t i = LAUNCH_ADD; i < COUNT_OF(names); i++)
    if (str_is(j->string, names[i])) {
      ret->op = (enum launch_op)i;
      return true;
    }
  ret->op = LAUNCH_PARAM;
  return read_param(j->string, &ret->number);
}

bool launch_expr_read(struct arena *a, const struct json *j, struct launch_expr *ret) {
  if (!j || j->kind != JSON_ARRAY || j->count > LAUNCH_EXPR_MAX)
    return false;
  *ret = (struct launch_expr){.count = (uint32_t)j->count,
                              .terms = arena_array(a, struct launch_term, j->count + 1)};
  if (!ret->terms)
    return false;
  for (uint32_t i = 0; i < ret->count; i++)
    if (!read_term(j->items[i], &ret->terms[i]))
      return false;
  return true;
}
