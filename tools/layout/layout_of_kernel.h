// SPDX-License-Identifier: Apache-2.0
// `tilec --layout FILE[:LINE[:COL]]`: the layouts of the values of a kernel.
#ifndef TILE_TOOLS_LAYOUT_OF_KERNEL_H
#define TILE_TOOLS_LAYOUT_OF_KERNEL_H

#include "tools/tool.h"

// Whether the argument of --layout names a file: the text before its first `:` (and before the word
// `threads`) ends in .tile, .py or .mlir, or names an existing file.
bool layout_spec_is_kernel(const char *spec);
// Compiles the kernel up to the `tilegpu` stage and lists its tensors, or draws those at a
// location.
int layout_of_kernel(struct tool *t);
// The location of byte `at` of the spec, if its text is on the command line verbatim.
struct span layout_spec_span(const struct tool *t, size_t at);

// The innermost location in the file itself: an operation of a library function has the location of
// its call. SPAN_NONE without one.
struct span location_in_source(struct ir_context *c, const struct source *source, MlirLocation loc);

#endif
