// SPDX-License-Identifier: Apache-2.0
// Grid expressions, evaluated while they are parsed if all values are known; else C expressions are
// generated. Arithmetic is checked for overflow; errors point at the operator or name on the
// command line.
#include "jit/grid_expr.h"

#include "base/str.h"

#include <string.h>

#define MAX_DEPTH 256

// A number, or a C expression for a value known at run time.
struct grid_value {
  int64_t number;
  const char *code; // NULL: the number is known
};

struct grid_parser {
  struct arena *arena; // of codes
  struct diag_engine *diag;
  struct span where;
  struct str text;
  size_t at;
  unsigned depth;
  const struct grid_names *names;
  struct str
      meta; // the parameter of Triton's `lambda meta: ...`, of which `meta["BLOCK"]` is BLOCK
};

static struct span span_at(const struct grid_parser *p, size_t begin, size_t end) {
  uint32_t base = p->where.begin;
  return (struct span){p->where.source, base + (uint32_t)begin, base + (uint32_t)end};
}

#define WRONG(p, begin, end, ...)                                                                  \
  diag_error((p)->diag, span_at((p), (begin), (end)), E0724, __VA_ARGS__)

static int peek(struct grid_parser *p) {
  while (p->at < p->text.len && (p->text.ptr[p->at] == ' ' || p->text.ptr[p->at] == '\t'))
    p->at++;
  return p->at < p->text.len ? (unsigned char)p->text.ptr[p->at] : -1;
}

static bool accept(struct grid_parser *p, char c) {
  if (peek(p) != c)
    return false;
  p->at++;
  return true;
}

static bool unexpected(struct grid_parser *p, const char *wanted) {
  int c = peek(p);
  if (c < 0)
    WRONG(p, p->at, p->at, "the grid ends where %s is expected", wanted);
  else
    WRONG(p, p->at, p->at + 1, "expected %s, not `%c`", wanted, c >= 0x20 && c < 0x7f ? c : '?');
  return false;
}

static bool is_name_char(int c) {
  return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || c > 127;
}

static struct str scan_word(struct grid_parser *p) {
  size_t begin = p->at;
  while (p->at < p->text.len && is_name_char((unsigned char)p->text.ptr[p->at]))
    p->at++;
  return (struct str){p->text.ptr + begin, p->at - begin};
}

// A name, maybe one of a part: `a.shape[0]`.
static struct str scan_name(struct grid_parser *p) {
  struct str s = scan_word(p);
  size_t begin = p->at - s.len;
  bool is_number = s.len && s.ptr[0] >= '0' && s.ptr[0] <= '9';
  while (!is_number && p->at + 1 < p->text.len) {
    size_t before = p->at;
    char first = p->text.ptr[p->at++];
    struct str part = scan_word(p);
    bool closes = p->at < p->text.len && p->text.ptr[p->at] == ']';
    if (part.len == 0 || !(first == '.' || (first == '[' && closes))) {
      p->at = before;
      break;
    }
    p->at += first == '[';
  }
  return (struct str){p->text.ptr + begin, p->at - begin};
}

static bool parse_sum(struct grid_parser *p, struct grid_value *ret);

static const char *code_of(struct grid_parser *p, struct grid_value v) {
  if (v.code)
    return v.code;
  // C89 has no literals beyond long, and no negative literals.
  int64_t high = v.number / 1000000000, low = v.number % 1000000000;
  return high ? arena_printf(p->arena, "((int64_t)%lld * 1000000000 + %lld)", (long long)high,
                             (long long)low)
              : arena_printf(p->arena, "(int64_t)%lld", (long long)low);
}

// The call of <tile/pack.h> for `op`.
static const char *call_of(char op) {
  switch (op) {
  case '+': return "add";
  case '-': return "sub";
  case '*': return "mul";
  case '/': return "div";
  case '%': return "mod";
  case 'c': return "cdiv";
  case '<': return "min";
  default: return "max";
  }
}

// a op b into *ret; the operator is at `begin`. 'c' is cdiv, '<' and '>' are min and max.
static bool apply_numbers(struct grid_parser *p, size_t begin, size_t end, char op, int64_t a,
                          int64_t b, int64_t *ret) {
  bool overflow = false;
  bool divides = op == '/' || op == '%' || op == 'c';
  if (divides && b == 0) {
    WRONG(p, begin, end, "division by zero");
    return false;
  }
  if (divides && b == -1 && a == INT64_MIN)
    overflow = true;
  else if (op == '+')
    overflow = __builtin_add_overflow(a, b, ret);
  else if (op == '-')
    overflow = __builtin_sub_overflow(a, b, ret);
  else if (op == '*')
    overflow = __builtin_mul_overflow(a, b, ret);
  else if (op == '/')
    *ret = a / b;
  else if (op == '%')
    *ret = a % b;
  else if (op == 'c') // up to the next integer: adds 1 only if the exact quotient is positive and
                      // not an integer
    *ret = a / b + (a % b != 0 && (a < 0) == (b < 0));
  else
    *ret = (op == '<') == (a < b) ? a : b;
  if (overflow)
    WRONG(p, begin, end, "the result does not fit into 64 bits");
  return !overflow;
}

static bool apply(struct grid_parser *p, size_t begin, size_t end, char op, struct grid_value a,
                  struct grid_value b, struct grid_value *ret) {
  if (!a.code && !b.code) {
    *ret = (struct grid_value){0};
    return apply_numbers(p, begin, end, op, a.number, b.number, &ret->number);
  }
  if (!b.code && b.number == 0 && (op == '/' || op == '%' || op == 'c')) {
    WRONG(p, begin, end, "division by zero");
    return false;
  }
  *ret = (struct grid_value){0, arena_printf(p->arena, "tile_grid_%s(%s, %s, &tile_failed)",
                                             call_of(op), code_of(p, a), code_of(p, b))};
  return true;
}

// call = ( 'cdiv' | 'min' | 'max' ) '(' sum ',' sum ')', the name already read
static bool parse_call(struct grid_parser *p, struct str name, size_t begin,
                       struct grid_value *ret) {
  static const char *const functions[] = {"cdiv", "min", "max"};
  static const char ops[] = "c<>";
  size_t f = 0;
  struct str last = name; // `triton.cdiv`, `tl.cdiv` and `math.min` are those, too
  for (struct str rest = name; rest.ptr;)
    rest = str_split(rest, '.', &last);
  while (f < COUNT_OF(functions) && !str_is(last, functions[f]))
    f++;
  if (f == COUNT_OF(functions)) {
    const char *near = str_nearest(name, functions, COUNT_OF(functions));
    struct diag *d = WRONG(p, begin, begin + name.len, "unknown function `%.*s`", STR_ARG(name));
    if (near)
      diag_did_you_mean(d, span_at(p, begin, begin + name.len), near);
    else
      diag_help(d, "functions are `cdiv(a, b)`, `min(a, b)` and `max(a, b)`");
    return false;
  }
  struct grid_value a, b;
  if (!parse_sum(p, &a))
    return false;
  if (!accept(p, ','))
    return unexpected(p, "`,`");
  if (!parse_sum(p, &b))
    return false;
  if (!accept(p, ')'))
    return unexpected(p, "`)`");
  return apply(p, begin, p->at, ops[f], a, b, ret);
}

static bool parse_name(struct grid_parser *p, struct str name, size_t begin,
                       struct grid_value *ret) {
  for (size_t i = 0; i < p->names->count; i++)
    if (str_is(name, p->names->names[i])) {
      *ret = (struct grid_value){p->names->values[i], p->names->codes ? p->names->codes[i] : NULL};
      return true;
    }
  struct diag *d = WRONG(p, begin, begin + name.len, "unknown name `%.*s`", STR_ARG(name));
  const char *near = str_nearest(name, p->names->names, p->names->count);
  if (near)
    diag_did_you_mean(d, span_at(p, begin, begin + name.len), near);
  else
    diag_help(d,
              "integer arguments and compile-time parameters can be used; `-D %.*s=VALUE` "
              "defines one",
              STR_ARG(name));
  return false;
}

// The rest of `meta["BLOCK"]`.
static bool parse_meta(struct grid_parser *p, struct grid_value *ret) {
  int quote = peek(p);
  if (quote != '"' && quote != '\'')
    return unexpected(p, "a name in quotes");
  p->at++;
  size_t begin = p->at;
  struct str name = scan_word(p);
  if (!accept(p, (char)quote) || !accept(p, ']'))
    return unexpected(p, "the end of the name and `]`");
  return parse_name(p, name, begin, ret);
}

// primary = number | name | call | '(' sum ')'
static bool parse_primary(struct grid_parser *p, struct grid_value *ret) {
  int c = peek(p);
  size_t begin = p->at;
  if (accept(p, '(')) {
    if (!parse_sum(p, ret))
      return false;
    return accept(p, ')') || unexpected(p, "`)`");
  }
  if (c < 0 || !is_name_char(c))
    return unexpected(p, "a number or a name");
  struct str word = scan_name(p);
  if (c >= '0' && c <= '9') {
    *ret = (struct grid_value){0};
    if (str_to_i64(word, &ret->number))
      return true;
    WRONG(p, begin, p->at, "`%.*s` is not a number", STR_ARG(word));
    return false;
  }
  if (p->meta.len && str_eq(word, p->meta) && accept(p, '['))
    return parse_meta(p, ret);
  return accept(p, '(') ? parse_call(p, word, begin, ret) : parse_name(p, word, begin, ret);
}

// unary = { '+' | '-' } primary
static bool parse_unary(struct grid_parser *p, struct grid_value *ret) {
  bool negative = false;
  size_t begin;
  for (;;) {
    begin = p->at;
    if (accept(p, '-'))
      negative = !negative;
    else if (!accept(p, '+'))
      break;
  }
  if (!parse_primary(p, ret))
    return false;
  return !negative || apply(p, begin, p->at, '-', (struct grid_value){0}, *ret, ret);
}

// `(n + BLOCK - 1) / BLOCK` rounds up by itself.
static bool rounds_up(struct str dividend) {
  bool has_parentheses = dividend.len && dividend.ptr[dividend.len - 1] == ')';
  return has_parentheses && memchr(dividend.ptr, '-', dividend.len);
}

// A known `a / b`, from `begin` up to here, must be whole: programs would be missing for the rest.
// `//` is the division that rounds.
static bool is_whole_quotient(struct grid_parser *p, size_t begin, struct str dividend,
                              struct str divisor, int64_t a, int64_t b) {
  if (b == 0 || b == -1 || a % b == 0 || rounds_up(dividend))
    return true;
  struct diag *d = WRONG(p, begin, p->at, "the quotient %lld / %lld is no whole number",
                         (long long)a, (long long)b);
  diag_help(d, "write `cdiv(%.*s,%.*s)`, one program more for the rest; `//` leaves it out",
            STR_ARG(dividend), STR_ARG(divisor));
  return false;
}

// product = unary { ( '*' | '/' | '//' | '%' ) unary }
static bool parse_product(struct grid_parser *p, struct grid_value *ret) {
  (void)peek(p); // the product begins after blanks
  size_t first = p->at;
  if (!parse_unary(p, ret))
    return false;
  for (;;) {
    int op = peek(p);
    size_t begin = p->at;
    if (op != '*' && op != '/' && op != '%')
      return true;
    p->at++;
    bool is_floor = op == '/' && accept(p, '/');
    size_t end = is_floor ? p->at : begin + 1;
    struct grid_value right;
    if (!parse_unary(p, &right))
      return false;
    struct str dividend = str_trim((struct str){p->text.ptr + first, begin - first}),
               divisor = str_trim((struct str){p->text.ptr + end, p->at - end});
    bool is_exact = op == '/' && !is_floor && !ret->code && !right.code;
    if (is_exact && !is_whole_quotient(p, first, dividend, divisor, ret->number, right.number))
      return false;
    if (!apply(p, begin, end, (char)op, *ret, right, ret))
      return false;
  }
}

// sum = product { ( '+' | '-' ) product }
static bool parse_sum(struct grid_parser *p, struct grid_value *ret) {
  if (p->depth == MAX_DEPTH) {
    WRONG(p, p->at, p->at, "the grid is nested too deeply");
    return false;
  }
  p->depth++;
  bool ok = parse_product(p, ret);
  while (ok) {
    int op = peek(p);
    size_t begin = p->at;
    if (op != '+' && op != '-')
      break;
    p->at++;
    struct grid_value right;
    ok = parse_product(p, &right) && apply(p, begin, begin + 1, (char)op, *ret, right, ret);
  }
  p->depth--;
  return ok;
}

static bool check_range(struct grid_parser *p, size_t begin, int axis, int64_t value) {
  int64_t limit = axis == 0 ? INT32_MAX : 65535;
  if (value >= 1 && value <= limit)
    return true;
  struct diag *d = diag_error(p->diag, span_at(p, begin, p->at), E0725,
                              "a grid of %lld programs along axis %d", (long long)value, axis);
  if (value < 1)
    diag_help(d, "a launch needs at least one program along each axis");
  else
    diag_help(d, "at most %lld programs are possible along this axis", (long long)limit);
  return false;
}

// `lambda meta:` and the parentheses of a tuple, as a grid is written in Python, are skipped.
// False: there are no parentheses around it all.
static bool skip_python(struct grid_parser *p) {
  static const char lambda[] = "lambda ";
  (void)peek(p);
  struct str rest = {p->text.ptr + p->at, p->text.len - p->at}, tail;
  if (str_starts(rest, lambda)) {
    tail = str_split((struct str){rest.ptr + sizeof lambda - 1, rest.len - sizeof lambda + 1}, ':',
                     &p->meta);
    p->meta = str_trim(p->meta);
    p->at = tail.ptr ? (size_t)(tail.ptr - p->text.ptr) : p->text.len;
  }
  if (peek(p) != '(')
    return false;
  int depth = 0;
  bool has_comma = false;
  for (size_t i = p->at; i < p->text.len; i++) {
    depth += p->text.ptr[i] == '(';
    depth -= p->text.ptr[i] == ')';
    has_comma |= depth == 1 && p->text.ptr[i] == ',';
    if (depth == 0 &&
        (!has_comma || str_trim((struct str){p->text.ptr + i + 1, p->text.len - i - 1}).len))
      return false;
  }
  return depth == 0 && accept(p, '(');
}

static bool parse_grid(struct grid_parser *p, struct grid_value ret[3]) {
  bool in_tuple = skip_python(p);
  for (int axis = 0; axis < 3; axis++)
    ret[axis] = (struct grid_value){.number = 1};
  for (int axis = 0;; axis++) {
    struct grid_value value;
    (void)peek(p); // so that the span of the axis begins after blanks
    size_t begin = p->at;
    if (axis == 3) {
      diag_help(WRONG(p, begin, p->text.len, "a grid has at most three axes"),
                "fold the others into the third one: `--grid X,Y,Z*W`; the kernel has `i // W` and "
                "`i %% W` of `i = tl.program_id(2)`");
      return false;
    }
    if (!parse_sum(p, &value) || (!value.code && !check_range(p, begin, axis, value.number)))
      return false;
    ret[axis] = value;
    if (!accept(p, ',') || (in_tuple && peek(p) == ')'))
      break;
  }
  if (in_tuple && !accept(p, ')'))
    return unexpected(p, "`,` or `)`");
  return peek(p) < 0 || unexpected(p, "an operator or `,`");
}

static struct str text_at(struct span where) {
  return (struct str){where.source->text.ptr + where.begin, where.end - where.begin};
}

struct grid_names grid_names_make(struct arena *a, size_t capacity) {
  return (struct grid_names){.names = arena_array(a, const char *, capacity + 1),
                             .values = arena_array(a, int64_t, capacity + 1)};
}

void grid_names_add(struct grid_names *n, const char *name, int64_t value) {
  n->names[n->count] = name;
  n->values[n->count++] = value;
}

void grid_names_add_text(struct grid_names *n, const char *name, struct str text) {
  int64_t value;
  if (str_to_i64(text, &value))
    grid_names_add(n, name, value);
}

bool grid_expr_eval(struct diag_engine *diag, struct span where, const struct grid_names *names,
                    uint32_t ret[3]) {
  struct grid_parser p = {.diag = diag, .where = where, .text = text_at(where), .names = names};
  struct grid_value grid[3];
  if (!parse_grid(&p, grid))
    return false;
  for (int axis = 0; axis < 3; axis++)
    ret[axis] = (uint32_t)grid[axis].number;
  return true;
}

bool grid_expr_to_c(struct arena *a, struct diag_engine *diag, struct span where,
                    const struct grid_names *names, const char *ret[3]) {
  struct grid_parser p = {
      .arena = a, .diag = diag, .where = where, .text = text_at(where), .names = names};
  struct grid_value grid[3];
  if (!parse_grid(&p, grid))
    return false;
  for (int axis = 0; axis < 3; axis++)
    ret[axis] = code_of(&p, grid[axis]);
  return true;
}
