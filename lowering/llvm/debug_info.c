// SPDX-License-Identifier: Apache-2.0
// Every instruction carries the innermost source location of its operation.
#include "lowering/llvm/debug_info.h"

#include "base/debug.h"
#include "base/map.h"

#include <llvm-c/DebugInfo.h>

#include <string.h>
#include <unistd.h>

struct debug_info {
  struct debug_module m;
  LLVMDIBuilderRef builder;
  LLVMMetadataRef function, file;
  const char *file_name;
  struct map scopes; // file name -> LLVMMetadataRef, of the function
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

static LLVMMetadataRef subprogram(struct debug_info *d, LLVMValueRef function, MlirOperation func,
                                  const char *name) {
  struct source_location at = source_location_of(d->m.a, mlirOperationGetLocation(func));
  LLVMMetadataRef file = at.file ? file_of(d, at.file) : d->file;
  LLVMMetadataRef type =
      LLVMDIBuilderCreateSubroutineType(d->builder, file, NULL, 0, LLVMDIFlagZero);
  LLVMMetadataRef f =
      LLVMDIBuilderCreateFunction(d->builder, file, name, strlen(name), name, strlen(name), file,
                                  at.line, type, false, true, at.line, LLVMDIFlagZero, true);
  LLVMSetSubprogram(function, f);
  d->file_name = at.file ? at.file : d->file_name;
  d->scopes = (struct map){0};
  return f;
}

LLVMMetadataRef debug_info_enter(struct debug_info *d, LLVMValueRef function, MlirOperation func,
                                 const char *name) {
  if (!d)
    return NULL;
  LLVMMetadataRef before = d->function;
  d->function = subprogram(d, function, func, name);
  return before;
}

void debug_info_leave(struct debug_info *d, LLVMMetadataRef before, MlirOperation func) {
  if (!d)
    return;
  struct source_location at = source_location_of(d->m.a, mlirOperationGetLocation(func));
  d->function = before;
  d->file_name = at.file ? at.file : d->file_name;
  d->scopes = (struct map){0};
}

struct debug_info *debug_info_begin(const struct debug_module *m) {
  struct source_location at = source_location_of(m->a, mlirOperationGetLocation(m->kernel));
  if (!at.file || (m->is_cpu && !debug_on(DEBUG_GDB)))
    return NULL;
  struct debug_info *d = arena_new(m->a, struct debug_info);
  *d =
      (struct debug_info){.m = *m, .builder = LLVMCreateDIBuilder(m->module), .file_name = at.file};
  d->file = file_of(d, at.file);
  LLVMDIBuilderCreateCompileUnit(d->builder, LLVMDWARFSourceLanguageC, d->file, "tilec", 5,
                                 !m->is_cpu, "", 0, 0, "", 0,
                                 m->is_cpu ? LLVMDWARFEmissionLineTablesOnly : EMIT_DIRECTIVES_ONLY,
                                 0, false, false, "", 0, "", 0);
  d->function = subprogram(d, m->function, m->kernel, m->name);
  LLVMValueRef version =
      LLVMConstInt(LLVMInt32TypeInContext(m->llvm), LLVMDebugMetadataVersion(), false);
  LLVMAddModuleFlag(m->module, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18,
                    LLVMValueAsMetadata(version));
  return d;
}

// The function itself, or for a location in another file a scope that names that file.
static LLVMMetadataRef scope_of(struct debug_info *d, const char *file) {
  if (strcmp(file, d->file_name) == 0)
    return d->function;
  LLVMMetadataRef scope = map_get(&d->scopes, str_from(file));
  if (!scope) {
    scope = LLVMDIBuilderCreateLexicalBlockFile(d->builder, d->function, file_of(d, file), 0);
    map_put(d->m.a, &d->scopes, str_from(file), scope);
  }
  return scope;
}

void debug_info_at(struct debug_info *d, MlirOperation op) {
  if (!d)
    return;
  struct source_location at = source_location_of(d->m.a, mlirOperationGetLocation(op));
  LLVMMetadataRef loc = NULL;
  if (at.file)
    loc = LLVMDIBuilderCreateDebugLocation(d->m.llvm, at.line, at.col, scope_of(d, at.file), NULL);
  LLVMSetCurrentDebugLocation2(d->m.b, loc);
}

void debug_info_end(struct debug_info *d) {
  if (!d)
    return;
  LLVMDIBuilderFinalize(d->builder);
  LLVMDisposeDIBuilder(d->builder);
}
