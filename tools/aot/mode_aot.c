// SPDX-License-Identifier: Apache-2.0
// `tilec FILE --emit=cubin|pack|header|c`: machine code, packs, and C files that contain them.
#include "base/file.h"
#include "tools/aot/aot.h"
#include "tools/progress.h"

#include <unistd.h>

// ---- JSON ----

static void write_hints(const struct aot_function *f, const struct aot_variant *v,
                        struct json_writer *w) {
  json_begin_object(w);
  for (uint32_t i = 0; i < f->info.param_count; i++)
    if (v->hints[i] != 1)
      json_key(w, f->info.params[i].name), json_int(w, v->hints[i] ? v->hints[i] : 1);
  json_end_object(w);
}

static void write_number(struct json_writer *w, const char *key, int n) {
  json_key(w, key);
  if (n < 0)
    json_null(w);
  else
    json_int(w, n);
}

static void write_code(const struct aot_code *c, struct json_writer *w) {
  static const char *const formats[] = {
      [PACK_PTX] = "ptx", [PACK_CUBIN] = "cubin", [PACK_IMAGE] = "image"};
  bool is_cubin = c->code.format == PACK_CUBIN;
  json_begin_object(w);
  json_key(w, "target"), json_cstring(w, c->code.target);
  json_key(w, "format"), json_cstring(w, formats[c->code.format]);
  json_key(w, "bytes"), json_int(w, (int64_t)c->code.bytes.len);
  json_key(w, "shared_bytes"), json_int(w, c->code.shared_bytes);
  if (c->info.producer_warps)
    json_key(w, "producer_warps"), json_int(w, c->info.producer_warps);
  if (c->info.num_ctas)
    json_key(w, "num_ctas"), json_int(w, c->info.num_ctas);
  if (c->info.launch_pdl)
    json_key(w, "launch_pdl"), json_bool(w, true);
  if (c->info.map_count)
    json_key(w, "maps"), kernel_maps_write(&c->info, w);
  if (is_cubin) {
    write_number(w, "registers", c->report.registers);
    write_number(w, "stack_bytes", c->report.stack_bytes);
    write_number(w, "spill_stores", c->report.spill_stores);
    write_number(w, "spill_loads", c->report.spill_loads);
  }
  json_end_object(w);
}

static void write_function(const struct aot_function *f, struct json_writer *w) {
  json_begin_object(w);
  json_key(w, "name"), json_cstring(w, f->name);
  json_key(w, "constants"), json_cstring(w, f->constants);
  json_key(w, "kernel"), kernel_info_write(&f->info, w);
  json_key(w, "specialisations"), json_begin_array(w);
  for (size_t v = 0; v < f->variants.len; v++) {
    json_begin_object(w);
    json_key(w, "promises"), write_hints(f, &f->variants.at[v], w);
    json_key(w, "codes"), json_begin_array(w);
    for (size_t c = 0; c < f->variants.at[v].codes.len; c++)
      write_code(&f->variants.at[v].codes.at[c], w);
    json_end_array(w);
    json_end_object(w);
  }
  json_end_array(w);
  json_end_object(w);
}

static void write_json(const struct aot *a, const char *emit, size_t bytes, struct strbuf *out) {
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  json_key(&w, "emit"), json_cstring(&w, emit);
  json_key(&w, "bytes"), json_int(&w, (int64_t)bytes);
  json_key(&w, "ptxas");
  if (a->ptxas)
    json_cstring(&w, a->ptxas);
  else
    json_null(&w);
  json_key(&w, "functions"), json_begin_array(&w);
  for (size_t i = 0; i < a->functions.len; i++)
    write_function(&a->functions.at[i], &w);
  json_end_array(&w);
  json_end_object(&w);
  strbuf_putc(out, '\n');
}

// With --json the artifact is written to -o, if given, and the document to standard output.
static int write_result(struct tool *t, const struct aot *a, struct str result) {
  static const char *const names[ARTIFACT_COUNT] = {"",  "cubin", "pack", "header",
                                                    "c", "graph", "plan", "object-header"};
  int status = EXIT_DONE;
  if (t->o.output || !t->o.json)
    status = tool_write(t, result.ptr, result.len);
  if (!t->o.json || status != EXIT_DONE)
    return status;
  struct strbuf out = {.arena = t->arena};
  write_json(a, names[t->o.artifact], result.len, &out);
  t->o.output = NULL;
  status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}

// ---- what it takes ----

static bool is_binary(const struct tool *t) {
  return t->o.artifact == ARTIFACT_CUBIN || t->o.artifact == ARTIFACT_PACK;
}

static int check_options(struct tool *t) {
  if (t->o.passes.only || t->o.passes.stop_after || t->o.check) {
    diag_error(t->diag, SPAN_NONE, E0703,
               "`--passes`, `--stop-after` and `--check` do not go with code made ahead of time");
    return EXIT_USAGE;
  }
  if (is_binary(t) && !t->o.output && !t->o.json && isatty(STDOUT_FILENO)) {
    diag_help(diag_error(t->diag, SPAN_NONE, E0703, "machine code cannot be written to a terminal"),
              "name a file: `-o %s`",
              t->o.artifact == ARTIFACT_PACK ? "kernels.tpk" : "kernel.cubin");
    return EXIT_USAGE;
  }
  return EXIT_DONE;
}

// The assembler: required for machine code, optional for packs.
static int find_assembler(struct tool *t, struct aot *a) {
  bool wrong = false;
  a->ptxas = ptxas_find(t, &wrong);
  if (wrong)
    return EXIT_USAGE;
  if (a->ptxas || !aot_has_gpu(&a->targets))
    return EXIT_DONE;
  if (t->o.artifact == ARTIFACT_CUBIN) {
    diag_help(
        diag_error(t->diag, t->o.ptxas_at, E0750, "machine code needs ptxas, and there is none"),
        "install it (package cuda-nvcc of the CUDA toolkit) or name it with `--ptxas PATH`; "
        "`--emit=ptx` does without, and the driver compiles that");
    return EXIT_WRONG;
  }
  if (!t->o.ptxas)
    diag_help(diag_warning(t->diag, SPAN_NONE, E0750, "there is no ptxas: the pack holds PTX only"),
              "the driver compiles it at the first launch; `--ptxas none` says that this is meant");
  return EXIT_DONE;
}

static int check_cubin(struct tool *t, const struct aot *a) {
  if (a->functions.len == 1)
    return EXIT_DONE;
  struct strbuf names = {.arena = t->arena};
  for (size_t i = 0; i < a->functions.len; i++)
    strbuf_printf(&names, "%s`%s`", i ? ", " : "", a->functions.at[i].name);
  diag_help(diag_error(t->diag, t->o.file_at, E0402, "this file has %zu kernels", a->functions.len),
            "choose one with `--kernel`: %s; `--emit=pack` takes all", strbuf_cstr(&names));
  strbuf_finish(&names);
  return EXIT_WRONG;
}

// Errors on the command line are usage errors, those in the kernel are not.
static int error_status(const struct tool *t) {
  static const enum diag_code usage[] = {E0702, E0703, E0706, E0753, E0754};
  for (size_t i = 0; i < COUNT_OF(usage); i++)
    if (diag_first_error_code(t->diag) == usage[i])
      return EXIT_USAGE;
  return tool_error_status(t);
}

static int produce(struct tool *t, struct aot *a) {
  struct str result = {0};
  struct strbuf text = {.arena = t->arena};
  int status = EXIT_DONE;
  if (!aot_describe(a) || !aot_grids(a))
    return error_status(t);
  if (t->o.artifact != ARTIFACT_HEADER && !aot_compile(a))
    return error_status(t);
  switch (t->o.artifact) {
  case ARTIFACT_CUBIN: result = a->functions.at[0].variants.at[0].codes.at[0].code.bytes; break;
  case ARTIFACT_HEADER: emit_c_header(a, &text); break;
  default:
    if (!aot_pack(a, &result))
      return EXIT_LIMIT;
    if (t->o.artifact == ARTIFACT_C)
      emit_c_source(a, result, &text);
    break;
  }
  if (text.len)
    result = (struct str){text.ptr, text.len};
  if (text.failed) {
    diag_error(t->diag, SPAN_NONE, E0991, "out of memory for the output");
    status = EXIT_LIMIT;
  } else {
    status = write_result(t, a, result);
  }
  strbuf_finish(&text);
  return status;
}

int mode_aot(struct tool *t) {
  struct aot a;
  int status = check_options(t);
  struct source *source = status == EXIT_DONE ? tool_source(t, &status) : NULL;
  if (!source)
    return status;
  if (!aot_plan(t, source, &a))
    return error_status(t);
  if (t->o.artifact == ARTIFACT_CUBIN)
    status = check_cubin(t, &a);
  if (status == EXIT_DONE && t->o.artifact != ARTIFACT_HEADER)
    status = find_assembler(t, &a);
  progress_stage(t, arena_printf(t->arena, "compiling %s", source->name));
  return status == EXIT_DONE ? produce(t, &a) : status;
}
