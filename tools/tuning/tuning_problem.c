// SPDX-License-Identifier: Apache-2.0
// The arrays of a tuning, one after the other, followed by those of --expect. Generated ones are
// filled in a thread while the worker starts.
#include "tools/tuning/tuning_problem.h"

#include "base/file.h"
#include "base/memory.h"
#include "tools/gpu_guess.h"
#include "tools/launch/array_fill.h"
#include "tools/launch/npy_file.h"

#include <errno.h>
#include <stdlib.h>

#define ALIGNMENT 4096u

static uint64_t array_bytes(const struct array *a) { return a->count * dtype_bytes(a->dtype); }

static uint64_t take_room(struct tuning_problem *p, uint64_t bytes) {
  uint64_t at = p->data_bytes;
  p->data_bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return at;
}

// ---- arguments ----

static void lay_out(struct tool *t, struct tuning_problem *p) {
  struct launch *l = &p->launch;
  struct tune_problem *q = &p->problem;
  const char **names = arena_array(t->arena, const char *, l->arg_count + 1);
  q->arrays = arena_array(t->arena, struct tune_array, l->arg_count + 1);
  q->args = l->packed;
  q->arg_count = l->arg_count;
  q->arg_names = names;
  for (size_t i = 0; i < l->arg_count; i++) {
    names[i] = l->args[i].param->name;
    if (!l->args[i].value.is_array)
      continue;
    q->arrays[i].bytes = launch_arg_bytes(&l->args[i]);
    q->arrays[i].offset = take_room(p, q->arrays[i].bytes);
    // A placeholder for device memory, which has at least this alignment.
    void *placeholder = (void *)(uintptr_t)(ALIGNMENT * (i + 1));
    if (l->args[i].is_descriptor)
      l->args[i].descriptor.base = placeholder;
    else
      l->packed[i].value.pointer = placeholder;
  }
}

// --expect NAME=@FILE.npy, of the argument's own shape.
static int read_expected(struct tool *t, struct tuning_problem *p) {
  p->expected = arena_array(t->arena, struct array, p->launch.arg_count + 1);
  for (size_t i = 0; i < t->o.expects.len; i++) {
    const struct assignment *e = &t->o.expects.at[i];
    struct launch_arg *arg = launch_find(t, &p->launch, e->name, e->where);
    if (!arg)
      return EXIT_WRONG;
    size_t k = (size_t)(arg - p->launch.args);
    if (!arg->value.is_array || e->value.len < 2 || e->value.ptr[0] != '@') {
      diag_help(diag_error(t->diag, e->where, E0707, "`%.*s` is not a file", STR_ARG(e->value)),
                "write `%s=@result.npy`, for an array argument", e->name);
      return EXIT_WRONG;
    }
    const struct array *actual = &arg->value.array;
    const char *path = arena_strndup(t->arena, e->value.ptr + 1, e->value.len - 1);
    array_finish(&p->expected[k]);
    if (!npy_read(t->arena, t->diag, e->where, path, actual->dtype, &p->expected[k]))
      return tool_error_status(t);
    if (p->expected[k].count != actual->count) {
      diag_error(t->diag, e->where, E0730,
                 "`%s` has another shape than expected: %llu elements against %llu", e->name,
                 (unsigned long long)actual->count, (unsigned long long)p->expected[k].count);
      return EXIT_WRONG;
    }
    p->problem.arrays[k].has_expected = true;
    p->problem.arrays[k].expected = take_room(p, launch_arg_bytes(arg));
  }
  return EXIT_DONE;
}

// Converts `expected` to dtype `type`, at `to`.
static void copy_as(enum dtype type, const struct array *expected, void *to) {
  size_t bytes = dtype_bytes(type), from_bytes = dtype_bytes(expected->dtype);
  if (type == expected->dtype) {
    memcpy(to, expected->data, expected->count * bytes);
    return;
  }
  for (uint64_t i = 0; i < expected->count; i++)
    dtype_store(type, (char *)to + i * bytes,
                dtype_load(expected->dtype, (const char *)expected->data + i * from_bytes));
}

// An array whose rows are padded on the device. False without memory.
static bool fill_padded(const struct tuning_problem *p, size_t i, void *to, void *expected) {
  const struct launch_arg *arg = &p->launch.args[i];
  struct array a = arg->value.array;
  void *dense = memory_alloc(array_bytes(&a));
  if (!dense)
    return false;
  if (a.data) {
    launch_arg_pad(arg, a.data, to);
  } else {
    a.data = dense;
    array_fill(&a, &arg->value.fill);
    launch_arg_pad(arg, dense, to);
  }
  if (expected) {
    copy_as(a.dtype, &p->expected[i], dense);
    launch_arg_pad(arg, dense, expected);
  }
  free(dense);
  return true;
}

bool tuning_problem_fill(void *problem, void *data) {
  const struct tuning_problem *p = problem;
  for (size_t i = 0; i < p->launch.arg_count; i++) {
    const struct arg_value *v = &p->launch.args[i].value;
    const struct tune_array *at = &p->problem.arrays[i];
    struct array a = v->array;
    if (!v->is_array)
      continue;
    const struct launch_arg *arg = &p->launch.args[i];
    void *to = (char *)data + at->offset, *expected = (char *)data + at->expected;
    if (launch_arg_is_padded(arg)) {
      if (!fill_padded(p, i, to, at->has_expected ? expected : NULL))
        return false;
      continue;
    }
    if (a.data) {
      memcpy(to, a.data, at->bytes);
    } else {
      a.data = to;
      array_fill(&a, &v->fill);
    }
    if (at->has_expected)
      copy_as(a.dtype, &p->expected[i], expected);
  }
  return true;
}

uint64_t tuning_problem_bytes(const struct tuning_problem *p) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < p->launch.arg_count; i++)
    bytes += p->problem.arrays[i].bytes;
  return bytes;
}

// ---- the space ----

// -D and, for dimensions of that name, --num-warps and so on.
static struct lang_binding *fixed(struct tool *t, bool with_options, size_t *ret_count) {
  size_t n = 0;
  struct tune_setting options[TUNINGS_OPTIONS];
  size_t option_count = with_options ? tunings_options(t, options) : 0;
  struct lang_binding *b =
      arena_array(t->arena, struct lang_binding, t->o.defines.len + TUNINGS_OPTIONS);
  for (size_t i = 0; i < t->o.defines.len; i++)
    b[n++] = tool_constant(t, t->o.defines.at[i].name, t->o.defines.at[i].value);
  for (size_t i = 0; i < option_count; i++)
    b[n++] = (struct lang_binding){
        .name = options[i].name, .kind = BIND_SCALAR, .text = options[i].value};
  *ret_count = n;
  return b;
}

static bool space_from_file(struct tool *t, struct tuning_problem *p, const char *path) {
  struct str text;
  int error = file_read(t->arena, path, SOURCE_MAX_BYTES, &text);
  if (error != 0) {
    diag_error(t->diag, t->o.space.where, E0710, "cannot read `%s`: %s", path, strerror(error));
    return false;
  }
  return tune_space_from_json(t->arena, t->diag, source_create(t->arena, path, text),
                              p->launch.params, p->launch.param_count, &p->space);
}

static bool given_space(struct tool *t, struct tuning_problem *p) {
  const struct word *w = &t->o.space;
  bool ok =
      tool_bind_constants(t, p->launch.unit, p->target) &&
      lang_tuning_of(t->arena, t->diag, p->launch.unit, p->launch.kernel_name, &p->decorators);
  if (!ok)
    return false;
  if (str_starts(w->value, "@"))
    return space_from_file(t, p, arena_strndup(t->arena, w->value.ptr + 1, w->value.len - 1));
  return tune_space_from_text(t->arena, t->diag, w->where, w->value, p->launch.params,
                              p->launch.param_count, &p->space);
}

static bool make_space(struct tool *t, struct tuning_problem *p) {
  struct tune_problem *q = &p->problem;
  size_t count;
  struct span where = t->o.space.value.ptr ? t->o.space.where : t->o.file_at;
  const struct lang_binding *all = fixed(t, true, &count);
  bool ok = t->o.space.value.ptr
                ? given_space(t, p)
                : tune_problem_space(t->arena, t->diag, q, p->target, &p->space, &p->decorators);
  return ok && tune_space_fix(t->arena, t->diag, where, all, count, &p->space);
}

// ---- the grid ----

// Evaluates the grid of the default configuration, so that an error in it has its location.
static int check_grid(struct tool *t, struct tuning_problem *p) {
  const struct launch *l = &p->launch;
  struct grid_names names = grid_names_make(t->arena, p->space.dim_count + launch_name_count(t, l));
  uint32_t grid[3];
  if (!t->o.grid.ptr) {
    diag_help(diag_error(t->diag, SPAN_NONE, E0724, "no grid"),
              "add for example `--grid 'cdiv(n,BLOCK)'`");
    return EXIT_USAGE;
  }
  for (size_t d = 0; d < p->space.dim_count; d++) {
    const char *text = tune_config_value(&p->space, 0, p->space.dims[d].name);
    if (text)
      grid_names_add_text(&names, p->space.dims[d].name, str_from(text));
  }
  launch_add_names(t, l, &names);
  // Values of @heuristics are not known yet: the builder evaluates such grids.
  if (p->decorators.heuristic_count == 0 && !grid_expr_eval(t->diag, t->o.grid_at, &names, grid))
    return EXIT_WRONG;
  return EXIT_DONE;
}

int tuning_problem_open(struct tool *t, struct tuning_problem *p) {
  struct tune_problem *q = &p->problem;
  p->launch.is_shape_only = true;
  int status = launch_read(t, &p->launch);
  if (status != EXIT_DONE)
    return status;
  q->file = p->launch.source->name;
  q->text = p->launch.source->text;
  q->kernel = p->launch.kernel_name;
  q->folders = t->o.folders.at;
  q->folder_count = t->o.folders.len;
  q->target = t->o.target;
  p->target = q->target ? q->target : gpu_guess_target(t->arena, GPU_GUESS_FOLDER);
  q->fixed = fixed(t, false, &q->fixed_count);
  q->num_warps = t->o.num_warps;
  q->num_stages = t->o.num_stages;
  q->max_registers = t->o.max_registers;
  q->num_ctas = t->o.num_ctas;
  q->warp_specialize = t->o.warp_specialize;
  q->grid = t->o.grid.ptr ? arena_strndup(t->arena, t->o.grid.ptr, t->o.grid.len) : NULL;
  lay_out(t, p);
  status = read_expected(t, p);
  if (status == EXIT_DONE && !make_space(t, p))
    status = tool_error_status(t);
  if (status == EXIT_DONE)
    status = check_grid(t, p);
  tune_problem_reset(q, &p->decorators);
  return status;
}

void tuning_problem_close(struct tuning_problem *p) {
  for (size_t i = 0; p->expected && i < p->launch.arg_count; i++)
    array_finish(&p->expected[i]);
  launch_close(&p->launch);
}
