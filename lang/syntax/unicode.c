// SPDX-License-Identifier: Apache-2.0
// Characters beyond ASCII: those that may be part of a name, that change the direction of text, and
// that resemble an ASCII character (quotes and minus signs pasted from a text processor).
#include "lang/syntax/lexer.h"

struct range32 {
  uint32_t first, last;
};

// Ranges above 127 that are not letters, digits or marks, approximately: punctuation, symbols,
// spaces, controls, private use. Identifiers are not normalised, so two encodings of one letter are
// two names.
static const struct range32 not_names[] = {
    {0x80, 0xa9},       {0xab, 0xb4},     {0xb6, 0xb9},     {0xbb, 0xbf},       {0xd7, 0xd7},
    {0xf7, 0xf7},       {0x2c2, 0x2c5},   {0x2d2, 0x2df},   {0x37e, 0x37e},     {0x387, 0x387},
    {0x60c, 0x60d},     {0x61b, 0x61f},   {0x66a, 0x66d},   {0x1680, 0x1680},   {0x180e, 0x180e},
    {0x2000, 0x203e},   {0x2041, 0x2053}, {0x2055, 0x2070}, {0x207a, 0x207e},   {0x208a, 0x208e},
    {0x20a0, 0x20cf},   {0x2190, 0x2bff}, {0x2e00, 0x2e7f}, {0x3000, 0x3004},   {0x3008, 0x3020},
    {0x3030, 0x3030},   {0xe000, 0xf8ff}, {0xfe10, 0xfe1f}, {0xfe30, 0xfe32},   {0xfe35, 0xfe4c},
    {0xfe50, 0xfe6f},   {0xfeff, 0xfeff}, {0xff01, 0xff0f}, {0xff1a, 0xff20},   {0xff3b, 0xff3e},
    {0xff40, 0xff40},   {0xff5b, 0xff65}, {0xffe0, 0xfffd}, {0x1f000, 0x1faff}, {0xe0000, 0xe007f},
    {0xf0000, 0x10ffff}};

bool unicode_is_name(uint32_t c) {
  for (size_t i = 0; i < COUNT_OF(not_names); i++)
    if (c >= not_names[i].first && c <= not_names[i].last)
      return false;
  return true;
}

bool unicode_is_bidi_control(uint32_t c) {
  return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f;
}

static const struct {
  uint32_t code;
  const char *meant;
} lookalikes[] = {{0xa0, " "},    {0xb4, "'"},     {0xd7, "*"},    {0xf7, "/"},     {0x2010, "-"},
                  {0x2011, "-"},  {0x2012, "-"},   {0x2013, "-"},  {0x2014, "-"},   {0x2018, "'"},
                  {0x2019, "'"},  {0x201c, "\""},  {0x201d, "\""}, {0x2026, "..."}, {0x2028, " "},
                  {0x202f, " "},  {0x2190, "="},   {0x2192, "->"}, {0x2212, "-"},   {0x2215, "/"},
                  {0x2217, "*"},  {0x2227, "and"}, {0x2228, "or"}, {0x2260, "!="},  {0x2264, "<="},
                  {0x2265, ">="}, {0x22c5, "*"},   {0x3000, " "},  {0xfeff, " "},   {0xff08, "("},
                  {0xff09, ")"},  {0xff0c, ","},   {0xff1a, ":"},  {0xff1b, ";"},   {0xff1d, "="},
                  {0xff3b, "["},  {0xff3d, "]"}};

const char *unicode_meant(uint32_t c) {
  for (size_t i = 0; i < COUNT_OF(lookalikes); i++)
    if (lookalikes[i].code == c)
      return lookalikes[i].meant;
  return NULL;
}
