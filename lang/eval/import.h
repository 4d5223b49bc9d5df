// SPDX-License-Identifier: Apache-2.0
// Names that a file's imports bind: those of the language, and those of other files, which are
// found, read and parsed when a kernel first uses a name of theirs.
#ifndef TILE_LANG_EVAL_IMPORT_H
#define TILE_LANG_EVAL_IMPORT_H

#include "lang/eval/eval.h"

#define IMPORT_MAX_BYTES SOURCE_MAX_BYTES // of all imported files together

// A module that is a file, a package, or both.
struct file_module {
  const char *name;             // for messages: "pkg.utils"
  const struct ast_module *ast; // NULL: a folder without `__init__.py`
  const char *folder;           // of a package's modules; NULL: not a package
};

// The value that an import binds. False: not found, or a module of host code.
bool import_value(struct eval *e, const struct ast_module *m, const struct ast_import *im,
                  struct value *ret);
// The value that `from ... import *` of `m` binds to `name`.
bool import_star(struct eval *e, const struct ast_module *m, const char *name, struct value *ret);
// Whether Python would execute an import without an exception: modules of Python, torch and numpy
// are assumed to exist, the language has the names of its tables, other modules are looked for.
enum import_found {
  IMPORT_FOUND,
  IMPORT_NO_MODULE,
  IMPORT_NO_NAME,
  IMPORT_UNKNOWN // the file mentions that name, but does not define it in a form that is evaluated
};
enum import_found import_exists(struct eval *e, const struct ast_module *m,
                                const struct ast_import *im);
bool import_is_installed(const char *dotted); // Triton, torch, numpy, and modules of Python

// `f.name`: a name of the file, or a module of the package.
struct value import_attribute(struct eval *e, const struct file_module *f, const char *name,
                              struct span at);
// Reports why a name that an import of `m` binds has no value; false: no import binds it.
bool import_report(struct eval *e, const struct ast_module *m, const char *name, struct span at);

// lang_import_files for a tree.
void import_collect(struct arena *a, const struct ast_module *m, struct lang_imports *imports);

// ---- import_find.c ----
// The module `dotted` as imported by `m`; NULL: not found. A module that cannot be read is
// reported.
struct file_module *import_find(struct eval *e, const struct ast_module *m, const char *dotted,
                                struct span at);
// The module `name` of a package, `dotted` in messages; may be a folder without `__init__.py`.
struct file_module *import_within(struct eval *e, const struct file_module *f, const char *name,
                                  const char *dotted, bool folders_too, struct span at);

// Whether the device code of a file mentions that name (mentions.c).
bool module_mentions(const struct ast_module *m, const char *name);
// The same for its whole text.
bool module_has_word(const struct ast_module *m, const char *name);

#endif
