// SPDX-License-Identifier: Apache-2.0
// See host_run.h.
#include "host_run.h"

#include "jit/orc.h"

#include <check.h>
#include <stdlib.h>

void host_run_open(struct host_run *h) {
  setenv("TILE_HOST_THREADS", "2", 1);
  h->arena = arena_create();
  h->diag = diag_engine_create(h->arena);
  ck_assert_int_eq(orc_create(&h->orc), TILE_OK);
  ck_assert_int_eq(tile_device_open("host", &h->device), TILE_OK);
}

void host_run_close(struct host_run *h) {
  tile_device_close(h->device);
  orc_destroy(h->orc);
  arena_destroy(h->arena);
}

bool host_run_compile(struct host_run *h, const char *ir, const char *target, uint32_t num_warps,
                      enum emit_kind emit, bool check, struct compile_result *ret) {
  h->diag = diag_engine_create(h->arena);
  struct compile_request r = {.source = source_create(h->arena, "test.mlir", str_from(ir)),
                              .target = target_find(str_from(target)),
                              .num_warps = num_warps,
                              .emit = emit,
                              .check = check};
  return compile_mlir(h->arena, h->diag, &r, ret);
}

tile_status host_run_ir(struct host_run *h, const char *ir, uint32_t num_warps, uint32_t programs,
                        bool check, void *const *values) {
  struct compile_result r;
  host_kernel_fn fn;
  struct module *m = NULL;
  bool ok = host_run_compile(h, ir, "host", num_warps, EMIT_OBJECT, check, &r);
  ck_assert_msg(ok, "%s\n%s", diag_first_error(h->diag), ir);
  ck_assert_msg(orc_load(h->orc, r.output, r.info.name, &fn) == TILE_OK, "%s",
                tile_error_message());
  ck_assert_int_eq(module_from_host(h->device, fn, &r.info, NULL, NULL, &m), TILE_OK);
  tile_status s = module_launch(m, NULL, (tile_grid){programs, 1, 1}, values, check);
  module_destroy(m);
  return s;
}
