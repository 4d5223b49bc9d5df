// SPDX-License-Identifier: Apache-2.0
// .npy files: round trips, headers of other writers, malformed and malicious files.
#include "base/file.h"
#include "suites.h"
#include "tools/launch/npy_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[32], path[64];

static void setup(void) {
  session_setup();
  strcpy(folder, "test-npy-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/x.npy", folder);
}

static void teardown(void) {
  unlink(path);
  rmdir(folder);
  session_teardown();
}

static bool read_it(enum dtype as, struct array *ret) {
  return npy_read(session.a, session.diag, SPAN_NONE, path, as, ret);
}

// A file of the given version with this header text (padded by one blank and a newline) and data.
static void write_file(int version, const char *header, const void *data, size_t bytes) {
  struct strbuf out = {0};
  size_t length = strlen(header) + 2;
  strbuf_put(&out, "\x93NUMPY", 6);
  strbuf_putc(&out, (char)version);
  strbuf_putc(&out, 0);
  for (int i = 0; i < (version == 1 ? 2 : 4); i++)
    strbuf_putc(&out, (char)(length >> (8 * i)));
  strbuf_printf(&out, "%s \n", header);
  strbuf_put(&out, data, bytes);
  ck_assert_int_eq(file_write(path, out.ptr, out.len), 0);
  strbuf_finish(&out);
}

static void refuse(enum diag_code code, const char *what) {
  struct array x;
  ck_assert_msg(!read_it(DTYPE_NONE, &x), "accepted: %s", what);
  enum diag_code got = session_error();
  ck_assert_msg(got == code, "%s: %s", what, diag_code_name(got));
}

START_TEST(reads_back) {
  for (unsigned t = 0; t < DTYPE_COUNT; t++)
    for (unsigned rank = 0; rank <= ARRAY_MAX_RANK; rank++) {
      struct array x = {.dtype = (enum dtype)t, .rank = rank, .count = 1}, y;
      for (unsigned i = 0; i < rank; i++) {
        x.shape[i] = i + 1 < 4 ? i + 1 : 1;
        x.count *= x.shape[i];
      }
      size_t bytes = x.count * dtype_bytes(x.dtype);
      x.data = malloc(bytes);
      for (size_t i = 0; i < bytes; i++)
        ((char *)x.data)[i] = (char)(i * 7 + t);
      ck_assert_int_eq(npy_write(path, &x), 0);
      ck_assert(read_it(x.dtype, &y));
      ck_assert_int_eq((int)y.dtype, (int)x.dtype);
      ck_assert_uint_eq(y.rank, rank);
      ck_assert_mem_eq(y.shape, x.shape, rank * sizeof x.shape[0]);
      ck_assert_mem_eq(y.data, x.data, bytes);
      array_finish(&x);
      array_finish(&y);
    }
}
END_TEST

START_TEST(elements_are_aligned_in_the_file) {
  float value = 1;
  struct array x = {.dtype = DTYPE_F32, .rank = 1, .shape = {1}, .count = 1, .data = &value};
  struct str text;
  ck_assert_int_eq(npy_write(path, &x), 0);
  ck_assert_int_eq(file_read(session.a, path, 1000, &text), 0);
  ck_assert_uint_eq(text.len % 64, 4);
  ck_assert_int_eq(text.ptr[text.len - 5], '\n');
  ck_assert_int_eq(npy_write("no/such/folder.npy", &x), ENOENT);
}
END_TEST

START_TEST(other_spellings) {
  static const char *const headers[] = {
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
      "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<f4\"}",
      "{'fortran_order': True, 'descr': '<f4', 'shape': (2,)}", // no difference with one dimension
      "{ 'descr' : '=f4' , 'fortran_order' : False , 'shape' : ( 2 , ) , }"};
  float data[2] = {1.5f, -2};
  for (size_t i = 0; i < COUNT_OF(headers); i++)
    for (int version = 1; version <= 3; version++) {
      struct array x;
      write_file(version, headers[i], data, sizeof data);
      ck_assert_msg(read_it(DTYPE_NONE, &x), "%s", headers[i]);
      ck_assert_uint_eq(x.count, 2);
      ck_assert_mem_eq(x.data, data, sizeof data);
      array_finish(&x);
    }
}
END_TEST

START_TEST(bits_of_types_numpy_lacks) {
  static const struct {
    const char *descr;
    enum dtype as, got;
    bool ok;
  } rows[] = {
      {"<u2", DTYPE_BF16, DTYPE_BF16, true},       {"<V2", DTYPE_BF16, DTYPE_BF16, true},
      {"|u1", DTYPE_F8E5, DTYPE_F8E5, true},       {"|V1", DTYPE_F8E4NV, DTYPE_F8E4NV, true},
      {"|u1", DTYPE_F8E4B15, DTYPE_F8E4B15, true}, {"<u2", DTYPE_NONE, DTYPE_U16, true},
      {"<u2", DTYPE_F16, DTYPE_U16, true},         {"|V2", DTYPE_F16, DTYPE_NONE, false},
      {"|u1", DTYPE_BF16, DTYPE_U8, true},         {"<f2", DTYPE_BF16, DTYPE_F16, true}};
  char data[8] = {0};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    struct array x;
    char header[100];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (4,)}",
             rows[i].descr);
    bool one = strchr(rows[i].descr, '1') != NULL;
    write_file(1, header, data, one ? 4 : 8);
    ck_assert_msg(read_it(rows[i].as, &x) == rows[i].ok, "%s", rows[i].descr);
    if (rows[i].ok) {
      ck_assert_int_eq((int)x.dtype, (int)rows[i].got);
      array_finish(&x);
    } else {
      ck_assert_int_eq((int)session_error(), (int)E0713);
    }
  }
}
END_TEST

START_TEST(malformed_headers) {
  static const char *const headers[] = {
      "",
      "{}",
      "[]",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '<f4', 'shape': (2,)}",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
      "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
      "{'descr': '<f4', 'fortran_order': Falsey, 'shape': (2,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': [2]}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,",
      "{'descr: '<f4', 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<f\\x34', 'fortran_order': False, 'shape': (2,)}",
      "{'descr': 4, 'fortran_order': False, 'shape': (2,)}",
      "{'descr': 'f4', 'fortran_order': False, 'shape': (2,)}x",
      "{'descr': '', 'fortran_order': False, 'shape': (2,)}",
      "{'descr' '<f4', 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", // too few elements
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", // too many
      "{'descr': '<f4', 'fortran_order': False, 'shape': ()}",
      "__import__('os').system('true')"};
  float data[2] = {1, 2};
  for (size_t i = 0; i < COUNT_OF(headers); i++) {
    write_file(1, headers[i], data, sizeof data);
    refuse(E0712, headers[i]);
  }
}
END_TEST

START_TEST(unsupported_kinds) {
  static const char *const headers[] = {
      "{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<U2', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2)}"};
  float data[2] = {1, 2};
  for (size_t i = 0; i < COUNT_OF(headers); i++) {
    write_file(1, headers[i], data, sizeof data);
    refuse(E0713, headers[i]);
  }
  write_file(4, headers[0], data, sizeof data);
  refuse(E0713, "version 4.0");
}
END_TEST

START_TEST(absurd_sizes) {
  float data[2] = {1, 2};
  write_file(
      1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4194305, 4194305, 211106198978564)}",
      data, sizeof data);
  refuse(E0901, "a product that wraps around");
  write_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 18446744073709551615)}",
             data, 0);
  refuse(E0901, "hidden by an extent of 0");
  write_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (17179869184,)}", data, 8);
  refuse(E0712, "64 GiB promised"); // and not allocated
}
END_TEST

START_TEST(every_prefix_is_refused) {
  float data[3] = {1, 2, 3};
  struct array x = {.dtype = DTYPE_F32, .rank = 1, .shape = {3}, .count = 3, .data = data};
  struct str whole;
  ck_assert_int_eq(npy_write(path, &x), 0);
  ck_assert_int_eq(file_read(session.a, path, 1000, &whole), 0);
  for (size_t n = 0; n < whole.len; n++) {
    ck_assert_int_eq(file_write(path, whole.ptr, n), 0);
    refuse(E0712, "a prefix");
  }
}
END_TEST

// Any single changed byte of the header gives an error or an array, never a crash.
START_TEST(damaged_bytes) {
  double data[2] = {1, 2};
  struct array x = {.dtype = DTYPE_F64, .rank = 2, .shape = {1, 2}, .count = 2, .data = data};
  struct str whole;
  ck_assert_int_eq(npy_write(path, &x), 0);
  ck_assert_int_eq(file_read(session.a, path, 1000, &whole), 0);
  unsigned refused = 0;
  for (size_t i = 0; i < whole.len - sizeof data; i++)
    for (int bit = 0; bit < 8; bit++) {
      struct array y;
      char *copy = arena_dup(session.a, whole.ptr, whole.len, 1);
      copy[i] = (char)(copy[i] ^ (1 << bit));
      ck_assert_int_eq(file_write(path, copy, whole.len), 0);
      if (read_it(DTYPE_NONE, &y)) {
        ck_assert_uint_eq(y.count * dtype_bytes(y.dtype), sizeof data);
        array_finish(&y);
      } else {
        session_error();
        refused++;
      }
    }
  ck_assert_uint_gt(refused, 300);
}
END_TEST

START_TEST(unreadable) {
  unlink(path);
  refuse(E0710, "missing");
  struct array x;
  ck_assert(!npy_read(session.a, session.diag, SPAN_NONE, folder, DTYPE_NONE, &x));
  ck_assert_int_eq((int)session_error(), (int)E0710);
}
END_TEST

TCase *npy_tests(void) {
  TCase *t = tcase_create("npy");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, reads_back);
  tcase_add_test(t, elements_are_aligned_in_the_file);
  tcase_add_test(t, other_spellings);
  tcase_add_test(t, bits_of_types_numpy_lacks);
  tcase_add_test(t, malformed_headers);
  tcase_add_test(t, unsupported_kinds);
  tcase_add_test(t, absurd_sizes);
  tcase_add_test(t, every_prefix_is_refused);
  tcase_add_test(t, damaged_bytes);
  tcase_add_test(t, unreadable);
  tcase_set_timeout(t, 60);
  return t;
}
