// SPDX-License-Identifier: Apache-2.0
// Tiles of 8- and 16-bit elements as words of 32 bits, where they are live through a loop.
#ifndef TILE_LOWERING_LLVM_NARROW_H
#define TILE_LOWERING_LLVM_NARROW_H

#include "base/vec.h"
#include "lowering/llvm/emit.h"

struct narrow_tile {
  MlirValue value;
  struct packing packing;
  LLVMValueRef *words;
  struct emitted *outside; // the binding of the value outside the loop
};
struct narrow_tiles {
  struct narrow_tile *at;
  size_t len, cap;
};

// Can v be kept in words? They are then filled by one of the next two functions.
bool narrow_begin(struct emitter *e, MlirValue v, struct narrow_tile *ret);
void narrow_pack(struct emitter *e, struct narrow_tile *n, const struct emitted *x);
void narrow_phis(struct emitter *e, struct narrow_tile *n); // words without incoming values yet
void narrow_incoming(struct emitter *e, const struct narrow_tile *n, const struct emitted *x,
                     LLVMBasicBlockRef from);
// Unpacks the words at the builder's position and binds the value `as` to the elements.
void narrow_unpack(struct emitter *e, const struct narrow_tile *n, MlirValue as);

// Packs, before the loop, all tiles that it uses from outside.
void narrow_enter(struct emitter *e, MlirOperation loop, struct narrow_tiles *ret);
// Restores their bindings.
void narrow_exit_loop(struct emitter *e, const struct narrow_tiles *tiles);

#endif
