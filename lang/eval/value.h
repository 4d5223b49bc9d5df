// SPDX-License-Identifier: Apache-2.0
// The value of an expression while a kernel is emitted: an SSA value of the IR, or a value known at
// compile time. Passed by copy; long data lives on the session's arena.
#ifndef TILE_LANG_EVAL_VALUE_H
#define TILE_LANG_EVAL_VALUE_H

#include "lang/eval/eval_types.h"

#include <assert.h>

__extension__ typedef __int128 int_const; // compile-time integers: i64 and u64 both fit
__extension__ typedef unsigned __int128 uint_const;

enum value_kind {
  VALUE_ABSENT, // an optional argument that was not given; a variable without a value
  VALUE_POISON, // an error that was already reported; suppresses errors that follow from it
  VALUE_RT,     // run-time tile or scalar
  VALUE_INT,
  VALUE_FLOAT,
  VALUE_BOOL,
  VALUE_NONE,
  VALUE_STR,
  VALUE_TYPE,    // an element type, or a tile's type (`x.type`)
  VALUE_TUPLE,   // also lists
  VALUE_FUNC,    // a function of the language
  VALUE_MODULE,  // `tl`, `triton`, `tl.math`, ...
  VALUE_FILE,    // a module that is a file or a package (import.h)
  VALUE_BUILTIN, // a row of builtins.def
  VALUE_BOUND,   // a builtin with its first argument: `x.to`
  VALUE_RANGE,   // range(...), tl.range(...), tl.static_range(...)
  VALUE_SLICE,   // `a:b` inside a subscript
  VALUE_CLASS,   // a class of the file: constructs records
  VALUE_OPAQUE   // of host code (objects.h): only its name is known
};

struct value;
struct builtin;
struct ast_class;
struct ast_field;
struct ast_module;
struct file_module;
struct function;
struct opaque;

// The kinds of records: tuples with named fields.
enum record_kind {
  RECORD_CLASS,         // its elements are the fields of a class of the file
  RECORD_DICT,          // pairs of a key and a value, known at compile time
  RECORD_BLOCK_POINTER, // of make_block_ptr
  RECORD_DESCRIPTOR,    // of make_tensor_descriptor
  RECORD_CONSTEXPR_TYPE // the type of a number known at compile time: the number
};
struct record {
  enum record_kind kind;
  // RECORD_CLASS: the class, and its fields, those of its bases first
  const struct ast_class *ast;
  const struct ast_module *module;
  const struct ast_field *fields;
  size_t field_count;
};

struct tuple {
  struct value *at;
  size_t len;
  const struct record *record; // NULL: a tuple
  // In host code (python.h): the mutable object that holds the elements. `at` and `len` are its
  // contents when the value was last read.
  struct list *list;
};
struct list {
  struct value *at;
  size_t len, cap;
};

struct bound_method {
  const struct builtin *builtin; // or:
  const struct function *func;   // of a class
  struct value *receiver;
};

// Options of tl.range, which become attributes of the loop. -1: not given.
enum loop_option {
  LOOP_NUM_STAGES,
  LOOP_UNROLL_FACTOR,
  LOOP_DISALLOW_ACC_MULTI_BUFFER,
  LOOP_FLATTEN,
  LOOP_WARP_SPECIALIZE,
  LOOP_DISABLE_LICM,
  LOOP_OPTION_COUNT
};
struct loop_options {
  int32_t at[LOOP_OPTION_COUNT];
};

struct range {
  struct value *lower, *upper, *step;
  bool is_static;                     // fully unrolled
  const struct loop_options *options; // NULL: none
};

// MODULE_HOST: torch and numpy, whose types and limits constants may use. MODULE_INDUCTOR: the
// `triton_helpers` of kernels that torch.compile generates.
enum module_id {
  MODULE_TRITON,
  MODULE_TL,
  MODULE_MATH,
  MODULE_EXTRA,
  MODULE_HOST,
  MODULE_INDUCTOR
};

struct value {
  enum value_kind kind;
  // A number that was assigned to a name: combined with run-time values it keeps a type of its own
  // (literal_type), where a literal adopts theirs.
  bool is_typed;
  struct type type; // VALUE_RT: of the value; VALUE_TYPE: the type itself
  union {
    MlirValue rt;
    int_const i;
    double f;
    bool b;
    struct str s;
    struct tuple tuple;
    const struct function *func;
    const struct record *class;
    enum module_id module;
    const struct file_module *file;
    const struct builtin *builtin;
    struct bound_method bound;
    struct range range;
    const struct opaque *opaque;
  };
};

static inline struct value value_of_kind(enum value_kind k) { return (struct value){.kind = k}; }
#define VALUE_ERROR value_of_kind(VALUE_POISON)
static inline struct value value_rt(MlirValue v, struct type t) {
  return (struct value){.kind = VALUE_RT, .type = t, .rt = v};
}
static inline struct value value_int(int_const i) {
  return (struct value){.kind = VALUE_INT, .i = i};
}
static inline struct value value_float(double f) {
  return (struct value){.kind = VALUE_FLOAT, .f = f};
}
static inline struct value value_bool(bool b) { return (struct value){.kind = VALUE_BOOL, .b = b}; }
static inline struct value value_str(struct str s) {
  return (struct value){.kind = VALUE_STR, .s = s};
}
static inline struct value value_type(struct type t) {
  return (struct value){.kind = VALUE_TYPE, .type = t};
}
static inline struct value value_tuple(struct value *at, size_t len) {
  return (struct value){.kind = VALUE_TUPLE, .tuple = {at, len, NULL}};
}
// A tuple of the same kind with other elements.
static inline struct value value_with_items(struct value v, struct value *at) {
  assert(v.kind == VALUE_TUPLE);
  v.tuple.at = at;
  return v;
}
static inline bool value_is_record(struct value v, enum record_kind kind) {
  return v.kind == VALUE_TUPLE && v.tuple.record && v.tuple.record->kind == kind;
}
// A block pointer or a tensor descriptor: programs do not see its parts as elements.
static inline bool value_is_memory_record(struct value v) {
  return value_is_record(v, RECORD_BLOCK_POINTER) || value_is_record(v, RECORD_DESCRIPTOR);
}

static inline bool value_is_poison(struct value v) { return v.kind == VALUE_POISON; }
static inline bool value_is_rt(struct value v) { return v.kind == VALUE_RT; }
// A number known at compile time.
static inline bool value_is_number(struct value v) {
  return v.kind == VALUE_INT || v.kind == VALUE_FLOAT || v.kind == VALUE_BOOL;
}
// An integer or a boolean known at compile time, as an integer.
static inline bool value_as_int(struct value v, int_const *ret) {
  if (v.kind == VALUE_BOOL)
    return *ret = v.b, true;
  if (v.kind == VALUE_INT)
    return *ret = v.i, true;
  return false;
}
static inline double value_as_double(struct value v) {
  assert(value_is_number(v));
  return v.kind == VALUE_FLOAT ? v.f : v.kind == VALUE_BOOL ? (double)v.b : (double)v.i;
}

#endif
