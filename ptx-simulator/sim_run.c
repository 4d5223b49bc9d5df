// SPDX-License-Identifier: Apache-2.0
// Launches: a window of resident clusters, whose warps run in slices of random length. A finished
// cluster is replaced by the next one; if all resident ones wait, the window grows.
#include "ptx-simulator/bulk_copy.h"
#include "ptx-simulator/cluster.h"
#include "ptx-simulator/global.h"
#include "ptx-simulator/register_pool.h"
#include "ptx-simulator/shadow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { RESIDENT = 4, MAX_RESIDENT = 1024, PATIENCE = 1 << 18 };

// ---- clusters ----

// Runs one slice of one warp. Slices are short or long: ordering errors show in either.
// False: none can go on.
static bool step_cta(struct run *r, struct cta *c) {
  bulk_step(c, false);
  unsigned runnable[MAX_WARPS], count = 0;
  for (unsigned i = 0; i < c->warp_count; i++) {
    struct warp *w = &c->warps[i];
    if (warp_runnable(w)) {
      runnable[count++] = i;
      continue;
    }
    bool waits = false; // for other warps or copies
    for (unsigned k = 0; k < w->other_count; k++)
      waits |= w->others[k].state != GROUP_READY && w->others[k].state != GROUP_SYNC;
    if (w->live && !waits)
      warp_report_stuck(w);
  }
  if (r->failed || count == 0)
    return r->failed;
  uint64_t dice = run_random(r);
  warp_run(&c->warps[runnable[dice % count]], (uint64_t)1 << (dice >> 32) % 14);
  return true;
}

// One slice of one CTA; if none can go on, a copy that was late.
static void step_cluster(struct run *r, struct cluster *k) {
  unsigned first = k->count > 1 ? (unsigned)(run_random(r) % k->count) : 0, alive = 0;
  for (unsigned i = 0; i < k->count; i++)
    if (step_cta(r, k->ctas[(first + i) % k->count]))
      return;
  for (unsigned i = 0; i < k->count; i++)
    alive += k->ctas[i]->alive;
  k->done = alive == 0;
  for (unsigned i = 0; i < k->count && !k->done; i++)
    if (bulk_step(k->ctas[(first + i) % k->count], true))
      return;
  if (!k->done)
    report_deadlock(k);
}

// ---- grids ----

// The first warp that runs, or rather one that polls an mbarrier.
static struct warp *running_warp(const struct cta *c) {
  struct warp *first = NULL;
  for (unsigned i = c->warp_count; i-- > 0;) {
    struct warp *w = &c->warps[i];
    if (w->live && (!first || w->polled || !first->polled))
      first = w;
  }
  return first;
}

static void report_limit(struct run *r, const struct cluster *k) {
  struct warp *w = NULL;
  for (unsigned i = 0; i < k->count && !w; i++)
    w = running_warp(k->ctas[i]);
  char text[MBARRIER_TEXT] = "";
  if (!w)
    return;
  uint32_t mask = w->mask ? w->mask : w->others[0].mask, pc = w->mask ? w->pc : w->others[0].pc;
  if (w->polled)
    mbarrier_text(w, w->polled, text, sizeof text);
  fault(w, &w->program->code.at[pc], (unsigned)__builtin_ctz(mask), SIM_TOO_LONG, NULL,
        "the launch did not end within %llu instructions%s%s",
        (unsigned long long)r->launch->instruction_limit, w->polled ? "; the warp polls " : "",
        text);
}

static void run_grid(struct run *r, unsigned warps) {
  const unsigned *grid = r->launch->grid;
  unsigned size = r->cluster[0] * r->cluster[1] * r->cluster[2];
  uint64_t next = 0, total = (uint64_t)grid[0] * grid[1] * grid[2] / size;
  struct cluster **resident = arena_array(r->arena, struct cluster *, MAX_RESIDENT);
  unsigned count = 0, window = size < RESIDENT ? RESIDENT / size : 1;
  uint64_t patience = PATIENCE, last = 0;
  while (!r->failed) {
    while (count < window && next < total) {
      if (!resident[count])
        resident[count] = cluster_create(r, warps);
      cluster_begin(resident[count++], r, next++);
    }
    if (count == 0)
      return;
    unsigned chosen = (unsigned)(run_random(r) % count);
    struct cluster *k = resident[chosen];
    step_cluster(r, k);
    if (k->done) { // the next cluster reuses its memory
      resident[chosen] = resident[--count];
      resident[count] = k;
      last = r->instructions;
    } else if (r->instructions - last > patience && window * size < MAX_RESIDENT && next < total) {
      window++;
      last = r->instructions;
    }
    if (r->launch->instruction_limit && r->instructions >= r->launch->instruction_limit &&
        !r->failed && count > 0)
      report_limit(r, resident[0]->done ? k : resident[0]);
  }
}

// ---- launches ----

static bool invalid(struct sim_report *report, const char *format, ...) PRINTF(2, 3);
static bool invalid(struct sim_report *report, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(report->text, sizeof report->text, format, args);
  va_end(args);
  return false;
}

static bool check_block(const struct sim_launch *l, struct sim_report *report) {
  const struct sim_kernel *k = l->kernel;
  uint64_t threads = 1;
  for (unsigned i = 0; i < 3; i++) {
    if (l->block[i] == 0 || l->block[i] > 1024 || l->grid[i] == 0)
      return invalid(report, "a dimension of the grid or block is 0 or too large");
    if (k->required_block[0] && l->block[i] != k->required_block[i])
      return invalid(report, "the kernel requires blocks of %u x %u x %u threads",
                     k->required_block[0], k->required_block[1], k->required_block[2]);
    threads *= l->block[i];
  }
  uint64_t largest = (uint64_t)k->largest_block[0] * k->largest_block[1] * k->largest_block[2];
  if (threads > 1024 || (largest && threads > largest))
    return invalid(report, "a block of %u threads is too large", (unsigned)threads);
  if (l->dynamic_shared_bytes > (1 << 20))
    return invalid(report, "more than 1 MiB of shared memory");
  return true;
}

// The shape of clusters: what the launch and the kernel say.
static bool check_cluster(struct run *r, struct sim_report *report) {
  const struct sim_launch *l = r->launch;
  unsigned size = 1;
  for (unsigned i = 0; i < 3; i++) {
    unsigned required = l->kernel->required_cluster[i],
             n = l->cluster[i] ? l->cluster[i] : required;
    r->cluster[i] = n ? n : 1;
    if (required && r->cluster[i] != required)
      return invalid(report, "the kernel requires clusters of %u x %u x %u CTAs",
                     l->kernel->required_cluster[0], l->kernel->required_cluster[1],
                     l->kernel->required_cluster[2]);
    if (r->cluster[i] > MAX_CLUSTER || (size *= r->cluster[i]) > MAX_CLUSTER)
      return invalid(report, "a cluster of more than %d CTAs", MAX_CLUSTER);
    if (l->grid[i] % r->cluster[i])
      return invalid(report,
                     "a grid of %u CTAs in dimension %u, which is no multiple of the %u of "
                     "a cluster",
                     l->grid[i], i, r->cluster[i]);
  }
  return true;
}

static int by_address(const void *a, const void *b) {
  const struct sim_buffer *x = a, *y = b;
  return x->address < y->address ? -1 : x->address > y->address;
}

static bool gather_buffers(struct run *r, struct sim_report *report) {
  const struct sim_launch *l = r->launch;
  r->buffers = arena_array(r->arena, struct sim_buffer, l->buffer_count + 1);
  for (size_t i = 0; i < l->buffer_count; i++) {
    struct sim_buffer b = l->buffers[i];
    if (b.address >= (uint64_t)1 << 62 || b.size >= (uint64_t)1 << 62)
      return invalid(report, "a buffer's address is at or above 1 << 62");
    if (b.size > 0)
      r->buffers[r->buffer_count++] = b;
  }
  if (r->program->module->memory_bytes)
    r->buffers[r->buffer_count++] = (struct sim_buffer){.address = MODULE_WINDOW,
                                                        .base = r->program->module->memory,
                                                        .size = r->program->module->memory_bytes,
                                                        .name = "variables of the module"};
  qsort(r->buffers, r->buffer_count, sizeof *r->buffers, by_address);
  for (size_t i = 1; i < r->buffer_count; i++)
    if (r->buffers[i - 1].address + r->buffers[i - 1].size > r->buffers[i].address)
      return invalid(report, "two buffers overlap");
  return true;
}

static void gather_params(struct run *r) {
  const struct sim_kernel *k = r->launch->kernel;
  r->params = arena_alloc(r->arena, k->param_bytes + 16, 16);
  for (unsigned i = 0; i < k->param_count; i++)
    memcpy(r->params + k->params[i].offset, r->launch->values[i], k->params[i].size);
}

static enum sim_status run_launch(struct run *r, struct sim_report *report) {
  const struct sim_launch *l = r->launch;
  if (!check_block(l, report) || !check_cluster(r, report) || !gather_buffers(r, report))
    return SIM_INVALID;
  gather_params(r);
  if (r->check)
    r->global = global_create(r);
  r->static_shared = l->kernel->static_shared_bytes;
  r->shared_bytes = r->static_shared + (uint32_t)l->dynamic_shared_bytes;
  unsigned threads = l->block[0] * l->block[1] * l->block[2];
  run_grid(r, (threads + SIM_LANES - 1) / SIM_LANES);
  return r->failed ? SIM_FAULT : SIM_OK;
}

static enum sim_status run_in(struct arena *arena, const struct sim_launch *launch,
                              struct sim_report *report) {
  jmp_buf on_oom;
  arena_set_oom(arena, &on_oom);
  if (setjmp(on_oom))
    return SIM_OUT_OF_MEMORY;
  struct run *r = arena_new(arena, struct run);
  r->launch = launch;
  r->program = (const struct program *)(const void *)launch->kernel;
  r->arena = arena;
  r->check = launch->check;
  r->random = launch->seed;
  enum sim_status status = run_launch(r, report);
  report->instructions = r->instructions;
  report->lane_instructions = r->lane_instructions;
  report->violations = r->violations;
  return status;
}

enum sim_status sim_run(const struct sim_launch *launch, struct sim_report *ret_report) {
  struct sim_report report = {0};
  struct arena *arena = arena_create();
  enum sim_status status = arena ? run_in(arena, launch, &report) : SIM_OUT_OF_MEMORY;
  arena_destroy(arena);
  if (ret_report)
    *ret_report = report;
  return status;
}
