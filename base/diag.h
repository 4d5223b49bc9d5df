// SPDX-License-Identifier: Apache-2.0
// Diagnostics: every error, warning and remark of every stage is recorded here and rendered once,
// sorted by location. Nothing prints on its own. Codes, their one-line titles and `--explain` texts
// are rows of base/diag_codes.def.
//
//   struct diag *d = diag_error(eng, span, E0214, "cannot broadcast %s to %s", a, b);
//   diag_label(d, other_span, "%s", a);
//   diag_help(d, "keep the reduced axis: `sum(x, axis=1, keep_dims=True)`");
#ifndef TILE_BASE_DIAG_H
#define TILE_BASE_DIAG_H

#include "base/arena.h"
#include "base/source.h"

enum diag_code {
#define DIAG(code, title, section, explain) code,
#include "base/diag_codes.def"
#undef DIAG
  DIAG_CODE_COUNT
};

enum diag_severity { DIAG_ERROR, DIAG_WARNING, DIAG_REMARK };

#define DIAG_PRINT_LIMIT 20 // errors rendered before "and N more"

struct diag_engine;
struct diag;

// Everything is allocated on `a`. Not thread-safe: one engine per session.
struct diag_engine *diag_engine_create(struct arena *a);
// Records E0991, out of memory, which needs no memory.
void diag_out_of_memory(struct diag_engine *e);

// NULL only when memory is out. The message: lower case, no full stop, backticks around code.
struct diag *diag_error(struct diag_engine *e, struct span at, enum diag_code code, const char *fmt,
                        ...) PRINTF(4, 5);
struct diag *diag_warning(struct diag_engine *e, struct span at, enum diag_code code,
                          const char *fmt, ...) PRINTF(4, 5);
// Optimisation remarks ("loop not pipelined: ..."); `topic` groups them, e.g. "coalesce".
struct diag *diag_remark(struct diag_engine *e, struct span at, const char *topic, const char *fmt,
                         ...) PRINTF(4, 5);

// The next four accept d == NULL.
void diag_label(struct diag *d, struct span at, const char *fmt, ...) PRINTF(3, 4); // "~~~ text"
void diag_primary_label(struct diag *d, const char *fmt, ...) PRINTF(2, 3); // text after "^^^"
void diag_note(struct diag *d, struct span at, const char *fmt, ...)
    PRINTF(3, 4); // may be SPAN_NONE
void diag_help(struct diag *d, const char *fmt, ...) PRINTF(2, 3);
// A machine-applicable replacement of `at`; shown in the help line and in JSON.
void diag_fixit(struct diag *d, struct span at, const char *replacement);
// The help "did you mean `replacement`?" and the edit; `at` is the misspelled word alone.
void diag_did_you_mean(struct diag *d, struct span at, const char *replacement);

// Adds the records of another engine, except those whose location and code are already here. The
// texts are not copied.
void diag_add_all(struct diag_engine *to, const struct diag_engine *from);

// Drops all records but the first `count`, for a caller that tries something else instead.
void diag_forget(struct diag_engine *e, unsigned count);

// Drops the records whose code is not wanted.
void diag_keep(struct diag_engine *e, bool (*is_wanted)(enum diag_code code));

unsigned diag_error_count(const struct diag_engine *e);
unsigned diag_count(const struct diag_engine *e); // with all severities
// First error's text without location ("" if none), for callers that need one line.
const char *diag_first_error(const struct diag_engine *e);
enum diag_code diag_first_error_code(const struct diag_engine *e); // DIAG_CODE_COUNT if none

struct diag_style {
  bool color;
  bool remarks;     // also render remarks
  bool errors_only; // no warnings
};

// Appends the rendering of all records, sorted by location, errors capped at DIAG_PRINT_LIMIT.
void diag_render_text(const struct diag_engine *e, struct diag_style style, struct strbuf *out);
// One JSON document {"diagnostics": [{severity, code, message, file, line, column, end_line,
// end_column, labels, notes, help, fixits}]}.
void diag_render_json(const struct diag_engine *e, struct strbuf *out);
// The array alone, in one line.
void diag_render_json_records(const struct diag_engine *e, struct strbuf *out);

// SARIF 2.1.0 (OASIS standard, 2020): one run of the tool `tilec` of that version, with a rule for
// each code that occurs, a result for each record and its edits as `fixes`.
void diag_render_sarif(const struct diag_engine *e, const char *version, struct strbuf *out);

// Whether the code is of a limit or a size that was exceeded; not of running out of memory.
bool diag_code_is_limit(enum diag_code c);
const char *diag_code_name(enum diag_code c);    // "E0214"
const char *diag_code_title(enum diag_code c);   // one line
const char *diag_code_section(enum diag_code c); // of lang/REFERENCE.md, or of docs/
const char *diag_code_explain(enum diag_code c); // paragraphs
bool diag_code_find(struct str name, enum diag_code *ret);

#endif
