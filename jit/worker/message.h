// SPDX-License-Identifier: Apache-2.0
// What a compilation is asked with and what it gives, also as bytes for another process: both sides
// of a worker are of one build (jit/worker/pool.c makes sure), so that nothing has a version of its
// own.
#ifndef TILE_JIT_WORKER_MESSAGE_H
#define TILE_JIT_WORKER_MESSAGE_H

#include "base/wire.h"
#include "lowering/compile.h"
#include "lowering/cost/kernel_cost.h"

// What a kernel costs when it is launched so.
struct jit_cost_job {
  const struct cost_argument *args;
  size_t arg_count;
  uint32_t grid[3];
};

struct jit_job {
  struct compile_request request;  // `inspect` and `passes` are not sent
  const struct jit_cost_job *cost; // NULL: code is wanted; else this, and no code
};

struct jit_reply {
  struct str entry, code; // as the disk cache keeps them: description and files, artifact
  struct compile_timing timing;
  struct kernel_cost cost;
};

// Compiles in this process. True when `diag` has no errors; all it gives is on `a`.
bool jit_reply_make(struct arena *a, struct diag_engine *diag, const struct jit_job *q,
                    struct jit_reply *ret);

void jit_job_put(const struct jit_job *q, struct strbuf *out);
// On `a`. False: damaged.
bool jit_job_get(struct arena *a, struct str bytes, struct jit_job *ret);
// An reply with its diagnostics, of which those of errors may be all there is.
void jit_reply_put(const struct jit_reply *reply, const struct diag_engine *diag,
                   const struct source *source, struct strbuf *out);
// On `a` and into `diag`. False: damaged.
bool jit_reply_get(struct arena *a, struct diag_engine *diag, const struct source *source,
                   struct str bytes, struct jit_reply *ret);

#endif
