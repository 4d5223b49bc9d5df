// SPDX-License-Identifier: Apache-2.0
// The report on a kernel: remarks, costs, layouts, PTX.
#include "base/xml.h"
#include "layouts/draw.h"
#include "lowering/llvm/emit.h"
#include "tools/layout/layout_values.h"
#include "tools/perf/explain_perf_report.h"
#include "tools/report/page.h"

enum { ROWS = 32, COLUMNS = 16, PICTURES = 8 }; // of layouts

// ---- numbers ----

static void show_registers(const struct perf_report *r, struct page *p) {
  if (r->has_ptxas) {
    page_fact(p, "registers a thread", arena_printf(p->arena, "%d", r->ptxas.registers));
    page_fact(p, "spilled bytes a thread",
              arena_printf(p->arena, "%d stored, %d loaded", r->ptxas.spill_stores,
                           r->ptxas.spill_loads));
  } else {
    page_fact(p, "registers a thread, estimated",
              arena_printf(p->arena, "%u (ptxas was not found)", r->cost.registers));
  }
  if (r->p.spill_bytes)
    page_fact(p, "spilled to shared memory", arena_printf(p->arena, "%u bytes", r->p.spill_bytes));
}

static void show_facts(const struct perf_report *r, struct page *p) {
  const char *limit;
  uint32_t warps = perf_report_warps(r);
  unsigned n = resource_programs_per_sm(r->target, warps, perf_report_registers(r),
                                        r->p.shared_bytes, &limit);
  page_fact(p, "kernel", arena_printf(p->arena, "`%s` for %s", r->info->name, r->target->name));
  page_fact(p, "warps",
            r->p.producer_warps
                ? arena_printf(p->arena, "%u, and %u that copy", r->num_warps, r->p.producer_warps)
                : arena_printf(p->arena, "%u", r->num_warps));
  show_registers(r, p);
  page_fact(p, "shared memory",
            arena_printf(p->arena, "%u of %u bytes", r->p.shared_bytes, r->target->shared_limit));
  page_fact(p, "programs a multiprocessor", arena_printf(p->arena, "%u, limited by %s", n, limit));
  page_fact(p, "memory of a program",
            arena_printf(p->arena, "%llu bytes read, %llu written%s",
                         (unsigned long long)r->p.bytes_read,
                         (unsigned long long)r->p.bytes_written,
                         r->p.in_loop ? ", with one trip of loops of unknown length" : ""));
}

static void show_costs(const struct perf_report *r, struct page *p) {
  struct strbuf text = {.arena = p->arena};
  page_section(p, "costs", "Costs");
  page_paragraph(p,
                 "As the cost model predicts them: a roofline of the target with the kernel on it, "
                 "the cycles of each unit, the ring of buffers and shared memory over time.");
  perf_report_svg(r, &text);
  page_picture(p, &text);
  strbuf_clear(&text);
  perf_report_text(r, &text);
  page_fold(p, "All numbers", false);
  page_text(p, (struct str){strbuf_cstr(&text), text.len});
  page_fold_end(p);
  strbuf_finish(&text);
}

// ---- layouts ----

static void show_layout_row(const struct layout_value *v, struct page *p) {
  strbuf_printf(&p->out, "<tr><td><a href=\"#L%u\">%u:%u</a></td><td><code>", v->begin.line,
                v->begin.line, v->begin.col);
  xml_text(&p->out, str_from(v->op));
  strbuf_puts(&p->out, "</code></td><td>");
  xml_text(&p->out, v->type_text);
  strbuf_printf(&p->out, "</td><td class=\"number\">%u</td><td class=\"number\">",
                register_count(&v->layout));
  strbuf_printf(&p->out, v->vector ? "%u" : "-", v->vector);
  strbuf_puts(&p->out, "</td><td><code>");
  xml_text(&p->out, layout_value_encoding(v));
  strbuf_puts(&p->out, "</code></td></tr>\n");
}

static void show_layout_picture(const struct layout_value *v, struct page *p, bool is_open) {
  struct draw_options opt = {
      .element_bits = v->element_bits, .max_rows = ROWS, .max_cols = COLUMNS};
  struct strbuf svg = {.arena = p->arena};
  page_fold(
      p,
      arena_printf(p->arena, "`%s` in line %u: %.*s", v->op, v->begin.line, STR_ARG(v->type_text)),
      is_open);
  layout_draw_svg(&v->layout, v->rank, v->shape, opt, &svg);
  page_picture(p, &svg);
  page_fold_end(p);
  strbuf_finish(&svg);
}

// Whether an earlier load, store or product has the same drawing.
static bool is_drawn(const struct layout_survey *s, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (layout_value_is_main(s->values.at[k]) &&
        layout_value_same_drawing(s->values.at[k], s->values.at[i]))
      return true;
  return false;
}

static void show_layouts(const struct layout_survey *s, struct page *p) {
  page_section(p, "layouts", "Layouts");
  page_paragraph(p, "Which thread and register holds which element (`T4:1` is register 1 of thread "
                    "4) of loads, stores, atomics and products; `vector` is the elements of an "
                    "access.");
  strbuf_puts(&p->out,
              "<div class=\"scroll\" tabindex=\"0\"><table class=\"values\"><tr><th>line</th>"
              "<th>operation</th><th>type</th><th class=\"number\">registers</th>"
              "<th class=\"number\">vector</th><th>layout</th></tr>\n");
  for (size_t i = 0; i < s->values.len; i++)
    if (layout_value_is_main(s->values.at[i]))
      show_layout_row(s->values.at[i], p);
  strbuf_puts(&p->out, "</table></div>\n");
  size_t drawn = 0;
  for (size_t i = 0; i < s->values.len && drawn < PICTURES; i++)
    if (layout_value_is_main(s->values.at[i]) && !is_drawn(s, i))
      show_layout_picture(s->values.at[i], p, drawn++ == 0);
}

// ---- the whole ----

static void show_ptx(struct str ptx, struct page *p) {
  size_t lines = 0;
  for (size_t i = 0; i < ptx.len; i++)
    lines += ptx.ptr[i] == '\n';
  page_section(p, "ptx", "PTX");
  page_fold(p, arena_printf(p->arena, "%zu lines", lines), false);
  page_text(p, ptx);
  page_fold_end(p);
}

int report_kernel(struct tool *t, struct source *source, struct page *p) {
  bool mlir = str_ends(str_from(source->name), ".mlir");
  struct compile_request request = tool_request(t, source, mlir);
  struct layout_survey layouts = {.arena = t->arena, .source = source, .target = request.target};
  struct perf_report r;
  struct str ptx;
  request.inspect = layout_survey_module;
  request.inspect_user = &layouts;
  if (request.target->is_cpu)
    request.target = layouts.target = target_find(STR("sm_80"));
  request.emit = EMIT_PTX;
  int status = tool_specialise(t, &request, mlir);
  if (status == EXIT_DONE)
    status = perf_report_make(t, &request, &r, &ptx);
  if (status == EXIT_DONE) {
    p->title = arena_printf(t->arena, "%s of %s", r.info->name, p->title);
    show_facts(&r, p);
  } else {
    page_fact(p, "result", "it does not compile");
  }
  page_section(p, "source", "Source");
  page_source(p, source, t->diag);
  if (status == EXIT_DONE) {
    show_costs(&r, p);
    show_layouts(&layouts, p);
    show_ptx(ptx, p);
  }
  return status;
}
