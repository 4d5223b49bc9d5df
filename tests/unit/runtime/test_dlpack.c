// SPDX-License-Identifier: Apache-2.0
// DLPack tensors in and out, with what they may not be; registered memory; errors as JSON.
#include "fake_cuda.h"
#include "runtime/runtime_internal.h"
#include "suites.h"

#include <tile/dlpack.h>

#include <pthread.h>
#include <string.h>

static tile_device *device;

static void open_cpu(void) { ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK); }
static void close_device(void) { tile_device_close(device); }

static int64_t shape[] = {3, 4}, strides[] = {5, 1};

static DLTensor tensor_of(void *data) {
  DLTensor t = {.data = data,
                .device = {kDLCPU, 0},
                .ndim = 2,
                .dtype = {kDLFloat, 32, 1},
                .shape = shape,
                .strides = strides};
  return t;
}

// ---- in ----

START_TEST(a_tensor_is_borrowed) {
  float memory[20];
  DLTensor in = tensor_of(memory);
  in.byte_offset = 2 * sizeof(float);
  tile_tensor t;
  tile_arg a;
  ck_assert_int_eq(tile_tensor_from_dlpack(device, &in, &t), TILE_OK);
  ck_assert(t.data == memory + 2 && t.type == TILE_F32 && t.rank == 2);
  ck_assert(t.shape == shape && t.strides == strides);
  ck_assert_int_eq(tile_arg_from_dlpack(device, &in, &a), TILE_OK);
  ck_assert(a.is_pointer && a.type == TILE_F32 && a.value.pointer == memory + 2);
}
END_TEST

START_TEST(every_dtype_goes_in_and_out) {
  static const tile_type types[] = {TILE_I1,  TILE_I8,   TILE_I16,    TILE_I32, TILE_I64,
                                    TILE_U8,  TILE_U16,  TILE_U32,    TILE_U64, TILE_F8E5,
                                    TILE_F16, TILE_BF16, TILE_F8E4NV, TILE_F32, TILE_F64};
  _Alignas(8) char memory[64];
  for (size_t i = 0; i < COUNT_OF(types); i++) {
    tile_tensor from = {.data = memory, .type = types[i], .rank = 0}, to;
    DLManagedTensorVersioned *m;
    ck_assert_int_eq(tile_tensor_to_dlpack(device, &from, NULL, NULL, &m), TILE_OK);
    ck_assert_int_eq(tile_tensor_from_dlpack(device, &m->dl_tensor, &to), TILE_OK);
    ck_assert(to.type == types[i] && to.data == memory && to.rank == 0);
    m->deleter(m);
  }
}
END_TEST

// Sets one thing wrong; the message names it.
static void refused(const DLTensor *in, const char *says) {
  tile_tensor t;
  tile_arg a;
  ck_assert_int_eq(tile_tensor_from_dlpack(device, in, &t), TILE_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tile_error_message(), says), "%s", tile_error_message());
  ck_assert_int_eq(tile_arg_from_dlpack(device, in, &a), TILE_INVALID_ARGUMENT);
}

START_TEST(wrong_tensors) {
  float memory[20];
  int64_t negative[] = {-5, 1}, sizes[] = {3, -4}, no_elements[] = {0, 4};
  DLTensor t = tensor_of(memory);
  t.dtype = (DLDataType){kDLComplex, 64, 1};
  refused(&t, "code 5 with 64 bits");
  t.dtype = (DLDataType){kDLFloat, 32, 4};
  refused(&t, "4 lanes");
  t = tensor_of(memory), t.device = (DLDevice){kDLCUDA, 1};
  refused(&t, "memory of a GPU (type 2, number 1), which the device `cpu`");
  t = tensor_of(memory), t.strides = negative;
  refused(&t, "dimension 0 has size 3 and stride -5");
  t = tensor_of(memory), t.shape = sizes;
  refused(&t, "dimension 1 has size -4");
  t = tensor_of(memory), t.ndim = 17;
  refused(&t, "17 dimensions");
  t = tensor_of(memory), t.shape = NULL;
  refused(&t, "no shape");
  t = tensor_of((char *)memory + 2);
  refused(&t, "not a multiple of the 4 bytes");
  t = tensor_of(NULL);
  refused(&t, "no memory");
  t.shape = no_elements; // but an empty tensor needs none
  tile_tensor ok;
  ck_assert_int_eq(tile_tensor_from_dlpack(device, &t, &ok), TILE_OK);
  ck_assert_int_eq(tile_tensor_from_dlpack(device, NULL, &ok), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_tensor_from_dlpack(NULL, &t, &ok), TILE_INVALID_ARGUMENT);
}
END_TEST

START_TEST(a_gpu_takes_what_it_reaches) {
  float memory[20];
  tile_device *gpu;
  tile_tensor t;
  ck_assert_int_eq(tile_device_open("cuda", &gpu), TILE_OK); // the fake driver's
  DLTensor in = tensor_of(memory);
  static const struct {
    DLDevice at;
    tile_status status;
  } cases[] = {{{kDLCUDA, 0}, TILE_OK},
               {{kDLCUDAHost, 0}, TILE_OK},
               {{kDLCUDAManaged, 1}, TILE_OK},
               {{kDLCUDA, 1}, TILE_INVALID_ARGUMENT},
               {{kDLCPU, 0}, TILE_INVALID_ARGUMENT}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    in.device = cases[i].at;
    ck_assert_int_eq(tile_tensor_from_dlpack(gpu, &in, &t), cases[i].status);
  }
  DLManagedTensorVersioned *m;
  tile_tensor out = {.data = memory, .type = TILE_F32, .rank = 2, .shape = shape};
  ck_assert_int_eq(tile_tensor_to_dlpack(gpu, &out, NULL, NULL, &m), TILE_OK);
  ck_assert(m->dl_tensor.device.device_type == kDLCUDA && m->dl_tensor.device.device_id == 0);
  m->deleter(m);
  tile_device_close(gpu);
}
END_TEST

// ---- objects of an interpreter ----

struct object { // a tensor of an interpreter
  DLTensor tensor;
  bool is_refused;
  int views;
};

static void *item_of(void *list, ptrdiff_t index) { return ((struct object **)list)[index]; }
static void *address_of(void *object) { return ((struct object *)object)->tensor.data; }
static int view_of(void *object, DLTensor *ret) {
  struct object *o = object;
  o->views++;
  *ret = o->tensor;
  return o->is_refused ? -1 : 0;
}

static const tile_object_reader reader = {item_of, address_of, view_of};

START_TEST(objects_give_addresses) {
  float memory[3][20];
  int64_t other[] = {1, 3}, column[] = {4, 1}, steps[] = {1, 7};
  struct object o[] = {{.tensor = tensor_of(memory[0])},
                       {.tensor = tensor_of(memory[1])},
                       {.tensor = tensor_of(memory[2])}};
  void *list[] = {&o[2], &o[0], &o[1], NULL};
  tile_tensor slots[3];
  for (int i = 0; i < 3; i++)
    slots[i] = (tile_tensor){.type = TILE_F32, .rank = 2, .shape = shape, .strides = strides};
  tile_object_place places[] = {{&slots[0], 1, TILE_OBJECT_VARIES},
                                {&slots[1], 2, TILE_OBJECT_STAYS},
                                {&slots[2], 0, TILE_OBJECT_FITS}};
  for (int run = 0; run < 2; run++)
    ck_assert_int_eq(tile_tensors_from_objects(&reader, list, places, 3), TILE_OK);
  for (int i = 0; i < 3; i++)
    ck_assert_ptr_eq(slots[i].data, memory[i]);
  ck_assert(o[0].views == 2 && o[1].views == 1 && o[2].views == 0);

  o[1].tensor.strides = other; // of the same address: the caller has seen to it
  ck_assert_int_eq(tile_tensors_from_objects(&reader, list, places, 3), TILE_OK);
  o[1].tensor.data = memory[0];
  ck_assert_int_eq(tile_tensors_from_objects(&reader, list, places, 3), TILE_INVALID_ARGUMENT);
  o[1].tensor.strides = strides;
  o[1].tensor.byte_offset = sizeof(float);
  ck_assert_int_eq(tile_tensors_from_objects(&reader, list, places, 3), TILE_OK);
  ck_assert_ptr_eq(slots[1].data, memory[0] + 1);

  // Strides along one element do not count; those that are not given are row-major.
  o[0].tensor.shape = column;
  o[0].tensor.strides = steps;
  slots[0].shape = (int64_t[]){4, 1};
  slots[0].strides = (int64_t[]){1, 1};
  ck_assert_int_eq(tile_tensors_from_objects(&reader, list, places, 1), TILE_OK);
  o[0].tensor.strides = NULL;
  ck_assert_int_eq(tile_tensors_from_objects(&reader, list, places, 1), TILE_OK);
}
END_TEST

START_TEST(objects_that_do_not_fit) {
  float memory[20];
  int64_t longer[] = {3, 5};
  struct object o = {.tensor = tensor_of(memory)};
  void *list[] = {&o, NULL};
  tile_tensor slot = {.type = TILE_F32, .rank = 2, .shape = shape, .strides = strides};
  tile_object_place place = {&slot, 0, TILE_OBJECT_VARIES}, beyond = {&slot, 1, TILE_OBJECT_FITS};
  ck_assert_int_eq(tile_tensors_from_objects(&reader, list, &place, 1), TILE_OK);
  ck_assert_int_eq(tile_tensors_from_objects(&reader, list, &beyond, 1), TILE_INVALID_ARGUMENT);
  o.tensor.shape = longer;
  ck_assert_int_eq(tile_tensors_from_objects(&reader, list, &place, 1), TILE_INVALID_ARGUMENT);
  o.tensor.shape = shape;
  o.tensor.ndim = 1;
  ck_assert_int_eq(tile_tensors_from_objects(&reader, list, &place, 1), TILE_INVALID_ARGUMENT);
  o.tensor.ndim = 2;
  o.is_refused = true;
  ck_assert_int_eq(tile_tensors_from_objects(&reader, list, &place, 1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_tensors_from_objects(NULL, list, &place, 1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_tensors_from_objects(&reader, NULL, &place, 1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_tensors_from_objects(&reader, list, NULL, 1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_tensors_from_objects(&reader, list, NULL, 0), TILE_OK);
}
END_TEST

// ---- out ----

static void count(void *user) { ++*(int *)user; }

START_TEST(a_consumer_releases_once) {
  float memory[12];
  int released = 0;
  tile_tensor t = {.data = memory, .type = TILE_F32, .rank = 2, .shape = shape};
  DLManagedTensorVersioned *m;
  DLManagedTensor *plain;
  ck_assert_int_eq(tile_tensor_to_dlpack(device, &t, count, &released, &m), TILE_OK);
  ck_assert(m->version.major == 1 && m->flags == 0 && m->manager_ctx == &released);
  ck_assert(m->dl_tensor.data == memory && m->dl_tensor.shape != shape);
  ck_assert(m->dl_tensor.shape[1] == 4 && m->dl_tensor.strides[0] == 4);
  ck_assert(m->dl_tensor.strides[1] == 1 && m->dl_tensor.device.device_type == kDLCPU);
  m->deleter(m);
  ck_assert_int_eq(released, 1);
  t.strides = strides;
  ck_assert_int_eq(tile_tensor_to_dlpack_unversioned(device, &t, count, &released, &plain),
                   TILE_OK);
  ck_assert(plain->dl_tensor.strides[0] == 5 && plain->dl_tensor.strides[1] == 1);
  plain->deleter(plain);
  ck_assert_int_eq(released, 2);
}
END_TEST

START_TEST(what_cannot_go_out) {
  float memory[12];
  int released = 0;
  DLManagedTensorVersioned *m;
  tile_tensor t = {.data = memory, .type = TILE_F8E4B15, .rank = 2, .shape = shape};
  ck_assert_int_eq(tile_tensor_to_dlpack(device, &t, count, &released, &m), TILE_INVALID_ARGUMENT);
  t.type = TILE_F32, t.rank = 17;
  ck_assert_int_eq(tile_tensor_to_dlpack(device, &t, count, &released, &m), TILE_INVALID_ARGUMENT);
  t.rank = 1, t.shape = NULL;
  ck_assert_int_eq(tile_tensor_to_dlpack(device, &t, count, &released, &m), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_tensor_to_dlpack(device, NULL, NULL, NULL, &m), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(released, 0);
}
END_TEST

// ---- registered memory ----

START_TEST(registered_memory_is_a_buffer) {
  char memory[100];
  void *base, *buffer;
  size_t size;
  ck_assert_int_eq(tile_memory_register(device, memory + 10, 50), TILE_OK);
  ck_assert_int_eq(device_allocation(device, memory + 59, &base, &size), TILE_OK);
  ck_assert(base == memory + 10 && size == 50);
  ck_assert_int_ne(device_allocation(device, memory + 60, &base, &size), TILE_OK);
  // Twice the same; overlapping ones not.
  ck_assert_int_eq(tile_memory_register(device, memory + 10, 50), TILE_OK);
  ck_assert_int_eq(tile_memory_register(device, memory, 11), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_memory_register(device, memory + 59, 1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_memory_register(device, memory, 100), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_memory_register(device, memory, 10), TILE_OK);
  ck_assert_int_eq(tile_memory_register(device, memory + 60, 40), TILE_OK);
  ck_assert_int_eq(tile_memory_unregister(device, memory + 10), TILE_OK);
  ck_assert_int_eq(device_allocation(device, memory + 10, &base, &size), TILE_OK);
  ck_assert_int_eq(tile_memory_unregister(device, memory + 10), TILE_OK);
  ck_assert_int_eq(tile_memory_unregister(device, memory + 10), TILE_INVALID_ARGUMENT);
  ck_assert_int_ne(device_allocation(device, memory + 10, &base, &size), TILE_OK);
  // It is not the device's to free, and what is is not the caller's to unregister.
  ck_assert_int_eq(tile_free(device, memory), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_malloc(device, 16, &buffer), TILE_OK);
  ck_assert_int_eq(tile_memory_unregister(device, buffer), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_free(device, buffer), TILE_OK);
}
END_TEST

// ---- errors as JSON ----

START_TEST(failures_are_documents) {
  status_set(TILE_IO_ERROR, "a \"quoted\"\nfile");
  ck_assert_str_eq(tile_error_json(), "{\"status\": \"input/output error\", \"message\": "
                                      "\"a \\\"quoted\\\"\\nfile\", \"diagnostics\": []}");
  status_set_diagnostics(TILE_COMPILE_ERROR, "text", "[{\"line\": 3}]");
  ck_assert_str_eq(tile_error_message(), "text");
  ck_assert_str_eq(tile_error_json(), "{\"status\": \"compile error\", \"message\": \"text\", "
                                      "\"diagnostics\": [{\"line\": 3}]}");
  ck_assert_ptr_nonnull(strstr(tile_error_json(), "{\"line\": 3}")); // a second time
  status_set(TILE_LIMIT, "another");
  ck_assert_ptr_nonnull(strstr(tile_error_json(), "\"diagnostics\": []"));
}
END_TEST

static void *fail_apart(void *unused) {
  (void)unused;
  bool none = strstr(tile_error_json(), "\"status\": \"ok\"") != NULL;
  status_set_diagnostics(TILE_COMPILE_ERROR, "theirs", "[1]");
  return none && strstr(tile_error_json(), "theirs") ? &device : NULL;
}

START_TEST(failures_are_of_their_thread) {
  pthread_t t;
  void *ok;
  status_set_diagnostics(TILE_COMPILE_ERROR, "ours", "[2]");
  pthread_create(&t, NULL, fail_apart, NULL);
  pthread_join(t, &ok);
  ck_assert_ptr_nonnull(ok);
  ck_assert_ptr_nonnull(strstr(tile_error_json(), "\"ours\", \"diagnostics\": [2]"));
}
END_TEST

Suite *suite_dlpack(void) {
  Suite *s = suite_create("dlpack");
  TCase *c = tcase_create("dlpack");
  tcase_add_checked_fixture(c, open_cpu, close_device);
  tcase_add_test(c, a_tensor_is_borrowed);
  tcase_add_test(c, every_dtype_goes_in_and_out);
  tcase_add_test(c, wrong_tensors);
  tcase_add_test(c, a_gpu_takes_what_it_reaches);
  tcase_add_test(c, objects_give_addresses);
  tcase_add_test(c, objects_that_do_not_fit);
  tcase_add_test(c, a_consumer_releases_once);
  tcase_add_test(c, what_cannot_go_out);
  tcase_add_test(c, registered_memory_is_a_buffer);
  tcase_add_test(c, failures_are_documents);
  tcase_add_test(c, failures_are_of_their_thread);
  suite_add_tcase(s, c);
  return s;
}
