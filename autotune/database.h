// SPDX-License-Identifier: Apache-2.0
// What was found, in two forms: FILE.tune.json beside the kernel, made to be committed, diffed and
// merged; and a journal of every trial in the cache folder, appended line by line, from which a
// killed search goes on.
//
// FILE.tune.json (version 1), sorted, one entry a line:
// {"tile_tune": 1, "entries": [
//   {"kernel": "matmul", "target": "sm_90a", "device": "NVIDIA H200",
//    "types": "*f16:16,*f16:16,*f16:16,i32:16,...", "fixed": {"ACTIVATION": "\"relu\""},
//    "key": {"K": 4096, "M": 4096, "N": 4096},
//    "config": {"BLOCK_K": 64, ..., "num_stages": 3, "num_warps": 8},
//    "ms": 0.281, "default_ms": 0.317, "tuned": "0.1.0",
//    "hash": "<SHA-256 of the kernel's source and what it imports>"}, ...]}
// An entry is found by kernel, hash, device, target, types, fixed constants and key. One whose hash
// is another is stale: not used, reported by `show`, replaced by the next tuning. Without an entry
// for the key, the one whose key is nearest (by the logarithms of its numbers, at most a factor of
// two in each) serves where the caller allows it.
#ifndef TILE_AUTOTUNE_DATABASE_H
#define TILE_AUTOTUNE_DATABASE_H

#include "autotune/worker.h"

struct tune_setting { // NAME and its text, as of -D; num_warps and so on among them
  const char *name, *value;
};
struct tune_key {
  const char *kernel, *device, *target;
  const char *types; // of the run-time parameters in order, hints as the JIT specialises on them
  // What the tuner did not choose: constants of -D, num_warps and so on of the command line; by
  // name.
  struct tune_setting *fixed;
  size_t fixed_count;
  uint8_t hash[32];
  struct tune_key_value {
    const char *name;
    int64_t value;
  } * values; // sorted by name
  size_t value_count;
};
struct tune_entry {
  struct tune_key key;
  struct tune_setting *settings; // sorted by name
  size_t setting_count;
  double ms, default_ms;
  const char *version; // of the compiler that tuned
  struct span span;    // in its file
};
struct tune_file {
  struct tune_entry *entries;
  size_t count;
};

// The key of a problem. `key_names`: the scalar arguments that matter (@autotune's key); NULL: all
// integer ones. Hash: of the text and of the files that its imports name (lang_import_files).
tile_status tune_key_of(struct arena *a, const struct tune_problem *p,
                        const tile_device_properties *device, const char *const *key_names,
                        size_t key_name_count, struct tune_key *ret);

// "dir/matmul.tile" -> "dir/matmul.tune.json".
const char *tune_file_path(struct arena *a, const char *kernel_file);
// A missing file is an empty one. False with a diagnostic (E0760 malformed, at its line and column;
// E0761 another version) in `diag`.
bool tune_file_read(struct arena *a, struct diag_engine *diag, const char *path,
                    struct tune_file *ret);
// Puts one entry in, replacing that of the same key or those that are stale for it: reads, changes
// and renames under a lock file beside it, so that two tuners lose nothing of each other's.
tile_status tune_file_put(const char *path, const struct tune_entry *entry);
const struct tune_entry *tune_file_find(const struct tune_file *f, const struct tune_key *key,
                                        bool or_nearest);
void tune_file_print(const struct tune_file *f, struct strbuf *out); // the file's text
// All entries of `from` into `into` (a path); of two for a key the faster stays.
bool tune_file_merge(struct arena *a, struct diag_engine *diag, const char *into, const char *from);
void tune_file_show(const struct tune_file *f, struct strbuf *out); // a table
void tune_file_diff(const struct tune_file *before, const struct tune_file *after,
                    struct strbuf *out);

// ---- journal ----
struct tune_journal;
struct tune_trial;
// Journal of a key and space; several processes may append to it. NULL where there is no cache
// folder.
struct tune_journal *tune_journal_open(const struct tune_key *key);
void tune_journal_close(struct tune_journal *j);
// One line, written with one call and flushed; a line that a kill cut short is skipped in reading.
void tune_journal_append(struct tune_journal *j, const struct tune_space *s,
                         const struct tune_trial *t);
// Fills those trials (by configuration) that the journal knows. Returns how many.
size_t tune_journal_read(struct tune_journal *j, struct arena *a, const struct tune_space *s,
                         struct tune_trial *trials);

// T4, Kernel Tuner's open autotuning results schema 1.0.0.
struct tune_result;
void tune_export_t4(const struct tune_space *s, const struct tune_result *r,
                    const struct tune_key *key, struct strbuf *out);

#endif
