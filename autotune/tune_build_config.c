// SPDX-License-Identifier: Apache-2.0
// Opens a kernel with the configuration's constants and settings, and either estimates its cost
// after the last pass or compiles it, through the disk cache.
#include "autotune/tune_build_config.h"

#include "base/clock.h"
#include "base/sha256.h"
#include "jit/grid_expr.h"
#include "jit/jit_kernel.h"

#include <string.h>

struct build {
  struct arena *a;
  const struct build_request *r;
  struct tune_built *ret;
  const char *failed; // the reason; NULL: no failure
  bool is_limit;
};

// ---- reasons ----

// Compile messages are rendered diagnostics, including warnings: finds the first line of an error.
static bool fail(struct build *b, const char *text) {
  const char *line = strstr(text, ": error: ");
  while (line && line > text && line[-1] != '\n')
    line--;
  line = line ? line : text;
  size_t n = strcspn(line, "\n");
  b->failed = n ? arena_strndup(b->a, line, n) : "failed without a message";
  return false;
}

static bool done(struct build *b, tile_status s) {
  b->is_limit = s == TILE_LIMIT;
  b->ret->is_out_of_memory |= s == TILE_OUT_OF_MEMORY;
  return s == TILE_OK || fail(b, tile_error_message());
}

// ---- settings ----

static bool set_constants(struct build *b, tile_kernel *k) {
  const struct tune_problem *p = b->r->problem;
  const struct tune_space *s = b->r->space;
  const struct tune_config *at = &s->configs[b->r->config];
  for (size_t i = 0; i < p->fixed_count; i++)
    if (!done(b, tile_kernel_set_constant(k, p->fixed[i].name, p->fixed[i].text)))
      return false;
  for (size_t d = 0; d < s->dim_count; d++)
    if (s->dims[d].kind == TUNE_CONSTANT &&
        !done(b, tile_kernel_set_constant(k, s->dims[d].name, s->dims[d].values[at->at[d]])))
      return false;
  return true;
}

static uint32_t first_of(uint32_t chosen, uint32_t given) { return chosen ? chosen : given; }

static bool set_options(struct build *b, tile_kernel *k) {
  const struct tune_problem *p = b->r->problem;
  const struct tune_space *s = b->r->space;
  uint32_t warps = first_of(tune_config_warps(s, b->r->config), p->num_warps);
  uint32_t stages = first_of(tune_config_stages(s, b->r->config), p->num_stages);
  uint32_t registers = first_of(tune_config_registers(s, b->r->config), p->max_registers);
  uint32_t ctas = first_of(tune_config_ctas(s, b->r->config), p->num_ctas);
  enum warp_specialize chosen = tune_config_specialize(s, b->r->config);
  enum warp_specialize specialize = chosen ? chosen : p->warp_specialize;
  for (size_t i = 0; i < p->folder_count; i++)
    if (!done(b, tile_kernel_add_folder(k, p->folders[i])))
      return false;
  return (!warps || done(b, tile_kernel_set_warps(k, warps))) &&
         (!stages || done(b, tile_kernel_set_stages(k, stages))) &&
         (!registers || done(b, tile_kernel_set_max_registers(k, registers))) &&
         (!ctas || done(b, tile_kernel_set_num_ctas(k, ctas))) &&
         (!specialize ||
          done(b, tile_kernel_set_warp_specialize(k, warp_specialize_name(specialize)))) &&
         (!p->target || done(b, tile_kernel_set_target(k, p->target)));
}

// ---- the grid ----

static void add_name(struct grid_names *n, const char *name, const char *text) {
  if (text)
    grid_names_add_text(n, name, str_from(text));
}

// The constants that @heuristics computes for this configuration. False with diagnostics.
static bool add_heuristics(struct build *b, struct diag_engine *diag, const tile_kernel *k,
                           struct grid_names *n) {
  const struct tune_problem *p = b->r->problem;
  const struct config *c = atomic_load(&k->config);
  struct lang_setting *constants = arena_array(b->a, struct lang_setting, k->declared_count + 1);
  struct lang_setting *computed;
  size_t count = 0, computed_count;
  for (size_t i = 0; i < k->declared_count; i++) {
    const struct lang_param *param = &k->declared[i];
    const char *text = c->constants[i] ? c->constants[i] : param->default_text;
    if (param->is_constexpr && text)
      constants[count++] = (struct lang_setting){param->name, text};
  }
  if (!tune_problem_heuristics(b->a, diag, p, b->r->target->name, constants, count, &computed,
                               &computed_count))
    return false;
  for (size_t i = 0; i < computed_count; i++)
    add_name(n, computed[i].name, computed[i].text);
  return true;
}

// False with diagnostics.
static bool names_of(struct build *b, struct diag_engine *diag, const tile_kernel *k,
                     struct grid_names *n) {
  const struct tune_problem *p = b->r->problem;
  const struct tune_space *s = b->r->space;
  size_t declared;
  const struct lang_param *params = jit_kernel_declared(k, &declared);
  size_t integer_count;
  const struct cost_argument *integers = tune_problem_integers(b->a, p, &integer_count);
  size_t most = s->dim_count + p->fixed_count + integer_count + 2 * declared;
  *n = grid_names_make(b->a, most);
  for (size_t d = 0; d < s->dim_count; d++)
    add_name(n, s->dims[d].name, s->dims[d].values[s->configs[b->r->config].at[d]]);
  for (size_t i = 0; i < p->fixed_count; i++)
    add_name(n, p->fixed[i].name, p->fixed[i].text);
  for (size_t i = 0; i < integer_count; i++)
    grid_names_add(n, integers[i].name, integers[i].value);
  if (k->has_heuristics && !add_heuristics(b, diag, k, n))
    return false;
  for (size_t i = 0; i < declared; i++)
    if (params[i].is_constexpr)
      add_name(n, params[i].name, params[i].default_text);
  return true;
}

static bool evaluate_grid(struct build *b, const tile_kernel *k) {
  const char *text = b->r->problem->grid;
  struct diag_engine *diag = diag_engine_create(b->a);
  const struct source *source = source_create(b->a, "grid", str_from(text));
  struct grid_names names;
  if (!names_of(b, diag, k, &names))
    return fail(b, diag_first_error(diag));
  uint32_t grid[3];
  struct span where = {.source = source, .begin = 0, .end = (uint32_t)strlen(text)};
  if (!grid_expr_eval(diag, where, &names, grid))
    return fail(b, diag_first_error(diag));
  b->ret->grid = (tile_grid){grid[0], grid[1], grid[2]};
  return true;
}

static bool ask_for_grid(struct build *b) {
  const struct tune_problem *p = b->r->problem;
  pthread_mutex_lock(b->r->grid_lock);
  bool ok = p->grid_of(p->grid_user, b->r->space, b->r->config, &b->ret->grid);
  pthread_mutex_unlock(b->r->grid_lock);
  return ok || fail(b, "the launch has no grid for this configuration");
}

static bool find_grid(struct build *b, const tile_kernel *k) {
  const struct tune_problem *p = b->r->problem;
  if (p->grid_of)
    return ask_for_grid(b);
  b->ret->grid = (tile_grid){1, 1, 1};
  return !p->grid || evaluate_grid(b, k);
}

// ---- analysing ----

static bool analyse(struct build *b, tile_kernel *k) {
  const struct tune_problem *p = b->r->problem;
  tile_grid g = b->ret->grid;
  struct jit_cost_job q = {.grid = {g.x, g.y, g.z}};
  q.args = tune_problem_integers(b->a, p, &q.arg_count);
  return done(b, jit_cost(k, p->args, p->arg_count, &q, NULL, &b->ret->cost));
}

// ---- compiling ----

// Hashes everything that a launch depends on: code, threads, shared memory, grid, tensor maps.
static void hash(struct arena *a, const struct tune_built *t, uint8_t digest[32]) {
  uint32_t numbers[] = {kernel_info_threads(&t->info), t->info.shared_bytes, t->grid.x, t->grid.y,
                        t->grid.z};
  const char *maps = kernel_maps_text(a, &t->info);
  struct sha256 h;
  sha256_init(&h);
  sha256_field(&h, t->code.ptr, t->code.len);
  sha256_field(&h, numbers, sizeof numbers);
  sha256_field(&h, maps ? maps : "", maps ? strlen(maps) : 0);
  sha256_final(&h, digest);
}

// The size of the PTX's variables in local memory: `.local .align 8 .b8 __local_depot0[48];`, one
// per function.
static uint32_t local_bytes_of(struct str ptx) {
  uint64_t sum = 0;
  while (ptx.len) {
    struct str line, name;
    ptx = str_split(ptx, '\n', &line);
    line = str_trim(line);
    if (!str_starts(line, ".local ") || !str_ends(line, "];"))
      continue;
    struct str size = str_split(line, '[', &name);
    uint64_t bytes;
    if (size.len > 2 && str_to_u64((struct str){size.ptr, size.len - 2}, &bytes))
      sum += bytes;
  }
  return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

static bool compile(struct build *b, tile_kernel *k) {
  const struct tune_problem *p = b->r->problem;
  struct jit_spec *spec = NULL;
  if (!done(b, jit_specialise(k, p->args, p->arg_count, NULL, &spec)))
    return false;
  b->ret->info = *jit_spec_info(spec);
  b->ret->code = jit_spec_code(spec);
  b->ret->local_bytes = local_bytes_of(b->ret->code);
  b->ret->from_disk = jit_spec_timing(spec).from_disk;
  hash(b->a, b->ret, b->ret->hash);
  return true;
}

// ---- both ----

static void build(struct build *b, tile_kernel **ret_kernel) {
  const struct tune_problem *p = b->r->problem;
  bool ok = done(b, jit_kernel_open(b->r->device, p->file, p->text, p->kernel, NULL, ret_kernel));
  tile_kernel *k = *ret_kernel;
  ok = ok && done(b, jit_kernel_flatten(k, p->arg_names, p->arg_count));
  ok = ok && set_constants(b, k) && set_options(b, k) && find_grid(b, k);
  if (ok)
    ok = b->r->stage == TUNE_ANALYSED ? analyse(b, k) : compile(b, k);
  if (k)
    jit_kernel_set_disk_cache(k, false); // frees file handles; the kernel stays open
  b->ret->ok = ok;
}

void build_config(struct arena *a, const struct build_request *r, struct tune_built *ret,
                  tile_kernel **ret_kernel) {
  double start = clock_ms();
  struct build b = {.a = a, .r = r, .ret = ret};
  jmp_buf out_of_memory;
  *ret = (struct tune_built){.config = r->config};
  *ret_kernel = NULL;
  if (setjmp(out_of_memory)) {
    ret->ok = false;
    ret->is_out_of_memory = true;
    ret->reason = "out of memory";
  } else {
    arena_set_oom(a, &out_of_memory);
    build(&b, ret_kernel);
    ret->reason = b.failed;
    ret->is_limit = b.is_limit;
  }
  arena_set_oom(a, NULL);
  if (*ret_kernel && (!ret->ok || r->stage == TUNE_ANALYSED)) {
    tile_kernel_close(*ret_kernel);
    *ret_kernel = NULL;
  }
  ret->ms = clock_ms() - start;
}
