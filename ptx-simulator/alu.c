// SPDX-License-Identifier: Apache-2.0
// Arithmetic for all lanes of a warp: maps operands of alu.h's instructions to slots.
#include "ptx-simulator/arithmetic.h"

static void alu_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct arithmetic *x = op->info;
  unsigned results = x->in.result_count, sources = x->in.source_count;
  const int32_t *to = op->slots, *from = op->slots + results;
  const uint64_t *rows[ALU_MAX_SOURCES];
  for (unsigned i = 0; i < sources; i++)
    rows[i] = row(w, from[i]);
  if (w->undefined)
    spread_arithmetic(w, op, lanes);
  EACH_LANE(lane, lanes) {
    uint64_t in[ALU_MAX_SOURCES], out[ALU_MAX_RESULTS];
    for (unsigned i = 0; i < sources; i++)
      in[i] = rows[i][lane];
    x->in.run(&x->in, in, out);
    for (unsigned i = 0; i < results; i++)
      if (to[i] != NO_SLOT)
        row(w, to[i])[lane] = out[i];
  }
}

static bool decode_results(struct decoder *d, const struct alu_instruction *in, int32_t *slots) {
  unsigned written = in->result_count - in->carry_out;
  const struct operand *o = &d->in->operands[0];
  unsigned given = o->kind == OPERAND_PAIR ? 2 : 1;
  const struct operand *items = o->kind == OPERAND_PAIR ? o->items : o;
  if (given > written || given < in->result_required)
    return decode_error(d, "'%.*s' has %u result%s, not %u", STR_ARG(d->in->parts[0]), written,
                        written == 1 ? "" : "s", given);
  for (unsigned i = 0; i < written; i++)
    slots[i] = i < given ? result_slot(d, &items[i], in->results[i].bits) : NO_SLOT;
  if (in->carry_out)
    slots[written] = d->layout->carry_slot;
  return !d->failed;
}

bool decode_alu(struct decoder *d) {
  struct arithmetic *x = arena_new(d->arena, struct arithmetic);
  int32_t slots[ALU_MAX_RESULTS + ALU_MAX_SOURCES];
  if (!alu_decode(d->in->parts, d->in->part_count, &x->in)) {
    char name[128] = "";
    for (unsigned i = 0; i < d->in->part_count; i++) {
      size_t n = strlen(name), more = d->in->parts[i].len;
      if (n + more + 2 > sizeof name)
        break;
      if (i)
        name[n++] = '.';
      memcpy(name + n, d->in->parts[i].ptr, more);
      name[n + more] = 0;
    }
    return decode_error(d, "unknown instruction '%s'", name);
  }
  unsigned sources = x->in.source_count - x->in.carry_in, results = x->in.result_count;
  if (!expect_operands(d, 1 + sources, 1 + sources) || !decode_results(d, &x->in, slots))
    return false;
  for (unsigned i = 0; i < sources; i++)
    slots[results + i] = source_slot(d, &d->in->operands[1 + i], x->in.sources[i].bits,
                                     x->in.sources[i].kind == ALU_FLOAT);
  if (x->in.carry_in)
    slots[results + sources] = d->layout->carry_slot;
  x->spread = spread_of(d->in->parts, d->in->part_count, &x->in);
  emit(d, alu_op, slots, results + x->in.source_count, x);
  return !d->failed;
}
