// SPDX-License-Identifier: Apache-2.0
// Kernels as source: parameters, scopes, the text put together. Each kind of region has a file of
// its own.
#include "graph/emit/emit.h"

#include "lowering/analysis/machine.h"

#include <inttypes.h>

// ---- beginning ----

static const char *comment_of(struct emitter *e) {
  struct strbuf text = {.arena = e->arena};
  const struct region *r = e->region;
  VEC(const char *) seen = {0};
  for (size_t i = 0; i < r->stages.len; i++)
    for (size_t j = 0; j < r->stages.at[i]->origins.len && text.len < EMIT_WIDTH; j++) {
      const char *origin = r->stages.at[i]->origins.at[j];
      bool old = false;
      for (size_t k = 0; k < seen.len; k++)
        old = old || strcmp(seen.at[k], origin) == 0;
      if (old)
        continue;
      vec_push(e->arena, &seen, origin);
      strbuf_printf(&text, "%s%s", text.len ? ", " : "", origin);
    }
  for (uint32_t i = 0; i < r->rank; i++) {
    strbuf_puts(&text, i ? " x " : text.len ? ": " : "");
    expr_print(r->axes[i]->symbol->limit, &text);
  }
  const char *kept = arena_strdup(e->arena, strbuf_cstr(&text));
  strbuf_finish(&text);
  return kept;
}

struct emitter *emit_begin(struct program *p, const struct region *r,
                           const struct program_options *o, const char *suffix) {
  struct emitter *e = arena_new(p->arena, struct emitter);
  e->p = p;
  e->o = o;
  e->region = r;
  e->arena = p->arena;
  e->x = p->regions->loops->exprs;
  e->s = p->regions->loops->scalars;
  e->name = suffix ? arena_printf(e->arena, "%s_%s", r->name, suffix) : r->name;
  e->comment = comment_of(e);
  e->scopes[0].indent = 1;
  e->scopes[0].serial = ++e->serial;
  e->launch.region = r;
  return e;
}

unsigned emit_multiprocessors(const struct program_options *o) {
  const struct target *t = o->target ? target_find(str_from(o->target)) : NULL;
  return t ? machine_of(t)->multiprocessors : 132;
}

// ---- parameters ----

const struct expr *emit_constexpr(struct emitter *e, const char *name, int64_t value) {
  const struct expr *symbol = program_constant(e->p, name);
  vec_push(e->arena, &e->constants,
           (struct kernel_constant){
               .name = name, .value = arena_printf(e->arena, "%" PRId64, value), .symbol = symbol});
  return symbol;
}

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

// Is text written inside a loop whose loads run ahead of its stores?
static bool is_pipelined(const struct emitter *e) {
  for (unsigned i = 1; i <= e->depth; i++)
    if (e->scopes[i].is_pipelined)
      return true;
  return false;
}

const char *emit_buffer(struct emitter *e, struct buffer *b) {
  return emit_element(e, b, NULL, false);
}

const char *emit_element(struct emitter *e, struct buffer *b, const struct expr *place,
                         bool is_store) {
  struct emit_access a = {b, is_pipelined(e) ? NULL : place, is_store};
  vec_push(e->arena, &e->accesses, a);
  return add_buffer(e, b, false);
}

void emit_writes(struct emitter *e, struct buffer *b) { add_buffer(e, b, true); }

const char *emit_parameter(struct emitter *e, const struct buffer *b) {
  return find_arg(e, LAUNCH_BUFFER, b, 0)->name;
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
  for (size_t i = 0; i < e->constants.len; i++)
    if (e->constants.at[i].symbol == symbol)
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

struct buffer *emit_temporary(struct program *p, const char *name, enum dtype t,
                              const struct expr *numel) {
  struct loops *l = p->regions->loops;
  struct buffer *b = arena_new(p->arena, struct buffer);
  b->id = (uint32_t)l->buffers.len;
  for (size_t i = 0; i < l->buffers.len; i++)
    if (l->buffers.at[i]->id >= b->id)
      b->id = l->buffers.at[i]->id + 1;
  b->name = arena_printf(p->arena, "%s_%u", name, b->id);
  b->dtype = t;
  b->role = BUFFER_TEMP;
  b->numel = numel;
  vec_push(l->arena, &l->buffers, b);
  vec_push(l->arena, &p->regions->temporaries, b);
  return b;
}

// ---- text ----

void emit_line(struct emitter *e, unsigned level, const char *fmt, ...) {
  struct emit_scope *s = &e->scopes[level];
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(e->arena, fmt, ap);
  va_end(ap);
  vec_push(e->arena, &s->lines, (struct kernel_line){text, s->indent, NULL});
}

void emit_open(struct emitter *e, const char *header) {
  struct emit_scope *s = &e->scopes[++e->depth];
  s->lines.len = 0;
  s->is_pipelined = false;
  s->indent = e->scopes[e->depth - 1].indent + 1;
  s->serial = ++e->serial;
  s->header = header;
}

void emit_open_pipelined(struct emitter *e, const char *header) {
  emit_open(e, header);
  e->scopes[e->depth].is_pipelined = true;
}

void emit_close(struct emitter *e) {
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

// ---- the end ----

static int arg_order(const struct launch_arg *a) {
  if (a->kind == LAUNCH_BUFFER)
    return a->is_written;
  return a->kind == LAUNCH_SIZE ? 2 : 3;
}

// Inputs, outputs, sizes, seeds.
static void sort_args(struct emitter *e) {
  for (size_t i = 1; i < e->launch.args.len; i++)
    for (size_t j = i; j > 0; j--) {
      struct launch_arg *a = &e->launch.args.at[j - 1];
      if (arg_order(a) <= arg_order(a + 1))
        break;
      struct launch_arg t = a[0];
      a[0] = a[1];
      a[1] = t;
    }
}

static struct source_param param_of(struct emitter *e, const struct launch_arg *a) {
  const char *type = dtype_name(a->kind == LAUNCH_BUFFER ? a->buffer->dtype : a->dtype);
  if (a->kind == LAUNCH_BUFFER)
    type = arena_printf(e->arena, "%s[%s]", a->is_written ? "ptr" : "const_ptr", type);
  return (struct source_param){.name = a->name, .type = type};
}

static struct kernel_text text_of(struct emitter *e) {
  struct kernel_text t = {.comment = e->comment};
  for (size_t i = 0; i < e->functions.len; i++)
    vec_push(e->arena, &t.functions, e->functions.at[i]);
  for (size_t i = 0; i < e->launch.args.len; i++)
    vec_push(e->arena, &t.params, param_of(e, &e->launch.args.at[i]));
  for (size_t i = 0; i < e->scopes[0].lines.len; i++)
    vec_push(e->arena, &t.body, e->scopes[0].lines.at[i]);
  kernel_text_break_lines(e->arena, &t, e->name, e->constants.at, e->constants.len);
  return t;
}

struct launch *emit_end(struct emitter *e, unsigned num_warps, const struct expr *const grid[3],
                        const char *space) {
  struct program *p = e->p;
  sort_args(e);
  emit_find_reuses(e);
  struct graph_kernel *k = arena_new(e->arena, struct graph_kernel);
  k->id = (uint32_t)p->kernels.len;
  k->name = e->name;
  k->text = text_of(e);
  k->num_warps = num_warps;
  k->space = space;
  for (size_t i = 0; i < e->constants.len; i++)
    vec_push(e->arena, &k->constants, e->constants.at[i]);
  kernel_print(e->arena, k);
  vec_push(e->arena, &p->kernels, k);
  e->launch.kernel = k;
  for (unsigned i = 0; i < 3; i++) {
    e->launch.grid_rule[i] = grid[i] ? grid[i] : expr_const(e->x, 1);
    e->launch.grid[i] = grid_value(e->x, e->launch.grid_rule[i], k);
  }
  if (!e->launch.bytes)
    e->launch.bytes = e->region->bytes ? e->region->bytes : expr_const(e->x, 0);
  if (!e->launch.flops)
    e->launch.flops = e->region->flops ? e->region->flops : expr_const(e->x, 0);
  vec_push(e->arena, &p->launches, e->launch);
  return &vec_last(&p->launches);
}

// ---- kinds ----

bool emit_region(struct program *p, const struct region *r, const struct program_options *o) {
  switch (r->kind) {
  case REGION_MAP: return emit_without_kernel(p, r) || emit_maps(p, r, o);
  case REGION_SCATTER: return emit_maps(p, r, o);
  case REGION_ROWS: return emit_rows(p, r, o);
  case REGION_ROW_COLUMN: return emit_row_column(p, r, o);
  case REGION_SCAN: return emit_scans(p, r, o);
  case REGION_PRODUCT: return emit_product(p, r, o);
  case REGION_ATTENTION: return emit_attention(p, r, o);
  }
  UNREACHABLE();
}
