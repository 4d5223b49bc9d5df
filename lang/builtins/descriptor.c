// SPDX-License-Identifier: Apache-2.0
// Tensor descriptors: base, shape and strides of a tensor, and the shape of the blocks that are
// accessed. A descriptor is a record; each access becomes an operation tile.descriptor_*.
#include "mlir-dialects/descriptor.h"

#include "lang/builtins/builtins.h"

// strides: of all dimensions but the last one, whose stride is 1
enum { PART_BASE, PART_SHAPE, PART_STRIDES, PART_BLOCK, PART_PADDING, PART_COUNT };

enum { GATHER_MIN_ROWS = 8, GATHER_ROW_BITS = 256 }; // as in Triton; a row: 32 elements of 8 bits

static const struct record descriptor_record = {.kind = RECORD_DESCRIPTOR};

static struct type block_of(struct value desc) { return desc.tuple.at[PART_BLOCK].type; }

static struct tuple items_of(struct value v, struct value *one) {
  *one = v;
  return v.kind == VALUE_TUPLE && !v.tuple.record ? v.tuple : (struct tuple){one, 1, NULL};
}

// ---- making ----

// A run-time integer scalar.
static bool need_integer(struct eval *e, struct operand x, const char *what, struct value *ret) {
  *ret = to_runtime(e, x, what);
  if (value_is_poison(*ret))
    return false;
  if (type_is_int(ret->type) && !ret->type.rank)
    return true;
  diag_help(eval_error(e, x.at, E0518, "%s of a tensor descriptor is an integer, not %s", what,
                       type_text(e->a, ret->type)),
            "convert it: `.to(tl.int32)`");
  return false;
}

// One number for each dimension of the block, as a list: `[0, 0]`. `what` is one of them.
static bool need_count(struct eval *e, struct operand x, size_t given, size_t rank,
                       const char *what) {
  if (given == rank)
    return true;
  struct diag *d = eval_error(e, x.at, E0518, "%zu %s%s for a block of %zu dimensions", given, what,
                              given == 1 ? "" : "s", rank);
  struct str text = eval_spelled(e, x.at);
  if (!text.len || given > rank || strcmp(what, "offset") != 0) {
    diag_help(d, "give a list with one number for each dimension of the block");
    return false;
  }
  struct strbuf list = {.arena = e->a};
  for (size_t i = 0; i < rank; i++) {
    struct str item = eval_spelled(e, span_of_item(x.at, i));
    bool is_given = i < given && item.len;
    strbuf_printf(&list, "%s%.*s", i ? ", " : "[", is_given ? (int)item.len : 1,
                  is_given ? item.ptr : "0");
  }
  strbuf_puts(&list, "]");
  struct span callee = eval_dotted_span((struct span){x.at.source, x.at.begin - 1, x.at.begin - 1});
  const char *source = x.at.source->text.ptr;
  bool is_only = source[x.at.begin - 1] == '(' && source[x.at.end] == ')';
  diag_help(d, "give a list with one offset for each dimension: `%.*s%s%s%s`",
            is_only ? (int)(callee.end - callee.begin) : 0, source + callee.begin,
            is_only ? "(" : "", strbuf_cstr(&list), is_only ? ")" : "");
  diag_fixit(d, x.at, strbuf_cstr(&list));
  return false;
}

// The sizes: i32, or i64 where they are wider.
static bool need_sizes(struct eval *e, struct operand x, unsigned rank, struct value *ret) {
  struct value one;
  struct tuple t = items_of(x.v, &one);
  if (!need_count(e, x, t.len, rank, "size"))
    return false;
  struct value *at = arena_array(e->a, struct value, rank);
  for (unsigned i = 0; i < rank; i++) {
    struct value v;
    struct span at_item = span_of_item(x.at, i);
    if (!need_integer(e, (struct operand){t.at[i], at_item}, "a size", &v))
      return false;
    int64_t n;
    if (value_const_int(e->c, v.rt, &n) && n < 0 && dtype_is_signed(v.type.dtype)) {
      diag_help(
          eval_error(e, at_item, E0518, "size %u of a tensor descriptor is %lld", i, (long long)n),
          "sizes are 1 or more");
      return false;
    }
    bool is_wide = dtype_bits(v.type.dtype) == 64 || v.type.dtype == DTYPE_U32;
    at[i] = emit_cast(e, v, type_scalar(is_wide ? DTYPE_I64 : DTYPE_I32), NULL);
  }
  *ret = value_tuple(at, rank);
  return true;
}

static bool is_one(struct eval *e, struct value v) {
  int64_t n = 0;
  int_const i;
  if (v.kind == VALUE_RT)
    return value_const_int(e->c, v.rt, &n) && n == 1;
  return value_as_int(v, &i) && i == 1;
}

// The items of a list of two, in the other order: `[N, M]`.
static const char *swapped(struct eval *e, struct span list) {
  struct str first = eval_spelled(e, span_of_item(list, 0)),
             second = eval_spelled(e, span_of_item(list, 1));
  return arena_printf(e->a, "[%.*s, %.*s]", STR_ARG(second), STR_ARG(first));
}

// The last stride, which must be known to be 1.
static bool need_one(struct eval *e, struct call *c, struct tuple strides) {
  struct operand list = c->args[2];
  struct value last = strides.at[strides.len - 1];
  if (is_one(e, last))
    return true;
  if (value_is_poison(last))
    return false;
  struct span at = span_of_item(list.at, strides.len - 1);
  struct str text = eval_spelled(e, at);
  struct diag *d =
      eval_error(e, at, E0518, "the last stride of a tensor descriptor is 1, not %s",
                 text.len ? arena_printf(e->a, "`%.*s`", STR_ARG(text)) : value_describe(e, last));
  if (text.len && strides.len == 2 && is_one(e, strides.at[0]))
    diag_help(d,
              "this matrix is stored by columns: describe it by its rows, `shape=%s, strides=%s, "
              "block_shape=%s`, and `tl.trans` its blocks",
              swapped(e, c->args[1].at), swapped(e, list.at), swapped(e, c->args[3].at));
  else
    diag_help(d,
              "the elements of the last dimension are neighbours in memory: write 1; for others, "
              "use a tile of pointers");
  if (text.len && strides.len > 0 && !is_one(e, strides.at[0]) && at.begin != list.at.begin)
    diag_fixit(d, at, "1");
  return false;
}

static bool need_stride(struct eval *e, struct operand x, struct type pointee, struct value *ret) {
  int64_t n, bytes = (int64_t)dtype_bits(pointee.dtype) / 8;
  if (!need_integer(e, x, "a stride", ret))
    return false;
  *ret = emit_cast(e, *ret, type_scalar(DTYPE_I64), NULL);
  if (!value_const_int(e->c, ret->rt, &n))
    return true;
  if (n < 0) {
    struct diag *d =
        eval_error(e, x.at, E0518, "a stride of a tensor descriptor is %lld", (long long)n);
    diag_help(d, "strides are not negative; for others, use a tile of pointers");
    return false;
  }
  if (n % (DESCRIPTOR_ALIGNMENT / bytes) == 0)
    return true;
  struct diag *d =
      eval_error(e, x.at, E0518, "a stride of %lld elements of %s is not a multiple of %d bytes",
                 (long long)n, type_text(e->a, pointee), DESCRIPTOR_ALIGNMENT);
  diag_help(d, "pad the rows, or use a tile of pointers");
  return false;
}

static bool need_strides(struct eval *e, struct call *c, unsigned rank, struct type pointee,
                         struct value *ret) {
  struct operand x = c->args[2];
  struct value one;
  struct tuple t = items_of(x.v, &one);
  if (!need_count(e, x, t.len, rank, "stride") || !need_one(e, c, t))
    return false;
  struct value *at = arena_array(e->a, struct value, rank);
  for (unsigned i = 0; i + 1 < rank; i++)
    if (!need_stride(e, (struct operand){t.at[i], span_of_item(x.at, i)}, pointee, &at[i]))
      return false;
  *ret = value_tuple(at, rank - 1);
  return true;
}

// The base is one pointer to numbers of whole bytes.
static bool need_base(struct eval *e, struct call *c, struct type *ret_pointee) {
  struct operand base = c->args[0];
  if (!need_pointer(e, c, ret_pointee))
    return false;
  if (!base.v.type.rank && !ret_pointee->ptr && !type_is_bool(*ret_pointee))
    return true;
  diag_help(eval_error(e, base.at, E0518,
                       "a tensor descriptor has one pointer to numbers as its base, not %s",
                       type_text(e->a, base.v.type)),
            "give the pointer parameter itself; offsets are given to `load` and `store`");
  return false;
}

static bool need_block(struct eval *e, struct operand x, struct type pointee, struct type *ret) {
  struct value one;
  size_t rank = items_of(x.v, &one).len;
  if (rank < 1 || rank > DESCRIPTOR_MAX_RANK) {
    diag_help(eval_error(e, x.at, E0518,
                         "the block of a tensor descriptor has 1 to %d dimensions, not %zu",
                         DESCRIPTOR_MAX_RANK, rank),
              "write the shape of the block, such as `[64, 32]`; further dimensions of the tensor "
              "are folded into these");
    return false;
  }
  if (!shape_from_value(e, x, ret))
    return false;
  int64_t row = ret->shape[rank - 1], bytes = (int64_t)dtype_bits(pointee.dtype) / 8;
  if (row * bytes >= DESCRIPTOR_ALIGNMENT)
    return true;
  struct diag *d = eval_error(
      e, x.at, E0518,
      "Descriptor block shape must have at least %d bytes in the last dimension, but got %lld",
      DESCRIPTOR_ALIGNMENT, (long long)(row * bytes));
  diag_help(d, "it needs at least %lld elements of %s", (long long)(DESCRIPTOR_ALIGNMENT / bytes),
            type_text(e->a, pointee));
  return false;
}

static bool has_padding(struct eval *e, struct span at, bool pads_nan, struct type pointee) {
  if (!pads_nan || (type_is_float(pointee) && !type_is_storage(pointee)))
    return true;
  diag_help(eval_error(e, at, E0518, "%s has no NaN to pad with", type_text(e->a, pointee)),
            "leave out `padding_option`: integers are padded with 0");
  return false;
}

static bool need_padding(struct eval *e, struct call *c, struct type pointee, bool *ret_nan) {
  static const char *const paddings[] = {"zero", "nan", NULL};
  const char *padding;
  if (!need_choice(e, c, 4, "the padding", paddings, &padding))
    return false;
  *ret_nan = strcmp(padding, "nan") == 0;
  return has_padding(e, c->args[4].at, *ret_nan, pointee);
}

static struct value record_of(struct value *parts, struct value base, struct type block,
                              bool pads_nan) {
  parts[PART_BASE] = base;
  parts[PART_BLOCK] = value_type(block);
  parts[PART_PADDING] = value_str(str_from(pads_nan ? "nan" : "zero"));
  struct value v = value_tuple(parts, PART_COUNT);
  v.tuple.record = &descriptor_record;
  return v;
}

static struct value copy_of(struct eval *e, const struct value *items, size_t count) {
  struct value *at = arena_array(e->a, struct value, count + 1);
  for (size_t i = 0; i < count; i++)
    at[i] = items[i];
  return value_tuple(at, count);
}

struct value descriptor_value(struct eval *e, struct value base, const struct value *sizes,
                              const struct value *strides, struct type block, bool pads_nan) {
  struct value *parts = arena_array(e->a, struct value, PART_COUNT);
  parts[PART_SHAPE] = copy_of(e, sizes, block.rank);
  parts[PART_STRIDES] = copy_of(e, strides, block.rank - 1u);
  return record_of(parts, base, block, pads_nan);
}

bool descriptor_block(struct eval *e, struct operand shape, struct type pointee, bool pads_nan,
                      struct type *ret) {
  struct type block;
  if (!need_block(e, shape, pointee, &block) || !has_padding(e, shape.at, pads_nan, pointee))
    return false;
  *ret = type_shaped(pointee, block);
  return true;
}

struct value builtin_make_tensor_descriptor(struct eval *e, struct call *c) {
  struct type pointee, block;
  bool pads_nan;
  struct value *at = arena_array(e->a, struct value, PART_COUNT);
  if (!need_base(e, c, &pointee) || !need_block(e, c->args[3], pointee, &block) ||
      !need_sizes(e, c->args[1], block.rank, &at[PART_SHAPE]) ||
      !need_strides(e, c, block.rank, pointee, &at[PART_STRIDES]) ||
      !need_padding(e, c, pointee, &pads_nan))
    return VALUE_ERROR;
  return record_of(at, c->args[0].v, type_shaped(pointee, block), pads_nan);
}

struct value builtin_tensor_descriptor(struct eval *e, struct call *c) {
  struct diag *d =
      eval_error(e, c->callee, E0518, "`tl.%s` is a type, not a function", c->builtin->name);
  diag_help(d, "`tl.make_tensor_descriptor` makes a descriptor");
  return VALUE_ERROR;
}

// ---- accesses ----

// The components as operands of an operation.
static struct descriptor components(struct eval *e, struct value desc) {
  const struct value *parts = desc.tuple.at;
  struct descriptor d = {.rank = block_of(desc).rank, .base = parts[PART_BASE].rt};
  for (unsigned i = 0; i < d.rank; i++)
    d.sizes[i] = emit_cast(e, parts[PART_SHAPE].tuple.at[i], type_scalar(DTYPE_I64), NULL).rt;
  for (unsigned i = 0; i + 1 < d.rank; i++)
    d.strides[i] = parts[PART_STRIDES].tuple.at[i].rt;
  return d;
}

static bool need_descriptor(struct eval *e, struct call *c) {
  struct operand x = c->args[0];
  if (value_is_record(x.v, RECORD_DESCRIPTOR))
    return true;
  struct diag *d = eval_error(e, x.at, E0518, "`%s` needs a tensor descriptor, not %s",
                              builtin_spelled(e, c->builtin), value_describe(e, x.v));
  diag_help(d, "`tl.make_tensor_descriptor` makes one");
  return false;
}

static bool need_offset(struct eval *e, struct operand x, MlirValue *ret) {
  struct value v;
  if (!need_integer(e, x, "an offset", &v))
    return false;
  if (dtype_bits(v.type.dtype) == 64) {
    struct diag *d = eval_error(e, x.at, E0518, "an offset of a tensor descriptor has 32 bits");
    diag_help(d, "convert it: `.to(tl.int32)`");
    return false;
  }
  *ret = emit_cast(e, v, type_scalar(DTYPE_I32), NULL).rt;
  return true;
}

static bool need_offsets(struct eval *e, struct operand x, unsigned rank, MlirValue *ret) {
  struct value one;
  struct tuple t = items_of(x.v, &one);
  if (value_is_poison(x.v) || !need_count(e, x, t.len, rank, "offset"))
    return false;
  for (unsigned i = 0; i < rank; i++)
    if (!need_offset(e, (struct operand){t.at[i], span_of_item(x.at, i)}, &ret[i]))
      return false;
  return true;
}

// The value in the descriptor's element type, of shape `block`.
static bool need_value(struct eval *e, struct operand x, struct type block, MlirValue *ret) {
  struct value v = to_runtime(e, x, "the value");
  if (value_is_poison(v))
    return false;
  if (v.type.ptr || !type_shape_eq(v.type, block)) {
    struct diag *d = eval_error(e, x.at, E0518, "%s for a block %s", type_text(e->a, v.type),
                                type_text(e->a, block));
    diag_help(d, "the value has the shape of the block");
    return false;
  }
  v = emit_cast(e, v, type_elem(block), NULL);
  *ret = v.rt;
  return !value_is_poison(v);
}

static bool need_writable(struct eval *e, struct operand desc) {
  if (!desc.v.tuple.at[PART_BASE].type.is_const)
    return true;
  struct diag *d =
      eval_error(e, desc.at, E0506, "Cannot store to a constant pointer through its descriptor");
  diag_help(d, "declare the parameter without `const`: `ptr[...]` instead of `const_ptr[...]`, no "
               "`tl.const`");
  return false;
}

// NUL-terminated.
static const char *padding_of(struct eval *e, struct value desc) {
  struct str s = desc.tuple.at[PART_PADDING].s;
  return arena_strndup(e->a, s.ptr, s.len);
}

struct value builtin_descriptor_load(struct eval *e, struct call *c) {
  MlirValue offsets[DESCRIPTOR_MAX_RANK];
  struct value desc = c->args[0].v;
  if (!need_descriptor(e, c) || !need_offsets(e, c->args[1], block_of(desc).rank, offsets))
    return VALUE_ERROR;
  struct type block = block_of(desc);
  struct descriptor d = components(e, desc);
  return value_rt(
      build_descriptor_load(&e->b, &d, offsets, padding_of(e, desc), type_to_mlir(e->c, block)),
      block);
}

struct value builtin_descriptor_store(struct eval *e, struct call *c) {
  MlirValue offsets[DESCRIPTOR_MAX_RANK], value;
  struct value desc = c->args[0].v;
  if (!need_descriptor(e, c) || !need_writable(e, c->args[0]) ||
      !need_offsets(e, c->args[1], block_of(desc).rank, offsets) ||
      !need_value(e, c->args[2], block_of(desc), &value))
    return VALUE_ERROR;
  struct descriptor d = components(e, desc);
  build_descriptor_store(&e->b, &d, offsets, value);
  return value_of_kind(VALUE_NONE);
}

static bool need_atomic(struct eval *e, struct call *c, enum atomic_fn fn, struct type t) {
  bool is_extremum = fn == ATOMIC_FN_MAX || fn == ATOMIC_FN_MIN;
  bool is_half = t.dtype == DTYPE_F16 || t.dtype == DTYPE_BF16;
  if (type_is_int(t)
          ? dtype_bits(t.dtype) >= 32
          : (fn == ATOMIC_FN_ADD && dtype_bits(t.dtype) >= 16) || (is_extremum && is_half))
    return true;
  struct diag *d = eval_error(e, c->at, E0510, "`%s` of a tensor descriptor does not work on %s",
                              c->builtin->name, type_text(e->a, t));
  diag_help(d, fn == ATOMIC_FN_ADD ? "it adds i32, i64, u32, u64, f16, bf16, f32 and f64"
               : is_extremum       ? "it works on integers of 32 and 64 bits, f16 and bf16"
                                   : "it works on integers of 32 and 64 bits");
  return false;
}

struct value builtin_descriptor_atomic(struct eval *e, struct call *c) {
  enum atomic_fn fn = (enum atomic_fn)c->builtin->tag;
  MlirValue offsets[DESCRIPTOR_MAX_RANK], value;
  struct value desc = c->args[0].v;
  if (!need_descriptor(e, c) || !need_atomic(e, c, fn, type_elem(block_of(desc))) ||
      !need_writable(e, c->args[0]) || !need_offsets(e, c->args[1], block_of(desc).rank, offsets) ||
      !need_value(e, c->args[2], block_of(desc), &value))
    return VALUE_ERROR;
  struct descriptor d = components(e, desc);
  build_descriptor_reduce(&e->b, atomic_kind(fn, block_of(desc)), &d, offsets, value);
  return value_of_kind(VALUE_NONE);
}

// ---- rows ----

// What gather and scatter take: a descriptor of one row, a tile of rows, a column. *ret_tile: the
// rows of the block as a tile.
static bool need_rows(struct eval *e, struct call *c, unsigned rows_at, struct type *ret_tile,
                      MlirValue *ret_rows, MlirValue *ret_column) {
  if (!need_descriptor(e, c))
    return false;
  struct type block = block_of(c->args[0].v);
  struct operand x = c->args[rows_at];
  int64_t row_bits = (int64_t)block.shape[1] * dtype_bits(block.dtype);
  if (block.rank != 2 || block.shape[0] != 1 || row_bits < GATHER_ROW_BITS) {
    struct diag *d =
        eval_error(e, c->args[0].at, E0518, "`%s` needs a descriptor of one row, not of a block %s",
                   c->builtin->name, type_text(e->a, block));
    diag_help(d, "its block shape is [1, N], with at least %d elements of %s",
              GATHER_ROW_BITS / (int)dtype_bits(block.dtype), type_text(e->a, type_elem(block)));
    return false;
  }
  if (x.v.kind != VALUE_RT || x.v.type.rank != 1 || x.v.type.shape[0] < GATHER_MIN_ROWS ||
      !type_is_int(x.v.type) || dtype_bits(x.v.type.dtype) == 64) {
    struct diag *d = eval_error(e, x.at, E0518, "the rows of `%s` are a tile of i32, not %s",
                                c->builtin->name, value_describe(e, x.v));
    diag_help(d, "it has one dimension and at least %d elements", GATHER_MIN_ROWS);
    return false;
  }
  *ret_rows = emit_cast(e, x.v, type_scalar(DTYPE_I32), NULL).rt;
  *ret_tile = block;
  ret_tile->shape[0] = x.v.type.shape[0];
  return shape_check(e, *ret_tile, c->at) && need_offset(e, c->args[rows_at + 1], ret_column);
}

struct value builtin_descriptor_gather(struct eval *e, struct call *c) {
  MlirValue rows, column;
  struct type tile;
  struct value desc = c->args[0].v;
  if (!need_rows(e, c, 1, &tile, &rows, &column))
    return VALUE_ERROR;
  struct descriptor d = components(e, desc);
  return value_rt(
      build_descriptor_gather(&e->b, &d, rows, column, tile.shape[1], padding_of(e, desc)), tile);
}

struct value builtin_descriptor_scatter(struct eval *e, struct call *c) {
  MlirValue rows, column, value;
  struct type tile;
  if (!need_rows(e, c, 2, &tile, &rows, &column) || !need_writable(e, c->args[0]) ||
      !need_value(e, c->args[1], tile, &value))
    return VALUE_ERROR;
  struct descriptor d = components(e, c->args[0].v);
  build_descriptor_scatter(&e->b, &d, rows, column, value);
  return value_of_kind(VALUE_NONE);
}

// ---- attributes ----

static const struct builtin methods[] = {
    {"load", "desc offsets", BUILTIN_DESCRIPTOR, builtin_descriptor_load, 0},
    {"store", "desc offsets value", BUILTIN_DESCRIPTOR, builtin_descriptor_store, 0},
    {"gather", "desc x_offsets y_offset", BUILTIN_DESCRIPTOR, builtin_descriptor_gather, 0},
    {"scatter", "desc value x_offsets y_offset", BUILTIN_DESCRIPTOR, builtin_descriptor_scatter, 0},
#define ATOMIC(name, fn)                                                                           \
  { name, "desc offsets value", BUILTIN_DESCRIPTOR, builtin_descriptor_atomic, fn }
    ATOMIC("atomic_add", ATOMIC_FN_ADD),
    ATOMIC("atomic_min", ATOMIC_FN_MIN),
    ATOMIC("atomic_max", ATOMIC_FN_MAX),
    ATOMIC("atomic_and", ATOMIC_FN_AND),
    ATOMIC("atomic_or", ATOMIC_FN_OR),
    ATOMIC("atomic_xor", ATOMIC_FN_XOR),
#undef ATOMIC
};

static struct value all_strides(struct eval *e, struct value desc) {
  struct tuple t = desc.tuple.at[PART_STRIDES].tuple;
  struct value *at = arena_array(e->a, struct value, t.len + 1);
  for (size_t i = 0; i < t.len; i++)
    at[i] = t.at[i];
  at[t.len] = value_int(1);
  return value_tuple(at, t.len + 1);
}

bool descriptor_attribute(struct eval *e, struct value desc, const char *name, struct value *ret) {
  struct type block = block_of(desc);
  if (strcmp(name, "shape") == 0)
    return *ret = desc.tuple.at[PART_SHAPE], true;
  if (strcmp(name, "strides") == 0)
    return *ret = all_strides(e, desc), true;
  if (strcmp(name, "block_shape") == 0)
    return *ret = value_of_shape(e, block), true;
  if (strcmp(name, "block_type") == 0)
    return *ret = value_type(block), true;
  if (strcmp(name, "dtype") == 0)
    return *ret = value_type(type_elem(block)), true;
  for (size_t i = 0; i < COUNT_OF(methods); i++)
    if (strcmp(name, methods[i].name) == 0) {
      struct value *receiver = arena_new(e->a, struct value);
      *receiver = desc;
      *ret = (struct value){.kind = VALUE_BOUND,
                            .bound = {.builtin = &methods[i], .receiver = receiver}};
      return true;
    }
  return false;
}
