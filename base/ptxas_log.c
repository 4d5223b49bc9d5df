// SPDX-License-Identifier: Apache-2.0
// Messages of ptxas with a code have it in parentheses: "ptxas info : (C7510) Potential ...".
#include "base/ptxas_log.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_code(const char *p) { // 7 characters
  return memcmp(p, "(C75", 4) == 0 && is_digit(p[4]) && is_digit(p[5]) && p[6] == ')';
}

struct str ptxas_log_problem(struct str log) {
  enum { CODE = 7 };
  while (log.ptr) {
    struct str line;
    log = str_split(log, '\n', &line);
    for (size_t i = 0; i + CODE <= line.len; i++)
      if (is_code(line.ptr + i))
        return str_trim((struct str){line.ptr + i, line.len - i});
  }
  return (struct str){"", 0};
}
