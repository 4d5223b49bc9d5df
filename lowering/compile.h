// SPDX-License-Identifier: Apache-2.0
// The compiler as one call: source text and a specialisation in, an artifact out.
#ifndef TILE_LOWERING_COMPILE_H
#define TILE_LOWERING_COMPILE_H

#include "base/diag.h"
#include "base/kernel_info.h"
#include "base/warp_specialize.h"
#include "lang/frontend.h"
#include "lowering/pass.h"

enum emit_kind {
  EMIT_AST,
  EMIT_TILE,
  EMIT_TILEGPU,
  EMIT_LLVM,
  EMIT_PTX,
  EMIT_OBJECT,
  EMIT_ASM,
  EMIT_KIND_COUNT
};
const char *emit_kind_name(enum emit_kind k); // "ast", ..., "asm"

struct compile_request {
  const struct source *source;
  // The same, parsed; used if it was resolved for this target, these folders and these bindings.
  // NULL: not parsed yet.
  const struct lang_unit *unit;
  const char *kernel;            // NULL: the only one of the file
  struct lang_binding *bindings; // what is known about the parameters
  size_t binding_count;
  const struct target *target;
  uint32_t num_warps, num_stages; // 0: default (4, 3)
  uint32_t max_registers;         // GPUs: a bound per thread; 0: none
  uint32_t
      num_ctas; // programs of a cluster: 1, 2, 4, 8 or 16; 0: default (1). Ignored before sm_90
  // Programmatic dependent launch; ignored by targets without it (target_has_pdl).
  bool launch_pdl;
  enum warp_specialize warp_specialize;
  enum emit_kind
      emit;   // EMIT_PTX for GPUs, EMIT_OBJECT or EMIT_ASM for the CPU, or an earlier stage
  bool check; // cpu: thread by thread, and check every access (tile_cpu_check)
  bool debug; // device_assert is kept (as with --check)
  struct pass_options passes;
  struct strbuf *static_print; // where static_print writes; NULL: nowhere
  // Folders to search for imported modules, besides the source's own.
  const char *const *folders;
  size_t folder_count;
  bool is_detached; // the source is not from a file: there are no modules beside it
  bool is_complete; // bindings are complete: decorators are not consulted (lang/tuning/tuning.h)
  // Called with the module once the passes are done, before it is printed or emitted, for tools
  // that look at values; not for `ast`, nor for `tile` when no passes run. The module must not be
  // changed; it and `c` are freed after the compilation. NULL: no callback.
  void (*inspect)(void *user, struct ir_context *c, MlirModule module);
  void *inspect_user;
  bool no_text; // of `tile` and `tilegpu`: the IR is not printed; for callers of `inspect`
};

struct compile_timing {
  double parse_ms, frontend_ms, passes_ms, emit_ms, codegen_ms;
};

struct compile_result {
  struct str output;       // text of the stage, or the object file; on the arena
  struct kernel_info info; // filled from EMIT_TILEGPU on
  struct compile_timing timing;
  // Paths searched for imports; on the arena.
  const struct lang_dependency *dependencies;
  size_t dependency_count;
};

// True when `diag` has no errors. All results are on `a`; LLVM's and MLIR's memory is freed before
// it returns. Thread-safe for distinct arenas. `diag` must be on `a` too.
bool compile_kernel(struct arena *a, struct diag_engine *diag,
                    const struct compile_request *request, struct compile_result *ret);

// The same from the text of IR (`request->source` is an .mlir file): parsed, verified, then either
// the passes of `request->passes.only`, or those that the stage needs: the pipeline, if there are
// tiles without layouts. `kernel` and `bindings` are not used.
bool compile_mlir(struct arena *a, struct diag_engine *diag, const struct compile_request *request,
                  struct compile_result *ret);

// Version text that is part of every cache key: project version, LLVM version, build id.
const char *compiler_version(void);

#endif
