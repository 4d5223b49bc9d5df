// SPDX-License-Identifier: Apache-2.0
// Finds functions of the standard library by name.
#include "lang/std/std_table.h"

#include <stdlib.h>
#include <string.h>

static int compare_names(const void *name, const void *row) {
  return strcmp(name, ((const struct std_row *)row)->name);
}

const struct std_row *std_row_find(const char *name) {
  return bsearch(name, std_table, std_table_len, sizeof *std_table, compare_names);
}
