// SPDX-License-Identifier: Apache-2.0
// Memory plans: no more memory than eager execution, no two live buffers in the same memory, and
// in-place outputs where they are valid. Arguments: the first seed of the random graphs and how
// many.
#include "base/file.h"
#include "captures.h"
#include "emit_check.h"
#include "graph/graph_compile.h"
#include "graph/plan/memory_plan.h"
#include "graph/read/fx.h"
#include "random_graph.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t first_seed;
static int seeds = 200;

// Seeds that once failed.
static const uint64_t remembered[] = {2803, 16080};

// ---- any plan ----

static const struct placement *placement_of(const struct program *p, const struct buffer *b) {
  for (size_t i = 0; i < p->placements.len; i++)
    if (p->placements.at[i].buffer == b)
      return &p->placements.at[i];
  return NULL;
}

static bool touches(const struct launch *l, const struct buffer *b) {
  for (size_t i = 0; i < l->args.len; i++)
    if (l->args.at[i].kind == LAUNCH_BUFFER && l->args.at[i].buffer == b)
      return true;
  return l->clears == b;
}

static bool can_reuse(const struct launch *l, const struct buffer *from, const struct buffer *to) {
  for (size_t i = 0; i < l->reuses.len; i++)
    if (l->reuses.at[i].from == from && l->reuses.at[i].to == to)
      return true;
  return false;
}

struct use {
  const struct buffer *buffer;
  size_t first, last;
  int64_t begin, end; // bytes
};

static struct use use_of(const struct program *p, const struct placement *at) {
  struct use u = {.buffer = at->buffer, .first = SIZE_MAX, .begin = expr_hint(at->offset)};
  u.end = u.begin + expr_hint(at->size);
  for (size_t i = 0; i < p->launches.len; i++)
    if (touches(&p->launches.at[i], at->buffer)) {
      u.first = u.first == SIZE_MAX ? i : u.first;
      u.last = i;
    }
  return u;
}

// May the two have the same bytes?
static bool are_apart(const struct program *p, const struct use *u, const struct use *v) {
  if (u->end <= v->begin || v->end <= u->begin || u->last < v->first || v->last < u->first)
    return true;
  const struct use *from = u->first < v->first ? u : v, *to = from == u ? v : u;
  return from->last == to->first && from->begin == to->begin && from->end == to->end &&
         can_reuse(&p->launches.at[to->first], from->buffer, to->buffer);
}

static void check_plan(const struct program *p, const char *name) {
  struct use *uses = calloc(p->placements.len + 1, sizeof *uses);
  ck_assert_ptr_nonnull(uses);
  for (size_t i = 0; i < p->placements.len; i++) {
    uses[i] = use_of(p, &p->placements.at[i]);
    ck_assert_msg(uses[i].end <= expr_hint(p->arena_bytes), "%s: %s lies beyond the arena", name,
                  uses[i].buffer->name);
    ck_assert_int_eq(uses[i].begin % MEMORY_ALIGNMENT, 0);
    for (size_t j = 0; j < i; j++)
      ck_assert_msg(are_apart(p, &uses[i], &uses[j]), "%s: %s and %s are in the same memory", name,
                    uses[i].buffer->name, uses[j].buffer->name);
  }
  for (size_t i = 0; i < p->launches.len; i++)
    for (size_t j = 0; j < p->launches.at[i].args.len; j++) {
      const struct launch_arg *a = &p->launches.at[i].args.at[j];
      if (a->kind == LAUNCH_BUFFER && a->buffer->role == BUFFER_TEMP)
        ck_assert_msg(placement_of(p, a->buffer) != NULL, "%s: %s has no memory", name,
                      a->buffer->name);
    }
  free(uses);
}
// ---- random graphs ----

// Kernels keep some numbers of each row or program between them that operators do not have.
enum { SCRATCH = 16384 };

static void check_seed(uint64_t seed) {
  struct random_graph_options options = {.operators = 3 + (unsigned)(seed * 7 % 24),
                                         .symbolic = seed % 3 == 2,
                                         .half_precision = seed % 4 == 1,
                                         .products = seed % 2 == 1,
                                         .max_elements = seed % 5 == 0 ? 1 << 16 : 2048};
  struct arena *a = arena_create();
  struct graph *g = random_graph(a, diag_engine_create(a), seed, &options);
  ck_assert_ptr_nonnull(g);
  struct program *p = program_compile(g, &(struct program_options){.target = "sm_90a"});
  ck_assert_ptr_nonnull(p);
  char name[64];
  snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
  check_plan(p, name);
  int64_t have = expr_hint(p->arena_bytes), most = expr_hint(p->eager_bytes);
  ck_assert_msg(have <= most + SCRATCH, "%s: %lld bytes, operator by operator %lld", name,
                (long long)have, (long long)most);
  arena_destroy(a);
}

START_TEST(random_plans) { check_seed(first_seed + (uint64_t)_i); }
END_TEST

START_TEST(remembered_plans) { check_seed(remembered[_i]); }
END_TEST

// ---- captured graphs ----

static struct captures captures;

START_TEST(captured_plans) {
  static const char *const targets[] = {"sm_90a", "sm_80", "cpu"};
  const char *name = captures.names[_i];
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", captures.folder, name);
  struct arena *a = arena_create();
  struct str text;
  ck_assert_int_eq(file_read(a, path, 64u << 20, &text), 0);
  for (size_t i = 0; i < COUNT_OF(targets); i++) {
    struct program *p =
        check_program(a, text.ptr, &(struct program_options){.target = targets[i]}, name);
    check_plan(p, name);
    int64_t have = expr_hint(p->arena_bytes), most = expr_hint(p->eager_bytes);
    ck_assert_msg(have <= most, "%s, %s: %lld bytes, operator by operator %lld", name, targets[i],
                  (long long)have, (long long)most);
  }
  arena_destroy(a);
}
END_TEST

// ---- in the memory of an input ----

#define HEAD "class G(torch.nn.Module):\n    def forward(self, "
#define LINE "        "
static const struct program_options on_cpu = {.target = "cpu"};

static struct program *program_of(struct arena *a, const char *text, const char *name) {
  struct program *p = check_program(a, text, &on_cpu, name);
  check_plan(p, name);
  check_agrees(p, NULL, 1e-5, name);
  return p;
}

static bool has_barrier(const struct program *p) {
  for (size_t i = 0; i < p->kernels.len; i++)
    if (strstr(p->kernels.at[i]->source, "tl.debug_barrier()"))
      return true;
  return false;
}

static void check_arena(const char *text, int64_t bytes, bool in_place, const char *name) {
  struct arena *a = arena_create();
  struct program *p = program_of(a, text, name);
  ck_assert_msg(expr_is(p->arena_bytes, bytes), "%s: %lld bytes", name,
                (long long)expr_hint(p->arena_bytes));
  ck_assert(has_barrier(p) == in_place);
  arena_destroy(a);
}

#define BETWEEN_PRODUCTS(lines)                                                                    \
  HEAD "x: \"f32[64, 64]\", w: \"f32[64, 64]\"):\n" LINE                                           \
       "p = torch.ops.aten.mm.default(x, w)\n" lines LINE                                          \
       "q = torch.ops.aten.mm.default(s, w)\n" LINE "return (q,)\n"
enum { SQUARE = 64 * 64 * 4 };

START_TEST(rows_reuse_the_memory_of_what_they_read) {
  check_arena(BETWEEN_PRODUCTS(LINE "m = torch.ops.aten.amax.default(p, [1], True)\n" LINE
                                    "s = torch.ops.aten.sub.Tensor(p, m)\n"),
              SQUARE, true, "rows in place");
}
END_TEST

START_TEST(an_epilogue_reuses_the_memory_of_what_it_adds) {
  check_arena(BETWEEN_PRODUCTS(LINE "m = torch.ops.aten.mm.default(w, x)\n" LINE
                                    "s = torch.ops.aten.add.Tensor(m, p)\n"),
              SQUARE, true, "epilogue in place");
}
END_TEST

START_TEST(others_keep_their_own) {
  check_arena(BETWEEN_PRODUCTS(LINE "t = torch.ops.aten.permute.default(p, [1, 0])\n" LINE
                                    "u = torch.ops.aten.exp.default(p)\n" LINE
                                    "s = torch.ops.aten.add.Tensor(t, u)\n"),
              2 * SQUARE, false, "transposed");
  check_arena(BETWEEN_PRODUCTS(LINE "t = torch.ops.aten.roll.default(p, [1], [0])\n" LINE
                                    "u = torch.ops.aten.exp.default(p)\n" LINE
                                    "s = torch.ops.aten.add.Tensor(t, u)\n"),
              2 * SQUARE, false, "neighbours");
  check_arena(BETWEEN_PRODUCTS(LINE "s = torch.ops.aten.mm.default(p, x)\n"), 2 * SQUARE, false,
              "a product's operand");
}
END_TEST

START_TEST(an_input_that_is_wanted_later_stays) {
  check_arena(HEAD "x: \"f32[64, 64]\", w: \"f32[64, 64]\"):\n" LINE
                   "p = torch.ops.aten.mm.default(x, w)\n" LINE
                   "m = torch.ops.aten.amax.default(p, [1], True)\n" LINE
                   "s = torch.ops.aten.sub.Tensor(p, m)\n" LINE
                   "q = torch.ops.aten.mm.default(s, p)\n" LINE "return (q,)\n",
              2 * SQUARE, false, "wanted later");
}
END_TEST

// ---- the order of launches ----

START_TEST(what_is_wanted_last_is_made_last) {
  struct arena *a = arena_create();
  struct program *p =
      program_of(a,
                 HEAD "x: \"f32[16, 32]\", w: \"f32[32, 4096]\", u: \"f32[4096, 8]\"):\n" LINE
                      "a = torch.ops.aten.mm.default(x, w)\n" LINE
                      "b = torch.ops.aten._softmax.default(a, 1, False)\n" LINE
                      "y = torch.ops.aten.mul.Tensor(x, 0.5)\n" LINE
                      "c = torch.ops.aten.mm.default(y, w)\n" LINE
                      "d = torch.ops.aten._softmax.default(c, 1, False)\n" LINE
                      "e = torch.ops.aten.mm.default(d, u)\n" LINE
                      "f = torch.ops.aten.mm.default(b, u)\n" LINE "return (e, f)\n",
                 "two chains");
  int64_t one = 16 * 4096 * 4;
  ck_assert_int_lt(expr_hint(p->arena_bytes), 2 * one);
  arena_destroy(a);
}
END_TEST

// ---- many storages ----

enum { STORAGES = 20000 };

static int by_offset(const void *a, const void *b) {
  const struct life *l = *(struct life *const *)a, *r = *(struct life *const *)b;
  return l->offset != r->offset ? (l->offset < r->offset ? -1 : 1)
                                : (l->bytes > r->bytes) - (l->bytes < r->bytes);
}

static uint32_t draw(uint64_t *state, uint32_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % below;
}

// No two storages have the same bytes at launch `at`; returns the number of live bytes.
static int64_t check_at(const struct lives *l, size_t at, struct life **live) {
  size_t count = 0;
  int64_t bytes = 0;
  for (size_t i = 0; i < l->count; i++)
    if (l->at[i]->first <= at && at <= l->at[i]->last)
      live[count++] = l->at[i];
  qsort(live, count, sizeof *live, by_offset);
  for (size_t i = 0; i < count; i++) {
    ck_assert(i == 0 || live[i - 1]->offset + live[i - 1]->bytes <= live[i]->offset);
    bytes += live[i]->bytes;
  }
  return bytes;
}

// Storages of `sizes` sizes, most of them short-lived.
static void check_many(uint32_t sizes, uint64_t seed) {
  struct arena *a = arena_create();
  struct lives l = {.count = STORAGES, .at = arena_array(a, struct life *, STORAGES)};
  struct life **live = arena_array(a, struct life *, STORAGES);
  for (size_t i = 0; i < STORAGES; i++) {
    struct life *one = l.at[i] = arena_new(a, struct life);
    one->storage = one;
    one->first = i;
    one->last = i + draw(&seed, draw(&seed, 8) ? 20 : 2000);
    one->bytes = MEMORY_ALIGNMENT * (1 + (int64_t)draw(&seed, sizes) * draw(&seed, 100));
  }
  int64_t end = memory_place(a, &l), peak = 0;
  for (size_t at = 0; at < STORAGES; at += 7) {
    int64_t bytes = check_at(&l, at, live);
    peak = bytes > peak ? bytes : peak;
  }
  ck_assert_msg(end >= peak && end <= peak + peak / 3, "%lld bytes for %lld", (long long)end,
                (long long)peak);
  arena_destroy(a);
}

START_TEST(many_storages_share_memory) {
  check_many(1, 1);
  check_many(4, 2);
  check_many(1000, 3);
}
END_TEST

int main(int argc, char **argv) {
  first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
  seeds = argc > 2 ? atoi(argv[2]) : seeds;
  captures_find(&captures);
  Suite *s = suite_create("memory");
  TCase *t = tcase_create("memory");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, random_plans, 0, seeds);
  tcase_add_loop_test(t, remembered_plans, 0, COUNT_OF(remembered));
  tcase_add_loop_test(t, captured_plans, 0, captures.count);
  tcase_add_test(t, rows_reuse_the_memory_of_what_they_read);
  tcase_add_test(t, an_epilogue_reuses_the_memory_of_what_it_adds);
  tcase_add_test(t, others_keep_their_own);
  tcase_add_test(t, an_input_that_is_wanted_later_stays);
  tcase_add_test(t, what_is_wanted_last_is_made_last);
  tcase_add_test(t, many_storages_share_memory);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  captures_finish(&captures);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
