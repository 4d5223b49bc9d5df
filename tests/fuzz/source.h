// SPDX-License-Identifier: Apache-2.0
// Kernel sources as fuzz inputs. The first line may begin with `#F` and three characters: target,
// number of warps, index of the file's kernel; to the compiler it is a comment.
#ifndef TESTS_FUZZ_SOURCE_H
#define TESTS_FUZZ_SOURCE_H

#include "drive.h"
#include "lowering/compile.h"

enum { SOURCE_LIMIT = 16 << 10 }; // bytes; larger inputs are passed over

// Compiles one kernel of the source to `emit`. The name of an untyped parameter decides its type:
// compile-time ones are 16, sizes and strides i32, all others pointers.
void drive_source(const uint8_t *data, size_t size, enum emit_kind emit);

#endif
