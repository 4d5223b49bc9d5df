// SPDX-License-Identifier: Apache-2.0
// Python of the host, as far as decorators of kernels use it: functions, lambdas, lists and
// dictionaries that change, and what Triton and torch say of a device. It stops at the first error,
// as Python would.
#ifndef TILE_LANG_EVAL_PYTHON_H
#define TILE_LANG_EVAL_PYTHON_H

#include "lang/eval/objects.h"

#define TRITON_VERSION "3.6.0" // whose language this is

extern const struct dialect python_dialect;

// ---- functions and methods (python_functions.c, python_triton.c, python_methods.c) ----
// Python's own, found without a prefix: `sorted`.
const struct builtin *host_python(const char *name);
// Of a module, by its last word: `product`, `Config`, `get_device_capability`.
const struct builtin *host_function(const char *name);
const struct builtin *host_triton(const char *name); // of those, what Triton and torch have
const struct builtin *host_method(struct value v, const char *name);
// On sequences (python_sequences.c): rows of the tables.
typedef struct value python_fn(struct eval *e, struct call *c);
python_fn sequence_sorted, sequence_nsmallest, sequence_reversed, sequence_filter, sequence_map,
    sequence_any, sequence_fold, sequence_set, sequence_sequence, sequence_product, sequence_chain;
// Sorted by `key`, a function or None; stable.
bool host_sort(struct eval *e, struct tuple items, struct operand key, bool reverse, struct span at,
               struct value *ret);

#endif
