// SPDX-License-Identifier: Apache-2.0
// Names that a file's imports bind: those of the language, and those of other files, which are
// found, read and parsed when a kernel first needs a name of theirs.
#ifndef TILE_LANG_EVAL_IMPORT_H
#define TILE_LANG_EVAL_IMPORT_H

#include "lang/eval/eval.h"

#define IMPORT_MAX_BYTES SOURCE_MAX_BYTES // of all imported files together

// A module that is a file, a package, or both.
struct file_module {
  const char *name;             // as messages call it: "pkg.utils"
  const struct ast_module *ast; // NULL: a folder without `__init__.py`
  const char *folder;           // where a package's modules stand; NULL: no package
};

// What an import binds its name to. False: it was not found, or is the host's.
bool import_value(struct eval *e, const struct ast_module *m, const struct ast_import *im,
                  struct value *ret);
// What `from ... import *` of `m` binds `name` to.
bool import_star(struct eval *e, const struct ast_module *m, const char *name, struct value *ret);
// Whether Python would execute an import without an exception: modules of Python, torch and numpy
// are taken to be there, the language has what its tables have, others are where they are found.
enum import_found {
  IMPORT_FOUND,
  IMPORT_NO_MODULE,
  IMPORT_NO_NAME,
  IMPORT_UNKNOWN // the file has that name in its text, but it is not evaluated
};
enum import_found import_exists(struct eval *e, const struct ast_module *m,
                                const struct ast_import *im);

// `f.name`: a name of the file, or a module of the package.
struct value import_attribute(struct eval *e, const struct file_module *f, const char *name,
                              struct span at);
// Says why a name that an import of `m` binds has no value; false: no import binds it.
bool import_report(struct eval *e, const struct ast_module *m, const char *name, struct span at);

// lang_import_files of a tree.
void import_collect(struct arena *a, const struct ast_module *m, struct lang_imports *imports);

// ---- import_find.c ----
// The module `dotted`, as `m` names it; NULL: not found. One that cannot be read was reported.
struct file_module *import_find(struct eval *e, const struct ast_module *m, const char *dotted,
                                struct span at);
// The module `name` of a package, which messages call `dotted`; also a folder without files.
struct file_module *import_within(struct eval *e, const struct file_module *f, const char *name,
                                  const char *dotted, bool folders_too, struct span at);

// Whether the device code of a file has that name in its text (mentions.c).
bool module_mentions(const struct ast_module *m, const char *name);
// The same of its whole text.
bool module_has_word(const struct ast_module *m, const char *name);

#endif
