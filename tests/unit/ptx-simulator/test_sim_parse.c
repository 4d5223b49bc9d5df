// SPDX-License-Identifier: Apache-2.0
// What the parser rejects, with the position, and that no malformed text crashes it.
#include "ptx_case.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(errors_of_bodies) {
  static const struct {
    const char *body, *text;
    unsigned line;
  } cases[] = {
      {"frobnicate.b32 %r3, %r4;", "unknown instruction 'frobnicate.b32'", 1},
      {"\nadd.rz.s32 %r3, %r4, %r5;", "unknown instruction 'add.rz.s32'", 2},
      {"ld.global.L7::x.b32 %r3, [%rd1];", "unknown modifier '.L7::x' of 'ld'", 1},
      {"ld.global %r3, [%rd1];", "lacks a modifier or type", 1},
      {"bar.sync.fast 0;", "unknown modifier '.fast' of 'bar'", 1},
      {"shfl.sync.ring.b32 %r3, %r4, 0, 31, -1;", "unknown modifier '.ring'", 1},
      {"mov.b32 %r64, 0;", "'%r64' is not a register", 1},
      {"mov.b64 %r3, %rd1;", "narrower", 1},
      {"add.s32 %r3, %h1, 1;", "narrower", 1},
      {"add.s32 %r3, %r4;", "operands", 1},
      {"selp.b32 %r3, 1, 0, %r4;", "a value where a predicate is wanted", 1},
      {"add.f32 %r3, %r4, 1;", "an integer where a float is wanted", 1},
      {"@%r3 bra A;\nA:", "is not a predicate register", 1},
      {"bra NOWHERE;", "'NOWHERE' is not declared", 1},
      {"{ A: } bra A;", "'A' is not declared", 1},
      {"A: A:", "defined twice", 1},
      {"ld.global.v4.b32 {%r3, %r4}, [%rd1];", "wants 4 values here, not 2", 1},
      {"ld.global.b32 %r3, %rd1;", "an address in brackets is wanted", 1},
      {"ld.shared.b32 %r3, [nothing];", "'nothing' is not declared", 1},
      {"st.const.b32 [%rd1], %r3;", "const memory cannot be written", 1},
      {"mma.sync.aligned.m16n8k17.row.col.f32.f16.f16.f32 {%r3,%r3,%r3,%r3}, {%r3,%r3,%r3,%r3}, "
       "{%r3,%r3}, {%r3,%r3,%r3,%r3};",
       "mma", 1},
      {"cp.async.cg.shared.global [%r3], [%rd1], 8;", "'cp.async' of 8 bytes", 1},
      {"tcgen05.fence.sync.aligned;", "unknown instruction 'tcgen05.fence.sync.aligned'", 1},
      {"wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%r3}, %rd1, %rd1, %p1, 1, 1, 0, 0;",
       "this shape of 'wgmma' is not known: 'm64n12k16'", 1},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {%r3}, %rd1, %rd1, %p1, 1, 1, 0, 0;",
       "these types of 'wgmma' are not known", 1},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r3}, %rd1, %rd1, %p1, 1, -1, 0, 0;",
       "'wgmma' with a negated operand is not known", 1},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r3}, %rd1, %rd1, %p1, 1, 1, 0, 2;",
       "whether an operand of 'wgmma' is transposed is 0 or 1", 1},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r3}, %rd1, %rd1, %p1, 1, 1, 0, 0;",
       "wants 4 values here, not 1", 1},
      {"wgmma.wait_group.sync.aligned 8;", "'wgmma.wait_group' wants at most 7 groups", 1},
      {"call nothing, ();", "'nothing' is not declared", 1},
      {"call %rd1, ();", "must be named", 1},
      {".reg .b32 %r<9>;\n{ .reg .b32 %r<9>; }\n.reg .b32 %r<2>;", "declared twice", 1},
      {"mov.b32 %r3, 0x;", "a number that cannot be read", 1},
      {"mov.b32 %r3, 0f3F80;", "a number that cannot be read", 1},
      {"mov.b32 %r3, 0x12345678123456789;", "a number that cannot be read", 1},
      {"/* for ever", "never ends", 1},
      {"mov.b32 %r3, {%r4, {%r5, {%r6, {%r7, {%r8, %r9}}}}};", "nested too deeply", 1},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct sim_error e = case_parse_body(cases[i].body);
    ck_assert_msg(strstr(e.text, cases[i].text) != NULL, "'%s' in: %s", e.text, cases[i].body);
    ck_assert_msg(e.line == cases[i].line, "line %u in: %s", e.line, cases[i].body);
  }
}
END_TEST

START_TEST(errors_of_modules) {
  static const struct {
    const char *text, *error;
  } cases[] = {
      {".visible .entry k() {", "the text ends inside of a function"},
      {".address_size 32", "addresses have 64 bits"},
      {"hello", "a directive was expected"},
      {".frame 3", "unknown directive '.frame'"},
      {".global .b32 x[2] = {1, 2, 3};", "more values than elements"},
      {".global .b32 x[0x7fffffffffffffff];", "too large"},
      {".global .align 3 .b32 x;", "power of two"},
      {".extern .global .b32 x[];", "not supported"},
      {".visible .entry k() .reqntid 0 { ret; }", "outside of 1 to 1024"},
      {".visible .entry k() { ret; } .visible .entry k() { ret; }", "defined twice"},
      {".func f() { call f, (); ret; } .visible .entry k() { call f, (); ret; }", "recursive"},
      {".visible .entry k() { .reg .b32 %r<99999999>; ret; }", "registers"},
      {".visible .entry k() { .local .b8 x[1073741825]; ret; }", "2^30"},
      {".section .debug {", "a section that never ends"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct sim_error e = case_parse(cases[i].text);
    ck_assert_msg(strstr(e.text, cases[i].error) != NULL, "'%s' of: %s", e.text, cases[i].text);
  }
}
END_TEST

START_TEST(facts_of_kernels) {
  static const char text[] =
      ".version 8.3 .target sm_90a .address_size 64\n.shared .align 4 .b8 s[20];\n"
      ".extern .shared .align 16 .b8 dyn[];\n"
      ".visible .entry one(.param .u64 .ptr .global .align 16 a, .param .u16 b, .param .u32 c)\n"
      ".reqntid 64, 2 { ret; }\n.visible .entry two() .maxntid 256 { .local .b8 d[12]; ret; }";
  struct arena *a = arena_create();
  struct sim_error error;
  const struct sim_module *m = sim_module_parse(a, text, strlen(text), &error);
  ck_assert_ptr_nonnull(m);
  ck_assert_uint_eq(sim_module_kernel_count(m), 2);
  const struct sim_kernel *one = sim_module_kernel(m, "one"), *two = sim_module_kernel_at(m, 1);
  ck_assert_uint_eq(one->param_count, 3);
  ck_assert_uint_eq(one->params[1].offset, 8);
  ck_assert_uint_eq(one->params[2].offset, 12);
  ck_assert_uint_eq(one->param_bytes, 16);
  ck_assert_uint_eq(one->static_shared_bytes, 32);
  ck_assert(one->has_dynamic_shared);
  ck_assert_uint_eq(one->required_block[0], 64);
  ck_assert_uint_eq(one->required_block[1], 2);
  ck_assert_uint_eq(two->largest_block[0], 256);
  ck_assert_uint_eq(two->local_bytes, 12);
  ck_assert_ptr_null(sim_module_kernel(m, "three"));
  struct sim_launch l = {.kernel = one, .grid = {1, 1, 1}, .block = {32, 1, 1}};
  struct sim_report report;
  ck_assert_int_eq(sim_run(&l, &report), SIM_INVALID);
  ck_assert_ptr_nonnull(strstr(report.text, "64 x 2"));
  arena_destroy(a);
}
END_TEST

// Every prefix of a module, and the module with single bytes changed: an error or a module.
START_TEST(broken_texts) {
  static const char text[] =
      ".version 8.3\n.target sm_80\n.address_size 64\n.global .align 4 .b8 t[3] = {1, 2, 3};\n"
      ".func (.param .b32 r) f(.param .b32 x) { ret; }\n"
      ".visible .entry k(.param .u64 a) .reqntid 32 {\n.reg .b32 %r<5>; .reg .pred %p<2>;\n"
      ".reg .b64 %rd<3>; .loc 1 2 3\nld.param.b64 %rd1, [a];\nL: @!%p1 bra L;\n"
      "mov.b64 {%r1, _}, %rd1; ld.global.v2.b32 {%r3, %r4}, [%rd1+-8];\n"
      "{ .param .b32 q; st.param.b32 [q], 0x12; call.uni (q), f, (q); }\n"
      "shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1; fma.rn.f32 %r1, %r2, 0f3F800000, %r3;\nret; }\n"
      ".file 1 \"x.tile\"\n.section .debug { .b8 1 }\n";
  char copy[sizeof text];
  ck_assert_str_eq(case_parse(text).text, "");
  for (size_t n = 0; n < sizeof text; n++) {
    memcpy(copy, text, n);
    copy[n] = 0;
    case_parse(copy);
  }
  static const char bytes[] = "{}[]();,.%@!|<>+-0x9\"$:\n /*_A\x80";
  for (size_t i = 0; i + 1 < sizeof text; i++)
    for (size_t k = 0; k + 1 < sizeof bytes; k++) {
      memcpy(copy, text, sizeof text);
      copy[i] = bytes[k];
      case_parse(copy);
    }
}
END_TEST

TCase *sim_parse_tests(void) {
  TCase *t = tcase_create("sim_parse");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, errors_of_bodies);
  tcase_add_test(t, errors_of_modules);
  tcase_add_test(t, facts_of_kernels);
  tcase_add_test(t, broken_texts);
  return t;
}
