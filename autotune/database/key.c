// SPDX-License-Identifier: Apache-2.0
// The key of a tuning: the kernel's text with its imports, types and hints of the arguments, given
// settings, and the numbers that matter.
#include "autotune/database/database_internal.h"
#include "base/sha256.h"
#include "jit/jit_kernel.h"
#include "lang/frontend.h"

#include <stdlib.h>

#define HASH_FORMAT "tile tune 1"

// ---- the kernel's text ----

void tune_hash_of(struct arena *a, const struct lang_unit *u, const char *const *folders,
                  size_t folder_count, bool is_detached, uint8_t ret[32]) {
  struct lang_imports imports = {
      .folders = folders, .folder_count = folder_count, .is_detached = is_detached};
  lang_import_files(a, u, &imports);
  struct sha256 h;
  sha256_init(&h);
  sha256_field(&h, HASH_FORMAT, sizeof HASH_FORMAT - 1);
  struct str text = lang_unit_source(u)->text;
  sha256_field(&h, text.ptr, text.len);
  // Contents without paths: the same files match wherever they are checked out.
  for (size_t i = 0; i < imports.dependencies.len; i++)
    if (imports.dependencies.at[i].exists)
      sha256_field(&h, imports.dependencies.at[i].digest, sizeof imports.dependencies.at[i].digest);
  sha256_final(&h, ret);
}

// ---- types ----

static const char *hint_of(const tile_arg *arg) {
  if (arg->is_pointer)
    return (uintptr_t)arg->value.pointer % 16 == 0 ? ":16" : "";
  if (!jit_is_integer(arg) || arg->type == TILE_I1)
    return "";
  return arg->value.integer == 1 ? ":1" : (uint64_t)arg->value.integer % 16 == 0 ? ":16" : "";
}

// "tensordesc[f16,64x32]:16": all sizes are divisible by 16. Blocks that the kernel names are 0.
static void put_descriptor(const tile_descriptor *d, struct strbuf *out) {
  bool divisible = true;
  strbuf_printf(out, "tensordesc[%s,", dtype_name((enum dtype)d->element));
  for (unsigned i = 0; i < d->rank; i++) {
    strbuf_printf(out, "%s%u", i ? "x" : "", d->block[i]);
    divisible &= d->shape[i] % 16 == 0;
  }
  strbuf_printf(out, "]%s%s", d->pads_nan ? ":pad(nan)" : "", divisible ? ":16" : "");
}

const char *tune_types_of(struct arena *a, const tile_arg *args, size_t count) {
  struct strbuf b = {.arena = a};
  for (size_t i = 0; i < count; i++) {
    strbuf_puts(&b, i ? "," : "");
    if (arg_is_none(&args[i]))
      strbuf_puts(&b, "None");
    else if (arg_is_descriptor(&args[i]))
      put_descriptor(args[i].value.descriptor, &b);
    else
      strbuf_printf(&b, "%s%s%s", args[i].is_pointer ? "*" : "",
                    dtype_name((enum dtype)args[i].type), hint_of(&args[i]));
  }
  const char *text = arena_strdup(a, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

// ---- settings ----

// Integers have a canonical spelling.
const char *tune_setting_text(struct arena *a, const char *value) {
  int64_t n;
  return str_to_i64(str_from(value), &n) ? arena_printf(a, "%lld", (long long)n)
                                         : arena_strdup(a, value);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct tune_setting *)a)->name, ((const struct tune_setting *)b)->name);
}

void tune_settings_sort(struct tune_setting *s, size_t count) {
  if (count)
    qsort(s, count, sizeof *s, by_name);
}

const char *tune_setting_find(const struct tune_setting *s, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(s[i].name, name) == 0)
      return s[i].value;
  return NULL;
}

static void add_number(struct arena *a, const char *name, uint32_t number, struct tune_key *k) {
  if (number)
    k->fixed[k->fixed_count++] =
        (struct tune_setting){name, arena_printf(a, "%u", (unsigned)number)};
}

static void take_fixed(struct arena *a, const struct tune_problem *p, struct tune_key *k) {
  k->fixed = arena_array(a, struct tune_setting, p->fixed_count + 5);
  for (size_t i = 0; i < p->fixed_count; i++)
    if (p->fixed[i].kind == BIND_CONSTANT)
      k->fixed[k->fixed_count++] = (struct tune_setting){arena_strdup(a, p->fixed[i].name),
                                                         tune_setting_text(a, p->fixed[i].text)};
  add_number(a, "num_warps", p->num_warps, k);
  add_number(a, "num_stages", p->num_stages, k);
  add_number(a, "max_registers", p->max_registers, k);
  add_number(a, "num_ctas", p->num_ctas, k);
  if (p->warp_specialize)
    k->fixed[k->fixed_count++] =
        (struct tune_setting){"warp_specialize", warp_specialize_name(p->warp_specialize)};
  tune_settings_sort(k->fixed, k->fixed_count);
}

// ---- the numbers ----

static int by_value_name(const void *a, const void *b) {
  return strcmp(((const struct tune_key_value *)a)->name, ((const struct tune_key_value *)b)->name);
}

static bool is_wanted(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; names && i < count; i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return !names;
}

static void take_values(struct arena *a, const struct tune_problem *p, const char *const *names,
                        size_t name_count, struct tune_key *k) {
  k->values = arena_array(a, struct tune_key_value, p->arg_count + 1);
  for (size_t i = 0; i < p->arg_count; i++)
    if (jit_is_integer(&p->args[i]) && is_wanted(p->arg_names[i], names, name_count))
      k->values[k->value_count++] =
          (struct tune_key_value){arena_strdup(a, p->arg_names[i]), p->args[i].value.integer};
  if (k->value_count)
    qsort(k->values, k->value_count, sizeof *k->values, by_value_name);
}

// ---- all of it ----

tile_status tune_key_of(struct arena *a, const struct tune_problem *p,
                        const tile_device_properties *device, const char *const *key_names,
                        size_t key_name_count, struct tune_key *ret) {
  if (p->text.len > SOURCE_MAX_BYTES)
    return status_set(TILE_LIMIT, "the source has %zu bytes; the limit is %u", p->text.len,
                      SOURCE_MAX_BYTES);
  struct diag_engine *diag = diag_engine_create(a);
  const struct source *source = source_create(a, p->file ? p->file : "kernel.tile", p->text);
  struct lang_unit *u = lang_unit_read(a, diag, source);
  struct lang_imports imports = {.folders = p->folders, .folder_count = p->folder_count};
  if (u)
    lang_unit_resolve(u, &(struct lang_outer){p->target ? p->target : device->target, &imports,
                                              p->fixed, p->fixed_count});
  struct lang_param *params;
  size_t count;
  struct tune_key k = {0};
  if (!u || diag_error_count(diag) ||
      !lang_kernel_params(a, diag, u, p->kernel, &k.kernel, &params, &count))
    return status_set(jit_diag_status(diag), "%s", diag_first_error(diag));
  k.kernel = arena_strdup(a, k.kernel);
  k.device = arena_strdup(a, device->name);
  k.target = arena_strdup(a, p->target ? p->target : device->target);
  k.types = tune_types_of(a, p->args, p->arg_count);
  take_fixed(a, p, &k);
  take_values(a, p, key_names, key_name_count, &k);
  tune_hash_of(a, u, p->folders, p->folder_count, !p->file, k.hash);
  *ret = k;
  return TILE_OK;
}

const char *tune_file_path(struct arena *a, const char *kernel_file) {
  const char *slash = strrchr(kernel_file, '/'), *dot = strrchr(kernel_file, '.');
  bool has_ending = dot && dot > kernel_file && (!slash || dot > slash + 1);
  size_t n = has_ending ? (size_t)(dot - kernel_file) : strlen(kernel_file);
  return arena_printf(a, "%.*s.tune.json", (int)n, kernel_file);
}
