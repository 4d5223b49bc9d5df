// SPDX-License-Identifier: Apache-2.0
// A simulated GPU as a device: names, memory with exact bounds, streams, events, modules, launches
// and recordings of handwritten PTX, tensor maps, and violations.
#include "runtime/runtime_internal.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tile_device *device;

static void open_simulated(void) {
  ck_assert_int_eq(tile_device_open("simulate:sm_90a", &device), TILE_OK);
}
static void close_simulated(void) { tile_device_close(device); }

// ---- the device ----

START_TEST(names) {
  static const char *const targets[] = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a"};
  for (size_t i = 0; i < COUNT_OF(targets); i++) {
    char name[32], again[32];
    tile_device *d;
    tile_device_properties p;
    snprintf(name, sizeof name, "simulate:%s", targets[i]);
    ck_assert_int_eq(tile_device_open(name, &d), TILE_OK);
    ck_assert_int_eq(tile_device_get_properties(d, &p), TILE_OK);
    ck_assert_str_eq(p.target, targets[i]);
    ck_assert(!p.is_cpu && p.shared_limit >= 99u << 10 && p.multiprocessors > 0);
    ck_assert_ptr_nonnull(strstr(p.name, "simulated"));
    ck_assert(!device_is_cpu(d) && device_checks(d) && !device_assembles(d));
    device_open_name(d, again);
    ck_assert_str_eq(again, name);
    tile_device_close(d);
  }
  static const char *const wrong[] = {"simulate", "simulate:", "simulate:host", "simulate:sm_70"};
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    tile_device *d = NULL;
    ck_assert_int_eq(tile_device_open(wrong[i], &d), TILE_INVALID_ARGUMENT);
    ck_assert_ptr_null(d);
  }
}
END_TEST

START_TEST(memory_has_bounds) {
  char *p, *q, bytes[100];
  void *base;
  size_t size;
  ck_assert_int_eq(tile_malloc(device, 100, (void **)&p), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, 100, (void **)&q), TILE_OK);
  ck_assert_int_eq(tile_copy_to_host(device, NULL, bytes, p, 100), TILE_OK);
  for (int i = 0; i < 100; i++)
    ck_assert_int_eq((unsigned char)bytes[i], 0xff);
  ck_assert_int_eq(tile_memset(device, NULL, p + 10, 7, 90), TILE_OK);
  ck_assert_int_eq(tile_copy_on_device(device, NULL, q, p + 9, 50), TILE_OK);
  ck_assert_int_eq(tile_copy_to_host(device, NULL, bytes, q, 50), TILE_OK);
  ck_assert((unsigned char)bytes[0] == 0xff && bytes[1] == 7 && bytes[49] == 7);
  ck_assert_int_eq(tile_memset(device, NULL, p + 10, 7, 91), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_copy_to_host(device, NULL, bytes, p - 1, 1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_copy_to_device(device, NULL, p + 100, bytes, 1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(device_allocation(device, p + 99, &base, &size), TILE_OK);
  ck_assert(base == p && size == 100);
  ck_assert_int_eq(device_allocation(device, p + 100, &base, &size), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_free(device, p + 1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_free(device, p), TILE_OK);
  ck_assert_int_eq(tile_free(device, p), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_copy_to_host(device, NULL, bytes, p, 1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_copy_to_host(device, NULL, bytes, q, 1), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, (size_t)1 << 50, (void **)&p), TILE_OUT_OF_DEVICE_MEMORY);
}
END_TEST

START_TEST(streams_and_events) {
  tile_stream *s = NULL;
  tile_event *a, *b;
  float ms;
  ck_assert_int_eq(tile_stream_from_handle(device, (void *)1, &s), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_stream_create(device, &s), TILE_OK);
  ck_assert_int_eq(tile_event_create(device, &a), TILE_OK);
  ck_assert_int_eq(tile_event_create(device, &b), TILE_OK);
  ck_assert_int_eq(tile_event_record(device, a, s), TILE_OK);
  ck_assert_int_eq(tile_event_record(device, b, s), TILE_OK);
  ck_assert_int_eq(tile_event_elapsed(a, b, &ms), TILE_OK);
  ck_assert(ms >= 0);
  ck_assert_int_eq(tile_stream_synchronize(device, s), TILE_OK);
  tile_event_destroy(a);
  tile_event_destroy(b);
  tile_stream_destroy(s);
}
END_TEST

// ---- launches ----

// x[32 * program + lane] += n
static const char add_text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                               ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"
                               "  .reg .b32 %r<8>;\n  .reg .b64 %d<4>;\n"
                               "  ld.param.b64 %d1, [p];\n  ld.param.b32 %r1, [n];\n"
                               "  mov.u32 %r2, %tid.x;\n  mov.u32 %r3, %ctaid.x;\n"
                               "  mad.lo.s32 %r4, %r3, 32, %r2;\n"
                               "  mul.wide.s32 %d2, %r4, 4;\n  add.s64 %d3, %d1, %d2;\n"
                               "  ld.global.b32 %r5, [%d3];\n  add.s32 %r6, %r5, %r1;\n"
                               "  st.global.b32 [%d3], %r6;\n  ret;\n}\n";
static struct kernel_param params[] = {{.name = "x", .is_pointer = true, .dtype = DTYPE_I32},
                                       {.name = "n", .dtype = DTYPE_I32}};
static const struct kernel_info info = {
    .name = "add", .target = "sm_80", .num_warps = 1, .param_count = 2, .params = params};

static void get(int32_t *host, const void *p, size_t count) {
  ck_assert_int_eq(tile_copy_to_host(device, NULL, host, p, count * sizeof *host), TILE_OK);
}

START_TEST(launches) {
  struct module *m;
  void *p;
  int32_t n = 5, host[64];
  ck_assert_int_eq(module_load(device, add_text, strlen(add_text), &info, &m), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, sizeof host, &p), TILE_OK);
  ck_assert_int_eq(tile_memset(device, NULL, p, 0, sizeof host), TILE_OK);
  void *values[] = {&p, &n};
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){2, 0, 0}, values, LAUNCH_CHECKED), TILE_OK);
  get(host, p, 64);
  for (int i = 0; i < 64; i++)
    ck_assert_int_eq(host[i], 5);
  module_destroy(m);
}
END_TEST

START_TEST(recordings) {
  struct module *m;
  tile_stream *s;
  tile_replay *r;
  void *p;
  int32_t n = 3, host[32];
  ck_assert_int_eq(module_load(device, add_text, strlen(add_text), &info, &m), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, sizeof host, &p), TILE_OK);
  ck_assert_int_eq(tile_stream_create(device, &s), TILE_OK);
  void *values[] = {&p, &n};
  ck_assert_int_eq(tile_replay_begin(device, s), TILE_OK);
  ck_assert_int_eq(tile_memset(device, s, p, 0, sizeof host), TILE_OK);
  ck_assert_int_eq(module_launch(m, s, (tile_grid){1, 1, 1}, values, 0), TILE_OK);
  ck_assert_int_eq(module_launch(m, s, (tile_grid){1, 1, 1}, values, 0), TILE_OK);
  ck_assert_int_eq(tile_replay_end(device, s, &r), TILE_OK);
  n = 100;
  ck_assert_int_eq(tile_replay_run(r, s), TILE_OK);
  get(host, p, 32);
  ck_assert(host[0] == 6 && host[31] == 6);
  tile_replay_destroy(r);
  tile_stream_destroy(s);
  module_destroy(m);
}
END_TEST

START_TEST(an_access_outside) {
  struct module *m;
  void *p;
  int32_t n = 1;
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_int_eq(module_load(device, add_text, strlen(add_text), &info, &m), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, 40 * sizeof n, &p), TILE_OK);
  ck_assert_int_eq(tile_memset(device, NULL, p, 0, 40 * sizeof n), TILE_OK);
  void *inside = (char *)p + 2 * sizeof n, *values[] = {&inside, &n};
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){2, 1, 1}, values, 0), TILE_CHECK_FAILED);
  ck_assert_ptr_nonnull(
      strstr(tile_error_message(), "out-of-bounds load from `x`: element 38 of 38"));
  ck_assert_uint_ge(device_violations(device, &v, &total), 1);
  ck_assert(v->kind == CPU_OUTSIDE && v->access == CPU_LOAD && v->param == 0);
  ck_assert(v->program_id[0] == 1 && v->thread_id == 6 && v->element == 38 && v->elements == 38);
  ck_assert_ptr_nonnull(strstr(v->instruction, "ld.global"));
  // A launch without violations clears them.
  inside = p;
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 1, 1}, values, 0), TILE_OK);
  ck_assert_uint_eq(device_violations(device, &v, &total), 0);
  ck_assert_uint_eq(total, 0);
  // Freed memory is outside all buffers.
  ck_assert_int_eq(tile_free(device, p), TILE_OK);
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 1, 1}, values, 0), TILE_CHECK_FAILED);
  module_destroy(m);
}
END_TEST

// ---- tensor maps ----

// Program (i, j) copies the block of 8 rows and 16 columns from row 8 * j and column 16 * i on to
// its 128 elements of `out`: a thread of the second warp, which the kernel has as producer, copies
// the block to shared memory by the map; the first warp waits for it.
static const char box_text[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry box(.param .u64 x, .param .u64 out, .param .u32 rows, .param .u32 columns,\n"
    "    .param .align 64 .b8 map[128])\n{\n"
    "  .reg .pred %p<4>;\n  .reg .b32 %r<16>;\n  .reg .b64 %d<8>;\n"
    "  .shared .align 128 .b8 tile[512];\n  .shared .align 8 .b64 bar;\n"
    "  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ctaid.y;\n"
    "  mov.b32 %r4, bar;\n  mov.b32 %r5, tile;\n  setp.eq.u32 %p1, %r1, 32;\n"
    "  @%p1 mbarrier.init.shared::cta.b64 [%r4], 1;\n"
    "  @%p1 fence.mbarrier_init.release.cluster;\n  bar.sync 0;\n"
    "  setp.ge.u32 %p2, %r1, 32;\n  @!%p2 bra CONSUMER;\n"
    "  mov.b64 %d1, map;\n  cvta.param.u64 %d1, %d1;\n"
    "  mul.lo.u32 %r6, %r2, 16;\n  mul.lo.u32 %r7, %r3, 8;\n"
    "  @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 512;\n"
    "  @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r5],"
    " [%d1, {%r6, %r7}], [%r4];\n  ret;\n"
    "CONSUMER:\n"
    "  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r4], 0;\n  @!%p3 bra CONSUMER;\n"
    "  ld.param.b64 %d2, [out];\n  mov.u32 %r8, %nctaid.x;\n  mad.lo.u32 %r9, %r3, %r8, %r2;\n"
    "  mad.lo.u32 %r9, %r9, 128, %r1;\n  mad.wide.u32 %d2, %r9, 4, %d2;\n"
    "  mad.lo.u32 %r10, %r1, 4, %r5;\n  mov.b32 %r11, 0;\n"
    "COPY:\n"
    "  ld.shared.b32 %r12, [%r10];\n  st.global.b32 [%d2], %r12;\n  add.u32 %r10, %r10, 128;\n"
    "  add.u64 %d2, %d2, 128;\n  add.u32 %r11, %r11, 1;\n  setp.lt.u32 %p3, %r11, 4;\n"
    "  @%p3 bra COPY;\n  ret;\n}\n";

enum { WIDTH = 20, HEIGHT = 11, BLOCKS = 4, BLOCK = 128 };

static struct kernel_param box_params[] = {{.name = "x", .is_pointer = true, .dtype = DTYPE_I32},
                                           {.name = "out", .is_pointer = true, .dtype = DTYPE_I32},
                                           {.name = "rows", .dtype = DTYPE_I32},
                                           {.name = "columns", .dtype = DTYPE_I32}};
static struct launch_term none[] = {{LAUNCH_CONST, 0}}, rows[] = {{LAUNCH_PARAM, 2}},
                          columns[] = {{LAUNCH_PARAM, 3}};
static struct kernel_map box_map = {.dtype = DTYPE_I32,
                                    .rank = 2,
                                    .base = 0,
                                    .offset = {1, none},
                                    .sizes = {{1, rows}, {1, columns}},
                                    .strides = {{1, columns}},
                                    .box = {8, 16}};
static const struct kernel_info box_info = {.name = "box",
                                            .target = "sm_90a",
                                            .num_warps = 1,
                                            .producer_warps = 1,
                                            .param_count = 4,
                                            .params = box_params,
                                            .map_count = 1,
                                            .maps = &box_map};

struct box_launch {
  struct module *m;
  void *x, *out, *values[4];
  int32_t rows, columns;
};

static void open_box(struct box_launch *b) {
  int32_t host[WIDTH * HEIGHT];
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    host[i] = 1000 + i;
  *b = (struct box_launch){.rows = HEIGHT, .columns = WIDTH};
  b->values[0] = &b->x, b->values[1] = &b->out;
  b->values[2] = &b->rows, b->values[3] = &b->columns;
  ck_assert_int_eq(module_load(device, box_text, strlen(box_text), &box_info, &b->m), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, sizeof host, &b->x), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, BLOCKS * BLOCK * 4, &b->out), TILE_OK);
  ck_assert_int_eq(tile_copy_to_device(device, NULL, b->x, host, sizeof host), TILE_OK);
}

// The blocks of a tensor with `rows` rows: zero outside of it.
static void check_blocks(const struct box_launch *b, int expected_rows) {
  int32_t host[BLOCKS * BLOCK];
  get(host, b->out, BLOCKS * BLOCK);
  for (int i = 0; i < BLOCKS * BLOCK; i++) {
    int row = i / (2 * BLOCK) * 8 + i % BLOCK / 16, column = i / BLOCK % 2 * 16 + i % 16;
    bool inside = row < expected_rows && column < WIDTH;
    ck_assert_int_eq(host[i], inside ? 1000 + row * WIDTH + column : 0);
  }
}

START_TEST(blocks_by_tensor_maps) {
  struct box_launch b;
  tile_grid grid = {2, 2, 1};
  open_box(&b);
  static const int sizes[] = {HEIGHT, 5, HEIGHT, 8};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    b.rows = sizes[i];
    ck_assert_int_eq(module_launch(b.m, NULL, grid, b.values, LAUNCH_CHECKED), TILE_OK);
    check_blocks(&b, sizes[i]);
  }
  b.columns = WIDTH + 1;
  ck_assert_int_eq(module_launch(b.m, NULL, grid, b.values, LAUNCH_CHECKED), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "stride 0 is 21 elements of 4 bytes"));
  // More rows than the buffer has.
  b.columns = WIDTH, b.rows = HEIGHT + 1;
  ck_assert_int_eq(module_launch(b.m, NULL, grid, b.values, LAUNCH_CHECKED), TILE_CHECK_FAILED);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "`x`"));
  module_destroy(b.m);
}
END_TEST

START_TEST(recorded_tensor_maps) {
  struct box_launch b;
  tile_stream *s;
  tile_replay *r;
  open_box(&b);
  ck_assert_int_eq(tile_stream_create(device, &s), TILE_OK);
  ck_assert_int_eq(tile_replay_begin(device, s), TILE_OK);
  ck_assert_int_eq(module_launch(b.m, s, (tile_grid){2, 2, 1}, b.values, 0), TILE_OK);
  ck_assert_int_eq(tile_replay_end(device, s, &r), TILE_OK);
  b.rows = 1;
  ck_assert_int_eq(module_launch(b.m, s, (tile_grid){2, 2, 1}, b.values, 0), TILE_OK);
  check_blocks(&b, 1);
  ck_assert_int_eq(tile_replay_run(r, s), TILE_OK);
  check_blocks(&b, HEIGHT);
  tile_replay_destroy(r);
  tile_stream_destroy(s);
  module_destroy(b.m);
}
END_TEST

START_TEST(maps_that_the_code_lacks) {
  struct module *m;
  struct kernel_info other = box_info;
  other.map_count = 0;
  ck_assert_int_eq(module_load(device, box_text, strlen(box_text), &other, &m), TILE_INTERNAL);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "5 parameters, not 4"));
}
END_TEST

START_TEST(what_does_not_load) {
  struct module *m;
  struct kernel_info other = info;
  char text[sizeof add_text];
  memcpy(text, add_text, sizeof text);
  memcpy(strstr(text, "mad.lo"), "mad.xx", 6);
  ck_assert_int_eq(module_load(device, text, strlen(text), &info, &m), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "mad.xx"));
  ck_assert_int_eq(module_load(device,
                               "\x7f"
                               "ELF and so on",
                               13, &info, &m),
                   TILE_INVALID_ARGUMENT);
  other.target = "sm_100a";
  ck_assert_int_eq(module_load(device, add_text, strlen(add_text), &other, &m),
                   TILE_INVALID_ARGUMENT);
  other = info;
  other.shared_bytes = 228u << 10;
  ck_assert_int_eq(module_load(device, add_text, strlen(add_text), &other, &m), TILE_LIMIT);
  other = info;
  other.name = "sub";
  ck_assert_int_eq(module_load(device, add_text, strlen(add_text), &other, &m), TILE_NOT_FOUND);
}
END_TEST

int main(void) {
  Suite *s = suite_create("simulated");
  TCase *c = tcase_create("device");
  tcase_add_checked_fixture(c, open_simulated, close_simulated);
  tcase_add_test(c, names);
  tcase_add_test(c, memory_has_bounds);
  tcase_add_test(c, streams_and_events);
  tcase_add_test(c, launches);
  tcase_add_test(c, recordings);
  tcase_add_test(c, an_access_outside);
  tcase_add_test(c, blocks_by_tensor_maps);
  tcase_add_test(c, recorded_tensor_maps);
  tcase_add_test(c, maps_that_the_code_lacks);
  tcase_add_test(c, what_does_not_load);
  suite_add_tcase(s, c);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
