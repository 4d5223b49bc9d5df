// SPDX-License-Identifier: Apache-2.0
// See cpu_run.h.
#include "cpu_run.h"

#include "assertions.h"
#include "jit/orc.h"

#include <stdlib.h>

void cpu_run_open(struct cpu_run *h) {
  setenv("TILE_CPU_THREADS", "2", 1);
  h->arena = arena_create();
  h->diag = diag_engine_create(h->arena);
  ck_assert_int_eq(orc_create(&h->orc), TILE_OK);
  ck_assert_int_eq(tile_device_open("cpu", &h->device), TILE_OK);
}

void cpu_run_close(struct cpu_run *h) {
  tile_device_close(h->device);
  orc_destroy(h->orc);
  arena_destroy(h->arena);
}

bool cpu_run_compile(struct cpu_run *h, const char *ir, const char *target, uint32_t num_warps,
                     enum emit_kind emit, bool check, struct compile_result *ret) {
  h->diag = diag_engine_create(h->arena);
  struct compile_request r = {.source = source_create(h->arena, "test.mlir", str_from(ir)),
                              .target = target_find(str_from(target)),
                              .num_warps = num_warps,
                              .emit = emit,
                              .check = check};
  return compile_mlir(h->arena, h->diag, &r, ret);
}

tile_status cpu_run_ir(struct cpu_run *h, const char *ir, uint32_t num_warps, uint32_t programs,
                       bool check, void *const *values) {
  struct compile_result r;
  cpu_kernel_fn fn;
  struct module *m = NULL;
  bool ok = cpu_run_compile(h, ir, "cpu", num_warps, EMIT_OBJECT, check, &r);
  ck_assert_msg(ok, "%s\n%s", diag_first_error(h->diag), ir);
  ck_assert_msg(orc_load(h->orc, r.output, r.info.name, &fn) == TILE_OK, "%s",
                tile_error_message());
  ck_assert_int_eq(module_from_cpu(h->device, fn, &r.info, NULL, NULL, &m), TILE_OK);
  tile_status s =
      module_launch(m, NULL, (tile_grid){programs, 1, 1}, values, check ? LAUNCH_CHECKED : 0);
  module_destroy(m);
  return s;
}
