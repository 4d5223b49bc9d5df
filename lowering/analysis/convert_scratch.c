// SPDX-License-Identifier: Apache-2.0
// See convert_scratch.h.
#include "lowering/analysis/convert_scratch.h"

#include "layouts/convert_plan.h"
#include "layouts/exchange_plan.h"
#include "layouts/shuffle_plan.h"

unsigned memory_bits(struct ir_context *c, MlirType element) {
  unsigned bits = type_bits(c, element);
  return bits < 8 ? 8 : bits;
}

uint32_t exchange_bytes(const struct linear_layout *l, unsigned element_bits) {
  return (element_bits / 8) << (l ? ll_total_out_bits(l) : 0);
}

uint32_t convert_bytes(const struct linear_layout *from, const struct linear_layout *to,
                       unsigned element_bits) {
  struct exchange_rounds rounds;
  if (!from || !to)
    return exchange_bytes(NULL, element_bits);
  exchange_rounds_of(from, to, element_bits, &rounds);
  return rounds.bytes;
}

bool converts_through_shared(const struct linear_layout *from, const struct linear_layout *to) {
  struct convert_plan p;
  struct shuffle_plan s;
  if (!convert_plan_make(from, to, &p))
    return false;
  return p.kind == CONVERT_SHARED || (p.kind == CONVERT_SHUFFLES && !shuffle_plan_make(&p, &s));
}
