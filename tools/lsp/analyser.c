// SPDX-License-Identifier: Apache-2.0
// The analysing thread: first the types and errors of the file that changed last, then, when
// nothing waits, the layouts of one file after the other. A result of a text that has changed
// meanwhile is delivered all the same, since answers map positions; work on such a text is stopped
// at the next kernel.
#include "tools/lsp/lsp_server.h"

#include <signal.h>

enum { STACK_BYTES = 64 << 20 }; // the compiler's recursion is bounded for 8 MiB without sanitizers

struct job {
  struct lsp *s;
  struct arena *a; // of the copies
  const char *uri, *path;
  struct str text;
  int64_t version;
  uint64_t revision;
};

static struct document *find(struct lsp *s, const char *uri) {
  for (struct document *d = s->documents; d; d = d->next)
    if (strcmp(d->uri, uri) == 0)
      return d;
  return NULL;
}

// Asked by the thread while it does not hold the lock: whether this text is still the newest, and,
// for layouts, nothing more urgent waits.
static bool is_current(void *user) {
  struct job *j = user;
  pthread_mutex_lock(&j->s->lock);
  const struct document *d = find(j->s, j->uri);
  bool is_same = !j->s->stop && d && d->revision == j->revision;
  pthread_mutex_unlock(&j->s->lock);
  return is_same;
}

static bool something_waits(const struct lsp *s) {
  for (const struct document *d = s->documents; d; d = d->next)
    if (d->is_pending)
      return true;
  return false;
}

static bool nothing_waits(void *user) {
  struct job *j = user;
  pthread_mutex_lock(&j->s->lock);
  bool is_free = !something_waits(j->s);
  pthread_mutex_unlock(&j->s->lock);
  return is_free && is_current(user);
}

struct copying {
  struct job *job;
  const struct document *of;
};

static void copy(void *user) {
  struct copying *c = user;
  struct job *j = c->job;
  struct str text = c->of->now->source->text;
  j->uri = arena_strdup(j->a, c->of->uri);
  j->path = arena_strdup(j->a, c->of->path);
  j->text = (struct str){arena_strndup(j->a, text.ptr, text.len), text.len};
  j->version = c->of->version;
  j->revision = c->of->revision;
}

struct delivery {
  struct job *job;
  const struct document *to;
};

static void deliver(void *user) {
  struct delivery *d = user;
  publish_diagnostics(d->job->s, d->job->a, d->to->uri, d->job->version, d->to->newest);
}

// Both are called with the lock, and release it while they work.
static void analyse_types(struct job *j) {
  struct lsp *s = j->s;
  pthread_mutex_unlock(&s->lock);
  struct analysis *made =
      analysis_run(j->path, j->text, &s->settings, (struct analysis_check){is_current, j});
  pthread_mutex_lock(&s->lock);
  struct document *d = find(s, j->uri);
  if (!made || !d || s->stop) {
    analysis_destroy(made);
    return;
  }
  document_set_analysis(d, made);
  if (d->revision == j->revision)
    arena_guard(j->a, deliver, &(struct delivery){j, d});
}

static void analyse_layouts(struct job *j) {
  struct lsp *s = j->s;
  pthread_mutex_unlock(&s->lock);
  struct layouts *made =
      layouts_run(j->path, j->text, &s->settings, (struct analysis_check){nothing_waits, j});
  pthread_mutex_lock(&s->lock);
  struct document *d = find(s, j->uri);
  if (!made || !d || !d->newest || d->revision != j->revision) {
    layouts_destroy(made);
    if (d && !made && something_waits(s)) // later
      d->has_layouts = false;
    return;
  }
  layouts_destroy(d->newest->layouts);
  d->newest->layouts = made;
  d->has_layouts = true;
}

static struct document *next_document(struct lsp *s) {
  for (struct document *d = s->documents; d; d = d->next)
    if (d->is_pending)
      return d;
  for (struct document *d = s->documents; d; d = d->next)
    if (!d->has_layouts && d->newest)
      return d;
  return NULL;
}

// False: memory for the work is out; the document is given up until it changes.
static void work_on(struct lsp *s, struct document *d) {
  struct job j = {.s = s, .a = arena_create()};
  bool is_pending = d->is_pending;
  d->is_pending = false;
  if (!is_pending)
    d->has_layouts = true; // not asked for again before the next change
  if (j.a && arena_guard(j.a, copy, &(struct copying){&j, d}))
    (is_pending ? analyse_types : analyse_layouts)(&j);
  arena_destroy(j.a);
}

static void *run(void *user) {
  struct lsp *s = user;
  pthread_mutex_lock(&s->lock);
  while (!s->stop) {
    struct document *d = next_document(s);
    if (d) {
      s->is_busy = true;
      work_on(s, d);
      continue;
    }
    s->is_busy = false;
    pthread_cond_broadcast(&s->idle);
    pthread_cond_wait(&s->work, &s->lock);
  }
  s->is_busy = false;
  pthread_cond_broadcast(&s->idle);
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

bool worker_start(struct lsp *s) {
  pthread_attr_t attributes;
  sigset_t all, old;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &old); // signals are for the reading thread
  s->has_thread = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                  pthread_create(&s->thread, &attributes, run, s) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  pthread_attr_destroy(&attributes);
  return s->has_thread;
}

void worker_stop(struct lsp *s) {
  if (!s->has_thread)
    return;
  pthread_mutex_lock(&s->lock);
  s->stop = true;
  pthread_cond_signal(&s->work);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL);
  s->has_thread = false;
}
