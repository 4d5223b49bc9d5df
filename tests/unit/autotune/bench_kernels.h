// SPDX-License-Identifier: Apache-2.0
// Kernels, compiled for the CPU, with the behaviours of candidates; and a worker with arrays for
// them.
#ifndef TESTS_UNIT_AUTOTUNE_BENCH_KERNELS_H
#define TESTS_UNIT_AUTOTUNE_BENCH_KERNELS_H

#include "autotune/worker/worker.h"

#define KERNEL_N 5000 // elements of x and out

// Two arrays of floats, x and out, and a number n; the correct result is out[i] = 2 * x[i] + 1.
struct worker_case {
  struct arena *arena;
  tile_device *device;
  struct tune_problem problem;
  struct tune_array arrays[3];
  tile_arg args[3];
  int data_fd;
  float *data; // x, out, and room for one more
  uint64_t data_bytes;
  float out_first; // what out holds at first
  struct tune_worker *worker;
  struct tune_built built[8]; // by configuration, the first of them
};

void worker_case_make(struct worker_case *c, const char *device);
// Starts the worker (TILE_WORKER or `program`), the arrays filled.
void worker_case_open(struct worker_case *c, double timeout_ms);
void worker_case_close(struct worker_case *c);

// Compiles `kernel` of the file of kernels for the CPU and queues its load as `config`.
void worker_case_load(struct worker_case *c, uint32_t config, const char *kernel);
// The code of an earlier load as another configuration.
void worker_case_load_again(struct worker_case *c, uint32_t config, uint32_t as);
// Queues a load of fake PTX for the fake GPU.
void worker_case_load_text(struct worker_case *c, uint32_t config, const char *text);
// The next reply; the test fails if there is none in a minute.
struct tune_reply worker_case_reply(struct worker_case *c);
// Waits until the device is known.
tile_device_properties worker_case_device(struct worker_case *c);

#endif
