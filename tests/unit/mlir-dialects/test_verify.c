// SPDX-License-Identifier: Apache-2.0
// The verifier: each invalid op is reported at its location, with the reason.
#include "suites.h"

#define A                                                                                          \
  "#tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], "                \
  "warps_per_cta = [1]}>"
#define B                                                                                          \
  "#tilegpu.blocked<{order = [0], size_per_thread = [2], threads_per_warp = [32], "                \
  "warps_per_cta = [1]}>"
#define AA                                                                                         \
  "#tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 1], threads_per_warp = [4, 8], "        \
  "warps_per_cta = [1, 1]}>"
#define P "tensor<32x!tile.ptr<f32>>"
#define HINTS "{cache = \"\", evict = \"\"}"
#define LOADED(n) "{padding = \"zero\", operandSegmentSizes = array<i32: " n ">}"
#define LOAD(sizes)                                                                                \
  "{cache = \"\", evict = \"\", is_volatile = false, operandSegmentSizes = array<i32: " sizes ">}"

#define MANY(n)                                                                                    \
  "operandSegmentSizes = array<i32: " n ">, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, " \
  "0>"
#define ONE MANY("1, 0, 0, 0, 0, 0, 0, 0")
#define TWO MANY("1, 1, 0, 0, 0, 0, 0, 0")
#define ASM                                                                                        \
  "operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, "             \
  "resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>"
#define NO_RESULT_ASM                                                                              \
  "operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, "             \
  "resultSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0>"
#define G "!tilegpu.memdesc<tensor<8xi64, " S ">>"
#define S "#tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>"

// One op on these arguments, and words of the complaint about it.
struct wrong {
  const char *op, *message;
};

// Collective ops, calls, inline assembly, device queries and shared memory.
static const struct wrong collective_wrongs[] = {
    {"%r = \"tile.reduce\"(%x) {axis = 0 : i32, combine = @add, " ONE "} : (f32) -> f32",
     "works on tiles"},
    {"%r = \"tile.reduce\"(%t) {axis = 1 : i32, combine = @add, " ONE "} : (tensor<32xf32>) -> f32",
     "has axis 1"},
    {"%r = \"tile.reduce\"(%t) {axis = 0 : i64, combine = @add, " ONE "} : (tensor<32xf32>) -> f32",
     "i32 attribute `axis`"},
    {"%r = \"tile.reduce\"(%t, %o) {axis = 0 : i32, combine = @add, " TWO
     "} : (tensor<32xf32>, tensor<32xi32>) -> f32",
     "one result for each"},
    {"%r = \"tile.reduce\"(%t2) {axis = 0 : i32, combine = @add, " ONE
     "} : (tensor<4x8xf32>) -> tensor<4xf32>",
     "along axis 0"},
    {"%r = \"tile.reduce\"(%t) {axis = 0 : i32, combine = @add, " ONE
     "} : (tensor<32xf32>) -> tensor<1xf32>",
     "cannot give"},
    {"%r = \"tile.reduce\"(%l2) {axis = 1 : i32, combine = @add, " ONE "} : (tensor<4x8xf32, " AA
     ">) -> tensor<4xf32, #tilegpu.slice<{dim = 0 : i32, parent = " AA "}>>",
     "along axis 1"},
    {"%r = \"tile.reduce\"(%t) {axis = 0 : i32, combine = @missing, " ONE
     "} : (tensor<32xf32>) -> f32",
     "function of the module in `combine`"},
    {"%r = \"tile.reduce\"(%o) {axis = 0 : i32, combine = @add, " ONE "} : (tensor<32xi32>) -> i32",
     "cannot use its `combine` of type `(f32, f32) -> f32`"},
    {"%r = \"tile.reduce\"(%t) {axis = 0 : i32, combine = @neg, " ONE "} : (tensor<32xf32>) -> f32",
     "cannot use its `combine`"},
    {"%r = \"tile.scan\"(%t) {axis = 0 : i32, combine = @add, reverse = 1 : i32, " ONE
     "} : (tensor<32xf32>) -> tensor<32xf32>",
     "boolean attribute `reverse`"},
    {"%r = \"tile.scan\"(%t) {axis = 0 : i32, combine = @add, reverse = false, " ONE
     "} : (tensor<32xf32>) -> tensor<32xf16>",
     "needs equal types"},
    {"%r = \"tile.scan\"(%t) {axis = 0 : i32, combine = @neg, reverse = false, " ONE
     "} : (tensor<32xf32>) -> tensor<32xf32>",
     "cannot use its `combine`"},
    {"%r:2 = \"tile.scan\"(%t, %t2) {axis = 0 : i32, combine = @add, reverse = false, "
     "operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, "
     "1, "
     "0, 0, 0, 0, 0, 0>} : (tensor<32xf32>, tensor<4x8xf32>) -> (tensor<32xf32>, tensor<4x8xf32>)",
     "different shape or layout"},
    {"%r = \"tile.map_elementwise\"(%t) {function = @neg, pack = 3 : i32, " ONE
     "} : (tensor<32xf32>) -> tensor<32xf32>",
     "not 3"},
    {"%r = \"tile.map_elementwise\"(%t) {function = @add, pack = 1 : i32, " ONE
     "} : (tensor<32xf32>) -> tensor<32xf32>",
     "cannot use its `function`"},
    {"%r = \"tile.map_elementwise\"(%t) {function = @neg, pack = 2 : i32, " ONE
     "} : (tensor<32xf32>) -> tensor<32xf32>",
     "cannot use its `function`"},
    {"%r = \"tile.map_elementwise\"(%t, %x) {function = @add, pack = 1 : i32, " TWO
     "} : (tensor<32xf32>, f32) -> tensor<32xf32>",
     "different shape or layout"},
    {"%r = \"tile.inline_asm\"(%t) {asm = \"\", constraints = \"=r,r\", pack = 0 : i32, is_pure = "
     "true, " ASM "} : (tensor<32xf32>) -> tensor<32xf32>",
     "not 0"},
    {"%r = \"tile.inline_asm\"(%t) {asm = \"\", constraints = 1 : i32, pack = 1 : i32, is_pure = "
     "true, " ASM "} : (tensor<32xf32>) -> tensor<32xf32>",
     "string attribute `constraints`"},
    {"\"tile.inline_asm\"(%t) {asm = \"\", constraints = \"r\", pack = 1 : i32, is_pure = "
     "true, " NO_RESULT_ASM "} : (tensor<32xf32>) -> ()",
     "needs a result"},
    {"%r = \"tile.gather\"(%t, %m) {axis = 0 : i32} : (tensor<32xf32>, tensor<32xi1>) -> "
     "tensor<32xf32>",
     "integers for indices"},
    {"%r = \"tile.gather\"(%t2, %o) {axis = 0 : i32} : (tensor<4x8xf32>, tensor<32xi32>) -> "
     "tensor<32xf32>",
     "cannot take elements"},
    {"%r = \"tile.gather\"(%t, %o) {axis = 0 : i32} : (tensor<32xf32>, tensor<32xi32>) -> "
     "tensor<32xi32>",
     "elements of type `f32`"},
    {"%r = \"tile.gather\"(%t, %o) {axis = 0 : i32} : (tensor<32xf32>, tensor<32xi32>) -> "
     "tensor<16xf32>",
     "different shape"},
    {"%r = \"tile.gather\"(%t, %o) {axis = 1 : i32} : (tensor<32xf32>, tensor<32xi32>) -> "
     "tensor<32xf32>",
     "has axis 1"},
    {"%r = \"tile.histogram\"(%t) : (tensor<32xf32>) -> tensor<8xi32>", "counts the integers"},
    {"%r = \"tile.histogram\"(%o) : (tensor<32xi32>) -> tensor<8xi64>", "elements of type `i32`"},
    {"%r = \"tile.histogram\"(%o) : (tensor<32xi32>) -> tensor<4x2xi32>", "of rank 1"},
    {"%r = \"tile.histogram\"(%o, %b) : (tensor<32xi32>, i1) -> tensor<8xi32>",
     "different shape or layout"},
    {"%r = \"tile.join\"(%t, %o) : (tensor<32xf32>, tensor<32xi32>) -> tensor<32x2xf32>",
     "needs equal types"},
    {"%r = \"tile.join\"(%t, %t) : (tensor<32xf32>, tensor<32xf32>) -> tensor<2x32xf32>",
     "cannot give"},
    {"%r:2 = \"tile.split\"(%t) : (tensor<32xf32>) -> (tensor<16xf32>, tensor<16xf32>)",
     "cannot give"},
    {"%r:2 = \"tile.split\"(%t) : (tensor<32xf32>) -> (f32, f16)", "needs equal types"},
    {"%r = \"tile.unsplat\"(%t) : (tensor<32xf32>) -> f32", "of one element"},
    {"%r = \"tile.atomic_cas\"(%p, %t, %o) {sem = \"\", scope = \"\"} : (" P
     ", tensor<32xf32>, tensor<32xi32>) -> tensor<32xf32>",
     "elements of type `f32`"},
    {"%r = \"tile.atomic_cas\"(%p, %t, %t) {sem = \"\", scope = \"grid\"} : (" P
     ", tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>",
     "none of: cta gpu sys"},
    {"%r = \"tile.atomic_cas\"(%p1, %b, %b) {sem = \"\", scope = \"\"} : (!tile.ptr<i1>, i1, i1) "
     "-> i1",
     "16, 32 or 64 bits"},
    {"%r = \"tile.special_register\"() {name = \"laneid\"} : () -> i32", "none of: globaltimer"},
    {"%r = \"tile.special_register\"() {name = \"globaltimer\"} : () -> i32", "needs equal types"},
    {"\"tile.grid_dependency\"() {kind = \"start\"} : () -> ()", "none of: wait"},
    {"%r = \"tilegpu.local_alloc\"(%l) {tilegpu.shared_offset = -1 : i32} : (tensor<32xf32, " A
     ">) -> !tilegpu.memdesc<tensor<32xf32, " S ">>",
     "shared memory has bytes 0 to"},
    {"%r = \"tilegpu.local_alloc\"(%l) {tilegpu.shared_double_buffer = -1 : i32} : "
     "(tensor<32xf32, " A ">) -> !tilegpu.memdesc<tensor<32xf32, " S ">>",
     "shared memory has bytes 0 to"},
    {"%r = \"tilegpu.local_alloc\"(%l) : (tensor<32xf32, " A ">) -> tensor<32xf32, " A ">",
     "gives a buffer"},
    {"%r = \"tilegpu.local_alloc\"(%l) : (tensor<32xf32, " A
     ">) -> !tilegpu.memdesc<tensor<64xf32, " S ">>",
     "cannot keep"},
    {"%r = \"tilegpu.local_alloc\"() : () -> !tilegpu.memdesc<tensor<32xf32, " A ">>",
     "laid out in shared memory"},
    {"%r = \"tilegpu.local_alloc\"() : () -> !tilegpu.memdesc<tensor<24xf32, " S ">>",
     "no power of two"},
    {"%r = \"tilegpu.convert_layout\"(%l) : (tensor<32xf32, " A ">) -> tensor<32xf32, " S ">",
     "by a layout of shared memory"},
    {"%r = \"tilegpu.local_load\"(%l) : (tensor<32xf32, " A ">) -> tensor<32xf32, " A ">",
     "needs a buffer"},
    {"%r = \"tilegpu.local_load\"(%s) : (!tilegpu.memdesc<tensor<32xf32, " S
     ">>) -> tensor<32xi32, " A ">",
     "cannot keep"},
    {"\"tilegpu.local_store\"(%x, %s) : (f32, !tilegpu.memdesc<tensor<32xf32, " S ">>) -> ()",
     "cannot keep"},
};

static const struct wrong wrongs[] = {
    {"%r = \"tile.get_program_id\"() {axis = 3 : i32} : () -> i32", "axes 0 to 2"},
    {"%r = \"tile.get_num_programs\"() {axis = 1 : i64} : () -> i32", "i32 attribute `axis`"},
    {"%r = \"tile.make_range\"() {start = 0 : i32, end = 16 : i32} : () -> tensor<32xi32>",
     "from 0 to 16"},
    {"%r = \"tile.make_range\"() {start = 0 : i32, end = 24 : i32} : () -> tensor<24xi32>",
     "no power of two"},
    {"%r = \"tile.make_range\"() {start = 0 : i32, end = 32 : i32} : () -> tensor<32xi64>",
     "elements of type `i32`"},
    {"%r = \"tile.splat\"(%t) : (tensor<32xf32>) -> tensor<32xf32>", "of a scalar"},
    {"%r = \"tile.splat\"(%x) : (f32) -> tensor<32xf16>", "elements of type `f32`"},
    {"%r = \"tile.splat\"(%x) : (f32) -> tensor<f32>", "without dimensions"},
    {"%r = \"tile.splat\"(%i) : (i32) -> tensor<32xi32, \"mine\">", "none of `tilegpu`"},
    {"%r = \"tile.expand_dims\"(%t) {axis = 2 : i32} : (tensor<32xf32>) -> tensor<1x32xf32>",
     "cannot put axis 2"},
    {"%r = \"tile.expand_dims\"(%t) {axis = 0 : i32} : (tensor<32xf32>) -> tensor<32x1xf32>",
     "cannot put axis 0"},
    {"%r = \"tile.expand_dims\"(%l) {axis = 0 : i32} : (tensor<32xf32, " A
     ">) -> tensor<1x32xf32, " A ">",
     "slice of the result's layout"},
    {"%r = \"tile.broadcast\"(%t) : (tensor<32xf32>) -> tensor<64xf32>",
     "only dimensions of size 1"},
    {"%r = \"tile.broadcast\"(%l) : (tensor<32xf32, " A ">) -> tensor<32xf32, " B ">",
     "keeps the layout"},
    {"%r = \"tile.reshape\"(%t) {allow_reorder = false} : (tensor<32xf32>) -> tensor<16xf32>",
     "number of elements"},
    {"%r = \"tile.reshape\"(%t) {allow_reorder = 1 : i32} : (tensor<32xf32>) -> tensor<4x8xf32>",
     "boolean attribute"},
    {"%r = \"tile.trans\"(%t2) {order = array<i32: 0, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>",
     "by its `order`"},
    {"%r = \"tile.trans\"(%t2) {order = array<i32: 1, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>",
     "by its `order`"},
    {"%r = \"tile.addptr\"(%t, %o) : (tensor<32xf32>, tensor<32xi32>) -> tensor<32xf32>",
     "needs a pointer"},
    {"%r = \"tile.addptr\"(%p, %t) : (" P ", tensor<32xf32>) -> " P, "integer offset"},
    {"%r = \"tile.addptr\"(%p, %i) : (" P ", i32) -> " P, "different shape or layout"},
    {"%r = \"tile.load\"(%p) " LOAD("1, 0, 0") " : (" P ") -> tensor<32xi32>",
     "elements of type `f32`"},
    {"%r = \"tile.load\"(%p, %o) " LOAD("1, 1, 0") " : (" P ", tensor<32xi32>) -> tensor<32xf32>",
     "elements of type `i1`"},
    {"%r = \"tile.load\"(%p, %t) " LOAD("1, 0, 1") " : (" P ", tensor<32xf32>) -> tensor<32xf32>",
     "but no mask"},
    {"%r = \"tile.load\"(%p, %m, %x) " LOAD("1, 1, 1") " : (" P
                                                       ", tensor<32xi1>, f32) -> tensor<32xf32>",
     "needs equal types"},
    {"\"tile.store\"(%p, %x) " HINTS " : (" P ", f32) -> ()", "different shape or layout"},
    {"\"tile.store\"(%p, %t, %b) " HINTS " : (" P ", tensor<32xf32>, i1) -> ()",
     "different shape or layout"},
    {"%r = \"tile.atomic_rmw\"(%p, %t) {kind = \"mul\", sem = \"\", scope = \"\"} : (" P
     ", tensor<32xf32>) -> tensor<32xf32>",
     "none of: add"},
    {"%r = \"tile.atomic_rmw\"(%p, %t) {kind = \"add\", sem = \"\", scope = \"\"} : (" P
     ", tensor<32xf32>) -> tensor<32xf32>",
     "cannot work on"},
    {"%r = \"tile.bitcast\"(%x) : (f32) -> i64", "changes the width"},
    {"%r = \"tile.int_to_ptr\"(%i) : (i32) -> !tile.ptr<f32>", "elements of type `i64`"},
    {"%r = \"tile.ptr_to_int\"(%i) : (i32) -> i64", "needs a pointer"},
    {"%r = \"tile.fp_to_fp\"(%x) {rounding = \"up\"} : (f32) -> f16", "none of: rtne rtz"},
    {"%r = \"tile.fp_to_fp\"(%i) {rounding = \"rtz\"} : (i32) -> f16", "works on floats"},
    {"%r = \"tile.clampf\"(%t, %t, %x) {propagate_nan = true} : (tensor<32xf32>, tensor<32xf32>, "
     "f32) -> tensor<32xf32>",
     "different shape or layout"},
    {"%r = \"tile.mulhiui\"(%x, %x) : (f32, f32) -> f32", "works on integers"},
    {"%r = \"tile.precise_sqrt\"(%h) : (f16) -> f16", "elements of type `f32`"},
    {"%r = math.exp2 %h : f16", "elements of type `f32`"},
    {"\"tile.assert\"(%i) {message = \"\"} : (i32) -> ()", "elements of type `i1`"},
    {"\"tile.assume\"(%m) : (tensor<32xi1>) -> ()", "takes one condition"},
    {"%r = \"tilegpu.convert_layout\"(%t) : (tensor<32xf32>) -> tensor<32xf32, " A ">",
     "layout on both sides"},
    {"%r = \"tilegpu.convert_layout\"(%l) : (tensor<32xf32, " A ">) -> tensor<64xf32, " A ">",
     "different shape or layout"},
    {"%r = arith.constant dense<0> : tensor<3xi32>", "no power of two"},
    {"%r = \"tile.load\"(%p) {cache = \"wt\", evict = \"\", is_volatile = false, "
     "operandSegmentSizes = array<i32: 1, 0, 0>} : (" P ") -> tensor<32xf32>",
     "none of: ca cg cs cv"},
    {"\"tile.store\"(%p, %t) {cache = \"\", evict = \"last\"} : (" P ", tensor<32xf32>) -> ()",
     "none of: evict_normal"},
    {"%r = \"tile.atomic_rmw\"(%p, %t) {kind = \"fadd\", sem = \"weak\", scope = \"\"} : (" P
     ", tensor<32xf32>) -> tensor<32xf32>",
     "none of: relaxed"},
    {"%r = \"tile.descriptor_load\"(%q, %w, %i) " LOADED("1, 1, 0, 1") " : (!tile.ptr<f32>, i64, "
                                                                       "i32) -> tensor<2xf32>",
     "at least 16 bytes"},
    {"%r = \"tile.descriptor_load\"(%q, %w, %i) " LOADED("1, 1, 0, 1") " : (!tile.ptr<f32>, i64, "
                                                                       "i32) -> tensor<4x4xf32>",
     "a block of that rank"},
    {"%r = \"tile.descriptor_load\"(%q, %w, %i) " LOADED("1, 1, 0, 1") " : (!tile.ptr<f32>, i64, "
                                                                       "i32) -> tensor<8xf16>",
     "elements of type `f32`"},
    {"%r = \"tile.descriptor_load\"(%p, %w, %i) " LOADED("1, 1, 0, 1") " : (" P ", i64, i32) -> "
                                                                       "tensor<8xf32>",
     "one pointer as its base"},
    {"%r = \"tile.descriptor_load\"(%p1, %w, %i) " LOADED("1, 1, 0, 1") " : (!tile.ptr<i1>, i64, "
                                                                        "i32) -> tensor<128xi1>",
     "numbers of 8 to 64 bits"},
    {"%r = \"tile.descriptor_load\"(%q, %w, %w, %i) " LOADED(
         "1, 1, 1, 1") " : (!tile.ptr<f32>, "
                       "i64, i64, i32) -> tensor<8xf32>",
     "a stride for each but the last"},
    {"%r = \"tile.descriptor_load\"(%q, %w, %w, %w, %i) " LOADED(
         "1, 2, 1, 1") " : "
                       "(!tile.ptr<f32>, i64, i64, i64, i32) -> tensor<4x8xf32>",
     "offsets to match"},
    {"%r = \"tile.descriptor_load\"(%q, %w, %i) {padding = \"one\", operandSegmentSizes = "
     "array<i32: 1, 1, 0, 1>} : (!tile.ptr<f32>, i64, i32) -> tensor<8xf32>",
     "none of: zero nan"},
    {"%r = \"tile.descriptor_load\"(%qi, %w, %i) {padding = \"nan\", operandSegmentSizes = "
     "array<i32: 1, 1, 0, 1>} : (!tile.ptr<i32>, i64, i32) -> tensor<8xi32>",
     "by NaN"},
    {"\"tile.descriptor_reduce\"(%q, %w, %i, %t) {kind = \"add\", operandSegmentSizes = "
     "array<i32: 1, 1, 0, 1, 1>} : (!tile.ptr<f32>, i64, i32, tensor<32xf32>) -> ()",
     "of kind `add` cannot work"},
    {"\"tile.descriptor_store\"(%q, %w, %i, %l) {operandSegmentSizes = array<i32: 1, 1, 0, 1, 1>} "
     ": (!tile.ptr<f32>, i64, i32, tensor<32xf32, " A ">) -> ()",
     "has no layouts"},
    {"\"tile.descriptor_store\"(%q, %w, %i, %x) {operandSegmentSizes = array<i32: 1, 1, 0, 1, 1>} "
     ": (!tile.ptr<f32>, i64, i32, f32) -> ()",
     "a block of that rank"},
    {"%r = \"tile.descriptor_gather\"(%q, %w, %w, %w, %t, %i) " LOADED(
         "1, 2, 1, 1, 1") " : "
                          "(!tile.ptr<f32>, i64, i64, i64, tensor<32xf32>, i32) -> "
                          "tensor<32x8xf32>",
     "a tile of rank 1 of i32"},
    {"%r = \"tile.descriptor_gather\"(%q, %w, %w, %w, %o, %i) " LOADED(
         "1, 2, 1, 1, 1") " : "
                          "(!tile.ptr<f32>, i64, i64, i64, tensor<32xi32>, i32) -> "
                          "tensor<16x8xf32>",
     "has rows"},
    {"%r = \"tile.descriptor_gather\"(%q, %w, %o, %i) " LOADED(
         "1, 1, 0, 1, 1") " : "
                          "(!tile.ptr<f32>, i64, tensor<32xi32>, i32) -> tensor<32x8xf32>",
     "a stride for each but the last"},
    {"%r = \"tile.map_load\"(%i) {map = 0 : i32} : (i32) -> tensor<8xf32>", "needs a matrix"},
    {"%r = \"tile.map_load\"(%i, %i, %i) {map = 0 : i32} : (i32, i32, i32) -> tensor<4x8xf32>",
     "needs map 0"},
    {"%r = \"tile.map_load\"(%i) {map = 0 : i32} : (i32) -> tensor<4x8xf32>",
     "an offset for each dimension"},
    {"\"tilegpu.set_registers\"() {count = 42 : i32, grows = true} : () -> ()",
     "cannot set 42 registers"},
    {"\"tilegpu.ping_pong\"() {step = 3 : i32} : () -> ()", "ping-pong has no step 3"},
    {"\"tilegpu.ring_init\"(%s) {ring = 0 : i32, slots = 3 : i32} : "
     "(!tilegpu.memdesc<tensor<32xf32, " S ">>) -> ()",
     "two i64 for each slot"},
    {"\"tilegpu.ring_init\"(%g) {ring = 0 : i32, slots = 5 : i32} : (" G ") -> ()",
     "two i64 for each slot"},
    {"\"tilegpu.ring_init\"(%g) {ring = 0 : i32, slots = 0 : i32} : (" G ") -> ()",
     "cannot have 0 `slots`"},
    {"\"tilegpu.ring_release\"(%g) {ring = 0 : i32, slots = 3 : i32, keep = 3 : i32} : (" G
     ") -> ()",
     "cannot keep 3 slots"},
    {"%r = \"tilegpu.ring_empty\"(%g) {ring = 0 : i32, slots = 3 : i32, bytes = 1048576 : i32} : "
     "(" G ") -> i32",
     "cannot have 1048576 `bytes`"},
    {"\"tile.map_store\"(%t) {map = 0 : i32} : (tensor<32xf32>) -> ()",
     "an offset for each dimension"},
    {"\"tile.map_store\"(%t, %i, %i) {map = 0 : i32} : (tensor<32xf32>, i32, i32) -> ()",
     "needs a matrix"},
    {"\"tilegpu.map_store\"(%t, %i) {map = 0 : i32} : (tensor<32xf32>, i32) -> ()", "cannot store"},
    {"\"tilegpu.ring_end\"(%i) : (i32) -> ()", "needs a buffer"},
    {"\"tilegpu.maps_open\"(%i) : (i32) -> ()", "needs a buffer"},
    {"\"tile.map_make\"(%p, %w) {map = 0 : i32} : (" P ", i64) -> ()", "needs map 0"},
    {"\"tilegpu.ring_drain\"(%g) {ring = 0 : i32, slots = 5 : i32} : (" G ") -> ()",
     "two i64 for each slot"},
    {"\"tilegpu.map_copy\"(%s, %g, %i, %i) {ring = 0 : i32, slots = 3 : i32, map = 0 : i32} : "
     "(!tilegpu.memdesc<tensor<32xf32, " S ">>, " G ", i32, i32) -> ()",
     "needs a matrix"},
};

// The functions that the op may name stand behind it.
static void check_wrong(const struct wrong *w) {
  struct session s = session_open();
  const char *text = arena_printf(
      s.arena,
      "func.func @f(%%x: f32, %%h: f16, %%i: i32, %%b: i1, %%t: tensor<32xf32>, %%o: "
      "tensor<32xi32>, %%m: tensor<32xi1>, %%p: " P ", %%t2: tensor<4x8xf32>, %%l: "
      "tensor<32xf32, " A ">, %%l2: tensor<4x8xf32, " AA ">, %%p1: !tile.ptr<i1>, "
      "%%q: !tile.ptr<f32>, %%qi: !tile.ptr<i32>, %%w: i64, "
      "%%s: !tilegpu.memdesc<tensor<32xf32, " S ">>, %%g: " G ") {\n  %s\n  return\n}\n"
      "func.func private @add(%%x: f32, %%y: f32) -> f32 {\n  return %%x : f32\n}\n"
      "func.func private @neg(%%x: f32) -> f32 {\n  return %%x : f32\n}\n",
      w->op);
  MlirModule m = ir_parse(s.c, "wrong.mlir", str_from(text));
  ck_assert_msg(!mlirModuleIsNull(m), "%s: %s", w->op, diag_first_error(s.diag));
  ck_assert_msg(!ir_verify(s.c, mlirModuleGetOperation(m)), "%s is accepted", w->op);
  ck_assert_msg(strstr(diag_first_error(s.diag), w->message) != NULL, "%s: %s", w->op,
                diag_first_error(s.diag));
  ck_assert_int_eq(diag_first_error_code(s.diag), E0602);
  struct strbuf out = {0};
  diag_render_text(s.diag, (struct diag_style){0}, &out);
  ck_assert_msg(strstr(strbuf_cstr(&out), "wrong.mlir:2:") != NULL, "%s", strbuf_cstr(&out));
  strbuf_finish(&out);
  mlirModuleDestroy(m);
  session_close(&s);
}

START_TEST(wrong_op_is_reported) { check_wrong(&wrongs[_i]); }
END_TEST
START_TEST(wrong_collective_is_reported) { check_wrong(&collective_wrongs[_i]); }
END_TEST

START_TEST(all_problems_are_reported) {
  struct session s = session_open();
  MlirModule m = ir_parse(s.c, "two.mlir",
                          STR("func.func @f(%x: f32) {\n"
                              "  %a = \"tile.bitcast\"(%x) : (f32) -> i64\n"
                              "  %b = \"tile.splat\"(%x) : (f32) -> tensor<8xf16>\n"
                              "  return\n}\n"));
  ck_assert(!mlirModuleIsNull(m));
  ck_assert(!ir_verify(s.c, mlirModuleGetOperation(m)));
  ck_assert_uint_eq(diag_error_count(s.diag), 2);
  mlirModuleDestroy(m);
  session_close(&s);
}
END_TEST

// Text that is not a module: MLIR's diagnostic becomes E0601, at its location.
static void check_parse_error(const char *text, const char *location, const char *words) {
  struct session s = session_open();
  MlirModule m = ir_parse(s.c, "bad.mlir", str_from(text));
  ck_assert_msg(mlirModuleIsNull(m), "%s", text);
  ck_assert_int_eq(diag_first_error_code(s.diag), E0601);
  struct strbuf out = {0};
  diag_render_text(s.diag, (struct diag_style){0}, &out);
  ck_assert_msg(strstr(strbuf_cstr(&out), location) != NULL, "%s", strbuf_cstr(&out));
  ck_assert_msg(strstr(strbuf_cstr(&out), words) != NULL, "%s", strbuf_cstr(&out));
  strbuf_finish(&out);
  session_close(&s);
}

START_TEST(parse_errors) {
  check_parse_error("module {\n  func.func @f() {\n    nonsense\n  }\n}\n",
                    "bad.mlir:3:", "nonsense");
  check_parse_error("// only a comment\n", "bad.mlir", "");
  check_parse_error("module {\n  %0 = \"tile.splat\"() : () -> i32\n}\n", "bad.mlir:2:", "operand");
  check_parse_error("\n// c\nfunc.func @f(%x: i32) {\n  %a = arith.addi %x : i32\n}\n",
                    "bad.mlir:4:", "");
  check_parse_error("func.func @f() {\n  \"tile.unheard_of\"() : () -> ()\n  return\n}\n",
                    "bad.mlir:2:", "unheard_of");
}
END_TEST

// Text that nests deeper than a parser's stack is refused, strings and comments do not count.
START_TEST(deep_nesting) {
  struct strbuf deep = {0};
  strbuf_puts(&deep, "module {\n// ((((\n");
  for (int i = 0; i < 100000; i++)
    strbuf_puts(&deep, "\"a.b\"() ({\n");
  check_parse_error(strbuf_cstr(&deep), "bad.mlir:130:", "nested more than 256 levels");
  strbuf_clear(&deep);
  strbuf_puts(&deep, "func.func @f(%x: !tile.ptr<");
  for (int i = 0; i < 100000; i++)
    strbuf_puts(&deep, "!tile.ptr<");
  check_parse_error(strbuf_cstr(&deep), "bad.mlir:1:", "nested more than 256 levels");
  // MLIR would allocate as many results.
  check_parse_error("module {\n  func.func @f() -> i32 {\n    return %w#2147483647 : i32\n  }\n}\n",
                    "bad.mlir:3:14", "so many results");
  strbuf_clear(&deep);
  strbuf_puts(&deep, "func.func @f(%c: i1) {\n");
  for (int i = 0; i < 300; i++) // as many, but one after the other
    strbuf_puts(&deep, "  \"tile.assert\"(%c) {message = \"\\22(([[<<\"} : (i1) -> () // {{\n");
  strbuf_puts(&deep, "  return\n}\n");
  struct session s = session_open();
  MlirModule m = ir_parse(s.c, "flat.mlir", (struct str){deep.ptr, deep.len});
  ck_assert_msg(!mlirModuleIsNull(m), "%s", diag_first_error(s.diag));
  mlirModuleDestroy(m);
  session_close(&s);
  strbuf_finish(&deep);
}
END_TEST

TCase *verify_tests(void) {
  TCase *t = tcase_create("verify");
  tcase_add_loop_test(t, wrong_op_is_reported, 0, COUNT_OF(wrongs));
  tcase_add_loop_test(t, wrong_collective_is_reported, 0, COUNT_OF(collective_wrongs));
  tcase_add_test(t, all_problems_are_reported);
  tcase_add_test(t, parse_errors);
  tcase_add_test(t, deep_nesting);
  return t;
}
