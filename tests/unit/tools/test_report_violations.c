// SPDX-License-Identifier: Apache-2.0
// Violations as diagnostics, including those that no kernel of this compiler shows.
#include "suites.h"
#include "tools/launch/report_violations.h"

#include <stdio.h>
#include <string.h>

static const struct source *kernel_source(void) {
  return source_create(session.a, "sum.tile", str_from("def f(x):\n  s = sum(x)\n  store(p, s)\n"));
}

static struct cpu_violation at_sum(enum cpu_violation_kind kind) {
  return (struct cpu_violation){.kind = kind,
                                .location = {"sum.tile", 2, 7},
                                .param = -1,
                                .access = CPU_LOAD,
                                .element = 12,
                                .elements = 256,
                                .program_id = {1, 2, 3},
                                .thread_id = 9,
                                .other_thread = 8,
                                .other_access = CPU_STORE,
                                .other_location = {"sum.tile", 3, 3}};
}

START_TEST(race) {
  struct cpu_violation v = at_sum(CPU_SHARED_RACE);
  violation_report(session.diag, kernel_source(), &v, NULL, NULL);
  session_expect("sum.tile:2:7: error: race in shared memory: no barrier between two accesses "
                 "[E0805]\n"
                 " 2 |   s = sum(x)\n"
                 "   |       ^ program (1, 2, 3): thread 9 reads byte 12\n"
                 " 3 |   store(p, s)\n"
                 "   |   ~ thread 8 writes it\n");
}
END_TEST

START_TEST(race_of_one_location_with_itself) {
  struct cpu_violation v = at_sum(CPU_SHARED_RACE);
  v.other_location = v.location;
  v.access = CPU_ATOMIC;
  violation_report(session.diag, kernel_source(), &v, NULL, NULL);
  session_expect("sum.tile:2:7: error: race in shared memory: no barrier between two accesses "
                 "[E0805]\n"
                 " 2 |   s = sum(x)\n"
                 "   |       ^ program (1, 2, 3): thread 9 changes atomically byte 12\n"
                 "   = note: thread 8 writes it, at the same location\n");
}
END_TEST

START_TEST(unwritten) {
  struct cpu_violation v = at_sum(CPU_SHARED_UNWRITTEN);
  violation_report(session.diag, kernel_source(), &v, NULL, NULL);
  session_expect("sum.tile:2:7: error: shared memory is read that nothing wrote [E0806]\n"
                 " 2 |   s = sum(x)\n"
                 "   |       ^ program (1, 2, 3), thread 9 reads byte 12\n");
}
END_TEST

START_TEST(outside) {
  struct cpu_violation v = at_sum(CPU_SHARED_OUTSIDE);
  v.element = 256;
  v.location.file = "std.tile"; // not the source at hand
  violation_report(session.diag, kernel_source(), &v, NULL, NULL);
  ck_assert_uint_eq(diag_first_error_code(session.diag), E0807);
  session_error();
}
END_TEST

START_TEST(copy_under_way) {
  struct cpu_violation v = at_sum(CPU_SHARED_COPYING);
  v.other_access = CPU_COPY;
  violation_report(session.diag, kernel_source(), &v, NULL, NULL);
  session_expect("sum.tile:2:7: error: shared memory is touched while a copy to it is under way "
                 "[E0809]\n"
                 " 2 |   s = sum(x)\n"
                 "   |       ^ program (1, 2, 3): thread 9 reads byte 12\n"
                 " 3 |   store(p, s)\n"
                 "   |   ~ thread 8 copies to it and has not waited\n");
}
END_TEST

START_TEST(copy_from_a_misaligned_address) {
  struct cpu_violation v = at_sum(CPU_MISALIGNED);
  v.access = CPU_COPY;
  v.elements = 16;
  violation_report(session.diag, kernel_source(), &v, NULL, NULL);
  session_expect(
      "sum.tile:2:7: error: asynchronous copy from a misaligned address [E0814]\n"
      " 2 |   s = sum(x)\n"
      "   |       ^ program (1, 2, 3), thread 9 copies from an address that is not a "
      "multiple of 16 bytes\n"
      "   = help: check `multiple_of` and `max_contiguous` on the way to this pointer\n");
}
END_TEST

START_TEST(divergence) {
  struct cpu_violation v = at_sum(CPU_DIVERGENCE);
  snprintf(v.message, sizeof v.message, "thread 9 waits at a barrier");
  violation_report(session.diag, kernel_source(), &v, NULL, NULL);
  session_expect("sum.tile:2:7: error: threads diverge: thread 9 waits at a barrier [E0808]\n"
                 " 2 |   s = sum(x)\n"
                 "   |       ^ program (1, 2, 3), thread 9\n"
                 " 3 |   store(p, s)\n"
                 "   |   ~ thread 8 waits here\n");
}
END_TEST

START_TEST(misaligned_store) {
  struct cpu_violation v = at_sum(CPU_MISALIGNED);
  v.access = CPU_STORE;
  v.elements = 8;
  v.instruction = "st.global.v2.b32 [%rd1], {%r1, %r2};";
  v.ptx_line = 35;
  violation_report(session.diag, kernel_source(), &v, NULL, NULL);
  session_expect(
      "sum.tile:2:7: error: access to a misaligned address [E0814]\n"
      " 2 |   s = sum(x)\n"
      "   |       ^ program (1, 2, 3), thread 9 writes an address that is not a multiple "
      "of 8 bytes\n"
      "   = note: instruction: st.global.v2.b32 [%rd1], {%r1, %r2}; (line 35 of the PTX)\n"
      "   = help: check `multiple_of` and `max_contiguous` on the way to this pointer\n");
}
END_TEST

START_TEST(simulated) {
  static const struct {
    enum cpu_violation_kind kind;
    enum diag_code code;
    const char *text;
  } rows[] = {{CPU_UNWRITTEN, E0815, "a value is used that nothing wrote: the address"},
              {CPU_ILLEGAL, E0816, "illegal instruction: the address"},
              {CPU_ENDLESS, E0817, "the launch does not end: the address"}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    struct cpu_violation v = at_sum(rows[i].kind);
    snprintf(v.message, sizeof v.message, "the address");
    struct diag_engine *diag = diag_engine_create(session.a);
    violation_report(diag, kernel_source(), &v, NULL, NULL);
    ck_assert_int_eq(diag_first_error_code(diag), rows[i].code);
    ck_assert_ptr_nonnull(strstr(diag_first_error(diag), rows[i].text));
  }
}
END_TEST

START_TEST(race_of_programs) {
  struct cpu_violation v = at_sum(CPU_GLOBAL_RACE);
  v.other_program[0] = 7;
  violation_report(session.diag, kernel_source(), &v, "x", NULL);
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
  struct cpu_violation v = at_sum(CPU_UNWRITTEN);
  snprintf(v.message, sizeof v.message, "the value stored");
  violation_report(session.diag, kernel_source(), &v, "x", NULL);
  session_expect(
      "sum.tile:2:7: error: a value is used that nothing wrote: the value stored [E0815]\n"
      " 2 |   s = sum(x)\n"
      "   |       ^ program (1, 2, 3), thread 9\n"
      " 3 |   store(p, s)\n"
      "   |   ~ element 12 of `x` was read here\n");
}
END_TEST

START_TEST(repetitions) {
  struct cpu_violation a = at_sum(CPU_SHARED_RACE), b = a;
  b.thread_id = 10;
  ck_assert(violation_repeats(&a, &b));
  b.location.col++;
  ck_assert(!violation_repeats(&a, &b));
  b = at_sum(CPU_SHARED_UNWRITTEN);
  ck_assert(!violation_repeats(&a, &b));
}
END_TEST

TCase *report_violations_tests(void) {
  TCase *t = tcase_create("violations");
  tcase_add_checked_fixture(t, session_setup, session_teardown);
  tcase_add_test(t, race);
  tcase_add_test(t, race_of_one_location_with_itself);
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
