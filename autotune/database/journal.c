// SPDX-License-Identifier: Apache-2.0
// The journal: a file of JSON lines for each key in the cache folder, to which every trial is
// appended at once. Tuners of one key share the file: a write to a file opened with O_APPEND is
// atomic, and a lock during the write tells whether the previous line was truncated by a crash.
// Such a line is terminated, does not parse and is skipped.
#include "autotune/database/database_internal.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define JOURNAL_FORMAT "tile journal 1"
#define JOURNAL_MAX_BYTES (64u << 20)
#define LOCK_ATTEMPTS 1000 // a millisecond apart

struct tune_journal {
  int fd;
  pthread_mutex_t lock;
};

// ---- the file ----

static void field(struct sha256 *h, const char *text) { sha256_field(h, text, strlen(text)); }

static void hash_key(const struct tune_key *k, uint8_t digest[32]) {
  struct sha256 h;
  sha256_init(&h);
  field(&h, JOURNAL_FORMAT);
  field(&h, compiler_version()); // another compiler generates other code
  field(&h, k->kernel);
  field(&h, k->device);
  field(&h, k->target);
  field(&h, k->types);
  sha256_field(&h, k->hash, sizeof k->hash);
  for (size_t i = 0; i < k->fixed_count; i++) {
    field(&h, k->fixed[i].name);
    field(&h, k->fixed[i].value);
  }
  field(&h, ""); // no name of a setting
  for (size_t i = 0; i < k->value_count; i++) {
    field(&h, k->values[i].name);
    sha256_field(&h, &k->values[i].value, sizeof k->values[i].value);
  }
  sha256_final(&h, digest);
}

// The lock covers reading the last line's end and the write. A stopped writer keeps its lock; after
// a while its line is treated as truncated.
static bool lock(int fd) {
  for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
      return true;
    struct timespec t = {0, 1000000};
    nanosleep(&t, NULL);
  }
  return false;
}

static void put(int fd, struct strbuf *line) {
  ssize_t n = -1;
  if (!line->failed)
    do
      n = write(fd, line->ptr, line->len);
    while (n < 0 && errno == EINTR);
  (void)n; // a full disk loses the line, not the tuning
}

// For people who read the file; the reader skips it.
static void put_heading(int fd, const struct tune_key *k) {
  struct strbuf line = {0};
  struct json_writer w = {.out = &line};
  json_begin_object(&w);
  json_key(&w, "kernel"), json_cstring(&w, k->kernel);
  json_key(&w, "target"), json_cstring(&w, k->target);
  json_key(&w, "device"), json_cstring(&w, k->device);
  json_key(&w, "types"), json_cstring(&w, k->types);
  json_key(&w, "key"), json_begin_object(&w);
  for (size_t i = 0; i < k->value_count; i++)
    json_key(&w, k->values[i].name), json_int(&w, k->values[i].value);
  json_end_object(&w);
  json_end_object(&w);
  strbuf_putc(&line, '\n');
  put(fd, &line);
  strbuf_finish(&line);
}

static int open_file(int folder, const struct tune_key *k) {
  uint8_t digest[32];
  char hex[65], name[72];
  hash_key(k, digest);
  sha256_hex(digest, hex);
  snprintf(name, sizeof name, "%s.jsonl", hex);
  int flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int fd = openat(folder, name, flags | O_CREAT | O_EXCL, 0600);
  if (fd >= 0) {
    bool locked = lock(fd);
    put_heading(fd, k);
    if (locked)
      flock(fd, LOCK_UN);
    return fd;
  }
  fd = openat(folder, name, flags);
  struct stat st;
  if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())) {
    close(fd);
    fd = -1;
  }
  return fd;
}

struct tune_journal *tune_journal_open(const struct tune_key *key) {
  struct disk_cache *cache = disk_cache_open(NULL);
  int folder = disk_cache_folder(cache, CACHE_TUNE_FOLDER);
  int fd = folder >= 0 ? open_file(folder, key) : -1;
  struct tune_journal *j = fd >= 0 ? memory_alloc(sizeof *j) : NULL;
  if (j) {
    j->fd = fd;
    pthread_mutex_init(&j->lock, NULL);
  } else if (fd >= 0)
    close(fd);
  if (folder >= 0)
    close(folder);
  disk_cache_close(cache);
  return j;
}

void tune_journal_close(struct tune_journal *j) {
  if (!j)
    return;
  close(j->fd);
  pthread_mutex_destroy(&j->lock);
  free(j);
}

// ---- writing ----

static void write_config(struct json_writer *w, const char *key, const struct tune_space *s,
                         size_t config) {
  struct strbuf text = {.arena = w->out->arena};
  tune_config_print(s, config, &text);
  json_key(w, key), json_cstring(w, strbuf_cstr(&text));
  strbuf_finish(&text);
}

static void write_trial(struct json_writer *w, const struct tune_space *s,
                        const struct tune_trial *t) {
  json_begin_object(w);
  write_config(w, "config", s, t->config);
  json_key(w, "settings"), json_begin_object(w);
  for (size_t d = 0; d < s->dim_count; d++)
    tune_setting_write(
        w, &(struct tune_setting){s->dims[d].name, s->dims[d].values[s->configs[t->config].at[d]]});
  json_end_object(w);
  json_key(w, "outcome"), json_cstring(w, tune_outcome_name(t->outcome));
  if (t->reason)
    json_key(w, "reason"), json_cstring(w, t->reason);
  if (t->outcome == TUNE_SAME_CODE)
    write_config(w, "same_as", s, t->same_as);
  if (t->sample.count) {
    json_key(w, "median"), json_double(w, t->sample.median);
    json_key(w, "p20"), json_double(w, t->sample.p20);
    json_key(w, "p80"), json_double(w, t->sample.p80);
    json_key(w, "launches"), json_int(w, t->sample.count);
    if (t->sample.rounds)
      json_key(w, "rounds"), json_int(w, t->sample.rounds);
  }
  json_key(w, "predicted"), json_double(w, t->prediction.ms);
  if (t->prediction.limiter)
    json_key(w, "limiter"), json_cstring(w, t->prediction.limiter);
  json_key(w, "shared_bytes"), json_int(w, t->shared_bytes);
  json_key(w, "registers"), json_int(w, t->registers);
  json_key(w, "local_bytes"), json_int(w, t->local_bytes);
  json_key(w, "spilled_bytes"), json_int(w, t->spilled_bytes);
  json_key(w, "compile_ms"), json_double(w, t->compile_ms);
  json_key(w, "load_ms"), json_double(w, t->load_ms);
  json_key(w, "checked"), json_bool(w, t->is_checked);
  json_end_object(w);
}

// The last line has no newline: its writer was killed, the disk was full, or the machine crashed.
static bool is_torn(int fd) {
  struct stat st;
  char last;
  return fstat(fd, &st) == 0 && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 &&
         last != '\n';
}

void tune_journal_append(struct tune_journal *j, const struct tune_space *s,
                         const struct tune_trial *t) {
  if (!j || t->outcome == TUNE_UNTRIED)
    return;
  struct strbuf line = {0};
  pthread_mutex_lock(&j->lock); // threads share the descriptor, and so the file lock
  bool locked = lock(j->fd);
  if (!locked || is_torn(j->fd))
    strbuf_putc(&line, '\n');
  write_trial(&(struct json_writer){.out = &line}, s, t);
  strbuf_putc(&line, '\n');
  put(j->fd, &line);
  if (locked)
    flock(j->fd, LOCK_UN);
  pthread_mutex_unlock(&j->lock);
  strbuf_finish(&line);
}

// ---- reading ----

static double number_of(const struct json *j, const char *key) {
  const struct json *v = json_get(j, key);
  return v && v->kind == JSON_NUMBER ? v->number : 0;
}

static int64_t integer_of(const struct json *j, const char *key, int64_t limit) {
  const struct json *v = json_get(j, key);
  return v && v->kind == JSON_NUMBER && v->is_integer && v->integer >= 0 && v->integer <= limit
             ? v->integer
             : 0;
}

static struct str text_of(const struct json *j, const char *key) {
  const struct json *v = json_get(j, key);
  return v && v->kind == JSON_STRING ? v->string : (struct str){0};
}

static const char *copy_of(struct arena *a, struct str s) {
  return s.ptr ? arena_strndup(a, s.ptr, s.len) : NULL;
}

static bool read_outcome(const struct json *j, enum tune_outcome *ret) {
  struct str name = text_of(j, "outcome");
  for (int o = TUNE_PRUNED; o <= TUNE_MEASURED; o++)
    if (str_is(name, tune_outcome_name((enum tune_outcome)o))) {
      *ret = (enum tune_outcome)o;
      return true;
    }
  return false;
}

static bool read_line(struct arena *a, struct str text, struct tune_line *ret) {
  struct json_error error;
  const struct json *j = json_parse(a, text, &error), *bad;
  const struct json *settings = j ? json_get(j, "settings") : NULL;
  struct tune_line l = {0};
  if (!settings || settings->kind != JSON_OBJECT || !read_outcome(j, &l.trial.outcome) ||
      !tune_settings_read(a, settings, &l.settings, &l.setting_count, &bad))
    return false;
  l.config = text_of(j, "config");
  l.same_as = text_of(j, "same_as");
  l.trial.reason = copy_of(a, text_of(j, "reason"));
  l.trial.sample = (struct tune_sample){
      number_of(j, "median"), number_of(j, "p20"), number_of(j, "p80"),
      (unsigned)integer_of(j, "launches", INT32_MAX), (unsigned)integer_of(j, "rounds", INT32_MAX)};
  l.trial.prediction.ms = number_of(j, "predicted");
  l.trial.prediction.limiter = copy_of(a, text_of(j, "limiter"));
  l.trial.shared_bytes = (uint32_t)integer_of(j, "shared_bytes", UINT32_MAX);
  l.trial.registers = (int)integer_of(j, "registers", INT32_MAX);
  l.trial.local_bytes = (int)integer_of(j, "local_bytes", INT32_MAX);
  l.trial.spilled_bytes = json_get(j, "spilled_bytes")
                              ? (int)integer_of(j, "spilled_bytes", INT32_MAX)
                              : l.trial.local_bytes;
  l.trial.compile_ms = number_of(j, "compile_ms");
  l.trial.load_ms = number_of(j, "load_ms");
  const struct json *checked = json_get(j, "checked");
  l.trial.is_checked = checked && checked->boolean;
  l.trial.is_resumed = true;
  *ret = l;
  // A measured trial has a time.
  return l.config.ptr &&
         (l.trial.outcome != TUNE_MEASURED || (l.trial.sample.count && l.trial.sample.median > 0));
}

static bool read_file(int fd, struct arena *a, struct str *ret) {
  struct stat st;
  if (fstat(fd, &st) != 0 || st.st_size > (off_t)JOURNAL_MAX_BYTES)
    return false;
  size_t size = (size_t)st.st_size, done = 0;
  char *text = arena_alloc(a, size + 1, 1);
  while (done < size) {
    ssize_t n = pread(fd, text + done, size - done, (off_t)done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    done += (size_t)n;
  }
  *ret = (struct str){text, done};
  return true;
}

void tune_journal_each(struct tune_journal *j, struct arena *a,
                       void (*see)(void *user, const struct tune_line *line), void *user) {
  struct str text;
  if (!j || !read_file(j->fd, a, &text))
    return;
  while (text.len) {
    const char *end = memchr(text.ptr, '\n', text.len);
    if (!end)
      return; // truncated, or being written
    struct tune_line line;
    size_t n = (size_t)(end - text.ptr);
    if (read_line(a, (struct str){text.ptr, n}, &line))
      see(user, &line);
    text = (struct str){end + 1, text.len - n - 1};
  }
}

struct filling {
  const struct tune_space *space;
  struct map places; // configurations, by the bytes of their values
  struct tune_trial *trials;
  size_t count;
};

static struct str bytes_of(const struct tune_space *s, const struct tune_config *c) {
  return (struct str){(const char *)c->at, s->dim_count * sizeof *c->at};
}

// As tune_space_find, for many lines.
static bool find_place(const struct filling *f, struct str spelling, size_t *ret) {
  struct tune_config wanted;
  if (!tune_space_parse(f->space, spelling, &wanted))
    return false;
  const struct tune_config *c = map_get(&f->places, bytes_of(f->space, &wanted));
  if (c)
    *ret = (size_t)(c - f->space->configs);
  return c != NULL;
}

static void fill(void *user, const struct tune_line *line) {
  struct filling *f = user;
  size_t config, same = 0;
  if (!find_place(f, line->config, &config) ||
      (line->trial.outcome == TUNE_SAME_CODE && !find_place(f, line->same_as, &same)))
    return;
  struct tune_trial *t = &f->trials[config];
  f->count += !t->is_resumed;
  *t = line->trial;
  t->config = (uint32_t)config;
  t->same_as = (uint32_t)same;
}

size_t tune_journal_read(struct tune_journal *j, struct arena *a, const struct tune_space *s,
                         struct tune_trial *trials) {
  struct filling f = {.space = s, .trials = trials};
  for (size_t i = 0; i < s->count; i++)
    map_put(a, &f.places, bytes_of(s, &s->configs[i]), &s->configs[i]);
  tune_journal_each(j, a, fill, &f);
  return f.count;
}
