// SPDX-License-Identifier: Apache-2.0
// Integers and bits. Oracles are the PTX ISA's pseudocode, bit by bit, or C in a wider type.
#include "alu_eval.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>

static const uint32_t corners[] = {
    0,          1,          2,          3,          7,          31,         32,         33,
    0xff,       0x100,      0x7fff,     0x8000,     0xffff,     0x10000,    0x12345678, 0x7ffffffe,
    0x7fffffff, 0x80000000, 0x80000001, 0xdeadbeef, 0xfffffffe, 0xffffffff, 0x00ff00ff};
#define FOR_PAIRS(a, b)                                                                            \
  for (size_t ia = 0; ia < COUNT_OF(corners); ia++)                                                \
    for (size_t ib = 0; ib < COUNT_OF(corners); ib++)                                              \
      for (uint32_t a = corners[ia], b = corners[ib], once = 1; once; once = 0)

static uint32_t low(uint64_t x) { return (uint32_t)x; }

START_TEST(sums_and_products) {
  FOR_PAIRS(a, b) {
    int64_t sa = (int32_t)a, sb = (int32_t)b;
    uint64_t c = 0x89abcdef;
    AGREE(low(alu_run2("add.s32", a, b)), a + b);
    AGREE(alu_run2("sub.u32", a, b), a - b);
    AGREE(alu_run2("mul.lo.u32", a, b), low((uint64_t)a * b));
    AGREE(alu_run2("mul.hi.u32", a, b), (uint64_t)a * b >> 32);
    AGREE(low(alu_run2("mul.hi.s32", a, b)), low((uint64_t)(sa * sb >> 32)));
    AGREE(alu_run2("mul.wide.s32", a, b), sa * sb);
    AGREE(alu_run2("mul.wide.u32", a, b), (uint64_t)a * b);
    AGREE(alu_run2("mul.wide.u16", a, b), (uint64_t)(a & 0xffff) * (b & 0xffff));
    AGREE(alu_run3("mad.wide.u32", a, b, c << 20), (uint64_t)a * b + (c << 20));
    AGREE(low(alu_run3("mad.lo.s32", a, b, c)), low(a * (uint64_t)b + c));
    int64_t sum = (sa * sb >> 32) + 0x7abcdef0;
    AGREE(alu_run3("mad.hi.sat.s32", a, b, 0x7abcdef0), sum > INT32_MAX ? INT32_MAX : sum);
    int64_t added = sa + sb, taken = sa - sb;
    AGREE(alu_run2("add.sat.s32", a, b), added > INT32_MAX   ? INT32_MAX
                                         : added < INT32_MIN ? INT32_MIN
                                                             : added);
    AGREE(alu_run2("sub.sat.s32", a, b), taken > INT32_MAX   ? INT32_MAX
                                         : taken < INT32_MIN ? INT32_MIN
                                                             : taken);
    AGREE(alu_run2("add.u16x2", a, b), ((a + b) & 0xffff) | (((a >> 16) + (b >> 16)) << 16));
    AGREE(low(alu_run3("sad.s32", a, b, c)), low((uint64_t)llabs(sa - sb) + c));
  }
  uint64_t x = 0xfedcba9876543210, y = 0x0123456789abcdef;
  AGREE(alu_run2("mul.hi.u64", x, y), 0x121fa00ad77d742);
  AGREE(alu_run2("mul.hi.s64", x, y), 0x121fa00ad77d742 - y);
  AGREE(alu_run2("mul24.lo.u32", 0xffabcdef, 0x00ffffff), 0xee543211);
  AGREE(alu_run2("mul24.hi.u32", 0xffabcdef, 0x00ffffff), (uint64_t)0xabcdef * 0xffffff >> 16);
}
END_TEST

// 128-bit values as two words.
START_TEST(carries) {
  struct alu_instruction add = alu_get("add.cc.u64"), addc = alu_get("addc.u64");
  struct alu_instruction sub = alu_get("sub.cc.u32"), subc = alu_get("subc.cc.u32");
  uint64_t r[2], s[3] = {UINT64_MAX, 2};
  add.run(&add, s, r);
  AGREE(r[0], 1);
  AGREE(r[1], 1);
  s[0] = 5, s[1] = 6, s[2] = r[1];
  addc.run(&addc, s, r);
  AGREE(r[0], 12);
  s[0] = 0, s[1] = 1;
  sub.run(&sub, s, r);
  AGREE(r[0], UINT32_MAX);
  AGREE(r[1], 1);
  s[0] = 7, s[1] = 7, s[2] = 1;
  subc.run(&subc, s, r);
  AGREE(r[0], UINT32_MAX);
  AGREE(r[1], 1);
}
END_TEST

START_TEST(divisions_and_order) {
  FOR_PAIRS(a, b) {
    int32_t sa = (int32_t)a, sb = (int32_t)b;
    if (b) {
      AGREE(alu_run2("div.u32", a, b), a / b);
      AGREE(alu_run2("rem.u32", a, b), a % b);
      AGREE(alu_run2("div.s32", a, b), (int32_t)((int64_t)sa / sb));
      AGREE(alu_run2("rem.s32", a, b), (int32_t)((int64_t)sa % sb));
    }
    AGREE(alu_run2("min.u32", a, b), a < b ? a : b);
    AGREE(alu_run2("max.s32", a, b), sa > sb ? sa : sb);
    AGREE(alu_run2("max.relu.s32", a, b), sa > sb ? (sa > 0 ? sa : 0) : (sb > 0 ? sb : 0));
    int16_t la = (int16_t)a, lb = (int16_t)b, ha = (int16_t)(a >> 16), hb = (int16_t)(b >> 16);
    AGREE(low(alu_run2("min.s16x2", a, b)),
          (uint32_t)(uint16_t)(la < lb ? la : lb) | (uint32_t)(uint16_t)(ha < hb ? ha : hb) << 16);
  }
  AGREE(alu_run2("div.u32", 17, 0), UINT32_MAX);
  AGREE(alu_run2("rem.u64", 17, 0), 17);
  AGREE(alu_run2("div.s64", (uint64_t)INT64_MIN, UINT64_MAX), (uint64_t)INT64_MIN);
  AGREE(alu_run2("rem.s64", (uint64_t)INT64_MIN, UINT64_MAX), 0);
  AGREE(low(alu_run1("abs.s32", 0x80000000)), 0x80000000);
  AGREE(low(alu_run1("neg.s16", 1)), 0xffffffff); // sign extended
  AGREE(alu_run2("div.u16", 0x1ffff, 2), 0x7fff); // a wider register
}
END_TEST

// ---- bits ----

static uint64_t field_of(uint64_t a, unsigned at, unsigned length, unsigned bits, bool is_signed) {
  unsigned msb = bits - 1, last = at + length - 1 < msb ? at + length - 1 : msb;
  bool sign = is_signed && length && a >> last & 1;
  uint64_t d = 0;
  for (unsigned i = 0; i <= msb; i++)
    d |= (uint64_t)(i < length && at + i <= msb ? a >> (at + i) & 1 : sign) << i;
  return d;
}

static uint64_t inserted(uint64_t a, uint64_t b, unsigned at, unsigned length, unsigned bits) {
  for (unsigned i = 0; i < length && at + i < bits; i++)
    b = (b & ~((uint64_t)1 << (at + i))) | (a >> i & 1) << (at + i);
  return b;
}

START_TEST(fields) {
  const uint64_t a = 0x9234567887654321, b = 0x0f1e2d3c4b5a6978;
  for (unsigned at = 0; at < 70; at++)
    for (unsigned length = 0; length < 70; length++) {
      AGREE(alu_run3("bfe.u32", low(a), at, length), field_of(low(a), at, length, 32, false));
      AGREE(low(alu_run3("bfe.s32", low(a), at, length)), field_of(low(a), at, length, 32, true));
      AGREE(alu_run3("bfe.u64", a, at, length), field_of(a, at, length, 64, false));
      AGREE(alu_run3("bfe.s64", a, at, length), field_of(a, at, length, 64, true));
      AGREE(alu_run4("bfi.b32", low(a), low(b), at, length),
            inserted(low(a), low(b), at, length, 32));
      AGREE(alu_run4("bfi.b64", a, b, at, length), inserted(a, b, at, length, 64));
    }
  AGREE(alu_run3("bfe.u32", 0xabcd, 256 + 4, 8), 0xbc); // only 8 bits count
}
END_TEST

START_TEST(masks_and_extension) {
  for (unsigned a = 0; a < 40; a++)
    for (unsigned b = 0; b < 40; b++) {
      uint32_t ones = 0, clamped = 0;
      for (unsigned i = 0; i < 32; i++) {
        ones |= (uint32_t)(i >= a % 32 && i < a % 32 + b % 32) << i;
        clamped |= (uint32_t)(i >= a && i < a + b) << i;
      }
      AGREE(alu_run2("bmsk.wrap.b32", a, b), ones);
      AGREE(alu_run2("bmsk.clamp.b32", a, b), clamped);
    }
  AGREE(low(alu_run2("szext.clamp.s32", 0x1f8, 9)), 0xfffffff8);
  AGREE(alu_run2("szext.clamp.u32", 0xfff8, 9), 0x1f8);
  AGREE(low(alu_run2("szext.clamp.s32", 0x80000001, 77)), 0x80000001);
  AGREE(alu_run2("szext.wrap.u32", 0xffffffff, 32), 0);
  AGREE(alu_run2("szext.wrap.s32", 0xffffffff, 64 + 5), 0xffffffffffffffff);
}
END_TEST

START_TEST(counts) {
  AGREE(alu_run1("popc.b64", 0xf0f0000000000001), 9);
  AGREE(alu_run1("clz.b32", 0), 32);
  AGREE(alu_run1("clz.b32", 0x00010000), 15);
  AGREE(alu_run1("clz.b64", 0), 64);
  AGREE(alu_run1("bfind.u32", 0), UINT32_MAX);
  AGREE(alu_run1("bfind.u32", 0x00800000), 23);
  AGREE(alu_run1("bfind.s32", 0xffffff7f), 7);
  AGREE(alu_run1("bfind.s64", UINT64_MAX), UINT32_MAX);
  AGREE(alu_run1("bfind.shiftamt.u32", 1), 31);
  AGREE(alu_run1("brev.b32", 0x80000003), 0xc0000001);
  AGREE(alu_run1("brev.b64", 1), 0x8000000000000000);
  // The third set bit from bit 2 on, the second downward from bit 31, the bit itself.
  AGREE(alu_run3("fns.b32", 0xf000000c, 2, 3), 28);
  AGREE(alu_run3("fns.b32", 0x80000101, 31, (uint32_t)-2), 8);
  AGREE(alu_run3("fns.b32", 0x10, 4, 0), 4);
  AGREE(alu_run3("fns.b32", 0x10, 5, 0), UINT32_MAX);
  AGREE(alu_run3("fns.b32", 0x10, 0, 2), UINT32_MAX);
}
END_TEST

START_TEST(dot_products) {
  // Bytes 0xff 0x02 0x80 0x7f (lowest first) times 1 2 3 4.
  AGREE(low(alu_run3("dp4a.s32.s32", 0x7f8002ff, 0x04030201, 10)), 10 - 1 + 4 - 384 + 508);
  AGREE(alu_run3("dp4a.u32.u32", 0x7f8002ff, 0x04030201, 10), 10 + 255 + 4 + 384 + 508);
  AGREE(low(alu_run3("dp4a.u32.s32", 0x000000ff, 0x000000ff, 0)), low((uint64_t)-255));
  AGREE(low(alu_run3("dp2a.lo.s32.s32", 0x0002ffff, 0x05060703, 1)), 1 - 3 + 14);
  AGREE(low(alu_run3("dp2a.hi.s32.u32", 0x0002ffff, 0xff060703, 1)), 1 - 6 + 510);
}
END_TEST

START_TEST(logic) {
  for (unsigned table = 0; table < 256; table++) {
    uint32_t a = 0xf0f0f0f0, b = 0xcccccccc, c = 0xaaaaaaaa;
    AGREE(alu_run4("lop3.b32", a, b, c, table), table * 0x01010101u);
  }
  uint64_t r[2], s[5] = {0xff, 0x0f, 0, 0xc0, 0};
  struct alu_instruction in = alu_get("lop3.or.b32"); // a & b
  in.run(&in, s, r);
  AGREE(r[0], 0x0f);
  AGREE(r[1], 1);
  in = alu_get("lop3.and.b32");
  in.run(&in, s, r);
  AGREE(r[1], 0);
  AGREE(alu_run1("not.b16", 0xff00ff), 0xff00);
  AGREE(alu_run1("not.pred", 1), 0);
  AGREE(alu_run2("xor.pred", 1, 1), 0);
  AGREE(alu_run1("cnot.b32", 0x100000000), 1);
  AGREE(alu_run1("cnot.b64", 0x100000000), 0);
}
END_TEST

START_TEST(shifts) {
  const uint32_t a = 0x87654321, b = 0xfedcba98;
  for (unsigned n = 0; n < 80; n++) {
    unsigned c = n > 32 ? 32 : n, w = n % 32;
    uint64_t both = (uint64_t)b << 32 | a;
    AGREE(alu_run2("shl.b32", a, n), n < 32 ? low((uint64_t)a << n) : 0);
    AGREE(alu_run2("shr.u32", a, n), n < 32 ? a >> n : 0);
    AGREE(low(alu_run2("shr.s32", a, n)), low((uint64_t)((int32_t)a >> (n < 31 ? n : 31))));
    AGREE(alu_run2("shl.b64", both, n), n < 64 ? both << n : 0);
    AGREE(alu_run2("shr.s64", both, n), (uint64_t)((int64_t)both >> (n < 63 ? n : 63)));
    AGREE(alu_run2("shl.b16", a, n), n < 16 ? a << n & 0xffff : 0);
    AGREE(alu_run3("shf.l.clamp.b32", a, b, n), low(both << c >> 32));
    AGREE(alu_run3("shf.r.clamp.b32", a, b, n), low(both >> c));
    AGREE(alu_run3("shf.l.wrap.b32", a, b, n), low(both << w >> 32));
    AGREE(alu_run3("shf.r.wrap.b32", a, b, n), low(both >> w));
  }
  AGREE(alu_run2("shl.b32", 1, UINT32_MAX), 0);
}
END_TEST

// The table of the PTX ISA: the bytes 3 2 1 0 of the result for selectors 0 to 3.
static const struct {
  const char *mode;
  unsigned bytes[4];
} modes[] = {
    {"prmt.b32.f4e", {0x3210, 0x4321, 0x5432, 0x6543}},
    {"prmt.b32.b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
    {"prmt.b32.rc8", {0x0000, 0x1111, 0x2222, 0x3333}},
    {"prmt.b32.ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
    {"prmt.b32.ecr", {0x0000, 0x1110, 0x2210, 0x3210}},
    {"prmt.b32.rc16", {0x1010, 0x3232, 0x1010, 0x3232}},
};

START_TEST(permutations) {
  const uint32_t a = 0x83828180, b = 0x07060504; // byte i is i, with a sign in a
  for (size_t m = 0; m < COUNT_OF(modes); m++)
    for (unsigned n = 0; n < 8; n++) {
      uint32_t expected = 0;
      for (unsigned i = 0; i < 4; i++) {
        uint32_t at = modes[m].bytes[n & 3] >> 4 * i & 15;
        expected |= (at | (at < 4 ? 0x80 : 0)) << 8 * i;
      }
      AGREE(alu_run3(modes[m].mode, a, b, n), expected);
    }
  AGREE(alu_run3("prmt.b32", a, b, 0x7531), 0x07058381);
  AGREE(alu_run3("prmt.b32", a, b, 0xc8f0), 0x00ff0080);
}
END_TEST

START_TEST(comparisons) {
  static const struct {
    const char *name;
    unsigned holds; // bit 0: less, 1: equal, 2: greater
  } ops[] = {{"eq", 2}, {"ne", 5}, {"lt", 1}, {"le", 3}, {"gt", 4},
             {"ge", 6}, {"lo", 1}, {"ls", 3}, {"hi", 4}, {"hs", 6}};
  char opcode[40];
  for (size_t i = 0; i < COUNT_OF(ops); i++)
    FOR_PAIRS(a, b) {
      unsigned u = a < b ? 1 : a == b ? 2 : 4;
      unsigned s = (int32_t)a < (int32_t)b ? 1 : a == b ? 2 : 4;
      snprintf(opcode, sizeof opcode, "setp.%s.u32", ops[i].name);
      AGREE(alu_run2(opcode, a, b), (ops[i].holds & u) != 0);
      snprintf(opcode, sizeof opcode, "setp.%s.s32", ops[i].name);
      if (i < 6)
        AGREE(alu_run2(opcode, a, b), (ops[i].holds & s) != 0);
    }
  for (unsigned c = 0; c < 2; c++) {
    uint64_t r[2], s[3] = {1, 2, c};
    struct alu_instruction in = alu_get("setp.lt.and.u32");
    in.run(&in, s, r);
    ck_assert(r[0] == c && r[1] == 0);
    in = alu_get("setp.gt.or.u32");
    in.run(&in, s, r);
    ck_assert(r[0] == c && r[1] == 1);
    in = alu_get("setp.lt.xor.u32");
    in.run(&in, s, r);
    ck_assert(r[0] == !c && r[1] == c);
  }
  AGREE(alu_run2("set.lt.u32.s32", (uint64_t)-1, 0), UINT32_MAX);
  AGREE(alu_run2("set.lt.f32.s32", (uint64_t)-1, 0), 0x3f800000);
  AGREE(alu_run2("set.lt.f32.u32", (uint64_t)-1, 0), 0);
  AGREE(alu_run3("selp.b64", 5, 6, 0), 6);
  AGREE(alu_run3("selp.b64", 5, 6, 1), 5);
  AGREE(alu_run3("slct.u32.s32", 5, 6, 0x80000000), 6);
  AGREE(alu_run3("slct.u32.s32", 5, 6, 0), 5);
  AGREE(alu_run3("slct.u32.f32", 5, 6, 0x80000000), 5); // -0
  AGREE(alu_run3("slct.u32.f32", 5, 6, 0x80000001), 6);
  AGREE(alu_run3("slct.ftz.u32.f32", 5, 6, 0x80000001), 5);
  AGREE(alu_run3("slct.u32.f32", 5, 6, 0x7fc00000), 6);
}
END_TEST

TCase *alu_integer_tests(void) {
  TCase *t = tcase_create("alu_integer");
  tcase_add_test(t, sums_and_products);
  tcase_add_test(t, carries);
  tcase_add_test(t, divisions_and_order);
  tcase_add_test(t, fields);
  tcase_add_test(t, masks_and_extension);
  tcase_add_test(t, counts);
  tcase_add_test(t, dot_products);
  tcase_add_test(t, logic);
  tcase_add_test(t, shifts);
  tcase_add_test(t, permutations);
  tcase_add_test(t, comparisons);
  return t;
}
