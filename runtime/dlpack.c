// SPDX-License-Identifier: Apache-2.0
// DLPack tensors (include/tile/dlpack.h): checks and conversion of those of other libraries, and
// tensors of Tile for them.
#include "base/dtype.h"
#include "base/memory.h"
#include "runtime/device.h"

#include <tile/dlpack.h>

#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 16 }; // TILE_PROGRAM_MAX_RANK

// ---- element types ----

static const struct {
  uint8_t code, bits;
  tile_type type;
} types[] = {
    {kDLBool, 8, TILE_I1},          {kDLInt, 8, TILE_I8},
    {kDLInt, 16, TILE_I16},         {kDLInt, 32, TILE_I32},
    {kDLInt, 64, TILE_I64},         {kDLUInt, 8, TILE_U8},
    {kDLUInt, 16, TILE_U16},        {kDLUInt, 32, TILE_U32},
    {kDLUInt, 64, TILE_U64},        {kDLFloat, 16, TILE_F16},
    {kDLFloat, 32, TILE_F32},       {kDLFloat, 64, TILE_F64},
    {kDLBfloat, 16, TILE_BF16},     {kDLFloat8_e4m3fn, 8, TILE_F8E4NV},
    {kDLFloat8_e5m2, 8, TILE_F8E5},
};

static bool type_from(DLDataType d, tile_type *ret) {
  for (size_t i = 0; i < COUNT_OF(types); i++)
    if (types[i].code == d.code && types[i].bits == d.bits && d.lanes == 1)
      return *ret = types[i].type, true;
  return false;
}

static bool type_to(tile_type type, DLDataType *ret) {
  for (size_t i = 0; i < COUNT_OF(types); i++)
    if (types[i].type == type)
      return *ret = (DLDataType){types[i].code, types[i].bits, 1}, true;
  return false;
}

static size_t bytes_of(tile_type type) {
  return type == TILE_I1 ? 1 : dtype_bytes((enum dtype)type);
}

// ---- in ----

static bool is_reachable(const tile_device *d, DLDevice at) {
  if (d->is_simulated)
    return false;
  bool is_host = at.device_type == kDLCPU || at.device_type == kDLCUDAHost;
  if (d->is_cpu)
    return is_host || at.device_type == kDLCUDAManaged;
  if (at.device_type == kDLCUDA)
    return at.device_id == d->ordinal;
  return at.device_type == kDLCUDAHost || at.device_type == kDLCUDAManaged;
}

static tile_status wrong_device(const tile_device *d, DLDevice at) {
  char name[32];
  device_open_name(d, name);
  const char *where = at.device_type == kDLCPU           ? "host memory"
                      : at.device_type == kDLCUDA        ? "memory of a GPU"
                      : at.device_type == kDLCUDAHost    ? "page-locked memory"
                      : at.device_type == kDLCUDAManaged ? "managed memory"
                                                         : "memory of another kind of device";
  return status_set(TILE_INVALID_ARGUMENT,
                    "DLPack: the tensor is in %s (type %d, number %d), which the device `%s` does "
                    "not access",
                    where, (int)at.device_type, (int)at.device_id, name);
}

static tile_status check_sizes(const DLTensor *t) {
  if (t->ndim < 0 || t->ndim > MAX_RANK)
    return status_set(TILE_INVALID_ARGUMENT,
                      "DLPack: a tensor has %d dimensions; 0 to %d are "
                      "possible",
                      (int)t->ndim, MAX_RANK);
  if (t->ndim > 0 && !t->shape)
    return status_set(TILE_INVALID_ARGUMENT, "DLPack: a tensor of %d dimensions has no shape",
                      (int)t->ndim);
  for (int i = 0; i < t->ndim; i++)
    if (t->shape[i] < 0 || (t->strides && t->strides[i] < 0))
      return status_set(TILE_INVALID_ARGUMENT,
                        "DLPack: dimension %d has size %lld and stride %lld; sizes and strides are "
                        "at least 0",
                        i, (long long)t->shape[i], t->strides ? (long long)t->strides[i] : 0);
  return TILE_OK;
}

static bool is_empty(const DLTensor *t) {
  for (int i = 0; i < t->ndim; i++)
    if (t->shape[i] == 0)
      return true;
  return false;
}

static tile_status check(const tile_device *device, const DLTensor *t, void **ret_data,
                         tile_type *ret_type) {
  if (!is_reachable(device, t->device))
    return wrong_device(device, t->device);
  if (!type_from(t->dtype, ret_type))
    return status_set(TILE_INVALID_ARGUMENT,
                      "DLPack: Tile has no dtype of code %u with %u bits and %u lanes",
                      t->dtype.code, t->dtype.bits, t->dtype.lanes);
  tile_status s = check_sizes(t);
  if (s != TILE_OK)
    return s;
  void *data = t->data ? (char *)t->data + t->byte_offset : NULL;
  if (!data && !is_empty(t))
    return status_set(TILE_INVALID_ARGUMENT, "DLPack: the tensor has no memory");
  if ((uintptr_t)data % bytes_of(*ret_type))
    return status_set(
        TILE_INVALID_ARGUMENT,
        "DLPack: the tensor begins at %p, which is not a multiple of the %zu bytes of "
        "an element",
        data, bytes_of(*ret_type));
  *ret_data = data;
  return TILE_OK;
}

static tile_status null_argument(const char *call) {
  return status_set(TILE_INVALID_ARGUMENT, "%s: an argument is NULL", call);
}

tile_status tile_tensor_from_dlpack(tile_device *device, const DLTensor *tensor,
                                    tile_tensor *ret_tensor) {
  if (!device || !tensor || !ret_tensor)
    return null_argument("tile_tensor_from_dlpack");
  tile_tensor t = {.rank = tensor->ndim, .shape = tensor->shape, .strides = tensor->strides};
  tile_status s = check(device, tensor, &t.data, &t.type);
  if (s == TILE_OK)
    *ret_tensor = t;
  return s;
}

tile_status tile_arg_from_dlpack(tile_device *device, const DLTensor *tensor, tile_arg *ret_arg) {
  if (!device || !tensor || !ret_arg)
    return null_argument("tile_arg_from_dlpack");
  void *data;
  tile_type type;
  tile_status s = check(device, tensor, &data, &type);
  if (s == TILE_OK)
    *ret_arg = tile_arg_pointer(data, type);
  return s;
}

// ---- out ----

// The structure for the consumer, its shape and strides, in one allocation.
struct exported {
  union {
    DLManagedTensorVersioned versioned;
    DLManagedTensor plain;
  } as;
  void (*release)(void *user);
  int64_t sizes[2 * MAX_RANK];
};

static void delete_exported(struct exported *e, void *user) {
  if (e->release)
    e->release(user);
  free(e);
}

static void delete_versioned(DLManagedTensorVersioned *self) {
  if (self)
    delete_exported((struct exported *)self, self->manager_ctx);
}

static void delete_plain(DLManagedTensor *self) {
  if (self)
    delete_exported((struct exported *)self, self->manager_ctx);
}

static void copy_sizes(const tile_tensor *t, int64_t *shape, int64_t *strides) {
  int64_t dense = 1;
  for (int i = t->rank; i-- > 0;) {
    shape[i] = t->shape[i];
    strides[i] = t->strides ? t->strides[i] : dense;
    dense *= t->shape[i] > 1 ? t->shape[i] : 1;
  }
}

static tile_status describe(const tile_device *d, const tile_tensor *t, struct exported *e,
                            DLTensor *ret) {
  if (d->is_simulated)
    return status_set(TILE_INVALID_ARGUMENT,
                      "DLPack: the memory of a simulated GPU is of no use to other libraries");
  if (!type_to(t->type, &ret->dtype))
    return status_set(TILE_INVALID_ARGUMENT, "DLPack has no dtype for %s",
                      (unsigned)t->type < DTYPE_COUNT ? dtype_name((enum dtype)t->type)
                                                      : "a number that is no tile_type");
  ret->data = t->data;
  ret->device = (DLDevice){d->is_cpu ? kDLCPU : kDLCUDA, d->is_cpu ? 0 : d->ordinal};
  ret->ndim = t->rank;
  ret->shape = e->sizes;
  ret->strides = e->sizes + MAX_RANK;
  copy_sizes(t, ret->shape, ret->strides);
  return TILE_OK;
}

static tile_status make(const char *call, tile_device *device, const tile_tensor *t,
                        const void *ret, struct exported **ret_made) {
  if (!device || !t || !ret || (t->rank > 0 && !t->shape))
    return null_argument(call);
  if (t->rank < 0 || t->rank > MAX_RANK)
    return status_set(TILE_INVALID_ARGUMENT, "%s: the rank is %d; 0 to %d are possible", call,
                      t->rank, MAX_RANK);
  *ret_made = memory_zeroed(1, sizeof **ret_made);
  return *ret_made ? TILE_OK : status_set(TILE_OUT_OF_MEMORY, "out of memory for a DLPack tensor");
}

tile_status tile_tensor_to_dlpack(tile_device *device, const tile_tensor *tensor,
                                  void (*release)(void *user), void *user,
                                  DLManagedTensorVersioned **ret) {
  struct exported *e;
  tile_status s = make("tile_tensor_to_dlpack", device, tensor, (const void *)ret, &e);
  if (s != TILE_OK)
    return s;
  s = describe(device, tensor, e, &e->as.versioned.dl_tensor);
  if (s != TILE_OK) {
    free(e);
    return s;
  }
  e->release = release;
  e->as.versioned.version = (DLPackVersion){1, 0};
  e->as.versioned.manager_ctx = user;
  e->as.versioned.deleter = delete_versioned;
  *ret = &e->as.versioned;
  return TILE_OK;
}

tile_status tile_tensor_to_dlpack_unversioned(tile_device *device, const tile_tensor *tensor,
                                              void (*release)(void *user), void *user,
                                              DLManagedTensor **ret) {
  struct exported *e;
  tile_status s = make("tile_tensor_to_dlpack_unversioned", device, tensor, (const void *)ret, &e);
  if (s != TILE_OK)
    return s;
  s = describe(device, tensor, e, &e->as.plain.dl_tensor);
  if (s != TILE_OK) {
    free(e);
    return s;
  }
  e->release = release;
  e->as.plain.manager_ctx = user;
  e->as.plain.deleter = delete_plain;
  *ret = &e->as.plain;
  return TILE_OK;
}
