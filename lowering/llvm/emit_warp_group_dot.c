// SPDX-License-Identifier: Apache-2.0
// tilegpu.warp_group_dot by wgmma (PTX ISA, "wgmma.mma_async"). A warpgroup multiplies tiles of 64
// rows and N columns; all of K of all of its tiles are one group, and one piece of assembly that
// begins with a fence and ends with a wait. With `pending` > 0 the accumulators are still written
// after it: until tilegpu.warp_group_dot_wait only products of the same shape may use them.
//
// Operands in shared memory are given by descriptors: the address of the first element, and the
// strides of the pieces (layouts/shared.c: nvmma_to_linear has the same order).
//
//   K contiguous      strips of `swizzle` bytes of K; SBO: 8 rows
//   K not contiguous  strips of `swizzle` bytes of M or N; LBO: a strip; SBO: 8 elements of K
//
// Targets without wgmma read both operands into registers and multiply as tile.dot does.
#include "base/vec.h"
#include "base/wgmma.h"
#include "layouts/encoding.h"
#include "lowering/analysis/buffer_access.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/llvm/dot.h"

#include <assert.h>

enum {
  ROWS_OF_SWIZZLE = 8,
  DESCRIPTOR_UNIT_BITS = 4,
  DESCRIPTOR_LBO = 16,
  DESCRIPTOR_SBO = 32,
  DESCRIPTOR_SWIZZLE = 62
};

enum { LEAST_SWIZZLE = 32 };

struct shared_operand {
  const struct encoding *encoding; // nvmma_shared
  bool k_is_inner;
  uint32_t rows;           // elements of the other dimension than the contiguous one
  uint32_t strip;          // elements of the contiguous dimension in a strip
  LLVMValueRef descriptor; // i64, of the warpgroup's first element
};

struct warp_group_product {
  MlirOperation op;
  const struct encoding *mma;
  enum dtype dtype, acc_dtype;
  uint32_t k, n, k_step;            // n and k_step: of an instruction
  unsigned row_tiles, column_tiles; // of a warpgroup
  unsigned groups[2];               // warpgroups along M and N
  struct shared_operand a, b;
  bool a_in_registers;
};

// ---- descriptors ----

static uint32_t offset_of(const struct shared_operand *x, uint32_t outer, uint32_t k) {
  uint32_t inner = x->k_is_inner ? k : outer, row = x->k_is_inner ? outer : k;
  uint32_t width = x->encoding->nvmma.swizzle, bytes = x->encoding->nvmma.element_bits / 8;
  return inner / x->strip * x->rows * width + row * width + inner % x->strip * bytes;
}

static uint64_t constant_part(const struct shared_operand *x) {
  static const uint64_t swizzles[] = {[128 / 32] = 1, [64 / 32] = 2, [32 / 32] = 3};
  uint32_t width = x->encoding->nvmma.swizzle;
  uint64_t lbo = x->k_is_inner ? 1 : x->rows * width >> DESCRIPTOR_UNIT_BITS;
  uint64_t sbo = ROWS_OF_SWIZZLE * width >> DESCRIPTOR_UNIT_BITS;
  return lbo << DESCRIPTOR_LBO | sbo << DESCRIPTOR_SBO | swizzles[width / 32] << DESCRIPTOR_SWIZZLE;
}

// The index of the warpgroup along M or N. ptxas keeps descriptors in uniform registers if it sees
// that all lanes have the same: the shuffle says so.
static LLVMValueRef group_index(struct emitter *e, const struct warp_group_product *p, unsigned i) {
  LLVMValueRef warp = e->target->hooks->shuffle(e, e->warp, const_i32(e, 0));
  LLVMValueRef group = LLVMBuildLShr(e->b, warp, const_i32(e, 2), "");
  if (i == 1)
    return LLVMBuildUDiv(e->b, group, const_i32(e, p->groups[0]), "");
  return p->groups[1] == 1 ? group : LLVMBuildURem(e->b, group, const_i32(e, p->groups[0]), "");
}

static void describe(struct emitter *e, const struct warp_group_product *p, unsigned i,
                     struct shared_operand *x) {
  MlirType tile = memdesc_tile(e->c, operand_type(p->op, i));
  x->encoding = encoding_of_attr(e->c, tensor_encoding(tile));
  unsigned inner = x->encoding->nvmma.transposed ? 0 : 1;
  x->k_is_inner = inner == (i == 0 ? 1u : 0u);
  x->rows = (uint32_t)tensor_dim(tile, 1 - inner);
  x->strip = x->encoding->nvmma.swizzle * 8 / x->encoding->nvmma.element_bits;
  LLVMValueRef base = LLVMBuildPtrToInt(e->b, e->target->hooks->shared_base(e), e->i32, "");
  LLVMValueRef at = LLVMBuildAdd(e->b, base, operand_of(e, p->op, i)->at[0], "");
  if (p->groups[i] > 1) {
    LLVMValueRef step = const_i32(e, offset_of(x, i == 0 ? WGMMA_M : p->n, 0));
    at = LLVMBuildAdd(e->b, at, LLVMBuildMul(e->b, group_index(e, p, i), step, ""), "");
  }
  at = LLVMBuildLShr(e->b, at, const_i32(e, DESCRIPTOR_UNIT_BITS), "");
  x->descriptor = LLVMBuildOr(e->b, LLVMBuildZExt(e->b, at, e->i64, ""),
                              const_int(e->i64, constant_part(x)), "");
}

// Of tile `tile` of the warpgroup, from element k on.
static LLVMValueRef descriptor_at(struct emitter *e, const struct warp_group_product *p, unsigned i,
                                  unsigned tile, uint32_t k) {
  const struct shared_operand *x = i == 0 ? &p->a : &p->b;
  uint32_t step = (i == 0 ? WGMMA_M : p->n) * p->groups[i];
  uint32_t offset = offset_of(x, tile * step, k) >> DESCRIPTOR_UNIT_BITS;
  return LLVMBuildAdd(e->b, x->descriptor, const_int(e->i64, offset), "");
}

// ---- the assembly ----

struct assembly {
  struct emitter *e;
  struct strbuf text, inputs; // instructions; constraints of what is read
  unsigned args;              // counted, results included
  VEC(LLVMValueRef) values;   // of the arguments behind the accumulators
};

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

static const char *operand_name(enum dtype t) {
  switch (t) {
  case DTYPE_F16: return "f16";
  case DTYPE_BF16: return "bf16";
  case DTYPE_F32: return "tf32";
  default: assert(t == DTYPE_I8); return "s8";
  }
}

static const char *accumulator_name(enum dtype t) {
  return t == DTYPE_F32 ? "f32" : t == DTYPE_F16 ? "f16" : "s32";
}

// 32-bit registers of a tile's accumulator.
static unsigned accumulator_words(const struct warp_group_product *p) {
  return p->n * dtype_bits(p->acc_dtype) / 64;
}

// scale-d is in front of them: imm-scale-a and -b of floats, and for 16-bit operands in memory
// whether K is not their contiguous dimension.
static void put_modifiers(struct assembly *s, const struct warp_group_product *p) {
  if (p->dtype != DTYPE_I8)
    strbuf_puts(&s->text, ", 1, 1");
  if (dtype_bits(p->dtype) == 16 && !p->a_in_registers)
    strbuf_printf(&s->text, ", %d", !p->a.k_is_inner);
  if (dtype_bits(p->dtype) == 16)
    strbuf_printf(&s->text, ", %d", !p->b.k_is_inner);
  strbuf_puts(&s->text, ";\n");
}

enum { A_WORDS = 4 };

static void put_product(struct assembly *s, const struct warp_group_product *p, unsigned row_tile,
                        unsigned column_tile, uint32_t k, const LLVMValueRef *a_words) {
  unsigned words = accumulator_words(p), a = s->args;
  if (p->a_in_registers)
    for (unsigned i = 0; i < A_WORDS; i++)
      argument(s, a_words[i], 'r');
  else
    argument(s, descriptor_at(s->e, p, 0, row_tile, k), 'l');
  unsigned b = argument(s, descriptor_at(s->e, p, 1, column_tile, k), 'l');
  strbuf_printf(&s->text, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s ", p->n, p->k_step,
                accumulator_name(p->acc_dtype), operand_name(p->dtype), operand_name(p->dtype));
  put_registers(s, (row_tile * p->column_tiles + column_tile) * words, words);
  strbuf_puts(&s->text, ", ");
  if (p->a_in_registers)
    put_registers(s, a, A_WORDS);
  else
    strbuf_printf(&s->text, "$%u", a);
  strbuf_printf(&s->text, ", $%u, p", b);
  put_modifiers(s, p);
}

// The words of A that a lane gives to the product of a row tile at k: rows r and r + 8 for each 8
// of 16 elements along K.
static void a_words_at(struct emitter *e, const struct warp_group_product *p, unsigned row_tile,
                       uint32_t k, LLVMValueRef ret[A_WORDS]) {
  const struct emitted *a = operand_of(e, p->op, 0);
  unsigned of_word = 32 / dtype_bits(p->dtype);
  struct packing packing = packing_of(e, type_of_dtype(e, p->dtype), of_word);
  unsigned first = (row_tile * (p->k / p->k_step) + k / p->k_step) * of_word * A_WORDS;
  for (unsigned w = 0; w < A_WORDS; w++)
    pack_elements(e, &packing, &a->at[first + of_word * w], &ret[w]);
}

static void put_products(struct assembly *s, const struct warp_group_product *p) {
  for (unsigned i = 0; i < p->row_tiles; i++)
    for (uint32_t k = 0; k < p->k; k += p->k_step) {
      LLVMValueRef a[A_WORDS];
      if (p->a_in_registers)
        a_words_at(s->e, p, i, k, a);
      for (unsigned j = 0; j < p->column_tiles; j++)
        put_product(s, p, i, j, k, a);
    }
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

// Accumulators are results of the assembly and its first arguments, each pair in one register.
// Returns the type of the results.
static LLVMTypeRef tie_accumulators(struct emitter *e, unsigned count, bool floats,
                                    struct strbuf *constraints) {
  LLVMTypeRef *types = arena_array(e->arena, LLVMTypeRef, count);
  for (unsigned i = 0; i < count; i++) {
    strbuf_printf(constraints, "%s=%c", i ? "," : "", floats ? 'f' : 'r');
    types[i] = floats ? e->f32 : e->i32;
  }
  for (unsigned i = 0; i < count; i++)
    strbuf_printf(constraints, ",%u", i);
  return LLVMStructTypeInContext(e->llvm, types, count, false);
}

static void build(struct emitter *e, const struct warp_group_product *p) {
  unsigned count = p->row_tiles * p->column_tiles * accumulator_words(p);
  struct assembly s = {.e = e, .args = 2 * count};
  s.text.arena = s.inputs.arena = e->arena;
  struct strbuf constraints = {.arena = e->arena};
  LLVMTypeRef result = tie_accumulators(e, count, p->acc_dtype == DTYPE_F32, &constraints);
  strbuf_puts(&s.text, "{\n.reg .pred p;\nsetp.eq.u32 p, 0, 0;\nwgmma.fence.sync.aligned;\n");
  put_products(&s, p);
  strbuf_printf(&s.text, "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned %d;\n}",
                (int)op_attr_int(p->op, "pending", 0));
  LLVMValueRef *args = arena_array(e->arena, LLVMValueRef, count + s.values.len);
  accumulator_in(e, p, operand_of(e, p->op, 2)->at, count, args);
  for (size_t i = 0; i < s.values.len; i++)
    args[count + i] = s.values.at[i];
  strbuf_puts(&constraints, strbuf_cstr(&s.inputs));
  LLVMValueRef words =
      e->target->hooks->warp_group_asm(e, strbuf_cstr(&s.text), strbuf_cstr(&constraints), result,
                                       args, (unsigned)(count + s.values.len));
  accumulator_out(e, p, words, count, result_of(e, p->op, 0)->at);
}

// ---- what wgmma can read ----

// The accumulator: 64 rows a warpgroup at least, tiles of one instruction, all warps.
static bool accumulator_fits(struct emitter *e, MlirType type) {
  const struct encoding *x = encoding_of_attr(e->c, tensor_encoding(type));
  if (!x || x->kind != ENC_MMA || x->mma.version != 3 || x->rank != 2)
    return false;
  const uint32_t *warps = x->mma.warps_per_cta;
  return warps[0] * warps[1] == e->num_warps &&
         tensor_dim(type, 0) % (WGMMA_M / WGMMA_WARPS * warps[0]) == 0 &&
         tensor_dim(type, 1) % (x->mma.instr_shape[1] * warps[1]) == 0;
}

static unsigned element_bits_of(struct emitter *e, MlirType tile) {
  return type_bits(e->c, element_type(tile));
}

static bool buffer_fits(struct emitter *e, MlirType acc, MlirType tile, unsigned i) {
  const struct encoding *x = encoding_of_attr(e->c, tensor_encoding(tile));
  const struct encoding *mma = encoding_of_attr(e->c, tensor_encoding(acc));
  if (!x || x->kind != ENC_NVMMA_SHARED || x->nvmma.swizzle < LEAST_SWIZZLE ||
      x->nvmma.element_bits != element_bits_of(e, tile) || !layout_of(e, tile))
    return false;
  bool k_is_inner = (x->nvmma.transposed ? 0u : 1u) == (i == 0 ? 1u : 0u);
  uint32_t strip = x->nvmma.swizzle / 2, outer = i == 0 ? WGMMA_M : mma->mma.instr_shape[1];
  if (!k_is_inner && x->nvmma.element_bits != 16)
    return false;
  return k_is_inner || outer % strip == 0; // a warpgroup begins with a strip
}

static bool operand_fits(struct emitter *e, MlirOperation op, unsigned i) {
  MlirType type = operand_type(op, i), acc = operand_type(op, 2);
  if (type_is_memdesc(e->c, type))
    return buffer_fits(e, acc, memdesc_tile(e->c, type), i);
  unsigned k_width = 32 / element_bits_of(e, type);
  return i == 0 && mlirAttributeEqual(tensor_encoding(type),
                                      layout_dot_operand(e->c, tensor_encoding(acc), 0, k_width));
}

static bool types_fit(struct emitter *e, MlirOperation op, MlirType a, MlirType b) {
  MlirType sum = operand_type(op, 2);
  enum dtype x = dtype_of_mlir(element_type(a)), acc = dtype_of_mlir(element_type(sum));
  const struct encoding *mma = encoding_of_attr(e->c, tensor_encoding(sum));
  bool known = x == DTYPE_F16    ? acc == DTYPE_F16 || acc == DTYPE_F32
               : x == DTYPE_I8   ? acc == DTYPE_I32
               : x == DTYPE_BF16 ? acc == DTYPE_F32
                                 : x == DTYPE_F32 && acc == DTYPE_F32;
  uint32_t k_step = known ? WGMMA_K_BYTES / dtype_bytes(x) : 0;
  return known && x == dtype_of_mlir(element_type(b)) && mma->mma.instr_shape[2] == k_step &&
         tensor_dim(b, 0) % k_step == 0;
}

static MlirType tile_of(struct emitter *e, MlirOperation op, unsigned i) {
  MlirType t = operand_type(op, i);
  return type_is_memdesc(e->c, t) ? memdesc_tile(e->c, t) : t;
}

// The IR may be hand-written.
static bool fits(struct emitter *e, MlirOperation op) {
  if (!accumulator_fits(e, operand_type(op, 2)))
    return emit_unsupported(e, op, "an accumulator without a layout of wgmma for all warps");
  if (!types_fit(e, op, tile_of(e, op, 0), tile_of(e, op, 1)))
    return emit_unsupported(e, op, "types or a K that wgmma is not used for");
  for (unsigned i = 0; i < 2; i++)
    if (!operand_fits(e, op, i))
      return emit_unsupported(e, op,
                              "an operand that wgmma cannot read: `nvmma_shared` buffers, or "
                              "registers of A as `dot_op` of the accumulator's layout");
  return true;
}

// ---- without wgmma ----

// The operand in the register layout of mma.sync.
static bool read_operand(struct emitter *e, MlirOperation op, unsigned i, MlirType *ret_type,
                         struct emitted *ret) {
  MlirType type = operand_type(op, i);
  if (type_is_tensor(type)) {
    *ret_type = type;
    *ret = *operand_of(e, op, i);
    return true;
  }
  MlirType tile = memdesc_tile(e->c, type);
  unsigned k_width = 32 / type_bits(e->c, element_type(tile));
  *ret_type = type_with_encoding(
      tile, layout_dot_operand(e->c, tensor_encoding(operand_type(op, 2)), i, k_width));
  const struct linear_layout *l = layout_of(e, *ret_type);
  struct exchange_side side;
  if (!l || !buffer_read_side(e->c, e->target, *ret_type, type, &side))
    return false;
  ret->count = register_count(l);
  ret->at = arena_array(e->arena, LLVMValueRef, ret->count);
  buffer_load(e, &side, type_of_mlir(e, element_type(tile)), operand_of(e, op, i)->at[0], ret->at);
  return true;
}

static bool multiply_in_registers(struct emitter *e, MlirOperation op) {
  struct emitted x[2] = {0};
  MlirType types[2];
  for (unsigned i = 0; i < 2; i++)
    if (!read_operand(e, op, i, &types[i], &x[i]))
      return emit_unsupported(e, op, "a buffer whose layout does not fit its tile");
  return emit_dot_of(e, op, types, x);
}

bool emit_warp_group_dot(struct emitter *e, MlirOperation op) {
  if (!fits(e, op))
    return false;
  if (!e->target->has_wgmma)
    return multiply_in_registers(e, op);
  MlirType acc = operand_type(op, 2), b = tile_of(e, op, 1);
  struct warp_group_product p = {.op = op,
                                 .mma = encoding_of_attr(e->c, tensor_encoding(acc)),
                                 .dtype = dtype_of_mlir(element_type(b)),
                                 .acc_dtype = dtype_of_mlir(element_type(acc)),
                                 .k = (uint32_t)tensor_dim(b, 0)};
  p.n = p.mma->mma.instr_shape[1];
  p.k_step = p.mma->mma.instr_shape[2];
  p.groups[0] = p.mma->mma.warps_per_cta[0] / WGMMA_WARPS;
  p.groups[1] = p.mma->mma.warps_per_cta[1];
  p.row_tiles = (unsigned)tensor_dim(acc, 0) / (WGMMA_M * p.groups[0]);
  p.column_tiles = (unsigned)tensor_dim(acc, 1) / (p.n * p.groups[1]);
  p.a_in_registers = type_is_tensor(operand_type(op, 0));
  if (!p.a_in_registers)
    describe(e, &p, 0, &p.a);
  describe(e, &p, 1, &p.b);
  e->uses_collectives = true;
  build(e, &p);
  return true;
}

// The accumulators pass through the wait, so that nothing reads them before it.
bool emit_warp_group_dot_wait(struct emitter *e, MlirOperation op) {
  const struct emitted *acc = operand_of(e, op, 0);
  struct emitted *ret = result_of(e, op, 0);
  enum dtype t = dtype_of_mlir(element_type(operand_type(op, 0)));
  if (t != DTYPE_F32 && t != DTYPE_I32)
    return emit_unsupported(e, op, "an accumulator of less than 32 bits in flight");
  if (!e->target->has_wgmma) {
    memcpy(ret->at, acc->at, acc->count * sizeof *acc->at);
    return true;
  }
  struct strbuf constraints = {.arena = e->arena}, text = {.arena = e->arena};
  LLVMTypeRef result = tie_accumulators(e, acc->count, t == DTYPE_F32, &constraints);
  strbuf_printf(&text, "wgmma.wait_group.sync.aligned %d;", (int)op_attr_int(op, "pending", 0));
  LLVMValueRef words = e->target->hooks->warp_group_asm(
      e, strbuf_cstr(&text), strbuf_cstr(&constraints), result, acc->at, acc->count);
  for (unsigned i = 0; i < acc->count; i++)
    ret->at[i] = LLVMBuildExtractValue(e->b, words, i, "");
  return true;
}
