// SPDX-License-Identifier: Apache-2.0
// Packs of graphs: the functions of a pack are the program's kernels in order, named as in
// graph/write/write_c.h.
#include "tools/graph/graph_pack.h"

#include "graph/write/write_c.h"
#include "lowering/target.h"
#include "runtime/pack.h"
#include "tools/aot/ptxas.h"

enum { WIDE = 16 }; // alignment of addresses for wide accesses, in bytes

struct packing {
  struct tool *tool;
  const struct program *program;
  const target_vec *targets;
  const char *ptxas; // NULL: none
};

// A launch of the kernel: all launches of one kernel have arguments of the same types.
static const struct launch *launch_of(const struct program *p, const struct graph_kernel *k) {
  for (size_t i = 0; i < p->launches.len; i++)
    if (p->launches.at[i].kernel == k)
      return &p->launches.at[i];
  return NULL;
}

static bool compile_code(struct packing *pk, const struct graph_kernel *k,
                         const struct target *target, uint32_t divisible_by,
                         struct source **ret_source, struct compile_result *ret) {
  struct arena *a = pk->tool->arena;
  const struct launch *l = launch_of(pk->program, k);
  struct lang_binding *b = arena_array(a, struct lang_binding, l->args.len + k->constants.len + 1);
  size_t n = 0;
  for (size_t i = 0; i < k->constants.len; i++)
    b[n++] = (struct lang_binding){.name = k->constants.at[i].name,
                                   .kind = BIND_CONSTANT,
                                   .divisible_by = 1,
                                   .text = k->constants.at[i].value};
  for (size_t i = 0; i < l->args.len; i++) {
    const struct launch_arg *arg = &l->args.at[i];
    bool is_pointer = arg->kind == LAUNCH_BUFFER;
    b[n++] = (struct lang_binding){.name = arg->name,
                                   .kind = is_pointer ? BIND_POINTER : BIND_SCALAR,
                                   .dtype = is_pointer ? arg->buffer->dtype : arg->dtype,
                                   .divisible_by = is_pointer ? divisible_by : 1,
                                   .is_unaligned = is_pointer && divisible_by < WIDE};
  }
  *ret_source = source_create(a, arena_printf(a, "%s.tile", k->name), str_from(k->source));
  struct compile_request r = {.source = *ret_source,
                              .kernel = k->name,
                              .bindings = b,
                              .binding_count = n,
                              .target = target,
                              .num_warps = k->num_warps,
                              .num_stages = k->num_stages,
                              .num_ctas = k->num_ctas,
                              .launch_pdl = pk->program->launch_pdl,
                              .emit = target->is_cpu ? EMIT_OBJECT : EMIT_PTX,
                              .is_detached = true};
  return compile_kernel(a, pk->tool->diag, &r, ret);
}

// ---- one kernel ----

static bool add_code(struct packing *pk, const struct graph_kernel *k, const struct target *target,
                     uint32_t divisible_by, struct pack_code *ret,
                     struct compile_result *ret_made) {
  struct source *source;
  struct aot_code code;
  if (!compile_code(pk, k, target, divisible_by, &source, ret_made) ||
      !aot_code_of(pk->tool, ret_made, target, (struct span){.source = source}, &code))
    return false;
  *ret = code.code;
  if (!pk->ptxas || target->is_cpu)
    return true;
  struct ptxas_report report;
  ret->format = PACK_CUBIN;
  if (!ptxas_run(pk->tool, pk->ptxas, target, source, ret_made->output, k->name, &ret->bytes,
                 &report))
    return false;
  if (report.registers >= 0)
    ret->registers = (uint32_t)report.registers;
  if (report.spill_stores >= 0)
    ret->spill_stores = (uint32_t)report.spill_stores;
  return true;
}

static bool add_codes(struct packing *pk, const struct graph_kernel *k, uint32_t divisible_by,
                      struct pack_variant *v, struct kernel_info *ret_info) {
  struct arena *a = pk->tool->arena;
  struct compile_result r = {0};
  uint32_t count = (uint32_t)pk->targets->len;
  struct pack_code *codes = arena_array(a, struct pack_code, count);
  for (uint32_t i = 0; i < count; i++)
    if (!add_code(pk, k, pk->targets->at[i], divisible_by, &codes[i], &r))
      return false;
  uint32_t *hints = arena_array(a, uint32_t, r.info.param_count + 1);
  for (uint32_t i = 0; i < r.info.param_count; i++)
    hints[i] = r.info.params[i].is_pointer ? divisible_by : 1;
  *v = (struct pack_variant){hints, r.info.num_warps, r.info.num_stages, codes, count};
  *ret_info = r.info;
  return true;
}

static bool pack_kernel(struct packing *pk, const struct graph_kernel *k, struct pack_kernel *ret) {
  struct arena *a = pk->tool->arena;
  struct pack_variant *variants = arena_array(a, struct pack_variant, 2);
  struct kernel_info info;
  if (!add_codes(pk, k, WIDE, &variants[0], &info) || !add_codes(pk, k, 1, &variants[1], &info))
    return false;
  struct strbuf constants = {.arena = pk->tool->arena};
  for (size_t i = 0; i < k->constants.len; i++)
    strbuf_printf(&constants, "%s%s=%s", i ? " " : "", k->constants.at[i].name,
                  k->constants.at[i].value);
  *ret = (struct pack_kernel){.name = program_function_name(pk->program, k->id),
                              .source_name = k->name,
                              .constants = arena_strdup(a, strbuf_cstr(&constants)),
                              .params = info.params,
                              .param_count = info.param_count,
                              .variants = variants,
                              .variant_count = 2};
  strbuf_finish(&constants);
  return true;
}

// The kernels of the program, and of the programs of its subgraphs.
static bool pack_all(struct packing *pk, struct pack_kernel *kernels, size_t *count) {
  const struct program *p = pk->program;
  for (size_t i = 0; i < p->kernels.len; i++)
    if (!pack_kernel(pk, p->kernels.at[i], &kernels[(*count)++]))
      return false;
  for (size_t i = 0; i < p->launches.len; i++)
    for (size_t k = 0; k < COUNT_OF(p->launches.at[i].bodies); k++) {
      struct packing of = *pk;
      of.program = p->launches.at[i].bodies[k];
      if (of.program && !pack_all(&of, kernels, count))
        return false;
    }
  return true;
}

bool graph_pack(struct tool *t, const struct program *p, const target_vec *targets,
                struct str *ret) {
  bool wrong = false;
  struct packing pk = {.tool = t, .program = p, .targets = targets};
  pk.ptxas = aot_has_gpu(targets) ? ptxas_find(t, &wrong) : NULL;
  struct pack_kernel *kernels =
      arena_array(t->arena, struct pack_kernel, program_kernel_count(p) + 1);
  size_t count = 0;
  if (wrong || !pack_all(&pk, kernels, &count))
    return false;
  struct strbuf out = {.arena = t->arena};
  pack_write(kernels, (uint32_t)count, &out);
  bool ok = !out.failed;
  if (ok)
    *ret = (struct str){arena_dup(t->arena, out.ptr, out.len, PACK_ALIGN), out.len};
  else
    diag_error(t->diag, SPAN_NONE, E0991, "out of memory for the pack");
  strbuf_finish(&out);
  return ok;
}

bool graph_ptx(struct tool *t, const struct program *p, const struct target *target,
               struct strbuf *out) {
  struct packing pk = {.tool = t, .program = p};
  for (size_t i = 0; i < p->kernels.len; i++) {
    struct source *source;
    struct compile_result r = {0};
    if (!compile_code(&pk, p->kernels.at[i], target, WIDE, &source, &r))
      return false;
    strbuf_put(out, r.output.ptr, r.output.len);
  }
  return true;
}
