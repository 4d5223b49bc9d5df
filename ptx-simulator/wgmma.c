// SPDX-License-Identifier: Apache-2.0
// wgmma (PTX ISA, 9.7.15 "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions").
// Each warp of a warpgroup computes its 16 of the 64 rows. A product reads its operands at any time
// between the instruction and the wait for its group. The simulator computes it as late as allowed,
// at the wait; until then the accumulator holds a value that no program expects. With `check` the
// operands are read at both times and must be equal.
//
// Arithmetic is that of mma.sync (matrix.h).
#include "base/wgmma.h"

#include "ptx-simulator/shadow.h"
#include "ptx-simulator/wgmma_fence.h"
#include "ptx-simulator/wgmma_op.h"

#include <stdio.h>

#define TF32_IGNORED 0x1fffu

enum {
  ROWS = 16,  // of a warp
  CHUNK = 16, // bytes that a swizzle keeps together
  CORE_ROWS = 8,
  TRANSPOSED_BYTES = 2, // of an element: only 16-bit operands may be transposed
  B_WORDS = 2,
  MAX_WORDS = WGMMA_MAX_N / 2,
  NOT_COMPUTED = -1, // a NaN as a float
  WORD_BYTES_MASK = 15
};

// Slots: accumulator, A (registers or a descriptor), B's descriptor, scale-d.
static unsigned a_slot(const struct wgmma *x) { return x->words; }
static unsigned b_slot(const struct wgmma *x) {
  return x->words + (x->a_in_registers ? WGMMA_A_WORDS : 1);
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
  uint64_t a[SIM_LANES * WGMMA_A_WORDS], b[SIM_LANES * B_WORDS];
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
    for (unsigned i = 0; i < WGMMA_A_WORDS; i++)
      f->a[lane * WGMMA_A_WORDS + i] = x->a_in_registers
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
         "operand %c of wgmma, from %s on, was written before wgmma.wait_group", i ? 'B' : 'A',
         shared_text(w->run, at.address).at);
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

void wgmma_product_op(struct warp *w, const struct op *op, uint32_t lanes) {
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

void wgmma_commit_op(struct warp *w, const struct op *op, uint32_t lanes) {
  if (warp_converge_whole(w, op, &lanes))
    w->product_commits++;
}

// The products of a chain are computed in order; its registers are written after the last one.
void wgmma_wait_op(struct warp *w, const struct op *op, uint32_t lanes) {
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

void wgmma_fence_op(struct warp *w, const struct op *op, uint32_t lanes) {
  if (warp_converge_whole(w, op, &lanes))
    wgmma_fence(w);
}
