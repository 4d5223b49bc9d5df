// SPDX-License-Identifier: Apache-2.0
// `tilec --layout FILE[:LINE[:COL]]`: the layouts of the values of a kernel.
#ifndef TILE_TOOLS_LAYOUT_OF_KERNEL_H
#define TILE_TOOLS_LAYOUT_OF_KERNEL_H

#include "tools/tool.h"

// Whether the argument of --layout names a file: what stands before its first `:` (and before the
// word `threads`) ends in .tile, .py or .mlir, or is a file.
bool layout_spec_is_kernel(const char *spec);
// Compiles the kernel up to the `tilegpu` stage and lists its tensors, or draws those of a
// location.
int layout_of_kernel(struct tool *t);
// The location of byte `at` of the spec, when its text stands on the command line as it is.
struct span layout_spec_span(const struct tool *t, size_t at);

// The innermost location in the file itself: an operation of a library function counts as made
// where that is called. SPAN_NONE without one.
struct span location_in_source(struct ir_context *c, const struct source *source, MlirLocation loc);

#endif
