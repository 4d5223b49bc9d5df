// SPDX-License-Identifier: Apache-2.0
// LLVM IR to PTX, object code or assembly: one target machine per call, a short pass pipeline, the
// code generator. The pipeline is the minimum for these kernels: the emission builds SSA form,
// except for positions in rings, so that inlining, SROA and the vectorisers have nothing to do.
// Unused phis of loops (the pointers inside a vector) are removed first.
#include "base/debug.h"
#include "lowering/llvm/emit.h"
#include "lowering/llvm/version.h" // made by Meson

#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <pthread.h>
#include <stdlib.h>

// Repeating early-cse and simplifycfg changes no kernel of graphs and tutorials.
static const char pipeline[] =
    "function(mem2reg,adce,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "simplifycfg<no-sink-common-insts>)";

// Loops over vectors: what does not change leaves them, including loads of what they do not write.
static const char strips_pipeline[] =
    "function(mem2reg,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(loop-rotate,licm),early-cse<memssa>,instcombine<no-verify-fixpoint>,adce,"
    "simplifycfg)";

static bool is_strips(LLVMModuleRef module) {
  return LLVMGetModuleFlag(module, STRIPS_FLAG, sizeof STRIPS_FLAG - 1) != NULL;
}

// LLVM's straight-line strength reduction compares every address with every other, which took two
// thirds of the time to PTX, and does not change our kernels: the emission computes addresses from
// common parts. N-ary reassociation does the same and does not change them either. CodeGenPrepare
// starts again at a function's first instruction after each comparison that it moves, unless the
// function is "huge", here one of more than a block: then only at the block's first one (a layer
// norm with 256 elements a thread compiles in a quarter of the time). None of them can be set per
// compilation, so they are set for the process.
static void set_slow_passes(void) {
  static const char *const options[] = {"tile", "-opt-disable=slsr,nary-reassociate",
                                        "-cgpp-huge-func=1"};
  LLVMParseCommandLineOptions(COUNT_OF(options), options, NULL);
}

#ifdef TILE_LLVM_X86
// From LLVM 22 on, a masked load becomes an operand of an instruction with the same mask. That is
// wrong where the instruction moves elements (vpshufd), and a later pass makes a load without a
// mask of it again, which may lie beyond the buffer. The option keeps loads as they are after
// selection.
static void keep_masked_loads(void) {
  static const char *const options[] = {"tile", "-disable-spill-fusing"};
  LLVMParseCommandLineOptions(COUNT_OF(options), options, NULL);
}
#endif

static void register_targets(void) {
  set_slow_passes();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
#ifdef TILE_LLVM_X86
  keep_masked_loads();
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
#endif
#ifdef TILE_LLVM_AARCH64
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
#endif
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
}

void targets_initialise(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_targets);
}

static bool report(struct diag_engine *diag, const char *what, const char *text) {
  diag_error(diag, SPAN_NONE, E0990, "LLVM %s: %s", what, text);
  return false;
}

// The time of LLVM's register allocator and scheduler for the CPU is quadratic in a function's
// size. Beyond this many instructions of a module (about 100 elements a thread in an elementwise
// kernel) code is generated without optimisation, in linear time, and runs two to four times
// slower.
enum { LARGE_FOR_CPU = 3000 };

static LLVMCodeGenOptLevel level_for(const struct target *t, bool large) {
  if (!t->is_cpu)
    return LLVMCodeGenLevelDefault; // the next level runs GVN twice more without gain
  return large ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault;
}

static unsigned ptx_version_for(const struct target *t, LLVMModuleRef module) {
  LLVMMetadataRef flag = LLVMGetModuleFlag(module, PTX_VERSION_FLAG, sizeof PTX_VERSION_FLAG - 1);
  if (!flag)
    return t->ptx_version;
  LLVMValueRef value = LLVMMetadataAsValue(LLVMGetModuleContext(module), flag);
  unsigned needed = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(value, 0));
  return needed > t->ptx_version ? needed : t->ptx_version;
}

static LLVMTargetMachineRef machine_for(const struct target *t, LLVMModuleRef module, bool large,
                                        struct arena *a, struct diag_engine *diag) {
  char *message = NULL;
  LLVMTargetRef target;
  LLVMTargetMachineRef machine = NULL;
  const char *triple = t->is_cpu ? processor_triple(t, a) : "nvptx64-nvidia-cuda";
  if (LLVMGetTargetFromTriple(triple, &target, &message)) {
    report(diag, "was built without a code generator for the target", message);
  } else {
    machine =
        LLVMCreateTargetMachine(target, triple, t->is_cpu ? processor_name(t, a) : t->name,
                                t->is_cpu ? processor_code_features(t, a)
                                          : arena_printf(a, "+ptx%u", ptx_version_for(t, module)),
                                level_for(t, large), LLVMRelocPIC, LLVMCodeModelDefault);
    if (!machine)
      report(diag, "makes no code generator for the target", t->name);
  }
  LLVMDisposeMessage(message);
  return machine;
}

static bool optimise(LLVMModuleRef module, LLVMTargetMachineRef machine, struct diag_engine *diag) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error =
      LLVMRunPasses(module, is_strips(module) ? strips_pipeline : pipeline, machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!error)
    return true;
  char *text = LLVMGetErrorMessage(error);
  report(diag, "passes failed", text);
  LLVMDisposeErrorMessage(text);
  return false;
}

// Code generation reports errors to the context, whose default handler would end the process.
static void keep_message(LLVMDiagnosticInfoRef info, void *user) {
  char **message = user;
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || *message)
    return;
  *message = LLVMGetDiagInfoDescription(info);
}

static bool generate(LLVMModuleRef module, LLVMTargetMachineRef machine, bool is_assembly,
                     struct arena *a, struct diag_engine *diag, struct str *ret) {
  LLVMMemoryBufferRef buffer = NULL;
  LLVMContextRef context = LLVMGetModuleContext(module);
  char *message = NULL, *told = NULL;
  LLVMContextSetDiagnosticHandler(context, keep_message, &told);
  bool failed = LLVMTargetMachineEmitToMemoryBuffer(
      machine, module, is_assembly ? LLVMAssemblyFile : LLVMObjectFile, &message, &buffer);
  LLVMContextSetDiagnosticHandler(context, NULL, NULL);
  if (failed || told)
    report(diag, "code generation failed", told ? told : message);
  LLVMDisposeMessage(told);
  LLVMDisposeMessage(message);
  if (!failed && told)
    LLVMDisposeMemoryBuffer(buffer);
  if (failed || told)
    return false;
  ret->len = LLVMGetBufferSize(buffer);
  // With a final NUL, since the CUDA driver takes PTX as a C string.
  char *copy = arena_alloc(a, ret->len + 1, 16);
  memcpy(copy, LLVMGetBufferStart(buffer), ret->len);
  ret->ptr = copy;
  LLVMDisposeMemoryBuffer(buffer);
  return true;
}

unsigned instruction_count(LLVMModuleRef module) {
  unsigned n = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        n++;
  return n;
}

static void describe_module(LLVMModuleRef module, LLVMTargetMachineRef machine) {
  char *triple = LLVMGetTargetMachineTriple(machine);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetTarget(module, triple);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
  LLVMDisposeMessage(triple);
}

bool codegen(LLVMModuleRef module, const struct target *target, bool is_assembly, struct arena *a,
             struct diag_engine *diag, struct str *ret) {
  targets_initialise();
  LLVMTargetMachineRef machine = machine_for(target, module, false, a, diag);
  if (!machine)
    return false;
  describe_module(module, machine);
  bool for_gdb = target->is_cpu && debug_on(DEBUG_GDB); // statements keep their order
  bool ok = for_gdb || optimise(module, machine, diag);
  bool is_large = target->is_cpu && !is_strips(module) && instruction_count(module) > LARGE_FOR_CPU;
  if (ok && (for_gdb || is_large)) {
    LLVMDisposeTargetMachine(machine);
    machine = machine_for(target, module, true, a, diag);
    ok = machine != NULL;
  }
  if (ok)
    schedule_module(module, target, a);
  if (ok && target->is_cpu)
    cpu_rounds_bf16(module);
  ok = ok && generate(module, machine, is_assembly || !target->is_cpu, a, diag, ret);
  if (ok && LLVMGetModuleFlag(module, WGMMA_FLAG, sizeof WGMMA_FLAG - 1))
    *ret = shift_loop_steps(*ret, a);
  if (machine)
    LLVMDisposeTargetMachine(machine);
  return ok;
}

struct str llvm_text(LLVMModuleRef module, struct arena *a) {
  char *text = LLVMPrintModuleToString(module);
  struct str s = {arena_strdup(a, text), strlen(text)};
  LLVMDisposeMessage(text);
  return s;
}
