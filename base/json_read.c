// SPDX-License-Identifier: Apache-2.0
// The JSON reader: recursive descent over RFC 8259, nesting counted, strings decoded to UTF-8.
#include "base/json.h"
#include "base/utf8.h"
#include "base/vec.h"

struct json_parser {
  struct arena *a;
  struct str text;
  size_t at;
  unsigned depth;
  struct json_error *error;
};

static struct json *fail(struct json_parser *p, size_t offset, const char *message) {
  if (!p->error->message)
    *p->error = (struct json_error){offset, message};
  return NULL;
}

static int peek(const struct json_parser *p) {
  return p->at < p->text.len ? (unsigned char)p->text.ptr[p->at] : -1;
}

static void skip_space(struct json_parser *p) {
  while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\n' || peek(p) == '\r')
    p->at++;
}

static bool accept(struct json_parser *p, char c) {
  skip_space(p);
  if (peek(p) != c)
    return false;
  p->at++;
  return true;
}

static struct json *make(struct json_parser *p, enum json_kind kind) {
  struct json *j = arena_new(p->a, struct json);
  if (j)
    j->kind = kind;
  return j ? j : fail(p, p->at, "out of memory");
}

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

// four hexadecimal digits after \u
static bool parse_hex4(struct json_parser *p, uint32_t *ret) {
  uint32_t value = 0;
  for (int i = 0; i < 4; i++, p->at++) {
    int c = peek(p);
    if (is_digit(c))
      value = value * 16 + (uint32_t)(c - '0');
    else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
      value = value * 16 + (uint32_t)((c | 0x20) - 'a' + 10);
    else
      return false;
  }
  *ret = value;
  return true;
}

// escape = '\' ( '"' | '\' | '/' | b | f | n | r | t | u hex4 ), the backslash already read
static bool parse_escape(struct json_parser *p, char **out) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  size_t start = p->at - 1;
  int c = peek(p);
  p->at++;
  for (size_t i = 0; i + 1 < sizeof names; i++)
    if (c == names[i]) {
      *(*out)++ = values[i];
      return true;
    }
  uint32_t code, low;
  if (c != 'u' || !parse_hex4(p, &code)) {
    fail(p, start, "unknown escape sequence");
    return false;
  }
  if (code >= 0xd800 && code < 0xdc00) {
    bool pair = p->at + 2 <= p->text.len && memcmp(p->text.ptr + p->at, "\\u", 2) == 0;
    p->at += pair ? 2 : 0;
    if (!pair || !parse_hex4(p, &low) || low < 0xdc00 || low > 0xdfff) {
      fail(p, start, "unpaired surrogate");
      return false;
    }
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xdc00 && code < 0xe000) {
    fail(p, start, "unpaired surrogate");
    return false;
  }
  *out += utf8_encode(code, *out);
  return true;
}

// string = '"' { character | escape } '"', the first quote already read
static bool parse_string(struct json_parser *p, struct str *ret) {
  size_t start = p->at, end = start;
  while (end < p->text.len && p->text.ptr[end] != '"')
    end += p->text.ptr[end] == '\\' ? 2 : 1;
  if (end >= p->text.len) {
    fail(p, start - 1, "string without an end");
    return false;
  }
  char *out = arena_alloc(p->a, end - start + 1, 1); // escapes only get shorter
  if (!out) {
    fail(p, start, "out of memory");
    return false;
  }
  ret->ptr = out;
  while (p->at < end) {
    unsigned char c = (unsigned char)p->text.ptr[p->at];
    uint32_t code;
    size_t n = 1;
    if (c == '\\') {
      p->at++;
      if (!parse_escape(p, &out))
        return false;
      continue;
    }
    if (c < 0x20) {
      fail(p, p->at, "control character in a string");
      return false;
    }
    if (c >= 0x80 && !(n = utf8_decode(p->text.ptr + p->at, end - p->at, &code))) {
      fail(p, p->at, "string is not valid UTF-8");
      return false;
    }
    memcpy(out, p->text.ptr + p->at, n);
    out += n;
    p->at += n;
  }
  p->at = end + 1;
  ret->len = (size_t)(out - ret->ptr);
  return true;
}

static size_t skip_digits(struct json_parser *p) {
  size_t n = 0;
  for (; is_digit(peek(p)); n++)
    p->at++;
  return n;
}

// number = [ '-' ] ( '0' | digit1-9 digits ) [ '.' digits ] [ (e|E) [+|-] digits ]
static struct json *parse_number(struct json_parser *p) {
  size_t start = p->at;
  if (peek(p) == '-')
    p->at++;
  size_t first = p->at, digits = skip_digits(p);
  if (!digits || (digits > 1 && p->text.ptr[first] == '0'))
    return fail(p, start, "malformed number");
  bool integer = true;
  if (peek(p) == '.') {
    integer = false;
    p->at++;
    if (!skip_digits(p))
      return fail(p, start, "malformed number");
  }
  if (peek(p) == 'e' || peek(p) == 'E') {
    integer = false;
    p->at++;
    if (peek(p) == '+' || peek(p) == '-')
      p->at++;
    if (!skip_digits(p))
      return fail(p, start, "malformed number");
  }
  struct str text = {p->text.ptr + start, p->at - start};
  struct json *j = make(p, JSON_NUMBER);
  if (!j)
    return NULL;
  j->is_integer = integer && str_to_i64(text, &j->integer);
  if (!str_to_f64(text, &j->number))
    return fail(p, start, "number with too many digits");
  return j;
}

static struct json *parse_value(struct json_parser *p);

typedef VEC(struct json *) json_vec;
typedef VEC(struct str) str_vec;
typedef VEC(size_t) offset_vec;

// array = '[' [ value { ',' value } ] ']', the bracket already read
static struct json *parse_array(struct json_parser *p) {
  json_vec items = {0};
  struct json *j = make(p, JSON_ARRAY);
  if (!j)
    return NULL;
  if (!accept(p, ']')) {
    do {
      struct json *item = parse_value(p);
      if (!item)
        return NULL;
      vec_push(p->a, &items, item);
    } while (accept(p, ','));
    if (!accept(p, ']'))
      return fail(p, p->at, "expected `,` or `]`");
  }
  j->items = items.at;
  j->count = items.len;
  return j;
}

// object = '{' [ string ':' value { ',' string ':' value } ] '}', the brace already read
static struct json *parse_object(struct json_parser *p) {
  json_vec items = {0};
  str_vec keys = {0};
  offset_vec offsets = {0};
  struct json *j = make(p, JSON_OBJECT);
  if (!j)
    return NULL;
  if (!accept(p, '}')) {
    do {
      struct str key;
      if (!accept(p, '"'))
        return fail(p, p->at, "expected a key");
      size_t offset = p->at - 1;
      if (!parse_string(p, &key))
        return NULL;
      if (!accept(p, ':'))
        return fail(p, p->at, "expected `:`");
      struct json *item = parse_value(p);
      if (!item)
        return NULL;
      vec_push(p->a, &keys, key);
      vec_push(p->a, &offsets, offset);
      vec_push(p->a, &items, item);
    } while (accept(p, ','));
    if (!accept(p, '}'))
      return fail(p, p->at, "expected `,` or `}`");
  }
  j->items = items.at;
  j->keys = keys.at;
  j->key_at = offsets.at;
  j->count = items.len;
  return j;
}

static bool accept_word(struct json_parser *p, const char *word) {
  size_t n = strlen(word);
  if (p->text.len - p->at < n || memcmp(p->text.ptr + p->at, word, n) != 0)
    return false;
  p->at += n;
  return true;
}

// object | array | string | number | true | false | null
static struct json *parse_any(struct json_parser *p) {
  struct json *j = NULL;
  int c = peek(p);
  if (c == '-' || is_digit(c))
    return parse_number(p);
  if (c == '"') {
    p->at++;
    j = make(p, JSON_STRING);
    return j && parse_string(p, &j->string) ? j : NULL;
  }
  if (c == '{' || c == '[') {
    if (p->depth == JSON_MAX_DEPTH)
      return fail(p, p->at, "nested too deeply");
    p->at++;
    p->depth++;
    j = c == '{' ? parse_object(p) : parse_array(p);
    p->depth--;
    return j;
  }
  if (accept_word(p, "null"))
    return make(p, JSON_NULL);
  if (accept_word(p, "true")) {
    j = make(p, JSON_BOOL);
    if (j)
      j->boolean = true;
    return j;
  }
  if (accept_word(p, "false"))
    return make(p, JSON_BOOL);
  return fail(p, p->at, c < 0 ? "unexpected end" : "expected a value");
}

static struct json *parse_value(struct json_parser *p) {
  skip_space(p);
  size_t begin = p->at;
  struct json *j = parse_any(p);
  if (j) {
    j->begin = begin;
    j->end = p->at;
  }
  return j;
}

struct json *json_parse(struct arena *a, struct str text, struct json_error *ret_error) {
  *ret_error = (struct json_error){0};
  struct json_parser p = {.a = a, .text = text, .error = ret_error};
  struct json *j = parse_value(&p);
  skip_space(&p);
  if (j && p.at < text.len)
    return fail(&p, p.at, "text after the value");
  return j;
}

struct json *json_get(const struct json *object, const char *key) {
  if (!object || object->kind != JSON_OBJECT)
    return NULL;
  for (size_t i = 0; i < object->count; i++)
    if (str_is(object->keys[i], key))
      return object->items[i];
  return NULL;
}
