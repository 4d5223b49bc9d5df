// SPDX-License-Identifier: Apache-2.0
// The frame and the style sheet of pictures.
#include "tools/perf/picture.h"

#include "base/xml.h"

static const char style[] =
    "<style>.picture text{fill:#222}.picture .mid{text-anchor:middle}.picture .end{text-anchor:end}"
    ".picture .head{font-weight:bold}.picture .small{font-size:10px}.picture .back{fill:#fff}"
    ".picture .frame{fill:none;stroke:#999}.picture .grid{stroke:#e4e4e4;fill:none}"
    ".picture .bound{stroke:#2866b8;stroke-width:2.5;fill:none}"
    ".picture .cache{stroke:#2866b8;stroke-dasharray:5 4;fill:none}"
    ".picture .kernel,.picture .limit{fill:#c0392b}"
    ".picture .cached{fill:none;stroke:#c0392b;stroke-width:2}"
    ".picture .drop{stroke:#c0392b;stroke-dasharray:4 3;fill:none}"
    ".picture .bar{fill:#7fa8d8}.picture .loop{fill:#8884;stroke:none}"
    ".picture .kernel-box{fill:#eef4fb;stroke:#2866b8;stroke-width:1.5}"
    ".picture .operator{fill:#fff;stroke:#9bb8d8}.picture .edge{fill:none;stroke:#888}"
    ".picture .c0{fill:#a9c6e8}.picture .c1{fill:#f3c48b}.picture .c2{fill:#a8d8a0}"
    ".picture .c3{fill:#e8a9b8}.picture .c4{fill:#c9b3e6}.picture .c5{fill:#9fd8d4}"
    ".picture .block{stroke:#555;stroke-width:.7}.picture .copy{fill:#f3c48b;stroke:#a8742c}"
    ".picture .ready{fill:#dbe7f5;stroke:#2866b8}.picture .compute{fill:#7fa8d8;stroke:#2866b8}"
    ".picture .wait{fill:none;stroke:#c0392b;stroke-dasharray:3 2}"
    "@media(prefers-color-scheme:dark){.picture text{fill:#ddd}.picture .back{fill:#16181c}"
    ".picture .grid{stroke:#33363c}.picture .kernel-box{fill:#1d2733}"
    ".picture .operator{fill:#16181c}.picture text.dark{fill:#222}}</style>\n";

void svg_begin(struct strbuf *out, int width, int height) {
  strbuf_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" width=\"%d\" "
                "height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
                "font-size=\"11\">\n",
                width, height, width, height);
  strbuf_puts(out, style);
  svg_box(out, 0, 0, width, height, "back", NULL);
}

void svg_end(struct strbuf *out) { strbuf_puts(out, "</svg>\n"); }

void svg_text(struct strbuf *out, double x, double y, const char *class, const char *words) {
  strbuf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
  xml_text(out, str_from(words));
  strbuf_puts(out, "</text>\n");
}

void svg_box(struct strbuf *out, double x, double y, double width, double height, const char *class,
             const char *tooltip) {
  strbuf_printf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" class=\"%s\"", x,
                y, width, height, class);
  if (!tooltip) {
    strbuf_puts(out, "/>\n");
    return;
  }
  strbuf_puts(out, "><title>");
  xml_text(out, str_from(tooltip));
  strbuf_puts(out, "</title></rect>\n");
}
