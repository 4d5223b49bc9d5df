// SPDX-License-Identifier: Apache-2.0
// Whether a file's device code mentions a name, by a search of its text, which may give false
// positives (in a comment). Decides which imports can matter to kernels.
#include "lang/eval/import.h"

#include <ctype.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || (c & 0x80); }

// The indentation of the line at `at`; SIZE_MAX for a line that does not end a block: blank, a
// comment, or closing brackets.
static size_t indent_at(struct str text, size_t at) {
  size_t n = 0;
  while (at + n < text.len && (text.ptr[at + n] == ' ' || text.ptr[at + n] == '\t'))
    n++;
  return at + n == text.len || strchr("\r\n#)]}", text.ptr[at + n]) ? SIZE_MAX : n;
}

static size_t next_line(struct str text, size_t at) {
  const char *end = memchr(text.ptr + at, '\n', text.len - at);
  return end ? (size_t)(end - text.ptr) + 1 : text.len;
}

// The text of the statement at `begin`: the rest of its line, and the lines that are indented more.
static struct str block_at(struct str text, size_t begin) {
  size_t line = begin;
  while (line > 0 && text.ptr[line - 1] != '\n')
    line--;
  size_t indent = indent_at(text, line), end = next_line(text, begin);
  while (end < text.len && indent_at(text, end) > indent)
    end = next_line(text, end);
  return (struct str){text.ptr + begin, end - begin};
}

static bool text_mentions(struct str block, struct str name) {
  for (size_t i = 0; i + name.len <= block.len; i++) {
    const char *p = memchr(block.ptr + i, name.ptr[0], block.len - i);
    if (!p)
      return false;
    i = (size_t)(p - block.ptr);
    if (i + name.len <= block.len && memcmp(p, name.ptr, name.len) == 0 &&
        (i == 0 || !is_word(p[-1])) && (i + name.len == block.len || !is_word(p[name.len])))
      return true;
  }
  return false;
}

static bool block_mentions(const struct ast_module *m, struct span at, struct str name) {
  return text_mentions(block_at(m->source->text, at.begin), name);
}

bool module_has_word(const struct ast_module *m, const char *name) {
  return text_mentions(m->source->text, str_from(name));
}

bool module_mentions(const struct ast_module *m, const char *name) {
  struct str s = str_from(name);
  for (size_t i = 0; i < m->function_count; i++)
    if (!m->functions[i]->is_host && block_mentions(m, m->functions[i]->span, s))
      return true;
  for (size_t i = 0; i < m->class_count; i++)
    if (!m->classes[i]->is_host && block_mentions(m, m->classes[i]->name_span, s))
      return true;
  for (size_t i = 0; i < m->constant_count; i++)
    if (block_mentions(m, m->constants[i].name_span, s))
      return true;
  return false;
}
