// SPDX-License-Identifier: Apache-2.0
// The flags of a row of lang/builtins/builtins.def. Other files read what they need to know of a
// builtin here, not from its name.
#ifndef TILE_LANG_EVAL_BUILTIN_FLAGS_H
#define TILE_LANG_EVAL_BUILTIN_FLAGS_H

enum builtin_flags {
  BUILTIN_METHOD = 1,        // also `x.name(...)` on tiles and scalars
  BUILTIN_BARE = 2,          // Python's own, found without a prefix first: len, range, ...
  BUILTIN_MATH = 4,          // also under tl.math and libdevice
  BUILTIN_PREFIXED = 8,      // only with a prefix (tl.NAME): the name is too common
  BUILTIN_TYPE = 16,         // a method of types: `x.dtype.is_floating()`
  BUILTIN_HOST = 32,         // of host code only (python.h)
  BUILTIN_BOTH = 64,         // of kernels and of host code
  BUILTIN_ARRAY = 128,       // also in torch and numpy
  BUILTIN_ELEMENT = 256,     // also names the element type `tag`: int, float, bool
  BUILTIN_BLOCK = 512,       // a method of block pointers
  BUILTIN_KEYWORDS = 1024,   // takes any keyword argument: dict(a=1)
  BUILTIN_DESCRIPTOR = 2048, // a method of tensor descriptors
  BUILTIN_FORMAT = 4096      // str.format
};

// How the shape and the origin of the result follow from the arguments, for lang/extents, which
// guesses what parameters are extents. Arguments are found by the names of the row's parameters.
enum builtin_form {
  FORM_ELEMENTWISE = 0,
  FORM_SAME = 1 << 16,
  FORM_ARANGE = 2 << 16,
  FORM_FULL = 3 << 16,
  FORM_RESHAPE = 4 << 16,
  FORM_TRANS = 5 << 16,
  FORM_EXPAND = 6 << 16,
  FORM_LOAD = 7 << 16,
  FORM_STORE = 8 << 16,
  FORM_BLOCK = 9 << 16,
  FORM_ADVANCE = 10 << 16,
  FORM_DOT = 11 << 16,
  FORM_DOT_SCALED = 12 << 16,
  FORM_REDUCE = 13 << 16,
  FORM_PROGRAM = 14 << 16,
  FORM_CDIV = 15 << 16,
  FORM_LEAST = 16 << 16,
  FORM_SWIZZLE = 17 << 16,
  FORM_RANDOM4 = 18 << 16,
  FORM_RANGE = 19 << 16,
  FORM_UNROLLED = 20 << 16, // a range whose loop is unrolled
  FORM_DESCRIPTOR = 21 << 16,
  FORM_DESCRIPTOR_LOAD = 22 << 16,
  FORM_MASK = 31 << 16
};

// The function of Python's `math` that computes it at compile time (lang/eval/const_math.c).
enum builtin_fold {
  FOLD_EXP = 1 << 21,
  FOLD_EXP2 = 2 << 21,
  FOLD_LOG = 3 << 21,
  FOLD_LOG2 = 4 << 21,
  FOLD_LOG10 = 5 << 21,
  FOLD_LOG1P = 6 << 21,
  FOLD_EXPM1 = 7 << 21,
  FOLD_SQRT = 8 << 21,
  FOLD_SIN = 9 << 21,
  FOLD_COS = 10 << 21,
  FOLD_TAN = 11 << 21,
  FOLD_TANH = 12 << 21,
  FOLD_FLOOR = 13 << 21,
  FOLD_CEIL = 14 << 21,
  FOLD_TRUNC = 15 << 21,
  FOLD_POW = 16 << 21,
  FOLD_MASK = 31 << 21
};

// The values that `isinstance(x, NAME)` is true of.
enum builtin_class {
  CLASS_CONSTANT = 1 << 26, // whatever is known at compile time
  CLASS_INT = 2 << 26,      // bool, too
  CLASS_FLOAT = 3 << 26,
  CLASS_BOOL = 4 << 26,
  CLASS_STRING = 5 << 26,
  CLASS_SEQUENCE = 6 << 26,
  CLASS_TENSOR = 7 << 26,
  CLASS_TYPE = 8 << 26,
  CLASS_RANGE = 9 << 26,
  CLASS_DESCRIPTOR = 10 << 26,
  CLASS_CONSTANT_TYPE = 11 << 26, // `.type` of a number known at compile time
  CLASS_POINTER_TYPE = 12 << 26,  // `.dtype` of a pointer
  CLASS_MASK = 15 << 26
};

#endif
