// SPDX-License-Identifier: Apache-2.0
// The decoder's two outputs: errors with a position in the PTX, and operations of the program.
#include "ptx-simulator/decode.h"
#include "ptx-simulator/wgmma_fence.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

enum { MAX_CODE = 1 << 22 };

bool decode_error(struct decoder *d, const char *format, ...) {
  if (!d->failed) {
    d->error->line = d->in ? d->in->line : 0;
    d->error->column = d->in ? d->in->column : 0;
    va_list args;
    va_start(args, format);
    vsnprintf(d->error->text, sizeof d->error->text, format, args);
    va_end(args);
  }
  d->failed = true;
  return false;
}

void emit(struct decoder *d, op_fn *run, const int32_t *slots, unsigned slot_count,
          const void *info) {
  assert(run && (slots || !slot_count));
  d->op.run = run;
  d->op.slots = slots && slot_count
                    ? arena_dup(d->arena, slots, slot_count * sizeof *slots, _Alignof(int32_t))
                    : NULL;
  d->op.info = info;
  d->op.in = d->in;
  d->op.wgmma = wgmma_registers_of(d);
  if (d->program->code.len >= MAX_CODE)
    decode_error(d, "the kernel has more than %d operations", MAX_CODE);
  else
    vec_push(d->arena, &d->program->code, d->op);
}
