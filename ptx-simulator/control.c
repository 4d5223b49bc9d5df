// SPDX-License-Identifier: Apache-2.0
// Control flow: branches, calls, returns, exits (PTX ISA, 9.7.12).
#include "ptx-simulator/bulk_copy.h"
#include "ptx-simulator/cluster.h"
#include "ptx-simulator/register_pool.h"

// ---- branches ----

// Branches to at[0] the lanes that pass the guard.
static void branch_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct target *t = op->info;
  if (w->mask & ~lanes)
    warp_split(w, lanes, w->pc);
  w->pc = t->at[0];
}

static struct target *new_target(struct decoder *d, unsigned count) {
  struct target *t = arena_new(d->arena, struct target);
  t->count = count;
  t->at = arena_array(d->arena, uint32_t, count + 1);
  t->layout = d->layout;
  vec_push(d->arena, &d->targets, t);
  return t;
}

bool decode_branch(struct decoder *d) {
  take_part(d, "uni");
  if (!expect_end(d) || !expect_operands(d, 1, 1))
    return false;
  if (d->in->operands[0].kind != OPERAND_LABEL)
    return decode_error(d, "'bra' wants a label");
  struct target *t = new_target(d, 1);
  t->at[0] = d->in->operands[0].label;
  emit(d, branch_op, NULL, 0, t);
  return true;
}

static void branch_indexed_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct target *t = op->info;
  require_defined(w, op, op->slots[0], lanes, 4, "the index of a branch");
  if (w->mask & ~lanes)
    warp_split(w, lanes, w->pc);
  while (w->mask && !w->stop) {
    uint32_t first = (uint32_t)__builtin_ctz(w->mask), same = 0;
    uint32_t index = (uint32_t)row(w, op->slots[0])[first];
    EACH_LANE(lane, w->mask)
    same |= (uint32_t)((uint32_t)row(w, op->slots[0])[lane] == index) << lane;
    if (index >= t->count) {
      fault(w, op, first, SIM_BAD_STATE, NULL, "index %u of a table of %u branches", index,
            t->count);
      return;
    }
    if (same == w->mask) {
      w->pc = t->at[index];
      return;
    }
    warp_add_group(w, (struct group){.pc = t->at[index], .mask = same});
    w->mask &= ~same;
  }
}

bool decode_branch_indexed(struct decoder *d) {
  if (!expect_part(d, "idx"))
    return false;
  take_part(d, "uni");
  if (!expect_end(d) || !expect_operands(d, 2, 2))
    return false;
  const struct operand *list = &d->in->operands[1];
  int32_t slot = source_slot(d, &d->in->operands[0], 32, false);
  if (list->kind != OPERAND_LIST)
    return decode_error(d, "'brx.idx' wants the name of a .branchtargets list");
  struct target *t = new_target(d, list->item_count);
  for (unsigned i = 0; i < list->item_count; i++) {
    if (list->items[i].kind != OPERAND_LABEL)
      return decode_error(d, "a list of branch targets has something that is no label");
    t->at[i] = list->items[i].label;
  }
  emit(d, branch_indexed_op, &slot, 1, t);
  return true;
}

// ---- exits ----

void exit_op(struct warp *w, const struct op *op, uint32_t lanes) {
  copies_drop(w, lanes);
  bulk_exit(w, op, lanes);
  warp_exit_lanes(w, lanes);
  if (w->live == 0)
    registers_exit(w, op);
  if (w->live == 0 && w->cta->alive == 0) {
    bulk_end(w, op);
    cluster_end(w, op);
  }
}

bool decode_exit(struct decoder *d) {
  if (!expect_end(d) || !expect_operands(d, 0, 0))
    return false;
  emit(d, exit_op, NULL, 0, NULL);
  return true;
}

static void trap_op(struct warp *w, const struct op *op, uint32_t lanes) {
  fault(w, op, (unsigned)__builtin_ctz(lanes), SIM_TRAP, NULL, "the kernel stops itself");
}

bool decode_trap(struct decoder *d) {
  if (!expect_end(d) || !expect_operands(d, 0, 0))
    return false;
  emit(d, trap_op, NULL, 0, NULL);
  return true;
}

// ---- calls ----
// Recursion is rejected, so a function is active at most once in a thread: its registers and
// parameters are static, and one slot holds each lane's return address.

struct copy {
  unsigned from, to, bytes;
};
struct call {
  const struct layout *callee;
  struct copy *arguments, *results;
  unsigned argument_count, result_count;
};

static void copy_all(struct warp *w, uint32_t lanes, const struct copy *copies, unsigned count) {
  unsigned size = w->program->local_bytes;
  for (unsigned i = 0; i < count; i++)
    EACH_LANE(lane, lanes) {
      uint8_t *base = w->local + (size_t)lane * size;
      memmove(base + copies[i].to, base + copies[i].from, copies[i].bytes);
      if (w->local_shadow) {
        uint8_t *shadow = w->local_shadow + (size_t)lane * size;
        memmove(shadow + copies[i].to, shadow + copies[i].from, copies[i].bytes);
      }
    }
}

static void call_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct call *c = op->info;
  if (w->mask & ~lanes)
    warp_split(w, lanes, w->pc + 1); // after the operation that copies results
  copy_all(w, lanes, c->arguments, c->argument_count);
  EACH_LANE(lane, lanes)
  row(w, c->callee->return_slot)[lane] = w->pc;
  set_defined(w, c->callee->return_slot, lanes);
  w->pc = c->callee->entry;
}

static void call_end_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct call *c = op->info;
  copy_all(w, lanes, c->results, c->result_count);
}

void return_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const uint64_t *to = row(w, op->slots[0]);
  if (w->mask & ~lanes)
    warp_split(w, lanes, w->pc);
  while (w->mask) {
    uint32_t pc = (uint32_t)to[__builtin_ctz(w->mask)], same = 0;
    EACH_LANE(lane, w->mask)
    same |= (uint32_t)(to[lane] == pc) << lane;
    if (same == w->mask) {
      w->pc = pc;
      return;
    }
    warp_add_group(w, (struct group){.pc = pc, .mask = same});
    w->mask &= ~same;
  }
}

bool decode_return(struct decoder *d) {
  take_part(d, "uni");
  if (!expect_end(d) || !expect_operands(d, 0, 0))
    return false;
  if (d->function->is_entry)
    emit(d, exit_op, NULL, 0, NULL);
  else
    emit(d, return_op, &d->layout->return_slot, 1, NULL);
  return true;
}

// The copies between a call's parameters in the caller and in the callee.
static bool match_params(struct decoder *d, const struct operand *list, struct variable **formals,
                         unsigned formal_count, const struct layout *callee, bool to_callee,
                         struct copy **ret) {
  unsigned count = list ? list->item_count : 0;
  if (count != formal_count)
    return decode_error(d, "a call with %u values where the function has %u", count, formal_count);
  *ret = arena_array(d->arena, struct copy, count + 1);
  for (unsigned i = 0; i < count; i++) {
    const struct operand *o = &list->items[i];
    if (o->kind != OPERAND_VARIABLE || o->variable->space != SIM_PARAM ||
        o->variable->is_kernel_param)
      return decode_error(d, "only .param variables are passed to functions");
    if (o->variable->bytes != formals[i]->bytes)
      return decode_error(d, "parameter %u of a call has %u bytes where the function has %u", i,
                          (unsigned)o->variable->bytes, (unsigned)formals[i]->bytes);
    unsigned here = d->layout->call_base + (unsigned)o->variable->offset;
    unsigned there = callee->call_base + (unsigned)formals[i]->offset;
    (*ret)[i] = to_callee ? (struct copy){here, there, (unsigned)formals[i]->bytes}
                          : (struct copy){there, here, (unsigned)formals[i]->bytes};
  }
  return true;
}

bool decode_call(struct decoder *d) {
  take_part(d, "uni");
  if (!expect_end(d) || !expect_operands(d, 1, 3))
    return false;
  const struct operand *o = d->in->operands, *results = NULL, *arguments = NULL;
  unsigned n = d->in->operand_count, i = 0;
  if (o[i].kind == OPERAND_LIST && n > 1)
    results = &o[i++];
  const struct operand *name = &o[i++];
  if (i < n)
    arguments = &o[i++];
  if (i < n || name->kind != OPERAND_FUNCTION || (arguments && arguments->kind != OPERAND_LIST))
    return decode_error(d, "this form of 'call' is not supported: the function must be named");
  const struct function *f = name->function;
  if (!f->is_defined)
    return decode_extern_call(d, f, results, arguments);
  struct call *c = arena_new(d->arena, struct call);
  c->callee = map_get(&d->layouts, str_from(f->name));
  if (f->is_entry || !c->callee || !c->callee->is_decoded)
    return decode_error(d, "'%s' cannot be called here", f->name);
  c->argument_count = f->param_count;
  c->result_count = f->result_count;
  if (!match_params(d, arguments, f->params, f->param_count, c->callee, true, &c->arguments) ||
      !match_params(d, results, f->results, f->result_count, c->callee, false, &c->results))
    return false;
  emit(d, call_op, NULL, 0, c);
  d->op.guard = NO_SLOT;
  emit(d, call_end_op, NULL, 0, c);
  return true;
}
