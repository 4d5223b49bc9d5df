// SPDX-License-Identifier: Apache-2.0
// Compiles every kernel of a file to `tilegpu` IR and keeps the layouts of its tiles.
#include "lowering/llvm/emit.h"
#include "tools/layout/layout_values.h"
#include "tools/lsp/analysis.h"
#include "tools/lsp/assume.h"

struct search {
  struct arena *arena;
  const char *path;
  struct str text;
  const struct analysis_settings *settings;
  struct analysis_check check;
  struct layouts *made;
  bool stopped;
};

static void take(struct search *s, const struct layout_survey *survey) {
  struct arena *a = s->arena;
  for (size_t i = 0; i < survey->values.len; i++) {
    const struct layout_value *v = survey->values.at[i];
    struct str encoding = v->encoding;
    if (str_starts(encoding, "#tilegpu."))
      encoding = (struct str){encoding.ptr + 9, encoding.len - 9};
    vec_push(a, &s->made->facts,
             (struct layout_fact){.begin = v->at.begin,
                                  .end = v->at.end,
                                  .type = arena_strndup(a, v->type_text.ptr, v->type_text.len),
                                  .encoding = arena_strndup(a, encoding.ptr, encoding.len),
                                  .registers = register_count(&v->layout),
                                  .vector = v->vector,
                                  .element_bits = v->element_bits});
  }
}

static void find_in_kernel(struct search *s, const struct source *source, struct lang_unit *unit,
                           const char *kernel) {
  struct arena *scratch = arena_create_nested(s->arena);
  struct diag_engine *ignored = diag_engine_create(scratch);
  struct assumptions assumed;
  struct layout_survey survey = {.arena = scratch, .source = source, .target = s->settings->target};
  if (assume_bindings(scratch, ignored, unit, kernel, &assumed)) {
    struct compile_request r = {.source = source,
                                .kernel = kernel,
                                .bindings = assumed.bindings,
                                .binding_count = assumed.count,
                                .target = s->settings->target,
                                .num_warps = assumed.num_warps,
                                .num_stages = assumed.num_stages,
                                .emit = EMIT_TILEGPU,
                                .folders = s->settings->folders,
                                .folder_count = s->settings->folder_count,
                                .no_text = true,
                                .is_complete = true, // decorators were consulted
                                .inspect = layout_survey_module,
                                .inspect_user = &survey};
    struct compile_result result = {0};
    compile_kernel(scratch, ignored, &r, &result); // after an error there are no values
    take(s, &survey);
  }
  arena_destroy(scratch);
}

static void find(void *user) {
  struct search *s = user;
  struct arena *a = s->arena;
  s->made = arena_new(a, struct layouts);
  s->made->arena = a;
  struct diag_engine *ignored = diag_engine_create(a);
  const struct source *source = source_create(a, s->path, s->text);
  struct lang_unit *unit = lang_unit_read(a, ignored, source);
  if (!unit || diag_error_count(ignored) > 0)
    return;
  struct lang_imports *imports = arena_new(a, struct lang_imports);
  imports->folders = s->settings->folders;
  imports->folder_count = s->settings->folder_count;
  struct lang_outer outer = {.target = s->settings->target->name, .imports = imports};
  lang_unit_resolve(unit, &outer);
  const char *const *names;
  size_t count = lang_kernels(unit, &names);
  for (size_t i = 0; i < count; i++) {
    if (!s->check.goes_on(s->check.user)) {
      s->stopped = true;
      return;
    }
    find_in_kernel(s, source, unit, names[i]);
  }
}

struct layouts *layouts_run(const char *path, struct str text, const struct analysis_settings *s,
                            struct analysis_check check) {
  struct search search = {arena_create(), path, text, s, check, NULL, false};
  if (search.arena && arena_guard(search.arena, find, &search) && !search.stopped)
    return search.made;
  arena_destroy(search.arena);
  return NULL;
}

void layouts_destroy(struct layouts *l) {
  if (l)
    arena_destroy(l->arena);
}
