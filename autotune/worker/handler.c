// SPDX-License-Identifier: Apache-2.0
// Handles candidates and requests in the worker, and sends their results.
#include "autotune/worker/server.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

// ---- sending ----

static void send_frame(struct server *s, struct frame_writer *w) {
  struct strbuf out = {0};
  size_t sent = 0;
  frame_end(w, (struct str){0}, &out);
  pthread_mutex_lock(&s->sending);
  bool has_memory = frame_send(s->fd, &out, &sent) != FRAME_BAD; // the reader sees a closed socket
  pthread_mutex_unlock(&s->sending);
  strbuf_finish(&out);
  if (!has_memory)
    worker_out_of_memory(s);
}

static void device_is_lost(struct server *s) {
  pthread_mutex_lock(&s->lock);
  s->failed = true;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

void worker_out_of_memory(struct server *s) {
  char text[160];
  int n = snprintf(text, sizeof text,
                   "{\"frame\":\"failed\",\"status\":%d,\"message\":\"out of memory in the "
                   "tuner's worker\"}\n",
                   (int)TILE_OUT_OF_MEMORY);
  struct strbuf out = {.ptr = text, .len = (size_t)n};
  size_t sent = 0;
  pthread_mutex_lock(&s->sending);
  (void)frame_send(s->fd, &out, &sent);
  pthread_mutex_unlock(&s->sending);
  device_is_lost(s);
}

static void send_kind(struct server *s, const char *kind) {
  struct frame_writer w;
  frame_begin(&w, kind);
  send_frame(s, &w);
}

static void begin(struct server *s, uint64_t id) {
  struct frame_writer w;
  if (s->hooks->at_work)
    s->hooks->at_work(id);
  frame_begin(&w, "begin");
  json_key(&w.json, "id"), json_int(&w.json, (int64_t)id);
  send_frame(s, &w);
}

static void end(struct server *s, uint64_t id, const struct tune_reply *r) {
  struct frame_writer w;
  frame_begin(&w, "end");
  json_key(&w.json, "id"), json_int(&w.json, (int64_t)id);
  json_key(&w.json, "outcome"), json_int(&w.json, r->outcome);
  json_key(&w.json, "reason"), json_cstring(&w.json, r->reason);
  json_key(&w.json, "median"), json_double(&w.json, r->sample.median);
  json_key(&w.json, "p20"), json_double(&w.json, r->sample.p20);
  json_key(&w.json, "p80"), json_double(&w.json, r->sample.p80);
  json_key(&w.json, "count"), json_int(&w.json, r->sample.count);
  json_key(&w.json, "registers"), json_int(&w.json, r->registers);
  json_key(&w.json, "local_bytes"), json_int(&w.json, r->local_bytes);
  json_key(&w.json, "load_ms"), json_double(&w.json, r->load_ms);
  json_key(&w.json, "check_ms"), json_double(&w.json, r->check_ms);
  json_key(&w.json, "max_abs"), json_double(&w.json, r->max_abs);
  json_key(&w.json, "max_rel"), json_double(&w.json, r->max_rel);
  if (s->hooks->at_work)
    s->hooks->at_work(0);
  send_frame(s, &w);
}

// The first line of the calling thread's message.
static void first_line(char *to, size_t size) {
  const char *message = tile_error_message();
  size_t n = strcspn(message, "\n");
  snprintf(to, size, "%.*s", (int)(n < size ? n : size - 1), message);
}

// The CPU's device memory belongs to the program.
static bool is_out_of_memory(const struct server *s, tile_status status) {
  return status == TILE_OUT_OF_MEMORY ||
         (status == TILE_OUT_OF_DEVICE_MEMORY && s->bench.properties.is_cpu);
}

void worker_send_failed(struct server *s, tile_status status) {
  struct frame_writer w;
  status = is_out_of_memory(s, status) ? TILE_OUT_OF_MEMORY : status;
  frame_begin(&w, "failed");
  json_key(&w.json, "status"), json_int(&w.json, status);
  json_key(&w.json, "message"), json_cstring(&w.json, tile_error_message());
  send_frame(s, &w);
}

void worker_send_device(struct server *s) {
  const tile_device_properties *p = &s->bench.properties;
  struct frame_writer w;
  frame_begin(&w, "device");
  json_key(&w.json, "name"), json_cstring(&w.json, p->name);
  json_key(&w.json, "target"), json_cstring(&w.json, p->target);
  json_key(&w.json, "is_cpu"), json_int(&w.json, p->is_cpu);
  json_key(&w.json, "multiprocessors"), json_int(&w.json, p->multiprocessors);
  json_key(&w.json, "driver_version"), json_int(&w.json, p->driver_version);
  json_key(&w.json, "memory"), json_int(&w.json, (int64_t)p->memory);
  json_key(&w.json, "l2_bytes"), json_int(&w.json, (int64_t)p->l2_bytes);
  json_key(&w.json, "shared_limit"), json_int(&w.json, (int64_t)p->shared_limit);
  json_key(&w.json, "memory_gbs"), json_double(&w.json, p->memory_gbs);
  send_frame(s, &w);
}

void worker_send_copied(struct server *s, double gbs) {
  struct frame_writer w;
  frame_begin(&w, "copied");
  json_key(&w.json, "gbs"), json_double(&w.json, gbs);
  send_frame(s, &w);
}

void worker_send_leaving(struct server *s) { send_kind(s, "leaving"); }

// ---- loading ----

static void mark_bad(struct candidate *c, enum tune_outcome outcome, const char *reason) {
  c->state = CANDIDATE_BAD;
  c->outcome = outcome;
  snprintf(c->reason, sizeof c->reason, "%s", reason);
}

// Assembles PTX to a cubin where this may be done apart from loading; other code is unchanged.
static tile_status assemble(struct server *s, struct candidate *c) {
  void *cubin;
  size_t size;
  bool is_ptx = c->size < 4 || memcmp(c->code, "\177ELF", 4) != 0;
  if (s->bench.properties.is_cpu || !is_ptx || !module_may_be_apart(c->code))
    return TILE_OK;
  double start = clock_ms();
  tile_status status =
      module_assemble(s->bench.device, c->code, c->size, ASSEMBLY_OPTIMIZED, &cubin, &size);
  c->assemble_ms = clock_ms() - start;
  if (status == TILE_OK) {
    free(c->code);
    c->code = cubin;
    c->size = size;
  }
  return status;
}

// After a launch broke the context, assembling fails too: left to the next worker.
static void assembly_failed(struct server *s, struct candidate *c, tile_status status) {
  struct tune_reply r = {.config = c->config, .outcome = TUNE_BAD_BUILD};
  first_line(r.reason, sizeof r.reason);
  bool is_lost = status != TILE_COMPILE_ERROR && !bench_is_usable(&s->bench);
  pthread_mutex_lock(&s->lock);
  if (is_lost)
    s->failed = true;
  else
    mark_bad(c, TUNE_BAD_BUILD, r.reason);
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
  r.load_ms = c->assemble_ms;
  if (!is_lost)
    end(s, c->load_id, &r);
}

static struct candidate *next_to_assemble(struct server *s) {
  pthread_mutex_lock(&s->lock);
  while (!s->ended && !s->to_assemble)
    pthread_cond_wait(&s->changed, &s->lock);
  struct candidate *c = s->ended ? NULL : s->to_assemble;
  if (c)
    s->to_assemble = c->next_to_assemble;
  if (!s->to_assemble)
    s->to_assemble_end = &s->to_assemble;
  pthread_mutex_unlock(&s->lock);
  return c;
}

void *worker_assemble_all(void *user) {
  struct server *s = user;
  for (struct candidate *c; (c = next_to_assemble(s));) {
    begin(s, c->load_id);
    tile_status status = assemble(s, c);
    if (is_out_of_memory(s, status)) {
      worker_out_of_memory(s);
      break;
    }
    if (status != TILE_OK) {
      assembly_failed(s, c, status);
      continue;
    }
    pthread_mutex_lock(&s->lock);
    c->state = CANDIDATE_ASSEMBLED; // ends when it is loaded
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (s->hooks->at_work)
      s->hooks->at_work(0);
  }
  return NULL;
}

void worker_load(struct server *s, struct candidate *c) {
  struct tune_reply r = {.config = c->config, .outcome = TUNE_MEASURED};
  if (s->hooks->at_work)
    s->hooks->at_work(c->load_id);
  double start = clock_ms();
  tile_status status = bench_load(&s->bench, &c->bench, (struct str){c->code, c->size});
  if (status == TILE_OK)
    status = module_resources(c->bench.module, &r.registers, &r.local_bytes);
  r.load_ms = c->assemble_ms + clock_ms() - start;
  if (is_out_of_memory(s, status))
    worker_out_of_memory(s);
  if (status != TILE_OK) {
    r.outcome = TUNE_BAD_BUILD;
    first_line(r.reason, sizeof r.reason);
  }
  pthread_mutex_lock(&s->lock);
  c->state = CANDIDATE_LOADED;
  if (status != TILE_OK)
    mark_bad(c, r.outcome, r.reason);
  free(c->code);
  c->code = NULL;
  pthread_mutex_unlock(&s->lock);
  end(s, c->load_id, &r);
}

// ---- requests ----

// A failed launch: if the device is unusable, the worker ends.
static void launch_failed(struct server *s, tile_status status, struct tune_reply *r) {
  if (is_out_of_memory(s, status)) { // says nothing about the configuration
    r->outcome = TUNE_UNTRIED;
    worker_out_of_memory(s);
    return;
  }
  r->outcome = TUNE_BAD_LAUNCH;
  first_line(r->reason, sizeof r->reason);
  if (!bench_is_usable(&s->bench))
    device_is_lost(s);
}

static tile_status run_once(struct server *s, struct candidate *c) {
  tile_status status = bench_restore(&s->bench);
  if (status == TILE_OK)
    status = bench_launch(&s->bench, &c->bench);
  return status == TILE_OK ? tile_stream_synchronize(s->bench.device, NULL) : status;
}

// The reference's results are stored by this process only, never by kernels.
static tile_status compare(struct server *s, bool is_reference, struct tune_reply *r,
                           bool *ret_same) {
  if (!is_reference)
    return bench_compare(&s->bench, false, r, ret_same);
  atomic_store(&s->page->has_reference, 0);
  mprotect(s->reference, s->data_bytes, PROT_READ | PROT_WRITE);
  tile_status status = bench_compare(&s->bench, true, r, ret_same);
  mprotect(s->reference, s->data_bytes, PROT_READ);
  atomic_store(&s->page->has_reference, status == TILE_OK && *ret_same);
  return status;
}

// A kernel with wrong results may have written anywhere: on a GPU possibly into the first contents,
// which are uploaded again; on the CPU into the worker itself, which ends.
static tile_status recover(struct server *s) {
  if (!s->bench.properties.is_cpu)
    return bench_upload(&s->bench);
  device_is_lost(s);
  return TILE_OK;
}

static void check(struct server *s, struct candidate *c, bool is_reference, struct tune_reply *r) {
  double start = clock_ms();
  bool same = true;
  if (!is_reference && !s->bench.has_reference) {
    r->outcome = TUNE_UNTRIED;
    snprintf(r->reason, sizeof r->reason, "there are no results to compare with");
    return;
  }
  tile_status status = run_once(s, c);
  if (status == TILE_OK)
    status = compare(s, is_reference, r, &same);
  if (status == TILE_OK && !same) {
    r->outcome = TUNE_WRONG;
    status = recover(s);
  }
  if (status != TILE_OK)
    launch_failed(s, status, r);
  r->check_ms = clock_ms() - start;
}

void worker_finish_request_request(struct server *s, const struct request *q, struct candidate *c) {
  struct tune_reply r = {.config = q->config, .outcome = TUNE_MEASURED};
  begin(s, q->id);
  if (!c || c->state == CANDIDATE_BAD) {
    r.outcome = c ? c->outcome : TUNE_UNTRIED;
    snprintf(r.reason, sizeof r.reason, "%s", c ? c->reason : "it was not loaded");
  } else if (!q->measures) {
    check(s, c, q->is_reference, &r);
  } else {
    tile_status status = bench_measure(&s->bench, &c->bench, &q->plan, &r.sample);
    if (status != TILE_OK)
      launch_failed(s, status, &r);
  }
  if (c && r.outcome != TUNE_MEASURED && r.outcome != TUNE_UNTRIED) {
    pthread_mutex_lock(&s->lock);
    mark_bad(c, r.outcome, r.reason);
    pthread_mutex_unlock(&s->lock);
  }
  end(s, q->id, &r);
}

void worker_upload(struct server *s) {
  tile_status status = bench_upload(&s->bench);
  s->bench.has_reference = atomic_load(&s->page->has_reference) != 0;
  s->uploaded = status == TILE_OK;
  if (status == TILE_OK) {
    send_kind(s, "uploaded");
  } else {
    device_is_lost(s);
    worker_send_failed(s, status);
  }
}
