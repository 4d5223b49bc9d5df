// SPDX-License-Identifier: Apache-2.0
// `tilec lsp`: a language server (Language Server Protocol 3.17) for `.tile` files and for
// `@triton.jit` functions in `.py` files. One thread reads messages and answers from the newest
// results; another one analyses files (analyser.c), so that no answer waits for the compiler.
#ifndef TILE_TOOLS_LSP_LSP_H
#define TILE_TOOLS_LSP_LSP_H

#include "base/str.h"

struct lsp;

// `send` gets each message to the client, JSON without a header. It is called from two threads, but
// never twice at once. NULL when memory or threads are out.
struct lsp *lsp_create(void (*send)(void *user, struct str message), void *user);
void lsp_destroy(struct lsp *s); // ends the thread; accepts NULL
// Handles one message of the client. Messages that are wrong get an error as their answer. False
// after `exit`.
bool lsp_receive(struct lsp *s, struct str message);
// Answers with an error of the protocol to what is no message.
void lsp_refuse(struct lsp *s, int code, const char *text);
// 0 if `exit` came after `shutdown`, or nothing before the end of the input; else 1.
int lsp_exit_status(const struct lsp *s);
// Returns when all files are analysed, and the layouts of their kernels known. For tests.
void lsp_wait(struct lsp *s);

// The server on these file descriptors until `exit` or the end of the input; its exit status.
int lsp_serve(int in, int out);

#endif
