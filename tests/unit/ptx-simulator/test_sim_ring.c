// SPDX-License-Identifier: Apache-2.0
// A whole kernel: a producer thread feeds a ring of three slots by TMA with the 128-byte swizzle,
// two warpgroups multiply from it by wgmma and release slots by mbarriers, and store the product by
// TMA. It is compared with a plain computation; with a wait, fence or arrival removed or changed,
// it must be rejected under each of several schedules.
#include "base/dtype.h"
#include "ptx_case.h"
#include "suites.h"
#include "tests/sample.h"

#include <stdio.h>
#include <string.h>

enum {
  M = 128,
  N = 64,
  STEP = 64, // of K, in a slot
  STEPS = 7,
  K = STEP * STEPS,
  SLOTS = 3,
  SLOT_BYTES = (M + N) * STEP * 2,
  DYNAMIC_BYTES = SLOTS * SLOT_BYTES + M * N * 4,
  A_AT = 0x100000, // device addresses
  B_AT = 0x200000,
  C_AT = 0x300000,
  ACCUMULATORS = N / 2,
  SEEDS = 5
};

// %r6 slot, %r7 parity, %r8 step; %r10 full[slot], %r11 empty[slot], %r12 the slot's memory.
#define FIND_SLOT                                                                                  \
  "shl.b32 %r9, %r6, 3; add.s32 %r10, %r4, %r9; add.s32 %r11, %r5, %r9;\n"                         \
  "mad.lo.s32 %r12, %r6, 24576, %r3;\n"
#define NEXT_SLOT(name, limit, flip)                                                               \
  "add.s32 %r8, %r8, 1; add.s32 %r6, %r6, 1; setp.ne.u32 %p4, %r6, " limit "; @%p4 bra " name      \
  ";\nmov.b32 %r6, 0;\n" flip "\n" name ":\n"

static const char head[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".extern .shared .align 1024 .b8 ring[];\n"
    ".shared .align 8 .b64 full[3];\n"
    ".shared .align 8 .b64 empty[3];\n"
    ".visible .entry k(.param .align 64 .b8 k_0[128], .param .align 64 .b8 k_1[128],\n"
    "  .param .align 64 .b8 k_2[128], .param .u32 k_3) .reqntid 384 .maxnreg 168\n"
    "{ .reg .pred %p<8>; .reg .b32 %r<40>; .reg .b64 %rd<16>; .reg .b32 %a<32>;\n"
    "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 7; ld.param.b32 %r2, [k_3]; mov.u32 %r15, %laneid;\n"
    "mov.b32 %r3, ring; mov.b32 %r4, full; mov.b32 %r5, empty;\n"
    "mov.b64 %rd1, k_0; cvta.param.u64 %rd1, %rd1; mov.b64 %rd2, k_1; cvta.param.u64 %rd2, %rd2;\n"
    "mov.b64 %rd3, k_2; cvta.param.u64 %rd3, %rd3; prefetch.tensormap [%rd1];\n"
    "setp.ne.u32 %p1, %r0, 0; @%p1 bra MADE;\n"
    "mbarrier.init.shared::cta.b64 [%r4], 1;\n"
    "mbarrier.init.shared::cta.b64 [%r4+8], 1;\n"
    "mbarrier.init.shared::cta.b64 [%r4+16], 1;\n"
    "mbarrier.init.shared::cta.b64 [%r5], 8;\n"
    "mbarrier.init.shared::cta.b64 [%r5+8], 8;\n"
    "mbarrier.init.shared::cta.b64 [%r5+16], 8;\n"
    "fence.mbarrier_init.release.cluster;\n"
    "MADE: bar.sync 0;\n"
    "setp.ne.u32 %p2, %r1, 0; mov.b32 %r6, 0; mov.b32 %r8, 0; @%p2 bra CONSUMER;\n";

static const char producer[] =
    "setmaxnreg.dec.sync.aligned.u32 40;\n"
    "@%p1 bra DONE;\n"
    "mov.b32 %r7, 1;\n"
    "FEED:\n" FIND_SLOT "E: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r11], %r7;\n"
    "@!%p3 bra E;\n"
    "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r10], 24576;\n"
    "shl.b32 %r13, %r8, 6;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r12], "
    "[%rd1, {%r13, 0}], [%r10];\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    "[%r12+16384], [%rd2, {%r13, 0}], [%r10];\n" NEXT_SLOT(
        "FED", "3", "xor.b32 %r7, %r7, 1;") "setp.lt.u32 %p4, %r8, %r2; @%p4 bra FEED;\n"
                                            "DONE: ret;\n";

// %rd4, %rd5: descriptors. The previous slot is released when its products are done: %r17.
static const char consumer[] =
    "CONSUMER: setmaxnreg.inc.sync.aligned.u32 232;\n"
    "sub.s32 %r14, %r1, 1; mov.b32 %r7, 0; mov.b32 %r17, 0;\n"
    "setp.eq.u32 %p7, %r15, 0; setp.eq.u32 %p6, %r0, %r0;\n"
    "%ZERO\n"
    "TAKE:\n" FIND_SLOT
    "F: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [%r10], %r7;\n"
    "@!%p3 bra F;\n"
    "mad.lo.s32 %r16, %r14, 8192, %r12; shr.u32 %r16, %r16, 4; cvt.u64.u32 %rd4, %r16;\n"
    "add.s32 %r16, %r12, 16384; shr.u32 %r16, %r16, 4; cvt.u64.u32 %rd5, %r16;\n"
    "or.b64 %rd4, %rd4, 0x4000004000010000; or.b64 %rd5, %rd5, 0x4000004000010000;\n"
    "wgmma.fence.sync.aligned;\n"
    "%PRODUCTS"
    "wgmma.commit_group.sync.aligned;\n"
    "wgmma.wait_group.sync.aligned 1;\n"
    "setp.ne.u32 %p5, %r17, 0; and.pred %p5, %p5, %p7;\n"
    "@%p5 mbarrier.arrive.release.cta.shared::cta.b64 _, [%r17];\n"
    "mov.b32 %r17, %r11;\n" NEXT_SLOT(
        "TAKEN", "3",
        "xor.b32 %r7, %r7, 1;  ") "setp.lt.u32 %p4, %r8, %r2; @%p4 bra TAKE;\n"
                                  "wgmma.wait_group.sync.aligned 0;\n"
                                  // fragments to shared memory: row and column of this thread
                                  "shr.u32 %r20, %r0, 5; and.b32 %r20, %r20, 3; shl.b32 %r20, "
                                  "%r20, 4; shr.u32 %r21, %r15, 2;\n"
                                  "add.s32 %r20, %r20, %r21; shl.b32 %r22, %r14, 6; add.s32 %r20, "
                                  "%r20, %r22;\n"
                                  "and.b32 %r21, %r15, 3; shl.b32 %r21, %r21, 3; shl.b32 %r20, "
                                  "%r20, 8;\n"
                                  "add.s32 %r20, %r20, %r21; add.s32 %r20, %r20, %r3;\n"
                                  "%STORES"
                                  "fence.proxy.async.shared::cta;\n"
                                  "add.s32 %r23, %r14, 1;\n"
                                  "bar.sync %r23, 128;\n"
                                  "and.b32 %r24, %r0, 127; setp.ne.u32 %p5, %r24, 0; @%p5 bra "
                                  "LAST;\n"
                                  "mad.lo.s32 %r25, %r14, 16384, %r3; add.s32 %r25, %r25, 73728;\n"
                                  "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                                  "[%rd3, {0, %r22}], [%r25];\n"
                                  "cp.async.bulk.commit_group;\n"
                                  "cp.async.bulk.wait_group.read 0;\n"
                                  "LAST: ret;\n}\n";

// ---- the text ----

struct text {
  char at[32768];
  size_t size;
};

static void add(struct text *t, const char *s) {
  t->size += (size_t)snprintf(t->at + t->size, sizeof t->at - t->size, "%s", s);
  ck_assert_uint_lt(t->size, sizeof t->at);
}

static void add_expanded(struct text *t, const char *s) {
  char line[1024];
  for (; *s; s++) {
    if (strncmp(s, "%ZERO", 5) == 0) {
      for (unsigned i = 0; i < ACCUMULATORS; i++) {
        snprintf(line, sizeof line, "mov.b32 %%a%u, 0; ", i);
        add(t, line);
      }
      s += 4;
    } else if (strncmp(s, "%PRODUCTS", 9) == 0) {
      for (unsigned k = 0; k < STEP / 16; k++) {
        add(t, "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {");
        for (unsigned i = 0; i < ACCUMULATORS; i++) {
          snprintf(line, sizeof line, "%s%%a%u", i ? ", " : "", i);
          add(t, line);
        }
        add(t, "}, %rd4, %rd5, %p6, 1, 1, 0, 0;\nadd.s64 %rd4, %rd4, 2; add.s64 %rd5, %rd5, 2;\n");
      }
      s += 8;
    } else if (strncmp(s, "%STORES", 7) == 0) {
      for (unsigned i = 0; i < ACCUMULATORS;
           i += 2) { // column 8 * (i / 4), row + 8 for half of them
        snprintf(line, sizeof line, "st.shared.v2.b32 [%%r20+%u], {%%a%u, %%a%u};\n",
                 SLOTS * SLOT_BYTES + i / 4 * 32 + i / 2 % 2 * 8 * 256, i, i + 1);
        add(t, line);
      }
      s += 6;
    } else {
      snprintf(line, sizeof line, "%c", *s);
      add(t, line);
    }
  }
}

static void make_text(struct text *t) {
  t->size = 0;
  add(t, head);
  add(t, producer);
  add_expanded(t, consumer);
}

// ---- the run ----

static uint16_t a[M * K], b[N * K];
static float product[M * N];

struct result {
  enum sim_status status;
  unsigned count;
  struct sim_violation first;
  char texts[4096];
};

static void keep(void *user, const struct sim_violation *f) {
  struct result *r = user;
  if (!r->count++)
    r->first = *f;
  size_t n = strlen(r->texts);
  snprintf(r->texts + n, sizeof r->texts - n, "%s, line %u: %s\n", sim_kind_name(f->kind),
           f->at.line, f->text);
}

static void map(uint8_t *ret, enum sim_tensor_type type, uint64_t address, unsigned columns,
                unsigned rows, unsigned box_rows, enum sim_swizzle swizzle) {
  char text[SIM_TEXT];
  unsigned bytes = type == SIM_TENSOR_F32 ? 4 : 2;
  struct sim_tensor t = {.type = type,
                         .rank = 2,
                         .address = address,
                         .sizes = {columns, rows},
                         .strides = {(uint64_t)columns * bytes},
                         .box = {64, box_rows},
                         .element_strides = {1, 1},
                         .swizzle = swizzle};
  ck_assert_msg(sim_tensor_map_encode(&t, ret, text, sizeof text), "%s", text);
}

static double a_at(unsigned i, unsigned k) { return (double)((i * 5 + k * 3) % 7) - 3; }
static double b_at(unsigned j, unsigned k) { return (double)((j * 3 + k * 11) % 5) - 2; }

static void run(const char *text, bool check, uint64_t seed, struct result *ret) {
  struct arena *arena = arena_create();
  struct sim_error error;
  uint8_t maps[3][SIM_TENSOR_MAP_BYTES];
  uint32_t steps = STEPS;
  const void *values[] = {maps[0], maps[1], maps[2], &steps};
  struct sim_buffer buffers[] = {{A_AT, a, sizeof a, true, "a"},
                                 {B_AT, b, sizeof b, true, "b"},
                                 {C_AT, product, sizeof product, false, "c"}};
  const struct sim_module *m = sim_module_parse(arena, text, strlen(text), &error);
  ck_assert_msg(m != NULL, "line %u: %s", error.line, error.text);
  map(maps[0], SIM_TENSOR_F16, A_AT, K, M, M, SIM_SWIZZLE_128);
  map(maps[1], SIM_TENSOR_F16, B_AT, K, N, N, SIM_SWIZZLE_128);
  map(maps[2], SIM_TENSOR_F32, C_AT, N, M, 64, SIM_SWIZZLE_NONE);
  memset(product, 0xff, sizeof product);
  *ret = (struct result){.count = 0};
  struct sim_launch l = {.kernel = sim_module_kernel(m, "k"),
                         .grid = {1, 1, 1},
                         .block = {384, 1, 1},
                         .dynamic_shared_bytes = DYNAMIC_BYTES,
                         .values = values,
                         .buffers = buffers,
                         .buffer_count = COUNT_OF(buffers),
                         .check = check,
                         .seed = seed,
                         .instruction_limit = 1000000,
                         .user = ret,
                         .violation = keep};
  ret->status = sim_run(&l, NULL);
  arena_destroy(arena);
}

static bool is_right(void) {
  for (unsigned i = 0; i < M; i++)
    for (unsigned j = 0; j < N; j++) {
      double sum = 0;
      for (unsigned k = 0; k < K; k++)
        sum += a_at(i, k) * b_at(j, k);
      if ((double)product[i * N + j] != sum)
        return false;
    }
  return true;
}

static struct text text;

static void set_up(void) {
  make_text(&text);
  for (unsigned k = 0; k < K; k++) {
    for (unsigned i = 0; i < M; i++)
      dtype_store(DTYPE_F16, &a[i * K + k], a_at(i, k));
    for (unsigned j = 0; j < N; j++)
      dtype_store(DTYPE_F16, &b[j * K + k], b_at(j, k));
  }
}

START_TEST(the_product_is_right) {
  for (uint64_t seed = 0; seed < 2 * SEEDS; seed++)
    for (int check = 0; check < 2; check++) {
      static struct result r;
      run(text.at, check, seed, &r);
      ck_assert_msg(r.status == SIM_OK && r.count == 0, "seed %u: %s", (unsigned)seed, r.texts);
      ck_assert_msg(is_right(), "seed %u: a wrong product", (unsigned)seed);
    }
}
END_TEST

// `from`, which the text has once, becomes `to`.
static const struct {
  const char *what, *from, *to;
  const char *report; // in one of the violations
  bool may_be_missed; // some schedules order everything
} faults[] = {
    {"no wait for an empty slot",
     "E: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r11], %r7;\n"
     "@!%p3 bra E;\n",
     "", "mbarrier 0x"},
    {"no wait for a full slot",
     "F: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [%r10], "
     "%r7;\n@!%p3 bra F;\n",
     "", "mbarrier 0x"},
    {"a wait that is not repeated", "@!%p3 bra F;\n", "", "mbarrier 0x"},
    {"a relaxed wait", "try_wait.parity.acquire.cta", "try_wait.parity.relaxed.cta", "mbarrier 0x"},
    {"a relaxed arrival", "mbarrier.arrive.release.cta.shared::cta.b64 _, [%r17]",
     "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r17]", "nothing orders them"},
    {"the producer's first parity", "mov.b32 %r7, 1;\n", "mov.b32 %r7, 0;\n", "mbarrier 0x"},
    {"the consumers' first parity", "mov.b32 %r7, 0; mov.b32 %r17", "mov.b32 %r7, 1; mov.b32 %r17",
     "mbarrier 0x"},
    {"the producer's parity stays", "xor.b32 %r7, %r7, 1;\n", "\n", "mbarrier 0x"},
    {"the consumers' parity stays", "xor.b32 %r7, %r7, 1;  \n", "\n", "mbarrier 0x"},
    {"bytes of one operand expected", "[%r10], 24576", "[%r10], 16384", "mbarrier 0x"},
    {"too many bytes expected", "[%r10], 24576", "[%r10], 24592", "16 bytes pending"},
    {"no bytes expected", "arrive.expect_tx.release.cta.shared::cta.b64 _, [%r10], 24576",
     "arrive.release.cta.shared::cta.b64 _, [%r10]", "mbarrier 0x"},
    {"both operands to one slot's memory", "[%r12+16384], [%rd2", "[%r12], [%rd2", ""},
    {"an operand announced by another mbarrier", "[%rd2, {%r13, 0}], [%r10]",
     "[%rd2, {%r13, 0}], [%r4]", "mbarrier 0x"},
    {"a slot released before its products are done", "mov.b32 %r17, %r11;\n",
     "@%p7 mbarrier.arrive.shared::cta.b64 _, [%r11];\n", ""},
    {"products in flight when a slot is released", "wgmma.wait_group.sync.aligned 1;\n",
     "wgmma.wait_group.sync.aligned 2;\n", ""},
    {"no wait for the last products", "wgmma.wait_group.sync.aligned 0;\n", "", ""},
    {"one consumer does not release", "setp.eq.u32 %p7, %r15, 0;",
     "setp.eq.u32 %p7, %r15, 0; setp.eq.u32 %p4, %r1, 1; and.pred %p7, %p7, %p4;",
     "4 of 8 arrivals and 0 bytes pending"},
    {"one warp does not release", "setp.eq.u32 %p7, %r15, 0;",
     "setp.eq.u32 %p7, %r15, 0; setp.lt.u32 %p4, %r0, 352; and.pred %p7, %p7, %p4;",
     "1 of 8 arrivals and 0 bytes pending"},
    {"each thread releases", "setp.eq.u32 %p7, %r15, 0;", "setp.ge.u32 %p7, %r15, 0;", ""},
    {"fewer arrivals expected than come", "[%r5+8], 8;", "[%r5+8], 7;", ""},
    {"more arrivals expected than come", "[%r5+8], 8;", "[%r5+8], 9;", "1 of 9 arrivals"},
    {"double init", "[%r5+16], 8;", "[%r5+8], 8;", "mbarrier.init of an object that is in use"},
    {"no fence after init", "fence.mbarrier_init.release.cluster;\n", "", "no fence.mbarrier_init"},
    {"no barrier after init", "MADE: bar.sync 0;", "MADE:", "init"},
    {"no ring", "setp.ne.u32 %p4, %r6, 3; @%p4 bra FED", "setp.ne.u32 %p4, %r6, 2; @%p4 bra FED",
     "mbarrier 0x"},
    {"a misaligned map", "[%rd1, {", "[%rd1+16, {", "a tensor map at"},
    {"a map of another tensor", "[%rd2, {%r13, 0}]", "[%rd3, {%r13, 0}]", ""},
    {"a misaligned box", "[%r12+16384], [%rd2", "[%r12+16400], [%rd2", "a box at shared address"},
    {"no proxy fence before the store", "fence.proxy.async.shared::cta;\n", "",
     "a bulk store reads shared memory through the async proxy"},
    {"no barrier before the store", "bar.sync %r23, 128;\n", "", "nothing orders them"},
    {"one named barrier for both", "add.s32 %r23, %r14, 1;\n", "mov.b32 %r23, 1;\n", "", true},
    {"no wait for the store's reads", "cp.async.bulk.wait_group.read 0;\n", "",
     "exits while its bulk store"},
    {"the store is not committed", "cp.async.bulk.commit_group;\n", "",
     "exits while its bulk store"},
    {"registers that there are not", "inc.sync.aligned.u32 232", "inc.sync.aligned.u32 240",
     "for 240 registers per thread"},
};

static void replace(const struct text *from, const char *what, const char *by, struct text *to) {
  const char *at = strstr(from->at, what);
  ck_assert_msg(at && !strstr(at + 1, what), "not once in the kernel: %s", what);
  to->size = (size_t)snprintf(to->at, sizeof to->at, "%.*s%s%s", (int)(at - from->at), from->at, by,
                              at + strlen(what));
}

START_TEST(faults_are_found) {
  static struct text changed;
  unsigned found = 0;
  replace(&text, faults[_i].from, faults[_i].to, &changed);
  for (uint64_t seed = 0; seed < SEEDS; seed += sample_step()) {
    static struct result r;
    run(changed.at, true, seed, &r);
    found += r.count > 0;
    ck_assert_msg(r.count > 0 || faults[_i].may_be_missed, "%s, seed %u: nothing was found",
                  faults[_i].what, (unsigned)seed);
    ck_assert_msg(strstr(r.texts, faults[_i].report), "%s, seed %u: %s", faults[_i].what,
                  (unsigned)seed, r.texts);
  }
  ck_assert_uint_gt(found, 0);
}
END_TEST

TCase *sim_ring_tests(void) {
  TCase *t = tcase_create("sim_ring");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, set_up, NULL);
  tcase_add_test(t, the_product_is_right);
  tcase_add_loop_test(t, faults_are_found, 0, COUNT_OF(faults));
  return t;
}
