// SPDX-License-Identifier: Apache-2.0
// Fuses stages into regions: a group for each stage, merged greedily, then given the axes of its
// kernel. Prints regions.
#include "graph/fuse/fuse.h"

// ---- uses of buffers ----

struct count {
  struct fuser *f;
  const struct stage *stage;
  uint32_t *last; // by buffer: 1 + the last stage that loaded it
  uint32_t number;
};

static void count_load(void *user, const struct scalar *v) {
  struct count *c = user;
  if (v->kind != SCALAR_LOAD || !v->buffer || c->last[v->buffer->id] == c->number)
    return;
  c->last[v->buffer->id] = c->number;
  c->f->uses[v->buffer->id].loads++;
}

static uint32_t buffer_ids(const struct loops *l) {
  uint32_t ids = 0;
  for (size_t i = 0; i < l->buffers.len; i++)
    if (l->buffers.at[i]->id >= ids)
      ids = l->buffers.at[i]->id + 1;
  return ids;
}

static void count_uses(struct fuser *f) {
  uint32_t ids = f->buffer_count = buffer_ids(f->l);
  f->uses = arena_array(f->arena, struct buffer_use, ids + 1);
  struct count c = {.f = f, .last = arena_array(f->arena, uint32_t, ids + 1)};
  for (size_t i = 0; i < f->l->buffers.len; i++)
    f->uses[f->l->buffers.at[i]->id].buffer = f->l->buffers.at[i];
  for (size_t i = 0; i < f->l->stages.len; i++) {
    const struct stage *s = f->l->stages.at[i];
    c.number = (uint32_t)i + 1;
    stage_scalar_exprs(f, s, count_load, &c);
    f->uses[s->out->id].writers++;
    if (s->attention && s->attention->lse)
      f->uses[s->attention->lse->id].writers++;
    for (uint32_t k = 0; s->call && k < s->call->node->result_count; k++)
      if (s->call->results[k] && s->call->results[k] != s->out)
        f->uses[s->call->results[k]->id].writers++;
  }
}

// ---- regions ----

static void finish(struct fuser *f, struct group *g) {
  struct region *r = arena_new(f->arena, struct region);
  r->kind = g->kind;
  r->id = (uint32_t)f->out->list.len;
  r->is_inner = true;
  group_finish(f, g, r);
  for (size_t i = 0; i < g->members.len; i++)
    vec_push(f->arena, &r->stages, g->members.at[i]->stage);
  region_count(f, g, r);
  r->name = region_name(f, g);
  vec_push(f->arena, &f->out->list, r);
}

static void find_temporaries(struct fuser *f) {
  bool *seen = arena_array(f->arena, bool, f->buffer_count + 1);
  for (size_t i = 0; i < f->out->list.len; i++) {
    struct region *r = f->out->list.at[i];
    for (size_t j = 0; j < r->writes.len; j++) {
      struct buffer *b = r->writes.at[j]->home;
      if (b->role == BUFFER_TEMP && !seen[b->id])
        vec_push(f->arena, &f->out->temporaries, b);
      seen[b->id] = true;
    }
  }
}

struct regions *regions_form(struct loops *l, const struct fuse_options *o) {
  struct fuser f = {.arena = l->arena, .x = l->exprs, .s = l->scalars, .l = l};
  f.out = arena_new(f.arena, struct regions);
  f.out->loops = l;
  f.trials = arena_create_nested(f.arena);
  (void)arena_alloc(f.trials, 1, 1); // keeps its first chunk
  f.no_trial = arena_mark(f.trials);
  count_uses(&f);
  for (size_t i = 0; i < l->stages.len; i++)
    vec_push(f.arena, &f.stages, l->stages.at[i]);
  if (!o->keeps_apart)
    attention_match(&f);
  for (size_t i = 0; i < f.stages.len; i++) {
    struct group *g = group_create(&f, f.stages.at[i]);
    g->id = g->position = (uint32_t)i;
    vec_push(f.arena, &f.order, g);
  }
  order_create(&f);
  if (!o->keeps_apart)
    groups_fuse(&f);
  for (size_t i = 0; i < f.order.len; i++)
    if (!f.order.at[i]->into)
      finish(&f, f.order.at[i]);
  find_temporaries(&f);
  arena_destroy(f.trials);
  return f.out;
}

const struct stage *region_maker(const struct region *r, const struct buffer *b) {
  for (size_t i = 0; i < r->stages.len && b->role != BUFFER_INPUT; i++)
    if (r->stages.at[i]->out == b && r->stages.at[i]->kind != STAGE_SCATTER)
      return r->stages.at[i];
  return NULL;
}

// ---- printing ----

const char *region_kind_name(enum region_kind k) {
  switch (k) {
  case REGION_MAP: return "map";
  case REGION_ROWS: return "rows";
  case REGION_ROW_COLUMN: return "rows and columns";
  case REGION_SCAN: return "scan";
  case REGION_PRODUCT: return "product";
  case REGION_ATTENTION: return "attention";
  case REGION_SCATTER: return "scatter";
  case REGION_CALL: return "call";
  }
  UNREACHABLE();
}

static void print_buffers(const char *what, struct buffer *const *at, size_t len,
                          struct strbuf *out) {
  strbuf_printf(out, "%s", what);
  for (size_t i = 0; i < len; i++)
    strbuf_printf(out, " %s", at[i]->name);
}

static void print_region(const struct region *r, struct strbuf *out) {
  strbuf_printf(out, "%s: %s over", r->name, region_kind_name(r->kind));
  for (uint32_t i = 0; i < r->rank; i++) {
    strbuf_printf(out, "%s%s < ", i ? ", " : " ", r->axes[i]->symbol->name);
    expr_print(axis_extent(r->axes[i]), out);
  }
  if ((r->kind == REGION_ROWS || r->kind == REGION_ROW_COLUMN) && !r->is_inner)
    strbuf_puts(out, ", rows strided");
  print_buffers("; reads", r->reads.at, r->reads.len, out);
  print_buffers("; writes", r->writes.at, r->writes.len, out);
  strbuf_puts(out, "; ");
  expr_print(r->bytes, out);
  strbuf_puts(out, " bytes, ");
  expr_print(r->flops, out);
  strbuf_puts(out, " operations\n");
  for (size_t i = 0; i < r->stages.len; i++) {
    strbuf_puts(out, "  ");
    stage_print(r->stages.at[i], out);
    if (!out->len || out->ptr[out->len - 1] != '\n')
      strbuf_putc(out, '\n');
  }
}

void regions_print(const struct regions *r, struct strbuf *out) {
  for (size_t i = 0; i < r->list.len; i++)
    print_region(r->list.at[i], out);
}
