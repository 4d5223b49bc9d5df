// SPDX-License-Identifier: Apache-2.0
#include "lowering/analysis/scratch.h"

uint32_t scratch_offset(MlirOperation op) {
  return (uint32_t)op_attr_int(op, "tilegpu.shared_offset", 0);
}
