// SPDX-License-Identifier: Apache-2.0
// Generates C for kernels compiled ahead of time: a header with one typed call per function, and a
// source file that contains the pack. Both are C89 with the types of <stdint.h>, and C++.
#include "tools/aot/aot.h"

#include <tile/runtime.h>

#include <ctype.h>

// ---- types ----

// The C type of a scalar, or of a pointer's elements. Types that C lacks are `void` behind
// pointers, and float as scalars.
const char *aot_c_type(enum dtype t, bool is_pointer) {
  switch (t) {
  case DTYPE_I1: return is_pointer ? "void" : "int";
  case DTYPE_I8: return "int8_t";
  case DTYPE_I16: return "int16_t";
  case DTYPE_I32: return "int32_t";
  case DTYPE_I64: return "int64_t";
  case DTYPE_U8: return "uint8_t";
  case DTYPE_U16: return "uint16_t";
  case DTYPE_U32: return "uint32_t";
  case DTYPE_U64: return "uint64_t";
  case DTYPE_F32: return "float";
  case DTYPE_F64: return "double";
  default: return is_pointer ? "void" : "float";
  }
}

static const char *type_id(enum dtype t) {
  static const char *const ids[] = {
#define X(id, name, language_name, bits, kind) #id + sizeof "DTYPE_" - 1,
      DTYPES(X)
#undef X
  };
  return ids[t];
}

// ---- declarations ----

static void parameters(const struct aot *a, const struct aot_function *f, bool with_grid,
                       struct strbuf *out) {
  strbuf_printf(out, "(struct %s_module *module, tile_stream *stream", a->name);
  if (with_grid)
    strbuf_puts(out, ", tile_grid grid");
  for (uint32_t i = 0; i < f->info.param_count; i += kernel_param_span(&f->info.params[i])) {
    const struct kernel_param *p = &f->info.params[i];
    if (p->descriptor_rank) {
      strbuf_printf(out, ",\n    const tile_descriptor *%s", aot_c_name(a->tool->arena, p->name));
      continue;
    }
    strbuf_printf(out, ",\n    %s%s %s%s", p->is_pointer && p->is_const ? "const " : "",
                  aot_c_type(p->dtype, p->is_pointer), p->is_pointer ? "*" : "",
                  aot_c_name(a->tool->arena, p->name));
  }
  strbuf_putc(out, ')');
}

// Escapes text for the inside of a comment.
void aot_comment_text(const char *s, struct strbuf *out) {
  for (; *s; s++)
    if (*s == '/' && s[1] == '*')
      strbuf_puts(out, "/ ");
    else if (*s == '*' && s[1] == '/')
      strbuf_puts(out, "* ");
    else
      strbuf_putc(out, *s >= ' ' && *s != 0x7f ? *s : '?');
}

// By parameter: whether it is the base or a stride of a tensor descriptor, of which nothing is
// promised beyond what every descriptor has.
static bool is_implied(const struct aot_function *f, uint32_t i) {
  uint32_t at = 0;
  while (at + kernel_param_span(&f->info.params[at]) <= i)
    at += kernel_param_span(&f->info.params[at]);
  uint32_t rank = f->info.params[at].descriptor_rank;
  return rank && (i == at || i > at + rank);
}

static void promises(const struct aot_function *f, const struct aot_variant *v,
                     struct strbuf *out) {
  bool any = false;
  for (uint32_t i = 0; i < f->info.param_count; i++) {
    if (v->hints[i] == 1 || is_implied(f, i))
      continue;
    strbuf_puts(out, any ? ", " : "");
    aot_comment_text(f->info.params[i].name, out);
    if (v->hints[i])
      strbuf_printf(out, " %% %u", v->hints[i]);
    else
      strbuf_puts(out, " == 1");
    any = true;
  }
  strbuf_puts(out, any ? "" : "any arguments");
}

static void describe_descriptor(const struct kernel_param *p, struct strbuf *out) {
  strbuf_puts(out, " * ");
  aot_comment_text(p->name, out);
  strbuf_printf(out, ": elements are %s, blocks", dtype_name(p->dtype));
  for (uint32_t i = 0; i < p->descriptor_rank; i++)
    strbuf_printf(out, "%s%u", i ? "x" : " ", p->block[i]);
  strbuf_puts(out, p->pads_nan ? ", pads_nan is 1\n" : "\n");
}

static void describe(const struct aot_function *f, struct strbuf *out) {
  strbuf_printf(out, "\n/* Kernel ");
  aot_comment_text(f->kernel, out);
  if (f->constants[0]) {
    strbuf_puts(out, " with ");
    aot_comment_text(f->constants, out);
  }
  strbuf_puts(out, ". Compiled for:\n");
  for (size_t v = 0; v < f->variants.len; v++) {
    strbuf_puts(out, " *   ");
    promises(f, &f->variants.at[v], out);
    strbuf_putc(out, '\n');
  }
  for (uint32_t i = 0; i < f->info.param_count; i += kernel_param_span(&f->info.params[i])) {
    const struct kernel_param *p = &f->info.params[i];
    if (p->descriptor_rank) {
      describe_descriptor(p, out);
      continue;
    }
    if (strcmp(aot_c_type(p->dtype, p->is_pointer), "void") != 0 && p->dtype < DTYPE_F8E5)
      continue;
    if (p->dtype == DTYPE_F32 || p->dtype == DTYPE_F64)
      continue;
    strbuf_puts(out, " * ");
    aot_comment_text(p->name, out);
    strbuf_printf(out, p->is_pointer ? ": elements are %s\n" : ": becomes %s\n",
                  dtype_name(p->dtype));
  }
  strbuf_puts(out, " */\n");
}

static void declare_function(const struct aot *a, const struct aot_function *f,
                             struct strbuf *out) {
  describe(f, out);
  strbuf_printf(out, "tile_status %s_launch", f->name);
  parameters(a, f, true, out);
  strbuf_puts(out, ";\n");
  if (!f->grid_text)
    return;
  strbuf_puts(out, "/* The same with the grid ");
  aot_comment_text(f->grid_text, out);
  strbuf_printf(out, " */\ntile_status %s_run", f->name);
  parameters(a, f, false, out);
  strbuf_puts(out, ";\n");
}

static void declarations(const struct aot *a, struct strbuf *out) {
  const char *n = a->name;
  strbuf_puts(out, "#ifndef TILE_MODULE_");
  for (const char *p = n; *p; p++)
    strbuf_putc(out, (char)toupper((unsigned char)*p));
  strbuf_puts(out, "_H\n#define TILE_MODULE_");
  for (const char *p = n; *p; p++)
    strbuf_putc(out, (char)toupper((unsigned char)*p));
  strbuf_puts(out, "_H\n\n#include <tile/pack.h>\n\n"
                   "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  strbuf_printf(out,
                "/* The functions below on one device. Thread-safe. */\n"
                "struct %s_module;\n"
                "tile_status %s_open(tile_device *device, struct %s_module **ret_module);\n"
                "void %s_close(struct %s_module *module); /* accepts NULL */\n"
                "/* Hands everything to the driver now, rather than at first launches. */\n"
                "tile_status %s_prepare(struct %s_module *module);\n",
                n, n, n, n, n, n, n);
  for (size_t i = 0; i < a->functions.len; i++)
    declare_function(a, &a->functions.at[i], out);
  strbuf_puts(out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

void aot_banner(const char *source_name, const char *what, struct strbuf *out) {
  const char *file = strrchr(source_name, '/'); // the folder's name is specific to this machine
  strbuf_puts(out, "/* Made from ");
  aot_comment_text(file ? file + 1 : source_name, out);
  strbuf_printf(out, " by tilec %s: %s */\n", tile_version(), what);
}

void emit_c_header(const struct aot *a, struct strbuf *out) {
  aot_banner(a->source->name, "kernels compiled ahead of time. Needs libtile-rt.", out);
  declarations(a, out);
}

// ---- definitions ----

static void define_close(const struct aot *a, struct strbuf *out) {
  strbuf_printf(out,
                "void %s_close(struct %s_module *module) {\n"
                "  int i;\n"
                "  if (!module)\n"
                "    return;\n"
                "  for (i = 0; i < %zu; i++)\n"
                "    tile_function_close(module->functions[i]);\n"
                "  tile_pack_close(module->pack);\n"
                "  free(module);\n"
                "}\n\n",
                a->name, a->name, a->functions.len);
}

static void define_open(const struct aot *a, struct strbuf *out) {
  const char *n = a->name;
  strbuf_printf(
      out,
      "tile_status %s_open(tile_device *device, struct %s_module **ret_module) {\n"
      "  struct %s_module *module;\n"
      "  tile_status status;\n"
      "  int i;\n"
      "  if (!ret_module)\n"
      "    return tile_fail(TILE_INVALID_ARGUMENT, \"%s_open: `ret_module` is NULL\");\n"
      "  module = (struct %s_module *)calloc(1, sizeof *module);\n"
      "  if (!module)\n"
      "    return tile_fail(TILE_OUT_OF_MEMORY, \"out of memory for the kernels of %s\");\n"
      "  status = tile_pack_from_memory(%s_bytes.bytes, sizeof %s_bytes.bytes, &module->pack);\n"
      "  for (i = 0; status == TILE_OK && i < %zu; i++)\n"
      "    status = tile_pack_get_function(module->pack, device, %s_names[i],\n"
      "                                    &module->functions[i]);\n"
      "  if (status != TILE_OK) {\n"
      "    %s_close(module);\n"
      "    return status;\n"
      "  }\n"
      "  *ret_module = module;\n"
      "  return TILE_OK;\n"
      "}\n\n",
      n, n, n, n, n, n, n, n, a->functions.len, n, n);
}

static void define_module(const struct aot *a, struct strbuf *out) {
  const char *n = a->name;
  size_t count = a->functions.len;
  strbuf_printf(out,
                "\nstruct %s_module {\n  tile_pack *pack;\n  tile_function *functions[%zu];\n};\n\n"
                "static const char *const %s_names[%zu] = {",
                n, count, n, count);
  for (size_t i = 0; i < count; i++)
    strbuf_printf(out, "%s\n  \"%s\"", i ? "," : "", a->functions.at[i].name);
  strbuf_puts(out, "\n};\n\n");
  define_close(a, out);
  define_open(a, out);
  strbuf_printf(out,
                "tile_status %s_prepare(struct %s_module *module) {\n"
                "  tile_status status = TILE_OK;\n"
                "  int i;\n"
                "  for (i = 0; status == TILE_OK && i < %zu; i++)\n"
                "    status = tile_function_prepare(module ? module->functions[i] : NULL);\n"
                "  return status;\n"
                "}\n",
                n, n, count);
}

static void define_argument(const struct aot *a, const struct kernel_param *p, uint32_t i,
                            struct strbuf *out) {
  const char *name = aot_c_name(a->tool->arena, p->name);
  if (p->descriptor_rank)
    strbuf_printf(out, "  tile_args[%u] = tile_arg_descriptor(%s);\n", i, name);
  else if (p->is_pointer) // a cast through an integer drops const without a warning
    strbuf_printf(out, "  tile_args[%u] = tile_arg_pointer((void *)(uintptr_t)%s, TILE_%s);\n", i,
                  name, type_id(p->dtype));
  else if (p->dtype == DTYPE_I1)
    strbuf_printf(out, "  tile_args[%u] = tile_arg_int(TILE_I1, %s != 0);\n", i, name);
  else if (dtype_is_int(p->dtype))
    strbuf_printf(out, "  tile_args[%u] = tile_arg_int(TILE_%s, (int64_t)%s);\n", i,
                  type_id(p->dtype), name);
  else
    strbuf_printf(out,
                  "  tile_args[%u] = tile_arg_f64((double)%s);\n  tile_args[%u].type = TILE_%s;\n",
                  i, name, i, type_id(p->dtype));
}

static void define_launch(const struct aot *a, const struct aot_function *f, size_t index,
                          struct strbuf *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->info.param_count; i += kernel_param_span(&f->info.params[i]))
    n++;
  strbuf_printf(out, "\ntile_status %s_launch", f->name);
  parameters(a, f, true, out);
  strbuf_puts(out, " {\n");
  if (n)
    strbuf_printf(out, "  tile_arg tile_args[%u];\n", n);
  uint32_t number = 0;
  for (uint32_t i = 0; i < f->info.param_count; i += kernel_param_span(&f->info.params[i]))
    define_argument(a, &f->info.params[i], number++, out);
  strbuf_printf(
      out,
      "  return tile_function_launch(module ? module->functions[%zu] : NULL, stream, grid,\n"
      "                              %s, %u);\n}\n",
      index, n ? "tile_args" : "NULL", n);
}

static void define_run(const struct aot *a, const struct aot_function *f, struct strbuf *out) {
  if (!f->grid_text)
    return;
  strbuf_printf(out, "\ntile_status %s_run", f->name);
  parameters(a, f, false, out);
  strbuf_printf(out,
                " {\n"
                "  int tile_failed = 0;\n"
                "  tile_grid tile_extents;\n"
                "  int64_t tile_x = %s;\n"
                "  int64_t tile_y = %s;\n"
                "  int64_t tile_z = %s;\n"
                "  tile_status tile_made =\n"
                "      tile_grid_make(tile_x, tile_y, tile_z, tile_failed, &tile_extents);\n"
                "  if (tile_made != TILE_OK)\n"
                "    return tile_made;\n"
                "  return %s_launch(module, stream, tile_extents",
                f->grid[0], f->grid[1], f->grid[2], f->name);
  for (uint32_t i = 0; i < f->info.param_count; i += kernel_param_span(&f->info.params[i]))
    strbuf_printf(out, ", %s", aot_c_name(a->tool->arena, f->info.params[i].name));
  strbuf_puts(out, ");\n}\n");
}

static void define_bytes(const struct aot *a, struct str pack, struct strbuf *out) {
  strbuf_printf(out,
                "\n/* A union, so that the bytes lie at an address that suits machine code. */\n"
                "static const union {\n  unsigned char bytes[%zu];\n  double alignment;\n"
                "} %s_bytes = {{",
                pack.len, a->name);
  for (size_t i = 0; i < pack.len; i++)
    strbuf_printf(out, "%s%u",
                  i == 0   ? "\n"
                  : i % 32 ? ","
                           : ",\n",
                  (unsigned)(unsigned char)pack.ptr[i]);
  strbuf_puts(out, "}};\n");
}

void emit_c_source(const struct aot *a, struct str pack, struct strbuf *out) {
  aot_banner(a->source->name, "kernels compiled ahead of time. Needs libtile-rt.", out);
  strbuf_puts(out, "#include <stdlib.h>\n\n");
  declarations(a, out);
  define_bytes(a, pack, out);
  define_module(a, out);
  for (size_t i = 0; i < a->functions.len; i++) {
    define_launch(a, &a->functions.at[i], i, out);
    define_run(a, &a->functions.at[i], out);
  }
}
