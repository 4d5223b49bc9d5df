// SPDX-License-Identifier: Apache-2.0
// Values of options: each is checked and stored in `struct options`.
#include "tools/options/option_values.h"

#include <strings.h>

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
                        g->id == OPTION_DEFINE ? "write a name and its value: `-D BLOCK=128`"
                        : g->id == OPTION_ARG  ? "write a name and its value: `--arg n=1000`"
                                               : "write a name and a file: `out=@out.npy`");
  ret->name = arena_strndup(t->arena, name.ptr, name.len);
  ret->value = value;
  ret->where = g->where;
  ret->where.begin += (uint32_t)name.len + 1;
  return true;
}

// Index of the value among `n` words, or -1 with a diagnostic.
static int one_of(struct tool *t, const struct given *g, size_t n, const char *const *words) {
  for (size_t i = 0; i < n; i++)
    if (str_is(g->value, words[i]))
      return (int)i;
  struct strbuf list = {.arena = t->arena};
  for (size_t i = 0; i < n; i++)
    strbuf_printf(&list, "%s`%s`", i ? ", " : "", words[i]);
  struct diag *d = diag_error(t->diag, g->where, E0702, "unknown value `%.*s` of `%s`",
                              STR_ARG(g->value), option_table[g->id].spelling);
  const char *near = str_nearest(g->value, words, n);
  if (near)
    diag_did_you_mean(d, g->where, near);
  else
    diag_help(d, "one of %s", strbuf_cstr(&list));
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

bool option_set_assignment(struct tool *t, const struct given *g) {
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

void option_take_file(struct tool *t, const char *name, struct span where) {
  if (!t->o.file) {
    t->o.file = name;
    t->o.file_at = where;
  }
  vec_push(t->arena, &t->o.files, (struct word){str_from(name), where});
}

bool option_set_graph(struct tool *t, const struct given *g) {
  t->o.graph = true;
  option_take_file(t, option_copy(t, g->value), g->where);
  return true;
}

bool option_set_kernel(struct tool *t, const struct given *g) {
  t->o.kernel = option_copy(t, g->value);
  vec_push(t->arena, &t->o.kernels, (struct word){g->value, g->where});
  return true;
}

bool option_set_signature(struct tool *t, const struct given *g) {
  if (t->o.signature.ptr) {
    struct diag *d = diag_error(t->diag, g->where, E0706, "`--signature` is given twice");
    diag_help(d, "one has the types of all parameters: `--signature '%.*s,%.*s'`",
              STR_ARG(t->o.signature), STR_ARG(g->value));
    return false;
  }
  t->o.signature = g->value;
  t->o.signature_at = g->where;
  return true;
}

bool option_set_grid(struct tool *t, const struct given *g) {
  t->o.grid = g->value;
  t->o.grid_at = g->where;
  vec_push(t->arena, &t->o.grids, (struct word){g->value, g->where});
  return true;
}

// What other compilers call a stage: what is written here.
static bool foreign_stage(struct tool *t, const struct given *g) {
  static const char *const rows[][2] = {
      {"sass",
       "`--emit=cubin -o k.cubin` writes the machine code, and `cuobjdump -sass k.cubin` prints "
       "it"},
      {"ttir", "Triton's IR before layouts is `--emit=tile`"},
      {"ttgir", "Triton's IR with layouts is `--emit=tilegpu`"},
      {"llir", "write `--emit=llvm`"},
      {"obj", "write `--emit=object`, or `--emit=cubin` for a GPU"},
      {"fatbin", "write `--emit=pack`: code for several GPUs in one file"}};
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    if (str_is(g->value, rows[i][0]))
      return option_usage(t, g->where, E0702,
                          arena_printf(t->arena, "unknown value `%s` of `--emit`", rows[i][0]),
                          rows[i][1]);
  return true;
}

bool option_set_emit(struct tool *t, const struct given *g) {
  static const char *const artifacts[] = {
      "cubin", "pack", "header", "c", "graph", "plan", "object-header"}; // from ARTIFACT_CUBIN on
  const char *kinds[EMIT_KIND_COUNT + COUNT_OF(artifacts)];
  for (int k = 0; k < EMIT_KIND_COUNT; k++)
    kinds[k] = emit_kind_name((enum emit_kind)k);
  memcpy(&kinds[EMIT_KIND_COUNT], artifacts, sizeof artifacts);
  if (!foreign_stage(t, g))
    return false;
  int i = one_of(t, g, COUNT_OF(kinds), kinds);
  if (i < 0)
    return false;
  bool is_stage = i < EMIT_KIND_COUNT;
  t->o.artifact = is_stage ? ARTIFACT_STAGE : (enum artifact)(ARTIFACT_CUBIN + i - EMIT_KIND_COUNT);
  t->o.emit = is_stage ? (enum emit_kind)i : EMIT_PTX;
  t->o.emit_given = true;
  t->o.emit_at = g->where;
  return true;
}

bool option_set_color(struct tool *t, const struct given *g) {
  static const char *const colors[] = {"auto", "always", "never"};
  int i = one_of(t, g, COUNT_OF(colors), colors);
  if (i >= 0)
    t->o.color = i == 0 ? COLOR_AUTO : i == 1 ? COLOR_ALWAYS : COLOR_NEVER;
  return i >= 0;
}

bool option_set_diagnostics(struct tool *t, const struct given *g) {
  static const char *const forms[] = {"text", "json", "sarif"};
  int i = one_of(t, g, COUNT_OF(forms), forms);
  if (i >= 0)
    t->o.diagnostics = i == 0 ? DIAGNOSTICS_TEXT : i == 1 ? DIAGNOSTICS_JSON : DIAGNOSTICS_SARIF;
  return i >= 0;
}

bool option_set_help(struct tool *t, const struct given *g) {
  t->o.help = g->id == OPTION_HELP ? HELP_FULL : HELP_SHORT;
  return true;
}

bool option_set_warp_specialize(struct tool *t, const struct given *g) {
  const char *names[WARP_SPECIALIZE_COUNT];
  for (int w = 0; w < WARP_SPECIALIZE_COUNT; w++)
    names[w] = warp_specialize_name((enum warp_specialize)w);
  int i = one_of(t, g, COUNT_OF(names), names);
  if (i >= 0)
    t->o.warp_specialize = (enum warp_specialize)i;
  return i >= 0;
}

// The target of a GPU's name, or of another program's word.
static const char *target_of_name(struct str name) {
  static const char *const rows[][2] = {{"host", "cpu"},
                                        {"x86", "cpu"},
                                        {"x86-64-v3", "cpu:x86-64-v3"},
                                        {"avx2", "cpu:x86-64-v3"},
                                        {"x86-64-v4", "cpu:x86-64-v4"},
                                        {"avx512", "cpu:x86-64-v4"},
                                        {"aarch64", "cpu:aarch64"},
                                        {"arm64", "cpu:aarch64"},
                                        {"cpu:native", "cpu"},
                                        {"cuda", "auto"},
                                        {"gpu", "auto"},
                                        {"native", "auto"},
                                        {"a100", "sm_80"},
                                        {"ampere", "sm_80"},
                                        {"a10", "sm_86"},
                                        {"rtx3090", "sm_86"},
                                        {"l4", "sm_89"},
                                        {"l40", "sm_89"},
                                        {"l40s", "sm_89"},
                                        {"ada", "sm_89"},
                                        {"rtx4090", "sm_89"},
                                        {"h100", "sm_90a"},
                                        {"h200", "sm_90a"},
                                        {"hopper", "sm_90a"},
                                        {"gh200", "sm_90a"},
                                        {"b100", "sm_100a"},
                                        {"b200", "sm_100a"},
                                        {"blackwell", "sm_100a"}};
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    if (name.len == strlen(rows[i][0]) && strncasecmp(name.ptr, rows[i][0], name.len) == 0)
      return rows[i][1];
  return NULL;
}

// The number of `sm_70`, `sm_70a`, `compute_70`; 0: another form.
static uint64_t capability_of(struct str name) {
  static const char *const starts[] = {"sm_", "sm", "compute_"};
  for (size_t i = 0; i < COUNT_OF(starts); i++) {
    struct str digits = name;
    size_t n = strlen(starts[i]);
    uint64_t number;
    if (!str_starts(name, starts[i]))
      continue;
    digits = (struct str){name.ptr + n, name.len - n};
    if (digits.len && (digits.ptr[digits.len - 1] == 'a' || digits.ptr[digits.len - 1] == 'f'))
      digits.len--;
    if (str_to_u64(digits, &number))
      return number;
  }
  return 0;
}

static uint64_t newest_capability(void) {
  uint64_t newest = 0;
  for (const char *const *name = target_names(); *name; name++)
    if (capability_of(str_from(*name)) > newest)
      newest = capability_of(str_from(*name));
  return newest;
}

// A GPU that is too old, or newer than those that are known: no other one's code runs on the first.
static bool report_capability(struct tool *t, const struct given *g, const char *list) {
  enum { OLDEST = 80 };
  uint64_t number = capability_of(g->value);
  if (number < 10 || (number >= OLDEST && number <= newest_capability()))
    return false;
  struct diag *d =
      number < OLDEST
          ? diag_error(t->diag, g->where, E0704, "`%.*s` is not supported: the oldest GPU is sm_%d",
                       STR_ARG(g->value), OLDEST)
          : diag_error(t->diag, g->where, E0704, "`%.*s` is not supported", STR_ARG(g->value));
  diag_help(d, "the targets are %s`auto`; `cpu` runs everywhere", list);
  return true;
}

bool option_set_target(struct tool *t, const struct given *g) {
  if (!str_is(g->value, "auto") && !target_find(g->value)) {
    const char *const *names = target_names();
    size_t n = 0;
    struct strbuf list = {.arena = t->arena};
    for (; names[n]; n++)
      strbuf_printf(&list, "`%s`, ", names[n]);
    if (report_capability(t, g, strbuf_cstr(&list))) {
      strbuf_finish(&list);
      return false;
    }
    const char *near = str_nearest(g->value, names, n);
    for (size_t i = 0; i < n; i++) // `sm_90` means `sm_90a`
      if (g->value.len && strncmp(names[i], g->value.ptr, g->value.len) == 0)
        near = names[i];
    if (target_of_name(g->value))
      near = target_of_name(g->value);
    struct diag *d =
        diag_error(t->diag, g->where, E0704, "unknown target `%.*s`", STR_ARG(g->value));
    if (near)
      diag_did_you_mean(d, g->where, near);
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
  struct diag *d = diag_error(t->diag, where, E0705, "unknown pass `%.*s`", STR_ARG(name));
  if (near)
    diag_did_you_mean(d, where, near);
  else
    diag_help(d, "`tilec passes` lists them");
  return false;
}

bool option_set_passes(struct tool *t, const struct given *g) {
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

bool option_set_effort(struct tool *t, const struct given *g) {
  static const char *const names[] = {"none", "quick", "full", "exhaustive"};
  int i = one_of(t, g, COUNT_OF(names), names);
  if (i >= 0)
    t->o.effort = (enum tune_effort)i;
  return i >= 0;
}

bool option_set_seed(struct tool *t, const struct given *g) {
  return str_to_u64(g->value, &t->o.seed) ||
         option_usage(t, g->where, E0702,
                      arena_printf(t->arena,
                                   "`--seed` wants a whole number of at least 0, not `%.*s`",
                                   STR_ARG(g->value)),
                      "write for example `--seed 1`");
}
