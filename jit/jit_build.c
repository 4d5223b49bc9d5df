// SPDX-License-Identifier: Apache-2.0
// Builds a specialisation: from the disk cache, else by the compiler. In both cases the kernel's
// description passes through its JSON form, so that both give the same.
#include "base/clock.h"
#include "base/debug.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/trace.h"
#include "jit/jit_kernel.h"
#include "jit/worker/pool.h"

#include <stdlib.h>
#include <string.h>

#define KEY_FORMAT "tile kernel 3" // to be changed with anything that the key below does not cover

// ---- the key on disk ----

static void field_text(struct sha256 *h, const char *text) {
  sha256_field(h, text ? text : "", text ? strlen(text) : 0);
}

static void field_number(struct sha256 *h, uint32_t number) {
  uint8_t bytes[4] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16),
                      (uint8_t)(number >> 24)};
  sha256_field(h, bytes, sizeof bytes);
}

static void field_block(struct sha256 *h, const struct lang_binding *b) {
  field_number(h, b->block.rank);
  field_number(h, b->block.pads_nan);
  for (unsigned i = 0; i < LANG_BLOCK_RANK; i++) {
    field_number(h, b->block.shape[i]);
    field_number(h, b->sizes_divisible_by[i]);
  }
}

static void disk_key(struct arena *a, const tile_kernel *k, const struct compile_request *r,
                     uint8_t key[32]) {
  struct sha256 h;
  sha256_init(&h);
  field_text(&h, KEY_FORMAT);
  field_text(&h, compiler_version());
  field_text(&h, r->target->name);
  if (r->target->is_cpu) { // code is specific to this processor
    const char *processor = orc_cpu_description(a);
    field_text(&h, processor);
    field_number(&h, debug_on(DEBUG_GDB));
  }
  field_text(&h, k->source->name); // appears in line information and messages
  sha256_field(&h, k->source->text.ptr, k->source->text.len);
  field_text(&h, k->name);
  field_number(&h, (uint32_t)r->binding_count);
  for (size_t i = 0; i < r->binding_count; i++) {
    const struct lang_binding *b = &r->bindings[i];
    field_text(&h, b->name);
    field_number(&h, b->kind);
    field_number(&h, b->dtype);
    field_number(&h, b->divisible_by);
    field_number(&h, b->is_unaligned);
    field_number(&h, b->is_one);
    field_text(&h, b->text);
    if (b->kind == BIND_DESCRIPTOR)
      field_block(&h, b);
  }
  field_number(&h, r->num_warps);
  field_number(&h, r->num_stages);
  field_number(&h, r->max_registers);
  field_number(&h, r->num_ctas);
  field_number(&h, r->warp_specialize);
  field_number(&h, r->launch_pdl);
  field_number(&h, r->check);
  field_number(&h, r->debug);
  field_number(&h, r->is_detached);
  for (size_t i = 0; i < r->folder_count; i++)
    field_text(&h, r->folders[i]);
  sha256_final(&h, key);
}

// ---- imported files ----

// The files that a kernel imports are stored beside its code (jit/worker/message.c: write_entry).

static bool is_unchanged(struct arena *a, const struct json *file) {
  if (file->kind != JSON_ARRAY || file->count != 2 || file->items[0]->kind != JSON_STRING ||
      file->items[1]->kind != JSON_STRING)
    return false;
  struct str path = file->items[0]->string, text;
  char digest[65] = "";
  if (file_read(a, arena_strndup(a, path.ptr, path.len), SOURCE_MAX_BYTES, &text) == 0) {
    struct sha256 h;
    uint8_t bytes[32];
    sha256_init(&h);
    sha256_update(&h, text.ptr, text.len);
    sha256_final(&h, bytes);
    sha256_hex(bytes, digest);
  }
  return str_is(file->items[1]->string, digest);
}

struct imported_files {
  struct arena *arena;
  const struct json *files;
  bool is_unchanged;
};

static void check_files(void *user) {
  struct imported_files *p = user;
  p->is_unchanged = true;
  for (size_t i = 0; p->is_unchanged && i < p->files->count; i++) {
    struct arena_mark mark = arena_mark(p->arena);
    p->is_unchanged = is_unchanged(p->arena, p->files->items[i]);
    arena_release(p->arena, mark);
  }
}

// Without memory to check them they count as changed, and the kernel is compiled again.
static bool files_unchanged(const struct json *entry) {
  struct imported_files p = {.files = json_get(entry, "files")};
  p.arena = p.files && p.files->kind == JSON_ARRAY ? arena_create() : NULL;
  bool ok = p.arena && arena_guard(p.arena, check_files, &p) && p.is_unchanged;
  arena_destroy(p.arena);
  return ok;
}

// ---- filling a specialisation ----

// Maps run-time parameters to arguments, by name. False when a name is unknown.
static bool map_params(const tile_kernel *k, struct jit_spec *spec) {
  size_t count;
  const char **names = jit_flat_names(k, spec->key, spec->arena, &count);
  spec->arg_of_param = arena_array(spec->arena, uint16_t, spec->info.param_count + 1);
  for (uint32_t p = 0; p < spec->info.param_count; p++) {
    size_t i = 0;
    while (i < count && strcmp(names[i], spec->info.params[p].name) != 0)
      i++;
    if (i == count)
      return false;
    spec->arg_of_param[p] = (uint16_t)i;
  }
  return true;
}

// `code` is copied to the specialisation's arena.
static bool fill(const tile_kernel *k, struct jit_spec *spec, const struct json *entry,
                 struct str code) {
  const struct json *info = entry ? json_get(entry, "kernel") : NULL;
  if (!info || !kernel_info_read(spec->arena, info, &spec->info) || !map_params(k, spec))
    return false;
  char *copy = arena_strndup(spec->arena, code.ptr, code.len);
  spec->code = (struct str){copy, code.len};
  return true;
}

static struct compile_request request_for(const tile_kernel *k, const struct jit_spec *spec,
                                          struct arena *a) {
  const struct config *c = spec->config;
  struct compile_request r = {
      .source = k->source,
      .unit = jit_unit(k, c),
      .kernel = k->name,
      .target = c->target,
      .num_warps = c->num_warps,
      .num_stages = c->num_stages,
      .max_registers = c->max_registers,
      .num_ctas = c->num_ctas,
      .warp_specialize = c->warp_specialize,
      .launch_pdl = c->launch_pdl,
      .emit = c->target->is_cpu ? EMIT_OBJECT : EMIT_PTX,
      .check = c->check && c->target->is_cpu, // the simulator checks unmodified PTX
      .debug = c->check,
      .folders = c->folders,
      .folder_count = c->folder_count,
      .is_detached = k->is_detached,
      .is_complete = true,
  };
  r.bindings = jit_bindings(k, c, spec->key, a, &r.binding_count);
  if (k->passes) {
    r.passes = *k->passes;
    r.static_print = r.passes.log;
  }
  return r;
}

// In a worker if the device has a pool, else in this process; always in this process if passes are
// printed.
static tile_status compile_job(tile_kernel *k, const struct jit_job *q, struct arena *a,
                               const struct jit_report *report, struct jit_reply *ret) {
  struct arena *arena = report ? report->arena : a;
  struct diag_engine *diag = report ? report->diag : diag_engine_create(a);
  struct compile_pool *pool = k->passes ? NULL : compile_pool_of(k->device);
  tile_status s = TILE_OK;
  if (pool)
    s = compile_pool_run(pool, arena, diag, q, k->at, ret);
  else
    jit_reply_make(arena, diag, q, ret);
  return diag_error_count(diag) ? jit_diag_failure(diag, report != NULL) : s;
}

static tile_status compile(tile_kernel *k, struct jit_spec *spec,
                           const struct compile_request *request, struct arena *a,
                           const struct jit_report *report, const uint8_t *key) {
  struct jit_job q = {.request = *request};
  struct jit_reply made;
  tile_status s = compile_job(k, &q, a, report, &made);
  if (s != TILE_OK)
    return s;
  struct json_error where;
  spec->timing.compile = made.timing;
  if (!fill(k, spec, json_parse(spec->arena, made.entry, &where), made.code))
    return status_set(TILE_INTERNAL, "the compiler's description of kernel `%s` is malformed",
                      k->name);
  if (key)
    disk_cache_put(k->cache, key, made.entry, made.code);
  return TILE_OK;
}

tile_status jit_not_kept(const tile_kernel *k) {
  return status_set(TILE_NOT_FOUND, "kernel `%s` is not in the disk cache", k->name);
}

static tile_status build(tile_kernel *k, struct jit_spec *spec, struct arena *a,
                         const struct jit_report *report) {
  struct compile_request request = request_for(k, spec, a);
  if (!k->cache || k->passes)
    return k->is_kept_only ? jit_not_kept(k) : compile(k, spec, &request, a, report, NULL);
  uint8_t key[32];
  struct str info, code;
  disk_key(a, k, &request, key);
  if (disk_cache_get(k->cache, a, key, &info, &code)) {
    struct json_error where;
    const struct json *entry = json_parse(spec->arena, info, &where);
    if (entry && files_unchanged(entry) && fill(k, spec, entry, code)) {
      spec->timing.from_disk = true;
      return TILE_OK;
    }
  }
  return k->is_kept_only ? jit_not_kept(k) : compile(k, spec, &request, a, report, key);
}

// ---- costs ----

tile_status jit_cost(tile_kernel *k, const tile_arg *args, size_t arg_count,
                     const struct jit_cost_job *cost, const struct jit_report *report,
                     struct kernel_cost *ret) {
  struct jit_key key;
  tile_status s = jit_key_make(k, args, arg_count, &key);
  struct config *config;
  if (s == TILE_OK)
    s = jit_config(k, args, arg_count, report, &config);
  struct arena *a = s == TILE_OK ? arena_create() : NULL;
  jmp_buf out_of_memory;
  if (s != TILE_OK)
    return s;
  if (!a || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory looking at kernel `%s`", k->name);
  } else {
    arena_set_oom(a, &out_of_memory);
    struct jit_spec spec = {.config = config, .key = key.bytes};
    struct jit_job q = {.request = request_for(k, &spec, a), .cost = cost};
    struct jit_reply made;
    s = compile_job(k, &q, a, report, &made);
    if (s == TILE_OK)
      *ret = made.cost;
  }
  arena_destroy(a);
  return s;
}

tile_status jit_build(tile_kernel *k, struct jit_spec *spec, const struct jit_report *report) {
  double start = clock_ms();
  const struct trace_slice slice = trace_begin(TRACE_LOAD, k->name);
  struct arena *a = arena_create();
  jmp_buf out_of_memory;
  tile_status s;
  if (!a || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory compiling kernel `%s`", k->name);
  } else {
    arena_set_oom(a, &out_of_memory);
    arena_set_oom(spec->arena, &out_of_memory);
    s = build(k, spec, a, report);
  }
  arena_set_oom(spec->arena, NULL);
  arena_destroy(a);
  trace_end(&slice, &(struct trace_detail){.file = k->source->name,
                                           .line = source_line_col(k->source, k->at.begin).line,
                                           .target = spec->config->target->name});
  spec->timing.find_ms = clock_ms() - start;
  debug_log(DEBUG_LAUNCH, "`%s` for %s: %s in %.1f ms", k->name, spec->config->target->name,
            s != TILE_OK             ? "failed"
            : spec->timing.from_disk ? "found on disk"
                                     : "compiled",
            spec->timing.find_ms);
  return s;
}
