// SPDX-License-Identifier: Apache-2.0
// What a compilation is asked with and what it gives, also as bytes for another process: both sides
// of a worker are of one build (jit/worker/pool.c makes sure), so that nothing has a version of its
// own.
#ifndef TILE_JIT_WORKER_MESSAGE_H
#define TILE_JIT_WORKER_MESSAGE_H

#include "base/wire.h"
#include "lowering/cost/kernel_cost.h"
#include "lowering/compile.h"

// What a kernel costs when it is launched so.
struct jit_cost_question {
  const struct cost_argument *args;
  size_t arg_count;
  uint32_t grid[3];
};

struct jit_question {
  struct compile_request request;       // `inspect` and `passes` are not sent
  const struct jit_cost_question *cost; // NULL: code is wanted; else this, and no code
};

struct jit_answer {
  struct str entry, code; // as the disk cache keeps them: description and files, artifact
  struct compile_timing timing;
  struct kernel_cost cost;
};

// Compiles in this process. True when `diag` has no errors; all it gives is on `a`.
bool jit_answer_make(struct arena *a, struct diag_engine *diag, const struct jit_question *q,
                     struct jit_answer *ret);

void jit_question_put(const struct jit_question *q, struct strbuf *out);
// On `a`. False: damaged.
bool jit_question_get(struct arena *a, struct str bytes, struct jit_question *ret);
// An answer with its diagnostics, of which those of errors may be all there is.
void jit_answer_put(const struct jit_answer *answer, const struct diag_engine *diag,
                    const struct source *source, struct strbuf *out);
// On `a` and into `diag`. False: damaged.
bool jit_answer_get(struct arena *a, struct diag_engine *diag, const struct source *source,
                    struct str bytes, struct jit_answer *ret);

#endif
