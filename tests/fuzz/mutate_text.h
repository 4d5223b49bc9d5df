// SPDX-License-Identifier: Apache-2.0
// A text that is mutated in place: shared by the mutators of texts.
#ifndef TESTS_FUZZ_MUTATE_TEXT_H
#define TESTS_FUZZ_MUTATE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
  char *at;
  size_t len, max; // bytes; the buffer has `max`
  uint64_t random; // the state of text_pick
};

struct range {
  size_t begin, end; // bytes of the text
};

// Below n; 0 for n = 0.
size_t text_pick(struct text *t, size_t n);
// Replaces the range by bytes that may be part of the text itself. False if they do not fit.
bool text_replace(struct text *t, struct range r, const char *by, size_t length);

// A tensor graph, as PyTorch prints it?
bool graph_is_text(const struct text *t);
// One change of a type (dtype, rank, a size, strides), of an argument of a call (its kind, a
// number, the length of a list, its presence), or one call more, on an earlier value. False if
// nothing changed.
bool graph_mutate(struct text *t);

#endif
