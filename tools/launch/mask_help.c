// SPDX-License-Identifier: Apache-2.0
// Reads the call's text: the parameter, the offsets and the closing parenthesis.
#include "tools/launch/mask_help.h"

#include <stdio.h>

static bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The call that begins at `where`, up to its closing parenthesis; ptr NULL if it is no call.
static struct str call_at(struct span where) {
  struct str text = where.source->text;
  size_t i = where.begin, depth = 0;
  while (i < text.len && (is_name(text.ptr[i]) || text.ptr[i] == '.'))
    i++;
  if (i == text.len || text.ptr[i] != '(')
    return (struct str){0};
  for (; i < text.len; i++) {
    depth += text.ptr[i] == '(' || text.ptr[i] == '[';
    depth -= text.ptr[i] == ')' || text.ptr[i] == ']';
    if (depth == 0)
      return (struct str){text.ptr + where.begin, i + 1 - where.begin};
  }
  return (struct str){0};
}

// The offsets of the first argument, `param + NAME`; len 0: it has another form.
static struct str offsets_of(struct str call, const char *param) {
  struct str head, none = {0}, rest = str_split(call, '(', &head);
  size_t n = 0;
  while (n < rest.len && rest.ptr[n] != ',' && rest.ptr[n] != '(' && rest.ptr[n] != '[')
    n++;
  struct str argument = {rest.ptr, n}, base, offsets = str_split(argument, '+', &base);
  bool is_simple = n == rest.len || rest.ptr[n] == ',';
  if (!is_simple || !offsets.ptr)
    return none;
  offsets = str_trim(offsets);
  if (offsets.len && offsets.ptr[offsets.len - 1] == ')') // the call's own
    offsets = str_trim((struct str){offsets.ptr, offsets.len - 1});
  for (size_t i = 0; i < offsets.len; i++)
    if (!is_name(offsets.ptr[i]))
      return none;
  return str_is(str_trim(base), param) ? offsets : none;
}

void mask_help(struct diag *d, struct span where, const char *param, const char *bound,
               const char *beyond) {
  struct str call = where.source ? call_at(where) : (struct str){0};
  struct str offsets = param && call.ptr ? offsets_of(call, param) : (struct str){0};
  bool has_mask = false;
  for (size_t i = 0; i + 4 <= call.len; i++)
    has_mask |= memcmp(call.ptr + i, "mask", 4) == 0;
  if (has_mask) {
    if (beyond)
      diag_help(d, "%s", beyond);
    else
      diag_help(d, "the mask lets lanes through that are outside: compare it with %s", bound);
    return;
  }
  if (!offsets.len) {
    diag_help(d, "mask the lanes that are outside, such as `mask=i < %s`", bound);
    return;
  }
  diag_help(d, "mask the lanes that are outside: `%.*s, mask=%.*s < %s)`", (int)call.len - 1,
            call.ptr, STR_ARG(offsets), bound);
  uint32_t end = where.begin + (uint32_t)call.len - 1;
  char edit[256];
  int n = snprintf(edit, sizeof edit, ", mask=%.*s < %s", STR_ARG(offsets), bound);
  if (n > 0 && (size_t)n < sizeof edit)
    diag_fixit(d, (struct span){where.source, end, end}, edit);
}
