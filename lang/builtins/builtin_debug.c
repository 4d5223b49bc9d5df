// SPDX-License-Identifier: Apache-2.0
// Printing and assertions on the device, hints to the compiler.
#include "lang/builtins/builtins.h"

// ---- hints ----

static const char *const hint_attrs[] = {[HINT_DIVISIBILITY] = "tile.divisibility",
                                         [HINT_CONTIGUITY] = "tile.contiguity",
                                         [HINT_CONSTANCY] = "tile.constancy"};

// An addition of zero that carries the hint.
static MlirValue fact(struct eval *e, MlirValue v, enum hint h, const int32_t *values, size_t n) {
  MlirType type = mlirValueGetType(v);
  MlirType element = type_is_tensor(type) ? element_type(type) : type;
  bool is_pointer = type_is_ptr(e->c, element);
  if (!is_pointer && !mlirTypeIsAInteger(element))
    return v;
  MlirType i32 = mlir_of_dtype(e->c, DTYPE_I32);
  MlirType offset = !is_pointer ? type : type_is_tensor(type) ? type_with_element(type, i32) : i32;
  MlirValue operands[] = {v, build_const_int(&e->b, offset, 0)};
  MlirNamedAttribute hint = named_attr(e->c, hint_attrs[h], attr_i32_array(e->c, n, values));
  enum op_id id = is_pointer ? OP_TILE_ADDPTR : OP_ARITH_ADDI;
  return mlirOperationGetResult(build_op(&e->b, id, 2, operands, 1, &type, 1, &hint), 0);
}

// Every variable of the function that is `from` becomes `to`: a hint is about the value, whatever
// its names.
static void rename_value(struct frame *f, MlirValue from, MlirValue to) {
  struct map_entry entry;
  for (size_t i = 0; map_next(&f->variables, &i, &entry);) {
    struct variable *v = entry.value;
    if (value_is_rt(v->value) && mlirValueEqual(v->value.rt, from))
      v->value.rt = to;
  }
}

// What a loop carries has no operation that could have the attribute. In the loop's own block its
// names get a value that does; within branches of it the hint does not count.
static MlirValue attach_to_carried(struct eval *e, MlirValue v, enum hint h, const int32_t *values,
                                   size_t n) {
  if (!mlirBlockEqual(mlirBlockArgumentGetOwner(v), e->b.block))
    return v;
  MlirValue with = fact(e, v, h, values, n);
  rename_value(e->frame, v, with);
  return with;
}

static MlirValue attach(struct eval *e, MlirValue v, enum hint h, const int32_t *values, size_t n) {
  if (mlirValueIsAOpResult(v)) {
    mlirOperationSetAttributeByName(value_def(v), mlirStringRefCreateFromCString(hint_attrs[h]),
                                    attr_i32_array(e->c, n, values));
    return v;
  }
  if (!mlirBlockEqual(mlirBlockArgumentGetOwner(v), func_entry(e->func)))
    return attach_to_carried(e, v, h, values, n);
  // A parameter of the kernel has one number as attribute.
  if (h == HINT_DIVISIBILITY && n == 1)
    func_set_arg_attr(e->c, e->func, (unsigned)mlirBlockArgumentGetArgNumber(v), hint_attrs[h],
                      attr_i32(e->c, values[0]));
  return v;
}

struct value builtin_hint(struct eval *e, struct call *c) {
  struct operand x = c->args[0], values = c->args[1];
  if (value_is_number(x.v)) // a hint adds nothing to a constant
    return x.v;
  x.v = arg_runtime(e, c, 0);
  if (value_is_poison(x.v))
    return x.v;
  struct value one[1] = {values.v};
  struct tuple t = values.v.kind == VALUE_TUPLE ? values.v.tuple : (struct tuple){one, 1};
  unsigned rank = x.v.type.rank ? x.v.type.rank : 1;
  if (t.len != rank) {
    struct diag *d =
        eval_error(e, values.at, E0512, "%zu values for %s", t.len, type_text(e->a, x.v.type));
    diag_help(d, "one value per dimension: %u here", rank);
    return VALUE_ERROR;
  }
  int32_t n[TYPE_MAX_RANK];
  for (size_t i = 0; i < t.len; i++) {
    int64_t v;
    if (!need_const_int(e, (struct operand){t.at[i], values.at}, "the value of a hint", &v))
      return VALUE_ERROR;
    if (v < 1 || v > INT32_MAX || (c->builtin->tag == HINT_DIVISIBILITY && !is_pow2((uint64_t)v))) {
      diag_help(eval_error(e, values.at, E0512, "%lld is not a possible value of `tl.%s`",
                           (long long)v, c->builtin->name),
                "a power of two, such as 16");
      return VALUE_ERROR;
    }
    n[i] = (int32_t)v;
  }
  x.v.rt = attach(e, x.v.rt, (enum hint)c->builtin->tag, n, t.len);
  return x.v;
}

struct value builtin_assume(struct eval *e, struct call *c) {
  struct value truth = eval_truth(e, c->args[0], "`tl.assume`");
  if (truth.kind == VALUE_RT)
    build_assume(&e->b, truth.rt);
  else if (truth.kind == VALUE_BOOL && !truth.b)
    diag_help(eval_error(e, c->at, E0303, "`tl.assume` of what is known to be false"),
              "remove it, or mend the condition: code behind it is never reached");
  return value_of_kind(VALUE_NONE);
}

struct value builtin_debug_barrier(struct eval *e, struct call *c) {
  (void)c;
  build_barrier(&e->b);
  return value_of_kind(VALUE_NONE);
}

// ---- printing ----

#define PRINT_MAX_VALUES 16

static struct value print_values(struct eval *e, struct str prefix, const struct operand *args,
                                 size_t n, bool hex) {
  if (n > PRINT_MAX_VALUES) {
    eval_error(e, args[PRINT_MAX_VALUES].at, E0501, "`device_print` takes at most %d values",
               PRINT_MAX_VALUES);
    return VALUE_ERROR;
  }
  MlirValue *values = arena_array(e->a, MlirValue, n ? n : 1);
  int32_t *is_signed = arena_array(e->a, int32_t, n ? n : 1);
  for (size_t i = 0; i < n; i++) {
    struct value v = to_runtime(e, args[i], "an argument of `device_print`");
    if (type_is_storage(v.type) && !value_is_poison(v))
      v = emit_cast(e, v, type_scalar(DTYPE_F32), NULL);
    if (value_is_poison(v))
      return v;
    values[i] = v.rt;
    is_signed[i] = !v.type.ptr && dtype_is_signed(v.type.dtype);
  }
  build_print(&e->b, arena_strndup(e->a, prefix.ptr, prefix.len), hex, n, values, is_signed);
  return value_of_kind(VALUE_NONE);
}

struct value builtin_device_print(struct eval *e, struct call *c) {
  struct str prefix;
  bool hex = false;
  if (!need_const_str(e, c->args[0], "the prefix of `device_print`", &prefix) ||
      (arg_given(c, 2) && !need_const_bool(e, c->args[2], "`hex`", &hex)))
    return VALUE_ERROR;
  for (size_t i = 0; i < prefix.len; i++)
    if ((unsigned char)prefix.ptr[i] < 32 || (unsigned char)prefix.ptr[i] > 126) {
      diag_help(
          eval_error(e, c->args[0].at, E0503, "the prefix of `device_print` is printable ASCII"),
          "leave out line ends and characters beyond ASCII; each call prints a line");
      return VALUE_ERROR;
    }
  return print_values(e, prefix, c->rest, c->rest_count, hex);
}

struct value builtin_print(struct eval *e, struct call *c) {
  struct str prefix = STR("");
  size_t first = 0;
  if (c->rest_count && c->rest[0].v.kind == VALUE_STR)
    prefix = c->rest[first++].v.s;
  return print_values(e, prefix, c->rest + first, c->rest_count - first, false);
}

struct value builtin_device_assert(struct eval *e, struct call *c) {
  struct str msg = STR("");
  struct operand cond = c->args[0];
  bool truth;
  if (arg_given(c, 1) && !need_const_str(e, c->args[1], "the message of an assertion", &msg))
    return VALUE_ERROR;
  if (const_truth(cond.v, &truth)) {
    if (truth)
      return value_of_kind(VALUE_NONE);
    cond.v = value_bool(false);
  }
  cond.v = to_runtime(e, cond, "the condition of an assertion");
  cond.v = emit_truth_tile(e, cond.v);
  if (value_is_poison(cond.v) || !e->options->debug || e->is_pure)
    return value_of_kind(VALUE_NONE);
  if (arg_given(c, 2) && c->args[2].v.kind != VALUE_NONE) {
    struct operand off = {emit_unary(e, OP_NOT, c->args[2], c->at), c->args[2].at};
    off.v = emit_logic(e, OP_OR, cond, off, c->at);
    cond = off;
    if (value_is_poison(cond.v))
      return cond.v;
  }
  build_assert(&e->b, cond.v.rt, arena_strndup(e->a, msg.ptr, msg.len));
  return value_of_kind(VALUE_NONE);
}

// An assertion that x is 0 wherever the mask is true.
struct value builtin_expect_zero(struct eval *e, struct call *c) {
  struct operand zero = {value_int(0), c->at};
  struct operand args[3] = {{emit_comparison(e, OP_EQ, c->args[0], zero, c->at), c->args[0].at},
                            {value_str(STR("expected zero")), c->at},
                            c->args[1]};
  size_t n = arg_given(c, 1) ? 3 : 2;
  return builtin_call(e, builtin_find(e, "device_assert"), args, NULL, n, c->at, c->callee);
}
