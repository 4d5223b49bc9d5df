// SPDX-License-Identifier: Apache-2.0
// Entries in memory: their order, the entry for a key, and merging two files.
#include "autotune/database/database_internal.h"

#include <math.h>
#include <stdlib.h>

// ---- order ----

static int order_settings(const struct tune_setting *a, size_t na, const struct tune_setting *b,
                          size_t nb) {
  for (size_t i = 0; i < na && i < nb; i++) {
    int c = strcmp(a[i].name, b[i].name);
    c = c ? c : strcmp(a[i].value, b[i].value);
    if (c)
      return c;
  }
  return (na > nb) - (na < nb);
}

static int order_values(const struct tune_key *a, const struct tune_key *b) {
  for (size_t i = 0; i < a->value_count && i < b->value_count; i++) {
    int c = strcmp(a->values[i].name, b->values[i].name);
    int64_t x = a->values[i].value, y = b->values[i].value;
    c = c ? c : (x > y) - (x < y);
    if (c)
      return c;
  }
  return (a->value_count > b->value_count) - (a->value_count < b->value_count);
}

int tune_key_order(const struct tune_key *a, const struct tune_key *b) {
  int c = strcmp(a->kernel, b->kernel);
  c = c ? c : strcmp(a->target, b->target);
  c = c ? c : strcmp(a->device, b->device);
  c = c ? c : strcmp(a->types, b->types);
  c = c ? c : order_settings(a->fixed, a->fixed_count, b->fixed, b->fixed_count);
  return c ? c : order_values(a, b);
}

static bool same_hash(const struct tune_key *a, const struct tune_key *b) {
  return memcmp(a->hash, b->hash, sizeof a->hash) == 0;
}

static int by_key(const void *x, const void *y) {
  const struct tune_entry *a = x, *b = y;
  int c = tune_key_order(&a->key, &b->key);
  c = c ? c : memcmp(a->key.hash, b->key.hash, sizeof a->key.hash);
  c = c ? c : (a->spilled_bytes > 0) - (b->spilled_bytes > 0);
  c = c ? c : (a->ms > b->ms) - (a->ms < b->ms);
  return c ? c : order_settings(a->settings, a->setting_count, b->settings, b->setting_count);
}

void tune_file_sort(struct tune_file *f) {
  size_t n = 0;
  if (f->count)
    qsort(f->entries, f->count, sizeof *f->entries, by_key);
  for (size_t i = 0; i < f->count; i++) {
    const struct tune_key *before = n ? &f->entries[n - 1].key : NULL, *k = &f->entries[i].key;
    if (!before || tune_key_order(before, k) != 0 || !same_hash(before, k))
      f->entries[n++] = f->entries[i];
  }
  f->count = n;
}

// ---- look-up ----

// The logarithm of the ratio of two numbers; infinite if one is not positive.
static double apart(int64_t a, int64_t b) {
  if (a == b)
    return 0;
  return a > 0 && b > 0 ? fabs(log2((double)a) - log2((double)b)) : (double)INFINITY;
}

double tune_key_distance(const struct tune_key *k, const struct tune_key_value *values,
                         size_t count, double *ret_widest) {
  double sum = 0;
  *ret_widest = 0;
  for (size_t i = 0; i < count; i++) {
    size_t v = 0;
    while (v < k->value_count && strcmp(k->values[v].name, values[i].name) != 0)
      v++;
    double d = v < k->value_count ? apart(k->values[v].value, values[i].value) : (double)INFINITY;
    *ret_widest = d > *ret_widest ? d : *ret_widest;
    sum += d;
  }
  return sum;
}

double tune_entry_rank(const struct tune_entry *e, double distance) {
  return distance > 0 && e->spilled_bytes > 0 ? distance + 1e6 : distance;
}

static bool same_problem(const struct tune_key *a, const struct tune_key *b) {
  return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->target, b->target) == 0 &&
         strcmp(a->device, b->device) == 0 && strcmp(a->types, b->types) == 0 &&
         order_settings(a->fixed, a->fixed_count, b->fixed, b->fixed_count) == 0 &&
         a->value_count == b->value_count;
}

const struct tune_entry *tune_file_find(const struct tune_file *f, const struct tune_key *key,
                                        bool or_nearest) {
  const struct tune_entry *best = NULL;
  double least = (double)INFINITY;
  for (size_t i = 0; i < f->count; i++) {
    const struct tune_entry *e = &f->entries[i];
    if (!same_problem(&e->key, key) || !same_hash(&e->key, key))
      continue;
    double widest, d = tune_key_distance(&e->key, key->values, key->value_count, &widest);
    d = tune_entry_rank(e, d);
    if (d < least && widest <= (or_nearest ? 1.0 : 0.0)) {
      least = d;
      best = e;
    }
  }
  return best;
}

// ---- changing ----

void tune_file_replace(struct arena *a, struct tune_file *f, const struct tune_entry *entry) {
  struct tune_entry *kept = arena_array(a, struct tune_entry, f->count + 1);
  size_t n = 0;
  for (size_t i = 0; i < f->count; i++)
    if (tune_key_order(&f->entries[i].key, &entry->key) != 0)
      kept[n++] = f->entries[i];
  kept[n++] = *entry;
  f->entries = kept;
  f->count = n;
  tune_file_sort(f);
}

void tune_file_join(struct arena *a, struct tune_file *f, const struct tune_file *more) {
  struct tune_entry *all = arena_array(a, struct tune_entry, f->count + more->count + 1);
  for (size_t i = 0; i < f->count; i++)
    all[i] = f->entries[i];
  for (size_t i = 0; i < more->count; i++)
    all[f->count + i] = more->entries[i];
  f->entries = all;
  f->count += more->count;
  tune_file_sort(f);
}
