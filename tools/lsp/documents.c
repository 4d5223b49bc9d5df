// SPDX-License-Identifier: Apache-2.0
// Documents and snapshots own arenas, so that closing and replacing them frees everything.
#include "tools/lsp/documents.h"

#include <ctype.h>

// ---- URIs ----

static int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c = (char)tolower((unsigned char)c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const char *uri_to_path(struct arena *a, const char *uri) {
  const char *path = uri;
  if (strncmp(uri, "file://", 7) == 0) {
    path = strchr(uri + 7, '/'); // behind the name of the machine
    path = path ? path : uri;
  }
  char *out = arena_strdup(a, path), *to = out;
  for (const char *c = path; *c; c++) {
    int high = *c == '%' ? hex_digit(c[1]) : -1, low = high >= 0 ? hex_digit(c[2]) : -1;
    bool is_escape = low >= 0 && high * 16 + low > 0;
    *to++ = is_escape ? (char)(high * 16 + low) : *c;
    c += is_escape ? 2 : 0;
  }
  *to = '\0';
  return out;
}

const char *uri_from_path(struct arena *a, const char *path) {
  struct strbuf text = {.arena = a};
  strbuf_puts(&text, "file://");
  for (const char *c = path; *c; c++)
    if (isalnum((unsigned char)*c) || strchr("/._-~", *c))
      strbuf_putc(&text, *c);
    else
      strbuf_printf(&text, "%%%02X", (unsigned)(unsigned char)*c);
  const char *uri = arena_strdup(a, strbuf_cstr(&text));
  strbuf_finish(&text);
  return uri;
}

// ---- snapshots ----

struct creation {
  struct arena *a;
  const char *path;
  struct str text;
  struct snapshot *made;
};

static void make_snapshot(void *user) {
  struct creation *c = user;
  struct snapshot *s = arena_new(c->a, struct snapshot);
  s->arena = c->a;
  s->source = source_create(c->a, c->path, c->text);
  s->lines = text_lines_of(c->a, s->source->text);
  struct diag_engine *diag = diag_engine_create(c->a);
  s->unit = lang_unit_read(c->a, diag, s->source);
  s->has_errors = !s->unit || diag_error_count(diag) > 0;
  c->made = s;
}

static struct snapshot *snapshot_create(const char *path, struct str text) {
  struct creation c = {arena_create(), path, text, NULL};
  if (c.a && text.len <= SOURCE_MAX_BYTES && arena_guard(c.a, make_snapshot, &c))
    return c.made;
  arena_destroy(c.a);
  return NULL;
}

static void snapshot_destroy(struct snapshot *s) {
  if (s)
    arena_destroy(s->arena);
}

// ---- documents ----

struct opening {
  struct arena *a;
  const char *uri;
  struct document *made;
};

static void make_document(void *user) {
  struct opening *o = user;
  struct document *d = arena_new(o->a, struct document);
  d->arena = o->a;
  d->uri = arena_strdup(o->a, o->uri);
  d->path = uri_to_path(o->a, d->uri);
  o->made = d;
}

struct document *document_open(const struct analysis_settings *settings, const char *uri,
                               int64_t version, struct str text) {
  struct opening o = {arena_create(), uri, NULL};
  if (!o.a || !arena_guard(o.a, make_document, &o) || !document_set_text(o.made, text)) {
    arena_destroy(o.a);
    return NULL;
  }
  o.made->settings = settings;
  o.made->version = version;
  return o.made;
}

void document_close(struct document *d) {
  if (!d)
    return;
  snapshot_destroy(d->now);
  snapshot_destroy(d->parsed);
  analysis_destroy(d->newest);
  analysis_destroy(d->intact);
  arena_destroy(d->arena);
}

bool document_set_text(struct document *d, struct str text) {
  struct snapshot *s = snapshot_create(d->path, text);
  if (!s)
    return false;
  struct snapshot *kept = !s->has_errors                  ? NULL
                          : d->now && !d->now->has_errors ? d->now
                                                          : d->parsed;
  if (d->parsed != kept)
    snapshot_destroy(d->parsed);
  if (d->now != kept)
    snapshot_destroy(d->now);
  d->parsed = kept;
  d->now = s;
  d->is_pending = true;
  d->has_layouts = false;
  return true;
}

void document_set_analysis(struct document *d, struct analysis *of) {
  struct analysis *kept = !of->has_syntax_errors                       ? NULL
                          : d->newest && !d->newest->has_syntax_errors ? d->newest
                                                                       : d->intact;
  if (d->intact != kept)
    analysis_destroy(d->intact);
  if (d->newest != kept)
    analysis_destroy(d->newest);
  d->intact = kept;
  d->newest = of;
}

const struct ast_module *document_tree(const struct document *d, const struct snapshot **ret_of) {
  const struct snapshot *s = d->now->unit || !d->parsed ? d->now : d->parsed;
  *ret_of = s;
  return s->unit ? s->unit->tree : NULL;
}
