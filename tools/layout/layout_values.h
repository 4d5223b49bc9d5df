// SPDX-License-Identifier: Apache-2.0
// The tensors of a compiled kernel with their layouts, shared by the files of --layout FILE.
#ifndef TILE_TOOLS_LAYOUT_VALUES_H
#define TILE_TOOLS_LAYOUT_VALUES_H

#include "layouts/linear.h"
#include "lowering/analysis/axis_info.h"
#include "tools/layout/layout_of_kernel.h"

// The result of an operation, or the operand of a store.
struct layout_value {
  uint32_t order; // in the program
  struct span at;
  struct line_col begin;
  const char *op;
  MlirType type; // valid during the compilation: distinguishes values
  struct str type_text, encoding;
  const char *element;
  unsigned rank, element_bits;
  int64_t shape[LL_MAX_OUT];
  struct linear_layout layout;
  unsigned vector; // elements per access; 0: no access
};

struct layout_spec {
  const char *path;
  uint32_t line, col; // 0: any
  size_t line_at;     // in the argument
  bool by_thread;
};

struct layout_survey {
  struct arena *arena;
  const struct source *source;
  const struct target *target;
  struct ir_context *c;
  struct axis_analysis *axis;
  VEC(struct layout_value *) values;
};

// The `inspect` of a compile_request: fills `values` of the survey, whose arena, source and target
// are set.
void layout_survey_module(void *survey, struct ir_context *c, MlirModule module);
// A table, drawings or JSON of the values, as the options say. The exit status.
int layout_values_write(struct tool *t, struct layout_survey *s, const struct layout_spec *spec,
                        bool picture);

// Loads, stores, atomics and products, which decide about layouts; the rest is arithmetic.
bool layout_value_is_main(const struct layout_value *v);
// Whether shape and layout are the same.
bool layout_value_same_drawing(const struct layout_value *v, const struct layout_value *w);
// Its encoding without the dialect's name.
struct str layout_value_encoding(const struct layout_value *v);

#endif
