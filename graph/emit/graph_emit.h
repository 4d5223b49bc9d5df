// SPDX-License-Identifier: Apache-2.0
// What the files of emission share: a kernel's source while it is printed from its plan.
//
// Values are text. An expression tree is one expression where it is short and used once, else a
// statement `v3 = ...` in the outermost scope that knows its axes: scope 0 is the kernel, deeper
// ones are loops. A loop is put behind what was printed around it meanwhile, so that what the loop
// does not change stands in front of it.
#ifndef TILE_GRAPH_EMIT_EMIT_H
#define TILE_GRAPH_EMIT_EMIT_H

#include "base/map.h"
#include "graph/plan/accesses.h"

// Text with its precedence, as Python's: smaller binds tighter.
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
  bool is_name;   // costs nothing to repeat
  bool is_number; // literal
  bool is_narrow; // an i32 where the expression tree says i64: an index
};

enum { EMIT_SCOPES = 4, EMIT_AXES = 24, EMIT_WIDTH = 88 };

// A variable of the kernel that stands for an axis.
struct emit_axis {
  const struct expr *axis;
  const char *name;
  const char *mask; // the lanes inside; NULL: all are
  unsigned level;   // the scope that knows it
  bool is_wide;     // i64
};

struct emit_scope {
  VEC(struct kernel_line) lines;
  unsigned indent;
  uint32_t serial; // of this opening
  const char *header;
};

struct emit_info { // of a expression tree
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
  uint32_t serial;
  uint32_t next_value;
  struct map infos; // by expression tree
  struct map known; // by expression tree: struct emit_known
  struct map names; // of functions that the kernel calls: by address of their text
  VEC(const char *) functions;
  struct load_guard *guards;
  const struct load_guard *guard;
  const char *load_hint, *store_hint; // further arguments of loads and stores of whole tiles; NULL
  uint32_t hinted_axes;               // of loads that depend on all of these
};

// ---- a kernel (graph/emit/graph_emit.c) ----
// Prints a kernel and appends it, with its launch, to the program.
void emit_kernel(struct program *p, const struct kernel_plan *k);
// The kernel's body, ready to be printed as one.
struct emitter *emit_kernel_body(struct program *p, const struct kernel_plan *k);
// The parameter for a buffer; one that is stored to has been announced by emit_writes.
const char *emit_buffer(struct emitter *e, struct buffer *b);
void emit_writes(struct emitter *e, struct buffer *b);
// The name of the buffer's parameter, which is there.
const char *emit_parameter(struct emitter *e, const struct buffer *b);
const char *emit_size(struct emitter *e, const struct expr *size);
// Parameters for the sizes that the rule of a grid is of.
void emit_sizes(struct emitter *e, const struct expr *of);
const char *emit_seed(struct emitter *e, uint32_t which);
// Statements. The line goes to the scope `level`.
void emit_line(struct emitter *e, unsigned level, const char *fmt, ...) PRINTF(3, 4);
// Opens a loop: `header` without the colon's line end ("for r0 in range(0, 8, 2):").
void emit_open(struct emitter *e, const char *header);
void emit_close(struct emitter *e);
// A function the kernel calls, by its whole text.
void emit_helper(struct emitter *e, const char *text);
// The rest of `e`'s kernel where its plan has a last-block reduction (graph/emit/last_block.c): the
// body of that is a function that the last program of a group calls.
void emit_last_block(struct emitter *e);

// ---- offsets (graph/emit/index.c) ----
struct text emit_index(struct emitter *e, const struct expr *offset);
// Sizes alone: what grids and extents are; by parameters where they are symbols. In brackets where
// it is more than a name or a number.
const char *emit_extent(struct emitter *e, const struct expr *extent);
void emit_axis(struct emitter *e, const struct expr *axis, const char *name, const char *mask,
               unsigned level);
// Does every offset of the axis, rounded up to a block, fit 32 bits?
bool emit_axis_is_wide(const struct expr *axis);
// The same axis under another name, for an operand that has it along another dimension.
const struct expr *emit_axis_alias(struct emitter *e, const struct expr *axis, const char *name);
uint32_t emit_index_axes(struct emitter *e, const struct expr *offset);

// ---- expression trees (graph/emit/emit_value.c, graph/emit/emit_scalar.c) ----
// Counts the uses of v's parts, before anything is written.
void emit_count(struct emitter *e, const struct scalar *v);
// From here on v is that text, known in scope `level`, over these axes.
void emit_given(struct emitter *e, const struct scalar *v, const char *text, uint32_t axes,
                unsigned level);
struct text emit_value(struct emitter *e, const struct scalar *v);
const char *emit_operand(struct emitter *e, const struct scalar *v, enum precedence at_most);
const char *emit_name(struct emitter *e, const struct scalar *v); // a variable or a literal
uint32_t emit_axes_of(struct emitter *e, const struct scalar *v);
const char *emit_mask(struct emitter *e, uint32_t axes); // NULL: none is needed
void emit_store_value(struct emitter *e, struct buffer *b, const struct expr *offset,
                      const struct scalar *v);
// Only where `predicate` holds; NULL: everywhere. Adds where `accumulates`.
void emit_scatter_store(struct emitter *e, struct buffer *b, const struct expr *offset,
                        const struct scalar *v, const struct scalar *predicate, bool accumulates);
struct text text_atom(const char *s);
const char *text_within(struct emitter *e, struct text t, enum precedence at_most);
struct text emit_apply(struct emitter *e, const struct scalar *v);
struct text emit_literal(struct emitter *e, const struct scalar *v);
const char *emit_number(struct emitter *e, enum dtype t, union element value);
const char *emit_type(enum dtype t); // "tl.float32"

// ---- epilogues (graph/emit/epilogue.c) ----
// `name` holds a result in dtype `sum`, over these axes. Loads of its buffer, `load`, become that
// name: cast to the buffer's dtype, and back to `sum` where the result `rounds`.
void emit_given_result(struct emitter *e, const struct scalar *load, enum dtype sum, bool rounds,
                       const char *name, uint32_t axes);
// The stores of a region, and what they compute.
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
