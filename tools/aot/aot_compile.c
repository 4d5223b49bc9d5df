// SPDX-License-Identifier: Apache-2.0
// The codes of a pack: every specialisation for every target; of processors as images, of GPUs as
// machine code if there is an assembler, and as PTX of the oldest target without `a` for GPUs newer
// than all named targets.
#include "runtime/image.h"
#include "tools/aot/aot.h"

// ---- targets ----

bool aot_has_gpu(const target_vec *targets) {
  for (size_t i = 0; i < targets->len; i++)
    if (!targets->at[i]->is_cpu)
      return true;
  return false;
}

// `sm_90a` and the like run on their own generation only.
static bool is_specific(const struct target *t) { return str_ends(str_from(t->name), "a"); }

static bool is_better_fallback(const struct target *t, const struct target *best) {
  return is_specific(best) != is_specific(t) ? is_specific(best) : t->sm < best->sm;
}

// The target whose PTX is for GPUs without machine code: the oldest one that later GPUs run, else
// the oldest. NULL: there is no GPU.
static const struct target *fallback_of(const struct aot *a) {
  const struct target *best = NULL;
  for (size_t i = 0; i < a->targets.len; i++) {
    const struct target *t = a->targets.at[i];
    if (!t->is_cpu && (!best || is_better_fallback(t, best)))
      best = t;
  }
  return best;
}

// ---- one code ----

// A tensor descriptor, whose parameters begin at `i`.
static struct lang_binding descriptor_of(const struct aot_function *f, const struct aot_variant *v,
                                         uint32_t i) {
  const struct kernel_param *p = &f->info.params[i];
  struct lang_binding b = {.name = p->name,
                           .kind = BIND_DESCRIPTOR,
                           .dtype = p->dtype,
                           .divisible_by = 1,
                           .block = {.rank = p->descriptor_rank, .pads_nan = p->pads_nan}};
  for (uint32_t k = 0; k < p->descriptor_rank; k++) {
    b.block.shape[k] = p->block[k];
    b.sizes_divisible_by[k] = v->hints[i + 1 + k];
  }
  return b;
}

// The compiler's bindings of a specialisation: types and hints of all parameters.
static struct lang_binding *bindings_of(struct aot *a, const struct aot_function *f,
                                        const struct aot_variant *v, size_t *ret_count) {
  size_t n = 0;
  struct lang_binding *b =
      arena_array(a->tool->arena, struct lang_binding, f->bindings.len + f->info.param_count + 1);
  for (size_t i = 0; i < f->bindings.len; i++)
    if (f->bindings.at[i].kind == BIND_CONSTANT || f->bindings.at[i].is_one)
      b[n++] = f->bindings.at[i];
  for (uint32_t i = 0; i < f->info.param_count; i += kernel_param_span(&f->info.params[i])) {
    const struct kernel_param *p = &f->info.params[i];
    if (p->descriptor_rank) {
      b[n++] = descriptor_of(f, v, i);
      continue;
    }
    b[n++] = (struct lang_binding){.name = p->name,
                                   .kind = p->is_pointer ? BIND_POINTER : BIND_SCALAR,
                                   .dtype = p->dtype,
                                   .divisible_by = v->hints[i] ? v->hints[i] : 1,
                                   .is_one = v->hints[i] == 0};
  }
  *ret_count = n;
  return b;
}

// The launch passes exactly the parameters that are not compiled in, in order.
static bool params_agree(const struct aot_function *f, const struct aot_variant *v,
                         const struct kernel_info *info) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->info.param_count; i++) {
    if (v->hints[i] == 0)
      continue;
    if (n == info->param_count || strcmp(info->params[n].name, f->info.params[i].name) != 0)
      return false;
    n++;
  }
  return n == info->param_count;
}

static bool compile_code(struct aot *a, const struct aot_function *f, struct aot_variant *v,
                         const struct target *target, struct compile_result *ret) {
  struct tool *t = a->tool;
  struct compile_request r = {.source = a->source,
                              .kernel = f->kernel,
                              .target = target,
                              .num_warps = f->num_warps,
                              .num_stages = f->num_stages,
                              .max_registers = f->max_registers,
                              .num_ctas = f->num_ctas,
                              .warp_specialize = f->warp_specialize,
                              .launch_pdl = t->o.launch_pdl,
                              .emit = target->is_cpu ? EMIT_OBJECT : EMIT_PTX,
                              .passes = t->o.passes,
                              .folders = t->o.folders.at,
                              .folder_count = t->o.folders.len};
  r.bindings = bindings_of(a, f, v, &r.binding_count);
  // Warnings were recorded when the function was described; they are the same for every
  // specialisation. A failing compilation is repeated for its messages.
  if (!compile_kernel(t->arena, diag_engine_create(t->arena), &r, ret) &&
      !compile_kernel(t->arena, t->diag, &r, ret))
    return false;
  v->num_warps = ret->info.num_warps;
  v->num_stages = ret->info.num_stages;
  if (params_agree(f, v, &ret->info))
    return true;
  diag_error(t->diag, f->at, E0990, "the parameters of `%s` change with its specialisation",
             f->name);
  return false;
}

static bool link_image(struct tool *t, const struct compile_result *r, struct span at,
                       struct str *ret) {
  struct strbuf out = {.arena = t->arena};
  const char *why = image_link(t->arena, r->output, r->info.name, &out);
  if (why)
    diag_error(t->diag, at, E0990, "the code of `%s` for %s does not fit into a pack: %s",
               r->info.name, r->info.target, why);
  else
    *ret = (struct str){arena_dup(t->arena, out.ptr, out.len, IMAGE_ALIGN), out.len};
  strbuf_finish(&out);
  return !why;
}

bool aot_code_of(struct tool *t, const struct compile_result *r, const struct target *target,
                 struct span at, struct aot_code *ret) {
  *ret = (struct aot_code){
      .code = {.symbol = r->info.name,
               .target = target->name,
               .format = target->is_cpu ? PACK_IMAGE : PACK_PTX,
               .capability = target->is_cpu ? target->processor->set : target->sm,
               .is_specific = !target->is_cpu && is_specific(target),
               .shared_bytes = r->info.shared_bytes,
               .producer_warps = r->info.producer_warps,
               .launch_pdl = r->info.launch_pdl,
               .calls_programs = r->info.calls_programs,
               .uses_collectives = r->info.uses_collectives,
               .num_ctas = r->info.num_ctas,
               .maps = kernel_maps_text(t->arena, &r->info),
               .registers = PACK_UNKNOWN,
               .spill_stores = PACK_UNKNOWN,
               .bytes = r->output},
      .info = r->info,
      .report = {-1, -1, -1, -1},
  };
  return !target->is_cpu || link_image(t, r, at, &ret->code.bytes);
}

static bool add_target(struct aot *a, const struct aot_function *f, struct aot_variant *v,
                       const struct target *target, bool keep_ptx) {
  struct tool *t = a->tool;
  struct compile_result r = {0};
  struct aot_code ptx;
  if (!compile_code(a, f, v, target, &r) || !aot_code_of(t, &r, target, f->at, &ptx))
    return false;
  struct aot_code cubin = ptx;
  if (a->ptxas && !target->is_cpu) {
    cubin.code.format = PACK_CUBIN;
    if (!ptxas_run(t, a->ptxas, target, a->source, r.output, f->name, &cubin.code.bytes,
                   &cubin.report))
      return false;
    if (cubin.report.registers >= 0)
      cubin.code.registers = (uint32_t)cubin.report.registers;
    if (cubin.report.spill_stores >= 0)
      cubin.code.spill_stores = (uint32_t)cubin.report.spill_stores;
    vec_push(t->arena, &v->codes, cubin);
  }
  if (keep_ptx || !a->ptxas || target->is_cpu)
    vec_push(t->arena, &v->codes, ptx);
  return true;
}

bool aot_compile(struct aot *a) {
  const struct target *fallback = fallback_of(a);
  bool is_pack = a->tool->o.artifact != ARTIFACT_CUBIN;
  for (size_t i = 0; i < a->functions.len; i++) {
    struct aot_function *f = &a->functions.at[i];
    for (size_t v = 0; v < f->variants.len; v++)
      for (size_t k = 0; k < a->targets.len; k++)
        if (!add_target(a, f, &f->variants.at[v], a->targets.at[k],
                        is_pack && a->targets.at[k] == fallback))
          return false;
  }
  return true;
}

// ---- the pack ----

static struct pack_variant *pack_variants(struct aot *a, const struct aot_function *f) {
  struct arena *arena = a->tool->arena;
  struct pack_variant *variants = arena_array(arena, struct pack_variant, f->variants.len);
  for (size_t v = 0; v < f->variants.len; v++) {
    const struct aot_variant *from = &f->variants.at[v];
    struct pack_code *codes = arena_array(arena, struct pack_code, from->codes.len);
    for (size_t c = 0; c < from->codes.len; c++)
      codes[c] = from->codes.at[c].code;
    variants[v] = (struct pack_variant){from->hints, from->num_warps, from->num_stages, codes,
                                        (uint32_t)from->codes.len};
  }
  return variants;
}

bool aot_pack(struct aot *a, struct str *ret) {
  struct arena *arena = a->tool->arena;
  struct pack_kernel *kernels = arena_array(arena, struct pack_kernel, a->functions.len);
  for (size_t i = 0; i < a->functions.len; i++) {
    const struct aot_function *f = &a->functions.at[i];
    kernels[i] = (struct pack_kernel){.name = f->name,
                                      .source_name = f->kernel,
                                      .constants = f->constants,
                                      .params = f->info.params,
                                      .param_count = f->info.param_count,
                                      .variants = pack_variants(a, f),
                                      .variant_count = (uint32_t)f->variants.len};
  }
  struct strbuf out = {.arena = a->tool->arena};
  pack_write(kernels, (uint32_t)a->functions.len, &out);
  bool ok = !out.failed;
  if (ok)
    *ret = (struct str){arena_dup(arena, out.ptr, out.len, PACK_ALIGN), out.len};
  else
    diag_error(a->tool->diag, SPAN_NONE, E0991, "out of memory for the pack");
  strbuf_finish(&out);
  return ok;
}
