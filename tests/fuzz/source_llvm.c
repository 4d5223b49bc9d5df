// SPDX-License-Identifier: Apache-2.0
// A kernel's source to LLVM IR: all passes and LLVM IR emission, without LLVM's code generator.
#include "source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  drive_source(data, size, EMIT_LLVM);
  return 0;
}
