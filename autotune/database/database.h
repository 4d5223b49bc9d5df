// SPDX-License-Identifier: Apache-2.0
// Tuning results, in two forms: FILE.tune.json beside the kernel, to be committed, diffed and
// merged; and a journal of every trial in the cache folder, appended line by line, from which a
// killed search resumes.
//
// FILE.tune.json (version 1), sorted, one entry per line:
// {"tile_tune": 1, "entries": [
//   {"kernel": "matmul", "target": "sm_90a", "device": "NVIDIA H200",
//    "types": "*f16:16,*f16:16,*f16:16,i32:16,...", "fixed": {"ACTIVATION": "\"relu\""},
//    "key": {"K": 4096, "M": 4096, "N": 4096},
//    "config": {"BLOCK_K": 64, ..., "num_stages": 3, "num_warps": 8},
//    "ms": 0.281, "default_ms": 0.317, ("spilled_bytes": 16,) "tuned": "0.2.0",
//    "hash": "<SHA-256 of the kernel's source and its imports>"}, ...]}
// An entry is found by kernel, hash, device, target, types, fixed constants and key. An entry with
// another hash is stale: not used, reported by `show`, replaced by the next tuning. Without an
// entry for the key, the nearest one (by the logarithms of the key's numbers, at most a factor of
// two in each) is used if the caller allows it.
#ifndef TILE_AUTOTUNE_DATABASE_DATABASE_H
#define TILE_AUTOTUNE_DATABASE_DATABASE_H

#include "autotune/worker/worker.h"

struct tune_setting { // NAME and its text, as of -D; num_warps and so on among them
  const char *name, *value;
};
struct tune_key {
  const char *kernel, *device, *target;
  const char *types; // of the run-time parameters in order, hints as the JIT specialises on them
  // Settings that were given, not tuned: -D, num_warps and so on of the command line; sorted by
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
  int64_t spilled_bytes; // spilled registers, bytes per thread; almost always 0 (tune.h)
  const char *version;   // of the compiler that tuned
  struct span span;      // in its file
};
struct tune_file {
  struct tune_entry *entries;
  size_t count;
};

// The key of a problem. `key_names`: the scalar arguments that matter (@autotune's key); NULL: all
// integer ones. The hash covers the text and the files that it imports (lang_import_files).
tile_status tune_key_of(struct arena *a, const struct tune_problem *p,
                        const tile_device_properties *device, const char *const *key_names,
                        size_t key_name_count, struct tune_key *ret);

// Parts of the key, for callers without a problem. The hash of a parsed file and of its imports:
void tune_hash_of(struct arena *a, const struct lang_unit *u, const char *const *folders,
                  size_t folder_count, bool is_detached, uint8_t ret[32]);
const char *tune_types_of(struct arena *a, const tile_arg *args, size_t count); // "*f16:16,i32"
// The canonical spelling of a setting's value in keys and files.
const char *tune_setting_text(struct arena *a, const char *value);
void tune_settings_sort(struct tune_setting *s, size_t count); // by name
const char *tune_setting_find(const struct tune_setting *s, size_t count, const char *name);

// "dir/matmul.tile" -> "dir/matmul.tune.json".
const char *tune_file_path(struct arena *a, const char *kernel_file);
// A missing file is empty. False with a diagnostic (E0760 malformed, at its line and column; E0761
// another version) in `diag`.
bool tune_file_read(struct arena *a, struct diag_engine *diag, const char *path,
                    struct tune_file *ret);
bool tune_file_parse(struct arena *a, struct diag_engine *diag, const struct source *source,
                     struct tune_file *ret);
// Adds one entry, replacing those of the same key, whatever their hash: reads, changes and renames
// under a lock file, so that concurrent tuners lose nothing. A malformed file is not changed. The
// entry survives a crash of the machine.
tile_status tune_file_put(const char *path, const struct tune_entry *entry);
const struct tune_entry *tune_file_find(const struct tune_file *f, const struct tune_key *key,
                                        bool or_nearest);
// The sum of the base-2 logarithms of the ratios between the named numbers of `k` and `values`, the
// largest in *ret_widest; infinite if a name is missing or a number is not positive.
double tune_key_distance(const struct tune_key *k, const struct tune_key_value *values,
                         size_t count, double *ret_widest);
// The distance; infinite for an entry that spills, except for its own key, if there is one that
// does not.
double tune_entry_rank(const struct tune_entry *e, double distance);
void tune_file_print(const struct tune_file *f, struct strbuf *out); // the file's text
void tune_entry_print(const struct tune_entry *e,
                      struct strbuf *out); // its JSON object in the file
// Merges all entries of `from` into `into` (paths); of two for one key and hash the one that does
// not spill stays, else the faster. False with diagnostics.
bool tune_file_merge(struct arena *a, struct diag_engine *diag, const char *into, const char *from);
// The same in memory.
void tune_file_join(struct arena *a, struct tune_file *f, const struct tune_file *more);
// Prints a table. `is_stale` (one per entry, or NULL) marks entries for another text of the kernel.
void tune_file_show(const struct tune_file *f, const bool *is_stale, struct strbuf *out);
// Prints what was added (+), removed (-) and changed (~), one entry per line. False: nothing.
bool tune_file_diff(const struct tune_file *before, const struct tune_file *after,
                    struct strbuf *out);
// The same as a JSON object with arrays `added`, `removed` and `changed`.
bool tune_file_diff_json(const struct tune_file *before, const struct tune_file *after,
                         struct strbuf *out);
// "BLOCK=128, num_warps=4", "M=4096, N=4096": as in reports.
void tune_settings_print(const struct tune_setting *s, size_t count, struct strbuf *out);
void tune_key_values_print(const struct tune_key *k, struct strbuf *out);

// ---- journal ----
struct tune_journal;
struct tune_trial;
// The journal of a key, for this compiler version; several processes may append to it. NULL where
// there is no cache folder.
struct tune_journal *tune_journal_open(const struct tune_key *key);
void tune_journal_close(struct tune_journal *j); // accepts NULL
// Appends one line with one write; a line truncated by a crash is skipped when reading. Trials that
// are TUNE_UNTRIED are not written. Thread-safe.
void tune_journal_append(struct tune_journal *j, const struct tune_space *s,
                         const struct tune_trial *t);
// Fills the trials (by configuration) from the journal, the latest line of each, and marks them
// is_resumed. Returns their number.
size_t tune_journal_read(struct tune_journal *j, struct arena *a, const struct tune_space *s,
                         struct tune_trial *trials);

// T4, Kernel Tuner's open autotuning results schema 1.0.0: every trial, including failures.
struct tune_result;
void tune_export_t4(const struct tune_space *s, const struct tune_result *r,
                    const struct tune_key *key, struct strbuf *out);
// The same for a file: for each entry the trials in its key's journal, or else the entry alone.
void tune_export_file_t4(struct arena *a, const struct tune_file *f, struct strbuf *out);

#endif
