// SPDX-License-Identifier: Apache-2.0
// The performance model. A multiprocessor has pipes (tensor cores, instruction issue, shared
// memory, L1, its share of the L2 cache and of memory); its resident programs keep each busy for
// some cycles. Pipes overlap as far as there are warps: the time is a norm of the pipes' times,
// between their sum and their maximum. A program takes at least as long as its own dependency
// chain, and programs run in waves.
#include "autotune/predict.h"

#include "lowering/cost/cost_machine.h"
#include "lowering/cost/occupancy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SECTOR_BYTES = 32, MOST_SPILLED = 160, SCHEDULERS = 4, LANES = 32 };

// ---- devices ----

bool tune_device_assumed(const char *target, tile_device_properties *ret) {
  const struct target *t = target_find(str_from(target));
  if (!t)
    return false;
  const struct machine *m = machine_of(t);
  *ret = (tile_device_properties){
      .is_cpu = t->is_cpu,
      .multiprocessors = (int)m->multiprocessors,
      .l2_bytes = (size_t)(m->l2_megabytes * (1 << 20)),
      .shared_limit = t->shared_limit,
      .memory_gbs = m->memory_gbs,
  };
  snprintf(ret->target, sizeof ret->target, "%s", target);
  return true;
}

struct device {
  const struct target *target; // of the device, which may be newer than the compiled one
  const struct machine *m;
  double sms, tensor_scale;
  double memory_bytes; // per cycle, of all multiprocessors together
};

static struct device device_of(const tile_device_properties *p, const struct target *compiled) {
  const struct target *own = target_find(str_from(p->target));
  own = own && own->is_cpu == compiled->is_cpu ? own : compiled;
  const struct machine *m = machine_of(own);
  double gbs = p->memory_gbs > 0 ? p->memory_gbs : m->memory_gbs;
  return (struct device){
      .target = own,
      .m = m,
      .tensor_scale = machine_of(compiled)->half_precision_flops / m->half_precision_flops,
      .sms = p->multiprocessors > 0 ? p->multiprocessors : (int)m->multiprocessors,
      .memory_bytes = gbs / m->clock_ghz,
  };
}

// ---- programs at the same time ----

static unsigned programs_per_sm(const struct device *d, const struct kernel_cost *c) {
  const char *limit;
  unsigned n = resource_programs_per_sm(d->target, c->num_warps + c->producer_warps,
                                        c->entry_registers ? c->entry_registers : c->registers,
                                        c->shared_bytes, &limit);
  return n;
}

// ---- pipes ----

enum pipe { TENSOR, SHARED, ISSUE, L1, L2, MEMORY, ARITHMETIC, SPECIAL, PIPES };
static const char *const pipe_names[PIPES] = {"tensor cores", "shared memory",    "instructions",
                                              "L1 cache",     "L2 cache",         "memory",
                                              "instructions", "special functions"};

// How often what one program reads is read by others too and then hits the L2 cache: of `n`
// programs that run at the same time, those in a square of blocks share rows and columns. Programs
// without loops share nothing.
static double distinct_share(const struct kernel_cost *c, double n) {
  if (c->iterations < 2 || n < 2)
    return 1;
  double side = sqrt(n);
  return c->tensor_flops > 0 ? 1 / side : 1;
}

// Most products are computed by wgmma.
static bool is_by_wgmma(const struct kernel_cost *c) {
  return c->wgmma_flops > c->tensor_flops / 2;
}

// Copies of whole lines for products by wgmma fetch more from the L2 cache in a cycle (fitted).
#define WIDE_FETCHES 1.5

struct pipes {
  double cycles[PIPES];
};

// Cycles of each pipe for `n` programs on one multiprocessor, when as many run on the others.
static struct pipes pipes_of(const struct device *d, const struct kernel_cost *c, double n,
                             double busy_sms) {
  const struct machine *m = d->m;
  double moved = c->global_read + c->global_written;
  double fetched = c->sectors * SECTOR_BYTES > moved ? c->sectors * SECTOR_BYTES : moved;
  double own = c->global_read - c->common_read;
  double from_memory = own * distinct_share(c, n * busy_sms) + fetched - c->global_read;
  // wgmma reads its operands beside the copies to shared memory: these cost nothing measurable.
  double shared = c->shared_wavefronts + (is_by_wgmma(c) ? 0 : c->copied_wavefronts);
  struct pipes p = {{
      [TENSOR] = c->tensor_cycles * d->tensor_scale,
      [SHARED] = shared / m->wavefronts,
      [ISSUE] = c->instructions / m->issue,
      [ARITHMETIC] = c->arithmetic / m->arithmetic,
      [SPECIAL] = c->special / m->special,
      [L1] = c->sectors / m->sectors,
      [L2] = fetched / m->l2_bytes / (is_by_wgmma(c) ? WIDE_FETCHES : 1),
      [MEMORY] = from_memory * busy_sms / d->memory_bytes,
  }};
  for (unsigned i = 0; i < PIPES; i++)
    p.cycles[i] *= n;
  return p;
}

static double norm(const double *x, unsigned n, double exponent) {
  double sum = 0;
  for (unsigned i = 0; i < n; i++)
    sum += pow(x[i], exponent);
  return pow(sum, 1 / exponent);
}

// Products and the loads of their operands overlap well. Arithmetic between products waits for
// their results, so that only other programs overlap with it, since the warps of one program run in
// step.
static double overlapped(const struct kernel_cost *c, const struct pipes *p, double n,
                         double warps_a_scheduler) {
  double load_exponent = fmin(2 + 0.9 * warps_a_scheduler, 4);
  double arithmetic_exponent = fmin(1 + 0.125 * warps_a_scheduler + 0.45 * (n - 1), 4);
  if (p->cycles[TENSOR] == 0)
    return norm(p->cycles, PIPES, load_exponent);
  if (is_by_wgmma(c)) {
    // One thread starts products that run for hundreds of cycles, however few warps there are, and
    // copies run ahead of them (fitted).
    double own[] = {norm(p->cycles, MEMORY, 3), p->cycles[MEMORY]};
    double all[] = {norm(own, COUNT_OF(own), 6),
                    norm(p->cycles + ARITHMETIC, PIPES - ARITHMETIC, load_exponent)};
    return norm(all, COUNT_OF(all), arithmetic_exponent);
  }
  double both[] = {norm(p->cycles, ARITHMETIC, load_exponent),
                   norm(p->cycles + ARITHMETIC, PIPES - ARITHMETIC, load_exponent)};
  return norm(both, COUNT_OF(both), arithmetic_exponent);
}

// ---- one program's chain ----

// The serial part of a program: start, loads, loop iterations, barriers. `alone`: cycles of the
// program's own work, which does not overlap with loads that are not prefetched.
static double chain_of(const struct device *d, const struct kernel_cost *c, double alone) {
  const struct machine *m = d->m;
  double ahead = c->stages > 1 ? c->stages - 1 : 1;
  double waits = c->iterations * c->waits_per_iteration * m->memory_latency / ahead;
  double loads = c->global_read > 0 ? m->memory_latency : 0;
  double stores = c->global_written > 0 ? m->memory_latency / 2 : 0;
  double own = c->iterations > 0 && c->stages == 1 ? alone : 0;
  return m->program_start + loads + waits + own + stores + c->barriers * m->barrier;
}

static unsigned largest(const struct pipes *p) {
  unsigned best = 0;
  for (unsigned i = 1; i < PIPES; i++)
    if (p->cycles[i] > p->cycles[best])
      best = i;
  return best;
}

// Traffic of register spills to local memory.
static double spill_factor(const struct kernel_cost *c) { return 1 + 0.04 * sqrt(c->spilled); }

// What the beginning of a program and the end of each of its tiles cost where wgmma computes, and
// nothing of the same program overlaps with it. Fitted to the products of 256 to 4096 in K of
// decision 008: with a producer the copies of the next tile go on meanwhile, without one each
// program waits for its first tiles.
static double unhidden(const struct device *d, const struct kernel_cost *c, double n) {
  const struct machine *m = d->m;
  double tiles = c->tiles > 0 ? c->tiles : 1;
  double begins = (c->producer_warps ? 5 : 3.5) * m->program_start;
  double ends = 400 + 1.25 * c->global_written / tiles / m->l2_bytes;
  bool waits = c->tiles > 0 && !c->producer_warps; // for the first loads of each tile
  return (begins + tiles * (ends + (waits ? m->memory_latency : 0))) / n;
}

// Cycles of `n` concurrent programs on each of `busy_sms` multiprocessors.
static double wave(const struct device *d, const struct kernel_cost *c, double n, double busy_sms,
                   const char **ret_limiter) {
  struct pipes p = pipes_of(d, c, n, busy_sms), one = pipes_of(d, c, 1, busy_sms);
  double warps = (double)c->num_warps / SCHEDULERS, work = overlapped(c, &p, n, n * warps);
  double chain = chain_of(d, c, overlapped(c, &one, 1, warps));
  *ret_limiter = chain > work ? "latency" : pipe_names[largest(&p)];
  // Starts and ends of programs overlap with other programs' work.
  double meetings = c->barriers * d->m->barrier;
  double ends =
      is_by_wgmma(c) ? unhidden(d, c, n) : (d->m->program_start + d->m->memory_latency) / n;
  double both[] = {work + meetings + ends, chain};
  return norm(both, 2, 4) * spill_factor(c);
}

// ---- the whole ----

// The program of a persistent kernel with the most tiles: others wait for it at the end.
static struct kernel_cost longest_program(const struct kernel_cost *c) {
  struct kernel_cost k = *c;
  if (c->tiles <= 0 || c->tensor_flops == 0)
    return k;
  double more = ceil(c->tiles - 1e-6) / c->tiles;
  double *const totals[] = {
      &k.global_read,       &k.global_written, &k.common_read,  &k.sectors,      &k.special,
      &k.shared_wavefronts, &k.fma_flops,      &k.instructions, &k.tensor_flops, &k.arithmetic,
      &k.barriers,          &k.tensor_cycles,  &k.iterations,   &k.tiles,        &k.wgmma_flops};
  for (unsigned i = 0; i < COUNT_OF(totals); i++)
    *totals[i] *= more;
  return k;
}

static double bound_cycles(const struct device *d, const struct kernel_cost *c, double programs) {
  double read = (c->global_read - c->common_read) * distinct_share(c, programs) * programs;
  double bytes = read + c->common_read + c->global_written * programs;
  double memory = bytes / d->memory_bytes,
         tensor = c->tensor_cycles * d->tensor_scale * programs / d->sms;
  return memory > tensor ? memory : tensor;
}

// On the CPU a warp instruction is 32 iterations of one thread, and threads share a core: their
// work adds up, and every barrier switches each of them.
static struct prediction cpu_prediction(const struct device *d, const struct kernel_cost *c,
                                        double programs) {
  const struct machine *m = d->m;
  double threads = c->num_warps * LANES;
  double work = c->instructions / m->issue + c->special / m->special;
  double meetings = threads * (m->program_start + c->barriers * m->barrier);
  double rounds = ceil(programs / d->sms), cycles_a_ms = m->clock_ghz * 1e6;
  return (struct prediction){
      .ms = rounds * (c->tensor_cycles + work + meetings) / cycles_a_ms,
      .limiter = meetings > work + c->tensor_cycles ? "threads that meet" : "instructions",
      .programs_per_sm = 1,
      .waves = programs / d->sms,
      .bound_ms = bound_cycles(d, c, programs) / cycles_a_ms,
  };
}

struct prediction tune_predict(const tile_device_properties *device, const struct target *target,
                               const struct kernel_cost *c, tile_grid grid) {
  struct device d = device_of(device, target);
  double programs = (double)grid.x * grid.y * grid.z;
  if (target->is_cpu)
    return cpu_prediction(&d, c, programs);
  unsigned held = programs_per_sm(&d, c);
  struct prediction p = {.programs_per_sm = held, .limiter = "does not fit"};
  if (held == 0 || programs == 0) {
    p.ms = INFINITY;
    return p;
  }
  double capacity = d.sms * held, full = floor(programs / capacity);
  double rest = programs - full * capacity, cycles = 0;
  const char *tail = NULL;
  struct kernel_cost longest = longest_program(c);
  p.waves = programs / capacity;
  if (full > 0)
    cycles += full * wave(&d, &longest, held, d.sms, &p.limiter);
  if (rest > 0) {
    double busy = rest < d.sms ? rest : d.sms;
    cycles += wave(&d, &longest, ceil(rest / d.sms), busy, &tail);
  }
  if (full == 0)
    p.limiter = tail;
  double cycles_a_ms = d.m->clock_ghz * 1e6;
  p.ms = cycles / cycles_a_ms + d.m->launch_us * 1e-3;
  p.bound_ms = bound_cycles(&d, c, programs) / cycles_a_ms;
  return p;
}

// ---- pruning ----

const char *tune_prune_reason(struct arena *a, const tile_device_properties *device,
                              const struct target *target, const struct kernel_cost *c,
                              tile_grid grid) {
  size_t limit = device->shared_limit && device->shared_limit < target->shared_limit
                     ? device->shared_limit
                     : target->shared_limit;
  if (c->shared_bytes > limit)
    return arena_printf(a, "needs %u bytes of shared memory; a program may use %zu",
                        c->shared_bytes, limit);
  uint64_t programs = (uint64_t)grid.x * grid.y * grid.z;
  if (programs == 0)
    return arena_strdup(a, "the grid is empty");
  if (target->is_cpu)
    return NULL;
  if (c->spilled > MOST_SPILLED)
    return arena_printf(a, "about %u registers a thread do not fit, and would wait in memory",
                        c->spilled);
  struct device d = device_of(device, target);
  if (programs_per_sm(&d, c) == 0)
    return arena_printf(a, "%u warps with about %u registers a thread do not fit a multiprocessor",
                        c->num_warps, c->registers);
  return NULL;
}
