// SPDX-License-Identifier: Apache-2.0
// Builds an arithmetic instruction: its modifiers, then its sources and results. An instruction on
// packed types (f16x2) runs its scalar function once for each element.
#include "ptx-simulator/alu_internal.h"

#include <assert.h>

bool alu_only_flags(const struct alu_words *w, unsigned flag_set) {
  return !(w->flags & ~flag_set) && !w->rounding && !w->comparison && !w->combine && !w->mode;
}

void alu_begin(struct alu_instruction *in, const struct alu_words *w,
               const struct alu_format *type) {
  *in = (struct alu_instruction){.operation = w->operation,
                                 .flags = w->flags,
                                 .rounding = w->rounding,
                                 .comparison = w->comparison,
                                 .combine = w->combine,
                                 .mode = w->mode,
                                 .type = *type};
}

void alu_add_source(struct alu_instruction *in, enum alu_kind kind, unsigned bits) {
  assert(in->source_count < ALU_MAX_SOURCES);
  in->sources[in->source_count++] = (struct alu_type){kind, bits};
}

void alu_add_result(struct alu_instruction *in, enum alu_kind kind, unsigned bits) {
  assert(in->result_count < ALU_MAX_RESULTS);
  in->results[in->result_count++] = (struct alu_type){kind, bits};
  in->result_required = in->result_count;
}

// Two elements in a word of twice the width.
static void run_pairs(const struct alu_instruction *in, const uint64_t *sources,
                      uint64_t *results) {
  unsigned bits = in->type.bits;
  uint64_t low[ALU_MAX_SOURCES], high[ALU_MAX_SOURCES], parts[2];
  for (unsigned i = 0; i < in->source_count; i++) {
    low[i] = alu_mask(sources[i], bits);
    high[i] = alu_mask(sources[i] >> bits, bits);
  }
  in->element(in, low, &parts[0]);
  in->element(in, high, &parts[1]);
  results[0] = alu_mask(parts[0], bits) | alu_mask(parts[1], bits) << bits;
}

void alu_finish(struct alu_instruction *in, unsigned sources, alu_run_fn *run) {
  bool pair = in->type.elements == 2;
  enum alu_kind kind = pair ? ALU_BITS : in->type.kind;
  for (unsigned i = 0; i < sources; i++)
    alu_add_source(in, kind, in->type.bits * in->type.elements);
  alu_add_result(in, kind, in->type.bits * in->type.elements);
  in->element = run;
  in->run = pair ? run_pairs : run;
}
