// SPDX-License-Identifier: Apache-2.0
// Writes a program as C: the header, and the source file with its tables of tensors and its pack.
#include "graph/write/write_c_internal.h"

#include <ctype.h>
#include <inttypes.h>

// ---- the header ----

static void put_upper(struct strbuf *out, const char *s) {
  for (; *s; s++)
    strbuf_putc(out, (char)toupper((unsigned char)*s));
}

static void banner(const struct c_writer *w) {
  const char *file = strrchr(w->m->made_from, '/'); // without its folder
  strbuf_puts(w->out, "/* Made from ");
  for (const char *c = file ? file + 1 : w->m->made_from; *c;
       c++) // nothing that could end the comment
    strbuf_putc(w->out, isalnum((unsigned char)*c) || strchr("._-", *c) ? *c : '?');
  strbuf_printf(w->out, " by tilec %s: a tensor graph as %zu kernels. Needs libtile-rt. */\n",
                tile_version(), w->p->kernels.len);
}

static void declare(const struct c_writer *w) {
  const struct graph *g = w->p->graph;
  const char *n = w->m->name;
  strbuf_puts(w->out, "#ifndef TILE_PROGRAM_");
  put_upper(w->out, n);
  strbuf_puts(w->out, "_H\n#define TILE_PROGRAM_");
  put_upper(w->out, n);
  strbuf_puts(w->out, "_H\n\n#include <tile/pack.h>\n#include <tile/weights.h>\n\n#ifdef "
                      "__cplusplus\nextern \"C\" {\n#endif\n\n");
  strbuf_printf(w->out,
                "enum { %s_INPUTS = %zu, %s_OUTPUTS = %zu, %s_SIZES = %zu };\n\n"
                "/* What a run takes and gives, in order. Strides count elements; a size that is "
                "-1 is dynamic. rank -1:\n"
                " * the graph gives nothing there, and a run ignores the pointer. */\n"
                "struct %s_tensor {\n  const char *name;\n  tile_type type;\n  int rank;\n  "
                "int64_t shape[%d], strides[%d];\n"
                "  size_t bytes; /* that the strides span; 0 when it is dynamic */\n};\n"
                "extern const struct %s_tensor %s_inputs[], %s_outputs[];\n\n",
                n, g->inputs.len, n, g->outputs.len, n, g->symbols.len, n, GRAPH_MAX_RANK,
                GRAPH_MAX_RANK, n, n, n);
  strbuf_printf(w->out,
                "/* The program on one device. Runs of one program follow one another. */\n"
                "struct %s;\n"
                "tile_status %s_open(tile_device *device, struct %s **ret_program);\n"
                "void %s_close(struct %s *program); /* accepts NULL */\n\n",
                n, n, n, n, n);
  strbuf_puts(w->out, "/* Memory for what passes between launches, in bytes; and what it would be "
                      "operator by operator. */\n");
  strbuf_printf(w->out, "int64_t %s_arena_bytes(%s);\nint64_t %s_eager_bytes(void);\n\n", n,
                c_is_dynamic(w->p) ? "const int64_t *sizes" : "void", n);
  strbuf_puts(w->out,
              "/* `inputs` and `outputs` are device addresses. Asynchronous on a GPU. */\n");
  strbuf_printf(w->out, "tile_status %s_run", n);
  c_run_parameters(w);
  strbuf_puts(w->out,
              ");\n/* The same as a recording (CUDA graph), for a stream that was created. */\n");
  strbuf_printf(w->out, "tile_status %s_record", n);
  c_run_parameters(w);
  strbuf_puts(w->out,
              ",\n    tile_replay **ret_replay);\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

void write_c_header(const struct program *p, const struct c_module *m, struct strbuf *out) {
  struct c_writer w = {p, m, out};
  banner(&w);
  declare(&w);
}

// ---- tables ----

static void write_size(const struct c_writer *w, const struct expr *e) {
  int64_t n;
  strbuf_printf(w->out, "%" PRId64, expr_is_const(e, &n) ? n : -1);
}

// Bytes from the first element to the last, 0 if a size is symbolic.
static int64_t span_bytes(const struct value *v) {
  int64_t last = 0, size, stride;
  for (uint32_t d = 0; d < v->rank; d++) {
    if (!expr_is_const(v->shape[d], &size) || !expr_is_const(v->strides[d], &stride))
      return 0;
    if (size == 0)
      return 0;
    last += (size - 1) * stride;
  }
  return (last + 1) * dtype_bytes(v->dtype);
}

static void write_tensor(const struct c_writer *w, const struct value *v) {
  if (!v) {
    strbuf_puts(w->out, "    {\"\", TILE_F32, -1, {0}, {0}, 0},\n");
    return;
  }
  strbuf_printf(w->out, "    {\"%s\", TILE_%s, %" PRIu32 ", {", v->name, c_type_id(v->dtype),
                v->rank);
  for (uint32_t d = 0; d < v->rank; d++) {
    strbuf_puts(w->out, d ? ", " : "");
    write_size(w, v->shape[d]);
  }
  strbuf_puts(w->out, v->rank ? "}, {" : "0}, {");
  for (uint32_t d = 0; d < v->rank; d++) {
    strbuf_puts(w->out, d ? ", " : "");
    write_size(w, v->strides[d]);
  }
  strbuf_printf(w->out, "%s}, %" PRId64 "},\n", v->rank ? "" : "0", span_bytes(v));
}

static void write_tensors(const struct c_writer *w, const char *what, struct value *const *values,
                          size_t count) {
  strbuf_printf(w->out, "const struct %s_tensor %s_%s[] = {\n", w->m->name, w->m->name, what);
  for (size_t i = 0; i < count; i++)
    write_tensor(w, values[i]);
  if (count == 0)
    write_tensor(w, NULL);
  strbuf_puts(w->out, "};\n\n");
}

static void write_pack(const struct c_writer *w) {
  strbuf_printf(
      w->out,
      "/* A union, so that the bytes lie at an address that suits machine code. */\n"
      "static const union {\n  unsigned char bytes[%zu];\n  double alignment;\n} %s_pack = {{",
      w->m->pack.len, w->m->name);
  for (size_t i = 0; i < w->m->pack.len; i++)
    strbuf_printf(w->out, "%s%u",
                  i == 0   ? "\n"
                  : i % 32 ? ","
                           : ",\n",
                  (unsigned)(unsigned char)w->m->pack.ptr[i]);
  strbuf_puts(w->out, "}};\n\n");
}

void write_c_source(const struct program *p, const struct c_module *m, struct strbuf *out) {
  struct c_writer w = {p, m, out};
  banner(&w);
  strbuf_puts(out, "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n");
  declare(&w);
  strbuf_putc(out, '\n');
  if (c_is_dynamic(p))
    strbuf_printf(out,
                  "#define %s_min(a, b) ((a) < (b) ? (a) : (b))\n#define %s_max(a, b) ((a) > (b) ? "
                  "(a) : (b))\n\n",
                  m->name, m->name);
  write_tensors(&w, "inputs", p->graph->inputs.at, p->graph->inputs.len);
  write_tensors(&w, "outputs", p->graph->outputs.at, p->graph->outputs.len);
  write_pack(&w);
  c_write_definitions(&w);
  if (!c_is_dynamic(p))
    c_write_main(&w);
}
