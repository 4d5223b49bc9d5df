// SPDX-License-Identifier: Apache-2.0
// From the command line to a launch: device, kernel, arguments, grid.
#include "base/memory.h"
#include "runtime/runtime_internal.h"
#include "tools/launch/launch.h"
#include "tools/launch/report_violations.h"
#include "tools/progress.h"
#include "tools/reproducer.h"

#include <stdio.h>
#include <stdlib.h>

int launch_failed(struct tool *t, struct span where, tile_status status) {
  switch (status) {
  case TILE_OK: return EXIT_DONE;
  case TILE_NO_DEVICE:
    diag_help(diag_error(t->diag, where, E0810, "%s", tile_error_message()),
              "`--target cpu` runs the kernel on the processor");
    return EXIT_NO_DEVICE;
  case TILE_DRIVER_TOO_OLD:
    diag_error(t->diag, where, E0811, "%s", tile_error_message());
    return EXIT_NO_DEVICE;
  case TILE_OUT_OF_DEVICE_MEMORY:
    diag_error(t->diag, where, E0812, "%s", tile_error_message());
    return EXIT_LIMIT;
  case TILE_OUT_OF_MEMORY:
    diag_error(t->diag, where, E0991, "%s", tile_error_message());
    return EXIT_LIMIT;
  case TILE_LIMIT: diag_error(t->diag, where, E0813, "%s", tile_error_message()); return EXIT_LIMIT;
  case TILE_INTERNAL:
    diag_error(t->diag, where, E0990, "%s", tile_error_message());
    return EXIT_INTERNAL;
  case TILE_COMPILE_ERROR:
    if (diag_error_count(t->diag) == 0) // already rendered
      strbuf_puts(&t->log, tile_error_message());
    return tool_error_status(t);
  default: diag_error(t->diag, where, E0813, "%s", tile_error_message()); return EXIT_WRONG;
  }
}

// Output of device_print on the CPU and in simulations; on a GPU the driver prints it.
static void print_text(void *user, const char *text) {
  const struct tool *t = user;
  fputs(text, t->o.json ? stderr : stdout);
}

static int open_device(struct tool *t, struct launch *l) {
  tile_status status = tile_device_open(tool_device_name(t), &l->device);
  if (status != TILE_OK)
    return launch_failed(t, t->o.target_at, status);
  status = tile_device_get_properties(l->device, &l->properties);
  if (status != TILE_OK)
    return launch_failed(t, t->o.target_at, status);
  device_set_print(l->device, print_text, t);
  if (t->o.check && !device_checks(l->device)) {
    diag_help(diag_error(t->diag, t->o.target_at, E0703, "a GPU does not check accesses"),
              "add `--target cpu`, or `--simulate` to run the GPU's code on the processor");
    return EXIT_USAGE;
  }
  return EXIT_DONE;
}

static int open_kernel(struct tool *t, struct launch *l) {
  struct jit_report report = {.arena = t->arena, .diag = t->diag, .unit = l->unit};
  struct lang_binding *outer = arena_array(t->arena, struct lang_binding, t->o.defines.len + 1);
  report.constants = outer;
  for (size_t i = 0; i < t->o.defines.len; i++)
    if (lang_unit_overrides(l->unit, t->o.defines.at[i].name))
      outer[report.constant_count++] =
          tool_constant(t, t->o.defines.at[i].name, t->o.defines.at[i].value);
  tile_status status = jit_kernel_open(l->device, l->source->name, l->source->text, l->kernel_name,
                                       &report, &l->kernel);
  const char **names = arena_array(t->arena, const char *, l->arg_count + 1);
  for (size_t i = 0; i < l->arg_count; i++)
    names[i] = l->args[i].param->name;
  if (status == TILE_OK)
    status = jit_kernel_flatten(l->kernel, names, l->arg_count);
  for (size_t i = 0; status == TILE_OK && i < t->o.folders.len; i++)
    status = tile_kernel_add_folder(l->kernel, t->o.folders.at[i]);
  for (size_t i = 0; status == TILE_OK && i < t->o.defines.len; i++) {
    const struct assignment *d = &t->o.defines.at[i];
    if (lang_unit_overrides(l->unit, d->name))
      continue;
    status = tile_kernel_set_constant(l->kernel, d->name,
                                      arena_strndup(t->arena, d->value.ptr, d->value.len));
  }
  if (status == TILE_OK && t->o.num_warps)
    status = tile_kernel_set_warps(l->kernel, t->o.num_warps);
  if (status == TILE_OK && t->o.num_stages)
    status = tile_kernel_set_stages(l->kernel, t->o.num_stages);
  if (status == TILE_OK && t->o.max_registers)
    status = tile_kernel_set_max_registers(l->kernel, t->o.max_registers);
  if (status == TILE_OK && t->o.num_ctas)
    status = tile_kernel_set_num_ctas(l->kernel, t->o.num_ctas);
  if (status == TILE_OK && t->o.warp_specialize)
    status = tile_kernel_set_warp_specialize(l->kernel, warp_specialize_name(t->o.warp_specialize));
  if (status == TILE_OK && t->o.launch_pdl)
    status = tile_kernel_set_launch_pdl(l->kernel, 1);
  if (status == TILE_OK && t->o.check)
    status = tile_kernel_set_check(l->kernel, 1);
  if (status == TILE_OK && t->o.target && !l->properties.is_cpu)
    status = tile_kernel_set_target(l->kernel, t->o.target);
  const struct pass_options *p = &t->o.passes;
  if (status == TILE_OK &&
      (p->print_after || p->dump_dir || p->verify_each || p->time_passes || t->o.explain_perf))
    jit_kernel_set_passes(l->kernel, p);
  return launch_failed(t, t->o.file_at, status);
}

static int upload(struct tool *t, struct launch *l) {
  for (size_t i = 0; i < l->arg_count; i++) {
    struct launch_arg *a = &l->args[i];
    size_t size = a->value.is_array ? a->value.array.count * dtype_bytes(a->value.array.dtype) : 0;
    if (size == 0 || a->value.fill.kind == FILL_EMPTY)
      continue;
    tile_status status = launch_upload(l, a);
    if (status != TILE_OK)
      return launch_failed(t, a->where, status);
  }
  return EXIT_DONE;
}

// For one launch without checks the buffer is watched for accesses beside it; its alignment is what
// launches promise, and what the parameter's declaration promises.
static tile_status allocate_array(const struct tool *t, const struct launch *l,
                                  struct launch_arg *a) {
  enum { LEAST = 16, MOST = 256 };
  size_t align = (size_t)a->param->divisible_by * dtype_bytes(a->value.array.dtype);
  align = align < LEAST ? LEAST : align > MOST ? MOST : align;
  bool is_watched =
      t->o.mode == MODE_RUN && device_is_cpu(l->device) && !t->o.check && is_pow2(align);
  return is_watched ? device_malloc_watched(l->device, launch_arg_bytes(a), align, &a->buffer)
                    : tile_malloc(l->device, launch_arg_bytes(a), &a->buffer);
}

static int allocate(struct tool *t, struct launch *l) {
  for (size_t i = 0; i < l->arg_count; i++) {
    struct launch_arg *a = &l->args[i];
    if (!a->value.is_array)
      continue;
    tile_status status = allocate_array(t, l, a);
    if (status != TILE_OK)
      return launch_failed(t, a->where, status);
    if (a->is_descriptor)
      a->descriptor.base = a->buffer;
    else
      l->packed[i].value.pointer = a->buffer;
  }
  return upload(t, l);
}

size_t launch_name_count(const struct tool *t, const struct launch *l) {
  return t->o.defines.len + (size_t)LANG_BLOCK_RANK * l->arg_count + l->param_count;
}

void launch_add_names(struct tool *t, const struct launch *l, struct grid_names *n) {
  for (size_t i = 0; i < t->o.defines.len; i++)
    grid_names_add_text(n, t->o.defines.at[i].name, t->o.defines.at[i].value);
  for (size_t i = 0; i < l->arg_count; i++) {
    const struct launch_arg *a = &l->args[i];
    if (!a->value.is_array && a->value.is_integer)
      grid_names_add(n, a->param->name, a->value.integer);
    for (unsigned k = 0; a->is_descriptor && k < a->descriptor.rank; k++)
      grid_names_add(n, arena_printf(t->arena, "%s.shape[%u]", a->param->name, k),
                     a->descriptor.shape[k]);
  }
  int64_t value;
  for (size_t i = 0; i < l->param_count; i++) // after -D: the first of equal names counts
    if (l->params[i].is_constexpr && tool_default_value(&l->params[i], &value))
      grid_names_add(n, l->params[i].name, value);
}

static int evaluate_grid(struct tool *t, struct launch *l) {
  struct grid_names names = grid_names_make(t->arena, launch_name_count(t, l));
  uint32_t grid[3] = {1, 1, 1};
  launch_add_names(t, l, &names);
  if (!grid_expr_eval(t->diag, t->o.grid_at, &names, grid))
    return EXIT_WRONG;
  l->grid = (tile_grid){grid[0], grid[1], grid[2]};
  return EXIT_DONE;
}

static void define(void *user, struct tool *t, const struct tune_setting *s, struct span where) {
  (void)user;
  vec_push(t->arena, &t->o.defines, (struct assignment){s->name, str_from(s->value), where});
}

// Options that the command line leaves open are taken from FILE.tune.json, as if given.
static int take_tuning(struct tool *t, struct launch *l) {
  struct tunings ts;
  struct tune_key_value *values = arena_array(t->arena, struct tune_key_value, l->arg_count + 1);
  struct tunings_query q = {.kernel = l->kernel_name,
                            .target = t->o.target ? t->o.target : l->properties.target,
                            .device = l->properties.name,
                            .types = tune_types_of(t->arena, l->packed, l->arg_count),
                            .values = values};
  for (size_t i = 0; i < l->arg_count; i++)
    if (jit_is_integer(&l->packed[i]))
      values[q.value_count++] =
          (struct tune_key_value){l->args[i].param->name, l->packed[i].value.integer};
  q.given = tunings_given(t, &q.given_count);
  if (!tunings_open(t, l->unit, &ts))
    return tool_error_status(t);
  l->tuned = tunings_for_launch(&ts, &q);
  return tunings_apply(t, &l->tuned, &q,
                       &(struct tunings_target){&t->o.num_warps, &t->o.num_stages,
                                                &t->o.max_registers, &t->o.num_ctas,
                                                &t->o.warp_specialize, NULL, define})
             ? EXIT_DONE
             : tool_error_status(t);
}

void launch_show_tuned(const struct launch *l, struct strbuf *out) {
  if (!l->tuned.entry)
    return;
  strbuf_puts(out, "  tuned     ");
  tuned_print(&l->tuned, out);
  strbuf_putc(out, '\n');
}

static int check_grid(struct tool *t, const struct launch *l) {
  if (t->o.grid.ptr)
    return EXIT_DONE;
  launch_report_missing(t, l, NULL);
  return EXIT_USAGE;
}

// Every -D names a compile-time parameter, or a constant of the file.
static bool check_defines(struct tool *t, const struct launch *l) {
  const char **names = arena_array(t->arena, const char *, l->param_count + 1);
  size_t count = 0;
  struct strbuf list = {.arena = t->arena};
  for (size_t i = 0; i < l->param_count; i++)
    if (l->params[i].is_constexpr || !l->params[i].is_typed) {
      strbuf_printf(&list, "%s`%s`", count ? ", " : "", l->params[i].name);
      names[count++] = l->params[i].name;
    }
  bool ok = true;
  for (size_t i = 0; ok && i < t->o.defines.len; i++) {
    const struct assignment *a = &t->o.defines.at[i];
    bool is_known = lang_unit_overrides(l->unit, a->name);
    for (size_t k = 0; k < l->param_count; k++) // a run-time one is reported with its help
      is_known |= strcmp(l->params[k].name, a->name) == 0;
    if (is_known)
      continue;
    ok = false;
    struct span at = tool_name_span(a->where, a->name);
    struct diag *d = diag_error(t->diag, at.source ? at : a->where, E0412,
                                "`%s` has no compile-time parameter `%s`", l->kernel_name, a->name);
    const char *near = str_nearest(str_from(a->name), names, count);
    if (near)
      diag_did_you_mean(d, at, near);
    else
      diag_help(d, "its compile-time parameters are %s", count ? strbuf_cstr(&list) : "none");
  }
  strbuf_finish(&list);
  return ok;
}

int launch_read(struct tool *t, struct launch *l) {
  int status = EXIT_DONE;
  l->source = tool_source(t, &status);
  if (!l->source)
    return status;
  l->unit = lang_unit_read(t->arena, t->diag, l->source);
  if (l->unit && !tool_bind_constants(t, l->unit, t->o.target))
    return EXIT_USAGE;
  if (!l->unit || diag_error_count(t->diag) ||
      !lang_kernel_params(t->arena, t->diag, l->unit, t->o.kernel, &l->kernel_name, &l->params,
                          &l->param_count))
    return tool_error_status(t);
  if (!check_defines(t, l) || !launch_expand_tuples(t, l))
    return EXIT_WRONG;
  if (!launch_take_signature(t, l))
    return EXIT_USAGE;
  return launch_match_arguments(t, l);
}

int launch_open(struct tool *t, struct launch *l) {
  int status = launch_read(t, l);
  if (status == EXIT_DONE)
    status = check_grid(t, l);
  if (status == EXIT_DONE)
    status = open_device(t, l);
  if (status == EXIT_DONE)
    status = take_tuning(t, l);
  if (status == EXIT_DONE)
    status = launch_take_defaults(t, l);
  if (status == EXIT_DONE)
    status = evaluate_grid(t, l);
  if (status == EXIT_DONE)
    status = open_kernel(t, l);
  if (status == EXIT_DONE)
    status = allocate(t, l);
  return status;
}

void launch_close(struct launch *l) {
  tile_kernel_close(l->kernel);
  for (size_t i = 0; i < l->arg_count; i++) {
    if (l->device)
      tile_free(l->device, l->args[i].buffer);
    if (l->args[i].value.is_array)
      array_finish(&l->args[i].value.array);
  }
  tile_device_close(l->device);
}

// An integer argument that is longer than the rows of a matrix, which nothing else gives: the rows
// overlap, and the last ones are outside. The help, or NULL.
static const char *argument_beyond_row(struct tool *t, const struct launch *l, const char *array) {
  const struct array *a = NULL;
  for (size_t i = 0; i < l->arg_count; i++)
    if (strcmp(l->args[i].param->name, array) == 0 && l->args[i].value.is_array)
      a = &l->args[i].value.array;
  if (!a || a->rank < 2)
    return NULL;
  int64_t row = (int64_t)a->shape[a->rank - 1];
  const struct launch_arg *beyond = NULL;
  for (size_t i = 0; i < l->arg_count; i++) {
    int64_t n = l->packed[i].value.integer;
    if (!jit_is_integer(&l->packed[i]))
      continue;
    if (n == row)
      return NULL;
    if (n > row && n <= (int64_t)a->count && (!beyond || n < beyond->value.integer))
      beyond = &l->args[i];
  }
  if (!beyond)
    return NULL;
  const char *name = beyond->param->name;
  return arena_printf(
      t->arena,
      "`%s` is %lld and a row of `%s` has %lld elements: give `--arg %s=%lld`, or an "
      "array with longer rows",
      name, (long long)beyond->value.integer, array, (long long)row, name, (long long)row);
}

// The masks may be right and the sizes wrong: an integer argument lets the element through that an
// array does not have. The help, or NULL: there is none, or one has the array's own size.
static const char *argument_beyond(struct tool *t, const struct launch *l, const char *array,
                                   const struct cpu_violation *v) {
  const struct launch_arg *beyond = NULL;
  int64_t elements = (int64_t)v->elements;
  const char *row = argument_beyond_row(t, l, array);
  if (row)
    return row;
  for (size_t i = 0; i < l->arg_count; i++) {
    int64_t n = l->packed[i].value.integer;
    if (!jit_is_integer(&l->packed[i]))
      continue;
    if (n == elements)
      return NULL;
    if (n > v->element && n > elements && (!beyond || n < beyond->value.integer))
      beyond = &l->args[i];
  }
  if (!beyond)
    return NULL;
  const char *name = beyond->param->name;
  long long n = (long long)beyond->value.integer, has = (long long)elements;
  return arena_printf(t->arena,
                      "`%s` is %lld and `%s` has %lld elements: give `--arg %s=%lld`, or arrays of "
                      "%lld elements",
                      name, n, array, has, name, has, n);
}

static void report_violation(struct tool *t, struct launch *l, const struct cpu_violation *v) {
  // The run-time parameter's name: violations count the parameters the kernel was launched with.
  const char *name =
      v->param >= 0 ? tile_kernel_param_name(l->kernel, l->packed, l->arg_count, v->param) : NULL;
  struct violation_facts facts = {.beyond = name ? argument_beyond(t, l, name, v) : NULL};
  for (size_t i = 0; i < l->arg_count && !facts.bound; i++)
    if (jit_is_integer(&l->packed[i]) && l->packed[i].value.integer == (int64_t)v->elements)
      facts.bound = l->args[i].param->name;
  violation_report(t->diag, l->source, v, name, &facts);
}

int launch_compile(struct tool *t, struct launch *l) {
  struct jit_report report = {t->arena, t->diag};
  struct module *module;
  progress_stage(
      t, arena_printf(t->arena, "compiling %s for %s", l->kernel_name, l->properties.target));
  tile_status status = jit_specialise(l->kernel, l->packed, l->arg_count, &report, &l->spec);
  if (status == TILE_OK)
    status = jit_spec_module(l->kernel, l->spec, &module);
  if (status == TILE_OK)
    status = module_resources(module, &l->registers, &l->local_bytes);
  return launch_failed(t, t->o.file_at, status);
}

int launch_run(struct tool *t, struct launch *l) {
  progress_stage(
      t, arena_printf(t->arena, "%s %s", t->o.simulate ? "simulating" : "running", l->kernel_name));
  reproducer_kernel_runs(l->properties.is_cpu && !t->o.check);
  tile_status status = tile_launch(l->kernel, NULL, l->grid, l->packed, l->arg_count);
  if (status == TILE_OK)
    status = tile_stream_synchronize(l->device, NULL);
  fflush(stdout); // before the results, which bypass stdio
  reproducer_kernel_runs(false);
  if (status != TILE_CHECK_FAILED)
    return launch_failed(t, t->o.file_at, status);
  const struct cpu_violation *found;
  uint64_t total;
  size_t kept = device_violations(l->device, &found, &total);
  for (size_t i = 0; i < kept; i++) // one report per location
    if (i == 0 || !violation_repeats(&found[i - 1], &found[i]))
      report_violation(t, l, &found[i]);
  if (kept == 0)
    diag_error(t->diag, t->o.file_at, E0813, "%s", tile_error_message());
  return EXIT_WRONG;
}

int launch_download(struct tool *t, struct launch *l, size_t i, struct array *ret) {
  struct array a = l->args[i].value.array;
  size_t size = a.count * dtype_bytes(a.dtype);
  a.data = memory_alloc(size ? size : 1);
  if (!a.data) {
    diag_error(t->diag, l->args[i].where, E0991, "no memory for a copy of `%s`",
               l->args[i].param->name);
    return EXIT_LIMIT;
  }
  tile_status status = size ? launch_copy_back(l, &l->args[i], a.data) : TILE_OK;
  if (status != TILE_OK) {
    array_finish(&a);
    return launch_failed(t, l->args[i].where, status);
  }
  *ret = a;
  return EXIT_DONE;
}
