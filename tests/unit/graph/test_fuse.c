// SPDX-License-Identifier: Apache-2.0
// Fusion of hand-built loops: which stages are fused, over which axes, and which are not.
#include "graph/fuse/region.h"

#include <check.h>
#include <stdlib.h>
#include <time.h>

#define E(x) expr_const(t.x_, x)

// ---- loops by hand ----

static struct {
  struct arena *arena;
  struct exprs *x_;
  struct scalars *s;
  struct diag_engine *diag;
  struct loops *l;
  struct regions *r;
} t;

static void begin(void) {
  t.arena = arena_create();
  t.x_ = exprs_create(t.arena);
  t.s = scalars_create(t.arena, t.x_);
  t.diag = diag_engine_create(t.arena);
  t.l = arena_new(t.arena, struct loops);
  *t.l = (struct loops){.arena = t.arena, .exprs = t.x_, .diag = t.diag, .scalars = t.s};
  t.r = NULL;
}

static void end(void) { arena_destroy(t.arena); }

static struct buffer *buffer(const char *name, enum buffer_role role, int64_t numel) {
  struct buffer *b = arena_new(t.arena, struct buffer);
  *b = (struct buffer){.id = (uint32_t)t.l->buffers.len,
                       .name = name,
                       .dtype = DTYPE_F32,
                       .role = role,
                       .numel = E(numel),
                       .home = b};
  vec_push(t.arena, &t.l->buffers, b);
  return b;
}

static const struct expr *axis(const char *name, int64_t extent) {
  return expr_symbol(t.x_, name, 0, extent - 1, E(extent));
}

// c0*a0 + c1*a1 + ... ; ends with NULL.
static const struct expr *at(int64_t c0, const struct expr *a0, ...) {
  va_list ap;
  va_start(ap, a0);
  const struct expr *sum = expr_muli(t.x_, a0, c0);
  for (;;) {
    int64_t c = va_arg(ap, int);
    if (!c)
      break;
    sum = expr_add(t.x_, sum, expr_muli(t.x_, va_arg(ap, const struct expr *), c));
  }
  va_end(ap);
  return sum;
}

static const struct scalar *load(struct buffer *b, const struct expr *offset) {
  return scalar_load(t.s, b, offset);
}

static const struct scalar *binary(enum scalar_op op, const struct scalar *a,
                                   const struct scalar *b) {
  const struct scalar *in[2] = {a, b};
  return scalar_apply(t.s, op, DTYPE_F32, in);
}

static const struct scalar *unary(enum scalar_op op, const struct scalar *a) {
  return scalar_apply(t.s, op, DTYPE_F32, &a);
}

static struct stage *stage(enum stage_kind kind, const char *origin, struct buffer *out,
                           const struct expr *offset, const struct scalar *body, unsigned rank,
                           unsigned reduced, const struct expr *const *axes) {
  struct stage *s = arena_new(t.arena, struct stage);
  s->kind = kind;
  s->id = (uint32_t)t.l->stages.len;
  s->rank = rank;
  s->reduced = reduced;
  s->axes = arena_array(t.arena, const struct expr *, rank + reduced + 1);
  for (unsigned i = 0; i < rank + reduced; i++)
    s->axes[i] = axes[i];
  s->body = body;
  s->dtype = DTYPE_F32;
  s->out = out;
  s->offset = offset;
  vec_push(t.arena, &s->origins, origin);
  vec_push(t.arena, &t.l->stages, s);
  return s;
}

#define AXES(...) ((const struct expr *const[]){__VA_ARGS__})
#define MAP(origin, out, offset, body, rank, ...)                                                  \
  stage(STAGE_MAP, origin, out, offset, body, rank, 0, AXES(__VA_ARGS__))
#define SUM(origin, out, offset, body, rank, reduced, ...)                                         \
  stage(STAGE_REDUCE, origin, out, offset, body, rank, reduced, AXES(__VA_ARGS__))

static void product(const char *origin, struct buffer *out, const struct expr *offset,
                    const struct scalar *a, const struct scalar *b,
                    const struct expr *const axes[4]) {
  struct stage *s = stage(STAGE_PRODUCT, origin, out, offset, NULL, 3, 1, axes);
  s->a = a;
  s->b = b;
}

// ---- what comes out ----

static void fuse(void) {
  t.r = regions_form(t.l, &(struct fuse_options){0});
  ck_assert_ptr_nonnull(t.r);
}

static void print_is(const char *expected) {
  struct strbuf out = {0};
  regions_print(t.r, &out);
  ck_assert_msg(strcmp(strbuf_cstr(&out), expected) == 0, "got:\n%.3000s\nexpected:\n%.3000s",
                strbuf_cstr(&out), expected);
  strbuf_finish(&out);
}

static void count_is(size_t expected) {
  struct strbuf out = {0};
  regions_print(t.r, &out);
  ck_assert_msg(t.r->list.len == expected, "%zu regions instead of %zu:\n%.3000s", t.r->list.len,
                expected, strbuf_cstr(&out));
  strbuf_finish(&out);
}

static bool says(const char *text) {
  struct strbuf out = {0};
  diag_render_text(t.diag, (struct diag_style){.remarks = true}, &out);
  bool found = out.ptr && strstr(out.ptr, text);
  strbuf_finish(&out);
  return found;
}

// ---- rows ----

START_TEST(softmax_is_one_region) {
  begin();
  struct buffer *in = buffer("x", BUFFER_INPUT, 2 * 3 * 64);
  struct buffer *max = buffer("max", BUFFER_TEMP, 6), *sum = buffer("sum", BUFFER_TEMP, 6);
  struct buffer *out = buffer("y", BUFFER_OUTPUT, 2 * 3 * 64);
  const struct expr *a = axis("a", 2), *b = axis("b", 3), *c = axis("c", 64);
  const struct expr *here = at(192, a, 64, b, 1, c, 0), *row = at(3, a, 1, b, 0);
  SUM("amax", max, row, load(in, here), 2, 1, a, b, c)->op = REDUCE_MAX;
  const struct scalar *e = unary(SCALAR_EXP, binary(SCALAR_SUB, load(in, here), load(max, row)));
  SUM("sum", sum, row, e, 2, 1, a, b, c);
  MAP("softmax", out, here, binary(SCALAR_DIV, e, load(sum, row)), 3, a, b, c);
  fuse();
  count_is(1);
  const struct region *r = t.r->list.at[0];
  ck_assert_int_eq(r->kind, REGION_ROWS);
  ck_assert(r->is_inner);
  ck_assert_int_eq(expr_hint(r->axes[0]->symbol->limit), 6);
  ck_assert_int_eq(expr_hint(r->axes[1]->symbol->limit), 64);
  ck_assert_uint_eq(r->writes.len, 1);
  ck_assert_uint_eq(t.r->temporaries.len, 0);
  ck_assert_str_eq(r->name, "amax_sum_softmax");
  ck_assert_int_eq(expr_hint(r->bytes), 2 * 4 * 384);
  // On the region's axes: out[64*x + r].
  const struct stage *last = r->stages.at[2];
  ck_assert_uint_eq(last->rank, 2);
  ck_assert_ptr_eq(last->offset, at(64, r->axes[0], 1, r->axes[1], 0));
  ck_assert_ptr_eq(region_maker(r, max), r->stages.at[0]);
  end();
}
END_TEST

START_TEST(maps_join_rows) {
  // u = x + y is used by a sum over rows and by who takes the mean from it.
  begin();
  struct buffer *x = buffer("x", BUFFER_INPUT, 32 * 768), *y = buffer("y", BUFFER_INPUT, 32 * 768);
  struct buffer *u = buffer("u", BUFFER_TEMP, 32 * 768), *mean = buffer("mean", BUFFER_TEMP, 32);
  struct buffer *out = buffer("out", BUFFER_OUTPUT, 32 * 768);
  const struct expr *flat = axis("i", 32 * 768), *m = axis("m", 32), *n = axis("n", 768);
  const struct expr *h = axis("h", 12), *d = axis("d", 64);
  MAP("add", u, flat, binary(SCALAR_ADD, load(x, flat), load(y, flat)), 1, flat);
  SUM("mean", mean, m, load(u, at(768, m, 1, n, 0)), 1, 1, m, n);
  const struct expr *split = at(768, m, 64, h, 1, d, 0);
  MAP("sub", out, at(64, m, 2048, h, 1, d, 0), binary(SCALAR_SUB, load(u, split), load(mean, m)), 3,
      h, m, d);
  fuse();
  count_is(1);
  ck_assert_uint_eq(t.r->list.at[0]->reads.len, 2);
  ck_assert_uint_eq(t.r->list.at[0]->writes.len, 1);
  end();
}
END_TEST

START_TEST(rows_and_columns) {
  // The backward of a norm: a sum for each row, what follows from it, a sum for each column.
  begin();
  struct buffer *g = buffer("g", BUFFER_INPUT, 512 * 96), *x = buffer("x", BUFFER_INPUT, 512 * 96);
  struct buffer *s = buffer("s", BUFFER_TEMP, 512), *dx = buffer("dx", BUFFER_OUTPUT, 512 * 96);
  struct buffer *w = buffer("dw32", BUFFER_TEMP, 96), *dw = buffer("dw", BUFFER_OUTPUT, 96);
  const struct expr *m = axis("m", 512), *n = axis("n", 96), *here = at(96, m, 1, n, 0);
  const struct scalar *gx = binary(SCALAR_MUL, load(g, here), load(x, here));
  SUM("sum", s, m, gx, 1, 1, m, n);
  MAP("mul", dx, here, binary(SCALAR_MUL, load(g, here), load(s, m)), 2, m, n);
  SUM("sum", w, n, gx, 1, 1, n, m);
  MAP("div", dw, n, binary(SCALAR_DIV, load(w, n), scalar_real(t.s, DTYPE_F32, 2)), 1, n);
  fuse();
  count_is(1);
  const struct region *r = t.r->list.at[0];
  ck_assert_int_eq(r->kind, REGION_ROW_COLUMN);
  ck_assert_int_eq(expr_hint(r->axes[0]->symbol->limit), 512);
  const struct stage *column = r->stages.at[2], *behind = r->stages.at[3];
  ck_assert_uint_eq(column->rank, 1);
  ck_assert_uint_eq(column->reduced, 1);
  ck_assert_ptr_eq(column->axes[0], r->axes[1]);
  ck_assert_ptr_eq(column->axes[1], r->axes[0]);
  ck_assert_uint_eq(behind->rank, 1);
  ck_assert_ptr_eq(behind->axes[0], r->axes[1]);
  end();
}
END_TEST

START_TEST(cross_entropy_is_one_region) {
  begin();
  enum { M = 64, N = 32000 };
  struct buffer *x = buffer("x", BUFFER_INPUT, M * N), *target = buffer("target", BUFFER_INPUT, M);
  target->dtype = DTYPE_I64;
  struct buffer *max = buffer("max", BUFFER_TEMP, M), *sum = buffer("sum", BUFFER_TEMP, M);
  struct buffer *total = buffer("total", BUFFER_TEMP, 1), *count = buffer("count", BUFFER_TEMP, 1);
  struct buffer *loss = buffer("loss", BUFFER_OUTPUT, 1);
  const struct expr *m = axis("m", M), *n = axis("n", N), *here = at(N, m, 1, n, 0);
  const struct expr *zero = E(0), *chosen = scalar_indirect(t.s, load(target, m), E(N));
  SUM("amax", max, m, load(x, here), 1, 1, m, n)->op = REDUCE_MAX;
  SUM("sum", sum, m, unary(SCALAR_EXP, binary(SCALAR_SUB, load(x, here), load(max, m))), 1, 1, m,
      n);
  const struct scalar *picked = load(x, expr_add(t.x_, expr_muli(t.x_, m, N), chosen));
  const struct scalar *nll =
      binary(SCALAR_SUB, binary(SCALAR_ADD, unary(SCALAR_LOG, load(sum, m)), load(max, m)), picked);
  const struct scalar *ignore = scalar_int(t.s, DTYPE_I64, -100);
  const struct scalar *valid =
      scalar_convert(t.s, binary(SCALAR_NE, load(target, m), ignore), DTYPE_F32);
  SUM("nll_loss", total, zero, binary(SCALAR_MUL, nll, valid), 0, 1, m);
  SUM("nll_loss", count, zero, valid, 0, 1, m);
  MAP("div", loss, zero, binary(SCALAR_DIV, load(total, zero), load(count, zero)), 0, zero);
  fuse();
  count_is(1);
  const struct region *r = t.r->list.at[0];
  ck_assert_int_eq(r->kind, REGION_ROW_COLUMN);
  ck_assert_uint_eq(r->stages.at[2]->rank, 0);
  ck_assert_uint_eq(r->stages.at[2]->reduced, 1);
  ck_assert_ptr_eq(r->stages.at[2]->axes[0], r->axes[0]);
  ck_assert_uint_eq(r->stages.at[4]->rank + r->stages.at[4]->reduced, 0);
  end();
}
END_TEST

START_TEST(other_rows_stay_apart) {
  begin();
  struct buffer *x = buffer("x", BUFFER_INPUT, 4096 * 512), *s = buffer("s", BUFFER_OUTPUT, 4096);
  struct buffer *y = buffer("y", BUFFER_TEMP, 4096 * 512), *u = buffer("u", BUFFER_OUTPUT, 1024);
  const struct expr *m = axis("m", 4096), *n = axis("n", 512), *p = axis("p", 1024);
  const struct expr *q = axis("q", 2048), *here = at(512, m, 1, n, 0);
  SUM("sum", s, m, load(x, here), 1, 1, m, n);
  MAP("exp", y, here, unary(SCALAR_EXP, binary(SCALAR_SUB, load(x, here), load(s, m))), 2, m, n);
  SUM("prod", u, p, load(y, at(2048, p, 1, q, 0)), 1, 1, p, q);
  fuse();
  count_is(2);
  ck_assert(says("`sum` and `exp_prod` are not fused: their iteration spaces differ in size"));
  end();
}
END_TEST

// ---- maps ----

START_TEST(axes_are_merged_and_ordered) {
  begin();
  struct buffer *x = buffer("x", BUFFER_INPUT, 4 * 6 * 8), *y = buffer("y", BUFFER_OUTPUT, 192);
  const struct expr *a = axis("a", 4), *b = axis("b", 6), *c = axis("c", 8), *one = axis("o", 1);
  MAP("exp", y, at(48, a, 8, b, 1, c, 0), unary(SCALAR_EXP, load(x, at(48, a, 8, b, 1, c, 0))), 4,
      c, one, a, b);
  fuse();
  const struct region *r = t.r->list.at[0];
  ck_assert_uint_eq(r->rank, 1);
  ck_assert_int_eq(expr_hint(r->axes[0]->symbol->limit), 192);
  ck_assert_ptr_eq(r->stages.at[0]->offset, r->axes[0]);
  print_is("exp: map over x < 192; reads x; writes y; 1536 bytes, 192 operations\n"
           "  y[x] = exp(x[x])  for x<192\n");
  end();
}
END_TEST

START_TEST(transposed_consumer_joins) {
  begin();
  struct buffer *x = buffer("x", BUFFER_INPUT, 64 * 32), *u = buffer("u", BUFFER_TEMP, 64 * 32);
  struct buffer *y = buffer("y", BUFFER_OUTPUT, 64 * 32), *z = buffer("z", BUFFER_OUTPUT, 64 * 32);
  const struct expr *i = axis("i", 2048), *a = axis("a", 32), *b = axis("b", 64);
  MAP("exp", u, i, unary(SCALAR_EXP, load(x, i)), 1, i);
  MAP("neg", y, at(64, a, 1, b, 0), unary(SCALAR_NEG, load(u, at(1, a, 32, b, 0))), 2, a, b);
  MAP("abs", z, i, unary(SCALAR_ABS, load(u, i)), 1, i);
  fuse();
  count_is(1);
  ck_assert_uint_eq(t.r->list.at[0]->rank, 2);
  ck_assert_uint_eq(t.r->list.at[0]->writes.len, 2);
  end();
}
END_TEST

START_TEST(reads_elsewhere_stay_apart) {
  begin();
  struct buffer *x = buffer("x", BUFFER_INPUT, 64), *u = buffer("u", BUFFER_TEMP, 64);
  struct buffer *y = buffer("y", BUFFER_OUTPUT, 64);
  const struct expr *i = axis("i", 64), *back = expr_sub(t.x_, E(63), i);
  MAP("exp", u, i, unary(SCALAR_EXP, load(x, i)), 1, i);
  MAP("add", y, i, binary(SCALAR_ADD, load(u, i), load(u, back)), 1, i);
  fuse();
  count_is(2);
  ck_assert(says("is read at other offsets than it is written"));
  end();
}
END_TEST

START_TEST(no_cycles) {
  // u is read here and, by way of a sum that is no part of either, once more.
  begin();
  struct buffer *x = buffer("x", BUFFER_INPUT, 4096), *u = buffer("u", BUFFER_TEMP, 4096);
  struct buffer *s = buffer("s", BUFFER_TEMP, 64), *y = buffer("y", BUFFER_OUTPUT, 4096);
  const struct expr *i = axis("i", 4096), *a = axis("a", 64), *b = axis("b", 128);
  const struct expr *wrapped = expr_mod(t.x_, b, E(64));
  MAP("exp", u, i, unary(SCALAR_EXP, load(x, i)), 1, i);
  SUM("sum", s, a, load(u, at(64, a, 1, wrapped, 0)), 1, 1, a, b);
  const struct expr *row = expr_floordiv(t.x_, i, E(64));
  MAP("add", y, i, binary(SCALAR_ADD, load(u, i), load(s, row)), 1, i);
  fuse();
  count_is(3);
  ck_assert(
      says("`exp` and `add` are not fused: a third kernel depends on one of them, and the other"));
  for (size_t k = 0; k < 3; k++)
    ck_assert_uint_eq(t.r->list.at[k]->stages.at[0]->id, k);
  end();
}
END_TEST

START_TEST(written_inputs_are_read_before) {
  begin();
  struct buffer *x = buffer("x", BUFFER_INPUT, 64), *y = buffer("y", BUFFER_OUTPUT, 64);
  const struct expr *i = axis("i", 64);
  MAP("exp", y, i, unary(SCALAR_EXP, load(x, expr_sub(t.x_, E(63), i))), 1, i);
  MAP("copy", x, i, unary(SCALAR_NEG, load(x, i)), 1, i);
  fuse();
  count_is(2);
  ck_assert_ptr_eq(t.r->list.at[1]->writes.at[0], x);
  end();
}
END_TEST

// ---- products ----

static const struct expr *product_axes[4];

static void linear(struct buffer *out, int64_t m, int64_t n, int64_t k) {
  struct buffer *x = buffer("x", BUFFER_INPUT, m * k), *w = buffer("w", BUFFER_INPUT, n * k);
  const struct expr **a = product_axes;
  a[0] = axis("b", 1);
  a[1] = axis("m", m);
  a[2] = axis("n", n);
  a[3] = axis("k", k);
  product("mm", out, at(n, a[1], 1, a[2], 0), load(x, at(k, a[1], 1, a[3], 0)),
          load(w, at(1, a[3], k, a[2], 0)), a);
}

START_TEST(epilogues_join_products) {
  begin();
  enum { M = 24, N = 768, K = 96 };
  struct buffer *u = buffer("u", BUFFER_TEMP, M * N), *bias = buffer("bias", BUFFER_INPUT, N);
  struct buffer *y = buffer("y", BUFFER_OUTPUT, M * N);
  linear(u, M, N, K);
  const struct expr *i = axis("i", 2), *j = axis("j", 12), *h = axis("h", 12), *d = axis("d", 64);
  const struct scalar *sum = binary(SCALAR_ADD, load(u, at(12 * N, i, N, j, 64, h, 1, d, 0)),
                                    load(bias, at(64, h, 1, d, 0)));
  MAP("gelu", y, at(12 * N, i, 12 * 64, h, 64, j, 1, d, 0), unary(SCALAR_ERF, sum), 4, i, h, j, d);
  fuse();
  count_is(1);
  const struct region *r = t.r->list.at[0];
  ck_assert_int_eq(r->kind, REGION_PRODUCT);
  ck_assert_str_eq(r->name, "mm_gelu");
  ck_assert_uint_eq(r->stages.at[1]->rank, 3);
  ck_assert_ptr_eq(r->stages.at[1]->axes[2], r->axes[2]);
  ck_assert_int_eq(expr_hint(r->flops), 2 * M * N * K + 2 * M * N);
  end();
}
END_TEST

START_TEST(rows_of_products_stay_apart) {
  begin();
  enum { M = 24, N = 768, K = 96 };
  struct buffer *u = buffer("u", BUFFER_TEMP, M * N), *s = buffer("s", BUFFER_OUTPUT, M);
  linear(u, M, N, K);
  const struct expr *m = axis("m", M), *n = axis("n", N);
  SUM("sum", s, m, load(u, at(N, m, 1, n, 0)), 1, 1, m, n);
  fuse();
  count_is(2);
  ck_assert(says("a block of a product does not have whole rows"));
  end();
}
END_TEST

START_TEST(small_kernels_join) {
  begin();
  for (int k = 0; k < 4; k++) {
    int64_t n = k == 3 ? 1 << 22 : 256;
    struct buffer *x = buffer("x", BUFFER_INPUT, n), *y = buffer("y", BUFFER_OUTPUT, n);
    const struct expr *i = axis("i", n);
    MAP("neg", y, i, unary(SCALAR_NEG, load(x, i)), 1, i);
  }
  fuse();
  count_is(2);
  ck_assert_uint_eq(t.r->list.at[0]->writes.len, 3);
  end();
}
END_TEST

// ---- many ----

START_TEST(many_readers_in_time) {
  begin();
  enum { COUNT = 10000 };
  const struct expr *i = axis("i", 1024), *j = axis("j", 1024);
  struct buffer *x = buffer("x", BUFFER_INPUT, 2048);
  for (int k = 0; k < COUNT; k++) // indices differ, so that nothing is shared
    MAP("neg", buffer("y", BUFFER_OUTPUT, 1 << 20), at(1024, i, 1, j, 0),
        binary(SCALAR_ADD, load(x, expr_addi(t.x_, i, k % 1024)),
               load(x, expr_addi(t.x_, j, k / 10))),
        2, i, j);
  clock_t start = clock();
  fuse();
  ck_assert_msg((double)(clock() - start) / CLOCKS_PER_SEC < 20.0, "fusion takes too long");
  count_is(COUNT);
  end();
}
END_TEST

START_TEST(many_stages_in_time) {
  begin();
  enum { COUNT = 10000 };
  const struct expr *i = axis("i", 1024), *a = axis("a", 32), *b = axis("b", 32);
  struct buffer *last = buffer("x", BUFFER_INPUT, 1024);
  for (int k = 0; k < COUNT; k++) {
    struct buffer *next = buffer("u", k == COUNT - 1 ? BUFFER_OUTPUT : BUFFER_TEMP, 1024);
    if (k % 4 == 3) // transposed: the chain ends here
      MAP("flip", next, i, load(last, expr_sub(t.x_, E(1023), i)), 1, i);
    else
      MAP("exp", next, at(32, a, 1, b, 0), unary(SCALAR_EXP, load(last, at(32, a, 1, b, 0))), 2, a,
          b);
    last = next;
  }
  clock_t start = clock();
  fuse();
  ck_assert_msg((double)(clock() - start) / CLOCKS_PER_SEC < 20.0, "fusion takes too long");
  count_is(COUNT / 4 + 1);
  end();
}
END_TEST

int main(void) {
  Suite *s = suite_create("fuse");
  TCase *c = tcase_create("fuse");
  tcase_set_timeout(c, 120);
  tcase_add_test(c, softmax_is_one_region);
  tcase_add_test(c, maps_join_rows);
  tcase_add_test(c, rows_and_columns);
  tcase_add_test(c, cross_entropy_is_one_region);
  tcase_add_test(c, other_rows_stay_apart);
  tcase_add_test(c, axes_are_merged_and_ordered);
  tcase_add_test(c, transposed_consumer_joins);
  tcase_add_test(c, reads_elsewhere_stay_apart);
  tcase_add_test(c, no_cycles);
  tcase_add_test(c, written_inputs_are_read_before);
  tcase_add_test(c, epilogues_join_products);
  tcase_add_test(c, rows_of_products_stay_apart);
  tcase_add_test(c, small_kernels_join);
  tcase_add_test(c, many_stages_in_time);
  tcase_add_test(c, many_readers_in_time);
  suite_add_tcase(s, c);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
