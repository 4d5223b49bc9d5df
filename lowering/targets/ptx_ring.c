// SPDX-License-Identifier: Apache-2.0
// Tensor maps, mbarriers and copies of blocks on Hopper (PTX ISA, "cp.async.bulk.tensor",
// "mbarrier", "setmaxnreg").
#include "lowering/targets/ptx.h"

static LLVMTypeRef void_type(struct emitter *e) { return LLVMVoidTypeInContext(e->llvm); }

static void add_attribute(struct emitter *e, unsigned param, LLVMAttributeRef a) {
  LLVMAddAttributeAtIndex(e->function, param + 1, a);
}

// Passed by value and never written, so that their address is that of the parameter.
void ptx_begin_maps(struct emitter *e) {
  static const char constant[] = "nvvm.grid_constant";
  LLVMTypeRef bytes = LLVMArrayType2(e->i8, KERNEL_MAP_BYTES);
  unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5),
           align = LLVMGetEnumAttributeKindForName("align", 5);
  e->maps = arena_array(e->arena, LLVMValueRef, e->map_count + 1);
  unsigned param = e->info->param_count;
  for (unsigned i = 0; i < e->map_count; i++) {
    if (e->map_shapes[i].made)
      continue; // ptx_maps_open
    e->maps[i] = LLVMGetParam(e->function, param);
    LLVMSetValueName2(e->maps[i], "map", 3);
    add_attribute(e, param, LLVMCreateTypeAttribute(e->llvm, byval, bytes));
    add_attribute(e, param, LLVMCreateEnumAttribute(e->llvm, align, 64));
    add_attribute(e, param,
                  LLVMCreateStringAttribute(e->llvm, constant, sizeof constant - 1, "", 0));
    param++;
  }
}

void ptx_mbarrier_init(struct emitter *e, LLVMValueRef at, LLVMValueRef arrivals) {
  LLVMValueRef args[] = {at, arrivals};
  ptx_memory_asm(e, "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r", void_type(e), args, 2);
}

void ptx_mbarriers_ready(struct emitter *e) {
  ptx_memory_asm(e, "fence.mbarrier_init.release.cluster;", "", void_type(e), NULL, 0);
  LLVMValueRef all = const_i32(e, 0);
  intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.all", 0, NULL, 1, &all);
}

// try_wait may end before the phase does.
void ptx_mbarrier_wait(struct emitter *e, LLVMValueRef at, LLVMValueRef parity) {
  LLVMValueRef args[] = {at, parity};
  LLVMValueRef call = ptx_memory_asm(e,
                                     "{\n.reg .pred p;\n"
                                     "$$wait_${:uid}:\n"
                                     "mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n"
                                     "@!p bra $$wait_${:uid};\n}",
                                     "r,r", void_type(e), args, 2);
  ptx_set_convergent(e, call);
}

// The scope of the arrival is its own CTA, as in CUTLASS (ClusterBarrier::arrive): only reads of
// the slot have to be over, and they are. With `.release.cluster` ptxas adds MEMBAR.ALL.GPU, which
// takes about as long as an iteration.
static void arrive_far(struct emitter *e, LLVMValueRef at, LLVMValueRef pred, LLVMValueRef cta) {
  LLVMValueRef args[] = {at, pred, cta};
  LLVMValueRef call = ptx_memory_asm(e,
                                     "{\n.reg .b32 far;\nbar.warp.sync 0xffffffff;\n"
                                     "@$1 mapa.shared::cluster.u32 far, $0, $2;\n"
                                     "@$1 mbarrier.arrive.shared::cluster.b64 _, [far];\n}",
                                     "r,b,r", void_type(e), args, 3);
  ptx_set_convergent(e, call);
}

// All lanes are done before the first of them arrives.
void ptx_mbarrier_arrive(struct emitter *e, LLVMValueRef at, LLVMValueRef pred, LLVMValueRef cta) {
  LLVMValueRef args[] = {at, pred};
  if (cta) {
    arrive_far(e, at, pred, cta);
    return;
  }
  LLVMValueRef call = ptx_memory_asm(e,
                                     "bar.warp.sync 0xffffffff;\n"
                                     "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];",
                                     "r,b", void_type(e), args, 2);
  ptx_set_convergent(e, call);
}

void ptx_mbarrier_expect(struct emitter *e, LLVMValueRef at, unsigned bytes) {
  LLVMValueRef args[] = {at, const_i32(e, bytes)};
  ptx_memory_asm(e, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r", void_type(e),
                 args, 2);
}

void ptx_map_copy(struct emitter *e, LLVMValueRef map, LLVMValueRef to, LLVMValueRef mbarrier,
                  unsigned rank, const LLVMValueRef *coords, unsigned ctas) {
  LLVMValueRef args[4 + KERNEL_MAP_RANK] = {to, map, mbarrier};
  struct strbuf text = {.arena = e->arena}, constraints = {.arena = e->arena};
  strbuf_printf(
      &text,
      "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes%s "
      "[$0], [$1, {",
      rank, ctas ? ".multicast::cluster" : "");
  strbuf_puts(&constraints, "r,l,r");
  for (unsigned i = 0; i < rank; i++) { // PTX counts from the innermost dimension
    args[3 + i] = coords[rank - 1 - i];
    strbuf_printf(&text, "%s$%u", i ? ", " : "", 3 + i);
    strbuf_puts(&constraints, ",r");
  }
  unsigned n = 3 + rank;
  strbuf_puts(&text, "}], [$2]");
  if (ctas) {
    args[n] = const_int(e->i16, (1u << ctas) - 1);
    strbuf_printf(&text, ", $%u", n++);
    strbuf_puts(&constraints, ",h");
  }
  strbuf_puts(&text, ";");
  ptx_memory_asm(e, strbuf_cstr(&text), strbuf_cstr(&constraints), void_type(e), args, n);
  strbuf_finish(&text);
  strbuf_finish(&constraints);
}

void ptx_map_store(struct emitter *e, LLVMValueRef map, LLVMValueRef from, unsigned rank,
                   const LLVMValueRef *coords, struct str reduction) {
  LLVMValueRef args[2 + KERNEL_MAP_RANK] = {map, from};
  struct strbuf text = {.arena = e->arena}, constraints = {.arena = e->arena};
  if (reduction.len)
    strbuf_printf(&text, "cp.reduce.async.bulk.tensor.%ud.global.shared::cta.%.*s.tile.bulk_group ",
                  rank, (int)reduction.len, reduction.ptr);
  else
    strbuf_printf(&text, "cp.async.bulk.tensor.%ud.global.shared::cta.tile.bulk_group ", rank);
  strbuf_puts(&text, "[$0, {");
  strbuf_puts(&constraints, "l,r");
  for (unsigned i = 0; i < rank; i++) {
    args[2 + i] = coords[rank - 1 - i];
    strbuf_printf(&text, "%s$%u", i ? ", " : "", 2 + i);
    strbuf_puts(&constraints, ",r");
  }
  strbuf_puts(&text, "}], [$1];\ncp.async.bulk.commit_group;");
  ptx_memory_asm(e, strbuf_cstr(&text), strbuf_cstr(&constraints), void_type(e), args, 2 + rank);
  strbuf_finish(&text);
  strbuf_finish(&constraints);
}

void ptx_map_wait(struct emitter *e) {
  ptx_memory_asm(e, "cp.async.bulk.wait_group.read 0;", "", void_type(e), NULL, 0);
}

LLVMValueRef ptx_cluster_rank(struct emitter *e) {
  return intrinsic(e, "llvm.nvvm.read.ptx.sreg.cluster.ctarank", 0, NULL, 0, NULL);
}

LLVMValueRef ptx_cluster_size(struct emitter *e) {
  return intrinsic(e, "llvm.nvvm.read.ptx.sreg.cluster.nctarank", 0, NULL, 0, NULL);
}

// Lanes of a producer's warp may come one after another: not .aligned.
void ptx_cluster_barrier(struct emitter *e) {
  LLVMValueRef call = ptx_memory_asm(e,
                                     "barrier.cluster.arrive.release;\n"
                                     "barrier.cluster.wait.acquire;",
                                     "", void_type(e), NULL, 0);
  ptx_set_convergent(e, call);
}

void ptx_set_registers(struct emitter *e, unsigned count, bool grows) {
  const char *text =
      arena_printf(e->arena, "setmaxnreg.%s.sync.aligned.u32 %u;", grows ? "inc" : "dec", count);
  LLVMValueRef call = ptx_memory_asm(e, text, "", void_type(e), NULL, 0);
  ptx_set_convergent(e, call);
}
