// SPDX-License-Identifier: Apache-2.0
// The text form of a space, as on a command line.
//
//   space     = dimension {"," dimension}
//   dimension = NAME "=" item {"," item}
//   item      = value | integer ".." integer [":" ("x" | "+") integer]
//
// After a comma, a name and "=" begin the next dimension.
#include "autotune/space/text.h"

#include <ctype.h>

struct reader {
  struct space_builder *b;
  struct span where;
  struct str text;
  size_t at;
};

static struct span span_at(struct span where, size_t begin, size_t end) {
  if (!where.source)
    return where;
  return (struct span){where.source, where.begin + (uint32_t)begin, where.begin + (uint32_t)end};
}

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

static void skip_space(struct reader *r) {
  while (r->at < r->text.len && isspace((unsigned char)r->text.ptr[r->at]))
    r->at++;
}

// Checks for NAME "=" at `at`, without advancing; the end of the name.
static bool begins_dimension(const struct reader *r, size_t at, size_t *ret_end) {
  size_t end = at;
  while (end < r->text.len && is_name_char(r->text.ptr[end]))
    end++;
  *ret_end = end;
  while (at < end && end < r->text.len && isspace((unsigned char)r->text.ptr[end]))
    end++;
  return *ret_end > at && !isdigit((unsigned char)r->text.ptr[at]) && end < r->text.len &&
         r->text.ptr[end] == '=';
}

// Up to the next comma outside quotes.
static struct str read_item(struct reader *r) {
  size_t begin = r->at;
  char quote = 0;
  for (; r->at < r->text.len && (quote || r->text.ptr[r->at] != ','); r->at++) {
    char c = r->text.ptr[r->at];
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
  }
  return str_trim((struct str){r->text.ptr + begin, r->at - begin});
}

// ---- Ranges ----

struct range {
  int64_t first, last, step;
  bool multiplies;
};

static bool malformed(struct space_builder *b, struct span at, struct str item, const char *why) {
  struct diag *d = diag_error(b->diag, at, E0727, "`%.*s` is not a range: %s", STR_ARG(item), why);
  diag_help(d, "`1..5` steps by one, `64..1024:x2` doubles, `32..128:+32` adds 32");
  return false;
}

static bool parse_range(struct space_builder *b, struct span at, struct str item, size_t dots,
                        struct range *ret) {
  struct str rest = {item.ptr + dots + 2, item.len - dots - 2}, last, step;
  step = str_split(rest, ':', &last);
  if (!str_to_i64(str_trim((struct str){item.ptr, dots}), &ret->first) ||
      !str_to_i64(str_trim(last), &ret->last))
    return malformed(b, at, item, "both ends are integers");
  if (ret->first > ret->last)
    return malformed(b, at, item, "it ends before it begins");
  ret->step = 1;
  ret->multiplies = false;
  if (!step.ptr)
    return true;
  step = str_trim(step);
  if (step.len < 2 || (step.ptr[0] != 'x' && step.ptr[0] != '+') ||
      !str_to_i64((struct str){step.ptr + 1, step.len - 1}, &ret->step))
    return malformed(b, at, item, "behind `:` stands x or + and a number");
  ret->multiplies = step.ptr[0] == 'x';
  if (ret->step < (ret->multiplies ? 2 : 1) || (ret->multiplies && ret->first < 1))
    return malformed(b, at, item, "it would never end");
  return true;
}

static bool add_range(struct space_builder *b, struct span at, size_t dim, const struct range *g) {
  int64_t n = g->first;
  size_t count = 0;
  while (n <= g->last) {
    if (++count > TUNE_MAX_CONFIGS) {
      struct diag *d =
          diag_error(b->diag, at, E0729, "the range has more than %d values", TUNE_MAX_CONFIGS);
      diag_help(d, "step further: `:x2` doubles, `:+32` adds 32");
      return false;
    }
    if (!space_integer(b, at, dim, n))
      return false;
    bool overflows = g->multiplies ? __builtin_mul_overflow(n, g->step, &n)
                                   : __builtin_add_overflow(n, g->step, &n);
    if (overflows)
      break;
  }
  return true;
}

static size_t find_dots(struct str item) {
  if (item.len && (item.ptr[0] == '"' || item.ptr[0] == '\''))
    return item.len;
  for (size_t i = 0; i + 1 < item.len; i++)
    if (item.ptr[i] == '.' && item.ptr[i + 1] == '.')
      return i;
  return item.len;
}

bool space_item(struct space_builder *b, struct span at, size_t dim, struct str item) {
  size_t dots = find_dots(item);
  struct range g;
  if (dots == item.len)
    return space_value(b, at, dim, item);
  return parse_range(b, at, item, dots, &g) && add_range(b, at, dim, &g);
}

// ---- Dimensions ----

static bool read_items(struct reader *r, size_t dim) {
  for (;;) {
    skip_space(r);
    size_t begin = r->at, end;
    struct str item = read_item(r);
    struct span at = span_at(r->where, begin, begin + item.len);
    if (item.len == 0) {
      struct diag *d =
          diag_error(r->b->diag, at, E0727, "`%s` lacks a value", r->b->s->dims[dim].name);
      diag_help(d, "for example `%s=64..1024:x2`, or `%s=64,128`", r->b->s->dims[dim].name,
                r->b->s->dims[dim].name);
      return false;
    }
    if (!space_item(r->b, at, dim, item))
      return false;
    if (r->at == r->text.len)
      return true;
    r->at++; // the comma
    skip_space(r);
    if (begins_dimension(r, r->at, &end))
      return true;
  }
}

static bool read_dimension(struct reader *r) {
  size_t end, dim, before = r->b->s->dim_count;
  skip_space(r);
  struct span at = span_at(r->where, r->at, r->text.len);
  if (!begins_dimension(r, r->at, &end)) {
    struct diag *d =
        diag_error(r->b->diag, at, E0727, "here the name of a parameter and `=` are wanted");
    diag_help(d, "for example `BLOCK=64..1024:x2, num_warps=1,2,4`");
    return false;
  }
  at = span_at(r->where, r->at, end);
  struct str name = {r->text.ptr + r->at, end - r->at};
  if (!space_dim(r->b, at, name, &dim))
    return false;
  if (dim < before) {
    struct diag *d = diag_error(r->b->diag, at, E0727, "`%.*s` stands here twice", STR_ARG(name));
    diag_help(d, "give all its values at once");
    return false;
  }
  r->at = end;
  skip_space(r);
  r->at++; // `=`
  return read_items(r, dim);
}

bool tune_space_from_text(struct arena *a, struct diag_engine *diag, struct span where,
                          struct str text, const struct lang_param *params, size_t param_count,
                          struct tune_space *ret) {
  struct space_builder b = space_begin(a, diag, params, param_count, "--space", ret);
  struct reader r = {.b = &b, .where = where, .text = text};
  do
    if (!read_dimension(&r))
      return false;
  while (r.at < text.len);
  space_sort(&b);
  if (!space_product(&b, where, NULL, NULL))
    return false;
  struct tune_config c = space_default_config(&b);
  space_put_first(&b, &c);
  return true;
}
