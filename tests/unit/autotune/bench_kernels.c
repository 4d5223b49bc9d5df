// SPDX-License-Identifier: Apache-2.0
// See bench_kernels.h.
#include "bench_kernels.h"

#include "jit/jit.h"

#include <check.h>
#include <sys/mman.h>
#include <unistd.h>

static const char text[] =
    "@jit\n"
    "def right(x, out, n, BLOCK: constexpr):\n"
    "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "    store(out + i, load(x + i, mask=i < n) * 2 + 1, mask=i < n)\n"
    "\n"
    "@jit\n"
    "def nearly(x, out, n, BLOCK: constexpr):\n" // within the tolerance
    "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "    store(out + i, load(x + i, mask=i < n) * 2.000001 + 1, mask=i < n)\n"
    "\n"
    "@jit\n"
    "def wrong(x, out, n, BLOCK: constexpr):\n"
    "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "    v = load(x + i, mask=i < n) * 2 + 1\n"
    "    store(out + i, where(i == 4321, v + 3, v), mask=i < n)\n"
    "\n"
    "@jit\n"
    "def spoils_input(x, out, n, BLOCK: constexpr):\n"
    "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "    v = load(x + i, mask=i < n)\n"
    "    store(out + i, v * 2 + 1, mask=i < n)\n"
    "    store(x + i, v + 1, mask=i < n)\n"
    "\n"
    "@jit\n"
    "def adds(x, out, n, BLOCK: constexpr):\n" // right if out was zero
    "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "    v = load(out + i, mask=i < n) + load(x + i, mask=i < n) * 2 + 1\n"
    "    store(out + i, v, mask=i < n)\n"
    "\n"
    "@jit\n"
    "def crashes(x, out, n, BLOCK: constexpr):\n"
    "    i = arange(0, BLOCK)\n"
    "    store(out - 1000000000000 + i, load(x + i))\n"
    "\n"
    "@jit\n"
    "def hangs(x, out, n, BLOCK: constexpr):\n"
    "    i = 0\n"
    "    while load(out) == load(out):\n"
    "        i = i + n\n"
    "        store(out, 1.0)\n"
    "    store(out, i.to(float32))\n";

static const char *const names[] = {"x", "out", "n"};

void worker_case_make(struct worker_case *c, const char *device) {
  *c = (struct worker_case){.arena = arena_create(), .data_fd = -1};
  c->data_bytes = 3 * 32768;
  void *data;
  ck_assert_int_eq(tune_data_create(c->data_bytes, &c->data_fd, &data), TILE_OK);
  c->data = data;
  // Placeholders with the alignment of a launch's arrays.
  c->args[0] = tile_arg_pointer(data, TILE_F32);
  c->args[1] = tile_arg_pointer((char *)data + 32768, TILE_F32);
  c->args[2] = tile_arg_i32(KERNEL_N);
  c->arrays[0] = (struct tune_array){.bytes = KERNEL_N * 4};
  c->arrays[1] = (struct tune_array){.bytes = KERNEL_N * 4, .offset = 32768};
  c->problem = (struct tune_problem){
      .args = c->args, .arg_count = 3, .arrays = c->arrays, .arg_names = names};
  ck_assert_int_eq(tile_device_open("cpu", &c->device), TILE_OK);
  c->problem.target = device;
}

void worker_case_open(struct worker_case *c, double timeout_ms) {
  const struct tune_worker_options o = {
      .device = c->problem.target, .timeout_ms = timeout_ms, .rtol = -1, .atol = -1};
  tile_status s = tune_worker_open(&o, &c->problem, c->data_fd, c->data_bytes, &c->worker);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  for (int i = 0; i < KERNEL_N; i++) {
    c->data[i] = (float)i * 0.25f - 300;
    c->data[32768 / 4 + i] = c->out_first;
  }
  tune_worker_data_ready(c->worker);
}

void worker_case_close(struct worker_case *c) {
  tune_worker_close(c->worker);
  munmap(c->data, c->data_bytes);
  close(c->data_fd);
  tile_device_close(c->device);
  arena_destroy(c->arena);
}

static struct kernel_info info_copy(struct arena *a, const struct kernel_info *info) {
  struct kernel_info copy = *info;
  copy.name = arena_strdup(a, info->name);
  copy.target = arena_strdup(a, info->target);
  copy.params = arena_array(a, struct kernel_param, info->param_count);
  for (uint32_t i = 0; i < info->param_count; i++) {
    copy.params[i] = info->params[i];
    copy.params[i].name = arena_strdup(a, info->params[i].name);
  }
  return copy;
}

void worker_case_load(struct worker_case *c, uint32_t config, const char *kernel) {
  tile_kernel *k = NULL;
  struct jit_spec *spec = NULL;
  ck_assert_int_eq(tile_kernel_from_source(c->device, "k.tile", text, sizeof text - 1, kernel, &k),
                   TILE_OK);
  ck_assert_int_eq(tile_kernel_set_constant(k, "BLOCK", "256"), TILE_OK);
  tile_status s = jit_specialise(k, c->args, 3, NULL, &spec);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  struct str code = jit_spec_code(spec);
  struct tune_built b = {.config = config, .ok = true, .grid = {(KERNEL_N + 255) / 256, 1, 1}};
  b.info = info_copy(c->arena, jit_spec_info(spec));
  b.code = (struct str){arena_strndup(c->arena, "", 0), code.len};
  b.code.ptr = arena_dup(c->arena, code.ptr, code.len, 16);
  tile_kernel_close(k);
  if (config < COUNT_OF(c->built))
    c->built[config] = b;
  tune_worker_load(c->worker, &b);
}

void worker_case_load_again(struct worker_case *c, uint32_t config, uint32_t as) {
  struct tune_built b = c->built[as];
  b.config = config;
  tune_worker_load(c->worker, &b);
}

void worker_case_load_text(struct worker_case *c, uint32_t config, const char *ptx) {
  struct kernel_param *params = arena_array(c->arena, struct kernel_param, 1);
  params[0] = (struct kernel_param){
      .name = "out", .is_pointer = true, .dtype = DTYPE_F32, .divisible_by = 16};
  struct tune_built b = {.config = config, .ok = true, .grid = {1, 1, 1}};
  b.info = (struct kernel_info){
      .name = "k", .target = "sm_90a", .num_warps = 4, .param_count = 1, .params = params};
  b.code = str_from(arena_strdup(c->arena, ptx));
  tune_worker_load(c->worker, &b);
}

struct tune_reply worker_case_reply(struct worker_case *c) {
  struct tune_reply r = {0};
  for (int i = 0; i < 600; i++)
    if (tune_worker_next(c->worker, 100, &r))
      return r;
  ck_abort_msg("no reply in a minute");
  return r;
}

tile_device_properties worker_case_device(struct worker_case *c) {
  tile_device_properties p;
  tile_status s = TILE_OK;
  for (int i = 0; i < 6000 && s == TILE_OK; i++) {
    struct tune_reply r;
    if (tune_worker_device(c->worker, &p, &s))
      return p;
    ck_assert(!tune_worker_next(c->worker, 10, &r));
  }
  ck_abort_msg("no device: %s", tile_error_message());
  return p;
}
