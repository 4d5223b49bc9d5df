// SPDX-License-Identifier: Apache-2.0
// Instructions without an effect in one launch without timing: cache hints and policies, fences,
// nanosleep, griddepcontrol. Their modifiers and operands are checked.
#include "ptx-simulator/bulk_copy.h"
#include "ptx-simulator/map_fences.h"
#include "ptx-simulator/shadow.h"

static void no_op(struct warp *w, const struct op *op, uint32_t lanes) {
  (void)w, (void)op, (void)lanes;
}

static bool emit_nothing(struct decoder *d) {
  emit(d, no_op, NULL, 0, NULL);
  return !d->failed;
}

// A cache policy is a number that only accesses with a cache hint read.
static void policy_op(struct warp *w, const struct op *op, uint32_t lanes) {
  EACH_LANE(lane, lanes)
  row(w, op->slots[0])[lane] = 0;
  set_defined(w, op->slots[0], lanes);
}

bool decode_createpolicy(struct decoder *d) {
  static const char *const primary[] = {"L2::evict_last", "L2::evict_normal", "L2::evict_first",
                                        "L2::evict_unchanged", NULL};
  static const char *const secondary[] = {"L2::evict_first", "L2::evict_unchanged", NULL};
  if (!expect_part(d, "fractional"))
    return false;
  if (take_one_of(d, primary) < 0)
    return expect_part(d, "L2::evict_last");
  take_one_of(d, secondary);
  if (!expect_part(d, "b64") || !expect_end(d) || !expect_operands(d, 1, 2))
    return false;
  int32_t slot = result_slot(d, &d->in->operands[0], 64);
  if (d->in->operand_count == 2)
    source_slot(d, &d->in->operands[1], 32, true);
  if (slot == NO_SLOT)
    return decode_error(d, "a policy without a register");
  emit(d, policy_op, &slot, 1, NULL);
  return !d->failed;
}

bool decode_prefetch(struct decoder *d) {
  if (str_is(d->in->parts[0], "prefetch") &&
      str_is(d->in->parts[d->in->part_count - 1], "tensormap"))
    return decode_prefetch_map(d);
  static const char *const levels[] = {"L1", "L2", "L2::evict_last", "L2::evict_normal", NULL};
  struct address a;
  bool is_discard = str_is(d->in->parts[0], "discard") || str_is(d->in->parts[0], "applypriority");
  take_space(d);
  if (take_one_of(d, levels) < 0)
    return expect_part(d, "L2");
  uint64_t size;
  if (!expect_end(d) || !expect_operands(d, 1 + is_discard, 1 + is_discard) ||
      !decode_address(d, &d->in->operands[0], &a) ||
      (is_discard && !constant_value(d, &d->in->operands[1], &size)))
    return false;
  return emit_nothing(d);
}

bool decode_griddepcontrol(struct decoder *d) {
  if (!take_part(d, "wait") && !expect_part(d, "launch_dependents"))
    return false;
  return expect_end(d) && expect_operands(d, 0, 0) && emit_nothing(d);
}

static void sleep_op(struct warp *w, const struct op *op, uint32_t lanes) {
  (void)op, (void)lanes;
  w->stop = true; // lets other warps run
}

bool decode_nanosleep(struct decoder *d) {
  if (!expect_part(d, "u32") || !expect_end(d) || !expect_operands(d, 1, 1))
    return false;
  source_slot(d, &d->in->operands[0], 32, false);
  emit(d, sleep_op, NULL, 0, NULL);
  return !d->failed;
}

// fence.proxy.async of all memory or of one space (PTX ISA, "membar / fence").
static bool decode_proxy_fence(struct decoder *d) {
  static const char *const spaces[] = {"global", "shared::cta", "shared::cluster", NULL};
  if (take_part(d, "tensormap::generic"))
    return decode_map_fence(d);
  if (!expect_part(d, "async"))
    return false;
  bool is_global = take_one_of(d, spaces) == 0;
  if (!expect_end(d) || !expect_operands(d, 0, 0))
    return false;
  emit(d, is_global ? no_op : shadow_proxy_fence, NULL, 0, NULL);
  return !d->failed;
}

static bool decode_init_fence(struct decoder *d) {
  if (!expect_part(d, "release") || !expect_part(d, "cluster") || !expect_end(d) ||
      !expect_operands(d, 0, 0))
    return false;
  emit(d, shadow_init_fence, NULL, 0, NULL);
  return !d->failed;
}

// The simulator's memory is sequentially consistent. Race checks do not distinguish fences
// (global.c).
bool decode_fence(struct decoder *d) {
  static const char *const levels[] = {"cta", "gl", "sys", "cluster", "gpu", NULL};
  static const char *const orders[] = {"sc", "acq_rel", "acquire", "release", NULL};
  bool is_membar = str_is(d->in->parts[0], "membar");
  if (!is_membar && take_part(d, "proxy"))
    return decode_proxy_fence(d);
  if (!is_membar && take_part(d, "mbarrier_init"))
    return decode_init_fence(d);
  if (!is_membar)
    take_one_of(d, orders);
  if (take_one_of(d, levels) < 0)
    return expect_part(d, "gpu");
  d->program->has_fences = true;
  return expect_end(d) && expect_operands(d, 0, 0) && emit_nothing(d);
}

bool decode_pmevent(struct decoder *d) {
  take_part(d, "mask");
  return expect_end(d) && expect_operands(d, 1, 1) && emit_nothing(d);
}
