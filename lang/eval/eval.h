// SPDX-License-Identifier: Apache-2.0
// The evaluator of a file's functions: expressions, statements, names and calls are evaluated as
// far as their operands are known at compile time. It evaluates two languages with one grammar,
// host code and kernels; what each does with values that are not known is a table of functions
// (struct dialect).
//
// The evaluator is one recursion: an expression calls a function, whose statements contain
// expressions; a name is a constant of a file, whose value is an expression, under conditions of
// that file or of one that it imports. Hence expr.c, stmt.c, loop.c, call.c, access.c, records.c,
// class_members.c, scope.c, module_names.c, builtin.c, collections.c, consteval.c, needs.c,
// objects.c, text_format.c, import.c and outer.c call each other. Nothing here calls lang/ops,
// lang/builtins or lang/emit directly.
//
// Errors: a function that reports an error returns VALUE_POISON (or false), and a caller passes
// poison on without a second report. No operation is ever built on a poisoned operand.
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

// Why a variable has no value.
enum absent_reason {
  ABSENT_UNSET,    // nothing assigned it yet
  ABSENT_BRANCH,   // assigned only in one branch of an `if`
  ABSENT_LOOP,     // assigned only in a loop, which may run no times
  ABSENT_MISMATCH, // two paths give it types that cannot be merged
};

struct variable {
  const char *name;
  struct value value;
  struct span span;  // of the assignment that gave the value
  bool is_constexpr; // annotated so
  bool is_result;    // the hidden variable a `return` assigns
  enum absent_reason why;
  struct span sites[2]; // of `why`: the assignments
  const char *texts[2]; // ABSENT_MISMATCH: the type each of them gives
};

struct variable_list {
  struct variable **at;
  size_t len, cap;
};

// The flags that `break`, `continue` and `return` set: hidden boolean variables, merged by control
// flow like any other.
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
  struct frame *closure; // of a nested function: the enclosing frame, for its free names
  const struct ast_module *module;
  const struct ast_function *function;
  struct map variables;  // interned name -> struct variable *
  MlirLocation call_loc; // of operations of the call; null for the kernel
  struct span call_span;
  bool is_std;           // of the standard library: its operations have the location of the call
  bool is_exact;         // its products and sums are rounded one by one
  bool is_comprehension; // holds the targets alone; walruses assign in `closure`, as in Python
  unsigned region;       // the func.func its operations belong to
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
  const struct dialect *on; // how the current code is evaluated
  const struct lang_options *options;
  const struct ast_module *module;
  struct frame *frame;
  const struct builtin *rows; // the functions of the language
  size_t row_count;
  struct map builtins;      // name -> const struct builtin *, filled on first use
  struct map bare;          // the same for Python's own functions
  struct map reported;      // locations that already have an error, which is not repeated
  struct map remarked;      // locations that have a remark
  struct map observed;      // what the observer was told of
  struct map assigned;      // statement -> struct name_list *
  struct map functions;     // ast_function -> struct function *
  struct map records;       // ast_class -> struct record *
  struct map module_values; // ast_constant -> struct value *
  struct map module_errors; // ast_constant -> struct diag_engine *, of those that failed
  struct map files;         // path -> struct read_file *, of imports (import.c)
  struct map imported;      // "module name" -> struct value *, what an import binds
  size_t file_bytes;        // of the imported files
  struct map std_modules;   // row of std_table -> struct ast_module *, those parsed so far
  unsigned depth, call_depth;
  unsigned statements;
  const struct stmt *deciding; // the `if` or `while` whose condition is being decided, or NULL
  const struct expr *choosing; // likewise the `x if condition else y`
  bool stopped;                // nothing more is evaluated
  unsigned attempts;           // blocks of `try` around the statement, of host code
  const char *raised;      // the exception that stopped host code; NULL: none, or not known which
  unsigned constant_depth; // of constants whose values depend on each other
  bool damaged;            // the tree contains parse errors: no module is emitted
  unsigned errors;         // reported before evaluation began
  struct purpose *purpose; // of host code (objects.h); NULL: a kernel
  // The module level of files (outer.h).
  const struct dialect *outer_on;   // python_dialect, for module level code
  struct eval *outer;               // evaluates conditions at module level, or NULL
  bool is_outer;                    // is such an evaluator itself
  const char *outer_why;            // why the last name that a condition binds is not decided
  const struct ast_module *limited; // in this file only the names before `limit` are bound
  uint32_t limit;
  // For building the operations of a kernel; unused in host code.
  struct ir_context *c;
  MlirModule ir;
  MlirOperation func; // the kernel
  struct builder b;
  struct span span; // that b.loc was made from
  struct outline_cache *outlined;
  unsigned region, region_count; // the func.func being filled; 0: the kernel
  bool is_pure;                  // in a function that must not have side effects
};

typedef void (*branch_fn)(struct eval *e, void *user);

// Where the two languages differ. A NULL member: the language lacks it.
struct dialect {
  bool is_static;       // every loop runs, every assertion is checked and every function is Python
  bool stops_at_errors; // like Python; of a kernel all errors are reported
  bool has_keywords;    // `**x` in calls, parameters and dictionaries
  size_t most_values;   // in a sequence and in those within it

  // Sets the source location of the operations built from now on.
  void (*set_location)(struct eval *e, struct span at);
  // ---- values ----
  struct value (*hold)(struct eval *e, struct value v);   // the value that a name holds
  struct value (*assign)(struct eval *e, struct value v); // the value after an assignment
  // The value of an annotated assignment; `at` is the statement.
  struct value (*declare)(struct eval *e, struct operand x, const char *annotation, struct span at);
  // The value of an evaluated expression; reports poison without a diagnostic.
  struct value (*finish)(struct eval *e, const struct expr *x, struct value v);
  struct value (*constant)(struct eval *e, const struct ast_module *m, const struct ast_constant *k,
                           struct span at);
  // ---- names ----
  // Tells debuggers the value that a name of the current function has from here on.
  void (*show)(struct eval *e, const char *name, struct span at, struct value v);
  bool (*find_name)(struct eval *e, const char *name, struct value *ret);
  bool (*find_attribute)(struct eval *e, struct operand x, const char *name, struct value *ret);
  // ---- operators ----
  struct value (*binary)(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                         struct span at);
  struct value (*unary)(struct eval *e, enum ast_op op, struct operand x, struct span at);
  struct value (*compare)(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                          struct span at);
  // `and`, `or` of two values whose truth is not known at compile time.
  struct value (*logic)(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                        struct span at);
  struct value (*truths)(struct eval *e, struct value v);                    // elementwise
  struct value (*truth)(struct eval *e, struct operand x, const char *what); // of the whole value
  // `x[i]` of an opaque value; false: not known.
  bool (*find_item)(struct eval *e, const struct expr *x, const struct opaque *o,
                    struct value *ret);
  // Of a value that is neither a tuple nor a dictionary.
  struct value (*subscript)(struct eval *e, const struct expr *x, struct operand object);
  // ---- forms ----
  struct value (*dict)(struct eval *e, const struct expr *x);
  struct value (*collect)(struct eval *e, enum comprehension_kind kind, const struct value *at,
                          size_t count); // a set or dictionary
  struct value (*lambda)(struct eval *e, const struct expr *x);
  bool (*store)(struct eval *e, const struct expr *target, struct value v); // `x[i] = v`, `x.f = v`
  void (*import)(struct eval *e, const struct stmt *s);
  void (*attempt)(struct eval *e, const struct stmt *s); // `try`
  void (*unread)(struct eval *e, const struct stmt *s);  // a statement that is not supported
  // ---- calls ----
  struct value (*call_opaque)(struct eval *e, struct operand callee);
  struct value (*call_dict)(struct eval *e, const struct operand *args, const char *const *names,
                            size_t count); // dict(a=1)
  // Whether the call is emitted as one; else it is inlined.
  bool (*call)(struct eval *e, const struct function *f, const struct operand *args,
               const char *const *names, size_t count, struct span at, struct value *ret);
  void (*refuse_function)(struct eval *e, const struct function *f, struct span at); // of the host
  bool (*refuse_builtin)(struct eval *e, const struct builtin *b, struct span at);
  // ---- control flow that is decided later ----
  // Every variable of `changed` is merged afterwards.
  void (*branch)(struct eval *e, struct value cond, const struct variable_list *changed,
                 branch_fn then, branch_fn otherwise, void *user);
  void (*loop)(struct eval *e, const struct stmt *s, const struct range *r);
  void (*loop_while)(struct eval *e, const struct stmt *s);
};

// ---- locations and messages (messages.c) ----
static inline void eval_at(struct eval *e, struct span at) {
  if (e->on->set_location)
    e->on->set_location(e, at);
}
// diag_error with the chain of calls as notes. NULL when this location already has this error:
// unrolled loops and functions inlined twice report once.
struct diag *eval_error(struct eval *e, struct span at, enum diag_code code, const char *fmt, ...)
    PRINTF(4, 5);
struct diag *eval_warning(struct eval *e, struct span at, enum diag_code code, const char *fmt, ...)
    PRINTF(4, 5);
// Tells the observer, if there is one; `key` distinguishes what has the value (observe.c).
void eval_observe(struct eval *e, const void *key, struct span at, struct value v);
// If the operand is a name whose value is None: how to guard its use. False: it is none, and no
// help was added.
bool eval_help_none(struct eval *e, struct diag *d, struct operand x);
// ---- the user's own expressions (spelled.c) ----
// The text at `at` for a message: one line of user code, not too long; else empty.
struct str eval_spelled(const struct eval *e, struct span at);
bool spelled_is_name(struct str text);
// A name, call, subscript or attribute, to which `[...]` or `.f()` can be appended.
bool spelled_is_primary(struct str text);
// The text, in parentheses unless it is primary.
const char *spelled_primary(struct eval *e, struct str text);
// An operand's span with the parentheses around it.
struct span span_with_parentheses(struct span at);
// The item of a list or tuple written at `list`; the list itself where it is not written as one.
struct span span_of_item(struct span list, size_t index);
// A remark with a topic, once per location.
void eval_remark(struct eval *e, struct span at, const char *topic, const char *text);
// For messages: "tile<64xf32>", "the integer 3", "a function".
const char *value_describe(struct eval *e, struct value v);
// The type's name as a label: "tile<64xf32>", "int", "None".
const char *value_type_text(struct eval *e, struct value v);
// Enters and leaves a recursive function; false, and reported, when the recursion is too deep.
bool eval_enter(struct eval *e, struct span at);
static inline void eval_leave(struct eval *e) { e->depth--; }

// ---- names (scope.c) ----
struct variable *scope_find(struct frame *f, const char *name);
struct variable *scope_variable(struct eval *e, const char *name); // made when new
void scope_assign(struct eval *e, const char *name, struct span at, struct value v);
// The value of a name: local, enclosing, module, builtin. Reports unknown and possibly undefined
// names.
struct value scope_lookup(struct eval *e, const char *name, struct span at);
struct value scope_read(struct eval *e, struct variable *v, struct span at);
// The value of a file's name: constant, function, class, or import (module_names.c). False: none.
bool scope_module_name(struct eval *e, const struct ast_module *m, const char *name, struct span at,
                       struct value *ret);
// The value of a constant of the file or of a class in it.
struct value scope_constant(struct eval *e, const struct ast_module *m,
                            const struct ast_constant *k, struct span at);
// A type or a module of the language by the last part of its name: `float32`, `math`, `libdevice`.
bool scope_language_name(const char *name, struct value *ret);
struct value module_attribute(struct eval *e, enum module_id m, const char *name, struct span at);
// The span of `np.exp`, given that of `exp`; the name alone if no dotted name is before it.
struct span eval_dotted_span(struct span name);
// The same without a report when not found.
bool module_find(struct eval *e, enum module_id m, const char *name, struct value *ret);

struct name_list {
  const char **at;
  size_t len, cap;
};
// A part of a function's body: the statements of `list` from `from` on, then `next`.
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
// The names that the statements may assign, including nested statements and walruses.
void names_of_seq(struct eval *e, const struct seq *s, struct name_list *ret);
void names_of_expr(struct eval *e, const struct expr *x, struct name_list *ret);
// Whether it leaves the enclosing loop or function on some path; on every path.
bool stmt_may_exit(const struct stmt *s);
bool list_may_break(const struct stmt_list *l); // the loop whose body it is
bool list_always_exits(const struct stmt_list *l);

// The variables that the code under a branch or loop may change.
struct variable_list scope_collect(struct eval *e, const struct name_list *names);

// ---- statements (stmt.c, loop.c) ----
void eval_seq(struct eval *e, const struct seq *s);
void eval_for(struct eval *e, const struct stmt *s);
void eval_while(struct eval *e, const struct stmt *s);
// The hidden variables of the function's control flow that a `break`, `continue` or `return` sets.
void flow_variables(struct eval *e, struct variable_list *l);
// The flags of one loop.
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
// A bound of a slice of a sequence of `len` elements; `absent` where it is not given.
bool eval_slice_bound(struct eval *e, const struct expr *x, int64_t len, int64_t absent,
                      int64_t *ret);
// The step of a slice; 1 where it is absent or `None`.
bool eval_slice_step(struct eval *e, const struct expr *item, int64_t *ret);
// The value of a constant of the file, evaluated as kernel code, else as host code.
struct value eval_constant(struct eval *e, const struct ast_module *m, const struct ast_constant *k,
                           struct span at);
struct value eval_attribute(struct eval *e, struct operand object, const char *name,
                            struct span at);
// The truth of a value: VALUE_BOOL, or the dialect's value for one that is not known.
struct value eval_truth(struct eval *e, struct operand x, const char *what);
// The truth of the condition x of the statement s.
struct value eval_condition(struct eval *e, const struct expr *x, const struct stmt *s,
                            const char *what);
// False, and reported, for a tuple of too many values.
bool eval_check_size(struct eval *e, struct value v, struct span at);
// Bool or integer known at compile time, else E0301 naming `what`.
bool need_const_int(struct eval *e, struct operand x, const char *what, int64_t *ret);
bool need_const_bool(struct eval *e, struct operand x, const char *what, bool *ret);
bool need_const_str(struct eval *e, struct operand x, const char *what, struct str *ret);
// The elements of a tuple, of a range known at compile time, or of a tile's shape.
bool need_sequence(struct eval *e, struct operand x, struct tuple *ret);

// ---- calls (call.c) ----
struct value eval_call(struct eval *e, const struct expr *x);
// Inlines a function. `names[i]` NULL: positional.
struct value eval_inline(struct eval *e, const struct function *f, const struct operand *args,
                         const char *const *names, size_t count, struct span at);
// Calls a function, a builtin, a class or a type.
struct value eval_call_value(struct eval *e, struct operand callee, const struct operand *args,
                             const char *const *names, size_t count, struct span at);
// Emits the body of a function whose parameters are bound; the frame receives its result.
void eval_body(struct eval *e, struct frame *f);
struct value function_value(struct eval *e, const struct ast_function *f,
                            const struct ast_module *m, struct frame *closure);

// The same; also gives the final value of the variable `of`.
struct value eval_inline_for(struct eval *e, const struct function *f, const struct operand *args,
                             const char *const *names, size_t count, struct span at, const char *of,
                             struct value *ret);

// ---- records (records.c) ----
struct value class_value(struct eval *e, const struct ast_class *c, const struct ast_module *m);
struct value record_construct(struct eval *e, const struct record *r, const struct operand *args,
                              const char *const *names, size_t count, struct span at);
// Which field may be meant: a nearest name as an edit, else all. False: no record with fields.
bool record_help_field(struct eval *e, struct diag *d, const struct record *r, const char *name,
                       struct span at);
// A tuple that a launch gives to a parameter whose annotation names a class of named tuples: that
// class's record, and so for fields within; other values as they are. Another number of elements is
// reported (E0501) at `at`.
struct value record_of_argument(struct eval *e, struct value v, const struct expr *annotation,
                                const struct ast_module *m, struct span at);
// A field or method; no report when not found.
struct value record_field(struct eval *e, struct operand x, const char *name, struct span at,
                          bool *ret_found);
// Constants of classes, and the members of an Enum (class_members.c): values with `value` and
// `name`; of an IntEnum or StrEnum the plain values.
bool class_constant(struct eval *e, const struct record *r, const char *name, struct span at,
                    struct value *ret);
// Sets the fields of an Enum's members; false for other classes.
bool enum_fields(struct record *r);
// The member with a value; false if the class is no Enum.
bool enum_construct(struct eval *e, const struct record *r, const struct operand *args,
                    size_t count, struct span at, struct value *ret);
// The members in order; false, reported, if one has no value, and NULL if the class is no Enum.
bool enum_members(struct eval *e, const struct record *r, struct span at, struct tuple *ret);
struct value class_attribute(struct eval *e, const struct record *r, const char *name,
                             struct span at);
// `self.x = v` in `__init__`; false: another target.
bool record_assign_field(struct eval *e, const struct expr *target, struct value v);
const char *record_name(const struct record *r);
extern const struct record record_dict, record_constexpr_type;
// Triton's type of a number known at compile time, which includes the number.
struct value value_constexpr_type(struct eval *e, struct value v);

// ---- builtins (builtin.c) ----
struct call {
  const struct builtin *builtin;
  struct operand *args; // one per parameter of the row; VALUE_ABSENT where not given
  size_t count;
  struct operand *rest; // the arguments of a `*name` parameter
  size_t rest_count;
  struct span at;     // the whole call
  struct span callee; // its name
};

struct builtin {
  const char *name;
  const char *params; // "x axis=0 *rest": required, optional, and the rest; NULL: see lang/std
  unsigned flags;
  struct value (*emit)(struct eval *e, struct call *c); // NULL: see lang/std
  int tag; // distinguishes builtins that share a function
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
// Help for a name of Python, NumPy, PyTorch or CUDA (habits.def). `spelled`: the language's
// function of that name, `tl.exp`, or NULL. `at`: what a replacement replaces. False: not a
// known one.
bool habit_help(struct diag *d, const char *name, const char *spelled, struct span at);
// The same for a method of a tile; `at` is its name.
bool habit_method_help(struct diag *d, const char *name, struct span at);
// The same for a parameter that `function` lacks; `at` spans the argument, `callee` the function's
// name or nothing. Parameters of other libraries, and of Triton once.
bool habit_parameter_help(struct diag *d, const char *function, const char *name, struct span at,
                          struct span callee);
// Whether it is Python's `max` or `min`, which compare their arguments.
bool habit_compares(const char *builtin, struct span callee);
// The span of `name` before the value of a keyword argument, `name=value`; SPAN_NONE if not there.
struct span eval_keyword_span(struct span value, const char *name);
// The same; the value's span where the keyword is not there.
struct span eval_argument_span(struct span value, const char *name);
// For messages: "tl.load".
const char *builtin_spelled(struct eval *e, const struct builtin *b);

#endif
