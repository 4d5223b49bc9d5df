/* SPDX-License-Identifier: Apache-2.0 */
/* A product that runs on quickly assembled code, while the best is made and takes its place: the
 * same bits before, meanwhile and after, and in a recording. */
#include "support.h"

#include <tile/program.h>

#include <math.h>

enum { N = 512 };

static const char text[] =
    "def forward(self, x: \"f16[512, 512]\", w: \"f16[512, 512]\", b: \"f16[512]\"):\n"
    "    mm = torch.ops.aten.addmm.default(b, x, w)\n"
    "    gelu = torch.ops.aten.gelu.default(mm)\n"
    "    return (gelu,)\n";

/* Halves of 2^-3 to 2^-2, of either sign. */
static unsigned short half_at(unsigned index) {
  unsigned h = (index + 1) * 2654435761u;
  h ^= h >> 15;
  return (unsigned short)(0x3000u | (h & 0x83ffu));
}

static double value(unsigned short half) {
  double magnitude = ldexp(1024 + (half & 0x3ff), ((half >> 10) & 31) - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

static void check(const unsigned short *got, const unsigned short *x, const unsigned short *w,
                  const unsigned short *b) {
  for (int row = 0; row < N; row += 73)
    for (int c = 0; c < N; c++) {
      double sum = value(b[c]);
      for (int k = 0; k < N; k++)
        sum += value(x[row * N + k]) * value(w[k * N + c]);
      double want = 0.5 * sum * (1 + erf(sum / sqrt(2)));
      REQUIRE(fabs(value(got[row * N + c]) - want) <= 2e-3 * (1 + fabs(want)));
    }
}

static unsigned short *halves(size_t count, unsigned seed) {
  unsigned short *p = malloc(count * sizeof *p);
  REQUIRE(p != NULL);
  for (size_t i = 0; i < count; i++)
    p[i] = half_at((unsigned)i + seed);
  return p;
}

static void fetch(tile_device *device, tile_stream *stream, unsigned short *to, void *from) {
  TRY(tile_copy_to_host(device, stream, to, from, N * N * sizeof *to));
  TRY(tile_memset(device, stream, from, 0xff, N * N * sizeof *to));
  TRY(tile_stream_synchronize(device, stream));
}

int main(void) {
  static const int64_t square[] = {N, N}, row[] = {N};
  setenv("TILE_CACHE_DIR", "", 1);
  tile_device *device = open_gpu();
  tile_stream *stream = NULL;
  tile_program *program = NULL;
  tile_replay *replay = NULL;
  tile_device_properties properties;
  int runs;
  unsigned short *x = halves(N * N, 0), *w = halves(N * N, 7000000u), *b = halves(N, 9000000u);
  unsigned short *first = halves(N * N, 0), *got = halves(N * N, 0);
  void *out = device_buffer(device, NULL, N * N * sizeof *x);
  tile_tensor in[] = {{device_buffer(device, x, N * N * sizeof *x), TILE_F16, 2, square, NULL},
                      {device_buffer(device, w, N * N * sizeof *w), TILE_F16, 2, square, NULL},
                      {device_buffer(device, b, N * sizeof *b), TILE_F16, 1, row, NULL}};
  tile_tensor result = {out, TILE_F16, 2, square, NULL};
  TRY(tile_stream_create(device, &stream));
  TRY(tile_stream_synchronize(device, NULL));
  TRY(tile_program_from_text(device, "g.py", text, sizeof text - 1, &program));
  TRY(tile_device_get_properties(device, &properties));
  runs = properties.is_host ? 2 : 2000; /* the best code comes while they go on */
  for (int i = 0; i <= runs; i++) {
    if (i == runs)
      TRY(tile_program_settle(program));
    TRY(tile_program_run(program, stream, 0, in, 3, &result, 1));
    fetch(device, stream, i ? got : first, out);
    REQUIRE(i == 0 || memcmp(first, got, N * N * sizeof *got) == 0);
  }
  check(first, x, w, b);
  TRY(tile_program_record(program, stream, 0, in, 3, &result, 1, &replay));
  TRY(tile_replay_run(replay, stream));
  fetch(device, stream, got, out);
  REQUIRE(memcmp(first, got, N * N * sizeof *got) == 0);
  tile_replay_destroy(replay);
  tile_program_close(program);
  /* Closed at once, with what is made in the background under way. */
  TRY(tile_program_from_text(device, "g.py", text, sizeof text - 1, &program));
  tile_program_close(program);
  for (int i = 0; i < 3; i++)
    tile_free(device, in[i].data);
  tile_free(device, out);
  tile_stream_destroy(stream);
  tile_device_close(device);
  free(x), free(w), free(b), free(first), free(got);
  return 0;
}
