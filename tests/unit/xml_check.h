// SPDX-License-Identifier: Apache-2.0
// Checks that a text is well-formed XML, as far as our pictures use it.
#ifndef TILE_TESTS_UNIT_XML_CHECK_H
#define TILE_TESTS_UNIT_XML_CHECK_H

#include <stddef.h>

// Fails the test where it is not; returns the number of tags and characters of text.
size_t xml_check(const char *text);

#endif
