/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of other libraries by DLPack, without copies. C89-clean, usable from C++; needs
 * libtile-rt only.
 *
 *   tile_tensor x;
 *   tile_tensor_from_dlpack(device, &managed->dl_tensor, &x);      from PyTorch, NumPy, JAX, CuPy
 *   tile_tensor_to_dlpack(device, &x, release, user, &managed);    to them
 *
 * Streams: a producer of CUDA tensors makes the stream that the consumer names wait for its work.
 * Pass it the handle of the stream in which you launch (tile_stream_from_handle wraps it for Tile).
 * Errors: as in runtime.h. Thread-safe. */
#ifndef TILE_DLPACK_H
#define TILE_DLPACK_H

#include <tile/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The structures of DLPack 1.x, unless its own header was included before this one. */
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 0

typedef struct {
  uint32_t major, minor;
} DLPackVersion;

typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 } DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

typedef enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e5m2 = 12
} DLDataTypeCode;

typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;

typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides; /* of elements; strides may be NULL: row-major */
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)

typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;
#endif

/* ---- in ---- */

/* The same memory as a tensor of tile_program_run; `tensor` keeps the shape and strides, which must
 * stay as long as `ret_tensor` is used. TILE_INVALID_ARGUMENT: memory of another device than
 * `device`, a dtype that Tile has not, negative strides, data that is not aligned to its elements,
 * or more than TILE_PROGRAM_MAX_RANK dimensions. The CPU device takes host memory, page-locked too;
 * a GPU its own memory, managed and page-locked memory. */
TILE_API tile_status tile_tensor_from_dlpack(tile_device *device, const DLTensor *tensor,
                                             tile_tensor *ret_tensor);
/* The same as a kernel's argument: a pointer to the first element. Shape and strides are the
 * caller's to pass. */
TILE_API tile_status tile_arg_from_dlpack(tile_device *device, const DLTensor *tensor,
                                          tile_arg *ret_arg);

/* ---- objects of an interpreter ---- */

/* How to read a list of tensors in an interpreter. The functions are the interpreter's and its
 * tensor library's; the calling thread holds what they need, such as Python's GIL. */
typedef struct tile_object_reader {
  void *(*item)(void *list, ptrdiff_t index); /* a borrowed object: Python's PyList_GetItem */
  void *(*address)(void *object);             /* of a tensor's first element */
  /* The tensor, borrowed: `dltensor_from_py_object_no_sync` of DLPack's C exchange API. Not 0: it
   * cannot be given, and the interpreter knows why. */
  int (*view)(void *object, DLTensor *ret);
} tile_object_reader;

typedef enum {
  TILE_OBJECT_VARIES, /* shape and strides are compared with the slot's */
  TILE_OBJECT_STAYS,  /* the same, unless its address is that of the slot already */
  TILE_OBJECT_FITS    /* the caller has made it for the slot: nothing is compared */
} tile_object_kind;

/* Which object of a list gives the address of which tensor. */
typedef struct tile_object_place {
  tile_tensor *slot;
  size_t index; /* in the list */
  tile_object_kind kind;
} tile_object_place;

/* Writes the addresses of a list's tensors to `data` of their slots, in one pass. Nothing else in
 * the slots changes; they need shapes and strides. TILE_INVALID_ARGUMENT: a tensor has another
 * shape or other strides than its slot, or `view` failed; some addresses are written then. Not
 * thread-safe for the same slots. */
TILE_API tile_status tile_tensors_from_objects(const tile_object_reader *reader, void *list,
                                               const tile_object_place *places, size_t count);

/* ---- out ---- */

/* `tensor`, in memory of `device`, for another library; shape and strides are copied. The consumer
 * calls `(*ret)->deleter(*ret)` once when it no longer uses the memory, which calls release(user),
 * if `release` is not NULL, from any thread. `user` is the manager_ctx of the result. Simulated
 * GPUs have no memory that others can use: TILE_INVALID_ARGUMENT, and so for TILE_F8E4B15, which
 * DLPack has not. */
TILE_API tile_status tile_tensor_to_dlpack(tile_device *device, const tile_tensor *tensor,
                                           void (*release)(void *user), void *user,
                                           DLManagedTensorVersioned **ret);
/* The same for consumers of DLPack before 1.0. */
TILE_API tile_status tile_tensor_to_dlpack_unversioned(tile_device *device,
                                                       const tile_tensor *tensor,
                                                       void (*release)(void *user), void *user,
                                                       DLManagedTensor **ret);

#ifdef __cplusplus
}
#endif

#endif
