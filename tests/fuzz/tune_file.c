// SPDX-License-Identifier: Apache-2.0
// Tuning files: reading and writing a second time changes nothing.
#include "autotune/database/database.h"
#include "drive.h"

static bool parse(struct drive *d, struct str text, struct tune_file *ret) {
  return tune_file_parse(d->arena, d->diag, source_create(d->arena, "fuzz.tune.json", text), ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct drive d;
  struct tune_file file = {0}, again = {0}, third = {0};
  if (!drive_begin(&d))
    return 0;
  struct strbuf out = {0}, twice = {0}, rest = {0};
  if (parse(&d, (struct str){arena_strndup(d.arena, (const char *)data, size), size}, &file)) {
    tune_file_print(&file, &out);
    DRIVE_CHECK(parse(&d, (struct str){strbuf_cstr(&out), out.len}, &again));
    tune_file_print(&again, &twice);
    DRIVE_CHECK(strcmp(strbuf_cstr(&out), strbuf_cstr(&twice)) == 0);
    tune_file_show(&file, NULL, &rest);
    // Times are rounded only when they are first written.
    DRIVE_CHECK(parse(&d, (struct str){strbuf_cstr(&twice), twice.len}, &third));
    DRIVE_CHECK(!tune_file_diff(&again, &third, &rest));
    for (size_t i = 0; i < file.count; i++)
      DRIVE_CHECK(tune_file_find(&file, &file.entries[i].key, false));
  }
  strbuf_finish(&out);
  strbuf_finish(&twice);
  strbuf_finish(&rest);
  drive_end(&d);
  return 0;
}
