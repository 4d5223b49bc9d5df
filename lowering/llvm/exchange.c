// SPDX-License-Identifier: Apache-2.0
// Exchanges between threads through the CTA's scratch memory: stored from one layout, loaded into
// another, at offsets chosen by layouts/exchange_plan.h so that both sides are wide and free of
// bank conflicts, or by matrix instructions of the warp. Large tiles go in rounds.
#include "layouts/exchange_plan.h"
#include "lowering/analysis/convert_scratch.h"
#include "lowering/llvm/emit.h"

enum { MAX_ELEMENTS = 1 << EXCHANGE_VEC_BITS };

// Shared by the accesses of one side.
struct side {
  const struct exchange_side *plan;
  struct packing packing;
  unsigned count; // registers
  LLVMValueRef base, *offsets;
  struct buffer_addresses addresses; // where `base` is NULL
};

// base NULL: a buffer that begins `at` bytes into shared memory.
static struct side side_of(struct emitter *e, const struct exchange_side *plan, LLVMTypeRef type,
                           LLVMValueRef base, LLVMValueRef at) {
  struct side s = {.plan = plan, .packing = packing_of(e, type, 1u << plan->vec_bits)};
  struct linear_layout offsets =
      plan->form == EXCHANGE_VECTORS ? plan->offsets : exchange_rows(plan);
  s.count = register_count(&offsets);
  s.base = base;
  if (!base) {
    s.addresses = buffer_addresses_of(e, &offsets, plan->start, s.packing.bits, at);
    return s;
  }
  s.offsets = arena_array(e->arena, LLVMValueRef, s.count);
  layout_indices(e, &offsets, 0, s.offsets);
  return s;
}

static LLVMValueRef address(struct emitter *e, const struct side *s, uint32_t r) {
  if (!s->base)
    return buffer_address(e, &s->addresses, r);
  LLVMTypeRef element = LLVMIntTypeInContext(e->llvm, s->packing.bits);
  return LLVMBuildGEP2(e->b, element, s->base, &s->offsets[r], 1, "");
}

static uint32_t register_in_vector(const struct side *s, uint32_t r, unsigned i) {
  for (unsigned k = 0; i >> k; k++)
    r += (i >> k & 1) << s->plan->vec_register[k];
  return r;
}

// The register where word m of register r's matrices begins.
static uint32_t register_of_matrix(const struct side *s, uint32_t r, unsigned m) {
  for (unsigned k = 0; m >> k; k++)
    r += (m >> k & 1) << s->plan->matrix_register[k];
  return r;
}

static void pack_register(struct emitter *e, const struct side *s, uint32_t r,
                          const LLVMValueRef *values, LLVMValueRef *ret_words) {
  LLVMValueRef elements[MAX_ELEMENTS];
  for (unsigned i = 0; i < s->packing.width; i++)
    elements[i] = values[register_in_vector(s, r, i)];
  pack_elements(e, &s->packing, elements, ret_words);
}

static void unpack_register(struct emitter *e, const struct side *s, uint32_t r,
                            const LLVMValueRef *words, LLVMValueRef *ret) {
  LLVMValueRef elements[MAX_ELEMENTS];
  unpack_elements(e, &s->packing, words, elements);
  for (unsigned i = 0; i < s->packing.width; i++)
    ret[register_in_vector(s, r, i)] = elements[i];
}

static struct matrices matrices_at(struct emitter *e, const struct side *s, uint32_t r) {
  e->uses_collectives = true;
  return (struct matrices){.row = address(e, s, r),
                           .count = 1u << s->plan->matrix_bits,
                           .transposed = s->plan->form == EXCHANGE_TRANSPOSED};
}

static void store_register(struct emitter *e, const struct side *s, uint32_t r,
                           const LLVMValueRef *values) {
  LLVMValueRef words[MAX_ELEMENTS];
  const struct packing *p = &s->packing;
  if (s->plan->form == EXCHANGE_VECTORS) {
    pack_register(e, s, r, values, words);
    shared_store(e, join_words(e, p->word_count, words), address(e, s, r), p->bits / 8 * p->width);
    return;
  }
  struct matrices m = matrices_at(e, s, r);
  for (unsigned i = 0; i < m.count; i++)
    pack_register(e, s, register_of_matrix(s, r, i), values, &words[i]);
  e->target->hooks->store_matrices(e, &m, words);
}

static void store_all(struct emitter *e, const struct side *s, const LLVMValueRef *values) {
  for (uint32_t r = 0; r < s->count; r++)
    if (!(r & s->plan->skip_mask))
      store_register(e, s, r, values);
}

void exchange_store(struct emitter *e, const struct exchange_side *plan, LLVMTypeRef type,
                    LLVMValueRef base, const LLVMValueRef *values) {
  struct side s = side_of(e, plan, type, base, NULL);
  store_all(e, &s, values);
}

void buffer_store(struct emitter *e, const struct exchange_side *plan, LLVMTypeRef type,
                  LLVMValueRef at, const LLVMValueRef *values) {
  struct side s = side_of(e, plan, type, NULL, at);
  store_all(e, &s, values);
}

// The registers without copies of register r's element, for replicas.
static uint32_t original(const struct linear_layout *offsets, uint32_t copies, uint32_t r) {
  uint32_t index[LL_NO_IN] = {[LL_REGISTER] = r}, wanted[LL_MAX_OUT], at[LL_MAX_OUT];
  if (!(r & copies))
    return r;
  ll_apply(offsets, index, wanted);
  for (uint32_t k = 0; k < r; k++) {
    index[LL_REGISTER] = k;
    ll_apply(offsets, index, at);
    if (!(k & copies) && at[0] == wanted[0])
      return k;
  }
  return r;
}

static void copy_registers(const struct linear_layout *offsets, LLVMValueRef *ret) {
  uint32_t copies = owner_registers(offsets), of_bit[LL_MAX_BITS] = {0};
  unsigned bits = ll_in_bits(offsets, LL_REGISTER);
  for (unsigned b = 0; b < bits; b++)
    of_bit[b] = copies >> b & 1 ? original(offsets, copies, 1u << b) : 0;
  for (uint32_t r = 0; r < 1u << bits; r++) {
    uint32_t from = r & ~copies;
    for (unsigned b = 0; b < bits; b++)
      from ^= r >> b & 1 ? of_bit[b] : 0;
    ret[r] = ret[from];
  }
}

static void load_register(struct emitter *e, const struct side *s, uint32_t r, LLVMValueRef *ret) {
  LLVMValueRef words[MAX_ELEMENTS];
  const struct packing *p = &s->packing;
  if (s->plan->form == EXCHANGE_VECTORS) {
    LLVMTypeRef words_of = words_type(e, p->word_count, p->word_bits);
    LLVMValueRef v = shared_load(e, words_of, address(e, s, r), p->bits / 8 * p->width);
    split_words(e, p->word_count, v, words);
    unpack_register(e, s, r, words, ret);
    return;
  }
  struct matrices m = matrices_at(e, s, r);
  e->target->hooks->load_matrices(e, &m, words);
  for (unsigned i = 0; i < m.count; i++)
    unpack_register(e, s, register_of_matrix(s, r, i), &words[i], ret);
}

static void load_all(struct emitter *e, const struct side *s, LLVMValueRef *ret) {
  for (uint32_t r = 0; r < s->count; r++)
    if (!(r & s->plan->skip_mask))
      load_register(e, s, r, ret);
  copy_registers(&s->plan->offsets, ret);
}

void exchange_load(struct emitter *e, const struct exchange_side *plan, LLVMTypeRef type,
                   LLVMValueRef base, LLVMValueRef *ret) {
  struct side s = side_of(e, plan, type, base, NULL);
  load_all(e, &s, ret);
}

void buffer_load(struct emitter *e, const struct exchange_side *plan, LLVMTypeRef type,
                 LLVMValueRef at, LLVMValueRef *ret) {
  struct side s = side_of(e, plan, type, NULL, at);
  load_all(e, &s, ret);
}

// One element, from the owner to all.
static void exchange_scalar(struct emitter *e, const struct packing *p, LLVMValueRef owner,
                            LLVMValueRef value, LLVMValueRef *ret) {
  LLVMValueRef base = scratch_begin(e, e->op, exchange_bytes(NULL, p->bits)), word;
  struct branch br = branch_begin(e, owner);
  pack_elements(e, p, &value, &word);
  shared_store(e, word, base, p->bits / 8);
  branch_end(e, &br);
  cta_barrier(e);
  word = shared_load(e, LLVMTypeOf(word), base, p->bits / 8);
  unpack_elements(e, p, &word, ret);
  scratch_end(e);
}

// ---- tiles ----

// i1: the thread takes part in the round, on one side; NULL: all do.
static LLVMValueRef takes_part(struct emitter *e, const struct exchange_share *share, unsigned bits,
                               uint32_t round) {
  LLVMValueRef all = NULL;
  for (unsigned i = 0; i < bits; i++) {
    if (!share->of_warp[i])
      continue;
    LLVMValueRef own = thread_parity(e, share->of_warp[i] << LANE_BITS);
    if (!(round >> i & 1))
      own = LLVMBuildNot(e->b, own, "");
    all = all ? LLVMBuildAnd(e->b, all, own, "") : own;
  }
  return all;
}

struct exchange {
  LLVMTypeRef type;
  LLVMValueRef base, owner;
  struct exchange_rounds rounds;
  struct exchange_plan plan; // of each round
};

static void store_round(struct emitter *e, const struct exchange *x, uint32_t round,
                        const LLVMValueRef *values) {
  const struct exchange_share *share = &x->rounds.store;
  uint32_t count = register_count(&share->layout);
  LLVMValueRef *own = arena_array(e->arena, LLVMValueRef, count);
  for (uint32_t r = 0; r < count; r++)
    own[r] = values[exchange_round_register(share, x->rounds.bits, round, r)];
  LLVMValueRef cond = both(e, x->owner, takes_part(e, share, x->rounds.bits, round));
  struct branch br;
  if (cond)
    br = branch_begin(e, cond);
  exchange_store(e, &x->plan.store, x->type, x->base, own);
  if (cond)
    branch_end(e, &br);
}

// ret keeps the results of earlier rounds in threads that do not take part.
static void load_round(struct emitter *e, const struct exchange *x, uint32_t round,
                       LLVMValueRef *ret) {
  const struct exchange_share *share = &x->rounds.load;
  uint32_t count = register_count(&share->layout);
  LLVMValueRef *own = arena_array(e->arena, LLVMValueRef, count);
  LLVMValueRef cond = takes_part(e, share, x->rounds.bits, round);
  struct branch br;
  if (cond)
    br = branch_begin(e, cond);
  exchange_load(e, &x->plan.load, x->type, x->base, own);
  LLVMBasicBlockRef inside = LLVMGetInsertBlock(e->b);
  if (cond)
    branch_end(e, &br);
  for (uint32_t r = 0; r < count; r++) {
    LLVMValueRef *to = &ret[exchange_round_register(share, x->rounds.bits, round, r)];
    if (!cond) {
      *to = own[r];
      continue;
    }
    LLVMValueRef before = *to ? *to : LLVMGetPoison(x->type);
    LLVMValueRef phi = LLVMBuildPhi(e->b, x->type, "");
    LLVMAddIncoming(phi, &own[r], &inside, 1);
    LLVMAddIncoming(phi, &before, &br.from, 1);
    *to = phi;
  }
}

bool exchange_through_shared(struct emitter *e, LLVMTypeRef type, const struct linear_layout *from,
                             const struct linear_layout *to, LLVMValueRef owner,
                             const LLVMValueRef *values, LLVMValueRef *ret) {
  struct packing one = packing_of(e, type, 1);
  if (!from || !to) {
    exchange_scalar(e, &one, owner, values[0], ret);
    return true;
  }
  struct exchange x = {.type = type, .owner = owner};
  exchange_rounds_of(from, to, one.bits, &x.rounds);
  if (!exchange_plan_make(&x.rounds.store.layout, &x.rounds.load.layout, one.bits,
                          e->target->matrix_moves, &x.plan))
    return emit_unsupported(e, e->op, "layouts that do not cover their tile");
  x.base = scratch_begin(e, e->op, x.rounds.bytes);
  LLVMValueRef *got = arena_array(e->arena, LLVMValueRef, register_count(to));
  for (uint32_t round = 0; round < 1u << x.rounds.bits; round++) {
    if (round > 0)
      cta_barrier(e); // the previous round may still be read
    store_round(e, &x, round, values);
    cta_barrier(e);
    load_round(e, &x, round, got);
  }
  memcpy(ret, got, register_count(to) * sizeof *ret);
  scratch_end(e);
  return true;
}
