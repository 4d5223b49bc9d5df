// SPDX-License-Identifier: Apache-2.0
// Describes violations of checked launches and simulations as diagnostics. Violations in global
// memory and failed assertions are usually errors of the kernel; those of shared memory and
// barriers are usually errors of this compiler.
#include "tools/launch/report_violations.h"

#include "tools/launch/mask_help.h"

#include <stdio.h>
#include <string.h>

static struct span span_of(const struct source *s, const struct cpu_location *p) {
  if (!p->file || !s || strcmp(p->file, s->name) != 0)
    return SPAN_NONE;
  uint32_t at = source_offset(s, p->line, p->col);
  return (struct span){s, at, at + 1};
}

static void thread_text(const struct cpu_violation *v, char *text, size_t size) {
  snprintf(text, size, "program (%d, %d, %d), thread %d", v->program_id[0], v->program_id[1],
           v->program_id[2], v->thread_id);
}

static struct diag *report_outside(struct diag_engine *diag, struct span where, const char *thread,
                                   const struct cpu_violation *v, const char *param,
                                   const struct violation_facts *facts) {
  const char *bound = facts ? facts->bound : NULL;
  char number[24];
  snprintf(number, sizeof number, "%llu", (unsigned long long)v->elements);
  const char *verb = v->access == CPU_LOAD    ? "load reads"
                     : v->access == CPU_STORE ? "store writes"
                                              : "atomic operation touches";
  enum diag_code code = v->access == CPU_LOAD ? E0801 : v->access == CPU_STORE ? E0802 : E0803;
  const char *side = v->element < 0 ? "before the start of" : "past the end of";
  struct diag *d;
  if (!param) {
    d = diag_error(diag, where, code, "%s outside of every buffer", verb);
    diag_primary_label(d, "%s", thread);
  } else {
    d = diag_error(diag, where, code, "%s %s `%s`", verb, side, param);
    diag_primary_label(d, "`%s` has %llu elements; %s touches index %lld", param,
                       (unsigned long long)v->elements, thread, (long long)v->element);
  }
  if (param && v->element < 0)
    diag_help(d, "mask the lanes that are outside, such as `mask=i >= 0`");
  else
    mask_help(d, where, param, !param ? "n" : bound ? bound : number, facts ? facts->beyond : NULL);
  return d;
}

static const char *verb_of(enum cpu_access access) {
  static const char *const verbs[] = {"reads", "writes", "changes atomically", "copies to"};
  return verbs[access];
}

static struct diag *report_race(struct diag_engine *diag, const struct source *source,
                                struct span where, const struct cpu_violation *v) {
  struct diag *d =
      diag_error(diag, where, E0805, "race in shared memory: no barrier between two accesses");
  diag_primary_label(d, "program (%d, %d, %d): thread %d %s byte %lld", v->program_id[0],
                     v->program_id[1], v->program_id[2], v->thread_id, verb_of(v->access),
                     (long long)v->element);
  struct span other = span_of(source, &v->other_location);
  const char *verb = verb_of(v->other_access);
  if (other.source && other.begin != where.begin)
    diag_label(d, other, "thread %d %s it", v->other_thread, verb);
  else
    diag_note(d, SPAN_NONE, "thread %d %s it%s", v->other_thread, verb,
              other.source ? ", at the same location" : "");
  return d;
}

static struct diag *report_copying(struct diag_engine *diag, const struct source *source,
                                   struct span where, const struct cpu_violation *v,
                                   const char *param) {
  struct diag *d =
      diag_error(diag, where, E0809, "%s memory is touched while a copy to it is under way",
                 param ? "global" : "shared");
  char of[96] = "";
  if (param)
    snprintf(of, sizeof of, " of `%.80s`", param);
  diag_primary_label(d, "program (%d, %d, %d): thread %d %s %s %lld%s", v->program_id[0],
                     v->program_id[1], v->program_id[2], v->thread_id, verb_of(v->access),
                     param ? "element" : "byte", (long long)v->element, of);
  struct span other = span_of(source, &v->other_location);
  if (other.source && other.begin != where.begin)
    diag_label(d, other, "thread %d copies to it and has not waited", v->other_thread);
  else
    diag_note(d, SPAN_NONE, "thread %d copies to it and has not waited", v->other_thread);
  if (*v->message)
    diag_note(d, SPAN_NONE, "%s", v->message);
  return d;
}

static struct diag *report_divergence(struct diag_engine *diag, const struct source *source,
                                      struct span where, const char *thread,
                                      const struct cpu_violation *v) {
  struct diag *d = diag_error(diag, where, E0808, "threads diverge: %s", v->message);
  diag_primary_label(d, "%s", thread);
  struct span other = span_of(source, &v->other_location);
  if (other.source && other.begin != where.begin)
    diag_label(d, other, "thread %d waits here", v->other_thread);
  return d;
}

static struct diag *report_misaligned(struct diag_engine *diag, struct span where,
                                      const char *thread, const struct cpu_violation *v) {
  bool copies = v->access == CPU_COPY;
  struct diag *d = diag_error(diag, where, E0814, "%s a misaligned address",
                              copies ? "asynchronous copy from" : "access to");
  diag_primary_label(d, "%s %s an address that is not a multiple of %llu bytes", thread,
                     copies ? "copies from" : verb_of(v->access), (unsigned long long)v->elements);
  diag_help(d, "check `multiple_of` and `max_contiguous` on the way to this pointer");
  return d;
}

static struct diag *report_global_race(struct diag_engine *diag, const struct source *source,
                                       struct span where, const char *thread,
                                       const struct cpu_violation *v, const char *param) {
  struct diag *d =
      diag_error(diag, where, E0818, "race in global memory: nothing orders two accesses");
  if (param)
    diag_primary_label(d, "%s %s element %lld of `%s`", thread, verb_of(v->access),
                       (long long)v->element, param);
  else
    diag_primary_label(d, "%s %s it", thread, verb_of(v->access));
  char text[96];
  snprintf(text, sizeof text, "program (%d, %d, %d), thread %d %s it", v->other_program[0],
           v->other_program[1], v->other_program[2], v->other_thread, verb_of(v->other_access));
  struct span other = span_of(source, &v->other_location);
  if (other.source && other.begin != where.begin)
    diag_label(d, other, "%s", text);
  else
    diag_note(d, SPAN_NONE, "%s%s", text, other.source ? ", at the same location" : "");
  bool is_one_program = memcmp(v->program_id, v->other_program, sizeof v->program_id) == 0;
  if (!is_one_program && v->access == CPU_STORE && v->other_access == CPU_STORE && param)
    diag_help(d,
              "programs run in no order: add up their values by `tl.atomic_add(%s + offsets, "
              "value)`, or give each program elements of its own, `%s + tl.program_id(0)`",
              param, param);
  else
    diag_help(d,
              "programs are ordered by atomic operations alone, threads of one by `debug_barrier`");
  return d;
}

static struct diag *report_unwritten(struct diag_engine *diag, const struct source *source,
                                     struct span where, const struct cpu_violation *v,
                                     const char *param) {
  struct diag *d =
      diag_error(diag, where, E0815, "a value is used that nothing wrote: %s", v->message);
  struct span other = span_of(source, &v->other_location);
  char text[160] = "";
  if (param)
    snprintf(text, sizeof text, "element %lld of `%.100s`", (long long)v->element, param);
  if (other.source && other.begin != where.begin)
    diag_label(d, other, "%s was read here", param ? text : "it");
  else if (param)
    diag_note(d, SPAN_NONE, "it is %s", text);
  return d;
}

// Violations that only simulations report.
static struct diag *report_simulated(struct diag_engine *diag, const struct source *source,
                                     struct span where, const char *thread,
                                     const struct cpu_violation *v, const char *param) {
  struct diag *d;
  if (v->kind == CPU_UNWRITTEN) {
    d = report_unwritten(diag, source, where, v, param);
  } else if (v->kind == CPU_ENDLESS) {
    d = diag_error(diag, where, E0817, "the launch does not end: %s", v->message);
    diag_help(d, "where it only takes long, TILE_SIMULATE_LIMIT=N allows more instructions");
  } else {
    d = diag_error(diag, where, E0816, "illegal instruction: %s", v->message);
  }
  diag_primary_label(d, "%s", thread);
  return d;
}

void violation_report(struct diag_engine *diag, const struct source *source,
                      const struct cpu_violation *v, const char *param,
                      const struct violation_facts *facts) {
  struct span where = span_of(source, &v->location);
  char thread[96];
  thread_text(v, thread, sizeof thread);
  struct diag *d = NULL;
  switch (v->kind) {
  case CPU_OUTSIDE: d = report_outside(diag, where, thread, v, param, facts); break;
  case CPU_ASSERTION:
    d = diag_error(diag, where, E0804, "assertion failed: %s", v->message);
    diag_note(d, SPAN_NONE, "in %s", thread);
    break;
  case CPU_DIVERGENCE: d = report_divergence(diag, source, where, thread, v); break;
  case CPU_SHARED_OUTSIDE:
    d = diag_error(diag, where, E0807, "access outside of the shared memory of a program");
    diag_primary_label(d, "%s %s byte %lld of %llu", thread, verb_of(v->access),
                       (long long)v->element, (unsigned long long)v->elements);
    break;
  case CPU_SHARED_UNWRITTEN:
    d = diag_error(diag, where, E0806, "shared memory is read that nothing wrote");
    diag_primary_label(d, "%s %s byte %lld", thread, verb_of(v->access), (long long)v->element);
    break;
  case CPU_SHARED_RACE: d = report_race(diag, source, where, v); break;
  case CPU_SHARED_COPYING: d = report_copying(diag, source, where, v, param); break;
  case CPU_GLOBAL_RACE: d = report_global_race(diag, source, where, thread, v, param); break;
  case CPU_MISALIGNED: d = report_misaligned(diag, where, thread, v); break;
  case CPU_UNWRITTEN:
  case CPU_ILLEGAL:
  case CPU_ENDLESS: d = report_simulated(diag, source, where, thread, v, param); break;
  }
  if (d && v->instruction)
    diag_note(d, SPAN_NONE, "instruction: %s (line %u of the PTX)", v->instruction, v->ptx_line);
  if (d && v->kind == CPU_SHARED_RACE && *v->message)
    diag_note(d, SPAN_NONE, "%s", v->message);
}

bool violation_repeats(const struct cpu_violation *a, const struct cpu_violation *b) {
  return a->kind == b->kind && a->location.line == b->location.line &&
         a->location.col == b->location.col;
}
