// SPDX-License-Identifier: Apache-2.0
// The functions of builtins.def, one file per family.
#ifndef TILE_LANG_BUILTINS_BUILTINS_H
#define TILE_LANG_BUILTINS_BUILTINS_H

#include "lang/ops/ops.h"

enum math_fn {
  MATH_FN_STD, // NAME_f32 and NAME_f64 of lang/std
  MATH_FN_EXP2,
  MATH_FN_LOG2,
  MATH_FN_SQRT,
  MATH_FN_SQRT_RN,
  MATH_FN_RSQRT,
  MATH_FN_FLOOR,
  MATH_FN_CEIL,
  MATH_FN_RINT // halves to even
};
enum atomic_fn {
  ATOMIC_FN_ADD,
  ATOMIC_FN_MAX,
  ATOMIC_FN_MIN,
  ATOMIC_FN_AND,
  ATOMIC_FN_OR,
  ATOMIC_FN_XOR,
  ATOMIC_FN_XCHG
};
enum hint { HINT_DIVISIBILITY, HINT_CONTIGUITY, HINT_CONSTANCY };

typedef struct value builtin_fn(struct eval *e, struct call *c);

// lang/builtins/builtin_python.c
builtin_fn builtin_len, builtin_range, builtin_minmax, builtin_isinstance, builtin_hasattr,
    builtin_getattr, builtin_number, builtin_str, builtin_tuple, builtin_enumerate, builtin_zip;
// lang/builtins/static.c
builtin_fn builtin_static_assert, builtin_static_print, builtin_constexpr, builtin_constexpr_type,
    builtin_dtype, builtin_pointer_type, builtin_condition, builtin_next_power_of_2, builtin_log2,
    builtin_target, builtin_type_question, builtin_type_is;
// lang/builtins/create.c
builtin_fn builtin_program_id, builtin_arange, builtin_full, builtin_zeros, builtin_zeros_like,
    builtin_cast, builtin_to_tensor;
// lang/builtins/shape.c
builtin_fn builtin_broadcast, builtin_broadcast_to, builtin_expand_dims, builtin_squeeze,
    builtin_reshape, builtin_ravel, builtin_trans;
// lang/builtins/elementwise.c
builtin_fn builtin_where, builtin_minimum, builtin_clamp, builtin_operator, builtin_logical,
    builtin_cdiv, builtin_fma, builtin_fdiv, builtin_umulhi, builtin_abs;
// lang/builtins/math.c
builtin_fn builtin_math;
// lang/builtins/builtin_memory.c
builtin_fn builtin_load, builtin_store;
// lang/builtins/atomic.c
builtin_fn builtin_atomic, builtin_atomic_cas, builtin_atomic_poll;
// lang/builtins/builtin_collective.c
builtin_fn builtin_reduce, builtin_scan, builtin_map_elementwise;
// lang/builtins/elements.c
builtin_fn builtin_join, builtin_split, builtin_item, builtin_gather, builtin_histogram;
// lang/builtins/dot.c
builtin_fn builtin_dot;
// lang/builtins/builtin_device.c
builtin_fn builtin_special_register, builtin_grid_dependency, builtin_inline_asm, builtin_extern;
// lang/builtins/block.c
builtin_fn builtin_make_block_ptr, builtin_advance;
// lang/builtins/descriptor.c
builtin_fn builtin_make_tensor_descriptor, builtin_tensor_descriptor, builtin_descriptor_load,
    builtin_descriptor_store, builtin_descriptor_atomic, builtin_descriptor_gather,
    builtin_descriptor_scatter;
// lang/builtins/numbers.c
builtin_fn builtin_number_info, builtin_int_dtype;
// lang/builtins/builtin_debug.c
builtin_fn builtin_hint, builtin_assume, builtin_debug_barrier, builtin_device_print,
    builtin_device_assert, builtin_expect_zero, builtin_print;

extern const struct builtin builtin_table[];
extern const size_t builtin_table_len;

struct type block_pointer_type(struct value v); // a pointer to a tile of its element type
// A tensor descriptor of run-time values: base, n sizes (i32 or i64), n - 1 strides (i64).
struct value descriptor_value(struct eval *e, struct value base, const struct value *sizes,
                              const struct value *strides, struct type block, bool pads_nan);
// The block as a tile of the pointee, whose shape is the tuple `shape`. False after a diagnostic.
bool descriptor_block(struct eval *e, struct operand shape, struct type pointee, bool pads_nan,
                      struct type *ret);
// An attribute or a method of a tensor descriptor; false: it has none of that name.
bool descriptor_attribute(struct eval *e, struct value desc, const char *name, struct value *ret);
// The kind of tile.atomic_rmw that computes it.
const char *atomic_kind(enum atomic_fn fn, struct type t);
// A run-time value of argument i (numbers get their natural type), or poison.
struct value arg_runtime(struct eval *e, struct call *c, unsigned i);
// The pointers of a block, and the mask of `boundary_check` or VALUE_NONE.
struct block_access {
  struct value ptr, mask;
};
bool emit_block_access(struct eval *e, struct value block_pointer, struct operand boundary,
                       struct span at, struct block_access *ret);
// The elements at the positions `index`, a tile of rank 1, along `axis`.
struct value emit_take(struct eval *e, struct value x, unsigned axis, struct value index);
// minimum (maximum) of two values, folded where both are known.
struct value emit_minimum(struct eval *e, struct operand a, struct operand b, bool maximum,
                          bool propagate_nan, struct span at);
// An argument that is an element type; reports others.
bool need_type(struct eval *e, struct operand x, const char *what, struct type *ret);
// An optional string argument that must be one of `allowed` (NULL-terminated); "" when absent.
bool need_choice(struct eval *e, struct call *c, unsigned i, const char *what,
                 const char *const *allowed, const char **ret);
// A mask as i1 in the shape of `like`, which `pointer` has (SPAN_NONE: no pointer has it); a null
// value for `None`. False if it was reported.
bool need_mask(struct eval *e, struct operand x, struct type like, struct span pointer,
               MlirValue *ret);
// An axis of a tile; negative ones count from the end.
bool need_axis(struct eval *e, struct operand x, unsigned rank, unsigned *ret);
// The same elements in row-major order; `t` has as many.
struct value emit_reshape(struct eval *e, struct value x, struct type t, bool can_reorder);
// The pointee of a pointer or a tile of pointers; reports others as E0507.
bool need_pointer(struct eval *e, struct call *c, struct type *ret_pointee);

#endif
