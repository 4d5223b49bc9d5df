// SPDX-License-Identifier: Apache-2.0
// Random chains of operations that move elements between threads: reductions, scans, permutations,
// reshapes, flips, gathers and matrix products, on tiles of random shape and type, loaded and
// stored in random orders with a random number of warps. Results are exact and equal in every
// repetition.
//   test-language-stress cpu|cuda [--count N] [--repeats N] [--seed N] [--case NAME] [--print]
#include "../tile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 4096, STEPS_MAX = 6 };

// The kernel's tile after the steps so far, and its values.
struct chain {
  struct suite *s;
  enum dtype type;
  struct tile shape;
  int64_t values[ELEMENTS_MAX];
};

static unsigned pick(struct suite *s, unsigned n) { return (unsigned)(random_bits(s) % n); }

static int64_t wrap(const struct chain *c, int64_t v) {
  if (dtype_is_float(c->type)) // kept small, so that sums are exact
    return v;
  return num_int(c->type, v).i;
}

// ---- axes ----

struct axis {
  size_t length, stride, outer; // of its lines; the number of lines is outer * stride
};

static struct axis axis_of(struct tile t, unsigned axis) {
  struct axis a = {t.dim[axis], 1, 1};
  for (unsigned i = axis + 1; i < t.rank; i++)
    a.stride *= t.dim[i];
  a.outer = tile_count(t) / a.length / a.stride;
  return a;
}

static int64_t *at(struct chain *c, struct axis a, size_t line, size_t k) {
  return &c->values[line / a.stride * a.stride * a.length + k * a.stride + line % a.stride];
}

static size_t line_count(struct axis a) { return a.outer * a.stride; }

// ---- steps: each emits its statement and applies it to the values ----

static const char *name_of(const struct chain *c) { return dtype_language_name(c->type); }

static void add_sum(struct chain *c) {
  unsigned axis = pick(c->s, c->shape.rank);
  struct axis a = axis_of(c->shape, axis);
  case_source(c->s, "    v = (v + tl.sum(v, %u, keep_dims=True)).to(tl.%s)\n", axis, name_of(c));
  for (size_t line = 0; line < line_count(a); line++) {
    int64_t sum = 0;
    for (size_t k = 0; k < a.length; k++)
      sum += *at(c, a, line, k);
    for (size_t k = 0; k < a.length; k++)
      *at(c, a, line, k) = wrap(c, *at(c, a, line, k) + sum);
  }
}

static void subtract_maximum(struct chain *c) {
  unsigned axis = pick(c->s, c->shape.rank);
  struct axis a = axis_of(c->shape, axis);
  case_source(c->s, "    v = (v - tl.max(v, %u, keep_dims=True)).to(tl.%s)\n", axis, name_of(c));
  for (size_t line = 0; line < line_count(a); line++) {
    int64_t most = *at(c, a, line, 0);
    for (size_t k = 1; k < a.length; k++)
      most = *at(c, a, line, k) > most ? *at(c, a, line, k) : most;
    for (size_t k = 0; k < a.length; k++)
      *at(c, a, line, k) = wrap(c, *at(c, a, line, k) - most);
  }
}

static void add_index_of_minimum(struct chain *c) {
  unsigned axis = pick(c->s, c->shape.rank);
  struct axis a = axis_of(c->shape, axis);
  case_source(c->s, "    v = (v + tl.argmin(v, %u, keep_dims=True)).to(tl.%s)\n", axis, name_of(c));
  for (size_t line = 0; line < line_count(a); line++) {
    size_t index = 0;
    for (size_t k = 1; k < a.length; k++)
      index = *at(c, a, line, k) < *at(c, a, line, index) ? k : index;
    for (size_t k = 0; k < a.length; k++)
      *at(c, a, line, k) = wrap(c, *at(c, a, line, k) + (int64_t)index);
  }
}

static void scan(struct chain *c) {
  unsigned axis = pick(c->s, c->shape.rank), reverse = pick(c->s, 2);
  struct axis a = axis_of(c->shape, axis);
  case_source(c->s, "    v = tl.cumsum(v, %u, reverse=%s).to(tl.%s)\n", axis,
              reverse ? "True" : "False", name_of(c));
  for (size_t line = 0; line < line_count(a); line++) {
    int64_t sum = 0;
    for (size_t k = 0; k < a.length; k++) {
      int64_t *v = at(c, a, line, reverse ? a.length - 1 - k : k);
      *v = sum = wrap(c, sum + *v);
    }
  }
}

static void permute(struct chain *c) {
  static int64_t old[ELEMENTS_MAX];
  struct tile from = c->shape;
  unsigned order[TILE_RANK] = {0};
  for (unsigned i = 0; i < from.rank; i++) { // a random order, by insertion
    unsigned to = pick(c->s, i + 1);
    order[i] = order[to];
    order[to] = i;
  }
  case_source(c->s, "    v = tl.permute(v, (");
  for (unsigned i = 0; i < from.rank; i++) {
    c->shape.dim[i] = from.dim[order[i]];
    case_source(c->s, "%u, ", order[i]);
  }
  case_source(c->s, "))\n");
  memcpy(old, c->values, sizeof old);
  for (size_t e = 0; e < tile_count(from); e++) {
    unsigned index[TILE_RANK], source[TILE_RANK] = {0};
    tile_index(c->shape, e, index);
    for (unsigned i = 0; i < from.rank; i++)
      source[order[i]] = index[i];
    c->values[e] = old[tile_linear(from, source)];
  }
}

static struct tile random_shape(struct suite *s, unsigned log_count) {
  struct tile t = {.rank = 1 + pick(s, 4)};
  for (unsigned i = 0; i < t.rank; i++)
    t.dim[i] = 1;
  for (unsigned b = 0; b < log_count; b++)
    t.dim[pick(s, t.rank)] *= 2;
  return t;
}

static void reshape(struct chain *c) {
  unsigned log_count = 0;
  while (1u << log_count < tile_count(c->shape))
    log_count++;
  c->shape = random_shape(c->s, log_count);
  case_source(c->s, "    v = tl.reshape(v, (%s,))\n", tile_text(c->s, c->shape));
}

static void flip(struct chain *c) {
  unsigned axis = pick(c->s, c->shape.rank);
  struct axis a = axis_of(c->shape, axis);
  case_source(c->s, "    v = tl.flip(v, %u)\n", axis);
  for (size_t line = 0; line < line_count(a); line++)
    for (size_t k = 0; k < a.length / 2; k++) {
      int64_t *x = at(c, a, line, k), *y = at(c, a, line, a.length - 1 - k), kept = *x;
      *x = *y;
      *y = kept;
    }
}

// Element k of each line becomes that at (k * 5 + 3) % length.
static void gather(struct chain *c) {
  static int64_t old[ELEMENTS_MAX];
  unsigned axis = pick(c->s, c->shape.rank);
  struct axis a = axis_of(c->shape, axis);
  case_source(c->s,
              "    j = (arange(0, %zu) * 5 + 3) %% %zu\n    v = tl.gather(v, tl.broadcast_to(j",
              a.length, a.length);
  for (unsigned i = 0; i < c->shape.rank && c->shape.rank > 1; i++)
    case_source(c->s, "%s%s", i ? ", " : "[", i == axis ? ":" : "None");
  case_source(c->s, "%s, (%s,)), %u)\n", c->shape.rank > 1 ? "]" : "", tile_text(c->s, c->shape),
              axis);
  memcpy(old, c->values, sizeof old);
  for (size_t line = 0; line < line_count(a); line++)
    for (size_t k = 0; k < a.length; k++) {
      ptrdiff_t source = at(c, a, line, (k * 5 + 3) % a.length) - c->values;
      *at(c, a, line, k) = old[source];
    }
}

// The last two dimensions times a matrix of -1, 0 and 1. Integers of up to 32 bits are
// multiplied as f64, exactly.
static void multiply(struct chain *c) {
  static int64_t old[ELEMENTS_MAX];
  unsigned rank = c->shape.rank, n = c->shape.dim[rank - 1];
  if (rank < 2 || n > 64 || c->type == DTYPE_I64)
    return;
  const char *type = dtype_is_float(c->type) ? "float32" : c->type == DTYPE_I8 ? "int8" : "float64";
  struct tile square = c->shape;
  square.dim[rank - 2] = n;
  if (tile_count(square) > ELEMENTS_MAX)
    return;
  case_source(c->s,
              "    j = arange(0, %u)\n"
              "    w = ((j[:, None] * 3 + j[None, :]) %% 3 - 1).to(tl.%s)\n"
              "    w = tl.broadcast_to(tl.reshape(w, (",
              n, type);
  for (unsigned i = 0; i + 2 < rank; i++)
    case_source(c->s, "1, ");
  case_source(c->s, "%u, %u)), (%s))\n    v = tl.dot(v.to(tl.%s), w)%s.to(tl.%s)\n", n, n,
              tile_text(c->s, square), type, dtype_is_float(c->type) ? "" : ".to(tl.int64)",
              name_of(c));
  memcpy(old, c->values, sizeof old);
  for (size_t e = 0; e < tile_count(c->shape); e++) {
    int64_t sum = 0;
    for (size_t k = 0; k < n; k++)
      sum += old[e / n * n + k] * ((int64_t)((k * 3 + e % n) % 3) - 1);
    c->values[e] = wrap(c, sum);
  }
}

// Keeps the numbers of floating-point chains exact.
static void bound(struct chain *c) {
  if (!dtype_is_float(c->type))
    return;
  case_source(c->s, "    v = where((v > 100) | (v < -100), 1, v)\n");
  for (size_t e = 0; e < tile_count(c->shape); e++)
    if (c->values[e] > 100 || c->values[e] < -100)
      c->values[e] = 1;
}

// ---- a chain ----

// Offsets of a tile whose axes have a random order in memory.
static void offsets(struct chain *c, const char *name, size_t indices[ELEMENTS_MAX]) {
  struct tile t = c->shape;
  unsigned order[TILE_RANK] = {0};
  size_t stride[TILE_RANK], next = 1;
  for (unsigned i = 0; i < t.rank; i++) {
    unsigned to = pick(c->s, i + 1);
    order[i] = order[to];
    order[to] = i;
  }
  for (unsigned i = 0; i < t.rank; next *= t.dim[order[i]], i++)
    stride[order[i]] = next;
  case_source(c->s, "    %s = 0", name);
  for (unsigned i = 0; i < t.rank; i++) {
    case_source(c->s, " + arange(0, %u)", t.dim[i]);
    for (unsigned k = 0; k < t.rank && t.rank > 1; k++)
      case_source(c->s, "%s%s", k ? ", " : "[", k == i ? ":" : "None");
    case_source(c->s, "%s * %zu", t.rank > 1 ? "]" : "", stride[i]);
  }
  case_source(c->s, "\n");
  for (size_t e = 0; e < tile_count(t); e++) {
    unsigned index[TILE_RANK];
    tile_index(t, e, index);
    indices[e] = 0;
    for (unsigned i = 0; i < t.rank; i++)
      indices[e] += index[i] * stride[i];
  }
}

static void steps(struct chain *c) {
  static void (*const kinds[])(struct chain * c) = {
      add_sum,  subtract_maximum, add_index_of_minimum, scan, permute, reshape, flip, gather,
      multiply, multiply};
  unsigned count = 2 + pick(c->s, STEPS_MAX);
  for (unsigned i = 0; i < count; i++) {
    kinds[pick(c->s, COUNT_OF(kinds))](c);
    bound(c);
  }
}

static void chain_case(struct suite *s, unsigned long seed, unsigned repeats) {
  static const enum dtype types[] = {DTYPE_I32, DTYPE_F32, DTYPE_I16, DTYPE_I64, DTYPE_I8};
  static size_t from[ELEMENTS_MAX], to[ELEMENTS_MAX];
  static struct chain c;
  if (!case_begin(s, "chain %lu", seed))
    return;
  c.s = s;
  c.type = types[pick(s, COUNT_OF(types))];
  c.shape = random_shape(s, 4 + pick(s, 9));
  size_t n = tile_count(c.shape);
  case_warps(s, 1u << pick(s, 5));
  struct array *x = case_input(s, c.type, n), *out = case_output(s, c.type, n);
  case_source(s, "@jit\ndef k(x, out):\n");
  offsets(&c, "i", from);
  case_source(s, "    v = load(x + i)\n");
  for (size_t e = 0; e < n; e++) {
    c.values[e] = (int64_t)pick(s, 17) - 8;
    array_set(x, from[e], num_number(c.type, (double)c.values[e]));
  }
  steps(&c);
  offsets(&c, "o", to);
  case_source(s, "    store(out + o, v)\n");
  tile_grid grid = {1, 1, 1};
  if (case_run_grid(s, grid)) {
    for (size_t e = 0; e < n; e++)
      case_expect(s, out, to[e], num_number(c.type, (double)c.values[e]), 0.5, 0);
    case_repeat(s, grid, repeats);
  }
  case_end(s);
}

int main(int argc, char **argv) {
  struct suite s = {0};
  unsigned long count = 50, repeats = 100, seed = 0;
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(a, "--print") == 0)
      s.o.print = true;
    else if (a[0] != '-' && !s.o.device)
      s.o.device = a;
    else if (!next)
      return 2;
    else if (strcmp(a, "--count") == 0)
      count = strtoul(argv[++i], NULL, 10);
    else if (strcmp(a, "--repeats") == 0)
      repeats = strtoul(argv[++i], NULL, 10);
    else if (strcmp(a, "--seed") == 0)
      seed = strtoul(argv[++i], NULL, 10);
    else if (strcmp(a, "--case") == 0)
      s.o.only = argv[++i];
    else
      return 2;
  }
  int skipped = suite_open(&s);
  if (skipped >= 0)
    return skipped;
  for (unsigned long k = 0; k < count; k++)
    chain_case(&s, seed + k, (unsigned)repeats);
  return suite_close(&s);
}
