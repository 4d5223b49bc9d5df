// SPDX-License-Identifier: Apache-2.0
// Open documents: the text as the client has it, its syntax tree, and the analyses of it.
#ifndef TILE_TOOLS_LSP_DOCUMENTS_H
#define TILE_TOOLS_LSP_DOCUMENTS_H

#include "lang/unit.h"
#include "tools/lsp/analysis.h"
#include "tools/lsp/positions.h"

// A text and its tree; never changed.
struct snapshot {
  struct arena *arena; // owns it
  const struct source *source;
  struct text_lines lines;
  struct lang_unit *unit; // NULL: the text could not be tokenized
  bool has_errors;        // of syntax
};

struct document {
  struct arena *arena; // owns it
  const char *uri, *path;
  const struct analysis_settings *settings; // of the server
  int64_t version;                          // as the client counts
  uint64_t revision;                        // as the server does: of all documents
  struct snapshot *now;
  struct snapshot *parsed; // the newest without an error of syntax, if that is not `now`; or NULL
  struct analysis *newest; // NULL: none is done yet
  struct analysis
      *intact;      // the newest without an error of syntax, if that is not `newest`; or NULL
  bool is_pending;  // its text is not analysed yet
  bool has_layouts; // those of `newest` are known
  struct document *next;
};

// NULL: memory is out.
struct document *document_open(const struct analysis_settings *settings, const char *uri,
                               int64_t version, struct str text);
void document_close(struct document *d); // accepts NULL
// Takes over the new text. False, and nothing changed: memory is out, or the text is too large.
bool document_set_text(struct document *d, struct str text);
// Takes the ownership of a finished analysis.
void document_set_analysis(struct document *d, struct analysis *of);

// The tree at hand: that of the text now, or the one before an error that hid it; NULL: none.
const struct ast_module *document_tree(const struct document *d, const struct snapshot **ret_of);

// The path of a `file:` URI, escapes resolved; the URI itself if it is another one. On `a`.
const char *uri_to_path(struct arena *a, const char *uri);
const char *uri_from_path(struct arena *a, const char *path);

#endif
