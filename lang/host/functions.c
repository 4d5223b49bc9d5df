// SPDX-License-Identifier: Apache-2.0
// Functions of host code: Python's own, a few of its library, and what Triton and torch say of a
// device. Questions for the vendor answer CUDA.
#include "lang/host/functions.h"

#include "lang/builtins/builtins.h"
#include "lang/emit/consteval.h"

#include <math.h>

static struct value host_call(struct emitter *e, struct operand f, const struct value *args,
                              size_t count, struct span at) {
  struct operand *operands = arena_array(e->a, struct operand, count + 1);
  for (size_t i = 0; i < count; i++)
    operands[i] = (struct operand){args[i], at};
  return host_value(e, emit_call_value(e, f, operands, NULL, count, at));
}

// ---- sequences ----

static bool less(struct emitter *e, struct value a, struct value b, struct span at, bool *ret) {
  for (size_t i = 0; a.kind == VALUE_TUPLE && b.kind == VALUE_TUPLE; i++) {
    if (i == a.tuple.len || i == b.tuple.len)
      return *ret = a.tuple.len < b.tuple.len, true;
    if (!const_equal(a.tuple.at[i], b.tuple.at[i]))
      return less(e, a.tuple.at[i], b.tuple.at[i], at, ret);
  }
  struct operand x = {a, at}, y = {b, at};
  if (!need_known(e, x) || !need_known(e, y))
    return false;
  struct value v = const_compare(e, OP_LT, x, y, at);
  return v.kind == VALUE_BOOL && (*ret = v.b, true);
}

bool host_sort(struct emitter *e, struct tuple items, struct operand key, bool reverse,
               struct span at, struct value *ret) {
  struct value *v = arena_array(e->a, struct value, items.len + 1);
  struct value *keys = arena_array(e->a, struct value, items.len + 1);
  for (size_t i = 0; i < items.len; i++) {
    struct value k =
        key.v.kind == VALUE_NONE ? items.at[i] : host_call(e, key, &items.at[i], 1, at);
    size_t to = i;
    for (; to > 0; to--) { // equal ones stay in order
      bool before;
      if (!less(e, reverse ? keys[to - 1] : k, reverse ? k : keys[to - 1], at, &before))
        return false;
      if (!before)
        break;
      keys[to] = keys[to - 1];
      v[to] = v[to - 1];
    }
    keys[to] = k;
    v[to] = items.at[i];
  }
  *ret = value_tuple(v, items.len);
  return true;
}

static struct value fn_sorted(struct emitter *e, struct call *c) {
  struct operand no_key = {value_of_kind(VALUE_NONE), c->at};
  struct tuple t;
  struct value r;
  bool reverse = false;
  if (!need_sequence(e, c->args[0], &t) ||
      (arg_given(c, 2) && !need_const_bool(e, c->args[2], "`reverse`", &reverse)) ||
      !host_sort(e, t, arg_given(c, 1) ? c->args[1] : no_key, reverse, c->at, &r))
    return VALUE_ERROR;
  return r;
}

// tag: 1 the largest.
static struct value fn_nsmallest(struct emitter *e, struct call *c) {
  struct operand no_key = {value_of_kind(VALUE_NONE), c->at};
  struct tuple t;
  struct value r;
  int64_t n;
  if (!need_const_int(e, c->args[0], "how many", &n) || !need_sequence(e, c->args[1], &t) ||
      !host_sort(e, t, arg_given(c, 2) ? c->args[2] : no_key, c->builtin->tag, c->at, &r))
    return VALUE_ERROR;
  r.tuple.len = n < 0 ? 0 : (size_t)n < t.len ? (size_t)n : t.len;
  return r;
}

static struct value fn_reversed(struct emitter *e, struct call *c) {
  struct tuple t;
  if (!need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  struct value *at = arena_array(e->a, struct value, t.len + 1);
  for (size_t i = 0; i < t.len; i++)
    at[i] = t.at[t.len - 1 - i];
  return value_tuple(at, t.len);
}

static struct value fn_filter(struct emitter *e, struct call *c) {
  struct tuple t;
  if (!need_sequence(e, c->args[1], &t))
    return VALUE_ERROR;
  struct value *at = arena_array(e->a, struct value, t.len + 1);
  size_t n = 0;
  for (size_t i = 0; i < t.len; i++) {
    bool take;
    struct value v =
        c->args[0].v.kind == VALUE_NONE ? t.at[i] : host_call(e, c->args[0], &t.at[i], 1, c->at);
    if (!need_const_bool(e, (struct operand){v, c->at}, "what a filter says", &take))
      return VALUE_ERROR;
    if (take)
      at[n++] = t.at[i];
  }
  return value_tuple(at, n);
}

static struct value fn_map(struct emitter *e, struct call *c) {
  struct value rows = builtin_zip(e, c); // of the rest
  if (value_is_poison(rows))
    return rows;
  struct value *at = arena_array(e->a, struct value, rows.tuple.len + 1);
  for (size_t i = 0; i < rows.tuple.len; i++) {
    struct tuple row = rows.tuple.at[i].tuple;
    at[i] = host_call(e, c->args[0], row.at, row.len, c->at);
  }
  return e->stopped ? VALUE_ERROR : value_tuple(at, rows.tuple.len);
}

// tag: 1 all.
static struct value fn_any(struct emitter *e, struct call *c) {
  struct tuple t;
  if (!need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  bool all = c->builtin->tag == 1, holds;
  for (size_t i = 0; i < t.len; i++) {
    if (!need_const_bool(e, (struct operand){t.at[i], c->args[0].at}, "a truth", &holds))
      return VALUE_ERROR;
    if (holds != all)
      return value_bool(!all);
  }
  return value_bool(all);
}

// tag: the operator.
static struct value fn_fold(struct emitter *e, struct call *c) {
  struct tuple t;
  enum ast_op op = (enum ast_op)c->builtin->tag;
  if (!need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  struct operand acc = {arg_given(c, 1) ? c->args[1].v : value_int(op == OP_MUL), c->at};
  for (size_t i = 0; i < t.len; i++) {
    struct operand x = {t.at[i], c->args[0].at};
    if (!need_known(e, x))
      return VALUE_ERROR;
    bool is_first = i == 0 && x.v.kind == VALUE_TUPLE && !arg_given(c, 1);
    acc.v = is_first ? x.v : const_binary(e, op, acc, x, c->at);
  }
  return acc.v;
}

static struct value fn_set(struct emitter *e, struct call *c) {
  struct tuple t = {0};
  if (arg_given(c, 0) && !need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  return host_set(e, t.at, t.len);
}

static struct value fn_sequence(struct emitter *e, struct call *c) {
  struct tuple t = {0};
  if (arg_given(c, 0) && !need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  struct value *at = arena_array(e->a, struct value, t.len + 1);
  for (size_t i = 0; i < t.len; i++)
    at[i] = t.at[i];
  return value_tuple(at, t.len);
}

// product(a, b, ..., repeat=n): rows in the order of nested loops.
static struct value fn_product(struct emitter *e, struct call *c) {
  int64_t repeat = 1;
  if (arg_given(c, 1) && !need_const_int(e, c->args[1], "`repeat`", &repeat))
    return VALUE_ERROR;
  size_t n = repeat > 0 && repeat < 16 ? c->rest_count * (size_t)repeat : 0, rows = 1;
  struct tuple *columns = arena_array(e->a, struct tuple, n + 1);
  for (size_t i = 0; i < n; i++) {
    if (!need_sequence(e, c->rest[i % c->rest_count], &columns[i]))
      return VALUE_ERROR;
    rows *= columns[i].len;
    if (rows > EMIT_MAX_UNROLL)
      return emit_error(e, c->at, E0309, "a sequence of more than %d values", EMIT_MAX_UNROLL),
             VALUE_ERROR;
  }
  struct value *at = arena_array(e->a, struct value, rows + 1);
  for (size_t r = 0; r < rows; r++) {
    struct value *row = arena_array(e->a, struct value, n + 1);
    for (size_t i = n, rest = r; i-- > 0; rest /= columns[i].len)
      row[i] = columns[i].at[rest % columns[i].len];
    at[r] = value_tuple(row, n);
  }
  return value_tuple(at, rows);
}

static struct value fn_chain(struct emitter *e, struct call *c) {
  struct value acc = value_tuple(NULL, 0);
  for (size_t i = 0; i < c->rest_count; i++) {
    struct tuple t;
    if (!need_sequence(e, c->rest[i], &t))
      return VALUE_ERROR;
    acc = const_binary(e, OP_ADD, (struct operand){acc, c->at},
                       (struct operand){value_tuple(t.at, t.len), c->at}, c->at);
  }
  return acc;
}

// ---- the rest of Python ----

// dict(pairs), dict(other); dict(a=1) is host_dict_call.
static struct value fn_dict(struct emitter *e, struct call *c) {
  struct value v = host_dict(e);
  struct tuple t;
  if (!arg_given(c, 0))
    return v;
  if (value_is_record(c->args[0].v, RECORD_DICT))
    t = c->args[0].v.tuple;
  else if (!need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  for (size_t i = 0; i < t.len; i++) {
    if (t.at[i].kind != VALUE_TUPLE || t.at[i].tuple.len != 2) {
      emit_error(e, c->args[0].at, E0230, "`dict` takes pairs, not %s", value_describe(e, t.at[i]));
      return VALUE_ERROR;
    }
    host_dict_put(e, v, t.at[i].tuple.at[0], t.at[i].tuple.at[1]);
  }
  return v;
}

static struct value fn_round(struct emitter *e, struct call *c) {
  if (!need_known(e, c->args[0]) || !value_is_number(c->args[0].v)) {
    emit_error(e, c->at, E0503, "`round` of %s", value_describe(e, c->args[0].v));
    return VALUE_ERROR;
  }
  double v = nearbyint(value_as_double(c->args[0].v));
  return fabs(v) < 0x1p62 ? value_int((int_const)v) : value_float(v);
}

static struct value fn_nothing(struct emitter *e, struct call *c) {
  (void)e, (void)c;
  return value_of_kind(VALUE_NONE);
}

static struct value fn_getattr(struct emitter *e, struct call *c) {
  struct str name;
  if (!need_const_str(e, c->args[1], "the name of an attribute", &name))
    return VALUE_ERROR;
  const char *attribute = arena_strndup(e->a, name.ptr, name.len);
  struct value x = c->args[0].v, v;
  if (x.kind == VALUE_MODULE && arg_given(c, 2) && x.module != MODULE_HOST &&
      !(module_find(e, x.module, attribute, &v) && (v.kind != VALUE_BUILTIN || v.builtin->emit)))
    return c->args[2].v;
  return emit_attribute(e, c->args[0], attribute, c->at);
}

// Arguments of a launch are tensors where they are pointers.
static struct value fn_isinstance(struct emitter *e, struct call *c) {
  struct value x = c->args[0].v, kind = c->args[1].v;
  if (kind.kind == VALUE_OPAQUE && strcmp(kind.opaque->path, "torch.Tensor") == 0)
    return value_bool(x.kind == VALUE_OPAQUE && x.opaque->is_pointer);
  if (!need_known(e, c->args[0]) || !need_known(e, c->args[1]))
    return VALUE_ERROR;
  return builtin_isinstance(e, c);
}

static struct value record_of(struct emitter *e, const struct record *r, size_t n,
                              const struct value *fields) {
  struct value *at = arena_array(e->a, struct value, n);
  memcpy(at, fields, n * sizeof *at);
  struct value v = value_tuple(at, n);
  v.tuple.record = r;
  return v;
}

// The environment is taken to be empty, so that a file means the same everywhere.
static struct value fn_getenv(struct emitter *e, struct call *c) {
  (void)e;
  return arg_given(c, 1) ? c->args[1].v : value_of_kind(VALUE_NONE);
}

// Of a module of the language: what its tables have. Of other things of the host it is not known.
static struct value fn_hasattr(struct emitter *e, struct call *c) {
  struct operand x = c->args[0];
  struct str s;
  struct value v;
  if (!need_const_str(e, c->args[1], "the name of an attribute", &s))
    return VALUE_ERROR;
  const char *name = arena_strndup(e->a, s.ptr, s.len);
  if (x.v.kind == VALUE_MODULE) {
    bool found = module_find(e, x.v.module, name, &v);
    bool is_absent = found && v.kind == VALUE_BUILTIN && !v.builtin->emit;
    bool is_host = x.v.module == MODULE_HOST || x.v.module == MODULE_TRITON;
    if (found || !is_host)
      return value_bool(found && !is_absent);
  }
  if (x.v.kind == VALUE_MODULE || x.v.kind == VALUE_OPAQUE || x.v.kind == VALUE_FILE)
    return host_opaque(e, arena_printf(e->a, "hasattr(%s, \"%s\")",
                                       x.v.kind == VALUE_OPAQUE ? x.v.opaque->path
                                       : x.v.kind == VALUE_FILE ? "a module"
                                                                : "the host's module",
                                       name));
  return builtin_hasattr(e, c);
}

// packaging.version: the numbers of a release, without what follows them ("2.1.0+cu118", "3.0rc1").
static struct value fn_version(struct emitter *e, struct call *c) {
  struct str s;
  if (!need_known(e, c->args[0]) || !need_const_str(e, c->args[0], "a version", &s))
    return VALUE_ERROR;
  struct value *at = arena_array(e->a, struct value, s.len + 1);
  size_t n = 0, i = s.len && s.ptr[0] == 'v';
  while (i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9') {
    int64_t part = 0;
    for (; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9' && part < INT32_MAX; i++)
      part = part * 10 + (s.ptr[i] - '0');
    at[n++] = value_int(part);
    i += i < s.len && s.ptr[i] == '.';
  }
  while (n > 0 && at[n - 1].i == 0) // 3.0.0 is 3
    n--;
  return value_tuple(at, n);
}

// inspect.signature(f), for its `parameters`: the names.
static struct value fn_signature(struct emitter *e, struct call *c) {
  static const struct ast_class class = {.name = "Signature"};
  static const struct ast_field names[] = {{.name = "parameters"}};
  static const struct record record = {
      .kind = RECORD_CLASS, .ast = &class, .fields = names, .field_count = COUNT_OF(names)};
  struct value f = c->args[0].v, *at = arena_array(e->a, struct value, 256), list;
  size_t n = 0;
  if (!need_known(e, c->args[0]))
    return VALUE_ERROR;
  if (f.kind == VALUE_BUILTIN && f.builtin->params) {
    struct str word, rest = str_from(f.builtin->params);
    while (rest.ptr && n < 256) {
      rest = str_split(rest, ' ', &word);
      word.len -= word.len && word.ptr[word.len - 1] == '=';
      at[n++] = value_str(word);
    }
  } else if (f.kind == VALUE_FUNC) {
    for (size_t i = 0; i < f.func->ast->param_count && n < 256; i++)
      at[n++] = value_str(str_from(f.func->ast->params[i].name));
  }
  list = value_tuple(at, n);
  return record_of(e, &record, 1, &list);
}

// ---- Triton ----

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

static struct value fn_config(struct emitter *e, struct call *c) {
  if (!need_known(e, c->args[0]))
    return VALUE_ERROR;
  if (!value_is_record(c->args[0].v, RECORD_DICT)) {
    emit_error(e, c->args[0].at, E0461, "`Config` takes a dictionary of parameters, not %s",
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
  fields[HOST_CONFIG_NUMBER] = value_int((int_const)e->host->configs.len);
  struct host_config said = {.span = c->at,
                             .has_warps = or_value(c, 1, none).kind != VALUE_NONE,
                             .has_stages = or_value(c, 2, none).kind != VALUE_NONE};
  vec_push(e->a, &e->host->configs, said);
  return record_of(e, &config_record, HOST_CONFIG_FIELDS, fields);
}

static struct value fn_autotune(struct emitter *e, struct call *c) {
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
  return record_of(e, &record, HOST_AUTOTUNE_FIELDS, fields);
}

static struct value fn_heuristics(struct emitter *e, struct call *c) {
  (void)e;
  return c->args[0].v;
}

static struct value fn_next_power(struct emitter *e, struct call *c) {
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

// "sm_90a" is 90; what is no GPU of NVIDIA answers as sm_80.
static int capability(const struct emitter *e) {
  const char *t = e->options->target;
  int n = 0;
  if (t && strncmp(t, "sm_", 3) == 0)
    for (const char *p = t + 3; *p >= '0' && *p <= '9'; p++)
      n = n * 10 + (*p - '0');
  return n ? n : 80;
}

static struct value fn_capability(struct emitter *e, struct call *c) {
  (void)c;
  struct value *pair = arena_array(e->a, struct value, 2);
  pair[0] = value_int(capability(e) / 10);
  pair[1] = value_int(capability(e) % 10);
  return value_tuple(pair, 2);
}

static struct value fn_target(struct emitter *e, struct call *c) {
  static const struct ast_class class = {.name = "GPUTarget"};
  static const struct ast_field names[] = {
      {.name = "backend"}, {.name = "arch"}, {.name = "warp_size"}};
  static const struct record record = {
      .kind = RECORD_CLASS, .ast = &class, .fields = names, .field_count = COUNT_OF(names)};
  (void)c;
  struct value fields[] = {value_str(STR("cuda")), value_int(capability(e)), value_int(32)};
  return record_of(e, &record, COUNT_OF(fields), fields);
}

// tag: the answer; 2 zero, 3 the name of the vendor, 4 one.
static struct value fn_answer(struct emitter *e, struct call *c) {
  (void)e;
  switch (c->builtin->tag) {
  case 2: return value_int(0);
  case 3: return value_str(STR("cuda"));
  case 4: return value_int(1);
  default: return value_bool(c->builtin->tag == 1);
  }
}

// get_device_properties: what follows from the architecture; the rest is not known.
static struct value fn_properties(struct emitter *e, struct call *c) {
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

// ---- the tables ----

static const struct builtin python[] = {
    {"sorted", "items key= reverse=", BUILTIN_HOST, fn_sorted, 0},
    {"reversed", "items", BUILTIN_HOST, fn_reversed, 0},
    {"filter", "f items", BUILTIN_HOST, fn_filter, 0},
    {"map", "f *items", BUILTIN_HOST, fn_map, 0},
    {"any", "items", BUILTIN_HOST, fn_any, 0},
    {"all", "items", BUILTIN_HOST, fn_any, 1},
    {"sum", "items start=", BUILTIN_HOST, fn_fold, OP_ADD},
    {"set", "items=", BUILTIN_HOST, fn_set, 0},
    {"frozenset", "items=", BUILTIN_HOST, fn_set, 0},
    {"list", "items=", BUILTIN_HOST, fn_sequence, 0},
    {"tuple", "items=", BUILTIN_HOST, fn_sequence, 0},
    {"dict", "items=", BUILTIN_HOST, fn_dict, 0},
    {"round", "x", BUILTIN_HOST, fn_round, 0},
    {"print", "*values sep= end= flush= file=", BUILTIN_HOST, fn_nothing, 0},
    {"isinstance", "x kind", BUILTIN_HOST, fn_isinstance, 0},
    {"getattr", "x name default=", BUILTIN_HOST, fn_getattr, 0},
    {"hasattr", "x name", BUILTIN_HOST, fn_hasattr, 0},
};

static const struct builtin functions[] = {
    {"product", "*items repeat=", BUILTIN_HOST, fn_product, 0},
    {"chain", "*items", BUILTIN_HOST, fn_chain, 0},
    {"prod", "items start=", BUILTIN_HOST, fn_fold, OP_MUL},
    {"nsmallest", "n items key=", BUILTIN_HOST, fn_nsmallest, 0},
    {"nlargest", "n items key=", BUILTIN_HOST, fn_nsmallest, 1},
    {"Version", "text", BUILTIN_HOST, fn_version, 0},
    {"LooseVersion", "text", BUILTIN_HOST, fn_version, 0},
    {"getenv", "key default=", BUILTIN_HOST, fn_getenv, 0},
    {"signature", "f", BUILTIN_HOST, fn_signature, 0},
    {"deepcopy", "x", BUILTIN_HOST, fn_heuristics, 0},
    {"Config",
     "kwargs num_warps= num_stages= num_ctas= maxnreg= pre_hook= ir_override= "
     "num_buffers_warp_spec= num_consumer_groups= reg_dec_producer= reg_inc_consumer= "
     "enable_warp_specialization=",
     BUILTIN_HOST, fn_config, 0},
    {"autotune",
     "configs key= prune_configs_by= reset_to_zero= restore_value= pre_hook= post_hook= warmup= "
     "rep= use_cuda_graph= do_bench= cache_results=",
     BUILTIN_HOST, fn_autotune, 0},
    {"heuristics", "values", BUILTIN_HOST, fn_heuristics, 0},
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

static const struct builtin *look(const struct builtin *table, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(table[i].name, name) == 0)
      return &table[i];
  return NULL;
}

const struct builtin *host_python(const char *name) { return look(python, COUNT_OF(python), name); }

const struct builtin *host_function(const char *name) {
  return look(functions, COUNT_OF(functions), name);
}

bool host_allows(const struct builtin *b) {
  static const char *const names[] = {"cdiv",
                                      "_log2",
                                      "constexpr",
                                      "dtype",
                                      "finfo",
                                      "iinfo",
                                      "maximum",
                                      "minimum",
                                      "pow",
                                      "static_assert",
                                      "is_cuda",
                                      "is_hip",
                                      "cuda_capability_geq"};
  if (b->flags & (BUILTIN_HOST | BUILTIN_BARE | BUILTIN_TYPE))
    return true;
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (strcmp(b->name, names[i]) == 0)
      return true;
  return false;
}
