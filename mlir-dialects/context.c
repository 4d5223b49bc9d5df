// SPDX-License-Identifier: Apache-2.0
// A session's MLIR context: the dialects, the op table's identifiers, and MLIR's diagnostics as
// records of the project's engine.
#include "mlir-dialects/ir_internal.h"

#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/Func.h>
#include <mlir-c/Dialect/IRDL.h>
#include <mlir-c/Dialect/Math.h>
#include <mlir-c/Dialect/SCF.h>

extern const char tile_irdl_text[];
extern const size_t tile_irdl_text_len;

static const struct op_info op_table[OP_ID_COUNT] = {
    [OP_UNKNOWN] = {"", OP_EFFECT, ""},
#define PURE OP_PURE
#define READ OP_READ
#define WRITE OP_WRITE
#define EW OP_EW
#define ANCHOR OP_ANCHOR
#define TERM OP_TERM
#define REGION OP_REGION
#define EFFECT OP_EFFECT
#define OP(id, name, flags, doc) [OP_##id] = {name, flags, doc},
#include "mlir-dialects/ops.def"

#include <assert.h>
#undef OP
#undef PURE
#undef READ
#undef WRITE
#undef EW
#undef ANCHOR
#undef TERM
#undef REGION
#undef EFFECT
};

const struct op_info *op_info(enum op_id id) {
  assert(id < COUNT_OF(op_table));
  return &op_table[id];
}

enum op_id op_id(struct ir_context *c, MlirOperation op) {
  return (enum op_id)(uintptr_t)ptrmap_get(&c->tables->op_ids, mlirOperationGetName(op).ptr);
}

// ---- diagnostics ----

// The record's message; a location without a known source is part of the text.
static const char *message_of(struct ir_context *c, MlirDiagnostic d, struct span at) {
  struct strbuf text = {.arena = c->arena};
  mlirDiagnosticPrint(d, ir_print_callback, &text);
  MlirLocation loc = mlirDiagnosticGetLocation(d);
  if (!at.source && mlirLocationIsAFileLineColRange(loc)) {
    strbuf_puts(&text, " (at ");
    mlirLocationPrint(loc, ir_print_callback, &text);
    strbuf_puts(&text, ")");
  }
  const char *message = arena_strdup(c->arena, strbuf_cstr(&text));
  strbuf_finish(&text);
  return message ? message : "";
}

struct diagnostic {
  struct ir_context *c;
  MlirDiagnostic d;
};

static void take_diagnostic(void *user) {
  struct ir_context *c = ((struct diagnostic *)user)->c;
  MlirDiagnostic d = ((struct diagnostic *)user)->d;
  struct span at = loc_to_span(c, mlirDiagnosticGetLocation(d));
  const char *message = message_of(c, d, at);
  struct diag *record = NULL;
  switch (mlirDiagnosticGetSeverity(d)) {
  case MlirDiagnosticError: record = diag_error(c->diag, at, E0601, "%s", message); break;
  case MlirDiagnosticWarning: record = diag_warning(c->diag, at, E0601, "%s", message); break;
  case MlirDiagnosticNote:
  case MlirDiagnosticRemark: record = diag_remark(c->diag, at, "ir", "%s", message); break;
  }
  for (intptr_t i = 0, n = mlirDiagnosticGetNumNotes(d); i < n; i++) {
    MlirDiagnostic note = mlirDiagnosticGetNote(d, i);
    struct span location = loc_to_span(c, mlirDiagnosticGetLocation(note));
    diag_note(record, location, "%s", message_of(c, note, location));
  }
}

// MLIR's C++ frames are between this and the out-of-memory handler: no jump may cross them.
static MlirLogicalResult on_diagnostic(MlirDiagnostic d, void *user) {
  struct diagnostic taken = {user, d};
  if (!arena_guard(taken.c->arena, take_diagnostic, &taken))
    diag_out_of_memory(taken.c->diag);
  return mlirLogicalResultSuccess();
}

// ---- life ----

static bool load_dialects(struct ir_context *c) {
  MlirDialectHandle handles[] = {mlirGetDialectHandle__arith__(), mlirGetDialectHandle__math__(),
                                 mlirGetDialectHandle__scf__(), mlirGetDialectHandle__func__(),
                                 mlirGetDialectHandle__irdl__()};
  for (size_t i = 0; i < COUNT_OF(handles); i++)
    mlirDialectHandleLoadDialect(handles[i], c->mlir);
  MlirModule module =
      mlirModuleCreateParse(c->mlir, mlirStringRefCreate(tile_irdl_text, tile_irdl_text_len));
  if (mlirModuleIsNull(module))
    return false;
  bool loaded = mlirLogicalResultIsSuccess(mlirLoadIRDLDialects(module));
  mlirModuleDestroy(module);
  return loaded;
}

static void fill_op_ids(struct ir_context *c) {
  for (uintptr_t id = OP_UNKNOWN + 1; id < OP_ID_COUNT; id++)
    ptrmap_put(c->arena, &c->tables->op_ids,
               mlirIdentifierGet(c->mlir, ref_of(op_table[id].name)).ptr, (void *)id);
}

static void fill_tables(void *user) {
  struct ir_context *c = user;
  c->is_loaded = load_dialects(c) && types_init(c);
  fill_op_ids(c);
}

struct ir_context *ir_context_create(struct arena *a, struct diag_engine *diag) {
  struct ir_context *c = arena_new(a, struct ir_context);
  struct ir_tables *tables = c ? arena_new(a, struct ir_tables) : NULL;
  if (!tables)
    return NULL;
  *c = (struct ir_context){
      .mlir = mlirContextCreateWithThreading(false), .arena = a, .diag = diag, .tables = tables};
  tables->handler = mlirContextAttachDiagnosticHandler(c->mlir, on_diagnostic, c, NULL);
  bool has_memory = arena_guard(a, fill_tables, c);
  if (has_memory && c->is_loaded)
    return c;
  ir_context_destroy(c);
  if (!has_memory)
    arena_raise(a);
  return NULL;
}

void ir_context_destroy(struct ir_context *c) {
  if (!c)
    return;
  if (!mlirModuleIsNull(c->unfinished))
    mlirModuleDestroy(c->unfinished);
  mlirContextDetachDiagnosticHandler(c->mlir, c->tables->handler);
  mlirContextDestroy(c->mlir);
}
