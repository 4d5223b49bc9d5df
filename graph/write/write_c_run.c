// SPDX-License-Identifier: Apache-2.0
// The functions of a program in C: open and close, memory, launches, recording.
// Recursion is the algorithm: a launch may run the program of a subgraph (write_c_call.c).
#include "graph/run/run.h"
#include "graph/write/write_c_internal.h"

#include <inttypes.h>

// ---- the program and its memory ----

static void write_member(const struct c_writer *w, size_t launch, size_t body) {
  if (body == 0)
    strbuf_printf(w->out, "  char *scratch%zu;\n  int64_t scratch_bytes%zu;\n", launch, launch);
  strbuf_printf(w->out, "  struct %s_%zu_%zu *b%zu_%zu;\n", w->m->name, launch, body, launch, body);
}

static void write_open_body(const struct c_writer *w, size_t launch, size_t body) {
  strbuf_printf(w->out,
                "  if (status == TILE_OK)\n"
                "    status = %s_%zu_%zu_open(device, program->pack, &program->b%zu_%zu);\n",
                w->m->name, launch, body, launch, body);
}

static void write_close_body(const struct c_writer *w, size_t launch, size_t body) {
  strbuf_printf(w->out, "  %s_%zu_%zu_close(program->b%zu_%zu);\n", w->m->name, launch, body,
                launch, body);
  if (body == 0)
    strbuf_printf(w->out,
                  "  if (program->scratch%zu)\n"
                  "    tile_free(program->device, program->scratch%zu);\n",
                  launch, launch);
}

static void write_struct(const struct c_writer *w) {
  const char *n = w->m->name;
  size_t count = w->p->kernels.len;
  strbuf_printf(
      w->out,
      "struct %s {\n  tile_device *device;\n  tile_pack *pack;\n  tile_function *functions[%zu];\n"
      "  char *arena;\n  int64_t arena_bytes;\n",
      n, count + 1);
  c_each_body(w, write_member);
  strbuf_puts(w->out, "};\n\n");
  strbuf_printf(w->out, "static const char *const %s_kernels[] = {\n", n);
  for (size_t i = 0; i < count; i++)
    strbuf_printf(w->out, "    \"%s\",\n", program_function_name(w->p, (uint32_t)i));
  strbuf_puts(w->out, "    NULL};\n\n");
}

static void write_close(const struct c_writer *w) {
  const char *n = w->m->name;
  strbuf_printf(w->out,
                "%svoid %s_close(struct %s *program) {\n"
                "  size_t i;\n"
                "  if (!program)\n"
                "    return;\n"
                "  for (i = 0; %s_kernels[i]; i++)\n"
                "    tile_function_close(program->functions[i]);\n",
                w->m->is_body ? "static " : "", n, n, n);
  c_each_body(w, write_close_body);
  strbuf_printf(w->out,
                "%s"
                "  if (program->arena)\n"
                "    tile_free(program->device, program->arena);\n"
                "  free(program);\n"
                "}\n\n",
                w->m->is_body ? "" : "  tile_pack_close(program->pack);\n");
}

static void write_open(const struct c_writer *w) {
  const char *n = w->m->name, *root = w->m->root ? w->m->root : n;
  bool is_body = w->m->is_body;
  write_close(w);
  strbuf_printf(w->out,
                "%stile_status %s_open(tile_device *device, %sstruct %s **ret_program) {\n"
                "  struct %s *program;\n"
                "  tile_status status = TILE_OK;\n"
                "  size_t i;\n",
                is_body ? "static " : "", n, is_body ? "tile_pack *pack, " : "", n, n);
  if (!is_body)
    strbuf_printf(
        w->out,
        "  if (!device || !ret_program)\n"
        "    return tile_fail(TILE_INVALID_ARGUMENT, \"%s_open: an argument is NULL\");\n",
        n);
  strbuf_printf(w->out,
                "  program = (struct %s *)calloc(1, sizeof *program);\n"
                "  if (!program)\n"
                "    return tile_fail(TILE_OUT_OF_MEMORY, \"out of memory for program %s\");\n"
                "  program->device = device;\n",
                n, root);
  if (is_body)
    strbuf_puts(w->out, "  program->pack = pack;\n");
  else
    strbuf_printf(w->out,
                  "  status = tile_pack_from_memory(%s_pack.bytes, sizeof %s_pack.bytes, "
                  "&program->pack);\n",
                  n, n);
  strbuf_printf(w->out,
                "  for (i = 0; status == TILE_OK && %s_kernels[i]; i++) {\n"
                "    status = tile_pack_get_function(program->pack, device, %s_kernels[i], "
                "&program->functions[i]);\n"
                "    if (status == TILE_OK)\n"
                "      status = tile_function_prepare(program->functions[i]);\n"
                "  }\n",
                n, n);
  c_each_body(w, write_open_body);
  strbuf_printf(w->out,
                "  if (status != TILE_OK) {\n"
                "    %s_close(program);\n"
                "    return status;\n"
                "  }\n"
                "  *ret_program = program;\n"
                "  return TILE_OK;\n"
                "}\n\n",
                n);
}

static void write_slice(const struct c_writer *w, const struct buffer *b) {
  strbuf_puts(w->out, "(char *)");
  c_write_address(w, b->home);
  strbuf_puts(w->out, " + ");
  c_print_size(w, expr_muli(w->p->graph->exprs, b->start, dtype_bytes(b->dtype)));
}

void c_write_address(const struct c_writer *w, const struct buffer *b) {
  if (b->role == BUFFER_SLICE) {
    write_slice(w, b);
    return;
  }
  if (b->role != BUFFER_TEMP) {
    strbuf_printf(w->out, "%s[%" PRIu32 "]", b->role == BUFFER_INPUT ? "inputs" : "outputs",
                  b->index);
    return;
  }
  for (size_t i = 0; i < w->p->placements.len; i++)
    if (w->p->placements.at[i].buffer == b) {
      strbuf_puts(w->out, "program->arena + ");
      c_print_size(w, w->p->placements.at[i].offset);
    }
}

// Launches reset the counters to zero.
static void write_zeros(const struct c_writer *w) {
  const struct buffer *b = w->p->counters;
  if (!b)
    return;
  strbuf_puts(w->out, "  if (status == TILE_OK)\n"
                      "    status = tile_memset(program->device, NULL, ");
  c_write_address(w, b);
  strbuf_puts(w->out, ", 0, (size_t)(");
  c_print_size(w, b->numel);
  strbuf_printf(w->out,
                " * %u));\n"
                "  if (status == TILE_OK)\n"
                "    status = tile_stream_synchronize(program->device, NULL);\n",
                dtype_bytes(b->dtype));
}

static void write_memory(const struct c_writer *w) {
  const char *n = w->m->name;
  bool dynamic = c_is_dynamic(w->p);
  strbuf_printf(w->out, "%sint64_t %s_arena_bytes(%s) {\n%s  return ",
                w->m->is_body ? "static " : "", n, dynamic ? "const int64_t *sizes" : "void",
                dynamic ? "  (void)sizes;\n" : "");
  c_print_size(w, w->p->arena_bytes);
  strbuf_puts(w->out, ";\n}\n\n");
  if (!w->m->is_body) {
    strbuf_printf(w->out, "int64_t %s_eager_bytes(void) { return ", n);
    c_print_size(w, w->p->eager_bytes);
    strbuf_puts(w->out, "; }\n\n");
  }
  strbuf_printf(
      w->out,
      "/* Memory for a run: allocated at the first one, and when sizes have grown. */\n"
      "static tile_status %s_reserve(struct %s *program%s) {\n"
      "  int64_t bytes = %s_arena_bytes(%s);\n"
      "  tile_status status = TILE_OK;\n"
      "  if (bytes <= program->arena_bytes)\n"
      "    return TILE_OK;\n"
      "  if (program->arena) {\n"
      "    status = tile_stream_synchronize(program->device, NULL);\n"
      "    if (status == TILE_OK)\n"
      "      status = tile_free(program->device, program->arena);\n"
      "    if (status != TILE_OK)\n"
      "      return status;\n"
      "  }\n"
      "  program->arena = NULL;\n"
      "  program->arena_bytes = 0;\n"
      "  status = tile_malloc(program->device, (size_t)bytes, (void **)&program->arena);\n"
      "  if (status == TILE_OK)\n"
      "    program->arena_bytes = bytes;\n",
      n, n, dynamic ? ", const int64_t *sizes" : "", n, dynamic ? "sizes" : "");
  write_zeros(w);
  strbuf_puts(w->out, "  return status;\n}\n\n");
}

// ---- launches ----

static void write_argument(const struct c_writer *w, const struct launch_arg *a, size_t index) {
  strbuf_printf(w->out, "  a[%zu] = ", index);
  switch (a->kind) {
  case LAUNCH_BUFFER:
    strbuf_puts(w->out, "tile_arg_pointer(");
    c_write_address(w, a->buffer);
    strbuf_printf(w->out, ", TILE_%s); /* %s */\n", c_type_id(a->buffer->dtype), a->buffer->name);
    break;
  case LAUNCH_SIZE:
    strbuf_printf(w->out, "tile_arg_int(TILE_%s, ", c_type_id(a->dtype));
    c_print_size(w, a->size);
    strbuf_puts(w->out, ");\n");
    break;
  case LAUNCH_SEED:
    strbuf_printf(w->out, "tile_arg_int(TILE_%s, (int64_t)(seed + UINT64_C(%" PRIu64 ")));\n",
                  c_type_id(a->dtype), program_seed(0, a->which));
    break;
  }
}

static void write_clear(const struct c_writer *w, const struct buffer *b) {
  strbuf_puts(w->out,
              "  if (status == TILE_OK)\n    status = tile_memset(program->device, stream, ");
  c_write_address(w, b);
  strbuf_puts(w->out, ", 0, (size_t)(");
  c_print_size(w, b->numel);
  strbuf_printf(w->out, " * %u));\n", dtype_bytes(b->dtype));
}

static void write_launch(const struct c_writer *w, size_t index) {
  const struct launch *l = &w->p->launches.at[index];
  if (l->clears)
    write_clear(w, l->clears);
  if (l->call) {
    c_write_call(w, index);
    return;
  }
  if (w->p->launch_pdl && (l->clears || l->kernel->is_alone))
    strbuf_puts(w->out, "  order.in_order = 1;\n");
  for (size_t i = 0; i < l->args.len; i++)
    write_argument(w, &l->args.at[i], i);
  strbuf_printf(w->out,
                "  if (status == TILE_OK)\n    status = %s_launch(program, %" PRIu32 ", stream, ",
                w->m->name, l->kernel->id);
  for (int d = 0; d < 3; d++) {
    if (l->grid[d])
      c_print_size(w, l->grid[d]);
    else
      strbuf_puts(w->out, "1");
    strbuf_puts(w->out, ", ");
  }
  strbuf_printf(w->out, "a, %zu%s);\n", l->args.len, w->p->launch_pdl ? ", &order" : "");
}

static void write_source(const struct c_writer *w, const struct program_copy *c) {
  strbuf_puts(w->out, "(const char *)");
  c_write_address(w, c->from);
  strbuf_puts(w->out, " + ");
  c_print_size(w, c->offset);
}

// Copies of inputs precede the launches, copies of outputs follow them.
static void write_copies(const struct c_writer *w, enum buffer_role from) {
  for (size_t i = 0; i < w->p->copies.len; i++) {
    const struct program_copy *c = &w->p->copies.at[i];
    if (c->from->role != from)
      continue;
    strbuf_puts(w->out, "  if (status == TILE_OK && ");
    write_source(w, c);
    strbuf_puts(w->out, " != (const char *)");
    c_write_address(w, c->to);
    strbuf_puts(w->out, ")\n    status = tile_copy_on_device(program->device, stream, ");
    c_write_address(w, c->to);
    strbuf_puts(w->out, ", ");
    write_source(w, c);
    strbuf_puts(w->out, ", (size_t)(");
    c_print_size(w, c->bytes);
    strbuf_printf(w->out, ")); /* %s */\n", c->to->name);
  }
}

static size_t most_arguments(const struct program *p) {
  size_t most = 1;
  for (size_t i = 0; i < p->launches.len; i++)
    most = p->launches.at[i].args.len > most ? p->launches.at[i].args.len : most;
  return most;
}

static void write_launch_function(const struct c_writer *w) {
  const char *n = w->m->name;
  bool pdl = w->p->launch_pdl;
  if (pdl)
    strbuf_puts(w->out,
                "/* Programmatic dependent launch, behind a kernel of the same run only. */\n");
  strbuf_printf(w->out,
                "static tile_status %s_launch(struct %s *program, int kernel, tile_stream *stream, "
                "int64_t x,\n"
                "    int64_t y, int64_t z, const tile_arg *args, size_t count%s) {\n"
                "  tile_grid grid;\n"
                "  tile_status status;\n"
                "  if (x == 0 || y == 0 || z == 0)\n"
                "    return TILE_OK;\n"
                "  status = tile_grid_make(x, y, z, 0, &grid);\n",
                n, n, pdl ? ", tile_launch_options *order" : "");
  if (pdl)
    strbuf_puts(w->out,
                "  if (status == TILE_OK)\n"
                "    status = tile_function_launch_with(program->functions[kernel], stream, grid, "
                "args, count, order);\n"
                "  order->in_order = 0;\n"
                "  return status;\n}\n\n");
  else
    strbuf_puts(w->out,
                "  return status == TILE_OK ? tile_function_launch(program->functions[kernel], "
                "stream, grid, args, count)\n"
                "                           : status;\n}\n\n");
}

static void write_run(const struct c_writer *w) {
  const char *n = w->m->name;
  if (w->p->kernels.len)
    write_launch_function(w);
  strbuf_printf(w->out, "static tile_status %s_launches", n);
  c_run_parameters(w);
  strbuf_printf(
      w->out,
      ") {\n  tile_arg a[%zu];\n%s  tile_status status = TILE_OK;\n  (void)a;\n  (void)seed;\n%s  "
      "(void)inputs;\n  (void)outputs;\n%s",
      most_arguments(w->p), w->p->launch_pdl ? "  tile_launch_options order = {1};\n" : "",
      w->p->launch_pdl ? "  (void)order;\n" : "", c_is_dynamic(w->p) ? "  (void)sizes;\n" : "");
  write_copies(w, BUFFER_INPUT);
  for (size_t i = 0; i < w->p->launches.len; i++)
    write_launch(w, i);
  write_copies(w, BUFFER_OUTPUT);
  strbuf_puts(w->out, "  return status;\n}\n\n");
}

static void write_calls(const struct c_writer *w) {
  const char *n = w->m->name, *sizes = c_is_dynamic(w->p) ? "sizes, " : "";
  strbuf_printf(w->out, "%stile_status %s_run", w->m->is_body ? "static " : "", n);
  c_run_parameters(w);
  strbuf_printf(w->out,
                ") {\n"
                "  tile_status status = %s_reserve(program%s);\n"
                "  return status == TILE_OK ? %s_launches(program, stream, seed, %sinputs, "
                "outputs) : status;\n"
                "}\n\n",
                n, c_is_dynamic(w->p) ? ", sizes" : "", n, sizes);
  if (w->m->is_body)
    return;
  strbuf_printf(w->out, "tile_status %s_record", n);
  c_run_parameters(w);
  if (program_decides_on_host(w->p)) {
    strbuf_printf(
        w->out,
        ",\n    tile_replay **ret_replay) {\n"
        "  (void)program, (void)stream, (void)seed, %s(void)inputs, (void)outputs, "
        "(void)ret_replay;\n"
        "  return tile_fail(TILE_INVALID_ARGUMENT, \"%s_record: the host reads predicates "
        "during a run, which cannot be recorded\");\n"
        "}\n",
        c_is_dynamic(w->p) ? "(void)sizes, " : "", n);
    return;
  }
  strbuf_printf(w->out,
                ",\n    tile_replay **ret_replay) {\n"
                "  tile_replay *replay = NULL;\n"
                "  tile_status status = %s_reserve(program%s), run;\n"
                "  if (status == TILE_OK)\n"
                "    status = tile_replay_begin(program->device, stream);\n"
                "  if (status != TILE_OK)\n"
                "    return status;\n"
                "  run = %s_launches(program, stream, seed, %sinputs, outputs);\n"
                "  status = tile_replay_end(program->device, stream, &replay);\n"
                "  if (run == TILE_OK && status == TILE_OK)\n"
                "    *ret_replay = replay;\n"
                "  else\n"
                "    tile_replay_destroy(replay);\n"
                "  return run == TILE_OK ? status : run;\n"
                "}\n",
                n, c_is_dynamic(w->p) ? ", sizes" : "", n, sizes);
}

// The program of a subgraph, before the one that runs it.
static void write_body(const struct c_writer *w, size_t launch, size_t body) {
  const struct c_module m = c_body_module(w, launch, body);
  const struct c_writer of = {w->p->launches.at[launch].bodies[body], &m, w->out};
  c_write_definitions(&of);
}

void c_write_definitions(const struct c_writer *w) {
  if (!w->m->is_body && program_has_calls(w->p))
    c_write_grow(w);
  c_each_body(w, write_body);
  write_struct(w);
  write_open(w);
  write_memory(w);
  write_run(w);
  write_calls(w);
}
