// SPDX-License-Identifier: Apache-2.0
// From source text to an artifact: stage after stage, stopping where the request says.
#include "lowering/compile.h"

#include "base/clock.h"
#include "base/debug.h"
#include "base/limits.h"
#include "base/trace.h"
#include "lang/tuning/tuning.h"
#include "lowering/build_id.h"
#include "lowering/cost/shared_map.h"
#include "lowering/llvm/emit.h"
#include "lowering/llvm/version.h" // made by Meson
#include "lowering/processor/processor.h"

#include <pthread.h>
#include <stdio.h>

enum { DEFAULT_WARPS = 4, DEFAULT_STAGES = 3, MAX_STAGES = LIMIT_STAGES };

const char *emit_kind_name(enum emit_kind k) {
  static const char *const names[EMIT_KIND_COUNT] = {
      [EMIT_AST] = "ast",   [EMIT_TILE] = "tile", [EMIT_TILEGPU] = "tilegpu",
      [EMIT_LLVM] = "llvm", [EMIT_PTX] = "ptx",   [EMIT_OBJECT] = "object",
      [EMIT_ASM] = "asm"};
  return (unsigned)k < EMIT_KIND_COUNT ? names[k] : "?";
}

// ---- version ----

static char version_text[160];

static void make_version(void) {
  char id[BUILD_ID_TEXT];
  unsigned major, minor, patch;
  build_id_text(id);
  LLVMGetVersion(&major, &minor, &patch);
  snprintf(version_text, sizeof version_text, "tile %s, LLVM %u.%u.%u, build %s", TILE_VERSION,
           major, minor, patch, id);
}

const char *compiler_version(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_version);
  return version_text;
}

// ---- one compilation ----

struct session {
  struct arena *a;
  struct diag_engine *diag;
  const struct compile_request *request;
  struct compile_request filled; // with the values of the kernel's decorators
  struct compile_result *ret;
  uint32_t num_warps, num_stages;
  bool may_take_fewer_stages; // the request asks for no number
  struct ir_context *c;
  MlirModule module, copy; // copy: the module before the passes, while they run; or null
  bool has_loop;
  LLVMContextRef llvm;
  bool (*body)(struct session *s);
  struct span at; // of the kernel's name, where it is known
  bool ok;
};

// Adds the time since *at to *total and moves *at.
static void lap(double *at, double *total) {
  double now = clock_ms();
  *total += now - *at;
  *at = now;
}

static bool no_errors(struct session *s) { return diag_error_count(s->diag) == 0; }

static void take_text(struct session *s, struct strbuf *b) {
  s->ret->output = (struct str){arena_strndup(s->a, strbuf_cstr(b), b->len), b->len};
  strbuf_finish(b);
}

static bool finish_with_ir(struct session *s) {
  if (s->request->no_text)
    return no_errors(s);
  struct strbuf text = {.arena = s->a};
  ir_print(mlirModuleGetOperation(s->module), false, &text);
  take_text(s, &text);
  return no_errors(s);
}

static bool check_options(struct session *s) {
  unsigned errors = diag_error_count(s->diag);
  const struct compile_request *r = s->request;
  s->num_warps = r->num_warps ? r->num_warps : DEFAULT_WARPS;
  s->num_stages = r->num_stages ? r->num_stages : DEFAULT_STAGES;
  if (!is_pow2(s->num_warps) || s->num_warps > r->target->max_warps)
    diag_help(diag_error(s->diag, SPAN_NONE, E0606, "a program cannot have %u warps", s->num_warps),
              "the number of warps is a power of two up to %u", r->target->max_warps);
  if (s->num_stages > MAX_STAGES)
    diag_help(diag_error(s->diag, SPAN_NONE, E0606, "a loop cannot have %u stages", s->num_stages),
              "the number of stages is from 1 to %d", MAX_STAGES);
  if (r->num_ctas > 1 && !kernel_ctas_are_valid(r->num_ctas))
    diag_help(
        diag_error(s->diag, SPAN_NONE, E0606, "a cluster cannot have %u programs", r->num_ctas),
        "`num_ctas` is 1, 2, 4, 8 or %d", KERNEL_MAX_CTAS);
  return diag_error_count(s->diag) == errors;
}

// ---- stages ----

static bool open_context(struct session *s) {
  s->c = ir_context_create(s->a, s->diag);
  if (!s->c && no_errors(s))
    diag_error(s->diag, SPAN_NONE, E0991, "out of memory for the compiler's context");
  return s->c != NULL;
}

static bool run_passes_once(struct session *s, const struct pass_options *options, uint32_t refused,
                            uint32_t *ret_fewer, bool *ret_stopped) {
  struct pass_context p = {.c = s->c,
                           .module = s->module,
                           .target = s->request->target,
                           .num_warps = s->num_warps,
                           .num_stages = s->num_stages,
                           .refused_stages = refused,
                           .ret_fewer_stages = ret_fewer,
                           .scratch = arena_create_nested(s->a)};
  double at = clock_ms();
  struct trace_slice slice = trace_begin(TRACE_COMPILE, "passes");
  bool ok = passes_run(&p, options, ret_stopped);
  trace_end(&slice, NULL);
  arena_destroy(p.scratch);
  lap(&at, &s->ret->timing.passes_ms);
  return ok;
}

static bool find_loop(MlirOperation op, void *user) {
  struct session *s = user;
  s->has_loop |= op_is(s->c, op, OP_SCF_FOR);
  return !s->has_loop;
}

// Runs the passes. Returns the number of stages to try instead, with s->module as it was before, or
// 0; then *ret_ok is the outcome.
static uint32_t try_passes(struct session *s, const struct pass_options *options, uint32_t refused,
                           bool *ret_stopped, bool *ret_ok) {
  s->copy = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(s->module)));
  unsigned messages = diag_count(s->diag);
  uint32_t fewer = 0;
  *ret_ok = run_passes_once(s, options, refused, &fewer, ret_stopped);
  if (fewer) {
    diag_forget(s->diag, messages);
    MlirModule tried = s->module;
    s->module = s->copy;
    s->copy = tried;
  }
  mlirModuleDestroy(s->copy);
  s->copy = (MlirModule){NULL};
  return fewer;
}

static void limit_registers(struct session *s) {
  if (s->request->max_registers)
    mlirOperationSetAttributeByName(mlirModuleGetOperation(s->module),
                                    mlirStringRefCreateFromCString("tilegpu.max_registers"),
                                    attr_i32(s->c, (int32_t)s->request->max_registers));
}

static void ask_for_pdl(struct session *s) {
  if (s->request->launch_pdl && target_has_pdl(s->request->target))
    mlirOperationSetAttributeByName(mlirModuleGetOperation(s->module),
                                    mlirStringRefCreateFromCString("tilegpu.launch_pdl"),
                                    mlirUnitAttrGet(s->c->mlir));
}

static void choose_warps(struct session *s) {
  enum warp_specialize w = s->request->warp_specialize;
  if (w != WARP_SPECIALIZE_AUTO)
    mlirOperationSetAttributeByName(mlirModuleGetOperation(s->module),
                                    mlirStringRefCreateFromCString("tile.warp_specialize"),
                                    attr_bool(s->c, w == WARP_SPECIALIZE_ON));
}

static void ask_for_clusters(struct session *s) {
  if (s->request->num_ctas > 1)
    mlirOperationSetAttributeByName(mlirModuleGetOperation(s->module),
                                    mlirStringRefCreateFromCString("tile.num_ctas"),
                                    attr_i32(s->c, (int32_t)s->request->num_ctas));
}

// A default number of stages that does not fit in shared memory is reduced.
static bool run_passes(struct session *s, const struct pass_options *options, bool *ret_stopped) {
  uint32_t refused = 0, fewer = 0;
  bool ok = false;
  ir_walk(mlirModuleGetOperation(s->module), find_loop, s);
  limit_registers(s);
  ask_for_pdl(s);
  ask_for_clusters(s);
  choose_warps(s);
  if (!s->may_take_fewer_stages || !s->has_loop)
    return run_passes_once(s, options, 0, NULL, ret_stopped) && no_errors(s);
  while ((fewer = try_passes(s, options, refused, ret_stopped, &ok)) != 0) {
    refused = refused ? refused : s->num_stages;
    s->num_stages = fewer;
  }
  return ok && no_errors(s);
}

// After the passes: the callback `inspect`.
static void finish_module(struct session *s) {
  if (s->request->inspect)
    s->request->inspect(s->request->inspect_user, s->c, s->module);
}

// Appends comments that name the buffers.
static void name_buffers(struct session *s) {
  struct strbuf text = {.arena = s->a};
  shared_map_write(s->c, s->module, &text);
  if (text.len > 0) {
    struct str names = {strbuf_cstr(&text), text.len}, *out = &s->ret->output;
    char *all = arena_alloc(s->a, out->len + names.len + 1, 1);
    memcpy(all, out->ptr, out->len);
    memcpy(all + out->len, names.ptr, names.len + 1);
    *out = (struct str){all, out->len + names.len};
  }
  strbuf_finish(&text);
}

static bool take_artifact(struct session *s, LLVMModuleRef module) {
  const struct compile_request *r = s->request;
  struct trace_slice generation = trace_begin(TRACE_COMPILE, "codegen");
  bool ok = true;
  if (r->emit == EMIT_LLVM)
    s->ret->output = llvm_text(module, s->a);
  else
    ok = codegen(module, r->target, r->emit == EMIT_ASM, s->a, s->diag, &s->ret->output);
  trace_end(&generation, NULL);
  return ok;
}

// Loops over vectors, unless accesses are checked, or somebody looks at passes or at the
// layouts of threads.
static bool may_use_vectors(const struct session *s) {
  const struct compile_request *r = s->request;
  const struct pass_options *o = &r->passes;
  return r->target->is_cpu && !r->check && !r->inspect && r->emit >= EMIT_LLVM && !o->only &&
         !o->stop_after && !o->print_after && !o->dump_dir;
}

// *ret_done: the kernel is compiled; the result is whether that was without an error.
static bool compile_to_vectors(struct session *s, bool *ret_done) {
  struct compile_timing *t = &s->ret->timing;
  struct refusal refusal = {.op = {NULL}};
  struct pass_options options = s->request->passes;
  bool stopped = false;
  options.pipeline = debug_on(DEBUG_GDB) ? PIPELINE_DEBUGGER : PIPELINE_PROCESSOR;
  s->copy = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(s->module)));
  bool ok = run_passes_once(s, &options, 0, NULL, &stopped) && no_errors(s);
  double at = clock_ms();
  s->llvm = LLVMContextCreate();
  LLVMModuleRef code = ok ? emit_processor(s->c, s->module, s->request->target, s->num_warps,
                                           s->num_stages, s->llvm, &s->ret->info, &refusal)
                          : NULL;
  lap(&at, &t->emit_ms);
  ok = ok && no_errors(s);
  *ret_done = code || !ok;
  if (code) {
    ok = take_artifact(s, code);
    LLVMDisposeModule(code);
    lap(&at, &t->codegen_ms);
  } else if (ok) {
    struct span where = mlirOperationIsNull(refusal.op) ? SPAN_NONE : op_span(s->c, refusal.op);
    debug_log(DEBUG_CPU, "not in vectors: %s", refusal.why ? refusal.why : "not known");
    diag_remark(s->diag, where, "processor", "runs thread by thread, not in vectors: %s",
                refusal.why ? refusal.why : "not known");
    LLVMContextDispose(s->llvm);
    s->llvm = NULL;
  }
  mlirModuleDestroy(s->module);
  s->module = s->copy;
  s->copy = (MlirModule){NULL};
  return ok;
}

// From tilegpu IR to the artifact.
static bool lower(struct session *s) {
  const struct compile_request *r = s->request;
  struct compile_timing *t = &s->ret->timing;
  double at = clock_ms();
  s->llvm = LLVMContextCreate();
  struct trace_slice emission = trace_begin(TRACE_COMPILE, "emission");
  LLVMModuleRef module = emit_llvm(s->c, s->module, r->target, s->num_warps, s->num_stages,
                                   r->check, s->llvm, &s->ret->info);
  trace_end(&emission, NULL);
  lap(&at, &t->emit_ms);
  if (!module)
    return false;
  bool ok = take_artifact(s, module);
  if (ok && r->emit == EMIT_PTX)
    name_buffers(s);
  LLVMDisposeModule(module);
  lap(&at, &t->codegen_ms);
  return ok;
}

// Options that the request leaves to the kernel's decorators.
static bool fill_defaults(struct session *s, const struct lang_unit *unit) {
  struct compile_request *r = &s->filled;
  struct lang_defaults_request q = {.unit = unit,
                                    .kernel = r->kernel,
                                    .known = lang_known_of(s->a, r->bindings, r->binding_count),
                                    .known_count = r->binding_count,
                                    .num_warps = r->num_warps,
                                    .num_stages = r->num_stages};
  struct lang_defaults d;
  if (!lang_defaults(s->a, s->diag, &q, &d))
    return false;
  size_t n = r->binding_count;
  struct lang_binding *all = arena_array(s->a, struct lang_binding, n + d.setting_count + 1);
  for (size_t i = 0; i < n; i++)
    all[i] = r->bindings[i];
  for (size_t i = 0; i < d.setting_count; i++)
    all[n + i] = (struct lang_binding){.name = d.settings[i].name,
                                       .kind = BIND_CONSTANT,
                                       .dtype = DTYPE_NONE,
                                       .divisible_by = 1,
                                       .text = d.settings[i].text};
  r->bindings = all;
  r->binding_count = n + d.setting_count;
  r->num_warps = r->num_warps ? r->num_warps : d.num_warps;
  r->num_stages = r->num_stages ? r->num_stages : d.num_stages;
  r->max_registers = r->max_registers ? r->max_registers : d.max_registers;
  r->num_ctas = r->num_ctas ? r->num_ctas : d.num_ctas;
  r->warp_specialize = r->warp_specialize ? r->warp_specialize : d.warp_specialize;
  return true;
}

// Blocks of tensor descriptors that the kernel's decorators set.
static bool fill_blocks(struct session *s, const struct lang_unit *unit) {
  struct compile_request *r = &s->filled;
  struct lang_binding *all = arena_array(s->a, struct lang_binding, r->binding_count + 1);
  bool any = false;
  for (size_t i = 0; i < r->binding_count; i++) {
    all[i] = r->bindings[i];
    any |= all[i].kind == BIND_DESCRIPTOR;
  }
  if (!any)
    return true;
  r->bindings = all;
  return lang_set_blocks(s->a, s->diag, unit, r->kernel, all, r->binding_count);
}

// The request's unit, or its source parsed to one. NULL after errors.
static const struct lang_unit *read_unit(struct session *s, double *at) {
  const struct compile_request *r = s->request;
  struct lang_imports imports = {
      .folders = r->folders, .folder_count = r->folder_count, .is_detached = r->is_detached};
  struct lang_outer outer = {r->target->name, &imports, r->bindings, r->binding_count};
  if (r->unit && lang_unit_serves(r->unit, &outer))
    return r->unit;
  struct lang_unit *unit = lang_unit_read(s->a, s->diag, r->source);
  lap(at, &s->ret->timing.parse_ms);
  if (!unit || !(no_errors(s) || lang_unit_is_whole(unit)))
    return NULL;
  if (r->emit == EMIT_AST) // the tree as it was parsed
    return unit;
  lang_unit_resolve(unit, &outer);
  return unit;
}

static bool compile_source(struct session *s) {
  s->filled = *s->request;
  s->may_take_fewer_stages = s->request->num_stages == 0;
  const struct compile_request *r = s->request = &s->filled;
  struct compile_timing *t = &s->ret->timing;
  double at = clock_ms();
  const struct lang_unit *unit = read_unit(s, &at);
  if (!unit)
    return false;
  if (r->emit == EMIT_AST) {
    struct strbuf text = {.arena = s->a};
    lang_unit_print(unit, &text);
    take_text(s, &text);
    return no_errors(s);
  }
  s->at = r->kernel ? lang_kernel_span(unit, r->kernel) : SPAN_NONE;
  struct lang_imports imports = lang_unit_imports(s->a, unit);
  if (!r->is_complete && !(fill_defaults(s, unit) && check_options(s)))
    return false;
  if (!fill_blocks(s, unit))
    return false;
  if (!open_context(s))
    return false;
  struct lang_options options = {.kernel = r->kernel,
                                 .bindings = r->bindings,
                                 .binding_count = r->binding_count,
                                 .target = r->target->name,
                                 .num_warps = s->num_warps,
                                 .debug = r->debug,
                                 .debug_values = r->target->is_cpu && debug_on(DEBUG_GDB),
                                 .static_print = r->static_print,
                                 .imports = &imports};
  struct trace_slice slice = trace_begin(TRACE_COMPILE, "front end");
  s->module = lang_emit(s->c, unit, &options);
  trace_end(&slice, NULL);
  s->ret->dependencies = imports.dependencies.at;
  s->ret->dependency_count = imports.dependencies.len;
  lap(&at, &t->frontend_ms);
  if (mlirModuleIsNull(s->module) || !no_errors(s))
    return false;
  if (r->emit == EMIT_TILE && !r->passes.only)
    return finish_with_ir(s);
  bool stopped = false, done = false;
  if (may_use_vectors(s)) {
    bool ok = compile_to_vectors(s, &done);
    if (done)
      return ok;
  }
  if (!run_passes(s, &r->passes, &stopped))
    return false;
  finish_module(s);
  if (stopped || r->passes.only || r->emit == EMIT_TILE)
    return finish_with_ir(s);
  if (r->emit == EMIT_TILEGPU)
    return finish_with_ir(s) &&
           describe_kernel(s->c, s->module, r->target, s->num_warps, s->num_stages, &s->ret->info);
  return lower(s);
}

static bool needs_layout(MlirOperation op, void *user) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirType t = mlirValueGetType(mlirOperationGetResult(op, i));
    if (type_is_tensor(t) && mlirAttributeIsNull(tensor_encoding(t)))
      *(bool *)user = true;
  }
  return true;
}

static bool count_operation(MlirOperation op, void *user) {
  (void)op;
  ++*(size_t *)user;
  return true;
}

static bool check_operations(struct session *s) {
  size_t count = 0;
  ir_walk(mlirModuleGetOperation(s->module), count_operation, &count);
  return count <= LIMIT_OPERATIONS || limit_error(s->diag, SPAN_NONE, LIMIT_ID_OPERATIONS, count);
}

static bool compile_ir(struct session *s) {
  const struct compile_request *r = s->request;
  double at = clock_ms();
  if (!open_context(s))
    return false;
  s->module = ir_parse(s->c, r->source->name, r->source->text);
  lap(&at, &s->ret->timing.parse_ms);
  if (mlirModuleIsNull(s->module) || !no_errors(s) ||
      !ir_verify(s->c, mlirModuleGetOperation(s->module)))
    return false;
  if (!check_operations(s))
    return false;
  struct pass_options last = r->passes;
  last.pipeline = PIPELINE_SHARED_MEMORY;
  bool is_tile = false, stopped = false;
  ir_walk(mlirModuleGetOperation(s->module), needs_layout, &is_tile);
  if (r->passes.only || (r->emit > EMIT_TILE && is_tile)) {
    if (!run_passes(s, &r->passes, &stopped))
      return false;
  } else if (r->emit > EMIT_TILEGPU && !run_passes(s, &last, &stopped)) {
    return false;
  }
  if (r->passes.only || r->emit > EMIT_TILE)
    finish_module(s);
  if (stopped || r->passes.only || r->emit <= EMIT_TILEGPU)
    return finish_with_ir(s);
  return lower(s);
}

// ---- entry points ----

static void close_session(struct session *s) {
  if (s->llvm)
    LLVMContextDispose(s->llvm);
  if (!mlirModuleIsNull(s->module))
    mlirModuleDestroy(s->module);
  if (!mlirModuleIsNull(s->copy))
    mlirModuleDestroy(s->copy);
  ir_context_destroy(s->c);
}

static void run_session(void *session) {
  struct session *s = session;
  s->ok = check_options(s) && s->body(s);
}

// Goes on to the handler of the caller, if there is one.
static bool out_of_memory(struct diag_engine *diag) {
  diag_error(diag, SPAN_NONE, E0991, "out of memory");
  return false;
}

static bool compile_with(struct arena *a, struct diag_engine *diag,
                         const struct compile_request *request, struct compile_result *ret,
                         bool (*body)(struct session *s)) {
  *ret = (struct compile_result){0};
  // On the arena, so that its fields survive the jump.
  struct session *s = arena_new(a, struct session);
  if (!s)
    return out_of_memory(diag);
  *s = (struct session){.a = a, .diag = diag, .request = request, .ret = ret, .body = body};
  struct trace_slice slice =
      trace_begin(TRACE_COMPILE, request->kernel ? request->kernel : request->source->name);
  bool done = arena_guard(a, run_session, s);
  close_session(s);
  trace_end(&slice, &(struct trace_detail){
                        .file = request->source->name,
                        .line = s->at.source ? source_line_col(s->at.source, s->at.begin).line : 1,
                        .target = request->target->name});
  return done ? s->ok && diag_error_count(diag) == 0 : out_of_memory(diag);
}

bool compile_kernel(struct arena *a, struct diag_engine *diag,
                    const struct compile_request *request, struct compile_result *ret) {
  return compile_with(a, diag, request, ret, compile_source);
}

bool compile_mlir(struct arena *a, struct diag_engine *diag, const struct compile_request *request,
                  struct compile_result *ret) {
  return compile_with(a, diag, request, ret, compile_ir);
}
