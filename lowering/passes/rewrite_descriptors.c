// SPDX-License-Identifier: Apache-2.0
// rewrite-descriptors: accesses through tensor descriptors become loads, stores and atomics of
// tiles of pointers. The mask has one condition for each dimension; what all elements of the block
// share is computed once, in scalars of 64 bits.
//
//   %t = descriptor_load(%p, [%m, %n], [%s], [%i, %j])
//     ->
//   %q = addptr(%p, %i * %s + %j)
//   %a = addptr(splat %q, range(0, M)[:, None] * %s), %b = addptr(%a, range(0, N)[None, :])
//   %k = (-%i <= range(0, M) < %m - %i)[:, None] & (-%j <= range(0, N) < %n - %j)[None, :]
//   %t = load(%b, %k)
//
// The base is aligned to 16 bytes (but for arguments that the launch knows not to be: tile.unaligned),
// the strides are multiples of it: an addition of zero with the
// attribute tile.divisibility says so where the descriptor is used, and nowhere else. A size that
// is also a stride, as in a dense tensor, has that fact too: its mask does not cut vectors.
#include "base/vec.h"
#include "lowering/analysis/axis_info.h"
#include "lowering/analysis/provenance.h"
#include "lowering/pass.h"
#include "mlir-dialects/descriptor.h"

#include <math.h>

struct access {
  MlirOperation op;
  bool is_nonnegative[DESCRIPTOR_MAX_RANK]; // the offsets (or rows) of each dimension
};

struct rewriter {
  struct ir_context *c;
  MlirOperation kernel;
  struct arena *scratch;
  struct axis_analysis *axis;
  VEC(struct access) accesses;
};

// An access while it is rewritten.
struct block {
  struct builder b;
  const struct access *x;
  struct descriptor_access
      a; // read late: an operand may be the result of an access rewritten before
  unsigned rank;
  int64_t shape[DESCRIPTOR_MAX_RANK];
  MlirValue base, strides[DESCRIPTOR_MAX_RANK]; // with their facts
  MlirType i64;
};

static const MlirValue none = {NULL};

static bool collect(MlirOperation op, void *user) {
  struct rewriter *r = user;
  struct access x = {.op = op};
  struct descriptor_access a;
  if (!descriptor_access_of(r->c, op, &a))
    return true;
  for (unsigned i = 0; i < a.of.rank; i++) {
    MlirValue at = mlirValueIsNull(a.offsets[i]) ? a.rows : a.offsets[i];
    x.is_nonnegative[i] = axis_info_of(r->axis, at)->is_nonnegative;
  }
  vec_push(r->scratch, &r->accesses, x);
  return true;
}

// ---- facts ----

// `v`, known to be a multiple of `n`.
static MlirValue multiple_of(struct builder *b, enum op_id id, MlirValue v, int32_t n) {
  MlirType type = mlirValueGetType(v);
  MlirOperation def = value_def(v);
  if (n == 1 || (!mlirOperationIsNull(def) && op_is(b->c, def, OP_ARITH_CONSTANT)))
    return v;
  MlirValue operands[] = {v, build_const_int(b, mlir_of_dtype(b->c, DTYPE_I64), 0)};
  MlirNamedAttribute fact = named_attr(b->c, "tile.divisibility", attr_i32_array(b->c, 1, &n));
  return mlirOperationGetResult(build_op(b, id, 2, operands, 1, &type, 1, &fact), 0);
}

static struct block block_of(struct rewriter *r, const struct access *x) {
  struct block k = {.b = builder_before(r->c, x->op), .x = x};
  descriptor_access_of(r->c, x->op, &k.a);
  k.rank = k.a.of.rank;
  MlirValue tile = mlirValueIsNull(k.a.value) ? mlirOperationGetResult(x->op, 0) : k.a.value;
  MlirType type = mlirValueGetType(tile);
  int32_t bytes = (int32_t)type_bits(r->c, element_type(type)) / 8;
  k.i64 = mlir_of_dtype(r->c, DTYPE_I64);
  k.base = pointer_is_unaligned(r->c, r->kernel, x->op, k.a.of.base)
               ? k.a.of.base
               : multiple_of(&k.b, OP_TILE_ADDPTR, k.a.of.base, DESCRIPTOR_ALIGNMENT);
  for (unsigned i = 0; i < k.rank; i++) {
    k.shape[i] = tensor_dim(type, i);
    if (i + 1 < k.rank)
      k.strides[i] =
          multiple_of(&k.b, OP_ARITH_ADDI, k.a.of.strides[i], DESCRIPTOR_ALIGNMENT / bytes);
  }
  return k;
}

// ---- shapes ----

// A tile of rank 1 as dimension `dim` of the block; the others are of size 1.
static MlirValue along(struct block *k, MlirValue v, unsigned dim) {
  for (unsigned i = 0; i < k->rank; i++)
    if (i != dim)
      v = build_expand_dims(&k->b, v, i);
  return v;
}

// `v` of which the dimensions up to `last` have the block's size.
static MlirValue spread(struct block *k, MlirValue v, unsigned last) {
  int64_t shape[DESCRIPTOR_MAX_RANK];
  MlirType type = mlirValueGetType(v);
  bool grows = false;
  for (unsigned i = 0; i < k->rank; i++) {
    shape[i] = i <= last ? k->shape[i] : 1;
    grows |= shape[i] != tensor_dim(type, i);
  }
  return grows ? build_broadcast(&k->b, v, k->rank, shape) : v;
}

static MlirValue wide(struct block *k, MlirValue v) {
  return build_cast(&k->b, OP_ARITH_EXTSI, v, k->i64);
}

static MlirValue splat_like(struct block *k, MlirValue scalar, MlirValue like) {
  int64_t length = tensor_dim(mlirValueGetType(like), 0);
  return build_splat(&k->b, scalar, 1, &length);
}

static MlirValue range(struct block *k, unsigned dim) {
  return build_make_range(&k->b, 0, (int32_t)k->shape[dim]);
}

// ---- addresses ----

// The address of the block's first element; with rows, of their first column in row 0.
static MlirValue first_element(struct block *k) {
  MlirValue sum = none;
  for (unsigned i = k->rank; i-- > 0;) {
    if (mlirValueIsNull(k->a.offsets[i]))
      continue;
    MlirValue at = wide(k, k->a.offsets[i]);
    if (i + 1 < k->rank)
      at = build_binary(&k->b, OP_ARITH_MULI, at, k->strides[i]);
    sum = mlirValueIsNull(sum) ? at : build_binary(&k->b, OP_ARITH_ADDI, sum, at);
  }
  return build_addptr(&k->b, k->base, sum);
}

// How far the elements of one dimension are from the first one.
static MlirValue distances(struct block *k, unsigned dim) {
  if (dim + 1 == k->rank)
    return range(k, dim);
  MlirValue rows = mlirValueIsNull(k->a.rows) ? range(k, dim) : k->a.rows;
  rows = wide(k, rows);
  return build_binary(&k->b, OP_ARITH_MULI, rows, splat_like(k, k->strides[dim], rows));
}

static MlirValue pointers(struct block *k) {
  int64_t ones[DESCRIPTOR_MAX_RANK] = {1, 1, 1, 1, 1};
  MlirValue ptr = build_splat(&k->b, first_element(k), k->rank, ones);
  for (unsigned i = 0; i < k->rank; i++) {
    MlirValue step = spread(k, along(k, distances(k, i), i), i);
    ptr = build_addptr(&k->b, spread(k, ptr, i), step);
  }
  return ptr;
}

// ---- masks ----

// Of 0 to the size of dimension `dim` of the block: `v` cut to that range, as i32.
static MlirValue within_block(struct block *k, MlirValue v, unsigned dim) {
  MlirValue zero = build_const_int(&k->b, k->i64, 0),
            size = build_const_int(&k->b, k->i64, k->shape[dim]);
  v = build_binary(&k->b, OP_ARITH_MINSI, build_binary(&k->b, OP_ARITH_MAXSI, v, zero), size);
  return build_cast(&k->b, OP_ARITH_TRUNCI, v, mlir_of_dtype(k->b.c, DTYPE_I32));
}

// The size, with the fact of a stride that is the same number.
static MlirValue size_of(struct block *k, unsigned dim) {
  int stride = descriptor_stride_of_size(k->b.c, &k->a.of, dim);
  return stride < 0 ? k->a.of.sizes[dim] : k->strides[stride];
}

enum { SLT = 2, SGE = 5 };

// The elements x of `tile` with low <= x < high; `low` may be null.
static MlirValue between(struct block *k, MlirValue tile, MlirValue low, MlirValue high) {
  MlirValue in = build_cmpi(&k->b, SLT, tile, splat_like(k, high, tile));
  if (mlirValueIsNull(low))
    return in;
  MlirValue above = build_cmpi(&k->b, SGE, tile, splat_like(k, low, tile));
  return build_binary(&k->b, OP_ARITH_ANDI, above, in);
}

// The elements of dimension `dim` that lie in the tensor.
static MlirValue inside(struct block *k, unsigned dim) {
  MlirValue size = size_of(k, dim), offset = k->a.offsets[dim];
  MlirValue zero = build_const_int(&k->b, k->i64, 0), low = none;
  if (mlirValueIsNull(offset))
    return between(k, wide(k, k->a.rows), k->x->is_nonnegative[dim] ? none : zero, size);
  offset = wide(k, offset);
  if (!k->x->is_nonnegative[dim])
    low = within_block(k, build_binary(&k->b, OP_ARITH_SUBI, zero, offset), dim);
  MlirValue high = within_block(k, build_binary(&k->b, OP_ARITH_SUBI, size, offset), dim);
  return between(k, range(k, dim), low, high);
}

static MlirValue mask(struct block *k) {
  MlirValue all = none;
  for (unsigned i = 0; i < k->rank; i++) {
    MlirValue in = spread(k, along(k, inside(k, i), i), i);
    all = i ? build_binary(&k->b, OP_ARITH_ANDI, spread(k, all, i), in) : in;
  }
  return all;
}

// ---- accesses ----

static MlirValue padding(struct block *k) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(k->x->op, 0));
  bool is_nan = str_is(op_attr_str(k->x->op, "padding"), "nan");
  return is_nan ? build_const_float(&k->b, type, (double)NAN) : none; // masked-off loads are zero
}

static void rewrite(struct rewriter *r, const struct access *x) {
  struct block k = block_of(r, x);
  MlirValue ptr = pointers(&k), in = mask(&k);
  switch (op_id(r->c, x->op)) {
  case OP_TILE_DESCRIPTOR_LOAD:
  case OP_TILE_DESCRIPTOR_GATHER:
    value_replace(mlirOperationGetResult(x->op, 0),
                  build_load(&k.b, ptr, in, padding(&k), "", "", false));
    break;
  case OP_TILE_DESCRIPTOR_REDUCE: {
    struct str kind = op_attr_str(x->op, "kind");
    build_atomic_rmw(&k.b, arena_strndup(r->scratch, kind.ptr, kind.len), ptr, k.a.value, in,
                     "relaxed", "gpu");
    break;
  }
  default: build_store(&k.b, ptr, k.a.value, in, "", "");
  }
  op_erase(x->op);
}

enum pass_result pass_rewrite_descriptors(struct pass_context *p) {
  MlirOperation module = mlirModuleGetOperation(p->module);
  struct rewriter r = {.c = p->c, .scratch = p->scratch};
  r.kernel = module_kernel(p->c, p->module);
  r.axis = axis_analyse(p->c, module, p->scratch);
  ir_walk(module, collect, &r);
  for (size_t i = 0; i < r.accesses.len; i++)
    rewrite(&r, &r.accesses.at[i]);
  return r.accesses.len ? PASS_CHANGED : PASS_UNCHANGED;
}
