// SPDX-License-Identifier: Apache-2.0
// A kernel's source to IR: the lexer, the parser, compile-time evaluation, types.
#include "source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  drive_source(data, size, EMIT_TILE);
  return 0;
}
