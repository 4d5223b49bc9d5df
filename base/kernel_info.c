// SPDX-License-Identifier: Apache-2.0
// Kernel infos as JSON, for caches and packs.
#include "base/kernel_info.h"

#define MAX_PARAMS 4096

static void write_descriptor(const struct kernel_param *p, struct json_writer *w) {
  json_key(w, "block");
  json_begin_array(w);
  for (uint32_t i = 0; i < p->descriptor_rank; i++)
    json_int(w, p->block[i]);
  json_end_array(w);
  json_key(w, "pads_nan");
  json_bool(w, p->pads_nan);
}

static void write_param(const struct kernel_param *p, struct json_writer *w) {
  json_begin_object(w);
  json_key(w, "name");
  json_cstring(w, p->name);
  json_key(w, "pointer");
  json_bool(w, p->is_pointer);
  json_key(w, "dtype");
  json_cstring(w, dtype_name(p->dtype));
  json_key(w, "divisible_by");
  json_int(w, p->divisible_by);
  json_key(w, "const");
  json_bool(w, p->is_const);
  if (p->descriptor_rank)
    write_descriptor(p, w);
  json_end_object(w);
}

void kernel_info_write(const struct kernel_info *info, struct json_writer *w) {
  json_begin_object(w);
  json_key(w, "name");
  json_cstring(w, info->name);
  json_key(w, "target");
  json_cstring(w, info->target);
  json_key(w, "num_warps");
  json_int(w, info->num_warps);
  json_key(w, "num_stages");
  json_int(w, info->num_stages);
  json_key(w, "shared_bytes");
  json_int(w, info->shared_bytes);
  json_key(w, "uses_collectives");
  json_bool(w, info->uses_collectives);
  if (info->calls_programs) {
    json_key(w, "calls_programs");
    json_bool(w, true);
  }
  json_key(w, "params");
  json_begin_array(w);
  for (uint32_t i = 0; i < info->param_count; i++)
    write_param(&info->params[i], w);
  json_end_array(w);
  json_key(w, "producer_warps");
  json_int(w, info->producer_warps);
  json_key(w, "launch_pdl");
  json_bool(w, info->launch_pdl);
  if (info->num_ctas) {
    json_key(w, "num_ctas");
    json_int(w, info->num_ctas);
  }
  json_key(w, "maps");
  kernel_maps_write(info, w);
  json_end_object(w);
}

static bool read_string(struct arena *a, const struct json *j, const char *key, const char **ret) {
  const struct json *v = json_get(j, key);
  if (!v || v->kind != JSON_STRING || memchr(v->string.ptr, 0, v->string.len))
    return false;
  *ret = arena_strndup(a, v->string.ptr, v->string.len);
  return *ret != NULL;
}

static bool read_u32(const struct json *j, const char *key, uint32_t *ret) {
  const struct json *v = json_get(j, key);
  if (!v || !v->is_integer || v->integer < 0 || v->integer > UINT32_MAX)
    return false;
  *ret = (uint32_t)v->integer;
  return true;
}

static bool read_bool(const struct json *j, const char *key, bool *ret) {
  const struct json *v = json_get(j, key);
  if (!v || v->kind != JSON_BOOL)
    return false;
  *ret = v->boolean;
  return true;
}

static bool read_descriptor(const struct json *j, struct kernel_param *ret) {
  const struct json *block = json_get(j, "block");
  if (!block)
    return true;
  if (block->kind != JSON_ARRAY || block->count < 1 || block->count > COUNT_OF(ret->block) ||
      !ret->is_pointer || !read_bool(j, "pads_nan", &ret->pads_nan))
    return false;
  ret->descriptor_rank = (uint32_t)block->count;
  for (size_t i = 0; i < block->count; i++) {
    const struct json *n = block->items[i];
    if (!n->is_integer || n->integer < 1 || n->integer > INT32_MAX ||
        !is_pow2((uint64_t)n->integer))
      return false;
    ret->block[i] = (uint32_t)n->integer;
  }
  return true;
}

static bool read_param(struct arena *a, const struct json *j, struct kernel_param *ret) {
  const char *dtype;
  return read_string(a, j, "name", &ret->name) && read_bool(j, "pointer", &ret->is_pointer) &&
         read_string(a, j, "dtype", &dtype) && dtype_parse(str_from(dtype), &ret->dtype) &&
         read_u32(j, "divisible_by", &ret->divisible_by) && read_bool(j, "const", &ret->is_const) &&
         read_descriptor(j, ret);
}

// The sizes and strides of each descriptor follow its base.
static bool descriptors_are_whole(const struct kernel_info *info) {
  for (uint32_t i = 0; i < info->param_count; i++) {
    const struct kernel_param *p = &info->params[i];
    uint32_t rank = p->descriptor_rank;
    if (kernel_param_span(p) > info->param_count - i)
      return false;
    for (uint32_t k = 1; k < 2 * rank; k++)
      if (p[k].is_pointer || p[k].dtype != (k <= rank ? DTYPE_I32 : DTYPE_I64))
        return false;
  }
  return true;
}

bool kernel_info_read(struct arena *a, const struct json *j, struct kernel_info *ret) {
  struct kernel_info info = {0};
  const struct json *params = json_get(j, "params"), *maps = json_get(j, "maps");
  if (!read_string(a, j, "name", &info.name) || !read_string(a, j, "target", &info.target) ||
      !read_u32(j, "num_warps", &info.num_warps) || !read_u32(j, "num_stages", &info.num_stages) ||
      !read_u32(j, "shared_bytes", &info.shared_bytes) ||
      !read_bool(j, "uses_collectives", &info.uses_collectives) ||
      (json_get(j, "calls_programs") && !read_bool(j, "calls_programs", &info.calls_programs)) ||
      !read_u32(j, "producer_warps", &info.producer_warps) ||
      !read_bool(j, "launch_pdl", &info.launch_pdl) ||
      (json_get(j, "num_ctas") && !read_u32(j, "num_ctas", &info.num_ctas)) ||
      !kernel_ctas_are_valid(info.num_ctas) || !maps || !params || params->kind != JSON_ARRAY ||
      params->count > MAX_PARAMS)
    return false;
  info.param_count = (uint32_t)params->count;
  info.params = arena_array(a, struct kernel_param, params->count);
  if (!info.params)
    return false;
  for (uint32_t i = 0; i < info.param_count; i++)
    if (!read_param(a, params->items[i], &info.params[i]))
      return false;
  if (!descriptors_are_whole(&info) || !kernel_maps_read(a, maps, &info))
    return false;
  *ret = info;
  return true;
}
