// SPDX-License-Identifier: Apache-2.0
// String views: splitting, strict numbers, edit distance.
#include "base/str.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>

bool str_starts(struct str s, const char *prefix) {
  size_t n = strlen(prefix);
  return s.len >= n && memcmp(s.ptr, prefix, n) == 0;
}

bool str_ends(struct str s, const char *suffix) {
  size_t n = strlen(suffix);
  return s.len >= n && memcmp(s.ptr + s.len - n, suffix, n) == 0;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

struct str str_trim(struct str s) {
  while (s.len && is_space(s.ptr[0]))
    s.ptr++, s.len--;
  while (s.len && is_space(s.ptr[s.len - 1]))
    s.len--;
  return s;
}

struct str str_split(struct str s, char sep, struct str *ret_head) {
  const char *at = s.len ? memchr(s.ptr, sep, s.len) : NULL;
  if (!at) {
    *ret_head = s;
    return (struct str){NULL, 0};
  }
  size_t n = (size_t)(at - s.ptr);
  *ret_head = (struct str){s.ptr, n};
  return (struct str){at + 1, s.len - n - 1};
}

struct str str_split_list(struct str s, struct str *ret_head) {
  unsigned depth = 0;
  char quote = 0;
  for (size_t i = 0; i < s.len; i++) {
    char c = s.ptr[i];
    if (quote) {
      quote = c == quote ? 0 : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[') {
      depth++;
    } else if (c == ')' || c == ']') {
      depth -= depth > 0;
    } else if (c == ',' && depth == 0) {
      *ret_head = (struct str){s.ptr, i};
      return (struct str){s.ptr + i + 1, s.len - i - 1};
    }
  }
  *ret_head = s;
  return (struct str){NULL, 0};
}

static int digit_of(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 99;
}

static int base_of(struct str s) {
  if (s.len < 2 || s.ptr[0] != '0')
    return 10;
  switch (s.ptr[1] | 0x20) {
  case 'x': return 16;
  case 'b': return 2;
  case 'o': return 8;
  default: return 10;
  }
}

bool str_to_u64(struct str s, uint64_t *ret) {
  int base = base_of(s);
  size_t i = base == 10 ? 0 : 2;
  bool digit_before = false;
  uint64_t value = 0;
  for (; i < s.len; i++) {
    if (s.ptr[i] == '_' && digit_before) {
      digit_before = false;
      continue;
    }
    int d = digit_of(s.ptr[i]);
    if (d >= base || !checked_mul(value, (uint64_t)base, &value) ||
        __builtin_add_overflow(value, (uint64_t)d, &value))
      return false;
    digit_before = true;
  }
  if (!digit_before)
    return false;
  *ret = value;
  return true;
}

bool str_to_i64(struct str s, int64_t *ret) {
  bool negative = s.len && s.ptr[0] == '-';
  if (s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'))
    s.ptr++, s.len--;
  uint64_t value;
  if (!str_to_u64(s, &value) || value > (uint64_t)INT64_MAX + negative)
    return false;
  *ret = negative ? (int64_t)(0 - value) : (int64_t)value;
  return true;
}

static bool is_word(const char *s, const char *lower) {
  for (; *s && *lower; s++, lower++)
    if ((*s | 0x20) != *lower)
      return false;
  return !*s && !*lower;
}

// Copies digits, with single '_' between them, to *out; returns the number of digits.
static size_t copy_digits(struct str s, size_t *at, char **out) {
  size_t n = 0;
  while (*at < s.len) {
    char c = s.ptr[*at];
    bool joins = c == '_' && n > 0 && *at + 1 < s.len && digit_of(s.ptr[*at + 1]) < 10;
    if (!joins) {
      if (digit_of(c) >= 10)
        break;
      *(*out)++ = c;
      n++;
    }
    ++*at;
  }
  return n;
}

// Copies `s` to `text` without '_' if it is a decimal floating-point number.
static bool copy_decimal(struct str s, char *text) {
  size_t i = 0;
  if (i < s.len && (s.ptr[i] == '-' || s.ptr[i] == '+'))
    *text++ = s.ptr[i++];
  size_t digits = copy_digits(s, &i, &text);
  if (i < s.len && s.ptr[i] == '.') {
    *text++ = s.ptr[i++];
    digits += copy_digits(s, &i, &text);
  }
  if (!digits)
    return false;
  if (i < s.len && (s.ptr[i] | 0x20) == 'e') {
    *text++ = s.ptr[i++];
    if (i < s.len && (s.ptr[i] == '-' || s.ptr[i] == '+'))
      *text++ = s.ptr[i++];
    if (!copy_digits(s, &i, &text))
      return false;
  }
  *text = 0;
  return i == s.len;
}

bool str_to_f64(struct str s, double *ret) {
  char text[512];
  if (!s.len || s.len >= sizeof text)
    return false;
  if (!copy_decimal(s, text)) {
    memcpy(text, s.ptr, s.len);
    text[s.len] = 0;
    const char *word = text + (text[0] == '-' || text[0] == '+');
    if (!is_word(word, "inf") && !is_word(word, "infinity") && !is_word(word, "nan"))
      return false;
  }
  // strtod uses the thread's locale, which the host program sets.
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c_locale)
    return false;
  locale_t before = uselocale(c_locale);
  double value = strtod(text, NULL);
  uselocale(before);
  freelocale(c_locale);
  *ret = value;
  return true;
}

#define DISTANCE_LIMIT 64

static unsigned min3(unsigned a, unsigned b, unsigned c) {
  unsigned m = a < b ? a : b;
  return m < c ? m : c;
}

unsigned str_distance(struct str a, struct str b) {
  // Longer names are not compared as misspellings; it bounds the rows too.
  if (a.len > DISTANCE_LIMIT || b.len > DISTANCE_LIMIT)
    return str_eq(a, b) ? 0 : (unsigned)(a.len > b.len ? a.len : b.len);
  unsigned rows[3][DISTANCE_LIMIT + 1];
  unsigned *two_up = rows[0], *up = rows[1], *row = rows[2];
  for (size_t j = 0; j <= b.len; j++)
    up[j] = (unsigned)j;
  for (size_t i = 1; i <= a.len; i++) {
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= b.len; j++) {
      unsigned cost = a.ptr[i - 1] != b.ptr[j - 1];
      row[j] = min3(up[j] + 1, row[j - 1] + 1, up[j - 1] + cost);
      bool swapped = i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1];
      if (swapped && two_up[j - 2] + 1 < row[j])
        row[j] = two_up[j - 2] + 1;
    }
    unsigned *oldest = two_up;
    two_up = up;
    up = row;
    row = oldest;
  }
  return up[b.len];
}

static bool equal_but_case(struct str a, struct str b) {
  if (a.len != b.len)
    return false;
  for (size_t i = 0; i < a.len; i++) {
    char x = a.ptr[i], y = b.ptr[i];
    bool letter = (x | 0x20) >= 'a' && (x | 0x20) <= 'z';
    if (x != y && !(letter && (x ^ y) == 0x20))
      return false;
  }
  return true;
}

const char *str_nearest(struct str name, const char *const *candidates, size_t n) {
  const char *best = NULL;
  unsigned best_distance = 0;
  for (size_t i = 0; i < n; i++) {
    struct str candidate = str_from(candidates[i]);
    size_t longer = name.len > candidate.len ? name.len : candidate.len;
    size_t shorter = name.len + candidate.len - longer;
    unsigned limit = longer <= 5 ? 1 : (unsigned)(longer / 3 < 4 ? longer / 3 : 4);
    if (longer - shorter > limit)
      continue; // the lengths differ by more than the best distance
    unsigned distance = equal_but_case(name, candidate) ? 0 : str_distance(name, candidate);
    if (longer < 3 && distance > 0)
      continue; // all one-letter names are near each other
    if (distance <= limit && (!best || distance < best_distance)) {
      best = candidates[i];
      best_distance = distance;
    }
  }
  return best;
}
