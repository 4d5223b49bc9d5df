// SPDX-License-Identifier: Apache-2.0
// What the rows of lang/builtins/builtins.def say of their functions.
#ifndef TILE_LANG_EVAL_BUILTIN_FLAGS_H
#define TILE_LANG_EVAL_BUILTIN_FLAGS_H

enum builtin_flags {
  BUILTIN_METHOD = 1,   // also `x.name(...)` on tiles and scalars
  BUILTIN_BARE = 2,     // Python's own, found without a prefix first: len, range, ...
  BUILTIN_MATH = 4,     // also under tl.math and libdevice
  BUILTIN_PREFIXED = 8, // found under tl. only: too common a word
  BUILTIN_TYPE = 16,    // a question to a type: `x.dtype.is_floating()`
  BUILTIN_HOST = 32,    // of Python of the host alone (python.h)
  BUILTIN_BOTH = 64,    // of kernels, and Python of the host may call it
  BUILTIN_ARRAY = 128,  // also of torch and numpy
  BUILTIN_ELEMENT = 256 // names an element type too: int, float, bool; `tag` says which
};

// What becomes of shapes and origins, for who guesses which parameters are extents (lang/extents).
// Of two rows of a name one has a form.
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
  FORM_MASK = 31 << 16
};

#endif
