// SPDX-License-Identifier: Apache-2.0
// Queries of a space: values of a configuration, its spelling and back, its neighbours.
#include "autotune/space/space.h"

#include <assert.h>

static const struct tune_dim *find_dim(const struct tune_space *s, const char *name,
                                       size_t *ret_at) {
  for (size_t i = 0; i < s->dim_count; i++)
    if (strcmp(s->dims[i].name, name) == 0)
      return *ret_at = i, &s->dims[i];
  return NULL;
}

const char *tune_config_value(const struct tune_space *s, size_t config, const char *name) {
  size_t i;
  const struct tune_dim *d = find_dim(s, name, &i);
  return d ? d->values[s->configs[config].at[i]] : NULL;
}

// A parameter of the kernel that is called num_warps also sets the launch option.
static uint32_t number(const struct tune_space *s, size_t config, const char *name) {
  const char *text = tune_config_value(s, config, name);
  uint64_t n = 0;
  return text && str_to_u64(str_from(text), &n) && n <= UINT32_MAX ? (uint32_t)n : 0;
}

uint32_t tune_config_warps(const struct tune_space *s, size_t config) {
  return number(s, config, "num_warps");
}

uint32_t tune_config_stages(const struct tune_space *s, size_t config) {
  return number(s, config, "num_stages");
}

uint32_t tune_config_registers(const struct tune_space *s, size_t config) {
  return number(s, config, "max_registers");
}

enum warp_specialize tune_config_specialize(const struct tune_space *s, size_t config) {
  const char *text = tune_config_value(s, config, "warp_specialize");
  enum warp_specialize w = WARP_SPECIALIZE_AUTO;
  return text && warp_specialize_of(str_from(text), &w) ? w : WARP_SPECIALIZE_AUTO;
}

uint32_t tune_config_ctas(const struct tune_space *s, size_t config) {
  return number(s, config, "num_ctas");
}

void tune_config_print(const struct tune_space *s, size_t config, struct strbuf *out) {
  for (size_t i = 0; i < s->dim_count; i++)
    strbuf_printf(out, "%s%s=%s", i > 0 ? ", " : "", s->dims[i].name,
                  s->dims[i].values[s->configs[config].at[i]]);
}

// ---- Back from a spelling ----

// The value of `d` that `text` begins with, up to a comma or the end: the longest one, since values
// are texts that may contain commas.
static bool match_value(const struct tune_dim *d, struct str text, uint16_t *ret, size_t *ret_len) {
  bool found = false;
  for (size_t i = 0; i < d->count; i++) {
    size_t len = strlen(d->values[i]);
    bool ends = text.len == len || (text.len > len + 1 && memcmp(text.ptr + len, ", ", 2) == 0);
    if (!str_starts(text, d->values[i]) || !ends || (found && len <= *ret_len))
      continue;
    *ret = (uint16_t)i;
    *ret_len = len;
    found = true;
  }
  return found;
}

bool tune_space_parse(const struct tune_space *s, struct str text, struct tune_config *ret) {
  *ret = (struct tune_config){0};
  text = str_trim(text);
  for (size_t i = 0; i < s->dim_count; i++) {
    const struct tune_dim *d = &s->dims[i];
    size_t name = strlen(d->name), len = 0;
    if (i > 0 && !str_starts(text, ", "))
      return false;
    if (i > 0)
      text = (struct str){text.ptr + 2, text.len - 2};
    if (!str_starts(text, d->name) || text.len <= name || text.ptr[name] != '=')
      return false;
    text = (struct str){text.ptr + name + 1, text.len - name - 1};
    if (!match_value(d, text, &ret->at[i], &len))
      return false;
    text = (struct str){text.ptr + len, text.len - len};
  }
  return text.len == 0;
}

bool tune_space_find(const struct tune_space *s, struct str spelling, size_t *ret) {
  struct tune_config wanted;
  if (!tune_space_parse(s, spelling, &wanted))
    return false;
  for (size_t i = 0; i < s->count; i++)
    if (memcmp(s->configs[i].at, wanted.at, s->dim_count * sizeof *wanted.at) == 0)
      return *ret = i, true;
  return false;
}

// ---- Neighbours ----

static bool is_ordered(const struct tune_dim *d) {
  int64_t n;
  for (size_t i = 0; i < d->count; i++)
    if (!str_to_i64(str_from(d->values[i]), &n))
      return false;
  return true;
}

// In how many dimensions `b` is one step from `a`; 0 if it is further in any. Values without an
// order are all adjacent.
static unsigned steps(const struct tune_space *s, uint32_t ordered, const struct tune_config *a,
                      const struct tune_config *b) {
  unsigned n = 0;
  for (size_t i = 0; i < s->dim_count; i++) {
    int by = (int)a->at[i] - (int)b->at[i];
    if (by == 0)
      continue;
    if ((ordered >> i & 1) && by != 1 && by != -1)
      return 0;
    n++;
  }
  return n;
}

size_t tune_space_neighbours(const struct tune_space *s, size_t config, bool far, uint32_t *ret,
                             size_t cap) {
  assert(config < s->count);
  uint32_t ordered = 0;
  for (size_t i = 0; i < s->dim_count; i++)
    ordered |= (uint32_t)is_ordered(&s->dims[i]) << i;
  size_t n = 0;
  for (unsigned distance = 1; distance <= (far ? 2u : 1u); distance++)
    for (size_t i = 0; i < s->count && n < cap; i++)
      if (steps(s, ordered, &s->configs[config], &s->configs[i]) == distance)
        ret[n++] = (uint32_t)i;
  return n;
}
