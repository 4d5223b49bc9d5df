// SPDX-License-Identifier: Apache-2.0
// A kernel's source to PTX (for the CPU target to LLVM IR), LLVM's code generator included.
#include "source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  drive_source(data, size, EMIT_PTX);
  return 0;
}
