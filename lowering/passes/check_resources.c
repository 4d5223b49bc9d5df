// SPDX-License-Identifier: Apache-2.0
// check-resources: rejects kernels that cannot run, or that would take minutes to compile, before
// LLVM runs. Changes nothing.
#include "base/limits.h"
#include "base/vec.h"
#include "lowering/analysis/scratch.h"
#include "lowering/cost/occupancy.h"
#include "lowering/pass.h"
#include "lowering/plan/shared_allocation.h"

#include <stdlib.h>

enum { MANY_ELEMENTS = 256, MAX_ELEMENTS = LIMIT_ELEMENTS_PER_THREAD, LISTED = 8 };

// ---- shared memory ----

struct use {
  MlirOperation op;
  uint32_t bytes, order;
};

struct uses {
  struct pass_context *p;
  VEC(struct use) at;
};

static bool see_use(MlirOperation op, void *user) {
  struct uses *u = user;
  struct ir_context *c = u->p->c;
  uint32_t bytes = op_is(c, op, OP_GPU_LOCAL_ALLOC)
                       ? alloc_bytes(c, op)
                       : scratch_double_buffer(op) + scratch_bytes(c, op, u->p->num_warps);
  if (bytes)
    vec_push(u->p->scratch, &u->at, (struct use){op, bytes, (uint32_t)u->at.len});
  return true;
}

static int largest_first(const void *a, const void *b) {
  const struct use *x = a, *y = b;
  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

// "3 x 16384 bytes", of a ring.
static const char *bytes_text(struct pass_context *p, const struct use *u) {
  uint32_t copies = op_is(p->c, u->op, OP_GPU_LOCAL_ALLOC) ? alloc_copies(u->op) : 1;
  return copies > 1 ? arena_printf(p->c->arena, "%u x %u bytes", copies, u->bytes / copies)
                    : arena_printf(p->c->arena, "%u bytes", u->bytes);
}

// The largest is at the location of the error.
static void list_uses(struct diag *d, struct pass_context *p, const struct uses *u) {
  for (size_t i = 0; i < u->at.len && i < LISTED; i++) {
    MlirOperation op = u->at.at[i].op;
    const char *purpose = resource_purpose(p->c, op), *bytes = bytes_text(p, &u->at.at[i]);
    if (i == 0)
      diag_primary_label(d, "%s from %u on for %s", bytes, scratch_offset(op), purpose);
    else
      diag_note(d, op_span(p->c, op), "%s from %u on for %s", bytes, scratch_offset(op), purpose);
  }
  if (u->at.len > LISTED)
    diag_note(d, SPAN_NONE, "and %zu smaller ones", u->at.len - LISTED);
}

static void set_copies(struct pass_context *p, MlirOperation alloc, uint32_t copies) {
  mlirOperationSetAttributeByName(alloc, mlirStringRefCreateFromCString("copies"),
                                  attr_i32(p->c, (int32_t)copies));
}

// What the program would need with rings of at most so many buffers.
static uint32_t bytes_with(struct pass_context *p, const struct uses *u, uint32_t stages) {
  uint32_t *copies = arena_array(p->scratch, uint32_t, u->at.len + 1);
  for (size_t i = 0; i < u->at.len; i++) {
    MlirOperation op = u->at.at[i].op;
    copies[i] = op_is(p->c, op, OP_GPU_LOCAL_ALLOC) ? alloc_copies(op) : 0;
    if (copies[i] > stages)
      set_copies(p, op, stages);
  }
  uint32_t total = shared_allocation_of(p->c, p->module, p->target, p->num_warps, p->scratch).total;
  for (size_t i = 0; i < u->at.len; i++)
    if (copies[i] > stages)
      set_copies(p, u->at.at[i].op, copies[i]);
  return total;
}

// The most stages of software pipelining that fit, fewer than now; 0: none fit.
static uint32_t stages_that_fit(struct pass_context *p, const struct uses *u) {
  uint32_t stages = 1;
  for (size_t i = 0; i < u->at.len; i++)
    if (op_is(p->c, u->at.at[i].op, OP_GPU_LOCAL_ALLOC) && alloc_copies(u->at.at[i].op) > stages)
      stages = alloc_copies(u->at.at[i].op);
  while (--stages > 0 && bytes_with(p, u, stages) > p->target->shared_limit)
    ;
  return stages;
}

static bool check_shared(struct pass_context *p) {
  int64_t total = scratch_total(p->module);
  if (total <= (int64_t)p->target->shared_limit)
    return true;
  struct uses u = {.p = p};
  ir_walk(mlirModuleGetOperation(p->module), see_use, &u);
  uint32_t stages = stages_that_fit(p, &u);
  if (stages && stages < p->num_stages && p->ret_fewer_stages) {
    *p->ret_fewer_stages = stages;
    return false;
  }
  qsort(u.at.at, u.at.len, sizeof *u.at.at, largest_first);
  struct diag *d = diag_error(p->c->diag, u.at.len ? op_span(p->c, u.at.at[0].op) : SPAN_NONE,
                              E0605, "the program needs %lld bytes of shared memory; `%s` has %u",
                              (long long)total, p->target->name, p->target->shared_limit);
  list_uses(d, p, &u);
  if (stages) {
    diag_help(d, "use num_stages=%u (`--num-stages %u`)", stages, stages);
    return false;
  }
  unsigned times = 2;
  while (total / times > (int64_t)p->target->shared_limit)
    times *= 2;
  diag_help(d, "use blocks of 1/%u of the elements, or a narrower element type", times);
  return false;
}

// ---- elements a thread ----

// As the language writes it: tile<128x64xf32>.
static const char *type_text(struct pass_context *p, MlirType t) {
  struct strbuf b = {.arena = p->c->arena};
  MlirType element = element_type(t);
  bool is_ptr = type_is_ptr(p->c, element);
  strbuf_puts(&b, "tile<");
  for (unsigned d = 0; d < tensor_rank(t); d++)
    strbuf_printf(&b, "%lldx", (long long)tensor_dim(t, d));
  const char *name = dtype_name(dtype_of_mlir(is_ptr ? ptr_pointee(p->c, element) : element));
  strbuf_printf(&b, is_ptr ? "ptr<%s>>" : "%s>", name);
  const char *text = arena_strdup(p->c->arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

// Code size grows with the elements per thread, and compile time superlinearly.
static bool check_elements(struct pass_context *p) {
  struct widest_tile w = resource_widest_tile(p->c, mlirModuleGetOperation(p->module));
  if (w.elements <= MANY_ELEMENTS)
    return true;
  struct span at = op_span(p->c, w.op);
  const char *type = type_text(p, w.type);
  bool ok = w.elements <= MAX_ELEMENTS;
  struct diag *d =
      ok ? diag_warning(p->c->diag, at, E0607, "each thread holds %u elements of a `%s`",
                        w.elements, type)
         : diag_error(p->c->diag, at, E0608,
                      "each thread would hold %u elements of a `%s`; at most %d are possible",
                      w.elements, type, MAX_ELEMENTS);
  unsigned times = w.elements / MANY_ELEMENTS, warps = p->num_warps * times;
  long long fewer = (long long)tensor_numel(w.type) / times;
  if (warps <= p->target->max_warps)
    diag_help(d, "use %u warps (`--num-warps %u`), or blocks of at most %lld elements", warps,
              warps, fewer);
  else if (p->num_warps < p->target->max_warps)
    diag_help(d, "use blocks of at most %lld elements, or %u with `--num-warps %u`", fewer,
              (unsigned)(fewer * (long long)(p->target->max_warps / p->num_warps)),
              p->target->max_warps);
  else
    diag_help(d, "use blocks of at most %lld elements", fewer);
  return ok;
}

enum pass_result pass_check_resources(struct pass_context *p) {
  bool ok = check_elements(p);
  ok = check_shared(p) && ok;
  return ok ? PASS_UNCHANGED : PASS_FAILED;
}
