// SPDX-License-Identifier: Apache-2.0
// What the command line of a launch leaves out, all of it at once: arguments, compile-time
// parameters and the grid, with the command line that has them.
#include "base/file.h"
#include "tools/launch/launch.h"

static bool is_scalar(const struct lang_param *p) {
  return p->is_typed && !p->is_pointer && !p->is_descriptor && !p->is_constexpr;
}

static const char *argument_text(struct tool *t, const struct lang_param *p) {
  return arena_printf(t->arena,
                      p->is_descriptor ? "--arg '%s=f16[512x256]:rand(0):block(64x32)'"
                      : is_scalar(p)   ? "--arg %s=1000"
                                       : "--arg '%s=%s[1000]:rand(0)'",
                      p->name, dtype_name(p->is_typed ? p->dtype : DTYPE_F32));
}

static const char *constant_text(struct tool *t, const struct lang_param *p) {
  bool is_flag = strncmp(p->name, "IS_", 3) == 0 || strncmp(p->name, "HAS_", 4) == 0 ||
                 strncmp(p->name, "USE_", 4) == 0;
  return arena_printf(t->arena, "-D %s=%s", p->name, is_flag ? "True" : "128");
}

static const char *grid_text(struct tool *t, const struct launch *l) {
  const struct lang_param *size = NULL, *block = NULL;
  for (size_t i = l->param_count; i-- > 0;) {
    const struct lang_param *p = &l->params[i];
    size = is_scalar(p) && dtype_is_int(p->dtype) ? p : size;
    block = p->is_constexpr ? p : block;
  }
  return size && block ? arena_printf(t->arena, "--grid 'cdiv(%s,%s)'", size->name, block->name)
                       : "--grid 1";
}

static bool is_defined(const struct tool *t, const char *name) {
  for (size_t i = 0; i < t->o.defines.len; i++)
    if (strcmp(t->o.defines.at[i].name, name) == 0)
      return true;
  return false;
}

void launch_report_missing(struct tool *t, const struct launch *l, const bool *is_missing) {
  struct strbuf line = {.arena = t->arena};
  bool launches = t->o.mode == MODE_RUN || t->o.mode == MODE_BENCH, has_heuristics;
  bool is_tuned = lang_is_tuned(l->unit, l->kernel_name, &has_heuristics) ||
                  file_exists(tune_file_path(t->arena, t->o.file));
  struct diag *last = NULL;
  size_t count = 0;
  strbuf_put(&line, t->command_line->text.ptr, t->command_line->text.len);
  for (size_t i = 0; i < l->param_count; i++) {
    const struct lang_param *p = &l->params[i];
    bool is_constant =
        launches && p->is_constexpr && !p->has_default && !is_tuned && !is_defined(t, p->name);
    if (!(is_missing && is_missing[i]) && !is_constant)
      continue;
    const char *text = is_constant ? constant_text(t, p) : argument_text(t, p);
    last = is_constant
               ? diag_error(t->diag, p->span, E0411, "missing value of compile-time parameter `%s`",
                            p->name)
               : diag_error(t->diag, p->span, E0722, "no value for parameter `%s`", p->name);
    diag_help(last, is_constant ? "pass `%s`" : "add `%s`", text);
    strbuf_printf(&line, " %s", text);
    count++;
  }
  if (launches && !t->o.grid.ptr) {
    const char *text = grid_text(t, l);
    struct span at = count ? l->params[l->param_count - 1].span : SPAN_NONE; // the last message
    struct diag *d = diag_error(t->diag, at, E0724, "no grid");
    last = d ? d : last;
    diag_help(d, "add for example `%s`", text);
    strbuf_printf(&line, " %s", text);
    count++;
  }
  if (launches && count > 1)
    diag_help(last, "all together:\n`%s`", strbuf_cstr(&line));
  strbuf_finish(&line);
}
