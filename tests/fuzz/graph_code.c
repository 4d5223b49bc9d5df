// SPDX-License-Identifier: Apache-2.0
// Graph text to LLVM IR of its kernels: the kernel compiler must accept every generated
// source.
#include "drive_graph.h"
#include "graph/graph_compile.h"
#include "graph/program/program.h"
#include "source.h"

enum { GRAPH_LIMIT = 4 << 10, KERNELS = 6 };

static void compile(struct drive *d, const struct graph_kernel *k, const struct target *target) {
  struct compile_request r = {.source = source_create(d->arena, "kernel.tile", str_from(k->source)),
                              .kernel = k->name,
                              .target = target,
                              .num_warps = k->num_warps,
                              .num_stages = k->num_stages,
                              .emit = EMIT_LLVM,
                              .is_detached = true};
  struct diag_engine *diag = diag_engine_create(d->arena);
  struct compile_result result = {0};
  if (!compile_kernel(d->arena, diag, &r, &result)) {
    const char *code = diag_code_name(diag_first_error_code(diag));
    DRIVE_CHECK(strncmp(code, "E06", 3) == 0 || strncmp(code, "E09", 3) == 0); // too large
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct drive d;
  if (size > GRAPH_LIMIT || !drive_begin(&d))
    return 0;
  struct graph *g = drive_read_graph(&d, data, size);
  const struct target *target = target_find(size % 2 ? STR("sm_90a") : STR("cpu"));
  struct program *p =
      g ? program_compile(g, &(struct program_options){.target = target->name}) : NULL;
  for (size_t i = 0; p && i < p->kernels.len && i < KERNELS; i++)
    if (!p->kernels.at[i]->is_given) // their constants come with the launch
      compile(&d, p->kernels.at[i], target);
  drive_end(&d);
  return 0;
}
