// SPDX-License-Identifier: Apache-2.0
// wgmma (PTX ISA, 9.7.15 "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions").
// Each warp of a warpgroup computes its 16 of the 64 rows. A product reads its operands at any time
// between the instruction and the wait for its group. The simulator computes it as late as allowed,
// at the wait; until then the accumulator holds a value that no program expects. With `check` the
// operands are read at both times and must be equal.
//
// Arithmetic is that of mma.sync (matrix.h).
#include "base/wgmma.h"

#include "ptx-simulator/decode.h"
#include "ptx-simulator/matrix.h"
#include "ptx-simulator/shadow.h"
#include "ptx-simulator/wgmma_fence.h"

#include <stdio.h>

#define TF32_IGNORED 0x1fffu

enum {
  ROWS = 16,  // of a warp
  CHUNK = 16, // bytes that a swizzle keeps together
  CORE_ROWS = 8,
  TRANSPOSED_BYTES = 2, // of an element: only 16-bit operands may be transposed
  A_WORDS = 4,
  B_WORDS = 2,
  MAX_WORDS = WGMMA_MAX_N / 2,
  NOT_COMPUTED = -1, // a NaN as a float
  WORD_BYTES_MASK = 15
};

struct wgmma {
  struct matrix_mma mma; // m16n8 with the same types and K
  unsigned n, words;     // registers of the accumulator
  bool a_in_registers, a_transposed, b_transposed;
};

// Slots: accumulator, A (registers or a descriptor), B's descriptor, scale-d.
static unsigned a_slot(const struct wgmma *x) { return x->words; }
static unsigned b_slot(const struct wgmma *x) {
  return x->words + (x->a_in_registers ? A_WORDS : 1);
}

// ---- operands in shared memory ----

struct descriptor {
  uint32_t start, leading, stride; // bytes
  unsigned width;                  // of a row of a core matrix, in bytes: 16 without a swizzle
};

static struct descriptor descriptor_of(uint64_t bits) {
  static const unsigned widths[] = {CHUNK, 128, 64, 32};
  return (struct descriptor){.start = (uint32_t)(bits & 0x3fff) << 4,
                             .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                             .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                             .width = widths[bits >> 62]};
}

// The address of a chunk: `outer` is a row of A or a column of B, `k` a byte along K; transposed:
// the chunk holds 8 of these for one element along K.
static uint32_t chunk_address(const struct descriptor *x, bool transposed, unsigned outer,
                              unsigned k) {
  uint32_t inner = transposed ? TRANSPOSED_BYTES * outer : k,
           row = transposed ? k / TRANSPOSED_BYTES : outer;
  uint32_t at;
  if (x->width == CHUNK && transposed) // no swizzle: `leading` is the stride of groups of 8 along K
    at = inner / CHUNK * x->stride + row / CORE_ROWS * x->leading + row % CORE_ROWS * CHUNK;
  else
    at = inner / x->width * x->leading + row / CORE_ROWS * x->stride + row % CORE_ROWS * x->width +
         inner % x->width / CHUNK * CHUNK;
  at += x->start;
  uint32_t phases = x->width / CHUNK;
  return at ^ ((at >> 7 & (phases - 1)) << 4);
}

// The chunk at that address. False after a fault.
static bool read_chunk(struct warp *w, const struct op *op, uint32_t address, uint8_t *ret,
                       uint64_t *hash) {
  struct location at;
  if (!locate(w, op, 0, SIM_SHARED, address, CHUNK, ACCESS_READ, &at))
    return false;
  if (w->undefined)
    *hash = shadow_async_read(w, op, 0, &at, CHUNK, "wgmma", *hash);
  memcpy(ret, at.bytes, CHUNK);
  return true;
}

// Reads `count` rows of A or columns of B from `first` on, WGMMA_K_BYTES of each, to `ret`. `hash`
// (with `check`): what is there goes into it. False after a fault.
static bool read_operand(struct warp *w, const struct op *op, uint64_t bits, bool transposed,
                         unsigned first, unsigned count, uint8_t (*ret)[WGMMA_K_BYTES],
                         uint64_t *hash) {
  struct descriptor x = descriptor_of(bits);
  unsigned outer_step = transposed ? CHUNK / TRANSPOSED_BYTES : 1;
  unsigned k_step = transposed ? TRANSPOSED_BYTES : CHUNK;
  for (unsigned i = 0; i < count; i += outer_step)
    for (unsigned k = 0; k < WGMMA_K_BYTES; k += k_step) {
      uint8_t chunk[CHUNK];
      if (!read_chunk(w, op, chunk_address(&x, transposed, first + i, k), chunk, hash))
        return false;
      for (unsigned j = 0; j < outer_step; j++)
        memcpy(&ret[i + j][k], chunk + j * k_step, k_step);
    }
  return true;
}

// ---- the product ----

// Fragments of 8 rows of 4 lanes (base/mma.h): words along K. The tensor core takes the upper 19
// bits of tf32.
static uint64_t word_of(const struct wgmma *x, uint8_t (*rows)[WGMMA_K_BYTES], unsigned outer,
                        unsigned lane, unsigned half) {
  uint32_t word;
  memcpy(&word, &rows[outer][4 * (lane % 4) + CHUNK * half], sizeof word);
  return x->mma.shape.a == DTYPE_F32 ? word & ~TF32_IGNORED : word;
}

struct fragments {
  uint64_t a[SIM_LANES * A_WORDS], b[SIM_LANES * B_WORDS];
};

struct sources {
  uint8_t a[ROWS][WGMMA_K_BYTES], b[WGMMA_MAX_N][WGMMA_K_BYTES];
  uint64_t hash[2]; // of A and B
};

// What of the operands is in shared memory.
static bool read_sources(struct warp *w, const struct pending_product *p, struct sources *ret) {
  const struct wgmma *x = p->op->info;
  ret->hash[0] = ret->hash[1] = 0;
  return (x->a_in_registers ||
          read_operand(w, p->op, p->a, x->a_transposed, w->index % WGMMA_WARPS * ROWS, ROWS, ret->a,
                       &ret->hash[0])) &&
         read_operand(w, p->op, p->b, x->b_transposed, 0, x->n, ret->b, &ret->hash[1]);
}

static void gather_a(struct warp *w, const struct op *op, struct sources *s, struct fragments *f) {
  const struct wgmma *x = op->info;
  for (unsigned lane = 0; lane < SIM_LANES; lane++)
    for (unsigned i = 0; i < A_WORDS; i++)
      f->a[lane * A_WORDS + i] = x->a_in_registers
                                     ? row(w, op->slots[a_slot(x) + i])[lane]
                                     : word_of(x, s->a, lane / 4 + 8 * (i % 2), lane, i / 2);
}

// The accumulator's words for 8 columns: rows r and r + 8 of two columns, or of a packed pair.
static void multiply_columns(const struct wgmma *x, const struct fragments *f, unsigned group,
                             bool adds, uint64_t *acc) {
  unsigned words = x->mma.shape.c_words;
  uint64_t c[SIM_LANES * 4];
  for (unsigned lane = 0; lane < SIM_LANES; lane++)
    for (unsigned i = 0; i < words; i++)
      c[lane * words + i] = adds ? acc[(group * words + i) * SIM_LANES + lane] : 0;
  matrix_mma_run(&x->mma, f->a, f->b, c, c);
  for (unsigned lane = 0; lane < SIM_LANES; lane++)
    for (unsigned i = 0; i < words; i++)
      acc[(group * words + i) * SIM_LANES + lane] = c[lane * words + i];
}

static bool compute(struct warp *w, struct pending_product *p) {
  const struct op *op = p->op;
  const struct wgmma *x = op->info;
  struct sources s;
  struct fragments f;
  if (!read_sources(w, p, &s))
    return false;
  for (unsigned i = 0; w->undefined && i < 2; i++) {
    if (s.hash[i] == p->source[i])
      continue;
    struct memory_site at = {SIM_SHARED, descriptor_of(i ? p->b : p->a).start, CHUNK};
    warn(w, op, 0, SIM_ASYNC_ORDER, &at, NULL,
         "operand %c of wgmma, from %s on, was written before wgmma.wait_group",
         i ? 'B' : 'A', shared_text(w->run, at.address).at);
  }
  gather_a(w, op, &s, &f);
  for (unsigned g = 0; g < x->n / MMA_N; g++) {
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
      for (unsigned i = 0; i < B_WORDS; i++)
        f.b[lane * B_WORDS + i] = word_of(x, s.b, MMA_N * g + lane / 4, lane, i);
    multiply_columns(x, &f, g, p->adds, p->chain->acc);
  }
  return true;
}

// ---- instructions ----

// Whether all lanes have the same value.
static bool uniform(struct warp *w, const struct op *op, unsigned slot, const char *what,
                    uint64_t *ret) {
  const uint64_t *at = row(w, op->slots[slot]);
  require_defined(w, op, op->slots[slot], ~0u, 8, what);
  for (unsigned lane = 1; lane < SIM_LANES; lane++)
    if (at[lane] != at[0]) {
      fault(w, op, lane, SIM_BAD_STATE, NULL, "%s differs between the lanes of the warp", what);
      return false;
    }
  *ret = at[0];
  return true;
}

static struct product_chain *new_chain(struct warp *w) {
  struct product_chain *c = w->idle_chains;
  if (c) {
    w->idle_chains = c->next_idle;
    return c;
  }
  c = arena_new(w->cta->arena, struct product_chain);
  c->acc = arena_array(w->cta->arena, uint64_t, (size_t)MAX_WORDS * SIM_LANES);
  return c;
}

// The pending accumulator that the operation continues, or a new one with the registers' values.
static struct product_chain *chain_of(struct warp *w, const struct op *op, bool adds) {
  const struct wgmma *x = op->info;
  for (size_t i = w->products.len; i-- > 0;) {
    struct product_chain *c = w->products.at[i].chain;
    bool same = c->words == x->words, touches = false;
    for (unsigned k = 0; k < x->words; k++) {
      same = same && c->slots[k] == op->slots[k];
      for (unsigned j = 0; j < c->words; j++)
        touches |= c->slots[j] == op->slots[k];
    }
    if (same) {
      if (w->undefined)
        wgmma_check_fence(w, op, x->words); // those of A
      return c;
    }
    if (touches) {
      fault(w, op, 0, SIM_BAD_STATE, NULL,
            "its accumulator shares registers with a product of another shape in flight");
      return NULL;
    }
  }
  if (w->undefined)
    wgmma_check_fence(w, op, 0);
  for (unsigned k = 0; w->undefined && adds && k < x->words; k++)
    require_defined(w, op, op->slots[k], ~0u, 4, "the accumulator");
  struct product_chain *c = new_chain(w);
  c->words = x->words;
  c->slots = op->slots;
  for (unsigned k = 0; k < x->words; k++)
    memcpy(c->acc + (size_t)k * SIM_LANES, row(w, op->slots[k]), SIM_LANES * sizeof *c->acc);
  return c;
}

static void product_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct wgmma *x = op->info;
  struct pending_product p = {.op = op, .group = w->product_commits};
  uint64_t adds;
  if (!warp_converge_whole(w, op, &lanes) ||
      !uniform(w, op, b_slot(x), "the descriptor of B", &p.b) ||
      (!x->a_in_registers && !uniform(w, op, a_slot(x), "the descriptor of A", &p.a)) ||
      !uniform(w, op, b_slot(x) + 1, "scale-d", &adds))
    return;
  p.adds = adds & 1;
  struct sources s;
  if (w->undefined) {
    if (!read_sources(w, &p, &s))
      return;
    memcpy(p.source, s.hash, sizeof s.hash);
  }
  p.chain = chain_of(w, op, p.adds);
  if (!p.chain)
    return;
  vec_push(w->cta->arena, &w->products, p);
  for (unsigned k = 0; k < x->words; k++)
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
      row(w, op->slots[k])[lane] = (uint32_t)NOT_COMPUTED;
      set_undefined(w, op, op->slots[k], lane, WORD_BYTES_MASK);
    }
}

static void commit_op(struct warp *w, const struct op *op, uint32_t lanes) {
  if (warp_converge_whole(w, op, &lanes))
    w->product_commits++;
}

// The products of a chain are computed in order; its registers are written after the last one.
static void wait_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const uint64_t *groups = op->info;
  size_t done = 0;
  if (!warp_converge_whole(w, op, &lanes))
    return;
  for (; done < w->products.len; done++) {
    struct pending_product *p = &w->products.at[done];
    if (p->group >= w->product_commits || w->product_commits - p->group <= *groups)
      break;
    if (!compute(w, p))
      return;
  }
  struct pending_product *all = w->products.at;
  size_t left = w->products.len - done;
  for (size_t i = 0; i < done; i++) {
    struct product_chain *c = all[i].chain;
    bool later = false;
    for (size_t k = i + 1; k < done + left; k++)
      later |= all[k].chain == c;
    if (later)
      continue;
    for (unsigned k = 0; k < c->words; k++) {
      memcpy(row(w, c->slots[k]), c->acc + (size_t)k * SIM_LANES, SIM_LANES * sizeof *c->acc);
      set_defined(w, c->slots[k], ~0u);
    }
    c->next_idle = w->idle_chains;
    w->idle_chains = c;
  }
  memmove(all, all + done, left * sizeof *all);
  w->products.len = left;
  clock_converge(w); // what the warp does now comes after the reads of all its lanes
}

static void fence_op(struct warp *w, const struct op *op, uint32_t lanes) {
  if (warp_converge_whole(w, op, &lanes))
    wgmma_fence(w);
}

// ---- decoding ----

static bool decode_simple(struct decoder *d, op_fn *run, const void *info, unsigned operands) {
  if (!expect_part(d, "sync") || !expect_part(d, "aligned") || !expect_end(d) ||
      !expect_operands(d, operands, operands))
    return false;
  emit(d, run, NULL, 0, info);
  return !d->failed;
}

static bool decode_wait(struct decoder *d) {
  uint64_t *groups = arena_new(d->arena, uint64_t);
  if (d->in->operand_count != 1 || !constant_value(d, &d->in->operands[0], groups))
    return decode_error(d, "'wgmma.wait_group' wants a number of groups");
  if (*groups > 7)
    return decode_error(d, "'wgmma.wait_group' wants at most 7 groups");
  return decode_simple(d, wait_op, groups, 1);
}

static bool decode_n(struct decoder *d, struct str shape, struct wgmma *x) {
  char text[16];
  for (x->n = MMA_N; x->n <= WGMMA_MAX_N; x->n += MMA_N) {
    int length = snprintf(text, sizeof text, "m64n%uk", x->n);
    if (shape.len > (size_t)length && !memcmp(shape.ptr, text, (size_t)length))
      return true;
  }
  return decode_error(d, "this shape of 'wgmma' is not known: '%.*s'", STR_ARG(shape));
}

// Takes the shape; the same product of mma.sync has 16 rows and 8 columns.
static bool decode_shape(struct decoder *d, struct wgmma *x, char *ret_mma, size_t size) {
  struct str shape = peek_part(d);
  char text[16];
  if (!decode_n(d, shape, x))
    return false;
  const char *k = memchr(shape.ptr, 'k', shape.len);
  int digits = (int)(shape.ptr + shape.len - k);
  snprintf(ret_mma, size, "m16n8%.*s", digits, k);
  snprintf(text, sizeof text, "%.*s", STR_ARG(shape));
  return expect_part(d, text);
}

static bool decode_shape_and_types(struct decoder *d, struct wgmma *x) {
  static const char *const results[] = {"f32", "f16", "s32", NULL};
  static const char *const operands[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", NULL};
  char mma[16];
  if (!decode_shape(d, x, mma, sizeof mma))
    return false;
  int to = take_one_of(d, results), a = take_one_of(d, operands), b = take_one_of(d, operands);
  if (to < 0 || a < 0 || b < 0)
    return decode_error(d, "these types of 'wgmma' are not known");
  struct str parts[] = {STR("mma"),
                        STR("sync"),
                        STR("aligned"),
                        str_from(mma),
                        STR("row"),
                        STR("col"),
                        str_from(results[to]),
                        str_from(operands[a]),
                        str_from(operands[b]),
                        str_from(results[to])};
  if (!matrix_mma_decode(parts, COUNT_OF(parts), &x->mma) ||
      dtype_bits(x->mma.shape.a) * x->mma.shape.k != 8 * WGMMA_K_BYTES)
    return decode_error(d, "these types of 'wgmma' are not known");
  x->mma.saturate = x->mma.shape.c == DTYPE_I32 && take_part(d, "satfinite");
  x->words = x->n * dtype_bits(x->mma.shape.c) / 64;
  return true;
}

// Behind the descriptors: scale-d; but for integers imm-scale-a and imm-scale-b; of 16-bit operands
// a 0 or 1 for each descriptor.
static bool decode_modifiers(struct decoder *d, struct wgmma *x) {
  uint64_t scale[2], transposed[2] = {0};
  bool is_integer = x->mma.shape.c == DTYPE_I32, is_16_bit = dtype_bits(x->mma.shape.a) == 16;
  unsigned first = x->a_in_registers ? 1 : 0;
  unsigned count = is_integer ? 4 : is_16_bit ? 8 - first : 6;
  if (!expect_operands(d, count, count))
    return false;
  for (unsigned i = 0; !is_integer && i < 2; i++)
    if (!constant_value(d, &d->in->operands[4 + i], &scale[i]))
      return false;
  for (unsigned i = first; is_16_bit && i < 2; i++)
    if (!constant_value(d, &d->in->operands[6 + i - first], &transposed[i]))
      return false;
  if (!is_integer && (scale[0] != 1 || scale[1] != 1))
    return decode_error(d, "'wgmma' with a negated operand is not known");
  if (transposed[0] > 1 || transposed[1] > 1)
    return decode_error(d, "whether an operand of 'wgmma' is transposed is 0 or 1");
  x->a_transposed = transposed[0];
  x->b_transposed = transposed[1];
  return true;
}

static bool decode_product(struct decoder *d) {
  struct wgmma *x = arena_new(d->arena, struct wgmma);
  if (!expect_part(d, "sync") || !expect_part(d, "aligned") || !decode_shape_and_types(d, x) ||
      !expect_end(d) || !expect_operands(d, 4, 8))
    return false;
  const struct operand *given = d->in->operands, *items;
  x->a_in_registers = given[1].kind == OPERAND_VECTOR;
  if (!decode_modifiers(d, x))
    return false;
  int32_t *slots = arena_array(d->arena, int32_t, x->words + A_WORDS + 2);
  unsigned n = 0;
  if (!vector_items(d, &given[0], x->words, &items))
    return false;
  for (unsigned i = 0; i < x->words; i++)
    slots[n++] = result_slot(d, &items[i], 32);
  if (x->a_in_registers && !vector_items(d, &given[1], A_WORDS, &items))
    return false;
  for (unsigned i = 0; i < (x->a_in_registers ? A_WORDS : 1u); i++)
    slots[n++] = x->a_in_registers ? source_slot(d, &items[i], 32, false)
                                   : source_slot(d, &given[1], 64, false);
  slots[n++] = source_slot(d, &given[2], 64, false);
  slots[n++] = source_slot(d, &given[3], 1, false);
  for (unsigned i = 0; i < n; i++)
    if (slots[i] == NO_SLOT)
      return d->failed ? false : decode_error(d, "an operand of 'wgmma' that is no register");
  emit(d, product_op, slots, n, x);
  return !d->failed;
}

bool decode_wgmma(struct decoder *d) {
  if (take_part(d, "mma_async"))
    return decode_product(d);
  if (take_part(d, "fence"))
    return decode_simple(d, fence_op, NULL, 0);
  if (take_part(d, "commit_group"))
    return decode_simple(d, commit_op, NULL, 0);
  if (expect_part(d, "wait_group"))
    return decode_wait(d);
  return false;
}
