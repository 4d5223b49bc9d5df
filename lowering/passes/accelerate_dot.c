// SPDX-License-Identifier: Apache-2.0
// accelerate-dot: matrix products that the target has an instruction for (base/mma.def) get the
// layouts of that instruction. The accumulator becomes `mma`, the operands `dot_op` of it;
// everything is converted around the product, and remove-layout-conversions then propagates the
// layouts.
//
//   %d = tile.dot %a, %b, %c : dot_op<0, blocked>, dot_op<1, blocked>, blocked
//   =>
//   %a' = convert_layout %a : dot_op<0, mma>     %b' = convert_layout %b : dot_op<1, mma>
//   %c' = convert_layout %c : mma
//   %d' = tile.dot %a', %b', %c' : mma           %d = convert_layout %d' : blocked
//
// Each warp loads the operands of its part, so that part should be square. Where a product feeds
// another one (attention), a warp has whole rows: the result then becomes an operand in registers.
//
// Of elements that are narrower in memory a lane holds as many neighbours as 32 bits have, so that
// they are extended in place: K is then permuted, in both operands alike.
//
// On sm_90a, products with 64 rows a warpgroup take the layout of wgmma (version 3,
// wgmma_choice.h); warp-group-dot then makes them read their operands from shared memory.
#include "base/mma.h"
#include "base/vec.h"
#include "base/wgmma.h"
#include "lowering/analysis/chained_dots.h"
#include "lowering/analysis/dot_promotion.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/pass.h"
#include "lowering/passes/wgmma_choice.h"
#include "mlir-dialects/build.h"

enum { MMA_M = 16 };

struct state {
  struct pass_context *p;
  struct ir_context *c;
  VEC(MlirOperation) dots;
  struct map seen; // MlirValue.ptr -> non-NULL: values visited by the current walk
};

struct choice {
  const struct mma_instruction *instruction;
  bool to_f16; // operands of 8 bits are converted to f16 first
  const char *why_not;
};

static MlirType operand_type(MlirOperation op, intptr_t i) {
  return mlirValueGetType(mlirOperationGetOperand(op, i));
}

static enum dtype element_dtype(MlirType tensor) { return dtype_of_mlir(element_type(tensor)); }

static bool is_seen(struct state *s, MlirValue v) {
  if (ptrmap_get(&s->seen, v.ptr))
    return true;
  ptrmap_put(s->p->scratch, &s->seen, v.ptr, s);
  return false;
}

static bool keeps_elements(struct state *s, MlirOperation op) {
  return (op_flags(s->c, op) & OP_EW) || op_is(s->c, op, OP_GPU_CONVERT_LAYOUT);
}

// ---- which instruction ----

static bool is_fp8(enum dtype t) {
  return t == DTYPE_F8E5 || t == DTYPE_F8E4NV || t == DTYPE_F8E4B15;
}

// The type of operand i of the instruction: for f32 in a precision of f32-dot-split, that of the
// pieces.
static enum dtype multiplied_as(MlirOperation dot, intptr_t i) {
  struct str precision = op_attr_str(dot, "input_precision");
  enum dtype t = element_dtype(operand_type(dot, i));
  bool bf16 = str_is(precision, "bf16x3") || str_is(precision, "bf16x6");
  return t == DTYPE_F32 && bf16 ? DTYPE_BF16 : t;
}

// From Hopper on ptxas expands mma.sync of 8-bit floats to two products of f16 and additions.
// Products of f16 avoid the additions (128x128x128, 8 warps: 396 instructions an iteration instead
// of 652).
static bool makes_fp8_of_f16(unsigned sm) { return sm >= 90; }

static struct choice choose(struct state *s, MlirOperation dot) {
  unsigned sm = s->p->target->sm;
  MlirType type = operand_type(dot, 0);
  enum dtype a = multiplied_as(dot, 0), b = multiplied_as(dot, 1);
  enum dtype c = element_dtype(operand_type(dot, 2));
  int64_t k = tensor_dim(type, tensor_rank(type) - 1);
  struct choice x = {0};
  if (a == DTYPE_F32 && str_is(op_attr_str(dot, "input_precision"), "ieee")) {
    x.why_not = "f32 operands keep all their bits here (`input_precision`)";
    return x;
  }
  x.instruction = mma_find(a, b, c, sm, (uint64_t)k);
  if (is_fp8(a) && is_fp8(b) && (!x.instruction || k < x.instruction->k || makes_fp8_of_f16(sm))) {
    x.instruction = mma_find(DTYPE_F16, DTYPE_F16, c, sm, (uint64_t)k);
    x.to_f16 = true;
  }
  if (!x.instruction)
    x.why_not = "no instruction has these types";
  else if (k < x.instruction->k)
    x.why_not = "K is smaller than that of the instruction";
  return x;
}

// ---- k_width ----

// Follows `v` to where it was loaded; *ret gets the bits of the narrowest element on the way.
// False: it comes from another product, whose layout decides.
static bool narrowest_load(struct state *s, MlirValue v, unsigned *ret) {
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def) || is_seen(s, v) || !type_is_tensor(mlirValueGetType(v)))
    return true;
  if (op_is(s->c, def, OP_TILE_DOT))
    return false;
  if (op_is(s->c, def, OP_TILE_LOAD)) {
    unsigned bits = type_bits(s->c, element_type(mlirValueGetType(v)));
    *ret = bits >= 8 && bits < *ret ? bits : *ret;
    return true;
  }
  if (!keeps_elements(s, def) && !op_is(s->c, def, OP_TILE_TRANS))
    return true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++)
    if (!narrowest_load(s, mlirOperationGetOperand(def, i), ret))
      return false;
  return true;
}

// At least the elements of a register, at most K / (4 lanes * 2 steps) of a fragment.
static unsigned choose_k_width(struct state *s, MlirOperation dot, const struct choice *x) {
  unsigned word = x->instruction->a == DTYPE_F64 ? 64 : 32;
  unsigned own = word / dtype_bits(x->instruction->a), widest = own;
  MlirType a = operand_type(dot, 0);
  int64_t k = tensor_dim(a, tensor_rank(a) - 1);
  for (intptr_t i = 0; i < 2; i++) {
    unsigned bits = 64;
    s->seen = (struct map){0};
    if (!narrowest_load(s, mlirOperationGetOperand(dot, i), &bits))
      return own;
    widest = 32 / bits > widest ? 32 / bits : widest;
  }
  while (widest > own && 8 * (int64_t)widest > k)
    widest /= 2;
  return widest;
}

// ---- warps ----

static void place_warps(struct state *s, MlirOperation dot, uint32_t *ret) {
  MlirType acc = operand_type(dot, 2);
  unsigned rank = tensor_rank(acc), m = rank - 2, n = rank - 1;
  int64_t rows = tensor_dim(acc, m) / MMA_M, columns = tensor_dim(acc, n) / MMA_N;
  uint32_t left = s->p->num_warps;
  bool whole_rows = dot_is_chained(s->c, dot, s->p->scratch);
  for (unsigned d = 0; d < rank; d++)
    ret[d] = 1;
  for (; rank == 3 && left > 1 && ret[0] < tensor_dim(acc, 0); left /= 2)
    ret[0] *= 2;
  for (; left > 1; left /= 2) {
    int64_t high = rows / ret[m], wide = columns / ret[n];
    if (high > 1 && (whole_rows || high >= wide || wide <= 1))
      ret[m] *= 2;
    else if (wide > 1)
      ret[n] *= 2;
    else
      ret[m] *= 2; // more warps than parts of the tile: replication
  }
}

static MlirAttribute choose_layout(struct state *s, MlirOperation dot) {
  struct encoding e = {.kind = ENC_MMA, .rank = tensor_rank(operand_type(dot, 2))};
  e.mma.version = 2;
  e.mma.instr_shape[0] = MMA_M;
  e.mma.instr_shape[1] = MMA_N;
  place_warps(s, dot, e.mma.warps_per_cta);
  return encoding_attr(s->c, &e);
}

// ---- rewriting ----

static MlirValue new_operand(struct state *s, struct builder *b, MlirValue given, bool to_f16,
                             MlirAttribute encoding) {
  MlirValue v = value_as_computed(s->c, given);
  if (to_f16)
    v = build_fp_to_fp(b, v, mlir_of_dtype(s->c, DTYPE_F16), "rtne");
  return build_convert_layout(b, v, encoding);
}

static void erase_if_idle(struct state *s, MlirValue v) {
  MlirOperation def = value_def(v);
  if (!mlirOperationIsNull(def) && op_is(s->c, def, OP_GPU_CONVERT_LAYOUT) && !value_has_uses(v))
    op_erase(def);
}

static void explain_promotion(struct state *s, MlirOperation dot) {
  int32_t every = dot_promoted_every(dot);
  if (every)
    pass_remark(s->p, dot, "dot", "adds its sums to the accumulator every %d elements of K",
                (int)every);
}

static void explain(struct state *s, MlirOperation dot, const struct choice *x,
                    MlirAttribute encoding) {
  const struct encoding *e = encoding_of_attr(s->c, encoding);
  const uint32_t *warps = e->mma.warps_per_cta + e->rank - 2;
  if (e->mma.version == 3) {
    pass_remark(s->p, dot, "dot", "uses wgmma m%un%uk%u, %u x %u warpgroups", (unsigned)WGMMA_M,
                e->mma.instr_shape[1], e->mma.instr_shape[2], warps[0] / WGMMA_WARPS, warps[1]);
    explain_promotion(s, dot);
    return;
  }
  pass_remark(s->p, dot, "dot", "uses mma.sync m%un8k%u%s, %u x %u warps%s", x->instruction->m,
              x->instruction->k, x->instruction->ptx, warps[0], warps[1],
              x->to_f16 ? "; its operands of 8 bits are converted to f16" : "");
}

static void rewrite(struct state *s, MlirOperation dot, const struct choice *x) {
  struct builder b = builder_before(s->c, dot);
  uint32_t warps = s->p->num_warps;
  bool wgmma = wgmma_computes(s->c, s->p->target, warps, dot) &&
               (wgmma_has_whole_rows(warps, dot) || !dot_is_chained(s->c, dot, s->p->scratch));
  MlirAttribute acc = wgmma ? wgmma_layout(s->c, warps, dot) : choose_layout(s, dot);
  MlirValue old[3], new[3];
  unsigned k_width =
      wgmma ? 32 / dtype_bits(element_dtype(operand_type(dot, 0))) : choose_k_width(s, dot, x);
  for (intptr_t i = 0; i < 3; i++) {
    old[i] = mlirOperationGetOperand(dot, i);
    new[i] = i == 2 ? build_convert_layout(&b, value_as_computed(s->c, old[i]), acc)
                    : new_operand(s, &b, old[i], x->to_f16 && !wgmma,
                                  layout_dot_operand(s->c, acc, (unsigned)i, k_width));
  }
  struct str precision = op_attr_str(dot, "input_precision");
  MlirValue d = build_dot(&b, new[0], new[1], new[2],
                          arena_strndup(s->p->scratch, precision.ptr, precision.len),
                          (int32_t)op_attr_int(dot, "max_num_imprecise_acc", 0));
  MlirValue result = mlirOperationGetResult(dot, 0);
  MlirAttribute given = tensor_encoding(mlirValueGetType(result));
  explain(s, dot, x, acc);
  value_replace(result, build_convert_layout(&b, d, given));
  op_erase(dot);
  for (intptr_t i = 0; i < 3; i++)
    erase_if_idle(s, old[i]);
}

static bool collect(MlirOperation op, void *user) {
  struct state *s = user;
  if (!op_is(s->c, op, OP_TILE_DOT))
    return true;
  const struct encoding *e = encoding_of_attr(s->c, tensor_encoding(operand_type(op, 2)));
  if (e && e->kind == ENC_BLOCKED)
    vec_push(s->p->scratch, &s->dots, op);
  return true;
}

enum pass_result pass_accelerate_dot(struct pass_context *p) {
  struct state s = {.p = p, .c = p->c};
  bool changed = false;
  ir_walk(mlirModuleGetOperation(p->module), collect, &s);
  for (size_t i = 0; i < s.dots.len; i++) {
    struct choice x = choose(&s, s.dots.at[i]);
    if (x.why_not) {
      pass_remark(p, s.dots.at[i], "dot", "is computed without tensor cores: %s", x.why_not);
      continue;
    }
    rewrite(&s, s.dots.at[i], &x);
    changed = true;
  }
  return changed ? PASS_CHANGED : PASS_UNCHANGED;
}
