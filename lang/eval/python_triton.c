// SPDX-License-Identifier: Apache-2.0
// Triton's and torch's functions for host code: configurations and device queries. Queries for the
// vendor return CUDA.
#include "lang/eval/consteval.h"
#include "lang/eval/python.h"

static const struct ast_class config_class = {.name = "Config"};

static const struct ast_field config_fields[HOST_CONFIG_FIELDS] = {
    {.name = "kwargs"},  {.name = "num_warps"}, {.name = "num_stages"}, {.name = "num_ctas"},
    {.name = "maxnreg"}, {.name = "pre_hook"},  {.name = "(number)"}};
static const struct record config_record = {.kind = RECORD_CLASS,
                                            .ast = &config_class,
                                            .fields = config_fields,
                                            .field_count = HOST_CONFIG_FIELDS};

bool host_is_config(struct value v) {
  return v.kind == VALUE_TUPLE && v.tuple.record == &config_record;
}

static struct value or_value(struct call *c, unsigned i, struct value otherwise) {
  return arg_given(c, i) && c->args[i].v.kind != VALUE_NONE ? c->args[i].v : otherwise;
}

static struct value fn_config(struct eval *e, struct call *c) {
  if (!need_known(e, c->args[0]))
    return VALUE_ERROR;
  if (!value_is_record(c->args[0].v, RECORD_DICT)) {
    eval_error(e, c->args[0].at, E0461, "`Config` takes a dictionary of parameters, not %s",
               value_describe(e, c->args[0].v));
    return VALUE_ERROR;
  }
  struct value none = value_of_kind(VALUE_NONE), fields[HOST_CONFIG_FIELDS];
  fields[HOST_CONFIG_KWARGS] = c->args[0].v;
  fields[HOST_CONFIG_WARPS] = or_value(c, 1, value_int(4));
  fields[HOST_CONFIG_STAGES] = or_value(c, 2, value_int(3));
  fields[HOST_CONFIG_CTAS] = or_value(c, 3, value_int(1));
  fields[HOST_CONFIG_REGISTERS] = or_value(c, 4, none);
  fields[HOST_CONFIG_PRE_HOOK] = or_value(c, 5, none);
  fields[HOST_CONFIG_NUMBER] = value_int((int_const)e->purpose->configs.len);
  struct host_config said = {.span = c->at,
                             .kwargs_at = c->args[0].at,
                             .has_warps = or_value(c, 1, none).kind != VALUE_NONE,
                             .has_stages = or_value(c, 2, none).kind != VALUE_NONE};
  vec_push(e->a, &e->purpose->configs, said);
  return host_record(e, &config_record, HOST_CONFIG_FIELDS, fields);
}

static struct value fn_autotune(struct eval *e, struct call *c) {
  static const struct ast_class class = {.name = "autotune"};
  static const struct ast_field names[] = {{.name = "configs"},
                                           {.name = "key"},
                                           {.name = "prune"},
                                           {.name = "reset"},
                                           {.name = "restore"}};
  static const struct record record = {
      .kind = RECORD_CLASS, .ast = &class, .fields = names, .field_count = HOST_AUTOTUNE_FIELDS};
  struct value fields[HOST_AUTOTUNE_FIELDS];
  for (unsigned i = 0; i < HOST_AUTOTUNE_FIELDS; i++)
    fields[i] = or_value(c, i, value_of_kind(VALUE_NONE));
  for (unsigned i = 0; i < HOST_AUTOTUNE_FIELDS; i++)
    if (arg_given(c, i) && !e->purpose->autotune_at[i].source)
      e->purpose->autotune_at[i] = c->args[i].at;
  return host_record(e, &record, HOST_AUTOTUNE_FIELDS, fields);
}

static struct value fn_heuristics(struct eval *e, struct call *c) {
  (void)e;
  return c->args[0].v;
}

static struct value fn_next_power(struct eval *e, struct call *c) {
  int64_t n;
  int_const p = 1;
  if (!need_const_int(e, c->args[0], "the argument of `next_power_of_2`", &n))
    return VALUE_ERROR;
  while (p < n)
    p *= 2;
  if (c->builtin->tag && p > n)
    p /= 2;
  return value_int(p);
}

// ---- the device ----

// "sm_90a" is 90; a target that is not an NVIDIA GPU gives 80.
static int capability(const struct eval *e) {
  const char *t = e->options->target;
  int n = 0;
  if (t && strncmp(t, "sm_", 3) == 0)
    for (const char *p = t + 3; *p >= '0' && *p <= '9'; p++)
      n = n * 10 + (*p - '0');
  return n ? n : 80;
}

static struct value fn_capability(struct eval *e, struct call *c) {
  (void)c;
  struct value *pair = arena_array(e->a, struct value, 2);
  pair[0] = value_int(capability(e) / 10);
  pair[1] = value_int(capability(e) % 10);
  return value_tuple(pair, 2);
}

static struct value fn_target(struct eval *e, struct call *c) {
  static const struct ast_class class = {.name = "GPUTarget"};
  static const struct ast_field names[] = {
      {.name = "backend"}, {.name = "arch"}, {.name = "warp_size"}};
  static const struct record record = {
      .kind = RECORD_CLASS, .ast = &class, .fields = names, .field_count = COUNT_OF(names)};
  (void)c;
  struct value fields[] = {value_str(STR("cuda")), value_int(capability(e)), value_int(32)};
  return host_record(e, &record, COUNT_OF(fields), fields);
}

// tag: the result; 2 zero, 3 the name of the vendor, 4 one.
static struct value fn_answer(struct eval *e, struct call *c) {
  (void)e;
  switch (c->builtin->tag) {
  case 2: return value_int(0);
  case 3: return value_str(STR("cuda"));
  case 4: return value_int(1);
  default: return value_bool(c->builtin->tag == 1);
  }
}

// triton.backends.backends: NVIDIA's backend, whose driver is active.
struct value host_backends(struct eval *e) {
  static const struct builtin is_active = {"is_active", "", BUILTIN_HOST, fn_answer, 1};
  static const struct ast_class driver_class = {.name = "CudaDriver"}, class = {.name = "Backend"};
  static const struct ast_field driver_names[] = {{.name = "is_active"}};
  static const struct ast_field names[] = {{.name = "compiler"}, {.name = "driver"}};
  static const struct record driver_record = {
      .kind = RECORD_CLASS, .ast = &driver_class, .fields = driver_names, .field_count = 1};
  static const struct record record = {
      .kind = RECORD_CLASS, .ast = &class, .fields = names, .field_count = COUNT_OF(names)};
  struct value active = {.kind = VALUE_BUILTIN, .builtin = &is_active};
  struct value fields[] = {host_opaque(e, "triton.backends.nvidia.compiler.CUDABackend"),
                           host_record(e, &driver_record, 1, &active)};
  struct value dict = host_dict(e);
  host_dict_put(e, dict, value_str(STR("nvidia")),
                host_record(e, &record, COUNT_OF(fields), fields));
  return dict;
}

// get_device_properties: the properties that follow from the architecture.
static struct value fn_properties(struct eval *e, struct call *c) {
  (void)c;
  int arch = capability(e);
  int_const shared = arch >= 90 && arch < 120   ? 232448
                     : arch == 80 || arch == 87 ? 166912
                     : arch >= 80               ? 101376
                     : arch >= 75               ? 65536
                                                : 98304;
  struct value dict = host_dict(e);
  host_dict_put(e, dict, value_str(STR("max_shared_mem")), value_int(shared));
  host_dict_put(e, dict, value_str(STR("warpSize")), value_int(32));
  host_dict_put(e, dict, value_str(STR("max_num_regs")), value_int(65536));
  return dict;
}

// ---- the table ----

static const struct builtin functions[] = {
    {"Config",
     "kwargs num_warps= num_stages= num_ctas= maxnreg= pre_hook= ir_override= "
     "num_buffers_warp_spec= num_consumer_groups= reg_dec_producer= reg_inc_consumer= "
     "enable_warp_specialization=",
     BUILTIN_HOST | BUILTIN_BARE, fn_config, 0},
    {"autotune",
     "configs key= prune_configs_by= reset_to_zero= restore_value= pre_hook= post_hook= warmup= "
     "rep= use_cuda_graph= do_bench= cache_results=",
     BUILTIN_HOST | BUILTIN_BARE, fn_autotune, 0},
    {"heuristics", "values", BUILTIN_HOST | BUILTIN_BARE, fn_heuristics, 0},
    {"next_power_of_2", "n", BUILTIN_HOST, fn_next_power, 0},
    {"previous_power_of_2", "n", BUILTIN_HOST, fn_next_power, 1},
    {"prev_power_of_2", "n", BUILTIN_HOST, fn_next_power, 1},
    {"get_device_capability", "device=", BUILTIN_HOST, fn_capability, 0},
    {"get_current_target", "", BUILTIN_HOST, fn_target, 0},
    {"get_device_properties", "device=", BUILTIN_HOST, fn_properties, 0},
    {"current_device", "", BUILTIN_HOST, fn_answer, 2},
    {"get_current_device", "", BUILTIN_HOST, fn_answer, 2},
    {"device_count", "", BUILTIN_HOST, fn_answer, 4},
    {"is_available", "", BUILTIN_HOST, fn_answer, 1},
    {"is_cuda", "", BUILTIN_HOST, fn_answer, 1},
    {"is_hip", "", BUILTIN_HOST, fn_answer, 0},
    {"is_xpu", "", BUILTIN_HOST, fn_answer, 0},
    {"is_npu", "", BUILTIN_HOST, fn_answer, 0},
    {"is_npu_available", "", BUILTIN_HOST, fn_answer, 0},
    {"get_backend", "", BUILTIN_HOST, fn_answer, 3},
};

const struct builtin *host_triton(const char *name) {
  for (size_t i = 0; i < COUNT_OF(functions); i++)
    if (strcmp(functions[i].name, name) == 0)
      return &functions[i];
  return NULL;
}
