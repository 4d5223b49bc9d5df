// SPDX-License-Identifier: Apache-2.0
// Shared by the PTX target's files only.
#ifndef TILE_LOWERING_TARGETS_PTX_H
#define TILE_LOWERING_TARGETS_PTX_H

#include "lowering/llvm/emit.h"

extern const struct target_hooks ptx_hooks;

void ptx_load(struct emitter *e, const struct access *a, const LLVMValueRef *other,
              LLVMValueRef *ret);
void ptx_store(struct emitter *e, const struct access *a, const LLVMValueRef *words);
unsigned ptx_atomic_width(struct emitter *e, const struct atomic *a);
void ptx_atomic_rmw(struct emitter *e, const struct atomic *a, const LLVMValueRef *values,
                    LLVMValueRef *ret);
LLVMValueRef ptx_atomic_cas(struct emitter *e, const struct access *a, LLVMValueRef compare,
                            LLVMValueRef value);

void ptx_load_matrices(struct emitter *e, const struct matrices *m, LLVMValueRef *ret);
void ptx_store_matrices(struct emitter *e, const struct matrices *m, const LLVMValueRef *words);
void ptx_mma(struct emitter *e, const struct mma_operands *m, LLVMValueRef *ret);

LLVMValueRef ptx_warp_group_asm(struct emitter *e, const char *text, const char *constraints,
                                LLVMTypeRef result, LLVMValueRef *args, unsigned n);
void ptx_async_proxy_fence(struct emitter *e);

// Adds the tensor maps to the kernel's parameters, after the others, and sets e->maps.
void ptx_begin_maps(struct emitter *e);
void ptx_mbarrier_init(struct emitter *e, LLVMValueRef at, LLVMValueRef arrivals);
void ptx_mbarriers_ready(struct emitter *e);
void ptx_mbarrier_wait(struct emitter *e, LLVMValueRef at, LLVMValueRef parity);
void ptx_mbarrier_arrive(struct emitter *e, LLVMValueRef at, LLVMValueRef pred, LLVMValueRef cta);
LLVMValueRef ptx_cluster_rank(struct emitter *e);
LLVMValueRef ptx_cluster_size(struct emitter *e);
void ptx_cluster_barrier(struct emitter *e);
void ptx_mbarrier_expect(struct emitter *e, LLVMValueRef at, unsigned bytes);
void ptx_map_copy(struct emitter *e, LLVMValueRef map, LLVMValueRef to, LLVMValueRef mbarrier,
                  unsigned rank, const LLVMValueRef *coords, unsigned ctas);
void ptx_map_store(struct emitter *e, LLVMValueRef map, LLVMValueRef from, unsigned rank,
                   const LLVMValueRef *coords, struct str reduction);
void ptx_map_wait(struct emitter *e);
void ptx_maps_open(struct emitter *e, LLVMValueRef words);
void ptx_map_make(struct emitter *e, const struct made_map *m);
void ptx_maps_close(struct emitter *e);
void ptx_set_registers(struct emitter *e, unsigned count, bool grows);

void ptx_async_copy(struct emitter *e, const struct access *a, LLVMValueRef to);
void ptx_async_commit(struct emitter *e);
void ptx_async_wait(struct emitter *e, unsigned pending);

// The L2 cache policy of the access (i64); NULL: none.
LLVMValueRef ptx_eviction_policy(struct emitter *e, MlirOperation op);
// The lanes of a warp execute the call together: without this attribute LLVM may move it into a
// branch that some lanes take, or make one copy of it in each of two branches.
void ptx_set_convergent(struct emitter *e, LLVMValueRef call);
// A pure one: LLVM may merge, move and drop it.
LLVMValueRef ptx_pure_asm(struct emitter *e, const char *text, const char *constraints,
                          LLVMTypeRef result, const LLVMValueRef *args, unsigned n);
// One instruction that touches memory: never removed, and kept in order with other accesses.
LLVMValueRef ptx_memory_asm(struct emitter *e, const char *text, const char *constraints,
                            LLVMTypeRef result, LLVMValueRef *args, unsigned n);
// The register class of a word, as inline assembly spells it.
const char *ptx_constraint_of(unsigned bits);

#endif
