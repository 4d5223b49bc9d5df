// SPDX-License-Identifier: Apache-2.0
// The status and the message of a compilation that failed.
#include "jit/jit_kernel.h"

tile_status jit_diag_status(const struct diag_engine *diag) {
  enum diag_code code = diag_first_error_code(diag);
  return code == E0401              ? TILE_NOT_FOUND
         : code == E0990            ? TILE_INTERNAL
         : code == E0991            ? TILE_OUT_OF_MEMORY
         : diag_code_is_limit(code) ? TILE_LIMIT
                                    : TILE_COMPILE_ERROR;
}

tile_status jit_diag_failure(const struct diag_engine *diag, bool reported) {
  tile_status status = jit_diag_status(diag);
  if (reported)
    return status_set(status, "%s", diag_first_error(diag));
  return jit_diag_fail(diag, status, "the compilation failed");
}

tile_status jit_diag_fail(const struct diag_engine *diag, tile_status status,
                          const char *otherwise) {
  struct strbuf text = {0}, records = {0};
  diag_render_text(diag, (struct diag_style){0}, &text);
  diag_render_json_records(diag, &records);
  if (text.failed || records.failed)
    status = status_set(TILE_OUT_OF_MEMORY, "out of memory for diagnostics");
  else
    status_set_diagnostics(status, text.len ? strbuf_cstr(&text) : otherwise,
                           strbuf_cstr(&records));
  strbuf_finish(&text);
  strbuf_finish(&records);
  return status;
}
