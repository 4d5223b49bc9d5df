// SPDX-License-Identifier: Apache-2.0
// See worker_faults.h. The linker redirects calls of the compiler here (--wrap).
#include "worker_faults.h"

#include "lowering/compile.h"

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/TargetMachine.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

bool compiles_in_worker;

static int *volatile nowhere;

bool __real_compile_kernel(struct arena *a, struct diag_engine *diag,
                           const struct compile_request *request, struct compile_result *ret);
bool __wrap_compile_kernel(struct arena *a, struct diag_engine *diag,
                           const struct compile_request *request, struct compile_result *ret);

// Fails as C++ code does when out of memory: checks the allocation and aborts.
static void eat(void) {
  for (;;) {
    char *p = malloc(1 << 16);
    if (!p)
      abort();
    memset(p, 1, 1 << 16);
  }
}

// The CPU has no such register.
static void end_llvm(void) {
  static const char text[] = "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                             "define i32 @f() {\n"
                             "  %a = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                             "  ret i32 %a\n"
                             "}\n";
  LLVMContextRef c = LLVMContextCreate();
  LLVMModuleRef m = NULL;
  char *error = NULL, *triple = LLVMGetDefaultTargetTriple();
  LLVMTargetRef t = NULL;
  LLVMMemoryBufferRef code = NULL;
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  if (LLVMParseIRInContext(
          c, LLVMCreateMemoryBufferWithMemoryRangeCopy(text, sizeof text - 1, "wrong"), &m,
          &error) ||
      LLVMGetTargetFromTriple(triple, &t, &error))
    _exit(99);
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(t, triple, "", "", LLVMCodeGenLevelDefault,
                                                         LLVMRelocPIC, LLVMCodeModelDefault);
  (void)LLVMTargetMachineEmitToMemoryBuffer(machine, m, LLVMObjectFile, &error, &code);
}

static void *end_later(void *nothing) {
  usleep(100000);
  (void)nothing;
  _exit(0);
}

bool __wrap_compile_kernel(struct arena *a, struct diag_engine *diag,
                           const struct compile_request *request, struct compile_result *ret) {
  struct str name = str_from(compiles_in_worker ? request->kernel : "");
  if (str_is(name, "aborts"))
    abort();
  if (str_is(name, "crashes"))
    *nowhere = 1;
  if (str_is(name, "is_killed"))
    kill(getpid(), SIGKILL);
  while (str_is(name, "hangs"))
    usleep(1000);
  if (str_is(name, "eats"))
    eat();
  while (str_is(name, "eats_arena"))
    (void)arena_alloc(a, 1 << 16, 8);
  if (str_is(name, "is_llvms_end"))
    end_llvm();
  pthread_t thread;
  if (str_is(name, "ends_later") && pthread_create(&thread, NULL, end_later, NULL) != 0)
    _exit(99);
  return __real_compile_kernel(a, diag, request, ret);
}
