// SPDX-License-Identifier: Apache-2.0
// Numbers and texts as bytes, for another process of the same build: nothing is named, and both
// sides agree on the order. What is read may be damaged: a reader fails, and gives zeros from then
// on.
#ifndef TILE_BASE_WIRE_H
#define TILE_BASE_WIRE_H

#include "base/arena.h"
#include "base/str.h"

void wire_put(struct strbuf *out, uint64_t number);
void wire_put_f64(struct strbuf *out, double number);
void wire_put_bytes(struct strbuf *out, struct str bytes);
void wire_put_text(struct strbuf *out, const char *text); // may be NULL

struct wire_reader {
  struct str rest;
  bool failed;
};
uint64_t wire_get(struct wire_reader *r);
double wire_get_f64(struct wire_reader *r);
struct str wire_get_bytes(struct wire_reader *r);                  // a view
const char *wire_get_text(struct wire_reader *r, struct arena *a); // NULL where it was
// How many things follow, each of which takes a byte at least: what is no possible number fails.
size_t wire_get_count(struct wire_reader *r);

#endif
