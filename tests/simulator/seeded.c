// SPDX-License-Identifier: Apache-2.0
// Faults seeded into the PTX of compiled kernels. A checked simulation must detect each, by a
// violation or by a wrong result. The unmodified PTX must run without violations and agree with the
// CPU executor bit for bit: the numbers are small integers, so that sums are exact in any order.
//
// usage: test-seeded FILE.tile [KERNEL]
#include "jit/jit.h"
#include "mutate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_ARRAYS = 4, MAX_ARGUMENTS = 6 };

struct data {
  enum dtype type;
  size_t count;
  char *before, *after; // on the CPU
  void *device;
};

struct problem {
  struct arena *arena;
  struct data arrays[MAX_ARRAYS];
  unsigned array_count;
  tile_arg args[MAX_ARGUMENTS]; // pointers first, in the order of the arrays
  unsigned arg_count;
  tile_grid grid;
};

// ---- the kernels' arguments ----

// Small integers, including negative ones.
static uint32_t hash(size_t i) {
  uint32_t h = (uint32_t)i * 2654435761u;
  h = (h ^ h >> 15) * 0x85ebca6bu;
  return h ^ h >> 13;
}
static double number(size_t i) { return (double)(hash(i) % 17) - 8; }
static double bits(size_t i) { return (double)hash(i); }
static double zero(size_t i) { return (void)i, 0; }
static double count(size_t i) { return (double)(hash(i) % 1000 + 5); }

static void array(struct problem *p, enum dtype type, size_t n, double (*value)(size_t i)) {
  struct data *d = &p->arrays[p->array_count++];
  *d = (struct data){.type = type, .count = n};
  d->before = arena_alloc(p->arena, n * dtype_bytes(type), 16);
  d->after = arena_alloc(p->arena, n * dtype_bytes(type), 16);
  for (size_t i = 0; i < n; i++)
    dtype_store(type, d->before + i * dtype_bytes(type), value(i));
  p->args[p->arg_count++] = tile_arg_pointer(NULL, (tile_type)type);
}

static void integer(struct problem *p, int32_t value) {
  p->args[p->arg_count++] = tile_arg_i32(value);
}

static void make_masked_add(struct problem *p) {
  array(p, DTYPE_F32, 389, number);
  array(p, DTYPE_F32, 389, number);
  array(p, DTYPE_F32, 389, zero);
  integer(p, 389);
  p->grid.x = 2;
}

static void make_total(struct problem *p) {
  array(p, DTYPE_F32, 999, number);
  array(p, DTYPE_F32, 1, zero);
  integer(p, 999);
}

static void make_integers(struct problem *p) {
  array(p, DTYPE_I32, 512, count);
  array(p, DTYPE_I32, 4, zero);
}

static void make_mixed(struct problem *p) {
  array(p, DTYPE_I32, 256, count);
  array(p, DTYPE_F32, 256, number);
  array(p, DTYPE_I32, 1, zero);
  array(p, DTYPE_F32, 1, zero);
}

static void make_running(struct problem *p) {
  array(p, DTYPE_F32, 512, number);
  array(p, DTYPE_F32, 512, zero);
}

static void make_transpose(struct problem *p) {
  array(p, DTYPE_F32, 1024, bits);
  array(p, DTYPE_F32, 1024, zero);
}

static void make_counts(struct problem *p) {
  array(p, DTYPE_I32, 301, count);
  array(p, DTYPE_I32, 32, zero);
  integer(p, 301);
  p->grid.x = 2;
}

static void make_unpack(struct problem *p) {
  array(p, DTYPE_U32, 256, bits);
  array(p, DTYPE_I32, 2048, zero);
}

static void make_product(struct problem *p) {
  array(p, DTYPE_F16, 64 * 160, number);
  array(p, DTYPE_F16, 160 * 64, number);
  array(p, DTYPE_F32, 64 * 64, zero);
  integer(p, 5);
}

static void make_promoted(struct problem *p) {
  array(p, DTYPE_F8E4NV, 64 * 320, number);
  array(p, DTYPE_F8E5, 64 * 320, number);
  array(p, DTYPE_F32, 64 * 64, zero);
  integer(p, 5);
}

static void make_half_precision(struct problem *p) {
  array(p, DTYPE_F16, 64 * 32, number);
  array(p, DTYPE_F16, 32 * 64, number);
  array(p, DTYPE_F16, 64 * 64, zero);
}

// ---- the faults ----

static const struct mutation masked_add_faults[] = {
    {"a load without its mask", UNGUARD, "ld.global.b32", 2, 0, NULL, NULL, NULL},
    {"a load with the opposite mask", NEGATE, "ld.global.v2.b32", 1, 0, NULL, NULL, NULL},
    {"a store with the opposite mask", NEGATE, "st.global.v2.b32", 1, 0, NULL, NULL, NULL},
    {"a comparison that takes in one more", REPLACE, "setp.lt.s32", 2, 0, ".lt.", ".le.", NULL},
    {"a mask by or instead of and", REPLACE, "and.pred", 1, 0, "and.", "or.", NULL},
    {"a branch with the opposite condition", NEGATE, "bra", 1, 0, NULL, NULL, NULL},
    {"registers of a wide store exchanged", SWAP, "st.global.v2.b32", 2, 0, "3", "4", NULL},
    {"a wide access at an address for a narrow one", REPLACE, "st.global.v2.b32", 2, 0, "]", "+4]",
     NULL},
};
static const struct mutation total_faults[] = {
    {"a shuffle with another lane", REPLACE, "shfl.sync.bfly", 3, 0, ", 4, 31,", ", 2, 31,", NULL},
    {"a shuffle within half a warp", REPLACE, "shfl.sync.bfly", 5, 0, ", 16, 31,", ", 16, 15,",
     NULL},
    {"a shuffle of fewer lanes than come", REPLACE, "shfl.sync.bfly", 1, 0, "-1;", "65535;", NULL},
    {"a shuffle up instead of across", REPLACE, "shfl.sync.bfly", 2, 0, ".bfly.", ".up.", NULL},
    {"no barrier between store and load", DROP, "bar.sync", 1, 0, NULL, NULL, NULL},
    {"partial sums stored at a wrong stride", REPLACE, "mul.wide.u32", 2, 0, ", 4;", ", 2;", NULL},
    {"a load of shared memory behind what was stored", REPLACE, "ld.shared.v4", 1, 0, "global_smem",
     "global_smem+4", NULL},
    {"a load of too few bytes", REPLACE, "ld.global.b32", 5, 0, "b32", "u16", NULL},
};
static const struct mutation integers_faults[] = {
    {"redux of another operation", REPLACE, "redux.sync.max", 1, 0, ".max.", ".min.", NULL},
    {"redux of bits instead of numbers", REPLACE, "redux.sync.min.s32", 1, 0, ".min.s32",
     ".and.b32", NULL},
    {"redux by or instead of a sum", REPLACE, "redux.sync.add", 1, 0, "redux.sync.add.s32",
     "redux.sync.or.b32", NULL},
    {"redux and the shuffles that it stands for", INSERT, "redux.sync.add", 1, 0, NULL,
     "shfl.sync.bfly.b32 $2, $1, 1, 31, -1;\n\tadd.s32 $1, $1, $2;", NULL},
    {"a barrier that only some threads reach", INSERT, "redux.sync.max", 1, 1, NULL,
     "@%p1 bar.sync 0;", NULL},
    {"no barrier before memory is used again", DROP, "bar.sync", 3, 0, NULL, NULL, NULL},
};
static const struct mutation mixed_faults[] = {
    {"a shuffle with another lane", REPLACE, "shfl.sync.bfly", 2, 0, ", 31,", ", 15,", NULL},
    {"sums of both parts at one address", REPLACE, "st.shared.b32", 2, 0, "+16]", "]", NULL},
};
static const struct mutation running_faults[] = {
    {"a shuffle with another lane", REPLACE, "shfl.sync.bfly", 3, 0, ", 4, 31,", ", 12, 31,", NULL},
    {"operands of a selection exchanged", SWAP, "selp.f32", 6, 0, "1", "2", NULL},
    {"no barrier between store and load", DROP, "bar.sync", 1, 0, NULL, NULL, NULL},
    {"a shift that is wrong by one", REPLACE, "shr.u32", 1, 0, ", 5;", ", 4;", NULL},
};
static const struct mutation transpose_faults[] = {
    {"no barrier between store and load", DROP, "bar.sync", 1, 0, NULL, NULL, NULL},
    {"a wrong swizzle where it is stored", REPLACE, ", 264;", 1, 0, ", 264;", ", 268;", NULL},
    {"a wrong swizzle where it is loaded", REPLACE, ", 12;", 1, 0, ", 12;", ", 20;", NULL},
    {"registers of a wide store exchanged", SWAP, "st.global.v4.b32", 1, 0, "3", "4", NULL},
    {"a store past the end", REPLACE, "st.global.v4.b32", 2, 0, "+2048]", "+2064]", NULL},
};
static const struct mutation counts_faults[] = {
    {"another atomic operation", REPLACE, "atom.acq_rel.gpu.global.add", 1, 0, ".add.u32",
     ".or.b32", NULL},
    {"an atomic maximum of unsigned numbers", REPLACE, "atom.acq_rel.gpu.global.max", 1, 0,
     ".max.s32", ".min.s32", NULL},
    {"an atomic operation without its mask", UNGUARD, "atom.acq_rel.gpu.global.add", 2, 0, NULL,
     NULL, NULL},
    {"a remainder by another power of two", REPLACE, ", -16;", 1, 0, ", -16;", ", -8;", NULL},
    {"a load without its mask", UNGUARD, "ld.global.b32", 2, 0, NULL, NULL, NULL},
};
static const struct mutation unpack_faults[] = {
    {"a shift that is wrong by one", REPLACE, "shl.b32", 1, 0, ", 2;", ", 3;", NULL},
    {"a mask of three bits", REPLACE, ", 15;", 1, 0, ", 15;", ", 7;", NULL},
};
static const struct mutation product_faults[] = {
    {"rows of a fragment of A exchanged", SWAP, "mma.sync", 1, 2, "1", "2", "sm_80"},
    {"registers of a fragment of B exchanged", SWAP, "mma.sync", 2, 3, "1", "2", "sm_80"},
    {"registers of an accumulator exchanged", SWAP, "mma.sync", 9, 4, "2", "3", "sm_80"},
    {"ldmatrix without .trans", REPLACE, ".trans.shared", 1, 0, ".trans", "", "sm_80"},
    {"ldmatrix with .trans", REPLACE, "ldmatrix.sync.aligned.m8n8.x4.shared", 1, 0, ".x4.",
     ".x4.trans.", "sm_80"},
    {"ldmatrix from another row", REPLACE, "ldmatrix.sync", 2, 0, "+2048]", "+1024]", "sm_80"},
    {"no wait for asynchronous copies", DROP, "cp.async.wait_group", 1, 0, NULL, NULL, NULL},
    {"a wait for one group less", REPLACE, "cp.async.wait_group", 2, 0, "1;", "2;", "sm_80"},
    {"copies that are in no group", DROP, "cp.async.commit_group", 1, 0, NULL, NULL, NULL},
    {"no barrier behind the wait", DROP, "bar.sync", 2, 0, NULL, NULL, "sm_80"},
    {"a wait for one group less", REPLACE, "cp.async.wait_group", 1, 0, "1;", "2;", "sm_90a"},
    {"no fence between the proxies", DROP, "fence.proxy.async", 1, 0, NULL, NULL, "sm_90a"},
    {"no barrier in front of wgmma", DROP, "bar.sync", 1, 0, NULL, NULL, "sm_90a"},
    {"wgmma with B the other way", REPLACE, "wgmma.mma_async", 1, 0, ", 0, 1;", ", 0, 0;",
     "sm_90a"},
    {"wgmma with A the other way", REPLACE, "wgmma.mma_async", 2, 0, ", 0, 1;", ", 1, 1;",
     "sm_90a"},
    {"wgmma that forgets its accumulator", REPLACE, "setp.eq.u32 p", 1, 0, "eq", "ne", "sm_90a"},
    {"wgmma of half of K", DROP, "wgmma.mma_async", 2, 0, NULL, NULL, "sm_90a"},
    {"no group of wgmma", DROP, "wgmma.commit_group", 1, 0, NULL, NULL, "sm_90a"},
    {"no wait for wgmma", DROP, "wgmma.wait_group", 1, 0, NULL, NULL, "sm_90a"},
    {"a wait for one wgmma less", REPLACE, "wgmma.wait_group", 1, 0, " 1;", " 2;", "sm_90a"},
    {"sums that are read in flight", DROP, "wgmma.wait_group", 2, 0, NULL, NULL, "sm_90a"},
    {"registers of an accumulator exchanged", SWAP, "wgmma.mma_async", 2, 0, "2", "3", "sm_90a"},
    {"no barrier behind wgmma", DROP, "bar.sync", 2, 0, NULL, NULL, "sm_90a"},
    {"a copy one iteration too late", REPLACE, "setp.le.s32", 1, 0, ".le.", ".lt.", NULL},
    {"a copy to the wrong stage", REPLACE, ", 12288;", 1, 0, ", 12288;", ", 16384;", NULL},
};

static const struct mutation promoted_faults[] = {
    {"a sum that begins with what its registers have", REPLACE, "wgmma.mma_async", 1, 0, ", q, ",
     ", p, ", "sm_90a"},
    {"operands of another type", REPLACE, "wgmma.mma_async", 2, 0, ".e4m3.e5m2", ".e5m2.e5m2",
     "sm_90a"},
    {"a sum that is read in flight", DROP, "wgmma.wait_group", 1, 0, NULL, NULL, "sm_90a"},
    {"a sum that is subtracted", REPLACE, "add.rn.f32", 3, 0, "add", "sub", "sm_90a"},
    {"no barrier in front of the product", DROP, "bar.sync", 1, 0, NULL, NULL, "sm_90a"},
};

// stmatrix exists on Hopper and later.
static const struct mutation half_precision_faults[] = {
    {"stmatrix with .trans", REPLACE, "stmatrix.sync", 1, 0, ".x4.", ".x4.trans.", "sm_90a"},
    {"stmatrix to another row", REPLACE, "stmatrix.sync", 3, 0, "%rd30", "%rd28", "sm_90a"},
    {"registers of stmatrix exchanged", SWAP, "stmatrix.sync", 2, 0, "2", "3", "sm_90a"},
    {"no barrier between matrices and loads", DROP, "bar.sync", 3, 0, NULL, NULL, NULL},
    {"no barrier before memory is used again", DROP, "bar.sync", 2, 0, NULL, NULL, NULL},
    {"halves of a pair exchanged", SWAP, "cvt.rn.f16x2.f32", 3, 0, "2", "3", NULL},
};

struct subject {
  const char *kernel;
  void (*make)(struct problem *p);
  const struct mutation *faults;
  size_t fault_count;
};

#define SUBJECT(name)                                                                              \
  { #name, make_##name, name##_faults, COUNT_OF(name##_faults) }
static const struct subject subjects[] = {
    SUBJECT(masked_add), SUBJECT(total),     SUBJECT(integers),       SUBJECT(mixed),
    SUBJECT(running),    SUBJECT(transpose), SUBJECT(counts),         SUBJECT(unpack),
    SUBJECT(product),    SUBJECT(promoted),  SUBJECT(half_precision),
};

// ---- running ----

static _Noreturn void give_up(const char *what) {
  printf("Bail out! %s: %s\n", what, tile_error_message());
  exit(1);
}

static void need(tile_status s, const char *what) {
  if (s != TILE_OK)
    give_up(what);
}

static void upload(struct problem *p, tile_device *device) {
  for (unsigned i = 0; i < p->array_count; i++) {
    struct data *d = &p->arrays[i];
    size_t bytes = d->count * dtype_bytes(d->type);
    if (!d->device)
      need(tile_malloc(device, bytes, &d->device), "memory");
    need(tile_copy_to_device(device, NULL, d->device, d->before, bytes), "upload");
    p->args[i].value.pointer = d->device;
  }
}

// The arrays after the launch; false if they differ from `expected`, which may be NULL.
static bool download(struct problem *p, tile_device *device, const struct problem *expected) {
  bool same = true;
  for (unsigned i = 0; i < p->array_count; i++) {
    struct data *d = &p->arrays[i];
    size_t bytes = d->count * dtype_bytes(d->type);
    need(tile_copy_to_host(device, NULL, d->after, d->device, bytes), "download");
    same &= !expected || memcmp(d->after, expected->arrays[i].after, bytes) == 0;
  }
  return same;
}

static void release(struct problem *p, tile_device *device) {
  for (unsigned i = 0; i < p->array_count; i++) {
    tile_free(device, p->arrays[i].device);
    p->arrays[i].device = NULL;
  }
}

static void run_on_cpu(const char *file, const struct subject *s, struct problem *p) {
  tile_device *device;
  tile_kernel *kernel;
  need(tile_device_open("cpu", &device), "the cpu");
  need(tile_kernel_open(device, file, s->kernel, &kernel), s->kernel);
  upload(p, device);
  need(tile_launch(kernel, NULL, p->grid, p->args, p->arg_count), s->kernel);
  download(p, device, NULL);
  release(p, device);
  tile_kernel_close(kernel);
  tile_device_close(device);
}

// Launches PTX text with checks. NULL, or the failure: the thread's message, or that the result
// differs.
static const char *launch(struct problem *p, tile_device *device, const struct kernel_info *info,
                          const char *ptx, const struct problem *expected) {
  struct module *m;
  need(module_load(device, ptx, strlen(ptx), info, &m), "the text does not load");
  upload(p, device);
  uint64_t values[MAX_ARGUMENTS];
  void *pointers[MAX_ARGUMENTS];
  for (unsigned i = 0; i < p->arg_count; i++) {
    values[i] = p->args[i].is_pointer ? (uint64_t)(uintptr_t)p->args[i].value.pointer
                                      : (uint64_t)p->args[i].value.integer;
    pointers[i] = &values[i];
  }
  tile_status s = module_launch(m, NULL, p->grid, pointers, true);
  module_destroy(m);
  const struct cpu_violation *found;
  uint64_t total;
  if (s == TILE_OK && device_violations(device, &found, &total) > 0)
    return "a violation, and the launch did not fail";
  if (s != TILE_OK)
    return tile_error_message();
  return download(p, device, expected) ? NULL : "another result";
}

// ---- the test ----

struct counter {
  unsigned cases, failed;
};

static void report(struct counter *c, bool ok, const char *target, const char *kernel,
                   const char *name, const char *why) {
  printf("%s %u - %s %s: %s\n", ok ? "ok" : "not ok", ++c->cases, target, kernel, name);
  c->failed += !ok;
  if (why)
    printf("# %.*s\n", (int)strcspn(why, "\n"), why);
  fflush(stdout);
}

static void test_faults(const struct subject *s, tile_device *device, struct problem *p,
                        const struct kernel_info *info, const char *ptx,
                        const struct problem *expected, struct counter *c) {
  const char *target = device_target(device);
  const char *why = launch(p, device, info, ptx, expected);
  report(c, !why, target, s->kernel, "as it is compiled", why);
  for (size_t i = 0; i < s->fault_count; i++) {
    const struct mutation *m = &s->faults[i];
    if (m->only && strcmp(m->only, target) != 0)
      continue;
    const char *text = mutate(p->arena, ptx, m);
    why = text ? launch(p, device, info, text, expected) : "there is no such instruction";
    report(c, text && why, target, s->kernel, m->name, why ? why : "not found");
  }
}

static void test_subject(const char *file, const struct subject *s, const char *target,
                         struct counter *c) {
  struct arena *a = arena_create();
  struct problem p = {.arena = a, .grid = {1, 1, 1}}, expected = p;
  char name[64];
  tile_device *device;
  tile_kernel *kernel;
  struct jit_spec *spec;
  s->make(&p);
  s->make(&expected);
  run_on_cpu(file, s, &expected);
  snprintf(name, sizeof name, "simulate:%s", target);
  need(tile_device_open(name, &device), name);
  need(tile_kernel_open(device, file, s->kernel, &kernel), s->kernel);
  upload(&p, device);
  need(jit_specialise(kernel, p.args, p.arg_count, NULL, &spec), s->kernel);
  test_faults(s, device, &p, jit_spec_info(spec), jit_spec_code(spec).ptr, &expected, c);
  release(&p, device);
  tile_kernel_close(kernel);
  tile_device_close(device);
  arena_destroy(a);
}

int main(int argc, char **argv) {
  static const char *const targets[] = {"sm_80", "sm_90a"};
  struct counter c = {0};
  if (argc < 2) {
    fputs("usage: test-seeded FILE.tile [KERNEL]\n", stderr);
    return 2;
  }
  setenv("TILE_CACHE_DIR", "", 0);
  for (size_t i = 0; i < COUNT_OF(subjects); i++)
    for (size_t t = 0; t < COUNT_OF(targets); t++)
      if (argc < 3 || strcmp(argv[2], subjects[i].kernel) == 0)
        test_subject(argv[1], &subjects[i], targets[t], &c);
  printf("1..%u\n", c.cases);
  return c.failed != 0;
}
