// SPDX-License-Identifier: Apache-2.0
// The language's front door: source text to a checked `tile` module.
#ifndef TILE_LANG_FRONTEND_H
#define TILE_LANG_FRONTEND_H

#include "base/diag.h"
#include "base/vec.h"
#include "mlir-dialects/ir.h"

struct ast_module; // lang/syntax/ast.h

// What a launch, --signature or -D says about one parameter. A parameter's own annotation
// (`x: ptr[f32]`, `n: i32 % 16`, `BLOCK: constexpr = 1024`) serves where nothing is said here.
enum lang_binding_kind { BIND_POINTER, BIND_SCALAR, BIND_CONSTANT };
struct lang_binding {
  const char *name;
  enum lang_binding_kind kind;
  enum dtype dtype;      // BIND_POINTER: of what it points to; BIND_SCALAR: its own
  uint32_t divisible_by; // 1: nothing known
  bool is_one; // BIND_SCALAR that equals 1: becomes the constant 1, and no run-time parameter
  // BIND_CONSTANT: the text of a literal as on a command line: 128, 0x10, 1.5, True, "relu", or a
  // type name (float16, tl.float16) or None
  const char *text;
};

// Parses a file; NULL only if it could not be read as tokens at all. Errors are in `diag`; several
// are collected. The tree lives on `a`.
struct ast_module *lang_parse(struct arena *a, struct diag_engine *diag,
                              const struct source *source);
// The same of a file of Python, where functions that nothing decorates belong to the host.
struct ast_module *lang_parse_python(struct arena *a, struct diag_engine *diag,
                                     const struct source *source);
void ast_print(const struct ast_module *m,
               struct strbuf *out); // S-expressions, one statement a line

// Names of the kernels of a file (functions marked as such), in order.
size_t lang_kernels(const struct ast_module *m, const char *const **ret_names);

// One parameter of a kernel as the source declares it, for callers that must choose bindings.
struct lang_param {
  const char *name;
  bool is_constexpr;
  bool has_default;
  const char *default_text; // as of -D, where the default is a literal or a name of one; else NULL
  bool is_typed;            // annotation gives its type
  bool is_pointer;          // if typed
  bool is_const;            // const_ptr[...]: never stored through
  enum dtype dtype;         // if typed; of what a pointer points to
  uint32_t divisible_by;    // from the annotation's hint, else 1
  struct span span;
};
// The parameters of kernel `name` (NULL: the only one). False with a diagnostic (E0401 unknown,
// E0402 several and none named) if there is no such kernel.
bool lang_kernel_params(struct arena *a, struct diag_engine *diag, const struct ast_module *m,
                        const char *name, const char **ret_name, struct lang_param **ret_params,
                        size_t *ret_count);
// Where that kernel's name stands.
struct span lang_kernel_span(const struct ast_module *m, const char *name);

// A place in which a file was looked for. If every one is as it was, so is what was imported.
struct lang_probe {
  const char *path;
  bool exists;
  uint8_t digest[32]; // SHA-256 of the file
};

// Where the files are that imports name, and which were read.
struct lang_imports {
  const char *const *folders;
  size_t folder_count;
  bool is_detached;              // the kernel's text is not from a file: nothing stands beside it
  VEC(struct lang_probe) probes; // filled by lang_emit, on the context's arena
};
// Fills the probes with the files of those imports that device code of `m` mentions, whatever
// kernels use of them, and of those that theirs mention or pass on. On `a`; what is not found or
// cannot be read is passed over.
void lang_import_files(struct arena *a, const struct ast_module *m, struct lang_imports *imports);

// What conditions of a file's outer level are decided by. Which definitions there are follows from
// them: to be called before other questions are asked of a tree. `imports` may be NULL.
struct lang_outer {
  const char *target;
  struct lang_imports *imports;
  const struct lang_binding *bindings; // BIND_CONSTANT, of no parameter: of a constant of the file
  size_t binding_count;
};
void lang_settle(struct arena *a, struct ast_module *m, const struct lang_outer *o);

struct lang_options {
  const char *kernel; // NULL: the only one
  const struct lang_binding *bindings;
  size_t binding_count;
  const char *target; // for compile-time questions of the source
  uint32_t num_warps;
  bool debug;                   // keep device_assert
  struct strbuf *static_print;  // where static_print writes; NULL: nowhere
  struct lang_imports *imports; // NULL: no other files are read
};

// Types, shapes, compile-time evaluation, emission of `tile` IR for one kernel. A null module after
// errors. The kernel's func.func has tile.kernel, and on each argument tile.name (string),
// tile.dtype (string, "u32" where signedness matters), tile.divisibility (i32) and tile.const
// (unit, never stored through) where known.
MlirModule lang_emit(struct ir_context *c, const struct ast_module *m,
                     const struct lang_options *options);

#endif
