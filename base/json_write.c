// SPDX-License-Identifier: Apache-2.0
// The streaming JSON writer: one line, no spaces but after ':' and ','.
#include "base/json.h"
#include "base/utf8.h"

#include <assert.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void before_value(struct json_writer *w) {
  if (w->need_comma && !w->after_key)
    strbuf_puts(w->out, ", ");
  w->after_key = false;
  w->need_comma = true;
}

static void begin(struct json_writer *w, char c) {
  before_value(w);
  strbuf_putc(w->out, c);
  assert(w->depth < JSON_MAX_DEPTH);
  w->depth++;
  w->need_comma = false;
}

static void end(struct json_writer *w, char c) {
  assert(w->depth > 0 && !w->after_key);
  strbuf_putc(w->out, c);
  w->depth--;
  w->need_comma = true;
}

void json_begin_object(struct json_writer *w) { begin(w, '{'); }
void json_end_object(struct json_writer *w) { end(w, '}'); }
void json_begin_array(struct json_writer *w) { begin(w, '['); }
void json_end_array(struct json_writer *w) { end(w, ']'); }

static void put_escaped(struct strbuf *out, unsigned char c) {
  static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
  const char *known = c ? strchr(values, c) : NULL;
  if (known)
    strbuf_printf(out, "\\%c", names[known - values]);
  else
    strbuf_printf(out, "\\u%04x", c);
}

// Bytes that are not UTF-8 become U+FFFD, so that the document stays valid.
static void put_string(struct strbuf *out, struct str s) {
  strbuf_putc(out, '"');
  for (size_t i = 0; i < s.len;) {
    unsigned char c = (unsigned char)s.ptr[i];
    uint32_t code;
    size_t n = utf8_decode(s.ptr + i, s.len - i, &code);
    if (!n)
      strbuf_puts(out, "\xef\xbf\xbd");
    else if (c < 0x20 || c == 0x7f)
      put_escaped(out, c);
    else if (c == '"' || c == '\\')
      strbuf_printf(out, "\\%c", c);
    else
      strbuf_put(out, s.ptr + i, n);
    i += n ? n : 1;
  }
  strbuf_putc(out, '"');
}

void json_key(struct json_writer *w, const char *key) {
  before_value(w);
  put_string(w->out, str_from(key));
  strbuf_puts(w->out, ": ");
  w->after_key = true;
}

void json_string(struct json_writer *w, struct str value) {
  before_value(w);
  put_string(w->out, value);
}

void json_cstring(struct json_writer *w, const char *value) {
  if (value)
    json_string(w, str_from(value));
  else
    json_null(w);
}

void json_int(struct json_writer *w, int64_t value) {
  before_value(w);
  strbuf_printf(w->out, "%lld", (long long)value);
}

void json_double(struct json_writer *w, double value) {
  locale_t c_locale = isfinite(value) ? newlocale(LC_ALL_MASK, "C", (locale_t)0) : (locale_t)0;
  if (!c_locale) {
    json_null(w);
    return;
  }
  before_value(w);
  locale_t before = uselocale(c_locale);
  char text[32];
  for (int digits = 15; digits <= 17; digits++) { // 17 always suffice
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value)
      break;
  }
  strbuf_puts(w->out, text);
  uselocale(before);
  freelocale(c_locale);
}

void json_bool(struct json_writer *w, bool value) {
  before_value(w);
  strbuf_puts(w->out, value ? "true" : "false");
}

void json_raw(struct json_writer *w, const char *text) {
  before_value(w);
  strbuf_puts(w->out, text);
}

void json_null(struct json_writer *w) {
  before_value(w);
  strbuf_puts(w->out, "null");
}
