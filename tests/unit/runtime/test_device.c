// SPDX-License-Identifier: Apache-2.0
// Device names, arguments, status texts, and memory, streams and events of the CPU device.
#include "runtime/runtime_internal.h"
#include "suites.h"
#include "tile/version.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static tile_device *device;

static void open_cpu(void) { ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK); }
static void close_cpu(void) { tile_device_close(device); }

START_TEST(names_of_devices) {
  static const char *const wrong[] = {"gpu",           "cuda:", "cuda:x", "cuda1",
                                      "cuda:99999999", "",      "CPU"};
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    tile_device *d = NULL;
    ck_assert_int_eq(tile_device_open(wrong[i], &d), TILE_INVALID_ARGUMENT);
    ck_assert_ptr_null(d);
    ck_assert_ptr_nonnull(strstr(tile_error_message(), wrong[i]));
  }
  ck_assert_int_eq(tile_device_open("cpu", NULL), TILE_INVALID_ARGUMENT);
}
END_TEST

START_TEST(cpu_properties) {
  tile_device_properties p;
  ck_assert_int_eq(tile_device_get_properties(device, &p), TILE_OK);
  ck_assert(p.is_cpu);
  ck_assert_str_eq(p.target, "cpu");
  ck_assert_str_eq(device_target(device), "cpu");
  ck_assert_int_gt(p.multiprocessors, 0);
  ck_assert(p.memory > (1u << 20));
  ck_assert(p.name[0] != '\0');
}
END_TEST

START_TEST(status_names_and_version) {
  for (int s = TILE_OK; s <= TILE_INTERNAL; s++)
    ck_assert_str_ne(tile_status_name((tile_status)s), "unknown status");
  ck_assert_str_eq(tile_status_name((tile_status)99), "unknown status");
  ck_assert_str_eq(tile_version(), TILE_VERSION_STRING);
}
END_TEST

START_TEST(message_may_quote_itself_and_is_cut) {
  status_set(TILE_LIMIT, "inner");
  status_set(TILE_LIMIT, "outer: %s", tile_error_message());
  ck_assert_str_eq(tile_error_message(), "outer: inner");
  char *longer = malloc(20001);
  memset(longer, 'x', 20000);
  longer[20000] = '\0';
  status_set(TILE_LIMIT, "%s", longer);
  size_t n = strlen(tile_error_message());
  ck_assert(n > 1000 && n < 20000);
  ck_assert_str_eq(tile_error_message() + n - 3, "...");
  free(longer);
}
END_TEST

static void *other_thread(void *ret) {
  *(bool *)ret = tile_error_message()[0] == '\0';
  status_set(TILE_LIMIT, "theirs");
  return NULL;
}

START_TEST(messages_are_per_thread) {
  bool was_empty = false;
  pthread_t t;
  status_set(TILE_LIMIT, "mine");
  pthread_create(&t, NULL, other_thread, &was_empty);
  pthread_join(t, NULL);
  ck_assert(was_empty);
  ck_assert_str_eq(tile_error_message(), "mine");
}
END_TEST

START_TEST(buffers_are_aligned_and_poisoned) {
  unsigned char *p = NULL;
  ck_assert_int_eq(tile_malloc(device, 1000, (void **)&p), TILE_OK);
  ck_assert_uint_eq((uintptr_t)p % 256, 0);
  for (int i = 0; i < 1000; i++)
    ck_assert_uint_eq(p[i], 0xff);
  ck_assert_int_eq(tile_free(device, p), TILE_OK);
  ck_assert_int_eq(tile_free(device, NULL), TILE_OK);
  void *empty = NULL;
  ck_assert_int_eq(tile_malloc(device, 0, &empty), TILE_OK);
  ck_assert_ptr_nonnull(empty);
  ck_assert_int_eq(tile_free(device, empty), TILE_OK);
}
END_TEST

START_TEST(freeing_what_is_no_buffer) {
  char *p = NULL;
  int local;
  ck_assert_int_eq(tile_malloc(device, 100, (void **)&p), TILE_OK);
  ck_assert_int_eq(tile_free(device, p + 1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_free(device, &local), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_free(device, p), TILE_OK);
  ck_assert_int_eq(tile_free(device, p), TILE_INVALID_ARGUMENT);
}
END_TEST

START_TEST(buffers_are_found_by_any_address_in_them) {
  char *a = NULL, *b = NULL;
  void *base = NULL;
  size_t size = 0;
  char name[32];
  ck_assert_int_eq(tile_malloc(device, 100, (void **)&a), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, 7, (void **)&b), TILE_OK);
  ck_assert_int_eq(device_allocation(device, a + 99, &base, &size), TILE_OK);
  ck_assert(base == a && size == 100);
  ck_assert_int_eq(device_allocation(device, b, &base, &size), TILE_OK);
  ck_assert(base == b && size == 7);
  ck_assert_int_eq(device_allocation(device, a + 100, &base, &size), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "tile_malloc"));
  ck_assert_int_eq(device_allocation(device, NULL, &base, &size), TILE_INVALID_ARGUMENT);
  device_open_name(device, name);
  ck_assert_str_eq(name, "cpu");
}
END_TEST

START_TEST(too_much_memory) {
  void *p = NULL;
  ck_assert_int_eq(tile_malloc(device, SIZE_MAX, &p), TILE_OUT_OF_DEVICE_MEMORY);
  ck_assert_int_eq(tile_malloc(device, (size_t)1 << 60, &p), TILE_OUT_OF_DEVICE_MEMORY);
  ck_assert_ptr_null(p);
}
END_TEST

START_TEST(many_buffers_in_any_order) {
  enum { N = 300 };
  void *p[N];
  for (int i = 0; i < N; i++)
    ck_assert_int_eq(tile_malloc(device, (size_t)(i * 37 % 1000) + 1, &p[i]), TILE_OK);
  for (int i = 0; i < N; i++) // 7 and 300 share no factor: every index once
    ck_assert_int_eq(tile_free(device, p[i * 7 % N]), TILE_OK);
}
END_TEST

START_TEST(copies_stay_in_their_buffers) {
  char *a = NULL, *b = NULL, text[16] = "fifteen letters", back[16] = "";
  tile_malloc(device, 16, (void **)&a);
  tile_malloc(device, 16, (void **)&b);
  ck_assert_int_eq(tile_copy_to_device(device, NULL, a, text, 16), TILE_OK);
  ck_assert_int_eq(tile_copy_on_device(device, NULL, b, a, 16), TILE_OK);
  ck_assert_int_eq(tile_copy_to_host(device, NULL, back, b, 16), TILE_OK);
  ck_assert_str_eq(back, text);
  ck_assert_int_eq(tile_memset(device, NULL, a, 'z', 3), TILE_OK);
  ck_assert_int_eq(memcmp(a, "zzzteen", 7), 0);
  ck_assert_int_eq(tile_copy_to_device(device, NULL, a, text, 17), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_copy_to_device(device, NULL, a + 10, text, 7), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_copy_to_host(device, NULL, back, b + 15, 2), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_copy_on_device(device, NULL, a, b, 17), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_memset(device, NULL, a + 1, 0, 16), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_copy_to_device(device, NULL, NULL, text, 1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_copy_to_device(device, NULL, NULL, NULL, 0), TILE_OK);
  ck_assert_int_eq(tile_copy_to_device(NULL, NULL, a, text, 1), TILE_INVALID_ARGUMENT);
  tile_free(device, a);
  tile_free(device, b);
}
END_TEST

START_TEST(streams_and_events) {
  tile_device *other = NULL;
  tile_stream *s = NULL;
  tile_event *e0 = NULL, *e1 = NULL;
  float ms = -1;
  ck_assert_int_eq(tile_device_open("cpu", &other), TILE_OK);
  ck_assert_int_eq(tile_stream_create(device, &s), TILE_OK);
  ck_assert_int_eq(tile_stream_synchronize(device, s), TILE_OK);
  ck_assert_int_eq(tile_stream_synchronize(other, s), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_event_create(device, &e0), TILE_OK);
  ck_assert_int_eq(tile_event_create(device, &e1), TILE_OK);
  ck_assert_int_eq(tile_event_elapsed(e0, e1, &ms), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_event_record(device, e0, s), TILE_OK);
  ck_assert_int_eq(tile_event_record(device, e1, s), TILE_OK);
  ck_assert_int_eq(tile_event_record(other, e1, NULL), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_event_elapsed(e0, e1, &ms), TILE_OK);
  ck_assert(ms >= 0.0f && ms < 1000.0f);
  tile_event_destroy(e0);
  tile_event_destroy(e1);
  tile_stream_destroy(s);
  tile_stream_destroy(NULL);
  tile_event_destroy(NULL);
  tile_device_close(other);
  tile_device_close(NULL);
}
END_TEST

START_TEST(arguments) {
  int x;
  tile_arg p = tile_arg_pointer(&x, TILE_F16), i = tile_arg_i32(-5), f = tile_arg_f32(0.1f);
  ck_assert(p.is_pointer && p.type == TILE_F16 && p.value.pointer == &x);
  ck_assert(!i.is_pointer && i.type == TILE_I32 && i.value.integer == -5);
  ck_assert(f.type == TILE_F32 && f.value.real == (double)0.1f);
  ck_assert_int_eq(tile_arg_i64(INT64_MIN).value.integer, INT64_MIN);
  ck_assert(tile_arg_f64(0.1).value.real == 0.1);
  ck_assert_int_eq(tile_arg_int(TILE_U8, 255).type, TILE_U8);
}
END_TEST

Suite *suite_device(void) {
  Suite *s = suite_create("device");
  TCase *plain = tcase_create("names and texts");
  tcase_add_test(plain, names_of_devices);
  tcase_add_test(plain, status_names_and_version);
  tcase_add_test(plain, message_may_quote_itself_and_is_cut);
  tcase_add_test(plain, messages_are_per_thread);
  tcase_add_test(plain, arguments);
  suite_add_tcase(s, plain);
  TCase *host = tcase_create("host memory");
  tcase_add_checked_fixture(host, open_cpu, close_cpu);
  tcase_add_test(host, cpu_properties);
  tcase_add_test(host, buffers_are_aligned_and_poisoned);
  tcase_add_test(host, freeing_what_is_no_buffer);
  tcase_add_test(host, buffers_are_found_by_any_address_in_them);
  tcase_add_test(host, too_much_memory);
  tcase_add_test(host, many_buffers_in_any_order);
  tcase_add_test(host, copies_stay_in_their_buffers);
  tcase_add_test(host, streams_and_events);
  suite_add_tcase(s, host);
  return s;
}
