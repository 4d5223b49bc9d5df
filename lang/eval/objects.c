// SPDX-License-Identifier: Apache-2.0
// Values of host code: opaque values, mutable lists and dictionaries, records.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions; a
// sequence may be an Enum, whose members are expressions (lang/eval/eval.h).
#include "lang/eval/objects.h"

#include "lang/eval/consteval.h"

struct value host_opaque(struct eval *e, const char *path) {
  struct opaque *o = arena_new(e->a, struct opaque);
  *o = (struct opaque){.path = path, .dtype = DTYPE_NONE};
  return (struct value){.kind = VALUE_OPAQUE, .opaque = o};
}

struct value host_argument(struct eval *e, const char *name, bool is_pointer, enum dtype dtype) {
  struct opaque *o = arena_new(e->a, struct opaque);
  *o = (struct opaque){.path = name, .argument = name, .is_pointer = is_pointer, .dtype = dtype};
  return (struct value){.kind = VALUE_OPAQUE, .opaque = o};
}

struct value host_descriptor(struct eval *e, const char *name, enum dtype dtype) {
  struct opaque *o = arena_new(e->a, struct opaque);
  *o = (struct opaque){.path = name, .argument = name, .is_descriptor = true, .dtype = dtype};
  return (struct value){.kind = VALUE_OPAQUE, .opaque = o};
}

// ---- lists and dictionaries ----

struct value host_value(struct eval *e, struct value v) {
  if (v.kind != VALUE_TUPLE || value_is_memory_record(v))
    return v;
  struct list *l = v.tuple.list;
  if (!l) {
    l = arena_new(e->a, struct list);
    *l = (struct list){.at = v.tuple.at, .len = v.tuple.len}; // cap 0: shared, copied when changed
    v.tuple.list = l;
  }
  v.tuple.at = l->at;
  v.tuple.len = l->len;
  return v;
}

void host_reserve(struct eval *e, struct list *l, size_t len) {
  if (len <= l->cap)
    return;
  size_t cap = l->cap * 2 > len ? l->cap * 2 : len + 8;
  struct value *at = arena_array(e->a, struct value, cap);
  for (size_t i = 0; i < l->len; i++)
    at[i] = l->at[i];
  l->at = at;
  l->cap = cap;
}

static bool mentions(struct value v, const struct list *l) {
  if (v.kind != VALUE_TUPLE)
    return false;
  bool found = v.tuple.list == l;
  for (size_t i = 0; i < v.tuple.len && !found; i++)
    found = mentions(v.tuple.at[i], l);
  return found;
}

bool host_can_hold(struct eval *e, struct value into, struct value v, struct span at) {
  if (v.kind != VALUE_TUPLE)
    return true;
  if (!eval_check_size(e, v, at))
    return false;
  if (!mentions(v, into.tuple.list))
    return true;
  eval_error(e, at, e->purpose->code, "%s needs a list that holds itself, which is not evaluated",
             e->purpose->what);
  return false;
}

struct value host_dict(struct eval *e) {
  struct value v = value_tuple(NULL, 0);
  v.tuple.record = &record_dict;
  return host_value(e, v);
}

static size_t dict_row(struct tuple dict, struct value key) {
  size_t i = 0;
  while (i < dict.len && !const_equal(dict.at[i].tuple.at[0], key))
    i++;
  return i;
}

void host_dict_put(struct eval *e, struct value dict, struct value key, struct value v) {
  struct value *row = arena_array(e->a, struct value, 2);
  row[0] = key;
  row[1] = v;
  struct list *l = dict.tuple.list;
  size_t i = dict_row((struct tuple){.at = l->at, .len = l->len}, key);
  host_reserve(e, l, l->len + 1);
  l->at[i] = value_tuple(row, 2);
  l->len += i == l->len;
}

bool host_dict_get(struct value dict, struct value key, struct value *ret) {
  struct tuple t = dict.tuple;
  if (t.list)
    t.at = t.list->at, t.len = t.list->len;
  size_t i = dict_row(t, key);
  if (i < t.len)
    *ret = t.at[i].tuple.at[1];
  return i < t.len;
}

struct value host_dict_name(struct value dict, const char *name) {
  struct value v;
  return host_dict_get(dict, value_str(str_from(name)), &v) ? v : value_of_kind(VALUE_NONE);
}

struct value host_dict_of(struct eval *e, const struct value *pairs, size_t count) {
  struct value dict = host_dict(e);
  for (size_t i = 0; i < count; i++)
    host_dict_put(e, dict, pairs[i].tuple.at[0], pairs[i].tuple.at[1]);
  return dict;
}

struct value host_set(struct eval *e, const struct value *at, size_t count) {
  struct value *unique = arena_array(e->a, struct value, count + 1);
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    size_t k = 0;
    while (k < n && !const_equal(unique[k], at[i]))
      k++;
    if (k == n)
      unique[n++] = at[i];
  }
  return value_tuple(unique, n);
}

struct value *host_letters(struct eval *e, struct str s) {
  struct value *at = arena_array(e->a, struct value, s.len + 1);
  for (size_t i = 0; i < s.len; i++)
    at[i] = value_str((struct str){s.ptr + i, 1});
  return at;
}

struct value host_record(struct eval *e, const struct record *r, size_t n,
                         const struct value *fields) {
  struct value *at = arena_array(e->a, struct value, n);
  memcpy(at, fields, n * sizeof *at);
  struct value v = value_tuple(at, n);
  v.tuple.record = r;
  return v;
}
