// SPDX-License-Identifier: Apache-2.0
// `tilec --tunings show|diff|merge|export FILE...`: the contents of FILE.tune.json. A kernel's FILE
// means the tuning file beside it.
#include "base/file.h"
#include "tools/tuning/tunings.h"

enum action { SHOW, DIFF, MERGE, EXPORT };
static const char *const verbs[] = {"show", "diff", "merge", "export"};

// ---- stale entries ----

// The kernel's source beside a file of tunings, or NULL.
static const char *kernel_of(struct tool *t, const char *path) {
  static const char *const endings[] = {".tile", ".py"};
  struct str stem = str_from(path);
  if (!str_ends(stem, ".tune.json"))
    return NULL;
  stem.len -= strlen(".tune.json");
  for (size_t i = 0; i < COUNT_OF(endings); i++) {
    const char *source = arena_printf(t->arena, "%.*s%s", STR_ARG(stem), endings[i]);
    if (file_exists(source))
      return source;
  }
  return NULL;
}

// Kernels of graphs have no file.
static bool is_of_graph(struct tool *t, const struct lang_unit *u, const char *path,
                        const char *kernel) {
  struct diag_engine *silent = diag_engine_create(t->arena);
  struct lang_param *params;
  size_t count;
  const char *name;
  return str_ends(str_from(path), ".py") &&
         !lang_kernel_params(t->arena, silent, u, kernel, &name, &params, &count);
}

// Which entries are stale: for another text of the kernel; NULL: there is no kernel to compare
// with.
static bool *find_stale(struct tool *t, const char *path, const struct tune_file *f) {
  const char *source_path = kernel_of(t, path);
  struct diag_engine *silent = diag_engine_create(t->arena);
  struct str text;
  uint8_t hash[32];
  if (!source_path || file_read(t->arena, source_path, SOURCE_MAX_BYTES, &text) != 0)
    return NULL;
  const struct lang_unit *u =
      lang_unit_read(t->arena, silent, source_create(t->arena, source_path, text));
  if (!u)
    return NULL;
  tune_hash_of(t->arena, u, t->o.folders.at, t->o.folders.len, false, hash);
  bool *stale = arena_array(t->arena, bool, f->count + 1);
  for (size_t i = 0; i < f->count; i++)
    stale[i] = memcmp(f->entries[i].key.hash, hash, sizeof hash) != 0 &&
               !is_of_graph(t, u, source_path, f->entries[i].key.kernel);
  return stale;
}

// ---- the verbs ----

static int show(struct tool *t, const char *const *paths, size_t count, struct strbuf *out) {
  struct tune_file all = {0};
  for (size_t i = 0; i < count; i++) {
    struct tune_file f;
    if (!tune_file_read(t->arena, t->diag, paths[i], &f))
      return tool_error_status(t);
    if (t->o.json) {
      tune_file_join(t->arena, &all, &f);
      continue;
    }
    strbuf_printf(out, "%s%s: %zu entr%s\n", i ? "\n" : "", paths[i], f.count,
                  f.count == 1 ? "y" : "ies");
    tune_file_show(&f, find_stale(t, paths[i], &f), out);
  }
  if (t->o.json)
    tune_file_print(&all, out);
  return EXIT_DONE;
}

static int diff(struct tool *t, const char *const *paths, struct strbuf *out) {
  struct tune_file before, after;
  if (!tune_file_read(t->arena, t->diag, paths[0], &before) ||
      !tune_file_read(t->arena, t->diag, paths[1], &after))
    return tool_error_status(t);
  bool differ = (t->o.json ? tune_file_diff_json : tune_file_diff)(&before, &after, out);
  return differ ? EXIT_WRONG : EXIT_DONE;
}

static int merge(struct tool *t, const char *const *paths, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (!tune_file_merge(t->arena, t->diag, paths[0], paths[i]))
      return diag_first_error_code(t->diag) == E0711 ? EXIT_CANNOT_WRITE : tool_error_status(t);
  return EXIT_DONE;
}

static int export(struct tool *t, const char *const *paths, size_t count, struct strbuf *out) {
  struct tune_file all = {0};
  for (size_t i = 0; i < count; i++) {
    struct tune_file f;
    if (!tune_file_read(t->arena, t->diag, paths[i], &f))
      return tool_error_status(t);
    tune_file_join(t->arena, &all, &f);
  }
  tune_export_file_t4(t->arena, &all, out);
  return EXIT_DONE;
}

// ---- the command ----

static int usage(struct tool *t, struct span where, const char *what) {
  diag_help(diag_error(t->diag, where, E0703, "%s", what),
            "`--tunings show FILE...`, `diff OLD NEW`, `merge INTO FROM...` or `export FILE...`; a "
            "FILE is a kernel or a `.tune.json`");
  return EXIT_USAGE;
}

static int find_verb(struct tool *t, enum action *ret) {
  for (size_t i = 0; i < COUNT_OF(verbs); i++)
    if (strcmp(t->o.mode_argument, verbs[i]) == 0) {
      *ret = (enum action)i;
      return EXIT_DONE;
    }
  struct diag *d = diag_error(t->diag, t->o.mode_at, E0702, "unknown value `%s` of `--tunings`",
                              t->o.mode_argument);
  const char *near = str_nearest(str_from(t->o.mode_argument), verbs, COUNT_OF(verbs));
  if (near)
    diag_did_you_mean(d, t->o.mode_at, near);
  else
    diag_help(d, "one of `show`, `diff`, `merge`, `export`");
  return EXIT_USAGE;
}

// The paths of the files; each must exist, except the target of a merge.
static int find_files(struct tool *t, enum action verb, const char **paths) {
  for (size_t i = 0; i < t->o.files.len; i++) {
    const struct word *w = &t->o.files.at[i];
    const char *name = arena_strndup(t->arena, w->value.ptr, w->value.len);
    paths[i] = str_ends(w->value, ".json") ? name : tune_file_path(t->arena, name);
    if (!file_exists(paths[i]) && !(verb == MERGE && i == 0)) {
      diag_error(t->diag, w->where, E0710, "no such file: `%s`", paths[i]);
      return EXIT_WRONG;
    }
  }
  return EXIT_DONE;
}

int mode_tunings(struct tool *t) {
  enum action verb = SHOW;
  size_t count = t->o.files.len;
  int status = find_verb(t, &verb);
  if (status != EXIT_DONE)
    return status;
  if (verb == DIFF ? count != 2 : count < (verb == MERGE ? 2u : 1u))
    return usage(t, t->o.mode_at,
                 verb == DIFF    ? "`--tunings diff` takes two files"
                 : verb == MERGE ? "`--tunings merge` takes at least two files"
                                 : "no file of tunings");
  const char **paths = arena_array(t->arena, const char *, count);
  struct strbuf out = {.arena = t->arena};
  status = find_files(t, verb, paths);
  if (status == EXIT_DONE)
    status = verb == SHOW    ? show(t, paths, count, &out)
             : verb == DIFF  ? diff(t, paths, &out)
             : verb == MERGE ? merge(t, paths, count)
                             : export(t, paths, count, &out);
  if (out.len) {
    int write_status = tool_write(t, strbuf_cstr(&out), out.len);
    status = status == EXIT_DONE ? write_status : status;
  }
  strbuf_finish(&out);
  return status;
}
