// SPDX-License-Identifier: Apache-2.0
// Reports of a tuning for people: a progress line, the final table, a drawing of the space.
#ifndef TILE_AUTOTUNE_REPORT_REPORT_H
#define TILE_AUTOTUNE_REPORT_REPORT_H

#include "autotune/tune.h"

// "tuning 37/120  best 0.82 ms (BLOCK_M=128, ...)  4.1 s"
void tune_progress_line(const struct tune_progress *p, struct strbuf *out);
// "0.1234 ms  (p20 0.1200, p80 0.1300)", in the unit that fits.
void tune_sample_print(struct tune_sample sample, struct strbuf *out);
// The five best, the default and the reference; speed-up, percent of the lower bound (`flops` and
// `bytes` of a launch, 0: unknown), dropped configurations by reason, and the options to paste.
void tune_report(const struct tune_space *s, const struct tune_result *r, double flops,
                 double bytes, struct strbuf *out);
void tune_report_json(const struct tune_space *s, const struct tune_result *r, double flops,
                      double bytes, struct strbuf *out);
// Time of every measured configuration along each dimension, failures marked.
void tune_svg(const struct tune_space *s, const struct tune_result *r, const char *title,
              struct strbuf *out);

#endif
