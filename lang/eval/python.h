// SPDX-License-Identifier: Apache-2.0
// Evaluation of host code, as far as decorators of kernels use it: functions, lambdas, mutable
// lists and dictionaries, and Triton's and torch's queries of a device. It stops at the first
// error, as Python would.
#ifndef TILE_LANG_EVAL_PYTHON_H
#define TILE_LANG_EVAL_PYTHON_H

#include "lang/eval/objects.h"

#define TRITON_VERSION "3.6.0" // the version of Triton that this language follows

extern const struct dialect python_dialect;

#define PYTHON_VERSION "sys.version_info"

// ---- exceptions (python_try.c) ----
// Reports that `text` raises an exception that a `try` may catch.
struct value host_raise(struct eval *e, struct span at, const char *exception, const char *text);
void python_unread(struct eval *e, const struct stmt *s);
// False: within a `try`, Python would raise ImportError, or it is not known whether it does.
bool host_may_import(struct eval *e, const struct ast_import *im);
void python_attempt(struct eval *e, const struct stmt *s);
bool python_item(struct eval *e, const struct expr *x, const struct opaque *o, struct value *ret);

// ---- functions and methods (python_functions.c, python_triton.c, python_methods.c) ----
// Python's builtins: `sorted`.
const struct builtin *host_python(const char *name);
// A module's function by the last part of its name: `product`, `Config`, `get_device_capability`.
const struct builtin *host_function(const char *name);
const struct builtin *host_triton(const char *name); // those of Triton and torch
struct value host_backends(struct eval *e);          // triton.backends.backends
const struct builtin *host_method(struct value v, const char *name);
// On sequences (python_sequences.c): rows of the tables.
typedef struct value python_fn(struct eval *e, struct call *c);
python_fn sequence_sorted, sequence_nsmallest, sequence_reversed, sequence_filter, sequence_map,
    sequence_any, sequence_fold, sequence_set, sequence_sequence, sequence_product, sequence_chain;
// Sorted by `key`, a function or None; stable.
bool host_sort(struct eval *e, struct tuple items, struct operand key, bool reverse, struct span at,
               struct value *ret);

#endif
