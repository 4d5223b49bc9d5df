// SPDX-License-Identifier: Apache-2.0
// Which opcodes are arithmetic, and their operands. ptxas 13.0 accepts the same ones with these
// operands for sm_90a (mixed sums for sm_100a), and rejects the others except fma.rz.bf16 and
// prmt.finite, which the PTX ISA does not have.
#include "alu_eval.h"
#include "suites.h"

static const char *const known[] = {
    "add.s32",
    "add.u16x2",
    "add.cc.u32",
    "addc.u64",
    "add.sat.s32",
    "sub.u64",
    "mul.lo.u64",
    "mul.hi.s32",
    "mul.wide.u16",
    "mad.wide.s32",
    "mad.hi.sat.s32",
    "mul24.lo.u32",
    "div.u16",
    "rem.s64",
    "abs.s16",
    "neg.s64",
    "min.relu.s16x2",
    "max.u64",
    "and.pred",
    "xor.b64",
    "not.pred",
    "cnot.b32",
    "lop3.b32",
    "lop3.or.b32",
    "shl.b16",
    "shr.s64",
    "shf.l.wrap.b32",
    "prmt.b32",
    "prmt.b32.rc16",
    "popc.b64",
    "bfind.shiftamt.u64",
    "dp4a.u32.s32",
    "dp2a.hi.s32.u32",
    "szext.clamp.s32",
    "bmsk.wrap.b32",
    "fns.b32",
    "add.rn.ftz.sat.f32",
    "sub.f16x2",
    "add.bf16x2",
    "mul.rp.f64",
    "fma.rn.relu.bf16",
    "fma.rn.ftz.relu.f16x2",
    "mad.rn.f32",
    "add.f32.bf16",
    "div.full.ftz.f32",
    "div.approx.f32",
    "div.rn.f64",
    "min.ftz.NaN.xorsign.abs.f32",
    "max.NaN.bf16x2",
    "abs.ftz.f16",
    "neg.bf16x2",
    "copysign.f64",
    "testp.subnormal.f32",
    "rcp.approx.ftz.f64",
    "rsqrt.approx.f64",
    "sqrt.rz.ftz.f32",
    "ex2.approx.ftz.bf16x2",
    "ex2.approx.f16",
    "tanh.approx.bf16",
    "setp.lo.u64",
    "setp.lo.or.u64",
    "setp.neu.ftz.f32",
    "setp.num.and.f64",
    "setp.gtu.f16x2",
    "set.lt.f32.s32",
    "set.equ.xor.ftz.u32.f32",
    "set.gt.bf16x2.bf16x2",
    "selp.b16",
    "selp.f64",
    "slct.ftz.f64.f32",
    "cvt.u16.u32",
    "cvt.sat.s8.s32",
    "cvt.rn.f16.s64",
    "cvt.rzi.ftz.s32.f32",
    "cvt.rni.sat.f32.f32",
    "cvt.f64.bf16",
    "cvt.rn.bf16.f16",
    "cvt.rn.relu.satfinite.bf16.f32",
    "cvt.rna.tf32.f32",
    "cvt.rz.relu.tf32.f32",
    "cvt.rz.f16x2.f32",
    "cvt.rn.satfinite.relu.e4m3x2.f16x2",
    "cvt.rn.f16x2.e5m2x2",
    "cvt.pack.sat.u16.s32",
    "cvt.pack.sat.s8.s32.b32",
};

static const char *const unknown[] = {
    "",
    "bra",
    "ld.global.b32",
    "mov.b32",
    "add",
    "add.b32",
    "add.s8",
    "add.foo.s32",
    "add.s32.s32",
    "add.sat.u32",
    "add.ftz.s32",
    "add.rn.rn.f32",
    "add.ftz.ftz.f32",
    "add.ftz.f64",
    "add.rz.f16",
    "add.sat.bf16",
    "add.relu.f32",
    "add.tf32",
    "mul.s32",
    "mul.lo.hi.s32",
    "mul.wide.s64",
    "mul.lo.b32",
    "mad.lo.sat.s32",
    "fma.f32",
    "fma.rni.f32",
    "fma.rn.sat.relu.f16",
    "fma.rz.bf16",
    "div.f32",
    "div.rn.approx.f32",
    "div.full.f64",
    "div.rn.f16",
    "min.xorsign.f32",
    "min.NaN.f64",
    "min.relu.u32",
    "min.b32",
    "abs.u32",
    "neg.sat.s32",
    "and.s32",
    "lop3.xor.b32",
    "shl.u32",
    "shf.l.b32",
    "shf.l.r.wrap.b32",
    "prmt.finite.b32",
    "popc.u32",
    "bfind.b32",
    "dp4a.u32",
    "dp2a.u32.u32",
    "bmsk.b32",
    "rsqrt.rn.f32",
    "tanh.f32",
    "tanh.approx.ftz.f32",
    "ex2.approx.ftz.f16",
    "ex2.approx.bf16",
    "sin.approx.f64",
    "setp.f32",
    "setp.lo.f32",
    "setp.lt.b32",
    "setp.lo.s32",
    "setp.equ.s32",
    "setp.eq.ftz.s32",
    "selp.pred",
    "selp.f16",
    "slct.f32.u32",
    "cvt.f32",
    "cvt.b32.u32",
    "cvt.s32.f32",
    "cvt.rn.s32.f32",
    "cvt.f32.s32",
    "cvt.rni.f32.s32",
    "cvt.f16.f32",
    "cvt.rn.f64.f32",
    "cvt.rni.f32.f64",
    "cvt.rna.f16.f32",
    "cvt.tf32.f32",
    "cvt.rna.relu.tf32.f32",
    "cvt.relu.f32.f16",
    "cvt.rn.e4m3x2.f32",
    "cvt.rz.satfinite.e5m2x2.f32",
    "cvt.rn.satfinite.f16x2.e4m3x2",
    "cvt.pack.u16.s32",
    "cvt.pack.sat.u8.s32",
};

START_TEST(known_opcodes) {
  struct alu_instruction in;
  ck_assert_msg(alu_known(known[_i], &in), "%s", known[_i]);
  ck_assert(in.run != NULL);
  ck_assert_uint_ge(in.result_count, in.result_required);
  ck_assert_uint_ge(in.result_required, 1);
}
END_TEST

START_TEST(unknown_opcodes) {
  struct alu_instruction in;
  ck_assert_msg(!alu_known(unknown[_i], &in), "%s", unknown[_i]);
}
END_TEST

static void expect(struct alu_type t, enum alu_kind kind, unsigned bits) {
  ck_assert_int_eq(t.kind, kind);
  ck_assert_uint_eq(t.bits, bits);
}

START_TEST(operands) {
  struct alu_instruction in = alu_get("mad.wide.u16");
  ck_assert_uint_eq(in.source_count, 3);
  expect(in.sources[0], ALU_UNSIGNED, 16);
  expect(in.sources[2], ALU_UNSIGNED, 32);
  expect(in.results[0], ALU_UNSIGNED, 32);
  in = alu_get("setp.lt.and.f64");
  ck_assert_uint_eq(in.source_count, 3);
  ck_assert_uint_eq(in.result_count, 2);
  ck_assert_uint_eq(in.result_required, 1);
  expect(in.sources[1], ALU_FLOAT, 64);
  expect(in.sources[2], ALU_PREDICATE, 1);
  expect(in.results[1], ALU_PREDICATE, 1);
  in = alu_get("setp.lt.bf16x2");
  ck_assert_uint_eq(in.result_required, 2);
  in = alu_get("shr.u64");
  expect(in.sources[0], ALU_UNSIGNED, 64);
  expect(in.sources[1], ALU_UNSIGNED, 32);
  in = alu_get("popc.b64");
  expect(in.sources[0], ALU_BITS, 64);
  expect(in.results[0], ALU_UNSIGNED, 32);
  in = alu_get("cvt.rn.satfinite.e5m2x2.f32");
  ck_assert_uint_eq(in.source_count, 2);
  expect(in.sources[0], ALU_FLOAT, 32);
  expect(in.results[0], ALU_BITS, 16);
  in = alu_get("fma.rn.f16x2");
  expect(in.sources[2], ALU_BITS, 32);
  in = alu_get("subc.cc.u32");
  ck_assert(in.carry_in && in.carry_out);
  ck_assert_uint_eq(in.source_count, 3);
  ck_assert_uint_eq(in.result_count, 2);
}
END_TEST

TCase *alu_decode_tests(void) {
  TCase *t = tcase_create("alu_decode");
  tcase_add_loop_test(t, known_opcodes, 0, COUNT_OF(known));
  tcase_add_loop_test(t, unknown_opcodes, 0, COUNT_OF(unknown));
  tcase_add_test(t, operands);
  return t;
}
