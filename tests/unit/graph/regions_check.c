// SPDX-License-Identifier: Apache-2.0
// Checks the invariants of regions.
#include "regions_check.h"

#include <check.h>
#include <stdlib.h>

struct check {
  const char *name;
  const struct region *r;
  const struct stage *stage;
  size_t at;           // of the stage in the region
  const bool *written; // by buffer: some region before this one wrote it
};

static bool is_read(const struct region *r, const struct buffer *b) {
  for (size_t i = 0; i < r->reads.len; i++)
    if (r->reads.at[i] == b)
      return true;
  return false;
}

static void check_load(void *user, const struct scalar *load) {
  const struct check *c = user;
  const struct buffer *b = load->buffer;
  if (!b)
    return;
  const struct stage *maker = region_maker(c->r, b);
  if (!maker) {
    ck_assert_msg(is_read(c->r, b), "%s: %s reads %s and does not say so", c->name, c->r->name,
                  b->name);
    ck_assert_msg(b->role == BUFFER_INPUT || c->written[b->id] || c->stage->out == b,
                  "%s: %s reads %s before it is written", c->name, c->r->name, b->name);
    return;
  }
  ck_assert_msg(load->index == maker->offset, "%s: %s reads %s elsewhere than it is written",
                c->name, c->r->name, b->name);
  bool before = false;
  for (size_t i = 0; i < c->at; i++)
    before |= c->r->stages.at[i] == maker;
  ck_assert_msg(before, "%s: in %s, %s is read before it is made", c->name, c->r->name, b->name);
}

static bool is_axis(const struct region *r, const struct expr *axis) {
  for (uint32_t i = 0; i < r->rank; i++)
    if (r->axes[i] == axis)
      return true;
  return false;
}

static void check_stage(struct check *c) {
  const struct stage *s = c->stage;
  for (uint32_t i = 0; i < s->rank; i++)
    ck_assert_msg(is_axis(c->r, s->axes[i]), "%s: a stage of %s has axes of its own", c->name,
                  c->r->name);
  const struct attention *t = s->attention;
  const struct scalar *expressions[] = {s->body,
                                        s->a,
                                        s->b,
                                        s->predicate,
                                        t ? t->q : NULL,
                                        t ? t->k : NULL,
                                        t ? t->v : NULL,
                                        t ? t->score : NULL};
  for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
    if (expressions[i])
      scalar_loads(expressions[i], check_load, c);
}

void regions_hold(const struct regions *r, const char *name) {
  uint32_t ids = 0;
  for (size_t i = 0; i < r->loops->buffers.len; i++)
    ids = r->loops->buffers.at[i]->id >= ids ? r->loops->buffers.at[i]->id + 1 : ids;
  bool *written = calloc(ids + 1, sizeof *written);
  ck_assert(written);
  for (size_t i = 0; i < r->list.len; i++) {
    struct check c = {.name = name, .r = r->list.at[i], .written = written};
    for (c.at = 0; c.at < c.r->stages.len; c.at++) {
      c.stage = c.r->stages.at[c.at];
      check_stage(&c);
    }
    for (size_t k = 0; k < c.r->writes.len; k++)
      written[c.r->writes.at[k]->id] = true;
  }
  free(written);
}

struct loops *loops_of_regions(const struct regions *r) {
  struct loops *l = arena_new(r->loops->arena, struct loops);
  *l = *r->loops;
  l->stages.at = NULL;
  l->stages.len = l->stages.cap = 0;
  for (size_t i = 0; i < r->list.len; i++)
    for (size_t k = 0; k < r->list.at[i]->stages.len; k++)
      vec_push(l->arena, &l->stages, r->list.at[i]->stages.at[k]);
  return l;
}
