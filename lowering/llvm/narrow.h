// SPDX-License-Identifier: Apache-2.0
// Tiles of 8- and 16-bit elements as words of 32 bits, where they live through a loop.
#ifndef TILE_LOWERING_LLVM_NARROW_H
#define TILE_LOWERING_LLVM_NARROW_H

#include "base/vec.h"
#include "lowering/llvm/emit.h"

struct narrow_tile {
  MlirValue value;
  struct packing packing;
  LLVMValueRef *words;
  struct emitted *outside; // what the value is bound to around the loop
};
struct narrow_tiles {
  struct narrow_tile *at;
  size_t len, cap;
};

// Can v live in words? Then they are still to be filled, by one of the next two.
bool narrow_begin(struct emitter *e, MlirValue v, struct narrow_tile *ret);
void narrow_pack(struct emitter *e, struct narrow_tile *n, const struct emitted *x);
void narrow_phis(struct emitter *e, struct narrow_tile *n); // words without incoming values yet
void narrow_incoming(struct emitter *e, const struct narrow_tile *n, const struct emitted *x,
                     LLVMBasicBlockRef from);
// Takes the words apart where the builder stands and binds the value `as` to the elements.
void narrow_unpack(struct emitter *e, const struct narrow_tile *n, MlirValue as);

// Packs, in front of the loop, all tiles that it uses from outside.
void narrow_enter(struct emitter *e, MlirOperation loop, struct narrow_tiles *ret);
// Binds them again as they were.
void narrow_exit_loop(struct emitter *e, const struct narrow_tiles *tiles);

#endif
