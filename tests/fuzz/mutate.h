// SPDX-License-Identifier: Apache-2.0
// The mutator of text inputs, for libFuzzer and for replay.c.
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

// Mutates an input of `size` bytes in a buffer of `max`; returns the new size. Deterministic for a
// seed, except for LLVMFuzzerMutate.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
// libFuzzer's own mutations, or those of replay.c.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

#endif
