// SPDX-License-Identifier: Apache-2.0
// The standard library: functions written in the language (lang/std/*.tile). All its files share
// one namespace. Each function is parsed alone, on first use; the functions it calls are looked up
// by name.
#ifndef TILE_LANG_EVAL_STD_MODULE_H
#define TILE_LANG_EVAL_STD_MODULE_H

#include "lang/eval/eval.h"

// NULL if the library has no such function. `ret_module` is the module of that one function.
const struct ast_function *std_function(struct eval *e, const char *name,
                                        const struct ast_module **ret_module);
// The same as a value that can be called or passed on; false if there is none.
bool std_value(struct eval *e, const char *name, struct value *ret);
// Whether the module came from std_function.
bool std_owns(const struct eval *e, const struct ast_module *m);
// A mathematical function, whose errors cancel only if no product is fused with a sum.
bool std_is_exact(const struct ast_module *m);

#endif
