// SPDX-License-Identifier: Apache-2.0
// Prints tunings: a table, and the differences between two files.
#include "base/json.h"
#include "autotune/database/database_internal.h"
#include "base/memory.h"

#include <stdlib.h>

// ---- words ----

void tune_settings_print(const struct tune_setting *s, size_t count, struct strbuf *out) {
  for (size_t i = 0; i < count; i++)
    strbuf_printf(out, "%s%s=%s", i ? ", " : "", s[i].name, s[i].value);
}

void tune_key_values_print(const struct tune_key *k, struct strbuf *out) {
  for (size_t i = 0; i < k->value_count; i++)
    strbuf_printf(out, "%s%s=%lld", i ? ", " : "", k->values[i].name,
                  (long long)k->values[i].value);
}

// ---- the table ----

enum { COLUMNS = 7 };
static const char *const headings[COLUMNS] = {"kernel", "target",  "for",   "configuration",
                                              "ms",     "default", "device"};

struct table {
  struct strbuf *cells; // row by row
  size_t rows;
  size_t widths[COLUMNS];
};

static void fill_row(const struct tune_entry *e, struct strbuf *cell) {
  strbuf_puts(&cell[0], e->key.kernel);
  strbuf_puts(&cell[1], e->key.target);
  tune_key_values_print(&e->key, &cell[2]);
  if (e->key.fixed_count) {
    strbuf_puts(&cell[2], cell[2].len ? "; " : "");
    tune_settings_print(e->key.fixed, e->key.fixed_count, &cell[2]);
  }
  tune_settings_print(e->settings, e->setting_count, &cell[3]);
  if (e->spilled_bytes > 0)
    strbuf_puts(&cell[3], " (spills)");
  strbuf_printf(&cell[4], "%.4g", e->ms);
  if (e->default_ms > 0)
    strbuf_printf(&cell[5], "%.4g (%.2fx)", e->default_ms, e->default_ms / e->ms);
  strbuf_puts(&cell[6], e->key.device);
}

static void print_row(const struct table *t, const struct strbuf *cell, const char *mark,
                      struct strbuf *out) {
  for (int c = 0; c < COLUMNS; c++) {
    const char *text = cell ? strbuf_cstr(&cell[c]) : headings[c];
    if (c + 1 < COLUMNS)
      strbuf_printf(out, "%-*s  ", (int)t->widths[c], text);
    else
      strbuf_printf(out, "%s%s\n", text, mark);
  }
}

void tune_file_show(const struct tune_file *f, const bool *is_stale, struct strbuf *out) {
  struct strbuf(*rows)[COLUMNS] = memory_zeroed(f->count + 1, sizeof *rows);
  struct table t = {0};
  if (!rows)
    strbuf_fail(out);
  for (int c = 0; c < COLUMNS; c++)
    t.widths[c] = strlen(headings[c]);
  for (size_t i = 0; rows && i < f->count; i++) {
    for (int c = 0; c < COLUMNS; c++)
      rows[i][c].arena = out->arena;
    fill_row(&f->entries[i], rows[i]);
    for (int c = 0; c < COLUMNS; c++)
      t.widths[c] = rows[i][c].len > t.widths[c] ? rows[i][c].len : t.widths[c];
  }
  if (rows && f->count)
    print_row(&t, NULL, "", out);
  for (size_t i = 0; rows && i < f->count; i++) {
    print_row(&t, rows[i], is_stale && is_stale[i] ? "  (stale: the kernel has changed)" : "", out);
    for (int c = 0; c < COLUMNS; c++)
      strbuf_finish(&rows[i][c]);
  }
  free(rows);
}

// ---- differences ----

// The entry of the same key in `f`, preferably for the same text of the kernel.
static const struct tune_entry *counterpart(const struct tune_file *f, const struct tune_entry *e) {
  const struct tune_entry *found = NULL;
  for (size_t i = 0; i < f->count; i++)
    if (tune_key_order(&f->entries[i].key, &e->key) == 0) {
      if (memcmp(f->entries[i].key.hash, e->key.hash, sizeof e->key.hash) == 0)
        return &f->entries[i];
      found = &f->entries[i];
    }
  return found;
}

static void print_name(char mark, const struct tune_entry *e, struct strbuf *out) {
  strbuf_printf(out, "%c %s %s (%s)", mark, e->key.kernel, e->key.target, e->key.device);
  if (e->key.value_count || e->key.fixed_count)
    strbuf_putc(out, ' ');
  tune_key_values_print(&e->key, out);
  if (e->key.fixed_count) {
    strbuf_puts(out, e->key.value_count ? "; " : "");
    tune_settings_print(e->key.fixed, e->key.fixed_count, out);
  }
  strbuf_puts(out, ": ");
}

static void print_whole(char mark, const struct tune_entry *e, struct strbuf *out) {
  print_name(mark, e, out);
  tune_settings_print(e->settings, e->setting_count, out);
  strbuf_printf(out, ", %.4g ms\n", e->ms);
}

static bool same_settings(const struct tune_entry *a, const struct tune_entry *b,
                          struct strbuf *out) {
  struct strbuf x = {.arena = out->arena}, y = {.arena = out->arena};
  tune_settings_print(a->settings, a->setting_count, &x);
  tune_settings_print(b->settings, b->setting_count, &y);
  bool same = strcmp(strbuf_cstr(&x), strbuf_cstr(&y)) == 0;
  out->failed |= x.failed || y.failed;
  strbuf_finish(&x);
  strbuf_finish(&y);
  return same;
}

static bool has_other_hash(const struct tune_entry *a, const struct tune_entry *b) {
  return memcmp(a->key.hash, b->key.hash, sizeof a->key.hash) != 0;
}

static bool print_change(const struct tune_entry *a, const struct tune_entry *b,
                         struct strbuf *out) {
  bool hash = has_other_hash(a, b), settings = !same_settings(a, b, out);
  if (!hash && !settings && a->ms == b->ms)
    return false;
  print_name('~', b, out);
  if (settings) {
    tune_settings_print(a->settings, a->setting_count, out);
    strbuf_puts(out, " -> ");
    tune_settings_print(b->settings, b->setting_count, out);
    strbuf_puts(out, ", ");
  }
  strbuf_printf(out, "%.4g -> %.4g ms%s\n", a->ms, b->ms,
                hash ? ", for another text of the kernel" : "");
  return true;
}

bool tune_file_diff(const struct tune_file *before, const struct tune_file *after,
                    struct strbuf *out) {
  bool any = false;
  for (size_t i = 0; i < before->count; i++)
    if (!counterpart(after, &before->entries[i])) {
      print_whole('-', &before->entries[i], out);
      any = true;
    }
  for (size_t i = 0; i < after->count; i++) {
    const struct tune_entry *e = &after->entries[i], *old = counterpart(before, e);
    if (!old)
      print_whole('+', e, out);
    any |= !old || print_change(old, e, out);
  }
  return any;
}

static void write_entry(const struct tune_entry *e, struct json_writer *w) {
  struct strbuf text = {.arena = w->out->arena};
  tune_entry_print(e, &text);
  json_raw(w, strbuf_cstr(&text));
  strbuf_finish(&text);
}

// The entries of `in` without a counterpart in `other`. Whether there are any.
static bool write_missing(const char *key, const struct tune_file *in,
                          const struct tune_file *other, struct json_writer *w) {
  bool any = false;
  json_key(w, key), json_begin_array(w);
  for (size_t i = 0; i < in->count; i++)
    if (!counterpart(other, &in->entries[i])) {
      write_entry(&in->entries[i], w);
      any = true;
    }
  json_end_array(w);
  return any;
}

bool tune_file_diff_json(const struct tune_file *before, const struct tune_file *after,
                         struct strbuf *out) {
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  bool any = write_missing("added", after, before, &w);
  any |= write_missing("removed", before, after, &w);
  json_key(&w, "changed"), json_begin_array(&w);
  for (size_t i = 0; i < after->count; i++) {
    const struct tune_entry *e = &after->entries[i], *old = counterpart(before, e);
    if (!old || (!has_other_hash(old, e) && same_settings(old, e, out) && old->ms == e->ms))
      continue;
    any = true;
    json_begin_object(&w);
    json_key(&w, "before"), write_entry(old, &w);
    json_key(&w, "after"), write_entry(e, &w);
    json_end_object(&w);
  }
  json_end_array(&w), json_end_object(&w);
  strbuf_putc(out, '\n');
  return any;
}
