// SPDX-License-Identifier: Apache-2.0
// `tilec FILE [--emit=KIND]`: compiles a kernel, or runs passes over an .mlir file, and writes the
// requested stage.
#include "runtime/runtime_internal.h"
#include "tools/aot/aot.h"
#include "tools/perf/explain_perf.h"
#include "tools/progress.h"
#include "tools/tuning/tunings.h"

#include <math.h>

static void print_timing(struct tool *t, const char *what, const struct compile_timing *m) {
  strbuf_printf(&t->log,
                "%s:\n  parse %8.3f ms\n  front end %4.3f ms\n  passes %7.3f ms\n"
                "  emission %5.3f ms\n  codegen %6.3f ms\n  all %10.3f ms\n",
                what, m->parse_ms, m->frontend_ms, m->passes_ms, m->emit_ms, m->codegen_ms,
                m->parse_ms + m->frontend_ms + m->passes_ms + m->emit_ms + m->codegen_ms);
}

static void keep_least(double *at, double ms) {
  if (ms < *at)
    *at = ms;
}

// Compiles `count` more times, in this process. *timing becomes the minimum of each stage.
static void time_again(struct arena *of, const struct compile_request *request, bool mlir,
                       uint64_t count, struct compile_timing *timing) {
  struct compile_request r = *request;
  r.passes = (struct pass_options){.only = request->passes.only};
  r.static_print = NULL;
  *timing = (struct compile_timing){INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
  for (uint64_t i = 0; i < count; i++) {
    struct arena *a = arena_create_nested(of);
    struct compile_result result;
    (mlir ? compile_mlir : compile_kernel)(a, diag_engine_create(a), &r, &result);
    keep_least(&timing->parse_ms, result.timing.parse_ms);
    keep_least(&timing->frontend_ms, result.timing.frontend_ms);
    keep_least(&timing->passes_ms, result.timing.passes_ms);
    keep_least(&timing->emit_ms, result.timing.emit_ms);
    keep_least(&timing->codegen_ms, result.timing.codegen_ms);
    arena_destroy(a);
  }
}

static void show_timing(struct tool *t, const struct compile_request *r, bool mlir,
                        const struct compile_timing *first) {
  print_timing(t, "stages", first);
  if (!t->o.repeats)
    return;
  struct compile_timing warm;
  time_again(t->arena, r, mlir, t->o.repeats, &warm);
  print_timing(t, "stages, least of the repeats", &warm);
}

static void write_json(const struct compile_request *r, const struct compile_result *result,
                       struct strbuf *out) {
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  json_key(&w, "target"), json_cstring(&w, r->target->name);
  json_key(&w, "emit"), json_cstring(&w, emit_kind_name(r->emit));
  if (result->info.name)
    json_key(&w, "kernel"), kernel_info_write(&result->info, &w);
  json_key(&w, "output"), json_string(&w, result->output);
  json_key(&w, "timing_ms"), json_begin_object(&w);
  json_key(&w, "parse"), json_double(&w, result->timing.parse_ms);
  json_key(&w, "frontend"), json_double(&w, result->timing.frontend_ms);
  json_key(&w, "passes"), json_double(&w, result->timing.passes_ms);
  json_key(&w, "emit"), json_double(&w, result->timing.emit_ms);
  json_key(&w, "codegen"), json_double(&w, result->timing.codegen_ms);
  json_end_object(&w);
  json_end_object(&w);
  strbuf_putc(out, '\n');
}

static bool is_usage(enum diag_code code) { return code == E0702 || code == E0703; }

struct compile_request tool_request(struct tool *t, struct source *source, bool mlir) {
  struct compile_request r = {.source = source,
                              .folders = t->o.folders.at,
                              .folder_count = t->o.folders.len,
                              .kernel = t->o.kernel,
                              .target = t->o.target ? target_find(str_from(t->o.target)) : NULL,
                              .num_warps = t->o.num_warps,
                              .num_stages = t->o.num_stages,
                              .max_registers = t->o.max_registers,
                              .num_ctas = t->o.num_ctas,
                              .warp_specialize = t->o.warp_specialize,
                              .launch_pdl = t->o.launch_pdl,
                              .emit = t->o.artifact == ARTIFACT_STAGE ? t->o.emit : EMIT_OBJECT,
                              .check = t->o.check,
                              .debug = t->o.check,
                              .passes = t->o.passes,
                              .static_print = &t->log};
  if (!r.target) // IR text needs no device, but passes need a GPU's properties
    r.target = mlir || r.emit == EMIT_AST ? target_find(STR("sm_80")) : tool_target(t);
  if (!t->o.emit_given)
    r.emit = mlir ? EMIT_TILEGPU : r.target->is_cpu ? EMIT_LLVM : EMIT_PTX;
  return r;
}

// Whether the target has code of the kind that --emit names.
static bool check_emit(struct tool *t, const struct compile_request *r) {
  if (r->emit == EMIT_PTX && r->target->is_cpu) {
    diag_help(diag_error(t->diag, t->o.target_at, E0703, "the CPU target has no PTX"),
              "name a GPU (`--target sm_90a`), or emit `llvm`, `asm` or `object`");
    return false;
  }
  if (r->emit >= EMIT_OBJECT && !r->target->is_cpu) {
    diag_help(diag_error(t->diag, t->o.target_at, E0703, "%s is made for the CPU only",
                         r->emit == EMIT_ASM ? "assembly" : "object code"),
              "use `--emit=ptx` for a GPU, or `--target cpu`");
    return false;
  }
  return true;
}

int tool_specialise(struct tool *t, struct compile_request *r, bool mlir) {
  if (!tool_bindings(t, &r->bindings, &r->binding_count))
    return EXIT_USAGE;
  if (mlir || r->emit == EMIT_AST || tunings_for_compilation(t, r))
    return EXIT_DONE;
  return is_usage(diag_first_error_code(t->diag)) ? EXIT_USAGE : tool_error_status(t);
}

// Replaces the object file by its header.
static bool make_header(struct tool *t, const struct compile_request *r,
                        struct compile_result *result) {
  struct strbuf text = {.arena = t->arena};
  if (!result->info.calls_programs) {
    diag_help(
        diag_error(t->diag, (struct span){.source = r->source}, E0703,
                   "kernel `%s` runs thread by thread, which needs the executor of libtile-rt",
                   result->info.name),
        "`--explain-perf` says why; `--emit=pack` and `--emit=c` make code for libtile-rt");
    return false;
  }
  emit_object_header(t->arena, r->source->name, &result->info, &text);
  result->output = (struct str){arena_strdup(t->arena, strbuf_cstr(&text)), text.len};
  strbuf_finish(&text);
  return true;
}

int mode_compile(struct tool *t) {
  bool is_header = t->o.artifact == ARTIFACT_OBJECT_HEADER;
  if (t->o.artifact != ARTIFACT_STAGE && !is_header)
    return mode_aot(t);
  int status;
  struct source *source = tool_source(t, &status);
  if (!source)
    return status;
  bool mlir = str_ends(str_from(source->name), ".mlir");
  struct compile_request r = tool_request(t, source, mlir);
  if (!check_emit(t, &r))
    return EXIT_USAGE;
  status = tool_specialise(t, &r, mlir);
  if (status != EXIT_DONE)
    return status;
  if (t->o.explain_perf && !t->o.emit_given && !r.passes.only && !r.passes.stop_after)
    return t->o.target && r.target->is_cpu && !mlir && !t->o.json && !t->o.svg
               ? explain_processor(t, &r)
               : explain_perf(t, &r);
  struct compile_result result = {0};
  progress_stage(t, arena_printf(t->arena, "compiling %s for %s", source->name, r.target->name));
  bool ok = mlir ? compile_mlir(t->arena, t->diag, &r, &result)
                 : compile_kernel(t->arena, t->diag, &r, &result);
  if (!ok || (is_header && !make_header(t, &r, &result)))
    return tool_error_status(t);
  if (t->o.passes.time_passes)
    show_timing(t, &r, mlir, &result.timing);
  if (!t->o.json)
    return tool_write(t, result.output.ptr, result.output.len);
  struct strbuf out = {.arena = t->arena};
  write_json(&r, &result, &out);
  status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}
