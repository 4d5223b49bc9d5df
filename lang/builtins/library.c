// SPDX-License-Identifier: Apache-2.0
// The tables of builtins, of the standard library and of docs.def, joined.
#include "lang/builtins/library.h"

#include "lang/builtins/builtins.h"
#include "lang/std/std_table.h"

static const struct {
  const char *name, *text;
} docs[] = {
#define DOC(name, text) {name, text},
#include "lang/builtins/docs.def"
#undef DOC
};

// The rows of docs.def are sorted.
const char *library_doc(const char *name) {
  size_t low = 0, high = COUNT_OF(docs);
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    int order = strcmp(name, docs[mid].name);
    if (order == 0)
      return docs[mid].text;
    if (order < 0)
      high = mid;
    else
      low = mid + 1;
  }
  return NULL;
}

// ---- methods of tensor descriptors, which have no rows of their own in builtins.def ----

static const struct library_function descriptor_methods[] = {
    {"load", "desc offsets", "The block of the tensor that begins at the offsets.",
     BUILTIN_DESCRIPTOR},
    {"store", "desc offsets value", "Writes a block of the tensor.", BUILTIN_DESCRIPTOR},
    {"gather", "desc x_offsets y_offset", "Rows of the tensor, from a column on.",
     BUILTIN_DESCRIPTOR},
    {"scatter", "desc value x_offsets y_offset", "Writes rows of the tensor, from a column on.",
     BUILTIN_DESCRIPTOR},
    {"atomic_add", "desc offsets value", "Adds a block to the tensor, without a result.",
     BUILTIN_DESCRIPTOR},
    {"atomic_min", "desc offsets value", "Smaller values in the tensor, without a result.",
     BUILTIN_DESCRIPTOR},
    {"atomic_max", "desc offsets value", "Larger values in the tensor, without a result.",
     BUILTIN_DESCRIPTOR},
    {"atomic_and", "desc offsets value", "Bitwise and in the tensor, without a result.",
     BUILTIN_DESCRIPTOR},
    {"atomic_or", "desc offsets value", "Bitwise or in the tensor, without a result.",
     BUILTIN_DESCRIPTOR},
    {"atomic_xor", "desc offsets value", "Bitwise exclusive or in the tensor, without a result.",
     BUILTIN_DESCRIPTOR},
};

// ---- all functions ----

size_t library_count(void) { return builtin_table_len + COUNT_OF(descriptor_methods); }

static const char *name_at(size_t i) {
  return i < builtin_table_len ? builtin_table[i].name
                               : descriptor_methods[i - builtin_table_len].name;
}

struct library_function library_at(size_t i) {
  if (i >= builtin_table_len)
    return descriptor_methods[i - builtin_table_len];
  const struct builtin *b = &builtin_table[i];
  const struct std_row *row = b->params ? NULL : std_row_find(b->name);
  const char *params = b->params ? b->params : row ? row->params : "";
  bool differs = b->flags & BUILTIN_BARE; // `max` of values, `tl.max` along an axis
  const char *doc = differs && strcmp(b->name, "max") == 0   ? library_doc("python.max")
                    : differs && strcmp(b->name, "min") == 0 ? library_doc("python.min")
                                                             : library_doc(b->name);
  return (struct library_function){b->name, params, doc, b->flags};
}

bool library_serves(const struct library_function *f, enum library_scope scope) {
  unsigned of_values = BUILTIN_TYPE | BUILTIN_DESCRIPTOR | BUILTIN_HOST;
  switch (scope) {
  case LIBRARY_MODULE: return !(f->flags & (BUILTIN_BARE | of_values));
  case LIBRARY_BARE: return !(f->flags & (BUILTIN_PREFIXED | of_values));
  case LIBRARY_METHOD: return f->flags & (BUILTIN_METHOD | BUILTIN_TYPE);
  case LIBRARY_DESCRIPTOR: return f->flags & BUILTIN_DESCRIPTOR;
  }
  return false;
}

bool library_find(struct str name, enum library_scope scope, struct library_function *ret) {
  for (size_t i = 0; i < library_count(); i++) {
    if (!str_is(name, name_at(i)))
      continue;
    *ret = library_at(i);
    if (library_serves(ret, scope))
      return true;
  }
  return false;
}
