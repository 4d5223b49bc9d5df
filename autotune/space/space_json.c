// SPDX-License-Identifier: Apache-2.0
// A space from a file: {"dims": {"BLOCK": [64, 128], "num_warps": "1..8:x2"}}, or a list of
// configurations, {"configs": [{"BLOCK": 64, "num_warps": 4}, ...]}.
#include "autotune/space/text.h"
#include "base/json.h"

#include <inttypes.h>

static struct span span_of(const struct source *file, const struct json *j) {
  return (struct span){file, (uint32_t)j->begin, (uint32_t)j->end};
}

static bool wrong(struct diag_engine *diag, struct span at, const char *message) {
  struct diag *d = diag_error(diag, at, E0727, "%s", message);
  diag_help(d, "for example {\"dims\": {\"BLOCK\": [64, 128], \"num_warps\": [4, 8]}}, or "
               "{\"configs\": [{\"BLOCK\": 64, \"num_warps\": 4}]}");
  return false;
}

static struct span key_span(const struct source *file, const struct json *object, size_t i) {
  uint32_t at = (uint32_t)object->key_at[i];
  return (struct span){file, at, at + (uint32_t)object->keys[i].len + 2};
}

// A value as text, as -D would give it.
static bool text_of(struct arena *a, const struct source *file, const struct json *j,
                    struct str *ret) {
  switch (j->kind) {
  case JSON_BOOL: *ret = str_from(j->boolean ? "True" : "False"); return true;
  case JSON_NULL: *ret = STR("None"); return true;
  case JSON_STRING: *ret = j->string; return true;
  case JSON_NUMBER:
    if (j->is_integer)
      *ret = str_from(arena_printf(a, "%" PRId64, j->integer));
    else
      *ret = (struct str){file->text.ptr + j->begin, j->end - j->begin};
    return true;
  case JSON_ARRAY:
  case JSON_OBJECT: break;
  }
  return false;
}

// ---- Dimensions ----

static bool read_values(struct space_builder *b, const struct source *file, size_t dim,
                        const struct json *values) {
  struct span at = span_of(file, values);
  if (values->kind == JSON_STRING)
    return space_item(b, at, dim, values->string);
  if (values->kind != JSON_ARRAY || values->count == 0)
    return wrong(b->diag, at, "the values of a dimension are a list, or a text like \"1..8:x2\"");
  for (size_t i = 0; i < values->count; i++) {
    const struct json *v = values->items[i];
    struct str text;
    if (!text_of(b->a, file, v, &text))
      return wrong(b->diag, span_of(file, v), "a value is a number, a text, true, false or null");
    if (!space_value(b, span_of(file, v), dim, text))
      return false;
  }
  return true;
}

static bool read_dims(struct space_builder *b, const struct source *file, const struct json *dims) {
  struct span at = span_of(file, dims);
  if (dims->kind != JSON_OBJECT || dims->count == 0)
    return wrong(b->diag, at, "`dims` is an object of names and lists");
  for (size_t i = 0; i < dims->count; i++) {
    size_t dim;
    if (!space_dim(b, key_span(file, dims, i), dims->keys[i], &dim) ||
        !read_values(b, file, dim, dims->items[i]))
      return false;
  }
  space_sort(b);
  if (!space_product(b, at, NULL, NULL))
    return false;
  struct tune_config c = space_default_config(b);
  space_put_first(b, &c);
  return true;
}

// ---- Configurations ----

static bool read_config(struct space_builder *b, const struct source *file, const struct json *j,
                        struct space_entry *ret) {
  if (j->kind != JSON_OBJECT)
    return wrong(b->diag, span_of(file, j), "a configuration is an object of names and values");
  *ret = (struct space_entry){.at = span_of(file, j),
                              .pairs = arena_array(b->a, struct space_pair, j->count + 1),
                              .count = j->count};
  for (size_t i = 0; i < j->count; i++) {
    struct span at = span_of(file, j->items[i]);
    ret->pairs[i] = (struct space_pair){.at = at, .name = j->keys[i]};
    if (!text_of(b->a, file, j->items[i], &ret->pairs[i].text))
      return wrong(b->diag, at, "a value is a number, a text, true, false or null");
  }
  return true;
}

static bool read_configs(struct space_builder *b, const struct source *file,
                         const struct json *list) {
  if (list->kind != JSON_ARRAY || list->count == 0)
    return wrong(b->diag, span_of(file, list), "`configs` is a list of configurations");
  struct space_entry *entries = arena_array(b->a, struct space_entry, list->count);
  for (size_t i = 0; i < list->count; i++)
    if (!read_config(b, file, list->items[i], &entries[i]))
      return false;
  return space_list(b, entries, list->count);
}

bool tune_space_from_json(struct arena *a, struct diag_engine *diag, const struct source *file,
                          const struct lang_param *params, size_t param_count,
                          struct tune_space *ret) {
  struct json_error error = {0};
  const struct json *root = json_parse(a, file->text, &error);
  if (!root) {
    uint32_t at = (uint32_t)(error.offset < file->text.len ? error.offset : file->text.len);
    return wrong(diag, (struct span){file, at, at < file->text.len ? at + 1 : at},
                 arena_printf(a, "this is not JSON: %s", error.message));
  }
  struct space_builder b = space_begin(a, diag, params, param_count, file->name, ret);
  if (root->kind != JSON_OBJECT || root->count != 1)
    return wrong(diag, span_of(file, root), "a space is an object with either `dims` or `configs`");
  if (str_is(root->keys[0], "dims"))
    return read_dims(&b, file, root->items[0]);
  if (str_is(root->keys[0], "configs"))
    return read_configs(&b, file, root->items[0]);
  return wrong(diag, span_of(file, root), "a space is an object with either `dims` or `configs`");
}
