// SPDX-License-Identifier: Apache-2.0
// Higher-order operators: graphs of subgraph_cases.txt are printed and read back, interpreted, and
// run as programs on the CPU; all agree with PyTorch. What cannot be recorded says so.
#include "base/file.h"
#include "graph/graph_compile.h"
#include "graph/reference/interpret.h"
#include "graph/run/run.h"
#include "graph/run/tensor_views.h"
#include "graph_fixture.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_TENSORS = 24, MOST_SIZES = 4, MOST_RUNS = 4 };

struct listed_run {
  struct tensor *in[MOST_TENSORS], *want[MOST_TENSORS];
  size_t in_count, want_count;
};

// ---- the list ----

static struct str next_line(struct str *rest) {
  struct str line;
  *rest = str_split(*rest, '\n', &line);
  return line;
}

// "f32[2, 3] 1 2 3 4 5 6"
static struct tensor *read_tensor(struct str line, enum dtype t) {
  char text[1 << 14], *numbers, *p = text;
  int64_t shape[GRAPH_MAX_RANK];
  uint32_t rank = 0;
  ck_assert_uint_lt(line.len, sizeof text);
  memcpy(text, line.ptr, line.len);
  text[line.len] = 0;
  numbers = strchr(text, ']') + 1;
  for (p = strchr(text, '[') + 1; *p != ']'; p += strspn(p, ", "))
    shape[rank++] = strtoll(p, &p, 10);
  struct tensor *ret = tensor_create(t, rank, shape);
  ck_assert_ptr_nonnull(ret);
  p = numbers;
  for (int64_t i = 0; i < ret->numel; i++)
    if (dtype_is_float(t))
      ret->at[i].real = (double)strtof(p, &p);
    else
      ret->at[i].integer = strtoll(p, &p, 10);
  ck_assert_msg(*p == 0, "%s", text);
  return ret;
}

static void read_run(struct str *rest, const struct graph *g, struct listed_run *run) {
  *run = (struct listed_run){.in_count = 0};
  while (rest->len && (*rest->ptr == ' ' || (*rest->ptr == '=' && rest->ptr[1] == ' '))) {
    struct str line = next_line(rest), tensor = {line.ptr + 2, line.len - 2};
    if (*line.ptr == ' ')
      run->in[run->in_count] = read_tensor(tensor, g->inputs.at[run->in_count]->dtype),
      run->in_count++;
    else
      run->want[run->want_count] = read_tensor(tensor, g->outputs.at[run->want_count]->dtype),
      run->want_count++;
    ck_assert(run->in_count < MOST_TENSORS && run->want_count < MOST_TENSORS);
  }
  ck_assert_uint_eq(run->in_count, g->inputs.len);
  ck_assert_uint_eq(run->want_count, g->outputs.len);
}

static void free_run(struct listed_run *run) {
  for (size_t i = 0; i < MOST_TENSORS; i++) {
    tensor_destroy(run->in[i]);
    tensor_destroy(run->want[i]);
  }
}

// ---- comparison ----

static void compare(const char *name, const char *what, size_t output, const struct tensor *got,
                    const struct tensor *want) {
  ck_assert_int_eq(got->numel, want->numel);
  for (int64_t i = 0; i < want->numel; i++) {
    bool is_real = dtype_is_float(want->dtype);
    double a = is_real ? got->at[i].real : (double)got->at[i].integer;
    double b = is_real ? want->at[i].real : (double)want->at[i].integer;
    bool same = !(a < b) && !(a > b) && isnan(a) == isnan(b);
    if (!same && !(fabs(a - b) <= 2e-5 * (1 + fabs(b))))
      ck_abort_msg("%s: %s: output %zu: element %lld is %.9g, not %.9g", name, what, output,
                   (long long)i, a, b);
  }
}

static void interpret(const char *name, const struct graph *g, const int64_t *sizes,
                      const struct listed_run *run) {
  struct tensor *out[MOST_TENSORS] = {0};
  const struct interpret_options options = {0};
  bool ok = graph_interpret(g, &options, sizes, run->in, out);
  graph_fixture_require(g->diag, ok, name);
  for (size_t i = 0; i < run->want_count; i++) {
    compare(name, "interpreter", i, out[i], run->want[i]);
    tensor_destroy(out[i]);
  }
}

// ---- programs ----

struct device_tensor {
  struct tensor_view view;
  int64_t shape[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
};

static void upload(tile_device *device, const struct graph *g, const int64_t *sizes,
                   const struct value *v, const struct tensor *t, struct device_tensor *ret) {
  for (uint32_t d = 0; d < v->rank; d++) {
    ret->shape[d] = t->shape[d];
    ck_assert(expr_eval(v->strides[d], g->symbols.len, g->symbols.at, sizes, &ret->strides[d]));
  }
  ret->view = (struct tensor_view){
      .dtype = v->dtype, .rank = v->rank, .shape = ret->shape, .strides = ret->strides};
  size_t bytes = (size_t)tensor_span(v->rank, ret->shape, ret->strides) * dtype_bytes(v->dtype) + 1;
  ck_assert_int_eq(tile_malloc(device, bytes, &ret->view.data), TILE_OK);
  memset(ret->view.data, 0x5a, bytes);
  tensor_store(t, ret->view.data, ret->strides);
}

static void run_program(const char *name, struct loaded_program *l, tile_device *device,
                        const struct graph *g, const int64_t *sizes, const struct listed_run *run) {
  struct device_tensor in[MOST_TENSORS], out[MOST_TENSORS];
  struct tensor_view ins[MOST_TENSORS], outs[MOST_TENSORS];
  for (size_t i = 0; i < run->in_count; i++) {
    upload(device, g, sizes, g->inputs.at[i], run->in[i], &in[i]);
    ins[i] = in[i].view;
  }
  for (size_t i = 0; i < run->want_count; i++) {
    upload(device, g, sizes, g->outputs.at[i], run->want[i], &out[i]);
    memset(out[i].view.data, 0x5a, (size_t)run->want[i]->numel * dtype_bytes(run->want[i]->dtype));
    outs[i] = out[i].view;
  }
  for (int again = 0; again < 2; again++) { // memory between runs is used again
    tile_status s = program_run(l, NULL, 1, ins, outs);
    ck_assert_msg(s == TILE_OK, "%s: %s", name, tile_error_message());
    for (size_t i = 0; i < run->want_count; i++) {
      struct tensor *got =
          tensor_create(run->want[i]->dtype, run->want[i]->rank, run->want[i]->shape);
      ck_assert_ptr_nonnull(got);
      tensor_load(got, outs[i].data, outs[i].strides);
      compare(name, "program", i, got, run->want[i]);
      tensor_destroy(got);
    }
  }
  for (size_t i = 0; i < run->in_count; i++)
    tile_free(device, ins[i].data);
  for (size_t i = 0; i < run->want_count; i++)
    tile_free(device, outs[i].data);
}

static void sizes_of(const struct graph *g, const struct listed_run *run, int64_t *ret) {
  ck_assert_uint_le(g->symbols.len, MOST_SIZES);
  for (size_t i = 0; i < g->inputs.len; i++)
    for (uint32_t d = 0; d < g->inputs.at[i]->rank; d++)
      for (size_t k = 0; k < g->symbols.len; k++)
        if (g->inputs.at[i]->shape[d] == g->symbols.at[k])
          ret[k] = run->in[i]->shape[d];
}

// ---- cases ----

static void check_text(struct arena *a, const struct graph *g, const char *name) {
  struct strbuf first = {.arena = a}, second = {.arena = a};
  graph_print(g, &first);
  const struct graph *again =
      graph_fixture_in(a, name, (struct str){strbuf_cstr(&first), first.len});
  graph_print(again, &second);
  ck_assert_str_eq(strbuf_cstr(&first), strbuf_cstr(&second));
}

// Kernels of a case that has attention: one, behind those of bounds by the block mask for
// documents.
static void check_fusion(const char *name, const struct program *p) {
  if (strncmp(name, "flex: ", 6) != 0 || strstr(name, "sums of rows"))
    return;
  size_t most = strstr(name, "documents") ? 3 : 1, last = p->launches.len - 1;
  ck_assert_msg(p->launches.len && last < most, "%s: %zu launches", name, p->launches.len);
  ck_assert_msg(p->launches.at[last].region->kind == REGION_ATTENTION, "%s is not attention", name);
}

static void run_case(struct arena *a, struct str *rest, tile_device *device) {
  struct str line = next_line(rest), text = *rest;
  const char *name = arena_strndup(a, line.ptr + 3, line.len - 3);
  while (!str_starts(*rest, "--\n"))
    next_line(rest);
  text.len = (size_t)(rest->ptr - text.ptr);
  struct graph *g = graph_fixture_in(a, name, text);
  check_text(a, g, name);
  const struct program_options options = {.target = "cpu"};
  struct program *p = program_compile(g, &options);
  graph_fixture_require(g->diag, p != NULL, name);
  check_fusion(name, p);
  struct loaded_program *l = NULL;
  ck_assert_msg(program_load(p, device, &l) == TILE_OK, "%s: %s", name, tile_error_message());
  while (str_starts(*rest, "--\n")) {
    struct listed_run run;
    int64_t sizes[MOST_SIZES] = {0};
    next_line(rest);
    read_run(rest, g, &run);
    sizes_of(g, &run, sizes);
    interpret(name, g, sizes, &run);
    run_program(name, l, device, g, sizes, &run);
    free_run(&run);
  }
  program_unload(l);
}

START_TEST(cases) {
  struct arena *a = arena_create();
  tile_device *device = NULL;
  struct str rest;
  unsigned count = 0;
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(file_read(a, CASES, SOURCE_MAX_BYTES, &rest), 0);
  while (rest.len) {
    if (!str_starts(rest, "== ")) {
      next_line(&rest);
      continue;
    }
    run_case(a, &rest, device);
    count++;
  }
  ck_assert_uint_ge(count, 25);
  tile_device_close(device);
  arena_destroy(a);
}
END_TEST

// ---- recording ----

static const char branch[] = "class G(torch.nn.Module):\n"
                             "    def forward(self, p: \"b8[]\", x: \"f32[4, 4]\"):\n"
                             "        a = self.a\n"
                             "        b = self.b\n"
                             "        cond = torch.ops.higher_order.cond(p, a, b, (x,))\n"
                             "        y: \"f32[4, 4]\" = cond[0]\n"
                             "        return (y,)\n"
                             "    class a(torch.nn.Module):\n"
                             "        def forward(self, x: \"f32[4, 4]\"):\n"
                             "            y = torch.ops.aten.cumsum.default(x, 0)\n"
                             "            return (y,)\n"
                             "    class b(torch.nn.Module):\n"
                             "        def forward(self, x: \"f32[4, 4]\"):\n"
                             "            y = torch.ops.aten.mm.default(x, x)\n"
                             "            return (y,)\n";

START_TEST(records_nothing_that_the_host_decides) {
  struct arena *a = arena_create();
  tile_device *device = NULL;
  struct loaded_program *l = NULL;
  tile_replay *replay = NULL;
  struct tensor_view none[2] = {{0}};
  const struct program_options options = {.target = "cpu"};
  struct program *p = program_compile(graph_fixture_in(a, "branch", str_from(branch)), &options);
  ck_assert(p && program_decides_on_host(p));
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(program_load(p, device, &l), TILE_OK);
  ck_assert_int_eq(program_record(l, NULL, 0, none, none, &replay), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "cannot be recorded"));
  program_unload(l);
  tile_device_close(device);
  arena_destroy(a);
}
END_TEST

static const char steps[] = "class G(torch.nn.Module):\n"
                            "    def forward(self, h: \"f32[4]\", x: \"f32[n, 4]\"):\n"
                            "        step = self.step\n"
                            "        scan = torch.ops.higher_order.scan(step, [h], [x], ())\n"
                            "        y: \"f32[4]\" = scan[0]\n"
                            "        z: \"f32[n, 4]\" = scan[1]\n"
                            "        return (y, z)\n"
                            "    class step(torch.nn.Module):\n"
                            "        def forward(self, h: \"f32[4]\", x: \"f32[4]\"):\n"
                            "            a = torch.ops.aten.add.Tensor(h, x)\n"
                            "            b = torch.ops.aten.mul.Tensor(h, x)\n"
                            "            return (a, b)\n";

START_TEST(records_a_scan) {
  enum { STEPS = 5, WIDTH = 4 };
  struct arena *a = arena_create();
  tile_device *device = NULL;
  tile_stream *stream = NULL;
  struct loaded_program *l = NULL;
  tile_replay *replay = NULL;
  float h[WIDTH] = {1, 2, 3, 4}, x[STEPS * WIDTH], y[WIDTH], z[STEPS * WIDTH];
  const int64_t one[] = {WIDTH}, two[] = {STEPS, WIDTH}, strides[] = {WIDTH, 1};
  struct tensor_view in[] = {{h, DTYPE_F32, 1, one, strides + 1}, {x, DTYPE_F32, 2, two, strides}};
  struct tensor_view out[] = {{y, DTYPE_F32, 1, one, strides + 1}, {z, DTYPE_F32, 2, two, strides}};
  const struct program_options options = {.target = "cpu"};
  struct program *p = program_compile(graph_fixture_in(a, "steps", str_from(steps)), &options);
  ck_assert(p && program_has_calls(p) && !program_decides_on_host(p));
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(program_load(p, device, &l), TILE_OK);
  ck_assert_int_eq(tile_stream_create(device, &stream), TILE_OK);
  tile_status s = program_record(l, stream, 0, in, out, &replay);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  for (int i = 0; i < STEPS * WIDTH; i++)
    x[i] = (float)i;
  ck_assert_int_eq(tile_replay_run(replay, stream), TILE_OK);
  ck_assert_int_eq(tile_stream_synchronize(device, stream), TILE_OK);
  for (int i = 0; i < WIDTH; i++) {
    float sum = h[i];
    for (int t = 0; t < STEPS; t++) {
      ck_assert(fabsf(z[t * WIDTH + i] - sum * x[t * WIDTH + i]) <= 1e-3f);
      sum += x[t * WIDTH + i];
    }
    ck_assert(fabsf(y[i] - sum) <= 1e-3f);
  }
  tile_replay_destroy(replay);
  tile_stream_destroy(stream);
  program_unload(l);
  tile_device_close(device);
  arena_destroy(a);
}
END_TEST

int main(void) {
  Suite *s = suite_create("subgraphs");
  TCase *t = tcase_create("subgraphs");
  tcase_set_timeout(t, 240);
  tcase_add_test(t, cases);
  tcase_add_test(t, records_nothing_that_the_host_decides);
  tcase_add_test(t, records_a_scan);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
