/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel tuned at its first launch, in a program that uses the GPU itself: the stream has pending
 * launches, arrays are in the middle of allocations. Tuning must see what the stream has
 * written and change nothing, and the launch must follow the pending ones. */
#include "support.h"

#include <tile/tune.h>

#include <unistd.h>

enum { FRONT = 64, GUARD = 100, LARGEST = 1 << 20 };

/* The second statement detects tuning on the arrays themselves: `out` would be updated
 * twice. */
static const char kernel_source[] =
    "@jit\n"
    "def accumulate(x: const_ptr[f32] % 16, out: ptr[f32] % 16, n: i32, BLOCK: constexpr = 256):\n"
    "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "    before = load(out + i, mask=i < n)\n"
    "    store(out + i, before * 2 + load(x + i, mask=i < n), mask=i < n)\n";

struct problem {
  tile_device *device;
  tile_stream *stream;
  tile_kernel *add;
  tile_tuned *accumulate;
  float *x, *y, *sum, *out; /* device; FRONT elements lie before each */
};

static unsigned events;

static int note(void *user, const tile_tune_event *event) {
  (void)user;
  events++;
  if (event->ms >= 0)
    printf("  %.4f ms  %s\n", event->ms, event->config);
  else
    printf("  %s: %s\n", event->config, event->why);
  return 0;
}

static float *device_array(tile_device *device, unsigned seed) {
  size_t count = FRONT + LARGEST + GUARD;
  float *host = malloc(count * sizeof *host);
  REQUIRE(host != NULL);
  for (size_t i = 0; i < count; i++)
    host[i] = sample((unsigned)i + seed);
  float *p = device_buffer(device, host, count * sizeof *host);
  free(host);
  return p + FRONT;
}

/* Whether the whole allocation has `seed`'s samples, except elements [0, n), which must equal
 * `right`. */
static void expect(const struct problem *p, const float *array, unsigned seed, int n,
                   float (*right)(unsigned i)) {
  size_t count = FRONT + LARGEST + GUARD, wrong = 0;
  float *host = malloc(count * sizeof *host);
  REQUIRE(host != NULL);
  TRY(tile_copy_to_host(p->device, p->stream, host, array - FRONT, count * sizeof *host));
  for (size_t i = 0; i < count; i++) {
    int inside = right && i >= FRONT && i < FRONT + (size_t)n;
    float want = inside ? right((unsigned)i) : sample((unsigned)i + seed);
    wrong += memcmp(&host[i], &want, sizeof want) != 0;
  }
  if (wrong)
    fprintf(stderr, "n = %d, array of seed %u: %zu wrong\n", n, seed, wrong);
  REQUIRE(wrong == 0);
  free(host);
}

static float right_sum(unsigned i) { return sample(i + 1) + sample(i + 2); }
static float right_out(unsigned i) { return sample(i + 4) * 2 + right_sum(i); }

/* An untuned launch computes sum = x + y, then the tuned kernel out = 2 * out + sum. */
static void run(struct problem *p, int n) {
  tile_arg add[4], args[3];
  tile_grid grid = {(unsigned)(n + 255) / 256, 1, 1};
  unsigned before = events;
  add[0] = tile_arg_pointer(p->x, TILE_F32);
  add[1] = tile_arg_pointer(p->y, TILE_F32);
  add[2] = tile_arg_pointer(p->sum, TILE_F32);
  add[3] = tile_arg_i32(n);
  args[0] = tile_arg_pointer(p->sum, TILE_F32);
  args[1] = tile_arg_pointer(p->out, TILE_F32);
  args[2] = tile_arg_i32(n);
  for (int again = 0; again < 20; again++) /* keeps the stream busy */
    TRY(tile_launch(p->add, p->stream, grid, add, 4));
  TRY(tile_tuned_launch(p->accumulate, p->stream, args, 3));
  REQUIRE(events > before);
  expect(p, p->x, 1, n, NULL);
  expect(p, p->y, 2, n, NULL);
  expect(p, p->sum, 3, n, right_sum);
  expect(p, p->out, 4, n, right_out);
  /* The key is known now: nothing is measured, also with other launches in between. */
  before = events;
  for (int again = 0; again < 10; again++) {
    TRY(tile_launch(p->add, p->stream, grid, add, 4));
    TRY(tile_tuned_launch(p->accumulate, p->stream, args, 3));
  }
  TRY(tile_stream_synchronize(p->device, p->stream));
  REQUIRE(events == before);
}

static void make_arrays(struct problem *p) {
  p->x = device_array(p->device, 1);
  p->y = device_array(p->device, 2);
  p->sum = device_array(p->device, 3);
  p->out = device_array(p->device, 4);
}

static void free_arrays(struct problem *p) {
  float *all[4];
  all[0] = p->x, all[1] = p->y, all[2] = p->sum, all[3] = p->out;
  for (int i = 0; i < 4; i++)
    TRY(tile_free(p->device, all[i] - FRONT));
}

static void open_tuned(struct problem *p, const char *path) {
  TRY(tile_tuned_open(p->device, path, NULL, &p->accumulate));
  TRY(tile_tuned_set_grid(p->accumulate, "cdiv(n, BLOCK)"));
  TRY(tile_tuned_set_space(p->accumulate, "BLOCK=64..2048:x2, num_warps=1,2,4,8"));
  TRY(tile_tuned_set_policy(p->accumulate, TILE_TUNE_ALWAYS));
  TRY(tile_tuned_set_budget(p->accumulate, 60, 8));
  TRY(tile_tuned_set_callback(p->accumulate, note, NULL));
}

int main(void) {
  static const int sizes[] = {1000, 100003, LARGEST};
  struct problem p = {0};
  char folder[] = "/tmp/tile-gpu-tuned-XXXXXX", path[64], results[64];
  setenv("TILE_CACHE_DIR", "", 1); /* what an earlier run measured would not be measured again */
  p.device = open_gpu();
  REQUIRE(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/accumulate.tile", folder);
  snprintf(results, sizeof results, "%s/accumulate.tune.json", folder);
  FILE *f = fopen(path, "w");
  REQUIRE(f != NULL);
  fputs(kernel_source, f);
  fclose(f);
  TRY(tile_stream_create(p.device, &p.stream));
  p.add = open_add(p.device, "256");
  open_tuned(&p, path);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    printf("n = %d\n", sizes[i]);
    make_arrays(&p);
    run(&p, sizes[i]);
    free_arrays(&p);
  }
  REQUIRE(access(results, R_OK) == 0);
  unlink(results);
  unlink(path);
  rmdir(folder);
  tile_tuned_close(p.accumulate);
  tile_kernel_close(p.add);
  tile_stream_destroy(p.stream);
  tile_device_close(p.device);
  printf("right\n");
  return 0;
}
