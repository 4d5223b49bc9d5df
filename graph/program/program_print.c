// SPDX-License-Identifier: Apache-2.0
// Prints a program: the plan, a line per launch with a lower bound of its time, and the sources.
#include "base/json.h"
#include "graph/program/program.h"

#include <inttypes.h>

// Peaks for the lower bound, by target: bytes per second of a device copy, operations per second of
// dense half-precision products, measured on GPUs of that kind (docs/performance.md). 0: unknown.
struct peak {
  const char *target;
  double bytes, flops;
};
static const struct peak peaks[] = {{"sm_90a", 4.3e12, 790e12}, {"sm_80", 1.7e12, 280e12}};

static const struct peak *peak_of(const char *target) {
  for (size_t i = 0; target && i < COUNT_OF(peaks); i++)
    if (str_is(str_from(target), peaks[i].target))
      return &peaks[i];
  return NULL;
}

static void print_count(double n, const char *unit, struct strbuf *out) {
  static const char *const prefix[] = {"", "k", "M", "G", "T"};
  size_t i = 0;
  for (; n >= 1000 && i + 1 < COUNT_OF(prefix); i++)
    n /= 1000;
  strbuf_printf(out, i ? "%.3g %s%s" : "%.0f %s%s", n, prefix[i], unit);
}

static double number(const struct expr *e) { return e ? (double)expr_hint(e) : 0; }

static double bound_ms(const struct launch *l, const struct peak *peak) {
  double memory = number(l->bytes) / peak->bytes, compute = number(l->flops) / peak->flops;
  return 1e3 * (memory > compute ? memory : compute);
}

double launch_bound_ms(const struct launch *l, const char *target) {
  const struct peak *peak = peak_of(target);
  return peak ? bound_ms(l, peak) : 0;
}

static void print_args(const struct launch *l, struct strbuf *out) {
  for (size_t i = 0; i < l->args.len; i++) {
    const struct launch_arg *a = &l->args.at[i];
    strbuf_printf(out, "%s%s", i ? ", " : "", a->is_written ? "-> " : "");
    if (a->kind == LAUNCH_BUFFER)
      strbuf_puts(out, a->buffer->name);
    else if (a->kind == LAUNCH_SIZE)
      expr_print(a->size, out);
    else
      strbuf_printf(out, "seed %" PRIu32, a->which);
  }
}

static void print_launch(const struct launch *l, size_t index, const struct peak *peak,
                         struct strbuf *out) {
  strbuf_printf(out, "%4zu  %s[", index, l->kernel ? l->kernel->name : l->call->node->name);
  for (int d = 0; d < 3; d++) {
    if (!l->grid[d] || (d > 0 && expr_is(l->grid[d], 1)))
      continue;
    strbuf_puts(out, d ? ", " : "");
    expr_print(l->grid[d], out);
  }
  strbuf_puts(out, "](");
  print_args(l, out);
  strbuf_puts(out, ")  ");
  if (l->clears)
    strbuf_printf(out, "%s cleared before, ", l->clears->name);
  print_count(number(l->bytes), "B", out);
  if (number(l->flops) > 0) {
    strbuf_puts(out, ", ");
    print_count(number(l->flops), "FLOP", out);
  }
  if (peak) {
    strbuf_puts(out, ", lower bound ");
    strbuf_time(out, bound_ms(l, peak));
  }
  strbuf_putc(out, '\n');
}

static void print_placements(const struct program *p, struct strbuf *out) {
  for (size_t i = 0; i < p->placements.len; i++) {
    const struct placement *at = &p->placements.at[i];
    strbuf_printf(out, "      %s at ", at->buffer->name);
    expr_print(at->offset, out);
    strbuf_puts(out, ", ");
    expr_print(at->size, out);
    strbuf_puts(out, " bytes\n");
  }
}

void program_print_plan(const struct program *p, const char *target, struct strbuf *out) {
  const struct peak *peak = peak_of(target);
  double bound = 0;
  strbuf_printf(out, "%s: %zu kernels, %zu launches", p->graph->name, program_kernel_count(p),
                p->launches.len);
  if (p->copies.len)
    strbuf_printf(out, ", %zu copies", p->copies.len);
  strbuf_putc(out, '\n');
  for (size_t i = 0; i < p->launches.len; i++) {
    const struct launch *l = &p->launches.at[i];
    print_launch(l, i, peak, out);
    bound += peak ? bound_ms(l, peak) : 0;
  }
  for (size_t i = 0; i < p->copies.len; i++) {
    const struct program_copy *c = &p->copies.at[i];
    strbuf_printf(out, "      copy of %s to %s  ", c->from->name, c->to->name);
    print_count(number(c->bytes), "B", out);
    strbuf_putc(out, '\n');
  }
  strbuf_puts(out, "memory: ");
  expr_print(p->arena_bytes, out);
  strbuf_puts(out, " bytes of temporaries; operator by operator ");
  expr_print(p->eager_bytes, out);
  strbuf_puts(out, " bytes\n");
  print_placements(p, out);
  for (size_t i = 0; i < p->launches.len; i++)
    for (size_t k = 0; k < COUNT_OF(p->launches.at[i].bodies); k++)
      if (p->launches.at[i].bodies[k]) {
        strbuf_printf(out, "\nin launch %zu, ", i);
        program_print_plan(p->launches.at[i].bodies[k], target, out);
      }
  if (peak) {
    strbuf_puts(out, "lower bound of all: ");
    strbuf_time(out, bound);
    strbuf_putc(out, '\n');
  }
}

// ---- as JSON ----

// A number, or for symbolic sizes its formula as a string.
static void write_expr(const struct expr *e, struct json_writer *w) {
  struct strbuf text = {.arena = w->out->arena};
  if (e && e->kind == EXPR_CONST)
    json_int(w, expr_hint(e));
  else if (e)
    expr_print(e, &text), json_cstring(w, strbuf_cstr(&text));
  else
    json_null(w);
  strbuf_finish(&text);
}

static void write_launch(const struct launch *l, const struct peak *peak, struct json_writer *w) {
  json_begin_object(w);
  json_key(w, "kernel"), json_cstring(w, l->kernel ? l->kernel->name : l->call->node->name);
  json_key(w, "grid"), json_begin_array(w);
  for (int d = 0; d < 3; d++)
    if (l->grid[d])
      write_expr(l->grid[d], w);
  json_end_array(w);
  json_key(w, "arguments"), json_begin_array(w);
  for (size_t i = 0; i < l->args.len; i++) {
    const struct launch_arg *a = &l->args.at[i];
    json_begin_object(w);
    json_key(w, "kind");
    json_cstring(w, a->kind == LAUNCH_BUFFER ? "buffer" : a->kind == LAUNCH_SIZE ? "size" : "seed");
    if (a->kind == LAUNCH_BUFFER)
      json_key(w, "name"), json_cstring(w, a->buffer->name);
    else if (a->kind == LAUNCH_SIZE)
      json_key(w, "value"), write_expr(a->size, w);
    json_key(w, "written"), json_bool(w, a->is_written);
    json_end_object(w);
  }
  json_end_array(w);
  json_key(w, "bytes"), write_expr(l->bytes, w);
  json_key(w, "flops"), write_expr(l->flops, w);
  if (peak)
    json_key(w, "lower_bound_ms"), json_double(w, bound_ms(l, peak));
  json_end_object(w);
}

void program_write_plan(const struct program *p, const char *target, struct json_writer *w) {
  const struct peak *peak = peak_of(target);
  json_begin_object(w);
  json_key(w, "name"), json_cstring(w, p->graph->name);
  json_key(w, "kernels"), json_int(w, (int64_t)program_kernel_count(p));
  json_key(w, "launches"), json_begin_array(w);
  for (size_t i = 0; i < p->launches.len; i++)
    write_launch(&p->launches.at[i], peak, w);
  json_end_array(w);
  json_key(w, "copies"), json_begin_array(w);
  for (size_t i = 0; i < p->copies.len; i++) {
    const struct program_copy *c = &p->copies.at[i];
    json_begin_object(w);
    json_key(w, "from"), json_cstring(w, c->from->name);
    json_key(w, "to"), json_cstring(w, c->to->name);
    json_key(w, "bytes"), write_expr(c->bytes, w);
    json_end_object(w);
  }
  json_end_array(w);
  json_key(w, "temporary_bytes"), write_expr(p->arena_bytes, w);
  json_key(w, "eager_bytes"), write_expr(p->eager_bytes, w);
  json_key(w, "bodies"), json_begin_array(w); // of launches that run subgraphs
  for (size_t i = 0; i < p->launches.len; i++)
    for (size_t k = 0; k < COUNT_OF(p->launches.at[i].bodies); k++)
      if (p->launches.at[i].bodies[k])
        program_write_plan(p->launches.at[i].bodies[k], target, w);
  json_end_array(w);
  json_end_object(w);
}

static void print_sources(const struct program *p, size_t *count, struct strbuf *out) {
  for (size_t i = 0; i < p->kernels.len; i++)
    strbuf_printf(out, "%s%s", (*count)++ ? "\n\n" : "", p->kernels.at[i]->source);
  for (size_t i = 0; i < p->launches.len; i++)
    for (size_t k = 0; k < COUNT_OF(p->launches.at[i].bodies); k++)
      if (p->launches.at[i].bodies[k])
        print_sources(p->launches.at[i].bodies[k], count, out);
}

// Kernels would repeat their imports: sources with equal beginnings share them.
void program_print_tile(const struct program *p, struct strbuf *out) {
  size_t count = 0;
  print_sources(p, &count, out);
}
