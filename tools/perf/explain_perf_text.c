// SPDX-License-Identifier: Apache-2.0
// The report of --explain-perf as text.
#include "tools/perf/explain_perf_report.h"

#include <inttypes.h>
#include <limits.h>

static const char *plural(unsigned n) { return n == 1 ? "" : "s"; }

static void print_access(const struct perf_report *r, size_t i, struct strbuf *out) {
  const struct memory_access *m = &r->p.accesses.at[i];
  strbuf_printf(out, "  %-7s %-7s %-12s %-14s", r->accesses.at[i].location, m->what,
                m->parameter ? m->parameter : "-", r->accesses.at[i].type);
  if (m->is_tma) {
    strbuf_puts(out, " by TMA\n");
    return;
  }
  strbuf_printf(out, " %2u wide, %u of %u sectors\n", m->width, m->sectors, m->least_sectors);
  if (m->why)
    strbuf_printf(out, "          not %u wide: %s\n", m->wanted, m->why);
  if (m->cut)
    strbuf_puts(out, "          element by element where the mask cuts a vector\n");
}

static void print_accesses(const struct perf_report *r, struct strbuf *out) {
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

// The buffer that an operand comes through; NULL: registers.
static const struct shared_use *buffer_of(const struct perf_report *r, const struct feed *f) {
  for (size_t i = 0; i < r->p.shared.len; i++)
    if (!mlirOperationIsNull(f->buffer) && r->p.shared.at[i].op.ptr == f->buffer.ptr)
      return &r->p.shared.at[i];
  return NULL;
}

static void print_feed(const struct perf_report *r, const struct feed *f, char operand,
                       struct strbuf *out) {
  static const char *const how[] = {[FEED_COMPUTED] = "is computed",
                                    [FEED_LOADS] = "is loaded to registers",
                                    [FEED_CP_ASYNC] = "comes by cp.async of all warps",
                                    [FEED_TMA] = "comes by TMA, from the producer warps"};
  const struct shared_use *buffer = buffer_of(r, f);
  strbuf_printf(out, "          operand %c", operand);
  if (f->parameter)
    strbuf_printf(out, ", `%s`,", f->parameter);
  strbuf_printf(out, " %s", how[f->engine]);
  if (buffer && buffer->copies > 1)
    strbuf_printf(out, ", through a ring of %u buffers of %u bytes\n", buffer->copies,
                  buffer->bytes / buffer->copies);
  else
    strbuf_puts(out, buffer ? ", through a buffer\n" : "\n");
}

static void print_products(const struct perf_report *r, struct strbuf *out) {
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
    print_feed(r, &r->p.feeds.at[i].operands[0], 'A', out);
    print_feed(r, &r->p.feeds.at[i].operands[1], 'B', out);
  }
}

static void print_conversions(const struct perf_report *r, struct strbuf *out) {
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

static void print_reductions(const struct perf_report *r, struct strbuf *out) {
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

static void print_use(const struct shared_use *u, struct strbuf *out) {
  if (u->use == BUFFER_BARRIERS)
    strbuf_puts(out, "the mbarriers of a ring");
  else if (u->use == BUFFER_STAGING)
    strbuf_puts(out, "a tile that TMA stores");
  else if (u->copies > 1)
    strbuf_printf(out, "a ring of %u buffers", u->copies);
  else
    strbuf_puts(out, u->purpose);
  if (u->name)
    strbuf_printf(out, ": `%s`", u->name);
  strbuf_putc(out, '\n');
}

static void print_shared(const struct perf_report *r, struct strbuf *out) {
  strbuf_printf(out, "\nshared memory: %u of %u bytes, %u barrier%s\n", r->p.shared_bytes,
                r->target->shared_limit, r->p.barriers, plural(r->p.barriers));
  for (size_t i = 0; i < r->p.shared.len; i++) {
    const struct shared_use *u = &r->p.shared.at[i];
    strbuf_printf(out, "  %-7s %-14s %u bytes from %u on for ", r->shared.at[i].location,
                  r->shared.at[i].type, u->bytes, u->offset);
    print_use(u, out);
  }
  if (r->p.spill_bytes)
    strbuf_printf(out, "  %u bytes for registers spilled to shared memory\n", r->p.spill_bytes);
}

// Who loads and who computes, and the loop over tiles.
static void print_warps(const struct perf_report *r, struct strbuf *out) {
  const struct warp_registers *w = &r->p.registers;
  strbuf_puts(out, "\nwarps\n");
  if (!r->p.producer_warps)
    strbuf_printf(out, "  %u warp%s load and compute\n", r->num_warps, plural(r->num_warps));
  else
    strbuf_printf(out, "  %u warps compute, %u more only issue copies (the producer)\n",
                  r->num_warps, r->p.producer_warps);
  if (w->computing)
    strbuf_printf(
        out,
        "  registers a thread (setmaxnreg): %u of warps that compute, %u of the producer, "
        "%u of all at first\n",
        w->computing, w->producer, w->entry);
  if (r->persistent.location)
    strbuf_printf(out, "  %-7s a program computes several tiles (a persistent kernel)\n",
                  r->persistent.location);
  else
    strbuf_puts(out, "  no loop over tiles: the kernel is not persistent\n");
  if (r->p.cluster > 1)
    strbuf_printf(out, "  clusters: %u programs, which load common blocks once\n", r->p.cluster);
  else
    strbuf_puts(out, "  clusters: none\n");
}

static void print_limits(const struct program_limits *l, struct strbuf *out) {
  strbuf_printf(out, "  programs that each allows: warps %u, programs %u, shared memory %u",
                l->warps, l->programs, l->shared);
  if (l->registers != UINT_MAX)
    strbuf_printf(out, ", registers %u", l->registers);
  strbuf_putc(out, '\n');
}

static void print_occupancy(const struct perf_report *r, struct strbuf *out) {
  const char *limit;
  uint32_t warps = perf_report_warps(r), registers = perf_report_registers(r);
  unsigned n = resource_programs_per_sm(r->target, warps, registers, r->p.shared_bytes, &limit);
  strbuf_printf(out,
                "\noccupancy: %u program%s of %u warp%s a multiprocessor (%u of %u warps), "
                "limited by %s\n",
                n, plural(n), warps, plural(warps), n * warps, resource_warps_per_sm(r->target),
                limit);
  struct program_limits l = resource_program_limits(r->target, warps, registers, r->p.shared_bytes);
  print_limits(&l, out);
}

static void print_registers(const struct perf_report *r, struct strbuf *out) {
  strbuf_puts(out, "\nregisters\n");
  if (r->elements)
    strbuf_printf(out, "  %-7s %-14s is the widest tile: %u element%s a thread\n",
                  r->widest.location, r->widest.type, r->elements, plural(r->elements));
  if (!r->has_ptxas)
    strbuf_puts(out, "  ptxas was not found, which knows the rest\n");
  else
    strbuf_printf(out, "  %d registers a thread, %d bytes spilled, %d loaded again\n",
                  r->ptxas.registers, r->ptxas.spill_stores, r->ptxas.spill_loads);
}

// The line after the edit, with `+` below what is new.
static void print_line(const struct perf_line *l, struct strbuf *out) {
  strbuf_printf(out, "    %4u | %.*s\n         | ", l->number, STR_ARG(l->text));
  size_t at = 0;
  for (size_t i = 0; i < l->added.len; i++) {
    struct span s = l->added.at[i];
    for (; at < s.end; at++)
      if (at >= s.begin)
        strbuf_putc(out, '+');
      else if (((unsigned char)l->text.ptr[at] & 0xc0) != 0x80) // one mark a character
        strbuf_putc(out, l->text.ptr[at] == '\t' ? '\t' : ' ');
  }
  strbuf_putc(out, '\n');
}

static void print_advice(const struct perf_report *r, struct strbuf *out) {
  const struct perf_advice_list *l = &r->advice;
  if (l->at.len == 0 && l->useless == 0)
    return;
  strbuf_puts(out, "\nedits that widen accesses\n  predicted for ");
  strbuf_printf(out, "%u programs, loops of unknown length of 8 iterations: ", l->programs);
  strbuf_time(out, l->ms);
  strbuf_printf(out, " as it is, limited by %s\n", l->limiter);
  for (size_t i = 0; i < l->at.len; i++) {
    const struct perf_advice *a = &l->at.at[i];
    strbuf_printf(out, "  %s\n", a->what);
    for (size_t k = 0; k < a->lines.len; k++)
      print_line(&a->lines.at[k], out);
    if (a->option)
      strbuf_printf(out, "         `%s`\n", a->option);
    strbuf_puts(out, "         predicted: ");
    strbuf_time(out, a->ms);
    strbuf_printf(out, ", %.2f times as fast", l->ms / a->ms);
    strbuf_printf(out, "%s%s\n", a->launches ? "; " : "", a->launches ? a->launches : "");
  }
  if (l->at.len == 0)
    strbuf_puts(out, "  none is predicted to be faster\n");
  if (l->all_ms > 0) {
    strbuf_puts(out, "  all of these together: ");
    strbuf_time(out, l->all_ms);
    strbuf_printf(out, ", %.2f times as fast\n", l->ms / l->all_ms);
  }
}

void perf_report_text(const struct perf_report *r, struct strbuf *out) {
  strbuf_printf(out, "%s: `%s` for %s, %u warp%s\n", r->source->name, r->info->name,
                r->target->name, r->num_warps, plural(r->num_warps));
  print_accesses(r, out);
  print_products(r, out);
  print_conversions(r, out);
  print_reductions(r, out);
  print_shared(r, out);
  print_warps(r, out);
  print_registers(r, out);
  print_occupancy(r, out);
  print_advice(r, out);
}
