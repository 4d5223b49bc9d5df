// SPDX-License-Identifier: Apache-2.0
// Finds modules: a relative one (`..utils`) from the folder of the importing file; others, in this
// order, from the nearest folder above that file whose name is the module's first component, beside
// the kernel's file, and in the folders that the caller gave. A module `a.b` is `a/b/__init__.py`,
// `a/b.py`, `a/b.tile`, or a folder `a/b`.
//
// Files are read only for the names that kernels use: imports of host code need not exist.
#include "base/file.h"
#include "base/sha256.h"
#include "lang/eval/consteval.h"
#include "lang/eval/import.h"

#include <errno.h>

// ---- paths ----

// The folder of a file: "a/b.py" gives "a", "b.py" "".
static const char *folder_of(struct eval *e, const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash)
    return "";
  return slash == path ? "/" : arena_strndup(e->a, path, (size_t)(slash - path));
}

static const char *last_word(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const char *join(struct eval *e, const char *folder, const char *name) {
  size_t n = strlen(folder);
  if (!n || !*name)
    return n ? folder : name;
  return arena_printf(e->a, folder[n - 1] == '/' ? "%s%s" : "%s/%s", folder, name);
}

// The folder around a folder.
static const char *parent_of(struct eval *e, const char *folder) {
  const char *word = last_word(folder);
  if (strcmp(word, "..") == 0)
    return join(e, folder, "..");
  if (!*folder || strcmp(word, ".") == 0)
    return "..";
  return folder_of(e, folder);
}

// "a.b.c" as a path.
static const char *path_of_words(struct eval *e, const char *dotted) {
  char *path = arena_strndup(e->a, dotted, strlen(dotted));
  for (char *c = path; *c; c++)
    if (*c == '.')
      *c = '/';
  return path;
}

// ---- reading ----

static void note_dependency(struct eval *e, const char *path, bool exists, struct str text) {
  struct lang_imports *im = e->options->imports;
  struct lang_dependency p = {.path = path, .exists = exists};
  if (exists) {
    struct sha256 h;
    sha256_init(&h);
    sha256_update(&h, text.ptr, text.len);
    sha256_final(&h, p.digest);
  }
  vec_push(e->a, &im->dependencies, p);
}

static void report_unreadable(struct eval *e, const char *path, int error, struct span at) {
  if (error != EFBIG) {
    eval_error(e, at, E0710, "cannot read `%s`: %s", path, strerror(error));
    return;
  }
  struct diag *d = eval_error(e, at, E0901, "the imported files are larger than %u MiB together",
                              IMPORT_MAX_BYTES >> 20);
  diag_label(d, at, "with `%s`", path);
}

struct read_file {
  struct ast_module *ast; // NULL: it does not exist or cannot be read
  bool exists;
};

// The file at `path`, parsed once.
static const struct read_file *read_module(struct eval *e, const char *path, struct span at) {
  struct read_file *f = map_get(&e->files, str_from(path));
  if (f)
    return f;
  f = arena_new(e->a, struct read_file);
  map_put(e->a, &e->files, str_from(path), f);
  struct str text = {0};
  int error = file_read(e->a, path, IMPORT_MAX_BYTES - e->file_bytes, &text);
  f->exists = error != ENOENT && error != ENOTDIR && error != EISDIR;
  note_dependency(e, path, error == 0, text);
  if (error && f->exists)
    report_unreadable(e, path, error, at);
  if (error)
    return f;
  e->file_bytes += text.len;
  // Host code is evaluated only as needed: errors in the rest of the file are ignored.
  const struct source *source = source_create(e->a, path, text);
  if (e->on->is_static && !str_ends(str_from(path), ".tile"))
    f->ast = ast_read_python(e->a, diag_engine_create(e->a), source);
  else if (str_ends(str_from(path), ".tile"))
    f->ast = ast_read(e->a, e->diag, source);
  else
    f->ast = ast_read_imported(e->a, e->diag, source);
  return f;
}

// ---- finding modules ----

static struct file_module *module_create(struct eval *e, const char *name,
                                         const struct ast_module *ast, const char *folder) {
  struct file_module *m = arena_new(e->a, struct file_module);
  *m = (struct file_module){name, ast, folder};
  return m;
}

// The module at `base`, a path without an ending.
static struct file_module *module_at(struct eval *e, const char *base, const char *name,
                                     struct span at) {
  static const char *const endings[] = {".py", ".tile"};
  const struct read_file *f = read_module(e, join(e, base, "__init__.py"), at);
  if (f->exists)
    return module_create(e, name, f->ast, f->ast ? base : NULL);
  for (size_t i = 0; i < COUNT_OF(endings) && *base; i++) {
    f = read_module(e, arena_printf(e->a, "%s%s", base, endings[i]), at);
    if (f->exists)
      return module_create(e, name, f->ast, NULL);
  }
  return NULL;
}

static bool is_detached(const struct eval *e, const struct ast_module *m) {
  return m == e->module && e->options->imports->is_detached;
}

typedef VEC(const char *) path_list;

static void add_folder(struct eval *e, path_list *out, const char *folder) {
  for (size_t i = 0; i < out->len; i++)
    if (strcmp(out->at[i], folder) == 0)
      return;
  vec_push(e->a, out, folder);
}

// The parent of the file's own package: of the nearest folder named `package` above it.
static void add_own_package(struct eval *e, path_list *out, const struct ast_module *m,
                            struct str package) {
  for (const char *f = folder_of(e, m->source->name); *f && strcmp(f, "/") != 0;
       f = folder_of(e, f))
    if (str_is(package, last_word(f))) {
      add_folder(e, out, folder_of(e, f));
      return;
    }
}

// The folders in which module `dotted` of `m` is looked for; ret_words is the path to look for.
static path_list roots_of(struct eval *e, const struct ast_module *m, const char *dotted,
                          const char **ret_words) {
  path_list out = {0};
  size_t dots = strspn(dotted, ".");
  *ret_words = path_of_words(e, dotted + dots);
  if (dots) {
    if (is_detached(e, m))
      return out;
    const char *folder = folder_of(e, m->source->name);
    while (--dots)
      folder = parent_of(e, folder);
    vec_push(e->a, &out, folder);
    return out;
  }
  struct str first;
  (void)str_split(str_from(dotted), '.', &first);
  const struct lang_imports *im = e->options->imports;
  if (!is_detached(e, m))
    add_own_package(e, &out, m, first);
  if (!im->is_detached)
    add_folder(e, &out, folder_of(e, e->module->source->name));
  for (size_t i = 0; i < im->folder_count; i++)
    add_folder(e, &out, im->folders[i]);
  return out;
}

struct file_module *import_find(struct eval *e, const struct ast_module *m, const char *dotted,
                                struct span at) {
  if (!e->options->imports)
    return NULL;
  const char *words;
  path_list roots = roots_of(e, m, dotted, &words);
  for (size_t i = 0; i < roots.len; i++) {
    struct file_module *found = module_at(e, join(e, roots.at[i], words), dotted, at);
    if (found)
      return found;
  }
  for (size_t i = 0; i < roots.len; i++) { // folders without `__init__.py`
    const char *folder = join(e, roots.at[i], words);
    if (!*folder || dir_exists(folder))
      return module_create(e, dotted, NULL, folder);
  }
  return NULL;
}

struct file_module *import_within(struct eval *e, const struct file_module *f, const char *name,
                                  const char *dotted, bool folders_too, struct span at) {
  const char *base = join(e, f->folder, name);
  struct file_module *inner = module_at(e, base, dotted, at);
  return inner || !folders_too || !dir_exists(base) ? inner : module_create(e, dotted, NULL, base);
}
