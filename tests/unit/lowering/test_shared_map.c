// SPDX-License-Identifier: Apache-2.0
// Comments that name the buffers of a kernel in shared memory.
#include "lowering/cost/shared_map.h"
#include "pass_session.h"
#include "suites.h"

#define TILES                                                                                      \
  "!tilegpu.memdesc<tensor<32x64xf16, #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, "   \
  "transposed = false}>>>"
#define BARRIERS                                                                                   \
  "!tilegpu.memdesc<tensor<8xi64, #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, "    \
  "vec = 1}>>>"
#define AT(offset) "tilegpu.shared_offset = " #offset " : i32"
// A ring of three slots, whose mbarriers have room for four, and a buffer that nobody copies to.
#define KERNEL                                                                                     \
  "module attributes {tile.maps = [{base = 1 : i32, box = array<i32: 32, 64>, dtype = \"f16\", "   \
  "offset = \"0\", pads_nan = false, sizes = [\"64\", \"64\"], strides = [\"64\"], "               \
  "swizzle = 128 : i32}], tilegpu.producer_warps = 4 : i32} { func.func @k(%n: i32 "               \
  "{tile.name = \"n\"}, %p: !tile.ptr<f16> {tile.name = \"rows\"}) attributes {tile.kernel} {\n"   \
  "%r = \"tilegpu.local_alloc\"() {copies = 3 : i32, " AT(1024) "} : () -> " TILES "\n"            \
  "%t = \"tilegpu.local_alloc\"() {" AT(0) "} : () -> " TILES "\n"                                \
  "%m = \"tilegpu.local_alloc\"() {" AT(13312) "} : () -> " BARRIERS "\n"                         \
  "\"tilegpu.ring_init\"(%m) {ring = 0 : i32, slots = 3 : i32} : (" BARRIERS ") -> ()\n"          \
  "%lead = \"tilegpu.is_producer\"() {leader = true} : () -> i1\nscf.if %lead {\n"               \
  "%e = \"tilegpu.ring_empty\"(%m) {bytes = 4096 : i32, ring = 0 : i32, slots = 3 : i32} : "       \
  "(" BARRIERS ") -> i32\n"                                                                        \
  "%b = \"tilegpu.local_index\"(%r, %e) : (" TILES ", i32) -> " TILES "\n"                        \
  "\"tilegpu.map_copy\"(%b, %m, %e, %n, %n) {map = 0 : i32, ring = 0 : i32, slots = 3 : i32} : "   \
  "(" TILES ", " BARRIERS ", i32, i32, i32) -> ()\n}\nreturn } }"

START_TEST(rings_and_their_mbarriers) {
  struct pass_session s = pass_session_open(KERNEL);
  struct strbuf text = {.arena = s.arena};
  shared_map_write(s.context.c, s.context.module, &text);
  ck_assert_str_eq(strbuf_cstr(&text),
                   "// shared 0x400: 3 x 4096 bytes, buffer of `rows`\n"
                   "// shared 0x3400: 3 x 8 bytes, full mbarrier of `rows`\n"
                   "// shared 0x3418: 3 x 8 bytes, empty mbarrier of `rows`\n");
  strbuf_finish(&text);
  pass_session_close(&s);
}
END_TEST

TCase *shared_map_tests(void) {
  TCase *t = tcase_create("shared_map");
  tcase_add_test(t, rings_and_their_mbarriers);
  return t;
}
