// SPDX-License-Identifier: Apache-2.0
// Starts and ends the worker, and schedules its device: candidates are loaded as soon as they are
// assembled, requests are handled in order.
#include "autotune/worker/server.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_ASSEMBLERS 16

static struct candidate *find(struct server *s, uint32_t config) {
  struct candidate *c = s->candidates;
  while (c && c->config != config)
    c = c->next;
  return c;
}

// Does one piece of work of the device's thread; called and left with the lock. False: none now.
static bool step(struct server *s) {
  struct candidate *c = s->candidates;
  while (c && c->state != CANDIDATE_ASSEMBLED)
    c = c->next;
  struct request *q = s->requests;
  if (c) {
    pthread_mutex_unlock(&s->lock);
    worker_load(s, c);
  } else if (s->ready && !s->uploaded) {
    pthread_mutex_unlock(&s->lock);
    worker_upload(s);
  } else if (q && s->uploaded) {
    c = find(s, q->config);
    if (c && c->state == CANDIDATE_COMING)
      return false;
    s->requests = q->next;
    if (!s->requests)
      s->requests_end = &s->requests;
    pthread_mutex_unlock(&s->lock);
    worker_finish_request_request(s, q, c);
    free(q);
  } else {
    return false;
  }
  pthread_mutex_lock(&s->lock);
  return true;
}

// A candidate is being assembled, and will be launched as soon as it is loaded.
static bool is_expecting(const struct server *s) {
  const struct candidate *c = s->candidates;
  while (c && c->state != CANDIDATE_COMING)
    c = c->next;
  return c && s->uploaded;
}

static void work(struct server *s) {
  pthread_mutex_lock(&s->lock);
  while (!s->ended && !s->failed) {
    if (step(s))
      continue;
    if (s->bench.properties.is_cpu || !is_expecting(s)) {
      pthread_cond_wait(&s->changed, &s->lock);
      continue;
    }
    pthread_mutex_unlock(&s->lock);
    bench_stay_awake(&s->bench);
    pthread_mutex_lock(&s->lock);
  }
  bool failed = s->failed;
  pthread_mutex_unlock(&s->lock);
  if (failed)
    worker_send_leaving(s);
}

// ---- opening and closing ----

static bool map_files(struct server *s) {
  s->data_bytes = (size_t)s->problem.data_bytes + (s->problem.data_bytes == 0);
  s->data = mmap(NULL, s->data_bytes, PROT_READ, MAP_SHARED, s->data_fd, 0);
  s->reference = mmap(NULL, s->data_bytes, PROT_READ, MAP_SHARED, s->shared_fd, WORKER_PAGE);
  return s->data != MAP_FAILED && s->reference != MAP_FAILED;
}

struct preparing {
  struct server *s;
  tile_status status;
};

static void prepare(void *user) {
  struct preparing *p = user;
  p->status = bench_prepare(&p->s->bench, p->s->arena);
}

static bool open_bench(struct server *s) {
  pthread_mutex_lock(&s->lock);
  while (!s->opened && !s->ended)
    pthread_cond_wait(&s->changed, &s->lock);
  bool opened = s->opened;
  pthread_mutex_unlock(&s->lock);
  if (!opened)
    return false;
  tile_status status =
      map_files(s) ? TILE_OK : status_set(TILE_IO_ERROR, "the worker cannot map the arrays");
  if (status == TILE_OK)
    status = bench_open(&s->bench, &s->problem, s->data, s->reference);
  if (status != TILE_OK) {
    worker_send_failed(s, status);
    return false;
  }
  worker_send_device(s);
  struct preparing p = {.s = s};
  status = arena_guard(s->arena, prepare, &p)
               ? p.status
               : status_set(TILE_OUT_OF_MEMORY, "out of memory for the arrays");
  if (status != TILE_OK) {
    worker_send_failed(s, status);
    return false;
  }
  double gbs;
  if (!atomic_load(&s->page->has_copy_rate) && bench_copy_rate(&s->bench, &gbs) == TILE_OK) {
    worker_send_copied(s, gbs);
    atomic_store(&s->page->has_copy_rate, 1);
  }
  return true;
}

static unsigned start_assemblers(struct server *s, pthread_t *threads) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned wanted = cores < 1                ? 1
                    : cores > MAX_ASSEMBLERS ? MAX_ASSEMBLERS
                                             : (unsigned)cores,
           n = 0;
  if (s->bench.properties.is_cpu)
    wanted = 1; // nothing to assemble
  while (n < wanted && pthread_create(&threads[n], NULL, worker_assemble_all, s) == 0)
    n++;
  return n;
}

static void server_close(struct server *s) {
  for (struct candidate *c = s->candidates, *next; c; c = next) {
    next = c->next;
    worker_candidate_free(c);
  }
  for (struct request *q = s->requests, *next; q; q = next) {
    next = q->next;
    free(q);
  }
  bench_close(&s->bench);
  if (s->data && s->data != MAP_FAILED)
    munmap(s->data, s->data_bytes);
  if (s->reference && s->reference != MAP_FAILED)
    munmap(s->reference, s->data_bytes);
  if (s->page != MAP_FAILED)
    munmap(s->page, WORKER_PAGE);
  pthread_mutex_destroy(&s->lock);
  pthread_mutex_destroy(&s->sending);
  pthread_cond_destroy(&s->changed);
  arena_destroy(s->arena);
}

bool worker_run_server(const int files[3], const struct worker_hooks *hooks) {
  struct server s = {.fd = files[0], .data_fd = files[1], .shared_fd = files[2], .hooks = hooks};
  pthread_t reader, assemblers[MAX_ASSEMBLERS];
  s.to_assemble_end = &s.to_assemble;
  s.requests_end = &s.requests;
  pthread_mutex_init(&s.sending, NULL);
  pthread_mutex_init(&s.lock, NULL);
  pthread_cond_init(&s.changed, NULL);
  s.arena = arena_create();
  s.page = mmap(NULL, WORKER_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, s.shared_fd, 0);
  if (s.page != MAP_FAILED && s.arena &&
      pthread_create(&reader, NULL, worker_read_frames, &s) == 0) {
    unsigned n = 0;
    if (open_bench(&s)) {
      n = start_assemblers(&s, assemblers);
      work(&s);
    }
    if (hooks->on_end) // the process does not wait for a thread that may be stuck
      return false;
    shutdown(s.fd, SHUT_RDWR);
    pthread_join(reader, NULL);
    for (unsigned i = 0; i < n; i++)
      pthread_join(assemblers[i], NULL);
  } else {
    shutdown(s.fd, SHUT_RDWR); // else the tuner would wait
  }
  bool ended = s.ended && !s.failed;
  server_close(&s);
  return ended;
}
