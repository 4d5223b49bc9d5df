// SPDX-License-Identifier: Apache-2.0
// Addresses of tensors that are objects of an interpreter (include/tile/dlpack.h): one call reads
// all arguments of a program.
#include "runtime/runtime_internal.h"

#include <tile/dlpack.h>

static bool fits(const DLTensor *t, const tile_tensor *slot) {
  if (t->ndim != slot->rank)
    return false;
  int64_t dense = 1;
  bool ok = true, is_empty = false;
  for (int d = slot->rank; d-- > 0;) {
    int64_t stride = t->strides ? t->strides[d] : dense;
    is_empty |= t->shape[d] == 0;
    if (t->shape[d] != slot->shape[d])
      return false;
    ok &= t->shape[d] < 2 || stride == slot->strides[d];
    dense *= t->shape[d];
  }
  return ok || is_empty;
}

static tile_status take(const tile_object_reader *r, void *object, const tile_object_place *at) {
  tile_tensor *slot = at->slot;
  DLTensor t;
  if (at->kind != TILE_OBJECT_VARIES) {
    void *address = r->address(object);
    if (at->kind == TILE_OBJECT_FITS || address == slot->data) {
      slot->data = address;
      return TILE_OK;
    }
  }
  if (r->view(object, &t) != 0)
    return status_set(TILE_INVALID_ARGUMENT, "object %zu is not a tensor that DLPack can give",
                      at->index);
  if (!fits(&t, slot))
    return status_set(TILE_INVALID_ARGUMENT, "tensor %zu has another shape or other strides",
                      at->index);
  slot->data = t.data ? (char *)t.data + t.byte_offset : NULL;
  return TILE_OK;
}

tile_status tile_tensors_from_objects(const tile_object_reader *reader, void *list,
                                      const tile_object_place *places, size_t count) {
  if (!reader || !list || (count && !places))
    return status_set(TILE_INVALID_ARGUMENT, "tile_tensors_from_objects: an argument is NULL");
  tile_status s = TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < count; i++) {
    void *object = reader->item(list, (ptrdiff_t)places[i].index);
    s = object ? take(reader, object, &places[i])
               : status_set(TILE_INVALID_ARGUMENT, "the list has no object %zu", places[i].index);
  }
  return s;
}
