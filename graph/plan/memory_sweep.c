// SPDX-License-Identifier: Apache-2.0
// Allocates very many storages of constant sizes in one pass over time, as a heap would: a storage
// takes the smallest free span that fits, and leaves it when it ends. Neighbouring free spans are
// merged. Free spans are in bins by size, so that an allocation takes a bounded number of steps.
#include "graph/plan/memory_plan.h"

#include <stdlib.h>

enum {
  BIN_BITS = 3, // bins per power of two: 8
  BINS = (64 - BIN_BITS) << BIN_BITS,
  MOST_TRIED = 32 // spans of one bin
};

struct memory_span {
  int64_t offset, bytes;
  struct memory_span *below, *above;   // neighbours in memory
  struct memory_span *previous, *next; // of its bin
  bool is_free;
};

struct sweep {
  struct arena *a;
  struct memory_span *bins[BINS]; // of free spans
  uint64_t used[BINS / 64 + 1];
  struct memory_span *rest; // all memory behind the last span; in no bin
  int64_t end;              // of what has been allocated at any time
};

// ---- bins ----

static unsigned bin_of(int64_t bytes) {
  uint64_t n = (uint64_t)bytes;
  unsigned log = n ? 63u - (unsigned)__builtin_clzll(n) : 0;
  if (log <= BIN_BITS)
    return (unsigned)n;
  return ((log - BIN_BITS + 1) << BIN_BITS) | ((n >> (log - BIN_BITS)) & ((1u << BIN_BITS) - 1));
}

static void put_free(struct sweep *s, struct memory_span *at) {
  unsigned bin = bin_of(at->bytes);
  at->is_free = true;
  at->previous = NULL;
  at->next = s->bins[bin];
  if (at->next)
    at->next->previous = at;
  s->bins[bin] = at;
  s->used[bin / 64] |= (uint64_t)1 << bin % 64;
}

static void take_free(struct sweep *s, struct memory_span *at) {
  unsigned bin = bin_of(at->bytes);
  at->is_free = false;
  if (at->previous)
    at->previous->next = at->next;
  else if (!(s->bins[bin] = at->next))
    s->used[bin / 64] &= ~((uint64_t)1 << bin % 64);
  if (at->next)
    at->next->previous = at->previous;
}

// The first bin from `bin` on with a span; BINS: none.
static unsigned next_bin(const struct sweep *s, unsigned bin) {
  for (unsigned word = bin / 64; word < COUNT_OF(s->used); word++) {
    uint64_t bits = s->used[word];
    if (word == bin / 64)
      bits &= ~(uint64_t)0 << bin % 64;
    if (bits)
      return word * 64 + (unsigned)__builtin_ctzll(bits);
  }
  return BINS;
}

// The smallest of the spans tried in a bin that fits; NULL: none.
static struct memory_span *best_in(const struct sweep *s, unsigned bin, int64_t bytes) {
  struct memory_span *best = NULL;
  unsigned tried = 0;
  for (struct memory_span *at = bin < BINS ? s->bins[bin] : NULL; at && tried < MOST_TRIED;
       tried++) {
    if (at->bytes >= bytes && (!best || at->bytes < best->bytes))
      best = at;
    at = at->next;
  }
  return best;
}

// ---- spans ----

static struct memory_span *span_between(struct sweep *s, struct memory_span *below,
                                        struct memory_span *above, int64_t offset, int64_t bytes) {
  struct memory_span *at = arena_new(s->a, struct memory_span);
  *at = (struct memory_span){.offset = offset, .bytes = bytes, .below = below, .above = above};
  if (below)
    below->above = at;
  above->below = at;
  return at;
}

static struct memory_span *allocate(struct sweep *s, int64_t bytes) {
  struct memory_span *at = best_in(s, bin_of(bytes), bytes);
  at = at ? at : best_in(s, next_bin(s, bin_of(bytes) + 1), bytes);
  if (!at) {
    at = span_between(s, s->rest->below, s->rest, s->rest->offset, bytes);
    s->rest->offset += bytes;
    s->end = s->rest->offset > s->end ? s->rest->offset : s->end;
    return at;
  }
  take_free(s, at);
  if (at->bytes > bytes) {
    put_free(s, span_between(s, at, at->above, at->offset + bytes, at->bytes - bytes));
    at->bytes = bytes;
  }
  return at;
}

// `at` takes over the span above it.
static void merge_above(struct memory_span *at) {
  at->bytes += at->above->bytes;
  at->above = at->above->above;
  at->above->below = at;
}

static void release(struct sweep *s, struct memory_span *at) {
  if (at->above->is_free) {
    take_free(s, at->above);
    merge_above(at);
  }
  if (at->below && at->below->is_free) {
    at = at->below;
    take_free(s, at);
    merge_above(at);
  }
  if (at->above != s->rest) {
    put_free(s, at);
    return;
  }
  s->rest->offset = at->offset;
  s->rest->below = at->below;
  if (at->below)
    at->below->above = s->rest;
}

// ---- time ----

static int by_last(const void *a, const void *b) {
  const struct life *l = *(struct life *const *)a, *r = *(struct life *const *)b;
  return l->last != r->last ? (l->last < r->last ? -1 : 1)
                            : (l->offset > r->offset) - (l->offset < r->offset);
}

int64_t memory_sweep(struct arena *a, struct life **order, size_t n) {
  struct sweep s = {.a = a, .rest = arena_new(a, struct memory_span)};
  struct life **ends = arena_dup(a, order, (n + 1) * sizeof *order, _Alignof(struct life *));
  struct memory_span **spans = arena_array(a, struct memory_span *, n + 1); // by number in `order`
  for (size_t i = 0; i < n; i++)
    order[i]->offset = (int64_t)i;
  qsort(ends, n, sizeof *ends, by_last);
  for (size_t i = 0, ended = 0; i < n; i++) {
    for (; ended < n && ends[ended]->last < order[i]->first; ended++)
      release(&s, spans[ends[ended]->offset]);
    spans[i] = allocate(&s, order[i]->bytes);
  }
  for (size_t i = 0; i < n; i++)
    order[i]->offset = spans[i]->offset;
  return s.end;
}
