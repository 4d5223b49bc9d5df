// SPDX-License-Identifier: Apache-2.0
// The instructions of a product by wgmma (PTX ISA, "wgmma.mma_async"). A warpgroup multiplies tiles
// of 64 rows and N columns; all of K of all of its tiles are one group, and one piece of assembly
// that begins with a fence and ends with a wait. With `pending` > 0 the accumulators are still
// written after it: until tilegpu.warp_group_dot_wait only products of the same shape may use them.
//
// With `promoted_every` a tile, or a part of it, is summed in registers of its own, so many
// elements of K at a time. Two of these sums are in flight where registers allow: while the first
// is added to the accumulator, the tensor core computes the second.
#include "base/vec.h"
#include "lowering/llvm/warp_group.h"

#include <assert.h>

enum { A_WORDS = 4 };

// Columns of promoted sums: a thread has 64 registers for 128 of them. Next to 128 accumulators
// that is too much where there are several sums (ptxas 13.0: 228 bytes of spills; none with 64).
// Two sums are in flight if they and the accumulators fit into MOST_REGISTERS.
enum { PROMOTED_N = 128, FEWER_PROMOTED_N = 64, MANY_ACCUMULATORS = 128, MOST_REGISTERS = 192 };

// A tile, or some columns of it.
struct part {
  unsigned row_tile, column_tile;
  uint32_t first, n;       // columns
  unsigned first_register; // of its accumulator, in the assembly
};

// 32-bit registers of the accumulator of n columns.
static unsigned accumulator_words(const struct warp_group_product *p, uint32_t n) {
  return n * dtype_bits(p->acc_dtype) / 64;
}

// ---- the assembly ----

struct assembly {
  struct emitter *e;
  struct strbuf copies, text, inputs; // of A; instructions; constraints of what is read
  unsigned copy_count;                // registers
  unsigned args;                      // counted, results included
  VEC(LLVMValueRef) values;           // of the arguments behind the accumulators
};

static void begin(struct assembly *s, struct emitter *e, unsigned args) {
  *s = (struct assembly){.e = e, .args = args};
  s->copies.arena = s->text.arena = s->inputs.arena = e->arena;
}

static unsigned argument(struct assembly *s, LLVMValueRef v, char constraint) {
  vec_push(s->e->arena, &s->values, v);
  strbuf_printf(&s->inputs, ",%c", constraint);
  return s->args++;
}

static void put_registers(struct assembly *s, unsigned first, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    strbuf_printf(&s->text, "%s$%u", i ? "," : "{", first + i);
  strbuf_puts(&s->text, "}");
}

// Are the registers of A read behind the product, maybe in the next iteration? Ops that only
// rename them are followed.
static bool a_is_used_again(struct ir_context *c, MlirOperation product) {
  MlirValue v = mlirOperationGetOperand(product, 0);
  for (;;) {
    MlirOperation def = value_def(v);
    if (mlirOperationIsNull(def) ||
        !mlirBlockEqual(mlirOperationGetBlock(def), mlirOperationGetBlock(product)) ||
        !mlirOpOperandIsNull(mlirOpOperandGetNextUse(mlirValueGetFirstUse(v))))
      return true;
    if ((op_flags(c, def) & (OP_EW | OP_READ | OP_EFFECT)) || op_is(c, def, OP_GPU_LOCAL_LOAD))
      return false;
    if (mlirOperationGetNumOperands(def) != 1)
      return true;
    v = mlirOperationGetOperand(def, 0);
  }
}

// ptxas 13.0 gives the words of A of two products in a loop the same registers, even where the ones
// are used again in the next iteration, and it removes moves. So such words are copied, and by a
// selection: that there is a program in the grid ptxas does not know.
static void put_copies(struct assembly *s, unsigned first) {
  for (unsigned i = 0; i < A_WORDS; i++) {
    strbuf_printf(&s->copies, "selp.b32 a%u, $%u, 0, is_grid;\n", s->copy_count, first + i);
    strbuf_printf(&s->text, "%sa%u", i ? "," : "{", s->copy_count++);
  }
  strbuf_puts(&s->text, "}");
}

// All of the assembly: `predicates`, the copies, then a fence and the rest.
static const char *finish(struct assembly *s, const char *predicates) {
  static const char declare[] = ".reg .pred is_grid;\n.reg .b32 programs;\n"
                                "mov.u32 programs, %nctaid.x;\nsetp.ne.u32 is_grid, programs, 0;\n";
  struct strbuf all = {.arena = s->e->arena};
  strbuf_printf(&all, "{\n%s", predicates);
  if (s->copy_count)
    strbuf_printf(&all, "%s.reg .b32 a<%u>;\n%s", declare, s->copy_count, strbuf_cstr(&s->copies));
  strbuf_printf(&all, "wgmma.fence.sync.aligned;\n%s", strbuf_cstr(&s->text));
  return strbuf_cstr(&all);
}

static const char *operand_name(enum dtype t) {
  switch (t) {
  case DTYPE_F16: return "f16";
  case DTYPE_BF16: return "bf16";
  case DTYPE_F32: return "tf32";
  case DTYPE_F8E4NV: return "e4m3";
  case DTYPE_F8E5: return "e5m2";
  default: assert(t == DTYPE_I8); return "s8";
  }
}

static const char *accumulator_name(enum dtype t) {
  return t == DTYPE_F32 ? "f32" : t == DTYPE_F16 ? "f16" : "s32";
}

// scale-d is in front of them: imm-scale-a and -b of floats, and for 16-bit operands in memory
// whether K is not their contiguous dimension.
static void put_modifiers(struct assembly *s, const struct warp_group_product *p) {
  bool is_16_bit = dtype_bits(p->dtype[0]) == 16;
  if (p->dtype[0] != DTYPE_I8)
    strbuf_puts(&s->text, ", 1, 1");
  if (is_16_bit && !p->a_in_registers)
    strbuf_printf(&s->text, ", %d", !p->a.k_is_inner);
  if (is_16_bit)
    strbuf_printf(&s->text, ", %d", !p->b.k_is_inner);
  strbuf_puts(&s->text, ";\n");
}

// `adds`: the predicate that is scale-d.
static void put_product(struct assembly *s, const struct warp_group_product *p,
                        const struct part *x, uint32_t k, const LLVMValueRef *a_words,
                        const char *adds) {
  unsigned a = s->args;
  if (p->a_in_registers)
    for (unsigned i = 0; i < A_WORDS; i++)
      argument(s, a_words[i], 'r');
  else
    argument(s, warp_group_descriptor(s->e, p, 0, x->row_tile, 0, k), 'l');
  unsigned b = argument(s, warp_group_descriptor(s->e, p, 1, x->column_tile, x->first, k), 'l');
  strbuf_printf(&s->text, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s ", x->n, p->k_step,
                accumulator_name(p->acc_dtype), operand_name(p->dtype[0]),
                operand_name(p->dtype[1]));
  put_registers(s, x->first_register, accumulator_words(p, x->n));
  strbuf_puts(&s->text, ", ");
  if (p->a_in_registers && a_is_used_again(s->e->c, p->op))
    put_copies(s, a);
  else if (p->a_in_registers)
    put_registers(s, a, A_WORDS);
  else
    strbuf_printf(&s->text, "$%u", a);
  strbuf_printf(&s->text, ", $%u, %s", b, adds);
  put_modifiers(s, p);
}

// The words of A that a lane gives to the product of a row tile at k: rows r and r + 8 for each 8
// of 16 elements along K (of 16 bits).
static void a_words_at(struct emitter *e, const struct warp_group_product *p, unsigned row_tile,
                       uint32_t k, LLVMValueRef ret[A_WORDS]) {
  if (!p->a_in_registers)
    return;
  const struct emitted *a = operand_of(e, p->op, 0);
  unsigned of_word = 32 / dtype_bits(p->dtype[0]);
  struct packing packing = packing_of(e, type_of_dtype(e, p->dtype[0]), of_word);
  unsigned first = (row_tile * (p->k / p->k_step) + k / p->k_step) * of_word * A_WORDS;
  for (unsigned w = 0; w < A_WORDS; w++)
    pack_elements(e, &packing, &a->at[first + of_word * w], &ret[w]);
}

static void put_products(struct assembly *s, const struct warp_group_product *p) {
  unsigned words = accumulator_words(p, p->n);
  for (unsigned i = 0; i < p->row_tiles; i++)
    for (uint32_t k = 0; k < p->k; k += p->k_step) {
      LLVMValueRef a[A_WORDS];
      a_words_at(s->e, p, i, k, a);
      for (unsigned j = 0; j < p->column_tiles; j++) {
        struct part x = {i, j, 0, p->n, (i * p->column_tiles + j) * words};
        put_product(s, p, &x, k, a, "p");
      }
    }
}

static void put_wait(struct assembly *s, int pending) {
  strbuf_printf(&s->text, "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned %d;\n}",
                pending);
}

// ---- accumulators ----

// Registers of the tile as words: f16 in pairs.
static void accumulator_in(struct emitter *e, const struct warp_group_product *p,
                           const LLVMValueRef *at, unsigned count, LLVMValueRef *ret) {
  struct packing packing = packing_of(e, e->f16, 2);
  for (unsigned i = 0; i < count; i++)
    if (p->acc_dtype != DTYPE_F16)
      ret[i] = at[i];
    else
      pack_elements(e, &packing, &at[2 * i], &ret[i]);
}

static void accumulator_out(struct emitter *e, const struct warp_group_product *p,
                            LLVMValueRef words, unsigned count, LLVMValueRef *ret) {
  struct packing packing = packing_of(e, e->f16, 2);
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef word = LLVMBuildExtractValue(e->b, words, i, "");
    if (p->acc_dtype != DTYPE_F16)
      ret[i] = word;
    else
      unpack_elements(e, &packing, &word, &ret[2 * i]);
  }
}

// The first product writes accumulators before the last one reads its operands: no register is both,
// even if both begin as zero.
LLVMTypeRef warp_group_tie(struct emitter *e, unsigned count, bool floats,
                           struct strbuf *constraints) {
  LLVMTypeRef *types = arena_array(e->arena, LLVMTypeRef, count);
  for (unsigned i = 0; i < count; i++) {
    strbuf_printf(constraints, "%s=&%c", i ? "," : "", floats ? 'f' : 'r');
    types[i] = floats ? e->f32 : e->i32;
  }
  for (unsigned i = 0; i < count; i++)
    strbuf_printf(constraints, ",%u", i);
  return LLVMStructTypeInContext(e->llvm, types, count, false);
}

static void multiply_in_place(struct emitter *e, const struct warp_group_product *p) {
  unsigned count = p->row_tiles * p->column_tiles * accumulator_words(p, p->n);
  struct assembly s;
  begin(&s, e, 2 * count);
  struct strbuf constraints = {.arena = e->arena};
  LLVMTypeRef result = warp_group_tie(e, count, p->acc_dtype == DTYPE_F32, &constraints);
  put_products(&s, p);
  put_wait(&s, (int)op_attr_int(p->op, "pending", 0));
  LLVMValueRef *args = arena_array(e->arena, LLVMValueRef, count + s.values.len);
  accumulator_in(e, p, operand_of(e, p->op, 2)->at, count, args);
  for (size_t i = 0; i < s.values.len; i++)
    args[count + i] = s.values.at[i];
  strbuf_puts(&constraints, strbuf_cstr(&s.inputs));
  const char *text = finish(&s, ".reg .pred p;\nsetp.eq.u32 p, 0, 0;\n");
  LLVMValueRef words = e->target->hooks->warp_group_asm(e, text, strbuf_cstr(&constraints), result,
                                                        args, (unsigned)(count + s.values.len));
  accumulator_out(e, p, words, count, result_of(e, p->op, 0)->at);
}

// ---- promoted sums ----

// A sum in flight: the product of a part over [from, to) of K, of f32, in registers of its own.
struct sum {
  LLVMValueRef words, *acc; // the registers; where it is added
  unsigned count;
};

static struct sum begin_sum(struct emitter *e, const struct warp_group_product *p,
                            const struct part *x, uint32_t from, uint32_t to, LLVMValueRef *acc) {
  unsigned count = accumulator_words(p, x->n);
  struct assembly s;
  struct strbuf constraints = {.arena = e->arena};
  begin(&s, e, count);
  for (uint32_t k = from; k < to; k += p->k_step) {
    LLVMValueRef a[A_WORDS];
    a_words_at(e, p, x->row_tile, k, a);
    put_product(&s, p, x, k, a, k == from ? "q" : "p");
  }
  strbuf_puts(&s.text, "wgmma.commit_group.sync.aligned;\n}");
  LLVMTypeRef *types = arena_array(e->arena, LLVMTypeRef, count);
  for (unsigned i = 0; i < count; i++) {
    strbuf_printf(&constraints, "%s=&f", i ? "," : "");
    types[i] = e->f32;
  }
  strbuf_puts(&constraints, strbuf_cstr(&s.inputs));
  const char *text = finish(&s, ".reg .pred p, q;\nsetp.eq.u32 p, 0, 0;\nsetp.ne.u32 q, 0, 0;\n");
  LLVMValueRef words = e->target->hooks->warp_group_asm(
      e, text, strbuf_cstr(&constraints), LLVMStructTypeInContext(e->llvm, types, count, false),
      s.values.at, (unsigned)s.values.len);
  return (struct sum){words, acc, count};
}

// Waits until at most `pending` later sums are in flight, and adds this one to its accumulators.
static void end_sum(struct emitter *e, const struct sum *s, int pending) {
  struct strbuf constraints = {.arena = e->arena};
  LLVMTypeRef result = warp_group_tie(e, s->count, true, &constraints);
  LLVMValueRef *args = arena_array(e->arena, LLVMValueRef, s->count);
  for (unsigned i = 0; i < s->count; i++)
    args[i] = LLVMBuildExtractValue(e->b, s->words, i, "");
  const char *text = arena_printf(e->arena, "wgmma.wait_group.sync.aligned %d;", pending);
  LLVMValueRef words =
      e->target->hooks->warp_group_asm(e, text, strbuf_cstr(&constraints), result, args, s->count);
  for (unsigned i = 0; i < s->count; i++)
    s->acc[i] = LLVMBuildFAdd(e->b, s->acc[i], LLVMBuildExtractValue(e->b, words, i, ""), "");
}

static uint32_t promoted_columns(const struct warp_group_product *p) {
  unsigned count = p->row_tiles * p->column_tiles * accumulator_words(p, p->n);
  bool many = count >= MANY_ACCUMULATORS && p->promoted_every < p->k;
  uint32_t most = many ? FEWER_PROMOTED_N : PROMOTED_N;
  return p->n < most ? p->n : most;
}

// While a sum is added to its accumulators, the tensor core computes the next one, if there are
// registers for both.
struct promotion {
  struct sum last;
  bool has_last, overlaps;
};

static void end_last(struct emitter *e, struct promotion *all, int pending) {
  if (all->has_last)
    end_sum(e, &all->last, pending);
  all->has_last = false;
}

static void promote_part(struct emitter *e, const struct warp_group_product *p,
                         struct promotion *all, const struct part *x, LLVMValueRef *acc) {
  for (uint32_t k = 0; k < p->k; k += p->promoted_every) {
    uint32_t end = k + p->promoted_every < p->k ? k + p->promoted_every : p->k;
    if (!all->overlaps)
      end_last(e, all, 0);
    struct sum next = begin_sum(e, p, x, k, end, acc);
    end_last(e, all, 1);
    all->last = next;
    all->has_last = true;
  }
}

static void multiply_promoted(struct emitter *e, const struct warp_group_product *p) {
  assert(p->acc_dtype == DTYPE_F32);
  struct emitted *sum = result_of(e, p->op, 0);
  uint32_t n = promoted_columns(p);
  struct promotion all = {.overlaps = sum->count + 2 * accumulator_words(p, n) <= MOST_REGISTERS};
  LLVMValueRef *acc = sum->at;
  memcpy(acc, operand_of(e, p->op, 2)->at, sum->count * sizeof *acc);
  for (unsigned i = 0; i < p->row_tiles; i++)
    for (unsigned j = 0; j < p->column_tiles; j++)
      for (uint32_t first = 0; first < p->n; first += n) {
        struct part x = {i, j, first, n, 0};
        promote_part(e, p, &all, &x, acc);
        acc += accumulator_words(p, n);
      }
  end_last(e, &all, 0);
}

void warp_group_multiply(struct emitter *e, const struct warp_group_product *p) {
  if (p->promoted_every)
    multiply_promoted(e, p);
  else
    multiply_in_place(e, p);
}
