// SPDX-License-Identifier: Apache-2.0
// Search spaces: the text of --space, and JSON.
#include "autotune/space/space.h"
#include "drive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const struct lang_param params[] = {
      {.name = "BLOCK",
       .is_constexpr = true,
       .has_default = true,
       .default_text = "128",
       .divisible_by = 1},
      {.name = "K", .is_constexpr = true, .divisible_by = 1},
      {.name = "x", .is_typed = true, .is_pointer = true, .dtype = DTYPE_F32, .divisible_by = 1}};
  struct drive d;
  struct tune_space space;
  if (!drive_begin(&d))
    return 0;
  struct str text = {arena_strndup(d.arena, (const char *)data, size), size};
  struct source *source = source_create(d.arena, "command line", text);
  struct span all = {source, 0, (uint32_t)size};
  bool is_json = size && text.ptr[0] == '{';
  if (is_json
          ? tune_space_from_json(d.arena, d.diag, source, params, COUNT_OF(params), &space)
          : tune_space_from_text(d.arena, d.diag, all, text, params, COUNT_OF(params), &space)) {
    struct strbuf out = {0};
    size_t found;
    for (size_t i = 0; i < space.count; i += space.count / 16 + 1) {
      strbuf_clear(&out);
      tune_config_print(&space, i, &out);
      DRIVE_CHECK(tune_space_find(&space, str_from(strbuf_cstr(&out)), &found) && found == i);
    }
    strbuf_finish(&out);
  }
  drive_end(&d);
  return 0;
}
