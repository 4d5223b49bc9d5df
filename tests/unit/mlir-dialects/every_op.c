// SPDX-License-Identifier: Apache-2.0
// A module that uses every op of the table at least once, created with the builders.
#include "mlir-dialects/descriptor.h"
#include "mlir-dialects/rings.h"
#include "suites.h"

#define NONE ((MlirValue){NULL})
#define NONE_ATTR ((MlirAttribute){NULL})

static MlirAttribute parse_attr(struct ir_context *c, const char *text) {
  return mlirAttributeParseGet(c->mlir, mlirStringRefCreateFromCString(text));
}

static void elementwise(struct builder *b, MlirValue i, MlirValue f) {
  struct ir_context *c = b->c;
  for (enum op_id id = OP_ARITH_ADDI; id <= OP_ARITH_MINUI; id++)
    build_binary(b, id, i, i);
  for (enum op_id id = OP_ARITH_ADDF; id <= OP_ARITH_MINIMUMF; id++)
    if (id != OP_ARITH_NEGF)
      build_binary(b, id, f, f);
  build_unary(b, OP_ARITH_NEGF, f);
  for (enum op_id id = OP_MATH_ABSF; id <= OP_MATH_TANH; id++)
    build_unary(b, id, id == OP_MATH_ABSI ? i : f);
  build_ternary(b, OP_MATH_FMA, f, f, f);
  MlirValue lt = build_cmpi(b, 2, i, i);
  build_cmpf(b, 1, f, f);
  build_select(b, lt, f, f);
  build_clampf(b, f, f, f, true);
  build_binary(b, OP_TILE_MULHIUI, i, i);
  build_unary(b, OP_TILE_PRECISE_SQRT, f);
  build_binary(b, OP_TILE_PRECISE_DIVF, f, f);
  MlirType i64 = mlir_of_dtype(c, DTYPE_I64), f64 = mlir_of_dtype(c, DTYPE_F64);
  MlirType i16 = mlir_of_dtype(c, DTYPE_I16), i32 = mlir_of_dtype(c, DTYPE_I32);
  build_cast(b, OP_ARITH_EXTSI, i, i64);
  build_cast(b, OP_ARITH_EXTUI, i, i64);
  build_cast(b, OP_ARITH_TRUNCI, i, i16);
  build_cast(b, OP_ARITH_EXTF, f, f64);
  build_cast(b, OP_ARITH_TRUNCF, f, mlir_of_dtype(c, DTYPE_BF16));
  build_cast(b, OP_ARITH_SITOFP, i, f64);
  build_cast(b, OP_ARITH_UITOFP, i, f64);
  build_cast(b, OP_ARITH_FPTOSI, f, i64);
  build_cast(b, OP_ARITH_FPTOUI, f, i64);
  build_cast(b, OP_ARITH_BITCAST, f, i32);
  build_cast(b, OP_TILE_BITCAST, f, i32);
  build_fp_to_fp(b, f, mlir_of_dtype(c, DTYPE_F8E4NV), "rtne");
}

static void shapes(struct builder *b) {
  int64_t square[] = {32, 32}, flat[] = {1024};
  MlirValue row = build_expand_dims(b, build_make_range(b, 0, 32), 0);
  MlirValue tile = build_broadcast(b, row, 2, square);
  build_reshape(b, tile, 1, flat, false);
  build_trans(b, tile, 2, (int32_t[]){1, 0});
}

static void layouts(struct builder *b) {
  MlirAttribute blocked = parse_attr(
      b->c, "#tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], threads_per_warp = [8, "
            "4], warps_per_cta = [4, 1]}>");
  MlirAttribute slice = parse_attr(
      b->c, "#tilegpu.slice<{dim = 0, parent = #tilegpu.blocked<{order = [1, 0], size_per_thread = "
            "[1, 4], threads_per_warp = [8, 4], warps_per_cta = [4, 1]}>}>");
  ck_assert(!mlirAttributeIsNull(blocked) && !mlirAttributeIsNull(slice));
  int64_t shape[] = {32}, square[] = {32, 32};
  MlirType type = tensor_type(1, shape, mlir_of_dtype(b->c, DTYPE_I32), slice);
  MlirValue row = build_expand_dims(b, build_const_int(b, type, 7), 0);
  ck_assert(mlirAttributeEqual(tensor_encoding(mlirValueGetType(row)), blocked));
  MlirValue tile = build_broadcast(b, row, 2, square);
  build_convert_layout(
      b, tile,
      parse_attr(b->c, "#tilegpu.linear<{block = [], lane = [[0, 1]], register = [[1, 0]]}>"));
}

static void memory(struct builder *b, MlirValue ptr, MlirValue range, MlirValue mask) {
  struct ir_context *c = b->c;
  int64_t shape[] = {32};
  MlirValue ptrs = build_addptr(b, build_splat(b, ptr, 1, shape), range);
  MlirValue x = build_load(b, ptrs, NONE, NONE, "", "", false);
  build_load(b, ptrs, mask, NONE, "ca", "", false);
  build_load(b, ptrs, mask, x, "cg", "evict_first", true);
  build_load(b, ptr, NONE, NONE, "", "", false);
  build_store(b, ptrs, x, NONE, "", "");
  build_store(b, ptrs, x, mask, "wb", "evict_last");
  MlirValue words = build_cast(b, OP_TILE_BITCAST, ptrs, ptr_type(c, mlir_of_dtype(c, DTYPE_I32)));
  build_atomic_cas(b, words, range, range, "acq_rel", "gpu");
  build_atomic_rmw(b, "fadd", ptrs, x, mask, "acq_rel", "gpu");
  MlirValue address = build_cast(b, OP_TILE_PTR_TO_INT, ptrs, mlir_of_dtype(c, DTYPE_I64));
  build_cast(b, OP_TILE_INT_TO_PTR, address, ptr_type(c, mlir_of_dtype(c, DTYPE_F16)));
  build_print(b, "x: \"quoted\"", true, 2, (MlirValue[]){x, range}, (int32_t[]){1, 0});
  build_debug_value(b, "a name", "u32", 1, range);
  build_assert(b, mask, "out of range");
}

static void descriptors(struct builder *b, MlirValue ptr, MlirValue n, MlirValue rows) {
  struct ir_context *c = b->c;
  MlirType f32 = mlir_of_dtype(c, DTYPE_F32);
  MlirValue size = build_cast(b, OP_ARITH_EXTSI, n, mlir_of_dtype(c, DTYPE_I64));
  MlirValue offsets[DESCRIPTOR_MAX_RANK];
  struct descriptor d = {.base = ptr};
  int64_t shape[] = {1, 2, 2, 4, 4};
  for (unsigned i = 0; i < DESCRIPTOR_MAX_RANK; i++)
    offsets[i] = n, d.sizes[i] = size, d.strides[i % (DESCRIPTOR_MAX_RANK - 1)] = size;
  for (d.rank = 1; d.rank <= DESCRIPTOR_MAX_RANK; d.rank++) {
    MlirType type = tensor_type(d.rank, shape + DESCRIPTOR_MAX_RANK - d.rank, f32, NONE_ATTR);
    MlirValue v = build_descriptor_load(b, &d, offsets, d.rank % 2 ? "nan" : "zero", type);
    build_descriptor_store(b, &d, offsets, v);
    build_descriptor_reduce(b, "fadd", &d, offsets, v);
    struct descriptor_access a;
    MlirOperation last = mlirBlockGetFirstOperation(b->block);
    for (MlirOperation next = last; !mlirOperationIsNull(next);
         next = mlirOperationGetNextInBlock(next))
      last = next;
    ck_assert(descriptor_access_of(c, last, &a));
    ck_assert_uint_eq(a.of.rank, d.rank);
    ck_assert(mlirValueEqual(a.value, v) && mlirValueEqual(a.offsets[d.rank - 1], n));
  }
  d.rank = 2;
  MlirValue x = build_descriptor_gather(b, &d, rows, n, 8, "zero");
  build_descriptor_scatter(b, &d, rows, n, x);
}

static MlirValue control(struct builder *b, MlirValue n) {
  struct ir_context *c = b->c;
  MlirType i32 = mlir_of_dtype(c, DTYPE_I32);
  MlirValue zero = build_const_int(b, i32, 0), one = build_const_int(b, i32, 1);
  MlirBlock body, then_block, else_block, before, after;
  MlirOperation loop = build_for(b, zero, n, one, 1, &zero, &body);
  struct builder in = builder_at_end(c, body, b->loc);
  MlirValue sum = build_binary(&in, OP_ARITH_ADDI, mlirBlockGetArgument(body, 0),
                               mlirBlockGetArgument(body, 1));
  build_yield(&in, 1, &sum);
  MlirValue total = mlirOperationGetResult(loop, 0);

  MlirValue positive = build_cmpi(b, 4, total, zero);
  build_assume(b, positive);
  MlirOperation choice = build_if(b, positive, 1, &i32, &then_block, &else_block);
  in = builder_at_end(c, then_block, b->loc);
  build_yield(&in, 1, &total);
  in = builder_at_end(c, else_block, b->loc);
  build_yield(&in, 1, &zero);

  MlirValue start = mlirOperationGetResult(choice, 0);
  MlirOperation repeat = build_while(b, 1, &start, 1, &i32, &before, &after);
  in = builder_at_end(c, before, b->loc);
  MlirValue arg = mlirBlockGetArgument(before, 0);
  build_condition(&in, build_cmpi(&in, 2, arg, n), 1, &arg);
  in = builder_at_end(c, after, b->loc);
  MlirValue next = build_binary(&in, OP_ARITH_ADDI, mlirBlockGetArgument(after, 0), one);
  build_yield(&in, 1, &next);

  build_if(b, positive, 0, NULL, &then_block, NULL);
  in = builder_at_end(c, then_block, b->loc);
  build_barrier(&in);
  build_yield(&in, 0, NULL);
  return mlirOperationGetResult(repeat, 0);
}

static void collectives(struct builder *b, MlirValue i, MlirValue f, MlirValue mask) {
  struct ir_context *c = b->c;
  int64_t square[] = {32, 32};
  MlirType f32 = mlir_of_dtype(c, DTYPE_F32), i32 = mlir_of_dtype(c, DTYPE_I32);
  MlirType range = mlirValueGetType(i);
  MlirValue both[] = {f, i}, two[2], one;
  build_reduce(b, 1, &f, 0, "add", &one);
  build_reduce(b, 2, both, 0, "pick", two);
  build_scan(b, 2, both, 0, "pick", true, two);
  MlirValue tile = build_broadcast(b, build_expand_dims(b, f, 0), 2, square);
  build_reduce(b, 1, &tile, 1, "add", &one);
  build_map(b, 2, both, "choose", 1, 1, &f32, &one);
  build_inline_asm(b, "mov.b32 $0, $1;", "=r,r", 1, true, 1, &i, 1, &range, &one);
  build_inline_asm(b, "nop;", "=r,r", 1, false, 1, &i, 1, &range, &one);
  build_gather(b, f, i, 0);
  build_histogram(b, i, NONE, 64);
  build_histogram(b, i, mask, 64);
  build_split(b, build_join(b, f, f), two);
  int64_t single[] = {1};
  build_unsplat(b, build_splat(b, build_const_int(b, i32, 3), 1, single));
  build_special_register(b, "globaltimer", DTYPE_I64);
  build_special_register(b, "smid", DTYPE_I32);
  build_grid_dependency(b, "wait");
}

static void shared(struct builder *b) {
  MlirAttribute lanes = parse_attr(
      b->c, "#tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], "
            "warps_per_cta = [4]}>");
  MlirAttribute swizzled =
      parse_attr(b->c, "#tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>");
  int64_t shape[] = {128};
  MlirType element = mlir_of_dtype(b->c, DTYPE_F32);
  MlirValue x = build_const_float(b, tensor_type(1, shape, element, lanes), 2);
  MlirType tile = tensor_type(1, shape, element, swizzled);
  MlirValue buffer = build_local_alloc(b, x, tile);
  build_local_alloc(b, NONE, tile);
  ck_assert(type_is_memdesc(b->c, mlirValueGetType(buffer)));
  ck_assert(mlirTypeEqual(memdesc_tile(b->c, mlirValueGetType(buffer)), tile));
  build_gpu_barrier(b, false, 0);
  build_local_store(b, build_local_load(b, buffer, lanes), buffer);
}

static void dots(struct builder *b, MlirValue ptr) {
  struct ir_context *c = b->c;
  int64_t shape[] = {16, 16};
  MlirType half = mlir_of_dtype(c, DTYPE_F16), single = mlir_of_dtype(c, DTYPE_F32);
  MlirValue x = build_const_float(b, tensor_type(2, shape, half, mlirAttributeGetNull()), 2);
  MlirValue acc = build_const_float(b, tensor_type(2, shape, single, mlirAttributeGetNull()), 0);
  build_dot(b, x, x, acc, "tf32", 0);
  MlirAttribute lanes = parse_attr(
      c, "#tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 2], threads_per_warp = [4, 8], "
         "warps_per_cta = [4, 1]}>");
  MlirAttribute rows =
      parse_attr(c, "#tilegpu.shared<{max_phase = 1, order = [1, 0], per_phase = 1, vec = 1}>");
  MlirAttribute columns =
      parse_attr(c, "#tilegpu.shared<{max_phase = 1, order = [0, 1], per_phase = 1, vec = 1}>");
  MlirValue ring = build_local_ring(b, tensor_type(2, shape, single, rows), 3);
  MlirValue at = build_local_index(b, ring, build_const_int(b, mlir_of_dtype(c, DTYPE_I32), 1), 1);
  MlirValue to = build_cast(b, OP_TILE_BITCAST, ptr, ptr_type(c, single));
  MlirType ptr_tile = tensor_type(2, shape, ptr_type(c, single), lanes);
  MlirValue ptrs =
      mlirOperationGetResult(build_op(b, OP_TILE_SPLAT, 1, &to, 1, &ptr_tile, 0, NULL), 0);
  MlirValue mask = build_const_int(b, tensor_type(2, shape, mlir_of_dtype(c, DTYPE_I1), lanes), 1);
  MlirValue operand = build_local_alloc(b, NONE, tensor_type(2, shape, half, rows));
  build_warp_group_dot_wait(b, build_warp_group_dot(b, operand, operand, acc, 1), 0, 1, &acc);
  build_promoted_warp_group_dot(b, operand, operand, acc, 32);
  build_async_copy(b, ptrs, at, NONE, "cg", "");
  build_async_copy(b, ptrs, at, mask, "", "evict_last");
  build_async_commit(b);
  build_async_wait(b, 2, (MlirValue[]){at, ring}, 0);
  build_async_wait(b, 0, NULL, 1);
  MlirValue transposed =
      build_local_trans(b, at, tensor_type(2, shape, single, columns), (int32_t[]){1, 0});
  MlirValue whole = build_local_load(b, at, lanes);
  build_part(b, whole, tensor_type(2, (int64_t[]){16, 8}, single, lanes), (int32_t[]){0, 8});
  build_local_load_part(b, transposed, tensor_type(2, (int64_t[]){16, 8}, single, lanes),
                        (int32_t[]){0, 8});
}

static struct launch_expr number(struct arena *a, int64_t n) {
  struct launch_expr e = {1, arena_new(a, struct launch_term)};
  e.terms[0] = (struct launch_term){LAUNCH_CONST, n};
  return e;
}

// Maps read back as they were added; equal ones are one.
static void rings(struct builder *b, MlirModule m, MlirValue n, MlirValue ptr, MlirValue wide) {
  struct ir_context *c = b->c;
  MlirOperation module = mlirModuleGetOperation(m);
  struct launch_term product[] = {{LAUNCH_PARAM, 1}, {LAUNCH_CONST, -3}, {LAUNCH_MUL, 0}};
  struct kernel_map map = {.dtype = DTYPE_F16, .rank = 2, .box = {16, 32}, .swizzle = 64};
  map.offset = number(c->arena, 8);
  map.sizes[0] = (struct launch_expr){3, product};
  map.sizes[1] = map.strides[0] = number(c->arena, 64);
  ck_assert_uint_eq(module_map_add(c, module, &map), 0);
  ck_assert_uint_eq(module_map_add(c, module, &map), 0);
  map.pads_nan = true;
  ck_assert_uint_eq(module_map_add(c, module, &map), 1);
  ck_assert_uint_eq(module_map_count(module), 2);
  struct kernel_map got;
  ck_assert(module_map(c, module, 1, &got) && got.pads_nan && got.swizzle == 64);
  ck_assert(got.sizes[0].count == 3 && got.sizes[0].terms[1].number == -3);
  ck_assert(!module_map(c, module, 2, &got));

  MlirAttribute rows =
      parse_attr(c, "#tilegpu.nvmma_shared<{element_bits = 16, swizzle = 64, transposed = false}>");
  MlirAttribute line =
      parse_attr(c, "#tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>");
  int64_t shape[] = {16, 32}, count = 8;
  MlirType half = mlir_of_dtype(c, DTYPE_F16), i64 = mlir_of_dtype(c, DTYPE_I64);
  MlirValue offsets[] = {n, n};
  MlirValue block = build_map_load(b, 1, 2, offsets, tensor_type(2, shape, half, NONE_ATTR));
  build_map_store(b, 0, block, 2, offsets, "add");
  MlirValue buffers = build_local_ring(b, tensor_type(2, shape, half, rows), 3);
  struct ring_ref ring = {build_local_alloc(b, NONE, tensor_type(1, &count, i64, line)), 0, 3};
  build_ring_init(b, &ring);
  build_cluster_barrier(b);
  struct ring_ref shared = {ring.barriers, 1, 3, 2, build_is_producer(b, false)};
  build_ring_init(b, &shared);
  build_set_registers(b, 40, false);
  build_ping_pong(b, PING_PONG_BEGIN);
  MlirValue slot = build_ring_empty(b, &ring, 1024);
  build_map_copy(b, &ring, 0, build_local_index(b, buffers, slot, -1), slot, 2, offsets, 0);
  build_map_copy(b, &ring, 0, build_local_index(b, buffers, slot, -1), slot, 2, offsets, 2);
  map.made = 1;
  ck_assert_uint_eq(module_map_add(c, module, &map), 2);
  ck_assert(module_map(c, module, 2, &got) && got.made == 1 && got.box[1] == 32);
  build_map_make(b, 2, 2, ptr, (MlirValue[]){wide, wide}, &wide);
  build_maps_open(b, ring.barriers);
  build_ring_drain(b, &ring);
  build_made_map(b, 2, ring.barriers, 3, ptr, (MlirValue[]){wide, wide, wide});
  build_maps_close(b);
  build_ring_full(b, &ring);
  build_buffer_map_store(b, 0, buffers, 2, offsets, 0, "");
  build_map_wait(b, 0);
  build_ring_release(b, &ring, 1);
  build_ring_end(b, buffers);
}

// A private function of `n` scalars to the first `results` of them.
static void combine(struct ir_context *c, MlirModule m, const char *name, unsigned n,
                    const MlirType *types, unsigned results, MlirLocation loc) {
  MlirOperation f = build_func(c, m, name, n, types, results, types, false, loc);
  struct builder b = builder_at_end(c, func_entry(f), loc);
  MlirValue args[4];
  for (unsigned i = 0; i < results; i++)
    args[i] = mlirBlockGetArgument(func_entry(f), i);
  build_return(&b, results, args);
}

static void combines(struct ir_context *c, MlirModule m, MlirLocation loc) {
  MlirType f32 = mlir_of_dtype(c, DTYPE_F32), i32 = mlir_of_dtype(c, DTYPE_I32);
  combine(c, m, "add", 2, (MlirType[]){f32, f32}, 1, loc);
  combine(c, m, "pick", 4, (MlirType[]){f32, i32, f32, i32}, 2, loc);
  combine(c, m, "choose", 2, (MlirType[]){f32, i32}, 1, loc);
}

static void callee(struct ir_context *c, MlirModule m, MlirLocation loc) {
  MlirType f32 = mlir_of_dtype(c, DTYPE_F32);
  MlirOperation f = build_func(c, m, "same", 1, &f32, 1, &f32, false, loc);
  struct builder b = builder_at_end(c, func_entry(f), loc);
  MlirValue arg = mlirBlockGetArgument(func_entry(f), 0);
  build_return(&b, 1, &arg);
}

MlirModule every_op(struct ir_context *c) {
  struct source *s = source_create(c->arena, "k.tile", STR("kernel text\nsecond line\n"));
  MlirLocation loc = loc_from_span(c, (struct span){s, 7, 11});
  MlirModule m = build_module(c, loc);
  callee(c, m, loc);
  combines(c, m, loc);
  MlirType f32 = mlir_of_dtype(c, DTYPE_F32);
  MlirType args[] = {ptr_type(c, f32), mlir_of_dtype(c, DTYPE_I32)};
  MlirOperation f = build_func(c, m, "k", 2, args, 0, NULL, true, loc);
  func_set_arg_attr(c, f, 0, "tile.divisibility", attr_i32(c, 16));
  func_set_arg_attr(c, f, 1, "tile.name", attr_str(c, "n"));
  struct builder b = builder_at_end(c, func_entry(f), loc_from_span(c, (struct span){s, 12, 18}));
  MlirValue ptr = mlirBlockGetArgument(func_entry(f), 0);
  MlirValue n = mlirBlockGetArgument(func_entry(f), 1);
  int64_t shape[] = {32};
  MlirValue range = build_make_range(&b, 0, 32);
  MlirValue floats = build_const_float(&b, tensor_type(1, shape, f32, mlirAttributeGetNull()), 1.5);
  MlirValue mask = build_cmpi(&b, 2, range, build_splat(&b, n, 1, shape));
  build_program_id(&b, 0);
  build_num_programs(&b, 2);
  elementwise(&b, range, floats);
  shapes(&b);
  layouts(&b);
  memory(&b, ptr, range, mask);
  descriptors(&b, ptr, n, range);
  control(&b, n);
  collectives(&b, range, floats, mask);
  shared(&b);
  dots(&b, ptr);
  rings(&b, m, n, ptr, build_const_int(&b, mlir_of_dtype(c, DTYPE_I64), 64));
  MlirValue one = build_const_float(&b, f32, 1);
  build_call(&b, "same", 1, &one, 1, &f32, &one);
  build_return(&b, 0, NULL);
  return m;
}
