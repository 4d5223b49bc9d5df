// SPDX-License-Identifier: Apache-2.0
// Decodes kernels into programs: lays out functions, callees first, assigns slots to registers, and
// resolves branch targets to operations.
#include "ptx-simulator/decode.h"

#include "ptx-simulator/wgmma_fence.h"

enum { MAX_CALL_DEPTH = 64, MAX_SLOTS = 1 << 21 };
#define MAX_LOCAL_BYTES ((uint64_t)1 << 24)

static decode_fn *family_of(struct str name) {
  static const struct {
    const char *name;
    decode_fn *decode;
  } families[] = {
#define INSTRUCTION(word, function) {word, function},
#include "ptx-simulator/instructions.def"
#undef INSTRUCTION
  };
  for (size_t i = 0; i < COUNT_OF(families); i++)
    if (str_is(name, families[i].name))
      return families[i].decode;
  return decode_alu;
}

static bool decode_instruction(struct decoder *d, const struct instruction *in) {
  d->in = in;
  d->next_part = 1;
  d->op = (struct op){.guard = NO_SLOT};
  if (in->is_guarded) {
    d->op.guard = source_slot(d, &in->guard, 1, false);
    d->op.guard_flip = in->guard.negated ? ~0u : 0;
  }
  return !d->failed && family_of(in->parts[0])(d) && !d->failed;
}

// ---- functions ----

static struct layout *place_function(struct decoder *d, const struct function *f) {
  struct layout *l = arena_new(d->arena, struct layout);
  struct program *p = d->program;
  l->reg_base = p->slot_count;
  l->carry_slot = (int32_t)(l->reg_base + f->regs.len);
  l->return_slot = l->carry_slot + 1;
  l->call_base = (p->local_bytes + 15) & ~15u;
  l->local_base = (l->call_base + (unsigned)f->param_bytes + 15) & ~15u;
  if (f->local_bytes + f->param_bytes + p->local_bytes > MAX_LOCAL_BYTES ||
      p->slot_count + f->regs.len > MAX_SLOTS) {
    decode_error(d, "the kernel needs too many registers or too much local memory");
    return NULL;
  }
  p->local_bytes = l->local_base +
                   (unsigned)f->local_bytes; // exact, so that accesses beyond it are out of bounds
  p->slot_count += (unsigned)f->regs.len + 2;
  l->op_of = arena_array(d->arena, uint32_t, f->code.len + 1);
  return l;
}

// Lays out `f` after the functions that it calls.
static bool place_all(struct decoder *d, struct function *f) {
  for (size_t i = 0; i < f->code.len; i++) {
    const struct instruction *in = &f->code.at[i];
    if (!str_is(in->parts[0], "call"))
      continue;
    for (unsigned k = 0; k < in->operand_count; k++) {
      struct function *callee = in->operands[k].function;
      if (in->operands[k].kind != OPERAND_FUNCTION || !callee->is_defined ||
          map_get(&d->layouts, str_from(callee->name)))
        continue;
      d->in = in;
      if (d->call_depth == MAX_CALL_DEPTH)
        return decode_error(d, "calls nested deeper than %d, or recursive", MAX_CALL_DEPTH);
      d->call_depth++;
      if (!place_all(d, callee))
        return false;
      d->call_depth--;
    }
  }
  struct layout *l = place_function(d, f);
  if (!l)
    return false;
  map_put(d->arena, &d->layouts, str_from(f->name), l);
  vec_push(d->arena, &d->order, f);
  return true;
}

static bool decode_function(struct decoder *d, const struct function *f) {
  struct layout *l = map_get(&d->layouts, str_from(f->name));
  d->function = f;
  d->layout = l;
  d->wgmma_numbers = wgmma_registers_find(d, f);
  l->entry = (unsigned)d->program->code.len;
  for (size_t i = 0; i < f->code.len; i++) {
    l->op_of[i] = (uint32_t)d->program->code.len;
    if (!decode_instruction(d, &f->code.at[i]))
      return false;
  }
  // The end of the code returns.
  static const struct instruction end = {.text = "the end of the function"};
  l->op_of[f->code.len] = (uint32_t)d->program->code.len;
  l->is_decoded = true;
  d->op = (struct op){.guard = NO_SLOT};
  d->in = &end;
  if (f->is_entry)
    emit(d, exit_op, NULL, 0, NULL);
  else
    emit(d, return_op, &l->return_slot, 1, NULL);
  return !d->failed;
}

// ---- programs ----

static void fill_facts(struct decoder *d, const struct function *f) {
  struct sim_kernel *k = &d->program->kernel;
  struct sim_param *params = arena_array(d->arena, struct sim_param, f->param_count + 1);
  k->name = f->name;
  k->module = d->module;
  for (unsigned i = 0; i < f->param_count; i++) {
    const struct variable *v = f->params[i];
    params[i] = (struct sim_param){(unsigned)v->offset, (unsigned)v->bytes, v->align};
    k->param_bytes = (unsigned)(v->offset + v->bytes);
  }
  k->params = params;
  k->param_count = f->param_count;
  unsigned align = d->module->dynamic_align;
  k->static_shared_bytes = ((unsigned)d->module->shared_bytes + align - 1) & ~(align - 1);
  k->has_dynamic_shared = d->module->has_dynamic_shared;
  k->local_bytes = d->program->local_bytes;
  memcpy(k->required_block, f->required_block, sizeof k->required_block);
  memcpy(k->largest_block, f->largest_block, sizeof k->largest_block);
  memcpy(k->required_cluster, f->required_cluster, sizeof k->required_cluster);
  k->max_registers = f->max_registers;
  k->instruction_count = (unsigned)d->program->code.len;
  k->register_count = d->program->register_count;
}

static bool decode_kernel(struct decoder *d, struct function *f) {
  struct program *p = d->program = arena_new(d->arena, struct program);
  p->module = d->module;
  if (!place_all(d, f))
    return false;
  p->register_count = p->slot_count;
  for (size_t i = 0; i < d->order.len; i++)
    if (!decode_function(d, d->order.at[i]))
      return false;
  p->entry = d->layout->entry;
  p->slot_count += (unsigned)d->constants.len;
  p->constants = d->constants.at;
  p->specials = d->specials.at;
  p->special_count = d->specials.len;
  p->shared_slots = d->shared_slots.at;
  p->shared_slot_count = d->shared_slots.len;
  for (size_t i = 0; i < d->targets.len; i++)
    for (unsigned k = 0; k < d->targets.at[i]->count; k++)
      d->targets.at[i]->at[k] = d->targets.at[i]->layout->op_of[d->targets.at[i]->at[k]];
  fill_facts(d, f);
  vec_push(d->arena, &d->module->kernels, &p->kernel);
  return true;
}

bool decode_module(struct sim_module *m, struct sim_error *ret_error) {
  for (size_t i = 0; i < m->entries.len; i++) {
    struct decoder d = {.arena = m->arena, .module = m, .error = ret_error};
    if (!decode_kernel(&d, m->entries.at[i]))
      return false;
  }
  return true;
}
