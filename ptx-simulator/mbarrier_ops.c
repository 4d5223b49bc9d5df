// SPDX-License-Identifier: Apache-2.0
// The instructions of mbarriers: mbarrier.init, inval, expect_tx, complete_tx, arrive, arrive_drop,
// test_wait, try_wait, pending_count (PTX ISA, sections of those names).
//
// A try_wait for a phase that has not completed is suspended until it has; but now and then it
// returns false at once, as its time limit allows: programs have to loop.
#include "ptx-simulator/mbarrier.h"

enum kind { INIT, INVAL, EXPECT, COMPLETE, ARRIVE };

struct mbarrier_op {
  enum kind kind;
  struct address address;
  enum sim_space space;
  bool drops, expects, is_relaxed;
  bool is_cluster;        // the scope: .cluster
  bool is_try, is_parity; // of a wait
};

// Slots: state or wait's result, count or bytes, what a wait waits for.
enum { RESULT, COUNT, WAITED };

// The state of a phase: its number and the arrivals that were pending.
static uint64_t state_of(const struct mbarrier *m) { return (uint64_t)m->phase << 32 | m->pending; }

static bool init_lane(struct warp *w, const struct op *op, unsigned lane, uint32_t count) {
  const struct mbarrier_op *x = op->info;
  struct location at;
  if (!locate(w, op, lane, x->space, address_of(w, &x->address, lane), MBARRIER_BYTES, ACCESS_WRITE,
              &at))
    return false;
  struct memory_site site = {at.space, at.offset, MBARRIER_BYTES};
  if (at.space != SIM_SHARED) {
    fault(w, op, lane, SIM_BAD_MBARRIER, &site, "an mbarrier in %s memory: it must be in shared",
          sim_space_name(at.space));
    return false;
  }
  if (count == 0 || count > MBARRIER_MAX) {
    char name[64];
    fault(w, op, lane, SIM_BAD_MBARRIER, &site,
          "an mbarrier 0x%llx%s of %u arrivals: it may expect 1 to 1048575",
          (unsigned long long)at.offset,
          shared_name(w->run, (uint32_t)at.offset, name, sizeof name), count);
    return false;
  }
  return mbarrier_init(w, op, lane, &at, count) != NULL;
}

static bool arrive_lane(struct warp *w, const struct op *op, unsigned lane, struct mbarrier *m,
                        uint32_t count) {
  const struct mbarrier_op *x = op->info;
  uint64_t state = state_of(m);
  if (x->expects && !mbarrier_bytes(w, op, lane, m, count))
    return false;
  if (!mbarrier_arrive(w, op, lane, m, x->expects ? 1 : count, x->drops,
                       x->is_relaxed ? 0 : 1u << lane, x->is_cluster))
    return false;
  if (op->slots[RESULT] != NO_SLOT)
    row(w, op->slots[RESULT])[lane] = state;
  return true;
}

static bool run_lane(struct warp *w, const struct op *op, unsigned lane) {
  const struct mbarrier_op *x = op->info;
  uint32_t count = op->slots[COUNT] == NO_SLOT ? 1 : (uint32_t)row(w, op->slots[COUNT])[lane];
  if (x->kind == INIT)
    return init_lane(w, op, lane, count);
  struct mbarrier *m = mbarrier_find(w, op, lane, x->space, address_of(w, &x->address, lane));
  if (!m)
    return false;
  cluster_touch(w, op, lane, m->cta);
  switch (x->kind) {
  case INVAL: mbarrier_inval(w, op, lane, m); return true;
  case EXPECT: return mbarrier_bytes(w, op, lane, m, count);
  case COMPLETE: return mbarrier_bytes(w, op, lane, m, -(int64_t)count);
  default: return arrive_lane(w, op, lane, m, count);
  }
}

static void mbarrier_run(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct mbarrier_op *x = op->info;
  require_defined(w, op, x->address.slot, lanes, x->address.bits / 8, "the address");
  if (op->slots[COUNT] != NO_SLOT)
    require_defined(w, op, op->slots[COUNT], lanes, 4, "the count of an mbarrier");
  EACH_LANE(lane, lanes)
  if (!run_lane(w, op, lane))
    return;
  if (x->kind == ARRIVE) {
    clock_advance(w);
    w->has_news = true;
    if (op->slots[RESULT] != NO_SLOT)
      set_defined(w, op->slots[RESULT], lanes);
  }
  w->stop = true; // lets other warps run
}

// ---- waits ----

static bool is_over(struct warp *w, const struct op *op, unsigned lane, const struct mbarrier *m,
                    bool *ret) {
  const struct mbarrier_op *x = op->info;
  uint64_t waited = row(w, op->slots[WAITED])[lane];
  char text[MBARRIER_TEXT];
  uint32_t phase = x->is_parity ? (uint32_t)waited : (uint32_t)(waited >> 32);
  if (x->is_parity && phase > 1) {
    fault(w, op, lane, SIM_BAD_MBARRIER, NULL, "%s: a phase parity of %u: it is 0 or 1",
          mbarrier_text(w, m, text, sizeof text), phase);
    return false;
  }
  if (!x->is_parity && phase != m->phase && phase + 1 != m->phase) {
    fault(w, op, lane, SIM_BAD_MBARRIER, NULL,
          "%s: a wait for phase %u, which is neither this one nor the one before",
          mbarrier_text(w, m, text, sizeof text), phase);
    return false;
  }
  *ret = x->is_parity ? (m->phase & 1) != phase : m->phase != phase;
  return true;
}

static void acquire(struct warp *w, const struct op *op, struct mbarrier *m) {
  const struct mbarrier_op *x = op->info;
  m->waited = m->completed;
  if (!w->clock || x->is_relaxed)
    return;
  clock_acquire(w, m->arrived, x->is_cluster);
  w->acquired = w->acquired > m->acquired ? w->acquired : m->acquired;
  w->has_news = true;
}

static void set_result(struct warp *w, const struct op *op, uint32_t lanes, uint64_t value) {
  EACH_LANE(lane, lanes)
  row(w, op->slots[RESULT])[lane] = value;
  set_defined(w, op->slots[RESULT], lanes);
}

static bool is_own(struct warp *w, const struct op *op, unsigned lane, const struct mbarrier *m) {
  char text[MBARRIER_TEXT];
  if (m->cta != w->cta)
    fault(w, op, lane, SIM_BAD_MBARRIER, NULL, "%s: only threads of its CTA can wait for it",
          mbarrier_text(w, m, text, sizeof text));
  return m->cta == w->cta;
}

// Sorts lanes by what they find: by the object that they have to wait for.
static bool look(struct warp *w, const struct op *op, uint32_t lanes, uint32_t *ret_over,
                 uint32_t (*ret_waiting)[MAX_MBARRIERS]) {
  const struct mbarrier_op *x = op->info;
  *ret_over = 0;
  EACH_LANE(lane, lanes) {
    bool over;
    struct mbarrier *m = mbarrier_find(w, op, lane, x->space, address_of(w, &x->address, lane));
    if (!m || !is_own(w, op, lane, m) || !is_over(w, op, lane, m, &over))
      return false;
    if (over) {
      acquire(w, op, m);
      *ret_over |= 1u << lane;
    } else {
      (*ret_waiting)[m - w->cta->mbarriers] |= 1u << lane;
    }
  }
  return true;
}

static void wait_run(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct mbarrier_op *x = op->info;
  uint32_t over, waiting[MAX_MBARRIERS] = {0};
  require_defined(w, op, x->address.slot, lanes, x->address.bits / 8, "the address");
  require_defined(w, op, op->slots[WAITED], lanes, x->is_parity ? 4 : 8, "the phase of a wait");
  if (!look(w, op, lanes, &over, &waiting))
    return;
  set_result(w, op, over, 1);
  w->polled = NULL;
  if (over == lanes)
    return;
  if (!x->is_try || run_random(w->run) % 2 == 0) {
    set_result(w, op, lanes & ~over, 0);
    for (unsigned i = 0; i < MAX_MBARRIERS && !w->polled; i++)
      w->polled = waiting[i] ? mbarrier_at(w->cta, i) : NULL;
    w->stop = true; // lets other warps run
    return;
  }
  uint32_t here = w->pc - 1;
  for (unsigned i = 0; i < MAX_MBARRIERS; i++)
    if (waiting[i])
      warp_block(w, waiting[i], (struct group){.pc = here, .state = GROUP_MBARRIER, .barrier = i});
}

// ---- pending_count ----

static void pending_run(struct warp *w, const struct op *op, uint32_t lanes) {
  EACH_LANE(lane, lanes)
  row(w, op->slots[0])[lane] = (uint32_t)row(w, op->slots[1])[lane];
  spread_undefined(w, op, lanes, op->slots, 1, op->slots + 1, 1);
}

// ---- decoding ----

static bool decode_pending(struct decoder *d) {
  if (!expect_part(d, "b64") || !expect_end(d) || !expect_operands(d, 2, 2))
    return false;
  int32_t slots[] = {result_slot(d, &d->in->operands[0], 32),
                     source_slot(d, &d->in->operands[1], 64, false)};
  if (slots[0] != NO_SLOT)
    emit(d, pending_run, slots, 2, NULL);
  return !d->failed;
}

// `.release.cta`, `.acquire.cluster`, `.relaxed.cta`: both words or none.
static bool take_order_and_scope(struct decoder *d, const char *order, struct mbarrier_op *x) {
  x->is_relaxed = take_part(d, "relaxed");
  if (!x->is_relaxed && !take_part(d, order))
    return true;
  x->is_cluster = take_part(d, "cluster");
  return x->is_cluster || take_part(d, "cta") || expect_part(d, "cluster");
}

// The space, type and address; `operand` is the address.
static bool decode_object(struct decoder *d, struct mbarrier_op *x, unsigned operand,
                          bool may_be_remote) {
  bool is_remote = may_be_remote && take_part(d, "shared::cluster");
  x->space = is_remote ? SIM_SHARED_CLUSTER : take_space(d);
  if (x->space != SIM_GENERIC && x->space != SIM_SHARED && !is_remote)
    return decode_error(d, "an mbarrier is in shared memory");
  if (!expect_part(d, "b64") || !expect_end(d) || d->in->operand_count <= operand)
    return d->failed ? false : decode_error(d, "'mbarrier' lacks an operand");
  if (!decode_address(d, &d->in->operands[operand], &x->address))
    return false;
  if (x->space == SIM_GENERIC && x->address.space != SIM_NO_SPACE)
    x->space = x->address.space;
  return true;
}

static bool decode_arrive(struct decoder *d, struct mbarrier_op *x) {
  x->expects = take_part(d, "expect_tx");
  if (!take_order_and_scope(d, "release", x) ||
      !decode_object(d, x, 1, d->in->operands[0].kind == OPERAND_SINK) ||
      !expect_operands(d, 2 + x->expects, 3))
    return false;
  const struct operand *o = d->in->operands;
  int32_t slots[] = {result_slot(d, &o[0], 64),
                     d->in->operand_count == 3 ? source_slot(d, &o[2], 32, false) : NO_SLOT};
  emit(d, mbarrier_run, slots, 2, x);
  return !d->failed;
}

static bool decode_wait(struct decoder *d, struct mbarrier_op *x) {
  const struct operand *o = d->in->operands;
  x->is_parity = take_part(d, "parity");
  if (!take_order_and_scope(d, "acquire", x) || !decode_object(d, x, 1, false) ||
      !expect_operands(d, 3, 3u + x->is_try))
    return false;
  int32_t slots[] = {result_slot(d, &o[0], 1), NO_SLOT,
                     source_slot(d, &o[2], x->is_parity ? 32 : 64, false)};
  if (d->in->operand_count == 4)
    source_slot(d, &o[3], 32, false); // the time limit, a hint
  if (slots[RESULT] == NO_SLOT)
    return decode_error(d, "a wait without a result");
  emit(d, wait_run, slots, 3, x);
  return !d->failed;
}

// init, inval, expect_tx, complete_tx: an address, and but for inval a count.
static bool decode_other(struct decoder *d, struct mbarrier_op *x) {
  bool has_count = x->kind != INVAL;
  if ((x->kind == EXPECT || x->kind == COMPLETE) && take_part(d, "relaxed") &&
      !take_part(d, "cta") && !expect_part(d, "cluster"))
    return false;
  if (!decode_object(d, x, 0, x->kind == EXPECT || x->kind == COMPLETE) ||
      !expect_operands(d, 1 + has_count, 1 + has_count))
    return false;
  int32_t slots[] = {NO_SLOT, NO_SLOT};
  if (has_count)
    slots[COUNT] = source_slot(d, &d->in->operands[1], 32, false);
  emit(d, mbarrier_run, slots, 2, x);
  return !d->failed;
}

bool decode_mbarrier(struct decoder *d) {
  static const char *const others[] = {"init", "inval", "expect_tx", "complete_tx", NULL};
  struct mbarrier_op *x = arena_new(d->arena, struct mbarrier_op);
  if (take_part(d, "pending_count"))
    return decode_pending(d);
  x->is_try = take_part(d, "try_wait");
  if (x->is_try || take_part(d, "test_wait"))
    return decode_wait(d, x);
  x->kind = ARRIVE;
  x->drops = take_part(d, "arrive_drop");
  if (x->drops || take_part(d, "arrive"))
    return decode_arrive(d, x);
  int other = take_one_of(d, others);
  if (other < 0)
    return expect_part(d, "init");
  x->kind = (enum kind)other;
  return decode_other(d, x);
}
