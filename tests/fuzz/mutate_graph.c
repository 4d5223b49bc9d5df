// SPDX-License-Identifier: Apache-2.0
// Mutations of tensor graphs that keep their syntax: types of inputs, arguments of operators, one
// operator more.
#include "mutate_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define SOME(t, list) (list)[text_pick((t), COUNT(list))]

enum { MOST = 400 };

static bool put(struct text *t, struct range r, const char *by) {
  return text_replace(t, r, by, strlen(by));
}

static size_t find(const struct text *t, size_t from, const char *what) {
  size_t n = strlen(what);
  for (size_t i = from; i + n <= t->len; i++)
    if (memcmp(t->at + i, what, n) == 0)
      return i;
  return t->len;
}

bool graph_is_text(const struct text *t) { return find(t, 0, "torch.ops.") < t->len; }

// One of the offsets at which `what` is; the text's length if there is none.
static size_t find_some(struct text *t, const char *what) {
  size_t count = 0, at = t->len;
  for (size_t i = find(t, 0, what); i < t->len; i = find(t, i + 1, what))
    if (text_pick(t, ++count) == 0)
      at = i;
  return at;
}

// Up to the bracket that closes the one at `open`.
static size_t closing(const struct text *t, size_t open) {
  int depth = 0;
  for (size_t i = open; i < t->len; i++) {
    depth += strchr("([{", t->at[i]) != NULL && t->at[i];
    depth -= strchr(")]}", t->at[i]) != NULL && t->at[i];
    if (depth == 0)
      return i;
  }
  return t->len;
}

struct parts {
  size_t count;
  struct range at[MOST];
};

// What commas separate between the brackets at `open` and `close`, without spaces around.
static void split(const struct text *t, size_t open, size_t close, struct parts *ret) {
  ret->count = 0;
  for (size_t i = open + 1, begin = i; i <= close && ret->count < MOST; i++) {
    if (i < close && strchr("([{", t->at[i])) {
      i = closing(t, i);
      continue;
    }
    if (i < close && t->at[i] != ',')
      continue;
    while (begin < i && t->at[begin] == ' ')
      begin++;
    if (begin < i)
      ret->at[ret->count++] = (struct range){begin, i};
    begin = i + 1;
  }
}

// ---- types: "f32[3, s0][5, 1]cpu" ----

// The brackets of a shape after a dtype in quotes.
static bool some_shape(struct text *t, struct range *dtype, struct range *shape) {
  size_t count = 0;
  for (size_t i = find(t, 0, "\""); i < t->len; i = find(t, i + 1, "\"")) {
    size_t end = i + 1;
    while (end < t->len && isalnum((unsigned char)t->at[end]))
      end++;
    if (end == i + 1 || end >= t->len || t->at[end] != '[' || text_pick(t, ++count))
      continue;
    *dtype = (struct range){i + 1, end};
    *shape = (struct range){end, closing(t, end) + 1};
  }
  return count && shape->end <= t->len;
}

// Symbols are parameters of their own.
static void declare(struct text *t, const char *symbol) {
  char by[40];
  snprintf(by, sizeof by, "%s: \"Sym(%s)\", ", symbol, symbol);
  size_t at = find(t, 0, "(self, ");
  if (find(t, 0, by) == t->len && at < t->len)
    (void)put(t, (struct range){at + 7, at + 7}, by);
}

static const char *some_size(struct text *t) {
  static const char *const sizes[] = {"0", "1", "2",  "3",  "4",    "5",     "7",
                                      "8", "9", "16", "s0", "s1",   "s0",    "33",
                                      "1", "0", "64", "3",  "1000", "65536", "4294967296"};
  return SOME(t, sizes);
}

// Joins sizes to a shape in brackets.
static bool put_shape(struct text *t, struct range r, size_t count, const char *const *sizes) {
  char by[1000] = "[";
  bool has[2] = {false, false};
  for (size_t i = 0; i < count; i++) {
    snprintf(by + strlen(by), sizeof by - strlen(by), "%s%s", i ? ", " : "", sizes[i]);
    has[0] |= strcmp(sizes[i], "s0") == 0;
    has[1] |= strcmp(sizes[i], "s1") == 0;
  }
  strncat(by, "]", sizeof by - strlen(by) - 1);
  bool is_done = put(t, r, by);
  for (int i = 0; i < 2 && is_done; i++)
    if (has[i])
      declare(t, i ? "s1" : "s0");
  return is_done;
}

static bool set_shape(struct text *t) {
  struct range dtype, r;
  if (!some_shape(t, &dtype, &r))
    return false;
  struct parts old;
  split(t, r.begin, r.end - 1, &old);
  char kept[16][32];
  const char *sizes[24];
  size_t count = old.count < 16 ? old.count : 16;
  for (size_t i = 0; i < count; i++) {
    snprintf(kept[i], sizeof kept[i], "%.*s", (int)(old.at[i].end - old.at[i].begin),
             t->at + old.at[i].begin);
    sizes[i] = kept[i];
  }
  size_t at = text_pick(t, count);
  switch (text_pick(t, 8)) {
  case 0: // one dimension less
    if (count)
      memmove(sizes + at, sizes + at + 1, (--count - at) * sizeof *sizes);
    break;
  case 1: // one more
    memmove(sizes + at + 1, sizes + at, (count - at) * sizeof *sizes);
    sizes[at] = some_size(t);
    count++;
    break;
  case 2:
  case 3:
    if (count)
      sizes[at] = some_size(t);
    break;
  case 4: count = 0; break;
  case 5: count = count ? text_pick(t, count) : 0; break;
  case 6: // exchanges two
    if (count > 1) {
      size_t other = text_pick(t, count);
      const char *size = sizes[at];
      sizes[at] = sizes[other];
      sizes[other] = size;
    }
    break;
  default:
    count = text_pick(t, 6);
    for (size_t i = 0; i < count; i++)
      sizes[i] = some_size(t);
  }
  if (r.end < t->len && t->at[r.end] == '[') // strides of another rank would end the test
    r.end = closing(t, r.end) + 1;
  return r.end <= t->len && put_shape(t, r, count, sizes);
}

static bool set_strides(struct text *t) {
  static const char *const strides[] = {
      "0", "1", "2", "3", "5", "16", "100", "s0", "1099511627776"};
  struct range dtype, r;
  if (!some_shape(t, &dtype, &r))
    return false;
  struct parts shape;
  split(t, r.begin, r.end - 1, &shape);
  const char *by[16];
  size_t count = shape.count < 16 ? shape.count : 16;
  for (size_t i = 0; i < count; i++)
    by[i] = SOME(t, strides);
  size_t end = r.end < t->len && t->at[r.end] == '[' ? closing(t, r.end) + 1 : r.end;
  return end <= t->len && put_shape(t, (struct range){r.end, end}, count, by);
}

static bool set_dtype(struct text *t) {
  static const char *const dtypes[] = {"f32", "i32", "i64", "b8",       "f16", "bf16",
                                       "c64", "f64", "u8",  "i8",       "i16", "c128",
                                       "u16", "u32", "u64", "f8e4m3fn", "c32", "f8e5m2"};
  struct range dtype, shape;
  return some_shape(t, &dtype, &shape) && put(t, dtype, SOME(t, dtypes));
}

// ---- calls: torch.ops.aten.sum.dim_IntList(x, [1], True) ----

static bool some_call(struct text *t, size_t *ret_open, size_t *ret_close) {
  size_t at = find_some(t, "torch.ops.");
  *ret_open = find(t, at, "(");
  *ret_close = *ret_open < t->len ? closing(t, *ret_open) : t->len;
  return *ret_close < t->len;
}

// A value that is used somewhere, "a0" of a call's arguments.
static void some_name(struct text *t, char ret[40]) {
  size_t open, close;
  struct parts args;
  ret[0] = '\0';
  for (int i = 0; i < 5 && !ret[0]; i++) {
    if (!some_call(t, &open, &close))
      return;
    split(t, open, close, &args);
    struct range r = args.count ? args.at[text_pick(t, args.count)] : (struct range){0, 0};
    bool is_name =
        r.end - r.begin < 39 && r.end > r.begin && islower((unsigned char)t->at[r.begin]);
    for (size_t k = r.begin; k < r.end && is_name; k++)
      is_name = isalnum((unsigned char)t->at[k]) || t->at[k] == '_';
    if (is_name)
      snprintf(ret, 40, "%.*s", (int)(r.end - r.begin), t->at + r.begin);
  }
}

static const char *some_value(struct text *t, char buffer[100]) {
  static const char *const values[] = {"None",
                                       "True",
                                       "False",
                                       "0",
                                       "1",
                                       "-1",
                                       "2",
                                       "-2",
                                       "3",
                                       "7",
                                       "-9",
                                       "100",
                                       "1099511627776",
                                       "4611686018427387904",
                                       "-9223372036854775808",
                                       "0.0",
                                       "0.5",
                                       "-1.5",
                                       "1e300",
                                       "inf",
                                       "nan",
                                       "[]",
                                       "[0]",
                                       "[-1]",
                                       "[1, 1]",
                                       "[0, 0]",
                                       "[2, 3]",
                                       "[0, 0, 0]",
                                       "[1, 2, 3, 4]",
                                       "[None, None]",
                                       "[True, False]",
                                       "torch.float32",
                                       "torch.int64",
                                       "torch.bool",
                                       "torch.complex64",
                                       "torch.float16",
                                       "'reflect'",
                                       "'sum'",
                                       "torch.channels_last",
                                       "s0"};
  char name[40];
  some_name(t, name);
  size_t kind = text_pick(t, 10);
  if (!name[0] || kind > 2)
    return SOME(t, values);
  snprintf(buffer, 100, kind ? "%s" : "[%s]", name);
  return buffer;
}

static bool set_argument(struct text *t) {
  char buffer[100];
  size_t open, close;
  struct parts args;
  if (!some_call(t, &open, &close))
    return false;
  const char *by = some_value(t, buffer);
  split(t, open, close, &args);
  if (!args.count)
    return put(t, (struct range){close, close}, by);
  struct range r = args.at[text_pick(t, args.count)];
  for (size_t i = r.begin; i + 1 < r.end; i++) // of a keyword its value
    if (t->at[i] == '=')
      r.begin = i + 1 + (t->at[i + 1] == ' ');
  return r.begin <= r.end && put(t, r, by);
}

static bool drop_argument(struct text *t) {
  size_t open, close;
  struct parts args;
  if (!some_call(t, &open, &close))
    return false;
  split(t, open, close, &args);
  if (!args.count)
    return false;
  size_t i = text_pick(t, 2) ? args.count - 1 : text_pick(t, args.count);
  struct range r = {i ? args.at[i - 1].end : args.at[i].begin, args.at[i].end};
  return put(t, r, "");
}

static bool add_argument(struct text *t) {
  char buffer[100], by[110];
  size_t open, close;
  if (!some_call(t, &open, &close))
    return false;
  snprintf(by, sizeof by, ", %s", some_value(t, buffer));
  return put(t, (struct range){close, close}, by);
}

static bool exchange_arguments(struct text *t) {
  char kept[200];
  size_t open, close;
  struct parts args;
  if (!some_call(t, &open, &close))
    return false;
  split(t, open, close, &args);
  if (args.count < 2)
    return false;
  size_t i = text_pick(t, args.count - 1);
  struct range a = args.at[i], b = args.at[i + 1];
  int length = snprintf(kept, sizeof kept, "%.*s, %.*s", (int)(b.end - b.begin), t->at + b.begin,
                        (int)(a.end - a.begin), t->at + a.begin);
  return length < (int)sizeof kept && put(t, (struct range){a.begin, b.end}, kept);
}

static bool set_number_of_call(struct text *t) {
  static const char *const numbers[] = {"0", "-1", "1",  "2",   "3",    "4",
                                        "7", "-9", "16", "127", "1000", "1099511627776"};
  size_t open, close, count = 0;
  if (!some_call(t, &open, &close))
    return false;
  struct range r = {0, 0};
  for (size_t i = open; i < close;) {
    size_t end = i;
    while (end < close && (isalnum((unsigned char)t->at[end]) || t->at[end] == '_' ||
                           t->at[end] == '.' || (end == i && t->at[end] == '-')))
      end++;
    bool is_number = end > i && isdigit((unsigned char)t->at[end - 1]) &&
                     (isdigit((unsigned char)t->at[i]) || t->at[i] == '-');
    if (is_number && text_pick(t, ++count) == 0)
      r = (struct range){i, end};
    i = end > i ? end : i + 1;
  }
  return count && put(t, r, SOME(t, numbers));
}

// Drops, repeats or changes an element of a list, or empties it.
static bool set_list(struct text *t) {
  char buffer[100], kept[120];
  size_t open, close, count = 0, list = 0;
  if (!some_call(t, &open, &close))
    return false;
  for (size_t i = open; i < close; i++)
    if (t->at[i] == '[' && text_pick(t, ++count) == 0)
      list = i;
  size_t end = count ? closing(t, list) : t->len;
  if (end >= t->len)
    return false;
  struct parts p;
  split(t, list, end, &p);
  size_t i = text_pick(t, p.count), kind = text_pick(t, 4);
  if (kind == 0 || !p.count)
    return put(t, (struct range){list + 1, end}, p.count ? "" : "1");
  if (kind == 1)
    return put(t, (struct range){i ? p.at[i - 1].end : p.at[i].begin, p.at[i].end}, "");
  if (kind == 2)
    return put(t, p.at[i], some_value(t, buffer));
  snprintf(kept, sizeof kept, ", %.*s", (int)(p.at[i].end - p.at[i].begin), t->at + p.at[i].begin);
  return put(t, (struct range){p.at[i].end, p.at[i].end}, kept);
}

// ---- one operator more ----

// Of the value that the graph returns first, which becomes the result.
static bool add_call(struct text *t) {
  static const char *const calls[] = {
      "aten.sum.default(%s)",
      "aten.sum.dim_IntList(%s, [-1], True)",
      "aten.mean.dim(%s, [0])",
      "aten.sigmoid.default(%s)",
      "aten.neg.default(%s)",
      "aten.add.Tensor(%s, %s)",
      "aten.mul.Tensor(%s, 2.5)",
      "aten.view.default(%s, [-1])",
      "aten.reshape.default(%s, [2, -1])",
      "aten.permute.default(%s, [1, 0])",
      "aten.transpose.int(%s, 0, -1)",
      "aten.unsqueeze.default(%s, 0)",
      "aten.squeeze.default(%s)",
      "aten.select.int(%s, 0, 0)",
      "aten.slice.Tensor(%s, 0, 1, 9223372036854775807, 2)",
      "aten.flip.default(%s, [0])",
      "aten.cumsum.default(%s, 0)",
      "aten.mm.default(%s, %s)",
      "aten.matmul.default(%s, %s)",
      "aten.cat.default([%s, %s], 0)",
      "aten.stack.default([%s, %s], -1)",
      "aten._softmax.default(%s, -1, False)",
      "aten.amax.default(%s, [-1])",
      "aten.max.dim(%s, 0)[0]",
      "aten.sort.default(%s, -1)[0]",
      "aten.topk.default(%s, 2)[0]",
      "aten.gather.default(%s, 0, %s)",
      "aten.index.Tensor(%s, [%s])",
      "aten.index_put.default(%s, [%s], %s)",
      "aten.scatter_add.default(%s, 0, %s, %s)",
      "aten.where.self(%s, %s, %s)",
      "aten.embedding.default(%s, %s)",
      "aten.constant_pad_nd.default(%s, [1, 2], 0.0)",
      "aten.expand.default(%s, [3, -1])",
      "aten.view_as_real.default(%s)",
      "aten.view_as_complex.default(%s)",
      "aten.complex.default(%s, %s)",
      "aten._to_copy.default(%s, dtype = torch.float32)",
      "aten._to_copy.default(%s, dtype = torch.int64)",
      "aten.any.default(%s)",
      "aten.unbind.int(%s)[0]",
      "aten.split.Tensor(%s, 1)[0]",
      "aten.avg_pool2d.default(%s, [2, 2])",
      "aten.native_layer_norm.default(%s, [4], None, None, 1e-05)[0]",
      "aten.scaled_dot_product_attention.default(%s, %s, %s)"};
  size_t back = find(t, 0, "return ("), begin = back + 8, end = begin;
  while (end < t->len && (isalnum((unsigned char)t->at[end]) || t->at[end] == '_'))
    end++;
  if (end >= t->len || end == begin || end - begin > 39)
    return false;
  char names[3][40], first[40], by[400] = "", call[300];
  snprintf(first, sizeof first, "%.*s", (int)(end - begin), t->at + begin);
  for (int i = 0; i < 3; i++) {
    some_name(t, names[i]);
    if (!names[i][0] || i == 0 || text_pick(t, 2))
      memcpy(names[i], first, sizeof first);
  }
  const char *pattern = SOME(t, calls);
  size_t length = 0, argument = 0;
  for (const char *p = pattern; *p && length + 50 < sizeof call; p++)
    if (p[0] == '%')
      length += (size_t)snprintf(call + length, sizeof call - length, "%s", names[argument++ % 3]),
          p++;
    else
      call[length++] = *p;
  call[length] = '\0';
  unsigned number = (unsigned)text_pick(t, 100000);
  char *item = strstr(call, ")[0]");
  if (item)
    item[1] = '\0';
  length = (size_t)snprintf(by, sizeof by, "m%u = torch.ops.%s\n        ", number, call);
  if (item)
    snprintf(by + length, sizeof by - length, "n%u = m%u[0]\n        ", number, number);
  char result[20];
  snprintf(result, sizeof result, "%c%u", item ? 'n' : 'm', number);
  return put(t, (struct range){begin, end}, result) && put(t, (struct range){back, back}, by);
}

bool graph_mutate(struct text *t) {
  static bool (*const kinds[])(struct text *) = {
      set_shape,    set_shape,    set_shape,          set_dtype,          set_dtype,
      set_strides,  set_argument, set_argument,       add_call,           drop_argument,
      add_argument, set_list,     exchange_arguments, set_number_of_call, set_number_of_call};
  return SOME(t, kinds)(t);
}
