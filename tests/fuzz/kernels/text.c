// SPDX-License-Identifier: Apache-2.0
// Prints kernels as source.
#include "kernel.h"

#include <string.h>

struct writer {
  const struct kernel *k;
  struct strbuf *out;
  unsigned depth;
};

static void put_shape(struct strbuf *out, struct shape s) {
  strbuf_puts(out, "(");
  for (unsigned d = 0; d < s.rank; d++)
    strbuf_printf(out, "%u,%s", s.dim[d], d + 1 < s.rank ? " " : "");
  strbuf_puts(out, ")");
}

static const char *type_of(const struct writer *w, unsigned var) {
  return dtype_language_name(w->k->vars[var].type);
}
static struct shape shape_of(const struct writer *w, unsigned var) { return w->k->vars[var].shape; }

static void write_index(struct writer *w, const struct statement *s) {
  struct shape shape = shape_of(w, s->dst[0]);
  size_t n = shape_count(shape), stride = n;
  if (s->src_count)
    strbuf_printf(w->out, "v%u * %zu", s->src[0], n);
  if (s->number[0]) { // a permutation of the offsets
    strbuf_printf(w->out, "%s(tl.reshape(arange(0, %zu), ", s->src_count ? " + " : "", n);
    put_shape(w->out, shape);
    strbuf_printf(w->out, ") * 5 + 3) %% %zu", n);
    return;
  }
  for (unsigned d = 0; d < shape.rank; d++) {
    stride /= shape.dim[d];
    strbuf_printf(w->out, "%sarange(0, %u)", d || s->src_count ? " + " : "", shape.dim[d]);
    for (unsigned j = 0; j < shape.rank && shape.rank > 1; j++)
      strbuf_printf(w->out, "%s%s%s", j ? ", " : "[", j == d ? ":" : "None",
                    j + 1 == shape.rank ? "]" : "");
    if (stride > 1)
      strbuf_printf(w->out, " * %zu", stride);
  }
}

static void write_mask(struct writer *w, const struct statement *s) {
  if (s->number[1])
    strbuf_printf(w->out, ", mask=v%u < %d", s->src[0], s->number[2]);
}

static void write_load(struct writer *w, const struct statement *s) {
  strbuf_printf(w->out, "load(x%d + v%u", s->number[0], s->src[0]);
  write_mask(w, s);
  if (s->number[1] && s->number[3]) {
    if (dtype_is_float(w->k->vars[s->dst[0]].type))
      strbuf_printf(w->out, ", other=%g", s->number[3] / 2.0);
    else
      strbuf_printf(w->out, ", other=%d", s->number[3] / 2);
  }
  strbuf_puts(w->out, ")");
}

static void write_list(struct writer *w, const unsigned *vars, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    strbuf_printf(w->out, "%sv%u", i ? ", " : "", vars[i]);
}

static void write_dot(struct writer *w, const struct statement *s) {
  strbuf_puts(w->out, "tl.dot(");
  write_list(w, s->src, s->src_count);
  if (s->word)
    strbuf_printf(w->out, ", input_precision=\"%s\"", s->word);
  strbuf_puts(w->out, ")");
}

static void write_fold(struct writer *w, const struct statement *s) {
  bool is_scan = s->op == OP_FOLD_SCAN;
  strbuf_puts(w->out, is_scan ? "tl.associative_scan(" : "tl.reduce(");
  strbuf_puts(w->out, s->src_count > 1 ? "(" : "");
  write_list(w, s->src, s->src_count);
  strbuf_printf(w->out, "%s, %d, combine%d", s->src_count > 1 ? ")" : "", s->number[0],
                s->number[1]);
  if (is_scan && s->number[2])
    strbuf_puts(w->out, ", reverse=True");
  strbuf_puts(w->out, ")");
}

// The right side of `=`.
static void write_value(struct writer *w, const struct statement *s) {
  struct strbuf *o = w->out;
  unsigned a = s->src[0], b = s->src[1], c = s->src[2], to = s->dst[0];
  switch (s->op) {
  case OP_PROGRAM: strbuf_puts(o, "program_id(0) + num_programs(0) * program_id(1)"); break;
  case OP_INDEX: write_index(w, s); break;
  case OP_LOAD: write_load(w, s); break;
  case OP_FULL:
    strbuf_puts(o, "tl.full(");
    put_shape(o, shape_of(w, to));
    strbuf_printf(o, dtype_is_float(w->k->vars[to].type) ? ", %g, tl.%s)" : ", %.0f, tl.%s)",
                  dtype_is_float(w->k->vars[to].type)
                      ? s->number[0] / 4.0
                      : num_double(num_number(w->k->vars[to].type, s->number[0] / 4.0)),
                  type_of(w, to));
    break;
  case OP_BINARY:
  case OP_COMPARE: strbuf_printf(o, "v%u %s v%u", a, s->word, b); break;
  case OP_LITERAL: strbuf_printf(o, "v%u %s %d", a, s->word, s->number[0]); break;
  case OP_EXTREME: strbuf_printf(o, "tl.%s(v%u, v%u)", s->word, a, b); break;
  case OP_WHERE: strbuf_printf(o, "tl.where(v%u, v%u, v%u)", a, b, c); break;
  case OP_UNARY: strbuf_printf(o, s->word[1] ? "%s(v%u)" : "%sv%u", s->word, a); break;
  case OP_CAST: strbuf_printf(o, "v%u.to(tl.%s)", a, type_of(w, to)); break;
  case OP_BITCAST: strbuf_printf(o, "v%u.to(tl.%s, bitcast=True)", a, type_of(w, to)); break;
  case OP_EXPAND: strbuf_printf(o, "tl.expand_dims(v%u, %d)", a, s->number[0]); break;
  case OP_BROADCAST:
  case OP_RESHAPE:
    strbuf_printf(o, "tl.%s(v%u, ", s->op == OP_RESHAPE ? "reshape" : "broadcast_to", a);
    put_shape(o, shape_of(w, to));
    strbuf_puts(o, ")");
    break;
  case OP_TRANS:
    strbuf_printf(o, "tl.permute(v%u, (", a);
    for (unsigned d = 0; d < shape_of(w, to).rank; d++)
      strbuf_printf(o, "%s%d", d ? ", " : "", s->number[d]);
    strbuf_puts(o, "))");
    break;
  case OP_JOIN: strbuf_printf(o, "tl.join(v%u, v%u)", a, b); break;
  case OP_SPLIT: strbuf_printf(o, "tl.split(v%u)", a); break;
  case OP_FLIP: strbuf_printf(o, "tl.flip(v%u, %d)", a, s->number[0]); break;
  case OP_GATHER: strbuf_printf(o, "tl.gather(v%u, v%u, %d)", a, b, s->number[0]); break;
  case OP_REDUCE:
    strbuf_printf(o, "tl.%s(v%u, %d%s)", s->word, a, s->number[0],
                  s->number[1] ? ", keep_dims=True" : "");
    break;
  case OP_SCAN:
    strbuf_printf(o, "tl.%s(v%u, %d%s)", s->word, a, s->number[0],
                  s->number[1] ? ", reverse=True" : "");
    break;
  case OP_FOLD:
  case OP_FOLD_SCAN: write_fold(w, s); break;
  case OP_SORT:
    strbuf_printf(o, "tl.sort(v%u%s)", a, s->number[0] ? ", descending=True" : "");
    break;
  case OP_HISTOGRAM: strbuf_printf(o, "tl.histogram(v%u, %d)", a, s->number[0]); break;
  case OP_DOT: write_dot(w, s); break;
  default: strbuf_printf(o, "v%u", a); // OP_COPY
  }
}

static void write_block(struct writer *w, const struct block *b);

static void write_nested(struct writer *w, const struct block *b) {
  w->depth++;
  write_block(w, b);
  w->depth--;
}

static void write_loop(struct writer *w, const struct statement *s) {
  struct strbuf *o = w->out;
  if (s->op == OP_FOR) {
    strbuf_printf(o, "for v%u in ", s->dst[0]);
    strbuf_puts(o, s->number[1] ? "tl.range(" : "range(");
    if (s->number[2])
      strbuf_puts(o, "0, trips");
    else
      strbuf_printf(o, "%d", s->number[0]);
    if (s->number[1])
      strbuf_printf(o, ", num_stages=%d", s->number[1]);
    strbuf_puts(o, "):\n");
    write_nested(w, s->body);
    return;
  }
  strbuf_printf(o, "v%u = trips - trips\n%*swhile v%u < %d:\n", s->dst[0], (int)w->depth * 4, "",
                s->dst[0], s->number[0]);
  write_nested(w, s->body);
  strbuf_printf(o, "%*sv%u += 1\n", (int)w->depth * 4 + 4, "", s->dst[0]);
}

static void write_statement(struct writer *w, const struct statement *s) {
  struct strbuf *o = w->out;
  strbuf_printf(o, "%*s", (int)w->depth * 4, "");
  switch (s->op) {
  case OP_STORE:
    strbuf_printf(o, "store(x%d + v%u, v%u", s->number[0], s->src[0], s->src[1]);
    write_mask(w, s);
    strbuf_puts(o, ")\n");
    return;
  case OP_ATOMIC:
    strbuf_printf(o, "tl.atomic_%s(x%d + v%u %% %d, v%u)\n", s->word, s->number[0], s->src[0],
                  s->number[1], s->src[1]);
    return;
  case OP_FOR:
  case OP_WHILE: write_loop(w, s); return;
  case OP_IF:
    strbuf_printf(o, "if v%u:\n", s->src[0]);
    write_nested(w, s->body);
    if (s->other) {
      strbuf_printf(o, "%*selse:\n", (int)w->depth * 4, "");
      write_nested(w, s->other);
    }
    return;
  default: break;
  }
  write_list(w, s->dst, s->dst_count);
  strbuf_puts(o, " = ");
  write_value(w, s);
  strbuf_puts(o, "\n");
}

static void write_block(struct writer *w, const struct block *b) {
  for (unsigned i = 0; i < b->count; i++)
    write_statement(w, b->at[i]);
}

static void put_combined(struct strbuf *out, const char *word, char left, char right) {
  static const struct {
    const char *word;
    char token;
  } operators[] = {{"add", '+'}, {"mul", '*'}, {"and", '&'}, {"or", '|'}, {"xor", '^'}};
  for (size_t i = 0; i < COUNT_OF(operators); i++)
    if (strcmp(operators[i].word, word) == 0) {
      strbuf_printf(out, "%c %c %c", left, operators[i].token, right);
      return;
    }
  strbuf_printf(out, "tl.%simum(%c, %c)", word, left, right);
}

static void write_combine(const struct combine *c, unsigned number, struct strbuf *out) {
  strbuf_printf(out, "@jit\ndef combine%u(", number);
  for (unsigned i = 0; i < 2 * c->count; i++)
    strbuf_printf(out, "%s%c", i ? ", " : "", 'a' + (int)i);
  strbuf_puts(out, "):\n    return ");
  for (unsigned i = 0; i < c->count; i++) {
    strbuf_puts(out, i ? ", " : "");
    put_combined(out, c->words[i], (char)('a' + i), (char)('a' + c->count + i));
  }
  strbuf_puts(out, "\n\n");
}

void kernel_write(const struct kernel *k, struct strbuf *out) {
  for (unsigned i = 0; i < k->combine_count; i++)
    write_combine(&k->combines[i], i, out);
  strbuf_puts(out, "@jit\ndef k(");
  for (unsigned i = 0; i < k->array_count; i++)
    strbuf_printf(out, "x%u, ", i);
  strbuf_puts(out, "trips):\n");
  write_block(&(struct writer){k, out, 1}, &k->top);
}
