// SPDX-License-Identifier: Apache-2.0
// Scenarios on the C API. Each prints its results and returns its first error.
#include "injection.h"

#include <tile/graph.h>
#include <tile/pack.h>
#include <tile/program.h>
#include <tile/tile.h>
#include <tile/tune.h>
#include <tile/weights.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 64

static const char source[] =
    "@jit\n"
    "def twice(x: ptr[f32], out: ptr[f32], n: i32, BLOCK: constexpr = 32):\n"
    "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "    store(out + i, load(x + i, mask=i < n) * 2.0, mask=i < n)\n";

static float in[N], out[N];

static void fill(void) {
  for (int i = 0; i < N; i++) {
    in[i] = (float)i / 4 - 3;
    out[i] = -1;
  }
}

static void print(const float *x, size_t n) {
  for (size_t i = 0; i < n; i++)
    printf("%a\n", (double)x[i]);
}

static bool write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  bool ok = f && fputs(text, f) >= 0;
  return f && fclose(f) == 0 && ok;
}

// Opens (`path` NULL: the source above), launches, closes. `replays`: records the launch and runs
// it.
static tile_status launch(const char *path, bool replays) {
  tile_device *device = NULL;
  tile_kernel *kernel = NULL;
  tile_stream *stream = NULL;
  tile_replay *replay = NULL;
  fill();
  tile_status s = tile_device_open("cpu", &device);
  if (s == TILE_OK)
    s = path ? tile_kernel_open(device, path, NULL, &kernel)
             : tile_kernel_from_source(device, "twice.tile", source, sizeof source - 1, NULL,
                                       &kernel);
  if (s == TILE_OK)
    s = tile_kernel_set_constant(kernel, "BLOCK", "64");
  if (s == TILE_OK)
    s = tile_stream_create(device, &stream);
  tile_arg args[3];
  args[0] = tile_arg_pointer(in, TILE_F32);
  args[1] = tile_arg_pointer(out, TILE_F32);
  args[2] = tile_arg_i32(N);
  if (s == TILE_OK)
    s = tile_kernel_prepare(kernel, args, 3);
  if (s == TILE_OK && replays)
    s = tile_replay_begin(device, stream);
  tile_status launched = s;
  if (s == TILE_OK)
    s = launched = tile_launch(kernel, stream, (tile_grid){1, 1, 1}, args, 3);
  if (replays && kernel && stream) {
    tile_status ended = tile_replay_end(device, stream, &replay);
    s = s == TILE_OK ? ended : s;
  }
  if (s == TILE_OK && replays)
    s = tile_replay_run(replay, stream);
  if (s == TILE_OK)
    s = tile_stream_synchronize(device, stream);
  tile_replay_destroy(replay);
  tile_stream_destroy(stream);
  tile_kernel_close(kernel);
  tile_device_close(device);
  return s;
}

static tile_status printed(tile_status s) {
  if (s == TILE_OK)
    print(out, N);
  return s;
}

tile_status call_kernel(void) { return printed(launch(NULL, false)); }
tile_status call_replay(void) { return printed(launch(NULL, true)); }

tile_status call_cached(void) {
  setenv("TILE_CACHE_DIR", "cache", 1);
  return printed(launch(NULL, false));
}

// The second call finds the kernel in the cache if its imported file is unchanged.
tile_status call_imported(void) {
  static const char importing[] =
      "from doubling import twice_of\n"
      "@jit\n"
      "def twice(x: ptr[f32], out: ptr[f32], n: i32, BLOCK: constexpr = 32):\n"
      "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
      "    store(out + i, twice_of(load(x + i, mask=i < n)), mask=i < n)\n";
  setenv("TILE_CACHE_DIR", "cache", 1);
  if (!write_file("doubling.tile", "@jit\ndef twice_of(x):\n    return x * 2.0\n") ||
      !write_file("twice.tile", importing))
    return TILE_IO_ERROR;
  tile_status s = launch("twice.tile", false);
  return s == TILE_OK ? printed(launch("twice.tile", false)) : s;
}

static const char graph_text[] =
    "class G(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[8, 8]\", w: \"f32[8, 8]\"):\n"
    "        mm = torch.ops.aten.mm.default(x, w)\n"
    "        softmax = torch.ops.aten._softmax.default(mm, -1, False)\n"
    "        return (softmax,)\n";

static const int64_t shape[] = {8, 8};

static tile_tensor tensor_of(float *data) {
  tile_tensor t = {0};
  t.data = data;
  t.type = TILE_F32;
  t.rank = 2;
  t.shape = shape;
  return t;
}

// `path` NULL: the text above.
static tile_status run_program(const char *path) {
  tile_device *device = NULL;
  tile_program *program = NULL;
  fill();
  tile_status s = tile_device_open("cpu", &device);
  if (s == TILE_OK)
    s = path ? tile_program_open(device, path, &program)
             : tile_program_from_text(device, "g.py", graph_text, sizeof graph_text - 1, &program);
  const tile_tensor inputs[] = {tensor_of(in), tensor_of(in)}, outputs[] = {tensor_of(out)};
  if (s == TILE_OK)
    s = tile_program_run(program, NULL, 0, inputs, 2, outputs, 1);
  if (s == TILE_OK)
    print(out, N);
  tile_program_close(program);
  tile_device_close(device);
  return s;
}

tile_status call_program(void) { return run_program(NULL); }

tile_status call_opened(void) {
  return write_file("graph.py", graph_text) ? run_program("graph.py") : TILE_IO_ERROR;
}

static tile_status layer(tile_graph *g, tile_value *const *x, size_t n, tile_value **y, size_t m,
                         void *user) {
  (void)g, (void)n, (void)m, (void)user;
  y[0] = tile_gelu(tile_add(tile_softmax(x[0], 1), tile_mul_number(x[1], 0.5)));
  return TILE_OK;
}

tile_status call_captured(void) {
  tile_device *device = NULL;
  tile_captured *f = NULL;
  fill();
  tile_status s = tile_device_open("cpu", &device);
  if (s == TILE_OK)
    s = tile_captured_create(device, layer, NULL, &f);
  if (s == TILE_OK)
    s = tile_captured_mark_dynamic(f, 0, 0, 1, 64);
  if (s == TILE_OK)
    s = tile_captured_mark_dynamic(f, 1, 0, 1, 64);
  const tile_tensor inputs[] = {tensor_of(in), tensor_of(in)}, outputs[] = {tensor_of(out)};
  if (s == TILE_OK)
    s = tile_captured_call(f, NULL, inputs, 2, outputs, 1);
  if (s == TILE_OK)
    print(out, N);
  tile_captured_destroy(f);
  tile_device_close(device);
  return s;
}

tile_status call_pack(void) {
  tile_pack *pack = NULL;
  tile_device *device = NULL;
  tile_function *add = NULL;
  tile_status s = tile_pack_open("kernels.tpk", &pack);
  if (s == TILE_OK)
    s = tile_pack_verify(pack);
  if (s == TILE_OK)
    s = tile_device_open("cuda", &device);
  if (s == TILE_OK)
    s = tile_pack_get_function(pack, device, "add", &add);
  tile_arg args[4];
  for (int i = 0; i < 3; i++)
    args[i] = tile_arg_pointer((void *)(uintptr_t)(4096 * (i + 1)), TILE_F32);
  args[3] = tile_arg_i32(N);
  if (s == TILE_OK)
    s = tile_function_launch(add, NULL, (tile_grid){1, 1, 1}, args, 4);
  if (s == TILE_OK)
    printf("%zu functions, %s\n", tile_pack_count(pack), tile_pack_name(pack, 0));
  tile_function_close(add);
  tile_device_close(device);
  tile_pack_close(pack);
  return s;
}

static tile_status write_weights(void) {
  static const float a[6] = {1, 2, 3, 4, 5, 6}, b[1] = {7};
  const tile_weight list[2] = {
      {.name = "a", .type = TILE_F32, .rank = 2, .shape = {2, 3}, .data = a},
      {.name = "b", .type = TILE_F32, .rank = 1, .shape = {1}, .data = b}};
  const tile_weights_note note = {"step", "3"};
  return tile_weights_save("weights.safetensors", list, 2, &note, 1);
}

tile_status call_weights(void) {
  tile_weights *w = NULL;
  tile_weight one;
  tile_status s = write_weights();
  if (s == TILE_OK)
    s = tile_weights_open("weights.safetensors", &w);
  if (s == TILE_OK)
    s = tile_weights_find(w, "a", &one);
  if (s == TILE_OK) {
    float x[6];
    memcpy(x, one.data, sizeof x);
    print(x, 6);
  }
  tile_weights_close(w);
  return s;
}

tile_status call_tuned(void) {
  tile_device *device = NULL;
  tile_tuned *t = NULL;
  fill();
  if (!write_file("twice.tile", source))
    return TILE_IO_ERROR;
  tile_status s = tile_device_open("cpu", &device);
  if (s == TILE_OK)
    s = tile_tuned_open(device, "twice.tile", NULL, &t);
  if (s == TILE_OK)
    s = tile_tuned_set_grid(t, "cdiv(n, BLOCK)");
  tile_arg args[3];
  args[0] = tile_arg_pointer(in, TILE_F32);
  args[1] = tile_arg_pointer(out, TILE_F32);
  args[2] = tile_arg_i32(N);
  if (s == TILE_OK)
    s = tile_tuned_launch(t, NULL, args, 3);
  if (s == TILE_OK)
    print(out, N);
  tile_tuned_close(t);
  tile_device_close(device);
  return s;
}
