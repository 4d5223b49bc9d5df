// SPDX-License-Identifier: Apache-2.0
// FILE.tune.json beside a kernel, for launches (--run, --bench) and ahead-of-time compilation:
// selects an entry and applies it to open options.
#ifndef TILE_TOOLS_TUNINGS_H
#define TILE_TOOLS_TUNINGS_H

#include "autotune/database/database.h"
#include "tools/tool.h"

struct tunings {
  struct tool *tool;
  const char *path;
  struct tune_file file; // empty: there is no file, or it is not used
  uint8_t hash[32];      // of the kernel's current text
};
// False with diagnostics if the file is malformed.
bool tunings_open(struct tool *t, const struct lang_unit *u, struct tunings *ret);

struct tuned {
  const struct tune_entry *entry; // NULL: no entry fits
  const char *path;
  bool is_nearest; // its key is near that of the launch, not equal
};

// A query. `given`: constants and launch options of the command line; an entry that disagrees with
// them is not used at all.
struct tunings_query {
  const char *kernel, *target;
  const struct tune_setting *given;
  size_t given_count;
  // For a launch: its device, types and integers. For a build: NULL, and the known types.
  const char *device, *types;
  const struct tune_key_value *values;
  size_t value_count;
  const struct lang_param *params; // of the kernel
  size_t param_count;
  const struct lang_binding *bindings;
  size_t binding_count;
};
// The entry for a launch. A stale one (for another text of the kernel) is reported in a warning.
struct tuned tunings_for_launch(const struct tunings *ts, const struct tunings_query *q);
// The entry for a build, selected by --tuned-for if several differ. False with a diagnostic if the
// selection is ambiguous.
bool tunings_for_build(const struct tunings *ts, const struct tunings_query *q, struct tuned *ret);

// Applies an entry to open constants and launch options. False with a diagnostic if a value is out
// of range.
struct tunings_target {
  uint32_t *num_warps, *num_stages, *max_registers, *num_ctas; // NULL: cannot be set here
  enum warp_specialize *warp_specialize;                       // likewise
  void *user;
  void (*set_constant)(void *user, struct tool *t, const struct tune_setting *s, struct span where);
};
bool tunings_apply(struct tool *t, const struct tuned *tuned, const struct tunings_query *q,
                   const struct tunings_target *to);
// Whether some compile-time parameter of the kernel was not given, or it has none: builds with all
// parameters given do not read the file.
bool tunings_leave_open(const struct tunings_query *q);
// num_warps and so on, as far as given; returns how many.
#define TUNINGS_OPTIONS 5
size_t tunings_options(struct tool *t, struct tune_setting ret[TUNINGS_OPTIONS]);
// The settings that -D, --num-warps and so on give, for a query.
struct tune_setting *tunings_given(struct tool *t, size_t *ret_count);
// "BLOCK=128, num_warps=8 from matmul.tune.json:3 for M=4096, N=4096"
void tuned_print(const struct tuned *tuned, struct strbuf *out);
void tuned_write(const struct tuned *tuned,
                 struct json_writer *w); // the same as an object, or null

// Whether two entries have the same settings.
bool tunings_agree(const struct tune_entry *a, const struct tune_entry *b);
// --tuned-for requires --target and excludes --no-tunings. False with a diagnostic.
bool tunings_check(struct tool *t);
// For a compilation with --target: sets open constants and launch options of the request. False
// with diagnostics.
bool tunings_for_compilation(struct tool *t, struct compile_request *r);

#endif
