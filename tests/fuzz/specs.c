// SPDX-License-Identifier: Apache-2.0
// Arguments of --grid, --arg and --layout. The first byte selects the option.
#include "drive.h"
#include "jit/grid_expr.h"
#include "layouts/draw.h"
#include "tools/launch/arg_spec.h"

static void grid(struct drive *d, struct span all) {
  static const char *names[] = {"n", "BLOCK", "m"};
  static int64_t values[] = {1000, 128, INT64_MAX};
  static const char *const codes[] = {"arg.n", NULL, "arg.m"};
  struct grid_names known = {names, values, 3, NULL};
  uint32_t g[3];
  const char *text[3];
  if (grid_expr_eval(d->diag, all, &known, g))
    DRIVE_CHECK(g[0] > 0 && g[1] > 0 && g[2] > 0);
  known.codes = codes;
  (void)grid_expr_to_c(d->arena, d->diag, all, &known, text);
}

static void argument(struct drive *d, struct span all, struct str spec) {
  struct arg_value v = {0};
  if (memchr(spec.ptr, '@', spec.len)) // a file: the driver `npy`
    return;
  if (arg_spec_shape(d->arena, d->diag, all, spec, DTYPE_F32, &v) && v.is_array)
    DRIVE_CHECK(v.array.rank <= ARRAY_MAX_RANK);
  if (!v.is_array || v.array.count < 1 << 20)
    if (arg_spec_parse(d->arena, d->diag, all, spec, DTYPE_F32, &v) && v.is_array)
      array_finish(&v.array);
}

static void layout(struct drive *d, struct str spec) {
  struct strbuf out = {0};
  const char *error = NULL;
  size_t at = 0;
  bool ok = layout_draw_spec(d->arena, spec.ptr, DRAW_TEXT, &out, &error, &at);
  DRIVE_CHECK(ok || (error && at <= spec.len));
  if (ok)
    (void)layout_draw_spec(d->arena, spec.ptr, DRAW_SVG, &out, &error, &at);
  strbuf_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct drive d;
  if (size == 0 || size > 4096 || !drive_begin(&d))
    return 0;
  struct str text = {arena_strndup(d.arena, (const char *)data + 1, size - 1), size - 1};
  struct source *source = source_create(d.arena, "command line", text);
  struct span all = {source, 0, (uint32_t)text.len};
  switch (data[0] % 3) {
  case 0: grid(&d, all); break;
  case 1: argument(&d, all, text); break;
  default: layout(&d, text); break;
  }
  drive_end(&d);
  return 0;
}
