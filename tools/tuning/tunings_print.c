// SPDX-License-Identifier: Apache-2.0
// Prints the tuning that a compilation or launch took: as text and as JSON.
#include "tools/tuning/tunings.h"

void tuned_print(const struct tuned *tuned, struct strbuf *out) {
  const struct tune_entry *e = tuned->entry;
  tune_settings_print(e->settings, e->setting_count, out);
  strbuf_printf(out, " from %s:%u", tuned->path,
                (unsigned)source_line_col(e->span.source, e->span.begin).line);
  if (e->key.value_count) {
    strbuf_puts(out, tuned->is_nearest ? ", tuned for " : " for ");
    tune_key_values_print(&e->key, out);
  }
}

void tuned_write(const struct tuned *tuned, struct json_writer *w) {
  const struct tune_entry *e = tuned->entry;
  if (!e) {
    json_null(w);
    return;
  }
  json_begin_object(w);
  json_key(w, "file"), json_cstring(w, tuned->path);
  json_key(w, "line");
  json_int(w, source_line_col(e->span.source, e->span.begin).line);
  json_key(w, "key"), json_begin_object(w);
  for (size_t i = 0; i < e->key.value_count; i++)
    json_key(w, e->key.values[i].name), json_int(w, e->key.values[i].value);
  json_end_object(w);
  json_key(w, "config"), json_begin_object(w);
  for (size_t i = 0; i < e->setting_count; i++)
    json_key(w, e->settings[i].name), json_cstring(w, e->settings[i].value);
  json_end_object(w);
  json_end_object(w);
}
