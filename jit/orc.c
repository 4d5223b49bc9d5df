// SPDX-License-Identifier: Apache-2.0
// See orc.h.
#include "jit/orc.h"

#include "base/debug.h"
#include "base/memory.h"
#include "lowering/llvm/emit.h"
#include "runtime/cpu_symbols.h"
#include "runtime/runtime_internal.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/LLJITUtils.h>
#include <llvm-c/Orc.h>
#include <llvm-c/TargetMachine.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct orc {
  LLVMOrcLLJITRef jit;
  pthread_mutex_t lock; // guards what follows; held while an object is linked
  unsigned objects;
  char report[512]; // the session's report of a failure
};

// The session's report has more detail ("symbol not found: ...") than the lookup's error.
static void take_report(void *user, LLVMErrorRef error) {
  struct orc *o = user;
  char *text = LLVMGetErrorMessage(error);
  if (!o->report[0])
    snprintf(o->report, sizeof o->report, "%s", text);
  LLVMDisposeErrorMessage(text);
}

// Objects are registered by GDB's JIT interface (GDB manual, 31), which LLVM's library has;
// programs that it is linked into statically export no such symbol.
static void tell_debuggers(struct orc *o) {
  LLVMErrorRef error = LLVMOrcLLJITEnableDebugSupport(o->jit);
  if (!error)
    return;
  char *text = LLVMGetErrorMessage(error);
  debug_log(DEBUG_GDB, "kernels are not registered: %s", text);
  LLVMDisposeErrorMessage(text);
}

tile_status orc_create(struct orc **ret) {
  targets_initialise();
  struct orc *o = memory_zeroed(1, sizeof *o);
  if (!o)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for the CPU JIT");
  LLVMErrorRef error = LLVMOrcCreateLLJIT(&o->jit, NULL);
  if (!error && debug_on(DEBUG_GDB))
    tell_debuggers(o);
  if (error) {
    char *text = LLVMGetErrorMessage(error);
    tile_status s = status_set(TILE_INTERNAL, "the CPU JIT does not start: %s", text);
    LLVMDisposeErrorMessage(text);
    free(o);
    return s;
  }
  pthread_mutex_init(&o->lock, NULL);
  LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(o->jit), take_report, o);
  *ret = o;
  return TILE_OK;
}

void orc_destroy(struct orc *o) {
  if (!o)
    return;
  LLVMErrorRef error = LLVMOrcDisposeLLJIT(o->jit);
  if (error)
    LLVMConsumeError(error);
  pthread_mutex_destroy(&o->lock);
  free(o);
}

static tile_status link_failure(struct orc *o, const char *symbol, LLVMErrorRef error) {
  char *text = LLVMGetErrorMessage(error);
  tile_status s = status_set(TILE_INTERNAL, "CPU code of `%s` cannot be linked: %s", symbol,
                             o->report[0] ? o->report : text);
  LLVMDisposeErrorMessage(text);
  return s;
}

static LLVMErrorRef define_cpu_symbols(struct orc *o, LLVMOrcJITDylibRef lib) {
  struct cpu_symbol symbols[CPU_SYMBOL_MAX];
  LLVMOrcCSymbolMapPair pairs[CPU_SYMBOL_MAX] = {0};
  size_t count = cpu_symbols(symbols);
  for (size_t i = 0; i < count; i++) {
    pairs[i].Name = LLVMOrcLLJITMangleAndIntern(o->jit, symbols[i].name);
    pairs[i].Sym.Address = symbols[i].address;
    pairs[i].Sym.Flags.GenericFlags =
        LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
  }
  LLVMOrcMaterializationUnitRef unit =
      LLVMOrcAbsoluteSymbols(pairs, count); // takes ownership of the names
  LLVMErrorRef error = LLVMOrcJITDylibDefine(lib, unit);
  if (error)
    LLVMOrcDisposeMaterializationUnit(unit);
  return error;
}

// The result of a lookup; may be called by another thread.
struct lookup_result {
  pthread_mutex_t lock;
  pthread_cond_t came;
  bool done;
  LLVMErrorRef error;
  uint64_t address;
};

static void take_result(LLVMErrorRef error, LLVMOrcCSymbolMapPairs found, size_t count,
                        void *user) {
  struct lookup_result *a = user;
  pthread_mutex_lock(&a->lock);
  a->error = error;
  if (!error && count == 1)
    a->address = found[0].Sym.Address;
  a->done = true;
  pthread_cond_signal(&a->came);
  pthread_mutex_unlock(&a->lock);
}

static LLVMErrorRef lookup(struct orc *o, LLVMOrcJITDylibRef lib, const char *symbol,
                           uint64_t *ret_address) {
  struct lookup_result a = {.done = false};
  pthread_mutex_init(&a.lock, NULL);
  pthread_cond_init(&a.came, NULL);
  LLVMOrcCJITDylibSearchOrderElement order = {lib, LLVMOrcJITDylibLookupFlagsMatchAllSymbols};
  LLVMOrcCLookupSetElement wanted = {LLVMOrcLLJITMangleAndIntern(o->jit, symbol),
                                     LLVMOrcSymbolLookupFlagsRequiredSymbol};
  LLVMOrcExecutionSessionLookup(LLVMOrcLLJITGetExecutionSession(o->jit), LLVMOrcLookupKindStatic,
                                &order, 1, &wanted, 1, take_result, &a);
  pthread_mutex_lock(&a.lock);
  while (!a.done)
    pthread_cond_wait(&a.came, &a.lock);
  pthread_mutex_unlock(&a.lock);
  pthread_cond_destroy(&a.came);
  pthread_mutex_destroy(&a.lock);
  *ret_address = a.address;
  return a.error;
}

static LLVMErrorRef load_locked(struct orc *o, struct str object, const char *symbol,
                                uint64_t *ret_address) {
  char name[32];
  snprintf(name, sizeof name, "object %u", o->objects++);
  LLVMOrcJITDylibRef lib =
      LLVMOrcExecutionSessionCreateBareJITDylib(LLVMOrcLLJITGetExecutionSession(o->jit), name);
  LLVMErrorRef error = define_cpu_symbols(o, lib);
  if (error)
    return error;
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(object.ptr, object.len, name);
  error = LLVMOrcLLJITAddObjectFile(o->jit, lib, buffer); // takes ownership of the buffer
  return error ? error : lookup(o, lib, symbol, ret_address);
}

tile_status orc_load(struct orc *o, struct str object, const char *symbol, cpu_kernel_fn *ret) {
  uint64_t address = 0;
  pthread_mutex_lock(&o->lock);
  o->report[0] = '\0';
  LLVMErrorRef error = load_locked(o, object, symbol, &address);
  tile_status s = error ? link_failure(o, symbol, error) : TILE_OK;
  pthread_mutex_unlock(&o->lock);
  if (s == TILE_OK) {
    uintptr_t word = (uintptr_t)address;
    memcpy(ret, &word, sizeof word);
  }
  return s;
}

const char *orc_cpu_description(struct arena *a) {
  targets_initialise();
  return arena_printf(a, "%s %s", processor_name(NULL, a), processor_features(NULL, a));
}
