// SPDX-License-Identifier: Apache-2.0
// Values of options: each is checked and stored in `struct options`.
#include "tools/option_values.h"

bool option_usage(struct tool *t, struct span where, enum diag_code code, const char *what,
                  const char *help) {
  struct diag *d = diag_error(t->diag, where, code, "%s", what);
  if (help)
    diag_help(d, "%s", help);
  return false;
}

// NAME=VALUE into `ret`.
static bool split_assignment(struct tool *t, const struct given *g, struct assignment *ret) {
  struct str name, value = str_split(g->value, '=', &name);
  if (!value.ptr || name.len == 0)
    return option_usage(t, g->where, E0707,
                        arena_printf(t->arena, "`%s` wants %s, not `%.*s`",
                                     option_table[g->id].spelling, option_table[g->id].argument,
                                     STR_ARG(g->value)),
                        NULL);
  ret->name = arena_strndup(t->arena, name.ptr, name.len);
  ret->value = value;
  ret->where = g->where;
  ret->where.begin += (uint32_t)name.len + 1;
  return true;
}

static bool number(struct tool *t, const struct given *g, uint64_t limit, uint64_t *ret) {
  if (str_to_u64(g->value, ret) && *ret >= 1 && *ret <= limit)
    return true;
  return option_usage(t, g->where, E0702,
                      arena_printf(t->arena, "`%s` wants a number from 1 to %llu, not `%.*s`",
                                   option_table[g->id].spelling, (unsigned long long)limit,
                                   STR_ARG(g->value)),
                      NULL);
}

static bool real_number(struct tool *t, const struct given *g, double *ret) {
  if (str_to_f64(g->value, ret) && *ret >= 0)
    return true;
  return option_usage(t, g->where, E0702,
                      arena_printf(t->arena, "`%s` wants a number of at least 0, not `%.*s`",
                                   option_table[g->id].spelling, STR_ARG(g->value)),
                      NULL);
}

// Index of the value among `n` words, or -1 with a diagnostic.
static int one_of(struct tool *t, const struct given *g, size_t n, const char *const *words) {
  for (size_t i = 0; i < n; i++)
    if (str_is(g->value, words[i]))
      return (int)i;
  struct strbuf list = {.arena = t->arena};
  for (size_t i = 0; i < n; i++)
    strbuf_printf(&list, "%s`%s`", i ? ", " : "", words[i]);
  const char *near = str_nearest(g->value, words, n);
  option_usage(t, g->where, E0702,
               arena_printf(t->arena, "unknown value `%.*s` of `%s`", STR_ARG(g->value),
                            option_table[g->id].spelling),
               near ? arena_printf(t->arena, "did you mean `%s`?", near)
                    : arena_printf(t->arena, "one of %s", strbuf_cstr(&list)));
  strbuf_finish(&list);
  return -1;
}

const char *option_copy(struct tool *t, struct str s) {
  return arena_strndup(t->arena, s.ptr, s.len);
}

static bool is_given(const struct tool *t, enum option_id id, const char *name) {
  bool defines = id == OPTION_DEFINE, args = id == OPTION_ARG;
  size_t count = defines ? t->o.defines.len : args ? t->o.args.len : t->o.outs.len;
  const struct assignment *all = defines ? t->o.defines.at : args ? t->o.args.at : t->o.outs.at;
  for (size_t i = 0; i < count; i++)
    if (strcmp(all[i].name, name) == 0)
      return true;
  return false;
}

bool option_apply_assignment(struct tool *t, const struct given *g) {
  struct assignment a;
  if (!split_assignment(t, g, &a))
    return false;
  if (g->id != OPTION_EXPECT && is_given(t, g->id, a.name))
    return option_usage(
        t, g->where, E0707,
        arena_printf(t->arena, "`%s %s=` is given twice", option_table[g->id].spelling, a.name),
        "one of them counts: leave the other out");
  switch (g->id) {
  case OPTION_DEFINE: vec_push(t->arena, &t->o.defines, a); break;
  case OPTION_ARG: vec_push(t->arena, &t->o.args, a); break;
  case OPTION_OUT: vec_push(t->arena, &t->o.outs, a); break;
  default: vec_push(t->arena, &t->o.expects, a); break;
  }
  return true;
}

bool option_apply_number(struct tool *t, const struct given *g) {
  uint64_t n = 0;
  uint64_t limit = g->id == OPTION_NUM_WARPS       ? 32
                   : g->id == OPTION_NUM_STAGES    ? 16
                   : g->id == OPTION_MAX_REGISTERS ? 255
                   : g->id == OPTION_NUM_CTAS      ? 16
                   : g->id == OPTION_BYTES         ? INT64_MAX
                   : g->id == OPTION_MEMORY_BUDGET ? INT64_MAX
                                                   : 1000000;
  if (!number(t, g, limit, &n))
    return false;
  switch (g->id) {
  case OPTION_NUM_WARPS:
    if (!is_pow2(n))
      return option_usage(t, g->where, E0702, "`--num-warps` must be a power of two",
                          "use 1, 2, 4, 8, 16 or 32");
    t->o.num_warps = (uint32_t)n;
    break;
  case OPTION_NUM_STAGES: t->o.num_stages = (uint32_t)n; break;
  case OPTION_MAX_REGISTERS:
    if (n < 16)
      return option_usage(t, g->where, E0702, "`--max-registers` must be at least 16",
                          "a thread needs that many for addresses alone");
    t->o.max_registers = (uint32_t)n;
    break;
  case OPTION_NUM_CTAS:
    if (!is_pow2(n))
      return option_usage(t, g->where, E0702, "`--num-ctas` must be a power of two",
                          "use 1, 2, 4, 8 or 16");
    t->o.num_ctas = (uint32_t)n;
    break;
  case OPTION_REPEATS: t->o.repeats = n; break;
  case OPTION_MEMORY_BUDGET: t->o.memory_budget = n, t->o.grad_at = g->where; break;
  case OPTION_CANDIDATES: t->o.candidates = (uint32_t)n; break;
  default: t->o.bytes = n; break;
  }
  return true;
}

void option_take_file(struct tool *t, const char *name, struct span where) {
  if (!t->o.file) {
    t->o.file = name;
    t->o.file_at = where;
  }
  vec_push(t->arena, &t->o.files, (struct word){str_from(name), where});
}

bool option_apply_choice(struct tool *t, const struct given *g) {
  static const char *const forms[] = {"text", "json"}, *const colors[] = {"auto", "always",
                                                                          "never"};
  static const char *const artifacts[] = {"cubin", "pack",  "header",
                                          "c",     "graph", "plan"}; // from ARTIFACT_CUBIN on
  const char *kinds[EMIT_KIND_COUNT + COUNT_OF(artifacts)];
  for (int k = 0; k < EMIT_KIND_COUNT; k++)
    kinds[k] = emit_kind_name((enum emit_kind)k);
  memcpy(&kinds[EMIT_KIND_COUNT], artifacts, sizeof artifacts);
  int i = g->id == OPTION_EMIT    ? one_of(t, g, COUNT_OF(kinds), kinds)
          : g->id == OPTION_COLOR ? one_of(t, g, COUNT_OF(colors), colors)
                                  : one_of(t, g, COUNT_OF(forms), forms);
  if (i < 0)
    return false;
  if (g->id == OPTION_EMIT) {
    bool is_stage = i < EMIT_KIND_COUNT;
    t->o.artifact =
        is_stage ? ARTIFACT_STAGE : (enum artifact)(ARTIFACT_CUBIN + i - EMIT_KIND_COUNT);
    t->o.emit = is_stage ? (enum emit_kind)i : EMIT_PTX;
    t->o.emit_given = true;
    t->o.emit_at = g->where;
  } else if (g->id == OPTION_COLOR) {
    t->o.color = i == 0 ? COLOR_AUTO : i == 1 ? COLOR_ALWAYS : COLOR_NEVER;
  } else {
    t->o.diagnostics_json = i == 1;
  }
  return true;
}

bool option_apply_warp_specialize(struct tool *t, const struct given *g) {
  const char *names[WARP_SPECIALIZE_COUNT];
  for (int w = 0; w < WARP_SPECIALIZE_COUNT; w++)
    names[w] = warp_specialize_name((enum warp_specialize)w);
  int i = one_of(t, g, COUNT_OF(names), names);
  if (i >= 0)
    t->o.warp_specialize = (enum warp_specialize)i;
  return i >= 0;
}

bool option_apply_target(struct tool *t, const struct given *g) {
  if (!str_is(g->value, "auto") && !target_find(g->value)) {
    const char *const *names = target_names();
    size_t n = 0;
    struct strbuf list = {.arena = t->arena};
    for (; names[n]; n++)
      strbuf_printf(&list, "`%s`, ", names[n]);
    const char *near = str_nearest(g->value, names, n);
    for (size_t i = 0; i < n; i++) // `sm_90` means `sm_90a`
      if (g->value.len && strncmp(names[i], g->value.ptr, g->value.len) == 0)
        near = names[i];
    struct diag *d =
        diag_error(t->diag, g->where, E0704, "unknown target `%.*s`", STR_ARG(g->value));
    if (near)
      diag_help(d, "did you mean `%s`?", near);
    else
      diag_help(d, "one of %s`auto`", strbuf_cstr(&list));
    strbuf_finish(&list);
    return false;
  }
  t->o.target = str_is(g->value, "auto") ? NULL : option_copy(t, g->value);
  t->o.target_at = g->where;
  vec_push(t->arena, &t->o.targets, (struct word){g->value, g->where});
  return true;
}

// `name`, a part of the option's value, must be a pass.
static bool known_pass(struct tool *t, const struct given *g, struct str name) {
  enum pass_id id;
  if (pass_find(name, &id))
    return true;
  const char *flags[PASS_COUNT];
  for (int i = 0; i < PASS_COUNT; i++)
    flags[i] = pass_info((enum pass_id)i)->flag;
  uint32_t begin = g->where.begin + (uint32_t)(name.ptr - g->value.ptr);
  struct span where = {g->where.source, begin, begin + (uint32_t)name.len};
  const char *near = str_nearest(name, flags, PASS_COUNT);
  return option_usage(t, where, E0705, arena_printf(t->arena, "unknown pass `%.*s`", STR_ARG(name)),
                      near ? arena_printf(t->arena, "did you mean `%s`?", near)
                           : "`tilec --list-passes` lists them");
}

bool option_apply_passes(struct tool *t, const struct given *g) {
  struct pass_options *p = &t->o.passes;
  const char *value = option_copy(t, g->value);
  if (g->id == OPTION_PRINT_IR_AFTER) {
    p->print_after = value;
    return str_is(g->value, "all") || str_is(g->value, "change") || known_pass(t, g, g->value);
  }
  if (g->id == OPTION_STOP_AFTER) {
    p->stop_after = value;
    return known_pass(t, g, g->value);
  }
  p->only = value;
  for (struct str rest = g->value, name; rest.ptr;) {
    rest = str_split(rest, ',', &name);
    if (!known_pass(t, g, name))
      return false;
  }
  return true;
}

bool option_apply_effort(struct tool *t, const struct given *g) {
  static const char *const names[] = {"none", "quick", "full", "exhaustive"};
  int i = one_of(t, g, COUNT_OF(names), names);
  t->o.effort = (enum tune_effort)i;
  return i >= 0;
}

bool option_apply_seed(struct tool *t, const struct given *g) {
  return str_to_u64(g->value, &t->o.seed) ||
         option_usage(t, g->where, E0702,
                      arena_printf(t->arena,
                                   "`--seed` wants a whole number of at least 0, not `%.*s`",
                                   STR_ARG(g->value)),
                      NULL);
}

bool option_apply_real(struct tool *t, const struct given *g) {
  struct options *o = &t->o;
  switch (g->id) {
  case OPTION_RTOL: return o->rtol_given = real_number(t, g, &o->rtol);
  case OPTION_ATOL: return o->atol_given = real_number(t, g, &o->atol);
  case OPTION_FLOPS: return real_number(t, g, &o->flops);
  case OPTION_BUDGET: return o->budget_given = real_number(t, g, &o->budget);
  default: return real_number(t, g, &o->tune_timeout); // OPTION_TUNE_TIMEOUT
  }
}
