// SPDX-License-Identifier: Apache-2.0
// Protocols of rings and of stores through maps: a kernel that is right, and changes that break one
// rule each.
#include "assertions.h"
#include "lowering/analysis/ring_protocol.h"
#include "pass_session.h"
#include "suites.h"

#include <stdio.h>

#define MAP(rows, swizzle)                                                                         \
  "{base = 0 : i32, box = array<i32: " rows ", 64>, dtype = \"f16\", offset = \"0\", "             \
  "pads_nan = false, sizes = [\"p0\", \"p1\"], strides = [\"p1\"], swizzle = " swizzle " : i32}"
#define ROW(columns, swizzle)                                                                      \
  "{base = 2 : i32, box = array<i32: 1, " columns                                                  \
  ">, dtype = \"f32\", offset = \"0\", pads_nan = "                                                \
  "false, sizes = [\"p0\", \"p1\"], strides = [\"p1\"], swizzle = " swizzle " : i32}"
#define RING "ring = 0 : i32, slots = 2 : i32} : (!bars"

static const char head[] =
    "#mma = #tilegpu.mma<{instr_shape = [16, 64, 16], version = 3 : i64, warps_per_cta = [8, 1]}>\n"
    "#n = #tilegpu.nvmma_shared<{element_bits = 16 : i64, swizzle = 128 : i64, transposed = "
    "false}>\n"
    "#flat = #tilegpu.nvmma_shared<{element_bits = 32 : i64, swizzle = 0 : i64, transposed = "
    "false}>\n"
    "!acc = tensor<128x64xf32, #mma>\n"
    "!out = tensor<128x64xf16, #mma>\n"
    "!a = !tilegpu.memdesc<tensor<128x64xf16, #n>>\n"
    "!b = !tilegpu.memdesc<tensor<64x64xf16, #n>>\n"
    "!row = !tilegpu.memdesc<tensor<1x64xf32, #flat>>\n"
    "!bars = !tilegpu.memdesc<tensor<4xi64, #tilegpu.shared<{max_phase = 1 : i64, order = [0], "
    "per_phase = 1 : i64, vec = 1 : i64}>>>\n"
    "module attributes {tile.maps = [" MAP("128", "128") ", " MAP("64", "128") ", " MAP(
        "64",
        "64") ", {box = array<i32: 128, 64>, dtype = \"f16\", made = 1 : i32, pads_nan = false, "
              "swizzle = 128 : i32}, " ROW("64", "0") ", " ROW("32", "0") ", " ROW(
                  "64", "128") "], tilegpu.entry_registers = 168 : i32, tilegpu.num_warps = 8 : "
                               "i32, "
                               "tilegpu.producer_warps = 4 : i32, tilegpu.threads_per_warp = 32 : "
                               "i32} {\n";

static const char kernel[] =
    "func.func @k(%n: i32, %m: i32) attributes {tile.kernel} {\n"
    "%c0 = arith.constant 0 : i32\n"
    "%c1 = arith.constant 1 : i32\n"
    "%zero = arith.constant dense<0.0> : !acc\n"
    "%a = \"tilegpu.local_alloc\"() {copies = 2 : i32} : () -> !a\n"
    "%b = \"tilegpu.local_alloc\"() {copies = 2 : i32} : () -> !b\n"
    "%row = \"tilegpu.local_alloc\"() {copies = 2 : i32} : () -> !row\n"
    "%o = \"tilegpu.local_alloc\"() : () -> !a\n"
    "%bars = \"tilegpu.local_alloc\"() : () -> !bars\n"
    "\"tilegpu.ring_init\"(%bars) {" RING ") -> ()\n"
    "%p = \"tilegpu.is_producer\"() {leader = false} : () -> i1\n"
    "scf.if %p {\n"
    "\"tilegpu.set_registers\"() {count = 40 : i32, grows = false} : () -> ()\n"
    "%leader = \"tilegpu.is_producer\"() {leader = true} : () -> i1\n"
    "scf.if %leader {\n"
    "scf.for %i = %c0 to %n step %c1 : i32 {\n"
    "%s = \"tilegpu.ring_empty\"(%bars) {bytes = 24832 : i32, " RING ") -> i32\n"
    "%x = \"tilegpu.local_index\"(%a, %s) : (!a, i32) -> !a\n"
    "\"tilegpu.map_copy\"(%x, %bars, %s, %c0, %i) {map = 0 : i32, ring = 0 : i32, slots = 2 : i32} "
    ": (!a, !bars, i32, i32, i32) -> ()\n"
    "%y = \"tilegpu.local_index\"(%b, %s) : (!b, i32) -> !b\n"
    "\"tilegpu.map_copy\"(%y, %bars, %s, %i, %c0) {map = 1 : i32, ring = 0 : i32, slots = 2 : i32} "
    ": (!b, !bars, i32, i32, i32) -> ()\n"
    "%z = \"tilegpu.local_index\"(%row, %s) : (!row, i32) -> !row\n"
    "\"tilegpu.map_copy\"(%z, %bars, %s, %c0, %i) {map = 4 : i32, ring = 0 : i32, slots = 2 : i32} "
    ": (!row, !bars, i32, i32, i32) -> ()\n"
    "}\n"
    "}\n"
    "} else {\n"
    "\"tilegpu.set_registers\"() {count = 232 : i32, grows = true} : () -> ()\n"
    "%sum = scf.for %i = %c0 to %n step %c1 iter_args(%v = %zero) -> (!acc) : i32 {\n"
    "%s = \"tilegpu.ring_full\"(%bars) {" RING ") -> i32\n"
    "%x = \"tilegpu.local_index\"(%a, %s) : (!a, i32) -> !a\n"
    "%y = \"tilegpu.local_index\"(%b, %s) : (!b, i32) -> !b\n"
    "%d = \"tilegpu.warp_group_dot\"(%x, %y, %v) {pending = 1 : i32} : (!a, !b, !acc) -> !acc\n"
    "\"tilegpu.ring_release\"(%bars) {keep = 1 : i32, " RING ") -> ()\n"
    "scf.yield %d : !acc\n"
    "}\n"
    "%r = \"tilegpu.warp_group_dot_wait\"(%sum) {pending = 0 : i32} : (!acc) -> !acc\n"
    "\"tilegpu.ring_release\"(%bars) {keep = 0 : i32, " RING ") -> ()\n"
    "%h = arith.truncf %r : !acc to !out\n"
    "scf.for %j = %c0 to %m step %c1 : i32 {\n"
    "\"tilegpu.map_wait\"() : () -> ()\n"
    "\"tilegpu.barrier\"() : () -> ()\n"
    "\"tilegpu.local_store\"(%h, %o) : (!out, !a) -> ()\n"
    "\"tilegpu.barrier\"() : () -> ()\n"
    "\"tilegpu.map_store\"(%o, %j, %c0) {map = 0 : i32} : (!a, i32, i32) -> ()\n"
    "}\n"
    "\"tilegpu.map_wait\"() : () -> ()\n"
    "\"tilegpu.ring_end\"(%o) : (!a) -> ()\n"
    "\"tilegpu.ring_end\"(%a) : (!a) -> ()\n"
    "\"tilegpu.ring_end\"(%b) : (!b) -> ()\n"
    "\"tilegpu.ring_end\"(%row) : (!row) -> ()\n"
    "\"tilegpu.ring_end\"(%bars) : (!bars) -> ()\n"
    "}\n"
    "return\n"
    "}\n"
    "}\n";

struct edit {
  const char *line;    // the line that contains this
  unsigned occurrence; // from 1
  const char *from;    // NULL: the whole line
  const char *to;      // $ is the line
};
struct fault {
  const char *name;
  struct edit edits[3];
  const char *report;
};
static const struct fault faults[] = {
    {"two inits", {{"ring_init", 1, NULL, "$\n$"}}, "is the second of ring 0"},
    {"no init", {{"ring_init", 1, NULL, ""}}, "comes before the ring_init of ring 0"},
    {"an init by the producer",
     {{"ring_init", 1, NULL, ""},
      {"count = 40", 1, NULL,
       "\"tilegpu.ring_init\"(%bars) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()\n$"}},
     "is not executed once by all threads"},
    {"other slots",
     {{"ring_full", 1, "slots = 2", "slots = 1"}},
     "has other mbarriers or slots than the first op of ring 0"},
    {"too few copies",
     {{"%b = ", 1, "copies = 2", "copies = 1"}},
     "has 1 copies for a ring of 2 slots"},
    {"copies by all threads of the producer",
     {{"leader = true", 1, NULL, "%leader = arith.cmpi slt, %c0, %n : i32"}},
     "is executed by other threads than the first of the producer"},
    {"fewer bytes than the copies have",
     {{"ring_empty", 1, "24832", "16384"}},
     "expects 16384 bytes, and the copies to the slot have 24832"},
    {"a copy left out",
     {{"map_copy", 2, NULL, ""}},
     "expects 24832 bytes, and the copies to the slot have 16640"},
    {"a copy twice",
     {{"map_copy", 2, NULL, "$\n$"}, {"ring_empty", 1, "24832", "33024"}},
     "fills a buffer of the slot a second time"},
    {"no wait for an empty slot",
     {{"map_copy", 1, "%s", "%c0"}},
     "fills a slot that no ring_empty of its ring has waited for"},
    {"another slot filled",
     {{"\"tilegpu.local_index\"(%a", 1, "%s", "%c0"}},
     "fills another slot than the one whose mbarrier counts it"},
    {"boxes of another shape",
     {{"map_copy", 1, "map = 0", "map = 1"}},
     "has a map whose boxes or swizzle are not those of the buffer"},
    {"another swizzle",
     {{"map_copy", 2, "map = 1", "map = 2"}},
     "has a map whose boxes or swizzle are not those of the buffer"},
    {"a half of a row",
     {{"map_copy", 3, "map = 4", "map = 5"}},
     "has a map whose boxes or swizzle are not those of the buffer"},
    {"a row with a swizzle",
     {{"map_copy", 3, "map = 4", "map = 6"}},
     "has a map whose boxes or swizzle are not those of the buffer"},
    {"a store with another swizzle",
     {{"map_store", 1, "map = 0", "map = 2"}},
     "has a map whose boxes or swizzle are not those of the buffer"},
    {"a copy in a branch",
     {{"map_copy", 2, NULL, "%f = arith.cmpi slt, %i, %m : i32\nscf.if %f {\n$\n}"}},
     "is not executed as often as the wait for its slot"},
    {"another number of iterations",
     {{"scf.for %i", 1, "to %n", "to %m"}},
     "is not executed as often as the ring_full of ring 0"},
    {"another first iteration",
     {{"scf.for %i", 1, "= %c0", "= %c1"}},
     "is not executed as often as the ring_full of ring 0"},
    {"a position left out in a branch",
     {{"ring_full", 1, NULL,
       "$\n%f = arith.cmpi slt, %i, %m : i32\nscf.if %f {\n%t = \"tilegpu.ring_full\"(%bars) {ring "
       "= 0 : i32, slots = 2 : i32} : (!bars) -> i32\n}"}},
     "is not executed as often as the ring_full of ring 0"},
    {"no wait for a full slot",
     {{"\"tilegpu.local_index\"(%a", 2, "%s", "%c0"}},
     "reads a slot that no ring_full of its ring has waited for"},
    {"never released",
     {{"keep = 1", 1, NULL, ""}, {"keep = 0", 1, NULL, ""}},
     "waits for a slot while the warp may hold all"},
    {"not released at the end",
     {{"keep = 0", 1, NULL, ""}},
     "ends a ring of which the warp may hold slots"},
    {"released twice", {{"keep = 0", 1, NULL, "$\n$"}}, "releases a slot, and the warp holds none"},
    {"released while a product reads",
     {{"keep = 1", 1, "keep = 1", "keep = 0"}},
     "releases a slot that a product in flight may read"},
    {"one product more in flight",
     {{"pending = 1", 1, "pending = 1", "pending = 2"}},
     "releases a slot that a product in flight may read"},
    {"no wait behind the loop",
     {{"group_dot_wait", 1, NULL, ""}, {"truncf", 1, "%r", "%sum"}},
     "releases a slot that a product in flight may read"},
    {"read behind its release",
     {{"group_dot\"", 1, "pending = 1", "pending = 0"},
      {"group_dot\"", 1, NULL,
       "\"tilegpu.ring_release\"(%bars) {keep = 0 : i32, ring = 0 : i32, slots = 2 : i32} : "
       "(!bars) "
       "-> ()\n$"},
      {"keep = 1", 1, NULL, ""}},
     "reads a slot that was released before"},
    {"released by the producer",
     {{"map_copy", 2, NULL,
       "$\n\"tilegpu.ring_release\"(%bars) {keep = 0 : i32, ring = 0 : i32, slots = 2 : i32} : "
       "(!bars) -> ()"}},
     "is executed by other warps than those that compute"},
    {"filled by those who compute",
     {{"keep = 0", 1, NULL,
       "$\n%e = \"tilegpu.ring_empty\"(%bars) {bytes = 24832 : i32, ring = 0 : i32, slots = 2 : "
       "i32} : (!bars) -> i32"}},
     "is executed by other threads than the first of the producer"},
    {"a barrier of the producer",
     {{"map_copy", 2, NULL, "$\n\"tilegpu.barrier\"() : () -> ()"}},
     "is executed by the producer, which meets the others at no barrier"},
    {"a buffer without an end",
     {{"ring_end\"(%b)", 1, NULL, ""}},
     "has a buffer with 0 ring_end: one is needed"},
    {"a ring with two ends",
     {{"ring_end\"(%bars)", 1, NULL, "$\n$"}},
     "has mbarriers with 2 ring_end: one is needed"},
    {"threads that write a slot",
     {{"truncf", 1, NULL, "$\n\"tilegpu.local_store\"(%h, %a) : (!out, !a) -> ()"}},
     "writes a buffer of a ring, which copies through maps fill"},
    {"no wait for a store",
     {{"map_wait", 1, NULL, ""}},
     "overwrites the buffer of a map_store that may not have read it: no map_wait"},
    {"no barrier behind the wait for a store",
     {{"tilegpu.barrier", 1, NULL, ""}},
     "overwrites the buffer of a map_store for which the first thread alone waited: no barrier"},
    {"no barrier before a store",
     {{"tilegpu.barrier", 2, NULL, ""}},
     "reads what other threads write to the buffer"},
    {"a barrier without a fence before a store",
     {{"tilegpu.barrier", 2, "\"()", "\"() {reads_only = true}"}},
     "reads what other threads write to the buffer"},
    {"no wait for the last store",
     {{"map_wait", 2, NULL, ""}},
     "ends a buffer that a map_store may still read: no map_wait"},
    {"more registers than there are",
     {{"count = 232", 1, "232", "240"}},
     "waits forever: the shares have 66560 registers, and the program begins with 64512"},
    {"a producer that grows",
     {{"count = 40", 1, "40", "176"}},
     "shrinks to 176 registers, and a thread begins with 168"},
    {"the share of one side alone",
     {{"count = 40", 1, NULL, ""}},
     "has no counterpart for the other warpgroups"},
    {"a share of one thread",
     {{"count = 40", 1, NULL, ""},
      {"scf.if %leader", 1, NULL,
       "$\n\"tilegpu.set_registers\"() {count = 40 : i32, grows = false} : () -> ()"}},
     "is not executed once by whole warpgroups"},
};

// ---- the texts ----

static const char *line_with(const char *text, const char *part, unsigned occurrence,
                             size_t *ret_length) {
  for (const char *line = text; *line; line += *ret_length + 1) {
    *ret_length = strcspn(line, "\n");
    const char *at = strstr(line, part);
    if (at && at < line + *ret_length && --occurrence == 0)
      return line;
  }
  return NULL;
}

static void put(struct strbuf *out, const char *line, size_t length, const struct edit *e) {
  const char *at = e->from ? strstr(line, e->from) : NULL;
  for (const char *c = e->to; !e->from && *c; c++) {
    if (*c == '$')
      strbuf_put(out, line, length);
    else
      strbuf_putc(out, *c);
  }
  if (!e->from)
    return;
  ck_assert_msg(at && at < line + length, "no `%s` in the line", e->from);
  strbuf_put(out, line, (size_t)(at - line));
  strbuf_puts(out, e->to);
  at += strlen(e->from);
  strbuf_put(out, at, (size_t)(line + length - at));
}

static const char *edited(struct arena *a, const char *text, const struct edit *e) {
  struct strbuf out = {0};
  size_t length;
  const char *line = line_with(text, e->line, e->occurrence, &length);
  ck_assert_msg(line != NULL, "no line %u with `%s`", e->occurrence, e->line);
  strbuf_put(&out, text, (size_t)(line - text));
  put(&out, line, length, e);
  strbuf_puts(&out, line + length);
  const char *result = arena_strdup(a, strbuf_cstr(&out));
  strbuf_finish(&out);
  return result;
}

static struct pass_session opened(struct arena *a, const char *text) {
  return pass_session_open(arena_printf(a, "%s%s", head, text));
}

static bool is_right(struct pass_session *s) {
  return ring_protocol_check(s->context.c, mlirModuleGetOperation(s->context.module),
                             s->context.scratch);
}

// ---- tests ----

START_TEST(a_kernel_that_is_right) {
  struct arena *a = arena_create();
  struct pass_session s = opened(a, kernel);
  ck_assert_msg(is_right(&s), "%s", diag_first_error(s.diag));
  ck_assert_uint_eq(diag_error_count(s.diag), 0);
  pass_session_close(&s);
  arena_destroy(a);
}
END_TEST

START_TEST(faults_are_found) {
  const struct fault *f = &faults[_i];
  struct arena *a = arena_create();
  const char *text = kernel;
  for (size_t i = 0; i < COUNT_OF(f->edits) && f->edits[i].line; i++)
    text = edited(a, text, &f->edits[i]);
  struct pass_session s = opened(a, text);
  ck_assert_msg(!is_right(&s), "%s: not found", f->name);
  ck_assert_msg(strstr(diag_first_error(s.diag), f->report), "%s: %s", f->name,
                diag_first_error(s.diag));
  pass_session_close(&s);
  arena_destroy(a);
}
END_TEST

// The kernel with stores by warpgroups, each of its own rows.
static const char *with_groups(struct arena *a) {
  static const struct edit edits[] = {
      {"map_wait", 1, "\"()", "\"() {warps = 4 : i32}"},
      {"map_wait", 2, "\"()", "\"() {warps = 4 : i32}"},
      {"tilegpu.barrier", 1, "\"()", "\"() {warps = 4 : i32}"},
      {"tilegpu.barrier", 2, "\"()", "\"() {warps = 4 : i32}"},
      {"map_store", 1, "map = 0 : i32", "map = 1 : i32, warps = 4 : i32"},
  };
  const char *text = kernel;
  for (size_t i = 0; i < COUNT_OF(edits); i++)
    text = edited(a, text, &edits[i]);
  return text;
}

static const struct fault group_faults[] = {
    {"boxes of all warps", {{"map_store", 1, "map = 1", "map = 0"}}, "has a map whose boxes"},
    {"other groups at the barrier",
     {{"tilegpu.barrier", 2, "warps = 4", "warps = 2"}},
     "reads what other threads write to the buffer"},
    {"other groups behind the wait",
     {{"tilegpu.barrier", 1, "warps = 4", "warps = 8"}},
     "overwrites the buffer of a map_store for which the first thread alone waited: no barrier"},
    {"no barrier of the group",
     {{"tilegpu.barrier", 2, NULL, ""}},
     "reads what other threads write to the buffer"},
    {"rows of other groups",
     {{"arith.truncf", 1, NULL,
       "$\n%z = arith.constant dense<0.0> : tensor<128x64xf16, #tilegpu.blocked<{order = [1, 0], "
       "size_per_thread = [1, 8], threads_per_warp = [4, 8], warps_per_cta = [8, 1]}>>"},
      {"local_store", 1, NULL,
       "\"tilegpu.local_store\"(%z, %o) : (tensor<128x64xf16, #tilegpu.blocked<{order = [1, 0], "
       "size_per_thread = [1, 8], threads_per_warp = [4, 8], warps_per_cta = [8, 1]}>>, !a) -> "
       "()"}},
     "writes rows of the buffer that another group of warps stores"},
};

START_TEST(groups_of_warps) {
  struct arena *a = arena_create();
  struct pass_session s = opened(a, with_groups(a));
  ck_assert_msg(is_right(&s), "%s", diag_first_error(s.diag));
  pass_session_close(&s);
  arena_destroy(a);
}
END_TEST

START_TEST(faults_of_groups_are_found) {
  const struct fault *f = &group_faults[_i];
  struct arena *a = arena_create();
  const char *text = with_groups(a);
  for (size_t i = 0; i < COUNT_OF(f->edits) && f->edits[i].line; i++)
    text = edited(a, text, &f->edits[i]);
  struct pass_session s = opened(a, text);
  ck_assert_msg(!is_right(&s), "%s: not found", f->name);
  ck_assert_msg(strstr(diag_first_error(s.diag), f->report), "%s: %s", f->name,
                diag_first_error(s.diag));
  pass_session_close(&s);
  arena_destroy(a);
}
END_TEST

// The kernel with a map of A that the producer makes.
static const char *with_made_map(struct arena *a) {
  static const struct edit edits[] = {
      {"func.func", 1, "%m: i32", "%m: i32, %w: !tile.ptr<f16>, %l: i64"},
      {"ring_init", 1, NULL, "$\n%maps = \"tilegpu.local_alloc\"() : () -> !bars"},
      {"scf.for %i", 1, NULL,
       "\"tilegpu.maps_open\"(%maps) : (!bars) -> ()\n"
       "\"tilegpu.ring_drain\"(%bars) {" RING ") -> ()\n"
       "\"tilegpu.map_make\"(%maps, %w, %l, %l, %l) {map = 3 : i32} : (!bars, !tile.ptr<f16>, i64, "
       "i64, i64) -> ()\n$"},
      {"map_copy", 1, "map = 0", "map = 3"},
      {"map_copy", 3, NULL,
       "$\n}\n\"tilegpu.ring_drain\"(%bars) {" RING ") -> ()\n"
       "\"tilegpu.maps_close\"() : () -> ()\nscf.if %leader {"},
  };
  const char *text = kernel;
  for (size_t i = 0; i < COUNT_OF(edits); i++)
    text = edited(a, text, &edits[i]);
  return text;
}

static const struct fault map_faults[] = {
    {"no memory for maps", {{"maps_open", 1, NULL, ""}}, "is not behind the maps_open"},
    {"memory that is kept", {{"maps_close", 1, NULL, ""}}, "is not in front of the maps_close"},
    {"memory that is given back too early",
     {{"maps_close", 1, NULL, ""}, {"map_make", 1, NULL, "\"tilegpu.maps_close\"() : () -> ()\n$"}},
     "is not in front of the maps_close"},
    {"a map that is not made", {{"map_make", 1, NULL, ""}}, "which is not made before"},
    {"a map made behind the copies",
     {{"map_make", 1, NULL, ""},
      {"maps_close", 1, NULL,
       "\"tilegpu.map_make\"(%maps, %w, %l, %l, %l) {map = 3 : i32} : (!bars, !tile.ptr<f16>, i64, "
       "i64, i64) -> ()\n$"}},
     "which is not made before"},
    {"no wait before the map is made",
     {{"ring_drain", 1, NULL, ""}},
     "overwrites map while copies"},
    {"no wait before memory is given back",
     {{"ring_drain", 2, NULL, ""}},
     "gives the maps back while copies"},
    {"a wait by all threads",
     {{"ring_drain", 1, NULL, ""},
      {"%p = ", 1, NULL, "$\n\"tilegpu.ring_drain\"(%bars) {" RING ") -> ()"}},
     "is executed by other threads than the first of the producer"},
};

START_TEST(made_maps) {
  struct arena *a = arena_create();
  struct pass_session s = opened(a, with_made_map(a));
  ck_assert_msg(is_right(&s), "%s", diag_first_error(s.diag));
  pass_session_close(&s);
  arena_destroy(a);
}
END_TEST

START_TEST(faults_of_made_maps_are_found) {
  const struct fault *f = &map_faults[_i];
  struct arena *a = arena_create();
  const char *text = with_made_map(a);
  for (size_t i = 0; i < COUNT_OF(f->edits) && f->edits[i].line; i++)
    text = edited(a, text, &f->edits[i]);
  struct pass_session s = opened(a, text);
  ck_assert_msg(!is_right(&s), "%s: not found", f->name);
  ck_assert_msg(strstr(diag_first_error(s.diag), f->report), "%s: %s", f->name,
                diag_first_error(s.diag));
  pass_session_close(&s);
  arena_destroy(a);
}
END_TEST

TCase *ring_protocol_tests(void) {
  TCase *t = tcase_create("ring_protocol");
  tcase_add_test(t, a_kernel_that_is_right);
  tcase_add_loop_test(t, faults_are_found, 0, COUNT_OF(faults));
  tcase_add_test(t, groups_of_warps);
  tcase_add_loop_test(t, faults_of_groups_are_found, 0, COUNT_OF(group_faults));
  tcase_add_test(t, made_maps);
  tcase_add_loop_test(t, faults_of_made_maps_are_found, 0, COUNT_OF(map_faults));
  return t;
}
