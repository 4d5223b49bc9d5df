// SPDX-License-Identifier: Apache-2.0
// Reads a trace file and checks what is true of every trace.
#ifndef TILE_TESTS_UNIT_TRACE_FILE_H
#define TILE_TESTS_UNIT_TRACE_FILE_H

#include "base/json.h"

struct trace_event {
  struct str name, category;
  int64_t process, thread;
  double begin, length; // us
  const struct json *args;
};

struct trace_file {
  struct arena *a;
  struct trace_event *events; // the slices, in the order of the file
  size_t count;
};

// Fails the test where the file is no JSON, an event lacks a member, begins are not in order, or
// slices of one thread overlap without nesting.
struct trace_file trace_file_read(const char *path);
void trace_file_close(struct trace_file *f);
// How many slices have this name and category (NULL: any), and the first of them; NULL: none.
size_t trace_file_count(const struct trace_file *f, const char *name, const char *category);
const struct trace_event *trace_file_find(const struct trace_file *f, const char *name,
                                          const char *category);

#endif
