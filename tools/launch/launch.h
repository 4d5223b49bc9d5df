// SPDX-License-Identifier: Apache-2.0
// Shared by --run and --bench: a kernel, a device, arguments from --arg, a grid.
#ifndef TILE_TOOLS_LAUNCH_H
#define TILE_TOOLS_LAUNCH_H

#include "jit/grid_expr.h"
#include "jit/jit.h"
#include "tools/launch/arg_spec.h"
#include "tools/tool.h"
#include "tools/tuning/tunings.h"

#include <tile/tile.h>

struct launch_arg {
  const struct lang_param *param;
  struct span where;      // of its --arg
  struct arg_value value; // arrays: the initial contents
  void *buffer;           // device memory of an array, else NULL
  bool is_descriptor;     // an array that is passed as a tensor descriptor
  tile_descriptor descriptor;
};

struct launch {
  bool is_shape_only; // set by the caller: generated arrays are not filled (arg_spec_shape)
  struct source *source;
  struct lang_unit *unit;
  const char *kernel_name;
  struct lang_param *params; // compile-time ones too
  size_t param_count;
  bool *is_none; // by parameter: `--signature NAME=None`
  tile_device *device;
  tile_device_properties properties;
  tile_kernel *kernel;
  struct launch_arg *args; // run-time parameters in order
  tile_arg *packed;        // the same, as the runtime takes them
  size_t arg_count;
  tile_grid grid;
  struct tuned tuned;         // from FILE.tune.json
  struct jit_spec *spec;      // after launch_compile
  int registers, local_bytes; // likewise; GPUs only
};

// Reads the file and the arguments, without a device: source to packed, whose pointers are NULL.
int launch_read(struct tool *t, struct launch *l);
// launch_read; opens the device and the kernel, creates and uploads the arguments, evaluates the
// grid. EXIT_DONE, or the status of a recorded failure; launch_close in either case.
int launch_open(struct tool *t, struct launch *l);
void launch_close(struct launch *l);
// Sets open constants and launch options from decorators of the kernel (tool_defaults.c).
int launch_take_defaults(struct tool *t, struct launch *l);
// Prints a line if FILE.tune.json was used.
void launch_show_tuned(const struct launch *l, struct strbuf *out);
// Compiles and loads for the arguments: l->spec, registers, local_bytes.
int launch_compile(struct tool *t, struct launch *l);
// Launches and waits. Failures and violations of --check are recorded; the exit status.
int launch_run(struct tool *t, struct launch *l);
// Copies argument `i` (an array) back into a new array of the CPU (array_finish).
int launch_download(struct tool *t, struct launch *l, size_t i, struct array *ret);
// Records a failed runtime call at `where` and returns its exit status.
int launch_failed(struct tool *t, struct span where, tile_status status);
// Replaces each parameter whose --arg is a tuple by its elements, `name[0]` and so on, and the
// argument by theirs. False with a diagnostic.
bool launch_expand_tuples(struct tool *t, struct launch *l);
// --signature gives types to parameters that the source leaves untyped, and must agree with those
// that have one. False with a diagnostic.
bool launch_take_signature(struct tool *t, struct launch *l);
// The kernel's run-time parameters become l->args and l->packed; every --arg must name one, and
// every parameter needs an --arg unless it is None by --signature or by its default.
int launch_match_arguments(struct tool *t, struct launch *l);
// Reports the arguments that are missing (`is_missing`, by parameter; NULL: none); of a launch also
// compile-time parameters without a value and the grid, with a command line that has all of them.
void launch_report_missing(struct tool *t, const struct launch *l, const bool *is_missing);
// An array as a tensor descriptor, without its base. EXIT_DONE, or the status of a diagnostic.
int launch_make_descriptor(struct tool *t, struct launch_arg *a, tile_arg *ret);
// The bytes of an array in device memory. If it is padded, its rows end with unused bytes there.
uint64_t launch_arg_bytes(const struct launch_arg *a);
bool launch_arg_is_padded(const struct launch_arg *a);
// Copies the dense rows of the host to `padded`, which has launch_arg_bytes.
void launch_arg_pad(const struct launch_arg *a, const void *dense, void *padded);
// Copies of a whole array, which is dense on the host.
tile_status launch_upload(struct launch *l, const struct launch_arg *a);
tile_status launch_copy_back(struct launch *l, const struct launch_arg *a, void *dense);
// Adds names for grids: constants of -D, integer arguments, sizes of tensor descriptors
// (`a.shape[0]`), defaults of other constants; at most launch_name_count.
size_t launch_name_count(const struct tool *t, const struct launch *l);
void launch_add_names(struct tool *t, const struct launch *l, struct grid_names *n);
// The argument of that name, or NULL with a diagnostic (E0721) at `where`.
struct launch_arg *launch_find(struct tool *t, struct launch *l, const char *name,
                               struct span where);

#endif
