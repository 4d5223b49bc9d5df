// SPDX-License-Identifier: Apache-2.0
// Shared by the files that evaluate expressions.
#ifndef TILE_LANG_EVAL_EXPR_H
#define TILE_LANG_EVAL_EXPR_H

#include "lang/eval/consteval.h"

// ---- collections.c ----
struct value eval_items(struct eval *e, const struct expr_list *items, struct span at);
struct value eval_comprehension(struct eval *e, const struct expr *x);
struct value eval_fstring(struct eval *e, const struct expr *x);

#endif
