// SPDX-License-Identifier: Apache-2.0
// Selects the code of a pack for a device.
#include "base/instruction_set.h"
#include "runtime/device.h"
#include "runtime/pack.h"

#include <assert.h>

// A cubin runs on GPUs of the same major capability with an equal or newer minor one (not on 8.7,
// Tegra, unless built for it); a cubin for an `a` target only on its own capability. PTX runs on
// every newer GPU, except PTX for `a` targets. A simulated GPU runs PTX only, a processor the
// images whose instructions it has.
static bool runs_on(const uint8_t *code, const tile_device *d) {
  unsigned made_for = pack_u32(code + PACK_CODE_CAPABILITY), capability = d->capability;
  bool is_image = pack_u32(code + PACK_CODE_FORMAT) == PACK_IMAGE;
  if (is_image || d->is_cpu)
    return is_image && d->is_cpu && instruction_set_runs(made_for);
  if (d->is_simulated && pack_u32(code + PACK_CODE_FORMAT) != PACK_PTX)
    return false;
  if (made_for == capability)
    return true;
  if (pack_u32(code + PACK_CODE_SPECIFIC) || made_for > capability)
    return false;
  return pack_u32(code + PACK_CODE_FORMAT) == PACK_PTX ||
         (made_for / 10 == capability / 10 && capability != 87);
}

// A newer capability ranks higher; a cubin ranks above PTX. Always above 0.
unsigned pack_code_rank(const uint8_t *code) {
  return pack_u32(code + PACK_CODE_CAPABILITY) * 4 + pack_u32(code + PACK_CODE_SPECIFIC) * 2 +
         (pack_u32(code + PACK_CODE_FORMAT) == PACK_CUBIN);
}

// Index of the variant's best code that ranks below `below`; false when there is none.
bool pack_best_code(const tile_pack *p, uint32_t variant, const tile_device *d, unsigned below,
                    uint32_t *ret) {
  assert(variant < p->counts[PACK_VARIANTS]);
  const uint8_t *v = pack_entry(p, PACK_VARIANTS, variant);
  uint32_t first = pack_u32(v + PACK_VARIANT_FIRST_CODE);
  unsigned best = 0;
  for (uint32_t i = 0; i < pack_u32(v + PACK_VARIANT_CODE_COUNT); i++) {
    const uint8_t *code = pack_entry(p, PACK_CODES, first + i);
    unsigned rank = pack_code_rank(code);
    if (rank >= below || rank <= best || !runs_on(code, d))
      continue;
    best = rank;
    *ret = first + i;
  }
  return best != 0;
}
