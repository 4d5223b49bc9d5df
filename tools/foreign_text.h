// SPDX-License-Identifier: Apache-2.0
// What a text is that is given as a kernel or as a graph.
#ifndef TILE_TOOLS_FOREIGN_TEXT_H
#define TILE_TOOLS_FOREIGN_TEXT_H

#include "base/str.h"

enum text_kind {
  TEXT_UNKNOWN,
  TEXT_KERNEL, // of this language, or of Triton in Python
  TEXT_GRAPH,  // as PyTorch prints it
  TEXT_MODULE, // the Python source of a model
  TEXT_PTX,
  TEXT_TTIR, // Triton's IR
  TEXT_CUDA,
  TEXT_LLVM,
};

enum text_kind text_kind_of(struct str text);

#endif
