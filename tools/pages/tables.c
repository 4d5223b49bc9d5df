// SPDX-License-Identifier: Apache-2.0
// The tables as data, and the values that complete options.
#include "tools/pages/pages.h"

const struct page_option page_options[] = {
#define OPTION(id, spelling, argument, group, setter, help, details)                               \
  {spelling, argument, group, help, details},
#include "tools/options/options.def"
#undef OPTION
    {0}};

const struct page_verb page_verbs[] = {
#define VERB(name, mode, argument, operands, groups, summary, examples)                            \
  {name, argument, operands, groups, summary, examples},
#include "tools/options/verbs.def"
#undef VERB
    {0}};

const struct page_group page_groups[] = {
#define GROUP(name, title) {name, title},
#include "tools/options/groups.def"
#undef GROUP
    {0}};

const struct page_row page_environment[] = {
#define VARIABLE(name, meaning) {name, meaning},
#include "tools/options/environment.def"
#undef VARIABLE
    {0}};

const struct page_row page_statuses[] = {
#define STATUS(id, number, meaning) {#number, meaning},
#include "tools/options/exit_status.def"
#undef STATUS
    {0}};

static const char *const pass_flags[] = {
#define PASS(id, flag, ...) flag,
#include "lowering/passes.def"
#undef PASS
};

static const char *const codes[] = {
#define DIAG(code, title, section, explain) #code,
#include "base/diag_codes.def"
#undef DIAG
};

static const char *joined(struct arena *a, const char *first, const char *const *words, size_t n) {
  struct strbuf text = {.arena = a};
  strbuf_puts(&text, first);
  for (size_t i = 0; i < n; i++)
    strbuf_printf(&text, "%s%s", text.len ? " " : "", words[i]);
  return strbuf_cstr(&text);
}

static bool spelled(const struct page_option *o, const char *spelling) {
  return strcmp(o->spelling, spelling) == 0;
}

const char *page_values(struct arena *a, const struct page_option *o) {
  if (!o->argument)
    return NULL;
  if (spelled(o, "--target")) // tests/unit/tools/test_pages.c gives each of these to tilec
    return "auto cpu cpu:x86-64-v3 cpu:x86-64-v4 cpu:aarch64 sm_80 sm_86 sm_89 sm_90a sm_100a";
  if (spelled(o, "--emit"))
    return "ast tile tilegpu llvm ptx object asm cubin pack header c graph plan object-header";
  if (spelled(o, "--tunings"))
    return "show diff merge export";
  if (spelled(o, "--explain"))
    return joined(a, "", codes, COUNT_OF(codes));
  if (spelled(o, "--print-ir-after"))
    return joined(a, "all change", pass_flags, COUNT_OF(pass_flags));
  if (spelled(o, "--stop-after") || spelled(o, "--passes"))
    return joined(a, "", pass_flags, COUNT_OF(pass_flags));
  if (!strchr(o->argument, '|') || strchr(o->argument, '@'))
    return NULL;
  char *words = arena_strdup(a, o->argument);
  for (char *c = words; *c; c++)
    *c = *c == '|' ? ' ' : *c;
  return words;
}

bool page_is_file(const struct page_option *o) {
  static const char *const words[] = {"FILE", "PATH", "DIR", "SPEC"};
  for (size_t i = 0; o->argument && i < COUNT_OF(words); i++)
    if (strcmp(o->argument, words[i]) == 0)
      return true;
  return false;
}

bool page_in_group(const struct page_option *o, const char *groups) {
  for (struct str rest = str_from(groups), name; rest.ptr;) {
    rest = str_split(rest, ' ', &name);
    if (str_is(name, o->group))
      return true;
  }
  return false;
}
