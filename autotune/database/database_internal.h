// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the database: reading, writing, look-up, the journal, T4.
#ifndef TILE_AUTOTUNE_DATABASE_DATABASE_INTERNAL_H
#define TILE_AUTOTUNE_DATABASE_DATABASE_INTERNAL_H

#include "autotune/tune.h"
#include "base/json.h"

#define TUNE_FILE_VERSION 1
#define TUNE_FILE_MAX_BYTES (4u << 20)

// Orders two keys without their hashes; 0: the same problem.
int tune_key_order(const struct tune_key *a, const struct tune_key *b);
// Sorts entries, and keeps only the fastest of those with the same key and hash.
void tune_file_sort(struct tune_file *f);
// One setting as a member of an object: integers as numbers, the rest as strings.
void tune_setting_write(struct json_writer *w, const struct tune_setting *s);
// An object of settings; false if a value is neither integer, string nor bool (*ret_wrong).
bool tune_settings_read(struct arena *a, const struct json *object, struct tune_setting **ret,
                        size_t *ret_count, const struct json **ret_wrong);
// In memory: adds an entry, which replaces those of its key.
void tune_file_replace(struct arena *a, struct tune_file *f, const struct tune_entry *entry);

// ---- journal.c ----
struct tune_line {
  struct str config; // the canonical spelling
  struct tune_setting *settings;
  size_t setting_count;
  struct str same_as; // spelling; empty: none
  struct tune_trial trial;
};
// Calls `see` for every complete line in order; its argument is allocated on `a`.
void tune_journal_each(struct tune_journal *j, struct arena *a,
                       void (*see)(void *user, const struct tune_line *line), void *user);

#endif
