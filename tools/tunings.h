// SPDX-License-Identifier: Apache-2.0
// FILE.tune.json beside a kernel, for launches (--run, --bench) and for code made ahead of time:
// which entry serves, and what of it the command line leaves open.
#ifndef TILE_TOOLS_TUNINGS_H
#define TILE_TOOLS_TUNINGS_H

#include "autotune/database/database.h"
#include "tools/tool.h"

struct tunings {
  struct tool *tool;
  const char *path;
  struct tune_file file; // empty: none is there, or none is wanted
  uint8_t hash[32];      // of the kernel's text as it is
};
// False with diagnostics where the file is malformed.
bool tunings_open(struct tool *t, const struct lang_unit *u, struct tunings *ret);

struct tuned {
  const struct tune_entry *entry; // NULL: none serves
  const char *path;
  bool is_nearest; // its key is near that of the launch, not equal
};

// What is asked for. `given`: constants and launch options of the command line, by which an entry
// is not overruled: it serves whole or not at all.
struct tunings_query {
  const char *kernel, *target;
  const struct tune_setting *given;
  size_t given_count;
  // A launch: its device, types and integers. A build: NULL, and what is known of the types.
  const char *device, *types;
  const struct tune_key_value *values;
  size_t value_count;
  const struct lang_param *params; // of the kernel
  size_t param_count;
  const struct lang_binding *bindings;
  size_t binding_count;
};
// The entry for a launch. One for another text of the kernel is named in a warning.
struct tuned tunings_for_launch(const struct tunings *ts, const struct tunings_query *q);
// The entry for a build, by --tuned-for where several differ. False with a diagnostic where they do
// not decide.
bool tunings_for_build(const struct tunings *ts, const struct tunings_query *q, struct tuned *ret);

// Constants and launch options of an entry into those of the command line that are open. False with
// a diagnostic where one is out of range.
struct tunings_target {
  uint32_t *num_warps, *num_stages, *max_registers; // NULL: cannot be set here
  void *user;
  void (*set_constant)(void *user, struct tool *t, const struct tune_setting *s, struct span where);
};
bool tunings_apply(struct tool *t, const struct tuned *tuned, const struct tunings_query *q,
                   const struct tunings_target *to);
// Whether some compile-time parameter of the kernel was not given, or it has none: builds with all
// of them given ask no file.
bool tunings_leave_open(const struct tunings_query *q);
// num_warps and so on, those that were given; returns how many.
#define TUNINGS_OPTIONS 3
size_t tunings_options(struct tool *t, struct tune_setting ret[TUNINGS_OPTIONS]);
// The settings that -D, --num-warps and so on give, for a query.
struct tune_setting *tunings_given(struct tool *t, size_t *ret_count);
// "BLOCK=128, num_warps=8 from matmul.tune.json:3 for M=4096, N=4096"
void tuned_print(const struct tuned *tuned, struct strbuf *out);
void tuned_write(const struct tuned *tuned,
                 struct json_writer *w); // the same as an object, or null

// Whether two entries chose the same.
bool tunings_agree(const struct tune_entry *a, const struct tune_entry *b);
// --tuned-for goes with --target and without --no-tunings. False with a diagnostic.
bool tunings_check(struct tool *t);
// For a compilation with --target: takes constants and launch options into the request. False with
// diagnostics.
bool tunings_for_compilation(struct tool *t, struct compile_request *r);

#endif
