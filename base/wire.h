// SPDX-License-Identifier: Apache-2.0
// Serialises numbers and texts for another process of the same build: fields have no names, both
// sides agree on the order. The input may be damaged: then the reader fails, and returns zeros from
// then on.
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
const char *wire_get_text(struct wire_reader *r, struct arena *a); // NULL if NULL was written
// A count of items of at least one byte each; fails if that many cannot follow.
size_t wire_get_count(struct wire_reader *r);

#endif
