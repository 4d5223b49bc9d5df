// SPDX-License-Identifier: Apache-2.0
// Tensor maps and copies by them: ranks, swizzles, boxes that reach out of the array, reductions;
// arguments that the encoding refuses, and wrong programs.
#include "ptx_case.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

#define BARRIERS ".shared .align 8 .b64 bars[8];\n"

static struct ptx_case c;

static void set_up(void) {
  c = (struct ptx_case){.before = BARRIERS, .threads = 64};
  for (unsigned i = 0; i < CASE_WORDS; i++)
    c.in[i] = 0x3f800000u + i * 977;
}

// ---- boxes against a plain computation ----

struct box_case {
  struct sim_tensor tensor; // without the address
  int32_t at[5];
};
static const struct box_case boxes[] = {
    {{.type = SIM_TENSOR_F32, .rank = 1, .sizes = {100}, .box = {64}}, {8}},
    {{.type = SIM_TENSOR_F32, .rank = 1, .sizes = {100}, .box = {64}}, {-8}},
    {{.type = SIM_TENSOR_F32, .rank = 1, .sizes = {100}, .box = {64}}, {76}},
    {{.type = SIM_TENSOR_F32, .rank = 1, .sizes = {100}, .box = {64}}, {2000000000}},
    {{.type = SIM_TENSOR_F16,
      .rank = 2,
      .sizes = {70, 20},
      .strides = {160},
      .box = {64, 8},
      .swizzle = SIM_SWIZZLE_128},
     {8, 5}},
    {{.type = SIM_TENSOR_F16,
      .rank = 2,
      .sizes = {70, 20},
      .strides = {160},
      .box = {64, 8},
      .swizzle = SIM_SWIZZLE_128,
      .fill_nan = true},
     {32, 17}},
    {{.type = SIM_TENSOR_BF16,
      .rank = 2,
      .sizes = {70, 20},
      .strides = {160},
      .box = {32, 16},
      .swizzle = SIM_SWIZZLE_64},
     {-8, -2}},
    {{.type = SIM_TENSOR_U8,
      .rank = 2,
      .sizes = {70, 20},
      .strides = {80},
      .box = {32, 16},
      .swizzle = SIM_SWIZZLE_32},
     {16, 3}},
    {{.type = SIM_TENSOR_F64,
      .rank = 2,
      .sizes = {9, 7},
      .strides = {80},
      .box = {4, 8},
      .fill_nan = true},
     {6, 3}},
    {{.type = SIM_TENSOR_I32,
      .rank = 3,
      .sizes = {20, 5, 6},
      .strides = {96, 512},
      .box = {8, 4, 2}},
     {4, 3, 5}},
    {{.type = SIM_TENSOR_F16,
      .rank = 4,
      .sizes = {16, 3, 4, 5},
      .strides = {32, 96, 384},
      .box = {8, 2, 4, 2}},
     {8, 1, 2, 4}},
    {{.type = SIM_TENSOR_U16,
      .rank = 5,
      .sizes = {16, 3, 4, 2, 5},
      .strides = {32, 96, 384, 768},
      .box = {16, 2, 2, 2, 2}},
     {0, 2, -1, 0, 3}},
    {{.type = SIM_TENSOR_F32,
      .rank = 3,
      .sizes = {32, 9, 2},
      .strides = {128, 16}, // overlapping
      .box = {32, 4, 2},
      .swizzle = SIM_SWIZZLE_128},
     {0, 2, 0}},
};

static unsigned element_bytes(enum sim_tensor_type t) {
  return t == SIM_TENSOR_U8                                                   ? 1
         : t == SIM_TENSOR_F64 || t == SIM_TENSOR_U64 || t == SIM_TENSOR_I64  ? 8
         : t == SIM_TENSOR_U16 || t == SIM_TENSOR_F16 || t == SIM_TENSOR_BF16 ? 2
                                                                              : 4;
}

static struct sim_tensor tensor_of(const struct box_case *x, uint64_t address) {
  struct sim_tensor t = x->tensor;
  t.address = address;
  for (unsigned i = 0; i < SIM_TENSOR_RANK; i++)
    t.element_strides[i] = 1;
  return t;
}

// The byte of the array behind element `i` of the box, or -1 outside. A store also writes what is
// behind the end of a row in the same 16 bytes.
static int64_t byte_of(const struct box_case *x, unsigned i, bool is_store) {
  const struct sim_tensor *t = &x->tensor;
  int64_t offset = 0;
  for (unsigned k = 0; k < t->rank; i /= t->box[k], k++) {
    int64_t index = (int64_t)x->at[k] + i % t->box[k], size = (int64_t)t->sizes[k];
    while (is_store && k == 0 && size * element_bytes(t->type) % 16)
      size++;
    if (index < 0 || index >= size)
      return -1;
    offset += index * (int64_t)(k ? t->strides[k - 1] : element_bytes(t->type));
  }
  return offset;
}

static unsigned box_elements(const struct box_case *x) {
  unsigned n = 1;
  for (unsigned k = 0; k < x->tensor.rank; k++)
    n *= x->tensor.box[k];
  return n;
}

// Where a byte of the box lies: with the swizzle, chunks of 16 bytes are exchanged by address.
static unsigned place_of(const struct box_case *x, unsigned byte) {
  static const unsigned masks[] = {0, 1, 3, 7};
  return byte ^ (byte >> 7 & masks[x->tensor.swizzle]) << 4;
}

static void coordinates(const struct box_case *x, char *text, size_t size) {
  size_t n = 0;
  for (unsigned k = 0; k < x->tensor.rank; k++)
    n += (size_t)snprintf(text + n, size - n, "%s%d", k ? ", " : "", x->at[k]);
}

// %r3: an mbarrier. 4 lines.
#define BEGIN                                                                                      \
  "mov.b32 %r3, bars; mov.b32 %r6, smem; setp.eq.u32 %p1, %r0, 0;\n"                               \
  "@%p1 mbarrier.init.shared::cta.b64 [%r3], 1; fence.mbarrier_init.release.cluster;\n"            \
  "mov.b64 %rd5, k_3; cvta.param.u64 %rd5, %rd5; mov.b64 %rd6, k_4; cvta.param.u64 %rd6, %rd6;\n"  \
  "bar.sync 0;\n"
#define LOAD_2D(map, at)                                                                           \
  "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r6], "  \
  "[" map ", {" at "}], [%r3];\n"
#define EXPECT(bytes) "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], " bytes ";\n"
#define WAIT "L: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0; @!%p2 bra L;\n"
// All of smem to `out`.
#define DUMP                                                                                       \
  "shl.b32 %r7, %r0, 2; add.s32 %r7, %r7, %r6; mov.b32 %r8, 0;\n"                                  \
  "D: ld.shared.b32 %r9, [%r7]; st.global.b32 [%rd3], %r9; add.s32 %r7, %r7, 256;\n"               \
  "add.s64 %rd3, %rd3, 256; add.s32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, %r1; @%p3 bra D;\n"

START_TEST(boxes_are_loaded) {
  const struct box_case *x = &boxes[_i];
  struct sim_tensor t = tensor_of(x, CASE_IN + 64);
  unsigned bytes = element_bytes(t.type), total = box_elements(x) * bytes;
  static char body[4096];
  char at[80];
  coordinates(x, at, sizeof at);
  snprintf(
      body, sizeof body,
      "%s@%%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r3], %u;\n"
      "prefetch.tensormap [%%rd5]; prefetch.param.tensormap [k_3];\n"
      "cp.async.bulk.prefetch.tensor.%ud.L2.global.tile [%%rd5, {%s}];\n"
      "@%%p1 cp.async.bulk.tensor.%ud.shared::%s.global%s.mbarrier::complete_tx::bytes [%%r6], "
      "[%s, {%s}], [%%r3];\n%s%s",
      BEGIN, total, t.rank, at, t.rank, _i % 2 ? "cta" : "cluster", _i % 3 ? ".tile" : "",
      _i % 2 ? "k_3" : "%rd5", at, WAIT, DUMP);
  c.maps[0] = &t;
  ck_assert_uint_eq(total % 256, 0);
  c.n = total / 256;
  case_accept(&c, body);
  const uint8_t *from = (const uint8_t *)c.in + 64, *to = (const uint8_t *)c.out;
  for (unsigned i = 0; i < total; i++) {
    int64_t source = byte_of(x, i / bytes, false);
    uint8_t want = source >= 0              ? from[source + i % bytes]
                   : !t.fill_nan            ? 0
                   : i % bytes == bytes - 1 ? 0x7f
                                            : 0xff;
    uint8_t got = to[place_of(x, i)];
    ck_assert_msg(got == want, "byte %u: 0x%02x, not 0x%02x", i, got, want);
  }
}
END_TEST

// What is outside of the array is not stored, but for the rest of the last 16 bytes of a row.
START_TEST(boxes_are_stored) {
  const struct box_case *x = &boxes[_i];
  struct sim_tensor t = tensor_of(x, CASE_OUT + 128);
  if (t.strides[0] == 128 && t.strides[1] == 16)
    return; // elements that are stored twice
  unsigned bytes = element_bytes(t.type), total = box_elements(x) * bytes;
  static char body[4096];
  char at[80];
  coordinates(x, at, sizeof at);
  snprintf(
      body, sizeof body,
      "%sshl.b32 %%r7, %%r0, 2; mov.b32 %%r8, %%r7; mad.wide.u32 %%rd7, %%r0, 4, %%rd2;\n"
      "F: ld.global.b32 %%r9, [%%rd7]; st.shared.b32 [%%r8], %%r9; add.s64 %%rd7, %%rd7, 256;\n"
      "add.s32 %%r8, %%r8, 256; setp.lt.u32 %%p3, %%r8, %u; @%%p3 bra F;\n"
      "fence.proxy.async.shared::cta; bar.sync 0;\n"
      "@%%p1 cp.async.bulk.tensor.%ud.global.shared::cta%s.bulk_group [%%rd5, {%s}], [%%r6];\n"
      "@%%p1 cp.async.bulk.commit_group; @%%p1 cp.async.bulk.wait_group.read 0;\n",
      BEGIN, total, t.rank, _i % 2 ? ".tile" : "", at);
  c.maps[0] = &t;
  case_accept(&c, body);
  static uint8_t want[sizeof c.out];
  memset(want, 0, sizeof want);
  for (unsigned i = 0; i < total; i++) {
    int64_t to = byte_of(x, i / bytes, true);
    if (to >= 0)
      want[128 + to + i % bytes] = ((const uint8_t *)c.in)[place_of(x, i)];
  }
  for (unsigned i = 0; i < sizeof want; i++)
    ck_assert_msg(((uint8_t *)c.out)[i] == want[i], "byte %u: 0x%02x, not 0x%02x", i,
                  ((uint8_t *)c.out)[i], want[i]);
}
END_TEST

static const struct {
  const char *operation;
  enum sim_tensor_type type;
  uint32_t operand, expected; // on 0, twice
} reduced[] = {
    {"add", SIM_TENSOR_F32, 0x3fc00000, 0x40400000},
    {"add", SIM_TENSOR_F16, 0x3e003c00, 0x42004000},
    {"add", SIM_TENSOR_BF16, 0x40003f80, 0x40804000},
    {"add", SIM_TENSOR_U32, 21, 42},
    {"min", SIM_TENSOR_I32, (uint32_t)-4, (uint32_t)-4},
    {"max", SIM_TENSOR_F16, 0x3e00bc00, 0x3e000000},
    {"and", SIM_TENSOR_U32, 5, 0},
    {"or", SIM_TENSOR_I32, 5, 5},
    {"xor", SIM_TENSOR_U64, 5, 0},
    {"inc", SIM_TENSOR_U32, 7, 2},
};

START_TEST(boxes_are_reduced) {
  unsigned wide = element_bytes(reduced[_i].type);
  struct sim_tensor t = {.type = reduced[_i].type,
                         .rank = 2,
                         .address = CASE_OUT,
                         .sizes = {32 / wide, 8},
                         .strides = {32},
                         .box = {32 / wide, 8},
                         .element_strides = {1, 1}};
  static char body[2048];
  snprintf(body, sizeof body,
           "%sshl.b32 %%r7, %%r0, 2; mov.b32 %%r8, %u; st.shared.b32 [%%r7], %%r8;\n"
           "fence.proxy.async; bar.sync 0; createpolicy.fractional.L2::evict_last.b64 %%rd7;\n"
           "@%%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta.%s.tile.bulk_group [%%rd5, {0, "
           "0}], [%%r6];\n"
           "@%%p1 "
           "cp.reduce.async.bulk.tensor.2d.global.shared::cta.%s.bulk_group.L2::cache_hint [%%rd5, "
           "{0, 0}], [%%r6], %%rd7;\n"
           "@%%p1 cp.async.bulk.commit_group; @%%p1 cp.async.bulk.wait_group 0;\n",
           BEGIN, reduced[_i].operand, reduced[_i].operation, reduced[_i].operation);
  c.maps[0] = &t;
  case_accept(&c, body);
  for (unsigned i = 0; i < 64; i++)
    ck_assert_msg(c.out[i] == reduced[_i].expected, "%s: 0x%x", reduced[_i].operation, c.out[i]);
}
END_TEST

// A map in global memory, which the program may copy there.
START_TEST(maps_in_global_memory) {
  struct sim_tensor t = tensor_of(&boxes[4], CASE_IN + 1024);
  char text[SIM_TEXT];
  ck_assert(sim_tensor_map_encode(&t, (uint8_t *)c.in, text, sizeof text));
  case_accept(&c, BEGIN EXPECT("1024") LOAD_2D("%rd2", "8, 5") WAIT);
}
END_TEST

// ---- wrong programs ----

static const struct sim_tensor square = {.type = SIM_TENSOR_F16,
                                         .rank = 2,
                                         .address = CASE_IN,
                                         .sizes = {64, 64},
                                         .strides = {128},
                                         .box = {64, 8},
                                         .element_strides = {1, 1},
                                         .swizzle = SIM_SWIZZLE_128};

static const struct wrong_program wrong[] = {
    {BEGIN LOAD_2D("%rd6", "0, 0"), SIM_BAD_STATE, 5, "there is no tensor map at param"},
    {BEGIN LOAD_2D("%rd2", "0, 0"), SIM_BAD_STATE, 5, "there is no tensor map at global 0x80000"},
    {BEGIN LOAD_2D("%rd5+32", "0, 0"), SIM_MISALIGNED, 5, "a tensor map at"},
    {BEGIN LOAD_2D("%rd5", "1, 0"), SIM_MISALIGNED, 5, "begins at column 1"},
    {BEGIN "@%p1 "
           "cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::bytes [%r6], [%rd5, "
           "{0, 0, 0}], [%r3];",
     SIM_BAD_STATE, 5, "of 2 dimensions, where 3 are wanted"},
    {BEGIN "add.s32 %r6, %r6, 64;\n" LOAD_2D("%rd5", "0, 0"), SIM_MISALIGNED, 6,
     "shared address 0x40, which is no multiple of 128"},
    {BEGIN "add.s32 %r6, %r6, 3584;\n" LOAD_2D("%rd5", "0, 0"), SIM_OUT_OF_BOUNDS, 6,
     "shared memory"},
    {BEGIN EXPECT("512") LOAD_2D("%rd5", "0, 0") WAIT, SIM_ASYNC_ORDER, 0, "it expects too few",
     SIM_DEADLOCK},
    // clipped bytes count as those of the box
    {BEGIN EXPECT("512") LOAD_2D("%rd5", "0, 60") WAIT, SIM_ASYNC_ORDER, 0, "it expects too few",
     SIM_DEADLOCK},
    {BEGIN EXPECT("1024") LOAD_2D("%rd5", "0, 0") "mov.b32 %r1, 4;\n" DUMP WAIT, SIM_EARLY_READ, 9,
     "the copy of line", SIM_RACE},
    {BEGIN "@%p1 "
           "cp.reduce.async.bulk.tensor.2d.global.shared::cta.inc.bulk_group [%rd5, {0, 0}], "
           "[%r6];",
     SIM_BAD_STATE, 5, "not for the tensor's element type"},
    {BEGIN "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd5, {0, 0}], [%r6];",
     SIM_READ_ONLY, 5, ""},
    {BEGIN "prefetch.tensormap [%rd6];", SIM_BAD_STATE, 5, "there is no tensor map"},
};

START_TEST(wrong_programs) {
  c.maps[0] = &square;
  case_reject(&c, &wrong[_i]);
}
END_TEST

// The map says more than the buffer has.
START_TEST(maps_beyond_the_buffer) {
  struct sim_tensor t = square;
  t.address = CASE_IN + sizeof c.in - 512;
  c.maps[0] = &t;
  case_reject(&c, &(struct wrong_program){BEGIN EXPECT("1024") LOAD_2D("%rd5", "0, 0"),
                                          SIM_OUT_OF_BOUNDS, 6, "outside of every buffer"});
  ck_assert_int_eq(c.violations[0].buffer_offset, sizeof c.in);
  t = square;
  t.box[0] = 32;
  case_reject(&c, &(struct wrong_program){BEGIN LOAD_2D("%rd5", "0, 0"), SIM_BAD_STATE, 5,
                                          "only rows as long as the swizzle"});
}
END_TEST

static const char *const unknown[] = {
    "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.multicast::"
    "cluster [%r3], [%rd5, {0, 0}], [%r4], %h1;",
    "cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r3], "
    "[%rd5, {0, 0}], [%r4];",
    "cp.async.bulk.tensor.6d.shared::cta.global.mbarrier::complete_tx::bytes [%r3], [%rd5, {0}], "
    "[%r4];",
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r3], [%rd5, {0}], "
    "[%r4];",
    "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [%r3], [%rd5], [%r4];",
    "ld.global.b32 %r3, [%rd5, {0}];",
    "cp.reduce.async.bulk.tensor.1d.global.shared::cta.mul.bulk_group [%rd5, {0}], [%r4];",
    "prefetch.shared.tensormap [%rd5];",
};

START_TEST(unknown_forms) {
  struct sim_error e = case_parse_body(unknown[_i]);
  ck_assert_msg(e.text[0], "accepted: %s", unknown[_i]);
  ck_assert_uint_eq(e.line, 1);
}
END_TEST

// ---- what the encoding refuses ----

static bool encodes(const struct sim_tensor *t, const char *text) {
  uint8_t map[SIM_TENSOR_MAP_BYTES];
  char reason[SIM_TEXT] = "";
  bool ok = sim_tensor_map_encode(t, map, reason, sizeof reason);
  ck_assert_msg(ok || strstr(reason, text), "refused with: %s", reason);
  return ok;
}

#define REFUSED(text, ...)                                                                         \
  do {                                                                                             \
    struct sim_tensor t = square;                                                                  \
    __VA_ARGS__;                                                                                   \
    ck_assert_msg(!encodes(&t, text), "encoded although: %s", text);                               \
  } while (0)

START_TEST(arguments_that_are_refused) {
  struct sim_tensor large = square;
  ck_assert(encodes(&large, ""));
  large.sizes[0] = (uint64_t)1 << 32;
  large.strides[0] = ((uint64_t)1 << 40) - 16;
  ck_assert(encodes(&large, ""));
  REFUSED("there is no element type", t.type = (enum sim_tensor_type)13);
  REFUSED("the rank is 0", t.rank = 0);
  REFUSED("the rank is 6", t.rank = 6);
  REFUSED("0x80008 is no multiple of 16", t.address += 8);
  REFUSED("interleaved", t.interleave = 1);
  REFUSED("no swizzle 4", t.swizzle = (enum sim_swizzle)4);
  REFUSED("no L2 promotion", t.promotion = 4);
  REFUSED("filled with NaN", (t.fill_nan = true, t.type = SIM_TENSOR_U16));
  REFUSED("dimension 1 has 0 elements", t.sizes[1] = 0);
  REFUSED("dimension 0 has 4294967297", t.sizes[0] = ((uint64_t)1 << 32) + 1);
  REFUSED("the box has 0 elements in dimension 1", t.box[1] = 0);
  REFUSED("the box has 257 elements", t.box[1] = 257);
  REFUSED("element stride of dimension 1 is 2", t.element_strides[1] = 2);
  REFUSED("stride of dimension 1 is 120", t.strides[0] = 120);
  REFUSED("stride of dimension 1", t.strides[0] = (uint64_t)1 << 40);
  REFUSED("no multiple of 16", t.box[0] = 4);
  REFUSED("more than the swizzle's 128", t.box[0] = 72);
}
END_TEST

TCase *sim_tensor_tests(void) {
  TCase *t = tcase_create("sim_tensor");
  tcase_add_checked_fixture(t, set_up, NULL);
  tcase_add_loop_test(t, boxes_are_loaded, 0, COUNT_OF(boxes));
  tcase_add_loop_test(t, boxes_are_stored, 0, COUNT_OF(boxes));
  tcase_add_loop_test(t, boxes_are_reduced, 0, COUNT_OF(reduced));
  tcase_add_test(t, maps_in_global_memory);
  tcase_add_loop_test(t, wrong_programs, 0, COUNT_OF(wrong));
  tcase_add_test(t, maps_beyond_the_buffer);
  tcase_add_loop_test(t, unknown_forms, 0, COUNT_OF(unknown));
  tcase_add_test(t, arguments_that_are_refused);
  return t;
}
