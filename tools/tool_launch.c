// SPDX-License-Identifier: Apache-2.0
// From the command line to a launch: device, kernel, arguments, grid.
#include "base/memory.h"
#include "runtime/runtime_internal.h"
#include "tools/launch.h"
#include "tools/report_violations.h"
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
    if (diag_error_count(t->diag) == 0) // rendered already
      strbuf_puts(&t->log, tile_error_message());
    return tool_error_status(t);
  default: diag_error(t->diag, where, E0813, "%s", tile_error_message()); return EXIT_WRONG;
  }
}

// What device_print says on the CPU and in simulations; on a GPU the driver prints it.
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

// The tile_type of a dtype: both enumerations have the same order.
static tile_type type_of(enum dtype d) { return (tile_type)d; }

// A scalar argument's type: the annotation's, the one written with the value, or the smallest of
// the defaults that holds it.
static enum dtype scalar_type(const struct launch_arg *a) {
  if (a->param->is_typed && !a->param->is_pointer)
    return a->param->dtype;
  if (a->value.scalar_type != DTYPE_NONE)
    return a->value.scalar_type;
  if (!a->value.is_integer)
    return DTYPE_F32;
  return a->value.integer >= INT32_MIN && a->value.integer <= INT32_MAX ? DTYPE_I32 : DTYPE_I64;
}

static int pack(struct tool *t, struct launch_arg *a, tile_arg *ret) {
  if (a->value.is_array) {
    if (a->param->is_typed && !a->param->is_pointer) {
      diag_error(t->diag, a->where, E0723, "`%s` is a scalar, not an array", a->param->name);
      return EXIT_WRONG;
    }
    enum dtype declared = a->param->is_typed ? a->param->dtype : a->value.array.dtype;
    if (declared != a->value.array.dtype) {
      diag_help(diag_error(t->diag, a->where, E0714, "`%s` points to %s, not to %s", a->param->name,
                           dtype_name(declared), dtype_name(a->value.array.dtype)),
                "give an array of `%s`, or change the annotation of `%s`", dtype_name(declared),
                a->param->name);
      return EXIT_WRONG;
    }
    *ret = tile_arg_pointer(a->buffer, type_of(a->value.array.dtype));
    return EXIT_DONE;
  }
  if (a->param->is_typed && a->param->is_pointer) {
    diag_help(diag_error(t->diag, a->where, E0723, "`%s` is a pointer and needs an array",
                         a->param->name),
              "write for example `--arg '%s=%s[1000]:rand(0)'`", a->param->name,
              dtype_name(a->param->dtype));
    return EXIT_WRONG;
  }
  enum dtype type = scalar_type(a);
  double real = a->value.is_integer ? (double)a->value.integer : a->value.real;
  if (dtype_is_float(type))
    *ret = type == DTYPE_F32 ? tile_arg_f32((float)real) : tile_arg_f64(real);
  else if (a->value.is_integer)
    *ret = tile_arg_int(type_of(type), a->value.integer);
  else {
    diag_error(t->diag, a->where, E0723, "`%s` is an integer (%s), not %g", a->param->name,
               dtype_name(type), real);
    return EXIT_WRONG;
  }
  if (dtype_is_float(type) && type != DTYPE_F32)
    ret->type = type_of(type);
  return EXIT_DONE;
}

struct launch_arg *launch_find(struct tool *t, struct launch *l, const char *name,
                               struct span where) {
  const char **names = arena_array(t->arena, const char *, l->arg_count + 1);
  for (size_t i = 0; i < l->arg_count; i++) {
    names[i] = l->args[i].param->name;
    if (strcmp(names[i], name) == 0)
      return &l->args[i];
  }
  struct diag *d = diag_error(t->diag, where, E0721, "kernel `%s` has no run-time parameter `%s`",
                              l->kernel_name, name);
  const char *near = str_nearest(str_from(name), names, l->arg_count);
  if (near)
    diag_help(d, "did you mean `%s`?", near);
  return NULL;
}

// --signature gives types to parameters that the source leaves untyped; what it says of others must
// be what these say.
static bool take_signature(struct tool *t, struct launch *l) {
  struct word signature = {t->o.signature, t->o.signature_at};
  struct str entry;
  for (struct str rest = signature.value; tool_next_entry(&rest, &entry);) {
    struct lang_binding b;
    struct lang_param *p = NULL;
    if (!tool_parse_type(t, &signature, entry, &b))
      return false;
    for (size_t i = 0; i < l->param_count && !p; i++)
      p = strcmp(l->params[i].name, b.name) == 0 ? &l->params[i] : NULL;
    struct span at = tool_part(&signature, entry);
    bool is_pointer = b.kind == BIND_POINTER;
    if (!p || p->is_constexpr) {
      diag_error(t->diag, at, E0412, "`%s` has no %s parameter `%s`", l->kernel_name,
                 p ? "run-time" : "such", b.name);
      return false;
    }
    if (p->is_typed && (p->is_pointer != is_pointer || p->dtype != b.dtype)) {
      diag_help(diag_error(t->diag, at, E0413, "`%s` is declared as another type", b.name),
                "change the annotation, or leave it out of `--signature`");
      return false;
    }
    p->is_typed = true;
    p->is_pointer = is_pointer;
    p->dtype = b.dtype;
    if (b.is_one || b.divisible_by > p->divisible_by)
      p->divisible_by = b.is_one ? 0 : b.divisible_by; // 0: it is 1
  }
  return true;
}

// What a hint of --signature promises of a number must be so.
static bool keeps_hint(struct tool *t, const struct launch_arg *a) {
  uint32_t by = a->param->divisible_by;
  if (a->value.is_array || !a->value.is_integer ||
      (by ? a->value.integer % by : a->value.integer - 1) == 0)
    return true;
  if (by)
    diag_error(t->diag, a->where, E0723, "`%s` is %lld, and promised to be divisible by %u",
               a->param->name, (long long)a->value.integer, by);
  else
    diag_error(t->diag, a->where, E0723, "`%s` is %lld, and promised to be 1", a->param->name,
               (long long)a->value.integer);
  return false;
}

// Files of numpy have no bf16: its bits come as integers.
static void warn_of_bits(struct tool *t, const struct launch_arg *a, struct str spec) {
  if (a->param->is_typed || !a->value.is_array || a->value.array.dtype != DTYPE_U16 ||
      !str_starts(spec, "@"))
    return;
  diag_help(diag_warning(t->diag, a->where, E0714,
                         "`%s` is read as integers of 16 bits, which may be the bits of bf16",
                         a->param->name),
            "`--signature '%s=*bf16'` reads them so, `--signature '%s=*u16'` as integers",
            a->param->name, a->param->name);
}

// Run-time parameters of the kernel become l->args; every --arg must name one, every one needs an
// --arg.
static int match_arguments(struct tool *t, struct launch *l) {
  const struct lang_param *params = l->params;
  size_t count = l->param_count;
  l->args = arena_array(t->arena, struct launch_arg, count + 1);
  l->packed = arena_array(t->arena, tile_arg, count + 1);
  bool *is_set = arena_array(t->arena, bool, count + 1);
  for (size_t i = 0; i < count; i++)
    if (!params[i].is_constexpr)
      l->args[l->arg_count++].param = &params[i];
  for (size_t i = 0; i < t->o.args.len; i++) {
    const struct assignment *given = &t->o.args.at[i];
    for (size_t k = 0; k < count; k++)
      if (params[k].is_constexpr && strcmp(params[k].name, given->name) == 0) {
        diag_help(diag_error(t->diag, given->where, E0723, "`%s` is a compile-time parameter",
                             given->name),
                  "give it as `-D %s=%.*s`", given->name, STR_ARG(given->value));
        return EXIT_WRONG;
      }
    struct launch_arg *a = launch_find(t, l, given->name, given->where);
    if (!a)
      return EXIT_WRONG;
    a->where = given->where;
    enum dtype as = a->param->is_typed && a->param->is_pointer ? a->param->dtype : DTYPE_NONE;
    bool (*parse)(struct arena *, struct diag_engine *, struct span, struct str, enum dtype,
                  struct arg_value *) = l->is_shape_only ? arg_spec_shape : arg_spec_parse;
    a->value = (struct arg_value){0};
    if (!parse(t->arena, t->diag, given->where, given->value, as, &a->value))
      return tool_error_status(t);
    if (!keeps_hint(t, a))
      return EXIT_WRONG;
    warn_of_bits(t, a, given->value);
    is_set[a - l->args] = true;
  }
  int status = EXIT_DONE;
  for (size_t i = 0; i < l->arg_count; i++)
    if (!is_set[i]) {
      const struct lang_param *p = l->args[i].param;
      diag_help(diag_error(t->diag, p->span, E0722, "no value for parameter `%s`", p->name),
                p->is_typed && !p->is_pointer ? "add `--arg %s=1000`"
                                              : "add `--arg '%s=f32[1000]:rand(0)'`",
                p->name);
      status = EXIT_WRONG;
    }
  return status;
}

static int upload(struct tool *t, struct launch *l) {
  for (size_t i = 0; i < l->arg_count; i++) {
    struct launch_arg *a = &l->args[i];
    size_t size = a->value.is_array ? a->value.array.count * dtype_bytes(a->value.array.dtype) : 0;
    if (size == 0 || a->value.fill.kind == FILL_EMPTY)
      continue;
    tile_status status = tile_copy_to_device(l->device, NULL, a->buffer, a->value.array.data, size);
    if (status != TILE_OK)
      return launch_failed(t, a->where, status);
  }
  return EXIT_DONE;
}

static int allocate(struct tool *t, struct launch *l) {
  for (size_t i = 0; i < l->arg_count; i++) {
    struct launch_arg *a = &l->args[i];
    if (!a->value.is_array)
      continue;
    tile_status status = tile_malloc(
        l->device, a->value.array.count * dtype_bytes(a->value.array.dtype), &a->buffer);
    if (status != TILE_OK)
      return launch_failed(t, a->where, status);
    l->packed[i].value.pointer = a->buffer;
  }
  return upload(t, l);
}

void launch_add_names(struct tool *t, const struct launch *l, struct grid_names *n) {
  for (size_t i = 0; i < t->o.defines.len; i++)
    grid_names_add_text(n, t->o.defines.at[i].name, t->o.defines.at[i].value);
  for (size_t i = 0; i < l->arg_count; i++)
    if (!l->args[i].value.is_array && l->args[i].value.is_integer)
      grid_names_add(n, l->args[i].param->name, l->args[i].value.integer);
  int64_t value;
  for (size_t i = 0; i < l->param_count; i++) // after -D: the first of a name wins
    if (l->params[i].is_constexpr && tool_default_value(&l->params[i], &value))
      grid_names_add(n, l->params[i].name, value);
}

static int evaluate_grid(struct tool *t, struct launch *l) {
  struct grid_names names =
      grid_names_make(t->arena, t->o.defines.len + l->arg_count + l->param_count);
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

// What the command line leaves open comes from FILE.tune.json, as if it had been given.
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
                                                &t->o.max_registers, NULL, define})
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

static int check_grid(struct tool *t) {
  if (t->o.grid.ptr)
    return EXIT_DONE;
  diag_help(diag_error(t->diag, SPAN_NONE, E0724, "no grid"),
            "add for example `--grid 'cdiv(n,BLOCK)'`");
  return EXIT_USAGE;
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
  if (!take_signature(t, l))
    return EXIT_USAGE;
  status = match_arguments(t, l);
  for (size_t i = 0; status == EXIT_DONE && i < l->arg_count; i++)
    status = pack(t, &l->args[i], &l->packed[i]);
  return status;
}

int launch_open(struct tool *t, struct launch *l) {
  int status = launch_read(t, l);
  if (status == EXIT_DONE)
    status = check_grid(t);
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

static void report_violation(struct tool *t, struct launch *l, const struct cpu_violation *v) {
  // The run-time parameter's name: violations count the parameters the kernel was launched with.
  const char *name =
      v->param >= 0 ? tile_kernel_param_name(l->kernel, l->packed, l->arg_count, v->param) : NULL;
  violation_report(t->diag, l->source, v, name);
}

int launch_compile(struct tool *t, struct launch *l) {
  struct jit_report report = {t->arena, t->diag};
  struct module *module;
  tile_status status = jit_specialise(l->kernel, l->packed, l->arg_count, &report, &l->spec);
  if (status == TILE_OK)
    status = jit_spec_module(l->kernel, l->spec, &module);
  if (status == TILE_OK)
    status = module_resources(module, &l->registers, &l->local_bytes);
  return launch_failed(t, t->o.file_at, status);
}

int launch_run(struct tool *t, struct launch *l) {
  reproducer_kernel_runs(l->properties.is_cpu && !t->o.check);
  tile_status status = tile_launch(l->kernel, NULL, l->grid, l->packed, l->arg_count);
  if (status == TILE_OK)
    status = tile_stream_synchronize(l->device, NULL);
  fflush(stdout); // before the results, which are written past stdio
  reproducer_kernel_runs(false);
  if (status != TILE_CHECK_FAILED)
    return launch_failed(t, t->o.file_at, status);
  const struct cpu_violation *found;
  uint64_t total;
  size_t kept = device_violations(l->device, &found, &total);
  for (size_t i = 0; i < kept; i++) // one report a location
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
  tile_status status =
      size ? tile_copy_to_host(l->device, NULL, a.data, l->args[i].buffer, size) : TILE_OK;
  if (status != TILE_OK) {
    array_finish(&a);
    return launch_failed(t, l->args[i].where, status);
  }
  *ret = a;
  return EXIT_DONE;
}
