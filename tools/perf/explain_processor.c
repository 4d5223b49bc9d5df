// SPDX-License-Identifier: Apache-2.0
// `tilec FILE --target cpu --explain-perf`: vectors, spills and scratch, read from the assembly;
// the bytes and operations of a program, from the cost of the kernel; and the share of a core's
// peak that these allow.
#include "lowering/cost/kernel_cost.h"
#include "tools/perf/explain_perf.h"

#include <string.h>

// ---- the assembly ----

struct code_facts {
  unsigned vector_bits; // of the widest register that is used; 0: none
  unsigned spilled, reloaded;
};

static unsigned vector_bits(const char *line, bool is_x86) {
  static const struct {
    const char *name;
    unsigned bits;
  } x86[] = {{"%zmm", 512}, {"%ymm", 256}, {"%xmm", 128}};
  if (!is_x86)
    return strstr(line, "\tq") || strstr(line, ", q") || strstr(line, ".4s") ? 128 : 0;
  for (size_t i = 0; i < COUNT_OF(x86); i++)
    if (strstr(line, x86[i].name))
      return x86[i].bits;
  return 0;
}

// Vectors on the stack: nothing else is there but what did not fit in registers. On x86 the last
// operand is written.
static void read_line(struct code_facts *a, const char *line, bool is_x86) {
  const char *stack = strstr(line, is_x86 ? "(%rsp)" : "[sp");
  unsigned bits = vector_bits(line, is_x86);
  if (bits > a->vector_bits)
    a->vector_bits = bits;
  if (!stack || !bits)
    return;
  bool is_store = is_x86 ? !strchr(stack, ',') : strncmp(line, "\tst", 3) == 0;
  a->spilled += is_store;
  a->reloaded += !is_store;
}

static struct code_facts read_assembly(struct str text, bool is_x86) {
  enum { LONGEST = 256 };
  struct code_facts a = {0};
  while (text.len) {
    char line[LONGEST];
    const char *end = memchr(text.ptr, '\n', text.len);
    size_t n = end ? (size_t)(end - text.ptr) : text.len, kept = n < LONGEST ? n : LONGEST - 1;
    memcpy(line, text.ptr, kept);
    line[kept] = 0;
    read_line(&a, line, is_x86);
    n += end != NULL;
    text = (struct str){text.ptr + n, text.len - n};
  }
  return a;
}

// ---- the costs of a program ----

struct costs {
  uint32_t num_warps;
  struct kernel_cost of;
};

static void read_costs(void *user, struct ir_context *c, MlirModule module) {
  static const uint32_t one[3] = {1, 1, 1};
  struct costs *x = user;
  x->of = kernel_cost_of(c, module, target_find(STR("sm_80")), x->num_warps, NULL, 0, one);
}

// ---- the report ----

// Of a core: two multiply-adds of whole vectors a cycle, and what memory gives to one of several.
enum { FMA_PIPES = 2, MEMORY_BYTES_A_CYCLE = 4 };

static void put_bounds(struct strbuf *out, const struct kernel_cost *k, unsigned bits) {
  double bytes = k->global_read + k->global_written, flops = k->tensor_flops + k->fma_flops;
  double peak = (bits ? bits : 32) / 32.0 * 2 * FMA_PIPES;
  strbuf_printf(out, "a program\n  reads %.0f bytes and writes %.0f, without masks\n",
                k->global_read, k->global_written);
  strbuf_printf(out, "  computes %.0f products and sums of floats\n", flops);
  if (!k->is_exact)
    strbuf_puts(out, "  with loops whose trips are not known counted as if they had a few\n");
  if (bytes <= 0 || flops <= 0)
    return;
  double share = flops / bytes * MEMORY_BYTES_A_CYCLE / peak;
  strbuf_printf(out, "  %.2f operations a byte: ", flops / bytes);
  if (share < 1)
    strbuf_printf(out,
                  "if caches hold nothing, memory (%d bytes a cycle of a core) allows %.1f %% of "
                  "the peak of %.0f a cycle\n",
                  MEMORY_BYTES_A_CYCLE, share * 100, peak);
  else
    strbuf_printf(out, "memory allows the peak of %.0f a cycle of a core\n", peak);
}

static void put_code(struct strbuf *out, const struct target *target, struct arena *arena,
                     const struct compile_result *code) {
  bool is_x86 = str_starts(str_from(processor_triple(target, arena)), "x86_64");
  struct code_facts a = read_assembly(code->output, is_x86);
  struct vector_registers registers = processor_registers(target, arena);
  strbuf_printf(out, "`%s` for `%s`, %s\n\ncode\n", code->info.name, target->name,
                code->info.calls_programs ? "loops over vectors" : "thread by thread");
  strbuf_printf(out, "  %u vector registers of %u bits; the widest that is used has %u\n",
                registers.count, registers.bytes * 8, a.vector_bits);
  strbuf_printf(out, "  %u vectors stored to the stack, %u loaded from it\n", a.spilled,
                a.reloaded);
  strbuf_printf(out, "  %u bytes of scratch a thread\n\n", code->info.shared_bytes);
}

int explain_processor(struct tool *t, struct compile_request *request) {
  struct costs costs = {.num_warps = request->num_warps ? request->num_warps : 4};
  struct compile_request analysis = *request;
  struct compile_result *code = arena_new(t->arena, struct compile_result);
  request->emit = EMIT_ASM;
  if (!compile_kernel(t->arena, t->diag, request, code))
    return tool_error_status(t);
  analysis.target = target_find(STR("sm_80"));
  analysis.emit = EMIT_TILEGPU;
  analysis.inspect = read_costs;
  analysis.inspect_user = &costs;
  struct diag_engine *quiet = diag_engine_create(t->arena);
  bool has_costs =
      compile_kernel(t->arena, quiet, &analysis, arena_new(t->arena, struct compile_result));
  struct strbuf out = {.arena = t->arena};
  strbuf_printf(&out, "%s: ", request->source->name);
  put_code(&out, request->target, t->arena, code);
  if (has_costs)
    put_bounds(&out, &costs.of, processor_registers(request->target, t->arena).bytes * 8);
  int status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}
