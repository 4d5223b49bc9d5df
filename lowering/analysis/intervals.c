// SPDX-License-Identifier: Apache-2.0
// There are few intervals: every operation is linear in their number.
#include "lowering/analysis/intervals.h"

#include <assert.h>
#include <string.h>

bool intervals_overlap(const struct intervals *s, struct shared_interval i) {
  for (size_t k = 0; k < s->at.len; k++)
    if (s->at.at[k].begin < i.end && i.begin < s->at.at[k].end)
      return true;
  return false;
}

bool intervals_any_overlap(const struct intervals *s, const struct intervals *t) {
  for (size_t i = 0; i < t->at.len; i++)
    if (intervals_overlap(s, t->at.at[i]))
      return true;
  return false;
}

bool intervals_same(const struct intervals *s, const struct intervals *t) {
  return s->at.len == t->at.len &&
         (s->at.len == 0 || memcmp(s->at.at, t->at.at, s->at.len * sizeof *s->at.at) == 0);
}

// Merges it with the intervals that it overlaps or touches.
void intervals_add(struct arena *a, struct intervals *s, struct shared_interval i) {
  size_t n = 0;
  if (i.begin == i.end)
    return;
  for (size_t k = 0; k < s->at.len; k++) {
    struct shared_interval at = s->at.at[k];
    if (at.end < i.begin || i.end < at.begin) {
      s->at.at[n++] = at;
    } else {
      i.begin = at.begin < i.begin ? at.begin : i.begin;
      i.end = at.end > i.end ? at.end : i.end;
    }
  }
  s->at.len = n;
  vec_push(a, &s->at, i);
  for (size_t k = n; k > 0 && s->at.at[k - 1].begin > i.begin; k--) {
    s->at.at[k] = s->at.at[k - 1];
    s->at.at[k - 1] = i;
  }
}

void intervals_add_all(struct arena *a, struct intervals *s, const struct intervals *of) {
  for (size_t i = 0; i < of->at.len; i++)
    intervals_add(a, s, of->at.at[i]);
}

static void intervals_remove(struct arena *a, struct intervals *s, struct shared_interval i) {
  struct intervals ret = {0};
  for (size_t k = 0; k < s->at.len; k++) {
    struct shared_interval at = s->at.at[k];
    uint32_t left = at.end < i.begin ? at.end : i.begin,
             right = at.begin > i.end ? at.begin : i.end;
    if (at.begin < left)
      vec_push(a, &ret.at, ((struct shared_interval){at.begin, left}));
    if (right < at.end)
      vec_push(a, &ret.at, ((struct shared_interval){right, at.end}));
  }
  *s = ret;
}

void intervals_remove_all(struct arena *a, struct intervals *s, const struct intervals *of) {
  for (size_t i = 0; i < of->at.len; i++)
    intervals_remove(a, s, of->at.at[i]);
}

// Intervals of a set are not adjacent, so one of them covers each.
bool intervals_cover(const struct intervals *s, const struct intervals *t) {
  for (size_t i = 0; i < t->at.len; i++) {
    bool covered = false;
    for (size_t k = 0; k < s->at.len && !covered; k++)
      covered = s->at.at[k].begin <= t->at.at[i].begin && t->at.at[i].end <= s->at.at[k].end;
    if (!covered)
      return false;
  }
  return true;
}

// ---- slots ----

// The slot that i.begin is in, or `count`. i ends where that slot ends, or where the next begins.
static uint32_t cut_to_slot(const struct ring_slots *p, struct shared_interval *i) {
  uint32_t in = p->count;
  for (uint32_t k = 0; k < p->count; k++) {
    uint32_t begin = p->offset + k * p->step, end = begin + p->bytes;
    if (i->begin >= begin && i->begin < end)
      in = k;
    if (begin > i->begin && begin < i->end)
      i->end = begin;
    if (end > i->begin && end < i->end)
      i->end = end;
  }
  return in;
}

static struct shared_interval moved(const struct ring_slots *p, struct shared_interval i,
                                    uint32_t from, uint32_t to) {
  uint32_t begin = i.begin - from * p->step + to * p->step;
  return (struct shared_interval){begin, begin + (i.end - i.begin)};
}

static void spread(struct arena *a, struct intervals *s, const struct ring_slots *p,
                   bool everywhere) {
  assert(p->count > 0 && p->step >= p->bytes);
  struct intervals ret = {0};
  for (size_t k = 0; k < s->at.len; k++) {
    struct shared_interval rest = s->at.at[k];
    while (rest.begin < rest.end) {
      struct shared_interval piece = rest;
      uint32_t in = cut_to_slot(p, &piece);
      rest.begin = piece.end;
      if (in == p->count)
        intervals_add(a, &ret, piece);
      else if (!everywhere)
        intervals_add(a, &ret, moved(p, piece, in, (in ? in : p->count) - 1));
      else
        for (uint32_t to = 0; to < p->count; to++)
          intervals_add(a, &ret, moved(p, piece, in, to));
    }
  }
  *s = ret;
}

void intervals_advance(struct arena *a, struct intervals *s, const struct ring_slots *p) {
  spread(a, s, p, false);
}

void intervals_widen(struct arena *a, struct intervals *s, const struct ring_slots *p) {
  spread(a, s, p, true);
}
