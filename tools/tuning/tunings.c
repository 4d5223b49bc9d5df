// SPDX-License-Identifier: Apache-2.0
// Selects among the entries of FILE.tune.json.
#include "tools/tuning/tunings.h"

#include "base/file.h"

#include <math.h>

bool tunings_open(struct tool *t, const struct lang_unit *u, struct tunings *ret) {
  *ret = (struct tunings){.tool = t};
  if (t->o.no_tunings || strcmp(t->o.file, "-") == 0)
    return true;
  ret->path = tune_file_path(t->arena, t->o.file);
  if (!file_exists(ret->path))
    return true;
  tune_hash_of(t->arena, u, t->o.folders.at, t->o.folders.len, false, ret->hash);
  return tune_file_read(t->arena, t->diag, ret->path, &ret->file);
}

size_t tunings_options(struct tool *t, struct tune_setting ret[TUNINGS_OPTIONS]) {
  const struct {
    const char *name;
    uint32_t value;
  } options[] = {{"num_warps", t->o.num_warps},
                 {"num_stages", t->o.num_stages},
                 {"max_registers", t->o.max_registers},
                 {"num_ctas", t->o.num_ctas}};
  size_t n = 0;
  for (size_t i = 0; i < COUNT_OF(options); i++)
    if (options[i].value)
      ret[n++] = (struct tune_setting){options[i].name,
                                       arena_printf(t->arena, "%u", (unsigned)options[i].value)};
  if (t->o.warp_specialize)
    ret[n++] = (struct tune_setting){"warp_specialize", warp_specialize_name(t->o.warp_specialize)};
  return n;
}

struct tune_setting *tunings_given(struct tool *t, size_t *ret_count) {
  struct tune_setting *s =
      arena_array(t->arena, struct tune_setting, t->o.defines.len + TUNINGS_OPTIONS);
  size_t n = 0;
  for (size_t i = 0; i < t->o.defines.len; i++) {
    const struct assignment *d = &t->o.defines.at[i];
    s[n++] = (struct tune_setting){
        d->name, tune_setting_text(t->arena, arena_strndup(t->arena, d->value.ptr, d->value.len))};
  }
  *ret_count = n + tunings_options(t, &s[n]);
  return s;
}

// ---- which entries suit ----

// The entry has all given values, tuned or fixed; and everything it fixed was given.
static bool agrees(const struct tune_entry *e, const struct tunings_query *q) {
  for (size_t i = 0; i < q->given_count; i++) {
    const char *chosen = tune_setting_find(e->settings, e->setting_count, q->given[i].name);
    const char *fixed = tune_setting_find(e->key.fixed, e->key.fixed_count, q->given[i].name);
    const char *value = chosen ? chosen : fixed;
    if (!value || strcmp(value, q->given[i].value) != 0)
      return false;
  }
  for (size_t i = 0; i < e->key.fixed_count; i++)
    if (!tune_setting_find(q->given, q->given_count, e->key.fixed[i].name))
      return false;
  return true;
}

// Whether "tensordesc[f16,64x32]" can be the parameter's type, ignoring its blocks.
static bool descriptor_suits(struct str text, const struct lang_param *p,
                             const struct lang_binding *b) {
  struct str element, block, end;
  enum dtype dtype;
  (void)str_split(text, '[', &end);
  block = str_split((struct str){text.ptr + end.len + 1, text.len - end.len - 1}, ',', &element);
  if (!block.ptr || !dtype_parse(element, &dtype))
    return false;
  if (b)
    return b->kind == BIND_DESCRIPTOR && b->dtype == dtype;
  return !p->is_typed || (p->is_descriptor && p->dtype == dtype);
}

// Whether a type of an entry ("*f16:16") can be that of a parameter, ignoring hints.
static bool type_suits(struct str text, const struct lang_param *p, const struct tunings_query *q) {
  struct str type;
  enum dtype dtype;
  const struct lang_binding *b = NULL;
  for (size_t i = 0; i < q->binding_count && !b; i++)
    b = strcmp(q->bindings[i].name, p->name) == 0 ? &q->bindings[i] : NULL;
  bool is_none = b && b->kind == BIND_CONSTANT && strcmp(b->text, "None") == 0;
  if (is_none || str_is(text, "None"))
    return is_none && str_is(text, "None");
  (void)str_split(text, ':', &type);
  if (str_starts(type, "tensordesc["))
    return descriptor_suits(type, p, b);
  if (b ? b->kind == BIND_DESCRIPTOR : p->is_descriptor)
    return false;
  bool is_pointer = str_starts(type, "*");
  if (is_pointer)
    type = (struct str){type.ptr + 1, type.len - 1};
  if (!dtype_parse(type, &dtype))
    return false;
  if (b)
    return (b->kind == BIND_POINTER) == is_pointer && b->dtype == dtype;
  return !p->is_typed || (p->is_pointer == is_pointer && p->dtype == dtype);
}

static bool types_suit(const struct tune_entry *e, const struct tunings_query *q) {
  if (q->types)
    return strcmp(e->key.types, q->types) == 0;
  struct str rest = str_from(e->key.types), type;
  for (size_t i = 0; i < q->param_count; i++) {
    if (q->params[i].is_constexpr)
      continue;
    if (!rest.ptr)
      return false;
    rest = str_split_list(rest, &type);
    if (!type_suits(type, &q->params[i], q))
      return false;
  }
  return !rest.ptr || !rest.len;
}

static bool suits(const struct tune_entry *e, const struct tunings_query *q) {
  return strcmp(e->key.kernel, q->kernel) == 0 && strcmp(e->key.target, q->target) == 0 &&
         (!q->device || strcmp(e->key.device, q->device) == 0) && types_suit(e, q) && agrees(e, q);
}

static bool is_fresh(const struct tunings *ts, const struct tune_entry *e) {
  return memcmp(e->key.hash, ts->hash, sizeof ts->hash) == 0;
}

static void warn_stale(const struct tunings *ts, const struct tune_entry *e) {
  struct diag *d = diag_warning(ts->tool->diag, e->span, E0762,
                                "this was tuned for another text of kernel `%s`, and is not used",
                                e->key.kernel);
  diag_help(d,
            "tune again with `tilec --autotune`; `--no-tunings` says that the defaults are meant");
}

// ---- launches ----

struct tuned tunings_for_launch(const struct tunings *ts, const struct tunings_query *q) {
  const struct tune_entry *best[2] = {NULL, NULL}; // stale, fresh
  double least[2] = {(double)INFINITY, (double)INFINITY};
  struct tune_key_value *values =
      arena_dup(ts->tool->arena, q->values, q->value_count * sizeof *values, _Alignof(int64_t));
  const struct tune_key launch = {.values = values, .value_count = q->value_count};
  for (size_t i = 0; i < ts->file.count; i++) {
    const struct tune_entry *e = &ts->file.entries[i];
    double widest;
    double d = tune_key_distance(&launch, e->key.values, e->key.value_count, &widest);
    d = tune_entry_rank(e, d);
    bool fresh = is_fresh(ts, e);
    if (widest <= 1 && d < least[fresh] && suits(e, q)) {
      least[fresh] = d;
      best[fresh] = e;
    }
  }
  if (!best[1] && best[0])
    warn_stale(ts, best[0]);
  return (struct tuned){best[1], ts->path, least[1] > 0};
}

// ---- builds ----

static bool wrong_tuned_for(struct tool *t, struct str part) {
  diag_help(diag_error(t->diag, tool_part(&t->o.tuned_for, part), E0702,
                       "`%.*s` is no part of `--tuned-for`", STR_ARG(part)),
            "write integers by name, such as `--tuned-for M=4096,N=4096`, and `device=NAME`");
  return false;
}

struct tuned_for {
  const char *device; // NULL: any
  VEC(struct tune_key_value) values;
};

static bool read_tuned_for(struct tool *t, struct tuned_for *ret) {
  struct str entry, name;
  *ret = (struct tuned_for){0};
  for (struct str rest = t->o.tuned_for.value; tool_next_entry(&rest, &entry);) {
    struct tune_key_value v;
    struct str value = str_split(entry, '=', &name);
    if (!value.ptr || !name.len)
      return wrong_tuned_for(t, entry);
    if (str_is(name, "device")) {
      ret->device = arena_strndup(t->arena, value.ptr, value.len);
      continue;
    }
    if (!str_to_i64(value, &v.value))
      return wrong_tuned_for(t, entry);
    v.name = arena_strndup(t->arena, name.ptr, name.len);
    vec_push(t->arena, &ret->values, v);
  }
  return true;
}

typedef VEC(const struct tune_entry *) entry_list;

static const struct tune_entry *nearest(const struct tuned_for *w, const entry_list *list) {
  const struct tune_entry *best = NULL;
  double least = (double)INFINITY, widest;
  for (size_t i = 0; i < list->len; i++) {
    const struct tune_entry *e = list->at[i];
    double d = tune_key_distance(&e->key, w->values.at, w->values.len, &widest);
    if (d < least && (!w->device || strcmp(w->device, e->key.device) == 0)) {
      least = d;
      best = e;
    }
  }
  return best;
}

bool tunings_agree(const struct tune_entry *a, const struct tune_entry *b) {
  bool same = a->setting_count == b->setting_count;
  for (size_t i = 0; same && i < a->setting_count; i++)
    same = strcmp(a->settings[i].name, b->settings[i].name) == 0 &&
           strcmp(a->settings[i].value, b->settings[i].value) == 0;
  return same;
}

static const char *describe(struct tool *t, const struct tune_entry *e) {
  struct strbuf b = {.arena = t->arena};
  tune_key_values_print(&e->key, &b);
  strbuf_printf(&b, "%son %s: ", b.len ? " " : "", e->key.device);
  tune_settings_print(e->settings, e->setting_count, &b);
  const char *text = arena_strdup(t->arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

// "M=4096,N=4096", as --tuned-for takes it.
static const char *tuned_for_text(struct tool *t, const struct tune_entry *e, bool with_device) {
  struct strbuf b = {.arena = t->arena};
  for (size_t i = 0; i < e->key.value_count; i++)
    strbuf_printf(&b, "%s%s=%lld", i ? "," : "", e->key.values[i].name,
                  (long long)e->key.values[i].value);
  if (with_device || !b.len)
    strbuf_printf(&b, "%sdevice=%s", b.len ? "," : "", e->key.device);
  const char *text = arena_strdup(t->arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

static bool undecided(const struct tunings *ts, const struct tunings_query *q,
                      const entry_list *list) {
  struct tool *t = ts->tool;
  struct diag *d;
  bool several_devices = false;
  if (t->o.tuned_for.value.ptr)
    d = diag_error(t->diag, t->o.tuned_for.where, E0763,
                   "`%s` has no tuning of `%s` for %s that is near `%.*s`", ts->path, q->kernel,
                   q->target, STR_ARG(t->o.tuned_for.value));
  else
    d = diag_error(t->diag, list->at[0]->span, E0763,
                   "`%s` was tuned for %s in %zu ways, and code has one", q->kernel, q->target,
                   list->len);
  for (size_t i = 0; i < list->len; i++) {
    several_devices |= strcmp(list->at[i]->key.device, list->at[0]->key.device) != 0;
    if (i < 8)
      diag_note(d, list->at[i]->span, "%s", describe(t, list->at[i]));
    else if (i == 8)
      diag_note(d, SPAN_NONE, "and %zu more", list->len - i);
  }
  diag_help(d, "say which: `--tuned-for '%s'`; or `--no-tunings`",
            tuned_for_text(t, list->at[0], several_devices));
  return false;
}

static bool no_tuning(const struct tunings *ts, const struct tunings_query *q) {
  struct tool *t = ts->tool;
  struct diag *d = diag_error(t->diag, t->o.tuned_for.where, E0763,
                              "`%s` has no tuning of `%s` for %s with these types and constants",
                              ts->path, q->kernel, q->target);
  diag_help(d, "tune on such a device first: `tilec --autotune %s`", t->o.file);
  return false;
}

bool tunings_for_build(const struct tunings *ts, const struct tunings_query *q, struct tuned *ret) {
  struct tool *t = ts->tool;
  struct tuned_for wanted;
  entry_list fresh = {0};
  const struct tune_entry *stale = NULL;
  *ret = (struct tuned){.path = ts->path};
  if (!read_tuned_for(t, &wanted))
    return false;
  for (size_t i = 0; i < ts->file.count; i++) {
    const struct tune_entry *e = &ts->file.entries[i];
    if (!suits(e, q))
      continue;
    if (is_fresh(ts, e))
      vec_push(t->arena, &fresh, e);
    else
      stale = stale ? stale : e;
  }
  if (!fresh.len) {
    if (stale)
      warn_stale(ts, stale);
    return !t->o.tuned_for.value.ptr || no_tuning(ts, q);
  }
  bool same = true;
  for (size_t i = 1; i < fresh.len; i++)
    same &= tunings_agree(fresh.at[0], fresh.at[i]);
  ret->entry = t->o.tuned_for.value.ptr ? nearest(&wanted, &fresh) : same ? fresh.at[0] : NULL;
  return ret->entry || undecided(ts, q, &fresh);
}

// ---- taking an entry ----

static bool set_option(struct tool *t, const struct tuned *tuned, const struct tune_setting *s,
                       uint32_t limit, uint32_t *to) {
  uint64_t n;
  if (!str_to_u64(str_from(s->value), &n) || n < 1 || n > limit) {
    diag_error(t->diag, tuned->entry->span, E0760, "`%s` is out of range: %s", s->name, s->value);
    return false;
  }
  if (to && !*to)
    *to = (uint32_t)n;
  return true;
}

static bool set_choice(struct tool *t, const struct tuned *tuned, const struct tune_setting *s,
                       enum warp_specialize *to) {
  enum warp_specialize w;
  if (!warp_specialize_of(str_from(s->value), &w)) {
    diag_error(t->diag, tuned->entry->span, E0760, "`%s` is auto, on or off, not %s", s->name,
               s->value);
    return false;
  }
  if (to && !*to)
    *to = w;
  return true;
}

bool tunings_apply(struct tool *t, const struct tuned *tuned, const struct tunings_query *q,
                   const struct tunings_target *to) {
  for (size_t i = 0; tuned->entry && i < tuned->entry->setting_count; i++) {
    const struct tune_setting *s = &tuned->entry->settings[i];
    bool ok = true;
    if (strcmp(s->name, "num_warps") == 0)
      ok = set_option(t, tuned, s, 32, to->num_warps);
    else if (strcmp(s->name, "num_stages") == 0)
      ok = set_option(t, tuned, s, 16, to->num_stages);
    else if (strcmp(s->name, "max_registers") == 0)
      ok = set_option(t, tuned, s, 255, to->max_registers);
    else if (strcmp(s->name, "num_ctas") == 0)
      ok = set_option(t, tuned, s, 16, to->num_ctas);
    else if (strcmp(s->name, "warp_specialize") == 0)
      ok = set_choice(t, tuned, s, to->warp_specialize);
    else if (!tune_setting_find(q->given, q->given_count, s->name))
      to->set_constant(to->user, t, s, tuned->entry->span);
    if (!ok)
      return false;
  }
  return true;
}

// ---- one kernel with --target ----

bool tunings_leave_open(const struct tunings_query *q) {
  bool any = false;
  for (size_t i = 0; i < q->param_count; i++) {
    any |= q->params[i].is_constexpr;
    if (q->params[i].is_constexpr &&
        !tune_setting_find(q->given, q->given_count, q->params[i].name))
      return true;
  }
  return !any;
}

static void bind(void *user, struct tool *t, const struct tune_setting *s, struct span where) {
  struct compile_request *r = user;
  struct lang_binding *all = arena_array(t->arena, struct lang_binding, r->binding_count + 1);
  (void)where;
  for (size_t i = 0; i < r->binding_count; i++)
    all[i] = r->bindings[i];
  all[r->binding_count++] = tool_constant(t, s->name, str_from(s->value));
  r->bindings = all;
}

bool tunings_check(struct tool *t) {
  const struct word *w = &t->o.tuned_for;
  if (!w->value.ptr || (t->o.target && !t->o.no_tunings))
    return true;
  if (t->o.target)
    diag_error(t->diag, w->where, E0703, "`--tuned-for` and `--no-tunings` exclude each other");
  else
    diag_help(diag_error(t->diag, w->where, E0703, "`--tuned-for` is for a target that is named"),
              "add for example `--target sm_90a`");
  return false;
}

bool tunings_for_compilation(struct tool *t, struct compile_request *r) {
  struct tunings ts;
  struct tuned tuned;
  struct tunings_query q = {
      .target = r->target->name, .bindings = r->bindings, .binding_count = r->binding_count};
  struct diag_engine *silent = diag_engine_create(t->arena); // the compilation reports the same
  struct lang_unit *u =
      t->o.no_tunings || !t->o.target ? NULL : lang_unit_read(t->arena, silent, r->source);
  struct lang_param *params;
  if (!tunings_check(t) || (u && !tool_bind_constants(t, u, t->o.target)))
    return false;
  if (u && !diag_count(silent)) // the compilation reports its warnings
    r->unit = u;
  if (!u ||
      !lang_kernel_params(t->arena, silent, u, t->o.kernel, &q.kernel, &params, &q.param_count))
    return true;
  q.params = params;
  q.given = tunings_given(t, &q.given_count);
  if (!tunings_leave_open(&q))
    return true;
  if (!tunings_open(t, u, &ts) || !tunings_for_build(&ts, &q, &tuned))
    return false;
  if (tuned.entry) {
    struct strbuf text = {.arena = t->arena};
    tuned_print(&tuned, &text);
    diag_remark(t->diag, t->o.file_at, "tuning", "%s", strbuf_cstr(&text));
    strbuf_finish(&text);
  }
  return tunings_apply(t, &tuned, &q,
                       &(struct tunings_target){&r->num_warps, &r->num_stages, &r->max_registers,
                                                &r->num_ctas, &r->warp_specialize, r, bind});
}
