// SPDX-License-Identifier: Apache-2.0
// Line tables: every instruction carries the innermost source location of its operation, so that
// PTX has `.file` and `.loc` and profilers and compute-sanitizer name lines of the .tile file.
#include "lowering/llvm/emit.h"

#include <llvm-c/DebugInfo.h>

struct debug_info {
  LLVMDIBuilderRef builder;
  LLVMMetadataRef function, file;
  const char *file_name;
  struct map scopes; // file name -> LLVMMetadataRef, of the function
};

// Only `.loc` and `.file` directives: LLVM's enumeration of emission kinds has this value, its C
// header not yet. (Full line tables would mark the PTX as `debug`, which makes ptxas stop
// optimising.)
#define EMIT_DIRECTIVES_ONLY ((LLVMDWARFEmissionKind)3)

struct source_location source_location_of(struct emitter *e, MlirLocation loc) {
  for (;;) {
    if (mlirLocationIsAFileLineColRange(loc)) {
      MlirStringRef name = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(loc));
      return (struct source_location){arena_strndup(e->c->arena, name.data, name.length),
                                      (unsigned)mlirLocationFileLineColRangeGetStartLine(loc),
                                      (unsigned)mlirLocationFileLineColRangeGetStartColumn(loc)};
    }
    if (mlirLocationIsACallSite(loc)) {
      loc = mlirLocationCallSiteGetCallee(loc);
    } else if (mlirLocationIsAName(loc)) {
      loc = mlirLocationNameGetChildLoc(loc);
    } else if (mlirLocationIsAFused(loc) && mlirLocationFusedGetNumLocations(loc) > 0) {
      MlirLocation *all =
          arena_array(e->arena, MlirLocation, mlirLocationFusedGetNumLocations(loc));
      mlirLocationFusedGetLocations(loc, all);
      loc = all[0];
    } else {
      return (struct source_location){NULL, 0, 0};
    }
  }
}

// PTX's `.file` takes no escapes: what would need one is replaced.
static LLVMMetadataRef file_of(struct emitter *e, struct debug_info *d, const char *name) {
  char *plain = arena_strdup(e->arena, name);
  for (char *p = plain; *p; p++)
    if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ')
      *p = '_';
  return LLVMDIBuilderCreateFile(d->builder, plain, strlen(plain), "", 0);
}

static LLVMMetadataRef subprogram(struct emitter *e, struct debug_info *d, const char *name) {
  struct source_location at = source_location_of(e, mlirOperationGetLocation(e->func));
  LLVMMetadataRef file = at.file ? file_of(e, d, at.file) : d->file;
  LLVMMetadataRef type =
      LLVMDIBuilderCreateSubroutineType(d->builder, file, NULL, 0, LLVMDIFlagZero);
  LLVMMetadataRef f =
      LLVMDIBuilderCreateFunction(d->builder, file, name, strlen(name), name, strlen(name), file,
                                  at.line, type, false, true, at.line, LLVMDIFlagZero, true);
  LLVMSetSubprogram(e->function, f);
  d->file_name = at.file ? at.file : d->file_name;
  d->scopes = (struct map){0};
  return f;
}

LLVMMetadataRef debug_info_enter(struct emitter *e, const char *name) {
  struct debug_info *d = e->debug;
  if (!d)
    return NULL;
  LLVMMetadataRef before = d->function;
  d->function = subprogram(e, d, name);
  return before;
}

void debug_info_leave(struct emitter *e, LLVMMetadataRef function) {
  struct debug_info *d = e->debug;
  if (!d)
    return;
  struct source_location at = source_location_of(e, mlirOperationGetLocation(e->func));
  d->function = function;
  d->file_name = at.file ? at.file : d->file_name;
  d->scopes = (struct map){0};
}

void debug_info_begin(struct emitter *e) {
  struct source_location at = source_location_of(e, mlirOperationGetLocation(e->kernel));
  if (!at.file || e->target->is_cpu)
    return;
  struct debug_info *d = arena_new(e->arena, struct debug_info);
  d->builder = LLVMCreateDIBuilder(e->module);
  d->file_name = at.file;
  d->file = file_of(e, d, at.file);
  LLVMDIBuilderCreateCompileUnit(d->builder, LLVMDWARFSourceLanguageC, d->file, "tilec", 5, true,
                                 "", 0, 0, "", 0, EMIT_DIRECTIVES_ONLY, 0, false, false, "", 0, "",
                                 0);
  d->function = subprogram(e, d, e->info->name);
  LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18,
                    LLVMValueAsMetadata(const_i32(e, LLVMDebugMetadataVersion())));
  e->debug = d;
}

// The function itself, or for a location in another file a scope that names that file.
static LLVMMetadataRef scope_of(struct emitter *e, const char *file) {
  struct debug_info *d = e->debug;
  if (strcmp(file, d->file_name) == 0)
    return d->function;
  LLVMMetadataRef scope = map_get(&d->scopes, str_from(file));
  if (!scope) {
    scope = LLVMDIBuilderCreateLexicalBlockFile(d->builder, d->function, file_of(e, d, file), 0);
    map_put(e->arena, &d->scopes, str_from(file), scope);
  }
  return scope;
}

void debug_info_at(struct emitter *e, MlirOperation op) {
  if (!e->debug)
    return;
  struct source_location at = source_location_of(e, mlirOperationGetLocation(op));
  LLVMMetadataRef loc = NULL;
  if (at.file)
    loc = LLVMDIBuilderCreateDebugLocation(e->llvm, at.line, at.col, scope_of(e, at.file), NULL);
  LLVMSetCurrentDebugLocation2(e->b, loc);
}

void debug_info_end(struct emitter *e) {
  if (!e->debug)
    return;
  LLVMDIBuilderFinalize(e->debug->builder);
  LLVMDisposeDIBuilder(e->debug->builder);
  e->debug = NULL;
}
