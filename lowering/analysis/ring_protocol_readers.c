// SPDX-License-Identifier: Apache-2.0
// Rules of the warps that compute: abstract execution of their code, with loops to a fixpoint. The
// state has the number of slots that a warp holds of each ring, the age of each slot (how many
// ring_full came after its own), the slots that products in flight read, and what becomes of the
// buffers of stores.
//
// Recursion is the algorithm: blocks contain loops.
#include "layouts/attr.h"
#include "lowering/analysis/ring_protocol_parts.h"

enum { MAX_SLOTS = 64, MAX_FLIGHT = 8, MAX_READS = 4 };

struct range {
  int64_t low, high;
};

struct slot {
  MlirValue number; // of a ring_full
  unsigned ring;
  struct range age;
};

struct read { // of a product in flight
  unsigned ring;
  int64_t age; // the highest
};

struct product {
  unsigned count;
  struct read reads[MAX_READS];
};

// Of a buffer of stores, what may be so.
enum { DIRTY = 1, IN_FLIGHT = 2, WAITED = 4 };

struct state {
  struct range held[PROTOCOL_RINGS];
  struct slot slots[MAX_SLOTS];
  unsigned slot_count;
  struct product flight[MAX_FLIGHT]; // the youngest first
  unsigned flight_count;
  unsigned char stores[PROTOCOL_STORES];
};

static void report(struct protocol *p, MlirOperation op, const char *text) {
  if (!p->is_quiet)
    protocol_violation(p, op, "%s", text);
}

static unsigned ring_index(struct protocol *p, const struct protocol_ring *r) {
  return (unsigned)(r - p->rings);
}

// ---- joins ----

static struct range hull(struct range a, struct range b) {
  return (struct range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

static void join_slots(struct state *to, const struct state *from) {
  unsigned kept = 0;
  for (unsigned i = 0; i < to->slot_count; i++)
    for (unsigned k = 0; k < from->slot_count; k++)
      if (mlirValueEqual(to->slots[i].number, from->slots[k].number)) {
        struct slot s = to->slots[i];
        s.age = hull(s.age, from->slots[k].age);
        to->slots[kept++] = s;
        break;
      }
  to->slot_count = kept;
}

static void add_read(struct product *x, unsigned ring, int64_t age) {
  for (unsigned i = 0; i < x->count; i++)
    if (x->reads[i].ring == ring) {
      x->reads[i].age = age > x->reads[i].age ? age : x->reads[i].age;
      return;
    }
  if (x->count < MAX_READS) // a product has two operands; joined ones have the rings of both
    x->reads[x->count++] = (struct read){ring, age};
}

static void join(struct protocol *p, struct state *to, const struct state *from) {
  for (unsigned i = 0; i < p->ring_count; i++)
    to->held[i] = hull(to->held[i], from->held[i]);
  join_slots(to, from);
  while (to->flight_count < from->flight_count)
    to->flight[to->flight_count++] = (struct product){0};
  for (unsigned i = 0; i < from->flight_count; i++)
    for (unsigned k = 0; k < from->flight[i].count; k++)
      add_read(&to->flight[i], from->flight[i].reads[k].ring, from->flight[i].reads[k].age);
  for (unsigned i = 0; i < p->store_count; i++)
    to->stores[i] |= from->stores[i];
}

// ---- rings ----

static void advance(struct protocol *p, struct state *s, MlirOperation op) {
  const struct protocol_ring *r = protocol_ring_of(p, op);
  unsigned ring = r ? ring_index(p, r) : 0;
  if (!r)
    return;
  struct range *held = &s->held[ring];
  if (held->high >= r->slots)
    report(p, op, "waits for a slot while the warp may hold all: the producer cannot fill it");
  held->low += held->low < r->slots;
  held->high += held->high < r->slots;
  for (unsigned i = 0; i < s->slot_count; i++)
    if (s->slots[i].ring == ring) { // older than all slots: the age no longer matters
      s->slots[i].age.low += s->slots[i].age.low <= r->slots;
      s->slots[i].age.high += s->slots[i].age.high <= r->slots;
    }
  for (unsigned i = 0; i < s->flight_count; i++)
    for (unsigned k = 0; k < s->flight[i].count; k++)
      if (s->flight[i].reads[k].ring == ring)
        s->flight[i].reads[k].age += s->flight[i].reads[k].age <= r->slots;
  if (s->slot_count < MAX_SLOTS)
    s->slots[s->slot_count++] =
        (struct slot){.number = mlirOperationGetResult(op, 0), .ring = ring};
  else
    report(p, op, "is one of more slots than can be traced");
}

static void release(struct protocol *p, struct state *s, MlirOperation op) {
  const struct protocol_ring *r = protocol_ring_of(p, op);
  int64_t keep = op_attr_int(op, "keep", 0);
  if (!r)
    return;
  unsigned ring = ring_index(p, r);
  struct range *held = &s->held[ring];
  if (held->high == 0)
    report(p, op, "releases a slot, and the warp holds none");
  if (held->high > keep + 1)
    report(p, op, "releases one slot, and the warp may hold two more than it keeps");
  for (unsigned i = 0; i < s->flight_count && held->high > keep; i++)
    for (unsigned k = 0; k < s->flight[i].count; k++)
      if (s->flight[i].reads[k].ring == ring && s->flight[i].reads[k].age >= keep)
        report(p, op, "releases a slot that a product in flight may read");
  held->low = held->low < keep ? held->low : keep;
  held->high = held->high < keep ? held->high : keep;
}

static const struct slot *find_slot(const struct state *s, MlirValue number) {
  for (unsigned i = 0; i < s->slot_count; i++)
    if (mlirValueEqual(s->slots[i].number, number))
      return &s->slots[i];
  return NULL;
}

// The op reads the buffer; NULL if that is no slot of a ring.
static const struct slot *read_buffer(struct protocol *p, struct state *s, MlirOperation op,
                                      MlirValue memdesc) {
  MlirValue number, alloc = protocol_buffer_of(p, memdesc, &number);
  const struct protocol_ring *r = protocol_ring_with(p, alloc);
  if (!r)
    return NULL;
  const struct slot *x = mlirValueIsNull(number) ? NULL : find_slot(s, number);
  if (!x || x->ring != ring_index(p, r))
    report(p, op, "reads a slot that no ring_full of its ring has waited for");
  else if (x->age.high >= s->held[x->ring].low)
    report(p, op, "reads a slot that was released before");
  return x;
}

// ---- products ----

static void wait_for_products(struct state *s, int64_t pending) {
  if (s->flight_count > pending)
    s->flight_count = (unsigned)pending;
}

static void multiply(struct protocol *p, struct state *s, MlirOperation op) {
  struct product x = {0};
  for (intptr_t i = 0; i < 2; i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    const struct slot *slot =
        type_is_memdesc(p->c, mlirValueGetType(v)) ? read_buffer(p, s, op, v) : NULL;
    if (slot)
      add_read(&x, slot->ring, slot->age.high);
  }
  s->flight_count -= s->flight_count == MAX_FLIGHT; // wgmma.wait_group counts to 7
  memmove(&s->flight[1], &s->flight[0], s->flight_count * sizeof x);
  s->flight[0] = x;
  s->flight_count++;
  wait_for_products(s, op_attr_int(op, "pending", 0));
}

// ---- stores ----

static unsigned char *store_of(struct protocol *p, struct state *s, MlirValue memdesc) {
  MlirValue slot, alloc = protocol_buffer_of(p, memdesc, &slot);
  for (unsigned i = 0; i < p->store_count; i++)
    if (mlirValueEqual(p->stores[i], alloc))
      return &s->stores[i];
  return NULL;
}

// Groups of warps store what their own warps write: MAP_STORE_ROWS of each warp, in their order.
static bool has_own_rows(struct protocol *p, MlirOperation write, ptrdiff_t store) {
  MlirAttribute layout = tensor_encoding(mlirValueGetType(mlirOperationGetOperand(write, 0)));
  const struct encoding *e = encoding_of_attr(p->c, layout);
  bool has_rows = e && e->kind == ENC_MMA && e->mma.version == 3 &&
                  e->mma.warps_per_cta[0] == op_attr_int(p->module, "tilegpu.num_warps", 0);
  return has_rows || !op_attr_int(p->store_ops[store], "warps", 0);
}

static void write(struct protocol *p, struct state *s, MlirOperation op, MlirValue memdesc) {
  MlirValue slot, alloc = protocol_buffer_of(p, memdesc, &slot);
  unsigned char *x = store_of(p, s, memdesc);
  if (x && !has_own_rows(p, op, x - s->stores))
    report(p, op, "writes rows of the buffer that another group of warps stores");
  if (protocol_ring_with(p, alloc))
    report(p, op, "writes a buffer of a ring, which copies through maps fill");
  if (x && (*x & IN_FLIGHT))
    report(p, op, "overwrites the buffer of a map_store that may not have read it: no map_wait");
  else if (x && (*x & WAITED) && p->has_barriers)
    report(p, op,
           "overwrites the buffer of a map_store for which the first thread alone waited: "
           "no barrier");
  if (x)
    *x = DIRTY;
}

static void store(struct protocol *p, struct state *s, MlirOperation op) {
  unsigned char *x = store_of(p, s, mlirOperationGetOperand(op, 0));
  if (!x)
    return;
  if ((*x & DIRTY) && p->has_barriers)
    report(p, op, "reads what other threads write to the buffer: no barrier with a fence between");
  *x |= IN_FLIGHT;
}

static void wait_for_stores(struct protocol *p, struct state *s) {
  for (unsigned i = 0; i < p->store_count; i++)
    if (s->stores[i] & IN_FLIGHT)
      s->stores[i] = (unsigned char)((s->stores[i] & ~IN_FLIGHT) | WAITED);
}

// Warps that meet in groups know of the buffers that such groups store.
static void meet(struct protocol *p, struct state *s, MlirOperation op) {
  int64_t warps = op_attr_int(op, "warps", 0);
  int cleared = WAITED | (op_attr_bool(op, "reads_only") ? 0 : DIRTY);
  for (unsigned i = 0; i < p->store_count; i++)
    if (!warps || op_attr_int(p->store_ops[i], "warps", 0) == warps)
      s->stores[i] &= (unsigned char)~cleared;
}

static void end(struct protocol *p, struct state *s, MlirOperation op) {
  MlirValue buffer = mlirOperationGetOperand(op, 0);
  const unsigned char *x = store_of(p, s, buffer);
  if (x && (*x & IN_FLIGHT))
    report(p, op, "ends a buffer that a map_store may still read: no map_wait");
  for (unsigned i = 0; i < p->ring_count; i++) {
    if (!mlirValueEqual(p->rings[i].barriers, buffer) &&
        protocol_ring_with(p, buffer) != &p->rings[i])
      continue;
    if (s->held[i].high > 0)
      report(p, op, "ends a ring of which the warp may hold slots that it has not released");
    s->held[i] = (struct range){0, 0};
  }
}

// ---- execution ----

static void run_block(struct protocol *p, struct state *s, MlirBlock block);

static void run_region(struct protocol *p, struct state *s, MlirOperation op, intptr_t region) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
  if (!mlirBlockIsNull(block))
    run_block(p, s, block);
}

static bool run_producer_branch(struct protocol *p, struct state *s, MlirOperation op) {
  MlirOperation condition = value_def(mlirOperationGetOperand(op, 0));
  if (mlirOperationIsNull(condition) || !op_is(p->c, condition, OP_GPU_IS_PRODUCER))
    return false;
  run_region(p, s, op, 1);
  return true;
}

static void run_if(struct protocol *p, struct state *s, MlirOperation op) {
  if (run_producer_branch(p, s, op))
    return;
  struct state *other = arena_dup(p->a, s, sizeof *s, _Alignof(struct state));
  run_region(p, s, op, 0);
  run_region(p, other, op, 1);
  join(p, s, other);
}

static bool same_range(struct range a, struct range b) {
  return a.low == b.low && a.high == b.high;
}

static bool same_product(const struct product *a, const struct product *b) {
  for (unsigned i = 0; i < a->count && i < b->count; i++)
    if (a->reads[i].ring != b->reads[i].ring || a->reads[i].age != b->reads[i].age)
      return false;
  return a->count == b->count;
}

static bool same_state(const struct protocol *p, const struct state *a, const struct state *b) {
  bool same = a->slot_count == b->slot_count && a->flight_count == b->flight_count &&
              memcmp(a->stores, b->stores, sizeof a->stores) == 0;
  for (unsigned i = 0; same && i < p->ring_count; i++)
    same = same_range(a->held[i], b->held[i]);
  for (unsigned i = 0; same && i < a->slot_count; i++)
    same = mlirValueEqual(a->slots[i].number, b->slots[i].number) &&
           same_range(a->slots[i].age, b->slots[i].age);
  for (unsigned i = 0; same && i < a->flight_count; i++)
    same = same_product(&a->flight[i], &b->flight[i]);
  return same;
}

// From what holds before the loop and after any number of iterations. Numbers of slots and ages are
// bounded, so that this ends.
static void run_loop(struct protocol *p, struct state *s, MlirOperation op) {
  bool was_quiet = p->is_quiet, is_stable = false;
  struct state *body = arena_new(p->a, struct state), *before = arena_new(p->a, struct state);
  p->is_quiet = true;
  while (!is_stable) {
    *before = *s;
    *body = *s;
    for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); i++)
      run_region(p, body, op, i);
    join(p, s, body);
    is_stable = same_state(p, before, s);
  }
  p->is_quiet = was_quiet;
  if (was_quiet)
    return;
  *body = *s;
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); i++)
    run_region(p, body, op, i);
}

static void run_other(struct protocol *p, struct state *s, MlirOperation op) {
  if (mlirOperationGetNumRegions(op) > 0) {
    run_loop(p, s, op);
    return;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    if (type_is_memdesc(p->c, mlirValueGetType(v)))
      (void)read_buffer(p, s, op, v);
  }
}

static void run_op(struct protocol *p, struct state *s, MlirOperation op) {
  switch (op_id(p->c, op)) {
  case OP_SCF_IF: run_if(p, s, op); break;
  case OP_GPU_RING_FULL: advance(p, s, op); break;
  case OP_GPU_RING_RELEASE: release(p, s, op); break;
  case OP_GPU_RING_END: end(p, s, op); break;
  case OP_GPU_WARP_GROUP_DOT: multiply(p, s, op); break;
  case OP_GPU_WARP_GROUP_DOT_WAIT: wait_for_products(s, op_attr_int(op, "pending", 0)); break;
  case OP_GPU_LOCAL_STORE: write(p, s, op, mlirOperationGetOperand(op, 1)); break;
  case OP_GPU_MAP_STORE: store(p, s, op); break;
  case OP_GPU_MAP_WAIT: wait_for_stores(p, s); break;
  case OP_GPU_BARRIER: meet(p, s, op); break;
  case OP_GPU_RING_INIT:
  case OP_GPU_LOCAL_INDEX:
  case OP_GPU_LOCAL_TRANS: break; // they read no slot
  default: run_other(p, s, op); break;
  }
}

static void run_block(struct protocol *p, struct state *s, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    run_op(p, s, op);
}

void protocol_check_readers(struct protocol *p) {
  struct state *s = arena_new(p->a, struct state);
  run_block(p, s, func_entry(p->function));
}
