// SPDX-License-Identifier: Apache-2.0
// Stores the value of an option in the fields that its row names.
#include "tools/options/option_values.h"

static const struct option *row(const struct given *g) { return &option_table[g->id]; }

static void *field(struct tool *t, const struct given *g) { return (char *)&t->o + row(g)->field; }

// The second field of the row; NULL if it has none.
static void *second_field(struct tool *t, const struct given *g) {
  return row(g)->at == SIZE_MAX ? NULL : (char *)&t->o + row(g)->at;
}

static void set_location(struct tool *t, const struct given *g) {
  struct span *at = second_field(t, g);
  if (at)
    *at = g->where;
}

bool option_set_mode(struct tool *t, const struct given *g) {
  enum tool_mode mode = (enum tool_mode)row(g)->field;
  if (t->o.mode != MODE_COMPILE && t->o.mode != mode)
    return option_usage(t, g->where, E0703, "two modes at once",
                        "give one of --run, --bench, --autotune, --layout, --doctor, ...");
  t->o.mode = mode;
  t->o.mode_argument = g->value.ptr ? arena_strndup(t->arena, g->value.ptr, g->value.len) : NULL;
  t->o.mode_at = g->where;
  return true;
}

bool option_set_flag(struct tool *t, const struct given *g) {
  *(bool *)field(t, g) = true;
  set_location(t, g);
  return true;
}

bool option_set_text(struct tool *t, const struct given *g) {
  *(const char **)field(t, g) = option_copy(t, g->value);
  set_location(t, g);
  return true;
}

bool option_set_texts(struct tool *t, const struct given *g) {
  struct texts *texts = field(t, g);
  vec_push(t->arena, texts, option_copy(t, g->value));
  return true;
}

bool option_set_word(struct tool *t, const struct given *g) {
  *(struct word *)field(t, g) = (struct word){g->value, g->where};
  return true;
}

bool option_set_words(struct tool *t, const struct given *g) {
  struct words *words = field(t, g);
  vec_push(t->arena, words, (struct word){g->value, g->where});
  return true;
}

// ---- numbers ----

static bool whole_number(struct tool *t, const struct given *g, uint64_t *ret) {
  const struct option *o = row(g);
  if (str_to_u64(g->value, ret) && *ret >= o->least && *ret <= o->most)
    return true;
  return option_usage(t, g->where, E0702,
                      arena_printf(t->arena, "`%s` wants a number from %llu to %llu, not `%.*s`",
                                   o->spelling, (unsigned long long)o->least,
                                   (unsigned long long)o->most, STR_ARG(g->value)),
                      arena_printf(t->arena, "write for example `%s %llu`", o->spelling,
                                   (unsigned long long)(o->least > 4  ? o->least
                                                        : o->most < 4 ? o->most
                                                                      : 4)));
}

bool option_set_number(struct tool *t, const struct given *g) {
  uint64_t n = 0;
  if (!whole_number(t, g, &n))
    return false;
  *(uint32_t *)field(t, g) = (uint32_t)n;
  return true;
}

bool option_set_power_of_two(struct tool *t, const struct given *g) {
  uint64_t n = 0;
  if (!whole_number(t, g, &n))
    return false;
  if (!is_pow2(n)) {
    struct strbuf list = {.arena = t->arena};
    for (uint64_t p = 1; p <= row(g)->most; p *= 2)
      strbuf_printf(&list, "%s%llu",
                    p == 1              ? ""
                    : p == row(g)->most ? " or "
                                        : ", ",
                    (unsigned long long)p);
    return option_usage(t, g->where, E0702,
                        arena_printf(t->arena, "`%s` must be a power of two", row(g)->spelling),
                        arena_printf(t->arena, "use %s", strbuf_cstr(&list)));
  }
  *(uint32_t *)field(t, g) = (uint32_t)n;
  return true;
}

bool option_set_count(struct tool *t, const struct given *g) {
  return whole_number(t, g, field(t, g));
}

bool option_set_real(struct tool *t, const struct given *g) {
  double *value = field(t, g);
  if (!str_to_f64(g->value, value) || *value < 0)
    return option_usage(t, g->where, E0702,
                        arena_printf(t->arena, "`%s` wants a number of at least 0, not `%.*s`",
                                     row(g)->spelling, STR_ARG(g->value)),
                        arena_printf(t->arena, "write for example `%s 0.001`", row(g)->spelling));
  bool *given = second_field(t, g);
  if (given)
    *given = true;
  return true;
}
