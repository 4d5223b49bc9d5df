// SPDX-License-Identifier: Apache-2.0
// cp.async (PTX ISA, 9.7.9.25): the source is read at issue, but the bytes are written only when
// the thread waits for them. Until then the destination holds a value that no program expects.
#include "ptx-simulator/bulk_copy.h"
#include "ptx-simulator/shadow.h"

enum { NOT_ARRIVED = 0xff }; // NaN as a float, -1 as an integer

struct async_copy {
  struct address to, from;
  unsigned bytes;
  int32_t source_bytes; // slot of the number of bytes to read; the rest is zero
  int32_t ignore;       // slot of the predicate that disables reading
  bool ignore_negated;
};

static uint64_t bytes_read(struct warp *w, const struct op *op, const struct async_copy *x,
                           unsigned lane) {
  uint64_t n = x->bytes;
  if (x->source_bytes != NO_SLOT) {
    require_defined(w, op, x->source_bytes, 1u << lane, 4, "the size of a copy");
    n = (uint32_t)row(w, x->source_bytes)[lane];
  }
  if (x->ignore != NO_SLOT) {
    require_defined(w, op, x->ignore, 1u << lane, 1, "the predicate of a copy");
    if (row(w, x->ignore)[lane] & 1)
      n = 0;
  }
  return n;
}

static bool copy_lane(struct warp *w, const struct op *op, unsigned lane) {
  const struct async_copy *x = op->info;
  struct pending_copy c = {.lane = lane, .bytes = x->bytes, .group = w->commits[lane], .op = op};
  struct location to, from;
  uint64_t n = bytes_read(w, op, x, lane), source = address_of(w, &x->from, lane);
  if (!locate(w, op, lane, SIM_SHARED, address_of(w, &x->to, lane), x->bytes, ACCESS_WRITE, &to))
    return false;
  if (n > x->bytes) {
    fault(w, op, lane, SIM_BAD_STATE, NULL, "%llu bytes read by a copy of %u",
          (unsigned long long)n, x->bytes);
    return false;
  }
  if (n > 0) {
    if (source & (x->bytes - 1)) {
      struct memory_site at = {SIM_GLOBAL, source, x->bytes};
      fault(w, op, lane, SIM_MISALIGNED, &at, "a copy of %u bytes from a misaligned address",
            x->bytes);
      return false;
    }
    // Only the bytes that are read must be in bounds.
    for (uint64_t i = 0, step; i < n; i += step) {
      step = n - i >= 4 && n % 4 == 0 ? 4 : 1;
      if (!locate(w, op, lane, SIM_GLOBAL, source + i, (unsigned)step, ACCESS_READ, &from))
        return false;
      memcpy(c.data + i, from.bytes, step);
      if (w->undefined)
        c.undefined_bytes |= shadow_read(w, op, lane, &from, (unsigned)step, 0) << i;
    }
  }
  c.offset = (uint32_t)to.offset;
  c.serial = w->copy_serial++;
  if (w->undefined)
    shadow_copy_begins(w, op, lane, c.offset, c.bytes);
  memset(to.bytes, NOT_ARRIVED, x->bytes);
  vec_push(w->cta->arena, &w->copies, c);
  return true;
}

static void copy_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct async_copy *x = op->info;
  require_defined(w, op, x->to.slot, lanes, x->to.bits / 8, "the address");
  require_defined(w, op, x->from.slot, lanes, x->from.bits / 8, "the address");
  EACH_LANE(lane, lanes)
  if (!copy_lane(w, op, lane))
    return;
}

static void commit_op(struct warp *w, const struct op *op, uint32_t lanes) {
  (void)op;
  EACH_LANE(lane, lanes)
  w->commits[lane]++;
}

struct wait {
  uint64_t groups; // that may still be pending
  bool all;
};

static void wait_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct wait *x = op->info;
  size_t kept = 0;
  EACH_LANE(lane, lanes)
  bulk_arrive_all(w, lane);
  for (size_t i = 0; i < w->copies.len; i++) {
    const struct pending_copy *c = &w->copies.at[i];
    uint32_t committed = w->commits[c->lane];
    bool arrives = (lanes >> c->lane & 1) &&
                   (x->all || (c->group < committed && committed - c->group > x->groups));
    if (arrives) {
      memcpy(w->cta->shared + c->offset, c->data, c->bytes);
      if (w->undefined)
        shadow_copy_arrives(w, op, c->lane, c->offset, c->bytes, c->undefined_bytes, NO_AGENT, 0);
    } else {
      w->copies.at[kept++] = *c;
    }
  }
  w->copies.len = kept;
}

void copies_drop(struct warp *w, uint32_t lanes) {
  size_t kept = 0;
  for (size_t i = 0; i < w->copies.len; i++)
    if (!(lanes >> w->copies.at[i].lane & 1))
      w->copies.at[kept++] = w->copies.at[i];
  w->copies.len = kept;
}

// ---- decoding ----

static bool decode_wait(struct decoder *d, bool all) {
  struct wait *x = arena_new(d->arena, struct wait);
  x->all = all;
  if (!expect_end(d) || !expect_operands(d, !all, !all) ||
      (!all && !constant_value(d, &d->in->operands[0], &x->groups)))
    return false;
  emit(d, wait_op, NULL, 0, x);
  return !d->failed;
}

// The operand after the size: the number of bytes to read, or a predicate.
static bool decode_source_size(struct decoder *d, struct async_copy *x, const struct operand *o) {
  bool is_pred = o->kind == OPERAND_REGISTER && slot_bits(d, o) == 1;
  if (is_pred)
    x->ignore = source_slot(d, o, 1, false);
  else
    x->source_bytes = source_slot(d, o, 32, false);
  return !d->failed;
}

bool decode_async_copy(struct decoder *d) {
  struct async_copy *x = arena_new(d->arena, struct async_copy);
  bool policy;
  uint64_t bytes;
  if (take_part(d, "reduce"))
    return decode_bulk_reduction(d);
  if (!expect_part(d, "async"))
    return false;
  if (take_part(d, "bulk"))
    return decode_bulk_copy(d);
  if (take_part(d, "mbarrier"))
    return decode_copy_arrival(d);
  if (take_part(d, "commit_group"))
    return emit_plain(d, commit_op);
  if (take_part(d, "wait_group"))
    return decode_wait(d, false);
  if (take_part(d, "wait_all"))
    return decode_wait(d, true);
  bool cg = take_part(d, "cg");
  if ((!cg && !expect_part(d, "ca")) ||
      (!take_part(d, "shared::cta") && !expect_part(d, "shared")) || !expect_part(d, "global"))
    return false;
  take_cache_hints(d, &policy);
  unsigned n = d->in->operand_count;
  if (!expect_end(d) || !expect_operands(d, 3 + policy, 4 + policy) ||
      !decode_address(d, &d->in->operands[0], &x->to) ||
      !decode_address(d, &d->in->operands[1], &x->from) ||
      !constant_value(d, &d->in->operands[2], &bytes))
    return false;
  if (bytes != 16 && (cg || (bytes != 4 && bytes != 8)))
    return decode_error(d, "'cp.async' of %llu bytes", (unsigned long long)bytes);
  x->bytes = (unsigned)bytes;
  x->source_bytes = x->ignore = NO_SLOT;
  if (n - policy == 4 && !decode_source_size(d, x, &d->in->operands[3]))
    return false;
  if (policy)
    source_slot(d, &d->in->operands[n - 1], 64, false);
  emit(d, copy_op, NULL, 0, x);
  return !d->failed;
}
