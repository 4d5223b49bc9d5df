// SPDX-License-Identifier: Apache-2.0
// Methods of Python's lists, dictionaries and strings.
#include "lang/eval/consteval.h"
#include "lang/eval/python.h"

static struct value none(void) { return value_of_kind(VALUE_NONE); }

static struct list *list_of(struct call *c) { return c->args[0].v.tuple.list; }

// ---- lists ----

static struct value list_append(struct eval *e, struct call *c) {
  struct list *l = list_of(c);
  if (l->len >= EVAL_MAX_UNROLL)
    return diag_help(
               eval_error(e, c->at, E0309, "a sequence of more than %d values", EVAL_MAX_UNROLL),
               "use a tile for many values: `tl.arange`, `tl.zeros`"),
           VALUE_ERROR;
  if (!host_can_hold(e, c->args[0].v, c->args[1].v, c->at))
    return VALUE_ERROR;
  host_reserve(e, l, l->len + 1);
  l->at[l->len++] = c->args[1].v;
  return none();
}

static struct value list_extend(struct eval *e, struct call *c) {
  struct list *l = list_of(c);
  struct tuple t;
  if (!need_sequence(e, c->args[1], &t))
    return VALUE_ERROR;
  if (l->len + t.len > EVAL_MAX_UNROLL)
    return diag_help(
               eval_error(e, c->at, E0309, "a sequence of more than %d values", EVAL_MAX_UNROLL),
               "use a tile for many values: `tl.arange`, `tl.zeros`"),
           VALUE_ERROR;
  if (!host_can_hold(e, c->args[0].v, value_tuple(t.at, t.len), c->at))
    return VALUE_ERROR;
  host_reserve(e, l, l->len + t.len);
  for (size_t i = 0; i < t.len; i++)
    l->at[l->len++] = t.at[i];
  return none();
}

// The position that an index denotes in a list of `len` elements; `at_end`: its end is allowed.
static bool position(struct eval *e, struct operand x, size_t len, bool at_end, size_t *ret) {
  int64_t i, n = (int64_t)len;
  if (!need_const_int(e, x, "the index of a list", &i))
    return false;
  i = i < 0 ? i + n : i;
  if (at_end)
    i = i < 0 ? 0 : i > n ? n : i;
  if (i < 0 || i > n || (i == n && !at_end)) {
    diag_help(
        eval_error(e, x.at, E0212, "index %lld of a list of %lld", (long long)i, (long long)n),
        "indices count from 0, and from -1 at the end");
    return false;
  }
  *ret = (size_t)i;
  return true;
}

static struct value list_insert(struct eval *e, struct call *c) {
  struct list *l = list_of(c);
  size_t i;
  if (!position(e, c->args[1], l->len, true, &i) ||
      !host_can_hold(e, c->args[0].v, c->args[2].v, c->at))
    return VALUE_ERROR;
  host_reserve(e, l, l->len + 1);
  for (size_t k = l->len++; k > i; k--)
    l->at[k] = l->at[k - 1];
  l->at[i] = c->args[2].v;
  return none();
}

static struct value remove_at(struct eval *e, struct list *l, size_t i) {
  struct value v = l->at[i];
  host_reserve(e, l, l->len + 1);
  for (size_t k = i + 1; k < l->len; k++)
    l->at[k - 1] = l->at[k];
  l->len--;
  return v;
}

static struct value list_pop(struct eval *e, struct call *c) {
  struct list *l = list_of(c);
  struct operand last = {value_int(-1), c->at};
  size_t i;
  if (!position(e, arg_given(c, 1) ? c->args[1] : last, l->len, false, &i))
    return VALUE_ERROR;
  return remove_at(e, l, i);
}

static size_t find(const struct list *l, struct value v) {
  size_t i = 0;
  while (i < l->len && !const_equal(l->at[i], v))
    i++;
  return i;
}

// tag: 'i' index, 'r' remove, 'c' count.
static struct value list_find(struct eval *e, struct call *c) {
  struct list *l = list_of(c);
  if (c->builtin->tag == 'c') {
    int_const n = 0;
    for (size_t i = 0; i < l->len; i++)
      n += const_equal(l->at[i], c->args[1].v);
    return value_int(n);
  }
  size_t i = find(l, c->args[1].v);
  if (i == l->len) {
    diag_help(eval_error(e, c->at, E0212, "the list has no %s", value_describe(e, c->args[1].v)),
              "add the value where the list is made");
    return VALUE_ERROR;
  }
  if (c->builtin->tag == 'i')
    return value_int((int_const)i);
  remove_at(e, l, i);
  return none();
}

static struct value list_sort(struct eval *e, struct call *c) {
  struct list *l = list_of(c);
  struct operand no_key = {none(), c->at};
  bool reverse = false;
  struct value sorted;
  if (arg_given(c, 2) && !need_const_bool(e, c->args[2], "`reverse`", &reverse))
    return VALUE_ERROR;
  if (!host_sort(e, (struct tuple){.at = l->at, .len = l->len},
                 arg_given(c, 1) ? c->args[1] : no_key, reverse, c->at, &sorted))
    return VALUE_ERROR;
  *l = (struct list){.at = sorted.tuple.at, .len = sorted.tuple.len};
  return none();
}

static struct value copy(struct eval *e, struct call *c) {
  (void)e;
  struct value v = c->args[0].v;
  struct list *l = list_of(c);
  v.tuple.at = l->at;
  v.tuple.len = l->len;
  v.tuple.list = NULL; // gets its own list
  l->cap = 0;          // now shared: copied when changed
  return v;
}

static struct value clear(struct eval *e, struct call *c) {
  (void)e;
  *list_of(c) = (struct list){0};
  return none();
}

// ---- dictionaries ----

// tag: 'g' get, 's' setdefault, 'p' pop.
static struct value dict_get(struct eval *e, struct call *c) {
  struct value dict = c->args[0].v, v;
  if (!need_known(e, c->args[1]))
    return VALUE_ERROR;
  bool found = host_dict_get(dict, c->args[1].v, &v);
  struct value otherwise = arg_given(c, 2) ? c->args[2].v : none();
  if (!found && c->builtin->tag == 's' && !host_can_hold(e, dict, otherwise, c->at))
    return VALUE_ERROR;
  if (!found && c->builtin->tag == 's')
    host_dict_put(e, dict, c->args[1].v, otherwise = host_value(e, otherwise));
  if (c->builtin->tag == 'p' && found) {
    size_t i = 0;
    while (!const_equal(list_of(c)->at[i].tuple.at[0], c->args[1].v))
      i++;
    remove_at(e, list_of(c), i);
  } else if (c->builtin->tag == 'p' && !arg_given(c, 2)) {
    diag_help(
        eval_error(e, c->at, E0212, "the dictionary has no %s", value_describe(e, c->args[1].v)),
        "add the key where the dictionary is made, or write `d.get(key, value)`");
    return VALUE_ERROR;
  }
  return found ? v : otherwise;
}

// tag: the element of the pair, 2 for both.
static struct value dict_items(struct eval *e, struct call *c) {
  struct list *l = list_of(c);
  struct value *at = arena_array(e->a, struct value, l->len + 1);
  for (size_t i = 0; i < l->len; i++)
    at[i] = c->builtin->tag == 2 ? l->at[i] : l->at[i].tuple.at[c->builtin->tag];
  return value_tuple(at, l->len);
}

static struct value dict_update(struct eval *e, struct call *c) {
  struct operand other = c->args[1];
  if (!need_known(e, other))
    return VALUE_ERROR;
  if (!value_is_record(other.v, RECORD_DICT)) {
    eval_error(e, other.at, E0230, "%s is no dictionary", value_describe(e, other.v));
    return VALUE_ERROR;
  }
  if (!host_can_hold(e, c->args[0].v, value_tuple(other.v.tuple.at, other.v.tuple.len), c->at))
    return VALUE_ERROR;
  for (size_t i = 0; i < other.v.tuple.len; i++)
    host_dict_put(e, c->args[0].v, other.v.tuple.at[i].tuple.at[0],
                  other.v.tuple.at[i].tuple.at[1]);
  return none();
}

// ---- strings ----

static bool starts(struct str s, struct str with, bool at_end) {
  return with.len <= s.len &&
         (!with.len || memcmp(s.ptr + (at_end ? s.len - with.len : 0), with.ptr, with.len) == 0);
}

// tag: 1 at the end.
static struct value str_starts_with(struct eval *e, struct call *c) {
  struct str s = c->args[0].v.s, with;
  bool found = false;
  if (c->args[1].v.kind == VALUE_TUPLE) {
    for (size_t i = 0; i < c->args[1].v.tuple.len && !found; i++)
      found = c->args[1].v.tuple.at[i].kind == VALUE_STR &&
              starts(s, c->args[1].v.tuple.at[i].s, c->builtin->tag);
    return value_bool(found);
  }
  if (!need_const_str(e, c->args[1], "the beginning of a string", &with))
    return VALUE_ERROR;
  return value_bool(starts(s, with, c->builtin->tag));
}

// tag: 1 to capitals.
static struct value str_case(struct eval *e, struct call *c) {
  struct str s = c->args[0].v.s;
  char *text = arena_strndup(e->a, s.ptr, s.len);
  for (size_t i = 0; i < s.len; i++) {
    bool capital = text[i] >= 'A' && text[i] <= 'Z', small = text[i] >= 'a' && text[i] <= 'z';
    if (c->builtin->tag ? small : capital)
      text[i] = (char)(text[i] ^ 0x20);
  }
  return value_str((struct str){text, s.len});
}

static struct value str_strip(struct eval *e, struct call *c) {
  (void)e;
  return value_str(str_trim(c->args[0].v.s));
}

static struct value str_split_at(struct eval *e, struct call *c) {
  struct str s = c->args[0].v.s, by = STR(" "), word;
  if (arg_given(c, 1) && !need_const_str(e, c->args[1], "what separates", &by))
    return VALUE_ERROR;
  if (by.len != 1) {
    eval_error(e, c->args[1].at, E0503, "`split` takes one character");
    return VALUE_ERROR;
  }
  struct value *at = arena_array(e->a, struct value, s.len + 1);
  size_t n = 0;
  for (bool more = true; more;) {
    struct str rest = str_split(s, by.ptr[0], &word);
    more = rest.ptr != NULL;
    s = rest;
    if (word.len || arg_given(c, 1))
      at[n++] = value_str(word);
  }
  return value_tuple(at, n);
}

static struct value str_join(struct eval *e, struct call *c) {
  struct tuple t;
  struct strbuf b = {.arena = e->a};
  if (!need_sequence(e, c->args[1], &t))
    return VALUE_ERROR;
  for (size_t i = 0; i < t.len; i++) {
    if (i)
      strbuf_put(&b, c->args[0].v.s.ptr, c->args[0].v.s.len);
    const_format(e, t.at[i], false, &b);
    if (b.len > EVAL_MAX_STRING) {
      strbuf_finish(&b);
      diag_help(eval_error(e, c->at, E0903, "the string is longer than %d bytes", EVAL_MAX_STRING),
                "build a shorter text");
      return VALUE_ERROR;
    }
  }
  struct value r = value_str(str_from(arena_strdup(e->a, strbuf_cstr(&b))));
  strbuf_finish(&b);
  return r;
}

// ---- the table ----

enum receiver { OF_LIST, OF_DICT, OF_STRING };

static const struct method {
  enum receiver of;
  struct builtin builtin;
} methods[] = {
    {OF_LIST, {"append", "list x", BUILTIN_HOST, list_append, 0}},
    {OF_LIST, {"extend", "list items", BUILTIN_HOST, list_extend, 0}},
    {OF_LIST, {"insert", "list index x", BUILTIN_HOST, list_insert, 0}},
    {OF_LIST, {"pop", "list index=", BUILTIN_HOST, list_pop, 0}},
    {OF_LIST, {"index", "list x", BUILTIN_HOST, list_find, 'i'}},
    {OF_LIST, {"remove", "list x", BUILTIN_HOST, list_find, 'r'}},
    {OF_LIST, {"count", "list x", BUILTIN_HOST, list_find, 'c'}},
    {OF_LIST, {"add", "list x", BUILTIN_HOST, list_append, 0}},
    {OF_LIST, {"sort", "list key= reverse=", BUILTIN_HOST, list_sort, 0}},
    {OF_LIST, {"copy", "list", BUILTIN_HOST, copy, 0}},
    {OF_LIST, {"clear", "list", BUILTIN_HOST, clear, 0}},
    {OF_DICT, {"get", "dict key default=", BUILTIN_HOST, dict_get, 'g'}},
    {OF_DICT, {"setdefault", "dict key default=", BUILTIN_HOST, dict_get, 's'}},
    {OF_DICT, {"pop", "dict key default=", BUILTIN_HOST, dict_get, 'p'}},
    {OF_DICT, {"keys", "dict", BUILTIN_HOST, dict_items, 0}},
    {OF_DICT, {"values", "dict", BUILTIN_HOST, dict_items, 1}},
    {OF_DICT, {"items", "dict", BUILTIN_HOST, dict_items, 2}},
    {OF_DICT, {"update", "dict other", BUILTIN_HOST, dict_update, 0}},
    {OF_DICT, {"copy", "dict", BUILTIN_HOST, copy, 0}},
    {OF_DICT, {"clear", "dict", BUILTIN_HOST, clear, 0}},
    {OF_STRING, {"startswith", "string prefix", BUILTIN_HOST, str_starts_with, 0}},
    {OF_STRING, {"endswith", "string suffix", BUILTIN_HOST, str_starts_with, 1}},
    {OF_STRING, {"lower", "string", BUILTIN_HOST, str_case, 0}},
    {OF_STRING, {"upper", "string", BUILTIN_HOST, str_case, 1}},
    {OF_STRING, {"strip", "string", BUILTIN_HOST, str_strip, 0}},
    {OF_STRING, {"split", "string sep=", BUILTIN_HOST, str_split_at, 0}},
    {OF_STRING, {"join", "string items", BUILTIN_HOST, str_join, 0}},
};

const struct builtin *host_method(struct value v, const char *name) {
  enum receiver of = v.kind == VALUE_STR               ? OF_STRING
                     : value_is_record(v, RECORD_DICT) ? OF_DICT
                                                       : OF_LIST;
  if (of == OF_LIST && v.tuple.record)
    return NULL;
  for (size_t i = 0; i < COUNT_OF(methods); i++)
    if (methods[i].of == of && strcmp(methods[i].builtin.name, name) == 0)
      return &methods[i].builtin;
  return NULL;
}
