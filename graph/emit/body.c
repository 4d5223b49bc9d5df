// SPDX-License-Identifier: Apache-2.0
// A kernel's body during emission: parameters, scopes, lines, helper functions.
#include "graph/emit/graph_emit.h"

static struct launch_arg *find_arg(struct emitter *e, enum launch_arg_kind kind, const void *what,
                                   uint32_t which) {
  for (size_t i = 0; i < e->launch.args.len; i++) {
    struct launch_arg *a = &e->launch.args.at[i];
    if (a->kind != kind)
      continue;
    if (kind == LAUNCH_BUFFER ? a->buffer == what
        : kind == LAUNCH_SIZE ? a->size == what
                              : a->which == which)
      return a;
  }
  return NULL;
}

static unsigned count_args(const struct emitter *e, enum launch_arg_kind kind, bool written) {
  unsigned n = 0;
  for (size_t i = 0; i < e->launch.args.len; i++)
    n += e->launch.args.at[i].kind == kind && e->launch.args.at[i].is_written == written;
  return n;
}

static const char *add_buffer(struct emitter *e, struct buffer *b, bool written) {
  struct launch_arg *a = find_arg(e, LAUNCH_BUFFER, b, 0);
  assert(!a || a->is_written || !written); // else the parameter is const already
  if (a)
    return a->name;
  unsigned n = count_args(e, LAUNCH_BUFFER, written);
  const char *name =
      b == e->p->counters ? "count" : arena_printf(e->arena, "%s%u", written ? "out" : "in", n);
  vec_push(
      e->arena, &e->launch.args,
      (struct launch_arg){.kind = LAUNCH_BUFFER, .name = name, .buffer = b, .is_written = written});
  return name;
}

const char *emit_buffer(struct emitter *e, struct buffer *b) { return add_buffer(e, b, false); }

void emit_writes(struct emitter *e, struct buffer *b) { add_buffer(e, b, true); }

const char *emit_parameter(struct emitter *e, const struct buffer *b) {
  const struct launch_arg *a = find_arg(e, LAUNCH_BUFFER, b, 0);
  assert(a);
  return a->name;
}

const char *emit_size(struct emitter *e, const struct expr *size) {
  struct launch_arg *a = find_arg(e, LAUNCH_SIZE, size, 0);
  if (a)
    return a->name;
  const char *name = arena_printf(e->arena, "n%u", count_args(e, LAUNCH_SIZE, false));
  enum dtype t = size->lo >= INT32_MIN && size->hi <= INT32_MAX / 2 ? DTYPE_I32 : DTYPE_I64;
  vec_push(e->arena, &e->launch.args,
           (struct launch_arg){.kind = LAUNCH_SIZE, .name = name, .size = size, .dtype = t});
  return name;
}

static bool is_constant_symbol(const struct emitter *e, const struct expr *symbol) {
  for (size_t i = 0; i < e->plan->constants.len; i++)
    if (e->plan->constants.at[i].symbol == symbol)
      return true;
  return false;
}

void emit_sizes(struct emitter *e, const struct expr *of) {
  if (of->kind == EXPR_SYMBOL && !is_constant_symbol(e, of))
    emit_size(e, of);
  for (uint32_t i = 0; i < of->count; i++)
    emit_sizes(e, of->in[i]);
}

const char *emit_seed(struct emitter *e, uint32_t which) {
  struct launch_arg *a = find_arg(e, LAUNCH_SEED, NULL, which);
  if (a)
    return a->name;
  const char *name = arena_printf(e->arena, "seed%u", count_args(e, LAUNCH_SEED, false));
  vec_push(
      e->arena, &e->launch.args,
      (struct launch_arg){.kind = LAUNCH_SEED, .name = name, .which = which, .dtype = DTYPE_I64});
  return name;
}

void emit_line(struct emitter *e, unsigned level, const char *fmt, ...) {
  assert(level <= e->depth);
  struct emit_scope *s = &e->scopes[level];
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(e->arena, fmt, ap);
  va_end(ap);
  vec_push(e->arena, &s->lines, (struct kernel_line){text, s->indent, NULL});
}

void emit_open(struct emitter *e, const char *header) {
  assert(e->depth + 1 < EMIT_SCOPES);
  struct emit_scope *s = &e->scopes[++e->depth];
  s->lines.len = 0;
  s->indent = e->scopes[e->depth - 1].indent + 1;
  s->serial = ++e->serial;
  s->header = header;
}

void emit_close(struct emitter *e) {
  assert(e->depth > 0);
  struct emit_scope *s = &e->scopes[e->depth--], *outer = &e->scopes[e->depth];
  s->serial = 0;
  if (!s->lines.len)
    return;
  emit_line(e, e->depth, "%s", s->header);
  for (size_t i = 0; i < s->lines.len; i++)
    vec_push(e->arena, &outer->lines, s->lines.at[i]);
}

void emit_helper(struct emitter *e, const char *text) {
  if (ptrmap_get(&e->names, text))
    return;
  ptrmap_put(e->arena, &e->names, text, e);
  vec_push(e->arena, &e->functions, text);
}
