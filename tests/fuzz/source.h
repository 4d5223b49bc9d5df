// SPDX-License-Identifier: Apache-2.0
// Kernel sources as fuzz inputs. The first line may begin with `#F` and three characters: target,
// number of warps, which of the file's kernels; the compiler sees a comment.
#ifndef TESTS_FUZZ_SOURCE_H
#define TESTS_FUZZ_SOURCE_H

#include "drive.h"
#include "lowering/compile.h"

enum { SOURCE_LIMIT = 16 << 10 }; // bytes; larger inputs are passed over

// Compiles one kernel of the source to `emit`. Parameters without a type get one by their name:
// compile-time ones are 16, sizes and strides i32, all others pointers.
void drive_source(const uint8_t *data, size_t size, enum emit_kind emit);

#endif
