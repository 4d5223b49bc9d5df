// SPDX-License-Identifier: Apache-2.0
// The report: facts about the final IR (lowering/cost/performance.h), registers as reported by
// ptxas if it is there, and the resulting occupancy.
#include "tools/explain_perf.h"

#include "lowering/cost/occupancy.h"
#include "lowering/cost/performance.h"
#include "tools/layout_of_kernel.h"
#include "tools/ptxas.h"

#include <inttypes.h>

// Location and type of an operation; the IR is freed before the report is written.
struct where {
  const char *location, *type;
};

typedef VEC(struct where) where_list;

struct report {
  struct arena *arena;
  const struct source *source;
  const struct target *target;
  const struct kernel_info *info;
  uint32_t num_warps;
  struct performance p;
  where_list accesses, products, conversions, reductions, shared;
  struct where widest;
  unsigned elements; // per thread, of the widest tile
  bool has_ptxas;
  struct ptxas_report ptxas;
};

// ---- reading the IR ----

static const char *type_text(struct report *r, struct ir_context *c, MlirType t) {
  struct strbuf b = {.arena = c->arena};
  for (unsigned d = 0; type_is_tensor(t) && d < tensor_rank(t); d++)
    strbuf_printf(&b, "%lldx", (long long)tensor_dim(t, d));
  MlirType e = element_type(t);
  if (type_is_memdesc(c, t))
    return type_text(r, c, memdesc_tile(c, t));
  if (type_is_ptr(c, e))
    strbuf_printf(&b, "ptr<%s>", dtype_name(dtype_of_mlir(ptr_pointee(c, e))));
  else
    strbuf_puts(&b, dtype_name(dtype_of_mlir(e)));
  const char *text = arena_strdup(r->arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

static struct where where_of(struct report *r, struct ir_context *c, MlirOperation op,
                             MlirType type) {
  struct span at = location_in_source(c, r->source, mlirOperationGetLocation(op));
  struct line_col begin = at.source ? source_line_col(at.source, at.begin) : (struct line_col){0};
  return (struct where){at.source ? arena_printf(r->arena, "%u:%u", begin.line, begin.col) : "-",
                        type_text(r, c, type)};
}

static MlirType operand_type(MlirOperation op, intptr_t i) {
  return mlirValueGetType(mlirOperationGetOperand(op, i));
}

static MlirType type_of_use(MlirOperation op) {
  return mlirOperationGetNumOperands(op) ? operand_type(op, 0)
                                         : mlirValueGetType(mlirOperationGetResult(op, 0));
}

static void read_module(void *user, struct ir_context *c, MlirModule module) {
  struct report *r = user;
  r->p = performance_of(c, module, r->target, r->num_warps, r->arena);
  for (size_t i = 0; i < r->p.accesses.len; i++) {
    MlirOperation op = r->p.accesses.at[i].op;
    MlirType type = op_is(c, op, OP_TILE_LOAD) ? mlirValueGetType(mlirOperationGetResult(op, 0))
                                               : operand_type(op, 1);
    vec_push(r->arena, &r->accesses, where_of(r, c, op, type));
  }
  for (size_t i = 0; i < r->p.products.len; i++) {
    MlirOperation op = r->p.products.at[i].op;
    vec_push(r->arena, &r->products, where_of(r, c, op, operand_type(op, 2)));
  }
  for (size_t i = 0; i < r->p.conversions.len; i++) {
    MlirOperation op = r->p.conversions.at[i].op;
    vec_push(r->arena, &r->conversions, where_of(r, c, op, type_of_use(op)));
  }
  for (size_t i = 0; i < r->p.reductions.len; i++) {
    MlirOperation op = r->p.reductions.at[i].op;
    vec_push(r->arena, &r->reductions, where_of(r, c, op, type_of_use(op)));
  }
  for (size_t i = 0; i < r->p.shared.len; i++) {
    MlirOperation op = r->p.shared.at[i].op;
    vec_push(r->arena, &r->shared, where_of(r, c, op, type_of_use(op)));
  }
  struct widest_tile w = resource_widest_tile(c, mlirModuleGetOperation(module));
  r->elements = w.elements;
  if (w.elements)
    r->widest = where_of(r, c, w.op, w.type);
}

// ---- as text ----

static const char *plural(unsigned n) { return n == 1 ? "" : "s"; }

static void print_access(const struct report *r, size_t i, struct strbuf *out) {
  const struct memory_access *m = &r->p.accesses.at[i];
  strbuf_printf(out, "  %-7s %-7s %-12s %-14s", r->accesses.at[i].location, m->what,
                m->parameter ? m->parameter : "-", r->accesses.at[i].type);
  strbuf_printf(out, " %2u wide, %u of %u sectors\n", m->width, m->sectors, m->least_sectors);
  if (m->why)
    strbuf_printf(out, "          not %u wide: %s\n", m->wanted, m->why);
  if (m->cut)
    strbuf_puts(out, "          element by element where the mask cuts a vector\n");
}

static void print_accesses(const struct report *r, struct strbuf *out) {
  if (r->p.accesses.len == 0)
    return;
  strbuf_puts(out,
              "\nmemory (elements an instruction, sectors of 32 bytes it touches, and at least)\n");
  for (size_t i = 0; i < r->p.accesses.len; i++)
    print_access(r, i, out);
  strbuf_printf(out, "  a program reads %" PRIu64 " bytes and writes %" PRIu64 "%s\n",
                r->p.bytes_read, r->p.bytes_written,
                r->p.in_loop ? ", with one trip of each loop whose trips are not known" : "");
}

static void print_products(const struct report *r, struct strbuf *out) {
  if (r->p.products.len == 0)
    return;
  strbuf_puts(out, "\nmatrix products\n");
  for (size_t i = 0; i < r->p.products.len; i++) {
    const struct product_cost *d = &r->p.products.at[i];
    strbuf_printf(out, "  %-7s %-14s ", r->products.at[i].location, r->products.at[i].type);
    if (d->instruction)
      strbuf_printf(out, "%" PRIu64 " x %s a warp\n", d->count, d->instruction);
    else
      strbuf_printf(out, "%" PRIu64 " multiplications a thread, no tensor cores\n", d->count);
  }
}

static void print_conversions(const struct report *r, struct strbuf *out) {
  if (r->p.conversions.len == 0)
    return;
  strbuf_puts(out, "\nlayout conversions\n");
  for (size_t i = 0; i < r->p.conversions.len; i++) {
    const struct layout_conversion *v = &r->p.conversions.at[i];
    strbuf_printf(out, "  %-7s %-14s by %s", r->conversions.at[i].location,
                  r->conversions.at[i].type, v->kind);
    if (v->bytes)
      strbuf_printf(out, ", %u bytes, %u wavefronts of at least %u", v->bytes, v->wavefronts,
                    v->least_wavefronts);
    strbuf_putc(out, '\n');
  }
}

static void print_reductions(const struct report *r, struct strbuf *out) {
  if (r->p.reductions.len == 0)
    return;
  strbuf_puts(out, "\nreductions\n");
  for (size_t i = 0; i < r->p.reductions.len; i++) {
    const struct reduction_cost *c = &r->p.reductions.at[i];
    strbuf_printf(out, "  %-7s %-14s axis %u: %u step%s in the thread, %u across lanes",
                  r->reductions.at[i].location, r->reductions.at[i].type, c->axis, c->in_thread,
                  plural(c->in_thread), c->across_lanes);
    if (c->across_warps)
      strbuf_printf(out, ", across warps through %u bytes and one barrier, %u more", c->bytes,
                    c->last);
    strbuf_putc(out, '\n');
  }
}

static void print_shared(const struct report *r, struct strbuf *out) {
  strbuf_printf(out, "\nshared memory: %u of %u bytes, %u barrier%s\n", r->p.shared_bytes,
                r->target->shared_limit, r->p.barriers, plural(r->p.barriers));
  for (size_t i = 0; i < r->p.shared.len; i++) {
    const struct shared_use *u = &r->p.shared.at[i];
    strbuf_printf(out, "  %-7s %-14s %u bytes from %u on for ", r->shared.at[i].location,
                  r->shared.at[i].type, u->bytes, u->offset);
    if (u->copies > 1)
      strbuf_printf(out, "a ring of %u buffers\n", u->copies);
    else
      strbuf_printf(out, "%s\n", u->purpose);
  }
  if (r->p.spill_bytes)
    strbuf_printf(out, "  %u bytes for registers spilled to shared memory\n", r->p.spill_bytes);
}

static unsigned registers_of(const struct report *r) {
  return r->has_ptxas && r->ptxas.registers > 0 ? (unsigned)r->ptxas.registers : 0;
}

// Of a CTA, with those that only copy.
static uint32_t warps_of(const struct report *r) { return kernel_info_threads(r->info) / 32; }

static void print_registers(const struct report *r, struct strbuf *out) {
  strbuf_puts(out, "\nregisters\n");
  if (r->elements)
    strbuf_printf(out, "  %-7s %-14s is the widest tile: %u element%s a thread\n",
                  r->widest.location, r->widest.type, r->elements, plural(r->elements));
  if (!r->has_ptxas)
    strbuf_puts(out, "  ptxas was not found, which knows the rest\n");
  else
    strbuf_printf(out, "  %d registers a thread, %d bytes spilled, %d loaded again\n",
                  r->ptxas.registers, r->ptxas.spill_stores, r->ptxas.spill_loads);
  const char *limit;
  unsigned n =
      resource_programs_per_sm(r->target, warps_of(r), registers_of(r), r->p.shared_bytes, &limit);
  strbuf_printf(out,
                "\noccupancy: %u program%s of %u warp%s a multiprocessor (%u of %u warps), "
                "limited by %s\n",
                n, plural(n), warps_of(r), plural(warps_of(r)), n * warps_of(r),
                resource_warps_per_sm(r->target), limit);
}

static void print_text(const struct report *r, struct strbuf *out) {
  strbuf_printf(out, "%s: `%s` for %s, %u warp%s\n", r->source->name, r->info->name,
                r->target->name, r->num_warps, plural(r->num_warps));
  print_accesses(r, out);
  print_products(r, out);
  print_conversions(r, out);
  print_reductions(r, out);
  print_shared(r, out);
  print_registers(r, out);
}

// ---- as JSON ----

static void begin_row(struct json_writer *w, const struct where *at) {
  json_begin_object(w);
  json_key(w, "location"), json_cstring(w, at->location);
  json_key(w, "type"), json_cstring(w, at->type);
}

static void number(struct json_writer *w, const char *name, uint64_t n) {
  json_key(w, name), json_int(w, (int64_t)n);
}

static void text(struct json_writer *w, const char *name, const char *value) {
  json_key(w, name);
  if (value)
    json_cstring(w, value);
  else
    json_null(w);
}

static void write_accesses(const struct report *r, struct json_writer *w) {
  json_key(w, "accesses"), json_begin_array(w);
  for (size_t i = 0; i < r->p.accesses.len; i++) {
    const struct memory_access *m = &r->p.accesses.at[i];
    begin_row(w, &r->accesses.at[i]);
    text(w, "what", m->what);
    text(w, "parameter", m->parameter);
    number(w, "width", m->width), number(w, "wanted", m->wanted);
    text(w, "why", m->why);
    json_key(w, "cut"), json_bool(w, m->cut);
    number(w, "sectors", m->sectors), number(w, "least_sectors", m->least_sectors);
    number(w, "bytes", m->bytes);
    json_end_object(w);
  }
  json_end_array(w);
}

static void write_products(const struct report *r, struct json_writer *w) {
  json_key(w, "products"), json_begin_array(w);
  for (size_t i = 0; i < r->p.products.len; i++) {
    const struct product_cost *d = &r->p.products.at[i];
    begin_row(w, &r->products.at[i]);
    text(w, "instruction", d->instruction);
    number(w, "count", d->count);
    json_end_object(w);
  }
  json_end_array(w);
}

static void write_exchanges(const struct report *r, struct json_writer *w) {
  json_key(w, "conversions"), json_begin_array(w);
  for (size_t i = 0; i < r->p.conversions.len; i++) {
    const struct layout_conversion *v = &r->p.conversions.at[i];
    begin_row(w, &r->conversions.at[i]);
    text(w, "kind", v->kind);
    number(w, "bytes", v->bytes), number(w, "wavefronts", v->wavefronts);
    number(w, "least_wavefronts", v->least_wavefronts);
    json_end_object(w);
  }
  json_end_array(w);
  json_key(w, "reductions"), json_begin_array(w);
  for (size_t i = 0; i < r->p.reductions.len; i++) {
    const struct reduction_cost *c = &r->p.reductions.at[i];
    begin_row(w, &r->reductions.at[i]);
    number(w, "axis", c->axis), number(w, "in_thread", c->in_thread);
    number(w, "across_lanes", c->across_lanes);
    json_key(w, "across_warps"), json_bool(w, c->across_warps);
    number(w, "last", c->last), number(w, "bytes", c->bytes);
    json_end_object(w);
  }
  json_end_array(w);
}

static void write_resources(const struct report *r, struct json_writer *w) {
  const char *limit;
  unsigned n =
      resource_programs_per_sm(r->target, warps_of(r), registers_of(r), r->p.shared_bytes, &limit);
  json_key(w, "shared"), json_begin_object(w);
  number(w, "bytes", r->p.shared_bytes), number(w, "limit", r->target->shared_limit);
  number(w, "spilled_to_shared", r->p.spill_bytes), number(w, "barriers", r->p.barriers);
  json_key(w, "uses"), json_begin_array(w);
  for (size_t i = 0; i < r->p.shared.len; i++) {
    const struct shared_use *u = &r->p.shared.at[i];
    begin_row(w, &r->shared.at[i]);
    text(w, "purpose", u->purpose);
    number(w, "offset", u->offset), number(w, "bytes", u->bytes), number(w, "copies", u->copies);
    json_end_object(w);
  }
  json_end_array(w), json_end_object(w);
  number(w, "elements_a_thread", r->elements);
  json_key(w, "ptxas");
  if (r->has_ptxas) {
    json_begin_object(w);
    json_key(w, "registers"), json_int(w, r->ptxas.registers);
    json_key(w, "spill_stores"), json_int(w, r->ptxas.spill_stores);
    json_key(w, "spill_loads"), json_int(w, r->ptxas.spill_loads);
    json_end_object(w);
  } else {
    json_null(w);
  }
  json_key(w, "occupancy"), json_begin_object(w);
  number(w, "programs", n), number(w, "warps", n * warps_of(r));
  number(w, "most_warps", resource_warps_per_sm(r->target));
  text(w, "limited_by", limit);
  json_end_object(w);
  number(w, "bytes_read", r->p.bytes_read), number(w, "bytes_written", r->p.bytes_written);
}

static void write_json(const struct report *r, struct strbuf *out) {
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  text(&w, "file", r->source->name);
  text(&w, "kernel", r->info->name);
  text(&w, "target", r->target->name);
  number(&w, "num_warps", r->num_warps);
  write_accesses(r, &w);
  write_products(r, &w);
  write_exchanges(r, &w);
  write_resources(r, &w);
  json_end_object(&w);
  strbuf_putc(out, '\n');
}

// ---- the whole ----

int explain_perf(struct tool *t, struct compile_request *request) {
  bool mlir = str_ends(str_from(request->source->name), ".mlir"), wrong = false;
  if (request->target->is_cpu)
    request->target = target_find(STR("sm_80"));
  struct report r = {.arena = t->arena,
                     .source = request->source,
                     .target = request->target,
                     .num_warps = request->num_warps ? request->num_warps : 4};
  request->emit = EMIT_PTX;
  request->inspect = read_module;
  request->inspect_user = &r;
  struct compile_result result = {0};
  if (!(mlir ? compile_mlir : compile_kernel)(t->arena, t->diag, request, &result))
    return tool_error_status(t);
  r.info = &result.info;
  const char *ptxas = ptxas_find(t, &wrong);
  struct str cubin;
  if (wrong)
    return EXIT_USAGE;
  if (ptxas && !ptxas_run(t, ptxas, request->target, request->source, result.output,
                          result.info.name, &cubin, &r.ptxas))
    return tool_error_status(t);
  r.has_ptxas = ptxas != NULL;
  struct strbuf out = {.arena = t->arena};
  if (t->o.json)
    write_json(&r, &out);
  else
    print_text(&r, &out);
  int status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}
