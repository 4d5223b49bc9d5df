// SPDX-License-Identifier: Apache-2.0
// Each family uses the plan that the emission uses.
#include "lowering/cost/op_survey.h"

#include "base/mma.h"
#include "base/wgmma.h"
#include "layouts/attr.h"
#include "layouts/exchange_plan.h"
#include "lowering/analysis/async_copy.h"
#include "lowering/analysis/collective.h"
#include "lowering/analysis/convert_scratch.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/analysis/provenance.h"
#include "lowering/analysis/scratch.h"
#include "lowering/analysis/shape_view.h"
#include "lowering/cost/feed_survey.h"

enum { LANES = 32, SECTOR_BYTES = 32, LINE_BYTES = 128, VECTOR_BITS = 128 };

static MlirValue operand(MlirOperation op, intptr_t i) { return mlirOperationGetOperand(op, i); }

// ---- accesses ----

static const char *parameter_of(const struct op_survey *s, MlirOperation op) {
  return parameter_name(s->c, s->arena, op, pointer_argument(s->c, operand(op, 0)));
}

// "`stride`, `x`, a loaded value"; NULL: none.
static const char *root_names(struct arena *a, const narrow_root_list *roots) {
  struct strbuf names = {.arena = a};
  for (size_t i = 0; i < roots->len; i++)
    if (roots->at[i].parameter)
      strbuf_printf(&names, "%s`%s`", names.len ? ", " : "", roots->at[i].parameter);
    else
      strbuf_printf(&names, "%sa loaded value", names.len ? ", " : "");
  return names.len ? strbuf_cstr(&names) : NULL;
}

// The sector of an element, from axis info: elements of a contiguous group along `dim` are
// neighbours, those of a constant group the same.
static uint64_t sector_of(const struct axis_info *ptr, unsigned dim, uint32_t bytes,
                          const uint32_t *coords) {
  uint64_t key = 0;
  for (unsigned d = 0; d < ptr->rank; d++) {
    uint64_t at = coords[d], run = (uint64_t)ptr->contiguity[d], same = (uint64_t)ptr->constancy[d];
    if (d == dim && run > 1)
      at = at / run << 32 | at % run * bytes / SECTOR_BYTES;
    else
      at /= same ? same : 1;
    key = key * 0x9e3779b97f4a7c15u + at + 1;
  }
  return key;
}

static void count_sectors(const struct axis_info *ptr, const struct linear_layout *l, unsigned dim,
                          unsigned width, uint32_t bytes, struct memory_access *ret) {
  enum { MOST = 512 };
  uint64_t seen[MOST];
  uint32_t lanes = ll_in_size(l, LL_LANE), copies[LL_NO_IN];
  ll_free_masks(l, copies);
  unsigned count = 0, elements = 0;
  for (uint32_t lane = 0; lane < lanes; lane++)
    for (uint32_t r = 0; r < width && !(lane & copies[LL_LANE]); r++) {
      uint32_t index[LL_NO_IN] = {[LL_REGISTER] = r, [LL_LANE] = lane}, at[LL_MAX_OUT];
      ll_apply(l, index, at);
      uint64_t key = sector_of(ptr, dim, bytes, at);
      unsigned k = 0;
      while (k < count && seen[k] != key)
        k++;
      if (k == count && count < MOST)
        seen[count++] = key;
      elements++;
    }
  ret->sectors = count;
  ret->least_sectors = (elements * bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
  if (ret->least_sectors > ret->sectors) // several lanes read the same
    ret->least_sectors = ret->sectors;
}

// Why the access is narrow, and in `roots` what makes it so; NULL: it is as wide as possible.
static const char *why_narrow(const struct op_survey *s, MlirValue ptr, MlirType type, unsigned dim,
                              uint32_t bytes, struct memory_access *m) {
  if (m->width >= m->wanted)
    return NULL;
  if (axis_contiguity(s->axis, ptr, dim) < m->wanted) {
    narrow_strides(s->c, s->arena, s->axis, m->op, ptr, &m->roots);
    const char *names = root_names(s->arena, &m->roots);
    return !names ? "the addresses are not known to be consecutive"
                  : arena_printf(s->arena,
                                 "the addresses are not known to be consecutive: %s may not be 1",
                                 names);
  }
  if (axis_pointer_alignment(s->axis, ptr, dim) < m->wanted) {
    narrow_roots(s->c, s->arena, s->axis, m->op, ptr, m->wanted, bytes, &m->roots);
    const char *names = root_names(s->arena, &m->roots);
    return arena_printf(s->arena, "the pointer's offset is not known to be divisible by %u%s%s",
                        m->wanted, names ? ", because of " : "", names ? names : "");
  }
  if (tensor_numel(type) < (int64_t)m->wanted * LANES * s->num_warps) {
    m->few = true;
    return "the tile has too few elements for all threads: fewer warps, or a larger block";
  }
  return "another layout was cheaper than converting";
}

static bool survey_plain(const struct op_survey *s, MlirOperation op, struct memory_access *ret) {
  enum op_id id = op_id(s->c, op);
  bool is_load = id == OP_TILE_LOAD, is_store = id == OP_TILE_STORE;
  MlirValue ptr = operand(op, 0);
  MlirType value = mlirValueGetType(is_load ? mlirOperationGetResult(op, 0) : operand(op, 1));
  uint32_t bytes = memory_bits(s->c, element_type(value)) / 8;
  const struct linear_layout *l = type_is_tensor(value) ? linear_of_type(s->c, value) : NULL;
  struct memory_access m = {.op = op,
                            .what = is_load    ? "load"
                                    : is_store ? "store"
                                               : "atomic",
                            .parameter = parameter_of(s, op),
                            .width = 1,
                            .wanted = 1,
                            .count = 1,
                            .sectors = 1,
                            .least_sectors = 1,
                            .bytes = (uint64_t)tensor_numel(value) * bytes,
                            .element_bytes = bytes};
  if (l) {
    struct axis_vector v = axis_vector_of(s->axis, op, s->target, l);
    unsigned dim = v.width > 1 ? v.dim : axis_fastest_dim(s->axis, ptr);
    m.width = v.width;
    m.cut = v.width > 1 && !v.uniform;
    m.wanted = is_load || is_store ? VECTOR_BITS / (bytes * 8) : 1;
    while ((int64_t)m.wanted > tensor_dim(value, dim))
      m.wanted /= 2;
    m.why = why_narrow(s, ptr, value, dim, bytes, &m);
    if (m.cut && mlirOperationGetNumOperands(op) > (is_load ? 1 : 2))
      narrow_roots(s->c, s->arena, s->axis, op, operand(op, is_load ? 1 : 2), m.width, 1,
                   &m.mask_roots);
    m.count = (layout_registers(s->c, value) + m.width - 1) / m.width;
    count_sectors(axis_info_of(s->axis, ptr), l, dim, m.width, bytes, &m);
  }
  *ret = m;
  return true;
}

static bool survey_copy(const struct op_survey *s, MlirOperation op, struct memory_access *ret) {
  MlirValue ptr = operand(op, 0);
  MlirValue mask = mlirOperationGetNumOperands(op) > 2 ? operand(op, 2) : (MlirValue){0};
  MlirType tile = memdesc_tile(s->c, mlirValueGetType(operand(op, 1)));
  const struct linear_layout *l = linear_of_type(s->c, mlirValueGetType(ptr));
  uint32_t bytes = memory_bits(s->c, element_type(tile)) / 8;
  struct async_copy_plan plan;
  if (!l || !async_copy_plan_of(s->c, s->axis, s->target, ptr, mask, tile, &plan))
    return false;
  struct memory_access m = {.op = op,
                            .what = "copy",
                            .parameter = parameter_of(s, op),
                            .width = plan.width,
                            .wanted = VECTOR_BITS / (bytes * 8),
                            .bytes = (uint64_t)tensor_numel(tile) * bytes,
                            .element_bytes = bytes};
  unsigned dim = axis_fastest_dim(s->axis, ptr);
  m.why = plan.why ? plan.why : why_narrow(s, ptr, tile, dim, bytes, &m);
  count_sectors(axis_info_of(s->axis, ptr), l, dim, m.width, bytes, &m);
  m.count = (layout_registers(s->c, mlirValueGetType(ptr)) + m.width - 1) / m.width;
  *ret = m;
  return true;
}

// One thread issues it; the boxes are whole rows of chunks.
static bool survey_map(const struct op_survey *s, MlirOperation op, struct memory_access *ret) {
  MlirType tile = memdesc_tile(s->c, mlirValueGetType(operand(op, 0)));
  *ret = (struct memory_access){
      .op = op,
      .what = op_is(s->c, op, OP_GPU_MAP_COPY) ? "load" : "store",
      .parameter = map_parameter(s->c, op, (uint32_t)op_attr_int(op, "map", 0)),
      .is_tma = true,
      .bytes = (uint64_t)tensor_numel(tile) * memory_bits(s->c, element_type(tile)) / 8};
  return true;
}

bool survey_access(const struct op_survey *s, MlirOperation op, struct memory_access *ret) {
  switch (op_id(s->c, op)) {
  case OP_TILE_LOAD:
  case OP_TILE_STORE:
  case OP_TILE_ATOMIC_RMW: return survey_plain(s, op, ret);
  case OP_GPU_ASYNC_COPY: return survey_copy(s, op, ret);
  case OP_GPU_MAP_COPY:
  case OP_GPU_MAP_STORE: return survey_map(s, op, ret);
  default: return false;
  }
}

// ---- products ----

static enum dtype element_dtype(MlirType t) { return dtype_of_mlir(element_type(t)); }

// The tile of an operand: operands of tilegpu.warp_group_dot may be buffers.
static MlirType operand_tile(const struct op_survey *s, MlirOperation op, intptr_t i) {
  MlirType t = mlirValueGetType(operand(op, i));
  return type_is_memdesc(s->c, t) ? memdesc_tile(s->c, t) : t;
}

static void survey_wgmma(const struct op_survey *s, const struct encoding *e, unsigned registers,
                         uint64_t k, struct product_cost *p) {
  const uint32_t *shape = e->mma.instr_shape;
  unsigned of_lane = shape[0] * shape[1] / LANES;
  p->is_wgmma = true;
  p->instruction =
      arena_printf(s->arena, "wgmma.m%un%uk%u", shape[0] * WGMMA_WARPS, shape[1], shape[2]);
  p->flops = 2ull * shape[0] * shape[1] * shape[2];
  p->count = (registers + of_lane - 1) / of_lane * ((k + shape[2] - 1) / shape[2]);
}

bool survey_product(const struct op_survey *s, MlirOperation op, struct product_cost *ret) {
  MlirType a = operand_tile(s, op, 0), b = operand_tile(s, op, 1);
  MlirType acc = operand_tile(s, op, 2);
  const struct linear_layout *l = linear_of_type(s->c, acc);
  const struct encoding *e = encoding_of_attr(s->c, tensor_encoding(acc));
  uint64_t k = (uint64_t)tensor_dim(a, tensor_rank(a) - 1);
  if (!l || !e)
    return false;
  struct product_cost p = {.op = op, .count = ll_in_size(l, LL_REGISTER) * k};
  const struct mma_instruction *in =
      mma_find(element_dtype(a), element_dtype(b), element_dtype(acc), s->target->sm, k);
  if (op_is(s->c, op, OP_GPU_WARP_GROUP_DOT) && e->kind == ENC_MMA && e->mma.version == 3) {
    survey_wgmma(s, e, ll_in_size(l, LL_REGISTER), k, &p);
    uint64_t every = (uint64_t)op_attr_int(op, "promoted_every", 0);
    p.additions = every ? ll_in_size(l, LL_REGISTER) * ((k + every - 1) / every) : 0;
  } else if (e->kind == ENC_MMA && in) {
    unsigned of_lane = in->m * MMA_N / LANES;
    p.instruction = arena_printf(s->arena, "mma.sync.m%un%uk%u%s", in->m, MMA_N, in->k, in->ptx);
    p.flops = 2ull * in->m * MMA_N * in->k;
    p.count = (ll_in_size(l, LL_REGISTER) + of_lane - 1) / of_lane * ((k + in->k - 1) / in->k);
  }
  *ret = p;
  return true;
}

// ---- conversions ----

static unsigned least_wavefronts(const struct exchange_side *side, unsigned element_bits) {
  unsigned bytes = LANES * (element_bits / 8) << (side->vec_bits + side->matrix_bits);
  return exchange_instructions(side) * ((bytes + LINE_BYTES - 1) / LINE_BYTES);
}

bool survey_conversion(const struct op_survey *s, MlirOperation op, struct layout_conversion *ret) {
  MlirType from = mlirValueGetType(operand(op, 0));
  struct linear_layout viewed;
  const struct linear_layout *src = type_is_tensor(from) ? linear_of_type(s->c, from) : NULL;
  const struct linear_layout *dst = &viewed;
  if (op_is(s->c, op, OP_GPU_CONVERT_LAYOUT))
    dst = linear_of_type(s->c, mlirValueGetType(mlirOperationGetResult(op, 0)));
  else if (!shape_view(s->c, op, &viewed))
    return false;
  struct convert_plan plan;
  struct exchange_plan exchange;
  if (!src || !dst || !convert_plan_make(src, dst, &plan) || plan.kind < CONVERT_SHUFFLES)
    return false;
  struct layout_conversion v = {.op = op,
                                .kind = "shuffles",
                                .instructions =
                                    convert_plan_cost(&plan, memory_bits(s->c, element_type(from))),
                                .bytes = scratch_bytes(s->c, op, s->num_warps)};
  unsigned bits = memory_bits(s->c, element_type(from));
  if (v.bytes && exchange_plan_make(src, dst, bits, s->target->matrix_moves, &exchange)) {
    uint32_t copies[LL_NO_IN];
    ll_free_masks(src, copies);
    v.kind = "shared memory";
    v.instructions = exchange_instructions(&exchange.store) + exchange_instructions(&exchange.load);
    v.wavefronts = exchange_wavefronts(&exchange.store, bits, copies[LL_LANE]) +
                   exchange_wavefronts(&exchange.load, bits, 0);
    v.least_wavefronts =
        least_wavefronts(&exchange.store, bits) + least_wavefronts(&exchange.load, bits);
    if (v.least_wavefronts > v.wavefronts) // replicated threads do not count, or read the same
      v.least_wavefronts = v.wavefronts;
  }
  *ret = v;
  return true;
}

// ---- reductions ----

static void count_steps(const struct reduce_phase *p, unsigned *ret_thread, unsigned *ret_lanes) {
  for (unsigned i = 0; i < p->count; i++)
    (*(p->step[i].kind == REDUCE_REGISTERS ? ret_thread : ret_lanes))++;
}

bool survey_reduction(const struct op_survey *s, MlirOperation op, struct reduction_cost *ret) {
  struct reduce_plan plan;
  if (!reduce_plan_of(s->c, op, &plan))
    return false;
  struct reduction_cost r = {
      .op = op, .axis = plan.axis, .across_warps = plan.exchanges, .last = plan.last.count};
  count_steps(&plan.local, &r.in_thread, &r.across_lanes);
  r.bytes = scratch_bytes(s->c, op, s->num_warps);
  *ret = r;
  return true;
}
