// SPDX-License-Identifier: Apache-2.0
// A source with messages beside its lines.
#include "base/diag_internal.h"
#include "base/xml.h"
#include "tools/report/page.h"

struct writer {
  struct strbuf *out;
  const struct source *source;
  struct diag **records; // sorted
  size_t count;
};

static void write_place(struct strbuf *out, const struct source *of, struct span at) {
  struct line_col begin = source_line_col(at.source, at.begin);
  if (at.source != of) {
    xml_text(out, str_from(at.source->name));
    strbuf_printf(out, ":%u:%u: ", begin.line, begin.col);
  } else {
    strbuf_printf(out, "%u:%u: ", begin.line, begin.col);
  }
}

static void write_parts(struct writer *w, const diag_parts *parts, const char *word) {
  for (size_t i = 0; i < parts->len; i++) {
    strbuf_printf(w->out, "<p>%s: ", word);
    if (parts->at[i].at.source)
      write_place(w->out, w->source, parts->at[i].at);
    page_words(w->out, parts->at[i].text);
    strbuf_puts(w->out, "</p>");
  }
}

static void write_message(struct writer *w, const struct diag *d) {
  const char *severity = diag_severity_name(d->severity);
  strbuf_printf(w->out, "<div class=\"message %s\"><p>", severity);
  if (d->at.source)
    write_place(w->out, w->source, d->at);
  strbuf_printf(w->out, "<b>%s:</b> ", severity);
  page_words(w->out, d->message);
  if (d->severity == DIAG_REMARK)
    strbuf_printf(w->out, " <span class=\"dim\">[%s]</span></p>", d->topic);
  else
    strbuf_printf(w->out, " <span class=\"dim\">[%s]</span></p>", diag_code_name(d->code));
  if (d->primary_label) {
    strbuf_puts(w->out, "<p>");
    page_words(w->out, d->primary_label);
    strbuf_puts(w->out, "</p>");
  }
  write_parts(w, &d->labels, "here");
  write_parts(w, &d->notes, "note");
  for (size_t i = 0; i < d->helps.len; i++) {
    strbuf_puts(w->out, "<p>help: ");
    page_words(w->out, d->helps.at[i]);
    strbuf_puts(w->out, "</p>");
  }
  strbuf_puts(w->out, "</div>");
}

static bool is_on_line(const struct writer *w, const struct diag *d, uint32_t line) {
  return d->at.source == w->source && source_line_col(w->source, d->at.begin).line == line;
}

// `*next` is the first record that lines above do not have.
static void write_line(struct writer *w, uint32_t line, size_t *next) {
  while (*next < w->count && w->records[*next]->at.source != w->source)
    ++*next;
  bool is_marked = *next < w->count && is_on_line(w, w->records[*next], line);
  strbuf_printf(w->out, "<div%s id=\"L%u\"><span>%u</span><code>",
                is_marked ? " class=\"marked\"" : "", line, line);
  xml_text(w->out, source_line(w->source, line));
  strbuf_puts(w->out, "</code>");
  for (; *next < w->count && is_on_line(w, w->records[*next], line); ++*next)
    write_message(w, w->records[*next]);
  strbuf_puts(w->out, "</div>\n");
}

void page_source(struct page *p, const struct source *source, const struct diag_engine *diag) {
  struct writer w = {.out = &p->out, .source = source};
  w.records = diag_sorted(diag, &w.count);
  size_t next = 0, elsewhere = 0;
  uint32_t lines = source->line_count;
  if (lines > 1 && source_line(source, lines).len == 0)
    lines--;
  for (size_t i = 0; w.records && i < w.count; i++)
    elsewhere += w.records[i]->at.source != source;
  strbuf_puts(w.out, "<div class=\"source\">\n");
  for (uint32_t line = 1; w.records && line <= lines; line++)
    write_line(&w, line, &next);
  strbuf_puts(w.out, "</div>\n");
  for (size_t i = 0; elsewhere && i < w.count; i++)
    if (w.records[i]->at.source != source)
      write_message(&w, w.records[i]);
}
