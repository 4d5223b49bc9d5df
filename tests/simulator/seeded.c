// SPDX-License-Identifier: Apache-2.0
// Faults seeded into the PTX of compiled kernels. A checked simulation must detect each, by a
// violation or by a wrong result. The unmodified PTX must run without violations and agree with the
// CPU executor bit for bit: the numbers are small integers, so that sums are exact in any order.
//
// usage: test-seeded FILE.tile [KERNEL]
#include "attention_faults.h"
#include "cluster_faults.h"
#include "faults.h"
#include "jit/jit.h"
#include "map_faults.h"
#include "ring_faults.h"
#include "tests/sample.h"

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
static double first_row(size_t i) { return 64 * (1 - (double)i); }
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

static void make_ring(struct problem *p) {
  array(p, DTYPE_F16, 64 * 160, number);
  array(p, DTYPE_F16, 160 * 64, number);
  array(p, DTYPE_F32, 64 * 64, zero);
  integer(p, 5);
}

// 3 tiles, the last one not whole.
static void make_persistent(struct problem *p) {
  array(p, DTYPE_F16, 328 * 96, number);
  array(p, DTYPE_F16, 96 * 256, number);
  array(p, DTYPE_F16, 328 * 256, zero);
  integer(p, 328);
  integer(p, 3);
}

// Two programs: a cluster.
static void make_pair(struct problem *p) {
  array(p, DTYPE_F16, 128 * 160, number);
  array(p, DTYPE_F16, 160 * 64, number);
  array(p, DTYPE_F32, 128 * 64, zero);
  integer(p, 5);
  p->grid.x = 2;
}

static void make_made(struct problem *p) {
  array(p, DTYPE_F16, 128 * 160, number);
  array(p, DTYPE_F16, 160 * 64, number);
  array(p, DTYPE_F32, 2 * 64 * 64, zero);
  array(p, DTYPE_I32, 2, first_row);
  integer(p, 5);
}

// All weights are 1, and as many keys as a power of two: the sums are exact.
static void make_attention(struct problem *p) {
  array(p, DTYPE_F16, 128 * 128, zero);
  array(p, DTYPE_F16, 512 * 128, number);
  array(p, DTYPE_F16, 512 * 128, number);
  array(p, DTYPE_F16, 128 * 128, zero);
  integer(p, 512);
}

// ---- the kernels ----

struct subject {
  const char *kernel;
  void (*make)(struct problem *p);
  const struct mutation *faults;
  size_t fault_count;
  bool has_ring;
};

#define SUBJECT(name, ring)                                                                        \
  { #name, make_##name, name##_faults, COUNT_OF(name##_faults), ring }
static const struct subject subjects[] = {
    SUBJECT(masked_add, false),
    SUBJECT(total, false),
    SUBJECT(integers, false),
    SUBJECT(mixed, false),
    SUBJECT(running, false),
    SUBJECT(transpose, false),
    SUBJECT(counts, false),
    SUBJECT(unpack, false),
    SUBJECT(product, false),
    SUBJECT(promoted, false),
    SUBJECT(half_precision, false),
    SUBJECT(ring, true),
    SUBJECT(persistent, true),
    SUBJECT(pair, true),
    SUBJECT(made, true),
    SUBJECT(attention, true),
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
  tile_status s = module_launch(m, NULL, p->grid, pointers, LAUNCH_CHECKED);
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
// `seen`: faults, run or not.

struct counter {
  unsigned cases, failed, seen;
};

static void report(struct counter *c, bool ok, const char *target, const char *kernel,
                   const char *name, const char *why) {
  printf("%s %u - %s %s: %s\n", ok ? "ok" : "not ok", ++c->cases, target, kernel, name);
  c->failed += !ok;
  if (why)
    printf("# %.*s\n", (int)strcspn(why, "\n"), why);
  fflush(stdout);
}

// Every mbarrier in a report is named: "mbarrier 0x6008 (full mbarrier 1 of `a, b`)".
static bool names_barriers(const char *why) {
  for (const char *at = why; (at = strstr(at, "mbarrier 0x")); at++)
    if (strncmp(at + strcspn(at, "(,:"), "(full mbarrier", 14) != 0 &&
        strncmp(at + strcspn(at, "(,:"), "(empty mbarrier", 15) != 0)
      return false;
  return true;
}

// A report about a ring says where: the barrier, the bytes, the argument or the registers, and the
// line of the PTX. A wrong result says nothing.
static bool says_where(const char *why) {
  static const char *const places[] = {"barrier ",   "shared 0x", "address 0x", "byte ",
                                       "element ",   "register",  "wgmma",      "cluster",
                                       "tensor map", "a box"};
  bool names = false;
  for (size_t i = 0; i < COUNT_OF(places); i++)
    names |= strstr(why, places[i]) != NULL;
  return strcmp(why, "another result") == 0 || (names && names_barriers(why) && strstr(why, " of the PTX"));
}

static void test_faults(const struct subject *s, tile_device *device, struct problem *p,
                        const struct kernel_info *info, const char *ptx,
                        const struct problem *expected, struct counter *c) {
  const char *target = device_target(device);
  const char *why = launch(p, device, info, ptx, expected);
  report(c, !why, target, s->kernel, "as it is compiled", why);
  for (size_t i = 0; i < s->fault_count; i++) {
    const struct mutation *m = &s->faults[i];
    if ((m->only && strcmp(m->only, target) != 0) || c->seen++ % sample_step() != 0)
      continue;
    const char *text = mutate(p->arena, ptx, m);
    why = text ? launch(p, device, info, text, expected) : "there is no such instruction";
    bool found = text && why && (!s->has_ring || says_where(why));
    report(c, found, target, s->kernel, m->name, why ? why : "not found");
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
