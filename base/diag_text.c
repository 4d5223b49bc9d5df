// SPDX-License-Identifier: Apache-2.0
// Diagnostics as text:
//
//   softmax.tile:12:11: error: cannot broadcast tile<64xf32> to tile<128x64xf32> [E0214]
//    12 |   y = x / sum(x, axis=1)
//       |       ~   ^~~~~~~~~~~~~~ tile<64xf32>
//       = help: keep the reduced axis: `sum(x, axis=1, keep_dims=True)`
//
// Marks of one line share a row: `^~~~` for the location itself, `~~~` for labels. The text of the
// rightmost mark follows on that row, those of the others on rows below. Columns are terminal
// cells: tabs are expanded, wide and combining characters have their width.
#include "base/diag_internal.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdlib.h>

#define TAB_STOP 4
#define LONGEST_LINE 200 // bytes of a source line shown; longer ones are cut around the location
// Of a command line, so that no terminal wraps it and its marks.
#define LONGEST_COMMAND 66

struct mark {
  struct span at;
  const char *text; // NULL or "": none
  bool primary;
  uint32_t line;
  unsigned begin, end; // cells, end > begin
};

struct renderer {
  struct strbuf *out;
  struct diag_style style;
  unsigned gutter; // digits of the largest line number shown for the current record
};

// ---- colour ----

#define BOLD "\033[1m"
#define RED "\033[1;31m"
#define MAGENTA "\033[1;35m"
#define CYAN "\033[1;36m"
#define BLUE "\033[1;34m"
#define GREEN "\033[1;32m"
#define RESET "\033[0m"

static void put_colored(struct renderer *r, const char *color, const char *text) {
  if (r->style.color)
    strbuf_printf(r->out, "%s%s%s", color, text, RESET);
  else
    strbuf_puts(r->out, text);
}

static const char *severity_color(enum diag_severity s) {
  switch (s) {
  case DIAG_ERROR: return RED;
  case DIAG_WARNING: return MAGENTA;
  case DIAG_REMARK: return BLUE;
  }
  return BOLD;
}

// ---- source lines as cells ----

// The next character of `line` at *at, which is advanced: its bytes as shown and its width. Control
// characters and invalid UTF-8 become U+FFFD.
static unsigned next_char(struct str line, size_t *at, unsigned cell, struct strbuf *out) {
  uint32_t code;
  size_t n = utf8_decode(line.ptr + *at, line.len - *at, &code);
  const char *bytes = line.ptr + *at;
  *at += n ? n : 1;
  if (n == 1 && code == '\t') {
    unsigned width = TAB_STOP - cell % TAB_STOP;
    if (out)
      strbuf_printf(out, "%*s", (int)width, "");
    return width;
  }
  if (!n || code < 0x20 || code == 0x7f || (code >= 0x80 && code < 0xa0)) {
    if (out)
      strbuf_puts(out, "\xef\xbf\xbd");
    return 1;
  }
  if (out)
    strbuf_put(out, bytes, n);
  return utf8_width(code);
}

// Width in cells of the first `bytes` bytes of the line.
static unsigned cells_before(struct str line, size_t bytes) {
  unsigned cell = 0;
  for (size_t at = 0; at < line.len && at < bytes;)
    cell += next_char(line, &at, cell, NULL);
  return cell;
}

// The part of a line that is shown.
struct window {
  struct str text;
  size_t skipped; // bytes cut off at the start
  bool cut_end;
};

static bool is_continuation(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

static struct window line_window(const struct source *source, struct str line, size_t focus) {
  size_t longest = strcmp(source->name, "command line") == 0 ? LONGEST_COMMAND : LONGEST_LINE;
  size_t before = longest * 2 / 5;
  if (line.len <= longest)
    return (struct window){line, 0, false};
  if (focus > line.len)
    focus = line.len;
  size_t begin = focus > before ? focus - before : 0;
  if (begin + longest > line.len) // the end of the line is in the window anyway
    begin = line.len - longest;
  while (begin && begin < line.len && is_continuation(line.ptr[begin]))
    begin--;
  size_t end = begin + longest < line.len ? begin + longest : line.len;
  while (end < line.len && is_continuation(line.ptr[end]))
    end++;
  return (struct window){{line.ptr + begin, end - begin}, begin, end < line.len};
}

// ---- rows ----

static void put_gutter(struct renderer *r, uint32_t line) {
  if (r->style.color)
    strbuf_puts(r->out, BLUE);
  if (line)
    strbuf_printf(r->out, " %*u |", (int)r->gutter, line);
  else
    strbuf_printf(r->out, " %*s |", (int)r->gutter, "");
  if (r->style.color)
    strbuf_puts(r->out, RESET);
}

static void trim_spaces(struct strbuf *out) {
  while (out->len && out->ptr[out->len - 1] == ' ')
    out->ptr[--out->len] = 0;
}

static void put_source_row(struct renderer *r, uint32_t line, struct window w) {
  put_gutter(r, line);
  if (w.text.len)
    strbuf_putc(r->out, ' ');
  if (w.skipped)
    strbuf_puts(r->out, "...");
  unsigned cell = 0;
  for (size_t at = 0; at < w.text.len;)
    cell += next_char(w.text, &at, cell, r->out);
  if (w.cut_end)
    strbuf_puts(r->out, "...");
  trim_spaces(r->out);
  strbuf_putc(r->out, '\n');
}

static void put_spaces(struct strbuf *out, unsigned n) { strbuf_printf(out, "%*s", (int)n, ""); }

static const char *mark_color(const struct mark *m, const char *primary_color) {
  return m->primary ? primary_color : BLUE;
}

// A label as a single row.
static void put_label_text(struct renderer *r, const char *color, const char *text) {
  if (r->style.color)
    strbuf_puts(r->out, color);
  for (; *text; text++)
    strbuf_putc(r->out, *text == '\n' || *text == '\t' ? ' ' : *text);
  if (r->style.color)
    strbuf_puts(r->out, RESET);
}

// The mark shown in cell `cell`; the primary mark takes precedence.
static const struct mark *mark_at(const struct mark *marks, size_t n, unsigned cell) {
  const struct mark *found = NULL;
  for (size_t i = 0; i < n; i++)
    if (cell >= marks[i].begin && cell < marks[i].end && (!found || marks[i].primary))
      found = &marks[i];
  return found;
}

// The mark whose text is on the row of marks: it must end the row.
static const struct mark *inline_mark(const struct mark *marks, size_t n, unsigned width) {
  const struct mark *best = NULL;
  for (size_t i = 0; i < n; i++)
    if (marks[i].end == width && marks[i].text && (!best || marks[i].primary))
      best = &marks[i];
  return best;
}

static void put_mark_row(struct renderer *r, const struct mark *marks, size_t n, unsigned width,
                         const struct mark *with_text, const char *color) {
  put_gutter(r, 0);
  strbuf_putc(r->out, ' ');
  for (unsigned cell = 0; cell < width; cell++) {
    const struct mark *m = mark_at(marks, n, cell);
    char text[2] = {!m ? ' ' : m->primary && cell == m->begin ? '^' : '~', 0};
    if (m)
      put_colored(r, mark_color(m, color), text);
    else
      strbuf_puts(r->out, text);
  }
  if (with_text) {
    strbuf_putc(r->out, ' ');
    put_label_text(r, mark_color(with_text, color), with_text->text);
  }
  strbuf_putc(r->out, '\n');
}

// One row with `|` below each mark left of cell `limit` whose text is pending, then `text` at
// `limit`.
static void put_hanging_row(struct renderer *r, const struct mark *marks, size_t n,
                            const struct mark *above, unsigned limit, const struct mark *last,
                            const char *color) {
  put_gutter(r, 0);
  strbuf_putc(r->out, ' ');
  unsigned cell = 0;
  for (size_t i = 0; i < n; i++) {
    const struct mark *m = &marks[i];
    if (m == above || !m->text || m->begin >= limit || m->begin < cell)
      continue;
    put_spaces(r->out, m->begin - cell);
    put_colored(r, mark_color(m, color), "|");
    cell = m->begin + 1;
  }
  if (last) {
    put_spaces(r->out, last->begin - cell);
    put_label_text(r, mark_color(last, color), last->text);
  }
  strbuf_putc(r->out, '\n');
}

// One source line with its marks, which are sorted by begin.
static void put_marked_line(struct renderer *r, const struct source *source, struct mark *marks,
                            size_t n, const char *color) {
  struct str line = source_line(source, marks[0].line);
  uint32_t line_begin = (uint32_t)(line.ptr - source->text.ptr);
  size_t focus = marks[0].at.begin - line_begin;
  for (size_t i = 0; i < n; i++)
    if (marks[i].primary)
      focus = marks[i].at.begin - line_begin;
  struct window w = line_window(source, line, focus);
  unsigned shift = w.skipped ? 3 : 0, width = 0;
  for (size_t i = 0; i < n; i++) {
    size_t begin = marks[i].at.begin - line_begin, end = marks[i].at.end - line_begin;
    marks[i].begin = shift + cells_before(w.text, begin > w.skipped ? begin - w.skipped : 0);
    marks[i].end = shift + cells_before(w.text, end > w.skipped ? end - w.skipped : 0);
    if (marks[i].end <= marks[i].begin)
      marks[i].end = marks[i].begin + 1;
    if (marks[i].end > width)
      width = marks[i].end;
  }
  put_source_row(r, marks[0].line, w);
  const struct mark *above = inline_mark(marks, n, width);
  put_mark_row(r, marks, n, width, above, color);
  bool first = true;
  for (size_t i = n; i-- > 0;) {
    if (&marks[i] == above || !marks[i].text)
      continue;
    if (first)
      put_hanging_row(r, marks, n, above, UINT32_MAX, NULL, color);
    first = false;
    put_hanging_row(r, marks, n, above, marks[i].begin, &marks[i], color);
  }
}

static int compare_marks(const void *x, const void *y) {
  const struct mark *a = x, *b = y;
  if (a->line != b->line)
    return a->line < b->line ? -1 : 1;
  if (a->at.begin != b->at.begin)
    return a->at.begin < b->at.begin ? -1 : 1;
  return a->primary == b->primary ? 0 : a->primary ? -1 : 1;
}

static unsigned digits_of(uint32_t x) {
  unsigned n = 1;
  for (; x >= 10; x /= 10)
    n++;
  return n;
}

// All marks of one source, line by line, with `...` where lines are omitted.
static void put_snippet(struct renderer *r, const struct source *source, struct mark *marks,
                        size_t n, const char *color) {
  for (size_t i = 0; i < n; i++)
    marks[i].line = source_line_col(source, marks[i].at.begin).line;
  qsort(marks, n, sizeof *marks, compare_marks);
  r->gutter = digits_of(marks[n - 1].line);
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && marks[end].line == marks[i].line;)
      end++;
    if (i && marks[i].line > marks[i - 1].line + 1)
      strbuf_puts(r->out, " ...\n");
    put_marked_line(r, source, marks + i, end - i, color);
  }
}

// ---- records ----

// Clips a span to the text and to the line where it begins.
static struct span clip_to_line(struct span at) {
  uint32_t size = (uint32_t)at.source->text.len;
  if (at.begin > size)
    at.begin = size;
  struct str line = source_line(at.source, source_line_col(at.source, at.begin).line);
  uint32_t line_end = (uint32_t)(line.ptr + line.len - at.source->text.ptr);
  if (at.end > line_end)
    at.end = line_end;
  if (at.end < at.begin)
    at.end = at.begin;
  return at;
}

static struct mark mark_of(struct span at, const char *text, bool primary) {
  return (struct mark){
      .at = clip_to_line(at), .text = text && *text ? text : NULL, .primary = primary};
}

// File names are untrusted: control characters would reach the terminal.
static void put_name(struct strbuf *out, const char *name) {
  for (const char *c = name; *c; c++)
    strbuf_putc(out, (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
}

static void put_heading(struct renderer *r, struct span at, const char *kind, const char *color,
                        const char *message, const char *tag) {
  if (at.source) {
    struct line_col lc = source_line_col(at.source, at.begin);
    struct strbuf location = {.arena = r->out->arena};
    put_name(&location, at.source->name);
    strbuf_printf(&location, ":%u:%u:", lc.line, lc.col);
    put_colored(r, BOLD, strbuf_cstr(&location));
    strbuf_putc(r->out, ' ');
    strbuf_finish(&location);
  }
  put_colored(r, color, kind);
  put_colored(r, color, ":");
  strbuf_putc(r->out, ' ');
  put_colored(r, BOLD, message);
  if (tag && *tag)
    strbuf_printf(r->out, " [%s]", tag);
  strbuf_putc(r->out, '\n');
}

// ` = help: text`; further lines of the text are aligned below the first.
static void put_footer(struct renderer *r, const char *kind, const char *color, const char *text) {
  struct str rest = str_from(text), line;
  rest = str_split(rest, '\n', &line);
  put_spaces(r->out, r->gutter + 2);
  strbuf_puts(r->out, "= ");
  put_colored(r, color, kind);
  strbuf_printf(r->out, ": %.*s\n", STR_ARG(line));
  while (rest.ptr) {
    rest = str_split(rest, '\n', &line);
    put_spaces(r->out, r->gutter + 6 + (unsigned)strlen(kind));
    strbuf_printf(r->out, "%.*s\n", STR_ARG(line));
  }
}

static bool said_in_help(const struct diag *d, const char *replacement) {
  for (size_t i = 0; i < d->helps.len; i++)
    if (*replacement && strstr(d->helps.at[i], replacement))
      return true;
  return false;
}

static void put_fixit(struct renderer *r, const struct diag_part *fixit) {
  const struct source *s = fixit->at.source;
  struct str old = {s->text.ptr + fixit->at.begin, fixit->at.end - fixit->at.begin};
  struct strbuf text = {.arena = r->out->arena};
  if (!old.len)
    strbuf_printf(&text, "insert `%s`", fixit->text);
  else if (!*fixit->text)
    strbuf_printf(&text, "remove `%.*s`", STR_ARG(old));
  else
    strbuf_printf(&text, "replace `%.*s` with `%s`", STR_ARG(old), fixit->text);
  put_footer(r, "help", GREEN, strbuf_cstr(&text));
  strbuf_finish(&text);
}

static void put_note_at(struct renderer *r, struct diag_part note) {
  put_heading(r, note.at, "note", CYAN, note.text, NULL);
  struct mark m = mark_of(note.at, NULL, true);
  put_snippet(r, note.at.source, &m, 1, CYAN);
}

static void put_record(struct renderer *r, const struct diag *d) {
  const char *color = severity_color(d->severity);
  const char *tag = d->severity == DIAG_REMARK ? d->topic : diag_code_name(d->code);
  put_heading(r, d->at, diag_severity_name(d->severity), color, d->message, tag);
  r->gutter = 2;
  struct mark *marks = arena_array(d->engine->a, struct mark, d->labels.len + 1);
  if (!marks)
    strbuf_fail(r->out);
  else if (d->at.source) {
    size_t n = 0;
    marks[n++] = mark_of(d->at, d->primary_label, true);
    for (size_t i = 0; i < d->labels.len; i++)
      if (d->labels.at[i].at.source == d->at.source)
        marks[n++] = mark_of(d->labels.at[i].at, d->labels.at[i].text, false);
    put_snippet(r, d->at.source, marks, n, color);
  }
  for (size_t i = 0; i < d->notes.len; i++)
    if (!d->notes.at[i].at.source)
      put_footer(r, "note", CYAN, d->notes.at[i].text);
  for (size_t i = 0; i < d->helps.len; i++)
    put_footer(r, "help", GREEN, d->helps.at[i]);
  for (size_t i = 0; i < d->fixits.len; i++)
    if (!said_in_help(d, d->fixits.at[i].text))
      put_fixit(r, &d->fixits.at[i]);
  for (size_t i = 0; i < d->labels.len; i++)
    if (d->labels.at[i].at.source && d->labels.at[i].at.source != d->at.source)
      put_note_at(r, d->labels.at[i]);
  for (size_t i = 0; i < d->notes.len; i++)
    if (d->notes.at[i].at.source)
      put_note_at(r, d->notes.at[i]);
}

void diag_render_text(const struct diag_engine *e, struct diag_style style, struct strbuf *out) {
  struct renderer r = {.out = out, .style = style};
  size_t n;
  unsigned errors = 0;
  struct diag **sorted = diag_sorted(e, &n);
  if (!sorted) {
    strbuf_fail(out);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    if (sorted[i]->severity == DIAG_REMARK && !style.remarks)
      continue;
    if (sorted[i]->severity == DIAG_WARNING && style.errors_only)
      continue;
    if (sorted[i]->severity == DIAG_ERROR && ++errors > DIAG_PRINT_LIMIT)
      continue;
    put_record(&r, sorted[i]);
  }
  if (errors > DIAG_PRINT_LIMIT)
    strbuf_printf(out, "and %u more error%s\n", errors - DIAG_PRINT_LIMIT,
                  errors - DIAG_PRINT_LIMIT == 1 ? "" : "s");
}
