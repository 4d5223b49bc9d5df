// SPDX-License-Identifier: Apache-2.0
// The tensor maps of kernel infos as JSON, for caches and packs.
#include "base/kernel_info.h"

static void write_exprs(struct json_writer *w, const char *key, uint32_t n,
                        const struct launch_expr *e) {
  json_key(w, key);
  json_begin_array(w);
  for (uint32_t i = 0; i < n; i++)
    launch_expr_write(&e[i], w);
  json_end_array(w);
}

static void write_map(const struct kernel_map *m, struct json_writer *w) {
  json_begin_object(w);
  json_key(w, "dtype");
  json_cstring(w, dtype_name(m->dtype));
  json_key(w, "base");
  json_int(w, m->base);
  json_key(w, "offset");
  launch_expr_write(&m->offset, w);
  write_exprs(w, "sizes", m->rank, m->sizes);
  write_exprs(w, "strides", m->rank - 1, m->strides);
  json_key(w, "box");
  json_begin_array(w);
  for (uint32_t i = 0; i < m->rank; i++)
    json_int(w, m->box[i]);
  json_end_array(w);
  json_key(w, "swizzle");
  json_int(w, m->swizzle);
  json_key(w, "pads_nan");
  json_bool(w, m->pads_nan);
  json_end_object(w);
}

void kernel_maps_write(const struct kernel_info *info, struct json_writer *w) {
  json_begin_array(w);
  for (uint32_t i = 0; i < info->map_count; i++)
    write_map(&info->maps[i], w);
  json_end_array(w);
}

const char *kernel_maps_text(struct arena *a, const struct kernel_info *info) {
  if (!info->map_count)
    return NULL;
  struct strbuf text = {.arena = a};
  struct json_writer w = {.out = &text};
  kernel_maps_write(info, &w);
  const char *copy = arena_strdup(a, strbuf_cstr(&text));
  strbuf_finish(&text);
  return copy;
}

static bool read_exprs(struct arena *a, const struct json *j, uint32_t n, uint32_t params,
                       struct launch_expr *ret) {
  if (!j || j->kind != JSON_ARRAY || j->count != n)
    return false;
  for (uint32_t i = 0; i < n; i++)
    if (!launch_expr_read(a, j->items[i], &ret[i]) || !launch_expr_is_valid(&ret[i], params))
      return false;
  return true;
}

static bool read_number(const struct json *j, uint32_t most, uint32_t *ret) {
  if (!j || !j->is_integer || j->integer < 0 || j->integer > most)
    return false;
  *ret = (uint32_t)j->integer;
  return true;
}

static bool read_box(const struct json *j, struct kernel_map *ret) {
  if (!j || j->kind != JSON_ARRAY || j->count < 1 || j->count > KERNEL_MAP_RANK)
    return false;
  ret->rank = (uint32_t)j->count;
  for (uint32_t i = 0; i < ret->rank; i++)
    if (!read_number(j->items[i], KERNEL_MAP_BOX, &ret->box[i]) || ret->box[i] == 0)
      return false;
  return true;
}

static bool is_swizzle(uint32_t n) { return n == 0 || n == 32 || n == 64 || n == 128; }

static bool read_map(struct arena *a, const struct json *j, const struct kernel_info *info,
                     struct kernel_map *ret) {
  const struct json *dtype = json_get(j, "dtype"), *nan = json_get(j, "pads_nan");
  *ret = (struct kernel_map){.rank = 0};
  if (!dtype || dtype->kind != JSON_STRING || !dtype_parse(dtype->string, &ret->dtype) || !nan ||
      nan->kind != JSON_BOOL || !read_box(json_get(j, "box"), ret))
    return false;
  ret->pads_nan = nan->boolean;
  return read_number(json_get(j, "base"), UINT32_MAX, &ret->base) &&
         ret->base < info->param_count && info->params[ret->base].is_pointer &&
         read_number(json_get(j, "swizzle"), UINT32_MAX, &ret->swizzle) &&
         is_swizzle(ret->swizzle) && launch_expr_read(a, json_get(j, "offset"), &ret->offset) &&
         launch_expr_is_valid(&ret->offset, info->param_count) &&
         read_exprs(a, json_get(j, "sizes"), ret->rank, info->param_count, ret->sizes) &&
         read_exprs(a, json_get(j, "strides"), ret->rank - 1, info->param_count, ret->strides);
}

bool kernel_maps_read(struct arena *a, const struct json *j, struct kernel_info *info) {
  if (j->kind != JSON_ARRAY || j->count > KERNEL_MAX_MAPS)
    return false;
  info->maps = arena_array(a, struct kernel_map, j->count + 1);
  info->map_count = (uint32_t)j->count;
  if (!info->maps)
    return false;
  for (uint32_t i = 0; i < info->map_count; i++)
    if (!read_map(a, j->items[i], info, &info->maps[i]))
      return false;
  return true;
}
