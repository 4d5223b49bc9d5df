// SPDX-License-Identifier: Apache-2.0
// The report: facts about the final IR (lowering/cost/performance.h), registers as reported by
// ptxas if it is there, and the resulting occupancy.
#include "tools/perf/explain_perf.h"

#include "base/file.h"
#include "tools/layout/layout_of_kernel.h"
#include "tools/perf/explain_perf_report.h"

// ---- reading the IR ----

static const char *type_text(struct perf_report *r, struct ir_context *c, MlirType t) {
  struct strbuf b = {.arena = c->arena};
  for (unsigned d = 0; type_is_tensor(t) && d < tensor_rank(t); d++)
    strbuf_printf(&b, "%lldx", (long long)tensor_dim(t, d));
  MlirType e = element_type(t);
  if (type_is_memdesc(c, t))
    return type_text(r, c, memdesc_tile(c, t));
  if (type_is_ptr(c, e))
    strbuf_printf(&b, "ptr<%s>", dtype_name(dtype_of_mlir(ptr_pointee(c, e))));
  else
    strbuf_puts(&b, dtype_name(dtype_of_mlir(e)));
  const char *text = arena_strdup(r->arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

static struct where where_of(struct perf_report *r, struct ir_context *c, MlirOperation op,
                             MlirType type) {
  struct span at = location_in_source(c, r->source, mlirOperationGetLocation(op));
  struct line_col begin = at.source ? source_line_col(at.source, at.begin) : (struct line_col){0};
  return (struct where){at.source ? arena_printf(r->arena, "%u:%u", begin.line, begin.col) : "-",
                        type_text(r, c, type)};
}

static MlirType operand_type(MlirOperation op, intptr_t i) {
  return mlirValueGetType(mlirOperationGetOperand(op, i));
}

static MlirType type_of_use(MlirOperation op) {
  return mlirOperationGetNumOperands(op) ? operand_type(op, 0)
                                         : mlirValueGetType(mlirOperationGetResult(op, 0));
}

static void read_module(void *user, struct ir_context *c, MlirModule module) {
  struct perf_report *r = user;
  if (r->also)
    r->also(r->also_user, c, module);
  static const uint32_t one[3] = {1, 1, 1};
  r->p = performance_of(c, module, r->target, r->num_warps, r->arena);
  r->cost = kernel_cost_of(c, module, r->target, r->num_warps, NULL, 0, one);
  for (size_t i = 0; i < r->p.accesses.len; i++) {
    MlirOperation op = r->p.accesses.at[i].op;
    MlirType type = op_is(c, op, OP_TILE_LOAD)   ? mlirValueGetType(mlirOperationGetResult(op, 0))
                    : r->p.accesses.at[i].is_tma ? operand_type(op, 0)
                                                 : operand_type(op, 1);
    struct where at = where_of(r, c, op, type);
    vec_push(r->arena, &r->accesses, at);
    perf_advice_collect(r->arena, c, r->source, &r->p.accesses.at[i], at.location, &r->causes);
  }
  for (size_t i = 0; i < r->p.products.len; i++) {
    MlirOperation op = r->p.products.at[i].op;
    vec_push(r->arena, &r->products, where_of(r, c, op, operand_type(op, 2)));
  }
  for (size_t i = 0; i < r->p.conversions.len; i++) {
    MlirOperation op = r->p.conversions.at[i].op;
    vec_push(r->arena, &r->conversions, where_of(r, c, op, type_of_use(op)));
  }
  for (size_t i = 0; i < r->p.reductions.len; i++) {
    MlirOperation op = r->p.reductions.at[i].op;
    vec_push(r->arena, &r->reductions, where_of(r, c, op, type_of_use(op)));
  }
  for (size_t i = 0; i < r->p.shared.len; i++) {
    MlirOperation op = r->p.shared.at[i].op;
    vec_push(r->arena, &r->shared, where_of(r, c, op, type_of_use(op)));
  }
  for (size_t i = 0; i < r->p.loops.len; i++)
    vec_push(r->arena, &r->loops, where_of(r, c, r->p.loops.at[i].op, mlir_of_dtype(c, DTYPE_I32)));
  if (!mlirOperationIsNull(r->p.persistent_loop))
    r->persistent = where_of(r, c, r->p.persistent_loop, mlir_of_dtype(c, DTYPE_I32));
  struct widest_tile w = resource_widest_tile(c, mlirModuleGetOperation(module));
  r->elements = w.elements;
  if (w.elements)
    r->widest = where_of(r, c, w.op, w.type);
}

// ---- the whole ----

int perf_report_make(struct tool *t, struct compile_request *request, struct perf_report *ret,
                     struct str *ret_ptx) {
  bool mlir = str_ends(str_from(request->source->name), ".mlir"), wrong = false;
  if (request->target->is_cpu)
    request->target = target_find(STR("sm_80"));
  *ret = (struct perf_report){.arena = t->arena,
                              .source = request->source,
                              .target = request->target,
                              .num_warps = request->num_warps ? request->num_warps : 4,
                              .also = request->inspect,
                              .also_user = request->inspect_user};
  request->emit = EMIT_PTX;
  request->inspect = read_module;
  request->inspect_user = ret;
  struct compile_result *result = arena_new(t->arena, struct compile_result);
  if (!(mlir ? compile_mlir : compile_kernel)(t->arena, t->diag, request, result))
    return tool_error_status(t);
  ret->info = &result->info;
  *ret_ptx = result->output;
  const char *ptxas = ptxas_find(t, &wrong);
  struct str cubin;
  if (wrong)
    return EXIT_USAGE;
  if (ptxas && !ptxas_run(t, ptxas, request->target, request->source, result->output,
                          result->info.name, &cubin, &ret->ptxas))
    return tool_error_status(t);
  ret->has_ptxas = ptxas != NULL;
  perf_advice_find(t, request, &ret->causes, &ret->cost, &ret->p, &ret->advice);
  if (diag_error_count(t->diag))
    return tool_error_status(t);
  return EXIT_DONE;
}

int explain_perf(struct tool *t, struct compile_request *request) {
  struct perf_report r;
  struct str ptx;
  int status = perf_report_make(t, request, &r, &ptx);
  if (status != EXIT_DONE)
    return status;
  struct strbuf out = {.arena = t->arena};
  if (t->o.svg) {
    perf_report_svg(&r, &out);
    int error = file_write(t->o.svg, strbuf_cstr(&out), out.len);
    if (error)
      return tool_cannot_write(t, SPAN_NONE, t->o.svg, error);
    strbuf_clear(&out);
  }
  if (t->o.json)
    perf_report_json(&r, &out);
  else
    perf_report_text(&r, &out);
  status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}
