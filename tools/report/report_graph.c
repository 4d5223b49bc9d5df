// SPDX-License-Identifier: Apache-2.0
// The report on a graph: its kernels with bytes and lower bounds, memory over time, operators
// before and after fusion, sources.
#include "base/xml.h"
#include "graph/graph_compile.h"
#include "graph/ir/subgraph.h"
#include "graph/passes/passes.h"
#include "tools/graph/explain_fusion.h"
#include "tools/graph/graph_gradient.h"
#include "tools/graph/graph_run.h"
#include "tools/graph/memory_svg.h"
#include "tools/perf/picture.h"
#include "tools/report/page.h"

enum { FEW_KERNELS = 12 }; // whose picture is open at first
enum { LEFT = 76, RIGHT = 16, WIDTH = 960, TOP = 30, HEIGHT = 300, BOTTOM = 30 };

static double number(const struct expr *e) { return e ? (double)expr_likely(e) : 0; }

// ---- bytes ----

static double launched_bytes(const struct program *q) {
  double bytes = 0;
  for (size_t i = 0; i < q->launches.len; i++)
    bytes += number(q->launches.at[i].bytes);
  return bytes;
}

static double region_bytes(const struct regions *r) {
  double bytes = 0;
  for (size_t i = 0; r && i < r->list.len; i++)
    bytes += number(r->list.at[i]->bytes);
  return bytes;
}

static double buffer_size(const struct buffer *b) {
  return number(b->numel) * dtype_bits(b->dtype) / 8;
}

static bool is_used(const struct program *q, const struct buffer *b) {
  for (size_t i = 0; i < q->launches.len; i++)
    for (size_t k = 0; k < q->launches.at[i].args.len; k++)
      if (q->launches.at[i].args.at[k].buffer == b)
        return true;
  return false;
}

// What any program must move: inputs that kernels use and outputs, once.
static double floor_bytes(const struct program *q) {
  double bytes = 0;
  for (size_t i = 0; i < q->buffer_count; i++) {
    const struct buffer *b = q->buffers[i];
    if ((b->role == BUFFER_INPUT || b->role == BUFFER_OUTPUT) && is_used(q, b))
      bytes += buffer_size(b);
  }
  return bytes;
}

// ---- kernels ----

static const char *name_of(const struct launch *l) {
  return l->kernel ? l->kernel->name : l->call->node->name;
}

static const char *time_text(struct arena *a, double ms) {
  struct strbuf text = {.arena = a};
  strbuf_time(&text, ms);
  const char *kept = arena_strdup(a, strbuf_cstr(&text));
  strbuf_finish(&text);
  return kept;
}

static void show_launch(const struct launch *l, size_t i, double most, const char *target,
                        struct page *p) {
  double bytes = number(l->bytes), flops = number(l->flops);
  strbuf_printf(&p->out, "<tr><td class=\"number\">%zu</td><td><code>", i);
  xml_text(&p->out, str_from(name_of(l)));
  strbuf_printf(&p->out, "</code></td><td>%s</td><td class=\"number\">%s</td>",
                l->region ? region_kind_name(l->region->kind) : "call",
                memory_size(p->arena, bytes));
  strbuf_printf(&p->out, "<td><span class=\"share\" style=\"width:%.2frem\"></span></td>",
                most > 0 ? 8 * bytes / most : 0);
  strbuf_printf(&p->out, "<td class=\"number\">%.3g</td>", flops);
  double least = launch_bound_ms(l, target);
  strbuf_printf(&p->out, "<td class=\"number\">%s</td></tr>\n",
                least > 0 ? time_text(p->arena, least) : "-");
}

static void show_launches(const struct program *q, const char *target, struct page *p) {
  double most = 0;
  for (size_t i = 0; i < q->launches.len; i++) {
    double bytes = number(q->launches.at[i].bytes);
    most = bytes > most ? bytes : most;
  }
  page_section(p, "kernels", "Kernels");
  page_paragraph(p,
                 "Launches in order. Bytes are the least that a launch moves, operations those "
                 "of products and maps, both for likely sizes; the time is what they take at the "
                 "target's peaks.");
  strbuf_puts(
      &p->out,
      "<div class=\"scroll\" tabindex=\"0\"><table class=\"values\"><tr><th class=\"number\">launch"
      "</th><th>kernel</th><th>kind</th><th class=\"number\">bytes</th><th></th>"
      "<th class=\"number\">operations</th><th class=\"number\">time at least</th>"
      "</tr>\n");
  for (size_t i = 0; i < q->launches.len; i++)
    show_launch(&q->launches.at[i], i, most, target, p);
  strbuf_puts(&p->out, "</table></div>\n");
}

static void show_plan(struct tool *t, const struct program *q, struct page *p) {
  struct strbuf text = {.arena = t->arena};
  program_print_plan(q, tool_target(t)->name, &text);
  page_fold(p, "The plan: grids, arguments, lower bounds of times", false);
  page_text(p, (struct str){strbuf_cstr(&text), text.len});
  page_fold_end(p);
  strbuf_clear(&text);
  program_print_tile(q, &text);
  page_fold(p, "Sources of the kernels", false);
  page_text(p, (struct str){strbuf_cstr(&text), text.len});
  page_fold_end(p);
  strbuf_finish(&text);
}

// ---- memory ----

// From the first launch that has it as an argument to the last. False: none has.
static bool life_of(const struct program *q, const struct buffer *b, size_t *ret_first,
                    size_t *ret_last) {
  bool found = false;
  for (size_t i = 0; i < q->launches.len; i++) {
    const struct launch *l = &q->launches.at[i];
    bool has = l->clears == b;
    for (size_t k = 0; k < l->args.len; k++)
      has |= l->args.at[k].buffer && l->args.at[k].buffer->home == b->home;
    if (!has)
      continue;
    *ret_first = found ? *ret_first : i;
    *ret_last = i;
    found = true;
  }
  return found;
}

static size_t list_blocks(const struct program *q, struct page *p, struct memory_block *ret) {
  size_t count = 0;
  for (size_t i = 0; i < q->placements.len; i++) {
    const struct placement *at = &q->placements.at[i];
    size_t first = 0, last = 0;
    if (!life_of(q, at->buffer, &first, &last))
      continue;
    double offset = number(at->offset), bytes = number(at->size);
    const char *what = arena_printf(p->arena, "%s: %.0f bytes at %.0f, launches %zu to %zu",
                                    at->buffer->name, bytes, offset, first, last);
    ret[count++] = (struct memory_block){at->buffer->name, what, offset, bytes, (double)first,
                                         (double)last + 1};
  }
  return count;
}

static void show_memory(const struct program *q, struct page *p) {
  double bytes = number(q->arena_bytes), eager = number(q->eager_bytes);
  page_section(p, "memory", "Memory over time");
  if (q->placements.len == 0 || q->launches.len == 0) {
    page_paragraph(p, "No temporaries: kernels read inputs and write outputs only.");
    return;
  }
  page_paragraph(p, arena_printf(p->arena,
                                 "Temporaries take %s; one result per operator would take %s. A "
                                 "rectangle is a value, from the launch that writes it to the last "
                                 "that reads it.",
                                 memory_size(p->arena, bytes), memory_size(p->arena, eager)));
  struct memory_block *blocks = arena_array(p->arena, struct memory_block, q->placements.len);
  size_t count = list_blocks(q, p, blocks), launches = q->launches.len;
  struct strbuf svg = {.arena = p->arena};
  struct memory_frame f = {LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT, bytes, (double)launches};
  svg_begin(&svg, WIDTH, TOP + HEIGHT + BOTTOM);
  svg_text(&svg, LEFT, 18, "head", "temporaries by launch");
  memory_svg(&f, blocks, count, &svg);
  size_t every = launches / 16 + 1;
  for (size_t i = 0; i < launches; i += every)
    svg_text(&svg, f.x + f.width * ((double)i + 0.5) / (double)launches, TOP + HEIGHT + 16, "mid",
             arena_printf(p->arena, "%zu", i));
  svg_end(&svg);
  page_picture(p, &svg);
  strbuf_finish(&svg);
}

// ---- fusion ----

static struct regions *unfused(struct graph *g) {
  g = graph_decompose(g, KEEPS_ATTENTION, false);
  g = g ? graph_simplify(g) : NULL;
  struct loops *l = g ? loops_build(g) : NULL;
  return l ? regions_form(l, &(struct fuse_options){.keeps_apart = true}) : NULL;
}

static void show_regions(const struct regions *r, const char *title, bool is_open, struct page *p) {
  struct strbuf svg = {.arena = p->arena};
  page_fold(p, title, is_open);
  fusion_svg(r, &svg);
  page_picture(p, &svg);
  page_fold_end(p);
  strbuf_finish(&svg);
}

static void show_fusion(const struct regions *before, const struct program *q, struct page *p) {
  page_section(p, "fusion", "Before and after fusion");
  show_regions(q->regions,
               arena_printf(p->arena, "After: %zu kernels, %s", q->regions->list.len,
                            memory_size(p->arena, region_bytes(q->regions))),
               q->regions->list.len <= FEW_KERNELS, p);
  if (before)
    show_regions(before,
                 arena_printf(p->arena, "Before: a kernel for each of %zu loop nests, %s",
                              before->list.len, memory_size(p->arena, region_bytes(before))),
                 false, p);
}

// ---- the whole ----

static void show_facts(struct tool *t, const struct graph *g, const struct program *q,
                       const struct regions *before, struct page *p) {
  double moved = launched_bytes(q), least = floor_bytes(q);
  page_fact(p, "graph", arena_printf(p->arena, "`%s` for %s", g->name, tool_target(t)->name));
  page_fact(p, "kernels, launches",
            arena_printf(p->arena, "%zu, %zu", program_kernel_count(q), q->launches.len));
  if (before)
    page_fact(p, "bytes before fusion", memory_size(p->arena, region_bytes(before)));
  page_fact(p, "bytes after fusion", memory_size(p->arena, moved));
  page_fact(p, "floor: inputs and outputs once",
            arena_printf(p->arena, "%s%s", memory_size(p->arena, least),
                         least > 0 ? arena_printf(p->arena, " (%.3g times)", moved / least) : ""));
  double bound = 0;
  for (size_t i = 0; i < q->launches.len; i++)
    bound += launch_bound_ms(&q->launches.at[i], tool_target(t)->name);
  if (bound > 0)
    page_fact(p, "time of all kernels at least", time_text(p->arena, bound));
  page_fact(p, "temporaries", memory_size(p->arena, number(q->arena_bytes)));
}

static struct graph *graph_of(struct tool *t, const struct source *source, int *ret_status) {
  struct graph *g = graph_open(t, source, ret_status);
  if (g)
    *ret_status = graph_take_gradients(t, g);
  if (*ret_status != EXIT_DONE)
    return NULL;
  graph_keep_casts(g, t->o.keep_casts);
  return g;
}

int report_graph(struct tool *t, const struct source *source, struct page *p) {
  int status;
  struct graph *g = graph_of(t, source, &status);
  struct program_options options = {.target = tool_target(t)->name, .no_pdl = t->o.no_pdl};
  struct program *q = g ? program_compile(g, &options) : NULL;
  unsigned records = diag_count(t->diag);
  struct regions *before = q ? unfused(g) : NULL;
  diag_forget(t->diag, records); // remarks of a fusion that is not used
  if (g && !q)
    status = tool_error_status(t);
  if (q) {
    p->title = arena_printf(t->arena, "%s of %s", g->name, p->title);
    show_facts(t, g, q, before, p);
    show_launches(q, tool_target(t)->name, p);
    show_plan(t, q, p);
    show_memory(q, p);
    show_fusion(before, q, p);
  } else if (status != EXIT_USAGE) {
    page_fact(p, "result", "it does not compile");
  }
  page_section(p, "source", "Source");
  page_source(p, source, t->diag);
  return status;
}
