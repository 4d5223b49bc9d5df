// SPDX-License-Identifier: Apache-2.0
// Times of asynchronous work on a GPU, for traces: events before and after it.
#ifndef TILE_RUNTIME_TRACE_DEVICE_H
#define TILE_RUNTIME_TRACE_DEVICE_H

#include "base/trace.h"
#include "runtime/device.h"

struct device_mark {
  void *start; // NULL: not timed
};

// Nothing is timed without a trace, on devices whose work is done when the call returns, and while
// a stream records. The mark is ended by the same thread.
struct device_mark device_mark_begin(tile_device *d, void *stream, bool is_recording);
// `name` and `detail` are copied.
void device_mark_end(tile_device *d, void *stream, struct device_mark m,
                     enum trace_category category, const char *name,
                     const struct trace_detail *detail);
// Waits for the marks of a device and adds their slices to the trace. NULL: of all devices.
void device_marks_flush(tile_device *d);

#endif
