// SPDX-License-Identifier: Apache-2.0
// The parts of a page.
#include "tools/report/page.h"

#include "base/xml.h"

#include <tile/runtime.h>

extern const char page_css[]; // tools/report/page.css

void page_words(struct strbuf *out, const char *text) {
  bool is_code = false;
  for (struct str rest = str_from(text), part; rest.ptr; is_code = !is_code) {
    rest = str_split(rest, '`', &part);
    if (is_code && rest.ptr) { // a backtick without a second one is text
      strbuf_puts(out, "<code>");
      xml_text(out, part);
      strbuf_puts(out, "</code>");
    } else {
      strbuf_puts(out, is_code ? "`" : "");
      xml_text(out, part);
    }
  }
}

void page_fact(struct page *p, const char *name, const char *value) {
  strbuf_puts(&p->facts, "<div><dt>");
  page_words(&p->facts, name);
  strbuf_puts(&p->facts, "</dt><dd>");
  page_words(&p->facts, value);
  strbuf_puts(&p->facts, "</dd></div>\n");
}

void page_section(struct page *p, const char *id, const char *title) {
  strbuf_printf(&p->out, "<h2 id=\"%s\">", id);
  page_words(&p->out, title);
  strbuf_puts(&p->out, "</h2>\n");
  strbuf_printf(&p->links, "<a href=\"#%s\">", id);
  page_words(&p->links, title);
  strbuf_puts(&p->links, "</a>\n");
}

void page_paragraph(struct page *p, const char *text) {
  strbuf_puts(&p->out, "<p>");
  page_words(&p->out, text);
  strbuf_puts(&p->out, "</p>\n");
}

void page_fold(struct page *p, const char *summary, bool is_open) {
  strbuf_printf(&p->out, "<details%s><summary>", is_open ? " open" : "");
  page_words(&p->out, summary);
  strbuf_puts(&p->out, "</summary>\n");
}

void page_fold_end(struct page *p) { strbuf_puts(&p->out, "</details>\n"); }

void page_text(struct page *p, struct str text) {
  strbuf_puts(&p->out, "<pre tabindex=\"0\">");
  xml_text(&p->out, text);
  strbuf_puts(&p->out, "</pre>\n");
}

void page_picture(struct page *p, const struct strbuf *svg) {
  strbuf_puts(&p->out, "<figure tabindex=\"0\">\n");
  strbuf_put(&p->out, svg->ptr, svg->len);
  strbuf_puts(&p->out, "</figure>\n");
}

void page_write(const struct page *p, struct strbuf *out) {
  strbuf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<link rel=\"icon\" href=\"data:,\">\n<title>");
  xml_text(out, str_from(p->title));
  strbuf_puts(out, "</title>\n<style>\n");
  strbuf_puts(out, page_css);
  strbuf_puts(out, "</style>\n</head>\n<body>\n<div class=\"page\">\n<h1>");
  xml_text(out, str_from(p->title));
  strbuf_puts(out, "</h1>\n<nav class=\"sections\">\n");
  strbuf_put(out, p->links.ptr, p->links.len);
  strbuf_puts(out, "</nav>\n<main>\n");
  if (p->facts.len) {
    strbuf_puts(out, "<dl class=\"facts\">\n");
    strbuf_put(out, p->facts.ptr, p->facts.len);
    strbuf_puts(out, "</dl>\n");
  }
  strbuf_put(out, p->out.ptr, p->out.len);
  strbuf_printf(
      out, "</main>\n<footer class=\"dim\">made by tilec %s</footer>\n</div>\n</body>\n</html>\n",
      tile_version());
}
