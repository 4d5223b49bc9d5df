// SPDX-License-Identifier: Apache-2.0
// Text in XML documents, as SVG pictures are.
#ifndef TILE_BASE_XML_H
#define TILE_BASE_XML_H

#include "base/str.h"

// Appends the text escaped, for elements and attributes; control characters, which XML cannot
// represent, become blanks.
void xml_text(struct strbuf *out, struct str text);

#endif
