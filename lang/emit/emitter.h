// SPDX-License-Identifier: Apache-2.0
// The state of lang_emit and the functions its files share. One emitter lives for one kernel.
//
// Errors: a function that reports returns VALUE_POISON (or false), and whoever receives poison
// passes it on silently. No operation is ever built on a poisoned operand.
#ifndef TILE_LANG_EMIT_EMITTER_H
#define TILE_LANG_EMIT_EMITTER_H

#include "base/vec.h"
#include "lang/emit/value.h"
#include "lang/frontend.h"
#include "lang/syntax/ast.h"
#include "mlir-dialects/build.h"

#define EMIT_MAX_CALL_DEPTH LIMIT_CALL_DEPTH
#define EMIT_MAX_DEPTH LIMIT_EMITTER_DEPTH        // of the emitter's own recursion
#define EMIT_MAX_UNROLL LIMIT_UNROLLED_ITERATIONS // iterations of one static loop
#define EMIT_MAX_NESTING 200                      // of tuples
#define EMIT_MAX_STRING LIMIT_STRING_BYTES
#define RECORD_MAX_FIELDS 256

// Why a name has no value where it stands.
enum absent_reason {
  ABSENT_UNSET,    // nothing assigned it yet
  ABSENT_BRANCH,   // assigned in one branch of an `if` only
  ABSENT_LOOP,     // assigned only in a loop, which may run no times
  ABSENT_MISMATCH, // two paths give it types that do not go together
};

struct variable {
  const char *name;
  struct value value;
  struct span span;  // of the assignment it has its value from
  bool is_constexpr; // annotated so
  bool is_result;    // the hidden variable a `return` assigns
  enum absent_reason why;
  struct span places[2]; // of `why`: the assignments concerned
  const char *texts[2];  // ABSENT_MISMATCH: what each of them gives
};

struct variable_list {
  struct variable **at;
  size_t len, cap;
};

// Where `break`, `continue` and `return` leave their mark: hidden boolean variables, merged by
// control flow like any other.
struct flow {
  struct variable *skip; // the rest of the iteration, or of the function, does not run
  struct variable *stop; // the loop ends; NULL in a function's own flow
  struct flow *outer;    // within the same function
  bool is_loop;
  bool is_static; // unrolled
};

// One function being inlined (or the kernel).
struct frame {
  struct frame *caller;
  struct frame *closure; // of a nested function: the frame that its free names belong to
  const struct ast_module *module;
  const struct ast_function *function;
  struct map variables;  // interned name -> struct variable *
  MlirLocation call_loc; // null for the kernel
  struct span call_span;
  bool is_std;     // of the standard library: its operations have the place of the call
  bool is_exact;   // its products and sums are rounded one by one
  unsigned region; // which func.func its operations belong to
  struct variable result;
  struct variable returned;
  struct flow *flow;
};

struct leaves {
  MlirValue *at;
  size_t len, cap;
};

struct function {
  const struct ast_function *ast;
  const struct ast_module *module;
  struct frame *closure;
  bool is_std;
};

// A function emitted as a func.func of its own, beside the kernel: what calls name by symbol.
struct outlined {
  const char *symbol;
  struct value result;  // its form: run-time leaves stand for the results, and have their types
  struct leaves leaves; // the results as values of its body
};

// A value and the text it came from.
struct operand {
  struct value v;
  struct span at;
};

struct emitter {
  struct ir_context *c;
  struct arena *a;
  struct diag_engine *diag;
  const struct lang_options *options;
  const struct ast_module *module;
  MlirModule ir;
  MlirOperation func; // the kernel
  struct builder b;
  struct span span; // b.loc was made from it
  struct frame *frame;
  struct map builtins;  // name -> const struct builtin *
  struct map bare;      // the same for Python's own functions
  struct map reported;  // places that already have an error: the same is not said twice
  struct map remarked;  // places that have a remark
  struct map assigned;  // statement -> struct name_list *
  struct map functions; // ast_function -> struct function *
  struct outline_cache *outlined;
  struct map records;       // ast_class -> struct record *
  struct map module_values; // ast_constant -> struct value *
  struct map module_errors; // ast_constant -> struct diag_engine *, of those that failed
  struct map files;         // path -> struct read_file *, of imports (import.c)
  struct map imported;      // "module name" -> struct value *, of what an import was found to bind
  size_t file_bytes;        // of the imported files
  struct map std_modules;   // row of std_table -> struct ast_module *, of what was needed
  unsigned depth, call_depth;
  unsigned region, region_count; // the func.func being filled; 0: the kernel
  bool is_pure;                  // in a function that may have no effects
  unsigned statements;
  bool stopped;            // too much was emitted: nothing more
  unsigned constant_depth; // of constants that need each other
  bool damaged;            // the tree holds errors of the parser: no module comes out
  unsigned errors;         // reported before emission began
  struct host *host; // NULL: emitting. Else only Python of the host is evaluated (host.h): there is
                     // no `c`, and nothing is emitted
  // The outer level of files (lang/host/outer.h).
  struct emitter *outer;            // evaluates conditions of the outer level, or NULL
  bool is_outer;                    // is one itself
  const char *outer_why;            // of the last name that no condition decided
  const struct ast_module *limited; // of this file the names before `limit` are bound
  uint32_t limit;
};

// ---- places and messages (emitter.c) ----
// Operations built from now on belong to this text.
void emit_at(struct emitter *e, struct span at);
// diag_error with the chain of calls as notes. NULL when this place has had this error: unrolled
// loops and functions inlined twice report once.
struct diag *emit_error(struct emitter *e, struct span at, enum diag_code code, const char *fmt,
                        ...) PRINTF(4, 5);
struct diag *emit_warning(struct emitter *e, struct span at, enum diag_code code, const char *fmt,
                          ...) PRINTF(4, 5);
// A remark with a topic, once for each place.
void emit_remark(struct emitter *e, struct span at, const char *topic, const char *text);
// What a message calls it: "tile<64xf32>", "the integer 3", "a function".
const char *value_describe(struct emitter *e, struct value v);
// The type's name as a label: "tile<64xf32>", "int", "None".
const char *value_type_text(struct emitter *e, struct value v);
// Enter and leave a recursive function; false (and reported) when it is too deep.
bool emit_enter(struct emitter *e, struct span at);
static inline void emit_leave(struct emitter *e) { e->depth--; }

// ---- names (scope.c) ----
struct variable *scope_find(struct frame *f, const char *name);
struct variable *scope_variable(struct emitter *e, const char *name); // made when new
void scope_assign(struct emitter *e, const char *name, struct span at, struct value v);
// Value of a name: local, enclosing, module, builtin. Reports unknown and possibly undefined ones.
struct value scope_lookup(struct emitter *e, const char *name, struct span at);
struct value scope_read(struct emitter *e, struct variable *v, struct span at);
// What `name` is in a file: constant, function, class, or import (module_names.c). False: nothing
// of that name.
bool scope_module_name(struct emitter *e, const struct ast_module *m, const char *name,
                       struct span at, struct value *ret);
// A type or a module of the language by its last word: `float32`, `math`, `libdevice`.
bool scope_language_name(const char *name, struct value *ret);
struct value module_attribute(struct emitter *e, enum module_id m, const char *name,
                              struct span at);
// The same; not found is not reported.
bool module_find(struct emitter *e, enum module_id m, const char *name, struct value *ret);

struct name_list {
  const char **at;
  size_t len, cap;
};
// A piece of a function's text: the statements of `list` from `from` on, then `next`.
enum seq_kind {
  SEQ_STATEMENTS,
  SEQ_END_FUNCTION,  // no list: falling off the end, `return None`
  SEQ_END_ITERATION, // no list: the end of a loop's body, `continue`
};
struct seq {
  enum seq_kind kind;
  const struct stmt_list *list;
  size_t from;
  const struct seq *next;
};
// The names that the statements may assign, nested ones and walruses included.
void names_of_seq(struct emitter *e, const struct seq *s, struct name_list *ret);
void names_of_expr(struct emitter *e, const struct expr *x, struct name_list *ret);
// Leaves the enclosing loop or function on some path; on every path.
bool stmt_may_exit(const struct stmt *s);
bool list_may_break(const struct stmt_list *l); // the loop whose body it is
bool list_always_exits(const struct stmt_list *l);

// ---- structured control flow (ssa.c) ----
// The variables that the code under a branch or loop may change.
struct variable_list scope_collect(struct emitter *e, const struct name_list *names);

typedef void (*emit_branch_fn)(struct emitter *e, void *user);
// scf.if on a run-time i1; every variable of `changed` is merged after it.
void ssa_if(struct emitter *e, struct value cond, const struct variable_list *changed,
            emit_branch_fn then, emit_branch_fn otherwise, void *user);

// scf.for: bounds are run-time values of one type, the step is positive.
struct ssa_for {
  struct value lower, upper, step;
  void (*body)(struct emitter *e, struct value induction, void *user);
  void *user;
};
MlirOperation ssa_for_loop(struct emitter *e, const struct ssa_for *f,
                           const struct variable_list *changed);

// scf.while: `condition` gives a run-time i1, or poison.
struct ssa_while {
  struct value (*condition)(struct emitter *e, void *user);
  emit_branch_fn body;
  void *user;
};
void ssa_while_loop(struct emitter *e, const struct ssa_while *w,
                    const struct variable_list *changed);

// ---- statements (lang/emit/stmt.c) ----
void emit_seq(struct emitter *e, const struct seq *s);
void emit_assign_target(struct emitter *e, const struct expr *target, struct value v);

// ---- expressions (lang/emit/expr.c) ----
struct value emit_expr(struct emitter *e, const struct expr *x);
struct value emit_subscript(struct emitter *e, const struct expr *x);
struct value emit_attribute(struct emitter *e, struct operand object, const char *name,
                            struct span at);
// Truth of a value: VALUE_BOOL, or a run-time scalar i1.
struct value emit_truth(struct emitter *e, struct operand x, const char *what);
// False, and reported, for a tuple that holds too many values.
bool emit_check_size(struct emitter *e, struct value v, struct span at);
// Bool or integer known at compile time, else E0301 naming `what`.
bool need_const_int(struct emitter *e, struct operand x, const char *what, int64_t *ret);
bool need_const_bool(struct emitter *e, struct operand x, const char *what, bool *ret);
bool need_const_str(struct emitter *e, struct operand x, const char *what, struct str *ret);
// The elements of a tuple, of a range known at compile time, or of a tile's shape.
bool need_sequence(struct emitter *e, struct operand x, struct tuple *ret);

// ---- calls (lang/emit/call.c) ----
struct value emit_call(struct emitter *e, const struct expr *x);
// Inlines a function. `names[i]` NULL: positional. Values are bound as they are.
struct value emit_inline(struct emitter *e, const struct function *f, const struct operand *args,
                         const char *const *names, size_t count, struct span at);
// Calls whatever can be called.
struct value emit_call_value(struct emitter *e, struct operand callee, const struct operand *args,
                             const char *const *names, size_t count, struct span at);
// Emits the body of a function whose parameters are bound; its result is left in the frame.
void emit_body(struct emitter *e, struct frame *f);
struct value emit_function_value(struct emitter *e, const struct ast_function *f,
                                 const struct ast_module *m, struct frame *closure);

// The same; also what the variable `of` holds at its end.
struct value emit_inline_for(struct emitter *e, const struct function *f,
                             const struct operand *args, const char *const *names, size_t count,
                             struct span at, const char *of, struct value *ret);

// ---- records (records.c) ----
struct value emit_class_value(struct emitter *e, const struct ast_class *c,
                              const struct ast_module *m);
struct value emit_construct(struct emitter *e, const struct record *r, const struct operand *args,
                            const char *const *names, size_t count, struct span at);
// A field or method; not found is not reported.
struct value emit_field(struct emitter *e, struct operand x, const char *name, struct span at,
                        bool *ret_found);
struct value emit_class_attribute(struct emitter *e, const struct record *r, const char *name,
                                  struct span at);
// `self.x = v` in `__init__`; false: nothing of that kind.
bool emit_assign_field(struct emitter *e, const struct expr *target, struct value v);
const char *record_name(const struct record *r);
extern const struct record record_dict;
struct type block_pointer_type(struct value v); // of a pointer to its elements

// ---- functions beside the kernel (outline.c) ----
struct outline {
  struct operand callee;
  const struct operand *args; // run-time leaves become parameters; of theirs only the types count
  const char *const *names;   // as of emit_inline
  size_t count;
  bool is_pure;               // effects are an error
  const struct type *results; // what it must return, or NULL: anything
  size_t result_count;
  const char *what; // "the combine function", for messages
  struct span at;
};
// The private function for these types and constants, emitted when first asked for. False if that
// failed, which was reported.
bool emit_outlined(struct emitter *e, const struct outline *o, struct outlined *ret);
// func.call of a function declared `noinline=True`.
struct value emit_noinline(struct emitter *e, const struct function *f, const struct operand *args,
                           const char *const *names, size_t count, struct span at);

// ---- operators (operators.c) ----
struct value emit_binary(struct emitter *e, enum ast_op op, struct operand a, struct operand b,
                         struct span at);
struct value emit_unary(struct emitter *e, enum ast_op op, struct operand x, struct span at);
struct value emit_comparison(struct emitter *e, enum ast_op op, struct operand a, struct operand b,
                             struct span at);
// `and`, `or` of two values, at least one of them run-time.
struct value emit_logic(struct emitter *e, enum ast_op op, struct operand a, struct operand b,
                        struct span at);
struct value emit_truth_tile(struct emitter *e, struct value v); // v != 0, as i1 of its shape

// ---- conversions (promote.c) ----
// The type a number known at compile time has when nothing else decides.
bool literal_type(struct value v, struct type *ret);
// A scalar constant of type t; reports numbers that do not fit.
struct value literal_as(struct emitter *e, struct operand x, struct type t);
// A run-time value of what is a number; reports everything else. `what` names its use.
struct value to_runtime(struct emitter *e, struct operand x, const char *what);
struct value emit_cast(struct emitter *e, struct value v, struct type elem, const char *rounding);
struct value emit_bitcast(struct emitter *e, struct operand x, struct type elem);
// To element type `elem`: literals by literal_as, the rest by emit_cast.
struct value emit_convert(struct emitter *e, struct operand x, struct type elem);

enum promote_flags {
  PROMOTE_POINTERS = 1, // pointers allowed
  PROMOTE_DIV = 2,      // division or remainder
  PROMOTE_STORAGE = 4,  // nothing is computed with the values
};
// Brings both to one element type and one shape, at least one being run-time. `what` is the
// operator or function for messages.
bool promote_pair(struct emitter *e, struct operand *a, struct operand *b, unsigned flags,
                  const char *what, struct span at);
bool promote_elements(struct emitter *e, struct operand *a, struct operand *b, unsigned flags,
                      const char *what, struct span at);

// ---- shapes (shapes.c) ----
// A shape from a tuple or an integer; reports sizes that are not powers of two, and too large.
bool shape_from_value(struct emitter *e, struct operand x, struct type *ret);
bool shape_check(struct emitter *e, struct type t, struct span at);
struct value value_of_shape(struct emitter *e, struct type t); // as a tuple of integers
bool broadcast_pair(struct emitter *e, struct operand *a, struct operand *b, struct span at);
// Broadcasts a run-time value to the shape of `t`; `what` for the message.
struct value broadcast_to(struct emitter *e, struct operand x, struct type t, const char *what);
struct value emit_expand_dims(struct emitter *e, struct value v, unsigned axis);
struct value emit_splat(struct emitter *e, struct value scalar, struct type shape_of);

// ---- builtins (builtins.c) ----
struct call {
  const struct builtin *builtin;
  struct operand *args; // one per parameter of the row; VALUE_ABSENT where not given
  size_t count;
  struct operand *rest; // what a `*name` parameter took
  size_t rest_count;
  struct span at;     // the whole call
  struct span callee; // its name
};

enum builtin_flags {
  BUILTIN_METHOD = 1,   // also `x.name(...)` on tiles and scalars
  BUILTIN_BARE = 2,     // Python's own, found without a prefix first: len, range, ...
  BUILTIN_MATH = 4,     // also under tl.math and libdevice
  BUILTIN_PREFIXED = 8, // found under tl. only: too common a word
  BUILTIN_TYPE = 16,    // a question to a type: `x.dtype.is_floating()`
  BUILTIN_HOST = 32,    // of host code (host.h)
};

struct builtin {
  const char *name;
  const char *params; // "x axis=0 *rest": required, optional, and the rest; NULL: see lang/std
  unsigned flags;
  struct value (*emit)(struct emitter *e, struct call *c); // NULL: known, not supported yet
  int tag; // tells apart builtins that share a function
};

void builtins_register(struct emitter *e);
const struct builtin *builtin_find(struct emitter *e, const char *name); // tl.NAME
const struct builtin *builtin_find_bare(struct emitter *e, const char *name);
struct value builtin_call(struct emitter *e, const struct builtin *b, const struct operand *args,
                          const char *const *names, size_t count, struct span at,
                          struct span callee);
// The candidates for "did you mean".
const char *builtin_nearest(struct emitter *e, const char *name, bool methods_only);
static inline bool arg_given(const struct call *c, unsigned i) {
  return c->args[i].v.kind != VALUE_ABSENT;
}
// A run-time value of argument i (numbers get their natural type), or poison.
struct value arg_runtime(struct emitter *e, struct call *c, unsigned i);

#endif
