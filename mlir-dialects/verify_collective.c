// SPDX-License-Identifier: Apache-2.0
// Checks of collective ops, of ops that call functions or contain inline assembly, and of device
// queries.
#include "mlir-dialects/verify_needs.h"

#include <mlir-c/BuiltinAttributes.h>

// ---- functions of scalars ----

// Type i of a function that takes (or gives) `pack` elements of each of n values: those of the
// first value, then those of the second, ...; `pairs` times over.
struct signature {
  intptr_t n, pack, pairs;
  MlirType (*type)(struct checked *k, intptr_t i);
};

static intptr_t signature_size(struct signature s) { return s.n * s.pack * s.pairs; }

static MlirType signature_type(struct checked *k, struct signature s, intptr_t i) {
  return element_type(s.type(k, i % (s.n * s.pack) / s.pack));
}

static bool takes_and_gives(struct checked *k, MlirType f, struct signature in,
                            struct signature out) {
  if (mlirFunctionTypeGetNumInputs(f) != signature_size(in) ||
      mlirFunctionTypeGetNumResults(f) != signature_size(out))
    return false;
  for (intptr_t i = 0; i < signature_size(in); i++)
    if (!mlirTypeEqual(mlirFunctionTypeGetInput(f, i), signature_type(k, in, i)))
      return false;
  for (intptr_t i = 0; i < signature_size(out); i++)
    if (!mlirTypeEqual(mlirFunctionTypeGetResult(f, i), signature_type(k, out, i)))
      return false;
  return true;
}

// The symbol `name` refers to a function of these types.
static bool want_function(struct checked *k, const char *name, struct signature in,
                          struct signature out) {
  MlirOperation f = op_function(k->c, k->op, name);
  if (mlirOperationIsNull(f) || !op_is(k->c, f, OP_FUNC_FUNC))
    return wrong(k, "needs a function of the module in `%s`", name);
  MlirAttribute type = op_attr(f, "function_type");
  if (mlirAttributeIsNull(type) || !mlirAttributeIsAType(type))
    return wrong(k, "needs a function of the module in `%s`", name);
  MlirType t = mlirTypeAttrGetValue(type);
  return takes_and_gives(k, t, in, out) ||
         wrong(k, "cannot use its `%s` of type `%s`", name, text(k, t));
}

// ---- reductions and scans ----

static bool want_axis(struct checked *k, MlirType t, int64_t *ret) {
  if (!want_i32(k, "axis", ret))
    return false;
  return (*ret >= 0 && *ret < (int64_t)tensor_rank(t)) ||
         wrong(k, "has axis %lld; `%s` has axes 0 to %u", (long long)*ret, text(k, t),
               tensor_rank(t) - 1);
}

static bool want_combine(struct checked *k) {
  intptr_t n = operand_count(k);
  return want_function(k, "combine", (struct signature){n, 1, 2, operand_type},
                       (struct signature){n, 1, 1, operand_type});
}

// One or more tiles of one shape and layout, and as many results.
static bool want_tiles_alike(struct checked *k) {
  intptr_t n = operand_count(k);
  if (n == 0 || n != result_count(k))
    return wrong(k, "gives one result for each of its tiles, not %lld for %lld",
                 (long long)result_count(k), (long long)n);
  for (intptr_t i = 0; i < n; i++)
    if (!type_is_tensor(operand_type(k, i)))
      return wrong(k, "works on tiles, not on `%s`", text(k, operand_type(k, i)));
    else if (!want_same_form(k, operand_type(k, i), operand_type(k, 0)))
      return false;
  return true;
}

static bool is_reduced(struct checked *k, MlirType to, MlirType from, int64_t axis) {
  if (!mlirTypeEqual(element_type(to), element_type(from)))
    return false;
  if (tensor_rank(from) == 1)
    return !type_is_tensor(to);
  if (!type_is_tensor(to) || tensor_rank(to) + 1 != tensor_rank(from))
    return false;
  for (unsigned i = 0; i < tensor_rank(to); i++)
    if (tensor_dim(to, i) != tensor_dim(from, i < axis ? i : i + 1))
      return false;
  return is_slice_of(k, tensor_encoding(to), axis, tensor_encoding(from));
}

static bool check_reduce(struct checked *k) {
  int64_t axis = 0;
  if (!want_tiles_alike(k) || !want_axis(k, operand_type(k, 0), &axis))
    return false;
  for (intptr_t i = 0; i < result_count(k); i++)
    if (!is_reduced(k, result_type_at(k, i), operand_type(k, i), axis))
      return wrong(k, "along axis %lld of `%s` cannot give `%s`", (long long)axis,
                   text(k, operand_type(k, i)), text(k, result_type_at(k, i)));
  return want_combine(k);
}

static bool check_scan(struct checked *k) {
  int64_t axis = 0;
  if (!want_tiles_alike(k) || !want_axis(k, operand_type(k, 0), &axis) || !want_bool(k, "reverse"))
    return false;
  for (intptr_t i = 0; i < result_count(k); i++)
    if (!want_equal(k, operand_type(k, i), result_type_at(k, i)))
      return false;
  return want_combine(k);
}

// ---- gather, histogram ----

static bool check_gather(struct checked *k) {
  MlirType from = operand_type(k, 0), index = operand_type(k, 1), to = result_type(k);
  int64_t axis = 0;
  if (!type_is_tensor(from) || !type_is_tensor(index))
    return wrong(k, "needs tiles, not `%s` and `%s`", text(k, from), text(k, index));
  if (!is_int_type(index) || type_bits(k->c, element_type(index)) == 1)
    return wrong(k, "needs integers for indices, not `%s`", text(k, index));
  if (!want_axis(k, from, &axis) || !want_same_form(k, index, to) ||
      !want_element(k, to, element_type(from)))
    return false;
  bool fits = tensor_rank(from) == tensor_rank(index);
  for (unsigned i = 0; fits && i < tensor_rank(from); i++)
    fits = i == axis || tensor_dim(from, i) == tensor_dim(index, i);
  return fits || wrong(k, "along axis %lld cannot take elements of `%s` for `%s`", (long long)axis,
                       text(k, from), text(k, index));
}

static bool check_histogram(struct checked *k) {
  MlirType x = operand_type(k, 0), to = result_type(k);
  if (!type_is_tensor(x) || tensor_rank(x) != 1 || !is_int_type(x))
    return wrong(k, "counts the integers of a tile of rank 1, not of `%s`", text(k, x));
  if (operand_count(k) > 1 && !want_mask(k, operand_type(k, 1), x))
    return false;
  if (!type_is_tensor(to) || tensor_rank(to) != 1)
    return wrong(k, "gives a tile of rank 1, not `%s`", text(k, to));
  return want_element(k, to, mlir_of_dtype(k->c, DTYPE_I32));
}

// ---- join, split, unsplat ----

// `whole` has the dimensions of `half` and a last dimension of 2.
static bool is_pair_of(MlirType whole, MlirType half) {
  unsigned rank = type_is_tensor(half) ? tensor_rank(half) : 0;
  if (!type_is_tensor(whole) || tensor_rank(whole) != rank + 1 || tensor_dim(whole, rank) != 2 ||
      !mlirTypeEqual(element_type(whole), element_type(half)))
    return false;
  for (unsigned i = 0; i < rank; i++)
    if (tensor_dim(whole, i) != tensor_dim(half, i))
      return false;
  return true;
}

static bool check_join(struct checked *k) {
  return want_equal(k, operand_type(k, 0), operand_type(k, 1)) &&
         (is_pair_of(result_type(k), operand_type(k, 0)) ||
          wrong(k, "of two `%s` cannot give `%s`", text(k, operand_type(k, 0)),
                text(k, result_type(k))));
}

static bool check_split(struct checked *k) {
  return want_equal(k, result_type_at(k, 0), result_type_at(k, 1)) &&
         (is_pair_of(operand_type(k, 0), result_type(k)) ||
          wrong(k, "of `%s` cannot give `%s` twice", text(k, operand_type(k, 0)),
                text(k, result_type(k))));
}

static bool check_unsplat(struct checked *k) {
  MlirType from = operand_type(k, 0), to = result_type(k);
  if (!type_is_tensor(from) || tensor_numel(from) != 1)
    return wrong(k, "takes a tile of one element, not `%s`", text(k, from));
  return want_equal(k, to, element_type(from));
}

// ---- maps and foreign code; they are elementwise, too ----

static bool want_pack(struct checked *k, int64_t *ret) {
  if (!want_i32(k, "pack", ret))
    return false;
  return (*ret >= 1 && *ret <= 32 && is_pow2((uint64_t)*ret)) ||
         wrong(k, "takes 1, 2, 4, ... or 32 elements at a time, not %lld", (long long)*ret);
}

static bool want_results(struct checked *k) {
  for (intptr_t i = 1; i < result_count(k); i++)
    if (!want_same_form(k, result_type_at(k, i), result_type(k)))
      return false;
  return result_count(k) > 0 || wrong(k, "needs a result");
}

bool check_map(struct checked *k) {
  int64_t pack = 0;
  if (operand_count(k) == 0)
    return wrong(k, "needs an operand");
  return want_results(k) && want_pack(k, &pack) &&
         want_function(k, "function", (struct signature){operand_count(k), pack, 1, operand_type},
                       (struct signature){result_count(k), pack, 1, result_type_at});
}

bool check_inline_asm(struct checked *k) {
  int64_t pack = 0;
  return want_results(k) && want_str(k, "asm") && want_str(k, "constraints") &&
         want_bool(k, "is_pure") && want_pack(k, &pack);
}

// ---- programs and devices ----

static bool check_atomic_cas(struct checked *k) {
  MlirType value = operand_type(k, 2);
  unsigned bits = type_bits(k->c, element_type(value));
  if (!want_word_or_none(k, "sem", MEMORY_SEMS) || !want_word_or_none(k, "scope", MEMORY_SCOPES) ||
      !want_pointee(k, operand_type(k, 0), value) || !want_equal(k, operand_type(k, 1), value) ||
      !want_equal(k, value, result_type(k)))
    return false;
  return bits == 16 || bits == 32 || bits == 64 ||
         wrong(k, "exchanges 16, 32 or 64 bits, not `%s`", text(k, value));
}

static bool check_special(struct checked *k) {
  if (!want_word(k, "name", "globaltimer smid"))
    return false;
  bool wide = str_is(op_attr_str(k->op, "name"), "globaltimer");
  return want_equal(k, result_type(k), mlir_of_dtype(k->c, wide ? DTYPE_I64 : DTYPE_I32));
}

bool check_collective(struct checked *k) {
  switch (k->id) {
  case OP_TILE_REDUCE: return check_reduce(k);
  case OP_TILE_SCAN: return check_scan(k);
  case OP_TILE_GATHER: return check_gather(k);
  case OP_TILE_HISTOGRAM: return check_histogram(k);
  case OP_TILE_JOIN: return check_join(k);
  case OP_TILE_SPLIT: return check_split(k);
  case OP_TILE_UNSPLAT: return check_unsplat(k);
  case OP_TILE_ATOMIC_CAS: return check_atomic_cas(k);
  case OP_TILE_SPECIAL: return check_special(k);
  case OP_TILE_GRID_DEPENDENCY: return want_word(k, "kind", "wait launch_dependents");
  default: return true;
  }
}
