// SPDX-License-Identifier: Apache-2.0
// Shared by the forms of a report (report.c).
#ifndef TILE_AUTOTUNE_REPORT_REPORT_INTERNAL_H
#define TILE_AUTOTUNE_REPORT_REPORT_INTERNAL_H

#include "autotune/report/report.h"

bool report_is_timed(
    const struct tune_trial *t); // itself, or the trial with the same code, has a time
bool report_is_suspect(const struct tune_result *r); // most results differ from the reference's
size_t report_count(const struct tune_result *r, enum tune_outcome o);
double report_bound_ms(const struct tune_result *r); // 0: unknown
bool report_all_spill(const struct tune_result *r);  // so the best does, too
// "-D BLOCK=128 --num-warps 4"
void report_options(const struct tune_space *s, size_t config, struct strbuf *out);

#endif
