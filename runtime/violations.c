// SPDX-License-Identifier: Apache-2.0
// Describes violations of checked launches, one line each.
#include "runtime/violations.h"

#include <stdio.h>
#include <string.h>

static const char *verb_of(enum cpu_access access) {
  static const char *const verbs[] = {"load from", "store to", "atomic on", "asynchronous copy to"};
  return (unsigned)access < COUNT_OF(verbs) ? verbs[access] : "access to";
}

static void location_text(const struct cpu_location *p, const char *after, char *text,
                          size_t size) {
  if (p->file)
    snprintf(text, size, "%.100s:%u:%u%s", p->file, p->line, p->col, after);
  else
    text[0] = '\0';
}

// The argument and element, if known.
static void element_text(const struct kernel_info *info, const struct cpu_violation *v, char *text,
                         size_t size) {
  text[0] = '\0';
  if (v->param >= 0)
    snprintf(text, size, "element %lld of `%.80s`", (long long)v->element,
             info->params[v->param].name);
}

static void describe_shared(const struct kernel_info *info, const struct cpu_violation *v,
                            char *text, size_t size) {
  const char *verb = verb_of(v->access);
  long long element = v->element;
  char other[160], what[160];
  location_text(&v->other_location, " ", other, sizeof other);
  switch (v->kind) {
  case CPU_SHARED_OUTSIDE:
    snprintf(text, size, "%s shared memory outside of its %llu bytes: byte %lld", verb,
             (unsigned long long)v->elements, element);
    break;
  case CPU_SHARED_UNWRITTEN:
    snprintf(text, size, "%s shared memory that nothing wrote: byte %lld", verb, element);
    break;
  case CPU_SHARED_RACE:
    snprintf(text, size, "race in shared memory: %s byte %lld, and %s%s it by thread %d", verb,
             element, other, verb_of(v->other_access), v->other_thread);
    break;
  default: // CPU_SHARED_COPYING, which may be of an argument
    element_text(info, v, what, sizeof what);
    if (!*what)
      snprintf(what, sizeof what, "byte %lld", element);
    snprintf(text, size,
             "copy under way: %s %s, and %sasynchronous copy to it by thread %d "
             "has not been waited for",
             verb, what, other, v->other_thread);
    break;
  }
}

static void describe_global(const struct kernel_info *info, const struct cpu_violation *v,
                            char *text, size_t size) {
  const char *verb = verb_of(v->access);
  char element[160], location[160];
  element_text(info, v, element, sizeof element);
  location_text(&v->other_location, " ", location, sizeof location);
  if (v->kind == CPU_UNWRITTEN)
    snprintf(text, size, "a value that nothing wrote: %s%s%s", v->message, *element ? ", " : "",
             element);
  else if (v->kind == CPU_GLOBAL_RACE)
    snprintf(text, size,
             "race in global memory: %s %s, and %s%s it by program (%d, %d, %d), "
             "thread %d",
             verb, *element ? element : "memory", location, verb_of(v->other_access),
             v->other_program[0], v->other_program[1], v->other_program[2], v->other_thread);
  else if (v->kind == CPU_MISALIGNED)
    snprintf(text, size, "%s an address that is not a multiple of %llu bytes",
             v->access == CPU_COPY ? "asynchronous copy from" : verb,
             (unsigned long long)v->elements);
  else if (v->param >= 0) // CPU_OUTSIDE
    snprintf(text, size, "out-of-bounds %s `%s`: element %lld of %llu", verb,
             info->params[v->param].name, (long long)v->element, (unsigned long long)v->elements);
  else
    snprintf(text, size, "%s an address outside every buffer", verb);
}

static void describe_what(const struct kernel_info *info, const struct cpu_violation *v, char *text,
                          size_t size) {
  switch (v->kind) {
  case CPU_ASSERTION: snprintf(text, size, "assertion failed: %s", v->message); break;
  case CPU_DIVERGENCE: snprintf(text, size, "divergence: %s", v->message); break;
  case CPU_ILLEGAL: snprintf(text, size, "illegal instruction: %s", v->message); break;
  case CPU_ENDLESS: snprintf(text, size, "the launch does not end: %s", v->message); break;
  case CPU_SHARED_OUTSIDE:
  case CPU_SHARED_UNWRITTEN:
  case CPU_SHARED_RACE:
  case CPU_SHARED_COPYING: describe_shared(info, v, text, size); break;
  case CPU_UNWRITTEN:
  case CPU_GLOBAL_RACE:
  case CPU_MISALIGNED:
  case CPU_OUTSIDE: describe_global(info, v, text, size); break;
  }
}

void violation_describe(const struct kernel_info *info, const struct cpu_violation *v,
                        uint64_t total, char *text, size_t size) {
  char location[160], what[2304], detail[2064] = "", line[64] = "", more[64] = "";
  bool has_detail = v->kind == CPU_SHARED_RACE || v->kind == CPU_SHARED_COPYING ||
                    (v->kind == CPU_MISALIGNED && v->ptx_line);
  location_text(&v->location, ": ", location, sizeof location);
  describe_what(info, v, what, sizeof what);
  if (has_detail && *v->message)
    snprintf(detail, sizeof detail, ": %s", v->message);
  if (v->ptx_line && v->other_ptx_line)
    snprintf(line, sizeof line, ", lines %u and %u of the PTX", v->ptx_line, v->other_ptx_line);
  else if (v->ptx_line)
    snprintf(line, sizeof line, ", line %u of the PTX", v->ptx_line);
  if (total > 1)
    snprintf(more, sizeof more, "; %llu violations in all", (unsigned long long)total);
  snprintf(text, size, "%s%s%s (kernel `%s`, program (%d, %d, %d), thread %d%s)%s", location, what,
           detail, info->name, v->program_id[0], v->program_id[1], v->program_id[2], v->thread_id,
           line, more);
}
