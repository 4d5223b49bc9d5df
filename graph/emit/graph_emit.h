// SPDX-License-Identifier: Apache-2.0
// Shared by the files of emission: a kernel's source while it is printed from its plan.
//
// Values are text. An expression tree is printed as one expression if it is short and used once,
// else as a statement `v3 = ...` in the outermost scope that defines its axes: scope 0 is the
// kernel, deeper ones are loops. A loop is appended to its outer scope when it closes, after the
// loop-invariant statements that were printed meanwhile.
#ifndef TILE_GRAPH_EMIT_EMIT_H
#define TILE_GRAPH_EMIT_EMIT_H

#include "base/map.h"
#include "graph/plan/accesses.h"

// Text with its precedence in Python: smaller binds tighter.
enum precedence {
  PREC_ATOM,
  PREC_UNARY,
  PREC_TERM,
  PREC_SUM,
  PREC_AND,
  PREC_XOR,
  PREC_OR,
  PREC_COMPARE
};

struct text {
  const char *s;
  enum precedence prec;
  bool is_name;   // may be repeated without cost
  bool is_number; // literal
  bool is_narrow; // i32 where the expression tree has i64: an index
};

enum { EMIT_SCOPES = 4, EMIT_AXES = 24, EMIT_WIDTH = 88 };

// A variable of the kernel for an axis.
struct emit_axis {
  const struct expr *axis;
  const char *name;
  const char *mask; // condition for lanes within the extent; NULL: all are
  unsigned level;   // the scope that defines it
  bool is_wide;     // i64
};

struct emit_scope {
  VEC(struct kernel_line) lines;
  unsigned indent;
  uint32_t serial; // identifies this opening of the scope
  const char *header;
};

struct emit_info { // of an expression tree
  uint32_t axes;   // bits of emitter.axes
  unsigned level, uses;
};

struct emitter {
  struct program *p;
  const struct kernel_plan *plan;
  struct arena *arena;
  struct exprs *x;
  struct scalars *s;
  const char *name, *comment;
  struct launch launch; // args in the order of first use
  struct emit_axis axes[EMIT_AXES];
  unsigned axis_count;
  struct emit_scope scopes[EMIT_SCOPES];
  unsigned depth;
  bool is_beyond; // an offset is too large an expression
  uint32_t serial;
  uint32_t next_value;
  struct map infos; // by expression tree
  struct map known; // by expression tree: struct emit_known
  struct map names; // of functions that the kernel calls: by address of their text
  VEC(const char *) functions;
  struct load_guard *guards;
  const struct load_guard *guard;
  const char *load_hint, *store_hint; // extra arguments for whole tiles; NULL: none
  uint32_t hinted_axes;               // `load_hint` is for loads that depend on all of these
};

// ---- a kernel (graph/emit/graph_emit.c) ----
// Prints a kernel and appends it, with its launch, to the program.
bool emit_kernel(struct program *p, const struct kernel_plan *k);
// The kernel's body, not yet in the program.
struct emitter *emit_kernel_body(struct program *p, const struct kernel_plan *k);
// The parameter for a buffer; emit_writes must precede it for buffers that are stored to.
const char *emit_buffer(struct emitter *e, struct buffer *b);
void emit_writes(struct emitter *e, struct buffer *b);
// The name of the buffer's parameter, which exists.
const char *emit_parameter(struct emitter *e, const struct buffer *b);
// The parameter for an expression of the graph's sizes, which the launch evaluates.
const char *emit_size(struct emitter *e, const struct expr *size);
// Parameters for the sizes in an expression of a grid.
void emit_sizes(struct emitter *e, const struct expr *of);
const char *emit_seed(struct emitter *e, uint32_t which);
// Appends a line to the scope `level`.
void emit_line(struct emitter *e, unsigned level, const char *fmt, ...) PRINTF(3, 4);
// Opens a loop: `header` without newline ("for r0 in range(0, 8, 2):").
void emit_open(struct emitter *e, const char *header);
void emit_close(struct emitter *e);
// A helper function, by its whole text.
void emit_helper(struct emitter *e, const char *text);
// Emits the last-block reduction of `e`'s kernel, if planned (graph/emit/last_block.c): a function
// that the last program of a group calls.
void emit_last_block(struct emitter *e);

// ---- offsets (graph/emit/index.c) ----
struct text emit_index(struct emitter *e, const struct expr *offset);
// An expression of sizes, for grids and extents; symbols become parameters. In brackets unless it
// is a name or a number.
const char *emit_extent(struct emitter *e, const struct expr *extent);
void emit_axis(struct emitter *e, const struct expr *axis, const char *name, const char *mask,
               unsigned level);
// Do offsets along the axis, rounded up to a block, need 64 bits?
bool emit_axis_is_wide(const struct expr *axis);
// The same axis under another name, for an operand that has it along another dimension.
const struct expr *emit_axis_alias(struct emitter *e, const struct expr *axis, const char *name);
uint32_t emit_index_axes(struct emitter *e, const struct expr *offset);

// ---- kernels of custom operators (graph/emit/call_functions.c) ----
// Appends the functions that compute scores to the kernel of `l`, a call with score_axes,
// and what they need to its arguments. `e` is an emitter without a body.
void emit_call_functions(struct emitter *e, struct launch *l);

// ---- expression trees (graph/emit/emit_value.c, graph/emit/emit_scalar.c) ----
// Counts the uses of v's subtrees, before anything is printed.
void emit_count(struct emitter *e, const struct scalar *v);
// From here on v is printed as that text, valid in scope `level`, over these axes.
void emit_given(struct emitter *e, const struct scalar *v, const char *text, uint32_t axes,
                unsigned level);
struct text emit_value(struct emitter *e, const struct scalar *v);
const char *emit_operand(struct emitter *e, const struct scalar *v, enum precedence at_most);
const char *emit_name(struct emitter *e, const struct scalar *v); // a variable or a literal
uint32_t emit_axes_of(struct emitter *e, const struct scalar *v);
const char *emit_mask(struct emitter *e, uint32_t axes); // NULL: no mask
void emit_store_value(struct emitter *e, struct buffer *b, const struct expr *offset,
                      const struct scalar *v);
// Only where `predicate` holds; NULL: everywhere. Atomic add if `accumulates`.
void emit_scatter_store(struct emitter *e, struct buffer *b, const struct expr *offset,
                        const struct scalar *v, const struct scalar *predicate, bool accumulates);
struct text text_atom(const char *s);
const char *text_within(struct emitter *e, struct text t, enum precedence at_most);
struct text emit_apply(struct emitter *e, const struct scalar *v);
struct text emit_literal(struct emitter *e, const struct scalar *v);
const char *emit_number(struct emitter *e, enum dtype t, union element value);
const char *emit_type(enum dtype t); // "tl.float32"

// ---- epilogues (graph/emit/epilogue.c) ----
// The variable `name` of scope `level` is a result in dtype `sum`, over these axes: prints loads of
// its buffer, `load`, as that name, converted to the buffer's dtype and, if the result `rounds`,
// back to `sum`.
void emit_given_result(struct emitter *e, const struct scalar *load, enum dtype sum, bool rounds,
                       const char *name, uint32_t axes, unsigned level);
// A store of a region, or its atomic add, and the uses of what it stores.
void emit_count_write(struct emitter *e, const struct write_part *w);
void emit_write(struct emitter *e, const struct write_part *w);
// Counts the uses of the values that the region stores, before any is printed.
void emit_count_epilogue(struct emitter *e, const struct region_parts *parts);
// The stores of a region, with their values.
void emit_epilogue(struct emitter *e, const struct region_parts *parts);
// Stores the variable `name`, a tile over these axes.
void emit_store_name(struct emitter *e, struct buffer *b, const struct expr *offset,
                     const char *name, uint32_t axes);

// ---- kinds of kernels ----
void emit_map_kernel(struct emitter *e, const struct map_plan *m);
void emit_rows_kernel(struct emitter *e, const struct rows_kernel *k);
void emit_scan_kernel(struct emitter *e, const struct scan_plan *s);
void emit_product_kernel(struct emitter *e, const struct product_kernel *k);
void emit_attention_kernel(struct emitter *e, const struct attention_plan *t);

#endif
