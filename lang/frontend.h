// SPDX-License-Identifier: Apache-2.0
// The front end's interface: source text to a checked `tile` module.
#ifndef TILE_LANG_FRONTEND_H
#define TILE_LANG_FRONTEND_H

#include "base/diag.h"
#include "base/vec.h"
#include "mlir-dialects/ir.h"

// What a launch, --signature or -D says about one parameter. A parameter's own annotation (`x:
// ptr[f32]`, `n: i32 % 16`, `BLOCK: constexpr = 1024`) is used where nothing is given here.
enum lang_binding_kind { BIND_POINTER, BIND_SCALAR, BIND_CONSTANT, BIND_DESCRIPTOR };

// The blocks of a tensor descriptor.
enum { LANG_BLOCK_RANK = 5 };
struct lang_block {
  uint32_t rank;                   // 1 to LANG_BLOCK_RANK; 0: that of the annotation
  uint32_t shape[LANG_BLOCK_RANK]; // elements; 0: that of the annotation
  bool pads_nan;                   // elements outside of the tensor are NaN instead of zero
};

struct lang_binding {
  const char *name;
  enum lang_binding_kind kind;
  // BIND_POINTER: of the pointee; BIND_SCALAR: its own; BIND_DESCRIPTOR: of an element
  enum dtype dtype;
  uint32_t divisible_by; // 1: nothing known
  // BIND_POINTER that is not a multiple of 16 bytes: descriptors of it make no use of alignment,
  // which they assume otherwise
  bool is_unaligned;
  bool is_one; // BIND_SCALAR that equals 1: becomes the constant 1, and no run-time parameter
  struct lang_block block; // BIND_DESCRIPTOR
  uint32_t
      sizes_divisible_by[LANG_BLOCK_RANK]; // BIND_DESCRIPTOR: of the tensor; 0 and 1: nothing known
  // BIND_CONSTANT: the text of a literal as on a command line: 128, 0x10, 1.5, True, "relu", or a
  // type name (float16, tl.float16), None, or a tuple of these
  const char *text;
  struct span name_at; // where its name was given, for messages; SPAN_NONE: not known
};

// A file, parsed once, for compiling, tuning and launching its kernels. It lives on the arena it
// was read on. After lang_unit_resolve no function below changes it, so threads may share it.
struct lang_unit;

// NULL only if the file could not be tokenized. Errors, possibly several, are in `diag`.
struct lang_unit *lang_unit_read(struct arena *a, struct diag_engine *diag,
                                 const struct source *source);
// Whether the errors of reading hide nothing of the file, so that the rest can be checked too.
bool lang_unit_is_whole(const struct lang_unit *u);
const struct source *lang_unit_source(const struct lang_unit *u);
void lang_unit_print(const struct lang_unit *u,
                     struct strbuf *out); // S-expressions, one statement a line

// Names of the kernels of a file, in order.
size_t lang_kernels(const struct lang_unit *u, const char *const **ret_names);

// One parameter of a kernel as the source declares it, for callers that must choose bindings.
struct lang_param {
  const char *name;
  bool is_constexpr;
  bool has_default;
  const char *default_text; // as -D writes it, if the default is a literal or names one; else NULL
  bool is_typed;            // its annotation gives its type
  bool is_pointer;          // if typed
  bool is_const;            // const_ptr[...]: never stored through
  // tensordesc[...]; in `block`, sizes that are no literals are 0. If typed, it is neither a
  // pointer nor a scalar.
  bool is_descriptor;
  struct lang_block block;
  enum dtype dtype;       // if typed; of a pointer, its pointee's; of a descriptor, its elements'
  uint32_t divisible_by;  // from the annotation's hint, else 1
  struct span annotation; // SPAN_NONE: it has none
  struct span span;
};
// The parameters of kernel `name` (NULL: the only one). False with a diagnostic (E0401 unknown,
// E0402 several and none named) if there is no such kernel.
bool lang_kernel_params(struct arena *a, struct diag_engine *diag, const struct lang_unit *u,
                        const char *name, const char **ret_name, struct lang_param **ret_params,
                        size_t *ret_count);
// The source location of that kernel's name.
struct span lang_kernel_span(const struct lang_unit *u, const char *name);

// A path at which an import was looked for. If no dependency has changed, neither have the imports.
struct lang_dependency {
  const char *path;
  bool exists;
  uint8_t digest[32]; // SHA-256 of the file
};

// Where imported files are looked for, and which were read.
struct lang_imports {
  const char *const *folders;
  size_t folder_count;
  bool is_detached; // the kernel's text is not from a file: no import is found beside it
  VEC(struct lang_dependency) dependencies; // filled by lang_emit, on the context's arena
};
// Fills the dependencies with the imported files that the file's device code mentions, whether or
// not a kernel uses them, and with those that these files mention or re-export. On `a`; files that
// are not found or cannot be read are skipped.
void lang_import_files(struct arena *a, const struct lang_unit *u, struct lang_imports *imports);

// What decides the conditions at module level, and so which definitions exist: set it before any
// other query of a unit. What it points to outlives the unit.
struct lang_outer {
  const char *target;                  // NULL: none
  const struct lang_imports *imports;  // without their dependencies; NULL: no other files are read
  const struct lang_binding *bindings; // BIND_CONSTANT, for constants of the file
  size_t binding_count;
};
// May be called again while no other thread uses the unit.
void lang_unit_resolve(struct lang_unit *u, const struct lang_outer *o);
// Whether the unit was resolved with these values.
bool lang_unit_serves(const struct lang_unit *u, const struct lang_outer *o);
// Whether one of the bindings overrides this constant of the file.
bool lang_unit_overrides(const struct lang_unit *u, const char *name);
// Where the unit's imports are looked for, and which files its conditions read; on `a`, so that the
// caller can add dependencies.
struct lang_imports lang_unit_imports(struct arena *a, const struct lang_unit *u);

// The file that `import module` of the unit reads ("utils", ".helpers"), on `a`; NULL: none is
// found, or it is the language's. The dependencies of `imports` are not used.
const char *lang_import_path(struct arena *a, const struct lang_unit *u,
                             const struct lang_imports *imports, const char *module);

// Whether -D accepts this text as a value.
bool lang_is_constant(struct arena *a, struct str text);

// Told of the values of a kernel and the functions that it calls while it is emitted, for editors.
// Each expression and each assigned name of the source is reported once, with the first value that
// it has; none after an error, and none of functions, modules and the standard library.
struct lang_observer {
  // `type`: "tile<64xf32>", "i32", "int". `constant`: as Python prints it, or NULL if the value is
  // not known at compile time. Both live as long as the arena of lang_emit's context.
  void (*value)(void *user, struct span at, const char *type, const char *constant);
  void *user;
};

struct lang_options {
  const char *kernel; // NULL: the only one
  const struct lang_binding *bindings;
  size_t binding_count;
  const char *target; // for compile-time questions of the source
  uint32_t num_warps;
  bool debug;                           // keep device_assert
  bool debug_values;                    // emit tile.debug_value: debuggers see variables
  struct strbuf *static_print;          // where static_print writes; NULL: nowhere
  struct lang_imports *imports;         // NULL: no other files are read
  const struct lang_observer *observer; // NULL: none
};

// Types, shapes, compile-time evaluation, emission of `tile` IR for one kernel. A null module after
// errors. The kernel's func.func has tile.kernel, and on each argument tile.name (string),
// tile.dtype (string, "u32" where signedness matters), tile.divisibility (i32), tile.unaligned
// (unit, no multiple of 16 bytes) and tile.const (unit, never stored through) where known. A tensor
// descriptor `a` of rank n is 2 * n arguments: a (the base), a.shape[0] to a.shape[n - 1] (i32) and
// a.strides[0] to a.strides[n - 2] (i64, elements; the last stride is 1). The base has
// tile.descriptor, an array: 1 if it pads with NaN, else 0, then the block's sizes.
MlirModule lang_emit(struct ir_context *c, const struct lang_unit *u,
                     const struct lang_options *options);

#endif
