// SPDX-License-Identifier: Apache-2.0
// Checks the text of inline assembly before LLVM parses it, since LLVM ends the process on errors.
#ifndef TILE_LOWERING_LLVM_ASM_TEXT_H
#define TILE_LOWERING_LLVM_ASM_TEXT_H

#include "base/arena.h"
#include "base/str.h"

// The error in the text, for that many operands (results first), or NULL. References are LLVM's:
// `$0`, `${0}`, `${0:r}` and `$$`, which is a dollar sign; `${:uid}`, `${:comment}` and
// `${:private}`; `$(one$|other$)`, of which the first is taken. Braces, strings and comments of PTX
// must be closed.
const char *asm_text_error(struct arena *a, struct str text, unsigned operands);

#endif
