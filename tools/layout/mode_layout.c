// SPDX-License-Identifier: Apache-2.0
// `tilec --layout SPEC`: draws a layout as text, as SVG (`-o FILE.svg`) or as JSON (`--json`).
#include "layouts/draw.h"
#include "tools/layout/layout_of_kernel.h"

int mode_layout(struct tool *t) {
  if (layout_spec_is_kernel(t->o.mode_argument))
    return layout_of_kernel(t);
  bool svg = t->o.output && str_ends(str_from(t->o.output), ".svg");
  enum draw_format format = t->o.json ? DRAW_JSON : svg ? DRAW_SVG : DRAW_TEXT;
  struct strbuf out = {.arena = t->arena};
  const char *error = NULL;
  size_t at = 0;
  int status = EXIT_WRONG;
  if (!layout_draw_spec(t->arena, t->o.mode_argument, format, &out, &error, &at)) {
    diag_help(
        diag_error(t->diag, layout_spec_span(t, at), E0740, "%s", error),
        "write for example `--layout 'mma_v2 16x8'` or\n`--layout 'blocked<{size_per_thread = "
        "[1, 4], threads_per_warp = [8, 4], warps_per_cta = [4, 1], order = [1, 0]}> 32x16'`");
  } else if (out.failed) {
    diag_error(t->diag, SPAN_NONE, E0991, "no memory for the drawing");
    status = EXIT_LIMIT;
  } else {
    status = tool_write(t, strbuf_cstr(&out), out.len);
  }
  strbuf_finish(&out);
  return status;
}
