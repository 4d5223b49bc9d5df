// SPDX-License-Identifier: Apache-2.0
// Which loads through tensor maps the programs of a cluster share, for specialize_warps.c: the
// module's `tile.num_ctas` asks for clusters.
#ifndef TILE_LOWERING_PASSES_SPECIALIZE_WARPS_CLUSTERS_H
#define TILE_LOWERING_PASSES_SPECIALIZE_WARPS_CLUSTERS_H

#include "lowering/analysis/cluster_share.h"
#include "lowering/pass.h"

struct cluster_loads {
  struct pass_context *p;
  MlirOperation kernel;
  struct cluster_share share;
};

struct cluster_loads cluster_loads_of(struct pass_context *p, MlirOperation kernel);
// How many programs share the load, an operand of a product; 0: each loads its own. A remark says
// why.
int32_t cluster_loads_ctas(struct cluster_loads *x, MlirOperation load);
// Nothing is shared: a remark, if clusters were asked for.
void cluster_loads_explain(const struct cluster_loads *x);

#endif
