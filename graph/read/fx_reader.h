// SPDX-License-Identifier: Apache-2.0
// Shared by the parts of the FX reader. It works on tokens; a quoted annotation is tokenised when
// it is reached, so that one parser of sizes serves both.
#ifndef TILE_GRAPH_READ_FX_READER_H
#define TILE_GRAPH_READ_FX_READER_H

#include "base/map.h"
#include "graph/ir/graph_operators.h"
#include "graph/read/fx.h"
#include "lang/syntax/lexer.h"

#define FX_MAX_DEPTH 256        // nesting of an expression, including the names it uses
#define FX_MAX_DIVISIONS 24     // in a symbolic number, including the names it uses
#define FX_MAX_CHAIN 1000       // operators in one expression
#define FX_MAX_TERMS 256        // of a symbolic number
#define FX_MAX_GRAPHS 16        // nesting of subgraphs
#define FX_MAX_VALUES (1 << 22) // results of all operators

enum binding_kind {
  BOUND_VALUE,
  BOUND_NUMBER,
  BOUND_TUPLE,
  BOUND_GRAPH,
  BOUND_NONE,
  BOUND_WRONG // its definition had an error, already reported: uses are not reported again
};

// What a name of the text is bound to.
struct binding {
  enum binding_kind kind;
  bool is_gone;   // unbound by `name = None`
  uint32_t depth; // of BOUND_NUMBER: nested divisions
  struct value *value;
  struct arg number; // ARG_INT, ARG_FLOAT or ARG_BOOL
  struct node *tuple;
  struct graph *graph;
  struct span span;
};

struct unknown_operator {
  struct str name;
  uint32_t uses;
  struct span span; // of the first
};

// Types and sizes as written.
struct annotation {
  bool is_number; // Sym(...)
  struct arg number;
  uint32_t depth;
  enum dtype dtype; // of the parts of a complex tensor
  bool is_complex;
  uint32_t rank;
  bool has_strides;
  const struct expr *shape[GRAPH_MAX_RANK], *strides[GRAPH_MAX_RANK];
  struct span span;
};

// The range of a size.
struct size_range {
  int64_t lo, hi;
};

// A value that shares memory with another.
struct fx_view {
  struct value *base, *root; // NULL: it does not. The root is the last base.
};

struct reader {
  struct arena *arena;
  struct diag_engine *diag;
  const struct source *source;
  struct graph *g;
  const struct token *at; // ends with TOK_EOF
  size_t pos;
  struct map names, symbols, unknown_names, attributes;
  struct map ranges;  // of sizes, by name: struct size_range
  size_t ranges_end;  // the token after the last of them; 0: none
  struct map written; // by address of an input: 1 + its index in the mutations
  struct map reals;   // floats computed from sizes, by address of the tensor
  struct map scaled;  // those that are a size times a number: struct fx_scaled
  VEC(struct unknown_operator) unknown;
  VEC(struct fx_view) views; // by value id
  struct map latest;   // by address of a value that is no view and was written to: its present one
  struct map versions; // by address of a view of such a one: struct view_version (fx_write.c)
  struct map composed_views; // by address: struct composed_view (fx_write.c)
  struct map reshaped; // by address of a value whose shape was changed in place: the view it became
  struct value *variable; // the value of the last name that was read, before any write
  VEC(struct token) annotation_tokens;
  struct map classes;          // subgraphs of this one, by name: the token of the name
  struct map subgraphs;        // those read so far, by address of that token
  size_t body_end;             // the token behind the function
  unsigned level;              // of the graph: 0 is the outermost
  unsigned depth;              // of nested expressions
  uint32_t number_depth;       // nested divisions in the current statement
  graph_likely_fn take_likely; // NULL: none
  void *user;
  bool in_annotation;   // names are those of sizes
  bool in_size;         // within Sym(..)
  bool is_return;       // the statement is the `return`
  bool is_target;       // the value is written to: an input means itself, not its current value
  bool may_add_symbols; // sizes of inputs may be new symbols, those of results may not
  bool is_poisoned;     // the statement uses a BOUND_WRONG name
  bool failed;          // the statement has an error
};

// ---- tokens ----
static inline enum token_kind fx_peek(const struct reader *r) { return r->at[r->pos].kind; }
static inline enum token_kind fx_peek_behind(const struct reader *r) {
  return fx_peek(r) == TOK_EOF ? TOK_EOF : r->at[r->pos + 1].kind;
}
static inline struct span fx_span(const struct reader *r, size_t first, size_t behind) {
  uint32_t begin = r->at[first].begin;
  uint32_t end = behind > first ? r->at[behind - 1].end : begin;
  return (struct span){r->source, begin, end > begin ? end : begin};
}
static inline struct str fx_text(const struct reader *r, size_t token) {
  return (struct str){r->source->text.ptr + r->at[token].begin,
                      r->at[token].end - r->at[token].begin};
}
bool fx_accept(struct reader *r, enum token_kind kind);
bool fx_accept_name(struct reader *r, const char *name);
// E1001 and false if the next token differs.
bool fx_expect(struct reader *r, enum token_kind kind);
// E1001 at the next token: "WHAT, not `TOKEN`". Always false.
bool fx_unexpected(struct reader *r, const char *what);
// Reports an error of the statement; NULL if the statement already has one.
struct diag *fx_error(struct reader *r, struct span at, enum diag_code code, const char *fmt, ...)
    PRINTF(4, 5);

// The text without ANSI colour escapes.
const struct source *fx_without_colours(struct arena *a, const struct source *s);

// ---- inputs (graph/read/fx_inputs.c) ----
// Binds the name at the token. A second definition is E1001 and BOUND_WRONG.
struct binding *fx_bind(struct reader *r, size_t token, struct binding b);
bool fx_too_many_errors(const struct reader *r);
// The parameters of `forward`, after the opening parenthesis.
bool fx_parameters(struct reader *r);
// Adds an input for each annotated attribute of the module that the statements read.
bool fx_attributes(struct reader *r);
// At `self`: the input of the attribute.
bool fx_use_attribute(struct reader *r, struct binding *ret);

// ---- values and numbers (graph/read/fx_value.c, graph/read/fx_name.c) ----
bool fx_value(struct reader *r, struct arg *ret);
// Skips from a bracket to its partner; E1001 if the line ends before.
bool fx_skip_brackets(struct reader *r);
// Gives a value the name at the token.
void fx_name_value(struct reader *r, size_t token, struct value *v);
// A value that must be an integer, possibly symbolic.
bool fx_number(struct reader *r, const struct expr **ret);
// The size of that name; NULL with E1006 if no input has it.
const struct expr *fx_symbol(struct reader *r, struct str name, struct span at);
// What follows `torch.`: a dtype, a memory format, a function of numbers.
bool fx_torch(struct reader *r, size_t begin, struct arg *ret);
// The binding of a used name; NULL after an error. May be BOUND_WRONG.
struct binding *fx_use(struct reader *r, size_t token);

// ---- arithmetic (graph/read/fx_arithmetic.c) ----
// a = a OP b. Errors are E1001, E1008, E1009 and E0902.
bool fx_combine(struct reader *r, enum token_kind op, struct span at, const struct arg *b,
                struct arg *a);
bool fx_power(struct reader *r, struct span at, const struct arg *exponent, struct arg *a);
bool fx_negate(struct reader *r, struct span at, struct arg *a);
bool fx_is_number_function(struct str name); // "Max"
bool fx_apply_number_function(struct reader *r, struct str f, struct span at, const struct arg *in,
                              size_t count, struct arg *ret);
bool fx_is_number(const struct reader *r,
                  const struct arg *a); // or a tensor that is one in the text
// Is it a float computed from sizes? In the text it is a number.
bool fx_is_real(const struct reader *r, const struct value *v);

// A comparison of numbers: 0 or 1, or a boolean tensor if one is known at run time only. *a is
// unchanged, with true, if they are no numbers.
bool fx_compare(struct reader *r, enum token_kind op, struct span at, const struct arg *b,
                struct arg *a);

// ---- floats that are a size times a number, plus a number (graph/read/fx_scaled.c) ----
struct fx_scaled {
  double by, plus;
  const struct expr *of;
};
// Of a symbolic integer, or of a float that is noted.
bool fx_scaled_of(const struct reader *r, const struct arg *a, struct fx_scaled *ret);
// Of `a * b`, `a / b`, `a + b` or `a - b`, where one of them is a number.
bool fx_scale(const struct reader *r, enum token_kind op, const struct arg *a, const struct arg *b,
              struct fx_scaled *ret);
// The float *a is such a one; in annotations it becomes a value that only carries the note.
void fx_note_scaled(struct reader *r, struct fx_scaled s, struct arg *a);
bool fx_is_rounding(struct str name);
// The whole number that the function gives; NULL if it is not known as a size.
const struct expr *fx_rounded(struct reader *r, struct str name, struct span at,
                              const struct arg *a);

// ---- numbers at run time (graph/read/fx_run_time.c) ----
// Is the token an annotation such as "Sym(u4 + 1)" with a size that no input determines?
bool fx_at_run_time_number(const struct reader *r, size_t token);
// The element of a tensor of one element, as a number.
bool fx_item(struct reader *r, struct span at, struct value *x, struct binding *ret);
// Such a number is a tensor: "aten.mul.Scalar" is "aten.mul.Tensor".
void fx_tensor_overload(struct reader *r, struct str name, const struct arg *args, size_t count,
                        enum operator_id *op);
// E1008 if an integer argument is such a number.
bool fx_check_sizes(struct reader *r, struct span at, struct str name, const struct parameter *ps,
                    const struct arg *args, size_t count);
// Operators that take such a number where their row has a plain one: *ret is the result, NULL for
// others.
bool fx_append_at_run_time(struct reader *r, struct span at, enum operator_id op, struct arg *args,
                           size_t count, struct value **ret);
// complex(real, imag): a tensor of rank 0 that is a number in the text.
bool fx_complex_number(struct reader *r, struct span at, const struct arg *parts, size_t count,
                       struct arg *ret);
// The tensor is a number in the text.
void fx_note_real(struct reader *r, struct value *v);
// A number as a boolean tensor of rank 0; a tensor stays.
bool fx_predicate(struct reader *r, struct span at, struct arg *a);
// Arguments behind the last parameter, `operands`, become a list, its value:
// invoke_subgraph(graph, 'name', a, b).
void fx_gather_operands(struct reader *r, enum operator_id op, struct arg *args, size_t *count);
// Numbers among the operands of a subgraph: left out if it knows them as sizes, else tensors.
bool fx_operands(struct reader *r, struct span at, enum operator_id op, struct arg *args,
                 size_t arg_count);

// ---- annotations (graph/read/fx_annotation.c) ----
// Is the string at the token that of a tensor, not of a tuple or a size?
bool fx_is_tensor_annotation(const struct reader *r, size_t token);
// At a string, or at the unquoted annotation.
bool fx_annotation(struct reader *r, struct annotation *ret);
// The annotation at another token.
bool fx_annotation_at(struct reader *r, size_t token, struct annotation *ret);
// Nothing uses the name that the statement defines: `x = ...;  y = x = None`. The annotation of
// such a result does not count: sizes of an embedding bag depend on the device.
bool fx_is_dropped(const struct reader *r, size_t name);
// Compares with the result of the operator's rule (E1006), then adopts the annotated strides.
bool fx_annotate(struct reader *r, struct value *v, const struct annotation *an,
                 struct span made_at);
// E0911 if the tensor is too large.
bool fx_check_size(struct reader *r, const struct value *v, struct span at);

// ---- ranges of sizes (graph/read/fx_ranges.c) ----
void fx_read_ranges(struct reader *r);
// After the graph: skips the list, if it is there.
bool fx_skip_ranges(struct reader *r);
// The list of outputs with free strides, if one follows (graph/read/fx_strides.c).
bool fx_read_free_strides(struct reader *r);

// ---- subgraphs (graph/read/fx_subgraph.c) ----
// At the first statement of a function: finds the end of the function and the classes beneath it.
// E1001 if two have one name.
bool fx_find_classes(struct reader *r);
// After the function: skips them.
void fx_skip_classes(struct reader *r);
// The name of the class that `self.NAME` at the token `self` is; 0: it is no subgraph.
size_t fx_class_of(const struct reader *r, size_t self);
// E1008 at the attribute if the subgraph that was read does what a subgraph may not.
bool fx_check_subgraph(struct reader *r, const struct reader *child);

// ---- writes to tensors (graph/read/fx_write.c) ----
// The present value of a variable, after the writes so far. NULL after an error.
struct value *fx_current(struct reader *r, struct value *v);
// What the variable is, after changes of its shape in place (`unsqueeze_`).
struct value *fx_reshaped(const struct reader *r, struct value *v);
// Records that v shares the memory of the variable `base`; NULL: that it does not.
void fx_note_view(struct reader *r, const struct value *v, struct value *base);
// The same of a view by an operator that is composed of others.
void fx_note_composed_view(struct reader *r, const struct value *v, struct value *base,
                           enum operator_id op, const struct arg *args, size_t count);
// The variable v gets the value `new`, of its dtype and shape. Errors are E1008.
bool fx_write(struct reader *r, struct value *v, struct value *new, struct span at);

// ---- running statistics (graph/read/fx_statistics.c) ----
// Does the norm write its running statistics?
bool fx_writes_statistics(enum operator_id op, const struct arg *args, size_t count);
// Appends that norm, and writes them to the variables of these arguments. NULL after an error.
struct node *fx_append_statistics(struct reader *r, struct span at, enum operator_id op,
                                  const struct arg *args, struct value *const *variables);

// ---- calls of operators (graph/read/fx_call.c) ----
// At the first word of the operator's name. Fills in the binding of the result.
bool fx_call(struct reader *r, struct binding *ret);
// Is it at the name of an operator: torch.ops.*, aten.*, prims.*?
bool fx_at_operator(const struct reader *r);

// ---- unknown operators (graph/read/fx_unknown.c) ----
void fx_note_unknown(struct reader *r, struct str name, struct span at);
// E1002 with all names.
void fx_report_unknown(struct reader *r);

#endif
