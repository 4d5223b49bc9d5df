// SPDX-License-Identifier: Apache-2.0
// Appends numbers to names that are taken.
#include "graph/ir/unique_name.h"

void unique_name_take(struct arena *a, struct unique_names *names, const char *name) {
  map_put(a, &names->taken, str_from(name), names);
}

const char *unique_name(struct arena *a, struct unique_names *names, const char *wanted) {
  const char *name = wanted;
  uintptr_t number = (uintptr_t)map_get(&names->last, str_from(wanted));
  for (; map_get(&names->taken, str_from(name));
       name = arena_printf(a, "%s_%u", wanted, (unsigned)number))
    number++;
  if (number)
    map_put(a, &names->last, str_from(wanted), (void *)number);
  unique_name_take(a, names, name);
  return name;
}
