// SPDX-License-Identifier: Apache-2.0
// The C declarations of one kernel in an object file (`--emit=object-header`): its function, and a
// typed call for a range of programs, which needs no library.
#include "tools/aot/aot.h"

#include <ctype.h>

static void upper(const char *s, struct strbuf *out) {
  for (; *s; s++)
    strbuf_putc(out, isalnum((unsigned char)*s) ? (char)toupper((unsigned char)*s) : '_');
}

// Types that C lacks are passed as their bits.
static const char *value_type(enum dtype t) {
  if (t == DTYPE_F32 || t == DTYPE_F64 || dtype_is_int(t))
    return t == DTYPE_I1 ? "uint8_t" : aot_c_type(t, false);
  return dtype_bits(t) == 16 ? "uint16_t" : "uint8_t";
}

static const char program_type[] = "#ifndef TILE_PROGRAM_DEFINED\n"
                                   "#define TILE_PROGRAM_DEFINED\n"
                                   "/* One program of a grid. */\n"
                                   "struct tile_program {\n"
                                   "  int32_t thread_id; /* 0 */\n"
                                   "  int32_t program_id[3], num_programs[3];\n"
                                   "  int32_t reserved; /* 0 */\n"
                                   "  void *scratch;\n"
                                   "  void *executor; /* NULL */\n"
                                   "};\n"
                                   "#endif\n\n";

static void describe_parameters(const struct kernel_info *info, struct strbuf *out) {
  for (uint32_t i = 0; i < info->param_count; i++) {
    const struct kernel_param *p = &info->params[i];
    strbuf_puts(out, " *   ");
    aot_comment_text(p->name, out);
    strbuf_printf(out, ": %s%s", p->is_pointer ? "elements are " : "", dtype_name(p->dtype));
    if (p->divisible_by > 1)
      strbuf_printf(out, p->is_pointer ? ", at a multiple of %u bytes" : ", a multiple of %u",
                    p->divisible_by);
    strbuf_putc(out, '\n');
  }
}

static void declare(const struct kernel_info *info, struct strbuf *out) {
  strbuf_puts(out,
              "/* Bytes, at a multiple of 64, that a program uses while it runs. */\n#define ");
  upper(info->name, out);
  strbuf_printf(out, "_SCRATCH %u\n\n", info->shared_bytes);
  strbuf_puts(out, "/* Runs one program; args[i] points to the value of parameter i:\n");
  describe_parameters(info, out);
  strbuf_printf(out,
                " * Thread-safe for programs with scratch of their own. */\n"
                "void %s(struct tile_program *program, void *const *args);\n\n",
                info->name);
}

static void define_run(struct arena *a, const struct kernel_info *info, struct strbuf *out) {
  strbuf_printf(
      out,
      "/* Runs `count` programs of a grid one after the other, from number `first` on; the number\n"
      " * of program (x, y, z) is x + grid[0] * (y + grid[1] * z). Threads may share a grid. */\n"
      "static inline void %s_run(const uint32_t grid[3], uint64_t first, uint64_t count,\n"
      "    void *scratch",
      info->name);
  for (uint32_t i = 0; i < info->param_count; i++) {
    const struct kernel_param *p = &info->params[i];
    const char *type = p->is_pointer ? aot_c_type(p->dtype, true) : value_type(p->dtype);
    strbuf_printf(out, ",\n    %s%s %s%s", p->is_pointer && p->is_const ? "const " : "", type,
                  p->is_pointer ? "*" : "", aot_c_name(a, p->name));
  }
  strbuf_printf(out, ") {\n  void *tile_args[%u];\n", info->param_count ? info->param_count : 1);
  strbuf_puts(out, "  struct tile_program tile_program = {0};\n  uint64_t tile_i;\n");
  for (uint32_t i = 0; i < info->param_count; i++)
    strbuf_printf(out, "  tile_args[%u] = (void *)&%s;\n", i, aot_c_name(a, info->params[i].name));
  strbuf_printf(out,
                "%s"
                "  for (tile_i = 0; tile_i < 3; tile_i++)\n"
                "    tile_program.num_programs[tile_i] = (int32_t)grid[tile_i];\n"
                "  tile_program.scratch = scratch;\n"
                "  for (tile_i = first; tile_i < first + count; tile_i++) {\n"
                "    tile_program.program_id[0] = (int32_t)(tile_i %% grid[0]);\n"
                "    tile_program.program_id[1] = (int32_t)(tile_i / grid[0] %% grid[1]);\n"
                "    tile_program.program_id[2] = (int32_t)(tile_i / grid[0] / grid[1]);\n"
                "    %s(&tile_program, tile_args);\n"
                "  }\n"
                "}\n",
                info->param_count ? "" : "  tile_args[0] = 0;\n", info->name);
}

void emit_object_header(struct arena *a, const char *source_name, const struct kernel_info *info,
                        struct strbuf *out) {
  aot_banner(source_name, "a kernel in an object file. Needs no library.", out);
  strbuf_printf(out,
                "/* Code for %s: link it only with `tilec --emit=object` for that target. */\n",
                info->target);
  strbuf_puts(out, "#ifndef TILE_OBJECT_");
  upper(info->name, out);
  strbuf_puts(out, "_H\n#define TILE_OBJECT_");
  upper(info->name, out);
  strbuf_puts(out, "_H\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  strbuf_puts(out, program_type);
  declare(info, out);
  define_run(a, info, out);
  strbuf_puts(out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
