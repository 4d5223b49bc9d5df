/* SPDX-License-Identifier: Apache-2.0 */
/* Tiered recompilation of a product and of causal attention: tier-1 and optimized code, and a
 * recording, give the same bits. */
#include "support.h"

#include <tile/program.h>

#include <math.h>

enum { RUNS = 200 }; /* the best code comes while they go on */

static const char product_text[] =
    "def forward(self, x: \"f16[%d, 512]\", w: \"f16[512, %d]\", b: \"f16[%d]\"):\n"
    "    mm = torch.ops.aten.addmm.default(b, x, w)\n"
    "    gelu = torch.ops.aten.gelu.default(mm)\n"
    "    return (gelu,)\n";
static const char attention_text[] =
    "def forward(self, q: \"f16[1, 8, %d, 64]\", k: \"f16[1, 8, %d, 64]\", v: \"f16[1, 8, %d, "
    "64]\"):\n"
    "    o = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, None, 0.0, True)\n"
    "    return (o,)\n";

struct world {
  tile_device *device;
  tile_stream *stream;
  int runs;
};

/* f16 values of 2^-3 to 2^-2, of either sign. */
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
                  const unsigned short *b, int n) {
  for (int row = 0; row < n; row += n / 7)
    for (int c = 0; c < n; c++) {
      double sum = value(b[c]);
      for (int k = 0; k < 512; k++)
        sum += value(x[row * 512 + k]) * value(w[k * n + c]);
      double want = 0.5 * sum * (1 + erf(sum / sqrt(2)));
      REQUIRE(fabs(value(got[row * n + c]) - want) <= 2e-3 * (1 + fabs(want)));
    }
}

static unsigned short *half_precision(size_t count, unsigned seed) {
  unsigned short *p = malloc(count * sizeof *p);
  REQUIRE(p != NULL);
  for (size_t i = 0; i < count; i++)
    p[i] = half_at((unsigned)i + seed);
  return p;
}

static size_t count_of(const tile_tensor *t) {
  size_t n = 1;
  for (int i = 0; i < t->rank; i++)
    n *= (size_t)t->shape[i];
  return n;
}

static void fetch(const struct world *w, unsigned short *to, const tile_tensor *from) {
  size_t bytes = count_of(from) * sizeof *to;
  TRY(tile_copy_to_host(w->device, w->stream, to, from->data, bytes));
  TRY(tile_memset(w->device, w->stream, from->data, 0xff, bytes));
  TRY(tile_stream_synchronize(w->device, w->stream));
}

/* The result of the first run; all others must be equal. */
static unsigned short *run_recompiled(const struct world *w, const char *text,
                                      const tile_tensor in[3], tile_tensor *out) {
  size_t count = count_of(out);
  unsigned short *first = half_precision(count, 0), *got = half_precision(count, 0);
  tile_program *program = NULL;
  tile_replay *replay = NULL;
  TRY(tile_program_from_text(w->device, "g.py", text, strlen(text), &program));
  for (int i = 0; i <= w->runs; i++) {
    if (i == w->runs)
      TRY(tile_program_wait_optimized(program));
    TRY(tile_program_run(program, w->stream, 0, in, 3, out, 1));
    fetch(w, i ? got : first, out);
    REQUIRE(i == 0 || memcmp(first, got, count * sizeof *got) == 0);
  }
  TRY(tile_program_record(program, w->stream, 0, in, 3, out, 1, &replay));
  TRY(tile_replay_run(replay, w->stream));
  fetch(w, got, out);
  REQUIRE(memcmp(first, got, count * sizeof *got) == 0);
  tile_replay_destroy(replay);
  tile_program_close(program);
  /* Closes immediately, during background compilation. */
  TRY(tile_program_from_text(w->device, "g.py", text, strlen(text), &program));
  tile_program_close(program);
  free(got);
  return first;
}

static tile_tensor tensor(const struct world *w, const unsigned short *data, int rank,
                          const int64_t *shape) {
  tile_tensor t = {NULL, TILE_F16, rank, shape, NULL};
  t.data = device_buffer(w->device, data, count_of(&t) * sizeof *data);
  return t;
}

static void free_all(const struct world *w, const tile_tensor in[3], const tile_tensor *out) {
  for (int i = 0; i < 3; i++)
    tile_free(w->device, in[i].data);
  tile_free(w->device, out->data);
}

static void run_product(const struct world *w, int n) {
  const int64_t x_shape[] = {n, 512}, w_shape[] = {512, n}, row[] = {n}, square[] = {n, n};
  char text[sizeof product_text + 40];
  size_t side = (size_t)n * 512;
  unsigned short *x = half_precision(side, 0), *y = half_precision(side, 7000000u),
                 *b = half_precision(side, 9000000u);
  tile_tensor in[] = {tensor(w, x, 2, x_shape), tensor(w, y, 2, w_shape), tensor(w, b, 1, row)};
  tile_tensor out = tensor(w, NULL, 2, square);
  sprintf(text, product_text, n, n, n);
  TRY(tile_stream_synchronize(w->device, NULL));
  unsigned short *got = run_recompiled(w, text, in, &out);
  check(got, x, y, b, n);
  free_all(w, in, &out);
  free(x), free(y), free(b), free(got);
}

static void run_attention(const struct world *w, int n) {
  const int64_t shape[] = {1, 8, n, 64};
  char text[sizeof attention_text + 40];
  unsigned short *q = half_precision((size_t)n * 512, 0);
  tile_tensor in[] = {tensor(w, q, 4, shape), tensor(w, q, 4, shape), tensor(w, q, 4, shape)};
  tile_tensor out = tensor(w, NULL, 4, shape);
  sprintf(text, attention_text, n, n, n);
  TRY(tile_stream_synchronize(w->device, NULL));
  unsigned short *got = run_recompiled(w, text, in, &out);
  for (int i = 0; i < 64; i++)
    REQUIRE(got[i] == q[i]); /* the first query sees one key */
  free_all(w, in, &out);
  free(q), free(got);
}

int main(void) {
  setenv("TILE_CACHE_DIR", "", 1);
  struct world w = {.device = open_gpu()};
  tile_device_properties properties;
  TRY(tile_device_get_properties(w.device, &properties));
  TRY(tile_stream_create(w.device, &w.stream));
  w.runs = properties.is_cpu ? 2 : RUNS;
  run_product(&w, properties.is_cpu ? 512 : 4096); /* blocks that have tier-1 code */
  run_attention(&w, properties.is_cpu ? 128 : 4096);
  tile_stream_destroy(w.stream);
  tile_device_close(w.device);
  return 0;
}
