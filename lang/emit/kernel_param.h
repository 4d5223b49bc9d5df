// SPDX-License-Identifier: Apache-2.0
// The parameters of the kernel that is emitted (kernel_param.c).
#ifndef TILE_LANG_EMIT_KERNEL_PARAM_H
#define TILE_LANG_EMIT_KERNEL_PARAM_H

#include "lang/eval/eval.h"

// One parameter, or one element of a tuple: its declaration and its binding combined.
struct kernel_param {
  const char *name; // of an element `name[0]`
  const struct ast_param *ast;
  const struct lang_param *declared;
  const struct lang_binding *binding; // NULL: none
  bool is_meant;                      // a binding was reported that misspells its name
  bool is_tuple;
  bool is_descriptor;
  struct kernel_param *items; // of a tuple; of a descriptor its base, sizes and strides
  size_t item_count;
  bool is_runtime;
  bool is_one; // a constant of its type: specialisation must not change what the kernel computes
  struct type type;
  uint32_t divisible_by;
  bool is_unaligned; // a pointer: known to be no multiple of 16 bytes
  struct value constant;
  struct type block;                     // of a descriptor
  bool pads_nan;                         // of a descriptor
  const struct kernel_param *descriptor; // whose base this is; NULL: none
};

struct kernel {
  const struct ast_function *function;
  struct kernel_param *params;
  size_t count;
};

// Reports bindings that name no parameter.
void kernel_check_bindings(struct eval *e, struct kernel *k);
// Decides what each parameter is: an argument, a constant, a tensor descriptor, or a tuple of
// these. `ast`, `declared` and `name` are set. Errors are reported, and give a poisoned constant.
void kernel_params_resolve(struct eval *e, struct kernel *k);

// ---- descriptor_param.c ----
// Whether the launch or the annotation makes the parameter a tensor descriptor.
bool descriptor_param_is(const struct kernel_param *p);
// Its block and its items. The compile-time parameters that its annotation names have values.
void descriptor_param_resolve(struct eval *e, struct kernel_param *p);

#endif
