// SPDX-License-Identifier: Apache-2.0
// Values of many loads that columns in parts use twice: the launch that reduces them stores them,
// and the one that writes the columns loads them again. A gradient of max pooling, four windows of
// three loads each, is one of these.
#include "graph/plan/rows_plan.h"

struct inspection {
  const struct rows *s;
  unsigned loads;
  bool uses_results;
};

static void inspect(void *user, const struct scalar *load) {
  struct inspection *i = user;
  if (!load->buffer || load->buffer->id == UINT32_MAX)
    i->uses_results = true;
  else
    i->loads += scalar_has_axis(load, i->s->r) && scalar_has_axis(load, i->s->x);
}

static bool is_costly(const struct rows *s, const struct scalar *body) {
  enum { MANY_LOADS = 8 };
  struct inspection i = {.s = s};
  scalar_loads(body, inspect, &i);
  return !i.uses_results && i.loads >= MANY_LOADS;
}

static bool is_reduced(const struct rows *s, const struct scalar *body, const struct scalar *kept) {
  struct scalars *scalars = s->p->regions->loops->scalars;
  for (size_t i = 0; i < s->reduction_count; i++)
    if (scalar_replace(scalars, s->reductions[i].body, 1, &body, &kept) != s->reductions[i].body)
      return true;
  return false;
}

// Replaces `body` in what is written at last. False: it is not there.
static bool load_again(struct rows *s, const struct scalar *body, const struct scalar *kept) {
  struct scalars *scalars = s->p->regions->loops->scalars;
  bool any = false;
  for (size_t i = 0; i < s->write_count; i++) {
    struct row_write *w = &s->writes[i];
    if (!w->is_full || w->level != s->levels)
      continue;
    const struct scalar *now = scalar_replace(scalars, w->body, 1, &body, &kept);
    any |= now != w->body;
    w->body = now;
  }
  return any;
}

// Of a half-precision tensor that was widened, its own dtype, as operator by operator.
static enum dtype kept_dtype(const struct stage *s) {
  const struct node *n = s->out->value ? s->out->value->def : NULL;
  const struct value *from = n && n->op == OP_CONVERT_ELEMENT_TYPE ? node_value(n, 0) : NULL;
  return from && (from->dtype == DTYPE_F16 || from->dtype == DTYPE_BF16) ? from->dtype
                                                                         : s->out->dtype;
}

void rows_keep_costly(struct rows *s, const struct region_parts *parts) {
  struct scalars *scalars = s->p->regions->loops->scalars;
  for (size_t i = parts->maps.len; i-- > 0;) {
    const struct map_part *m = &parts->maps.at[i];
    const struct stage *stage = m->stage;
    if (!is_costly(s, m->body) || !is_reduced(s, m->body, scalar_int(scalars, m->body->dtype, 0)))
      continue;
    struct buffer *b = plan_temporary(s->p, "kept", kept_dtype(stage), stage->out->numel);
    const struct scalar *kept =
        scalar_convert(scalars, scalar_load(scalars, b, stage->offset), m->body->dtype);
    if (!load_again(s, m->body, kept))
      continue;
    s->writes[s->write_count++] =
        (struct row_write){.buffer = b, .offset = stage->offset, .body = m->body, .is_full = true};
    return;
  }
}
