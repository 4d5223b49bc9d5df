// SPDX-License-Identifier: Apache-2.0
// The choice of loads that programs of a cluster share (specialize_warps_clusters.h).
#include "lowering/passes/specialize_warps_clusters.h"

enum { SWIZZLE_ROWS = 8 }; // after which a swizzle repeats: parts of a block have as many

struct cluster_loads cluster_loads_of(struct pass_context *p, MlirOperation kernel) {
  MlirOperation module = mlirModuleGetOperation(p->module);
  int64_t ctas = op_attr_int(module, "tile.num_ctas", 1);
  struct axis_analysis *axis = ctas > 1 ? axis_analyse(p->c, module, p->scratch) : NULL;
  return (struct cluster_loads){
      .p = p, .kernel = kernel, .share = cluster_share_of(p->c, kernel, ctas, axis, p->scratch)};
}

int32_t cluster_loads_ctas(struct cluster_loads *x, MlirOperation load) {
  int64_t ctas = x->share.ctas;
  if (ctas < 2)
    return 0;
  const char *why = cluster_cannot_share(&x->share, load);
  int64_t rows = tensor_dim(mlirValueGetType(mlirOperationGetResult(load, 0)), 0);
  if (!why && rows % (SWIZZLE_ROWS * ctas))
    why = "its parts would not have 8 rows";
  if (why)
    pass_remark(x->p, load, "clusters", "not shared by the programs of a cluster: %s", why);
  else
    pass_remark(x->p, load, "clusters", "loaded once for %d programs%s", (int)ctas,
                x->share.multiples.len ? ", if their numbers of blocks are multiples of that" : "");
  return why ? 0 : (int32_t)ctas;
}

void cluster_loads_explain(const struct cluster_loads *x) {
  const char *why = x->p->target->has_tma
                        ? "no block that is loaded by TMA is the same in programs of a cluster"
                        : "the target has no clusters";
  if (x->share.ctas > 1)
    pass_remark(x->p, x->kernel, "clusters", "`num_ctas` of %d has no effect: %s",
                (int)x->share.ctas, why);
}
