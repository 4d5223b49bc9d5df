// SPDX-License-Identifier: Apache-2.0
// The table of specialisations: read without locks, grown under the kernel's lock. If several
// threads need a specialisation at once, one of them builds it.
#include "base/memory.h"
#include "jit/jit_kernel.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 8

static bool matches(const struct jit_spec *s, const struct jit_key *key) {
  return s->hash == key->hash && s->key_count == key->count &&
         memcmp(s->key, key->bytes, key->count) == 0;
}

struct jit_spec *jit_find(const struct config *c, const struct jit_key *key) {
  const struct spec_table *t = atomic_load_explicit(&c->table, memory_order_acquire);
  if (!t)
    return NULL;
  for (size_t i = key->hash & (t->cap - 1);; i = (i + 1) & (t->cap - 1)) {
    struct jit_spec *s = atomic_load_explicit(&t->slots[i], memory_order_acquire);
    if (!s || matches(s, key))
      return s;
  }
}

static void insert(struct spec_table *t, struct jit_spec *s) {
  size_t i = s->hash & (t->cap - 1);
  while (atomic_load_explicit(&t->slots[i], memory_order_relaxed))
    i = (i + 1) & (t->cap - 1);
  atomic_store_explicit(&t->slots[i], s, memory_order_release);
}

// Room for one more entry, at most half full. Readers may still use the old table, so it is kept
// until the kernel is closed.
static struct spec_table *reserve(struct config *c) {
  struct spec_table *t = atomic_load_explicit(&c->table, memory_order_relaxed);
  if (t && c->spec_count + 1 <= t->cap / 2)
    return t;
  size_t cap = t ? t->cap * 2 : FIRST_CAP;
  struct spec_table *grown = memory_zeroed(1, sizeof *grown + cap * sizeof grown->slots[0]);
  if (!grown)
    return NULL;
  grown->cap = cap;
  grown->older = t;
  for (size_t i = 0; t && i < t->cap; i++) {
    struct jit_spec *s = atomic_load_explicit(&t->slots[i], memory_order_relaxed);
    if (s)
      insert(grown, s);
  }
  atomic_store_explicit(&c->table, grown, memory_order_release);
  return grown;
}

struct new_spec {
  struct arena *arena;
  struct config *config;
  const struct jit_key *key;
  struct jit_spec *made;
};

static void fill_spec(void *user) {
  struct new_spec *n = user;
  struct jit_spec *s = arena_new(n->arena, struct jit_spec);
  s->arena = n->arena;
  s->config = n->config;
  s->hash = n->key->hash;
  s->key_count = n->key->count;
  s->key = arena_dup(n->arena, n->key->bytes, n->key->count, 1);
  n->made = s;
}

// NULL when memory is out.
static struct jit_spec *spec_create(struct config *config, const struct jit_key *key) {
  struct new_spec n = {.arena = arena_create(), .config = config, .key = key};
  if (!n.arena || !arena_guard(n.arena, fill_spec, &n)) {
    arena_destroy(n.arena);
    return NULL;
  }
  return n.made;
}

static bool is_pending(const tile_kernel *k, const struct config *c, const struct jit_key *key) {
  for (const struct jit_spec *s = k->pending; s; s = s->next)
    if (s->config == c && matches(s, key))
      return true;
  return false;
}

static void remove_pending(tile_kernel *k, const struct jit_spec *spec) {
  struct jit_spec **at = &k->pending;
  while (*at != spec)
    at = &(*at)->next;
  *at = spec->next;
}

// Publishes a finished specialisation. The kernel's lock is held.
static tile_status publish(tile_kernel *k, struct jit_spec *spec) {
  struct spec_table *t = reserve(spec->config);
  if (!t)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for kernel `%s`", k->name);
  spec->next = k->specs;
  k->specs = spec;
  spec->config->spec_count++;
  insert(t, spec);
  return TILE_OK;
}

tile_status jit_find_or_build(tile_kernel *k, struct config *config, const struct jit_key *key,
                              const struct jit_report *report, struct jit_spec **ret) {
  struct jit_spec *spec = jit_find(config, key);
  if (spec) {
    *ret = spec;
    return TILE_OK;
  }
  pthread_mutex_lock(&k->lock);
  // If the building thread fails, this one builds it itself and gets its own diagnostics.
  while (!(spec = jit_find(config, key)) && is_pending(k, config, key))
    pthread_cond_wait(&k->built, &k->lock);
  struct jit_spec *made = spec ? NULL : spec_create(config, key);
  if (made) {
    made->next = k->pending;
    k->pending = made;
  }
  pthread_mutex_unlock(&k->lock);
  if (spec) {
    *ret = spec;
    return TILE_OK;
  }
  if (!made)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for kernel `%s`", k->name);

  tile_status status = jit_build(k, made, report);

  pthread_mutex_lock(&k->lock);
  remove_pending(k, made);
  if (status == TILE_OK)
    status = publish(k, made);
  pthread_cond_broadcast(&k->built);
  pthread_mutex_unlock(&k->lock);
  if (status != TILE_OK)
    arena_destroy(made->arena);
  else
    *ret = made;
  return status;
}
