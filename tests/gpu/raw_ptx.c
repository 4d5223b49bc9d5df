/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime on a real driver without the compiler: loads and launches hand-written PTX through
 * runtime/runtime_internal.h; checks resources, loading errors, and finally an illegal access,
 * after which every call must fail with a message. */
#include "runtime/runtime_internal.h"
#include "support.h"

#include <time.h>

/* out[i] = x[i] + scale for i < n; one thread per element. */
static const char ptx[] =
    ".version 7.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".visible .entry add_scalar(.param .u64 x, .param .u64 out, .param .f32 scale, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r<6>;\n"
    "  .reg .f32 %f<3>;\n"
    "  .reg .b64 %d<5>;\n"
    "  ld.param.u64 %d0, [x];\n"
    "  ld.param.u64 %d1, [out];\n"
    "  ld.param.f32 %f0, [scale];\n"
    "  ld.param.u32 %r0, [n];\n"
    "  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %ntid.x;\n"
    "  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "  setp.ge.u32 %p, %r4, %r0;\n"
    "  @%p bra done;\n"
    "  mul.wide.u32 %d2, %r4, 4;\n"
    "  add.u64 %d3, %d0, %d2;\n"
    "  add.u64 %d4, %d1, %d2;\n"
    "  ld.global.f32 %f1, [%d3];\n"
    "  add.f32 %f2, %f1, %f0;\n"
    "  st.global.f32 [%d4], %f2;\n"
    "done:\n"
    "  ret;\n"
    "}\n";

static struct kernel_param params[] = {
    {.name = "x", .is_pointer = true, .dtype = DTYPE_F32, .divisible_by = 1},
    {.name = "out", .is_pointer = true, .dtype = DTYPE_F32, .divisible_by = 1},
    {.name = "scale", .dtype = DTYPE_F32, .divisible_by = 1},
    {.name = "n", .dtype = DTYPE_U32, .divisible_by = 1},
};

enum { N = 100003, LAUNCHES = 10000 };

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void loading_fails(tile_device *device, const struct kernel_info *info) {
  struct module *m = NULL;
  tile_status s = module_load(device, "no ptx at all", 13, info, &m);
  REQUIRE(s != TILE_OK && m == NULL);
  REQUIRE(strstr(tile_error_message(), "add_scalar") != NULL);
  struct kernel_info other = *info;
  other.name = "not_there";
  EXPECT(module_load(device, ptx, sizeof ptx - 1, &other, &m), TILE_NOT_FOUND);
  other = *info;
  other.shared_bytes = 1 << 20;
  EXPECT(module_load(device, ptx, sizeof ptx - 1, &other, &m), TILE_LIMIT);
}

int main(void) {
  tile_device *device = open_gpu();
  if (device_is_cpu(device)) {
    printf("skipped: PTX runs on GPUs\n");
    return SKIPPED;
  }
  tile_device_properties p;
  TRY(tile_device_get_properties(device, &p));
  printf("%s, %s, %d multiprocessors, driver %d, %.1f GB, L2 %.0f MB, shared %zu, %.0f GB/s\n",
         p.name, p.target, p.multiprocessors, p.driver_version, (double)p.memory * 1e-9,
         (double)p.l2_bytes * 1e-6, p.shared_limit, p.memory_gbs);
  struct kernel_info info = {.name = "add_scalar",
                             .target = "sm_80",
                             .num_warps = 4,
                             .shared_bytes = 100 << 10,
                             .param_count = 4,
                             .params = params};
  loading_fails(device, &info);

  struct module *m = NULL;
  int registers = 0, local = -1;
  TRY(module_load(device, ptx, sizeof ptx - 1, &info, &m));
  TRY(module_resources(m, &registers, &local));
  REQUIRE(registers > 0 && local == 0);
  float *x = malloc(N * sizeof(float)), *out = malloc(N * sizeof(float));
  REQUIRE(x && out);
  for (unsigned i = 0; i < N; i++)
    x[i] = sample(i);
  float *dx = device_buffer(device, x, N * sizeof(float));
  float *dout = device_buffer(device, NULL, N * sizeof(float));
  float scale = 0.25f;
  uint32_t n = N;
  void *values[] = {&dx, &dout, &scale, &n};
  tile_stream *stream = NULL;
  tile_event *start = NULL, *stop = NULL;
  float ms = -1;
  TRY(tile_stream_create(device, &stream));
  TRY(tile_event_create(device, &start));
  TRY(tile_event_create(device, &stop));
  TRY(tile_event_record(device, start, stream));
  TRY(module_launch(m, stream, (tile_grid){(N + 127) / 128, 1, 1}, values, 0));
  TRY(tile_event_record(device, stop, stream));
  TRY(tile_event_elapsed(start, stop, &ms));
  REQUIRE(ms > 0.0f && ms < 1000.0f);
  TRY(tile_copy_to_host(device, stream, out, dout, N * sizeof(float)));
  for (unsigned i = 0; i < N; i++)
    REQUIRE(out[i] == (float)((double)x[i] + 0.25));

  n = 0;
  double before = now_us();
  for (int i = 0; i < LAUNCHES; i++) {
    TRY(module_launch(m, NULL, (tile_grid){1, 1, 1}, values, 0));
    if (i % 100 == 99)
      TRY(tile_stream_synchronize(device, NULL));
  }
  printf("raw launch with its share of waiting %.2f us\n", (now_us() - before) / LAUNCHES);

  /* An illegal access: reported by the wait and by every later call. */
  float *nowhere = (float *)(uintptr_t)16;
  n = N;
  values[0] = &nowhere;
  TRY(module_launch(m, NULL, (tile_grid){1, 1, 1}, values, 0));
  EXPECT(tile_stream_synchronize(device, NULL), TILE_LAUNCH_FAILED);
  REQUIRE(strstr(tile_error_message(), "outside its buffers") != NULL);
  void *more = NULL;
  EXPECT(tile_malloc(device, 16, &more), TILE_LAUNCH_FAILED);
  tile_event_destroy(start);
  tile_event_destroy(stop);
  tile_stream_destroy(stream);
  module_destroy(m);
  tile_device_close(device);
  free(x);
  free(out);
  printf("right\n");
  return 0;
}
