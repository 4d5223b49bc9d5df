// SPDX-License-Identifier: Apache-2.0
// Findings of the host's checker and of simulations as diagnostics: those that no kernel of this
// compiler shows.
#include "suites.h"
#include "tools/findings.h"

#include <stdio.h>
#include <string.h>

static const struct source *kernel_source(void) {
  return source_create(session.a, "sum.tile", str_from("def f(x):\n  s = sum(x)\n  store(p, s)\n"));
}

static struct host_violation at_sum(enum host_finding kind) {
  return (struct host_violation){.kind = kind,
                                 .place = {"sum.tile", 2, 7},
                                 .param = -1,
                                 .access = HOST_LOAD,
                                 .element = 12,
                                 .elements = 256,
                                 .program_id = {1, 2, 3},
                                 .thread_id = 9,
                                 .other_thread = 8,
                                 .other_access = HOST_STORE,
                                 .other_place = {"sum.tile", 3, 3}};
}

START_TEST(race) {
  struct host_violation v = at_sum(HOST_SHARED_RACE);
  finding_report(session.diag, kernel_source(), &v, NULL);
  session_expect("sum.tile:2:7: error: race in shared memory: no barrier between two accesses "
                 "[E0805]\n"
                 " 2 |   s = sum(x)\n"
                 "   |       ^ program (1, 2, 3): thread 9 reads byte 12\n"
                 " 3 |   store(p, s)\n"
                 "   |   ~ thread 8 writes it\n");
}
END_TEST

START_TEST(race_of_one_place_with_itself) {
  struct host_violation v = at_sum(HOST_SHARED_RACE);
  v.other_place = v.place;
  v.access = HOST_ATOMIC;
  finding_report(session.diag, kernel_source(), &v, NULL);
  session_expect("sum.tile:2:7: error: race in shared memory: no barrier between two accesses "
                 "[E0805]\n"
                 " 2 |   s = sum(x)\n"
                 "   |       ^ program (1, 2, 3): thread 9 changes atomically byte 12\n"
                 "   = note: thread 8 writes it, at the same place\n");
}
END_TEST

START_TEST(unwritten) {
  struct host_violation v = at_sum(HOST_SHARED_UNWRITTEN);
  finding_report(session.diag, kernel_source(), &v, NULL);
  session_expect("sum.tile:2:7: error: shared memory is read that nothing wrote [E0806]\n"
                 " 2 |   s = sum(x)\n"
                 "   |       ^ program (1, 2, 3), thread 9 reads byte 12\n");
}
END_TEST

START_TEST(outside) {
  struct host_violation v = at_sum(HOST_SHARED_OUTSIDE);
  v.element = 256;
  v.place.file = "std.tile"; // not the source at hand
  finding_report(session.diag, kernel_source(), &v, NULL);
  ck_assert_uint_eq(diag_first_error_code(session.diag), E0807);
  session_error();
}
END_TEST

START_TEST(copy_under_way) {
  struct host_violation v = at_sum(HOST_SHARED_COPYING);
  v.other_access = HOST_COPY;
  finding_report(session.diag, kernel_source(), &v, NULL);
  session_expect("sum.tile:2:7: error: shared memory is touched while a copy to it is under way "
                 "[E0809]\n"
                 " 2 |   s = sum(x)\n"
                 "   |       ^ program (1, 2, 3): thread 9 reads byte 12\n"
                 " 3 |   store(p, s)\n"
                 "   |   ~ thread 8 copies to it and has not waited\n");
}
END_TEST

START_TEST(copy_from_a_misaligned_address) {
  struct host_violation v = at_sum(HOST_MISALIGNED);
  v.access = HOST_COPY;
  v.elements = 16;
  finding_report(session.diag, kernel_source(), &v, NULL);
  session_expect(
      "sum.tile:2:7: error: asynchronous copy from a misaligned address [E0814]\n"
      " 2 |   s = sum(x)\n"
      "   |       ^ program (1, 2, 3), thread 9 copies from an address that is not a "
      "multiple of 16 bytes\n"
      "   = help: check `multiple_of` and `max_contiguous` on the way to this pointer\n");
}
END_TEST

START_TEST(divergence) {
  struct host_violation v = at_sum(HOST_DIVERGENCE);
  snprintf(v.message, sizeof v.message, "thread 9 waits at a barrier");
  finding_report(session.diag, kernel_source(), &v, NULL);
  session_expect("sum.tile:2:7: error: threads diverge: thread 9 waits at a barrier [E0808]\n"
                 " 2 |   s = sum(x)\n"
                 "   |       ^ program (1, 2, 3), thread 9\n"
                 " 3 |   store(p, s)\n"
                 "   |   ~ thread 8 waits here\n");
}
END_TEST

START_TEST(misaligned_store) {
  struct host_violation v = at_sum(HOST_MISALIGNED);
  v.access = HOST_STORE;
  v.elements = 8;
  v.instruction = "st.global.v2.b32 [%rd1], {%r1, %r2};";
  finding_report(session.diag, kernel_source(), &v, NULL);
  session_expect(
      "sum.tile:2:7: error: access to a misaligned address [E0814]\n"
      " 2 |   s = sum(x)\n"
      "   |       ^ program (1, 2, 3), thread 9 writes an address that is not a multiple "
      "of 8 bytes\n"
      "   = note: instruction: st.global.v2.b32 [%rd1], {%r1, %r2};\n"
      "   = help: check `multiple_of` and `max_contiguous` on the way to this pointer\n");
}
END_TEST

START_TEST(simulated) {
  static const struct {
    enum host_finding kind;
    enum diag_code code;
    const char *text;
  } rows[] = {{HOST_UNWRITTEN, E0815, "a value is used that nothing wrote: the address"},
              {HOST_ILLEGAL, E0816, "illegal instruction: the address"},
              {HOST_ENDLESS, E0817, "the launch does not end: the address"}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    struct host_violation v = at_sum(rows[i].kind);
    snprintf(v.message, sizeof v.message, "the address");
    struct diag_engine *diag = diag_engine_create(session.a);
    finding_report(diag, kernel_source(), &v, NULL);
    ck_assert_int_eq(diag_first_error_code(diag), rows[i].code);
    ck_assert_ptr_nonnull(strstr(diag_first_error(diag), rows[i].text));
  }
}
END_TEST

START_TEST(race_of_programs) {
  struct host_violation v = at_sum(HOST_GLOBAL_RACE);
  v.other_program[0] = 7;
  finding_report(session.diag, kernel_source(), &v, "x");
  session_expect("sum.tile:2:7: error: race in global memory: nothing orders two accesses [E0818]\n"
                 " 2 |   s = sum(x)\n"
                 "   |       ^ program (1, 2, 3), thread 9 reads element 12 of `x`\n"
                 " 3 |   store(p, s)\n"
                 "   |   ~ program (7, 0, 0), thread 8 writes it\n"
                 "   = help: programs are ordered by atomic operations alone, threads of one by "
                 "`debug_barrier`\n");
}
END_TEST

START_TEST(unwritten_element) {
  struct host_violation v = at_sum(HOST_UNWRITTEN);
  snprintf(v.message, sizeof v.message, "the value stored");
  finding_report(session.diag, kernel_source(), &v, "x");
  session_expect(
      "sum.tile:2:7: error: a value is used that nothing wrote: the value stored [E0815]\n"
      " 2 |   s = sum(x)\n"
      "   |       ^ program (1, 2, 3), thread 9\n"
      " 3 |   store(p, s)\n"
      "   |   ~ element 12 of `x` was read here\n");
}
END_TEST

START_TEST(repetitions) {
  struct host_violation a = at_sum(HOST_SHARED_RACE), b = a;
  b.thread_id = 10;
  ck_assert(finding_repeats(&a, &b));
  b.place.col++;
  ck_assert(!finding_repeats(&a, &b));
  b = at_sum(HOST_SHARED_UNWRITTEN);
  ck_assert(!finding_repeats(&a, &b));
}
END_TEST

TCase *findings_tests(void) {
  TCase *t = tcase_create("findings");
  tcase_add_checked_fixture(t, session_setup, session_teardown);
  tcase_add_test(t, race);
  tcase_add_test(t, race_of_one_place_with_itself);
  tcase_add_test(t, unwritten);
  tcase_add_test(t, outside);
  tcase_add_test(t, copy_under_way);
  tcase_add_test(t, copy_from_a_misaligned_address);
  tcase_add_test(t, divergence);
  tcase_add_test(t, misaligned_store);
  tcase_add_test(t, simulated);
  tcase_add_test(t, race_of_programs);
  tcase_add_test(t, unwritten_element);
  tcase_add_test(t, repetitions);
  return t;
}
