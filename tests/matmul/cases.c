// SPDX-License-Identifier: Apache-2.0
// The tested products. `shapes`: common forms of matrix products with every type,
// number of warps and number of stages, sizes around blocks and powers of two. `forms`: every form,
// more of them for operands of 8 bits.
// `random`: random types, blocks, warps, stages and forms at small sizes, which the CPU runs with
// race detection.
#include "product.h"

#include <string.h>

// ---- picking ----

static uint64_t next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t n) { return (size_t)(next(state) % n); }

static const struct blocks blocks[] = {
    {16, 16, 16},   {16, 128, 32}, {64, 64, 32},   {32, 32, 32},  {128, 128, 32}, {64, 64, 64},
    {256, 64, 32},  {64, 32, 64},  {32, 16, 64},   {16, 16, 64},  {64, 16, 16},   {128, 64, 64},
    {128, 256, 64}, {16, 64, 128}, {32, 128, 64},  {16, 32, 16},  {64, 128, 128}, {8, 32, 16},
    {32, 32, 8},    {64, 1, 32},   {128, 128, 64}, {256, 128, 32}};

static size_t cdiv(size_t a, size_t b) { return (a + b - 1) / b; }

// The kernel's work including the masked part: the CPU does some 10^7 operations a second.
static double work(const struct product *p) {
  struct blocks b = p->block;
  double k = (double)cdiv(p->k, b.k) * b.k;
  return (double)cdiv(p->m, b.m) * b.m * (double)cdiv(p->n, b.n) * b.n * (k > b.k ? k : b.k);
}

static bool is_cast(const struct form *f) { return strncmp(f->name, "cast", 4) == 0; }

static const struct types cast_types[] = {
    {DTYPE_I8, DTYPE_F16, DTYPE_F32, DTYPE_F32, NULL, 0, 0x1p-23},
    {DTYPE_F16, DTYPE_I8, DTYPE_F32, DTYPE_F32, NULL, 0, 0x1p-23},
    {DTYPE_F8E5, DTYPE_BF16, DTYPE_F32, DTYPE_F32, NULL, 0, 0x1p-23},
    {DTYPE_BF16, DTYPE_F8E4NV, DTYPE_F32, DTYPE_F32, NULL, 0, 0x1p-23},
    {DTYPE_F16, DTYPE_F32, DTYPE_F32, DTYPE_F32, NULL, 0, 0x1p-23},
    {DTYPE_BF16, DTYPE_I8, DTYPE_F32, DTYPE_F32, NULL, 0, 0x1p-23},
};

// Picks the fields that are NULL or 0. False if no choice fits.
static bool pick_kernel(uint64_t *state, const struct product *given, double most,
                        struct product *ret) {
  for (unsigned tries = 0; tries < 200; tries++) {
    struct product p = *given;
    if (!p.form)
      p.form = &forms[below(state, form_count)];
    if (is_cast(p.form) && !given->types)
      p.types = &cast_types[below(state, COUNT_OF(cast_types))];
    if (!p.types)
      p.types = &product_types[below(state, product_types_count)];
    p.block = blocks[below(state, COUNT_OF(blocks))];
    if (!p.warps)
      p.warps = 1u << below(state, 4);
    if (!p.stages)
      p.stages = 1 + (unsigned)below(state, 5);
    p.a_columns = next(state) & 1;
    p.b_columns = next(state) & 1;
    p.pad = (const unsigned[]){16, 16, 0, 3}[below(state, 4)]; // copies are wide with 16
    p.m = p.n = p.k = 1;
    if (work(&p) <= most && product_fits(&p)) {
      *ret = p;
      return true;
    }
  }
  return false;
}

// Sizes around multiples of a block; half of them are multiples of 16, which allow wide copies.
static size_t around(uint64_t *state, size_t block) {
  const size_t wide[] = {16, block, block + 16, 2 * block, 3 * block};
  const size_t any[] = {1, block / 2, block - 1, block + 1, 2 * block + 5};
  size_t v =
      next(state) & 1 ? wide[below(state, COUNT_OF(wide))] : any[below(state, COUNT_OF(any))];
  return v ? v : 1;
}

// Loops with no iteration, and with fewer and more iterations than stages.
static size_t around_k(uint64_t *state, size_t block) {
  const size_t wide[] = {0,         16,        block,          block + 16, 2 * block,
                         3 * block, 5 * block, 4 * block + 16, 7 * block,  8 * block + 16};
  const size_t any[] = {1, block - 1, block + 1, 2 * block + 5, 4 * block - 3, 6 * block + 1};
  return below(state, 3) ? wide[below(state, COUNT_OF(wide))] : any[below(state, COUNT_OF(any))];
}

// Finds sizes that the form and the limit allow.
static bool pick_sizes(uint64_t *state, struct product *p, const size_t *sizes, size_t count,
                       double most) {
  struct product tried = *p;
  for (unsigned tries = 0; tries < 300; tries++) {
    struct blocks b = p->block;
    tried.m = sizes ? sizes[below(state, count)] : around(state, b.m);
    tried.n = sizes ? sizes[below(state, count)] : around(state, b.n);
    tried.k = sizes ? sizes[below(state, count)] : around_k(state, b.k);
    if (strcmp(p->form->name, "through memory") == 0)
      tried.k = tried.m;
    tried.is_rounded = sizes && below(state, 3) == 0 && dtype_is_float(p->types->a);
    if (work(&tried) <= most && product_fits(&tried)) {
      *p = tried;
      return true;
    }
  }
  return false;
}

// ---- shapes ----

static const size_t boundary[] = {1, 16, 17, 64, 127, 128, 129, 1000, 4096};

// One kernel at several sizes.
static void at_sizes(struct suite *s, uint64_t *state, const struct product *given,
                     unsigned times) {
  struct product p;
  double most = s->on_processor ? 0x1p21 : 0x1p37;
  if (!pick_kernel(state, given, s->on_processor ? 0x1p20 : 0x1p30, &p))
    return;
  for (unsigned i = 0; i < times; i++)
    if (pick_sizes(state, &p, boundary, COUNT_OF(boundary), most))
      product_case(s, &p);
}

void test_shapes(struct suite *s, const struct settings *t) {
  static const char *const names[] = {"pointers", "wrapped", "block pointers", "computed", "even"};
  uint64_t state = t->seed;
  unsigned variant = 0;
  for (unsigned warps = 1; warps <= 8; warps *= 2)
    for (unsigned stages = 1; stages <= 5; stages++)
      for (size_t i = 0; i < product_types_count; i++, variant++) {
        struct product p = {.types = &product_types[i],
                            .form = form_named(names[variant % COUNT_OF(names)]),
                            .warps = warps,
                            .stages = stages};
        at_sizes(s, &state, &p, s->on_processor ? 1 : 2);
      }
}

// ---- forms ----

// Operands of 8 bits, both with K as the contiguous dimension, as wgmma reads them.
static void byte_forms(struct suite *s, uint64_t *state, double most) {
  static const char *const names[] = {"pointers", "even",         "computed", "plus",    "promoted",
                                      "rescaled", "two products", "wrapped",  "row sums"};
  static const struct blocks some[] = {{64, 64, 64}, {64, 32, 128}, {128, 64, 32}, {64, 128, 64}};
  unsigned variant = 0;
  for (size_t i = 0; i < COUNT_OF(names); i++)
    for (size_t j = 0; j < product_types_count; j++) {
      struct product p = {.form = form_named(names[i]), .types = &product_types[j]};
      if (dtype_bits(p.types->a) != 8)
        continue;
      p.block = some[variant % COUNT_OF(some)];
      p.warps = variant % 3 ? 4 : 8;
      p.stages = 1 + variant++ % 5;
      p.b_columns = true;
      p.pad = 16;
      p.m = p.n = p.k = 1;
      if (product_fits(&p) && pick_sizes(state, &p, NULL, 0, most))
        product_case(s, &p);
    }
}

// Shared memory for the stages: less where the device may not have what sm_90a has.
// Operands in f32 need buffers besides.
static size_t most_shared(const struct suite *s, enum dtype operands) {
  bool is_large =
      operands == DTYPE_F16 && strcmp(s->o.device, "simulate:sm_90a") == 0 && !s->o.target;
  return is_large ? 192 << 10 : 160 << 10;
}

// Stores through tensor maps: two buffers by turns; one buffer, where the ring leaves no more
// (256x128x64); tiles in other layouts than those of wgmma. Each program stores three tiles, of
// which the last ones are not whole.
static void stored_forms(struct suite *s) {
  static const struct {
    const char *form;
    struct blocks block;
    unsigned warps, stages;
  } some[] = {{"stored descriptors", {64, 64, 32}, 4, 3},
              {"stored descriptors", {128, 128, 64}, 4, 4},
              {"stored descriptors", {128, 256, 64}, 8, 3},
              {"stored descriptors", {256, 128, 64}, 8, 4},
              {"stored descriptors", {64, 16, 32}, 4, 2},
              {"stored descriptors", {64, 256, 32}, 4, 4},
              {"stored descriptors", {256, 64, 32}, 16, 5},
              {"stored descriptors", {128, 128, 32}, 16, 6},
              {"stored descriptors", {64, 256, 32}, 16, 6},
              {"whole stored descriptors", {64, 64, 32}, 4, 3},
              {"whole stored descriptors", {64, 128, 64}, 8, 4},
              {"whole stored descriptors", {32, 128, 64}, 8, 2}};
  static const enum dtype operands[] = {DTYPE_F16, DTYPE_F32};
  for (size_t i = 0; i < COUNT_OF(some) * COUNT_OF(operands); i++) {
    struct product p = {.form = form_named(some[i / 2].form), .pad = 16};
    for (size_t k = 0; k < product_types_count && !p.types; k++)
      if (product_types[k].a == operands[i % 2] && product_types[k].b == operands[i % 2])
        p.types = &product_types[k];
    p.block = some[i / 2].block;
    p.warps = some[i / 2].warps;
    p.stages = some[i / 2].stages;
    p.m = 2 * p.block.m + p.block.m / 2;
    p.n = p.block.n;
    p.k = 2 * p.block.k + 16;
    if (p.types && p.form->fits(&p) && product_shared_bytes(&p) <= most_shared(s, operands[i % 2]))
      product_case(s, &p);
  }
}

void test_forms(struct suite *s, const struct settings *t) {
  uint64_t state = t->seed + 1;
  double most = s->on_processor ? 0x1p20 : 0x1p26;
  for (size_t i = 0; i < form_count; i++)
    for (unsigned variant = 0; variant < (s->on_processor ? 6 : 10); variant++) {
      bool is_plain = variant % 2 == 0 && !is_cast(&forms[i]);
      struct product given = {.form = &forms[i], .types = is_plain ? &product_types[0] : NULL}, p;
      given.warps = 1u << variant % 4;
      if (pick_kernel(&state, &given, most, &p) && pick_sizes(&state, &p, NULL, 0, most))
        product_case(s, &p);
    }
  byte_forms(s, &state, most);
  stored_forms(s);
}

// ---- random ----

void test_random(struct suite *s, const struct settings *t) {
  double most = s->on_processor ? 0x1p20 : 0x1p26;
  for (unsigned long i = 0; i < t->count; i++) {
    uint64_t state = (t->seed + i) * 77;
    struct product given = {0}, p;
    given.stages = 1 + (unsigned)((t->seed + i) % 5);
    if (pick_kernel(&state, &given, most, &p) && pick_sizes(&state, &p, NULL, 0, most))
      product_case(s, &p);
  }
}
