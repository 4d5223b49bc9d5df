// SPDX-License-Identifier: Apache-2.0
// Names of what is in shared memory, for reports: variables, and buffers in dynamic shared memory
// that comments of the PTX name (lowering/cost/shared_map.h).
#include "ptx-simulator/decode.h"

#include <stdio.h>
#include <string.h>

void shared_names_read(struct sim_module *m, const char *ptx, size_t size) {
  struct str rest = {ptx, size}, line;
  while (rest.len > 0) {
    rest = str_split(rest, '\n', &line);
    if (!str_starts(line, "// shared 0x"))
      continue;
    struct shared_buffer b = {0};
    char what[24], name[64];
    const char *text = arena_strndup(m->arena, line.ptr, line.len);
    if (sscanf(text, "// shared 0x%x: %u x %u bytes, %23[a-z ]`%63[^`]", &b.offset, &b.count,
               &b.bytes, what, name) != 5 ||
        b.bytes == 0)
      continue;
    char *of = strstr(what, " of");
    if (of)
      *of = 0;
    b.what = arena_strdup(m->arena, what);
    b.name = arena_strdup(m->arena, name);
    vec_push(m->arena, &m->shared_buffers, b);
  }
}

static const char *variable_name(const struct run *r, uint32_t offset, char *ret, size_t size) {
  struct map_entry e;
  for (size_t i = 0; map_next(&r->program->module->variables, &i, &e);) {
    const struct variable *v = e.value;
    if (v->space != SIM_SHARED || v->is_dynamic || offset - v->offset >= v->bytes)
      continue;
    unsigned beyond = (unsigned)(offset - v->offset);
    if (beyond)
      snprintf(ret, size, " (`%.32s`+%u)", v->name, beyond);
    else
      snprintf(ret, size, " (`%.32s`)", v->name);
  }
  return ret;
}

const char *shared_name(const struct run *r, uint32_t offset, char *ret, size_t size) {
  const struct sim_module *m = r->program->module;
  *ret = 0;
  if (offset < r->static_shared)
    return variable_name(r, offset, ret, size);
  for (size_t i = 0; i < m->shared_buffers.len; i++) {
    const struct shared_buffer *b = &m->shared_buffers.at[i];
    uint32_t within = offset - r->static_shared - b->offset;
    if (within / b->bytes >= b->count)
      continue;
    if (*ret) { // buffers that are not live together share bytes
      *ret = 0;
      return ret;
    }
    if (b->count > 1)
      snprintf(ret, size, " (%s %u of `%.40s`)", b->what, within / b->bytes, b->name);
    else
      snprintf(ret, size, " (%s of `%.40s`)", b->what, b->name);
  }
  return ret;
}

struct shared_text shared_text(const struct run *r, uint64_t offset) {
  struct shared_text t;
  char name[sizeof t.at - 32];
  snprintf(t.at, sizeof t.at, "shared 0x%llx%s", (unsigned long long)offset,
           shared_name(r, (uint32_t)offset, name, sizeof name));
  return t;
}
