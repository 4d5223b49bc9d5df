// SPDX-License-Identifier: Apache-2.0
// The user's own expressions as messages and edits repeat them.
#include "lang/eval/eval.h"

#include <ctype.h>

#define SPELLED_MAX 60 // longer expressions are not repeated

struct str eval_spelled(const struct eval *e, struct span at) {
  struct str none = {NULL, 0};
  if (!at.source || at.end <= at.begin || at.end - at.begin > SPELLED_MAX || e->frame->is_std)
    return none;
  struct str text = {at.source->text.ptr + at.begin, at.end - at.begin};
  return memchr(text.ptr, '\n', text.len) || memchr(text.ptr, '#', text.len) ? none : text;
}

bool spelled_is_name(struct str text) {
  for (size_t i = 0; i < text.len; i++)
    if (!isalnum((unsigned char)text.ptr[i]) && text.ptr[i] != '_')
      return false;
  return text.len > 0 && !isdigit((unsigned char)text.ptr[0]);
}

bool spelled_is_primary(struct str text) {
  int depth = 0;
  bool starts_with_bracket = text.len && strchr("([{", text.ptr[0]);
  for (size_t i = 0; i < text.len; i++) {
    char c = text.ptr[i];
    if (c == '"' || c == '\'')
      return false;
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    bool is_closed = depth == 0 && c != ')' && c != ']' && c != '}';
    if (is_closed && !isalnum((unsigned char)c) && c != '_' && c != '.')
      return false;
  }
  return text.len > 0 && !starts_with_bracket;
}

const char *spelled_primary(struct eval *e, struct str text) {
  bool is_primary = spelled_is_primary(text);
  return arena_printf(e->a, "%s%.*s%s", is_primary ? "" : "(", STR_ARG(text),
                      is_primary ? "" : ")");
}

struct span span_with_parentheses(struct span at) {
  struct str text = at.source->text;
  for (;;) {
    uint32_t begin = at.begin, end = at.end;
    while (begin && text.ptr[begin - 1] == ' ')
      begin--;
    while (end < text.len && text.ptr[end] == ' ')
      end++;
    if (!begin || text.ptr[begin - 1] != '(' || end >= text.len || text.ptr[end] != ')')
      return at;
    at.begin = begin - 1, at.end = end + 1;
  }
}

struct span span_of_item(struct span list, size_t index) {
  struct str text = list.source ? list.source->text : (struct str){NULL, 0};
  if (!list.source || list.end - list.begin < 2 || !strchr("[(", text.ptr[list.begin]))
    return list;
  int depth = 0;
  uint32_t begin = list.begin + 1;
  for (uint32_t i = begin; i < list.end; i++) {
    char c = text.ptr[i];
    bool is_end = depth == 0 && (c == ',' || i + 1 == list.end);
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (!is_end || index-- > 0) {
      begin = is_end ? i + 1 : begin;
      continue;
    }
    uint32_t end = i;
    while (begin < end && isspace((unsigned char)text.ptr[begin]))
      begin++;
    while (end > begin && isspace((unsigned char)text.ptr[end - 1]))
      end--;
    return begin < end ? (struct span){list.source, begin, end} : list;
  }
  return list;
}
