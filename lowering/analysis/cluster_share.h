// SPDX-License-Identifier: Apache-2.0
// Which loads are the same in all programs of a cluster: neighbours along the grid's first
// dimension, whose numbers are c * ctas + 0, 1, ..., ctas - 1.
//
// An integer is the same in all of them, or a step: a base that is the same, not negative and a
// multiple of `ctas`, plus the program's number in the cluster. Of a step t, t / d is the same and
// t % d is a step if d is a multiple of `ctas`, as in
//
//   pid_n = (pid % (GROUP_M * num_pid_n)) / group_size_m
//
// Where `ctas` need not divide a number that the launch determines, the load is the same only if it
// does: the kernel has to check.
#ifndef TILE_LOWERING_ANALYSIS_CLUSTER_SHARE_H
#define TILE_LOWERING_ANALYSIS_CLUSTER_SHARE_H

#include "base/vec.h"
#include "lowering/analysis/axis_info.h"
#include "lowering/analysis/launch_value.h"
#include "mlir-dialects/build.h"

struct cluster_share {
  struct ir_context *c;
  MlirOperation kernel;
  struct axis_analysis *axis;
  struct arena *a;
  int64_t ctas;
  // What has to be multiples of `ctas`, computed from the kernel's parameters. Of all loads asked
  // about.
  VEC(struct launch_expr) multiples;
  struct map kinds;   // of values
  struct map refuted; // arguments of loops that do not keep their kind
  bool is_stale;      // one was refuted while kinds were derived from it
};

struct cluster_share cluster_share_of(struct ir_context *c, MlirOperation kernel, int64_t ctas,
                                      struct axis_analysis *axis, struct arena *a);
// NULL: all programs of a cluster execute `op` equally often, with the same integer operands, if
// the multiples are. Else why they may not.
const char *cluster_cannot_share(struct cluster_share *s, MlirOperation op);
// i1: are they? Computed at the builder's place in the kernel's own block. Null: nothing to check.
MlirValue build_cluster_check(struct builder *b, const struct cluster_share *s);

#endif
