// SPDX-License-Identifier: Apache-2.0
// --explain-fusion as a picture: kernels below each other, inputs on the left, arcs on the right.
#include "base/xml.h"
#include "tools/graph/explain_fusion.h"
#include "tools/perf/picture.h"

enum {
  BOX_X = 190,
  BOX_WIDTH = 380,
  TOP = 48,
  HEAD = 42, // of a box
  STEP = 22, // of an operator
  GAP = 26,
  ARCS = 230, // room for them
  WIDTH = BOX_X + BOX_WIDTH + ARCS,
  MOST_LETTERS = 52
};

struct picture {
  const struct regions *r;
  struct arena *a;
  struct strbuf *out;
  int *top; // of each box, and below the last one
};

static const char *words(struct picture *p, const struct expr *e) {
  struct strbuf text = {.arena = p->a};
  expr_print(e, &text);
  const char *kept = arena_strdup(p->a, strbuf_cstr(&text));
  strbuf_finish(&text);
  return kept;
}

// Cut to what a box has room for; the whole is its tooltip.
static void text(struct picture *p, int x, int y, const char *class, const char *content) {
  struct str s = str_from(content);
  bool is_cut = s.len > MOST_LETTERS;
  size_t len = is_cut ? MOST_LETTERS - 1 : s.len;
  while (is_cut && ((unsigned char)s.ptr[len] & 0xc0) == 0x80)
    len--;
  strbuf_printf(p->out, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, class);
  if (is_cut) {
    strbuf_puts(p->out, "<title>");
    xml_text(p->out, s);
    strbuf_puts(p->out, "</title>");
  }
  xml_text(p->out, (struct str){s.ptr, len});
  strbuf_puts(p->out, is_cut ? "\xe2\x80\xa6</text>\n" : "</text>\n");
}

// "add_1: mul, add"
static const char *operators_of(struct picture *p, const struct stage *s) {
  struct strbuf names = {.arena = p->a};
  strbuf_printf(&names, "%s: ", s->out ? s->out->name : "?");
  for (size_t i = 0; i < s->origins.len; i++)
    strbuf_printf(&names, "%s%s", i ? ", " : "", s->origins.at[i]);
  const char *kept = arena_strdup(p->a, strbuf_cstr(&names));
  strbuf_finish(&names);
  return kept;
}

static void draw_box(struct picture *p, size_t i) {
  const struct region *g = p->r->list.at[i];
  int y = p->top[i];
  strbuf_printf(
      p->out,
      "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" class=\"kernel-box\"/>\n", BOX_X,
      y, BOX_WIDTH, HEAD + (int)g->stages.len * STEP + 6);
  text(p, BOX_X + 10, y + 17, "head", g->name ? g->name : "kernel");
  text(p, BOX_X + 10, y + 33, "small",
       arena_printf(p->a, "%s; %s bytes, %s operations", region_kind_name(g->kind),
                    g->bytes ? words(p, g->bytes) : "?", g->flops ? words(p, g->flops) : "?"));
  for (size_t k = 0; k < g->stages.len; k++) {
    int at = y + HEAD + (int)k * STEP;
    strbuf_printf(
        p->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" class=\"operator\"/>",
        BOX_X + 10, at, BOX_WIDTH - 20, STEP - 4);
    text(p, BOX_X + 18, at + 13, "small", operators_of(p, g->stages.at[k]));
  }
}

// The last box before `i` that writes the buffer; -1: none, it is an input.
static long writer_of(const struct picture *p, const struct buffer *b, size_t i) {
  for (size_t k = i; k-- > 0;)
    for (size_t n = 0; n < p->r->list.at[k]->writes.len; n++)
      if (p->r->list.at[k]->writes.at[n] == b)
        return (long)k;
  return -1;
}

static void draw_input(struct picture *p, const struct buffer *b, int y) {
  text(p, BOX_X - 24, y + 4, "end", b->name);
  strbuf_printf(p->out, "<path d=\"M%d %dH%d\" class=\"edge\"/>\n", BOX_X - 20, y, BOX_X);
}

// From the lower part of one box to the upper part of another; longer arcs reach further out.
static void draw_arc(struct picture *p, const struct buffer *b, size_t from, size_t to, int at) {
  int right = BOX_X + BOX_WIDTH, y0 = p->top[from + 1] - GAP - 12, y1 = p->top[to] + 14 + at * 12;
  int out = 30 + 18 * (int)(to - from > 6 ? 6 : to - from);
  strbuf_printf(p->out, "<path d=\"M%d %dC%d %d %d %d %d %d\" class=\"edge\"/>\n", right, y0,
                right + out, y0, right + out, y1, right, y1);
  text(p, right + 8 + out * 3 / 4, (y0 + y1) / 2 + 4 + at * 12, "small", b->name);
}

static void draw_reads(struct picture *p, size_t i) {
  const struct region *g = p->r->list.at[i];
  int inputs = 0, arcs = 0;
  for (size_t k = 0; k < g->reads.len; k++) {
    long from = writer_of(p, g->reads.at[k], i);
    if (from < 0)
      draw_input(p, g->reads.at[k], p->top[i] + 14 + inputs++ * 15);
    else
      draw_arc(p, g->reads.at[k], (size_t)from, i, arcs++);
  }
}

// A box has room for its operators, and for the names of its inputs beside it.
static int height_of(const struct region *g) {
  int own = HEAD + (int)g->stages.len * STEP + 6, beside = 20 + (int)g->reads.len * 15;
  return own > beside ? own : beside;
}

static void draw_title(struct picture *p) {
  size_t operators = 0;
  for (size_t i = 0; i < p->r->list.len; i++)
    operators += p->r->list.at[i]->stages.len;
  text(p, 16, 24, "head",
       arena_printf(p->a, "%zu loop nests in %zu kernel%s, %zu value%s between them", operators,
                    p->r->list.len, p->r->list.len == 1 ? "" : "s", p->r->temporaries.len,
                    p->r->temporaries.len == 1 ? "" : "s"));
}

void fusion_svg(const struct regions *r, struct strbuf *out) {
  struct picture p = {.r = r, .a = out->arena, .out = out};
  p.top = arena_array(p.a, int, r->list.len + 1);
  p.top[0] = TOP;
  for (size_t i = 0; i < r->list.len; i++)
    p.top[i + 1] = p.top[i] + height_of(r->list.at[i]) + GAP;
  int height = p.top[r->list.len] + 10;
  svg_begin(out, WIDTH, height);
  draw_title(&p);
  for (size_t i = 0; i < r->list.len; i++) {
    draw_box(&p, i);
    draw_reads(&p, i);
  }
  svg_end(out);
}
