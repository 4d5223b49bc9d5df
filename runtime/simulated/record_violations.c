// SPDX-License-Identifier: Apache-2.0
// Violations of a simulated launch in the form of the CPU device's: source line, argument and
// element, program and thread. They are kept in the order of their reports.
#include "runtime/simulated/simulated_device.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static enum cpu_violation_kind kind_of(const struct sim_violation *f) {
  switch (f->kind) {
  case SIM_OUT_OF_BOUNDS:
    return f->space == SIM_GLOBAL || f->space == SIM_GENERIC ? CPU_OUTSIDE
           : f->space == SIM_SHARED                          ? CPU_SHARED_OUTSIDE
                                                             : CPU_ILLEGAL;
  case SIM_MISALIGNED: return CPU_MISALIGNED;
  case SIM_BAD_MASK:
  case SIM_BAD_LANE:
  case SIM_DIVERGENCE:
  case SIM_DEADLOCK:
  case SIM_BAD_BARRIER: return CPU_DIVERGENCE;
  case SIM_READ_ONLY:
  case SIM_BAD_MBARRIER:
  case SIM_BAD_CLUSTER:
  case SIM_ASYNC_ORDER:
  case SIM_BAD_STATE: return CPU_ILLEGAL;
  case SIM_TRAP: return CPU_ASSERTION;
  case SIM_TOO_LONG: return CPU_ENDLESS;
  case SIM_UNINITIALISED: return CPU_UNWRITTEN;
  case SIM_RACE: return CPU_SHARED_RACE;
  case SIM_EARLY_READ: return CPU_SHARED_COPYING;
  case SIM_GLOBAL_RACE: return CPU_GLOBAL_RACE;
  }
  return CPU_ILLEGAL;
}

// The memory operation in an instruction's text: "@%p1 st.global.b32 ...".
static enum cpu_access access_of(const char *text) {
  while (text && (*text == '@' || isspace((unsigned char)*text))) {
    while (*text == '@' || *text == '!' || *text == '%' || *text == '_' || *text == '$' ||
           isalnum((unsigned char)*text))
      text++;
    while (isspace((unsigned char)*text))
      text++;
  }
  if (!text)
    return CPU_LOAD;
  if (strncmp(text, "cp.async", 8) == 0)
    return CPU_COPY;
  if (strncmp(text, "st", 2) == 0)
    return CPU_STORE;
  return strncmp(text, "atom", 4) == 0 || strncmp(text, "red.", 4) == 0 ? CPU_ATOMIC : CPU_LOAD;
}

// LLVM writes line 0 for an instruction without a source line.
static struct cpu_location location_of(struct arena *a, const struct sim_site *s) {
  if (s->source.line == 0)
    return (struct cpu_location){0};
  return (struct cpu_location){.file = s->source.file ? arena_strdup(a, s->source.file) : NULL,
                               .line = s->source.line,
                               .col = s->source.column};
}

static int32_t thread_of(const struct sim_site *s) {
  return (int32_t)(s->warp * SIM_LANES + s->lane);
}

// The parameter whose pointer points into the buffer, and the element that was accessed. Of several
// parameters, the nearest one below the address.
static void find_element(const struct simulated_launch_context *c, const struct sim_violation *f,
                         struct cpu_violation *v) {
  const struct kernel_info *info = c->info;
  if (!f->buffer || !info->params)
    return;
  uint64_t best = 0;
  for (uint32_t i = 0; i < info->param_count; i++) {
    uint64_t pointer;
    if (!info->params[i].is_pointer)
      continue;
    memcpy(&pointer, c->values[i], sizeof pointer);
    bool points_there = pointer - f->buffer->address < f->buffer->size;
    if (!points_there || (v->param >= 0 && (pointer > f->address || pointer <= best)))
      continue;
    int64_t bytes = (int64_t)dtype_bytes(info->params[i].dtype);
    int64_t away = f->buffer_offset - (int64_t)(pointer - f->buffer->address);
    uint64_t room = f->buffer->address + f->buffer->size - pointer;
    // The first byte of a wide access may be inside the buffer.
    if (v->kind == CPU_OUTSIDE && away >= 0 && (uint64_t)away < room)
      away = (int64_t)room;
    best = pointer;
    v->param = (int32_t)i;
    v->element = away >= 0 ? away / bytes : -((-away + bytes - 1) / bytes);
    v->elements = room / (uint64_t)bytes;
  }
}

static struct cpu_violation convert(struct simulated_launch_context *c,
                                    const struct sim_violation *f) {
  struct arena *a = c->device->report_arena;
  struct cpu_violation v = {
      .kind = kind_of(f),
      .location = location_of(a, &f->at),
      .param = -1,
      .access = access_of(f->at.instruction),
      .element = (int64_t)f->address,
      .thread_id = thread_of(&f->at),
      .other_thread = -1,
      .instruction = f->at.instruction ? arena_strdup(a, f->at.instruction) : NULL,
      .ptx_line = f->at.line,
  };
  for (int i = 0; i < 3; i++) {
    v.program_id[i] = (int32_t)f->at.ctaid[i];
    v.other_program[i] = (int32_t)f->other.ctaid[i];
  }
  bool is_store = v.kind == CPU_SHARED_COPYING && f->space == SIM_GLOBAL; // by TMA
  if (is_store || v.kind == CPU_OUTSIDE || v.kind == CPU_GLOBAL_RACE || v.kind == CPU_UNWRITTEN)
    find_element(c, f, &v);
  else if (v.kind == CPU_SHARED_OUTSIDE)
    v.elements = c->shared_bytes;
  else if (v.kind == CPU_MISALIGNED)
    v.elements = f->bytes;
  if (f->has_other) {
    v.other_thread = thread_of(&f->other);
    v.other_access = access_of(f->other.instruction);
    v.other_location = location_of(a, &f->other);
    v.other_ptx_line = f->other.line;
  }
  snprintf(v.message, sizeof v.message, "%s", f->text);
  return v;
}

struct recording {
  struct simulated_launch_context *context;
  const struct sim_violation *violation;
};

static void record(void *user) {
  struct recording *r = user;
  struct simulated_device *d = r->context->device;
  d->violations[d->violation_count] = convert(r->context, r->violation);
  d->violation_count++;
}

void simulated_record(void *context, const struct sim_violation *f) {
  struct simulated_launch_context *c = context;
  struct simulated_device *d = c->device;
  d->violation_total++;
  if (d->violation_count == SIM_MAX_VIOLATIONS)
    return;
  if (!d->report_arena)
    d->report_arena = arena_create();
  struct recording r = {c, f};
  if (d->report_arena) // without memory it is counted without its text
    (void)arena_guard(d->report_arena, record, &r);
}
