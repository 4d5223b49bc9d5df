// SPDX-License-Identifier: Apache-2.0
// Two queues of events with due times; waiting advances the clock to the next of them.
#include "fake_tuning.h"

#include "runtime/runtime_internal.h"

#include <math.h>
#include <sched.h>

struct fake_tuning fake;

struct event {
  double due_ms;
  uint32_t config;
  enum { EVENT_ANALYSED, EVENT_COMPILED, EVENT_LOADED, EVENT_CHECKED, EVENT_MEASURED } what;
  bool is_reference, is_last;
  struct tune_sample sample;
};

struct tune_builder {
  struct event queue[1024];
  size_t begin, end;
};

struct tune_worker {
  struct event queue[1024];
  size_t begin, end;
  double free_ms; // when it is free again
  const void *data;
};

static struct tune_builder the_builder;
static struct tune_worker the_worker;

void fake_reset(struct arena *a, size_t count, struct tune_space *ret) {
  fake = (struct fake_tuning){.build_ms = 20, .analyse_ms = 2, .timeout_ms = 1000};
  the_builder.begin = the_builder.end = 0;
  the_worker.begin = the_worker.end = 0;
  *ret = (struct tune_space){.dim_count = 1, .count = count, .origin = "made up"};
  ret->dims[0] =
      (struct tune_dim){TUNE_CONSTANT, "BLOCK", arena_array(a, const char *, count), count};
  ret->configs = arena_array(a, struct tune_config, count);
  for (size_t i = 0; i < count; i++) {
    ret->dims[0].values[i] = arena_printf(a, "%zu", 16 + 16 * i);
    ret->configs[i].at[0] = (uint16_t)i;
    fake.ms[i] = 1 + 0.01 * (double)i;
    fake.code[i] = (int)i;
  }
}

// ---- the builder ----

static tile_status builder_open(const struct tune_problem *p, const struct tune_space *s,
                                const tile_device_properties *device, unsigned threads,
                                struct tune_builder **ret) {
  (void)p, (void)s, (void)device, (void)threads;
  fake.open_builders++;
  the_builder.begin = the_builder.end = 0;
  fake.building = 0;
  *ret = &the_builder;
  return TILE_OK;
}

static void builder_device(struct tune_builder *b, const tile_device_properties *device) {
  (void)b, (void)device;
  fake.device_told++;
}

static void submit(struct tune_builder *b, enum tune_stage stage, uint32_t config) {
  double ms = stage == TUNE_COMPILED ? fake.build_ms : fake.analyse_ms;
  // Two at a time.
  double begin = b->end >= b->begin + 2 ? b->queue[b->end - 2].due_ms : fake.now_ms;
  fake.submitted[config]++;
  fake.building++;
  b->queue[b->end++] =
      (struct event){.due_ms = fmax(begin, fake.now_ms) + ms,
                     .config = config,
                     .what = stage == TUNE_COMPILED ? EVENT_COMPILED : EVENT_ANALYSED};
}

static bool built(struct tune_builder *b, int timeout_ms, struct tune_built *ret) {
  (void)timeout_ms;
  if (b->begin == b->end || b->queue[b->begin].due_ms > fake.now_ms)
    return false;
  struct event e = b->queue[b->begin++];
  uint32_t c = e.config;
  fake.building--;
  *ret = (struct tune_built){.config = c, .grid = {1, 1, 1}, .ms = fake.build_ms};
  ret->ok = fake.conduct[c] != FAKE_NO_BUILD;
  ret->reason = ret->ok ? NULL : "the compiler says no";
  ret->cost.num_warps = 4;
  ret->cost.registers = 32;
  ret->cost.shared_bytes = fake.conduct[c] == FAKE_TOO_MUCH ? 1u << 20 : 1024;
  ret->prediction.ms = fake.ms[c] * 0.8;
  ret->prediction.bound_ms = 0.5;
  ret->info.num_warps = 4;
  ret->hash[0] = (uint8_t)fake.code[c];
  ret->local_bytes = (uint32_t)fake.asked_bytes[c];
  if (e.what == EVENT_COMPILED && ret->ok)
    ret->code = STR("code");
  return true;
}

static int no_fd(const struct tune_builder *b) {
  (void)b;
  return -1;
}
static void builder_close(struct tune_builder *b) {
  (void)b;
  fake.open_builders--;
}

// ---- the worker ----

static tile_status worker_open(const struct tune_worker_options *o, const struct tune_problem *p,
                               int data_fd, uint64_t data_bytes, struct tune_worker **ret) {
  (void)o, (void)p, (void)data_fd, (void)data_bytes;
  fake.open_workers++;
  the_worker.begin = the_worker.end = 0;
  the_worker.free_ms = 100; // starting
  *ret = &the_worker;
  return TILE_OK;
}

static void data_ready(struct tune_worker *w) {
  (void)w;
  fake.is_ready = true;
}

static void push(struct tune_worker *w, struct event e, double ms) {
  w->free_ms = fmax(w->free_ms, fake.now_ms) + ms;
  e.due_ms = w->free_ms;
  w->queue[w->end++] = e;
}

static void load(struct tune_worker *w, const struct tune_built *b) {
  fake.loaded[b->config]++;
  push(w, (struct event){.config = b->config, .what = EVENT_LOADED}, 1);
}

static void check(struct tune_worker *w, uint32_t config, bool is_reference) {
  fake.checked[config]++;
  push(w, (struct event){.config = config, .what = EVENT_CHECKED, .is_reference = is_reference},
       fake.conduct[config] == FAKE_HANG ? fake.timeout_ms : 2);
}

static void measure(struct tune_worker *w, uint32_t config, double budget_ms, unsigned least,
                    unsigned most, double give_up_ms) {
  double begin = fmax(w->free_ms, fake.now_ms), ms = fake.ms[config];
  if (fake.drift > 0)
    ms *= 1 + fake.drift * fmod(begin, fake.drift_period_ms) / fake.drift_period_ms;
  unsigned n = (unsigned)fmin(fmax(budget_ms / ms, least), most);
  if (give_up_ms > 0 && ms > give_up_ms)
    n = 2;
  fake.measured[config]++;
  fake.was_measured_while_building |= fake.building > 0 && config != 0;
  push(w,
       (struct event){.config = config,
                      .what = EVENT_MEASURED,
                      .is_last = fake.measured[config] == fake.crash_at[config],
                      .sample = {ms, ms, ms, n}},
       n * ms);
}

static void answer(const struct event *e, struct tune_reply *r) {
  enum fake_conduct c = fake.conduct[e->config];
  static const char *const words[FAKE_CONDUCT_COUNT] = {
      "",         "", "", "the driver says no", "illegal address", "no answer", "other results",
      "fell over"};
  *r = (struct tune_reply){.config = e->config, .outcome = TUNE_MEASURED, .registers = 40};
  r->sample = e->sample;
  r->local_bytes = fake.local_bytes[e->config];
  if (e->what == EVENT_LOADED && c == FAKE_NO_LOAD)
    r->outcome = TUNE_BAD_BUILD;
  if (e->what == EVENT_CHECKED && c == FAKE_CRASH)
    r->outcome = TUNE_BAD_LAUNCH;
  if (e->what == EVENT_CHECKED && c == FAKE_HANG)
    r->outcome = TUNE_TIMEOUT;
  if (e->what == EVENT_CHECKED && !e->is_reference &&
      (c == FAKE_WRONG) != (fake.conduct[fake.reference] == FAKE_WRONG))
    r->outcome = TUNE_WRONG;
  if (e->what == EVENT_MEASURED && (c == FAKE_CRASH_LATER || e->is_last))
    r->outcome = TUNE_BAD_LAUNCH;
  if (e->what == EVENT_CHECKED && e->is_reference && r->outcome == TUNE_MEASURED) {
    fake.reference = e->config;
    fake.has_reference = true;
  }
  if (r->outcome != TUNE_MEASURED)
    memcpy(r->reason, words[c], strlen(words[c]) + 1);
}

static bool replied(struct tune_worker *w, int timeout_ms, struct tune_reply *ret) {
  (void)timeout_ms;
  if (w->begin == w->end || w->queue[w->begin].due_ms > fake.now_ms ||
      (w->queue[w->begin].what == EVENT_CHECKED && !fake.is_ready))
    return false;
  answer(&w->queue[w->begin++], ret);
  return true;
}

static int no_worker_fd(const struct tune_worker *w) {
  (void)w;
  return -1;
}

static bool device(struct tune_worker *w, tile_device_properties *ret, tile_status *ret_status) {
  (void)w;
  if (fake.now_ms < 100)
    return false;
  if (fake.device_fails) {
    *ret_status = status_set(TILE_NO_DEVICE, "%s", fake.device_fails);
    return false;
  }
  *ret = (tile_device_properties){
      .name = "made up", .multiprocessors = 100, .is_cpu = fake.is_cpu, .shared_limit = 232448};
  strcpy(ret->target, fake.is_cpu ? "cpu" : "sm_90a");
  return true;
}

static double copy_gbs(struct tune_worker *w) {
  (void)w;
  return 1234;
}

static void worker_close(struct tune_worker *w) {
  (void)w;
  fake.open_workers--;
}

// ---- the clock ----

static double now_ms(void) { return fake.now_ms; }

static int wait(struct pollfd *fds, unsigned long count, int timeout_ms) {
  (void)fds, (void)count;
  if (!fake.is_ready)
    sched_yield(); // the filling thread has no fake clock
  double next = fake.now_ms + timeout_ms;
  if (the_builder.begin < the_builder.end)
    next = fmin(next, the_builder.queue[the_builder.begin].due_ms);
  if (the_worker.begin < the_worker.end)
    next = fmin(next, the_worker.queue[the_worker.begin].due_ms);
  fake.now_ms = fmax(next, fake.now_ms);
  return 1;
}

const struct tune_hooks fake_hooks = {.builder_open = builder_open,
                                      .builder_device = builder_device,
                                      .submit = submit,
                                      .built = built,
                                      .builder_fd = no_fd,
                                      .builder_close = builder_close,
                                      .worker_open = worker_open,
                                      .data_ready = data_ready,
                                      .load = load,
                                      .check = check,
                                      .measure = measure,
                                      .replied = replied,
                                      .worker_fd = no_worker_fd,
                                      .device = device,
                                      .worker_close = worker_close,
                                      .copy_gbs = copy_gbs,
                                      .now_ms = now_ms,
                                      .wait = wait};
