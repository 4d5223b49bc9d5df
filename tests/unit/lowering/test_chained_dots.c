// SPDX-License-Identifier: Apache-2.0
// Which of two products in a loop feed each other.
#include "lowering/analysis/chained_dots.h"
#include "pass_session.h"
#include "suites.h"

#define T "tensor<64x64xf16>"
#define S "tensor<64x64xf32>"
#define DOT(ret, a, b, c)                                                                          \
  ret " = \"tile.dot\"(" a ", " b ", " c ") {input_precision = \"tf32\", max_num_imprecise_acc = " \
      "0 : i32} : (" T ", " T ", " S ") -> " S "\n"
#define NARROW(ret, v) ret " = arith.truncf " v " : " S " to " T "\n"
#define KERNEL(body)                                                                               \
  "func.func @k(%n: i32, %flag: i1) attributes {tile.kernel} {\n"                                  \
  "%zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n"                                \
  "%a = arith.constant dense<1.0> : " T "\n%b = arith.constant dense<2.0> : " T "\n"               \
  "%c = arith.constant dense<0.0> : " S "\n" body "return\n}\n"

static const struct {
  const char *text;
  bool chained[2];
} cases[] = {
    // scores and values, as in attention
    {KERNEL(DOT("%x", "%a", "%b", "%c") "%e = math.exp2 %x : " S "\n" NARROW("%p", "%e")
                DOT("%y", "%p", "%b", "%c")),
     {true, true}},
    // the first becomes operand B: shared memory lies between them anyway
    {KERNEL(DOT("%x", "%a", "%b", "%c") NARROW("%p", "%x") DOT("%y", "%a", "%p", "%c")),
     {false, false}},
    // an accumulator is handed on
    {KERNEL(DOT("%x", "%a", "%b", "%c") DOT("%y", "%a", "%b", "%x")), {false, false}},
    // the transpose moves elements to other threads
    {KERNEL(DOT("%x", "%a", "%b", "%c")
                NARROW("%p", "%x") "%t = \"tile.trans\"(%p) {order = array<i32: 1, 0>} : (" T
                                   ") -> " T "\n" DOT("%y", "%t", "%b", "%c")),
     {false, false}},
    // the second product is behind the loop of the first
    {KERNEL("%r = scf.for %i = %zero to %n step %one iter_args(%s = %c) -> (" S
            ") : i32 {\n" DOT("%x", "%a", "%b", "%s") "scf.yield %x : " S "\n}\n" NARROW("%p", "%r")
                DOT("%y", "%p", "%b", "%c")),
     {false, false}},
    // a value with two uses, only the second of which is a product
    {KERNEL(DOT("%x", "%a", "%b", "%c") "%d = arith.addf %x, %c : " S "\n" NARROW(
         "%p", "%d") "%q = arith.select %flag, %p, %b : " T "\n" DOT("%y", "%q", "%b", "%c")),
     {true, true}},
};

struct seen {
  struct pass_session *s;
  bool chained[2];
  unsigned count;
};

static bool look(MlirOperation op, void *user) {
  struct seen *x = user;
  struct ir_context *c = x->s->context.c;
  if (!op_is(c, op, OP_TILE_DOT))
    return true;
  ck_assert_uint_lt(x->count, 2);
  x->chained[x->count++] = dot_is_chained(c, op, c->arena);
  return true;
}

START_TEST(pairs) {
  struct pass_session s = pass_session_open(cases[_i].text);
  struct seen x = {.s = &s};
  ir_walk(mlirModuleGetOperation(s.context.module), look, &x);
  ck_assert_uint_eq(x.count, 2);
  for (unsigned i = 0; i < 2; i++)
    ck_assert_msg(x.chained[i] == cases[_i].chained[i], "case %d, product %u", _i, i);
  pass_session_close(&s);
}
END_TEST

TCase *chained_dots_tests(void) {
  TCase *t = tcase_create("chained_dots");
  tcase_add_loop_test(t, pairs, 0, COUNT_OF(cases));
  return t;
}
