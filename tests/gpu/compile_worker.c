/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles kernels and graphs in the installed worker and in this process, compares the code and
 * times both. One argument: the number of timed compilations. */
#include "support.h"

#include <tile/program.h>

#include <time.h>

static const char graph[] =
    "class <lambda>(torch.nn.Module):\n"
    "    def forward(self, a: \"f32[64, 100][100, 1]cpu\"):\n"
    "        sin: \"f32[64, 100][100, 1]cpu\" = torch.ops.aten.sin.default(a);  a = None\n"
    "        return (sin,)\n";

/* Two products with a row maximum between them, similar to an attention kernel. */
static const char large[] = "@jit\n"
                            "def large(x, y, out, n: i32, BLOCK: constexpr):\n"
                            "    i = arange(0, BLOCK)\n"
                            "    at = i[:, None] * BLOCK + i[None, :]\n"
                            "    sum = zeros((BLOCK, BLOCK), float32)\n"
                            "    for k in range(0, n):\n"
                            "        a = load(x + at + k * BLOCK * BLOCK)\n"
                            "        b = dot(a, load(y + at + k * BLOCK * BLOCK))\n"
                            "        b = exp(b - tl.max(b, 1)[:, None])\n"
                            "        sum += dot(b.to(float16), a)\n"
                            "    store(out + at, sum)\n";

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct code {
  char *bytes;
  size_t size;
  double ms;
};

static struct code compile(tile_device *device, const char *text, const char *block, tile_type type,
                           void *buffer) {
  tile_kernel *kernel = NULL;
  const char *code;
  struct code result;
  tile_arg args[4];
  TRY(tile_kernel_from_source(device, "k.tile", text, strlen(text), NULL, &kernel));
  TRY(tile_kernel_set_constant(kernel, "BLOCK", block));
  args[0] = args[1] = tile_arg_pointer(buffer, type);
  args[2] = tile_arg_pointer(buffer, TILE_F32);
  args[3] = tile_arg_i32(100);
  result.ms = now_ms();
  TRY(tile_kernel_get_code(kernel, args, 4, &code, &result.size));
  result.ms = now_ms() - result.ms;
  result.bytes = malloc(result.size);
  REQUIRE(result.bytes != NULL);
  memcpy(result.bytes, code, result.size);
  tile_kernel_close(kernel);
  return result;
}

static void use_worker(tile_device *device, double seconds) {
  tile_worker_options options = {0};
  options.seconds = seconds;
  TRY(tile_device_set_worker(device, &options));
}

/* `devices`: one that compiles in this process, one that compiles in workers. */
static void compare_both(tile_device *const devices[2], const char *name, const char *text,
                         const char *block, tile_type type, void *buffer, int count) {
  double *ms[2];
  struct code first[2];
  int there, i;
  for (there = 0; there < 2; there++) {
    first[there] = compile(devices[there], text, block, type, buffer); /* once: not timed */
    ms[there] = malloc((size_t)count * sizeof *ms[there]);
    REQUIRE(ms[there] != NULL);
  }
  REQUIRE(first[0].size == first[1].size);
  REQUIRE(memcmp(first[0].bytes, first[1].bytes, first[0].size) == 0);
  for (i = 0; i < count; i++) /* in turns, since the machine may have other things to do */
    for (there = 0; there < 2; there++) {
      struct code c = compile(devices[there], text, block, type, buffer);
      ms[there][i] = c.ms;
      free(c.bytes);
    }
  for (there = 0; there < 2; there++)
    qsort(ms[there], (size_t)count, sizeof *ms[there], compare);
  printf("%-6s %zu bytes: here %.2f ms, in a worker %.2f ms (medians of %d; at least %.2f, %.2f)\n",
         name, first[0].size, ms[0][count / 2], ms[1][count / 2], count, ms[0][0], ms[1][0]);
  for (there = 0; there < 2; there++) {
    free(ms[there]);
    free(first[there].bytes);
  }
}

/* A limit that every compilation exceeds shows that kernels of a graph are compiled in workers. */
static void compile_graph(tile_device *device) {
  tile_program *program = NULL;
  use_worker(device, 1e-6);
  EXPECT(tile_program_from_text(device, "graph.py", graph, sizeof graph - 1, &program), TILE_LIMIT);
  REQUIRE(strstr(tile_error_message(), "seconds to compile") != NULL);
  use_worker(device, 60);
  TRY(tile_program_from_text(device, "graph.py", graph, sizeof graph - 1, &program));
  tile_program_close(program);
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 1;
  tile_device *devices[2] = {open_gpu(), open_gpu()};
  float *buffer = device_buffer(devices[0], NULL, 1024);
  double start = now_ms();
  use_worker(devices[1], 0);
  printf("starting a worker: %.1f ms\n", now_ms() - start);
  compare_both(devices, "add", add_source, "1024", TILE_F32, buffer, count);
  compare_both(devices, "large", large, "64", TILE_F16, buffer, count);
  compile_graph(devices[1]);
  TRY(tile_free(devices[0], buffer));
  tile_device_close(devices[1]);
  tile_device_close(devices[0]);
  return 0;
}
