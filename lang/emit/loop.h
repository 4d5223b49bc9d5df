// SPDX-License-Identifier: Apache-2.0
// Between the files of statements.
#ifndef TILE_LANG_EMIT_LOOP_H
#define TILE_LANG_EMIT_LOOP_H

#include "lang/emit/consteval.h"

void emit_for_loop(struct emitter *e, const struct stmt *s);
void emit_while_loop(struct emitter *e, const struct stmt *s);
// The hidden variables of the function's control flow, which a statement that leaves early changes.
void flow_variables(struct emitter *e, struct variable_list *l);

#endif
