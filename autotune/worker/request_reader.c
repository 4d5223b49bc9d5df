// SPDX-License-Identifier: Apache-2.0
// Reads frames from the tuner and queues their requests for the other threads.
#include "autotune/worker/server.h"
#include "base/memory.h"

#include <stdlib.h>

static const char *text(struct server *s, const struct json *head, const char *key) {
  struct str t = frame_text(head, key);
  return arena_strndup(s->arena, t.ptr, t.len);
}

static bool read_open(struct server *s, const struct json *head) {
  const struct json *args = json_get(head, "args");
  struct bench_problem *p = &s->problem;
  p->device = text(s, head, "device");
  p->data_bytes = (uint64_t)frame_int(head, "data_bytes", 0);
  p->rtol = frame_double(head, "rtol", -1);
  p->atol = frame_double(head, "atol", -1);
  p->arg_count = args && args->kind == JSON_ARRAY ? args->count : 0;
  p->args = arena_array(s->arena, struct bench_arg, p->arg_count + 1);
  for (size_t i = 0; i < p->arg_count; i++) {
    const struct json *a = args->items[i];
    if (a->kind != JSON_OBJECT)
      return false;
    struct bench_arg *to = &p->args[i];
    to->name = text(s, a, "name");
    to->is_pointer = frame_int(a, "pointer", 0) != 0;
    struct str type = frame_text(a, "type");
    if (str_is(type, dtype_name(DTYPE_NONE))) // None: no parameter of the compiled kernel
      to->type = DTYPE_NONE;
    else if (!dtype_parse(type, &to->type))
      return false;
    to->bits = (uint64_t)frame_int(a, "bits", 0);
    to->array.bytes = (uint64_t)frame_int(a, "bytes", 0);
    to->array.offset = (uint64_t)frame_int(a, "offset", 0);
    to->array.reset = frame_int(a, "reset", 0) != 0;
    to->array.zero = frame_int(a, "zero", 0) != 0;
    to->array.has_expected = json_get(a, "expected") != NULL;
    to->array.expected = (uint64_t)frame_int(a, "expected", 0);
  }
  return true;
}

struct opening {
  struct server *s;
  const struct json *head;
  bool ok;
};

static void open_problem(void *user) {
  struct opening *o = user;
  o->ok = read_open(o->s, o->head);
}

static bool take_open(struct server *s, const struct json *head) {
  struct opening o = {.s = s, .head = head};
  if (!arena_guard(s->arena, open_problem, &o))
    worker_out_of_memory(s);
  return o.ok;
}

void worker_candidate_free(struct candidate *c) {
  bench_unload(&c->bench);
  free(c->code);
  arena_destroy(c->arena);
  free(c);
}

struct reading_info {
  struct candidate *c;
  const struct json *info;
  bool ok;
};

static void read_info(void *user) {
  struct reading_info *r = user;
  r->ok = kernel_info_read(r->c->arena, r->info, &r->c->bench.info);
}

// NULL: the frame is no candidate, or memory is out (then *ret_has_memory is false).
static struct candidate *candidate_new(const struct frame *f, bool *ret_has_memory) {
  struct candidate *c = memory_zeroed(1, sizeof *c);
  *ret_has_memory = false;
  if (!c)
    return NULL;
  const struct json *info = json_get(f->head, "info"), *grid = json_get(f->head, "grid");
  c->config = (uint32_t)frame_int(f->head, "config", 0);
  c->load_id = (uint64_t)frame_int(f->head, "id", 0);
  c->arena = arena_create();
  c->size = f->bytes.len;
  c->code = memory_alloc(c->size + 1);
  struct reading_info reading = {.c = c, .info = info};
  *ret_has_memory = c->arena && c->code && (!info || arena_guard(c->arena, read_info, &reading));
  if (!*ret_has_memory || !reading.ok || !grid || grid->kind != JSON_ARRAY || grid->count != 3) {
    worker_candidate_free(c);
    return NULL;
  }
  memcpy(c->code, f->bytes.ptr, c->size);
  c->code[c->size] = '\0';
  c->bench.grid = (tile_grid){(unsigned)grid->items[0]->integer, (unsigned)grid->items[1]->integer,
                              (unsigned)grid->items[2]->integer};
  return c;
}

static bool take_load(struct server *s, const struct frame *f) {
  bool has_memory;
  struct candidate *c = candidate_new(f, &has_memory);
  if (!has_memory)
    worker_out_of_memory(s);
  if (!c)
    return false;
  pthread_mutex_lock(&s->lock);
  c->next = s->candidates; // before an older one of that configuration
  s->candidates = c;
  *s->to_assemble_end = c;
  s->to_assemble_end = &c->next_to_assemble;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
  return true;
}

static bool take_request(struct server *s, const struct json *head, bool measures) {
  struct request *r = memory_zeroed(1, sizeof *r);
  if (!r) {
    worker_out_of_memory(s);
    return false;
  }
  r->measures = measures;
  r->id = (uint64_t)frame_int(head, "id", 0);
  r->config = (uint32_t)frame_int(head, "config", 0);
  r->is_reference = frame_int(head, "reference", 0) != 0;
  r->plan.budget_ms = frame_double(head, "budget_ms", 0);
  r->plan.give_up_ms = frame_double(head, "give_up_ms", 0);
  r->plan.least = (unsigned)frame_int(head, "least", 0);
  r->plan.most = (unsigned)frame_int(head, "most", 0);
  pthread_mutex_lock(&s->lock);
  *s->requests_end = r;
  s->requests_end = &r->next;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
  return true;
}

static void set(struct server *s, bool *flag) {
  pthread_mutex_lock(&s->lock);
  *flag = true;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

static bool take(struct server *s, const struct frame *f) {
  if (frame_is(f->head, "load"))
    return take_load(s, f);
  if (frame_is(f->head, "check"))
    return take_request(s, f->head, false);
  if (frame_is(f->head, "measure"))
    return take_request(s, f->head, true);
  if (frame_is(f->head, "ready")) {
    set(s, &s->ready);
    return true;
  }
  if (s->opened || !frame_is(f->head, "open") || !take_open(s, f->head))
    return false;
  set(s, &s->opened);
  return true;
}

struct input {
  struct server *s;
  struct frame_reader reader;
  struct arena *heads;
};

static void take_all(void *user) {
  struct input *in = user;
  enum frame_status status = FRAME_HERE;
  while (status == FRAME_HERE) {
    struct arena_mark mark = arena_mark(in->heads);
    struct frame f;
    enum frame_status one = frame_next(&in->reader, in->heads, &f);
    while (one == FRAME_HERE && take(in->s, &f))
      one = frame_next(&in->reader, in->heads, &f);
    arena_release(in->heads, mark);
    if (one != FRAME_NONE) // an invalid frame, or one that could not be queued
      return;
    status = frame_fill(&in->reader, in->s->fd);
  }
  if (status == FRAME_BAD)
    worker_out_of_memory(in->s);
}

void *worker_read_frames(void *user) {
  struct server *s = user;
  struct input in = {.s = s, .heads = arena_create()};
  if (!in.heads || !arena_guard(in.heads, take_all, &in))
    worker_out_of_memory(s);
  frame_reader_finish(&in.reader);
  arena_destroy(in.heads);
  if (s->hooks->on_end)
    s->hooks->on_end();
  set(s, &s->ended);
  return NULL;
}
