// SPDX-License-Identifier: Apache-2.0
// Options that neither the command line nor FILE.tune.json sets have the values of the kernel's
// decorators.
#include "tools/tool.h"

void tool_take_defaults(const struct lang_defaults *d, uint32_t *warps, uint32_t *stages,
                        uint32_t *registers, uint32_t *ctas, enum warp_specialize *specialize) {
  *warps = *warps ? *warps : d->num_warps;
  *stages = *stages ? *stages : d->num_stages;
  *registers = *registers ? *registers : d->max_registers;
  *ctas = *ctas ? *ctas : d->num_ctas;
  *specialize = *specialize ? *specialize : d->warp_specialize;
}
