// SPDX-License-Identifier: Apache-2.0
// Structure of the dialects `tile` and `tilegpu`: operands, attributes and results of every op.
// What IRDL cannot say stands elsewhere: effects in ops.def, shapes and element types in verify.c.
// Every parameter needs an irdl.any of its own, because one name used twice would mean "equal".
irdl.dialect @tile {
  // !tile.ptr<T>: a pointer to T in global memory.
  irdl.type @ptr {
    %pointee = irdl.any
    irdl.parameters(pointee: %pointee)
  }
  irdl.operation @get_program_id {
    %result = irdl.is i32
    %axis_attr = irdl.any
    irdl.attributes {"axis" = %axis_attr}
    irdl.results(result: %result)
  }
  irdl.operation @get_num_programs {
    %result = irdl.is i32
    %axis_attr = irdl.any
    irdl.attributes {"axis" = %axis_attr}
    irdl.results(result: %result)
  }
  irdl.operation @make_range {
    %result = irdl.any
    %start_attr = irdl.any
    %end_attr = irdl.any
    irdl.attributes {"start" = %start_attr, "end" = %end_attr}
    irdl.results(result: %result)
  }
  irdl.operation @splat {
    %scalar = irdl.any
    %result = irdl.any
    irdl.operands(scalar: %scalar)
    irdl.results(result: %result)
  }
  irdl.operation @expand_dims {
    %tile = irdl.any
    %result = irdl.any
    %axis_attr = irdl.any
    irdl.operands(tile: %tile)
    irdl.attributes {"axis" = %axis_attr}
    irdl.results(result: %result)
  }
  irdl.operation @broadcast {
    %tile = irdl.any
    %result = irdl.any
    irdl.operands(tile: %tile)
    irdl.results(result: %result)
  }
  irdl.operation @reshape {
    %tile = irdl.any
    %result = irdl.any
    %allow_reorder_attr = irdl.any
    irdl.operands(tile: %tile)
    irdl.attributes {"allow_reorder" = %allow_reorder_attr}
    irdl.results(result: %result)
  }
  irdl.operation @trans {
    %tile = irdl.any
    %result = irdl.any
    %order_attr = irdl.any
    irdl.operands(tile: %tile)
    irdl.attributes {"order" = %order_attr}
    irdl.results(result: %result)
  }
  irdl.operation @addptr {
    %ptr = irdl.any
    %offset = irdl.any
    %result = irdl.any
    irdl.operands(ptr: %ptr, offset: %offset)
    irdl.results(result: %result)
  }
  irdl.operation @load {
    %ptr = irdl.any
    %mask = irdl.any
    %other = irdl.any
    %result = irdl.any
    %cache_attr = irdl.any
    %evict_attr = irdl.any
    %is_volatile_attr = irdl.any
    irdl.operands(ptr: %ptr, mask: optional %mask, other: optional %other)
    irdl.attributes {"cache" = %cache_attr, "evict" = %evict_attr, "is_volatile" = %is_volatile_attr}
    irdl.results(result: %result)
  }
  irdl.operation @store {
    %ptr = irdl.any
    %value = irdl.any
    %mask = irdl.any
    %cache_attr = irdl.any
    %evict_attr = irdl.any
    irdl.operands(ptr: %ptr, value: %value, mask: optional %mask)
    irdl.attributes {"cache" = %cache_attr, "evict" = %evict_attr}
  }
  irdl.operation @atomic_rmw {
    %ptr = irdl.any
    %value = irdl.any
    %mask = irdl.any
    %result = irdl.any
    %kind_attr = irdl.any
    %sem_attr = irdl.any
    %scope_attr = irdl.any
    irdl.operands(ptr: %ptr, value: %value, mask: optional %mask)
    irdl.attributes {"kind" = %kind_attr, "sem" = %sem_attr, "scope" = %scope_attr}
    irdl.results(result: %result)
  }
  // Sizes, strides and offsets as descriptor.h says; operandSegmentSizes has their numbers.
  irdl.operation @descriptor_load {
    %base = irdl.any
    %size = irdl.is i64
    %stride = irdl.is i64
    %offset = irdl.is i32
    %result = irdl.any
    %padding_attr = irdl.any
    irdl.operands(base: %base, sizes: variadic %size, strides: variadic %stride, offsets: variadic %offset)
    irdl.attributes {"padding" = %padding_attr}
    irdl.results(result: %result)
  }
  irdl.operation @descriptor_store {
    %base = irdl.any
    %size = irdl.is i64
    %stride = irdl.is i64
    %offset = irdl.is i32
    %value = irdl.any
    irdl.operands(base: %base, sizes: variadic %size, strides: variadic %stride, offsets: variadic %offset, value: %value)
  }
  irdl.operation @descriptor_reduce {
    %base = irdl.any
    %size = irdl.is i64
    %stride = irdl.is i64
    %offset = irdl.is i32
    %value = irdl.any
    %kind_attr = irdl.any
    irdl.operands(base: %base, sizes: variadic %size, strides: variadic %stride, offsets: variadic %offset, value: %value)
    irdl.attributes {"kind" = %kind_attr}
  }
  irdl.operation @descriptor_gather {
    %base = irdl.any
    %size = irdl.is i64
    %stride = irdl.is i64
    %offset = irdl.is i32
    %rows = irdl.any
    %result = irdl.any
    %padding_attr = irdl.any
    irdl.operands(base: %base, sizes: variadic %size, strides: variadic %stride, rows: %rows, column: %offset)
    irdl.attributes {"padding" = %padding_attr}
    irdl.results(result: %result)
  }
  irdl.operation @descriptor_scatter {
    %base = irdl.any
    %size = irdl.is i64
    %stride = irdl.is i64
    %offset = irdl.is i32
    %rows = irdl.any
    %value = irdl.any
    irdl.operands(base: %base, sizes: variadic %size, strides: variadic %stride, rows: %rows, column: %offset, value: %value)
  }
  irdl.operation @map_store {
    %value = irdl.any
    %offset = irdl.is i32
    %map_attr = irdl.any
    irdl.operands(value: %value, offsets: variadic %offset)
    irdl.attributes {"map" = %map_attr}
  }
  irdl.operation @map_make {
    %base = irdl.any
    %number = irdl.is i64
    %map_attr = irdl.any
    irdl.operands(base: %base, numbers: variadic %number)
    irdl.attributes {"map" = %map_attr}
  }
  irdl.operation @map_load {
    %offset = irdl.is i32
    %result = irdl.any
    %map_attr = irdl.any
    irdl.operands(offsets: variadic %offset)
    irdl.attributes {"map" = %map_attr}
    irdl.results(result: %result)
  }
  irdl.operation @bitcast {
    %x = irdl.any
    %result = irdl.any
    irdl.operands(x: %x)
    irdl.results(result: %result)
  }
  irdl.operation @int_to_ptr {
    %x = irdl.any
    %result = irdl.any
    irdl.operands(x: %x)
    irdl.results(result: %result)
  }
  irdl.operation @ptr_to_int {
    %ptr = irdl.any
    %result = irdl.any
    irdl.operands(ptr: %ptr)
    irdl.results(result: %result)
  }
  irdl.operation @fp_to_fp {
    %x = irdl.any
    %result = irdl.any
    %rounding_attr = irdl.any
    irdl.operands(x: %x)
    irdl.attributes {"rounding" = %rounding_attr}
    irdl.results(result: %result)
  }
  irdl.operation @clampf {
    %x = irdl.any
    %lo = irdl.any
    %hi = irdl.any
    %result = irdl.any
    %propagate_nan_attr = irdl.any
    irdl.operands(x: %x, lo: %lo, hi: %hi)
    irdl.attributes {"propagate_nan" = %propagate_nan_attr}
    irdl.results(result: %result)
  }
  irdl.operation @mulhiui {
    %a = irdl.any
    %b = irdl.any
    %result = irdl.any
    irdl.operands(a: %a, b: %b)
    irdl.results(result: %result)
  }
  irdl.operation @precise_sqrt {
    %x = irdl.any
    %result = irdl.any
    irdl.operands(x: %x)
    irdl.results(result: %result)
  }
  irdl.operation @precise_divf {
    %x = irdl.any
    %y = irdl.any
    %result = irdl.any
    irdl.operands(x: %x, y: %y)
    irdl.results(result: %result)
  }
  irdl.operation @debug_value {
    %value = irdl.any
    %name_attr = irdl.any
    %dtype_attr = irdl.any
    irdl.operands(value: %value)
    irdl.attributes {"name" = %name_attr, "dtype" = %dtype_attr}
  }
  // One name would mean one type for all, so there are sixteen; see build_print.
  irdl.operation @print {
    %v0 = irdl.any
    %v1 = irdl.any
    %v2 = irdl.any
    %v3 = irdl.any
    %v4 = irdl.any
    %v5 = irdl.any
    %v6 = irdl.any
    %v7 = irdl.any
    %v8 = irdl.any
    %v9 = irdl.any
    %v10 = irdl.any
    %v11 = irdl.any
    %v12 = irdl.any
    %v13 = irdl.any
    %v14 = irdl.any
    %v15 = irdl.any
    %prefix_attr = irdl.any
    %hex_attr = irdl.any
    %is_signed_attr = irdl.any
    irdl.operands(
      v0: optional %v0, v1: optional %v1, v2: optional %v2, v3: optional %v3,
      v4: optional %v4, v5: optional %v5, v6: optional %v6, v7: optional %v7,
      v8: optional %v8, v9: optional %v9, v10: optional %v10, v11: optional %v11,
      v12: optional %v12, v13: optional %v13, v14: optional %v14, v15: optional %v15)
    irdl.attributes {"prefix" = %prefix_attr, "hex" = %hex_attr, "is_signed" = %is_signed_attr}
  }
  irdl.operation @assert {
    %condition = irdl.any
    %message_attr = irdl.any
    irdl.operands(condition: %condition)
    irdl.attributes {"message" = %message_attr}
  }
  irdl.operation @assume {
    %condition = irdl.any
    irdl.operands(condition: %condition)
  }
  irdl.operation @debug_barrier {
  }
  // Several values of any types: as many optional ones as the limit of ops.def; see build_collective.c.
  irdl.operation @reduce {
    %v0 = irdl.any
    %v1 = irdl.any
    %v2 = irdl.any
    %v3 = irdl.any
    %v4 = irdl.any
    %v5 = irdl.any
    %v6 = irdl.any
    %v7 = irdl.any
    %r0 = irdl.any
    %r1 = irdl.any
    %r2 = irdl.any
    %r3 = irdl.any
    %r4 = irdl.any
    %r5 = irdl.any
    %r6 = irdl.any
    %r7 = irdl.any
    %axis_attr = irdl.any
    %combine_attr = irdl.any
    irdl.operands(
      v0: optional %v0, v1: optional %v1, v2: optional %v2, v3: optional %v3,
      v4: optional %v4, v5: optional %v5, v6: optional %v6, v7: optional %v7)
    irdl.attributes {"axis" = %axis_attr, "combine" = %combine_attr}
    irdl.results(
      r0: optional %r0, r1: optional %r1, r2: optional %r2, r3: optional %r3,
      r4: optional %r4, r5: optional %r5, r6: optional %r6, r7: optional %r7)
  }
  irdl.operation @scan {
    %v0 = irdl.any
    %v1 = irdl.any
    %v2 = irdl.any
    %v3 = irdl.any
    %v4 = irdl.any
    %v5 = irdl.any
    %v6 = irdl.any
    %v7 = irdl.any
    %r0 = irdl.any
    %r1 = irdl.any
    %r2 = irdl.any
    %r3 = irdl.any
    %r4 = irdl.any
    %r5 = irdl.any
    %r6 = irdl.any
    %r7 = irdl.any
    %axis_attr = irdl.any
    %combine_attr = irdl.any
    %reverse_attr = irdl.any
    irdl.operands(
      v0: optional %v0, v1: optional %v1, v2: optional %v2, v3: optional %v3,
      v4: optional %v4, v5: optional %v5, v6: optional %v6, v7: optional %v7)
    irdl.attributes {"axis" = %axis_attr, "combine" = %combine_attr, "reverse" = %reverse_attr}
    irdl.results(
      r0: optional %r0, r1: optional %r1, r2: optional %r2, r3: optional %r3,
      r4: optional %r4, r5: optional %r5, r6: optional %r6, r7: optional %r7)
  }
  irdl.operation @map_elementwise {
    %v0 = irdl.any
    %v1 = irdl.any
    %v2 = irdl.any
    %v3 = irdl.any
    %v4 = irdl.any
    %v5 = irdl.any
    %v6 = irdl.any
    %v7 = irdl.any
    %r0 = irdl.any
    %r1 = irdl.any
    %r2 = irdl.any
    %r3 = irdl.any
    %r4 = irdl.any
    %r5 = irdl.any
    %r6 = irdl.any
    %r7 = irdl.any
    %function_attr = irdl.any
    %pack_attr = irdl.any
    irdl.operands(
      v0: optional %v0, v1: optional %v1, v2: optional %v2, v3: optional %v3,
      v4: optional %v4, v5: optional %v5, v6: optional %v6, v7: optional %v7)
    irdl.attributes {"function" = %function_attr, "pack" = %pack_attr}
    irdl.results(
      r0: optional %r0, r1: optional %r1, r2: optional %r2, r3: optional %r3,
      r4: optional %r4, r5: optional %r5, r6: optional %r6, r7: optional %r7)
  }
  irdl.operation @inline_asm {
    %v0 = irdl.any
    %v1 = irdl.any
    %v2 = irdl.any
    %v3 = irdl.any
    %v4 = irdl.any
    %v5 = irdl.any
    %v6 = irdl.any
    %v7 = irdl.any
    %v8 = irdl.any
    %v9 = irdl.any
    %v10 = irdl.any
    %v11 = irdl.any
    %v12 = irdl.any
    %v13 = irdl.any
    %v14 = irdl.any
    %v15 = irdl.any
    %r0 = irdl.any
    %r1 = irdl.any
    %r2 = irdl.any
    %r3 = irdl.any
    %r4 = irdl.any
    %r5 = irdl.any
    %r6 = irdl.any
    %r7 = irdl.any
    %asm_attr = irdl.any
    %constraints_attr = irdl.any
    %pack_attr = irdl.any
    %is_pure_attr = irdl.any
    irdl.operands(
      v0: optional %v0, v1: optional %v1, v2: optional %v2, v3: optional %v3,
      v4: optional %v4, v5: optional %v5, v6: optional %v6, v7: optional %v7,
      v8: optional %v8, v9: optional %v9, v10: optional %v10, v11: optional %v11,
      v12: optional %v12, v13: optional %v13, v14: optional %v14, v15: optional %v15)
    irdl.attributes {"asm" = %asm_attr, "constraints" = %constraints_attr, "pack" = %pack_attr, "is_pure" = %is_pure_attr}
    irdl.results(
      r0: optional %r0, r1: optional %r1, r2: optional %r2, r3: optional %r3,
      r4: optional %r4, r5: optional %r5, r6: optional %r6, r7: optional %r7)
  }
  irdl.operation @gather {
    %source = irdl.any
    %index = irdl.any
    %result = irdl.any
    %axis_attr = irdl.any
    irdl.operands(source: %source, index: %index)
    irdl.attributes {"axis" = %axis_attr}
    irdl.results(result: %result)
  }
  irdl.operation @histogram {
    %x = irdl.any
    %mask = irdl.any
    %result = irdl.any
    irdl.operands(x: %x, mask: optional %mask)
    irdl.results(result: %result)
  }
  irdl.operation @join {
    %a = irdl.any
    %b = irdl.any
    %result = irdl.any
    irdl.operands(a: %a, b: %b)
    irdl.results(result: %result)
  }
  irdl.operation @split {
    %x = irdl.any
    %first = irdl.any
    %second = irdl.any
    irdl.operands(x: %x)
    irdl.results(first: %first, second: %second)
  }
  irdl.operation @unsplat {
    %x = irdl.any
    %result = irdl.any
    irdl.operands(x: %x)
    irdl.results(result: %result)
  }
  irdl.operation @atomic_cas {
    %ptr = irdl.any
    %compare = irdl.any
    %value = irdl.any
    %result = irdl.any
    %sem_attr = irdl.any
    %scope_attr = irdl.any
    irdl.operands(ptr: %ptr, compare: %compare, value: %value)
    irdl.attributes {"sem" = %sem_attr, "scope" = %scope_attr}
    irdl.results(result: %result)
  }
  irdl.operation @special_register {
    %result = irdl.any
    %name_attr = irdl.any
    irdl.attributes {"name" = %name_attr}
    irdl.results(result: %result)
  }
  irdl.operation @grid_dependency {
    %kind_attr = irdl.any
    irdl.attributes {"kind" = %kind_attr}
  }
  irdl.operation @dot {
    %a = irdl.any
    %b = irdl.any
    %acc = irdl.any
    %result = irdl.any
    irdl.operands(a: %a, b: %b, acc: %acc)
    irdl.results(result: %result)
    %input_precision_attr = irdl.any
    %max_num_imprecise_acc_attr = irdl.any
    irdl.attributes {"input_precision" = %input_precision_attr, "max_num_imprecise_acc" = %max_num_imprecise_acc_attr}
  }
}

// Layouts: one dictionary each, read by layouts/.
irdl.dialect @tilegpu {
  irdl.attribute @blocked {
    %parameters = irdl.any
    irdl.parameters(parameters: %parameters)
  }
  irdl.attribute @slice {
    %parameters = irdl.any
    irdl.parameters(parameters: %parameters)
  }
  irdl.attribute @linear {
    %parameters = irdl.any
    irdl.parameters(parameters: %parameters)
  }
  irdl.attribute @mma {
    %parameters = irdl.any
    irdl.parameters(parameters: %parameters)
  }
  irdl.attribute @dot_op {
    %parameters = irdl.any
    irdl.parameters(parameters: %parameters)
  }
  irdl.attribute @shared {
    %parameters = irdl.any
    irdl.parameters(parameters: %parameters)
  }
  irdl.attribute @nvmma_shared {
    %parameters = irdl.any
    irdl.parameters(parameters: %parameters)
  }
  // !tilegpu.memdesc<tensor<64x64xf16, #tilegpu.shared<...>>>: a tile in shared memory.
  irdl.type @memdesc {
    %tile = irdl.any
    irdl.parameters(tile: %tile)
  }
  irdl.operation @convert_layout {
    %tile = irdl.any
    %result = irdl.any
    irdl.operands(tile: %tile)
    irdl.results(result: %result)
  }
  irdl.operation @part {
    %tile = irdl.any
    %result = irdl.any
    irdl.operands(tile: %tile)
    irdl.results(result: %result)
    %offsets_attr = irdl.any
    irdl.attributes {"offsets" = %offsets_attr}
  }
  irdl.operation @local_alloc {
    %tile = irdl.any
    %result = irdl.any
    irdl.operands(tile: optional %tile)
    irdl.results(result: %result)
  }
  irdl.operation @local_load {
    %buffer = irdl.any
    %result = irdl.any
    irdl.operands(buffer: %buffer)
    irdl.results(result: %result)
  }
  irdl.operation @local_store {
    %tile = irdl.any
    %buffer = irdl.any
    irdl.operands(tile: %tile, buffer: %buffer)
  }
  irdl.operation @local_index {
    %ring = irdl.any
    %number = irdl.any
    %result = irdl.any
    irdl.operands(ring: %ring, number: %number)
    irdl.results(result: %result)
  }
  irdl.operation @local_trans {
    %buffer = irdl.any
    %result = irdl.any
    irdl.operands(buffer: %buffer)
    irdl.results(result: %result)
    %order_attr = irdl.any
    irdl.attributes {"order" = %order_attr}
  }
  irdl.operation @async_copy {
    %ptr = irdl.any
    %buffer = irdl.any
    %mask = irdl.any
    irdl.operands(ptr: %ptr, buffer: %buffer, mask: optional %mask)
    %cache_attr = irdl.any
    %evict_attr = irdl.any
    irdl.attributes {"cache" = %cache_attr, "evict" = %evict_attr}
  }
  irdl.operation @async_commit {
  }
  irdl.operation @async_wait {
    %buffer = irdl.any
    irdl.operands(buffers: variadic %buffer)
    %pending_attr = irdl.any
    irdl.attributes {"pending" = %pending_attr}
  }
  irdl.operation @warp_group_dot {
    %a = irdl.any
    %b = irdl.any
    %acc = irdl.any
    %result = irdl.any
    %pending_attr = irdl.any
    irdl.operands(a: %a, b: %b, acc: %acc)
    irdl.results(result: %result)
    irdl.attributes {"pending" = %pending_attr}
  }
  irdl.operation @warp_group_dot_wait {
    %acc = irdl.any
    %a = irdl.any
    %result = irdl.any
    %pending_attr = irdl.any
    irdl.operands(acc: %acc, uses: variadic %a)
    irdl.results(result: %result)
    irdl.attributes {"pending" = %pending_attr}
  }
  irdl.operation @is_producer {
    %result = irdl.is i1
    %leader_attr = irdl.any
    irdl.attributes {"leader" = %leader_attr}
    irdl.results(result: %result)
  }
  irdl.operation @set_registers {
    %count_attr = irdl.any
    %grows_attr = irdl.any
    irdl.attributes {"count" = %count_attr, "grows" = %grows_attr}
  }
  irdl.operation @ping_pong {
    %step_attr = irdl.any
    irdl.attributes {"step" = %step_attr}
  }
  irdl.operation @ring_init {
    %barriers = irdl.any
    %in_step = irdl.is i1
    %ring_attr = irdl.any
    %slots_attr = irdl.any
    irdl.operands(barriers: %barriers, in_step: optional %in_step)
    irdl.attributes {"ring" = %ring_attr, "slots" = %slots_attr}
  }
  irdl.operation @ring_empty {
    %barriers = irdl.any
    %result = irdl.is i32
    %ring_attr = irdl.any
    %slots_attr = irdl.any
    %bytes_attr = irdl.any
    irdl.operands(barriers: %barriers)
    irdl.attributes {"ring" = %ring_attr, "slots" = %slots_attr, "bytes" = %bytes_attr}
    irdl.results(result: %result)
  }
  irdl.operation @map_copy {
    %buffer = irdl.any
    %barriers = irdl.any
    %slot = irdl.is i32
    %offset = irdl.is i32
    %ring_attr = irdl.any
    %slots_attr = irdl.any
    %map_attr = irdl.any
    irdl.operands(buffer: %buffer, barriers: %barriers, slot: %slot, offsets: variadic %offset)
    irdl.attributes {"ring" = %ring_attr, "slots" = %slots_attr, "map" = %map_attr}
  }
  irdl.operation @map_store {
    %buffer = irdl.any
    %offset = irdl.is i32
    %map_attr = irdl.any
    irdl.operands(buffer: %buffer, offsets: variadic %offset)
    irdl.attributes {"map" = %map_attr}
  }
  irdl.operation @map_wait {
  }
  irdl.operation @maps_open {
    %buffer = irdl.any
    irdl.operands(buffer: %buffer)
  }
  irdl.operation @map_make {
    %buffer = irdl.any
    %base = irdl.any
    %number = irdl.is i64
    %map_attr = irdl.any
    irdl.operands(buffer: %buffer, base: %base, numbers: variadic %number)
    irdl.attributes {"map" = %map_attr}
  }
  irdl.operation @maps_close {
  }
  irdl.operation @ring_drain {
    %barriers = irdl.any
    %ring_attr = irdl.any
    %slots_attr = irdl.any
    irdl.operands(barriers: %barriers)
    irdl.attributes {"ring" = %ring_attr, "slots" = %slots_attr}
  }
  irdl.operation @ring_full {
    %barriers = irdl.any
    %result = irdl.is i32
    %ring_attr = irdl.any
    %slots_attr = irdl.any
    irdl.operands(barriers: %barriers)
    irdl.attributes {"ring" = %ring_attr, "slots" = %slots_attr}
    irdl.results(result: %result)
  }
  irdl.operation @ring_release {
    %barriers = irdl.any
    %ring_attr = irdl.any
    %slots_attr = irdl.any
    %keep_attr = irdl.any
    irdl.operands(barriers: %barriers)
    irdl.attributes {"ring" = %ring_attr, "slots" = %slots_attr, "keep" = %keep_attr}
  }
  irdl.operation @cluster_barrier {
  }
  irdl.operation @ring_end {
    %buffer = irdl.any
    irdl.operands(buffer: %buffer)
  }
  irdl.operation @barrier {
  }
}
