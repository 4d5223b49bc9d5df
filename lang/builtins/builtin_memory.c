// SPDX-License-Identifier: Apache-2.0
// Loads and stores.
#include "lang/builtins/builtins.h"

#include <math.h>

// Options of block pointers given with another pointer.
static bool no_block_pointers(struct eval *e, struct call *c, unsigned i, const char *name) {
  if (!arg_given(c, i) || c->args[i].v.kind == VALUE_NONE ||
      (c->args[i].v.kind == VALUE_TUPLE && c->args[i].v.tuple.len == 0) ||
      (c->args[i].v.kind == VALUE_STR && c->args[i].v.s.len == 0))
    return true;
  struct diag *d = eval_error(e, c->args[i].at, E0515, "`%s` without a block pointer", name);
  diag_help(d, "use a mask: `mask=offsets < n`");
  return false;
}

// Converts the block pointer of a load or store to pointers and a mask; `boundary` is the argument
// that lists the dimensions to check.
static bool take_block(struct eval *e, struct call *c, unsigned boundary, unsigned mask) {
  struct block_access b;
  if (!value_is_record(c->args[0].v, RECORD_BLOCK_POINTER))
    return true;
  if (arg_given(c, mask) && c->args[mask].v.kind != VALUE_NONE) {
    struct diag *d = eval_error(e, c->args[mask].at, E0515, "a mask for a block pointer");
    diag_help(d, "name the dimensions to check: `boundary_check=(0, 1)`");
    return false;
  }
  if (!emit_block_access(e, c->args[0].v, c->args[boundary], c->at, &b))
    return false;
  c->args[0].v = b.ptr;
  c->args[mask].v = b.mask;
  c->args[boundary].v = value_of_kind(VALUE_ABSENT);
  return true;
}

// The value of elements out of bounds: zero, or NaN for "nan".
static bool take_padding(struct eval *e, struct call *c) {
  static const char *const paddings[] = {"", "zero", "nan", NULL};
  const char *padding;
  bool is_block = value_is_record(c->args[0].v, RECORD_BLOCK_POINTER);
  if (!is_block)
    return no_block_pointers(e, c, 4, "padding_option");
  if (!need_choice(e, c, 4, "the padding", paddings, &padding))
    return false;
  if (arg_given(c, 2) && c->args[2].v.kind != VALUE_NONE) {
    struct diag *d = eval_error(e, c->args[2].at, E0515, "`other` for a block pointer");
    diag_help(d, "what lies outside is zero, or NaN with `padding_option=\"nan\"`");
    return false;
  }
  if (!take_block(e, c, 3, 1))
    return false;
  if (strcmp(padding, "nan") == 0 && c->args[1].v.kind == VALUE_RT)
    c->args[2].v = value_float((double)NAN);
  return true;
}

static struct value load_scalar_type(struct eval *e, struct value loaded, struct type pointee) {
  // Booleans are bytes in memory.
  return type_is_bool(pointee) ? emit_truth_tile(e, loaded) : loaded;
}

// The argument `other` as a tile of the stored type, or null; false if it was reported.
static bool load_other(struct eval *e, struct call *c, struct type pointee, struct type stored,
                       MlirValue *ret) {
  struct operand o = c->args[2];
  *ret = (MlirValue){NULL};
  if (!arg_given(c, 2) || o.v.kind == VALUE_NONE)
    return true;
  if (!arg_given(c, 1) || c->args[1].v.kind == VALUE_NONE) {
    struct diag *d = eval_error(e, o.at, E0505, "`other` without `mask`");
    diag_help(d, "`other` is what masked-off elements get: add `mask=...`, or leave it out");
    return false;
  }
  if (value_is_number(o.v) && !pointee.ptr)
    o.v = literal_as(e, o, pointee);
  else
    o.v = emit_convert(e, o, type_elem(pointee));
  o.v = value_is_poison(o.v) ? o.v : emit_cast(e, o.v, type_elem(stored), NULL);
  o.v = broadcast_to(e, o, pointee, "`other` ", c->args[0].at);
  *ret = o.v.rt;
  return !value_is_poison(o.v);
}

struct value builtin_load(struct eval *e, struct call *c) {
  static const char *const caches[] = {"", ".ca", ".cg", ".cs", ".cv", NULL};
  static const char *const evictions[] = {"", "evict_first", "evict_last", "evict_normal", NULL};
  const char *cache, *evict;
  struct type pointee;
  bool is_volatile = false;
  MlirValue mask, other;
  if (!take_padding(e, c) || !need_pointer(e, c, &pointee) ||
      !no_block_pointers(e, c, 3, "boundary_check") ||
      !need_choice(e, c, 5, "the cache modifier", caches, &cache) ||
      !need_choice(e, c, 6, "the eviction policy", evictions, &evict) ||
      (arg_given(c, 7) && !need_const_bool(e, c->args[7], "`volatile`", &is_volatile)) ||
      !need_mask(e, c->args[1], pointee, c->args[0].at, &mask))
    return VALUE_ERROR;
  struct type stored = pointee; // what the IR loads
  if (type_is_bool(pointee))
    stored.dtype = DTYPE_I8;
  if (!load_other(e, c, pointee, stored, &other))
    return VALUE_ERROR;
  if (mlirValueIsNull(mask)) // always true
    other = mask;
  MlirValue v =
      build_load(&e->b, c->args[0].v.rt, mask, other, *cache ? cache + 1 : "", evict, is_volatile);
  return load_scalar_type(e, value_rt(v, stored), pointee);
}

// The value to store, in the type that memory holds and the shape of the pointer.
static struct value stored_value(struct eval *e, struct call *c, struct type pointee) {
  struct operand value = c->args[1];
  bool is_literal = value_is_number(value.v) && !pointee.ptr;
  if (!is_literal)
    value.v = arg_runtime(e, c, 1);
  if (value.v.kind == VALUE_RT && value.v.type.ptr != pointee.ptr) {
    eval_error(e, value.at, E0503, "cannot store %s through %s", type_text(e->a, value.v.type),
               type_text(e->a, type_elem(c->args[0].v.type)));
    return VALUE_ERROR;
  }
  if (is_literal)
    value.v = literal_as(e, value, pointee);
  else if (!value_is_poison(value.v))
    value.v = emit_cast(e, value.v, type_elem(pointee), NULL);
  if (!value_is_poison(value.v) && type_is_bool(pointee))
    value.v = emit_cast(e, value.v, type_scalar(DTYPE_I8), NULL);
  return broadcast_to(e, value, pointee, "the value ", c->args[0].at);
}

struct value builtin_store(struct eval *e, struct call *c) {
  static const char *const caches[] = {"", ".wb", ".cg", ".cs", ".wt", NULL};
  static const char *const evictions[] = {"", "evict_first", "evict_last", "evict_normal", NULL};
  const char *cache, *evict;
  struct type pointee;
  MlirValue mask;
  if (!take_block(e, c, 3, 2) || !need_pointer(e, c, &pointee) ||
      !no_block_pointers(e, c, 3, "boundary_check") ||
      !need_choice(e, c, 4, "the cache modifier", caches, &cache) ||
      !need_choice(e, c, 5, "the eviction policy", evictions, &evict))
    return VALUE_ERROR;
  if (c->args[0].v.type.is_const) {
    struct diag *d = eval_error(e, c->args[0].at, E0506, "Cannot store to a constant pointer");
    diag_help(d, "declare the parameter without `const`: `ptr[...]` instead of `const_ptr[...]`, "
                 "no `tl.const`");
    return VALUE_ERROR;
  }
  struct value value = stored_value(e, c, pointee);
  if (!need_mask(e, c->args[2], pointee, c->args[0].at, &mask) || value_is_poison(value))
    return VALUE_ERROR;
  build_store(&e->b, c->args[0].v.rt, value.rt, mask, *cache ? cache + 1 : "", evict);
  return value_of_kind(VALUE_NONE);
}
