// SPDX-License-Identifier: Apache-2.0
// Every instruction carries the innermost source location of its operation. For debuggers of
// kernels on the CPU, variables live in memory of the function's frame.
#include "lowering/llvm/debug_info.h"

#include "base/debug.h"
#include "base/map.h"

#include <llvm-c/DebugInfo.h>

#include <string.h>
#include <unistd.h>

// A variable: one that gets a value of another type is another variable, in a block of its own.
struct variable {
  LLVMValueRef at; // NULL: it has no memory
  const char *type;
};

// The function that is being emitted.
struct frame {
  struct frame *outer;
  LLVMValueRef llvm;
  MlirOperation func;
  LLVMMetadataRef function, scope; // scope: the innermost block
  const char *file_name;
  unsigned line;
  struct map scopes;    // file name -> LLVMMetadataRef, of the innermost block
  struct map variables; // name -> struct variable *
  uint64_t bytes;       // of the variables
};

struct debug_info {
  struct debug_module m;
  LLVMDIBuilderRef builder;
  LLVMMetadataRef file;
  struct frame *in;
};

// Only `.loc` and `.file` directives: LLVM's enumeration of emission kinds has this value, its C
// header not yet. (Full line tables would mark the PTX as `debug`, which makes ptxas stop
// optimising.)
#define EMIT_DIRECTIVES_ONLY ((LLVMDWARFEmissionKind)3)

struct source_location source_location_of(struct arena *a, MlirLocation loc) {
  for (;;) {
    if (mlirLocationIsAFileLineColRange(loc)) {
      MlirStringRef name = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(loc));
      return (struct source_location){arena_strndup(a, name.data, name.length),
                                      (unsigned)mlirLocationFileLineColRangeGetStartLine(loc),
                                      (unsigned)mlirLocationFileLineColRangeGetStartColumn(loc)};
    }
    if (mlirLocationIsACallSite(loc)) {
      loc = mlirLocationCallSiteGetCallee(loc);
    } else if (mlirLocationIsAName(loc)) {
      loc = mlirLocationNameGetChildLoc(loc);
    } else if (mlirLocationIsAFused(loc) && mlirLocationFusedGetNumLocations(loc) > 0) {
      MlirLocation *all = arena_array(a, MlirLocation, mlirLocationFusedGetNumLocations(loc));
      mlirLocationFusedGetLocations(loc, all);
      loc = all[0];
    } else {
      return (struct source_location){NULL, 0, 0};
    }
  }
}

// PTX's `.file` takes no escapes: what would need one is replaced. DWARF names the folder, in which
// debuggers look for the file.
static LLVMMetadataRef file_of(struct debug_info *d, const char *name) {
  char *plain = arena_strdup(d->m.a, name), folder[4096] = "";
  for (char *p = plain; *p && !d->m.is_cpu; p++)
    if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ')
      *p = '_';
  if (d->m.is_cpu && *name != '/' && !getcwd(folder, sizeof folder))
    folder[0] = 0;
  return LLVMDIBuilderCreateFile(d->builder, plain, strlen(plain), folder, strlen(folder));
}

void debug_info_enter(struct debug_info *d, LLVMValueRef function, MlirOperation func,
                      const char *name) {
  if (!d)
    return;
  struct source_location at = source_location_of(d->m.a, mlirOperationGetLocation(func));
  LLVMMetadataRef file = at.file ? file_of(d, at.file) : d->file;
  LLVMMetadataRef type =
      LLVMDIBuilderCreateSubroutineType(d->builder, file, NULL, 0, LLVMDIFlagZero);
  LLVMMetadataRef f = LLVMDIBuilderCreateFunction(d->builder, file, name, strlen(name), name,
                                                  strlen(name), file, at.line, type, false, true,
                                                  at.line, LLVMDIFlagZero, !d->m.is_cpu);
  LLVMSetSubprogram(function, f);
  struct frame *in = arena_new(d->m.a, struct frame);
  *in = (struct frame){.outer = d->in,
                       .llvm = function,
                       .func = func,
                       .function = f,
                       .scope = f,
                       .file_name = at.file ? at.file : d->in->file_name,
                       .line = at.line};
  d->in = in;
}

void debug_info_leave(struct debug_info *d) {
  if (d)
    d->in = d->in->outer;
}

struct debug_info *debug_info_begin(const struct debug_module *m) {
  struct source_location at = source_location_of(m->a, mlirOperationGetLocation(m->kernel));
  if (!at.file || (m->is_cpu && !debug_on(DEBUG_GDB)))
    return NULL;
  struct debug_info *d = arena_new(m->a, struct debug_info);
  *d = (struct debug_info){.m = *m, .builder = LLVMCreateDIBuilder(m->module)};
  d->file = file_of(d, at.file);
  LLVMDIBuilderCreateCompileUnit(
      d->builder, LLVMDWARFSourceLanguageC, d->file, "tilec", 5, !m->is_cpu, "", 0, 0, "", 0,
      m->is_cpu ? LLVMDWARFEmissionFull : EMIT_DIRECTIVES_ONLY, 0, false, false, "", 0, "", 0);
  debug_info_enter(d, m->function, m->kernel, m->name);
  LLVMValueRef version =
      LLVMConstInt(LLVMInt32TypeInContext(m->llvm), LLVMDebugMetadataVersion(), false);
  LLVMAddModuleFlag(m->module, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18,
                    LLVMValueAsMetadata(version));
  return d;
}

// The innermost block, or for a location in another file a scope in it that names that file.
static LLVMMetadataRef scope_of(struct debug_info *d, const char *file) {
  struct frame *in = d->in;
  if (strcmp(file, in->file_name) == 0)
    return in->scope;
  LLVMMetadataRef scope = map_get(&in->scopes, str_from(file));
  if (!scope) {
    scope = LLVMDIBuilderCreateLexicalBlockFile(d->builder, in->scope, file_of(d, file), 0);
    map_put(d->m.a, &in->scopes, str_from(file), scope);
  }
  return scope;
}

// Parameters get their values in front of the first line at which debuggers stop.
static bool is_parameter(struct debug_info *d, MlirOperation op, unsigned line) {
  return d->m.is_cpu && line == d->in->line && !mlirAttributeIsNull(op_attr(op, "argument"));
}

void debug_info_at(struct debug_info *d, MlirOperation op) {
  if (!d)
    return;
  struct source_location at = source_location_of(d->m.a, mlirOperationGetLocation(op));
  LLVMMetadataRef loc = NULL;
  if (at.file && !is_parameter(d, op, at.line))
    loc = LLVMDIBuilderCreateDebugLocation(d->m.llvm, at.line, at.col, scope_of(d, at.file), NULL);
  LLVMSetCurrentDebugLocation2(d->m.b, loc);
}

// ---- variables ----

enum { ENCODING_BOOL = 2, ENCODING_FLOAT = 4, ENCODING_SIGNED = 5, ENCODING_UNSIGNED = 7 }; // DWARF

static bool is_pointer(MlirOperation op) {
  return dtype_of_mlir(element_type(mlirValueGetType(mlirOperationGetOperand(op, 0)))) ==
         DTYPE_NONE;
}

static enum dtype named_type(MlirOperation op) {
  enum dtype t = DTYPE_I8;
  dtype_parse(op_attr_str(op, "dtype"), &t);
  return t;
}

// Bytes of an element, or of what a pointer points to.
static unsigned bytes_of(enum dtype t) { return dtype_bits(t) < 8 ? 1 : dtype_bits(t) / 8; }

// gdb takes 16 bits for an f16 unless the type has this name.
static const char *type_name(enum dtype t) { return t == DTYPE_BF16 ? "__bf16" : dtype_name(t); }

// Floats of 8 bits are shown as bits.
static LLVMMetadataRef number_type(struct debug_info *d, enum dtype t) {
  unsigned bits = 8 * bytes_of(t);
  LLVMDWARFTypeEncoding encoding = t == DTYPE_I1                              ? ENCODING_BOOL
                                   : dtype_is_float(t) && bits > 8            ? ENCODING_FLOAT
                                   : dtype_is_signed(t) && !dtype_is_float(t) ? ENCODING_SIGNED
                                                                              : ENCODING_UNSIGNED;
  const char *name = type_name(t);
  return LLVMDIBuilderCreateBasicType(d->builder, name, strlen(name), bits, encoding,
                                      LLVMDIFlagZero);
}

static LLVMMetadataRef type_of(struct debug_info *d, MlirOperation op, unsigned rank,
                               const int64_t *shape, uint64_t bits) {
  LLVMMetadataRef type = number_type(d, named_type(op));
  if (is_pointer(op))
    type = LLVMDIBuilderCreatePointerType(d->builder, type, 64, 0, 0, "", 0);
  if (!rank)
    return type;
  LLVMMetadataRef *sizes = arena_array(d->m.a, LLVMMetadataRef, rank);
  for (unsigned i = 0; i < rank; i++)
    sizes[i] = LLVMDIBuilderGetOrCreateSubrange(d->builder, 0, shape[i]);
  return LLVMDIBuilderCreateArrayType(d->builder, bits, 0, type, sizes, rank);
}

// Zeros at the start of the function: a variable without a value is zero.
static LLVMValueRef frame_memory(struct debug_info *d, LLVMTypeRef type, uint64_t bytes,
                                 LLVMValueRef *ret_last) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(d->in->llvm);
  LLVMValueRef first = LLVMGetFirstInstruction(entry);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(d->m.llvm);
  if (first)
    LLVMPositionBuilderBefore(b, first);
  else
    LLVMPositionBuilderAtEnd(b, entry);
  LLVMValueRef at = LLVMBuildAlloca(b, type, "");
  LLVMSetAlignment(at, 64);
  *ret_last = LLVMBuildMemSet(b, at, LLVMConstNull(LLVMInt8TypeInContext(d->m.llvm)),
                              LLVMConstInt(LLVMInt64TypeInContext(d->m.llvm), bytes, false), 64);
  LLVMDisposeBuilder(b);
  return at;
}

static LLVMMetadataRef describe(struct debug_info *d, MlirOperation op, LLVMMetadataRef type,
                                unsigned line, bool is_new_block) {
  struct frame *in = d->in;
  struct str name = op_attr_str(op, "name");
  LLVMMetadataRef file = LLVMDIScopeGetFile(in->function);
  unsigned argument = (unsigned)op_attr_int(op, "argument", 0);
  if (is_new_block) {
    in->scope = LLVMDIBuilderCreateLexicalBlock(d->builder, in->scope, file, line, 0);
    in->scopes = (struct map){0};
  } else if (argument) {
    return LLVMDIBuilderCreateParameterVariable(d->builder, in->function, name.ptr, name.len,
                                                argument, file, line, type, true, LLVMDIFlagZero);
  }
  LLVMMetadataRef scope = is_new_block ? in->scope : in->function;
  return LLVMDIBuilderCreateAutoVariable(d->builder, scope, name.ptr, name.len, file, line, type,
                                         true, LLVMDIFlagZero, 0);
}

static LLVMValueRef declare(struct debug_info *d, MlirOperation op, LLVMTypeRef element,
                            unsigned rank, const int64_t *shape, bool is_new_block) {
  struct frame *in = d->in;
  uint64_t count = 1, size = is_pointer(op) ? 8 : bytes_of(named_type(op));
  for (unsigned i = 0; i < rank; i++)
    count *= (uint64_t)shape[i];
  unsigned line = source_location_of(d->m.a, mlirOperationGetLocation(op)).line;
  LLVMMetadataRef type = type_of(d, op, rank, shape, 8 * count * size);
  LLVMMetadataRef variable = describe(d, op, type, line, is_new_block);
  if (in->bytes + count * size > d->m.variable_bytes)
    return NULL;
  in->bytes += count * size;
  LLVMValueRef last;
  LLVMValueRef at = frame_memory(d, LLVMArrayType2(element, count), count * size, &last);
  LLVMMetadataRef loc =
      LLVMDIBuilderCreateDebugLocation(d->m.llvm, line, 0, LLVMDIVariableGetScope(variable), NULL);
  LLVMDIBuilderInsertDeclareRecordBefore(
      d->builder, at, variable, LLVMDIBuilderCreateExpression(d->builder, NULL, 0), loc, last);
  return at;
}

// A function of scalars is emitted where it is called: its variables are not those of the caller.
static bool is_within(MlirOperation op, MlirOperation func) {
  while (!mlirOperationIsNull(op) && !mlirOperationEqual(op, func))
    op = mlirOperationGetParentOperation(op);
  return !mlirOperationIsNull(op);
}

LLVMValueRef debug_info_variable(struct debug_info *d, MlirOperation op, LLVMTypeRef element,
                                 unsigned rank, const int64_t *shape) {
  if (!d || !d->m.is_cpu || !is_within(op, d->in->func))
    return NULL;
  struct str name = op_attr_str(op, "name"), dtype = op_attr_str(op, "dtype");
  struct strbuf key = {.arena = d->m.a};
  strbuf_printf(&key, "%.*s %d", STR_ARG(dtype), is_pointer(op));
  for (unsigned i = 0; i < rank; i++)
    strbuf_printf(&key, " %lld", (long long)shape[i]);
  struct variable *known = map_get(&d->in->variables, name);
  if (known && strcmp(known->type, strbuf_cstr(&key)) == 0)
    return known->at;
  struct variable *v = arena_new(d->m.a, struct variable);
  v->type = arena_strdup(d->m.a, strbuf_cstr(&key));
  strbuf_finish(&key);
  v->at = declare(d, op, element, rank, shape, known != NULL);
  map_put(d->m.a, &d->in->variables, name, v);
  return v->at;
}

void debug_info_end(struct debug_info *d) {
  if (!d)
    return;
  LLVMDIBuilderFinalize(d->builder);
  LLVMDisposeDIBuilder(d->builder);
}
