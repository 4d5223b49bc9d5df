/* SPDX-License-Identifier: Apache-2.0 */
/* Two custom operators of graphs, one from other operators and one with a kernel, used in a graph
 * as PyTorch prints it; checked against double precision. usage: custom-operator */
#include <tile/operator.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TRY(call)                                                                                  \
  do {                                                                                             \
    tile_status status = (call);                                                                   \
    if (status != TILE_OK) {                                                                       \
      fprintf(stderr, "%s: %s\n", tile_status_name(status), tile_error_message());                 \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

enum { N = 1000 };

/* ---- mylib::softcap(Tensor x, float cap=30.0) -> Tensor: cap tanh(x / cap) ---- */

static tile_status build_softcap(tile_graph *graph, const tile_operand *args, size_t count,
                                 tile_value **out, size_t out_count, void *user) {
  double cap = args[1].as.real;
  (void)graph, (void)count, (void)out_count, (void)user;
  out[0] = tile_mul_number(tile_tanh(tile_div_number(args[0].as.tensor, cap)), cap);
  return TILE_OK;
}

/* ---- mylib::rotate_pairs(Tensor x, float by=1.0) -> Tensor: (a, b) becomes (-b, a) by ---- */

static const char rotate_source[] =
    "@jit\n"
    "def rotate_pairs(x: const_ptr[f32], out: ptr[f32], out_numel: i32,\n"
    "                 by: constexpr = 1.0, BLOCK: constexpr = 256):\n"
    "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "    mask = i < out_numel\n"
    "    other = load(x + (i ^ 1), mask=mask)\n"
    "    store(out + i, where(i % 2 == 0, -other, other) * by, mask=mask)\n";

static tile_status infer_like_first(tile_graph *graph, const tile_operand *args, size_t count,
                                    tile_result *results, size_t result_count, void *user) {
  const tile_value *x = args[0].as.tensor;
  (void)graph, (void)count, (void)result_count, (void)user;
  results[0].dtype = tile_value_dtype(x);
  results[0].rank = tile_value_rank(x);
  for (int d = 0; d < results[0].rank; d++)
    results[0].shape[d] = tile_value_size(x, d);
  return TILE_OK;
}

static tile_status rotate_reference(const tile_operand *args, size_t count,
                                    const tile_reference_tensor *in, size_t in_count,
                                    const tile_reference_tensor *out, size_t out_count,
                                    void *user) {
  double by = args[1].as.real;
  (void)count, (void)in_count, (void)out_count, (void)user;
  for (int64_t i = 0; i + 1 < out[0].count; i += 2) {
    out[0].reals[i] = -in[0].reals[i + 1] * by;
    out[0].reals[i + 1] = in[0].reals[i] * by;
  }
  return TILE_OK;
}

static int register_operators(void) {
  tile_operator softcap = {"mylib::softcap(Tensor x, float cap=30.0) -> Tensor"};
  tile_operator rotate = {"mylib::rotate_pairs(Tensor x, float by=1.0) -> Tensor"};
  softcap.build = build_softcap;
  TRY(tile_operator_register(&softcap));
  rotate.infer = infer_like_first;
  rotate.reference = rotate_reference;
  rotate.kernel_source = rotate_source;
  rotate.kernel = "rotate_pairs";
  rotate.arguments = "x out out_numel";
  rotate.constants = "by BLOCK=128";
  rotate.grid = "cdiv(out_numel, BLOCK)";
  TRY(tile_operator_register(&rotate));
  return 0;
}

/* ---- a graph that uses them ---- */

static const char text[] =
    "class G(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[n]\"):\n"
    "        capped: \"f32[n]\" = torch.ops.mylib.softcap.default(x, 2.0)\n"
    "        rotated: \"f32[n]\" = torch.ops.mylib.rotate_pairs.default(capped, by = 3)\n"
    "        add: \"f32[n]\" = torch.ops.aten.add.Tensor(rotated, x)\n"
    "        return (add,)\n";

static double expected(const float *x, int i) {
  double other = 2 * tanh((double)x[i ^ 1] / 2);
  return (double)x[i] + (i % 2 ? other : -other) * 3;
}

static int run(tile_device *device, tile_program *program) {
  static float x[N], y[N];
  int64_t shape[1] = {N};
  void *memory[2];
  double worst = 0;
  for (int i = 0; i < N; i++)
    x[i] = (float)(i * 37 % 101) * 0.1f - 5.0f;
  for (int i = 0; i < 2; i++)
    TRY(tile_malloc(device, sizeof x, &memory[i]));
  TRY(tile_copy_to_device(device, NULL, memory[0], x, sizeof x));
  tile_tensor in = {memory[0], TILE_F32, 1, shape, NULL};
  tile_tensor out = {memory[1], TILE_F32, 1, shape, NULL};
  TRY(tile_program_run(program, NULL, 0, &in, 1, &out, 1));
  TRY(tile_copy_to_host(device, NULL, y, memory[1], sizeof y));
  for (int i = 0; i < N; i++) {
    double error = fabs((double)y[i] - expected(x, i));
    if (!(error <= worst)) /* NaN counts */
      worst = error;
  }
  for (int i = 0; i < 2; i++)
    tile_free(device, memory[i]);
  printf("largest error %.1g: %s\n", worst, worst <= 1e-5 ? "right" : "WRONG");
  return !(worst <= 1e-5);
}

int main(void) {
  tile_device *device;
  tile_graph *graph;
  tile_program *program;
  tile_program_properties made;
  if (register_operators())
    return 1;
  TRY(tile_device_open("auto", &device));
  TRY(tile_graph_from_text("graph.py", text, strlen(text), &graph));
  TRY(tile_program_from_graph(device, graph, &program));
  TRY(tile_program_get_properties(program, &made));
  printf("%zu kernels, %zu launches\n", made.kernels, made.launches);
  int wrong = run(device, program);
  tile_program_close(program);
  tile_graph_destroy(graph);
  tile_device_close(device);
  return wrong;
}
