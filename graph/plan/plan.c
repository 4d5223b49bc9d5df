// SPDX-License-Identifier: Apache-2.0
// Plans the kernels of regions, by kind.
#include "graph/plan/plan.h"

bool plan_region(struct program *p, const struct region *r, const struct program_options *o) {
  switch (r->kind) {
  case REGION_MAP: return plan_without_kernel(p, r) || plan_map(p, r, o);
  case REGION_SCATTER: return plan_map(p, r, o);
  case REGION_ROWS: return plan_rows(p, r, o);
  case REGION_ROW_COLUMN: return plan_row_column(p, r, o);
  case REGION_SCAN: return plan_scan(p, r, o);
  case REGION_PRODUCT: return plan_product(p, r, o);
  case REGION_ATTENTION: return plan_attention(p, r, o);
  case REGION_CALL: return plan_call(p, r);
  }
  UNREACHABLE();
}
