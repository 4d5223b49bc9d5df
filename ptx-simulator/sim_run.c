// SPDX-License-Identifier: Apache-2.0
// Launches: a window of resident CTAs, whose warps run in slices of random length. A finished CTA
// is replaced by the next one; if all resident CTAs wait, the window grows.
#include "ptx-simulator/bulk_copy.h"
#include "ptx-simulator/global.h"
#include "ptx-simulator/register_pool.h"
#include "ptx-simulator/shadow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  RESIDENT = 4,
  MAX_RESIDENT = 1024,
  PATIENCE = 1 << 18,
  UNWRITTEN_BYTE = 0xa5,
  MULTIPROCESSORS = 132
};

// ---- CTAs ----

static void create_warp(struct run *r, struct cta *c, unsigned index) {
  const struct program *p = r->program;
  struct warp *w = &c->warps[index];
  *w = (struct warp){.run = r, .cta = c, .program = p, .index = index};
  w->regs = arena_alloc(r->arena, (size_t)(p->slot_count + 1) * sizeof *w->regs, 64);
  w->local = arena_alloc(r->arena, (size_t)p->local_bytes * SIM_LANES + 16, 16);
  for (unsigned i = p->register_count; i < p->slot_count; i++)
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
      w->regs[i][lane] = p->constants[i - p->register_count];
  if (!r->check)
    return;
  w->undefined = arena_array(r->arena, uint32_t, p->slot_count + 1);
  w->undefined_bytes = arena_alloc(r->arena, (size_t)(p->slot_count + 1) * SIM_LANES, 16);
  w->origin = arena_array(r->arena, const struct op *, p->slot_count + 1);
  w->local_shadow = arena_alloc(r->arena, (size_t)p->local_bytes * SIM_LANES + 16, 16);
  w->clock = arena_array(r->arena, struct clock_entry, clock_count(c));
  w->fence_clock = arena_array(r->arena, struct clock_entry, clock_count(c));
  w->touched = arena_array(r->arena, const struct op *, p->wgmma_registers + 1);
  w->unwritten = arena_array(r->arena, uint64_t *, p->code.len + 1);
  w->events = arena_array(r->arena, uint32_t, p->code.len + 1);
}

static struct cta *create_cta(struct run *r, unsigned warps) {
  struct cta *c = arena_new(r->arena, struct cta);
  c->run = r;
  c->arena = r->arena;
  c->warp_count = warps;
  c->shared = arena_alloc(r->arena, r->shared_bytes + 64, 64);
  c->warps = arena_array(r->arena, struct warp, warps);
  for (unsigned i = 0; i < warps; i++)
    create_warp(r, c, i);
  if (r->check) {
    c->shadow = shadow_create(r->arena, r->shared_bytes, warps);
    for (unsigned i = 0; i < BARRIER_COUNT; i++)
      c->barriers[i] =
          (struct barrier){.clock = arena_array(r->arena, struct clock_entry, clock_count(c)),
                           .arrivals = arena_array(r->arena, uint32_t, warps),
                           .last_arrivals = arena_array(r->arena, uint32_t, warps)};
  }
  return c;
}

static uint64_t special_value(const struct warp *w, enum special id, unsigned lane) {
  const struct sim_launch *l = w->run->launch;
  const struct cta *c = w->cta;
  unsigned thread = w->index * SIM_LANES + lane;
  uint32_t bit = 1u << lane;
  switch (id) {
  case SPECIAL_TID_X: return thread % l->block[0];
  case SPECIAL_TID_Y: return thread / l->block[0] % l->block[1];
  case SPECIAL_TID_Z: return thread / l->block[0] / l->block[1];
  case SPECIAL_NTID_X: return l->block[0];
  case SPECIAL_NTID_Y: return l->block[1];
  case SPECIAL_NTID_Z: return l->block[2];
  case SPECIAL_CLUSTERID_X:
  case SPECIAL_CTAID_X: return c->id[0];
  case SPECIAL_CLUSTERID_Y:
  case SPECIAL_CTAID_Y: return c->id[1];
  case SPECIAL_CLUSTERID_Z:
  case SPECIAL_CTAID_Z: return c->id[2];
  case SPECIAL_NCLUSTERID_X:
  case SPECIAL_NCTAID_X: return l->grid[0];
  case SPECIAL_NCLUSTERID_Y:
  case SPECIAL_NCTAID_Y: return l->grid[1];
  case SPECIAL_NCLUSTERID_Z:
  case SPECIAL_NCTAID_Z: return l->grid[2];
  case SPECIAL_CLUSTER_NCTAID_X:
  case SPECIAL_CLUSTER_NCTAID_Y:
  case SPECIAL_CLUSTER_NCTAID_Z:
  case SPECIAL_CLUSTER_NCTARANK: return 1;
  case SPECIAL_SMID: return c->number % MULTIPROCESSORS;
  case SPECIAL_NSMID: return MULTIPROCESSORS;
  case SPECIAL_LANEID: return lane;
  case SPECIAL_WARPID: return w->index;
  case SPECIAL_NWARPID: return c->warp_count;
  case SPECIAL_LANEMASK_EQ: return bit;
  case SPECIAL_LANEMASK_LE: return bit | (bit - 1);
  case SPECIAL_LANEMASK_LT: return bit - 1;
  case SPECIAL_LANEMASK_GE: return ~(bit - 1);
  case SPECIAL_LANEMASK_GT: return ~(bit | (bit - 1));
  case SPECIAL_DYNAMIC_SMEM_SIZE: return l->dynamic_shared_bytes;
  case SPECIAL_TOTAL_SMEM_SIZE: return w->run->shared_bytes;
  default: return 0;
  }
}

static void start_warp(struct warp *w) {
  const struct program *p = w->program;
  const struct sim_launch *l = w->run->launch;
  unsigned threads = l->block[0] * l->block[1] * l->block[2] - w->index * SIM_LANES;
  w->pc = p->entry;
  w->started = w->live = w->mask = threads >= SIM_LANES ? ~0u : (1u << threads) - 1;
  w->limit = UINT32_MAX;
  w->other_count = 0;
  w->copies.len = w->products.len = 0;
  w->product_commits = 0;
  w->idle_chains = NULL;
  w->streak = 0;
  w->polled = NULL;
  w->is_fenced = false;
  memset(w->commits, 0, sizeof w->commits);
  memset(w->bulk_commits, 0, sizeof w->bulk_commits);
  memset(w->regs, UNWRITTEN_BYTE, p->register_count * sizeof *w->regs);
  memset(w->local, UNWRITTEN_BYTE, (size_t)p->local_bytes * SIM_LANES);
  for (size_t i = 0; i < p->special_count; i++)
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
      w->regs[p->specials[i].slot][lane] = (uint32_t)special_value(w, p->specials[i].id, lane);
  if (!w->undefined)
    return;
  memset(w->undefined, 0xff, p->register_count * sizeof *w->undefined);
  memset(w->undefined_bytes, 0xff, (size_t)p->register_count * SIM_LANES);
  memset(w->origin, 0, p->register_count * sizeof *w->origin);
  memset(w->local_shadow, 0, (size_t)p->local_bytes * SIM_LANES);
  memset(w->touched, 0, p->wgmma_registers * sizeof *w->touched);
  global_start_warp(w);
}

static void start_cta(struct run *r, struct cta *c, uint64_t number) {
  const unsigned *grid = r->launch->grid;
  c->id[0] = (unsigned)(number % grid[0]);
  c->id[1] = (unsigned)(number / grid[0] % grid[1]);
  c->id[2] = (unsigned)(number / grid[0] / grid[1]);
  c->number = (uint32_t)number;
  c->alive = c->warp_count;
  c->instructions = 0;
  c->done = false;
  memset(c->shared, UNWRITTEN_BYTE, r->shared_bytes);
  for (unsigned i = 0; i < c->warp_count; i++)
    start_warp(&c->warps[i]);
  for (unsigned i = 0; i < BARRIER_COUNT; i++)
    barrier_start(c, &c->barriers[i]);
  mbarriers_start(c);
  bulk_start(c);
  registers_start(c);
  if (c->shadow)
    shadow_start(c);
}

// Runs one slice of one warp. Slices are short or long: ordering errors show in either.
static void step_cta(struct run *r, struct cta *c) {
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
  if (r->failed)
    return;
  if (count == 0) {
    if (c->alive == 0)
      c->done = true;
    else if (!bulk_step(c, true))
      report_deadlock(c);
    return;
  }
  uint64_t dice = run_random(r);
  warp_run(&c->warps[runnable[dice % count]], (uint64_t)1 << (dice >> 32) % 14);
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

static void report_limit(struct run *r, struct cta *c) {
  struct warp *w = running_warp(c);
  char text[MBARRIER_TEXT] = "";
  if (!w)
    return;
  uint32_t mask = w->mask ? w->mask : w->others[0].mask, pc = w->mask ? w->pc : w->others[0].pc;
  if (w->polled)
    mbarrier_text(c, w->polled, text, sizeof text);
  fault(w, &w->program->code.at[pc], (unsigned)__builtin_ctz(mask), SIM_TOO_LONG, NULL,
        "the launch did not end within %llu instructions%s%s",
        (unsigned long long)r->launch->instruction_limit, w->polled ? "; the warp polls " : "",
        text);
}

static void run_grid(struct run *r, unsigned warps) {
  const unsigned *grid = r->launch->grid;
  uint64_t next = 0, total = (uint64_t)grid[0] * grid[1] * grid[2];
  struct cta **resident = arena_array(r->arena, struct cta *, MAX_RESIDENT);
  unsigned count = 0, window = RESIDENT;
  uint64_t patience = PATIENCE, last = 0;
  while (!r->failed) {
    while (count < window && next < total) {
      if (!resident[count])
        resident[count] = create_cta(r, warps);
      start_cta(r, resident[count++], next++);
    }
    if (count == 0)
      return;
    unsigned chosen = (unsigned)(run_random(r) % count);
    struct cta *c = resident[chosen];
    step_cta(r, c);
    if (c->done) { // the next CTA reuses its memory
      resident[chosen] = resident[--count];
      resident[count] = c;
      last = r->instructions;
    } else if (r->instructions - last > patience && window < MAX_RESIDENT && next < total) {
      window++;
      last = r->instructions;
    }
    if (r->launch->instruction_limit && r->instructions >= r->launch->instruction_limit &&
        !r->failed && count > 0)
      report_limit(r, resident[0]->alive ? resident[0] : c);
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
  if (!check_block(l, report) || !gather_buffers(r, report))
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
