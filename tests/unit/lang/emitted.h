// SPDX-License-Identifier: Apache-2.0
// For tests of the emitter: source text to the text of its `tile` IR, its messages, and what
// static_print wrote.
#ifndef TILE_TESTS_UNIT_LANG_EMITTED_H
#define TILE_TESTS_UNIT_LANG_EMITTED_H

#include "base/str.h"
#include "lang/frontend.h"

struct emitted {
  bool ok; // a module was emitted
  unsigned errors;
  struct strbuf ir;       // its text; "" after errors
  struct strbuf messages; // rendered diagnostics
  struct strbuf printed;  // of static_print
};

// `defines`: NAME=VALUE words, or NULL. The kernel may be any of the file's (NULL: the only one).
struct emitted emit_text(struct str text, const char *kernel, const char *defines);
void emitted_free(struct emitted *r);

// The IR of a text that must compile; fails the test with its messages otherwise.
struct emitted emit_good(const char *text);
// Emits and checks that the messages hold `code` ("E0214").
void check_error(const char *text, const char *code);
// Emits and checks that each of the `n` pieces occurs in the IR, in this order.
void check_ir(const char *text, size_t n, const char *const *pieces);
#define CHECK_IR(text, ...)                                                                        \
  check_ir(text, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *),                \
           (const char *const[]){__VA_ARGS__})

#endif
