// SPDX-License-Identifier: Apache-2.0
// See xml.h.
#include "base/xml.h"

void xml_text(struct strbuf *out, struct str text) {
  for (size_t i = 0; i < text.len; i++) {
    char c = text.ptr[i];
    switch (c) {
    case '<': strbuf_puts(out, "&lt;"); break;
    case '>': strbuf_puts(out, "&gt;"); break;
    case '&': strbuf_puts(out, "&amp;"); break;
    case '"': strbuf_puts(out, "&quot;"); break;
    default: strbuf_putc(out, (unsigned char)c < 32 && c != '\n' && c != '\t' ? ' ' : c);
    }
  }
}
