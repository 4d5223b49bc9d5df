// SPDX-License-Identifier: Apache-2.0
// The estimated time of products (product_time.h).
#include "graph/plan/product_time.h"

#include <math.h>

static int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static unsigned least_k(enum dtype t) { return dtype_bits(t) == 8 ? 32 : 16; }

// A block that divides k needs no masks.
unsigned product_block_k(const struct product_block *c, const struct product_shape *s) {
  unsigned least = least_k(s->dtype), most = c->k * 16 / dtype_bits(s->dtype);
  unsigned k = plan_power_of_two(s->k, least, most < least ? least : most), divides = k;
  while (divides > 2 * least && s->k % divides != 0)
    divides /= 2;
  k = s->k % divides == 0 ? divides : k;
  return s->most_k && k > s->most_k ? s->most_k : k;
}

int64_t product_block_count(const struct product_block *c, const struct product_shape *s) {
  return cdiv(s->m, c->m) * cdiv(s->n, c->n) * s->batch;
}

static double sums_of(const struct product_block *c) { // of a thread, in units of 64
  return (double)c->m * c->n / (c->warps * 32) / 64;
}

// Tiles that the epilogue loads for `each` blocks of a multiprocessor, in microseconds. A
// persistent kernel loads those of small blocks meanwhile.
static double loading_tiles(const struct product_block *c, const struct product_shape *s,
                            double each, bool is_persistent) {
  double tile = is_persistent && c->m * c->n <= 128 * 128 ? 0.3 : 1;
  return s->tiles * tile * sums_of(c) * each;
}

// The loops over `k` elements of so many programs, in microseconds: up to `most` share a
// multiprocessor, whose time they fill better than one.
static double looping(const struct product_block *c, const struct product_shape *s,
                      int64_t programs, int64_t k, unsigned most, unsigned multiprocessors) {
  unsigned block_k = product_block_k(c, s);
  double iterations = (double)cdiv(k, block_k);
  double each = (double)cdiv(programs, multiprocessors); // programs per multiprocessor
  double together = each < most ? each : most;
  double full = c->side_by_side == 1
                    ? 1
                    : 0.6 + 0.4 * (together - 1) / (c->side_by_side - 1); // fraction of the rate
  double scale = dtype_bits(s->dtype) == 8 ? 1.8 : 1;
  double flops = 2.0 * c->m * c->n * block_k * iterations * s->products * multiprocessors;
  return each * flops / (c->rate * scale * full * 1e6);
}

// Operands and results through memory, in microseconds.
static double moving(const struct product_block *c, const struct product_shape *s, int64_t programs,
                     unsigned multiprocessors) {
  double bytes =
      dtype_bits(s->dtype) / 8.0 * (double)s->batch *
          ((double)s->m * (double)s->k + (double)s->products * (double)s->n * (double)s->k) +
      2.0 * (double)s->batch * (double)s->m * (double)s->n;
  // Bytes in flight bound the bandwidth: a latency of 700 ns.
  double asked =
      (c->stages - 1.0) * product_block_k(c, s) * (c->m + c->n) * dtype_bits(s->dtype) / 8.0;
  double at_once = asked * fmin((double)programs, c->side_by_side * (double)multiprocessors);
  double waiting = bytes / fmax(at_once / 0.9, 1);
  return fmax(bytes / 4.0e6, waiting);
}

bool product_may_split(const struct product_block *c, const struct product_shape *s, unsigned split,
                       const struct program_options *o) {
  int64_t multiprocessors = plan_multiprocessors(o), part = 4 * s->batch * s->m * s->n;
  if (split == 1)
    return true;
  if (o->bounds_parts && part * split > o->parts_bytes)
    return false;
  int64_t programs = cdiv(s->m, c->m) * cdiv(s->n, c->n) * s->batch;
  return s->may_split && programs * 2 <= multiprocessors &&
         programs * split <= 4 * multiprocessors &&
         cdiv(s->k, split) >= 4 * (int64_t)product_block_k(c, s) && s->products == 1;
}

// The estimated time of the product in microseconds, by a program for each block.
double product_time(const struct product_block *c, const struct product_shape *s, unsigned split,
                    unsigned multiprocessors) {
  int64_t programs = product_block_count(c, s) * split, each = cdiv(programs, multiprocessors);
  double computing = looping(c, s, programs, cdiv(s->k, split), c->side_by_side, multiprocessors);
  double starting = 2 + 1.5 * (double)cdiv(each, c->side_by_side);
  double sharing = split == 1 ? 0 : 2.5 + split * 8.0 * (double)(s->batch * s->m * s->n) / 2.5e6;
  return fmax(computing, moving(c, s, programs, multiprocessors)) + starting + sharing +
         loading_tiles(c, s, (double)each, false);
}

// ---- persistent kernels ----
// Fitted to 900 times of 29 shapes, these blocks, whole and split, on an H100
// (docs/performance.md): what is chosen takes 0.6 % longer than the fastest, in the mean.
static const struct {
  double start, wave;    // of the kernel, of a block on each multiprocessor
  double epilogue;       // of 64 sums of a thread
  double latency;        // from the request of a block of k to its arrival
  double memory;         // bytes a microsecond
  double share;          // of sums: stores, a counter, its arrival
  double bytes_of_parts; // a microsecond and multiprocessor
} persistent = {4.1, 0.17, 0.25, 0.82, 2.45e6, 6.05, 0.0493e6};

// Of three things that go on at once and each wait for the others at times.
static double together_of(double a, double b, double c) {
  return cbrt(a * a * a + b * b * b + c * c * c);
}

// What bounds the loops of a multiprocessor, in microseconds.
struct loop_time {
  double computing; // by the rate of products
  double loading;   // by the latency of blocks of k, as many of which are under way as slots
};

// Programs side by side in a column of blocks share b, if their number is even everywhere
// (docs/pipelining.md, "Clusters"); of parts of blocks that is not proved. Clusters cost about 1 %.
unsigned product_ctas(const struct product_block *c, const struct product_shape *s, unsigned split,
                      unsigned multiprocessors) {
  int64_t blocks = product_block_count(c, s), most = (int64_t)c->side_by_side * multiprocessors;
  int64_t programs = blocks < most ? blocks : most;
  bool is_even = cdiv(s->m, c->m) % 2 == 0 && programs % 2 == 0;
  return s->b_straddles && split == 1 && is_even ? 2 : 1;
}

// Boxes of 128 bytes a row, of which TMA reads so many lines; only where rows straddle lines does
// that take longer than to multiply them.
static double lines_time(const struct product_block *c, const struct product_shape *s,
                         unsigned ctas) {
  const double line = 1.5e-3; // microseconds
  if (!s->a_straddles && !s->b_straddles)
    return 0;
  double boxes = c->k * dtype_bits(s->dtype) / 8.0 / 128;
  double b = (double)s->products * c->n * (1 + s->b_straddles) / ctas;
  return line * boxes * (c->m * (1.0 + s->a_straddles) + b);
}

static struct loop_time loop_time_of(const struct product_block *c, const struct product_shape *s,
                                     int64_t programs, int64_t k, unsigned most, unsigned ctas,
                                     unsigned multiprocessors) {
  double iterations = (double)cdiv(k, c->k), each = (double)cdiv(programs, multiprocessors);
  double together = fmin(each, most), flops = 2.0 * c->m * c->n * c->k * s->products;
  if (programs == 0)
    return (struct loop_time){0};
  double full = c->side_by_side > 1 && together < 2 ? 0.9 : 1;
  double multiplying = flops * multiprocessors / (c->rate * full * 1e6);
  return (struct loop_time){
      .computing = each * iterations * fmax(multiplying, lines_time(c, s, ctas)),
      .loading = ceil(each / together) * iterations / (c->stages - 1) * persistent.latency};
}

static double bytes_of(const struct product_shape *s) {
  double rows = (double)s->m * (double)s->k, columns = (double)s->n * (double)s->k;
  double results = (double)s->m * (double)s->n;
  return dtype_bits(s->dtype) / 8.0 * (double)s->batch * (rows + s->products * columns + results);
}

// `programs` blocks and parts of blocks, whose loops are `l`.
static double persistent_time(const struct product_block *c, const struct product_shape *s,
                              struct loop_time l, int64_t programs, unsigned multiprocessors) {
  double each = (double)cdiv(programs, multiprocessors), waves = ceil(each / c->side_by_side);
  double computing = l.computing + waves * (persistent.wave + persistent.epilogue * sums_of(c));
  return persistent.start + together_of(computing, l.loading, bytes_of(s) / persistent.memory) +
         loading_tiles(c, s, each, true);
}

static double whole_time(const struct product_block *c, const struct product_shape *s,
                         unsigned multiprocessors) {
  int64_t blocks = product_block_count(c, s);
  struct loop_time l = loop_time_of(c, s, blocks, s->k, c->side_by_side,
                                    product_ctas(c, s, 1, multiprocessors), multiprocessors);
  return persistent_time(c, s, l, blocks, multiprocessors);
}

// ---- persistent kernels whose last blocks are split ----

// Two accumulators of a thread, the sum and a part, and 40 registers for the rest: fewer programs
// fit on a multiprocessor.
unsigned product_beside(const struct product_block *c) {
  enum { REGISTERS = 65536, PRODUCER_WARPS = 4 };
  unsigned registers = 2 * (unsigned)c->m * c->n / (c->warps * 32u) + 40;
  unsigned most = REGISTERS / ((c->warps + PRODUCER_WARPS) * 32u * registers);
  return most < 1 ? 1 : most < c->side_by_side ? most : c->side_by_side;
}

struct product_left_over product_left_over_of(const struct product_block *c,
                                              const struct product_shape *s, unsigned split,
                                              unsigned multiprocessors) {
  int64_t blocks = product_block_count(c, s), most = (int64_t)product_beside(c) * multiprocessors;
  int64_t programs = blocks * split < most ? blocks * split : most;
  int64_t rest = programs ? blocks % programs : 0;
  return (struct product_left_over){blocks - rest, rest};
}

int64_t product_parts_bytes(const struct product_block *c, int64_t parts) {
  return 4 * parts * c->m * c->n;
}

// Parts go to the L2 cache, and one program of each block reads them, after the stores of the
// others and a counter have arrived.
static double split_time(const struct product_block *c, const struct product_shape *s,
                         unsigned split, unsigned multiprocessors) {
  struct product_left_over l = product_left_over_of(c, s, split, multiprocessors);
  int64_t parts = l.rest * split, programs = l.whole + parts;
  unsigned together = product_beside(c);
  struct loop_time whole = loop_time_of(c, s, l.whole, s->k, together, 1, multiprocessors);
  struct loop_time rest =
      loop_time_of(c, s, parts, cdiv(s->k, split), together, 1, multiprocessors);
  struct loop_time both = {whole.computing + rest.computing, whole.loading + rest.loading};
  int64_t most = cdiv(parts, multiprocessors) + cdiv(l.rest, multiprocessors) * split;
  return persistent_time(c, s, both, programs, multiprocessors) + persistent.share +
         (double)product_parts_bytes(c, most) / persistent.bytes_of_parts;
}

double product_persistent_time(const struct product_block *c, const struct product_shape *s,
                               unsigned split, unsigned multiprocessors) {
  struct product_shape halves = *s; // pairs of bytes take the time of elements of 16 bits
  if (dtype_bits(s->dtype) == 8) {
    halves.dtype = DTYPE_F16;
    halves.k = cdiv(s->k, 2);
  }
  return split == 1 ? whole_time(c, &halves, multiprocessors)
                    : split_time(c, &halves, split, multiprocessors);
}
