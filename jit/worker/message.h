// SPDX-License-Identifier: Apache-2.0
// Requests and results of a compilation, in memory and as bytes for another process. Both sides of
// a worker are of one build (checked by jit/worker/pool.c), so the bytes have no version.
#ifndef TILE_JIT_WORKER_MESSAGE_H
#define TILE_JIT_WORKER_MESSAGE_H

#include "base/wire.h"
#include "lowering/compile.h"
#include "lowering/cost/kernel_cost.h"

// The cost of a launch with these values.
struct jit_cost_job {
  const struct cost_argument *args;
  size_t arg_count;
  uint32_t grid[3];
};

struct jit_job {
  struct compile_request request;  // `inspect` and `passes` are not sent
  const struct jit_cost_job *cost; // not NULL: estimate this cost and generate no code
};

struct jit_reply {
  struct str entry, code; // as stored in the disk cache: description and imported files, artifact
  struct compile_timing timing;
  struct kernel_cost cost;
};

// Compiles in this process. True when `diag` has no errors; the results are on `a`.
bool jit_reply_make(struct arena *a, struct diag_engine *diag, const struct jit_job *q,
                    struct jit_reply *ret);

void jit_job_put(const struct jit_job *q, struct strbuf *out);
// Decodes onto `a`. False: damaged.
bool jit_job_get(struct arena *a, struct str bytes, struct jit_job *ret);
// A reply with its diagnostics; a failed compilation has nothing else.
void jit_reply_put(const struct jit_reply *reply, const struct diag_engine *diag,
                   const struct source *source, struct strbuf *out);
// Decodes onto `a` and into `diag`. False: damaged.
bool jit_reply_get(struct arena *a, struct diag_engine *diag, const struct source *source,
                   struct str bytes, struct jit_reply *ret);

#endif
