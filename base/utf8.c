// SPDX-License-Identifier: Apache-2.0
// UTF-8 as in RFC 3629. Widths follow the ranges of Unicode's East Asian Width (wide, full-width)
// and of nonspacing marks that occur in source texts; they are used only to align carets.
#include "base/utf8.h"

size_t utf8_decode(const char *s, size_t n, uint32_t *ret) {
  const unsigned char *p = (const unsigned char *)s;
  if (!n)
    return 0;
  if (p[0] < 0x80) {
    *ret = p[0];
    return 1;
  }
  size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
  static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
  if (p[0] < 0xc2 || p[0] > 0xf4 || n < len)
    return 0;
  uint32_t code = p[0] & (0xffu >> (len + 1));
  for (size_t i = 1; i < len; i++) {
    if ((p[i] & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (p[i] & 0x3f);
  }
  if (code < smallest[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    return 0;
  *ret = code;
  return len;
}

size_t utf8_encode(uint32_t code, char *to) {
  if (code < 0x80) {
    to[0] = (char)code;
    return 1;
  }
  size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = n - 1; i > 0; i--, code >>= 6)
    to[i] = (char)(0x80 | (code & 0x3f));
  static const unsigned char lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
  to[0] = (char)(lead[n] | code);
  return n;
}

struct range {
  uint32_t first, last;
};

static bool in_ranges(uint32_t code, const struct range *ranges, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (code >= ranges[i].first && code <= ranges[i].last)
      return true;
  return false;
}

unsigned utf8_width(uint32_t code) {
  static const struct range marks[] = {
      {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f},  {0x1ab0, 0x1aff},
      {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064},  {0x20d0, 0x20ff},
      {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef}};
  static const struct range wide[] = {
      {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x2e80, 0x303e},
      {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},
      {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
      {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
      {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd}};
  if (code < 0x300)
    return 1;
  if (in_ranges(code, marks, COUNT_OF(marks)))
    return 0;
  return in_ranges(code, wide, COUNT_OF(wide)) ? 2 : 1;
}
