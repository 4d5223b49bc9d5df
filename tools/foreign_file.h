// SPDX-License-Identifier: Apache-2.0
// Files of other programs that are given where a kernel, a graph or an array is expected.
#ifndef TILE_TOOLS_FOREIGN_FILE_H
#define TILE_TOOLS_FOREIGN_FILE_H

#include "base/diag.h"

enum foreign_use { FOREIGN_SOURCE, FOREIGN_GRAPH, FOREIGN_EITHER, FOREIGN_ARRAY, FOREIGN_WEIGHTS };

// What kind of file the name and the first bytes say it is, with an article: "an ONNX model"; NULL:
// none that is known.
const char *foreign_kind(const char *path, struct str head);
// Adds how to get there from such a file. Nothing for NULL.
void foreign_help(struct diag *d, const char *kind, enum foreign_use use);
// Reports a file of a known kind that is given as a source or a graph; `head` is the whole text.
// False: it is none.
bool foreign_report(struct diag_engine *diag, struct span at, const char *path, struct str head,
                    enum foreign_use use);

#endif
