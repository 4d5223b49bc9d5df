// SPDX-License-Identifier: Apache-2.0
// See xml_check.h.
#include "xml_check.h"

#include <check.h>
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

// Reads one tag or text of XML; false when it is not well-formed. `open` is the stack of elements.
static bool read_part(const char **at, char open[][16], size_t *depth) {
  const char *p = *at;
  if (*p != '<') {
    if (*p == '&' && strncmp(p, "&lt;", 4) != 0 && strncmp(p, "&gt;", 4) != 0 &&
        strncmp(p, "&amp;", 5) != 0 && strncmp(p, "&quot;", 6) != 0)
      return false;
    *at = p + 1;
    return *p != '>' && ((unsigned char)*p >= 32 || *p == '\n');
  }
  bool is_end = p[1] == '/';
  p += 1 + is_end;
  size_t n = 0;
  while (isalpha((unsigned char)p[n]))
    n++;
  if (n == 0 || n > 15)
    return false;
  if (is_end) {
    *at = p + n + 1;
    return p[n] == '>' && *depth > 0 && strlen(open[*depth - 1]) == n &&
           strncmp(open[--*depth], p, n) == 0;
  }
  const char *name = p;
  for (p += n; *p == ' ';) { // attributes
    while (*p == ' ')
      p++;
    while (isalpha((unsigned char)*p) || *p == '-')
      p++;
    if (*p++ != '=' || *p++ != '"')
      return false;
    for (; *p != '"'; p++)
      if (*p == '\0' || *p == '<' || *p == '&')
        return false;
    p++;
  }
  if (p[0] == '/' && p[1] == '>') {
    *at = p + 2;
    return true;
  }
  memcpy(open[*depth], name, n);
  open[(*depth)++][n] = '\0';
  *at = p + 1;
  return *p == '>' && *depth < 16;
}

size_t xml_check(const char *text) {
  char open[17][16];
  size_t depth = 0, parts = 0;
  const char *p = text;
  for (; *p; parts++) {
    const char *at = p;
    ck_assert_msg(read_part(&p, open, &depth), "not well-formed at: %.60s", at);
    ck_assert_msg(depth > 0 || *p == '\0' || *p == '\n', "outside of the root: %.60s", p);
  }
  ck_assert_uint_eq(depth, 0);
  return parts;
}
