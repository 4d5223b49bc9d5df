// SPDX-License-Identifier: Apache-2.0
// Mutations of texts: repeats, moves and deletes lines, exchanges words, makes numbers
// extreme, nests brackets, and every third time calls libFuzzer's mutator (with its dictionary
// and other inputs).
#include "mutate.h"

#include "mutate_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

size_t text_pick(struct text *t, size_t n) { // splitmix64
  uint64_t z = t->random += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return n ? (size_t)((z ^ z >> 31) % n) : 0;
}

bool text_replace(struct text *t, struct range r, const char *by, size_t length) {
  static char kept[1 << 16];
  size_t rest = t->len - r.end;
  if (length > sizeof kept || r.begin + length + rest > t->max)
    return false;
  memcpy(kept, by, length);
  memmove(t->at + r.begin + length, t->at + r.end, rest);
  memcpy(t->at + r.begin, kept, length);
  t->len = r.begin + length + rest;
  return true;
}

// ---- lines ----

static struct range line_at(const struct text *t, size_t at) {
  struct range r = {at, at};
  while (r.begin > 0 && t->at[r.begin - 1] != '\n')
    r.begin--;
  while (r.end < t->len && t->at[r.end] != '\n')
    r.end++;
  r.end += r.end < t->len;
  return r;
}

static struct range some_line(struct text *t) { return line_at(t, text_pick(t, t->len)); }

// A few consecutive lines.
static struct range some_lines(struct text *t) {
  struct range r = some_line(t);
  for (size_t n = text_pick(t, 4); n > 0 && r.end < t->len; n--)
    r.end = line_at(t, r.end).end;
  return r;
}

static bool repeat_lines(struct text *t) {
  struct range r = some_lines(t);
  size_t n = 1 + (text_pick(t, 8) ? text_pick(t, 3) : text_pick(t, 64)), length = r.end - r.begin;
  bool done = false;
  for (size_t i = 0;
       i < n && length && text_replace(t, (struct range){r.end, r.end}, t->at + r.begin, length);
       i++)
    done = true;
  return done;
}

static bool delete_lines(struct text *t) { return text_replace(t, some_lines(t), "", 0); }

static bool copy_lines(struct text *t) {
  struct range from = some_lines(t), to = some_line(t);
  if (text_pick(t, 2))
    to.end = to.begin;
  return text_replace(t, to, t->at + from.begin, from.end - from.begin);
}

// ---- words ----

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static struct range some_word(struct text *t) {
  struct range r = {text_pick(t, t->len), 0};
  for (size_t n = 0; n < 40 && r.begin < t->len && !is_word(t->at[r.begin]); n++)
    r.begin++;
  r.end = r.begin;
  while (r.begin > 0 && is_word(t->at[r.begin - 1]))
    r.begin--;
  while (r.end < t->len && is_word(t->at[r.end]))
    r.end++;
  return r;
}

static bool exchange_words(struct text *t) {
  struct range from = some_word(t), to = some_word(t);
  return text_replace(t, to, t->at + from.begin, from.end - from.begin);
}

static bool delete_word(struct text *t) { return text_replace(t, some_word(t), "", 0); }

static bool set_number(struct text *t) {
  static const char *const numbers[] = {"0",
                                        "1",
                                        "-1",
                                        "2",
                                        "3",
                                        "7",
                                        "16",
                                        "31",
                                        "32",
                                        "33",
                                        "64",
                                        "128",
                                        "1024",
                                        "65536",
                                        "2147483647",
                                        "2147483648",
                                        "-2147483648",
                                        "4294967295",
                                        "4294967296",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "18446744073709551615",
                                        "1e308",
                                        "1e-45",
                                        "1e400",
                                        "0.0",
                                        "-0.0",
                                        "0.5",
                                        "1099511627776",
                                        "0x7fffffff",
                                        "float('nan')",
                                        "inf"};
  struct range r = some_word(t);
  for (size_t n = 0; n < 16 && !(r.begin < t->len && isdigit((unsigned char)t->at[r.begin])); n++)
    r = some_word(t);
  const char *by = numbers[text_pick(t, sizeof numbers / sizeof *numbers)];
  return text_replace(t, r, by, strlen(by));
}

static bool nest(struct text *t) {
  static const char *const open[] = {"(",     "[",       "{",    "-",  "not ", "~",
                                     "(1 + ", "if 1:\n", "$0, ", "\"", "'''"};
  const char *by = open[text_pick(t, sizeof open / sizeof *open)];
  size_t at = some_word(t).begin, n = text_pick(t, 6) ? 1 : text_pick(t, 300);
  bool done = false;
  for (size_t i = 0; i <= n && text_replace(t, (struct range){at, at}, by, strlen(by)); i++)
    done = true;
  return done;
}

static bool put_operator(struct text *t) {
  static const char *const operators[] = {" + ",
                                          " - ",
                                          " * ",
                                          " / ",
                                          " // ",
                                          " % ",
                                          " @ ",
                                          " ** ",
                                          " << ",
                                          " >> ",
                                          " & ",
                                          " | ",
                                          " ^ ",
                                          " < ",
                                          " == ",
                                          " and ",
                                          " or ",
                                          " if True else ",
                                          "[None, :]",
                                          "[:, None]",
                                          ".to(tl.float8e5)",
                                          ".to(tl.int64)",
                                          ".T",
                                          "=",
                                          ", ",
                                          ": ",
                                          ".",
                                          "$",
                                          "*",
                                          "->",
                                          "\n    "};
  const char *by = operators[text_pick(t, sizeof operators / sizeof *operators)];
  struct range r = some_word(t);
  return text_replace(t, (struct range){r.end, r.end}, by, strlen(by));
}

// Target, warps and kernel of a source (source.h).
static bool set_line(struct text *t) {
  char line[] = "#F000\n";
  for (int i = 2; i < 5; i++)
    line[i] = (char)('0' + text_pick(t, 64));
  bool has = t->len > 5 && t->at[0] == '#' && t->at[1] == 'F';
  return text_replace(t, (struct range){0, has ? line_at(t, 0).end : 0}, line, 6);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
  static bool (*const kinds[])(struct text *) = {
      repeat_lines, delete_lines, copy_lines, exchange_words, exchange_words, delete_word,
      set_number,   set_number,   nest,       put_operator,   set_line};
  struct text t = {(char *)data, size, max, seed};
  if (graph_is_text(&t) && text_pick(&t, 5)) {
    size_t n = 1 + text_pick(&t, 3);
    for (int tries = 0; n > 0 && tries < 20; tries++)
      n -= graph_mutate(&t);
    return t.len;
  }
  if (size == 0 || text_pick(&t, 3) == 0)
    return LLVMFuzzerMutate(data, size, max);
  for (size_t n = 1 + text_pick(&t, 3); n > 0 && t.len; n--)
    (void)kinds[text_pick(&t, sizeof kinds / sizeof *kinds)](&t);
  return t.len ? t.len : LLVMFuzzerMutate(data, size, max);
}
