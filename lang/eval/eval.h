// SPDX-License-Identifier: Apache-2.0
// The walk over functions of a file: expressions, statements, names and calls, evaluated as far as
// they are known. It reads two languages of one grammar, Python of the host and that of kernels,
// and what they do with what is not known is handed to it as a table (struct dialect).
//
// The walk is one recursion: an expression calls a function, whose statements hold expressions; a
// name is a constant of a file, whose value is an expression, under conditions of that file or of
// one that it imports. Hence expr.c, stmt.c, loop.c, call.c, access.c, records.c, scope.c,
// module_names.c, builtin.c, collections.c, import.c and outer.c call each other. Nothing here
// calls the rooms above.
//
// Errors: a function that reports returns VALUE_POISON (or false), and whoever receives poison
// passes it on silently. No operation is ever built on a poisoned operand.
#ifndef TILE_LANG_EVAL_EVAL_H
#define TILE_LANG_EVAL_EVAL_H

#include "base/vec.h"
#include "lang/eval/builtin_flags.h"
#include "lang/eval/value.h"
#include "lang/frontend.h"
#include "lang/syntax/ast.h"
#include "mlir-dialects/build.h"

#define EVAL_MAX_CALL_DEPTH LIMIT_CALL_DEPTH
#define EVAL_MAX_DEPTH LIMIT_EMITTER_DEPTH        // of the walk's own recursion
#define EVAL_MAX_UNROLL LIMIT_UNROLLED_ITERATIONS // iterations of one static loop
#define EVAL_MAX_NESTING 200                      // of tuples
#define EVAL_MAX_STRING LIMIT_STRING_BYTES
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
  MlirLocation call_loc; // of operations of the call; null for the kernel
  struct span call_span;
  bool is_std;     // of the standard library: its operations have the place of the call
  bool is_exact;   // its products and sums are rounded one by one
  unsigned region; // which func.func its operations belong to
  struct variable result;
  struct variable returned;
  struct flow *flow;
};

struct function {
  const struct ast_function *ast;
  const struct ast_module *module;
  struct frame *closure;
  bool is_std;
};

// A value and the text it came from.
struct operand {
  struct value v;
  struct span at;
};

struct dialect;
struct purpose;

struct eval {
  struct arena *a;
  struct diag_engine *diag;
  const struct dialect *on; // how what is read here is to be understood
  const struct lang_options *options;
  const struct ast_module *module;
  struct frame *frame;
  const struct builtin *rows; // the functions of the language
  size_t row_count;
  struct map builtins;      // name -> const struct builtin *, filled when first asked
  struct map bare;          // the same for Python's own functions
  struct map reported;      // places that already have an error: the same is not said twice
  struct map remarked;      // places that have a remark
  struct map assigned;      // statement -> struct name_list *
  struct map functions;     // ast_function -> struct function *
  struct map records;       // ast_class -> struct record *
  struct map module_values; // ast_constant -> struct value *
  struct map module_errors; // ast_constant -> struct diag_engine *, of those that failed
  struct map files;         // path -> struct read_file *, of imports (import.c)
  struct map imported;      // "module name" -> struct value *, of what an import was found to bind
  size_t file_bytes;        // of the imported files
  struct map std_modules;   // row of std_table -> struct ast_module *, of what was needed
  unsigned depth, call_depth;
  unsigned statements;
  bool stopped;            // nothing more is evaluated
  unsigned constant_depth; // of constants that need each other
  bool damaged;            // the tree holds errors of the parser: no module comes out
  unsigned errors;         // reported before evaluation began
  struct purpose *purpose; // of Python of the host (objects.h); NULL: a kernel
  // The outer level of files (outer.h).
  const struct dialect *outer_on;   // python_dialect: what the outer level is written in
  struct eval *outer;               // evaluates conditions of the outer level, or NULL
  bool is_outer;                    // is one itself
  const char *outer_why;            // of the last name that no condition decided
  const struct ast_module *limited; // of this file the names before `limit` are bound
  uint32_t limit;
  // What the operations of a kernel are built with; nothing of it where none are.
  struct ir_context *c;
  MlirModule ir;
  MlirOperation func; // the kernel
  struct builder b;
  struct span span; // b.loc was made from it
  struct outline_cache *outlined;
  unsigned region, region_count; // the func.func being filled; 0: the kernel
  bool is_pure;                  // in a function that may have no effects
};

typedef void (*branch_fn)(struct eval *e, void *user);

// What the two languages do not have in common. Members that are NULL: there is no such thing.
struct dialect {
  bool is_static;       // every loop runs, every assertion is checked and every function is Python
  bool stops_at_errors; // as Python does; a kernel has all of its errors reported
  bool has_keywords;    // `**x` in calls, parameters and dictionaries
  size_t most_values;   // in a sequence and in those within it

  // Operations built from now on belong to this text.
  void (*place)(struct eval *e, struct span at);
  // ---- values ----
  struct value (*hold)(struct eval *e, struct value v);   // as a name holds it
  struct value (*assign)(struct eval *e, struct value v); // what a name is that is assigned it
  // A value that is assigned with the annotation of a type; `at` is the statement.
  struct value (*declare)(struct eval *e, struct operand x, const char *annotation, struct span at);
  // What an expression is once it is evaluated, and whether somebody said why not.
  struct value (*finish)(struct eval *e, const struct expr *x, struct value v);
  struct value (*constant)(struct eval *e, const struct ast_module *m, const struct ast_constant *k,
                           struct span at);
  // ---- names ----
  bool (*find_name)(struct eval *e, const char *name, struct value *ret);
  bool (*find_attribute)(struct eval *e, struct operand x, const char *name, struct value *ret);
  // ---- operators ----
  struct value (*binary)(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                         struct span at);
  struct value (*unary)(struct eval *e, enum ast_op op, struct operand x, struct span at);
  struct value (*compare)(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                          struct span at);
  // `and`, `or` of two values whose truth is not known here.
  struct value (*logic)(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                        struct span at);
  struct value (*truths)(struct eval *e, struct value v);                    // of its elements
  struct value (*truth)(struct eval *e, struct operand x, const char *what); // the one it has
  // Of what is no tuple nor dictionary.
  struct value (*subscript)(struct eval *e, const struct expr *x, struct operand object);
  // ---- forms ----
  struct value (*dict)(struct eval *e, const struct expr *x);
  struct value (*collect)(struct eval *e, enum comprehension_kind kind, const struct value *at,
                          size_t count); // a set or dictionary
  struct value (*lambda)(struct eval *e, const struct expr *x);
  bool (*store)(struct eval *e, const struct expr *target, struct value v); // `x[i] = v`, `x.f = v`
  void (*import)(struct eval *e, const struct stmt *s);
  void (*unread)(struct eval *e, const struct stmt *s); // a statement that the parser did not take
  // ---- calls ----
  struct value (*call_opaque)(struct eval *e, struct operand callee);
  struct value (*call_dict)(struct eval *e, const struct operand *args, const char *const *names,
                            size_t count); // dict(a=1)
  // Whether the call stays one; else its body is walked.
  bool (*call)(struct eval *e, const struct function *f, const struct operand *args,
               const char *const *names, size_t count, struct span at, struct value *ret);
  void (*refuse_function)(struct eval *e, const struct function *f, struct span at); // of the host
  bool (*refuse_builtin)(struct eval *e, const struct builtin *b, struct span at);
  // ---- control flow that is decided later ----
  // Every variable of `changed` is merged after it.
  void (*branch)(struct eval *e, struct value cond, const struct variable_list *changed,
                 branch_fn then, branch_fn otherwise, void *user);
  void (*loop)(struct eval *e, const struct stmt *s, const struct range *r);
  void (*loop_while)(struct eval *e, const struct stmt *s);
};

// ---- places and messages (messages.c) ----
static inline void eval_at(struct eval *e, struct span at) {
  if (e->on->place)
    e->on->place(e, at);
}
// diag_error with the chain of calls as notes. NULL when this place has had this error: unrolled
// loops and functions inlined twice report once.
struct diag *eval_error(struct eval *e, struct span at, enum diag_code code, const char *fmt, ...)
    PRINTF(4, 5);
struct diag *eval_warning(struct eval *e, struct span at, enum diag_code code, const char *fmt, ...)
    PRINTF(4, 5);
// A remark with a topic, once for each place.
void eval_remark(struct eval *e, struct span at, const char *topic, const char *text);
// What a message calls it: "tile<64xf32>", "the integer 3", "a function".
const char *value_describe(struct eval *e, struct value v);
// The type's name as a label: "tile<64xf32>", "int", "None".
const char *value_type_text(struct eval *e, struct value v);
// Enter and leave a recursive function; false (and reported) when it is too deep.
bool eval_enter(struct eval *e, struct span at);
static inline void eval_leave(struct eval *e) { e->depth--; }

// ---- names (scope.c) ----
struct variable *scope_find(struct frame *f, const char *name);
struct variable *scope_variable(struct eval *e, const char *name); // made when new
void scope_assign(struct eval *e, const char *name, struct span at, struct value v);
// Value of a name: local, enclosing, module, builtin. Reports unknown and possibly undefined ones.
struct value scope_lookup(struct eval *e, const char *name, struct span at);
struct value scope_read(struct eval *e, struct variable *v, struct span at);
// What `name` is in a file: constant, function, class, or import (module_names.c). False: nothing
// of that name.
bool scope_module_name(struct eval *e, const struct ast_module *m, const char *name, struct span at,
                       struct value *ret);
// A type or a module of the language by its last word: `float32`, `math`, `libdevice`.
bool scope_language_name(const char *name, struct value *ret);
struct value module_attribute(struct eval *e, enum module_id m, const char *name, struct span at);
// The same; not found is not reported.
bool module_find(struct eval *e, enum module_id m, const char *name, struct value *ret);

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
void names_of_seq(struct eval *e, const struct seq *s, struct name_list *ret);
void names_of_expr(struct eval *e, const struct expr *x, struct name_list *ret);
// Leaves the enclosing loop or function on some path; on every path.
bool stmt_may_exit(const struct stmt *s);
bool list_may_break(const struct stmt_list *l); // the loop whose body it is
bool list_always_exits(const struct stmt_list *l);

// The variables that the code under a branch or loop may change.
struct variable_list scope_collect(struct eval *e, const struct name_list *names);

// ---- statements (stmt.c, loop.c) ----
void eval_seq(struct eval *e, const struct seq *s);
void eval_for(struct eval *e, const struct stmt *s);
void eval_while(struct eval *e, const struct stmt *s);
// The hidden variables of the function's control flow, which a statement that leaves early changes.
void flow_variables(struct eval *e, struct variable_list *l);
// The marks of one loop.
struct loop_flow {
  struct variable skip, stop;
  struct flow flow;
};
// The names that a loop may assign.
void names_of_loop(struct eval *e, const struct stmt *s, struct name_list *names);
void flow_enter(struct eval *e, struct loop_flow *l, const struct stmt *s, bool is_static);
void flow_leave(struct eval *e, const struct loop_flow *l);
void eval_assign(struct eval *e, const struct expr *target, struct value v);

// ---- expressions (expr.c, access.c) ----
struct value eval_expr(struct eval *e, const struct expr *x);
struct value eval_subscript(struct eval *e, const struct expr *x);
struct value eval_tuple_subscript(struct eval *e, const struct expr *x, struct tuple t);
struct value eval_no_elements(struct eval *e, const struct expr *x, struct value v);
// A bound of a slice of what has `len` elements; `absent` where it is not given.
bool eval_slice_bound(struct eval *e, const struct expr *x, int64_t len, int64_t absent,
                      int64_t *ret);
// The value of a constant by the rules of kernels, or else by those of the host.
struct value eval_constant(struct eval *e, const struct ast_module *m, const struct ast_constant *k,
                           struct span at);
struct value eval_attribute(struct eval *e, struct operand object, const char *name,
                            struct span at);
// Truth of a value: VALUE_BOOL, or what the dialect makes of one that is not known.
struct value eval_truth(struct eval *e, struct operand x, const char *what);
// False, and reported, for a tuple that holds too many values.
bool eval_check_size(struct eval *e, struct value v, struct span at);
// Bool or integer known at compile time, else E0301 naming `what`.
bool need_const_int(struct eval *e, struct operand x, const char *what, int64_t *ret);
bool need_const_bool(struct eval *e, struct operand x, const char *what, bool *ret);
bool need_const_str(struct eval *e, struct operand x, const char *what, struct str *ret);
// The elements of a tuple, of a range known at compile time, or of a tile's shape.
bool need_sequence(struct eval *e, struct operand x, struct tuple *ret);

// ---- calls (call.c) ----
struct value eval_call(struct eval *e, const struct expr *x);
// Inlines a function. `names[i]` NULL: positional. Values are bound as they are.
struct value eval_inline(struct eval *e, const struct function *f, const struct operand *args,
                         const char *const *names, size_t count, struct span at);
// Calls whatever can be called.
struct value eval_call_value(struct eval *e, struct operand callee, const struct operand *args,
                             const char *const *names, size_t count, struct span at);
// Emits the body of a function whose parameters are bound; its result is left in the frame.
void eval_body(struct eval *e, struct frame *f);
struct value function_value(struct eval *e, const struct ast_function *f,
                            const struct ast_module *m, struct frame *closure);

// The same; also what the variable `of` holds at its end.
struct value eval_inline_for(struct eval *e, const struct function *f, const struct operand *args,
                             const char *const *names, size_t count, struct span at, const char *of,
                             struct value *ret);

// ---- records (records.c) ----
struct value class_value(struct eval *e, const struct ast_class *c, const struct ast_module *m);
struct value record_construct(struct eval *e, const struct record *r, const struct operand *args,
                              const char *const *names, size_t count, struct span at);
// A field or method; not found is not reported.
struct value record_field(struct eval *e, struct operand x, const char *name, struct span at,
                          bool *ret_found);
struct value class_attribute(struct eval *e, const struct record *r, const char *name,
                             struct span at);
// `self.x = v` in `__init__`; false: nothing of that kind.
bool record_assign_field(struct eval *e, const struct expr *target, struct value v);
const char *record_name(const struct record *r);
extern const struct record record_dict;

// ---- builtins (builtin.c) ----
struct call {
  const struct builtin *builtin;
  struct operand *args; // one per parameter of the row; VALUE_ABSENT where not given
  size_t count;
  struct operand *rest; // what a `*name` parameter took
  size_t rest_count;
  struct span at;     // the whole call
  struct span callee; // its name
};

struct builtin {
  const char *name;
  const char *params; // "x axis=0 *rest": required, optional, and the rest; NULL: see lang/std
  unsigned flags;
  struct value (*emit)(struct eval *e, struct call *c); // NULL: known, not supported yet
  int tag; // tells apart builtins that share a function
};

const struct builtin *builtin_find(struct eval *e, const char *name); // tl.NAME
const struct builtin *builtin_find_bare(struct eval *e, const char *name);
struct value builtin_call(struct eval *e, const struct builtin *b, const struct operand *args,
                          const char *const *names, size_t count, struct span at,
                          struct span callee);
// The candidates for "did you mean".
const char *builtin_nearest(struct eval *e, const char *name, bool methods_only);
static inline bool arg_given(const struct call *c, unsigned i) {
  return c->args[i].v.kind != VALUE_ABSENT;
}
// As messages call it: "tl.load".
const char *builtin_spelled(struct eval *e, const struct builtin *b);

#endif
