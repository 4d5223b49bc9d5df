// SPDX-License-Identifier: Apache-2.0
// Questions about bulk copies under way (bulk_pending.h).
#include "ptx-simulator/bulk_pending.h"

bool bulk_visit(const struct bulk_copy *c,
                bool (*visitor)(void *user, const struct tensor_piece *piece), void *user) {
  return c->is_tensor ? tensor_map_visit(&c->map, c->kind == BULK_STORE && !c->reduction, c->at,
                                         c->shared, visitor, user)
                      : tensor_visit_bytes(c->global, c->shared, c->bytes, visitor, user);
}

struct overlap {
  uint64_t address;
  unsigned bytes;
};

static bool is_apart(void *user, const struct tensor_piece *p) {
  const struct overlap *x = user;
  return !p->is_inside || p->global >= x->address + x->bytes || x->address >= p->global + p->bytes;
}

void bulk_check_global(struct warp *w, const struct op *op, unsigned lane,
                       const struct location *at, unsigned bytes) {
  const struct bulk_state *s = w->cta->bulk;
  for (size_t i = 0; s && i < s->copies.len; i++) {
    const struct bulk_copy *c = &s->copies.at[i];
    struct overlap x = {at->offset, bytes};
    uint64_t begin = c->is_tensor ? c->map.address : c->global;
    if (c->kind != BULK_STORE || at->offset + bytes <= begin || bulk_visit(c, is_apart, &x))
      continue;
    struct sim_site other = site_of(c->w, c->op, c->lane);
    struct memory_site site = {SIM_GLOBAL, at->offset, bytes};
    warn(
        w, op, lane, SIM_EARLY_READ, &site, &other,
        "the bulk store of line %u to these bytes of global memory may not be complete: its thread "
        "has not waited with cp.async.bulk.wait_group",
        other.line);
  }
}

const struct bulk_copy *bulk_of_byte(const struct cta *c, uint32_t byte, enum bulk_kind kind) {
  for (size_t i = 0; c->bulk && i < c->bulk->copies.len; i++) {
    const struct bulk_copy *x = &c->bulk->copies.at[i];
    if (x->kind == kind && !x->is_read && byte - x->shared < x->bytes)
      return x;
  }
  return NULL;
}

const struct bulk_copy *bulk_next_load(const struct cta *c, const struct bulk_copy *last,
                                       unsigned mbarrier) {
  size_t i = last ? (size_t)(last - c->bulk->copies.at) + 1 : 0;
  for (; c->bulk && i < c->bulk->copies.len; i++) {
    const struct bulk_copy *x = &c->bulk->copies.at[i];
    if (x->kind == BULK_LOAD && x->mbarrier == mbarrier)
      return x;
  }
  return NULL;
}
