// SPDX-License-Identifier: Apache-2.0
// Launches with a chosen configuration. A launch with a known key takes no lock and allocates
// nothing: types and integers are hashed, a table gives kernel and grid.
#include "autotune/tuned/tuned.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 16
#define HINT 16 // divisibility of pointers that kernels are specialised on

// ---- keys ----

static uint64_t mix(uint64_t h, uint64_t word) {
  h = (h ^ word) * 0xff51afd7ed558ccdu;
  return h ^ h >> 32;
}

// The numbers of a descriptor that a choice or a grid may depend on. False if it is malformed,
// which the launch reports, or if the key is full.
static bool add_descriptor(const tile_descriptor *d, struct tuned_key *ret, size_t *n) {
  if (!d || d->rank > ARG_MAX_RANK || *n + 1 + 2 * d->rank > TUNED_KEY_WORDS)
    return false;
  uint64_t pads = d->pads_nan != 0;
  ret->words[(*n)++] = (uint64_t)d->element | (uint64_t)d->rank << 8 | pads << 16;
  for (unsigned i = 0; i < d->rank; i++) {
    ret->words[(*n)++] = (uint64_t)d->shape[i] | (uint64_t)d->block[i] << 32;
    ret->words[(*n)++] = (uint64_t)d->strides[i];
  }
  return true;
}

// False if the number of arguments is wrong, or if the key has no room; the launch reports errors.
static bool key_make(const tile_tuned *t, const tile_arg *args, size_t count,
                     struct tuned_key *ret) {
  if (count != t->kernel->param_count || (count && !args))
    return false;
  size_t n = 0;
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < count; i += 8) {
    uint64_t word = 0;
    for (size_t k = i; k < count && k < i + 8; k++) {
      if (arg_is_none(&args[k])) {
        word |= (uint64_t)KEY_NONE << (8 * (k - i));
        continue;
      }
      if (arg_is_descriptor(&args[k])) {
        word |= (uint64_t)KEY_DESCRIPTOR << (8 * (k - i));
        continue;
      }
      if ((unsigned)args[k].type > KEY_TYPE)
        return false;
      uint64_t byte = (uint64_t)args[k].type & KEY_TYPE;
      if (args[k].is_pointer)
        byte |= KEY_POINTER | ((uintptr_t)args[k].value.pointer % HINT ? 0 : KEY_DIVISIBLE_16);
      word |= byte << (8 * (k - i));
    }
    ret->words[n++] = word;
    hash = mix(hash, word);
  }
  size_t types = n;
  for (size_t i = 0; i < count; i++)
    if (jit_is_integer(&args[i]))
      ret->words[n++] = (uint64_t)args[i].value.integer;
    else if (arg_is_descriptor(&args[i]) && !add_descriptor(args[i].value.descriptor, ret, &n))
      return false;
  for (size_t i = types; i < n; i++)
    hash = mix(hash, ret->words[i]);
  ret->count = n;
  ret->hash = hash;
  return true;
}

// The key of a choice: types and hints as the compiler sees them, and the integers that matter.
static void choice_key(const tile_tuned *t, const struct jit_key *key, const tile_arg *args,
                       size_t arg_count, struct tuned_key *ret) {
  size_t n = 0;
  for (size_t i = 0; i < key->count; i += 8) // zero after `count`
    memcpy(&ret->words[n++], key->bytes + i, sizeof ret->words[0]);
  for (size_t i = 0; i < arg_count; i++)
    if (t->matters[i] && jit_is_integer(&args[i]))
      ret->words[n++] = (uint64_t)args[i].value.integer;
  ret->count = n;
  ret->hash = 0;
  for (size_t i = 0; i < n; i++)
    ret->hash = mix(ret->hash, ret->words[i]);
}

// ---- the table of launches ----

static struct tuned_launch *find(const struct tuned_settings *s, const struct tuned_key *key) {
  const struct tuned_table *t = atomic_load_explicit(&s->table, memory_order_acquire);
  if (!t)
    return NULL;
  for (size_t i = key->hash & (t->cap - 1);; i = (i + 1) & (t->cap - 1)) {
    struct tuned_launch *l = atomic_load_explicit(&t->slots[i], memory_order_acquire);
    if (!l || (l->hash == key->hash && l->word_count == key->count &&
               memcmp(l->words, key->words, key->count * sizeof key->words[0]) == 0))
      return l;
  }
}

static void insert(struct tuned_table *t, struct tuned_launch *l) {
  size_t i = l->hash & (t->cap - 1);
  while (atomic_load_explicit(&t->slots[i], memory_order_relaxed))
    i = (i + 1) & (t->cap - 1);
  atomic_store_explicit(&t->slots[i], l, memory_order_release);
}

// Room for one more entry, at most half full. Readers may still use the old table, so it is kept.
static struct tuned_table *reserve(struct tuned_settings *s) {
  struct tuned_table *t = atomic_load_explicit(&s->table, memory_order_relaxed);
  if (t && s->launch_count + 1 <= t->cap / 2)
    return t;
  size_t cap = t ? t->cap * 2 : FIRST_CAP;
  struct tuned_table *grown = memory_zeroed(1, sizeof *grown + cap * sizeof grown->slots[0]);
  if (!grown)
    return NULL;
  grown->cap = cap;
  grown->older = t;
  for (size_t i = 0; t && i < t->cap; i++) {
    struct tuned_launch *l = atomic_load_explicit(&t->slots[i], memory_order_relaxed);
    if (l)
      insert(grown, l);
  }
  atomic_store_explicit(&s->table, grown, memory_order_release);
  return grown;
}

struct keeping {
  struct arena *arena;
  const struct tuned_key *key;
  size_t size;
  void *made;
  const uint64_t *words;
};

static void keep_words(void *user) {
  struct keeping *k = user;
  const struct tuned_key *key = k->key;
  k->made = arena_alloc(k->arena, k->size, _Alignof(max_align_t));
  k->words = arena_dup(k->arena, key->words, key->count * sizeof key->words[0], _Alignof(uint64_t));
}

// Allocates a struct of that size with the key's words; NULL when memory is out. The lock is held.
static void *keep_key(tile_tuned *t, const struct tuned_key *key, size_t size,
                      const uint64_t **ret_words) {
  struct keeping k = {.arena = t->arena, .key = key, .size = size};
  if (!arena_guard(t->arena, keep_words, &k))
    return NULL;
  *ret_words = k.words;
  return k.made;
}

// Remembers the result for launches with that key. Only an optimisation: skipped without memory.
// The lock is held.
static void remember(tile_tuned *t, struct tuned_settings *s, const struct tuned_key *key,
                     struct tuned_variant *v, tile_grid grid) {
  if (s->launch_count >= TUNED_MOST || find(s, key))
    return;
  struct tuned_table *table = reserve(s);
  const uint64_t *words;
  struct tuned_launch *l = table ? keep_key(t, key, sizeof *l, &words) : NULL;
  if (!l)
    return;
  *l = (struct tuned_launch){key->hash, key->count, words, v, grid};
  s->launch_count++;
  insert(table, l);
}

// ---- choices ----

static struct tuned_choice **bucket_of(struct tuned_settings *s, const struct tuned_key *key) {
  return &s->choices[key->hash & (TUNED_BUCKETS - 1)];
}

static struct tuned_choice *find_choice(struct tuned_settings *s, const struct tuned_key *key) {
  struct tuned_choice *c = *bucket_of(s, key);
  while (c && (c->word_count != key->count ||
               memcmp(c->words, key->words, key->count * sizeof key->words[0]) != 0))
    c = c->next;
  return c;
}

static void drop_choice(struct tuned_settings *s, const struct tuned_key *key,
                        const struct tuned_choice *choice) {
  struct tuned_choice **at = bucket_of(s, key);
  while (*at != choice)
    at = &(*at)->next;
  *at = choice->next;
  s->choice_count--;
}

// The choice for that key, made by another thread, or a new one for this thread to make (then
// *ret_mine). NULL when memory is out.
static struct tuned_choice *claim(tile_tuned *t, struct tuned_settings *s,
                                  const struct tuned_key *key, bool *ret_mine) {
  struct tuned_choice *c;
  *ret_mine = false;
  // If the choosing thread fails, this one chooses by itself and gets its own message.
  while ((c = find_choice(s, key)) && !c->variant)
    pthread_cond_wait(&t->chosen, &t->lock);
  if (c)
    return c;
  const uint64_t *words;
  c = keep_key(t, key, sizeof *c, &words);
  if (!c)
    return NULL;
  struct tuned_choice **bucket = bucket_of(s, key);
  *c = (struct tuned_choice){.next = *bucket, .words = words, .word_count = key->count};
  *bucket = c;
  s->choice_count++;
  *ret_mine = true;
  return c;
}

static tile_status choose(const struct tuned_request *r, struct tuned_settings *s,
                          const struct tuned_key *key, struct tuned_variant **ret) {
  tile_tuned *t = r->tuned;
  bool mine;
  pthread_mutex_lock(&t->lock);
  // Measuring takes too long for so many keys.
  if (s->choice_count >= TUNED_MOST && s->policy != TILE_TUNE_ALWAYS && !find_choice(s, key)) {
    pthread_mutex_unlock(&t->lock);
    return tuned_choose(r, ret);
  }
  struct tuned_choice *c = claim(t, s, key, &mine);
  struct tuned_variant *variant = c && !mine ? c->variant : NULL;
  pthread_mutex_unlock(&t->lock);
  if (!c)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for kernel `%s`", t->kernel->name);
  tile_status status = mine ? tuned_choose(r, &variant) : TILE_OK;
  if (mine) {
    pthread_mutex_lock(&t->lock);
    if (status == TILE_OK)
      c->variant = variant;
    else
      drop_choice(s, key, c);
    pthread_cond_broadcast(&t->chosen);
    pthread_mutex_unlock(&t->lock);
  }
  *ret = variant;
  return status;
}

// A launch that is not in the table. `key`: to keep it there; NULL: it is not kept.
static tile_status look_up(const struct tuned_request *r, struct tuned_settings *s,
                           const struct tuned_key *key, struct tuned_variant **ret_variant,
                           tile_grid *ret_grid) {
  tile_tuned *t = r->tuned;
  struct jit_key checked;
  struct tuned_key wanted;
  struct tuned_variant *v = NULL;
  tile_status status = jit_key_make(t->kernel, r->args, r->arg_count, &checked);
  if (status != TILE_OK)
    return status;
  choice_key(t, &checked, r->args, r->arg_count, &wanted);
  status = choose(r, s, &wanted, &v);
  if (status != TILE_OK)
    return status;
  *ret_variant = v;
  if (!ret_grid)
    return TILE_OK;
  status = tuned_grid(r, v, ret_grid);
  if (status != TILE_OK || !key)
    return status;
  pthread_mutex_lock(&t->lock);
  remember(t, s, key, v, *ret_grid);
  pthread_mutex_unlock(&t->lock);
  return TILE_OK;
}

// ---- the public calls ----

tile_status tile_tuned_launch(tile_tuned *t, tile_stream *stream, const tile_arg *args,
                              size_t arg_count) {
  if (!t)
    return status_set(TILE_INVALID_ARGUMENT, "tile_tuned_launch: the handle is NULL");
  struct tuned_settings *s = atomic_load_explicit(&t->settings, memory_order_acquire);
  struct tuned_key key;
  bool has_key = key_make(t, args, arg_count, &key);
  if (has_key) {
    const struct tuned_launch *l = find(s, &key);
    if (l)
      return tile_launch(l->variant->kernel, stream, l->grid, args, arg_count);
  }
  struct tuned_request request = {t, s, stream, args, arg_count};
  struct tuned_variant *v;
  tile_grid grid;
  if (!s->grid)
    return status_set(TILE_INVALID_ARGUMENT,
                      "tile_tuned_launch: kernel `%s` has no grid\n  = help: call "
                      "tile_tuned_set_grid, with \"cdiv(n, BLOCK)\" for example",
                      t->kernel->name);
  tile_status status = look_up(&request, s, has_key ? &key : NULL, &v, &grid);
  return status == TILE_OK ? tile_launch(v->kernel, stream, grid, args, arg_count) : status;
}

tile_status tile_tuned_get_config(tile_tuned *t, const tile_arg *args, size_t arg_count,
                                  const char **ret_config) {
  if (!t || !ret_config)
    return status_set(TILE_INVALID_ARGUMENT, "tile_tuned_get_config: `%s` is NULL",
                      t ? "ret_config" : "tuned");
  struct tuned_settings *s = atomic_load_explicit(&t->settings, memory_order_acquire);
  struct tuned_request request = {t, s, NULL, args, arg_count};
  struct tuned_variant *v;
  tile_status status = look_up(&request, s, NULL, &v, NULL);
  if (status == TILE_OK)
    *ret_config = v->spelling;
  return status;
}
