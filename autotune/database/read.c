// SPDX-License-Identifier: Apache-2.0
// Reads FILE.tune.json. People commit, edit and merge these files, so errors have a line and
// column; nothing is guessed, and an invalid file is never overwritten.
#include "autotune/database/database_internal.h"
#include "base/file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct reader {
  struct arena *a;
  struct diag_engine *diag;
  const struct source *source;
};

static struct span span_at(const struct reader *r, size_t begin, size_t end) {
  return (struct span){r->source, (uint32_t)begin, (uint32_t)end};
}

static struct span location_of(const struct reader *r, const struct json *j) {
  // Shows the beginning of a long value.
  return span_at(r, j->begin, j->end - j->begin > 64 ? j->begin + 1 : j->end);
}

static bool wrong(const struct reader *r, const struct json *at, const char *what) {
  diag_error(r->diag, location_of(r, at), E0760, "%s", what);
  return false;
}

// ---- settings ----

bool tune_settings_read(struct arena *a, const struct json *object, struct tune_setting **ret,
                        size_t *ret_count, const struct json **ret_wrong) {
  struct tune_setting *s = arena_array(a, struct tune_setting, object->count + 1);
  for (size_t i = 0; i < object->count; i++) {
    const struct json *v = object->items[i];
    bool is_text = v->kind == JSON_STRING, is_number = v->kind == JSON_NUMBER && v->is_integer;
    *ret_wrong = v;
    if ((!is_text && !is_number && v->kind != JSON_BOOL) ||
        (is_text && memchr(v->string.ptr, 0, v->string.len)))
      return false;
    s[i].name = arena_strndup(a, object->keys[i].ptr, object->keys[i].len);
    s[i].value = is_text      ? arena_strndup(a, v->string.ptr, v->string.len)
                 : is_number  ? arena_printf(a, "%lld", (long long)v->integer)
                 : v->boolean ? "True"
                              : "False";
    s[i].value = tune_setting_text(a, s[i].value);
  }
  tune_settings_sort(s, object->count);
  *ret = s;
  *ret_count = object->count;
  return true;
}

static bool read_settings(const struct reader *r, const struct json *j, struct tune_setting **ret,
                          size_t *ret_count) {
  const struct json *bad;
  if (j->kind != JSON_OBJECT)
    return wrong(r, j, "expected an object of settings");
  return tune_settings_read(r->a, j, ret, ret_count, &bad) ||
         wrong(r, bad, "a setting is an integer or a string");
}

// ---- members of an entry ----

static bool read_text(const struct reader *r, const struct json *j, const char **ret) {
  if (j->kind != JSON_STRING || memchr(j->string.ptr, 0, j->string.len))
    return wrong(r, j, "expected a string");
  *ret = arena_strndup(r->a, j->string.ptr, j->string.len);
  return true;
}

static bool read_time(const struct reader *r, const struct json *j, double *ret) {
  *ret = j->number;
  return (j->kind == JSON_NUMBER && isfinite(j->number) && j->number > 0) ||
         wrong(r, j, "expected milliseconds: a number above 0");
}

static bool read_bytes(const struct reader *r, const struct json *j, int64_t *ret) {
  *ret = j->integer;
  return (j->kind == JSON_NUMBER && j->is_integer && j->integer >= 0) ||
         wrong(r, j, "expected a number of bytes");
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hash(const struct reader *r, const struct json *j, uint8_t ret[32]) {
  bool ok = j->kind == JSON_STRING && j->string.len == 64;
  for (size_t i = 0; ok && i < 32; i++) {
    int high = hex_digit(j->string.ptr[2 * i]), low = hex_digit(j->string.ptr[2 * i + 1]);
    ok = high >= 0 && low >= 0;
    ret[i] = (uint8_t)(high * 16 + low);
  }
  return ok || wrong(r, j, "expected a SHA-256: 64 hexadecimal digits");
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct tune_key_value *)a)->name, ((const struct tune_key_value *)b)->name);
}

static bool read_values(const struct reader *r, const struct json *j, struct tune_key *k) {
  if (j->kind != JSON_OBJECT)
    return wrong(r, j, "expected an object of integers");
  k->values = arena_array(r->a, struct tune_key_value, j->count + 1);
  k->value_count = j->count;
  for (size_t i = 0; i < j->count; i++) {
    if (j->items[i]->kind != JSON_NUMBER || !j->items[i]->is_integer)
      return wrong(r, j->items[i], "expected an integer of 64 bits");
    k->values[i] = (struct tune_key_value){arena_strndup(r->a, j->keys[i].ptr, j->keys[i].len),
                                           j->items[i]->integer};
  }
  if (j->count)
    qsort(k->values, j->count, sizeof *k->values, by_name);
  return true;
}

// Names are unique, and are C strings.
static bool check_names(const struct reader *r, const struct json *object) {
  struct map seen = {0};
  for (size_t i = 0; i < object->count; i++) {
    struct str key = object->keys[i];
    struct span at = span_at(r, object->key_at[i], object->key_at[i] + 1);
    if (map_get(&seen, key) || memchr(key.ptr, 0, key.len)) {
      diag_error(r->diag, at, E0760, "`%.*s` is there twice", STR_ARG(key));
      return false;
    }
    map_put(r->a, &seen, key, r->source->line_starts);
  }
  return true;
}

// ---- entries ----

enum member {
  M_KERNEL,
  M_TARGET,
  M_DEVICE,
  M_TYPES,
  M_FIXED,
  M_KEY,
  M_CONFIG,
  M_MS,
  M_DEFAULT_MS,
  M_SPILLED,
  M_TUNED,
  M_HASH,
  M_COUNT
};
static const char *const member_names[M_COUNT] = {"kernel",     "target",        "device", "types",
                                                  "fixed",      "key",           "config", "ms",
                                                  "default_ms", "spilled_bytes", "tuned",  "hash"};

static bool read_member(const struct reader *r, enum member m, const struct json *j,
                        struct tune_entry *e) {
  if ((m == M_FIXED || m == M_KEY || m == M_CONFIG) && j->kind == JSON_OBJECT && !check_names(r, j))
    return false;
  switch (m) {
  case M_KERNEL: return read_text(r, j, &e->key.kernel);
  case M_TARGET: return read_text(r, j, &e->key.target);
  case M_DEVICE: return read_text(r, j, &e->key.device);
  case M_TYPES: return read_text(r, j, &e->key.types);
  case M_FIXED: return read_settings(r, j, &e->key.fixed, &e->key.fixed_count);
  case M_KEY: return read_values(r, j, &e->key);
  case M_CONFIG: return read_settings(r, j, &e->settings, &e->setting_count);
  case M_MS: return read_time(r, j, &e->ms);
  case M_DEFAULT_MS: return read_time(r, j, &e->default_ms);
  case M_SPILLED: return read_bytes(r, j, &e->spilled_bytes);
  case M_TUNED: return read_text(r, j, &e->version);
  case M_HASH: return read_hash(r, j, e->key.hash);
  case M_COUNT: break;
  }
  return false;
}

static bool unknown_member(const struct reader *r, const struct json *j, size_t i,
                           const char *const *names, size_t count) {
  struct diag *d = diag_error(r->diag, span_at(r, j->key_at[i], j->key_at[i] + j->keys[i].len + 2),
                              E0760, "unknown member `%.*s`", STR_ARG(j->keys[i]));
  const char *near = str_nearest(j->keys[i], names, count);
  if (near)
    diag_help(d, "did you mean `%s`?", near);
  return false;
}

static bool read_entry(const struct reader *r, const struct json *j, struct tune_entry *e) {
  bool has[M_COUNT] = {false};
  if (j->kind != JSON_OBJECT)
    return wrong(r, j, "an entry is an object");
  if (!check_names(r, j))
    return false;
  e->span = span_at(r, j->begin, j->begin + 1);
  for (size_t i = 0; i < j->count; i++) {
    int m = 0;
    while (m < M_COUNT && !str_is(j->keys[i], member_names[m]))
      m++;
    if (m == M_COUNT)
      return unknown_member(r, j, i, member_names, M_COUNT);
    if (!read_member(r, (enum member)m, j->items[i], e))
      return false;
    has[m] = true;
  }
  for (int m = 0; m < M_COUNT; m++)
    if (!has[m] && m != M_FIXED && m != M_DEFAULT_MS && m != M_SPILLED) {
      diag_error(r->diag, e->span, E0760, "the entry has no `%s`", member_names[m]);
      return false;
    }
  return true;
}

// ---- the file ----

static bool check_version(const struct reader *r, const struct json *j) {
  const struct json *version = json_get(j, "tile_tune");
  if (!version) {
    diag_help(diag_error(r->diag, location_of(r, j), E0760, "this is no file of tunings"),
              "it begins with `{\"tile_tune\": %d, \"entries\": [`", TUNE_FILE_VERSION);
    return false;
  }
  if (version->kind != JSON_NUMBER || !version->is_integer)
    return wrong(r, version, "expected the version of the format: an integer");
  if (version->integer == TUNE_FILE_VERSION)
    return true;
  diag_help(diag_error(r->diag, location_of(r, version), E0761,
                       "the file has version %lld of the format, this compiler reads %d",
                       (long long)version->integer, TUNE_FILE_VERSION),
            version->integer > TUNE_FILE_VERSION
                ? "use the compiler that wrote it, or a newer one"
                : "remove the file and tune again: `tilec --autotune`");
  return false;
}

static bool read_top(const struct reader *r, const struct json *j, struct tune_file *f) {
  static const char *const names[] = {"tile_tune", "entries"};
  if (j->kind != JSON_OBJECT)
    return wrong(r, j, "expected an object");
  if (!check_version(r, j) || !check_names(r, j))
    return false;
  for (size_t i = 0; i < j->count; i++)
    if (!str_is(j->keys[i], names[0]) && !str_is(j->keys[i], names[1]))
      return unknown_member(r, j, i, names, COUNT_OF(names));
  const struct json *entries = json_get(j, "entries");
  if (!entries || entries->kind != JSON_ARRAY)
    return wrong(r, entries ? entries : j, "expected `entries`, an array");
  f->entries = arena_array(r->a, struct tune_entry, entries->count + 1);
  f->count = entries->count;
  for (size_t i = 0; i < entries->count; i++)
    if (!read_entry(r, entries->items[i], &f->entries[i]))
      return false;
  return true;
}

// Conflict markers of version control.
static bool is_conflict(struct str text, size_t offset) {
  struct str rest = {text.ptr + offset, text.len - offset};
  return str_starts(rest, "<<<<<<<") || str_starts(rest, "=======") ||
         str_starts(rest, ">>>>>>>") || str_starts(rest, "|||||||");
}

static bool not_json(const struct reader *r, const struct json_error *e) {
  size_t end = e->offset < r->source->text.len ? e->offset + 1 : e->offset;
  struct diag *d = diag_error(r->diag, span_at(r, e->offset, end), E0760, "%s", e->message);
  if (is_conflict(r->source->text, e->offset))
    diag_help(d,
              "a merge left this conflict: `tilec --tunings merge` joins the two versions of the "
              "file");
  return false;
}

bool tune_file_parse(struct arena *a, struct diag_engine *diag, const struct source *source,
                     struct tune_file *ret) {
  struct reader r = {a, diag, source};
  struct json_error error;
  const struct json *j = json_parse(a, source->text, &error);
  *ret = (struct tune_file){0};
  struct tune_file f = {0};
  if (!j)
    return not_json(&r, &error);
  if (!read_top(&r, j, &f))
    return false;
  tune_file_sort(&f);
  *ret = f;
  return true;
}

bool tune_file_read(struct arena *a, struct diag_engine *diag, const char *path,
                    struct tune_file *ret) {
  struct str text;
  *ret = (struct tune_file){0};
  int error = file_read(a, path, TUNE_FILE_MAX_BYTES, &text);
  if (error == ENOENT || error == ENOTDIR)
    return true;
  if (error == EFBIG)
    diag_error(diag, SPAN_NONE, E0901, "`%s` is larger than %u MiB", path,
               TUNE_FILE_MAX_BYTES >> 20);
  else if (error)
    diag_error(diag, SPAN_NONE, E0710, "cannot read `%s`: %s", path, strerror(error));
  return !error && tune_file_parse(a, diag, source_create(a, path, text), ret);
}
