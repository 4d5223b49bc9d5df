// SPDX-License-Identifier: Apache-2.0
// Emits every kernel of a file and keeps what the observer hears of its values.
#include "tools/lsp/analysis.h"

#include "tools/lsp/assume.h"

#include <stdlib.h>

struct run {
  struct arena *arena;
  const char *path;
  struct str text;
  const struct analysis_settings *settings;
  struct analysis_check check;
  struct analysis *made;
  bool stopped;
};

// ---- facts ----

static void note_fact(void *user, struct span at, const char *type, const char *constant) {
  struct analysis *of = user;
  // Facts of other files, and those of the same range in a second kernel, are of no use here.
  if (at.source != of->source || at.end <= at.begin)
    return;
  struct arena *a = of->arena;
  vec_push(a, &of->facts,
           (struct fact){at.begin, at.end, arena_strdup(a, type),
                         constant ? arena_strdup(a, constant) : NULL});
}

static int by_range(const void *x, const void *y) {
  const struct fact *a = x, *b = y;
  if (a->begin != b->begin)
    return a->begin < b->begin ? -1 : 1;
  return a->end < b->end ? -1 : a->end > b->end;
}

// Sorted, and one of each range.
static void order_facts(struct analysis *of) {
  size_t n = 0;
  if (of->facts.len)
    qsort(of->facts.at, of->facts.len, sizeof *of->facts.at, by_range);
  for (size_t i = 0; i < of->facts.len; i++)
    if (n == 0 || by_range(&of->facts.at[n - 1], &of->facts.at[i]) != 0)
      of->facts.at[n++] = of->facts.at[i];
  of->facts.len = n;
}

const struct fact *analysis_fact(const struct analysis *a, uint32_t begin, uint32_t end) {
  struct fact key = {.begin = begin, .end = end};
  return a->facts.len ? bsearch(&key, a->facts.at, a->facts.len, sizeof key, by_range) : NULL;
}

const struct fact *analysis_fact_around(const struct analysis *a, uint32_t offset) {
  const struct fact *best = NULL;
  for (size_t i = 0; i < a->facts.len && a->facts.at[i].begin <= offset; i++) {
    const struct fact *f = &a->facts.at[i];
    if (offset < f->end && (!best || f->end - f->begin <= best->end - best->begin))
      best = f;
  }
  return best;
}

// ---- kernels ----

// Errors that may be due to what was assumed are left out.
static bool is_certain(enum diag_code code) {
  return code == E0201 || code == E0202 || code == E0501 || code == E0311 || code == E0231 ||
         code == E0228 || code == E0111;
}

struct emission {
  struct ir_context *c;
  const struct lang_unit *unit;
  const struct lang_options *options;
};

static void emit(void *user) {
  const struct emission *e = user;
  MlirModule module = lang_emit(e->c, e->unit, e->options);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
}

static void emit_kernel(struct run *r, const char *name, struct assumptions *assumed,
                        struct diag_engine *diag) {
  struct analysis *of = r->made;
  struct diag_engine *own = diag_engine_create(of->arena); // its texts are shown later
  struct lang_imports imports = lang_unit_imports(of->arena, of->unit);
  struct lang_observer observer = {note_fact, of};
  struct lang_options o = {.kernel = name,
                           .bindings = assumed->bindings,
                           .binding_count = assumed->count,
                           .target = r->settings->target->name,
                           .num_warps = assumed->num_warps ? assumed->num_warps : 4,
                           .imports = &imports,
                           .observer = &observer};
  struct ir_context *c = ir_context_create(of->arena, own);
  if (c) {
    bool has_memory = arena_guard(of->arena, emit, &(struct emission){c, of->unit, &o});
    ir_context_destroy(c);
    if (!has_memory)
      arena_raise(of->arena);
  }
  if (assumed->text)
    diag_keep(own, is_certain);
  diag_add_all(diag, own);
}

static void analyse_kernels(struct run *r) {
  struct analysis *of = r->made;
  const char *const *names;
  size_t count = lang_kernels(of->unit, &names);
  for (size_t i = 0; i < count && !r->stopped; i++) {
    if (!r->check.goes_on(r->check.user)) {
      r->stopped = true;
      return;
    }
    struct assumptions assumed;
    struct diag_engine *diag = of->has_syntax_errors ? diag_engine_create(of->arena) : of->diag;
    if (!assume_bindings(of->arena, diag, of->unit, names[i], &assumed))
      continue;
    emit_kernel(r, names[i], &assumed, diag);
    vec_push(of->arena, &of->kernels, (struct kernel_note){names[i], assumed.text});
  }
}

// ---- files ----

// A Python file without kernels is of no concern.
static bool has_kernels(const struct run *r) {
  return str_ends(str_from(r->path), ".tile") || r->made->unit->tree->has_jit;
}

static void analyse(void *user) {
  struct run *r = user;
  struct analysis *of = arena_new(r->arena, struct analysis);
  r->made = of;
  of->arena = r->arena;
  of->source = source_create(of->arena, r->path, r->text);
  of->lines = text_lines_of(of->arena, of->source->text);
  of->diag = diag_engine_create(of->arena);
  of->unit = lang_unit_read(of->arena, of->diag, of->source);
  of->has_syntax_errors = !of->unit || diag_error_count(of->diag) > 0;
  if (of->unit && !has_kernels(r))
    of->diag = diag_engine_create(of->arena);
  else if (of->unit) {
    struct lang_imports *imports = arena_new(of->arena, struct lang_imports);
    imports->folders = r->settings->folders;
    imports->folder_count = r->settings->folder_count;
    struct lang_outer outer = {.target = r->settings->target->name, .imports = imports};
    lang_unit_resolve(of->unit, &outer);
    analyse_kernels(r);
  }
  order_facts(of);
}

struct analysis *analysis_run(const char *path, struct str text, const struct analysis_settings *s,
                              struct analysis_check check) {
  struct run r = {arena_create(), path, text, s, check, NULL, false};
  if (r.arena && arena_guard(r.arena, analyse, &r) && !r.stopped)
    return r.made;
  arena_destroy(r.arena);
  return NULL;
}

void analysis_destroy(struct analysis *a) {
  if (!a)
    return;
  layouts_destroy(a->layouts);
  arena_destroy(a->arena);
}
